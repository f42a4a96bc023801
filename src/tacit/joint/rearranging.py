"""Repairs of a world by integer programs over few classes.

If columns are wide, an integer program over all kinds of people takes long, and one over a few classes of each column a moment. A world that
misses conditions is mended part by part; :mod:`tacit.joint.nearest` goes on from one that misses none.

The matrix of such a program is kept cell by cell, transposed: a row for each cell and a column for each constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tacit.joint.boxes import Choice
from tacit.joint.worlds import Rows
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.policy import Limits
from tacit.solve.solver import Columns, Matrix, Program, solve, stack_columns, stack_rows, whole_program

#: The attempt at a broken condition.
MENDING = (600, 4)
MOST_TAKEN = 7  #: Up to this many classes with people of a group are all chosen.
MOST_IDLE = 60  #: Turns in a row that mend nothing, after which a world is given up.
FAR = 10  #: Rows that a world is farther from missing, in people, are left out at first.
MOST_TRIED = 3  #: Most programs for one attempt, until no row is missed.
NODES = 3  #: Nodes of a program.
GAP = 0.5  #: Share by which the answer of a program may be worse than the best.
NEAR = 1e-9  #: Tolerance of a sum of fractions that stands for a whole number.


class Rearranging:
    """Latest world, and what those near it must keep.

    Conditions that were broken on the way are assumed as lines, on the side that is true of the world.
    """

    def __init__(self, rows: Rows, world: Ints, limits: Limits) -> None:
        self.rows = rows
        self.world = world
        self.limits = limits
        self.random = np.random.default_rng(limits.seed)
        self._narrowed = rows
        self._near: set[int] = set()
        self._counted = (world, rows, rows.matrix @ world)

    @cached_property
    def classes(self) -> Ints:
        """Class of each cell on every axis."""
        return np.indices(self.rows.cells.shape).reshape(len(self.rows.cells.shape), -1)

    def mend(self) -> bool:
        """Repair a world part by part; tell if that succeeded."""
        idle = 0
        broken = list(self.rows.choices(self.world))
        while broken and idle <= MOST_IDLE:
            drawn = [broken[number] for number in self.random.integers(len(broken), size=2).tolist()]
            near = [self.rows.cells.problem.masks(choice.fewer.terms[0][1]) for choice in drawn]
            better = self._repair([self.movable(box, *MENDING) for box in near], broken)
            idle = idle + 1 if better is None else 0
            if better is not None:
                self.world = better
                broken = list(self.rows.choices(self.world))
        return not broken

    def _repair(self, parts: Sequence[Ints], broken: Sequence[Choice]) -> Ints | None:
        wanted = self.rows.only(()).assume(choice.nearer for choice in broken)
        known = {choice.fewer.origin for choice in broken}
        waiting = list(parts)
        for _ in range(MOST_TRIED):
            found = list(zip(waiting, solve([self._mending_program(movable, wanted) for movable in waiting]), strict=True))
            self.limits.check("X01")
            waiting = []
            mended = []
            for movable, solution in found:
                if solution.x is None:
                    continue
                world = self.world.copy()
                world[movable] = np.rint(solution.x[: len(movable)]).astype(np.int64)
                if _missed(wanted, world) >= _missed(wanted, self.world):
                    continue
                missed = self._note_missed(world)
                fresh = [] if missed else [one for one in self.rows.choices(world) if one.fewer.origin not in known]
                if missed or fresh:
                    self._keep_true(fresh)
                    waiting.append(movable)
                else:
                    mended.append(world)
            if mended:
                return min(mended, key=lambda world: _missed(wanted, world))
        return None

    def _mending_program(self, movable: Ints, wanted: Rows) -> Program:
        """Return the program by which people in these cells miss what is wanted by the least."""
        hard, low, high = self.near_rows(movable)
        every = np.ones(len(wanted.rows), np.bool_)
        soft, lower, upper = _rows_about(wanted, self.world, wanted.matrix @ self.world, movable, kept=every)
        by_cell = stack_columns(hard, soft)
        slack = np.where(np.isfinite(upper), -1.0, 1.0)  # each has one end
        last = np.arange(len(slack))
        places = by_cell.shape[1] - len(slack) + last
        by_cell = stack_rows((by_cell, Matrix.of_entries(last, places, slack, (len(slack), by_cell.shape[1]))))
        cost = np.concatenate((np.zeros(len(movable)), np.ones(len(lower))))
        low = np.concatenate((low, lower))
        high = np.concatenate((high, upper))
        return self.make_program(cost, by_cell, low, high, integrality=1 - cost)

    def _keep_true(self, choices: Sequence[Choice]) -> None:
        """Fix the side of these choices that the world satisfies."""
        lines = []
        for choice in choices:
            sides = (line for line in (choice.fewer, choice.more) if line is not None)
            true = next((line for line in sides if self.rows.only(()).assume([line]).adds_up(self.world)), None)
            lines += [] if true is None else [true]
        self._narrowed = self._narrowed.assume(lines) if lines else self._narrowed

    def accepts(self, world: Ints) -> bool:
        """Tell if a world fits; later programs heed its violations."""
        if self._note_missed(world):
            return False
        broken = list(self.rows.choices(world))
        self._keep_true(broken)
        return not broken

    def _note_missed(self, world: Ints) -> bool:
        if self._narrowed.adds_up(world):
            return False
        total = self._narrowed.matrix @ world
        lo, hi = self._narrowed.bounds
        self._near |= set(np.flatnonzero((total < lo) | (total > hi)).tolist())
        return True

    def movable(self, box: Mapping[int, int], cells_at_most: int, classes: int) -> Ints:
        """Return the cells to rearrange for a box; ``classes`` of wide axes are enough.

        If there are many axes, some of those that the box does not name keep one class only.
        """
        cells = self.rows.cells
        kept = np.ones(len(cells), np.bool_)
        size = len(cells)
        inside = cells.inside(box)
        inside = inside[self.world[inside] > 0]
        order = sorted(range(len(cells.shape)), key=lambda at: (cells.chosen[at] not in box, self.random.random()))
        wide = [(at, classes) for at in order if cells.shape[at] > classes]
        others = [(at, 1) for at in order if cells.chosen[at] not in box and cells.shape[at] <= classes]
        for at, most in (*wide, *others):
            if size <= cells_at_most:
                break
            mask = box.get(cells.chosen[at], 0)
            width = cells.shape[at]
            taken = self.random.permutation(np.unique(self.classes[at][inside])).tolist()
            if most > 1 and len(taken) < min(width, MOST_TAKEN):
                # Few classes hold people of the group: one more, and it can be emptied.
                most = max(most, len(taken) + 1)
            own = [*taken, *(bit for bit in self.random.permutation(width).tolist() if mask >> bit & 1 and bit not in taken)]
            rest = [bit for bit in self.random.permutation(width).tolist() if bit not in own]
            # Some classes are enough of a group that lacks a value, or has one of several.
            chosen = [*own[: most - 1], *rest, *own[most - 1 :]][:most]
            kept &= np.isin(self.classes[at], chosen)
            size = int(np.count_nonzero(kept))
        return np.flatnonzero(kept)

    def near_rows(self, movable: Ints) -> tuple[Matrix, Floats, Floats]:
        """Return the rows that people of some cells may miss, cell by cell, with what is left of both ends for these."""
        rows = self._narrowed
        if self._counted[0] is not self.world or self._counted[1] is not rows:
            self._counted = (self.world, rows, rows.matrix @ self.world)
        total = self._counted[2]
        lo, hi = rows.bounds
        near = np.minimum(total - lo, hi - total) <= FAR
        near[[*self._near]] = True
        return _rows_about(rows, self.world, total, movable, kept=near)

    def make_program(
        self, cost: Floats, by_cell: Matrix, low: Floats, high: Floats, integrality: Floats | None = None
    ) -> Program:
        """Return an integer program about people in some cells."""
        starts = by_cell.starts.astype(np.int32)
        return whole_program(
            cost,
            matrix=Columns(starts, by_cell.places.astype(np.int32), by_cell.values, by_cell.shape[::-1]),
            low=low,
            high=high,
            most=2.0 * max(int(self.world.sum()), 1),
            integrality=integrality,
            nodes=NODES,
            gap=GAP,
            seconds=self.limits.seconds_left,
        )


def _rows_about(rows: Rows, world: Ints, total: Floats, movable: Ints, kept: Flags) -> tuple[Matrix, Floats, Floats]:
    """Return what some rows say about some cells while others stay, with both ends."""
    lo, hi = rows.bounds
    columns: Any = rows.matrix.columns  # places of 32 bits serve as well
    by_cell = Matrix(columns.starts, columns.rows, columns.values, columns.shape[::-1])[movable]
    stay = total - world[movable] @ by_cell
    used = kept & _is_used(by_cell)
    return by_cell.keep_columns(used), (lo - stay)[used], (hi - stay)[used]


def _is_used(by_cell: Matrix) -> Flags:
    out = np.zeros(by_cell.shape[1], np.bool_)
    out[by_cell.places] = True
    return out


def one_row_each(by_cell: Matrix, low: Floats, high: Floats) -> tuple[Matrix, Floats, Floats]:
    """Merge proportional constraints on the same cells."""
    cells, size = by_cell.shape
    first = np.ones(size)
    first[by_cell.places[::-1]] = by_cell.values[::-1]
    # A sum over random numbers, one per cell, identifies constraints.
    marks = np.round(np.random.default_rng(0).uniform(0.5, 1.5, cells) @ by_cell / first, 9)
    ends = np.stack((low / first, high / first))
    _, where, which = np.unique(marks, return_index=True, return_inverse=True)
    lowest = np.full(len(where), -np.inf)
    highest = np.full(len(where), np.inf)
    np.maximum.at(lowest, which, ends.min(axis=0))
    np.minimum.at(highest, which, ends.max(axis=0))
    kept = np.zeros(size, np.bool_)
    kept[where] = True
    order = which[kept]  # the constraints stay in their order
    scaled = replace(by_cell, values=by_cell.values / first[by_cell.places])
    return scaled.keep_columns(kept), lowest[order], highest[order]


def _missed(rows: Rows, world: Ints) -> float:
    total = rows.matrix @ world
    lo, hi = rows.bounds
    return float(np.maximum(lo - total, 0).sum() + np.maximum(total - hi, 0).sum())
