"""From the printed cells of a frequency table to bounds on their counts, by its header and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tacit.files.cell_shares import are_shares, shares_as_cells
from tacit.files.disk import Input
from tacit.files.frequency_cells import (
    Cells,
    CellText,
    check_measured,
    check_numbers,
    check_totals,
    is_total,
    mark_totals,
    people_of,
    read_cell,
    read_cell_by,
)
from tacit.files.header import (
    Entries,
    bins_entry,
    entries_beside,
    groups_entry,
    is_whole,
    made_by_entry,
    read_bins,
    read_made_by,
    read_value_groups,
)
from tacit.files.recognition import CellOptions
from tacit.model.arrays import Ints
from tacit.model.bins import Bins
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.frequencies import ANY, UNBOUNDED, CellPrinting, FrequencyTable, Measured
from tacit.model.frequencies import Numbers as Beside
from tacit.model.numbers import ROUNDINGS, Bound, Rounding
from tacit.model.release import Header, MadeBy, ValueGroup
from tacit.model.rounding import CONVENTIONS, find_convention
from tacit.model.table import MISSING_RULES, Schema, column_names, sensitive_names

FORMAT = "tacit.frequencies/1"
KEYS = frozenset(
    {
        *("format", "n", "columns", "qi", "sa", "sa_values", "complete", "hidden_below", "zeros_shown", "rounding", "any"),
        *("missing", "missing_rule", "convention", "span", "digits", "made_by", "formulas", "bins", "value_groups", "numbers"),
    }
)
#: What the key ``formulas`` says where texts that look like formulas are written with an apostrophe before them.
APOSTROPHE = "apostrophe"
MOST_VALUES = 1_000  #: Values of a numeric column whose means and medians are printed, at most.
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
    bins: tuple[Bins, ...] = ()
    groups: tuple[ValueGroup, ...] = ()
    made_by: tuple[MadeBy, ...] = ()
    exact: tuple[str, ...] = ()


def read_table_header(file: Input) -> TableHeader:
    """Return the header of a file."""
    get = entries_beside(file, (FORMAT,), KEYS)
    if get is None:
        return TableHeader()
    base, rounding = _rounding(get)
    convention = get.choice("convention", [one.name for one in CONVENTIONS])
    printing = CellPrinting(
        hidden_below=get.whole("hidden_below", least=1, most=_MOST),
        zeros_shown=get.flag("zeros_shown") is True,
        base=base,
        rounding=rounding,
        convention=None if convention is None else find_convention(convention),
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
        sa=None if get.entries.get("sa") is None else get.names("sa"),
        sa_values=get.names("sa_values"),
        where=get.where,
        guarded=get.choice("formulas", (APOSTROPHE,)) is not None,
        bins=read_bins(get),
        groups=_groups(get),
        made_by=read_made_by(get),
        exact=_exact_numbers(get),
    )


def _exact_numbers(get: Entries) -> tuple[str, ...]:
    """Return the columns whose sums, minima and maxima are not rounded."""
    entries = get.entries.get("numbers")
    if entries is None:
        return ()
    if not isinstance(entries, dict) or not all(isinstance(one, dict) and set(one) == {"exact"} for one in entries.values()):
        raise get.wrong("numbers", "must say of each column whether its numbers are exact", 'Write {"income": {"exact": true}}')
    if not all(isinstance(one["exact"], bool) for one in entries.values()):
        raise get.wrong("numbers", "says neither true nor false of a column", 'Write {"income": {"exact": true}}')
    return tuple(column for column, one in entries.items() if one["exact"])


def _groups(get: Entries) -> tuple[ValueGroup, ...]:
    found = read_value_groups(get)
    if any(group.excluded for group in found):
        raise get.wrong("value_groups", "names all values but some, which a table does not", "List the values of each group")
    return found


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
        **bins_entry(header),
    }
    if printing.convention is not None:
        out["convention"] = printing.convention.name
    out |= groups_entry(header) | made_by_entry(header)
    if table.numbers:
        out["numbers"] = {one.column: {"exact": one.is_exact} for one in table.numbers}
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


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Labels and printed texts of the cells of a file."""

    cells: Cells
    columns: tuple[str, ...]
    labels: list[list[str | None]]
    printed: list[str]
    lines: Ints
    across: Ints | None = None
    any_mark: str = "*"
    measured: Measured | None = None
    numbers: tuple[Beside, ...] = ()
    unread: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


def read_labels(texts: Sequence[str], known: TableHeader, said: CellOptions) -> list[str | None]:
    """Return the labels of a column, None for those of totals."""
    marks = {*said.any, known.any_mark}
    by_name = known.any_mark is None
    return [None if text in marks or (by_name and is_total(text) and text not in said.no_total) else text for text in texts]


# From texts to bounds


def build_table(listed: Listed, known: TableHeader, said: CellOptions) -> FrequencyTable:
    """Return the table with bounds on its cells; refuse what cannot be."""

    def place_of(row: int, column: str = "") -> str:
        return f"{listed.cells.where}, line {int(listed.lines[row])}" + (f", column {column!r}" if column else "")

    n = known.n if said.n is None else said.n
    printing = _agree_on_printing(known, said)
    complete = said.complete if said.complete is not None else known.complete
    if complete is None:
        complete = not printing.deletes_records  # a value whose people are all deleted is not listed
    read_text: Callable[[str], CellText | None] = read_cell
    origin = ""
    assumed = listed.assumed
    if are_shares(listed.printed):
        rounding = said.rounding or "nearest"
        shares, n, origin = shares_as_cells(
            listed.printed, listed.labels, n, where=listed.cells.where, place=place_of, rounding=rounding, complete=complete
        )
        assumed = (*assumed, "The numbers are read as shares of all people.")
        read_text = shares.get
    if printing.convention is not None:
        read_text = partial(read_cell_by, printing.convention)
    read: dict[str, CellText] = {}
    for row, text in enumerate(listed.printed):
        if text in read:
            continue
        cell = read_text(text)
        if cell is None:
            remedy = "Write a number, or leave a hidden cell empty (or write *, <5, [REDACTED])"
            what = "the count is neither a number nor a mark of a hidden cell"
            raise InputError(what, where=place_of(row), remedy=remedy)
        read[text] = cell
    marks = tuple(sorted(text for text, cell in read.items() if cell.number is None))
    number = {text: cell.number for text, cell in read.items()} | {mark: -1 - place for place, mark in enumerate(marks)}
    printed = np.array([number[text] for text in listed.printed], np.int64)
    signs = [read[mark] for mark in marks]
    labels = listed.labels
    if listed.measured is None:  # the ranges of a measured column may overlap
        ends = _ends(printing, printed, n, signs)
        no_total = (*said.no_total, *(group.name for group in known.groups))
        labels = mark_totals(listed.columns, labels, ends, place_of, n=n, values=no_total, declared=known.any_mark is not None)
    values = tuple(tuple(sorted({label for label in column if label is not None})) for column in labels)
    codes = np.empty((len(printed), len(listed.columns)), np.int32)
    for place, (known_values, column) in enumerate(zip(values, labels, strict=True)):
        code: dict[str | None, int] = {value: at for at, value in enumerate(known_values)} | {None: ANY}
        codes[:, place] = [code[label] for label in column]
    header = Header(
        complete=complete,
        base=printing.base,
        missing=known.missing,
        missing_rule=known.missing_rule,
        bins=known.bins,
        groups=known.groups,
        made_by=known.made_by,
        unread=listed.unread,
        ignored=listed.ignored,
        n_from=origin,
        assumed=assumed,
    )
    header = _with_roles(header, known, said, dict(zip(listed.columns, values, strict=True)))
    nothing = np.zeros(len(printed), np.int64)
    table = FrequencyTable(
        columns=listed.columns,
        values=values,
        codes=codes.reshape(-1),
        lo=nothing,
        hi=nothing,
        printed=printed,
        header=header,
        printing=printing,
        marks=marks or ("",),
        any_mark=listed.any_mark,
        lines=listed.lines,
        across=listed.across,
        source=listed.cells.source,
        measured=listed.measured,
        numbers=listed.numbers,
    )
    if known.n is not None and said.n is not None and known.n != said.n:
        what = f"is {said.n}, but {known.where} says n = {known.n}"
        raise OptionError(what, where="--n", remedy="Leave --n out, or correct it")
    if n is None:
        n = people_of(table, listed.cells.where)
    bounded = _bound_cells(table, n, signs)
    check_numbers(bounded, listed.cells.where)
    if bounded.measured is not None:
        check_measured(bounded, listed.cells.where)  # ranges of a number overlap, so that parts need not add up
        return bounded
    if bounded.header.groups:
        return bounded  # groups of values hold other labels; the audit holds them together
    return check_totals(bounded, listed.cells.where)


def _agree_on_printing(known: TableHeader, said: CellOptions) -> CellPrinting:
    printing = known.printing
    name = None if printing.convention is None else printing.convention.name
    below = printing.hidden_below if said.hidden_below is None else said.hidden_below
    pairs = (
        ("--convention", name, said.convention),
        ("--hidden-below", printing.hidden_below, said.hidden_below),
        ("--base", printing.base, said.base),
        ("--rounding", printing.rounding if printing.base is not None else None, said.rounding),
    )
    for option, header, given in pairs:
        if header is not None and given is not None and header != given:
            raise OptionError(f"is {given}, but {known.where} says {header}", where=option, remedy="Leave the option out")
    if name is not None or said.convention is not None:
        convention = find_convention(str(name or said.convention))
        return CellPrinting(hidden_below=below or convention.hidden_below, convention=convention)
    return CellPrinting(
        below,
        printing.zeros_shown or said.zeros_shown is True,
        printing.base if said.base is None else said.base,
        printing.rounding if printing.base is not None else said.rounding or "nearest",
    )


def _bound_cells(table: FrequencyTable, n: int | None, marks: Sequence[CellText]) -> FrequencyTable:
    """Return the table with its count intervals; refuse impossible numbers."""
    printing = table.printing
    printed = table.printed
    where = table.source.name if table.source else "the table"

    def refuse(wrong: Any, what: str, remedy: str) -> None:
        if found := np.flatnonzero(wrong).tolist():
            line = table.line(found[0])
            raise Contradiction(what, where=f"{where}, line {line}", remedy=remedy, lines=[line])

    if printing.base is not None:
        odd = (printed >= 0) & (printed % printing.base != 0)
        refuse(odd, f"the count is not a multiple of the base {printing.base}", "Correct it, or give the base with --base")
    if n is not None and printing.is_exact:
        refuse(printed > n, f"the count is above n = {n:,}", "Correct the line, or give the number of people with --n")
    lo, hi = _ends(printing, printed, n, marks)
    hidden = printed < 0
    remedy = "Correct it, or say how cells were printed (--hidden-below, --zeros-shown, --base)"
    what = "the count could not be printed if such cells are hidden or rounded as the header or options say"
    refuse((lo > hi) & ~hidden, what, remedy)
    refuse(lo > hi, "no number of people fits the mark of the hidden cell", remedy)
    hi = np.minimum(hi, UNBOUNDED)
    if printing.deletes_records:
        is_total_line = (table.codes.reshape(len(table), len(table.columns)) == ANY).any(axis=1)
        lo = np.where(is_total_line, np.maximum(printed, 0), lo)
        hi = np.where(is_total_line, UNBOUNDED if n is None else n, hi)
    return replace(table, lo=lo, hi=hi, header=replace(table.header, n=n))


def _ends(printing: CellPrinting, printed: Ints, n: int | None, marks: Sequence[CellText]) -> tuple[Ints, Ints]:
    """Return bounds on each cell by itself."""
    lo, hi = printing.numbers(printed, n)
    if not marks:
        return lo, hi
    least = np.zeros(len(marks), np.int64)
    most = np.zeros(len(marks), np.int64)
    for number, mark in enumerate(marks):
        fewest, largest = printing.hidden(n, None if mark.most is None else mark.most + 1)
        least[number] = fewest if mark.least is None else mark.least
        most[number] = largest
    hidden = printed < 0
    which = np.maximum(-1 - printed, 0)
    return np.where(hidden, least[which], lo), np.where(hidden, most[which], hi)


def with_options(table: FrequencyTable, said: CellOptions) -> FrequencyTable:
    """Return a table in memory with the given n, roles and completeness."""
    if said.are_given or said.rounding is not None:
        remedy = "Leave them out: a table in memory says itself how its cells were printed"
        raise OptionError("options that say how to read a file are given", where="the table", remedy=remedy)
    n = table.n if said.n is None else said.n
    if table.n not in (None, n):
        raise OptionError(f"is {n}, but the table says n = {table.n}", where="--n", remedy="Leave --n out")
    complete = table.header.complete if said.complete is None else said.complete
    header = replace(table.header, n=n, complete=complete)
    known = TableHeader(qi=header.qi, sa=header.sa if header.has_roles else None, where="the table")
    header = _with_roles(header, known, said, dict(zip(table.columns, table.values, strict=True)))
    if header == table.header:
        return table
    most = table.hi if n is None else np.minimum(table.hi, n)
    return replace(table, hi=most, header=header)


def _with_roles(header: Header, known: TableHeader, said: CellOptions, values: Mapping[str, tuple[str, ...]]) -> Header:
    """Return the header with roles from options or itself.

    Names of columns that the table lacks stay: beside other releases, these may have them.
    """
    qi = column_names(said.qi, tuple(values)) or known.qi
    sa, no_sa = sensitive_names(said.sa, tuple(values))
    if not sa and not no_sa and known.sa is not None:
        sa = known.sa
        no_sa = not known.sa
    Schema(qi=qi, sa=sa)  # refuses a column with two roles
    own = [name for name in sa if name in values]
    domain = values[own[0]] if len(own) == len(sa) == 1 else ()
    if known.sa_values and not set(domain) <= set(known.sa_values):
        remedy = "Correct it, or remove the key"
        raise InputError("lacks a value that the table has", where=f"{known.where}, key 'sa_values'", remedy=remedy)
    return replace(header, qi=qi, sa=sa, no_sa=no_sa, sa_values=domain)
