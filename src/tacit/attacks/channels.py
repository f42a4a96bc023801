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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.derivation import write_out
from tacit.attacks.shortcut import small_groups_in_data
from tacit.attacks.supports import MOST_ITEMS, Supports
from tacit.errors import Contradiction, LimitReached
from tacit.kernels.moebius import cells, superset_all
from tacit.model.audit import AttackRun, Status
from tacit.model.bound import Bound
from tacit.model.finding import Finding
from tacit.model.release import Itemsets

CODE = "I01"
NAME = "inference-channels"


@dataclass(frozen=True, eq=False)
class Channels:
    """Channels as columns: published set J, which of its items are present (bits by position), bounds on the number of people."""

    line: npt.NDArray[np.int64]
    present: npt.NDArray[np.uint64]
    lo: npt.NDArray[np.int64]
    hi: npt.NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[Channels]) -> Channels:
        """All parts one after the other."""
        words = max((part.present.shape[1] for part in parts), default=1)
        wide = [np.pad(part.present, ((0, 0), (0, words - part.present.shape[1]))) for part in parts]
        empty = np.empty(0, np.int64)
        return cls(
            np.concatenate([part.line for part in parts] or [empty]),
            np.concatenate(wide or [np.empty((0, 1), np.uint64)]),
            np.concatenate([part.lo for part in parts] or [empty]),
            np.concatenate([part.hi for part in parts] or [empty]),
        )

    def take(self, index: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Channels:
        """The channels at these positions."""
        return Channels(self.line[index], self.present[index], self.lo[index], self.hi[index])


def run(target: Target) -> AttackRun:
    """All maximal channels of a release of itemsets."""
    release = target.release
    assert isinstance(release, Itemsets)
    supports = Supports(release)
    status: Status = "ran"
    reason, undecided = "", 0
    parts: list[Channels] = []
    try:
        if len(release) == 0:
            parts.append(_everyone(release, target.policy.k))
        elif release.only == "maximal":
            parts.append(_published_alone(release, target.policy.k))
            reason = "maximal itemsets alone do not tell the supports of their subsets"
        elif target.data is not None and release.is_exact and release.n is not None and not supports.has_gaps:
            for found in small_groups_in_data(target, supports):
                parts.append(Channels(*found))
        else:
            undecided, reason = _channels_in_release(target, supports, parts)
    except LimitReached:
        status, reason = "stopped", "the time limit was reached; findings so far are kept"
    channels = _worst_first(Channels.joined(parts), release)
    present = channels.present[:, 0] if channels.present.shape[1] == 1 else channels.present

    def show(index: int) -> Finding:
        count = Bound(int(channels.lo[index]), int(channels.hi[index]))
        return write_out(CODE, supports, target.index, int(channels.line[index]), channels.present[index], count)

    return AttackRun(
        CODE,
        NAME,
        "proves",
        status,
        reason,
        people=_people(channels),
        undecided=undecided,
        columns={"itemset": channels.line, "present": present, "count": channels.lo, "count_hi": channels.hi},
        severity=(channels.hi << 16) | np.minimum(_lengths(channels, release), 0xFFFF),
        show=show,
    )


def _everyone(release: Itemsets, k: int) -> Channels:
    """A release without itemsets says only how many people there are; that is a small group when they are fewer than k."""
    n = release.n or 0
    some = np.full(1 if 0 < n < k else 0, n, np.int64)
    return Channels(np.full(len(some), -1), np.zeros((len(some), 1), np.uint64), some, some)


def _lengths(channels: Channels, release: Itemsets) -> npt.NDArray[np.int64]:
    """How many items each channel speaks of."""
    lengths = np.append(release.sets.lengths, 0)  # line -1 is the empty set
    return lengths[channels.line]


def _published_alone(release: Itemsets, k: int) -> Channels:
    """Published sets that are themselves smaller than k."""
    small = np.flatnonzero((release.lo > 0) & (release.hi < k))
    words = max(1, -(-int(release.sets.lengths.max(initial=1)) // 64))
    present = np.zeros((len(small), words), np.uint64)
    for row, line in enumerate(small):
        for bit in range(int(release.sets.lengths[line])):
            present[row, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    return Channels(small, present, release.lo[small], release.hi[small])


def _channels_in_release(target: Target, supports: Supports, parts: list[Channels]) -> tuple[int, str]:
    """Channels by inclusion-exclusion over published supports; returns how many sets were left open, and why."""
    release = supports.release
    gaps = supports.has_gaps
    candidates = np.arange(len(release)) if gaps else supports.maximal
    too_long, needs_n = 0, 0
    wider = _one_item_more(release) if gaps else {}
    for done, line in enumerate(candidates.tolist()):
        target.limits.check(CODE)
        items = release.sets[line].astype(np.int64)
        if len(items) > MOST_ITEMS:
            too_long += 1
            continue
        cube = supports.cube(items)
        usable = cube.known.copy()
        needs_n += int(not usable[0])
        superset_all(usable)
        lo, hi = np.where(cube.known, cube.lo, 0), np.where(cube.known, cube.hi, 0)
        cells(lo, hi)
        _refuse_negative(release, line, usable & (hi < 0))
        small = np.flatnonzero(usable & (lo > 0) & (hi < target.policy.k))
        if gaps and len(small):
            small = small[~_goes_further(supports, wider.get(line, []), items, small)]
        parts.append(Channels(np.full(len(small), line), small.astype(np.uint64)[:, None], lo[small], hi[small]))
        target.progress((done + 1) / len(candidates))
    reasons = []
    if too_long:
        reasons.append(f"{too_long} itemsets of more than {MOST_ITEMS} items are too long to decide without the data")
    if needs_n and release.n is None:
        reasons.append("the number of people is not known, so groups with none of the items are not decided")
    return too_long + (needs_n if release.n is None else 0), "; ".join(reasons)


def _one_item_more(release: Itemsets) -> dict[int, list[int]]:
    """For every published set, the published sets with exactly one item more."""
    hashes = release.sets.hashes()
    line_of = dict(zip(hashes.tolist(), range(len(release)), strict=True))
    owners = release.sets.owners()
    wider: dict[int, list[int]] = {}
    for owner, parent in zip(owners.tolist(), (hashes[owners] - release.sets.member_hashes()).tolist(), strict=True):
        if parent in line_of:
            wider.setdefault(line_of[parent], []).append(owner)
    return wider


def _goes_further(
    supports: Supports, wider: list[int], items: npt.NDArray[np.int64], small: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which channels on ``items`` are not maximal, because the same sum is known on a published set with one more item."""
    further = np.zeros(len(small), np.bool_)
    for line in wider:
        more = supports.release.sets[line].astype(np.int64)
        if len(more) > MOST_ITEMS:
            continue
        usable = supports.cube(more).known
        superset_all(usable)
        extra = int(np.flatnonzero(~np.isin(more, items))[0])
        low = small & ((1 << extra) - 1)
        further |= usable[((small >> extra) << (extra + 1)) | low]
    return further


def _refuse_negative(release: Itemsets, line: int, negative: npt.NDArray[np.bool_]) -> None:
    """Raise when some group would hold fewer than no people."""
    if negative.any():
        name = release.source.name if release.source else "the release"
        raise Contradiction(
            "the counts of this itemset and of its subsets cannot all be true: some group would have fewer than 0 people",
            where=f"{name} line {release.line(line)}",
            remedy="Check the file, its number of people and how its numbers were rounded (--rounding)",
        )


def _worst_first(channels: Channels, release: Itemsets) -> Channels:
    """Smallest groups first, then shortest descriptions, then the order of the file."""
    if len(channels.line) == 0:
        return channels
    keys = [channels.present[:, word] for word in range(channels.present.shape[1])]
    return channels.take(np.lexsort((*keys, channels.line, _lengths(channels, release), channels.hi)))


def _people(channels: Channels) -> int:
    """People proved to be concerned at least: the groups of one itemset do not overlap, so they add up."""
    if len(channels.line) == 0:
        return 0
    _, of = np.unique(channels.line, return_inverse=True)
    return int(np.bincount(of, weights=channels.lo).max())
