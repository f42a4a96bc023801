"""A table of people as integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.model.items import Items
from tacit.model.schema import Missing, Schema, require_column
from tacit.model.sets import Sets
from tacit.model.source import Source
from tacit.model.transactions import Transactions


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: row ``i`` holds ``values[codes[i]]``; values are text, sorted, each occurring at least once."""

    name: str
    values: tuple[str, ...]
    codes: npt.NDArray[np.int32]

    @classmethod
    def from_texts(cls, name: str, texts: Sequence[str]) -> Column:
        """A column from one text per row."""
        values = tuple(sorted(set(texts)))
        code = {value: i for i, value in enumerate(values)}
        return cls(name, values, np.fromiter((code[text] for text in texts), np.int32, len(texts)))

    def take(self, rows: npt.NDArray[np.int64]) -> Column:
        """The column of these rows only, with the values that still occur."""
        codes = self.codes[rows]
        kept, fresh = np.unique(codes, return_inverse=True)
        return Column(self.name, tuple(self.values[i] for i in kept), fresh.astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of people with column roles; ``weights`` says how many people each row stands for.

    >>> people = Table.from_rows(["sex", "pay"], [("F", "high"), ("M", "low"), ("F", "high")], Schema(qi=("sex",), sa=("pay",)))
    >>> people.n, people.qi.names, len(people.merged().weights)
    (3, ('sex',), 2)
    """

    columns: tuple[Column, ...]
    weights: npt.NDArray[np.int64]
    schema: Schema = field(default_factory=Schema)
    missing: Missing = field(default_factory=Missing)
    dropped: int = 0
    source: Source | None = None

    @classmethod
    def from_rows(cls, names: Sequence[str], rows: Sequence[Sequence[str]], schema: Schema | None = None) -> Table:
        """A table from one sequence of texts per row."""
        columns = tuple(Column.from_texts(name, [row[i] for row in rows]) for i, name in enumerate(names))
        return cls(columns, np.ones(len(rows), np.int64), schema or Schema())

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.weights.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""
        return tuple(column.name for column in self.columns)

    @property
    def qi(self) -> Table:
        """The quasi-identifying part: what an adversary may know about everyone."""
        return self.select(self.schema.qi)

    @property
    def sa(self) -> Column:
        """The sensitive column; several are combined into one whose values join theirs with ``" & "``."""
        if not self.schema.sa:
            raise OptionError("the table has no sensitive column", where="sa", remedy="Name it with --sa (Python: sa=)")
        parts = [self.column(name) for name in self.schema.sa]
        return parts[0] if len(parts) == 1 else _combined(parts)

    def column(self, name: str) -> Column:
        """The column of this name."""
        require_column(name, self.names, where="column")
        return self.columns[self.names.index(name)]

    def select(self, names: Sequence[str]) -> Table:
        """The table with these columns only; roles of the others are forgotten."""
        schema = Schema(
            *(tuple(c for c in role if c in names) for role in (self.schema.qi, self.schema.sa, self.schema.identifying))
        )
        return replace(self, columns=tuple(self.column(name) for name in names), schema=schema)

    def take(self, rows: npt.NDArray[np.int64]) -> Table:
        """The table of these rows only."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns), weights=self.weights[rows])

    def merged(self) -> Table:
        """The same people with equal rows merged, sorted by their codes."""
        key, largest = np.zeros(len(self.weights), np.int64), 1
        for column in self.columns:
            if largest * len(column.values) >= 1 << 62:
                # Numbered anew, the key lies below rows x values: it never overflows.
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
                largest = len(key)
            key, largest = key * len(column.values) + column.codes, largest * len(column.values)
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        weights = np.zeros(len(first), np.int64)
        np.add.at(weights, group, self.weights)
        columns = tuple(Column(c.name, c.values, c.codes[first]) for c in self.columns)
        return replace(self, columns=columns, weights=weights)

    def transactions(self) -> Transactions:
        """Each row as the set of its items ``column=value``."""
        pairs = [(column.name, value) for column in self.columns for value in column.values]
        starts = np.cumsum([0] + [len(column.values) for column in self.columns])
        width, rows = len(self.columns), len(self.weights)
        members = np.empty((rows, width), np.int32)
        for i, column in enumerate(self.columns):
            members[:, i] = column.codes + starts[i]
        offsets = np.arange(rows + 1, dtype=np.int64) * width
        return Transactions(Sets(offsets, members.reshape(-1)), self.weights, Items.of_columns(pairs), self.source)


def _combined(parts: Sequence[Column]) -> Column:
    """One column whose values are the combinations of values that occur."""
    codes = np.stack([part.codes for part in parts], axis=1)
    kept, fresh = np.unique(codes, axis=0, return_inverse=True)
    texts = [" & ".join(part.values[code] for part, code in zip(parts, row, strict=True)) for row in kept]
    order = np.argsort(np.array(texts, dtype=object), kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    name = " & ".join(part.name for part in parts)
    return Column(name, tuple(texts[i] for i in order), rank[fresh.reshape(-1)])
