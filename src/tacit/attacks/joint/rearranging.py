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
from tacit.inference.solving import Program, Solution, solve, whole_program
from tacit.model.policy import Limits

#: Cells that are arranged anew at a time, and classes that are chosen of an axis with more: other parts settle other questions.
MOST_MOVED = 600
FEW_CLASSES = (4, 3, 5)
#: All classes with people of a group are among these where they are at most so many.
MOST_TAKEN = 7
#: Programs at most, those in a row that settle little, and which share of the questions is worth one.
MOST_TURNS, MOST_IDLE, WORTH = 200, 8, 0.005
#: Rows that a world is farther from missing than by so many people are left out at first; programs that are tried until none is missed.
FAR, MOST_TRIED = 10, 3
#: Nodes of a program, and the share by which its answer may be worse than the best.
NODES, GAP = 3, 0.5


@dataclass(eq=False)
class Rearranging:
    """A world, and those near it. Conditions that were broken on the way stand as lines, on the side that is true of the world."""

    rows: Rows
    world: Whole
    limits: Limits
    _narrowed: Rows = field(init=False)
    _near: set[int] = field(default_factory=set)
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
        counts = np.rint(inside @ self.world)
        out: Flags = (counts == 0) | (counts >= k)
        gain = {1: 1.0, -1: 1.0}  # what few people in open groups, and many, have settled of late
        idle = 0
        for turn in range(MOST_TURNS):
            left = np.flatnonzero(~out)
            if not len(left) or idle > MOST_IDLE:
                break
            self._weigh_classes([boxes[number] for number in left.tolist()])
            # Few people in open groups, or many, above all in one of them.
            cost = np.asarray(inside[left].sum(axis=0)).ravel()
            own = 1 + cost.max(initial=0)
            signs = [1, self._random.choice([1, -1], p=np.array([gain[1], gain[-1]]) / (gain[1] + gain[-1]))]
            drawn = [boxes[number] for number in self._random.choice(left, len(signs)).tolist()]
            classes = self._random.choice(FEW_CLASSES, len(signs)).tolist()
            worlds = self._moved(
                [
                    (self._movable(box, some), sign * (cost + own * self._is_inside(box)))
                    for box, some, sign in zip(drawn, classes, signs, strict=True)
                ]
            )
            for sign, world in zip(signs, worlds, strict=True):
                counts = np.rint(inside @ world)
                settled = ((counts == 0) | (counts >= k)) & ~out
                gain[sign] = (gain[sign] + 0.1 + settled.sum()) / 2
                out |= settled
            idle = 0 if len(left) - (~out).sum() > WORTH * len(left) else idle + 1
            moved = [world for world in worlds if world is not self.world]
            self.world = moved[turn % len(moved)] if moved else self.world
        return out

    def _is_inside(self, box: Mapping[int, int]) -> Flags:
        out = np.zeros(len(self.rows.cells), np.bool_)
        out[self.rows.cells.inside(box)] = True
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
            drawn = [broken[number] for number in self._random.integers(len(broken), size=2).tolist()]
            near = [self.rows.cells.problem.masks(choice.fewer.terms[0][1]) for choice in drawn]
            better = self._less_broken([self._movable(box, FEW_CLASSES[0]) for box in near], broken)
            idle = idle + 1 if better is None else 0
            if better is not None:
                self.world = better
                broken = list(self.rows.choices(self.world))
        return not broken

    def _less_broken(self, parts: Sequence[Whole], broken: Sequence[Choice]) -> Whole | None:
        """People in the cells of one part who miss the nearer statements of broken conditions by less; None where there are none."""
        wanted = self.rows.only(()).along(choice.nearer for choice in broken)
        known = {choice.origin for choice in broken}
        waiting = list(parts)
        for _ in range(MOST_TRIED):
            programs = [self._mending(movable, wanted) for movable in waiting]
            found = zip(waiting, self._arranged(waiting, self._solve(programs)), strict=True)
            waiting, mended = [], []
            for movable, world in found:
                if world is None or _missed(wanted, world) >= _missed(wanted, self.world):
                    continue
                missed = self._note_missed(world)
                fresh = [] if missed else [one for one in self.rows.choices(world) if one.origin not in known]
                if missed or fresh:
                    self._keep_true(fresh)
                    waiting.append(movable)
                else:
                    mended.append(world)
            if mended:
                return min(mended, key=lambda world: _missed(wanted, world))
        return None

    def _mending(self, movable: Whole, wanted: Rows) -> Program:
        """The program by which people in these cells miss what is wanted by the least."""
        from scipy.sparse import csr_array, eye_array, hstack, vstack

        world = self.world.copy()
        world[movable] = 0
        hard, low, high = self._near_rows(world, movable)
        soft, lower, upper = _rows_of(wanted, world, movable)
        some = len(lower)
        short = eye_array(some).multiply(np.where(np.isfinite(upper), -1.0, 1.0)[:, None])  # each has one end
        matrix = vstack((hstack((hard, csr_array((len(low), some)))), hstack((soft, short))), format="csr")
        cost = np.concatenate((np.zeros(len(movable)), np.ones(some)))
        return self._program(cost, matrix, np.concatenate((low, lower)), np.concatenate((high, upper)), 1 - cost)

    def _keep_true(self, choices: Sequence[Choice]) -> None:
        """From now on, these choices keep the side that is true of the world."""
        lines = [line for choice in choices if (line := self._true_side(choice)) is not None]
        self._narrowed = self._narrowed.along(lines) if lines else self._narrowed

    def _moved(self, asked: Sequence[tuple[Whole, Floats]]) -> list[Whole]:
        """For cells with costs each, a world in which only these differ, with little cost; the same one where none was found."""
        out = [self.world] * len(asked)
        waiting = list(range(len(asked)))
        for _ in range(MOST_TRIED):
            programs = [self._moving(*asked[number]) for number in waiting]
            found = self._arranged([asked[number][0] for number in waiting], self._solve(programs))
            again = []
            for number, world in zip(waiting, found, strict=True):
                if world is None:
                    continue
                missed = self._note_missed(world)
                broken = [] if missed else list(self.rows.choices(world))
                if missed or broken:
                    self._keep_true(broken)
                    again.append(number)
                else:
                    out[number] = world
            waiting = again
        return out

    def _moving(self, movable: Whole, cost: npt.NDArray[Any]) -> Program:
        """The program by which people in these cells cost little."""
        world = self.world.copy()
        world[movable] = 0
        return self._program(cost[movable].astype(np.float64), *self._near_rows(world, movable))

    def _arranged(self, parts: Sequence[Whole], found: Sequence[Solution]) -> list[Whole | None]:
        """The worlds with these people in the cells of each part, which may miss rows; None where none was found."""
        out: list[Whole | None] = []
        for movable, solution in zip(parts, found, strict=True):
            world = None if solution.x is None else self.world.copy()
            if world is not None and solution.x is not None:
                world[movable] = np.rint(solution.x[: len(movable)]).astype(np.int64)
            out.append(world)
        return out

    def _note_missed(self, world: Whole) -> bool:
        """Whether a world misses rows; programs will know these from now on."""
        if self._narrowed.adds_up(world):
            return False
        total, (lo, hi) = self._narrowed.matrix @ world, self._narrowed.bounds
        self._near |= set(np.flatnonzero((total < lo) | (total > hi)).tolist())
        return True

    def _true_side(self, choice: Choice) -> Line | None:
        """The statement of a choice that is true of the world."""
        sides = (line for line in (choice.fewer, choice.more) if line is not None)
        return next((line for line in sides if self.rows.only(()).along([line]).adds_up(self.world)), None)

    def _movable(self, box: Mapping[int, int], classes: int) -> Whole:
        """The cells that are arranged anew: those where people of the box are, and of some more classes on each axis.

        Where axes are many, only one class on some of those that the box does not name.
        """
        cells = self.rows.cells
        kept, size = np.ones(len(cells), np.bool_), len(cells)
        inside = cells.inside(box)
        inside = inside[self.world[inside] > 0]
        order = sorted(range(len(cells.shape)), key=lambda at: (cells.chosen[at] not in box, self._random.random()))
        wide = [(at, classes) for at in order if cells.shape[at] > classes]
        others = [(at, 1) for at in order if cells.chosen[at] not in box and cells.shape[at] <= classes]
        for at, most in (*wide, *others):
            if size <= MOST_MOVED:
                break
            mask, width = box.get(cells.chosen[at], 0), cells.shape[at]
            taken = self._random.permutation(np.unique(self._classes[at][inside])).tolist()
            if most > 1 and len(taken) < min(width, MOST_TAKEN):
                # Few classes hold people of the group: without these it can be emptied.
                most = max(most, len(taken) + 1)
            own = [*taken, *(bit for bit in self._random.permutation(width).tolist() if mask >> bit & 1 and bit not in taken)]
            rest = [bit for bit in self._drawn(at) if bit not in own]
            # Of a group that lacks a value, or has one of several, some of its classes are enough.
            chosen = [*own[: most - 1], *rest, *own[most - 1 :]][:most]
            kept &= np.isin(self._classes[at], chosen)
            size = int(np.count_nonzero(kept))
        return np.flatnonzero(kept)

    def _drawn(self, at: int) -> list[int]:
        """The classes of an axis in random order, those that open questions name rather first."""
        width = self.rows.cells.shape[at]
        return [int(bit) for bit in self._random.choice(width, width, replace=False, p=self._wanted.get(at))]

    def _near_rows(self, world: Whole, movable: Whole) -> tuple[Any, Floats, Floats]:
        """What rows say about some cells beside people who stay, those left out that the world is far from missing."""
        total, (lo, hi) = self._narrowed.matrix @ self.world, self._narrowed.bounds
        near = np.minimum(total - lo, hi - total) <= FAR
        near[[*self._near]] = True
        return _rows_of(self._narrowed, world, movable, near)

    def _program(self, cost: Floats, matrix: Any, low: Floats, high: Floats, integrality: Any = None) -> Program:
        return whole_program(
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

    def _solve(self, programs: Sequence[Program]) -> list[Solution]:
        found = solve(programs)
        self.limits.check("X01")
        return found


def _rows_of(rows: Rows, world: Whole, movable: Whole, wanted: Flags | None = None) -> tuple[Any, Floats, Floats]:
    """What rows say about some cells beside people who stay: a matrix with both ends."""
    lo, hi = rows.bounds
    fixed = rows.matrix @ world
    part = rows.by_cell[:, movable].tocsr()
    used = np.diff(part.indptr) > 0
    used &= True if wanted is None else wanted
    return part[used], (lo - fixed)[used], (hi - fixed)[used]


def _missed(rows: Rows, world: Whole) -> float:
    """By how much a world misses rows, over their scales, in all."""
    total, (lo, hi) = rows.matrix @ world, rows.bounds
    return float(np.maximum(lo - total, 0).sum() + np.maximum(total - hi, 0).sum())
