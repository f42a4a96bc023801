"""Worlds: whole people who fit every published line. Whatever is not small in one of them cannot be proved to be small.

A world comes from the owner's rows or from an integer program. Exchanging the values of one column among people who are alike for every line
that names the column changes no published count, so that one world leads to many others at little cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Axis, literal
from tacit.attacks.joint.cube import Cube
from tacit.attacks.joint.lines import Problem
from tacit.attacks.joint.rows import MOST_PEOPLE, Cells
from tacit.model.transactions import Transactions

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.uint64]

#: Of all people, those who exchange something at a time, where conditions must hold.
SHARES = (1.0, 0.1, 0.01)


@dataclass(eq=False)
class World:
    """People by their class on every axis: ``kinds[i]`` holds those of person ``i``, a column for each axis."""

    problem: Problem
    kinds: Whole
    _inside: dict[tuple[int, int], Flags] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, problem: Problem, data: Transactions) -> World | None:
        """The world of the owner's rows; None where they do not fit the lines, or are too many."""
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
    def of_cells(cls, cells: Cells, people: Whole) -> World | None:
        """The world with so many people in each cell of all axes; None where they are too many."""
        if int(people.sum()) > MOST_PEOPLE:
            return None
        return cls(cells.problem, cells.kinds(people))

    def inside(self, box: Mapping[int, int]) -> Flags:
        """Who is in a box."""
        found = np.ones(len(self.kinds), np.bool_)
        for axis, mask in box.items():
            found &= self._allowed(axis, mask)
        return found

    def count(self, box: Mapping[int, int]) -> int:
        """How many people a box holds."""
        return int(np.count_nonzero(self.inside(box)))

    def _allowed(self, axis: int, mask: int) -> Flags:
        if (axis, mask) not in self._inside:
            bits = np.array([bool(mask >> place & 1) for place in range(len(self.problem.axes[axis].classes))])
            self._inside[axis, mask] = bits[self.kinds[:, axis]]
        return self._inside[axis, mask]

    @cached_property
    def totals(self) -> list[int]:
        """What every line adds up to among these people."""
        return [sum(factor * self.count(masks) for factor, masks in terms) for terms in self.problem.boxes]

    def fits(self) -> bool:
        """Whether every line is true of these people."""
        return all(
            (line.lo is None or total >= line.lo) and (line.hi is None or total <= line.hi)
            for line, total in zip(self.problem.lines, self.totals, strict=True)
        )

    def cells(self, cells: Cells) -> Whole:
        """How many people are in each cell."""
        places = np.zeros(len(self.kinds), np.int64)
        for place, size in zip(cells.chosen, cells.shape, strict=True):
            places = places * size + self.kinds[:, place]
        return np.bincount(places, minlength=len(cells))

    def counts(self, cube: Cube) -> Whole:
        """How many people each group of a cube holds."""
        shape = [len(axis.classes) for axis in cube.axes]
        cells = np.zeros(len(self.kinds), np.int64)
        for place, size in zip(cube.chosen, shape, strict=True):
            cells = cells * size + self.kinds[:, place]
        table = np.bincount(cells, minlength=int(np.prod(shape, dtype=np.int64))).astype(np.float64).reshape(shape)
        for position, axis in enumerate(cube.axes):
            held = np.array([[float(mask >> bit & 1) for bit in range(len(axis.classes))] for mask in axis.slots])
            table = np.moveaxis(np.tensordot(held, table, axes=(1, position)), 0, position)
        return np.rint(table).astype(np.int64).ravel()

    def exchanged(self, random: np.random.Generator) -> World:
        """Another world: on every axis in turn, people who are alike for all lines that name it exchange their classes at random.

        Only some of them do where conditions break otherwise; nobody where they break even so.
        """
        for share in SHARES if self.problem.conditions else SHARES[:1]:
            found = self._exchanged(random, share)
            if self.problem.holds(found.kinds):
                return found
        return self

    def _exchanged(self, random: np.random.Generator, share: float) -> World:
        found = World(self.problem, self.kinds.copy())
        for axis in random.permutation(len(self.problem.axes)).tolist():
            taking = np.flatnonzero(random.random(len(self.kinds)) < share)
            alike = found.alike(axis)[taking]
            before = taking[np.lexsort((random.random(len(alike)), alike))]
            after = taking[np.argsort(alike, kind="stable")]
            found.kinds[after, axis] = found.kinds[before, axis]
            found.forget(axis)
        return found

    def narrowed(self, room: int) -> World:
        """The same people, with lines in place of conditions that hold as long as at most so many people change."""
        return World(self.problem.narrowed(self.kinds, room), self.kinds)

    def forget(self, axis: int) -> None:
        """Forget who is in which part of an axis, since somebody has changed there."""
        for known in [key for key in self._inside if key[0] == axis]:
            del self._inside[known]

    def alike(self, axis: int) -> Signs:
        """A number for everybody, the same for people whom all lines that name the axis treat alike, whatever their class on it."""
        weigh = np.random.default_rng(axis)
        others = np.delete(self.kinds, axis, axis=1).astype(np.uint64)
        names = others @ weigh.integers(1, 2**63, others.shape[1], dtype=np.uint64)
        _, first, which = np.unique(names, return_index=True, return_inverse=True)
        distinct = World(self.problem, self.kinds[first])
        found = np.zeros(len(first), np.uint64)
        for box in self.problem.beside(axis):
            found += distinct.inside(box) * np.uint64(weigh.integers(1, 2**63, dtype=np.uint64))
        return np.asarray(found[which.ravel()])


def refuted_by(world: World, cube: Cube, k: int) -> Flags:
    """The groups of a cube that are empty in a world, or have k people or more."""
    counts = world.counts(cube)
    return np.asarray((counts == 0) | (counts >= k))


def _classes(axis: Axis, data: Transactions) -> Whole | None:
    """The class of every row on an axis; None where that cannot be told."""
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
