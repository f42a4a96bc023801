"""I02 unpublished-itemsets: groups of fewer than k people, through itemsets that the release leaves out.

Infers
    A complete list says of every missing itemset: fewer people than the threshold have it. Together with the supports of its subsets
    that bounds its support from both sides, because no group of people can have fewer than 0 members (deduction rules). Often one number is
    left; then the itemset is as good as published, and sets above it follow, level by level. Each such itemset J gives groups "all of I, none
    of J without I" that no published set gives.
Assumes
    The list is complete above its threshold, or up to sets of some length; what is longer is then bounded by its subsets
    alone. If the number of people is not known, sums that need it are left out.
Claim
    Proves.
Cost
    One look-up per frequent itemset and item for the border, then ``2**|J|`` per candidate J, refused above 16 items. Over up to 22 items, if
    many of their sets are frequent, a few look-ups per candidate, however long it is.
Example
    Of 10 people 9 have a and 9 have b; {a, b} is left out of a complete list from 9 on. At least 8 have both, at most 8 are allowed, so it is 8:
    exactly 1 person has a and not b, exactly 1 has b and not a.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, section 3; Calders, Goethals, Mining All Non-derivable Frequent
    Itemsets, PKDD 2002.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tacit.itemsets import few_items
from tacit.itemsets.clash import refuse_incomplete
from tacit.itemsets.supports import MOST_ITEMS, Supports, refuse_gaps
from tacit.itemsets.words import write_out_deduction
from tacit.kernels.deduction import Book, bits_of
from tacit.model.arrays import Ints, Words
from tacit.model.audit import AttackRun, Status, Target
from tacit.model.errors import LimitReached
from tacit.model.finding import Citation, Finding, ItemEvent, certificate
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets
from tacit.model.words import describe_event, explain_maximal, render_people

CODE = "I02"
NAME = "unpublished-itemsets"
WITHOUT_N = "the number of people is not known, and nothing follows from maximal itemsets without it"
LONGEST = 16  #: Longer candidates over many items are left open: their groups would take 2**17 numbers each.
MOST_FREQUENT = 1 << 25  #: A release that implies more frequent itemsets than this is left open.
#: The search ends when more itemsets are known: beyond, it would only describe the same people at greater length.
MOST_KNOWN = 1 << 23
NO_BOUND = 1 << 45  #: Stands for an unknown number of people: larger than any, and small enough for sums of 2**16 terms.
WORK_PER_CALL = 1 << 18  #: Candidates made at once, to bound memory.
PIECE = 4096  #: Candidates examined between two checks of the time limit.
MOST_PAIRS = 1 << 16  #: Most pairs of lines to examine for people who have both.


@dataclass(frozen=True, eq=False)
class _MaximalGroups:
    """Groups behind maximal itemsets as columns: two lines, an item or -1, bounds.

    With an item: those of ``line`` who lack it (``alone``: all who lack it), at most all people without ``other``, a line with the item.
    Without: those who have both lines.
    """

    line: Ints
    other: Ints
    item: Ints
    alone: Ints
    lo: Ints
    hi: Ints

    def take(self, index: Ints) -> _MaximalGroups:
        return _MaximalGroups(*(column[index] for column in vars(self).values()))


_Rows = tuple[Ints, Ints, Ints, Ints, Ints, Ints]  #: Some of these groups, column by column.


def _run_on_maximal(target: Target, release: Itemsets) -> AttackRun:
    status: Status = "ran"
    reason = ""
    undecided = 0
    nothing = np.empty(0, np.int64)
    rows: list[_Rows] = [(nothing, nothing, nothing, nothing, nothing, nothing)]
    if release.n is None:
        undecided = max(1, len(release))
        reason = WITHOUT_N
    else:
        try:
            for part in _find_lacking(target, release, release.n):
                rows.append(part)
            both, more = _find_in_both(release, release.n, target.policy.k)
            rows.append(both)
            if more:
                undecided = 1
                reason = f"more than {MOST_PAIRS:,} pairs of itemsets share people; not all were examined"
        except LimitReached:
            status = "stopped"
            reason = "the time limit was reached; findings so far are kept"
    found = _MaximalGroups(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    lengths = np.array([len(_items_of(release, found, i)[0]) for i in range(len(found.line))], np.int64)
    order = np.lexsort((found.item, found.other, found.line, lengths, found.hi))
    groups = found.take(order)
    sizes = lengths[order]
    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason=reason,
        people=int(groups.lo.max(initial=0)),
        undecided=undecided,
        columns={
            "items": sizes,
            "itemset": groups.line,
            "other": groups.other,
            "count": groups.lo,
            "count_hi": groups.hi,
            "level": np.ones(len(sizes), np.int64),
            "new": (groups.item < 0) | (groups.alone > 0),
        },
        severity=(groups.hi << 16) | np.minimum(sizes, 0xFFFF),
        event=lambda index: _event(release, groups, index),
        show=lambda index: _write_out(release, target.index, groups, index),
    )


def _find_lacking(target: Target, release: Itemsets, n: int) -> Iterator[_Rows]:
    sigma = release.min_support or 1
    members = release.sets.members.astype(np.int64)
    owners = release.sets.owners()
    order = np.lexsort((owners, -release.lo[owners], members))
    items, first = np.unique(members[order], return_index=True)
    best = owners[order][first]  # for every item, the first of its most frequent lines
    for item, line in zip(items.tolist(), best.tolist(), strict=True):
        if n - release.lo[line] >= target.policy.k:
            continue
        target.limits.check(CODE)
        without = np.setdiff1d(np.arange(len(release)), owners[members == item])
        lo = release.lo[without] - sigma + 1
        hi = np.minimum(release.hi[without], n - release.lo[line])
        without, lo, hi = (column[(lo > 0) & (lo <= hi)] for column in (without, lo, hi))
        yield without, np.full(len(without), line), np.full(len(without), item), np.zeros(len(without), np.int64), lo, hi
        if len(without) and len(release.sets[line]) > 1:
            # Those who lack the item at all are the fewest words; where the item is a line by itself, that line says how many they are.
            most = int(np.argmax(lo))
            row = (without[most], line, item, 1, lo[most], n - release.lo[line])
            yield tuple(np.array([value], np.int64) for value in row)  # type: ignore[misc]


def _find_in_both(release: Itemsets, n: int, k: int) -> tuple[_Rows, bool]:
    """Return pairs of lines that share people; True if too many."""
    sigma = release.min_support or 1
    found: dict[tuple[int, ...], tuple[int, int, int]] = {}
    order = np.argsort(-release.lo, kind="stable").tolist() if sigma <= k else []
    pairs = 0
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            least = int(release.lo[a] + release.lo[b]) - n
            if least <= 0 or pairs > MOST_PAIRS:
                break
            pairs += 1
            together = tuple(np.union1d(release.sets[a], release.sets[b]).tolist())
            if least < sigma and least > found.get(together, (0, 0, 0))[2]:
                found[together] = (a, b, least)
    line, other, lo = (np.array(column, np.int64) for column in (zip(*found.values(), strict=True) if found else ((), (), ())))
    none = np.full(len(line), -1)
    return (line, other, none, np.zeros(len(line), np.int64), lo, np.full(len(line), sigma - 1)), pairs > MOST_PAIRS


def _items_of(release: Itemsets, groups: _MaximalGroups, index: int) -> tuple[Ints, int]:
    """Return the items of a group, and the absent one (-1: none)."""
    item = int(groups.item[index])
    if groups.alone[index]:
        return np.array([item]), item
    other = release.sets[int(groups.other[index])] if item < 0 else np.array([item])
    return np.union1d(release.sets[int(groups.line[index])], other).astype(np.int64), item


def _event(release: Itemsets, groups: _MaximalGroups, index: int) -> ItemEvent:
    items, lacked = _items_of(release, groups, index)
    names = release.items.names
    return ItemEvent(tuple(names[i] for i in items if i != lacked), (names[lacked],) if lacked >= 0 else ())


def _write_out(release: Itemsets, index: int, groups: _MaximalGroups, finding: int) -> Finding:
    least = release.min_support or 1
    line, other, item = (int(column[finding]) for column in (groups.line, groups.other, groups.item))
    event = _event(release, groups, finding)
    count = Bound(int(groups.lo[finding]), int(groups.hi[finding]))
    union = np.union1d(release.sets[line], release.sets[other] if item < 0 else [item])
    steps = explain_maximal(release, line, other, None if item < 0 else release.items.names[item])
    because = [
        Citation(index, "n", Bound.of(release.n or 0), None),
        *(Citation(index, release.line(one), release.count(one), None) for one in sorted((line, other))),
        Citation(index, "min_support", Bound.of(least), None),
    ]
    shown = {"items": sorted(release.items.names[i] for i in union), "at_most": least - 1, "by": "min_support"}
    proof = certificate(event, count, steps=[shown])
    statement = f"{render_people(count)} {describe_event(event, count)}."
    return Finding(CODE, event, count, statement, because=tuple(because), derivation=tuple(steps), certificate=proof)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups on unpublished sets (``words``: bits of used items) as columns.

    ``wider`` is the size of the smallest group with one condition less; if that is not small, the group is new.
    """

    words: Words
    present: Ints
    lo: Ints
    hi: Ints
    level: Ints
    wider: Ints

    @classmethod
    def concatenate(cls, parts: list[_Groups], width: int) -> _Groups:
        """Concatenate groups, by size, then length of description, then items."""
        nothing = np.empty(0, np.int64)
        empty = cls(np.empty((0, width), np.uint64), nothing, nothing, nothing, level=nothing, wider=nothing)
        columns = zip(*(vars(part).values() for part in [empty, *parts]), strict=True)
        found = cls(*(np.concatenate(column) for column in columns))
        order = np.lexsort((found.present, *found.words.T, found.sizes, found.hi))
        return cls(*(column[order] for column in vars(found).values()))

    @property
    def sizes(self) -> Ints:
        sizes: Ints = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
        return sizes


def run(target: Target) -> AttackRun:
    """Find all groups of fewer than k people that unpublished itemsets reveal."""
    release = target.release_as(Itemsets)
    return _run_on_maximal(target, release) if release.only == "maximal" else _run_on_complete(target, release)


def _run_on_complete(target: Target, release: Itemsets) -> AttackRun:
    supports = Supports(release)
    refuse_gaps(supports)
    status: Status = "ran"
    reason = ""
    undecided = 0
    parts: list[_Groups] = []
    book = Book(release.sets.members)
    by_size: dict[int, int] | None = None
    people = 0
    try:
        dense = None if target.first_hit else _deduce_over_few_items(target, supports)
        if dense is not None:
            book, found = dense
            people = found.people
            parts.append(
                _Groups(
                    found.masks.astype(np.uint64)[:, None],
                    found.present,
                    found.lo,
                    found.hi,
                    level=found.level,
                    wider=found.wider,
                )
            )
            if not found.is_whole:
                by_size = found.by_size
                reason = f"the {len(found.masks):,} worst groups are listed, and all are counted"
        elif _enter_frequent(supports, book, target):
            undecided, reason = _search(target, release, book, parts)
        else:
            undecided = 1
            reason = f"the release implies more than {MOST_FREQUENT:,} frequent itemsets, too many to examine"
    except LimitReached:
        status = "stopped"
        reason = "the time limit was reached; findings so far are kept"
    if target.first_hit and any(len(part.lo) for part in parts):
        status = "stopped"
    groups = _Groups.concatenate(parts, book.width)
    sizes = groups.sizes

    def event(index: int) -> ItemEvent:
        items = book.members(groups.words[index])
        held = bits_of(int(groups.present[index]), len(items))
        names = release.items.names
        return ItemEvent(tuple(names[i] for i in items[held]), tuple(names[i] for i in items[~held]))

    def show(index: int) -> Finding:
        count = Bound(int(groups.lo[index]), int(groups.hi[index]))
        items = book.members(groups.words[index])
        return write_out_deduction(
            CODE, supports, book, target.index, items=items, held=bits_of(int(groups.present[index]), len(items)), count=count
        )

    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason=reason,
        people=int(groups.lo.max(initial=people)),
        undecided=undecided,
        columns={
            "items": sizes,
            "present": groups.present,
            "count": groups.lo,
            "count_hi": groups.hi,
            "level": groups.level,
            "new": groups.wider >= target.policy.k,
        },
        details={"wider": groups.wider},
        severity=(groups.hi << 16) | np.minimum(sizes, 0xFFFF),
        event=event,
        show=show,
        streamed=by_size,
    )


def _deduce_over_few_items(target: Target, supports: Supports) -> tuple[Book, few_items.Found] | None:
    """Return all that follows, where arrays over all subsets suit the release and its numbers do not contradict."""
    if not few_items.applies_to(supports, target.policy.k):
        return None
    deduction = few_items.Deduction.of(supports, target.policy.k, lambda: target.limits.check(CODE))
    most = few_items.MOST_LISTED if target.stream is None else sys.maxsize  # a file receives every finding
    found = None if deduction is None else deduction.search(most)
    return None if deduction is None or found is None else (deduction.book, found)


def can_narrow(target: Target) -> bool:
    """Return True if the groups for a smaller k are among those for a larger one."""
    return target.release_as(Itemsets).only != "maximal"


def narrow(run: AttackRun, k: int) -> AttackRun:
    """Return the run as it would be with a smaller k."""
    kept = np.flatnonzero(run.columns["count_hi"] < k)
    found = run.only(kept)
    return replace(
        found,
        people=int(found.columns["count"].max(initial=0)),
        columns={**found.columns, "new": run.details["wider"][kept] >= k},
        details={"wider": run.details["wider"][kept]},
        streamed=None if run.streamed is None else {size: number for size, number in run.streamed.items() if size < k},
    )


def _enter_frequent(supports: Supports, book: Book, target: Target) -> bool:
    """Enter all frequent itemsets; return False if too many."""
    release = supports.release
    known = release.n is not None
    everyone = np.array([release.n, release.n] if known else [release.lo.max(initial=0), NO_BOUND])
    book.enter(np.zeros((1, book.width), np.uint64), everyone[None, :])
    if not supports.by_closure:
        book.enter(book.keys(release.sets.offsets, release.sets.members), np.stack((release.lo, release.hi), axis=1))
        return True
    lengths = release.sets.lengths[supports.maximal]
    if lengths.max(initial=0) > MOST_ITEMS or (1 << lengths.astype(object)).sum() > MOST_FREQUENT:
        return False
    for line in supports.maximal.tolist():
        target.limits.check(CODE)
        items = release.sets[line].astype(np.int64)
        cube = supports.cube(items)
        bounds = np.stack((cube.lo, cube.hi), axis=1)
        bounds[0] = everyone
        book.enter(book.subsets(items), bounds)
    return True


def _search(target: Target, release: Itemsets, book: Book, parts: list[_Groups]) -> tuple[int, str]:
    """Examine candidates by level; return the number left open, and why."""
    assert release.min_support is not None
    told = LONGEST if release.header.max_length is None else release.header.max_length
    ask = np.array([target.policy.k, release.min_support - 1, LONGEST, told])
    fresh = book.everything()
    level = 1
    too_long = 0
    looked_at = 0
    while len(fresh):
        exact: list[tuple[Words, Ints]] = []
        for keys, share in _candidates(target, release, book, fresh, level=level):
            looked_at += len(keys)
            bounds, found = book.deduce(keys, ask)
            which, present, lo, hi, wider = found.T
            too_long += int((bounds[:, 0] < 0).sum())
            wrong = np.flatnonzero(bounds[:, 0] > bounds[:, 1])
            if len(wrong):
                refuse_incomplete(Supports(release), [book.members(keys[i]) for i in wrong.tolist()])
            parts.append(_Groups(keys[which], present, lo, hi, level=np.full(len(which), level), wider=wider))
            if target.first_hit and len(which):
                return 0, "stopped at the first findings, as asked"
            known = np.flatnonzero((bounds[:, 0] == bounds[:, 1]) & (bounds[:, 0] >= 0))
            exact.append((keys[known], bounds[known]))
            if len(book) + sum(len(piece) for piece, _ in exact) > MOST_KNOWN:
                return len(keys), f"more than {MOST_KNOWN:,} itemsets follow from the release; the longest were not examined"
            if level == 1:
                target.progress(share)
        fresh = np.concatenate([np.empty((0, book.width), np.uint64), *(piece for piece, _ in exact)])
        for piece in exact:  # only now: what is known decides which candidates belong to the next level
            book.enter(*piece)
        level += 1
    target.progress(1.0)
    reasons = [f"{too_long} unpublished itemsets of more than {LONGEST} items were not examined"] if too_long else []
    if release.n is None:
        reasons.append("the number of people is not known, so what follows only with it is not decided")
        return max(1, looked_at), "; ".join(reasons)
    return too_long, "; ".join(reasons)


def _candidates(target: Target, release: Itemsets, book: Book, fresh: Words, level: int) -> Iterator[tuple[Words, float]]:
    # On the first level each candidate is reached in one way, so that pieces never meet; later levels are small.
    size = max(1, WORK_PER_CALL // max(1, len(book.items))) if level == 1 else len(fresh)
    for start in range(0, len(fresh), size):
        target.limits.check(CODE)
        wanted = _keep_listable(release, book, book.candidates(fresh[start : start + size], first=level == 1))
        for first in range(0, len(wanted), PIECE):
            target.limits.check(CODE)
            yield wanted[first : first + PIECE], min(1.0, (start + size) / len(fresh))


def _keep_listable(release: Itemsets, book: Book, keys: Words) -> Words:
    pairs = release.items.pairs
    if not release.header.coarser or pairs is None:
        return keys
    names = [pairs[item][0] for item in book.items.tolist()]
    mixed = np.zeros(len(keys), np.bool_)
    for column in sorted(set(names)):
        own = np.array([item for item, name in zip(book.items.tolist(), names, strict=True) if name == column])
        mask = book.keys(np.array([0, len(own)]), own)
        mixed |= np.bitwise_count(keys & mask).sum(axis=1) > 1
    return keys[~mixed]
