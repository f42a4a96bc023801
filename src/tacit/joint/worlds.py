"""Worlds: whole people who fit every published line.

A world comes from the owner's rows or from an integer program. Exchanging the values of a column among people who are alike for every line
that names the column changes no published count, so that one world leads to many others at little cost.

Steps between two people go further: they exchange their classes on one axis, or one person takes another class. A step is allowed if every
published line stays true, with all the room that rounding and thresholds leave. Steps that empty a group, or fill it up to k people, refute
that it is small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import Axis, Problem, literal
from tacit.joint.cube import Cube
from tacit.joint.rows import MOST_PEOPLE, Cells
from tacit.model.arrays import Flags, Ints, Words
from tacit.model.table import Transactions

#: Shares of all people who exchange something at a time, if conditions must hold.
SHARES = (1.0, 0.1, 0.01)
#: Most partners that are tried for each step.
MOST_PARTNERS = 64
#: Most people of all open groups together.
MOST_EXCHANGED = 20_000
#: Most worlds that steps start from.
MOST_STARTS = 8
#: If more boxes are left after the first world, others would not help.
FEW_LEFT = 500
#: Most boxes that are asked about.
MOST_BOXES = 4_000
#: Most entries of the table of people and terms of lines; above, an axis is left out.
MOST_ENTRIES = 60_000_000
#: Room of a line with an open end.
NO_END = 2**30


@dataclass(eq=False)
class World:
    """World of people; ``kinds[i]`` are the classes of person ``i``."""

    problem: Problem
    kinds: Ints
    _inside: dict[tuple[int, int], Flags] = field(default_factory=dict)

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
    def of_cells(cls, cells: Cells, people: Ints) -> World | None:
        """Return the world of people in cells, or None."""
        if int(people.sum()) > MOST_PEOPLE:
            return None
        return cls(cells.problem, cells.kinds(people))

    def inside(self, box: Mapping[int, int]) -> Flags:
        """Return who is in a box."""
        found = np.ones(len(self.kinds), np.bool_)
        for axis, mask in box.items():
            found &= self._allowed(axis, mask)
        return found

    def count(self, box: Mapping[int, int]) -> int:
        """Return the number of people in a box."""
        return int(np.count_nonzero(self.inside(box)))

    def _allowed(self, axis: int, mask: int) -> Flags:
        if (axis, mask) not in self._inside:
            bits = np.array([bool(mask >> place & 1) for place in range(len(self.problem.axes[axis].classes))])
            self._inside[axis, mask] = bits[self.kinds[:, axis]]
        return self._inside[axis, mask]

    @cached_property
    def totals(self) -> list[int]:
        """Sum of every line among these people."""
        return [sum(factor * self.count(masks) for factor, masks in terms) for terms in self.problem.boxes]

    def fits(self) -> bool:
        """Tell if every line is true of these people."""
        return all(
            (line.lo is None or total >= line.lo) and (line.hi is None or total <= line.hi)
            for line, total in zip(self.problem.lines, self.totals, strict=True)
        )

    def cells(self, cells: Cells) -> Ints:
        """Return the number of people in each cell."""
        places = np.zeros(len(self.kinds), np.int64)
        for place, size in zip(cells.chosen, cells.shape, strict=True):
            places = places * size + self.kinds[:, place]
        return np.bincount(places, minlength=len(cells))

    def counts(self, cube: Cube) -> Ints:
        """Return the people in each group of a cube."""
        shape = [len(axis.classes) for axis in cube.axes]
        cells = np.zeros(len(self.kinds), np.int64)
        for place, size in zip(cube.chosen, shape, strict=True):
            cells = cells * size + self.kinds[:, place]
        table = np.bincount(cells, minlength=int(np.prod(shape, dtype=np.int64))).astype(np.float64).reshape(shape)
        for position, axis in enumerate(cube.axes):
            held = np.array([[float(mask >> bit & 1) for bit in range(len(axis.classes))] for mask in axis.slots])
            table = np.moveaxis(np.tensordot(held, table, axes=(1, position)), 0, position)
        return np.rint(table).astype(np.int64).ravel()

    def exchange(self, random: np.random.Generator) -> World:
        """Return another world by random exchanges of similar people.

        If conditions break, only some people exchange; if they still break, nobody does.
        """
        for share in SHARES if self.problem.conditions else SHARES[:1]:
            found = self._exchange(random, share)
            if self.problem.holds(found.kinds):
                return found
        return self

    def _exchange(self, random: np.random.Generator, share: float) -> World:
        found = World(self.problem, self.kinds.copy())
        for axis in random.permutation(len(self.problem.axes)).tolist():
            taking = np.flatnonzero(random.random(len(self.kinds)) < share)
            alike = found.alike(axis)[taking]
            before = taking[np.lexsort((random.random(len(alike)), alike))]
            after = taking[np.argsort(alike, kind="stable")]
            found.kinds[after, axis] = found.kinds[before, axis]
            found.forget(axis)
        return found

    def narrow(self, room: int) -> World:
        """Return the same people, with lines instead of conditions."""
        return World(self.problem.narrow(self.kinds, room), self.kinds)

    def forget(self, axis: int) -> None:
        """Clear the cached parts of an axis after a change."""
        for known in [key for key in self._inside if key[0] == axis]:
            del self._inside[known]

    def alike(self, axis: int) -> Words:
        """Number people by how the lines of an axis treat them."""
        weigh = np.random.default_rng(axis)
        others = np.delete(self.kinds, axis, axis=1).astype(np.uint64)
        names = others @ weigh.integers(1, 2**63, others.shape[1], dtype=np.uint64)
        _, first, which = np.unique(names, return_index=True, return_inverse=True)
        distinct = World(self.problem, self.kinds[first])
        found = np.zeros(len(first), np.uint64)
        for box in self.problem.rests(axis):
            found += distinct.inside(box) * np.uint64(weigh.integers(1, 2**63, dtype=np.uint64))
        return np.asarray(found[which.ravel()])


def _classes(axis: Axis, data: Transactions) -> Ints | None:
    """Return each row's class on an axis, or None."""
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
        world = world.exchange(random)
    return out


def refute_by_exchanges(world: World, boxes: Sequence[Mapping[int, int]], k: int, check: Callable[[], None]) -> Flags:
    """Return the boxes that steps along one axis refute."""
    held = [np.flatnonzero(world.inside(box)) for box in boxes]
    out = np.array([len(people) == 0 or len(people) >= k for people in held], np.bool_)
    if not world.problem.decides_conditions:
        return out
    world = world.narrow(2 * k)  # each of fewer than k steps changes two people
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
            out[number] = steps.refute(boxes[number], held[number], k)
    return out


@dataclass(eq=False)
class _Steps:
    """Steps along one axis between some people."""

    world: World
    axis: int
    people: Ints
    random: np.random.Generator

    @property
    def _problem(self) -> Problem:
        return self.world.problem

    @cached_property
    def _terms(self) -> list[tuple[int, int, int, tuple[tuple[int, int], ...]]]:
        """Terms of lines on the axis: line, factor, classes, rest."""
        out = []
        for number, terms in enumerate(self._problem.boxes):
            for factor, masks in terms:
                if self.axis in masks:
                    rest = tuple(sorted((place, mask) for place, mask in masks.items() if place != self.axis))
                    out.append((number, factor, masks[self.axis], rest))
        return out

    @cached_property
    def _rests(self) -> dict[tuple[tuple[int, int], ...], int]:
        return {rest: place for place, rest in enumerate(dict.fromkeys(term[3] for term in self._terms))}

    @property
    def fits_in_memory(self) -> bool:
        """True if the table of people and terms fits."""
        return len(self.people) * len(self._rests) <= MOST_ENTRIES

    @cached_property
    def _asked(self) -> npt.NDArray[np.int8]:
        """People in the rest of each term, by column."""
        kinds = self.world.kinds[self.people]
        part = World(self._problem, kinds)
        columns = np.stack([part.inside(dict(rest)) for rest in self._rests], axis=1).astype(np.int8)
        return columns[:, [self._rests[term[3]] for term in self._terms]]

    @cached_property
    def _factor(self) -> Ints:
        return np.array([term[1] for term in self._terms], np.int64)

    @cached_property
    def _is_plain(self) -> bool:
        """True if every line on the axis is one box."""
        return bool((self._factor == 1).all()) and len(self._lines[0]) == len(self._terms)

    @cached_property
    def _allowed(self) -> npt.NDArray[np.int8]:
        """Classes that each term allows, by row."""
        classes = range(len(self._problem.axes[self.axis].classes))
        return np.array([[term[2] >> one & 1 for term in self._terms] for one in classes], np.int8)

    @cached_property
    def _lines(self) -> tuple[Ints, Ints]:
        """Lines on the axis, and the starts of their terms."""
        numbers = np.array([term[0] for term in self._terms], np.int64)
        lines, starts = np.unique(numbers, return_index=True)
        return lines, starts

    @cached_property
    def _room(self) -> tuple[Ints, Ints]:
        """Slack of these lines downwards and upwards."""
        lines, _ = self._lines
        totals = self.world.totals
        down = []
        up = []
        for number in lines.tolist():
            line = self._problem.lines[number]
            down.append(NO_END if line.lo is None else totals[number] - line.lo)
            up.append(NO_END if line.hi is None else line.hi - totals[number])
        kind = np.int32 if max((*down, *up), default=0) <= NO_END else np.int64
        return np.array(down, kind), np.array(up, kind)

    def refute(self, box: Mapping[int, int], held: Ints, k: int) -> bool:
        """Tell if steps empty the box, or fill it."""
        rest = {place: mask for place, mask in box.items() if place != self.axis}
        allowed = np.array([bool(box[self.axis] >> one & 1) for one in range(len(self._allowed))])
        kinds = self.world.kinds[self.people, self.axis]
        here = allowed[kinds]
        others = World(self._problem, self.world.kinds[self.people]).inside(rest)
        inside = np.flatnonzero(here & others)
        if len(inside) == len(held) and self._walk(inside, np.flatnonzero(~here & ~others), ~allowed, len(inside)):
            return True
        return self._walk(np.flatnonzero(~here & others), np.flatnonzero(here & ~others), allowed, k - len(held))

    def _walk(self, movers: Ints, partners: Ints, target: Flags, wanted: int) -> bool:
        """Tell if ``wanted`` movers can reach a target class."""
        down, up = (ends.copy() for ends in self._room)
        kinds = self.world.kinds[self.people, self.axis].copy()
        done = 0
        failed = 0
        most = 3 * wanted + 3
        for mover in self.random.permutation(movers).tolist():
            partner = self.random.permutation(partners)[:MOST_PARTNERS]
            change, chosen = self._best(mover, partner, target, kinds, down=down, up=up)
            if change is None:
                failed += 1
                if failed + done > most or len(movers) - failed < wanted:
                    return False
                continue
            down += change
            up -= change
            if chosen >= 0:
                kinds[mover], kinds[chosen] = kinds[chosen], kinds[mover]
                partners = partners[partners != chosen]
            done += 1
            if done >= wanted:
                return True
        return False

    def _best(self, mover: int, partners: Ints, target: Flags, kinds: Ints, down: Ints, up: Ints) -> tuple[Ints | None, int]:
        """Return the best permitted step, or None.

        The partner is -1 if the mover changes alone.
        """
        mine = self._asked[mover]
        own = self._allowed[kinds[mover]]
        _, starts = self._lines
        alone = np.flatnonzero(target)
        # Alone, the mover takes another class; with a partner, the two exchange theirs.
        moves = [mine * (self._allowed[alone] - own)]
        if len(partners):
            moves.append((self._asked[partners] - mine) * (own - self._allowed[kinds[partners]]))
        step = np.concatenate(moves)
        change = step if self._is_plain else np.add.reduceat(step * self._factor, starts, axis=1)
        fits = ((change <= up) & (change >= -down)).all(axis=1)
        possible = np.flatnonzero(fits)
        if not len(possible):
            return None, -1
        # The step that changes the fewest lines leaves the most room for the next.
        best = int(possible[np.argmin(np.count_nonzero(change[possible], axis=1))])
        return change[best], -1 if best < len(alone) else int(partners[best - len(alone)])
