"""additive: add k people to every small group, and mine again.

Changes
    For every maximal channel "all of I, nothing else of M", k people with exactly the items I are added. The number of people grows.
Guarantee
    Only subsets of frequent itemsets grow, so no itemset is lost and none is added that was not frequent. Every group grows by a multiple of k,
    so no old channel survives and none is created. Deduction through unpublished itemsets (I02) is not ruled out: with the goal ``all``
    something may remain, and the record says so.
Cost
    One search for small groups and one round of mining.
Example
    50 people have a, 49 have a and b, k = 10: ten people with a only are added.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, Blocking Anonymity Threats Raised by Frequent Itemset Mining, ICDM 2005 (reconstructed from its
    summary).
"""

from __future__ import annotations

import numpy as np

from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.people import small_groups, with_people

NAME = "additive"


def propose(case: RepairCase) -> Proposal:
    """Propose the release of the data with k people added per channel."""
    rows, groups, _ = small_groups(itemsets_of(case, NAME), case)
    return with_people(case, rows, groups, np.full(len(groups), case.k))
