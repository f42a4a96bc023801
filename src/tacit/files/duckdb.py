"""The DuckDB engine, and reading with DuckDB: own SQL in a private in-memory database.

Columns are called ``c0``, ``c1``, ... there: names in SQL are blind to case, those of real columns are not. The questions (``counts``,
``groups``) are plain SQL that other engines take as well; reading is DuckDB's own. Messages of DuckDB may hold cell values, so none is
passed on.

The only questions Tacit asks about rows.

The memory engine: plain Python over the rows, the reference for all others.

Rows to counts: the table of engines.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import EngineError, InputError, OptionError, nearest_name
from tacit.files.disk import spill_folder
from tacit.model.event import BoxEvent
from tacit.model.table import Column, Table, require_column

#: One combination of values, one per column asked for, and how many people have it.
Group = tuple[tuple[str, ...], int]


class Engine(Protocol):
    """Rows of people that can be counted; values are text, and a missing value is the empty text."""

    @property
    def name(self) -> str:
        """The name in the table of engines."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the data."""

    @property
    def n(self) -> int:
        """How many people there are."""

    def counts(self, events: Sequence[BoxEvent]) -> list[int]:
        """How many people are in each event."""

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The combinations of values that occur in these columns, sorted as text, with their counts of people."""

    def close(self) -> None:
        """Give back what the engine holds."""


def check_events(events: Sequence[BoxEvent], columns: Sequence[str]) -> None:
    """Raise when an event names a column that does not exist."""
    for event in events:
        check_columns(list(event.allowed), columns)


def check_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise when a name is not one of the columns."""
    if isinstance(names, str):
        raise OptionError("columns are given as one text", where="columns", remedy="Give a list of names")
    for name in names:
        require_column(name, columns, where="columns")


_BLANKS = " \t\n\r\f\v"
_EVENTS_PER_QUERY = 64
#: Whole numbers with more distinct values than this are read as numbers: a type with that many texts takes longer.
_MANY = 5_000
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT", "VARIANT")
#: Files beside a DuckDB database in which changes may stand that have not reached it.
_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
_TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S")


def connect(
    files: Sequence[str] = (), *, folders: Sequence[str] = (), database: str = ":memory:", memory: str | None = None
) -> Any:
    """Return a private database that may touch these files and folders only, and no network.

    It installs and loads no extensions, keeps no secrets, and spills into a private folder; nothing that it executes can change that.
    """
    import duckdb

    # Names are given to DuckDB with pattern signs made literal, and looked up again as they are.
    allowed = dict.fromkeys(name for file in files for name in (file, _no_glob(file)))
    settings = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "temp_directory": _literal(str(spill_folder())),
        "TimeZone": "'UTC'",
        "allowed_paths": _list(allowed),
        "allowed_directories": _list(folders),
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    if memory is not None:
        settings = {"memory_limit": _literal(memory)} | settings
    connection = duckdb.connect(database)
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(map(_literal, texts)) + "]"


@contextlib.contextmanager
def _silenced(error: type[EngineError] | type[InputError], what: str, *, where: str, remedy: str) -> Iterator[None]:
    """Turn any failure of DuckDB into one sentence without its text."""
    import duckdb

    try:
        yield
    except duckdb.Error:
        raise error(what, where=where, remedy=remedy) from None


# Where rows come from


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows outside of our database: their SQL, and the names and DuckDB types of the columns, which the SQL calls ``c0``, ``c1``, ..."""

    connection: Any
    sql: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    where: str

    @classmethod
    def of_csv(cls, path: str, names: Sequence[str], *, delimiter: str, packed: bool, has_quotes: bool) -> Relation:
        """The records of a plain delimited file (:func:`tacit.files.delimited.plain_shape`), its first one left out."""
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
        options = (
            "auto_detect = false, header = true, strict_mode = true, null_padding = false, ignore_errors = false, nullstr = '', "
            f"compression = '{'gzip' if packed else 'none'}', delim = {_literal(delimiter)}, quote = '\"', escape = '\"', "
            # Readers that start in the middle of a file must guess whether they are inside of quotes.
            f"parallel = {'false' if has_quotes else 'true'}, columns = {{{columns}}}"
        )
        sql = f"read_csv({_literal(_no_glob(path))}, {options})"
        return cls(connect([path]), sql, tuple(names), ("VARCHAR",) * len(names), path)

    @classmethod
    def of_parquet(cls, path: str, *, where: str) -> Relation:
        """The rows of a Parquet file."""
        connection = connect([path])
        file = _literal(_no_glob(path))
        sql = f"read_parquet({file}, hive_partitioning = false, binary_as_string = true)"
        with _silenced(InputError, "is damaged, or no Parquet file that can be read", where=where, remedy="Write it again"):
            described = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
            stored = connection.execute(f"SELECT name, num_children FROM parquet_schema({file})").fetchall()
        names = _top_level_names(stored)
        return cls._described(connection, sql, described, where, names)

    @classmethod
    def of_database(cls, path: str, table: str, *, where: str) -> Relation:
        """The rows of a table in a DuckDB database, which is opened for reading only.

        Views are refused: a view is a program of whoever wrote the file, and may read other files.
        """
        connection = connect([path, *(path + ending for ending in _LOGS)])
        remedy = "Close other programs that use it, or export the table as Parquet or CSV"
        with _silenced(InputError, "the DuckDB database cannot be opened", where=path, remedy=remedy):
            connection.execute(f"ATTACH {_literal(path)} AS source (READ_ONLY)")
            found = connection.execute(
                "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY 1, 2"
            ).fetchall()
            views = connection.execute(
                "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal"
            ).fetchall()
        tables = {_full_name(*one): one for one in found}
        if table in {_full_name(*one) for one in views}:
            remedy = f"Make a table of it first, for instance with CREATE TABLE rows AS FROM {table}"
            raise OptionError(f"{table!r} is a view, and only tables are read", where=path, remedy=remedy)
        if table not in tables:
            raise OptionError(f"there is no table {table!r}", where=path, remedy=nearest_name(table, tables, "tables"))
        sql = "source." + ".".join(map(_quoted, tables[table]))
        with _silenced(InputError, "the table cannot be read", where=where, remedy="Export it as Parquet or CSV"):
            described = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        return cls._described(connection, sql, described, where)

    @classmethod
    def _described(
        cls, connection: Any, sql: str, described: Sequence[Any], where: str, names: Sequence[str] | None = None
    ) -> Relation:
        if names is None or len(names) != len(described):
            names = [str(row[0]) for row in described]
        return cls(connection, sql, tuple(names), tuple(str(row[1]) for row in described), where)

    def columns(self, wanted: Sequence[str]) -> tuple[Column, ...]:
        """These columns as codes, rows in the order of the data; can be asked once."""
        aliased = f"{self.sql} AS source_rows({', '.join(f'c{i}' for i in range(len(self.names)))})"
        numbers = [self.names.index(name) for name in wanted]
        remedy = "Write the file again, or save it as CSV"
        with (
            contextlib.closing(self.connection),
            _silenced(InputError, "the rows cannot be read", where=self.where, remedy=remedy),
        ):
            texts = ", ".join(f"{self._text(i, aliased)} AS t{i}" for i in numbers)
            self.connection.execute(f"CREATE TABLE people AS SELECT {texts} FROM {aliased}")
            height = self.connection.execute("SELECT COUNT(*) FROM people").fetchall()[0][0]
            return tuple(self._encoded(i, height) for i in numbers)

    def _encoded(self, number: int, height: int) -> Column:
        """One loaded column as codes."""
        text = f"t{number}"
        values = self.connection.execute(f"SELECT DISTINCT {text} FROM people ORDER BY {text}").fetchnumpy()[text]
        if len(values) > _MANY and (numbers := self._whole_numbers(text)) is not None:
            return _numbered(self.names[number], numbers)
        if 4 * len(values) > height:
            # Nearly every row has a value of its own: sorting the texts is faster than a type with that many values.
            cells = self.connection.execute(f"SELECT {text} FROM people").fetchnumpy()[text]
            values, codes = np.unique(np.asarray(cells, dtype=object), return_inverse=True)
        else:
            self.connection.execute(f"CREATE TYPE v{number} AS ENUM (SELECT DISTINCT {text} FROM people ORDER BY {text})")
            coded = f"CAST(enum_code(CAST({text} AS v{number})) AS INTEGER)"
            codes = self.connection.execute(f"SELECT {coded} AS code FROM people").fetchnumpy()["code"]
        texts = values.tolist()
        if self.types[number] in ("DOUBLE", "FLOAT"):
            # Not in SQL: over Parquet, whose statistics leave NaN out, DuckDB takes isnan() for false without looking.
            texts = ["" if text in ("nan", "-nan") else text for text in texts]
        return _tidy(self.names[number], texts, np.ascontiguousarray(codes, np.int32))

    def _whole_numbers(self, text: str) -> npt.NDArray[np.int64] | None:
        """A column of whole numbers, each spelled in its one usual way; None where some cell is something else."""
        spelled = f"CAST(TRY_CAST({text} AS BIGINT) AS VARCHAR)"
        others = self.connection.execute(f"SELECT COUNT(*) FROM people WHERE {spelled} IS DISTINCT FROM {text}").fetchall()[0][0]
        if others:
            return None
        found = self.connection.execute(f"SELECT CAST({text} AS BIGINT) AS number FROM people").fetchnumpy()["number"]
        return np.ascontiguousarray(found, np.int64)

    def _text(self, number: int, aliased: str) -> str:
        """SQL for the text of a cell: as printed, the empty text where nothing is."""
        kind, cell = self.types[number], f"c{number}"
        if kind.endswith("]") or kind.startswith(_NESTED):
            raise InputError(
                f"column {self.names[number]!r} holds lists, records or bytes, not single values",
                where=self.where,
                remedy="Choose other columns, or take it apart first",
            )
        if kind in _TIMESTAMPS:
            times = f"SELECT count(*) FROM {aliased} WHERE {cell} <> date_trunc('day', {cell})"
            cell = f"CAST({cell} AS DATE)" if self.connection.execute(times).fetchall()[0][0] == 0 else cell
        truth = f"CASE WHEN {cell} THEN 'True' WHEN NOT {cell} THEN 'False' END"
        printed = truth if kind == "BOOLEAN" else f"CAST({cell} AS VARCHAR)"
        return f"coalesce({printed}, '')"


def _full_name(schema: str, name: str) -> str:
    return name if schema == "main" else f"{schema}.{name}"


def _no_glob(path: str) -> str:
    """The path with the characters that DuckDB would take for patterns made literal."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


def _numbered(name: str, numbers: npt.NDArray[np.int64]) -> Column:
    """A column of whole numbers, as text like every other."""
    distinct, codes = np.unique(numbers, return_inverse=True)
    texts = [str(number) for number in distinct.tolist()]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Column(name, tuple(texts[place] for place in order), rank[codes])


def _tidy(name: str, texts: list[str], codes: npt.NDArray[np.int32]) -> Column:
    """A column without blanks around its values; values that are equal then become one."""
    texts = [text.strip(_BLANKS) for text in texts]
    values = tuple(sorted(set(texts)))
    if list(values) == texts:
        return Column(name, values, codes)
    position = {value: i for i, value in enumerate(values)}
    lookup = np.array([position[text] for text in texts], np.int32)
    return Column(name, values, lookup[codes])


def _top_level_names(stored: Sequence[tuple[str, int | None]]) -> list[str]:
    """The names of the columns in a Parquet schema that is listed in depth-first order, the root first."""
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


# Questions


class DuckDBEngine:
    """Rows in DuckDB; made by :meth:`from_table`."""

    name = "duckdb"

    def __init__(self, connection: Any, columns: Sequence[str]) -> None:
        self._connection = connection
        self._columns = tuple(columns)
        self._sql_names = {column: _quoted(f"c{i}") for i, column in enumerate(self._columns)}

    @classmethod
    def from_table(cls, table: Table) -> DuckDBEngine:
        """The rows of a table."""
        connection = connect()
        arrays: dict[str, Any] = {
            f"c{i}": np.array([*column.values, ""], dtype=object)[column.codes] for i, column in enumerate(table.columns)
        }
        connection.register("loading", {**arrays, "weight": table.weights})
        texts = "".join(f"CAST({name} AS VARCHAR) AS {name}, " for name in arrays)
        connection.execute(f"CREATE TABLE people AS SELECT {texts}CAST(weight AS BIGINT) AS weight FROM loading")
        connection.unregister("loading")
        return cls(connection, table.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the data."""
        return self._columns

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self._ask('SELECT COALESCE(SUM("weight"), 0) FROM people', [])[0][0])

    def counts(self, events: Sequence[BoxEvent]) -> list[int]:
        """How many people are in each event."""
        check_events(events, self._columns)
        found: list[int] = []
        for start in range(0, len(events), _EVENTS_PER_QUERY):
            sums, values = [], []
            for event in events[start : start + _EVENTS_PER_QUERY]:
                condition, allowed = self._condition(event)
                sums.append(f'COALESCE(SUM(CASE WHEN {condition} THEN "weight" ELSE 0 END), 0)')
                values += allowed
            found += [int(count) for count in self._ask(f"SELECT {', '.join(sums)} FROM people", values)[0]]
        return found

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The combinations of values that occur in these columns, sorted as text, with their counts of people."""
        check_columns(by, self._columns)
        if not by:
            return [((), self.n)] if self._ask("SELECT COUNT(*) FROM people", [])[0][0] else []
        names = ", ".join(self._sql_names[column] for column in by)
        rows = self._ask(f'SELECT {names}, SUM("weight") FROM people GROUP BY {names}', [])
        return sorted((tuple(row[:-1]), int(row[-1])) for row in rows)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _condition(self, event: BoxEvent) -> tuple[str, list[str]]:
        """SQL for "in the event", and the values to bind; a missing value is the empty text, so there is no NULL to think of."""
        parts: list[str] = []
        values: list[str] = []
        for column, allowed in event.allowed.items():
            parts.append(f"{self._sql_names[column]} IN ({', '.join('?' * len(allowed))})" if allowed else "1 = 0")
            values += allowed
        return " AND ".join(parts) or "1 = 1", values

    def _ask(self, sql: str, values: Sequence[str]) -> list[Any]:
        with _silenced(EngineError, "the query failed", where="engine duckdb", remedy="Please report it"):
            rows: list[Any] = self._connection.execute(sql, list(values)).fetchall()
        return rows


class MemoryEngine:
    """Counts by looking at every row.

    >>> people = Table.from_rows(["sex", "pay"], [("F", "high"), ("M", "low"), ("F", "low")])
    >>> engine = MemoryEngine(people)
    >>> engine.counts([BoxEvent({"sex": ("F",)})]), engine.groups(["pay"])
    ([2], [(('high',), 1), (('low',), 2)])
    """

    name = "memory"

    def __init__(self, table: Table) -> None:
        self._columns = table.names
        texts = [[column.values[code] for code in column.codes.tolist()] for column in table.columns]
        self._rows = [
            (dict(zip(self._columns, cells, strict=True)), weight)
            for *cells, weight in zip(*texts, table.weights.tolist(), strict=True)
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the data."""
        return self._columns

    @property
    def n(self) -> int:
        """How many people there are."""
        return sum(weight for _, weight in self._rows)

    def counts(self, events: Sequence[BoxEvent]) -> list[int]:
        """How many people are in each event."""
        check_events(events, self._columns)
        return [
            sum(weight for row, weight in self._rows if all(row[column] in values for column, values in event.allowed.items()))
            for event in events
        ]

    def groups(self, by: Sequence[str]) -> list[Group]:
        """The combinations of values that occur in these columns, sorted as text, with their counts of people."""
        check_columns(by, self._columns)
        found: Counter[tuple[str, ...]] = Counter()
        for row, weight in self._rows:
            found[tuple(row[column] for column in by)] += weight
        return sorted(found.items())

    def close(self) -> None:
        """Forget the rows."""
        self._rows = []


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """A row of the table: what the engine is called, what it is, and how it takes in a table."""

    name: str
    title: str
    open: Callable[[Table], Engine]


def _memory(table: Table) -> Engine:

    return MemoryEngine(table)


def _duckdb(table: Table) -> Engine:

    return DuckDBEngine.from_table(table)


ENGINES: tuple[EngineEntry, ...] = (
    EngineEntry("duckdb", "embedded database, the default", _duckdb),
    EngineEntry("memory", "plain Python, the reference", _memory),
)


def engine_entry(name: str) -> EngineEntry:
    """The engine of this name."""
    for entry in ENGINES:
        if entry.name == name:
            return entry
    raise OptionError(
        f"unknown engine {name!r}", where="--engine", remedy=nearest_name(name, [entry.name for entry in ENGINES], "engines")
    )


def open_engine(name: str, table: Table) -> Engine:
    """The rows of a table in the engine of this name."""
    return engine_entry(name).open(table)
