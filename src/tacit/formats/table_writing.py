"""Tables, written: lines of CSV as they are, packed, or turned into Parquet, with the header beside the file, both or neither."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.formats.files import FilePath, packed_text, replace_file, shown
from tacit.formats.header import header_path

#: Endings that choose the form of the file.
ENDINGS = (".csv", ".csv.gz", ".parquet")
#: Writes the plain CSV to a path.
Plain = Callable[[Path], None]


def table_ending(path: FilePath) -> str:
    """The ending of the name, which chooses the form; raises when there is none such, to be asked before long work.

    >>> table_ending("out/Table.CSV.gz")
    '.csv.gz'
    """
    name = os.fspath(path).casefold()
    for ending in ENDINGS:
        if name.endswith(ending):
            return ending
    what = "the ending names no format that can be written"
    raise OptionError(what, where=shown(path), remedy="End it with .csv, .csv.gz or .parquet")


def write_with_header(
    path: FilePath, entries: Mapping[str, Any], lines: Callable[[], Iterable[str]], to_parquet: Callable[[Path, Plain], None]
) -> None:
    """Write lines of CSV in the form that the ending chooses, and the entries of the header as JSON beside them, both or neither."""
    ending = table_ending(path)
    beside_text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"

    def plain(to: Path) -> None:
        with open(to, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines())

    # Both temporary files are complete before either is moved to its place.
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        if ending == ".parquet":
            to_parquet(temporary, plain)
        elif ending == ".csv.gz":
            with packed_text(temporary) as stream:
                stream.writelines(lines())
        else:
            plain(temporary)
        beside.write_text(beside_text, encoding="utf-8", newline="\n")


def csv_cell(text: str) -> str:
    """A CSV cell, in quotation marks where it needs them.

    >>> csv_cell("plain"), csv_cell("a,b")
    ('plain', '"a,b"')
    """
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',;\t"\r\n') or text != text.strip() else text
