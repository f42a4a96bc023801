"""suppressive: delete the people in small groups, and mine again.

Changes
    Rows that lie in a group of fewer than k people on a published maximal set (and, with the goal ``all``, on a set just below the threshold
    or one that deduction still reaches) are deleted; this may make other groups small and push itemsets below the threshold, so it is
    repeated until nothing is left to delete.
Guarantee
    The result is a true release of the people who are left; no group of fewer than k of them can be computed. Rows only disappear, so it ends.
Cost
    One round of mining and search for small groups per round.
Example
    49 people have a and b, 1 has a only: the one is deleted.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, Blocking Anonymity Threats Raised by Frequent Itemset Mining, ICDM 2005 (reconstructed from its
    summary).
"""

from __future__ import annotations

import numpy as np

from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.people import until_clean

NAME = "suppressive"


def propose(case: RepairCase) -> Proposal:
    """Propose a release of the people who are in no small group."""
    itemsets_of(case, NAME)
    return until_clean(case, lambda rows, masks, groups: np.where(rows.within(masks, groups), 0, rows.weights))
