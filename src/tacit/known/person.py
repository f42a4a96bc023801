"""How an estimate about somebody comes about: from nothing, with one published or missing rule after the other, until it is reached.

Every step takes the statement that brings the estimate closest to what everything together gives, as one step of Newton's method sees it, and
solves with the statements taken so far. Where no statement about these people does, one that is missed is taken, about people as much the same
as possible as those taken: it makes others speak. Where knowing nothing gives the same estimate, the way begins with the narrowest statement
about these people, which may lead there and back.

What rules say, one statement at a time, in words and with where it is published.

Why an estimate about somebody is what it is: the published and missing rules that make it, and those whose loss would change it most.

The logarithm of P(v | q) is, up to a constant, the sum of the multipliers of the statements about v and q. Where several lines say much the
same, multipliers are large, cancel each other and say little one by one; so lines are ranked by what would happen without them. To first order
that is known from the multipliers and their covariance alone; for the few that come out on top the estimate is made again.

Hard bounds for somebody: those of R03, looked for only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.known.case import DISTRIBUTION, LINE, MISSING, Estimate, PeopleCase, RuleCase, estimate
from tacit.known.proofs import Proof, Prover, all_said
from tacit.known.releases import Origin, SeveralCase
from tacit.known.words import ProofWords, SeveralWords, StatementWords
from tacit.model.arrays import Codes, Floats
from tacit.model.estimates import Influence, Said, Shares, Step
from tacit.model.steps import render_phrase, render_steps
from tacit.solve.bounds import bound
from tacit.solve.entropy import solve
from tacit.solve.program import Infeasible, NoWhole
from tacit.solve.statements import Clash, Statement, Statements, reduce

Origins = tuple[Hashable, ...]


def kind_of(origin: Hashable) -> str:
    """What a statement comes from."""
    if isinstance(origin, Origin):
        return origin.what
    return str(origin[0]) if isinstance(origin, tuple) and origin else str(origin)


@dataclass(frozen=True, eq=False)
class Telling:
    """The statements that an estimate keeps: all that is published, and the missing rules that matter."""

    case: PeopleCase
    found: Estimate

    @cached_property
    def statements(self) -> Statements:
        """All of them, with their events."""
        said = self.case.published()
        for event, value in self.found.missing_pairs:
            self.case.missing.say(said, event, value)
        return said

    @cached_property
    def _of_origin(self) -> Mapping[Hashable, Statement]:
        return {one.origin: one for one in self.statements.listed}

    def one(self, origin: Hashable) -> Statement:
        """The statement with this origin."""
        return self._of_origin[origin]

    def said(self, origins: Origins, described: Codes) -> Said:
        """Statements with the same meaning as one sentence."""
        case = self.case
        lines = {line for line in map(self._line, origins) if line is not None}
        says = "; ".join(dict.fromkeys(self._says(origin) for origin in origins))
        holders = self.statements.events[self.one(origins[0]).event]
        people = int(case.population.people[np.intersect1d(holders, described)].sum())
        return Said(kind_of(origins[0]), tuple(sorted(lines)), says, people)

    def _line(self, origin: Hashable) -> int | None:
        """The line that a statement stands on."""
        if isinstance(origin, Origin):
            return origin.place if isinstance(origin.place, int) else None
        case = self.case
        if isinstance(case, RuleCase) and isinstance(origin, tuple) and origin[0] == LINE:
            return case.release.line(int(origin[1]))
        return None

    def _says(self, origin: Hashable) -> str:
        case, one = self.case, self.one(origin)
        whole, holders = self.statements.whole(one.event), self.statements.events[one.event]
        has = f"{case.sensitive} {case.values[one.value]}"
        number, people = between(one.lo, one.hi, whole), f"{whole:,} {'person' if whole == 1 else 'people'}"
        verb = "has" if number.split()[-1] in ("1", "none") else "have"
        if isinstance(case, SeveralCase):
            words = StatementWords(case, self.statements)
            return f"{render_phrase(words.where(origin))}: of {people}{words.who(one) or ' in all'}, {number} {verb} {has}"
        assert isinstance(case, RuleCase)
        if kind_of(origin) == LINE and isinstance(origin, tuple):
            who = listed(case.antecedent(origin[1]))
            return f"line {case.release.line(origin[1])}: of {people} with {who}, {number} {verb} {has}"
        if kind_of(origin) == DISTRIBUTION:
            return f"the published distribution: of all {people}, {number} {verb} {has}"
        who = listed(common_values(case, holders).items())
        if kind_of(origin) == MISSING:
            return f"no rule for {has} where {who}: of {people} with that, {number} {verb} it"
        return f"known from elsewhere: of {people} with {who}, {number} {verb} {has}"


def between(lo: int, hi: int, whole: int) -> str:
    """The bounds of a number in words.

    >>> between(3, 3, 9), between(3, 9, 9), between(0, 4, 9), between(3, 4, 9), between(0, 0, 9)
    ('3', 'at least 3', 'at most 4', '3 to 4', 'none')
    """
    if lo == hi:
        return f"{lo:,}" if lo else "none"
    if hi >= whole:
        return f"at least {lo:,}"
    return f"at most {hi:,}" if lo <= 0 else f"{lo:,} to {hi:,}"


def common_values(case: PeopleCase, combinations: Codes) -> Mapping[str, str]:
    """The values that all these combinations share."""
    out = {}
    for column in case.population.columns:
        codes = column.codes[combinations]
        if len(codes) and (codes == codes[0]).all():
            out[column.name] = column.values[codes[0]]
    return out


def listed(values: Iterable[tuple[str, str]]) -> str:
    """Values with their columns, in words."""
    return ", ".join(f"{column}={value}" for column, value in values) or "any values"


#: Multipliers below this (nats) belong to statements that hold anyway.
NOTHING = 1e-7
#: Multipliers above this grow without end: their statements settle a value together, and what one of them does is not seen to first order.
WITHOUT_END = 12.0
#: Statements whose loss would move the estimate by less than this are not listed.
UNSEEN = 1e-4


@dataclass(frozen=True, eq=False)
class Person:
    """Whoever has one of these combinations, beside the estimate that is to be explained."""

    case: PeopleCase
    found: Estimate
    combinations: Codes

    @cached_property
    def telling(self) -> Telling:
        """What the estimate rests on."""
        return Telling(self.case, self.found)

    @property
    def people(self) -> npt.NDArray[np.int64]:
        """How many people have each of the combinations."""
        return self.case.population.people[self.combinations]

    @property
    def weights(self) -> Floats:
        """Which share of the people described has each combination."""
        return np.asarray(self.people / self.people.sum())

    def mean(self, posterior: Floats) -> Floats:
        """The probability of each value, mean over the people described."""
        return np.asarray(self.weights @ posterior[self.combinations])

    def influences(
        self, *, top: int, also: Iterable[Hashable] = (), check: Callable[[], None] = lambda: None
    ) -> tuple[Influence, ...]:
        """The statements whose loss would change the estimate most, with what it would be then as far as ``check`` leaves time for it.

        Statements that settle a value have no multiplier; ``also`` names some to look at where those with one are few.
        """
        rows, moved = self._moves()
        order = rows[np.lexsort((rows, -moved.round(7)))].tolist()
        certain = set(rows[np.abs(self.found.solution.multipliers[rows]) > WITHOUT_END].tolist())
        felt_rows = set(rows[moved >= UNSEEN].tolist())
        chosen = [row for row in order if row in felt_rows][:top]
        chosen += [row for row in order if row in certain and row not in felt_rows][: top - len(chosen)]
        out = [Influence(*self._told(row), self._without(self.found.problem.origins[row], check)) for row in chosen]
        seen = {origin for row in chosen for origin in self.found.problem.origins[row]}
        for origin in [one for one in also if one not in seen][: top - len(chosen)]:
            out.append(Influence(self.telling.said((origin,), self.combinations), 0.0, self._without((origin,), check)))
        now = self.mean(self.found.posterior())
        felt = [one for one in out if one.without is None or _change(one, now) >= UNSEEN]
        return tuple(sorted(felt, key=lambda one: -_change(one, now)))

    def _told(self, row: int) -> tuple[Said, float]:
        """A statement in words, and its multiplier for the value that it names."""
        problem = self.found.problem
        origins = problem.origins[row]
        # Of two values, what speaks for one speaks against the other.
        sign = 1 if self.telling.one(origins[0]).value == problem.values[row] else -1
        return self.telling.said(origins, self.combinations), sign * float(self.found.solution.multipliers[row])

    def _moves(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """The statements that are not kept anyway, and by how much the estimate would move without each, to first order.

        Without statement j its multiplier is 0, and the others move as keeps their sums: by ``-m[j] C[:, j] / C[j, j]`` with C the
        inverse of the covariance of the sums.
        """
        solution = self.found.solution
        rows = np.flatnonzero(np.abs(solution.multipliers) > NOTHING)
        if len(rows) == 0:
            return rows, np.empty(0)
        covariance, slope = self._derivatives(rows)
        scale = np.sqrt(np.maximum(covariance.diagonal(), 1e-300))
        # Statements that follow from others make it singular; the small number sends what they move to 0, as it should be.
        inverse = np.linalg.inv(covariance / np.outer(scale, scale) + 1e-11 * np.eye(len(rows))) / np.outer(scale, scale)
        change = slope @ inverse * (solution.multipliers[rows] / inverse.diagonal())
        return rows, np.abs(np.clip(change, -1, 1)).max(axis=0)

    def _derivatives(self, rows: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The covariance of the sums of these statements, and how the estimate (one line for each value) changes with their multipliers."""
        from scipy.sparse import csr_array, diags_array

        problem, share = self.found.problem, self.found.solution.share
        owner = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
        about = csr_array((np.ones(len(owner)), (owner, problem.rows)), shape=(len(problem.people), len(problem.values)))[:, rows]
        values, n = problem.values[rows], len(problem.people)
        # What each statement takes of each class, which is the probability of its value there.
        taken = csr_array(about.multiply(share[:, values]))
        people = diags_array(problem.people / problem.n)
        same = (values[:, None] == values[None, :]).astype(float)
        covariance = (about.T @ people @ taken).toarray() * same - (taken.T @ people @ taken).toarray()
        mine = np.bincount(problem.class_of[self.combinations], self.weights, n)
        slope = np.empty((share.shape[1], len(rows)))
        for value in range(share.shape[1]):
            weights = mine * share[:, value]
            slope[value] = (weights @ about) * (values == value) - weights @ taken
        return np.asarray(covariance), slope

    def _without(self, origins: Origins, check: Callable[[], None]) -> tuple[float, ...] | None:
        """The estimate of somebody who does not know these statements; None where the time is over."""
        case, known = self.case, self.found.multipliers
        try:
            check()
            found = estimate(case, case.missing, check=check, multipliers=known, left_out=frozenset(origins))
        except LimitReached:
            return None
        return tuple(self.mean(found.posterior()).tolist()) if found.solution.converged else None


def _change(one: Influence, now: Floats) -> float:
    """How far the estimate moves without it."""
    return 0.0 if one.without is None else round(float(np.abs(np.array(one.without) - now).max()), 9)


#: The search for bounds of a few people ends after this much work, which takes seconds; what is known by then holds.
MOST_WORK = 20_000_000


@dataclass(frozen=True, slots=True)
class PersonBounds:
    """The smallest and the largest share of each value among the people described, and why values are ruled out of one combination."""

    lower: Shares
    upper: Shares
    proof: tuple[str, ...]


def bounds_of(person: Person, *, check: Callable[[], None] = lambda: None) -> PersonBounds | None:
    """The bounds of the people described; None where ``check`` raises LimitReached before there are any."""
    case = person.case
    people = np.zeros(len(case.population), np.int64)
    people[person.combinations] = person.people

    def checked() -> float | None:
        check()
        return None

    said = all_said(case)
    try:
        checked()
        found = bound(reduce(said), people, check=checked, stop=LimitReached, most_work=MOST_WORK)
    except LimitReached:
        return None
    except (Clash, Infeasible, NoWhole):
        case.refuse([one.origin for one in said.listed])
    total = person.people.sum()
    lower, upper = (tuple((part[person.combinations].sum(axis=0) / total).tolist()) for part in (found.lo, found.hi))
    proof: tuple[str, ...] = ()
    if len(person.combinations) == 1:
        q = int(person.combinations[0])
        ruled_out = tuple(np.flatnonzero(found.hi[q] == 0).tolist())
        if ruled_out:
            proved = Prover(said).ruled_out(q, ruled_out)
            proof = told(case, said, q, ruled_out, proved)
    return PersonBounds(lower, upper, proof)


def told(
    case: PeopleCase, said: Statements, combination: int, ruled_out: tuple[int, ...], proof: Proof | None
) -> tuple[str, ...]:
    """Why nobody of a combination has these values, in steps."""
    if isinstance(case, SeveralCase):
        return render_steps(SeveralWords(case, said, combination, ruled_out).steps(proof))
    assert isinstance(case, RuleCase)
    return render_steps(ProofWords(case, said, combination, ruled_out).steps(proof))


#: An estimate is reached when the probabilities of all people described are this close to theirs (root of the mean square).
REACHED = 1e-3
#: A statement that brings estimates closer by less than this (mean square) does nothing for these people.
PROGRESS = 1e-7
#: So many of the statements that promise most are tried in each step.
TRIED = 4
#: The largest change of odds that one step of Newton's method is trusted with, in nats.
FAR = 12.0


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A statement, by the combinations that it is about, and where these stand among the people described."""

    one: Statement
    holders: npt.NDArray[np.int32]
    described: npt.NDArray[np.int64]


def build_up(
    person: Person, *, top: int, check: Callable[[], None] = lambda: None
) -> tuple[tuple[Step, ...], tuple[Hashable, ...]]:
    """At most ``top`` steps from knowing nothing to the estimate, and the origins of what they take.

    There are fewer where the estimate is reached before, or where ``check`` raises LimitReached.
    """
    goal = person.found.posterior()[person.combinations]
    n_values = len(person.case.values)
    posterior = np.full((len(person.case.population), n_values), 1 / n_values)
    candidates = _candidates(person)
    taken: list[_Candidate] = []
    steps: list[Step] = []
    try:
        while len(steps) < top and (not steps or _distance(person, posterior, goal) > REACHED**2):
            tries: list[tuple[float, int, _Candidate, Floats]] = []
            near = not steps and _distance(person, posterior, goal) <= REACHED**2
            for candidate in _narrowest(person, candidates) if near else _promising(person, candidates, taken, posterior, goal):
                check()
                fresh = _posterior_of(person, [*taken, candidate], check)
                tries.append((_distance(person, fresh, goal), len(tries), candidate, fresh))
            if not tries:
                break
            _, _, chosen, posterior = min(tries, key=lambda one: one[:2])
            candidates = [one for one in candidates if one is not chosen]
            taken.append(chosen)
            said = person.telling.said((chosen.one.origin,), person.combinations)
            steps.append(Step(said, tuple(person.mean(posterior).tolist())))
    except (LimitReached, ArithmeticError):
        pass  # what was reached by then is shown
    return tuple(steps), tuple(one.one.origin for one in taken)


def _distance(person: Person, posterior: Floats, goal: Floats) -> float:
    """How far the estimates about the people described are from theirs: mean square."""
    return float(person.weights @ ((posterior[person.combinations] - goal) ** 2).sum(axis=1))


def _candidates(person: Person) -> list[_Candidate]:
    """Everything that is said."""
    place = np.full(len(person.case.population), -1, np.int64)
    place[person.combinations] = np.arange(len(person.combinations))
    said = person.telling.statements
    out = []
    for one in said.listed:
        holders = said.events[one.event]
        inside = place[holders]
        out.append(_Candidate(one, holders, inside[inside >= 0]))
    return out


def _narrowest(person: Person, candidates: list[_Candidate]) -> list[_Candidate]:
    """The statement about any of these people that is about the fewest in all."""
    said = person.telling.statements
    about = [(said.whole(one.one.event), place, one) for place, one in enumerate(candidates) if len(one.described)]
    return [min(about, key=lambda entry: entry[:2])[2]] if about else []


def _promising(
    person: Person, candidates: list[_Candidate], taken: list[_Candidate], posterior: Floats, goal: Floats
) -> list[_Candidate]:
    """The few statements that seem to bring the estimate closest to the goal; where none does, one beside those taken that is missed."""
    people, mine, weights = person.case.population.people, posterior[person.combinations], person.weights
    apart = ((mine - goal) ** 2).sum(axis=1)
    best: list[tuple[float, int, _Candidate]] = []
    missed: list[tuple[float, int, _Candidate]] = []
    for candidate in candidates:
        value = candidate.one.value
        share, of = posterior[candidate.holders, value], people[candidate.holders]
        total, spread = float(share @ of), float((share * (1 - share)) @ of)
        gap = candidate.one.lo - total if total < candidate.one.lo else min(0.0, candidate.one.hi - total)
        if abs(gap) < 1e-9 or spread <= 0:
            continue
        missed.append((gap * gap / spread, len(missed), candidate))
        here = candidate.described
        fresh = mine[here]
        fresh[:, value] *= np.exp(np.clip(gap / spread, -FAR, FAR))
        fresh /= fresh.sum(axis=1, keepdims=True)
        gained = float(weights[here] @ (apart[here] - ((fresh - goal[here]) ** 2).sum(axis=1)))
        if gained > PROGRESS:
            best.append((-gained, len(best), candidate))
    if best:
        return [candidate for _, _, candidate in sorted(best, key=lambda one: one[:2])[:TRIED]]
    near = [one for one in taken if len(one.described)] or [one for one in candidates if len(one.described)]
    ranked = [(round(_overlap(candidate, near, people), 1), size, -place, candidate) for size, place, candidate in missed]
    return [max(ranked, key=lambda one: one[:3])[3]] if ranked else []


def _overlap(candidate: _Candidate, others: list[_Candidate], people: npt.NDArray[np.int64]) -> float:
    """The largest share of people that a statement has in common with one of the others, of all whom either is about."""
    inside = np.zeros(len(people), np.bool_)
    inside[candidate.holders] = True
    whole, most = float(people[candidate.holders].sum()), 0.0
    for other in others:
        both = float(people[other.holders[inside[other.holders]]].sum())
        most = max(most, both / (whole + float(people[other.holders].sum()) - both))
    return most


def _posterior_of(person: Person, taken: list[_Candidate], check: Callable[[], None]) -> Floats:
    """The estimate from these statements alone."""
    said = person.telling.statements
    chosen = {one.one.origin for one in taken}
    problem = reduce(replace(said, listed=[one for one in said.listed if one.origin in chosen]))
    solution = solve(problem, check=check)
    if not solution.converged:
        raise ArithmeticError("no estimate")
    return np.asarray(solution.share[problem.class_of])
