"""merge-channels: merge channels, add k people to each merged one, and mine again.

Changes
    The channels "all of I, nothing else of J" and "all of H, nothing else of L" become one, "all of I and H, nothing else of J and L", if
    neither excludes an item of the other, I and H together are frequent, and the merged channel adds no more to the published supports than
    both apart. Maximal channels are treated in turn, longest I first, and merged where that adds least. For each merged channel k people with
    exactly its items are added. The number of people grows.
Guarantee
    As for additive: no itemset is lost, none is added that was not frequent, no old channel survives and none is created. No more people are
    added than by additive, and the published supports together grow by no more. Deduction through unpublished itemsets (I02) is not ruled
    out: with the goal ``all`` something may remain, and the record says so.
Cost
    One search for small groups, one look at every merged channel per channel, one round of mining.
Example
    50 people have a, 45 a and b, 45 a and c, 40 all three; at a threshold of 45 and k = 10, "a, not b" and "a, not c" are small. Ten people
    with a only are added for both, where additive adds twenty.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, Blocking Anonymity Threats Raised by Frequent Itemset Mining, ICDM 2005 (reconstructed), with the
    order of channels in Definition 14 of their k-Anonymous Patterns, PKDD 2005.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Ints, Words
from tacit.model.policy import check_time
from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.people import BitRows, maximal, with_people

NAME = "merge-channels"


def propose(case: RepairCase) -> Proposal:
    """Propose the release of the data with k people added per merged channel."""
    assert case.data is not None
    rows = BitRows.of(case.data)
    family = maximal(itemsets_of(case, NAME), case.data.items)
    sets, present = rows.small_groups(family, case.k)
    masks = rows.masks(family)
    merged = merge_channels(present, masks[sets] & ~present, masks)
    return with_people(case, rows, merged, np.full(len(merged), case.k))


def merge_channels(present: Words, absent: Words, frequent: Words) -> Words:
    """Return the present items of merged channels, given the maximal frequent sets.

    Merged channels bound their parts in the order of Definition 14, so k people in one are k people in each part (Proposition 15). k people
    with the frequent items R raise ``2**len(R)`` supports, n included. With r items that only the merged channel has and i that only the next
    one has, merging raises no more than both apart if ``2**(r+i) <= 2**r + 2**i``: one contains the other, or r = i = 1. Since long channels
    come first, the next one never contains a merged one without being equal to it.
    """
    length = _sizes(present)
    kept = np.zeros_like(present)
    lacking = np.zeros_like(absent)
    number = 0
    for place in np.argsort(-length, kind="stable").tolist():
        check_time("repair")
        items = present[place]
        merged = kept[:number] | items
        fits = _are_empty(merged & (lacking[:number] | absent[place]))
        grown = _sizes(merged) - _sizes(kept[:number])
        chosen = np.flatnonzero(fits & (grown == 0))[:1]
        if not len(chosen):
            pairs = np.flatnonzero(fits & (grown == 1) & (_sizes(kept[:number]) == length[place]))
            chosen = np.array([one for one in pairs.tolist() if _are_empty(merged[one] & ~frequent).any()][:1], np.int64)
        into = int(chosen[0]) if len(chosen) else number
        kept[into] |= items
        lacking[into] |= absent[place]
        number = max(number, into + 1)
    return kept[:number]


def _sizes(sets: Words) -> Ints:
    return np.asarray(np.bitwise_count(sets).sum(axis=1), np.int64)


def _are_empty(sets: Words) -> npt.NDArray[np.bool_]:
    return np.asarray(~sets.any(axis=1))
