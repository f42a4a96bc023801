"""The bounds that rules give together: every law is used, and every bound is true, also with numbers too long for a machine word."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.audit import Target
from tacit.model.errors import Contradiction
from tacit.model.finding import ItemEvent
from tacit.model.policy import Limits, Policy
from tacit.model.release import Decimals, Header, Items, Rules, Sets
from tacit.rules import rule_exceptions
from tacit.rules.bounds import Confidences, Reason, RuleTable, confidence_of
from tests.itemsets.naive_channels import Row, support
from tests.rules.naive_rules import Form, file_of, people_of, rules_to_values

Released = tuple[list[Row], Rules]


def value_rules(seed: int, folder: Path, values: str | None = None, **changes: Any) -> Released:
    """Rules to a sensitive value with few people in some cells."""
    chance = random.Random(seed)
    columns = {"q": "ab", "r": "cd", "s": values or "xyz"[: chance.choice([2, 3])]}
    header = {"format": "tacit.rules/1", "qi": ["q", "r"], "sa": "s", "sa_values": list(columns["s"]), "complete": True} | changes
    people = people_of(columns)
    weights = [chance.choice([1, 1, 5, 20]) for _ in people]
    rows = chance.choices(people, weights=weights, k=chance.choice([20, 40, 80]))
    least, bar, told = chance.randint(2, 10), Fraction(chance.choice([0, 30, 50]), 100), chance.random() < 0.5
    form = Form(least, bar, header=header, distribution=told and bool(header["sa_values"]), digits=chance.choice([None, 3]))
    text, beside = file_of(rows, rules_to_values(columns, "s"), form)
    (folder / "r.csv").write_text(text)
    (folder / "r.csv.json").write_text(beside)
    release = tacit.read_release(folder / "r.csv")
    assert isinstance(release, Rules)
    return rows, release


def steps_of(rows: list[Row], release: Rules, k: int = 10) -> str:
    """The steps of all findings, which are true and hold before the checker."""
    audit = tacit.audit(release, policy=Policy(k=k), attacks=["R01"])
    for finding in audit.findings:
        assert isinstance(finding.event, ItemEvent)
        assert finding.count.lo <= sum(finding.event.holds(row) for row in rows) <= finding.count.hi
    assert check_audit(audit.to_dict(top=1000), [release]).problems == ()
    return "\n".join(step for finding in audit.findings for step in finding.steps)


@pytest.mark.parametrize("seed", [116, 208, 256])
def test_groups_that_cannot_be_negative_bound_what_is_missing(seed: int, tmp_path: Path) -> None:
    assert "cannot be fewer than 0" in steps_of(*value_rules(seed, tmp_path))


@pytest.mark.parametrize("seed", [5, 12, 35, 36, 40])
def test_missing_rules_are_used_where_the_list_is_complete(seed: int, tmp_path: Path) -> None:
    assert "The list is complete and has no rule from" in steps_of(*value_rules(seed, tmp_path))
    assert "The list is complete" not in steps_of(*value_rules(seed, tmp_path, complete=False))


@pytest.mark.parametrize("seed", range(40))
def test_every_bound_is_true(seed: int, tmp_path: Path) -> None:
    rows, release = value_rules(seed, tmp_path)
    table = RuleTable.of(release)
    table.deduce(Limits())
    for place in range(len(table.named.sets)):
        assert table.lo[place] <= support(rows, frozenset(table.named.names(place))) <= table.hi[place]


def test_all_laws_are_met(tmp_path: Path) -> None:
    met: set[Reason] = set()
    for seed in (5, 61, 116):
        _, release = value_rules(seed, tmp_path)
        table = RuleTable.of(release)
        table.deduce(Limits())
        met |= {batch[3] for batch in table.log.batches}
    # 50 people have a by the second line, so that the confidence of the first leaves 49 with b.
    lines = '"[""a""]","[""b""]",,0.05,0.98\n"[""a""]","[""c""]",50,,1.00\n'
    (tmp_path / "items.csv").write_text("antecedent,consequent,count,support,confidence\n" + lines)
    items = tacit.read_release(tmp_path / "items.csv", n=1000)
    assert isinstance(items, Rules)
    table = RuleTable.of(items)
    assert table.bound(table.named.find([0, 1])).to_list() == [49, 49]
    assert met | {batch[3] for batch in table.log.batches} == set(Reason)


def test_who_has_none_of_several_values(tmp_path: Path) -> None:
    """Nobody has two values, so that those of several rules add up, although no line counts who has two of them."""
    told = 0
    for seed in range(60):
        rows, release = value_rules(seed, tmp_path, values="wxyz", sa_values=[])
        told += "Nobody has two values of s" in steps_of(rows, release)
    assert told > 3


def test_lines_that_clash_only_together_are_named(tmp_path: Path) -> None:
    text = 'antecedent,consequent,count,support,confidence\n"[""z""]","[""y""]",500,,0.5\n'
    text += '"[""a""]","[""b""]",60,,0.97\n"[""a""]","[""c""]",50,,0.82\n'
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(Contradiction) as caught:
        tacit.audit(tmp_path / "r.csv")
    assert caught.value.lines == (3, 4)


def test_a_negative_group_is_refused(tmp_path: Path) -> None:
    """100 have a; 90 of them b, 90 c, but only 70 both: -10 would have neither."""
    lines = ['"[""a""]","[""b""]",90,,0.9', '"[""a""]","[""c""]",90,,0.9', '"[""a"", ""b""]","[""c""]",70,,0.7777777777777778']
    (tmp_path / "r.csv").write_text("antecedent,consequent,count,support,confidence\n" + "\n".join(lines) + "\n")
    with pytest.raises(Contradiction, match="cannot all be true"):
        tacit.audit(tmp_path / "r.csv")


def test_no_time_means_stopped_not_silent(tmp_path: Path) -> None:
    _, release = value_rules(5, tmp_path)
    run = rule_exceptions.run(Target(release, Policy(), Limits(deadline=0.0)))
    assert (run.status, run.findings) == ("stopped", 0)
    assert not run.decides


def test_long_confidences_are_exact() -> None:
    """Confidences of 17 digits do not fit into machine words together with counts; they are compared all the same, without rounding."""
    chance = random.Random(2)
    scaled = [chance.randrange(10**16, 10**17) for _ in range(40)]
    printed = Decimals(np.array(scaled), np.full(40, 17, np.int8))
    lo = np.array([chance.randrange(10**6, 10**9) for _ in scaled])
    hi = lo + np.array([chance.randrange(0, 10**6) for _ in scaled])
    whole = np.full(40, 2 * 10**10)
    sets = Sets.from_lists([[0]] * 40)
    header = Header(n=2 * 10**10, rounding="unknown")
    release = Rules(sets, sets, lo, hi, lo, whole, Items(("a", "b")), header, None, printed)
    confidences = Confidences.of(release, np.arange(40))
    assert confidences.low.dtype == object
    least, most = confidences.wholes(lo, hi)
    fewest, many = confidences.lacking((lo, hi), (lo, whole))
    columns = [column.tolist() for column in (lo, hi, whole, least, most, fewest, many)]
    for line, (part_lo, part_hi, top, whole_lo, whole_hi, lack_lo, lack_hi) in enumerate(zip(*columns, strict=True)):
        share = confidence_of(release, line)
        assert whole_lo - 1 < part_lo / share.high <= whole_lo
        assert whole_hi <= part_hi / share.low < whole_hi + 1
        assert lack_lo - 1 < max(part_lo * (1 / share.high - 1), part_lo * (1 - share.high)) <= lack_lo
        assert lack_hi <= min(part_hi * (1 / share.low - 1), top * (1 - share.low)) < lack_hi + 1
