"""What a cited line says about known people, read anew from its release: whom it speaks of, about which value, and how many have it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.checker.rules import Reject, RuleBook
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.release import Itemsets, Release, Rules

Person = Mapping[str, str]
Who = Callable[[Person], bool]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class People:
    """Everybody by what is known of them: the names of the columns, and how many have each combination."""

    names: tuple[str, ...]
    counted: Counter[tuple[str, ...]]
    listed: list[tuple[dict[str, str], int]] = field(init=False, repr=False)
    places: dict[tuple[str, ...], int] = field(init=False, repr=False)
    _members: dict[str, frozenset[int]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {values: place for place, values in enumerate(self.counted)})
        listed = [(dict(zip(self.names, values, strict=True)), number) for values, number in self.counted.items()]
        object.__setattr__(self, "listed", listed)

    def members(self, key: str, who: Who) -> frozenset[int]:
        """The places of the combinations that are meant; ``key`` is the same where the same people are meant."""
        if key not in self._members:
            self._members[key] = frozenset(place for place, (person, _) in enumerate(self.listed) if who(person))
        return self._members[key]


@dataclass(frozen=True, slots=True)
class Term:
    """A cited statement: ``lo`` to ``hi`` of the ``people`` whom it speaks of have the value; it counts ``weight`` times.

    ``members`` are the places of these people's combinations, where everybody is given.
    """

    speaks_of: Who
    value: str
    lo: int
    hi: int
    people: int
    weight: int
    entry: Mapping[str, Any]
    members: frozenset[int] = frozenset()

    @property
    def end(self) -> int:
        """The end that counts."""
        return self.hi if self.weight > 0 else self.lo


def values_named(release: Release, sensitive: str) -> tuple[str, ...]:
    """The only values of the sensitive column, as a release says; empty where it does not."""
    if isinstance(release, Buckets):
        return release.values if release.sensitive == sensitive else ()
    if isinstance(release, FrequencyTable):
        listed = sensitive in release.columns and release.header.complete
        return release.values[release.columns.index(sensitive)] if listed else ()
    return release.header.sa_values if " & ".join(release.header.sa) == sensitive else ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a finding is about: the sensitive column, its values, the release whose groups are known, and everybody, where given."""

    sensitive: str
    values: tuple[str, ...]
    grouped: int | None
    everybody: People | None


def read_term(entry: Mapping[str, Any], page: Page | None, asked: Asked, knowledge: Sequence[Fact] | None) -> Term:
    """The statement that a certificate cites, if its release says so; without a page, if it is known."""
    (lo, hi), people, value = entry["count"], int(entry["people"]), str(entry["value"])
    if value not in asked.values:
        raise Reject("a value in its sum is not one of the sensitive column's")
    who, low, high = _fact(entry, people, knowledge) if page is None else page.read(entry, asked, value, people)
    members: frozenset[int] = frozenset()
    if asked.everybody is not None:
        cited = [asked.sensitive, asked.grouped, {name: told for name, told in entry.items() if name != "weight"}]
        members = asked.everybody.members(json.dumps(cited, sort_keys=True), who)
        if sum(asked.everybody.listed[place][1] for place in members) != people:
            raise Reject("another number of known people is in a group that it cites")
    if lo > max(low, 0) or hi < min(high, people):
        raise Reject(f"{_place(entry)} does not say that")
    return Term(who, value, int(lo), int(hi), people, int(entry["weight"]), entry, members)


def _place(entry: Mapping[str, Any]) -> str:
    return f"line {entry['line']}" if "line" in entry else str(entry["cell"])


def _fact(entry: Mapping[str, Any], people: int, knowledge: Sequence[Fact] | None) -> tuple[Who, int, int]:
    """A fact as the record tells it, or as the knowledge has it where that is given."""
    allowed = {str(column): tuple(map(str, listed)) for column, listed in entry["about"].items()}
    lo, hi = (int(end) for end in entry["count"])
    if knowledge is not None:
        same = [
            fact
            for fact in knowledge
            if fact.place == entry["cell"] and dict(fact.allowed) == allowed and fact.value == entry["value"]
        ]
        if not same:
            raise Reject("it rests on a fact that is not known")
        lo, hi = same[0].bounds(people)
    return _among(allowed), lo, hi


def _among(allowed: Mapping[str, Sequence[str]]) -> Who:
    return lambda person: all(person.get(column) in listed for column, listed in allowed.items())


class Page:
    """One release, to look citations up in."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._rules = RuleBook(release) if isinstance(release, Rules) else None
        self._places = {self._place(index): index for index in range(len(release))} if self._is_listed else {}

    @property
    def _is_listed(self) -> bool:
        return isinstance(self.release, Itemsets | FrequencyTable)

    def _place(self, index: int) -> int | str:
        release = self.release
        return release.place(index) if isinstance(release, FrequencyTable) else release.line(index)

    def read(self, entry: Mapping[str, Any], asked: Asked, value: str, people: int) -> tuple[Who, int, int]:
        """Whom a citation speaks of, and how many of these people can have the value."""
        return _Citation(self.release, self._rules, self._places, entry, asked).read(value, people)


class _Citation:
    """One citation of one release."""

    def __init__(
        self, release: Release, rules: RuleBook | None, places: Mapping[int | str, int], entry: Mapping[str, Any], asked: Asked
    ) -> None:
        self.release, self.rules, self.places, self.entry = release, rules, places, entry
        self.sensitive, self.everybody = asked.sensitive, asked.everybody
        self.grouped = asked.grouped is not None and asked.grouped == entry["release"]

    def read(self, value: str, people: int) -> tuple[Who, int, int]:
        """Whom it speaks of, and how many of these people can have the value."""
        release, what = self.release, self.entry["what"]
        if what == "values":
            named = values_named(release, self.sensitive)
            if not named or value in named:
                raise Reject("the release does not say that nobody has a value in its sum")
            return _among({}), 0, 0
        if what == "distribution" and isinstance(release, Rules):
            counts = dict(zip(release.header.sa_values, release.header.sa_counts, strict=False))
            if value not in counts or " & ".join(release.header.sa) != self.sensitive:
                raise Reject("the release publishes no such distribution")
            return _among({}), counts[value], counts[value]
        if isinstance(release, Buckets):
            return self._bucket(release, value, people)
        if what == "missing" and isinstance(release, Itemsets | Rules):
            return self._missing(release, value, people)
        if what != "line":
            raise Reject(f"it rests on {_place(self.entry)}, which cannot be checked")
        if isinstance(release, Rules):
            return self._rule(release, value, people)
        return self._listed(release, value)

    def _rule(self, release: Rules, value: str, people: int) -> tuple[Who, int, int]:
        assert self.rules is not None
        line, index = self.rules.line(self.entry["line"]), self.rules.by_line[self.entry["line"]]
        having = tuple(_pair(release, item) for item in release.antecedents[index].tolist())
        then = tuple(_pair(release, item) for item in release.consequents[index].tolist())
        if then != ((self.sensitive, value),) or release.header.coarser:
            raise Reject(f"{_place(self.entry)} is about something else")
        low, high = line.low * people, line.high * people
        least, most = math.ceil(low), math.floor(high)
        least += line.low_open and least == low
        most -= line.high_open and most == high
        return self._who(having), max(line.people[0], least, release.header.min_support or 0), min(line.people[1], most)

    def _listed(self, release: Release, value: str) -> tuple[Who, int, int]:
        """An itemset, or a cell of a table."""
        place = self.entry.get("line", self.entry.get("cell"))
        if place not in self.places or release.header.coarser:
            raise Reject(f"it cites {_place(self.entry)}, which holds no number of people")
        index = self.places[place]
        if isinstance(release, FrequencyTable):
            pairs = tuple(release.cell(index).items())
        else:
            assert isinstance(release, Itemsets)
            pairs = tuple(_pair(release, item) for item in release.sets[index].tolist())
        count = release.count(index)
        return self._who(self._rest(pairs, value)), count.lo, count.hi

    def _rest(self, pairs: Pairs, value: str) -> Pairs:
        """The quasi-identifiers of a line that also names the value."""
        if (self.sensitive, value) not in pairs or sum(column == self.sensitive for column, _ in pairs) != 1:
            raise Reject(f"{_place(self.entry)} is about something else")
        return tuple(pair for pair in pairs if pair[0] != self.sensitive)

    def _who(self, pairs: Pairs) -> Who:
        """People with these values, or with values of the groups that go by these names."""
        groups = {(group.column, group.name): group for group in self.release.header.groups}
        if self.everybody is not None and not {column for column, _ in pairs} <= set(self.everybody.names):
            raise Reject(f"{_place(self.entry)} is about a column that is not known")

        def fits(own: str | None, pair: tuple[str, str]) -> bool:
            group = groups.get(pair)
            return own == pair[1] if group is None else own is not None and (own in group.values) != group.excluded

        return lambda person: all(fits(person.get(pair[0]), pair) for pair in pairs)

    def _bucket(self, release: Buckets, value: str, people: int) -> tuple[Who, int, int]:
        """A line of the ST, or a value that a group lacks."""
        if release.sensitive != self.sensitive:
            raise Reject("it cites groups with another sensitive column")
        names = [name for listed in self.entry["about"].values() for name in listed]
        if len(names) != 1 or names[0] not in release.names:
            raise Reject("it cites a group that is not there")
        group = release.names.index(names[0])
        entries = range(int(release.starts[group]), int(release.starts[group + 1]))
        own = {release.values[int(release.value[entry])]: entry for entry in entries}
        if self.entry["what"] == "group":
            if value in own:
                raise Reject("its group has a value that it takes for missing")
            count = 0
        elif value in own and release.line(own[value]) == self.entry["line"]:
            count = int(release.count[own[value]])
        else:
            raise Reject(f"{_place(self.entry)} is about something else")
        if self.grouped:
            column = release.group_name
            return (lambda person: person.get(column) == names[0]), count, count
        columns = release.people.columns
        inside = {
            tuple(column.values[column.codes[row]] for column in columns)
            for row, number in enumerate(release.group.tolist())
            if number == group
        }
        closed = people == int(release.sizes[group])
        return (lambda person: tuple(person.get(column.name) for column in columns) in inside), count, count if closed else people

    def _missing(self, release: Itemsets | Rules, value: str, people: int) -> tuple[Who, int, int]:
        """The most people of a group whom a complete list can leave out."""
        header = release.header
        pairs = tuple((str(column), str(listed[0])) for column, listed in self.entry["about"].items())
        wanted = frozenset((*pairs, (self.sensitive, value)))
        items = release.items.pairs
        if not header.complete or header.coarser or items is None or header.min_support is None:
            raise Reject("it needs a complete list, and the release is none")
        if not {column for column, _ in pairs} <= set(header.qi or [*(column for column, _ in items), *header.columns]):
            raise Reject("a set that it takes for missing has other columns than the list")
        if isinstance(release, Rules):
            if header.min_confidence is None or not pairs:
                raise Reject("it needs a complete list, and the release is none")
            sides = zip(release.antecedents, release.consequents, strict=True)
            if any(frozenset(items[item] for item in (*having, *then)) == wanted for having, then in sides):
                raise Reject("a rule that it takes for missing is published")
            share = header.min_confidence * people
            most = math.floor(share)
            most -= not header.strict and most == share
            return self._who(pairs), 0, max(0, header.min_support - 1, most)
        above = [index for index in range(len(release)) if wanted <= {items[item] for item in release.sets[index].tolist()}]
        if not any(items[item][0] == self.sensitive for item in release.sets.members.tolist()):
            raise Reject("the list does not name the sensitive column")
        if not above:
            return self._who(pairs), 0, header.min_support - 1
        if release.only != "closed" or not release.is_exact:
            raise Reject("a set that it takes for missing is published")
        return self._who(pairs), 0, max(int(release.hi[index]) for index in above)


def _pair(release: Itemsets | Rules, item: int) -> tuple[str, str]:
    if release.items.pairs is not None:
        return release.items.pairs[item]
    column, _, value = release.items.names[item].partition("=")
    return column, value
