"""PostgreSQL tables: the server groups the rows, and only classes cross the wire.

An address is ``postgresql://USER@HOST/DATABASE::TABLE``. Passwords come from ``PGPASSWORD`` or ``~/.pgpass``, never from the address, which
appears in messages and records. Messages of the server may hold cell values, so none is passed on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from tacit.files.batches import Merging, needs
from tacit.files.duckdb import BLANKS, nested, sql_name, sql_text
from tacit.files.engines import Classes
from tacit.files.frames import as_frame
from tacit.model.errors import InputError, OptionError, nearest_name
from tacit.model.table import Column

SCHEMES = ("postgresql://", "postgres://")
_NESTED = ("json", "jsonb", "bytea", "xml", "hstore")
_TABLES = """
    SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
    ORDER BY 1
"""


def is_postgres(path: str) -> bool:
    """Tell if data are named by the address of a PostgreSQL table."""
    return path.startswith(SCHEMES)


@contextlib.contextmanager
def _silenced(what: str, where: str, remedy: str) -> Iterator[None]:
    """Convert failures of the driver into one sentence."""
    try:
        yield
    except (InputError, OptionError, MemoryError):
        raise
    except Exception:
        raise InputError(what, where=where, remedy=remedy) from None


@dataclass(frozen=True, slots=True, eq=False)
class PostgresTable:
    """Table of a PostgreSQL database, read in one read-only transaction."""

    connection: Any
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    where: str
    label: str

    @classmethod
    def open(cls, address: str) -> PostgresTable:
        """Connect, and look the table up."""
        url, separator, table = address.rpartition("::")
        where = address
        parts = urlsplit(url or address)
        if parts.password is not None or any(name == "password" for name, _ in parse_qsl(parts.query)):
            where = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
            raise OptionError("the address holds a password", where=where, remedy="Put it into PGPASSWORD or ~/.pgpass")
        if not separator or not table:
            raise OptionError("names no table", where=where, remedy="Write postgresql://USER@HOST/DATABASE::TABLE")
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise needs("postgres", "reading PostgreSQL", where=where) from None
        with _silenced("the database cannot be reached", where, "Check the address, the user and PGPASSWORD or ~/.pgpass"):
            connection = dbapi.connect(url)
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                cursor.execute("SET LOCAL TimeZone = 'UTC'")
                cursor.execute("SET LOCAL DateStyle = 'ISO, YMD'")
        try:
            return cls._describe(connection, table, where, f"{parts.path.strip('/') or 'postgres'}::{table}")
        except BaseException:
            connection.close()
            raise

    @classmethod
    def _describe(cls, connection: Any, table: str, where: str, label: str) -> PostgresTable:
        with _silenced("the tables of the database cannot be listed", where, "Check the rights of the user"):
            listed = [str(row[0]) for row in _fetch(connection, _TABLES)]
        schema, _, name = table.rpartition(".")
        known = table in listed or f"public.{table}" in listed or (schema and name in listed)
        if not known:
            raise OptionError(f"there is no table {table!r}", where=where, remedy=nearest_name(table, listed, "tables"))
        sql = ".".join(map(sql_name, filter(None, (schema, name))))
        columns = f"""
            SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
            WHERE attrelid = {sql_text(sql)}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
        """
        with _silenced("the table cannot be read", where, "Check the rights of the user"):
            described = _fetch(connection, columns)
        names = tuple(str(row[0]) for row in described)
        return cls(connection, sql, names, tuple(str(row[1]) for row in described), where=where, label=label)

    def close(self) -> None:
        """End the transaction and the connection."""
        with contextlib.suppress(Exception):
            self.connection.close()

    def read(self, wanted: Sequence[str]) -> tuple[Column, ...]:
        """Return these columns, a code for each row."""
        chosen = ", ".join(f"{self._text(name)} AS t{place}" for place, name in enumerate(wanted))
        pieces: list[list[Any]] = [[] for _ in wanted]
        numbers: list[dict[str, int]] = [{} for _ in wanted]
        for batch in self._scan(f"SELECT {chosen} FROM {self.sql}"):
            for place, column in enumerate(_columns(batch, wanted, self.where)):
                fresh = np.array([numbers[place].setdefault(value, len(numbers[place])) for value in column.values], np.int32)
                pieces[place].append(fresh[column.codes])
        empty = np.empty(0, np.int32)
        return tuple(
            Column.renumbered(name, list(known), np.concatenate([empty, *found]))
            for name, known, found in zip(wanted, numbers, pieces, strict=True)
        )

    def classes(self, wanted: Sequence[str], others: Sequence[str] = (), mark: str | None = None) -> Classes:
        """Return the distinct rows, counted by the server; marked ``others`` apart."""
        texts = "".join(f"{self._text(name)} AS t{place}, " for place, name in enumerate(wanted))
        marked = " OR ".join(f"{self._text(name)} = {sql_text(mark or '')}" for name in others) or "false"
        grouped = ", ".join(f"t{place}" for place in range(len(wanted)))
        inner = f"SELECT {texts}({marked}) AS marked FROM {self.sql}"
        merging = Merging(wanted)
        for batch in self._scan(
            f"SELECT {grouped}, marked, count(*) AS weight FROM ({inner}) AS classes GROUP BY {grouped}, marked"
        ):
            weights = np.ascontiguousarray(batch.column("weight").to_numpy(zero_copy_only=False), np.int64)
            flags = np.ascontiguousarray(batch.column("marked").to_numpy(zero_copy_only=False), np.bool_)
            merging.add(_columns(batch, wanted, self.where), weights, flags)
        return merging.finish()

    def _scan(self, sql: str) -> Iterator[Any]:
        remedy = "Check that the server still runs, and start again"
        with (
            _silenced("the connection was lost, or the table cannot be read", self.where, remedy),
            self.connection.cursor() as cursor,
        ):
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()

    def _text(self, name: str) -> str:
        """Return the SQL that prints a cell as other sources do."""
        kind = self.types[self.names.index(name)]
        cell = sql_name(name)
        if kind.endswith("[]") or kind in _NESTED:
            raise nested(name, self.where)
        printed = f"CAST({cell} AS text)"
        if kind == "boolean":
            printed = f"CASE WHEN {cell} THEN 'True' WHEN NOT {cell} THEN 'False' END"
        if kind in ("real", "double precision"):
            printed = f"CASE WHEN {cell} <> 'NaN' THEN {printed} END"
        blanks = "E'" + "".join(f"\\x{ord(sign):02x}" for sign in BLANKS) + "'"
        return f"coalesce(btrim({printed}, {blanks}), '')"


def _columns(batch: Any, names: Sequence[str], where: str) -> list[Column]:
    frame = as_frame(batch.select([f"t{place}" for place in range(len(names))]).rename_columns(list(names)), where=where)
    assert frame is not None
    return [frame.column(name, where=where) for name in names]


def _fetch(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
