"""Negative rules: values that exclude a sensitive value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Floats, Ints
from tacit.model.release import Header
from tacit.model.shown import Lines


@dataclass(frozen=True, slots=True)
class Node:
    """Value of a column, possibly coarser, with raw values."""

    column: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NegativeRules(Lines):
    """Rules ``X => not s``: few or none of the ``count`` people with X have the value s.

    ``antecedents[i, c]`` is the node that rule i asks of QI column c, -1 where it asks nothing; ``excluded[i]`` the number of the value
    that it rules out; ``minimal[i]`` says that no rule with a more general antecedent implies it. ``excluded_values[j]`` people have j values
    ruled out, ``own_excluded`` people among them their own (0 when no rule has exceptions). ``by_chance`` rules (and minimal ones) come out
    on average when the sensitive values are shuffled, where that was tried.

    ``against[i]`` of the ``count[i]`` people have the value after all: 0 at ``min_confidence`` 1. In fuzzy columns (``fuzzy`` has their
    spreads) ``count`` and ``against`` are about those who belong to X fully, ``support`` and ``confidence`` about everyone to the degree that
    they belong.

    ``all_rules`` is how many rules there are, and None where only the minimal ones were searched for and all are too many to be counted; then
    the list holds the minimal ones. ``itemsets`` antecedents are frequent enough to be looked at, at most so many unless ``itemsets_counted``.
    """

    antecedents: npt.NDArray[np.int32]
    excluded: Ints
    count: Ints
    minimal: npt.NDArray[np.bool_]
    nodes: tuple[Node, ...]
    header: Header
    min_expectation: float
    excluded_values: Ints
    itemsets: int
    significance: float | None = None
    by_chance: tuple[float | None, float] | None = None
    expectation: Floats = field(default_factory=lambda: np.empty(0))
    support: Floats = field(default_factory=lambda: np.empty(0))
    confidence: Floats = field(default_factory=lambda: np.empty(0))
    against: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    min_confidence: Fraction = Fraction(1)
    fuzzy: Mapping[str, float] = field(default_factory=dict)
    all_rules: int | None = None
    itemsets_counted: bool = True
    own_excluded: int = 0

    def __len__(self) -> int:
        return len(self.excluded)

    @property
    def minimal_rules(self) -> int:
        """Number of minimal rules."""
        return int(self.minimal.sum())

    @property
    def lists_minimal(self) -> bool:
        """True if only minimal rules are listed although there may be others."""
        return self.all_rules != len(self)

    def antecedent(self, index: int) -> list[Node]:
        """The nodes of a rule, by column."""
        return [self.nodes[node] for node in self.antecedents[index].tolist() if node >= 0]

    def value(self, index: int) -> str:
        """The sensitive value that a rule excludes."""
        return self.header.sa_values[int(self.excluded[index])]

    def at_most(self, index: int) -> str:
        """Return the largest share of people with the antecedent who have the value, as a decimal.

        It is rounded up, with enough digits that it still says how many people they are.
        """
        count = int(self.count[index])
        against = int(self.against[index])
        if against == 0:
            return "0"
        digits = len(str(count)) + 1
        return f"{Decimal(-(-against * 10**digits // count)).scaleb(-digits):f}"

    def records(self) -> Iterator[dict[str, Any]]:
        """The rules as dictionaries."""
        for index in range(len(self)):
            chosen = self.antecedent(index)
            yield {
                "antecedent": {node.column: list(node.members) for node in chosen},
                "excluded": self.value(index),
                "count": int(self.count[index]),
                "expectation": float(self.expectation[index]),
                "confidence": float(self.confidence[index]),
                "at_most": self.at_most(index),
                "minimal": bool(self.minimal[index]),
                "nodes": {node.column: node.name for node in chosen},
            }
