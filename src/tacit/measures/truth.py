"""Estimates beside the truth, which only the owner of the data can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, nearest_name
from tacit.model.audit import Audit
from tacit.model.posterior import Guess, Posterior
from tacit.model.table import Table

Floats = npt.NDArray[np.float64]

#: The ranges of the probability of the top guess in which it is held against the truth; above means: more than the left end.
RANGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
#: Guesses above this are those that give somebody away when they are right.
SURE = 0.9


@dataclass(frozen=True, slots=True)
class Calibration:
    """The people whose top guess has a probability above ``above`` and at most ``at_most``: what was estimated, what is true."""

    above: float
    at_most: float
    people: int
    estimated: float
    right: float

    def to_dict(self) -> dict[str, Any]:
        """The line as in the record."""
        out = {"above": self.above, "at_most": self.at_most, "people": self.people}
        return out | {"estimated": self.estimated, "right": self.right}


@dataclass(frozen=True, slots=True)
class Judged:
    """The top guess about one combination, the share of its people for whom it is true, and how far its estimates are from the truth (nats)."""

    guess: Guess
    right: float
    divergence: float

    def to_dict(self) -> dict[str, Any]:
        """The line as in the record; null where the truth was ruled out, so that the divergence is infinite."""
        divergence = self.divergence if np.isfinite(self.divergence) else None
        return self.guess.to_dict() | {"right": self.right, "D_individual": divergence}


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far estimates are from the truth: ``individual[q]`` nats for combination q, ``overall`` on average over all people.

    ``D_individual`` and ``D_overall`` of Zhu, Wang, Du: the Kullback-Leibler divergence of the estimate from the true distribution of the
    sensitive value. It is 0 where the estimate is the truth, and infinite where the truth was ruled out. ``truth[q, v]`` is how many
    people of combination q have value v.
    """

    posterior: Posterior
    truth: Floats
    individual: Floats
    overall: float

    @property
    def D_individual(self) -> Floats:
        """The divergence of each combination, in nats, in the order of the posterior table."""
        return self.individual

    @property
    def D_overall(self) -> float:
        """The mean divergence over all people, in nats."""
        return self.overall

    @cached_property
    def right(self) -> Floats:
        """For how many people of each combination the top guess is the true value."""
        return np.asarray(self.truth[np.arange(len(self.truth)), self._top])

    @property
    def top_guess_right(self) -> int:
        """For how many people the most probable value is the true one."""
        return int(self.right.sum())

    @property
    def baseline_right(self) -> int:
        """For how many people the value that is most frequent among all is the true one: what needs no release at all."""
        return int(self.truth.sum(axis=0).max(initial=0))

    @property
    def measures(self) -> Mapping[str, float]:
        """The numbers by their names in ``MEASURES``."""
        return {
            "D_overall": self.overall,
            "D_individual_max": float(self.individual.max(initial=0.0)),
            "top_guess_right": self.top_guess_right,
            "baseline_guess_right": self.baseline_right,
            "sure_guess_right": int(self.right[self.posterior.largest > SURE].sum()),
        }

    def calibration(self) -> list[Calibration]:
        """The top guesses by their probability, beside how often they are right; ranges that nobody is in are left out."""
        largest, people = self.posterior.largest, self.posterior.population.people
        place = np.clip(np.searchsorted(RANGES, largest) - 1, 0, len(RANGES) - 2)
        out = []
        for number in np.unique(place).tolist():
            here = place == number
            n = int(people[here].sum())
            estimated, right = float(largest[here] @ people[here]), float(self.right[here].sum())
            out.append(Calibration(RANGES[number], RANGES[number + 1], n, estimated / n, right / n))
        return out

    def given_away(self, number: int) -> list[Judged]:
        """The surest guesses that are true of somebody: of equal ones those that are true more often, and of more people, first."""
        chosen = np.flatnonzero(self.right > 0)
        share = self.right[chosen] / self.posterior.population.people[chosen]
        order = np.lexsort((chosen, -self.right[chosen], -share, -self.posterior.largest[chosen]))
        return [self.judged(place) for place in chosen[order[:number]].tolist()]

    def farthest(self, number: int) -> list[Judged]:
        """The combinations whose estimates are farthest from the truth: those who are protected by being unlike others."""
        order = np.lexsort((np.arange(len(self.individual)), -self.posterior.population.people, -self.individual))
        return [self.judged(place) for place in order[:number].tolist()]

    def judged(self, combination: int) -> Judged:
        """What is guessed about one combination, and what is true."""
        guess = self.posterior.guess(combination, int(self._top[combination]))
        return Judged(guess, float(self.right[combination]) / guess.people, float(self.individual[combination]))

    def table(self) -> Mapping[str, npt.NDArray[Any]]:
        """The posterior table with the baseline, the true share, and the divergence of the combination."""
        n_values = len(self.posterior.values)
        share = self.truth / np.maximum(self.truth.sum(axis=1, keepdims=True), 1)
        return dict(self.posterior.table()) | {
            "baseline": np.tile(self.posterior.baseline, len(share)),
            "truth": share.reshape(-1),
            "D_individual": self.individual.repeat(n_values),
        }

    def to_dict(self, *, top: int) -> dict[str, Any]:
        """The comparison as a record."""
        measures = {name: value if np.isfinite(value) else None for name, value in self.measures.items()}
        return {
            "format": "tacit.comparison/1",
            "n": self.posterior.population.n,
            "combinations": len(self.posterior.population),
            "sensitive": self.posterior.sensitive,
            "measures": measures,
            "calibration": [line.to_dict() for line in self.calibration()],
            "given_away": [line.to_dict() for line in self.given_away(top)],
            "farthest": [line.to_dict() for line in self.farthest(top)],
        }

    @cached_property
    def _top(self) -> npt.NDArray[np.int64]:
        return np.asarray(self.posterior.share.argmax(axis=1))


def compare(audit: Audit, people: Table) -> Comparison:
    """The estimates of an audit of rules beside the true values of the people that they are about.

    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> audit = tacit.audit(tacit.mine_rules(people, min_support=1, min_confidence=1), known=people.qi)
    >>> round(tacit.compare(audit, people).D_overall, 6)
    0.0
    """
    posterior = audit.posterior
    if posterior is None or not posterior.is_estimated:
        remedy = "Audit rules with known=people.qi, or with the data"
        raise OptionError("the audit estimated nobody's sensitive value", where="compare", remedy=remedy)
    truth = true_counts(posterior, people)
    n_q = truth.sum(axis=1, keepdims=True)
    share = truth / np.maximum(n_q, 1)
    ruled_out = (share > 0) & (posterior.share <= 0)  # infinitely far from the truth
    both = (share > 0) & ~ruled_out
    terms = np.where(both, share * (np.log(np.where(both, share, 1.0)) - np.log(np.where(both, posterior.share, 1.0))), 0.0)
    terms[ruled_out] = np.inf
    individual = np.maximum(terms.sum(axis=1), 0.0)
    overall = float((individual * n_q[:, 0]).sum() / max(1.0, n_q.sum()))
    return Comparison(posterior, truth, individual, overall)


def true_counts(posterior: Posterior, people: Table) -> Floats:
    """How many people of each combination have each value; raises where they are not the people that the estimates are about."""
    remedy = "Give the data that the audited rules were made from"
    sensitive = people.sa
    if sensitive.name != posterior.sensitive:
        raise OptionError(
            f"the rules are about {posterior.sensitive!r}, and the sensitive column of the data is {sensitive.name!r}",
            where="compare",
            remedy=nearest_name(posterior.sensitive, people.names, "columns"),
        )
    for name in posterior.population.names:
        if name not in people.names:
            raise OptionError(f"the data have no column {name!r}", where="compare", remedy=remedy)
    places = posterior.population.places_of(people)
    code = {value: number for number, value in enumerate(posterior.values)}
    values = np.array([code.get(value, -1) for value in sensitive.values], np.int64)[sensitive.codes]
    if (places < 0).any() or (values < 0).any():
        raise OptionError("the data hold people or values that the audit does not know", where="compare", remedy=remedy)
    size = len(posterior.population) * len(posterior.values)
    weights = people.weights.astype(np.float64)
    counts = np.bincount(places * len(posterior.values) + values, weights, size).reshape(posterior.share.shape)
    if (counts.sum(axis=1) != posterior.population.people).any():
        raise OptionError("the data hold other people than the audit is about", where="compare", remedy=remedy)
    return np.asarray(counts, np.float64)
