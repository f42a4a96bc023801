"""Frequency tables of people: :func:`tabulate`.

The verb that mines negative rules: what an attacker knows before anything is published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.files.hierarchies import check_hierarchies
from tacit.files.tables import Names, column_names, sensitive_names
from tacit.mining import frequencies
from tacit.mining import negative as negative_mining
from tacit.model.frequencies import FrequencyTable
from tacit.model.negative import NegativeRules
from tacit.model.policy import Limits
from tacit.model.table import Schema, Table
from tacit.verbs.audit import Trees, people_of, trees_of

__all__ = ["mine_negative_rules"]


def mine_negative_rules(
    people: Table,
    *,
    min_expectation: Any,
    min_confidence: Any = 1,
    hierarchies: Trees = None,
    fuzzy: Mapping[str, Any] | None = None,
    max_length: int | None = None,
    significance: Any = None,
    permutations: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> NegativeRules:
    """The negative rules of a table; :func:`tacit.mining.negative.mine_negative_rules` says what the options mean.

    Hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F"] * 30 + ["M"] * 30, "ill": ["flu"] * 50 + ["cold"] * 10}, qi="sex", sa="ill")
    >>> rules = tacit.mine_negative_rules(people, min_expectation=0.9)
    >>> len(rules), next(rules.records())["antecedent"]
    (1, {'sex': ['F']})
    """
    if not isinstance(people, Table):
        remedy = "Read the data with tacit.read_table(.., qi=.., sa=..) first"
        raise OptionError("needs a table whose columns have roles", where="mine_negative_rules", remedy=remedy)
    trees = trees_of(hierarchies, people)
    check_hierarchies(trees or {}, people)
    return negative_mining.mine_negative_rules(
        people,
        min_expectation=min_expectation,
        min_confidence=min_confidence,
        hierarchies=trees,
        fuzzy=fuzzy,
        max_length=max_length,
        significance=significance,
        permutations=permutations,
        seed=seed,
        time_limit=time_limit,
        progress=progress,
    )


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
    qi: Names = (),
    sa: Names = (),
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
    qi, sa
        The quasi-identifying columns and the sensitive ones, as the header will name them; by default those of the table. ``sa="none"`` says
        that none is sensitive.
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
    table, no_sa = _with_roles(table, qi, sa)
    made = frequencies.tabulate(table, tables=tables, total=total, **how, check=lambda: limits.check("tabulate"))
    return replace(made, header=replace(made.header, no_sa=True)) if no_sa else made


def _with_roles(table: Table, qi: Names, sa: Names) -> tuple[Table, bool]:
    """The table with the roles that are given, else its own, and whether it is said that no column is sensitive."""
    sensitive, no_sa = sensitive_names(sa, table.names)
    schema = table.schema
    kept = () if no_sa else sensitive or schema.sa
    roles = Schema(
        column_names(qi, table.names) or tuple(name for name in schema.qi if name not in kept), kept, schema.identifying
    )
    roles.check(table.names, where="the data")
    return replace(table, schema=roles), no_sa


def _tables(by: str | Sequence[str | Sequence[str]], known: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns of each table; a text that is no column is split at its commas."""
    listed = [by] if isinstance(by, str) else list(by)
    return [tuple(_columns(one, known)) for one in listed]


def _columns(given: str | Sequence[str], known: Sequence[str]) -> list[str]:
    if not isinstance(given, str):
        return [str(name) for name in given]
    return [given] if given in known else [name.strip() for name in given.split(",") if name.strip()]
