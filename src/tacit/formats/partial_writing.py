"""Tables with blank cells, written: all rows and columns in their order, blank cells empty, the roles in a header beside the file.

Neither file says which rows are sensitive.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.formats.files import FilePath, packed_text, replace_file, shown
from tacit.formats.header import header_path
from tacit.formats.parquet import quoted, write_by_csv
from tacit.formats.partial import FORMAT
from tacit.model.partial import PartialTable

#: Endings that choose the form of the file.
ENDINGS = (".csv", ".csv.gz", ".parquet")
_BATCH = 50_000


def write_partial(partial: PartialTable, path: FilePath) -> None:
    """Write a table as ``.csv``, ``.csv.gz`` or ``.parquet`` with its header beside it, both or neither; sensitive rows are not listed."""
    ending = table_ending(path)
    entries = json.dumps(header_entries(partial), indent=2, ensure_ascii=False) + "\n"
    # Both temporary files are complete before either is moved to its place.
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        {".csv": _write_csv, ".csv.gz": _write_gzip, ".parquet": _write_parquet}[ending](partial, temporary)
        beside.write_text(entries, encoding="utf-8", newline="\n")


def table_ending(path: FilePath) -> str:
    """The ending of the name, which chooses the form; raises when there is none such, to be asked before long work."""
    name = os.fspath(path).casefold()
    for ending in ENDINGS:
        if name.endswith(ending):
            return ending
    what = "the ending names no format that can be written"
    raise OptionError(what, where=shown(path), remedy="End it with .csv, .csv.gz or .parquet")


def header_entries(partial: PartialTable) -> dict[str, Any]:
    """What the header says: how many rows, and the roles of columns; nothing that the table does not show."""
    schema, missing = partial.people.schema, partial.people.missing
    sa: object = schema.sa[0] if len(schema.sa) == 1 else list(schema.sa)
    roles = {"format": FORMAT, "n": partial.n, "qi": list(schema.qi), "sa": sa}
    return roles | {"missing": missing.mark, "missing_rule": missing.rule, "blank": ""}


def _write_csv(partial: PartialTable, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_lines(partial))


def _write_gzip(partial: PartialTable, path: Path) -> None:
    with packed_text(path) as stream:
        stream.writelines(_lines(partial))


def _write_parquet(partial: PartialTable, path: Path) -> None:
    """The same by way of CSV; cells are texts, and a blank cell is NULL."""
    names = partial.people.names
    columns = [f"c{place}" for place in range(len(names))]
    chosen = ", ".join(f"nullif({column}, '') AS {quoted(name)}" for column, name in zip(columns, names, strict=True))
    write_by_csv(path, lambda plain: _write_csv(partial, plain), columns, columns, chosen)


def _lines(partial: PartialTable) -> Iterator[str]:
    """The text of the file, many lines at a time."""
    columns = partial.people.columns
    yield ",".join(_cell(name) for name in partial.people.names) + "\n"
    # A line with nothing on it would be no row.
    empty = '""' if len(columns) == 1 else ""
    texts = [[_cell(value) or empty for value in column.values] for column in columns]
    for first in range(0, len(partial), _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [[known[code] for code in column.codes[rows].tolist()] for known, column in zip(texts, columns, strict=True)]
        yield "\n".join(map(",".join, zip(*cells, strict=True))) + "\n"


def _cell(text: str) -> str:
    """A CSV cell, in quotation marks where it needs them."""
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',;\t"\r\n') or text != text.strip() else text
