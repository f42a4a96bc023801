"""Remainders: people of a group who have none of the values that lines count within it.

Where all sets of values are slots of the cubes, these groups are among them. Columns that are too wide for that leave them out, so that each is
looked at by itself here: the group less its parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from tacit.joint.boxes import MEMBER, Problem, item_event
from tacit.joint.cube import Cube, End, Prover, Step
from tacit.joint.lower import MOST_PRECISIONS
from tacit.model.finding import ItemEvent

Masks = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Remainder:
    """People of ``whole`` who are in none of the disjoint ``parts``, which differ along one axis."""

    whole: Masks
    axis: int
    parts: tuple[int, ...]
    box: Masks

    def part(self, mask: int) -> Masks:
        """Return a part as a box."""
        return {**self.whole, self.axis: mask}

    def event(self, problem: Problem) -> ItemEvent | None:
        """Return the group as an event over items, or None."""
        axes = list(problem.axes)
        own = axes[self.axis]
        axes[self.axis] = replace(own, slots=(*own.slots[:-1], self.box[self.axis], own.slots[-1]))
        slots = [axis.slot_of[self.box.get(place, axis.slots[-1])] for place, axis in enumerate(axes)]
        return item_event(axes, slots, problem.members)


def list_remainders(problem: Problem) -> Iterator[Remainder]:
    """Yield the remainders of lines along columns, unless they are slots of the axis."""
    counted: dict[tuple[int, tuple[tuple[int, int], ...]], list[tuple[float, int]]] = defaultdict(list)
    for line, terms in zip(problem.lines, problem.boxes, strict=True):
        if len(terms) > 1 or terms[0][0] != 1:
            continue
        width = inf if line.lo is None or line.hi is None else line.hi - line.lo
        masks = terms[0][1]
        for place, mask in masks.items():
            if problem.axes[place].key.kind == "column" and problem.axes[place].key != MEMBER:
                others = tuple(sorted((other, one) for other, one in masks.items() if other != place))
                counted[place, others].append((width, mask))
    for (place, others), parts in counted.items():
        if len(parts) > 1:
            yield from _subtract(problem, place, dict(others), parts)


def _subtract(problem: Problem, place: int, whole: Masks, counted: Sequence[tuple[float, int]]) -> Iterator[Remainder]:
    """Yield what is left without the most precise parts, then without others as well."""
    axis = problem.axes[place]
    union = 0
    parts: list[int] = []
    for width in sorted({width for width, _ in counted})[:MOST_PRECISIONS]:
        # Large parts first: smaller ones inside them leave nothing else over.
        for mask in sorted({mask for own, mask in counted if own == width}, key=lambda mask: (-mask.bit_count(), mask)):
            if not union & mask:
                union |= mask
                parts.append(mask)
        rest = axis.slots[-1] ^ union
        if len(parts) > 1 and rest and rest not in axis.slot_of:
            yield Remainder(whole, place, tuple(parts), {**whole, place: rest})


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a remainder from those of a cube's groups."""

    number: int
    whole: int
    parts: tuple[int, ...]
    lo: int
    hi: int

    def proofs(self, prover: Prover, box: Masks) -> tuple[Sequence[Step], Sequence[Step]]:
        """Return the steps that prove both bounds."""
        return self._proof(prover, box, "lo", "hi"), self._proof(prover, box, "hi", "lo")

    def _proof(self, prover: Prover, box: Masks, end: End, opposite: End) -> Sequence[Step]:
        used = [(self.number, self.whole, end), *((self.number, part, opposite) for part in self.parts)]
        return prover.order_steps([prover.add_up(box, end, self.lo if end == "lo" else self.hi, used)])


def bound(cubes: Sequence[Cube], one: Remainder) -> Bounds | None:
    """Return the bounds of a remainder, and None if no cube holds its parts."""
    for number, cube in enumerate(cubes):
        whole = cube.group(one.whole) if one.axis in cube.chosen else None
        if whole is None:
            continue
        parts = [cube.group(one.part(mask)) for mask in one.parts]
        found = tuple(part for part in parts if part is not None)
        lo = int(cube.lo[whole] - sum(cube.hi[part] for part in found))
        hi = int(cube.hi[whole] - sum(cube.lo[part] for part in found))
        return Bounds(number, whole, found, max(lo, 0), hi)
    return None


def has_small_part(cube: Cube, one: Remainder, k: int) -> bool:
    """Tell if some value of a remainder has a small group by itself."""
    rest = one.box[one.axis]
    slots = (mask for mask in cube.problem.axes[one.axis].slots if mask & rest == mask)
    groups = [group for mask in slots if (group := cube.group(one.part(mask))) is not None]
    return any(cube.lo[group] > 0 and cube.hi[group] < k for group in groups)
