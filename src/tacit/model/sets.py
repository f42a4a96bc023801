"""Items, and sets of items in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Items:
    """Names of items, or pairs printed as ``column=value``.

    >>> Items.of_columns([("sex", "F"), ("age", "30")]).names
    ('sex=F', 'age=30')
    """

    names: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] | None = None

    @classmethod
    def of_columns(cls, pairs: Sequence[tuple[str, str]]) -> Items:
        """Items ``column=value``."""
        return cls(tuple(f"{column}={value}" for column, value in pairs), tuple(pairs))

    def __len__(self) -> int:
        return len(self.names)


IntArray = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Set ``i`` is ``members[offsets[i]:offsets[i + 1]]``, ascending.

    >>> sets = Sets.from_lists([[2, 1], [], [3, 3]])
    >>> len(sets), [part.tolist() for part in sets]
    (3, [[1, 2], [], [3]])
    """

    offsets: npt.NDArray[np.int64]
    members: IntArray

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[int]]) -> Sets:
        """Sets from Python lists."""
        flat: list[int] = []
        ends = [0]
        for part in lists:
            flat.extend(sorted(set(part)))
            ends.append(len(flat))
        return cls(np.array(ends, dtype=np.int64), np.array(flat, dtype=np.int32))

    @classmethod
    def from_pairs(cls, rows: IntArray, members: IntArray, n_rows: int) -> Sets:
        """Make sets from (row, member) pairs."""
        width = int(members.max()) + 1 if members.size else 1
        keys = rows.astype(np.int64) * width + members
        if not (keys[1:] > keys[:-1]).all():
            keys.sort()
            keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
        offsets = np.searchsorted(keys, np.arange(n_rows + 1, dtype=np.int64) * width).astype(np.int64)
        return cls(offsets, (keys % width).astype(np.int32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> IntArray:
        return self.members[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[IntArray]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of members of each set."""
        return np.diff(self.offsets)

    def owners(self) -> npt.NDArray[np.int64]:
        """For every member, the number of its set."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def take(self, index: npt.NDArray[np.int64] | Sequence[int]) -> Sets:
        """The sets at these positions, in this order."""
        chosen = np.asarray(index, dtype=np.int64)
        lengths = self.lengths[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        source = np.arange(offsets[-1], dtype=np.int64) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Sets(offsets, self.members[source])

    def member_hashes(self) -> npt.NDArray[np.uint64]:
        """Return a 64-bit hash for each member."""
        return _mix(self.members.astype(np.uint64) + np.uint64(1))

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Return a 64-bit hash for each set."""
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(self.member_hashes(), dtype=np.uint64)))
        return sums[self.offsets[1:]] - sums[self.offsets[:-1]]


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64: spreads consecutive numbers over 64 bits."""
    mixed = values * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
