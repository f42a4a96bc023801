"""Workbooks and JSON records as delimited text, which all readers of releases then read.

A sheet of an Excel workbook is a line for each of its rows and a cell for each of its columns, so that lines and cells have the numbers that
the spreadsheet shows; merged cells all hold what is written in them. JSON lines, or a JSON list of objects,
have the names of the objects' keys in the first line; lists and objects in them stay JSON.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, BinaryIO

from tacit.files.delimited import csv_cell
from tacit.files.disk import SHEET_MARKS, FilePath, Input, readable, shown
from tacit.model.errors import InputError, OptionError, nearest_name

_WORKBOOK = "xl/workbook.xml"
#: Largest unpacked workbook, and JSON file, in bytes.
_MOST = 1 << 28
_HEAD = 1 << 16


class Rendition(Input):
    """File whose text is made from its content."""

    @cached_property
    def text(self) -> str:
        """Content as delimited text."""
        raise NotImplementedError

    @property
    def is_parquet(self) -> bool:
        """False: the rendition is text."""
        return False

    @cached_property
    def encoding(self) -> str:
        """Codec of the rendition."""
        return "utf-8"

    def open_bytes(self) -> BinaryIO:
        """Open the rendition as a binary stream."""
        return io.BytesIO(self.text.encode())


# Excel workbooks


def is_workbook(path: FilePath) -> bool:
    """Tell if a zip archive is an Excel workbook (``.xlsx``, ``.xlsm``)."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


class Workbook(Rendition):
    """Sheet of an Excel workbook: the named, the first recognised, or the first."""

    recognised = ""

    def __init__(self, path: FilePath, sheet: str = "") -> None:
        super().__init__(path)
        self.wanted = sheet

    @property
    def name(self) -> str:
        """Base name, with that of the sheet if it was named."""
        return super().name + (SHEET_MARKS[0] + self.wanted if self.wanted else "")

    @cached_property
    def sheets(self) -> dict[str, Any]:
        """Sheets that hold cells, by name, in their order."""
        with readable(self.path), zipfile.ZipFile(self.path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST:
                raise InputError("becomes too large when it is unpacked", where=shown(self), remedy="Save the sheet as CSV")
        try:
            from python_calamine import CalamineError, CalamineWorkbook
        except ImportError:
            remedy = "Install it with pip install 'tacit[excel]', or save the sheet as CSV"
            raise InputError("is an Excel workbook, which needs python-calamine", where=shown(self), remedy=remedy) from None
        try:
            book = CalamineWorkbook.from_path(self.path)
            found = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
        except CalamineError:
            raise InputError("is a damaged or protected workbook", where=shown(self), remedy="Save the sheet as CSV") from None
        return {name: sheet for name, sheet in found.items() if sheet.height}

    @cached_property
    def chosen(self) -> str:
        """Name of the sheet that is read."""
        if not self.sheets:
            raise InputError("is a workbook without cells", where=shown(self), remedy="Give one with filled cells")
        if self.wanted:
            if self.wanted not in self.sheets:
                remedy = nearest_name(self.wanted, self.sheets, "sheets")
                raise OptionError("has no such sheet", where=shown(self), remedy=remedy)
            return self.wanted
        return self.recognised or next(iter(self.sheets))

    @cached_property
    def rows(self) -> list[list[str]]:
        """All cells of the sheet; merged cells all hold what is written in them."""
        sheet = self.sheets[self.chosen]
        rows = [[_cell(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
            if left == right or any(sum(map(bool, row)) > 1 for row in rows[top : bottom + 1]):  # else it is a title
                for row in rows[top : bottom + 1]:
                    row[left : right + 1] = [rows[top][left]] * len(row[left : right + 1])
        return rows

    @cached_property
    def block(self) -> tuple[int, int]:
        """First row of the table, with two filled cells, and the end."""
        filled = [sum(map(bool, row)) for row in self.rows]
        first = next((number for number, cells in enumerate(filled) if cells > 1), 0)
        return first, next((number for number in range(first, len(filled)) if not filled[number]), len(filled))

    @cached_property
    def text(self) -> str:
        """Cells of the table as CSV, a line for each row of the sheet."""
        first, last = self.block
        return "\n" * first + "".join(",".join(map(csv_cell, row)) + "\n" for row in self.rows[first:last])

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences about the sheet that was chosen, and about its title and notes."""
        said = []
        if not self.wanted and len(self.sheets) > 1:
            which = "the first that holds a release" if self.recognised else "the first"
            said.append(f"Of the sheets, {self.chosen!r} is read, {which}.")
        first, last = self.block
        beside = [number for number, row in enumerate(self.rows) if any(row) and not first <= number < last]
        if beside and not self._holds_more:
            said.append(f"What is above and below rows {first + 1} to {last} is taken as a title and notes.")
        return tuple(said)

    @property
    def _holds_more(self) -> bool:
        """True if another table is below the one that is read."""
        return any(sum(map(bool, row)) > 1 for row in self.rows[self.block[1] :])

    @property
    def unread(self) -> tuple[str, ...]:
        """Sheets, and rows of this one, that are not read."""
        below = (f"rows below {self.block[1]}",) if self._holds_more else ()
        return (*below, *(f"sheet {name}" for name in self.sheets if name != self.chosen))


class DataSheet(Workbook):
    """Sheet of an Excel workbook with one person per row: that with a name, or the only one."""

    @cached_property
    def chosen(self) -> str:
        """Name of the sheet that is read; raise if there are several and none is named."""
        if not self.wanted and len(self.sheets) > 1:
            listed = ", ".join(f"{shown(self)}{SHEET_MARKS[-1]}{name}" for name in self.sheets)
            what = f"is a workbook of {len(self.sheets)} sheets"
            raise OptionError(what, where=shown(self), remedy=f"Name the sheet of the people, one of {listed}")
        return super().chosen

    @cached_property
    def text(self) -> str:
        """Cells as CSV, without columns and last rows that are empty."""
        first, last = self.block
        if any(map(any, self.rows[last:])):
            what = f"row {last + 1} of the sheet is empty, and others follow"
            remedy = "Delete the empty row, or move what is below it to another sheet"
            raise InputError(what, where=shown(self), remedy=remedy)
        rows = self.rows[first:last]
        filled = [place for place, column in enumerate(zip(*rows, strict=True)) if any(column)]
        return "\n" * first + "".join(",".join(csv_cell(row[place]) for place in filled) + "\n" for row in rows)


def as_table(file: Input, sheet: str = "") -> Input:
    """Return a table of people, rendered as text if it is a workbook or JSON records."""
    if is_workbook(file):
        return DataSheet(file, sheet)
    return Records(file) if holds_records(file) else file


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        value = value.date()
    return " ".join(str(value).split("\n")).strip()


# JSON records


def holds_records(file: Input) -> bool:
    """Tell if a file begins as JSON lines or as a list of objects."""
    start = file.head(_HEAD)
    if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return False
    try:
        with file.open_text() as stream:
            head = stream.read(_HEAD).lstrip("\ufeff \t\r\n")
    except InputError:
        return False
    if head.startswith("["):
        return head[1:].lstrip().startswith("{") and '"' in head
    lines = head.splitlines()
    try:
        first = json.loads(lines[0])
    except ValueError:
        return False
    # One object alone is not a list of lines: it may be a header, or a record of Tacit's.
    return isinstance(first, dict) and len([line for line in lines if line.strip()]) > 1


class Records(Rendition):
    """JSON lines, or a JSON list of objects."""

    lines_before = 1

    @cached_property
    def text(self) -> str:
        """Objects as CSV, the names of their keys in the first line."""
        objects = list(self._objects())
        names = list(dict.fromkeys(name for one in objects if one is not None for name in one))
        lines = [",".join(map(csv_cell, names))]
        for one in objects:
            lines.append("" if one is None else ",".join(csv_cell(_json_cell(one.get(name))) for name in names))
        return "\n".join(lines) + "\n"

    def _objects(self) -> Iterator[dict[str, Any] | None]:
        """Yield the objects; None for an empty line."""
        with Input(self.path).open_text() as stream:
            text = stream.read(_MOST + 1)
        if len(text) > _MOST:
            raise InputError("is too large to be read as JSON", where=shown(self), remedy="Save it as CSV or Parquet")
        if text.lstrip("\ufeff \t\r\n").startswith("["):
            listed = self._parse(text, 1)
            for number, one in enumerate(listed, 1):
                yield self._check(one, number)
            return
        for number, line in enumerate(text.split("\n"), 1):
            yield self._check(self._parse(line, number), number) if line.strip() else None

    def _parse(self, text: str, line: int) -> Any:
        keep: Callable[[str], _Number] = _Number
        try:
            return json.loads(text, parse_int=keep, parse_float=keep, parse_constant=keep)
        except (ValueError, RecursionError):
            raise InputError(
                "is not JSON", where=f"{self.name}, line {line}", remedy="Write one JSON object in each line"
            ) from None

    def _check(self, one: Any, line: int) -> dict[str, Any]:
        if not isinstance(one, dict):
            raise InputError(
                "is not a JSON object", where=f"{self.name}, line {line}", remedy="Write an object with the same keys in each"
            )
        return one


class _Number(str):
    """Number as it is spelled."""

    __slots__ = ()


def _json_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return " ".join(value.split("\n"))
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False)
