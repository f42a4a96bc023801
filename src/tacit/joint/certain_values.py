"""R03 certain-values: sensitive values that nobody with given quasi-identifiers can have, and people whose value is certain.

Infers
    For every combination of quasi-identifiers and every sensitive value, the fewest and the most people who can have both, in all databases
    of whole people that published and missing rules allow. If fewer than l values are left, the combination is exposed; with l = 2 its value is
    certain. For frequency tables whose columns have roles, the same about every group of unknown people: everyone with these
    quasi-identifiers has one value.
Assumes
    Everybody's quasi-identifiers are known (not needed for frequency tables), and the values that the sensitive column can have. Rules are read
    in whole people: a published rule reaches its thresholds, a rule missing from a complete list does not.
Claim
    Proves. Each finding rests on a weighted sum of published lines and missing rules, added up in whole numbers.
Cost
    A few linear programs for all combinations at once, and one for each bound that stays open; each has a constraint for every rule and an
    unknown for every class of people whom the same rules name. Exchanges of people show what is possible. What does not fit into the time is
    counted as undecided, with bounds that hold.
Example
    Both doctorates earn much, and no rule says so of women, who are two: so not both of them do. One is a doctorate; the other earns little.
Reference
    Zhu, Wang, Du, Deriving Private Information from Association Rule Mining Results, ICDE 2009, examples 1 and 2; the bounds are ours.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from tacit.joint import full_groups
from tacit.joint.lower import JointCase
from tacit.known.case import PeopleCase, RuleCase
from tacit.known.proofs import BOUNDING, MOST_LINES, Claims, Prover, bounds_of, bounds_together, state_everything
from tacit.known.releases import SeveralCase
from tacit.known.sensitive_values import describe_combination, describe_releases, not_run
from tacit.known.words import ProofWords, SeveralWords
from tacit.model.arrays import Ints
from tacit.model.audit import AttackRun, Target
from tacit.model.finding import BoxEvent, Finding, certificate
from tacit.model.numbers import Bound
from tacit.model.words import state_values
from tacit.solve.bounds import Bounds
from tacit.solve.statements import Statements

CODE = "R03"
NAME = "certain-values"


def run(target: Target) -> AttackRun:
    """Return the combinations left with fewer than l sensitive values."""
    case = target.case
    if isinstance(case, JointCase):
        return full_groups.run(target, CODE, NAME)
    if isinstance(case, SeveralCase):
        return _Outcome(target, case, *bounds_together(case, target.limits)).run()
    if not isinstance(case, RuleCase):
        return not_run(target, CODE, NAME, "proves")
    said = state_everything(case)
    found = bounds_of(case, said, target.limits.part(BOUNDING), tight=not target.first_hit)
    return _Outcome(target, case, said, found).run()


class _Outcome:
    def __init__(self, target: Target, case: PeopleCase, said: Statements, found: Bounds) -> None:
        self.case = case
        self.said = said
        self.together = describe_releases(target)
        self.people = case.population.people
        self.number = target.index
        self.limits = target.limits
        self.unproved = 0
        self._least = target.policy.l
        self._first = found
        self.found = self._keep_proved(found, target.policy.l) if found.by_cases or self.limits.deadline is not None else found
        self.left = self._count_left(self.found)
        self.which = self._find_exposed(self.left, target.policy.l)

    def _count_left(self, found: Bounds) -> Ints:
        if isinstance(self.case, SeveralCase):
            return self.case.values_left(found.impossible)
        return np.asarray((~found.impossible).sum(axis=1), np.int64)

    def _find_exposed(self, left: Ints, l: int) -> Ints:  # noqa: E741 - the policy's own name
        exposed = np.flatnonzero(left < l)
        return exposed[np.lexsort((exposed, left[exposed], self.people[exposed]))]

    @cached_property
    def _prover(self) -> Prover:
        exposed = self._find_exposed(self._count_left(self._first), self._least)
        exposed = self._find_exposed(self._count_left(self._first), self._least)
        return Prover(self.said, self._check, Claims.of(exposed, self._first.impossible))

    def _check(self) -> float | None:
        self.limits.check(CODE)
        return self.limits.seconds_left

    def _keep_proved(self, found: Bounds, l: int) -> Bounds:  # noqa: E741 - the policy's own name
        exposed = self._find_exposed(self._count_left(found), l)
        wanted = Claims.of(exposed, found.impossible).listed
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
        found = self.found
        people = self.people
        which = self.which
        certain = self.left == 1
        undecided = int(found.unsettled.sum())
        unread = self.case.unread if isinstance(self.case, SeveralCase) else 0
        reasons = [self._reason(undecided)]
        if unread:
            reasons.append(f"{unread:,} lines, or relations between lines, that name the sensitive column are not used")
        return AttackRun(
            CODE,
            NAME,
            "proves",
            "stopped" if found.stopped or (self.unproved and self.limits.is_over) else "ran",
            reason="; ".join(filter(None, reasons)),
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
        why = "some programs were too large to finish, or one weighted sum does not prove what they found"
        if isinstance(self.case, SeveralCase) and self.case.n_lines > MOST_LINES:
            why = "the lines are too many for programs over all of them"
        elif self.found.stopped == "time":
            why = "the time limit was reached"
        elif self.found.stopped == "work":
            why = "the rules are many, and no --time-limit allows more work"
        left = "who can have which value is decided, but some bounds may be too wide"
        if undecided:
            left = f"{undecided:,} pairs of combination and value are neither ruled out nor shown to be possible"
        return "; ".join(filter(None, (self.together, f"{why}: {left}")))

    def _values(self, q: int, *, possible: bool) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.found.impossible[q] != possible).tolist())

    def event(self, index: int) -> BoxEvent:
        q = int(self.which[index])
        values: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.case.population.describe(q).items()}
        return BoxEvent(values | {self.case.sensitive: tuple(self.case.values[v] for v in self._values(q, possible=True))})

    def show(self, index: int) -> Finding:
        case = self.case
        q = int(self.which[index])
        n = int(self.people[q])
        left = [case.values[v] for v in self._values(q, possible=True)]
        text = state_values(describe_combination(case, q), n, case.sensitive, left)
        ruled_out = self._values(q, possible=False)
        if isinstance(case, SeveralCase):
            return SeveralWords(case, self.said, q, ruled_out).finding(CODE, self._prover.ruled_out(q, ruled_out))
        assert isinstance(case, RuleCase)
        words = ProofWords(case, self.said, q, ruled_out, release=self.number)
        found = self._prover.ruled_out(q, ruled_out)
        event = self.event(index)
        count = Bound.of(n)
        proof = None if found is None else certificate(event, count, **words.certificate(found))
        return Finding(CODE, event, count, text, because=words.citations(found), derivation=words.steps(found), certificate=proof)
