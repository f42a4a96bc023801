"""Programs: worlds that refute, and dual weights that prove.

A question is whether a group holds 1 to k-1 people in every world. Fractions of people who fit all lines, and of whom none or k are in the
group, show that no weights prove it; only a world of whole people refutes it. A question that is still open is asked by itself. Its answer
counts only if weights of simple fractions prove it exactly, or branch and bound does: split on a group's size where the LP bound is
fractional, and prove each branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import ceil, floor
from typing import NoReturn

import numpy as np

from tacit.joint.boxes import MOST_GROUPS, Choice, Line, Problem, count_groups
from tacit.joint.cube import OPEN, Cited, Cube, End, Leaf, Prover, Split, Step, Threshold, Tree
from tacit.joint.lower import JointCase
from tacit.joint.nearest import Walk
from tacit.joint.words import lines_of
from tacit.joint.worlds import Masks, Rows, World, count_cells, membership_matrix, refute_from
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.errors import Contradiction, numbered
from tacit.model.policy import Limits
from tacit.solve.solver import (
    Constraints,
    Matrix,
    Solution,
    solve,
    solve_in_turn,
    solve_linear,
    solve_whole,
    stack_columns,
    stack_rows,
)

#: Nodes of a search for a world of whole people: not seconds, so that the same input gives the same answer.
MOST_NODES = 50
FEW_CELLS = 1_000  #: Up to this many cells, worlds are searched one by one.
MOST_CHOICES = 40  #: Most searches for a world that meets conditions.
MOST_TURNS = 3  #: Most turns of putting lines in the place of conditions, if there are many cells.
FEW_POINTS = 2  #: Optima whose mean is typical.
MOST_MISSED = 4  #: Questions at most for which no world is found, before the search for worlds ends.
LAST_PEOPLE = 1  #: People of a cell that are counted again where fractions become a world of whole people.
NEARLY = 3  #: Distance, in people, from breaking a condition, so that rounding does not break it.
SHARE = 0.25  #: Share of the remaining time that one search may take, at least a second.
GAP = 0.05  #: A world may cost this share more than the best one would.
NEAR = 1e-6  #: Tolerance of a solver's number that stands for a whole one.


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Least cost, its solution and the dual weights."""

    value: float
    people: Floats
    weights: Floats


@dataclass(eq=False)
class Solver:
    """Linear and integer programs over the same rows."""

    rows: Rows
    limits: Limits
    _narrowed: Rows | None = None

    @cached_property
    def search(self) -> Solver:
        """Solver over fewer rows, for use without weights."""
        return Solver(self.rows.needed, self.limits)

    @cached_property
    def _constraints(self) -> Constraints:
        return Constraints(self.rows.matrix, *self.rows.bounds)

    def least(self, cost: Floats) -> Optimum | None:
        """Return the LP minimum of the cost, or None."""
        return self.least_of([cost])[0]

    def least_of(self, costs: Sequence[Floats]) -> list[Optimum | None]:
        """Return the optimum for each of several costs."""
        left = self.limits.seconds_left
        found = solve([self._constraints.minimise(cost, left) for cost in costs])
        self.limits.check("X01")
        return [self._optimum(one) for one in found]

    def least_in_turn(self, costs: Sequence[Floats]) -> list[Optimum | None]:
        """Return the optimum for each of many costs, faster than :meth:`least_of`."""
        first, *further = costs
        found = solve_in_turn(self._constraints.minimise(first, self.limits.seconds_left), further)
        self.limits.check("X01")
        return [self._optimum(one) for one in found]

    def _optimum(self, found: Solution) -> Optimum | None:
        if found.status != 0 or found.value is None or found.x is None:
            return None
        return Optimum(float(found.value), found.x, self._constraints.duals(found))

    def bound(self, group: Ints, sign: int) -> tuple[int, dict[Cited, Fraction]] | None:
        """Return the best integer lower bound, with its proof."""
        best = self.least(self.cost(group, sign))
        return None if best is None else self.rows.certify(group, sign, best.weights, ceil(best.value - NEAR))

    def cost(self, group: Ints, sign: int) -> Floats:
        """Return the cost of everybody in a group."""
        cost = np.zeros(len(self.rows.cells))
        cost[group] = sign
        return cost

    def world(self, cost: Floats) -> Ints | None:
        """Return a cheap integer world that fits all rows, or None.

        If a world violates a condition, both sides are tried; with many cells, only the side that is nearer.
        """
        if self.rows.has_conditions and not self.rows.cells.problem.decides_conditions:
            return None
        if len(self.rows.cells) > FEW_CELLS:
            return self.search._near_world(cost)
        waiting = [(self.rows, 0)]
        tried = 0
        while waiting and tried < MOST_CHOICES:
            rows, depth = waiting.pop()
            world = self._world(rows, cost)
            tried += 1
            if world is None:
                continue
            choice = next(rows.choices(world), None)
            if choice is None:
                return world
            waiting += [(rows.with_statement(line, depth), depth + 1) for line in (choice.more, choice.fewer) if line is not None]
        return None

    def _near_world(self, cost: Floats) -> Ints | None:
        """Return a world near fractions of people, fewer where the cost is high, or None.

        Where exchanges find none, an integer program is asked for people who take a side of every close choice.
        """
        world = Walk(self.rows, self.limits).find(np.exp(-cost / max(cost.max(initial=0), 1)))
        if world is not None:
            return world
        from tacit.joint.rearranging import Rearranging

        if self._narrowed is None:
            self._narrowed = self.rows.assume(self._sides_taken()) if self.rows.has_conditions else self.rows
        world = self._world(self._narrowed, cost)
        if world is None:
            return None
        rearranged = Rearranging(self.rows, world, self.limits)
        return rearranged.world if rearranged.mend() else None

    def _sides_taken(self) -> list[Line]:
        """Choose a consistent statement of every close choice.

        Statements that are missed even by the nearest people are exchanged for their alternatives, until none is missed.
        """
        random = np.random.default_rng(self.limits.seed)
        draws = [random.choice([-1.0, 0.0, 1.0], len(self.rows.cells)) for _ in range(FEW_POINTS)]
        points = [best.people for best in self.least_of(draws) if best is not None]
        if not points:
            return []
        taken = {choice.fewer.origin: choice for choice in self.rows.choices(np.mean(points, axis=0), NEARLY)}
        for turn in range(MOST_TURNS):
            people, missed = self._nearest([choice.nearer for choice in taken.values()])
            if people is None:
                break
            wrong = [choice for choice, by in zip(taken.values(), missed.tolist(), strict=True) if by > NEAR]
            fresh = [choice for choice in self.rows.choices(people, NEARLY) if choice.fewer.origin not in taken]
            if not wrong and not fresh:
                break
            if turn == MOST_TURNS - 1:
                # Leave out what these people miss; they meet all others.
                return [choice.nearer for choice in taken.values() if choice not in wrong]
            taken |= {choice.fewer.origin: replace(choice, first=not choice.first) for choice in wrong}
            taken |= {choice.fewer.origin: choice for choice in fresh}
        return [choice.nearer for choice in taken.values()]

    def _nearest(self, lines: Sequence[Line]) -> tuple[Floats | None, Floats]:
        extra = self.rows.only(()).assume(lines)
        lo, hi = extra.bounds
        sign = np.where(np.isfinite(hi), 1.0, -1.0)  # each has one end
        soft = stack_columns(extra.matrix.scale_rows(sign), Matrix.diagonal(np.full(len(sign), -1.0)))
        hard = self._constraints
        above, equal = (stack_columns(part, Matrix.empty((part.shape[0], len(sign)))) for part in (hard.above, hard.equal))
        limits = np.concatenate((hard.limits, np.where(sign > 0, hi, -lo)))
        cost = np.concatenate((np.zeros(len(self.rows.cells)), np.ones(len(sign))))
        rows = stack_rows((above, soft))
        found = solve_linear(cost, above=(rows, limits), equal=(equal, hard.sums), seconds=self.limits.seconds_left)
        self.limits.check("X01")
        if found.status != 0 or found.x is None:
            return None, np.empty(0)
        return found.x[: len(self.rows.cells)], found.x[len(self.rows.cells) :]

    def _world(self, rows: Rows, cost: Floats) -> Ints | None:
        if not cost.any() and (near := self._rounded(rows, cost)) is not None:
            return near
        # Without n a group could grow without limit; a world with fewer people is a world as well.
        most = [row.hi for row in rows.rows if row.hi is not None]
        return self._whole(rows, cost, np.zeros(len(rows.cells), np.int64), 2.0 * max(most, default=100))

    def world_near(self, cost: Floats) -> Ints | None:
        """Return a cheap integer world near the LP minimum of the cost, or None."""
        return None if self.rows.has_conditions else self._rounded(self.rows, cost)

    def _rounded(self, rows: Rows, cost: Floats) -> Ints | None:
        """Return a cheap integer world near fractions of people who fit all rows, or None.

        Counts of thousands are left as they are but for the last few people, so that the integer program is about small numbers.
        """
        constraints = self._constraints if rows is self.rows else Constraints(rows.matrix, *rows.bounds)
        random = np.random.default_rng(self.limits.seed)
        left = self.limits.seconds_left
        # Beside what is asked, any cost: the mean of two optima is more typical than one.
        costs = [cost + random.random(len(cost)) * (0.001 if cost.any() else 1.0) for _ in range(FEW_POINTS)]
        found = solve([constraints.minimise(one, left) for one in costs])
        self.limits.check("X01")
        points = [one.x for one in found if one.status == 0 and one.x is not None]
        if len(points) < FEW_POINTS:
            return None
        mean = np.mean(points, axis=0)
        base = np.maximum(np.floor(mean).astype(np.int64) - LAST_PEOPLE, 0)
        most = 2.0 * LAST_PEOPLE + 3.0
        # Optima leave most cells empty, and a program about the others is small.
        near = self._whole(rows, cost, base, most, cells=mean > NEAR)
        return self._whole(rows, cost, base, most) if near is None else near

    def _whole(self, rows: Rows, cost: Floats, base: Ints, most: float, cells: Flags | None = None) -> Ints | None:
        """Return a cheap integer world with at most this many people in each of some cells besides those of ``base``."""
        lo, hi = rows.bounds
        taken = rows.matrix @ base
        left = self.limits.seconds_left
        found = solve_whole(
            cost if cells is None else cost[cells],
            matrix=rows.matrix if cells is None else rows.matrix.keep_columns(cells),
            low=lo - taken,
            high=hi - taken,
            most=most,
            nodes=MOST_NODES,
            gap=GAP,
            seconds=None if left is None else max(left * SHARE, 1.0),
        )
        self.limits.check("X01")
        if found.x is None:
            return None
        world = base.copy()
        world[slice(None) if cells is None else cells] += np.rint(found.x).astype(np.int64)
        return world if rows.adds_up(world) else None

    def clash(self) -> dict[Cited, Fraction]:
        """Return weights which prove that no people fit the rows; none if there are no such weights."""
        constraints = Constraints(self.rows.matrix, *self.rows.bounds, equations=False)
        limits = constraints.limits
        # Every row may be violated; the least total violation is above 0 if rows clash.
        cost = np.concatenate((np.zeros(len(self.rows.cells)), np.ones(len(limits))))
        relaxed = stack_columns(constraints.above, Matrix.diagonal(np.full(len(limits), -1.0)))
        found = solve_linear(cost, above=(relaxed, limits), seconds=self.limits.seconds_left)
        self.limits.check("X01")
        if found.status != 0 or found.value is None or found.value < NEAR:
            return {}
        shown = self.rows.certify(np.empty(0, np.int64), 1, constraints.duals(found), 1)
        return {} if shown is None else shown[1]


MOST_CASES = 60  #: Most cases of one proof.


@dataclass(eq=False)
class Cases:
    """Branch and bound on a box, or a refuting ``world``."""

    rows: Rows
    limits: Limits
    box: Masks
    sign: int
    wanted: int
    tried: int = 0
    world: Ints | None = None

    def prove(self) -> Tree | None:
        """Return the proof, or None if too long or refuted."""
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
            shown = rows.certify(group, self.sign, best.weights, self.wanted)
            return None if shown is None else Leaf(shown[1], False)
        split = self._split(rows, best.people)
        if split is not None:
            term = ((1, split.box),)
            sides = (rows.with_case(term, None, split.at, depth), rows.with_case(term, split.at + 1, None, depth))
            return self._branch(split, *sides, depth + 1)
        # The people are whole: a world that refutes, or that violates a condition.
        world = np.rint(best.people).astype(np.int64)
        if not rows.adds_up(world):
            return None
        choice = next(rows.choices(world), None)
        if choice is None:
            self.world = world
        if choice is None or choice.more is None:
            return None
        sides = (rows.with_statement(choice.fewer, depth), rows.with_statement(choice.more, depth))
        return self._branch(choice, *sides, depth + 1)

    def _branch(self, by: Threshold | Choice, fewer: Rows, more: Rows, depth: int) -> Tree | None:
        first = self._settle(fewer, depth)
        second = None if first is None else self._settle(more, depth)
        return None if first is None or second is None else Split(by, first, second)

    def _split(self, rows: Rows, people: Floats) -> Threshold | None:
        def counts() -> Iterator[tuple[Masks, float]]:
            yield self.box, float(people[rows.cells.inside(self.box)].sum())
            for number, row in enumerate(rows.rows):
                for (_, box), (_, cells) in zip(row.terms, rows.where(number), strict=True):
                    yield box, float(people[cells].sum())
            for cell in np.flatnonzero(np.abs(people - np.rint(people)) > NEAR).tolist():
                yield rows.cells.box(cell), float(people[cell])

        found: tuple[float, Masks, int] | None = None
        for box, count in counts():
            distance = abs(count - floor(count) - 0.5)
            if distance < 0.5 - NEAR and (found is None or distance < found[0] - NEAR):
                found = distance, box, floor(count)
        return None if found is None else Threshold(found[1], found[2])


MOST_CELLS = 20_000  #: Most cells of a program.
MOST_ENTRIES = 5_000_000  #: Most entries of all rows.
MOST_QUESTIONS = 5_000_000  #: Most entries of all questions.
MOST_ASKED = 500  #: Most questions that are asked one by one.
MOST_WORK = 400_000  #: Most questions asked one by one, times cells.
FEW_AIMED = 20  #: Most questions at which worlds are aimed one by one after something was found.
IN_TURN = 16  #: Questions that are asked in turn, each from the answer to the one before.
FEW_ASKED = 10  #: Most questions asked one by one if worlds must meet conditions.
_ROUNDS = 30
FIRST_TRIES = 2  #: Searches for a first world over many cells.
LEAST_PROGRESS = 0.05  #: Share of the questions that a round of programs must settle for another one to follow.
FLAT = 2  #: Axes of a table whose optima are whole people.
_MOST_EXCHANGES = 100  #: Most further worlds by exchanges of people.
FEW_QUESTIONS = 5_000  #: Most questions for which single exchanges are tried after something was found.


@dataclass(eq=False)
class Programs:
    """Questions about boxes, asked of the rows: refuted by a world, proved or open.

    With ``whole`` the rows are all that is known, so that a fitting world refutes. With ``eager`` worlds are searched before proofs.
    ``known`` is a world to start from, ``bounds`` are known bounds on a box. ``clash`` are weights that prove the lines infeasible.
    ``hopeless`` are questions that the LP shows no weights can answer.
    """

    rows: Rows
    limits: Limits
    boxes: Sequence[Masks]
    k: int
    whole: bool = True
    eager: bool = True
    known: World | None = None
    bounds: Callable[[Masks], tuple[int, int]] = lambda _: (0, OPEN)

    def __post_init__(self) -> None:
        self.refuted = np.zeros(len(self.boxes), np.bool_)
        self.hopeless = np.zeros(len(self.boxes), np.bool_)
        self.proofs: dict[int, tuple[Step, Step]] = {}
        self.clash: dict[Cited, Fraction] = {}
        self._world = self.known if self.whole else None
        #: Ends of a small group: the sign of its people in a cost, and the least cost that proves it.
        self._ends: tuple[tuple[End, int, int], ...] = (("lo", 1, 1), ("hi", -1, 1 - self.k))
        self._exchanges = 0
        self._is_small = len(self.rows.cells) <= FEW_CELLS
        self._inside = membership_matrix(self.rows.cells, self.boxes)
        self._random = np.random.default_rng(self.limits.seed)
        self._solver = Solver(self.rows, self.limits)

    @property
    def world(self) -> World | None:
        """A world that fits all rows and conditions, if one is known."""
        return self._world

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

    def settle(self) -> None:
        """Refute or prove that each group holds 1 to k-1 people."""
        if not len(self.boxes):
            return
        if self.whole and self.eager and not self._start():
            return
        if self.whole and not self._is_small:
            # One world leads to many; programs need to settle only what these leave open.
            self._refute()
            # Optima over two columns are whole people, and leave most cells empty: each refutes many questions.
            if len(self.rows.cells.shape) <= FLAT and not self._weigh():
                return
            self._exchange()
        if not self.whole and not self._is_small:
            self._doubt()
        # Asked in turn, so few questions take less time than a round about all of them.
        is_known = self._world is not None or self.hopeless.any()
        if not (is_known and self.hoped.sum() <= 2 * IN_TURN) and not self._weigh():
            return
        questions = np.flatnonzero(self.hoped)[: min(MOST_ASKED, MOST_WORK // len(self.rows.cells))]
        for start in range(0, len(questions), IN_TURN):
            self._ask(questions[start : start + IN_TURN])
        if self.whole and not self._is_small and (self.eager or self.open.sum() <= FEW_AIMED):
            self._aim()
        if not self.whole or not self._is_small:
            return
        self._refute()
        self._exchange()
        # If conditions must be met, each world takes many programs.
        most = FEW_ASKED if self.rows.cells.problem.conditions else MOST_ASKED
        for number in np.flatnonzero(self.open).tolist()[:most]:
            group = self.rows.cells.inside(self.boxes[number])
            for sign in (1, -1):
                if self.open[number]:
                    self._refute_by(self._solver.world(self._solver.cost(group, sign)))
        for number in np.flatnonzero(self.open).tolist()[:most]:
            if self.open[number]:
                self._by_cases(number)

    def _aim(self) -> None:
        """Refute by worlds with an open group empty or as large as possible."""
        missed = 0
        for number in np.flatnonzero(self.open).tolist():
            group = self.rows.cells.inside(self.boxes[number])
            for sign in (1, -1):
                if self.open[number] and missed < MOST_MISSED:
                    self._refute_by(self._solver.world_near(self._solver.cost(group, sign)))
            missed += int(self.open[number])

    def _start(self) -> bool:
        """Find one world, and refute by it and by exchanges; return False if nobody fits the rows."""
        cost = self._inside.sum_columns()
        best = self._solver.least(cost)
        if best is None:
            self.clash = self._solver.clash()
            return not self.clash
        self._look_at(best.people)
        if self._world is None:
            self._refute_by(self._solver.world(cost if self._is_small else np.zeros(len(cost))))
        return True

    def _exchange(self) -> None:
        left = np.flatnonzero(self.open)
        if self._world is None or not len(left):
            return
        boxes = [self.boxes[number] for number in left.tolist()]
        if self._is_small:
            self.refuted[left] = refute_from(self._world, boxes, self.k, self.limits.seed, check=lambda: self.limits.check("X01"))
            return
        self.refuted[left] = self._walk(self._world.cells(self.rows.cells), boxes)

    def _walk(self, world: Ints, boxes: Sequence[Masks]) -> Flags:
        """Return the boxes that a world or others near it refute."""
        near = Walk(self.rows.needed, self.limits)
        near.world = world
        return near.refute(boxes, self.k, [self.bounds(box) for box in boxes])

    def _doubt(self) -> None:
        """Give up questions that worlds of these columns refute, which need not be worlds of all columns."""
        world = Walk(self.rows.needed, self.limits).find(np.ones(len(self.rows.cells)))
        if world is not None:
            self.hopeless |= self._walk(world, self.boxes)

    def _weigh(self) -> bool:
        """Bound all open groups by LP; return False if infeasible."""
        still = 0
        for turn in range(0, _ROUNDS, 2):
            living = np.flatnonzero(self.hoped)
            if not len(living):
                return True
            signs = [np.full(len(living), 1), np.full(len(living), -1)]
            if still:
                # Some groups are to have few people, others many: pseudo-random, but the same for the same input.
                signs = [1 - 2 * ((living * 2654435761 >> (at % 13 + 8)) & 1) for at in (turn, turn + 1)]
            found = self._solver.search.least_of([sign @ self._inside[living] for sign in signs])
            if turn == 0 and found[0] is None and (clash := self._solver.clash()):
                self.clash = clash
                return False
            for best in found:
                if best is not None:
                    self._look_at(best.people)
            settled = len(living) - int(self.hoped.sum())
            # Asked in turn, so many questions take less time than another round.
            if settled > max(LEAST_PROGRESS * len(living), IN_TURN):
                still = min(still, 1)
            elif still:
                return True
            else:
                still = 1
        return True

    def _look_at(self, people: Floats) -> None:
        """Refute by integer solutions; mark hopeless questions."""
        counts = self._inside @ people
        self.hopeless |= (counts <= NEAR) | (counts >= self.k - NEAR)
        world = np.rint(people).astype(np.int64)
        is_whole = self.whole and np.abs(people - world).max(initial=0) < NEAR
        if is_whole and self.rows.fits(world):
            self._refute_by(world)

    def _refute_by(self, world: Ints | None) -> None:
        if world is None:
            return
        cells = self.rows.cells
        people = World.of_counts(cells, world)
        self._world = self._world or people
        while True:
            before = int(self.open.sum())
            counts = np.rint(self._inside @ world)
            self.refuted |= self.open & ((counts == 0) | (counts >= self.k))
            left = int(self.open.sum())
            is_done = left in (0, before) or self._exchanges >= _MOST_EXCHANGES
            # With many cells, exchanges of a few people are quicker: see :meth:`_exchange`.
            if is_done or not self._is_small or people is None or people.problem.is_rigid:
                break
            self._exchanges += 1
            people = people.exchange(self._random, lambda: self.limits.check("X01"))
            world = people.cells(cells)

    def _ask(self, questions: Ints) -> None:
        """Prove the ends of some groups that weights may prove."""
        asked = questions[self.hoped[questions]].tolist()
        if not asked:
            return
        steps: dict[int, list[Step]] = {}
        groups = [self.rows.cells.inside(self.boxes[number]) for number in asked]
        # Only the first program takes long: those about both ends are asked in turn.
        every = [(*end, number, group) for end in self._ends for number, group in zip(asked, groups, strict=True)]
        found = self._solver.least_in_turn([self._solver.cost(group, sign) for _, sign, _, _, group in every])
        for (end, sign, wanted, number, group), best in zip(every, found, strict=True):
            if best is not None:
                self._look_at(best.people)
            proof = None if best is None else self.rows.certify(group, sign, best.weights, ceil(best.value - NEAR))
            if proof is None or proof[0] < wanted:
                self.hopeless[number] = True
            else:
                steps.setdefault(number, []).append(Step(self.boxes[number], end, sign * proof[0], proof[1]))
        self.proofs |= {number: (both[0], both[1]) for number, both in steps.items() if len(both) == len(self._ends)}

    def _refute(self) -> None:
        """Refute by worlds with extreme sizes of all open groups."""
        for turn in range(_ROUNDS if self._is_small else FIRST_TRIES):
            before = self.open
            if not before.any() or (self._world is not None and not self._is_small):
                return
            # With many cells any world will do: others are near it, and the best one takes long to find.
            few_or_many = (1 if turn % 2 == 0 else -1) if self._is_small else turn
            cost = self._inside[before].sum_columns() * few_or_many
            self._refute_by(self._solver.world(cost))
            if turn % 2 and self.open.sum() == before.sum():
                return

    def _by_cases(self, number: int) -> None:
        box = self.boxes[number]
        group = self.rows.cells.inside(box)
        steps = []
        for end, sign, wanted in self._ends:
            shown = self._solver.bound(group, sign)
            if shown is not None and shown[0] >= wanted:
                steps.append(Step(box, end, sign * shown[0], shown[1]))
                continue
            search = Cases(self.rows, self.limits, box, sign, wanted=wanted)
            tree = search.prove()
            self._refute_by(search.world)
            if tree is None:
                return
            steps.append(Step.by_cases(box, end, sign * wanted, tree))
        self.proofs[number] = steps[0], steps[1]


MOST_CLASH_WORK = 1_000_000  #: Most work, in lines times classes, to leave out lines of a clash.


def smallest_clash(problem: Problem, lines: Sequence[int], limits: Limits) -> list[int]:
    """Return a small set of lines that clash."""
    kept = list(lines)
    part = len(kept)
    work = 0
    while part > 1:
        part = (part + 1) // 2
        start = 0
        while start < len(kept) and work < MOST_CLASH_WORK:
            fewer = kept[:start] + kept[start + part :]
            work += len(fewer) * max((len(axis.classes) for axis in problem.axes), default=1)
            if clashes(problem, fewer, limits):
                kept = fewer
            else:
                start += part
    return kept


def clashes(problem: Problem, lines: Sequence[int], limits: Limits) -> bool:
    """Tell if the lines are proved infeasible."""
    chosen = tuple(sorted({axis for line in lines for _, masks in problem.boxes[line] for axis in masks}))
    axes = [problem.axes[place] for place in chosen]
    if count_groups(axes) <= MOST_GROUPS:
        cube = Cube(problem, chosen)
        cube.tighten(lines, lambda: limits.check("X01"))
        if cube.clash >= 0:
            return True
    if count_cells(axes) > MOST_CELLS:
        return False
    return bool(Solver(Rows.of(problem, chosen, lines=lines), limits).clash())


def refuse_clash(case: JointCase, problem: Problem, steps: Sequence[Step], limits: Limits) -> NoReturn:
    """Raise a contradiction that names the clashing lines."""
    places: dict[int, set[int]] = {}
    for number in smallest_clash(problem, lines_of(steps), limits):
        origin = problem.lines[number].origin
        lines = places.setdefault(origin.release, set())
        if isinstance(origin.place, int):
            lines.add(origin.place)
    named = [(case.name(release), sorted(lines)) for release, lines in sorted(places.items())]
    where = "; ".join(f"{name}, {numbered(lines)}" if lines else name for name, lines in named)
    raise Contradiction(
        "no people fit all that is printed there: the numbers cannot all be true of people as declared",
        where=where,
        remedy="Declare how the populations are related (--people), check the lines and n, or state how numbers were rounded (--rounding)",
        lines=[line for lines in places.values() for line in sorted(lines)] if len(places) == 1 else (),
    )


def refuse_clashes(case: JointCase, problem: Problem, prover: Prover, limits: Limits) -> None:
    """Raise a contradiction if no number fits a group of a cube."""
    for number, cube in enumerate(prover.cubes):
        if cube.clash >= 0:
            refuse_clash(case, problem, list(chain(*prover.prove_ends(number, cube.clash))), limits)
