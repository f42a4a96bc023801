"""R02 against a general solver on random releases, all missing rules listed; and what it may depend on."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.known.case import RuleCase, count_missing, count_patterns
from tacit.model.audit import Audit
from tacit.model.people import Population
from tacit.model.release import Rules
from tacit.model.table import Column, Schema, Table
from tests.examples import examples
from tests.known import naive_estimates as naive

FORMS: list[dict[str, Any]] = [
    {},
    {"withhold_values": True},
    {"digits": 1},
    {"digits": 2, "with_confidence": True},
    {"incomplete": True},
    {"withhold_values": True, "publish_sa_distribution": True},
    {"publish_sa_distribution": True},
]


@st.composite
def tables(draw: st.DrawFn, most: int = 12) -> Table:
    """A small table of people: up to 3 QI columns, up to 4 sensitive values."""
    width, n_values = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    row = st.tuples(*(st.sampled_from("abc"[: 2 + (column == 0)]) for column in range(width)), st.sampled_from("wxyz"[:n_values]))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    names = ["p", "q", "r"][:width]
    return Table.from_rows([*names, "s"], rows, Schema(qi=tuple(names), sa=("s",)))


@st.composite
def releases(draw: st.DrawFn) -> tuple[Table, Rules]:
    people = draw(tables())
    thresholds: dict[str, Any] = {
        "min_support": draw(st.integers(1, max(1, people.n // 2))),
        "min_confidence": draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1)])),
        "strict": draw(st.booleans()),
    }
    if thresholds["strict"] and thresholds["min_confidence"] == 1:
        thresholds["strict"] = False
    return people, tacit.mine_rules(people, **thresholds, **draw(st.sampled_from(FORMS)))


def persons(people: Table) -> list[naive.Person]:
    columns = [people.column(name) for name in people.schema.qi]
    return list(zip(*([column.values[code] for code in column.codes.tolist()] for column in columns), strict=True))


def estimated(audit: Audit, people: Table) -> tuple[list[naive.Person], np.ndarray[Any, Any]]:
    """Combinations and their estimates, in the order of the posterior table."""
    table = audit.table("posterior")
    values = len(people.sa.values)
    keys = list(zip(*(table[name][::values].tolist() for name in people.schema.qi), strict=True))
    return keys, table["posterior"].reshape(-1, values)


@settings(max_examples=examples(120), deadline=None)
@given(releases())
def test_estimates_are_those_of_a_general_solver(made: tuple[Table, Rules]) -> None:
    people, rules = made
    known = persons(people)
    audit = tacit.audit(rules, known=people.qi, attacks=["R02"])
    keys, found = estimated(audit, people)
    assert keys == naive.combinations_of(known)
    said = naive.statements(rules, people.schema.qi, known)
    expected, most = naive.largest_entropy(said, known, len(people.sa.values))
    sizes = np.array([known.count(key) for key in keys])
    assert audit.measures["posterior_entropy"] == pytest.approx(most, abs=1e-8)
    assert naive.entropy(found, sizes / people.n) == pytest.approx(most, abs=1e-8)
    # Whoever is below the largest entropy by e is within the root of e n / 2 of its shares (Pythagoras and Pinsker): the judge may be.
    short = max(0.0, naive.entropy(found, sizes / people.n) - most)
    assert found == pytest.approx(expected, abs=1e-6 + (short * people.n / 2) ** 0.5)
    assert audit.measures["max_violation"] <= 1e-9
    for one in said:  # the missing rules that were never added are kept as well
        inside = np.array([naive.matches(one.pattern, key) for key in keys])
        total = float((sizes * found[:, one.value])[inside].sum())
        assert one.lo - 1e-9 <= total <= one.hi + 1e-9


@settings(max_examples=examples(150), deadline=None)
@given(releases())
def test_missing_rules_are_counted_as_when_they_are_listed(made: tuple[Table, Rules]) -> None:
    people, rules = made
    found = count_missing(RuleCase(rules, Population.of(people.qi)))
    if not rules.header.complete:
        assert found is None
        return
    assert found is not None
    assert (found.missing, found.kept, found.occurrences) == naive.missing_rules(rules, people.schema.qi, persons(people))


@settings(max_examples=examples(40), deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(0, 2), min_size=9, max_size=9), min_size=1, max_size=8),
    values=st.sampled_from([3, 9, 300]),
)
def test_patterns_are_the_distinct_parts_of_people(rows: list[list[int]], values: int) -> None:
    """Keys of 18, 36 and 81 bits: words of 32 and of 64, and sums of random marks."""
    names = tuple(f"{number:03}" for number in range(values))
    codes = np.unique(np.array(rows, np.int32), axis=0)
    population = Population(tuple(Column(f"c{i}", names, part) for i, part in enumerate(codes.T)), np.ones(len(codes), np.int64))
    parts = {(kept, tuple(row[list(kept)])) for size in range(1, 10) for kept in combinations(range(9), size) for row in codes}
    assert count_patterns(population) == len(parts)


@settings(max_examples=examples(40), deadline=None)
@given(releases(), st.randoms(use_true_random=False))
def test_estimates_do_not_look_at_sensitive_values(made: tuple[Table, Rules], luck: Any) -> None:
    """The known part may be read from data whose sensitive column is shuffled: it is not used."""
    people, rules = made
    codes = people.column("s").codes.tolist()
    luck.shuffle(codes)
    texts = [people.column("s").values[code] for code in codes]
    rows = [(*person, text) for person, text in zip(persons(people), texts, strict=True)]
    shuffled = Table.from_rows(people.names, rows, people.schema)
    one, other = (tacit.audit(rules, known=known, attacks=["R02"]).table("posterior") for known in (people.qi, shuffled))
    assert (one["posterior"] == other["posterior"]).all()
    assert one["people"].tolist() == other["people"].tolist()
