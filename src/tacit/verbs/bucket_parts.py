"""Audits of the parts of a bucketized release as the audit of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.buckets.classes import Classes
from tacit.buckets.grouping import Recipes
from tacit.model.arrays import Floats
from tacit.model.audit import AttackRun, Audit, Caution
from tacit.model.buckets import Buckets
from tacit.model.table import Column, Table

#: Measures that are added up over parts, that of which the largest counts, and means over people. All others are those of the whole.
_ADDED = frozenset(
    {
        *("vulnerable", "pinned", "vulnerable_by_exclusion", "above_one_in_l", "people_certain", "people_approximate"),
        *("surviving_above_one_in_l", "surviving_above_50", "surviving_above_90"),
    }
)
_LARGEST = frozenset({"largest_group", "max_posterior", "surviving_max_posterior"})
_MEANS = frozenset({"surviving_expected_right", "group_guess_right"})


@dataclass(frozen=True, eq=False)
class Whole:
    """Contents of all groups: a group of each kind, and the number of groups like it."""

    buckets: Buckets
    groups: np.ndarray

    @classmethod
    def of(cls, recipes: Recipes, classes: Classes, sensitive: Column) -> Whole:
        """Return the contents of the groups of recipes."""
        alive = np.flatnonzero(recipes.groups > 0)
        sizes = recipes.sizes[alive]
        members = np.concatenate([recipes.listed[recipes.starts[one] : recipes.starts[one + 1]] for one in alive.tolist()])
        shown = classes.shown[classes.value[members]]
        codes = np.unique(shown, return_inverse=True)[1].reshape(-1).astype(np.int32)
        group = np.repeat(np.arange(len(alive), dtype=np.int32), sizes)
        people = Table((), np.ones(len(members), np.int64))
        return cls(Buckets.of(people, replace(sensitive, codes=codes), group), recipes.groups[alive])

    def __len__(self) -> int:
        return int(self.groups.sum())

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.buckets.sizes @ self.groups)

    @property
    def lines(self) -> int:
        """Number of entries of the ST."""
        return int(np.diff(self.buckets.starts) @ self.groups)

    @property
    def everybody(self) -> Floats:
        """Share of each value."""
        owner = np.repeat(np.arange(len(self.buckets)), np.diff(self.buckets.starts))
        people = np.bincount(self.buckets.value, self.buckets.count * self.groups[owner], len(self.buckets.values))
        return np.asarray(people / self.n)

    @property
    def group_guess_right(self) -> float:
        """Share of right guesses from the groups alone."""
        most = np.maximum.reduceat(self.buckets.count, self.buckets.starts[:-1])
        return float(most @ self.groups) / self.n


def merge_audits(parts: Iterable[tuple[Buckets, Audit]], whole: Whole, figures: Mapping[str, Any]) -> Audit:
    """Return the audit of a release from those of its parts, which are forgotten one by one."""
    first: Audit | None = None
    sums: list[_Sum] = []
    for part, audit in parts:
        if first is None:
            first = audit
            sums = [_Sum(run) for run in audit.runs]
        for one, run in zip(sums, audit.runs, strict=True):
            one.add(run, part.n)
    assert first is not None
    runs = tuple(one.run(whole) for one in sums)
    measures: dict[str, Any] = {"buckets": len(whole), **figures}
    for run in runs:
        measures |= run.measures
    entry = {**first.release[0], "n": whole.n, "lines": whole.lines, "groups": len(whole)}
    return replace(first, release=(entry,), runs=runs, measures=measures, tables={})


class _Sum:
    """Runs of one attack on parts, added up."""

    def __init__(self, first: AttackRun) -> None:
        self.first = first
        self.people = 0
        self.undecided = 0
        self.sizes: Counter[int] = Counter()
        self.measures: dict[str, float] = {}
        self.cautions: dict[tuple[str, str, bool], int] = {}
        self.reasons: dict[str, None] = {}
        self.statuses: set[str] = set()

    def add(self, run: AttackRun, n: int) -> None:
        self.people += run.people
        self.undecided += run.undecided
        self.statuses.add(run.status)
        self.reasons.setdefault(run.reason)
        self.sizes.update(run.columns.get("count_hi", np.empty(0, np.int64)).tolist())
        for name, value in run.measures.items():
            number = value or 0
            if name in _LARGEST:
                self.measures[name] = max(self.measures.get(name, 0), number)
            else:
                self.measures[name] = self.measures.get(name, 0) + (number * n if name in _MEANS else number)
        for caution in run.cautions:
            key = (caution.code, caution.about, caution.limit)
            self.cautions[key] = self.cautions.get(key, 0) + caution.number

    def run(self, whole: Whole) -> AttackRun:
        measures = {name: self._measure(name, value, whole) for name, value in self.measures.items()}
        cautions = tuple(
            Caution(code, number, whole.n, about, limit)  # type: ignore[arg-type]
            for (code, about, limit), number in self.cautions.items()
        )
        worst: Sequence[Any] = ("stopped", "unavailable", "not-asked", "ran", "not-relevant")
        return AttackRun(
            self.first.code,
            self.first.name,
            self.first.claim,
            next(status for status in worst if status in self.statuses),
            reason=next(iter(self.reasons)) if len(self.reasons) == 1 else f"in the first part: {next(iter(self.reasons))}",
            people=self.people,
            undecided=self.undecided,
            measures=measures,
            streamed=dict(self.sizes) if self.sizes else None,
            cautions=cautions,
        )

    @staticmethod
    def _measure(name: str, value: float, whole: Whole) -> float:
        if name == "mean_group":
            return whole.n / len(whole)
        if name in _MEANS:
            return value / whole.n
        if name not in _ADDED | _LARGEST:
            raise KeyError(name)  # a measure that nobody said how to join
        return value
