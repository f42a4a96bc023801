"""What a release file prints, before its numbers are understood: sets of items and columns of text.

Every reader of a foreign or own form ends here; :mod:`tacit.files.counts` turns the texts into count intervals, in one way for all forms.

Tables as delimited text: which separator they use, and their records one by one.

A record ends at a line end outside quotes. A cell may be quoted with ``"``, blanks may stand around the quotes, and ``""`` inside
them is one quote; a quote in the middle of an unquoted cell is a letter like any other. Blank lines are no records.

Whether a delimited file is plain enough to be read in bulk, and how many records it then has.

Bulk readers skip, pad or cut what they do not understand. This independent check says beforehand how many records there must be; a file that
fails it is read record by record.

The beginning of a release file: enough to tell the forms apart without reading it whole.

Delimited text with a line of column names, kept together with its line numbers.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.files.disk import FilePath, is_parquet, open_bytes, open_text, readable
from tacit.files.parquet import parquet_columns
from tacit.model.arrays import Flags, Ints
from tacit.model.release import Header, Only
from tacit.model.sets import Items, Sets
from tacit.model.table import sort_names

#: Separators in the order in which they are preferred when several would do; the weak ones are used only where no strong one fits as well.
STRONG_DELIMITERS = (",", ";", "\t", "|")
WEAK_DELIMITERS = ("\x01", "^", "~", ":", " ")
#: What is removed around every cell.
BLANKS = " \t\n\r\f\v"
_HEAD_RECORDS = 500


def records(lines: Iterable[str], delimiter: str, *, where: str) -> Iterator[tuple[int, list[str]]]:
    r"""Pairs of the number of a record's first line (from 1) and its cells; ``lines`` keep their line ends.

    >>> list(records(["a;b\n", "1;\"x\n", "y\"\n"], ";", where="file.csv"))
    [(1, ['a', 'b']), (2, ['1', 'x\ny'])]
    """
    reader = _Lines(lines, where)
    blank = "".join(c for c in " \t" if c != delimiter)
    opening = re.compile(f'[{blank}]*"')
    closing = re.compile(f"[{blank}]*({re.escape(delimiter)}|\r\n|\r|\n|$)")
    empty_cells = "" if delimiter == " " else delimiter  # a line of blanks is blank even where they separate
    while line := reader.next():
        if '"' in line:
            first = reader.number
            yield first, _split_quoted(line, delimiter, opening, closing, reader)
        elif line.strip(BLANKS) or (empty_cells and empty_cells in line):
            yield reader.number, line.rstrip("\r\n").split(delimiter)


class _Lines:
    """Lines with the number of the one that was read last."""

    def __init__(self, lines: Iterable[str], where: str) -> None:
        self.lines = iter(lines)
        self.where = where
        self.number = 0

    def next(self) -> str:
        """The next line, or the empty text at the end."""
        self.number += 1
        return next(self.lines, "")


def _split_quoted(line: str, delimiter: str, opening: re.Pattern[str], closing: re.Pattern[str], reader: _Lines) -> list[str]:
    """The cells of a record that begins with ``line``; a quoted cell may take further lines."""
    cells: list[str] = []
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
        text, line, at = _quoted_cell(line, quote.end(), reader)
        cells.append(text)
        after = closing.match(line, at)
        if after is None:
            raise InputError(
                "a quoted cell goes on after its closing quote",
                where=f"{reader.where}, line {reader.number}",
                remedy="Double the quotes inside a cell, or remove them",
            )
        if after[1] != delimiter:
            return cells
        at = after.end()


def _quoted_cell(line: str, at: int, reader: _Lines) -> tuple[str, str, int]:
    """The text of a quoted cell, the line on which it ends, and the place after its closing quote."""
    opened = reader.number
    parts: list[str] = []
    while True:
        end = line.find('"', at)
        if end < 0:
            parts.append(line[at:])
            line, at = reader.next(), 0
            if not line:
                raise InputError(
                    "the quote that opens here is never closed",
                    where=f"{reader.where}, line {opened}",
                    remedy="Close it, or double it inside a quoted cell",
                )
        elif line.startswith('"', end + 1):
            parts.append(line[at : end + 1])
            at = end + 2
        else:
            parts.append(line[at:end])
            return "".join(parts), line, end + 1


def sniff_delimiter(head: str, *, complete: bool, prefer: str = "") -> str:
    r"""The separator under which the records of ``head`` agree best with the first one; a comma when there is one column.

    ``complete`` says that ``head`` is the whole file, so that its last line counts. ``prefer`` is tried first.

    >>> sniff_delimiter("a;b\n1,5;2,5\n", complete=True)
    ';'
    """
    best, chosen = (0.0, 0), ","
    for delimiter in dict.fromkeys([*prefer, *STRONG_DELIMITERS, *WEAK_DELIMITERS]):
        widths = _widths(head, delimiter, complete=complete)
        if not widths and delimiter in head:
            score = (0.0, 1)  # the very first record cannot be split; if nothing fits better, reading it will say why
        elif not widths or widths[0] < (3 if delimiter == " " else 2):
            continue  # two words in every line are no sign of a table
        else:
            score = (widths.count(widths[0]) / len(widths), 0 if delimiter in WEAK_DELIMITERS else widths[0])
        if score > best:
            best, chosen = score, delimiter
    return chosen


def _widths(head: str, delimiter: str, *, complete: bool) -> list[int]:
    """How many cells each of the first records has."""
    widths: list[int] = []
    try:
        for _, cells in records(io.StringIO(head, newline=""), delimiter, where=""):
            widths.append(len(cells))
            if len(widths) > _HEAD_RECORDS:
                return widths
    except InputError:
        return widths  # a cell that the end of the head cuts, or an error that reading the whole file will report
    return widths if complete or len(widths) < 2 else widths[:-1]


_CHUNK = 4 << 20
_LONGEST_LINE = 64 << 20
_QUOTE, _LINE_FEED, _RETURN = 34, 10, 13

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PlainShape:
    """A rectangular UTF-8 file in which every quote stands at the edge of a cell."""

    records: int
    has_quotes: bool


def plain_shape(path: FilePath, delimiter: str, width: int, *, chunk_size: int = _CHUNK) -> PlainShape | None:
    """How many records there are, when every one has ``width`` cells and nothing is unusual; None otherwise."""
    scan = _Scan(ord(delimiter), width)
    with open_bytes(path) as stream, readable(path):
        rest = stream.read(3)
        rest = b"" if rest == b"\xef\xbb\xbf" else rest
        while True:
            chunk = stream.read(chunk_size)
            data = rest + chunk
            cut = data.rfind(b"\n") + 1 if chunk else len(data)
            block, rest = data[:cut], data[cut:]
            if not chunk and block and not block.endswith(b"\n"):
                block += b"\n"
            if len(rest) > _LONGEST_LINE or (block and not scan.takes(block)):
                return None
            if not chunk:
                return None if scan.open else PlainShape(scan.records, scan.has_quotes)


class _Scan:
    """Counts records block by block; a block ends with a line feed."""

    def __init__(self, delimiter: int, width: int) -> None:
        self.delimiter, self.width = delimiter, width
        self.records, self.has_quotes = 0, False
        self.open = False  # whether a quoted cell goes on in the next block
        self.delimiters = 0  # those of the record that goes on

    def takes(self, block: bytes) -> bool:
        """Whether the block is as it should be."""
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            return False
        if b"\x00" in block:
            return False
        data = np.frombuffer(block, np.uint8)
        outside = None
        if b'"' in block or self.open:
            outside = self._outside(data)
            if not self._quotes_at_edges(data, outside):
                return False
        if b"\r" in block and (data[_places(data, _RETURN, outside) + 1] != _LINE_FEED).any():
            return False
        return self._rectangular(data, _places(data, _LINE_FEED, outside), _places(data, self.delimiter, outside), outside)

    def _outside(self, data: _Bytes) -> Flags:
        """For every byte, whether the quotes up to and including it are all closed."""
        # The sum wraps at 256, which keeps its parity.
        sums = np.cumsum(data == _QUOTE, dtype=np.uint8) + np.uint8(self.open)
        outside: Flags = (sums & np.uint8(1)) == 0
        return outside

    def _quotes_at_edges(self, data: _Bytes, outside: Flags) -> bool:
        self.has_quotes = True
        quotes = np.flatnonzero(data == _QUOTE)
        opening = quotes[~outside[quotes]]
        closing = quotes[outside[quotes]]
        before = np.where(opening > 0, data[opening - 1], _LINE_FEED)
        after = data[closing + 1]
        edges = [self.delimiter, _LINE_FEED, _QUOTE]  # a quote next to a quote is a doubled one
        return bool(np.isin(before, edges).all() and np.isin(after, [*edges, _RETURN]).all())

    def _rectangular(self, data: _Bytes, ends: Ints, delimiters: Ints, outside: Flags | None) -> bool:
        """Whether every record that ends in this block has the right number of cells, blank lines aside."""
        goes_on = outside is not None and not outside[-1]
        if not len(ends):
            self.delimiters += len(delimiters)
            self.open = goes_on
            return True
        before = np.searchsorted(delimiters, ends)
        counts = np.diff(before, prepend=0)
        counts[0] += self.delimiters
        starts = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - starts
        blank = (lengths == 0) | ((lengths == 1) & (data[starts] == _RETURN))
        self.records += int(len(ends) - blank.sum())
        self.delimiters = len(delimiters) - int(before[-1])
        self.open = goes_on
        return bool(((counts == self.width - 1) | blank).all())


def _places(data: _Bytes, byte: int, outside: Flags | None) -> Ints:
    found = data == byte
    return np.flatnonzero(found if outside is None else found & outside)


DELIMITERS = (",", "\t", ";", " ")
_HEAD_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Head:
    """The first characters of a text file, or the columns of a Parquet file or folder with their DuckDB types."""

    text: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """The first lines that are not blank."""
        return [line for line in self.text.splitlines() if line.strip()]

    def delimiter(self, fits: Callable[[set[str]], bool]) -> str | None:
        """The delimiter under which the names of the first line fit; None when there is none."""
        if not self.lines:
            return None
        for delimiter in DELIMITERS:
            if fits(set(header_names(self.lines[0], delimiter))):
                return delimiter
        return None


def header_names(line: str, delimiter: str) -> list[str]:
    """The column names in the first line of a delimited file; nothing when its quotation marks do not fit."""
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except csv.Error:
        return []


def holds(names: Iterable[str], *wanted: str) -> bool:
    """Whether all wanted names are there."""
    return set(wanted) <= set(names)


def read_head(path: FilePath) -> Head:
    """The head of a file or of a folder of Parquet files."""
    if os.path.isdir(path) or is_parquet(path):
        return Head(columns=parquet_columns(path))
    with open_text(path) as stream:
        text = stream.read(_HEAD_CHARACTERS)
    if not text.strip():
        raise InputError("is empty", where=os.path.basename(os.fspath(path)), remedy="Give a file with published lines")
    return Head(text)


#: Lines taken in at a time: fewer than the lists after which Python looks for garbage, since larger batches are slower.
BATCH = 600


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """One column as printed, under the name it has in the file; an empty text is a withheld value."""

    name: str
    texts: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Printout:
    """The lines of a release file. ``consequents`` is None for itemsets; otherwise ``sets`` are the antecedents.

    ``count`` and ``support`` are about all items of a line, ``whole_count`` and ``whole_support`` about the antecedent alone.
    ``unit`` says what ``lines`` numbers: the lines of a text file, or the rows of a frame or Parquet file. ``exact`` says that numbers were
    not cut to some digits, ``in_full`` that the program prints doubles with all their digits. ``unread`` names columns and fields that say more
    than what is read, ``alike`` those that say the same as one of them.
    """

    where: str
    lines: Ints
    items: Items
    sets: Sets
    consequents: Sets | None = None
    count: TextColumn | None = None
    support: TextColumn | None = None
    confidence: TextColumn | None = None
    whole_count: TextColumn | None = None
    whole_support: TextColumn | None = None
    header: Header = field(default_factory=Header)
    only: Only = "all"
    unit: Literal["line", "row"] = "line"
    exact: bool = False
    in_full: bool = False
    unread: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()

    def place(self, index: int, column: str = "") -> str:
        """Where a number stands, for a message."""
        return place(self.where, int(self.lines[index]), column, self.unit)


def place(where: str, line: int, column: str = "", unit: str = "line") -> str:
    """File, line and column as they stand in a message.

    >>> place("r.csv", 7, "support")
    "r.csv, line 7, column 'support'"
    """
    return f"{where}, {unit} {line}" + (f", column {column!r}" if column else "")


class Numbering(dict[Any, int]):
    """Numbers names in the order in which they come; ``numbering[key]`` makes a new number for a new key.

    ``name_of`` says what a key is called; keys with the same name share a number.
    """

    def __init__(self, name_of: Callable[[Any], Hashable] = str) -> None:
        super().__init__()
        self.name_of = name_of
        self.numbers: dict[Any, int] = {}

    def __missing__(self, key: Any) -> int:
        number = self.numbers.setdefault(self.name_of(key), len(self.numbers))
        self[key] = number
        return number

    def ranks(self, ordered: Sequence[Hashable]) -> npt.NDArray[np.int32]:
        """Where each number stands in ``ordered``, which holds every name once."""
        ranks = np.empty(len(ordered), np.int32)
        ranks[[self.numbers[name] for name in ordered]] = np.arange(len(ordered), dtype=np.int32)
        return ranks


@dataclass(slots=True)
class Bags:
    """Item numbers of many lines, collected in batches so that no object per item is kept."""

    numbering: Numbering
    lengths: list[Ints] = field(default_factory=list)
    numbers: list[npt.NDArray[np.int32]] = field(default_factory=list)

    def add(self, batch: Sequence[Sequence[Any] | frozenset[Any]]) -> None:
        """Take in one list of keys per line."""
        lengths = np.fromiter(map(len, batch), np.int64, len(batch))
        keys = map(self.numbering.__getitem__, chain.from_iterable(batch))
        self.numbers.append(np.fromiter(keys, np.int32, int(lengths.sum())))
        self.lengths.append(lengths)

    def sets(self, ranks: npt.NDArray[np.int32]) -> Sets:
        """The lines as sets, with numbers replaced by their ranks; a repeated item counts once."""
        lengths = np.concatenate([np.zeros(0, np.int64), *self.lengths])
        numbers = ranks[np.concatenate([np.zeros(0, np.int32), *self.numbers])]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        ascending = (numbers[1:] > numbers[:-1]) | (rows[1:] != rows[:-1])
        return Sets(offsets, numbers) if ascending.all() else Sets.from_pairs(rows, numbers, len(lengths))


def named_sets(
    *sides: Iterable[Sequence[Any] | frozenset[Any]], name_of: Callable[[Any], Hashable] = str
) -> tuple[Items, list[Sets]]:
    """Items sorted as people expect, and one family of sets per side (itemsets; or antecedents and consequents).

    >>> items, (sets,) = named_sets([["b", "a"], ["c", "b"]])
    >>> items.names, [part.tolist() for part in sets]
    (('a', 'b', 'c'), [[0, 1], [1, 2]])
    """
    numbering = Numbering(name_of)
    bags = [Bags(numbering) for _ in sides]
    for bag, side in zip(bags, sides, strict=True):
        lines = iter(side)
        while batch := list(islice(lines, BATCH)):
            bag.add(batch)
    return finish(bags)


def finish(bags: Sequence[Bags]) -> tuple[Items, list[Sets]]:
    """Items and sets of bags that share one numbering of names."""
    names = sort_names(bags[0].numbering.numbers)
    ranks = bags[0].numbering.ranks(names)
    return Items(names), [bag.sets(ranks) for bag in bags]


def require(found: bool, what: str, *, where: str, remedy: str) -> None:
    """Raise an :class:`InputError` unless ``found``."""
    if not found:
        raise InputError(what, where=where, remedy=remedy)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The cells of a delimited file, column by column; row ``i`` begins in line ``lines[i]``."""

    where: str
    names: list[str]
    cells: list[list[str]]
    lines: Ints

    def column(self, *names: str) -> TextColumn | None:
        """The column that has the first of these names that occurs, whatever its case; None when there is none."""
        folded = [name.casefold() for name in self.names]
        for wanted in names:
            found = [i for i, name in enumerate(folded) if name == wanted.casefold()]
            if len(found) > 1:
                raise InputError(
                    f"column {self.names[found[0]]!r} stands twice",
                    where=f"{self.where}, line 1",
                    remedy="Rename one of the two",
                )
            if found:
                return TextColumn(self.names[found[0]], self.cells[found[0]])
        return None

    def others(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The columns that have none of these names, whatever their case."""
        folded = {name.casefold() for name in names}
        return {name: self.cells[place] for place, name in enumerate(self.names) if name.casefold() not in folded}

    def need(self, *names: str) -> TextColumn:
        """The column of one of these names; an error when there is none."""
        found = self.column(*names)
        if found is None:
            raise InputError(
                f"there is no column {names[0]!r}",
                where=f"{self.where}, line 1",
                # What stands in line 1 is not repeated: where column names are missing, it is people's values.
                remedy="Name the columns in the first line as the program that wrote the file does",
            )
        return found


def read_grid(path: FilePath, delimiter: str, *, from_r: bool = False) -> Grid:
    r"""All cells of a delimited file; blank lines are passed over.

    ``from_r`` reads what R's ``write.table`` writes: quotation marks inside a cell as ``\"``, and row names without a column name.
    """
    where = os.path.basename(os.fspath(path))
    lines: list[int] = []
    with open_text(path, keep_newlines=True) as stream:
        source: Iterable[str] = (line.replace('\\"', '""') for line in stream) if from_r else stream
        rows = _rows(source, delimiter, lines, where)
        names = [name.strip() for name in next(rows, [])]
        if not names:
            raise InputError("is empty", where=where, remedy="Give a file with a line of column names")
        batch = list(islice(rows, BATCH))
        if from_r and batch and len(batch[0]) == len(names) + 1:
            names.insert(0, "")
        cells: list[list[str]] = [[] for _ in names]
        # Rows are turned into columns batch by batch: keeping a list per row would keep Python's garbage collector busy.
        done = 1
        while batch:
            _check_widths(batch, lines[done:], len(names), where)
            for column, part in zip(cells, zip(*batch, strict=True), strict=True):
                column.extend(part)
            done += len(batch)
            batch = list(islice(rows, BATCH))
    return Grid(where, names, cells, np.array(lines[1:], np.int64))


def _rows(source: Iterable[str], delimiter: str, lines: list[int], where: str) -> Iterator[list[str]]:
    """The rows that are not blank; the line in which each begins is added to ``lines``."""
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    ended = 0
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                lines.append(ended + 1)
                yield row
            ended = reader.line_num
    except csv.Error:
        raise InputError(
            "the quotation marks of a cell do not close, or the cell is too long",
            where=place(where, ended + 1),
            remedy='Write a quotation mark inside a quoted cell as ""',
        ) from None


def _check_widths(batch: list[list[str]], lines: list[int], width: int, where: str) -> None:
    for row, line in zip(batch, lines, strict=True):
        if len(row) != width:
            raise InputError(
                f"has {len(row)} cells where the first line names {width} columns",
                where=place(where, line),
                remedy="Quote cells that hold the delimiter, or complete the line",
            )
