"""Checks of findings about sensitive values of known people.

A certificate lists statements with weights: each is looked up in its release, about whoever its line is about. Known people are counted one
combination after the other, from ``--known``, from a bucketized release that lists everybody, or else as the record groups them. The sum must
count everybody asked about who has a value that is ruled out at least ``below`` times and nobody less than 0 times, and stay below that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tacit.checker.lines import name_of
from tacit.checker.rules import Reject, RuleBook, most_left_out
from tacit.model.buckets import Buckets
from tacit.model.finding import Lines, Phrase, Step, render_steps
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.release import NO_RULE, FirstMatch, Itemsets, Release, Rules, ValueGroup
from tacit.model.table import Table
from tacit.model.words import Counted, CountedPeople, explain_only_values, explain_sum, state_values

Person = Mapping[str, str]
Who = Callable[[Person], bool]
Pairs = tuple[tuple[str, str], ...]
Reading = tuple[Who, int, int]  #: Who a statement is about, and the fewest and the most of them who have the value.


class People:
    """Known people, counted by combination of values."""

    def __init__(self, names: tuple[str, ...], counted: Counter[tuple[str, ...]]) -> None:
        self.names = names
        self.counted = counted
        self.places = {values: place for place, values in enumerate(counted)}
        self.listed = [(dict(zip(names, values, strict=True)), number) for values, number in counted.items()]
        self._members: dict[str, frozenset[int]] = {}

    @classmethod
    def of(cls, table: Table, names: tuple[str, ...]) -> People:
        """Count the people of a table by these columns."""
        counted: Counter[tuple[str, ...]] = Counter()
        for row, weight in zip(_rows(table.select(names)), table.weights.tolist(), strict=True):
            counted[row] += weight
        return cls(names, counted)

    def members(self, key: str, who: Who, number: int) -> frozenset[int]:
        """Return the combinations that fit, cached by ``key``; they have ``number`` people."""
        if key not in self._members:
            self._members[key] = frozenset(place for place, (person, _) in enumerate(self.listed) if who(person))
        if sum(self.listed[place][1] for place in self._members[key]) != number:
            raise Reject("another number of known people is in a group that it cites")
        return self._members[key]


def _rows(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*([column.values[code] for code in column.codes.tolist()] for column in table.columns), strict=True))


class Term:
    """Cited statement: ``lo`` to ``hi`` people have the value.

    ``who`` is None for a fact about people whom the record does not describe, ``described`` says who in words. ``members`` are the places of
    these people's combinations, where everybody is given.
    """

    def __init__(self, entry: Mapping[str, Any], value: str, who: Who | None, described: str, where: Phrase) -> None:
        self.entry = entry
        self.value = value
        self.who = who
        self.described = described
        self.where = where
        self.lo, self.hi = (int(end) for end in entry["count"])
        self.people = int(entry["people"])
        self.weight = int(entry["weight"])
        self.end = self.hi if self.weight > 0 else self.lo
        self.members: frozenset[int] = frozenset()

    def speaks_of(self, person: Person) -> bool:
        """Return True if it is about people with these values."""
        return self.who is not None and self.who(person)


class Claim:
    """Sum of one finding, which rules values out for one combination."""

    def __init__(self, finding: Mapping[str, Any], sensitive: str, values: tuple[str, ...]) -> None:
        event: dict[str, list[str]] = dict(finding["event"])
        left = event.pop(sensitive, [])
        if not left or not set(left) <= set(values) or len(set(values)) != len(values) or len(set(left)) != len(left):
            raise Reject("its values are not those of the sensitive column")
        if any(len(listed) != 1 for listed in event.values()):
            raise Reject("its event is not one combination of quasi-identifiers")
        self.finding = finding
        self.sensitive = sensitive
        self.values = values
        self.left = [value for value in values if value in left]
        self.ruled_out = [value for value in values if value not in left]
        self.person = {column: listed[0] for column, listed in event.items()}
        self.number = int(finding["count"][0])
        if finding["count"] != [self.number, self.number] or self.number < 1:
            raise Reject("its count is not that of a combination")
        self.below = int(finding["certificate"]["below"])
        self.terms: list[Term] = []
        self.groups = [
            CountedPeople(
                int(one["weight"]), int(one["people"]), bool(one["asked"]), tuple(int(term) - 1 for term in one["terms"])
            )
            for one in finding["certificate"]["groups"]
        ]

    def check_sum(self, people: People | None) -> None:
        """Raise unless the sum rules the other values out.

        It is taken as the record groups people, and also over all known people where they are given.
        """
        every = range(len(self.terms))
        if self.below < 1 or any(list(one.terms) != [place for place in every if place in one.terms] for one in self.groups):
            raise Reject("its sum is not written out")
        if any(group.people < 0 for group in self.groups):
            raise Reject("a group has fewer than no people")
        terms = sum(term.weight * term.end for term in self.terms)
        if not terms + self._total_as_recorded() < self.below:
            raise Reject("its sum does not rule the other values out")
        if people is not None and not terms + self._total_of(people) < self.below:
            raise Reject("with the known people its sum does not rule the other values out")

    def _total_as_recorded(self) -> int:
        total = 0
        asked_for = 0
        described = [place for place, term in enumerate(self.terms) if term.who is not None]
        own = [place for place in described if self.terms[place].speaks_of(self.person)]
        for group in self.groups:
            if group.weight < self._short(group.terms, asked=group.asked):
                raise Reject("its sum does not count everybody often enough")
            if group.asked:
                asked_for += 1
                if [place for place in group.terms if place in described] != own or group.people != self.number:
                    raise Reject("the people it asks about are others")
            total += group.weight * group.people
        no_facts = len(described) == len(self.terms)
        if asked_for > 1 or (not asked_for and no_facts and self._short(own, asked=True) > 0):
            raise Reject("the people it asks about are not counted")
        return total

    def _total_of(self, people: People) -> int:
        own = tuple(self.person[name] for name in people.names)
        if people.counted.get(own, 0) != self.number:
            raise Reject("another number of known people has its quasi-identifiers")
        # Whoever no term speaks of and who is not asked about need not be counted at all.
        asked = people.places[own]
        total = 0
        for one in {asked}.union(*(term.members for term in self.terms)):
            inside = [place for place, term in enumerate(self.terms) if one in term.members]
            total += people.listed[one][1] * self._short(inside, asked=one == asked)
        return total

    def _short(self, inside: Iterable[int], *, asked: bool) -> int:
        """Return the weight that people in these terms lack."""
        counted = dict.fromkeys(self.values, 0)
        for place in inside:
            counted[self.terms[place].value] += self.terms[place].weight
        return max((self.below if asked and value in self.ruled_out else 0) - counted[value] for value in self.values)

    def check_words(self, *, names_place_first: bool, between: str, shown: int | None = None) -> None:
        """Raise unless sentence and steps say what was checked."""
        text = self.finding["statement"]
        pairs = [f"{column}={value}" for column, value in self.person.items()]
        start, end = state_values("|", self.number, self.sensitive, self.left).split("|", 1)
        who = text.removeprefix(start).removesuffix(end)
        if text != f"{start}{who}{end}" or len(who) != len(", ".join(pairs)) or any(pair not in who for pair in pairs):
            raise Reject("its sentence does not say what its event and count say")

        def steps() -> Iterator[Sequence[Step]]:
            if not self.terms:
                yield [explain_only_values(self.sensitive, len(self.values))]
                return
            statements = [
                Counted(
                    weight=one.weight,
                    lo=one.lo,
                    hi=one.hi,
                    whole=one.people,
                    who=one.described,
                    has=f"{self.sensitive} {one.value}",
                    where=one.where,
                )
                for one in self.terms
            ]
            only = statements[0].only_step(names_place_first=names_place_first) if len(statements) == 1 else None
            if only is not None:
                yield [only]
            groups = [one for one in self.groups if one.weight]
            has = f"{self.sensitive} {' or '.join(self.ruled_out)}"
            yield explain_sum(statements, groups, has, self.below, between=between, shown=shown)

        if tuple(self.finding["steps"]) not in map(render_steps, steps()):
            raise Reject("its steps do not say what its certificate says")


def has_values(person: Person, pairs: Iterable[tuple[str, str]], groups: Mapping[tuple[str, str], ValueGroup]) -> bool:
    """Return True if a person has these (grouped) values."""
    for column, wanted in pairs:
        own = person.get(column)
        named = groups.get((column, wanted))
        if own != wanted if named is None else own is None or (own in named.values) == named.excluded:
            return False
    return True


def first_rule(person: Person, match: FirstMatch) -> str:
    """Return the number of the first rule whose conditions a person meets."""
    for number, rule in enumerate(match.rules, 1):
        if all((person.get(one.column) in one.values) != one.excluded for one in rule):
            return str(number)
    return NO_RULE


def _among(allowed: Mapping[str, Sequence[str]]) -> Who:
    return lambda person: all(person.get(column) in listed for column, listed in allowed.items())


def _place(entry: Mapping[str, Any]) -> str:
    return f"line {entry['line']}" if "line" in entry else str(entry["cell"])


@dataclass(frozen=True, slots=True)
class _Citation:
    """Statement that a certificate cites."""

    entry: Mapping[str, Any]
    sensitive: str
    grouped: int | None
    everybody: People | None

    @property
    def what(self) -> str:
        return str(self.entry["what"])

    @property
    def value(self) -> str:
        return str(self.entry["value"])

    @property
    def people(self) -> int:
        return int(self.entry["people"])

    def who(self, release: Release, pairs: Pairs) -> Who:
        """Return who has these values, if their columns are known."""
        if self.everybody is not None and not {column for column, _ in pairs} <= set(self.everybody.names):
            raise Reject(f"{_place(self.entry)} is about a column that is not known")
        groups = {(group.column, group.name): group for group in release.header.groups}
        return lambda person: has_values(person, pairs, groups)

    def read_fact(self, knowledge: Sequence[Fact] | None) -> Reading:
        """Read background knowledge."""
        allowed = {str(column): tuple(map(str, listed)) for column, listed in self.entry["about"].items()}
        lo, hi = (int(end) for end in self.entry["count"])
        if knowledge is not None:
            wanted = (self.entry["cell"], allowed, self.value)
            same = [fact for fact in knowledge if (fact.place, dict(fact.allowed), fact.value) == wanted]
            if not same:
                raise Reject("it rests on a fact that is not known")
            lo, hi = same[0].bounds(self.people)
        return _among(allowed), lo, hi


class _Page:
    """Cited statements of one release, read as who has a value; a subclass for each kind."""

    def __init__(self, release: Any) -> None:
        self.release = release

    def people(self) -> People:
        """Return everybody with their groups."""
        raise Reject("it takes groups from a release that has none")

    def read(self, cited: _Citation) -> Reading:
        """Return who is meant, and bounds on those with the value."""
        if cited.what == "values":
            named = self.release.possible_values(cited.sensitive)
            if not named or cited.value in named:
                raise Reject("the release does not say that nobody has a value in its sum")
            return _among({}), 0, 0
        return self.read_line(cited)

    def read_line(self, cited: _Citation) -> Reading:
        raise Reject(f"it rests on {_place(cited.entry)}, which cannot be checked")


class _CountedPage(_Page):
    """Lines that print the people with a set of values."""

    release: Itemsets | FrequencyTable

    @cached_property
    def places(self) -> Mapping[int | str, int]:
        return {self.release.place(index): index for index in range(len(self.release))}

    def pairs(self, index: int) -> Pairs:
        raise NotImplementedError

    def most(self, index: int, people: int) -> int:
        return self.release.count(index).hi

    def read_line(self, cited: _Citation) -> Reading:
        if cited.what != "line":
            return super().read_line(cited)
        place = cited.entry.get("line", cited.entry.get("cell"))
        if place not in self.places or self.release.header.coarser:
            raise Reject(f"it cites {_place(cited.entry)}, which holds no number of people")
        index = self.places[place]
        pairs = self.pairs(index)
        if (cited.sensitive, cited.value) not in pairs or sum(column == cited.sensitive for column, _ in pairs) != 1:
            raise Reject(f"{_place(cited.entry)} is about something else")
        who = cited.who(self.release, tuple(pair for pair in pairs if pair[0] != cited.sensitive))
        return who, self.release.count(index).lo, self.most(index, cited.people)


class _TablePage(_CountedPage):
    release: FrequencyTable

    def pairs(self, index: int) -> Pairs:
        return tuple(self.release.cell(index).items())

    def most(self, index: int, people: int) -> int:
        return self.release.most_among(index, people)


class _ListPage(_Page):
    """Lists of lines about items, and what complete ones leave out."""

    release: Itemsets | Rules

    def pair(self, item: int) -> tuple[str, str]:
        if self.release.items.pairs is not None:
            return self.release.items.pairs[item]
        column, _, value = self.release.items.names[item].partition("=")
        return column, value

    def length(self, pairs: Pairs, wanted: frozenset[tuple[str, str]]) -> int:
        """Return the length that a limit of the list is about."""
        raise NotImplementedError

    def most_missing(self, cited: _Citation, pairs: Pairs, wanted: frozenset[tuple[str, str]]) -> int:
        """Return the most people with what the list leaves out."""
        raise NotImplementedError

    def read_missing(self, cited: _Citation) -> Reading:
        header = self.release.header
        pairs = tuple((str(column), str(listed[0])) for column, listed in cited.entry["about"].items())
        wanted = frozenset((*pairs, (cited.sensitive, cited.value)))
        items = self.release.items.pairs
        if not header.complete or header.coarser or items is None or header.min_support is None:
            raise Reject("it needs a complete list, and the release is not one")
        if not {column for column, _ in pairs} <= set(header.qi or [*(column for column, _ in items), *header.columns]):
            raise Reject("a set that it takes as missing has other columns than the list")
        if not header.covers(self.length(pairs, wanted)):
            raise Reject("what it takes as missing is longer than the list holds")
        most = self.most_missing(cited, pairs, wanted)
        return cited.who(self.release, pairs), 0, most


class _ItemsetsPage(_ListPage, _CountedPage):
    release: Itemsets

    def pairs(self, index: int) -> Pairs:
        return tuple(self.pair(item) for item in self.release.sets[index].tolist())

    def read_line(self, cited: _Citation) -> Reading:
        return self.read_missing(cited) if cited.what == "missing" else super().read_line(cited)

    def length(self, pairs: Pairs, wanted: frozenset[tuple[str, str]]) -> int:
        return len(wanted)

    def most_missing(self, cited: _Citation, pairs: Pairs, wanted: frozenset[tuple[str, str]]) -> int:
        release = self.release
        above = [index for index in range(len(release)) if wanted <= set(self.pairs(index))]
        if not any(self.pair(item)[0] == cited.sensitive for item in release.sets.members.tolist()):
            raise Reject("the list does not name the sensitive column")
        if not above:
            return (release.header.min_support or 0) - 1
        if release.only != "closed" or not release.is_exact:
            raise Reject("a set that it takes as missing is published")
        return max(int(release.hi[index]) for index in above)


class _RulesPage(_ListPage):
    release: Rules

    def __init__(self, release: Rules) -> None:
        super().__init__(release)
        self.rules = RuleBook(release)

    def read_line(self, cited: _Citation) -> Reading:
        header = self.release.header
        if cited.what == "distribution":
            counts = dict(zip(header.sa_values, header.sa_counts, strict=False))
            if cited.value not in counts or " & ".join(header.sa) != cited.sensitive:
                raise Reject("the release publishes no such distribution")
            return _among({}), counts[cited.value], counts[cited.value]
        if cited.what == "missing":
            return self.read_missing(cited)
        if cited.what != "line":
            return super().read_line(cited)
        line = self.rules.line(cited.entry["line"])
        index = self.rules.by_line[cited.entry["line"]]
        having = tuple(self.pair(item) for item in self.release.antecedents[index].tolist())
        then = tuple(self.pair(item) for item in self.release.consequents[index].tolist())
        if then != ((cited.sensitive, cited.value),) or header.coarser:
            raise Reject(f"{_place(cited.entry)} is about something else")
        least, most = line.among(cited.people)
        return cited.who(self.release, having), max(least, header.min_support or 0), most

    def length(self, pairs: Pairs, wanted: frozenset[tuple[str, str]]) -> int:
        return len(pairs)

    def most_missing(self, cited: _Citation, pairs: Pairs, wanted: frozenset[tuple[str, str]]) -> int:
        header = self.release.header
        if header.min_confidence is None or not pairs:
            raise Reject("it needs a complete list, and the release is not one")
        if header.sa and cited.sensitive not in {one.column for one in header.sensitive}:
            raise Reject("a rule that it takes as missing has another sensitive column than the list")
        sides = zip(self.release.antecedents, self.release.consequents, strict=True)
        if any(frozenset(self.pair(item) for item in (*having, *then)) == wanted for having, then in sides):
            raise Reject("a rule that it takes as missing is published")
        return most_left_out(header, cited.people)


class _BucketPage(_Page):
    release: Buckets

    def people(self) -> People:
        release = self.release
        groups = [release.names[number] for number in release.group.tolist()]
        told = Counter((*row, group) for row, group in zip(_rows(release.people), groups, strict=True))
        return People((*release.people.names, release.group_name), told)

    def read_line(self, cited: _Citation) -> Reading:
        """Read a line of a group, or a value it lacks."""
        release = self.release
        if release.sensitive != cited.sensitive:
            raise Reject("it cites groups with another sensitive column")
        names = [name for listed in cited.entry["about"].values() for name in listed]
        if len(names) != 1 or names[0] not in release.names:
            raise Reject("it cites a group that is not there")
        group = release.names.index(names[0])
        entries = range(int(release.starts[group]), int(release.starts[group + 1]))
        own = {release.values[int(release.value[entry])]: entry for entry in entries}
        if cited.what == "group":
            if cited.value in own:
                raise Reject("its group has a value that it takes as missing")
            count = 0
        elif cited.value in own and release.line(own[cited.value]) == cited.entry["line"]:
            count = int(release.count[own[cited.value]])
        else:
            raise Reject(f"{_place(cited.entry)} is about something else")
        if cited.grouped is not None and cited.grouped == cited.entry["release"]:
            return _among({release.group_name: names}), count, count
        columns = release.people.columns
        inside = {
            tuple(column.values[column.codes[row]] for column in columns)
            for row, number in enumerate(release.group.tolist())
            if number == group
        }
        most = count if cited.people == int(release.sizes[group]) else cited.people
        return (lambda person: tuple(person.get(column.name) for column in columns) in inside), count, most


#: Cited statements of each kind of release; a table with blanks says nothing that a certificate cites.
_PAGES: Mapping[str, type[_Page]] = {
    "itemsets": _ItemsetsPage,
    "rules": _RulesPage,
    "buckets": _BucketPage,
    "table": _Page,
    "frequencies": _TablePage,
}

#: How many terms of a sum the steps show.
_SHOWN = 24
_NAMED = {
    "distribution": "the distribution",
    "values": "which lists all values",
    "group": "which lists all values of the group",
}


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
        self.knowledge = knowledge
        self.pages = [_PAGES[release.kind](release) for release in releases]
        self._people: dict[tuple[str, ...], People] = {}

    def people(self, names: tuple[str, ...], grouped: int | None) -> People | None:
        """Return everybody by these columns, or None."""
        if names not in self._people:
            if grouped is not None:
                self._people[names] = self.pages[grouped].people()
            elif self.known is None:
                return None
            elif not set(names) <= set(self.known.names):
                raise Reject("the known people lack a column that it is about")
            else:
                self._people[names] = People.of(self.known, names)
        return self._people[names]

    def term(self, entry: Mapping[str, Any], claim: Claim, grouped: int | None, everybody: People | None) -> Term:
        """Return a cited statement, if its release says so."""
        value = str(entry["value"])
        if value not in claim.values:
            raise Reject("a value in its sum is not one of the sensitive column's")
        who, low, high = self._read(_Citation(entry, claim.sensitive, grouped, everybody))
        term = Term(entry, value, who, _describe(entry), self._where(entry))
        if everybody is not None:
            cited = [claim.sensitive, grouped, {name: told for name, told in entry.items() if name != "weight"}]
            term.members = everybody.members(json.dumps(cited, sort_keys=True), who, term.people)
        if term.lo > max(low, 0) or term.hi < min(high, term.people):
            raise Reject(f"{_place(entry)} does not say that")
        return term

    def _read(self, cited: _Citation) -> Reading:
        if cited.entry["release"] is None:
            return cited.read_fact(self.knowledge)
        number = int(cited.entry["release"])
        if not 0 <= number < len(self.pages):
            raise Reject("it cites a release that is not there")
        return self.pages[number].read(cited)

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


def _describe(entry: Mapping[str, Any]) -> str:
    about = entry["about"]
    if entry["what"] == "scattered":
        return f" with the quasi-identifiers of group {next(iter(about.values()))[0]}"
    pairs = ", ".join(f"{column}={' or '.join(values)}" for column, values in about.items())
    return f" with {pairs}" if pairs else ""


def is_about_known(finding: Mapping[str, Any]) -> bool:
    """Return True if a finding is about known people."""
    carried = finding.get("certificate") or {}
    return "sensitive" in carried and "below" in carried


def check_known(finding: Mapping[str, Any], book: KnownBook, least: int) -> None:
    """Raise unless people keep fewer than ``least`` values."""
    carried = finding["certificate"]
    claim = Claim(finding, str(carried["sensitive"]), tuple(map(str, carried["values"])))
    if not len(claim.left) < least:
        raise Reject(f"it leaves {len(claim.left)} values, and the policy allows that")
    combined = _combined(carried, book)
    if carried.get("open"):
        # The last value stands for all that are not named: it must be ruled out, and no line may be taken to be about it.
        last = claim.values[-1]
        if last in claim.left or any(str(entry["value"]) == last for entry in carried["weights"]):
            raise Reject("it leaves values that no release names")
    elif not any(
        one and set(one) <= set(claim.values) for one in (release.possible_values(claim.sensitive) for release in combined)
    ):
        raise Reject("no release says that the sensitive column has no other values")
    grouped = None if carried["grouped"] is None else int(carried["grouped"])
    people = book.people(tuple(claim.person), grouped)
    if people is not None and (set(claim.person) != set(people.names) or claim.sensitive in people.names):
        raise Reject("its event is not one combination of quasi-identifiers")
    claim.terms = [book.term(entry, claim, grouped, people) for entry in carried["weights"]]
    claim.check_sum(people)
    for place, term in enumerate(claim.terms):
        if sum(group.people for group in claim.groups if place in group.terms) != term.people:
            raise Reject("its groups leave known people out")
    claim.check_words(names_place_first=False, between="; ", shown=_SHOWN)
    cited = {(entry["release"], str(entry.get("line", entry.get("cell")))) for entry in finding["because"]}
    used = {(max(0, term.entry["release"] or 0), str(term.entry.get("line", term.entry.get("cell")))) for term in claim.terms}
    who = {(carried["grouped"], "quasi-identifiers")} if carried["listed"] and claim.terms else set()
    if cited != used | who:
        raise Reject("the lines it cites are not those of its sum")


def _combined(carried: Mapping[str, Any], book: KnownBook) -> Sequence[Release]:
    if "people" in carried:
        if carried["people"] != "same" or book.declared != "same":
            raise Reject("it takes releases together whose people are not the same")
        return book.releases
    used = {int(entry["release"]) for entry in carried["weights"] if entry["release"] is not None}
    used |= set() if carried["grouped"] is None else {int(carried["grouped"])}
    if len(used) > 1 or not used <= set(range(len(book.releases))):
        raise Reject("it takes releases together whose people are not the same")
    return [book.releases[number] for number in used] or book.releases
