"""Lines of releases as bounds on weighted sums.

Like the rest of :mod:`tacit.checker`, nothing here shares code with the attacks. A box allows some values on each axis. One axis tells people
apart by the populations that they are in: ``0+2`` are those of the first and of the third, and a declaration says which of these values there
are. Where a column may have changed between two releases, its axis holds what somebody had and has: a JSON list of the two values, in which
null is any value that no release names. Somebody with two such values has the same one twice, unless ``"changed"`` stands behind them.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from urllib.parse import unquote

from tacit.checker.rules import Reject, allowed_confidences, most_left_out
from tacit.model.buckets import Buckets
from tacit.model.frequencies import UNBOUNDED, FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.release import Header, Itemsets, Release, Rules
from tacit.model.words import HAS, CitedStatement

#: The columns of a group with the values that they allow, or with those that they do not.
Axis = tuple[str, str]
Values = tuple[frozenset[str], bool]
Box = dict[Axis, Values]


def name_of(release: Release, number: int) -> str:
    """Return a release's name in sentences: file or number."""
    return release.source.name if release.source else f"release {number + 1}"


def places(table: FrequencyTable) -> dict[int | str, int]:
    """Return each cell's line or spreadsheet place."""
    return {table.place(index): index for index in range(len(table))}


def cell(
    table: FrequencyTable, known: Mapping[int | str, int], cited: Mapping[str, Any]
) -> tuple[Box, int, int | None, tuple[int, int]]:
    """Return a cell's group, bounds, and printed ends."""
    index = known.get(cited.get("line", cited.get("cell")))
    if index is None or cited["what"] != "count":
        raise Reject("it cites a place where no cell of a table stands")
    width = len(table.columns)
    box: Box = {}
    for column in range(width):
        code = int(table.codes[index * width + column])
        if code >= 0:
            name = table.columns[column]
            label = table.values[column][code]
            box["column", name] = (frozenset(labelled(table, name, label)), False)
    least = int(table.lo[index])
    most = int(table.hi[index])
    return box, least, None if most >= UNBOUNDED else most, (least, most)


def domains(table: FrequencyTable) -> dict[tuple[str, str], frozenset[str]]:
    """Return the columns whose values are all listed."""
    if not table.header.complete:
        return {}
    out = {("column", column): frozenset(values) for column, values in zip(table.columns, table.values, strict=True)}
    if table.measured is not None:
        out["column", table.measured.column] = frozenset(labelled(table, table.measured.column, ">=0"))
    return out


def labelled(table: FrequencyTable, column: str, label: str) -> set[str]:
    """Return the values of a label or range."""
    if table.measured is None or column != table.measured.column:
        return {label}
    span = table.measured.span
    return {str(number) for number in range(span.lo, span.hi + 1) if smallest(label) <= number <= largest(label)}


def smallest(label: str) -> float:
    """Return the smallest number of a range, such as ``0-4``.

    >>> [(smallest(label), largest(label)) for label in ("7", "0-4", "64+", "<18")]
    [(7, 7), (0, 4), (64, inf), (0, 17)]
    """
    told = _plain(label)
    if told.startswith("<"):
        return 0
    if told.startswith(">"):
        return int(told[2:]) if told.startswith(">=") else int(told[1:]) + 1
    return int(told.rstrip("+").split("-")[0])


def largest(label: str) -> float:
    """The largest number of such a range."""
    told = _plain(label)
    if told.startswith("<"):
        return int(told[2:]) if told.startswith("<=") else int(told[1:]) - 1
    if told.startswith(">") or told.endswith("+"):
        return float("inf")
    return int(told.split("-")[-1])


def _plain(label: str) -> str:
    return label.replace(" ", "").replace("≥", ">=").replace("≤", "<=").replace("–", "-").replace("to", "-")


@dataclass(slots=True)
class RowBook:
    """Rows about individuals, by column; None is blank."""

    release: PartialTable | Buckets
    rows: dict[str, list[str | None]] = field(default_factory=dict)
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, column in enumerate(self.release.people.columns):
            texts: list[str | None] = [column.values[code] for code in column.codes.tolist()]
            if isinstance(self.release, PartialTable):
                blank = self.release.hidden[:, place].tolist()
                texts = [None if hidden or not text else text for text, hidden in zip(texts, blank, strict=True)]
            self.rows[column.name] = texts

    @property
    def columns(self) -> set[str]:
        """The columns that the release speaks of."""
        own = {self.release.sensitive} if isinstance(self.release, Buckets) else set()
        return {*self.rows, *own}

    def domains(self) -> dict[tuple[str, str], frozenset[str]]:
        """Return the columns that are shown for everybody."""
        out = {("column", name): frozenset(filter(None, texts)) for name, texts in self.rows.items() if None not in texts}
        if isinstance(self.release, Buckets):
            out = {("column", name): frozenset(str(text) for text in texts) for name, texts in self.rows.items()}
            out["column", self.release.sensitive] = frozenset(self.release.values)
        return out

    def statement(self, cited: Mapping[str, Any]) -> tuple[Box, int, int]:
        """Return the group of a cited place, with bounds."""
        what = cited["what"]
        items = list(cited["items"])
        place = f"{what} with {' and '.join(items)}"
        if cited.get("cell") != place:
            raise Reject("it cites a place of a table that says something else")
        fixed = self._fixed(items)
        if place not in self.counted:
            self.counted[place] = self._count(what, fixed)
        box: Box = {("column", column): (frozenset({value}), False) for column, value in fixed.items()}
        return (box, *self.counted[place])

    def _fixed(self, items: Sequence[str]) -> dict[str, str]:
        out: dict[str, str] = {}
        for item in items:
            fitting = [column for column in self.columns if item.startswith(f"{column}=")]
            if len(fitting) != 1 or fitting[0] in out:
                raise Reject("it speaks of columns that the release does not show")
            out[fitting[0]] = item[len(fitting[0]) + 1 :]
        return out

    def _count(self, what: str, fixed: Mapping[str, str]) -> tuple[int, int]:
        release = self.release
        sensitive = fixed.get(release.sensitive) if isinstance(release, Buckets) else None
        shown = {column: value for column, value in fixed.items() if column in self.rows}
        if what == "rows" and len(shown) == len(fixed) > 0:
            every = range(release.n)
            surely = sum(all(self.rows[column][row] == value for column, value in shown.items()) for row in every)
            maybe = sum(all(self.rows[column][row] in (value, None) for column, value in shown.items()) for row in every)
            return surely, maybe
        if not isinstance(release, Buckets) or sensitive is None:
            raise Reject("it cites something that the release does not show")
        having = [release.contents(group).get(sensitive, 0) for group in range(len(release))]
        if what == "values" and not shown:
            return sum(having), sum(having)
        if what != "groups" or not shown:
            raise Reject("it cites something that the release does not show")
        groups = release.group.tolist()
        sizes = Counter(groups)
        fits = Counter(
            groups[row] for row in range(release.n) if all(self.rows[column][row] == value for column, value in shown.items())
        )
        least = sum(max(0, fits[group] + having[group] - sizes[group]) for group in range(len(release)))
        return least, sum(min(fits[group], having[group]) for group in range(len(release)))


#: Sets of populations at most; a record that needs more cannot be of an audit.
MOST_SETS = 1_000


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
                raise Reject("it rests on a declaration about people that there is not")
        if kind != "same":
            self.sets = {"+".join(map(str, sorted(one))): one for one in self._possible(kind)}

    def _possible(self, kind: str) -> list[frozenset[int]]:
        every = range(max(self.of) + 1)
        if kind == "unknown":
            return [frozenset({number}) for number in every]
        if kind not in ("nested", "left", "joined"):
            raise Reject("it rests on a declaration about people that there is not")
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


#: The kinds of axes of histories.
KINDS = ("change", "item_change")


class Histories:
    """The histories of the columns that may have changed."""

    def __init__(
        self, columns: frozenset[str], named: Mapping[Axis, frozenset[str]], domains: Mapping[Axis, frozenset[str]]
    ) -> None:
        self.values: dict[Axis, frozenset[str]] = {}
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
                return {axis: (frozenset(one for one in values if _differs(json.loads(one))), False)}
        raise Reject("it rests on changes of a column that is not declared to change")

    def box_of(self, changes: Sequence[Mapping[str, Any]]) -> Box:
        """The people of an event, by what they changed."""
        out: Box = {}
        for change in changes:
            box = self.changed(change["column"])
            (axis,) = box
            if not change.get("changed"):
                kept = frozenset(one for one in self.values[axis] if _fits(axis, json.loads(one), change))
                box = {axis: (kept, False)}
            if axis in out:
                raise Reject("its event names a column twice")
            out |= box
        return out


def _differs(history: Sequence[str | None]) -> bool:
    return len(history) == 3 or history[0] != history[1]


def _fits(axis: Axis, history: Sequence[str | None], change: Mapping[str, Any]) -> bool:
    for value, side in zip(history[:2], (change["before"], change["after"]), strict=True):
        name = axis[1] if axis[0] == "item_change" else f"{axis[1]}={value}"
        has = set() if value is None else {name}
        if not has.issuperset(side["present"]) or has & set(side["absent"]):
            return False
    return True


#: What somebody has on an axis: these values, or any but these.
Term = tuple[Fraction, Box]

MEMBER: Axis = ("people", "")


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement ``lo <= weighted sum <= hi``, and its printed text."""

    terms: tuple[Term, ...]
    lo: int | None
    hi: int | None
    printed: tuple[int, int]

    def strictly(self, is_open: bool, times: int) -> Statement:
        """Return the scaled statement; sharpen an open end."""
        terms = tuple((weight * times, box) for weight, box in self.terms)
        return Statement(terms, (self.lo or 0) * times + int(is_open), None, self.printed)


@dataclass(slots=True)
class JointBook:
    """Lines of several releases, under a declared relation."""

    releases: Sequence[Release]
    people: str
    of: Sequence[int] = ()
    columns: set[str] = field(default_factory=set)
    domains: dict[Axis, frozenset[str]] = field(default_factory=dict)
    by_line: list[dict[int | str, int]] = field(default_factory=list)
    declared: Declaration = field(init=False)
    histories: Histories | None = None
    rows: dict[int, RowBook] = field(default_factory=dict)
    missing: dict[tuple[int, str], set[tuple[int, int]]] = field(default_factory=lambda: defaultdict(set))
    facts: Sequence[Fact] | None = None
    #: The columns of which each release lists every value of its people.
    listed: list[dict[Axis, frozenset[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.declared = Declaration(self.people, self.of or range(len(self.releases)))
        numbers = {(of, release.n) for of, release in zip(self.declared.of, self.releases, strict=True) if release.n is not None}
        if len({of for of, _ in numbers}) < len(numbers):
            raise Reject("it takes releases about different numbers of people as being about the same people")
        told: dict[Axis, dict[int, frozenset[str]]] = {}
        for release, population in zip(self.releases, self.declared.of, strict=True):
            self.listed.append(self._take_in(release))
            for column, values in self.listed[-1].items():
                of_column = told.setdefault(column, {})
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
            self.histories = Histories(self.declared.changed, self._named_values(told), self.domains)
            self.domains |= self.histories.values

    def _named_values(self, told: Mapping[Axis, Mapping[int, frozenset[str]]]) -> dict[Axis, frozenset[str]]:
        named = {column: frozenset().union(*values.values()) for column, values in told.items()}
        for rows in self.rows.values():
            for column, texts in rows.rows.items():
                named["column", column] = named.get(("column", column), frozenset()) | frozenset(filter(None, texts))
        for release in self.releases:
            if isinstance(release, FrequencyTable):
                for column, values in zip(release.columns, release.values, strict=True):
                    named["column", column] = named.get(("column", column), frozenset()) | frozenset(values)
            if isinstance(release, (Itemsets, Rules)):
                parts = [release.sets] if isinstance(release, Itemsets) else [release.antecedents, release.consequents]
                for item in {int(item) for part in parts for item in part.members.tolist()}:
                    axis, (of_item, _) = self._item(release, item)
                    named[axis] = named.get(axis, frozenset()) | of_item
        return named

    def _take_in(self, release: Release) -> dict[Axis, frozenset[str]]:
        """Note a release's places and columns; return complete columns."""
        if isinstance(release, FrequencyTable):
            self.by_line.append(places(release))
            self.columns |= set(release.columns)
            return domains(release)
        if isinstance(release, PartialTable | Buckets):
            rows = self.rows[len(self.by_line)] = RowBook(release)
            self.by_line.append({})
            self.columns |= rows.columns
            return rows.domains()
        self.by_line.append({release.line(index): index for index in range(len(release))})
        if release.items.pairs is None or release.header.coarser:
            return {}
        self.columns |= {*(column for column, _ in release.items.pairs), *release.header.columns}
        if isinstance(release, Rules) and release.header.sa:
            self.columns |= {*release.header.qi, " & ".join(release.header.sa)}
        sensitive = ("column", " & ".join(release.header.sa))
        values = release.header.sa_values
        return {sensitive: frozenset(values)} if values else {}

    def scope(self, number: int) -> Box:
        """Return who the people of a release are."""
        values = self.declared.scope(number)
        return {} if values is None else {MEMBER: (values, False)}

    def _item(self, release: Itemsets | Rules, item: int) -> tuple[Axis, Values]:
        pairs = release.items.pairs
        name = release.items.names[item]
        if pairs is not None and not release.header.coarser:
            column, value = pairs[item]
            for group in release.header.groups:
                if group.column == column and group.name == value:
                    return ("column", column), (frozenset(group.values), group.excluded)
            return ("column", column), (frozenset({value}), False)
        column, equals, value = name.partition("=")
        if pairs is None and equals and column in self.columns:
            return ("column", column), (frozenset({value}), False)
        return ("item", name), (frozenset({HAS}), False)

    def _box(self, number: int, items: Sequence[int]) -> Box:
        release = self.releases[number]
        assert isinstance(release, (Itemsets, Rules))
        box = self.scope(number)
        for item in items:
            axis, (values, excluded) = self._item(release, item)
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

    def _unlisted(self, release: Itemsets, cited: Mapping[str, Any]) -> tuple[Axis, Values] | None:
        """Return a cited value that is not listed, or None."""
        published = {int(item) for item in release.sets.members.tolist()}
        if len(cited["items"]) != 1 or cited["items"][0] in {release.items.names[item] for item in published}:
            return None
        columns = {axis[1] for item in published for axis, _ in [self._item(release, item)] if axis[0] == "column"}
        columns |= set(release.header.columns) if release.items.pairs is not None else set()
        fitting = [column for column in columns if cited["items"][0].startswith(f"{column}=")]
        if len(fitting) != 1:
            return None
        return ("column", fitting[0]), (frozenset({cited["items"][0][len(fitting[0]) + 1 :]}), False)

    def _named(self, release: Itemsets, cited: Mapping[str, Any]) -> list[int]:
        number = {name: place for place, name in enumerate(release.items.names)}
        published = {int(item) for item in release.sets.members.tolist()}
        items = [number.get(name, -1) for name in cited["items"]]
        if not set(items) <= published or len(set(items)) != len(items):
            raise Reject("it speaks of items that the release does not name")
        return items

    def statement(self, cited: Mapping[str, Any]) -> Statement:
        """Return the statement of a cited place.

        Where values may have changed, it is about what people had or have there.
        """
        if self.histories is None:
            return self._statement(cited)
        number = int(cited["release"])
        if cited["what"] == "changed" and cited["cell"] == "changed":
            (name,) = cited["items"]
            span = self.declared.mover(number, "changed")[1]
            return Statement(((Fraction(1), self.histories.changed(name)),), *span, span)
        said = self._statement(cited)
        half = self.declared.of[number]
        terms = tuple((factor, self.histories.rewritten(box, half)) for factor, box in said.terms)
        return Statement(terms, said.lo, said.hi, said.printed)

    def look_up(self, cited: Mapping[str, Any]) -> CitedStatement:
        """Return the statement of a cited place."""
        said = self.statement(cited)
        number = int(cited["release"])
        release = self.releases[number]
        place = cited["line"] if "line" in cited else cited["cell"]
        index = self.by_line[number].get(place) if cited["what"] == "count" else None
        text = release.text(index) if index is not None and isinstance(release, Itemsets | FrequencyTable) else ""
        return CitedStatement(
            terms=said.terms,
            lo=said.lo,
            hi=said.hi,
            release=name_of(release, number),
            place=place,
            what=cited["what"],
            items=cited.get("items", ()),
            printed=Bound(*said.printed),
            text=text,
        )

    def _statement(self, cited: Mapping[str, Any]) -> Statement:
        number = int(cited["release"])
        what = cited["what"]
        release = self.releases[number]
        one = Fraction(1)
        if what == "n" and cited["cell"] == "n" and release.n is not None:
            return Statement(((one, self.scope(number)),), release.n, release.n, (release.n, release.n))
        if what in ("left", "joined") and cited["cell"] == what:
            values, span = self.declared.mover(number, what)
            return Statement(((one, {MEMBER: (values, False)}),), *span, span)
        if what == "all-values":
            return self._of_values(number, cited)
        if what == "fact" and not self.declared.sets:
            return self._of_fact(number, cited)
        if what == "value" and cited["cell"] == "sa_counts" and isinstance(release, Rules):
            (value,) = cited["items"]
            people = dict(zip(release.header.sa_values, release.header.sa_counts, strict=True))[value]
            box = {**self.scope(number), ("column", " & ".join(release.header.sa)): (frozenset({value}), False)}
            return Statement(((one, box),), people, people, (people, people))
        if isinstance(release, FrequencyTable):
            box, least, most, printed = cell(release, self.by_line[number], cited)
            return Statement(((one, {**box, **self.scope(number)}),), least, most, printed)
        if number in self.rows:
            box, least, most = self.rows[number].statement(cited)
            return Statement(((one, {**box, **self.scope(number)}),), least, most, (least, most))
        if isinstance(release, Itemsets):
            return self._of_itemsets(number, release, cited)
        assert isinstance(release, Rules)
        if what in ("missing-rule", "missing-share"):
            return self._of_missing_rule(number, release, cited)
        return self._of_rule(number, release, cited)

    def _of_itemsets(self, number: int, release: Itemsets, cited: Mapping[str, Any]) -> Statement:
        what = cited["what"]
        one = Fraction(1)
        if what == "missing" and cited["cell"] == "min_support":
            least = release.min_support
            if not release.header.complete or least is None or release.header.coarser:
                raise Reject("it needs a complete list, and the release is none")
            if (unlisted := self._unlisted(release, cited)) is not None:
                return Statement(((one, {unlisted[0]: unlisted[1], **self.scope(number)}),), None, least - 1, (least, least))
            items = self._named(release, cited)
            if any(set(items) <= set(release.sets[index].tolist()) for index in range(len(release))):
                raise Reject("it takes an itemset as missing that the release tells")
            return Statement(((one, self._box(number, items)),), None, least - 1, (least, least))
        index = self.by_line[number].get(cited["line"])
        if index is None:
            raise Reject(f"it cites line {cited['line']}, which holds no itemset")
        count = (int(release.lo[index]), int(release.hi[index]))
        items = release.sets[index].tolist()
        if what == "subset":
            items = self._named(release, cited)
            above = [place for place in range(len(release)) if set(items) <= set(release.sets[place].tolist())]
            exact = all(release.lo[place] == release.hi[place] for place in above)
            if release.only != "closed" or not release.header.complete or not exact or index not in above:
                raise Reject("the support of an itemset in its sum does not follow from the release")
            if max(int(release.hi[place]) for place in above) != count[1]:
                raise Reject("a line tells more people of an itemset in its sum")
        elif what == "closed":
            return self._of_closed(number, release, items, cited, count)
        elif what == "closure":
            return self._of_closure(number, release, cited, count)
        elif what != "count":
            raise Reject("it cites a number that the line does not print")
        return Statement(((one, self._box(number, items)),), *count, count)

    def _of_closed(
        self, number: int, release: Itemsets, items: Sequence[int], cited: Mapping[str, Any], count: tuple[int, int]
    ) -> Statement:
        """That somebody with a closed itemset lacks another item."""
        (item,) = self._named(release, cited)
        if release.only != "closed" or item in items:
            raise Reject("it takes an itemset as closed that is not said to be")
        return Statement(((Fraction(1), self._lacking(number, release, items, item)),), 1, None, count)

    def _of_closure(self, number: int, release: Itemsets, cited: Mapping[str, Any], count: tuple[int, int]) -> Statement:
        """Return the statement that a closure holds an item."""
        *items, item = self._named(release, cited)
        above = [set(release.sets[place].tolist()) for place in range(len(release))]
        above = [one for one in above if set(items) <= one]
        if release.only != "closed" or not release.header.complete or not above or not all(item in one for one in above):
            raise Reject("what it says of an itemset does not follow from a list of closed ones")
        return Statement(((Fraction(1), self._lacking(number, release, items, item)),), None, 0, count)

    def _lacking(self, number: int, release: Itemsets, items: Sequence[int], item: int) -> Box:
        """Those who have some items and lack another one."""
        box = self._box(number, items)
        axis, (values, excluded) = self._item(release, item)
        if axis in box:
            raise Reject("it cites who fits no box")
        return {**box, axis: (values, not excluded)}

    def _of_values(self, number: int, cited: Mapping[str, Any]) -> Statement:
        """Return the statement that unlisted values do not occur."""
        (column,) = cited["items"]
        values = self.listed[number].get(("column", column))
        if values is None or cited["cell"] != f"all values of {column}":
            raise Reject("it takes a column as listed whole that is not")
        self.missing[number, cited["cell"]].add((0, 0))
        box: Box = {("column", column): (values, True), **self.scope(number)}
        return Statement(((Fraction(1), box),), None, 0, (0, 0))

    def _of_fact(self, number: int, cited: Mapping[str, Any]) -> Statement:
        (text,) = cited["items"]
        told = json.loads(text)
        least = told["at_least"]
        most = told["at_most"]
        if self.facts is not None and not any(_is_fact(fact, told) for fact in self.facts):
            raise Reject("it rests on a fact that is not among those that are known")
        sensitive = [
            one.sensitive if isinstance(one, Buckets) else " & ".join(one.header.sa)
            for one in self.releases
            if isinstance(one, Buckets) or (isinstance(one, Rules | PartialTable) and one.header.sa)
        ]
        if not {*sensitive[:1], *told["event"]} <= self.columns or not sensitive:
            raise Reject("it rests on a fact about columns that the releases do not name")
        ends = (least or 0, most if most is not None else self.releases[0].n or least or 0)
        self.missing[number, cited["cell"]].add(ends)
        box: Box = {("column", column): (frozenset(values), False) for column, values in told["event"].items()}
        box["column", sensitive[0]] = (frozenset({told["value"]}), False)
        return Statement(((Fraction(1), box),), least, most, ends)

    def _of_missing_rule(self, number: int, release: Rules, cited: Mapping[str, Any]) -> Statement:
        header = release.header
        given = cited["given"]
        by_share = cited["what"] == "missing-share"
        whole, box = self._missing_boxes(number, release, cited)
        if given["what"] in ("missing-rule", "missing-share"):
            raise Reject("it cites a missing rule that is none")
        said = self.statement(given)
        if len(said.terms) != 1 or said.terms[0] != (Fraction(1), whole) or (said.lo if by_share else said.hi) is None:
            raise Reject("what it is given is not about the antecedent of its missing rule")
        assert header.min_support is not None
        assert header.min_confidence is not None
        place = str(cited["cell"])
        if by_share:
            share = header.min_confidence * (said.lo or 0)
            if (math.floor(share) + 1 if header.strict else math.ceil(share)) < header.min_support:
                raise Reject("a rule that it takes as missing may be missing for its support")
            self.missing[number, place].add((said.lo or 0, said.lo or 0))
            return self._below_share(header, (whole, box), said.lo or 0)
        most = most_left_out(header, said.hi or 0)
        self.missing[number, place].add((0, most))
        return Statement(((Fraction(1), box),), None, most, (0, most))

    def _missing_boxes(self, number: int, release: Rules, cited: Mapping[str, Any]) -> tuple[Box, Box]:
        header = release.header
        items = list(cited["items"])
        share = "share of " if cited["what"] == "missing-share" else ""
        if cited.get("cell") != f"{share}missing rule {' and '.join(items[:-1])} => {items[-1]}":
            raise Reject("it cites a missing rule that is none")
        if not header.complete or header.coarser or not header.min_support or not header.min_confidence or len(header.sa) != 1:
            raise Reject("it needs a complete list of rules, and the release is none")
        antecedent = self._columns_of(items[:-1], header.qi)
        (value,) = self._columns_of(items[-1:], header.sa).values()
        if value not in header.sa_values or self._is_listed(release, antecedent, value):
            raise Reject("it takes a rule as missing that the release lists")
        whole: Box = {("column", name): (frozenset({one}), False) for name, one in antecedent.items()}
        whole |= self.scope(number)
        return whole, {**whole, ("column", header.sa[0]): (frozenset({value}), False)}

    def choice(self, cited: Mapping[str, Any]) -> tuple[Statement, Statement]:
        """Return two statements of which one is true.

        A rule is missing for one of two reasons; a printed 0 may be a small number that is hidden.
        """
        number = int(cited["release"])
        release = self.releases[number]
        if self.histories is not None:
            raise Reject("it tells cases apart by a line where values may have changed")
        if isinstance(release, Rules) and cited["what"] == "missing-rule":
            whole, box = self._missing_boxes(number, release, cited)
            rare = (release.header.min_support or 1) - 1
            self.missing[number, str(cited["cell"])].add((0, rare))
            fewer = Statement(((Fraction(1), box),), None, rare, (0, rare))
            return fewer, self._below_share(release.header, (whole, box), rare)
        if not isinstance(release, FrequencyTable):
            raise Reject("it tells cases apart by a line that says no such thing")
        said = self.statement(cited)
        least = release.printing.hidden_below
        index = self.by_line[number][cited.get("line", cited.get("cell"))]
        if least is None or not release.printing.zeros_shown or bool(release.is_hidden[index]):
            raise Reject("it tells cases apart by a cell that may hold any number of people")
        return Statement(said.terms, None, 0, said.printed), Statement(said.terms, least, None, said.printed)

    @staticmethod
    def _below_share(header: Header, boxes: tuple[Box, Box], least: int) -> Statement:
        assert header.min_confidence is not None
        whole, having = boxes
        terms = (
            (Fraction(header.min_confidence.numerator), whole),
            (Fraction(-header.min_confidence.denominator), having),
        )
        return Statement(terms, 0 if header.strict else 1, None, (least, least))

    @staticmethod
    def _columns_of(items: Sequence[str], known: Sequence[str]) -> dict[str, str]:
        out: dict[str, str] = {}
        for item in items:
            fitting = [column for column in known if item.startswith(f"{column}=")]
            if len(fitting) != 1 or fitting[0] in out:
                raise Reject("it speaks of columns that its rules are not about")
            out[fitting[0]] = item[len(fitting[0]) + 1 :]
        return out

    @staticmethod
    def _is_listed(release: Rules, antecedent: Mapping[str, str], value: str) -> bool:
        pairs = release.items.pairs
        if pairs is None:
            raise Reject("it speaks of columns that its rules are not about")
        for index in range(len(release)):
            sides = (release.antecedents[index].tolist(), release.consequents[index].tolist())
            left, right = ([pairs[item] for item in side] for side in sides)
            if sorted(left) == sorted(antecedent.items()) and [one for _, one in right] == [value]:
                return True
        return False

    def _of_rule(self, number: int, release: Rules, cited: Mapping[str, Any]) -> Statement:
        index = self.by_line[number].get(cited["line"])
        if index is None:
            raise Reject(f"it cites line {cited['line']}, which holds no rule")
        left = release.antecedents[index].tolist()
        right = release.consequents[index].tolist()
        whole = self._box(number, left)
        both = self._box(number, sorted({*left, *right}))
        count = release.count(index)
        wholes = release.whole(index)
        what = cited["what"]
        printed = (count.lo, count.hi)
        if what == "count":
            return Statement(((Fraction(1), both),), *printed, printed)
        if what == "antecedent":
            return Statement(((Fraction(1), whole),), wholes.lo, wholes.hi, (wholes.lo, wholes.hi))
        low, high, low_open, high_open = allowed_confidences(release, index)
        if what == "least":
            terms = ((Fraction(low.denominator), both), (Fraction(-low.numerator), whole))
            return Statement(terms, int(low_open), None, printed)
        if what == "most":
            terms = ((Fraction(high.numerator), whole), (Fraction(-high.denominator), both))
            return Statement(terms, int(high_open), None, printed)
        rest = self._exceptions(release, right, whole)
        if what == "no-exceptions" and low == 1:
            return Statement(((Fraction(1), rest),), None, 0, printed)
        if what == "most-exceptions":
            return Statement(((1 - low, whole), (Fraction(-1), rest)), 0, None, printed).strictly(low_open, low.denominator)
        if what == "least-exceptions":
            return Statement(((Fraction(1), rest), (high - 1, whole)), 0, None, printed).strictly(high_open, high.denominator)
        raise Reject("it cites a number that the line does not print")

    def _exceptions(self, release: Rules, right: Sequence[int], whole: Box) -> Box:
        axis, (values, excluded) = self._item(release, right[0])
        if len(right) != 1 or axis in whole:
            raise Reject("it cites who fits no box")
        return {**whole, axis: (values, not excluded)}


def _is_fact(fact: Fact, told: Mapping[str, Any]) -> bool:
    amounts = {"at_least": fact.at_least, "at_most": fact.at_most}
    for end, amount in amounts.items():
        number = None if amount is None or (amount.is_share and amount.value) else amount.value
        if number != told[end]:
            return False
    event = {name: sorted(values) for name, values in fact.allowed.items()}
    return bool(fact.value == told["value"] and event == told["event"])
