"""Verbs that make itemsets, rules and frequency tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import OptionError
from tacit.files.hierarchies import check_hierarchies
from tacit.files.tables import Names, column_names, sensitive_names
from tacit.mining import frequencies, itemsets, negative, rules
from tacit.model.audit import Progress
from tacit.model.frequencies import FrequencyTable
from tacit.model.negative import NegativeRules
from tacit.model.policy import Limits
from tacit.model.release import Itemsets, Only, Rules
from tacit.model.table import Schema, Table, Transactions
from tacit.verbs.data import Trees, people_of, require_table, trees_of

__all__ = ["mine_itemsets", "mine_negative_rules", "mine_rules", "tabulate"]


def mine_itemsets(
    data: Transactions | Table | str | Path | Any,
    *,
    min_support: Any,
    only: Only = "all",
    strict: bool = False,
    hierarchies: Trees = None,
    max_itemsets: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Itemsets:
    """Mine the frequent itemsets of the data.

    Options are those of :func:`tacit.mining.itemsets.mine_itemsets`. Data may also be a file, a frame, or a list of lists of items; hierarchies
    may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> found = tacit.mine_itemsets([["a", "b"], ["a", "b"], ["a"]], min_support=2, only="closed")
    >>> len(found), found.min_support, found.n
    (2, 2, 3)
    """
    people = people_of(data)
    return itemsets.mine_itemsets(
        people,
        min_support=min_support,
        only=only,
        strict=strict,
        hierarchies=trees_of(hierarchies, people),
        max_itemsets=max_itemsets,
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )


def mine_rules(
    people: Table,
    *,
    min_support: Any,
    min_confidence: Any,
    strict: bool = False,
    withhold_values: bool = False,
    digits: int | None = None,
    with_confidence: bool = False,
    incomplete: bool = False,
    publish_sa_distribution: bool = False,
    hierarchies: Trees = None,
    max_rules: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Rules:
    """Mine the rules QI => SA of a table.

    Options are those of :func:`tacit.mining.rules.mine_rules`. Hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F", "F", "M"], "ill": ["yes", "yes", "no"]}, qi="sex", sa="ill")
    >>> next(tacit.mine_rules(people, min_support=2, min_confidence=0.6).records())
    {'antecedent': {'sex': 'F'}, 'consequent': 'yes', 'count': 2, 'support': 0.6666666666666666, 'confidence': 1.0}
    """
    require_table(people, "mine_rules")
    return rules.mine_rules(
        people,
        min_support=min_support,
        min_confidence=min_confidence,
        strict=strict,
        withhold_values=withhold_values,
        digits=digits,
        with_confidence=with_confidence,
        incomplete=incomplete,
        publish_sa_distribution=publish_sa_distribution,
        hierarchies=trees_of(hierarchies, people),
        max_rules=max_rules,
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )


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
    """Mine the negative rules of a table: what an adversary knows before anything is published.

    Options are those of :func:`tacit.mining.negative.mine_negative_rules`. Hierarchies may be a folder of files.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.read_table({"sex": ["F"] * 30 + ["M"] * 30, "ill": ["flu"] * 50 + ["cold"] * 10}, qi="sex", sa="ill")
    >>> rules = tacit.mine_negative_rules(people, min_expectation=0.9)
    >>> len(rules), next(rules.records())["antecedent"]
    (1, {'sex': ['F']})
    """
    require_table(people, "mine_negative_rules")
    trees = trees_of(hierarchies, people)
    check_hierarchies(trees or {}, people)
    return negative.mine_negative_rules(
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
    table, no_sa = _with_roles(table, qi, sa)
    made = frequencies.tabulate(
        table,
        tables=tables,
        total=total,
        hide_below=hide_below,
        show_zeros=show_zeros,
        round_to=round_to,
        check=lambda: limits.check("tabulate"),
    )
    return replace(made, header=replace(made.header, no_sa=True)) if no_sa else made


def _with_roles(table: Table, qi: Names, sa: Names) -> tuple[Table, bool]:
    sensitive, no_sa = sensitive_names(sa, table.names)
    schema = table.schema
    kept = () if no_sa else sensitive or schema.sa
    known = column_names(qi, table.names) or tuple(name for name in schema.qi if name not in kept)
    roles = Schema(known, kept, schema.identifying)
    roles.check(table.names, where="the data")
    return replace(table, schema=roles), no_sa


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
