"""Frequent itemsets: all, closed or maximal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from tacit.files.engines import Engine, as_engine
from tacit.files.inputs import Trees, holds_transactions, people_of, require_table, trees_of
from tacit.mining.database import Rows, table_rows
from tacit.mining.search import Limits, Progress, Wanted, count, mine, too_many_error
from tacit.model.columns import find_unsuitable
from tacit.model.errors import OptionError, nearest_name
from tacit.model.memory import half_of_memory
from tacit.model.numbers import Threshold
from tacit.model.release import ONLY, Header, Items, Itemsets, LeftOut, Only, Sets
from tacit.model.table import Hierarchy, Names, Table, Transactions, require_column, sort_names


def mine_itemsets(
    data: Transactions | Table | str | Path | Any,
    *,
    min_support: object,
    only: Only = "all",
    max_length: int | None = None,
    strict: bool = False,
    qi: Names = (),
    sa: Names = (),
    person: str | None = None,
    hierarchies: Trees = None,
    max_itemsets: int | None = None,
    memory: int | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Itemsets:
    """Mine the frequent itemsets of the data, in dictionary order.

    The empty set is not one of them.

    Parameters
    ----------
    data
        Transactions, or a table: then items are ``column=value``, of all columns that are not identifying. If no column has a role, those of
        identifiers and of dates are left out (see :mod:`tacit.model.columns`); ``header.left_out`` of the result names them. Also a file, a
        frame, or a list of lists of items. Where all columns of a frame hold truth values, or zeros and ones, each of them is an item, which
        people have or not.
    min_support
        A share such as ``0.1`` or ``"10%"``, or a count of people; an itemset is frequent when at least as many people have it.
    only
        ``"all"``; ``"closed"``: those without a larger itemset of the same count; ``"maximal"``: those without a larger frequent itemset.
    max_length
        The most items of an itemset; longer ones are not listed, and that they are missing says nothing. Only for ``"all"``: which sets are
        closed or maximal depends on longer ones.
    strict
        Read the threshold as "more than".
    qi, sa
        The quasi-identifying columns and the sensitive ones of a file or frame; only they are then looked at.
    person
        The column of a table that says whose row it is, where people have several rows: people are counted, who have each item ``column: value``
        that one of their rows has.
    hierarchies
        Coarser values of some columns of a table, which are items as well. An itemset holds at most one item of a column, so that no value
        stands beside a coarser value that it belongs to anyway; closed and maximal are meant among these itemsets. Also a folder of files.
    max_itemsets
        Stop with an error when there are more; by default 6 million, unless ``memory`` is given.
    memory
        Stop with an error when they take more bytes than this; by default half of the machine's memory.
    threads
        How many cores to use; all by default.
    time_limit
        Seconds after which mining stops with :class:`~tacit.model.errors.LimitReached`.
    progress
        Called now and then with the share of the work done, from 0 to 1.
    engine
        Program that reads a file and merges its equal rows (see :func:`tacit.engine`). Spark mines a file of transactions in shards on its
        cluster, whose machines need Tacit.

    Examples
    --------
    >>> import tacit
    >>> found = tacit.mine_itemsets([["beer", "crisps"], ["beer", "crisps"], ["beer"], []], min_support="50%")
    >>> [(found.names(i), found.count(i).lo) for i in range(len(found))]
    [(['beer'], 3), (['beer', 'crisps'], 2), (['crisps'], 2)]
    """
    merging = as_engine(engine)
    if merging is not None and merging.is_cluster and holds_transactions(data) and not (qi or sa or person or hierarchies):
        threshold = Threshold.parse(min_support)
        check_max_length(max_length, only=_check_only(only))
        return _mine_on_cluster(os.fspath(cast(str, data)), threshold, merging, only, strict=strict, max_length=max_length)
    extra = {} if person is None else {"columns": person}
    reading = None if person is not None else merging
    if qi or sa:
        data = require_table(data, "mine_itemsets", qi=qi, sa=sa, engine=reading, **extra)
    else:
        data = people_of(data, **({} if reading is None else {"engine": reading}))
    hierarchies = trees_of(hierarchies, data)
    check_max_length(max_length, only=_check_only(only))
    left_out = tuple(one for one in _find_left_out(data) if one.column != person)
    grouped: Header | None = None
    if person is not None:
        data, grouped = _group_rows(data, person, hierarchies, left_out)
    rows, items = _read_rows(data, hierarchies, left_out)
    least = Threshold.parse(min_support).least_count(data.n, strict=strict)
    if max_itemsets is memory is None:
        max_itemsets = MOST_ITEMSETS
    limits = Limits(time_limit, threads, max_itemsets, progress, memory)
    if only == "all" and not hierarchies:
        _refuse_powers(rows, least, memory or half_of_memory(), max_length)
    database, mined, _ = mine(rows, least, Wanted(only, bool(hierarchies), max_length=max_length), limits)
    kept = database.kept.tolist()
    pairs = None if items.pairs is None else tuple(items.pairs[i] for i in kept)
    frequent = Items(tuple(items.names[i] for i in kept), pairs)
    made = _make_header(data, least, strict=strict, coarser=bool(hierarchies))
    if grouped is not None:
        made = replace(grouped, n=made.n, min_support=least, complete=True, strict=strict)
    header = replace(made, max_length=max_length, left_out=left_out)
    return Itemsets(Sets(mined.offsets, mined.members), mined.counts, mined.counts, frequent, header=header, only=only)


def _mine_on_cluster(
    path: str, threshold: Threshold, engine: Engine, only: Only, *, strict: bool, max_length: int | None
) -> Itemsets:
    """Mine a file of transactions in shards on a cluster; the result is that of :func:`mine_itemsets`."""
    from tacit.files.spark import SparkBaskets
    from tacit.kernels.rows import find_maximal
    from tacit.mining.shards import mine_baskets

    baskets = SparkBaskets.open(path, engine, lambda _names, lines, n: lines >= threshold.least_count(n, strict=strict))
    least = threshold.least_count(baskets.n, strict=strict)
    sets, counts = mine_baskets(baskets, least, "all" if only == "all" else "closed", max_length)
    if only == "maximal":
        largest = find_maximal(sets.offsets, sets.members, max(1, len(baskets.names)))
        sets = sets.take(largest)
        counts = counts[largest]
    names = sort_names(baskets.names)
    place = {name: number for number, name in enumerate(names)}
    fresh = np.array([place[name] for name in baskets.names], np.int64)
    sets = Sets.from_pairs(sets.owners(), fresh[sets.members] if len(names) else sets.members, len(sets))
    order = np.array(sorted(range(len(sets)), key=lambda number: sets[number].tolist()), np.int64)
    people = Transactions(Sets(np.zeros(2, np.int64), np.empty(0, np.int32)), np.array([baskets.n]), Items(names))
    header = replace(_make_header(people, least, strict=strict, coarser=False), max_length=max_length)
    return Itemsets(sets.take(order), counts[order], counts[order], Items(names), header=header, only=only)


def count_itemsets(
    data: Transactions | Table,
    *,
    min_support: object,
    only: Iterable[Only] = ONLY,
    strict: bool = False,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> dict[Only, int]:
    """Count the frequent itemsets: all, closed or maximal."""
    rows, _ = _read_rows(data, hierarchies, _find_left_out(data))
    least = Threshold.parse(min_support).least_count(data.n, strict=strict)
    limits = Limits(time_limit, threads, None, progress)
    return {name: mine(rows, least, Wanted(_check_only(name), bool(hierarchies)), limits, keep=False)[2] for name in only}


def count_by_threshold(
    data: Transactions | Table,
    *,
    thresholds: Sequence[int],
    only: Only = "all",
    hierarchies: Mapping[str, Hierarchy] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> list[int]:
    """Count the itemsets that reach each threshold.

    An itemset is closed whatever the threshold is, so one search serves them all; what is maximal depends on it and is not counted here.
    """
    if only == "maximal":
        raise OptionError("which itemsets are maximal depends on the threshold", where="only", remedy="Count them one by one")
    if not thresholds:
        return []
    rows, _ = _read_rows(data, hierarchies, _find_left_out(data))
    limits = Limits(time_limit, None, None, progress)
    wanted = Wanted(_check_only(only), bool(hierarchies))
    return [int(number) for number in count(rows, np.array(thresholds, np.int64), wanted, limits)]


MOST_ITEMSETS = 6_000_000  #: More are a mistake rather than a release: over a gigabyte in a file.
_SAMPLED_ROWS = 2_000  #: Rows in which a long itemset is looked for; it is counted in all of them.
_LONG_ROWS = 20  #: Rows of fewer items cannot make more itemsets than any machine holds.
_BYTES_OF_A_SET = 16  #: What a stored itemset takes besides its items.


def _refuse_powers(rows: Rows, least: int, memory: int, max_length: int | None) -> None:
    """Raise at once if the subsets of one long frequent itemset fill the memory."""
    members = rows.sets.members
    if len(members) < _LONG_ROWS * max(1, len(rows.sets)):
        return
    items = _find_long_set(rows, least)
    while len(items) > 10:
        longest = len(items) if max_length is None else min(len(items), max_length)
        parts = sum(comb(len(items), length) for length in range(longest + 1))
        if parts * (_BYTES_OF_A_SET + 2 * longest) <= memory:
            return
        held = np.bincount(rows.sets.owners()[np.isin(members, items)], minlength=len(rows.sets))
        if rows.weights[held == len(items)].sum() >= least:
            who = "1 person has" if least == 1 else f"{least:,} people or more have"
            what = f"at least {parts:,} itemsets reach it: {who} {len(items)} items in common, and every part of these is one"
            raise too_many_error(what)
        items.pop()


def _find_long_set(rows: Rows, least: int) -> list[int]:
    """Return a long itemset, greedily grown, that is frequent in a sample."""
    chosen = np.unique(np.linspace(0, len(rows.sets) - 1, _SAMPLED_ROWS).astype(np.int64))
    sample = rows.sets.take(chosen)
    owners = sample.owners()
    members = sample.members
    weights = rows.weights[chosen].astype(np.float64)
    wanted = least * weights.sum() / max(1, int(rows.weights.sum()))
    items: list[int] = []
    while True:
        people = np.bincount(members, weights[owners], rows.n_items)
        people[items] = 0
        best = int(people.argmax()) if len(people) else 0
        if not len(people) or people[best] < max(wanted, 1):
            return items
        items.append(best)
        has_it = np.zeros(len(chosen), np.bool_)
        has_it[owners[members == best]] = True
        kept = has_it[owners]
        owners = owners[kept]
        members = members[kept]


def _check_only(only: Only) -> Only:
    if only not in get_args(Only):
        raise OptionError(f"unknown choice {only!r}", where="--only", remedy=nearest_name(only, ONLY, "choices"))
    return only


def check_max_length(max_length: int | None, *, only: Only = "all") -> None:
    """Raise unless sets of this length can be listed."""
    if max_length is None:
        return
    if isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1:
        raise OptionError(
            "must be a whole number of at least 1", where="--max-length", remedy="Write for instance --max-length 3"
        )
    if only != "all":
        what = f"cannot be combined with --only {only}: which itemsets are {only} depends on longer ones"
        raise OptionError(what, where="--max-length", remedy="Leave one of them out")


def _group_rows(
    data: Transactions | Table, person: str, hierarchies: Mapping[str, Hierarchy] | None, left_out: Sequence[LeftOut]
) -> tuple[Transactions, Header]:
    """Return the rows of each person as one, and what a header says about it."""
    if not isinstance(data, Table):
        raise OptionError("has transactions, which have no columns", where="--person", remedy="Leave it out, or give a table")
    if hierarchies:
        remedy = "Leave one of them out"
        raise OptionError("cannot be combined with --hierarchies", where="--person", remedy=remedy)
    if bool((data.weights != 1).any()):
        raise OptionError("needs the rows one by one", where="--person", remedy="Leave --engine out")
    require_column(person, data.names, where="--person")
    skipped = {person, *data.schema.identifying, *(one.column for one in left_out)}
    columns = tuple(name for name in data.names if name not in skipped)
    if not columns:
        raise OptionError("no other column is left", where="--person", remedy="Name columns with --qi")
    header = Header(missing=data.missing.mark, missing_rule=data.missing.rule, bins=data.bins, person=person, columns=columns)
    return data.by_person(person, columns), header


def _find_left_out(data: Transactions | Table) -> tuple[LeftOut, ...]:
    """Return columns that are not mined because nobody named them; none if that would be all."""
    if not isinstance(data, Table) or data.schema.used:
        return ()
    found = tuple(one for one in find_unsuitable(data) if one.column not in data.schema.identifying)
    return found if len(found) + len(data.schema.identifying) < len(data.names) else ()


def _read_rows(
    data: Transactions | Table, hierarchies: Mapping[str, Hierarchy] | None, left_out: Sequence[LeftOut] = ()
) -> tuple[Rows, Items]:
    if isinstance(data, Table):
        skipped = {*data.schema.identifying, *(one.column for one in left_out)}
        columns = [name for name in data.names if name not in skipped]
        rows, pairs = table_rows(data, columns, hierarchies)
        return rows, Items.of_columns(pairs)
    if hierarchies:
        raise OptionError("belong to the columns of a table", where="hierarchies", remedy="Leave them out for transactions")
    return Rows(data.rows, data.weights, len(data.items)), data.items


def _make_header(data: Transactions | Table, least: int, *, strict: bool, coarser: bool) -> Header:
    if not isinstance(data, Table):
        return Header(n=data.n, min_support=least, complete=True, strict=strict)
    schema = data.schema
    return Header(
        n=data.n,
        min_support=least,
        complete=True,
        strict=strict,
        missing=data.missing.mark,
        missing_rule=data.missing.rule,
        bins=data.bins,
        qi=schema.qi,
        sa=schema.sa,
        sa_values=data.column(schema.sa[0]).values if len(schema.sa) == 1 else (),
        coarser=coarser,
    )
