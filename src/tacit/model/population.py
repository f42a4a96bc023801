"""Everybody's quasi-identifiers, as far as an adversary knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.model.arrays import Codes, Ints
from tacit.model.table import Column, Table


@dataclass(frozen=True, eq=False)
class Population:
    """Combinations of QI values, with numbers of people.

    >>> known = Population.of(Table.from_rows(["sex", "age"], [("F", "30"), ("M", "30"), ("F", "30")]))
    >>> len(known), known.n, known.holding([("sex", "F")]).tolist(), known.describe(0)
    (2, 3, [0], {'sex': 'F', 'age': '30'})
    """

    columns: tuple[Column, ...]
    people: Ints

    @classmethod
    def of(cls, table: Table) -> Population:
        """The combinations of all columns of a table."""
        merged = table.merged()
        return cls(merged.columns, merged.weights)

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def n(self) -> int:
        """Number of people."""
        return int(self.people.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def describe(self, index: int) -> dict[str, str]:
        """The values of a combination by column."""
        return {column.name: column.values[column.codes[index]] for column in self.columns}

    def knows(self, column: str, value: str) -> bool:
        """Tell if anybody has this value."""
        return (column, value) in self._places

    def holding(self, pairs: Iterable[tuple[str, str]]) -> Codes:
        """Return the combinations with all these values, ascending."""
        wanted = [self._places.get(pair) for pair in pairs]
        if any(place is None for place in wanted):
            return np.empty(0, np.int32)
        if not wanted:
            return np.arange(len(self), dtype=np.int32)
        # From the rarest value on: the others are looked up only where it is.
        first, *rest = sorted((place for place in wanted if place is not None), key=lambda place: len(self._lists[place]))
        found = self._lists[first]
        for column, code in rest:
            found = found[self.columns[column].codes[found] == code]
        return found

    def places_of(self, table: Table) -> Ints:
        """Return each row's combination, or -1.

        >>> known = Population.of(Table.from_rows(["sex"], [("F",), ("M",)]))
        >>> known.places_of(Table.from_rows(["sex"], [("M",), ("X",), ("F",)])).tolist()
        [1, -1, 0]
        """
        mine = np.zeros(len(self), np.int64)
        theirs = np.zeros(len(table.weights), np.int64)
        known = np.ones(len(theirs), np.bool_)
        span = 1
        for column in self.columns:
            other = table.column(column.name)
            code = {value: number for number, value in enumerate(column.values)}
            fresh = np.array([code.get(value, -1) for value in other.values], np.int64)[other.codes]
            known &= fresh >= 0
            if span > np.iinfo(np.int64).max // max(1, len(column.values)):
                # Too many combinations for one number: only those that occur are numbered.
                kept, mine = np.unique(mine, return_inverse=True)
                place = np.minimum(np.searchsorted(kept, theirs), max(0, len(kept) - 1))
                known &= kept[place] == theirs
                theirs = place
                span = len(kept)
            mine = mine * len(column.values) + column.codes
            theirs = theirs * len(column.values) + np.maximum(fresh, 0)
            span *= len(column.values)
        order = np.argsort(mine)
        found = np.minimum(np.searchsorted(mine, theirs, sorter=order), max(0, len(mine) - 1))
        places = order[found] if len(mine) else np.zeros(len(theirs), np.int64)
        known &= mine[places] == theirs if len(mine) else np.zeros(len(theirs), np.bool_)
        return np.where(known, places, -1)

    def among(self, allowed: Mapping[str, Sequence[str]]) -> Codes:
        """Return the combinations with allowed values, ascending."""
        found = np.arange(len(self), dtype=np.int32)
        for name, values in allowed.items():
            column = self.columns[self.names.index(name)]
            wanted = np.array([value in values for value in column.values], np.bool_)
            found = found[wanted[column.codes[found]]]
        return found

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Column and code of each value."""
        return {
            (column.name, value): (number, code)
            for number, column in enumerate(self.columns)
            for code, value in enumerate(column.values)
        }

    @cached_property
    def _lists(self) -> dict[tuple[int, int], Codes]:
        """The combinations with each value."""
        lists: dict[tuple[int, int], Codes] = {}
        for number, column in enumerate(self.columns):
            order = np.argsort(column.codes, kind="stable").astype(np.int32)
            cuts = np.searchsorted(column.codes[order], np.arange(1, len(column.values)))
            lists |= {(number, code): part for code, part in enumerate(np.split(order, cuts))}
        return lists
