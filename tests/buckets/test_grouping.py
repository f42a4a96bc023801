"""Groups formed from counts of classes are those formed person by person; whoever has no group finds one; every group is what it should be."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.buckets.classes import Classes, Feasible, count_too_frequent, suppress_infeasible, valid_values
from tacit.buckets.grouping import (
    METHODS,
    _order_classes,
    form_groups,
    group_people,
    is_within_bound,
    join_complete,
    join_probable,
)
from tacit.model.policy import Limits
from tests.buckets.naive_grouping import can_share, grouped, people_of, tables, valid_by_matching
from tests.examples import examples

MANY = settings(max_examples=examples(150), deadline=None)
RULES = ("injector", "balanced-1", "balanced-2")
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def in_groups(group: np.ndarray) -> list[list[int]]:
    """The rows of each group."""
    return [np.flatnonzero(group == number).tolist() for number in range(int(group.max()) + 1)]


def valid_in(rows: Rows, members: list[int]) -> list[set[int]]:
    """The values that each member of a group can have, by matching."""
    sensitive, kind, patterns = rows
    excluded = [frozenset(np.flatnonzero(patterns[kind[row]]).tolist()) for row in members]
    return valid_by_matching([int(sensitive[row]) for row in members], excluded)


def feasible(rows: Rows, least: int) -> bool:
    return not Feasible.of(Classes.of(*rows, seed=0), least).short.any()


@pytest.mark.parametrize("rule", RULES)
@MANY
@given(rows=tables(), size=st.integers(2, 4))
def test_groups_are_those_formed_person_by_person(rule: str, rows: Rows, size: int) -> None:
    classes = Classes.of(*rows, seed=0)
    recipes, left = form_groups(classes, size, rule, Limits())  # type: ignore[arg-type]
    order = _order_classes(classes, rule)  # type: ignore[arg-type]
    groups, outside = grouped(people_of(*rows, order.tolist()), size, rule)
    expected = Counter(tuple(sorted(int(order[person.place]) for person in group)) for group in groups)
    found = Counter({tuple(recipes.members(number)): int(recipes.groups[number]) for number in range(len(recipes))})
    assert found == expected
    assert Counter(int(order[person.place]) for person in outside) == +Counter(dict(enumerate(left.tolist())))


@MANY
@given(rows=tables(most_people=9))
def test_the_value_graph_says_what_matching_says(rows: Rows) -> None:
    classes = Classes.of(*rows, seed=0)
    members = np.repeat(np.arange(len(classes)), classes.count)
    excluded = [frozenset(np.flatnonzero(~classes.may_have(int(one))).tolist()) for one in members]
    expected = valid_by_matching(classes.value[members].tolist(), excluded)
    valid = valid_values(classes, np.arange(len(classes)))
    assert [set(np.flatnonzero(valid[one]).tolist()) for one in members] == expected


@pytest.mark.parametrize("method", [method for method in METHODS if method != "anatomy"])
@MANY
@given(rows=tables(), least=st.integers(2, 4), seed=st.integers(0, 3))
def test_everybody_has_enough_valid_values(method: str, rows: Rows, least: int, seed: int) -> None:
    if not feasible(rows, least):
        return
    made = group_people(*rows, least=least, method=method, seed=seed)  # type: ignore[arg-type]
    assert (made.group >= 0).all()
    for members in in_groups(made.group):
        assert all(len(valid) >= least for valid in valid_in(rows, members))


@MANY
@given(rows=tables(), least=st.integers(2, 4))
def test_who_falls_short_does_so_in_the_largest_group(rows: Rows, least: int) -> None:
    classes = Classes.of(*rows, seed=0)
    found = Feasible.of(classes, least)
    valid = valid_in(rows, list(range(len(rows[0]))))
    assert found.rows.tolist() == [row for row, values in enumerate(valid) if len(values) < least]
    assert found.largest == min(len(values) for values in valid)
    kept = suppress_infeasible(classes, least)
    assert not len(kept) or not Feasible.of(kept, least).short.any()
    assert set(kept.rows.tolist()).isdisjoint(found.rows.tolist())


def test_anatomy_makes_groups_of_different_values() -> None:
    rng, left_over = np.random.default_rng(1), 0
    for seed in range(150):
        values, least = int(rng.integers(3, 7)), int(rng.integers(2, 4))
        sensitive = rng.integers(0, values, int(rng.integers(6, 40)))
        if np.bincount(sensitive).max() * least > len(sensitive):
            continue
        rows = sensitive, rng.integers(0, 2, len(sensitive)), rng.random((2, values)) < 0.5
        made = group_people(*rows, least=least, method="anatomy", seed=seed)
        assert made.residue < least
        left_over += made.residue
        for members in in_groups(made.group):
            values_there = sensitive[members].tolist()
            assert len(set(values_there)) == len(values_there) >= least
    assert left_over > 30


@MANY
@given(rows=tables(), rule=st.sampled_from(["balanced-1", "balanced-2"]))
def test_the_hardest_class_of_a_value_comes_first(rows: Rows, rule: str) -> None:
    classes = Classes.of(*rows, seed=0)
    everybody = people_of(*rows, list(range(len(classes))))
    like = {person.place: person for person in everybody}

    def hardness(one: int) -> int:
        if rule == "balanced-2":
            return len(like[one].excluded)
        return sum(not can_share(like[one], person) for person in everybody)

    order = _order_classes(classes, rule).tolist()  # type: ignore[arg-type]
    keys = [(like[one].value, -hardness(one)) for one in order]
    assert keys == sorted(keys)


@MANY
@given(rows=tables(most_people=16), bound=st.sampled_from(["1/2", "1/3", "0.4", "0.6"]))
def test_bounded_groups_are_within_the_bound(rows: Rows, bound: str) -> None:
    share = Fraction(bound)
    if not feasible(rows, 2) or count_too_frequent(Classes.of(*rows, seed=0), share)[0]:
        return
    made = group_people(*rows, least=2, method="balanced", bound=share, suppress=True)
    for members in in_groups(made.group):
        assert all(probability <= share for chances in probabilities(rows, members) for probability in chances.values())
    if not made.beyond:
        together = group_people(*rows, least=2, method="balanced", bound=share)
        assert (together.group >= 0).all()


def probabilities(rows: Rows, members: list[int]) -> list[dict[int, Fraction]]:
    """How probable each value is for each member, by writing all assignments out."""
    sensitive, kind, patterns = rows
    worlds: list[tuple[int, ...]] = [()]
    held = Counter(sensitive[members].tolist())
    for row in members:
        worlds = [
            (*world, value)
            for world in worlds
            for value, number in held.items()
            if not patterns[kind[row], value] and world.count(value) < number
        ]
    shares = [Counter(world[place] for world in worlds) for place in range(len(members))]
    return [{value: Fraction(number, len(worlds)) for value, number in share.items()} for share in shares]


@MANY
@given(rows=tables(most_people=6), bound=st.sampled_from(["1/2", "1/3", "2/3", "0.4", "1"]))
def test_probabilities_are_counted_right(rows: Rows, bound: str) -> None:
    classes = Classes.of(*rows, seed=0)
    members = np.repeat(np.arange(len(classes)), classes.count)
    expected = max(p for chances in probabilities(rows, list(range(len(rows[0])))) for p in chances.values())
    assert is_within_bound(classes, members, Fraction(bound)) == (expected <= Fraction(bound))


def test_joining_complete_groups_keeps_shares_within_the_bound() -> None:
    sensitive = np.array([0, 1, 2, 0, 1, 2, 0])
    classes = Classes.of(sensitive, np.zeros(7, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    for bound, outside in ((Fraction(1, 2), 0), (Fraction(1, 3), 1)):
        recipes, left = form_groups(classes, 3, "balanced-2", Limits())
        assert join_complete(recipes, left, classes, bound, Limits()).sum() == outside
    # The last one would make two groups of three into one of seven: 3 of 7 have the same value.
    assert join_probable(recipes, left, classes, 2, Fraction(3, 7), limits=Limits()).sum() == 0


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_groups_and_another_one_others(method: str) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 8, 400), rng.integers(0, 2, 400), np.zeros((2, 8), np.bool_)
    made = [group_people(*rows, least=3, method=method, seed=seed).group for seed in (1, 1, 2)]  # type: ignore[arg-type]
    assert np.array_equal(made[0], made[1])
    assert not np.array_equal(made[0], made[2])


def test_more_values_than_bits_in_a_word() -> None:
    rng = np.random.default_rng(7)
    patterns = rng.random((6, 150)) < 0.3
    kind = rng.integers(0, 6, 900)
    sensitive = np.array([rng.choice(np.flatnonzero(~patterns[k])) for k in kind])
    for rule in RULES:
        made = group_people(sensitive, kind, patterns, least=5, method=rule)  # type: ignore[arg-type]
        for members in in_groups(made.group):
            assert all(len(valid) >= 5 for valid in valid_in((sensitive, kind, patterns), members))


def test_thousands_of_values_take_no_table_of_classes_by_values() -> None:
    sensitive = np.arange(24_000) % 12_000
    tracemalloc.start()
    try:
        made = group_people(sensitive, np.zeros(24_000, np.int64), np.zeros((1, 12_000), np.bool_), least=40)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.bincount(made.group).tolist() == [40] * 600
    assert peak < 50 << 20
