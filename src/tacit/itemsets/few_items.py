"""Deduction over few items, where every set has a place in an array.

A set is a mask over the items in use, and its support stands at the place with this number. Nearly all sets follow from *rules* "nobody who has
these items lacks all of those" (:func:`tacit.kernels.deduction.derive_supports`), so that thousands of sets above the published ones cost less
than one set whose groups are all counted. Where all subsets of a set are known, so are all groups of people on it: they are found as a *crowd*,
people by the items of the set that they have, once for each largest known set, and the groups on its subsets are searched in the crowd.

The outcome is that of the search level by level in :mod:`tacit.itemsets.unpublished_itemsets`; sets of any length are looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.itemsets.supports import Supports
from tacit.kernels.deduction import Book, derive_supports, widen
from tacit.kernels.projection import keys_by_masks
from tacit.kernels.rows import superset_max
from tacit.model.arrays import Codes, Flags, Ints, Words

MOST_DENSE = 22  #: Arrays over all subsets of more items would take over 200 MB.
SPARSE = 16  #: Arrays are used if the published sets stand for one in so many subsets.
MOST_CROWD = 1 << 28  #: Most entries of all cubes that crowds are read from.
MOST_LISTED = 1 << 22  #: Of more findings, the worst are listed.
AT_ONCE = 1 << 14  #: Sets that are searched at once.
PIECE = 1 << 16  #: Sets that are derived between two checks of the time limit.
UNKNOWN = 127  #: Level of a set that was not looked at.
OPEN = -1  #: Level of a set whose support was bounded, not found.
_LENGTH_BITS = 5

Check = Callable[[], None]


class Crowd(NamedTuple):
    """People by the items of a largest known set, and the unpublished sets that are looked at there."""

    words: Words
    weights: Ints
    masks: Ints


class DenseBook(Book):
    """Supports of all known sets by mask."""

    def __init__(self, members: npt.NDArray[np.integer[Any]], support: Ints) -> None:
        super().__init__(members)
        self._support = support

    def bounds(self, keys: Words) -> tuple[Ints, Ints, Flags]:
        """Return itemsets' supports twice, and which are known."""
        support = self._support[keys[:, 0].astype(np.int64)]
        return support, support, support >= 0


@dataclass(eq=False)
class Found:
    """Groups on unpublished sets as columns: masks, items present by position, bounds, level, and the size with one condition less.

    ``by_size`` counts all groups, also those that are not listed; at least ``people`` are concerned.
    """

    masks: Ints
    present: Ints
    lo: Ints
    hi: Ints
    level: Ints
    wider: Ints
    by_size: dict[int, int]
    people: int

    @property
    def is_whole(self) -> bool:
        """True if all groups are listed."""
        return sum(self.by_size.values()) == len(self.masks)


def applies_to(supports: Supports, k: int) -> bool:
    """Tell if arrays over all subsets suit a release."""
    release = supports.release
    header = release.header
    n_items = len(np.unique(release.sets.members))
    if release.n is None or header.max_length is not None or header.coarser or not release.is_exact or n_items > MOST_DENSE:
        return False
    if k.bit_length() + _LENGTH_BITS + 2 * n_items > 64:
        return False
    lengths = release.sets.lengths
    stands_for = int((1 << lengths[supports.maximal]).sum()) if supports.by_closure else len(lengths)
    return (1 << n_items) <= SPARSE * (stands_for + 1)


@dataclass(eq=False)
class Deduction:
    """Everything that follows from a release, set by set; None where the numbers contradict."""

    supports: Supports
    k: int
    book: DenseBook
    support: Ints
    rules: Codes
    level: npt.NDArray[np.int8]
    check: Check
    _open: list[tuple[Ints, Ints, int]] = field(default_factory=list)

    @classmethod
    def of(cls, supports: Supports, k: int, check: Check) -> Deduction | None:
        """Derive all supports."""
        release = supports.release
        assert release.n is not None
        n_items = len(np.unique(release.sets.members))
        support = np.full(1 << n_items, -1, np.int64)
        book = DenseBook(release.sets.members, support)
        published = book.keys(release.sets.offsets, release.sets.members)[:, 0].astype(np.int64)
        support[published] = release.lo
        if supports.by_closure:
            superset_max(support)
            if (support[published] != release.lo).any():
                return None
        support[0] = release.n
        level = np.where(support >= 0, 0, UNKNOWN).astype(np.int8)
        made = cls(supports, k, book, support, np.full(len(support), -1, np.int32), level=level, check=check)
        return made if made._derive() else None

    def _derive(self) -> bool:
        """Derive supports level by level; return False if numbers contradict."""
        assert self.supports.release.min_support is not None
        most = self.supports.release.min_support - 1
        ask = np.array([self.k, most])
        for listed in _pieces(np.flatnonzero(self.level == 0)):
            self.check()
            derive_supports(listed, True, self.support, self.rules, ask, np.empty(0, np.int64))
        number = 0
        while len(fresh := self._candidates()):
            number += 1
            for some in _pieces(fresh):
                self.check()
                bounds = np.empty(2 * len(some), np.int64)
                count, found = derive_supports(some, False, self.support, self.rules, ask, bounds)
                lo = bounds[::2]
                hi = bounds[1::2]
                if (lo > hi).any() or (lo < 0).any() or (hi > most).any():
                    return False
                self.level[some] = np.where(lo == hi, number, OPEN)
                self._open.append((some, found[: 5 * count].reshape(-1, 5), number))
        return True

    def _candidates(self) -> Ints:
        """Return the sets that were not looked at, all of whose direct subsets are known."""
        known = (self.level >= 0) & (self.level < UNKNOWN)
        wanted = self.level == UNKNOWN
        step = 1
        while step < len(wanted):
            above = wanted.reshape(-1, 2, step)[:, 1]
            above &= known.reshape(-1, 2, step)[:, 0]
            step *= 2
        return np.flatnonzero(wanted)

    def _read_crowds(self) -> list[Crowd] | None:
        """Return a crowd for each largest known set; None if that is too much work, or impossible."""
        known = (self.level >= 0) & (self.level < UNKNOWN)
        largest = known.copy()
        step = 1
        while step < len(known):
            below = largest.reshape(-1, 2, step)[:, 0]
            below &= ~known.reshape(-1, 2, step)[:, 1]
            step *= 2
        wholes = np.flatnonzero(largest)
        lengths = np.bitwise_count(wholes.astype(np.uint64)).astype(np.int64)
        if int((1 << lengths).sum()) > MOST_CROWD:
            return None
        left = known & (self.level > 0)
        crowds = []
        for whole in wholes[np.argsort(-lengths, kind="stable")].tolist():
            self.check()
            subsets = np.zeros(1, np.int64)
            for bit in range(whole.bit_length()):
                if whole >> bit & 1:
                    subsets = np.concatenate((subsets, subsets | 1 << bit))
            sizes = self.support[subsets]
            count_groups(sizes)
            if (sizes < 0).any():
                return None
            masks = subsets[left[subsets]]
            left[masks] = False
            there = np.flatnonzero(sizes)
            if len(masks):
                crowds.append(Crowd(subsets[there].astype(np.uint64), sizes[there], masks))
        return crowds

    def search(self, most: int) -> Found | None:
        """Return the ``most`` worst groups on unpublished sets, and count all; None if crowds cannot be read."""
        crowds = self._read_crowds()
        if crowds is None:
            return None
        keys, by_size = self._search_crowds(crowds, most)
        bounded = np.concatenate([np.empty((0, 5), np.int64), *(groups for _, groups, _ in self._open)])
        on = np.concatenate([np.empty(0, np.int64), *(fresh[groups[:, 0]] for fresh, groups, _ in self._open)])
        levels = np.concatenate([np.empty(0, np.int64), *(np.full(len(groups), level) for _, groups, level in self._open)])
        sizes = (keys >> np.uint64(self._shift)).astype(np.int64)
        masks = (keys >> np.uint64(self._n_items) & np.uint64(len(self.support) - 1)).astype(np.int64)
        present = (keys & np.uint64(len(self.support) - 1)).astype(np.int64)
        wider = np.empty(len(keys), np.int64)
        owner = np.full(len(self.support), -1, np.int32)
        for number, crowd in enumerate(crowds):
            owner[crowd.masks] = number
        owners = owner[masks]
        for number, crowd in enumerate(crowds):
            self.check()
            mine = np.flatnonzero(owners == number)
            some = np.empty(len(mine), np.int64)
            widen(crowd.words, crowd.weights, masks[mine], present[mine], sizes[mine], some)
            wider[mine] = some
        people = max([0, *by_size, *bounded[:, 2].tolist()])
        for size, number in zip(*np.unique(bounded[:, 3], return_counts=True), strict=True):
            by_size[int(size)] = by_size.get(int(size), 0) + int(number)
        return Found(
            np.append(masks, on),
            np.append(present, bounded[:, 1]),
            np.append(sizes, bounded[:, 2]),
            np.append(sizes, bounded[:, 3]),
            level=np.append(self.level[masks].astype(np.int64), levels),
            wider=np.append(wider, bounded[:, 4]),
            by_size=dict(sorted(by_size.items())),
            people=people,
        )

    @property
    def _n_items(self) -> int:
        return len(self.book.items)

    @property
    def _shift(self) -> int:
        return 2 * self._n_items + _LENGTH_BITS

    def _search_crowds(self, crowds: list[Crowd], most: int) -> tuple[Words, dict[int, int]]:
        """Return the worst groups as numbers (size, length, set, present items), and how many groups there are by size."""
        kept: list[Words] = []
        by_size = np.zeros(self.k, np.int64)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for crowd in crowds:
                pieces = np.array_split(crowd.masks, -(-len(crowd.masks) // AT_ONCE))
                for found in pool.map(partial(self._search_piece, crowd), pieces):
                    self.check()
                    by_size += np.bincount((found >> np.uint64(self._shift)).astype(np.int64), minlength=self.k)
                    kept.append(found)
                    if sum(map(len, kept)) > 4 * most:
                        kept = [np.partition(np.concatenate(kept), most)[:most]]
        keys = np.sort(np.concatenate([np.empty(0, np.uint64), *kept]))[:most]
        return keys, {size: number for size, number in enumerate(by_size.tolist()) if number}

    def _search_piece(self, crowd: Crowd, masks: Ints) -> Words:
        n_items = self._n_items
        lengths = np.bitwise_count(masks.astype(np.uint64)).astype(np.int64)
        prefixes = ((lengths << n_items | masks) << n_items).astype(np.uint64)
        return keys_by_masks(crowd.words, crowd.weights, n_items, masks.astype(np.uint64), prefixes, self._shift, self.k)


def _pieces(numbers: Ints) -> Iterator[Ints]:
    for start in range(0, len(numbers), PIECE):
        yield numbers[start : start + PIECE]


def count_groups(sizes: Ints) -> None:
    """Turn supports of all subsets into the sizes of groups, in place."""
    step = 1
    while step < len(sizes):
        pairs = sizes.reshape(-1, 2, step)
        pairs[:, 0] -= pairs[:, 1]
        step *= 2
