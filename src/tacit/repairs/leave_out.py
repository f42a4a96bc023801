"""leave-out: drop the itemsets with small groups, and say so.

Changes
    An itemset that a finding is about goes, with all larger ones, and the rest is audited again until nothing is found. Where findings are about
    no listed itemset, as those about people with none of the listed values of a column, itemsets that their proofs cite go. All others keep
    their exact counts, and the header says that the list is not complete. With ``--lines`` just the lines that are named go.
Guarantee
    Every line stays true of the data, and a list that holds every subset of its itemsets still does. Each database that fits the old list fits
    the new one, so nothing is proved that was not proved before. An itemset that distinguishes a small group is in no safe list, nor is a larger
    one: as long as findings are about listed itemsets, what is left is the largest safe part, the same that ``safe-family`` finds by looking at
    the people.
Cost
    One audit for every size of itemsets that go.
Example
    50 people have a, 49 have a and b, 100 have c: without {a, b} no small group is distinguished, and a, b and c keep their counts.
Reference
    Our own; see Atzori, Bonchi, Giannotti, Pedreschi, k-Anonymous Patterns, PKDD 2005, section 3 for what a safe itemset is.
"""

from __future__ import annotations

from tacit.model.errors import OptionError
from tacit.model.repair import Proposal, RepairCase, itemsets_of
from tacit.repairs.lists import without_findings, without_lines

NAME = "leave-out"


def propose(case: RepairCase) -> Proposal:
    """Propose the itemsets without those named, or without those with small groups."""
    release = itemsets_of(case, NAME)
    if case.lines is not None:
        return Proposal(without_lines(release, case.lines), case.data)
    if release.only == "closed":
        if case.data is None:
            remedy = "Give the data with --data, or a list of all frequent itemsets"
            raise OptionError("closed itemsets say more than their lines", where=f"--method {NAME}", remedy=remedy)
        release = case.mine_all(case.data)
    return Proposal(without_findings(case, release), case.data)
