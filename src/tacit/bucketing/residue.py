"""People whom no group was found for join one: where enough people could exchange values with them.

Whoever joins a group can have the value of every member who can have hers in return, whatever the others have. Where these *exchanges* and her
own value are l different values, she has as many valid ones; members keep theirs, since nothing is taken from a group.
"""

from __future__ import annotations

import numpy as np

from tacit.bucketing.classes import Classes, Flags, Numbers
from tacit.bucketing.graph import chain, valid_values
from tacit.bucketing.recipes import Recipes
from tacit.errors import InternalError
from tacit.model.policy import Limits

#: So many recipes are asked for longer exchanges than those of two people, the best first.
LOOKS = 64


def exchanges(recipes: Recipes, classes: Classes, fits: Flags) -> Numbers:
    """How many different values people of the classes that ``fits`` marks have in a group of each recipe."""
    number = np.zeros(len(recipes), np.int64)
    if not len(recipes):
        return number
    for word in range(-(-classes.values // 64)):
        bit = np.where(classes.value // 64 == word, np.uint64(1) << (classes.value % 64).astype(np.uint64), np.uint64(0))
        seen = np.bitwise_or.reduceat(np.where(fits, bit, np.uint64(0))[recipes.listed], recipes.starts[:-1])
        number += np.bitwise_count(seen)
    return number


def same_value(recipes: Recipes, classes: Classes, value: int) -> Numbers:
    """How many people with a value are in a group of each recipe."""
    held = (classes.value == value)[recipes.listed].astype(np.int64)
    return np.add.reduceat(held, recipes.starts[:-1]) if len(recipes) else np.empty(0, np.int64)


def join_groups(recipes: Recipes, left: Numbers, classes: Classes, least: int, limits: Limits) -> int:
    """Add everybody who is left to a group where she then has ``least`` valid values; how many groups were merged for that.

    In the whole table everybody must have so many. Those who can share a group with the fewest come first. Of the groups that will do, one with
    the fewest people of the same value is taken, of these a small one, of these one with many exchanges. Groups are merged where none will do,
    or where more than ``least`` people of a class would come to each that does. Every merge leaves fewer groups, and in a single one everybody
    has enough valid values: so it ends.
    """
    if not len(recipes):
        recipes.add(np.repeat(np.arange(len(classes)), left).tolist(), 1)
        return 0
    left, before = left.copy(), int(recipes.groups.sum())
    waiting = np.flatnonzero(left)
    for one in waiting[np.argsort(-classes.incompatible[waiting], kind="stable")].tolist():
        while left[one]:
            limits.check("bucketize")
            number = exchanges(recipes, classes, classes.sharing(one))
            suits = (number + 1 >= least) & (recipes.groups > 0)
            if left[one] > least * int(recipes.groups[suits].sum()) and _widened(recipes, classes, one, least, number, suits):
                continue
            if not suits.any():
                suits = _longer_exchanges(recipes, classes, one, least, number)
            if suits.any():
                left[one] -= _spread(recipes, classes, one, int(left[one]), np.flatnonzero(suits), number)
            else:
                _chained(recipes, left, classes, one, least, number)
    return before - int(recipes.groups.sum())


def _spread(recipes: Recipes, classes: Classes, one: int, people: int, suits: Numbers, number: Numbers) -> int:
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


def _longer_exchanges(recipes: Recipes, classes: Classes, one: int, least: int, number: Numbers) -> Flags:
    """The most promising recipes in which somebody of a class has enough valid values through exchanges of three and more people."""
    suits = np.zeros(len(recipes), np.bool_)
    there = np.flatnonzero(recipes.groups > 0)
    for recipe in there[np.argsort(-number[there], kind="stable")][:LOOKS].tolist():
        suits[recipe] = _valid(classes, [*recipes.members(recipe), one], one).sum() >= least
    return suits


def _widened(recipes: Recipes, classes: Classes, one: int, least: int, number: Numbers, suits: Flags) -> bool:
    """Whether groups that do not suit a class could be merged into one that does; if so, they are."""
    open_to = ~suits
    fits, spare = classes.sharing(one), np.where(open_to, recipes.groups, 0)
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


def _chained(recipes: Recipes, left: Numbers, classes: Classes, one: int, least: int, number: Numbers) -> None:
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
