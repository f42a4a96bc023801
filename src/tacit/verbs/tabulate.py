"""The verb ``tabulate``: frequency tables of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.files.engines import Engine, as_engine
from tacit.files.hierarchies import read_hierarchies
from tacit.files.inputs import people_of
from tacit.mining import frequencies
from tacit.model.errors import OptionError
from tacit.model.frequencies import FrequencyTable
from tacit.model.policy import Limits
from tacit.model.table import Hierarchy, Names, Schema, Table, column_names, sensitive_names


def tabulate(
    people: Table | str | Path | Any,
    *,
    by: str | Sequence[str | Sequence[str]],
    ways: int | None = None,
    total: bool = False,
    hide_below: int | None = None,
    show_zeros: bool = False,
    round_to: int | None = None,
    qi: Names = (),
    sa: Names = (),
    hierarchies: Mapping[str, Hierarchy] | str | Path | None = None,
    time_limit: float | None = None,
    engine: Engine | str | None = None,
) -> FrequencyTable:
    """Count the people in each cell of one or more tables.

    Parameters
    ----------
    people
        A table, or anything :func:`tacit.read_table` takes.
    by
        The columns of a table, ``"sex,job"``; or of several tables, a text or list each.
    ways
        Instead of each table itself, all tables over at most this many of its columns.
    total
        List the totals of every table as well.
    hide_below
        Hide cells with fewer people.
    show_zeros
        Show cells with nobody although small ones are hidden.
    round_to
        Round counts to the nearest multiple of this, halves up.
    qi, sa
        The quasi-identifying columns and the sensitive ones, as the header will name them; by default those of the table. ``sa="none"`` says
        that none is sensitive.
    hierarchies
        A folder of hierarchies, or hierarchies by column: coarser values are listed as subtotals.
    time_limit
        Seconds after which :class:`LimitReached` is raised.
    engine
        Program that merges equal rows of a file (see :func:`tacit.engine`).

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
    table = people_of(people) if engine is None else people_of(people, engine=as_engine(engine))
    if not isinstance(table, Table):
        raise OptionError("holds transactions, which have no columns", where="the data", remedy="Give a table")
    tables = _tables(by, table.names)
    if ways is not None:
        tables = [smaller for columns in tables for smaller in frequencies.subtables(columns, ways)]
    limits = Limits.within(time_limit)
    sensitive, no_sa = sensitive_names(sa, table.names)
    schema = table.schema
    kept = () if no_sa else sensitive or schema.sa
    known = column_names(qi, table.names) or tuple(name for name in schema.qi if name not in kept)
    roles = Schema(known, kept, schema.identifying)
    roles.check(table.names, where="the data")
    made = frequencies.tabulate(
        replace(table, schema=roles),
        tables=tables,
        total=total,
        hide_below=hide_below,
        show_zeros=show_zeros,
        round_to=round_to,
        hierarchies=_read_hierarchies(hierarchies, tables),
        check=lambda: limits.check("tabulate"),
    )
    return replace(made, header=replace(made.header, no_sa=True)) if no_sa else made


def _read_hierarchies(given: Any, tables: Sequence[Sequence[str]]) -> Mapping[str, Hierarchy] | None:
    if given is None or isinstance(given, Mapping):
        return given
    return read_hierarchies(given, list(dict.fromkeys(column for table in tables for column in table)))


def _tables(by: str | Sequence[str | Sequence[str]], known: Sequence[str]) -> list[tuple[str, ...]]:
    tables: list[tuple[str, ...]] = []
    for given in [by] if isinstance(by, str) else by:
        if not isinstance(given, str):
            tables.append(tuple(str(name) for name in given))
        elif given in known:
            tables.append((given,))
        else:
            tables.append(tuple(name.strip() for name in given.split(",") if name.strip()))
    return tables
