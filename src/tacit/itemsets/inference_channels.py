"""I01 inference-channels: groups of fewer than k people, by adding and subtracting published supports.

Infers
    For itemsets I inside J, the number of people who have all of I and nothing else of J is a signed sum of the supports between I and J.
    If the sum is between 1 and k-1, the release reveals a small group although every published count is large. Only maximal channels are
    listed: a channel on a smaller J is a union of channels on a larger one, so it says less.
Assumes
    The published counts, and that the number of people n is known (groups with none of the items need it). A complete list of closed itemsets
    gives the supports of all frequent itemsets.
Claim
    Proves.
Cost
    With the data: one hierarchical projection over all maximal itemsets. Without: ``2**|J|`` per maximal itemset J, refused above 22 items.
Example
    50 people have a, 49 have a and b: exactly 1 person has a and not b.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, sections 3 and 4; PMICD, WAIM 2008, definition 10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.itemsets.clash import refuse_clash
from tacit.itemsets.detectors import detect
from tacit.itemsets.supports import MOST_ITEMS, Cubes, Supports, find_small_groups, refuse_gaps
from tacit.itemsets.words import event_of, write_out
from tacit.kernels.projection import Keys, Layout
from tacit.kernels.rows import every_pattern
from tacit.model.arrays import Flags, Ints, Words
from tacit.model.audit import AttackRun, Columns, Status, Target
from tacit.model.errors import LimitReached
from tacit.model.finding import Finding
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets, Sets

CODE = "I01"
NAME = "inference-channels"
WITHOUT_N = "the number of people is not known, so groups with none of the items are not decided"
SEVERITY_BITS = 16  #: Bits of a severity below the size.
KEPT = 10_000  #: Worst channels kept in memory if all go to a file.
MOST_PATTERN_ITEMS = 13  #: Longest sets of which every pattern is examined: 3**13 patterns take about 100 MB and half a second.
#: Most patterns of one step: more would take hundreds of megabytes.
MOST_NARROW = 1 << 21
_ABSENT = np.uint64(0xD6E8FEB86659FD93)  # odd, so that the hash of "without x" is another number than that of "with x"
_SHIFT = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)


@dataclass(frozen=True, eq=False)
class Channels:
    """Channels as columns: published set, its present items (bits), bounds.

    The other items of the set are absent, except those of ``free`` (bits), which are left open; None if there are none.
    """

    line: Ints
    present: Words
    lo: Ints
    hi: Ints
    free: Words | None = None

    @classmethod
    def concatenate(cls, parts: list[Channels]) -> Channels:
        """Concatenate channels."""
        if not parts:
            nothing = np.empty(0, np.int64)
            return cls(nothing, np.empty((0, 1), np.uint64), nothing, nothing)
        words = max(part.present.shape[1] for part in parts)
        free = [part.free for part in parts if part.free is not None]
        return cls(
            np.concatenate([part.line for part in parts]),
            np.concatenate([np.pad(part.present, ((0, 0), (0, words - part.present.shape[1]))) for part in parts]),
            np.concatenate([part.lo for part in parts]),
            np.concatenate([part.hi for part in parts]),
            free=np.concatenate(free) if free else None,
        )

    def __len__(self) -> int:
        return len(self.line)

    def take(self, index: Ints) -> Channels:
        """Return the channels at these positions."""
        free = None if self.free is None else self.free[index]
        return Channels(self.line[index], self.present[index], self.lo[index], self.hi[index], free=free)

    def lengths(self, of_sets: Ints) -> Ints:
        """Return the number of items of each channel."""
        whole = of_sets[self.line]  # line -1 is the empty set
        return whole if self.free is None else whole - np.bitwise_count(self.free)


def lengths_of(release: Itemsets) -> Ints:
    """Return the lengths of all published sets and the empty set."""
    return np.append(release.sets.lengths, 0)


def worst_first(channels: Channels, of_sets: Ints) -> Channels:
    """Sort by size, then length, then the order of the file."""
    keys = [channels.present[:, word] for word in range(channels.present.shape[1])]
    return channels.take(np.lexsort((*keys, channels.line, channels.lengths(of_sets), channels.hi)))


@dataclass(frozen=True)
class Packing:
    """Layout of a packed channel: bits of each field."""

    size: int
    length: int
    line: int
    present: int

    @classmethod
    def of(cls, release: Itemsets, k: int) -> Packing | None:
        """Return the packing for a release; None beyond 64 bits."""
        longest = int(release.sets.lengths.max(initial=0))
        made = cls((k - 1).bit_length(), longest.bit_length(), len(release).bit_length(), longest)
        left = 64 - made.size - made.line - made.present
        if left < made.length:
            return None
        return replace(made, length=SEVERITY_BITS) if left >= SEVERITY_BITS else made

    def lay_out(self, lines: Ints, of_sets: Ints) -> Layout:
        """Return the layout of keys of groups on these lines."""
        prefixes = np.zeros(len(of_sets), np.uint64)
        within = (of_sets[lines] << self.line) | (lines + 1)
        prefixes[lines] = within.astype(np.uint64) << np.uint64(self.present)
        return Layout(prefixes, self.present + self.line + self.length)

    def severity(self, keys: Words) -> Ints:
        """Return the severity of packed channels: the size, then the length."""
        ranks = keys >> np.uint64(self.present + self.line)
        if self.length == SEVERITY_BITS:
            return ranks.view(np.int64)
        lengths = ranks & np.uint64((1 << self.length) - 1)
        return ((ranks >> np.uint64(self.length)) << np.uint64(SEVERITY_BITS) | lengths).view(np.int64)

    def pack(self, channels: Channels, of_sets: Ints) -> Words:
        """Pack channels into numbers."""
        key = channels.hi.astype(np.uint64)
        for value, bits in ((channels.lengths(of_sets), self.length), (channels.line + 1, self.line)):
            key = (key << np.uint64(bits)) | value.astype(np.uint64)
        return (key << np.uint64(self.present)) | channels.present[:, 0]

    def unpack(self, keys: Words) -> Channels:
        """Unpack channels from numbers."""
        line_at = self.present
        size_at = self.present + self.line + self.length
        line = ((keys >> np.uint64(line_at)) & np.uint64((1 << self.line) - 1)).astype(np.int64) - 1
        size = (keys >> np.uint64(size_at)).astype(np.int64) if size_at < 64 else np.zeros(len(keys), np.int64)
        return Channels(line, (keys & np.uint64((1 << self.present) - 1))[:, None], size, size)


@dataclass(frozen=True, eq=False)
class PackedChannels(Mapping[str, npt.NDArray[Any]]):
    """Channels as the columns of a run, unpacked when they are asked for."""

    packed: Words
    packing: Packing

    @cached_property
    def unpacked(self) -> Channels:
        """The channels as columns."""
        return self.packing.unpack(self.packed)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return columns_of(self.unpacked)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(columns_of(Channels.concatenate([])))

    def __len__(self) -> int:
        return len(columns_of(Channels.concatenate([])))

    @property
    def sizes(self) -> dict[int, int]:
        """Number of channels by size."""
        shift = self.packing.present + self.packing.line + self.packing.length
        largest = int(self.packed[-1] >> np.uint64(shift)) if len(self.packed) else 0
        firsts = np.arange(1, largest + 1, dtype=np.uint64) << np.uint64(shift)
        numbers = np.diff(np.searchsorted(self.packed, firsts), append=len(self.packed))
        return {size: number for size, number in enumerate(numbers.tolist(), start=1) if number}

    def take(self, index: Ints) -> Channels:
        """Return the channels at these positions."""
        return self.packing.unpack(self.packed[index])


def columns_of(channels: Channels) -> dict[str, npt.NDArray[Any]]:
    """Return channels as the columns of a run."""
    present = channels.present[:, 0] if channels.present.shape[1] == 1 else channels.present
    columns = {"itemset": channels.line, "present": present, "count": channels.lo, "count_hi": channels.hi}
    return columns if channels.free is None else {**columns, "free": channels.free}


@dataclass(eq=False)
class Gatherer:
    """Collector of channels.

    With ``hand_on``, every piece is passed on and only the worst are kept; ``sizes`` counts the channels of each size. At least ``people`` are
    concerned. All channels of a published set come in one piece.
    """

    release: Itemsets
    k: int
    exact: bool
    hand_on: Callable[[Channels], None] | None = None
    people: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    is_empty: bool = True
    _parts: list[Channels] = field(default_factory=list)
    _keys: list[Words] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.packing = Packing.of(self.release, self.k) if self.exact else None
        self.lengths = lengths_of(self.release)

    def add_keys(self, found: Keys) -> None:
        """Add a piece of packed channels."""
        assert self.packing is not None
        if len(found.keys) == 0:
            return
        if self.hand_on is not None:
            self.add(self.packing.unpack(found.keys))
            return
        self.is_empty = False
        self.people = max(self.people, int(found.people.max()))
        self._keys.append(found.keys)

    def add(self, channels: Channels) -> None:
        """Add a piece."""
        if len(channels) == 0:
            return
        self.is_empty = False
        if self.hand_on is not None:
            for size, number in zip(*(values.tolist() for values in np.unique(channels.hi, return_counts=True)), strict=True):
                self.sizes[size] += number
        if channels.free is not None:
            people = int(channels.lo.max())
        else:  # the groups of one itemset do not overlap, so they add up
            people = int(np.bincount(channels.line - int(channels.line.min()), weights=channels.lo).max())
        self.people = max(self.people, people)
        if self.hand_on is not None:
            self.hand_on(channels)
        if self.packing is None:
            self._parts.append(channels)
        else:
            self._keys.append(self.packing.pack(channels, self.lengths))
        if self.hand_on is not None and sum(map(len, self._parts)) + sum(map(len, self._keys)) > 8 * KEPT:
            if self.packing is None:
                self._parts = [worst_first(Channels.concatenate(self._parts), self.lengths).take(np.arange(KEPT))]
            else:
                self._keys = [np.partition(np.concatenate(self._keys), KEPT)[:KEPT]]

    def worst_first(self) -> Channels | PackedChannels:
        """Return the kept channels in order."""
        if self.packing is None:
            return worst_first(Channels.concatenate(self._parts), self.lengths)
        keys = np.concatenate(self._keys) if self._keys else np.empty(0, np.uint64)
        self._keys.clear()
        keys.sort()
        return PackedChannels(keys, self.packing)


@dataclass(frozen=True, eq=False)
class Patterns:
    """Small patterns on published sets as columns.

    ``line`` is the number of the set; ``present`` and ``free`` are bits of its present and of its open items, ``lo`` and ``hi`` bounds on the
    people. ``further`` marks patterns of which one with one item more is proved as well; ``key`` is equal for equal patterns on other sets;
    ``impossible`` are sets on which some pattern would hold for fewer than 0 people.
    """

    line: Ints
    present: Words
    free: Words
    key: Words
    lo: Ints
    hi: Ints
    further: Flags
    impossible: Ints

    @classmethod
    def concatenate(cls, parts: list[Patterns]) -> Patterns:
        """Concatenate patterns, in the order of the sets."""
        joined = {one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)}
        order = np.argsort(joined["line"], kind="stable")
        return cls(**{name: column if name == "impossible" else column[order] for name, column in joined.items()})

    def __len__(self) -> int:
        return len(self.line)


def _name_patterns(items: Sets, owner: Ints, present: Words, absent: Words) -> tuple[Words, Words]:
    """Return the open items of patterns, and keys that identify equal patterns."""
    size = int(items.lengths[0])
    held_hash = items.member_hashes().reshape(-1, size)[owner]
    lacked_hash = held_hash * _ABSENT
    bits = np.arange(size, dtype=np.uint64)
    held = (present[:, None] >> bits) & np.uint64(1)
    lacked = (absent[:, None] >> bits) & np.uint64(1)
    key = (held * held_hash + lacked * lacked_hash).sum(axis=1, dtype=np.uint64)
    return np.uint64((1 << size) - 1) & ~(present | absent), key


@cache
def _digits(size: int) -> tuple[Words, Words]:
    """Return the bits of present and of absent items of all ``3**size`` patterns."""
    present = np.zeros(1, np.uint64)
    absent = np.zeros(1, np.uint64)
    for place in range(size):
        bit = np.uint64(1 << place)
        present = np.concatenate((present, present | bit, present))
        absent = np.concatenate((absent, absent, absent | bit))
    return present, absent


def patterns_on(supports: Supports, cubes: Cubes, k: int) -> Patterns:
    """Return the patterns over published sets of the same length that are proved to be small."""
    items = supports.release.sets.take(cubes.sets)
    size = int(items.lengths[0])
    lo, hi, known = every_pattern(cubes.lo, cubes.hi, cubes.known, cubes.number)
    small = (lo > 0) & (hi < k)
    small &= known
    further = np.zeros(small.size, np.bool_)
    for j in range(size):
        digits = small.reshape(-1, 3, 3**j)
        beyond = further.reshape(-1, 3, 3**j)
        beyond[:, 0] |= digits[:, 1]
        beyond[:, 0] |= digits[:, 2]
    chosen = np.flatnonzero(small)
    owner, pattern = np.divmod(chosen, 3**size)
    present, absent = (bits[pattern] for bits in _digits(size))
    free, key = _name_patterns(items, owner, present, absent)
    negative = hi < 0
    negative &= known
    return Patterns(
        line=cubes.sets[owner],
        present=present,
        free=free,
        key=key,
        lo=lo[chosen],
        hi=hi[chosen],
        further=further[chosen],
        impossible=cubes.sets[negative.reshape(cubes.number, -1).any(axis=1)],
    )


def _keep_strongest(found: Patterns) -> Ints:
    """Return the places of the strongest patterns, each once."""
    _, first, same = np.unique(found.key, return_index=True, return_inverse=True)
    beaten = np.zeros(len(first), np.bool_)
    np.logical_or.at(beaten, same, found.further)
    return np.sort(first[~beaten])


class _Level(NamedTuple):
    """Patterns sorted by key: bits of absent items above the present ones."""

    key: Words
    lo: Ints
    hi: Ints

    def take(self, index: Ints | Flags) -> _Level:
        return _Level(self.key[index], self.lo[index], self.hi[index])

    @classmethod
    def concatenate(cls, parts: list[_Level]) -> _Level:
        empty = cls(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
        whole = cls(*(np.concatenate([part[i] for part in [empty, *parts]]) for i in range(3)))
        return whole.take(np.argsort(whole.key))


def narrow_patterns_on(supports: Supports, line: int, k: int, pause: Callable[[], None]) -> Patterns | None:
    """Return the same patterns of a long set; None if too many."""
    items = supports.release.sets[line].astype(np.int64)
    cube = supports.cube(items)
    narrow = np.flatnonzero(cube.known & (cube.hi - cube.lo <= k - 2))
    level = _Level(narrow.astype(np.uint64), cube.lo[narrow], cube.hi[narrow])
    small: list[_Level] = []
    impossible = False
    while len(level.key):
        small.append(level.take((level.lo > 0) & (level.hi < k)))
        impossible = impossible or bool((level.hi < 0).any())
        parts: list[_Level] = []
        for part in _extend_level(level, len(items), k):
            pause()
            parts.append(part)
            if sum(len(one.key) for one in parts) > MOST_NARROW:
                return None
        level = _Level.concatenate(parts)
    found = _Level.concatenate(small)
    further = np.zeros(len(found.key), np.bool_)
    for shift in range(64):
        bit = np.uint64(1 << shift)
        having = found.key[(found.key & bit) != 0]
        place, is_there = _find_keys(found.key, having ^ bit)
        further[place[is_there]] = True
    present = found.key & _LOW
    absent = found.key >> _SHIFT
    of_set = np.zeros(len(present), np.int64)
    free, key = _name_patterns(Sets(np.array([0, len(items)]), items), of_set, present, absent)
    return Patterns(
        line=of_set + line,
        present=present,
        free=free,
        key=key,
        lo=found.lo,
        hi=found.hi,
        further=further,
        impossible=np.full(int(impossible), line),
    )


def _extend_level(level: _Level, size: int, k: int) -> Iterator[_Level]:
    for item in range(size):
        bit = np.uint64(1 << item)
        # Absent items are added in ascending order, so that each pattern is built once.
        open_here = np.flatnonzero(((level.key & bit) == 0) & (level.key >> _SHIFT < bit))
        partner, found = _find_keys(level.key, level.key[open_here] | bit)
        left = open_here[found]
        right = partner[found]
        lo = level.lo[left] - level.hi[right]
        hi = level.hi[left] - level.lo[right]
        yield _Level(level.key[left] | bit << _SHIFT, lo, hi).take(hi - lo <= k - 2)


def _find_keys(keys: Words, wanted: Words) -> tuple[Ints, Flags]:
    if len(keys) == 0:
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


Take = Callable[[Channels | Keys], None]


def run(target: Target) -> AttackRun:
    """Find all maximal channels of a release of itemsets."""
    release = target.release_as(Itemsets)
    supports = Supports(release)
    stream = target.stream

    def write(found: Channels) -> None:
        assert stream is not None
        stream.add_patterns(CODE, release, line=found.line, present=found.present, free=found.free, bounds=(found.lo, found.hi))

    def take(found: Channels | Keys) -> None:
        if isinstance(found, Keys):
            gatherer.add_keys(found)
        else:
            gatherer.add(found)
        if target.first_hit and not gatherer.is_empty:
            raise _FirstHit

    exact = release.is_exact and not supports.has_gaps
    gatherer = Gatherer(release, target.policy.k, exact, None if stream is None else write)
    status: Status = "ran"
    measures: dict[str, int] = {}
    undecided = 0
    reason = ""
    try:
        if target.algorithm == "projection":
            undecided, reason = _search(target, supports, take, gatherer.packing)
        else:
            result = detect(target, supports, lambda found: take(Channels(*found)))
            measures = result.measures
            reason = result.reason
    except LimitReached:
        status = "stopped"
        reason = "the time limit was reached; findings so far are kept"
    except _FirstHit:
        status = "stopped"
        reason = "stopped at the first finding, as asked"
    channels = gatherer.worst_first()

    def place(index: int) -> tuple[int, Words, int]:
        one = channels.take(np.array([index]))
        return int(one.line[0]), one.present[0], 0 if one.free is None else int(one.free[0])

    def show(index: int) -> Finding:
        one = channels.take(np.array([index]))
        return write_out(CODE, supports, target.index, *place(index), Bound(int(one.lo[0]), int(one.hi[0])))

    by_size: dict[int, int] | None = None
    if isinstance(channels, PackedChannels):
        columns: Columns = channels
        severity = channels.packing.severity(channels.packed)
        by_size = channels.sizes
    else:
        columns = columns_of(channels)
        severity = (channels.hi << SEVERITY_BITS) | np.minimum(channels.lengths(gatherer.lengths), 0xFFFF)
    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason=reason,
        people=gatherer.people,
        undecided=undecided,
        measures=measures,
        columns=columns,
        severity=severity,
        event=lambda index: event_of(release, *place(index)),
        show=show,
        streamed=gatherer.sizes if target.stream is not None else None,
        by_size=by_size,
    )


def can_narrow(target: Target) -> bool:
    """Return True if the channels for a smaller k are among those for a larger one.

    Patterns of rounded supports are not: of those that are proved, only the strongest are findings.
    """
    release = target.release_as(Itemsets)
    if target.algorithm != "projection" or not release.is_exact or release.only == "maximal":
        return False
    return not Supports(release).has_gaps


def narrow(run: AttackRun, k: int) -> AttackRun:
    """Return the run as it would be with a smaller k."""
    found = run.only(np.flatnonzero(run.columns["count_hi"] < k))
    line = found.columns["itemset"]
    of_sets = np.bincount(line - line.min(initial=0), weights=found.columns["count"], minlength=1)
    return replace(found, people=int(of_sets.max()))


class _FirstHit(Exception):
    """One finding was enough."""


def _search(target: Target, supports: Supports, take: Take, packing: Packing | None) -> tuple[int, str]:
    """Search channels; return the number left open, and why."""
    release = supports.release
    k = target.policy.k
    if len(release) == 0:
        n = release.n or 0
        everyone = np.full(1 if 0 < n < k else 0, n, np.int64)
        take(Channels(np.full(len(everyone), -1), np.zeros((len(everyone), 1), np.uint64), everyone, everyone))
        return (1, WITHOUT_N) if release.n is None else (0, "")
    if release.only == "maximal":
        take(Channels.concatenate(list(_channels_of_maximal(release, k))))
        alone = int((release.sets.lengths == 1).sum()) if release.n is None else 0
        return alone, WITHOUT_N if alone else "maximal itemsets alone do not give the supports of their subsets"
    if target.data is not None and release.is_exact and release.n is not None and not supports.has_gaps:
        layout = None if packing is None else packing.lay_out(supports.maximal, lengths_of(release))
        for found in find_small_groups(target, supports, layout):
            take(found if isinstance(found, Keys) else Channels(*found))
        return 0, ""
    if release.is_exact and not supports.has_gaps:
        return _channels_in_release(target, supports, take)
    return _channels_in_intervals(target, supports, take)


def _channels_of_maximal(release: Itemsets, k: int) -> Iterator[Channels]:
    small = np.flatnonzero((release.lo > 0) & (release.hi < k))
    words = max(1, -(-int(release.sets.lengths.max(initial=1)) // 64))
    present = np.zeros((len(small), words), np.uint64)
    for row, line in enumerate(small):
        for bit in range(int(release.sets.lengths[line])):
            present[row, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    yield Channels(small, present, release.lo[small], release.hi[small])
    if release.n is not None:
        lo = release.n - release.hi
        hi = release.n - release.lo
        rest = np.flatnonzero((release.sets.lengths == 1) & (lo > 0) & (hi < k))
        yield Channels(rest, np.zeros((len(rest), words), np.uint64), lo[rest], hi[rest])


def _channels_in_release(target: Target, supports: Supports, take: Take) -> tuple[int, str]:
    release = supports.release
    k = target.policy.k
    done = 0
    for cubes in supports.cubes(MOST_ITEMS, lambda length: 1 << length, one_by_one=target.first_hit):
        target.limits.check(CODE)
        usable, lo, hi = cubes.groups()
        if (usable & (hi < 0)).any():
            _refuse_first_clash(supports)
        small = np.flatnonzero(usable & (lo > 0) & (hi < k))
        owner, group = np.divmod(small, lo.size // cubes.number)
        take(Channels(cubes.sets[owner], group.astype(np.uint64)[:, None], lo[small], hi[small]))
        done += cubes.number
        target.progress(done / len(supports.maximal))
    too_long = int((release.sets.lengths[supports.maximal] > MOST_ITEMS).sum())
    return _explain_left_open(supports, too_long, MOST_ITEMS)


def _refuse_first_clash(supports: Supports) -> None:
    """Refuse at the first line with an impossible group, whatever the batches."""
    for line in supports.maximal.tolist():
        items = supports.release.sets[line].astype(np.int64)
        if len(items) <= MOST_ITEMS:
            usable, _, hi = supports.cube(items).groups()
            if (usable & (hi < 0)).any():
                refuse_clash(supports.release, line)


def _channels_in_intervals(target: Target, supports: Supports, take: Take) -> tuple[int, str]:
    refuse_gaps(supports)
    release = supports.release
    found: list[Patterns] = []
    too_long = 0
    try:
        for patterns in _patterns_of(target, supports):
            if patterns is None:
                too_long += 1
                continue
            found.append(patterns)
            if target.first_hit and len(patterns):
                break
    finally:
        if found:
            every = Patterns.concatenate(found)
            if len(every.impossible):
                refuse_clash(release, int(every.impossible.min()))
            chosen = _keep_strongest(every)
            present = every.present[chosen][:, None]
            take(Channels(every.line[chosen], present, every.lo[chosen], every.hi[chosen], free=every.free[chosen]))
    return _explain_left_open(supports, too_long, MOST_PATTERN_ITEMS)


def _patterns_of(target: Target, supports: Supports) -> Iterator[Patterns | None]:
    """Yield the small patterns on all maximal sets; None if too long."""
    k = target.policy.k
    maximal = supports.maximal
    done = 0

    def pause() -> None:
        target.limits.check(CODE)

    for cubes in supports.cubes(MOST_PATTERN_ITEMS, lambda length: 3**length, one_by_one=target.first_hit):
        pause()
        yield patterns_on(supports, cubes, k)
        done += cubes.number
        target.progress(done / len(maximal))
    lengths = supports.release.sets.lengths
    for line in maximal[lengths[maximal] > MOST_PATTERN_ITEMS].tolist():
        pause()
        yield narrow_patterns_on(supports, line, k, pause) if lengths[line] <= MOST_ITEMS else None
        done += 1
        target.progress(done / len(maximal))


def _explain_left_open(supports: Supports, too_long: int, most: int) -> tuple[int, str]:
    reasons = []
    if too_long:
        reasons.append(f"{too_long} itemsets of more than {most} items are too long to decide without the data")
    if supports.release.n is None:
        reasons.append(WITHOUT_N)
    return len(supports.maximal) if supports.release.n is None else too_long, "; ".join(reasons)
