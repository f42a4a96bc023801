"""Pairs of sets, one inside the other, whose counts cannot both be true: a set never has more people than a part of it."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.model.release import Counts
from tacit.model.sets import Sets

#: Bytes that the comparison of all pairs may touch: about half a second.
PAIRS_BUDGET = 1 << 29
#: Look-ups of subsets that lack two items, for releases with gaps: a few seconds.
TWO_LESS_BUDGET = 20_000_000
_CHUNK = 1 << 20

Hashes = npt.NDArray[np.uint64]


class Clash(NamedTuple):
    """Positions of two sets: ``larger`` holds ``smaller`` (or equals it) and yet counts more people."""

    larger: int
    smaller: int


def any_clash(sets: Sets, lo: Counts, hi: Counts) -> Clash | None:
    """A pair of clashing sets, or None. Sets are compared pair by pair where that is cheap, else through their subsets."""
    if not len(sets) or int(lo.max()) <= int(hi.min()):
        return None
    if len(sets.members) * len(sets) // 8 <= PAIRS_BUDGET:
        return clash_of_pairs(sets, lo, hi)
    return clash_of_subsets(sets, lo, hi)


def clash_of_pairs(sets: Sets, lo: Counts, hi: Counts, *, strict: bool = False) -> Clash | None:
    """Every pair is compared. Sets stand in bits by falling ``lo``, so that only those with a larger count are looked at.

    With ``strict`` a set clashes with a part of it also when it has as many people.
    """
    order = np.argsort(-lo, kind="stable")
    position = np.empty(len(sets), np.int64)
    position[order] = np.arange(len(sets))
    _, members = np.unique(sets.members, return_inverse=True)
    holders = np.zeros((int(members.max()) + 1 if len(members) else 0, len(sets) // 8 + 1), np.uint8)
    owners = position[sets.owners()]
    np.bitwise_or.at(holders, (members, owners >> 3), np.left_shift(np.uint8(1), (owners & 7).astype(np.uint8)))
    # How many sets count more people than a set can have.
    above = np.searchsorted(-lo[order], -hi, side="right" if strict else "left")
    for smaller in np.flatnonzero(above):
        count = int(above[smaller])
        rows = holders[members[sets.offsets[smaller] : sets.offsets[smaller + 1]], : (count + 7) // 8]
        found = np.bitwise_and.reduce(rows, axis=0) if len(rows) else np.full((count + 7) // 8, 255, np.uint8)
        if count % 8:
            found[-1] &= (1 << (count % 8)) - 1
        own = int(position[smaller])
        if own < count:
            found[own >> 3] &= ~np.uint8(1 << (own & 7))  # a set holds itself
        hits = np.flatnonzero(found)
        if len(hits):
            bit = int(found[hits[0]])
            return Clash(int(order[hits[0] * 8 + (bit & -bit).bit_length() - 1]), int(smaller))
    return None


def clash_of_subsets(sets: Sets, lo: Counts, hi: Counts) -> Clash | None:
    """Counts are handed down, from each set to those that lack one of its items (two, where a gap is in the way).

    Complete when every subset of a published set is published; otherwise pairs that are further apart may be missed.
    """
    keys, first, group = np.unique(sets.hashes(), return_index=True, return_inverse=True)
    # Of several lines about one set, one has the largest lo and one the smallest hi.
    ends = np.cumsum(np.bincount(group))
    by = np.lexsort((lo, group))[ends - 1]
    lowest = np.lexsort((-hi, group))[ends - 1]
    most = lo[by]
    distinct = sets.take(first)
    lookups = _Lookups(distinct, keys, TWO_LESS_BUDGET)
    lengths = distinct.lengths
    for length in range(int(lengths.max()), 0, -1):
        level = np.flatnonzero(lengths == length)
        step = max(1, _CHUNK // length)
        for start in range(0, len(level), step):
            _hand_down(most, by, *lookups.parts(level[start : start + step], length))
    # Equal hashes stand for equal sets so far: a clash is only reported after a comparison item by item.
    for position in np.flatnonzero(most > hi[lowest]):
        larger, smaller = int(by[position]), int(lowest[position])
        if set(sets[smaller].tolist()) <= set(sets[larger].tolist()):
            return Clash(larger, smaller)
    return None


def _hand_down(most: Counts, by: Counts, owners: Counts, parts: Counts) -> None:
    """Give each part the largest count of the sets that hold it, and the set that it comes from."""
    before = most[parts]
    np.maximum.at(most, parts, most[owners])
    source = (most[owners] == most[parts]) & (most[parts] > before)
    by[parts[source]] = by[owners[source]]


class _Lookups:
    """Positions of the sets that lack one or two items of others, found by their hashes, which are sums over items."""

    def __init__(self, sets: Sets, keys: Hashes, budget: int) -> None:
        self.sets, self.keys, self.budget = sets, keys, budget

    def find(self, wanted: Hashes) -> Counts:
        """The position of the set with each hash, or -1; the keys are sorted."""
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, at, -1)

    def parts(self, owners: Counts, length: int) -> tuple[Counts, Counts]:
        """Pairs (set, part of it) for sets of one length."""
        mixed = self.sets.take(owners).member_hashes().reshape(len(owners), length)
        one_less = self.keys[owners][:, None] - mixed
        found = self.find(one_less.ravel()).reshape(one_less.shape)
        pairs = [(np.broadcast_to(owners[:, None], found.shape)[found >= 0], found[found >= 0])]
        pairs += self._two_less(owners, one_less, mixed, found < 0)
        return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])

    def _two_less(
        self, owners: Counts, one_less: Hashes, mixed: Hashes, gaps: npt.NDArray[np.bool_]
    ) -> list[tuple[Counts, Counts]]:
        """Pairs (set, part of it that lacks two items) where neither part in between is published, within the budget."""
        pairs = []
        for first, second in combinations(range(mixed.shape[1]), 2):
            if self.budget <= 0 or not gaps.any():
                break
            # Through a published part that lacks one item the count has come down already.
            rows = np.flatnonzero(gaps[:, first] & gaps[:, second])
            self.budget -= len(rows) + 1
            found = self.find(one_less[rows, first] - mixed[rows, second])
            pairs.append((owners[rows][found >= 0], found[found >= 0]))
        return pairs
