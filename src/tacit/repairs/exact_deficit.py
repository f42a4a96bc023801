"""exact-deficit: add just the people that small groups lack, and mine again.

Changes
    Channels "all of I, nothing else of M" are gone through, longest I first. One that is no longer small is skipped; otherwise people with
    exactly the items I are added, as many as the neediest of the groups that they join lacks. The number of people grows.
Guarantee
    As for additive: nothing is lost, no itemset is added that was not frequent, and every group that is touched ends with at least k people.
    Deduction through unpublished itemsets (I02) is not ruled out: with the goal ``all`` something may remain, and the record says so.
Cost
    One search for small groups, one look at every maximal set per channel, one round of mining.
Example
    50 people have a, 49 have a and b, k = 10: nine people with a only are added.
Reference
    Our own, after Atzori, Bonchi, Giannotti, Pedreschi, Blocking Anonymity Threats Raised by Frequent Itemset Mining, ICDM 2005.
"""

from __future__ import annotations

import numpy as np

from tacit.model.arrays import Ints, Words
from tacit.model.policy import check_time
from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.people import small_groups, with_people

NAME = "exact-deficit"


def propose(case: RepairCase) -> Proposal:
    """Propose the release with the people added that small groups lack."""
    rows, groups, masks = small_groups(itemsets_of(case, NAME), case)
    longest_first = np.argsort(-np.bitwise_count(groups).sum(axis=1, dtype=np.int64), kind="stable")
    people = np.zeros(len(groups), np.int64)
    # Only the words in which a maximal set has items matter: with many rare items they are few.
    used = np.flatnonzero(masks.any(axis=0))
    words = rows.words[:, used]
    masks = masks[:, used]
    sizes = [_count_groups(words, rows.weights, mask) for mask in masks]
    for place in longest_first.tolist():
        check_time("repair")
        # People with exactly these items join one group on every maximal set.
        joined = [(known, tuple((groups[place, used] & mask).tolist())) for known, mask in zip(sizes, masks, strict=True)]
        if any(0 < known.get(key, 0) < case.k for known, key in joined):
            people[place] = max(case.k - known.get(key, 0) for known, key in joined)
            for known, key in joined:
                known[key] = known.get(key, 0) + int(people[place])
    return with_people(case, rows, groups, people)


def _count_groups(words: Words, weights: Ints, mask: Words) -> dict[tuple[int, ...], int]:
    kept, group = np.unique(words & mask, axis=0, return_inverse=True)
    people = np.zeros(len(kept), np.int64)
    np.add.at(people, group.reshape(-1), weights)
    return dict(zip(map(tuple, kept.tolist()), people.tolist(), strict=True))
