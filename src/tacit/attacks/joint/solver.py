"""Linear programs over rows: kinds of people in fractions with the weights of the best bound, and worlds of whole people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from tacit.attacks.joint.lines import Line
from tacit.attacks.joint.proofs import Cited
from tacit.attacks.joint.rearranging import Rearranging
from tacit.attacks.joint.rows import Floats, Rows, Whole
from tacit.inference.solving import Solution, linear_program, solve, solve_linear, solve_whole
from tacit.model.policy import Limits

#: Nodes of a search for a world of whole people: a number, and not seconds, so that the same input gives the same answer.
MOST_NODES = 50
#: Up to so many cells, worlds are looked for one by one.
FEW_CELLS = 1_000
#: Searches on the way to a world that meets conditions, at most; where there are more cells, turns of putting lines in their place.
MOST_CHOICES, MOST_TURNS = 40, 3
#: Fractions of people whose mean is taken for typical ones.
FEW_POINTS = 2
#: People that a condition is kept away from being broken, so that rounding does not break it.
NEARLY = 3
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
    _narrowed: Rows | None = None

    @cached_property
    def search(self) -> Solver:
        """Programs for the same people over fewer rows, where no weights are wanted."""
        return Solver(self.rows.needed, self.limits)

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
        return self.least_of([cost])[0]

    def least_of(self, costs: Sequence[Floats]) -> list[Optimum | None]:
        """The same for several costs at a time."""
        equal, _, _, lo, _ = self._sides
        fixed = self.rows.matrix[equal], lo[equal]
        left = self.limits.seconds_left
        found = solve([linear_program(cost, above=self._above, equal=fixed, seconds=left) for cost in costs])
        self.limits.check("X01")
        return [self._optimum(solution) for solution in found]

    def _optimum(self, found: Solution) -> Optimum | None:
        if found.status != 0 or found.value is None or found.x is None:
            return None
        equal, low, high, lo, _ = self._sides
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

        A world that breaks a condition is looked for again, once for each of the two statements of which one is true; where there are many
        cells, only for those that fractions of people are nearer to.
        """
        if self.rows.has_conditions and not self.rows.cells.problem.tells_conditions:
            return None
        if self.rows.has_conditions and len(self.rows.cells) > FEW_CELLS:
            return self.search._near_world(cost)
        waiting, tried = [(self.rows, 0)], 0
        while waiting and tried < MOST_CHOICES:
            rows, depth = waiting.pop()
            world = self._world(rows, cost)
            tried += 1
            if world is None:
                continue
            choice = next(rows.choices(world), None)
            if choice is None:
                return world
            waiting += [(rows.chosen(line, depth), depth + 1) for line in (choice.more, choice.fewer) if line is not None]
        return None

    def _near_world(self, cost: Floats) -> Whole | None:
        """A world that meets conditions: one with lines in the place of some of them, mended where it breaks others."""
        if self._narrowed is None:
            self._narrowed = self.rows.along(self._sides_taken())
        world = self._world(self._narrowed, cost)
        if world is None:
            return None
        near = Rearranging(self.rows, world, self.limits)
        return near.world if near.mend() else None

    def _sides_taken(self) -> list[Line]:
        """Of every choice that fractions of people come near to, one of its statements, so that there are people of whom all of these are true.

        Statements that are missed by as little as can be are exchanged for the other ones, until none is missed.
        """
        typical = self._typical()
        if typical is None:
            return []
        taken = {choice.origin: choice for choice in self.rows.choices(typical, NEARLY)}
        for turn in range(MOST_TURNS):
            people, missed = self._nearest([choice.nearer for choice in taken.values()])
            if people is None:
                break
            wrong = [choice for choice, by in zip(taken.values(), missed.tolist(), strict=True) if by > NEAR]
            fresh = [choice for choice in self.rows.choices(people, NEARLY) if choice.origin not in taken]
            if not wrong and not fresh:
                break
            if turn == MOST_TURNS - 1:
                # What these people miss is left out: others whose lines are met are there.
                return [choice.nearer for choice in taken.values() if choice not in wrong]
            taken |= {choice.origin: replace(choice, first=not choice.first) for choice in wrong}
            taken |= {choice.origin: choice for choice in fresh}
        return [choice.nearer for choice in taken.values()]

    def _typical(self) -> Floats | None:
        """People in fractions who fit all rows: the mean of some who are the best for costs drawn at random."""
        random = np.random.default_rng(self.limits.seed)
        draws = [random.choice([-1.0, 0.0, 1.0], len(self.rows.cells)) for _ in range(FEW_POINTS)]
        points = [best.people for best in self.least_of(draws) if best is not None]
        return np.mean(points, axis=0) if points else None

    def _nearest(self, lines: Sequence[Line]) -> tuple[Floats | None, Floats]:
        """People in fractions who fit all rows and miss these lines by the least, and by how much each of them."""
        from scipy.sparse import csr_array, eye_array, hstack, vstack

        extra = self.rows.only(()).along(lines)
        lo, hi = extra.bounds
        sign = np.where(np.isfinite(hi), 1.0, -1.0)  # each has one end
        soft = hstack((extra.matrix * sign[:, None], -eye_array(len(sign))), format="csr") if len(sign) else csr_array((0, 0))
        equal, *_ = self._sides
        above, limits = self._above
        wide = [hstack((part, csr_array((part.shape[0], len(sign)))), format="csr") for part in (above, self.rows.matrix[equal])]
        if len(sign):
            wide[0], limits = vstack((wide[0], soft), format="csr"), np.concatenate((limits, np.where(sign > 0, hi, -lo)))
        cost = np.concatenate((np.zeros(len(self.rows.cells)), np.ones(len(sign))))
        fixed = wide[1], self._sides[3][equal]
        found = solve_linear(cost, above=(wide[0], limits), equal=fixed, seconds=self.limits.seconds_left)
        self.limits.check("X01")
        if found.status != 0 or found.x is None:
            return None, np.empty(0)
        return found.x[: len(self.rows.cells)], found.x[len(self.rows.cells) :]

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
