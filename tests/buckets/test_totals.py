"""Facts that rule nothing out: B02 and the grouping, against every assignment of all groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.buckets.assignments import valid_values
from tacit.buckets.labels import Labels
from tacit.buckets.statistics import Statistics, weigh
from tacit.model.buckets import Buckets
from tacit.model.errors import Infeasible, InputError, OptionError
from tacit.model.knowledge import Amount, Exclusions, Fact
from tacit.model.table import Schema, Table
from tests.buckets.naive_totals import shares_by_worlds, totals, worlds
from tests.examples import examples

VALUES = ("10", "20", "30", "50")


def drawn(seed: int) -> tuple[Table, Any, list[Fact]]:
    """A table, groups of its rows, and facts that are true of it."""
    chance = np.random.default_rng(seed)
    n = int(chance.integers(3, 8))
    rows = [(str(chance.choice(["F", "M"])), str(chance.choice(["a", "b"])), str(chance.choice(VALUES))) for _ in range(n)]
    rows[:2] = [("F", "a", "10"), ("M", "b", "20")]
    people = Table.from_rows(["sex", "city", "pay"], rows, Schema(qi=("sex", "city"), sa=("pay",)))
    facts = []
    for number in range(int(chance.integers(1, 4))):
        event = [{"sex": ("F",)}, {"sex": ("M",)}, {"city": ("a",)}, {"sex": ("M",), "city": ("b",)}][int(chance.integers(4))]
        there = [row for row in rows if all(row[["sex", "city"].index(name)] in event[name] for name in event)]
        value = str(chance.choice(people.sa.values))
        have = sum(row[2] == value for row in there)
        kind = int(chance.integers(4))
        if kind == 3 and there:
            mean = Fraction(sum(int(row[2]) for row in there), len(there))
            facts.append(Fact(event, "", mean=(mean - 2, mean + 1), line=number))
        else:
            least = Amount(Fraction(have), False) if kind in (0, 2) else None
            most = Amount(Fraction(have), False) if kind in (1, 2) else None
            facts.append(Fact(event, value, least, most, line=number))
    return people, chance.integers(0, max(1, n // 3), n).astype(np.int32), facts


def case_of(seed: int) -> tuple[Table, Any, Exclusions, Statistics | None]:
    people, group, facts = drawn(seed)
    _, group = np.unique(group, return_inverse=True)
    known = Exclusions.of([fact for fact in facts if fact.excludes], people.qi, people.sa.values)
    soft = [fact for fact in facts if not fact.excludes]
    return people, group.astype(np.int32), known, Statistics.of(soft, people.qi, people.sa.values) if soft else None


@given(seed=st.integers(0, 100_000))
@settings(max_examples=examples(60), deadline=None)
def test_probabilities_are_those_of_maximum_entropy_over_all_worlds(seed: int) -> None:
    people, group, known, statistics = case_of(seed)
    if statistics is None:
        return
    own = people.sa.codes
    valid = valid_values(Buckets.of(people.qi, people.sa, group), statistics.refine(known), own)
    found = weigh(valid, statistics)
    assert found.missed == 0
    cells = valid.cells
    shares = np.zeros((len(own), len(people.sa.values)))
    for row, cell in enumerate(cells.cell.tolist()):
        here = slice(int(cells.rows[cell]), int(cells.rows[cell + 1]))
        shares[row, cells.buckets.value[cells.entries[here]]] = found.shares.share[here]
    expected = shares_by_worlds(worlds(own, group, known), statistics, len(people.sa.values))
    assert shares == pytest.approx(expected, abs=2e-3)


@given(seed=st.integers(0, 100_000))
@settings(max_examples=examples(150), deadline=None)
def test_plausible_values_are_possible_given_the_groups_and_all_facts(seed: int) -> None:
    people, group, known, statistics = case_of(seed)
    if statistics is None:
        return
    own = people.sa.codes
    plausible = Labels.of(own, known, statistics).count_plausible(group)
    fitting = []
    for world in worlds(own, group, known):
        pairs = zip(statistics.lo, totals(world, statistics), statistics.hi, strict=True)
        if all(low <= total <= high for low, total, high in pairs):
            fitting.append(world)
    possible = [len({world[row] for world in fitting}) for row in range(len(own))]
    assert all(few <= many for few, many in zip(plausible.tolist(), possible, strict=True))


def test_an_exchange_within_an_event_is_plausible_and_one_across_it_is_not() -> None:
    rows = [("F", "flu"), ("F", "cold"), ("M", "flu"), ("M", "cold")]
    people = Table.from_rows(["sex", "ill"], rows, Schema(qi=("sex",), sa=("ill",)))
    known = Exclusions.none(4, people.sa.values)
    exactly = Statistics.of([Fact({"sex": ("F",)}, "flu", Amount.parse(1), Amount.parse(1))], people.qi, people.sa.values)
    labels = Labels.of(people.sa.codes, known, exactly)
    assert labels.count_plausible(np.array([0, 0, 1, 1], np.int32)).tolist() == [2, 2, 2, 2]
    assert labels.count_plausible(np.array([0, 1, 1, 0], np.int32)).tolist() == [1, 1, 1, 1]
    at_most = Statistics.of([Fact({"sex": ("F",)}, "flu", at_most=Amount.parse(1))], people.qi, people.sa.values)
    labels = Labels.of(people.sa.codes, known, at_most)
    assert labels.count_plausible(np.array([0, 1, 1, 0], np.int32)).tolist() == [2, 1, 1, 2]


ROWS = {
    "sex": ["F"] * 12 + ["M"] * 12,
    "pay": ["10", "20", "30", "40"] * 2 + ["10", "20", "30", "30"] + ["10", "20", "30", "40"] * 3,
}
FACTS: list[list[dict[str, Any]]] = [
    [{"antecedent": {"sex": "F"}, "excluded": "40", "at_most": "0.17"}],
    [
        {"event": {"sex": "F"}, "value": "30", "at_least": 4, "at_most": 4},
        {"event": {"sex": "M"}, "value": "10", "at_least": "20%"},
    ],
    [{"event": {"sex": "F"}, "mean": "24.2"}],
]


@pytest.mark.parametrize("facts", FACTS, ids=["rule with exceptions", "numbers", "mean"])
@pytest.mark.parametrize("method", ["balanced", "balanced-1", "balanced-2", "injector"])
def test_groups_withstand_the_facts_and_those_of_anatomy_need_not(facts: list[dict[str, Any]], method: Any) -> None:
    people = tacit.read_table(ROWS, qi="sex", sa="pay")
    made = tacit.bucketize(people, l=3, knowledge=facts, method=method)
    assert made.ok
    assert made.cost["vulnerable"] == 0
    assert made.after is not None
    assert made.after.measures["known_totals"] == len(facts)
    if "mean" in facts[0]:  # from both sides: everybody of a group is in the event, or nobody
        sexes = made.people.column("sex").codes
        assert all(len(set(sexes[made.group == number].tolist())) == 1 for number in range(len(made)))
        assert made.tried[0].cost["vulnerable"] > 0


def test_what_cannot_be_is_refused() -> None:
    people = tacit.read_table(ROWS, qi="sex", sa="pay")
    exactly = [{"event": {"sex": "F"}, "value": "30", "at_least": 4, "at_most": 4}]
    with pytest.raises(Infeasible, match="--max-posterior: is less than the knowledge alone says"):
        tacit.bucketize(people, l=3, knowledge=exactly, max_posterior=0.3)
    with pytest.raises(OptionError, match="--suppress: cannot be used"):
        tacit.bucketize(people, l=3, knowledge=exactly, suppress=True)
    with pytest.raises(InputError, match="knowledge entry 1: is not true of these data"):
        tacit.bucketize(people, l=3, knowledge=[{"event": {"sex": "F"}, "mean": "30.0"}])
    rows = {"sex": ["F", "F", "M", "M", "M"], "pay": ["10", "20", "10", "20", "30"]}
    facts = [{"event": {"sex": "M"}, "value": value, "at_least": 1, "at_most": 1} for value in ("10", "20", "30")]
    few = tacit.read_table(rows, qi="sex", sa="pay")
    with pytest.raises(Infeasible, match="fewer than 3 possible values in every grouping"):
        tacit.bucketize(few, l=3, knowledge=facts)


def test_means_need_numbers_and_a_bucketized_release() -> None:
    rows = {"sex": ["F", "F", "M", "M"], "ill": ["flu", "cold", "flu", "cold"]}
    people = tacit.read_table(rows, qi="sex", sa="ill")
    facts = [{"event": {"sex": "F"}, "mean": "1.5"}]
    with pytest.raises(InputError, match="knowledge entry 1: is a mean, and the sensitive column holds something else"):
        tacit.bucketize(people, l=2, knowledge=facts)
    rules = tacit.mine_rules(people, min_support=1, min_confidence="10%")
    with pytest.raises(InputError, match="knowledge entry 1: is a mean, which only the attacks on a single bucketized"):
        tacit.audit(rules, known=people.qi, knowledge=facts)


def test_the_audit_says_which_attack_uses_which_facts() -> None:
    people = tacit.read_table(ROWS, qi="sex", sa="pay")
    buckets = Buckets.of(people.qi, people.sa, (np.arange(24) % 6).astype(np.int32))
    facts = [*FACTS[0], *FACTS[2]]
    audit = tacit.audit(buckets, knowledge=facts, policy=tacit.Policy(l=2))
    reasons = {run.code: run.reason for run in audit.runs}
    assert reasons["B01"] == "facts that rule nothing out (1) are left to B02, R02 and R03; means (1) are left to B02"
    assert audit.measures["known_totals"] == 2
