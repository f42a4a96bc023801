"""Where channels gather, worst first; all of them, or only the worst when they go to a file one piece after the other.

A channel of an exact list fits into one number of 64 bits: its size, its length, its line and the bits of its present items, in this order.
Sorting such numbers sorts channels, worst first, and takes an eighth of the memory of sorting columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.model.release import Itemsets

Whole = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: When channels go to a file, this many of the worst stay at hand to be shown.
KEPT = 10_000


@dataclass(frozen=True, eq=False)
class Channels:
    """Channels as columns: published set, which of its items are present (bits by position), bounds on the number of people.

    The other items of the set are absent, except those of ``free`` (bits by position), of which nothing is said; None when there are none.
    """

    line: Whole
    present: Words
    lo: Whole
    hi: Whole
    free: Words | None = None

    @classmethod
    def joined(cls, parts: list[Channels]) -> Channels:
        """All parts one after the other."""
        words = max((part.present.shape[1] for part in parts), default=1)
        wide = [np.pad(part.present, ((0, 0), (0, words - part.present.shape[1]))) for part in parts]
        empty = np.empty(0, np.int64)
        free = [part.free for part in parts if part.free is not None]
        return cls(
            np.concatenate([part.line for part in parts] or [empty]),
            np.concatenate(wide or [np.empty((0, 1), np.uint64)]),
            np.concatenate([part.lo for part in parts] or [empty]),
            np.concatenate([part.hi for part in parts] or [empty]),
            np.concatenate(free) if free else None,
        )

    def __len__(self) -> int:
        return len(self.line)

    def take(self, index: Whole) -> Channels:
        """The channels at these positions."""
        free = None if self.free is None else self.free[index]
        return Channels(self.line[index], self.present[index], self.lo[index], self.hi[index], free)

    def lengths(self, of_sets: Whole) -> Whole:
        """How many items each channel speaks of, from the lengths of all published sets and, at the end, of the empty set."""
        whole = of_sets[self.line]  # line -1 is the empty set
        return whole if self.free is None else whole - np.bitwise_count(self.free)


def lengths_of(release: Itemsets) -> Whole:
    """The lengths of all published sets and, at the end, of the empty set."""
    return np.append(release.sets.lengths, 0)


def worst_first(channels: Channels, of_sets: Whole) -> Channels:
    """Smallest groups first, then shortest descriptions, then the order of the file."""
    keys = [channels.present[:, word] for word in range(channels.present.shape[1])]
    return channels.take(np.lexsort((*keys, channels.line, channels.lengths(of_sets), channels.hi)))


@dataclass(frozen=True)
class Packing:
    """How channels of exact lists are packed: how many bits size, length, line and present items take."""

    size: int
    length: int
    line: int
    present: int

    @classmethod
    def of(cls, release: Itemsets, k: int) -> Packing | None:
        """The packing for a release, or None when a channel does not fit into 64 bits."""
        longest = int(release.sets.lengths.max(initial=0))
        made = cls((k - 1).bit_length(), longest.bit_length(), len(release).bit_length(), longest)
        return made if made.size + made.length + made.line + made.present <= 64 else None

    def pack(self, channels: Channels, of_sets: Whole) -> Words:
        """The channels as numbers."""
        key = channels.hi.astype(np.uint64)
        for value, bits in ((channels.lengths(of_sets), self.length), (channels.line + 1, self.line)):
            key = (key << np.uint64(bits)) | value.astype(np.uint64)
        return (key << np.uint64(self.present)) | channels.present[:, 0]

    def unpack(self, keys: Words) -> Channels:
        """The channels that were packed to these numbers."""
        line_at, size_at = self.present, self.present + self.line + self.length
        line = ((keys >> np.uint64(line_at)) & np.uint64((1 << self.line) - 1)).astype(np.int64) - 1
        size = (keys >> np.uint64(size_at)).astype(np.int64) if size_at < 64 else np.zeros(len(keys), np.int64)
        return Channels(line, (keys & np.uint64((1 << self.present) - 1))[:, None], size, size)


@dataclass(eq=False)
class Gatherer:
    """Takes channels piece by piece; ``hand_on``, if there is one, gets every piece, and then only the worst are kept here.

    ``people`` are concerned at least; ``sizes`` says how many channels there are of each size.
    All channels of a published set come in one piece.
    """

    release: Itemsets
    k: int
    exact: bool
    hand_on: Callable[[Channels], None] | None = None
    people: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    _parts: list[Channels] = field(default_factory=list)
    _keys: list[Words] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._packing = Packing.of(self.release, self.k) if self.exact else None
        self.lengths = lengths_of(self.release)

    def add(self, channels: Channels) -> None:
        """Take a piece."""
        if len(channels) == 0:
            return
        for size, number in zip(*(values.tolist() for values in np.unique(channels.hi, return_counts=True)), strict=True):
            self.sizes[size] += number
        self.people = max(self.people, _people(channels))
        if self.hand_on is not None:
            self.hand_on(channels)
        if self._packing is None:
            self._parts.append(channels)
        else:
            self._keys.append(self._packing.pack(channels, self.lengths))
        if self.hand_on is not None and sum(map(len, self._parts)) + sum(map(len, self._keys)) > 8 * KEPT:
            self._cut()

    def worst_first(self) -> Channels:
        """What was kept, in order."""
        if self._packing is None:
            return worst_first(Channels.joined(self._parts), self.lengths)
        keys = np.concatenate(self._keys) if self._keys else np.empty(0, np.uint64)
        self._keys.clear()
        keys.sort()
        self._keys.append(keys)
        return self._packing.unpack(keys)

    def _cut(self) -> None:
        """Keep the worst only."""
        if self._packing is None:
            self._parts = [worst_first(Channels.joined(self._parts), self.lengths).take(np.arange(KEPT))]
        else:
            keys = np.concatenate(self._keys)
            self._keys = [np.partition(keys, KEPT)[:KEPT]]


def _people(channels: Channels) -> int:
    """People proved to be concerned at least: the groups of one itemset do not overlap, so they add up unless items are left open."""
    if channels.free is not None:
        return int(channels.lo.max())
    return int(np.bincount(channels.line - int(channels.line.min()), weights=channels.lo).max())
