"""Slow and obvious: which rules give a protected cell away, straight from the definition; and small tables to try it on."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.partial.problem import Cells, IntegerThresholds, Problem

Flags = npt.NDArray[np.bool_]

#: Fig. 2 of Li, Shirani-Mehr and Yang: every x stands for a value of its own.
FIGURE_2 = ["abcs", "abcs", "abcs", "ab1s", "abds", "a2ds", "3bds", "4bds", "56d7"]
SENSITIVE_OF_FIGURE_2 = (0, 4)


def figure_2() -> Cells:
    """The table of the paper's example."""
    conditions = np.array([[ord(sign) for sign in row[:3]] for row in FIGURE_2], np.int32)
    values = np.array([[ord(row[3])] for row in FIGURE_2], np.int32)
    protected = np.zeros((9, 1), bool)
    protected[list(SENSITIVE_OF_FIGURE_2)] = True
    return Cells(conditions, values, protected)


def problem_of(cells: Cells, confidence: Fraction, support: int) -> Problem:
    """The problem of a table."""
    return Problem.of(cells, IntegerThresholds.of(confidence, support, people=len(cells.values)))


def made_cells(
    seed: int, *, people: int = 22, attributes: int = 3, values: int = 3, sensitive: int = 3, one_value: bool = False
) -> Cells:
    """A random small table; with ``one_value`` all protected cells hold the same."""
    chance = np.random.default_rng(seed)
    conditions = chance.integers(0, values, (people, attributes)).astype(np.int32)
    held = chance.choice(3, people, p=[0.6, 0.25, 0.15]).astype(np.int32)[:, None]
    pool = np.flatnonzero(held[:, 0] == 0) if one_value else np.arange(people)
    protected = np.zeros((people, 1), bool)
    protected[chance.choice(pool, min(sensitive, len(pool)), replace=False)] = True
    return Cells(conditions, held, protected)


def leaks(cells: Cells, hidden: Flags, confidence: Fraction, support: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every protected row and set of attributes that give its value away, when these cells are hidden besides the protected ones."""
    k = cells.attributes
    conditions, values = cells.conditions.copy(), cells.values.copy()
    conditions[hidden[:, :k]] = -1
    values[hidden[:, k:] | cells.protected] = -1
    for row, column in zip(*(part.tolist() for part in np.nonzero(cells.protected)), strict=True):
        truth = cells.values[row, column]
        published = [a for a in range(k) if conditions[row, a] >= 0]
        for size in range(1, len(published) + 1):
            for some in combinations(published, size):
                alike = [other for other in range(len(values)) if all(conditions[other, a] == conditions[row, a] for a in some)]
                both = sum(values[other, column] == truth for other in alike) if truth >= 0 else 0
                if both > support and Fraction(int(both), len(alike)) > confidence:
                    yield row, some


def is_safe(cells: Cells, hidden: Flags, confidence: Fraction, support: int) -> bool:
    """Whether nothing is given away."""
    return next(leaks(cells, hidden, confidence, support), None) is None
