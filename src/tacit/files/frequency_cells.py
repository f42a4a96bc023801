"""Cells of frequency tables: their texts, the roles of their columns, and their totals.

A column with no role is never taken as a dimension: (F, clerk, 2.2) and (*, clerk, 17.6) would no longer be a part and its total.

A total that is taken for a value hides the plainest inference there is: a hidden cell is the total less the other parts. So totals are found
by their names and by arithmetic, and ranges that overlap are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import inf, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.files.frames import COUNT_NAMES
from tacit.model.arrays import Ints
from tacit.model.errors import Contradiction, InputError, OptionError, numbered
from tacit.model.frequencies import ANY, STATISTICS, FrequencyTable, Measured, Numbers, Statistic, numbers_of
from tacit.model.numbers import Bound
from tacit.model.release import Decimals, Source
from tacit.model.rounding import Convention

#: What other programs and offices write into a hidden cell, whatever the case; nothing at all is such a mark, too.
HIDDEN_MARKS = (
    *("", "*", "**", "~", "-", "--", "–", "—", "..", "...", ".", ":", "^", "#", "c", "s", "x", "z", "?"),
    *("nan", "na", "n/a", "null", "none", "[redacted]", "redacted", "suppressed", "hidden"),
)
TOTALS = ("all", "total", "totals", "sum", "grand total", "*")  #: What they call a total, whatever the case.

_COUNT = re.compile(r"\d{1,16}(?:\.0*)?")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[,' \u00a0\u2009\u202f]\d{3}){1,5}")
_BELOW = re.compile(r"(?:<|under|fewer than|less than)\s*(\d{1,15})")
_AT_MOST = re.compile(r"(?:<=|≤|up to)\s*(\d{1,15})")
_COUNT_RANGE = re.compile(r"(\d{1,15})\s*(?:-|–|to)\s*(\d{1,15})")
_NEGATIVE = re.compile(r"-(\d{1,15})(?:\.0*)?")
_AT_LEAST = re.compile(r"(?:>=|≥)\s*(\d{1,15})|(\d{1,15})\s*\+")


class CellText(NamedTuple):
    """Printed number, None where it is hidden, and the ends that a mark gives."""

    number: int | None
    least: int | None = None
    most: int | None = None


def read_cell(text: str) -> CellText | None:
    """Read a cell; None when it is neither a number nor a known mark.

    >>> read_cell("1,234").number, read_cell("<5"), read_cell("1-4")
    (1234, CellText(number=None, least=None, most=4), CellText(number=None, least=1, most=4))
    """
    told = text.strip().casefold()
    if _COUNT.fullmatch(told):
        return CellText(int(told.split(".")[0]))
    if _THOUSANDS.fullmatch(told):
        return CellText(int(re.sub(r"\D", "", told)))
    if told in HIDDEN_MARKS:
        return CellText(None)
    if found := _BELOW.fullmatch(told):
        return CellText(None, most=int(found[1]) - 1) if int(found[1]) else None
    if found := _AT_MOST.fullmatch(told):
        return CellText(None, most=int(found[1]))
    if (found := _COUNT_RANGE.fullmatch(told)) and int(found[1]) <= int(found[2]):
        return CellText(None, int(found[1]), int(found[2]))
    if found := _AT_LEAST.fullmatch(told):
        return CellText(None, least=int(found[1] or found[2]))
    return None


def read_cell_by(convention: Convention, text: str) -> CellText | None:
    """Read a cell under a convention.

    Where it prints zeros, a mark of a small count stands for at least one person.
    """
    if convention.negative and (found := _NEGATIVE.fullmatch(text.strip())):
        text = f"<{found[1]}"
    cell = read_cell(text)
    if cell is None or cell.most is None or cell.least is not None:
        return cell
    return cell._replace(least=convention.least_hidden)


def is_total(text: str) -> bool:
    """Tell if a label stands for any value."""
    return text.strip().casefold() in TOTALS


# Roles of columns

#: Words in the names of columns that say more about a cell instead of dividing people, where they may hold text.
_NOTES = frozenset({"note", "notes", "comment", "comments", "remark", "remarks", "footnote", "footnotes", "flag", "flags"})
_PRINTED_NUMBER = re.compile(r"[-+]?(?:\d{1,18}(?:[.,]\d{1,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?\s*%?")


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Texts by column, with their lines."""

    where: str
    names: list[str]
    texts: list[list[str]]
    lines: Ints
    source: Source | None = None

    def place(self, row: int) -> str:
        """Return file and line of a row for a message."""
        return f"{self.where}, line {int(self.lines[row])}"


class Roles(NamedTuple):
    """Roles of columns: positions of dimensions and statistics, names of the others."""

    dimensions: list[int]
    statistics: dict[int, tuple[str, str]]
    numbers: dict[int, tuple[Statistic, str]]
    unread: tuple[str, ...]
    ignored: tuple[str, ...]


def find_count(cells: Cells, by: Sequence[str], wanted: str | None, ignore: Sequence[str]) -> int | None:
    """Return the position of the count column, or None."""
    if wanted is not None:
        if wanted not in cells.names:
            what = f"is not a column of {cells.where}, which has {len(cells.names)} columns"
            raise OptionError(what, where="--count", remedy="Write its name as in the first line of the file")
        return cells.names.index(wanted)
    if len(cells.names) < 2:
        return None
    free = [place for place, name in enumerate(cells.names) if name not in by and name not in ignore]
    found = [place for called in COUNT_NAMES for place in free if cells.names[place].casefold() == called]
    for other in found[1:]:
        if cells.texts[other] != cells.texts[found[0]]:
            first, second = (cells.names[place] for place in sorted((found[0], other)))
            what = f"the columns {first!r} and {second!r} may both hold the counts"
            raise InputError(what, where=f"{cells.where}, line 1", remedy="Say which with --count COLUMN")
    return found[0] if found else None


def assign_roles(cells: Cells, count: int, by: Sequence[str], ignore: Sequence[str], n: int | None) -> Roles:
    """Return the role of each column.

    ``by`` names the dimensions where the caller or a header does. A column that is neither is refused otherwise.
    """
    statistics = {
        place: found
        for place, name in enumerate(cells.names)
        if place != count and name not in by and (found := statistic_of(name, cells.names)) is not None
    }
    beside = {
        place: found
        for place, name in enumerate(cells.names)
        if place != count and name not in (*by, *ignore) and place not in statistics and (found := number_of(name)) is not None
    }
    free = [place for place in range(len(cells.names)) if place != count and place not in {*statistics, *beside}]
    ignored = tuple(cells.names[place] for place in free if cells.names[place] in ignore)
    free = [place for place in free if cells.names[place] not in ignore]
    if by:
        dimensions = [cells.names.index(name) for name in by]
        left = [place for place in free if place not in dimensions]
    else:
        dimensions, left = _divide(cells, free)
    left = [place for place in left if not _is_derived(cells, place, count, n)]
    names = tuple(cells.names[place] for place in left)
    if left and not by:
        quoted = ", ".join(map(repr, names[:-1]))
        which = f"columns {quoted} and {names[-1]!r} are" if quoted else f"column {names[-1]!r} is"
        what = f"the {which} neither a dimension of the table nor its count"
        told = ",".join(cells.names[place] for place in dimensions)
        remedy = (
            f"Name the dimensions with --by, such as --by {told} (the audit is then incomplete, since the rest is not read); or say "
            f"--ignore {names[0]} if the column says nothing about people"
        )
        raise InputError(what, where=f"{cells.where}, line 1", remedy=remedy)
    return Roles(dimensions, statistics, beside, names, ignored)


def _divide(cells: Cells, free: list[int]) -> tuple[list[int], list[int]]:
    """Return the columns that distinguish cells, and the needless ones."""
    doubtful = [place for place in free if _may_be_beside(cells.names[place], cells.texts[place])]
    dimensions = [place for place in free if place not in doubtful]
    if doubtful and all(len(set(cells.texts[place])) <= 1 for place in dimensions):
        # Nothing else divides people: the first column does.
        dimensions.append(doubtful.pop(0))

    def tell_lines_apart() -> bool:
        rows = list(zip(*(cells.texts[place] for place in dimensions), strict=True))
        return bool(rows) and len(set(rows)) == len(rows)

    while doubtful and not tell_lines_apart():
        dimensions.append(doubtful.pop(0))
    constant = [place for place in doubtful if len(set(cells.texts[place])) == 1]
    return sorted(dimensions + constant), [place for place in doubtful if place not in constant]


def _may_be_beside(name: str, texts: Sequence[str]) -> bool:
    """Tell if a column may describe cells only."""
    if not _NOTES.isdisjoint(re.split(r"[\W_]+", name.casefold())):
        return True
    labels = [text.strip() for text in texts if text.strip().casefold() not in HIDDEN_MARKS and not is_total(text)]
    return all(map(_PRINTED_NUMBER.fullmatch, labels)) or any(not text.strip() for text in texts)


# Columns that follow from the counts


def _is_derived(cells: Cells, place: int, count: int, n: int | None) -> bool:
    """Tell if a column follows from lines or counts."""
    values = [_value(text) for text in cells.texts[place]]
    if all(value is None for value in values):
        return all(text.strip().casefold() in HIDDEN_MARKS for text in cells.texts[place])
    if values in ([*range(len(values))], [*range(1, len(values) + 1)]):
        return True
    counts = [None if (cell := read_cell(text)) is None else cell.number for text in cells.texts[count]]
    pairs: list[tuple[Fraction, int]] = []
    for value, number in zip(values, counts, strict=True):
        if value is not None and number is None:
            return False  # it may tell a count that is hidden
        if value is not None and number is not None:
            pairs.append((value, number))
    if all(value == number for value, number in pairs):
        return True
    if None not in counts and values == [*accumulate(number or 0 for number in counts)]:
        return True
    totals = {n or 0, max(number for _, number in pairs), sum(number for _, number in pairs)} - {0}
    step = max(_step(text) for text in cells.texts[place] if _value(text) is not None)
    return any(
        all(abs(value - Fraction(number * scale, total)) <= step for value, number in pairs)
        for total in totals
        for scale in (1, 100)
    )


def _value(text: str) -> Fraction | None:
    return Fraction(_number_in(text)) if _PRINTED_NUMBER.fullmatch(text.strip()) else None


def _step(text: str) -> Fraction:
    """One unit of the last printed digit."""
    mantissa = _number_in(text).casefold().partition("e")[0]
    return Fraction(1, 10 ** len(mantissa.partition(".")[2]))


def _number_in(text: str) -> str:
    return text.strip().rstrip("%").strip().replace(",", ".")


# Means and medians

_STATISTIC = re.compile(r"(\d{1,12})(?:\.(\d{1,5}))?")


def statistic_of(name: str, columns: Sequence[str]) -> tuple[str, str] | None:
    """Return a column's statistic and measured column, or None.

    >>> statistic_of("mean_age", ["age", "sex"]), statistic_of("Median age", ["age"]), statistic_of("mean", ["age"])
    (('mean', 'age'), ('median', 'age'), None)
    """
    for statistic in ("mean", "median"):
        for column in columns:
            if name.casefold() in (f"{statistic}{sign}{column}".casefold() for sign in "_ "):
                return statistic, column
    return None


_NUMBERS = re.compile(rf"({'|'.join(STATISTICS)})[_ ](.+)", re.IGNORECASE)


def number_of(name: str) -> tuple[Statistic, str] | None:
    """Return the statistic that the name of a column says, and its column.

    >>> number_of("sum_income"), number_of("Max income"), number_of("maximum")
    (('sum', 'income'), ('max', 'income'), None)
    """
    found = _NUMBERS.fullmatch(name.strip())
    if found is None:
        return None
    return next((one, found[2]) for one in STATISTICS if one == found[1].casefold())


def read_numbers(
    printed: Mapping[tuple[Statistic, str], Sequence[str]], exact: Collection[str], place: Callable[[int], str]
) -> tuple[Numbers, ...]:
    """Read the statistics of columns that nobody is counted over."""
    found: dict[str, dict[Statistic, Decimals]] = {}
    for (statistic, column), texts in printed.items():
        found.setdefault(column, {})[statistic] = _decimals(texts, place)
    return tuple(Numbers(column, own, column in exact) for column, own in found.items())


def check_numbers(table: FrequencyTable, where: str) -> None:
    """Raise if no people of a cell have such numbers."""
    for numbers in table.numbers:
        for index in range(len(table)):
            least, most = numbers.total(index, table.count(index))
            smallest = numbers.around("min", index)
            largest = numbers.around("max", index)
            is_crossed = smallest is not None and largest is not None and smallest[0] > largest[1]
            total = numbers.around("sum", index)
            is_beyond = total is not None and largest is not None and total[1] < largest[0]
            if (most is not None and least > most) or is_crossed or is_beyond:
                line = table.line(index)
                remedy = f"Correct it, or say --ignore with the column of {numbers.column!r} if it says nothing about people"
                what = "no people have these numbers: they are taken to be 0 or more"
                raise Contradiction(what, where=f"{where}, line {line}", remedy=remedy, lines=[line])


def read_measured(
    printed: dict[tuple[str, str], list[str]], span: Bound | None, digits: int | None, place: Callable[[int], str], file: str
) -> Measured:
    """Read the means and medians of one column."""
    columns = {column for _, column in printed}
    if len(columns) > 1:
        remedy = "Keep the means and medians of one column, and audit those of the others in a file of their own"
        raise InputError("has means or medians of several columns", where=f"{file}, line 1", remedy=remedy)
    (column,) = columns
    if span is None:
        remedy = f'Write its smallest and largest value into {file}.json: {{"format": "tacit.frequencies/1", "span": [0, 125]}}'
        raise InputError("does not say which values the measured column can have", where=file, remedy=remedy)
    read = {which: _decimals(texts, place) for (which, _), texts in printed.items()}
    nothing = _decimals([""] * max(len(texts) for texts in printed.values()), place)
    means = read.get("mean", nothing)
    medians = read.get("median", nothing)
    if digits is None:
        digits = max(int(means.digits.max(initial=0)), int(medians.digits.max(initial=0)))
    return Measured(column, span, means, medians, digits)


def _decimals(texts: Sequence[str], place: Callable[[int], str]) -> Decimals:
    scaled = np.zeros(len(texts), np.int64)
    digits = np.full(len(texts), -1, np.int8)
    for row, text in enumerate(texts):
        if text.strip().casefold() in HIDDEN_MARKS:
            continue
        found = _STATISTIC.fullmatch(text.strip())
        if found is None:
            remedy = "Write a plain decimal of at least 0, such as 36.7, or leave it empty"
            raise InputError("a mean or median is neither a number nor a mark of a hidden cell", where=place(row), remedy=remedy)
        decimals = found[2] or ""
        scaled[row] = int(found[1] + decimals)
        digits[row] = len(decimals)
    return Decimals(scaled, digits)


def check_measured(table: FrequencyTable, where: str) -> None:
    """Raise if labels are not numbers, or statistics impossible."""
    measured = table.measured
    assert measured is not None
    at = table.columns.index(measured.column)
    codes = table.codes.reshape(len(table), len(table.columns))[:, at]
    wrong = {code for code, label in enumerate(table.values[at]) if numbers_of(label, measured.span) is None}
    for index in range(len(table)):
        line = table.line(index)
        if codes[index] != ANY and int(codes[index]) in wrong:
            remedy = "Write a number or a range such as 0-4, <18 or 64+, or widen the span in the header"
            what = "the label of the measured column is not a number in its span"
            raise InputError(what, where=f"{where}, line {line}", remedy=remedy)
        count = table.count(index)
        if not count.is_exact:
            continue
        has_mean = measured.means.value(index) is not None
        has_median = measured.medians.value(index) is not None
        if (has_mean and measured.total(index, count.lo) is None) or (has_median and measured.middle(index) is None):
            remedy = "Correct it, or say in the header with how many digits such numbers were printed"
            raise Contradiction("no people have this mean or median", where=f"{where}, line {line}", remedy=remedy, lines=[line])


# Totals


def check_totals(table: FrequencyTable, where: str) -> FrequencyTable:
    """Return the table; raise on repeated cells or impossible totals."""
    tables = _list_tables(table)
    for one in tables:
        _check_once(table, one, where)
    for larger in tables:
        for smaller in tables:
            if smaller.columns < larger.columns:
                _check_parts(table, smaller, larger, where)
    n = table.header.n
    for one in tables:
        least = int(table.lo[one.rows].sum())
        if n is not None and least > n:
            lines = numbered(sorted(table.line(int(row)) for row in one.rows.tolist()))
            what = f"the cells hold {least:,} people at least, and n is {n:,}"
            remedy = "Check n; where each line counts a set of items, write the set as a JSON list in a column named itemset"
            raise Contradiction(what, where=f"{where}, {lines}", remedy=remedy)
    return table


def people_of(table: FrequencyTable, where: str) -> int | None:
    """Return the total number of people of the table.

    Its grand total, or a table without gaps that adds up; None where none does.
    """
    if not table.printing.is_exact:
        return None
    for one in _list_tables(table):
        counts = table.printed[one.rows]
        # Ranges of a measured column may overlap, so that its cells need not add up.
        without_gaps = (
            table.measured is None
            and not table.header.groups
            and table.header.complete
            and len(one.rows) == prod(len(table.values[place]) for place in one.columns)
        )
        if (not one.columns or without_gaps) and len(counts) and bool((counts >= 0).all()):
            _check_once(table, one, where)
            return int(counts.sum())
    return None


class _Part(NamedTuple):
    """Cells that fix the same columns."""

    columns: frozenset[int]
    rows: Ints


def _list_tables(table: FrequencyTable) -> list[_Part]:
    """Return the tables of a release, the total first."""
    if not len(table):
        return []
    kinds, which = np.unique(_codes(table) != ANY, axis=0, return_inverse=True)
    order = sorted(range(len(kinds)), key=lambda kind: (int(kinds[kind].sum()), kind))
    return [_Part(frozenset(np.flatnonzero(kinds[kind]).tolist()), np.flatnonzero(which.reshape(-1) == kind)) for kind in order]


def _codes(table: FrequencyTable) -> npt.NDArray[np.int32]:
    return table.codes.reshape(len(table), len(table.columns))


def _keys(table: FrequencyTable, rows: Ints, columns: frozenset[int]) -> Ints:
    """One number per combination of these columns: a hash where their product overflows."""
    chosen = sorted(columns)
    codes = _codes(table)[rows]
    if prod(len(table.values[place]) for place in chosen) >= 1 << 62:
        return np.array([hash(row.tobytes()) for row in codes[:, chosen]], np.int64)
    key = np.zeros(len(rows), np.int64)
    for place in chosen:
        key = key * len(table.values[place]) + codes[:, place]
    return key


def _check_once(table: FrequencyTable, part: _Part, where: str) -> None:
    keys = _keys(table, part.rows, part.columns)
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(twice):
        first, second = (table.line(int(part.rows[order[twice[0] + step]])) for step in (0, 1))
        what = f"the cell is listed twice, first in line {first}"
        raise InputError(what, where=f"{where}, line {second}", remedy="Leave one of them out")


def _check_parts(table: FrequencyTable, smaller: _Part, larger: _Part, where: str) -> None:
    """Raise if a total contradicts the sum of its parts."""
    totals = _keys(table, smaller.rows, smaller.columns)
    parts = _keys(table, larger.rows, smaller.columns)
    order = np.argsort(totals, kind="stable")
    owner = order[np.minimum(np.searchsorted(totals[order], parts), len(order) - 1)]
    found = totals[owner] == parts
    owner = owner[found]
    rows = larger.rows[found]
    size = len(smaller.rows)
    lo = np.zeros(size, np.int64)
    hi = np.zeros(size, np.int64)
    np.add.at(lo, owner, table.lo[rows])
    np.add.at(hi, owner, table.hi[rows])
    number = np.bincount(owner, minlength=size)
    too_many = lo > table.hi[smaller.rows]
    all_parts = number == prod(len(table.values[column]) for column in larger.columns - smaller.columns)
    too_few = all_parts & table.header.complete & (hi < table.lo[smaller.rows])
    wrong = [(too_many, "is below the sum of its parts"), (too_few, "is above the sum of its parts")]
    if table.printing.deletes_records:
        # Whoever is deleted is in no cell and in no total, so that totals are sums of what is shown.
        what = "is not the sum of the cells that are shown, so nobody was deleted from it as the convention says"
        wrong.insert(0, (all_parts & (lo != table.lo[smaller.rows]), what))
    for totals_at_fault, what in wrong:
        for total in np.flatnonzero(totals_at_fault)[:1].tolist():
            line = table.line(int(smaller.rows[total]))
            lines = sorted({line, *(table.line(int(row)) for row in rows[owner == total].tolist())})
            remedy = "Correct the lines, or say how cells were printed (--hidden-below, --base)"
            if "above" in what:
                remedy += ", or that values are left out (--incomplete)"
            place = f"{where}, {numbered(lines)}"
            raise Contradiction(f"the total of line {line} {what}", where=place, remedy=remedy, lines=lines)


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
        named = {label for label in out[number] if label is not None and sounds_like_total(label)} - known
        possible = _possible_totals(out, number, ends, n) if named else {}
        doubted = [label for label in sorted(named) if (label in possible) == declared]
        if not doubted and not declared:
            out[number] = [None if label in named else label for label in out[number]]
            # One other value is not enough to doubt: two values of equal counts are common.
            totals = _possible_totals(out, number, ends, n)
            doubted = [label for label, others in totals.items() if others > 1 and label not in known]
        if doubted:
            what = "the value may be the total of the others"
            remedy = "Say --any VALUE if it is, --no-total VALUE if it is not"
            raise InputError(what, where=place(out[number].index(doubted[0]), column), remedy=remedy)
        if not declared:
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
    told = sorted({label for label in labels if label is not None} - known)
    spans = {label: span for label in told if (span := _span_of_total(label)) is not None}
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


def _span_of_total(label: str) -> tuple[float, float] | None:
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
