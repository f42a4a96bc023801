"""Estimates of sensitive values, and bounds on patterns.

A posterior for everybody, compared with bounds and with the truth; one person's estimate with the statements behind it; the number of people
in one pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Floats
from tacit.model.errors import OptionError
from tacit.model.finding import Citation
from tacit.model.knowledge import Withheld
from tacit.model.people import Population
from tacit.model.shown import Drawn, Shown, provided

DIGITS = 9  #: Estimates that agree in this many decimals are equal: further ones depend on the machine.
OTHER = "(any other value)"  #: Stands for all values of the sensitive column that no release names, if none lists all of them.
_ROOM = 1e-7  #: An estimate counts as outside its bounds only where it is so by more than this.


@dataclass(frozen=True, slots=True)
class Guess:
    """Estimate about the people of one combination; bounds None if not computed."""

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


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Drawn):
    """Estimates and bounds for every combination and sensitive value.

    ``share``, ``lower`` and ``upper`` have a row for each combination of the population and a column for each of ``values``; they hold nan where
    an attack did not run. ``baseline`` is the share of each value among all people: what an outsider guesses about anybody.
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
        """True if there are estimates, not only bounds."""
        return not bool(np.isnan(self.share).any())

    @cached_property
    def largest(self) -> Floats:
        """Probability of the most probable value per combination."""
        return np.asarray(self.share.max(axis=1, initial=0.0))

    @cached_property
    def gain(self) -> Floats:
        """By how much each estimate exceeds the baseline."""
        return np.asarray(self.share - self.baseline)

    def outside_bounds(self) -> int:
        """Count the combinations with an estimate outside its bounds."""
        if any(np.isnan(numbers).any() for numbers in (self.share, self.lower, self.upper)):
            return 0
        return int(((self.share < self.lower - _ROOM) | (self.share > self.upper + _ROOM)).any(axis=1).sum())

    def highest(self, number: int, *, gained: bool = False) -> list[Guess]:
        """Return the most certain (or most ``gained``) estimates; larger groups first."""
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
        """Return the estimate about one value of one combination."""
        lower, upper = (float(bound[combination, value]) for bound in (self.lower, self.upper))
        return Guess(
            self.population.describe(combination),
            int(self.population.people[combination]),
            self.sensitive,
            self.values[value],
            probability=float(self.share[combination, value]),
            baseline=float(self.baseline[value]),
            lower=None if np.isnan(lower) else lower,
            upper=None if np.isnan(upper) else upper,
        )

    def table(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return a table of all combinations and values."""
        n_values = len(self.values)
        out: dict[str, npt.NDArray[Any]] = {
            column.name: np.array(column.values, object)[column.codes].repeat(n_values) for column in self.population.columns
        }
        out[self.sensitive] = np.tile(np.array(self.values, object), len(self.population))
        out["people"] = self.population.people.repeat(n_values)
        found = {"posterior": self.share, "lower": self.lower, "upper": self.upper}
        return out | {name: values.reshape(-1) for name, values in found.items()}

    def to_frame(self) -> Any:
        """Return the table as a frame of pandas, or of polars or Arrow where it is not installed."""
        return provided("frame")(self.table())

    def to_dict(self, *, top: int) -> dict[str, Any]:
        """Return the baseline and highest estimates for a record."""
        shares = dict(zip(self.values, self.baseline.round(DIGITS).tolist(), strict=True))
        return {
            "attack": "R02",
            "method": "maximum entropy",
            "sensitive": self.sensitive,
            "combinations": len(self.population),
            "baseline": None if np.isnan(self.baseline).any() else shares,
            "baseline_is_published": self.baseline_is_published,
            "outside_bounds": self.outside_bounds(),
            "highest": [guess.to_dict() for guess in self.highest(top)],
            "most_gained": [guess.to_dict() for guess in self.highest(top, gained=True)],
        }


def table_of(posteriors: Sequence[Posterior]) -> Mapping[str, npt.NDArray[Any]]:
    """Return the table of all estimates.

    Of several sensitive columns, ``sensitive`` names the column and ``value`` its value.
    """
    tables = [dict(one.table()) for one in posteriors]
    if len(tables) == 1:
        return tables[0]
    for one, table in zip(posteriors, tables, strict=True):
        values = table.pop(one.sensitive)
        table |= {"sensitive": np.full(len(values), one.sensitive, object), "value": values}
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


#: The ranges of the probability of the top guess in which it is compared with the true data; above means: more than the left end.
RANGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
SURE = 0.9  #: Guesses above this are those that give somebody away when they are right.


@dataclass(frozen=True, slots=True)
class Calibration:
    """Top guesses in one range of probability, and truth."""

    above: float
    at_most: float
    people: int
    estimated: float
    right: float


@dataclass(frozen=True, slots=True)
class Judged:
    """Top guess about one combination, compared with the truth."""

    guess: Guess
    right: float
    divergence: float

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the record; infinite becomes None."""
        divergence = self.divergence if np.isfinite(self.divergence) else None
        return self.guess.to_dict() | {"right": self.right, "D_individual": divergence}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Errors of estimates: ``individual[q]`` nats for combination q, ``overall`` on average.

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
        """Number of people with the most frequent value of all: what needs no release."""
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
        """Return the top guesses by ranges of probability, with how often they are right."""
        largest = self.posterior.largest
        people = self.posterior.population.people
        place = np.clip(np.searchsorted(RANGES, largest) - 1, 0, len(RANGES) - 2)
        out = []
        for number in np.unique(place).tolist():
            here = place == number
            n = int(people[here].sum())
            estimated = float(largest[here] @ people[here])
            out.append(Calibration(RANGES[number], RANGES[number + 1], n, estimated / n, float(self.right[here].sum()) / n))
        return out

    def given_away(self, number: int) -> list[Judged]:
        """Return the surest guesses that are true of a person."""
        chosen = np.flatnonzero(self.right > 0)
        share = self.right[chosen] / self.posterior.population.people[chosen]
        order = np.lexsort((chosen, -self.right[chosen], -share, -self.posterior.largest[chosen].round(DIGITS)))
        return [self.judged(place) for place in chosen[order[:number]].tolist()]

    def farthest(self, number: int) -> list[Judged]:
        """Return the combinations whose estimates are farthest from the truth."""
        order = np.lexsort((np.arange(len(self.individual)), -self.posterior.population.people, -self.individual.round(DIGITS)))
        return [self.judged(place) for place in order[:number].tolist()]

    def judged(self, combination: int) -> Judged:
        """Return what is guessed about one combination, and what is true."""
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

    def to_frame(self) -> Any:
        """Return the table as a frame of pandas, or of polars or Arrow where it is not installed."""
        return provided("frame")(self.table())

    def to_dict(self, *, top: int) -> dict[str, Any]:
        """The comparison as a record."""
        measures = {name: value if np.isfinite(value) else None for name, value in self.measures.items()}
        return {
            "format": "tacit.comparison/1",
            "n": self.posterior.population.n,
            "combinations": len(self.posterior.population),
            "sensitive": self.posterior.sensitive,
            "measures": measures,
            "calibration": [asdict(line) for line in self.calibration()],
            "given_away": [line.to_dict() for line in self.given_away(top)],
            "farthest": [line.to_dict() for line in self.farthest(top)],
        }

    @cached_property
    def _top(self) -> npt.NDArray[np.int64]:
        return np.asarray(self.posterior.share.argmax(axis=1))


Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """Statement of a release, its lines if any, and people concerned."""

    kind: str
    lines: tuple[int, ...]
    says: str
    people: int

    def to_dict(self) -> dict[str, Any]:
        """The statement as in the record."""
        return {"kind": self.kind, "lines": list(self.lines), "says": self.says, "people": self.people}


@dataclass(frozen=True, slots=True)
class Step:
    """One more statement, and the estimate given it."""

    said: Said
    posterior: Shares

    def to_dict(self) -> dict[str, Any]:
        """The step as in the record."""
        return self.said.to_dict() | {"posterior": rounded(self.posterior)}


@dataclass(frozen=True, slots=True)
class Influence:
    """Effect of one statement: the estimate ``without`` it.

    ``multiplier`` is what it adds to the logarithm of the odds of the value that it is about (nats); where several lines say much the same,
    these numbers are large, cancel each other, and mean little one by one.
    """

    said: Said
    multiplier: float
    without: Shares | None = None

    def to_dict(self) -> dict[str, Any]:
        """The influence as in the record."""
        without = None if self.without is None else rounded(self.without)
        return self.said.to_dict() | {"multiplier": round(self.multiplier, 6), "without": without}


@dataclass(frozen=True, slots=True)
class PersonEstimate:
    """The probability of each sensitive value for people who match a description.

    ``posterior`` is the mean over the ``people`` who fit; ``least`` and ``most`` are the extremes over their combinations of quasi-identifiers.
    ``lower`` and ``upper`` are hard bounds of the share among them, None if not computed; ``proof`` says of one combination why it cannot
    have the values that are ruled out. ``steps`` build the estimate up from nothing with the statements that bring it closest; ``influences``
    are those whose loss would change it most. ``withheld`` is what the attacker expects of withheld numbers.
    """

    who: Mapping[str, str]
    people: int
    combinations: int
    sensitive: str
    values: tuple[str, ...]
    baseline: Shares
    baseline_is_published: bool
    posterior: Shares
    least: Shares
    most: Shares
    lower: Shares | None
    upper: Shares | None
    steps: tuple[Step, ...]
    influences: tuple[Influence, ...]
    statements: int
    proof: tuple[str, ...] = ()
    withheld: Withheld = "at-threshold"

    @property
    def order(self) -> list[int]:
        """The numbers of the values, the most probable first."""
        return sorted(range(len(self.values)), key=lambda number: (-round(self.posterior[number], DIGITS), number))

    def to_dict(self) -> dict[str, Any]:
        """The estimate as in the record."""
        columns = {name: getattr(self, name) for name in ("posterior", "least", "most", "baseline", "lower", "upper")}
        values = [
            {"value": self.values[place]}
            | {name: None if column is None else round(column[place], DIGITS) for name, column in columns.items()}
            for place in self.order
        ]
        return {
            "who": dict(self.who),
            "people": self.people,
            "combinations": self.combinations,
            "sensitive": self.sensitive,
            "method": "maximum entropy",
            **({} if self.withheld == "at-threshold" else {"withheld": self.withheld}),
            "baseline_is_published": self.baseline_is_published,
            "values": values,
            "order_of_values": list(self.values),
            "proof": list(self.proof),
            "steps": [step.to_dict() for step in self.steps],
            "influences": [one.to_dict() for one in self.influences],
            "statements": self.statements,
        }


def rounded(shares: Shares) -> list[float]:
    """Round probabilities to the digits of a record."""
    return [round(share, DIGITS) for share in shares]


def read_who(text: str) -> dict[str, str]:
    """Read ``education=Doctorate,sex=Male``; a part without ``=`` continues its value."""
    found: dict[str, str] = {}
    column = None
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            column = name.strip()
            if column in found:
                raise OptionError(f"column {column!r} is described twice", where="--who", remedy="Give each column one value")
            found[column] = value.strip()
        elif column is None:
            remedy = 'Write for instance --who "education=Doctorate,sex=Male"'
            raise OptionError("does not say which column has which value", where="--who", remedy=remedy)
        else:
            found[column] += f",{part}"
    return found


#: How bounds were found: by the signed sum of exact supports, by the tightest weights, or by that sum with the worst end of each term.
Method = Literal["sum", "bounds", "terms"]


@dataclass(frozen=True, slots=True)
class Channel:
    """Inference channel: ``people`` people have all of ``present`` and none of ``absent``.

    All these items together are frequent.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...]
    people: int


@dataclass(frozen=True, slots=True)
class PatternSupport:
    """From ``lo`` to ``hi`` people are in a pattern (no upper end where nothing bounds them).

    ``because`` lists the published numbers, ``steps`` the arithmetic in words. ``helpers`` are items that the pattern does not name and whose
    supports narrow the bounds.
    """

    pattern: str
    lo: int
    hi: int | None
    method: Method
    because: tuple[Citation, ...] = ()
    steps: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """True if only one number is possible."""
        return self.lo == self.hi

    @property
    def statement(self) -> str:
        """The result as a sentence.

        >>> PatternSupport("a and not b", 1, 1, "sum").statement, PatternSupport("a", 3, None, "bounds").statement
        ('1 person: a and not b.', 'At least 3 people: a.')
        """
        people = "person" if self.lo == 1 and self.hi in (1, None) else "people"
        if self.hi is None:
            return f"At least {self.lo:,} {people}: {self.pattern}."
        return f"{self.lo:,}{'' if self.is_exact else f' to {self.hi:,}'} {people}: {self.pattern}."

    def to_dict(self) -> dict[str, Any]:
        """The result as in the record."""
        out: dict[str, Any] = {"pattern": self.pattern, "statement": self.statement, "count": [self.lo, self.hi]}
        out |= {"exact": self.is_exact, "method": self.method, "helpers": list(self.helpers)}
        return out | {"because": [citation.to_dict() for citation in self.because], "steps": list(self.steps)}
