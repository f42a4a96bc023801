"""A bound of a cube as weights on published lines: the log of the cube read backwards.

Adding up what each move used gives a weighted sum of lines that proves the bound, whatever the numbers of people are. Where whole numbers of
people were rounded at a ratio, what was reached there becomes a step of its own, which later ones may use like a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.cube import Cube, End, Whole

#: A line by its number, or a step by its number and "step".
Cited = tuple[str, int]
Weights = dict[Cited, Fraction]


@dataclass(frozen=True, slots=True)
class Step:
    """``people in group >= value`` (or ``<=``), by weights on lines and on earlier steps.

    Summed with their weights, these say ``people in the group >= value``, for an upper bound ``-people in the group >= -value``.
    """

    group: int
    end: End
    value: int
    weights: Weights


@dataclass(frozen=True, slots=True)
class Entry:
    """One bound of one group as it stood after a move."""

    move: int
    group: int
    end: End
    value: int


@dataclass(eq=False)
class Prover:
    """Writes proofs of the bounds of one cube."""

    cube: Cube
    _found: dict[Entry, Weights] = field(default_factory=dict)
    _steps: dict[Entry, Step] = field(default_factory=dict)

    def prove(self, group: int, end: End) -> list[Step]:
        """The steps that prove a bound of a group; the last one is about it."""
        last = self._last(group, end, len(self.cube.moves))
        if last is None:
            return [Step(group, end, 0, {})]
        order = self._needed(last)
        for entry in order:
            if entry not in self._found:
                self._found[entry] = self._weights(entry)
        if last in self._steps:
            return self._in_order([self._steps[last]])
        final = Step(group, end, last.value, self._found[last])
        return self._in_order([final])

    def _needed(self, last: Entry) -> list[Entry]:
        """The entry and all that it rests on, earliest first."""
        waiting, seen = [last], {last}
        while waiting:
            for used, _ in self._used(waiting.pop()):
                if used is not None and used not in seen:
                    seen.add(used)
                    waiting.append(used)
        return sorted(seen, key=lambda entry: entry.move)

    def _used(self, entry: Entry) -> list[tuple[Entry | None, End]]:
        """The bounds that a move used, None where it was that there cannot be fewer than no people."""
        move = self.cube.moves[entry.move]
        out: list[tuple[Entry | None, End]] = []
        for distance, opposite in move.parts:
            end: End = entry.end if not opposite else "hi" if entry.end == "lo" else "lo"
            out.append((self._last(entry.group + distance, end, entry.move), end))
        return out

    def _weights(self, entry: Entry) -> Weights:
        move = self.cube.moves[entry.move]
        a, b, least = move.factors
        sign = 1 if entry.end == "lo" else -1
        weights: Weights = {}
        reached = Fraction(0)
        scale = Fraction(b, a)
        for used, end in self._used(entry):
            if used is None:
                continue
            reached += scale * used.value * (1 if end == "lo" else -1)
            for cited, weight in self._found[used].items():
                weights[cited] = weights.get(cited, Fraction(0)) + scale * weight
        if move.line >= 0:
            cited = ("line", move.line)
            single = not move.parts
            weights[cited] = weights.get(cited, Fraction(0)) + (Fraction(sign) if single else Fraction(1, a))
            reached = Fraction(sign * entry.value) if single else reached + Fraction(least, a)
        weights = {cited: weight for cited, weight in weights.items() if weight}
        if sign * entry.value > reached:
            # Rounded to a whole person: later moves use the whole number, so this is a step by itself.
            step = Step(entry.group, entry.end, entry.value, weights)
            self._steps[entry] = step
            return {("step", id(step)): Fraction(1)}
        return weights

    def _in_order(self, wanted: Sequence[Step]) -> list[Step]:
        """The steps that these rest on, earlier ones first, numbered from 0."""
        by_id = {id(step): step for step in self._steps.values()}
        order: list[Step] = []
        places: dict[int, int] = {}

        def visit(step: Step) -> None:
            for kind, number in step.weights:
                if kind == "step" and number not in places:
                    visit(by_id[number])
            places[id(step)] = len(order)
            order.append(step)

        for step in wanted:
            visit(step)
        return [Step(step.group, step.end, step.value, _renumbered(step.weights, places)) for step in order]

    def _last(self, group: int, end: End, before: int) -> Entry | None:
        """The bound of a group as it stood before a move; None where nothing had moved it."""
        groups, moves, values = self._log[end]
        first, after = np.searchsorted(groups, [group, group + 1])
        place = int(first) + int(np.searchsorted(moves[first:after], before)) - 1
        return Entry(int(moves[place]), group, end, int(values[place])) if place >= first else None

    @cached_property
    def _log(self) -> dict[End, tuple[Whole, Whole, Whole]]:
        cube = self.cube
        found: dict[End, tuple[Whole, Whole, Whole]] = {}
        ends: tuple[End, ...] = ("lo", "hi")
        for end in ends:
            chosen = [number for number, move in enumerate(cube.moves) if move.end == end]
            groups = _joined(cube.moved[number][0] for number in chosen)
            values = _joined(cube.moved[number][1] for number in chosen)
            moves = np.repeat(np.array(chosen, np.int64), [len(cube.moved[number][0]) for number in chosen])
            order = np.lexsort((moves, groups))
            found[end] = groups[order], moves[order], values[order]
        return found


def _renumbered(weights: Weights, places: dict[int, int]) -> Weights:
    return {(kind, places[number] if kind == "step" else number): weight for (kind, number), weight in weights.items()}


def _joined(parts: Iterable[npt.NDArray[np.int64]]) -> Whole:
    listed = list(parts)
    return np.concatenate(listed) if listed else np.empty(0, np.int64)
