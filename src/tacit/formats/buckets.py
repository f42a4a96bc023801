"""Bucketized releases: a table of quasi-identifiers (QIT) and one of sensitive values (ST), joined by a column of groups.

Tacit writes ``qit.csv``, ``st.csv`` and the header ``buckets.json`` in one folder (:mod:`tacit.formats.buckets_writing`). Pairs of other tools
are read as they are: delimited text or Parquet, packed or not, frames, the group column under any usual name, and an ST with a count for each
value or with one line for each person.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError, OptionError, numbered
from tacit.formats.buckets_header import HEADER, BucketsHeader, read_buckets_header
from tacit.formats.files import sha256_of, shown, source_of
from tacit.formats.tables import read_table
from tacit.model.buckets import Buckets, joined_source
from tacit.model.release import Header
from tacit.model.schema import Schema, require_column
from tacit.model.source import Source
from tacit.model.table import Column, Table

#: What other tools call the column of groups and that of counts, in small letters and without other signs.
GROUP_NAMES = ("group", "groupid", "groupno", "gid", "bucket", "bucketid", "bid")
COUNT_NAMES = ("count", "counts", "cnt", "freq", "frequency", "number", "people", "n")
#: The names of the two tables: ``qit.csv``, ``patients_QIT.tsv.gz``, ``st.parquet``.
_NAMED = re.compile(r"(?P<stem>.*[^a-z]|)(?P<role>qit|st)(?P<ending>(?:\.(?:csv|tsv|tab|txt|parquet))+(?:\.gz)?)", re.IGNORECASE)

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two tables, what messages call them, and what a header says."""

    people: Table
    values: Table
    people_where: str
    values_where: str
    header: BucketsHeader


def read_buckets(
    folder: str | Path | Buckets | None = None,
    *,
    qit: Any = None,
    st: Any = None,
    group: str | None = None,
    sa: str | None = None,
) -> Buckets:
    """A bucketized release from a folder that holds both tables, from one of its files, or from two files or frames.

    Parameters
    ----------
    folder
        The folder, or one of the two files in it; leave it out to give both.
    qit, st
        The table of quasi-identifiers and that of sensitive values, each a file or a frame.
    group
        The column of groups, where it has a name that is not known.
    sa
        The sensitive column of the ST, where there are several.

    Examples
    --------
    >>> people = {"sex": ["F", "M"], "group": [1, 1]}
    >>> ill = {"group": [1, 1], "ill": ["flu", "cold"], "count": [1, 1]}
    >>> buckets = read_buckets(qit=people, st=ill)
    >>> buckets.n, buckets.sensitive, buckets.contents(0)
    (2, 'ill', {'cold': 1, 'flu': 1})
    """
    if isinstance(folder, Buckets):
        return folder
    if (folder is None) == (qit is None and st is None) or (qit is None) != (st is None):
        raise OptionError("needs a folder, or both qit= and st=", where="read_buckets", remedy="Give one or the other")
    header, beside = BucketsHeader(), ""
    if folder is not None:
        found = pair_of(folder)
        if found is None:
            raise InputError(
                "holds no qit and st table", where=shown(folder), remedy="Name them qit.csv and st.csv, or give both"
            )
        qit, st = found
        header = read_buckets_header(found[0].parent / HEADER)
        beside = _sha256_of_header(found[0].parent / HEADER)
    named = [shown(one) if isinstance(one, (str, os.PathLike)) else name for one, name in ((qit, "the QIT"), (st, "the ST"))]
    people, values = (read_table(one, where=where) for one, where in zip((qit, st), named, strict=True))
    built = _build(_Pair(people, values, named[0], named[1], header), group, sa)
    return replace(built, sources=tuple(replace(one, header=beside) for one in built.sources))


def buckets_source(pair: tuple[Path, Path]) -> Source:
    """The two tables of a bucketized release as one source, without reading them."""
    beside = _sha256_of_header(pair[0].parent / HEADER)
    return joined_source([replace(source_of(one), header=beside) for one in pair])


def _sha256_of_header(path: Path) -> str:
    return sha256_of(path) if path.is_file() else ""


def pair_of(path: str | Path) -> tuple[Path, Path] | None:
    """The two tables of a folder, or those that a file is one of; None where there are none."""
    place = Path(path)
    if place.is_dir():
        found = {role: _tables_in(place, role) for role in ("qit", "st")}
        if not any(found.values()):
            return None
        for role, tables in found.items():
            if len(tables) != 1:
                what = f"holds {len(tables)} tables called {role}" if tables else f"holds no table called {role}"
                raise InputError(what, where=shown(path), remedy="Leave one qit and one st in it, or give the two files")
        return found["qit"][0], found["st"][0]
    match = _NAMED.fullmatch(place.name)
    if match is None or not place.is_file():
        return None
    other = "st" if match["role"].casefold() == "qit" else "qit"
    beside = [one for one in _tables_in(place.parent, other) if _stem(one.name) == _stem(place.name)]
    if len(beside) != 1:
        return None
    return (place, beside[0]) if other == "st" else (beside[0], place)


def _tables_in(folder: Path, role: str) -> list[Path]:
    found = (
        one for one in folder.iterdir() if (match := _NAMED.fullmatch(one.name)) is not None and match["role"].casefold() == role
    )
    return sorted(one for one in found if one.is_file() and not one.name.startswith("."))


def _stem(name: str) -> str:
    match = _NAMED.fullmatch(name)
    return match["stem"].casefold() if match is not None else name


# Columns


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.casefold())


def _group_column(pair: _Pair, group: str | None) -> tuple[str, str]:
    """The column of groups in the QIT and in the ST."""
    given = group or pair.header.group
    chosen = []
    for table, where in ((pair.people, pair.people_where), (pair.values, pair.values_where)):
        if given is not None:
            require_column(given, table.names, where=where)
            chosen.append(given)
            continue
        exact = [name for name in table.names if name == "group"]
        found = exact or [name for name in table.names if _plain(name) in GROUP_NAMES]
        if len(found) != 1:
            what = "has no column of groups" if not found else f"has {len(found)} columns that may be groups"
            remedy = f"Call one of its {len(table.names)} columns group, or name it with group="
            raise InputError(what, where=where, remedy=remedy)
        chosen += found
    return chosen[0], chosen[1]


def _value_columns(pair: _Pair, group: str, sa: str | None) -> tuple[str, str | None]:
    """The sensitive column of the ST, and that of counts, if there is one."""
    names, where = [name for name in pair.values.names if name != group], pair.values_where
    sensitive = sa or pair.header.sa
    if sensitive is not None:
        require_column(sensitive, names, where=where)
    likely = [name for name in names if name == "count"] or [name for name in names if _plain(name) in COUNT_NAMES]
    counts = [name for name in likely if name != sensitive] if len(names) > 1 else []
    rest = [name for name in names if name not in counts[-1:]]
    if sensitive is None and len(rest) != 1:
        what = f"has several sensitive columns: {', '.join(rest)}" if rest else "has no sensitive column"
        remedy = (
            "Bucketize each by itself, or name the one to look at with sa=" if rest else "Give group, the sensitive column, count"
        )
        raise InputError(what, where=where, remedy=remedy)
    return sensitive or rest[0], counts[-1] if counts else None


# Numbers and groups


def _counts(column: Column, where: str) -> Numbers:
    """The counts of the ST's lines, whole numbers of at least 1."""
    known = np.array(
        [int(text.partition(".")[0]) if re.fullmatch(r"0*[1-9]\d{0,17}(\.0*)?", text) else 0 for text in column.values]
    )
    counts = known[column.codes]
    if (counts < 1).any():
        line = int(np.argmax(counts < 1)) + 2
        what = "is no whole number of at least 1"
        raise InputError(what, where=f"{where}, line {line}, column {column.name}", remedy="Write how many people have the value")
    return np.asarray(counts, np.int64)


def _ordered(names: Sequence[str]) -> list[int]:
    """The places of names of groups as people count them: numbers by size, else as text."""
    whole = "".join(names).isascii() and all(name.isdecimal() and len(name) < 19 for name in names)
    by_name: list[Any] = [(int(name), name) for name in names] if whole else list(names)
    return sorted(range(len(names)), key=by_name.__getitem__)


def _refuse_groups_of_one_table(pair: _Pair, people: Column, values: Column) -> None:
    """Raise where one of the tables has groups that the other lacks."""
    names = (pair.people_where, pair.values_where)
    for one, other, where, elsewhere in ((people, values, *names), (values, people, names[1], names[0])):
        theirs = set(other.values)
        alone = np.array([name not in theirs for name in one.values], np.bool_)
        if alone.any():
            lines = (np.flatnonzero(alone[one.codes]) + 2).tolist()
            whose = "their groups do" if len(lines) > 1 else "its group does"
            what, place = f"{whose} not occur in {elsewhere}", f"{where}, {numbered(lines)}"
            raise Contradiction(what, where=place, remedy=_FIT, lines=lines)


_FIT = "Give the two tables of one release"


def _build(pair: _Pair, group: str | None, sa: str | None) -> Buckets:
    group_names = _group_column(pair, group)
    sensitive, count = _value_columns(pair, group_names[1], sa)
    mine, theirs = pair.people.column(group_names[0]), pair.values.column(group_names[1])
    qi = pair.header.qi or tuple(name for name in pair.people.names if name != group_names[0])
    for name in qi:
        require_column(name, pair.people.names, where=pair.people_where)
    if not qi:
        raise InputError(
            "has no quasi-identifying column", where=pair.people_where, remedy="Give the QI columns beside the groups"
        )
    if sensitive in qi:
        remedy = "Give a QIT without it: published beside the people, it needs no attack"
        raise InputError("holds the sensitive column", where=pair.people_where, remedy=remedy)
    if mine.values != theirs.values:
        _refuse_groups_of_one_table(pair, mine, theirs)
    order = _ordered(mine.values)
    names = [mine.values[place] for place in order]
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rows, group_of_line = rank[mine.codes], rank[theirs.codes]
    column = _in_domain(pair.values.column(sensitive), pair.header.header.sa_values)
    per_line = None if count is None else _counts(pair.values.column(count), pair.values_where)
    starts, value, counts, lines = _entries(pair, group_of_line, column, per_line, len(names))
    _check_sizes(pair, np.bincount(rows, minlength=len(names)), starts, counts, lines)
    people = replace(pair.people.select(qi), schema=Schema(qi=qi))
    head = replace(pair.header.header, n=len(rows), qi=qi, sa=(sensitive,), sa_values=column.values, complete=True)
    _check_n(pair.header.header, len(rows))
    sources = tuple(one.source for one in (pair.people, pair.values) if one.source is not None)
    return Buckets(people, rows, tuple(names), sensitive, column.values, starts, value, counts, head, lines, sources)


def _in_domain(column: Column, domain: tuple[str, ...]) -> Column:
    """The column over all values that it can have, where a header lists them."""
    values = tuple(sorted({*column.values, *domain}))
    place = {value: number for number, value in enumerate(values)}
    return Column(column.name, values, np.array([place[value] for value in column.values], np.int32)[column.codes])


def _entries(
    pair: _Pair, group: npt.NDArray[np.int32], column: Column, counts: Numbers | None, groups: int
) -> tuple[Numbers, npt.NDArray[np.int32], Numbers, Numbers]:
    """The ST in flat form: where each group starts, values, counts, and the lines that they stand in."""
    width = max(1, len(column.values))
    key = group.astype(np.int64) * width + column.codes
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if counts is not None and len(first) < len(key):
        again = int(np.flatnonzero(ordered[1:] == ordered[:-1])[0])
        lines = sorted((order[[again, again + 1]] + 2).tolist())
        what = "name the same value of the same group"
        raise InputError(what, where=f"{pair.values_where}, {numbered(lines)}", remedy="Add their counts up in one line")
    number = np.diff(np.append(first, len(key))) if counts is None else counts[order]
    keys = ordered[first]
    starts = np.searchsorted(keys, np.arange(groups + 1) * width)
    return starts, (keys % width).astype(np.int32), number.astype(np.int64), order[first] + 2


def _check_sizes(pair: _Pair, sizes: Numbers, starts: Numbers, counts: Numbers, lines: Numbers) -> None:
    total = np.append(0, np.cumsum(counts))
    wrong = np.flatnonzero(np.diff(total[starts]) != sizes)
    if len(wrong):
        here = sorted(lines[starts[wrong[0]] : starts[wrong[0] + 1]].tolist())
        more = f" (and of {len(wrong) - 1:,} other groups)" if len(wrong) > 1 else ""
        what = f"the values of this group{more} are more or fewer than its people in {pair.people_where}"
        raise Contradiction(what, where=f"{pair.values_where}, {numbered(here)}", remedy=_FIT, lines=here)


def _check_n(header: Header, n: int) -> None:
    if header.n not in (None, n):
        what = f"says that there are {header.n:,} people, and the tables hold {n:,}"
        raise Contradiction(what, where=HEADER, remedy="Correct it, or remove the file")
