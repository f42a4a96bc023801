"""Exact feasibility of a few statements about supports.

A database is a number of people for each combination of items, never negative. A statement bounds the number of people who have certain items.
No database fits exactly when some integer weights of the statements count nobody less than 0 times and yet come to less than 0 people (Farkas):
these weights are the proof, and whoever doubts it adds up one line per combination of items. Numbers of people are fractions here, so a clash
that needs people to be whole is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

#: Tables over more items than this are not searched: 2**5 lines are made irreducible in half a second, 2**6 in seven.
MOST_ITEMS = 5

Table = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """Bounds on the support of ``mask`` (bits).

    ``line`` is the source, negative if there is none.
    """

    mask: int
    lo: int
    hi: int
    line: int


@dataclass(frozen=True, slots=True)
class Clash:
    """Irreducible infeasible statements, with proof weights."""

    statements: tuple[Statement, ...]
    weights: tuple[int, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """Lines of these statements, ascending."""
        return tuple(sorted({statement.line for statement in self.statements}))

    @property
    def total(self) -> int:
        """Upper bound of the weighted sum, below 0."""
        pairs = zip(self.statements, self.weights, strict=True)
        return sum(weight * (statement.hi if weight > 0 else statement.lo) for statement, weight in pairs)

    def holds(self, items: int) -> bool:
        """Tell if the weights are a proof.

        Nobody is counted less than 0 times, and the sum is negative.

        >>> Clash((Statement(0b01, 5, 5, 2), Statement(0b11, 6, 6, 3)), (1, -1)).holds(2)
        True
        """
        pairs = [(statement.mask, weight) for statement, weight in zip(self.statements, self.weights, strict=True)]
        never_negative = all(sum(w for mask, w in pairs if mask & row == mask) >= 0 for row in range(1 << items))
        return never_negative and self.total < 0


def smallest_clash(statements: Sequence[Statement], items: int) -> Clash | None:
    """Find a clash of few lines, or None.

    Lines are taken away one at a time while the rest still clashes, so that no line can be spared in what is left. What stands on no line
    (the number of people, say) is known anyway and stays.
    """
    found = clash(statements, items)
    if found is None:
        return None
    known = [statement for statement in statements if statement.line < 0]
    # The last lines of a file go first, so that of two equal explanations the one further up is given.
    for line in sorted(found.lines, reverse=True):
        if line >= 0 and line in found.lines:
            rest = [statement for statement in found.statements if statement.line >= 0 and statement.line != line]
            found = clash([*known, *rest], items) or found
    return found


def clash(statements: Sequence[Statement], items: int) -> Clash | None:
    """Find statements that no database fits, with their weights.

    None if a fractional database fits.

    >>> clash([Statement(0, 10, 10, -1), Statement(1, 6, 6, 2), Statement(2, 6, 6, 3), Statement(3, 1, 1, 4)], 2).weights
    (1, -1, -1, 1)
    >>> clash([Statement(0, 10, 10, -1), Statement(1, 6, 6, 2), Statement(2, 6, 6, 3), Statement(3, 2, 2, 4)], 2) is None
    True
    """
    masks = np.array([statement.mask for statement in statements], np.int64)
    rows = np.arange(1 << items, dtype=np.int64)
    # Combinations of items that the statements do not tell apart are one unknown.
    held = np.unique((rows[None, :] & masks[:, None] == masks[:, None]).astype(np.int64), axis=1)
    weights = _weights(statements, held)
    if weights is None:
        return None
    used = [i for i, weight in enumerate(weights) if weight]
    return Clash(tuple(statements[i] for i in used), tuple(weights[i] for i in used))


def _weights(statements: Sequence[Statement], held: npt.NDArray[np.int64]) -> list[int] | None:
    """Find weights that prove infeasibility, by simplex.

    They are the dual of the least by which the statements must be missed.

    The table holds whole numbers over one common denominator, so that nothing is rounded (Edmonds).
    """
    bounds = [(i, 1, statement.hi) for i, statement in enumerate(statements)]
    bounds += [(i, -1, statement.lo) for i, statement in enumerate(statements) if 0 < statement.lo < statement.hi]
    exact = {i for i, statement in enumerate(statements) if statement.lo == statement.hi}
    unknowns = held.shape[1]
    height = len(bounds)
    # Columns: people per combination, what is left to each bound, how far each bound is missed, the bound itself.
    table = np.zeros((height + 1, unknowns + 2 * height + 1), object)
    for row, (i, side, bound) in enumerate(bounds):
        table[row, :unknowns] = held[i].astype(object)
        table[row, unknowns + row] = 0 if i in exact else side
        table[row, unknowns + height + row] = 1
        table[row, -1] = bound
    missed = [row for row, (i, side, _) in enumerate(bounds) if i in exact or side < 0]
    basis = [unknowns + (height if row in missed else 0) + row for row in range(height)]
    for row in missed:
        table[-1] -= table[row]
    table[-1, [unknowns + height + row for row in missed]] = 0
    table[-1, [unknowns + height + row for row in range(height) if row not in missed]] = 1
    denominator = _minimise(table, basis, unknowns + height)
    if table[-1, -1] == 0:
        return None
    weights = [0] * len(statements)
    for row, (i, _, _) in enumerate(bounds):
        weights[i] += int(table[-1, unknowns + height + row]) - denominator
    common = gcd(*weights)
    return [weight // common for weight in weights]


def _minimise(table: Table, basis: list[int], columns: int) -> int:
    """Minimise a simplex table in place; return its denominator."""
    denominator = 1
    while True:
        entering = next((column for column in range(columns) if table[-1, column] < 0), None)
        if entering is None:
            return denominator
        leaving = _leaving(table, basis, entering)
        pivot = table[leaving, entering]
        kept = table[leaving].copy()
        table[:] = (table * pivot - np.outer(table[:, entering], kept)) // denominator
        table[leaving] = kept
        basis[leaving] = entering
        denominator = pivot


def _leaving(table: Table, basis: Iterable[int], entering: int) -> int:
    """Choose the leaving row by the ratio test.

    Ties go to the first unknown (Bland's rule), which guarantees termination.
    """
    best: tuple[int, int, int, int] | None = None
    for row, unknown in enumerate(basis):
        slope = table[row, entering]
        room = table[row, -1]
        if slope > 0 and (best is None or (room * best[1], unknown) < (best[0] * slope, best[2])):
            best = (room, slope, unknown, row)
    assert best is not None, "how far the bounds are missed is never less than 0"
    return best[3]
