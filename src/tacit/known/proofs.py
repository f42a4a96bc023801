"""Why nobody of a combination has a value: a weighted sum of statements that whoever doubts it can add up again.

Each statement enters with a whole-number weight, with its upper end where the weight is positive and its lower end where it is negative. Known
people are added where the weights leave them short: everybody with the combination and a value that is ruled out is counted at least
``denominator`` times, nobody less than 0 times. So when the sum is below the denominator, nobody is left.

The proof that a value is ruled out, in numbers: how often each statement is added, how often known people are, and what that stays below.

Bounds of how many of the known people can have each sensitive value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.known.case import PeopleCase
from tacit.known.releases import SeveralCase
from tacit.model.arrays import Ints
from tacit.model.policy import Limits
from tacit.solve.bounds import Bounds, bound, clashing, components
from tacit.solve.program import Infeasible, NoWhole, Program, Unsolved
from tacit.solve.program import Proof as Weights
from tacit.solve.statements import Clash, Problem, Statement, Statements, reduce


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
    """Finds proofs over all statements, with nothing concluded beforehand.

    ``check`` gives the seconds that are left, or None without a limit.
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
        """The program of all statements that are tied to the combination."""
        chosen = self._part_of.get(int(self._problem.class_of[combination]))
        if chosen is None:
            return None
        first = int(chosen[0])
        if first not in self._programs:
            self._programs[first] = Program(self._problem, chosen)
        return self._programs[first]

    def ruled_out(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        """The proof that nobody of the combination has one of these values; None where no single sum proves it, or none was found in time.

        Single statements are tried first, then those about the combination, then all: most proofs need few, and programs over few are quick.
        """
        if not values:
            return Proof((), (), 1)
        found = self._by_single_statements(combination, values)
        if found is None and not self._is_over:
            found = self._by_own_statements(combination, values)
        if found is None:
            found = self._by_shared_weights(combination, values)
        if found is None and not self._is_over:
            program = self._program(combination)
            found = None if program is None else self._by_program(program, self._problem, combination, values)
        return found

    def prove_in_time(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> list[bool]:
        """Whether each of these combinations and values can be proved by now or in the time that is left; many are proved at once."""
        proved = [self._single_rows(q, values) is not None for q, values in wanted]
        open_ones = [place for place, done in enumerate(proved) if not done]
        if open_ones and not self._is_over:
            self._share([wanted[place] for place in open_ones])
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
        """Statements, with their weights, each of which rules values out: nobody of its people has its value, or all of them have.

        Of several, those about the fewest people are taken, which a reader would rather check.
        """
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

    def _by_single_statements(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        chosen = self._single_rows(combination, values)
        if chosen is None:
            return None
        events, named = self._problem.events, self._problem.values
        terms = tuple(self._term(int(events[row]), int(named[row]), weight) for row, weight in chosen)
        proof = Proof(terms, self._groups(terms, 1, combination, values), 1)
        return proof if proof.holds else None

    def _by_own_statements(self, combination: int, values: tuple[int, ...]) -> Proof | None:
        """The proof by statements about the combination alone."""
        problem = self._problem
        c = int(problem.class_of[combination])
        events = set(problem.events[problem.rows[problem.starts[c] : problem.starts[c + 1]]].tolist())
        own = Statements(self.said.population, self.said.n_values, events=self.said.events)
        own.listed = [one for one in self.said.listed if one.event in events]
        smaller = reduce(own, settle=False)
        inner = int(smaller.class_of[combination])
        chosen = next((part for part in components(smaller) if inner in part), None)
        return None if chosen is None else self._by_program(Program(smaller, chosen), smaller, combination, values)

    def _share(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Find weights that prove all of these at once, in each part by one program."""
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
        gain, extra = _gain(program, c, values)
        weights, denominator = shared
        found = program.added(gain, weights, denominator)
        if found is None or found.most + extra > 0:
            return None
        return self._trimmed(program, self._problem, gain, extra, found, combination, values)

    def _by_program(self, program: Program, problem: Problem, combination: int, values: tuple[int, ...]) -> Proof | None:
        gain, extra = _gain(program, int(problem.class_of[combination]), values)
        try:
            answer = program.most(gain.astype(float), check=self.check)
        except (Infeasible, Unsolved, LimitReached):
            return None
        found = program.proof(gain, answer.weights, goal=-extra)
        if found is None or found.most + extra > 0:
            return None
        return self._trimmed(program, problem, gain, extra, found, combination, values)

    def _trimmed(
        self,
        program: Program,
        problem: Problem,
        gain: Ints,
        extra: int,
        found: Weights,
        combination: int,
        values: tuple[int, ...],
    ) -> Proof | None:
        """The proof with as few statements as it needs."""
        weights = self._fewest(program, gain, found.weights, found.denominator, -extra)
        terms = tuple(
            self._term(int(problem.events[row]), int(problem.values[row]), int(weight))
            for row, weight in zip(program.rows.tolist(), weights.tolist(), strict=True)
            if weight
        )
        proof = Proof(terms, self._groups(terms, found.denominator, combination, values), found.denominator)
        return proof if proof.holds else None

    def _fewest(self, program: Program, gain: npt.NDArray[np.int64], weights: Ints, denominator: int, goal: int) -> Ints:
        """Weights without those that the proof does not need, as far as there is time to try."""
        kept = weights.copy()
        # Rows about many people are what a reader would rather do without.
        used = np.flatnonzero(weights)
        for row in used[np.argsort(-program.wholes[used], kind="stable")].tolist():
            if self._is_over:
                break
            tried = kept.copy()
            tried[row] = 0
            found = program.added(gain, tried, denominator)
            if found is not None and found.most <= goal:
                kept = tried
        return kept

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


#: Without a time limit the search ends after this much work: a few minutes, and the same findings on every machine.
USUAL_WORK = 150_000_000
#: Bounds take this share of the time at most; the rest is for proofs of what they show.
BOUNDING = 0.7
#: Of more lines of several releases only what single ones settle is concluded: every program would have a row for each of them.
MOST_LINES = 10_000


def bounds_together(case: SeveralCase, limits: Limits, people: Ints | None = None) -> tuple[Statements, Bounds]:
    """All that several releases say, and its bounds: of everybody, which are found once, or of those with ``people`` only.

    Of a few people it is only looked at which values they can have. Everybody's bounds take half of the time at most: what is certain only
    together is looked for after that.
    """
    known: tuple[Statements, Bounds] | None = case.remembered.get("bounds")
    if known is None or people is not None:
        said = all_said(case)
        known = said, bounds_of(case, said, limits if people is not None else limits.part(0.5), people)
        if people is None:
            case.remembered["bounds"] = known
    return known


def bounds_of(case: PeopleCase, said: Statements, limits: Limits, people: Ints | None = None) -> Bounds:
    """The bounds of all combinations, or of those with ``people`` only; raises where no people keep all that is said."""

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


def all_said(case: PeopleCase) -> Statements:
    """Everything that the release says: its lines, its distribution, and every missing rule that says something."""
    said = case.published()
    missing = case.missing
    for event, value in np.argwhere(missing.most < missing.wholes[:, None]).tolist():
        missing.say(said, event, value)
    return said
