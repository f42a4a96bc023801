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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.files.bin_edges import join_edges
from tacit.files.crosstabs import Layout, find_layout, is_count, made_up_name
from tacit.files.delimited import Head, csv_cell, header_names, read_grid, read_head
from tacit.files.disk import FilePath, Input, shown
from tacit.files.duckdb import read_parquet_texts, sql_name, text_of, write_by_csv
from tacit.files.frames import COUNT_NAMES, as_frame
from tacit.files.frequency_building import (
    APOSTROPHE,
    Listed,
    TableHeader,
    build_table,
    header_entries,
    read_labels,
    read_table_header,
    with_options,
)
from tacit.files.frequency_cells import (
    Cells,
    assign_roles,
    find_count,
    read_measured,
    read_numbers,
)
from tacit.files.header import (
    Plain,
    write_with_header,
)
from tacit.files.printout import as_percentages
from tacit.files.recognition import (
    CROSSTAB,
    LENGTH_NAMES,
    SHARE_NAMES,
    SURVIVAL,
    CellOptions,
    as_input,
    crosstab_columns,
    has_survival_columns,
    names_count,
    names_percent,
)
from tacit.files.survival import read_survival
from tacit.model.errors import InputError, OptionError, TacitError
from tacit.model.frequencies import FrequencyTable, quantile_of
from tacit.model.release import Decimals
from tacit.model.table import column_names, sensitive_names

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


def read_frequencies(data: Any, *, options: CellOptions | None = None, form: str | None = None) -> FrequencyTable:
    """Read and check a frequency table from a file or frame.

    ``form`` is a name of :mod:`tacit.files.recognition`: in a crosstab the values of the last column stand across the first line. By default
    it is one where no column holds counts, and a survival table where its columns have the names of one.

    Examples
    --------
    >>> table = read_frequencies({"sex": ["F", "M", "All"], "n": ["12", "<5", "15"]})
    >>> table.n, table.count(1), table.tables()
    (15, Bound(lo=0, hi=4), (('sex',), ()))
    """
    said = options or CellOptions()
    if isinstance(data, FrequencyTable):
        return with_options(data, said)
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
    if said.count is not None or names_count(cells.names):
        cells = join_edges(cells, (*said.by, *said.ignore, *known.columns))
    if form == SURVIVAL or (form is None and said.count is None and has_survival_columns(cells.names)):
        return read_survival(cells, known, said)
    crosstab = None if form is None else form == CROSSTAB
    across = bool(said.by) and said.by[-1] not in cells.names and said.count is None
    counts = None if crosstab or (across and crosstab is None) else find_numbers(cells, said)
    if crosstab or (crosstab is None and counts is None):
        return build_table(_read_crosstab(cells, said), known, said)
    if counts is None:
        remedy = f"Name it with --count COLUMN, or call it one of {', '.join(COUNT_NAMES)}; or say --form crosstab"
        raise InputError("no column holds counts", where=f"{cells.where}, line 1", remedy=remedy)
    return build_table(_read_long(cells, counts, known, said), known, said)


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


def _read_long(cells: Cells, numbers: Numbers, known: TableHeader, said: CellOptions) -> Listed:
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
    return Listed(
        cells,
        tuple(cells.names[place] for place in roles.dimensions),
        [read_labels(cells.texts[place], known, said) for place in roles.dimensions],
        as_percentages(cells.texts[counts]) if names_percent(cells.names[counts]) else cells.texts[counts],
        cells.lines,
        any_mark=known.any_mark or "*",
        measured=measured,
        numbers=read_numbers(beside, known.exact, cells.place),
        unread=roles.unread,
        ignored=roles.ignored,
        assumed=(*numbers.assumed, *_definitions(which for which, _ in roles.numbers.values())),
    )


def _definitions(statistics: Iterable[str]) -> Iterator[str]:
    """Yield how statistics with several definitions are read."""
    used = set(statistics)
    if any(quantile_of(one) not in (None, Fraction(1, 2)) for one in used):
        yield "Quantiles are read as pandas, NumPy and R compute them: on the way between two neighbouring values."
    if "std" in used:
        yield "Standard deviations are read as those of samples, divided by n - 1."


def _read_crosstab(cells: Cells, said: CellOptions) -> Listed:
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
    beside = _with_totals([read_labels(texts, TableHeader(), said) for texts in below[:down]])
    across = _with_totals([read_labels([label[level] for label in layout.labels], TableHeader(), said) for level in levels])
    labels = [[label for label in column for _ in layout.labels] for column in beside]
    labels += [column * size for column in across]
    printed = [text for row in zip(*below[down:], strict=True) for text in row]
    letters = np.tile(np.arange(down, down + len(layout.labels), dtype=np.int64), size)
    lines = np.repeat(cells.lines[layout.skip :], len(layout.labels))
    return Listed(cells, columns, labels, printed, lines=lines, across=letters, assumed=assumed)


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
