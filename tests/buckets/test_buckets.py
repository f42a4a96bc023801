"""What people of bucketized releases can have, and how probable it is, against trying everything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.buckets.assignments import Shares, share_values, valid_values
from tacit.files.buckets import shuffled
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Amount, Exclusions, Fact
from tacit.model.people import Population
from tacit.model.table import Column, Table
from tests.buckets.made_buckets import random_buckets, shares_by_enumeration, valid_by_matching
from tests.examples import examples

SEEDS = st.integers(0, 2**32)
NOBODY = Amount.parse(0)


def by_row(shares: Shares) -> np.ndarray:
    """Probabilities, rows by values."""
    cells = shares.valid.cells
    out = np.zeros((len(cells.group), len(cells.buckets.values)))
    owner = np.repeat(np.arange(len(cells.group)), np.diff(cells.rows))
    out[owner, cells.buckets.value[cells.entries]] = shares.share
    return out[cells.cell]


def releases(first: int, number: int) -> Iterator[tuple[Buckets, Exclusions, np.ndarray]]:
    return (made for seed in range(first, first + number) if (made := random_buckets(seed))[0].n)


def test_valid_values_are_those_of_bipartite_matchings_on_a_thousand_groups() -> None:
    groups = 0
    for buckets, known, own in releases(0, 500):
        expected = valid_by_matching(buckets, known, own)
        assert np.array_equal(valid_values(buckets, known).allowed, expected)
        found = valid_values(buckets, known, own)
        assert np.array_equal(found.allowed, expected)
        assert found.allowed[np.arange(buckets.n), own].all()  # nobody's own value is ever ruled out
        assert np.array_equal(found.counts, expected.sum(axis=1))
        assert (found.unexcluded >= found.number).all()
        groups += len(buckets)
    assert groups > 1000


@given(SEEDS)
@settings(max_examples=examples(100), deadline=None)
def test_probabilities_are_those_of_all_assignments(seed: int) -> None:
    buckets, known, own = random_buckets(seed, people=14)
    if buckets.n:
        found = share_values(valid_values(buckets, known))
        assert found.exact.all()
        assert by_row(found) == pytest.approx(shares_by_enumeration(buckets, known, own), abs=1e-12)


@given(SEEDS)
@settings(max_examples=examples(40), deadline=None)
def test_scaling_keeps_the_sums_and_what_is_certain(seed: int) -> None:
    buckets, known, _ = random_buckets(seed, people=40, size=20)
    if buckets.n:
        valid = valid_values(buckets, known)
        exact, scaled = (by_row(share_values(valid, most_states=most)) for most in (1 << 16, 1))
        assert scaled.sum(axis=1) == pytest.approx(np.ones(buckets.n))
        assert np.array_equal(scaled > 0, valid.allowed)
        for group in range(len(buckets)):
            inside = buckets.group == group
            assert scaled[inside].sum(axis=0) == pytest.approx(exact[inside].sum(axis=0), abs=1e-6)


def test_more_than_64_values_of_a_group_take_several_words() -> None:
    names = tuple(f"v{number:03}" for number in range(150))
    own = np.arange(150, dtype=np.int32)
    table = Table((Column("kind", ("x",), np.zeros(150, np.int32)),), np.ones(150, np.int64))
    buckets = Buckets.of(table, Column("ill", names, own), np.zeros(150, np.int32))
    # Person i can have values up to i + 1, and the last person only the last value: all are certain but exchanges of neighbours are cut.
    excluded = np.arange(150)[None, :] > np.arange(150)[:, None] + 1
    excluded[149] = True
    excluded[149, 149] = False
    excluded[148, 149] = False
    found = valid_values(buckets, Exclusions(names, excluded, own))
    chain = valid_values(buckets, Exclusions(names, excluded, own), own)
    assert np.array_equal(found.allowed, chain.allowed)
    assert found.counts[149] == 1
    assert found.counts[0] == 2
    assert not found.allowed[148, 149]


def slowly(facts: list[Fact], people: Table, values: tuple[str, ...]) -> np.ndarray:
    """What is ruled out for each row: fact by fact."""
    place, population = {value: number for number, value in enumerate(values)}, Population.of(people)
    out = np.zeros((len(population), len(values)), np.bool_)
    for fact in facts:
        if fact.value in place:
            out[population.among(fact.allowed), place[fact.value]] = True
    return out[population.places_of(people)]


@given(SEEDS)
@settings(max_examples=examples(100), deadline=None)
def test_exclusions_of_many_facts_are_those_of_each(seed: int) -> None:
    chance = np.random.default_rng(seed)
    columns = {name: [f"{name}{i}" for i in range(int(chance.integers(1, 6)))] for name in "abc"}
    rows = [[str(chance.choice(values)) for values in columns.values()] for _ in range(int(chance.integers(1, 30)))]
    people, values = Table.from_rows(list(columns), rows), tuple("uvwxyz"[: int(chance.integers(1, 7))])
    facts = []
    for _ in range(int(chance.integers(0, 150))):
        asked = [name for name in columns if chance.random() < 0.6]
        allowed = {n: tuple(v for v in [*columns[n], "other"] if chance.random() < 0.4) for n in asked}
        facts.append(Fact(allowed, str(chance.choice(list("uvwxyz"))), at_most=NOBODY))
    known = Exclusions.of(facts, people, values)
    assert np.array_equal(known.patterns[known.kind], slowly(facts, people, values))
    assert len(np.unique(known.patterns, axis=0)) == len(known.patterns)


@given(SEEDS, st.integers(0, 3))
@settings(max_examples=examples(40), deadline=None)
def test_the_order_that_is_written_depends_on_the_content_only(seed: int, other: int) -> None:
    buckets, _, own = random_buckets(seed)
    if not buckets.n:
        return
    chance = np.random.default_rng(other)
    rows, fresh = chance.permutation(buckets.n), chance.permutation(len(buckets)).astype(np.int32)
    column = Column("ill", buckets.values, own[rows])
    mixed = Buckets.of(buckets.people.take(rows), column, fresh[buckets.group[rows]])
    one, two = (shuffled(given, seed=7) for given in (buckets, mixed))
    for name in ("group", "starts", "value", "count"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    texts = [[[c.values[code] for code in c.codes] for c in given.people.columns] for given in (one, two)]
    assert texts[0] == texts[1]
    again = shuffled(one, seed=7)
    assert np.array_equal(again.group, one.group)
    assert np.array_equal(again.count, one.count)


@given(SEEDS)
@settings(max_examples=examples(30), deadline=None)
def test_every_finding_passes_the_checker(seed: int) -> None:
    from tacit.checker import check_audit

    buckets, known, _ = random_buckets(seed, people=12, size=5)
    if not buckets.n:
        return
    facts = [
        ({"kind": f"k{kind}"}, buckets.values[value])
        for kind, value in np.argwhere(known.patterns).tolist()
        if value < len(buckets.values)
    ]
    audit = tacit.audit(buckets, knowledge=facts, policy=tacit.Policy(l=3, max_posterior=0.5))
    checked = check_audit(audit.to_dict(top=1000), [buckets])
    assert checked.problems == ()
    assert checked.held == audit.attack("B01").findings
    assert audit.measures["vulnerable"] == int((valid_values(buckets, known).counts < 3).sum())
