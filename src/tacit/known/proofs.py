"""Proofs by weighted sums that a combination lacks a value.

Each statement enters with a whole-number weight, with its upper end if the weight is positive and its lower end if it is negative. Known
people are added where the weights fall short: everybody with the combination and a value that is ruled out is counted at least
``denominator`` times, and nobody less than 0 times. So if the sum is below the denominator, nobody is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.known.case import PeopleCase
from tacit.known.releases import SeveralCase
from tacit.model.arrays import Ints
from tacit.model.errors import LimitReached
from tacit.model.policy import Limits
from tacit.model.words import CountedPeople
from tacit.solve.bounds import Bounds, bound, clashing, components
from tacit.solve.program import Infeasible, NoWhole, Program, Unsolved
from tacit.solve.program import Proof as Weights
from tacit.solve.statements import Clash, Problem, Statement, Statements, reduce


@dataclass(frozen=True, slots=True)
class Term:
    """Statement and its weight; negative ones are subtracted."""

    statement: Statement
    weight: int

    @property
    def end(self) -> int:
        """End of the statement that counts."""
        return self.statement.hi if self.weight > 0 else self.statement.lo


@dataclass(frozen=True, slots=True)
class Proof:
    """Terms and groups whose sum stays below the denominator."""

    terms: tuple[Term, ...]
    groups: tuple[CountedPeople, ...]
    denominator: int


class Prover:
    """Finds proofs over all statements, with nothing concluded beforehand.

    ``check`` returns the seconds that are left, or None without a limit.
    """

    def __init__(self, said: Statements, check: Callable[[], float | None] = lambda: None) -> None:
        self.said = said
        self.check = check
        self._programs: dict[int, Program] = {}
        #: By the first class of a part: weights of its statements, over a denominator, that prove many findings at once.
        self._shared: dict[int, tuple[Ints, int]] = {}

    @cached_property
    def _problem(self) -> Problem:
        return reduce(self.said, settle=False)

    @cached_property
    def _part_of(self) -> dict[int, Ints]:
        return {int(c): chosen for chosen in components(self._problem) for c in chosen.tolist()}

    def _program(self, combination: int) -> Program | None:
        chosen = self._part_of.get(int(self._problem.class_of[combination]))
        if chosen is None:
            return None
        first = int(chosen[0])
        if first not in self._programs:
            self._programs[first] = Program(self._problem, chosen)
        return self._programs[first]

    def ruled_out(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        """Return the proof that rules these values out, or None.

        Single statements are tried first, then those about the combination, then all, since most proofs need few.
        """
        if not values:
            return Proof((), (), 1)
        rows = self._single_rows(combination, values)
        found = None if rows is None else self._proof(self._problem, rows, 1, combination, values=values)
        if found is None and not self._is_over:
            found = self._by_own_statements(combination, values)
        if found is None:
            found = self._by_shared_weights(combination, values)
        if found is None and not self._is_over:
            program = self._program(combination)
            found = None if program is None else self._by_program(program, self._problem, combination, values)
        return found

    def prove_in_time(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> list[bool]:
        """Tell which combinations and values can be proved in time."""
        proved = [self._single_rows(q, values) is not None for q, values in wanted]
        open_ones = [place for place, done in enumerate(proved) if not done]
        if open_ones and not self._is_over:
            self._find_shared_weights([wanted[place] for place in open_ones])
        for place in open_ones:
            q, values = wanted[place]
            proved[place] = self._by_shared_weights(q, values) is not None
            if not proved[place] and not self._is_over:
                proved[place] = self.ruled_out(q, values) is not None
        return proved

    @property
    def _is_over(self) -> bool:
        try:
            self.check()
        except LimitReached:
            return True
        return False

    def _single_rows(self, combination: int, values: tuple[int, ...]) -> list[tuple[int, int]] | None:
        """Return single weighted statements that rule values out."""
        problem = self._problem
        c = int(problem.class_of[combination])
        rows = problem.rows[problem.starts[c] : problem.starts[c + 1]]
        rows = rows[np.argsort(problem.whole[rows], kind="stable")]
        of_rows = problem.values[rows]
        everybody = rows[(problem.lo[rows] == problem.whole[rows]) & ~np.isin(of_rows, values)]
        if len(everybody):
            return [(int(everybody[0]), -1)]
        chosen = []
        for value in values:
            nobody = rows[(problem.hi[rows] == 0) & (of_rows == value)]
            if len(nobody) == 0:
                return None
            chosen.append((int(nobody[0]), 1))
        return sorted(chosen)

    def _by_own_statements(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        problem = self._problem
        c = int(problem.class_of[combination])
        events = set(problem.events[problem.rows[problem.starts[c] : problem.starts[c + 1]]].tolist())
        own = Statements(self.said.population, self.said.n_values, events=self.said.events)
        own.listed = [one for one in self.said.listed if one.event in events]
        smaller = reduce(own, settle=False)
        inner = int(smaller.class_of[combination])
        chosen = next((part for part in components(smaller) if inner in part), None)
        return None if chosen is None else self._by_program(Program(smaller, chosen), smaller, combination, values)

    def _find_shared_weights(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        parts: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for q, values in wanted:
            chosen = self._part_of.get(int(self._problem.class_of[q]))
            if chosen is not None:
                parts.setdefault(int(chosen[0]), []).append((q, values))
        for first, asked in parts.items():
            program = self._program(asked[0][0])
            assert program is not None
            total = np.zeros(len(program), np.int64)
            for q, values in asked:
                gain, _ = _gain(program, int(self._problem.class_of[q]), values)
                total = np.where(gain == 0, total, gain)
            with suppress(Infeasible, Unsolved, LimitReached):
                answer = program.most(total.astype(float), check=self.check)
                found = program.proof(total, answer.weights, goal=int(np.floor(answer.value + 1e-6)))
                if found is not None:
                    self._shared[first] = found.weights, found.denominator

    def _by_shared_weights(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        if not self._shared:
            return None
        c = int(self._problem.class_of[combination])
        chosen = self._part_of.get(c)
        shared = None if chosen is None else self._shared.get(int(chosen[0]))
        program = self._program(combination)
        if shared is None or program is None:
            return None
        found = program.added(_gain(program, c, values)[0], *shared)
        return self._trim(program, self._problem, combination, values, found=found)

    def _by_program(self, program: Program, problem: Problem, combination: int, values: tuple[int, ...]) -> Proof | None:
        gain, extra = _gain(program, int(problem.class_of[combination]), values)
        try:
            answer = program.most(gain.astype(float), check=self.check)
        except (Infeasible, Unsolved, LimitReached):
            return None
        found = program.proof(gain, answer.weights, goal=-extra)
        return self._trim(program, problem, combination, values, found=found)

    def _trim(
        self, program: Program, problem: Problem, combination: int, values: tuple[int, ...], found: Weights | None
    ) -> Proof | None:
        """Return the proof without needless statements, if it proves the claim."""
        gain, extra = _gain(program, int(problem.class_of[combination]), values)
        if found is None or found.most + extra > 0:
            return None
        kept = found.weights.copy()
        # Drop rows about many people first: they are the hardest to check.
        used = np.flatnonzero(kept)
        for row in used[np.argsort(-program.wholes[used], kind="stable")].tolist():
            if self._is_over:
                break
            tried = kept.copy()
            tried[row] = 0
            fewer = program.added(gain, tried, found.denominator)
            if fewer is not None and fewer.most + extra <= 0:
                kept = tried
        weighted = zip(program.rows.tolist(), kept.tolist(), strict=True)
        rows = [(row, int(weight)) for row, weight in weighted if weight]
        return self._proof(problem, rows, found.denominator, combination, values=values)

    def _proof(
        self, problem: Problem, rows: list[tuple[int, int]], denominator: int, combination: int, values: tuple[int, ...]
    ) -> Proof | None:
        terms = tuple(self._term(int(problem.events[row]), int(problem.values[row]), weight) for row, weight in rows)
        groups = self._groups(terms, denominator, combination, values)
        total = sum(term.weight * term.end for term in terms) + sum(group.weight * group.people for group in groups)
        return Proof(terms, groups, denominator) if total < denominator else None

    def _term(self, event: int, value: int, weight: int) -> Term:
        """Return the best statement behind a row; of two values, either."""
        people = self.said.whole(event)
        about = [one for one in self._of_event[event] if one.value == value or self.said.n_values == 2]
        terms = [Term(one, weight if one.value == value else -weight) for one in about]
        return min(terms, key=lambda one: one.weight * one.end + (0 if one.statement.value == value else weight * people))

    @cached_property
    def _of_event(self) -> dict[int, list[Statement]]:
        found: dict[int, list[Statement]] = defaultdict(list)
        for one in self.said.listed:
            found[one.event].append(one)
        return found

    def _groups(
        self, terms: tuple[Term, ...], denominator: int, combination: int, values: tuple[int, ...]
    ) -> tuple[CountedPeople, ...]:
        people = self.said.population.people
        counted = np.zeros((len(people), self.said.n_values), np.int64)
        inside = np.zeros((len(people), len(terms)), np.bool_)
        for number, term in enumerate(terms):
            where = self.said.events[term.statement.event]
            counted[where, term.statement.value] -= term.weight
            inside[where, number] = True
        counted[combination, list(values)] += denominator
        short = counted.max(axis=1)
        alike: dict[tuple[bool, bytes], list[int]] = defaultdict(list)
        packed = np.packbits(inside, axis=1)
        for q in np.flatnonzero(short).tolist():
            alike[q == combination, packed[q].tobytes()].append(q)
        groups = [
            CountedPeople(int(short[found[0]]), int(people[found].sum()), asked, tuple(np.flatnonzero(inside[found[0]]).tolist()))
            for (asked, _), found in alike.items()
        ]
        return tuple(sorted(groups, key=lambda group: (not group.asked, group.terms)))


def _gain(program: Program, c: int, values: tuple[int, ...]) -> tuple[Ints, int]:
    """Return a class's people with these values, as a linear form."""
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


USUAL_WORK = 150_000_000  #: Most work without a time limit: a few minutes, and the same findings on every machine.
BOUNDING = 0.7  #: Share of the time for bounds; the rest is for their proofs.
#: Most lines of several releases for programs, which would have a row for each; of more, only what single lines settle is concluded.
MOST_LINES = 10_000


def bounds_together(case: SeveralCase, limits: Limits, people: Ints | None = None) -> tuple[Statements, Bounds]:
    """Return the statements of several releases, and their bounds.

    For a few people, only their possible values are decided. Everybody's bounds take at most half of the time.
    """
    known: tuple[Statements, Bounds] | None = case.remembered.get("bounds")
    if known is None or people is not None:
        said = state_everything(case)
        known = said, bounds_of(case, said, limits if people is not None else limits.part(0.5), people)
        if people is None:
            case.remembered["bounds"] = known
    return known


def bounds_of(case: PeopleCase, said: Statements, limits: Limits, people: Ints | None = None) -> Bounds:
    """Return bounds for all combinations or ``people``; raise if infeasible."""

    def check() -> float | None:
        limits.check("R03")
        return limits.seconds_left

    problem: Problem | None = None
    try:
        problem = reduce(said)
        work = USUAL_WORK if limits.deadline is None else None
        work = 0 if isinstance(case, SeveralCase) and case.n_lines > MOST_LINES else work
        own = case.population.people if people is None else people
        return bound(problem, own, check=check, stop=LimitReached, most_work=work, tight=people is None)
    except Clash as clash:
        case.refuse(clashing(said, check=check, stop=LimitReached) or clash.origins)
    except Infeasible:
        case.refuse(clashing(said, check=check, stop=LimitReached) or [one.origin for one in said.listed])
    except NoWhole as why:
        assert problem is not None
        case.refuse([origin for row in why.rows for origin in problem.origins[row]])


def state_everything(case: PeopleCase) -> Statements:
    """Return all statements, with every informative missing rule."""
    said = case.published()
    missing = case.missing
    for event, value in np.argwhere(missing.most < missing.wholes[:, None]).tolist():
        missing.say(said, event, value)
    return said
