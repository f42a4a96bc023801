"""Table of measures, utility, and outcome of ``verify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        """All numbers by their names in ``MEASURES``."""
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


@dataclass(frozen=True, slots=True)
class Verification:
    """Outcome of ``verify``: findings that hold, and problems of others or of the record.

    ``listed`` and ``holding`` count proved findings by the code of their attack: those that the record writes out, and those that hold.
    ``estimates`` counts the listed findings that are estimates, which nobody can prove. ``open`` are sentences about what the record says and no
    proof shows; ``again`` says that a new audit gave the same record. ``unconfirmed`` says why a verdict that no finding decides is neither
    confirmed nor refuted; it is empty otherwise. ``rebuilt`` counts the rebuilt people whose proofs hold; None if the record has none.
    """

    held: int
    problems: tuple[str, ...]
    listed: Mapping[str, int] = field(default_factory=dict, compare=False)
    holding: Mapping[str, int] = field(default_factory=dict, compare=False)
    estimates: Mapping[str, int] = field(default_factory=dict, compare=False)
    open: tuple[str, ...] = ()
    again: bool = False
    unconfirmed: str = ""
    rebuilt: int | None = None

    @property
    def ok(self) -> bool:
        """True if everything holds."""
        return not self.problems and not self.unconfirmed

    @property
    def proved(self) -> int:
        """Number of findings that the record lists as proved."""
        return sum(self.listed.values())

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        return {
            "format": "tacit.verification/1",
            "holds": self.ok,
            "audited_again": self.again,
            "not_confirmed": [*([self.unconfirmed] if self.unconfirmed else []), *self.open],
            "proved": self.proved,
            "held": self.held,
            "attacks": {code: {"listed": number, "held": self.holding.get(code, 0)} for code, number in self.listed.items()},
            "estimates": dict(self.estimates),
            **({} if self.rebuilt is None else {"people_rebuilt": self.rebuilt}),
            "rejected": len(self.problems),
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table."""

    name: str
    unit: str
    meaning: str


#: The estimators, by the ends of the names of their measures.
_WAYS = {
    "": "by the shares of groups",
    "_rule_aware": "all assignments that fit the knowledge equally likely",
    "_debiased": "the mixing of groups undone",
    "_modelled": "by the model of B03",
}


#: All measures with their units, read from ``tacit/data/measures.txt`` on first use.
MEASURES: tuple[Measure, ...]


def _read_measures() -> Iterator[Measure]:
    from importlib.resources import files

    for line in files("tacit").joinpath("data", "measures.txt").read_text(encoding="utf-8").splitlines():
        name, unit, meaning = line.split(" | ", 2)
        if name.endswith("*"):  # a measure of each estimator, which only the owner can compute
            yield from (Measure(name[:-1] + end, unit, f"{meaning} ({way}; owner only)") for end, way in _WAYS.items())
        else:
            yield Measure(name, unit, meaning)


def __getattr__(name: str) -> tuple[Measure, ...]:
    """Read ``MEASURES`` on first use: only reports show it."""
    if name != "MEASURES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    rows = tuple(_read_measures())
    globals()[name] = rows
    return rows
