"""Linear programs over people, certified in exact arithmetic.

The unknowns are the people ``y[c, v]`` of class c with value v. Any weights ``w`` of the statements bound any sum of unknowns:

    sum of g[c, v] y[c, v]  <=  sum over statements of w hi (w > 0) or w lo (w < 0)
                                + sum over classes of people[c] max over v of (g - sum of w)

since each person of a class has one of its open values. A solver only proposes the weights; they are made fractions with one denominator, and
the right side is added up in whole numbers. A solution of the program counts as a witness only when it is whole and keeps every statement.

Where the bound over fractions of people is not tight, :func:`branch` splits on the size of a class (branch and bound). Each branch ends with
weights that prove its bound exactly, or with a witness; the branches together are the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.model.arrays import Flags, Floats, Ints
from tacit.solve.solver import DENOMINATORS, Solution, linear_program, solve_in_turn, solve_linear, solve_whole
from tacit.solve.solver import Program as LinearProgram
from tacit.solve.statements import Problem

NEAR = 1e-5  #: Ints of a solver that are this close to a whole number are tried as it.
NODES = 200  #: Cases that the solver may distinguish in search of whole numbers.
WHOLE_WORK = 6  #: Such a search costs about as much as so many programs over fractions of people.
_MOST = 2.0**61  #: Sums above this are not added up in 64 bits.


class Infeasible(Exception):
    """Raised if no numbers of people keep all statements, as weights prove."""

    def __init__(self, weights: Ints, denominator: int) -> None:
        super().__init__("no numbers of people keep all statements")
        self.weights = weights
        self.denominator = denominator


class Unsolved(Exception):
    """Raised if the solver reached its limits."""


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """Integer weights that prove ``total / denominator``."""

    weights: Ints
    denominator: int
    total: int

    @property
    def most(self) -> int:
        """Bound for a whole number of people."""
        return self.total // self.denominator


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Branching constraint: an upper or lower ``bound``."""

    column: int
    bound: int
    upper: bool


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Unknowns and dual weights from the solver."""

    people: Floats
    weights: Floats
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Program for the solver, and the statements behind its rows."""

    asking: Program
    program: LinearProgram
    columns: Ints
    cuts: tuple[Cut, ...]
    fixed: Ints
    above: Ints
    below: Ints

    def read(self, solution: Solution, check: Callable[[], float | None]) -> Answer:
        """Return what the solver found; raise :class:`Infeasible` or :class:`Unsolved`."""
        asking = self.asking
        asking.note_work(solution, len(self.fixed) + len(self.above) + len(self.below) + len(self.cuts))
        if solution.status == 2:
            asking.prove_infeasible(self.cuts, check())
        if solution.status != 0:
            raise Unsolved
        assert solution.x is not None
        assert solution.value is not None
        weights = np.zeros(len(asking.rows) + len(self.cuts))
        weights[self.fixed] -= solution.equal[: len(self.fixed)]
        of_above, of_below, of_cuts = np.split(solution.above, np.cumsum([len(self.above), len(self.below)]))
        weights[self.above] -= of_above
        weights[self.below] += of_below
        weights[len(asking.rows) :] -= of_cuts * np.array([1 if cut.upper else -1 for cut in self.cuts])
        people: Floats = np.bincount(self.columns, solution.x, len(asking)).astype(np.float64)
        return Answer(people, weights, -float(solution.value))


class Program:
    """Linear program of some classes of a :class:`Problem`.

    Column i is ``y[classes[i], values[i]]``; value -1 stands for all values together that no statement about the class mentions. Where only
    one value of a class is mentioned, these are what its column leaves, and have no column of their own.
    """

    def __init__(self, problem: Problem, chosen: Ints) -> None:
        from scipy.sparse import csr_array

        self.problem = problem
        sizes = np.diff(problem.starts)[chosen]
        entries = np.concatenate([np.arange(problem.starts[c], problem.starts[c + 1]) for c in chosen.tolist()])
        rows = problem.rows[entries]
        owner = np.repeat(chosen, sizes)
        pairs, place = np.unique(owner * problem.n_values + problem.values[rows], return_inverse=True)
        classes, values = np.divmod(pairs, problem.n_values)
        mentioned = np.bincount(classes, minlength=len(problem.people))
        untouched = (problem.closed == 0).sum(axis=1) - mentioned
        rest = chosen[(mentioned[chosen] > 1) & (untouched[chosen] > 0)]
        self.rows, place_of_row = np.unique(rows, return_inverse=True)
        self.classes: Ints = np.append(classes, rest).astype(np.int64)
        self.values: Ints = np.append(values, np.full(len(rest), -1)).astype(np.int64)
        self.size: Ints = problem.people[self.classes]
        #: Ends of columns that are settled, and the rows of the statements that settle them.
        self.least: Ints = np.zeros_like(self.size)
        self.largest: Ints = self.size.copy()
        self.settling: Ints = np.empty(0, np.int64)
        self.lo = problem.lo[self.rows]
        self.hi = problem.hi[self.rows]
        self.wholes = problem.whole[self.rows]
        shape = (len(self.rows), len(self.classes))
        self.matrix = csr_array((np.ones(len(rows), np.int64), (place_of_row, place)), shape=shape)
        #: Classes of one column, whose other values it leaves room for.
        self.alone: Flags = mentioned[self.classes] == 1
        self._several = np.flatnonzero(~self.alone)
        members, self._of_several = np.unique(self.classes[self._several], return_inverse=True)
        ones = np.ones(len(self._several), np.int64)
        self._each_person = csr_array((ones, (self._of_several, self._several)), shape=(len(members), shape[1]))
        self._each_size: Ints = problem.people[members]
        # Statements that fix a number come first; the others are taken in when a solution breaks them.
        self._active: Flags = self.lo == self.hi
        #: How much was computed so far, the same on every machine: steps of the solver, times the statements that it looked at.
        self.work = 0
        self._last_work = 0

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def conditions(self) -> tuple[Any, Ints, Ints]:
        """The statements, and the people of each class, as rows with bounds on their sums."""
        from scipy.sparse import vstack

        rows = vstack([self.matrix, self._each_person], format="csr")
        return rows, np.concatenate((self.lo, self._each_size)), np.concatenate((self.hi, self._each_size))

    def settle(self, empty: Flags, full: Flags, proof: Proof) -> None:
        """Take it from a proof that columns are empty or full."""
        self.largest[empty] = 0
        self.least[full] = self.size[full]
        self.settling = np.flatnonzero(proof.weights)

    def keeps(self, people: Ints) -> bool:
        """Tell if whole numbers of people keep every statement."""
        sums = self.matrix @ people
        inside = bool(((people >= 0) & (people <= self.size)).all())
        kept = bool(((self.lo <= sums) & (sums <= self.hi)).all())
        everybody: Ints = np.asarray(self._each_person @ people)
        return inside and kept and np.array_equal(everybody, self._each_size)

    def most(
        self,
        gain: Floats,
        *,
        pieces: tuple[Ints, Floats] | None = None,
        cuts: tuple[Cut, ...] = (),
        check: Callable[[], float | None] = lambda: None,
        interior: bool = False,
        loose: Flags | None = None,
    ) -> Answer:
        """Find the solution with the largest gain.

        ``pieces`` are columns and lengths that the gains are for, where a column has several. ``check`` gives the seconds that are left.
        With ``interior`` it is not a corner. Columns that are ``loose`` have no ends. Raises :class:`Infeasible` with its proof, or
        :class:`Unsolved`.
        """
        while True:
            asked = self._ask(gain, pieces, cuts, check(), interior=interior, loose=loose)
            answer = asked.read(solve_in_turn(asked.program, [])[0], check)
            if not self._take_in_missed(answer):
                return answer

    def most_of_each(
        self, gains: Sequence[Floats], *, loose: Flags | None = None, check: Callable[[], float | None] = lambda: None
    ) -> list[Answer | None]:
        """Find the solution with the largest gain, for each of several gains; None where the solver reached its limits.

        Each is looked for from the one before, which takes a tenth of the time of :meth:`most`. ``loose`` is as there.
        """
        found: list[Answer | None] = [None] * len(gains)
        waiting = list(range(len(gains)))
        while waiting:
            asked = self._ask(gains[waiting[0]], None, (), check(), loose=loose)
            solutions = solve_in_turn(asked.program, [-gains[number] for number in waiting[1:]])
            again = []
            for number, solution in zip(waiting, solutions, strict=True):
                try:
                    answer = asked.read(solution, check)
                except Unsolved:
                    continue
                if self._take_in_missed(answer):
                    again.append(number)
                else:
                    found[number] = answer
            waiting = again
        return found

    def _take_in_missed(self, answer: Answer) -> bool:
        """Take in the statements that an answer breaks; tell if there are any."""
        sums = self.matrix @ answer.people
        missed = ~self._active & ((sums < self.lo - NEAR) | (sums > self.hi + NEAR))
        self._active |= missed
        return bool(missed.any())

    def _ask(
        self,
        gain: Floats,
        pieces: tuple[Ints, Floats] | None,
        cuts: tuple[Cut, ...],
        seconds: float | None,
        *,
        interior: bool = False,
        loose: Flags | None = None,
    ) -> _Asked:
        from scipy.sparse import vstack

        if pieces is None:
            columns = np.arange(len(self))
            ends = np.stack((self.least, self.largest), axis=1).astype(float)
        else:
            columns, lengths = pieces
            ends = np.stack((np.zeros(len(lengths)), lengths), axis=1)
        used = np.arange(len(self.rows)) if interior or loose is not None else np.flatnonzero(self._active)
        if loose is not None:
            ends[loose[columns]] = -np.inf, np.inf
        fixed = used[self.lo[used] == self.hi[used]]
        above = used[(self.lo[used] < self.hi[used]) & (self.hi[used] < self.wholes[used])]
        below = used[(self.lo[used] < self.hi[used]) & (self.lo[used] > 0)]
        extra = self._cut_rows(cuts)
        equal = vstack([self.matrix[fixed], self._each_person], format="csr")[:, columns]
        inside = vstack([self.matrix[above], -self.matrix[below], extra], format="csr")[:, columns]
        limits = np.concatenate((self.hi[above], -self.lo[below], [cut.bound if cut.upper else -cut.bound for cut in cuts]))
        program = linear_program(
            -gain,
            equal=(equal, np.concatenate((self.lo[fixed], self._each_size)).astype(float)),
            above=(inside, limits.astype(float)),
            bounds=ends,
            seconds=seconds,
            interior=interior,
        )
        return _Asked(self, program, columns, cuts, fixed, above=above, below=below)

    def note_work(self, solution: Solution, rows: int) -> None:
        """Count what a program took."""
        self._last_work = (solution.steps + 1) * (rows + self._each_person.shape[0] + 1)
        self.work += self._last_work

    def _cut_rows(self, cuts: tuple[Cut, ...]) -> Any:
        from scipy.sparse import csr_array

        signs = [1 if cut.upper else -1 for cut in cuts]
        shape = (len(cuts), len(self))
        return csr_array((np.array(signs, np.int64), (np.arange(len(cuts)), [cut.column for cut in cuts])), shape=shape)

    def prove_infeasible(self, cuts: tuple[Cut, ...], seconds: float | None) -> None:
        """Raise :class:`Infeasible` with its proof, or :class:`Unsolved`."""
        from scipy.sparse import eye_array, hstack, vstack

        rows = vstack([self.matrix, abs(self._cut_rows(cuts))], format="csr")
        count = len(self.rows) + len(cuts)
        low = np.concatenate((self.lo, [0 if cut.upper else cut.bound for cut in cuts]))
        high = np.concatenate((self.hi, [cut.bound if cut.upper else int(self.size[cut.column]) for cut in cuts]))
        slack = eye_array(count, format="csr")
        inside = vstack([hstack([rows, -slack]), hstack([-rows, -slack])], format="csr")
        each = self._each_person
        padded = hstack([each, eye_array(each.shape[0], count, format="csr") * 0], format="csr") if each.shape[0] else None
        answer = solve_linear(
            np.concatenate((np.zeros(len(self)), np.ones(count))),
            above=(inside, np.concatenate((high, -low)).astype(float)),
            equal=None if padded is None else (padded, self._each_size.astype(float)),
            bounds=np.stack((np.zeros(len(self) + count), np.append(self.size, np.full(count, np.inf))), axis=1),
            seconds=seconds,
        )
        if answer.status != 0:
            raise Unsolved
        weights = -(answer.above[:count] - answer.above[count:])
        proof = self.proof(np.zeros(len(self), np.int64), weights, cuts, goal=-1)
        if proof is None or proof.total >= 0:
            raise Unsolved
        raise Infeasible(proof.weights, proof.denominator)

    def whole_people(self, gain: Floats, *, check: Callable[[], float | None] = lambda: None) -> Ints | None:
        """Find a feasible integer point with large gain, or None."""
        rows, low, high = self.conditions
        answer = solve_whole(
            -gain,
            matrix=rows,
            low=low,
            high=high,
            most=self.largest.astype(float),
            nodes=NODES,
            gap=0.01,
            seconds=check(),
        )
        self.work += WHOLE_WORK * self._last_work
        if answer.x is None:
            return None
        people = np.rint(answer.x).astype(np.int64)
        return people if self.keeps(people) else None

    def proof(self, gain: Ints, weights: Floats, cuts: tuple[Cut, ...] = (), *, goal: int | None = None) -> Proof | None:
        """Return the best bound, or simplest that reaches ``goal``, near the weights."""
        best: Proof | None = None
        for denominator in DENOMINATORS:
            found = self.added(gain, np.rint(weights * denominator).astype(np.int64), denominator, cuts)
            if found is not None and (best is None or found.most < best.most):
                best = found
            if best is not None and goal is not None and best.most <= goal:
                break
        return best

    def added(self, gain: Ints, weights: Ints, denominator: int, cuts: tuple[Cut, ...] = ()) -> Proof | None:
        """Return the bound of integer weights; None on overflow."""
        of_rows = weights[: len(self.rows)]
        of_cuts = weights[len(self.rows) :]
        largest = float(np.abs(weights).max(initial=0)) * max(1, len(weights))
        largest += denominator * max(1, int(np.abs(gain).max(initial=0)))
        if largest * max(1, self.problem.n) > _MOST:
            return None
        total = int((of_rows * np.where(of_rows > 0, self.hi, self.lo)).sum())
        left = denominator * gain - self.matrix.T @ of_rows
        for cut, weight in zip(cuts, of_cuts.tolist(), strict=True):
            # A weight on the wrong side of a cut would bound nothing.
            if weight * (1 if cut.upper else -1) > 0:
                total += weight * cut.bound
                left[cut.column] -= weight
        total += int(np.where(left > 0, left * self.largest, left * self.least)[self.alone].sum())
        several = self._several
        # Nobody has a value whose column is empty, and everybody one whose column is full.
        barred = (self.largest[several] == 0) | (self._has_full & (self.least[several] == 0))
        best = np.full(len(self._each_size), np.iinfo(np.int64).min)
        np.maximum.at(best, self._of_several, np.where(barred, np.iinfo(np.int64).min, left[several]))
        return Proof(weights, denominator, total + int((self._each_size * best).sum()))

    @property
    def _has_full(self) -> Flags:
        """Columns of the classes of several, one of which is full."""
        is_full = self.least[self._several] == self.size[self._several]
        return np.asarray(np.bincount(self._of_several, is_full, len(self._each_size)) > 0)[self._of_several]


#: How much is looked at before an end is left open: cases, times the unknowns of each; never fewer cases than the second.
MOST_WORK = 100_000
FEWEST_CASES = 20
_FRACTION = 1e-6


class NoWhole(Exception):
    """Raised if only fractional people are feasible, as ``rows`` prove."""

    def __init__(self, rows: tuple[int, ...]) -> None:
        super().__init__("no whole numbers of people keep all statements")
        self.rows = rows


@dataclass(eq=False)
class Branching:
    """Outcome of branch and bound: witnesses, leaves, maximum."""

    seen: int
    witnesses: list[Ints] = field(default_factory=list)
    cases: list[tuple[tuple[Cut, ...], Proof]] = field(default_factory=list)
    most: int | None = None


def branch(program: Program, gain: Ints, seen: int, *, goal: int, check: Callable[[], float | None] = lambda: None) -> Branching:
    """Maximise ``gain @ people`` by branch and bound.

    Only what is above ``seen``, which a witness attains, matters; the search ends at ``goal``. Raises :class:`NoWhole` where no whole people
    keep the statements.
    """
    found = Branching(seen)
    waiting: list[tuple[Cut, ...]] = [()]
    looked_at = 0
    while waiting:
        looked_at += 1
        if looked_at > max(FEWEST_CASES, MOST_WORK // max(1, len(program))):
            return found
        cuts = waiting.pop()
        try:
            answer = program.most(gain.astype(float), cuts=cuts, check=check)
        except Infeasible as why:
            # Less than nobody: whatever is asked, it does not happen in this case.
            found.cases.append((cuts, Proof(why.weights, why.denominator, -1)))
            continue
        except Unsolved:
            return found
        proof = program.proof(gain, answer.weights, cuts, goal=found.seen)
        if proof is not None and proof.most <= found.seen:
            found.cases.append((cuts, proof))
            continue
        whole = np.rint(answer.people).astype(np.int64)
        if program.keeps(whole) and int(gain @ whole) > found.seen:
            found.seen = int(gain @ whole)
            found.witnesses.append(whole)
            if found.seen >= goal:
                found.most = None
                return found
            waiting.append(cuts)
            continue
        distance = np.abs(answer.people - np.rint(answer.people))
        column = int(distance.argmax())
        if distance[column] < _FRACTION:
            return found
        below = int(np.floor(answer.people[column]))
        waiting += [(*cuts, Cut(column, below, upper=True)), (*cuts, Cut(column, below + 1, upper=False))]
    least = int(np.where(gain < 0, gain * program.size, 0).sum())
    if seen < least and not found.witnesses:
        used = {int(row) for _, proof in found.cases for row in np.flatnonzero(proof.weights[: len(program.rows)])}
        used.update(program.settling.tolist())
        raise NoWhole(tuple(int(program.rows[row]) for row in sorted(used)))
    found.most = found.seen
    return found
