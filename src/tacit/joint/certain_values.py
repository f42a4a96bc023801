"""R03 certain-values: which sensitive values nobody with given quasi-identifiers can have, and so who has one for certain.

Infers
    For every combination of quasi-identifiers and every sensitive value, the fewest and the most people who can have both, in all
    databases of whole people that published and missing rules allow. Where fewer than l values are left, the combination is exposed; with l = 2
    its value is certain. Of frequency tables whose columns have roles, the same about every group, whoever is in it: everyone with these
    quasi-identifiers has one value.
Assumes
    Everybody's quasi-identifiers are known (of frequency tables nobody's need be), and the values that the sensitive column can have. What rules
    say is read in whole people: a rule that is published reaches its thresholds, one that is missing from a complete list does not.
Claim
    Proves. Each finding rests on a weighted sum of published lines and missing rules that is added up in whole numbers.
Cost
    A few hundred linear programs, most of them for many combinations at once; each has a line for every rule and an unknown for every class
    of people whom the same rules speak of. What the time does not suffice for is counted as undecided, with bounds that hold.
Example
    Both doctorates earn much, and no rule says so of women, who are two: so not both of them do. One is a doctorate; the other earns little.
Reference
    Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009, examples 1 and 2; the bounds are ours.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.joint import full_groups
from tacit.joint.case import JointCase
from tacit.known.case import PeopleCase, RuleCase
from tacit.known.proofs import BOUNDING, MOST_LINES, Prover, all_said, bounds_of, bounds_together, proof_of
from tacit.known.releases import SeveralCase
from tacit.known.sensitive_values import described, together, why_not
from tacit.known.words import ProofWords, SeveralWords
from tacit.model.audit import AttackRun, Target
from tacit.model.event import BoxEvent
from tacit.model.finding import Finding, certificate
from tacit.model.numbers import Bound
from tacit.solve.bounds import Bounds
from tacit.solve.statements import Statements

CODE = "R03"
NAME = "certain-values"


def run(target: Target) -> AttackRun:
    """The combinations that keep fewer than l sensitive values; bounds for all."""
    case = target.case
    if isinstance(case, JointCase):
        return full_groups.run(target, CODE, NAME)
    if isinstance(case, SeveralCase):
        return _Outcome(target, case, *bounds_together(case, target.limits)).run()
    if not isinstance(case, RuleCase):
        return AttackRun(CODE, NAME, "proves", "unavailable", why_not(target))
    said = all_said(case)
    return _Outcome(target, case, said, bounds_of(case, said, target.limits.part(BOUNDING))).run()


class _Outcome:
    """The findings of one run, written out only when they are looked at."""

    def __init__(self, target: Target, case: PeopleCase, said: Statements, found: Bounds) -> None:
        self.case, self.said, self.together = case, said, together(target)
        self.people, self.number = case.population.people, target.index
        self.limits = target.limits
        self.unproved = 0
        self.found = self._written_out(found, target.policy.l) if found.by_cases or self.limits.deadline is not None else found
        left = self._left(self.found)
        exposed = np.flatnonzero(left < target.policy.l)
        self.which = exposed[np.lexsort((exposed, left[exposed], self.people[exposed]))]
        self.left: npt.NDArray[np.int64] = left

    def _left(self, found: Bounds) -> npt.NDArray[np.int64]:
        """How many values are left to each combination."""
        if isinstance(self.case, SeveralCase):
            return self.case.values_left(found.impossible)
        return np.asarray((~found.impossible).sum(axis=1), np.int64)

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self.said, self._check)

    def _check(self) -> float | None:
        self.limits.check(CODE)
        return self.limits.seconds_left

    def _written_out(self, found: Bounds, l: int) -> Bounds:  # noqa: E741 - the policy's own name
        """The bounds without what nobody could check: what only cases show, and what is not proved in time, is left undecided."""
        left = self._left(found)
        exposed = np.flatnonzero(left < l)
        exposed = exposed[np.lexsort((exposed, left[exposed], self.people[exposed]))]
        wanted = [(q, tuple(np.flatnonzero(found.impossible[q]).tolist())) for q in exposed.tolist()]
        if self.limits.deadline is None:
            proved = [self._prover.ruled_out(q, ruled_out) is not None for q, ruled_out in wanted]
        else:
            proved = self._prover.prove_in_time(wanted)
        most = found.hi.copy()
        for (q, ruled_out), is_proved in zip(wanted, proved, strict=True):
            if not is_proved:
                most[q, list(ruled_out)] = 1
                self.unproved += 1
        return replace(found, hi=most)

    def run(self) -> AttackRun:
        """The run with its measures, bounds and findings."""
        found, people, which = self.found, self.people, self.which
        certain = self.left == 1
        undecided = int(found.unsettled.sum())
        unread = self.case.unread if isinstance(self.case, SeveralCase) else 0
        reason = self._reason(undecided)
        if unread:
            reason = "; ".join(
                filter(
                    None, (reason, f"{unread:,} lines, or relations between lines, that name the sensitive column are not used")
                )
            )
        return AttackRun(
            CODE,
            NAME,
            "proves",
            "stopped" if found.stopped or (self.unproved and self.limits.is_over) else "ran",
            reason,
            people=int(people[which].sum()),
            undecided=undecided + unread,
            measures={
                "qi_combinations": len(people),
                "people_certain": int(people[certain].sum()),
                "qi_certain": int(certain.sum()),
                "bounds_open": int(found.loose.sum()),
            },
            columns={
                "combination": which,
                "value": np.where(self.left[which] == 1, (~found.impossible[which]).argmax(axis=1), -1),
                "values_left": self.left[which],
                "count": people[which],
                "count_hi": people[which],
            },
            severity=people[which] << 16,
            event=self.event,
            show=self.show,
            details={"lower": found.lo / people[:, None], "upper": found.hi / people[:, None]},
        )

    def _reason(self, undecided: int) -> str:
        if not self.found.stopped and not undecided:
            return self.together
        why = {"time": "the time limit was reached", "work": "the rules are many, and no --time-limit allows more work"}.get(
            self.found.stopped, "some programs were too large to finish, or no single sum shows what they found"
        )
        if isinstance(self.case, SeveralCase) and self.case.n_lines > MOST_LINES:
            why = "the lines are too many for programs over all of them"
        left = f"of {undecided:,} pairs of combination and value it is not known whether anybody has them"
        reason = f"{why}: {left if undecided else 'who can have which value is decided, but some bounds may be too wide'}"
        return f"{self.together}; {reason}" if self.together else reason

    def _values(self, q: int, *, possible: bool) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.found.impossible[q] != possible).tolist())

    def event(self, index: int) -> BoxEvent:
        """Who has the combination and one of the values that are left."""
        q = int(self.which[index])
        values: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.case.population.describe(q).items()}
        return BoxEvent(values | {self.case.sensitive: tuple(self.case.values[v] for v in self._values(q, possible=True))})

    def show(self, index: int) -> Finding:
        """The finding with its proof."""
        case, q = self.case, int(self.which[index])
        n = int(self.people[q])
        left = [case.values[v] for v in self._values(q, possible=True)]
        who = f"The {'one person' if n == 1 else f'{n:,} people'} with {described(case, q)}"
        has = "has" if n == 1 else "have"
        text = (
            f"{who} certainly {has} {case.sensitive} {left[0]}."
            if len(left) == 1
            else f"{who} can only have {case.sensitive} {', '.join(left[:-1])} or {left[-1]}."
        )
        ruled_out = self._values(q, possible=False)
        if isinstance(case, SeveralCase):
            return SeveralWords(case, self.said, q, ruled_out).finding(CODE, self._prover.ruled_out(q, ruled_out))
        assert isinstance(case, RuleCase)
        words = ProofWords(case, self.said, q, ruled_out, self.number)
        found = self._prover.ruled_out(q, ruled_out)
        because, steps = words.told(found)
        proof = None if found is None else certificate(self.event(index), Bound(n, n), **proof_of(because))
        return Finding(CODE, self.event(index), Bound(n, n), text, because=because, steps=steps, certificate=proof)
