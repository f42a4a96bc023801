"""Contents of a list as printed, and columns that Tacit does not use.

A printed set such as ``frozenset({'a', 'b'})`` is never evaluated: it is cut into tokens, and each distinct token is read once as a Python
literal. Some of the other columns repeat what was read; those that say more are named, since an audit without them is incomplete.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Literal

import numpy as np

from tacit.files.header import FileHeader
from tacit.files.rule_measures import MEASURES
from tacit.model.arrays import Codes, Ints
from tacit.model.release import Header, Items, Only, Sets
from tacit.model.table import sort_names

#: Lines taken in at a time: fewer than the lists after which Python looks for garbage, since larger batches are slower.
BATCH = 600


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """Printed column; an empty text is a withheld value."""

    name: str
    texts: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Printout:
    """Lines of a release file.

    ``consequents`` is None for itemsets; otherwise ``sets`` are the antecedents. ``count`` and ``support`` are about all items of a line,
    ``whole_count`` and ``whole_support`` about the antecedent alone. ``unit`` is what ``lines`` numbers: the lines of a text file, or the rows
    of a frame or Parquet file. ``exact`` says that numbers were not cut to some digits, ``in_full`` that the program prints doubles with all
    their digits. ``unread`` names columns and fields that say more than what is read, ``derived`` holds measures of rules that may follow
    from what is read, ``alike`` their names. The last lines, as many as ``added``, are rules for consequents: line and column of the number.
    """

    where: str
    lines: Ints
    items: Items
    sets: Sets
    consequents: Sets | None = None
    count: TextColumn | None = None
    support: TextColumn | None = None
    confidence: TextColumn | None = None
    whole_count: TextColumn | None = None
    whole_support: TextColumn | None = None
    header: Header = field(default_factory=Header)
    only: Only = "all"
    unit: Literal["line", "row"] = "line"
    exact: bool = False
    in_full: bool = False
    unread: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    derived: tuple[TextColumn, ...] = ()
    added: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(
        cls, where: str, lines: Ints | list[int], named: tuple[Items, list[Sets]], known: FileHeader, **columns: Any
    ) -> Printout:
        """Return the printout of itemsets, or of antecedents and consequents."""
        items, sides = named
        consequents = sides[1] if len(sides) > 1 else None
        printed_as = {"header": known.header, "only": known.only or "all"} | columns
        return cls(where, np.asarray(lines, np.int64), items, sides[0], consequents, **printed_as)

    def place(self, index: int, column: str = "") -> str:
        """Return the place of a number, for a message."""
        own = len(self.lines) - len(self.added)
        if index >= own:
            line, name = self.added[index - own]
            return place(self.where, line, name if column else "", self.unit)
        return place(self.where, int(self.lines[index]), column, self.unit)


def place(where: str, line: int, column: str = "", unit: str = "line") -> str:
    """Return file, line and column for a message."""
    return f"{where}, {unit} {line}" + (f", column {column!r}" if column else "")


class Numbering(dict[Any, int]):
    """Numbers of names, in order of appearance.

    ``numbering[key]`` makes a new number for a new key. ``name_of`` returns the name of a key; keys with the same name share a number.
    """

    def __init__(self, name_of: Callable[[Any], Hashable] = str) -> None:
        super().__init__()
        self.name_of = name_of
        self.numbers: dict[Any, int] = {}

    def __missing__(self, key: Any) -> int:
        number = self.numbers.setdefault(self.name_of(key), len(self.numbers))
        self[key] = number
        return number

    def ranks(self, ordered: Sequence[Hashable]) -> Codes:
        """Return the rank of each number in ``ordered``."""
        ranks = np.empty(len(ordered), np.int32)
        ranks[[self.numbers[name] for name in ordered]] = np.arange(len(ordered), dtype=np.int32)
        return ranks


@dataclass(slots=True)
class Bags:
    """Item numbers of many lines, stored compactly."""

    numbering: Numbering
    lengths: list[Ints] = field(default_factory=list)
    numbers: list[Codes] = field(default_factory=list)

    def add(self, batch: Sequence[Sequence[Any] | frozenset[Any]]) -> None:
        """Take in one list of keys per line."""
        lengths = np.fromiter(map(len, batch), np.int64, len(batch))
        keys = map(self.numbering.__getitem__, chain.from_iterable(batch))
        self.numbers.append(np.fromiter(keys, np.int32, int(lengths.sum())))
        self.lengths.append(lengths)

    def sets(self, ranks: Codes) -> Sets:
        """Return the lines as sets of ranks; a repeated item counts once."""
        lengths = np.concatenate([np.zeros(0, np.int64), *self.lengths])
        numbers = ranks[np.concatenate([np.zeros(0, np.int32), *self.numbers])]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        ascending = (numbers[1:] > numbers[:-1]) | (rows[1:] != rows[:-1])
        return Sets(offsets, numbers) if ascending.all() else Sets.from_pairs(rows, numbers, len(lengths))


def named_sets(
    *sides: Iterable[Sequence[Any] | frozenset[Any]], name_of: Callable[[Any], Hashable] = str
) -> tuple[Items, list[Sets]]:
    """Return the items in natural order, and both sides' sets.

    Sides are the itemsets, or the antecedents and the consequents.

    >>> items, (sets,) = named_sets([["b", "a"], ["c", "b"]])
    >>> items.names, [part.tolist() for part in sets]
    (('a', 'b', 'c'), [[0, 1], [1, 2]])
    """
    numbering = Numbering(name_of)
    bags = [Bags(numbering) for _ in sides]
    for bag, side in zip(bags, sides, strict=True):
        lines = iter(side)
        while batch := list(islice(lines, BATCH)):
            bag.add(batch)
    return finish(bags)


def finish(bags: Sequence[Bags]) -> tuple[Items, list[Sets]]:
    """Return the items and sets of bags with one numbering."""
    names = sort_names(bags[0].numbering.numbers)
    ranks = bags[0].numbering.ranks(names)
    return Items(names), [bag.sets(ranks) for bag in bags]


# Numbers as people write them

_DECIMAL_COMMA = re.compile(r"[+-]?\d{0,3},\d{1,18}(?:[eE][+-]?\d{1,3})?\s*%?")
_PERCENTAGE = re.compile(r"\d{1,3}(?:[.,]\d{1,18})?")


def with_points(texts: Sequence[str]) -> list[str]:
    """Return numbers with a decimal point where all write a comma.

    >>> with_points(["0,25", "1"]), with_points(["0,25", "0.5"])
    (['0.25', '1'], ['0,25', '0.5'])
    """
    written = [text for text in texts if "," in text]
    if not written or any("." in text for text in texts) or not all(_DECIMAL_COMMA.fullmatch(text.strip()) for text in written):
        return list(texts)
    return [text.replace(",", ".") for text in texts]


def as_percentages(texts: Sequence[str]) -> list[str]:
    """Return numbers with a percent sign, unless they have one."""
    return [f"{text.strip()}%" if _PERCENTAGE.fullmatch(text.strip()) else text for text in texts]


def are_percentages(texts: Sequence[str]) -> bool:
    """Tell if numbers are above 1 and not whole, so that they are neither shares nor counts.

    >>> are_percentages(["55.2", "3.0", ""]), are_percentages(["55", "3"]), are_percentages(["0.5", "0.25"])
    (True, False, False)
    """
    numbers = [float(text) for text in texts if _PERCENTAGE.fullmatch(text.strip()) and "," not in text]
    if len(numbers) < sum(bool(text.strip()) for text in texts):
        return False
    return any(number > 1 for number in numbers) and any(number % 1 for number in numbers) and max(numbers) <= 100


# Sets as Python prints them

_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PLAIN = r"""[^\s,'"(){}\[\]]+"""
#: A string, a number or word, or a NumPy scalar such as ``np.int64(3)``.
_TOKEN = re.compile(rf"(?:{_STRING}|[A-Za-z_][\w.]*\((?:{_STRING}|{_PLAIN})\)|{_PLAIN})")
_LIST = rf"\s*(?:{_TOKEN.pattern}(?:\s*,\s*{_TOKEN.pattern})*\s*,?\s*)?"
_SET = re.compile(
    rf"\s*(?:(?:frozenset|set)\(\)|(?:frozenset|set)\((?:\{{{_LIST}\}}|\[{_LIST}\])\)|\{{{_LIST}\}}|\[{_LIST}\]|\({_LIST}\))\s*"
)
_WRAPPED = re.compile(r"\s*(?:frozenset|set)\((.*)\)\s*", re.DOTALL)


def looks_printed(text: str) -> bool:
    """Tell if a text begins as a printed set or another call."""
    return re.match(r"\s*\w*[({\[]", text) is not None


def set_tokens(text: str) -> list[str] | None:
    """Return the tokens of a printed set, or None."""
    if not _SET.fullmatch(text):
        return None
    wrapped = _WRAPPED.fullmatch(text)
    return _TOKEN.findall(wrapped.group(1) if wrapped else text)


def token_name(token: str) -> str | None:
    """Return the item of a token, or None when it cannot be read.

    >>> token_name("np.str_('a')"), token_name("3.50"), token_name("nan")
    ('a', '3.50', 'nan')
    """
    if token[:1] not in "'\"" and token.endswith(")"):
        token = token[token.index("(") + 1 : -1]
    if token[:1] not in ("'", '"'):
        return token
    try:
        value = ast.literal_eval(token)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


# Sets whose items are joined

_JOINED_BY = (",", ";", "|", " & ", " + ")


def split_joined(texts: Sequence[str]) -> tuple[list[list[str]], str]:
    """Return the items of joined sets, and what joins them, if anything does.

    >>> split_joined(["age=[20, 30), sex=F", "sex=F"])
    ([['age=[20, 30)', 'sex=F'], ['sex=F']], ',')
    """
    for mark in _JOINED_BY:
        if any(len(split_set(text, mark)) > 1 for text in texts):
            return [[item.strip() for item in split_set(text, mark) if item.strip()] for text in texts], mark
    return [[text.strip()] if text.strip() else [] for text in texts], ""


def split_set(text: str, mark: str = ",") -> list[str]:
    """Split a set at commas, or other marks, outside brackets.

    arules does not mark commas inside item names: those within round or square brackets (``age=[20,30)``) belong to the name, all others divide
    items; so do all of them when the brackets do not close.

    >>> split_set("age=[20,30),sex=F"), split_set("a),b")
    (['age=[20,30)', 'sex=F'], ['a)', 'b'])
    """
    if not text:
        return []
    if "(" not in text and "[" not in text:
        return text.split(mark)
    items = []
    depth = 0
    start = 0
    for at, sign in enumerate(text):
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif depth == 0 and at >= start and text.startswith(mark, at):
            items.append(text[start:at])
            start = at + len(mark)
        if depth < 0:
            break
    return text.split(mark) if depth else [*items, text[start:]]


# Columns that are not read

#: Names of the support of a rule's consequent.
OF_CONSEQUENT = ("consequent support", "rhssupport", "rhs support")


def with_extras(printout: Printout, columns: Mapping[str, Sequence[str]]) -> Printout:
    """Name the unread columns that add information.

    Line numbers, lengths, texts without numbers and columns of one value say nothing more. Measures of rules may follow from their supports,
    which is seen once these are read (:func:`tacit.files.rule_measures.not_implied`). An ``order`` of rules is named even where it only
    counts lines: it may say that earlier rules come first.
    """
    is_rules = printout.consequents is not None
    measures = [name for name in columns if is_rules and name.casefold() in MEASURES]
    measures.sort(key=lambda name: list(MEASURES).index(name.casefold()))
    found = [
        name
        for name, texts in columns.items()
        if name not in measures and ((is_rules and name.casefold() == "order") or not _says_nothing(texts, printout))
    ]
    derived = tuple(TextColumn(name, list(columns[name])) for name in measures)
    return replace(printout, unread=tuple(found), alike=tuple(measures), derived=derived)


def with_consequents(printout: Printout, column: TextColumn | None) -> Printout:
    """Add a rule ``{} => consequent`` for each consequent whose support is printed.

    Everybody has the empty antecedent, so that the rule says how many people have the consequent. These rules are numbered behind the last
    line. None is added where an antecedent or a rule prints the same. If all rules reach a confidence, these need not, and the column is
    compared with the other supports only.
    """
    consequents = printout.consequents
    if column is None or consequents is None or not any(text.strip() for text in column.texts):
        return printout
    if printout.header.min_confidence is not None:
        return replace(printout, alike=(column.name, *printout.alike), derived=(column, *printout.derived))
    printed: set[tuple[frozenset[int], str]] = set()
    for line, (left, right) in enumerate(zip(printout.sets, consequents, strict=True)):
        for items, texts in ((left, printout.whole_support), ({*left.tolist(), *right.tolist()}, printout.support)):
            if texts is not None:
                printed.add((frozenset(map(int, items)), texts.texts[line]))
    added: dict[tuple[frozenset[int], str], int] = {}
    for line, right in enumerate(consequents):
        key = (frozenset(right.tolist()), column.texts[line])
        if column.texts[line].strip() and key not in printed:
            added.setdefault(key, line)
    if not added:
        return printout
    first = np.fromiter(added.values(), np.int64, len(added))
    numbers = int(printout.lines.max()) + 1 + np.arange(len(first))
    every = Sets(
        np.concatenate((consequents.offsets, consequents.offsets[-1] + np.cumsum(consequents.lengths[first]))),
        np.concatenate((consequents.members, consequents.take(first).members)),
    )
    supports = [column.texts[line] for line in first.tolist()]
    support = printout.support or TextColumn(column.name, [""] * len(printout.lines))
    silent = [""] * len(first)
    others: dict[str, Any] = {
        name: TextColumn(one.name, [*one.texts, *silent])
        for name in ("count", "confidence", "whole_count", "whole_support")
        if (one := getattr(printout, name)) is not None
    }
    place = f"line {numbers[0]} stands" if len(first) == 1 else f"lines {numbers[0]} to {numbers[-1]} stand"
    sentence = f"The numbers in {column.name} are read as rules without an antecedent, for which {place}."
    return replace(
        printout,
        lines=np.concatenate((printout.lines, numbers)),
        sets=Sets(
            np.concatenate((printout.sets.offsets, np.repeat(printout.sets.offsets[-1:], len(first)))), printout.sets.members
        ),
        consequents=every,
        support=TextColumn(support.name, [*support.texts, *supports]),
        header=replace(printout.header, assumed=(*printout.header.assumed, sentence)),
        added=tuple((int(printout.lines[line]), column.name) for line in first.tolist()),
        **others,
    )


def _says_nothing(texts: Sequence[str], printout: Printout) -> bool:
    """Tell if a column repeats what is known."""
    cells = [text.strip() for text in texts]
    if len(set(cells)) <= 1 and len(cells) > 1:
        return True
    if not any(sign.isdigit() for text in cells for sign in text):
        return True
    sizes = printout.sets.lengths
    if printout.consequents is not None:
        sizes = sizes + printout.consequents.lengths
    counters = (range(len(cells)), range(1, len(cells) + 1), sizes.tolist(), sizes.astype(float).tolist())
    return any(cells == list(map(str, counter)) for counter in counters)
