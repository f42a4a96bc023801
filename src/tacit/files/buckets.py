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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from tacit.files.delimited import csv_blocks, csv_lines
from tacit.files.disk import FilePath, Input, made_folder, replace_file, shown
from tacit.files.duckdb import write_columns_by_csv
from tacit.files.header import Entries, bins_entry, read_bins
from tacit.files.recognition import BUCKETS_HEADER, pair_of
from tacit.files.tables import read_table
from tacit.model.arrays import Ints, Words
from tacit.model.buckets import Buckets, joined_source
from tacit.model.errors import Contradiction, InputError, OptionError, nearest_name, numbered
from tacit.model.release import Header, Source
from tacit.model.table import MISSING_RULES, Column, Schema, Table, require_column, stable_order

FORMAT = "tacit.buckets/1"
_FIT = "Give the two tables of one release"


def _read_header(file: Input) -> tuple[Header, str | None]:
    """Return the header, or an empty one, and the column of groups that it names."""
    if not os.path.lexists(file):
        return Header(), None
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
    n = get.whole("n")
    missing = get.text("missing")
    rule = get.choice("missing_rule", MISSING_RULES)
    group = get.text("group")
    sa = get.text("sa")
    header = Header(
        n=n,
        missing=missing,
        missing_rule=rule,
        qi=get.names("qi"),
        sa=() if sa is None else (sa,),
        sa_values=values,
        bins=read_bins(get),
    )
    return header, group


#: What other tools call the column of groups and that of counts, in small letters and without other signs.
GROUP_NAMES = ("group", "groupid", "groupno", "gid", "bucket", "bucketid", "bid")
COUNT_NAMES = ("count", "counts", "cnt", "freq", "frequency", "number", "people", "n")


@dataclass(frozen=True, slots=True)
class _Pair:
    people: Table
    values: Table
    people_where: str
    values_where: str
    header: Header


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
    header = Header()
    named_group: str | None = None
    header_sha256 = ""
    if folder is not None:
        found = pair_of(folder)
        if found is None:
            remedy = "Name them qit.csv and st.csv, or give both"
            raise InputError("holds no qit and st table", where=shown(folder), remedy=remedy)
        qit, st = found
        beside = Input(qit.parent / BUCKETS_HEADER)
        header, named_group = _read_header(beside)
        header_sha256 = _sha256_if_present(beside)
    named = [shown(one) if isinstance(one, (str, os.PathLike)) else name for one, name in ((qit, "the QIT"), (st, "the ST"))]
    people, values = (read_table(one, where=where) for one, where in zip((qit, st), named, strict=True))
    pair = _Pair(people, values, named[0], values_where=named[1], header=header)
    built = _build(pair, group or named_group, sa)
    return replace(built, sources=tuple(replace(one, header=header_sha256) for one in built.sources))


def buckets_source(pair: tuple[Path, Path]) -> Source:
    """Return both tables of a release as one source."""
    header_sha256 = _sha256_if_present(Input(pair[0].parent / BUCKETS_HEADER))
    return joined_source([replace(Input(one).source, header=header_sha256) for one in pair])


def _sha256_if_present(file: Input) -> str:
    return file.sha256 if os.path.isfile(file) else ""


def _columns_called(usual: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns with the first usual name, else with any of them."""
    exact = [name for name in names if name == usual[0]]
    return exact or [name for name in names if re.sub(r"[^a-z]", "", name.casefold()) in usual]


def _group_column(table: Table, given: str | None, where: str) -> str:
    if given is not None:
        require_column(given, table.names, where=where)
        return given
    found = _columns_called(GROUP_NAMES, table.names)
    if len(found) != 1:
        what = "has no column of groups" if not found else f"has {len(found)} columns that may be groups"
        remedy = f"Call one of its {len(table.names)} columns group, or name it with group="
        raise InputError(what, where=where, remedy=remedy)
    return found[0]


def _value_columns(pair: _Pair, group: str, sensitive: str | None) -> tuple[str, str | None]:
    names = [name for name in pair.values.names if name != group]
    if sensitive is not None:
        require_column(sensitive, names, where=pair.values_where)
    likely = _columns_called(COUNT_NAMES, names)
    counts = [name for name in likely if name != sensitive] if len(names) > 1 else []
    rest = [name for name in names if name not in counts[-1:]]
    if sensitive is None and len(rest) != 1:
        what = "has no sensitive column"
        remedy = "Give group, the sensitive column, count"
        if rest:
            what = f"has several sensitive columns: {', '.join(rest)}"
            remedy = "Bucketize each by itself, or name the one to look at with sa="
        raise InputError(what, where=pair.values_where, remedy=remedy)
    return sensitive or rest[0], counts[-1] if counts else None


def _counts(column: Column, where: str) -> Ints:
    usual = re.compile(r"0*[1-9]\d{0,17}(\.0*)?")
    known = np.array([int(text.partition(".")[0]) if usual.fullmatch(text) else 0 for text in column.values])
    counts = known[column.codes]
    if (counts < 1).any():
        place = f"{where}, line {int(np.argmax(counts < 1)) + 2}, column {column.name}"
        raise InputError("is not a whole number of at least 1", where=place, remedy="Write how many people have the value")
    return np.asarray(counts, np.int64)


def _refuse_groups_of_one_table(pair: _Pair, people: Column, values: Column) -> None:
    """Raise if one table lacks groups of the other."""
    names = (pair.people_where, pair.values_where)
    for one, other, where, elsewhere in ((people, values, *names), (values, people, names[1], names[0])):
        theirs = set(other.values)
        alone = np.array([name not in theirs for name in one.values], np.bool_)
        if alone.any():
            lines = (np.flatnonzero(alone[one.codes]) + 2).tolist()
            whose = "their groups do" if len(lines) > 1 else "its group does"
            place = f"{where}, {numbered(lines)}"
            raise Contradiction(f"{whose} not occur in {elsewhere}", where=place, remedy=_FIT, lines=lines)


def _build(pair: _Pair, group: str | None, sa: str | None) -> Buckets:
    header = pair.header
    people_group = _group_column(pair.people, group, pair.people_where)
    values_group = _group_column(pair.values, group, pair.values_where)
    sensitive, count = _value_columns(pair, values_group, sa or next(iter(header.sa), None))
    mine = pair.people.column(people_group)
    theirs = pair.values.column(values_group)
    qi = header.qi or tuple(name for name in pair.people.names if name != people_group)
    for name in qi:
        require_column(name, pair.people.names, where=pair.people_where)
    if not qi:
        remedy = "Give the QI columns beside the groups"
        raise InputError("has no quasi-identifying column", where=pair.people_where, remedy=remedy)
    if sensitive in qi:
        remedy = "Give a QIT without it: published beside the people, it needs no attack"
        raise InputError("holds the sensitive column", where=pair.people_where, remedy=remedy)
    if mine.values != theirs.values:
        _refuse_groups_of_one_table(pair, mine, theirs)
    whole = "".join(mine.values).isascii() and all(name.isdecimal() and len(name) < 19 for name in mine.values)
    names = sorted(mine.values, key=lambda name: (int(name), name)) if whole else sorted(mine.values)
    place = {name: number for number, name in enumerate(names)}
    rank = np.array([place[name] for name in mine.values], np.int32)
    rows = rank[mine.codes]
    listed = pair.values.column(sensitive)
    domain = tuple(sorted({*listed.values, *header.sa_values}))
    position = {value: number for number, value in enumerate(domain)}
    column = Column(sensitive, domain, np.array([position[value] for value in listed.values], np.int32)[listed.codes])
    per_line = None if count is None else _counts(pair.values.column(count), pair.values_where)
    sizes = np.bincount(rows, minlength=len(names))
    starts, value, counts, lines = _flatten_values(pair, rank[theirs.codes], column, per_line, sizes=sizes)
    if header.n not in (None, len(rows)):
        what = f"says that there are {header.n:,} people, and the tables hold {len(rows):,}"
        raise Contradiction(what, where=BUCKETS_HEADER, remedy="Correct it, or remove the file")
    return Buckets(
        people=replace(pair.people.select(qi), schema=Schema(qi=qi)),
        group=rows,
        names=tuple(names),
        sensitive=sensitive,
        values=domain,
        starts=starts,
        value=value,
        count=counts,
        header=replace(header, n=len(rows), qi=qi, sa=(sensitive,), sa_values=domain, complete=True),
        lines=lines,
        sources=tuple(one.source for one in (pair.people, pair.values) if one.source is not None),
    )


def _flatten_values(
    pair: _Pair, group: npt.NDArray[np.int32], column: Column, counts: Ints | None, *, sizes: Ints
) -> tuple[Ints, npt.NDArray[np.int32], Ints, Ints]:
    """Return the ST in flat form, whose counts add up to the sizes of groups."""
    width = max(1, len(column.values))
    key = group.astype(np.int64) * width + column.codes
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if counts is not None and len(first) < len(key):
        again = int(np.flatnonzero(ordered[1:] == ordered[:-1])[0])
        place = f"{pair.values_where}, {numbered(sorted((order[[again, again + 1]] + 2).tolist()))}"
        raise InputError("name the same value of the same group", where=place, remedy="Add their counts up in one line")
    number = np.diff(np.append(first, len(key))) if counts is None else counts[order]
    keys = ordered[first]
    starts = np.searchsorted(keys, np.arange(len(sizes) + 1) * width)
    lines = order[first] + 2
    wrong = np.flatnonzero(np.diff(np.append(0, np.cumsum(number))[starts]) != sizes)
    if len(wrong):
        here = sorted(lines[starts[wrong[0]] : starts[wrong[0] + 1]].tolist())
        more = f" (and of {len(wrong) - 1:,} other groups)" if len(wrong) > 1 else ""
        what = f"the values of this group{more} are more or fewer than its people in {pair.people_where}"
        raise Contradiction(what, where=f"{pair.values_where}, {numbered(here)}", remedy=_FIT, lines=here)
    return starts, (keys % width).astype(np.int32), number.astype(np.int64), lines


Form = Literal["csv", "parquet"]
FORMS: tuple[Form, ...] = get_args(Form)


class Parts(Protocol):
    """Release that comes in parts of whole groups, in the order in which it is published."""

    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def header(self) -> Header: ...  # noqa: D102
    @property
    def group_name(self) -> str: ...  # noqa: D102
    @property
    def parts(self) -> Callable[[], Iterator[Buckets]]: ...  # noqa: D102
    def __len__(self) -> int: ...


def write_buckets(
    buckets: Buckets | Parts, folder: FilePath, *, form: Form = "csv", seed: int = 0, facts: Mapping[str, Any] | None = None
) -> None:
    """Write both tables and their header, rows and groups shuffled.

    The folder is made if its parent exists. ``facts`` are further header entries, which must reveal no more than the release.
    """
    if form not in FORMS:
        raise OptionError(f"there is no form {form!r}", where="--form", remedy=nearest_name(str(form), FORMS, "forms"))
    header = buckets.header
    sensitive = header.sa[0]
    if sensitive == "count":
        raise OptionError("the ST has a column count already", where="columns", remedy="Rename the sensitive column")
    if isinstance(buckets, Buckets):
        release = shuffled(buckets, seed=seed)
        parts: Callable[[], Iterable[Buckets]] = lambda: (release,)  # noqa: E731
    else:
        parts = buckets.parts
    place = made_folder(folder)
    for other in FORMS:
        if other != form and any((place / f"{role}.{other}").exists() for role in ("qit", "st")):
            what = f"holds a release in the form {other} already"
            raise OptionError(what, where=place.name, remedy="Remove it, or write elsewhere")
    group = buckets.group_name
    entries: dict[str, Any] = {
        "format": FORMAT,
        "n": buckets.n,
        "groups": len(buckets),
        "qi": list(header.qi),
        "sa": sensitive,
        "sa_values": list(header.sa_values),
        "group": group,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
        **bins_entry(header),
    }
    with contextlib.ExitStack() as stack:
        # All temporary files are complete before the first of them is moved to its place.
        about, st, qit = (
            stack.enter_context(replace_file(place / name)) for name in (BUCKETS_HEADER, f"st.{form}", f"qit.{form}")
        )
        _write_columns(qit, (_people_columns(part, group) for part in parts()), form, numbers=(group,))
        _write_columns(st, (_value_entries(part, group) for part in parts()), form, numbers=(group, "count"))
        text = json.dumps(entries | dict(facts or {}), indent=2, ensure_ascii=False) + "\n"
        about.write_text(text, encoding="utf-8", newline="\n")


def _people_columns(part: Buckets, group: str) -> list[Column]:
    return [*part.people.columns, Column(group, part.names, part.group)]


def _value_entries(part: Buckets, group: str) -> list[Column]:
    owner = np.repeat(np.arange(len(part), dtype=np.int32), np.diff(part.starts))
    counts, codes = np.unique(part.count, return_inverse=True)
    return [
        Column(group, part.names, owner),
        Column(part.sensitive, part.values, part.value),
        Column("count", tuple(map(str, counts.tolist())), codes.reshape(-1).astype(np.int32)),
    ]


def _write_columns(path: Path, parts: Iterable[list[Column]], form: Form, *, numbers: Sequence[str]) -> None:
    listed = iter(parts)
    first = next(listed)
    names = [column.name for column in first]

    def write_csv(to: Path) -> None:
        with open(to, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(csv_blocks(first))
            for part in listed:
                stream.writelines(csv_lines(part))

    if form == "csv":
        write_csv(path)
    else:
        write_columns_by_csv(path, write_csv, {name: "CAST({} AS BIGINT)" if name in numbers else "{}" for name in names})


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
    rows = np.argsort(person)  # equal people are alike
    rows = rows[stable_order(group[rows], len(buckets))]
    drawn = np.empty(buckets.n, np.int64)
    drawn[chance.permutation(buckets.n)] = rows
    rows = drawn[stable_order(group[drawn], len(buckets))]
    columns = tuple(replace(column, codes=column.codes[rows]) for column in buckets.people.columns)
    people = replace(buckets.people, columns=columns, weights=buckets.people.weights[rows], source=None)
    width = max(1, len(buckets.values))
    entries = stable_order(fresh[owner].astype(np.int64) * width + buckets.value, len(buckets) * width)
    starts = np.append(0, np.cumsum(np.bincount(fresh[owner], minlength=len(buckets))))
    names = tuple(map(str, range(1, len(buckets) + 1)))
    value = buckets.value[entries]
    count = buckets.count[entries]
    head = buckets.header
    return Buckets(
        people, group[rows], names, buckets.sensitive, values=buckets.values, starts=starts, value=value, count=count, header=head
    )


def _ranks(codes: npt.NDArray[np.int32]) -> Ints:
    occurs = np.bincount(codes) > 0
    return np.asarray((np.cumsum(occurs) - 1)[codes])


def _hash_rows(columns: Sequence[npt.NDArray[Any]], rows: int) -> Words:
    marks = np.zeros(rows, np.uint64)
    for column in columns:
        marks = (marks ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        marks ^= marks >> np.uint64(29)
        marks *= np.uint64(0xBF58476D1CE4E5B9)
        marks ^= marks >> np.uint64(32)
    return marks


def _sum_by_group(owner: npt.NDArray[Any], marks: Words, groups: int) -> Words:
    total = np.append(np.uint64(0), np.cumsum(marks[stable_order(owner, groups)], dtype=np.uint64))
    ends = np.append(0, np.cumsum(np.bincount(owner, minlength=groups)))
    return np.asarray(total[ends[1:]] - total[ends[:-1]], np.uint64)
