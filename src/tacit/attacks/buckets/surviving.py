"""B03 surviving-correlations: who is likely to have which value of her group, by what all groups together show about people like her.

Infers
    P(value) for everybody, sharper than the shares of her group: over many groups it shows which quasi-identifiers go with which value, although
    no single group tells. The values of each group are given to its people accordingly.
Assumes
    Who is in which group is known, and negative rules, as for B01 and B02. Groups were formed without regard to who tends to have which value;
    where they were formed by a rule of their own, the model takes part of that rule for a correlation, and is too sure of itself.
Claim
    Estimates. It is measured for every release. It counts against one only where the attack is asked for by name and the policy sets a limit for
    estimates, because no grouping bounds it.
Cost
    A model of one table for each column is learnt from up to 40,000 people in at most 30 rounds, then used for everybody: about a second, and
    two more for each million people.
Example
    Groups of two smokers hold two cancers, and groups of two others two flus. So in a group of a smoker and another person that holds one of
    each, the smoker is the one who has cancer, in all likelihood.
Reference
    Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009; the setting is that of Li, Li, Injector, ICDE 2008, and of Anatomy.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.buckets.case import BucketCase
from tacit.attacks.sensitive.values import BEHIND_PROOFS, no_limit
from tacit.errors import LimitReached
from tacit.inference.surviving import Guesses, guess, learn
from tacit.model.audit import AttackRun
from tacit.model.bound import Bound
from tacit.model.caution import SURE, Caution, cautions_of
from tacit.model.event import BoxEvent
from tacit.model.finding import Finding

CODE = "B03"
NAME = "surviving-correlations"
#: An estimate passes a limit only where it does so by more than the arithmetic may be off.
ROOM = 1e-9


def run(target: Target) -> AttackRun:
    """How sure the model is about everybody; findings where it is asked for by name and passes what the policy allows."""
    case = BucketCase.of(target)

    def check() -> None:
        target.limits.check(CODE)

    try:
        found = guess(
            case.valid, learn(case.valid, seed=target.limits.seed, check=check), limit=_limit(target, case), check=check
        )
    except LimitReached:
        return AttackRun(CODE, NAME, "estimates", "stopped", "the time limit was reached before there was an estimate")
    return _Outcome(target, case, found).run()


def _limit(target: Target, case: BucketCase) -> npt.NDArray[np.float64] | None:
    """The most that the policy allows for each value; None where it sets no limit."""
    policy = target.policy
    if policy.max_posterior is None and policy.max_gain is None:
        return None
    limit = np.full(len(case.baseline), np.inf)
    if policy.max_posterior is not None:
        limit = np.minimum(limit, policy.max_posterior)
    if policy.max_gain is not None:
        limit = np.minimum(limit, case.baseline + policy.max_gain)
    return limit + ROOM


class _Outcome:
    """The findings of one run, written out only when they are looked at."""

    def __init__(self, target: Target, case: BucketCase, found: Guesses) -> None:
        self.target, self.case, self.found = target, case, found
        self.decides = CODE in target.named
        # People of one group with the same quasi-identifiers have the same estimates: the first of them stands for all.
        first, people = case.alike(np.unique(found.row))
        chosen = np.flatnonzero(np.isin(found.row, first)) if self.decides else np.empty(0, np.int64)
        many = dict(zip(first.tolist(), people.tolist(), strict=True))
        order = chosen[np.lexsort((found.value[chosen], found.row[chosen], -found.share[chosen]))]
        self.rows, self.value, self.share = found.row[order], found.value[order], found.share[order]
        self.people = np.array([many[row] for row in self.rows.tolist()], np.int64)

    def run(self) -> AttackRun:
        """The run with its measures and findings."""
        case, found = self.case, self.found
        concerned = np.unique(self.rows, return_index=True)[1]
        return AttackRun(
            CODE,
            NAME,
            "estimates",
            "ran",
            self._reason(),
            people=int(self.people[concerned].sum()),
            measures=self._measures(),
            columns={
                "row": self.rows,
                "group": case.buckets.group[self.rows].astype(np.int64),
                "value": self.value,
                "count": self.people,
                "count_hi": self.people,
                "posterior": self.share,
            },
            severity=BEHIND_PROOFS + ((1 - self.share) * 1e9).astype(np.int64),
            event=self.event,
            show=self.show,
            details={"surviving": found.largest},
            cautions=self._cautions(),
        )

    def _measures(self) -> dict[str, float | None]:
        largest, buckets = self.found.largest, self.case.buckets
        most = np.maximum.reduceat(buckets.count, buckets.starts[:-1]) if len(buckets) else np.zeros(1)
        return {
            "surviving_max_posterior": float(largest.max(initial=0.0)),
            "surviving_above_one_in_l": int(np.count_nonzero(largest > 1 / self.target.policy.l + ROOM)),
            "surviving_above_50": int(np.count_nonzero(largest > 0.5)),
            "surviving_above_90": int(np.count_nonzero(largest > SURE)),
            "surviving_expected_right": float(largest.mean()) if len(largest) else 0.0,
            "group_guess_right": float(most.sum()) / max(1, buckets.n),
        }

    def _cautions(self) -> tuple[Caution, ...]:
        """Return how many people are nearly certain, where no limit judges that."""
        limited = not no_limit(self.target)
        if limited and self.decides:
            return ()
        return cautions_of(CODE, int(np.count_nonzero(self.found.largest > SURE)), self.case.buckets.n, limit=limited)

    def _reason(self) -> str:
        """Why estimates are no findings, and for how many people they would be."""
        policy = self.target.policy
        if policy.max_posterior is None and policy.max_gain is None:
            return "the policy sets no limit for estimates"
        if self.decides:
            return ""
        people = len(np.unique(self.found.row))
        told = f"{people:,} {'person passes' if people == 1 else 'people pass'} the limit of the policy by this model"
        return f"{told}; it decides only where it is asked for by name (--attack {CODE})"

    def event(self, index: int) -> BoxEvent:
        """Who has the quasi-identifiers, in this group, and the value."""
        return self.case.event(int(self.rows[index]), [self.case.buckets.values[int(self.value[index])]])

    def show(self, index: int) -> Finding:
        """The finding in words."""
        case, row, people = self.case, int(self.rows[index]), int(self.people[index])
        value, share = int(self.value[index]), float(self.share[index])
        has = "has" if people == 1 else "each have"
        inside = case.buckets.contents(int(case.buckets.group[row])).get(case.buckets.values[value], 0)
        size = int(case.buckets.sizes[int(case.buckets.group[row])])
        text = f"{case.who(row, people)} {has} {case.buckets.sensitive} {case.buckets.values[value]} with probability {share:.3f}"
        steps = (
            f"In the group {inside:,} of {size:,} people have the value; who they are is estimated from what all groups together show.",
            f"Among all people the share is {case.baseline[value]:.3f}.",
        )
        return Finding(CODE, self.event(index), Bound.of(people), f"{text} (estimated).", steps=steps)
