"""Frequency tables, written: a line per cell with its values and its count, and the header beside the file, both or neither."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tacit.errors import OptionError
from tacit.formats.files import FilePath, packed_text, replace_file, shown
from tacit.formats.frequencies_header import header_entries
from tacit.formats.header import header_path
from tacit.formats.parquet import quoted, write_by_csv
from tacit.model.frequencies import FrequencyTable
from tacit.model.release import Decimals

ENDINGS = (".csv", ".csv.gz", ".parquet")
#: The column that holds the counts.
COUNT = "count"
_BATCH = 50_000


def write_frequencies(table: FrequencyTable, path: FilePath) -> None:
    """Write a frequency table as ``.csv``, ``.csv.gz`` or ``.parquet`` with its header beside it, both or neither; hidden cells are empty."""
    ending = frequencies_ending(path)
    if COUNT in table.columns:
        remedy = f"Rename the column {COUNT!r} of the data"
        raise OptionError("a column has the name that the counts have", where=shown(path), remedy=remedy)
    entries = json.dumps(header_entries(table), indent=2, ensure_ascii=False) + "\n"
    # Both temporary files are complete before either is moved to its place.
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        {".csv": _write_csv, ".csv.gz": _write_gzip, ".parquet": _write_parquet}[ending](table, temporary)
        beside.write_text(entries, encoding="utf-8", newline="\n")


def frequencies_ending(path: FilePath) -> str:
    """The ending of the name, which chooses the form; raises when there is none such, to be asked before long work."""
    name = os.fspath(path).casefold()
    for ending in ENDINGS:
        if name.endswith(ending):
            return ending
    what = "the ending names no format that can be written"
    raise OptionError(what, where=shown(path), remedy="End it with .csv, .csv.gz or .parquet")


def _write_csv(table: FrequencyTable, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_lines(table))


def _write_gzip(table: FrequencyTable, path: Path) -> None:
    with packed_text(path) as stream:
        stream.writelines(_lines(table))


def _write_parquet(table: FrequencyTable, path: Path) -> None:
    """The same by way of CSV; values, means and medians are texts, counts whole numbers, a hidden one NULL."""
    columns = [f"c{place}" for place in range(len(table.columns))]
    chosen = [f"{column} AS {quoted(name)}" for column, name in zip(columns, table.columns, strict=True)]
    chosen.append(f"CAST({COUNT} AS BIGINT) AS {COUNT}")
    beside = [f"s{place}" for place in range(len(_statistics(table)))]
    chosen += [f"{column} AS {quoted(name)}" for column, (name, _) in zip(beside, _statistics(table), strict=True)]
    texts = [*columns, *beside]
    write_by_csv(path, lambda plain: _write_csv(table, plain), [*columns, COUNT, *beside], texts, ", ".join(chosen))


def _lines(table: FrequencyTable) -> Iterator[str]:
    """The text of the file, many lines at a time."""
    width = len(table.columns)
    beside = _statistics(table)
    yield ",".join([*map(_cell, table.columns), COUNT, *(_cell(name) for name, _ in beside)]) + "\n"
    # The code of "any value" is -1: the last text.
    texts = [[*map(_cell, values), _cell(table.any_mark)] for values in table.values]
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


def _cell(text: str) -> str:
    """A CSV cell, in quotation marks where it needs them."""
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',;\t"\r\n') or text != text.strip() else text
