"""Tables as delimited text: which separator they use, and their records one by one.

A record ends at a line end outside quotes. A cell may be quoted with ``"``, blanks may stand around the quotes, and ``""`` inside
them is one quote; a quote in the middle of an unquoted cell is a letter like any other. Blank lines are no records.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator

from tacit.errors import InputError

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
