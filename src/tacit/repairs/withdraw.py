"""withdraw: remove the rules that reveal most, and say so.

Changes
    Rules are taken out, those first that do most to raise the estimates and proofs that the policy forbids; all others keep their numbers. The
    header then says that the list is not complete. At the end, rules that turn out not to matter are put back, the broadest first; and a list
    is grown from nothing in the same way. The one that says more is published. Rules that are not about known people lose a few lines that all
    proofs rest on. With ``--lines`` just the lines that are named go.
Guarantee
    Every line stays true of the data. Each database that fits the old list fits the new one: nothing is proved that was not proved before, and
    the largest entropy can only rise. (A list that leaves rules out and calls itself complete would be false, and would say more, not less.)
    Single estimates can still rise when a rule goes, so every step is audited again.
Cost
    An audit for every twenty-fifth of the rules that goes, and at most 300 more to put rules back.
Example
    Without the rule about female doctorates, 5 of 6 doctorates earn much, men and women alike: 5/6 for each, not 1 and 1/2.
Reference
    Our own; named as future work by Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009, section VII.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Ints
from tacit.model.audit import Audit
from tacit.model.release import Rules
from tacit.model.repair import Proposal, RepairCase
from tacit.repairs.lists import Lines, proofs_of, safety, some_lines, with_more, without_lines, without_proofs

NAME = "withdraw"

PARTS = 25  #: In each step the worst of this many parts of the rules goes.
MOST_PROOFS = 200  #: Proofs whose cited lines are counted; the worst come first.


def propose(case: RepairCase) -> Proposal:
    """Propose rules cut by influence or grown, whichever say more."""
    if case.lines is not None:
        return Proposal(without_lines(case.release, case.lines))
    if case.table is None:
        return Proposal(without_proofs(case))
    lines = Lines.of(case)
    release = lines.release
    broadest_first = np.argsort(-lines.wholes, kind="stable")
    kept, reached = _cut(case, release)
    chosen = with_more(case, release, kept, broadest_first, reached)
    grown = with_more(case, release, kept[:0], broadest_first, reached)
    candidates = [_select_rules(release, one) for one in (chosen, grown)]
    # The entropy is the uncertainty that a release leaves.
    return Proposal(min(candidates, key=lambda one: float(case.look(one).measures.get("posterior_entropy", 0.0))))


def _cut(case: RepairCase, release: Rules) -> tuple[Ints, int]:
    """Remove the most influential rules until the rest is safe; grade it."""
    kept = np.arange(len(release), dtype=np.int64)
    audit = case.look(release)
    while len(kept) and safety(audit) < 2:
        kept = np.delete(kept, most_influential(audit, _select_rules(release, kept)))
        audit = case.look(_select_rules(release, kept))
    return kept, safety(audit)


def most_influential(audit: Audit, release: Rules) -> Ints:
    """Return the most influential lines, one of :data:`PARTS` parts of all."""
    weights = influence(audit, release)
    worst = np.argsort(-weights, kind="stable")[: max(1, len(release) // PARTS)]
    # Rules without influence stay as long as others have some.
    return worst[weights[worst] > 0] if weights.max(initial=0) > 0 else worst


def influence(audit: Audit, release: Rules) -> npt.NDArray[np.float64]:
    """Measure each line's influence: multipliers, and proofs that cite it."""
    total = np.zeros(len(release))
    place = {release.line(index): index for index in range(len(release))}
    for run in audit.runs:
        weights = np.asarray(run.details.get("influence", np.zeros(len(release))), float)
        if run.findings and run.claim == "proves" and run.show is not None:
            weights = np.zeros(len(release))
            for cited in proofs_of(run, MOST_PROOFS):
                weights[[place[line] for _, line in sorted(cited) if line in place]] += 1
        if run.findings and weights.sum() > 0:
            total += weights / weights.sum()
    return total


def _select_rules(release: Rules, kept: Ints) -> Rules:
    part = some_lines(release, kept)
    assert part.kind == "rules"
    return part
