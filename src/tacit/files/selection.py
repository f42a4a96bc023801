"""Selections in a table: rows to protect, and cell marks.

Rows are given as a file of row numbers, as numbers, or as a condition such as ``occupation=Sales and age<30``. Row numbers count from 0, and the
header is not a row. A condition joins comparisons (``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``) with ``and``; names that hold such signs, and
names and values that hold that word, stand in quotation marks. Two numbers are compared as numbers, everything else as text; ``<`` and the
like hold for numbers only.

A mark is ``+`` for a cell that must be published, ``-`` for a sensitive one, and empty for any other. Marks stand in a table of the same
shape, or in lines ``row,column,mark``.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tacit.files.disk import Input, shown
from tacit.files.tables import read_table
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import InputError, OptionError, numbered
from tacit.model.table import Column, Table, require_column

_WHERE = "--rows"
_EXAMPLE = "Write for instance occupation=Sales and age<30"
_TOKEN = re.compile(r"""\s*(?:(?P<sign><=|>=|!=|==|=|<|>)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s<>=!"']+|!))""")
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


def read_rows(given: object, people: Table, *, where: str = _WHERE) -> Ints:
    """Return the sorted distinct numbers of the selected rows.

    They are given as the path of a file with one number in each line, as a condition, or as numbers. None is an error, and so are all rows
    of a condition.
    """
    n = len(people.weights)
    comparisons = condition_of(given, people.names, where=where)
    if comparisons is None:
        return list_rows(given, n, where=where)
    fits = np.ones(n, np.bool_)
    for one in comparisons:
        fits &= one.holds(people.column(one.column), where)
    if not fits.any():
        raise OptionError("the condition fits no row", where=where, remedy="Compare its values with those of the columns")
    if fits.all():
        raise OptionError("the condition fits every row", where=where, remedy="Say more narrowly whose cells are sensitive")
    return np.flatnonzero(fits).astype(np.int64)


def condition_of(given: object, names: Sequence[str], *, where: str = _WHERE) -> tuple[Comparison, ...] | None:
    """Return the condition that selects rows, or None if they are given by their numbers."""
    if not isinstance(given, str | os.PathLike) or os.path.lexists(given):
        return None
    text = os.fspath(given)
    if not any(sign in text for sign in "=<>"):
        remedy = f"Give a file with one row number in each line, or a condition. {_EXAMPLE}"
        raise OptionError("is neither a file nor a condition", where=where, remedy=remedy)
    return parse_condition(text, names, where=where)


def list_rows(given: object, n: int, *, where: str = _WHERE) -> Ints:
    """Return the sorted distinct row numbers of a file or a list."""
    if not isinstance(given, str | os.PathLike):
        try:
            listed = list(cast(Iterable[Any], given))
            if any(isinstance(one, bool | np.bool_) for one in listed):
                raise TypeError
            numbers = [operator.index(one) for one in listed]
        except TypeError:
            remedy = "Give whole numbers, the path of a file with them, or a condition"
            raise OptionError("are not row numbers", where=where, remedy=remedy) from None
        return _check_rows(numbers, n, where=where)
    return _check_rows(_read_numbers(given), n, where=shown(given))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Part of a condition; ``number`` is its place there, from 1."""

    column: str
    sign: str
    value: str
    number: int = 1

    def holds(self, column: Column, where: str) -> Flags:
        """Return flags of the rows for which it holds."""
        compare = _SIGNS[self.sign]
        wanted = _number(self.value)
        numbers = [_number(value) for value in column.values]
        if self.sign in ("=", "==", "!="):
            right = [
                compare(mine, wanted) if mine is not None and wanted is not None else compare(value, self.value)
                for mine, value in zip(numbers, column.values, strict=True)
            ]
        elif wanted is None:
            what = f"column {self.column!r} is compared by size with something that is not a number"
            raise OptionError(what, where=f"{where}, part {self.number}", remedy="Write a number, or compare with = or !=")
        elif all(mine is None for mine in numbers):
            what = f"is about sizes, and column {self.column!r} holds no number"
            raise OptionError(what, where=f"{where}, part {self.number}", remedy="Compare with = or !=")
        else:
            right = [mine is not None and compare(mine, wanted) for mine in numbers]
        return np.array(right, np.bool_)[column.codes]


def parse_condition(text: str, names: Iterable[str], *, where: str = _WHERE) -> tuple[Comparison, ...]:
    """Return the comparisons of a condition, their columns checked."""
    known = list(names)
    out = []
    for number, part in enumerate(_parts(text, where), start=1):
        place = f"{where}, part {number}"
        sign = next((match for match in _TOKEN.finditer(part) if match["sign"]), None)
        if sign is None:
            raise OptionError("has no comparison", where=place, remedy=_EXAMPLE)
        left = part[: sign.start("sign")].strip()
        right = part[sign.end("sign") :].strip()
        if not left or not right:
            raise OptionError("has nothing on one side of its sign", where=place, remedy=_EXAMPLE)
        require_column(_unquote(left), known, where=place)
        out.append(Comparison(_unquote(left), sign["sign"], _unquote(right), number))
    return tuple(out)


def _parts(text: str, where: str) -> list[str]:
    """Split a condition at unquoted words "and"."""
    parts = []
    at = 0
    begin = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise OptionError("has a quotation mark without its partner", where=where, remedy="Close the quotation marks")
        at = match.end()
        if (match["word"] or "").casefold() == "and":
            parts.append(text[begin : match.start("word")])
            begin = at
    return [*parts, text[begin:]]


def _unquote(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _number(text: str) -> Fraction | None:
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def _read_numbers(path: str | os.PathLike[str]) -> list[int]:
    numbers = []
    with Input.of(path).open_text() as lines:
        for number, line in enumerate(lines, start=1):
            if text := line.strip():
                if not _is_row_number(text):
                    remedy = "Write one row number in each line; the first row below the header is 0"
                    raise InputError("is not a row number", where=f"{shown(path)}, line {number}", remedy=remedy)
                numbers.append(int(text))
    return numbers


def _is_row_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def _check_rows(numbers: list[int], n: int, *, where: str) -> Ints:
    if not numbers:
        raise OptionError("names no row", where=where, remedy="Name the rows whose sensitive cells are to be protected")
    outside = [number for number in numbers if not 0 <= number < n]
    if outside:
        more = f" (and {len(outside) - 1:,} others)" if len(outside) > 1 else ""
        remedy = f"The rows are 0 to {n - 1:,}; the header is not a row"
        raise OptionError(f"row {outside[0]}{more} is outside the table", where=where, remedy=remedy)
    return np.unique(np.array(numbers, np.int64))


# Marks


_LISTED = ("row", "column", "mark")


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Flags of protected and of sensitive cells."""

    published: Flags
    sensitive: Flags

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Rows with a sensitive cell."""
        return np.flatnonzero(self.sensitive.any(axis=1)).astype(np.int64)


def read_marks(given: object, people: Table, *, where: str = "--marks") -> Marks:
    """Read the marks of a table's cells; only those of SA columns can be sensitive."""
    place = shown(given) if isinstance(given, str | os.PathLike) else where
    table = read_table(given, where=place)
    listed = sorted(name.casefold() for name in table.names) == sorted(_LISTED) and table.names != people.names
    if listed:
        signs = _from_lines(table, people, place)
    elif table.names == people.names and len(table.weights) == len(people.weights):
        signs = np.stack([_signs(table, name, place) for name in people.names], axis=1)
    else:
        remedy = f"Give {len(people.weights):,} rows and the columns {', '.join(people.names)}, or lines row,column,mark"
        raise InputError("has another shape than the table", where=place, remedy=remedy)
    for number, name in enumerate(people.names):
        if people.schema.sa and name not in people.schema.sa and (signs[:, number] < 0).any():
            what = f"marks cells of column {name!r} as sensitive, which is not a sensitive column"
            raise OptionError(what, where=place, remedy="Name it with --sa, or take the marks away")
    return Marks(signs > 0, signs < 0)


def _signs(table: Table, name: str, where: str) -> npt.NDArray[np.int8]:
    """Return the marks of one column as 1, -1 or 0."""
    column = table.column(name)
    known = {"+": 1, "-": -1, "": 0}
    wrong = [value not in known for value in column.values]
    if any(wrong):
        place = f"{where}, column {name!r}, row {int(np.flatnonzero(np.array(wrong)[column.codes])[0])}"
        remedy = "Write + (must be published), - (sensitive) or nothing"
        raise InputError("contains an entry that is not a mark", where=place, remedy=remedy)
    return np.array([known[value] for value in column.values], np.int8)[column.codes]


def _from_lines(table: Table, people: Table, where: str) -> npt.NDArray[np.int8]:
    row_name, column_name, mark_name = (next(name for name in table.names if name.casefold() == one) for one in _LISTED)
    marks = _signs(table, mark_name, where)
    n = len(people.weights)
    rows = table.column(row_name)
    fine = [_is_row_number(text) and int(text) < n for text in rows.values]
    if not all(fine):
        place = f"{where}, line {int(np.flatnonzero(~np.array(fine)[rows.codes])[0]) + 2}"
        raise InputError("names a row outside the table", where=place, remedy=f"The rows are 0 to {n - 1:,}")
    row = np.array([int(text) for text in rows.values], np.int64)[rows.codes]
    columns = table.column(column_name)
    for name in columns.values:
        require_column(name, people.names, where=where)
    column = np.array([people.names.index(name) for name in columns.values], np.int64)[columns.codes]
    signs = np.zeros((n, len(people.names)), np.int8)
    signs[row[marks > 0], column[marks > 0]] = 1
    clash = np.flatnonzero((marks < 0) & (signs[row, column] > 0))
    if len(clash):
        there = np.flatnonzero((row == row[clash[0]]) & (column == column[clash[0]])) + 2
        what = "mark a sensitive cell as one that must be published"
        raise OptionError(what, where=f"{where}, {numbered(there.tolist())}", remedy="Give it one mark")
    signs[row[marks < 0], column[marks < 0]] = -1
    return signs
