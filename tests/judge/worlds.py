"""Every database that fits what is published: which numbers of people each group can have over all of them.

A world is a whole number of people for each cell, a statement is a bound on a weighted sum of cells. Cells are taken up one after another (those
that every statement weighs alike together), and of all ways to fill them only the sums so far are kept, with the set of sizes that each group
has had along the way. Nothing is estimated and nothing is solved: the answer is that of listing every world. Shares no code with Tacit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

#: The value that stands for all those of a column that no release names.
OTHER = "(other)"
#: More sums than these at once are not followed; the case is drawn anew.
MOST_STATES = 40_000
#: No bound.
MANY = 10**6

Box = Mapping[str, frozenset[str]]
Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]


class TooLarge(Exception):
    """More sums than the judge follows."""


@dataclass(frozen=True)
class Bound:
    """A weighted sum of boxes of people lies from ``lo`` to ``hi``."""

    terms: tuple[tuple[int, Box], ...]
    lo: int
    hi: int


#: Bounds of which at least one holds.
Statement = tuple[Bound, ...]


def between(box: Box, lo: int, hi: int = MANY) -> Statement:
    """The number of people of one box lies from ``lo`` to ``hi``."""
    return (Bound(((1, box),), lo, hi),)


@dataclass(frozen=True)
class Space:
    """The cells: a value for each column, and in which populations somebody is."""

    columns: Mapping[str, tuple[str, ...]]
    members: tuple[frozenset[int], ...] = (frozenset([0]),)
    cells: tuple[tuple[tuple[str, ...], frozenset[int]], ...] = field(init=False)

    def __post_init__(self) -> None:
        cells = [(values, inside) for inside in self.members for values in product(*self.columns.values())]
        object.__setattr__(self, "cells", tuple(cells))

    def flags(self, box: Box, inside: Sequence[int] = (), outside: Sequence[int] = ()) -> Flags:
        """Which cells lie in a box, among the people of these populations and not of those."""
        wanted = [box.get(column) for column in self.columns]
        return np.array(
            [
                all(values is None or value in values for value, values in zip(cell, wanted, strict=True))
                and members.issuperset(inside)
                and members.isdisjoint(outside)
                for cell, members in self.cells
            ]
        )


@dataclass
class Problem:
    """Statements over the cells of a space, each about one population or about all people."""

    space: Space
    rows: list[Whole] = field(default_factory=list)
    lo: list[int] = field(default_factory=list)
    hi: list[int] = field(default_factory=list)
    choices: list[list[int]] = field(default_factory=list)

    def add(self, statement: Statement, population: int | None = None) -> None:
        """Add a statement about the people of a population, or about all."""
        inside = () if population is None else (population,)
        places = []
        for bound in statement:
            row = sum(weight * self.space.flags(box, inside).astype(np.int64) for weight, box in bound.terms)
            places.append(len(self.rows))
            self.rows.append(np.asarray(row))
            self.lo.append(bound.lo)
            self.hi.append(bound.hi)
        self.choices.append(places)

    def add_count(self, flags: Flags, lo: int, hi: int) -> None:
        """Add that the number of people of these cells lies from ``lo`` to ``hi``."""
        self.choices.append([len(self.rows)])
        self.rows.append(flags.astype(np.int64))
        self.lo.append(lo)
        self.hi.append(hi)

    def sizes(self, most: int, groups: Sequence[Flags]) -> list[int]:
        """The sizes that each group of cells can have, as bits, where there are at most so many people in all; 0 where no world fits."""
        weights, low, high, choices = self._distinct()
        classes, of = np.unique(weights, axis=1, return_inverse=True)
        order = _order(classes)
        asked = np.array(groups, np.bool_).reshape(len(groups), len(self.space.cells))
        covered = np.array([[asked[:, of == place].all(axis=1), asked[:, of == place].any(axis=1)] for place in order])
        classes = classes[:, order]
        plain = np.array([len(one) == 1 for one in choices for _ in one])
        states = np.zeros((1, len(weights) + 1), np.int64)  # the last sum counts everybody
        found = np.ones((1, len(groups)), np.uint64)
        steps = np.arange(most + 1)
        for place in range(classes.shape[1]):
            weight = np.append(classes[:, place], 1)
            rest = classes[:, place + 1 :]
            next_states = states[:, None, :] + steps[None, :, None] * weight[None, None, :]
            left = most - next_states[..., -1]
            least, largest = (rest.min(axis=1), rest.max(axis=1)) if rest.shape[1] else (0 * weight[:-1], 0 * weight[:-1])
            sums = next_states[..., :-1]
            fits = left >= 0
            fits &= ((sums + left[..., None] * np.minimum(least, 0) <= high) | ~plain).all(axis=2)
            fits &= ((sums + left[..., None] * np.maximum(largest, 0) >= low) | ~plain).all(axis=2)
            origin, step = np.nonzero(fits)
            if len(origin) > 4 * MOST_STATES:
                raise TooLarge
            if not len(origin):
                return [0] * len(groups)
            kept = next_states[origin, step]
            keys = np.ascontiguousarray(kept.astype(np.int16)).view([("", np.int16)] * kept.shape[1]).ravel()
            _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
            if len(first) * len(groups) > 256 * MOST_STATES:
                raise TooLarge
            moved = _moved(found, origin, step, *covered[place])
            by_state = np.argsort(inverse, kind="stable")
            starts = np.searchsorted(inverse[by_state], np.arange(len(first)))
            found = np.bitwise_or.reduceat(moved[by_state], starts, axis=0)
            states = kept[first]
        within = (states[:, :-1] >= low) & (states[:, :-1] <= high)
        whole = np.ones(len(states), np.bool_)
        start = 0
        for one in choices:
            whole &= within[:, start : start + len(one)].any(axis=1)
            start += len(one)
        if not whole.any():
            return [0] * len(groups)
        bits: Any = np.bitwise_or.reduce(found[whole], axis=0)
        return [int(one) for one in bits]

    def _distinct(self) -> tuple[Whole, Whole, Whole, list[list[int]]]:
        """The rows, plain ones about the same cells as one; those with a choice as they are, in the order of the choices."""
        plain: dict[bytes, int] = {}
        rows: list[Whole] = []
        low: list[int] = []
        high: list[int] = []
        choices: list[list[int]] = []
        for places in self.choices:
            key = self.rows[places[0]].tobytes()
            if len(places) == 1 and key in plain:
                place = plain[key]
                low[place] = max(low[place], self.lo[places[0]])
                high[place] = min(high[place], self.hi[places[0]])
                continue
            if len(places) == 1:
                plain[key] = len(rows)
            choices.append(list(range(len(rows), len(rows) + len(places))))
            rows += [self.rows[place] for place in places]
            low += [self.lo[place] for place in places]
            high += [self.hi[place] for place in places]
        return np.array(rows), np.array(low), np.array(high), choices


def _order(classes: Whole) -> Whole:
    """Cells of which most is said come first."""
    said = (classes != 0).sum(axis=0)
    return np.asarray(np.lexsort((*classes, -said)))


def _moved(found: npt.NDArray[np.uint64], origin: Whole, step: Whole, whole: Flags, some: Flags) -> npt.NDArray[np.uint64]:
    """The sizes of the groups after so many people came: to a group that holds the whole class all of them, to one that holds a part any."""
    came = step[:, None].astype(np.uint64)
    moved = found[origin]
    shifted = moved << came
    part = np.flatnonzero(some & ~whole)
    smeared = moved[:, part]
    for more in range(1, int(step.max()) + 1):
        smeared = np.where(step[:, None] >= more, smeared | (moved[:, part] << np.uint64(more)), smeared)
    moved = np.where(whole[None, :], shifted, moved)
    moved[:, part] = smeared
    return moved


def span(bits: int) -> tuple[int, int]:
    """The smallest and the largest size among bits."""
    return (bits & -bits).bit_length() - 1, bits.bit_length() - 1
