"""Means and medians that stand beside the counts of a frequency table, read: columns such as ``mean_age`` and ``median_age``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from tacit.errors import Contradiction, InputError
from tacit.formats.frequency_cells import HIDDEN_MARKS
from tacit.model.bound import Bound
from tacit.model.frequencies import ANY, FrequencyTable
from tacit.model.measured import Measured, numbers_of
from tacit.model.release import Decimals

_NUMBER = re.compile(r"(\d{1,12})(?:\.(\d{1,5}))?")


def statistic_of(name: str, columns: Sequence[str]) -> tuple[str, str] | None:
    """Which statistic of which column a column holds; None when it is none of another one.

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
    """The means and medians of one column, line by line, from their texts; a mark of a hidden cell says nothing."""
    columns = {column for _, column in printed}
    if len(columns) > 1:
        remedy = "Keep the means and medians of one column, and audit those of the others in a file of their own"
        raise InputError("has means or medians of several columns", where=f"{file}, line 1", remedy=remedy)
    (column,) = columns
    if span is None:
        remedy = f'Write its smallest and largest value into {file}.json: {{"format": "tacit.frequencies/1", "span": [0, 125]}}'
        raise InputError("does not say which values the measured column can have", where=file, remedy=remedy)
    length = max(len(texts) for texts in printed.values())
    read = {which: _decimals(texts, place) for (which, _), texts in printed.items()}
    nothing = Decimals(np.zeros(length, np.int64), np.full(length, -1, np.int8))
    means, medians = read.get("mean", nothing), read.get("median", nothing)
    told = max(int(means.digits.max(initial=0)), int(medians.digits.max(initial=0)))
    return Measured(column, span, means, medians, told if digits is None else digits)


def _decimals(texts: Sequence[str], place: Callable[[int], str]) -> Decimals:
    scaled, digits = np.zeros(len(texts), np.int64), np.full(len(texts), -1, np.int8)
    for row, text in enumerate(texts):
        if text.strip().casefold() in HIDDEN_MARKS:
            continue
        found = _NUMBER.fullmatch(text.strip())
        if found is None:
            remedy = "Write a plain decimal such as 36.7, or leave it empty"
            raise InputError("a mean or median is neither a number nor a mark of a hidden cell", where=place(row), remedy=remedy)
        decimals = found[2] or ""
        scaled[row], digits[row] = int(found[1] + decimals), len(decimals)
    return Decimals(scaled, digits)


def check_measured(table: FrequencyTable, where: str) -> None:
    """Refuse labels of the measured column that are no numbers, and means and medians that no people have."""
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
                "the label of the measured column is no number in its span", where=f"{where}, line {line}", remedy=remedy
            )
        count = table.count(index)
        if not count.is_exact:
            continue
        mean, median = measured.means.value(index), measured.medians.value(index)
        if (mean is not None and measured.total(index, count.lo) is None) or (
            median is not None and measured.middle(index) is None
        ):
            remedy = "Correct it, or say in the header with how many digits such numbers were printed"
            raise Contradiction("no people have this mean or median", where=f"{where}, line {line}", remedy=remedy, lines=[line])
