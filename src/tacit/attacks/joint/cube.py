"""Bounds on the number of people in every group of a cube, tightened until nothing moves, with a log from which each can be proved.

A cube has an axis for every column: its values, and "anything". One rule moves all bounds: a group is the sum of its parts along an axis. A
ratio of two groups moves bounds as well, and there people are whole numbers, so that it may round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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


class Move(NamedTuple):
    """One tightening of many groups at once: by a line, by a sum along an axis, or by a ratio.

    ``parts`` are the groups whose bounds it used, as distances from the group that moved; ``other`` says for which of them the opposite end was
    used. ``line`` is -1 for sums.
    """

    end: End
    line: int
    parts: tuple[tuple[int, bool], ...]
    factors: tuple[int, int, int] = (1, 1, 0)


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

    def __post_init__(self) -> None:
        self.shape = tuple(len(axis.slots) for axis in self.axes)
        size = int(np.prod(self.shape, dtype=np.int64))
        self.lo, self.hi = np.zeros(size, np.int64), np.full(size, OPEN, np.int64)
        strides = np.cumprod([1, *self.shape[:0:-1]])[::-1]
        self.strides = [int(stride) for stride in strides][: len(self.shape)]

    @property
    def axes(self) -> list[Axis]:
        """The axes of this cube."""
        return [self.problem.axes[place] for place in self.chosen]

    def slots(self, group: int) -> tuple[int, ...]:
        """The slot of a group on every axis."""
        return tuple(int(slot) for slot in np.unravel_index(group, self.shape))

    def group(self, masks: Mapping[int, int]) -> int | None:
        """The group that allows these classes by axis; None where it needs an axis that this cube has not."""
        if not masks.keys() <= set(self.chosen):
            return None
        place = 0
        for number, axis, stride in zip(self.chosen, self.axes, self.strides, strict=True):
            slot = axis.everything if number not in masks else axis.slot_of[masks[number]]
            place += slot * stride
        return place

    def tighten(self, lines: Sequence[int], check: Callable[[], None]) -> None:
        """Take these lines in, and let bounds move until nothing changes; ``clash`` is a group that no number fits, or -1."""
        ratios = self._take_in(lines)
        for _ in range(MOST_ROUNDS):
            before = len(self.moves)
            for line, (first, a), (second, b), least in ratios:
                self._ratio(line, first, a, second, b, least)
            for position, axis in enumerate(self.axes):
                check()
                for whole, parts in axis.sums:
                    self._sum(position, whole, parts)
                if self.clash >= 0:
                    return
            if len(self.moves) == before or self.clash >= 0:
                return

    def _take_in(self, lines: Sequence[int]) -> list[tuple[int, tuple[int, int], tuple[int, int], int]]:
        ratios = []
        for number in lines:
            line = self.problem.lines[number]
            groups = [(self.group(masks), factor) for factor, masks in self.problem.boxes[number]]
            if any(group is None for group, _ in groups):
                continue
            places = [(int(group or 0), factor) for group, factor in groups]
            if len(places) == 2:
                (first, a), (second, b) = places
                ratios.append((number, (first, a), (second, -b), line.lo or 0))
                continue
            place = np.array([places[0][0]])
            ends: tuple[tuple[End, int | None], ...] = (("lo", line.lo), ("hi", line.hi))
            for end, bound in ends:
                if bound is not None:
                    self._move(Move(end, number, ()), place, np.array([bound]))
        return ratios

    def _ratio(self, line: int, first: int, a: int, second: int, b: int, least: int) -> None:
        """Use ``a * first - b * second >= least``."""
        low = -(-(b * int(self.lo[second]) + least) // a)
        self._move(Move("lo", line, ((second - first, False),), (a, b, least)), np.array([first]), np.array([low]))
        if self.hi[first] < OPEN // 2:
            high = (a * int(self.hi[first]) - least) // b
            self._move(Move("hi", line, ((first - second, False),), (b, a, least)), np.array([second]), np.array([high]))

    def _sum(self, position: int, whole: int, parts: tuple[int, ...]) -> None:
        """Use that a slot of an axis is the sum of others, for all groups along it at once."""
        stride = self.strides[position]
        at = self._first[position]
        wholes, pieces = at + whole * stride, [at + part * stride for part in parts]
        lows: Any = sum(self.lo[piece] for piece in pieces)
        highs: Any = sum(self.hi[piece] for piece in pieces)
        from_parts = tuple(((part - whole) * stride, False) for part in parts)
        self._move(Move("lo", -1, from_parts), wholes, lows)
        self._move(Move("hi", -1, from_parts), wholes, highs)
        for part, piece in zip(parts, pieces, strict=True):
            others = [(other, place) for other, place in zip(parts, pieces, strict=True) if other != part]
            used = (((whole - part) * stride, False), *(((other - part) * stride, True) for other, _ in others))
            rest_high: Any = sum(self.hi[place] for _, place in others)
            rest_low: Any = sum(self.lo[place] for _, place in others)
            self._move(Move("lo", -1, used), piece, self.lo[wholes] - rest_high)
            self._move(Move("hi", -1, used), piece, self.hi[wholes] - rest_low)

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
