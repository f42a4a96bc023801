"""Tables with blank cells, written: all rows and columns in their order, blank cells empty, the roles in a header beside the file.

Neither file says which rows are sensitive.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.formats.files import FilePath
from tacit.formats.parquet import quoted, write_by_csv
from tacit.formats.partial import FORMAT
from tacit.formats.table_writing import Plain, csv_cell, write_with_header
from tacit.model.partial import PartialTable

_BATCH = 50_000


def write_partial(partial: PartialTable, path: FilePath) -> None:
    """Write a table as ``.csv``, ``.csv.gz`` or ``.parquet`` with its header beside it, both or neither; sensitive rows are not listed."""
    write_with_header(path, header_entries(partial), lambda: _lines(partial), lambda to, plain: _parquet(partial, to, plain))


def header_entries(partial: PartialTable) -> dict[str, Any]:
    """What the header says: how many rows, and the roles of columns; nothing that the table does not show."""
    schema, missing = partial.people.schema, partial.people.missing
    sa: object = schema.sa[0] if len(schema.sa) == 1 else list(schema.sa)
    roles = {"format": FORMAT, "n": partial.n, "qi": list(schema.qi), "sa": sa}
    return roles | {"missing": missing.mark, "missing_rule": missing.rule, "blank": ""}


def _parquet(partial: PartialTable, path: Path, plain: Plain) -> None:
    """The same by way of CSV; cells are texts, and a blank cell is NULL."""
    names = partial.people.names
    columns = [f"c{place}" for place in range(len(names))]
    chosen = ", ".join(f"nullif({column}, '') AS {quoted(name)}" for column, name in zip(columns, names, strict=True))
    write_by_csv(path, plain, columns, columns, chosen)


def _lines(partial: PartialTable) -> Iterator[str]:
    """The text of the file, many lines at a time."""
    columns = partial.people.columns
    yield ",".join(csv_cell(name) for name in partial.people.names) + "\n"
    # A line with nothing on it would be no row.
    empty = '""' if len(columns) == 1 else ""
    texts = [[csv_cell(value) or empty for value in column.values] for column in columns]
    for first in range(0, len(partial), _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [[known[code] for code in column.codes[rows].tolist()] for known, column in zip(texts, columns, strict=True)]
        yield "\n".join(map(",".join, zip(*cells, strict=True))) + "\n"
