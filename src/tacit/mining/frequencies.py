"""Frequency tables: counts, suppressed and rounded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Ints
from tacit.model.errors import OptionError
from tacit.model.frequencies import ANY, CellPrinting, FrequencyTable, Numbers, Statistic
from tacit.model.release import Decimals, Header, ValueGroup
from tacit.model.rounding import MOST_BASE
from tacit.model.table import Hierarchy, Table, require_column

MOST_CELLS = 20_000_000  #: Cells of all tables together at most.
ANY_MARKS = ("*", "**", "(any)", "(any value)")  #: Texts that may stand for "any value": the first that is not a value itself.


def tabulate(
    people: Table,
    *,
    tables: Sequence[Sequence[str]],
    total: bool = False,
    hide_below: int | None = None,
    show_zeros: bool = False,
    round_to: int | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    measure: Measure | None = None,
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
    if groups:
        made = replace(made, header=replace(made.header, groups=tuple(groups)))
    if measure is None:
        return made
    axes = [[(single[column], _of(groups, column)) for column in table] for table in chosen]
    own = (measure_column(people, column, chosen, axes, measure=measure, check=check) for column in measure.columns)
    return replace(made, numbers=tuple(numbers.without(made.is_hidden) for numbers in own))


# Numbers beside counts

_DECIMAL = re.compile(r"(\d{1,12})(?:\.(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """Columns whose sums or means stand beside counts, and rules for numbers that one person dominates.

    By the p % rule, the sum less the two largest values must be at least ``p_percent`` of the largest. By the dominance rule ``(n, share)``, the
    n largest values together must be at most this share of the sum.
    """

    sums: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    digits: int = 1
    p_percent: Fraction | None = None
    dominance: tuple[int, Fraction] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are measured."""
        return tuple(dict.fromkeys((*self.sums, *self.means)))

    def is_dominated(self, values: Ints) -> bool:
        """Tell if the numbers of these people must not be published; values in descending order."""
        total = int(values.sum())
        if self.p_percent is not None and len(values) and total - int(values[:2].sum()) < self.p_percent * int(values[0]):
            return True
        return self.dominance is not None and int(values[: self.dominance[0]].sum()) > self.dominance[1] * total


def measure_column(
    people: Table,
    name: str,
    tables: Sequence[Sequence[str]],
    axes: Sequence[Sequence[tuple[tuple[str, ...], list[ValueGroup]]]],
    *,
    measure: Measure,
    check: Callable[[], None],
) -> Numbers:
    """Return sums and means of a column in every cell, without those that one person dominates."""
    values, digits = _read_values(people, name)
    unit = 10**digits
    sums = []
    counts = []
    dominated = []
    for table, own in zip(tables, axes, strict=True):
        check()
        key, cells = _cell_keys(people, table)
        total = np.zeros(cells, np.int64)
        np.add.at(total, key, people.weights * values)
        sums.append(_add_groups(total, own))
        counts.append(_add_groups(_count_cells(people, table, check), own))
        dominated.append(_find_dominated(people, values, key, own, measure))
    total = np.concatenate(sums)
    count = np.concatenate(counts)
    hidden = np.concatenate(dominated)
    printed: dict[Statistic, Decimals] = {}
    if name in measure.sums:
        printed["sum"] = Decimals(total, np.where(hidden, -1, digits).astype(np.int8))
    if name in measure.means:
        scale = 10**measure.digits
        whole = [
            (2 * scale * s + c * unit) // (2 * c * unit) if c else 0 for s, c in zip(total.tolist(), count.tolist(), strict=True)
        ]
        printed["mean"] = Decimals(np.array(whole, np.int64), np.where(hidden | (count == 0), -1, measure.digits).astype(np.int8))
    return Numbers(name, printed, is_exact=True)


def _read_values(people: Table, name: str) -> tuple[Ints, int]:
    """Return everybody's value in units of the last digit, and the number of digits."""
    require_column(name, people.names, where="--sum")
    column = people.column(name)
    read = [_DECIMAL.fullmatch(text.strip()) for text in column.values]
    if any(one is None for one in read):
        remedy = "Name a column of numbers of at least 0, or leave out people without one with --missing-rule drop"
        raise OptionError(f"the column {name} holds something else than plain numbers", where="--sum", remedy=remedy)
    parts = [(one[1], one[2] or "") for one in read if one is not None]
    digits = max((len(decimals) for _, decimals in parts), default=0)
    units = np.array([int(whole + decimals.ljust(digits, "0")) for whole, decimals in parts], np.int64)
    return units[column.codes], digits


def _find_dominated(
    people: Table, values: Ints, key: Ints, axes: Sequence[tuple[tuple[str, ...], list[ValueGroup]]], measure: Measure
) -> npt.NDArray[np.bool_]:
    """Return the cells whose numbers one or a few people dominate."""
    shape = [len(known) for known, _ in axes]
    if measure.p_percent is None and measure.dominance is None:
        return np.zeros(prod(len(known) + len(groups) for known, groups in axes), np.bool_)
    cells: list[list[int]] = [[] for _ in range(prod(shape))]
    for cell, value, times in zip(key.tolist(), values.tolist(), people.weights.tolist(), strict=True):
        cells[cell].extend([value] * times)
    cube = np.empty(len(cells), object)
    cube[:] = cells
    merged = _add_groups(cube, axes)
    return np.array([measure.is_dominated(np.sort(np.array(own, np.int64))[::-1]) for own in merged], np.bool_)


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


def _add_groups(counts: Any, axes: Sequence[tuple[tuple[str, ...], list[ValueGroup]]]) -> Any:
    """Append groups of values to the counts, or lists of people, along every axis."""
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


def _cell_keys(people: Table, table: Sequence[str]) -> tuple[Ints, int]:
    """Return everybody's cell in a table, and the number of cells."""
    key = np.zeros(len(people.weights), np.int64)
    cells = 1
    for column in map(people.column, table):
        key = key * len(column.values) + column.codes
        cells = cells * len(column.values)
    return key, cells


def _count_cells(people: Table, table: Sequence[str], check: Callable[[], None]) -> Ints:
    check()
    key, cells = _cell_keys(people, table)
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
