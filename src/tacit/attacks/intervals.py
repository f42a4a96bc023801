"""Channels in lists whose counts are rounded or that have gaps.

Where every support is exactly known, a channel on a set that is not maximal says less than one on a larger set. Where supports are
intervals, every further item doubles the terms of a sum and widens its bounds, so a short pattern may be proved to be small while no longer
one is; and where a list has gaps, a longer sum may not be known. Here every pattern on every published set is looked at: 3**|M| per maximal
published set M. A pattern is left out when one item more still gives a proof, because that one says more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.supports import Lines, Supports
from tacit.kernels.moebius import every_pattern
from tacit.model.sets import Sets

#: Of sets of more items than this not every pattern is looked at: 3**13 patterns take about 100 MB and half a second.
MOST_PATTERN_ITEMS = 13

_ABSENT = np.uint64(0xD6E8FEB86659FD93)  # odd, so that the hash of "without x" is another number than that of "with x"


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns on one published set as columns: bits of the present items and of those left open, and bounds on the number of people.

    ``further`` says that a pattern with one item more is proved as well; ``key`` is equal for patterns that say the same on other sets;
    ``impossible`` that some pattern would hold for fewer than no people.
    """

    present: npt.NDArray[np.uint64]
    free: npt.NDArray[np.uint64]
    lo: npt.NDArray[np.int64]
    hi: npt.NDArray[np.int64]
    further: npt.NDArray[np.bool_]
    key: npt.NDArray[np.uint64]
    impossible: bool


def patterns_on(supports: Supports, items: Lines, k: int) -> Patterns:
    """The patterns over ``items`` that are proved to hold for 1 to k-1 people."""
    cube = supports.cube(items)
    lo, hi, known = every_pattern(np.where(cube.known, cube.lo, 0), np.where(cube.known, cube.hi, 0), cube.known)
    small = known & (lo > 0) & (hi < k)
    further = np.zeros(small.size, np.bool_)
    for j in range(len(items)):
        digits, beyond = small.reshape(-1, 3, 3**j), further.reshape(-1, 3, 3**j)
        beyond[:, 0] |= digits[:, 1] | digits[:, 2]
    chosen = np.flatnonzero(small)
    present, absent = np.zeros(len(chosen), np.uint64), np.zeros(len(chosen), np.uint64)
    for j in range(len(items)):
        digit = chosen // 3**j % 3
        bit = np.uint64(1 << j)
        present |= np.where(digit == 1, bit, 0).astype(np.uint64)
        absent |= np.where(digit == 2, bit, 0).astype(np.uint64)
    free = np.uint64((1 << len(items)) - 1) & ~(present | absent)
    key = hashes_of(items, present, absent)
    return Patterns(present, free, lo[chosen], hi[chosen], further[chosen], key, bool((known & (hi < 0)).any()))


def hashes_of(items: Lines, present: npt.NDArray[np.uint64], absent: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A number for each pattern that is the same on every set that holds its items."""
    present_hash = Sets(np.array([0, len(items)]), items).member_hashes()
    absent_hash = present_hash * _ABSENT
    key = np.zeros(len(present), np.uint64)
    for j in range(len(items)):
        held, lacked = (present >> np.uint64(j)) & np.uint64(1), (absent >> np.uint64(j)) & np.uint64(1)
        key += held * present_hash[j] + lacked * absent_hash[j]
    return key


def strongest(found: list[Patterns]) -> Iterator[npt.NDArray[np.bool_]]:
    """For the patterns of each set, which to keep: those that go further on no set, each where it is met first."""
    if not found:
        return
    keys = np.concatenate([part.key for part in found])
    further = np.concatenate([part.further for part in found])
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    beaten = np.zeros(len(first), np.bool_)
    np.logical_or.at(beaten, same, further)
    keep = np.zeros(len(keys), np.bool_)
    keep[first[~beaten]] = True
    yield from np.split(keep, np.cumsum([len(part.key) for part in found])[:-1])
