"""Worlds near a world: people of a few classes are arranged anew by an integer program, and everybody else stays.

Where columns are wide, an integer program over all kinds of people takes long, and one over a few classes of each column a moment. From a world
that is known it leads to others in which groups are empty, or hold k people; these are not small in every world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.lines import Choice, Line
from tacit.attacks.joint.rows import Flags, Floats, Rows, Whole, sparse
from tacit.inference.solving import Program, Solution, solve, whole_program
from tacit.model.policy import Limits

#: Attempts at a question, one after the other: cells that are arranged anew at most, and classes that are chosen of an axis with more. Small
#: programs are quick and settle most questions; those that stay open are asked by larger ones, about other classes every time.
ATTEMPTS = ((150, 3), *((300, 4),) * 4, *((600, 4), (600, 5)) * 2, (600, 5), *((1200, 6),) * 2)
#: The attempt at a condition that is broken.
MENDING = (600, 4)
#: All classes with people of a group are among these where they are at most so many.
MOST_TAKEN = 7
#: Programs that are solved side by side, all that are solved at most, and those in a row that may settle nothing.
BATCH, MOST_PROGRAMS, MOST_IDLE = 6, 3_000, 60
#: Rows that a world is farther from missing than by so many people are left out at first; programs that are tried until none is missed.
FAR, MOST_TRIED = 10, 3
#: Nodes of a program, and the share by which its answer may be worse than the best.
NODES, GAP = 3, 0.5
#: How far a sum of fractions may be from a whole number that it stands for.
NEAR = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Cells that are arranged anew, so that the group of a question is empty, or holds so many people."""

    number: int
    movable: Whole
    group: Whole
    people: int
    tried: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Lean:
    """A part without cells in which nobody can be: the others, and what rows say about people in them."""

    part: Part
    filled: Whole
    matrix: Any
    low: Floats
    high: Floats


@dataclass(eq=False)
class Rearranging:
    """A world, and those near it. Conditions that were broken on the way stand as lines, on the side that is true of the world."""

    rows: Rows
    world: Whole
    limits: Limits
    _narrowed: Rows = field(init=False)
    _near: set[int] = field(default_factory=set)
    _counted: tuple[Whole, Rows, Floats] = field(init=False)

    def __post_init__(self) -> None:
        self._narrowed = self.rows
        self._counted = self.world, self.rows, self.rows.matrix @ self.world

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
        attempts = np.zeros(len(boxes), np.int64)
        asked, settled = np.ones(2), np.ones(2)  # by programs that empty a group, and by those that fill it
        again: list[Part] = []
        idle = 0
        for turn in range(MOST_PROGRAMS // BATCH):
            again = [part for part in again if not out[part.number]]
            waiting = ~out & (attempts < len(ATTEMPTS))
            waiting[[part.number for part in again]] = False
            left = np.flatnonzero(waiting)
            if not (len(left) or again) or idle > MOST_IDLE:
                break
            drawn = self._random.permutation(left)
            drawn = drawn[np.argsort(attempts[drawn], kind="stable")][: BATCH - len(again)]
            share = np.rint(inside[drawn] @ self.world) / k
            rates = np.stack((1 - share, share)) * (settled / asked)[:, None]
            fills = self._random.random(len(drawn)) * rates.sum(axis=0) < rates[1]
            parts = [
                *again,
                *(
                    Part(
                        number,
                        self._movable(boxes[number], *ATTEMPTS[attempts[number]]),
                        self.rows.cells.inside(boxes[number]),
                        k * fill,
                    )
                    for number, fill in zip(drawn.tolist(), fills.tolist(), strict=True)
                ),
            ]
            attempts[drawn] += 1
            cost = np.asarray(inside[~out].sum(axis=0)).ravel()  # other groups are to be settled by the way
            worlds, again = self._moved(parts, cost)
            for part, world in worlds:
                counts = np.rint(inside @ world)
                found = ((counts == 0) | (counts >= k)) & ~out
                settled[int(part.people > 0)] += found.any()
                idle = 0 if found.any() else idle
                out |= found
            idle += len(parts) - len(worlds) - len(again)
            asked += np.bincount(fills, minlength=2)
            self.world = worlds[turn % len(worlds)][1] if worlds else self.world
        return out

    def mend(self) -> bool:
        """Arrange people anew, part by part, until no condition is broken; whether that came about."""
        idle = 0
        broken = list(self.rows.choices(self.world))
        while broken and idle <= MOST_IDLE:
            drawn = [broken[number] for number in self._random.integers(len(broken), size=2).tolist()]
            near = [self.rows.cells.problem.masks(choice.fewer.terms[0][1]) for choice in drawn]
            better = self._less_broken([self._movable(box, *MENDING) for box in near], broken)
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

        hard, low, high = self._near_rows(movable)
        soft, lower, upper = _rows_of(wanted, self.world, movable)
        some = len(lower)
        short = eye_array(some).multiply(np.where(np.isfinite(upper), -1.0, 1.0)[:, None])  # each has one end
        matrix = vstack((hstack((hard, csr_array((len(low), some)))), hstack((soft, short))), format="csr")
        cost = np.concatenate((np.zeros(len(movable)), np.ones(some)))
        return self._program(cost, matrix, np.concatenate((low, lower)), np.concatenate((high, upper)), 1 - cost)

    def _keep_true(self, choices: Sequence[Choice]) -> None:
        """From now on, these choices keep the side that is true of the world."""
        lines = [line for choice in choices if (line := self._true_side(choice)) is not None]
        self._narrowed = self._narrowed.along(lines) if lines else self._narrowed

    def _moved(self, parts: Sequence[Part], cost: npt.NDArray[Any]) -> tuple[list[tuple[Part, Whole]], list[Part]]:
        """Worlds in which only the cells of one part differ, and parts that are to be tried again, as more rows or conditions are heeded."""
        asked: list[Lean] = []
        solved = self._solve(self._moving(lean, cost) for lean in self._leaned(parts, asked))
        out, again = [], []
        for lean, solution in zip(asked, solved, strict=True):
            if solution.x is None:
                continue
            part = lean.part
            world = self.world.copy()
            world[part.movable] = 0
            world[lean.filled] = np.rint(solution.x)
            missed = self._note_missed(world)
            broken = [] if missed else list(self.rows.choices(world))
            self._keep_true(broken)
            if not missed and not broken:
                out.append((part, world))
            elif part.tried < MOST_TRIED:
                again.append(replace(part, tried=part.tried + 1))
        return out, again

    def _leaned(self, parts: Sequence[Part], asked: list[Lean]) -> Iterator[Lean]:
        """The parts that may hold what they are to hold, one by one; each is also added to ``asked``."""
        for part in parts:
            lean = self._lean(part)
            if lean is not None:
                asked.append(lean)
                yield lean

    def _lean(self, part: Part) -> Lean | None:
        """The part without cells that must stay empty; None where no people fit its rows."""
        from scipy.sparse import csr_array, vstack

        matrix, low, high = self._near_rows(part.movable)
        held = np.isin(part.movable, part.group)
        stay = self.world[part.group].sum() - self.world[part.movable[held]].sum()
        matrix = vstack((matrix, csr_array(held[None, :].astype(np.float64))), format="csr")
        ends = (part.people - stay, np.inf) if part.people else (-np.inf, -stay)
        lean = without_empty(matrix, np.append(low, ends[0]), np.append(high, ends[1]))
        if lean is None:
            return None
        kept, *rows = lean
        return Lean(part, part.movable[kept], *one_row_each(*rows))

    def _moving(self, lean: Lean, cost: npt.NDArray[Any]) -> Program:
        """The program by which people in the cells of a part cost little, or much where its group is to hold many."""
        wanted = cost[lean.filled].astype(np.float64) * (-1 if lean.part.people else 1)
        return self._program(wanted, lean.matrix, lean.low, lean.high)

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

    def _movable(self, box: Mapping[int, int], cells_at_most: int, classes: int) -> Whole:
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
            if size <= cells_at_most:
                break
            mask, width = box.get(cells.chosen[at], 0), cells.shape[at]
            taken = self._random.permutation(np.unique(self._classes[at][inside])).tolist()
            if most > 1 and len(taken) < min(width, MOST_TAKEN):
                # Few classes hold people of the group: without these it can be emptied.
                most = max(most, len(taken) + 1)
            own = [*taken, *(bit for bit in self._random.permutation(width).tolist() if mask >> bit & 1 and bit not in taken)]
            rest = [bit for bit in self._random.permutation(width).tolist() if bit not in own]
            # Of a group that lacks a value, or has one of several, some of its classes are enough.
            chosen = [*own[: most - 1], *rest, *own[most - 1 :]][:most]
            kept &= np.isin(self._classes[at], chosen)
            size = int(np.count_nonzero(kept))
        return np.flatnonzero(kept)

    def _near_rows(self, movable: Whole) -> tuple[Any, Floats, Floats]:
        """What rows say about some cells beside people who stay, those left out that the world is far from missing."""
        (lo, hi), total = self._narrowed.bounds, self._total
        near = np.minimum(total - lo, hi - total) <= FAR
        near[[*self._near]] = True
        return _rows_of(self._narrowed, self.world, movable, near, total)

    @property
    def _total(self) -> Floats:
        """What rows count in the world."""
        world, rows, total = self._counted
        if world is not self.world or rows is not self._narrowed:
            total = self._narrowed.matrix @ self.world
            self._counted = self.world, self._narrowed, total
        return total

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

    def _solve(self, programs: Iterable[Program]) -> list[Solution]:
        found = solve(programs)
        self.limits.check("X01")
        return found


def _rows_of(
    rows: Rows, world: Whole, movable: Whole, wanted: Flags | None = None, total: Floats | None = None
) -> tuple[Any, Floats, Floats]:
    """What rows say about some cells beside people who stay: a matrix with both ends. ``total`` is what they count in the world."""
    lo, hi = rows.bounds
    part = rows.by_cell[:, movable].tocsr()
    stay = (rows.matrix @ world if total is None else total) - part @ world[movable]
    used = np.diff(part.indptr) > 0
    used &= True if wanted is None else wanted
    return part[used], (lo - stay)[used], (hi - stay)[used]


def without_empty(matrix: Any, low: Floats, high: Floats) -> tuple[Flags, Any, Floats, Floats] | None:
    """Leave out cells in which nobody can be, as a row that counts them ends at 0: cells that are kept, and rows about them.

    None where a row is missed whoever is in the cells.
    """
    kept = np.ones(matrix.shape[1], np.bool_)
    while True:
        sizes = np.diff(matrix.indptr)
        takes_off = np.zeros(len(low), np.bool_)
        takes_off[np.repeat(np.arange(len(low)), sizes)[matrix.data < 0]] = True
        if ((high < -NEAR) & ~takes_off).any() or ((low > NEAR) & (sizes == 0)).any():
            return None
        empty = np.zeros(matrix.shape[1], np.bool_)
        empty[matrix.indices[np.repeat((high <= NEAR) & ~takes_off, sizes)]] = True
        matrix = matrix[:, ~empty] if empty.any() else matrix
        kept[kept] = ~empty
        used = np.diff(matrix.indptr) > 0
        if not empty.any():
            return kept, matrix[used], low[used], high[used]


def one_row_each(matrix: Any, low: Floats, high: Floats) -> tuple[Any, Floats, Floats]:
    """Make one row of those that count the same cells in the same proportions."""
    first = matrix.data[matrix.indptr[:-1]]
    # Rows are told apart by a sum over random numbers, one per cell.
    marks = np.round(matrix @ np.random.default_rng(0).uniform(0.5, 1.5, matrix.shape[1]) / first, 9)
    low, high = np.minimum(low / first, high / first), np.maximum(low / first, high / first)
    _, where, which = np.unique(marks, return_index=True, return_inverse=True)
    lowest, highest = np.full(len(where), -np.inf), np.full(len(where), np.inf)
    np.maximum.at(lowest, which, low)
    np.minimum.at(highest, which, high)
    scaled = matrix[where]
    scaled.data = scaled.data / np.repeat(first[where], np.diff(scaled.indptr))
    return scaled, lowest, highest


def _missed(rows: Rows, world: Whole) -> float:
    """By how much a world misses rows, over their scales, in all."""
    total, (lo, hi) = rows.matrix @ world, rows.bounds
    return float(np.maximum(lo - total, 0).sum() + np.maximum(total - hi, 0).sum())
