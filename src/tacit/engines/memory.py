"""The memory engine: plain Python over the rows, the reference for all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tacit.engines.base import Group, check_columns, check_events
from tacit.model.event import BoxEvent
from tacit.model.table import Table


class MemoryEngine:
    """Counts by looking at every row.

    >>> people = Table.from_rows(["sex", "pay"], [("F", "high"), ("M", "low"), ("F", "low")])
    >>> engine = MemoryEngine(people)
    >>> engine.counts([BoxEvent({"sex": ("F",)})]), engine.groups(["pay"])
    ([2], [(('high',), 1), (('low',), 2)])
    """

    name = "memory"

    def __init__(self, table: Table) -> None:
        self._columns = table.names
        texts = [[column.values[code] for code in column.codes.tolist()] for column in table.columns]
        self._rows = [
            (dict(zip(self._columns, cells, strict=True)), weight)
            for *cells, weight in zip(*texts, table.weights.tolist(), strict=True)
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the data."""
        return self._columns

    @property
    def n(self) -> int:
        """How many people there are."""
        return sum(weight for _, weight in self._rows)

    def counts(self, events: Sequence[BoxEvent]) -> list[int]:
        """How many people are in each event."""
        check_events(events, self._columns)
        return [
            sum(weight for row, weight in self._rows if all(row[column] in values for column, values in event.allowed.items()))
            for event in events
        ]

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The combinations of values that occur in these columns, sorted as text, with their counts of people."""
        check_columns(by, self._columns)
        found: Counter[tuple[str, ...]] = Counter()
        for row, weight in self._rows:
            found[tuple(row[column] for column in by)] += weight
        return sorted(found.items())

    def close(self) -> None:
        """Forget the rows."""
        self._rows = []
