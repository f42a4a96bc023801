"""Lines and shown steps as rows over kinds of people: in floats for solvers, in whole numbers of any size for proofs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf, lcm, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import Axis, Choice, Line, Problem, Tally
from tacit.joint.cube import Cited, Step
from tacit.model.arrays import Floats, Ints

Masks = Mapping[int, int]

#: People up to whom worlds are looked at person by person.
MOST_PEOPLE = 2_000_000
#: Products below it are exact, also by way of floats.
MOST_EXACT = 2**50
#: Denominators that weights are rounded to, simple ones first.
DENOMINATORS = (1, 2, 6, 12, 60, 2520, 10**4, 10**6, 10**9)


def cells_of(axes: Sequence[Axis]) -> int:
    """How many kinds of people the axes tell apart."""
    return int(np.prod([len(axis.classes) for axis in axes], dtype=object)) if axes else 1


@dataclass(frozen=True, eq=False)
class Cells:
    """The kinds of people that some axes of a problem tell apart."""

    problem: Problem
    chosen: tuple[int, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many classes each axis has."""
        return tuple(len(self.problem.axes[place].classes) for place in self.chosen)

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) if self.shape else 1

    def inside(self, masks: Masks) -> Ints:
        """The cells that a box holds, by number."""
        found = np.zeros(1, np.int64)
        for place, size in zip(self.chosen, self.shape, strict=True):
            mask = masks.get(place)
            allowed = np.arange(size) if mask is None else np.array([bit for bit in range(size) if mask >> bit & 1], np.int64)
            found = (found[:, None] * size + allowed[None, :]).ravel()
        return found

    def kinds(self, world: Ints) -> Ints:
        """So many people in each cell as the class of everybody on every axis of the problem; a cell of all axes is meant."""
        places = np.stack(np.unravel_index(np.arange(len(self)), self.shape), axis=1) if self.shape else np.zeros((1, 0))
        order = np.argsort(np.array(self.chosen))
        return np.repeat(places[:, order].astype(np.int64), world, axis=0)

    def tally(self, people: npt.NDArray[Any]) -> Tally:
        """How many of so many people in each cell have each class on some axes."""
        table = people.reshape(self.shape)

        def counted(places: Sequence[int]) -> npt.NDArray[Any]:
            kept = [self.chosen.index(place) for place in places]
            total = table.sum(axis=tuple(at for at in range(table.ndim) if at not in kept))
            return np.transpose(total, [sorted(kept).index(at) for at in kept])

        return counted

    def size(self, masks: Masks) -> int:
        """How many cells a box holds."""
        sizes = zip(self.chosen, self.shape, strict=True)
        return prod(size if place not in masks else masks[place].bit_count() for place, size in sizes)

    def box(self, cell: int) -> dict[int, int]:
        """One cell as a box."""
        places = np.unravel_index(cell, self.shape) if self.shape else ()
        return {axis: 1 << int(bit) for axis, bit, size in zip(self.chosen, places, self.shape, strict=True) if size > 1}


@dataclass(frozen=True, eq=False)
class Row:
    """``lo <= sum of factor * people in boxes <= hi``, each end with where it is said."""

    terms: tuple[tuple[int, Masks], ...]
    lo: int | None
    hi: int | None
    says_lo: Cited | None
    says_hi: Cited | None

    @cached_property
    def scale(self) -> int:
        """What the row is divided by for solvers, so that no coefficient is above 1."""
        return max(abs(factor) for factor, _ in self.terms)

    @cached_property
    def largest(self) -> int:
        """The largest whole number that it counts a cell by, or ends at."""
        ends = (abs(end) for end in (self.lo, self.hi) if end is not None)
        return max(sum(abs(factor) for factor, _ in self.terms), *ends, 1)

    @cached_property
    def name(self) -> Any:
        """What rows about the same people have in common."""
        return _name(self.terms)

    def follows_from(self, ends: Mapping[Any, tuple[int | None, int | None]]) -> bool:
        """Whether it is true wherever each of its groups keeps to these ends, by the name of a row about the group alone."""
        least: float = 0
        most: float = 0
        for factor, masks in self.terms:
            lo, hi = ends.get(_name(((1, masks),)), (None, None))
            reached = factor * (lo or 0), factor * inf if hi is None else factor * hi
            least += min(reached)
            most += max(reached)
        return (self.lo is None or least >= self.lo) and (self.hi is None or most <= self.hi)


@dataclass(eq=False)
class Rows:
    """Rows over cells. ``everybody`` are those whose boxes together hold each person at least once; none where they are not known."""

    cells: Cells
    rows: tuple[Row, ...]
    everybody: tuple[int, ...]
    _where: dict[int, list[tuple[int, Ints]]] = field(default_factory=dict)
    _first: Any = None  # the matrix of the first rows, where it was made

    @classmethod
    def of(
        cls, problem: Problem, chosen: tuple[int, ...], steps: Iterable[Step] = (), lines: Iterable[int] | None = None
    ) -> Rows:
        """The lines that speak of these axes only, those about the same people as one row, and steps that were shown."""
        has = frozenset(chosen)
        found: dict[Any, Row] = {}
        names: dict[int, Any] = {}
        for number in range(len(problem.lines)) if lines is None else lines:
            terms = problem.boxes[number]
            line = problem.lines[number]
            if all(masks.keys() <= has for _, masks in terms):
                names[number] = _add(found, terms, line.lo, line.hi, says=("line", number))
        for step in steps:
            low = step.end == "lo"
            _add(found, ((1, step.box),), step.value if low else None, None if low else step.value, says=("step", id(step)))
        place = {name: number for number, name in enumerate(found)}
        everybody = tuple(place[names[number]] for number in problem.everybody if number in names)
        complete = len(everybody) == len(problem.everybody)
        return cls(Cells(problem, chosen), tuple(found.values()), everybody if complete else ())

    def without(self, row: int) -> Rows:
        """All rows but one."""
        return Rows(self.cells, self.rows[:row] + self.rows[row + 1 :], ())

    def only(self, rows: Sequence[int]) -> Rows:
        """Some of the rows."""
        return Rows(self.cells, tuple(self.rows[row] for row in rows), ())

    @cached_property
    def needed(self) -> Rows:
        """All rows but those that follow from the ends of rows about each of their groups: the same worlds fit them, in less time."""
        ends = {row.name: (row.lo, row.hi) for row in self.rows if len(row.terms) == 1 and row.terms[0][0] == 1}
        return self.only([number for number, row in enumerate(self.rows) if len(row.terms) == 1 or not row.follows_from(ends)])

    def case(self, terms: tuple[tuple[int, Masks], ...], lo: int | None, hi: int | None, depth: int) -> Rows:
        """The rows and a case: a bound on a sum of people of boxes."""
        return self._longer((*self.rows, Row(terms, lo, hi, ("case", depth), says_hi=("case", depth))))

    def _longer(self, rows: tuple[Row, ...]) -> Rows:
        """Rows of which the first count the same cells as these, which are not counted again."""
        return Rows(self.cells, rows, self.everybody, dict(self._where), _first=self.__dict__.get("matrix"))

    @property
    def entries(self) -> int:
        """How many cells all rows count."""
        return sum(self.cells.size(masks) for row in self.rows for _, masks in row.terms)

    def where(self, row: int) -> list[tuple[int, Ints]]:
        """The cells of each term of a row, with its factor."""
        if row not in self._where:
            self._where[row] = [(factor, self.cells.inside(masks)) for factor, masks in self.rows[row].terms]
        return self._where[row]

    @cached_property
    def matrix(self) -> Any:
        """How often each row counts each cell, over its scale, as a sparse matrix."""
        from scipy.sparse import csr_array, vstack

        first = 0 if self._first is None else self._first.shape[0]
        numbers = []
        places = []
        values = []
        for number in range(first, len(self.rows)):
            for factor, cells in self.where(number):
                numbers.append(np.full(len(cells), number - first))
                places.append(cells)
                values.append(np.full(len(cells), factor / self.rows[number].scale))
        shape = (len(self.rows) - first, len(self.cells))
        if numbers:
            added = csr_array((np.concatenate(values), (np.concatenate(numbers), np.concatenate(places))), shape=shape)
        else:
            added = csr_array(shape)
        return added if self._first is None else vstack((self._first, added), format="csr")

    @cached_property
    def by_cell(self) -> Any:
        """The same matrix, quick to take cells of."""
        return self.matrix.tocsc()

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The ends of all rows over their scales, infinite where open."""
        lo = [-np.inf if row.lo is None else row.lo / row.scale for row in self.rows]
        hi = [np.inf if row.hi is None else row.hi / row.scale for row in self.rows]
        return np.array(lo, float), np.array(hi, float)

    def chosen(self, line: Line, depth: int) -> Rows:
        """The rows and one of two statements of which one is true."""
        terms = tuple((factor, self.cells.problem.masks(box)) for factor, box in line.terms)
        return self.case(terms, line.lo, line.hi, depth)

    def along(self, lines: Iterable[Line]) -> Rows:
        """The rows and lines that are taken to be true, those left out that are there already."""
        found = {row.name: row for row in self.rows}
        for line in lines:
            terms = tuple((factor, self.cells.problem.masks(box)) for factor, box in line.terms)
            _add(found, terms, line.lo, line.hi, says=("case", 0))
        return self._longer(tuple(found.values()))

    def fits(self, world: Ints) -> bool:
        """Whether a world of whole people fits all rows, exactly, and meets the conditions of the problem."""
        return self.adds_up(world) and next(self.choices(world), None) is None

    @property
    def has_conditions(self) -> bool:
        """Whether worlds must meet conditions besides; worlds of some axes alone refute nothing and need not."""
        problem = self.cells.problem
        return bool(problem.conditions) and len(self.cells.chosen) == len(problem.axes)

    def choices(self, people: npt.NDArray[Any], room: float = 0) -> Iterator[Choice]:
        """Pairs of statements of which one should be true of people in cells and none is, with so much room; none where conditions hold."""
        return self.cells.problem.choices(self.cells.tally(people), room) if self.has_conditions else iter(())

    def adds_up(self, world: Ints) -> bool:
        """Whether a world of whole people fits all rows, exactly."""
        if (world < 0).any():
            return False
        if self._largest * max(int(world.sum()), 1) < MOST_EXACT:
            matrix, lo, hi = self._whole
            total = matrix @ world
            fits = not ((total < lo) | (total > hi)).any()
        else:
            fits = all(self._adds_up_in(number, world) for number in range(len(self.rows)))
        if not fits:
            return False
        return not self.has_conditions or self.cells.problem.decides_conditions

    def _adds_up_in(self, number: int, world: Ints) -> bool:
        """Whether a world fits one row, in whole numbers of any size."""
        row = self.rows[number]
        total = sum(factor * int(world[cells].sum()) for factor, cells in self.where(number))
        return (row.lo is None or total >= row.lo) and (row.hi is None or total <= row.hi)

    @cached_property
    def _largest(self) -> int:
        """The largest whole number in the rows."""
        return max((row.largest for row in self.rows), default=1)

    @cached_property
    def _whole(self) -> tuple[Any, Ints, Ints]:
        """The matrix in whole numbers, and the ends of all rows; none of them is large."""
        from scipy.sparse import csr_array

        scales = np.array([row.scale for row in self.rows], np.int64)
        data = np.rint(self.matrix.data * np.repeat(scales, np.diff(self.matrix.indptr))).astype(np.int64)
        matrix = csr_array((data, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape)
        lo = [-MOST_EXACT if row.lo is None else row.lo for row in self.rows]
        hi = [MOST_EXACT if row.hi is None else row.hi for row in self.rows]
        return matrix, np.array(lo, np.int64), np.array(hi, np.int64)

    def proved(
        self, group: Ints, sign: int, weights: Floats, wanted: int | None = None
    ) -> tuple[int, dict[Cited, Fraction]] | None:
        """The best whole lower bound on ``sign * people in the group`` that simple weights near these prove, with them.

        Weights are per row over its scale. With ``wanted``, the simplest that reach it; else None.
        """
        for denominator in DENOMINATORS:
            shown = self._certified(group, sign, weights, denominator)
            if shown is not None and (wanted is None or shown[0] >= wanted):
                return shown
        return None

    def _certified(self, group: Ints, sign: int, weights: Floats, denominator: int) -> tuple[int, dict[Cited, Fraction]] | None:
        """What weights of this denominator prove, exactly: every cell must be covered, by counting everybody where need be."""
        used: dict[int, Fraction] = {}
        for number in np.flatnonzero(np.abs(weights) * denominator >= 0.5).tolist():
            row = self.rows[number]
            numerator = round(float(weights[number]) * denominator)
            if (row.lo if numerator > 0 else row.hi) is not None:
                used[number] = Fraction(numerator, denominator * row.scale)
        short = self._short(group, sign, used)
        if short < 0:
            if not self.everybody:
                return None
            for number in self.everybody:
                used[number] = used.get(number, Fraction(0)) + short
        total = Fraction(0)
        out: dict[Cited, Fraction] = {}
        for number, weight in sorted(used.items()):
            row = self.rows[number]
            bound, says = (row.lo, row.says_lo) if weight > 0 else (row.hi, row.says_hi)
            if weight == 0:
                continue
            if bound is None or says is None:
                return None
            # An earlier step about an upper bound is about the negative of its group, so that it is always added.
            out[says] = out.get(says, Fraction(0)) + (abs(weight) if says[0] == "step" else weight)
            total += weight * bound
        return ceil(total), out

    def _short(self, group: Ints, sign: int, used: Mapping[int, Fraction]) -> Fraction:
        """How much the kind of person counts in the group beyond the weighted sum who counts least; below 0 where one counts for too much."""
        common = lcm(*(weight.denominator for weight in used.values())) if used else 1
        whole = {number: int(weight * common) for number, weight in used.items()}
        largest = common + sum(
            abs(weight) * self.rows[number].scale * len(self.where(number)) for number, weight in whole.items()
        )
        left: Any = np.zeros(len(self.cells), np.int64 if largest < 2**62 else object)
        left[group] += sign * common
        for number, weight in whole.items():
            for factor, cells in self.where(number):
                left[cells] -= weight * factor
        return Fraction(int(left.min()), common)


def sparse(cells: Cells, boxes: Iterable[Masks]) -> Any:
    """Which cells each box holds, as a sparse matrix."""
    from scipy.sparse import csr_array

    held = [cells.inside(box) for box in boxes]
    starts = np.concatenate(([0], np.cumsum([len(one) for one in held])))
    places = np.concatenate(held) if held else np.empty(0, np.int64)
    return csr_array((np.ones(len(places)), places, starts), shape=(len(held), len(cells)))


def _add(found: dict[Any, Row], terms: Sequence[tuple[int, Masks]], lo: int | None, hi: int | None, says: Cited) -> Any:
    """Put a row in, or tighten the one about the same people."""
    row = Row(tuple(terms), lo, hi, says, says_hi=says)
    name = row.name
    known = found.get(name)
    if known is None:
        found[name] = row
        return name
    if lo is not None and (known.lo is None or lo > known.lo):
        known = replace(known, lo=lo, says_lo=says)
    if hi is not None and (known.hi is None or hi < known.hi):
        known = replace(known, hi=hi, says_hi=says)
    found[name] = known
    return name


def _name(terms: Sequence[tuple[int, Masks]]) -> Any:
    """What rows about the same people have in common."""
    return tuple((factor, tuple(sorted(masks.items()))) for factor, masks in terms)
