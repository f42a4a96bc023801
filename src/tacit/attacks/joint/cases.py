"""Proofs by cases: where weights leave a fraction of a person open, a group has at most so many people or more; each case is settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from tacit.attacks.joint.proofs import Leaf, Split, Threshold, Tree
from tacit.attacks.joint.rows import Floats, Masks, Rows, Whole
from tacit.attacks.joint.solver import NEAR, Solver
from tacit.model.policy import Limits

#: Cases of one proof at most.
MOST_CASES = 60


@dataclass(eq=False)
class Cases:
    """The search for a proof by cases that ``sign * people in the box >= wanted``; ``world`` is one that refutes it, where it was met."""

    rows: Rows
    limits: Limits
    box: Masks
    sign: int
    wanted: int
    tried: int = 0
    world: Whole | None = None

    def prove(self) -> Tree | None:
        """The proof; None where it takes too many cases, or where a world refutes it."""
        return self._settle(self.rows, 0)

    def _settle(self, rows: Rows, depth: int) -> Tree | None:
        self.tried += 1
        if self.tried > MOST_CASES:
            return None
        solver = Solver(rows, self.limits)
        group = rows.cells.inside(self.box)
        best = solver.least(solver.cost(group, self.sign))
        if best is None:
            weights = solver.clash()
            return Leaf(weights, True) if weights else None
        if ceil(best.value - NEAR) >= self.wanted:
            shown = rows.proved(group, self.sign, best.weights, self.wanted)
            return None if shown is None else Leaf(shown[1], False)
        split = self._split(rows, best.people)
        if split is None:
            return self._by_choice(rows, np.rint(best.people).astype(np.int64), depth)
        term = ((1, split.box),)
        fewer = self._settle(rows.case(term, None, split.at, depth), depth + 1)
        more = None if fewer is None else self._settle(rows.case(term, split.at + 1, None, depth), depth + 1)
        return None if fewer is None or more is None else Split(split, fewer, more)

    def _by_choice(self, rows: Rows, world: Whole, depth: int) -> Tree | None:
        """What becomes of a world of whole people: it refutes, or breaks a condition, which makes two cases."""
        if not rows.adds_up(world):
            return None
        choice = next(rows.choices(world), None)
        if choice is None:
            self.world = world
            return None
        if choice.more is None:
            return None
        fewer = self._settle(rows.chosen(choice.fewer, depth), depth + 1)
        more = None if fewer is None else self._settle(rows.chosen(choice.more, depth), depth + 1)
        return None if fewer is None or more is None else Split(choice, fewer, more)

    def _split(self, rows: Rows, people: Floats) -> Threshold | None:
        """A group that has a fraction of a person more than a whole number, the target first and then the largest; None where none has."""
        found: tuple[float, Masks, int] | None = None
        for box, count in self._counted(rows, people):
            distance = abs(count - floor(count) - 0.5)
            if distance < 0.5 - NEAR and (found is None or distance < found[0] - NEAR):
                found = distance, box, floor(count)
        return None if found is None else Threshold(found[1], found[2])

    def _counted(self, rows: Rows, people: Floats) -> Iterator[tuple[Masks, float]]:
        yield self.box, float(people[rows.cells.inside(self.box)].sum())
        for number, row in enumerate(rows.rows):
            for (_, box), (_, cells) in zip(row.terms, rows.where(number), strict=True):
                yield box, float(people[cells].sum())
        for cell in np.flatnonzero(np.abs(people - np.rint(people)) > NEAR).tolist():
            yield rows.cells.box(cell), float(people[cell])
