"""Frequency tables of people: :func:`tabulate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.api import people_of
from tacit.errors import OptionError
from tacit.mining import frequencies
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import Limits
from tacit.model.table import Table

__all__ = ["tabulate"]


def tabulate(
    people: Table | str | Path | Any,
    *,
    by: str | Sequence[str | Sequence[str]],
    ways: int | None = None,
    total: bool = False,
    hide_below: int | None = None,
    show_zeros: bool = False,
    round_to: int | None = None,
    time_limit: float | None = None,
) -> FrequencyTable:
    """How many people are in each cell of one or more tables, as a release.

    Parameters
    ----------
    people
        A table, or anything :func:`tacit.read_table` takes.
    by
        The columns of a table, ``"sex,job"``; or of several tables, a text or list each.
    ways
        Instead of each table itself, all tables over one to so many of its columns.
    total
        List the totals of every table as well.
    hide_below
        Hide cells with fewer people.
    show_zeros
        Show cells with nobody although small ones are hidden.
    round_to
        Round counts to the nearest multiple of this, halves up.
    time_limit
        Seconds after which :class:`LimitReached` is raised.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F"] * 12 + ["M"] * 3, "ill": ["yes"] * 11 + ["no"] * 4})
    >>> made = tacit.tabulate(people, by="sex,ill", hide_below=5, total=True)
    >>> [made.text(index) for index in range(len(made))]
    ['', '11', '', '', '12', '', '', '11', '15']
    >>> tacit.audit(made).findings[0].statement
    '1 person has ill=no and sex=F.'
    """
    table = people_of(people)
    if not isinstance(table, Table):
        raise OptionError("holds transactions, which have no columns", where="the data", remedy="Give a table")
    tables = _tables(by, table.names)
    if ways is not None:
        tables = [smaller for columns in tables for smaller in frequencies.subtables(columns, ways)]
    limits = Limits.within(time_limit)
    how: dict[str, Any] = {"hide_below": hide_below, "show_zeros": show_zeros, "round_to": round_to}
    return frequencies.tabulate(table, tables=tables, total=total, **how, check=lambda: limits.check("tabulate"))


def _tables(by: str | Sequence[str | Sequence[str]], known: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns of each table; a text that is no column is split at its commas."""
    listed = [by] if isinstance(by, str) else list(by)
    return [tuple(_columns(one, known)) for one in listed]


def _columns(given: str | Sequence[str], known: Sequence[str]) -> list[str]:
    if not isinstance(given, str):
        return [str(name) for name in given]
    return [given] if given in known else [name.strip() for name in given.split(",") if name.strip()]
