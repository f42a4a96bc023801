"""Consistency of a list: pairs of contradictory lines.

Checked are: counts from 0 to n; no rule with more people than its antecedent; one line per set; and no set with more people than a published
part of it. The last check is complete if the release is closed under subsets or small enough to compare every pair of lines; a large release
with gaps is compared with the subsets that are smaller by one or two items. What only many lines together contradict is found by the attacks.

Lists of closed or maximal itemsets are checked as well. A set is not closed if a set around it has as many people, and a complete list of
closed sets holds the intersection of any two. A set is not maximal if another one holds it, and two maximal sets cannot be so frequent that
their union must be frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from tacit.files.counts import selected
from tacit.model.arrays import Flags, Ints, Words
from tacit.model.errors import Contradiction, InputError, OptionError, numbered
from tacit.model.release import Itemsets, Listed, Sets

PAIRS_BUDGET = 1 << 29  #: Bytes that the comparison of all pairs may touch: about half a second.
#: Look-ups of subsets that lack two items, for releases with gaps: a few seconds.
TWO_LESS_BUDGET = 20_000_000
_CHUNK = 1 << 20


class Clash(NamedTuple):
    """Positions of two sets: ``larger`` holds or equals ``smaller``, yet counts more people."""

    larger: int
    smaller: int


def any_clash(sets: Sets, lo: Ints, hi: Ints) -> Clash | None:
    """Return a pair of clashing sets, or None.

    Sets are compared pair by pair where that is cheap, else through their subsets.
    """
    if not len(sets) or int(lo.max()) <= int(hi.min()):
        return None
    if len(sets.members) * len(sets) // 8 <= PAIRS_BUDGET:
        return clash_of_pairs(sets, lo, hi)
    return clash_of_subsets(sets, lo, hi)


def clash_of_pairs(sets: Sets, lo: Ints, hi: Ints, *, strict: bool = False) -> Clash | None:
    """Return a clashing pair by comparing all pairs.

    Sets are bits by falling ``lo``, so that only larger counts are compared. With ``strict`` a set also clashes with an equal subset.
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


def clash_of_subsets(sets: Sets, lo: Ints, hi: Ints) -> Clash | None:
    """Return a clashing pair, found by propagation to subsets.

    Each step removes one item (two across a gap). Complete if the sets are closed under subsets; else distant pairs may be missed.
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
            owners, parts = lookups.parts(level[start : start + step], length)
            # Each part gets the largest count of its supersets.
            before = most[parts]
            np.maximum.at(most, parts, most[owners])
            source = (most[owners] == most[parts]) & (most[parts] > before)
            by[parts[source]] = by[owners[source]]
    # Equal hashes stand for equal sets so far: a clash is only reported after a comparison item by item.
    for position in np.flatnonzero(most > hi[lowest]):
        larger = int(by[position])
        smaller = int(lowest[position])
        if set(sets[smaller].tolist()) <= set(sets[larger].tolist()):
            return Clash(larger, smaller)
    return None


class _Lookups:
    """Positions of subsets that lack one or two items."""

    def __init__(self, sets: Sets, keys: Words, budget: int) -> None:
        self.sets = sets
        self.keys = keys
        self.budget = budget

    def find(self, wanted: Words) -> Ints:
        """Return the positions of sets by their hashes, or -1; the keys are sorted."""
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, at, -1)

    def parts(self, owners: Ints, length: int) -> tuple[Ints, Ints]:
        """Pairs (set, subset) for sets of one length."""
        mixed = self.sets.take(owners).member_hashes().reshape(len(owners), length)
        one_less = self.keys[owners][:, None] - mixed
        found = self.find(one_less.ravel()).reshape(one_less.shape)
        pairs = [(np.broadcast_to(owners[:, None], found.shape)[found >= 0], found[found >= 0])]
        pairs += self._two_less(owners, one_less, mixed, found < 0)
        return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])

    def _two_less(self, owners: Ints, one_less: Words, mixed: Words, gaps: Flags) -> list[tuple[Ints, Ints]]:
        """Return pairs of sets and subsets two items smaller, neither part between published."""
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


#: Sentence about a set with more people than one that it holds, by kind of list.
_MORE_FREQUENT = {
    "itemsets": "the itemset of line {} holds that of line {} but is more frequent",
    "rules": "items of line {} include items of line {} but are more frequent",
}


def check_release(release: Listed) -> Listed:
    """Return the release without repeated lines; raise if contradictory."""
    _check_sides(release)
    check_lengths(release)
    _check_ends(release)
    release = _without_repeats(release)
    sets, lo, hi = release.counted()
    clash = any_clash(sets, lo, hi)
    if clash is None:
        return release
    larger, smaller = (position % len(release) for position in clash)
    what = "the two rules give the same set of items different numbers of people"
    if len(sets[clash.larger]) > len(sets[clash.smaller]):
        what = _MORE_FREQUENT[release.kind].format(release.line(larger), release.line(smaller))
    raise _contradiction(release, what, "Correct one of the two", larger, smaller)


def check_lengths(release: Listed) -> None:
    """Raise if a list of sets up to a length cannot be one."""
    longest = release.header.max_length
    if longest is None:
        return
    if release.only != "all":
        what = f"is for lists of all itemsets, and this one is {release.only}"
        raise OptionError(what, where="--max-length", remedy="Leave it out, and 'max_length' out of the header")
    long = np.flatnonzero(release.sides[0].lengths > longest)
    if len(long):
        what = f"holds more than {longest} item{'s' if longest > 1 else ''}, the most of this list by its max_length"
        raise _contradiction(release, what, "Correct the line or max_length", int(long[0]))


def _place(release: Listed, lines: Sequence[int]) -> str:
    return f"{release.source.name if release.source is not None else 'release'}, {numbered(lines)}"


def _contradiction(release: Listed, what: str, remedy: str, *positions: int) -> Contradiction:
    lines = sorted({release.line(position) for position in positions})
    return Contradiction(what, where=_place(release, lines), remedy=remedy, lines=lines)


def _check_sides(release: Listed) -> None:
    shared = np.flatnonzero(release.united().lengths < sum(side.lengths for side in release.sides))
    if len(shared):
        where = _place(release, [release.line(int(shared[0]))])
        raise InputError("antecedent and consequent share an item", where=where, remedy="Write each item on one side")


def _check_ends(release: Listed) -> None:
    for lo, hi in release.spans:
        _refuse_first(release, lo > hi, "no whole number of people fits the line")
        _refuse_first(release, hi < 0, "the count is negative")
        if release.n is not None:
            _refuse_first(release, lo > release.n, f"the count is above n = {release.n}")
    for (lo, _), (_, whole) in pairwise(release.spans):
        _refuse_first(release, lo > whole, "more people fit the rule than its antecedent: its confidence is above 1")


def _refuse_first(release: Listed, wrong: Flags, what: str) -> None:
    for position in np.flatnonzero(wrong)[:1].tolist():
        raise _contradiction(release, what, "Correct the line or n", position)


def _without_repeats(release: Listed) -> Listed:
    """Keep one line per set.

    Of lines about the same set one must say all that the others say: the narrowest stays.
    """
    # The multiplier is odd, so that a rule and its converse get different numbers.
    keys = reduce(lambda left, right: left * np.uint64(0x9E3779B97F4A7C15) + right, (side.hashes() for side in release.sides))
    ends = np.stack([end for span in release.spans for end in span])
    _, first, group, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(keys):
        return release
    kept = np.ones(len(keys), bool)
    members = np.flatnonzero(sizes[group] > 1)
    for positions in np.split(members[np.argsort(group[members], kind="stable")], np.cumsum(sizes[sizes > 1])[:-1]):
        kept[positions] = False
        kept[_narrowest(release, ends, positions.tolist())] = True
    return selected(release, np.flatnonzero(kept))


def _narrowest(release: Listed, ends: Ints, positions: list[int]) -> list[int]:
    """Return the narrowest line of each set with one hash."""
    chosen: dict[tuple[bytes, ...], int] = {}
    for position in positions:
        name = tuple(part[position].tobytes() for part in release.sides)
        other = chosen.setdefault(name, position)
        inside = _within(ends, other, position)
        outside = _within(ends, position, other)
        if outside and not inside:
            chosen[name] = position
        elif not inside:
            what = f"the same {release.noun} is listed twice with different numbers"
            raise _contradiction(release, what, "Keep one of the two lines", other, position)
    return list(chosen.values())


def _within(ends: Ints, inner: int, outer: int) -> bool:
    lows = ends[0::2]
    highs = ends[1::2]
    return bool((lows[:, inner] >= lows[:, outer]).all() and (highs[:, inner] <= highs[:, outer]).all())


#: How many pairs of closed sets have what they share looked up, the most frequent sets first: about a tenth of a second.
MOST_PAIRS = 1 << 20

_OTHER_LIST = "Correct the lines, or say what the file lists (--only)"


def check_listing(release: Itemsets) -> None:
    """Raise if the lines cannot be closed or maximal."""
    if release.lines is None or len(release) == 0 or release.only == "all":
        return
    if len(release.sets.members) * len(release) // 8 <= PAIRS_BUDGET:
        _check_pairs(release)
    if release.only == "maximal":
        _check_unions(release)
    elif release.header.complete:
        _check_shared(release)


def _check_pairs(release: Itemsets) -> None:
    """Raise if a superset contradicts a closed or maximal set."""
    if release.only == "closed":
        found = clash_of_pairs(release.sets, release.lo, release.hi, strict=True)
        why = "holds it and has at least as many people"
    else:
        size = len(release)
        found = clash_of_pairs(release.sets, np.ones(size, np.int64), np.zeros(size, np.int64))
        why = "holds it"
    if found is not None:
        inner = release.line(found.smaller)
        outer = release.line(found.larger)
        what = f"the itemset of line {inner} is not {release.only}: that of line {outer} {why}"
        raise _contradiction(release, what, _OTHER_LIST, *found)


def _check_unions(release: Itemsets) -> None:
    """Raise if two maximal sets must have a frequent union."""
    if release.n is None or len(release) < 2 or release.header.coarser:
        return
    least = release.min_support or int(release.hi.min())
    positions = np.argsort(-release.lo, kind="stable")[:2].tolist()
    both = int(release.lo[positions].sum()) - release.n
    if both >= least:
        what = f"the two itemsets cannot be maximal: at least {both:,} of all {release.n:,} people have both, and {least:,} are enough"
        raise _contradiction(release, what, _OTHER_LIST, *positions)


def _check_shared(release: Itemsets) -> None:
    """Raise if the intersection of two closed sets is missing."""
    if release.header.coarser:
        return  # a set may then be closed only because the set around it was never looked at
    size = min(len(release), int(MOST_PAIRS**0.5))
    chosen = np.sort(np.argsort(-release.lo, kind="stable")[:size])
    rows = np.zeros((len(release), max(1, -(-len(release.items) // 64))), np.uint64)
    members = release.sets.members.astype(np.int64)
    np.bitwise_or.at(rows, (release.sets.owners(), members >> 6), np.uint64(1) << (members & 63).astype(np.uint64))
    listed = np.sort(_keys(rows))
    rows = rows[chosen]
    for i in range(size):
        shared = rows[i + 1 :] & rows[i]
        keys = _keys(shared)
        missing = listed[np.minimum(np.searchsorted(listed, keys), len(listed) - 1)] != keys
        missing &= shared.any(axis=1)
        if missing.any():
            what = (
                "the list cannot be complete: what two closed itemsets share is closed, too, and what these share is on no line"
            )
            remedy = "Add what is missing, or say that the list is not complete (--incomplete)"
            raise _contradiction(release, what, remedy, int(chosen[i]), int(chosen[i + 1 + np.argmax(missing)]))


def _keys(rows: Words) -> Words:
    """One number per row of bits.

    Two rows that differ share one only by a rare chance, which hides a missing set and never makes one up.
    """
    mix = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], np.uint64) | np.uint64(1)
    return np.asarray((rows * mix).sum(axis=1, dtype=np.uint64), np.uint64)
