"""Bucketized releases, written: ``qit.csv``, ``st.csv`` and ``buckets.json`` in one folder, or the tables as Parquet; all of them or none.

The order of rows and the numbers of groups tell nothing: they depend only on what is published anyway and on a seed, never on the order of the
data or on how the groups were made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, nearest_name
from tacit.formats.buckets_header import HEADER, buckets_header
from tacit.formats.files import FilePath, made_folder, replace_file
from tacit.formats.parquet import quoted, write_by_csv
from tacit.model.buckets import Buckets

Form = Literal["csv", "parquet"]
FORMS: tuple[Form, ...] = get_args(Form)
_BATCH = 100_000

Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def write_buckets(
    buckets: Buckets, folder: FilePath, *, form: Form = "csv", seed: int = 0, facts: Mapping[str, Any] | None = None
) -> None:
    """Write both tables and their header into a folder, which is made where its parent exists; rows and groups are shuffled.

    ``facts`` are further entries of the header, such as the method and l; nothing of them may tell more than the release does.
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
        header, st, qit = (stack.enter_context(replace_file(place / name)) for name in (HEADER, f"st.{form}", f"qit.{form}"))
        write = _write_csv if form == "csv" else _write_parquet
        write(qit, [*release.people.names, group], _people_cells(release), numbers=1)
        write(st, [group, release.sensitive, "count"], _value_cells(release), numbers=2)
        header.write_text(buckets_header(release, group, facts or {}), encoding="utf-8", newline="\n")


def shuffled(buckets: Buckets, *, seed: int = 0) -> Buckets:
    """The same release in an order that tells nothing: the same for the same people, groups and seed, in whatever order they come."""
    chance = np.random.default_rng([20080407, seed])
    person = _marks([_ranks(column.codes) for column in buckets.people.columns], buckets.n)
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    held = _marks([_ranks(buckets.value), buckets.count], len(buckets.value))
    content = _sums(buckets.group, person, len(buckets)) * np.uint64(3) + _sums(owner, held, len(buckets))
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
    value, count = buckets.value[entries], buckets.count[entries]
    head = buckets.header
    return Buckets(people, group[rows], names, buckets.sensitive, buckets.values, starts, value, count, head)


def _ranks(codes: npt.NDArray[np.int32]) -> Numbers:
    """Codes numbered anew by those that occur, so that values which nobody has change nothing."""
    occurs = np.bincount(codes) > 0
    return np.asarray((np.cumsum(occurs) - 1)[codes])


def _marks(columns: Sequence[npt.NDArray[Any]], rows: int) -> Words:
    """A number for each row that is the same for the same cells, and as good as different for others."""
    marks = np.zeros(rows, np.uint64)
    for column in columns:
        marks = (marks ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        marks ^= marks >> np.uint64(29)
        marks *= np.uint64(0xBF58476D1CE4E5B9)
        marks ^= marks >> np.uint64(32)
    return marks


def _sums(owner: npt.NDArray[Any], marks: Words, groups: int) -> Words:
    """The sum of the marks of each group, in whatever order they come."""
    total = np.append(np.uint64(0), np.cumsum(marks[np.argsort(owner, kind="stable")], dtype=np.uint64))
    ends = np.append(0, np.cumsum(np.bincount(owner, minlength=groups)))
    return np.asarray(total[ends[1:]] - total[ends[:-1]], np.uint64)


def _refuse_others(folder: Path, form: Form) -> None:
    """A folder with tables in the other form would hold two releases."""
    for other in FORMS:
        if other != form and any((folder / f"{role}.{other}").exists() for role in ("qit", "st")):
            what = f"holds a release in the form {other} already"
            raise OptionError(what, where=folder.name, remedy="Remove it, or write elsewhere")


# Cells

Cells = list[list[str]]


def _cell(text: str) -> str:
    """A CSV cell, in quotation marks where it needs them."""
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',;\t"\r\n') or text != text.strip() else text


def _people_cells(release: Buckets) -> Iterable[Cells]:
    """The columns of the QIT, many rows at a time."""
    texts = [[_cell(value) for value in column.values] for column in release.people.columns]
    for first in range(0, release.n, _BATCH):
        rows = slice(first, first + _BATCH)
        cells = [
            [known[c] for c in column.codes[rows].tolist()] for known, column in zip(texts, release.people.columns, strict=True)
        ]
        yield [*cells, [release.names[g] for g in release.group[rows].tolist()]]


def _value_cells(release: Buckets) -> Iterable[Cells]:
    """The columns of the ST, many lines at a time."""
    texts = [_cell(value) for value in release.values]
    owner = np.repeat(np.arange(len(release)), np.diff(release.starts))
    for first in range(0, len(owner), _BATCH):
        rows = slice(first, first + _BATCH)
        groups, values = owner[rows].tolist(), release.value[rows].tolist()
        yield [[release.names[g] for g in groups], [texts[v] for v in values], [str(c) for c in release.count[rows].tolist()]]


def _write_csv(path: Path, names: Sequence[str], batches: Iterable[Cells], *, numbers: int) -> None:
    del numbers  # in text a number looks like any other cell
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(map(_cell, names)) + "\n")
        for cells in batches:
            stream.write("\n".join(map(",".join, zip(*cells, strict=True))) + "\n")


def _write_parquet(path: Path, names: Sequence[str], batches: Iterable[Cells], *, numbers: int) -> None:
    """The same by way of CSV; the group (and the count, where there are two numbers) as whole numbers."""
    whole = {names[-1]} if numbers == 1 else {names[0], names[-1]}
    columns = [f"c{i}" for i in range(len(names))]
    chosen = ", ".join(
        f"CAST({column} AS BIGINT) AS {quoted(name)}" if name in whole else f"{column} AS {quoted(name)}"
        for column, name in zip(columns, names, strict=True)
    )
    write_by_csv(path, lambda plain: _write_csv(plain, names, batches, numbers=numbers), columns, columns, chosen)
