"""Examples of single functions and types of ``tacit.buckets``."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacit.buckets.assignments import Cells, share_values, valid_values
from tacit.buckets.classes import Classes, Feasible, count_too_frequent, find_chain, suppress_infeasible
from tacit.buckets.classes import valid_values as class_valid_values
from tacit.buckets.estimators import Mixing
from tacit.buckets.grouping import Recipes, anatomize, form_groups, group_people, is_within_bound, least_group_size
from tacit.buckets.utility import plain_figures, read_intervals
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.policy import Limits
from tacit.model.table import Table


def test_cells() -> None:
    people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("M", "flu")])
    buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1], np.int32))
    known = Exclusions(buckets.values, np.array([[False, False], [True, False]]), np.array([1, 0, 0], np.int32))
    cells = Cells.of(buckets, known)
    assert (cells.cell.tolist(), cells.group.tolist(), cells.may.tolist()) == (
        [1, 0, 2],
        [0, 0, 1],
        [True, True, False, True, True],
    )


def test_valid_values() -> None:
    people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "mumps")])
    buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.zeros(3, np.int32))
    known = Exclusions(buckets.values, np.array([[False, False, False], [True, False, True]]), np.array([0, 1, 0], np.int32))
    assert valid_values(buckets, known).allowed.tolist() == [[True, False, True], [False, True, False], [True, False, True]]


def test_share_values() -> None:
    people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "mumps")])
    buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.zeros(3, np.int32))
    known = Exclusions(buckets.values, np.array([[False, False, False], [False, False, True]]), np.array([0, 1, 0], np.int32))
    assert share_values(valid_values(buckets, known)).share.reshape(2, 3).tolist() == [[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]


def test_classes() -> None:
    made = Classes.of(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 0]), np.array([[False, False], [False, True]]), seed=0)
    assert (made.value.tolist(), made.kind.tolist(), made.count.tolist(), made.may_have(np.arange(3)).tolist()) == (
        [0, 0, 1],
        [0, 1, 0],
        [2, 1, 1],
        [[True, True], [True, False], [True, True]],
    )


def test_classes_valid_values() -> None:
    people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    assert class_valid_values(people, np.array([0, 1, 2])).tolist() == [
        [True, False, True],
        [False, True, False],
        [True, False, True],
    ]


def test_find_chain() -> None:
    people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], np.bool_), seed=0)
    assert find_chain(people, np.array([0, 1, 2]), goal=0, start=1) == [1, 2]


def test_feasible_of() -> None:
    people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    found = Feasible.of(people, 2)
    assert (found.short.tolist(), found.people_short, found.largest) == ([False, True, False], 1, 1)


def test_suppress_infeasible() -> None:
    people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    assert suppress_infeasible(people, 2).value.tolist() == [0, 2]


def test_count_too_frequent() -> None:
    people = Classes.of(np.array([0, 0, 1]), np.zeros(3, np.int64), np.zeros((1, 2), np.bool_), seed=0)
    assert count_too_frequent(people, Fraction(1, 2)) == (1, Fraction(2, 3))


def test_mixing() -> None:
    people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("M", "flu"), ("F", "flu")])
    mixing = Mixing.of(Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1, 1], np.int32)))
    assert (mixing.pi.round(3).tolist(), mixing.share.tolist()) == ([[0.5, 0.5], [0.167, 0.833]], [0.25, 0.75])


def test_recipes() -> None:
    recipes = Recipes(np.array([[2, 0], [1, 3], [0, 2]]))
    assert [(recipes.members(r), int(recipes.groups[r])) for r in range(len(recipes))] == [([0, 2], 2), ([1, 3], 1)]
    assert recipes.extend(0, 1, [5]) == 2
    assert (recipes.members(2), recipes.groups.tolist()) == ([0, 2, 5], [1, 1, 1])


def test_form_groups() -> None:
    people = Classes.of(np.array([0, 0, 1, 1, 2]), np.zeros(5, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    made, left = form_groups(people, 2, "balanced-2", Limits())
    assert ([made.members(r) for r in range(len(made))], left.tolist()) == ([[0, 1]], [0, 0, 1])


def test_anatomize() -> None:
    people = Classes.of(np.array([0, 0, 0, 1, 1, 2, 2]), np.zeros(7, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    made, left_over = anatomize(people, 2, Limits(), seed=0)
    assert (sorted(made.sizes[made.groups > 0].tolist()), left_over) == ([2, 2, 3], 1)


def test_group_people() -> None:
    made = group_people(np.array([0, 1, 0, 1, 2]), np.zeros(5, np.int64), np.zeros((1, 3), np.bool_), least=2)
    assert (sorted(np.bincount(made.group).tolist()), made.residue, made.method) == ([2, 3], 1, "balanced-1")


def test_least_group_size() -> None:
    assert (least_group_size(3, Fraction(1, 5)), least_group_size(6, Fraction(1, 2)), least_group_size(2, Fraction("0.3"))) == (
        5,
        6,
        4,
    )


def test_is_within_bound() -> None:
    people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [False, False, True]]), seed=0)
    assert [is_within_bound(people, np.array([0, 1, 2]), Fraction(share)) for share in ("0.49", "0.5")] == [False, True]


def test_plain_figures() -> None:
    people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "flu"), ("M", "flu")])
    buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1, 1], np.int32))
    assert {
        name: round(value, 3)
        for name, value in plain_figures(buckets).items()
        if name in ("k_anonymity", "l_diversity", "t_closeness")
    } == {"k_anonymity": 2, "l_diversity": 1, "t_closeness": 0.25}


def test_read_intervals() -> None:
    assert read_intervals({"age": 10}, ["age", "sex"]) == {"age": 10.0}
