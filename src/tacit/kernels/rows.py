"""Rows of items: indexed, sorted, counted, compared; transforms over all subsets.

Sets of items lie one after the other: set i is ``members[offsets[i]:offsets[i + 1]]``.

Sets of rows are 64-bit words, one bit per row, in large arrays; a set is given by its array and the place of its first word. Its words are cut
into *parts*: every row of a part stands for the same number of people (its *weight*) and belongs to the same *class*. Parts are a stretch of an
array of numbers, three for each part: the word at which it ends, its weight, its class; parts of one class are neighbours.

Transforms are indexed by masks: plain numpy, ``d`` passes over the array, exact in whole numbers.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, lowest_one, part, popcount
from tacit.model.arrays import Codes, Flags, Ints

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@part
def grow(array: Any, needed: int) -> Any:
    """Return an array with room for ``needed`` entries that begins with these."""
    if needed <= array.size:
        return array
    bigger = np.empty(max(needed, 2 * array.size), array.dtype)
    for i in range(array.size):
        bigger[i] = array[i]
    return bigger


@part
def _are_equal(members: Any, number: Any, left: int, left_end: int, right: int, right_end: int) -> bool:
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


@kernel(steps=lambda _offsets, members, *_: members.size)
def supports(offsets: Any, members: Any, weights: Any, counts: Any) -> None:
    """Count each item's rows (``counts[:, 0]``) and weights (``counts[:, 1]``)."""
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            counts[members[place], 0] += 1
            counts[members[place], 1] += weights[row]


@kernel(steps=lambda _offsets, members, *_: 2 * members.size)
def merge(offsets: Any, members: Any, number: Any, classes: Any, weights: Any, lengths: Any, table: Any) -> None:
    """Merge the weights of equal rows per class into the first.

    The others, and rows without frequent items, get 0. Only items whose ``number`` is not negative count; ``lengths`` receives how many of them
    each row holds. ``classes`` may be empty. ``table`` is the memory of a hash table: a power of two, at least twice the number of rows, all -1.
    """
    mask = len(table) - 1
    for row in range(len(offsets) - 1):
        first = offsets[row]
        last = offsets[row + 1]
        own = classes[row] if len(classes) > 0 else 0
        length = 0
        value = np.int64(own) + 0x9E3779B1
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
                and _are_equal(members, number, first, last, offsets[twin], offsets[twin + 1])
            ):
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = row
        else:
            weights[table[slot]] += weights[row]
            weights[row] = 0


@kernel(steps=lambda _offsets, members, *_: 3 * members.size)
def index(offsets: Any, members: Any, number: Any, chosen: Any, starts: Any, places: Any, lists: Any, masks: Any) -> None:
    """Index the chosen rows as masks or lists.

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


@part
def common(left: Any, i: int, right: Any, j: int, parts: Any, first: int, last: int) -> tuple[int, int]:
    """Return an intersection's weight, and its largest class's but -1."""
    total = 0
    best = 0
    within = 0
    current = -2
    start = 0
    for p in range(first, last, 3):
        stop = parts[p]
        # Slices with a plain loop over them are what the compiler turns into vector instructions.
        these = left[i + start : i + stop]
        those = right[j + start : j + stop]
        ones = 0
        for word in range(len(these)):
            ones += popcount(these[word] & those[word])
        start = stop
        if parts[p + 2] != current:
            within = 0
            current = parts[p + 2]
        within += ones * parts[p + 1]
        total += ones * parts[p + 1]
        if current >= 0:
            best = max(best, within)
    return total, best


@part
def contains(outer: Any, i: int, inner: Any, j: int, words: int) -> bool:
    """Tell if every row of ``inner`` is in ``outer``."""
    word = 0
    while word < words and inner[j + word] & ~outer[i + word] == 0:
        word += 1
    return word == words


@part
def intersect(left: Any, i: int, right: Any, j: int, result: Any, k: int, words: int) -> None:
    """Write the intersection of two sets into ``result``."""
    these = left[i : i + words]
    those = right[j : j + words]
    both = result[k : k + words]
    for word in range(len(both)):
        both[word] = these[word] & those[word]


@part
def transpose(block: Any) -> None:
    """Transpose a 64 by 64 bit matrix in place."""
    shift = 32
    mask = np.uint64(0xFFFFFFFF)
    while shift > 0:
        step = np.uint64(shift)
        for base in range(0, 64, 2 * shift):
            for i in range(base, base + shift):
                swapped = ((block[i] >> step) ^ block[i + shift]) & mask
                block[i] ^= swapped << step
                block[i + shift] ^= swapped
        shift >>= 1
        mask ^= mask << np.uint64(shift)


@part
def _group_by_length(offsets: Any, starts: Any) -> Any:
    """List the sets, short ones first; ``starts`` (0 before) where each length starts."""
    n_sets = len(offsets) - 1
    for i in range(n_sets):
        starts[offsets[i + 1] - offsets[i] + 1] += 1
    for length in range(len(starts) - 1):
        starts[length + 1] += starts[length]
    cursor = np.empty(len(starts), np.int64)
    grouped = np.empty(n_sets, np.int64)
    for length in range(len(starts)):
        cursor[length] = starts[length]
    for i in range(n_sets):
        length = offsets[i + 1] - offsets[i]
        grouped[cursor[length]] = i
        cursor[length] += 1
    return grouped


@kernel(steps=lambda offsets, members, n_labels: 3 * members.size + n_labels * int((offsets[1:] - offsets[:-1]).max(initial=0)))
def dictionary_order(offsets: Any, members: Any, n_labels: int) -> Any:
    """Return the stable permutation of non-empty, ascending sets to dictionary order.

    For example ``{1}``, ``{1, 2}``, ``{1, 3}``, ``{2}``. A radix sort from the last place to the first; at each place only the sets that are
    long enough take part, so that the cost is the number of members.
    """
    n_sets = len(offsets) - 1
    longest = 0
    for i in range(n_sets):
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts = np.zeros(longest + 2, np.int64)
    grouped = _group_by_length(offsets, starts)
    order = np.empty(n_sets, np.int64)
    spare = np.empty(n_sets, np.int64)
    buckets = np.zeros(n_labels + 1, np.int64)
    active = 0
    for place in range(longest - 1, -1, -1):
        # Sets that end here come before those that go on, which are sorted already.
        first = starts[place + 1]
        last = starts[place + 2]
        for label in range(n_labels + 1):
            buckets[label] = 0
        for i in range(first, last):
            buckets[members[offsets[grouped[i]] + place] + 1] += 1
        for i in range(active):
            buckets[members[offsets[order[i]] + place] + 1] += 1
        for label in range(n_labels):
            buckets[label + 1] += buckets[label]
        for i in range(first, last):
            label = members[offsets[grouped[i]] + place]
            spare[buckets[label]] = grouped[i]
            buckets[label] += 1
        for i in range(active):
            label = members[offsets[order[i]] + place]
            spare[buckets[label]] = order[i]
            buckets[label] += 1
        active += last - first
        order, spare = spare, order
    return order


@kernel(steps=lambda _offsets, members, *_: members.size)
def arrange(offsets: Any, members: Any, order: Any, new_offsets: Any, new_members: Any) -> None:
    """Write the sets in the given order."""
    end = 0
    for i in range(len(order)):
        for place in range(offsets[order[i]], offsets[order[i] + 1]):
            new_members[end] = members[place]
            end += 1
        new_offsets[i + 1] = end


@kernel(steps=lambda _offsets, members, *_: 2 * members.size)
def cut_by_union(offsets: Any, members: Any, n_labels: int, most_items: int, most_sets: int, ends: Any) -> int:
    """Write the ends of runs of at most ``most_items`` items; count them."""
    seen_in = np.full(n_labels, -1, np.int64)
    run = 0
    first = 0
    items = 0
    for s in range(len(offsets) - 1):
        fresh = 0
        for place in range(offsets[s], offsets[s + 1]):
            fresh += seen_in[members[place]] != run
        if s > first and (items + fresh > most_items or s - first == most_sets):  # longer sets stand alone
            ends[run] = s
            run = run + 1
            first = s
            items = 0
            fresh = offsets[s + 1] - offsets[s]
        items += fresh
        for place in range(offsets[s], offsets[s + 1]):
            seen_in[members[place]] = run
    ends[run] = len(offsets) - 1
    return run + 1


#: Positions of items that :func:`lines_within` meets: not allowed in a set, or allowed without a bit of its own.
OUTSIDE = -1
ALLOWED = -2


UNSORTED = -1  #: What :func:`assign_sets` answers if the sets are not in dictionary order.


@part
def _count_shared(members: Any, left: int, right: int, most: int) -> int:
    """Count the items that two sets begin with in common, up to ``most``."""
    shared = 0
    while shared < most and members[left + shared] == members[right + shared]:
        shared += 1
    return shared


@kernel(steps=lambda offsets, members, *_: 2 * members.size + (offsets.size // 512 + 8) * offsets.size)
def assign_sets(offsets: Any, members: Any, n_items: int, holder: Any) -> int:
    """Assign each set of a list in dictionary order to a maximal set that holds it; count the maximal ones.

    Returns ``UNSORTED`` if the list is not in order.

    A set that contains another stands before it, or begins with it. So a set is maximal if the next one does not begin with it, and no maximal
    set before holds it: neither the one that holds the set before it, nor one of the latest 64 (``recent`` says for each item which of them hold
    it), nor another. ``index[word]`` says for each item which of 64 maximal sets hold it. For every beginning of the current set ``words`` and
    ``holders`` list the maximal sets that hold it: few, and the same for all sets that begin so. Of equal sets the first is the maximal one.
    """
    n_sets = offsets.size - 1
    longest = 0
    for s in range(n_sets):
        longest = max(longest, offsets[s + 1] - offsets[s])
    room = 16
    index = np.zeros((room, n_items), np.uint64)
    words = np.empty((longest + 1, room), np.int64)
    holders = np.empty((longest + 1, room), np.uint64)
    used = np.zeros(longest + 1, np.int64)
    maximal = np.empty(64 * room, np.int64)
    found = 0
    recent = np.zeros(n_items, np.uint64)
    slots = np.full(64, -1, np.int64)
    slot = 0  # of the set that holds the one before
    latest = 0
    shared = 0  # of the items of the set before, so many begin this one; so many of these beginnings have a list, and are held
    listed = 0
    held = 0
    first = 0  # of sets that are equal
    repeats = False
    for s in range(n_sets):
        if not repeats:
            first = s
        repeats = False
        start = offsets[s]
        length = offsets[s + 1] - start
        listed = min(listed, shared)
        held = min(held, shared)
        if s + 1 < n_sets:
            longer = offsets[s + 2] - offsets[s + 1]
            shared = _count_shared(members, start, start + length, min(length, longer))
            if shared < length and (shared == longer or members[start + shared] > members[start + length + shared]):
                return UNSORTED
            if shared == length:
                repeats = longer == length
                holder[s] = -1  # that of the next set, which begins with it
                continue
        while held < length and (recent[members[start + held]] >> np.uint64(slot)) & _ONE:
            held += 1
        if held < length:
            both = ~_ZERO
            place = start
            while place < start + length and both != _ZERO:
                both &= recent[members[place]]
                place += 1
            if both != _ZERO:
                slot = lowest_one(both)
                held = length
        if held == length and slots[slot] >= 0:
            holder[s] = slots[slot]
            continue
        while listed < length and (listed == 0 or used[listed] > 0):
            item = members[start + listed]
            kept = 0
            for i in range((found + 63) >> 6 if listed == 0 else used[listed]):
                word = i if listed == 0 else words[listed, i]
                both = index[word, item]
                if listed > 0:
                    both &= holders[listed, i]
                words[listed + 1, kept] = word
                holders[listed + 1, kept] = both
                kept += int(both != _ZERO)
            listed += 1
            used[listed] = kept
        best = first
        if found > 0 and used[listed] > 0:
            last = used[listed] - 1  # the latest ones stand near it
            best = maximal[64 * words[listed, last] + lowest_one(holders[listed, last])]
        latest = (latest + 1) & 63
        slot = latest
        bit = _ONE << np.uint64(slot)
        if slots[slot] >= 0:
            for place in range(offsets[slots[slot]], offsets[slots[slot] + 1]):
                recent[members[place]] &= ~bit
        for place in range(offsets[best], offsets[best + 1]):
            recent[members[place]] |= bit
        slots[slot] = best
        held = length
        holder[s] = best
        if best != first:
            continue
        if found == 64 * room:
            index = _widen(index, 2 * room, n_items)
            words = _widen(words, longest + 1, 2 * room)
            holders = _widen(holders, longest + 1, 2 * room)
            maximal = grow(maximal, 128 * room)
            room *= 2
        word = found >> 6
        bit = _ONE << np.uint64(found & 63)
        for place in range(start, start + length):
            index[word, members[place]] |= bit
        for depth in range(1, listed + 1):
            last = used[depth] - 1
            if last < 0 or words[depth, last] != word:
                last += 1
                words[depth, last] = word
                holders[depth, last] = _ZERO
                used[depth] = last + 1
            holders[depth, last] |= bit
        holder[first] = first
        maximal[found] = first
        found += 1
    for s in range(n_sets - 2, -1, -1):
        if holder[s] < 0:
            holder[s] = holder[s + 1]
    return found


@part
def _widen(table: Any, rows: int, columns: int) -> Any:
    """Return a larger table that begins with this one; the rest is 0."""
    wider = np.zeros((rows, columns), table.dtype)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            wider[i, j] = table[i, j]
    return wider


SETS_PER_PIECE = 50_000  #: Lists of twice as many sets are worked on in pieces, on all cores.


def _assign_in_pieces(offsets: Ints, members: Codes, n_items: int, holder: Codes) -> bool:
    """Assign sets as :func:`assign_sets` does, on all cores; return False if they are not in order."""
    n_sets = len(holder)
    cuts = np.linspace(0, n_sets, max(1, min(n_sets // SETS_PER_PIECE, 2 * (os.cpu_count() or 1))) + 1).astype(np.int64)
    if len(cuts) == 2:
        return assign_sets(offsets, members, n_items, holder) != UNSORTED
    around = [members[offsets[cut - 1] : offsets[cut]].tolist() for cut in cuts[1:-1]]
    behind = [members[offsets[cut] : offsets[cut + 1]].tolist() for cut in cuts[1:-1]]
    if any(left > right for left, right in zip(around, behind, strict=True)):
        return False

    def assign(first: int, last: int) -> bool:
        piece = holder[first:last]
        is_sorted = assign_sets(offsets[first : last + 1], members, n_items, piece) != UNSORTED
        piece += first
        return is_sorted

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        if not all(pool.map(assign, cuts[:-1].tolist(), cuts[1:].tolist())):
            return False
    # What is maximal in its piece may lie in a set of another piece.
    maximal = np.flatnonzero(holder == np.arange(n_sets))
    lengths = (offsets[1:] - offsets[:-1])[maximal]
    starts = np.append(0, np.cumsum(lengths))
    some = members[np.arange(starts[-1]) + np.repeat(offsets[maximal] - starts[:-1], lengths)]
    among = np.empty(len(maximal), np.int32)
    assign_sets(starts, some, n_items, among)
    final = np.empty(n_sets, np.int32)
    final[maximal] = maximal[among]
    holder[:] = final[holder]
    return True


def find_holders(offsets: Ints, members: Any, n_items: int) -> Codes:
    """Return the number of a maximal set that holds each set, itself for a maximal one."""
    n_sets = len(offsets) - 1
    members = members.astype(np.int32, copy=False)
    holder = np.empty(n_sets, np.int32)
    if _assign_in_pieces(offsets, members, n_items, holder):
        return holder
    # The empty set comes first, and does not take part in the sorting.
    empty = np.flatnonzero(offsets[1:] == offsets[:-1])
    filled = np.flatnonzero(offsets[1:] > offsets[:-1])
    places = np.append(offsets[filled], offsets[-1])
    order = dictionary_order(places, members, n_items)
    starts = np.zeros(n_sets + 1, np.int64)
    ordered = np.empty_like(members)
    arrange(places, members, order, starts[len(empty) :], ordered)
    assign_sets(starts, ordered, n_items, holder)
    number = np.append(empty, filled[order]).astype(np.int32)
    back = np.empty_like(holder)
    back[number] = number[holder]
    return back


def find_maximal(offsets: Ints, members: Any, n_items: int) -> Ints:
    """Return the numbers of the maximal sets."""
    holder = find_holders(offsets, members, n_items)
    return np.flatnonzero(holder == np.arange(len(holder)))


def _find_lines_within(offsets: Ints, members: Codes, position: Ints, lines: Ints, masks: Ints) -> int:
    """Do what :func:`lines_within` does, in numpy."""
    at = position[members]
    outside = np.append(0, np.cumsum(at == OUTSIDE))
    # Differences of the sums stay right where these overflow.
    bits = np.append(0, np.cumsum(np.where(at >= 0, np.int64(1) << np.maximum(at, 0), 0)))
    inside = np.flatnonzero(outside[offsets[1:]] == outside[offsets[:-1]])
    lines[: len(inside)] = inside
    masks[: len(inside)] = bits[offsets[inside + 1]] - bits[offsets[inside]]
    return len(inside)


@kernel(steps=lambda _offsets, members, *_: members.size, twin=_find_lines_within, pace=30)
def lines_within(offsets: Any, members: Any, position: Any, lines: Any, masks: Any) -> int:
    """List and count sets without ``OUTSIDE`` items, with masks over positions."""
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


def superset_max(values: Ints) -> None:
    """Replace entries by their supersets' maximum, in place."""
    step = 1
    while step < values.size:
        pairs = values.reshape(-1, 2, step)
        np.maximum(pairs[:, 0, :], pairs[:, 1, :], out=pairs[:, 0, :])
        step *= 2


def superset_all(known: Flags, cubes: int = 1) -> None:
    """Replace flags by their supersets' conjunction, in place.

    Several cubes of the same size may stand one after another, here and below.
    """
    step = 1
    while step < known.size // cubes:
        pairs = known.reshape(-1, 2, step)
        pairs[:, 0, :] &= pairs[:, 1, :]
        step *= 2


def cells(lo: Ints, hi: Ints, cubes: int = 1) -> None:
    """Turn bounds on supports into those of cells, in place."""
    step = 1
    while step < lo.size // cubes:
        low = lo.reshape(-1, 2, step)
        high = hi.reshape(-1, 2, step)
        low[:, 0, :] -= high[:, 1, :]
        high[:, 0, :] -= low[:, 1, :]
        step *= 2


def every_pattern(lo: Ints, hi: Ints, known: Flags, cubes: int = 1) -> tuple[Ints, Ints, Flags]:
    """Return the bounds of all ``3**d`` patterns of each cube.

    Digit ``j`` of an index in base 3 says what the pattern asks of item ``j``: 0 nothing, 1 that it is present, 2 that it is absent. A pattern
    is known when all supports of its sum are.
    """
    inner = 1
    while inner < lo.size // cubes:
        low = lo.reshape(-1, 2, inner)
        high = hi.reshape(-1, 2, inner)
        sure = known.reshape(-1, 2, inner)
        lo = np.empty((len(low), 3, inner), np.int64)
        hi = np.empty((len(low), 3, inner), np.int64)
        known = np.empty((len(low), 3, inner), np.bool_)
        lo[:, :2] = low
        hi[:, :2] = high
        known[:, :2] = sure
        np.subtract(low[:, 0], high[:, 1], out=lo[:, 2])
        np.subtract(high[:, 0], low[:, 1], out=hi[:, 2])
        np.logical_and(sure[:, 0], sure[:, 1], out=known[:, 2])
        lo = lo.reshape(-1)
        hi = hi.reshape(-1)
        known = known.reshape(-1)
        inner *= 3
    return lo, hi, known
