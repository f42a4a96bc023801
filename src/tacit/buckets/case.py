"""A bucketized release beside what its attacker knows: everything that both attacks on it share, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Valid, valid_values
from tacit.model.arrays import Ints
from tacit.model.audit import Target
from tacit.model.buckets import Buckets
from tacit.model.event import BoxEvent
from tacit.model.knowledge import Exclusions, Fact


@dataclass(frozen=True, eq=False)
class BucketCase:
    """A bucketized release and the facts that its attacker knows besides."""

    buckets: Buckets
    facts: tuple[Fact, ...] = ()

    @classmethod
    def of(cls, target: Target) -> BucketCase:
        """The case of an attack; of a bare release, nothing else is known."""
        if isinstance(target.case, cls):
            return target.case
        assert isinstance(target.release, Buckets)
        return cls(target.release)

    @cached_property
    def known(self) -> Exclusions:
        """What the facts rule out for whom."""
        return Exclusions.of(self.facts, self.buckets.people, self.buckets.values)

    @cached_property
    def valid(self) -> Valid:
        """What everybody can have; raises Contradiction where facts and release contradict each other."""
        return valid_values(self.buckets, self.known)

    @cached_property
    def baseline(self) -> npt.NDArray[np.float64]:
        """The share of each value among all people, which the release publishes."""
        counts = np.zeros(len(self.buckets.values))
        np.add.at(counts, self.buckets.value, self.buckets.count)
        return counts / max(1, self.buckets.n)

    def alike(self, rows: Ints) -> tuple[Ints, Ints]:
        """Rows of people in the same group with the same quasi-identifiers: the first row of each, and how many there are."""
        key = self.valid.cells.cell[rows]
        for column in self.buckets.people.columns:
            # Numbered anew each time, the key lies below rows x values: it never overflows.
            key = np.unique(key, return_inverse=True)[1].reshape(-1) * len(column.values) + column.codes[rows]
        _, first, people = np.unique(key, return_index=True, return_counts=True)
        return rows[first], people.astype(np.int64)

    def describe(self, row: int) -> dict[str, str]:
        """The quasi-identifiers of a row."""
        return {column.name: column.values[column.codes[row]] for column in self.buckets.people.columns}

    def entries(self, row: int) -> range:
        """The entries of the group of a row."""
        group = int(self.buckets.group[row])
        return range(int(self.buckets.starts[group]), int(self.buckets.starts[group + 1]))

    def event(self, row: int, values: Sequence[str]) -> BoxEvent:
        """Who has the quasi-identifiers of a row, in its group, and one of these values."""
        allowed: dict[str, tuple[str, ...]] = {name: (text,) for name, text in self.describe(row).items()}
        group = self.buckets.names[int(self.buckets.group[row])]
        return BoxEvent(allowed | {self.buckets.group_name: (group,), self.buckets.sensitive: tuple(values)})

    def who(self, row: int, people: int) -> str:
        """The people of a finding in words."""
        described = ", ".join(f"{column}={text}" for column, text in self.describe(row).items())
        group = self.buckets.names[int(self.buckets.group[row])]
        return f"The {'one person' if people == 1 else f'{people:,} people'} with {described} in group {group}"

    @cached_property
    def _facts_about(self) -> Mapping[str, list[tuple[Fact, dict[str, frozenset[str]]]]]:
        about: dict[str, list[tuple[Fact, dict[str, frozenset[str]]]]] = {}
        for fact in self.facts:
            allowed = {column: frozenset(values) for column, values in fact.allowed.items()}
            about.setdefault(fact.value, []).append((fact, allowed))
        return about

    def reason(self, person: Mapping[str, str], value: str, first: Sequence[Fact] = ()) -> Fact | None:
        """A fact that rules a value out for somebody, one of the first ones where there is one; None where there is none."""
        for fact in first:
            if fact.value == value and all(person[column] in values for column, values in fact.allowed.items()):
                return fact
        for fact, allowed in self._facts_about.get(value, ()):
            if all(person[column] in values for column, values in allowed.items()):
                return fact
        return None


def posterior_table(case: BucketCase, share: npt.NDArray[np.float64]) -> Mapping[str, npt.NDArray[Any]]:
    """One line for each person and each value of her group: every QI column, the SA column, the group, the probability.

    The column of groups is called ``group``, unless a quasi-identifier is.
    """
    buckets, cells = case.buckets, case.valid.cells
    width = np.diff(cells.rows)[cells.cell]
    person = np.repeat(np.arange(buckets.n), width)
    place = np.arange(len(person)) + np.repeat(cells.rows[cells.cell] - (np.cumsum(width) - width), width)
    out: dict[str, npt.NDArray[Any]] = {
        column.name: np.array(column.values, object)[column.codes[person]] for column in buckets.people.columns
    }
    out[buckets.sensitive] = np.array(buckets.values, object)[buckets.value[cells.entries[place]]]
    out[buckets.group_name] = np.array(buckets.names, object)[buckets.group[person]]
    return out | {"posterior": share[place]}
