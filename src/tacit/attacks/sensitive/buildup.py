"""How an estimate about somebody comes about: from nothing, with one published or missing rule after the other, until it is reached.

Every step takes the statement that brings the estimate closest to what everything together gives, as one step of Newton's method sees it, and
solves with the statements taken so far. Where no statement about these people does, one that is missed is taken, about people as much the same
as possible as those taken: it makes others speak. Where knowing nothing gives the same estimate, the way begins with the narrowest statement
about these people, which may lead there and back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.attacks.sensitive.person import Person
from tacit.errors import LimitReached
from tacit.inference.classes import reduce
from tacit.inference.entropy import solve
from tacit.inference.statements import Statement
from tacit.model.person import Step

Floats = npt.NDArray[np.float64]

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
