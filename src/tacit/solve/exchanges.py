"""Worlds by exchanges of people.

A world is a whole number of people for each column of a :class:`tacit.solve.program.Program`, such that all statements hold. An exchange takes
people from some columns and puts people into others so that the exact statements stay true. There is one for each column but the basic ones,
which Gaussian elimination with pivots of 1 and -1 expresses by the others; sums of exchanges lead from one world to all others. Where an
exchange breaks something, a column or a statement that is not exact has no room for it.

To move a column where it was not seen yet, that is made a condition, and what is broken is mended by one exchange after the other. Conditions
that stay broken weigh more with every step. A search that fails changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.model.arrays import Flags, Floats, Ints
from tacit.solve.program import Program

LARGEST_ENTRY = 1 << 20  #: With larger coefficients, exchanges have hardly room anywhere.
CANDIDATES = 12_000  #: So many changes of columns and statements are compared to choose an exchange.
HELD = 3  #: Steps in which an exchange is not undone.
TIES = 0.5  #: Smaller differences in what is broken count as none.
APPLIED = 200  #: Exchanges of a random walk before all are looked at again.
WORK = 30  #: So many of these changes take as long as a step of the simplex method for one statement.
FULL = 1e-6  #: A statement with less room than this inside all that is possible has none.


@dataclass(frozen=True, eq=False)
class _Changes:
    """Changes of places by exchanges, listed by one of the two."""

    starts: Ints
    others: Ints
    values: Ints

    @classmethod
    def of(cls, matrix: Any) -> _Changes:
        """Return the changes in the rows of a sparse matrix."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.int64))

    def one(self, number: int) -> slice:
        """Return where a list is."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def several(self, chosen: Ints) -> tuple[Ints, Ints, Ints]:
        """Return where some lists are, one after the other, with the begin and the size of each."""
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        begins = np.cumsum(sizes) - sizes
        return np.arange(sizes.sum()) + np.repeat(self.starts[chosen] - begins, sizes), begins, sizes


class Exchanges:
    """Exchanges between the columns with ``low < high``, and the point that they lead to.

    ``middle`` are fractions of people inside all that is possible: statements without room there are kept as exact ones. The first point is
    near the middle and keeps what is exact; :meth:`mend` makes a world of it. ``seen_low`` and ``seen_high`` are the fewest and the most people
    of each column in the worlds found so far.
    """

    def __init__(self, program: Program, low: Ints, high: Ints, *, middle: Floats) -> None:
        from scipy.sparse import csr_array, vstack

        self._fixed = low
        self.free: Ints = np.flatnonzero(low < high)
        self._place = np.full(len(low), -1)
        self._place[self.free] = np.arange(len(self.free))
        self.chance = np.random.default_rng(len(self.free))
        rows, least, most = program.conditions
        sums = rows @ middle
        is_full = sums > most - FULL
        least = np.where(is_full, most, least)
        most = np.where((sums < least + FULL) & ~is_full, least, most)
        taken = rows @ np.where(low < high, 0, low)
        rows = rows[:, self.free]
        exact = np.flatnonzero(least == most)
        room = np.minimum(middle - low, high - middle)[self.free]
        basic, ties, sums_of_ties = _eliminate(rows[exact].toarray(), (least - taken)[exact], room)
        others = np.setdiff1d(np.arange(len(self.free)), basic)
        turned = np.zeros((len(self.free), len(others)), np.int32)
        turned[others, np.arange(len(others))] = 1
        turned[basic] = -ties[:, others]
        directions = csr_array(turned)
        moved = rows @ directions
        kept = np.flatnonzero(np.diff(moved.indptr) > 0)
        changes = vstack([directions, moved[kept]], format="csr")
        changes.eliminate_zeros()
        self.by_place = _Changes.of(changes)
        self.by_exchange = _Changes.of(changes.T.tocsr())
        #: The column of each exchange.
        self.own: Ints = others
        people = np.clip(np.rint(middle[self.free]).astype(np.int64), low[self.free], high[self.free])
        people[basic] = sums_of_ties - ties[:, others] @ people[others]
        self._rest = rows[kept]
        self.point: Ints = np.concatenate((people, self._rest @ people))
        self._low: Ints = np.concatenate((low[self.free], (least - taken)[kept]))
        self._high: Ints = np.concatenate((high[self.free], (most - taken)[kept]))
        self.seen_low: Ints = np.where(low < high, high + 1, low)
        self.seen_high: Ints = np.where(low < high, low - 1, low)
        self._work = 0

    @property
    def people(self) -> Ints:
        """The point, as numbers of people for all columns of the program."""
        found = self._fixed.copy()
        found[self.free] = self.point[: len(self.free)]
        return found

    def go_to(self, world: Ints) -> None:
        """Make a world the point."""
        people = world[self.free]
        self.point = np.concatenate((people, self._rest @ people))
        self._see(np.arange(len(people)), people)

    def take_work(self) -> int:
        """Return what was computed since this was last asked, in steps of programs times their statements."""
        work, self._work = divmod(self._work, WORK)
        return work

    def has_seen(self, column: int, goal: int, sign: int) -> bool:
        """Tell if a world has at least ``goal`` people in a column (at most, with sign -1)."""
        return bool(self.seen_high[column] >= goal if sign > 0 else self.seen_low[column] <= goal)

    def mend(self, steps: int) -> bool:
        """Make a world of the point, if so many exchanges suffice."""
        held = np.zeros((2, len(self.own)), np.int64)
        weights = np.ones(len(self.point))
        idle = 0
        for step in range(steps):
            missing = np.maximum(self._low - self.point, 0) - np.maximum(self.point - self._high, 0)
            broken = np.flatnonzero(missing)
            if len(broken) == 0:
                self._see(np.arange(len(self.free)), self.point[: len(self.free)])
                return True
            place = int(broken[self.chance.integers(len(broken))])
            found = self._choose(place, int(missing[place]), weights, held <= step)
            if found is None:
                # Another condition may have an exchange, or the same when it is no longer held.
                idle += 1
                if idle > 2 * HELD:
                    return False
                continue
            idle = 0
            exchange, amount, is_worse = found
            if is_worse:
                weights[broken] += 1
            held[int(amount > 0), exchange] = step + HELD
            changed = self.by_exchange.one(exchange)
            self.point[self.by_exchange.others[changed]] += amount * self.by_exchange.values[changed]
        return False

    def _choose(self, place: int, missing: int, weights: Floats, allowed: Flags) -> tuple[int, int, bool] | None:
        """Return the exchange that leaves least broken, how often to make it, and if it leaves more than before."""
        of_place = self.by_place.one(place)
        exchanges = self.by_place.others[of_place]
        values = self.by_place.values[of_place]
        own = self.own[exchanges]
        wanted = np.sign(missing) * np.sign(values) * -(-abs(missing) // np.abs(values))
        amounts = np.clip(wanted, self._low[own] - self.point[own], self._high[own] - self.point[own])
        usable = np.flatnonzero(allowed[(amounts < 0).astype(np.int64), exchanges] & (amounts * wanted > 0))
        if len(usable) == 0:
            return None
        usable = usable[self.chance.permutation(len(usable))]
        entries = np.cumsum(np.diff(self.by_exchange.starts)[exchanges[usable]])
        usable = usable[: max(1, int(np.searchsorted(entries, CANDIDATES)))]
        amounts = amounts[usable]
        at, begins, sizes = self.by_exchange.several(exchanges[usable])
        self._work += len(at)
        places = self.by_exchange.others[at]
        before = self.point[places]
        after = before + np.repeat(amounts, sizes) * self.by_exchange.values[at]
        low = self._low[places]
        high = self._high[places]
        more = np.maximum(low - after, after - high).clip(0) - np.maximum(low - before, before - high).clip(0)
        left = np.add.reduceat(more * weights[places], begins) + TIES * self.chance.random(len(usable))
        best = int(left.argmin())
        return int(exchanges[usable[best]]), int(amounts[best]), bool(left[best] > TIES)

    def reach(self, column: int, goal: int, sign: int, steps: int) -> bool:
        """Search for a world in which a column has at least ``goal`` people (at most, with sign -1)."""
        place = int(self._place[column])
        if place < 0:
            return False
        before = self.point.copy()
        ends = self._low if sign > 0 else self._high
        end = int(ends[place])
        ends[place] = goal
        found = self.mend(steps)
        ends[place] = end
        if not found:
            self.point = before
        return found

    def walk(self) -> None:
        """See all worlds that are one exchange away, and make some of these exchanges."""
        waiting = []
        exchange_of = np.repeat(np.arange(len(self.own)), np.diff(self.by_exchange.starts))
        places = self.by_exchange.others
        for sign in (1, -1):
            after = self.point[places] + sign * self.by_exchange.values
            kept = (self._low[places] <= after) & (after <= self._high[places])
            possible = np.logical_and.reduceat(kept, self.by_exchange.starts[:-1])
            shown = possible[exchange_of] & (places < len(self.free))
            self._see(places[shown], after[shown])
            waiting += [(exchange, sign) for exchange in np.flatnonzero(possible).tolist()]
        self._work += 2 * len(places)
        for number in self.chance.permutation(len(waiting))[:APPLIED].tolist():
            exchange, sign = waiting[number]
            changed = self.by_exchange.one(exchange)
            places = self.by_exchange.others[changed]
            after = self.point[places] + sign * self.by_exchange.values[changed]
            if (self._low[places] <= after).all() and (after <= self._high[places]).all():
                self.point[places] = after

    def _see(self, places: Ints, people: Ints) -> None:
        np.minimum.at(self.seen_low, self.free[places], people)
        np.maximum.at(self.seen_high, self.free[places], people)


def _eliminate(rows: Ints, sums: Ints, room: Floats) -> tuple[Ints, Ints, Ints]:
    """Return basic columns, and rows that express each by the others, with their sums.

    Columns with much room become basic, and short rows are used first, which keeps others short. Rows without a pivot of 1 or -1 are left out.
    """
    order = np.argsort(-room, kind="stable")
    left = rows[:, order].astype(np.int32)
    sums = sums.copy()
    sizes = np.count_nonzero(left, axis=1)
    waiting = sizes > 0
    basic: list[int] = []
    used: list[int] = []
    while waiting.any():
        row = int(np.where(waiting, sizes, len(order) + 1).argmin())
        waiting[row] = False
        pivots = np.flatnonzero(np.abs(left[row]) == 1)
        if len(pivots) == 0:
            continue
        pivot = int(pivots[0])
        if left[row, pivot] < 0:
            left[row] *= -1
            sums[row] *= -1
        basic.append(pivot)
        used.append(row)
        below = np.flatnonzero(left[:, pivot])
        below = below[below != row]
        if len(below) == 0:
            continue
        across = np.flatnonzero(left[row])
        factors = left[below, pivot]
        fresh = left[np.ix_(below, across)] - np.outer(factors, left[row, across])
        if np.abs(fresh).max() > LARGEST_ENTRY:
            waiting[row] = False
            basic.pop()
            used.pop()
            continue
        left[np.ix_(below, across)] = fresh
        sums[below] -= factors * sums[row]
        sizes[below] = np.count_nonzero(left[below], axis=1)
        waiting &= sizes > 0
    ties = np.empty((len(used), len(order)), np.int64)
    ties[:, order] = left[used]
    return order[basic], ties, sums[used]
