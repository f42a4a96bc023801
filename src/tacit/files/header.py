"""Header of a release: ``r.csv.json`` for ``r.csv``.

All keys can be left out, and null means "not known". A key or a format that Tacit does not know is refused, since it would be ignored.

The key ``value_groups`` names several values of a column at once: ``[{"column": "job", "name": "not clerk", "not": ["clerk"]}, {"column": "age",
"name": "old", "values": ["60", "70"]}]``.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

from tacit.files.disk import FilePath, Input, replace_file, shown
from tacit.model.bins import Bins, parse_bins
from tacit.model.cuts import Cut
from tacit.model.errors import Contradiction, InputError, OptionError, TacitError, nearest
from tacit.model.numbers import ROUNDINGS, Rounding, share
from tacit.model.release import CHANGES, ONLY, UNSUITABLE, Header, Itemsets, LeftOut, Listed, MadeBy, Marginal, Only, ValueGroup
from tacit.model.table import MISSING_RULES, Schema

_GROUPS = 'Write for instance [{"column": "job", "name": "not clerk", "not": ["clerk"]}]'

Kind = Literal["itemsets", "rules"]
FORMAT_NAMES: dict[str, Kind] = {"tacit.itemsets/1": "itemsets", "tacit.rules/1": "rules"}
#: The formats of all header files beside another file.
NAIVE_BAYES_FORMAT = "tacit.naive-bayes/1"
_HEADER_FORMATS = (*FORMAT_NAMES, "tacit.frequencies/1", "tacit.table/1", NAIVE_BAYES_FORMAT)
#: The keys of the header of a list of itemsets or rules.
KEYS = frozenset(
    {
        *("format", "n", "qi", "sa", "sa_values", "min_support", "min_confidence", "complete", "strict", "digits", "rounding"),
        *("missing", "missing_rule", "only", "columns", "coarser", "made_by", "value_groups", "sa_distribution", "ordered"),
        *("cuts", "max_length", "left_out", "bins", "person"),
    }
)


@dataclass(frozen=True, slots=True)
class FileHeader:
    """Content of a header file.

    ``exact`` declares that digits were not cut, ``ordered`` that a rule is about people whom no earlier one matches.
    """

    header: Header = field(default_factory=Header)
    kind: Kind | None = None
    only: Only | None = None
    rounding: Rounding | None = None
    where: str = ""
    exact: bool = False
    ordered: bool = False


def header_path(path: FilePath) -> str:
    """Return the path of the header of a file."""
    return Input(path).beside.path


def format_beside(file: Input) -> str | None:
    """Return the format in a file's header, or None."""
    try:
        name = (_entries(file) or {}).get("format")
    except TacitError:
        return None
    return name if isinstance(name, str) else None


def entries_beside(file: Input, formats: Sequence[str], keys: Collection[str]) -> Entries | None:
    """Return the entries of a file's JSON header, checked, or None."""
    entries = _entries(file)
    if entries is None:
        return None
    get = Entries(entries, file.beside.name)
    name = entries.get("format")
    known = " or ".join(formats)
    if name is not None and not isinstance(name, str):
        raise get.wrong("format", "must be text", f"Write {known}")
    if name is not None and name not in formats:
        if name in _HEADER_FORMATS:
            raise get.wrong("format", f"differs from that of the file, {known}", "Correct it")
        remedy = f"Write {known}, or use a newer Tacit; if the file is not a header, give it another name"
        raise get.wrong("format", "is not a format that Tacit reads", remedy)
    for key in entries:
        if key not in keys:
            near = nearest(key, keys)
            remedy = f"Write {near!r}" if near else "Remove it; if the file is not a header, give it another name"
            raise get.wrong(key, "is not a key of a header", remedy)
    return get


def _entries(file: Input) -> dict[str, Any] | None:
    if not os.path.lexists(file.beside):
        return None
    where = file.beside.name
    with file.beside.open_text() as stream:
        text = stream.read()
    try:
        entries = json.loads(text, parse_float=_number, parse_constant=_number)
    except json.JSONDecodeError as exc:
        remedy = "Correct the header file, or remove it"
        raise InputError("is not JSON", where=f"{where}, line {exc.lineno}", remedy=remedy) from None
    except (ValueError, InvalidOperation, RecursionError):
        entries = None
    if not isinstance(entries, dict):
        remedy = 'Write for instance {"format": "tacit.itemsets/1", "n": 100}'
        raise InputError("is not a JSON object", where=where, remedy=remedy)
    return entries


def _number(text: str) -> Decimal:
    """Return a number as it is spelled, unless its exponent would fill the memory when written out."""
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > 400:
        raise ValueError
    return number


def read_header(file: Input) -> FileHeader:
    """Return the header of a list."""
    get = entries_beside(file, tuple(FORMAT_NAMES), KEYS)
    if get is None:
        return FileHeader()
    kind = FORMAT_NAMES.get(get.entries.get("format", ""))
    rounding, base = _rounding(get)
    if base is not None and kind == "rules":
        raise get.wrong("rounding", "a base is for the counts of itemsets", "Print the supports of rules with 'digits' instead")
    marginals = _marginals(get) if kind != "itemsets" else ()
    values, counts = ((), ()) if marginals else _distribution(get)
    header = Header(
        n=get.whole("n"),
        min_support=get.whole("min_support"),
        min_confidence=_min_confidence(get),
        complete=bool(get.flag("complete")),
        strict=bool(get.flag("strict")),
        coarser=bool(get.flag("coarser")),
        digits=get.whole("digits", most=15),
        rounding=rounding or "nearest",
        base=base,
        missing=get.text("missing"),
        missing_rule=get.choice("missing_rule", MISSING_RULES),
        qi=get.names("qi"),
        sa=get.names("sa"),
        sa_values=values,
        sa_counts=counts,
        groups=read_value_groups(get),
        cuts=_cuts(get),
        made_by=read_made_by(get),
        columns=get.names("columns"),
        marginals=marginals,
        max_length=get.whole("max_length", least=1),
        left_out=_left_out(get),
        bins=read_bins(get),
        person=get.text("person"),
    )
    try:
        Schema(qi=header.qi, sa=header.sa)
    except OptionError as exc:
        raise InputError(exc.what, where=f"{get.where}, key 'qi' or 'sa'", remedy=exc.remedy) from None
    if header.n is not None and any(one.counts and sum(one.counts) != header.n for one in header.sensitive):
        what = f"the counts of 'sa_distribution' do not add up to n = {header.n}"
        raise Contradiction(what, where=get.where, remedy="Correct one of them")
    only = cast(Only | None, get.choice("only", ONLY))
    if header.max_length is not None and only not in (None, "all"):
        raise get.wrong("max_length", f"is for lists of all itemsets, and 'only' says {only}", "Remove one of the two keys")
    exact = "digits" in get.entries and header.digits is None and base is None
    ordered = get.flag("ordered") is True
    if ordered and kind == "itemsets":
        raise get.wrong("ordered", "is for rules", "Remove the key")
    return FileHeader(header, kind, only, rounding, where=get.where, exact=exact, ordered=ordered)


def read_bins(get: Entries) -> tuple[Bins, ...]:
    """Return the bins of columns in a header."""
    entries = get.entries.get("bins")
    if entries is None:
        return ()
    if not isinstance(entries, dict) or not all(isinstance(one, str) for one in entries.values()):
        raise get.wrong(
            "bins", "is not an object of columns and their bins", 'Write for instance {"age": "10", "pay": "100,200"}'
        )
    try:
        return parse_bins(entries)
    except OptionError as exc:
        raise get.wrong("bins", exc.what, exc.remedy) from None


def bins_entry(header: Header) -> dict[str, dict[str, str]]:
    """Return the entry of a header about bins, if there are any."""
    return {"bins": {one.column: one.text for one in header.bins}} if header.bins else {}


def made_by_entry(header: Header) -> dict[str, Any]:
    """Return the entry of a header about repairs, if there were any."""
    made = [one.to_dict() for one in header.made_by]
    return {"made_by": made[0] if len(made) == 1 else made} if made else {}


def groups_entry(header: Header) -> dict[str, Any]:
    """Return the entry of a header about names of several values, if there are any."""
    found = [
        {"column": group.column, "name": group.name, "not" if group.excluded else "values": list(group.values)}
        for group in header.groups
    ]
    return {"value_groups": found} if found else {}


def _left_out(get: Entries) -> tuple[LeftOut, ...]:
    entries = get.entries.get("left_out")
    if entries is None:
        return ()
    if not isinstance(entries, dict) or not all(value in UNSUITABLE for value in entries.values()):
        remedy = 'Write for instance {"patient": "identifiers", "admitted": "dates"}'
        raise get.wrong("left_out", "is not an object of columns and what they hold", remedy)
    return tuple(LeftOut(column, value) for column, value in entries.items())


def _cuts(get: Entries) -> tuple[Cut, ...]:
    entries = get.entries.get("cuts")
    if entries is None:
        return ()
    remedy = 'Write for instance [{"column": "age", "at": [30.5, 45.5]}]'
    if not isinstance(entries, list):
        raise get.wrong("cuts", "is not a list of columns and ends", remedy)
    cuts: dict[str, Cut] = {}
    for number, entry in enumerate(entries, 1):
        place = f"{get.where}, key 'cuts', entry {number}"
        column = entry.get("column") if isinstance(entry, dict) else None
        ends = entry.get("at") if isinstance(entry, dict) else None
        if not isinstance(column, str) or column in cuts or not isinstance(ends, list) or not ends:
            raise InputError("is not a column of its own with its ends", where=place, remedy=remedy)
        if not all(isinstance(end, (int, Decimal)) and not isinstance(end, bool) for end in ends):
            raise InputError("its ends are not numbers", where=place, remedy=remedy)
        numbers = tuple(float(end) for end in ends)
        if any(right <= left for left, right in pairwise(numbers)):
            raise InputError("its ends do not ascend", where=place, remedy=remedy)
        cuts[column] = Cut(column, numbers)
    return tuple(cuts.values())


def read_value_groups(get: Entries) -> tuple[ValueGroup, ...]:
    """Read the names of several values of a column."""
    entries = get.entries.get("value_groups")
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise get.wrong("value_groups", "is not a list of groups of values", _GROUPS)
    groups = []
    for number, entry in enumerate(entries, 1):
        place = f"{get.where}, key 'value_groups', entry {number}"
        ways = {"values", "not"} & set(entry) if isinstance(entry, dict) else set()
        if len(ways) != 1 or not all(isinstance(entry.get(name), str) for name in ("column", "name")):
            what = "is not a group with a column, a name, and its values or those it is not"
            raise InputError(what, where=place, remedy=_GROUPS)
        way = ways.pop()
        if not isinstance(entry[way], list) or not all(isinstance(value, str) for value in entry[way]):
            raise InputError(f"its {way!r} is not a list of texts", where=place, remedy=_GROUPS)
        groups.append(ValueGroup(entry["column"], entry["name"], tuple(entry[way]), excluded=way == "not"))
    if len({(group.column, group.name) for group in groups}) < len(groups):
        raise get.wrong("value_groups", "names two groups of a column alike", "Give each group a name of its own")
    return tuple(groups)


def _marginals(get: Entries) -> tuple[Marginal, ...]:
    """Return the sensitive columns, if the header separates them."""
    names = get.names("sa")
    values = get.entries.get("sa_values")
    counts = get.entries.get("sa_distribution")
    if len(names) < 2 or not (isinstance(values, dict) or _is_by_column(counts)):
        return ()
    for key, entry in (("sa_values", values), ("sa_distribution", counts)):
        if entry is not None and not (
            isinstance(entry, dict) and set(entry) <= set(names) and (_is_by_column(entry) or entry is values)
        ):
            raise get.wrong(key, "must be an object with an entry for each sensitive column", 'Write its columns as in "sa"')
    parts = []
    for name in names:
        both = {"sa_values": (values or {}).get(name), "sa_distribution": (counts or {}).get(name)}
        parts.append(Marginal(name, *_distribution(Entries(both, get.where))))
    return tuple(parts)


def _is_by_column(counts: object) -> bool:
    return isinstance(counts, dict) and bool(counts) and all(isinstance(one, dict) for one in counts.values())


def _distribution(get: Entries) -> tuple[tuple[str, ...], tuple[int, ...]]:
    values = get.names("sa_values")
    published = get.entries.get("sa_distribution")
    if published is None:
        return values, ()
    if not isinstance(published, dict) or not all(is_whole(count) for count in published.values()):
        raise get.wrong("sa_distribution", "must be an object that gives each value a count", "Write counts of people")
    if values and not set(published) <= set(values):
        raise get.wrong("sa_distribution", "counts a value that 'sa_values' lacks", "Make the two agree")
    values = values or tuple(published)
    return values, tuple(published.get(value, 0) for value in values)


@dataclass(frozen=True, slots=True)
class Entries:
    """Type-checked entries of a JSON header."""

    entries: Mapping[str, Any]
    where: str

    def wrong(self, key: str, what: str, remedy: str = "Correct it, or remove the key") -> InputError:
        """Return the error about a key."""
        return InputError(what, where=f"{self.where}, key {key!r}", remedy=remedy)

    def whole(self, key: str, *, least: int = 0, most: int | None = None) -> int | None:
        """Return a whole number."""
        value = self.entries.get(key)
        if value is None or (is_whole(value, least) and (most is None or value <= most)):
            return cast(int | None, value)
        what = f"must be a whole number of at least {least}" + ("" if most is None else f" and at most {most}")
        if key == "min_support":
            raise self.wrong(key, what, "Write a count of people (a share of n is not a count)")
        raise self.wrong(key, what)

    def flag(self, key: str) -> bool | None:
        """Return true or false."""
        value = self.entries.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "must be true or false", "Write it without quotation marks")
        return value

    def text(self, key: str) -> str | None:
        """Return a text."""
        value = self.entries.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, "must be text", "Put it in quotation marks")
        return value

    def choice(self, key: str, known: Sequence[str]) -> str | None:
        """Return one of the known texts."""
        value = self.entries.get(key)
        if value is not None and value not in known:
            raise self.wrong(key, f"must be one of {', '.join(known)}")
        return cast(str | None, value)

    def names(self, key: str) -> tuple[str, ...]:
        """Return a text or list of texts as a list."""
        value = self.entries.get(key)
        names = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.wrong(key, "must be a list of texts", 'Write for instance ["age", "sex"]')
        return tuple(names)


def is_whole(value: object, least: int = 0) -> bool:
    """Tell if an entry is an integer of at least ``least``."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**62


def read_made_by(get: Entries) -> tuple[MadeBy, ...]:
    """Read the repairs that made a release."""
    value = get.entries.get("made_by")
    made = [] if value is None else value if isinstance(value, list) else [value]
    for one in made:
        if not isinstance(one, dict) or not isinstance(one.get("method"), str) or one.get("changes") not in CHANGES:
            raise get.wrong("made_by", f"must be an object with a method, and with what it changes ({', '.join(CHANGES)})")
    return tuple(MadeBy(one["method"], one["changes"]) for one in made)


def _min_confidence(get: Entries) -> Fraction | None:
    value = get.entries.get("min_confidence")
    if value is None:
        return None
    parts = value.split("/") if isinstance(value, str) else ()
    if len(parts) == 2 and all(part.isdecimal() and part.isascii() and len(part) < 40 for part in parts) and int(parts[1]):
        value = Fraction(int(parts[0]), int(parts[1]))
    try:
        return share(value, where="min_confidence")
    except OptionError as exc:
        raise get.wrong("min_confidence", exc.what, exc.remedy) from None


def _rounding(get: Entries) -> tuple[Rounding | None, int | None]:
    value = get.entries.get("rounding")
    if value is None or value in ROUNDINGS:
        return cast(Rounding | None, value), None
    mode = value.get("mode") if isinstance(value, dict) else None
    base = value.get("base") if isinstance(value, dict) else None
    if not is_whole(base, least=1) or not (mode is None or mode in ROUNDINGS):
        known = ", ".join(ROUNDINGS)
        raise get.wrong("rounding", f"must be one of {known}, or an object with a base", 'Write for instance {"base": 5}')
    return cast(Rounding | None, mode), base


def header_entries(release: Listed) -> dict[str, Any]:
    """Return the ordered entries of a release's header."""
    header = release.header
    least: object = None if header.min_confidence is None else float(header.min_confidence)
    if header.min_confidence is not None and Fraction(repr(least)) != header.min_confidence:
        least = f"{header.min_confidence.numerator}/{header.min_confidence.denominator}"
    rounding: object = header.rounding
    if header.base is not None:
        rounding = {"base": header.base} | ({} if header.rounding == "nearest" else {"mode": header.rounding})
    entries: dict[str, Any] = {
        "format": f"tacit.{release.kind}/1",
        "n": header.n,
        "qi": list(header.qi),
        "sa": header.sa[0] if len(header.sa) == 1 else list(header.sa) or None,
        "sa_values": list(header.sa_values),
        "min_support": header.min_support,
        "min_confidence": least,
        "complete": header.complete,
        "strict": header.strict,
        "digits": header.digits,
        "rounding": rounding,
        "missing": header.missing,
        "missing_rule": header.missing_rule,
    }
    entries |= _OWN_ENTRIES[release.kind](release)
    if header.max_length is not None:
        entries["max_length"] = header.max_length
    entries |= bins_entry(header)
    if header.person is not None:
        entries["person"] = header.person
    if header.left_out:
        entries["left_out"] = {one.column: one.holds for one in header.left_out}
    if header.coarser:
        entries["coarser"] = True
    entries |= made_by_entry(header) | groups_entry(header)
    if header.cuts:
        entries["cuts"] = [{"column": cut.column, "at": list(cut.ends)} for cut in header.cuts]
    if header.sa_counts:
        entries["sa_distribution"] = dict(zip(header.sa_values, header.sa_counts, strict=True))
    if header.marginals:
        entries["sa_values"] = {one.column: list(one.values) for one in header.marginals}
        counted = [one for one in header.marginals if one.counts]
        if counted:
            entries["sa_distribution"] = {one.column: dict(zip(one.values, one.counts, strict=True)) for one in counted}
    return entries


def _itemset_entries(release: Itemsets) -> dict[str, Any]:
    header = release.header
    columns = tuple(dict.fromkeys(column for column, _ in release.items.pairs or ()))
    if split_items(release.items.names, columns) != release.items.pairs:
        columns = ()  # the names alone do not separate column and value
    if columns or (header.columns and (header.person is not None or not len(release.items))):
        return {"only": release.only, "columns": list(dict.fromkeys([*columns, *header.columns]))}
    return {"only": release.only}


#: Entries that one kind of list has.
_OWN_ENTRIES: Mapping[str, Callable[[Any], dict[str, Any]]] = {"itemsets": _itemset_entries, "rules": lambda _: {}}


def split_items(names: tuple[str, ...], columns: tuple[str, ...]) -> tuple[tuple[str, str], ...] | None:
    """Return names ``column=value`` as pairs, or None if one fits no column or several."""
    pairs = []
    for name in names:
        fitting = [column for column in columns if name.startswith(f"{column}=")]
        if len(fitting) != 1:
            return None
        pairs.append((fitting[0], name[len(fitting[0]) + 1 :]))
    return tuple(pairs)


# Writing

Plain = Callable[[Path], None]  #: Writes the plain CSV to a path.


ENDINGS = (".csv", ".csv.gz", ".parquet")  #: Endings of files that can be written.


def writable_name(name: str) -> str:
    """Return a file's name with an ending that can be written; a folder's stays."""
    if name.casefold().endswith(ENDINGS) or "." not in name.removesuffix(".gz"):
        return name
    return f"{name.removesuffix('.gz').rpartition('.')[0]}.csv"


def table_ending(path: FilePath) -> str:
    """Return the file ending, which chooses the format, or raise."""
    for ending in ENDINGS:
        if os.fspath(path).casefold().endswith(ending):
            return ending
    what = "the ending does not name a format that can be written"
    raise OptionError(what, where=shown(path), remedy="End it with .csv, .csv.gz or .parquet")


def write_with_header(
    path: FilePath, entries: Mapping[str, Any], lines: Callable[[], Iterable[str]], to_parquet: Callable[[Path, Plain], None]
) -> None:
    """Write a table and its JSON header atomically."""
    ending = table_ending(path)
    beside_text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"

    def plain(to: Path) -> None:
        with open(to, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines())

    # Both temporary files are complete before either is moved to its place.
    with replace_file(path) as temporary, replace_file(header_path(path)) as beside:
        if ending == ".parquet":
            to_parquet(temporary, plain)
        elif ending == ".csv.gz":
            with (
                open(temporary, "wb") as raw,
                # Neither the time nor a file name goes into it, so that the same text gives the same bytes.
                gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as stream,
            ):
                stream.writelines(lines())
        else:
            plain(temporary)
        beside.write_text(beside_text, encoding="utf-8", newline="\n")
