"""Several releases about the same known people.

Statements of rules, trees, itemsets, tables and bucketized releases are over the same combinations of quasi-identifiers, so they are simply
put together. Estimates (R02) and bounds (R03) from all of them say at least as much as those from each release.

A line with one sensitive value counts people with some quasi-identifiers and that value; a line without one is compared with the known
people. If everybody's group of a bucketized release is known, each of its lines counts people of a group with a value. Otherwise the group
is somewhere among people with the quasi-identifiers of its members: at least that many of them have the value, and no more if nobody else
has such quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tacit.known.case import (
    CHECK,
    DISTRIBUTION,
    FACT,
    LINE,
    MISSING,
    Missing,
    Pair,
    RuleCase,
    add_fact,
    antecedents_of,
    name_facts,
    rows_of,
)
from tacit.mining.itemsets import count_itemsets
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.buckets import Buckets
from tacit.model.errors import Contradiction, InputError, numbered
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact, Withheld
from tacit.model.people import Population
from tacit.model.release import Itemsets, Listed, Release, Rules, Sets
from tacit.model.table import Table
from tacit.solve.statements import Statements

#: Further kinds of statements: about a group whose members are unknown, that a group lacks a value, and which values there are.
SCATTERED = "scattered"
GROUP = "group"
DOMAIN = "values"
MOST_CLOSED = 50_000  #: Most closed sets of known values that a complete list is compared with.
MOST_COMPARED = 5_000_000  #: Most comparisons of these with listed sets.
MANY = 1 << 20  #: Number of values that no release names.
About = tuple[tuple[str, tuple[str, ...]], ...]  #: Columns with the values of which everybody in question has one.
#: By sensitive value: the listed sets with it, without this value, and the most people of each.
Counted = Mapping[str, dict[frozenset[Pair], int]]


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a statement: release (-1: background), line, kind, people."""

    release: int
    place: int | str
    what: str
    about: About = ()


class Spoken(NamedTuple):
    """Statement that ``lo`` to ``hi`` people have the value."""

    places: Codes
    value: int
    lo: int
    hi: int
    origin: Origin


@dataclass(slots=True, eq=False)
class Reading:
    """Statements of a release, and the number passed over.

    ``columns`` are those in which a complete list was searched. ``unread`` counts what it says in ways that are not used. A release that is
    not ``is_about_known`` says nothing about the sensitive values of known people.
    """

    spoken: list[Spoken] = field(default_factory=list)
    missing: Missing | None = None
    left_out: int = 0
    columns: tuple[str, ...] = ()
    unread: int = 0
    is_about_known: bool = True


@dataclass(frozen=True, eq=False)
class SeveralCase:
    """Releases, quasi-identifiers and background knowledge about known people.

    ``grouped`` is the number of the bucketized release whose groups are a column of the population, or -1. ``listed``: only that release
    says who everybody is. ``first`` is the number of the first release among all that are audited. ``is_open``: no release lists all
    values, and the last one stands for those that none names. ``remembered`` keeps what several attacks need.
    """

    releases: tuple[Release, ...]
    population: Population
    sensitive: str
    values: tuple[str, ...]
    facts: tuple[Fact, ...] = ()
    grouped: int = -1
    listed: bool = False
    first: int = 0
    is_open: bool = False
    withheld: Withheld = "at-threshold"
    remembered: dict[str, Any] = field(default_factory=dict)

    def withheld_lines(self) -> frozenset[Hashable]:
        """Return the origins of lines of rules whose numbers are withheld."""
        silent = {
            (number, one.line(line)) for number, one in enumerate(self.releases) for line in np.flatnonzero(one.withheld).tolist()
        }
        spoken = (spoken.origin for one in self.readings for spoken in one.spoken)
        return frozenset(origin for origin in spoken if origin.what == LINE and (origin.release, origin.place) in silent)

    @property
    def everybody(self) -> Codes:
        """All combinations."""
        return np.arange(len(self.population), dtype=np.int32)

    def only(self, columns: Sequence[str]) -> Population:
        """Project the combinations to some columns without merging."""
        kept = tuple(column for column in self.population.columns if column.name in columns)
        return Population(kept, self.population.people)

    def people(self, places: Codes) -> int:
        """Return the number of people with these combinations."""
        return int(self.population.people[places].sum())

    def knows(self, columns: Sequence[str]) -> bool:
        """Tell if everybody's values of these columns are known."""
        return set(columns) <= set(self.population.names)

    def compare(self, places: Codes, lo: int, hi: int, where: str) -> None:
        """Raise if a quasi-identifier line contradicts the known people."""
        if not lo <= self.people(places) <= hi:
            raise InputError("a different number of known people has these values", where=where, remedy=CHECK)

    def name(self, release: int) -> str:
        """Return the name of a release in sentences."""
        return name_of(self.releases[release], self.first + release)

    def alone(self, release: int) -> SeveralCase:
        """Return the case of one release, numbers kept."""
        read = tuple(one if number == release else Reading() for number, one in enumerate(self.readings))
        single = replace(self, remembered={})
        single.__dict__["readings"] = read
        return single

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """Statements of each release."""
        return tuple(self._read(number, release) for number, release in enumerate(self.releases))

    def _read(self, number: int, release: Release) -> Reading:
        if release.n is not None and release.n != self.population.n:
            what = f"is about {release.n:,} people, and {self.population.n:,} are known"
            raise InputError(what, where=self.name(number), remedy=CHECK)
        found = _READERS[release.kind](self, number, release)
        if not found.is_about_known:
            return found
        named = release.possible_values(self.sensitive)
        for code, value in enumerate(self.values if named else ()):
            if value not in named:
                found.spoken.append(Spoken(self.everybody, code, 0, 0, origin=Origin(number, "sa_values", DOMAIN)))
        return found

    def values_left(self, impossible: Flags) -> Ints:
        """Return the number of values left to each combination."""
        left = (~impossible).sum(axis=1).astype(np.int64)
        return np.asarray(left + np.where(impossible[:, -1], 0, MANY) if self.is_open else left)

    @property
    def speaking(self) -> tuple[int, ...]:
        """Releases informative about these people's sensitive values."""
        return tuple(number for number, one in enumerate(self.readings) if one.spoken or one.missing is not None)

    @property
    def knowing(self) -> tuple[int, ...]:
        """Releases that are informative alone."""
        return tuple(number for number in self.speaking if not self.listed or number == self.grouped)

    @property
    def n_lines(self) -> int:
        """Number of published lines."""
        return sum(spoken.origin.what == LINE for one in self.readings for spoken in one.spoken)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Columns and values that are published."""
        found = (spoken.origin.about for one in self.readings for spoken in one.spoken)
        return tuple(dict.fromkeys((column, values[0]) for about in found for column, values in about))

    @property
    def left_out(self) -> int:
        """Number of lines beyond known columns and one sensitive value."""
        return sum(one.left_out for one in self.readings)

    @property
    def unread(self) -> int:
        """Number of statements of the releases that are not used."""
        return sum(one.unread for one in self.readings)

    @cached_property
    def sa_counts(self) -> tuple[int, ...]:
        """Published number of people with each value, if any."""
        for number, release in enumerate(self.releases):
            if (counts := release.value_counts()) and number in self.speaking:
                return tuple(counts.get(value, 0) for value in self.values)
        return ()

    def published(self) -> Statements:
        """Return what all lines say, with background facts."""
        said = Statements(self.population, len(self.values))
        for one in self.readings:
            for spoken in one.spoken:
                said.say(*spoken)
        for fact in self.facts:
            known = not set(fact.allowed) - set(self.population.names)
            if known and fact.excludes and fact.value not in self.values:  # nobody has it anyway
                continue
            origin = Origin(-1, fact.place, FACT, tuple(sorted(fact.allowed.items())))
            add_fact(said, fact, self.values, origin, problem="names a column that is not known of everybody")
        return said

    @cached_property
    def missing(self) -> Missing:
        """Bounds from the missing rules of complete lists."""
        found = [one.missing for one in self.readings if one.missing is not None]
        if not found:
            return Missing.informative([], np.empty((0, len(self.values)), np.int64), np.empty(0, np.int64))
        starts = np.cumsum([0, *(len(one.events.members) for one in found)])
        ends = [one.events.offsets[1:] + start for one, start in zip(found, starts[:-1].tolist(), strict=True)]
        members = np.concatenate([one.events.members for one in found])
        events = Sets(np.concatenate([np.zeros(1, np.int64), *ends]), members)
        names = tuple(name for one in found for name in one.names)
        return Missing(events, np.concatenate([one.most for one in found]), np.concatenate([one.wholes for one in found]), names)

    @cached_property
    def _owner_of_missing(self) -> Ints:
        sizes = [0 if one.missing is None else len(one.missing.events) for one in self.readings]
        return np.repeat(np.arange(len(sizes)), sizes)

    def release_of(self, origin: object) -> int:
        """Return a statement's release, -1 for background knowledge."""
        if isinstance(origin, Origin):
            return origin.release
        assert isinstance(origin, tuple)
        assert origin[0] == MISSING
        return int(self._owner_of_missing[int(origin[1])])

    def refuse(self, origins: Sequence[object]) -> NoReturn:
        """Raise because these statements contradict the known people."""
        lines: dict[int, set[int]] = {}
        for origin in origins:
            of_one = lines.setdefault(self.release_of(origin), set())
            if isinstance(origin, Origin) and isinstance(origin.place, int):
                of_one.add(origin.place)
        facts = sorted({str(one.place) for one in origins if isinstance(one, Origin) and one.what == FACT})
        places = [
            f"{self.name(number)}, {numbered(sorted(found))}" if found else self.name(number)
            for number, found in sorted(lines.items())
            if number >= 0
        ]
        places += name_facts(facts)
        left_out = any(isinstance(one, tuple) for one in origins)
        beside = ", with what complete lists leave out," if left_out else ""
        raise Contradiction(
            f"what is printed there{beside} cannot all be true of the known people",
            where="; ".join(places),
            remedy="Check whether the releases are about the same people (--people), how numbers were rounded (--rounding), and what is known",
            lines=sorted(next(iter(lines.values()))) if len(lines) == 1 else (),
        )


def name_of(release: Release, number: int) -> str:
    """Return the name of a release in sentences."""
    return release.source.name if release.source else f"release {number + 1}"


def list_values(pairs: Iterable[Pair]) -> About:
    """Return values of columns in the form of :data:`About`."""
    return tuple((column, (value,)) for column, value in pairs)


def pair_of(release: Listed, item: int) -> Pair:
    """Return an item as a column and a value."""
    if release.items.pairs is not None:
        return release.items.pairs[item]
    column, _, value = release.items.names[item].partition("=")
    return column, value


def read_rules(case: SeveralCase, number: int, release: Rules) -> Reading:
    """Read rules, the printed distribution, and missing rules."""
    header = release.header
    pairs = tuple(pair_of(release, item) for item in range(len(release.items)))
    found = Reading()
    lines = []
    for index in range(len(release)):
        having = [pairs[item] for item in release.antecedents[index].tolist()]
        then = [pairs[item] for item in release.consequents[index].tolist()]
        is_about = not header.coarser and len(then) == 1 and then[0][0] == case.sensitive and then[0][1] in case.values
        if is_about and case.knows([column for column, _ in having]):
            lines.append(index)
        else:
            found.left_out += 1
            found.unread += any(column == case.sensitive for column, _ in (*having, *then))
    # A list of rules about another sensitive column leaves out all those about this one.
    complete = header.complete and (not header.sa or case.sensitive in {one.column for one in header.sensitive})
    about = replace(header, sa=(case.sensitive,), sa_values=case.values, sa_counts=(), marginals=(), complete=complete)
    chosen = replace(
        release.take(np.array(lines, np.int64), about),
        items=replace(release.items, pairs=pairs),
        lines=np.array([release.line(index) for index in lines], np.int64),
        source=release.source,
    )
    used = (pairs[item][0] for item in release.antecedents.members.tolist())
    match = () if header.first_match is None else (header.first_match.column,)
    rules = RuleCase(chosen, case.only((*header.qi, *match) if header.qi else tuple(dict.fromkeys(used))))
    for line, (lo, hi) in enumerate(zip(*(bound.tolist() for bound in rules.counts), strict=True)):
        if len(rules.holders[line]) == 0:  # a rule of a list in order that nobody matches first
            continue
        origin = Origin(number, rules.release.line(line), LINE, list_values(rules.antecedent(line)))
        found.spoken.append(Spoken(rules.holders[line], rules.codes[line], lo, hi, origin=origin))
    for value, count in zip(header.sa_values, header.sa_counts, strict=False):
        origin = Origin(number, f"sa_distribution {value}", DISTRIBUTION)
        found.spoken.append(Spoken(case.everybody, case.values.index(value), count, count, origin=origin))
    if case.is_open:
        rules.missing.most[:, -1] = rules.missing.wholes  # a list may leave out each of many values, but not all together
    found.missing = rules.missing if len(rules.missing.events) else None
    found.columns = rules.population.names
    return found


def read_itemsets(case: SeveralCase, number: int, release: Itemsets) -> Reading:
    """Read the itemsets with one sensitive value, listed or missing."""
    if release.header.coarser:
        return Reading(left_out=len(release), unread=len(release))
    found = Reading()
    listed: dict[str, dict[frozenset[Pair], int]] = {}
    for index in range(len(release)):
        pairs = [pair_of(release, item) for item in release.sets[index].tolist()]
        own = [value for column, value in pairs if column == case.sensitive]
        rest = tuple(pair for pair in pairs if pair[0] != case.sensitive)
        if len(own) > 1 or not set(own) <= set(case.values) or not case.knows([column for column, _ in rest]):
            found.left_out += 1
            found.unread += bool(own)
            continue
        places = case.population.holding(rest)
        count = release.count(index)
        if not own:
            case.compare(places, count.lo, count.hi, f"{name_of(release, number)} line {release.line(index)}")
            continue
        listed.setdefault(own[0], {})[frozenset(rest)] = count.hi
        origin = Origin(number, release.line(index), LINE, list_values(rest))
        found.spoken.append(Spoken(places, case.values.index(own[0]), count.lo, count.hi, origin=origin))
    if listed and release.header.complete and release.min_support is not None and release.items.pairs is not None:
        named = (*(column for column, _ in release.items.pairs), *release.header.columns)
        used = {column: None for column in named if column != case.sensitive}
        inner = case.only(release.header.qi or tuple(used))
        found.missing = _missing_sets(case, inner, release, listed)
        found.columns = inner.names
        found.left_out += found.missing is None
        found.unread += found.missing is None
    # That closed sets of rounded counts differ, and that others are equal to their closure, is not used.
    found.unread += release.only == "closed" and not release.is_exact
    return found


def _missing_sets(case: SeveralCase, inner: Population, release: Itemsets, listed: Counted) -> Missing | None:
    least = max(1, release.min_support or 1)
    rows = rows_of(inner)
    sets: list[frozenset[Pair]] = [frozenset()]
    names: list[tuple[Pair, ...] | None] = [None if release.header.max_length is None else ()]
    # Beside the sensitive value, so many values make the longest sets of the list.
    longest = None if release.header.max_length is None else release.header.max_length - 1
    if inner.columns and longest != 0:
        if count_itemsets(rows, min_support=least, only=["closed"])["closed"] > MOST_CLOSED:
            return None
        described, named = antecedents_of(inner, least, longest)
        if len(described) > MOST_CLOSED:
            return None
        sets += map(frozenset, described)
        names += named
    if release.only != "all" and len(sets) * sum(map(len, listed.values())) > MOST_COMPARED:
        return None
    events = [case.population.holding(sorted(one)) for one in sets]
    wholes = np.array([case.people(places) for places in events], np.int64)
    most = np.repeat(wholes[:, None], len(case.values), axis=1)
    # A list may leave out each of the values that no release names, but not all together.
    for code, value in enumerate(case.values[:-1] if case.is_open else case.values):
        counted = listed.get(value, {})
        most[:, code] = [
            _most(release, one, counted, least, whole=whole) for one, whole in zip(sets, wholes.tolist(), strict=True)
        ]
    return Missing.informative(events, most, wholes, names)


def _most(release: Itemsets, one: frozenset[Pair], listed: Mapping[frozenset[Pair], int], least: int, whole: int) -> int:
    if one in listed:
        return whole
    above = [] if release.only == "all" else [count for larger, count in listed.items() if one <= larger]
    if not above:
        return min(whole, least - 1)
    # Of closed sets, a set that is left out has the count of the largest one that holds it.
    return min(whole, max(above)) if release.only == "closed" and release.is_exact else whole


def read_cells(case: SeveralCase, number: int, release: FrequencyTable) -> Reading:
    """Read the frequency table cells with a sensitive value."""
    found = Reading()
    for index in range(len(release)):
        cell = release.cell(index)
        names_several = any(release.members(*pair) is not None for pair in cell.items())
        value = cell.pop(case.sensitive, None)
        if names_several:
            found.left_out += 1
            found.unread += 1
            continue
        if not case.knows(list(cell)) or not (value is None or value in case.values):
            found.left_out += 1
            found.unread += value is not None
            continue
        places = case.population.holding(cell.items())
        count = release.count(index)
        if value is None:
            case.compare(places, count.lo, count.hi, f"{name_of(release, number)} {release.place(index)}")
            continue
        most = release.most_among(index, case.people(places))
        # That a printed 0 stands for nobody or for many, and for no number between, is not used where there are many.
        found.unread += most > 0 and release.may_be_many(index)
        if most < case.people(places) or count.lo > 0:  # what is hidden without a limit says nothing
            origin = Origin(number, release.place(index), LINE, list_values(cell.items()))
            found.spoken.append(Spoken(places, case.values.index(value), count.lo, most, origin=origin))
    return found


def read_buckets(case: SeveralCase, number: int, release: Buckets) -> Reading:
    """Read a bucketized release's lines, and values that groups lack."""
    if release.sensitive != case.sensitive or not case.knows(release.people.names):
        return Reading(left_out=release.n_lines, is_about_known=False)
    found = Reading()
    if number == case.grouped:  # everybody's group is known
        column = case.population.columns[case.population.names.index(release.group_name)]
        order = np.argsort(column.codes, kind="stable").astype(np.int32)
        cuts = np.searchsorted(column.codes[order], np.arange(1, len(column.values)))
        members = dict(zip(column.values, np.split(order, cuts), strict=True))
        for group, name in enumerate(release.names):
            found.spoken += _group_lines(case, number, release, group, places=members[name])
        return found
    for group, places in enumerate(_scatter_groups(case, number, release)):
        closed = case.people(places) == int(release.sizes[group])
        found.spoken += _group_lines(case, number, release, group, places=places, closed=closed)
    return found


def _group_lines(
    case: SeveralCase, number: int, release: Buckets, group: int, places: Codes, *, closed: bool = True
) -> Iterator[Spoken]:
    """Yield the lines of one group; ``closed`` excludes other holders."""
    whole = case.people(places)
    lacking = dict.fromkeys(case.values)
    is_grouped = number == case.grouped
    kind = LINE if is_grouped else SCATTERED
    whom = list_values([(release.group_name if is_grouped else "group", release.names[group])])
    for entry in range(int(release.starts[group]), int(release.starts[group + 1])):
        value = release.values[int(release.value[entry])]
        count = int(release.count[entry])
        del lacking[value]
        origin = Origin(number, release.line(entry), kind, whom)
        yield Spoken(places, case.values.index(value), count, count if closed else whole, origin=origin)
    for value in lacking if closed else ():
        yield Spoken(places, case.values.index(value), 0, 0, origin=Origin(number, f"group {release.names[group]}", GROUP, whom))


def _scatter_groups(case: SeveralCase, number: int, release: Buckets) -> Iterator[Codes]:
    printed = Population.of(release.people)
    mine = case.only(printed.names)
    place = printed.places_of(Table(mine.columns, mine.people))
    people = np.bincount(place[place >= 0], mine.people[place >= 0], len(printed)).astype(np.int64)
    if (place < 0).any() or (people != printed.people).any():
        raise InputError("lists other people than those who are known", where=name_of(release, number), remedy=CHECK)
    order = np.argsort(place, kind="stable").astype(np.int32)
    starts = np.searchsorted(place[order], np.arange(len(printed) + 1))
    of_row = printed.places_of(release.people)
    for group in range(len(release)):
        inside = np.unique(of_row[release.group == group])
        yield np.sort(np.concatenate([order[starts[one] : starts[one + 1]] for one in inside.tolist()]))


#: How each kind of release is read.
_READERS: Mapping[str, Callable[[SeveralCase, int, Any], Reading]] = {
    "rules": read_rules,
    "itemsets": read_itemsets,
    "buckets": read_buckets,
    "table": lambda *_: Reading(left_out=1, is_about_known=False),
    "frequencies": read_cells,
}
