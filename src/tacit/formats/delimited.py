"""Delimited text with a line of column names, kept together with its line numbers."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tacit.errors import InputError
from tacit.formats.files import FilePath, open_text
from tacit.formats.printout import BATCH, TextColumn, place
from tacit.model.release import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The cells of a delimited file, column by column; row ``i`` begins in line ``lines[i]``."""

    where: str
    names: list[str]
    cells: list[list[str]]
    lines: Counts

    def column(self, *names: str) -> TextColumn | None:
        """The column that has the first of these names that occurs, whatever its case; None when there is none."""
        folded = [name.casefold() for name in self.names]
        for wanted in names:
            found = [i for i, name in enumerate(folded) if name == wanted.casefold()]
            if len(found) > 1:
                raise InputError(
                    f"column {self.names[found[0]]!r} stands twice",
                    where=f"{self.where}, line 1",
                    remedy="Rename one of the two",
                )
            if found:
                return TextColumn(self.names[found[0]], self.cells[found[0]])
        return None

    def others(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The columns that have none of these names, whatever their case."""
        folded = {name.casefold() for name in names}
        return {name: self.cells[place] for place, name in enumerate(self.names) if name.casefold() not in folded}

    def need(self, *names: str) -> TextColumn:
        """The column of one of these names; an error when there is none."""
        found = self.column(*names)
        if found is None:
            raise InputError(
                f"there is no column {names[0]!r}",
                where=f"{self.where}, line 1",
                # What stands in line 1 is not repeated: where column names are missing, it is people's values.
                remedy="Name the columns in the first line as the program that wrote the file does",
            )
        return found


def read_grid(path: FilePath, delimiter: str, *, from_r: bool = False) -> Grid:
    r"""All cells of a delimited file; blank lines are passed over.

    ``from_r`` reads what R's ``write.table`` writes: quotation marks inside a cell as ``\"``, and row names without a column name.
    """
    where = os.path.basename(os.fspath(path))
    lines: list[int] = []
    with open_text(path, keep_newlines=True) as stream:
        source: Iterable[str] = (line.replace('\\"', '""') for line in stream) if from_r else stream
        rows = _rows(source, delimiter, lines, where)
        names = [name.strip() for name in next(rows, [])]
        if not names:
            raise InputError("is empty", where=where, remedy="Give a file with a line of column names")
        batch = list(islice(rows, BATCH))
        if from_r and batch and len(batch[0]) == len(names) + 1:
            names.insert(0, "")
        cells: list[list[str]] = [[] for _ in names]
        # Rows are turned into columns batch by batch: keeping a list per row would keep Python's garbage collector busy.
        done = 1
        while batch:
            _check_widths(batch, lines[done:], len(names), where)
            for column, part in zip(cells, zip(*batch, strict=True), strict=True):
                column.extend(part)
            done += len(batch)
            batch = list(islice(rows, BATCH))
    return Grid(where, names, cells, np.array(lines[1:], np.int64))


def _rows(source: Iterable[str], delimiter: str, lines: list[int], where: str) -> Iterator[list[str]]:
    """The rows that are not blank; the line in which each begins is added to ``lines``."""
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    ended = 0
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                lines.append(ended + 1)
                yield row
            ended = reader.line_num
    except csv.Error:
        raise InputError(
            "the quotation marks of a cell do not close, or the cell is too long",
            where=place(where, ended + 1),
            remedy='Write a quotation mark inside a quoted cell as ""',
        ) from None


def _check_widths(batch: list[list[str]], lines: list[int], width: int, where: str) -> None:
    for row, line in zip(batch, lines, strict=True):
        if len(row) != width:
            raise InputError(
                f"has {len(row)} cells where the first line names {width} columns",
                where=place(where, line),
                remedy="Quote cells that hold the delimiter, or complete the line",
            )
