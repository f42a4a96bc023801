"""Whether lines can be the closed or the maximal itemsets that a file says they are.

What shows that they are not: among *closed* sets, one with as many people as a set around it, and in a complete list two sets whose common
items are missing, because what two closed sets share is closed; among *maximal* sets, one inside another, and two that so many people have
that some have both. What only bounds on the supports show is found by the attacks.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, numbered
from tacit.formats.subsets import PAIRS_BUDGET, clash_of_pairs
from tacit.model.release import Itemsets, Release
from tacit.model.sets import Sets

#: How many pairs of closed sets have what they share looked up, the most frequent sets first: about a tenth of a second.
MOST_PAIRS = 1 << 20

_OTHER_LIST = "Correct the lines, or say what the file lists (--only)"
_OTHER_CLAIM = "Add what is missing, or say that the list is not complete (--incomplete)"


def check_listing(release: Release) -> None:
    """Raise a :class:`Contradiction` when lines that were read cannot be what the release says they are; what was mined is what it says."""
    if not isinstance(release, Itemsets) or release.lines is None or len(release) == 0 or release.only == "all":
        return
    if len(release.sets.members) * len(release) // 8 <= PAIRS_BUDGET:
        _check_pairs(release)
    if release.only == "maximal":
        _check_unions(release)
    elif release.header.complete:
        _check_shared(release)


def _refuse(release: Itemsets, positions: list[int], what: str, remedy: str) -> NoReturn:
    lines = [release.line(position) for position in positions]
    name = release.source.name if release.source is not None else "release"
    raise Contradiction(what, where=f"{name}, {numbered(sorted(lines))}", remedy=remedy, lines=sorted(lines))


def _check_pairs(release: Itemsets) -> None:
    """No closed set has as many people as a set around it, and no maximal set has a set around it."""
    if release.only == "closed":
        found = clash_of_pairs(release.sets, release.lo, release.hi, strict=True)
        why = "holds it and has at least as many people"
    else:
        size = len(release)
        found = clash_of_pairs(release.sets, np.ones(size, np.int64), np.zeros(size, np.int64))
        why = "holds it"
    if found is not None:
        inner, outer = release.line(found.smaller), release.line(found.larger)
        what = f"the itemset of line {inner} is not {release.only}: that of line {outer} {why}"
        _refuse(release, [found.smaller, found.larger], what, _OTHER_LIST)


def _check_unions(release: Itemsets) -> None:
    """No two maximal sets are so frequent that their union is frequent as well."""
    if release.n is None or len(release) < 2 or release.header.coarser:
        return
    least = release.min_support or int(release.hi.min())
    positions = np.argsort(-release.lo, kind="stable")[:2].tolist()
    both = int(release.lo[positions].sum()) - release.n
    if both >= least:
        what = f"the two itemsets cannot be maximal: at least {both:,} of all {release.n:,} people have both, and {least:,} are enough"
        _refuse(release, positions, what, _OTHER_LIST)


def _check_shared(release: Itemsets) -> None:
    """What two closed sets share is closed, and at least as frequent, so a complete list holds it."""
    if release.header.coarser:
        return  # a set may then be closed only because the set around it was never looked at
    size = min(len(release), int(MOST_PAIRS**0.5))
    chosen = np.sort(np.argsort(-release.lo, kind="stable")[:size])
    rows = _bits(release.sets, len(release.items))
    listed = np.sort(_keys(rows))
    rows = rows[chosen]
    for i in range(size):
        shared = rows[i + 1 :] & rows[i]
        keys = _keys(shared)
        missing = listed[np.minimum(np.searchsorted(listed, keys), len(listed) - 1)] != keys
        missing &= shared.any(axis=1)
        if missing.any():
            what = "the list cannot be complete: what two closed itemsets share is closed, too, and what these share stands on no line"
            _refuse(release, [int(chosen[i]), int(chosen[i + 1 + np.argmax(missing)])], what, _OTHER_CLAIM)


def _bits(sets: Sets, items: int) -> npt.NDArray[np.uint64]:
    """Sets as rows of bits."""
    rows = np.zeros((len(sets), max(1, -(-items // 64))), np.uint64)
    members = sets.members.astype(np.int64)
    np.bitwise_or.at(rows, (sets.owners(), members >> 6), np.uint64(1) << (members & 63).astype(np.uint64))
    return rows


def _keys(rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """One number per row; two rows that differ share one only by a rare chance, which hides a missing set and never makes one up."""
    mix = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], np.uint64) | np.uint64(1)
    return np.asarray((rows * mix).sum(axis=1, dtype=np.uint64), np.uint64)
