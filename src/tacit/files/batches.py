"""Rows that come in batches of Arrow, merged as they come.

Databases, lake tables and clusters hand rows over in this form. Each batch is merged into the classes read so far, so that memory holds the
distinct rows and one batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.files.engines import Classes, merge
from tacit.files.frames import as_frame
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import EngineError
from tacit.model.table import Column

_FEW_ROWS = 1 << 20  #: Rows that wait before they are merged, at least.


def needs(extra: str, what: str, *, where: str) -> EngineError:
    """Return the error about an extra that is not installed."""
    return EngineError(f"{what} is not installed", where=where, remedy=f"pip install 'tacit[{extra}]'")


class Merging:
    """Classes of rows that come in blocks, each with values of its own."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.numbers: list[dict[str, int]] = [{} for _ in names]
        self.classes = Classes(
            tuple(Column(name, (), np.empty(0, np.int32)) for name in names), _no_ints(), np.empty(0, np.bool_)
        )
        self.waiting: list[Classes] = []
        self.rows = 0

    def add(self, columns: Sequence[Column], weights: Ints, marked: Flags) -> None:
        """Add a block of rows."""
        coded = []
        for column, numbers in zip(columns, self.numbers, strict=True):
            fresh = np.array([numbers.setdefault(value, len(numbers)) for value in column.values], np.int32)
            coded.append(Column(column.name, (), fresh[column.codes]))
        self.waiting.append(Classes(tuple(coded), weights, marked))
        self.rows += len(weights)
        if self.rows >= max(_FEW_ROWS, len(self.classes.weights)):
            self._merge()

    def finish(self) -> Classes:
        """Return the classes of all blocks, with sorted values."""
        self._merge()
        columns = tuple(
            Column.renumbered(name, list(numbers), column.codes)
            for name, numbers, column in zip(self.names, self.numbers, self.classes.columns, strict=True)
        )
        return merge(columns, self.classes.weights, self.classes.marked)

    def _merge(self) -> None:
        parts = [self.classes, *self.waiting]
        columns = tuple(
            Column(name, (), np.concatenate([part.columns[place].codes for part in parts]))
            for place, name in enumerate(self.names)
        )
        weights = np.concatenate([part.weights for part in parts])
        self.classes = merge(columns, weights, np.concatenate([part.marked for part in parts]))
        self.waiting = []
        self.rows = 0


def _no_ints() -> Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Rows of a table that an Arrow reader hands over.

    ``scan(names)`` yields record batches with these columns.
    """

    names: tuple[str, ...]
    where: str
    label: str
    scan: Callable[[Sequence[str]], Iterable[Any]]

    def read(self, wanted: Sequence[str]) -> tuple[Column, ...]:
        """Return these columns, a code for each row."""
        numbers: list[dict[str, int]] = [{} for _ in wanted]
        codes: list[list[Any]] = [[np.empty(0, np.int32)] for _ in wanted]
        for columns in self._blocks(wanted):
            for column, known, found in zip(columns, numbers, codes, strict=True):
                fresh = np.array([known.setdefault(value, len(known)) for value in column.values], np.int32)
                found.append(fresh[column.codes])
        return tuple(
            Column.renumbered(name, list(known), np.concatenate(found))
            for name, known, found in zip(wanted, numbers, codes, strict=True)
        )

    def classes(self, wanted: Sequence[str], others: Sequence[str] = (), mark: str | None = None) -> Classes:
        """Return the distinct rows; those with the mark in one of the ``others`` apart."""
        merging = Merging(wanted)
        for columns in self._blocks([*wanted, *others]):
            height = len(columns[0].codes)
            marked = np.zeros(height, np.bool_)
            for column in columns[len(wanted) :]:
                marked |= column.codes == (column.values.index(mark) if mark in column.values else -1)
            merging.add(columns[: len(wanted)], np.ones(height, np.int64), marked)
        return merging.finish()

    def _blocks(self, names: Sequence[str]) -> Iterator[list[Column]]:
        for batch in self.scan(names):
            frame = as_frame(batch, where=self.where)
            assert frame is not None
            yield [frame.column(name, where=self.where) for name in names]


def digest_rows(found: Classes) -> str:
    """Return the SHA-256 of distinct rows and their numbers, whatever their order."""
    digest = hashlib.sha256()
    merged = merge(*found)
    for column in merged.columns:
        digest.update(repr((column.name, column.values)).encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(column.codes, "<i4").tobytes())
    digest.update(np.ascontiguousarray(merged.weights, "<i8").tobytes())
    return digest.hexdigest()
