"""Delimited text: its separator, its records, its columns, and JSON in its cells.

A record ends at a line end outside quotes. A cell may be quoted with ``"``, blanks may stand around the quotes, and ``""`` inside
them is one quote; a quote in the middle of an unquoted cell is a letter like any other. Blank lines are not records.
The csv module splits records; what it refuses is split again by rules of our own, which either read it or say what is wrong.

JSON cells are parsed in batches joined to one text, which is several times faster than one by one. They are joined with a line break, which no
JSON string may hold, so that a broken cell cannot swallow its neighbour. A batch that does not yield one list or object per cell is read
again cell by cell to find the line at fault.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, islice
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.files.counts import Place
from tacit.files.disk import Input
from tacit.files.duckdb import BLANKS, parquet_columns
from tacit.files.engines import Classes, merge
from tacit.files.plain_cells import CellCoder, PlainBlock
from tacit.files.printout import BATCH, Bags, Numbering, TextColumn
from tacit.model.arrays import Codes, Ints
from tacit.model.errors import InputError
from tacit.model.table import Column

#: Separators in the order in which they are preferred when several would do; the weak ones are used only where no strong one fits as well.
STRONG_DELIMITERS = (",", ";", "\t", "|")
WEAK_DELIMITERS = ("\x01", "^", "~", ":", " ")
#: Separators of release files, whose column names are known.
RELEASE_DELIMITERS = (",", "\t", ";", " ")
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a blank", ":": "a colon"}
#: Characters at the beginning of a file that its form and its separator are guessed from.
HEAD = 1 << 16
_HEAD_RECORDS = 500
#: Characters of a table that are split at a time, and rows that are written at a time.
_BLOCK = 1 << 20
_ROWS = 50_000
_SPECIAL = ',;\t"\r\n'  #: Signs for which a cell is quoted.
_FILLER = b"\xff"  #: Byte that no text has in UTF-8.
#: Rows that are merged at once, at least.
_FEW_ROWS = 1 << 20


# Records


def records(
    lines: Iterable[str], delimiter: str, *, where: str, trim: bool = True, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield each record's first line number and cells.

    Lines are numbered from 1, and keep their ends. ``trim`` says that blanks around cells mean nothing; some are then removed. ``before``
    lines were read already.
    """
    source = lines if isinstance(lines, _Lines) else _Lines(lines, before)
    reader = csv.reader(source, delimiter=delimiter, strict=True, skipinitialspace=trim)
    while True:
        source.taken.clear()
        first = source.number + 1
        try:
            cells = next(reader)
            refused = False
        except StopIteration:
            return
        except csv.Error:
            cells = []
            refused = True
        line = source.taken[0]
        if (len(cells) < 2 or delimiter == " ") and not line.strip(BLANKS) and (delimiter == " " or delimiter not in line):
            continue
        if trim and delimiter != "\t" and '"' in line:  # the csv module skips no tabs before a quote
            refused |= delimiter == " " or any("\t" in taken for taken in source.taken)
        if refused:
            source.rewind()
            cells = _split_record(source, delimiter, where)
        yield first, cells


class _Lines(Iterator[str]):
    """Numbered lines, with those of the current record."""

    def __init__(self, lines: Iterable[str], before: int = 0) -> None:
        self.lines = iter(lines)
        self.number = before
        self.taken: list[str] = []
        self.waiting: list[str] = []

    def __next__(self) -> str:
        line = self.waiting.pop() if self.waiting else next(self.lines)
        self.number += 1
        self.taken.append(line)
        return line

    def rewind(self) -> None:
        self.waiting += reversed(self.taken)
        self.number -= len(self.taken)
        self.taken.clear()


@cache
def _quotes(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for the beginning and for the end of a quoted cell."""
    blank = "".join(sign for sign in " \t" if sign != delimiter)
    return re.compile(f'[{blank}]*"'), re.compile(f"[{blank}]*({re.escape(delimiter)}|\r\n|\r|\n|$)")


def _split_record(lines: _Lines, delimiter: str, where: str) -> list[str]:
    """Return the cells of the next record, which csv does not read."""
    opening, closing = _quotes(delimiter)
    cells: list[str] = []
    line = next(lines)
    at = 0
    while True:
        quote = opening.match(line, at)
        if quote is None:
            end = line.find(delimiter, at)
            if end < 0:
                return [*cells, line[at:].rstrip("\r\n")]
            cells.append(line[at:end])
            at = end + 1
            continue
        text, line, at = _read_quoted(lines, line, quote.end(), where)
        cells.append(text)
        after = closing.match(line, at)
        if after is None:
            remedy = "Double the quotes inside a cell, or remove them"
            place = f"{where}, line {lines.number}"
            raise InputError("a quoted cell goes on after its closing quote", where=place, remedy=remedy)
        if after[1] != delimiter:
            return cells
        at = after.end()


def _read_quoted(lines: _Lines, line: str, at: int, where: str) -> tuple[str, str, int]:
    """Return a quoted cell, its last line and its end."""
    place = f"{where}, line {lines.number}"
    parts: list[str] = []
    while True:
        end = line.find('"', at)
        if end < 0:
            parts.append(line[at:])
            line = next(lines, "")
            at = 0
            if not line:
                remedy = "Close it, or double it inside a quoted cell"
                raise InputError("the quote that opens here is never closed", where=place, remedy=remedy)
        elif line.startswith('"', end + 1):
            parts.append(line[at : end + 1])
            at = end + 2
        else:
            parts.append(line[at:end])
            return "".join(parts), line, end + 1


def _batches(
    found: Iterator[tuple[int, list[str]]], width: int, delimiter: str, where: str
) -> Iterator[tuple[list[int], list[tuple[str, ...]]]]:
    # In batches: keeping a list per record would keep Python's garbage collector busy.
    while batch := list(islice(found, BATCH)):
        for line, cells in batch:
            if len(cells) != width:
                got = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                columns = "1 column" if width == 1 else f"{width} columns"
                separator = _NAMES.get(delimiter, repr(delimiter))
                what = f"has {got} where the header names {columns} (the separator is {separator})"
                remedy = "Quote cells that hold the separator, or complete the line"
                raise InputError(what, where=f"{where}, line {line}", remedy=remedy)
        yield [line for line, _ in batch], list(zip(*(cells for _, cells in batch), strict=True))


# Separators


def sniff_delimiter(head: str, *, complete: bool, prefer: str = "") -> str:
    """Return the separator with the most uniform width.

    It is a comma when there is one column. ``complete`` says that ``head`` is the whole file, so that its last line counts. ``prefer`` is
    tried first.
    """
    best = (0.0, 0)
    chosen = ","
    for delimiter in dict.fromkeys([*prefer, *STRONG_DELIMITERS, *WEAK_DELIMITERS]):
        if delimiter not in head:
            continue
        widths = _widths(head, delimiter, complete=complete)
        if not widths:
            score = (0.0, 1)  # the very first record cannot be split; if nothing fits better, reading it will say why
        elif widths[0] < (3 if delimiter == " " else 2):
            continue  # two words in every line do not show a table
        else:
            score = (widths.count(widths[0]) / len(widths), 0 if delimiter in WEAK_DELIMITERS else widths[0])
        if score > best:
            best = score
            chosen = delimiter
    return chosen


def find_delimiter(file: Input, *, prefer: str = "") -> str:
    """Return the separator of a file."""
    with file.open_text(keep_newlines=True) as stream:
        head = stream.read(HEAD)
    return sniff_delimiter(head, complete=len(head) < HEAD, prefer=prefer)


def _widths(head: str, delimiter: str, *, complete: bool) -> list[int]:
    """Return the numbers of cells of the first records."""
    widths: list[int] = []
    try:
        for _, cells in records(io.StringIO(head, newline=""), delimiter, where=""):
            widths.append(len(cells))
            if len(widths) > _HEAD_RECORDS:
                return widths
    except InputError:
        return widths  # a cell that the end of the head cuts, or an error that reading the whole file will report
    return widths if complete or len(widths) < 2 else widths[:-1]


@dataclass(frozen=True, slots=True)
class Head:
    """First characters of a text file, or Parquet columns."""

    text: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """First lines that are not blank."""
        return [line for line in self.text.splitlines() if line.strip()]

    def delimiter(self, fits: Callable[[set[str]], bool]) -> str | None:
        """Return the separator that fits the column names, or None."""
        line = next(iter(self.lines), "")
        for delimiter in RELEASE_DELIMITERS:
            if line and fits(set(header_names(line, delimiter))):
                return delimiter
        return None


def header_names(line: str, delimiter: str) -> list[str]:
    """Return the column names in the first line, or none if it cannot be split."""
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except csv.Error:
        return []


def holds(names: Iterable[str], *wanted: str) -> bool:
    """Tell if all wanted names are there."""
    return set(wanted) <= set(names)


def read_head(file: Input) -> Head:
    """Return the head of a file or Parquet folder, read once for all recognisers."""
    if file not in _heads:
        _heads[file] = _read_head(file)
    return _heads[file]


def _read_head(file: Input) -> Head:
    if os.path.isdir(file) or file.is_parquet:
        return Head(columns=parquet_columns(file))
    with file.open_text() as stream:
        text = stream.read(HEAD)
    if not text.strip():
        raise InputError("is empty", where=file.name, remedy="Give a file with published lines")
    return Head(text)


_heads: WeakKeyDictionary[Input, Head] = WeakKeyDictionary()


# Writing


def csv_blocks(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the text of a CSV file of these columns in blocks."""
    yield ",".join(csv_cell(column.name) for column in columns) + "\n"
    yield from csv_lines(columns)


def csv_lines(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the lines of these columns in blocks, without a header."""
    empty = '""' if len(columns) == 1 else ""  # a line with nothing on it would be no row
    cells = [_pad([text or empty for text in csv_cells(column.values)]) for column in columns]
    for first in range(0, len(columns[0].codes), _ROWS):
        codes = [column.codes[first : first + _ROWS] for column in columns]
        comma = np.full((len(codes[0]), 1), ord(","), np.uint8)
        parts = [part for one, known in zip(codes, cells, strict=True) for part in (comma, np.take(known, one, axis=0))]
        lines = np.concatenate([*parts[1:], np.full_like(comma, ord("\n"))], axis=1)
        yield lines.tobytes().translate(None, _FILLER).decode()


def _pad(texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return texts as bytes in lines of equal length."""
    encoded = [text.encode() for text in texts]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    out = np.full((len(encoded), int(lengths.max(initial=0))), _FILLER[0], np.uint8)
    out[np.arange(out.shape[1]) < lengths[:, None]] = np.frombuffer(b"".join(encoded), np.uint8)
    return out


def csv_cells(texts: Sequence[str]) -> Sequence[str]:
    """Return CSV cells, quoted if necessary."""
    whole = "\0".join(texts)
    if whole.split() == [whole] and not any(sign in whole for sign in _SPECIAL):
        return texts
    return [csv_cell(text) for text in texts]


def csv_cell(text: str) -> str:
    """Return a CSV cell, quoted if necessary."""
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in _SPECIAL) or text != text.strip() else text


# Tables


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """File of delimited text with a header."""

    file: Input
    where: str
    delimiter: str
    names: tuple[str, ...]
    numbers: Ints | None = None  #: Rows that the last column, which the file does not have, says ``True`` of.

    @classmethod
    def open(cls, file: Input, *, where: str, prefer: str = "") -> DelimitedTable:
        """Find the separator and the names of the columns."""
        delimiter = find_delimiter(file, prefer=prefer)
        with file.open_text(keep_newlines=True) as stream:
            _, names = next(records(stream, delimiter, where=where), (0, []))
        if not names:
            raise InputError("is empty", where=where, remedy="Give a table with a header of column names")
        return cls(file, where, delimiter, tuple(name.strip(BLANKS) for name in names))

    def read(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return these columns; values have no blanks around them."""
        columns = self._coded(names)
        for _ in self._blocks(columns):
            pass
        return tuple(column.finish(name) for column, name in zip(columns, names, strict=True))

    def classes(self, wanted: Sequence[str], others: Sequence[str] = (), mark: str | None = None) -> Classes:
        """Return the distinct rows of these columns, merged block by block; those with the mark in one of the ``others`` apart."""
        held = self._coded(wanted)
        looked_at = self._coded(others)
        merged = _Merging(held, looked_at, mark)
        for rows in self._blocks([*held, *looked_at]):
            merged.add(rows)
        return merged.finish(wanted)

    def flagged(self, numbers: Ints, name: str) -> DelimitedTable:
        """Return the table with a column that says ``True`` of the rows with these numbers."""
        return replace(self, names=(*self.names, name), numbers=numbers)

    @property
    def width(self) -> int:
        """Number of columns in the file."""
        return len(self.names) - (self.numbers is not None)

    def _coded(self, names: Sequence[str]) -> list[_CodedColumn]:
        places = map(self.names.index, names)
        return [_CodedColumn(place) if place < self.width else _FlagColumn(self.numbers) for place in places]

    def _blocks(self, columns: Sequence[_CodedColumn]) -> Iterator[int]:
        """Fill the columns block by block; yield the rows of each block."""
        width = self.width
        with self.file.open_text(keep_newlines=True) as stream:
            lines = _Lines(stream)
            found = records(lines, self.delimiter, where=self.where)
            next(found)
            number = lines.number
            while not lines.waiting and (block := stream.read(_BLOCK)):
                block += stream.readline()
                if (plain := self._cut_plain(block)) is not None:
                    for column in columns:
                        column.add_plain(plain)
                    number += len(plain)
                    yield len(plain)
                    continue
                rows = self._split_plain(block)
                if rows is None:
                    rest = chain(io.StringIO(block, newline=""), stream)
                    found = records(rest, self.delimiter, where=self.where, before=number)
                    break
                cells = self.delimiter.join(rows).split(self.delimiter) if rows else []
                for column in columns:
                    column.add(cells[column.place :: width])
                number += block.count("\n")
                yield len(rows)
            for lines_of_rows, batch in _batches(found, width, self.delimiter, self.where):
                for column in columns:
                    column.add(batch[column.place])
                yield len(lines_of_rows)

    def _cut_plain(self, block: str) -> PlainBlock | None:
        """Return the cells of lines that are all alike, or None."""
        if self.width == 1 or self.delimiter == " " or '"' in block:
            return None
        block = block.replace("\r\n", "\n")
        return None if "\r" in block else PlainBlock.of(block.removesuffix("\n") + "\n", self.delimiter, self.width)

    def _split_plain(self, block: str) -> list[str] | None:
        """Return the records of lines without quotes, or None if they must be read one by one."""
        if '"' in block or "\r" in block.replace("\r\n", ""):
            return None
        rows = block.replace("\r\n", "\n").removesuffix("\n").split("\n")
        wanted = self.width - 1
        rows = [row for row in rows if row.strip(BLANKS) or (self.delimiter != " " and self.delimiter in row)]
        return rows if all(row.count(self.delimiter) == wanted for row in rows) else None


class _CodedColumn:
    """Numbers of the distinct values of one column."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.numbering = Numbering(lambda cell: cell.strip(BLANKS))
        self.codes: list[Codes] = [np.empty(0, np.int32)]
        self.coder = CellCoder(place, self.numbering.__getitem__)

    def add_plain(self, block: PlainBlock) -> None:
        self.codes.append(self.coder.codes(block))

    def add(self, cells: Sequence[str]) -> None:
        self.codes.append(np.fromiter(map(self.numbering.__getitem__, cells), np.int32, len(cells)))

    def finish(self, name: str) -> Column:
        values = tuple(sorted(self.numbering.numbers))
        return Column(name, values, self.numbering.ranks(values)[self.take()])

    def take(self) -> Codes:
        """Return the codes that were added, and forget them."""
        codes = np.concatenate(self.codes)
        self.codes = [np.empty(0, np.int32)]
        return codes


class _FlagColumn(_CodedColumn):
    """Flags of the rows with some numbers."""

    def __init__(self, numbers: Ints | None) -> None:
        super().__init__(0)
        self.flags = [self.numbering[text] for text in ("False", "True")]
        self.numbers = np.empty(0, np.int64) if numbers is None else numbers
        self.rows = 0

    def add(self, cells: Sized) -> None:
        found = np.isin(np.arange(self.rows, self.rows + len(cells)), self.numbers)
        self.codes.append(np.array(self.flags, np.int32)[found.astype(np.int8)])
        self.rows += len(cells)

    def add_plain(self, block: PlainBlock) -> None:
        self.add(block)


class _Merging:
    """Classes of the rows that were read so far; rows are merged once there are many."""

    def __init__(self, held: Sequence[_CodedColumn], looked_at: Sequence[_CodedColumn], mark: str | None) -> None:
        self.held = held
        self.looked_at = looked_at
        self.mark = mark
        self.waiting = 0
        self.classes = Classes((), np.empty(0, np.int64), np.empty(0, np.bool_))

    def add(self, rows: int) -> None:
        """Count rows that the columns were given; merge them if they are many."""
        self.waiting += rows
        if self.waiting >= max(_FEW_ROWS, len(self.classes.weights)):
            self._merge()

    def finish(self, names: Sequence[str]) -> Classes:
        """Return the classes with sorted values."""
        self._merge()
        for column, read in zip(self.held, self.classes.columns, strict=True):
            column.codes.append(read.codes)
        columns = tuple(column.finish(name) for column, name in zip(self.held, names, strict=True))
        return merge(columns, self.classes.weights, self.classes.marked)

    def _merge(self) -> None:
        marked = np.zeros(self.waiting, np.bool_)
        for column in self.looked_at:
            marked |= column.take() == column.numbering.numbers.get(self.mark, -1)
        codes = [column.take() for column in self.held]
        if self.classes.columns:
            codes = [np.concatenate((old.codes, new)) for old, new in zip(self.classes.columns, codes, strict=True)]
        weights = np.concatenate((self.classes.weights, np.ones(self.waiting, np.int64)))
        flags = np.concatenate((self.classes.marked, marked))
        self.classes = merge(tuple(Column("", (), one) for one in codes), weights, flags)
        self.waiting = 0


# Lists


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Columns of a delimited file; row ``i`` begins in line ``lines[i]``."""

    where: str
    names: list[str]
    cells: list[list[str]]
    lines: Ints

    def column(self, *names: str) -> TextColumn | None:
        """Return the first of these columns, ignoring case, or None."""
        folded = [name.casefold() for name in self.names]
        for wanted in names:
            found = [i for i, name in enumerate(folded) if name == wanted.casefold()]
            if len(found) > 1:
                remedy = "Rename one of the two"
                raise InputError(f"column {self.names[found[0]]!r} occurs twice", where=f"{self.where}, line 1", remedy=remedy)
            if found:
                return TextColumn(self.names[found[0]], self.cells[found[0]])
        return None

    def others(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the columns without these names, ignoring case."""
        folded = {name.casefold() for name in names}
        return {name: self.cells[place] for place, name in enumerate(self.names) if name.casefold() not in folded}

    def need(self, *names: str) -> TextColumn:
        """Return the column of these names, or raise."""
        found = self.column(*names)
        if found is None:
            # What stands in line 1 is not repeated: where column names are missing, it is people's values.
            remedy = "Name the columns in the first line as the program that wrote the file does"
            raise InputError(f"there is no column {names[0]!r}", where=f"{self.where}, line 1", remedy=remedy)
        return found


def read_grid(file: Input, delimiter: str, *, from_r: bool = False) -> Grid:
    r"""Return all cells of a delimited file.

    ``from_r`` reads what R's ``write.table`` writes: quotation marks inside a cell as ``\"``, and row names without a column name.
    """
    with file.open_text(keep_newlines=True) as stream:
        source: Iterable[str] = (line.replace('\\"', '""') for line in stream) if from_r else stream
        found = records(source, delimiter, where=file.name, trim=False)
        names = [name.strip() for name in next(found, (0, []))[1]]
        if not names:
            raise InputError("is empty", where=file.name, remedy="Give a file with a line of column names")
        first = list(islice(found, 1))
        if from_r and first and len(first[0][1]) == len(names) + 1:
            names.insert(0, "")
        cells: list[list[str]] = [[] for _ in names]
        lines: list[int] = []
        for numbers, columns in _batches(chain(first, found), len(names), delimiter, file.name):
            lines += numbers
            for column, part in zip(cells, columns, strict=True):
                column.extend(part)
    return Grid(file.name, names, cells, np.array(lines, np.int64) - file.lines_before)


# JSON cells

_WORDS = {True: "true", False: "false", None: "null"}
#: What a broken cell raises; a TypeError comes from a list or object inside it, which is not a key.
_NOT_PARSED = (ValueError, TypeError, RecursionError)


class Pairs(list[tuple[str, Any]]):
    """Pairs of a JSON object in their order; a repeated key is kept."""

    __slots__ = ()


def item_name(value: Any) -> str:
    """Return an item's name; numbers keep their spelling."""
    return value if isinstance(value, str) else _WORDS[value]


def pair_name(pair: tuple[str, Any]) -> tuple[str, str]:
    """Column and value as texts."""
    return pair[0], item_name(pair[1])


#: Kinds of JSON cells: their ends, what is wrong with other cells, and the remedy.
_JSON_CELLS: dict[type, tuple[str, str, str]] = {
    list: ("[]", "is not a JSON list of items", 'Write it like ["bread", "milk"]'),
    Pairs: ("{}", "is not a JSON object of columns and values", 'Write it like {"age": "30"}'),
}


def add_cells(bags: Bags, column: TextColumn, place: Place, kind: type = list) -> None:
    """Take in JSON lists of items, or objects ``{column: value}`` as ``Pairs``."""
    ends, what, remedy = _JSON_CELLS[kind]
    for start in range(0, len(column.texts), BATCH):
        cells = [cell.strip() for cell in column.texts[start : start + BATCH]]
        try:
            bags.add(_parse(cells, kind, ends))
        except _NOT_PARSED:
            for index, cell in enumerate(cells, start):
                try:
                    bags.add(_parse([cell], kind, ends))
                except _NOT_PARSED:
                    raise InputError(what, where=place(index, column.name), remedy=remedy) from None


def _parse(cells: list[str], kind: type, ends: str) -> list[Any]:
    if not all(cell[:1] == ends[0] and cell[-1:] == ends[1] for cell in cells):
        raise ValueError
    # Numbers are kept as they are spelled: values are text, whatever they look like.
    text = "[" + ",\n".join(cells) + "]"
    parsed: list[Any] = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=Pairs)
    if len(parsed) != len(cells) or not all(type(part) is kind for part in parsed):
        raise ValueError
    if kind is Pairs and not all(len({key for key, _ in pairs}) == len(pairs) for pairs in parsed):
        raise ValueError
    return parsed
