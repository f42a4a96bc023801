"""Estimates beside the truth: how far they are from it, and how often they are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.posterior import DIGITS, Guess, Posterior

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
        order = np.lexsort((chosen, -self.right[chosen], -share, -self.posterior.largest[chosen].round(DIGITS)))
        return [self.judged(place) for place in chosen[order[:number]].tolist()]

    def farthest(self, number: int) -> list[Judged]:
        """The combinations whose estimates are farthest from the truth: those who are protected by being unlike others."""
        order = np.lexsort((np.arange(len(self.individual)), -self.posterior.population.people, -self.individual.round(DIGITS)))
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
