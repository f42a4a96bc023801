"""I01 inference-channels: groups of fewer than k people, by adding and subtracting published supports.

Infers
    For itemsets I inside J, the number of people who have all of I and nothing else of J is a signed sum of the supports between I and J.
    When the sum is between 1 and k-1, the release gives a small group away although every published count is large. Only maximal channels are
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

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.clash import refuse_clash, refuse_gaps
from tacit.attacks.derivation import event_of, write_out
from tacit.attacks.detectors import Told, detect
from tacit.attacks.gathering import Channels, Gatherer
from tacit.attacks.intervals import MOST_PATTERN_ITEMS, Patterns, patterns_on, strongest
from tacit.attacks.narrow import narrow_patterns_on
from tacit.attacks.shortcut import small_groups_in_data
from tacit.attacks.supports import MOST_ITEMS, Lines, Supports
from tacit.errors import LimitReached
from tacit.kernels.moebius import cells, superset_all
from tacit.model.audit import AttackRun, Status
from tacit.model.bound import Bound
from tacit.model.finding import Finding
from tacit.model.release import Itemsets

CODE = "I01"
NAME = "inference-channels"
Take = Callable[[Channels], None]
WITHOUT_N = "the number of people is not known, so groups with none of the items are not decided"


def run(target: Target) -> AttackRun:
    """All maximal channels of a release of itemsets."""
    release = target.release
    assert isinstance(release, Itemsets)
    supports = Supports(release)
    gatherer = Gatherer(release, target.policy.k, release.is_exact and not supports.has_gaps, _stream(target, release))
    status: Status = "ran"
    told, undecided, reason = Told(""), 0, ""
    try:
        told, undecided, reason = _search(target, supports, gatherer)
    except LimitReached:
        status, reason = "stopped", "the time limit was reached; findings so far are kept"
    except FirstHit:
        status, reason = "stopped", "stopped at the first finding, as asked"
    channels = gatherer.worst_first()
    present = channels.present[:, 0] if channels.present.shape[1] == 1 else channels.present
    columns = {"itemset": channels.line, "present": present, "count": channels.lo, "count_hi": channels.hi}
    if channels.free is not None:
        columns["free"] = channels.free

    def place(index: int) -> tuple[int, npt.NDArray[np.uint64], int]:
        free = 0 if channels.free is None else int(channels.free[index])
        return int(channels.line[index]), channels.present[index], free

    def show(index: int) -> Finding:
        count = Bound(int(channels.lo[index]), int(channels.hi[index]))
        return write_out(CODE, supports, target.index, *place(index), count)

    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason,
        people=gatherer.people,
        undecided=undecided,
        measures=told.measures,
        columns=columns,
        severity=(channels.hi << 16) | np.minimum(channels.lengths(gatherer.lengths), 0xFFFF),
        event=lambda index: event_of(release, *place(index)),
        show=show,
        streamed=gatherer.sizes if target.stream is not None else None,
    )


class FirstHit(Exception):
    """One finding was enough."""


def _stream(target: Target, release: Itemsets) -> Callable[[Channels], None] | None:
    """What hands channels on to a file, if there is one."""
    stream = target.stream
    if stream is None:
        return None
    return lambda found: stream.add_patterns(CODE, release, found.line, found.present, found.free, (found.lo, found.hi))


def _search(target: Target, supports: Supports, gatherer: Gatherer) -> tuple[Told, int, str]:
    """Look for channels in the way that fits the release; returns what a detector told, how many sets were left open, and why."""
    release, k = supports.release, target.policy.k

    def take(channels: Channels) -> None:
        gatherer.add(channels)
        if target.first_hit and gatherer.sizes:
            raise FirstHit

    if target.algorithm != "projection":
        told = detect(target, supports, lambda found: take(Channels(*found)))
        return told, 0, told.reason
    if len(release) == 0:
        take(_everyone(release, k))
        return Told(""), *((1, WITHOUT_N) if release.n is None else (0, ""))
    if release.only == "maximal":
        take(Channels.joined(list(_maximal_alone(release, k))))
        alone = int((release.sets.lengths == 1).sum()) if release.n is None else 0
        return Told(""), alone, WITHOUT_N if alone else "maximal itemsets alone do not tell the supports of their subsets"
    if target.data is not None and release.is_exact and release.n is not None and not supports.has_gaps:
        for found in small_groups_in_data(target, supports):
            take(Channels(*found))
        return Told(""), 0, ""
    if release.is_exact and not supports.has_gaps:
        return Told(""), *_channels_in_release(target, supports, take)
    return Told(""), *_channels_in_intervals(target, supports, take)


def _everyone(release: Itemsets, k: int) -> Channels:
    """A release without itemsets says only how many people there are; that is a small group when they are fewer than k."""
    n = release.n or 0
    some = np.full(1 if 0 < n < k else 0, n, np.int64)
    return Channels(np.full(len(some), -1), np.zeros((len(some), 1), np.uint64), some, some)


def _maximal_alone(release: Itemsets, k: int) -> Iterator[Channels]:
    """What maximal itemsets say without their subsets: their own counts, and who lacks an item that is maximal by itself."""
    small = np.flatnonzero((release.lo > 0) & (release.hi < k))
    words = max(1, -(-int(release.sets.lengths.max(initial=1)) // 64))
    present = np.zeros((len(small), words), np.uint64)
    for row, line in enumerate(small):
        for bit in range(int(release.sets.lengths[line])):
            present[row, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    yield Channels(small, present, release.lo[small], release.hi[small])
    if release.n is not None:
        lo, hi = release.n - release.hi, release.n - release.lo
        rest = np.flatnonzero((release.sets.lengths == 1) & (lo > 0) & (hi < k))
        yield Channels(rest, np.zeros((len(rest), words), np.uint64), lo[rest], hi[rest])


def _channels_in_release(target: Target, supports: Supports, take: Take) -> tuple[int, str]:
    """Channels by inclusion-exclusion over exact supports; returns how many sets were left open, and why."""
    release, k = supports.release, target.policy.k
    too_long = 0
    for done, line in enumerate(supports.maximal.tolist()):
        target.limits.check(CODE)
        items = release.sets[line].astype(np.int64)
        if len(items) > MOST_ITEMS:
            too_long += 1
            continue
        cube = supports.cube(items)
        usable = cube.known.copy()
        superset_all(usable)
        lo, hi = np.where(cube.known, cube.lo, 0), np.where(cube.known, cube.hi, 0)
        cells(lo, hi)
        _refuse_negative(release, line, usable & (hi < 0))
        small = np.flatnonzero(usable & (lo > 0) & (hi < k))
        take(Channels(np.full(len(small), line), small.astype(np.uint64)[:, None], lo[small], hi[small]))
        target.progress((done + 1) / len(supports.maximal))
    return _left_open(supports, too_long, MOST_ITEMS)


def _channels_in_intervals(target: Target, supports: Supports, take: Take) -> tuple[int, str]:
    """Channels where counts are rounded or the list has gaps; returns how many sets were left open, and why."""
    refuse_gaps(supports)
    release = supports.release
    lines, found = [], []
    too_long = 0
    try:
        for done, line in enumerate(supports.maximal.tolist()):
            target.limits.check(CODE)
            items = release.sets[line].astype(np.int64)
            patterns = _patterns(target, supports, items)
            if patterns is None:
                too_long += 1
                continue
            _refuse_negative(release, line, patterns.impossible)
            lines.append(line)
            found.append(patterns)
            if target.first_hit and len(patterns.present):
                break
            target.progress((done + 1) / len(supports.maximal))
    finally:
        for line, patterns, kept in zip(lines, found, strongest(found), strict=True):
            chosen = np.flatnonzero(kept)
            present, free = patterns.present[chosen][:, None], patterns.free[chosen]
            take(Channels(np.full(len(chosen), line), present, patterns.lo[chosen], patterns.hi[chosen], free))
    return _left_open(supports, too_long, MOST_PATTERN_ITEMS)


def _patterns(target: Target, supports: Supports, items: Lines) -> Patterns | None:
    """The small patterns on a set; None when it is too long to decide."""
    if len(items) <= MOST_PATTERN_ITEMS:
        return patterns_on(supports, items, target.policy.k)
    if len(items) > MOST_ITEMS:
        return None
    return narrow_patterns_on(supports, items, target.policy.k, lambda: target.limits.check(CODE))


def _left_open(supports: Supports, too_long: int, most: int) -> tuple[int, str]:
    """How many sets were not decided, and why."""
    reasons = []
    if too_long:
        reasons.append(f"{too_long} itemsets of more than {most} items are too long to decide without the data")
    if supports.release.n is None:
        reasons.append(WITHOUT_N)
    return len(supports.maximal) if supports.release.n is None else too_long, "; ".join(reasons)


def _refuse_negative(release: Itemsets, line: int, negative: npt.NDArray[np.bool_] | bool) -> None:
    """Raise when some group would hold fewer than no people."""
    if np.any(negative):
        refuse_clash(release, line)
