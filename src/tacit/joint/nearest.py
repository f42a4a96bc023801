"""Nearest worlds: a few people differ from a known world, and a group is empty or holds k people.

The fewest changes are the optimum of a linear program. From no change at all, the dual simplex reaches it in few steps, most often with whole
people. Where there are fractions of people, an integer program follows over the cells whose change costs least beside them.

One program serves many questions: it is about some classes of the wide columns, and each question is one more constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.joint.boxes import MEMBER
from tacit.joint.rearranging import Rearranging, one_row_each
from tacit.joint.worlds import Masks, membership_matrix
from tacit.model.arrays import Flags, Floats, Ints
from tacit.solve.highs import Session
from tacit.solve.solver import Matrix, solve, stack_columns, stack_rows


class Effort(NamedTuple):
    """Size of a search.

    ``cells`` may change, a linear program takes ``steps`` at most, an integer program is about ``whole`` cells, and after ``idle`` programs in a
    row that settle nothing no more are asked.
    """

    cells: int
    steps: int
    whole: int
    idle: int


#: Successive attempts at a question. Small programs are quick and settle most; larger ones follow, about other classes every time.
EFFORTS = (
    *(Effort(1_000, 150, 120, idle=60),) * 2,
    *(Effort(2_000, 300, 120, idle=60),) * 2,
    *(Effort(3_000, 600, 200, idle=40),) * 3,
    *(Effort(20_000, 2_000, 300, idle=10),) * 2,
)
MOST_ASKED = 25  #: Programs about the same cells.
MOST_PROGRAMS = 6_000  #: Most programs in all.
#: Share of the better chance of the two, to empty a group or to fill it, above which the other is tried as well.
WORTH_AS_WELL = 0.6
NEAR = 1e-6  #: Tolerance of a solver's number that stands for a whole one.


def refute_near(near: Rearranging, boxes: Sequence[Masks], k: int, ends: Sequence[tuple[int, int]]) -> Flags:
    """Return the boxes refuted by some world near the latest one; ``ends`` are known bounds on each."""
    return _Search(near, boxes, k, ends).run()


class _Search:
    def __init__(self, near: Rearranging, boxes: Sequence[Masks], k: int, ends: Sequence[tuple[int, int]]) -> None:
        self._near = near
        self._boxes = boxes
        self._k = k
        self._can_empty = [lo <= 0 for lo, _ in ends]
        self._can_fill = [hi >= k for _, hi in ends]
        self._inside = membership_matrix(near.rows.cells, boxes)
        self._settled = np.zeros(len(boxes), np.bool_)
        self._attempts = np.zeros(len(boxes), np.int64)
        # Of emptying a group, and of filling it.
        self._asked = np.ones(2)
        self._successful = np.ones(2)
        self._idle = 0
        self._programs = 0
        self._look_at(near.world)

    def run(self) -> Flags:
        while self._programs < MOST_PROGRAMS:
            left = np.flatnonzero(~self._settled & (self._attempts < len(EFFORTS)))
            if not len(left):
                break
            least = int(self._attempts[left].min())
            waiting = self._near.random.permutation(left[self._attempts[left] == least])
            self._idle = 0
            while self._idle <= EFFORTS[least].idle and self._programs < MOST_PROGRAMS:
                waiting = waiting[~self._settled[waiting] & (self._attempts[waiting] == least)]
                if not len(waiting):
                    break
                self._ask_around(waiting, EFFORTS[least])
            self._attempts[waiting] = least + 1
        return self._settled

    def _look_at(self, world: Ints) -> int:
        """Settle the questions that a world refutes; return their number."""
        counts = np.rint(self._inside @ world)
        fresh = ~self._settled & ((counts == 0) | (counts >= self._k))
        self._settled |= fresh
        return int(fresh.sum())

    def _ask_around(self, waiting: Ints, effort: Effort) -> None:
        """Ask about the first question, and others whose people are in the same cells."""
        self._near.limits.check("X01")
        first = int(waiting[0])
        cells = choose_cells(self._near, self._boxes[first], effort.cells)
        part = Neighbourhood(self._near, cells, effort)
        world = self._near.world
        there = np.zeros_like(world)
        there[cells] = world[cells]
        inside = self._inside[waiting]
        here = np.rint(inside @ there).astype(np.int64)
        counts = np.rint(inside @ world).astype(np.int64)
        usable = np.flatnonzero((here == counts) | (here > 0))
        latest = world
        asked = 0
        for place in np.concatenate(([0], usable[usable != 0])).tolist():
            number = int(waiting[place])
            if asked >= MOST_ASKED:
                break
            if self._settled[number]:
                continue
            self._attempts[number] += 1
            can_empty = self._can_empty[number] and bool(here[place] == counts[place])
            for fill in self._directions(int(counts[place]), can_empty=can_empty, can_fill=self._can_fill[number]):
                asked += 1
                found = self._ask(part, number, fill, int(counts[place]))
                if found is not None:
                    latest = found
                    break
        self._near.world = latest

    def _directions(self, people: int, *, can_empty: bool, can_fill: bool) -> list[int]:
        """Return 0 to empty a group, 1 to fill it, or both, the likelier first."""
        if not (can_empty and can_fill):
            return [0] * can_empty + [1] * can_fill
        share = people / self._k
        rates = np.array((1 - share, share)) * self._successful / self._asked
        first = int(self._near.random.random() * rates.sum() < rates[1])
        return [first, 1 - first] if rates[1 - first] > WORTH_AS_WELL * rates[first] else [first]

    def _ask(self, part: Neighbourhood, number: int, fill: int, people: int) -> Ints | None:
        """Return a world that empties or fills a group, if one is found."""
        self._asked[fill] += 1
        self._programs += 1
        self._idle += 1
        group = self._near.rows.cells.inside(self._boxes[number])
        found = part.find(group, self._k - people if fill else -people)
        if found is None or not self._near.accepts(found) or not self._look_at(found):
            return None
        self._idle = 0
        self._successful[fill] += 1
        return found


class Neighbourhood:
    """Worlds that differ from the latest one in some cells."""

    def __init__(self, near: Rearranging, cells: Ints, effort: Effort) -> None:
        self._near = near
        self._cells = cells
        self._effort = effort
        self._world = near.world
        self._place = np.full(len(near.world), -1)
        self._place[cells] = np.arange(len(cells))
        self._before = near.world[cells]
        self._occupied = np.flatnonzero(self._before)
        self._by_cell, self._low, self._high = one_row_each(*near.near_rows(cells))
        # Unknown are the people who come to each cell, and those who leave the occupied ones.
        leaving = self._by_cell[self._occupied]
        columns = stack_rows((self._by_cell, -leaving))
        taken = self._before @ self._by_cell
        most = np.concatenate((np.full(len(cells), np.inf), self._before[self._occupied]))
        given = {
            "cost": near.random.uniform(1, 1.2, len(most)),
            "starts": columns.starts.astype(np.int32),
            "rows": columns.places.astype(np.int32),
            "values": columns.values,
            "least": np.zeros(len(most)),
            "most": most,
            "low": self._low - taken,
            "high": self._high - taken,
        }
        self._session = Session(given, effort.steps)

    def find(self, group: Ints, change: int) -> Ints | None:
        """Return a near world in which a group has so many people more, or None."""
        held = self._place[group]
        held = held[held >= 0]
        leaving = np.flatnonzero(np.isin(self._occupied, held)) + len(self._cells)
        places = np.concatenate((held, leaving))
        factors = np.concatenate((np.ones(len(held)), np.full(len(leaving), -1.0)))
        ends = (float(change), np.inf) if change > 0 else (-np.inf, float(change))
        found = self._session.solve(places, factors, *ends)
        if found is None:
            return None
        moves, costs = found
        change_of = self._join(moves)
        whole = np.rint(change_of)
        if np.abs(change_of - whole).max(initial=0) < NEAR:
            after: Ints | None = self._before + whole.astype(np.int64)
        else:
            after = self._find_whole(held, change, np.abs(change_of) > NEAR, costs)
        if after is None:
            return None
        world = self._world.copy()
        world[self._cells] = after
        return world

    def _join(self, moves: Floats) -> Floats:
        """Return the change of each cell from who comes and who leaves."""
        size = len(self._cells)
        out = moves[:size].copy()
        out[self._occupied] -= moves[size:]
        return out

    def _find_whole(self, held: Ints, change: int, changed: Flags, costs: Floats) -> Ints | None:
        """Return whole people in all cells, by an integer program over the changed and the cheapest ones."""
        size = len(self._cells)
        price = costs[:size].copy()
        price[self._occupied] = np.minimum(price[self._occupied], costs[size:])
        price[changed] = -1
        chosen = np.sort(np.argsort(price, kind="stable")[: self._effort.whole])
        by_cell = self._by_cell[chosen]
        used = np.zeros(by_cell.shape[1], np.bool_)
        used[by_cell.places] = True
        by_cell = by_cell.keep_columns(used)
        before = self._before[chosen]
        stay = (self._before @ self._by_cell)[used] - before @ by_cell
        inside = np.flatnonzero(np.isin(chosen, held))
        counted = Matrix.of_entries(inside, np.zeros(len(inside)), np.ones(len(inside)), (len(chosen), 1))
        wanted = before[inside].sum() + change
        ends = (wanted, np.inf) if change > 0 else (-np.inf, wanted)
        cost = np.where(before > 0, 0.0, 1.0) + self._near.random.uniform(0, 0.1, len(chosen))
        low = np.append(self._low[used] - stay, ends[0])
        high = np.append(self._high[used] - stay, ends[1])
        (found,) = solve([self._near.make_program(cost, stack_columns(by_cell, counted), low, high)])
        if found.x is None:
            return None
        after = self._before.copy()
        after[chosen] = np.rint(found.x).astype(np.int64)
        return after


def choose_cells(near: Rearranging, box: Masks, most: int) -> Ints:
    """Return about so many cells around a box: those of some classes of the widest axes.

    Classes of people of the group are kept. Whether people left or joined is kept as it is, unless the box says it or holds some of both.
    """
    cells = near.rows.cells
    axes = cells.problem.axes
    inside = cells.inside(box)
    inside = inside[near.world[inside] > 0]
    held = [np.unique(classes[inside]) for classes in near.classes]
    widths = list(cells.shape)
    least = [min(len(own) + 1, width) for own, width in zip(held, widths, strict=True)]
    order = near.random.permutation(len(widths)).tolist()
    for at in order:
        if axes[cells.chosen[at]].key == MEMBER and cells.chosen[at] not in box and len(held[at]) == 1:
            widths[at] = 1
    while np.prod(widths) > most:
        # The widest axis first; those that the box names are as useful as others.
        at = max(order, key=lambda one: (widths[one] > least[one], widths[one]))
        if widths[at] == 1:
            break
        widths[at] -= 1
    kept = np.ones(len(cells), np.bool_)
    for at, width in enumerate(widths):
        if width < cells.shape[at]:
            others = near.random.permutation(np.setdiff1d(np.arange(cells.shape[at]), held[at]))
            chosen = np.concatenate((near.random.permutation(held[at]), others))[:width]
            kept &= np.isin(near.classes[at], chosen)
    return np.flatnonzero(kept)
