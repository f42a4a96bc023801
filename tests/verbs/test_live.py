"""Live audits: whatever is kept between steps, each finished step says what a fresh audit says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.model.audit import AttackRun, Target
from tacit.model.errors import OptionError
from tacit.model.policy import Policy
from tacit.reports.record import audit_record
from tacit.verbs.attacks import Attack, carried_out_by
from tacit.verbs.audit import gather_for
from tacit.verbs.live import COMPUTING, Change, LiveAudit
from tacit.web.screens.verdict import CHANGES as STEPS
from tests.itemsets.made_releases import released
from tests.shell import people
from tests.shell import tacit as run_tacit

ROLES = ("--qi", "sex,age", "--sa", "ill")
LONG = 60.0  #: Seconds after which these small cases have certainly been decided.


def releases() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Small releases of every kind, with what goes beside them."""
    chance = random.Random(3)
    for only in ("all", "closed", "maximal"):
        rows = [frozenset(item for item in "abcde" if chance.random() < 0.6) or frozenset("a") for _ in range(90)]
        # The general attack on so many lines takes long; the other releases have it.
        yield released(rows, 9, only), {"attacks": ["I01", "I02"]}
    table = [{"sex": "mf"[n % 2], "age": str(n % 5), "ill": "nyy"[n * n % 3]} for n in range(120)]
    frame = tacit.read_table(table_text(table), qi=["sex", "age"], sa="ill")
    yield tacit.mine_rules(frame, min_support=3, min_confidence=0.5), {"data": frame}
    yield tacit.tabulate(frame, by=["sex", "age", "ill"]), {}
    yield tacit.bucketize(frame, l=2), {}


def table_text(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


OF_ITEMSETS = (("min-support", 20), ("base", 5), ("decimals", 1))
CHANGES = (OF_ITEMSETS, OF_ITEMSETS, (), (("min-support", 20), ("decimals", 1)), (("cell-base", 5),), ())


@pytest.mark.parametrize("number", range(6))
def test_steps_are_those_of_fresh_audits(number: int) -> None:
    release, others = list(releases())[number]
    gathered = gather_for(release)
    live = LiveAudit(gathered, others)
    changes = [Change(), *(Change(name, value) for name, value in CHANGES[number])]
    for change in changes:
        for k, l in ((10, 2), (3, 3), (50, 2), (2, 2), (10, 2), (60, 2)):  # noqa: E741
            policy = Policy(k=k, l=l)
            fresh = tacit.audit(change.apply(gathered, others), policy=policy, **others)
            quick = live.audit(policy, change)
            assert not (quick.pending and quick.audit.verdict == "clean")
            step = live.audit(policy, change, seconds=LONG)
            if step.pending:
                assert any(run.undecided for run in fresh.runs)
                continue
            assert audit_record(step.audit, top=10, kind="internal") == audit_record(fresh, top=10, kind="internal")
            for run in fresh.runs:
                for name, column in run.columns.items():
                    assert np.array_equal(column, step.audit.attack(run.code).columns[name]), (run.code, name)


def test_nothing_is_clean_while_an_attack_is_being_computed() -> None:
    release = released([frozenset("ab")] * 40 + [frozenset("c")] * 30, 20, "all")
    live = LiveAudit(gather_for(release), {})
    quick = live.audit(Policy(k=10))
    assert quick.pending == ("X01",)
    assert quick.audit.verdict == "incomplete"
    assert quick.audit.attack("X01").reason == COMPUTING
    done = live.audit(Policy(k=10), seconds=LONG)
    assert (done.pending, done.audit.verdict) == ((), "clean")
    assert live.audit(Policy(k=10)).audit.verdict == "clean"


class _Watched(Policy):
    """Policy that notes which of its limits are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in _LIMITS:
            _READ.add(name)
        return super().__getattribute__(name)


_LIMITS = ("k", "l", "max_posterior", "max_gain", "min_confidence", "min_support")
_READ: set[str] = set()


def test_attacks_read_only_the_limits_that_they_name() -> None:
    seen = set()

    def watch(attack: Attack, target: Target) -> AttackRun:
        given = {name: getattr(target.policy, name) for name in Policy.__dataclass_fields__}
        watched = replace(target, policy=_Watched(**given))
        _READ.clear()
        found = attack.run(watched)
        assert not _READ - set(attack.reads), attack.code
        seen.add(attack.code)
        return found

    for release, others in releases():
        with carried_out_by(watch):
            tacit.audit(release, policy=Policy(k=10, max_posterior=0.9), **others)
    partial = tacit.read_partial({"sex": ["m", "f"] * 30, "ill": ["y", "", "n", "y"] * 15}, qi=["sex"], sa="ill")
    with carried_out_by(watch):
        tacit.audit(partial, policy=Policy(max_posterior=0.9))
    assert seen >= {"I01", "I02", "R01", "R02", "R03", "B01", "B02", "T01", "T02", "X01"}


def test_ranges_are_those_that_make_sense() -> None:
    names = []
    for release, others in releases():
        live = LiveAudit(gather_for(release), others)
        names.append([one.name for one in live.ranges(live.audit(Policy()).audit)])
    of_rules = ["k", "l", "min-support", "decimals"]
    assert names == [["k", "min-support", "base", "decimals"]] * 2 + [["k"], of_rules, ["k", "cell-base"], ["l"]]


def test_other_releases_are_not_changed() -> None:
    *_, rules, _, _ = releases()
    with pytest.raises(OptionError, match="does not apply to these releases"):
        LiveAudit(gather_for(rules[0]), rules[1]).audit(Policy(), Change("base", 5))


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (("mine", "itemsets", "--min-support", "5"), Change("min-support", 20)),
        (("mine", "itemsets", "--min-support", "5"), Change("decimals", 1)),
        (("mine", "rules", *ROLES, "--min-support", "5", "--min-confidence", "0.5"), Change("min-support", 20)),
        (("mine", "rules", *ROLES, "--min-support", "5", "--min-confidence", "0.5"), Change("decimals", 1)),
        (("tabulate", "--by", "sex,age", "--sa", "none"), Change("cell-base", 5)),
    ],
)
def test_steps_are_what_the_repair_of_the_slider_makes(tmp_path: Path, words: tuple[str, ...], change: Change) -> None:
    places = 1 if words[0] == "tabulate" else 2
    assert run_tacit(*words[:places], people(tmp_path), *words[places:], "-o", tmp_path / "list.csv").exit_code == 0
    changed = tmp_path / "changed.csv"
    data = ("--data", tmp_path / "people.csv") if words[0] == "mine" else ()
    command = ("repair", tmp_path / "list.csv", *data, *STEPS[change.name], change.value, "-o", changed)
    assert run_tacit(*command).exit_code in (0, 1, 3)
    given = {"data": tmp_path / "people.csv"} if data else {}
    made = change.apply(gather_for(tacit.read_release(tmp_path / "list.csv")), given).releases[0]
    assert list(tacit.read_release(changed).records()) == list(made.records())
    assert tacit.read_release(changed).min_support == made.min_support


def test_thresholds_below_that_of_the_release_are_refused(tmp_path: Path) -> None:
    assert run_tacit("mine", "itemsets", people(tmp_path), "--min-support", "5", "-o", tmp_path / "list.csv").exit_code == 0
    changed = tmp_path / "changed.csv"
    low = run_tacit("repair", tmp_path / "list.csv", "--method", "raise-threshold", "--min-support", "4", "-o", changed)
    assert (low.exit_code, "is below the threshold of the release" in low.stderr) == (2, True)
    other = run_tacit("repair", tmp_path / "list.csv", "--method", "round", "--min-support", "20", "-o", changed)
    assert other.exit_code == 2
