"""A bound of a cube as weights on published lines: the logs of cubes read backwards.

Adding up what each move used gives a weighted sum of lines that proves the bound, whatever the numbers of people are. Where whole numbers of
people were rounded at a line about several groups, what was reached there becomes a step of its own, which later ones may use like a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.cube import Cube, End, Whole
from tacit.attacks.joint.lines import Choice

#: ``("line", number)``, ``("step", number)``, or in a case of a proof by cases ``("case", depth)``.
Cited = tuple[str, int]
Weights = Mapping[Cited, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A case that is settled by weights: they prove the bound, or that nobody at all fits the case."""

    weights: Weights
    impossible: bool


@dataclass(frozen=True, slots=True, eq=False)
class Threshold:
    """The people of a box number at most ``at``, or more."""

    box: Mapping[int, int]
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A proof by cases: on either side of a threshold, or for each of two statements of which one is true."""

    by: Threshold | Choice
    fewer: Tree
    more: Tree


Tree = Leaf | Split


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """``people in box >= value`` (or ``<=``), by weights on lines and on earlier steps, or by cases.

    Summed with their weights, these say ``people in the box >= value``, for an upper bound ``-people in the box >= -value``. The box holds the
    classes it allows by axis of the problem.
    """

    box: Mapping[int, int]
    end: End
    value: int
    weights: Weights
    cases: Split | None = None


class Entry(NamedTuple):
    """One bound of one group of a cube as it stood after a move."""

    cube: int
    move: int
    group: int
    end: End
    value: int


@dataclass(eq=False)
class Prover:
    """Writes proofs of the bounds of cubes that may use each other's."""

    cubes: Sequence[Cube]
    _found: dict[Entry, dict[Cited, Fraction]] = field(default_factory=dict)
    _steps: dict[int, Step] = field(default_factory=dict)
    _logs: dict[int, dict[End, tuple[Whole, Whole, Whole]]] = field(default_factory=dict)

    def prove(self, cube: int, group: int, end: End) -> list[Step]:
        """The steps that prove a bound of a group; the last one is about it."""
        return self.in_order([self.step(cube, group, end)])

    def step(self, cube: int, group: int, end: End) -> Step:
        """A bound of a group as a step that others can cite by its identity."""
        weights, value = self._reached(cube, group, end)
        return self._as_step(self.cubes[cube].box(group), end, value, weights)

    def keep(self, step: Step) -> Step:
        """The step, which others can cite by its identity from now on."""
        self._steps[id(step)] = step
        return step

    def rounded(self, cube: int) -> Iterator[Step]:
        """The bounds of a cube that rounding at lines about several groups has reached, each the best of its group."""
        own = self.cubes[cube]
        ends: tuple[End, ...] = ("lo", "hi")
        groups = {int(places[0]) for move, (places, _) in zip(own.moves, own.moved, strict=True) if move.line >= 0 and move.parts}
        for group in sorted(groups):
            for end in ends:
                weights, value = self._reached(cube, group, end)
                if any(kind == "step" for kind, _ in weights):
                    yield self._as_step(own.box(group), end, value, weights)

    def _reached(self, cube: int, group: int, end: End) -> tuple[dict[Cited, Fraction], int]:
        last = self._last(cube, group, end, len(self.cubes[cube].moves))
        if last is None:
            return {}, 0
        for entry in self._needed(last):
            self._found[entry] = self._weights(entry)
        return self._found[last], last.value

    def _needed(self, last: Entry) -> list[Entry]:
        """The entry and all that it rests on that is not proved yet, earliest first."""
        order: list[Entry] = []
        waiting, seen = [(last, False)], set[Entry]()
        while waiting:
            entry, ready = waiting.pop()
            if ready:
                order.append(entry)
            elif entry not in seen and entry not in self._found:
                seen.add(entry)
                waiting.append((entry, True))
                waiting += [(used, False) for used, _, _ in self._used(entry)]
        return order

    def _used(self, entry: Entry) -> list[tuple[Entry, End, Fraction | int]]:
        """The bounds that a move used, each with its end and how many times; that there cannot be fewer than no people is none."""
        move = self.cubes[entry.cube].moves[entry.move]
        if move.taken is not None:
            there = self.cubes.index(move.taken.cube)
            used = self._last(there, move.taken.groups[entry.group], entry.end, move.taken.moves)
            return [] if used is None else [(used, entry.end, 1)]
        out: list[tuple[Entry, End, Fraction | int]] = []
        for part in move.parts:
            end: End = entry.end if not part.opposite else "hi" if entry.end == "lo" else "lo"
            used = self._last(entry.cube, entry.group + part.distance, end, entry.move)
            if used is not None:
                out.append((used, end, part.times))
        return out

    def _weights(self, entry: Entry) -> dict[Cited, Fraction]:
        move = self.cubes[entry.cube].moves[entry.move]
        sign = 1 if entry.end == "lo" else -1
        weights: dict[Cited, Fraction] = {}
        reached = Fraction(move.printed)
        for used, end, times in self._used(entry):
            reached += times * used.value * (1 if end == "lo" else -1)
            for cited, weight in self._found[used].items():
                weights[cited] = weights.get(cited, Fraction(0)) + times * weight
        if move.line >= 0:
            cited = ("line", move.line)
            weights[cited] = weights.get(cited, Fraction(0)) + move.weight
        weights = {cited: weight for cited, weight in weights.items() if weight}
        if sign * entry.value > reached:
            # Rounded to a whole person: later moves use the whole number, so this is a step by itself.
            step = self._as_step(self.cubes[entry.cube].box(entry.group), entry.end, entry.value, weights)
            return {("step", id(step)): Fraction(1)}
        return weights

    def _as_step(self, box: Mapping[int, int], end: End, value: int, weights: Weights) -> Step:
        """A step that others can cite by its identity; the one it would only repeat, where there is one."""
        if len(weights) == 1 and (cited := next(iter(weights)))[0] == "step":
            known = self._steps[cited[1]]
            if (known.end, known.value, known.box) == (end, value, box) and weights[cited] == 1:
                return known
        step = Step(box, end, value, weights)
        self._steps[id(step)] = step
        return step

    def in_order(self, wanted: Sequence[Step]) -> list[Step]:
        """The steps that these rest on, earlier ones first, numbered from 0."""
        order: list[Step] = []
        places: dict[int, int] = {}
        waiting = [(step, False) for step in reversed(wanted)]
        while waiting:
            step, ready = waiting.pop()
            if id(step) in places:
                continue
            if ready:
                places[id(step)] = len(order)
                order.append(step)
            else:
                waiting.append((step, True))
                waiting += [(self._steps[number], False) for number in reversed(cited_steps(step)) if number not in places]
        return [_renumbered(step, places) for step in order]

    def _last(self, cube: int, group: int, end: End, before: int) -> Entry | None:
        """The bound of a group as it stood before a move; None where nothing had moved it."""
        if cube not in self._logs:
            self._logs[cube] = _log(self.cubes[cube])
        groups, moves, values = self._logs[cube][end]
        first, after = np.searchsorted(groups, [group, group + 1])
        place = int(first) + int(np.searchsorted(moves[first:after], before)) - 1
        return Entry(cube, int(moves[place]), group, end, int(values[place])) if place >= first else None


def cited_steps(step: Step) -> list[int]:
    """The steps that a step rests on, also in its cases."""
    return [number for kind, number in (cited for weights in all_weights(step) for cited in weights) if kind == "step"]


def all_weights(step: Step) -> Iterator[Weights]:
    """The weights of a step and of all its cases."""
    yield step.weights
    waiting: list[Tree] = [step.cases] if step.cases is not None else []
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, Leaf):
            yield tree.weights
        else:
            waiting += [tree.more, tree.fewer]


def all_choices(step: Step) -> Iterator[Choice]:
    """The pairs of statements of which one is true that the cases of a step tell apart."""
    waiting: list[Tree] = [step.cases] if step.cases is not None else []
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, Split):
            waiting += [tree.more, tree.fewer]
            if isinstance(tree.by, Choice):
                yield tree.by


def _renumbered(step: Step, places: Mapping[int, int]) -> Step:
    def weights_of(weights: Weights) -> Weights:
        return {(kind, places[number] if kind == "step" else number): weight for (kind, number), weight in weights.items()}

    def tree_of(tree: Tree) -> Tree:
        if isinstance(tree, Leaf):
            return Leaf(weights_of(tree.weights), tree.impossible)
        return Split(tree.by, tree_of(tree.fewer), tree_of(tree.more))

    cases = None if step.cases is None else tree_of(step.cases)
    assert cases is None or isinstance(cases, Split)
    return Step(step.box, step.end, step.value, weights_of(step.weights), cases)


def _log(cube: Cube) -> dict[End, tuple[Whole, Whole, Whole]]:
    """All that moved in a cube, by end: groups, moves and values, in the order of groups and then of moves."""
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


def _joined(parts: Iterable[npt.NDArray[np.int64]]) -> Whole:
    listed = list(parts)
    return np.concatenate(listed) if listed else np.empty(0, np.int64)
