"""Statements about how many people of a group have a sensitive value; rules, missing rules and background facts all become these."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.model.population import Population

Numbers = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Statement:
    """Between ``lo`` and ``hi`` people of an event have the value; ``origin`` says where that is published, for explanations."""

    event: int
    value: int
    lo: int
    hi: int
    origin: Hashable


@dataclass(eq=False)
class Statements:
    """Statements over the combinations of a population; an event is the set of combinations that it holds for.

    >>> from tacit.model.table import Table
    >>> known = Population.of(Table.from_rows(["sex"], [("F",), ("M",), ("F",)]))
    >>> said = Statements(known, 2)
    >>> said.say(known.holding([("sex", "F")]), 0, 1, 2, "line 2")
    >>> len(said), said.whole(0)
    (1, 2)
    """

    population: Population
    n_values: int
    events: list[Places] = field(default_factory=list)
    listed: list[Statement] = field(default_factory=list)
    _number: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = np.random.default_rng(20090331)
        self._keys = chance.integers(1, 2**63, len(self.population), np.uint64)

    def __len__(self) -> int:
        return len(self.listed)

    def event(self, combinations: Places) -> int:
        """The number of the event that holds for these combinations; equal sets have one number."""
        key = (len(combinations), int(self._keys[combinations].sum(dtype=np.uint64)))
        number = self._number.setdefault(key, len(self.events))
        if number == len(self.events):
            self.events.append(combinations)
        return number

    def keys(self) -> list[tuple[int, int]]:
        """A key of each event that is the same in all statements about the same population."""
        return list(self._number)

    def say(self, combinations: Places, value: int, lo: int, hi: int, origin: Hashable) -> None:
        """Add a statement."""
        self.listed.append(Statement(self.event(combinations), value, lo, hi, origin))

    def whole(self, event: int) -> int:
        """How many people an event holds for."""
        return int(self.population.people[self.events[event]].sum())
