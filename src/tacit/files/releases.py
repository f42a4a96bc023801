"""Release files of any form, single or in folders.

Items of other programs are read as values of columns: ``sex=F``, ``sex_F`` as pandas.get_dummies writes it, or ``sex:F``. The caller names the
columns: those with a role, and those of the data. An item that fits none of them, or more than one, is refused, never guessed.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, NoReturn, ParamSpec, cast

import numpy as np

from tacit.files import frames
from tacit.files.acro_folders import RECORDS, Described, read_session
from tacit.files.consistency import check_lengths, check_release
from tacit.files.counts import build, one_n
from tacit.files.disk import FilePath, Input, shown
from tacit.files.header import FileHeader, read_header
from tacit.files.names import pair_of as pair_of_name
from tacit.files.recognition import (
    BUCKETS,
    BUCKETS_HEADER,
    FREQUENCIES,
    LIST,
    NAIVE_BAYES,
    TREE,
    CellOptions,
    as_input,
    find_format,
    is_model,
    is_recognised,
    load,
    pair_of,
    recognise,
)
from tacit.model.errors import InputError, OptionError, TacitError, nearest_name
from tacit.model.frequencies import align_intervals
from tacit.model.numbers import ROUNDINGS, Rounding
from tacit.model.people import AS_TOLD, Gathered, NotRead, Releases, Unknown
from tacit.model.release import ONLY, Items, Itemsets, Listed, Marginal, Only, Release, Rules, Source
from tacit.model.table import MissingRule, Names, Schema, column_names, sensitive_names


def inputs_of(**given: Any) -> tuple[dict[str, str], ...]:
    """Return the files behind options, with their SHA-256."""
    return tuple(
        {"role": role, "file": source.name, "sha256": source.sha256}
        for role, value in given.items()
        for source in _sources(value)
    )


def _sources(value: Any) -> Iterator[Source]:
    if isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, (str, os.PathLike)) or hasattr(one, "source"):
                yield from _sources(one)
    elif isinstance(value, (str, os.PathLike)):
        if os.path.isfile(value):
            yield Input(value).source
    elif isinstance(source := getattr(value, "source", None), Source):
        yield source


Pair = tuple[str, str]


def _with_columns(release: Listed, *, qi: Names = (), sa: Names = (), columns: Names = ()) -> Listed:
    """Return the list with items as column values.

    A list with columns of its own only gets missing roles. ``columns`` are those of the data. Without roles, other items stay as they are.
    """
    known = column_names(columns, ())
    quasi = column_names(qi, known)
    sensitive, no_sa = sensitive_names(sa, known)
    if not (quasi or sensitive or no_sa or known):
        return release
    Schema(qi=quasi, sa=sensitive)  # refuses a column with two roles
    header = release.header
    if header.sa and (no_sa or not set(sensitive) <= set(header.sa)):
        what = f"the list names its sensitive columns itself: {', '.join(header.sa)}"
        raise OptionError(what, where="--sa", remedy="Remove the option, or name one of them")
    if header.person is not None:  # people have several values of a column, so that items are not values of columns
        if quasi or sensitive:
            what = "columns have no roles in a list of people with several rows each"
            raise OptionError(what, where=_name_of(release), remedy="Leave --qi and --sa out")
        return release
    if release.items.pairs is None and (quasi or sensitive or known):
        wanted = list(dict.fromkeys((*quasi, *sensitive, *known)))
        matched: list[Pair] = []
        for item, name in enumerate(release.items.names):
            # Where columns are those of the data, so are the values: a wrong reading is found out.
            pair = pair_of_name(name, wanted, longest=bool(known))
            if pair is not None:
                matched.append(pair)
            elif quasi or sensitive:
                _refuse_item(release, item, wanted)
            else:
                return release
        _check_pairs(release, matched)
        source = release.source
        if source is not None:
            used = {column for column, _ in matched}
            source = replace(source, options={**source.options, "columns": [column for column in known if column in used]})
        release = replace(release, items=Items.of_columns(matched), source=source)
    own = dict.fromkeys(column for column, _ in release.items.pairs or ())
    by_itself = release.kind == "rules" and not header.sa and len(sensitive) > 1 and not own.keys().isdisjoint(sensitive)
    fresh = replace(
        header,
        qi=header.qi or quasi or (tuple(column for column in own if column not in sensitive) if sensitive else ()),
        sa=header.sa or sensitive,
        no_sa=header.no_sa or (no_sa and not header.sa),
        marginals=tuple(map(Marginal, sensitive)) if by_itself else header.marginals,
    )
    return release if fresh == header else replace(release, header=fresh)


def _refuse_item(release: Listed, item: int, columns: Sequence[str]) -> NoReturn:
    """Raise because an item is not a column value: its line is named, and not the item."""
    first = min(int(part.owners()[part.members == item].min()) for part in release.sides if (part.members == item).any())
    place = f"{_name_of(release)}, line {release.line(first)}"
    what = f"{place}, holds an item that is not a value of exactly one of the columns {', '.join(columns)}"
    remedy = "Name the columns of all items, which are written column=value, column_value or column:value"
    raise OptionError(what, where="--qi and --sa", remedy=remedy)


def _name_of(release: Listed) -> str:
    return release.source.name if release.source else "the release"


def _check_pairs(release: Listed, pairs: Sequence[Pair]) -> None:
    """Raise on two spellings of a value, or two values."""
    name = _name_of(release)
    if len(set(pairs)) < len(pairs):
        raise InputError("writes one value of a column in two ways", where=name, remedy="Write every value in one way")
    number = {column: place for place, column in enumerate(dict.fromkeys(column for column, _ in pairs))}
    owner = np.array([number[column] for column, _ in pairs], np.int64)
    for part in release.sides:
        keys = part.owners() * len(number) + owner[part.members]
        order = np.sort(keys)
        if len(twice := np.flatnonzero(order[1:] == order[:-1])):
            line = release.line(int(order[twice[0]]) // len(number))
            remedy = "Leave out the roles of columns that people have several values of"
            raise InputError("names two values of one column, and nobody has both", where=f"{name}, line {line}", remedy=remedy)


def source_at(path: FilePath) -> Source:
    """Return the files of a release as an unread source."""
    pair = pair_of(path)
    if pair is None:
        return as_input(path).source
    source: Source = load("buckets.buckets_source")(pair)
    return source


_P = ParamSpec("_P")


def _remembering(read: Callable[Concatenate[Any, _P], Release]) -> Callable[Concatenate[Any, _P], Release]:
    """Record the reading options, and what else a file shows, in a release."""

    @wraps(read)
    def remember(data: Any, *args: _P.args, **options: _P.kwargs) -> Release:
        if not isinstance(data, (str, os.PathLike)):
            return read(data, *args, **options)
        file = as_input(data)
        if isinstance(file, Described):
            known = signature(read).parameters
            named = {
                name: value
                for name, value in file.options.items()
                if options.get(name, known[name].default) == known[name].default
            }
            options.update(named)
        left_out: Any = options.get("ignore", ())
        release = _with_rendition(read(file, *args, **options), file, _texts(left_out))
        defaults = signature(read).parameters
        given = {
            name: list(value) if isinstance(value, (list, tuple)) else value
            for name, value in options.items()
            # The columns that items are values of are in the source already.
            if value != defaults[name].default and name != "columns"
        }
        return release.with_source(lambda source: replace(source, options={**given, **source.options}))

    return cast(Callable[Concatenate[Any, _P], Release], remember)


def _with_rendition(release: Release, file: Input, ignore: Sequence[str]) -> Release:
    """Return the release with what else its file shows."""
    if not file.assumed and not file.unread:
        return release
    header = replace(
        release.header,
        assumed=file.assumed + release.header.assumed,
        unread=release.header.unread + tuple(name for name in file.unread if name not in ignore),
        ignored=release.header.ignored + tuple(name for name in file.unread if name in ignore),
    )
    return replace(release, header=header)


@_remembering
def read_release(
    data: Any,
    *,
    n: int | None = None,
    rounding: Rounding | None = None,
    only: Only | None = None,
    complete: bool | None = None,
    max_length: int | None = None,
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
    """Read a release from a file or frame, and check its numbers.

    Parameters
    ----------
    data
        A path; a frame with the columns of mlxtend, Spark or Tacit; a fitted tree of scikit-learn (:func:`read_tree`); counts of pandas or
        polars, as ``value_counts()`` and ``groupby().size()`` give them; or a release. A folder with ``qit.csv`` and ``st.csv``, or one of the
        two, is a bucketized release (:func:`read_buckets`); a file with the columns of ``qi`` and ``sa``, or a table, is a table with blank
        cells (:func:`read_partial`); a file with a column of counts, or a frame that is a crosstab, is a frequency table.
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
    max_length
        The most items of an itemset, or of the antecedent of a rule, that the list was made with (``max_len`` of mlxtend, ``maxlen`` of
        arules): it is complete up to this length.
    form
        A name in ``FORMATS``, ``buckets``, ``table``, ``frequencies``, ``crosstab``, ``naive-bayes`` or ``tree``; else the content decides.
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
        (:data:`tacit.model.rounding.CONVENTIONS`).
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
    data = as_input(data) if isinstance(data, (str, os.PathLike)) else frames.as_counts(data)
    if is_model(data):
        return _read_model(data, n=n, qi=qi, sa=sa, columns=columns)
    n = _check_n(n)
    cells = CellOptions(
        n=n,
        by=column_names(by, ()),
        count=count,
        any=_texts(any),
        no_total=_texts(no_total),
        ignore=_texts(ignore),
        hidden_below=hidden_below,
        zeros_shown=zeros_shown,
        base=base,
        rounding=rounding,
        complete=complete,
        convention=convention,
        qi=qi,
        sa=sa,
        columns=columns,
    )
    kind = recognise(data, cells, form)
    if max_length is not None and kind != LIST:
        raise OptionError("is for itemsets and rules", where="--max-length", remedy="Leave it out")
    if kind == FREQUENCIES:
        if only is not None:
            raise OptionError("is for itemsets, and this is a frequency table", where="--only", remedy="Leave it out")
        read_frequencies: Callable[..., Release] = load("frequencies.read_frequencies")
        return read_frequencies(data, options=cells, form=form)
    if cells.are_given:
        what = "--by, --count, --any, --no-total, --hidden-below, --zeros-shown, --base and --convention are for frequency tables"
        raise OptionError(what, where=form or "the release", remedy="Leave them out, or say --form frequencies")
    if kind == LIST:
        listed = read_listed(
            data, n=n, rounding=rounding, only=only, complete=complete, max_length=max_length, form=form, ignore=ignore
        )
        return _with_columns(listed, qi=qi, sa=sa, columns=columns)
    if kind in (NAIVE_BAYES, TREE) and (only or complete):
        raise OptionError("--only and --complete are for itemsets and rules", where=kind, remedy="Leave them out")
    if kind == TREE:
        read_printed_tree: Callable[..., Rules] = load("printed_trees.read_printed_tree")
        return _check_model(read_printed_tree(Input.of(data), **_model_options(sa, columns)), n, qi)
    if kind == NAIVE_BAYES:
        read_model: Callable[..., Release] = load("naive_bayes.read_naive_bayes_file")
        return read_model(data, options=cells)
    if only or complete or rounding not in (None, "nearest"):
        remedy = "Leave them out"
        raise OptionError("--rounding, --only and --complete are for itemsets and rules", where="the release", remedy=remedy)
    if kind == BUCKETS:
        release: Release = load("buckets.read_buckets")(data)
    else:
        read_partial = load("partial.read_partial")
        release = read_partial(data, qi=qi, sa=sa, blank=blank, missing=missing, missing_rule=missing_rule)
    one_n(release.n, n, where="the release" if kind == BUCKETS else "the table")
    return release


def _read_model(model: Any, *, n: int | None, qi: Names, sa: Names, columns: Names) -> Rules:
    """Read a fitted tree."""
    read_tree: Callable[..., Rules] = load("trees.read_tree")
    release = read_tree(model, **_model_options(sa, columns))
    return _check_model(release, n, qi)


def _model_options(sa: Names, columns: Names) -> dict[str, Any]:
    named, no_sa = sensitive_names(sa, ())
    if no_sa or len(named) > 1:
        raise OptionError("a tree predicts one column", where="sa", remedy="Name the column that it predicts")
    rest = [column for column in column_names(columns, ()) if column not in named]
    return {"columns": rest} | ({"sa": named[0]} if named else {})


def _check_model(release: Rules, n: int | None, qi: Names) -> Rules:
    one_n(release.n, _check_n(n), where="the model")
    known = column_names(qi, ())
    used = {column for column, _ in release.items.pairs or ()} - set(release.header.sa)
    if known and not used <= set(known):
        what = "does not name all columns that the model asks for"
        raise OptionError(what, where="--qi", remedy=f"The model asks for {', '.join(sorted(used))}")
    return release


def read_listed(
    data: Any,
    *,
    n: int | None = None,
    rounding: Rounding | None = None,
    only: Only | None = None,
    complete: bool | None = None,
    max_length: int | None = None,
    form: str | None = None,
    ignore: Names = (),
) -> Listed:
    """Read a release of lines; see :func:`read_release`."""
    n = _check_n(n)
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise OptionError(
            "must be a whole number of at least 1", where="--max-length", remedy="Write for instance --max-length 3"
        )
    for name, value, choices in (("--rounding", rounding, ROUNDINGS), ("--only", only, ONLY)):
        if value is not None and value not in choices:
            raise OptionError("is not known", where=name, remedy=nearest_name(str(value), choices, "choices"))
    if isinstance(data, (Itemsets, Rules)):
        return _with_options(data, n, only, complete, max_length)
    source = None
    if isinstance(data, (str, os.PathLike)):
        file = as_input(data)
        chosen = find_format(file, form)
        known = read_header(file)
        if known.ordered and chosen.name != "tacit":
            remedy = "Write the columns antecedent, consequent, count"
            raise InputError(
                "rules in order are read in Tacit's own form only", where=f"{known.where}, key 'ordered'", remedy=remedy
            )
        printout = chosen.read(file, _with_rounding(known, rounding or "nearest"))
        if known.rounding is not None:
            printout = replace(printout, in_full=False)
        source = file.source
    else:
        columns = frames.columns_of(data)
        if columns is None and hasattr(data, "get_params"):
            what = "this model is not fitted, or is of a kind that is not read"
            raise OptionError(what, where="data", remedy="Fit it first; trees, forests and boosted trees for classes are read")
        if columns is None:
            raise OptionError("is neither a path, a frame nor a release", where="data", remedy="Give the path of a release file")
        printout = frames.read(columns, _with_rounding(FileHeader(), rounding or "nearest"))
    if rounding is not None:
        printout = replace(printout, in_full=False)
    unread = tuple(name for name in printout.unread if name not in _texts(ignore))
    ignored = dict.fromkeys(name for name in (*printout.unread, *printout.alike) if name in _texts(ignore))
    header = replace(printout.header, unread=unread, ignored=tuple(ignored))
    if complete is not None:
        header = replace(header, complete=complete)
    header = replace(header, max_length=_one_length(header.max_length, max_length))
    printout = replace(printout, header=header)
    return check_release(build(printout, n=n, only=only, source=source))


def _texts(given: Names) -> tuple[str, ...]:
    """Return the texts of an option: a single text is one, whatever it holds."""
    return (given,) if isinstance(given, str) else tuple(map(str, given or ()))


def write_release(release: Release, path: FilePath) -> None:
    """Write a release and its header, both or neither.

    The ending is ``.csv``, ``.csv.gz`` or ``.parquet``; the header of ``r.csv`` is ``r.csv.json``.

    A bucketized release is written into a folder (:func:`tacit.files.buckets.write_buckets`).
    """
    writers = {
        "buckets": "buckets.write_buckets",
        "table": "partial.write_partial",
        "frequencies": "frequencies.write_frequencies",
    }
    load(writers.get(release.kind, "lists.write"))(release, path)


def _with_rounding(known: FileHeader, rounding: Rounding) -> FileHeader:
    if known.rounding is None:
        return replace(known, header=replace(known.header, rounding=rounding))
    if rounding not in ("nearest", known.rounding):
        what = f"is {rounding}, but {known.where} says {known.rounding}"
        raise OptionError(what, where="--rounding", remedy="Leave the option out")
    return known


def _check_n(n: int | None) -> int | None:
    if n is None:
        return None
    try:
        people = operator.index(n)
    except TypeError:
        people = -1
    if isinstance(n, bool) or not 0 < people < 2**61:
        raise OptionError("must be a whole number of at least 1", where="--n", remedy="Give the number of people") from None
    return people


def _one_length(said: int | None, given: int | None) -> int | None:
    if said is not None and given is not None and said != given:
        raise OptionError(f"is {given}, but the header says {said}", where="--max-length", remedy="Leave the option out")
    return said if given is None else given


def _with_options(
    release: Listed, n: int | None, only: Only | None, complete: bool | None, max_length: int | None = None
) -> Listed:
    header = replace(
        release.header,
        n=one_n(release.n, n, where="the release"),
        complete=release.header.complete if complete is None else complete,
        max_length=_one_length(release.header.max_length, max_length),
    )
    if header != release.header:
        release = replace(release, header=header)
    if only is not None:
        release = release.with_only(only)
    check_lengths(release)
    return release


Reader = Callable[[Any, int], Release]  #: Reads one release; the number says which of all it would be.

MOST_FILES = 1_000  #: Files at most that are looked at in one folder.
#: Files that systems leave in folders.
_OF_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".gitkeep", ".gitignore", ".gitattributes"})
#: Endings of pages that people read; without a number they say nothing about groups.
_PAGES = frozenset({".html", ".htm", ".md", ".txt", ".rst", ""})
_LARGEST_PAGE = 1 << 24
_HEAD = 1_000
OF_A_SESSION = "The tables of ACRO's session are taken to be about the same people, unless --people says otherwise."
_GENERATOR = '<meta name="generator" content="Tacit '
_WRITTEN_BY = "Written by Tacit "


def read_releases(
    folder: str | Path,
    *,
    n: int | None = None,
    rounding: Any = None,
    complete: bool | None = None,
    qi: Names = (),
    sa: Names = (),
    convention: str | None = None,
    ignore: Names = (),
) -> Releases:
    """Read the releases in a folder.

    Options are those of :func:`read_release`; releases are sorted by name.

    A pair of tables ``qit.csv`` and ``st.csv`` is one bucketized release, and so is a folder in it that holds such a pair. Files that say how to
    read others (``r.csv.json``) go with these. Files that Tacit wrote, empty ones, pages without a number and those that ``ignore`` names are
    listed as ``ignored``; all others that are not releases as ``not_read``, which makes an audit incomplete.

    Raises
    ------
    InputError
        When there is no such folder, no release in it, or a release in it that cannot be read.
    """
    left_out = _texts(ignore)
    options: dict[str, Any] = {"n": n, "rounding": rounding, "complete": complete, "qi": qi, "sa": sa, "convention": convention}
    found = _read_folder(Path(folder), lambda one, _: read_release(one, ignore=left_out, **options), 0, left_out)
    _refuse_unused(left_out, found.ignored, found.releases)
    return found


def gather_releases(given: Any, *, ignore: Names = (), people: Callable[[], int] | None = None, **options: Any) -> Gathered:
    """Return the releases that a caller gives.

    One, a folder, or a list of releases, folders and lists; options are those of :func:`read_release`.

    ``people`` says how many people there are, where a release needs it and does not say it.

    >>> gather_releases([])
    Traceback (most recent call last):
    tacit.model.errors.OptionError: the list: holds 0 releases. Give at least two, or one release by itself.
    """
    if isinstance(given, Gathered):
        return given
    left_out = _texts(ignore)
    if is_model(given) and load("trees.is_forest")(given):
        return _gather_forest(given, options)

    def read(one: Any, _: int) -> Release:
        try:
            return read_release(one, ignore=left_out, **options)
        except InputError as error:
            if error.asks_for != "n" or people is None:
                raise
        return read_release(one, ignore=left_out, **options | {"n": people()})

    found = gather([*given] if isinstance(given, (list, tuple)) else [given], read, left_out)
    if isinstance(given, (list, tuple)) and len(found.releases) < 2:
        remedy = "Give at least two, or one release by itself"
        raise OptionError(f"holds {len(found.releases)} releases", where="the list", remedy=remedy)
    return found


def _gather_forest(forest: Any, options: dict[str, Any]) -> Gathered:
    """Read a forest's trees, about the same people or each about a sample."""
    read_forest: Callable[..., tuple[Rules, ...]] = load("trees.read_forest")
    trees = read_forest(forest, **_model_options(options.get("sa", ()), options.get("columns", ())))
    is_drawn: bool = load("trees.is_drawn")(forest)
    for tree in trees:
        _check_model(tree, None if is_drawn else options.get("n"), options.get("qi", ()))
    places = tuple(range(len(trees)))
    return Gathered(trees, places, tuple(f"tree {place + 1}" for place in places), people=Unknown() if is_drawn else None)


def gather(given: Sequence[Any], read: Reader, ignore: Sequence[str] = ()) -> Gathered:
    """Return all given releases.

    Each argument is about one group of people; if it is the only one, each release may be about another. ``ignore`` names files of folders,
    and columns of files, that say nothing about people.
    """
    found = _gather(given, read, ignore)
    if any(release.kind == "frequencies" for release in found.releases):
        found = replace(found, releases=align_intervals(found.releases))
    _refuse_unused(ignore, found.ignored, found.releases)
    headers = [(name, release.header) for release, name in zip(found.releases, _names(found.releases), strict=True)]
    unread = tuple(NotRead(name, "is not read", column) for name, header in headers for column in header.unread)
    ignored = tuple(NotRead(name, AS_TOLD, column) for name, header in headers for column in header.ignored)
    return replace(found, not_read=found.not_read + unread, ignored=found.ignored + ignored)


def _refuse_unused(ignore: Sequence[str], files: Sequence[NotRead], releases: Sequence[Release]) -> None:
    used = {part for one in files for part in (one.file, one.file.rpartition("/")[2])}
    used.update(column for release in releases for column in release.header.ignored)
    if any(name not in used and "/".join(Path(os.path.normpath(name)).parts[-2:]) not in used for name in ignore):
        remedy = "Give the name of a file as it is in its folder, or of a column that is not read"
        raise OptionError("names neither a file of a folder nor a column that is not read", where="--ignore", remedy=remedy)


def _gather(given: Sequence[Any], read: Reader, ignore: Sequence[str]) -> Gathered:
    parts: list[Releases] = []
    for one in given:
        parts.append(_read_part(one, read, sum(map(len, parts)), ignore))
    not_read = tuple(file for part in parts for file in part.not_read)
    ignored = tuple(file for part in parts for file in part.ignored)
    if len(parts) == 1:
        releases = parts[0].releases
        return Gathered(
            releases, tuple(range(len(releases))), _names(releases), not_read, ignored, is_session=parts[0].is_session
        )
    for part in parts:
        if len({one.n for one in part if one.n is not None}) > 1:
            what = "is about one group of people, and its files say different numbers of them"
            remedy = "Put the files about each group of people into a folder of their own, or give them one by one, and declare --people"
            raise OptionError(what, where=part.name or "a list of releases", remedy=remedy)
    releases = _name_apart(given, parts)
    population = tuple(number for number, part in enumerate(parts) for _ in part)
    names = []
    for number, part in enumerate(parts):
        only_one = _names(releases)[population.index(number)]
        names.append(part.name or (only_one if len(part) == 1 else f"group {number + 1}"))
    return Gathered(releases, population, tuple(names), not_read, ignored)


def _read_part(one: Any, read: Reader, place: int, ignore: Sequence[str]) -> Releases:
    """Read one argument: a folder, list or release; only a folder has a name."""
    if isinstance(one, Releases):
        return one
    if isinstance(one, (list, tuple)):
        if not one:
            raise OptionError("holds no release", where="the list", remedy="Give at least one release in each list")
        if len(one) == 1:
            return _read_part(one[0], read, place, ignore)
        found = _gather([*one], lambda inner, number: read(inner, place + number), ignore)
        return Releases("", found.releases, found.not_read, found.ignored)
    # An empty name is not a folder: Path would take it for this one.
    if isinstance(one, (str, os.PathLike)) and os.fspath(one) and _is_folder_of_files(Path(one)):
        return _read_folder(Path(one), read, place, ignore)
    return Releases("", (read(one, place),))


def _is_folder_of_files(path: Path) -> bool:
    """Tell if a folder holds releases without being one."""
    if not path.is_dir():
        return False
    own = [one for one in _list_folder(path) if one.name != BUCKETS_HEADER]
    pair = pair_of(path)
    if pair is not None:
        return any(one not in pair for one in own)
    return not own or not all(one.name.startswith(("part-", "_", ".")) for one in own)


def _list_folder(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir(), key=lambda one: one.name)
    if len(found) > MOST_FILES:
        remedy = "Give a folder that holds releases only"
        raise InputError(f"holds more than {MOST_FILES:,} files", where=shown(folder), remedy=remedy)
    return found


def _read_folder(folder: Path, read: Reader, place: int, ignore: Sequence[str]) -> Releases:
    if not folder.is_dir():
        raise InputError("is not a folder", where=shown(folder), remedy="Give a folder that holds releases")
    name = folder.resolve().name
    releases: list[Release] = []
    not_read: list[NotRead] = []
    ignored: list[NotRead] = []
    session = read_session(folder)
    for one in _candidates(folder):
        shown_as = f"{name}/{one.name}"
        is_named = any(os.path.normpath(name) in (one.name, shown_as, os.path.normpath(one)) for name in ignore)
        reason = AS_TOLD if is_named else _why_ignored(one)
        if session is not None and one.name in RECORDS:
            reason = "is ACRO's record of the session"
        if reason:
            ignored.append(NotRead(shown_as, reason))
            continue
        if reason := _why_not_tried(one) or ("" if session is None else session.reasons.get(one.name, "")):
            not_read.append(NotRead(shown_as, reason))
            continue
        try:
            described = None if session is None else session.tables.get(one.name)
            found = read(described or os.fspath(one), place + len(releases))
        except OptionError:
            raise
        except InputError as error:
            if is_recognised(os.fspath(one)):
                remedy = f"{error.remedy}; or leave the file out with --ignore {shown(one.name)}"
                place_of_error = error.where.removeprefix(os.fspath(folder) + os.sep)
                where = f"{name}/{place_of_error}" if place_of_error.startswith(one.name) else f"{shown_as}: {place_of_error}"
                raise InputError(error.what, where=where, remedy=remedy) from None
            not_read.append(NotRead(shown_as, error.what if error.where == one.name else f"{error.where}: {error.what}"))
            continue
        releases.append(name_with_folder(found, name))
    if not releases:
        remedy = "Give a folder with files that tacit mine, tacit tabulate or another tool wrote"
        if any((folder / Path(one.file).name).is_dir() for one in not_read):
            remedy = "Give the folders in it one by one"
        raise InputError("holds no release that Tacit can read", where=shown(folder), remedy=remedy)
    if session is not None and len(releases) > 1:
        header = releases[0].header
        releases[0] = replace(releases[0], header=replace(header, assumed=(*header.assumed, OF_A_SESSION)))
    return Releases(f"{name}/", tuple(releases), tuple(not_read), tuple(ignored), is_session=session is not None)


def _candidates(folder: Path) -> Iterator[Path]:
    """Yield a folder's files except headers and second tables."""
    inside = _list_folder(folder)
    names = {one.name for one in inside}
    pair = pair_of(folder)
    for one in inside:
        if one.name.endswith(".json") and one.name.removesuffix(".json") in names:
            continue  # the header of a file beside it
        if pair is not None and one in (pair[1], folder / BUCKETS_HEADER):
            continue  # read with the first table of the pair
        yield one


def _why_ignored(path: Path) -> str:
    if path.name in _OF_SYSTEMS:
        return "belongs to the system, not to a release"
    if path.is_symlink() and not path.exists():
        return ""
    if path.is_dir():
        return "is an empty folder" if not any(path.iterdir()) else ""
    if path.stat().st_size == 0:
        return "is empty"
    if path.name == "tacit.toml":
        return "holds settings"
    if path.suffix == ".json" and _is_record(path):
        return "is a record that Tacit wrote"
    if path.suffix.casefold() not in _PAGES or path.stat().st_size > _LARGEST_PAGE:
        return ""
    try:
        with Input(path).open_text() as lines:
            text = lines.read(_LARGEST_PAGE)
    except TacitError:
        return ""
    if _GENERATOR in text[:_HEAD] or text.rstrip()[-_HEAD:].rpartition("\n")[2].startswith(_WRITTEN_BY):
        return "is a report that Tacit wrote"
    return "" if any(sign.isdigit() for sign in text) else "is a page without numbers"


def _why_not_tried(path: Path) -> str:
    if path.name.startswith("."):
        return "has a name that begins with a dot"
    if path.is_dir():
        return "is a folder, and only releases in the folder that is named are read" if _is_folder_of_files(path) else ""
    if path.suffix.casefold() in (".html", ".htm", ".md"):
        return "is a page, which Tacit does not read"
    return ""


def _is_record(path: Path) -> bool:
    try:
        with Input(path).open_text() as lines:
            found = json.load(lines)
    except (ValueError, RecursionError, TacitError):
        return False
    return isinstance(found, dict) and str(found.get("format", "")).startswith("tacit.")


def name_with_folder(release: Release, folder: str) -> Release:
    """Return a release whose source is named with its folder."""
    return release.with_source(lambda source: replace(source, name=f"{folder}/{source.name}"))


def _name_apart(given: Sequence[Any], parts: Sequence[Releases]) -> tuple[Release, ...]:
    """Return the releases, folders prefixed to equal names of single files."""
    releases = [release for part in parts for release in part]
    names = _names(releases)
    paths = {
        id(part[0]): Path(one)
        for one, part in zip(given, parts, strict=True)
        if isinstance(one, (str, os.PathLike)) and not part.name
    }
    for place, (release, name) in enumerate(zip(releases, names, strict=True)):
        path = paths.get(id(release))
        if path is not None and names.count(name) > 1:
            releases[place] = name_with_folder(release, path.resolve().parent.name)
    return tuple(releases)


def _names(releases: Sequence[Release]) -> tuple[str, ...]:
    return tuple(one.source.name if one.source else f"release {place + 1}" for place, one in enumerate(releases))
