"""Placing people into groups without an array of all people.

Groups are known by recipes: each of ``groups`` groups of a recipe has one person of each class that it lists. Two permutations choose who that
is. One renumbers the groups, the other chooses the person of a class; both are Feistel networks that walk until they are back inside, so any
of their places can be computed by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part

ROUNDS = 6  #: Rounds of a permutation; each uses one key.
_WORD = 0x7FFFFFFF


@part
def _mix(number: int, key: int) -> int:
    mixed = (number ^ key) & _WORD
    mixed = mixed * 0x9E3779B1
    mixed = (mixed ^ (mixed >> 29)) & _WORD
    mixed = mixed * 0x85EBCA6B
    return int((mixed ^ (mixed >> 31)) & _WORD)


@part
def permute(place: int, size: int, keys: Any) -> int:
    """Return the image of a place below ``size`` under the permutation of these keys."""
    half = 1
    while (1 << (2 * half)) < size:
        half += 1
    mask = (1 << half) - 1
    found = place
    while True:
        left = found >> half
        right = found & mask
        for number in range(ROUNDS):
            turned = left ^ (_mix(right, keys[number]) & mask)
            left = right
            right = turned
        found = (left << half) | right
        if found < size:
            return int(found)


@part
def _find(ends: Any, low: int, high: int, wanted: int) -> int:
    """Return the first place of ``ends[low:high]`` above ``wanted``."""
    while low < high:
        middle = (low + high) // 2
        if ends[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return int(low)


@kernel(steps=lambda begin, end, _recipes, _classes, _keys, _class_keys, rows, _group: (end - begin + rows.size) * 40)
def place_groups(begin: int, end: int, recipes: Any, classes: Any, keys: Any, class_keys: Any, rows: Any, group: Any) -> int:
    """Fill in the rows and the group of the people in groups ``begin`` to ``end``; return their number.

    ``recipes`` are the first group of each, the start of its list, the classes listed, and their first places; ``classes`` are the first person
    of each, the people at the end of each row, and rows by class.
    """
    first, starts, listed, base = recipes
    people, ends, by_class, row_starts = classes
    total = first[len(first) - 1]
    used = 0
    for number in range(begin, end):
        inside = permute(number, total, keys)
        recipe = _find(first, 0, len(first), inside) - 1
        for member in range(starts[recipe], starts[recipe + 1]):
            c = listed[member]
            place = permute(base[member] + inside - first[recipe], people[c + 1] - people[c], class_keys[c])
            at = _find(ends, row_starts[c], row_starts[c + 1], people[c] + place)
            rows[used] = by_class[at]
            group[used] = number - begin
            used += 1
    return used


@kernel(steps=lambda _weights, _placed, left, *_others: (int(left.sum()) + len(left)) * 40)
def remove_unplaced(weights: Any, placed: Any, left: Any, classes: Any, class_keys: Any) -> None:
    """Subtract from the weights of rows the ``left`` people of each class behind the ``placed`` ones."""
    people, ends, by_class, row_starts = classes
    for c in range(len(placed)):
        for slot in range(placed[c], placed[c] + left[c]):
            place = permute(slot, people[c + 1] - people[c], class_keys[c])
            at = _find(ends, row_starts[c], row_starts[c + 1], people[c] + place)
            weights[by_class[at]] -= 1


def draw_keys(chance: np.random.Generator, number: int) -> np.ndarray:
    """Draw the keys of permutations."""
    return chance.integers(0, _WORD, (number, ROUNDS), dtype=np.int64)
