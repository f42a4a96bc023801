"""Channels on long sets whose counts are rounded: only patterns whose bounds can still be narrow enough are looked at.

A pattern "all of I, none of A" is bounded by a sum of 2**|A| intervals, and it is proved to be small only when its bounds lie within 1 and k-1,
so when they are at most k-2 apart. One absent item more adds the widths of two patterns with one absent item less: neither can be wider
than the sum. So patterns are built up by the number of absent items, and whatever is too wide is dropped with all that would be built on it.
Where counts are rounded coarsely hardly anything survives the first steps, and a set of 20 items is decided, though it has 3**20 patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.attacks.intervals import Patterns, hashes_of
from tacit.attacks.supports import Lines, Supports

#: A step that would keep more patterns than this is given up: they would take some hundred megabytes.
MOST_NARROW = 1 << 21

_SHIFT = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)
Words = npt.NDArray[np.uint64]
Whole = npt.NDArray[np.int64]


class _Level(NamedTuple):
    """Patterns with the same number of absent items, in the order of their keys: bits of the absent items above those of the present ones."""

    key: Words
    lo: Whole
    hi: Whole

    def take(self, index: Whole | npt.NDArray[np.bool_]) -> _Level:
        """The patterns at these positions."""
        return _Level(self.key[index], self.lo[index], self.hi[index])

    @classmethod
    def joined(cls, parts: list[_Level]) -> _Level:
        """All patterns, sorted."""
        empty = cls(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
        whole = cls(*(np.concatenate([part[i] for part in [empty, *parts]]) for i in range(3)))
        return whole.take(np.argsort(whole.key))


def narrow_patterns_on(supports: Supports, items: Lines, k: int, pause: Callable[[], None]) -> Patterns | None:
    """The patterns over ``items`` that are proved to hold for 1 to k-1 people; None when too many stay narrow to be looked at."""
    cube = supports.cube(items)
    narrow = np.flatnonzero(cube.known & (cube.hi - cube.lo <= k - 2))
    level = _Level(narrow.astype(np.uint64), cube.lo[narrow], cube.hi[narrow])
    small: list[_Level] = []
    impossible = False
    while len(level.key):
        small.append(level.take((level.lo > 0) & (level.hi < k)))
        impossible = impossible or bool((level.hi < 0).any())
        parts: list[_Level] = []
        for part in _with_one_absent_more(level, len(items), k):
            pause()
            parts.append(part)
            if sum(len(one.key) for one in parts) > MOST_NARROW:
                return None
        level = _Level.joined(parts)
    return _as_patterns(_Level.joined(small), items, impossible)


def _with_one_absent_more(level: _Level, size: int, k: int) -> Iterator[_Level]:
    """What can be built from two patterns: with the item left open, less with the item present, is with the item absent."""
    for item in range(size):
        bit = np.uint64(1 << item)
        # Absent items are added in ascending order, so that each pattern is built once.
        open_here = np.flatnonzero(((level.key & bit) == 0) & (level.key >> _SHIFT < bit))
        partner, found = _places(level.key, level.key[open_here] | bit)
        left, right = open_here[found], partner[found]
        lo, hi = level.lo[left] - level.hi[right], level.hi[left] - level.lo[right]
        yield _Level(level.key[left] | bit << _SHIFT, lo, hi).take(hi - lo <= k - 2)


def _places(keys: Words, wanted: Words) -> tuple[Whole, npt.NDArray[np.bool_]]:
    """Where keys stand in a sorted list, and which of them do."""
    if len(keys) == 0:
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


def _as_patterns(small: _Level, items: Lines, impossible: bool) -> Patterns:
    """The small patterns as columns; one is beaten when it also holds with one item more, present or absent."""
    further = np.zeros(len(small.key), np.bool_)
    for shift in range(64):
        bit = np.uint64(1 << shift)
        having = small.key[(small.key & bit) != 0]
        place, found = _places(small.key, having ^ bit)
        further[place[found]] = True
    present, absent = small.key & _LOW, small.key >> _SHIFT
    free = np.uint64((1 << len(items)) - 1) & ~(present | absent)
    return Patterns(present, free, small.lo, small.hi, further, hashes_of(items, present, absent), impossible)
