"""Rows made ready for mining: frequent items only, equal rows merged, and for every item the rows that hold it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part


@part
def _hash(members: Any, first: int, last: int, salt: int) -> Any:
    """A number below 2**32 that spreads well, from a list of numbers; no step leaves 64 bits."""
    value = np.int64(salt) + 0x9E3779B1
    for place in range(first, last):
        value = ((value ^ (value >> 15)) * 0x2C1B3C6D + members[place] + 1) & 0xFFFFFFFF
    return value ^ (value >> 13)


@part
def _same(members: Any, left: int, right: int, length: int) -> bool:
    i = 0
    while i < length and members[left + i] == members[right + i]:
        i += 1
    return i == length


@kernel
def supports(offsets: Any, members: Any, weights: Any, counts: Any) -> None:
    """Add up, for every item, the rows that hold it (``counts[:, 0]``) and their weights (``counts[:, 1]``)."""
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            counts[members[place], 0] += 1
            counts[members[place], 1] += weights[row]


@kernel
def recode(offsets: Any, members: Any, number: Any, new_offsets: Any, new_members: Any) -> None:
    """Write each row with its items renumbered and sorted; items whose ``number`` is negative are left out."""
    end = 0
    for row in range(len(offsets) - 1):
        first = end
        for place in range(offsets[row], offsets[row + 1]):
            item = number[members[place]]
            if item >= 0:
                at = end
                while at > first and new_members[at - 1] > item:
                    new_members[at] = new_members[at - 1]
                    at -= 1
                new_members[at] = item
                end += 1
        new_offsets[row + 1] = end


@kernel
def merge(offsets: Any, members: Any, classes: Any, weights: Any, table: Any) -> int:
    """Add the weight of each row to the first equal row of its class, and set its own to 0; rows without items get 0; how many rows remain.

    ``table`` is the memory of a hash table: a power of two, at least twice the number of rows, all -1.
    """
    mask = len(table) - 1
    remain = 0
    for row in range(len(offsets) - 1):
        first, length = offsets[row], offsets[row + 1] - offsets[row]
        if length == 0 or weights[row] == 0:
            weights[row] = 0
            continue
        slot = _hash(members, first, first + length, classes[row]) & mask
        while table[slot] >= 0:
            twin = table[slot]
            if (
                classes[twin] == classes[row]
                and offsets[twin + 1] - offsets[twin] == length
                and _same(members, first, offsets[twin], length)
            ):
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = row
            remain += 1
        else:
            weights[table[slot]] += weights[row]
            weights[row] = 0
    return remain


@kernel
def index(offsets: Any, members: Any, chosen: Any, starts: Any, places: Any, lists: Any, masks: Any) -> None:
    """Write the ``chosen`` rows as masks (one bit per item) or as lists, and for every item where the rows that hold it are.

    With masks, the places of item i (``places[starts[i]:starts[i + 1]]``) are numbers of chosen rows. Without, they are positions of the item in
    ``lists``, in which rows are separated by -1. ``starts`` is all 0 before.
    """
    n_items = len(starts) - 1
    width = (n_items + 63) >> 6
    for row in chosen:
        for at in range(offsets[row], offsets[row + 1]):
            starts[members[at] + 1] += 1
    cursor = np.empty(n_items, np.int64)
    for item in range(n_items):
        cursor[item] = starts[item]
        starts[item + 1] += starts[item]
    end = 0
    for number in range(len(chosen)):
        row = chosen[number]
        if len(lists) > 0:
            lists[end] = -1
            end += 1
        for at in range(offsets[row], offsets[row + 1]):
            item = members[at]
            if len(lists) > 0:
                lists[end] = item
                places[cursor[item]] = end
                end += 1
            else:
                masks[number * width + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
                places[cursor[item]] = number
            cursor[item] += 1
    if len(lists) > 0:
        lists[end] = -1
