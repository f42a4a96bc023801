"""Files that hold a table: delimited text, Parquet, and tables in DuckDB and SQLite databases."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

import numpy as np

from tacit.engines.duckdb import Relation
from tacit.errors import InputError, OptionError, nearest_name
from tacit.formats.files import (
    PARQUET_MAGIC,
    FilePath,
    is_gzip,
    open_bytes,
    open_text,
    read_bytes_head,
    readable,
    shown,
    source_of,
)
from tacit.formats.table_frames import coded_column, mapping_frame
from tacit.formats.table_shape import PlainShape, plain_shape
from tacit.formats.table_text import BLANKS, records, sniff_delimiter
from tacit.model.source import Source
from tacit.model.table import Column
from tacit.model.temporaries import private_folder

_HEAD = 1 << 16
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_SPOKEN = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a blank", ":": "a colon"}


class RowSource(Protocol):
    """Rows that can be read column by column."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""

    @property
    def where(self) -> str:
        """What error messages call the rows."""

    @property
    def source(self) -> Source | None:
        """The file they come from."""

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        """These columns."""

    def close(self) -> None:
        """Give back what is held open."""


def open_table_file(path: FilePath, *, where: str) -> RowSource:
    """The rows of a file, or of a table in a database when the path is ``FILE::TABLE``."""
    text = os.fspath(path)
    file, separator, table = text.rpartition("::")
    if separator and file and not os.path.exists(text):
        return _open_database(file, table, where)
    head = read_bytes_head(path, _HEAD)
    if head.startswith(PARQUET_MAGIC):
        return _open_parquet(text, where)
    if not head.startswith(_WIDE_MARKS):
        plain = _plain_text(path, head, where)
        if plain is not None:
            return plain
    return ExactRows.open(path, where)


# Delimited text


def _plain_text(path: FilePath, head: bytes, where: str) -> RowSource | None:
    """The rows of a plain UTF-8 file, to be read in bulk; None when it must be read record by record."""
    text = head.decode("utf-8-sig", "replace")
    delimiter = sniff_delimiter(text, complete=len(head) < _HEAD, prefer=_usual_delimiter(path))
    with open_bytes(path) as stream, readable(path):
        lines = io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="")
        try:
            first = next(records(lines, delimiter, where=where), None)
        except InputError:
            return None
    if first is None or len(first[1]) < 2 or delimiter == " ":
        return None  # what is a blank line, and what a row of empty cells, is not for others to decide
    shape = plain_shape(path, delimiter, len(first[1]))
    if shape is None:
        return None
    names = tuple(cell.strip(BLANKS) for cell in first[1])
    return _BulkRows(os.fspath(path), where, names, source_of(path), delimiter, shape)


def _usual_delimiter(path: FilePath) -> str:
    name = os.fspath(path).casefold().removesuffix(".gz")
    return "\t" if name.endswith((".tsv", ".tab")) else ""


@dataclass(frozen=True, slots=True)
class _BulkRows:
    """Plain delimited text, parsed and coded by DuckDB."""

    path: str
    where: str
    names: tuple[str, ...]
    source: Source
    delimiter: str
    shape: PlainShape

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        with contextlib.suppress(InputError):
            relation = Relation.of_csv(
                self.path, self.names, delimiter=self.delimiter, packed=is_gzip(self.path), has_quotes=self.shape.has_quotes
            )
            columns = relation.columns(names)
            if len(columns[0].codes) == self.shape.records - 1:
                return columns
        # DuckDB saw something that the check let pass: what is true is what reading record by record says.
        return ExactRows.open(self.path, self.where).read(names)

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True, slots=True)
class ExactRows:
    """Delimited text, read record by record: the slow twin of reading in bulk, and the one that explains what is wrong."""

    where: str
    source: Source
    columns: tuple[Column, ...]

    @classmethod
    def open(cls, path: FilePath, where: str) -> ExactRows:
        """All rows of the file; raises with the line number where it is no table."""
        with open_text(path, keep_newlines=True) as stream:
            head = stream.read(_HEAD)
        delimiter = sniff_delimiter(head, complete=len(head) < _HEAD, prefer=_usual_delimiter(path))
        with open_text(path, keep_newlines=True) as stream:
            found = records(stream, delimiter, where=where)
            _, header = next(found, (0, []))
            if not header:
                raise InputError("is empty", where=where, remedy="Give a table with a header of column names")
            names = [cell.strip(BLANKS) for cell in header]
            seen: list[dict[str, int]] = [{} for _ in names]
            codes = [array("i") for _ in names]
            for line, cells in found:
                if len(cells) != len(names):
                    raise _ragged(len(cells), len(names), delimiter, f"{where}, line {line}")
                for known, column, cell in zip(seen, codes, cells, strict=True):
                    column.append(known.setdefault(cell.strip(BLANKS), len(known)))
        columns = (
            coded_column(name, np.frombuffer(column, np.int32), list(known), where=where)
            for name, column, known in zip(names, codes, seen, strict=True)
        )
        return cls(where, source_of(path), tuple(columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(column.name for column in self.columns)

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        """These columns."""
        return tuple(self.columns[self.names.index(name)] for name in names)

    def close(self) -> None:
        """Nothing is held open."""


def _ragged(got: int, width: int, delimiter: str, where: str) -> InputError:
    cells = "1 cell" if got == 1 else f"{got} cells"
    columns = "1 column" if width == 1 else f"{width} columns"
    spoken = _SPOKEN.get(delimiter, repr(delimiter))
    return InputError(
        f"has {cells} where the header names {columns} (the separator is {spoken})",
        where=where,
        remedy="Quote cells that hold the separator, or complete the line",
    )


# Parquet and databases


@dataclass(frozen=True, slots=True)
class _RelationRows:
    """Rows that DuckDB knows the types of: a Parquet file or a table in a database."""

    relation: Relation
    source: Source
    cleanup: contextlib.ExitStack

    @property
    def names(self) -> tuple[str, ...]:
        return self.relation.names

    @property
    def where(self) -> str:
        return self.relation.where

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        return self.relation.columns(names)

    def close(self) -> None:
        self.relation.connection.close()
        self.cleanup.close()


def _open_parquet(path: str, where: str) -> RowSource:
    with contextlib.ExitStack() as cleanup:
        file = path
        if is_gzip(path):
            folder = cleanup.enter_context(private_folder())
            file = os.path.join(folder, "unpacked.parquet")
            with open_bytes(path) as stream, readable(path), open(file, "wb") as copy:
                shutil.copyfileobj(stream, copy)
        relation = Relation.of_parquet(file, where=where)
        return _RelationRows(relation, source_of(path), cleanup.pop_all())


def _open_database(path: str, table: str, where: str) -> RowSource:
    head = read_bytes_head(path, 16)
    source = Source(f"{os.path.basename(path)}::{table}", source_of(path).sha256)
    if head[8:12] == b"DUCK":
        return _RelationRows(Relation.of_database(path, table, where=where), source, contextlib.ExitStack())
    if head.startswith(b"SQLite format 3\x00"):
        return _SqliteRows.open(path, table, where, source)
    raise InputError("is no DuckDB or SQLite database", where=shown(path), remedy="Give FILE::TABLE only for a database")


@dataclass(frozen=True, slots=True)
class _SqliteRows:
    """A table in an SQLite database, opened for reading only."""

    path: str
    table: str
    where: str
    source: Source
    names: tuple[str, ...]

    @classmethod
    def open(cls, path: str, table: str, where: str, source: Source) -> _SqliteRows:
        listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        tables = [str(name) for (name,) in _ask_sqlite(path, listing, where)[1]]
        if table not in tables:
            raise OptionError(f"there is no table {table!r}", where=shown(path), remedy=nearest_name(table, tables, "tables"))
        names, _ = _ask_sqlite(path, f"SELECT * FROM {_sql_name(table)} LIMIT 0", where)
        return cls(path, table, where, source, tuple(names))

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        # One query for all columns: single columns might come in the order of an index.
        _, rows = _ask_sqlite(self.path, f"SELECT {', '.join(map(_sql_name, names))} FROM {_sql_name(self.table)}", self.where)
        cells = zip(*rows, strict=True) if rows else ([] for _ in names)
        frame = mapping_frame({name: list(values) for name, values in zip(names, cells, strict=True)}, where=self.where)
        return tuple(frame.column(name, where=self.where) for name in names)

    def close(self) -> None:
        """Nothing is held open."""


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _ask_sqlite(path: str, sql: str, where: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """The names of the columns and the rows that answer a query."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)) as connection:
            cursor = connection.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall()
    except sqlite3.Error:
        raise InputError("the SQLite database cannot be read", where=where, remedy="Export the table as CSV") from None
