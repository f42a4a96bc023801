"""What bounds along single sums leave open: worlds that refute many questions at once, and linear programs whose weights are proofs.

A question is whether a group holds 1 to k-1 people in every world. A world of whole people that fits all lines settles it where the group is
empty there or larger. What no world settles is asked by itself, and its answer counts only when weights of simple fractions prove it exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Axis
from tacit.attacks.joint.lines import Problem
from tacit.model.policy import Limits

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Cells, cells times lines, and cells times questions up to which programs are solved; questions that are asked one by one.
MOST_CELLS, MOST_ENTRIES, MOST_ASKED = 5_000, 4_000_000, 200
#: Nodes of a search for a world of whole people: a number, and not seconds, so that the same input gives the same answer.
MOST_NODES = 50
_ROUNDS = 30
#: Denominators that weights are rounded to, simple ones first.
_DENOMINATORS = (1, 2, 6, 12, 60, 2520, 10**4, 10**6)


def cells_of(axes: Sequence[Axis]) -> int:
    """How many kinds of people the axes tell apart."""
    return int(np.prod([len(axis.classes) for axis in axes], dtype=object)) if axes else 1


def inside(axes: Sequence[Axis], masks: Sequence[int]) -> Flags:
    """Which cells a group holds, given the classes that it allows on every axis."""
    found = np.ones(1, np.bool_)
    for axis, mask in zip(axes, masks, strict=True):
        allowed = np.array([mask >> place & 1 for place in range(len(axis.classes))], np.bool_)
        found = (found[:, None] & allowed[None, :]).ravel()
    return found


@dataclass(eq=False)
class Settlement:
    """What became of questions: refuted by a world, proved by weights on lines, or neither."""

    refuted: Flags
    proofs: dict[int, tuple[int, dict[int, Fraction], int, dict[int, Fraction]]] = field(default_factory=dict)
    clash: tuple[int, ...] = ()


@dataclass(eq=False)
class Programs:
    """The lines of a problem as rows over cells."""

    problem: Problem
    limits: Limits

    @cached_property
    def rows(self) -> Whole:
        """How often each line counts each cell."""
        axes = self.problem.axes
        full = [axis.slots[axis.everything] for axis in axes]
        out = np.zeros((len(self.problem.lines), cells_of(axes)), np.int64)
        for number, terms in enumerate(self.problem.boxes):
            for factor, masks in terms:
                out[number] += factor * inside(axes, [masks.get(place, full[place]) for place in range(len(axes))])
        return out

    @cached_property
    def _bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        lines = self.problem.lines
        lo = np.array([-np.inf if line.lo is None else line.lo for line in lines], float)
        hi = np.array([np.inf if line.hi is None else line.hi for line in lines], float)
        return lo, hi

    def settle(self, groups: Sequence[Flags], k: int, progress: Callable[[float], None]) -> Settlement:
        """Refute or prove, for each of the groups, that it holds 1 to k-1 people."""
        out = Settlement(np.zeros(len(groups), np.bool_))
        if not len(groups):
            return out
        inside_of = np.array(groups)
        for turn in range(_ROUNDS):
            living = ~out.refuted
            if not living.any():
                return out
            cost = inside_of[living].sum(axis=0).astype(float) * (1 if turn % 2 == 0 else -1)
            world = self._world(cost)
            if world is None and turn == 0 and (clash := self.clash()):
                out.clash = clash
                return out
            killed = self._refuted(inside_of, world, k) & living
            out.refuted |= killed
            if not killed.any() and turn % 2:
                break
        living_numbers = np.flatnonzero(~out.refuted).tolist()
        for done, number in enumerate(living_numbers[:MOST_ASKED]):
            self.limits.check("X01")
            if not out.refuted[number]:
                self._ask(inside_of, number, k, out)
            progress(done / max(1, len(living_numbers)))
        return out

    def _ask(self, inside_of: npt.NDArray[np.bool_], number: int, k: int, out: Settlement) -> None:
        """Two programs for one question; each world on the way may refute others as well."""
        group = inside_of[number]
        least = self._bound(group, 1)
        most = None if least is None or least[0] < 1 else self._bound(group, -1)
        if least is not None and least[0] >= 1 and most is not None and -most[0] < k:
            out.proofs[number] = (least[0], least[1], -most[0], most[1])
            return
        for sign in (1.0, -1.0):
            out.refuted |= self._refuted(inside_of, self._world(sign * group), k)
            if out.refuted[number]:
                return

    def _refuted(self, inside_of: npt.NDArray[np.bool_], world: Whole | None, k: int) -> Flags:
        if world is None:
            return np.zeros(len(inside_of), np.bool_)
        counts = inside_of @ world
        return np.asarray((counts == 0) | (counts >= k))

    def _world(self, cost: npt.NDArray[np.float64]) -> Whole | None:
        """A world of whole people that fits all lines, with little cost; None where none was found."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        lo, hi = self._bounds
        options: Any = {"node_limit": MOST_NODES}
        if self.limits.seconds_left is not None:
            options["time_limit"] = self.limits.seconds_left
        # Without n a group could grow without end; a world with fewer people is a world as well.
        room = float(np.max(hi[np.isfinite(hi)], initial=100.0)) * 2
        found = milp(
            cost,
            integrality=np.ones(len(cost), np.int64),
            bounds=Bounds(0, room),
            constraints=LinearConstraint(self.rows.astype(float), lo, hi),
            options=options,
        )
        if found.x is None:
            return None
        world = np.rint(found.x).astype(np.int64)
        counts = self.rows @ world
        fits = bool((counts >= lo).all() and (counts <= hi).all() and (world >= 0).all())
        return world if fits else None

    def _bound(self, group: Flags, sign: int) -> tuple[int, dict[int, Fraction]] | None:
        """The best whole lower bound on ``sign * people in the group`` that simple weights prove, with them."""
        from scipy.optimize import linprog

        lo, hi = self._bounds
        equal, low, high = lo == hi, np.isfinite(lo) & (lo < hi), np.isfinite(hi) & (lo < hi)
        rows = self.rows.astype(float)
        above = np.concatenate((rows[high], -rows[low]))
        limits = np.concatenate((hi[high], -lo[low]))
        found = linprog(
            sign * group.astype(float),
            A_ub=above if len(above) else None,
            b_ub=limits if len(limits) else None,
            A_eq=rows[equal] if equal.any() else None,
            b_eq=lo[equal] if equal.any() else None,
            method="highs",
        )
        if found.status != 0 or found.fun is None:
            return None
        weights = np.zeros(len(lo))
        if equal.any():
            weights[equal] = found.eqlin.marginals
        if len(above):
            weights[high] += found.ineqlin.marginals[: int(high.sum())]
            weights[low] -= found.ineqlin.marginals[int(high.sum()) :]
        wanted = ceil(found.fun - 1e-6)
        for denominator in _DENOMINATORS:
            proved = self._certified(group, sign, weights, denominator)
            if proved is not None and proved[0] >= wanted:
                return proved
        return None

    def clash(self) -> tuple[int, ...]:
        """Lines that no world fits, by weights that prove it; none where there are no such weights."""
        from scipy.optimize import linprog

        lo, hi = self._bounds
        low, high = np.isfinite(lo), np.isfinite(hi)
        rows = self.rows.astype(float)
        above, limits = np.concatenate((rows[high], -rows[low])), np.concatenate((hi[high], -lo[low]))
        # Every line may be missed by something, and the least that must be missed in all is above 0 where lines clash.
        cost = np.concatenate((np.zeros(rows.shape[1]), np.ones(len(above))))
        found = linprog(cost, A_ub=np.hstack((above, -np.eye(len(above)))), b_ub=limits, method="highs")
        if found.status != 0:
            return ()
        weights = np.zeros(len(lo))
        weights[high] += found.ineqlin.marginals[: int(high.sum())]
        weights[low] -= found.ineqlin.marginals[int(high.sum()) :]
        for denominator in _DENOMINATORS:
            proved = self._certified(np.zeros(rows.shape[1], np.bool_), 1, weights, denominator)
            if proved is not None and proved[0] > 0:
                return tuple(proved[1])
        return ()

    def _certified(
        self, group: Flags, sign: int, weights: npt.NDArray[np.float64], denominator: int
    ) -> tuple[int, dict[int, Fraction]] | None:
        """What weights of this denominator prove, exactly: every cell must be covered, by counting everybody where need be."""
        scaled = np.rint(weights * denominator).astype(np.int64)
        lines = self.problem.lines
        for number in np.flatnonzero(scaled).tolist():
            if (lines[number].lo if scaled[number] > 0 else lines[number].hi) is None:
                scaled[number] = 0
        short = int((sign * denominator * group.astype(np.int64) - scaled @ self.rows).min())
        if short < 0:
            if not self.problem.everybody:
                return None
            scaled[list(self.problem.everybody)] += short
        total = Fraction(0)
        used: dict[int, Fraction] = {}
        for number in np.flatnonzero(scaled).tolist():
            bound = lines[number].lo if scaled[number] > 0 else lines[number].hi
            if bound is None:
                return None
            used[number] = Fraction(int(scaled[number]), denominator)
            total += used[number] * bound
        return ceil(total), used
