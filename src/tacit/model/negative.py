"""Negative rules: who has these values never has that sensitive value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.release import Header

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a column, or a coarser value, with the raw values that belong to it."""

    column: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NegativeRules:
    """Rules ``X => not s``: nobody of the ``count`` people with X has the sensitive value s.

    ``antecedents[i, c]`` is the node that rule i asks of QI column c, -1 where it asks nothing; ``excluded[i]`` the number of the value
    that it rules out; ``minimal[i]`` says that no rule with a more general antecedent rules the same value out. ``excluded_values[j]``
    people have j values ruled out. ``itemsets`` antecedents were frequent enough to be looked at; ``by_chance`` rules (and minimal ones)
    come out on average when the sensitive values are shuffled, where that was tried.
    """

    antecedents: npt.NDArray[np.int32]
    excluded: Numbers
    count: Numbers
    minimal: npt.NDArray[np.bool_]
    nodes: tuple[Node, ...]
    header: Header
    min_expectation: float
    excluded_values: Numbers
    itemsets: int
    significance: float | None = None
    by_chance: tuple[float, float] | None = None
    expectation: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.excluded)

    @property
    def minimal_rules(self) -> int:
        """How many rules are minimal."""
        return int(self.minimal.sum())

    def antecedent(self, index: int) -> list[Node]:
        """The nodes of a rule, by column."""
        return [self.nodes[node] for node in self.antecedents[index].tolist() if node >= 0]

    def value(self, index: int) -> str:
        """The sensitive value that a rule excludes."""
        return self.header.sa_values[int(self.excluded[index])]

    def records(self) -> Iterator[dict[str, Any]]:
        """The rules as dictionaries."""
        for index in range(len(self)):
            chosen = self.antecedent(index)
            yield {
                "antecedent": {node.column: list(node.members) for node in chosen},
                "excluded": self.value(index),
                "count": int(self.count[index]),
                "expectation": float(self.expectation[index]),
                "minimal": bool(self.minimal[index]),
                "nodes": {node.column: node.name for node in chosen},
            }
