"""The beginning of a release file: enough to tell the forms apart without reading it whole."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tacit.errors import InputError
from tacit.formats.files import FilePath, is_parquet, open_text
from tacit.formats.parquet import parquet_columns

DELIMITERS = (",", "\t", ";", " ")
_HEAD_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Head:
    """The first characters of a text file, or the columns of a Parquet file or folder with their DuckDB types."""

    text: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """The first lines that are not blank."""
        return [line for line in self.text.splitlines() if line.strip()]

    def delimiter(self, fits: Callable[[set[str]], bool]) -> str | None:
        """The delimiter under which the names of the first line fit; None when there is none."""
        if not self.lines:
            return None
        for delimiter in DELIMITERS:
            if fits(set(header_names(self.lines[0], delimiter))):
                return delimiter
        return None


def header_names(line: str, delimiter: str) -> list[str]:
    """The column names in the first line of a delimited file; nothing when its quotation marks do not fit."""
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except csv.Error:
        return []


def holds(names: Iterable[str], *wanted: str) -> bool:
    """Whether all wanted names are there."""
    return set(wanted) <= set(names)


def read_head(path: FilePath) -> Head:
    """The head of a file or of a folder of Parquet files."""
    if os.path.isdir(path) or is_parquet(path):
        return Head(columns=parquet_columns(path))
    with open_text(path) as stream:
        text = stream.read(_HEAD_CHARACTERS)
    if not text.strip():
        raise InputError("is empty", where=os.path.basename(os.fspath(path)), remedy="Give a file with published lines")
    return Head(text)
