"""Probability-bounded groups: nobody's value is more probable than a bound, where every assignment that fits is equally likely.

A group is *complete* when each of its people can have each of its values. Then the probability of a value is its share of the group,
exactly. Groups of l people with different values are complete, and stay so while only people join who can have everything there, and whose
value everybody there can have.

The methods by name, from classes of people to the group of every row.

What no grouping can give: tested before anything is grouped.

People who are put together can have more values, never fewer: a larger group only adds ways to exchange. So everybody's valid values in the
whole table as one group are the most that any grouping gives her.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.buckets.grouping import Classes, Recipes, Rule, anatomize, exchanges, form, join_groups, same_value, valid_values
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.policy import Limits

#: People of groups whose probabilities are counted: 20! assignments still fit a whole number of 64 bits.
MOST_PEOPLE = 20
#: States that are counted at the most for one group.
MOST_STATES = 1 << 14
#: So many groups, and so many pairs of them, are tried for a class.
SINGLES = 24
PAIRS = 16


def size_for(least: int, bound: Fraction) -> int:
    """How many people with different values a group needs at least, so that each value has at most the probability ``bound``.

    >>> size_for(3, Fraction(1, 5)), size_for(6, Fraction(1, 2)), size_for(2, Fraction("0.3"))
    (5, 6, 4)
    """
    return max(least, -(-bound.denominator // bound.numerator))


def join_complete(recipes: Recipes, left: Ints, classes: Classes, bound: Fraction, limits: Limits) -> Ints:
    """Add people to complete groups that stay complete and within the bound; how many of each class found none.

    ``recipes`` must be complete. Of the groups that will do, the one with the fewest people of the same value is taken, of these the smallest.
    """
    left = left.copy()
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        able = _able(classes, one)
        while left[one] and len(recipes):
            limits.check("bucketize")
            equal = same_value(recipes, classes, int(classes.value[one]))
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


def _able(classes: Classes, one: int) -> Flags:
    """The classes whose value somebody can have, and who can have hers."""
    return np.asarray(classes.may_have(one)[classes.value] & classes.able(int(classes.value[one])))


def join_probable(recipes: Recipes, left: Ints, classes: Classes, bound: Fraction, limits: Limits) -> Ints:
    """Add people to groups that are not complete then, or to two that are merged, if counting shows them to be within the bound.

    How many people of each class found no group: not every one is tried.
    """
    left = left.copy()
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        for chosen in _promising(recipes, classes, one) if left[one] else ():
            limits.check("bucketize")
            groups = min(int(left[one]), _available(recipes, chosen))
            members = [member for recipe in chosen for member in recipes.members(recipe)]
            if groups and within(classes, np.array([*members, one]), bound):
                for recipe in chosen:
                    recipes.take(recipe, groups)
                recipes.add(sorted([*members, one]), groups)
                left[one] -= groups
            if not left[one]:
                break
    return left


def _promising(recipes: Recipes, classes: Classes, one: int) -> Iterator[list[int]]:
    """Single recipes and pairs that somebody of a class may be added to, the best first."""
    fits = classes.sharing(one)
    number = exchanges(recipes, classes, fits)
    equal = same_value(recipes, classes, int(classes.value[one]))
    there = np.flatnonzero((recipes.groups > 0) & (recipes.sizes < MOST_PEOPLE))
    best = there[np.lexsort((recipes.sizes[there], -number[there], equal[there]))].tolist()
    yield from ([recipe] for recipe in best[:SINGLES])
    for first in best[:4]:
        have = classes.value[[member for member in recipes.members(first) if fits[member]]]
        fresh = exchanges(recipes, classes, fits & ~np.isin(classes.value, have))
        for second in there[np.lexsort((recipes.sizes[there], -fresh[there], equal[there]))][: PAIRS // 4].tolist():
            yield [first, second]


def _available(recipes: Recipes, chosen: list[int]) -> int:
    """How many groups can be made of one group of each recipe."""
    return min(int(recipes.groups[recipe]) // chosen.count(recipe) for recipe in chosen)


def within(classes: Classes, members: Ints, bound: Fraction) -> bool:
    """Whether no value of anybody in a group is more probable than the bound; False where that is too long to count.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [False, False, True]]), seed=0)
    >>> [within(people, np.array([0, 1, 2]), Fraction(share)) for share in ("0.49", "0.5")]
    [False, True]
    """
    held, count = np.unique(classes.value[members], return_counts=True)
    may = classes.may_have(members)[:, held]
    if np.any(count * bound.denominator > may.sum(axis=0) * bound.numerator):
        return False  # probabilities of a value add up to the people who have it
    if len(members) > MOST_PEOPLE or np.prod(count + 1) > MOST_STATES:
        return False
    largest, total = _largest_count(may, count)
    return largest * bound.denominator <= total * bound.numerator


def _largest_count(may: Flags, count: Ints) -> tuple[int, int]:
    """In how many assignments somebody has a value, for the person and the value where these are the most; and how many there are in all.

    A state says how many people with each value have been served; ``ways[i]`` holds the ways to serve the first i people, state by state.
    """
    shape = tuple(int(number) + 1 for number in count)
    ways = [np.zeros(shape, np.int64)]
    ways[0][(0,) * len(shape)] = 1
    for row in may:
        ways.append(sum((_moved(ways[-1], axis) for axis in np.flatnonzero(row).tolist()), np.zeros(shape, np.int64)))
    rest = np.zeros(shape, np.int64)
    rest[tuple(count)] = 1  # the ways to serve everybody else, from each state on
    total = int(ways[-1][tuple(count)])
    largest = 0
    for before, row in zip(ways[-2::-1], may[::-1], strict=True):
        behind = {axis: _moved_back(rest, axis) for axis in np.flatnonzero(row).tolist()}
        largest = max([largest, *(int((before * after).sum()) for after in behind.values())])
        rest = sum(behind.values(), np.zeros(shape, np.int64))
    return largest, total


def _moved(ways: np.ndarray, axis: int) -> np.ndarray:
    """The ways after one more person got the value of an axis."""
    out = np.zeros_like(ways)
    out[(slice(None),) * axis + (slice(1, None),)] = ways[(slice(None),) * axis + (slice(None, -1),)]
    return out


def _moved_back(rest: np.ndarray, axis: int) -> np.ndarray:
    """The ways to go on, seen from before one person gets the value of an axis."""
    out = np.zeros_like(rest)
    out[(slice(None),) * axis + (slice(None, -1),)] = rest[(slice(None),) * axis + (slice(1, None),)]
    return out


Method = Literal["injector", "balanced", "balanced-1", "balanced-2", "anatomy"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The group of each row, -1 for rows in none; ``method`` made the groups.

    ``residue`` people had no group of l at first, ``merges`` groups were merged for them; ``beyond`` of them are not within the bound on
    probabilities, as far as was found.
    """

    method: Method
    group: Codes
    residue: int
    merges: int
    beyond: int


@dataclass(frozen=True, eq=False)
class _Made:
    """Recipes of groups for everybody but those of ``outside``, and how they came about."""

    method: Method
    recipes: Recipes
    residue: int
    merges: int = 0
    beyond: int = 0
    outside: int = 0

    @property
    def merit(self) -> tuple[int, int, int]:
        """Smaller is better: people beyond the bound or left out, people without a group at first, the largest group."""
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
    """The group of each row, such that everybody has ``least`` valid values; this must be possible.

    Row i has the value ``sensitive[i]``, and ``patterns[kind[i]]`` says which values are ruled out for it. With ``bound``, groups are formed in
    which no value is more probable; people for whom none is found are left out with ``suppress``, else they join a group all the same.
    ``anatomy`` does not look at what is ruled out.

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
            tried.append(_made(classes, rule, least, bound, suppress=suppress, limits=limits))
            progress((number + 1) / len(rules))
        made = min(tried, key=lambda one: one.merit)
    group = made.recipes.assign(classes, len(sensitive), seed=seed)
    return Grouped(made.method, group, made.residue, made.merges, beyond=made.beyond)


def _made(classes: Classes, rule: Rule, least: int, bound: Fraction | None, suppress: bool, limits: Limits) -> _Made:
    """Groups for everybody by one rule."""
    size = least if bound is None else size_for(least, bound)
    recipes, left = form(classes, size, rule, limits)
    residue = int(left.sum())
    if bound is not None:
        left = join_probable(recipes, join_complete(recipes, left, classes, bound, limits=limits), classes, bound, limits=limits)
        if suppress and len(recipes):
            return _Made(rule, recipes, residue, outside=int(left.sum()))
    beyond = int(left.sum()) if bound is not None else 0
    return _Made(rule, recipes, residue, _placed(recipes, left, classes, least, limits=limits), beyond=beyond)


def _placed(recipes: Recipes, left: Ints, classes: Classes, least: int, limits: Limits) -> int:
    """Everybody who is left joins a group; how many were merged."""
    return join_groups(recipes, left, classes, least, limits=limits) if left.any() else 0


@dataclass(frozen=True, eq=False)
class Feasible:
    """Whether everybody can have ``least`` values in some grouping: ``most`` is, for each class, how many she can have at the most."""

    classes: Classes
    least: int
    most: Ints

    @classmethod
    def of(cls, classes: Classes, least: int) -> Feasible:
        """The test on the whole table as one group.

        >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
        >>> found = Feasible.of(people, 2)
        >>> found.short.tolist(), found.people_short, found.largest
        ([False, True, False], 1, 1)
        """
        there = classes.people > 0
        kinds = classes.of_kind.sum(axis=1) > 0
        free = kinds & ~classes.patterns.any(axis=1)
        of_free = classes.of_kind[free].any(axis=0)
        excluded = classes.patterns[kinds].any(axis=0)
        if np.any(of_free & ~excluded):
            # A value that everybody can have, held by somebody who can have everything: every value leads there, and from there to every value.
            return cls(classes, least, (~classes.patterns[:, there]).sum(axis=1)[classes.kind])
        return cls(classes, least, valid_values(classes, np.arange(len(classes))).sum(axis=1))

    @property
    def short(self) -> Flags:
        """The classes whose people have fewer values in every grouping."""
        return np.asarray(self.most < self.least)

    @property
    def people_short(self) -> int:
        """How many people these are."""
        return int(self.classes.count[self.short].sum())

    @property
    def largest(self) -> int:
        """The largest number of values that everybody can have in some grouping."""
        return int(self.most.min(initial=len(self.classes.people)))

    @property
    def rows(self) -> Ints:
        """The rows of the people who fall short, ascending."""
        return np.sort(self.classes.rows[np.repeat(self.short, self.classes.count)])


def suppressed(classes: Classes, least: int) -> Classes:
    """The people who are left when those who fall short are taken out, again and again: without them, others may fall short.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    >>> suppressed(people, 2).value.tolist()
    [0, 2]
    """
    while len(classes) and (short := Feasible.of(classes, least).short).any():
        classes = classes.kept(~short)
    return classes


def too_frequent(classes: Classes, bound: Fraction) -> tuple[int, Fraction]:
    """How many values more people have than a bound on probabilities allows, and the lowest bound that would do.

    Whatever the groups, the probabilities of a value add up to the people who have it, over those who can: one of them is at least their ratio.

    >>> people = Classes.of(np.array([0, 0, 1]), np.zeros(3, np.int64), np.zeros((1, 2), np.bool_), seed=0)
    >>> too_frequent(people, Fraction(1, 2))
    (1, Fraction(2, 3))
    """
    able = classes.n - classes.of_kind.sum(axis=1) @ classes.patterns
    ratios = [Fraction(int(have), int(can)) for have, can in zip(classes.people, able, strict=True) if have]
    return sum(ratio > bound for ratio in ratios), max(ratios, default=Fraction(0))
