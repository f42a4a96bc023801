"""Tables of people as columns of text with roles.

Values are text exactly as printed (``1.0`` stays ``1.0``), except that blanks around them are removed; an empty cell is the empty text. Tables
are written as CSV, packed or not, or as Parquet, with a header beside the file, both or neither.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast
from urllib.parse import quote

import numpy as np

from tacit.errors import InputError, OptionError, TacitError, nearest_name
from tacit.files.delimited import DelimitedTable
from tacit.files.disk import FilePath, Input, shown
from tacit.files.duckdb import Relation, sql_name, unpacked_parquet
from tacit.files.frames import Frame, as_frame, mapping_frame
from tacit.model.arrays import Flags
from tacit.model.release import Source
from tacit.model.table import Column, Missing, MissingRule, Schema, Table, require_column


class RowSource(Protocol):
    """Rows that can be read column by column."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""

    @property
    def where(self) -> str:
        """Name of the rows in messages."""

    @property
    def source(self) -> Source | None:
        """File they come from."""

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return these columns."""

    def close(self) -> None:
        """Give back what is held open."""


def open_table_file(path: FilePath, *, where: str) -> RowSource:
    """Open a file, or a database table ``FILE::TABLE``."""
    text = os.fspath(path)
    database, separator, table = text.rpartition("::")
    if separator and database and not os.path.exists(text):
        return _open_database(Input(database), table, where)
    file = Input.of(path)
    if file.is_parquet:
        return _open_parquet(file, where)
    name = text.casefold().removesuffix(".gz")
    return DelimitedTable.open(file, where=where, prefer="\t" if name.endswith((".tsv", ".tab")) else "")


# Parquet and databases


@dataclass(frozen=True, slots=True)
class _RelationRows:
    """Rows that DuckDB knows the types of."""

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


def _open_parquet(file: Input, where: str) -> RowSource:
    with contextlib.ExitStack() as cleanup:
        path = cleanup.enter_context(unpacked_parquet(file))
        relation = Relation.of_parquet(path, where=where)
        return _RelationRows(relation, file.source, cleanup.pop_all())


def _open_database(file: Input, table: str, where: str) -> RowSource:
    head = file.head(16)
    source = Source(f"{file.name}::{table}", file.sha256)
    if head[8:12] == b"DUCK":
        return _RelationRows(Relation.of_database(file.path, table, where=where), source, contextlib.ExitStack())
    if head.startswith(b"SQLite format 3\x00"):
        return _SqliteRows.open(file.path, table, where, source)
    raise InputError("is not a DuckDB or SQLite database", where=shown(file), remedy="Give FILE::TABLE only for a database")


@dataclass(frozen=True, slots=True)
class _SqliteRows:
    """Table in an SQLite database, opened for reading only."""

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
        names, _ = _ask_sqlite(path, f"SELECT * FROM {sql_name(table)} LIMIT 0", where)
        return cls(path, table, where, source, tuple(names))

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        # One query for all columns: single columns might come in the order of an index.
        _, rows = _ask_sqlite(self.path, f"SELECT {', '.join(map(sql_name, names))} FROM {sql_name(self.table)}", self.where)
        cells = zip(*rows, strict=True) if rows else ([] for _ in names)
        frame = mapping_frame({name: list(values) for name, values in zip(names, cells, strict=True)}, where=self.where)
        return tuple(frame.column(name, where=self.where) for name in names)

    def close(self) -> None:
        """Nothing is held open."""


def _ask_sqlite(path: str, sql: str, where: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return the columns and rows of a query."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)) as connection:
            cursor = connection.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall()
    except sqlite3.Error:
        raise InputError("the SQLite database cannot be read", where=where, remedy="Export the table as CSV") from None


#: Column names: one, several with commas between them, or a sequence of such texts.
Names = str | Sequence[str] | None


def read_table(
    data: object,
    *,
    qi: Names = (),
    sa: Names = (),
    identifying: Names = (),
    columns: Names = None,
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    where: str | None = None,
) -> Table:
    """Read the people in a file or frame, one row each.

    Parameters
    ----------
    data
        A path to delimited text (any separator, also gzipped) or Parquet; ``FILE::TABLE`` for a table in a DuckDB or SQLite database; a
        pandas, polars or Arrow frame; a dict of sequences; or a table, which gets the roles given here.
    qi, sa, identifying
        The columns with these roles. Where QI or SA columns are named, the table holds those; otherwise all but the identifying ones.
    columns
        Further columns to hold; on their own, the only ones.
    missing, missing_rule
        The mark of a missing value, and what it means: ``category`` keeps it as a value, ``drop`` leaves out rows that have it in a QI or SA
        column (in any held column, when no role is given), ``drop-any`` rows that have it in any column of the data.
    where
        What error messages call the data.

    Examples
    --------
    >>> people = read_table({"age": [30, 40], "ill": ["yes", "?"]}, qi="age", sa="ill", missing="?", missing_rule="drop")
    >>> people.n, people.dropped, people.sa.values
    (1, 1, ('yes',))
    """
    rows = _open(data, where)
    try:
        check_names(rows.names, where=rows.where)
        schema = Schema(*(column_names(role, rows.names) for role in (qi, sa, identifying)))
        if isinstance(rows, _TableRows) and schema == Schema():
            schema = rows.table.schema
        schema.check(rows.names, where=rows.where)
        extra = None if columns is None else column_names(columns, rows.names)
        for name in extra or ():
            require_column(name, rows.names, where=rows.where)
        rule = _missing(rows, missing, missing_rule)
        return _build(rows, schema, extra, rule)
    finally:
        rows.close()


def column_names(given: Names, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a text or sequence.

    A text that is no known name is split at its commas.

    >>> column_names(["age,sex", "a,b"], ["a,b", "age", "sex"])
    ('age', 'sex', 'a,b')
    """
    texts = [given] if isinstance(given, str) else list(cast(Iterable[Any], given or ()))
    names: list[str] = []
    for text in texts:
        if not isinstance(text, str):
            raise OptionError("a column is not named by text", where="columns", remedy="Give the names of columns")
        names += [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
    return tuple(names)


def columns_of(data: Any) -> tuple[str, ...]:
    """Return the column names of a table or file, if any."""
    if isinstance(data, Table):
        return data.names
    if isinstance(data, str | os.PathLike) and _is_transactions(os.fspath(data)):
        return ()
    if not isinstance(data, str | os.PathLike):
        frame = None if data is None or isinstance(data, (list, tuple)) else as_frame(data, where="the data")
        return () if frame is None else tuple(frame.names)
    try:
        rows = open_table_file(data, where=shown(data))
    except TacitError:
        return ()
    try:
        return tuple(rows.names)
    finally:
        rows.close()


def _is_transactions(path: str) -> bool:
    return path.casefold().removesuffix(".gz").endswith((".dat", ".basket", ".fimi"))


def sensitive_names(given: Names, known: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return the sensitive columns, and True if declared empty.

    >>> sensitive_names("ill", ["sex", "ill"]), sensitive_names(["none"], ["sex"]), sensitive_names((), ["sex"])
    ((('ill',), False), ((), True), ((), False))
    """
    names = column_names(given, known)
    if "none" not in names or "none" in known:
        return names, False
    if len(names) > 1:
        raise OptionError("names columns, and says that there are none", where="--sa", remedy="Name the columns, or write none")
    return (), True


def check_names(names: Sequence[str], *, where: str) -> None:
    """Raise if columns are missing, unnamed, or named alike."""
    if not names:
        raise InputError("has no columns", where=where, remedy="Give a table with a header of column names")
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name:
            raise InputError(
                f"column {number} has no name",
                where=where,
                remedy="Name every column in the header (pandas: to_csv(index=False))",
            )
        if name in seen:
            raise InputError(
                # What stands in the first line is not repeated: where column names are missing, it is a person.
                f"columns {seen[name]} and {number} have the same name",
                where=where,
                remedy="Rename one of them in the first line",
            )
        seen[name] = number


# Sources of rows


@dataclass(frozen=True, slots=True)
class _FrameRows:
    frame: Frame
    where: str
    source: Source | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.frame.names

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        return tuple(self.frame.column(name, where=self.where) for name in names)

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _TableRows:
    table: Table
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def source(self) -> Source | None:
        return self.table.source

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        return tuple(self.table.column(name) for name in names)

    def close(self) -> None:
        pass


def _open(data: object, where: str | None) -> RowSource:
    if isinstance(data, Table):
        return _TableRows(data, where or "the table")
    if isinstance(data, str | os.PathLike):
        return open_table_file(data, where=where or shown(data))
    name = where or "the frame"
    frame = as_frame(data, where=name)
    if frame is None:
        raise InputError(
            f"a {type(data).__name__} is not a table",
            where=where or "data",
            remedy="Give a path, a pandas, polars or Arrow frame, or a dict of columns",
        )
    return _FrameRows(frame, name)


# The table


def _missing(rows: RowSource, mark: str | None, rule: MissingRule) -> Missing:
    if isinstance(rows, _TableRows) and mark is None and rule == "category":
        return rows.table.missing
    return Missing(None if mark is None else mark.strip(), rule)


def _build(rows: RowSource, schema: Schema, extra: tuple[str, ...] | None, missing: Missing) -> Table:
    named = {*schema.used, *(extra or ())}
    chosen = named if schema.used or extra is not None else set(rows.names) - set(schema.identifying)
    held = [name for name in rows.names if name in chosen]
    if not held:
        raise OptionError("no column is left", where=rows.where, remedy="Name at least one QI, SA or other column")
    if missing.rule == "drop-any":
        looked_at = list(rows.names)
    elif missing.rule == "drop":
        looked_at = list(schema.used or held)
    else:
        looked_at = []
    read = dict(zip(names := [n for n in rows.names if n in {*held, *looked_at}], rows.read(names), strict=True))
    height = len(next(iter(read.values())).codes)
    if not height:
        raise InputError("has a header and no rows", where=rows.where, remedy="Add rows below the header")
    table = Table(tuple(read[name] for name in held), np.ones(height, np.int64), schema, missing, source=rows.source)
    if isinstance(rows, _TableRows):
        table = replace(table, weights=rows.table.weights, dropped=rows.table.dropped)
    return _drop_missing(table, [read[name] for name in looked_at], where=rows.where)


def _drop_missing(table: Table, looked_at: Sequence[Column], *, where: str) -> Table:
    """Return the table without missing values in these columns."""
    gone: Flags = np.zeros(len(table.weights), np.bool_)
    for column in looked_at:
        if table.missing.mark in column.values:
            gone |= column.codes == column.values.index(table.missing.mark)
    if not gone.any():
        return table
    if gone.all():
        raise InputError(
            "every row has the missing mark in a column that is looked at",
            where=where,
            remedy="Choose other columns, or --missing-rule category",
        )
    dropped = table.dropped + int(table.weights[gone].sum())
    return replace(table.take(np.flatnonzero(~gone)), dropped=dropped)
