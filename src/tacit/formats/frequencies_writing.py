"""Frequency tables, written: a line per cell with its values and its count, and the header beside the file, both or neither."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tacit.errors import OptionError
from tacit.formats.files import FilePath, shown
from tacit.formats.formulas import guard, is_formula
from tacit.formats.frequencies_header import APOSTROPHE, header_entries
from tacit.formats.parquet import quoted, write_by_csv
from tacit.formats.table_writing import Plain, csv_cell, write_with_header
from tacit.model.frequencies import FrequencyTable
from tacit.model.release import Decimals

#: The column that holds the counts.
COUNT = "count"
_BATCH = 50_000


def write_frequencies(table: FrequencyTable, path: FilePath) -> None:
    """Write a frequency table as ``.csv``, ``.csv.gz`` or ``.parquet`` with its header beside it, both or neither; hidden cells are empty."""
    if COUNT in table.columns:
        remedy = f"Rename the column {COUNT!r} of the data"
        raise OptionError("a column has the name that the counts have", where=shown(path), remedy=remedy)
    texts = [*table.columns, *(value for values in table.values for value in values), table.any_mark]
    guarded = not os.fspath(path).casefold().endswith(".parquet") and any(map(is_formula, texts))
    entries = header_entries(table) | ({"formulas": APOSTROPHE} if guarded else {})
    write_with_header(path, entries, lambda: _lines(table, guarded=guarded), lambda to, plain: _parquet(table, to, plain))


def _parquet(table: FrequencyTable, path: Path, plain: Plain) -> None:
    """The same by way of CSV; values, means and medians are texts, counts whole numbers, a hidden one NULL."""
    columns = [f"c{place}" for place in range(len(table.columns))]
    chosen = [f"{column} AS {quoted(name)}" for column, name in zip(columns, table.columns, strict=True)]
    chosen.append(f"CAST({COUNT} AS BIGINT) AS {COUNT}")
    beside = [f"s{place}" for place in range(len(_statistics(table)))]
    chosen += [f"{column} AS {quoted(name)}" for column, (name, _) in zip(beside, _statistics(table), strict=True)]
    texts = [*columns, *beside]
    write_by_csv(path, plain, [*columns, COUNT, *beside], texts, ", ".join(chosen))


def _lines(table: FrequencyTable, *, guarded: bool) -> Iterator[str]:
    """The text of the file, many lines at a time; texts that look like formulas are ``guarded`` where there are any."""

    def cell(text: str) -> str:
        return csv_cell(guard(text) if guarded else text)

    width = len(table.columns)
    beside = _statistics(table)
    yield ",".join([*map(cell, table.columns), COUNT, *(csv_cell(name) for name, _ in beside)]) + "\n"
    # The code of "any value" is -1: the last text.
    texts = [[*map(cell, values), cell(table.any_mark)] for values in table.values]
    codes, hidden = table.codes.reshape(len(table), width), table.printed < 0
    for first in range(0, len(table), _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [[known[code] for code in codes[rows, place].tolist()] for place, known in enumerate(texts)]
        numbers = np.where(hidden[rows], "", table.printed[rows].astype(str)).tolist()
        printed = [[decimals.text(index) for index in range(len(table))[rows]] for _, decimals in beside]
        yield "\n".join(map(",".join, zip(*cells, numbers, *printed, strict=True))) + "\n"


def _statistics(table: FrequencyTable) -> list[tuple[str, Decimals]]:
    """The columns of means and medians, if any."""
    measured = table.measured
    if measured is None:
        return []
    return [(f"mean_{measured.column}", measured.means), (f"median_{measured.column}", measured.medians)]
