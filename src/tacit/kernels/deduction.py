"""Bounds on unpublished supports from subsets.

A *book* is an open-addressing hash table of itemsets with bounds on their supports: ``words`` holds each itemset as bits (``width`` words per
slot), ``marks`` its 64-bit hash (0: free slot), ``lo`` and ``hi`` the bounds. The hash of a set is the sum of its items' ``mix`` numbers, so
that adding or removing an item is one addition; sets are compared word by word, so that nothing rests on the hash being unique. :class:`Book`
drives the kernels.

Kernels take itemsets as flat arrays of words, ``width`` words each; a single one is named by an array and the place of its first word. Flat
arrays and places instead of slices keep compile times short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.kernels.jit import kernel, lowest_one, part, popcount
from tacit.kernels.rows import grow
from tacit.model.arrays import Flags, Ints, Words

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_NO_BOUND = np.int64(1 << 60)  #: Larger than any support.


@part
def _slot_of(marks: Any, words: Any, hash_: Any, keys: Any, at: int, width: int) -> Any:
    """Return an itemset's slot, or ``-1 - slot`` if free."""
    size = marks.size
    mark = hash_ if hash_ != _ZERO else _ONE
    slot = np.int64(mark >> np.uint64(7)) & (size - 1)
    while marks[slot] != _ZERO:
        if marks[slot] == mark:
            same = True
            for w in range(width):
                if words[slot * width + w] != keys[at + w]:
                    same = False
            if same:
                return slot
        slot = (slot + 1) & (size - 1)
    return -1 - slot


@kernel(steps=lambda _marks, _words, _lo, _hi, _keys, hashes, *_: 5 * hashes.size)
def enter(marks: Any, words: Any, lo: Any, hi: Any, keys: Any, hashes: Any, least: Any, most: Any) -> int:
    """Enter itemsets with bounds; count new ones."""
    width = words.size // marks.size
    fresh = 0
    for i in range(least.size):
        hash_ = hashes[i]
        slot = _slot_of(marks, words, hash_, keys, i * width, width)
        if slot < 0:
            slot = -1 - slot
            fresh += 1
            marks[slot] = hash_ if hash_ != _ZERO else _ONE
            for w in range(width):
                words[slot * width + w] = keys[i * width + w]
        lo[slot] = least[i]
        hi[slot] = most[i]
    return fresh


@kernel(steps=lambda _marks, _words, _keys, hashes, _slots: 5 * hashes.size)
def look_up(marks: Any, words: Any, keys: Any, hashes: Any, slots: Any) -> None:
    """Find every itemset's slot; negative if absent."""
    width = words.size // marks.size
    for i in range(slots.size):
        slots[i] = _slot_of(marks, words, hashes[i], keys, i * width, width)


@kernel(steps=lambda _marks, _words, keys, mix, *_: keys.size * mix.size * 4)
def candidates(marks: Any, words: Any, keys: Any, mix: Any, hashes: Any, behind: bool) -> tuple[int, Any]:
    """List unknown itemsets, one item above ``keys``, whose subsets are known.

    With ``behind`` only items behind the last one are added, so that a set is reached once when ``keys`` holds everything in the book; without
    it a set may be listed several times. Returns how many, and an array that begins with them.
    """
    n_items = mix.size
    width = words.size // marks.size
    found = np.empty(256 * width, np.uint64)
    count = 0
    key = np.empty(width, np.uint64)
    for i in range(keys.size // width):
        whole = hashes[i]
        first = 0
        for item in range(n_items):
            if behind and (keys[i * width + (item >> 6)] >> np.uint64(item & 63)) & _ONE:
                first = item + 1
        for w in range(width):
            key[w] = keys[i * width + w]
        for item in range(first, n_items):
            bit = _ONE << np.uint64(item & 63)
            if key[item >> 6] & bit:
                continue
            key[item >> 6] |= bit
            total = whole + mix[item]
            if _slot_of(marks, words, total, key, 0, width) < 0 and _parents_known(marks, words, key, mix, total, item):
                found = grow(found, (count + 1) * width)
                for w in range(width):
                    found[count * width + w] = key[w]
                count += 1
            key[item >> 6] ^= bit
    return count, found


@part
def _parents_known(marks: Any, words: Any, key: Any, mix: Any, total: Any, sure: int) -> bool:
    """Tell if the direct subsets with item ``sure`` are in the book."""
    for item in range(mix.size):
        bit = _ONE << np.uint64(item & 63)
        if item == sure or not key[item >> 6] & bit:
            continue
        key[item >> 6] ^= bit
        slot = _slot_of(marks, words, total - mix[item], key, 0, key.size)
        key[item >> 6] |= bit
        if slot < 0:
            return False
    return True


@part
def _gather(marks: Any, words: Any, mix: Any, lo: Any, hi: Any, members: Any, key: Any, low: Any, high: Any, size: int) -> None:
    """Read the bounds of all proper subsets, by mask; the whole gets 0."""
    # Subsets are visited in Gray order: from one to the next a single item comes or goes.
    for w in range(key.size):
        key[w] = _ZERO
    total = _ZERO
    mask = 0
    for step in range(size):
        if step > 0:
            place = 0
            while not (step >> place) & 1:
                place += 1
            item = members[place]
            mask ^= 1 << place
            key[item >> 6] ^= _ONE << np.uint64(item & 63)
            total = total + mix[item] if (mask >> place) & 1 else total - mix[item]
        low[mask] = 0
        high[mask] = 0
        if mask != size - 1:
            slot = _slot_of(marks, words, total, key, 0, key.size)
            low[mask] = lo[slot]
            high[mask] = hi[slot]


@part
def _to_cells(low: Any, high: Any, size: int) -> None:
    step = 1
    while step < size:
        for i in range(size):
            if not i & step:
                low[i] -= high[i + step]
                high[i] -= low[i + step]
        step *= 2


@part
def _list_members(keys: Any, at: int, mix: Any, members: Any) -> int:
    """List the items, as many as fit; return how many they are."""
    count = 0
    for item in range(mix.size):
        if (keys[at + (item >> 6)] >> np.uint64(item & 63)) & _ONE:
            if count < members.size:
                members[count] = item
            count += 1
    return count


@part
def _bound_whole(high: Any, d: int, most: Any) -> tuple[Any, Any]:
    """Bound the support of a set of ``d`` items, from the largest sums over its groups: no group has fewer than 0 people."""
    least = np.int64(0)
    largest = np.int64(most)
    for m in range(1 << d):
        if (d - popcount(np.uint64(m))) & 1:
            largest = min(largest, high[m])
        else:
            least = max(least, -high[m])
    return least, largest


@part
def _add_small_groups(
    low: Any, high: Any, d: int, least: Any, largest: Any, k: int, owner: int, count: int, found: Any
) -> tuple[int, Any]:
    """Add five numbers for each group of 1..k-1 people, as :func:`deduce` returns them; the whole has ``least`` to ``largest``."""
    for m in range(1 << d):
        odd = (d - popcount(np.uint64(m))) & 1
        smallest = low[m] - largest if odd else low[m] + least
        biggest = high[m] - least if odd else high[m] + largest
        if smallest <= 0 or biggest >= k:
            continue
        # Without one of its conditions the group grows by its neighbour; the unknown support drops out of the sum of the two.
        wider = np.int64(_NO_BOUND)
        for j in range(d):
            wider = min(wider, high[m] + high[m ^ (1 << j)])
        found = grow(found, 5 * (count + 1))
        found[5 * count] = owner
        found[5 * count + 1] = m
        found[5 * count + 2] = smallest
        found[5 * count + 3] = biggest
        found[5 * count + 4] = wider
        count += 1
    return count, found


def _estimate_steps(marks: Words, words: Words, _lo: Ints, _hi: Ints, keys: Words, mix: Words, ask: Ints, _bounds: Ints) -> int:
    lengths = np.bitwise_count(keys).reshape(-1, words.size // marks.size).sum(axis=1)
    short = lengths[lengths <= ask[2]].astype(np.int64)
    return len(lengths) * mix.size + int((4 + 2 * short << short).sum())


@kernel(steps=_estimate_steps)
def deduce(marks: Any, words: Any, lo: Any, hi: Any, keys: Any, mix: Any, ask: Any, bounds: Any) -> tuple[int, Any]:
    """Bound candidates and find small groups.

    ``ask`` holds k, the largest support that an unpublished set can have, the longest set to look at, and the longest set that this largest
    support is about: a longer one is bounded by its subsets alone. A group of people cannot have fewer than 0 members: that bounds the support
    from below where the set enters the group's sum with a plus, from above where with a minus.

    ``bounds`` receives two numbers for every candidate (-1, -1 where it is too long; the first larger than the second where the published
    numbers contradict). Returns how many groups there are, and an array of five numbers for each: candidate, bits of the present items,
    bounds of the size, and the size of the smallest pattern with one condition less: if that is not small, the group is new.
    """
    k = ask[0]
    most = ask[1]
    longest = ask[2]
    width = words.size // marks.size
    found = np.empty(5 * 256, np.int64)
    count = 0
    members = np.empty(longest, np.int64)
    key = np.empty(width, np.uint64)
    low = np.empty(1 << longest, np.int64)
    high = np.empty(1 << longest, np.int64)
    for i in range(keys.size // width):
        d = _list_members(keys, i * width, mix, members)
        bounds[2 * i] = -1
        bounds[2 * i + 1] = -1
        if d > longest:
            continue
        size = 1 << d
        _gather(marks, words, mix, lo, hi, members, key, low, high, size)
        _to_cells(low, high, size)
        least, largest = _bound_whole(high, d, most if d <= ask[3] else _NO_BOUND)
        bounds[2 * i] = least
        bounds[2 * i + 1] = largest
        if least <= largest:
            count, found = _add_small_groups(low, high, d, least, largest, k, i, count, found)
    return count, found


NO_RULE = -1  #: Stands for no rule; a rule is the mask of its absent items.


@part
def _inherit_rule(mask: Any, rules: Any) -> Any:
    """Return the rule of a subset with one item less that has the fewest absent items."""
    best = np.int64(NO_RULE)
    fewest = 64
    rest = mask
    while rest > 0:
        bit = rest & -rest
        rest ^= bit
        rule = np.int64(rules[mask ^ bit])
        if rule >= 0 and popcount(np.uint64(rule)) < fewest:
            best = rule
            fewest = popcount(np.uint64(rule))
    return best


@part
def _deposit(places: Any, mask: Any) -> Any:
    """Spread bits over the places of a mask: the opposite of compressing."""
    out = np.int64(0)
    rest = mask
    place = 0
    while rest > 0:
        bit = rest & -rest
        rest ^= bit
        if (places >> place) & 1:
            out |= bit
        place += 1
    return out


@kernel(steps=lambda masks, _published, support, *_: 40 * masks.size + support.size)
def derive_supports(masks: Any, published: bool, support: Any, rules: Any, ask: Any, bounds: Any) -> tuple[int, Any]:
    """Bound the supports of sets whose subsets are known exactly, or find rules about published ones.

    Sets are masks, the places of ``support``, whose subsets stand before them. A *rule* of a set says that nobody who has its other items lacks
    these ones (``rules[mask]``). It holds for all larger sets, whose supports follow from few others (Bykowski and Rigotti: disjunctive
    rules). Where a subset has no rule, all groups are counted, which few and short sets need. ``ask`` holds k, and the largest support of
    an unpublished set. ``bounds`` receives two numbers for each set; supports that are exact are entered. Returns how many small groups
    there are on the others, and an array of five numbers for each, as :func:`deduce` does, the place in ``masks`` first.
    """
    found = np.empty(5 * 256, np.int64)
    count = 0
    longest = 0
    for i in range(masks.size):
        longest = max(longest, popcount(np.uint64(masks[i])))
    cell = np.empty(0, np.int64)
    for i in range(masks.size):
        mask = np.int64(masks[i])
        rule = _inherit_rule(mask, rules)
        if rule >= 0:
            rules[mask] = rule
            if not published:
                total = np.int64(0)
                part_ = rule
                while part_ > 0:
                    known = support[mask ^ part_]
                    total += known if popcount(np.uint64(part_)) & 1 else -known
                    part_ = (part_ - 1) & rule
                support[mask] = total
                bounds[2 * i] = total
                bounds[2 * i + 1] = total
            continue
        d = popcount(np.uint64(mask))
        size = 1 << d
        cell = grow(cell, size)
        subset = np.int64(0)
        for m in range(size):
            cell[m] = support[subset]
            subset = (subset - mask) & mask
        if not published:
            cell[size - 1] = 0
        step = 1
        while step < size:
            for m in range(size):
                if not m & step:
                    cell[m] -= cell[m + step]
            step *= 2
        if not published:
            least, largest = _bound_whole(cell, d, ask[1])
            bounds[2 * i] = least
            bounds[2 * i + 1] = largest
            if least != largest:
                count, found = _add_small_groups(cell, cell, d, least, largest, ask[0], i, count, found)
                continue
            support[mask] = least
            for m in range(size):
                cell[m] += -least if (d - popcount(np.uint64(m))) & 1 else least
        fewest = 64
        for m in range(size):
            absent = d - popcount(np.uint64(m))
            if cell[m] == 0 and absent < fewest:
                fewest = absent
                rules[mask] = _deposit(np.int64(size - 1 - m), mask)
    return count, found


@kernel(steps=lambda words, _weights, masks, *_: 4 * words.size * masks.size)
def widen(words: Any, weights: Any, masks: Any, present: Any, sizes: Any, wider: Any) -> None:
    """Write the size of the smallest group with one condition less.

    Group i has ``sizes[i]`` people with the items ``present[i]`` (by position) of ``masks[i]``; ``words`` and ``weights`` are all people.
    """
    near = np.empty(64, np.int64)
    for i in range(masks.size):
        for j in range(64):
            near[j] = 0
        mask = np.uint64(masks[i])
        held = np.uint64(_deposit(np.int64(present[i]), np.int64(masks[i])))
        for row in range(words.size):
            apart = (words[row] ^ held) & mask
            if apart != _ZERO and apart & (apart - _ONE) == _ZERO:
                near[lowest_one(apart)] += weights[row]
        least = np.int64(_NO_BOUND)
        rest = mask
        while rest != _ZERO:
            least = min(least, near[lowest_one(rest)])
            rest &= rest - _ONE
        wider[i] = sizes[i] + least


def bits_of(mask: int, count: int) -> Flags:
    """Return the lowest ``count`` bits as booleans."""
    return np.array([bool(mask >> j & 1) for j in range(count)], np.bool_)


class Book:
    """Growing table of itemsets (bits of the items in use) with bounds on supports."""

    def __init__(self, members: npt.NDArray[np.integer[Any]]) -> None:
        self.items = np.unique(members).astype(np.int64)
        self.mix = np.random.default_rng(0).integers(1, 2**63, len(self.items), np.uint64)
        self.width = max(1, -(-len(self.items) // 64))
        spread = np.zeros(64 * self.width, np.uint64)
        spread[: len(self.mix)] = self.mix
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.uint64)
        self._byte_hashes = spread.reshape(-1, 8) @ bits.T  # of the items that each byte of a key stands for
        self._count = 0
        self._clear(1024)

    def _clear(self, slots: int) -> None:
        self._marks = np.zeros(slots, np.uint64)
        self._words = np.zeros(slots * self.width, np.uint64)
        self._lo = np.zeros(slots, np.int64)
        self._hi = np.zeros(slots, np.int64)

    def __len__(self) -> int:
        return self._count

    def keys(self, offsets: Ints, members: npt.NDArray[np.integer[Any]]) -> Words:
        """Sets ``members[offsets[i]:offsets[i + 1]]`` as bits, one row each."""
        keys = np.zeros((len(offsets) - 1, self.width), np.uint64)
        owners = np.repeat(np.arange(len(keys)), np.diff(offsets))
        local = np.searchsorted(self.items, members)
        np.bitwise_or.at(keys, (owners, local >> 6), np.uint64(1) << (local & 63).astype(np.uint64))
        return keys

    def _hashes(self, keys: Words) -> Words:
        """Return the hashes of itemsets."""
        parts = np.ascontiguousarray(keys, "<u8").view(np.uint8).reshape(len(keys), 8 * self.width)
        hashes = np.zeros(len(keys), np.uint64)
        for place, of_byte in enumerate(self._byte_hashes):
            hashes += of_byte[parts[:, place]]
        return hashes

    def members(self, words: Words) -> Ints:
        """Return a mask's items, ascending."""
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
        return self.items[np.flatnonzero(bits)]

    def subsets(self, items: Ints) -> Words:
        """Return all subsets of some items as bits, row ``m`` for mask ``m``."""
        keys = np.zeros((1 << len(items), self.width), np.uint64)
        for j, item in enumerate(np.searchsorted(self.items, items).tolist()):
            keys[1 << j : 2 << j] = keys[: 1 << j]
            keys[1 << j : 2 << j, item >> 6] |= np.uint64(1 << (item & 63))
        return keys

    def enter(self, keys: Words, bounds: Ints) -> None:
        """Enter itemsets with bounds, replacing older ones."""
        needed = self._count + len(keys)
        if 2 * needed > len(self._marks):
            used = np.flatnonzero(self._marks)
            old = self.everything()
            lo = self._lo[used]
            hi = self._hi[used]
            self._clear(1 << (4 * needed).bit_length())
            self._write(old, lo, hi)
        self._count += self._write(keys, bounds[:, 0], bounds[:, 1])

    def _write(self, keys: Words, lo: Ints, hi: Ints) -> int:
        bounds = (np.ascontiguousarray(lo, np.int64), np.ascontiguousarray(hi, np.int64))
        return enter(self._marks, self._words, self._lo, self._hi, _flat(keys), self._hashes(keys), *bounds)

    def everything(self) -> Words:
        """All itemsets in the book."""
        return self._words.reshape(-1, self.width)[np.flatnonzero(self._marks)]

    def bounds(self, keys: Words) -> tuple[Ints, Ints, Flags]:
        """Return itemsets' bounds, and which are known."""
        slots = np.empty(len(keys), np.int64)
        look_up(self._marks, self._words, _flat(keys), self._hashes(keys), slots)
        return self._lo[slots], self._hi[slots], slots >= 0

    def candidates(self, fresh: Words, *, first: bool) -> Words:
        """Return unknown itemsets above ``fresh`` (``first``: the whole book), in order."""
        count, found = candidates(self._marks, self._words, _flat(fresh), self.mix, self._hashes(fresh), first)
        keys = found[: count * self.width].reshape(-1, self.width)
        return keys if first else np.unique(keys, axis=0)

    def deduce(self, keys: Words, ask: Ints) -> tuple[Ints, Ints]:
        """Return candidates' bounds and small groups, as :func:`deduce` does."""
        bounds = np.empty(2 * len(keys), np.int64)
        count, found = deduce(self._marks, self._words, self._lo, self._hi, _flat(keys), self.mix, ask, bounds)
        return bounds.reshape(-1, 2), found[: 5 * count].reshape(-1, 5)


def _flat(keys: Words) -> Words:
    return np.ascontiguousarray(keys).reshape(-1)
