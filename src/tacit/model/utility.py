"""What a bucketized release is still good for, and what can be guessed from it, beside the data that it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The ways to read a release, in the order in which they are shown; the first is the one that measures without a suffix are about.
ESTIMATORS = ("uniform", "rule-aware", "debiased", "modelled")


@dataclass(frozen=True, slots=True)
class Utility:
    """The errors of what a release lets one estimate, for each way to read it.

    ``errors[estimator][measure]`` are shares; a measure is missing where there was nothing to measure, and ``notes`` say why. ``rules`` is how
    many positive rules the data have, ``queries`` how many questions were asked. ``condition`` is the condition number of the mixing of values
    in groups, ``figures`` are k, l and t, and ``guesses`` for how many people the most probable value is the true one.
    """

    n: int
    groups: int
    sensitive: str
    rules: int
    queries: int
    settings: Mapping[str, Any]
    errors: Mapping[str, Mapping[str, float]]
    condition: float
    figures: Mapping[str, float]
    guesses: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> Mapping[str, float]:
        """All numbers by their names in ``MEASURES``: those of the uniform estimator as they are, the others with a suffix."""
        out: dict[str, float] = {}
        for estimator in ESTIMATORS:
            suffix = "" if estimator == "uniform" else "_" + estimator.replace("-", "_")
            out |= {f"{name}{suffix}": value for name, value in self.errors.get(estimator, {}).items()}
        out |= {"positive_rules": self.rules, "queries": self.queries, "mixing_condition": self.condition}
        return out | dict(self.figures) | dict(self.guesses)

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        finite = {name: value if abs(value) != float("inf") else None for name, value in self.measures.items()}
        return {
            "format": "tacit.utility/1",
            "n": self.n,
            "groups": self.groups,
            "sensitive": self.sensitive,
            "settings": dict(self.settings),
            "measures": finite,
            "notes": list(self.notes),
        }
