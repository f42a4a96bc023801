"""Small groups of equal projections on many sets of items at once ("hierarchical projection").

For a set M of items, people fall into groups by which items of M they have. The kernels list, for every set of a long list, the groups
with fewer than ``k`` people. Rows are bit words: bit ``j`` of a row says whether the row has item ``j`` of a chunk of at most 64 items.

The list is halved again and again. Each half needs only the items in the union of its sets, so its rows are the parent's rows masked
with that union and merged where they became equal; rows shrink geometrically, and a set at the bottom sees few of them. Merging rows
that are equal on a union of sets keeps every group size of every set in it, so nothing is lost.

Words are ``uint64``, weights ``int64`` counts of people, everything one-dimensional and contiguous.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part, popcount

#: Sets of at most this many items count their groups in a table of ``2**items`` counters; larger ones use a hash table.
DIRECT_ITEMS = 14

_HASH = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def merge_rows(words: Any, weights: Any, count: int, mask: Any, out_words: Any, out_weights: Any, slots: Any) -> int:
    """Mask ``count`` rows, add up the weights of equal ones into ``out_*``, return how many remain.

    ``slots`` is an int32 scratch table whose size is a power of two and at least twice ``count``; it is filled with -1 here.
    """
    size = 4
    bits = 2
    while size < 2 * count:
        size *= 2
        bits += 1
    shift = np.uint64(64 - bits)
    for s in range(size):
        slots[s] = -1
    used = 0
    for i in range(count):
        word = words[i] & mask
        slot = np.int64((word * _HASH) >> shift)
        while slots[slot] >= 0 and out_words[slots[slot]] != word:
            slot = (slot + 1) & (size - 1)
        at = slots[slot]
        if at < 0:
            slots[slot] = used
            out_words[used] = word
            out_weights[used] = weights[i]
            used += 1
        else:
            out_weights[at] += weights[i]
    return used


@kernel
def chunk_rows(starts: Any, tids: Any, weights: Any, chunk: Any, scratch: Any, out_words: Any, out_weights: Any) -> int:
    """Rows of a chunk of items from vertical lists: ``tids[starts[item]:starts[item + 1]]`` are the rows that have the item.

    ``scratch`` holds one word per row, all zero before and after. Rows without any of the items become one row 0 at the end.
    Returns how many rows were written.
    """
    used = 0
    for j in range(chunk.size):
        bit = _ONE << np.uint64(j)
        for p in range(starts[chunk[j]], starts[chunk[j] + 1]):
            tid = tids[p]
            if scratch[tid] == _ZERO:
                out_weights[used] = tid
                used += 1
            scratch[tid] |= bit
    seen = np.int64(0)
    for i in range(used):
        tid = out_weights[i]
        out_words[i] = scratch[tid]
        scratch[tid] = _ZERO
        out_weights[i] = weights[tid]
        seen += weights[tid]
    rest = weights.sum() - seen
    if rest > 0:
        out_words[used] = _ZERO
        out_weights[used] = rest
        used += 1
    return used


@part
def compress_masks(mask: Any, moves: Any) -> None:
    """Prepare :func:`compress` for one mask (Hacker's Delight, 7-4): ``moves`` receives six words."""
    inverse = ~mask << _ONE
    left = mask
    for i in range(6):
        parity = inverse
        for step in range(6):
            parity ^= parity << np.uint64(1 << step)
        moves[i] = parity & left
        left = (left ^ moves[i]) | (moves[i] >> np.uint64(1 << i))
        inverse &= ~parity


@part
def compress(word: Any, mask: Any, moves: Any) -> Any:
    """The bits of ``word`` under ``mask``, pushed together at the low end (what the instruction ``pext`` does)."""
    out = word & mask
    for i in range(6):
        moved = out & moves[i]
        out = (out ^ moved) | (moved >> np.uint64(1 << i))
    return out


@part
def count_groups(words: Any, weights: Any, count: int, mask: Any, moves: Any, table: Any, touched: Any) -> int:
    """Group ``count`` rows on one small mask by direct addressing; returns how many groups, listed in ``touched``, sized in ``table``."""
    compress_masks(mask, moves)
    groups = 0
    for i in range(count):
        key = np.int64(compress(words[i], mask, moves))
        if table[key] == 0:
            touched[groups] = key
            groups += 1
        table[key] += weights[i]
    return groups


@part
def grown(array: Any, needed: int) -> Any:
    """The array, or a copy twice as long when it has fewer than ``needed`` places."""
    if needed <= array.size:
        return array
    bigger = np.empty(max(needed, 2 * array.size), array.dtype)
    bigger[: array.size] = array
    return bigger


@kernel
def small_groups(words: Any, weights: Any, masks: Any, k: int, first_only: bool) -> tuple[Any, Any, Any]:
    """All groups of 1..k-1 people on every mask, as (mask number, compressed group word, size), in the order of the masks.

    ``masks`` should be in an order in which neighbours share items: then unions of ranges are small. With ``first_only`` the search stops at
    the first set with a small group. Returns three arrays of equal length.
    """
    n_masks, n_rows = masks.size, words.size
    depth = 2
    while (1 << (depth - 2)) < n_masks:
        depth += 1
    # One buffer holds the rows of every level of the recursion, each level behind its parent.
    level_words = np.empty(n_rows * 2 + 64, np.uint64)
    level_weights = np.empty(n_rows * 2 + 64, np.int64)
    level_words[:n_rows] = words
    level_weights[:n_rows] = weights
    size = 4
    while size < 2 * n_rows:
        size *= 2
    slots = np.empty(size, np.int32)
    table = np.zeros(1 << DIRECT_ITEMS, np.int64)
    touched = np.empty(1 << DIRECT_ITEMS, np.int64)
    moves = np.empty(6, np.uint64)
    found_set, found_word, found_size = np.empty(1024, np.int64), np.empty(1024, np.uint64), np.empty(1024, np.int64)
    found = 0
    # The stack of ranges: first mask, one past the last, where the parent's rows start and how many there are, the parent's union.
    stack = np.empty((depth * 2 + 4, 4), np.int64)
    unions = np.empty(depth * 2 + 4, np.uint64)
    top = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n_masks, 0, n_rows
    unions[0] = ~_ZERO
    if n_masks == 0:
        top = -1
    while top >= 0:
        lo, hi, start, count, above = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], unions[top]
        top -= 1
        union = _ZERO
        for m in range(lo, hi):
            union |= masks[m]
        leaf = hi - lo == 1
        if not (leaf and popcount(union) <= DIRECT_ITEMS) and (union != above or leaf):
            end = start + count
            level_words = grown(level_words, end + count)
            level_weights = grown(level_weights, end + count)
            count = merge_rows(
                level_words[start:end], level_weights[start:end], count, union, level_words[end:], level_weights[end:], slots
            )
            start = end
        if not leaf:
            middle = (lo + hi) // 2
            for half in range(2):
                # The first half is pushed last, so that it is searched first and the findings keep the order of the masks.
                top += 1
                stack[top, 0] = middle if half == 0 else lo
                stack[top, 1] = hi if half == 0 else middle
                stack[top, 2], stack[top, 3], unions[top] = start, count, union
            continue
        before = found
        if popcount(union) <= DIRECT_ITEMS:
            groups = count_groups(
                level_words[start : start + count], level_weights[start : start + count], count, union, moves, table, touched
            )
            for g in range(groups):
                weight = table[touched[g]]
                table[touched[g]] = 0
                if weight < k:
                    found_set, found_word = grown(found_set, found + 1), grown(found_word, found + 1)
                    found_size = grown(found_size, found + 1)
                    found_set[found], found_word[found], found_size[found] = lo, np.uint64(touched[g]), weight
                    found += 1
        else:
            compress_masks(union, moves)
            for i in range(start, start + count):
                if level_weights[i] < k:
                    found_set, found_word = grown(found_set, found + 1), grown(found_word, found + 1)
                    found_size = grown(found_size, found + 1)
                    found_set[found], found_word[found] = lo, compress(level_words[i], union, moves)
                    found_size[found] = level_weights[i]
                    found += 1
        if first_only and found > before:
            break
    return found_set[:found].copy(), found_word[:found].copy(), found_size[:found].copy()
