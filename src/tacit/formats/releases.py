"""Release files: read whatever form they have, checked, and written in Tacit's own."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, cast

from tacit.errors import InputError, OptionError, TacitError, nearest_name
from tacit.formats import FORMATS, Format, frames
from tacit.formats.buckets import buckets_source, pair_of, read_buckets
from tacit.formats.buckets_writing import write_buckets
from tacit.formats.build import build, one_n
from tacit.formats.consistency import check_release
from tacit.formats.files import FilePath
from tacit.formats.frequencies import has_counts, looks_like_frequencies, options_of, read_frequencies
from tacit.formats.frequencies_header import is_described
from tacit.formats.frequencies_writing import write_frequencies
from tacit.formats.head import Head, read_head
from tacit.formats.header import FileHeader, read_header
from tacit.formats.item_columns import with_columns
from tacit.formats.own_writing import write
from tacit.formats.parquet import parquet_source
from tacit.formats.partial import looks_like_table, read_partial
from tacit.formats.partial_writing import write_partial
from tacit.formats.printout import Printout
from tacit.formats.tables import Names
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.number import ROUNDINGS, Rounding
from tacit.model.partial import PartialTable
from tacit.model.release import ONLY, Itemsets, Listed, Only, Release, Rules
from tacit.model.schema import MissingRule
from tacit.model.source import Source
from tacit.model.table import Table

#: What ``--form`` calls a bucketized release, whose two tables are no file of lines with counts.
BUCKETS = "buckets"
#: What ``--form`` calls a table of people with blank cells.
TABLE = "table"
#: What ``--form`` calls a frequency table, a line per cell, and one with a column per value.
FREQUENCIES, CROSSTAB = "frequencies", "crosstab"
_BUCKETS_TOLD = "buckets (a folder with qit.csv and st.csv)"
_TABLE_TOLD = "table (a table of people with blank cells; name its columns with --qi and --sa)"
_FREQUENCIES_TOLD = "frequencies (a line per cell, its count in a column 'count'); crosstab (name its columns with --by)"


def with_source(release: Release, change: Callable[[Source], Source]) -> Release:
    """The release with its source changed; as it is where it has none."""
    if release.source is None:
        return release
    if isinstance(release, Buckets):
        return replace(release, sources=tuple(map(change, release.sources)))
    changed = change(release.source)
    if isinstance(release, PartialTable):
        return replace(release, people=replace(release.people, source=changed))
    return replace(release, source=changed)


def source_at(path: FilePath) -> Source:
    """The files of a release as its source, without reading them."""
    pair = pair_of(os.fspath(path))
    return parquet_source(path) if pair is None else buckets_source(pair)


_P = ParamSpec("_P")


def _remembering(read: Callable[_P, Release]) -> Callable[_P, Release]:
    """Note in the source of a release read from a file which options it was read with."""

    @wraps(read)
    def remember(*args: _P.args, **options: _P.kwargs) -> Release:
        release = read(*args, **options)
        if not args or not isinstance(args[0], (str, os.PathLike)):
            return release
        defaults = signature(read).parameters
        told = {name: _plain_option(value) for name, value in options.items() if value != defaults[name].default}
        told.pop("columns", None)  # those that items are values of are in the source already
        return with_source(release, lambda source: replace(source, options={**told, **source.options}))

    return remember


def _plain_option(value: Any) -> Any:
    """An option as a record holds it."""
    return list(value) if isinstance(value, (list, tuple)) else value


@_remembering
def read_release(
    data: Any,
    *,
    n: int | None = None,
    rounding: Rounding | None = None,
    only: Only | None = None,
    complete: bool | None = None,
    form: str | None = None,
    qi: Names = (),
    sa: Names = (),
    blank: Names = (),
    missing: str | None = None,
    missing_rule: MissingRule = "category",
    by: Names = (),
    count: str | None = None,
    any: Names = (),
    no_total: Names = (),
    hidden_below: int | None = None,
    zeros_shown: bool | None = None,
    base: int | None = None,
    convention: str | None = None,
    ignore: Names = (),
    columns: Names = (),
) -> Release:
    """A release from a file in any known form, from a frame, or the release itself; its numbers are checked to be possible.

    Parameters
    ----------
    data
        A path; a frame with the columns of mlxtend, Spark or Tacit; or a release. A folder with ``qit.csv`` and ``st.csv``, or one of the two,
        is a bucketized release (:func:`read_buckets`); a file with the columns of ``qi`` and ``sa``, or a table, is a table with blank cells
        (:func:`read_partial`); a file with a column of counts, or a frame that is a crosstab, is a frequency table.
    n
        The number of people, where the file does not say it.
    rounding
        How the numbers were printed, where no header says it: rounded to the nearest (so by default), truncated, or unknown; of a frequency
        table also by chance, ``random``.
    only
        Which itemsets were chosen: ``all``, ``closed`` or ``maximal``; by default what the header says, else ``all``.
    complete
        Whether nothing that reaches the thresholds was left out; by default what the header says, else no. Of a frequency table: whether
        it lists all values that its people have; by default yes.
    form
        A name in ``FORMATS``, ``buckets``, ``table``, ``frequencies`` or ``crosstab``; by default the content decides.
    qi, sa
        The quasi-identifying columns and the sensitive ones, where no header names them; ``sa="none"`` says that none is sensitive.
    columns
        For itemsets and rules of other programs: more columns that their items are values of, such as those of the data.
    blank, missing, missing_rule
        For a table of people: the marks of blank cells, and the mark of missing values with its rule.
    by
        For a crosstab: the names of its columns, that across last. For another frequency table: its dimensions; other columns are not read.
    count, any, no_total
        For a frequency table: its column of counts; labels that stand for totals; labels that do not, though they look so.
    hidden_below, zeros_shown, base
        For a frequency table whose header does not say it: cells with fewer people are hidden, cells with nobody are shown nevertheless, and
        counts are rounded to multiples of a base.
    convention
        For a frequency table: the publisher's convention, which says what its numbers and marks mean
        (:data:`tacit.model.convention.CONVENTIONS`).
    ignore
        Columns that say nothing about people: not read, and no reason for an audit to be incomplete.

    Raises
    ------
    InputError
        When the file cannot be read; names file, line and column.
    Contradiction
        When the numbers cannot all be true; names the lines.
    OptionError
        When an option makes no sense or contradicts the file.
    """
    cells = options_of(
        by,
        any=any,
        no_total=no_total,
        ignore=ignore,
        count=count,
        n=_people(n),
        hidden_below=hidden_below,
        zeros_shown=zeros_shown,
        base=base,
        rounding=rounding,
        complete=complete,
        convention=convention,
        qi=qi,
        sa=sa,
    )
    if form in (FREQUENCIES, CROSSTAB) or (form is None and _is_counted(data, cells)):
        if only is not None:
            raise OptionError("is for itemsets, and this is a frequency table", where="--only", remedy="Leave it out")
        return read_frequencies(data, options=cells, crosstab=None if form is None else form == CROSSTAB)
    if cells.are_given:
        remedy = "Leave them out, or say --form frequencies"
        raise OptionError(
            "--by, --count, --any, --no-total, --hidden-below, --zeros-shown, --base and --convention are for frequency tables",
            where=form or "the release",
            remedy=remedy,
        )
    has_options = bool(only or complete or rounding not in (None, "nearest"))
    if isinstance(data, Buckets) or form == BUCKETS or (form is None and _is_pair(data)):
        return _buckets(data, n, has_options)
    if form == TABLE or (form is None and looks_like_table(data, qi=qi, sa=sa)):
        _refuse(has_options)
        table = read_partial(data, qi=qi, sa=sa, blank=blank, missing=missing, missing_rule=missing_rule)
        one_n(table.n, _people(n), where="the table")
        return table
    listed = read_listed(data, n=n, rounding=rounding, only=only, complete=complete, form=form, ignore=ignore)
    return with_columns(listed, qi=qi, sa=sa, columns=columns)


def _is_counted(data: Any, cells: Any) -> bool:
    """Whether data is a frequency table and nothing else; that columns have roles does not make it a table of people."""
    if isinstance(data, FrequencyTable):
        return True
    if isinstance(data, (Itemsets, Rules, Buckets, PartialTable, Table)) or _is_pair(data):
        return False
    return looks_like_frequencies(data, cells, _is_list) and not looks_like_table(data)


def is_recognised(path: FilePath) -> bool:
    """Whether the content, or the header beside it, says that a file is a release in one of the known forms."""
    try:
        if _is_pair(path) or is_described(path) or looks_like_table(path):
            return True
        head = read_head(path)
    except TacitError:
        return False
    return _is_list(head) or has_counts(head)


def _is_list(head: Head) -> bool:
    """Whether a file is a list of itemsets or rules in one of the known forms."""
    return any(entry.looks_like(head) for entry in FORMATS)


def read_listed(
    data: Any,
    *,
    n: int | None = None,
    rounding: Rounding | None = None,
    only: Only | None = None,
    complete: bool | None = None,
    form: str | None = None,
    ignore: Names = (),
) -> Listed:
    """A release of lines with counts, itemsets or rules; see :func:`read_release`."""
    n = _people(n)
    for name, value, choices in (("--rounding", rounding, ROUNDINGS), ("--only", only, ONLY)):
        if value is not None and value not in choices:
            raise OptionError("is not known", where=name, remedy=nearest_name(str(value), choices, "choices"))
    if isinstance(data, (Itemsets, Rules)):
        return _with_options(data, n, only, complete)
    source = None
    if isinstance(data, (str, os.PathLike)):
        path = cast(FilePath, data)
        chosen = find_format(path, form)
        known = read_header(path)
        printout = chosen.read(path, _with_rounding(known, rounding or "nearest"))
        if known.rounding is not None:
            printout = replace(printout, in_full=False)
        source = parquet_source(path)
    else:
        columns = frames.columns_of(data)
        if columns is None:
            raise OptionError("is neither a path, a frame nor a release", where="data", remedy="Give the path of a release file")
        printout = frames.read(columns, _with_rounding(FileHeader(), rounding or "nearest"))
    if rounding is not None:
        printout = replace(printout, in_full=False)
    printout = _without_ignored(printout, (ignore,) if isinstance(ignore, str) else tuple(ignore or ()))
    if complete is not None:
        printout = replace(printout, header=replace(printout.header, complete=complete))
    return check_release(build(printout, n=n, only=only, source=source))


def _without_ignored(printout: Printout, names: Sequence[str]) -> Printout:
    """The printout without the columns that the caller ignores, which it names as such."""
    unread = [name for name in printout.unread if name not in names]
    ignored = [name for name in (*printout.unread, *printout.alike) if name in names]
    header = replace(printout.header, unread=tuple(unread), ignored=tuple(dict.fromkeys(ignored)))
    return replace(printout, header=header)


def _is_pair(data: Any) -> bool:
    """Whether a path leads to the two tables of a bucketized release."""
    return isinstance(data, (str, os.PathLike)) and pair_of(os.fspath(data)) is not None


def _buckets(data: Any, n: int | None, has_options: bool) -> Buckets:
    """A bucketized release."""
    _refuse(has_options)
    release = read_buckets(data)
    one_n(release.n, _people(n), where="the release")
    return release


def _refuse(has_options: bool) -> None:
    """Options that say how to read lists of lines are for these only."""
    if has_options:
        remedy = "Leave them out"
        raise OptionError("--rounding, --only and --complete are for itemsets and rules", where="the release", remedy=remedy)


def write_release(release: Release, path: FilePath) -> None:
    """Write a release as ``.csv``, ``.csv.gz`` or ``.parquet`` with its header beside it (``r.csv`` and ``r.csv.json``), both or neither.

    A bucketized release is written into a folder (:func:`tacit.formats.buckets_writing.write_buckets`).
    """
    if isinstance(release, Buckets):
        write_buckets(release, path)
    elif isinstance(release, PartialTable):
        write_partial(release, path)
    elif isinstance(release, FrequencyTable):
        write_frequencies(release, path)
    else:
        write(release, path)


def find_format(path: FilePath, form: str | None = None) -> Format:
    """The form of a release file: the one that is named, or the first that its content looks like."""
    if form is not None and form not in {entry.name for entry in FORMATS}:
        raise OptionError(
            "is no known form",
            where="--form",
            remedy=nearest_name(form, [*(entry.name for entry in FORMATS), BUCKETS, TABLE, FREQUENCIES, CROSSTAB], "forms"),
        )
    head = read_head(path)
    for entry in FORMATS:
        if entry.name == form or (form is None and entry.looks_like(head)):
            return entry
    known = "; ".join([*(f"{entry.name} ({entry.about})" for entry in FORMATS), _BUCKETS_TOLD, _TABLE_TOLD, _FREQUENCIES_TOLD])
    raise InputError(
        "looks like no release file that Tacit knows",
        where=os.path.basename(os.fspath(path).rstrip("/")),
        remedy=f"Give one of the known forms: {known}",
    )


def _with_rounding(known: FileHeader, rounding: Rounding) -> FileHeader:
    """A header that says how numbers were printed: as it says itself, or as the caller does."""
    if known.rounding is None:
        return replace(known, header=replace(known.header, rounding=rounding))
    if rounding not in ("nearest", known.rounding):
        raise OptionError(
            f"is {rounding}, but {known.where} says {known.rounding}", where="--rounding", remedy="Leave the option out"
        )
    return known


def _people(n: int | None) -> int | None:
    if n is None:
        return None
    try:
        people = operator.index(n)
    except TypeError:
        people = -1
    if isinstance(n, bool) or not 0 < people < 2**61:
        raise OptionError("must be a whole number of at least 1", where="--n", remedy="Give the number of people") from None
    return people


def _with_options(release: Listed, n: int | None, only: Only | None, complete: bool | None) -> Listed:
    """A release in memory, as it is unless an option says more about it."""
    header = replace(
        release.header,
        n=one_n(release.n, n, where="the release"),
        complete=release.header.complete if complete is None else complete,
    )
    if header != release.header:
        release = replace(release, header=header)
    if isinstance(release, Itemsets) and only not in (None, release.only):
        return replace(release, only=only)
    return release
