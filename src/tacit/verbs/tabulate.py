"""The verb ``tabulate``: frequency tables of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.files.engines import Engine, as_engine
from tacit.files.hierarchies import read_hierarchies
from tacit.files.inputs import people_of
from tacit.mining import frequencies
from tacit.model.errors import OptionError
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import share
from tacit.model.policy import Limits
from tacit.model.table import Hierarchy, Names, Schema, Table, column_names, require_column, sensitive_names


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
    sums: Names = (),
    means: Names = (),
    medians: Names = (),
    quantiles: Names = (),
    stds: Names = (),
    mean_digits: int = 1,
    p_percent: float | str | Fraction | None = None,
    dominance: str | tuple[int, object] | None = None,
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
    sums, means, medians, stds
        Columns of numbers whose sums, means, medians or standard deviations (of a sample) stand beside the counts; hidden cells have none.
    quantiles
        Columns and shares of further quantiles: ``"income:0.9"``.
    mean_digits
        Digits after the point of means, quantiles and standard deviations.
    p_percent
        Print no numbers of cells where the sum less the two largest values is below this percentage of the largest one: 10 for 10 %.
    dominance
        Print no numbers of cells of which the n largest values are more than a share: ``"2,90%"``.
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
        measure=_measure(
            {"--sum": sums, "--mean": means, "--median": medians, "--quantile": quantiles, "--std": stds},
            table.names,
            digits=mean_digits,
            p_percent=p_percent,
            dominance=dominance,
        ),
        check=lambda: limits.check("tabulate"),
    )
    return replace(made, header=replace(made.header, no_sa=True)) if no_sa else made


def _measure(
    wanted: Mapping[str, Names], known: Sequence[str], *, digits: int, p_percent: object, dominance: object
) -> frequencies.Measure | None:
    """Return what to print beside counts, None if nothing."""
    named = {option: column_names(names, known) for option, names in wanted.items() if option != "--quantile"}
    shares = [split_quantile(one) for one in column_names(wanted["--quantile"], ())]
    rules = {"--p-percent": p_percent, "--dominance": dominance}
    given = [name for name, value in rules.items() if value is not None]
    if not any(named.values()) and not shares:
        if given:
            remedy = "Name their column with --sum or --mean"
            raise OptionError("applies to numbers beside counts", where=given[0], remedy=remedy)
        return None
    for option, names in (*named.items(), ("--quantile", [column for column, _ in shares])):
        for name in names:
            require_column(name, known, where=option)
    quantiles = (*((column, Fraction(1, 2)) for column in named["--median"]), *shares)
    if isinstance(digits, bool) or not 0 <= digits <= 5:
        raise OptionError("must be a whole number from 0 to 5", where="--mean-digits", remedy="Write for instance 1")
    percent = None if p_percent is None else share(f"{p_percent}%".replace("%%", "%"), where="--p-percent")
    return frequencies.Measure(
        sums=named["--sum"],
        means=named["--mean"],
        quantiles=tuple(dict.fromkeys(quantiles)),
        deviations=named["--std"],
        digits=digits,
        p_percent=percent,
        dominance=None if dominance is None else _dominance(dominance),
    )


def split_quantile(text: str) -> tuple[str, Fraction]:
    """Return the column and the share of a quantile, written ``income:0.9``."""
    column, colon, part = text.rpartition(":")
    remedy = "Write for instance --quantile income:0.9"
    if not colon:
        raise OptionError("must be a column and a share", where="--quantile", remedy=remedy)
    found = share(part, where="--quantile")
    if 10**8 % found.denominator:
        raise OptionError("must be a share of at most 8 digits", where="--quantile", remedy=remedy)
    return column, found


def _dominance(given: object) -> tuple[int, Fraction]:
    parts = given.split(",") if isinstance(given, str) else list(given) if isinstance(given, tuple | list) else []
    number, part = parts if len(parts) == 2 else ("", "")
    if not str(number).strip().isdecimal() or int(number) < 1 or not part:
        remedy = "Write for instance --dominance 2,90%"
        raise OptionError("must be a number of people and a share", where="--dominance", remedy=remedy)
    return int(number), share(part, where="--dominance")


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
