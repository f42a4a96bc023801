"""Worlds of many kinds of people, by exchanges.

From one world, exchanges lead to others that empty a group or fill it with k people: people change places so that every exact line stays true,
and what else they break is mended by further exchanges (:mod:`tacit.kernels.exchanges`). Lines about several groups, such as a ratio of two,
leave few pairs of whole counts. Searches are quicker if these groups keep their people; only last ones let them change.

A first world starts from fractions of people, scaled until they nearly fit all lines: groups of such lines get whole numbers that fit together,
the other kinds of people are rounded, and exchanges mend what is broken then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import Line
from tacit.joint.worlds import MOST_EXACT, Masks, Row, Rows, membership_matrix
from tacit.kernels.exchanges import LARGEST_ENTRY, eliminate, fit_people, list_changes, search, transpose
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.policy import Limits
from tacit.solve.solver import Matrix


class Effort(NamedTuple):
    """Size of a search: exchanges at most, candidates for each, and how many in a hundred are made though they break more.

    Unless ``is_free``, groups of lines about several groups keep their people.
    """

    steps: int
    candidates: int
    daring: int
    is_free: bool = False


#: Successive attempts at all open questions. Short searches settle most of them.
EFFORTS = (
    Effort(30, 16, 0),
    Effort(60, 16, 30),
    Effort(100, 32, 50),
    Effort(200, 32, 20),
    Effort(200, 64, 50),
    Effort(400, 64, 30),
    Effort(1_000, 64, 10),
    Effort(1_000, 64, 0),
    Effort(200, 64, 50, is_free=True),
    Effort(400, 64, 30, is_free=True),
)
SWEEPS = 300  #: Times that fractions of people are scaled to fit all rows.
#: Searches for a first world, in turn.
MENDING = (Effort(5_000, 64, 0), Effort(20_000, 32, 20))
MOST_WORK = 2_000_000_000  #: Most changes by exchanges that are looked at to refute.
MOST_IDLE = 60  #: Searches in a row that settle nothing, after which no more are made with this effort.
MOST_MENDED = 8  #: Most searches for a first world.
MOST_TIES = 60_000_000  #: Most entries of the table of exact lines and kinds of people.
NEARLY = 20  #: Conditions that so many people could break are searched as lines.
MOST_TURNS = 4_000  #: Most changes of the numbers of groups.
FAR = 30  #: Whole numbers of a group that are tried are as near to its fractions.
SPREAD = 4.0  #: Mean rank, by nearness, of the pairs of numbers that are tried.
ASKED_AGAIN = 0.8  #: Questions are listed anew when at most this share of them is open.
UPHILL = 0.02  #: Share of changes of numbers that are made though they break more.
CHANGES = 250  #: Changes by each exchange that there is room for at first.
JITTER = 0.1  #: Differences in room by which ties lead to other exchanges each time.
NOBODY = np.empty(0, np.int64)
Name = tuple[tuple[int, int], ...]  #: Classes of a group by axis.


class Walk:
    """Latest world, and lines that are true of it and of all that are near it.

    Conditions that it could break soon are searched as lines, on the side that is true.
    """

    def __init__(self, rows: Rows, limits: Limits) -> None:
        self.world = NOBODY
        self._rows = rows
        self._limits = limits
        self._random = np.random.default_rng(limits.seed)

    def find(self, weights: Floats) -> Ints | None:
        """Return a world near fractions of people with these weights who fit the rows, or None."""
        return self.mend(self._fit(weights)) if self._rows.is_small else None

    def mend(self, middle: Floats) -> Ints | None:
        """Return a world near people who nearly fit all rows and conditions, or None."""
        lines = self._rows.assume(choice.nearer for choice in self._rows.choices(middle, NEARLY))
        people: Ints = np.rint(middle).astype(np.int64)
        for turn in range(MOST_MENDED):
            self._limits.check("X01")
            ties = self._tie(lines, middle, self._groups)
            if ties is None:
                return None
            exchanges = Exchanges(ties, people, self._random)
            numbers = _Numbers(ties, exchanges, middle).choose(self._random)
            exchanges.go_to(ties.tie(people, numbers))
            if not exchanges.reach(NOBODY, 0, 1, MENDING[turn % len(MENDING)]):
                # Once more from other whole numbers, of which each part of the cells in their order has nearly as many people.
                people = np.diff(np.floor(np.cumsum(middle) + self._random.random()), prepend=0).astype(np.int64)
                continue
            people = exchanges.people
            if not self._rows.adds_up(people):
                return None
            broken = list(self._rows.choices(people))
            if not broken:
                return people
            lines = lines.assume(choice.nearer for choice in broken)
        return None

    def _fit(self, weights: Floats) -> Floats:
        matrix, lo, hi = self._rows.whole
        people = weights.copy()
        ends = lo.astype(np.float64), hi.astype(np.float64), self._rows.scales
        fit_people(people, (matrix.starts, matrix.places, matrix.values), ends, SWEEPS)
        return people

    def refute(self, boxes: Sequence[Masks], k: int, ends: Sequence[tuple[int, int]]) -> Flags:
        """Return the boxes that worlds near the latest one refute; ``ends`` are known bounds on each."""
        questions = _Questions(self._rows, boxes, k)
        questions.look_at(self.world)
        work = 0
        for effort in EFFORTS:
            waiting = self._random.permutation(questions.left).tolist()
            if not waiting or (effort.is_free and not self._groups):
                continue
            ties = self._tie(self._rows.assume(self._true_sides()), self.world, {} if effort.is_free else self._groups)
            if ties is None:
                break
            exchanges = Exchanges(ties, self.world, self._random)
            idle = 0
            for number in waiting:
                if idle > MOST_IDLE or work + exchanges.work > MOST_WORK:
                    break
                if not questions.settled[number]:
                    self._limits.check("X01")
                    group = self._rows.cells.inside(boxes[number])
                    idle = 0 if self._settle(exchanges, group, k, ends[number], effort) else idle + 1
                    questions.look_at(self.world)
            work += exchanges.work
        return questions.settled

    def _settle(self, exchanges: Exchanges, group: Ints, k: int, ends: tuple[int, int], effort: Effort) -> bool:
        """Go to a world that empties a group or fills it, the nearer of the two first; tell if that succeeded."""
        ways = [(0, -1)] * (ends[0] <= 0) + [(k, 1)] * (ends[1] >= k)
        people = int(self.world[group].sum())
        for goal, sign in sorted(ways, key=lambda way: abs(way[0] - people)):
            if exchanges.reach(group, goal, sign, effort):
                world = exchanges.people
                if self._rows.fits(world):
                    self.world = world
                    return True
                exchanges.go_to(self.world)
        return False

    def _true_sides(self) -> Iterator[Line]:
        """Yield what is true of the latest world, for each condition that is nearly broken there."""
        for choice in self._rows.choices(self.world, NEARLY):
            sides = (line for line in (choice.nearer, choice.fewer, choice.more) if line is not None)
            true = (line for line in sides if self._rows.only(()).assume([line]).adds_up(self.world))
            yield from islice(true, 1)

    def _tie(self, lines: Rows, people: npt.NDArray[Any], groups: Mapping[Name, Ints]) -> _Ties | None:
        """Return what ties people together; None if that is too much to look at."""
        room = people * self._random.uniform(0.8, 1.2, len(people)) + JITTER * self._steps()
        return _Ties.of(lines, room, groups)

    def _steps(self) -> Floats:
        """Return random numbers for all cells, sums of one for each class."""
        shape = self._rows.cells.shape
        steps = [self._random.random(size) for size in shape]
        return np.asarray(sum(np.ix_(*steps)) if steps else np.zeros(1)).ravel() / max(len(shape), 1)

    @cached_property
    def _groups(self) -> dict[Name, Ints]:
        """Cells of the groups of lines about several groups."""
        masks = {_name(box): box for row in self._rows.rows if len(row.terms) > 1 for _, box in row.terms}
        return {name: self._rows.cells.inside(box) for name, box in masks.items()}


def _name(box: Masks) -> Name:
    return tuple(sorted(box.items()))


class _Questions:
    """Boxes, and which of them some world has settled."""

    def __init__(self, rows: Rows, boxes: Sequence[Masks], k: int) -> None:
        self.rows = rows
        self.boxes = boxes
        self.settled = np.zeros(len(boxes), np.bool_)
        self._k = k
        self._asked = np.arange(len(boxes))
        self._inside = membership_matrix(rows.cells, boxes)
        self._seen: Ints | None = None

    @property
    def left(self) -> Ints:
        """Numbers of the open questions."""
        return np.flatnonzero(~self.settled)

    def look_at(self, world: Ints) -> None:
        """Settle the questions that a world refutes."""
        if world is self._seen:
            return
        self._seen = world
        counts = np.rint(self._inside @ world)
        self.settled[self._asked[(counts == 0) | (counts >= self._k)]] = True
        is_open = ~self.settled[self._asked]
        if is_open.mean() < ASKED_AGAIN:
            self._inside = self._inside[is_open]
            self._asked = self._asked[is_open]


@dataclass(eq=False)
class _Ties:
    """Exact rows and groups that keep their people, solved for basic cells.

    The table has a column for each cell and then one for each such group: the number of its people. ``is_tied`` says which rows are exact and
    follow from others or give a basic cell.
    """

    rows: Rows
    groups: Mapping[Name, Ints]
    table: npt.NDArray[np.int32]
    sums: Ints
    basic: Ints
    is_tied: Flags

    @classmethod
    def of(cls, rows: Rows, room: Floats, groups: Mapping[Name, Ints]) -> _Ties | None:
        """Solve for roomy cells; return None if the table is too large."""
        if not rows.is_small:
            return None
        matrix, lo, hi = rows.whole
        cells = matrix.shape[1]
        exact = np.flatnonzero((lo == hi) & (rows.scales <= LARGEST_ENTRY))
        shape = (len(exact) + len(groups), cells + len(groups))
        if prod(shape) > MOST_TIES:
            return None
        table = np.zeros(shape, np.int32)
        part = matrix[exact]
        table[np.repeat(np.arange(len(exact)), np.diff(part.starts)), part.places] = part.values
        for number, inside in enumerate(groups.values()):
            table[len(exact) + number, inside] = 1
            table[len(exact) + number, cells + number] = -1
        sums = np.concatenate((lo[exact], np.zeros(len(groups), np.int64)))
        basic = np.full(len(table), -1)
        waiting = np.ones(len(table), np.bool_)
        sizes = np.count_nonzero(table, axis=1)
        eliminate(table, sums, sizes, np.concatenate((room, np.full(len(groups), -1.0))), waiting, basic)
        is_tied = np.zeros(len(lo), np.bool_)
        is_tied[exact] = [one >= 0 or not row.any() for one, row in zip(basic, table[: len(exact), :cells], strict=False)]
        return cls(rows, groups, table, sums, basic, is_tied)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.rows.cells)

    @cached_property
    def own(self) -> Ints:
        """Cells that are not basic: each has an exchange."""
        return np.setdiff1d(np.arange(self.cells), self.basic)

    @cached_property
    def solved(self) -> Ints:
        """Rows of the table that give a basic cell."""
        return np.flatnonzero(self.basic >= 0)

    def tie(self, people: Ints, numbers: Ints) -> Ints:
        """Return people of whom the basic cells follow from all others, and from the numbers of the groups."""
        out = people.copy()
        given = np.concatenate((people, numbers))
        given[self.basic[self.solved]] = 0
        part = Matrix.of_table(self.table[self.solved])
        out[self.basic[self.solved]] = self.sums[self.solved] - np.rint(part @ given).astype(np.int64)
        return out


class _Numbers:
    """Whole numbers of people in groups, near fractions of people.

    Exact rows tie the numbers of some groups to others, and lines about these groups alone allow few pairs of numbers. Changes of one pair after
    the other look for numbers that break no line that they decide.
    """

    def __init__(self, ties: _Ties, exchanges: Exchanges, middle: Floats) -> None:
        self._place = {name: number for number, name in enumerate(ties.groups)}
        self._middle = np.array([middle[cells].sum() for cells in ties.groups.values()])
        follows = np.flatnonzero(np.asarray(~ties.table[:, : ties.cells].any(axis=1)))
        self._table = ties.table[follows, ties.cells :].copy()
        self._sums = ties.sums[follows].copy()
        # People in cells that are not basic only add to some sums, or only take away: without them, the numbers decide these.
        matrix, lo, hi = ties.rows.whole
        left = np.flatnonzero(~ties.is_tied)
        has_limits = exchanges.is_most | exchanges.is_least
        rows = left[has_limits[ties.cells :]]
        solved = ties.solved[has_limits[ties.basic[ties.solved]]]
        by_basic = np.concatenate(
            (_columns_of(matrix[rows], ties.basic[ties.solved]), (solved[:, None] == ties.solved).astype(np.float64))
        )
        self._rows = Matrix.of_table(np.rint(-by_basic @ ties.table[ties.solved, ties.cells :]))
        without = np.rint(by_basic @ ties.sums[ties.solved]).astype(np.int64)
        places = np.concatenate((ties.cells + np.flatnonzero(has_limits[ties.cells :]), ties.basic[solved]))
        least = np.concatenate((lo[rows], np.zeros(len(solved), np.int64)))
        most = np.concatenate((hi[rows], np.full(len(solved), MOST_EXACT)))
        self._lo = np.where(exchanges.is_most[places], least - without, -MOST_EXACT)
        self._hi = np.where(exchanges.is_least[places], most - without, MOST_EXACT)
        self._ends = {row.name[0][1]: (row.lo, row.hi) for row in ties.rows.rows if len(row.terms) == 1 and row.terms[0][0] == 1}
        self._pairs: dict[tuple[Name, Name], list[Row]] = {}
        for one in ties.rows.rows:
            names = tuple(sorted(_name(box) for _, box in one.terms))
            if len(names) == 2 and names[0] in self._place and names[1] in self._place:
                self._pairs.setdefault((names[0], names[1]), []).append(one)

    def choose(self, random: np.random.Generator) -> Ints:
        """Return numbers that break as few rows as could be found."""
        numbers: Ints = np.rint(self._middle).astype(np.int64)
        if not len(numbers):
            return numbers
        allowed = {tuple(self._place[name] for name in pair): self._allowed(*pair) for pair in self._pairs}
        order = sorted(allowed, key=lambda pair: (len(allowed[pair]), pair))
        fixed: dict[int, int] = {}
        of: dict[int, list[tuple[int, ...]]] = {}
        for pair in order:
            fitting = (both for both in allowed[pair] if all(fixed.get(*one) == one[1] for one in zip(pair, both, strict=True)))
            fixed |= dict(zip(pair, next(fitting, ()), strict=False))
            for place in pair if allowed[pair] else ():
                of.setdefault(place, []).append(pair)
        numbers[[*fixed]] = [*fixed.values()]
        # Numbers that follow from others are computed, and all others change.
        sizes = np.count_nonzero(self._table, axis=1)
        basic = np.full(len(sizes), -1)
        eliminate(self._table, self._sums, sizes, random.random(len(numbers)), sizes > 0, basic)
        solved = np.flatnonzero(basic >= 0)
        basic = basic[solved]
        by_others = self._table[solved].astype(np.int64)
        by_others[np.arange(len(solved)), basic] = 0
        sums = self._sums[solved]
        row_of = dict(zip(basic.tolist(), range(len(basic)), strict=True))
        numbers[basic] = sums - by_others @ numbers
        broken = self._broken(numbers)
        for _ in range(MOST_TURNS):
            if not len(broken):
                break
            row = int(broken[random.integers(len(broken))])
            places = self._rows.places[self._rows.starts[row] : self._rows.starts[row + 1]]
            place = int(random.choice(places)) if len(places) else 0
            if place in row_of:
                others = np.flatnonzero(by_others[row_of[place]])
                place = int(random.choice(others)) if len(others) else place
            if place not in of:
                continue
            pair = of[place][random.integers(len(of[place]))]
            both = allowed[pair][min(int(random.exponential(SPREAD)), len(allowed[pair]) - 1)]
            after = numbers.copy()
            after[[*pair]] = both
            after[basic] = sums - by_others @ np.where(np.isin(np.arange(len(after)), basic), 0, after)
            left = self._broken(after)
            if len(left) <= len(broken) or random.random() < UPHILL:
                numbers = after
                broken = left
        return numbers

    def _broken(self, numbers: Ints) -> Ints:
        total = np.rint(self._rows @ numbers)
        return np.flatnonzero((total < self._lo) | (total > self._hi))

    def _allowed(self, one: Name, other: Name) -> list[tuple[int, int]]:
        """Return the pairs of numbers that the lines about two groups allow, the nearest to the middle first."""
        middle, second_middle = (self._middle[self._place[name]] for name in (one, other))
        (least, most), (low, high) = (self._find_ends(name) for name in (one, other))
        found = []
        for first in range(max(least, round(middle) - FAR), min(most, round(middle) + FAR) + 1):
            lowest = low
            highest = high
            for row in self._pairs[one, other]:
                factors = {_name(box): factor for factor, box in row.terms}
                for end, sign in ((row.lo, 1), (row.hi, -1)):
                    # sign * (the factor of the other) * its number >= needed
                    size = sign * factors[other]
                    needed = 0 if end is None else sign * (end - factors[one] * first)
                    if end is not None and size > 0:
                        lowest = max(lowest, -(-needed // size))
                    elif end is not None:
                        highest = min(highest, -needed // -size)
            if lowest <= highest:
                second = min(max(round(second_middle), lowest), highest)
                found.append((abs(first - middle) + abs(second - second_middle), first, second))
        return [(first, second) for _, first, second in sorted(found)]

    def _find_ends(self, name: Name) -> tuple[int, int]:
        lo, hi = self._ends.get(name, (None, None))
        return lo or 0, MOST_EXACT if hi is None else hi


def _columns_of(matrix: Matrix, chosen: Ints) -> Floats:
    """Return some columns of a matrix, with all their zeros."""
    place = np.full(matrix.shape[1], -1)
    place[chosen] = np.arange(len(chosen))
    used = np.flatnonzero(place[matrix.places] >= 0)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.starts))[used]
    out = np.zeros((matrix.shape[0], len(chosen)))
    out[row, place[matrix.places[used]]] = matrix.values[used]
    return out


class Exchanges:
    """Exchanges that keep what is tied, and the people that they lead to."""

    def __init__(self, ties: _Ties, people: Ints, random: np.random.Generator) -> None:
        matrix, lo, hi = ties.rows.whole
        cells = ties.cells
        left = np.flatnonzero(~ties.is_tied)
        places = np.full(len(lo), -1)
        places[left] = cells + np.arange(len(left))
        columns = matrix.columns
        sums = columns.starts.astype(np.int64), columns.rows, columns.values.astype(np.int64)
        table = np.ascontiguousarray(ties.table[np.ix_(ties.solved, ties.own)].T)
        basic = ties.basic[ties.solved]
        size = CHANGES * len(ties.own)
        while True:
            room = size
            self._changes = np.zeros(len(ties.own) + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)
            size = list_changes(table, basic, ties.own, sums, places, self._changes)
            if size <= room:
                break
        total = cells + len(left)
        self._by_place = transpose(self._changes, total)
        #: Places that have most people, or fewest, without people in cells that are not basic.
        self.is_most, self.is_least = (self._has_none(sign) for sign in (1, -1))
        self._own = ties.own
        self._ends = (
            np.concatenate((np.zeros(cells, np.int64), lo[left])),
            np.concatenate((np.full(cells, MOST_EXACT), hi[left])),
            np.concatenate((np.ones(cells), 1 / ties.rows.scales[left])),
        )
        self._rest = matrix[left]
        #: Changes that searches have looked at.
        self.work = 0
        self._inside = np.zeros(cells, np.bool_)
        self._chance = random.integers(1 << 31, size=1)
        self._scratch = (
            np.empty(total),
            np.empty(total, np.int64),
            np.empty(total, np.int64),
            np.empty((2, len(ties.own)), np.int64),
        )
        self.go_to(people)

    def _has_none(self, sign: int) -> Flags:
        """Tell which places no exchange changes by a number of this sign."""
        starts, _, values = self._by_place
        found = np.concatenate(([0], np.cumsum(values * sign > 0)))[starts]
        return np.asarray(np.diff(found) == 0)

    @property
    def people(self) -> Ints:
        """Number of people in each cell."""
        return self._point[: len(self._inside)].copy()

    def go_to(self, people: Ints) -> None:
        """Make people the point to start from."""
        self._point = np.concatenate((people, np.rint(self._rest @ people).astype(np.int64)))

    def reach(self, group: Ints, goal: int, sign: int, effort: Effort) -> bool:
        """Search for a world with at least so many people in a group (at most, with sign -1); a search that fails changes nothing."""
        self._inside[group] = True
        made = np.empty((effort.steps, 2), np.int64)
        state = (self._point, *self._scratch, made)
        asked = group, self._inside, goal, sign
        limits = effort.steps, effort.candidates, effort.daring
        found, work = search(self._changes, self._by_place, self._own, self._ends, state, asked, limits, self._chance)
        self.work += work
        self._inside[group] = False
        return bool(found)
