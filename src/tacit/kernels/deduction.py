"""Bounds on the supports of itemsets that are not published, from those of all their subsets.

A *book* is an open-addressing hash table of itemsets with bounds on their supports: ``words`` (slots x W) holds each itemset as bits,
``marks`` its 64-bit hash (0: free slot), ``lo`` and ``hi`` the bounds. The hash of a set is the sum of its items' ``mix`` numbers, so that
adding or removing an item is one addition; sets are compared word by word, so that nothing rests on the hash being unique.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part, popcount

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@part
def mark_of(hash_: Any) -> Any:
    """The hash as it stands in a book, where 0 means a free slot."""
    return hash_ if hash_ != _ZERO else _ONE


@part
def slot_of(marks: Any, words: Any, hash_: Any, key: Any) -> Any:
    """The slot of an itemset, or ``-1 - slot`` of the free slot where it belongs."""
    size = marks.size
    mark = mark_of(hash_)
    slot = np.int64(mark >> np.uint64(7)) & (size - 1)
    while marks[slot] != _ZERO:
        if marks[slot] == mark:
            same = True
            for w in range(key.size):
                if words[slot, w] != key[w]:
                    same = False
                    break
            if same:
                return slot
        slot = (slot + 1) & (size - 1)
    return -1 - slot


@kernel
def enter(marks: Any, words: Any, lo: Any, hi: Any, keys: Any, mix: Any, bounds: Any) -> int:
    """Write itemsets (rows of ``keys``) with their bounds (``bounds[:, 0]`` and ``[:, 1]``) into a book; returns how many were new."""
    fresh = 0
    for i in range(keys.shape[0]):
        slot = slot_of(marks, words, hash_of(keys[i], mix), keys[i])
        if slot < 0:
            slot = -1 - slot
            fresh += 1
            marks[slot] = mark_of(hash_of(keys[i], mix))
            words[slot] = keys[i]
        lo[slot], hi[slot] = bounds[i, 0], bounds[i, 1]
    return fresh


@part
def hash_of(key: Any, mix: Any) -> Any:
    """The sum of the numbers of a set's items."""
    total = _ZERO
    for item in range(mix.size):
        if (key[item >> 6] >> np.uint64(item & 63)) & _ONE:
            total += mix[item]
    return total


@kernel
def look_up(marks: Any, words: Any, keys: Any, mix: Any, slots: Any) -> None:
    """The slot of every itemset (negative where it is not in the book)."""
    for i in range(keys.shape[0]):
        slots[i] = slot_of(marks, words, hash_of(keys[i], mix), keys[i])


@kernel
def candidates(marks: Any, words: Any, keys: Any, mix: Any, behind: bool, stop: Any) -> Any:
    """Itemsets that are not in the book but all of whose subsets with one item less are, reached by adding an item to those of ``keys``.

    With ``behind`` only items behind the last one are added, so that a set is reached once when ``keys`` holds everything in the book; without
    it a set may be listed several times. ``stop[0]`` ends the search early.
    """
    n_items, width = mix.size, keys.shape[1]
    found = np.empty((256, width), np.uint64)
    count = 0
    key = np.empty(width, np.uint64)
    for i in range(keys.shape[0]):
        if stop[0]:
            break
        whole = hash_of(keys[i], mix)
        last = -1
        for item in range(n_items):
            if (keys[i, item >> 6] >> np.uint64(item & 63)) & _ONE:
                last = item
        for item in range(last + 1 if behind else 0, n_items):
            key[:] = keys[i]
            bit = _ONE << np.uint64(item & 63)
            if key[item >> 6] & bit:
                continue
            key[item >> 6] |= bit
            total = whole + mix[item]
            if slot_of(marks, words, total, key) >= 0 or not parents_known(marks, words, key, mix, total, item):
                continue
            if count == found.shape[0]:
                more = np.empty((2 * count, width), np.uint64)
                more[:count] = found
                found = more
            found[count] = key
            count += 1
    return found[:count].copy()


@part
def parents_known(marks: Any, words: Any, key: Any, mix: Any, total: Any, sure: int) -> bool:
    """Whether every subset with one item less is in the book; that without item ``sure`` is known to be."""
    known = True
    for w in range(key.size):
        left = key[w]
        while left != _ZERO and known:
            low = left & (~left + _ONE)
            left ^= low
            item = 64 * w + popcount(low - _ONE)
            if item != sure:
                key[w] ^= low
                known = slot_of(marks, words, total - mix[item], key) >= 0
                key[w] |= low
        if not known:
            break
    return known


@part
def gather(marks: Any, words: Any, key: Any, mix: Any, lo: Any, hi: Any, low: Any, high: Any) -> None:
    """Bounds of all proper subsets of ``key`` into ``low`` and ``high`` (by bit masks over its items); 0 for the set itself.

    Subsets are visited in Gray order: from one to the next a single item comes or goes.
    """
    size = low.size
    members = np.empty(64, np.int64)
    count = 0
    for w in range(key.size):
        left = key[w]
        while left != _ZERO:
            bit = left & (~left + _ONE)
            left ^= bit
            members[count] = 64 * w + popcount(bit - _ONE)
            count += 1
    current = np.zeros(key.size, np.uint64)
    total = _ZERO
    mask = 0
    for step in range(size):
        if step > 0:
            place = 0
            while not (step >> place) & 1:
                place += 1
            item = members[place]
            mask ^= 1 << place
            current[item >> 6] ^= _ONE << np.uint64(item & 63)
            total = total + mix[item] if (mask >> place) & 1 else total - mix[item]
        if mask == size - 1:
            low[mask], high[mask] = 0, 0
            continue
        slot = slot_of(marks, words, total, current)
        low[mask], high[mask] = lo[slot], hi[slot]


@part
def to_cells(low: Any, high: Any) -> None:
    """From "at least these items" to "exactly these items", in place."""
    size = low.size
    step = 1
    while step < size:
        for start in range(0, size, 2 * step):
            for i in range(start, start + step):
                low[i] -= high[i + step]
                high[i] -= low[i + step]
        step *= 2


@kernel
def deduce(marks: Any, words: Any, lo: Any, hi: Any, keys: Any, mix: Any, ask: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Bounds on the supports of candidates, and the groups of 1..k-1 people that they prove.

    ``ask`` holds k, the largest support that an unpublished set can have, and the longest set to look at. A group of people cannot have fewer
    than 0 members: that bounds the support from below where the set enters the group's sum with a plus, from above where with a minus.

    Returns the bounds of every candidate (-1, -1 where it is too long; lo > hi where the published numbers contradict), and the groups as
    candidate number, bits of the present items, bounds of the size, and whether the group is new: no pattern with one condition less
    is as small.
    """
    k, most, longest = ask[0], ask[1], ask[2]
    bounds = np.empty((keys.shape[0], 2), np.int64)
    which, group = np.empty(256, np.int64), np.empty(256, np.int64)
    size_lo, size_hi, fresh = np.empty(256, np.int64), np.empty(256, np.int64), np.empty(256, np.int8)
    found = 0
    for i in range(keys.shape[0]):
        d = 0
        for w in range(keys.shape[1]):
            d += popcount(keys[i, w])
        if d > longest:
            bounds[i, 0], bounds[i, 1] = -1, -1
            continue
        low, high = np.empty(1 << d, np.int64), np.empty(1 << d, np.int64)
        gather(marks, words, keys[i], mix, lo, hi, low, high)
        to_cells(low, high)
        least, largest = np.int64(0), most
        for m in range(1 << d):
            if (d - popcount(np.uint64(m))) & 1:
                largest = min(largest, high[m])
            else:
                least = max(least, -high[m])
        bounds[i, 0], bounds[i, 1] = least, largest
        if least > largest:
            continue
        for m in range(1 << d):
            odd = (d - popcount(np.uint64(m))) & 1
            smallest = low[m] - largest if odd else low[m] + least
            biggest = high[m] - least if odd else high[m] + largest
            if smallest > 0 and biggest < k:
                if found == which.size:
                    which, group = twice(which), twice(group)
                    size_lo, size_hi = twice(size_lo), twice(size_hi)
                    fresh = twice(fresh)
                which[found], group[found], size_lo[found], size_hi[found] = i, m, smallest, biggest
                # Without one of its conditions the group grows by its neighbour; the unknown support drops out of the sum of the two.
                fresh[found] = 1
                for j in range(d):
                    if high[m] + high[m ^ (1 << j)] < k:
                        fresh[found] = 0
                found += 1
    return (
        bounds,
        which[:found].copy(),
        group[:found].copy(),
        size_lo[:found].copy(),
        size_hi[:found].copy(),
        fresh[:found].copy(),
    )


@part
def twice(array: Any) -> Any:
    """The array with room for as many entries again."""
    more = np.empty(2 * array.size, array.dtype)
    more[: array.size] = array
    return more
