"""B01 valid-values: the sensitive values that each person of a bucketized release can have, and who keeps fewer than l.

Infers
    For each person, the values of their group that they have in at least one assignment of values to people that fits the group's counts and
    all that is known. A person with fewer than l such values is exposed; with a single one, their value is certain.
Assumes
    The group of each person is known, which is what a bucketized release publishes, and negative rules: that nobody with given
    quasi-identifiers has a given value. Without knowledge everybody keeps all values of their group.
Claim
    Proves. A value is ruled out by knowledge about the person, or because others of the group can have nothing else and use it up.
Cost
    One assignment is found for each group, and the exchanges it allows: linear in people for groups of any usual size, less than a second
    for a million people.
Example
    A woman and two men share flu, cold and a pregnancy. The pregnancy is hers, so the men keep two values each.
Reference
    Li, Li, Injector: Mining Background Knowledge for Data Anonymization, ICDE 2008, section V; the check without a matching per pair is ours.
"""

from __future__ import annotations

import numpy as np

from tacit.buckets.case import BucketCase
from tacit.buckets.words import argue
from tacit.model.audit import AttackRun, Target
from tacit.model.finding import BoxEvent, Finding, certificate
from tacit.model.numbers import Bound
from tacit.model.words import state_values

CODE = "B01"
NAME = "valid-values"


def run(target: Target) -> AttackRun:
    """Find the people who keep fewer than l values."""
    case = BucketCase.of(target)
    target.limits.check(CODE)
    return _Outcome(target, case).run()


def _describe_knowledge(case: BucketCase) -> str:
    if not case.facts:
        return "no knowledge was given; add negative rules with --knowledge"
    means = sum(fact.mean is not None for fact in case.facts)
    counts = len(case.facts) - len(case.excluding) - means
    left = [f"facts that rule nothing out ({counts:,}) are left to B02, R02 and R03"] if counts else []
    left += [f"means ({means:,}) are left to B02"] if means else []
    return "; ".join(left)


class _Outcome:
    def __init__(self, target: Target, case: BucketCase) -> None:
        self.case = case
        self.index = target.index
        self.least = target.policy.l
        self.left = case.valid.counts
        rows, people = case.merge_alike(np.flatnonzero(self.left < self.least))
        order = np.lexsort((rows, -people, self.left[rows]))
        self.rows = rows[order]
        self.people = people[order]

    def run(self) -> AttackRun:
        case = self.case
        rows = self.rows
        left = self.left
        weights = case.buckets.people.weights
        sizes = case.buckets.sizes
        cells = case.valid.cells
        possible = np.flatnonzero(case.valid.possible)
        first = possible[np.searchsorted(possible, cells.rows[cells.cell[rows]])]
        first_value = cells.buckets.value[cells.entries[first]].astype(np.int64)
        by_exclusion = cells.people[case.valid.unexcluded < self.least]
        return AttackRun(
            CODE,
            NAME,
            "proves",
            "ran",
            reason=_describe_knowledge(case),
            people=int(self.people.sum()),
            measures={
                "vulnerable": int(weights[left < self.least].sum()),
                "pinned": int(weights[left == 1].sum()),
                "vulnerable_by_exclusion": int(by_exclusion.sum()),
                "largest_group": int(sizes.max(initial=0)),
                "mean_group": float(sizes.mean()) if len(sizes) else 0.0,
            },
            columns={
                "row": rows,
                "group": case.buckets.group[rows].astype(np.int64),
                "value": np.where(left[rows] == 1, first_value, -1),
                "values_left": left[rows],
                "count": self.people,
                "count_hi": self.people,
            },
            severity=(left[rows] << 32) + np.arange(len(rows)),
            event=self.event,
            show=self.show,
        )

    def _values(self, row: int) -> list[int]:
        cells = self.case.valid.cells
        here = slice(int(cells.rows[cells.cell[row]]), int(cells.rows[cells.cell[row] + 1]))
        entries = cells.buckets.starts[cells.buckets.group[row]] + np.flatnonzero(self.case.valid.possible[here])
        return [int(value) for value in cells.buckets.value[entries]]

    def event(self, index: int) -> BoxEvent:
        row = int(self.rows[index])
        return self.case.event(row, [self.case.buckets.values[value] for value in self._values(row)])

    def show(self, index: int) -> Finding:
        row = int(self.rows[index])
        people = int(self.people[index])
        left = [self.case.buckets.values[value] for value in self._values(row)]
        text = state_values(self.case.describe_member(row), people, self.case.buckets.sensitive, left)
        because, steps, proof = argue(self.case, row, people, self.index)
        event = self.event(index)
        count = Bound.of(people)
        return Finding(
            CODE, event, count, text, because=because, derivation=steps, certificate=certificate(event, count, **proof)
        )
