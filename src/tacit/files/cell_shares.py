"""Cells that print shares of all people instead of counts.

A share stands for every number of people that prints so, as in lists of itemsets. What it is a share of shows in the sum of the cells: those of
all people add up to 1. Shares within a row or a column say nothing without its total, and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tacit.files.counts import Shares, read_shares
from tacit.files.crosstabs import is_count, is_share
from tacit.files.frequency_cells import HIDDEN_MARKS, CellText
from tacit.files.printout import TextColumn, with_points
from tacit.model.errors import InputError
from tacit.model.numbers import Rounding

Labels = Sequence[Sequence[str | None]]


def _is_hidden(text: str) -> bool:
    return text.strip().casefold() in HIDDEN_MARKS


def are_shares(texts: Sequence[str]) -> bool:
    """Tell if cells are shares, and not all of them could be counts as well."""
    return all(map(is_share, texts)) and not all(map(is_count, texts))


def shares_as_cells(
    texts: Sequence[str],
    labels: Labels,
    n: int | None,
    *,
    where: str,
    place: Callable[[int], str],
    rounding: Rounding,
    complete: bool,
) -> tuple[dict[str, CellText], int, str]:
    """Return the people behind each share, their total, and its source.

    ``labels`` are those of the cells in each column of the table, None in totals.
    """
    plain = with_points(texts)
    column = TextColumn("", ["" if _is_hidden(text) else text.strip() for text in plain])
    shares = read_shares(column, rounding=rounding, digits=None, place=lambda row, _: place(row))
    _check_whole(shares, labels, where, complete=complete)
    origin = ""
    if n is None:
        n = shares.people()
        origin = "the only number that fits the printed shares"
    if n is None:
        error = InputError("holds shares of people, not counts", where=where, remedy="Give the number of all people with --n N")
        error.asks_for = "n"
        raise error
    lo, hi = shares.counts(n, lambda row, _: place(row))
    read: dict[str, CellText] = {}
    for text, least, most in zip(texts, lo.tolist(), hi.tolist(), strict=True):
        if _is_hidden(text):
            read[text] = CellText(None)
        else:
            read[text] = CellText(least) if least == most else CellText(None, least, most)
    return read, n, origin


def _check_whole(shares: Shares, labels: Labels, where: str, *, complete: bool) -> None:
    """Raise unless the cells that are not totals add up to all people."""
    cells = [row for row in range(len(shares.index)) if all(column[row] is not None for column in labels)]
    if _may_be_whole(shares, cells, complete=complete):
        return
    for column in labels:
        groups: dict[str | None, list[int]] = {}
        for row in cells:
            groups.setdefault(column[row], []).append(row)
        if len(groups) > 1 and all(_may_be_whole(shares, rows, complete=True) for rows in groups.values()):
            remedy = "Publish counts, or shares of all people; the number of people in each row or column is missing here"
            raise InputError("holds shares within each row or column, not of all people", where=where, remedy=remedy)
    remedy = "Give the counts; or say --incomplete if cells are left out of a table of shares of all people"
    raise InputError("its shares do not add up to 1, so that it is not known what they are shares of", where=where, remedy=remedy)


def _may_be_whole(shares: Shares, rows: Sequence[int], *, complete: bool) -> bool:
    """Tell if these shares can add up to 1, each within what prints so."""
    printed = [shares.printed(int(shares.index[row])) for row in rows]
    shown = [one for one in printed if one is not None]
    slack = Fraction(len(shown), 2**48)
    least = sum((one.lo for one in shown), Fraction(0))
    most = sum((one.hi for one in shown), Fraction(0))
    is_short = not complete or len(shown) < len(printed)
    return least - slack <= 1 and (is_short or most + slack >= 1)
