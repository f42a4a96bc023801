"""Bounds on the number of people in every group of a cube, tightened until nothing moves, with a log from which each can be proved.

A cube has an axis for every column: its values, and "anything". One rule moves all bounds: a group is the sum of its parts along an axis. A
line about several groups, such as a ratio of two, moves bounds as well, and there people are whole numbers, so that it may round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Axis
from tacit.attacks.joint.lines import Problem

Whole = npt.NDArray[np.int64]
End = Literal["lo", "hi"]

#: No count is larger; bounds above half of it mean "not bounded".
OPEN = 2**50
#: After so many rounds the bounds are taken as they are: they are true at any time.
MOST_ROUNDS = 200


class Part(NamedTuple):
    """A bound that a move used: of which group, as its distance from the one that moved, its opposite end or the same, how many times."""

    distance: int
    opposite: bool
    times: Fraction | int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Bounds that were taken over from another cube as they stood after so many of its moves, by group here and there."""

    cube: Cube
    moves: int
    groups: Mapping[int, int]


class Move(NamedTuple):
    """One tightening of many groups at once: by a line, by a sum along an axis, or from another cube.

    ``line`` is -1 for sums; ``weight`` is how often the line is added for a lower bound on the group, of a negative group for an upper one, and
    ``printed`` what its end adds.
    """

    end: End
    line: int
    parts: tuple[Part, ...]
    weight: Fraction | int = 0
    printed: Fraction | int = 0
    taken: Taken | None = None


class Term(NamedTuple):
    """A group of a line about several, with its coefficient."""

    factor: int
    group: int


@dataclass(eq=False)
class Cube:
    """The groups over some axes of a problem: bounds ``lo`` and ``hi`` for every combination of slots, and the log of what moved them."""

    problem: Problem
    chosen: tuple[int, ...]
    lo: Whole = field(init=False)
    hi: Whole = field(init=False)
    moves: list[Move] = field(default_factory=list)
    moved: list[tuple[Whole, Whole]] = field(default_factory=list)
    clash: int = -1
    _mixed: list[tuple[int, tuple[Term, ...]]] = field(default_factory=list)
    _seen: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shape = tuple(len(axis.slots) for axis in self.axes)
        size = int(np.prod(self.shape, dtype=np.int64))
        self.lo, self.hi = np.zeros(size, np.int64), np.full(size, OPEN, np.int64)
        strides = np.cumprod([1, *self.shape[:0:-1]])[::-1]
        self.strides = [int(stride) for stride in strides][: len(self.shape)]

    @cached_property
    def axes(self) -> list[Axis]:
        """The axes of this cube."""
        return [self.problem.axes[place] for place in self.chosen]

    def slots(self, group: int) -> tuple[int, ...]:
        """The slot of a group on every axis."""
        return tuple(int(slot) for slot in np.unravel_index(group, self.shape))

    def box(self, group: int) -> dict[int, int]:
        """The classes that a group allows, by axis of the problem; axes on which it allows all are left out."""
        chosen = zip(self.chosen, self.axes, self.slots(group), strict=True)
        return {place: axis.slots[slot] for place, axis, slot in chosen if slot != axis.everything}

    def group(self, masks: Mapping[int, int]) -> int | None:
        """The group that allows these classes by axis; None where it needs an axis that this cube has not."""
        if not masks.keys() <= self._has:
            return None
        place = 0
        for number, axis, stride in zip(self.chosen, self.axes, self.strides, strict=True):
            slot = axis.everything if number not in masks else axis.slot_of[masks[number]]
            place += slot * stride
        return place

    def holds(self, line: int) -> bool:
        """Whether all groups of a line are in this cube."""
        return all(masks.keys() <= self._has for _, masks in self.problem.boxes[line])

    @cached_property
    def _has(self) -> frozenset[int]:
        return frozenset(self.chosen)

    def tighten(self, lines: Sequence[int], check: Callable[[], None]) -> None:
        """Take these lines in, and let bounds move until nothing changes; ``clash`` is a group that no number fits, or -1."""
        self._take_in(lines)
        self.settle(check)

    def settle(self, check: Callable[[], None]) -> None:
        """Let bounds move until nothing changes."""
        for _ in range(MOST_ROUNDS):
            before = len(self.moves)
            for line, terms in self._mixed:
                self._use_line(line, terms)
            for position, axis in enumerate(self.axes):
                check()
                for whole, parts in axis.sums:
                    self._sum(position, whole, parts)
                if self.clash >= 0:
                    return
            if len(self.moves) == before or self.clash >= 0:
                return

    def take_over(self, taken: Taken, end: End, places: Whole, values: Whole) -> None:
        """Use bounds that another cube has shown."""
        self._move(Move(end, -1, (), taken=taken), places, values)

    def _take_in(self, lines: Sequence[int]) -> None:
        for number in lines:
            if not self.holds(number):
                continue
            terms = tuple(Term(factor, self.group(masks) or 0) for factor, masks in self.problem.boxes[number])
            if len(terms) > 1:
                self._mixed.append((number, terms))
            else:
                self._use_line(number, terms)

    def _use_line(self, number: int, terms: tuple[Term, ...]) -> None:
        """Bound each group of a line by the line and by what bounds its other groups."""
        known = tuple(int(bounds[term.group]) for term in terms for bounds in (self.lo, self.hi))
        if self._seen.get(number) == known:
            return
        for place, term in enumerate(terms):
            others = terms[:place] + terms[place + 1 :]
            self._bound(number, term, others, "lo")
            self._bound(number, term, others, "hi")
        self._seen[number] = tuple(int(bounds[term.group]) for term in terms for bounds in (self.lo, self.hi))

    def _bound(self, number: int, term: Term, others: tuple[Term, ...], end: End) -> None:
        """Use ``lo <= sum <= hi`` of a line for one end of one of its groups."""
        sign = 1 if end == "lo" else -1
        positive = (sign > 0) == (term.factor > 0)
        line = self.problem.lines[number]
        printed = line.lo if positive else line.hi
        if printed is None:
            return
        # Times the coefficient all numbers are whole: |a| * (sign * people) >= +-printed + the others at their worst.
        size, reached, parts = abs(term.factor), printed if positive else -printed, []
        for factor, group in others:
            adds = -factor if positive else factor
            used = int(self.lo[group] if adds > 0 else self.hi[group])
            if used >= OPEN // 2:
                return
            reached += adds * used
            parts.append((group - term.group, (adds > 0) == (end == "hi"), abs(adds)))
        value = sign * -(-reached // size)
        known = int((self.lo if sign > 0 else self.hi)[term.group])
        if (value <= known) if sign > 0 else (value >= known or value >= OPEN // 2):
            return
        used_parts = tuple(Part(distance, opposite, Fraction(times, size)) for distance, opposite, times in parts)
        weight = Fraction(1 if positive else -1, size)
        move = Move(end, number, used_parts, weight, weight * printed)
        self._move(move, np.array([term.group]), np.array([value]))

    def _sum(self, position: int, whole: int, parts: tuple[int, ...]) -> None:
        """Use that a slot of an axis is the sum of others, for all groups along it at once."""
        stride = self.strides[position]
        at = self._first[position]
        wholes, pieces = at + whole * stride, [at + part * stride for part in parts]
        lows: Any = sum(self.lo[piece] for piece in pieces)
        highs: Any = sum(self.hi[piece] for piece in pieces)
        from_parts = tuple(Part((part - whole) * stride, False) for part in parts)
        self._move(Move("lo", -1, from_parts), wholes, lows)
        self._move(Move("hi", -1, from_parts), wholes, highs)
        for part, piece in zip(parts, pieces, strict=True):
            low, high = self.lo[piece], self.hi[piece]
            better = self.lo[wholes] - (highs - high), self.hi[wholes] - (lows - low)
            if not ((better[0] > low).any() or (better[1] < high).any()):
                continue
            others = (Part((other - part) * stride, True) for other in parts if other != part)
            used = (Part((whole - part) * stride, False), *others)
            self._move(Move("lo", -1, used), piece, better[0])
            # The lower bound of this part may have moved just now; its own end is no part of the rest.
            self._move(Move("hi", -1, used), piece, better[1])
            lows, highs = lows + self.lo[piece] - low, highs + self.hi[piece] - high

    @cached_property
    def _first(self) -> list[Whole]:
        """For every axis, the groups with its first slot, all combinations of the other axes."""
        grid = np.arange(len(self.lo), dtype=np.int64).reshape(self.shape)
        return [np.take(grid, 0, axis=position).ravel() for position in range(len(self.shape))]

    def _move(self, move: Move, places: Whole, values: Whole) -> None:
        low = move.end == "lo"
        better = values > self.lo[places] if low else (values < self.hi[places]) & (values < OPEN // 2)
        if not better.any():
            return
        chosen, reached = places[better], values[better]
        (self.lo if low else self.hi)[chosen] = reached
        self.moves.append(move)
        self.moved.append((chosen, reached))
        empty = np.flatnonzero(self.lo[chosen] > self.hi[chosen])
        if len(empty) and self.clash < 0:
            self.clash = int(chosen[empty[0]])
