"""Tables with blank cells, of Tacit or of anybody: every row and column in its order, roles as given or as a header beside the file says.

Tables with blank cells, written: all rows and columns in their order, blank cells empty, the roles in a header beside the file.

Neither file says which rows are sensitive.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InputError, OptionError, TacitError
from tacit.files.disk import FilePath, Input, shown
from tacit.files.duckdb import sql_name
from tacit.files.frames import as_frame
from tacit.files.header import entries_beside, format_beside
from tacit.files.parquet import write_by_csv
from tacit.files.tables import Names, Plain, column_names, csv_cell, open_table_file, read_table, write_with_header
from tacit.model.partial import PartialTable
from tacit.model.table import Missing, MissingRule, Schema, Table

FORMAT = "tacit.table/1"
#: The keys of the header.
KEYS = frozenset({"format", "n", "qi", "sa", "missing", "missing_rule", "blank", "made_by"})


@dataclass(frozen=True, slots=True)
class TableHeader:
    """What the header beside a table says; empty where it does not say it."""

    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] = ()
    missing: str | None = None
    n: int | None = None


def read_partial(
    data: Any,
    *,
    qi: Names = (),
    sa: Names = (),
    blank: Names = (),
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    where: str | None = None,
) -> PartialTable:
    """A table in which cells may be blank, from a file or frame, with every row and column of it.

    Parameters
    ----------
    data
        Whatever :func:`tacit.read_table` takes: delimited text, Parquet, packed or not, a frame, a table; or a partial table.
    qi, sa
        The condition attributes and the sensitive ones; by default as the header beside the file, or the table itself, says.
    blank
        Marks that stand for a blank cell, such as ``"*"`` or ``"[REDACTED]"``; an empty cell is always one.
    missing, missing_rule
        The mark of a missing value, and what it means: a value like any other, or that the row is left out (rows are then counted without it).
    where
        What messages call the data.

    Examples
    --------
    >>> partial = read_partial({"sex": ["F", "*"], "ill": ["", "flu"]}, qi="sex", sa="ill", blank="*")
    >>> partial.hidden.tolist(), list(partial.records())[1]
    ([[False, True], [True, False]], {'sex': None, 'ill': 'flu'})
    """
    if isinstance(data, PartialTable):
        given = {role: column_names(names, data.people.names) for role, names in (("qi", qi), ("sa", sa))}
        if not blank and all(names in ((), getattr(data.people.schema, role)) for role, names in given.items()):
            return data
        return _marked(data.people, _roles(data.people, qi, sa, TableHeader(), "the table"), blank, data)
    is_file = isinstance(data, str | os.PathLike)
    name = where or (shown(data) if is_file else "the table")
    if is_file:
        data = Input.of(data)
    header = read_table_header(data) if is_file else TableHeader()
    people = data if isinstance(data, Table) else read_table(data, where=name)
    if header.n not in (None, len(people.weights)):
        what = f"says that there are {header.n:,} rows, and the table has {len(people.weights):,}"
        raise InputError(what, where=data.beside.name, remedy="Correct it, or remove the file")
    mark, schema = missing if missing is not None else header.missing, _roles(people, qi, sa, header, name)
    if missing_rule != "category":
        every = list(people.names)
        people = read_table(
            people, qi=schema.qi, sa=schema.sa, columns=every, missing=mark, missing_rule=missing_rule, where=name
        )
    elif mark is not None:
        people = replace(people, missing=Missing(mark.strip()))
    return _marked(people, schema, blank)


def _roles(people: Table, qi: Names, sa: Names, header: TableHeader, where: str) -> Schema:
    """The roles that are given, else those that the header says, else those of the table."""
    given = {role: column_names(names, people.names) for role, names in (("qi", qi), ("sa", sa))}
    known = people.schema
    schema = Schema(given["qi"] or header.qi or known.qi, given["sa"] or header.sa or known.sa, known.identifying)
    for option, names, what in (("--sa", schema.sa, "sensitive"), ("--qi", schema.qi, "condition")):
        if not names:
            remedy = f"Name it with {option} (Python: {option[2:]}=)"
            raise OptionError(f"{where} does not say which column is the {what} one", where=option, remedy=remedy)
    schema.check(people.names, where=where)
    return schema


def _marked(people: Table, schema: Schema, blank: Names, before: PartialTable | None = None) -> PartialTable:
    """The table with its roles, and blank where one of the marks stands."""
    marks = {blank.strip()} if isinstance(blank, str) else {str(mark).strip() for mark in blank or ()}
    hidden = np.zeros((len(people.weights), len(people.columns)), np.bool_) if before is None else before.hidden.copy()
    for place, column in enumerate(people.columns):
        codes = [code for code, value in enumerate(column.values) if value in marks]
        if codes:
            hidden[:, place] |= np.isin(column.codes, codes)
    return PartialTable.of(replace(people, schema=schema), hidden, None if before is None else before.sensitive)


def looks_like_table(path: Any, *, qi: Names = (), sa: Names = ()) -> bool:
    """Whether a file or frame is a table with these columns, or a file has a header that calls it a table."""
    if isinstance(path, PartialTable | Table):
        return True
    if not isinstance(path, str | os.PathLike):
        frame = as_frame(path, where="the table") if sa else None
        return frame is not None and {*column_names(qi, frame.names), *column_names(sa, frame.names)} <= set(frame.names)
    if os.path.isdir(path):
        return False
    file = Input.of(path)
    if os.path.lexists(file) and format_beside(file) == FORMAT:
        return True
    if not sa:
        return False
    try:
        rows = open_table_file(file, where=shown(file))  # also a table in a database, FILE::TABLE
    except TacitError:
        return False
    try:
        return {*column_names(qi, rows.names), *column_names(sa, rows.names)} <= set(rows.names)
    finally:
        rows.close()


def read_table_header(file: Input) -> TableHeader:
    """The header beside a table; an empty one where there is none."""
    entries = entries_beside(file, (FORMAT,), KEYS)
    if entries is None:
        return TableHeader()
    where = file.beside.name

    def texts(key: str) -> tuple[str, ...]:
        value = entries.get(key)
        listed = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise InputError("must be a list of texts", where=f"{where}, key {key!r}", remedy="Correct it, or remove the key")
        return tuple(listed)

    n, missing = entries.get("n"), texts("missing")
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 0):
        remedy = "Correct it, or remove the key"
        raise InputError("must be a whole number of at least 0", where=f"{where}, key 'n'", remedy=remedy)
    return TableHeader(texts("qi"), texts("sa"), missing[0] if missing else None, n)


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
    chosen = ", ".join(f"nullif({column}, '') AS {sql_name(name)}" for column, name in zip(columns, names, strict=True))
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
