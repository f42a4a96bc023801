"""Delimited text with a line of column names, kept together with its line numbers."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacit.errors import InputError, nearest_name
from tacit.formats.files import FilePath, open_text
from tacit.formats.printout import TextColumn, place
from tacit.model.release import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The cells of a delimited file: ``rows[i]`` begins in line ``lines[i]`` and has one cell per name."""

    where: str
    names: list[str]
    rows: list[list[str]]
    lines: Counts

    def column(self, *names: str) -> TextColumn | None:
        """The column that has the first of these names that occurs, whatever its case; None when there is none."""
        folded = [name.casefold() for name in self.names]
        for wanted in names:
            found = [i for i, name in enumerate(folded) if name == wanted.casefold()]
            if len(found) > 1:
                raise InputError(
                    f"column {self.names[found[0]]!r} stands twice", where=f"{self.where}, line 1", remedy="Rename one of the two"
                )
            if found:
                number = found[0]
                return TextColumn(self.names[number], [row[number] for row in self.rows])
        return None

    def need(self, *names: str) -> TextColumn:
        """The column of one of these names; an error when there is none."""
        found = self.column(*names)
        if found is None:
            raise InputError(
                f"there is no column {names[0]!r}",
                where=f"{self.where}, line 1",
                remedy=nearest_name(names[0], self.names, "columns"),
            )
        return found


def read_grid(path: FilePath, delimiter: str, *, from_r: bool = False) -> Grid:
    r"""All cells of a delimited file; blank lines are passed over.

    ``from_r`` reads what R's ``write.table`` writes: quotation marks inside a cell as ``\"``, and row names without a column name.
    """
    where = os.path.basename(os.fspath(path))
    rows: list[list[str]] = []
    lines: list[int] = []
    with open_text(path, keep_newlines=True) as stream:
        source: Iterable[str] = (line.replace('\\"', '""') for line in stream) if from_r else stream
        reader = csv.reader(source, delimiter=delimiter, strict=True)
        ended = 0
        try:
            for row in reader:
                if row and (len(row) > 1 or row[0].strip()):
                    rows.append(row)
                    lines.append(ended + 1)
                ended = reader.line_num
        except csv.Error:
            raise InputError(
                "the quotation marks of a cell do not close, or the cell is too long",
                where=f"{where}, line {ended + 1}",
                remedy='Write a quotation mark inside a quoted cell as ""',
            ) from None
    if not rows:
        raise InputError("is empty", where=where, remedy="Give a file with a line of column names")
    names = [name.strip() for name in rows.pop(0)]
    if from_r and rows and len(rows[0]) == len(names) + 1:
        names.insert(0, "")
    for row, line in zip(rows, lines[1:], strict=True):
        if len(row) != len(names):
            raise InputError(
                f"has {len(row)} cells where the first line names {len(names)} columns",
                where=place(where, line),
                remedy="Quote cells that hold the delimiter, or complete the line",
            )
    return Grid(where, names, rows, np.array(lines[1:], np.int64))
