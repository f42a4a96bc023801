"""Worlds: whole people who fit every published line.

Lines and proved steps are rows over kinds of people, as floats for solvers and as whole numbers of any size for proofs.

A world comes from the owner's rows or from an integer program. Exchanging the values of a column among people who are alike for every line
that names the column changes no published count, so that one world leads to many others at little cost.

Steps between two people go further: they exchange their classes on one axis, or one person takes another class. A step is allowed if every
published line stays true, with all the room that rounding and thresholds leave. Steps that empty a group, or fill it up to k people, refute
that it is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf, lcm, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import Axis, Choice, Line, Problem, Tally, literal
from tacit.joint.cube import Cited, Cube, Step
from tacit.model.arrays import Flags, Floats, Ints, Words
from tacit.model.policy import Check
from tacit.model.table import Transactions
from tacit.solve.solver import DENOMINATORS as SIMPLE_DENOMINATORS
from tacit.solve.solver import Matrix, stack_rows

Masks = Mapping[int, int]

MOST_PEOPLE = 2_000_000  #: Most people of a world that is looked at person by person.
MOST_EXACT = 2**50  #: Products below this are exact in floats.
#: Denominators that weights are rounded to, simple ones first; a last one for sums that need not fit 64 bits.
DENOMINATORS = (*SIMPLE_DENOMINATORS, 10**9)


def count_cells(axes: Sequence[Axis]) -> int:
    """Return the number of kinds of people."""
    return prod(len(axis.classes) for axis in axes)


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
        return prod(self.shape)

    def inside(self, masks: Masks) -> Ints:
        """Return the cells of a box, by number."""
        found = np.zeros(1, np.int64)
        for place, size in zip(self.chosen, self.shape, strict=True):
            allowed = self._bits(size, masks.get(place))
            found = (found[:, None] * size + allowed[None, :]).ravel()
        return found

    def _bits(self, size: int, mask: int | None) -> Ints:
        """Return the places of the bits of a mask; None has all."""
        known = self._known_bits.get((size, mask))
        if known is None:
            known = np.array([bit for bit in range(size) if mask is None or mask >> bit & 1], np.int64)
            self._known_bits[size, mask] = known
        return known

    @cached_property
    def _known_bits(self) -> dict[tuple[int, int | None], Ints]:
        """Bits of masks that were asked for."""
        return {}

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
        return tuple((factor, tuple(sorted(masks.items()))) for factor, masks in self.terms)

    def follows_from(self, ends: Mapping[Any, tuple[int | None, int | None]]) -> bool:
        """Tell if the ends of rows about its single groups, by name, imply the row."""
        least: float = 0
        most: float = 0
        for factor, masks in self.terms:
            lo, hi = ends.get(((1, tuple(sorted(masks.items()))),), (None, None))
            reached = factor * (lo or 0), factor * inf if hi is None else factor * hi
            least += min(reached)
            most += max(reached)
        return (self.lo is None or least >= self.lo) and (self.hi is None or most <= self.hi)


@dataclass(eq=False)
class Rows:
    """Constraints over cells; boxes of ``everybody`` hold each person, none if not known."""

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
        for number in problem.lines_on(chosen) if lines is None else lines:
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
        return replace(self, rows=rows, _where=dict(self._where), _first=self.__dict__.get("matrix"))

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
        numbers = [np.empty(0, np.int64)]
        places = [np.empty(0, np.int64)]
        values = [np.empty(0)]
        for number in range(first, len(self.rows)):
            for factor, cells in self.where(number):
                numbers.append(np.full(len(cells), number - first))
                places.append(cells)
                values.append(np.full(len(cells), factor / self.rows[number].scale))
        shape = (len(self.rows) - first, len(self.cells))
        added = Matrix.of_entries(np.concatenate(numbers), np.concatenate(places), np.concatenate(values), shape)
        return added if self._first is None else stack_rows((self._first, added))

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Scaled ends of all rows, infinite if open."""
        lo = [-np.inf if row.lo is None else row.lo / row.scale for row in self.rows]
        hi = [np.inf if row.hi is None else row.hi / row.scale for row in self.rows]
        return np.array(lo, float), np.array(hi, float)

    def with_statement(self, line: Line, depth: int) -> Rows:
        """Return the rows with one statement of a choice."""
        return self.with_case(self._terms(line), line.lo, line.hi, depth)

    def _terms(self, line: Line) -> tuple[tuple[int, Masks], ...]:
        return tuple((factor, self.cells.problem.masks(box)) for factor, box in line.terms)

    def assume(self, lines: Iterable[Line]) -> Rows:
        """Return the rows with further lines assumed."""
        found = {row.name: row for row in self.rows}
        for line in lines:
            _add(found, self._terms(line), line.lo, line.hi, says=("case", 0))
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
            matrix, lo, hi = self.whole
            total = matrix @ world
            fits = not ((total < lo) | (total > hi)).any()
        else:
            sums = (sum(factor * int(world[cells].sum()) for factor, cells in self.where(row)) for row in range(len(self.rows)))
            fits = all(_is_between(row, total) for row, total in zip(self.rows, sums, strict=True))
        return fits and (not self.has_conditions or self.cells.problem.decides_conditions)

    @cached_property
    def _largest(self) -> int:
        return max((row.largest for row in self.rows), default=1)

    @cached_property
    def scales(self) -> Floats:
        """Divisor of each row."""
        return np.array([row.scale for row in self.rows], np.float64)

    @property
    def is_small(self) -> bool:
        """True if sums over all people are exact in floats."""
        return self._largest * MOST_PEOPLE < MOST_EXACT

    @cached_property
    def whole(self) -> tuple[Matrix, Ints, Ints]:
        """Matrix and ends in whole numbers, where floats round none of them."""
        scaled = self.matrix.scale_rows(self.scales)
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
        """Return what weights of this denominator prove; everybody is counted to cover all cells."""
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
        sizes = (abs(weight) * self.rows[number].scale * len(self.where(number)) for number, weight in whole.items())
        largest = common + sum(sizes)
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
    """Add a row, or tighten an equal one; return its name."""
    row = Row(tuple(terms), lo, hi, says, says_hi=says)
    known = found.setdefault(row.name, row)
    if lo is not None and (known.lo is None or lo > known.lo):
        known = replace(known, lo=lo, says_lo=says)
    if hi is not None and (known.hi is None or hi < known.hi):
        known = replace(known, hi=hi, says_hi=says)
    found[row.name] = known
    return row.name


def _is_between(one: Row | Line, total: int) -> bool:
    return (one.lo is None or total >= one.lo) and (one.hi is None or total <= one.hi)


#: Shares of all people who exchange something at a time, if conditions must hold.
SHARES = (1.0, 0.1, 0.01)
MOST_PARTNERS = 64  #: Most partners that are tried for each step.
MOST_EXCHANGED = 20_000  #: Most people of all open groups together.
MOST_STARTS = 8  #: Most worlds that steps start from.
FEW_LEFT = 500  #: If more boxes are left after the first world, others would not help.
MOST_BOXES = 4_000  #: Most boxes that are asked about.
MOST_ENTRIES = 60_000_000  #: Most entries of the table of people and terms of lines; above, an axis is left out.
MERGED = 0.5  #: People of the same kind are asked about once if there are less than this share of kinds.
RARE = 0.1  #: The people of classes that hold less than this share of all are listed by number.
NO_END = 2**30  #: Room of a line with an open end.


@dataclass(eq=False)
class World:
    """World of people; ``kinds[i]`` are the classes of person ``i``."""

    problem: Problem
    kinds: Ints
    _inside: dict[tuple[int, int], Flags] = field(default_factory=dict)
    _few: dict[tuple[int, int], Ints] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, problem: Problem, data: Transactions) -> World | None:
        """Return the world of the owner's rows, or None."""
        if data.n > MOST_PEOPLE:
            return None
        columns = [_classes(axis, data) for axis in problem.axes]
        known = [column for column in columns if column is not None]
        if len(known) < len(columns):
            return None
        kinds = np.stack(known, axis=1) if known else np.zeros((len(data.rows), 0), np.int64)
        found = cls(problem, np.repeat(kinds, data.weights, axis=0))
        return found if found.fits() else None  # of conditions, the data are the judge

    @classmethod
    def of_counts(cls, cells: Cells, counts: Ints) -> World | None:
        """Return so many people in each cell, or None if they are too many."""
        return cls(cells.problem, cells.kinds(counts)) if int(counts.sum()) <= MOST_PEOPLE else None

    def _within(self, axis: int, mask: int) -> Flags:
        """Return who is in some classes of an axis."""
        if (axis, mask) not in self._inside:
            bits = np.array([bool(mask >> place & 1) for place in range(len(self.problem.axes[axis].classes))])
            flags = bits[self.kinds[:, axis]]
            self._inside[axis, mask] = flags
            if np.count_nonzero(flags) < RARE * len(flags):
                self._few[axis, mask] = np.flatnonzero(flags)
        return self._inside[axis, mask]

    def inside(self, box: Mapping[int, int]) -> Flags:
        """Return who is in a box."""
        found = np.ones(len(self.kinds), np.bool_)
        for axis, mask in box.items():
            found &= self._within(axis, mask)
        return found

    def members(self, box: Mapping[int, int]) -> Flags | Ints:
        """Return who is in a box: numbers of people, or flags where there may be many."""
        all_flags = {part: self._within(*part) for part in box.items()}
        rare = [part for part in all_flags if part in self._few]
        if not rare:
            return self.inside(box)
        first = min(rare, key=lambda part: len(self._few[part]))
        found = self._few[first]
        for part, flags in all_flags.items():
            if part != first:
                found = found[flags[found]]
        return found

    def _forget(self, axis: int) -> None:
        """Forget who is in classes of an axis that has changed."""
        self._inside = {part: flags for part, flags in self._inside.items() if part[0] != axis}
        self._few = {part: people for part, people in self._few.items() if part[0] != axis}

    def count(self, box: Mapping[int, int]) -> int:
        """Return the number of people in a box."""
        return int(np.count_nonzero(self.inside(box)))

    @cached_property
    def totals(self) -> list[int]:
        """Sum of every line among these people."""
        size = prod(len(axis.classes) for axis in self.problem.axes)
        if not self.problem.axes or size > MERGED * len(self.kinds):
            return [sum(factor * self.count(masks) for factor, masks in terms) for terms in self.problem.boxes]
        # People of the same kind are counted once.
        tally = self.problem.tally(self.kinds)(range(len(self.problem.axes))).ravel()
        present = np.flatnonzero(tally)
        kinds = np.stack(np.unravel_index(present, [len(axis.classes) for axis in self.problem.axes]), axis=1)
        one_each = World(self.problem, kinds)
        sizes = tally[present]
        return [
            sum(factor * int(sizes[one_each.members(masks)].sum()) for factor, masks in terms) for terms in self.problem.boxes
        ]

    def fits(self) -> bool:
        """Tell if every line is true of these people."""
        return all(_is_between(line, total) for line, total in zip(self.problem.lines, self.totals, strict=True))

    def restrict(self, problem: Problem, scope: Masks) -> World | None:
        """Return the people of a box as a world of a problem about fewer lines, or None."""
        inside = self.inside(scope)
        kinds = np.zeros((int(np.count_nonzero(inside)), len(problem.axes)), np.int64)
        for number, axis in enumerate(problem.axes):
            place = self.problem.place.get(axis.key)
            # Values that all lines treat alike are treated alike by some of the lines: one stands for its class.
            classes = [] if place is None else [axis.class_of(values[0]) for values in self.problem.axes[place].classes]
            if place is None or None in classes:
                return None
            kinds[:, number] = np.array(classes)[self.kinds[inside, place]]
        found = World(problem, kinds)
        return found if found.fits() and problem.holds(kinds) else None

    def cells(self, cells: Cells) -> Ints:
        """Return the number of people in each cell."""
        return np.asarray(self.problem.tally(self.kinds)(cells.chosen)).ravel()

    def counts(self, cube: Cube) -> Ints:
        """Return the people in each group of a cube."""
        table = self.problem.tally(self.kinds)(cube.chosen).astype(np.float64)
        for position, axis in enumerate(cube.axes):
            held = np.array([[float(mask >> bit & 1) for bit in range(len(axis.classes))] for mask in axis.slots])
            table = np.moveaxis(np.tensordot(held, table, axes=(1, position)), 0, position)
        return np.rint(table).astype(np.int64).ravel()

    def exchange(self, random: np.random.Generator, check: Check = lambda: None) -> World:
        """Return another world by random exchanges of similar people: the same people in another order if nothing can be exchanged."""
        if self.problem.is_rigid:
            return World(self.problem, self.kinds[random.permutation(len(self.kinds))])
        for share in SHARES if self.problem.conditions else SHARES[:1]:
            found = self._exchange(random, share, check)
            if self.problem.holds(found.kinds):
                return found
        return self

    def _exchange(self, random: np.random.Generator, share: float, check: Check) -> World:
        found = World(self.problem, self.kinds.copy(order="F"))  # columns are asked for, one by one
        weights = np.random.default_rng(0).integers(1, 2**63, len(self.problem.axes), dtype=np.uint64)
        whole = found.kinds.astype(np.uint64) @ weights  # a name of each person, from which the axis is taken away
        for axis in random.permutation(len(self.problem.axes)).tolist():
            check()
            taking = np.flatnonzero(random.random(len(self.kinds)) < share)
            others = whole - found.kinds[:, axis].astype(np.uint64) * weights[axis]
            alike = found.alike(axis, others)[taking]
            before = taking[np.lexsort((random.random(len(alike)), alike))]
            after = taking[np.argsort(alike, kind="stable")]
            found.kinds[after, axis] = found.kinds[before, axis]
            whole = others + found.kinds[:, axis].astype(np.uint64) * weights[axis]
            found._forget(axis)
        return found

    def alike(self, axis: int, others: Words) -> Words:
        """Number people by how the lines of an axis treat them.

        ``others`` is the same for people with the same values on all other axes.
        """
        weigh = np.random.default_rng(axis)
        _, first, which = np.unique(others, return_index=True, return_inverse=True)
        # Where most people differ, flags of all of them, which are kept, are at hand sooner.
        is_merged = len(first) < MERGED * len(others)
        asked = World(self.problem, self.kinds[first]) if is_merged else self
        found = np.zeros(len(asked.kinds), np.uint64)
        for box in self.problem.rests[axis]:
            found[asked.members(box)] += np.uint64(weigh.integers(1, 2**63, dtype=np.uint64))
        return np.asarray(found[which.ravel()]) if is_merged else found


def _classes(axis: Axis, data: Transactions) -> Ints | None:
    number = {name: place for place, name in enumerate(data.items.names)}
    owners = data.rows.owners()
    found = np.full(len(data.rows), -1, np.int64)
    for place, values in enumerate(axis.classes):
        for value in values:
            item = None if value is None else number.get(literal(axis.key, value))
            if item is not None:
                found[owners[data.rows.members == item]] = place
    rest = [place for place, values in enumerate(axis.classes) if None in values]
    if (found < 0).any():
        if not rest:
            return None
        found[found < 0] = rest[0]
    return found


def refute_by_world(world: World, cube: Cube, k: int) -> Flags:
    """Return the groups that a world shows not to be small."""
    counts = world.counts(cube)
    return np.asarray((counts == 0) | (counts >= k))


def refute_from(world: World, boxes: Sequence[Mapping[int, int]], k: int, seed: int | None, check: Callable[[], None]) -> Flags:
    """Return the boxes that steps from several worlds refute."""
    random = np.random.default_rng(seed)
    out = np.zeros(len(boxes), np.bool_)
    for turn in range(MOST_STARTS):
        asked = np.flatnonzero(~out)
        if not len(asked) or (turn and len(asked) > FEW_LEFT):
            break
        out[asked] = refute_by_exchanges(world, [boxes[number] for number in asked.tolist()], k, check)
        world = world.exchange(random, check)
    return out


def refute_by_exchanges(world: World, boxes: Sequence[Mapping[int, int]], k: int, check: Callable[[], None]) -> Flags:
    """Return the boxes that steps along one axis refute."""
    held = [np.flatnonzero(world.inside(box)) for box in boxes]
    counts = np.array([len(people) for people in held], np.int64)
    out = np.asarray((counts == 0) | (counts >= k))
    if not world.problem.decides_conditions:
        return out
    table = _Boxes(world.problem, boxes, counts)
    # Each of fewer than k steps changes two people.
    world = World(world.problem.narrow(world.kinds, 2 * k), world.kinds)
    random = np.random.default_rng(len(boxes))
    named: dict[int, list[int]] = {}
    for number, box in enumerate(boxes):
        for axis in box:
            named.setdefault(axis, []).append(number)
    for axis in sorted(named, key=lambda one: (-len(named[one]), one)):
        asked = [number for number in named[axis] if not out[number]][:MOST_BOXES]
        if not asked:
            continue
        inside = np.unique(np.concatenate([held[number] for number in asked]))
        others = random.permutation(len(world.kinds))[: 4 * MOST_PARTNERS]
        people = np.union1d(inside[:MOST_EXCHANGED], others)
        steps = _Steps(world, axis, people, random)
        if not steps.fits_in_memory:
            continue
        for number in asked:
            check()
            moves = None if out[number] else steps.refute(boxes[number], held[number], k)
            if moves is not None:
                # The world that refutes one question answers others.
                open_ones = np.flatnonzero(~out)
                after = table.counts_after(open_ones, axis, world.kinds[moves.people], moves.classes)
                out[open_ones[(after == 0) | (after >= k)]] = True
    return out


class _Boxes:
    """Boxes, and how many people of a world are in each."""

    def __init__(self, problem: Problem, boxes: Sequence[Mapping[int, int]], counts: Ints) -> None:
        self._counts = counts
        self._allowed = []
        for place, axis in enumerate(problem.axes):
            masks = [box.get(place, -1) for box in boxes]
            self._allowed.append(np.array([[mask >> bit & 1 for bit in range(len(axis.classes))] for mask in masks], np.bool_))

    def counts_after(self, boxes: Ints, axis: int, kinds: Ints, classes: Ints) -> Ints:
        """Return the people in some boxes once people of these kinds have other classes on an axis."""
        within = np.ones((len(boxes), len(kinds)), np.bool_)
        for place, allowed in enumerate(self._allowed):
            if place != axis:
                within &= allowed[np.ix_(boxes, kinds[:, place])]
        before = within & self._allowed[axis][np.ix_(boxes, kinds[:, axis])]
        after = within & self._allowed[axis][np.ix_(boxes, classes)]
        return np.asarray(self._counts[boxes] + after.sum(axis=1) - before.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """People of a world, and the class that each of them takes."""

    people: Ints
    classes: Ints


class _Step(NamedTuple):
    """Change of every line by one step; the partner, -1 if there is none; and the class taken."""

    change: Ints
    partner: int
    taken: int


class _Steps:
    def __init__(self, world: World, axis: int, people: Ints, random: np.random.Generator) -> None:
        self.world = world
        self.axis = axis
        self.people = people
        self.random = random
        problem = world.problem
        #: Terms of lines on the axis: line, factor, classes, rest.
        self._terms = [
            (number, factor, masks[axis], tuple(sorted((place, mask) for place, mask in masks.items() if place != axis)))
            for number, terms in enumerate(problem.boxes)
            for factor, masks in terms
            if axis in masks
        ]
        self._rests = {rest: place for place, rest in enumerate(dict.fromkeys(rest for *_, rest in self._terms))}
        self.fits_in_memory = len(people) * len(self._rests) <= MOST_ENTRIES
        self._factor = np.array([factor for _, factor, _, _ in self._terms], np.int64)
        lines, self._starts = np.unique(np.array([number for number, *_ in self._terms], np.int64), return_index=True)
        #: True if every line on the axis is one box.
        self._is_plain = bool((self._factor == 1).all()) and len(lines) == len(self._terms)
        classes = range(len(problem.axes[axis].classes))
        #: Classes that each term allows, by row.
        self._allowed = np.array([[allowed >> one & 1 for _, _, allowed, _ in self._terms] for one in classes], np.int8)
        self._lines = lines.tolist()
        #: Lines of one term, which are compared first, with the places of their terms.
        self._single = np.flatnonzero(np.diff(np.append(self._starts, len(self._terms))) == 1)
        self._single = self._single[self._factor[self._starts[self._single]] == 1]

    @cached_property
    def _asked(self) -> npt.NDArray[np.int8]:
        part = World(self.world.problem, self.world.kinds[self.people])
        columns = np.stack([part.inside(dict(rest)) for rest in self._rests], axis=1).astype(np.int8)
        return columns[:, [self._rests[rest] for *_, rest in self._terms]]

    @cached_property
    def _room(self) -> tuple[Ints, Ints]:
        lines = [(self.world.problem.lines[number], self.world.totals[number]) for number in self._lines]
        down = [NO_END if line.lo is None else total - line.lo for line, total in lines]
        up = [NO_END if line.hi is None else line.hi - total for line, total in lines]
        kind = np.int32 if max((*down, *up), default=0) <= NO_END else np.int64
        return np.array(down, kind), np.array(up, kind)

    def refute(self, box: Mapping[int, int], held: Ints, k: int) -> _Moves | None:
        """Return moves that empty a box, or fill it up to k people."""
        rest = {place: mask for place, mask in box.items() if place != self.axis}
        allowed = np.array([bool(box[self.axis] >> one & 1) for one in range(len(self._allowed))])
        kinds = self.world.kinds[self.people, self.axis]
        here = allowed[kinds]
        others = World(self.world.problem, self.world.kinds[self.people]).inside(rest)
        inside = np.flatnonzero(here & others)
        if len(inside) == len(held):
            emptying = self._walk(inside, np.flatnonzero(~here & ~others), ~allowed, len(inside))
            if emptying is not None:
                return emptying
        return self._walk(np.flatnonzero(~here & others), np.flatnonzero(here & ~others), allowed, k - len(held))

    def _walk(self, movers: Ints, partners: Ints, target: Flags, wanted: int) -> _Moves | None:
        """Return moves by which ``wanted`` movers reach a target class, or None."""
        down, up = (ends.copy() for ends in self._room)
        kinds = self.world.kinds[self.people, self.axis].copy()
        done = 0
        failed = 0
        most = 3 * wanted + 3
        for mover in self.random.permutation(movers).tolist():
            partner = self.random.permutation(partners)[:MOST_PARTNERS]
            step = self._best(mover, partner, target, kinds, down=down, up=up)
            if step is None:
                failed += 1
                if failed + done > most or len(movers) - failed < wanted:
                    return None
                continue
            down += step.change
            up -= step.change
            if step.partner >= 0:
                kinds[step.partner] = kinds[mover]
                partners = partners[partners != step.partner]
            kinds[mover] = step.taken
            done += 1
            if done >= wanted:
                moved = np.flatnonzero(kinds != self.world.kinds[self.people, self.axis])
                return _Moves(self.people[moved], kinds[moved])
        return None

    def _best(self, mover: int, partners: Ints, target: Flags, kinds: Ints, down: Ints, up: Ints) -> _Step | None:
        """Return the best permitted step, or None."""
        mine = self._asked[mover]
        own = self._allowed[kinds[mover]]
        alone = np.flatnonzero(target)
        # Alone, the mover takes another class; with a partner, the two exchange theirs.
        moves = [mine * (self._allowed[alone] - own)]
        if len(partners):
            moves.append((self._asked[partners] - mine) * (own - self._allowed[kinds[partners]]))
        step = np.concatenate(moves)
        possible = np.arange(len(step))
        if not self._is_plain:
            single = step[:, self._starts[self._single]]
            possible = np.flatnonzero(_fit(single, down[self._single], up[self._single]))
            step = np.add.reduceat(step[possible] * self._factor, self._starts, axis=1)
        is_possible = _fit(step, down, up)
        possible = possible[is_possible]
        change = step[is_possible]
        if not len(possible):
            return None
        # The step that changes the fewest lines leaves the most room for the next.
        chosen = int(np.argmin(np.count_nonzero(change, axis=1)))
        best = int(possible[chosen])
        if best < len(alone):
            return _Step(change[chosen], -1, int(alone[best]))
        partner = int(partners[best - len(alone)])
        return _Step(change[chosen], partner, int(kinds[partner]))


def _fit(change: Ints, down: Ints, up: Ints) -> Flags:
    """Tell which changes of lines leave room; one person changes a line of one term by at most 2."""
    if change.dtype == np.int8:
        down = np.minimum(down, 127).astype(np.int8)
        up = np.minimum(up, 127).astype(np.int8)
    return np.asarray(((change <= up) & (change >= -down)).all(axis=1))
