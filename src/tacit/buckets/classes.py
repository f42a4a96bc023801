"""Classes of interchangeable people, and their valid values.

People are interchangeable if they have the same sensitive value and the same values ruled out. The *value graph* of a group has an edge
from value u to v if a person with u can have v. A person can have v in some consistent assignment exactly if v is not ruled out and leads,
along edges, back to the person's own value: all the people along the way pass their values on. A larger group only adds edges, so the
values valid in the whole table as one group are the most that any grouping gives: that is the test of feasibility.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Ints


@dataclass(frozen=True, eq=False)
class Classes:
    """People with equal sensitive and excluded values.

    Class c has ``value[c]``, ``patterns[kind[c]]`` ruled out, and ``rows[starts[c]:starts[c + 1]]``, shuffled. Values may be *labels*
    (:mod:`tacit.buckets.labels`): then label v stands for the sensitive value ``shown[v]``. If rows have weights, ``count`` adds them up.
    """

    value: Ints
    kind: Ints
    count: Ints
    patterns: Flags
    starts: Ints
    rows: Ints
    shown: Ints

    @classmethod
    def of(
        cls,
        sensitive: npt.NDArray[np.integer],
        kind: npt.NDArray[np.integer],
        patterns: Flags,
        *,
        seed: int,
        shown: Ints | None = None,
        weights: Ints | None = None,
    ) -> Classes:
        """Build the classes, sorted by value and then kind."""
        kinds = max(1, len(patterns))
        rows = len(sensitive)
        key = sensitive.astype(np.int64) * kinds + kind
        if kinds * patterns.shape[1] <= max(4 * rows, 1 << 16):  # counting is faster than sorting in a small table
            numbers = np.bincount(key, minlength=1)
            cells = np.flatnonzero(numbers)
            fresh = np.zeros(len(numbers), np.int64)
            fresh[cells] = np.arange(len(cells))
            of_row = fresh[key]
            count = numbers[cells]
        else:
            cells, of_row, count = np.unique(key, return_inverse=True, return_counts=True)
        # Numbers of 16 bits are sorted much faster.
        by_class = np.argsort(of_row.astype(np.uint16 if len(cells) < 1 << 16 else np.int64), kind="stable")
        chance = np.random.default_rng(seed)
        starts = np.append(0, np.cumsum(count))
        for begin, end in pairwise(starts.tolist()):
            chance.shuffle(by_class[begin:end])
        if weights is not None:
            count = np.add.reduceat(weights[by_class], starts[:-1]) if len(by_class) else count
        return cls(
            cells // kinds,
            cells % kinds,
            count.astype(np.int64),
            patterns,
            starts=starts,
            rows=by_class,
            shown=np.arange(patterns.shape[1]) if shown is None else shown,
        )

    def __len__(self) -> int:
        return len(self.value)

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.count.sum())

    @property
    def values(self) -> int:
        """Number of sensitive values."""
        return int(self.patterns.shape[1])

    @property
    def is_plain(self) -> bool:
        """True if no value has several labels."""
        return len(np.unique(self.shown)) == len(self.shown)

    @cached_property
    def people(self) -> Ints:
        """Number of people with each value."""
        return np.bincount(self.value, weights=self.count, minlength=self.values).astype(np.int64)

    @cached_property
    def of_kind(self) -> Ints:
        """Number of people of each kind with each value."""
        table = np.zeros(self.patterns.shape, np.int64)
        table[self.kind, self.value] = self.count
        return table

    def may_have(self, which: Ints | int) -> Flags:
        """Return the values possible for these classes."""
        return np.asarray(~self.patterns[self.kind[which]])

    def able(self, value: int) -> Flags:
        """Return the classes that can have a value."""
        return np.asarray(~self.patterns[self.kind, value])

    @cached_property
    def incompatible(self) -> Ints:
        """Number of people incompatible with each class.

        They have an equal value, or one of the two cannot have the other's value. All numbers stay below 2**53, where floats are exact.
        """
        barred = self.patterns.astype(np.float64)
        of_kind = self.of_kind.astype(np.float64)
        cannot_have_hers = (of_kind.sum(axis=1) @ barred)[self.value]
        hers_or_barred = self.people[self.value] + (barred @ self.people)[self.kind]
        both = (barred.T @ (of_kind @ barred.T))[self.value, self.kind]  # neither can have the other's
        return np.asarray(hers_or_barred + cannot_have_hers - both).astype(np.int64)

    def compatible_with(self, one: int) -> Flags:
        """Return the classes that can share this one's groups."""
        own = int(self.value[one])
        differs = self.shown[self.value] != self.shown[own]
        return np.asarray(differs & self.may_have(one)[self.value] & self.able(own))

    def count_values(self, labels: Flags) -> Ints:
        """Count the distinct sensitive values of labels, by row."""
        held = np.zeros((len(labels), int(self.shown.max(initial=-1)) + 1), np.bool_)
        row, label = np.nonzero(labels)
        held[row, self.shown[label]] = True
        return np.asarray(held.sum(axis=1), np.int64)

    def keep(self, keep: Flags) -> Classes:
        """Return these classes only; rows keep their numbers."""
        numbers = np.diff(self.starts)
        rows = self.rows[np.repeat(keep, numbers)]
        starts = np.append(0, np.cumsum(numbers[keep]))
        return replace(self, value=self.value[keep], kind=self.kind[keep], count=self.count[keep], starts=starts, rows=rows)


def close_value_graph(holder: Ints, may: Flags) -> Flags:
    """Return the transitive closure of a value graph.

    Row i of ``may`` marks the values that a person with value ``holder[i]`` can have.
    """
    step = np.zeros((may.shape[1], may.shape[1]), np.bool_)
    np.logical_or.at(step, holder, may)
    np.fill_diagonal(step, True)
    for middle in range(len(step)):
        step[step[:, middle]] |= step[middle]
    return step


def valid_values(classes: Classes, present: Ints) -> Flags:
    """Return the valid values of the classes ``present``."""
    held, holder = np.unique(classes.value[present], return_inverse=True)
    may = classes.may_have(present)[:, held]
    valid = np.zeros((len(present), classes.values), np.bool_)
    valid[:, held] = may & close_value_graph(holder, may)[:, holder].T
    return valid


def find_chain(classes: Classes, present: Ints, goal: int, start: int) -> list[int] | None:
    """Return the shortest chain of classes that pass values on, or None."""
    via: dict[int, tuple[int, int]] = {start: (-1, -1)}
    front = [start]
    while front and goal not in via:
        following: list[int] = []
        for value in front:
            for one in present[classes.value[present] == value].tolist():
                for taken in np.flatnonzero(classes.may_have(one)).tolist():
                    if taken not in via:
                        via[taken] = (value, one)
                        following.append(taken)
        front = following
    if goal not in via:
        return None
    classes_used: list[int] = []
    at = goal
    while at != start:
        at, one = via[at]
        classes_used.append(one)
    return classes_used[::-1]


@dataclass(frozen=True, eq=False)
class Feasible:
    """Most valid values of each class, against ``least``."""

    classes: Classes
    least: int
    most: Ints

    @classmethod
    def of(cls, classes: Classes, least: int) -> Feasible:
        """Test the whole table as one group."""
        there = classes.people > 0
        kinds = classes.of_kind.sum(axis=1) > 0
        free = kinds & ~classes.patterns.any(axis=1)
        of_free = classes.of_kind[free].any(axis=0)
        excluded = classes.patterns[kinds].any(axis=0)
        if np.any(of_free & ~excluded):
            # A value that everybody can have, held by a person without exclusions: every value leads there and back.
            return cls(classes, least, classes.count_values(~classes.patterns & there)[classes.kind])
        return cls(classes, least, classes.count_values(valid_values(classes, np.arange(len(classes)))))

    @property
    def short(self) -> Flags:
        """Classes with too few valid values in every grouping."""
        return np.asarray(self.most < self.least)

    @property
    def people_short(self) -> int:
        """Number of people in these classes."""
        return int(self.classes.count[self.short].sum())

    @property
    def largest(self) -> int:
        """Largest number of valid values for everybody at once."""
        return int(self.most.min(initial=len(np.unique(self.classes.shown))))

    @property
    def rows(self) -> Ints:
        """Rows with too few valid values, ascending."""
        return np.sort(self.classes.rows[np.repeat(self.short, np.diff(self.classes.starts))])


def suppress_infeasible(classes: Classes, least: int) -> Classes:
    """Remove people with too few valid values until none is left."""
    while len(classes) and (short := Feasible.of(classes, least).short).any():
        classes = classes.keep(~short)
    return classes


def count_too_frequent(classes: Classes, bound: Fraction) -> tuple[int, Fraction]:
    """Count the values above a bound; find the lowest feasible.

    In any grouping the probabilities of a value add up to the people who have it, over those who can: one of them is at least that ratio.
    """
    able = classes.n - classes.of_kind.sum(axis=1) @ classes.patterns
    ratios = [Fraction(int(have), int(can)) for have, can in zip(classes.people, able, strict=True) if have]
    return sum(ratio > bound for ratio in ratios), max(ratios, default=Fraction(0))
