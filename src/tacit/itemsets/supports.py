"""Which supports a release of itemsets gives away, published or not.

* In a complete list of *closed* itemsets every frequent itemset has the support of its closure, the most frequent published superset.
* In a list of *all* frequent itemsets a set is known when it is published. Lists from other hands may have gaps.
* *Maximal* itemsets say nothing exact about their subsets.

The owner's shortcut: small groups straight from the data, instead of sums over ``2**|M|`` published supports.

The group of people with exactly the items I of a published set M has the size that inclusion-exclusion over the published supports gives,
provided that the release is of this data. :func:`matching_rows` makes sure of it before anything is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.kernels.projection import Vertical, people_with, small_groups_on, vertical
from tacit.model.arrays import Ints
from tacit.model.audit import Target
from tacit.model.release import Itemsets
from tacit.model.table import Transactions

#: Cubes of more items than this are refused: 2**22 numbers take about 100 MB and a second.
MOST_ITEMS = 22
NOTHING = np.empty(0, np.int64)
_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
#: No set is longer.
_LONGEST = 1 << 30


@dataclass(frozen=True, eq=False)
class Cube:
    """Bounds on the supports of all subsets of some items, with a fixed part that every subset holds.

    Entry ``m`` is about the fixed items and those of ``free`` whose bit is set in ``m``. ``line[m]`` is the number of the published set that
    gives the bounds; -1 stands for the number of people, -2 for a support that is not known.
    """

    free: Ints
    lo: npt.NDArray[np.int64]
    hi: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which supports are known."""
        return self.line > -2


@dataclass(frozen=True, eq=False)
class Supports:
    """The supports that one release of itemsets gives away."""

    release: Itemsets

    @property
    def by_closure(self) -> bool:
        """Whether an unpublished subset has the support of its most frequent published superset."""
        return self.release.only == "closed" and self.release.header.complete

    @cached_property
    def maximal(self) -> Ints:
        """The numbers of the published sets that are contained in no other, in the order of the file."""
        from tacit.kernels.rows import maximal_flags

        sets = self.release.sets
        order = np.argsort(-sets.lengths, kind="stable")
        flags = np.zeros(len(sets), np.int8)
        maximal_flags(sets.offsets, sets.members.astype(np.int32), order, max(1, len(self.release.items)), flags)
        return np.flatnonzero(flags)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether some published set has a subset whose support is not known (the empty set aside)."""
        if self.by_closure:
            return False
        if self.release.only == "maximal":
            return bool((self.release.sets.lengths > 1).any())
        sets = self.release.sets
        hashes = np.unique(sets.hashes())
        owners = sets.owners()
        long = (sets.lengths > 1)[owners]
        parents = sets.hashes()[owners[long]] - sets.member_hashes()[long]
        return not bool(np.isin(parents, hashes).all())

    def cube(self, items: Ints, fixed: Ints = NOTHING, within: Ints = NOTHING) -> Cube:
        """Bounds on the supports of ``fixed`` joined with every subset of ``items``.

        Only published sets made of these items are looked at. A closure may reach further: ``within`` names the items of a published set
        that holds them all, where that set is larger.
        """
        from tacit.kernels.moebius import superset_max
        from tacit.kernels.rows import ALLOWED, OUTSIDE, lines_within

        release = self.release
        position = np.full(max(1, len(release.items)), OUTSIDE, np.int64)
        if self.by_closure:
            position[within] = ALLOWED
        position[fixed] = ALLOWED
        position[items] = np.arange(len(items))
        lines = np.empty(len(release), np.int64)
        masks = np.empty(len(release), np.int64)
        used = lines_within(release.sets.offsets, release.sets.members.astype(np.int32), position, lines, masks)
        size = 1 << len(items)
        lines = lines[:used]
        masks = masks[:used]
        if len(fixed):
            sets = release.sets.take(lines)
            whole = np.bincount(sets.owners(), np.isin(sets.members, fixed), len(lines)) == len(fixed)
            lines = lines[whole]
            masks = masks[whole]

        lo, hi, line = (np.full(size, value, np.int64) for value in (-1, -1, -2))
        if self.by_closure:
            # The support of a set is that of its closure, the smallest published set around it. One number holds the size of a set and its
            # line, so that one transform finds the smallest and its line together; both bounds are those of that line.
            closest = np.full(size, -1, np.int64)
            np.maximum.at(closest, masks, ((_LONGEST - release.sets.lengths[lines]) << _SHIFT) | (_LAST - lines))
            superset_max(closest)
            line = np.where(closest >= 0, _LAST - (closest & _LAST), -2)
            # Position -2 is one of the two at the end.
            lo = np.append(release.lo, (-1, -1))[line]
            hi = np.append(release.hi, (-1, -1))[line]
        else:
            lo[masks] = release.lo[lines]
            hi[masks] = release.hi[lines]
            line[masks] = lines
        if len(fixed) == 0:
            # A set in every row may be missing from the list, so the number of people never follows from the lines.
            lo[0], hi[0], line[0] = (release.n, release.n, -1) if release.n is not None else (-1, -1, -2)
        return Cube(items, lo, hi, line)


Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def matching_rows(release: Itemsets, data: Transactions) -> Vertical:
    """The data by item of the release; raises unless n and every published count are those of the data."""
    name = release.source.name if release.source else "the release"
    remedy = "Give the data that the release was made from, with the same columns and missing-value rule, or audit without it"
    if release.n != data.n:
        raise InputError(f"the release is about {release.n:,} people, the data about {data.n:,}", where=name, remedy=remedy)
    number = {item: i for i, item in enumerate(data.items.names)}
    unknown = sum(item not in number for item in release.items.names)
    if unknown:
        raise InputError(f"{unknown} items of the release do not occur in the data", where=name, remedy=remedy)
    wanted = np.array([number[item] for item in release.items.names], np.int64)
    rows = vertical(data.rows.offsets, data.rows.members, data.weights, wanted)
    wrong = np.flatnonzero(people_with(rows, release.sets.offsets, release.sets.members) != release.lo)
    if len(wrong):
        place = f"{name} line {release.line(int(wrong[0]))}"
        raise InputError(f"{len(wrong):,} published counts differ from the data, this one first", where=place, remedy=remedy)
    return rows


def small_groups_in_data(target: Target, supports: Supports) -> Iterator[Found]:
    """Groups of 1..k-1 people on every maximal published set, as (line, present bits, lo, hi), piece by piece."""
    assert target.data is not None
    rows = matching_rows(supports.release, target.data)
    maximal = supports.maximal
    sets = supports.release.sets.take(maximal)

    def pause(share: float) -> None:
        target.limits.check("I01")
        target.progress(share)

    found = small_groups_on(rows, sets.offsets, sets.members, target.policy.k, pause, first_only=target.first_hit)
    for which, groups, sizes in found:
        yield maximal[which], groups, sizes, sizes
