"""Small groups of equal projections on many sets of items at once ("hierarchical projection").

For a set M of items, people fall into groups by which items of M they have. The kernels list, for every set of a long list, the groups
with fewer than ``k`` people. Rows are bit words: bit ``j`` of a row says whether the row has item ``j`` of a chunk of at most 64 items.

The list is halved again and again. Each half needs only the items in the union of its sets, so its rows are the parent's rows masked
with that union and merged where they became equal; rows shrink geometrically, and a set at the bottom sees few of them. Merging rows
that are equal on a union of sets keeps every group size of every set in it, so nothing is lost. The list is cut where the two halves need the
fewest items. Rows are merged when the union has lost enough items for it to pay. Once a union is small, rows are pushed together to its
items, so that equal rows are found in a table instead of by hashing; at a single set the table holds the sizes of its groups.

Words are ``uint64``, weights ``int64`` counts of people, everything one-dimensional and contiguous.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import HAS_EXTRACT, extract, kernel, part, popcount

#: Rows on unions of at most this many items are merged through a table of ``2**items`` places; on larger ones by hashing.
DIRECT_ITEMS = 18

#: Rows are merged once so many items are gone since they were merged last: by hashing, and through a table. Only two halves read what a merge
#: makes, so merging pays when it leaves about half of the rows, and that takes several items.
MERGE_AFTER = 5
MERGE_DIRECT_AFTER = 3

#: Room for findings is made for so many per set; memory that is not written to costs nothing.
FOUND_PER_SET = 64

#: Each half of a list gets at least this part of it, so that the recursion stays shallow; and how deep it can get then with 2**63 sets.
LEAST_PART = 8
DEEPEST = 330

_HASH = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


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
def moves_of(mask: Any, moves: Any) -> None:
    """Prepare :func:`compress_by_moves` for one mask (Hacker's Delight, 7-4): ``moves`` receives six words."""
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
def compress_by_moves(word: Any, mask: Any, moves: Any, steps: int) -> Any:
    """The bits of ``word`` under ``mask``, pushed together at the low end.

    ``steps`` is six, or less when it is known that no bit moves ``2**steps`` places or more.
    """
    out = word & mask
    for i in range(steps):
        moved = out & moves[i]
        out = (out ^ moved) | (moved >> np.uint64(1 << i))
    return out


@part
def _no_moves(_mask: Any, _moves: Any) -> None:
    """Nothing to prepare: the processor has an instruction for it."""


@part
def _extracted(word: Any, mask: Any, _moves: Any, _steps: int) -> Any:
    return extract(word, mask)


#: Bits pushed together, by one instruction where the processor has it. Moves must be prepared for the mask.
compress_moves = _no_moves if HAS_EXTRACT else moves_of
compress = _extracted if HAS_EXTRACT else compress_by_moves


@part
def merge_by_hash(words: Any, weights: Any, start: int, count: int, mask: Any, slots: Any) -> int:
    """Mask ``count`` rows from ``start`` on and add up the weights of equal ones, right behind them; returns how many remain.

    ``slots`` is an int32 scratch table whose size is a power of two and at least twice ``count``.
    """
    size = 4
    bits = 2
    while size < 2 * count:
        size *= 2
        bits += 1
    shift = np.uint64(64 - bits)
    for s in range(size):
        slots[s] = -1
    end = start + count
    used = 0
    for i in range(start, end):
        word = words[i] & mask
        slot = np.int64((word * _HASH) >> shift)
        while slots[slot] >= 0 and words[end + slots[slot]] != word:
            slot = (slot + 1) & (size - 1)
        at = slots[slot]
        if at < 0:
            slots[slot] = used
            words[end + used] = word
            weights[end + used] = weights[i]
            used += 1
        else:
            weights[end + at] += weights[i]
    return used


@part
def merge_by_table(words: Any, weights: Any, start: int, count: int, mask: Any, moves: Any, steps: int, table: Any) -> int:
    """Compress ``count`` rows from ``start`` on and add up the weights of equal ones, right behind them; returns how many remain.

    ``table`` has a place for every compressed word, all 0 before and after.
    """
    end = start + count
    used = 0
    for i in range(start, end):
        word = compress(words[i], mask, moves, steps)
        at = table[np.int64(word)]
        if at == 0:
            words[end + used] = word
            weights[end + used] = weights[i]
            used += 1
            table[np.int64(word)] = used
        else:
            weights[end + at - 1] += weights[i]
    for i in range(end, end + used):
        table[np.int64(words[i])] = 0
    return used


@part
def groups_by_table(
    words: Any,
    weights: Any,
    start: int,
    count: int,
    mask: Any,
    moves: Any,
    steps: int,
    table: Any,
    k: int,
    found: int,
    found_word: Any,
    found_size: Any,
) -> int:
    """Append the groups of 1..k-1 people that ``count`` rows from ``start`` on form under ``mask``; returns how many are found by now.

    ``table`` has a place of 32 bits for every compressed word, all 0 before and after; there must be room for ``count`` more groups and rows.
    """
    end = start + count
    for i in range(start, end):
        word = compress(words[i], mask, moves, steps)
        words[count + i] = word
        table[np.int64(word)] += np.int32(weights[i])
    for i in range(end, end + count):
        word = words[i]
        size = table[np.int64(word)]
        table[np.int64(word)] = 0
        # Written always and kept where it counts: a branch here would be mispredicted all the time.
        found_word[found] = word
        found_size[found] = size
        found += int(size > 0 and size < k)
    return found


@part
def grown(array: Any, needed: int) -> Any:
    """The array, or a copy at least twice as long when it has fewer than ``needed`` places."""
    if needed <= array.size:
        return array
    bigger = np.empty(max(needed, 2 * array.size), array.dtype)
    for i in range(array.size):
        bigger[i] = array[i]
    return bigger


@part
def _cut(masks: Any, lo: int, hi: int, behind: Any) -> int:
    """Where to cut the masks ``lo..hi`` so that the halves need few items for many masks; ``behind`` is scratch, one number per mask."""
    union = _ZERO
    for m in range(hi - 1, lo, -1):
        union |= masks[m]
        behind[m] = popcount(union)
    union = _ZERO
    middle = (lo + hi) // 2
    best = (hi - lo) * 65
    margin = (hi - lo) // LEAST_PART
    for m in range(lo + 1, hi):
        union |= masks[m - 1]
        cost = (m - lo) * popcount(union) + (hi - m) * behind[m]
        if cost < best and m - lo >= margin and hi - m >= margin:
            best = cost
            middle = m
    return middle


@kernel
def small_groups(words: Any, weights: Any, n_rows: int, items: int, masks: Any, k: int, first_only: bool) -> tuple[Any, Any, Any]:
    """All groups of 1..k-1 people on every mask, in the order of the masks: how many on each mask, compressed group words, sizes.

    Words and masks use the lowest ``items`` bits. ``masks`` should be in an order in which neighbours share items: then unions of ranges are
    small; rows that are in order are merged faster. With ``first_only`` the search stops at the first set with a small group. The arrays of
    words and sizes begin with what was found. ``words`` and ``weights`` have room for more than ``n_rows`` rows; what is behind them is scratch.
    """
    n_masks = masks.size
    size = 4
    while size < 2 * n_rows:
        size *= 2
    slots = np.empty(size, np.int32)
    table = np.zeros(1 << DIRECT_ITEMS, np.int32)
    behind = np.empty(n_masks, np.int64)
    moves = np.empty(6, np.uint64)
    room = 1024 + FOUND_PER_SET * n_masks
    found_word, found_size, on_mask = np.empty(room, np.uint64), np.empty(room, np.int64), np.zeros(n_masks, np.int64)
    found = 0
    narrow = weights[:n_rows].sum() < 1 << 31
    # The stack of ranges, four numbers each: first mask, one past the last, where the rows of the range above start, how many they are.
    stack = np.empty(4 * DEEPEST, np.int64)
    unions = np.empty(DEEPEST, np.uint64)
    stack[0], stack[1], stack[2], stack[3] = 0, n_masks, 0, n_rows
    unions[0] = ~_ZERO >> np.uint64(64 - items)
    top = 0 if n_masks > 0 else -1
    while top >= 0:
        lo, hi, start, count = stack[4 * top], stack[4 * top + 1], stack[4 * top + 2], stack[4 * top + 3]
        above = unions[top]  # the items that the rows were merged on
        top -= 1
        union = _ZERO
        for m in range(lo, hi):
            union |= masks[m]
        leaf = hi - lo == 1
        direct = popcount(union) <= DIRECT_ITEMS
        if not leaf and popcount(above) - popcount(union) < (MERGE_DIRECT_AFTER if direct else MERGE_AFTER):
            union = above
            direct = popcount(union) <= DIRECT_ITEMS
        before = found
        if union != above or leaf:
            words, weights = grown(words, start + 2 * count), grown(weights, start + 2 * count)
            local, gone = union, 63
            if direct and popcount(above) <= DIRECT_ITEMS:  # the rows have the items they were merged on only, pushed together
                compress_moves(above, moves)
                local, gone = compress(union, above, moves, 6), popcount(above) - popcount(union)
            compress_moves(local, moves)
            steps = 0
            while gone >> steps > 0:
                steps += 1
            if leaf:
                found_word, found_size = grown(found_word, found + count), grown(found_size, found + count)
            if leaf and direct and narrow:
                found = groups_by_table(
                    words, weights, start, count, local, moves, steps, table, k, found, found_word, found_size
                )
            elif direct:
                start, count = start + count, merge_by_table(words, weights, start, count, local, moves, steps, table)
            else:
                start, count = start + count, merge_by_hash(words, weights, start, count, union, slots)
        if not leaf:
            middle = _cut(masks, lo, hi, behind)
            # The first half is pushed last, so that it is searched first and the findings keep the order of the masks.
            for half in range(2):
                top += 1
                stack[4 * top] = lo if half else middle
                stack[4 * top + 1] = middle if half else hi
                stack[4 * top + 2] = start
                stack[4 * top + 3] = count
                unions[top] = union
            continue
        if not direct or not narrow:
            for g in range(start, start + count):
                found_word[found] = words[g] if direct else compress(words[g], union, moves, 6)
                found_size[found] = weights[g]
                found += int(weights[g] < k)
        on_mask[lo] = found - before
        if first_only and found > before:
            break
    return on_mask, found_word, found_size
