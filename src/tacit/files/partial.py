"""Tables with blank cells and roles of columns.

They are written with blank cells empty and the roles in a header. Neither file lists the sensitive rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InputError, OptionError
from tacit.files.delimited import csv_cell
from tacit.files.disk import FilePath, Input, shown
from tacit.files.duckdb import sql_name, write_by_csv
from tacit.files.header import Entries, Plain, entries_beside, write_with_header
from tacit.files.tables import Names, column_names, read_table
from tacit.model.partial import PartialTable
from tacit.model.table import Missing, MissingRule, Schema, Table

FORMAT = "tacit.table/1"
#: The keys of the header.
KEYS = frozenset({"format", "n", "qi", "sa", "missing", "missing_rule", "blank", "made_by"})


@dataclass(frozen=True, slots=True)
class TableHeader:
    """Entries of the header of a table."""

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
    """Read a table in which cells may be blank, from a file or frame.

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
        return _blank_marked(data.people, _roles(data.people, qi, sa, TableHeader(), "the table"), blank, data)
    is_file = isinstance(data, str | os.PathLike)
    name = where or (shown(data) if is_file else "the table")
    if is_file:
        data = Input.of(data)
    header = read_table_header(data) if is_file else TableHeader()
    people = data if isinstance(data, Table) else read_table(data, where=name)
    if header.n not in (None, len(people.weights)):
        what = f"says that there are {header.n:,} rows, and the table has {len(people.weights):,}"
        raise InputError(what, where=data.beside.name, remedy="Correct it, or remove the file")
    mark = missing if missing is not None else header.missing
    schema = _roles(people, qi, sa, header, name)
    if missing_rule != "category":
        every = list(people.names)
        people = read_table(
            people, qi=schema.qi, sa=schema.sa, columns=every, missing=mark, missing_rule=missing_rule, where=name
        )
    elif mark is not None:
        people = replace(people, missing=Missing(mark.strip()))
    return _blank_marked(people, schema, blank)


def _roles(people: Table, qi: Names, sa: Names, header: TableHeader, where: str) -> Schema:
    """Return the roles: given, of the header, or default."""
    given = {role: column_names(names, people.names) for role, names in (("qi", qi), ("sa", sa))}
    known = people.schema
    schema = Schema(given["qi"] or header.qi or known.qi, given["sa"] or header.sa or known.sa, known.identifying)
    for option, names, what in (("--sa", schema.sa, "sensitive"), ("--qi", schema.qi, "condition")):
        if not names:
            remedy = f"Name it with {option} (Python: {option[2:]}=)"
            raise OptionError(f"{where} does not say which column is the {what} one", where=option, remedy=remedy)
    schema.check(people.names, where=where)
    return schema


def _blank_marked(people: Table, schema: Schema, blank: Names, before: PartialTable | None = None) -> PartialTable:
    """Return the table with roles, marked cells blanked."""
    marks = {blank.strip()} if isinstance(blank, str) else {str(mark).strip() for mark in blank or ()}
    hidden = np.zeros((len(people.weights), len(people.columns)), np.bool_) if before is None else before.hidden.copy()
    for place, column in enumerate(people.columns):
        codes = [code for code, value in enumerate(column.values) if value in marks]
        if codes:
            hidden[:, place] |= np.isin(column.codes, codes)
    return PartialTable.of(replace(people, schema=schema), hidden, None if before is None else before.sensitive)


def read_table_header(file: Input) -> TableHeader:
    """Return the header of a table."""
    entries = entries_beside(file, (FORMAT,), KEYS)
    if entries is None:
        return TableHeader()
    get = Entries(entries, file.beside.name)
    missing = get.names("missing")
    return TableHeader(get.names("qi"), get.names("sa"), missing[0] if missing else None, get.whole("n"))


_BATCH = 50_000


def write_partial(partial: PartialTable, path: FilePath) -> None:
    """Write a table and its header, both or neither.

    The ending is ``.csv``, ``.csv.gz`` or ``.parquet``. Sensitive rows are not listed.
    """
    write_with_header(path, header_entries(partial), lambda: _lines(partial), lambda to, plain: _parquet(partial, to, plain))


def header_entries(partial: PartialTable) -> dict[str, Any]:
    """Return the header: number of rows, and column roles.

    Nothing that the table does not show.
    """
    schema = partial.people.schema
    missing = partial.people.missing
    sa: object = schema.sa[0] if len(schema.sa) == 1 else list(schema.sa)
    roles = {"format": FORMAT, "n": partial.n, "qi": list(schema.qi), "sa": sa}
    return roles | {"missing": missing.mark, "missing_rule": missing.rule, "blank": ""}


def _parquet(partial: PartialTable, path: Path, plain: Plain) -> None:
    """Return the same by way of CSV."""
    names = partial.people.names
    columns = [f"c{place}" for place in range(len(names))]
    chosen = ", ".join(f"nullif({column}, '') AS {sql_name(name)}" for column, name in zip(columns, names, strict=True))
    write_by_csv(path, plain, columns, columns, chosen)


def _lines(partial: PartialTable) -> Iterator[str]:
    """Yield the text of the file in blocks."""
    columns = partial.people.columns
    yield ",".join(csv_cell(name) for name in partial.people.names) + "\n"
    # A line with nothing on it would be no row.
    empty = '""' if len(columns) == 1 else ""
    texts = [[csv_cell(value) or empty for value in column.values] for column in columns]
    for first in range(0, len(partial), _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [[known[code] for code in column.codes[rows].tolist()] for known, column in zip(texts, columns, strict=True)]
        yield "\n".join(map(",".join, zip(*cells, strict=True))) + "\n"
