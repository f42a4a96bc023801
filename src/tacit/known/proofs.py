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
from tacit.model.arrays import Flags, Ints
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


LARGE = 150_000  #: Columns times statements, above which claims are proved in turn.
IN_TURN = 40  #: Claims that are proved in turn, at most.

Claim = tuple[int, tuple[int, ...]]  #: A combination, and values that nobody of it has.


@dataclass(frozen=True, eq=False)
class Claims:
    """All claims that may have to be proved, in order, and the values that no combination has.

    Only columns that are empty or full take part in a proof of this: weights of statements cancel out in others, as if these had no ends. That
    makes large programs quick, and the proofs short.
    """

    listed: Sequence[Claim]
    impossible: Flags

    @classmethod
    def of(cls, exposed: Ints, impossible: Flags) -> Claims:
        """Return the claims that exposed combinations have none of the values that are impossible."""
        return cls([(q, tuple(np.flatnonzero(impossible[q]).tolist())) for q in exposed.tolist()], impossible)


class Prover:
    """Finds proofs over all statements, with nothing concluded beforehand.

    ``check`` returns the seconds that are left, or None without a limit. With ``claims``, those of large programs are proved in turn.
    """

    def __init__(self, said: Statements, check: Callable[[], float | None] = lambda: None, claims: Claims | None = None) -> None:
        self.said = said
        self.check = check
        self.claims = claims
        self._programs: dict[int, Program] = {}
        self._proved: dict[Claim, Proof | None] = {}
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
        if found is None and not self._is_over:
            found = self._in_turn((combination, values))
        if found is None:
            found = self._by_shared_weights(combination, values)
        if found is None and not self._is_over:
            program = self._program(combination)
            found = None if program is None else self._by_program(program, self._problem, combination, values)
        return found

    def prove_in_time(self, wanted: Sequence[Claim]) -> list[bool]:
        """Tell which combinations and values can be proved in time."""
        proved = [self._single_rows(q, values) is not None for q, values in wanted]
        open_ones = [place for place, done in enumerate(proved) if not done]
        if open_ones and not self._is_over:
            self._find_shared_weights([wanted[place] for place in open_ones])
        for place in open_ones:
            q, values = wanted[place]
            proved[place] = self._weigh_shared(q, values) is not None
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

    def _in_turn(self, claim: Claim) -> Proof | None:
        """Return the proof of a claim, after those that follow it were proved with it."""
        program = self._program(claim[0])
        if self.claims is None or program is None or len(program) * len(program.rows) < LARGE:
            return None
        if claim not in self._proved:
            listed = self.claims.listed
            begin = listed.index(claim) if claim in listed else len(listed)
            same = [one for one in listed[begin : begin + IN_TURN] if self._program(one[0]) is program and self._is_hard(one)]
            asked = [one for one in (claim, *same[1:]) if one not in self._proved]
            gains = [_gain(program, int(self._problem.class_of[q]), values) for q, values in asked]
            costs = [gain.astype(float) for gain, _ in gains]
            try:
                answers = program.most_of_each(costs, loose=self._loose(program), check=self.check)
            except (Infeasible, LimitReached):
                return None
            for (q, values), (gain, extra), answer in zip(asked, gains, answers, strict=True):
                found = None if answer is None else program.proof(gain, answer.weights, goal=-extra)
                self._proved[q, values] = self._trim(program, self._problem, q, values, found=found)
        return self._proved[claim]

    def _is_hard(self, claim: Claim) -> bool:
        return self._single_rows(*claim) is None

    def _loose(self, program: Program) -> Flags | None:
        """Return the columns that are neither empty nor full."""
        if self.claims is None:
            return None
        nobody = np.ones((len(self._problem.people), self.said.n_values), np.bool_)
        np.logical_and.at(nobody, self._problem.class_of, self.claims.impossible)
        named = np.zeros(nobody.shape, np.bool_)
        real = program.values >= 0
        named[program.classes[real], program.values[real]] = True
        own = np.zeros((len(program), self.said.n_values), np.bool_)
        own[real, program.values[real]] = True
        own[~real] = ~named[program.classes[~real]]
        of_column = nobody[program.classes]
        empty = (of_column | ~own).all(axis=1)
        full = (of_column | own).all(axis=1)
        return np.asarray(~(empty | full))

    def _find_shared_weights(self, wanted: Sequence[Claim]) -> None:
        parts: dict[int, list[Claim]] = {}
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
                answer = program.most(total.astype(float), loose=self._loose(program), check=self.check)
                found = program.proof(total, answer.weights, goal=int(np.floor(answer.value + 1e-6)))
                if found is not None:
                    self._shared[first] = found.weights, found.denominator

    def _by_shared_weights(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        found = self._weigh_shared(combination, values)
        program = self._program(combination)
        return None if program is None else self._trim(program, self._problem, combination, values, found=found)

    def _weigh_shared(self, combination: int, values: tuple[int, ...]) -> Weights | None:
        """Return the shared weights, if they prove the claim."""
        c = int(self._problem.class_of[combination])
        chosen = self._part_of.get(c)
        shared = None if chosen is None else self._shared.get(int(chosen[0]))
        program = self._program(combination)
        if shared is None or program is None:
            return None
        gain, extra = _gain(program, c, values)
        found = program.added(gain, *shared)
        return found if found is not None and found.most + extra <= 0 else None

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


def bounds_of(case: PeopleCase, said: Statements, limits: Limits, people: Ints | None = None, *, tight: bool = True) -> Bounds:
    """Return bounds for all combinations or ``people``; raise if infeasible.

    Bounds of ``people``, and those that need not be ``tight``, say who can have which value, and no more.
    """

    def check() -> float | None:
        limits.check("R03")
        return limits.seconds_left

    problem: Problem | None = None
    try:
        problem = reduce(said)
        work = USUAL_WORK if limits.deadline is None else None
        work = 0 if isinstance(case, SeveralCase) and case.n_lines > MOST_LINES else work
        own = case.population.people if people is None else people
        return bound(problem, own, check=check, stop=LimitReached, most_work=work, tight=tight and people is None)
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
