"""Groups that one release leaves large or empty, for releases that say less.

A repaired release mostly says less than the first: whoever fits the first fits it as well. This is not taken for granted. Every line of the
repaired release is compared with what is proved about all who fit the first one; only if each of them follows do the people who refuted a
question about the first refute it here, too. They are not kept: it is enough that there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.joint.boxes import Allowed, Axis, Box, Key, Line, Problem
from tacit.joint.conditions import MissingRules
from tacit.joint.cube import OPEN, Cube, Groups
from tacit.joint.worlds import World
from tacit.model.arrays import Flags

MOST_COMPARED = 500_000  #: Most groups of other cubes that those of a cube are looked up in.


@dataclass(frozen=True, eq=False)
class Settled:
    """Groups of ``cubes`` that some people show not to be small.

    These people fit every line, as does ``world``; ``refuted`` are flags for the groups of each cube that are empty or have ``k`` members then.
    """

    k: int
    problem: Problem
    world: World
    cubes: Sequence[Cube]
    refuted: Sequence[Flags]

    @classmethod
    def of(cls, k: int, world: World, groups: Sequence[Groups], doubtful: Iterable[Mapping[int, int]]) -> Settled:
        """Return what a search has settled; ``doubtful`` boxes were asked about, and not refuted."""
        cubes = [one.cube for one in groups]
        refuted = [(one.asked & ~one.small) | (one.cube.hi <= 0) | (one.cube.lo >= k) for one in groups]
        for box in doubtful:
            for cube, flags in zip(cubes, refuted, strict=True):
                if (group := cube.find_group(box)) is not None:
                    flags[group] = False
        return cls(k, world.problem, world, cubes, refuted)

    def implies(self, problem: Problem) -> bool:
        """Tell if whoever fits this problem is proved to fit another one."""
        if problem.conditions and not self._has_conditions_of(problem):
            return False
        known: dict[tuple[Key, Allowed], int | None] = {}
        return all(self._implies_line(line, known) for line in problem.lines)

    def _has_conditions_of(self, problem: Problem) -> bool:
        """Tell if another problem has conditions of this one, over the same values."""
        said = [one.says for one in self.problem.conditions if isinstance(one, MissingRules)]
        is_known = all(isinstance(one, MissingRules) and one.says in said for one in problem.conditions)
        return is_known and [(axis.key, axis.classes) for axis in problem.axes] == [
            (axis.key, axis.classes) for axis in self.problem.axes
        ]

    def _implies_line(self, line: Line, known: dict[tuple[Key, Allowed], int | None]) -> bool:
        least = 0
        most = 0
        for factor, box in line.terms:
            lo, hi = self._bounds(box, known)
            ends = (factor * lo, factor * hi)
            least += min(ends)
            most += max(ends)
        # Half of OPEN stands for no bound.
        is_above = line.lo is None or (least >= line.lo and least > -OPEN // 2)
        return is_above and (line.hi is None or (most <= line.hi and most < OPEN // 2))

    def _bounds(self, box: Box, known: dict[tuple[Key, Allowed], int | None]) -> tuple[int, int]:
        masks: dict[int, int] = {}
        for part in box.items():
            if part not in known:
                known[part] = self._mask(*part)
            mask = known[part]
            if mask is None:
                return 0, OPEN
            masks[self.problem.place[part[0]]] = mask
        lo = 0
        hi = OPEN
        holding = set.intersection(*(self._having.get(place, set()) for place in masks)) if masks else range(len(self.cubes))
        for number in sorted(holding):
            cube = self.cubes[number]
            group = cube.find_group(masks)
            if group is not None:
                lo = max(lo, int(cube.lo[group]))
                hi = min(hi, int(cube.hi[group]))
            if lo == hi:
                break
        return lo, hi

    @cached_property
    def _having(self) -> dict[int, set[int]]:
        """Cubes by the axes that they have."""
        found: dict[int, set[int]] = {}
        for number, cube in enumerate(self.cubes):
            for place in cube.chosen:
                found.setdefault(place, set()).add(number)
        return found

    def _mask(self, key: Key, allowed: Allowed) -> int | None:
        place = self.problem.place.get(key)
        return None if place is None else translate(self.problem.axes[place], allowed)

    def refute(self, cube: Cube, asked: Flags) -> Flags:
        """Return groups of an implied problem's cube that are not small, as far as ``asked``."""
        found = np.zeros(len(cube.lo), np.bool_)
        keys = {axis.key for axis in cube.axes}
        order = sorted(
            zip(self.cubes, self.refuted, strict=True), key=lambda one: -len(keys & {axis.key for axis in one[0].axes})
        )
        compared = 0
        for mine, flags in order:
            compared += len(cube.lo)
            if compared > max(MOST_COMPARED, len(cube.lo)) or found[asked].all():
                break
            found |= _refuted_in(cube, mine, flags)
        return found


def _refuted_in(cube: Cube, mine: Cube, flags: Flags) -> Flags:
    """Return the groups of a cube that another one has, and that are refuted there."""
    stride_of = {axis.key: (axis, stride) for axis, stride in zip(mine.axes, mine.strides, strict=True)}
    place = np.full(cube.shape, sum(axis.everything * stride for axis, stride in stride_of.values()), np.int64)
    has_place = np.ones(cube.shape, np.bool_)
    for position, axis in enumerate(cube.axes):
        along = tuple(-1 if position == other else 1 for other in range(len(cube.shape)))
        moves = np.zeros(len(axis.slots), np.int64)
        has_slot = np.ones(len(axis.slots), np.bool_)
        own, stride = stride_of.get(axis.key, (None, 0))
        for slot, mask in enumerate(axis.slots):
            if slot != axis.everything:
                found = None if own is None else translate(own, axis.allowed(mask))
                same = None if own is None or found is None else own.slot_of.get(found)
                has_slot[slot] = same is not None
                moves[slot] = 0 if own is None or same is None else (same - own.everything) * stride
        place += moves.reshape(along)
        has_place &= has_slot.reshape(along)
    return np.asarray(has_place.ravel() & flags[np.where(has_place, place, 0).ravel()])


def translate(axis: Axis, allowed: Allowed) -> int | None:
    """Return values as classes of an axis, or None if they divide one."""
    mask = 0
    named = {value for values in axis.classes for value in values}
    if not allowed.values <= named:
        return None
    for place, values in enumerate(axis.classes):
        inside = {(value in allowed.values) != allowed.excluded for value in values}
        if len(inside) > 1:
            return None
        mask |= inside.pop() << place
    return mask
