"""Remainders: people of a group who have none of the values that lines count within it, or none of those whose numbers follow.

Slots of the cubes are chosen before bounds are known, and leave sets of values out where columns are wide. Each remainder is looked at by itself
here: the group less its parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from tacit.joint.boxes import Problem, item_event
from tacit.joint.cube import Cube, End, Prover, Step
from tacit.joint.lower import MOST_PRECISIONS
from tacit.model.finding import ItemEvent

Masks = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Remainder:
    """People of a cube's group ``whole`` who are in none of the disjoint ``parts``, with the fewest and the most of them."""

    number: int
    whole: int
    parts: tuple[int, ...]
    axis: int
    box: Masks
    lo: int
    hi: int

    def event(self, problem: Problem) -> ItemEvent | None:
        """Return the group as an event over items, or None."""
        axes = list(problem.axes)
        own = axes[self.axis]
        axes[self.axis] = replace(own, slots=(*own.slots[:-1], self.box[self.axis], own.slots[-1]))
        slots = [axis.slot_of[self.box.get(place, axis.slots[-1])] for place, axis in enumerate(axes)]
        return item_event(axes, slots, problem.members)

    def has_small_part(self, cube: Cube, k: int) -> bool:
        """Tell if some of its values has a small group by itself."""
        rest = self.box[self.axis]
        slots = (mask for mask in cube.problem.axes[self.axis].slots if mask & rest == mask)
        groups = [group for mask in slots if (group := cube.group({**self.box, self.axis: mask})) is not None]
        return any(cube.lo[group] > 0 and cube.hi[group] < k for group in groups)

    def proofs(self, prover: Prover) -> tuple[Sequence[Step], Sequence[Step]]:
        """Return the steps that prove both bounds."""
        return self._proof(prover, "lo", "hi"), self._proof(prover, "hi", "lo")

    def _proof(self, prover: Prover, end: End, opposite: End) -> Sequence[Step]:
        used = [(self.number, self.whole, end), *((self.number, part, opposite) for part in self.parts)]
        return prover.order_steps([prover.add_up(self.box, end, self.lo if end == "lo" else self.hi, used)])


#: Axes and classes of a group without one axis, and that axis.
_Family = tuple[tuple[tuple[int, int], ...], int]


def list_remainders(problem: Problem, cubes: Sequence[Cube]) -> Iterator[Remainder]:
    """Yield the remainders of lines along columns, unless they are slots of the axis."""
    families: dict[_Family, list[tuple[float, int]]] = defaultdict(list)
    holding: dict[frozenset[int], int | None] = {}
    for line, terms in zip(problem.lines, problem.boxes, strict=True):
        if len(terms) > 1 or terms[0][0] != 1:
            continue
        masks = terms[0][1]
        axes = frozenset(masks)
        if axes not in holding:
            holding[axes] = next((number for number, cube in enumerate(cubes) if axes <= set(cube.chosen)), None)
        if holding[axes] is None:
            continue
        width = inf if line.lo is None or line.hi is None else line.hi - line.lo
        for place, mask in masks.items():
            if problem.axes[place].key.kind == "column":
                others = tuple(sorted((other, one) for other, one in masks.items() if other != place))
                families[others, place].append((width, mask))
    for (others, place), counted in families.items():
        number = holding[frozenset([place, *(other for other, _ in others)])]
        if len(counted) > 1 and number is not None:
            yield from _Context(cubes[number], number, dict(others), place).remainders(counted)


class _Context:
    """A group of a cube, and its parts along one axis."""

    def __init__(self, cube: Cube, number: int, whole: Masks, place: int) -> None:
        self.number = number
        self.whole = whole
        self.place = place
        self.axis = cube.problem.axes[place]
        top = cube.group(whole)
        assert top is not None
        stride = cube.strides[cube.chosen.index(place)]
        groups = top + (np.arange(len(self.axis.slots)) - self.axis.everything) * stride
        self.lo: list[int] = cube.lo[groups].tolist()
        self.hi: list[int] = cube.hi[groups].tolist()
        self.group: list[int] = groups.tolist()

    def remainders(self, counted: Iterable[tuple[float, int]]) -> Iterator[Remainder]:
        """Yield what numbers that follow leave over, and what is left without the most precise printed ones as well."""
        slots = self.axis.slots
        # A number that follows from others is as good as a printed one. To leave out nobody would change nothing.
        known = [slot for slot in range(self.axis.everything) if self.lo[slot] == self.hi[slot] > 0]
        parts, union = self._add([], 0, sorted(known, key=lambda slot: (slots[slot].bit_count(), slot)))
        seen = set[int]()
        for slot in (self.axis.everything, *known):
            inside = [part for part in parts if slots[part] & slots[slot] == slots[part] and part != slot]
            yield from self._subtract(slot, inside, seen)
        widths: dict[float, list[int]] = defaultdict(list)
        for width, mask in counted:
            widths[width].append(self.axis.slot_of[mask])
        for width in sorted(widths)[:MOST_PRECISIONS]:
            # Large parts first: smaller ones inside them leave nothing else over.
            parts, union = self._add(parts, union, sorted(widths[width], key=lambda slot: (-slots[slot].bit_count(), slot)))
            yield from self._subtract(self.axis.everything, parts, seen)

    def _add(self, parts: list[int], union: int, slots: Iterable[int]) -> tuple[list[int], int]:
        """Return the parts with those of the slots that share nobody with others."""
        parts = list(parts)
        for slot in slots:
            if not union & self.axis.slots[slot]:
                union |= self.axis.slots[slot]
                parts.append(slot)
        return parts, union

    def _subtract(self, slot: int, parts: Sequence[int], seen: set[int]) -> Iterator[Remainder]:
        rest = self.axis.slots[slot] - sum(self.axis.slots[part] for part in parts)
        if not parts or not rest or rest in self.axis.slot_of or rest in seen:
            return
        seen.add(rest)
        lo = self.lo[slot] - sum(self.hi[part] for part in parts)
        hi = self.hi[slot] - sum(self.lo[part] for part in parts)
        held = tuple(self.group[part] for part in parts)
        box = {**self.whole, self.place: rest}
        yield Remainder(self.number, self.group[slot], held, self.place, box, lo=max(lo, 0), hi=hi)
