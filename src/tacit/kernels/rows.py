"""Rows made ready for mining: frequent items only, equal rows merged, and for every item the rows that hold it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part


@part
def _same(members: Any, number: Any, left: int, left_end: int, right: int, right_end: int) -> bool:
    """Whether two rows hold the same frequent items."""
    while True:
        while left < left_end and number[members[left]] < 0:
            left += 1
        while right < right_end and number[members[right]] < 0:
            right += 1
        if left == left_end or right == right_end:
            return left == left_end and right == right_end
        if members[left] != members[right]:
            return False
        left += 1
        right += 1


@kernel
def supports(offsets: Any, members: Any, weights: Any, counts: Any) -> None:
    """Add up, for every item, the rows that hold it (``counts[:, 0]``) and their weights (``counts[:, 1]``)."""
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            counts[members[place], 0] += 1
            counts[members[place], 1] += weights[row]


@kernel
def merge(offsets: Any, members: Any, number: Any, classes: Any, weights: Any, lengths: Any, table: Any) -> None:
    """Add the weight of each row to the first equal row of its class, and set its own to 0; rows without frequent items get 0.

    Only items whose ``number`` is not negative count; ``lengths`` receives how many of them each row holds. ``classes`` may be empty.
    ``table`` is the memory of a hash table: a power of two, at least twice the number of rows, all -1.
    """
    mask = len(table) - 1
    for row in range(len(offsets) - 1):
        first, last = offsets[row], offsets[row + 1]
        own = classes[row] if len(classes) > 0 else 0
        length, value = 0, np.int64(own) + 0x9E3779B1
        for place in range(first, last):
            item = number[members[place]]
            if item >= 0:  # no step leaves 64 bits
                value = ((value ^ (value >> 15)) * 0x2C1B3C6D + item + 1) & 0xFFFFFFFF
                length += 1
        lengths[row] = length
        if length == 0 or weights[row] == 0:
            weights[row] = 0
            continue
        slot = (value ^ (value >> 13)) & mask
        while table[slot] >= 0:
            twin = table[slot]
            if (
                lengths[twin] == length
                and (len(classes) == 0 or classes[twin] == own)
                and _same(members, number, first, last, offsets[twin], offsets[twin + 1])
            ):
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = row
        else:
            weights[table[slot]] += weights[row]
            weights[row] = 0


@kernel
def index(offsets: Any, members: Any, number: Any, chosen: Any, starts: Any, places: Any, lists: Any, masks: Any) -> None:
    """Write the frequent items of the ``chosen`` rows as masks (one bit per item) or as sorted lists, and where every item is.

    With masks, the places of item i (``places[starts[i]:starts[i + 1]]``) are numbers of chosen rows. Without, they are positions of the item in
    ``lists``, in which rows are separated by -1. ``starts`` is all 0 before. Rows are read where they are: a renumbered copy of them would
    be the largest thing in memory.
    """
    n_items = len(starts) - 1
    width = (n_items + 63) >> 6
    for row in chosen:
        for at in range(offsets[row], offsets[row + 1]):
            if number[members[at]] >= 0:
                starts[number[members[at]] + 1] += 1
    cursor = np.empty(n_items, np.int64)
    for item in range(n_items):
        cursor[item] = starts[item]
        starts[item + 1] += starts[item]
    end = 0
    for row_number in range(len(chosen)):
        row = chosen[row_number]
        if len(lists) > 0:
            lists[end] = -1
            end += 1
        first = end
        for at in range(offsets[row], offsets[row + 1]):
            item = number[members[at]]
            if item < 0:
                continue
            if len(lists) == 0:
                masks[row_number * width + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
                places[cursor[item]] = row_number
                cursor[item] += 1
            else:
                place = end
                while place > first and lists[place - 1] > item:
                    lists[place] = lists[place - 1]
                    place -= 1
                lists[place] = item
                end += 1
        for place in range(first, end):
            places[cursor[lists[place]]] = place
            cursor[lists[place]] += 1
    if len(lists) > 0:
        lists[end] = -1
