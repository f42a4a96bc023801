"""Lines of releases as bounds on weighted sums.

Like the rest of :mod:`tacit.checker`, nothing here shares code with the attacks. A box allows some values on each axis. One axis tells people
apart by the populations that they are in: ``0+2`` are those of the first and of the third, and a declaration says which of these values there
are. Where a column may have changed between two releases, its axis holds what somebody had and has: a JSON list of the two values, in which
null is any value that no release names. Somebody with two such values has the same one twice, unless ``"changed"`` stands behind them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import unquote

from tacit.checker.rules import Reject, allowed_confidences, most_left_out
from tacit.model.buckets import Buckets
from tacit.model.frequencies import UNBOUNDED, FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.words import HAS, CitedStatement

#: The columns of a group with the values that they allow, or with those that they do not.
Axis = tuple[str, str]
Values = tuple[frozenset[str], bool]
Box = dict[Axis, Values]
Domains = dict[Axis, frozenset[str]]


def name_of(release: Release, number: int) -> str:
    """Return a release's name in sentences: file or number."""
    return release.source.name if release.source else f"release {number + 1}"


def labelled(table: FrequencyTable, column: str, label: str) -> set[str]:
    """Return the values of a label or range."""
    for group in table.header.groups:
        if group.column == column and group.name == label:
            return set(group.values)
    if table.measured is None or column != table.measured.column:
        return {label}
    span = table.measured.span
    first, last = ends_of(label)
    return {str(number) for number in range(span.lo, span.hi + 1) if first <= number <= last}


def ends_of(label: str) -> tuple[int, float]:
    """Return the smallest and the largest number of a range.

    >>> [ends_of(label) for label in ("7", "0-4", "64+", "<18")]
    [(7, 7), (0, 4), (64, inf), (0, 17)]
    """
    told = label.replace(" ", "").replace("≥", ">=").replace("≤", "<=").replace("–", "-").replace("to", "-")
    if told.startswith("<"):
        return 0, (int(told[2:]) if told.startswith("<=") else int(told[1:]) - 1)
    if told.startswith(">"):
        return (int(told[2:]) if told.startswith(">=") else int(told[1:]) + 1), math.inf
    first = int(told.rstrip("+").split("-")[0])
    return first, (math.inf if told.endswith("+") else int(told.split("-")[-1]))


MOST_SETS = 1_000  #: Sets of populations at most; a record that needs more cannot be of an audit.


@dataclass(slots=True)
class Declaration:
    """Declaration about the populations of releases."""

    text: str
    of: Sequence[int]
    sets: dict[str, frozenset[int]] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.of or sorted(set(self.of)) != list(range(len(set(self.of)))):
            raise Reject("its groups of releases are not numbered from 0")
        kind = self.text.partition(",")[0].partition(":")[0]
        if kind in ("left", "joined"):
            self.spans = {"left": (0, 0), "joined": (0, 0)} | moved(self.text)
        if kind == "same" and self.text != "same":
            columns, _, span = self.text.removeprefix("same,changed:").rpartition(":")
            self.changed = frozenset(unquote(name) for name in columns.split("+"))
            self.spans = moved(f"changed:{span}")
            if set(self.of) != {0, 1} or not self.text.startswith("same,changed:"):
                raise Reject("it rests on a declaration about people that was not made")
        if kind != "same":
            self.sets = {"+".join(map(str, sorted(one))): one for one in self._possible(kind)}

    def _possible(self, kind: str) -> list[frozenset[int]]:
        every = range(max(self.of) + 1)
        if kind == "unknown":
            return [frozenset({number}) for number in every]
        if kind not in ("nested", "left", "joined"):
            raise Reject("it rests on a declaration about people that was not made")
        comes = self.text == "nested:1,0"
        goes = self.text == "nested"
        if self.spans:
            comes = self.spans["joined"][1] > 0
            goes = self.spans["left"][1] > 0
        found: list[frozenset[int]] = [frozenset()]
        for number in every:
            longer = []
            for one in found:
                was = number - 1 in one
                longer += [one | {number}] if was or comes or number == 0 else []
                longer += [one] if not was or goes else []
            found = longer
            if len(found) > MOST_SETS:
                raise Reject("its releases are about too many groups of people")
        return [one for one in found if one]

    def members(self, inside: Collection[int], outside: Collection[int]) -> frozenset[str]:
        """Return people in all ``inside`` and no ``outside`` populations."""
        return frozenset(name for name, one in self.sets.items() if one.issuperset(inside) and one.isdisjoint(outside))

    def scope(self, number: int) -> frozenset[str] | None:
        """Return the people of a release; None means all."""
        values = self.members([self.of[number]], ())
        return None if len(values) == len(self.sets) else values

    def mover(self, number: int, what: str) -> tuple[frozenset[str], tuple[int, int]]:
        """Return people who left or joined, with bounds."""
        population = self.of[number]
        other = population + 1 if what == "left" else population - 1
        if what not in self.spans or other not in self.of or list(self.of).index(population) != number:
            raise Reject("it rests on people who moved where nobody is declared to")
        return self.members([population], [other]), self.spans[what]


def moved(people: str) -> dict[str, tuple[int, int]]:
    """Return declared bounds on people who left and joined."""
    out: dict[str, tuple[int, int]] = {}
    for part in people.split(","):
        name, _, span = part.partition(":")
        fewest, dash, most = span.partition("-")
        out[name] = (int(fewest), int(most if dash else fewest))
    return out


KINDS = ("change", "item_change")  #: The kinds of axes of histories.


class Histories:
    """Histories of the columns that may have changed."""

    def __init__(self, columns: frozenset[str], named: Domains, domains: Domains) -> None:
        self.values: Domains = {}
        self._axis: dict[Axis, Axis] = {}
        for name in columns:
            column: Axis = ("column", name) if ("column", name) in named else ("item", name)
            is_closed = column in domains
            known = sorted(domains[column] if is_closed else named.get(column, frozenset()))
            values: list[str | None] = [*known] if is_closed else [*known, None]
            pairs: list[list[str | None]] = [[before, after] for before in values for after in values]
            if not is_closed and column[0] == "column":
                pairs.append([None, None, "changed"])
            axis = ("change" if column[0] == "column" else "item_change", name)
            self._axis[column] = axis
            self.values[axis] = frozenset(json.dumps(pair, ensure_ascii=False) for pair in pairs)

    def rewritten(self, box: Box, half: int) -> Box:
        """Return a release's box in terms of histories."""
        out: Box = {}
        for axis, (values, excluded) in box.items():
            if axis not in self._axis:
                out[axis] = (values, excluded)
                continue
            over = self._axis[axis]
            out[over] = (frozenset(one for one in self.values[over] if (json.loads(one)[half] in values) != excluded), False)
        return out

    def changed(self, name: str) -> Box:
        """Return the people whose value of a column changed."""
        for axis, values in self.values.items():
            if axis[1] == name:
                pairs = {one: json.loads(one) for one in values}
                return {axis: (frozenset(one for one, pair in pairs.items() if len(pair) == 3 or pair[0] != pair[1]), False)}
        raise Reject("it rests on changes of a column that is not declared to change")

    def box_of(self, changes: Sequence[Mapping[str, Any]]) -> Box:
        """Return the people of an event, by what they changed."""
        out: Box = {}
        for change in changes:
            ((axis, kept),) = self.changed(change["column"]).items()
            if not change.get("changed"):
                kept = (frozenset(one for one in self.values[axis] if _fits(axis, json.loads(one), change)), False)
            if axis in out:
                raise Reject("its event names a column twice")
            out[axis] = kept
        return out


def _fits(axis: Axis, history: Sequence[str | None], change: Mapping[str, Any]) -> bool:
    for value, side in zip(history[:2], (change["before"], change["after"]), strict=True):
        name = axis[1] if axis[0] == "item_change" else f"{axis[1]}={value}"
        has = set() if value is None else {name}
        if not has.issuperset(side["present"]) or has & set(side["absent"]):
            return False
    return True


Term = tuple[Fraction, Box]  #: What somebody has on an axis: these values, or any but these.

MEMBER: Axis = ("people", "")


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement ``lo <= weighted sum <= hi``, and its printed text."""

    terms: tuple[Term, ...]
    lo: int | None
    hi: int | None
    printed: tuple[int, int]


def count_people(box: Box, lo: int | None, hi: int | None, printed: tuple[int, int] | None = None) -> Statement:
    """Return the statement that ``lo`` to ``hi`` people are in a box."""
    return Statement(((Fraction(1), box),), lo, hi, printed or (lo or 0, hi or 0))


def _compare(one: tuple[int, Box], other: tuple[int, Box], is_open: bool, printed: tuple[int, int]) -> Statement:
    """Return that a sum is at least 0; above, if open."""
    terms = tuple((Fraction(factor), box) for factor, box in (one, other))
    return Statement(terms, int(is_open), None, printed)


def _split_items(items: Sequence[str], columns: Iterable[str], problem: str) -> dict[str, str]:
    """Return ``column=value`` items by column, or reject them."""
    out: dict[str, str] = {}
    for item in items:
        fitting = [column for column in columns if item.startswith(f"{column}=")]
        if len(fitting) != 1 or fitting[0] in out:
            raise Reject(problem)
        out[fitting[0]] = item[len(fitting[0]) + 1 :]
    return out


def _having(values: Mapping[str, str]) -> Box:
    return {("column", column): (frozenset({value}), False) for column, value in values.items()}


class _Lines:
    """Statements of one release, by place; a subclass for each kind."""

    def __init__(self, book: JointBook, number: int, release: Any) -> None:
        self.book = book
        self.number = number
        self.release = release
        self.by_line: dict[int | str, int] = {}
        self.columns: set[str] = set()
        self.sensitive = ""
        #: The values that lines name, and the columns of which every value is listed.
        self.named: Domains = {}
        self.listed: Domains = {}
        self.open()

    @property
    def scope(self) -> Box:
        values = self.book.declared.scope(self.number)
        return {} if values is None else {MEMBER: (values, False)}

    @property
    def blanks(self) -> Mapping[str, Sequence[str | None]]:
        """The rows of a table that may have blanks, by column."""
        return {}

    def open(self) -> None:
        raise NotImplementedError

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        raise NotImplementedError

    def named_sets(self) -> Iterator[tuple[Axis, Values]]:
        """Yield the sets of values that lines name."""
        return ((axis, (frozenset({value}), False)) for axis, values in self.named.items() for value in values)

    def choice(self, cited: Mapping[str, Any]) -> tuple[Statement, Statement]:
        """Return two statements of which one is true."""
        raise Reject("it splits cases by a line that says no such thing")


class _TableLines(_Lines):
    release: FrequencyTable

    def named_sets(self) -> Iterator[tuple[Axis, Values]]:
        """Yield the sets of values that labels stand for."""
        for name, labels in zip(self.release.columns, self.release.values, strict=True):
            yield from ((("column", name), (frozenset(labelled(self.release, name, label)), False)) for label in labels)

    def open(self) -> None:
        table = self.release
        self.by_line = {table.place(index): index for index in range(len(table))}
        self.columns = set(table.columns)
        for name, labels in zip(table.columns, table.values, strict=True):
            is_measured = table.measured is not None and name == table.measured.column
            every = labels if is_measured else [value for label in labels for value in labelled(table, name, label)]
            self.named["column", name] = frozenset(every)
        if table.header.complete:
            self.listed = dict(self.named)
            if table.measured is not None:
                self.listed["column", table.measured.column] = frozenset(labelled(table, table.measured.column, ">=0"))

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        table = self.release
        index = self.by_line.get(cited.get("line", cited.get("cell")))
        if index is None or cited["what"] != "count":
            raise Reject("it cites a place where the table has no cell")
        cell = table.cell(index).items()
        box: Box = {("column", name): (frozenset(labelled(table, name, label)), False) for name, label in cell}
        most = int(table.hi[index])
        printed = (int(table.lo[index]), most)
        return count_people({**box, **self.scope}, printed[0], None if most >= UNBOUNDED else most, printed)

    def choice(self, cited: Mapping[str, Any]) -> tuple[Statement, Statement]:
        """Return the readings of a printed 0: nobody, or a hidden number."""
        said = self.book.statement(cited)
        printing = self.release.printing
        index = self.by_line[cited.get("line", cited.get("cell"))]
        if printing.hidden_below is None or not printing.zeros_shown or bool(self.release.is_hidden[index]):
            raise Reject("it splits cases by a cell that may hold any number of people")
        return replace(said, lo=None, hi=0), replace(said, lo=printing.hidden_below, hi=None)


class _RowLines(_Lines):
    """Rows about individuals, by column; None is blank."""

    release: PartialTable | Buckets

    def open(self) -> None:
        release = self.release
        self.rows: dict[str, list[str | None]] = {}
        self.counted: dict[str, tuple[int, int]] = {}
        for place, column in enumerate(release.people.columns):
            texts = self._texts(place)
            self.rows[column.name] = texts
            axis = ("column", column.name)
            self.named[axis] = frozenset(text for text in texts if text is not None)
            if None not in texts:
                self.listed[axis] = self.named[axis]
        self.columns = set(self.rows)
        self.sensitive = " & ".join(release.header.sa)

    def _texts(self, place: int) -> list[str | None]:
        """Return the cells of the column at a place, row by row."""
        column = self.release.people.columns[place]
        return [column.values[code] for code in column.codes.tolist()]

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        what = cited["what"]
        items = list(cited["items"])
        place = f"{what} with {' and '.join(items)}"
        if cited.get("cell") != place:
            raise Reject("it cites a place of a table that says something else")
        fixed = _split_items(items, self.columns, "it is about columns that the release does not show")
        if place not in self.counted:
            self.counted[place] = self._count(what, fixed)
        return count_people({**_having(fixed), **self.scope}, *self.counted[place])

    def _count(self, what: str, fixed: Mapping[str, str]) -> tuple[int, int]:
        every = range(self.release.n)
        shown = {column: value for column, value in fixed.items() if column in self.rows}
        surely = [all(self.rows[column][row] == value for column, value in shown.items()) for row in every]
        if what == "rows" and len(shown) == len(fixed) > 0:
            return sum(surely), sum(
                all(self.rows[column][row] in (value, None) for column, value in shown.items()) for row in every
            )
        return self._count_values(what, fixed, surely)

    def _count_values(self, what: str, fixed: Mapping[str, str], surely: Sequence[bool]) -> tuple[int, int]:
        """Return bounds on people with values that no row shows."""
        raise Reject("it cites something that the release does not show")


class _PartialLines(_RowLines):
    release: PartialTable

    @property
    def blanks(self) -> Mapping[str, Sequence[str | None]]:
        return self.rows

    def _texts(self, place: int) -> list[str | None]:
        blank = self.release.hidden[:, place].tolist()
        return [None if hidden or not text else text for text, hidden in zip(super()._texts(place), blank, strict=True)]


class _BucketLines(_RowLines):
    release: Buckets

    def open(self) -> None:
        super().open()
        self.sensitive = self.release.sensitive
        self.columns.add(self.sensitive)
        self.listed["column", self.sensitive] = frozenset(self.release.values)

    def _count_values(self, what: str, fixed: Mapping[str, str], surely: Sequence[bool]) -> tuple[int, int]:
        release = self.release
        sensitive = fixed.get(release.sensitive)
        shown = [column for column in fixed if column in self.rows]
        if sensitive is None:
            raise Reject("it cites something that the release does not show")
        having = [release.contents(group).get(sensitive, 0) for group in range(len(release))]
        if what == "values" and not shown:
            return sum(having), sum(having)
        if what != "groups" or not shown:
            raise Reject("it cites something that the release does not show")
        groups = release.group.tolist()
        sizes = Counter(groups)
        fits = Counter(group for group, holds in zip(groups, surely, strict=True) if holds)
        least = sum(max(0, fits[group] + having[group] - sizes[group]) for group in range(len(release)))
        return least, sum(min(fits[group], having[group]) for group in range(len(release)))


class _ItemLines(_Lines):
    release: Itemsets | Rules

    def open(self) -> None:
        header = self.release.header
        self.by_line = {self.release.line(index): index for index in range(len(self.release))}
        if self.release.items.pairs is not None and not header.coarser:
            self.columns = {*(column for column, _ in self.release.items.pairs), *header.columns}
            if self.sensitive:
                self.columns |= {*header.qi, *(one.column for one in header.sensitive)}
            self.listed = {("column", name): frozenset(values) for name, values in header.all_values}
            self.listed |= {("column", one.column): frozenset(one.values) for one in header.sensitive if one.values}

    def named_sets(self) -> Iterator[tuple[Axis, Values]]:
        """Yield the sets of values of items."""
        return map(self.item, sorted(self.published))

    @cached_property
    def published(self) -> set[int]:
        release = self.release
        return {int(item) for part in release.sides for item in part.members.tolist()}

    def item(self, item: int) -> tuple[Axis, Values]:
        pairs = self.release.items.pairs
        name = self.release.items.names[item]
        if pairs is not None and not self.release.header.coarser:
            column, value = pairs[item]
            for group in self.release.header.groups:
                if group.column == column and group.name == value:
                    return ("column", column), (frozenset(group.values), group.excluded)
            return ("column", column), (frozenset({value}), False)
        column, equals, value = name.partition("=")
        if pairs is None and equals and column in self.book.columns:
            return ("column", column), (frozenset({value}), False)
        return ("item", name), (frozenset({HAS}), False)

    def box(self, items: Iterable[int]) -> Box:
        box = self.scope
        for item in items:
            axis, (values, excluded) = self.item(item)
            known = box.get(axis)
            if known is None:
                box[axis] = (values, excluded)
            elif known[1] and excluded:
                box[axis] = (known[0] | values, True)
            elif not known[1]:
                box[axis] = (known[0] - values if excluded else known[0] & values, False)
            else:
                box[axis] = (values - known[0], False)
        return box

    def lacking(self, box: Box, item: int) -> Box:
        """Return those in a box who lack an item."""
        axis, (values, excluded) = self.item(item)
        if axis in box:
            raise Reject("it cites people who are in no group")
        return {**box, axis: (values, not excluded)}


class _ItemsetLines(_ItemLines):
    release: Itemsets

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        release = self.release
        what = cited["what"]
        if what == "missing" and cited["cell"] == "min_support":
            return self._missing(cited)
        index = self.by_line.get(cited["line"])
        if index is None:
            raise Reject(f"it cites line {cited['line']}, which holds no itemset")
        count = (int(release.lo[index]), int(release.hi[index]))
        items = release.sets[index].tolist()
        if what == "count":
            return count_people(self.box(items), *count)
        complete = release.only == "closed" and release.header.complete
        if what == "subset":
            items = self._cited_items(cited)
            above = self._holding(items)
            exact = all(release.lo[place] == release.hi[place] for place in above)
            if not complete or not exact or index not in above:
                raise Reject("the support of an itemset in its sum does not follow from the release")
            if max(int(release.hi[place]) for place in above) != count[1]:
                raise Reject("a line says more people of an itemset in its sum")
            return count_people(self.box(items), *count)
        if what == "closed":  # somebody with a closed itemset lacks another item
            (item,) = self._cited_items(cited)
            if release.only != "closed" or item in items:
                raise Reject("it takes an itemset as closed that is not said to be")
            return count_people(self.lacking(self.box(items), item), 1, None, count)
        if what == "closure":  # the closure of an itemset holds an item
            *items, item = self._cited_items(cited)
            above = self._holding(items)
            if not complete or not above or not all(item in release.sets[place].tolist() for place in above):
                raise Reject("what it says of an itemset does not follow from a list of closed ones")
            return count_people(self.lacking(self.box(items), item), None, 0, count)
        raise Reject("it cites a number that the line does not print")

    def _missing(self, cited: Mapping[str, Any]) -> Statement:
        least = self.release.min_support
        if not self.release.header.complete or least is None or self.release.header.coarser:
            raise Reject("it needs a complete list, and the release is not one")
        if (unlisted := self._unlisted(cited["items"])) is not None:
            return count_people({**unlisted, **self.scope}, None, least - 1, (least, least))
        items = self._cited_items(cited)
        if self._holding(items) or not self.release.header.covers(len(items)):
            raise Reject("it takes an itemset as missing that the release lists, or that is too long for the list")
        return count_people(self.box(items), None, least - 1, (least, least))

    def _unlisted(self, names: Sequence[str]) -> Box | None:
        """Return those with a value that no line names."""
        if len(names) != 1 or names[0] in {self.release.items.names[item] for item in self.published}:
            return None
        axes = (self.item(item)[0] for item in self.published)
        columns = {name for kind, name in axes if kind == "column"}
        columns |= set(self.release.header.columns) if self.release.items.pairs is not None else set()
        fitting = [column for column in columns if names[0].startswith(f"{column}=")]
        return _having({fitting[0]: names[0][len(fitting[0]) + 1 :]}) if len(fitting) == 1 else None

    def _cited_items(self, cited: Mapping[str, Any]) -> list[int]:
        number = {name: place for place, name in enumerate(self.release.items.names)}
        items = [number.get(name, -1) for name in cited["items"]]
        if not set(items) <= self.published or len(set(items)) != len(items):
            raise Reject("it is about items that the release does not name")
        return items

    def _holding(self, items: Collection[int]) -> list[int]:
        return [place for place in range(len(self.release)) if set(items) <= set(self.release.sets[place].tolist())]


class _RuleLines(_ItemLines):
    release: Rules

    def open(self) -> None:
        self.sensitive = " & ".join(self.release.header.sa)
        super().open()
        match = self.release.header.first_match
        for one in () if match is None else [condition for rule in match.rules for condition in rule]:
            axis = ("column", one.column)
            self.columns.add(one.column)
            self.named[axis] = self.named.get(axis, frozenset()) | frozenset(one.values)

    def named_sets(self) -> Iterator[tuple[Axis, Values]]:
        """Yield the sets of values of items and of the conditions of rules in order."""
        match = self.release.header.first_match
        for one in () if match is None else [condition for rule in match.rules for condition in rule]:
            yield ("column", one.column), (frozenset(one.values), one.excluded)
        yield from map(self.item, sorted(self.published))

    def _order(self, cited: Mapping[str, Any]) -> Statement:
        """Return that nobody's first rule is unmatched, or comes after a matched one."""
        match = self.release.header.first_match
        number = str(cited["cell"]).removeprefix("rule ")
        numbers = [] if match is None else [str(place + 1) for place in range(len(match.rules))]
        if match is None or number not in numbers or cited["cell"] != f"rule {number}":
            raise Reject("it rests on the order of rules that the release does not list")
        rule = match.rules[int(number) - 1]
        if cited["what"] == "unmatched":
            wanted = tuple(cited["items"])
            found = [one for one in rule if (one.column, one.name) == wanted]
            if not found:
                raise Reject("it rests on a condition that the rule does not have")
            lacking = ("column", found[0].column), (frozenset(found[0].values), not found[0].excluded)
            return count_people(
                {**self.scope, ("column", match.column): (frozenset({number}), False), lacking[0]: lacking[1]}, None, 0
            )
        box: Box = {**self.scope, ("column", match.column): (frozenset(numbers[: int(number)]), True)}
        for one in rule:
            axis = ("column", one.column)
            if axis in box:
                raise Reject("it rests on a rule with two conditions on one column")
            box[axis] = (frozenset(one.values), one.excluded)
        return count_people(box, None, 0)

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        release = self.release
        what = cited["what"]
        if what == "value":
            told = {
                f"sa_counts of {one.column}" if release.header.marginals else "sa_counts": one for one in release.header.sensitive
            }
            one = told[cited["cell"]]
            (value,) = cited["items"]
            people = dict(zip(one.values, one.counts, strict=True))[value]
            return count_people({**self.scope, **_having({one.column: value})}, people, people)
        if what in ("missing-rule", "missing-share"):
            return self._missing(cited)
        if what in ("matched", "unmatched"):
            return self._order(cited)
        index = self.by_line.get(cited["line"])
        if index is None:
            raise Reject(f"it cites line {cited['line']}, which holds no rule")
        left = release.antecedents[index].tolist()
        right = release.consequents[index].tolist()
        whole = self.box(left)
        both = self.box(sorted({*left, *right}))
        count = release.count(index)
        wholes = release.whole(index)
        printed = (count.lo, count.hi)
        if what == "count":
            return count_people(both, *printed)
        if what == "antecedent":
            return count_people(whole, wholes.lo, wholes.hi)
        low, high, low_open, high_open = allowed_confidences(release, index)
        if what == "least":
            return _compare((low.denominator, both), (-low.numerator, whole), low_open, printed)
        if what == "most":
            return _compare((high.numerator, whole), (-high.denominator, both), high_open, printed)
        rest = self.lacking(whole, right[0])
        if len(right) != 1:
            raise Reject("it cites people who are in no group")
        if what == "no-exceptions" and low == 1:
            return count_people(rest, None, 0, printed)
        if what == "most-exceptions":
            return _compare((low.denominator - low.numerator, whole), (-low.denominator, rest), low_open, printed)
        if what == "least-exceptions":
            return _compare((high.denominator, rest), (high.numerator - high.denominator, whole), high_open, printed)
        raise Reject("it cites a number that the line does not print")

    def choice(self, cited: Mapping[str, Any]) -> tuple[Statement, Statement]:
        """Return the two reasons why a rule is missing."""
        if cited["what"] != "missing-rule":
            return super().choice(cited)
        whole, box = self._missing_boxes(cited)
        rare = (self.release.header.min_support or 1) - 1
        return count_people(box, None, rare), self._below_share(whole, box, rare)

    def _missing(self, cited: Mapping[str, Any]) -> Statement:
        header = self.release.header
        given = cited["given"]
        by_share = cited["what"] == "missing-share"
        whole, box = self._missing_boxes(cited)
        if given["what"] in ("missing-rule", "missing-share"):
            raise Reject("it cites a missing rule that is not one")
        said = self.book.statement(given)
        end = said.lo if by_share else said.hi
        if len(said.terms) != 1 or said.terms[0] != (Fraction(1), whole) or end is None:
            raise Reject("what it is given is not about the antecedent of its missing rule")
        assert header.min_support is not None
        assert header.min_confidence is not None
        if by_share:
            share = header.min_confidence * end
            if (math.floor(share) + 1 if header.strict else math.ceil(share)) < header.min_support:
                raise Reject("a rule that it takes as missing may be missing for its support")
            return self._below_share(whole, box, end)
        return count_people(box, None, most_left_out(header, end))

    def _missing_boxes(self, cited: Mapping[str, Any]) -> tuple[Box, Box]:
        """Return the people of a missing rule's two sides."""
        header = self.release.header
        items = list(cited["items"])
        share = "share of " if cited["what"] == "missing-share" else ""
        if cited.get("cell") != f"{share}missing rule {' and '.join(items[:-1])} => {items[-1]}":
            raise Reject("it cites a missing rule that is not one")
        told = {one.column: one.values for one in header.sensitive}
        is_plain = self.release.leads_to_one_column if header.marginals else len(header.sa) == 1
        if not header.complete or header.coarser or not header.min_support or not header.min_confidence or not is_plain:
            raise Reject("it needs a complete list of rules, and the release is not one")
        others = "it is about columns that its rules are not about"
        antecedent = _split_items(items[:-1], header.qi, others)
        ((column, value),) = _split_items(items[-1:], tuple(told), others).items()
        pairs = self.release.items.pairs
        if pairs is None:
            raise Reject(others)
        if not header.covers(len(antecedent)):
            raise Reject("it takes a rule as missing that is longer than the list holds")
        having = sorted(antecedent.items())
        for left, right in zip(self.release.antecedents, self.release.consequents, strict=True):
            if sorted(pairs[item] for item in left.tolist()) == having and [pairs[item] for item in right.tolist()] == [
                (column, value)
            ]:
                raise Reject("it takes a rule as missing that the release lists")
        if value not in told[column]:
            raise Reject("it takes a rule as missing that the release lists")
        whole = _having(antecedent) | self.scope
        return whole, whole | _having({column: value})

    def _below_share(self, whole: Box, having: Box, least: int) -> Statement:
        header = self.release.header
        assert header.min_confidence is not None
        share = header.min_confidence
        return _compare((share.numerator, whole), (-share.denominator, having), not header.strict, (least, least))


#: Statements of each kind of release.
_KINDS: Mapping[str, type[_Lines]] = {
    "itemsets": _ItemsetLines,
    "rules": _RuleLines,
    "buckets": _BucketLines,
    "table": _PartialLines,
    "frequencies": _TableLines,
}


@dataclass(slots=True)
class JointBook:
    """Lines of several releases, under a declared relation.

    If it ``is_whole``, what lines count are whole numbers.
    """

    is_whole: ClassVar[bool] = True
    releases: Sequence[Release]
    people: str
    of: Sequence[int] = ()
    facts: Sequence[Fact] | None = None
    columns: set[str] = field(default_factory=set)
    domains: Domains = field(default_factory=dict)
    declared: Declaration = field(init=False)
    histories: Histories | None = None
    lines: list[_Lines] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.declared = Declaration(self.people, self.of or range(len(self.releases)))
        numbers = {(of, release.n) for of, release in zip(self.declared.of, self.releases, strict=True) if release.n is not None}
        if len({of for of, _ in numbers}) < len(numbers):
            raise Reject("it takes releases about different numbers of people as being about the same people")
        told: dict[Axis, dict[int, frozenset[str]]] = {}
        for number, release in enumerate(self.releases):
            lines = _KINDS[release.kind](self, number, release)
            self.lines.append(lines)
            self.columns |= lines.columns
            for column, values in lines.listed.items():
                of_column = told.setdefault(column, {})
                population = self.declared.of[number]
                of_column[population] = of_column.get(population, frozenset()) | values
        every = set(self.declared.of)
        for column, by_population in told.items():
            # What one release says about its people's values holds for everybody where all are the same people.
            always = not self.declared.sets and column[1] not in self.declared.changed
            if always or set(by_population) == every:
                self.domains[column] = frozenset().union(*by_population.values())
        if self.declared.sets:
            self.domains[MEMBER] = frozenset(self.declared.sets)
        if self.declared.changed:
            named = {column: frozenset().union(*values.values()) for column, values in told.items()}
            for lines in self.lines:
                items = [lines.item(item) for item in lines.published] if isinstance(lines, _ItemLines) else []
                for axis, values in [*lines.named.items(), *((axis, values) for axis, (values, _) in items)]:
                    named[axis] = named.get(axis, frozenset()) | values
            self.histories = Histories(self.declared.changed, named, self.domains)
            self.domains |= self.histories.values

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        """Return the statement of a cited place.

        Where values may have changed, it is about what people had or have there.
        """
        if self.histories is None:
            return self._statement(cited)
        number = int(cited["release"])
        if cited["what"] == "changed" and cited["cell"] == "changed":
            (name,) = cited["items"]
            return count_people(self.histories.changed(name), *self.declared.mover(number, "changed")[1])
        said = self._statement(cited)
        half = self.declared.of[number]
        return replace(said, terms=tuple((factor, self.histories.rewritten(box, half)) for factor, box in said.terms))

    def look_up(self, cited: Mapping[str, Any]) -> CitedStatement:
        """Return the statement of a cited place, for its words."""
        said = self.statement(cited)
        number = int(cited["release"])
        release = self.releases[number]
        place = cited["line"] if "line" in cited else cited["cell"]
        index = self.lines[number].by_line.get(place) if cited["what"] == "count" else None
        return CitedStatement(
            terms=said.terms,
            lo=said.lo,
            hi=said.hi,
            release=name_of(release, number),
            place=place,
            what=cited["what"],
            items=cited.get("items", ()),
            printed=Bound(*said.printed),
            text="" if index is None else release.text(index),
        )

    def _statement(self, cited: Mapping[str, Any]) -> Statement:
        number = int(cited["release"])
        what = cited["what"]
        lines = self.lines[number]
        if what == "n" and cited["cell"] == "n" and lines.release.n is not None:
            return count_people(lines.scope, lines.release.n, lines.release.n)
        if what in ("left", "joined") and cited["cell"] == what:
            values, span = self.declared.mover(number, what)
            return count_people({MEMBER: (values, False)}, *span)
        if what == "all-values":  # values that are not listed do not occur
            (column,) = cited["items"]
            listed = lines.listed.get(("column", column))
            if listed is None or cited["cell"] != f"all values of {column}":
                raise Reject("it takes a column as listed whole that is not")
            return count_people({("column", column): (listed, True), **lines.scope}, None, 0)
        if what == "fact" and not self.declared.sets:
            return self._fact(cited)
        return lines.statement(cited)

    def _fact(self, cited: Mapping[str, Any]) -> Statement:
        (text,) = cited["items"]
        told = json.loads(text)
        least = told["at_least"]
        most = told["at_most"]
        if self.facts is not None and not any(_is_fact(fact, told) for fact in self.facts):
            raise Reject("it rests on a fact that is not among those that are known")
        sensitive = [lines.sensitive for lines in self.lines if lines.sensitive]
        if not {*sensitive[:1], *told["event"]} <= self.columns or not sensitive:
            raise Reject("it rests on a fact about columns that the releases do not name")
        ends = (least or 0, most if most is not None else self.releases[0].n or least or 0)
        box: Box = {("column", column): (frozenset(values), False) for column, values in told["event"].items()}
        return count_people({**box, **_having({sensitive[0]: told["value"]})}, least, most, ends)

    def choice(self, cited: Mapping[str, Any]) -> tuple[Statement, Statement]:
        """Return two statements of which one is true."""
        if self.histories is not None:
            raise Reject("it splits cases by a line where values may have changed")
        return self.lines[int(cited["release"])].choice(cited)

    def blanks_of(self, number: int) -> Mapping[str, Sequence[str | None]]:
        """Return the rows of a table that may have blanks, by column."""
        return self.lines[number].blanks if 0 <= number < len(self.lines) else {}


def _is_fact(fact: Fact, told: Mapping[str, Any]) -> bool:
    amounts = {"at_least": fact.at_least, "at_most": fact.at_most}
    for end, amount in amounts.items():
        number = None if amount is None or (amount.is_share and amount.value) else amount.value
        if number != told[end]:
            return False
    event = {name: sorted(values) for name, values in fact.allowed.items()}
    return bool(fact.value == told["value"] and event == told["event"])
