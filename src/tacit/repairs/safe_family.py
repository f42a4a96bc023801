"""safe-family: publish exactly the frequent itemsets without small groups.

Changes
    An itemset is safe when every group of people that its items distinguish is empty or has at least k members. Unsafe itemsets are left out; no
    count is changed. The list is then no longer complete, and its header says so.
Guarantee
    Every subset of a safe itemset is safe, so the safe frequent itemsets are the largest family, closed under subsets, from which no sum gives
    a small group. What lines about one column reveal together (everybody but those with a listed value) is looked for by the audit; then
    itemsets that its proofs cite are left out as well, with all larger ones.
Cost
    One search for small groups over all frequent itemsets, and audits until nothing is found.
Example
    50 people have a, 49 have a and b, 100 have c: {a, b} is left out, a, b and c stay.
Reference
    Our own; see Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, section 3 for what a safe itemset is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.lists import without_findings
from tacit.repairs.people import BitRows, in_items

NAME = "safe-family"


def propose(case: RepairCase) -> Proposal:
    """Propose the frequent itemsets that are safe."""
    release = itemsets_of(case, NAME)
    assert case.data is not None
    if release.only == "closed":
        # Closed sets may be unsafe while subsets of theirs are safe, so all frequent itemsets have to be looked at.
        release = case.mine_all(case.data)
    rows = BitRows.of(case.data)
    numbers, _ = rows.small_groups(in_items(release.sets, release.items.names, case.data.items), case.k)
    safe = np.setdiff1d(np.arange(len(release)), numbers)
    family = release.take(safe, replace(release.header, complete=False))
    return Proposal(without_findings(case, family) if case.goal == "all" else family, case.data)
