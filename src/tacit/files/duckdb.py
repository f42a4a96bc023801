"""DuckDB: private connections, rows of files, grouping, and Parquet.

Columns are called ``c0``, ``c1``, ... in SQL: names there are blind to case, those of real columns are not. Messages of DuckDB may hold cell
values, so none is passed on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.files.disk import Input, parquet_files, private_folder, readable, shown, spill_folder
from tacit.files.engines import Classes, merge
from tacit.model.arrays import Codes, Ints
from tacit.model.errors import EngineError, InputError, OptionError, nearest_name
from tacit.model.table import Column

BLANKS = " \t\n\r\f\v"  #: Signs removed around every cell of a table.
#: Whole numbers with more distinct values than this are read as numbers: a type with that many texts takes longer.
_MANY = 5_000
_AT_ONCE = 1 << 18  #: Row numbers that are handed over at once.
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT", "VARIANT")
#: Files beside a DuckDB database in which changes may stand that have not reached it.
_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
_FLOATS = ("DOUBLE", "FLOAT")
_NOT_NUMBERS = ("nan", "-nan")
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S")


def connect(
    files: Sequence[str] = (), *, folders: Sequence[str] = (), database: str = ":memory:", memory: int | None = None
) -> Any:
    """Return a connection restricted to these files and folders.

    It has no network, extensions or secrets, and spills into a private folder; no statement can change that.
    """
    import duckdb

    # Names are given to DuckDB with pattern signs made literal, and looked up again as they are.
    allowed = dict.fromkeys(name for file in files for name in (file, literal_path(file)))
    settings = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "temp_directory": sql_text(str(spill_folder())),
        "TimeZone": "'UTC'",
        "allowed_paths": _sql_list(allowed),
        "allowed_directories": _sql_list(folders),
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    if memory is not None:
        settings = {"memory_limit": sql_text(f"{memory}B")} | settings
    connection = duckdb.connect(database)
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")
    return connection


def sql_name(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _sql_list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(map(sql_text, texts)) + "]"


@contextlib.contextmanager
def _silenced(what: str, *, where: str, remedy: str, error: type[EngineError | InputError] = InputError) -> Iterator[None]:
    """Convert DuckDB failures into one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error:
        raise error(what, where=where, remedy=remedy) from None


# Where rows come from


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows of a file, read through a connection that is closed at the end."""

    connection: Any
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    where: str

    @classmethod
    def of_parquet(cls, paths: Sequence[str], *, where: str, memory: int | None = None, partitioned: bool = False) -> Relation:
        """Return the rows of Parquet files; ``partitioned`` ones have columns in folder names."""
        connection = connect(paths, memory=memory)
        files = _sql_list(map(literal_path, paths))
        hive = "true, hive_types_autocast = false" if partitioned else "false"
        sql = f"read_parquet({files}, hive_partitioning = {hive}, binary_as_string = true)"
        with _silenced("is damaged, or is not a Parquet file that can be read", where=where, remedy="Write it again"):
            described = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
            first = sql_text(literal_path(paths[0]))
            stored = connection.execute(f"SELECT name, num_children FROM parquet_schema({first})").fetchall()
        names = _top_level_names(stored)
        if len(names) != len(described):
            names = [str(row[0]) for row in described]
        return cls(connection, sql, tuple(names), types=tuple(str(row[1]) for row in described), where=where)

    @classmethod
    def of_database(cls, path: str, table: str, *, where: str, memory: int | None = None) -> Relation:
        """Return the rows of a DuckDB table.

        Views are refused: a view is a program of whoever wrote the file, and may read other files.
        """

        def full_name(schema: str, name: str) -> str:
            return name if schema == "main" else f"{schema}.{name}"

        connection = connect([path, *(path + ending for ending in _LOGS)], memory=memory)
        remedy = "Close other programs that use it, or export the table as Parquet or CSV"
        with _silenced("the DuckDB database cannot be opened", where=path, remedy=remedy):
            connection.execute(f"ATTACH {sql_text(path)} AS source (READ_ONLY)")
            sql = "SELECT schema_name, {0}_name FROM duckdb_{0}s() WHERE database_name = 'source' AND NOT internal ORDER BY 1, 2"
            found, views = [connection.execute(sql.format(kind)).fetchall() for kind in ("table", "view")]
        tables = {full_name(*one): one for one in found}
        if table in {full_name(*one) for one in views}:
            remedy = f"Make a table of it first, for instance with CREATE TABLE rows AS FROM {table}"
            raise OptionError(f"{table!r} is a view, and only tables are read", where=path, remedy=remedy)
        if table not in tables:
            raise OptionError(f"there is no table {table!r}", where=path, remedy=nearest_name(table, tables, "tables"))
        sql = "source." + ".".join(map(sql_name, tables[table]))
        with _silenced("the table cannot be read", where=where, remedy="Export it as Parquet or CSV"):
            described = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        names = tuple(str(row[0]) for row in described)
        return cls(connection, sql, names, types=tuple(str(row[1]) for row in described), where=where)

    def columns(self, wanted: Sequence[str]) -> tuple[Column, ...]:
        """Return these columns as codes, in row order."""
        with self._reading() as rows:
            numbers = [self.names.index(name) for name in wanted]
            texts = ", ".join(f"{self._text_sql(i, rows)} AS t{i}" for i in numbers)
            self.connection.execute(f"CREATE TABLE people AS SELECT {texts} FROM {rows}")
            return self._encoded(numbers)

    def flagged(self, numbers: Ints, name: str) -> Relation:
        """Return the rows with a column that says ``True`` of those with these numbers, in the order of the source."""
        with _silenced("the rows cannot be numbered", where=self.where, remedy="Write a condition instead"):
            self.connection.execute("CREATE TABLE named (number BIGINT)")
            for first in range(0, len(numbers), _AT_ONCE):
                self.connection.execute("INSERT INTO named SELECT unnest(?)", [numbers[first : first + _AT_ONCE].tolist()])
        number = "row_number() OVER () - 1"
        sql = f"(SELECT *, CASE WHEN {number} IN (SELECT number FROM named) THEN 'True' ELSE 'False' END FROM {self.sql})"
        return replace(self, sql=sql, names=(*self.names, name), types=(*self.types, "VARCHAR"))

    def classes(self, wanted: Sequence[str], others: Sequence[str] = (), mark: str | None = None) -> Classes:
        """Return the distinct rows of these columns, counted by the database; marked ``others`` apart."""
        with self._reading() as rows:
            numbers = [self.names.index(name) for name in wanted]
            places = [self.names.index(name) for name in others]
            marked = " OR ".join(self._has_mark(i, mark or "", rows) for i in places) or "false"
            texts = "".join(f"{self._text_sql(i, rows)} AS t{i}, " for i in numbers)
            chosen = f"SELECT {texts}{marked} AS marked FROM {rows}"
            self.connection.execute(f"CREATE TABLE people AS SELECT *, COUNT(*) AS weight FROM ({chosen}) GROUP BY ALL")
            found = self.connection.execute("SELECT weight, marked FROM people").fetchnumpy()
            weights = np.ascontiguousarray(found["weight"], np.int64)
            flags = np.ascontiguousarray(found["marked"], np.bool_)
            return merge(self._encoded(numbers), weights, flags)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[str]:
        """Yield the rows with their columns called ``c0``, ``c1``, ..."""
        remedy = "Write the file again, or save it as CSV"
        with contextlib.closing(self.connection), _silenced("the rows cannot be read", where=self.where, remedy=remedy):
            yield f"{self.sql} AS source_rows({', '.join(f'c{i}' for i in range(len(self.names)))})"

    def _encoded(self, numbers: Sequence[int]) -> tuple[Column, ...]:
        height = self.connection.execute("SELECT COUNT(*) FROM people").fetchall()[0][0]
        return tuple(self._encode(i, height) for i in numbers)

    def _has_mark(self, number: int, mark: str, rows: str) -> str:
        """Return the condition that a cell, read as :meth:`_encode` does, is the mark."""
        alike = ["", *_NOT_NUMBERS] if not mark and self.types[number] in _FLOATS else [mark]
        return f"trim({self._text_sql(number, rows)}, {sql_text(BLANKS)}) IN ({', '.join(map(sql_text, alike))})"

    def _encode(self, number: int, height: int) -> Column:
        name = self.names[number]
        text = f"t{number}"
        values = self.connection.execute(f"SELECT DISTINCT {text} FROM people ORDER BY {text}").fetchnumpy()[text]
        # Integers in their usual spelling, if there are many, are read as numbers.
        spelled = f"SELECT COUNT(*) FROM people WHERE CAST(TRY_CAST({text} AS BIGINT) AS VARCHAR) IS DISTINCT FROM {text}"
        if len(values) > _MANY and self.connection.execute(spelled).fetchall()[0][0] == 0:
            numbers = self.connection.execute(f"SELECT CAST({text} AS BIGINT) AS number FROM people").fetchnumpy()["number"]
            distinct, codes = np.unique(np.ascontiguousarray(numbers, np.int64), return_inverse=True)
            return _column_of_texts(name, [str(number) for number in distinct.tolist()], codes.astype(np.int32))
        if 4 * len(values) > height:
            # Nearly every row has a value of its own: sorting the texts is faster than a type with that many values.
            cells = self.connection.execute(f"SELECT {text} FROM people").fetchnumpy()[text]
            values, codes = np.unique(np.asarray(cells, dtype=object), return_inverse=True)
        else:
            self.connection.execute(f"CREATE TYPE v{number} AS ENUM (SELECT DISTINCT {text} FROM people ORDER BY {text})")
            coded = f"CAST(enum_code(CAST({text} AS v{number})) AS INTEGER)"
            codes = self.connection.execute(f"SELECT {coded} AS code FROM people").fetchnumpy()["code"]
        texts = values.tolist()
        if self.types[number] in _FLOATS:
            # Not in SQL: over Parquet, whose statistics leave NaN out, DuckDB takes isnan() for false without looking.
            texts = ["" if text in _NOT_NUMBERS else text for text in texts]
        return _column_of_texts(name, texts, np.ascontiguousarray(codes, np.int32))

    def _text_sql(self, number: int, aliased: str) -> str:
        kind = self.types[number]
        cell = f"c{number}"
        if kind.endswith("]") or kind.startswith(_NESTED):
            raise nested(self.names[number], self.where)
        if kind in _TIMESTAMPS:
            times = f"SELECT count(*) FROM {aliased} WHERE {cell} <> date_trunc('day', {cell})"
            cell = f"CAST({cell} AS DATE)" if self.connection.execute(times).fetchall()[0][0] == 0 else cell
        truth = f"CASE WHEN {cell} THEN 'True' WHEN NOT {cell} THEN 'False' END"
        printed = truth if kind == "BOOLEAN" else f"CAST({cell} AS VARCHAR)"
        return f"coalesce({printed}, '')"


def nested(name: str, where: str) -> InputError:
    """Return the error for a column of nested values."""
    what = f"column {name!r} holds lists, records or bytes, not single values"
    return InputError(what, where=where, remedy="Choose other columns, or take it apart first")


def literal_path(path: str) -> str:
    """Return a path in which DuckDB sees no pattern."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


def _column_of_texts(name: str, texts: list[str], codes: Codes) -> Column:
    """Return a column with stripped values, equal ones merged."""
    texts = [text.strip(BLANKS) for text in texts]
    values = tuple(sorted(set(texts)))
    if list(values) == texts:
        return Column(name, values, codes)
    position = {value: i for i, value in enumerate(values)}
    lookup = np.array([position[text] for text in texts], np.int32)
    return Column(name, values, lookup[codes])


def _top_level_names(stored: Sequence[tuple[str, int | None]]) -> list[str]:
    """Return a Parquet schema's top-level names, depth first."""
    names: list[str] = []
    depth_left = [stored[0][1] or 0] if stored else []
    for name, children in stored[1:]:
        while depth_left and depth_left[-1] == 0:
            depth_left.pop()
        if len(depth_left) == 1:
            names.append(name)
        if depth_left:
            depth_left[-1] -= 1
        if children:
            depth_left.append(children)
    return names


# Parquet


def parquet_columns(file: Input) -> dict[str, str]:
    """Return the columns and their DuckDB types."""
    with _scan(file) as (con, files):
        return {row[0]: row[1] for row in con.execute("DESCRIBE SELECT * FROM read_parquet(?)", [files]).fetchall()}


def read_parquet(file: Input, expressions: list[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield batches of SQL expressions in file order."""
    with _scan(file) as (con, files):
        sql = f"SELECT {', '.join(expressions)} FROM read_parquet(?, filename = 'tacit_file', file_row_number = true)"
        con.execute(f"{sql} ORDER BY tacit_file, file_row_number", [files])
        while rows := con.fetchmany(50_000):
            yield rows


def read_parquet_texts(file: Input, expressions: list[str]) -> list[list[str]]:
    """Return the texts of SQL expressions, in file order; missing ones are empty."""
    texts: list[list[str]] = [[] for _ in expressions]
    for rows in read_parquet(file, expressions):
        for cells, column in zip(texts, zip(*rows, strict=True), strict=True):
            cells.extend("" if cell is None else cell for cell in column)
    return texts


def text_of(column: str, kind: str) -> str:
    """Return the SQL expression that prints numbers."""
    name = sql_name(column)
    # Doubles are printed in full, 32-bit floats with the digits they really have.
    return f"printf('%.6g', {name})" if kind in ("FLOAT", "REAL") else f"CAST({name} AS VARCHAR)"


@contextlib.contextmanager
def unpacked_parquet(file: Input) -> Iterator[str]:
    """Yield a Parquet path that DuckDB can open."""
    if not file.is_gzip:
        yield file.path
        file.check_unchanged()
        return
    with private_folder() as folder:
        path = os.path.join(folder, "unpacked.parquet")
        with file.open_bytes() as packed, readable(file), open(path, "wb") as plain:
            shutil.copyfileobj(packed, plain)
        yield path


@contextlib.contextmanager
def _scan(file: Input) -> Iterator[tuple[Any, list[str]]]:
    what = "is damaged, or holds columns that Tacit does not read"
    with contextlib.ExitStack() as stack:
        is_folder = os.path.isdir(file)
        files = [str(part) for part in parquet_files(file)] if is_folder else [stack.enter_context(unpacked_parquet(file))]
        con = stack.enter_context(connect(files))
        with _silenced(what, where=shown(file), remedy="Write the Parquet file again"):
            yield con, [literal_path(path) for path in files]


def write_columns_by_csv(path: Path, write_csv: Callable[[Path], None], formulas: Mapping[str, str]) -> None:
    """Write Parquet via CSV with an SQL formula of the cell ``{}`` for each column."""
    columns = [f"c{place}" for place in range(len(formulas))]
    cells = zip(columns, formulas.items(), strict=True)
    chosen = [f"{formula.format(cell)} AS {sql_name(name)}" for cell, (name, formula) in cells]
    write_by_csv(path, write_csv, columns, texts=columns, chosen=", ".join(chosen))


def write_by_csv(
    path: Path, write_csv: Callable[[Path], None], columns: Sequence[str], texts: Sequence[str], chosen: str
) -> None:
    """Write Parquet via CSV with the ``chosen`` columns; empty cells are NULL, except in ``texts``."""
    plain = path.with_name(path.name + ".csv")
    sql = f"""
        COPY (
            SELECT {chosen}
            FROM read_csv({sql_text(literal_path(str(plain)))}, header = true, delim = ',', quote = '"', escape = '"',
                          columns = {dict.fromkeys(columns, "VARCHAR")}, force_not_null = {list(texts)}, auto_detect = false,
                          parallel = false, max_line_size = 1000000000)
        ) TO {sql_text(str(path))} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)
    """
    try:
        write_csv(plain)
        with connect([str(plain), str(path)]) as con:
            con.execute(sql)
    finally:
        with contextlib.suppress(OSError):
            plain.unlink()
