"""Adding people to small groups: what the repairs additive and exact-deficit share."""

from __future__ import annotations

import numpy as np

from tacit.model.release import Itemsets
from tacit.repairs.base import Proposal, RepairCase
from tacit.repairs.family import maximal
from tacit.repairs.rows import BitRows, Whole, Words


def small_groups(release: Itemsets, case: RepairCase) -> tuple[BitRows, Words, Words]:
    """The rows, the items of each small group on a maximal set, and the maximal sets as bits."""
    assert case.data is not None
    rows = BitRows.of(case.data)
    family = maximal(release, case.data.items)
    _, groups, _ = rows.small_groups(family, case.k)
    return rows, groups, rows.masks(family)


def with_people(case: RepairCase, rows: BitRows, added: Words, people: Whole) -> Proposal:
    """The release of the rows with more people."""
    data = BitRows(np.concatenate((rows.words, added)), np.concatenate((rows.weights, people)), rows.items).transactions()
    return Proposal(case.mine(data), data)
