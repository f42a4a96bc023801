"""Bucketized release and its attacker's knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Shares, Valid, concatenate_ranges, share_values, valid_values
from tacit.buckets.statistics import Statistics, weigh
from tacit.known.sensitive_values import BEHIND_PROOFS
from tacit.model.arrays import Floats, Ints
from tacit.model.audit import AttackRun, Target
from tacit.model.buckets import Buckets
from tacit.model.finding import BoxEvent, Finding, Share, remark
from tacit.model.knowledge import Exclusions, Fact
from tacit.model.numbers import Bound
from tacit.model.policy import Check
from tacit.model.table import row_keys
from tacit.model.words import describe_pattern


@dataclass(frozen=True, eq=False)
class BucketCase:
    """Bucketized release, and the attacker's facts."""

    buckets: Buckets
    facts: tuple[Fact, ...] = ()
    model: Any = None  #: What B03 learnt from another part of the same release.

    @classmethod
    def of(cls, target: Target) -> BucketCase:
        """Return the case of an attack or a bare release."""
        if isinstance(target.case, cls):
            return target.case
        return cls(target.release_as(Buckets))

    @cached_property
    def known(self) -> Exclusions:
        """Values that the facts rule out for each person."""
        known = Exclusions.of(self.excluding, self.buckets.people, self.buckets.values)
        return known if self.statistics is None else self.statistics.refine(known)

    @cached_property
    def excluding(self) -> tuple[Fact, ...]:
        """Facts that rule a value out."""
        return tuple(fact for fact in self.facts if fact.excludes)

    @cached_property
    def statistics(self) -> Statistics | None:
        """Totals that the other facts bound, if any."""
        if len(self.excluding) == len(self.facts):
            return None
        return Statistics.of(self.facts, self.buckets.people, self.buckets.values)

    @cached_property
    def valid(self) -> Valid:
        """Valid values of each person; raises Contradiction if none."""
        return valid_values(self.buckets, self.known)

    def share_values(self, *, check: Check = lambda: None) -> tuple[Shares, int]:
        """Return everybody's probabilities, and the number of totals that none meets."""
        if self.statistics is None:
            return share_values(self.valid, check=check), 0
        found = weigh(self.valid, self.statistics, check=check)
        return found.shares, found.missed

    @cached_property
    def baseline(self) -> Floats:
        """Published share of each value in the population."""
        counts = np.zeros(len(self.buckets.values))
        np.add.at(counts, self.buckets.value, self.buckets.count)
        return counts / max(1, self.buckets.n)

    def merge_alike(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return first row and size of sets of equal people."""
        codes: list[npt.NDArray[Any]] = [
            self.valid.cells.cell[rows],
            *(column.codes[rows] for column in self.buckets.people.columns),
        ]
        _, first, same = np.unique(row_keys(codes, len(rows)), return_index=True, return_inverse=True)
        people = np.zeros(len(first), np.int64)
        np.add.at(people, same.reshape(-1), self.buckets.people.weights[rows])
        return rows[first], people

    def describe(self, row: int) -> dict[str, str]:
        """Return the quasi-identifiers of a row."""
        return {column.name: column.values[column.codes[row]] for column in self.buckets.people.columns}

    def entries(self, row: int) -> range:
        """Return the entries of the group of a row."""
        group = int(self.buckets.group[row])
        return range(int(self.buckets.starts[group]), int(self.buckets.starts[group + 1]))

    def event(self, row: int, values: Sequence[str]) -> BoxEvent:
        """Return the event of a row and these values."""
        allowed: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.describe(row).items()}
        group = self.buckets.names[int(self.buckets.group[row])]
        return BoxEvent(allowed | {self.buckets.group_name: (group,), self.buckets.sensitive: tuple(values)})

    def describe_member(self, row: int) -> str:
        """Return the quasi-identifiers and the group of a row in words."""
        return f"{describe_pattern(self.describe(row))} in group {self.buckets.names[int(self.buckets.group[row])]}"

    def who(self, row: int, people: int) -> str:
        """Describe the people of a finding."""
        return f"The {'one person' if people == 1 else f'{people:,} people'} with {self.describe_member(row)}"

    @cached_property
    def _facts_about(self) -> Mapping[str, list[tuple[Fact, dict[str, frozenset[str]]]]]:
        about: dict[str, list[tuple[Fact, dict[str, frozenset[str]]]]] = {}
        for fact in self.excluding:
            allowed = {column: frozenset(values) for column, values in fact.allowed.items()}
            about.setdefault(fact.value, []).append((fact, allowed))
        return about

    def reason(self, person: Mapping[str, str], value: str, first: Sequence[Fact] = ()) -> Fact | None:
        """Return a fact excluding a value (``first`` preferred), or None."""
        for fact in first:
            if fact.value == value and all(person[column] in values for column, values in fact.allowed.items()):
                return fact
        for fact, allowed in self._facts_about.get(value, ()):
            if all(person[column] in values for column, values in allowed.items()):
                return fact
        return None


@dataclass(frozen=True, eq=False)
class Estimates:
    """Findings: ``people[i]`` like row ``rows[i]`` have ``value[i]`` with probability ``share[i]``."""

    case: BucketCase
    rows: Ints
    people: Ints
    value: Ints
    share: Floats

    def to_run(self, code: str, name: str, **rest: Any) -> AttackRun:
        """Return a run with these findings."""
        concerned = np.unique(self.rows, return_index=True)[1]
        columns = {"row": self.rows, "group": self.case.buckets.group[self.rows].astype(np.int64), "value": self.value}
        columns |= {"count": self.people, "count_hi": self.people}
        return AttackRun(
            code,
            name,
            "estimates",
            "ran",
            people=int(self.people[concerned].sum()),
            columns={**columns, "posterior": self.share},
            severity=BEHIND_PROOFS + ((1 - self.share) * 1e9).astype(np.int64),
            event=self.event,
            **rest,
        )

    def event(self, index: int) -> BoxEvent:
        """Return the event: quasi-identifiers, group and value."""
        return self.case.event(int(self.rows[index]), [self.case.buckets.values[int(self.value[index])]])

    def to_finding(self, code: str, index: int, why: str) -> Finding:
        """Return a finding with its explanation."""
        buckets = self.case.buckets
        people = int(self.people[index])
        value = int(self.value[index])
        share = float(self.share[index])
        who = f"{self.case.who(int(self.rows[index]), people)} {'has' if people == 1 else 'each have'}"
        text = f"{who} {buckets.sensitive} {buckets.values[value]} with probability {share:.3f} (estimated)."
        derivation = (remark(why), Share(float(self.case.baseline[value])))
        return Finding(code, self.event(index), Bound.of(people), text, derivation=derivation, probability=share)


def posterior_table(case: BucketCase, share: Floats) -> Mapping[str, npt.NDArray[Any]]:
    """Return the posterior, one line per person and value."""
    buckets = case.buckets
    cells = case.valid.cells
    width = np.diff(cells.rows)[cells.cell]
    person = np.repeat(np.arange(buckets.n), width)
    place = concatenate_ranges(cells.rows[cells.cell], width)
    out: dict[str, npt.NDArray[Any]] = {
        column.name: np.array(column.values, object)[column.codes[person]] for column in buckets.people.columns
    }
    out[buckets.sensitive] = np.array(buckets.values, object)[buckets.value[cells.entries[place]]]
    out[buckets.group_name] = np.array(buckets.names, object)[buckets.group[person]]
    return out | {"posterior": share[place]}
