"""Bucketized releases: tables QIT and ST joined by groups.

Tacit writes ``qit.csv``, ``st.csv`` and the header ``buckets.json`` in one folder, all of them or none; the tables may be Parquet. The order of
rows and the numbers of groups reveal nothing: they depend only on what is published anyway and on a random seed. Pairs of other tools are
read as they are: delimited text or Parquet, packed or not, frames, the group column under any usual name, and an ST with a count for each
value or with one line for each person.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError, OptionError, nearest_name, numbered
from tacit.files.delimited import csv_cell
from tacit.files.disk import FilePath, Input, made_folder, replace_file, shown
from tacit.files.duckdb import sql_name, write_by_csv
from tacit.files.header import Entries
from tacit.files.recognition import BUCKETS_HEADER, pair_of
from tacit.files.tables import read_table
from tacit.model.arrays import Ints, Words
from tacit.model.buckets import Buckets, joined_source
from tacit.model.release import Header, Source
from tacit.model.table import MISSING_RULES, Column, Schema, Table, require_column

FORMAT = "tacit.buckets/1"


@dataclass(frozen=True, slots=True)
class BucketsHeader:
    """Entries of the header."""

    header: Header = field(default_factory=Header)
    group: str | None = None
    sa: str | None = None
    qi: tuple[str, ...] = ()


def read_buckets_header(file: Input) -> BucketsHeader:
    """Return the header, or an empty one."""
    if not os.path.lexists(file):
        return BucketsHeader()
    with file.open_text() as stream:
        try:
            entries = json.load(stream)
        except (ValueError, RecursionError):
            entries = None
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        remedy = f'Write an object with "format": "{FORMAT}", or remove the file'
        raise InputError("is not a header of a bucketized release", where=file.name, remedy=remedy)
    get = Entries(entries, file.name)
    values = get.names("sa_values")
    if len(set(values)) < len(values):
        raise get.wrong("sa_values", "must be a list of texts, each once")
    header = Header(
        n=get.whole("n"),
        missing=get.text("missing"),
        missing_rule=get.choice("missing_rule", MISSING_RULES),
        sa_values=values,
    )
    return BucketsHeader(header, get.text("group"), get.text("sa"), get.names("qi"))


def buckets_header(buckets: Buckets, group: str, facts: Mapping[str, Any]) -> str:
    """Return the text of the header file.

    ``facts`` are further entries, such as how the groups were made.
    """
    header = buckets.header
    entries: dict[str, Any] = {
        "format": FORMAT,
        "n": buckets.n,
        "groups": len(buckets),
        "qi": list(buckets.people.names),
        "sa": buckets.sensitive,
        "sa_values": list(buckets.values),
        "group": group,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
    }
    return json.dumps(entries | dict(facts), indent=2, ensure_ascii=False) + "\n"


#: What other tools call the column of groups and that of counts, in small letters and without other signs.
GROUP_NAMES = ("group", "groupid", "groupno", "gid", "bucket", "bucketid", "bid")
COUNT_NAMES = ("count", "counts", "cnt", "freq", "frequency", "number", "people", "n")


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two tables, their names in messages, and the header."""

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
    """Read a bucketized release from a folder, from one of its files, or from two tables.

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
    header = BucketsHeader()
    header_sha256 = ""
    if folder is not None:
        found = pair_of(folder)
        if found is None:
            raise InputError(
                "holds no qit and st table", where=shown(folder), remedy="Name them qit.csv and st.csv, or give both"
            )
        qit, st = found
        beside = _header_of(found)
        header = read_buckets_header(beside)
        header_sha256 = _sha256_if_present(beside)
    named = [shown(one) if isinstance(one, (str, os.PathLike)) else name for one, name in ((qit, "the QIT"), (st, "the ST"))]
    people, values = (read_table(one, where=where) for one, where in zip((qit, st), named, strict=True))
    built = _build(_Pair(people, values, named[0], named[1], header), group, sa)
    return replace(built, sources=tuple(replace(one, header=header_sha256) for one in built.sources))


def buckets_source(pair: tuple[Path, Path]) -> Source:
    """Return both tables of a release as one source."""
    header_sha256 = _sha256_if_present(_header_of(pair))
    return joined_source([replace(Input(one).source, header=header_sha256) for one in pair])


def _header_of(pair: tuple[Path, Path]) -> Input:
    return Input(pair[0].parent / BUCKETS_HEADER)


def _sha256_if_present(file: Input) -> str:
    return file.sha256 if os.path.isfile(file) else ""


# Columns


def _letters_of(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.casefold())


def _group_column(pair: _Pair, group: str | None) -> tuple[str, str]:
    """Return the group columns of the QIT and the ST."""
    given = group or pair.header.group
    chosen = []
    for table, where in ((pair.people, pair.people_where), (pair.values, pair.values_where)):
        if given is not None:
            require_column(given, table.names, where=where)
            chosen.append(given)
            continue
        exact = [name for name in table.names if name == "group"]
        found = exact or [name for name in table.names if _letters_of(name) in GROUP_NAMES]
        if len(found) != 1:
            what = "has no column of groups" if not found else f"has {len(found)} columns that may be groups"
            remedy = f"Call one of its {len(table.names)} columns group, or name it with group="
            raise InputError(what, where=where, remedy=remedy)
        chosen += found
    return chosen[0], chosen[1]


def _value_columns(pair: _Pair, group: str, sa: str | None) -> tuple[str, str | None]:
    """Return the sensitive and count columns of the ST."""
    names = [name for name in pair.values.names if name != group]
    where = pair.values_where
    sensitive = sa or pair.header.sa
    if sensitive is not None:
        require_column(sensitive, names, where=where)
    likely = [name for name in names if name == "count"] or [name for name in names if _letters_of(name) in COUNT_NAMES]
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


def _counts(column: Column, where: str) -> Ints:
    """Return the counts of the ST, each at least 1."""
    known = np.array(
        [int(text.partition(".")[0]) if re.fullmatch(r"0*[1-9]\d{0,17}(\.0*)?", text) else 0 for text in column.values]
    )
    counts = known[column.codes]
    if (counts < 1).any():
        line = int(np.argmax(counts < 1)) + 2
        what = "is not a whole number of at least 1"
        raise InputError(what, where=f"{where}, line {line}, column {column.name}", remedy="Write how many people have the value")
    return np.asarray(counts, np.int64)


def _natural_order(names: Sequence[str]) -> list[int]:
    """Return the ranks of group names in natural order."""
    whole = "".join(names).isascii() and all(name.isdecimal() and len(name) < 19 for name in names)
    by_name: list[Any] = [(int(name), name) for name in names] if whole else list(names)
    return sorted(range(len(names)), key=by_name.__getitem__)


def _refuse_groups_of_one_table(pair: _Pair, people: Column, values: Column) -> None:
    """Raise if one table lacks groups of the other."""
    names = (pair.people_where, pair.values_where)
    for one, other, where, elsewhere in ((people, values, *names), (values, people, names[1], names[0])):
        theirs = set(other.values)
        alone = np.array([name not in theirs for name in one.values], np.bool_)
        if alone.any():
            lines = (np.flatnonzero(alone[one.codes]) + 2).tolist()
            whose = "their groups do" if len(lines) > 1 else "its group does"
            what = f"{whose} not occur in {elsewhere}"
            place = f"{where}, {numbered(lines)}"
            raise Contradiction(what, where=place, remedy=_FIT, lines=lines)


_FIT = "Give the two tables of one release"


def _build(pair: _Pair, group: str | None, sa: str | None) -> Buckets:
    group_names = _group_column(pair, group)
    sensitive, count = _value_columns(pair, group_names[1], sa)
    mine = pair.people.column(group_names[0])
    theirs = pair.values.column(group_names[1])
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
    order = _natural_order(mine.values)
    names = [mine.values[place] for place in order]
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rows = rank[mine.codes]
    group_of_line = rank[theirs.codes]
    column = _extend_domain(pair.values.column(sensitive), pair.header.header.sa_values)
    per_line = None if count is None else _counts(pair.values.column(count), pair.values_where)
    starts, value, counts, lines = _flatten_values(pair, group_of_line, column, per_line, len(names))
    _check_sizes(pair, np.bincount(rows, minlength=len(names)), starts, counts, lines)
    people = replace(pair.people.select(qi), schema=Schema(qi=qi))
    head = replace(pair.header.header, n=len(rows), qi=qi, sa=(sensitive,), sa_values=column.values, complete=True)
    _check_n(pair.header.header, len(rows))
    sources = tuple(one.source for one in (pair.people, pair.values) if one.source is not None)
    return Buckets(people, rows, tuple(names), sensitive, column.values, starts, value, counts, head, lines, sources)


def _extend_domain(column: Column, domain: tuple[str, ...]) -> Column:
    """Return the column over the header's domain."""
    values = tuple(sorted({*column.values, *domain}))
    place = {value: number for number, value in enumerate(values)}
    return Column(column.name, values, np.array([place[value] for value in column.values], np.int32)[column.codes])


def _flatten_values(
    pair: _Pair, group: npt.NDArray[np.int32], column: Column, counts: Ints | None, groups: int
) -> tuple[Ints, npt.NDArray[np.int32], Ints, Ints]:
    """Return the ST in flat form."""
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


def _check_sizes(pair: _Pair, sizes: Ints, starts: Ints, counts: Ints, lines: Ints) -> None:
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
        raise Contradiction(what, where=BUCKETS_HEADER, remedy="Correct it, or remove the file")


Form = Literal["csv", "parquet"]
FORMS: tuple[Form, ...] = get_args(Form)
_BATCH = 100_000


def write_buckets(
    buckets: Buckets, folder: FilePath, *, form: Form = "csv", seed: int = 0, facts: Mapping[str, Any] | None = None
) -> None:
    """Write both tables and their header, rows and groups shuffled.

    The folder is made if its parent exists. ``facts`` are further header entries, which must reveal no more than the release.
    """
    if form not in FORMS:
        raise OptionError(f"there is no form {form!r}", where="--form", remedy=nearest_name(str(form), FORMS, "forms"))
    if buckets.sensitive == "count":
        raise OptionError("the ST has a column count already", where="columns", remedy="Rename the sensitive column")
    release = shuffled(buckets, seed=seed)
    group = buckets.group_name
    place = made_folder(folder)
    _refuse_others(place, form)
    with contextlib.ExitStack() as stack:
        # All temporary files are complete before the first of them is moved to its place.
        header, st, qit = (
            stack.enter_context(replace_file(place / name)) for name in (BUCKETS_HEADER, f"st.{form}", f"qit.{form}")
        )
        write = _write_csv if form == "csv" else _write_parquet
        write(qit, [*release.people.names, group], _people_cells(release), numbers=1)
        write(st, [group, release.sensitive, "count"], _value_cells(release), numbers=2)
        header.write_text(buckets_header(release, group, facts or {}), encoding="utf-8", newline="\n")


def shuffled(buckets: Buckets, *, seed: int = 0) -> Buckets:
    """Return the release in random order.

    The same for the same people, groups and seed, in whatever order they come.
    """
    chance = np.random.default_rng([20080407, seed])
    person = _hash_rows([_ranks(column.codes) for column in buckets.people.columns], buckets.n)
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    held = _hash_rows([_ranks(buckets.value), buckets.count], len(buckets.value))
    content = _sum_by_group(buckets.group, person, len(buckets)) * np.uint64(3) + _sum_by_group(owner, held, len(buckets))
    by_content = np.argsort(content, kind="stable")
    fresh = np.empty(len(buckets), np.int32)
    fresh[chance.permutation(by_content)] = np.arange(len(buckets), dtype=np.int32)
    group = fresh[buckets.group]
    # First in an order that only the content decides, then in that of chance.
    rows = np.lexsort((person, group))
    rows = rows[np.lexsort((chance.permutation(buckets.n), group[rows]))]
    columns = tuple(replace(column, codes=column.codes[rows]) for column in buckets.people.columns)
    people = replace(buckets.people, columns=columns, weights=buckets.people.weights[rows], source=None)
    entries = np.lexsort((buckets.value, fresh[owner]))
    starts = np.searchsorted(fresh[owner][entries], np.arange(len(buckets) + 1))
    names = tuple(str(number + 1) for number in range(len(buckets)))
    value = buckets.value[entries]
    count = buckets.count[entries]
    head = buckets.header
    return Buckets(people, group[rows], names, buckets.sensitive, buckets.values, starts, value, count, head)


def _ranks(codes: npt.NDArray[np.int32]) -> Ints:
    """Return codes renumbered by those that occur."""
    occurs = np.bincount(codes) > 0
    return np.asarray((np.cumsum(occurs) - 1)[codes])


def _hash_rows(columns: Sequence[npt.NDArray[Any]], rows: int) -> Words:
    """Return a hash of the cells of each row."""
    marks = np.zeros(rows, np.uint64)
    for column in columns:
        marks = (marks ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        marks ^= marks >> np.uint64(29)
        marks *= np.uint64(0xBF58476D1CE4E5B9)
        marks ^= marks >> np.uint64(32)
    return marks


def _sum_by_group(owner: npt.NDArray[Any], marks: Words, groups: int) -> Words:
    """Return the sum of the hashes of each group."""
    total = np.append(np.uint64(0), np.cumsum(marks[np.argsort(owner, kind="stable")], dtype=np.uint64))
    ends = np.append(0, np.cumsum(np.bincount(owner, minlength=groups)))
    return np.asarray(total[ends[1:]] - total[ends[:-1]], np.uint64)


def _refuse_others(folder: Path, form: Form) -> None:
    """Raise if the folder holds the other format."""
    for other in FORMS:
        if other != form and any((folder / f"{role}.{other}").exists() for role in ("qit", "st")):
            what = f"holds a release in the form {other} already"
            raise OptionError(what, where=folder.name, remedy="Remove it, or write elsewhere")


# Cells

Cells = list[list[str]]


def _people_cells(release: Buckets) -> Iterable[Cells]:
    """Yield the columns of the QIT in blocks."""
    texts = [[csv_cell(value) for value in column.values] for column in release.people.columns]
    for first in range(0, release.n, _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [
            [known[c] for c in column.codes[rows].tolist()] for known, column in zip(texts, release.people.columns, strict=True)
        ]
        yield [*cells, [release.names[g] for g in release.group[rows].tolist()]]


def _value_cells(release: Buckets) -> Iterable[Cells]:
    """Yield the columns of the ST in blocks."""
    texts = [csv_cell(value) for value in release.values]
    owner = np.repeat(np.arange(len(release)), np.diff(release.starts))
    for first in range(0, len(owner), _BATCH):
        rows = slice(first, first + _BATCH)
        groups = owner[rows].tolist()
        values = release.value[rows].tolist()
        yield [[release.names[g] for g in groups], [texts[v] for v in values], [str(c) for c in release.count[rows].tolist()]]


def _write_csv(path: Path, names: Sequence[str], batches: Iterable[Cells], *, numbers: int) -> None:
    del numbers  # in text a number looks like any other cell
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(map(csv_cell, names)) + "\n")
        for cells in batches:
            stream.write("\n".join(map(",".join, zip(*cells, strict=True))) + "\n")


def _write_parquet(path: Path, names: Sequence[str], batches: Iterable[Cells], *, numbers: int) -> None:
    """Return the same by way of CSV."""
    whole = {names[-1]} if numbers == 1 else {names[0], names[-1]}
    columns = [f"c{i}" for i in range(len(names))]
    chosen = ", ".join(
        f"CAST({column} AS BIGINT) AS {sql_name(name)}" if name in whole else f"{column} AS {sql_name(name)}"
        for column, name in zip(columns, names, strict=True)
    )
    write_by_csv(path, lambda plain: _write_csv(plain, names, batches, numbers=numbers), columns, columns, chosen)
