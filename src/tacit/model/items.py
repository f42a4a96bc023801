"""The items that patterns are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Items:
    """Names of items; the items of a table are pairs of column and value and print as ``column=value``.

    >>> Items.of_columns([("sex", "F"), ("age", "30")]).names
    ('sex=F', 'age=30')
    """

    names: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] | None = None

    @classmethod
    def of_columns(cls, pairs: Sequence[tuple[str, str]]) -> Items:
        """Items ``column=value``."""
        return cls(tuple(f"{column}={value}" for column, value in pairs), tuple(pairs))

    def __len__(self) -> int:
        return len(self.names)
