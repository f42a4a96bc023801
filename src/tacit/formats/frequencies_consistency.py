"""Whether the totals and the parts of frequency tables can all be true, and how many people they add up to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError, numbered
from tacit.model.frequencies import ANY, FrequencyTable

Rows = npt.NDArray[np.int64]


def check_totals(table: FrequencyTable, where: str) -> FrequencyTable:
    """The table, whose cells stand there once each and add up to totals that are possible; a :class:`Contradiction` names the lines."""
    tables = list(_tables(table))
    for one in tables:
        _check_once(table, one, where)
    for larger in tables:
        for smaller in tables:
            if smaller.columns < larger.columns:
                _check_parts(table, smaller, larger, where)
    for one in tables:
        _check_people(table, one, where)
    return table


def people_of(table: FrequencyTable, where: str) -> int | None:
    """The number of people where the table tells it: its grand total, or a table without gaps that adds up; None where none does."""
    if not table.printing.is_exact:
        return None
    tables = list(_tables(table))
    for one in tables:
        counts = table.printed[one.rows]
        whole = not one.columns
        # Ranges of a measured column may overlap, so that its cells need not add up.
        without_gaps = (
            table.measured is None
            and table.header.complete
            and len(one.rows) == prod(len(table.values[place]) for place in one.columns)
        )
        if (whole or without_gaps) and len(counts) and bool((counts >= 0).all()):
            _check_once(table, one, where)
            return int(counts.sum())
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The cells that fix the same columns."""

    columns: frozenset[int]
    rows: Rows


def _tables(table: FrequencyTable) -> Iterator[_Part]:
    """The tables of a release, that of everybody first."""
    if not len(table):
        return
    fixed = _codes(table) != ANY
    kinds, which = np.unique(fixed, axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = sorted(range(len(kinds)), key=lambda kind: (int(kinds[kind].sum()), kind))
    for kind in order:
        yield _Part(frozenset(np.flatnonzero(kinds[kind]).tolist()), np.flatnonzero(which == kind))


def _codes(table: FrequencyTable) -> npt.NDArray[np.int32]:
    return table.codes.reshape(len(table), len(table.columns))


def _keys(table: FrequencyTable, rows: Rows, columns: frozenset[int]) -> Rows:
    """One number for each combination of values of these columns."""
    codes, key = _codes(table)[rows], np.zeros(len(rows), np.int64)
    largest = 1
    for place in sorted(columns):
        if largest * len(table.values[place]) >= 1 << 62:
            return _slow_keys(codes[:, sorted(columns)])
        key, largest = key * len(table.values[place]) + codes[:, place], largest * len(table.values[place])
    return key


def _slow_keys(codes: npt.NDArray[np.int32]) -> Rows:
    """The same for columns of so many values that no number holds their product: a hash of the row, equal rows equal."""
    return np.array([hash(row.tobytes()) for row in codes], np.int64)


def _check_once(table: FrequencyTable, part: _Part, where: str) -> None:
    keys = _keys(table, part.rows, part.columns)
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(twice):
        first, second = (table.line(int(part.rows[order[twice[0] + step]])) for step in (0, 1))
        what = f"the cell stands twice, first in line {first}"
        raise InputError(what, where=f"{where}, line {second}", remedy="Leave one of them out")


def _check_people(table: FrequencyTable, part: _Part, where: str) -> None:
    """Cells that exclude each other do not hold more people than there are."""
    n = table.header.n
    least = int(table.lo[part.rows].sum())
    # Ranges of a measured column may overlap.
    if n is None or table.measured is not None or least <= n:
        return
    lines = numbered(sorted(table.line(int(row)) for row in part.rows.tolist()))
    what = f"the cells hold {least:,} people at least, and n is {n:,}"
    remedy = "Check n; where each line counts a set of items, write the set as a JSON list in a column named itemset"
    raise Contradiction(what, where=f"{where}, {lines}", remedy=remedy)


def _check_parts(table: FrequencyTable, smaller: _Part, larger: _Part, where: str) -> None:
    """Each total holds at least what its parts do, and where no part is missing at most that."""
    totals, parts = _keys(table, smaller.rows, smaller.columns), _keys(table, larger.rows, smaller.columns)
    order = np.argsort(totals, kind="stable")
    place = np.minimum(np.searchsorted(totals[order], parts), len(order) - 1)
    owner = order[place]
    found = totals[owner] == parts
    owner, rows = owner[found], larger.rows[found]
    size = len(smaller.rows)
    lo, hi, number = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.add.at(lo, owner, table.lo[rows])
    np.add.at(hi, owner, table.hi[rows])
    np.add.at(number, owner, 1)
    too_many = lo > table.hi[smaller.rows]
    all_parts = number == prod(len(table.values[column]) for column in larger.columns - smaller.columns)
    too_few = all_parts & table.header.complete & (hi < table.lo[smaller.rows])
    if table.printing.deletes_records:
        # Whoever is deleted is in no cell and in no total, so that totals are sums of what is shown.
        differs = all_parts & (lo != table.lo[smaller.rows])
        for total in np.flatnonzero(differs).tolist():
            what = "is not the sum of the cells that are shown, so nobody was deleted from it as the convention says"
            _refuse(table, int(smaller.rows[total]), rows[owner == total], what, where)
    for wrong, what in ((too_many, "is below the sum of its parts"), (too_few, "is above the sum of its parts")):
        for total in np.flatnonzero(wrong).tolist():
            _refuse(table, int(smaller.rows[total]), rows[owner == total], what, where)


def _refuse(table: FrequencyTable, total: int, parts: Rows, what: str, where: str) -> Any:
    lines = sorted({table.line(total), *(table.line(int(row)) for row in parts.tolist())})
    remedy = "Correct the lines, or say how cells were printed (--hidden-below, --base)"
    if "above" in what:
        remedy += ", or that values are left out (--incomplete)"
    raise Contradiction(
        f"the total of line {table.line(total)} {what}", where=f"{where}, {numbered(lines)}", remedy=remedy, lines=lines
    )
