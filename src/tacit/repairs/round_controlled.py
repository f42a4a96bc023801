"""round-controlled: round all tables to a base so that parts still add up.

Changes
    Every count becomes one of the two neighbouring multiples of the base; a multiple stays as it is. Wherever a total and all its parts are
    published, the rounded parts add up to the rounded total, and a cell that several tables share is rounded alike in all of them. Of all such
    roundings the one that moves counts least is published; with a seed, one near random roundings.
Guarantee
    Every count is less than one base away from what is printed, and the header says so (rounding: random). The audit of the result reads it
    so. Without a seed, an attacker who knows the method also knows that most counts went to the nearest multiple.
Cost
    One integer program over all cells, and an audit.
Example
    3 and 4 of 7 people become 5, 5 and 10 to base 5 (moved by 6), not 5, 5 and 5; nearest roundings alone would not add up.
Reference
    Cox, A constructive procedure for unbiased controlled rounding, JASA 1987.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.model.arrays import Ints
from tacit.model.errors import Infeasible, LimitReached
from tacit.model.policy import Limits
from tacit.solve.highs import INFEASIBLE
from tacit.solve.solver import Matrix, solve_whole

NAME = "round-controlled"
Sum = tuple[int, tuple[int, ...]]  #: A total, and its parts.


@dataclass(frozen=True, slots=True, eq=False)
class RoundCase:
    """Counts, the sums among them, a base, and a seed for random rounding."""

    counts: Ints
    sums: Sequence[Sum]
    base: int
    seed: int | None
    limits: Limits


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Rounded counts; ``moved`` is by how much in all, ``lower_bound`` the least possible."""

    printed: Ints
    moved: int
    lower_bound: int | None


def propose(case: RoundCase) -> Rounded:
    """Propose the rounded counts."""
    base = case.base
    below = case.counts // base
    rest = case.counts % base
    free = np.flatnonzero(rest)
    place = {int(unit): number for number, unit in enumerate(free)}
    cost = (base - 2 * rest[free]).astype(np.float64)  # what it costs to go up instead of down
    if case.seed is not None:
        goes_up = np.random.default_rng(case.seed).random(len(free)) * base < rest[free]
        cost = np.where(goes_up, -1.0, 1.0)
    up = np.zeros(len(case.counts), np.int64)
    bound: int | None = int(rest[free].sum())
    if len(free):
        rows, columns, values, needed = _equations(case.sums, below, place)
        found = solve_whole(
            cost,
            matrix=Matrix.of_entries(rows, columns, values, (len(needed), len(free))),
            low=np.array(needed, np.float64),
            high=np.array(needed, np.float64),
            most=np.ones(len(free)),
            gap=0.0,
            seconds=case.limits.seconds_left,
        )
        if found.status == INFEASIBLE:
            what = f"no rounding to neighbouring multiples of {base} adds up in all tables"
            raise Infeasible(what, where="--base", remedy="Choose another base, or publish fewer totals")
        if found.x is None:
            what = "no rounding that adds up was found in time"
            raise LimitReached(what, where=NAME, remedy="Give more time with --time-limit")
        up[free] = np.rint(found.x).astype(np.int64)
        is_bound = case.seed is None and found.bound is not None
        bound = bound + int(np.ceil(found.bound - 1e-6)) if is_bound and found.bound is not None and bound is not None else None
    printed = (below + up) * base
    _check(case.sums, printed)
    return Rounded(printed, int(np.abs(printed - case.counts).sum()), bound)


def _equations(sums: Sequence[Sum], below: Ints, place: dict[int, int]) -> tuple[list[int], list[int], list[float], list[int]]:
    """Return the entries of equations between parts and totals, and their right sides."""
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    needed: list[int] = []
    for number, (total, parts) in enumerate(sums):
        for unit, value in [(total, -1.0), *((part, 1.0) for part in parts)]:
            if unit in place:
                rows.append(number)
                columns.append(place[unit])
                values.append(value)
        needed.append(int(below[total] - below[list(parts)].sum()))
    return rows, columns, values, needed


def _check(sums: Sequence[Sum], printed: Ints) -> None:
    for total, parts in sums:
        assert int(printed[total]) == int(printed[list(parts)].sum()), "rounded parts do not add up"
