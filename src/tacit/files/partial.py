"""Tables with blank cells and roles of columns.

They are written with blank cells empty and the roles in a header. Neither file lists the sensitive rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.files.delimited import csv_blocks, csv_lines
from tacit.files.disk import FilePath, Input, shown
from tacit.files.duckdb import write_columns_by_csv
from tacit.files.engines import Engine
from tacit.files.header import Entries, bins_entry, entries_beside, read_bins, write_with_header
from tacit.files.tables import read_table
from tacit.model.bins import Bins
from tacit.model.errors import InputError, OptionError
from tacit.model.partial import PartialTable
from tacit.model.release import Header
from tacit.model.table import Column, Missing, MissingRule, Names, Schema, Table, column_names

FORMAT = "tacit.table/1"
_LINES = 1 << 20  #: People whose lines are written at once.
KEYS = frozenset({"format", "n", "qi", "sa", "missing", "missing_rule", "bins", "blank", "made_by"})


def read_partial(
    data: Any,
    *,
    qi: Names = (),
    sa: Names = (),
    blank: Names = (),
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    bins: Mapping[str, Any] | Iterable[Bins] | None = None,
    where: str | None = None,
    engine: Engine | str | None = None,
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
    bins
        Columns of numbers that are put into bins, as :func:`tacit.read_table` takes them; for a table as it was before cells were hidden.
    where
        What messages call the data.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`): the table then has a row for each class of people.

    Examples
    --------
    >>> partial = read_partial({"sex": ["F", "*"], "ill": ["", "flu"]}, qi="sex", sa="ill", blank="*")
    >>> partial.hidden.tolist(), list(partial.records())[1]
    ([[False, True], [True, False]], {'sex': None, 'ill': 'flu'})
    """
    if isinstance(data, PartialTable):
        schema = data.people.schema
        same_qi = column_names(qi, data.people.names) in ((), schema.qi)
        same_sa = column_names(sa, data.people.names) in ((), schema.sa)
        if not blank and same_qi and same_sa:
            return data
        return _blank_marked(data.people, _roles(data.people, qi, sa, Header(), where="the table"), blank, data)
    is_file = isinstance(data, str | os.PathLike)
    name = where or (shown(data) if is_file else "the table")
    if is_file:
        data = Input.of(data)
    header = _read_header(data) if is_file else Header()
    people = data if isinstance(data, Table) else read_table(data, where=name, engine=engine)
    if header.n not in (None, people.n):
        what = f"says that there are {header.n:,} rows, and the table has {people.n:,}"
        raise InputError(what, where=data.beside.name, remedy="Correct it, or remove the file")
    mark = missing if missing is not None else header.missing
    schema = _roles(people, qi, sa, header, where=name)
    if bins:
        people = read_table(people, columns=people.names, missing=mark, bins=bins, where=name)
    elif header.bins:
        people = replace(people, bins=header.bins)
    if missing_rule != "category":
        people = read_table(
            people, qi=schema.qi, sa=schema.sa, columns=people.names, missing=mark, missing_rule=missing_rule, where=name
        )
    elif mark is not None:
        people = replace(people, missing=Missing(mark.strip()))
    return _blank_marked(people, schema, blank)


def _roles(people: Table, qi: Names, sa: Names, header: Header, *, where: str) -> Schema:
    """Return the roles: given, of the header, or default."""
    known = people.schema
    chosen_qi = column_names(qi, people.names) or header.qi or known.qi
    chosen_sa = column_names(sa, people.names) or header.sa or known.sa
    schema = Schema(chosen_qi, chosen_sa, known.identifying)
    for option, names, what in (("--sa", schema.sa, "sensitive"), ("--qi", schema.qi, "condition")):
        if not names:
            remedy = f"Name it with {option} (Python: {option[2:]}=)"
            raise OptionError(f"{where} does not say which column is the {what} one", where=option, remedy=remedy)
    schema.check(people.names, where=where)
    return schema


def _blank_marked(people: Table, schema: Schema, blank: Names, before: PartialTable | None = None) -> PartialTable:
    marks = {blank.strip()} if isinstance(blank, str) else {str(mark).strip() for mark in blank or ()}
    hidden = np.zeros((len(people.weights), len(people.columns)), np.bool_) if before is None else before.hidden.copy()
    for place, column in enumerate(people.columns):
        codes = [code for code, value in enumerate(column.values) if value in marks]
        if codes:
            hidden[:, place] |= np.isin(column.codes, codes)
    return PartialTable.of(replace(people, schema=schema), hidden, None if before is None else before.sensitive)


def _read_header(file: Input) -> Header:
    get = entries_beside(file, (FORMAT,), KEYS) or Entries({}, file.beside.name)
    missing = get.names("missing")
    mark = missing[0] if missing else None
    return Header(qi=get.names("qi"), sa=get.names("sa"), missing=mark, n=get.whole("n"), bins=read_bins(get))


def write_partial(partial: PartialTable, path: FilePath) -> None:
    """Write a table and its header, both or neither."""
    people = partial.people
    schema = people.schema
    # Nothing that the table does not show.
    entries = {
        "format": FORMAT,
        "n": partial.n,
        "qi": list(schema.qi),
        "sa": schema.sa[0] if len(schema.sa) == 1 else list(schema.sa),
        "missing": people.missing.mark,
        "missing_rule": people.missing.rule,
        "blank": "",
        **bins_entry(partial.header),
    }
    formulas = dict.fromkeys(people.names, "nullif({}, '')")
    write_with_header(path, entries, lambda: _csv_of(people), lambda to, plain: write_columns_by_csv(to, plain, formulas))


def _csv_of(people: Table) -> Iterator[str]:
    """Yield the text of a CSV file in blocks, with a line for each person."""
    if (people.weights == 1).all():
        yield from csv_blocks(people.columns)
        return
    yield from csv_blocks([Column(one.name, one.values, one.codes[:0]) for one in people.columns])
    ends = np.cumsum(people.weights)
    for first in range(0, people.n, _LINES):
        # The people from ``first`` on, and the row of each.
        row = np.searchsorted(ends, np.arange(first, min(first + _LINES, people.n)), side="right")
        yield from csv_lines([Column(one.name, one.values, one.codes[row]) for one in people.columns])
