"""Counting sets in rows, and finding which sets of a list are maximal or contained in another."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part, popcount

#: Positions of items that :func:`lines_within` meets: not allowed in a set, or allowed without a bit of its own.
OUTSIDE, ALLOWED = -1, -2

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def count_sets(bits: Any, ends: Any, weights: Any, offsets: Any, members: Any, counts: Any) -> None:
    """People who hold every item of each set; ``bits[item]`` is the bit set of the rows that have the item.

    Rows of equal weight stand together: the words up to ``ends[p]`` hold rows of ``weights[p]`` people each. Partial intersections of the
    previous set are kept, so that sets listed in an order with long common prefixes cost one intersection each.
    """
    longest = 1
    for s in range(offsets.size - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    width = bits.shape[1]
    partial = np.empty((longest, width), np.uint64)
    for s in range(offsets.size - 1):
        start, length = offsets[s], offsets[s + 1] - offsets[s]
        shared = 0
        if s > 0:
            before, before_length = offsets[s - 1], offsets[s] - offsets[s - 1]
            while shared < length and shared < before_length and members[start + shared] == members[before + shared]:
                shared += 1
        for depth in range(shared, length):
            item = members[start + depth]
            for w in range(width):
                partial[depth, w] = bits[item, w] if depth == 0 else bits[item, w] & partial[depth - 1, w]
        total = np.int64(0)
        first = 0
        for p in range(ends.size):
            ones = 0
            for w in range(first, ends[p]):
                ones += popcount(partial[length - 1, w])
            total += ones * weights[p]
            first = ends[p]
        counts[s] = total


@part
def _begins_next(offsets: Any, members: Any, s: int) -> Any:
    """Whether the next set of the list begins with this one; so it often is in lists in dictionary order."""
    start, length = offsets[s], offsets[s + 1] - offsets[s]
    if s + 2 >= offsets.size or offsets[s + 2] - offsets[s + 1] <= length:
        return False
    i = 0
    while i < length and members[start + i] == members[start + length + i]:
        i += 1
    return i == length


@kernel
def maximal_flags(offsets: Any, members: Any, order: Any, n_items: int, flags: Any) -> None:
    """Mark the sets that are contained in no other set of the list; ``order`` lists the sets from longest to shortest.

    ``index[item]`` is the bit set of the maximal sets found so far that hold the item; a set lies in one of them when the bit sets of all its
    items share a bit. Neighbours often lie in the same one, so the word that covered the last set is tried first. Equal sets: the first in
    ``order`` is kept.
    """
    width = 1
    index = np.zeros((n_items, 1), np.uint64)
    holding = np.zeros(n_items, np.int64)
    found, hint = 0, 0
    for place in range(order.size):
        s = order[place]
        if _begins_next(offsets, members, s):
            continue
        start, end = offsets[s], offsets[s + 1]
        # The item that the fewest maximal sets hold rules most words out by itself.
        rarest = -1
        common = ~_ZERO if found > 0 else _ZERO
        for p in range(start, end):
            common &= index[members[p], hint]
            if rarest < 0 or holding[members[p]] < holding[rarest]:
                rarest = members[p]
        word = 0 if common != _ZERO or rarest < 0 else (found + 63) // 64
        while word > 0 and common == _ZERO:
            word -= 1
            common = index[rarest, word]
            p = start
            while common != _ZERO and p < end:
                common &= index[members[p], word]
                p += 1
            hint = word
        if common != _ZERO:
            continue
        flags[s] = 1
        if found == 64 * width:
            wider = np.zeros((n_items, 2 * width), np.uint64)
            for item in range(n_items):
                for w in range(width):
                    wider[item, w] = index[item, w]
            index = wider
            width *= 2
        bit = _ONE << np.uint64(found % 64)
        for p in range(start, end):
            index[members[p], found // 64] |= bit
            holding[members[p]] += 1
        found += 1


@kernel
def lines_within(offsets: Any, members: Any, position: Any, lines: Any, masks: Any) -> int:
    """The sets without an item whose position is ``OUTSIDE``, as their numbers and as masks of positions; returns how many."""
    used = 0
    for s in range(offsets.size - 1):
        mask = np.int64(0)
        inside = True
        for p in range(offsets[s], offsets[s + 1]):
            at = position[members[p]]
            if at == OUTSIDE:
                inside = False
                break
            if at >= 0:
                mask |= np.int64(1) << at
        if inside:
            lines[used] = s
            masks[used] = mask
            used += 1
    return used
