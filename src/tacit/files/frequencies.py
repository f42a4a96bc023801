"""Frequency tables: a line per cell, or a crosstab.

In the long form every column but that of the counts is a dimension of the table; a value may be a total. A crosstab has the values of its last
column across its first line, as pandas, ACRO and spreadsheets write it; the file does not name that column. Tables are written in the long
form with a header, both or neither.

Texts that a spreadsheet would take for formulas (they begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and are not
numbers) are written with an apostrophe in front, which spreadsheets do not show. One that begins with apostrophes and then with such a sign
gets one more, so that every text is read back as it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.files.cell_shares import are_shares, shares_as_cells
from tacit.files.crosstabs import Layout, find_layout, is_count, made_up_name
from tacit.files.delimited import Head, csv_cell, header_names, read_grid, read_head
from tacit.files.disk import FilePath, Input, shown
from tacit.files.duckdb import read_parquet_texts, sql_name, text_of, write_by_csv
from tacit.files.frames import COUNT_NAMES, as_frame
from tacit.files.frequency_cells import (
    Cells,
    CellText,
    assign_roles,
    check_measured,
    check_numbers,
    check_totals,
    find_count,
    is_total,
    mark_totals,
    people_of,
    read_cell,
    read_cell_by,
    read_measured,
    read_numbers,
)
from tacit.files.header import (
    Entries,
    Plain,
    bins_entry,
    entries_beside,
    groups_entry,
    is_whole,
    made_by_entry,
    read_bins,
    read_made_by,
    read_value_groups,
    write_with_header,
)
from tacit.files.printout import as_percentages
from tacit.files.recognition import (
    LENGTH_NAMES,
    SHARE_NAMES,
    CellOptions,
    as_input,
    crosstab_columns,
    names_count,
    names_percent,
)
from tacit.model.arrays import Ints
from tacit.model.bins import Bins
from tacit.model.errors import Contradiction, InputError, OptionError, TacitError
from tacit.model.frequencies import ANY, UNBOUNDED, CellPrinting, FrequencyTable, Measured
from tacit.model.frequencies import Numbers as Beside
from tacit.model.numbers import ROUNDINGS, Bound, Rounding
from tacit.model.release import Decimals, Header, MadeBy, ValueGroup
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
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?\s*%?")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def is_formula(text: str) -> bool:
    """Tell if a text is formula-like, or already guarded.

    >>> is_formula("=1+1"), is_formula("-1"), is_formula("-5 to -1"), is_formula("'@x"), is_formula("x=y")
    (True, False, True, True, False)
    """
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def guard(text: str) -> str:
    """Return the text as it is written."""
    return f"'{text}" if is_formula(text) else text


def unguard(text: str) -> str:
    """Return the text that was written so."""
    return text[1:] if _GUARDED.match(text) else text


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


def read_frequencies(data: Any, *, options: CellOptions | None = None, crosstab: bool | None = None) -> FrequencyTable:
    """Read and check a frequency table from a file or frame.

    ``crosstab`` says that the values of the last column stand across the first line; by default it is one where no column holds counts.

    Examples
    --------
    >>> table = read_frequencies({"sex": ["F", "M", "All"], "n": ["12", "<5", "15"]})
    >>> table.n, table.count(1), table.tables()
    (15, Bound(lo=0, hi=4), (('sex',), ()))
    """
    said = options or CellOptions()
    if isinstance(data, FrequencyTable):
        return _with_options(data, said)
    if isinstance(data, str | os.PathLike):
        file = as_input(data)
        known = read_table_header(file)
        cells = file_cells(file)
        if known.guarded:
            texts = [list(map(unguard, column)) for column in cells.texts]
            cells = replace(cells, names=list(map(unguard, cells.names)), texts=texts)
    else:
        known = TableHeader()
        cells = frame_cells(data)
        said = said if said.by else replace(said, by=crosstab_columns(data))
    across = bool(said.by) and said.by[-1] not in cells.names and said.count is None
    counts = None if crosstab or (across and crosstab is None) else find_numbers(cells, said)
    if crosstab or (crosstab is None and counts is None):
        return _build(_read_crosstab(cells, said), known, said)
    if counts is None:
        remedy = f"Name it with --count COLUMN, or call it one of {', '.join(COUNT_NAMES)}; or say --form crosstab"
        raise InputError("no column holds counts", where=f"{cells.where}, line 1", remedy=remedy)
    return _build(_read_long(cells, counts, known, said), known, said)


class Numbers(NamedTuple):
    """Column of counts or shares, and what was inferred about it."""

    place: int
    assumed: tuple[str, ...] = ()


def find_numbers(cells: Cells, said: CellOptions) -> Numbers | None:
    """Return the column that holds counts, else the one that holds shares, or None."""
    found = find_count(cells, said.by, said.count, said.ignore)
    if found is not None:
        return Numbers(found)
    if len(cells.names) < 2:
        return None
    last = len(cells.names) - 1
    name = cells.names[last]
    if name in said.by or name in said.ignore:
        return None
    others = cells.names[:last]
    if name.casefold() in LENGTH_NAMES and all(map(is_count, cells.texts[last])) and not any(map(str.isdecimal, others)):
        return Numbers(last, (f"The column {name!r} is read as the number of people in each line.",))
    called = [place for place, name in enumerate(cells.names) if name.casefold() in SHARE_NAMES or names_percent(name)]
    if len(called) != 1 or cells.names[called[0]] in (*said.by, *said.ignore):
        return None
    return Numbers(called[0])


def is_table_of_counts(file: Input) -> bool:
    """Tell if a file that names no column of counts is a frequency table by its form."""
    try:
        cells = file_cells(file)
    except TacitError:
        return False
    numbers = find_numbers(cells, CellOptions())
    if numbers is None:
        return find_layout(cells) is not None
    others = [texts for place, texts in enumerate(cells.texts) if place != numbers.place]
    return len(set(zip(*others, strict=True))) == len(cells.lines)  # people repeat, and cells do not


# Files and frames


def file_cells(file: Input) -> Cells:
    """Return the texts of a delimited or Parquet file."""
    head = read_head(file)
    source = file.source
    if head.columns:
        names = list(head.columns)
        texts = read_parquet_texts(file, [text_of(name, head.columns[name]) for name in names])
        return Cells(source.name, names, texts, np.arange(1, len(texts[0]) + 1, dtype=np.int64), source)
    grid = read_grid(file, _delimiter(head))
    return Cells(grid.where, grid.names, [[cell.strip() for cell in column] for column in grid.cells], grid.lines, source)


def _delimiter(head: Head) -> str:
    return head.delimiter(names_count) or head.delimiter(lambda names: len(names) > 1) or ","


def frame_cells(data: Any) -> Cells:
    """Return the texts of a frame."""
    if type(data).__module__.split(".")[0] == "pandas" and any(name is not None for name in data.index.names):
        data = data.reset_index()  # the rows of a crosstab are its index
    frame = as_frame(data, where="the table")
    if frame is None:
        remedy = "Give the path of a table, a frame or a dict of columns"
        raise OptionError("is neither a path nor a frame", where="data", remedy=remedy)
    texts = []
    for name in frame.names:
        column = frame.column(name, where="the table")
        texts.append([column.values[code] for code in column.codes.tolist()])
    size = len(texts[0]) if texts else 0
    return Cells("the table", list(frame.names), texts, np.arange(2, size + 2, dtype=np.int64))


# The two forms


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
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


def _read_long(cells: Cells, numbers: Numbers, known: TableHeader, said: CellOptions) -> _Listed:
    counts = numbers.place
    _check_once(cells, cells.names)
    for names, where in ((known.columns, f"{known.where}, key 'columns'"), (said.by, "--by")):
        if missing := [name for name in names if name not in cells.names]:
            what = f"names {len(missing)} columns that {cells.where} does not have"
            raise InputError(what, where=where, remedy="Write the names as in the first line of the file")
    roles = assign_roles(cells, counts, said.by or known.columns, said.ignore, said.n or known.n)
    _check_named(cells, [*(cells.names[place] for place in roles.dimensions), *roles.unread])
    measured = None
    if roles.statistics:
        texts = {which: cells.texts[place] for place, which in roles.statistics.items()}
        measured = read_measured(texts, known.span, known.digits, cells.place, cells.where)
    beside = {which: cells.texts[place] for place, which in roles.numbers.items()}
    return _Listed(
        cells,
        tuple(cells.names[place] for place in roles.dimensions),
        [_read_labels(cells.texts[place], known, said) for place in roles.dimensions],
        as_percentages(cells.texts[counts]) if names_percent(cells.names[counts]) else cells.texts[counts],
        cells.lines,
        any_mark=known.any_mark or "*",
        measured=measured,
        numbers=read_numbers(beside, known.exact, cells.place),
        unread=roles.unread,
        ignored=roles.ignored,
        assumed=numbers.assumed,
    )


def _read_labels(texts: Sequence[str], known: TableHeader, said: CellOptions) -> list[str | None]:
    marks = {*said.any, known.any_mark}
    by_name = known.any_mark is None
    return [None if text in marks or (by_name and is_total(text) and text not in said.no_total) else text for text in texts]


def _read_crosstab(cells: Cells, said: CellOptions) -> _Listed:
    """Unpivot the columns across from the lines above the numbers."""
    where = f"{cells.where}, line 1"
    layout = find_layout(cells, said.by)
    if layout is None and len(said.by) < 2:
        remedy = "Name the columns of the table, that across last, with --by ROWS,COLUMN; or the column of counts with --count"
        what = "is a crosstab, or has no column of counts; it does not say what its columns are"
        raise InputError(what, where=where, remedy=remedy)
    if layout is None:
        raise InputError(f"has {len(cells.names)} columns, too few for this --by", where=where, remedy="Name fewer columns")
    down = len(layout.rows)
    _check_named(cells, [labels[0] for labels in layout.labels])
    if len(set(layout.labels)) < len(layout.labels):
        raise InputError("two columns have the same name", where=where, remedy="Rename one of them")
    columns, levels, assumed = _name_columns(cells, layout, said)
    size = len(cells.lines) - layout.skip
    below = [texts[layout.skip :] for texts in cells.texts]
    beside = _with_totals([_read_labels(texts, TableHeader(), said) for texts in below[:down]])
    across = _with_totals([_read_labels([label[level] for label in layout.labels], TableHeader(), said) for level in levels])
    labels = [[label for label in column for _ in layout.labels] for column in beside]
    labels += [column * size for column in across]
    printed = [text for row in zip(*below[down:], strict=True) for text in row]
    letters = np.tile(np.arange(down, down + len(layout.labels), dtype=np.int64), size)
    lines = np.repeat(cells.lines[layout.skip :], len(layout.labels))
    return _Listed(cells, columns, labels, printed, lines=lines, across=letters, assumed=assumed)


def _with_totals(columns: list[list[str | None]]) -> list[list[str | None]]:
    """Return labels in which empty ones next to a total are totals, too."""
    rows = [
        [None if not label and any(one is None for one in row) else label for label in row] for row in zip(*columns, strict=True)
    ]
    return [list(column) for column in zip(*rows, strict=True)] if rows else columns


def _name_columns(cells: Cells, layout: Layout, said: CellOptions) -> tuple[tuple[str, ...], list[int], tuple[str, ...]]:
    """Return the names of the columns, the lines of labels that are columns, and what was inferred."""
    where = f"{cells.where}, line 1"
    # Above the columns across, a pivot table may name what its numbers are: that is the same everywhere, and no column.
    constant = [
        level for level, name in enumerate(layout.across) if not name and len({labels[level] for labels in layout.labels}) == 1
    ]
    levels = [level for level in range(len(layout.across)) if len(layout.across) == 1 or level not in constant]
    found = layout.rows + tuple(layout.across[level] for level in levels)
    if said.by:
        if len(said.by) != len(found) or not _fit(found, said.by):
            remedy = "Give --by once for each file, with the names of its first lines and then those of the columns across"
            raise InputError("the first columns are not called as --by says", where=where, remedy=remedy)
        return said.by, levels, ()
    if len(levels) < len(layout.across):
        remedy = f"If they count people, say --by {','.join(found)}"
        raise InputError("is a pivot table whose numbers may be other things than people", where=where, remedy=remedy)
    names = list(found)
    if (role := _role_of_unnamed(names, said)) is not None:
        names = [name if _is_named(name) else role for name in names]
        return (
            tuple(names),
            levels,
            (f"Read as a crosstab of people; the column that the file does not name is taken to be {role!r}.",),
        )
    for place, name in enumerate(names):
        if _is_named(name):
            continue
        down = len(layout.rows)
        labels = cells.texts[place][layout.skip :] if place < down else [one[levels[place - down]] for one in layout.labels]
        names[place] = made_up_name(list(dict.fromkeys(labels)), [*names[:place], *names[place + 1 :]])
    lost = [name for name, known in zip(names, found, strict=True) if not _is_named(known)]
    told = " and ".join(repr(name) for name in lost)
    sentence = f"Read as a crosstab of people by {', '.join(names[:-1])} and {names[-1]}."
    if lost:
        written = ",".join("NAME" if name in lost else name for name in names)
        if said.columns:
            what = "is a crosstab that does not name one of its columns, and the data do"
            raise InputError(what, where=where, remedy=f"Name it as in the data: --by {written}")
        sentence = f"Read as a crosstab of people; the file does not name the column {told} (--by {written} names it)."
    return tuple(names), levels, (sentence,)


def _role_of_unnamed(names: Sequence[str], said: CellOptions) -> str | None:
    """Return the only column with a role for an unnamed column of the table."""
    sensitive, _ = sensitive_names(said.sa, ())
    roles = [role for role in dict.fromkeys((*column_names(said.qi, ()), *sensitive)) if role not in names]
    if len(roles) != 1 or sum(not _is_named(name) for name in names) != 1:
        return None
    return None if get_close_matches(roles[0], filter(_is_named, names), 1) else roles[0]


def _is_named(name: str) -> bool:
    return bool(name) and not name.startswith("Unnamed")


def _fit(names: Sequence[str], by: Sequence[str]) -> bool:
    """Tell if names that are known are those of the caller."""
    pairs = zip(names, by, strict=True)
    return all(not _is_named(name) or name.casefold() == wanted.casefold() for name, wanted in pairs)


def fits_columns(path: FilePath, by: Sequence[str]) -> bool:
    """Tell if a file is a frequency table of these columns."""
    try:
        file = as_input(path)
        head = read_head(file)
        names = list(head.columns) or header_names(head.lines[0] if head.lines else "", _delimiter(head))
        if set(by) <= set(names):
            return True
        if len(by) < 2 or by[-1] in names:
            return False
        cells = file_cells(file)
        layout = find_layout(cells, by)
        if layout is not None:
            _name_columns(cells, layout, CellOptions(by=tuple(by)))
    except TacitError:
        return False
    return layout is not None


def _check_named(cells: Cells, names: Sequence[str]) -> None:
    if not all(names):
        where = f"{cells.where}, line 1"
        raise InputError("a column has no name", where=where, remedy="Name every column (pandas: to_csv(index=False))")


def _check_once(cells: Cells, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise InputError("two columns have the same name", where=f"{cells.where}, line 1", remedy="Rename one of them")


# From texts to bounds


def _build(listed: _Listed, known: TableHeader, said: CellOptions) -> FrequencyTable:
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


def _with_options(table: FrequencyTable, said: CellOptions) -> FrequencyTable:
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


#: The column that holds the counts.
COUNT = "count"
_BATCH = 50_000


def write_frequencies(table: FrequencyTable, path: FilePath) -> None:
    """Write a frequency table and header atomically.

    The ending is ``.csv``, ``.csv.gz`` or ``.parquet``; hidden cells are empty.
    """
    if COUNT in table.columns:
        remedy = f"Rename the column {COUNT!r} of the data"
        raise OptionError("a column has the name that the counts have", where=shown(path), remedy=remedy)
    texts = [*table.columns, *(value for values in table.values for value in values), table.any_mark]
    guarded = not os.fspath(path).casefold().endswith(".parquet") and any(map(is_formula, texts))
    entries = header_entries(table) | ({"formulas": APOSTROPHE} if guarded else {})
    write_with_header(path, entries, lambda: _lines(table, guarded=guarded), lambda to, plain: _parquet(table, to, plain))


def _parquet(table: FrequencyTable, path: Path, plain: Plain) -> None:
    columns = [f"c{place}" for place in range(len(table.columns))]
    chosen = [f"{column} AS {sql_name(name)}" for column, name in zip(columns, table.columns, strict=True)]
    chosen.append(f"CAST({COUNT} AS BIGINT) AS {COUNT}")
    statistics = {f"s{place}": name for place, (name, _) in enumerate(_statistics(table))}
    chosen += [f"{column} AS {sql_name(name)}" for column, name in statistics.items()]
    write_by_csv(path, plain, [*columns, COUNT, *statistics], [*columns, *statistics], ", ".join(chosen))


def _lines(table: FrequencyTable, *, guarded: bool) -> Iterator[str]:

    def cell(text: str) -> str:
        return csv_cell(guard(text) if guarded else text)

    width = len(table.columns)
    beside = _statistics(table)
    yield ",".join([*map(cell, table.columns), COUNT, *(csv_cell(name) for name, _ in beside)]) + "\n"
    # The code of "any value" is -1: the last text.
    texts = [[*map(cell, values), cell(table.any_mark)] for values in table.values]
    codes = table.codes.reshape(len(table), width)
    hidden = table.printed < 0
    for first in range(0, len(table), _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [[known[code] for code in codes[rows, place].tolist()] for place, known in enumerate(texts)]
        numbers = np.where(hidden[rows], "", table.printed[rows].astype(str)).tolist()
        printed = [[decimals.text(index) for index in range(len(table))[rows]] for _, decimals in beside]
        yield "\n".join(map(",".join, zip(*cells, numbers, *printed, strict=True))) + "\n"


def _statistics(table: FrequencyTable) -> list[tuple[str, Decimals]]:
    measured = table.measured
    beside = [(f"{name}_{one.column}", own) for one in table.numbers for name, own in one.printed.items()]
    if measured is None:
        return beside
    return [*beside, (f"mean_{measured.column}", measured.means), (f"median_{measured.column}", measured.medians)]
