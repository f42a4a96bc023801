"""raise-threshold: publish only counts above the lowest safe threshold.

Changes
    Itemsets whose count is below the new threshold are left out; all others keep their exact counts. The header names the smallest count that
    is left as the threshold: the largest count that was left out would give that count away. Of rules, those below a new support or
    confidence are left out; the thresholds are round numbers, and the list is as complete above them as it was. With ``--min-support`` the
    threshold is the one that is named, whatever the audit of the result says.
Guarantee
    A family of itemsets that allows no inference keeps none when it shrinks from below: groups on fewer items are unions of groups on more,
    and what a smaller complete list says about missing itemsets follows from the larger one. So the safe thresholds are an upper range, its
    lowest member is found by halving, and the audit confirms it. Rules with exact numbers: what the shorter list says, of rules that are
    listed and of rules that are missing, follows from the longer one, so proofs can only vanish. Estimates, and lists without exact numbers,
    have no such order (a rule that reaches a higher threshold says more); halving then finds safe thresholds, though perhaps not the lowest.
Cost
    As many audits as it takes to halve the number of different published counts to one; for rules about ten for every confidence tried.
Example
    50 people have a, 49 have a and b: at threshold 50 only a is left, and nobody is singled out.
Reference
    Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, section 3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.model.release import Itemsets
from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.lists import above_support, safe_thresholds

NAME = "raise-threshold"


def propose(case: RepairCase) -> Proposal:
    """Propose the largest part above a threshold whose audit is clean.

    Where the number of people is not known no audit is clean; then the largest part in which nothing is found.
    """
    if case.release.kind == "rules":
        return Proposal(safe_thresholds(case) if case.min_support is None else above_support(case, case.min_support))
    release = itemsets_of(case, NAME)
    if case.min_support is not None:
        return Proposal(above(release, case.min_support), case.data)
    # Only at these thresholds does the published family change; the last one is above every count.
    thresholds = np.unique(np.append(release.lo + 1, release.min_support or 1))
    safe = len(thresholds) - 1
    unsafe = -1
    while safe - unsafe > 1:
        middle = (safe + unsafe) // 2
        verdict = case.look(above(release, int(thresholds[middle])), case.data).asked_verdict
        if verdict == "clean" or (release.n is None and verdict == "incomplete"):
            safe = middle
        else:
            unsafe = middle
    chosen = above(release, int(thresholds[safe]))
    if len(chosen):
        # The list is complete from its own smallest count on.
        chosen = replace(chosen, header=replace(chosen.header, min_support=int(chosen.lo.min())))
    return Proposal(chosen, case.data)


def above(release: Itemsets, threshold: int) -> Itemsets:
    """Return the itemsets that certainly reach a threshold."""
    return release.take(np.flatnonzero(release.lo >= threshold), replace(release.header, min_support=threshold))
