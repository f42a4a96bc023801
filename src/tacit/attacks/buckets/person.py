"""What a bucketized release says about whoever fits a description: what each of them can have, how probable it is, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.attacks.buckets.case import BucketCase
from tacit.attacks.buckets.words import told
from tacit.inference.assignments import share_values
from tacit.model.posterior import DIGITS


@dataclass(frozen=True, slots=True)
class Member:
    """People of one group with the same quasi-identifiers: the probability of each value of the group, and why values are ruled out."""

    who: Mapping[str, str]
    group: str
    people: int
    sensitive: str
    statement: str
    posterior: Mapping[str, float]
    steps: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The people as in the record."""
        shares = {value: round(share, DIGITS) for value, share in self.posterior.items()}
        out: dict[str, Any] = {"who": dict(self.who), "group": self.group, "people": self.people, "sensitive": self.sensitive}
        return out | {"statement": self.statement, "posterior": shares, "steps": list(self.steps)}


def members_fitting(case: BucketCase, described: Mapping[str, str]) -> np.ndarray:
    """The rows of the people who have all these values."""
    fits = np.ones(case.buckets.n, np.bool_)
    for name, value in described.items():
        column = case.buckets.people.column(name)
        fits &= column.codes == (column.values.index(value) if value in column.values else -1)
    return np.flatnonzero(fits)


def members(case: BucketCase, rows: np.ndarray, *, top: int) -> tuple[Member, ...]:
    """What is known about the people of these rows, at most ``top`` of them, those with the fewest possible values first."""
    shares, cells = share_values(case.valid), case.valid.cells
    first, people = case.alike(rows)
    chosen = np.lexsort((first, case.valid.counts[first]))[:top]
    out = []
    for row, number in zip(first[chosen].tolist(), people[chosen].tolist(), strict=True):
        names = [case.buckets.values[int(case.buckets.value[entry])] for entry in case.entries(row)]
        here = slice(int(cells.rows[cells.cell[row]]), int(cells.rows[cells.cell[row] + 1]))
        found = dict(zip(names, shares.share[here].tolist(), strict=True))
        listed = ", ".join(f"{value} {share:.3f}" for value, share in sorted(found.items(), key=lambda one: -one[1]))
        statement = f"{case.who(row, number)}: {case.buckets.sensitive} {listed}."
        group = case.buckets.names[int(case.buckets.group[row])]
        steps = told(case, row, number, 0)[1]
        out.append(Member(case.describe(row), group, number, case.buckets.sensitive, statement, found, steps))
    return tuple(out)
