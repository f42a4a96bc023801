"""Header of a frequency table, and column roles.

A column that is neither is never taken as a dimension: (F, clerk, 2.2) and (*, clerk, 17.6) would no longer be a part and its total.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from tacit.errors import InputError, OptionError
from tacit.files.disk import Input
from tacit.files.frequency_cells import HIDDEN_MARKS, is_total, read_cell, statistic_of
from tacit.files.header import Entries, entries_beside, format_beside, is_whole
from tacit.model.convention import CONVENTIONS, Convention, find_convention
from tacit.model.frequencies import CellPrinting, FrequencyTable
from tacit.model.numbers import ROUNDINGS, Bound, Rounding
from tacit.model.table import MISSING_RULES

FORMAT = "tacit.frequencies/1"
#: The keys of the header.
KEYS = frozenset(
    {
        *("format", "n", "columns", "qi", "sa", "sa_values", "complete", "hidden_below", "zeros_shown", "rounding", "any"),
        *("missing", "missing_rule", "convention", "span", "digits", "made_by", "formulas"),
    }
)
#: What the key ``formulas`` says where texts that look like formulas are written with an apostrophe before them.
APOSTROPHE = "apostrophe"
#: Values of a numeric column whose means and medians are printed, at most.
MOST_VALUES = 1_000
#: Largest number of people.
_MOST = 2**49 - 1


@dataclass(frozen=True, slots=True)
class TableHeader:
    """Entries of the header."""

    n: int | None = None
    columns: tuple[str, ...] = ()
    complete: bool | None = None
    printing: CellPrinting = field(default_factory=CellPrinting)
    any_mark: str | None = None
    missing: str | None = None
    missing_rule: str | None = None
    span: Bound | None = None
    digits: int | None = None
    qi: tuple[str, ...] = ()
    sa: tuple[str, ...] | None = None
    sa_values: tuple[str, ...] = ()
    where: str = ""
    guarded: bool = False


def is_described(file: Input) -> bool:
    """Tell if a header declares a frequency table."""
    return format_beside(file) == FORMAT


def read_table_header(file: Input) -> TableHeader:
    """Return the header of a file."""
    entries = entries_beside(file, (FORMAT,), KEYS)
    if entries is None:
        return TableHeader()
    where = file.beside.name
    get = Entries(entries, where)
    base, rounding = _rounding(get)
    printing = CellPrinting(
        hidden_below=get.whole("hidden_below", least=1, most=_MOST),
        zeros_shown=get.flag("zeros_shown") is True,
        base=base,
        rounding=rounding,
        convention=_convention(get),
    )
    return TableHeader(
        n=get.whole("n", most=_MOST),
        columns=get.names("columns"),
        complete=get.flag("complete"),
        printing=printing,
        any_mark=get.text("any"),
        missing=get.text("missing"),
        missing_rule=get.choice("missing_rule", MISSING_RULES),
        span=_span(get),
        digits=get.whole("digits"),
        qi=get.names("qi"),
        sa=None if entries.get("sa") is None else get.names("sa"),
        sa_values=get.names("sa_values"),
        where=where,
        guarded=get.choice("formulas", (APOSTROPHE,)) is not None,
    )


def header_entries(table: FrequencyTable) -> dict[str, Any]:
    """Return the entries of a table's JSON header."""
    printing = table.printing
    header = table.header
    rounding: dict[str, Any] | None = None
    if printing.base is not None:
        rounding = {"base": printing.base} | ({} if printing.rounding == "nearest" else {"mode": printing.rounding})
    out: dict[str, Any] = {
        "format": FORMAT,
        "n": header.n,
        "columns": list(table.columns),
        "qi": list(header.qi),
        "sa": list(header.sa) if header.has_roles else None,
        "sa_values": list(header.sa_values),
        "complete": header.complete,
        "hidden_below": printing.hidden_below,
        "zeros_shown": printing.zeros_shown,
        "rounding": rounding,
        "any": table.any_mark,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
    }
    if printing.convention is not None:
        out["convention"] = printing.convention.name
    measured = table.measured
    return out if measured is None else out | {"span": measured.span.to_list(), "digits": measured.digits}


def _span(get: Entries) -> Bound | None:
    value = get.entries.get("span")
    if value is None:
        return None
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(is_whole, value))
    if not is_pair or not value[0] <= value[1] < value[0] + MOST_VALUES:
        raise get.wrong("span", f"must be a list of the smallest and the largest value, at most {MOST_VALUES:,} apart")
    return Bound(value[0], value[1])


def _convention(get: Entries) -> Convention | None:
    name = get.choice("convention", [one.name for one in CONVENTIONS])
    return None if name is None else find_convention(name)


def _rounding(get: Entries) -> tuple[int | None, Rounding]:
    value = get.entries.get("rounding")
    if value is None:
        return None, "nearest"
    mode = value.get("mode", "nearest") if isinstance(value, dict) else None
    if not isinstance(value, dict) or mode not in ROUNDINGS:
        raise get.wrong("rounding", f"must be an object with a base, and a mode among {', '.join(ROUNDINGS)}")
    base = value.get("base")
    if base is not None and not (is_whole(base, least=2) and base < _MOST):
        raise get.wrong("rounding", "must be a whole number of at least 2")
    return base, mode


#: What programs call the column of the counts, whatever the case.
COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "people")
#: Words in the names of columns that say more about a cell instead of dividing people, where they may hold text.
_NOTES = frozenset({"note", "notes", "comment", "comments", "remark", "remarks", "footnote", "footnotes", "flag", "flags"})
_DECIMAL = re.compile(r"[-+]?(?:\d{1,18}(?:[.,]\d{1,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?\s*%?")


class Texts(Protocol):
    """Texts of a file or frame, column by column."""

    @property
    def where(self) -> str:
        """Name of the file in messages."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def texts(self) -> list[list[str]]:
        """Texts of each column."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of a file's columns, by position."""

    count: int
    dimensions: tuple[int, ...]
    statistics: dict[int, tuple[str, str]]
    unread: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def find_count(cells: Texts, by: Sequence[str], wanted: str | None, ignore: Sequence[str]) -> int | None:
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


def assign_roles(cells: Texts, count: int, by: Sequence[str], ignore: Sequence[str], n: int | None) -> Roles:
    """Return the role of each column.

    ``by`` names the dimensions where the caller or a header does. A column that is neither is refused otherwise.
    """
    statistics = {
        place: found
        for place, name in enumerate(cells.names)
        if place != count and name not in by and (found := statistic_of(name, cells.names)) is not None
    }
    free = [place for place in range(len(cells.names)) if place != count and place not in statistics]
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
        several = len(left) > 1
        what = f"the column{'s' * several} {_join_names(names)} {'are' if several else 'is'} neither a dimension of the table nor its count"
        told = ",".join(cells.names[place] for place in dimensions)
        remedy = (
            f"Name the dimensions with --by, such as --by {told} (the audit is then incomplete, since the rest is not read); or say "
            f"--ignore {names[0]} if the column says nothing about people"
        )
        raise InputError(what, where=f"{cells.where}, line 1", remedy=remedy)
    return Roles(count, tuple(dimensions), statistics, names, ignored)


def _join_names(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _divide(cells: Texts, free: list[int]) -> tuple[list[int], list[int]]:
    """Return the columns that distinguish cells, and the needless ones."""
    doubtful = [place for place in free if _may_be_beside(cells.names[place], cells.texts[place])]
    dimensions = [place for place in free if place not in doubtful]
    if not _varies(cells, dimensions) and doubtful:
        # Nothing else divides people: the first column does.
        dimensions.append(doubtful.pop(0))
    while doubtful and not _tell_apart(cells, dimensions):
        dimensions.append(doubtful.pop(0))
    constant = [place for place in doubtful if len(set(cells.texts[place])) == 1]
    return sorted(dimensions + constant), [place for place in doubtful if place not in constant]


def _may_be_beside(name: str, texts: Sequence[str]) -> bool:
    """Tell if a column may describe cells only."""
    words = re.split(r"[\W_]+", name.casefold())
    if not _NOTES.isdisjoint(words):
        return True
    told = [text.strip() for text in texts if text.strip().casefold() not in HIDDEN_MARKS and not is_total(text)]
    if not told:
        return True
    numbers = sum(bool(_DECIMAL.fullmatch(text)) for text in told)
    return numbers == len(told) or any(not text.strip() for text in texts)


def _varies(cells: Texts, places: Sequence[int]) -> bool:
    return any(len(set(cells.texts[place])) > 1 for place in places)


def _tell_apart(cells: Texts, places: Sequence[int]) -> bool:
    """Tell if these columns distinguish all lines."""
    rows = list(zip(*(cells.texts[place] for place in places), strict=True))
    return bool(rows) and len(set(rows)) == len(rows)


# Columns that follow from the counts


def _is_derived(cells: Texts, place: int, count: int, n: int | None) -> bool:
    """Tell if a column follows from lines or counts."""
    values = [_value(text) for text in cells.texts[place]]
    if all(value is None for value in values):
        return all(text.strip().casefold() in HIDDEN_MARKS for text in cells.texts[place])
    if values in ([*range(len(values))], [*range(1, len(values) + 1)]):
        return True
    counts = [None if (cell := read_cell(text)) is None else cell.number for text in cells.texts[count]]
    printed = [(value, number) for value, number in zip(values, counts, strict=True) if value is not None]
    if any(number is None for _, number in printed):
        return False  # it may tell a count that is hidden
    pairs = [(value, number) for value, number in printed if number is not None]
    if all(value == number for value, number in pairs):
        return True
    running = 0
    for value, number in zip(values, counts, strict=True):
        running += number or 0
        if number is None or value != running:
            break
    else:
        return True
    totals = {n, max(number for _, number in pairs), sum(number for _, number in pairs)} - {None, 0}
    step = max(_step(text) for text in cells.texts[place] if _value(text) is not None)
    return any(
        all(abs(value - Fraction(number * scale, total)) <= step for value, number in pairs)
        for total in totals
        if total is not None
        for scale in (1, 100)
    )


def _value(text: str) -> Fraction | None:
    """Return a printed number; None where there is none."""
    told = text.strip().rstrip("%").strip().replace(",", ".")
    return Fraction(told) if _DECIMAL.fullmatch(text.strip()) else None


def _step(text: str) -> Fraction:
    """One unit of the last printed digit."""
    told = text.strip().rstrip("%").strip().replace(",", ".").casefold().partition("e")[0]
    return Fraction(1, 10 ** len(told.partition(".")[2]))
