"""What may be done with each cell of a table: ``+`` must be published, ``-`` is sensitive, an empty mark leaves it free.

Marks stand in a table of the same shape, or in lines ``row,column,mark`` with rows counted from 0.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, OptionError, numbered
from tacit.formats.files import shown
from tacit.formats.tables import read_table
from tacit.model.schema import require_column
from tacit.model.table import Table

Flags = npt.NDArray[np.bool_]
_LISTED = ("row", "column", "mark")
_MEANT = "Write + (must be published), - (sensitive) or nothing"


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Marks of all cells, rows x columns in the order of the table: those that must be published, and those that are sensitive."""

    published: Flags
    sensitive: Flags

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The rows with a sensitive cell."""
        return np.flatnonzero(self.sensitive.any(axis=1)).astype(np.int64)


def read_marks(given: object, people: Table, *, where: str = "--marks") -> Marks:
    """The marks of a table's cells, from a file or frame; only cells of SA columns can be sensitive, and of condition columns none.

    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold")])
    >>> read_marks({"row": [0, 1], "column": ["ill", "sex"], "mark": ["-", "+"]}, people).sensitive.tolist()
    [[False, True], [False, False]]
    """
    place = shown(given) if isinstance(given, str | os.PathLike) else where
    told = read_table(given, where=place)
    listed = sorted(name.casefold() for name in told.names) == sorted(_LISTED) and told.names != people.names
    signs = _from_lines(told, people, place) if listed else _from_shape(told, people, place)
    marks = Marks(signs > 0, signs < 0)
    _check_roles(marks, people, place)
    return marks


def _signs(told: Table, name: str, where: str) -> npt.NDArray[np.int8]:
    """The marks of one column as numbers: 1, -1 or 0."""
    column = told.column(name)
    known = {"+": 1, "-": -1, "": 0}
    wrong = [value not in known for value in column.values]
    if any(wrong):
        row = int(np.flatnonzero(np.array(wrong)[column.codes])[0])
        raise InputError("holds something that is no mark", where=f"{where}, column {name!r}, row {row}", remedy=_MEANT)
    return np.array([known[value] for value in column.values], np.int8)[column.codes]


def _from_shape(told: Table, people: Table, where: str) -> npt.NDArray[np.int8]:
    if told.names != people.names or len(told.weights) != len(people.weights):
        what = "has another shape than the table"
        remedy = f"Give {len(people.weights):,} rows and the columns {', '.join(people.names)}, or lines row,column,mark"
        raise InputError(what, where=where, remedy=remedy)
    return np.stack([_signs(told, name, where) for name in people.names], axis=1)


def _from_lines(told: Table, people: Table, where: str) -> npt.NDArray[np.int8]:
    row_name, column_name, mark_name = (next(name for name in told.names if name.casefold() == one) for one in _LISTED)
    marks, n = _signs(told, mark_name, where), len(people.weights)
    rows = told.column(row_name)
    fine = [text.isascii() and text.isdecimal() and len(text) < 19 and int(text) < n for text in rows.values]
    if not all(fine):
        line = int(np.flatnonzero(~np.array(fine)[rows.codes])[0]) + 2
        remedy = f"The rows are 0 to {n - 1:,}"
        raise InputError("names a row outside the table", where=f"{where}, line {line}", remedy=remedy)
    row = np.array([int(text) for text in rows.values], np.int64)[rows.codes]
    columns = told.column(column_name)
    for name in columns.values:
        require_column(name, people.names, where=where)
    column = np.array([people.names.index(name) for name in columns.values], np.int64)[columns.codes]
    return _placed(marks, row, column, (n, len(people.names)), where)


def _placed(
    marks: npt.NDArray[np.int8], row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], shape: tuple[int, int], where: str
) -> npt.NDArray[np.int8]:
    """The marks in their cells; two lines about one cell must not contradict each other."""
    signs = np.zeros(shape, np.int8)
    published = np.zeros(shape, np.bool_)
    published[row[marks > 0], column[marks > 0]] = True
    clash = np.flatnonzero((marks < 0) & published[row, column])
    if len(clash):
        there = np.flatnonzero((row == row[clash[0]]) & (column == column[clash[0]])) + 2
        what = "mark a sensitive cell as one that must be published"
        raise OptionError(what, where=f"{where}, {numbered(there.tolist())}", remedy="Give it one mark")
    signs[published] = 1
    signs[row[marks < 0], column[marks < 0]] = -1
    return signs


def _check_roles(marks: Marks, people: Table, where: str) -> None:
    """Sensitive cells stand in SA columns."""
    if not people.schema.sa:
        return
    for place, name in enumerate(people.names):
        if name not in people.schema.sa and marks.sensitive[:, place].any():
            what = f"marks cells of column {name!r} as sensitive, which is no sensitive column"
            raise OptionError(what, where=where, remedy="Name it with --sa, or take the marks away")
