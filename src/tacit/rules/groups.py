"""Small groups among itemsets whose supports are bounded: who has some items and lacks others, shortest descriptions first.

The people with all of I and none of D, whose items together are a set Z of the table, are those with I and none of D but its last item, less
those who have that item, too. So patterns with one more absent item follow from two with one less; both are looked up by number, no sum is
made twice. A pattern is not lengthened once it is proved to be small or to hold for nobody: every longer one would say less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.model.arrays import Flags, Ints
from tacit.model.policy import Limits
from tacit.rules.bounds import CODE, RuleTable

#: Patterns of one length that are kept at most; above, longer ones are left open.
MOST_PATTERNS = 6_000_000
#: Patterns on longer sets are left open: bits of a key.
MOST_ITEMS = 31
_SHIFT = 32


@dataclass(frozen=True, eq=False)
class Level:
    """Patterns with equally many absent items, sorted by ``key``: the set's number and the bits of its absent items. Bounds on their people."""

    key: Ints
    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.key)

    def find(self, keys: Ints) -> Ints:
        """The places of patterns, -1 where there is none."""
        if len(self.key) == 0:
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, at, -1)

    def take(self, index: Ints | Flags) -> Level:
        """The patterns at these places."""
        return Level(self.key[index], self.lo[index], self.hi[index])


@dataclass(frozen=True, eq=False)
class SmallPatterns:
    """Proved patterns of 1 to k-1 people, and what was left open. ``impossible`` is a set on which a group would be negative, or -1."""

    place: Ints
    absent: Ints
    lo: Ints
    hi: Ints
    left_open: int = 0
    stopped: bool = False
    impossible: int = -1


class PatternSearch:
    """The search for small patterns over a table."""

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
        #: How many patterns were not lengthened by every item, because there were too many.
        self.cut = 0

    def run(self, also_small: Flags) -> SmallPatterns:
        """All small patterns that no pattern with one condition less says already; of plain sets only ``also_small`` are looked at."""
        parts: list[Level] = []
        left_open = int((~self.short).sum())
        stopped = False
        level = self._plain(also_small)
        try:
            small = self._small(level)
            parts.append(self._shortest(level.take(small), None))
            level = self._one_absent()
            before = self._plain(np.ones(len(self.sets), np.bool_))
            while len(level) and self.impossible < 0:
                self.limits.check(CODE)
                small = self._small(level)
                parts.append(self._shortest(level.take(small), before.take(self._small(before))))
                if self.cut or len(level) > MOST_PATTERNS:
                    left_open += self.cut + len(level)
                    break
                before = level
                level = self._longer(level)
            if not len(level):
                left_open += self.cut
        except LimitReached:
            stopped = True
        found = Level(*(np.concatenate([getattr(part, name) for part in [_NOTHING, *parts]]) for name in ("key", "lo", "hi")))
        bits = found.key & ((1 << _SHIFT) - 1)
        return SmallPatterns(
            found.key >> _SHIFT, bits, found.lo, found.hi, left_open=left_open, stopped=stopped, impossible=self.impossible
        )

    def _small(self, level: Level) -> Flags:
        return (level.lo > 0) & (level.hi < self.k)

    def _plain(self, chosen: Flags) -> Level:
        """The sets themselves."""
        places = np.flatnonzero(self.short & chosen)
        return Level(places << _SHIFT, self.table.lo[places], self.table.hi[places])

    def _one_absent(self) -> Level:
        """Patterns with one absent item: a set less a larger one; where a rule says so itself, as its line says it."""
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
        level = self._with_rules(level.take(order))
        self._note_impossible(level)
        return level.take(level.hi > 0)

    def _with_rules(self, level: Level) -> Level:
        """The same with the bounds of single rules, whose two numbers move together."""
        named = self.table.named
        release = self.table.release
        single = np.flatnonzero((release.consequents.lengths == 1) & self.short[named.both])
        lo, hi = self.table.lacking(single)
        item = release.consequents.members[release.consequents.offsets[single]]
        both = named.both[single]
        at = level.find((both << _SHIFT) | self._bit(both, item))
        known = at >= 0
        np.maximum.at(level.lo, at[known], lo[known])
        np.minimum.at(level.hi, at[known], hi[known])
        return level

    def _bit(self, places: Ints, items: npt.NDArray[np.integer]) -> Ints:
        """The bit of an item among the members of a set."""
        starts = self.sets.offsets[places]
        bits = np.zeros(len(places), np.int64)
        for position in range(int(self.lengths[places].max(initial=0))):
            inside = position < self.lengths[places]
            here = self.sets.members[np.where(inside, starts + position, 0)] == items
            bits |= np.where(inside & here, np.int64(1) << position, 0)
        return bits

    def _longer(self, level: Level) -> Level:
        """Patterns with one absent item more, behind the last one."""
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
            # The absent items stand before the new one, so their bits are the same in the set without it.
            wider = level.find((self.less_one[member] << _SHIFT) | absent[rows])
            good = (wider >= 0) & ~self._small(level)[wider]
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
            return _NOTHING
        found = Level(np.concatenate(keys), np.concatenate(lows), np.concatenate(highs))
        found = found.take(np.argsort(found.key))
        if not self.exact:
            found = self._every_order(found, level)
        self._note_impossible(found)
        return found.take(found.hi > 0)

    def _every_order(self, found: Level, level: Level) -> Level:
        """The same with the tightest bounds over all absent items that could come last: where supports are rounded, they differ."""
        place = found.key >> _SHIFT
        absent = found.key & ((1 << _SHIFT) - 1)
        lo = found.lo.copy()
        hi = found.hi.copy()
        for position in range(int(self.lengths[place].max(initial=0))):
            rows = np.flatnonzero((absent >> position) & 1)
            rest = absent[rows] ^ (np.int64(1) << position)
            smaller = self.less_one[self.sets.offsets[place[rows]] + position]
            wider = level.find((smaller << _SHIFT) | _without(rest, position))
            narrower = level.find((place[rows] << _SHIFT) | rest)
            both = (wider >= 0) & (narrower >= 0)
            rows = rows[both]
            wider = wider[both]
            narrower = narrower[both]
            lo[rows] = np.maximum(lo[rows], level.lo[wider] - level.hi[narrower])
            hi[rows] = np.minimum(hi[rows], level.hi[wider] - level.lo[narrower])
        return Level(found.key, lo, hi)

    def _shortest(self, small: Level, fewer_absent: Level | None) -> Level:
        """Those of which no pattern with one item less is small as well."""
        place = small.key >> _SHIFT
        absent = small.key & ((1 << _SHIFT) - 1)
        covered = np.zeros(len(small), np.bool_)
        for position in range(int(self.lengths[place].max(initial=0))):
            rows = np.flatnonzero(position < self.lengths[place])
            smaller = self.less_one[self.sets.offsets[place[rows]] + position]
            lacks = ((absent[rows] >> position) & 1).astype(np.bool_)
            key = (smaller << _SHIFT) | _without(absent[rows] & ~(np.int64(1) << position), position)
            known = smaller >= 0
            covered[rows] |= known & ~lacks & (small.find(key) >= 0)
            if fewer_absent is not None:
                covered[rows] |= known & lacks & (fewer_absent.find(key) >= 0)
        return small.take(~covered)

    def _note_impossible(self, level: Level) -> None:
        """Remember a set on which some group would have fewer than 0 people."""
        wrong = np.flatnonzero((level.hi < 0) | (level.lo > level.hi))
        if len(wrong) and self.impossible < 0:
            self.impossible = int(level.key[wrong[0]] >> _SHIFT)


def _without(bits: Ints, position: int) -> Ints:
    """Bits with one position taken out, those behind it moved down.

    >>> _without(np.array([0b1101]), 1).tolist()
    [7]
    """
    below = (np.int64(1) << position) - 1
    return (bits & below) | ((bits >> (position + 1)) << position)


_NOTHING = Level(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
