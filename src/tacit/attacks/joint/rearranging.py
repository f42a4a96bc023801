"""Worlds near a world: people of a few classes are arranged anew by an integer program, and everybody else stays.

Where columns are wide, an integer program over all kinds of people takes long, and one over a few classes of each column a moment. From a world
that is known it leads to others in which groups are empty, or hold k people; these are not small in every world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.lines import Choice, Line
from tacit.attacks.joint.rows import Flags, Rows, Whole, sparse
from tacit.inference.solving import solve_whole
from tacit.model.policy import Limits

#: Cells that are arranged anew at a time, at first and in the end, and classes that are chosen of an axis with more.
FEW_MOVED, MOST_MOVED, FEW_CLASSES = 600, 1_200, 3
#: Programs at most, those in a row that settle little, and which share of the questions is worth one.
MOST_TURNS, MOST_IDLE, WORTH = 150, 8, 0.01
#: Nodes of a program, and the share by which its answer may be worse than the best.
NODES, GAP = 3, 0.5


@dataclass(eq=False)
class Rearranging:
    """A world, and those near it. Conditions that were broken on the way stand as lines, on the side that is true of the world."""

    rows: Rows
    world: Whole
    limits: Limits
    _narrowed: Rows = field(init=False)
    _most: int = FEW_MOVED

    def __post_init__(self) -> None:
        self._narrowed = self.rows

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(self.limits.seed)

    @cached_property
    def _classes(self) -> Whole:
        """The class of every cell on every axis."""
        return np.indices(self.rows.cells.shape).reshape(len(self.rows.cells.shape), -1)

    def refute(self, boxes: Sequence[Mapping[int, int]], k: int) -> Flags:
        """The boxes that are empty, or hold k people, in one of the worlds that were met."""
        inside = sparse(self.rows.cells, boxes)
        out = np.zeros(len(boxes), np.bool_)
        idle = 0
        for turn in range(MOST_TURNS):
            counts = np.rint(inside @ self.world)
            before = int(out.sum())
            out |= (counts == 0) | (counts >= k)
            left = np.flatnonzero(~out)
            # Small parts are quick to arrange; larger ones come once these settle little.
            idle = 0 if out.sum() - before > WORTH * len(left) else idle + 1
            if idle > MOST_IDLE:
                self._most, idle = 2 * self._most, 0
            if not len(left) or self._most > MOST_MOVED:
                break
            box = boxes[int(self._random.choice(left))]
            # Few people in open groups and many in turn, above all in one of them.
            cost = np.asarray(inside[left].sum(axis=0)).ravel()
            cost[self.rows.cells.inside(box)] += 1 + cost.max(initial=0)
            self.world = self._moved([box], cost if turn % 2 == 0 else -cost)
        return out

    def mend(self) -> bool:
        """Arrange people anew, part by part, until no condition is broken; whether that came about."""
        idle = 0
        broken = list(self.rows.choices(self.world))
        while broken and idle <= MOST_IDLE:
            near = self.rows.cells.problem.masks(broken[int(self._random.integers(len(broken)))].fewer.terms[0][1])
            better = self._less_broken(self._movable(near), broken)
            idle = idle + 1 if better is None else 0
            if better is not None:
                self.world = better
                broken = list(self.rows.choices(self.world))
        return not broken

    def _less_broken(self, movable: Whole, broken: Sequence[Choice]) -> Whole | None:
        """People in these cells who miss the nearer statements of broken conditions by less; None where there are none."""
        from scipy.sparse import csr_array, eye_array, hstack, vstack

        wanted = self.rows.only(()).along(choice.nearer for choice in broken)
        missed = _missed(wanted, self.world)
        for _ in range(2):
            world = self.world.copy()
            world[movable] = 0
            parts = []
            for rows, soft in ((self._narrowed, False), (wanted, True)):
                matrix, (lo, hi) = rows.matrix[:, movable], rows.bounds
                fixed = rows.matrix @ world
                used = np.diff(matrix.indptr) > 0
                parts.append((matrix[used], (lo - fixed)[used], (hi - fixed)[used], int(used.sum()) if soft else 0))
            (hard, low, high, _), (extra, lower, upper, some) = parts
            sign = np.where(np.isfinite(upper), -1.0, 1.0)  # each has one end
            matrix = vstack(
                (hstack((hard, csr_array((hard.shape[0], some)))), hstack((extra, eye_array(some).multiply(sign[:, None])))),
                format="csr",
            )
            cost = np.concatenate((np.zeros(len(movable)), np.ones(some)))
            found = solve_whole(
                cost,
                matrix=matrix,
                low=np.concatenate((low, lower)),
                high=np.concatenate((high, upper)),
                most=2.0 * max(int(self.world.sum()), 1),
                integrality=np.concatenate((np.ones(len(movable)), np.zeros(some))),
                nodes=NODES,
                gap=GAP,
                seconds=self.limits.seconds_left,
            )
            self.limits.check("X01")
            if found.x is None:
                return None
            world[movable] = np.rint(found.x[: len(movable)]).astype(np.int64)
            if not self._narrowed.adds_up(world) or _missed(wanted, world) >= missed:
                return None
            known = {choice.origin for choice in broken}
            fresh = [choice for choice in self.rows.choices(world) if choice.origin not in known]
            if not fresh:
                return world
            self._keep_true(fresh)
        return None

    def _keep_true(self, choices: Sequence[Choice]) -> None:
        """From now on, these choices keep the side that is true of the world."""
        self._narrowed = self._narrowed.along(line for choice in choices if (line := self._true_side(choice)) is not None)

    def _moved(self, boxes: Sequence[Mapping[int, int]], cost: npt.NDArray[Any]) -> Whole:
        """A world in which only cells near some boxes differ, with little cost; the same one where none was found."""
        movable = self._movable(boxes[0])
        for _ in range(2):
            found = self._solved(movable, cost, self._narrowed)
            if found is None:
                break
            broken = list(self.rows.choices(found))
            if not broken:
                return found
            self._keep_true(broken)
        return self.world

    def _true_side(self, choice: Choice) -> Line | None:
        """The statement of a choice that is true of the world."""
        sides = (line for line in (choice.fewer, choice.more) if line is not None)
        return next((line for line in sides if self.rows.only(()).along([line]).adds_up(self.world)), None)

    def _movable(self, box: Mapping[int, int]) -> Whole:
        """The cells that are arranged anew: those of the box, and of some more classes on each axis."""
        cells = self.rows.cells
        kept, size = np.ones(len(cells), np.bool_), len(cells)
        for at in sorted(range(len(cells.shape)), key=lambda at: (cells.chosen[at] not in box, self._random.random())):
            width = cells.shape[at]
            if size <= self._most or width <= FEW_CLASSES:
                continue
            mask = box.get(cells.chosen[at], 0)
            own = [bit for bit in range(width) if mask >> bit & 1]
            others = self._random.permutation([bit for bit in range(width) if bit not in own]).tolist()
            # Of a group that lacks a value, or has one of several, some of its classes are enough.
            order = [*self._random.permutation(own).tolist()[: FEW_CLASSES - 1], *others, *own]
            chosen = order[:FEW_CLASSES]
            kept &= np.isin(self._classes[at], chosen)
            size = size // width * len(chosen)
        return np.flatnonzero(kept)

    def _solved(self, movable: Whole, cost: npt.NDArray[Any], rows: Rows) -> Whole | None:
        """Whole people in these cells who, beside all others, fit the rows."""
        lo, hi = rows.bounds
        world = self.world.copy()
        world[movable] = 0
        fixed = rows.matrix @ world
        part = rows.matrix[:, movable]
        used = np.diff(part.indptr) > 0
        found = solve_whole(
            cost[movable].astype(np.float64),
            matrix=part[used],
            low=(lo - fixed)[used],
            high=(hi - fixed)[used],
            most=2.0 * max(int(self.world.sum()), 1),
            nodes=NODES,
            gap=GAP,
            seconds=self.limits.seconds_left,
        )
        self.limits.check("X01")
        if found.x is None:
            return None
        world[movable] = np.rint(found.x).astype(np.int64)
        return world if rows.adds_up(world) else None


def _missed(rows: Rows, world: Whole) -> float:
    """By how much a world misses rows, over their scales, in all."""
    total, (lo, hi) = rows.matrix @ world, rows.bounds
    return float(np.maximum(lo - total, 0).sum() + np.maximum(total - hi, 0).sum())
