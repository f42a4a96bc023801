"""Partial tables: rows with some cells blank."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.errors import OptionError
from tacit.model.numbers import exact, share
from tacit.model.release import Header, Published, Release, Source
from tacit.model.table import Column, Table

#: Parts of a table where cells may be hidden: the sensitive attribute of other records, the condition cells of other records, the condition
#: cells of the sensitive records. (Cases of Li et al. 2007: (a) is ns, (b) is nc.)
Region = Literal["ns", "nc", "sc"]
REGIONS: tuple[Region, ...] = get_args(Region)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartialTable(Published):
    """A table of people in which some cells are blank.

    Each person has a row; in a large table equal people share one, with their number in its weight, and stand one behind the other.

    ``people`` holds every column of the file in its order; its QI columns are the condition attributes, its SA columns the sensitive ones. A
    blank cell is the empty text there, and ``hidden[row, column]`` says so. ``sensitive`` are the rows whose sensitive cells are to be
    protected: only the owner knows them, and no published file lists them.

    >>> from tacit.model.table import Schema
    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "")], Schema(qi=("sex",), sa=("ill",)))
    >>> partial = PartialTable.of(people)
    >>> partial.n, partial.cells_hidden, partial.conditions.tolist(), partial.codes("ill").tolist()
    (2, 1, [[0], [1]], [1, -1])
    """

    people: Table
    hidden: Flags
    sensitive: Ints | None = None
    header: Header = field(default_factory=Header)
    kind: Literal["table"] = field(default="table", init=False)

    @classmethod
    def of(
        cls, people: Table, hidden: Flags | None = None, sensitive: Ints | None = None, header: Header | None = None
    ) -> PartialTable:
        """Return the table with these cells blank, and those that are empty already."""
        found = np.zeros((len(people.weights), len(people.columns)), np.bool_) if hidden is None else hidden.copy()
        columns = []
        for place, column in enumerate(people.columns):
            if "" in column.values:
                found[:, place] |= column.codes == column.values.index("")
            columns.append(_blank(column, found[:, place]))
        head = header or Header(missing=people.missing.mark, missing_rule=people.missing.rule, bins=people.bins)
        head = replace(head, n=people.n, qi=people.schema.qi, sa=people.schema.sa)
        return cls(replace(people, columns=tuple(columns)), found, sensitive, head)

    def __len__(self) -> int:
        return self.n

    @property
    def n(self) -> int:
        """Number of people."""
        return self.people.n

    @property
    def weights(self) -> Ints:
        """Number of people of each row."""
        return self.people.weights

    def number_people(self, rows: Ints) -> Ints:
        """Return the numbers of the people of these rows."""
        weights = self.weights[rows]
        if (weights == 1).all() and (self.weights == 1).all():
            return rows
        first = (np.cumsum(self.weights) - self.weights)[rows]
        ends = np.cumsum(weights)
        return np.repeat(first - (ends - weights), weights) + np.arange(int(weights.sum()))

    @property
    def min_support(self) -> None:
        """Nothing is left out of a table by a threshold."""
        return None

    @property
    def source(self) -> Source | None:
        """The file it was read from."""
        return self.people.source

    @property
    def cells_hidden(self) -> int:
        """Number of blank cells, without the protected ones of known sensitive rows."""
        blank = self.hidden[:, self._places(self.people.schema.used)].copy()
        if self.sensitive is not None:
            blank[self.sensitive, len(self.people.schema.qi) :] = False
        return int(self.weights @ blank.sum(axis=1))

    @property
    def others(self) -> tuple[str, ...]:
        """The columns without a role, which are published all the same."""
        return tuple(name for name in self.people.names if name not in self.people.schema.used)

    @property
    def conditions(self) -> Codes:
        """Codes of the condition cells, rows x QI columns; -1 for blanks."""
        return self.cells_of(self.people.schema.qi)

    def cells_of(self, names: Sequence[str]) -> Codes:
        """Return the codes of cells, rows x these columns; -1 for blanks."""
        out = np.empty((len(self.hidden), len(names)), np.int32)
        for place, name in enumerate(names):
            out[:, place] = self.codes(name)
        return out

    def codes(self, name: str) -> Codes:
        """Return the codes of one column; -1 for blanks."""
        place = self.people.names.index(name)
        codes = self.people.columns[place].codes.astype(np.int32)
        codes[self.hidden[:, place]] = -1
        return codes

    def hidden_by_region(self) -> Mapping[Region, int]:
        """Count the blank cells in each region; the sensitive rows must be known."""
        if self.sensitive is None:
            raise OptionError("the sensitive rows are not known", where="the table", remedy="Name them with --rows")
        mine = np.zeros(len(self.hidden), np.bool_)
        mine[self.sensitive] = True
        schema = self.people.schema
        conditions, protected = (self.hidden[:, self._places(names)] for names in (schema.qi, schema.sa))
        found: dict[Region, Flags] = {
            "ns": protected & ~mine[:, None],
            "nc": conditions & ~mine[:, None],
            "sc": conditions & mine[:, None],
        }
        return {region: int(self.weights @ cells.sum(axis=1)) for region, cells in found.items()}

    def hidden_by_column(self) -> Mapping[str, int]:
        """Count the blank cells in each column that has any."""
        counts = (self.weights @ self.hidden).tolist()
        return {name: int(count) for name, count in zip(self.people.names, counts, strict=True) if count}

    def hide(self, cells: Flags) -> PartialTable:
        """Return the same table with these cells blank as well."""
        return PartialTable.of(self.people, self.hidden | cells, self.sensitive, self.header)

    def one_by_one(self) -> PartialTable:
        """Return the table with a row for each person, in their order."""
        if (self.weights == 1).all():
            return self
        row = np.repeat(np.arange(len(self.hidden)), self.weights)
        columns = tuple(replace(column, codes=column.codes[row]) for column in self.people.columns)
        people = replace(self.people, columns=columns, weights=np.ones(len(row), np.int64))
        sensitive = None if self.sensitive is None else np.flatnonzero(np.isin(row, self.sensitive))
        return PartialTable(people, self.hidden[row], sensitive, self.header)

    def with_source(self, change: Callable[[Source], Source]) -> PartialTable:
        """Return the table with its file changed, if it was read from one."""
        source = self.people.source
        return self if source is None else replace(self, people=replace(self.people, source=change(source)))

    def line(self, row: int) -> int:
        """Return the line of a person in the file, if each takes one; line 1 is the header."""
        return row + 2

    def find_lines(self, places: Collection[int | str]) -> Ints:
        """Return the rows with blanks, and those on these lines."""
        shown = np.repeat(self.hidden.any(axis=1), self.weights)
        shown[[place - 2 for place in places if isinstance(place, int) and 2 <= place < len(self) + 2]] = True
        return np.flatnonzero(shown)

    def details(self) -> dict[str, Any]:
        """Return what a record says about tables with blank cells only."""
        schema = self.people.schema
        return {"qi": list(schema.qi), "sa": list(schema.sa), "blank_cells": dict(self.hidden_by_column())}

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries; a blank cell is None."""
        columns = self.people.columns
        texts = [[None if value == "" else value for value in column.values] for column in columns]
        codes = [column.codes.tolist() for column in columns]
        blank = self.hidden.tolist()
        for row, weight in enumerate(self.weights.tolist()):
            for _ in range(weight):
                yield {
                    column.name: None if blank[row][place] else texts[place][codes[place][row]]
                    for place, column in enumerate(columns)
                }

    def _places(self, names: tuple[str, ...]) -> list[int]:
        return [self.people.names.index(name) for name in names]


def each_by_one(releases: Iterable[Release]) -> tuple[Release, ...]:
    """Return releases in which every person of a table with blanks has a row, as all that joins releases counts."""
    return tuple(one.one_by_one() if isinstance(one, PartialTable) else one for one in releases)


def partial_tables(releases: Iterable[Release]) -> dict[int, PartialTable]:
    """Return the releases that are tables with blanks, by their number."""
    return {number: release for number, release in enumerate(releases) if isinstance(release, PartialTable)}


def _blank(column: Column, hidden: Flags) -> Column:
    if not hidden.any():
        return column
    codes = column.codes.copy()
    values = column.values if "" in column.values else (*column.values, "")
    codes[hidden] = values.index("")
    kept, fresh = np.unique(codes, return_inverse=True)
    return Column.renumbered(column.name, [values[code] for code in kept], fresh)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds of unsafe rules, to be exceeded strictly."""

    support: int
    confidence: Fraction

    @classmethod
    def of(cls, *, min_confidence: object, min_support: object, n: int) -> Thresholds:
        """Read thresholds: shares, percentages, or a count."""
        confidence = share(min_confidence, where="--min-confidence", zero=False)
        bar = exact(min_support, where="--min-support")
        is_share = isinstance(min_support, float | Fraction) or (
            isinstance(min_support, str) and not min_support.strip().isdecimal()
        )
        if bar < 0 or (is_share and bar > 1):
            remedy = "Give a whole number of people of at least 0, or a share such as 0.2%"
            raise OptionError("must be 0 or more, and as a share at most 1", where="--min-support", remedy=remedy)
        return cls(int(bar * n // 1) if is_share else int(bar), confidence)

    def most_safe(self, whole: int) -> int:
        """Return the largest safe count among ``whole`` records."""
        return self.confidence.numerator * whole // self.confidence.denominator

    def unsafe(self, *, whole: int, both: int) -> bool:
        """Tell if a rule exceeds both thresholds."""
        return both > self.support and both > self.most_safe(whole)
