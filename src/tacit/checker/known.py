"""Checks of findings about sensitive values of known people.

A certificate lists statements with weights: each is looked up in its release, about whoever its line is about. Known people are counted one
combination after the other, from ``--known``, from a bucketized release that lists everybody, or else as the record groups them. The sum must
count everybody asked about who has a value that is ruled out at least ``below`` times and nobody less than 0 times, and stay below that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.checker.lines import name_of
from tacit.checker.rules import Reject, RuleBook, most_left_out
from tacit.model.buckets import Buckets
from tacit.model.finding import Lines, Phrase, Step, render_steps
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.release import Itemsets, Release, Rules, ValueGroup
from tacit.model.table import Table
from tacit.model.words import Counted, CountedPeople, explain_only_values, explain_sum, state_values

Person = Mapping[str, str]
Who = Callable[[Person], bool]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class People:
    """Known people, counted by combination of values."""

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
        """Return the combinations that fit, cached by ``key``."""
        if key not in self._members:
            self._members[key] = frozenset(place for place, (person, _) in enumerate(self.listed) if who(person))
        return self._members[key]


@dataclass(frozen=True, slots=True)
class Term:
    """Cited statement: ``lo`` to ``hi`` people have the value.

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
    """Return all sensitive values, if a release lists them."""
    if isinstance(release, Buckets):
        return release.values if release.sensitive == sensitive else ()
    if isinstance(release, FrequencyTable):
        listed = sensitive in release.columns and release.header.complete
        return release.values[release.columns.index(sensitive)] if listed else ()
    return release.header.sa_values if " & ".join(release.header.sa) == sensitive else ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Subject of a finding: column, values, release, people."""

    sensitive: str
    values: tuple[str, ...]
    grouped: int | None
    everybody: People | None


def read_term(entry: Mapping[str, Any], page: Page | None, asked: Asked, knowledge: Sequence[Fact] | None) -> Term:
    """Return a cited statement if its source says so."""
    (lo, hi) = entry["count"]
    people = int(entry["people"])
    value = str(entry["value"])
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


def has_values(person: Person, pairs: Iterable[tuple[str, str]], groups: Mapping[tuple[str, str], ValueGroup]) -> bool:
    """Return True if a person has these (grouped) values."""
    for column, wanted in pairs:
        own = person.get(column)
        named = groups.get((column, wanted))
        if own != wanted if named is None else own is None or (own in named.values) == named.excluded:
            return False
    return True


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
        """Return a citation's people, and bounds on the value."""
        return _Citation(self.release, self._rules, self._places, entry, asked).read(value, people)


class _Citation:
    """One citation of one release."""

    def __init__(
        self, release: Release, rules: RuleBook | None, places: Mapping[int | str, int], entry: Mapping[str, Any], asked: Asked
    ) -> None:
        self.release = release
        self.rules = rules
        self.places = places
        self.entry = entry
        self.sensitive = asked.sensitive
        self.everybody = asked.everybody
        self.grouped = asked.grouped is not None and asked.grouped == entry["release"]

    def read(self, value: str, people: int) -> tuple[Who, int, int]:
        release = self.release
        what = self.entry["what"]
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
        line = self.rules.line(self.entry["line"])
        index = self.rules.by_line[self.entry["line"]]
        having = tuple(_pair(release, item) for item in release.antecedents[index].tolist())
        then = tuple(_pair(release, item) for item in release.consequents[index].tolist())
        if then != ((self.sensitive, value),) or release.header.coarser:
            raise Reject(f"{_place(self.entry)} is about something else")
        least, most = line.among(people)
        return self._who(having), max(least, release.header.min_support or 0), most

    def _listed(self, release: Release, value: str) -> tuple[Who, int, int]:
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
        if (self.sensitive, value) not in pairs or sum(column == self.sensitive for column, _ in pairs) != 1:
            raise Reject(f"{_place(self.entry)} is about something else")
        return tuple(pair for pair in pairs if pair[0] != self.sensitive)

    def _who(self, pairs: Pairs) -> Who:
        if self.everybody is not None and not {column for column, _ in pairs} <= set(self.everybody.names):
            raise Reject(f"{_place(self.entry)} is about a column that is not known")
        groups = {(group.column, group.name): group for group in self.release.header.groups}
        return lambda person: has_values(person, pairs, groups)

    def _bucket(self, release: Buckets, value: str, people: int) -> tuple[Who, int, int]:
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
            return self._who(pairs), 0, most_left_out(header, people)
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


#: How many terms of a sum the steps show.
_SHOWN = 24
_NAMED = {
    "distribution": "the distribution",
    "values": "which lists all values",
    "group": "which lists all values of the group",
}


def check_sentence(text: str, person: Person, number: int, sensitive: str, left: Sequence[str]) -> None:
    """Raise unless a sentence names the people and values."""
    pairs = [f"{column}={value}" for column, value in person.items()]
    start, end = state_values("|", number, sensitive, left).split("|", 1)
    who = text.removeprefix(start).removesuffix(end)
    if text != f"{start}{who}{end}" or len(who) != len(", ".join(pairs)) or any(pair not in who for pair in pairs):
        raise Reject("its sentence does not say what its event and count say")


class _Words:
    def __init__(self, finding: Mapping[str, Any], releases: Sequence[Release], sensitive: str) -> None:
        self.finding = finding
        self.releases = releases
        self.sensitive = sensitive

    def check(self, person: Person, terms: Sequence[Term], ruled_out: Sequence[str]) -> None:
        finding = self.finding
        carried = self.finding["certificate"]
        left = [value for value in carried["values"] if value in finding["event"][self.sensitive]]
        check_sentence(finding["statement"], person, int(finding["count"][0]), self.sensitive, left)
        if tuple(finding["steps"]) not in map(render_steps, self._steps(terms, ruled_out)):
            raise Reject("its steps do not say what its certificate says")
        cited = {(entry["release"], str(entry.get("line", entry.get("cell")))) for entry in finding["because"]}
        used = {(max(0, term.entry["release"] or 0), str(term.entry.get("line", term.entry.get("cell")))) for term in terms}
        who = {(carried["grouped"], "quasi-identifiers")} if carried["listed"] and terms else set()
        if cited != used | who:
            raise Reject("the lines it cites are not those of its sum")

    def _steps(self, terms: Sequence[Term], ruled_out: Sequence[str]) -> Iterator[Sequence[Step]]:
        carried = self.finding["certificate"]
        if not terms:
            yield [explain_only_values(self.sensitive, len(carried["values"]))]
            return
        statements = [
            Counted(one.weight, one.lo, one.hi, one.people, _with(one), f"{self.sensitive} {one.value}", self._where(one.entry))
            for one in terms
        ]
        only = statements[0].only_step(names_place_first=False) if len(statements) == 1 else None
        if only is not None:
            yield [only]
        groups = [
            CountedPeople(int(one["weight"]), one["people"], bool(one["asked"]), tuple(number - 1 for number in one["terms"]))
            for one in carried["groups"]
            if int(one["weight"])
        ]
        has = f"{self.sensitive} {' or '.join(ruled_out)}"
        yield explain_sum(statements, groups, has, int(carried["below"]), between="; ", shown=_SHOWN)

    def _where(self, entry: Mapping[str, Any]) -> Phrase:
        if entry["release"] is None:
            return (f"known: {entry['cell']}",)
        number = int(entry["release"])
        name = name_of(self.releases[number], number)
        if entry["what"] == "missing":
            return (f"{name} leaves it out",)
        if "line" in entry:
            return (Lines((entry["line"],), name),)
        return (f"{name}, {_NAMED.get(entry['what'], entry['cell'])}",)


def _with(term: Term) -> str:
    about = term.entry["about"]
    if term.entry["what"] == "scattered":
        return f" with the quasi-identifiers of group {next(iter(about.values()))[0]}"
    pairs = ", ".join(f"{column}={' or '.join(values)}" for column, values in about.items())
    return f" with {pairs}" if pairs else ""


def is_about_known(finding: Mapping[str, Any]) -> bool:
    """Return True if a finding is about known people."""
    carried = finding.get("certificate") or {}
    return "sensitive" in carried and "below" in carried


class KnownBook:
    """Releases of an audit, known people, and background knowledge."""

    def __init__(
        self,
        releases: Sequence[Release],
        known: Table | None = None,
        knowledge: Sequence[Fact] | None = None,
        declared: str = "same",
    ) -> None:
        self.releases = releases
        self.known = known
        self.declared = declared
        self._pages = [Page(release) for release in releases]
        self._knowledge = knowledge
        self._people: dict[tuple[str, ...], People] = {}

    def people(self, names: tuple[str, ...], grouped: int | None) -> People | None:
        """Return everybody by these columns, or None."""
        if names not in self._people:
            if grouped is not None:
                release = self.releases[grouped]
                if not isinstance(release, Buckets):
                    raise Reject("it takes groups from a release that has none")
                groups = [release.names[number] for number in release.group.tolist()]
                told = Counter((*row, group) for row, group in zip(_rows(release.people), groups, strict=True))
                self._people[names] = People((*release.people.names, release.group_name), told)
            elif self.known is None:
                return None
            elif not set(names) <= set(self.known.names):
                raise Reject("the known people lack a column that it is about")
            else:
                self._people[names] = People(names, _weighed(self.known.select(names)))
        return self._people[names]

    def term(self, entry: Mapping[str, Any], asked: Asked) -> Term:
        """Return a cited statement, if its release says so."""
        number = entry["release"]
        if number is not None and not 0 <= int(number) < len(self.releases):
            raise Reject("it cites a release that is not there")
        return read_term(entry, None if number is None else self._pages[int(number)], asked, self._knowledge)


def check_known(finding: Mapping[str, Any], book: KnownBook, least: int) -> None:
    """Raise unless people keep fewer than ``least`` values."""
    claim = _Claim(finding, book)
    if not len(claim.left) < least:
        raise Reject(f"it leaves {len(claim.left)} values, and the policy allows that")
    if not claim.total() < claim.below:
        raise Reject("its sum does not rule the other values out")
    _Words(finding, book.releases, claim.asked.sensitive).check(claim.person, claim.terms, claim.ruled_out)


class _Claim:
    def __init__(self, finding: Mapping[str, Any], book: KnownBook) -> None:
        carried = finding["certificate"]
        sensitive = str(carried["sensitive"])
        values = tuple(map(str, carried["values"]))
        event: dict[str, list[str]] = dict(finding["event"])
        self.left = event.pop(sensitive, [])
        self.values = values
        if not self.left or not set(self.left) <= set(values) or len(set(values)) != len(values):
            raise Reject("its values are not those of the sensitive column")
        named = [values_named(release, sensitive) for release in self._releases(carried, book)]
        self.is_open = bool(carried.get("open"))
        if self.is_open:
            # The last value stands for all that are not named: it must be ruled out, and no line may be taken to be about it.
            if values[-1] in self.left or any(str(entry["value"]) == values[-1] for entry in carried["weights"]):
                raise Reject("it leaves values that no release names")
        elif not any(one and set(one) <= set(values) for one in named):
            raise Reject("no release says that the sensitive column has no other values")
        if any(len(listed) != 1 for listed in event.values()):
            raise Reject("its event is not one combination of quasi-identifiers")
        self.person = {column: listed[0] for column, listed in event.items()}
        self.number = int(finding["count"][0])
        if finding["count"] != [self.number, self.number] or self.number < 1:
            raise Reject("its count is not that of a combination")
        grouped = None if carried["grouped"] is None else int(carried["grouped"])
        self.people = book.people(tuple(self.person), grouped)
        self._check_person(sensitive)
        self.groups = carried["groups"]
        self.below = int(carried["below"])
        if self.below < 1:
            raise Reject("its sum is not written out")
        self.asked = Asked(sensitive, values, grouped, self.people)
        self.terms = [book.term(entry, self.asked) for entry in carried["weights"]]

    @staticmethod
    def _releases(carried: Mapping[str, Any], book: KnownBook) -> Sequence[Release]:
        if "people" in carried:
            if carried["people"] != "same" or book.declared != "same":
                raise Reject("it takes releases together whose people are not the same")
            return book.releases
        used = {int(entry["release"]) for entry in carried["weights"] if entry["release"] is not None}
        used |= set() if carried["grouped"] is None else {int(carried["grouped"])}
        if len(used) > 1 or not used <= set(range(len(book.releases))):
            raise Reject("it takes releases together whose people are not the same")
        return [book.releases[number] for number in used] or book.releases

    def _check_person(self, sensitive: str) -> None:
        if self.people is None:
            return
        if set(self.person) != set(self.people.names) or sensitive in self.people.names:
            raise Reject("its event is not one combination of quasi-identifiers")
        if self.people.counted.get(tuple(self.person[name] for name in self.people.names), 0) != self.number:
            raise Reject("another number of known people has its quasi-identifiers")

    @property
    def ruled_out(self) -> list[str]:
        return [value for value in self.values if value not in self.left]

    def total(self) -> int:
        """Return the sum over everybody, with required weights.

        Where the people are not given, they are counted as the record groups them.
        """
        terms = sum(term.weight * term.end for term in self.terms)
        recorded = terms + self._as_recorded()
        if self.people is None:
            return recorded
        # Whoever no term speaks of and who is not asked about need not be counted at all.
        asked = self.people.places[tuple(self.person[name] for name in self.people.names)]
        counted = 0
        for one in {asked}.union(*(term.members for term in self.terms)):
            inside = [place for place, term in enumerate(self.terms) if one in term.members]
            counted += self.people.listed[one][1] * self._short(inside, asked=one == asked)
        return terms + counted

    def _short(self, inside: Sequence[int], *, asked: bool) -> int:
        """Return the weight that people in these terms lack."""
        counted = dict.fromkeys(self.values, 0)
        for place in inside:
            counted[self.terms[place].value] += self.terms[place].weight
        wanted = {value: self.below if asked and value in self.ruled_out else 0 for value in self.values}
        return max(wanted[value] - counted[value] for value in self.values)

    def _as_recorded(self) -> int:
        total = 0
        asked_for = 0
        own = [place for place, term in enumerate(self.terms) if term.speaks_of(self.person)]
        for group in self.groups:
            inside = [int(number) - 1 for number in group["terms"]]
            if any(not 0 <= place < len(self.terms) for place in inside) or int(group["people"]) < 0:
                raise Reject("its groups of people are not written out")
            if int(group["weight"]) < self._short(inside, asked=bool(group["asked"])):
                raise Reject("its sum does not count everybody often enough")
            if group["asked"]:
                asked_for += 1
                if inside != own or group["people"] != self.number:
                    raise Reject("the people it asks about are others")
            total += int(group["weight"]) * int(group["people"])
        for place, term in enumerate(self.terms):
            if sum(group["people"] for group in self.groups if place + 1 in group["terms"]) != term.people:
                raise Reject("its groups leave known people out")
        if asked_for > 1 or (not asked_for and self._short(own, asked=True) > 0):
            raise Reject("the people it asks about are not counted")
        return total


def _rows(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*([column.values[code] for code in column.codes.tolist()] for column in table.columns), strict=True))


def _weighed(table: Table) -> Counter[tuple[str, ...]]:
    counted: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(_rows(table), table.weights.tolist(), strict=True):
        counted[row] += weight
    return counted
