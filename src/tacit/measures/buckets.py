"""All that can be measured of a bucketized release beside the data that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.inference.surviving import learn
from tacit.inference.valid import valid_values
from tacit.measures.combinations import Combinations, Estimator, by_groups, estimators
from tacit.measures.counting_queries import draw_queries
from tacit.measures.diversity import plain_figures
from tacit.measures.guessing import guessed_at_release, guessed_right
from tacit.measures.positive_rules import PositiveRules
from tacit.model.buckets import Buckets
from tacit.model.exclusions import Exclusions
from tacit.model.number import Threshold
from tacit.model.table import Table
from tacit.model.utility import Utility

#: Of more people than this, the errors of a release are not measured while it is made.
MEASURED_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class UtilitySettings:
    """Which rules and which questions are looked at; the defaults are those of the Injector paper."""

    min_support: Threshold = field(default_factory=lambda: Threshold.parse("1%"))
    min_conviction: Fraction = Fraction(11, 10)
    max_length: int = 3
    intervals: Mapping[str, float] = field(default_factory=dict)
    queries: int = 1000
    dim: int = 2
    selectivity: Fraction = Fraction(1, 2)
    seed: int = 0

    def to_dict(self) -> dict[str, object]:
        """The settings as in the record."""
        support = int(self.min_support.value) if self.min_support.is_count else float(self.min_support.value)
        return {
            "min_support": support,
            "min_conviction": float(self.min_conviction),
            "max_length": self.max_length,
            "intervals": dict(self.intervals),
            "dim": self.dim,
            "selectivity": float(self.selectivity),
            "seed": self.seed,
        }


def measure_utility(
    buckets: Buckets,
    people: Table,
    known: Exclusions | None,
    settings: UtilitySettings,
    *,
    check: Callable[[], None] = lambda: None,
    progress: Callable[[float], None] = lambda _: None,
) -> Utility:
    """What a release is good for, and what can be guessed from it, for the owner of the data."""
    cells = Combinations.of(buckets, people)
    valid = valid_values(buckets, known or Exclusions.none(buckets.n, buckets.values))
    progress(0.1)
    model = learn(valid, check=check)
    readers, mixing = estimators(cells, valid, model, check=check)
    progress(0.4)
    rules, of_rules = _rule_errors(buckets, cells, readers, settings)
    check()
    progress(0.6)
    asked = draw_queries(
        cells, number=settings.queries, dim=settings.dim, selectivity=settings.selectivity, seed=settings.seed, check=check
    )
    of_answers = asked.errors(readers) if len(asked) else {}
    progress(0.8)
    guesses, note = guessed_right(valid, model, people, cells, check=check)
    errors = {one.name: of_rules.get(one.name, {}) | _summary(of_answers.get(one.name)) for one in readers}
    notes = [*_notes(cells, settings, rules, len(asked)), note]
    return Utility(
        buckets.n,
        len(buckets),
        buckets.sensitive,
        rules,
        len(asked),
        settings.to_dict(),
        errors,
        mixing.condition,
        plain_figures(buckets),
        guesses,
        tuple(text for text in notes if text),
    )


def owners_measures(
    buckets: Buckets, people: Table, known: Exclusions | None, *, check: Callable[[], None] = lambda: None
) -> Mapping[str, float]:
    """The same numbers for an audit, by their names and with the usual settings; none where ``check`` says that time is over.

    They decide nothing, so that the rest of an audit is not lost for them.
    """
    try:
        settings = UtilitySettings(dim=min(2, len(buckets.people.names)))
        return measure_utility(buckets, people, known, settings, check=check).measures
    except LimitReached:
        return {}


def grouping_cost(
    buckets: Buckets, people: Table, known: Exclusions, *, check: Callable[[], None] = lambda: None
) -> Mapping[str, float]:
    """What groups that are just being made cost, and what they leave to guess; ``people`` are in the order of the release.

    Errors are those of counting by groups; they are left out where there are so many people that measuring would take longer than grouping.
    """
    found = dict(guessed_at_release(valid_values(buckets, known, people.sa.codes), people.sa.codes, check=check))
    if buckets.n > MEASURED_AT_ONCE:
        return found
    settings = UtilitySettings(dim=min(2, len(buckets.people.names)))
    cells = Combinations.of(buckets, people)
    uniform, _, _ = by_groups(cells, buckets, check=check)
    found |= _rule_errors(buckets, cells, [uniform], settings)[1].get("uniform", {})
    asked = draw_queries(
        cells, number=settings.queries, dim=settings.dim, selectivity=settings.selectivity, seed=settings.seed, check=check
    )
    return found | _summary(asked.errors([uniform])["uniform"] if len(asked) else None)


def _rule_errors(
    buckets: Buckets, cells: Combinations, readers: Sequence[Estimator], settings: UtilitySettings
) -> tuple[int, dict[str, dict[str, float]]]:
    """How many rules the data have, and the errors of each estimator about them."""
    rules = PositiveRules.of(
        cells, readers, least=settings.min_support, conviction=settings.min_conviction, length=settings.max_length,
        intervals=settings.intervals,
    )  # fmt: skip
    everybody = np.zeros(len(cells.values))
    np.add.at(everybody, cells.widened(buckets)[buckets.value], buckets.count)
    return len(rules), {one.name: rules.errors(one, everybody) for one in readers} if len(rules) else {}


def _summary(off: npt.NDArray[np.float64] | None) -> dict[str, float]:
    """The errors of answers in two numbers."""
    return {} if off is None else {"query_error": float(off.mean()), "query_error_median": float(np.median(off))}


def _notes(cells: Combinations, settings: UtilitySettings, rules: int, asked: int) -> Iterator[str]:
    """What a reader must know about the numbers."""
    left_out = int(cells.true.sum() - cells.published.sum())
    if left_out:
        yield f"{left_out:,} people of the data are not in the release"
    if not rules:
        yield "the data have no rule with that support and conviction, so there is no confidence and no identification error"
    if asked < settings.queries:
        yield f"only {asked:,} of {settings.queries:,} questions that somebody fits were found"
