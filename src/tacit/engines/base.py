"""The only questions Tacit asks about rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tacit.errors import OptionError
from tacit.model.event import BoxEvent
from tacit.model.schema import require_column

#: One combination of values, one per column asked for, and how many people have it.
Group = tuple[tuple[str, ...], int]


class Engine(Protocol):
    """Rows of people that can be counted; values are text, and a missing value is the empty text."""

    @property
    def name(self) -> str:
        """The name in the table of engines."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the data."""

    @property
    def n(self) -> int:
        """How many people there are."""

    def counts(self, events: Sequence[BoxEvent]) -> list[int]:
        """How many people are in each event."""

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The combinations of values that occur in these columns, sorted as text, with their counts of people."""

    def close(self) -> None:
        """Give back what the engine holds."""


def check_events(events: Sequence[BoxEvent], columns: Sequence[str]) -> None:
    """Raise when an event names a column that does not exist."""
    for event in events:
        check_columns(list(event.allowed), columns)


def check_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise when a name is not one of the columns."""
    if isinstance(names, str):
        raise OptionError("columns are given as one text", where="columns", remedy="Give a list of names")
    for name in names:
        require_column(name, columns, where="columns")
