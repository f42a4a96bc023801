"""Releases as Excel workbooks in which cells are marked."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from tacit.files.delimited import find_delimiter, read_head, records
from tacit.files.disk import FilePath, replace_file, shown
from tacit.files.recognition import as_input
from tacit.files.renditions import Workbook
from tacit.model.errors import InputError, OptionError

Mark = Literal["exposed", "used"]
Cell = tuple[int, int]  #: Row and column, from 0.
_COLOURS: dict[Mark, str] = {"exposed": "#F4A6A0", "used": "#FFF2B3"}
_LEGEND: dict[Mark, str] = {
    "exposed": "exposed: it holds, or reveals, too few people",
    "used": "used to compute an exposed group",
}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_WHEN = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)  # no clock is asked, so that the same input gives the same bytes


def rows_of(path: FilePath) -> list[list[str]]:
    """Return all cells of a workbook's sheet or of delimited text, a row for each line."""
    file = as_input(path)
    if isinstance(file, Workbook):
        return file.rows
    if read_head(file).columns or file.lines_before:
        raise InputError(
            "has no rows and columns of text to mark", where=file.name, remedy="Give the release as CSV or as a workbook"
        )
    rows: list[list[str]] = []
    with file.open_text(keep_newlines=True) as stream:
        for line, cells in records(stream, find_delimiter(file), where=file.name):
            rows += [[] for _ in range(line - 1 - len(rows))]
            rows.append([cell.strip() for cell in cells])
    return rows


def check_marked(path: FilePath) -> None:
    """Raise if no marked workbook can be written there."""
    if not shown(path).casefold().endswith(".xlsx"):
        raise OptionError("is not the name of a workbook", where=f"--mark {shown(path)}", remedy="End the name with .xlsx")
    _library()


def _library() -> Any:
    try:
        import xlsxwriter
    except ImportError:
        remedy = "Install it with pip install 'tacit[excel]'"
        raise OptionError("writing a workbook needs xlsxwriter", where="--mark", remedy=remedy) from None
    return xlsxwriter


def write_marked(
    path: FilePath, rows: Sequence[Sequence[str]], marks: Mapping[Cell, tuple[Mark, str]], told: Iterable[str]
) -> None:
    """Write a workbook of the release, marked cells with notes, and the findings."""
    library = _library()
    with replace_file(path) as temporary, library.Workbook(str(temporary), {"strings_to_formulas": False}) as book:
        book.set_properties({"created": _WHEN})
        styles = {mark: book.add_format({"bg_color": colour}) for mark, colour in _COLOURS.items()}
        sheet = book.add_worksheet("Release")
        for number, row in enumerate(rows):
            for place, text in enumerate(row):
                mark, note = marks.get((number, place), (None, ""))
                style = None if mark is None else styles[mark]
                if not text and style is not None:
                    sheet.write_blank(number, place, None, style)
                elif _NUMBER.fullmatch(text):
                    sheet.write_number(number, place, float(text), style)
                elif text:
                    sheet.write_string(number, place, text, style)
                if note:
                    sheet.write_comment(number, place, note)
        legend = book.add_worksheet("Findings")
        for number, (mark, about) in enumerate(_LEGEND.items()):
            legend.write_string(number, 0, about, styles[mark])
        for number, sentence in enumerate(told, len(_LEGEND) + 1):
            legend.write_string(number, 0, sentence)
