"""Probability-bounded groups: nobody's value is more probable than a bound, where every assignment that fits is equally likely.

A group is *complete* when each of its people can have each of its values. Then the probability of a value is its share of the group,
exactly. Groups of l people with different values are complete, and stay so while only people join who can have everything there, and whose
value everybody there can have.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tacit.bucketing.classes import Classes, Flags, Numbers
from tacit.bucketing.recipes import Recipes
from tacit.bucketing.residue import exchanges, same_value
from tacit.model.policy import Limits

#: People of groups whose probabilities are counted: 20! assignments still fit a whole number of 64 bits.
MOST_PEOPLE = 20
#: States that are counted at the most for one group.
MOST_STATES = 1 << 14
#: So many groups, and so many pairs of them, are tried for a class.
SINGLES, PAIRS = 24, 16


def size_for(least: int, bound: Fraction) -> int:
    """How many people with different values a group needs at least, so that each value has at most the probability ``bound``.

    >>> size_for(3, Fraction(1, 5)), size_for(6, Fraction(1, 2)), size_for(2, Fraction("0.3"))
    (5, 6, 4)
    """
    return max(least, -(-bound.denominator // bound.numerator))


def join_complete(recipes: Recipes, left: Numbers, classes: Classes, bound: Fraction, limits: Limits) -> Numbers:
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


def join_probable(recipes: Recipes, left: Numbers, classes: Classes, bound: Fraction, limits: Limits) -> Numbers:
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
    number, equal = exchanges(recipes, classes, fits), same_value(recipes, classes, int(classes.value[one]))
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


def within(classes: Classes, members: Numbers, bound: Fraction) -> bool:
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


def _largest_count(may: Flags, count: Numbers) -> tuple[int, int]:
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
    total, largest = int(ways[-1][tuple(count)]), 0
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
