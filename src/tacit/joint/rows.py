"""Lines and proved steps as rows over kinds of people.

They are floats for solvers and whole numbers of any size for proofs.
"""

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
from tacit.solve.matrix import Matrix, stack_rows
from tacit.solve.solver import DENOMINATORS as SIMPLE_DENOMINATORS

Masks = Mapping[int, int]

#: Most people of a world that is looked at person by person.
MOST_PEOPLE = 2_000_000
#: Products below this are exact in floats.
MOST_EXACT = 2**50
#: Denominators that weights are rounded to, simple ones first; a last one for sums that need not fit 64 bits.
DENOMINATORS = (*SIMPLE_DENOMINATORS, 10**9)


def count_cells(axes: Sequence[Axis]) -> int:
    """Return the number of kinds of people."""
    return int(np.prod([len(axis.classes) for axis in axes], dtype=object)) if axes else 1


@dataclass(frozen=True, eq=False)
class Cells:
    """Kinds of people that some axes distinguish."""

    problem: Problem
    chosen: tuple[int, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of classes of each axis."""
        return tuple(len(self.problem.axes[place].classes) for place in self.chosen)

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) if self.shape else 1

    def inside(self, masks: Masks) -> Ints:
        """Return the cells of a box, by number."""
        found = np.zeros(1, np.int64)
        for place, size in zip(self.chosen, self.shape, strict=True):
            mask = masks.get(place)
            allowed = np.arange(size) if mask is None else np.array([bit for bit in range(size) if mask >> bit & 1], np.int64)
            found = (found[:, None] * size + allowed[None, :]).ravel()
        return found

    def kinds(self, world: Ints) -> Ints:
        """Return the class of each person on every axis."""
        places = np.stack(np.unravel_index(np.arange(len(self)), self.shape), axis=1) if self.shape else np.zeros((1, 0))
        order = np.argsort(np.array(self.chosen))
        return np.repeat(places[:, order].astype(np.int64), world, axis=0)

    def tally(self, people: npt.NDArray[Any]) -> Tally:
        """Return the tally of people in cells."""
        table = people.reshape(self.shape)

        def count(places: Sequence[int]) -> npt.NDArray[Any]:
            kept = [self.chosen.index(place) for place in places]
            total = table.sum(axis=tuple(at for at in range(table.ndim) if at not in kept))
            return np.transpose(total, [sorted(kept).index(at) for at in kept])

        return count

    def size(self, masks: Masks) -> int:
        """Return the number of cells of a box."""
        sizes = zip(self.chosen, self.shape, strict=True)
        return prod(size if place not in masks else masks[place].bit_count() for place, size in sizes)

    def box(self, cell: int) -> dict[int, int]:
        """Return one cell as a box."""
        places = np.unravel_index(cell, self.shape) if self.shape else ()
        return {axis: 1 << int(bit) for axis, bit, size in zip(self.chosen, places, self.shape, strict=True) if size > 1}


@dataclass(frozen=True, eq=False)
class Row:
    """Constraint ``lo <= sum of factor * people in boxes <= hi``, with citations."""

    terms: tuple[tuple[int, Masks], ...]
    lo: int | None
    hi: int | None
    says_lo: Cited | None
    says_hi: Cited | None

    @cached_property
    def scale(self) -> int:
        """Divisor that scales the row's coefficients to at most 1."""
        return max(abs(factor) for factor, _ in self.terms)

    @cached_property
    def largest(self) -> int:
        """Largest integer among the coefficients and ends."""
        ends = (abs(end) for end in (self.lo, self.hi) if end is not None)
        return max(sum(abs(factor) for factor, _ in self.terms), *ends, 1)

    @cached_property
    def name(self) -> Any:
        """Key of rows about the same people."""
        return _name(self.terms)

    def follows_from(self, ends: Mapping[Any, tuple[int | None, int | None]]) -> bool:
        """Tell if bounds on its groups imply the row.

        Ends are given by the name of a row about the group alone.
        """
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
    """Constraints over cells.

    ``everybody`` are rows whose boxes together hold each person, none if these are not known.
    """

    cells: Cells
    rows: tuple[Row, ...]
    everybody: tuple[int, ...]
    _where: dict[int, list[tuple[int, Ints]]] = field(default_factory=dict)
    _first: Matrix | None = None  # the matrix of the first rows, where it was made

    @classmethod
    def of(
        cls, problem: Problem, chosen: tuple[int, ...], steps: Iterable[Step] = (), lines: Iterable[int] | None = None
    ) -> Rows:
        """Return lines on these axes, and proved steps, as rows."""
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

    def only(self, rows: Sequence[int]) -> Rows:
        """Return some of the rows."""
        return Rows(self.cells, tuple(self.rows[row] for row in rows), ())

    @cached_property
    def needed(self) -> Rows:
        """Rows that bounds on their groups do not imply."""
        ends = {row.name: (row.lo, row.hi) for row in self.rows if len(row.terms) == 1 and row.terms[0][0] == 1}
        return self.only([number for number, row in enumerate(self.rows) if len(row.terms) == 1 or not row.follows_from(ends)])

    def with_case(self, terms: tuple[tuple[int, Masks], ...], lo: int | None, hi: int | None, depth: int) -> Rows:
        """Return the rows with a bound on a sum added."""
        return self._extend((*self.rows, Row(terms, lo, hi, ("case", depth), says_hi=("case", depth))))

    def _extend(self, rows: tuple[Row, ...]) -> Rows:
        """Append rows, keeping cached results."""
        return Rows(self.cells, rows, self.everybody, dict(self._where), _first=self.__dict__.get("matrix"))

    @property
    def entries(self) -> int:
        """Number of cells that all rows count."""
        return sum(self.cells.size(masks) for row in self.rows for _, masks in row.terms)

    def where(self, row: int) -> list[tuple[int, Ints]]:
        """Return the cells of each term, with its factor."""
        if row not in self._where:
            self._where[row] = [(factor, self.cells.inside(masks)) for factor, masks in self.rows[row].terms]
        return self._where[row]

    @cached_property
    def matrix(self) -> Matrix:
        """Coefficients of each row over its scale."""
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
            added = Matrix.of_entries(np.concatenate(numbers), np.concatenate(places), np.concatenate(values), shape)
        else:
            added = Matrix.empty(shape)
        return added if self._first is None else stack_rows((self._first, added))

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Scaled ends of all rows, infinite if open."""
        lo = [-np.inf if row.lo is None else row.lo / row.scale for row in self.rows]
        hi = [np.inf if row.hi is None else row.hi / row.scale for row in self.rows]
        return np.array(lo, float), np.array(hi, float)

    def with_statement(self, line: Line, depth: int) -> Rows:
        """Return the rows with one statement of a choice."""
        terms = tuple((factor, self.cells.problem.masks(box)) for factor, box in line.terms)
        return self.with_case(terms, line.lo, line.hi, depth)

    def assume(self, lines: Iterable[Line]) -> Rows:
        """Return the rows with further lines assumed."""
        found = {row.name: row for row in self.rows}
        for line in lines:
            terms = tuple((factor, self.cells.problem.masks(box)) for factor, box in line.terms)
            _add(found, terms, line.lo, line.hi, says=("case", 0))
        return self._extend(tuple(found.values()))

    def fits(self, world: Ints) -> bool:
        """Tell if an integer world fits all rows and conditions."""
        return self.adds_up(world) and next(self.choices(world), None) is None

    @property
    def has_conditions(self) -> bool:
        """True if worlds must meet conditions."""
        problem = self.cells.problem
        return bool(problem.conditions) and len(self.cells.chosen) == len(problem.axes)

    def choices(self, people: npt.NDArray[Any], room: float = 0) -> Iterator[Choice]:
        """Yield choices that people in cells violate, within ``room``."""
        return self.cells.problem.choices(self.cells.tally(people), room) if self.has_conditions else iter(())

    def adds_up(self, world: Ints) -> bool:
        """Tell if an integer world fits all rows exactly."""
        if (world < 0).any():
            return False
        if self._largest * max(int(world.sum()), 1) < MOST_EXACT:
            matrix, lo, hi = self._whole
            total = matrix @ world
            fits = not ((total < lo) | (total > hi)).any()
        else:
            fits = all(self._adds_up_to(number, world) for number in range(len(self.rows)))
        return fits and (not self.has_conditions or self.cells.problem.decides_conditions)

    def _adds_up_to(self, number: int, world: Ints) -> bool:
        """Tell if a world fits one row, in exact integers."""
        row = self.rows[number]
        total = sum(factor * int(world[cells].sum()) for factor, cells in self.where(number))
        return (row.lo is None or total >= row.lo) and (row.hi is None or total <= row.hi)

    @cached_property
    def _largest(self) -> int:
        """Largest whole number in the rows."""
        return max((row.largest for row in self.rows), default=1)

    @cached_property
    def _whole(self) -> tuple[Matrix, Ints, Ints]:
        """Matrix in whole numbers, and the ends of all rows.

        None of them is so large that floats round it.
        """
        scaled = self.matrix.scale_rows(np.array([row.scale for row in self.rows], np.float64))
        matrix = replace(scaled, values=np.rint(scaled.values))
        lo = [-MOST_EXACT if row.lo is None else row.lo for row in self.rows]
        hi = [MOST_EXACT if row.hi is None else row.hi for row in self.rows]
        return matrix, np.array(lo, np.int64), np.array(hi, np.int64)

    def certify(self, group: Ints, sign: int, weights: Floats, wanted: int) -> tuple[int, dict[Cited, Fraction]] | None:
        """Return an integer lower bound on a signed group, with weights.

        ``weights`` are the dual of each row over its scale. None if no rounding of them proves ``wanted``.
        """
        for denominator in DENOMINATORS:
            shown = self._certify_with(group, sign, weights, denominator)
            if shown is not None and shown[0] >= wanted:
                return shown
        return None

    def _certify_with(
        self, group: Ints, sign: int, weights: Floats, denominator: int
    ) -> tuple[int, dict[Cited, Fraction]] | None:
        """Return what weights of this denominator prove exactly.

        Every cell must be covered, if need be by counting everybody.
        """
        used: dict[int, Fraction] = {}
        for number in np.flatnonzero(np.abs(weights) * denominator >= 0.5).tolist():
            row = self.rows[number]
            numerator = round(float(weights[number]) * denominator)
            if (row.lo if numerator > 0 else row.hi) is not None:
                used[number] = Fraction(numerator, denominator * row.scale)
        least = self._least_cover(group, sign, used)
        if least < 0:
            if not self.everybody:
                return None
            for number in self.everybody:
                used[number] = used.get(number, Fraction(0)) + least
        total = Fraction(0)
        out: dict[Cited, Fraction] = {}
        for number, weight in sorted(used.items()):
            if weight == 0:
                continue
            row = self.rows[number]
            bound, says = (row.lo, row.says_lo) if weight > 0 else (row.hi, row.says_hi)
            if bound is None or says is None:
                return None
            # An earlier step about an upper bound is about the negative of its group, so that it is always added.
            out[says] = out.get(says, Fraction(0)) + (abs(weight) if says[0] == "step" else weight)
            total += weight * bound
        return ceil(total), out

    def _least_cover(self, group: Ints, sign: int, used: Mapping[int, Fraction]) -> Fraction:
        """Return the group's least excess over the weighted sum."""
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


def membership_matrix(cells: Cells, boxes: Iterable[Masks]) -> Matrix:
    """Return the cells of each box as a sparse matrix."""
    held = [cells.inside(box) for box in boxes]
    starts = np.concatenate(([0], np.cumsum([len(one) for one in held])))
    places = np.concatenate(held) if held else np.empty(0, np.int64)
    return Matrix(starts, places, np.ones(len(places)), (len(held), len(cells)))


def _add(found: dict[Any, Row], terms: Sequence[tuple[int, Masks]], lo: int | None, hi: int | None, says: Cited) -> Any:
    """Add a row, or tighten an equal one."""
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
    """Return the key of rows about the same people."""
    return tuple((factor, tuple(sorted(masks.items()))) for factor, masks in terms)
