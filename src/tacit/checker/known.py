"""What a cited line says about known people, read anew from its release: whom it speaks of, about which value, and how many have it.

The sentence and the steps of a finding about known people must say what its certificate says.

Re-checks what several releases together say about the sensitive values of known people, in whole numbers.

A certificate lists statements with weights: each is looked up in its release and read anew, about whoever its line speaks of. Known people are
counted one combination after the other, from ``--known``, from a bucketized release that lists everybody, or else as the record groups them. The
sum must count everybody asked about who has a value that is ruled out at least ``below`` times and nobody less than 0 times, and stay
below that.
"""

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
from tacit.model.table import Table

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


#: How many terms of a sum the steps show.
_SHOWN = 24
_NAMED = {
    "distribution": "the distribution",
    "values": "which lists all values",
    "group": "which lists all values of the group",
}


def check_words(
    finding: Mapping[str, Any],
    releases: Sequence[Release],
    sensitive: str,
    ruled_out: Sequence[str],
    terms: Sequence[Term],
    total: int,
) -> None:
    """Raise :class:`Reject` where words and numbers differ."""
    told = _Told(finding, releases, sensitive)
    told.check_sentence()
    if list(finding["steps"]) not in (told.sum(terms, ruled_out, total), told.single(terms), told.nothing(terms)):
        raise Reject("its steps do not say what its certificate says")
    cited = {(entry["release"], str(entry.get("line", entry.get("cell")))) for entry in finding["because"]}
    used = {(max(0, term.entry["release"] or 0), str(term.entry.get("line", term.entry.get("cell")))) for term in terms}
    carried = finding["certificate"]
    who = {(carried["grouped"], "quasi-identifiers")} if carried["listed"] and terms else set()
    if cited != used | who:
        raise Reject("the lines it cites are not those of its sum")


class _Told:
    """One finding in words."""

    def __init__(self, finding: Mapping[str, Any], releases: Sequence[Release], sensitive: str) -> None:
        self.finding, self.releases, self.sensitive = finding, releases, sensitive
        self.left = [value for value in finding["certificate"]["values"] if value in finding["event"][sensitive]]

    def check_sentence(self) -> None:
        """The sentence names the people and the values that are left."""
        number = int(self.finding["count"][0])
        pairs = [f"{column}={values[0]}" for column, values in self.finding["event"].items() if column != self.sensitive]
        who = f"The {'one person' if number == 1 else f'{number:,} people'} with "
        ends = f" certainly {'has' if number == 1 else 'have'} {self.sensitive} {self.left[0]}."
        if len(self.left) > 1:
            ends = f" can only have {self.sensitive} {', '.join(self.left[:-1])} or {self.left[-1]}."
        text = self.finding["statement"]
        middle = text.removeprefix(who).removesuffix(ends)
        fits = text == f"{who}{middle}{ends}" and len(middle) == len(", ".join(pairs))
        if not fits or any(pair not in middle for pair in pairs):
            raise Reject("its sentence does not say what its event and count say")

    def sum(self, terms: Sequence[Term], ruled_out: Sequence[str], total: int) -> list[str]:
        """The steps of a sum."""
        carried = self.finding["certificate"]
        groups, below = [group for group in carried["groups"] if int(group["weight"])], int(carried["below"])
        steps = [self._term(term) for term in terms[:_SHOWN]]
        if len(terms) > _SHOWN:
            steps.append(f"and {len(terms) - _SHOWN:,} more terms, which the certificate lists")
        steps += [self._group(group, terms) for group in groups[:_SHOWN]]
        if len(groups) > _SHOWN:
            steps.append(f"and {len(groups) - _SHOWN:,} more groups of people, which the certificate lists")
        times = "once" if below == 1 else f"{below:,} times"
        has = f"{self.sensitive} {' or '.join(ruled_out)}"
        last = f"The sum counts everybody asked about who has {has} at least {times}, and nobody less than 0 times."
        return [*steps, f"sum: {total:,}", f"{last} It is less than {below:,}, so there is nobody."]

    def single(self, terms: Sequence[Term]) -> list[str]:
        """The one step of a proof by one statement about a whole group."""
        if len(terms) != 1:
            return []
        (term,) = terms
        where = self._where(term)
        if term.weight < 0 and term.lo == term.people:
            return [f"All {_people(term.people)}{_with(term)} have {self.sensitive} {term.value} ({where})."]
        return [f"Nobody{_with(term)} has {self.sensitive} {term.value} ({where})."] if term.weight > 0 and term.hi == 0 else []

    def nothing(self, terms: Sequence[Term]) -> list[str]:
        """What is said where the column has no other values."""
        number = len(self.finding["certificate"]["values"])
        return [] if terms else [f"{self.sensitive} has only {number:,} value{'' if number == 1 else 's'}."]

    def _term(self, term: Term) -> str:
        side = "exactly" if term.lo == term.hi else "at most" if term.weight > 0 else "at least"
        group = f"of {'the' if _with(term) else 'all'} {_people(term.people)}{_with(term)}"
        has = f"{side} {term.end:,} {group} have {self.sensitive} {term.value}"
        return f"{_times(term.weight)}{term.end:,}: {has} ({self._where(term)})"

    def _group(self, group: Mapping[str, Any], terms: Sequence[Term]) -> str:
        spoken = "; ".join(dict.fromkeys(self._where(terms[number - 1]) for number in group["terms"]))
        who = "people asked about" if group["asked"] else "known people of whom these speak"
        return f"{_times(int(group['weight']))}{group['people']:,}: {who} ({spoken or 'nothing above'})"

    def _where(self, term: Term) -> str:
        entry = term.entry
        if entry["release"] is None:
            return f"known: {entry['cell']}"
        number = int(entry["release"])
        source = self.releases[number].source
        name = source.name if source else f"release {number + 1}"
        if entry["what"] == "missing":
            return f"{name} leaves it out"
        if "line" in entry:
            return f"{name}, line {entry['line']}"
        return f"{name}, {_NAMED.get(entry['what'], entry['cell'])}"


def _with(term: Term) -> str:
    about = term.entry["about"]
    if term.entry["what"] == "scattered":
        return f" with the quasi-identifiers of group {next(iter(about.values()))[0]}"
    pairs = ", ".join(f"{column}={' or '.join(values)}" for column, values in about.items())
    return f" with {pairs}" if pairs else ""


def _people(number: int) -> str:
    return f"{number:,} {'person' if number == 1 else 'people'}"


def _times(weight: int) -> str:
    sign = "plus" if weight > 0 else "minus"
    return f"{sign} " if abs(weight) == 1 else f"{sign} {abs(weight):,} times "


def is_about_known(finding: Mapping[str, Any]) -> bool:
    """Whether a finding is about the values of known people, by several releases together."""
    carried = finding.get("certificate") or {}
    return "sensitive" in carried and "below" in carried


class KnownBook:
    """The releases of an audit, the people whom they are about as far as they are given, and what is known besides."""

    def __init__(
        self,
        releases: Sequence[Release],
        known: Table | None = None,
        knowledge: Sequence[Fact] | None = None,
        declared: str = "same",
    ) -> None:
        self.releases, self.known, self.declared = releases, known, declared
        self._pages = [Page(release) for release in releases]
        self._knowledge = knowledge
        self._people: dict[tuple[str, ...], People] = {}

    def people(self, names: tuple[str, ...], grouped: int | None) -> People | None:
        """Everybody by these columns; None where that is taken from the record."""
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
        """The statement that a certificate cites, if its release says so."""
        number = entry["release"]
        if number is not None and not 0 <= int(number) < len(self.releases):
            raise Reject("it cites a release that is not there")
        return read_term(entry, None if number is None else self._pages[int(number)], asked, self._knowledge)


def check_known(finding: Mapping[str, Any], book: KnownBook, least: int) -> None:
    """Raise :class:`Reject` unless fewer than ``least`` values are left to the people of a finding, by the sum that it carries."""
    claim = _Claim(finding, book)
    if not len(claim.left) < least:
        raise Reject(f"it leaves {len(claim.left)} values, and the policy allows that")
    total, told = claim.total()
    if not total < claim.below:
        raise Reject("its sum does not rule the other values out")
    check_words(finding, book.releases, claim.asked.sensitive, claim.ruled_out, claim.terms, told)


class _Claim:
    """One finding, taken apart."""

    def __init__(self, finding: Mapping[str, Any], book: KnownBook) -> None:
        carried = finding["certificate"]
        sensitive, values = str(carried["sensitive"]), tuple(map(str, carried["values"]))
        event: dict[str, list[str]] = dict(finding["event"])
        self.left, self.values = event.pop(sensitive, []), values
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
        self.person, self.number = {column: listed[0] for column, listed in event.items()}, int(finding["count"][0])
        if finding["count"] != [self.number, self.number] or self.number < 1:
            raise Reject("its count is not that of a combination")
        grouped = None if carried["grouped"] is None else int(carried["grouped"])
        self.people = book.people(tuple(self.person), grouped)
        self._check_person(sensitive)
        self.groups, self.below = carried["groups"], int(carried["below"])
        if self.below < 1:
            raise Reject("its sum is not written out")
        self.asked = Asked(sensitive, values, grouped, self.people)
        self.terms = [book.term(entry, self.asked) for entry in carried["weights"]]

    @staticmethod
    def _releases(carried: Mapping[str, Any], book: KnownBook) -> Sequence[Release]:
        """The releases that the finding takes together: all of them where their people are the same, else a single one."""
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
        """So many known people have the combination."""
        if self.people is None:
            return
        if set(self.person) != set(self.people.names) or sensitive in self.people.names:
            raise Reject("its event is not one combination of quasi-identifiers")
        if self.people.counted.get(tuple(self.person[name] for name in self.people.names), 0) != self.number:
            raise Reject("another number of known people has its quasi-identifiers")

    @property
    def ruled_out(self) -> list[str]:
        """The values that are claimed to be impossible."""
        return [value for value in self.values if value not in self.left]

    def total(self) -> tuple[int, int]:
        """What the sum comes to, everybody counted as often as it takes, and what it comes to as the record groups people."""
        terms = sum(term.weight * term.end for term in self.terms)
        told = terms + self._as_recorded()
        if self.people is None:
            return told, told
        # Whoever no term speaks of and who is not asked about need not be counted at all.
        asked = self.people.places[tuple(self.person[name] for name in self.people.names)]
        counted = 0
        for one in {asked}.union(*(term.members for term in self.terms)):
            inside = [place for place, term in enumerate(self.terms) if one in term.members]
            counted += self.people.listed[one][1] * self._short(inside, asked=one == asked)
        return terms + counted, told

    def _short(self, inside: Sequence[int], *, asked: bool) -> int:
        """How often somebody of whom these terms speak has to be counted besides, whatever value is had."""
        counted = dict.fromkeys(self.values, 0)
        for place in inside:
            counted[self.terms[place].value] += self.terms[place].weight
        wanted = {value: self.below if asked and value in self.ruled_out else 0 for value in self.values}
        return max(wanted[value] - counted[value] for value in self.values)

    def _as_recorded(self) -> int:
        """What the groups of the record come to; each is counted often enough, and the one that is asked about is the person's."""
        total, asked_for = 0, 0
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
