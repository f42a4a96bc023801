"""What an attacker makes of everybody's quasi-identifiers: a probability for each sensitive value, beside its bounds and the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.population import Population

Floats = npt.NDArray[np.float64]

#: Estimates that agree in this many decimals are equal: further ones depend on the machine.
DIGITS = 9
#: An estimate counts as outside its bounds only where it is so by more than this.
_ROOM = 1e-7


@dataclass(frozen=True, slots=True)
class Guess:
    """One estimate about the people of one combination; ``lower`` and ``upper`` are None where no bounds were computed."""

    who: Mapping[str, str]
    people: int
    sensitive: str
    value: str
    probability: float
    baseline: float
    lower: float | None
    upper: float | None

    def to_dict(self) -> dict[str, Any]:
        """The guess as in the record."""
        event = {column: [value] for column, value in sorted({**self.who, self.sensitive: self.value}.items())}
        out: dict[str, Any] = {"event": event, "people": self.people, "value": self.value}
        numbers = {"posterior": self.probability, "baseline": self.baseline, "lower": self.lower, "upper": self.upper}
        return out | {name: None if number is None else round(number, DIGITS) for name, number in numbers.items()}


@dataclass(frozen=True, eq=False)
class Posterior:
    """Estimates and bounds for every combination of quasi-identifiers and every sensitive value.

    ``share``, ``lower`` and ``upper`` have a row for each combination of the population and a column for each of ``values``; they hold nan where
    an attack did not run. ``baseline`` is the share of each value among all people: what an outsider guesses about anybody.

    >>> from tacit.model.table import Table
    >>> known = Population.of(Table.from_rows(["sex"], [("F",), ("M",), ("F",)]))
    >>> open_ = np.full((2, 2), np.nan)
    >>> share = np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> found = Posterior(known, "ill", ("no", "yes"), share, open_, open_, np.array([0.75, 0.25]), baseline_is_published=True)
    >>> found.highest(1)[0].who, found.highest(1)[0].probability, found.highest(1, gained=True)[0].value
    ({'sex': 'F'}, 0.9, 'yes')
    """

    population: Population
    sensitive: str
    values: tuple[str, ...]
    share: Floats
    lower: Floats
    upper: Floats
    baseline: Floats
    baseline_is_published: bool

    @property
    def is_estimated(self) -> bool:
        """Whether there are estimates, not bounds only."""
        return not bool(np.isnan(self.share).any())

    @property
    def is_bounded(self) -> bool:
        """Whether there are bounds beside the estimates."""
        return not bool(np.isnan(self.lower).any() or np.isnan(self.upper).any())

    @cached_property
    def largest(self) -> Floats:
        """The probability of the most probable value of each combination."""
        return np.asarray(self.share.max(axis=1, initial=0.0))

    @cached_property
    def gain(self) -> Floats:
        """By how much each estimate exceeds the baseline."""
        return np.asarray(self.share - self.baseline)

    def outside_bounds(self) -> int:
        """How many combinations have an estimate outside its bounds, which happens by less than one person: estimates are not whole."""
        if not (self.is_estimated and self.is_bounded):
            return 0
        outside = (self.share < self.lower - _ROOM) | (self.share > self.upper + _ROOM)
        return int(outside.any(axis=1).sum())

    def highest(self, number: int, *, gained: bool = False) -> list[Guess]:
        """The most certain estimates, or those that exceed the baseline most; of equal ones those about more people first."""
        measure = (self.gain if gained else self.share).reshape(-1).round(DIGITS)
        number = min(number, len(measure))
        if number == 0 or not self.is_estimated:
            return []
        least = -np.partition(-measure, number - 1)[number - 1]
        places = np.flatnonzero(measure >= least)
        people = self.population.people[places // len(self.values)]
        chosen = places[np.lexsort((places, -people, -measure[places]))[:number]]
        return [self.guess(*divmod(place, len(self.values))) for place in chosen.tolist()]

    def guess(self, combination: int, value: int) -> Guess:
        """What is estimated about one value of one combination."""
        lower, upper = (float(bound[combination, value]) for bound in (self.lower, self.upper))
        return Guess(
            self.population.describe(combination),
            int(self.population.people[combination]),
            self.sensitive,
            self.values[value],
            float(self.share[combination, value]),
            float(self.baseline[value]),
            None if np.isnan(lower) else lower,
            None if np.isnan(upper) else upper,
        )

    def table(self) -> Mapping[str, npt.NDArray[Any]]:
        """One line for each combination and sensitive value: every QI column, the SA column, people, posterior, lower, upper."""
        n_values = len(self.values)
        out: dict[str, npt.NDArray[Any]] = {
            column.name: np.array(column.values, object)[column.codes].repeat(n_values) for column in self.population.columns
        }
        out[self.sensitive] = np.tile(np.array(self.values, object), len(self.population))
        out["people"] = self.population.people.repeat(n_values)
        found = {"posterior": self.share, "lower": self.lower, "upper": self.upper}
        return out | {name: values.reshape(-1) for name, values in found.items()}

    def to_dict(self, *, top: int) -> dict[str, Any]:
        """The estimates as in the record of an audit: the baseline, and the highest of them."""
        baseline = (
            None if np.isnan(self.baseline).any() else dict(zip(self.values, self.baseline.round(DIGITS).tolist(), strict=True))
        )
        return {
            "attack": "R02",
            "method": "maximum entropy",
            "sensitive": self.sensitive,
            "combinations": len(self.population),
            "baseline": baseline,
            "baseline_is_published": self.baseline_is_published,
            "outside_bounds": self.outside_bounds(),
            "highest": [guess.to_dict() for guess in self.highest(top)],
            "most_gained": [guess.to_dict() for guess in self.highest(top, gained=True)],
        }
