"""Form of crosstabs: the lines above their numbers, and the columns before them.

pandas writes a crosstab of one column across with the names of the rows' columns and the values across in its first line; the name of the
column across is lost. With several columns across it writes a line for each of them, which begins with the column's name, and then a line with
the names of the rows' columns alone. In totals, what stands for the other columns is empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tacit.files.frequency_cells import HIDDEN_MARKS, Cells, is_total, read_cell

MOST_LEVELS = 4  #: Columns across, at most.
_MOST_ROWS = 2_000  #: Rows of a crosstab whose form alone shows that it is one, at most.
_SHARE = re.compile(r"(?:0?[.,]\d{1,24}|[01](?:[.,]\d{1,24})?|\d[.,]?\d{0,17}[eE]-\d{1,3})|\d{1,3}(?:[.,]\d{1,24})?\s*%")
_OF_A_PERSON = re.compile(r"(?:.*[\W_])?(?:id|ids|uuid|nr|no|key|row|name|names|person|patient|customer|user|email|index)")

Row = tuple[str, ...]


class Layout(NamedTuple):
    """Names of the columns down and across, and the labels of each column.

    ``skip`` rows of cells belong to the heading. It ``is_sure`` if nothing but a table of numbers has such lines or totals.
    """

    rows: Row
    across: Row
    labels: tuple[Row, ...]
    skip: int
    is_sure: bool

    @property
    def names(self) -> Row:
        """Names of all columns, those across last."""
        return self.rows + self.across


def is_count(text: str) -> bool:
    """Tell if a cell holds a number of people, or a mark of a hidden one."""
    return read_cell(text) is not None


def is_share(text: str) -> bool:
    """Tell if a cell holds a share or a percentage, or a mark of a hidden one.

    >>> [is_share(text) for text in ("0.25", "0,25", "12.5%", "1e-05", "1", "12.5", "25", "*")]
    [True, True, True, True, True, False, False, True]
    """
    told = text.strip().casefold()
    return told in HIDDEN_MARKS or _SHARE.fullmatch(told) is not None


def are_numbers(texts: Sequence[str]) -> bool:
    """Tell if all cells are counts, or all shares, and some are not hidden."""
    shown = [text for text in texts if text.strip().casefold() not in HIDDEN_MARKS]
    return bool(shown) and (all(map(is_count, shown)) or all(map(is_share, shown)))


def _may_be_numbers(texts: Sequence[str]) -> bool:
    return all(map(is_count, texts)) or all(map(is_share, texts))


def find_layout(cells: Cells, by: Sequence[str] = ()) -> Layout | None:
    """Return the form of a crosstab, or None.

    ``by`` are the caller's names of its columns; without them, a form that other tables have too is none.
    """
    rows = list(zip(*cells.texts, strict=True))
    stacked = _stacked(tuple(cells.names), rows, len(by))
    if stacked is not None:
        return stacked
    if by:
        return _named(cells.names, len(by) - 1)
    return _plain(tuple(cells.names), rows)


def _stacked(names: Row, rows: Sequence[Row], asked: int) -> Layout | None:
    """Return the form of a heading of several lines, or None."""
    for place in range(1, min(MOST_LEVELS, len(rows) - 1)):
        down = _filled(rows[place])
        heads = [names, *rows[:place]]
        if not 0 < down < len(names) or any(sum(map(bool, head[:down])) > 1 for head in heads):
            continue
        labels = _labels([head[down:] for head in heads])
        if not all(label[0] for label in labels):
            continue
        # A row of numbers above a row of hidden ones looks alike where no value across is repeated.
        is_doubtful = len(set(names[down:])) == len(names) - down and are_numbers(rows[0][down:])
        levels = tuple("".join(head[:down]) for head in heads)  # spreadsheets have a level's name in the last column down
        if is_doubtful and asked not in (down + sum(map(bool, levels)), down + len(heads)):
            return None
        return Layout(rows[place][:down], levels, labels, place + 1, is_sure=True)
    return None


def _filled(row: Row) -> int:
    """Number of filled cells before empty ones only; 0 if others are filled."""
    filled = next((place for place, text in enumerate(row) if not text), len(row))
    return 0 if any(row[filled:]) else filled


def _labels(heads: Sequence[Row]) -> tuple[Row, ...]:
    """Return the labels of each column, with those that spreadsheets write once for several columns."""
    out: list[list[str]] = []
    for column in zip(*heads, strict=True):
        labels: list[str] = []
        for level, text in enumerate(column):
            is_upper = level < len(heads) - 1 and not any(map(is_total, labels))
            labels.append(text or (out[-1][level] if is_upper and out else ""))
        out.append(labels)
    return tuple(map(tuple, out))


def _named(names: Sequence[str], down: int) -> Layout | None:
    if not 0 < down < len(names):
        return None
    return Layout(tuple(names[:down]), ("",), tuple((name,) for name in names[down:]), 0, is_sure=True)


def _plain(names: Row, rows: Sequence[Row]) -> Layout | None:
    """Return the form of one line of labels above numbers, or None."""
    width = len(names)
    labelled = [place for place, column in enumerate(zip(*rows, strict=True)) if not _may_be_numbers(column)]
    down = max(labelled, default=0) + 1
    while down < width and len({row[:down] for row in rows}) < len(rows):
        down += 1
    heads = names[down:]
    if not rows or len(heads) < 2 or not all(heads) or len(set(heads)) < len(heads):
        return None
    numbers = [text for row in rows for text in row[down:]]
    if not are_numbers(numbers) or _is_heading(rows, down):
        return None
    layout = Layout(names[:down], ("",), tuple((head,) for head in heads), 0, is_sure=_adds_up(names, rows, down))
    labels = [text for row in rows for text in row[:down] if text and not is_total(text)]
    if not layout.is_sure:
        is_binary = all(text.strip() in ("0", "1", "0.0", "1.0") for text in numbers)
        if is_binary or len(rows) > _MOST_ROWS or all(map(is_count, labels)):
            return None
        if any(_OF_A_PERSON.fullmatch(name.strip().casefold()) for name in names[:down]):
            return None
        # Values across are sorted in most programs: a first one out of order may be a column down whose values are numbers.
        if not _are_sorted(heads) and len(heads) > 2 and _are_sorted(heads[1:]):
            return None
    return layout


def _are_sorted(labels: Row) -> bool:
    own = [label for label in labels if not is_total(label)]
    return own == sorted(own) or (all(map(str.isdecimal, own)) and own == sorted(own, key=int))


def _is_heading(rows: Sequence[Row], down: int) -> bool:
    """Tell if the first row may be a second line of labels: whole numbers above an empty row."""
    return len(rows) > 1 and not any(rows[1][down:]) and all(text.isdecimal() for text in rows[0][down:])


def _adds_up(names: Row, rows: Sequence[Row], down: int) -> bool:
    """Tell if a total across, or below, is the sum of its parts wherever all are shown."""
    body = [row for row in rows if not any(map(is_total, row[:down]))]
    totals = [row for row in rows if any(map(is_total, row[:down]))]
    across = [place for place in range(down, len(names)) if is_total(names[place])]
    parts = [place for place in range(down, len(names)) if place not in across]
    sums = [(row[across[0]], [row[place] for place in parts]) for row in rows if len(across) == 1]
    sums += [(totals[0][place], [row[place] for row in body]) for place in parts if len(totals) == 1]
    told = [(_number(total), list(map(_number, terms))) for total, terms in sums]
    shown = [(total, terms) for total, terms in told if total is not None and None not in terms]
    return len(shown) > 1 and all(total == sum(term or 0 for term in terms) for total, terms in shown)


def _number(text: str) -> int | None:
    found = read_cell(text)
    return None if found is None else found.number


def made_up_name(labels: Sequence[str], others: Sequence[str]) -> str:
    """Return a name for a column whose name is lost, from its values.

    Tables with the same values get the same name.

    >>> made_up_name(["cook", "clerk", "All"], ["sex"]), made_up_name(list("abcde"), [])
    ('clerk/cook', 'a/../e (5)')
    """
    told = sorted(label.replace(",", " ") for label in labels if label and not is_total(label))
    name = "/".join(told)
    if len(told) > 3 or len(name) > 40:
        name = f"{told[0][:20]}/../{told[-1][:20]} ({len(told)})"
    return f"{name} across" if name in others else name
