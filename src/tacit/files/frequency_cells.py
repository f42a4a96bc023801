"""Cells of frequency tables: counts, marks, means, medians."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.errors import Contradiction, InputError
from tacit.model.frequencies import ANY, FrequencyTable, Measured, numbers_of
from tacit.model.numbers import Bound
from tacit.model.release import Decimals
from tacit.model.rounding import Convention

#: What other programs and offices write into a hidden cell, whatever the case; nothing at all is such a mark, too.
HIDDEN_MARKS = (
    *("", "*", "**", "~", "-", "--", "–", "—", "..", "...", ".", ":", "^", "#", "c", "s", "x", "z", "?"),
    *("nan", "na", "n/a", "null", "none", "[redacted]", "redacted", "suppressed", "hidden"),
)
#: What they call a total, whatever the case.
TOTALS = ("all", "total", "totals", "sum", "grand total", "*")

_DECIMAL = re.compile(r"\d{1,16}(?:\.0*)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[,' \u00a0\u2009\u202f]\d{3}){1,5}")
_BELOW = re.compile(r"(?:<|under|fewer than|less than)\s*(\d{1,15})")
_AT_MOST = re.compile(r"(?:<=|≤|up to)\s*(\d{1,15})")
_RANGE = re.compile(r"(\d{1,15})\s*(?:-|–|to)\s*(\d{1,15})")
_NEGATIVE = re.compile(r"-(\d{1,15})(?:\.0*)?")
_AT_LEAST = re.compile(r"(?:>=|≥)\s*(\d{1,15})|(\d{1,15})\s*\+")


class CellText(NamedTuple):
    """Printed number, None where it is hidden, and the ends that a mark gives."""

    number: int | None
    least: int | None = None
    most: int | None = None


def read_cell(text: str) -> CellText | None:
    """Read a cell; None when it is neither a number nor a known mark.

    >>> read_cell("1,234").number, read_cell("<5"), read_cell("1-4")
    (1234, CellText(number=None, least=None, most=4), CellText(number=None, least=1, most=4))
    """
    told = text.strip().casefold()
    if _DECIMAL.fullmatch(told):
        return CellText(int(told.split(".")[0]))
    if _THOUSANDS.fullmatch(told):
        return CellText(int(re.sub(r"\D", "", told)))
    if told in HIDDEN_MARKS:
        return CellText(None)
    if found := _BELOW.fullmatch(told):
        return CellText(None, most=int(found[1]) - 1) if int(found[1]) else None
    if found := _AT_MOST.fullmatch(told):
        return CellText(None, most=int(found[1]))
    if (found := _RANGE.fullmatch(told)) and int(found[1]) <= int(found[2]):
        return CellText(None, int(found[1]), int(found[2]))
    if found := _AT_LEAST.fullmatch(told):
        return CellText(None, least=int(found[1] or found[2]))
    return None


def read_cell_by(convention: Convention, text: str) -> CellText | None:
    """Read a cell under a convention.

    Where it prints zeros, a mark of a small count stands for at least one person.

    >>> from tacit.model.rounding import find_convention
    >>> omop = find_convention("omop")
    >>> read_cell_by(omop, "-5"), read_cell_by(omop, "<5"), read_cell_by(omop, "7").number
    (CellText(number=None, least=1, most=4), CellText(number=None, least=1, most=4), 7)
    """
    if convention.negative and (found := _NEGATIVE.fullmatch(text.strip())):
        text = f"<{found[1]}"
    cell = read_cell(text)
    if cell is None or cell.most is None or cell.least is not None:
        return cell
    return cell._replace(least=convention.least_hidden)


def is_total(text: str) -> bool:
    """Tell if a label stands for any value."""
    return text.strip().casefold() in TOTALS


_STATISTIC = re.compile(r"(\d{1,12})(?:\.(\d{1,5}))?")


def statistic_of(name: str, columns: Sequence[str]) -> tuple[str, str] | None:
    """Return a column's statistic and measured column, or None.

    >>> statistic_of("mean_age", ["age", "sex"]), statistic_of("Median age", ["age"]), statistic_of("mean", ["age"])
    (('mean', 'age'), ('median', 'age'), None)
    """
    for statistic in ("mean", "median"):
        for column in columns:
            if name.casefold() in (f"{statistic}{sign}{column}".casefold() for sign in "_ "):
                return statistic, column
    return None


def read_measured(
    printed: dict[tuple[str, str], list[str]], span: Bound | None, digits: int | None, place: Callable[[int], str], file: str
) -> Measured:
    """Read the means and medians of one column."""
    columns = {column for _, column in printed}
    if len(columns) > 1:
        remedy = "Keep the means and medians of one column, and audit those of the others in a file of their own"
        raise InputError("has means or medians of several columns", where=f"{file}, line 1", remedy=remedy)
    (column,) = columns
    if span is None:
        remedy = f'Write its smallest and largest value into {file}.json: {{"format": "tacit.frequencies/1", "span": [0, 125]}}'
        raise InputError("does not say which values the measured column can have", where=file, remedy=remedy)
    read = {which: _decimals(texts, place) for (which, _), texts in printed.items()}
    nothing = _decimals([""] * max(len(texts) for texts in printed.values()), place)
    means = read.get("mean", nothing)
    medians = read.get("median", nothing)
    if digits is None:
        digits = max(int(means.digits.max(initial=0)), int(medians.digits.max(initial=0)))
    return Measured(column, span, means, medians, digits)


def _decimals(texts: Sequence[str], place: Callable[[int], str]) -> Decimals:
    scaled = np.zeros(len(texts), np.int64)
    digits = np.full(len(texts), -1, np.int8)
    for row, text in enumerate(texts):
        if text.strip().casefold() in HIDDEN_MARKS:
            continue
        found = _STATISTIC.fullmatch(text.strip())
        if found is None:
            remedy = "Write a plain decimal such as 36.7, or leave it empty"
            raise InputError("a mean or median is neither a number nor a mark of a hidden cell", where=place(row), remedy=remedy)
        decimals = found[2] or ""
        scaled[row] = int(found[1] + decimals)
        digits[row] = len(decimals)
    return Decimals(scaled, digits)


def check_measured(table: FrequencyTable, where: str) -> None:
    """Raise if labels are not numbers, or statistics impossible."""
    measured = table.measured
    assert measured is not None
    at = table.columns.index(measured.column)
    codes = table.codes.reshape(len(table), len(table.columns))[:, at]
    wrong = {code for code, label in enumerate(table.values[at]) if numbers_of(label, measured.span) is None}
    for index in range(len(table)):
        line = table.line(index)
        if codes[index] != ANY and int(codes[index]) in wrong:
            remedy = "Write a number or a range such as 0-4, <18 or 64+, or widen the span in the header"
            raise InputError(
                "the label of the measured column is not a number in its span", where=f"{where}, line {line}", remedy=remedy
            )
        count = table.count(index)
        if not count.is_exact:
            continue
        has_mean = measured.means.value(index) is not None
        has_median = measured.medians.value(index) is not None
        if (has_mean and measured.total(index, count.lo) is None) or (has_median and measured.middle(index) is None):
            remedy = "Correct it, or say in the header with how many digits such numbers were printed"
            raise Contradiction("no people have this mean or median", where=f"{where}, line {line}", remedy=remedy, lines=[line])
