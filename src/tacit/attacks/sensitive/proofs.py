"""Why nobody of a combination has a value: a weighted sum of statements that whoever doubts it can add up again.

Each statement enters with a whole-number weight, with its upper end where the weight is positive and its lower end where it is negative. Known
people are added where the weights leave them short: everybody with the combination and a value that is ruled out is counted at least
``denominator`` times, nobody less than 0 times. So when the sum is below the denominator, nobody is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.inference.bounds import components
from tacit.inference.classes import Problem, reduce
from tacit.inference.program import Infeasible, Program, Unsolved
from tacit.inference.statements import Numbers, Statement, Statements


@dataclass(frozen=True, slots=True)
class Term:
    """A statement and how often it is added; negative: taken away."""

    statement: Statement
    weight: int

    @property
    def end(self) -> int:
        """The end of the statement that counts."""
        return self.statement.hi if self.weight > 0 else self.statement.lo


@dataclass(frozen=True, slots=True)
class Group:
    """Known people of whom the same terms speak (by their places in the proof), each counted ``weight`` times.

    ``asked``: they have the combination in question.
    """

    terms: tuple[int, ...]
    people: int
    weight: int
    asked: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """Terms and groups whose sum stays below the denominator."""

    terms: tuple[Term, ...]
    groups: tuple[Group, ...]
    denominator: int

    @property
    def total(self) -> int:
        """What the sum comes to."""
        return sum(term.weight * term.end for term in self.terms) + sum(group.weight * group.people for group in self.groups)

    @property
    def holds(self) -> bool:
        """Whether nobody is left."""
        return self.total < self.denominator


class Prover:
    """Finds proofs over all statements, with nothing concluded beforehand."""

    def __init__(self, said: Statements) -> None:
        self.said = said
        self._programs: dict[int, Program] = {}

    @cached_property
    def _problem(self) -> Problem:
        return reduce(self.said, settle=False)

    @cached_property
    def _part_of(self) -> dict[int, Numbers]:
        return {int(c): chosen for chosen in components(self._problem) for c in chosen.tolist()}

    def ruled_out(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        """The proof that nobody of the combination has one of these values; None where no single sum proves it."""
        if not values:
            return Proof((), (), 1)
        c = int(self._problem.class_of[combination])
        chosen = self._part_of.get(c)
        if chosen is None:
            return None
        program = self._programs.setdefault(int(chosen[0]), Program(self._problem, chosen))
        gain, extra = _gain(program, c, values)
        try:
            answer = program.most(gain.astype(float))
        except (Infeasible, Unsolved):
            return None
        found = program.proof(gain, answer.weights, goal=-extra)
        if found is None or found.most + extra > 0:
            return None
        weights = _fewest(program, gain, found.weights, found.denominator, -extra)
        proof = self._written(program, weights, found.denominator, combination, values)
        return proof if proof.holds else None

    def _written(self, program: Program, weights: Numbers, denominator: int, combination: int, values: tuple[int, ...]) -> Proof:
        terms = tuple(
            self._term(int(self._problem.events[row]), int(self._problem.values[row]), int(weight))
            for row, weight in zip(program.rows.tolist(), weights.tolist(), strict=True)
            if weight
        )
        return Proof(terms, self._groups(terms, denominator, combination, values), denominator)

    def _term(self, event: int, value: int, weight: int) -> Term:
        """The statement behind a row: of two values, one about the other may be meant."""
        people = self.said.whole(event)
        best: tuple[int, Term] | None = None
        for one in self._of_event[event]:
            same = one.value == value
            if not same and self.said.n_values != 2:
                continue
            term = Term(one, weight if same else -weight)
            loss = term.weight * term.end + (0 if same else weight * people)
            if best is None or loss < best[0]:
                best = (loss, term)
        assert best is not None, "every row comes from a statement"
        return best[1]

    @cached_property
    def _of_event(self) -> dict[int, list[Statement]]:
        found: dict[int, list[Statement]] = {}
        for one in self.said.listed:
            found.setdefault(one.event, []).append(one)
        return found

    def _groups(self, terms: tuple[Term, ...], denominator: int, combination: int, values: tuple[int, ...]) -> tuple[Group, ...]:
        """Known people by the terms that speak of them, with what they have to be counted beyond these."""
        people = self.said.population.people
        counted = np.zeros((len(people), self.said.n_values), np.int64)
        inside = np.zeros((len(people), len(terms)), np.bool_)
        for number, term in enumerate(terms):
            where = self.said.events[term.statement.event]
            counted[where, term.statement.value] -= term.weight
            inside[where, number] = True
        counted[combination, list(values)] += denominator
        short = counted.max(axis=1)
        asked = np.arange(len(people)) == combination
        places = np.flatnonzero(short)
        keys: dict[tuple[bool, bytes], list[int]] = {}
        packed = np.packbits(inside, axis=1)
        for q in places.tolist():
            keys.setdefault((bool(asked[q]), packed[q].tobytes()), []).append(q)
        groups = [
            Group(tuple(np.flatnonzero(inside[found[0]]).tolist()), int(people[found].sum()), int(short[found[0]]), asked_for)
            for (asked_for, _), found in keys.items()
        ]
        return tuple(sorted(groups, key=lambda group: (not group.asked, group.terms)))


def _gain(program: Program, c: int, values: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], int]:
    """The people of a class with one of the values, as a sum of columns and a number."""
    gain = np.zeros(len(program), np.int64)
    columns = np.flatnonzero(program.classes == c)
    named = {int(value) for value in program.values[columns].tolist()}
    rest = [value for value in values if value not in named]
    for column in columns.tolist():
        value = int(program.values[column])
        gain[column] = int(value in values or (value < 0 and bool(rest)))
    if rest and len(columns) == 1:
        # What the only column leaves is all other values together.
        gain[columns] -= 1
        return gain, int(program.size[columns[0]])
    return gain, 0


def _fewest(program: Program, gain: npt.NDArray[np.int64], weights: Numbers, denominator: int, goal: int) -> Numbers:
    """Weights without those that the proof does not need."""
    kept = weights.copy()
    # Rows about many people are what a reader would rather do without.
    used = np.flatnonzero(weights)
    for row in used[np.argsort(-program.wholes[used], kind="stable")].tolist():
        tried = kept.copy()
        tried[row] = 0
        found = program.added(gain, tried, denominator)
        if found is not None and found.most <= goal:
            kept = tried
    return kept
