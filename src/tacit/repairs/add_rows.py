"""additive and exact-deficit: add people to small groups until none is small, and publish what is mined from the result.

Changes
    *additive* adds k people with exactly the items I for every maximal channel "all of I, nothing else of M". *exact-deficit* goes through the
    channels, longest I first, skips those that are no longer small, and adds only as many people as the neediest of the groups that they
    join lacks.
Guarantee
    Only subsets of frequent itemsets grow, so no itemset is lost and none is added that was not frequent. Every group that is touched ends
    with at least k people, so no sum over published supports (I01) yields a small group. Deduction through unpublished itemsets (I02) is
    not ruled out: with the goal ``all`` something may remain, and the record says so.
Cost
    One search for small groups; for exact-deficit one more look at every maximal set per channel.
Example
    50 people have a, 49 have a and b, k = 10: nine people with a only are added.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, Blocking Anonymity Threats Raised by Frequent Itemset Mining, ICDM 2005 (reconstructed from its
    summary); the exact deficit is ours.
"""

from __future__ import annotations

import numpy as np

from tacit.model.release import Itemsets
from tacit.model.transactions import Transactions
from tacit.repairs.base import Proposal, RepairCase, itemsets_of
from tacit.repairs.family import maximal
from tacit.repairs.rows import BitRows, Whole, Words

ADDITIVE = "additive"
DEFICIT = "exact-deficit"


def propose_classical(case: RepairCase) -> Proposal:
    """The release of the data with k people added for every channel."""
    rows, groups, _ = _channels(itemsets_of(case, ADDITIVE), case)
    return _with_people(case, rows, groups, np.full(len(groups), case.k))


def propose_deficit(case: RepairCase) -> Proposal:
    """The release of the data with as few people added per channel as its groups lack."""
    rows, groups, masks = _channels(itemsets_of(case, DEFICIT), case)
    order = np.argsort(-np.bitwise_count(groups).sum(axis=1, dtype=np.int64), kind="stable")
    added_rows, added = [np.empty((0, groups.shape[1]), np.uint64)], []
    sizes = [_sizes(rows, mask) for mask in masks]
    for group in groups[order]:
        # People with exactly these items join one group on every maximal set; the neediest says how many are wanted.
        joined = [(known, tuple((group & mask).tolist())) for known, mask in zip(sizes, masks, strict=True)]
        wanted = max(case.k - known.get(key, 0) for known, key in joined)
        if not any(0 < known.get(key, 0) < case.k for known, key in joined):
            continue
        for known, key in joined:
            known[key] = known.get(key, 0) + wanted
        added_rows.append(group[None, :])
        added.append(wanted)
    return _with_people(case, rows, np.concatenate(added_rows), np.array(added, np.int64))


def _channels(release: Itemsets, case: RepairCase) -> tuple[BitRows, Words, Words]:
    """The rows, the items of each small group on a maximal set, and the maximal sets as bits."""
    assert case.data is not None
    rows = BitRows.of(case.data)
    family = maximal(release, case.data.items)
    _, groups, _ = rows.small_groups(family, case.k)
    return rows, groups, rows.masks(family)


def _sizes(rows: BitRows, mask: Words) -> dict[tuple[int, ...], int]:
    """How many people are in each group on one set."""
    kept, group = np.unique(rows.words & mask, axis=0, return_inverse=True)
    people = np.zeros(len(kept), np.int64)
    np.add.at(people, group.reshape(-1), rows.weights)
    return dict(zip(map(tuple, kept.tolist()), people.tolist(), strict=True))


def _with_people(case: RepairCase, rows: BitRows, added: Words, people: Whole) -> Proposal:
    """The release of the rows with more people."""
    data: Transactions = BitRows(
        np.concatenate((rows.words, added)), np.concatenate((rows.weights, people)), rows.items
    ).transactions()
    return Proposal(case.mine(data), data)
