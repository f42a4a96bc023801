"""Explanation of an estimate about a person.

The logarithm of P(v | q) is, up to a constant, the sum of the multipliers of the statements about v and q. If several lines say much the
same, multipliers are large, cancel each other and mean little one by one; so lines are ranked by what would happen without them. To first
order that follows from the multipliers and their covariance; for the few on top the estimate is made again.

An estimate is also built up from nothing. Every step takes the statement that brings the estimate closest to the final one, as one step of
Newton's method predicts, and solves with the statements taken so far. If no statement about these people does, one that is violated is
taken, about people as similar as possible: it makes others matter. If knowing nothing gives the final estimate at once, the way begins with
the narrowest statement about these people, and may lead there and back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.known.case import DISTRIBUTION, LINE, MISSING, Estimate, PeopleCase, RuleCase, estimate
from tacit.known.proofs import Prover, state_everything
from tacit.known.releases import Origin, SeveralCase
from tacit.known.words import list_pairs, shared_values, words_of
from tacit.model.arrays import Codes, Floats, Ints
from tacit.model.errors import LimitReached
from tacit.model.estimates import Influence, Said, Shares, Step
from tacit.model.finding import render_phrase, render_steps
from tacit.solve.bounds import bound
from tacit.solve.entropy import solve
from tacit.solve.program import Infeasible, NoWhole
from tacit.solve.statements import Clash, Statement, Statements, reduce

Origins = tuple[Hashable, ...]


def kind_of(origin: Hashable) -> str:
    """Return the kind of a statement from its origin."""
    if isinstance(origin, Origin):
        return origin.what
    return str(origin[0]) if isinstance(origin, tuple) and origin else str(origin)


def between(lo: int, hi: int, whole: int) -> str:
    """Return the bounds of a number in words.

    >>> between(3, 3, 9), between(3, 9, 9), between(0, 4, 9), between(3, 4, 9), between(0, 0, 9)
    ('3', 'at least 3', 'at most 4', '3 to 4', 'none')
    """
    if lo == hi:
        return f"{lo:,}" if lo else "none"
    if hi >= whole:
        return f"at least {lo:,}"
    return f"at most {hi:,}" if lo <= 0 else f"{lo:,} to {hi:,}"


NOTHING = 1e-7  #: Smaller multipliers (nats) belong to statements that do not bind.
#: Larger multipliers diverge: their statements settle a value together, and the effect of one is not seen to first order.
WITHOUT_END = 12.0
UNSEEN = 1e-4  #: Statements whose loss would move the estimate by less are not listed.


@dataclass(frozen=True, eq=False)
class Person:
    """People with these combinations, and the estimate to explain."""

    case: PeopleCase
    found: Estimate
    combinations: Codes

    @cached_property
    def statements(self) -> Statements:
        """Statements that the estimate rests on, with their events."""
        said = self.case.published()
        for event, value in self.found.missing_pairs:
            self.case.missing.say(said, event, value)
        return said

    @cached_property
    def by_origin(self) -> Mapping[Hashable, Statement]:
        """Statements by their origin."""
        return {one.origin: one for one in self.statements.listed}

    def said(self, origins: Origins) -> Said:
        """Return statements with the same meaning as one sentence."""
        lines = {line for line in map(self._line, origins) if line is not None}
        says = "; ".join(dict.fromkeys(self._says(origin) for origin in origins))
        holders = self.statements.events[self.by_origin[origins[0]].event]
        people = int(self.case.population.people[np.intersect1d(holders, self.combinations)].sum())
        return Said(kind_of(origins[0]), tuple(sorted(lines)), says, people)

    def _line(self, origin: Hashable) -> int | None:
        if isinstance(origin, Origin):
            return origin.place if isinstance(origin.place, int) else None
        if isinstance(self.case, RuleCase) and isinstance(origin, tuple) and origin[0] == LINE:
            return self.case.release.line(int(origin[1]))
        return None

    def _says(self, origin: Hashable) -> str:
        case = self.case
        one = self.by_origin[origin]
        whole = self.statements.whole(one.event)
        has = f"{case.sensitive} {case.values[one.value]}"
        number = between(one.lo, one.hi, whole)
        people = f"{whole:,} {'person' if whole == 1 else 'people'}"
        verb = "has" if number.split()[-1] in ("1", "none") else "have"
        if isinstance(case, SeveralCase):
            words = words_of(case, self.statements)
            return f"{render_phrase(words.where(origin))}: of {people}{words.who(one) or ' in all'}, {number} {verb} {has}"
        if kind_of(origin) == LINE and isinstance(origin, tuple):
            who = list_pairs(case.antecedent(origin[1])) or "any values"
            return f"line {case.release.line(origin[1])}: of {people} with {who}, {number} {verb} {has}"
        if kind_of(origin) == DISTRIBUTION:
            return f"the published distribution: of all {people}, {number} {verb} {has}"
        who = list_pairs(shared_values(case.population, self.statements.events[one.event]).items()) or "any values"
        if kind_of(origin) == MISSING:
            return f"no rule for {has} where {who}: of {people} with that, {number} {verb} it"
        return f"known from elsewhere: of {people} with {who}, {number} {verb} {has}"

    @property
    def people(self) -> Ints:
        """Number of people with each of the combinations."""
        return self.case.population.people[self.combinations]

    @property
    def weights(self) -> Floats:
        """Share of the people described with each combination."""
        return np.asarray(self.people / self.people.sum())

    def mean(self, posterior: Floats) -> Floats:
        """Return each value's mean probability over the people described."""
        return np.asarray(self.weights @ posterior[self.combinations])

    def influences(
        self, *, top: int, also: Iterable[Hashable] = (), check: Callable[[], None] = lambda: None
    ) -> tuple[Influence, ...]:
        """Return the most influential statements, and the estimate without each.

        The latter is None if ``check`` leaves no time. ``also`` names statements without a multiplier to examine if others are few.
        """
        rows, moved = self._moves()
        order = rows[np.lexsort((rows, -moved.round(7)))].tolist()
        certain = set(rows[np.abs(self.found.weights[rows]) > WITHOUT_END].tolist())
        felt_rows = set(rows[moved >= UNSEEN].tolist())
        chosen = [row for row in order if row in felt_rows][:top]
        chosen += [row for row in order if row in certain and row not in felt_rows][: top - len(chosen)]
        problem = self.found.problem
        out = []
        for row in chosen:
            origins = problem.origins[row]
            # With two values, evidence for one is evidence against the other.
            sign = 1 if self.by_origin[origins[0]].value == problem.values[row] else -1
            multiplier = sign * float(self.found.weights[row])
            out.append(Influence(self.said(origins), multiplier, self._estimate_without(origins, check)))
        seen = {origin for row in chosen for origin in problem.origins[row]}
        for origin in [one for one in also if one not in seen][: top - len(chosen)]:
            out.append(Influence(self.said((origin,)), 0.0, self._estimate_without((origin,), check)))
        now = self.mean(self.found.posterior())
        felt = [one for one in out if one.without is None or _change(one, now) >= UNSEEN]
        return tuple(sorted(felt, key=lambda one: -_change(one, now)))

    def _moves(self) -> tuple[Ints, Floats]:
        """Return binding statements with their effects on the estimate.

        Without statement j its multiplier is 0, and the others move so as to keep their sums: by ``-m[j] C[:, j] / C[j, j]`` with C the
        inverse of the covariance of the sums.
        """
        multipliers = self.found.weights
        rows = np.flatnonzero(np.abs(multipliers) > NOTHING)
        if len(rows) == 0:
            return rows, np.empty(0)
        covariance, slope = self._derivatives(rows)
        scale = np.sqrt(np.maximum(covariance.diagonal(), 1e-300))
        # Statements that follow from others make it singular; the small number sends their moves to 0, as it should.
        inverse = np.linalg.inv(covariance / np.outer(scale, scale) + 1e-11 * np.eye(len(rows))) / np.outer(scale, scale)
        change = slope @ inverse * (multipliers[rows] / inverse.diagonal())
        return rows, np.abs(np.clip(change, -1, 1)).max(axis=0)

    def _derivatives(self, rows: Ints) -> tuple[Floats, Floats]:
        from scipy.sparse import csr_array, diags_array

        problem = self.found.problem
        share = self.found.solution.share
        owner = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
        about = csr_array((np.ones(len(owner)), (owner, problem.rows)), shape=(len(problem.people), len(problem.values)))[:, rows]
        values = problem.values[rows]
        n = len(problem.people)
        # Probability of the value of each statement in each class.
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

    def _estimate_without(self, origins: Origins, check: Callable[[], None]) -> tuple[float, ...] | None:
        case = self.case
        known = self.found.multipliers
        try:
            check()
            found = estimate(case, case.missing, check=check, multipliers=known, left_out=frozenset(origins))
        except LimitReached:
            return None
        return tuple(self.mean(found.posterior()).tolist()) if found.solution.converged else None


def _change(one: Influence, now: Floats) -> float:
    return 0.0 if one.without is None else round(float(np.abs(np.array(one.without) - now).max()), 9)


MOST_WORK = 20_000_000  #: Most work for bounds of a few people, a matter of seconds; what is known by then holds.


@dataclass(frozen=True, slots=True)
class PersonBounds:
    """Bounds on each value's share, with reasons for exclusions."""

    lower: Shares
    upper: Shares
    proof: tuple[str, ...]


def bounds_of(person: Person, *, check: Callable[[], None] = lambda: None) -> PersonBounds | None:
    """Return the bounds of the people described, or None."""
    case = person.case
    people = np.zeros(len(case.population), np.int64)
    people[person.combinations] = person.people

    said = state_everything(case)
    try:
        check()
        found = bound(reduce(said), people, check=check, stop=LimitReached, most_work=MOST_WORK)
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
            words = words_of(case, said, q, ruled_out)
            proof = render_steps(words.steps(Prover(said).ruled_out(q, ruled_out)))
    return PersonBounds(lower, upper, proof)


REACHED = 1e-3  #: Root mean square distance at which an estimate is reached.
PROGRESS = 1e-7  #: Least progress of a statement, as mean square.
TRIED = 4  #: Number of most promising statements that are tried in each step.
FAR = 12.0  #: Largest change of log odds that one step of Newton's method is trusted with.


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Statement, its combinations and their positions."""

    one: Statement
    holders: Codes
    described: Ints


def build_up(
    person: Person, *, top: int, check: Callable[[], None] = lambda: None
) -> tuple[tuple[Step, ...], tuple[Hashable, ...]]:
    """Return at most ``top`` steps to the estimate, with origins.

    There are fewer if the estimate is reached before, or if ``check`` raises LimitReached.
    """
    goal = person.found.posterior()[person.combinations]
    n_values = len(person.case.values)
    posterior = np.full((len(person.case.population), n_values), 1 / n_values)
    place = np.full(len(person.case.population), -1, np.int64)
    place[person.combinations] = np.arange(len(person.combinations))
    statements = person.statements
    candidates = []
    for one in statements.listed:
        inside = place[statements.events[one.event]]
        candidates.append(_Candidate(one, statements.events[one.event], inside[inside >= 0]))
    taken: list[_Candidate] = []
    steps: list[Step] = []
    try:
        while len(steps) < top and (not steps or _distance(person, posterior, goal) > REACHED**2):
            tries: list[tuple[float, int, _Candidate, Floats]] = []
            if not steps and _distance(person, posterior, goal) <= REACHED**2:
                about = [one for one in candidates if len(one.described)]
                chosen_from = sorted(about, key=lambda one: statements.whole(one.one.event))[:1]
            else:
                chosen_from = _promising(person, candidates, taken, posterior, goal=goal)
            for candidate in chosen_from:
                check()
                fresh = _posterior_of(person, [*taken, candidate], check)
                tries.append((_distance(person, fresh, goal), len(tries), candidate, fresh))
            if not tries:
                break
            _, _, chosen, posterior = min(tries, key=lambda one: one[:2])
            candidates = [one for one in candidates if one is not chosen]
            taken.append(chosen)
            said = person.said((chosen.one.origin,))
            steps.append(Step(said, tuple(person.mean(posterior).tolist())))
    except (LimitReached, ArithmeticError):
        pass  # show what was reached by then
    return tuple(steps), tuple(one.one.origin for one in taken)


def _distance(person: Person, posterior: Floats, goal: Floats) -> float:
    return float(person.weights @ ((posterior[person.combinations] - goal) ** 2).sum(axis=1))


def _promising(
    person: Person, candidates: list[_Candidate], taken: list[_Candidate], posterior: Floats, goal: Floats
) -> list[_Candidate]:
    """Return the statements that best approach the goal.

    If none does, return a violated one about people similar to those of the statements taken.
    """
    people = person.case.population.people
    mine = posterior[person.combinations]
    weights = person.weights
    apart = ((mine - goal) ** 2).sum(axis=1)
    best: list[tuple[float, int, _Candidate]] = []
    missed: list[tuple[float, int, _Candidate]] = []
    for candidate in candidates:
        value = candidate.one.value
        share = posterior[candidate.holders, value]
        of = people[candidate.holders]
        total = float(share @ of)
        spread = float((share * (1 - share)) @ of)
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


def _overlap(candidate: _Candidate, others: list[_Candidate], people: Ints) -> float:
    """Return a statement's largest Jaccard similarity with another."""
    inside = np.zeros(len(people), np.bool_)
    inside[candidate.holders] = True
    whole = float(people[candidate.holders].sum())
    most = 0.0
    for other in others:
        both = float(people[other.holders[inside[other.holders]]].sum())
        most = max(most, both / (whole + float(people[other.holders].sum()) - both))
    return most


def _posterior_of(person: Person, taken: list[_Candidate], check: Callable[[], None]) -> Floats:
    said = person.statements
    chosen = {one.one.origin for one in taken}
    problem = reduce(replace(said, listed=[one for one in said.listed if one.origin in chosen]))
    solution = solve(problem, check=check)
    if not solution.converged:
        raise ArithmeticError("no estimate")
    return np.asarray(solution.share[problem.class_of])
