"""Ranges of hidden cells, and the published lines that narrow them.

A cell is protected if its range reaches far enough down and up. Bounds of groups prove most of what is told at once; linear programs settle
the rest: people who fit all lines and of whom few, or many, are in a cell show that its range reaches there, and dual weights prove that it
does not. Only worlds of whole people count as protection; what neither is proved nor shown is counted as open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from tacit.joint.boxes import Allowed, Box, Key, Problem
from tacit.joint.cube import End, Prover, Step, make_cubes, tighten_cubes
from tacit.joint.lower import lower, relate_populations
from tacit.joint.programs import MOST_CELLS, MOST_ENTRIES, NEAR, Solver
from tacit.joint.readers import cell_values
from tacit.joint.words import lines_of
from tacit.joint.worlds import Masks, Rows, count_cells, membership_matrix
from tacit.model.arrays import Flags, Floats
from tacit.model.frequencies import numbered_tables
from tacit.model.people import People
from tacit.model.policy import Limits
from tacit.model.release import Release

Cite = Callable[[Iterable[Step]], frozenset["Place"]]
Place = tuple[int, int | str]  #: A published line: the number of its release, and its place there.
MOST_ASKED = 400  #: Most cells that programs are asked about one by one in each round.
MOST_TOLD = 200  #: Most proofs of programs in one round: others follow once these are broken.
MOST_IDLE = 2  #: Most rounds in a row that show nothing new.
MOST_ROUNDS = 40  #: Most pairs of programs about all open cells together.
MOST_WHOLE = 400  #: Most worlds of whole people that are searched for one by one.
CODE = "suppress"


@dataclass(frozen=True, slots=True)
class Need:
    """Range that a cell must have: down to ``low``, up to ``high``.

    With ``either``, one of the two is enough. An end that is None is not asked for. What ``may_be_dropped`` is not asked for if nothing helps.
    """

    release: int
    index: int
    low: int | None
    high: int | None
    either: bool = False
    may_be_dropped: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """Cell whose range is too narrow, and the lines that prove it."""

    need: Need
    cited: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Cells that are told too narrowly, and the number left open."""

    told: tuple[Told, ...]
    open: int = 0


def find_told(
    releases: Sequence[Release], people: People, population: Sequence[int] | None, needs: Sequence[Need], limits: Limits
) -> Ranges:
    """Return the cells whose ranges are proved too narrow."""
    if not needs:
        return Ranges(())
    problem = lower(releases, people, population, plain=True)
    scopes = relate_populations(releases, people, population).scopes
    search = _Search(problem, _boxes(releases, needs, scopes), needs, limits)
    told = search.by_bounds()
    if told:
        return Ranges(tuple(told))
    return search.by_programs()


def _boxes(releases: Sequence[Release], needs: Sequence[Need], scopes: Sequence[Box]) -> list[Box]:
    tables = numbered_tables(releases)
    found: list[Box] = []
    for need in needs:
        values = cell_values(tables[need.release], need.index)
        found.append({**{Key("column", name): Allowed(own) for name, own in values.items()}, **scopes[need.release]})
    return found


@dataclass(eq=False)
class _Search:
    problem: Problem
    boxes: Sequence[Box]
    needs: Sequence[Need]
    limits: Limits
    masks: list[dict[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.masks = [self.problem.masks(box) for box in self.boxes]

    def _check(self) -> None:
        self.limits.check(CODE)

    def _cite(self, steps: Iterable[Step]) -> frozenset[Place]:
        origins = (self.problem.lines[number].origin for number in lines_of(list(steps)))
        return frozenset((origin.release, origin.place) for origin in origins)

    def by_bounds(self) -> list[Told]:
        """Return the cells that sums of lines tell."""
        cubes, _, _ = make_cubes(self.problem)
        tighten_cubes(cubes, self._check)
        prover = Prover(cubes)
        told = []
        for need, masks in zip(self.needs, self.masks, strict=True):
            for number, cube in enumerate(cubes):
                group = cube.group(masks) if masks.keys() <= set(cube.chosen) else None
                if group is None:
                    continue
                ends = _missed(need, int(cube.lo[group]), int(cube.hi[group]))
                if ends:
                    told.append(Told(need, self._cite(step for end in ends for step in prover.prove(number, group, end))))
                    break
        return told

    def by_programs(self) -> Ranges:
        """Return the cells that dual weights tell; the others have worlds, or are open."""
        everything = tuple(range(len(self.problem.axes)))
        if count_cells(self.problem.axes) > MOST_CELLS:
            return Ranges((), len(self.needs))
        rows = Rows.of(self.problem, everything)
        if rows.entries > MOST_ENTRIES:
            return Ranges((), len(self.needs))
        return _Programs(rows, self.masks, self.needs, self.limits, self._cite).settle()


def _missed(need: Need, lo: int, hi: int) -> tuple[End, ...]:
    """Return the ends that the range of a cell does not reach, if it needs them."""
    low = need.low is not None and lo > need.low
    high = need.high is not None and hi < need.high
    if need.either:
        return ("lo", "hi") if low and high else ()
    return ("lo",) if low else ("hi",) if high else ()


class _Programs:
    """Ends of ranges: shown by whole people, shown by fractions of people, told, or open.

    Flags have a row for each cell, and a column for each of its two ends.
    """

    def __init__(self, rows: Rows, masks: Sequence[Masks], needs: Sequence[Need], limits: Limits, cite: Cite) -> None:
        self.rows = rows
        self.masks = masks
        self.needs = needs
        self.cite = cite
        self.solver = Solver(rows, limits)
        self.inside = membership_matrix(rows.cells, masks)
        self.asked: Flags = np.array([(need.low is not None, need.high is not None) for need in needs])
        self.limit = np.array([(need.low or 0, need.high or 0) for need in needs])
        self.either = np.array([need.either for need in needs])
        self.whole: Flags = np.zeros_like(self.asked)
        self.reached: Flags = np.zeros_like(self.asked)
        self.told: Flags = np.zeros_like(self.asked)

    def settle(self) -> Ranges:
        """Prove what is told; otherwise count the cells that no world of whole people protects."""
        self._weigh(self.reached)
        told = self._ask()
        if told:
            return Ranges(tuple(told))
        self._find_worlds()
        return Ranges((), int(self._left(self.whole).any(axis=1).sum()))

    def _left(self, known: Flags) -> Flags:
        """Return the ends that are still to be shown."""
        left = self.asked & ~known & ~self.told
        left[self.either & (known & self.asked).any(axis=1)] = False
        return left

    def _look_at(self, people: Floats) -> None:
        counts = self.inside @ people
        self.reached |= np.stack((counts <= self.limit[:, 0] + NEAR, counts >= self.limit[:, 1] - NEAR), axis=1)
        world = np.rint(people).astype(np.int64)
        if np.abs(people - world).max(initial=0) < NEAR and self.rows.fits(world):
            whole = np.rint(self.inside @ world)
            self.whole |= np.stack((whole <= self.limit[:, 0], whole >= self.limit[:, 1]), axis=1)

    def _weigh(self, known: Flags) -> None:
        """Move all open cells down, then up, in one program each, until nothing more is shown."""
        still = 0
        for turn in range(MOST_ROUNDS):
            before = self._left(known)
            if not before.any() or still > MOST_IDLE:
                return
            costs = []
            for end, sign in ((0, 1.0), (1, -1.0)):
                chosen = before[:, end].astype(np.float64)
                if still:  # a part of the cells: pseudo-random, but the same for the same input
                    chosen *= (np.arange(len(chosen)) * 2654435761 >> (turn % 13 + 8)) & 1
                if chosen.any():
                    costs.append(sign * (chosen @ self.inside))
            for best in self.solver.search.least_of(costs):
                if best is not None:
                    self._look_at(best.people)
            still = 0 if self._left(known).sum() < before.sum() else still + 1

    def _ask(self) -> list[Told]:
        """Ask about cells one by one, and return those that are told."""
        told: list[Told] = []
        asked = 0
        for number in np.flatnonzero(self._left(self.reached).any(axis=1)).tolist():
            need = self.needs[number]
            cited: list[frozenset[Place]] = []
            for end, sign in ((0, 1), (1, -1)):
                if not self.asked[number, end] or self.reached[number, end]:
                    continue
                asked += 1
                found = self._prove(number, end, sign)
                if found is not None:
                    self.told[number, end] = True
                    cited.append(found)
            if need.either and len(cited) == 2:
                told.append(Told(need, cited[0] | cited[1]))
            elif not need.either:
                told += [Told(need, one) for one in cited]
            if asked >= MOST_ASKED or len(told) >= MOST_TOLD:
                break
        return told

    def _prove(self, number: int, end: int, sign: int) -> frozenset[Place] | None:
        """Return the lines that tell an end, or None if it is reached or open."""
        masks = self.masks[number]
        group = self.rows.cells.inside(masks)
        best = self.solver.least(self.solver.cost(group, sign))
        if best is None:
            return None
        self._look_at(best.people)
        if self.reached[number, end]:
            return None
        proof = self.rows.certify(group, sign, best.weights, ceil(best.value - NEAR))
        limit = int(self.limit[number, end])
        if proof is None or (proof[0] <= limit if end == 0 else -proof[0] >= limit):
            return None
        return self.cite([Step(masks, "lo" if end == 0 else "hi", sign * proof[0], proof[1])])

    def _find_worlds(self) -> None:
        """Search for whole people where only fractions of people are known."""
        self._weigh(self.whole)
        for number in np.flatnonzero(self._left(self.whole).any(axis=1)).tolist()[:MOST_WHOLE]:
            group = self.rows.cells.inside(self.masks[number])
            for end, sign in ((0, 1), (1, -1)):
                if not self._left(self.whole)[number, end]:
                    continue
                world = self.solver.world(self.solver.cost(group, sign))
                if world is not None:
                    self._look_at(world.astype(np.float64))
