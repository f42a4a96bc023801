"""Tables of people as columns of text with roles.

Values are text exactly as printed (``1.0`` stays ``1.0``), except that blanks around them are removed; an empty cell is the empty text.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from tacit.files.batches import digest_rows
from tacit.files.delimited import DelimitedTable
from tacit.files.disk import FilePath, Input, parquet_files, shown, split_sheet
from tacit.files.duckdb import Relation, sql_name, unpacked_parquet
from tacit.files.engines import Classes, Engine, as_engine, merge
from tacit.files.frames import as_frame, mapping_frame
from tacit.files.lakes import open_lake
from tacit.files.postgres import PostgresTable, is_postgres
from tacit.model.arrays import Flags, Ints
from tacit.model.bins import Bins, count_people, parse_bins, parse_number
from tacit.model.errors import InputError, OptionError, TacitError, nearest_name
from tacit.model.release import Source
from tacit.model.table import Column, Missing, MissingRule, Names, Schema, Table, column_names, require_column

if TYPE_CHECKING:
    from tacit.files.spark import SparkTable


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that can be read column by column, and their name in messages.

    ``classes`` is given where equal rows can be merged without all of them in memory. Rows that have a ``label``
    come from no single file: their source is named so, and told by the rows. Rows that are not ``is_ordered`` have no numbers.
    ``flagged`` returns the same rows with a column of this name, which says ``True`` of those with these numbers.
    """

    names: tuple[str, ...]
    where: str
    read: Callable[[Sequence[str]], tuple[Column, ...]]
    source: Callable[[], Source | None] = lambda: None
    close: Callable[[], None] = lambda: None
    classes: Callable[[Sequence[str], Sequence[str], str | None], Classes] | None = None
    label: str = ""
    is_ordered: bool = True
    flagged: Callable[[Ints, str], Rows] | None = None

    def one_by_one(self, wanted: Sequence[str], others: Sequence[str], mark: str | None) -> Classes:
        """Return all rows as they come, each with the weight 1."""
        names = [name for name in self.names if name in wanted or name in others]
        read = dict(zip(names, self.read(names), strict=True))
        height = len(next(iter(read.values())).codes)
        marked = np.zeros(height, np.bool_)
        for name in others:
            marked |= _has_mark(read[name], mark)
        return Classes(tuple(read[name] for name in wanted), np.ones(height, np.int64), marked)

    def merged(self, wanted: Sequence[str], others: Sequence[str], mark: str | None, engine: Engine) -> Classes:
        """Return the distinct rows, merged by an engine."""
        if self.classes is None or engine.is_reference:
            return merge(*self.one_by_one(wanted, others, mark))
        return self.classes(wanted, others, mark)


def _has_mark(column: Column, mark: str | None) -> Flags:
    found: Flags = column.codes == (column.values.index(mark) if mark in column.values else -1)
    return found


def open_table_file(path: FilePath, *, where: str, engine: Engine | None = None) -> Rows:
    """Open a file, a folder of Parquet files, a database table ``FILE::TABLE``, or a sheet of a workbook ``FILE::SHEET``."""
    memory = None if engine is None else engine.bytes
    if is_postgres(os.fspath(path)):
        served = PostgresTable.open(os.fspath(path))
        return Rows(
            served.names,
            served.where,
            served.read,
            close=served.close,
            classes=served.classes,
            label=served.label,
            is_ordered=False,
        )
    if engine is not None and engine.is_cluster:
        from tacit.files.spark import SparkTable

        rows = _of_spark(SparkTable.open(os.fspath(path), engine, where=where))
        given = Input(os.fspath(path))
        return replace(rows, label="", source=lambda: given.source) if os.path.exists(given) else rows
    text, sheet = split_sheet(path)
    database, separator, table = text.rpartition("::")
    if separator and database and not os.path.exists(text):
        return _open_database(Input(database), table, where, memory)
    if os.path.isdir(text):
        lake = open_lake(text, where=where)
        if lake is not None:
            return Rows(lake.names, where, lake.read, classes=lake.classes, label=lake.label, is_ordered=False)
        folder = Input(text)
        parts = [str(part) for part in parquet_files(folder, nested=True)]
        relation = Relation.of_parquet(parts, where=where, memory=memory, partitioned=True)
        return _of_relation(relation, lambda: folder.source, relation.connection.close)
    file = path if isinstance(path, Input) else _open_input(text, sheet)
    if not file.is_parquet:
        name = text.casefold().removesuffix(".gz")
        delimited = DelimitedTable.open(file, where=where, prefer="\t" if name.endswith((".tsv", ".tab")) else "")
        return _of_delimited(delimited, file)
    with contextlib.ExitStack() as cleanup:
        relation = Relation.of_parquet([cleanup.enter_context(unpacked_parquet(file))], where=where, memory=memory)
        cleanup.callback(relation.connection.close)
        return _of_relation(relation, lambda: file.source, cleanup.pop_all().close)


def _of_spark(table: SparkTable) -> Rows:
    return Rows(table.names, table.where, table.read, classes=table.classes, label=table.label, is_ordered=False)


def _of_delimited(table: DelimitedTable, file: Input) -> Rows:
    def flagged(numbers: Ints, name: str) -> Rows:
        return _of_delimited(table.flagged(numbers, name), file)

    return Rows(table.names, table.where, table.read, lambda: file.source, classes=table.classes, flagged=flagged)


def _of_relation(relation: Relation, source: Callable[[], Source], close: Callable[[], None]) -> Rows:
    def flagged(numbers: Ints, name: str) -> Rows:
        return _of_relation(relation.flagged(numbers, name), source, close)

    return Rows(relation.names, relation.where, relation.columns, source, close, relation.classes, flagged=flagged)


def _open_input(path: str, sheet: str) -> Input:
    file = Input(path)
    if not file.is_zip and not file.begins_as_json:
        return file
    from tacit.files.renditions import as_table

    return as_table(file, sheet)


def _open_database(file: Input, table: str, where: str, memory: int | None) -> Rows:
    head = file.head(16)
    source = Source(f"{file.name}::{table}", file.sha256)
    if head[8:12] == b"DUCK":
        relation = Relation.of_database(file.path, table, where=where, memory=memory)
        return _of_relation(relation, lambda: source, relation.connection.close)
    if head.startswith(b"SQLite format 3\x00"):
        listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        tables = [str(name) for (name,) in _ask_sqlite(file, listing, where)[1]]
        if table not in tables:
            raise OptionError(f"there is no table {table!r}", where=shown(file), remedy=nearest_name(table, tables, "tables"))
        names, _ = _ask_sqlite(file, f"SELECT * FROM {sql_name(table)} LIMIT 0", where)
        return Rows(
            tuple(names),
            where,
            lambda wanted: _read_sqlite(file, table, wanted, where),
            lambda: source,
            classes=lambda wanted, others, mark: _sqlite_classes(file, table, (wanted, others), mark, where=where),
        )
    raise InputError("is not a DuckDB or SQLite database", where=shown(file), remedy="Give FILE::TABLE only for a database")


def _read_sqlite(file: Input, table: str, names: Sequence[str], where: str) -> tuple[Column, ...]:
    # One query for all columns: single columns might come in the order of an index.
    _, rows = _ask_sqlite(file, f"SELECT {', '.join(map(sql_name, names))} FROM {sql_name(table)}", where)
    cells = zip(*rows, strict=True) if rows else ([] for _ in names)
    frame = mapping_frame({name: list(values) for name, values in zip(names, cells, strict=True)}, where=where)
    return tuple(frame.column(name, where=where) for name in names)


def _sqlite_classes(
    file: Input, table: str, columns: tuple[Sequence[str], Sequence[str]], mark: str | None, *, where: str
) -> Classes:
    """Return the distinct rows, counted by SQLite; cells of different types are not equal."""
    wanted, others = columns
    names = [*wanted, *others]
    exact = [f"{sql_name(name)} COLLATE BINARY" for name in names]
    keys = ", ".join([*exact, *(f"typeof({sql_name(name)})" for name in names)])
    _, rows = _ask_sqlite(file, f"SELECT {', '.join(exact)}, COUNT(*) FROM {sql_name(table)} GROUP BY {keys}", where)
    *cells, weights = zip(*rows, strict=True) if rows else ([] for _ in range(len(names) + 1))
    frame = mapping_frame({name: list(values) for name, values in zip(names, cells, strict=True)}, where=where)
    marked = np.zeros(len(rows), np.bool_)
    for name in others:
        marked |= _has_mark(frame.column(name, where=where), mark)
    return merge(tuple(frame.column(name, where=where) for name in wanted), np.array(weights, np.int64), marked)


def _ask_sqlite(path: Input, sql: str, where: str) -> tuple[list[str], list[tuple[object, ...]]]:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)) as connection:
            cursor = connection.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall()
    except sqlite3.Error:
        raise InputError("the SQLite database cannot be read", where=where, remedy="Export the table as CSV") from None


_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
TRANSACTION_ENDINGS = (".dat", ".basket", ".fimi")  #: Endings of files with one transaction per line, before an optional ``.gz``.


def read_table(
    data: object,
    *,
    qi: Names = (),
    sa: Names = (),
    identifying: Names = (),
    columns: Names = None,
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    bins: Mapping[str, Any] | Iterable[Bins] | None = None,
    engine: Engine | str | None = None,
    where: str | None = None,
) -> Table:
    """Read the people in a file or frame, one row each, or with equal rows merged by an engine.

    Parameters
    ----------
    data
        A path to delimited text (any separator, also gzipped), Parquet, a folder of Parquet files (also with Hive partitions) or of a Delta or
        Iceberg table, JSON records or a workbook; ``FILE::TABLE`` for a table in a DuckDB or SQLite database, or a sheet of a workbook;
        ``postgresql://USER@HOST/DATABASE::TABLE``; a pandas, polars or Arrow frame; a dict of sequences; or a table, which gets the roles given
        here.
    qi, sa, identifying
        The columns with these roles. Where QI or SA columns are named, the table holds those; otherwise all but the identifying ones.
    columns
        Further columns to hold; on their own, the only ones.
    missing, missing_rule
        The mark of a missing value, and what it means: ``category`` keeps it as a value, ``drop`` leaves out rows that have it in a QI or SA
        column (in any held column, when no role is given), ``drop-any`` rows that have it in any column of the data.
    bins
        Columns of numbers that are put into bins: ``{"age": 10}`` by a width, ``{"age": [18, 30, 65]}`` at edges, ``{"age": "q4"}`` into
        quartiles (see :mod:`tacit.model.bins`). The missing mark and an empty cell stay as they are.
    engine
        Program that merges rows which are equal in the columns held, such as ``"duckdb"`` (see :func:`tacit.engine`): the table then has a row
        for each class of people, in the order of its codes, and its ``weights`` say how many they are.
    where
        What error messages call the data.

    Examples
    --------
    >>> people = read_table({"age": [30, 40], "ill": ["yes", "?"]}, qi="age", sa="ill", missing="?", missing_rule="drop")
    >>> people.n, people.dropped, people.sa.values
    (1, 1, ('yes',))
    """
    merging = as_engine(engine)
    if _is_spark_frame(data):
        merging = Engine("spark", session=getattr(data, "sparkSession", None))
    rows = _open(data, where, merging)
    table = data if isinstance(data, Table) else None
    with contextlib.closing(rows):
        check_names(rows.names, where=rows.where)
        schema = Schema(*(column_names(role, rows.names) for role in (qi, sa, identifying)))
        if table is not None and schema == Schema():
            schema = table.schema
        schema.check(rows.names, where=rows.where)
        extra = None if columns is None else column_names(columns, rows.names)
        for name in extra or ():
            require_column(name, rows.names, where=rows.where)
        if table is not None and missing is None and missing_rule == "category":
            rule = table.missing
        else:
            rule = Missing(None if missing is None else missing.strip(), missing_rule)
        wanted = parse_bins(bins)
        if isinstance(bins, Mapping):  # those of a header may be about columns that other data lack
            for one in wanted:
                require_column(one.column, rows.names, where="--bins")
        return _build(rows, schema, extra, rule, table, bins=wanted, engine=merging)


def read_flagged(
    path: FilePath, numbers: Ints, *, columns: Names, engine: Engine, qi: Names, sa: Names, where: str | None, **how: Any
) -> tuple[Table, Flags]:
    """Return the classes of a table, those of the rows with these numbers apart, and flags of them."""
    with contextlib.closing(_open(path, where, engine)) as rows:
        name = "named"
        while name in rows.names:
            name += "_"
        if rows.flagged is None:
            remedy = "Write a condition, such as occupation=Sales and age<30"
            raise OptionError("names rows by their numbers, which this source does not give", where="--rows", remedy=remedy)
        schema = Schema(column_names(qi, rows.names), column_names(sa, rows.names))
        held = (*column_names(columns, rows.names), name)
        missing = Missing(how["missing"], how["missing_rule"])
        table = _build(rows.flagged(numbers, name), schema, held, missing, None, bins=parse_bins(how["bins"]), engine=engine)
    column = table.column(name)
    flags = np.array([value == "True" for value in column.values], np.bool_)[column.codes]
    return table.select([one for one in table.names if one != name]), flags


def columns_of(data: Any) -> tuple[str, ...]:
    """Return the column names of a table or file, if any."""
    if isinstance(data, Table):
        return data.names
    if isinstance(data, str | os.PathLike):
        is_transactions = os.fspath(data).casefold().removesuffix(".gz").endswith(TRANSACTION_ENDINGS)
        return () if is_transactions else file_columns(data) or ()
    frame = None if data is None or isinstance(data, (list, tuple)) else as_frame(data, where="the data")
    return () if frame is None else frame.names


def file_columns(path: FilePath) -> tuple[str, ...] | None:
    """Return the column names of a file, or None if it is not a table."""
    try:
        rows = open_table_file(path, where=shown(path))
    except TacitError:
        return None
    rows.close()
    return rows.names


def check_names(names: Sequence[str], *, where: str) -> None:
    """Raise if columns are missing, unnamed, or named alike."""
    if not names:
        raise InputError("has no columns", where=where, remedy="Give a table with a header of column names")
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name:
            remedy = "Name every column in the header (pandas: to_csv(index=False))"
            raise InputError(f"column {number} has no name", where=where, remedy=remedy)
        if name in seen:
            # What stands in the first line is not repeated: where column names are missing, it is a person.
            what = f"columns {seen[name]} and {number} have the same name"
            raise InputError(what, where=where, remedy="Rename one of them in the first line")
        seen[name] = number


def _open(data: object, where: str | None, engine: Engine | None = None) -> Rows:
    if isinstance(data, Table):
        return Rows(data.names, where or "the table", lambda names: tuple(map(data.column, names)), lambda: data.source)
    if isinstance(data, str | os.PathLike):
        return open_table_file(data, where=where or shown(data), engine=engine)
    place = where or "the frame"
    if _is_spark_frame(data):
        from tacit.files.spark import SparkTable

        return _of_spark(SparkTable.of_frame(data, where=place))
    frame = as_frame(data, where=place)
    if frame is None:
        remedy = "Give a path, a pandas, polars or Arrow frame, or a dict of columns"
        raise InputError(f"a {type(data).__name__} is not a table", where=where or "data", remedy=remedy)
    return Rows(frame.names, place, lambda names: tuple(frame.column(name, where=place) for name in names))


def _is_spark_frame(data: object) -> bool:
    return type(data).__module__.startswith("pyspark.sql") and type(data).__name__ == "DataFrame"


def _build(
    rows: Rows,
    schema: Schema,
    extra: tuple[str, ...] | None,
    missing: Missing,
    given: Table | None,
    *,
    bins: tuple[Bins, ...],
    engine: Engine | None,
) -> Table:
    named = {*schema.used, *(extra or ())}
    chosen = named if schema.used or extra is not None else set(rows.names) - set(schema.identifying)
    held = [name for name in rows.names if name in chosen]
    if not held:
        raise OptionError("no column is left", where=rows.where, remedy="Name at least one QI, SA or other column")
    looked_at: Sequence[str] = {"drop-any": rows.names, "drop": schema.used or held}.get(missing.rule, ())
    others = [name for name in looked_at if name not in held]
    if engine is None or given is not None:
        columns, weights, gone = rows.one_by_one(held, others, missing.mark)
    else:
        columns, weights, gone = rows.merged(held, others, missing.mark, engine)
    if not len(weights):
        raise InputError("has a header and no rows", where=rows.where, remedy="Add rows below the header")
    source = Source(rows.label, digest_rows(Classes(columns, weights, gone))) if rows.label else rows.source()
    table = Table(columns, weights, schema, missing, source=source, is_by_row=engine is None and not rows.label)
    if given is not None:
        table = replace(table, weights=given.weights, dropped=given.dropped, bins=given.bins, is_by_row=given.is_by_row)
    for column in columns:
        if column.name in looked_at:
            gone = gone | _has_mark(column, missing.mark)
    table = _put_into_bins(table, bins, kept=~gone, where=rows.where)
    if gone.all():
        what = "every row has the missing mark in a column that is looked at"
        raise InputError(what, where=rows.where, remedy="Choose other columns, or --missing-rule category")
    if gone.any():
        dropped = table.dropped + int(table.weights[gone].sum())
        table = replace(table.take(np.flatnonzero(~gone)), dropped=dropped)
    return table if engine is None else table.merged()


def _put_into_bins(table: Table, bins: Sequence[Bins], *, kept: Flags, where: str) -> Table:
    """Put the numbers of columns into bins; quantiles are those of the kept rows."""
    done = {one.column: one for one in table.bins}
    columns = {column.name: column for column in table.columns}
    for one in bins:
        column = columns.get(one.column)
        if column is None or done.get(one.column) == one:
            continue
        numbers = {value: number for value in column.values if (number := parse_number(value)) is not None}
        others = [value for value in column.values if value not in numbers]
        wrong = [column.values.index(value) for value in others if value not in ("", table.missing.mark)]
        if wrong or one.column in done:
            row = int(np.flatnonzero(np.isin(column.codes, wrong))[0]) + 1 if wrong else 1
            place = f", row {row}" if table.is_by_row else ""
            remedy = "Correct it, or name the mark of missing values with --missing (Python: missing=)"
            if any(_DECIMAL_COMMA.fullmatch(column.values[code]) for code in wrong):
                remedy = "Write decimal points instead of decimal commas"
            raise InputError(
                "is not a number, and --bins is for numbers", where=f"{where}, column {one.column!r}{place}", remedy=remedy
            )
        people = dict(zip(column.values, count_people(column.codes, len(column.values), table.weights, kept), strict=True))
        settled = one.settle(numbers, [people[value] for value in numbers])
        places = sorted({settled.place(number) for number in numbers.values()})
        names = [settled.name(place) for place in places]
        rank = {place: number for number, place in enumerate(places)}
        fresh = [
            rank[settled.place(numbers[value])] if value in numbers else len(names) + others.index(value)
            for value in column.values
        ]
        codes = np.array(fresh, np.int32)[column.codes]
        columns[one.column] = Column(column.name, (*names, *others), codes)
        done[one.column] = settled
    return replace(table, columns=tuple(columns[name] for name in table.names), bins=tuple(done.values()))
