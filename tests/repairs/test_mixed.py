"""The repair that prints, withholds or withdraws each rule."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

import tacit
from tacit.mining.rules import Published
from tacit.model.repair import RepairCase
from tacit.repairs.lists import Lines
from tacit.repairs.mixed import BUDGET, OF_TRIAL, PRINTED, WITHDRAWN, WITHHELD, print_rules, propose
from tacit.verbs.suggest import SuggestCase
from tacit.verbs.suggest.lists import ways
from tests.rules.made_people import people

POLICY = tacit.Policy(k=3, max_posterior=0.8)
FORMS = [Published(), Published(digits=2), Published(digits=1), Published(digits=1, with_confidence=True)]


def lines_of(data: tacit.Table) -> Lines:
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5)
    return Lines(rules, rules.lo, rules.whole_lo)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_a_mixed_file_is_read_as_it_was_printed(tmp_path: Path, form: Published, ending: str) -> None:
    lines = lines_of(people(3))
    levels = np.arange(len(lines.release)) % 3
    made = print_rules(lines, form, levels)
    tacit.write_release(made, tmp_path / f"rules.{ending}")
    back = tacit.read_release(tmp_path / f"rules.{ending}")
    assert isinstance(back, tacit.Rules)
    assert not back.header.complete
    assert list(back.records()) == list(made.records())
    for ends in ("lo", "hi", "whole_lo", "whole_hi", "withheld"):
        assert (getattr(back, ends) == getattr(made, ends)).all()
    kept = levels[levels < WITHDRAWN]
    assert (made.withheld == (kept == WITHHELD)).all()
    assert ((made.lo <= lines.counts[levels < WITHDRAWN]) & (lines.counts[levels < WITHDRAWN] <= made.hi)).all()


def test_a_list_from_which_nothing_is_taken_stays_complete() -> None:
    lines = lines_of(people(3))
    levels = np.arange(len(lines.release)) % 2
    assert print_rules(lines, Published(), levels).header.complete
    everything = np.full(len(levels), PRINTED)
    assert list(print_rules(lines, Published(), everything).records()) == list(lines.release.records())


def test_numbers_of_narrow_rules_go_and_those_of_broad_ones_stay() -> None:
    """Of 20 young women 19 are ill, of 40 women 31: the rule about young women gives them away only by its number."""
    ill = {"F y": "yes " * 19 + "no", "F o": "yes " * 12 + "no " * 8, "M y": "no " * 20, "M o": "no " * 10 + "yes " * 10}
    rows = [(*group.split(), value) for group, values in ill.items() for value in values.split()]
    columns = dict(zip(("sex", "age", "ill"), zip(*rows, strict=True), strict=True))
    data = tacit.read_table(columns, qi=["sex", "age"], sa="ill")
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5)
    done = tacit.repair(rules, method="mixed", data=data, policy=tacit.Policy(k=1, l=1, max_posterior=0.8))
    assert done.ok
    told = {(*line["antecedent"].values(), line["consequent"]): line["count"] for line in done.release.records()}
    assert told["F", "yes"] == 31
    assert told["M", "no"] == 30
    assert told["F", "y", "yes"] is None
    loss = {one.method: one.cost["information_lost"] for one in done.tried if one.verdict == "clean"}
    assert loss["mixed"] < min(value for method, value in loss.items() if method != "mixed")


@pytest.mark.parametrize("most_looks", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", range(3))
def test_a_small_budget_is_kept_and_gives_a_safe_list(seed: int, most_looks: int) -> None:
    data = people(seed)
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5)
    looks: list[tacit.Audit] = []

    def look(candidate: tacit.Rules) -> tacit.Audit:
        looks.append(tacit.audit(candidate, known=data.qi, policy=POLICY, attacks=["R01", "R02"]))
        return looks[-1]

    case = RepairCase(rules, 3, lambda one, _: look(one), never, never, first_look=look, table=data, most_looks=most_looks)  # type: ignore[arg-type]
    made = propose(case).release
    assert len(looks) <= BUDGET * most_looks
    # The list is one of those that were audited, and of the safe ones the one that says most.
    safe = [one for one in looks if not any(run.findings for run in one.runs)]
    left = tacit.audit(made, known=data.qi, policy=POLICY, attacks=["R01", "R02"])
    assert not any(run.findings for run in left.runs)
    if int(OF_TRIAL * most_looks) > 0:
        assert left.measures["posterior_entropy"] == pytest.approx(min(one.measures["posterior_entropy"] for one in safe))


@pytest.mark.parametrize("seed", range(4))
def test_rules_that_are_never_printed_give_something_away_alone(seed: int) -> None:
    """Rules above the limit are left out of the search: none of them could be printed in any list."""
    data = people(seed)
    lines = lines_of(data)
    over = np.flatnonzero(lines.counts > 0.8 * lines.wholes)
    assert len(over)
    for place in over.tolist():
        levels = np.full(len(lines.release), WITHDRAWN)
        levels[place] = PRINTED
        found = tacit.audit(print_rules(lines, Published(), levels), known=data.qi, policy=POLICY, attacks=["R02"])
        assert found.attack("R02").findings


@pytest.mark.parametrize("seed", [0, 6, 7])
def test_mixed_loses_no_more_than_withholding_everything(seed: int) -> None:
    data = people(seed)
    rules = tacit.mine_rules(data, min_support=8, min_confidence=0.5)
    policy = tacit.Policy(k=1, l=1, max_posterior=0.9)
    lost = {}
    for method in ("withhold", "mixed"):
        done = tacit.repair(rules, method=method, data=data, policy=policy, suggest=False)
        assert done.before.verdict == "exposed"
        assert done.ok
        lost[method] = done.cost["information_lost"]
    assert lost["mixed"] < lost["withhold"]


def test_rules_of_other_programs_are_repaired_from_their_own_numbers(tmp_path: Path) -> None:
    """There are no estimates then, and the list that keeps most is taken."""
    path = tmp_path / "rules.csv"
    path.write_text(
        "antecedents,consequents,antecedent support,consequent support,support,confidence\n"
        "\"frozenset({'a'})\",\"frozenset({'b'})\",0.5,0.7,0.49,0.98\n"
        "\"frozenset({'c'})\",\"frozenset({'b'})\",0.4,0.7,0.3,0.75\n"
    )
    done = tacit.repair(tacit.read_release(path, n=100), method="mixed", suggest=False)
    assert done.before.verdict == "exposed"
    assert not any(run.findings for run in done.after.runs)
    assert ["c"] in [row["antecedent"] for row in done.release.records() if row["support"] is not None]


def test_suggestions_try_it_after_the_other_repairs_of_rules() -> None:
    data = people(3)
    rules = tacit.mine_rules(data, min_support=5, min_confidence=0.5)
    case = SuggestCase((rules,), tacit.audit(rules, known=data.qi, policy=POLICY, attacks=["R02"]), POLICY, data=data)
    assert [way.method for way in ways(case)] == ["withhold", "round", "raise-threshold", "withdraw", "mixed"]


def never(_: object) -> NoReturn:
    raise AssertionError("repairs of rules do not mine")
