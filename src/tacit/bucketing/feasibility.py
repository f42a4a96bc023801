"""What no grouping can give: tested before anything is grouped.

People who are put together can have more values, never fewer: a larger group only adds ways to exchange. So everybody's valid values in the
whole table as one group are the most that any grouping gives her.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.bucketing.classes import Classes, Flags, Numbers
from tacit.bucketing.graph import valid_values


@dataclass(frozen=True, eq=False)
class Feasible:
    """Whether everybody can have ``least`` values in some grouping: ``most`` is, for each class, how many she can have at the most."""

    classes: Classes
    least: int
    most: Numbers

    @classmethod
    def of(cls, classes: Classes, least: int) -> Feasible:
        """The test on the whole table as one group.

        >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
        >>> found = Feasible.of(people, 2)
        >>> found.short.tolist(), found.people_short, found.largest
        ([False, True, False], 1, 1)
        """
        there, kinds = classes.people > 0, classes.of_kind.sum(axis=1) > 0
        free = kinds & ~classes.patterns.any(axis=1)
        of_free, excluded = classes.of_kind[free].any(axis=0), classes.patterns[kinds].any(axis=0)
        if np.any(of_free & ~excluded):
            # A value that everybody can have, held by somebody who can have everything: every value leads there, and from there to every value.
            return cls(classes, least, (~classes.patterns[:, there]).sum(axis=1)[classes.kind])
        return cls(classes, least, valid_values(classes, np.arange(len(classes))).sum(axis=1))

    @property
    def short(self) -> Flags:
        """The classes whose people have fewer values in every grouping."""
        return np.asarray(self.most < self.least)

    @property
    def people_short(self) -> int:
        """How many people these are."""
        return int(self.classes.count[self.short].sum())

    @property
    def largest(self) -> int:
        """The largest number of values that everybody can have in some grouping."""
        return int(self.most.min(initial=len(self.classes.people)))

    @property
    def rows(self) -> Numbers:
        """The rows of the people who fall short, ascending."""
        return np.sort(self.classes.rows[np.repeat(self.short, self.classes.count)])


def suppressed(classes: Classes, least: int) -> Classes:
    """The people who are left when those who fall short are taken out, again and again: without them, others may fall short.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    >>> suppressed(people, 2).value.tolist()
    [0, 2]
    """
    while len(classes) and (short := Feasible.of(classes, least).short).any():
        classes = classes.kept(~short)
    return classes


def too_frequent(classes: Classes, bound: Fraction) -> tuple[int, Fraction]:
    """How many values more people have than a bound on probabilities allows, and the lowest bound that would do.

    Whatever the groups, the probabilities of a value add up to the people who have it, over those who can: one of them is at least their ratio.

    >>> people = Classes.of(np.array([0, 0, 1]), np.zeros(3, np.int64), np.zeros((1, 2), np.bool_), seed=0)
    >>> too_frequent(people, Fraction(1, 2))
    (1, Fraction(2, 3))
    """
    able = classes.n - classes.of_kind.sum(axis=1) @ classes.patterns
    ratios = [Fraction(int(have), int(can)) for have, can in zip(classes.people, able, strict=True) if have]
    return sum(ratio > bound for ratio in ratios), max(ratios, default=Fraction(0))
