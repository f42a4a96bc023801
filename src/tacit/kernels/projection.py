"""Small groups on many itemsets, by hierarchical projection.

For a set M of items, people fall into groups by the items of M that they have. The kernels list, for every set of a long list, the groups with
fewer than ``k`` people. Rows are bit words: bit ``j`` of a row is set if the row has item ``j`` of a chunk of at most 64 items.

The list is halved again and again. Each half needs only the items in the union of its sets, so its rows are the parent's rows masked with that
union and merged where they became equal; rows shrink geometrically, and a set at the bottom sees few of them. Merging rows that are equal on a
union of sets keeps every group size of every set in it, so nothing is lost. The list is cut where the two halves need the fewest items. Rows
are merged when the union has lost enough items for it to pay. Once a union is small, rows are pushed together to its items, so that equal rows
are found in a table instead of by hashing; at a single set the table holds the sizes of its groups.

People who have the sets of a list are counted in two ways. In dense data sets are counted with a maximal one that holds them, among the rows
that are left there: many at once, through a table over the items in which they differ (:func:`small_groups`). In sparse data rows hardly ever
become equal, and a set needs only the rows of its rarest item (:func:`count_sets`); groups on short sets then follow from the supports of all
their subsets.

In kernels words are ``uint64``, weights ``int64`` counts of people, everything one-dimensional and contiguous. :func:`small_groups_on` drives
them: it takes itemsets as ``offsets`` and ``members``, and people as a :class:`Crowd`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.kernels.jit import extract, kernel, part, part_with_extract, popcount
from tacit.kernels.rows import arrange, cells, cut_by_union, dictionary_order, grow
from tacit.model.arrays import Codes, Flags, Ints, Words
from tacit.model.release import Sets

#: Rows on unions of at most this many items are merged through a table of ``2**items`` places; on larger ones by hashing.
DIRECT_ITEMS = 18

#: Rows are merged once this many items are gone since they were merged last: by hashing, and through a table. Only two halves read what a merge
#: makes, so merging pays when it leaves about half of the rows, and that takes several items.
MERGE_AFTER = 5
MERGE_DIRECT_AFTER = 4

#: Rows are put in order before the search when there are at most so many for each set: else sorting takes longer than it saves.
ROWS_SORTED_PER_SET = 16

MOST_ROWS_MERGED = (
    100_000  #: So many rows are merged to see how many different ones there are, before a kernel is compiled for them.
)

FOUND_PER_SET = 64  #: Findings per set for which room is made; memory that is not written to costs nothing.
KEYS = 1 << 22  #: Findings of one task after the other for which a thread has room.

#: Each half of a list gets at least this part of it, so that the recursion stays shallow; and how deep it can get then with 2**63 sets.
LEAST_PART = 8
DEEPEST = 330

TABLE_ITEMS = 10  #: Sets that differ in at most this many items are counted together, through a table of ``2**items`` places.
FEW_SETS = 8  #: So few sets are counted one by one.

Members = npt.NDArray[np.integer[Any]]

_HASH = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@part
def _word_of(members: Any, first: int, last: int, bit: Any) -> Any:
    word = _ZERO
    for place in range(first, last):
        word |= bit[members[place]]
    return word


def _masks_of(offsets: Ints, members: Members, bit: Words) -> Words:
    """Return sets of different items as masks."""
    sums = np.append(_ZERO, np.cumsum(bit[members]))  # differences stay right where this overflows
    return sums[offsets[1:]] - sums[offsets[:-1]]


def _project_all_rows(offsets: Ints, members: Members, weights: Ints, bit: Words, out_words: Words, out_weights: Ints) -> int:
    """Do what :func:`project_rows` does, in numpy."""
    words = _masks_of(offsets, members, bit)
    filled = np.flatnonzero(words)
    used = len(filled)
    out_words[:used] = words[filled]
    out_weights[:used] = weights[filled]
    rest = int(weights.sum() - weights[filled].sum())
    if rest > 0:
        out_words[used] = 0
        out_weights[used] = rest
    return used + int(rest > 0)


@kernel(steps=lambda _offsets, members, *_: members.size, twin=_project_all_rows, pace=20)
def project_rows(offsets: Any, members: Any, weights: Any, bit: Any, out_words: Any, out_weights: Any) -> int:
    """Write rows as words and count them, those of none of the items as one row 0 at the end.

    ``bit`` has the bit of each item, 0 for those that are left out.
    """
    used = 0
    rest = np.int64(0)
    for row in range(len(offsets) - 1):
        word = _word_of(members, offsets[row], offsets[row + 1], bit)
        out_words[used] = word
        out_weights[used] = weights[row]
        used += int(word != _ZERO)
        rest += 0 if word != _ZERO else weights[row]
    if rest > 0:
        out_words[used] = _ZERO
        out_weights[used] = rest
        used += 1
    return used


@part_with_extract(lambda _mask, _moves: None)
def prepare_moves(mask: Any, moves: Any) -> None:
    """Prepare :func:`compress` for one mask (Hacker's Delight, 7-4)."""
    inverse = ~mask << _ONE
    left = mask
    for i in range(6):
        parity = inverse
        for step in range(6):
            parity ^= parity << np.uint64(1 << step)
        moves[i] = parity & left
        left = (left ^ moves[i]) | (moves[i] >> np.uint64(1 << i))
        inverse &= ~parity


@part_with_extract(lambda word, mask, _moves, _steps: extract(word, mask))
def compress(word: Any, mask: Any, moves: Any, steps: int) -> Any:
    """Compress the masked bits of a word; none moves ``2**steps`` places."""
    out = word & mask
    for i in range(steps):
        moved = out & moves[i]
        out = (out ^ moved) | (moved >> np.uint64(1 << i))
    return out


@part
def _merge_by_hash(words: Any, weights: Any, start: int, count: int, mask: Any, slots: Any) -> int:
    """Mask ``count`` rows and merge equal ones behind them; count these.

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
def _merge_by_table(words: Any, weights: Any, start: int, count: int, mask: Any, moves: Any, steps: int, table: Any) -> int:
    """Compress ``count`` rows and merge equal ones behind them; count these.

    ``table`` has a place for every compressed word, all 0 before and after.
    """
    end = start + count
    used = 0
    for i in range(start, end):
        word = compress(words[i], mask, moves, steps)
        at = np.int64(table[word])
        # Without branches, which would be mispredicted all the time: what is new is written, and what is old is written again.
        is_new = int(at == 0)
        words[end + used] = word
        place = end + (used if at == 0 else at - 1)
        weights[place] = weights[place] * (1 - is_new) + weights[i]
        table[word] = place - end + 1
        used += is_new
    for i in range(end, end + used):
        table[words[i]] = 0
    return used


@part
def _groups_by_table(
    words: Any,
    weights: Any,
    start: int,
    count: int,
    mask: Any,
    moves: Any,
    steps: int,
    table: Any,
    k: int,
    prefix: Any,
    shift: Any,
    found: int,
    keys: Any,
) -> tuple[int, Any]:
    """Append groups of 1..k-1 people; count all found so far, and the people of these.

    ``table`` has a place of 32 bits for every compressed word, all 0 before and after; there must be room for ``count`` more groups and rows.
    """
    # Slices with a plain loop over them spare the compiled code tests of places.
    rows = words[start : start + count]
    people = weights[start : start + count]
    local = words[start + count : start + 2 * count]
    kinds = 0
    for i in range(len(rows)):
        word = compress(rows[i], mask, moves, steps)
        before = table[word]
        table[word] = before + np.int32(people[i])
        local[kinds] = word  # written always and kept where it counts: a branch here would be mispredicted all the time
        kinds += int(before == 0)
    room = keys[found : found + count]
    used = 0
    concerned = np.int64(0)
    for i in range(kinds):
        word = local[i]
        size = np.int64(table[word])
        table[word] = 0
        room[used] = np.uint64(size) << shift | prefix | word
        kept = int(size > 0 and size < k)
        used += kept
        concerned += kept * size
    return found + used, concerned


@part
def _count_one_by_one(words: Any, weights: Any, masks: Any, counts: Any) -> None:
    for i in range(len(masks)):
        mask = masks[i]
        total = np.int64(0)
        for row in range(len(words)):
            total += weights[row] if words[row] & mask == mask else 0
        counts[i] = total


@part
def _count_by_table(words: Any, weights: Any, masks: Any, common: Any, free: Any, table: Any, moves: Any, counts: Any) -> None:
    """Count sets that all hold ``common`` and differ in few items."""
    size = max(8, 1 << popcount(free))
    for place in range(size):
        table[place] = 0
    prepare_moves(free, moves)
    for row in range(len(words)):
        place = compress(words[row], free, moves, 6)
        table[place] += weights[row] if words[row] & common == common else 0
    step = 8
    while step < size:
        for base in range(0, size, 2 * step):
            low = table[base : base + step]
            high = table[base + step : base + 2 * step]
            for i in range(step):
                low[i] += high[i]
        step *= 2
    for i in range(len(masks)):
        at = np.int64(compress(masks[i], free, moves, 6))
        # Eight neighbours are added up faster here than for all sets.
        last = at & 7
        near = table[at - last : at - last + 8]
        total = np.int64(0)
        for j in range(8):
            total += near[j] if j & last == last else 0
        counts[i] = total


@part
def _cut_in_order(masks: Any, lo: int, hi: int) -> int:
    """Cut ``lo..hi`` near the middle, where neighbours differ in the lowest bit."""
    best = (lo + hi) >> 1
    least = ~_ZERO
    for i in range(lo + ((hi - lo) >> 2) + 1, hi - ((hi - lo) >> 2)):
        apart = masks[i - 1] ^ masks[i]
        lowest = apart & (~apart + _ONE)
        if lowest != _ZERO and lowest < least:
            least = lowest
            best = i
    return best


@part
def _count_masks(words: Any, weights: Any, masks: Any, table: Any, moves: Any, counts: Any) -> None:
    """Count the people who have each mask; neighbours should share items, as in a list in dictionary order.

    The list is halved until sets differ in few items, or are few.
    """
    stack = np.empty(2 * DEEPEST, np.int64)
    stack[0] = 0
    stack[1] = len(masks)
    top = 0
    while top >= 0:
        lo = stack[2 * top]
        hi = stack[2 * top + 1]
        top -= 1
        union = _ZERO
        common = ~_ZERO
        for i in range(lo, hi):
            union |= masks[i]
            common &= masks[i]
        free = union & ~common
        if hi - lo <= FEW_SETS:
            _count_one_by_one(words, weights, masks[lo:hi], counts[lo:hi])
        elif popcount(free) <= TABLE_ITEMS:
            _count_by_table(words, weights, masks[lo:hi], common, free, table, moves, counts[lo:hi])
        else:
            middle = _cut_in_order(masks, lo, hi)
            for half in range(2):
                top += 1
                stack[2 * top] = middle if half else lo
                stack[2 * top + 1] = hi if half else middle


@part
def _group_by_owner(asked: Any, owner: Any, n_owners: int, offsets: Any, members: Any, bit: Any, numbers: Any, held: Any) -> Any:
    """Write sets and their masks, those of owner i in the places ``starts[i]`` to ``starts[i + 1]``; return these.

    Sets are read in the order of the list, which is large: others would have to wait for memory.
    """
    starts = np.zeros(n_owners + 2, np.int64)
    for one in owner:
        starts[one + 2] += 1
    for i in range(n_owners + 1):
        starts[i + 1] += starts[i]
    for i in range(len(asked)):
        place = starts[owner[i] + 1]
        starts[owner[i] + 1] = place + 1
        numbers[place] = asked[i]
        held[place] = _word_of(members, offsets[asked[i]], offsets[asked[i] + 1], bit)
    return starts


@part
def _choose_cut(masks: Any, lo: int, hi: int, behind: Any) -> int:
    """Cut masks ``lo..hi`` into halves of few items; ``behind`` is scratch."""
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


def _find_small_groups(
    words: Words,
    weights: Ints,
    n_rows: int,
    _items: int,
    masks: Words,
    prefixes: Words,
    shift: np.uint64,
    k: int,
    first_only: bool,
    _keys: Words,
    asked: Codes,
    _owner: Codes,
    offsets: Ints,
    members: Codes,
    bit: Words,
    counts: Ints,
    *_room: Any,
) -> tuple[Ints, Ints, Words]:
    """Do what :func:`small_groups` does, in numpy."""
    kinds, first, kind = np.unique(words[:n_rows], return_index=True, return_inverse=True)
    order = np.argsort(first)
    sizes = np.bincount(kind, weights[:n_rows]).astype(np.int64)[order]
    kinds = kinds[order]
    on_mask = np.zeros(len(masks), np.int64)
    concerned = np.zeros(len(masks), np.int64)
    found = [np.empty(0, np.uint64)]
    for i, mask in enumerate(masks.tolist()):
        groups, first, group = np.unique(kinds & np.uint64(mask), return_index=True, return_inverse=True)
        people = np.bincount(group, sizes).astype(np.int64)
        small = np.flatnonzero((people > 0) & (people < k))
        small = small[np.argsort(first[small])]
        keys = people[small].astype(np.uint64) << shift | prefixes[i]
        places = [place for place in range(64) if mask >> place & 1]
        for bit_number, place in enumerate(places):
            keys |= (groups[small] >> np.uint64(place) & _ONE) << np.uint64(bit_number)
        found.append(keys)
        on_mask[i] = len(small)
        concerned[i] = people[small].sum()
        if first_only and len(small):
            break
    if len(asked):
        wanted = _masks_of(offsets, members, bit)[asked]
        for at in range(0, len(asked), 64):
            some = wanted[at : at + 64, None]
            counts[asked[at : at + 64]] = np.where(kinds & some == some, sizes, 0).sum(axis=1)
    return on_mask, concerned, np.concatenate(found)


def _estimate_steps(words: Words, _weights: Ints, n_rows: int, _items: int, masks: Words, *others: Any) -> int:
    kinds = n_rows if n_rows > MOST_ROWS_MERGED else len(np.unique(words[:n_rows]))
    return (32 * len(masks) + 3 * len(others[5])) * (4 + kinds)


@kernel(steps=_estimate_steps, twin=_find_small_groups, pace=200)
def small_groups(
    words: Any,
    weights: Any,
    n_rows: int,
    items: int,
    masks: Any,
    prefixes: Any,
    shift: Any,
    k: int,
    first_only: bool,
    keys: Any,
    asked: Any,
    owner: Any,
    offsets: Any,
    members: Any,
    bit: Any,
    counts: Any,
    numbers: Any,
    held: Any,
    sums: Any,
) -> tuple[Any, Any, Any]:
    """Find groups of 1..k-1 people by mask, and count people who have sets.

    Returns how many groups there are on each mask, how many people they have, and an array that begins with a key of each group: its size
    from bit ``shift`` on, below it the prefix of its mask, and its compressed word. Words and masks use the lowest ``items`` bits.
    ``masks`` should be in an order in which neighbours share items: then unions of ranges are small; rows that are in order are merged faster.
    With ``first_only`` the search stops at the first set with a small group. ``words`` and ``weights`` have room for more than ``n_rows`` rows;
    what is behind them is scratch; so is ``keys``, which the array of keys replaces if it has to grow.

    The sets ``asked`` are counted as well: ``owner`` has a mask that holds each of them, ``bit`` the bit of each item.
    ``numbers``, ``held`` and ``sums`` have room for one entry each.
    """
    n_masks = masks.size
    size = 4
    while size < 2 * n_rows:
        size *= 2
    slots = np.empty(size, np.int32)
    table = np.zeros(1 << DIRECT_ITEMS, np.int32)
    behind = np.empty(n_masks, np.int64)
    moves = np.empty(6, np.uint64)
    on_mask = np.zeros(n_masks, np.int64)
    concerned = np.zeros(n_masks, np.int64)
    starts = _group_by_owner(asked, owner, n_masks, offsets, members, bit, numbers, held)
    cube = np.empty(1 << TABLE_ITEMS, np.int64)
    others = np.empty(6, np.uint64)
    found = 0
    narrow = weights[:n_rows].sum() < 1 << 31
    # The stack of ranges, four numbers each: first mask, one past the last, where the rows of the range above start, how many they are.
    stack = np.empty(4 * DEEPEST, np.int64)
    unions = np.empty(DEEPEST, np.uint64)
    stack[0] = 0
    stack[1] = n_masks
    stack[2] = 0
    stack[3] = n_rows
    if n_rows > ROWS_SORTED_PER_SET * n_masks:  # many rows that nobody has merged: most of them hold one item or two
        words = grow(words, 2 * n_rows)
        weights = grow(weights, 2 * n_rows)
        stack[2] = n_rows
        stack[3] = _merge_by_hash(words, weights, 0, n_rows, ~_ZERO, slots)
    unions[0] = ~_ZERO >> np.uint64(64 - items)
    top = 0 if n_masks > 0 else -1
    while top >= 0:
        lo = stack[4 * top]
        hi = stack[4 * top + 1]
        start = stack[4 * top + 2]
        count = stack[4 * top + 3]
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
            words = grow(words, start + 2 * count)
            weights = grow(weights, start + 2 * count)
            local = union
            gone = 63
            is_compressed = popcount(above) <= DIRECT_ITEMS  # the rows have the items they were merged on only, pushed together
            if is_compressed:
                prepare_moves(above, moves)
            own = held[starts[lo] : starts[lo + 1] if leaf else starts[lo]]
            if is_compressed:
                for i in range(len(own)):
                    own[i] = compress(own[i], above, moves, 6)
            if direct and len(own) > 0:
                rows = words[start : start + count]
                people = weights[start : start + count]
                _count_masks(rows, people, own, cube, others, sums[starts[lo] : starts[lo + 1]])
            if direct and is_compressed:
                local = compress(union, above, moves, 6)
                gone = popcount(above) - popcount(union)
            prepare_moves(local, moves)
            steps = 0
            while gone >> steps > 0:
                steps += 1
            if leaf:
                keys = grow(keys, found + count)
            if leaf and direct and narrow:
                found, concerned[lo] = _groups_by_table(
                    words, weights, start, count, local, moves, steps, table, k, prefixes[lo], shift, found, keys
                )
            elif direct:
                merged = _merge_by_table(words, weights, start, count, local, moves, steps, table)
                start += count
                count = merged
            else:
                merged = _merge_by_hash(words, weights, start, count, union, slots)
                start += count
                count = merged
                if len(own) > 0:  # longer sets hold more sets, to be counted among fewer rows
                    rows = words[start : start + count]
                    people = weights[start : start + count]
                    _count_masks(rows, people, own, cube, others, sums[starts[lo] : starts[lo + 1]])
        if not leaf:
            middle = _choose_cut(masks, lo, hi, behind)
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
                word = words[g] if direct else compress(words[g], union, moves, 6)
                keys[found] = np.uint64(weights[g]) << shift | prefixes[lo] | word
                if weights[g] < k:
                    found += 1
                    concerned[lo] += weights[g]
        on_mask[lo] = found - before
        if first_only and found > before:
            break
    for i in range(len(asked)):
        counts[numbers[i]] = sums[i]
    return on_mask, concerned, keys


@kernel(steps=lambda offsets, members, _items, rows, cells, *_: 16 * members.size + 4 * cells.size + offsets.size * rows.size)
def count_sets(
    offsets: Any,
    members: Any,
    items: Any,
    row_offsets: Any,
    row_members: Any,
    row_weights: Any,
    starts: Any,
    tids: Any,
    counts: Any,
) -> None:
    """Count the people who have each set, of at most 64 items.

    Sets stand in dictionary order and begin with their rarest items, whose rows (``tids[starts[item]:starts[item + 1]]``) are all that they
    need. ``items`` has the number of each item of the sets in the rows. Sets with the same first item are counted together if they have 64 items
    at most.
    """
    n_rows = len(row_offsets) - 1
    bit = np.zeros(len(items), np.uint64)
    row_bit = np.zeros(len(items) + 1, np.uint64)
    inside = np.empty(64, np.int64)
    masks = np.empty(len(counts), np.uint64)
    words = np.empty(n_rows, np.uint64)
    weights = row_weights.copy()
    same = True  # then no weight has to be fetched
    for row in range(n_rows):
        same = same and row_weights[row] == row_weights[0]
    table = np.empty(1 << TABLE_ITEMS, np.int64)
    moves = np.empty(6, np.uint64)
    first = 0
    while first < len(counts):
        root = members[offsets[first]]
        last = first
        n_inside = 0
        while last < len(counts) and members[offsets[last]] == root:
            fresh = 0
            for place in range(offsets[last], offsets[last + 1]):
                fresh += int(bit[members[place]] == _ZERO)
            if n_inside + fresh > 64:
                break
            for place in range(offsets[last], offsets[last + 1]):
                item = members[place]
                if bit[item] == _ZERO:
                    bit[item] = _ONE << np.uint64(n_inside)
                    inside[n_inside] = item
                    n_inside += 1
            masks[last] = _word_of(members, offsets[last], offsets[last + 1], bit)
            last += 1
        for i in range(n_inside):
            row_bit[items[inside[i]]] = bit[inside[i]]
        used = 0
        for place in range(starts[items[root]], starts[items[root] + 1]):
            row = tids[place]
            words[used] = _ONE if n_inside == 1 else _word_of(row_members, row_offsets[row], row_offsets[row + 1], row_bit)
            if not same:
                weights[used] = row_weights[row]
            used += 1
        for i in range(n_inside):
            row_bit[items[inside[i]]] = _ZERO
            bit[inside[i]] = _ZERO
        _count_masks(words[:used], weights[:used], masks[first:last], table, moves, counts[first:last])
        first = last


#: Numbers of the sets, groups as bits over the items of their set (one row of words each), sizes.
Found = tuple[Ints, Words, Ints]


class Keys(NamedTuple):
    """Groups on some sets as numbers.

    ``numbers`` are the sets, ``on`` says how many groups each has, and ``people`` how many people are in these. A key is the size of a group
    from bit ``shift`` on, the prefix of its set, and the present items by position.
    """

    numbers: Ints
    on: Ints
    people: Ints
    keys: Words
    shift: int

    def spread(self) -> Found:
        """Return the groups as columns; prefixes were 0."""
        shift = np.uint64(self.shift)
        words = self.keys & ((_ONE << shift) - _ONE)
        return np.repeat(self.numbers, self.on), words[:, None], (self.keys >> shift).astype(np.int64)


def most_items(k: int, everyone: int) -> int:
    """Return the most items that leave room for a size below ``k`` in a key."""
    return 64 - max(1, min(k, everyone + 1).bit_length())


class Layout(NamedTuple):
    """Layout of keys: the prefix of each set, the first bit of the size."""

    prefixes: Words
    shift: int


class Counting(NamedTuple):
    """Sets to be counted, each with a maximal one that holds it."""

    offsets: Ints
    members: Codes
    holders: Codes
    counts: Ints

    def by_chunk(self, chunks: Sequence[Chunk]) -> list[tuple[Codes, Codes]]:
        """Return the sets to be counted with the sets of each chunk, and the places of their holders there."""
        chunk = np.full(len(self.counts), len(chunks), np.min_scalar_type(len(chunks)))
        place = np.empty(len(self.counts), np.int32)
        for number, (which, _, _) in enumerate(chunks):
            chunk[which] = number
            place[which] = np.arange(len(which), dtype=np.int32)
        of_set = chunk[self.holders]
        order = np.argsort(of_set, kind="stable").astype(np.int32)
        cuts = np.cumsum(np.bincount(of_set, minlength=len(chunks)))[: len(chunks)]
        return [(own, place[self.holders[own]]) for own in np.split(order, cuts)[: len(chunks)]]


#: A task searches at most this many sets, so that time limits and Ctrl-C are noticed and all cores have work.
SETS_PER_TASK = 4096
MEMBERS_PER_CALL = 100_000  #: Sets of so many members are counted in one call.

SORTED_AS_WORDS = 256  #: Sets over at most this many items are put in order as words of bits, others as lists.


@dataclass(frozen=True, eq=False)
class Crowd:
    """Weighted rows of people over ``n_items`` wanted items; ``n_items`` stands for all others."""

    offsets: Ints
    members: Members
    weights: Ints
    n_items: int

    @classmethod
    def of(cls, rows: Sets, weights: Ints, wanted: Ints) -> Crowd:
        """Return the people of some rows; ``wanted`` has the number of each wanted item in them."""
        # Numbers of 16 bits are sorted much faster.
        small = np.uint16 if len(wanted) < 2**16 - 1 else np.int32
        place: Members = np.full(max(int(rows.members.max(initial=-1)), int(wanted.max(initial=-1))) + 1, len(wanted), small)
        place[wanted] = np.arange(len(wanted))
        return cls(rows.offsets, place[rows.members], weights, len(wanted))

    @property
    def everyone(self) -> int:
        """Number of people."""
        return int(self.weights.sum())

    @cached_property
    def frequency(self) -> Ints:
        """Number of rows that have each item."""
        return np.bincount(self.members, minlength=self.n_items)[: self.n_items]

    @cached_property
    def by_item(self) -> tuple[Ints, Codes]:
        """Rows by item: ``tids[starts[i]:starts[i + 1]]`` have item ``i``."""
        starts = np.append(0, np.cumsum(self.frequency))
        order = np.argsort(self.members, kind="stable")[: starts[-1]]
        return starts, np.repeat(np.arange(len(self.weights), dtype=np.int32), np.diff(self.offsets))[order]

    def having(self, items: Members) -> Ints:
        """Return the number of these items that each row has."""
        asked = np.zeros(self.n_items + 1, np.int64)
        asked[items] = 1
        held: Ints = np.append(0, np.cumsum(asked[self.members]))
        return held[self.offsets[1:]] - held[self.offsets[:-1]]


def people_with(crowd: Crowd, offsets: Ints, members: Members, pause: Callable[[float], None] = lambda _: None) -> Ints:
    """Count the people who have each set: among the rows of its rarest item."""
    lengths = np.diff(offsets)
    counts = np.full(len(lengths), crowd.everyone)
    for number in np.flatnonzero(lengths > 64).tolist():
        pause(0.0)
        items = members[offsets[number] : offsets[number + 1]]
        counts[number] = crowd.weights[crowd.having(items) == len(items)].sum()
    chosen = np.flatnonzero((lengths > 0) & (lengths <= 64))
    order, starts, ordered, by_rank = sort_rarest_first(crowd.frequency, offsets, members, chosen)
    cores = os.cpu_count() or 1
    cuts = np.linspace(0, len(chosen), 1 + max(1, min(4 * cores, len(ordered) // MEMBERS_PER_CALL))).astype(np.int64)
    found = np.empty(len(chosen), np.int64)
    # Rows are read here and there, so that narrow numbers are fetched faster.
    narrow = crowd.offsets.astype(np.int32 if len(crowd.members) < 2**31 else np.int64)
    rows = (by_rank, narrow, crowd.members, crowd.weights, *crowd.by_item)

    def count(first: int, last: int) -> None:
        count_sets(starts[first : last + 1], ordered, *rows, found[first:last])

    with ThreadPoolExecutor(cores) as pool:
        under_way = [pool.submit(count, *ends) for ends in pairwise(cuts.tolist())]
        for done, task in enumerate(under_way):
            task.result()
            pause(done / len(under_way))
    counts[chosen[order]] = found
    return counts


def sort_rarest_first(frequency: Ints, offsets: Ints, members: Members, chosen: Ints) -> tuple[Ints, Ints, Codes, Ints]:
    """Return chosen sets in order, by ranks of rarity: the order, offsets, members, and the item of each rank."""
    by_rank = np.argsort(frequency, kind="stable")
    rank = np.empty(len(by_rank), np.int32)
    rank[by_rank] = np.arange(len(by_rank), dtype=np.int32)
    lengths = np.diff(offsets)[chosen]
    starts = np.append(0, np.cumsum(lengths))
    flat = rank[members[np.arange(starts[-1]) + np.repeat(offsets[chosen] - starts[:-1], lengths)]]
    n_items = max(1, len(rank))
    owners = np.repeat(np.arange(len(chosen)) * n_items, lengths)
    flat = (np.sort(owners + flat) - owners).astype(np.int32)
    order = dictionary_order(starts, flat, n_items)
    ordered = np.zeros(len(starts), np.int64)
    items = np.empty_like(flat)
    arrange(starts, flat, order, ordered, items)
    return order, ordered, items, by_rank


def small_groups_on(
    crowd: Crowd,
    offsets: Ints,
    members: Members,
    k: int,
    pause: Callable[[float], None],
    threads: int | None = None,
    first_only: bool = False,
) -> Iterator[Found]:
    """Yield groups of 1..k-1 people by set, in a fixed order.

    Sets of few items go through hierarchical projection, in chunks that share 64 items, on all cores or as many as asked. ``pause`` is
    called in between with the share of the work done. With ``first_only``, each piece ends with the first set that has a small group.
    """
    numbers = np.arange(len(offsets) - 1)
    for found in groups_on(crowd, (offsets, members), numbers, k, pause, threads=threads, first_only=first_only):
        yield found.spread() if isinstance(found, Keys) else found


#: Sets over at most 64 items: their numbers, the items, the sets as masks.
Chunk = tuple[Ints, Ints, Words]


class Comparison(NamedTuple):
    """Counts of all sets for ``compare``, which raises if they are not as published.

    ``holders`` has a maximal set for each. They are compared once groups are found, or before if ``at_once``.
    """

    holders: Codes
    compare: Callable[[Ints], None]
    at_once: bool


def groups_on(
    crowd: Crowd,
    sets: tuple[Ints, Members],
    numbers: Ints,
    k: int,
    pause: Callable[[float], None],
    *,
    threads: int | None = None,
    first_only: bool = False,
    layout: Layout | None = None,
    comparison: Comparison | None = None,
) -> Iterator[Keys | Found]:
    """Yield groups of 1..k-1 people on some of the sets, those on long sets as columns.

    With a ``comparison``, no group is yielded before the counts of all sets are compared.
    """
    offsets, members = sets
    lengths = np.diff(offsets)[numbers]
    if layout is None:
        layout = Layout(np.zeros(len(offsets) - 1, np.uint64), most_items(k, crowd.everyone))
    by_supports = np.zeros(len(numbers), np.bool_) if first_only else _choose_by_supports(crowd, lengths)
    if by_supports.any():
        # All sets are counted at once, because most of the time goes into reading rows.
        same_length = [numbers[by_supports & (lengths == length)] for length in np.unique(lengths[by_supports]).tolist()]
        asked = [_list_subsets(sets, own) for own in same_length]
        counts = _count_all(crowd, [*asked, sets] if comparison else asked, pause)
        if comparison is not None:
            comparison.compare(counts.pop())
            comparison = None
        for own, supports in zip(same_length, counts, strict=True):
            yield _groups_by_supports(own, supports, k, layout)
    rest = numbers[~by_supports]
    search = partial(_search, crowd, sets, rest, pause=pause, threads=threads, layout=layout)
    if comparison is None:
        yield from search(k, first_only, None)
        return
    counted = np.empty(len(offsets) - 1, np.int64)
    counting = Counting(offsets, members.astype(np.int32, copy=False), comparison.holders, counted)
    found = list(search(0 if comparison.at_once else k, False, counting))
    comparison.compare(counted)
    yield from search(k, first_only, None) if comparison.at_once else found


def _search(
    crowd: Crowd,
    sets: tuple[Ints, Members],
    numbers: Ints,
    k: int,
    first_only: bool,
    counting: Counting | None,
    *,
    pause: Callable[[float], None],
    threads: int | None,
    layout: Layout,
) -> Iterator[Keys | Found]:
    offsets, members = sets
    lengths = np.diff(offsets)[numbers]
    everyone = crowd.everyone
    most = most_items(k, everyone)
    for empty in numbers[lengths == 0].tolist():
        if counting is not None:
            counting.counts[:] = everyone  # no set that is counted has items
        if 0 < everyone < k:
            yield np.array([empty]), np.zeros((1, 1), np.uint64), np.array([everyone])
    short = numbers[(lengths > 0) & (lengths <= most)]
    if len(short):
        chunks = list(cut_chunks(crowd.frequency, offsets, members, short))
        search = partial(_search_chunk, crowd, room=_Room(), layout=layout, k=k, first_only=first_only, counting=counting)
        asked = [(_NO_CODES, _NO_CODES)] * len(chunks) if counting is None else counting.by_chunk(chunks)
        workers = min(threads or os.cpu_count() or 1, len(chunks))
        with ThreadPoolExecutor(workers) as pool:
            # A few chunks are under way at a time; results are taken in order, so that the outcome does not depend on the threads.
            under_way: deque[Future[Keys]] = deque()
            try:
                for done, (chunk, own) in enumerate(zip(chunks, asked, strict=True)):
                    under_way.append(pool.submit(search, chunk, own))
                    if len(under_way) > 2 * workers:
                        yield under_way.popleft().result()
                    pause(done / len(chunks))
                while under_way:
                    yield under_way.popleft().result()
            finally:  # whoever has seen enough need not wait for the rest
                for task in under_way:
                    task.cancel()
        pause(1.0)
    for number in numbers[lengths > most].tolist():
        pause(1.0)
        yield _search_long_set(crowd, members[offsets[number] : offsets[number + 1]], number, k, counting)


LONGEST_BY_SUPPORTS = 10  #: Groups on longer sets do not follow from the supports of all their subsets.
STEPS_PER_SUBSET = 100  #: What it takes to count a subset of a short set, in steps of reading rows.


def _choose_by_supports(crowd: Crowd, lengths: Ints) -> Flags:
    """Return which sets are short and few enough to count their subsets instead of projecting all rows again and again."""
    is_short = (lengths > 0) & (lengths <= LONGEST_BY_SUPPORTS)
    steps = STEPS_PER_SUBSET * int((1 << lengths[is_short]).sum())
    return is_short & (steps <= crowd.n_items // 64 * len(crowd.members))


def _list_subsets(sets: tuple[Ints, Members], numbers: Ints) -> tuple[Ints, Members]:
    """Return all subsets of sets of the same length, by mask for each."""
    offsets, members = sets
    length = int(offsets[numbers[0] + 1] - offsets[numbers[0]])
    has = (np.arange(1 << length)[:, None] >> np.arange(length) & 1).astype(np.bool_)
    shape = (len(numbers), *has.shape)
    items = members[offsets[numbers][:, None] + np.arange(length)][:, None, :]
    return np.append(0, np.cumsum(np.tile(has.sum(axis=1), len(numbers)))), np.broadcast_to(items, shape)[
        np.broadcast_to(has, shape)
    ]


def _count_all(crowd: Crowd, asked: list[tuple[Ints, Members]], pause: Callable[[float], None]) -> list[Ints]:
    """Count the people who have each set of several lists."""
    lengths = np.concatenate([np.diff(offsets) for offsets, _ in asked])
    counts = people_with(crowd, np.append(0, np.cumsum(lengths)), np.concatenate([members for _, members in asked]), pause)
    return np.split(counts, np.cumsum([len(offsets) - 1 for offsets, _ in asked])[:-1])


def _groups_by_supports(numbers: Ints, supports: Ints, k: int, layout: Layout) -> Keys:
    """Return groups on sets of the same length: sums and differences of the supports of their subsets."""
    cells(supports, supports.copy(), len(numbers))
    sizes = supports.reshape(len(numbers), -1)
    is_small = (sizes > 0) & (sizes < k)
    which, groups = np.nonzero(is_small)
    keys = (
        sizes[is_small].astype(np.uint64) << np.uint64(layout.shift) | layout.prefixes[numbers[which]] | groups.astype(np.uint64)
    )
    return Keys(numbers, is_small.sum(axis=1), np.where(is_small, sizes, 0).sum(axis=1), keys, layout.shift)


def cut_chunks(frequency: Ints, offsets: Ints, members: Members, numbers: Ints) -> Iterator[Chunk]:
    """Yield sets over at most 64 items: their numbers, the items, the sets as masks."""
    n_items = len(frequency)
    rank = np.empty(n_items, np.int64)
    rank[np.argsort(frequency, kind="stable")] = np.arange(n_items)
    lengths = np.diff(offsets)[numbers]
    starts = np.append(0, np.cumsum(lengths))
    flat = members
    if len(numbers) < len(offsets) - 1:
        flat = members[np.arange(starts[-1]) + np.repeat(offsets[numbers] - starts[:-1], lengths)]
    order = _order_rarest_first(starts, flat, rank)
    ordered = np.zeros(len(starts), np.int64)
    items = np.empty(len(flat), np.int32)
    arrange(starts, flat.astype(np.int32), order, ordered, items)
    ends = np.empty(len(numbers), np.int64)
    used = cut_by_union(ordered, items, n_items, 64, SETS_PER_TASK, ends)
    first = 0
    for last in ends[:used].tolist():
        flat = items[ordered[first] : ordered[last]]
        present = np.zeros(n_items, np.bool_)
        present[flat] = True
        # Bits follow the item numbers, so that compressed groups list the items of a set in its own order.
        in_use = np.flatnonzero(present)
        bit = np.zeros(n_items, np.uint64)
        bit[in_use] = np.uint64(1) << np.arange(len(in_use), dtype=np.uint64)
        masks = np.bitwise_or.reduceat(bit[flat], ordered[first:last] - ordered[first])
        yield numbers[order[first:last]], in_use, masks
        first = last


def _order_rarest_first(starts: Ints, flat: Members, rank: Ints) -> Ints:
    n_items = len(rank)
    if n_items <= SORTED_AS_WORDS:
        # Of two sets, the one that holds the rarest item that only one of them holds has the larger number.
        bits = np.uint64(1) << (63 - rank % 64).astype(np.uint64)
        words = [np.where(rank // 64 == word, bits, np.uint64(0)) for word in range(-(-n_items // 64))]
        keys = [np.bitwise_or.reduceat(word[flat], starts[:-1]) for word in words]
        return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0])
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    sorted_ranks = np.sort(owners * n_items + rank[flat]) - owners * n_items
    return np.asarray(dictionary_order(starts, sorted_ranks.astype(np.int32), n_items))


class _Room(threading.local):
    """Arrays of a thread for one chunk after the other: rows, keys, sets to be counted."""

    def __init__(self) -> None:
        self._rows: tuple[Words, Ints] | None = None
        self.keys = np.empty(KEYS, np.uint64)
        self._sets = _NO_SETS

    def sets(self, n_sets: int) -> tuple[Codes, Words, Ints]:
        """Return room for numbers, masks and counts of sets."""
        if n_sets > len(self._sets[0]):
            self._sets = (np.empty(2 * n_sets, np.int32), np.empty(2 * n_sets, np.uint64), np.empty(2 * n_sets, np.int64))
        return self._sets

    def rows(self, n_rows: int) -> tuple[Words, Ints]:
        """Return room for words and weights of rows."""
        if self._rows is None:
            self._rows = (np.empty(2 * n_rows + 64, np.uint64), np.empty(2 * n_rows + 64, np.int64))
        return self._rows


def _search_chunk(
    crowd: Crowd,
    chunk: Chunk,
    asked: tuple[Codes, Codes],
    *,
    room: _Room,
    layout: Layout,
    k: int,
    first_only: bool,
    counting: Counting | None,
) -> Keys:
    numbers, items, masks = chunk
    words, weights = room.rows(len(crowd.weights))
    bit = np.zeros(crowd.n_items + 1, np.uint64)
    bit[items] = _ONE << np.arange(len(items), dtype=np.uint64)
    used = project_rows(crowd.offsets, crowd.members, crowd.weights, bit, words, weights)
    if used <= ROWS_SORTED_PER_SET * len(numbers):
        # Then equal rows are neighbours, and rows that will become equal stand near each other, which the search is faster on.
        order = np.argsort(words[:used])
        ordered = words[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        used = len(first)
        words[:used] = ordered[first]
        weights[:used] = np.add.reduceat(weights[order], first)
    wanted = (masks, layout.prefixes[numbers], np.uint64(layout.shift), k, first_only, room.keys)
    counted = _NOTHING
    if counting is not None:
        counted = (*asked, counting.offsets, counting.members, bit, counting.counts, *room.sets(len(asked[0])))
    found = small_groups(words, weights, used, len(items), *wanted, *counted)
    on, people, room.keys = found
    keys = room.keys[: int(on.sum())]
    if len(keys) < KEYS // 8:
        keys = keys.copy()
    else:  # a copy would take longer than new memory
        room.keys = np.empty(KEYS, np.uint64)
    return Keys(numbers, on, people, keys, layout.shift)


_NO_CODES = np.empty(0, np.int32)
_NO_INTS = np.empty(0, np.int64)
_NO_SETS = (_NO_CODES, np.empty(0, np.uint64), _NO_INTS)
_NOTHING = (_NO_CODES, _NO_CODES, _NO_INTS, _NO_CODES, np.empty(0, np.uint64), _NO_INTS, *_NO_SETS)  #: No set is to be counted.


def groups_by_masks(
    words: Words, weights: Ints, n_rows: int, items: int, masks: Words, k: int, *, first_only: bool = False
) -> tuple[Ints, Words, Ints]:
    """Return the number of small groups by mask, and their words and sizes."""
    shift = most_items(k, int(weights[:n_rows].sum()))
    asked = (masks, np.zeros(len(masks), np.uint64), np.uint64(shift), k, first_only, _room_for_keys(masks))
    on, people, keys = small_groups(words, weights, n_rows, items, *asked, *_NOTHING)
    _, groups, sizes = Keys(np.arange(len(masks)), on, people, keys[: int(on.sum())], shift).spread()
    return on, groups[:, 0], sizes


def keys_by_masks(words: Words, weights: Ints, items: int, masks: Words, prefixes: Words, shift: int, k: int) -> Words:
    """Return the keys of small groups on masks, as :func:`small_groups` makes them."""
    count = len(words)
    room = np.empty(2 * count + 64, np.uint64)
    people = np.empty(2 * count + 64, np.int64)
    room[:count] = words
    people[:count] = weights
    asked = (masks, prefixes, np.uint64(shift), k, False, _room_for_keys(masks))
    on, _, keys = small_groups(room, people, count, items, *asked, *_NOTHING)
    found: Words = keys[: int(on.sum())]
    return found


def _room_for_keys(masks: Words) -> Words:
    return np.empty(1024 + FOUND_PER_SET * len(masks), np.uint64)


def _search_long_set(crowd: Crowd, items: Members, number: int, k: int, counting: Counting | None) -> Found:
    words = np.zeros((len(crowd.weights), -(-len(items) // 64)), np.uint64)
    for position in range(len(items)):
        held = crowd.having(items[position : position + 1]) > 0
        words[held, position // 64] |= np.uint64(1) << np.uint64(position % 64)
    kept, group = np.unique(words, axis=0, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), weights=crowd.weights).astype(np.int64)
    for one in [] if counting is None else np.flatnonzero(counting.holders == number).tolist():
        assert counting is not None
        place = np.searchsorted(items, counting.members[counting.offsets[one] : counting.offsets[one + 1]])
        mask = np.zeros(words.shape[1], np.uint64)
        np.bitwise_or.at(mask, place // 64, _ONE << (place % 64).astype(np.uint64))
        counting.counts[one] = sizes[((kept & mask) == mask).all(axis=1)].sum()
    small = np.flatnonzero(sizes < k)
    return np.full(len(small), number), kept[small], sizes[small]
