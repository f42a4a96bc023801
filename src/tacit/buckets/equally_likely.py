"""B02 equally-likely: the probability of each value for each person of a bucketized release, all consistent assignments equally likely.

Infers
    P(value) for each person: among all assignments of values to people that fit the counts of their group and all that is known, the share in
    which the person has the value.
Assumes
    The group of each person is known, and negative rules, as for B01. Facts that rule nothing out (rules with exceptions, numbers of people who
    have a value, means) bound totals over all groups; of all distributions over assignments that meet them, the one of maximum entropy is taken.
    Nothing else makes one assignment more likely than another.
Claim
    Estimates. A probability is not a proof; it counts against a release only where the policy sets a limit for it.
Cost
    Assignments are counted over what is left of each value: milliseconds for groups of a dozen people, half a second for a million of them.
    Groups with too many such states, which takes dozens of people and of values, get their maximum-entropy distribution, marked as approximate.
    Known totals take some ten to thirty rounds of this: seconds for 30,000 people and a hundred facts.
Example
    A woman and two men share flu, cold and mumps, which no man has. The mumps are hers; each man has flu or cold with probability 1/2.
Reference
    Ours; the value graph that it starts from is that of B01. Li, Li, Injector, ICDE 2008, bounds the number of values and not their probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.buckets.assignments import Shares
from tacit.buckets.case import BucketCase, Estimates
from tacit.buckets.words import argument_steps
from tacit.known.sensitive_values import no_limit
from tacit.model.arrays import Ints
from tacit.model.audit import SURE, AttackRun, Target, cautions_of
from tacit.model.errors import LimitReached
from tacit.model.estimates import DIGITS
from tacit.model.finding import Finding, render_steps
from tacit.model.policy import Policy

CODE = "B02"
NAME = "equally-likely"
ROOM = 1e-9  #: Tolerance for rounding errors: an estimate must exceed a limit by more.


def run(target: Target) -> AttackRun:
    """Estimate value probabilities; findings exceed a limit."""
    case = BucketCase.of(target)
    try:
        found, missed = case.share_values(check=lambda: target.limits.check(CODE))
    except LimitReached:
        return AttackRun(CODE, NAME, "estimates", "stopped", reason="the time limit was reached before there was an estimate")
    if missed:
        why = f"{missed:,} of the known totals cannot be met by any distribution that was found; check the knowledge"
        return AttackRun(CODE, NAME, "estimates", "stopped", reason=why)
    return _Outcome(target, case, found).run()


class _Outcome:
    def __init__(self, target: Target, case: BucketCase, found: Shares) -> None:
        self.target = target
        self.case = case
        self.found = found
        rows, people, place = self._findings(target.policy)
        cells = found.valid.cells
        value = cells.buckets.value[cells.entries[place]].astype(np.int64)
        self.estimates = Estimates(case, rows, people, value, found.share[place])

    def _findings(self, policy: Policy) -> tuple[Ints, Ints, Ints]:
        found = self.found
        cells = self.found.valid.cells
        over = np.zeros(len(found.share), np.bool_)
        if policy.max_posterior is not None:
            over |= found.share > policy.max_posterior + ROOM
        if policy.max_gain is not None:
            over |= found.share - self.case.baseline[cells.buckets.value[cells.entries]] > policy.max_gain + ROOM
        marked = np.append(0, np.cumsum(over))
        per_cell = np.diff(marked[cells.rows])
        rows, people = self.case.merge_alike(np.flatnonzero(per_cell[cells.cell] > 0))
        times = per_cell[cells.cell[rows]]
        which = np.repeat(np.arange(len(rows)), times)
        nth = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
        place = np.flatnonzero(over)[marked[cells.rows[cells.cell[rows[which]]]] + nth]
        order = np.lexsort((place, rows[which], -found.share[place]))
        return rows[which][order], people[which][order], place[order]

    def run(self) -> AttackRun:
        found = self.found
        cells = self.found.valid.cells
        scaled = int(cells.people[~found.exact[cells.group]].sum())
        note = f"{scaled:,} people are in groups too large to count, and their estimates are approximate" if scaled else ""
        sure = int(cells.people[found.largest > SURE].sum())
        return self.estimates.to_run(
            CODE,
            NAME,
            reason="; ".join(why for why in (note, no_limit(self.target)) if why),
            measures={
                "max_posterior": float(found.largest.max(initial=0.0)),
                "above_one_in_l": int(cells.people[found.largest > 1 / self.target.policy.l + ROOM].sum()),
                "people_certain": int(cells.people[found.valid.number == 1].sum()),
                "people_approximate": scaled,
                **({} if self.case.statistics is None else {"known_totals": len(self.case.statistics)}),
            },
            show=self.show,
            details={"posterior": found.share},
            cautions=cautions_of(CODE, sure if no_limit(self.target) else 0, cells.buckets.n),
        )

    def show(self, index: int) -> Finding:
        exact = bool(self.found.exact[self.case.buckets.group[self.estimates.rows[index]]])
        how = "counting every one" if exact else "by scaling, since they are too many to count"
        if self.case.statistics is None:
            why = f"All assignments that fit the group are taken as equally likely, {how}."
        else:
            why = f"Assignments that fit the group are as likely as the known totals make them, {how}."
        return self.estimates.to_finding(CODE, index, why)


@dataclass(frozen=True, slots=True)
class Member:
    """People with equal group and quasi-identifiers, with posterior."""

    who: Mapping[str, str]
    group: str
    people: int
    sensitive: str
    statement: str
    posterior: Mapping[str, float]
    steps: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the record."""
        shares = {value: round(share, DIGITS) for value, share in self.posterior.items()}
        out: dict[str, Any] = {"who": dict(self.who), "group": self.group, "people": self.people, "sensitive": self.sensitive}
        return out | {"statement": self.statement, "posterior": shares, "steps": list(self.steps)}


def find_members(case: BucketCase, described: Mapping[str, str]) -> np.ndarray:
    """Return the rows with all these values."""
    fits = np.ones(case.buckets.n, np.bool_)
    for name, value in described.items():
        column = case.buckets.people.column(name)
        fits &= column.codes == (column.values.index(value) if value in column.values else -1)
    return np.flatnonzero(fits)


def describe_members(case: BucketCase, rows: np.ndarray, *, top: int) -> tuple[Member, ...]:
    """Describe the ``top`` people with fewest valid values."""
    shares, _ = case.share_values()
    cells = case.valid.cells
    first, people = case.merge_alike(rows)
    chosen = np.lexsort((first, case.valid.counts[first]))[:top]
    out = []
    for row, number in zip(first[chosen].tolist(), people[chosen].tolist(), strict=True):
        names = [case.buckets.values[int(case.buckets.value[entry])] for entry in case.entries(row)]
        here = slice(int(cells.rows[cells.cell[row]]), int(cells.rows[cells.cell[row] + 1]))
        found = dict(zip(names, shares.share[here].tolist(), strict=True))
        listed = ", ".join(f"{value} {share:.3f}" for value, share in sorted(found.items(), key=lambda one: -one[1]))
        statement = f"{case.who(row, number)}: {case.buckets.sensitive} {listed}."
        group = case.buckets.names[int(case.buckets.group[row])]
        steps = render_steps(argument_steps(case, row, number))
        out.append(
            Member(case.describe(row), group, number, case.buckets.sensitive, statement=statement, posterior=found, steps=steps)
        )
    return tuple(out)
