"""Supports that a release of itemsets reveals, and channels inside maximal ones.

* In a complete list of *closed* itemsets every frequent itemset has the support of its closure, its most frequent published superset.
* In a list of *all* frequent itemsets a set is known if it is published. Lists of others may have gaps.
* *Maximal* itemsets say nothing exact about their subsets.

With the data, small groups are counted directly instead of by inclusion-exclusion over ``2**|M|`` published supports. The results agree if
the release is of this data, which :func:`refuse_other_data` verifies.

A channel on any frequent itemset J is a union of groups on a maximal itemset M that contains it: the people with exactly the items I of J are
those of all groups X on M with X and J in common exactly I (Theorem 18). Each group of a channel has fewer than k people, so it is a
maximal channel or empty. The maximal channels alone do not suffice: whether a group of k or more people belongs to the union as well
follows only from the supports. The closed itemsets inside M are enough: the people with X and nothing else of M are those with X, minus
the groups above X.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from tacit.kernels.projection import Comparison, Crowd, Keys, Layout, cut_chunks, groups_on, most_items, people_with
from tacit.kernels.rows import find_holders
from tacit.model.arrays import Codes, Flags, Ints, Words
from tacit.model.audit import AttackRun, Target
from tacit.model.errors import Contradiction, InputError, OptionError, numbered
from tacit.model.release import IntArray, Itemsets, Sets
from tacit.model.table import RemoteTransactions, Transactions

if TYPE_CHECKING:
    from tacit.model.estimates import Channel

#: Most items of a cube: 2**22 numbers take about 100 MB and a second.
MOST_ITEMS = 22
CHUNK = 1 << 17  #: Entries of cubes that are worked on at once: they fit into the cache of a processor.
MOST_KEPT = 1 << 22  #: Entries of cubes that a lattice keeps.
NOTHING = np.empty(0, np.int64)
_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
_LONGEST = 1 << 30  #: No set is longer.


@dataclass(frozen=True, eq=False)
class Cube:
    """Bounds on all subsets' supports.

    Entry ``m`` is about the fixed items and those of ``free`` whose bit is set in ``m``. ``line[m]`` is the number of the published set that
    gives the bounds; -1 stands for the number of people, -2 for an unknown support.
    """

    free: Ints
    lo: Ints
    hi: Ints
    line: Ints

    @property
    def known(self) -> Flags:
        """Supports that are known."""
        return self.line > -2

    def groups(self) -> tuple[Flags, Ints, Ints]:
        """Return which sums over supersets are known, and their bounds."""
        return Cubes(NOTHING, self.lo, self.hi, self.known, number=1).groups()


@dataclass(frozen=True, eq=False)
class Cubes:
    """Cubes of ``number`` published sets of one length: bounds, 0 if unknown."""

    sets: Ints
    lo: Ints
    hi: Ints
    known: Flags
    number: int

    def groups(self) -> tuple[Flags, Ints, Ints]:
        """Return which sums over supersets are known, and their bounds."""
        from tacit.kernels.rows import cells, superset_all

        usable = self.known.copy()
        superset_all(usable, self.number)
        lo = np.where(self.known, self.lo, 0)
        hi = np.where(self.known, self.hi, 0)
        cells(lo, hi, self.number)
        return usable, lo, hi


@dataclass(frozen=True, eq=False)
class Lattice:
    """Order of published sets by inclusion, which does not depend on their counts.

    It is kept as long as the sets are, so that an audit of other counts about the same sets begins with it. ``by_closure``: the support of a
    set is that of its closure.
    """

    offsets: Ints
    members: IntArray
    n_items: int
    by_closure: bool
    _lines: dict[int, Ints] = field(default_factory=dict)
    _inside: dict[bytes, tuple[Ints, Sets]] = field(default_factory=dict)

    @classmethod
    def of(cls, release: Itemsets, *, by_closure: bool) -> Lattice:
        """Return the lattice of a release, made if need be."""
        kept = _LATTICES.setdefault(release.sets, {})
        if by_closure not in kept:
            members = release.sets.members.astype(np.int32)
            kept[by_closure] = cls(release.sets.offsets, members, max(1, len(release.items)), by_closure)
        return kept[by_closure]

    @property
    def _sets(self) -> Sets:
        return Sets(self.offsets, self.members)

    @cached_property
    def holders(self) -> Codes:
        """Number of a maximal set that holds each set."""
        return find_holders(self.offsets, self.members, self.n_items)

    @cached_property
    def maximal(self) -> Ints:
        """Numbers of the maximal published sets."""
        return np.flatnonzero(self.holders == np.arange(len(self.holders)))

    @cached_property
    def lacking_parts(self) -> Ints:
        """Numbers of published sets, once per unpublished part with one item less."""
        sets = self._sets
        hashes = sets.hashes()
        owners = sets.owners()
        long = (sets.lengths > 1)[owners]
        parts = hashes[owners[long]] - sets.member_hashes()[long]
        return owners[long][~np.isin(parts, hashes)]

    def lines_on(self, number: int) -> Ints:
        """Return the set that gives each subset's support; -2 where none does.

        The number at 0, of no item, is not used.
        """
        known = self._lines.get(number)
        if known is None:
            items = self.members[self.offsets[number] : self.offsets[number + 1]]
            lines, masks = self.lines_within(items, NOTHING, NOTHING)
            known = self.closest(lines, masks, len(items))
            if sum(map(len, self._lines.values())) + len(known) <= MOST_KEPT:
                self._lines[number] = known
        return known

    def lines_within(self, items: IntArray, fixed: Ints, within: Ints) -> tuple[Ints, Ints]:
        """Return the sets of these items only, and which of ``items`` each has, as bits."""
        from tacit.kernels.rows import ALLOWED, OUTSIDE, lines_within

        position = np.full(self.n_items, OUTSIDE, np.int64)
        if self.by_closure:
            position[within] = ALLOWED
        position[fixed] = ALLOWED
        position[items] = np.arange(len(items))
        # Several questions about the same items follow one another, and few sets of a long list are sets of these.
        key = (position != OUTSIDE).tobytes()
        if key not in self._inside:
            self._inside.clear()
            lines = np.empty(len(self.offsets) - 1, np.int64)
            used = lines_within(self.offsets, self.members, position, lines, np.empty(len(lines), np.int64))
            self._inside[key] = lines[:used].copy(), self._sets.take(lines[:used])
        inside, sets = self._inside[key]
        lines = np.empty(len(sets), np.int64)
        masks = np.empty(len(sets), np.int64)
        lines_within(sets.offsets, sets.members, position, lines, masks)
        return inside, masks

    def closest(self, lines: Ints, masks: Ints, items: int) -> Ints:
        """Return which of some sets gives the support of each subset."""
        from tacit.kernels.rows import superset_max

        line = np.full(1 << items, -2, np.int64)
        if not self.by_closure:
            line[masks] = lines
            return line
        # The support of a set is that of its closure, the smallest published superset. One number holds the size of a set and its
        # line, so one transform finds both.
        found = np.full(1 << items, -1, np.int64)
        np.maximum.at(found, masks, ((_LONGEST - self.offsets[lines + 1] + self.offsets[lines]) << _SHIFT) | (_LAST - lines))
        superset_max(found)
        return np.where(found >= 0, _LAST - (found & _LAST), -2)


_LATTICES: WeakKeyDictionary[Sets, dict[bool, Lattice]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Supports:
    """Supports that one release of itemsets reveals."""

    release: Itemsets

    @property
    def by_closure(self) -> bool:
        """Return True if closures give unpublished supports."""
        return self.release.only == "closed" and self.release.header.complete

    @cached_property
    def lattice(self) -> Lattice:
        """Order of the sets by inclusion."""
        return Lattice.of(self.release, by_closure=self.by_closure)

    @property
    def maximal(self) -> Ints:
        """Numbers of the maximal published sets."""
        return self.lattice.maximal

    @cached_property
    def has_gaps(self) -> bool:
        """Return True if a published set lacks a subset."""
        if self.by_closure:
            return False
        if self.release.only == "maximal":
            return bool((self.release.sets.lengths > 1).any())
        return len(self.lacking_parts) > 0

    @property
    def lacking_parts(self) -> Ints:
        """Numbers of published sets, once per unpublished part with one item less."""
        return self.lattice.lacking_parts

    def cubes(self, most: int, of_length: Callable[[int], int], *, one_by_one: bool = False) -> Iterator[Cubes]:
        """Yield the cubes of maximal sets up to a length, equal lengths together.

        ``of_length`` is the number of entries that are made of one cube of a length; not many more than ``CHUNK`` are made at once.
        """
        release = self.release
        lengths = release.sets.lengths[self.maximal]
        # The last two entries are the number of people, and what is not known.
        lo = np.append(release.lo, (0, release.n or 0))
        hi = np.append(release.hi, (0, release.n or 0))
        for length in np.unique(lengths).tolist():
            if length > most:
                return
            own = self.maximal[lengths == length]
            at_once = 1 if one_by_one else max(1, CHUNK // of_length(length))
            for start in range(0, len(own), at_once):
                chosen = own[start : start + at_once]
                line = np.stack([self.lattice.lines_on(number) for number in chosen.tolist()])
                line[:, 0] = -2 if release.n is None else -1
                line = line.reshape(-1)
                yield Cubes(chosen, lo[line], hi[line], line > -2, number=len(chosen))

    def cube(self, items: Ints, fixed: Ints = NOTHING, within: Ints = NOTHING) -> Cube:
        """Return bounds on ``fixed`` with subsets of ``items``.

        Only published sets of these items are used. A closure may reach further: ``within`` names the items of a published set
        that contains them all, if that set is larger.
        """
        release = self.release
        lines, masks = self.lattice.lines_within(items, fixed, within)
        if len(fixed):
            sets = release.sets.take(lines)
            whole = np.bincount(sets.owners(), np.isin(sets.members, fixed), len(lines)) == len(fixed)
            lines = lines[whole]
            masks = masks[whole]
        line = self.lattice.closest(lines, masks, len(items))
        lo = np.full(len(line), -1, np.int64)
        hi = np.full(len(line), -1, np.int64)
        printed = line >= 0
        lo[printed] = release.lo[line[printed]]
        hi[printed] = release.hi[line[printed]]
        if len(fixed) == 0:
            # A set in every row may be missing from the list, so the number of people never follows from the lines.
            lo[0], hi[0], line[0] = (release.n, release.n, -1) if release.n is not None else (-1, -1, -2)
        return Cube(items, lo, hi, line)


#: Channels on a published set: its number for each, the present items as words of bits by position, lower and upper bounds of the size.
Found = tuple[Ints, Words, Ints, Ints]


def refuse_other_data(release: Itemsets, data: Transactions) -> None:
    """Raise unless the release is of these data."""
    crowd = Crowd.of(data.rows, data.weights, _items_in(release, data))
    _check_counts(release, people_with(crowd, release.sets.offsets, release.sets.members))


_OTHER_DATA = "Give the data that the release was made from, with the same columns and missing-value rule, or audit without it"


def _items_in(release: Itemsets, data: Transactions) -> Ints:
    """Return the number of each item in the data; raise if they are about other people."""
    name = release.source.name if release.source else "the release"
    remedy = _OTHER_DATA
    if release.n != data.n:
        raise InputError(f"the release describes {release.n:,} people, the data {data.n:,}", where=name, remedy=remedy)
    number = {item: i for i, item in enumerate(data.items.names)}
    unknown = sum(item not in number for item in release.items.names)
    if unknown:
        raise InputError(f"{unknown} items of the release do not occur in the data", where=name, remedy=remedy)
    return np.array([number[item] for item in release.items.names], np.int64)


def _check_counts(release: Itemsets, counted: Ints) -> None:
    wrong = np.flatnonzero(counted != release.lo)
    if len(wrong):
        name = release.source.name if release.source else "the release"
        place = f"{name} line {release.line(int(wrong[0]))}"
        raise InputError(f"{len(wrong):,} published counts differ from the data, this one first", where=place, remedy=_OTHER_DATA)


def find_small_groups(target: Target, supports: Supports, layout: Layout | None) -> Iterator[Found | Keys]:
    """Yield small groups on maximal sets from the data: keys of a ``layout``, or columns."""
    data = target.data
    assert data is not None
    release = supports.release
    longest = int(release.sets.lengths.max(initial=0))
    if isinstance(data, RemoteTransactions) and longest <= most_items(target.policy.k, data.n) and not target.first_hit:
        yield _find_remotely(target, supports, data)
        return

    def pause(share: float) -> None:
        target.limits.check("I01")
        target.progress(share)

    # What is handed on at once, or kept when time runs out, must come from data that are known to be those of the release.
    is_whole = target.stream is None and target.limits.deadline is None and not target.first_hit
    crowd = Crowd.of(data.rows, data.weights, _items_in(release, data))
    found = groups_on(
        crowd,
        (supports.lattice.offsets, supports.lattice.members),
        supports.maximal,
        target.policy.k,
        pause,
        first_only=target.first_hit,
        layout=layout,
        comparison=Comparison(supports.lattice.holders, partial(_check_counts, release), not is_whole),
    )
    for piece in found:
        if isinstance(piece, Keys) and layout is None:
            which, groups, sizes = piece.spread()
            yield which, groups, sizes, sizes
        elif isinstance(piece, Keys):
            yield piece
        else:
            which, groups, sizes = piece
            yield which, groups, sizes, sizes


def _find_remotely(target: Target, supports: Supports, data: RemoteTransactions) -> Found:
    """Return the small groups on maximal sets, searched where the data lie.

    All published sets are put into chunks that share 64 items. People's items become a word for each chunk; equal words are merged there, and
    each chunk is counted and searched by the kernel that is used here.
    """
    release = supports.release
    _items_in(release, data)
    sets = release.sets
    items = len(release.items.names)
    used = np.bincount(sets.members, minlength=items)
    # For the order of the sets it is enough to know how often items occur among them.
    numbers = np.flatnonzero(sets.lengths > 0)
    chunks = list(cut_chunks(used, sets.offsets, sets.members, numbers))
    is_maximal = np.zeros(len(sets), np.bool_)
    is_maximal[supports.maximal] = True
    masks = [(which, held, len(inside), is_maximal[which]) for which, inside, held in chunks]
    k = target.policy.k
    people = data.n
    names = release.items.names

    def search(chunk: int, words: Words, weights: Ints) -> Mapping[str, Ints]:
        from tacit.kernels.projection import groups_by_masks  # by name: a compiled kernel cannot be sent to another machine

        which, held, width, maximal = masks[chunk]
        counts = np.array([weights[(words & mask) == mask].sum() for mask in held], np.int64)
        rest = people - int(weights.sum())  # those who have no item of the chunk
        count = len(words) + (rest > 0)
        room = np.zeros(2 * count + 64, np.uint64)
        size = np.zeros(2 * count + 64, np.int64)
        room[: len(words)] = words
        size[: len(words)] = weights
        if rest > 0:
            size[len(words)] = rest
        on, groups, sizes = groups_by_masks(room, size, count, width, np.ascontiguousarray(held[maximal]), k)
        owner = np.repeat(which[maximal], on)
        nothing = np.zeros(len(counts), np.int64)
        return {
            "is_group": np.append(nothing, np.ones(len(owner), np.int64)),
            "itemset": np.append(which, owner),
            "word": np.append(nothing, groups.view(np.int64)),
            "people": np.append(counts, sizes),
        }

    found = data.by_words([[names[item] for item in inside.tolist()] for _, inside, _ in chunks], search, _REMOTE)
    target.limits.check("I01")
    target.progress(1.0)
    is_group = found["is_group"] == 1
    counted = np.where(sets.lengths > 0, 0, people)
    counted[found["itemset"][~is_group]] = found["people"][~is_group]
    _check_counts(release, counted)
    line = found["itemset"][is_group]
    word = found["word"][is_group].view(np.uint64)
    sizes = found["people"][is_group]
    order = np.lexsort((word, line))
    return line[order], word[order][:, None], sizes[order], sizes[order]


_REMOTE = ("is_group", "itemset", "word", "people")  #: Columns of what is found where the data lie.
Groups = Mapping[int, int]  #: Groups on an itemset as bits of its items, and how many people each has.


def channels_from_condensed(release: Itemsets, condensed: AttackRun, k: int) -> Iterator[Channel]:
    """Yield all channels Ch(k) of a complete, exact list, from those of I01."""
    supports = Supports(release)
    if release.only == "maximal" or not release.is_exact or supports.has_gaps:
        remedy = "Give a complete list of all or of the closed frequent itemsets with exact counts"
        raise OptionError("all channels follow only from exact supports without gaps", where="all_channels", remedy=remedy)
    if int(release.sets.lengths.max(initial=0)) > MOST_ITEMS or condensed.status != "ran":
        remedy = "Give a list of shorter itemsets"
        raise OptionError(f"itemsets of more than {MOST_ITEMS} items have too many channels", where="all_channels", remedy=remedy)
    return _channels(supports, condensed, k)


def _channels(supports: Supports, condensed: AttackRun, k: int) -> Iterator[Channel]:
    from tacit.model.estimates import Channel

    release = supports.release
    if release.n is not None and 0 < release.n < k:
        yield Channel((), (), release.n)
    small: dict[int, dict[int, int]] = {}
    present = np.asarray(condensed.columns["present"])
    present = present[:, None] if present.ndim == 1 else present
    for line, words, count in zip(
        condensed.columns["itemset"].tolist(), present.tolist(), condensed.columns["count"].tolist(), strict=True
    ):
        small.setdefault(line, {})[sum(word << (64 * at) for at, word in enumerate(words))] = count
    maximal = supports.maximal.tolist()
    sets = {line: frozenset(release.sets[line].tolist()) for line in maximal}
    for place, line in enumerate(maximal):
        items = release.sets[line].tolist()
        number = {item: bit for bit, item in enumerate(items)}
        # Subsets of an earlier maximal itemset are done already.
        covered = {sum(1 << number[item] for item in sets[line] & sets[earlier]) for earlier in maximal[:place]}
        groups = _find_large_groups(release, items, small.get(line, {}), k) | small.get(line, {})
        yield from _channels_within(release, items, groups, k, covered=sorted(covered, key=int.bit_count, reverse=True))


def _find_large_groups(release: Itemsets, items: list[int], small: Groups, k: int) -> dict[int, int]:
    number = {item: bit for bit, item in enumerate(items)}
    inside = np.isin(release.sets.members, items)
    whole = np.bincount(release.sets.owners(), ~inside, len(release)) == 0
    supports = {0: release.n} if release.n is not None else {}
    for line in np.flatnonzero(whole).tolist():
        supports[sum(1 << number[item] for item in release.sets[line].tolist())] = int(release.lo[line])
    groups = dict(small)
    for mask in sorted(supports, key=int.bit_count, reverse=True):
        if mask not in groups:
            size = (supports[mask] or 0) - sum(people for above, people in groups.items() if above & mask == mask)
            if size >= k:
                groups[mask] = size
    return {mask: people for mask, people in groups.items() if mask not in small}


def _channels_within(release: Itemsets, items: list[int], groups: Groups, k: int, covered: list[int]) -> Iterator[Channel]:
    from tacit.model.estimates import Channel

    names = [release.items.names[item] for item in items]
    for whole in range(1, 1 << len(items)):
        if any(whole & other == whole for other in covered):
            continue
        sums: dict[int, int] = {}
        for mask, people in groups.items():
            sums[mask & whole] = sums.get(mask & whole, 0) + people
        for part, people in sorted(sums.items()):
            if 0 < people < k and (part or release.n is not None):
                has = tuple(name for bit, name in enumerate(names) if part >> bit & 1)
                lacks = tuple(name for bit, name in enumerate(names) if (whole ^ part) >> bit & 1)
                yield Channel(has, lacks, people)


def refuse_gaps(supports: Supports) -> None:
    """Raise :class:`Contradiction` if a complete list lacks subsets."""
    release = supports.release
    if release.only != "all" or not release.header.complete or not supports.has_gaps:
        return
    lines = sorted({release.line(line) for line in supports.lacking_parts.tolist()})
    name = release.source.name if release.source else "the release"
    parts = (
        "parts of these itemsets are on no line, and are" if len(lines) > 1 else "a part of this itemset is on no line, and is"
    )
    raise Contradiction(
        f"the list cannot be complete: {parts} at least as frequent",
        where=f"{name}, {numbered(lines)}",
        remedy="Add what is missing, or say that the list is not complete (--incomplete)",
        lines=lines,
    )
