"""Formation of groups with l valid values for everybody, and the methods by name.

:func:`form_groups` makes *complete* groups: l people with different values, each of whom can have every value of the group. So l values
are valid for everybody, each with probability 1/l. People who are left over join a group in which enough members could *exchange* values
with them (:func:`join_groups`): they can have the value of every member who can have theirs in return; members lose nothing.
:func:`anatomize` is the rival, which ignores knowledge (Xiao and Tao 2006).

A *recipe* lists the classes of a group. Groups of one recipe are interchangeable, and recipes are few however many people there are.

With a bound on probabilities, a value of a person may not be more probable than it, all consistent assignments being equally likely. In a
complete group that is the value's share of the group. A group stays complete while only people join who can have every value there, and
whose value every member can have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.buckets.classes import Classes, find_chain, valid_values
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.errors import InternalError
from tacit.model.policy import Limits
from tacit.model.table import row_keys

Rule = Literal["injector", "balanced-1", "balanced-2"]
AT_A_TIME = 100_000  #: Groups formed between two checks of the time limit.
LOOKS = 64  #: Recipes tested for exchanges of more than two people, the best first.


class Recipes:
    """Mutable lists of classes with their numbers of groups."""

    def __init__(self, groups: np.ndarray, numbers: Ints | None = None) -> None:
        found, number = _merge_groups(groups, numbers)
        self._used = len(found)
        self._filled = found.size
        self._starts = np.arange(len(found) + 1, dtype=np.int64) * (groups.shape[1] if groups.ndim == 2 else 0)
        self._members = found.reshape(-1).astype(np.int64)
        self._groups = number

    def __len__(self) -> int:
        return self._used

    @property
    def starts(self) -> Ints:
        """Start of each recipe's list, and the end."""
        return self._starts[: self._used + 1]

    @property
    def listed(self) -> Ints:
        """Classes of all recipes, concatenated."""
        return self._members[: self._filled]

    @property
    def groups(self) -> Ints:
        """Number of groups of each recipe."""
        return self._groups[: self._used]

    @property
    def sizes(self) -> Ints:
        """Number of people in a group of each recipe."""
        return np.diff(self.starts)

    def members(self, recipe: int) -> list[int]:
        """Return a recipe's classes, one entry per person."""
        return [int(c) for c in self._members[self._starts[recipe] : self._starts[recipe + 1]]]

    def extend(self, recipe: int, number: int, classes: Sequence[int]) -> int:
        """Extend ``number`` groups of a recipe; return the result."""
        self.take(recipe, number)
        return self.add(sorted([*self.members(recipe), *classes]), number)

    def take(self, recipe: int, number: int) -> None:
        """Remove ``number`` groups of a recipe."""
        self._groups[recipe] -= number

    def merge(self, recipes: Sequence[int], classes: Sequence[int]) -> int:
        """Merge recipes' groups with people; return the new recipe."""
        together = list(classes)
        for recipe in recipes:
            self.take(recipe, 1)
            together += self.members(recipe)
        return self.add(sorted(together), 1)

    def add(self, classes: Sequence[int], number: int) -> int:
        """Append a recipe for ``number`` groups; return its number."""
        self._members = _grow(self._members, self._filled + len(classes))
        self._starts = _grow(self._starts, self._used + 2)
        self._groups = _grow(self._groups, self._used + 1)
        self._members[self._filled : self._filled + len(classes)] = classes
        self._filled += len(classes)
        self._used += 1
        self._starts[self._used] = self._filled
        self._groups[self._used - 1] = number
        return self._used - 1

    def assign(self, classes: Classes, rows: int, *, seed: int) -> Codes:
        """Return randomly numbered groups by row, -1 for none."""
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


def _merge_groups(groups: np.ndarray, numbers: Ints | None = None) -> tuple[np.ndarray, Ints]:
    """Return the distinct groups of one size in order, and how many there are of each."""
    ordered = np.sort(groups, axis=1) if groups.size else groups
    _, first, same = np.unique(row_keys(ordered.T, len(ordered)), return_index=True, return_inverse=True)
    many = np.zeros(len(first), np.int64)
    np.add.at(many, same.reshape(-1), 1 if numbers is None else numbers)
    return ordered[first], many


def _grow(array: Ints, needed: int) -> Ints:
    if needed <= len(array):
        return array
    longer = np.zeros(max(needed, 2 * len(array)), np.int64)
    longer[: len(array)] = array
    return longer


def form_groups(classes: Classes, size: int, rule: Rule, limits: Limits) -> tuple[Recipes, Ints]:
    """Form complete groups of ``size``; return the remaining people too.

    ``injector``: the first member is who can share a group with the fewest, each other one leaves the most people who still fit. ``balanced-1``:
    the others come from the value with the most people left, and there from the class that can share a group with the fewest.
    ``balanced-2``: the first one as well; within a value, the class with the most values ruled out.
    """
    from tacit.kernels import grouping as kernels

    numbered = {"injector": kernels.PRINTED, "balanced-1": kernels.BALANCED_1, "balanced-2": kernels.BALANCED_2}[rule]
    order = _order_classes(classes, rule)
    value = classes.value[order]
    kind = classes.kind[order]
    count = classes.count[order]
    values = classes.values
    people = classes.people.copy()
    excluded = classes.patterns.any(axis=0)
    place = np.where(excluded, np.cumsum(excluded) - 1, -1)
    without, excluders = _count_excluders(classes, place)
    starts = np.append(0, np.cumsum(classes.patterns.sum(axis=1)))
    listed = np.nonzero(classes.patterns)[1].astype(np.int64)
    # A class that cannot share a group with more people is on top of the heap; a sorted list is one.
    key = classes.incompatible[order]
    heap = np.lexsort((np.arange(len(key)), -key))
    first = np.searchsorted(value, np.arange(values + 1))
    by_people = np.lexsort((np.arange(values), -people))
    state = np.array([classes.n, len(heap), 0, 0], np.int64)
    out = np.zeros(min(classes.n // size, AT_A_TIME) * size, np.int32)
    found = np.zeros((0, size), np.int32)
    numbers = np.zeros(0, np.int64)
    ruled = classes.patterns.reshape(-1)
    fixed = (value, kind, starts, listed, place)
    left = (count, people, without, excluders, by_people)
    while not state[kernels.DONE]:
        limits.check("bucketize")
        kernels.form_groups(numbered, size, AT_A_TIME, fixed, left, first, ruled, heap, key, state, out)
        # Groups are merged as they are formed: their number is that of the people, that of the recipes is not.
        fresh = order[out[: int(state[kernels.MADE]) * size]].reshape(-1, size)
        ones = np.ones(len(fresh), np.int64)
        found, numbers = _merge_groups(np.concatenate([found, fresh]), np.concatenate([numbers, ones]))
        state[kernels.MADE] = 0
    used = np.bincount(found.reshape(-1), np.repeat(numbers, size), len(classes)).astype(np.int64)
    return Recipes(found, numbers), classes.count - used


def _order_classes(classes: Classes, rule: Rule) -> Ints:
    if rule == "injector":
        return np.arange(len(classes))
    hardness = classes.incompatible if rule == "balanced-1" else classes.patterns.sum(axis=1)[classes.kind]
    return np.lexsort((-hardness, classes.value))


def _count_excluders(classes: Classes, place: Ints) -> tuple[Ints, Ints]:
    """Count the people of each value who exclude another, and their sums."""
    table = np.zeros((int(place.max(initial=-1)) + 1, classes.values), np.int64)
    for value in np.flatnonzero(place >= 0).tolist():
        unable = np.where(classes.able(value), 0, classes.count)
        table[place[value]] = np.bincount(classes.value, weights=unable, minlength=classes.values)
    excluders = np.zeros(classes.values, np.int64)
    excluders[place >= 0] = table.sum(axis=1)
    return table.reshape(-1), excluders


def count_exchanges(recipes: Recipes, classes: Classes, fits: Flags) -> Ints:
    """Count the distinct values of classes in ``fits``, per recipe."""
    number = np.zeros(len(recipes), np.int64)
    if not len(recipes):
        return number
    shown = classes.shown[classes.value]
    for word in range(int(shown.max(initial=0)) // 64 + 1):
        bit = np.where(shown // 64 == word, np.uint64(1) << (shown % 64).astype(np.uint64), np.uint64(0))
        seen = np.bitwise_or.reduceat(np.where(fits, bit, np.uint64(0))[recipes.listed], recipes.starts[:-1])
        number += np.bitwise_count(seen)
    return number


def count_same_value(recipes: Recipes, classes: Classes, value: int) -> Ints:
    """Count the people with a value, per recipe."""
    held = (classes.shown[classes.value] == classes.shown[value])[recipes.listed].astype(np.int64)
    return np.add.reduceat(held, recipes.starts[:-1]) if len(recipes) else np.empty(0, np.int64)


def join_groups(recipes: Recipes, left: Ints, classes: Classes, least: int, limits: Limits) -> int:
    """Add the remaining people; return the number of merges.

    Everybody must have ``least`` valid values in the whole table. The people who can share a group with the fewest come first. Of the suitable
    groups, one with the fewest people of the same value is taken, then the smallest, then one with the most exchanges. Groups are merged if
    none is suitable, or if more than ``least`` people of a class would join each. Every merge leaves fewer groups, and in a single group
    everybody has enough valid values: so it ends.
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
            number = count_exchanges(recipes, classes, classes.compatible_with(one))
            suits = (number + 1 >= least) & (recipes.groups > 0)
            crowded = left[one] > least * int(recipes.groups[suits].sum())
            if crowded and _merge_to_suit(recipes, classes, one, least, number=number, suits=suits):
                continue
            if not suits.any():
                suits = _find_longer_exchanges(recipes, classes, one, least, number=number)
            if suits.any():
                left[one] -= _add_to_groups(recipes, classes, one, int(left[one]), suits=np.flatnonzero(suits), number=number)
            else:
                _merge_along_chains(recipes, left, classes, one, least=least, number=number)
    return before - int(recipes.groups.sum())


def _add_to_groups(recipes: Recipes, classes: Classes, one: int, people: int, suits: Ints, number: Ints) -> int:
    equal = count_same_value(recipes, classes, int(classes.value[one]))
    best = suits[np.lexsort((-number[suits], recipes.sizes[suits], equal[suits]))]
    placed = 0
    for recipe in best.tolist():
        groups = min(people - placed, int(recipes.groups[recipe]))
        recipes.extend(recipe, groups, [one])
        placed += groups
        if placed == people:
            break
    return placed


def _find_longer_exchanges(recipes: Recipes, classes: Classes, one: int, least: int, number: Ints) -> Flags:
    suits = np.zeros(len(recipes), np.bool_)
    there = np.flatnonzero(recipes.groups > 0)
    for recipe in there[np.argsort(-number[there], kind="stable")][:LOOKS].tolist():
        suits[recipe] = _count_valid(classes, _valid_among(classes, [*recipes.members(recipe), one], one)) >= least
    return suits


def _merge_to_suit(recipes: Recipes, classes: Classes, one: int, least: int, number: Ints, suits: Flags) -> bool:
    fits = classes.compatible_with(one)
    spare = np.where(suits, 0, recipes.groups)
    chosen: list[int] = []
    have: set[int] = set()
    while len(have) + 1 < least:
        fresh = count_exchanges(recipes, classes, fits & ~np.isin(classes.shown[classes.value], list(have))) if have else number
        candidates = np.flatnonzero((spare > 0) & (fresh > 0))
        if not len(candidates):
            return False
        best = int(candidates[np.lexsort((recipes.sizes[candidates], -fresh[candidates]))[0]])
        chosen.append(best)
        spare[best] -= 1
        members = np.array(recipes.members(best))
        have |= set(classes.shown[classes.value[members[fits[members]]]].tolist())
    recipes.merge(chosen, [])
    return True


def _merge_along_chains(recipes: Recipes, left: Ints, classes: Classes, one: int, least: int, number: Ints) -> None:
    """Place one person, merging groups along chains of exchanges."""
    everybody = np.arange(len(classes))
    wanted = np.flatnonzero(_valid_among(classes, everybody.tolist(), one)).tolist()
    there = np.flatnonzero(recipes.groups > 0)
    group = recipes.extend(int(there[np.lexsort((recipes.sizes[there], -number[there]))[0]]), 1, [one])
    left[one] -= 1
    for value in wanted:
        valid = _valid_among(classes, recipes.members(group), one)
        if _count_valid(classes, valid) >= least:
            return
        if valid[value]:
            continue
        for holder in find_chain(classes, everybody, int(classes.value[one]), value) or []:
            if holder in recipes.members(group):
                continue
            if left[holder]:
                left[holder] -= 1
                group = recipes.merge([group], [holder])
            else:
                group = recipes.merge([group, _smallest_with(recipes, holder, group)], [])
    if _count_valid(classes, _valid_among(classes, recipes.members(group), one)) < least:
        raise InternalError("a person has too few values in every group", where="bucketize", remedy="Please report this")


def _smallest_with(recipes: Recipes, one: int, but: int) -> int:
    owners = np.repeat(np.arange(len(recipes)), recipes.sizes)[recipes.listed == one]
    spare = [int(r) for r in owners.tolist() if recipes.groups[r] > (1 if r == but else 0)]
    return min(spare, key=lambda recipe: (int(recipes.sizes[recipe]), recipe))


def _valid_among(classes: Classes, members: list[int], one: int) -> Flags:
    present = np.unique(members)
    return np.asarray(valid_values(classes, present)[np.searchsorted(present, one)])


def _count_valid(classes: Classes, valid: Flags) -> int:
    return int(classes.count_values(valid[None])[0])


def anatomize(classes: Classes, least: int, limits: Limits, *, seed: int) -> tuple[Recipes, int]:
    """Form groups of the l most frequent remaining values.

    Also returns how many people were left over and joined a group without their value. ``classes`` must have one kind, and no value more
    than n/l people. The person of a value, and the group that a person left over joins, are drawn at random.
    """
    recipes, left = form_groups(classes, least, "balanced-2", limits)
    chance = np.random.default_rng([seed, 2])
    left_over = np.repeat(np.arange(len(classes)), left).tolist()
    for one in left_over:
        ends = np.cumsum(np.where(count_same_value(recipes, classes, int(classes.value[one])) == 0, recipes.groups, 0))
        recipes.extend(int(np.searchsorted(ends, chance.integers(ends[-1]), side="right")), 1, [one])
    return recipes, len(left_over)


Method = Literal["injector", "balanced", "balanced-1", "balanced-2", "anatomy"]
METHODS: tuple[Method, ...] = get_args(Method)
MOST_PEOPLE = 20  #: Largest group whose assignments are counted: 20! still fits 64 bits.
MOST_STATES = 1 << 14  #: States counted at most for one group.
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
class Made:
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
    shown: Ints | None = None,
) -> Grouped:
    """Group the rows with ``least`` valid values for everybody.

    This must be feasible. Row i has the value ``sensitive[i]``, and ``patterns[kind[i]]`` marks the values ruled out for it; they may be labels
    (``shown`` as in :class:`Classes`). With ``bound``, no value of a group may be more probable; people without such a group are left out with
    ``suppress``, else they join one all the same. ``anatomy`` ignores what is ruled out.
    """
    if method == "anatomy":
        kind = np.zeros(len(sensitive), np.int64)
        patterns = np.zeros((1, patterns.shape[1]), np.bool_)
    classes = Classes.of(sensitive, kind, patterns, seed=seed, shown=shown)
    made = group_classes(
        classes,
        least=least,
        method=method,
        bound=bound,
        suppress=suppress,
        seed=seed,
        limits=limits or Limits(),
        progress=progress,
    )
    group = made.recipes.assign(classes, len(sensitive), seed=seed)
    return Grouped(made.method, group, made.residue, made.merges, beyond=made.beyond)


def group_classes(
    classes: Classes,
    *,
    least: int,
    method: Method,
    bound: Fraction | None,
    suppress: bool,
    seed: int,
    limits: Limits,
    progress: Callable[[float], None] = lambda _: None,
) -> Made:
    """Return recipes of groups for the people of these classes, as :func:`group_people` does."""
    if method == "anatomy":
        return Made(method, *anatomize(classes, least, limits, seed=seed))
    rules: tuple[Rule, ...] = ("balanced-1", "balanced-2") if method == "balanced" else (method,)
    tried = []
    for number, rule in enumerate(rules):
        tried.append(_group_by_rule(classes, rule, least, bound, suppress=suppress, limits=limits))
        progress((number + 1) / len(rules))
    return min(tried, key=lambda one: one.merit)


def _group_by_rule(classes: Classes, rule: Rule, least: int, bound: Fraction | None, suppress: bool, limits: Limits) -> Made:
    size = least if bound is None else least_group_size(least, bound)
    recipes, left = form_groups(classes, size, rule, limits)
    residue = int(left.sum())
    if bound is not None:
        left = join_complete(recipes, left, classes, bound, limits=limits)
        if classes.is_plain:
            left = join_probable(recipes, left, classes, least, bound, limits=limits)
        if suppress and len(recipes):
            return Made(rule, recipes, residue, outside=int(left.sum()))
    beyond = int(left.sum()) if bound is not None else 0
    merges = join_groups(recipes, left, classes, least, limits=limits) if left.any() else 0
    return Made(rule, recipes, residue, merges, beyond=beyond)


def least_group_size(least: int, bound: Fraction) -> int:
    """Return the smallest group size that respects ``bound``."""
    return max(least, -(-bound.denominator // bound.numerator))


def join_complete(recipes: Recipes, left: Ints, classes: Classes, bound: Fraction, limits: Limits) -> Ints:
    """Add people while groups stay complete and bounded.

    Returns the people of each class without a group. ``recipes`` must be complete. Prefers groups with few equal values, then small ones.
    """
    left = left.copy()
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        able = np.asarray(classes.may_have(one)[classes.value] & classes.able(int(classes.value[one])))
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


def join_probable(recipes: Recipes, left: Ints, classes: Classes, least: int, bound: Fraction, *, limits: Limits) -> Ints:
    """Add people within the proved bound and with ``least`` valid values; return the rest."""
    left = left.copy()
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        for chosen in _promising_recipes(recipes, classes, one) if left[one] else ():
            limits.check("bucketize")
            groups = min(int(left[one]), *(int(recipes.groups[recipe]) // chosen.count(recipe) for recipe in chosen))
            members = [member for recipe in chosen for member in recipes.members(recipe)]
            if groups and is_within_bound(classes, np.array([*members, one]), bound, least=least):
                for recipe in chosen:
                    recipes.take(recipe, groups)
                recipes.add(sorted([*members, one]), groups)
                left[one] -= groups
            if not left[one]:
                break
    return left


def _promising_recipes(recipes: Recipes, classes: Classes, one: int) -> Iterator[list[int]]:
    fits = classes.compatible_with(one)
    number = count_exchanges(recipes, classes, fits)
    equal = count_same_value(recipes, classes, int(classes.value[one]))
    there = np.flatnonzero((recipes.groups > 0) & (recipes.sizes < MOST_PEOPLE))
    best = there[np.lexsort((recipes.sizes[there], -number[there], equal[there]))].tolist()
    yield from ([recipe] for recipe in best[:SINGLES])
    for first in best[:4]:
        have = classes.shown[classes.value[[member for member in recipes.members(first) if fits[member]]]]
        fresh = count_exchanges(recipes, classes, fits & ~np.isin(classes.shown[classes.value], have))
        for second in there[np.lexsort((recipes.sizes[there], -fresh[there], equal[there]))][: PAIRS // 4].tolist():
            yield [first, second]


def is_within_bound(classes: Classes, members: Ints, bound: Fraction, *, least: int = 1) -> bool:
    """Tell if no value is proved too probable (False: takes too long), and everybody has ``least``."""
    held, count = np.unique(classes.value[members], return_counts=True)
    may = classes.may_have(members)[:, held]
    if np.any(count * bound.denominator > may.sum(axis=0) * bound.numerator):
        return False  # probabilities of a value add up to the people who have it
    if len(members) > MOST_PEOPLE or np.prod(count + 1) > MOST_STATES:
        return False
    largest, total = _count_largest(may, count)
    if largest * bound.denominator > total * bound.numerator:
        return False
    # A bound of 1/l leaves everybody l values.
    return bound * least <= 1 or bool((valid_values(classes, np.unique(members)).sum(axis=1) >= least).all())


def _count_largest(may: Flags, count: Ints) -> tuple[int, int]:
    """Count the assignments of the most frequent pair, and all assignments.

    ``ways[i]`` counts, by state, the ways to serve the first i people.
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
        behind = {axis: _shift(rest, axis, back=True) for axis in np.flatnonzero(row).tolist()}
        largest = max([largest, *(int((before * after).sum()) for after in behind.values())])
        rest = sum(behind.values(), np.zeros(shape, np.int64))
    return largest, total


def _shift(ways: np.ndarray, axis: int, *, back: bool = False) -> np.ndarray:
    out = np.zeros_like(ways)
    later = (slice(None),) * axis + (slice(1, None),)
    earlier = (slice(None),) * axis + (slice(None, -1),)
    if back:
        later, earlier = earlier, later
    out[later] = ways[earlier]
    return out
