"""The table in which cells are to be hidden: a row of each person, or of each class of a large table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.files.disk import shown
from tacit.files.engines import Engine
from tacit.files.partial import read_partial
from tacit.files.selection import condition_of, list_rows
from tacit.files.tables import columns_of, open_table_file, read_flagged, read_table
from tacit.model.arrays import Ints
from tacit.model.bins import Bins
from tacit.model.errors import InputError, OptionError
from tacit.model.partial import PartialTable
from tacit.model.repair import OtherColumns
from tacit.model.table import Column, MissingRule, Names, Table, column_names, row_keys
from tacit.verbs.data import one_row_each

AT_ONCE = 2_000_000  #: Tables of more people are worked on by classes of equal people.


@dataclass(frozen=True, slots=True, eq=False)
class ToHide:
    """A table before cells are hidden, its sensitive rows if they are known already, and all its columns without a role."""

    table: PartialTable
    sensitive: Ints | None = None
    others: tuple[str, ...] = ()


def open_to_hide(
    data: Any,
    *,
    rows: Any = None,
    marks: Any = None,
    other_columns: OtherColumns = "drop",
    engine: Engine | None = None,
    qi: Names = (),
    sa: Names = (),
    blank: Names = (),
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    bins: Mapping[str, Any] | Iterable[Bins] | None = None,
    where: str | None = None,
) -> ToHide:
    """Read a table to hide cells in; an engine merges the rows of a large one."""
    roles: dict[str, Any] = {"qi": qi, "sa": sa, "missing": missing, "missing_rule": missing_rule, "bins": bins, "where": where}
    if engine is not None and marks is None and isinstance(data, (str, os.PathLike)):
        found = _merge_rows(data, rows, other_columns, engine, blank=blank, **roles)
        if found is not None:
            return found
    table = read_table(data, columns=list(columns_of(data)), **roles)
    return of_people(read_partial(table, blank=blank))


def of_people(people: Table | PartialTable) -> ToHide:
    """Return a table that is read already, with a row of each person unless there are very many."""
    if isinstance(people, PartialTable):
        return ToHide(people, others=people.others)
    for option, names in (("--qi", people.schema.qi), ("--sa", people.schema.sa)):
        if not names:
            what = "the table has no condition column" if option == "--qi" else "the table has no sensitive column"
            raise OptionError(what, where=option, remedy=f"Name it with {option} (Python: {option[2:]}=)")
    if people.n == 0:
        raise InputError("holds nobody", where="the table", remedy="Give a table with rows")
    table = PartialTable.of(people if people.n > AT_ONCE else one_row_each(people))
    return ToHide(table, others=table.others)


def _names_of(path: Any, engine: Engine) -> tuple[tuple[str, ...], bool]:
    """Return the columns of a source, and True if its rows have an order."""
    with closing(open_table_file(path, where=shown(path), engine=engine)) as opened:
        return opened.names, opened.is_ordered


def _merge_rows(path: Any, rows: Any, other_columns: OtherColumns, engine: Engine, **how: Any) -> ToHide | None:
    """Return the classes of a large table, or of one whose rows have no order; None for others."""
    names, is_ordered = _names_of(path, engine)
    used = {*column_names(how["qi"], names), *column_names(how["sa"], names)}
    others = tuple(name for name in names if name not in used)
    condition = condition_of(rows, names)
    if rows is not None and condition is None and not is_ordered:
        remedy = "Write a condition, such as occupation=Sales and age<30"
        raise OptionError("names rows by their numbers, and those of this source have none", where="--rows", remedy=remedy)
    asked = {one.column for one in condition or ()}
    held = [name for name in names if name in used | asked or other_columns == "keep"]
    blank = how.pop("blank")
    table = read_table(path, columns=held, engine=engine, **how)
    if table.n <= AT_ONCE and is_ordered:
        return None
    sensitive: Ints | None = None
    if rows is not None and condition is None:
        if how["missing_rule"] != "category":
            what = f"row numbers cannot be combined with --missing-rule {how['missing_rule']} for more than {AT_ONCE:,} people"
            raise OptionError(what, where="--rows", remedy="Write a condition, such as occupation=Sales and age<30")
        table, named = read_flagged(path, list_rows(rows, table.n), columns=held, engine=engine, **how)
        sensitive = np.flatnonzero(named)
    if table.n <= AT_ONCE:
        table = one_row_each(table)
    partial = read_partial(table, blank=blank)
    return ToHide(partial, sensitive, others)


def merge_alike(table: PartialTable, *flags: Any) -> tuple[Ints, Ints]:
    """Return the number of each row among rows that are the same in all columns and flags, and the first row of each number."""
    columns: list[Column] = list(table.people.columns)
    codes = [np.where(table.hidden[:, place], -1, column.codes) for place, column in enumerate(columns)]
    codes += [one[:, place].astype(np.int32) for one in flags if one is not None for place in range(one.shape[1])]
    _, first, number = np.unique(row_keys(codes, len(table.hidden)), return_index=True, return_inverse=True)
    return number.reshape(-1).astype(np.int64), first.astype(np.int64)
