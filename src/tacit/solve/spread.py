"""Withheld numbers, spread above their thresholds.

A rule whose numbers are withheld says that a share of a group reaches a threshold. Of all distributions that fit, the maximum entropy
distribution puts most of these shares on their threshold, where shares of real data do not lie. An attacker may take all distributions of the
m sensitive values in a group for equally likely (the uniform prior on the simplex). A share then has the density ``(m - 1) (1 - x)**(m - 2)``,
cut off below its threshold; its *position*, 0 on the threshold and 1 at 1, has the same density from 0 on, and the mean 1/m: half way with two
values, near the threshold with many.

Fixing every position to 1/m would be wrong: groups overlap, and positions that are free of each other force their intersections to extremes.
What the attacker expects is the mean position over all withheld lines. That is one more statement, linear in the distribution:

    maximise  H  subject to all statements and  mean position >= 1/m

If maximum entropy reaches that mean alone nothing changes. If other statements do not leave much room above, the mean is half way between the
one of maximum entropy and the largest that is possible (one linear program), so that it is always possible, and no share is forced to an
extreme. The additional statement has a multiplier t > 0: the entropy plus t times the mean position is the largest. The mean grows with t,
which regula falsi finds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace

import numpy as np

from tacit.model.arrays import Floats, Ints
from tacit.solve.entropy import Solution, solve
from tacit.solve.solver import solve_linear
from tacit.solve.statements import Problem

CLOSE = 1e-9  #: The mean position is met up to this.
FIRST = 0.1  #: Multiplier of the mean position that is tried first, in nats.
MOST_TRIES = 60
SECONDS = 30.0  #: Limit of the linear program; without its answer the largest mean position counts as 1.


@dataclass(frozen=True, eq=False)
class Positions:
    """Rows of withheld lines in a problem, and directions of rising shares.

    ``gain[i]`` is the change of the mean position per share of people in row ``rows[i]``, ``start`` the sum of the row that has position 0.
    It is negative for a line about the second of two values, which is read as a line about the first.
    """

    problem: Problem
    rows: Ints
    gain: Floats
    start: Floats

    @classmethod
    def of(cls, problem: Problem, withheld: Collection[Hashable]) -> Positions:
        """Find the rows with an origin among ``withheld`` and one bound."""
        spoken = np.array([any(origin in withheld for origin in origins) for origins in problem.origins], np.bool_)
        from_below = (problem.lo > 0) & (problem.lo < problem.whole) & (problem.hi == problem.whole)
        from_above = (problem.lo == 0) & (problem.hi > 0) & (problem.hi < problem.whole)
        rows = np.flatnonzero(spoken & (from_below | from_above))
        start = np.where(from_below, problem.lo, problem.hi)[rows]
        end = np.where(from_below, problem.whole, 0)[rows]
        return cls(problem, rows, problem.n / ((end - start) * max(1, len(rows))), start / problem.n)

    def mean(self, share: Floats) -> float:
        """Return the mean position under some shares."""
        return float(self.gain @ (self._sums(share) - self.start))

    def tilt(self, multiplier: float) -> Floats:
        """Return what a multiplier of the mean position adds to those of rows."""
        out = np.zeros(len(self.problem.values))
        out[self.rows] = multiplier * self.gain
        return out

    def largest(self) -> float:
        """Return the largest mean position that the statements allow."""
        from scipy.sparse import csr_array, vstack

        p = self.problem
        classes = np.repeat(np.arange(len(p.people)), np.diff(p.starts))
        open_cells = p.closed == 0
        number = np.full(p.closed.shape, -1, np.int64)
        number[open_cells] = np.arange(int(open_cells.sum()))
        of_class, _ = np.nonzero(open_cells)
        size = len(of_class)
        weight = p.people[classes] / p.n
        cells = number[classes, p.values[p.rows]]
        sums = csr_array((weight, (p.rows, cells)), shape=(len(p.values), size))
        whole = csr_array((np.ones(size), (of_class, np.arange(size))), shape=(len(p.people), size))
        found = solve_linear(
            np.asarray(-(sums.T @ self.tilt(1.0)), np.float64),
            above=(vstack([sums, -sums], format="csr"), np.concatenate((p.hi, -p.lo)) / p.n),
            equal=(whole, np.ones(len(p.people))),
            seconds=SECONDS,
        )
        if found.status != 0 or found.x is None:
            return 1.0
        return float(self.tilt(1.0) @ (sums @ found.x) - self.gain @ self.start)

    def _sums(self, share: Floats) -> Floats:
        p = self.problem
        classes = np.repeat(np.arange(len(p.people)), np.diff(p.starts))
        people = p.people[classes] * share[classes, p.values[p.rows]]
        return np.asarray(np.bincount(p.rows, people, len(p.values))[self.rows] / p.n)


@dataclass(frozen=True, eq=False)
class Spread:
    """Solution with withheld lines spread above their thresholds.

    ``multiplier`` is that of the mean position, ``tilt`` what it adds to the multipliers of the statements.
    """

    solution: Solution
    multiplier: float
    tilt: Floats


def solve_spread(
    problem: Problem,
    withheld: Collection[Hashable],
    *,
    multipliers: Floats | None = None,
    first: float = FIRST,
    check: Callable[[], None] = lambda: None,
) -> Spread:
    """Solve with withheld lines spread above their thresholds.

    ``multipliers`` of a similar problem make it faster, and so does its multiplier of the mean position, tried ``first``.
    """
    positions = Positions.of(problem, withheld)
    found = solve(problem, multipliers=multipliers, check=check)
    unchanged = Spread(found, 0.0, positions.tilt(0.0))
    if len(positions.rows) == 0 or not found.converged:
        return unchanged
    now = positions.mean(found.share)
    expected = 1 / problem.n_values
    if now >= expected - CLOSE:
        return unchanged
    wanted = min(expected, (now + positions.largest()) / 2)
    low = 0.0
    below = now - wanted
    if below >= -CLOSE:
        return unchanged
    high = np.inf
    above = 0.0
    was_below = True
    multiplier = first
    for _ in range(MOST_TRIES):
        tilt = positions.tilt(multiplier)
        found = solve(problem, multipliers=found.multipliers, tilt=tilt, check=check)
        far = positions.mean(found.share) - wanted
        if not found.converged or abs(far) <= CLOSE:
            return Spread(found, multiplier, tilt)
        is_below = far < 0
        # An end that stays twice counts half the next time (the Illinois rule), so that both move.
        if is_below:
            above = above / 2 if was_below else above
            low = multiplier
            below = far
        else:
            below = below / 2 if not was_below else below
            high = multiplier
            above = far
        was_below = is_below
        multiplier = 2 * multiplier if high == np.inf else (low * above - high * below) / (above - below)
    return Spread(replace(found, converged=False), multiplier, tilt)
