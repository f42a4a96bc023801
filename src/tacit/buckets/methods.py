"""Grouping methods by name, optionally with bounded probabilities.

With a bound, no value of a person may be more probable than it, where all consistent assignments are equally likely. In a complete group
(everybody can have every value of it) the probability of a value is its share of the group, exactly. Groups of l people with different
values are complete, and stay so while only people join who can have every value there, and whose value every member can have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.buckets.classes import Classes
from tacit.buckets.grouping import Recipes, Rule, anatomize, count_exchanges, count_same_value, form_groups, join_groups
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.policy import Limits

Method = Literal["injector", "balanced", "balanced-1", "balanced-2", "anatomy"]
METHODS: tuple[Method, ...] = get_args(Method)
#: Largest group whose assignments are counted: 20! still fits 64 bits.
MOST_PEOPLE = 20
#: States counted at most for one group.
MOST_STATES = 1 << 14
#: Groups, and pairs of groups, that are tried for a class.
SINGLES = 24
PAIRS = 16


@dataclass(frozen=True, eq=False)
class Grouped:
    """Group of each row (-1: none), and the method.

    ``residue`` people had no group of l at first, for whom ``merges`` groups were merged; ``beyond`` people may exceed the bound.
    """

    method: Method
    group: Codes
    residue: int
    merges: int
    beyond: int


@dataclass(frozen=True, eq=False)
class _Made:
    """Recipes of groups for everybody but ``outside`` people."""

    method: Method
    recipes: Recipes
    residue: int
    merges: int = 0
    beyond: int = 0
    outside: int = 0

    @property
    def merit(self) -> tuple[int, int, int]:
        """Sort key, smaller is better."""
        return self.beyond + self.outside, self.residue, int(self.recipes.sizes[self.recipes.groups > 0].max(initial=0))


def group_people(
    sensitive: npt.NDArray[np.integer],
    kind: npt.NDArray[np.integer],
    patterns: Flags,
    *,
    least: int,
    method: Method = "balanced",
    bound: Fraction | None = None,
    suppress: bool = False,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Grouped:
    """Group the rows with ``least`` valid values for everybody.

    This must be feasible. Row i has the value ``sensitive[i]``, and ``patterns[kind[i]]`` marks the values ruled out for it. With
    ``bound``, no value of a group may be more probable; people without such a group are left out with ``suppress``, else they join one
    all the same. ``anatomy`` ignores what is ruled out.

    >>> made = group_people(np.array([0, 1, 0, 1, 2]), np.zeros(5, np.int64), np.zeros((1, 3), np.bool_), least=2)
    >>> sorted(np.bincount(made.group).tolist()), made.residue, made.method
    ([2, 3], 1, 'balanced-1')
    """
    limits = limits or Limits()
    if method == "anatomy":
        kind = np.zeros(len(sensitive), np.int64)
        patterns = np.zeros((1, patterns.shape[1]), np.bool_)
    classes = Classes.of(sensitive, kind, patterns, seed=seed)
    if method == "anatomy":
        recipes, left_over = anatomize(classes, least, limits, seed=seed)
        made = _Made(method, recipes, left_over)
    else:
        rules: tuple[Rule, ...] = ("balanced-1", "balanced-2") if method == "balanced" else (method,)
        tried = []
        for number, rule in enumerate(rules):
            tried.append(_group_by_rule(classes, rule, least, bound, suppress=suppress, limits=limits))
            progress((number + 1) / len(rules))
        made = min(tried, key=lambda one: one.merit)
    group = made.recipes.assign(classes, len(sensitive), seed=seed)
    return Grouped(made.method, group, made.residue, made.merges, beyond=made.beyond)


def _group_by_rule(classes: Classes, rule: Rule, least: int, bound: Fraction | None, suppress: bool, limits: Limits) -> _Made:
    """Group everybody by one rule."""
    size = least if bound is None else least_group_size(least, bound)
    recipes, left = form_groups(classes, size, rule, limits)
    residue = int(left.sum())
    if bound is not None:
        left = join_probable(recipes, join_complete(recipes, left, classes, bound, limits=limits), classes, bound, limits=limits)
        if suppress and len(recipes):
            return _Made(rule, recipes, residue, outside=int(left.sum()))
    beyond = int(left.sum()) if bound is not None else 0
    merges = join_groups(recipes, left, classes, least, limits=limits) if left.any() else 0
    return _Made(rule, recipes, residue, merges, beyond=beyond)


def least_group_size(least: int, bound: Fraction) -> int:
    """Return the smallest group size that respects ``bound``.

    >>> least_group_size(3, Fraction(1, 5)), least_group_size(6, Fraction(1, 2)), least_group_size(2, Fraction("0.3"))
    (5, 6, 4)
    """
    return max(least, -(-bound.denominator // bound.numerator))


def join_complete(recipes: Recipes, left: Ints, classes: Classes, bound: Fraction, limits: Limits) -> Ints:
    """Add people while groups stay complete and bounded.

    Returns the people of each class without a group. ``recipes`` must be complete. Prefers groups with few equal values, then small ones.
    """
    left = left.copy()
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        able = _complete_with(classes, one)
        while left[one] and len(recipes):
            limits.check("bucketize")
            equal = count_same_value(recipes, classes, int(classes.value[one]))
            complete = np.logical_and.reduceat(able[recipes.listed], recipes.starts[:-1])
            # (equal + 1) / (size + 1) <= bound, in whole numbers.
            within = (equal + 1) * bound.denominator <= (recipes.sizes + 1) * bound.numerator
            suits = np.flatnonzero(complete & within & (recipes.groups > 0))
            if not len(suits):
                break
            best = int(suits[np.lexsort((recipes.sizes[suits], equal[suits]))[0]])
            groups = min(int(left[one]), int(recipes.groups[best]))
            recipes.extend(best, groups, [one])
            left[one] -= groups
    return left


def _complete_with(classes: Classes, one: int) -> Flags:
    """Return the classes that can exchange with this one."""
    return np.asarray(classes.may_have(one)[classes.value] & classes.able(int(classes.value[one])))


def join_probable(recipes: Recipes, left: Ints, classes: Classes, bound: Fraction, limits: Limits) -> Ints:
    """Add people within the proved bound; return the rest."""
    left = left.copy()
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        for chosen in _promising_recipes(recipes, classes, one) if left[one] else ():
            limits.check("bucketize")
            groups = min(int(left[one]), _count_available(recipes, chosen))
            members = [member for recipe in chosen for member in recipes.members(recipe)]
            if groups and is_within_bound(classes, np.array([*members, one]), bound):
                for recipe in chosen:
                    recipes.take(recipe, groups)
                recipes.add(sorted([*members, one]), groups)
                left[one] -= groups
            if not left[one]:
                break
    return left


def _promising_recipes(recipes: Recipes, classes: Classes, one: int) -> Iterator[list[int]]:
    """Yield recipes and pairs to join, best first."""
    fits = classes.compatible_with(one)
    number = count_exchanges(recipes, classes, fits)
    equal = count_same_value(recipes, classes, int(classes.value[one]))
    there = np.flatnonzero((recipes.groups > 0) & (recipes.sizes < MOST_PEOPLE))
    best = there[np.lexsort((recipes.sizes[there], -number[there], equal[there]))].tolist()
    yield from ([recipe] for recipe in best[:SINGLES])
    for first in best[:4]:
        have = classes.value[[member for member in recipes.members(first) if fits[member]]]
        fresh = count_exchanges(recipes, classes, fits & ~np.isin(classes.value, have))
        for second in there[np.lexsort((recipes.sizes[there], -fresh[there], equal[there]))][: PAIRS // 4].tolist():
            yield [first, second]


def _count_available(recipes: Recipes, chosen: list[int]) -> int:
    """Count the groups that recipes can supply together."""
    return min(int(recipes.groups[recipe]) // chosen.count(recipe) for recipe in chosen)


def is_within_bound(classes: Classes, members: Ints, bound: Fraction) -> bool:
    """Tell if no value is proved too probable.

    False if counting takes too long.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [False, False, True]]), seed=0)
    >>> [is_within_bound(people, np.array([0, 1, 2]), Fraction(share)) for share in ("0.49", "0.5")]
    [False, True]
    """
    held, count = np.unique(classes.value[members], return_counts=True)
    may = classes.may_have(members)[:, held]
    if np.any(count * bound.denominator > may.sum(axis=0) * bound.numerator):
        return False  # probabilities of a value add up to the people who have it
    if len(members) > MOST_PEOPLE or np.prod(count + 1) > MOST_STATES:
        return False
    largest, total = _count_largest(may, count)
    return largest * bound.denominator <= total * bound.numerator


def _count_largest(may: Flags, count: Ints) -> tuple[int, int]:
    """Count the assignments of the most frequent pair.

    Also returns the number of all assignments. ``ways[i]`` counts, by state, the ways to serve the first i people.
    """
    shape = tuple(int(number) + 1 for number in count)
    ways = [np.zeros(shape, np.int64)]
    ways[0][(0,) * len(shape)] = 1
    for row in may:
        ways.append(sum((_shift(ways[-1], axis) for axis in np.flatnonzero(row).tolist()), np.zeros(shape, np.int64)))
    rest = np.zeros(shape, np.int64)
    rest[tuple(count)] = 1  # the ways to serve everybody else, from each state on
    total = int(ways[-1][tuple(count)])
    largest = 0
    for before, row in zip(ways[-2::-1], may[::-1], strict=True):
        behind = {axis: _shift_back(rest, axis) for axis in np.flatnonzero(row).tolist()}
        largest = max([largest, *(int((before * after).sum()) for after in behind.values())])
        rest = sum(behind.values(), np.zeros(shape, np.int64))
    return largest, total


def _shift(ways: np.ndarray, axis: int) -> np.ndarray:
    """Return the ways after one more assignment."""
    out = np.zeros_like(ways)
    out[(slice(None),) * axis + (slice(1, None),)] = ways[(slice(None),) * axis + (slice(None, -1),)]
    return out


def _shift_back(rest: np.ndarray, axis: int) -> np.ndarray:
    """Return the ways before one person gets a value."""
    out = np.zeros_like(rest)
    out[(slice(None),) * axis + (slice(None, -1),)] = rest[(slice(None),) * axis + (slice(1, None),)]
    return out
