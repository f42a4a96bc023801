"""Small groups among itemsets with bounded supports.

The people with all of I and none of D are those with I and none of D but its last item, minus those who have that item, too. So patterns
with one more absent item follow from two with one less; both are looked up by number, and no sum is computed twice. A pattern is not
extended once it is proved to be small or empty: every longer one would say less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.model.arrays import Flags, Ints
from tacit.model.policy import Limits
from tacit.rules.bounds import CODE, RuleTable

#: Most patterns of one length; above, longer ones are left open.
MOST_PATTERNS = 6_000_000
#: Patterns on longer sets are left open: the bits of a key.
MOST_ITEMS = 31
_SHIFT = 32


@dataclass(frozen=True, eq=False)
class Level:
    """Patterns with equally many absent items, and their bounds.

    Sorted by ``key``: the set's number and the bits of its absent items.
    """

    key: Ints
    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.key)

    def find(self, keys: Ints) -> Ints:
        """Return the places of patterns, or -1."""
        if len(self.key) == 0:
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, at, -1)

    def take(self, index: Ints | Flags) -> Level:
        """Return the patterns at these places."""
        return Level(self.key[index], self.lo[index], self.hi[index])


@dataclass(frozen=True, eq=False)
class SmallPatterns:
    """Proved patterns of 1 to k-1 people.

    ``impossible`` is a set with a negative group, or -1.
    """

    place: Ints
    absent: Ints
    lo: Ints
    hi: Ints
    left_open: int = 0
    stopped: bool = False
    impossible: int = -1


class PatternSearch:
    """Search for small patterns over a table."""

    def __init__(self, table: RuleTable, k: int, may_lack: Flags, limits: Limits) -> None:
        self.table = table
        self.k = k
        self.limits = limits
        self.sets = table.named.sets
        self.less_one = table.named.less_one
        self.lengths = self.sets.lengths
        self.may_lack = may_lack
        self.exact = bool((table.lo == table.hi).all())
        self.short = self.lengths <= MOST_ITEMS
        self.impossible = -1
        #: Patterns that were not extended by every item, because there were too many.
        self.cut = 0

    def run(self, also_small: Flags) -> SmallPatterns:
        """Find all shortest small patterns; plain sets in ``also_small``."""
        parts: list[Level] = []
        left_open = int((~self.short).sum())
        stopped = False
        level = self._plain_sets(also_small)
        try:
            small = self._is_small(level)
            parts.append(self._keep_shortest(level.take(small), None))
            level = self._build_first_level()
            before = self._plain_sets(np.ones(len(self.sets), np.bool_))
            while len(level) and self.impossible < 0:
                self.limits.check(CODE)
                small = self._is_small(level)
                parts.append(self._keep_shortest(level.take(small), before.take(self._is_small(before))))
                if self.cut or len(level) > MOST_PATTERNS:
                    left_open += self.cut + len(level)
                    break
                before = level
                level = self._extend(level)
            if not len(level):
                left_open += self.cut
        except LimitReached:
            stopped = True
        found = Level(*(np.concatenate([getattr(part, name) for part in [_EMPTY, *parts]]) for name in ("key", "lo", "hi")))
        bits = found.key & ((1 << _SHIFT) - 1)
        return SmallPatterns(
            found.key >> _SHIFT, bits, found.lo, found.hi, left_open=left_open, stopped=stopped, impossible=self.impossible
        )

    def _is_small(self, level: Level) -> Flags:
        return (level.lo > 0) & (level.hi < self.k)

    def _plain_sets(self, chosen: Flags) -> Level:
        places = np.flatnonzero(self.short & chosen)
        return Level(places << _SHIFT, self.table.lo[places], self.table.hi[places])

    def _build_first_level(self) -> Level:
        sets = self.sets
        table = self.table
        owners = sets.owners()
        position = np.arange(len(sets.members)) - sets.offsets[owners]
        usable = np.flatnonzero((self.less_one >= 0) & self.may_lack[sets.members] & self.short[owners])
        owner = owners[usable]
        smaller = self.less_one[usable]
        key = (owner << _SHIFT) | (np.int64(1) << position[usable])
        level = Level(key, table.lo[smaller] - table.hi[owner], table.hi[smaller] - table.lo[owner])
        order = np.argsort(key)
        level = self._tighten_by_rules(level.take(order))
        self._record_impossible(level)
        return level.take(level.hi > 0)

    def _tighten_by_rules(self, level: Level) -> Level:
        named = self.table.named
        release = self.table.release
        single = np.flatnonzero((release.consequents.lengths == 1) & self.short[named.both])
        lo, hi = self.table.lacking(single)
        item = release.consequents.members[release.consequents.offsets[single]]
        both = named.both[single]
        at = level.find((both << _SHIFT) | self._find_bits(both, item))
        known = at >= 0
        np.maximum.at(level.lo, at[known], lo[known])
        np.minimum.at(level.hi, at[known], hi[known])
        return level

    def _find_bits(self, places: Ints, items: npt.NDArray[np.integer]) -> Ints:
        starts = self.sets.offsets[places]
        bits = np.zeros(len(places), np.int64)
        for position in range(int(self.lengths[places].max(initial=0))):
            inside = position < self.lengths[places]
            here = self.sets.members[np.where(inside, starts + position, 0)] == items
            bits |= np.where(inside & here, np.int64(1) << position, 0)
        return bits

    def _extend(self, level: Level) -> Level:
        place = level.key >> _SHIFT
        absent = level.key & ((1 << _SHIFT) - 1)
        keys = []
        lows = []
        highs = []
        budget = 4 * MOST_PATTERNS
        for position in range(1, int(self.lengths[place].max(initial=0))):
            self.limits.check(CODE)
            rows = np.flatnonzero((absent < (1 << position)) & (position < self.lengths[place]))
            member = self.sets.offsets[place[rows]] + position
            fits = (self.less_one[member] >= 0) & self.may_lack[self.sets.members[member]]
            rows = rows[fits]
            member = member[fits]
            # The absent items come before the new one, so their bits are the same in the set without it.
            wider = level.find((self.less_one[member] << _SHIFT) | absent[rows])
            good = (wider >= 0) & ~self._is_small(level)[wider]
            rows = rows[good]
            wider = wider[good]
            keys.append((place[rows] << _SHIFT) | absent[rows] | (np.int64(1) << position))
            lows.append(level.lo[wider] - level.hi[rows])
            highs.append(level.hi[wider] - level.lo[rows])
            budget -= len(rows)
            if budget < 0:
                self.cut = int((self.lengths[place] > position).sum())
                break
        if not keys:
            return _EMPTY
        found = Level(np.concatenate(keys), np.concatenate(lows), np.concatenate(highs))
        found = found.take(np.argsort(found.key))
        if not self.exact:
            found = self._tighten_by_order(found, level)
        self._record_impossible(found)
        return found.take(found.hi > 0)

    def _tighten_by_order(self, found: Level, level: Level) -> Level:
        place = found.key >> _SHIFT
        absent = found.key & ((1 << _SHIFT) - 1)
        lo = found.lo.copy()
        hi = found.hi.copy()
        for position in range(int(self.lengths[place].max(initial=0))):
            rows = np.flatnonzero((absent >> position) & 1)
            rest = absent[rows] ^ (np.int64(1) << position)
            smaller = self.less_one[self.sets.offsets[place[rows]] + position]
            wider = level.find((smaller << _SHIFT) | _drop_bit(rest, position))
            narrower = level.find((place[rows] << _SHIFT) | rest)
            both = (wider >= 0) & (narrower >= 0)
            rows = rows[both]
            wider = wider[both]
            narrower = narrower[both]
            lo[rows] = np.maximum(lo[rows], level.lo[wider] - level.hi[narrower])
            hi[rows] = np.minimum(hi[rows], level.hi[wider] - level.lo[narrower])
        return Level(found.key, lo, hi)

    def _keep_shortest(self, small: Level, fewer_absent: Level | None) -> Level:
        place = small.key >> _SHIFT
        absent = small.key & ((1 << _SHIFT) - 1)
        covered = np.zeros(len(small), np.bool_)
        for position in range(int(self.lengths[place].max(initial=0))):
            rows = np.flatnonzero(position < self.lengths[place])
            smaller = self.less_one[self.sets.offsets[place[rows]] + position]
            lacks = ((absent[rows] >> position) & 1).astype(np.bool_)
            key = (smaller << _SHIFT) | _drop_bit(absent[rows] & ~(np.int64(1) << position), position)
            known = smaller >= 0
            covered[rows] |= known & ~lacks & (small.find(key) >= 0)
            if fewer_absent is not None:
                covered[rows] |= known & lacks & (fewer_absent.find(key) >= 0)
        return small.take(~covered)

    def _record_impossible(self, level: Level) -> None:
        wrong = np.flatnonzero((level.hi < 0) | (level.lo > level.hi))
        if len(wrong) and self.impossible < 0:
            self.impossible = int(level.key[wrong[0]] >> _SHIFT)


def _drop_bit(bits: Ints, position: int) -> Ints:
    """Remove one bit, and shift those above it down.

    >>> _drop_bit(np.array([0b1101]), 1).tolist()
    [7]
    """
    below = (np.int64(1) << position) - 1
    return (bits & below) | ((bits >> (position + 1)) << position)


_EMPTY = Level(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
