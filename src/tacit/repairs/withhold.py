"""withhold: publish which rules there are, and none of their numbers.

Changes
    Counts, supports and confidences are left out; the list and its thresholds stay, and it is as complete as before. Where the distribution of
    the sensitive column is published and the result is not safe with it, it is left out as well.
Guarantee
    Every line stays true of the data. Each database that fits the old list fits the new one, so what was not proved before is not proved
    after; the attacker keeps that each rule reaches the thresholds and that missing rules do not. Estimates have no such guarantee: with less to
    go by, one of them can rise. The audit decides.
Cost
    One or two audits.
Example
    5 of 6 doctorates earn much, and all 4 women among them do. Without the numbers, at a confidence of 80 %, both male doctorates may.
Reference
    Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009, section VI B.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.mining.rules import Published
from tacit.model.repair import Proposal, RepairCase
from tacit.repairs.lists import Lines, safety

NAME = "withhold"


def propose(case: RepairCase) -> Proposal:
    """Propose the rules without numbers, or without the distribution too."""
    lines = Lines.of(case)
    withheld = lines.printed(Published(withhold_values=True))
    if any(one.counts for one in withheld.header.sensitive):
        silent = tuple(replace(one, counts=()) for one in withheld.header.marginals)
        alone = replace(withheld, header=replace(withheld.header, sa_counts=(), marginals=silent))
        if safety(case.look(alone)) > safety(case.look(withheld)):
            return Proposal(alone)
    return Proposal(withheld)
