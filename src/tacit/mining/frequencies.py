"""Frequency tables: counts, suppressed and rounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np

from tacit.model.arrays import Ints
from tacit.model.errors import OptionError
from tacit.model.frequencies import ANY, CellPrinting, FrequencyTable
from tacit.model.release import Header, ValueGroup
from tacit.model.rounding import MOST_BASE
from tacit.model.table import Hierarchy, Table, require_column

MOST_CELLS = 20_000_000  #: Cells of all tables together at most.
ANY_MARKS = ("*", "**", "(any)", "(any value)")  #: Texts that may stand for "any value": the first that is no value itself.


def tabulate(
    people: Table,
    *,
    tables: Sequence[Sequence[str]],
    total: bool = False,
    hide_below: int | None = None,
    show_zeros: bool = False,
    round_to: int | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    check: Callable[[], None] = lambda: None,
) -> FrequencyTable:
    """Count the people in each cell of tables, as :func:`tacit.tabulate` says.

    Cells with nobody are cells as well. Coarser values of ``hierarchies`` are listed like values. ``check`` is called before each table and
    raises when the time is over.
    """
    printing = _choose_form(hide_below, show_zeros, round_to)
    chosen = _list_tables(people, tables, total=total)
    columns = tuple(dict.fromkeys(column for table in chosen for column in table))
    single = {column: people.column(column).values for column in columns}
    groups = [group for column, one in (hierarchies or {}).items() if column in single for group in _groups(one, single[column])]
    values = tuple((*single[column], *(group.name for group in groups if group.column == column)) for column in columns)
    sizes = {column: len(known) for column, known in zip(columns, values, strict=True)}
    cells = sum(prod(sizes[column] for column in table) for table in chosen)
    if cells > MOST_CELLS:
        remedy = "Choose columns with fewer values, or fewer columns for a table"
        raise OptionError(f"makes {cells:,} cells, more than {MOST_CELLS:,}", where="--by", remedy=remedy)
    counted = [
        _add_groups(_count_cells(people, table, check), [(single[column], _of(groups, column)) for column in table])
        for table in chosen
    ]
    codes = np.concatenate([_list_codes(columns, sizes, table) for table in chosen]).reshape(-1)
    made = _print_table(people, columns, values, codes, counts=np.concatenate(counted), printing=printing)
    return replace(made, header=replace(made.header, groups=tuple(groups))) if groups else made


def _groups(hierarchy: Hierarchy, values: tuple[str, ...]) -> list[ValueGroup]:
    """Return the coarser values that stand for several values, and not for all."""
    found: dict[tuple[str, ...], ValueGroup] = {}
    for node in hierarchy.nodes:
        members = tuple(value for value in hierarchy.members(node) if value in values)
        if 1 < len(members) < len(values):
            found.setdefault(members, ValueGroup(hierarchy.column, node, members))
    return list(found.values())


def _of(groups: Sequence[ValueGroup], column: str) -> list[ValueGroup]:
    return [group for group in groups if group.column == column]


def _add_groups(counts: Ints, axes: Sequence[tuple[tuple[str, ...], list[ValueGroup]]]) -> Ints:
    """Return the counts with those of groups of values after those of values, along every axis."""
    cube = counts.reshape([len(values) for values, _ in axes])
    for axis, (values, groups) in enumerate(axes):
        sums = [
            cube.take([values.index(value) for value in group.values], axis=axis).sum(axis=axis, keepdims=True)
            for group in groups
        ]
        cube = np.concatenate([cube, *sums], axis=axis)
    return cube.reshape(-1)


def subtables(columns: Sequence[str], ways: int) -> list[tuple[str, ...]]:
    """Return all sets of columns up to ``ways``, the largest first."""
    if not 1 <= ways <= len(columns):
        what = f"must be from 1 to {len(columns)}, the number of columns"
        raise OptionError(what, where="--ways", remedy="Write for instance --ways 2, or name more columns with --by")
    return [table for size in range(ways, 0, -1) for table in combinations(columns, size)]


def _choose_form(hide_below: int | None, show_zeros: bool, round_to: int | None) -> CellPrinting:
    for value, least, where in ((hide_below, 1, "--hide-below"), (round_to, 2, "--round")):
        if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value <= MOST_BASE):
            what = f"must be a whole number of at least {least}"
            raise OptionError(what, where=where, remedy=f"Write for instance {where} {10 if least == 1 else 5}")
    if show_zeros and hide_below is None:
        remedy = "Leave it out, or hide small cells with --hide-below"
        raise OptionError("nothing is hidden, so zeros are shown", where="--show-zeros", remedy=remedy)
    return CellPrinting(hide_below, show_zeros or hide_below is None, round_to, "half-up" if round_to is not None else "nearest")


def _list_tables(people: Table, tables: Sequence[Sequence[str]], *, total: bool) -> list[tuple[str, ...]]:
    if not tables or not all(len(table) for table in tables):
        remedy = "Write for instance --by sex,job (Python: by=['sex,job'])"
        raise OptionError("names no column", where="--by", remedy=remedy)
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for table in tables:
        for column in table:
            require_column(column, people.names, where="--by")
        if len(set(table)) < len(table):
            raise OptionError("names a column twice in one table", where="--by", remedy="Name each column once")
        found.setdefault(frozenset(table), tuple(table))
    for table in list(found.values()) if total else ():
        for size in range(len(table) - 1, -1, -1):
            for smaller in combinations(table, size):
                found.setdefault(frozenset(smaller), smaller)
    return list(found.values())


def _count_cells(people: Table, table: Sequence[str], check: Callable[[], None]) -> Ints:
    check()
    key = np.zeros(len(people.weights), np.int64)
    cells = 1
    for column in map(people.column, table):
        key = key * len(column.values) + column.codes
        cells = cells * len(column.values)
    counts = np.zeros(cells, np.int64)
    np.add.at(counts, key, people.weights)
    return counts


def _list_codes(
    columns: Sequence[str], sizes: dict[str, int], table: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """Return each cell's value in each column, or ``ANY``."""
    shape = [sizes[column] for column in table]
    codes = np.full((prod(shape), len(columns)), ANY, np.int32)
    grid = np.unravel_index(np.arange(prod(shape)), shape) if shape else ()
    for column, part in zip(table, grid, strict=True):
        codes[:, columns.index(column)] = part
    return codes


def _print_table(
    people: Table,
    columns: tuple[str, ...],
    values: tuple[tuple[str, ...], ...],
    codes: np.ndarray[tuple[int], np.dtype[np.int32]],
    counts: Ints,
    printing: CellPrinting,
) -> FrequencyTable:
    printed = counts if printing.base is None else (2 * counts + printing.base) // (2 * printing.base) * printing.base
    hidden = np.zeros(len(counts), np.bool_)
    if printing.hidden_below is not None:
        hidden = (counts < printing.hidden_below) & ((counts > 0) | (not printing.zeros_shown))
    printed = np.where(hidden, -1, printed)
    lo, hi = printing.numbers(printed, people.n)
    least, most = printing.hidden(people.n)
    lo = np.where(hidden, least, lo)
    hi = np.where(hidden, most, hi)
    schema = people.schema
    sa = tuple(name for name in schema.sa if name in columns)
    header = Header(
        n=people.n,
        complete=True,
        base=printing.base,
        missing=people.missing.mark,
        missing_rule=people.missing.rule if people.missing.mark else None,
        bins=tuple(one for one in people.bins if one.column in columns),
        qi=tuple(name for name in schema.qi if name in columns),
        sa=sa,
        sa_values=people.column(sa[0]).values if len(sa) == 1 else (),
        # Where the sensitive columns are known and none of them is counted over, the table has none.
        no_sa=bool(schema.sa) and not sa,
    )
    taken = {value for known in values for value in known}
    mark = next((mark for mark in ANY_MARKS if mark not in taken), None)
    if mark is None:
        remedy = f"Write one of these values in another way: {' '.join(ANY_MARKS)}"
        raise OptionError("has values that look like every mark of a total", where="the data", remedy=remedy)
    return FrequencyTable(columns, values, codes, lo, hi=hi, printed=printed, header=header, printing=printing, any_mark=mark)
