"""Why an estimate about somebody is what it is: the published and missing rules that make it, and those whose loss would change it most.

The logarithm of P(v | q) is, up to a constant, the sum of the multipliers of the statements about v and q. Where several lines say much the
same, multipliers are large, cancel each other and say little one by one; so lines are ranked by what would happen without them. To first order
that is known from the multipliers and their covariance alone; for the few that come out on top the estimate is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.attacks.sensitive.case import PeopleCase
from tacit.attacks.sensitive.missing import Estimate, estimate
from tacit.attacks.sensitive.telling import Origins, Telling
from tacit.errors import LimitReached
from tacit.model.person import Influence, Said
from tacit.model.population import Places

Floats = npt.NDArray[np.float64]

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
    combinations: Places

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
