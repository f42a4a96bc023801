"""What bounds along single sums leave open: worlds that refute many questions at once, and linear programs whose weights are proofs.

A question is whether a group holds 1 to k-1 people in every world. People in fractions who fit all lines show that no weights prove it where the
group is empty among them or has k people; only a world of whole people refutes it. What nothing settles is asked by itself, and its answer
counts only when weights of simple fractions prove it exactly, or a proof by cases does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.cases import Cases
from tacit.attacks.joint.cube import End
from tacit.attacks.joint.exchanges import refuted_from
from tacit.attacks.joint.proofs import Cited, Split, Step
from tacit.attacks.joint.rearranging import Rearranging
from tacit.attacks.joint.rows import Flags, Masks, Rows, Whole, sparse
from tacit.attacks.joint.solver import FEW_CELLS, NEAR, Solver
from tacit.attacks.joint.world import World
from tacit.model.policy import Limits

#: Cells, entries of all rows and entries of all questions up to which programs are solved.
MOST_CELLS, MOST_ENTRIES, MOST_QUESTIONS = 20_000, 5_000_000, 5_000_000
#: Questions that are asked one by one, and their number times that of cells.
MOST_ASKED, MOST_WORK = 500, 400_000
#: Those of them where worlds must meet conditions.
FEW_ASKED = 10
_ROUNDS = 30
#: Where there are more axes, with few classes each, single exchanges do what elsewhere programs over a few classes do.
MOST_AXES = 8
#: Questions up to which such programs follow there.
FEW_REARRANGED = 100
#: Further worlds that exchanges of people lead to, at most.
_MOST_EXCHANGES = 100
#: Questions up to which single exchanges are tried where something was found already.
FEW_QUESTIONS = 5_000


@dataclass(eq=False)
class Settlement:
    """What became of questions: refuted by a world, proved, or neither. ``clash`` are weights that prove that nobody fits the lines."""

    refuted: Flags
    proofs: dict[int, tuple[Step, Step]] = field(default_factory=dict)
    clash: dict[Cited, Fraction] = field(default_factory=dict)
    #: Questions that no weights answer, as far as fractions of people show.
    hopeless: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.hopeless = np.zeros(len(self.refuted), np.bool_)

    @property
    def open(self) -> Flags:
        """Questions that are neither refuted nor proved."""
        out = ~self.refuted
        out[list(self.proofs)] = False
        return out

    @property
    def hoped(self) -> Flags:
        """Open questions that weights may still answer."""
        return np.asarray(self.open & ~self.hopeless)


@dataclass(eq=False)
class Programs:
    """Questions about boxes, asked of the rows.

    With ``whole`` the rows are all that is known, so that a world that fits them refutes. With ``eager`` worlds are looked for before proofs,
    as where nothing was found so far and the questions are expected to have the answer no. ``known`` is a world that is known to start with.
    """

    rows: Rows
    limits: Limits
    boxes: Sequence[Masks]
    k: int
    whole: bool = True
    eager: bool = True
    known: World | None = None
    _exchanges: int = 0
    _world: World | None = None

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(self.limits.seed)

    @cached_property
    def _solver(self) -> Solver:
        return Solver(self.rows, self.limits)

    @cached_property
    def _inside(self) -> Any:
        """Which cells each group holds, as a sparse matrix."""
        return sparse(self.rows.cells, self.boxes)

    def settle(self, out: Settlement) -> None:
        """Refute or prove, for each of the groups, that it holds 1 to k-1 people; what is known so far is in ``out`` at any time."""
        if not len(self.boxes):
            return
        self._world = self.known if self.whole else None
        if self.whole and self.eager and not self._start(out):
            return
        if self.whole and not self._is_small:
            # One world leads to many; programs need to be asked only what these leave open.
            self._refute(out)
            self._exchange(out)
        if not self._weigh(out):
            return
        for number in np.flatnonzero(out.hoped).tolist()[: min(MOST_ASKED, MOST_WORK // len(self.rows.cells))]:
            if out.hoped[number]:
                self._ask(number, out)
        if not self.whole or not self._is_small:
            return
        self._refute(out)
        self._exchange(out)
        # Where conditions must be met, each world takes many programs.
        most = FEW_ASKED if self.rows.cells.problem.conditions else MOST_ASKED
        for number in np.flatnonzero(out.open).tolist()[:most]:
            if out.open[number]:
                self._by_world(number, out)
        for number in np.flatnonzero(out.open).tolist()[:most]:
            if out.open[number]:
                self._by_cases(number, out)

    def _start(self, out: Settlement) -> bool:
        """Look for one world, and refute by it and by exchanges; whether there are people at all who fit the rows."""
        cost = np.asarray(self._inside.sum(axis=0)).ravel()
        best = self._solver.least(cost)
        if best is None:
            out.clash = self._solver.clash()
            return not out.clash
        self._look_at(best.people, out)
        if self._world is None:
            world = self._solver.world(cost if self._is_small else np.zeros(len(cost)))
            if world is not None:
                self._refute_by(world, out)
        return True

    @property
    def _is_small(self) -> bool:
        """Whether there are so few cells that worlds are looked for one by one."""
        return len(self.rows.cells) <= FEW_CELLS

    def _exchange(self, out: Settlement) -> None:
        """Refute by single exchanges of people, or by arranging a few classes anew, starting from a world that is known."""
        left = np.flatnonzero(out.open)
        if self._world is None or not len(left) or (not self.eager and len(left) > FEW_QUESTIONS):
            return
        boxes = [self.boxes[number] for number in left.tolist()]
        if self._is_small or len(self.rows.cells.shape) > MOST_AXES:
            out.refuted[left] = refuted_from(self._world, boxes, self.k, self.limits.seed, lambda: self.limits.check("X01"))
            left = np.flatnonzero(out.open)
            boxes = [self.boxes[number] for number in left.tolist()]
            if self._is_small or not len(left) or len(left) > FEW_REARRANGED:
                return
        near = Rearranging(self.rows.needed, self._world.cells(self.rows.cells), self.limits)
        out.refuted[left] = near.refute(boxes, self.k)

    def _weigh(self, out: Settlement) -> bool:
        """Fractions of people, as few and as many in all living groups as can be; whether there are people at all who fit the rows.

        Once that takes no more hope, some groups are to have few and the others many: at most as often as it helps.
        """
        still = 0
        for turn in range(0, _ROUNDS, 2):
            living = np.flatnonzero(out.hoped)
            if not len(living):
                return True
            signs = [np.full(len(living), 1), np.full(len(living), -1)]
            if still:
                # One bit of a number per group, another one in every round, so that the same input gives the same answer.
                signs = [1 - 2 * ((living * 2654435761 >> (at % 13 + 8)) & 1) for at in (turn, turn + 1)]
            found = self._solver.search.least_of([sign @ self._inside[living] for sign in signs])
            if turn == 0 and found[0] is None and (clash := self._solver.clash()):
                out.clash = clash
                return False
            for best in found:
                if best is not None:
                    self._look_at(best.people, out)
            if out.hoped.sum() < len(living):
                still = min(still, 1)
            elif still:
                return True
            else:
                still = 1
        return True

    def _look_at(self, people: npt.NDArray[np.float64], out: Settlement) -> None:
        """Use people who fit the rows: fractions take hope away, whole ones refute."""
        counts = self._inside @ people
        out.hopeless |= (counts <= NEAR) | (counts >= self.k - NEAR)
        world = np.rint(people)
        if self.whole and np.abs(people - world).max(initial=0) < NEAR and self.rows.fits(world.astype(np.int64)):
            self._refute_by(world.astype(np.int64), out)

    def _refute_by(self, world: Whole, out: Settlement) -> None:
        """Strike out questions that a world answers with no, and others that exchanges lead to, as long as that helps."""
        people = World.of_cells(self.rows.cells, world)
        self._world = self._world or people
        while True:
            before = int(out.open.sum())
            counts = np.rint(self._inside @ world)
            out.refuted |= out.open & ((counts == 0) | (counts >= self.k))
            left = int(out.open.sum())
            if left == 0 or left == before or people is None or self._exchanges >= _MOST_EXCHANGES:
                break
            self._exchanges += 1
            people = people.exchanged(self._random)
            world = people.cells(self.rows.cells)

    def _ask(self, number: int, out: Settlement) -> None:
        """Two programs for one question; people on the way may take hope from others as well."""
        group = self.rows.cells.inside(self.boxes[number])
        shown = []
        for sign, least in ((1, 1), (-1, 1 - self.k)):
            best = self._solver.least(self._solver.cost(group, sign))
            if best is None:
                out.hopeless[number] = True
                return
            self._look_at(best.people, out)
            proof = self.rows.proved(group, sign, best.weights, ceil(best.value - NEAR))
            if proof is None or proof[0] < least:
                out.hopeless[number] = True
                return
            shown.append(proof)
        (lo, least_weights), (hi, most_weights) = shown
        box = self.boxes[number]
        out.proofs[number] = Step(box, "lo", lo, least_weights), Step(box, "hi", -hi, most_weights)

    def _refute(self, out: Settlement) -> None:
        """Worlds of whole people, as few and as many in all open groups as can be."""
        for turn in range(_ROUNDS if self._is_small else int(self._world is None)):
            before = out.open
            if not before.any():
                return
            # Any world will do where there are many cells: exchanges lead on from it, and the best one takes long to find.
            few_or_many = (1 if turn % 2 == 0 else -1) if self._is_small else 0
            cost = np.asarray(self._inside[before].sum(axis=0)).ravel() * few_or_many
            world = self._solver.world(cost)
            if world is not None:
                self._refute_by(world, out)
            if turn % 2 and out.open.sum() == before.sum():
                return

    def _by_world(self, number: int, out: Settlement) -> None:
        group = self.rows.cells.inside(self.boxes[number])
        for sign in (1, -1):
            world = self._solver.world(self._solver.cost(group, sign))
            if world is not None:
                self._refute_by(world, out)
            if out.refuted[number]:
                return

    def _by_cases(self, number: int, out: Settlement) -> None:
        """Prove one question by cases, both its ends."""
        box = self.boxes[number]
        group = self.rows.cells.inside(box)
        steps = []
        for sign, wanted in ((1, 1), (-1, 1 - self.k)):
            end: End = "lo" if sign > 0 else "hi"
            shown = self._solver.bound(group, sign)
            if shown is not None and shown[0] >= wanted:
                steps.append(Step(box, end, sign * shown[0], shown[1]))
                continue
            search = Cases(self.rows, self.limits, box, sign, wanted)
            tree = search.prove()
            if search.world is not None:
                self._refute_by(search.world, out)
            if tree is None:
                return
            weights = {} if isinstance(tree, Split) else tree.weights
            steps.append(Step(box, end, sign * wanted, weights, tree if isinstance(tree, Split) else None))
        out.proofs[number] = steps[0], steps[1]
