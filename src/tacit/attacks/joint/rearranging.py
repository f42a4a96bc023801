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
from tacit.attacks.joint.rows import Flags, Floats, Rows, Whole, sparse
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
    _wanted: dict[int, Floats] = field(default_factory=dict)

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
            self._weigh_classes([boxes[number] for number in left.tolist()])
            # Few people in open groups and many in turn, above all in one of them.
            cost = np.asarray(inside[left].sum(axis=0)).ravel()
            cost[self.rows.cells.inside(box)] += 1 + cost.max(initial=0)
            self.world = self._moved(box, cost if turn % 2 == 0 else -cost)
        return out

    def _weigh_classes(self, boxes: Sequence[Mapping[int, int]]) -> None:
        """Note how many of the boxes name each class by itself: arranged together, more of them are settled at once."""
        cells = self.rows.cells
        for at, (place, width) in enumerate(zip(cells.chosen, cells.shape, strict=True)):
            masks = [box[place] for box in boxes if place in box]
            named = np.bincount([mask.bit_length() - 1 for mask in masks if mask.bit_count() == 1], minlength=width)
            self._wanted[at] = (named + 0.5) / (named + 0.5).sum()

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
            hard, low, high = self._program(self._narrowed, world, movable)
            soft, lower, upper = self._program(wanted, world, movable)
            some = len(lower)
            short = eye_array(some).multiply(np.where(np.isfinite(upper), -1.0, 1.0)[:, None])  # each has one end
            matrix = vstack((hstack((hard, csr_array((len(low), some)))), hstack((soft, short))), format="csr")
            cost, whole = (
                np.concatenate(ends)
                for ends in ((np.zeros(len(movable)), np.ones(some)), (np.ones(len(movable)), np.zeros(some)))
            )
            found = self._whole(cost, matrix, np.concatenate((low, lower)), np.concatenate((high, upper)), whole)
            if found is None:
                return None
            world[movable] = np.rint(found[: len(movable)]).astype(np.int64)
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

    def _moved(self, box: Mapping[int, int], cost: npt.NDArray[Any]) -> Whole:
        """A world in which only cells near a box differ, with little cost; the same one where none was found."""
        movable = self._movable(box)
        for _ in range(2):
            found = self._solved(movable, cost)
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
        """The cells that are arranged anew: those of the box, and of some more classes on each axis; where axes are many, of one on others."""
        cells = self.rows.cells
        kept, size = np.ones(len(cells), np.bool_), len(cells)
        order = sorted(range(len(cells.shape)), key=lambda at: (cells.chosen[at] not in box, self._random.random()))
        wide = [(at, FEW_CLASSES) for at in order if cells.shape[at] > FEW_CLASSES]
        others = [(at, 1) for at in order if cells.chosen[at] not in box]
        for at, most in (*wide, *others):
            if size <= self._most:
                break
            mask, width = box.get(cells.chosen[at], 0), cells.shape[at]
            own = self._random.permutation([bit for bit in range(width) if mask >> bit & 1]).tolist()
            rest = [bit for bit in self._drawn(at) if not mask >> bit & 1]
            # Of a group that lacks a value, or has one of several, some of its classes are enough.
            chosen = [*own[: most - 1], *rest, *own[most - 1 :]][:most]
            kept &= np.isin(self._classes[at], chosen)
            size = int(np.count_nonzero(kept))
        return np.flatnonzero(kept)

    def _drawn(self, at: int) -> list[int]:
        """The classes of an axis in random order, those that open questions name rather first."""
        width = self.rows.cells.shape[at]
        return [int(bit) for bit in self._random.choice(width, width, replace=False, p=self._wanted.get(at))]

    def _program(self, rows: Rows, world: Whole, movable: Whole) -> tuple[Any, Floats, Floats]:
        """What rows say about some cells beside people who stay: a matrix with both ends."""
        lo, hi = rows.bounds
        fixed = rows.matrix @ world
        part = rows.matrix[:, movable]
        used = np.diff(part.indptr) > 0
        return part[used], (lo - fixed)[used], (hi - fixed)[used]

    def _whole(self, cost: Floats, matrix: Any, low: Floats, high: Floats, integrality: Any = None) -> Floats | None:
        found = solve_whole(
            cost,
            matrix=matrix,
            low=low,
            high=high,
            most=2.0 * max(int(self.world.sum()), 1),
            integrality=integrality,
            nodes=NODES,
            gap=GAP,
            seconds=self.limits.seconds_left,
        )
        self.limits.check("X01")
        return found.x

    def _solved(self, movable: Whole, cost: npt.NDArray[Any]) -> Whole | None:
        """A world in which only these cells differ, with little cost; None where there is none."""
        world = self.world.copy()
        world[movable] = 0
        found = self._whole(cost[movable].astype(np.float64), *self._program(self._narrowed, world, movable))
        if found is None:
            return None
        world[movable] = np.rint(found).astype(np.int64)
        return world if self._narrowed.adds_up(world) else None


def _missed(rows: Rows, world: Whole) -> float:
    """By how much a world misses rows, over their scales, in all."""
    total, (lo, hi) = rows.matrix @ world, rows.bounds
    return float(np.maximum(lo - total, 0).sum() + np.maximum(total - hi, 0).sum())
