"""Totals of a frequency table, and their consistency.

A total that is taken for a value hides the plainest inference there is: a hidden cell is the total less the other parts. So totals are found
by their names and by arithmetic, and ranges that overlap are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError, numbered
from tacit.model.arrays import Ints
from tacit.model.frequencies import ANY, FrequencyTable


def check_totals(table: FrequencyTable, where: str) -> FrequencyTable:
    """Return the table; raise on repeated cells or impossible totals."""
    tables = list(_list_tables(table))
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
    """Return the total number of people of the table.

    Its grand total, or a table without gaps that adds up; None where none does.
    """
    if not table.printing.is_exact:
        return None
    tables = list(_list_tables(table))
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
    """Cells that fix the same columns."""

    columns: frozenset[int]
    rows: Ints


def _list_tables(table: FrequencyTable) -> Iterator[_Part]:
    """Yield the tables of a release, the total first."""
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


def _keys(table: FrequencyTable, rows: Ints, columns: frozenset[int]) -> Ints:
    """One number per combination of these columns."""
    codes = _codes(table)[rows]
    key = np.zeros(len(rows), np.int64)
    largest = 1
    for place in sorted(columns):
        if largest * len(table.values[place]) >= 1 << 62:
            return _slow_keys(codes[:, sorted(columns)])
        key = key * len(table.values[place]) + codes[:, place]
        largest = largest * len(table.values[place])
    return key


def _slow_keys(codes: npt.NDArray[np.int32]) -> Ints:
    """Return a hash of each row, if products overflow."""
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
    """Raise if disjoint cells exceed the number of people."""
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
    """Raise if a total contradicts the sum of its parts."""
    totals = _keys(table, smaller.rows, smaller.columns)
    parts = _keys(table, larger.rows, smaller.columns)
    order = np.argsort(totals, kind="stable")
    place = np.minimum(np.searchsorted(totals[order], parts), len(order) - 1)
    owner = order[place]
    found = totals[owner] == parts
    owner = owner[found]
    rows = larger.rows[found]
    size = len(smaller.rows)
    lo = np.zeros(size, np.int64)
    hi = np.zeros(size, np.int64)
    number = np.zeros(size, np.int64)
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


def _refuse(table: FrequencyTable, total: int, parts: Ints, what: str, where: str) -> Any:
    lines = sorted({table.line(total), *(table.line(int(row)) for row in parts.tolist())})
    remedy = "Correct the lines, or say how cells were printed (--hidden-below, --base)"
    if "above" in what:
        remedy += ", or that values are left out (--incomplete)"
    raise Contradiction(
        f"the total of line {table.line(total)} {what}", where=f"{where}, {numbered(lines)}", remedy=remedy, lines=lines
    )


Labels = list[list[str | None]]

#: What totals are called in tables of several languages, whatever the case; numbers must agree.
_NAMES = frozenset(
    (
        *("any", "either", "both", "everyone", "everybody", "overall", "whole", "altogether", "combined", "insgesamt", "gesamt"),
        *("gesamtergebnis", "summe", "alle", "zusammen", "ensemble", "tous", "toutes", "somme", "totale", "totali", "tutti"),
        *("tutte", "complessivo", "todos", "todas", "ambos", "ambas", "suma", "soma", "totaal", "alles", "samtlige", "totalt"),
        *("yhteensä", "razem", "ogółem", "celkem", "spolu", "összesen", "skupaj", "ukupno", "toplam", "σύνολο", "всего", "итого"),
        *("разом", "合计", "总计", "總計", "合計", "総数", "計", "계", "합계", "tổng"),
    )
)
_WORDS = re.compile(
    r"(?:all|both|total|totals|toutes?|tous|todos|todas|alle|ambos|tutti|tutte)\b.*|.*\b(?:total|totals|combined|gesamt|insgesamt)"
)
_NOT_TOTALS = re.compile(r"all\s+others?\b.*")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_RANGE = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(?:-|–|—|to)\s*(\d{1,9}(?:\.\d{1,6})?)")
_FROM = re.compile(r"(?:>=?|≥)\s*(\d{1,9})|(\d{1,9})\s*(?:\+|and over|and older|or more)")
_UP_TO = re.compile(r"(?:<=?|≤|under|below|up to)\s*(\d{1,9})")


def sounds_like_total(label: str) -> bool:
    """Tell if a label looks like a total.

    >>> [sounds_like_total(label) for label in ("Both", "Total persons", "All sexes", "Insgesamt", "All others", "Alloy")]
    [True, True, True, True, False, False]
    """
    told = " ".join(label.casefold().split())
    return told in _NAMES or (_WORDS.fullmatch(told) is not None and _NOT_TOTALS.fullmatch(told) is None)


def mark_totals(
    columns: Sequence[str],
    labels: Labels,
    ends: tuple[Ints, Ints],
    place: Callable[[int, str], str],
    *,
    n: int | None,
    values: Iterable[str],
    declared: bool,
) -> Labels:
    """Return the labels, totals replaced by None.

    Ambiguous values are refused. ``values`` are labels declared not to be totals; if ``declared``, a header names the mark of totals, and
    other labels are doubted only if both name and numbers suggest a total.
    """
    out = list(labels)
    known = set(values)
    for number, column in enumerate(columns):

        def refuse(label: str, at: int = number, name: str = column) -> None:
            what = "the value may be the total of the others"
            remedy = "Say --any VALUE if it is, --no-total VALUE if it is not"
            raise InputError(what, where=place(out[at].index(label), name), remedy=remedy)

        named = {label for label in out[number] if label is not None and sounds_like_total(label)} - known
        possible = _possible_totals(out, number, ends, n) if named else {}
        for label in sorted(named):
            if (declared and label in possible) or (not declared and label not in possible):
                refuse(label)
        if declared:
            continue
        if named:
            out[number] = [None if label in named else label for label in out[number]]
        # One other value is not enough to doubt: two values of equal counts are common.
        for label, others in _possible_totals(out, number, ends, n).items():
            if others > 1 and label not in known:
                refuse(label)
        _check_ranges(out[number], column, known, place)
    return out


def _possible_totals(labels: Labels, number: int, ends: tuple[Ints, Ints], n: int | None) -> dict[str, int]:
    """Return possible totals, and the most values in one."""
    lo, hi = (one.tolist() for one in ends)
    groups: dict[tuple[str | None, ...], list[int]] = {}
    others = [column for place, column in enumerate(labels) if place != number]
    for row, key in enumerate(zip(*others, strict=True) if others else [()] * len(labels[number])):
        groups.setdefault(key, []).append(row)
    evidence: dict[str, int] = {}
    refuted: set[str] = set()
    for key, rows in groups.items():
        parts = [row for row in rows if labels[number][row] is not None]
        whole = [(lo[row], hi[row]) for row in rows if labels[number][row] is None]
        if n is not None and all(label is None for label in key):
            whole.append((n, n))
        least = sum(lo[row] for row in parts)
        most = sum(hi[row] for row in parts)
        for row in parts:
            label = labels[number][row]
            assert label is not None
            is_sum = lo[row] <= most - hi[row] and hi[row] >= least - lo[row]
            if len(parts) > 1 and not (is_sum and all(low <= hi[row] and lo[row] <= high for low, high in whole)):
                refuted.add(label)
            elif len(parts) > 1 and lo[row] > 0:
                evidence[label] = max(evidence.get(label, 0), len(parts) - 1)
    return {label: most for label, most in evidence.items() if label not in refuted}


# Ranges


def _check_ranges(labels: Sequence[str | None], column: str, known: set[str], place: Callable[[int, str], str]) -> None:
    """Refuse numeric ranges of one column that overlap."""
    told = sorted({label for label in labels if label is not None} - known)
    spans = {label: span for label in told if (span := _span(label)) is not None}
    if len(spans) < len(told) or not any(low < high for low, high in spans.values()):
        return
    reached = -inf
    single = False
    for label in sorted(spans, key=lambda one: spans[one]):
        low, high = spans[label]
        # Ranges such as 0-5 and 5-10 share an end in many tables; a single number inside a range does not.
        if low < reached or (low == reached and (single or low == high)):
            what = "the ranges of the column overlap, so that its values do not exclude each other"
            remedy = "Put ranges that overlap into files with columns of their own, and audit these together; or say --any VALUE for a total"
            raise InputError(what, where=place(list(labels).index(label), column), remedy=remedy)
        reached = max(reached, high)
        single = low == high


def _span(label: str) -> tuple[float, float] | None:
    """Return the ends of a number or range, or None."""
    told = label.strip().casefold()
    if _NUMBER.fullmatch(told):
        return float(told), float(told)
    if found := _RANGE.fullmatch(told):
        low = float(found[1])
        high = float(found[2])
        return (low, high) if low < high else None
    if found := _FROM.fullmatch(told):
        return float(found[1] or found[2]), inf
    if found := _UP_TO.fullmatch(told):
        return -inf, float(found[1])
    return None
