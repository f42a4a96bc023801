"""Linear programs over rows: kinds of people in fractions with the weights of the best bound, and worlds of whole people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from tacit.attacks.joint.proofs import Cited
from tacit.attacks.joint.rows import Floats, Rows, Whole
from tacit.inference.solving import solve_linear, solve_whole
from tacit.model.policy import Limits

#: Nodes of a search for a world of whole people: a number, and not seconds, so that the same input gives the same answer.
MOST_NODES = 50
#: Searches on the way to a world that meets conditions, at most.
MOST_CHOICES = 40
#: One search takes at most this share of the time that is left, and at least a second: others are to be asked as well.
SHARE = 0.25
#: A world may cost this share more than the best one would.
GAP = 0.05
#: How far a solver's number may be from a whole one that it stands for.
NEAR = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The least cost, where it is reached, and the weight of every row over its scale."""

    value: float
    people: Floats
    weights: Floats


@dataclass(eq=False)
class Solver:
    """Programs over the same rows."""

    rows: Rows
    limits: Limits

    @cached_property
    def _sides(self) -> tuple[Any, ...]:
        lo, hi = self.rows.bounds
        equal = lo == hi
        low, high = np.isfinite(lo) & ~equal, np.isfinite(hi) & ~equal
        return equal, low, high, lo, hi

    @cached_property
    def _above(self) -> tuple[Any, Floats]:
        """All rows that are no equations, as ``matrix @ people <= limits``."""
        from scipy.sparse import vstack

        _, low, high, lo, hi = self._sides
        matrix = self.rows.matrix
        return vstack((matrix[high], -matrix[low]), format="csr"), np.concatenate((hi[high], -lo[low]))

    def least(self, cost: Floats) -> Optimum | None:
        """The least cost that people in fractions can have; None where no bound was found."""
        equal, low, high, lo, _ = self._sides
        fixed = self.rows.matrix[equal], lo[equal]
        found = solve_linear(cost, above=self._above, equal=fixed, seconds=self.limits.seconds_left)
        self.limits.check("X01")
        if found.status != 0 or found.value is None or found.x is None:
            return None
        weights = np.zeros(len(lo))
        weights[equal] = found.equal
        weights[high] += found.above[: int(high.sum())]
        weights[low] -= found.above[int(high.sum()) :]
        return Optimum(float(found.value), found.x, weights)

    def bound(self, group: Whole, sign: int) -> tuple[int, dict[Cited, Fraction]] | None:
        """The best whole lower bound on ``sign * people in the group``, with simple weights that prove it."""
        best = self.least(self.cost(group, sign))
        return None if best is None else self.rows.proved(group, sign, best.weights, ceil(best.value - NEAR))

    def cost(self, group: Whole, sign: int) -> Floats:
        """What everybody in a group costs."""
        cost = np.zeros(len(self.rows.cells))
        cost[group] = sign
        return cost

    def world(self, cost: Floats) -> Whole | None:
        """A world of whole people that fits all rows, with little cost; None where none was found.

        A world that breaks a condition is looked for again, once for each of the two statements of which one is true.
        """
        waiting, tried = [(self.rows, 0)], 0
        while waiting and tried < MOST_CHOICES:
            rows, depth = waiting.pop()
            world = self._world(rows, cost)
            tried += 1
            if world is None:
                continue
            choice = rows.broken(world) if rows.has_conditions else None
            if choice is None:
                return world
            waiting += [(rows.chosen(line, depth), depth + 1) for line in (choice.more, choice.fewer) if line is not None]
        return None

    def _world(self, rows: Rows, cost: Floats) -> Whole | None:
        lo, hi = rows.bounds
        # Without n a group could grow without end; a world with fewer people is a world as well.
        most = [row.hi for row in rows.rows if row.hi is not None]
        left = self.limits.seconds_left
        found = solve_whole(
            cost,
            matrix=rows.matrix,
            low=lo,
            high=hi,
            most=2.0 * max(most, default=100),
            nodes=MOST_NODES,
            gap=GAP,
            seconds=None if left is None else max(left * SHARE, 1.0),
        )
        self.limits.check("X01")
        if found.x is None:
            return None
        world = np.rint(found.x).astype(np.int64)
        return world if rows.adds_up(world) else None

    def clash(self) -> dict[Cited, Fraction]:
        """Weights on rows that no people fit, by which it is proved; none where there are no such weights."""
        from scipy.sparse import eye_array, hstack, vstack

        lo, hi = self.rows.bounds
        low, high = np.isfinite(lo), np.isfinite(hi)
        matrix = self.rows.matrix
        above, limits = vstack((matrix[high], -matrix[low]), format="csr"), np.concatenate((hi[high], -lo[low]))
        # Every row may be missed by something, and the least that must be missed in all is above 0 where rows clash.
        cost = np.concatenate((np.zeros(matrix.shape[1]), np.ones(len(limits))))
        missed = hstack((above, -eye_array(len(limits))), format="csr")
        found = solve_linear(cost, above=(missed, limits), seconds=self.limits.seconds_left)
        self.limits.check("X01")
        if found.status != 0 or found.value is None or found.value < NEAR:
            return {}
        weights = np.zeros(len(lo))
        weights[high] += found.above[: int(high.sum())]
        weights[low] -= found.above[int(high.sum()) :]
        shown = self.rows.proved(np.empty(0, np.int64), 1, weights, 1)
        return {} if shown is None else shown[1]
