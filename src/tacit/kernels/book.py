"""Itemsets with what is known about their supports, to be looked up fast: what drives the deduction kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.kernels.deduction import candidates, deduce, enter, look_up

Words = npt.NDArray[np.uint64]
Whole = npt.NDArray[np.int64]


def bits_of(mask: int, count: int) -> npt.NDArray[np.bool_]:
    """The lowest ``count`` bits of a mask as truth values.

    >>> bits_of(5, 3).tolist()
    [True, False, True]
    """
    return np.array([bool(mask >> j & 1) for j in range(count)], np.bool_)


class Book:
    """A growing table of itemsets with bounds on their supports. Itemsets are rows of bits over the items in use."""

    def __init__(self, items: Whole) -> None:
        self.items = items
        self.mix = np.random.default_rng(0).integers(1, 2**63, len(items), np.uint64)
        self.width = max(1, -(-len(items) // 64))
        self._count = 0
        self._clear(1024)

    @classmethod
    def of_items(cls, members: npt.NDArray[np.integer[Any]]) -> Book:
        """An empty book over the items that occur among ``members``: nobody can reason about items that are not published."""
        return cls(np.unique(members).astype(np.int64))

    def _clear(self, slots: int) -> None:
        self._marks = np.zeros(slots, np.uint64)
        self._words = np.zeros(slots * self.width, np.uint64)
        self._lo = np.zeros(slots, np.int64)
        self._hi = np.zeros(slots, np.int64)

    def __len__(self) -> int:
        return self._count

    def keys(self, offsets: Whole, members: npt.NDArray[np.integer[Any]]) -> Words:
        """Sets ``members[offsets[i]:offsets[i + 1]]`` as bits, one row each."""
        keys = np.zeros((len(offsets) - 1, self.width), np.uint64)
        owners = np.repeat(np.arange(len(keys)), np.diff(offsets))
        local = np.searchsorted(self.items, members)
        np.bitwise_or.at(keys, (owners, local >> 6), np.uint64(1) << (local & 63).astype(np.uint64))
        return keys

    def members(self, words: Words) -> Whole:
        """The items of a set given as bits, ascending."""
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
        return self.items[np.flatnonzero(bits)]

    def subsets(self, items: Whole) -> Words:
        """All subsets of some items as bits; row ``m`` holds the items whose bit is set in ``m``."""
        keys = np.zeros((1 << len(items), self.width), np.uint64)
        for j, item in enumerate(np.searchsorted(self.items, items).tolist()):
            keys[1 << j : 2 << j] = keys[: 1 << j]
            keys[1 << j : 2 << j, item >> 6] |= np.uint64(1 << (item & 63))
        return keys

    def enter(self, keys: Words, bounds: Whole) -> None:
        """Write itemsets with their bounds (two columns); an itemset that is there already gets the new bounds."""
        needed = self._count + len(keys)
        if 2 * needed > len(self._marks):
            used = np.flatnonzero(self._marks)
            old, lo, hi = self.everything(), self._lo[used], self._hi[used]
            self._clear(1 << (4 * needed).bit_length())
            self._write(old, lo, hi)
        self._count += self._write(keys, bounds[:, 0], bounds[:, 1])

    def _write(self, keys: Words, lo: Whole, hi: Whole) -> int:
        bounds = (np.ascontiguousarray(lo, np.int64), np.ascontiguousarray(hi, np.int64))
        return enter(self._marks, self._words, self._lo, self._hi, _flat(keys), self.mix, *bounds)

    def everything(self) -> Words:
        """All itemsets in the book."""
        return self._words.reshape(-1, self.width)[np.flatnonzero(self._marks)]

    def bounds(self, keys: Words) -> tuple[Whole, Whole, npt.NDArray[np.bool_]]:
        """The bounds of itemsets, and which of them are in the book."""
        slots = np.empty(len(keys), np.int64)
        look_up(self._marks, self._words, _flat(keys), self.mix, slots)
        return self._lo[slots], self._hi[slots], slots >= 0

    def candidates(self, fresh: Words, *, first: bool) -> Words:
        """Itemsets that are not in the book but all of whose subsets are, above those of ``fresh``; each once, in a fixed order.

        ``first`` says that ``fresh`` is everything in the book: then each is reached in one way only.
        """
        count, found = candidates(self._marks, self._words, _flat(fresh), self.mix, first)
        keys = found[: count * self.width].reshape(-1, self.width)
        return keys if first else np.unique(keys, axis=0)

    def deduce(self, keys: Words, ask: Whole) -> tuple[Whole, Whole]:
        """Bounds of candidates, two columns, and the small groups they prove, five (see :func:`tacit.kernels.deduction.deduce`)."""
        bounds = np.empty(2 * len(keys), np.int64)
        count, found = deduce(self._marks, self._words, self._lo, self._hi, _flat(keys), self.mix, ask, bounds)
        return bounds.reshape(-1, 2), found[: 5 * count].reshape(-1, 5)


def _flat(keys: Words) -> Words:
    return np.ascontiguousarray(keys).reshape(-1)
