"""Adult as the Injector paper uses it: its trees as far as they can be told, rules, groups and errors, each worked out once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.bucketing.methods import Method, group_people
from tacit.formats.knowledge import read_knowledge
from tacit.inference.surviving import guess, learn
from tacit.inference.valid import Valid, valid_values
from tacit.measures.combinations import Combinations, Estimator, by_groups
from tacit.measures.counting_queries import Queries, draw_queries
from tacit.measures.positive_rules import PositiveRules
from tacit.model.buckets import Buckets
from tacit.model.exclusions import Exclusions
from tacit.model.hierarchy import Hierarchy
from tacit.model.negative import NegativeRules
from tacit.model.number import Threshold
from tacit.model.table import Table
from tacit.negative import mine_negative_rules

QI = ("age", "workclass", "education", "marital-status", "race", "sex")
SA = "occupation"

#: The trees are not in the paper. These reproduce its numbers of rules and of people best: each coarser value with what belongs to it; a value
#: without a coarser one stands on every level, as in the files that such trees come in.
_COARSER = {
    "workclass": {"Self-emp": "Self-emp-inc Self-emp-not-inc", "Government": "Federal-gov Local-gov State-gov"},
    "race": {"Non-White": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other"},
    "marital-status": {
        "spouse present": "Married-civ-spouse Married-AF-spouse",
        "spouse not present": "Divorced Never-married Separated Widowed Married-spouse-absent",
    },
    "education": {
        "Primary School": "Preschool 1st-4th 5th-6th",
        "High School": "7th-8th 9th 10th 11th 12th HS-grad",
        "Professional Education": "Assoc-acdm Assoc-voc Prof-school",
        "Undergraduate": "Some-college Bachelors",
        "Graduate": "Masters Doctorate",
    },
}
_COARSEST = {
    "education": {
        "Primary education": "Primary School",
        "Secondary education": "High School",
        "Higher education": "Professional Education/Undergraduate/Graduate",
    }
}
#: Anatomy is drawn so often; figures give the mean.
DRAWS = 10
#: So many questions are asked.
QUERIES = 1000


def trees(people: Table) -> dict[str, Hierarchy]:
    """The trees of the columns that have one, for the values that occur."""
    out = {}
    for column, coarser in _COARSER.items():
        upper = {node: top for top, listed in _COARSEST.get(column, {}).items() for node in listed.split("/")}
        above = {value: node for node, listed in coarser.items() for value in listed.split()}
        levels: dict[str, tuple[str, ...]] = {}
        for value in people.column(column).values:
            node = above.get(value)
            levels[value] = () if node is None else (node, upper[node]) if node in upper else (node,)
        # One level that repeats the value, where its column has one level of coarser values.
        repeated = {value: 1 for value, chain in levels.items() if not chain}
        out[column] = Hierarchy(column, levels, "the trees of this reproduction", repeated)
    return out


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups, and the seconds that forming them took."""

    buckets: Buckets
    seconds: float


@dataclass(eq=False)
class Trial:
    """The people, and all that was worked out about them so far; settings come back in several figures."""

    people: Table
    _rules: dict[Any, tuple[NegativeRules, Exclusions, float]] = field(default_factory=dict)
    _groups: dict[Any, Grouped] = field(default_factory=dict)
    _readers: dict[Any, tuple[Estimator, Estimator]] = field(default_factory=dict)
    _queries: dict[Any, Queries] = field(default_factory=dict)

    @cached_property
    def trees(self) -> dict[str, Hierarchy]:
        """The trees of the columns."""
        return trees(self.people)

    def rules(self, expectation: float) -> tuple[NegativeRules, Exclusions, float]:
        """The rules about single columns at an expectation, what they rule out for whom, and the seconds that mining took."""
        return self._mined((expectation, 1), min_expectation=expectation, max_length=1)

    def conjunctive(self) -> tuple[NegativeRules, Exclusions, float]:
        """The rules about any columns that are no chance, corrected for the number of tests."""
        return self._mined("conjunctive", min_expectation=0.9, significance=0.05)

    def _mined(self, key: Any, **how: Any) -> tuple[NegativeRules, Exclusions, float]:
        if key not in self._rules:
            start = time.perf_counter()
            found = mine_negative_rules(self.people, hierarchies=self.trees, **how)
            seconds = time.perf_counter() - start
            known = Exclusions.of(read_knowledge(found), self.people.qi, self.people.sa.values)
            self._rules[key] = found, known, seconds
        return self._rules[key]

    def groups(self, method: Method, least: int, known: Exclusions, seed: int = 0) -> Grouped:
        """The groups of a method; Anatomy does not look at what is known."""
        key = (method, least, None if method == "anatomy" else id(known), seed)
        if key not in self._groups:
            start = time.perf_counter()
            made = group_people(self.people.sa.codes, known.kind, known.patterns, least=least, method=method, seed=seed)
            seconds = time.perf_counter() - start
            self._groups[key] = Grouped(Buckets.of(self.people.qi, self.people.sa, made.group), seconds)
        return self._groups[key]

    def valid(self, method: Method, least: int, known: Exclusions, seed: int = 0) -> Valid:
        """What everybody can have in the groups of a method."""
        return valid_values(self.groups(method, least, known, seed).buckets, known, self.people.sa.codes)

    def vulnerable(self, method: Method, least: int, known: Exclusions) -> list[int]:
        """How many people have fewer than l valid values; Anatomy is drawn several times."""
        seeds = range(DRAWS) if method == "anatomy" else range(1)
        return [int(np.count_nonzero(self.valid(method, least, known, seed).counts < least)) for seed in seeds]

    @cached_property
    def cells(self) -> Combinations:
        """The combinations of quasi-identifiers; they are the same for all groups of the same people."""
        return Combinations.of(self.groups("anatomy", 3, self.rules(0.9)[1]).buckets, self.people)

    def readers(self, method: Method, least: int, known: Exclusions, seed: int = 0) -> tuple[Estimator, Estimator]:
        """What groups let one count, as they are and with their mixing undone."""
        key = (method, least, None if method == "anatomy" else id(known), seed)
        if key not in self._readers:
            uniform, debiased, _ = by_groups(self.cells, self.groups(method, least, known, seed).buckets)
            self._readers[key] = uniform, debiased
        return self._readers[key]

    def rule_errors(self, method: Method, least: int, known: Exclusions, seeds: int = 1) -> dict[str, dict[str, float]]:
        """Confidence and identification errors, by estimator; the mean of some draws."""
        found = []
        everybody = self.cells.true.sum(axis=0)
        for seed in range(seeds):
            readers = self.readers(method, least, known, seed)
            rules = PositiveRules.of(
                self.cells, readers, least=Threshold.parse("1%"), conviction=Fraction(11, 10), length=3, intervals={"age": 10}
            )
            found.append({one.name: rules.errors(one, everybody) for one in readers})
        return {
            name: {measure: float(np.mean([one[name][measure] for one in found])) for measure in found[0][name]}
            for name in found[0]
        }

    def query_errors(
        self,
        groupings: Sequence[tuple[Method, str, int]],
        least: int,
        known: Exclusions,
        *,
        dim: int = 2,
        selectivity: str = "0.5",
    ) -> dict[str, float]:
        """Mean errors of the answers that several groupings give to the same questions; each is a method, its name, and how many draws."""
        key = (dim, selectivity)
        if key not in self._queries:
            self._queries[key] = draw_queries(self.cells, number=QUERIES, dim=dim, selectivity=Fraction(selectivity), seed=1)
        readers = {
            (name, seed): self.readers(method, least, known, seed)[0]
            for method, name, draws in groupings
            for seed in range(draws)
        }
        numbered = [replace(reader, name=str(number)) for number, reader in enumerate(readers.values())]
        off = self._queries[key].errors(numbered)
        found = dict(zip(readers, (float(off[one.name].mean()) for one in numbered), strict=True))
        return {name: mean([found[name, seed] for seed in range(draws)]) for _, name, draws in groupings}

    def guessed(self, method: Method, least: int, known: Exclusions) -> tuple[float, float]:
        """The share of people whose value is the most frequent one of their group, and whose value is what B03 guesses."""
        valid = self.valid(method, least, known)
        buckets = valid.cells.buckets
        right = guess(valid, learn(valid)).top == self.people.sa.codes
        return float(np.maximum.reduceat(buckets.count, buckets.starts[:-1]).sum()) / buckets.n, float(right.mean())


def mean(values: Sequence[float]) -> float:
    """The mean of some numbers."""
    return float(np.mean(values))
