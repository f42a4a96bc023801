"""People whom no group was found for join one: where enough people could exchange values with them.

Whoever joins a group can have the value of every member who can have hers in return, whatever the others have. Where these *exchanges* and her
own value are l different values, she has as many valid ones; members keep theirs, since nothing is taken from a group.

Classes of people who are interchangeable: the same sensitive value, and the same values ruled out.

The value graph of a group: which values everybody in it can have, from one assignment that fits (their own) and what can be exchanged.

Value u leads to v when somebody with u can have v. A person can have v, in some assignment, when nothing rules it out for her and v leads, step
by step, back to her own value: everybody along the way passes hers on.

Recipes: which classes a group is made of. Groups of one recipe are interchangeable, and there are few recipes however many people.

Groups of l people who can all have each other's values: the paper's choice, and two that leave far fewer people over.

Every group is complete: its people have l different values, and each of them can have every one. So l values are valid for everybody, each with
probability 1/l.

Anatomy, the rival: groups of l people with different values, whatever is known about them (Xiao and Tao 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import InternalError
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.policy import Limits


@dataclass(frozen=True, eq=False)
class Classes:
    """The people of class c have ``value[c]``, and ``patterns[kind[c]]`` ruled out; ``rows[starts[c]:starts[c + 1]]`` are their rows, shuffled.

    >>> made = Classes.of(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 0]), np.array([[False, False], [False, True]]), seed=0)
    >>> made.value.tolist(), made.kind.tolist(), made.count.tolist(), made.may_have(np.arange(3)).tolist()
    ([0, 0, 1], [0, 1, 0], [2, 1, 1], [[True, True], [True, False], [True, True]])
    """

    value: Ints
    kind: Ints
    count: Ints
    patterns: Flags
    starts: Ints
    rows: Ints

    @classmethod
    def of(cls, sensitive: npt.NDArray[np.integer], kind: npt.NDArray[np.integer], patterns: Flags, *, seed: int) -> Classes:
        """The classes of people, each with a code of its value and a kind, in the order of values and then kinds."""
        kinds = max(1, len(patterns))
        rows = len(sensitive)
        key = sensitive.astype(np.int64) * kinds + kind
        if kinds * patterns.shape[1] <= max(4 * rows, 1 << 16):  # counted, not sorted, where the table of combinations is small
            numbers = np.bincount(key, minlength=1)
            cells = np.flatnonzero(numbers)
            fresh = np.zeros(len(numbers), np.int64)
            fresh[cells] = np.arange(len(cells))
            of_row = fresh[key]
            count = numbers[cells]
        else:
            cells, of_row, count = np.unique(key, return_inverse=True, return_counts=True)
        # Numbers of 16 bits are sorted much faster.
        by_class = np.argsort(of_row.astype(np.uint16 if len(cells) < 1 << 16 else np.int64), kind="stable")
        chance = np.random.default_rng(seed)
        starts = np.append(0, np.cumsum(count))
        for begin, end in pairwise(starts.tolist()):
            chance.shuffle(by_class[begin:end])
        return cls(cells // kinds, cells % kinds, count.astype(np.int64), patterns, starts=starts, rows=by_class)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.rows)

    @property
    def values(self) -> int:
        """How many sensitive values there are."""
        return int(self.patterns.shape[1])

    @cached_property
    def people(self) -> Ints:
        """How many people have each value."""
        return np.bincount(self.value, weights=self.count, minlength=self.values).astype(np.int64)

    @cached_property
    def of_kind(self) -> Ints:
        """How many people of each kind have each value."""
        table = np.zeros(self.patterns.shape, np.int64)
        table[self.kind, self.value] = self.count
        return table

    def may_have(self, which: Ints | int) -> Flags:
        """Which values are not ruled out for these classes."""
        return np.asarray(~self.patterns[self.kind[which]])

    def able(self, value: int) -> Flags:
        """The classes that a value is not ruled out for."""
        return np.asarray(~self.patterns[self.kind, value])

    @cached_property
    def incompatible(self) -> Ints:
        """How many people cannot share a group with somebody of each class: an equal value, or one that either of them cannot have.

        All numbers stay below 2**53, where floats are exact.
        """
        barred = self.patterns.astype(np.float64)
        of_kind = self.of_kind.astype(np.float64)
        cannot_have_hers = (of_kind.sum(axis=1) @ barred)[self.value]
        hers_or_barred = self.people[self.value] + (barred @ self.people)[self.kind]
        both = (barred.T @ (of_kind @ barred.T))[self.value, self.kind]  # neither can have the other's
        return np.asarray(hers_or_barred + cannot_have_hers - both).astype(np.int64)

    def sharing(self, one: int) -> Flags:
        """Which classes can share a group with this one: other values, and each can have the other's."""
        own = int(self.value[one])
        return np.asarray((self.value != own) & self.may_have(one)[self.value] & self.able(own))

    def kept(self, keep: Flags) -> Classes:
        """The people of these classes only; rows keep their numbers."""
        chosen = np.repeat(keep, self.count)
        count = self.count[keep]
        return Classes(
            self.value[keep], self.kind[keep], count, self.patterns, starts=np.append(0, np.cumsum(count)), rows=self.rows[chosen]
        )


def leads_to(holder: Ints, may: Flags) -> Flags:
    """Which value leads to which, in any number of steps: row i of ``may`` says which values somebody with value ``holder[i]`` can have."""
    step = np.zeros((may.shape[1], may.shape[1]), np.bool_)
    np.logical_or.at(step, holder, may)
    np.fill_diagonal(step, True)
    for middle in range(len(step)):
        step[step[:, middle]] |= step[middle]
    return step


def valid_values(classes: Classes, present: Ints) -> Flags:
    """Which values people of each class ``present`` can have when they are together: a row for each of these classes.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    >>> valid_values(people, np.array([0, 1, 2])).tolist()
    [[True, False, True], [False, True, False], [True, False, True]]
    """
    held, holder = np.unique(classes.value[present], return_inverse=True)
    may = classes.may_have(present)[:, held]
    valid = np.zeros((len(present), classes.values), np.bool_)
    valid[:, held] = may & leads_to(holder, may)[:, holder].T
    return valid


def chain(classes: Classes, present: Ints, goal: int, start: int) -> list[int] | None:
    """The fewest classes that pass values on from somebody who has value ``start`` to somebody who takes ``goal``; None where there are none.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], np.bool_), seed=0)
    >>> chain(people, np.array([0, 1, 2]), goal=0, start=1)
    [1, 2]
    """
    via: dict[int, tuple[int, int]] = {start: (-1, -1)}
    front = [start]
    while front and goal not in via:
        following: list[int] = []
        for value in front:
            for one in present[classes.value[present] == value].tolist():
                for taken in np.flatnonzero(classes.may_have(one)).tolist():
                    if taken not in via:
                        via[taken] = (value, one)
                        following.append(taken)
        front = following
    if goal not in via:
        return None
    classes_used: list[int] = []
    at = goal
    while at != start:
        at, one = via[at]
        classes_used.append(one)
    return classes_used[::-1]


class Recipes:
    """Lists of classes with the number of groups that each makes; both change while people are added to groups.

    >>> recipes = Recipes(np.array([[2, 0], [1, 3], [0, 2]]))
    >>> [(recipes.members(r), int(recipes.groups[r])) for r in range(len(recipes))]
    [([0, 2], 2), ([1, 3], 1)]
    >>> recipes.extend(0, 1, [5])
    2
    >>> recipes.members(2), recipes.groups.tolist()
    ([0, 2, 5], [1, 1, 1])
    """

    def __init__(self, groups: np.ndarray) -> None:
        """Recipes of groups of equal size, a row of classes for each."""
        found, number = _distinct_rows(np.sort(groups, axis=1)) if groups.size else (groups, np.empty(0, np.int64))
        self._used = len(found)
        self._filled = found.size
        self._starts = np.arange(len(found) + 1, dtype=np.int64) * (groups.shape[1] if groups.ndim == 2 else 0)
        self._members = found.reshape(-1).astype(np.int64)
        self._groups = number.astype(np.int64)

    def __len__(self) -> int:
        return self._used

    @property
    def starts(self) -> Ints:
        """Where the list of each recipe begins; the last one is where they all end."""
        return self._starts[: self._used + 1]

    @property
    def listed(self) -> Ints:
        """The classes of all recipes, one list after the other."""
        return self._members[: self._filled]

    @property
    def groups(self) -> Ints:
        """How many groups each recipe makes."""
        return self._groups[: self._used]

    @property
    def sizes(self) -> Ints:
        """How many people a group of each recipe has."""
        return np.diff(self.starts)

    def members(self, recipe: int) -> list[int]:
        """The classes of a recipe, one entry for each person."""
        return [int(c) for c in self._members[self._starts[recipe] : self._starts[recipe + 1]]]

    def extend(self, recipe: int, number: int, classes: Sequence[int]) -> int:
        """So many groups of a recipe get these people as well; the number of their new recipe."""
        self.take(recipe, number)
        return self.add(sorted([*self.members(recipe), *classes]), number)

    def take(self, recipe: int, number: int) -> None:
        """So many groups of a recipe are no more."""
        self._groups[recipe] -= number

    def merge(self, recipes: Sequence[int], classes: Sequence[int]) -> int:
        """One group of each recipe and these people become one group; the number of its recipe."""
        together = list(classes)
        for recipe in recipes:
            self.take(recipe, 1)
            together += self.members(recipe)
        return self.add(sorted(together), 1)

    def add(self, classes: Sequence[int], number: int) -> int:
        """Append a recipe that makes so many groups; its number."""
        self._members = _with_room(self._members, self._filled + len(classes))
        self._starts = _with_room(self._starts, self._used + 2)
        self._groups = _with_room(self._groups, self._used + 1)
        self._members[self._filled : self._filled + len(classes)] = classes
        self._filled += len(classes)
        self._used += 1
        self._starts[self._used] = self._filled
        self._groups[self._used - 1] = number
        return self._used - 1

    def assign(self, classes: Classes, rows: int, *, seed: int) -> Codes:
        """The number of each row's group, which says nothing about its recipe; -1 for rows that are in none."""
        number = np.random.default_rng([seed, 1]).permutation(int(self.groups.sum())).astype(np.int32)
        following = classes.starts.tolist()
        first = 0
        out = np.full(rows, -1, np.int32)
        for recipe in np.flatnonzero(self.groups).tolist():
            groups = int(self._groups[recipe])
            for one in self.members(recipe):
                out[classes.rows[following[one] : following[one] + groups]] = number[first : first + groups]
                following[one] += groups
            first += groups
        return out


def _with_room(array: Ints, needed: int) -> Ints:
    """The array, or a copy twice as long where it is too short."""
    if needed <= len(array):
        return array
    longer = np.zeros(max(needed, 2 * len(array)), np.int64)
    longer[: len(array)] = array
    return longer


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, Ints]:
    """Each row once, and how often it occurs."""
    key = np.zeros(len(rows), np.int64)
    largest = 1
    top = int(rows.max(initial=0)) + 1
    for column in rows.T:
        if largest * top >= 1 << 62:
            # Numbered anew, the key lies below rows x classes: it never overflows.
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            largest = len(key)
        key = key * top + column
        largest = largest * top
    _, first, number = np.unique(key, return_index=True, return_counts=True)
    return rows[first], number


Rule = Literal["injector", "balanced-1", "balanced-2"]

#: So many groups are formed between two looks at the clock.
AT_A_TIME = 100_000


def form(classes: Classes, size: int, rule: Rule, limits: Limits) -> tuple[Recipes, Ints]:
    """Groups of ``size`` people, and how many people of each class are left over.

    ``injector``: the first member is who can share a group with the fewest, each other one leaves the most people who still fit. ``balanced-1``:
    the others come from the value that the most people are left with, of that the class that can share a group with the fewest.
    ``balanced-2``: the first one as well; of a value, the class with the most values ruled out.

    >>> people = Classes.of(np.array([0, 0, 1, 1, 2]), np.zeros(5, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    >>> made, left = form(people, 2, "balanced-2", Limits())
    >>> [made.members(r) for r in range(len(made))], left.tolist()
    ([[0, 1]], [0, 0, 1])
    """
    from tacit.kernels import grouping as kernels

    numbered = {"injector": kernels.PRINTED, "balanced-1": kernels.BALANCED_1, "balanced-2": kernels.BALANCED_2}[rule]
    order = _order(classes, rule)
    value = classes.value[order]
    kind = classes.kind[order]
    count = classes.count[order]
    values = classes.values
    people = classes.people.copy()
    excluded = classes.patterns.any(axis=0)
    place = np.where(excluded, np.cumsum(excluded) - 1, -1)
    without, excluders = _excluding(classes, place)
    starts = np.append(0, np.cumsum(classes.patterns.sum(axis=1)))
    listed = np.nonzero(classes.patterns)[1].astype(np.int64)
    # A class that cannot share a group with more people is on top of the heap; a sorted list is one.
    key = classes.incompatible[order]
    heap = np.lexsort((np.arange(len(key)), -key))
    first = np.searchsorted(value, np.arange(values + 1))
    by_people = np.lexsort((np.arange(values), -people))
    state = np.array([classes.n, len(heap), 0, 0], np.int64)
    out = np.zeros(classes.n // size * size, np.int32)
    ruled = classes.patterns.reshape(-1)
    while not state[kernels.DONE]:
        limits.check("bucketize")
        kernels.form_groups(
            numbered,
            size,
            AT_A_TIME,
            value,
            kind,
            count,
            first,
            ruled,
            starts,
            listed,
            people,
            place,
            without,
            excluders,
            by_people,
            heap,
            key,
            state,
            out,
        )
    groups = order[out[: int(state[kernels.MADE]) * size]].reshape(-1, size)
    return Recipes(groups), classes.count - np.bincount(groups.reshape(-1), minlength=len(classes))


def _order(classes: Classes, rule: Rule) -> Ints:
    """The classes by value, and of a value the hardest first."""
    if rule == "injector":
        return np.arange(len(classes))
    hardness = classes.incompatible if rule == "balanced-1" else classes.patterns.sum(axis=1)[classes.kind]
    return np.lexsort((-hardness, classes.value))


def _excluding(classes: Classes, place: Ints) -> tuple[Ints, Ints]:
    """How many people of each value cannot have another one, for the values that somebody cannot have; and for each value in all."""
    table = np.zeros((int(place.max(initial=-1)) + 1, classes.values), np.int64)
    for value in np.flatnonzero(place >= 0).tolist():
        table[place[value]] = np.bincount(
            classes.value, weights=np.where(classes.able(value), 0, classes.count), minlength=classes.values
        )
    excluders = np.zeros(classes.values, np.int64)
    excluders[place >= 0] = table.sum(axis=1)
    return table.reshape(-1), excluders


#: So many recipes are asked for longer exchanges than those of two people, the best first.
LOOKS = 64


def exchanges(recipes: Recipes, classes: Classes, fits: Flags) -> Ints:
    """How many different values people of the classes that ``fits`` marks have in a group of each recipe."""
    number = np.zeros(len(recipes), np.int64)
    if not len(recipes):
        return number
    for word in range(-(-classes.values // 64)):
        bit = np.where(classes.value // 64 == word, np.uint64(1) << (classes.value % 64).astype(np.uint64), np.uint64(0))
        seen = np.bitwise_or.reduceat(np.where(fits, bit, np.uint64(0))[recipes.listed], recipes.starts[:-1])
        number += np.bitwise_count(seen)
    return number


def same_value(recipes: Recipes, classes: Classes, value: int) -> Ints:
    """How many people with a value are in a group of each recipe."""
    held = (classes.value == value)[recipes.listed].astype(np.int64)
    return np.add.reduceat(held, recipes.starts[:-1]) if len(recipes) else np.empty(0, np.int64)


def join_groups(recipes: Recipes, left: Ints, classes: Classes, least: int, limits: Limits) -> int:
    """Add everybody who is left to a group where she then has ``least`` valid values; how many groups were merged for that.

    In the whole table everybody must have so many. Those who can share a group with the fewest come first. Of the groups that will do, one with
    the fewest people of the same value is taken, of these a small one, of these one with many exchanges. Groups are merged where none will do,
    or where more than ``least`` people of a class would come to each that does. Every merge leaves fewer groups, and in a single one everybody
    has enough valid values: so it ends.
    """
    if not len(recipes):
        recipes.add(np.repeat(np.arange(len(classes)), left).tolist(), 1)
        return 0
    left = left.copy()
    before = int(recipes.groups.sum())
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        while left[one]:
            limits.check("bucketize")
            number = exchanges(recipes, classes, classes.sharing(one))
            suits = (number + 1 >= least) & (recipes.groups > 0)
            if left[one] > least * int(recipes.groups[suits].sum()) and _widened(
                recipes, classes, one, least, number=number, suits=suits
            ):
                continue
            if not suits.any():
                suits = _longer_exchanges(recipes, classes, one, least, number=number)
            if suits.any():
                left[one] -= _spread(recipes, classes, one, int(left[one]), suits=np.flatnonzero(suits), number=number)
            else:
                _chained(recipes, left, classes, one, least=least, number=number)
    return before - int(recipes.groups.sum())


def _spread(recipes: Recipes, classes: Classes, one: int, people: int, suits: Ints, number: Ints) -> int:
    """Add one person of a class to each of as many groups as there are people, the best first; how many found one."""
    equal = same_value(recipes, classes, int(classes.value[one]))
    best = suits[np.lexsort((-number[suits], recipes.sizes[suits], equal[suits]))]
    placed = 0
    for recipe in best.tolist():
        groups = min(people - placed, int(recipes.groups[recipe]))
        recipes.extend(recipe, groups, [one])
        placed += groups
        if placed == people:
            break
    return placed


def _longer_exchanges(recipes: Recipes, classes: Classes, one: int, least: int, number: Ints) -> Flags:
    """The most promising recipes in which somebody of a class has enough valid values through exchanges of three and more people."""
    suits = np.zeros(len(recipes), np.bool_)
    there = np.flatnonzero(recipes.groups > 0)
    for recipe in there[np.argsort(-number[there], kind="stable")][:LOOKS].tolist():
        suits[recipe] = _valid(classes, [*recipes.members(recipe), one], one).sum() >= least
    return suits


def _widened(recipes: Recipes, classes: Classes, one: int, least: int, number: Ints, suits: Flags) -> bool:
    """Whether groups that do not suit a class could be merged into one that does; if so, they are."""
    open_to = ~suits
    fits = classes.sharing(one)
    spare = np.where(open_to, recipes.groups, 0)
    chosen: list[int] = []
    have: set[int] = set()
    while len(have) + 1 < least:
        fresh = exchanges(recipes, classes, fits & ~np.isin(classes.value, list(have))) if have else number
        candidates = np.flatnonzero((spare > 0) & (fresh > 0))
        if not len(candidates):
            return False
        best = int(candidates[np.lexsort((recipes.sizes[candidates], -fresh[candidates]))[0]])
        chosen.append(best)
        spare[best] -= 1
        have |= _exchanged(recipes, classes, fits, best)
    recipes.merge(chosen, [])
    return True


def _chained(recipes: Recipes, left: Ints, classes: Classes, one: int, least: int, number: Ints) -> None:
    """Put one person of a class into the best group, and merge it with those along chains of exchanges, until she has enough valid values."""
    everybody = np.arange(len(classes))
    wanted = np.flatnonzero(_valid(classes, everybody.tolist(), one)).tolist()
    there = np.flatnonzero(recipes.groups > 0)
    group = recipes.extend(int(there[np.lexsort((recipes.sizes[there], -number[there]))[0]]), 1, [one])
    left[one] -= 1
    for value in wanted:
        valid = _valid(classes, recipes.members(group), one)
        if valid.sum() >= least:
            return
        if valid[value]:
            continue
        for holder in chain(classes, everybody, int(classes.value[one]), value) or []:
            if holder in recipes.members(group):
                continue
            if left[holder]:
                left[holder] -= 1
                group = recipes.merge([group], [holder])
            else:
                group = recipes.merge([group, _with(recipes, holder, group)], [])
    if _valid(classes, recipes.members(group), one).sum() < least:
        raise InternalError("somebody has too few values in every group", where="bucketize", remedy="Please report this")


def _with(recipes: Recipes, one: int, but: int) -> int:
    """The smallest recipe with somebody of a class, other than one whose only group it would be."""
    owners = np.repeat(np.arange(len(recipes)), recipes.sizes)[recipes.listed == one]
    spare = [int(r) for r in owners.tolist() if recipes.groups[r] > (1 if r == but else 0)]
    return min(spare, key=lambda recipe: (int(recipes.sizes[recipe]), recipe))


def _exchanged(recipes: Recipes, classes: Classes, fits: Flags, recipe: int) -> set[int]:
    """The values of the people of a recipe whose classes are marked."""
    members = np.array(recipes.members(recipe))
    return set(classes.value[members[fits[members]]].tolist())


def _valid(classes: Classes, members: list[int], one: int) -> Flags:
    """The values that somebody of a class can have among these people."""
    present = np.unique(members)
    return np.asarray(valid_values(classes, present)[np.searchsorted(present, one)])


def anatomize(classes: Classes, least: int, limits: Limits, *, seed: int) -> tuple[Recipes, int]:
    """Groups from the l values that the most people are left with, and how many people were left over and joined a group without their value.

    ``classes`` must not tell kinds apart, and no value may have more than n/l people. Which person of a value is taken is left to chance, as is
    the group that somebody left over joins.

    >>> people = Classes.of(np.array([0, 0, 0, 1, 1, 2, 2]), np.zeros(7, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    >>> made, left_over = anatomize(people, 2, Limits(), seed=0)
    >>> sorted(made.sizes[made.groups > 0].tolist()), left_over
    ([2, 2, 3], 1)
    """
    recipes, left = form(classes, least, "balanced-2", limits)
    chance = np.random.default_rng([seed, 2])
    left_over = np.repeat(np.arange(len(classes)), left).tolist()
    for one in left_over:
        open_to = np.where(same_value(recipes, classes, int(classes.value[one])) == 0, recipes.groups, 0)
        ends = np.cumsum(open_to)
        recipes.extend(int(np.searchsorted(ends, chance.integers(ends[-1]), side="right")), 1, [one])
    return recipes, len(left_over)
