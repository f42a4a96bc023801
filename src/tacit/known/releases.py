"""Several releases about the same people, whose quasi-identifiers are known: all that is printed and known, as one set of statements.

The statements of rules, trees, itemsets, tables and bucketized releases are over the same combinations of quasi-identifiers, so they are
simply put together. Estimates (R02) and hard bounds (R03) of what is put together say at least as much as those of each release.

What statements about known people are made of: who is known, what is said about them, and where that is published.

What a bucketized release says about the sensitive values of known people, read beside other releases.

Where everybody's group is known, each line counts the people of a group with a value. Where it is not, since more is known about people than
the release prints or two releases group them differently, a group is somewhere among the people with the quasi-identifiers of its members:
at least so many of these have the value, and no more where nobody else has such quasi-identifiers.

What the cells of frequency tables say about the sensitive values of known people, read beside other releases.

A cell that fixes the sensitive value counts the people with its other values who have it, hidden and rounded ones within bounds. One that
does not is compared with the known people.

What itemsets whose items are values of columns say about the sensitive values of known people, read beside other releases.

An itemset with one sensitive value counts the people with its quasi-identifiers and that value. One without is compared with the known people.
A complete list says that whatever it leaves out does not reach its threshold; only closed sets of known values are looked at, since
others say the same about the same people.

What rules and leaves of trees say about the sensitive values of known people, read beside other releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError, numbered
from tacit.known.case import CHECK, DISTRIBUTION, FACT, LINE, MISSING, Missing, Pair, RuleCase, rows_of
from tacit.mining.itemsets import count_itemsets, mine_itemsets
from tacit.model.arrays import Codes
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.population import Population
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.model.sets import Sets
from tacit.model.table import Table
from tacit.solve.statements import Statements

#: What a statement may be: a line; one about a group whose members are not told apart from others; that a group lacks a value; what is
#: printed about all people; which values there are; knowledge.
SCATTERED = "scattered"
GROUP = "group"
DOMAIN = "values"

#: Columns with the values that whoever is meant has one of.
About = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a statement is published: release (-1: known from elsewhere), line or name there, its kind, and whom it speaks of."""

    release: int
    place: int | str
    what: str
    about: About = ()


class Spoken(NamedTuple):
    """Between ``lo`` and ``hi`` people of these combinations have the value."""

    places: Codes
    value: int
    lo: int
    hi: int
    origin: Origin


@dataclass(slots=True, eq=False)
class Reading:
    """What a release says: its lines, what it says by leaving something out, and how many lines were passed over.

    ``columns`` are those in which a complete list was looked for. ``unread`` counts what it says besides and what is not used.
    """

    spoken: list[Spoken] = field(default_factory=list)
    missing: Missing | None = None
    left_out: int = 0
    columns: tuple[str, ...] = ()
    unread: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Whom releases are about: everybody's combination, the sensitive column and its values.

    ``is_open``: the last value stands for all that no release names, since none lists all values.
    """

    population: Population
    sensitive: str
    values: tuple[str, ...]
    is_open: bool = False

    @property
    def everybody(self) -> Codes:
        """All combinations."""
        return np.arange(len(self.population), dtype=np.int32)

    def only(self, columns: Sequence[str]) -> Population:
        """The same combinations by some of their columns; equal ones are not merged."""
        kept = tuple(column for column in self.population.columns if column.name in columns)
        return Population(kept, self.population.people)

    def people(self, places: Codes) -> int:
        """How many people have one of these combinations."""
        return int(self.population.people[places].sum())

    def knows(self, columns: Sequence[str]) -> bool:
        """Whether everybody's values of these columns are known."""
        return set(columns) <= set(self.population.names)

    def compare(self, places: Codes, lo: int, hi: int, where: str) -> None:
        """Refuse a line about quasi-identifiers alone that is not true of the known people."""
        if not lo <= self.people(places) <= hi:
            raise InputError("another number of known people has these values", where=where, remedy=CHECK)


def name_of(release: Release, number: int) -> str:
    """What a release is called in sentences: its file, or its number."""
    return release.source.name if release.source else f"release {number + 1}"


def about(pairs: Iterable[Pair]) -> About:
    """Whom values of columns speak of."""
    return tuple((column, (value,)) for column, value in pairs)


def pair_of(release: Listed, item: int) -> Pair:
    """An item as a column and a value; of a file that knows no columns, ``column=value`` is read so."""
    if release.items.pairs is not None:
        return release.items.pairs[item]
    column, _, value = release.items.names[item].partition("=")
    return column, value


def read_buckets(known: Known, number: int, release: Buckets, group_column: str | None) -> Iterator[Spoken]:
    """The lines of the ST, and the values that a group lacks; ``group_column`` holds everybody's group, where it is known."""
    if group_column is not None:
        column = known.population.columns[known.population.names.index(group_column)]
        order = np.argsort(column.codes, kind="stable").astype(np.int32)
        cuts = np.searchsorted(column.codes[order], np.arange(1, len(column.values)))
        members = dict(zip(column.values, np.split(order, cuts), strict=True))
        for group, name in enumerate(release.names):
            yield from _group(known, number, release, group, members[name], group_column)
        return
    sizes = release.sizes.tolist()
    for group, places in enumerate(_scattered(known, number, release)):
        yield from _group(known, number, release, group, places, None, closed=known.people(places) == sizes[group])


def _group(
    known: Known, number: int, release: Buckets, group: int, places: Codes, column: str | None, *, closed: bool = True
) -> Iterator[Spoken]:
    """What is printed about one group; ``closed``: nobody else has these combinations."""
    whole = known.people(places)
    lacking = dict.fromkeys(known.values)
    kind = LINE if column is not None else SCATTERED
    told = about([(column or "group", release.names[group])])
    for entry in range(int(release.starts[group]), int(release.starts[group + 1])):
        value = release.values[int(release.value[entry])]
        count = int(release.count[entry])
        del lacking[value]
        origin = Origin(number, release.line(entry), kind, told)
        yield Spoken(places, known.values.index(value), count, count if closed else whole, origin=origin)
    for value in lacking if closed else ():
        yield Spoken(places, known.values.index(value), 0, 0, origin=Origin(number, f"group {release.names[group]}", GROUP, told))


def _scattered(known: Known, number: int, release: Buckets) -> Iterator[Codes]:
    """The known combinations with the quasi-identifiers of the members of each group."""
    printed = Population.of(release.people)
    mine = known.only(printed.names)
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


def read_cells(known: Known, number: int, release: FrequencyTable) -> Reading:
    """The cells with a sensitive value."""
    found = Reading()
    for index in range(len(release)):
        cell = release.cell(index)
        value = cell.pop(known.sensitive, None)
        if not known.knows(list(cell)) or not (value is None or value in known.values):
            found.left_out += 1
            found.unread += value is not None
            continue
        places = known.population.holding(cell.items())
        count = release.count(index)
        if value is None:
            known.compare(places, count.lo, count.hi, f"{name_of(release, number)} {release.place(index)}")
            continue
        most = min(count.hi, known.people(places))
        # That a printed 0 stands for nobody or for many, and for no number between, is not used.
        found.unread += most > 0 and _may_be_large(release, index)
        if most < known.people(places) or count.lo > 0:  # what is hidden without a limit says nothing
            origin = Origin(number, release.place(index), LINE, about(cell.items()))
            found.spoken.append(Spoken(places, known.values.index(value), count.lo, most, origin=origin))
    return found


def _may_be_large(release: FrequencyTable, index: int) -> bool:
    """Whether a cell prints 0 for nobody or for as many people as are not hidden."""
    least = release.printing.hidden_below
    if least is None or least < 2 or not release.printing.zeros_shown or bool(release.is_hidden[index]):
        return False
    return int(release.lo[index]) == 0 and int(release.hi[index]) >= least


#: Closed sets of known values that a complete list is compared with, at most, and comparisons with sets that may hold them.
MOST_CLOSED = 50_000
MOST_COMPARED = 5_000_000

#: By sensitive value: the listed sets that hold it, without it, with the most people that they can have.
Counted = Mapping[str, dict[frozenset[Pair], int]]


def read_itemsets(known: Known, number: int, release: Itemsets) -> Reading:
    """The lines with one sensitive value, and what a complete list leaves out."""
    if release.header.coarser:
        return Reading(left_out=len(release), unread=len(release))
    found = Reading()
    listed: dict[str, dict[frozenset[Pair], int]] = {}
    for index in range(len(release)):
        pairs = [pair_of(release, item) for item in release.sets[index].tolist()]
        own = [value for column, value in pairs if column == known.sensitive]
        rest = tuple(pair for pair in pairs if pair[0] != known.sensitive)
        if len(own) > 1 or not set(own) <= set(known.values) or not known.knows([column for column, _ in rest]):
            found.left_out += 1
            found.unread += bool(own)
            continue
        places = known.population.holding(rest)
        count = release.count(index)
        if not own:
            known.compare(places, count.lo, count.hi, f"{name_of(release, number)} line {release.line(index)}")
            continue
        listed.setdefault(own[0], {})[frozenset(rest)] = count.hi
        origin = Origin(number, release.line(index), LINE, about(rest))
        found.spoken.append(Spoken(places, known.values.index(own[0]), count.lo, count.hi, origin=origin))
    if listed and release.header.complete and release.min_support is not None and release.items.pairs is not None:
        named = (*(column for column, _ in release.items.pairs), *release.header.columns)
        used = {column: None for column in named if column != known.sensitive}
        inner = known.only(release.header.qi or tuple(used))
        found.missing = _missing(known, inner, release, listed)
        found.columns = inner.names
        found.left_out += found.missing is None
        found.unread += found.missing is None
    # That closed sets of rounded counts differ, and that others are equal to their closure, is not used.
    found.unread += release.only == "closed" and not release.is_exact
    return found


def _missing(known: Known, inner: Population, release: Itemsets, listed: Counted) -> Missing | None:
    """What follows from sets that are not listed; None where there are too many to look at."""
    least = max(1, release.min_support or 1)
    rows = rows_of(inner)
    sets: list[frozenset[Pair]] = [frozenset()]
    if inner.columns:
        if count_itemsets(rows, min_support=least, only=["closed"])["closed"] > MOST_CLOSED:
            return None
        mined = mine_itemsets(rows, min_support=least, only="closed")
        pairs = mined.items.pairs or ()
        sets += [frozenset(pairs[item] for item in members.tolist()) for members in mined.sets]
    if release.only != "all" and len(sets) * sum(map(len, listed.values())) > MOST_COMPARED:
        return None
    events = [known.population.holding(sorted(one)) for one in sets]
    wholes = np.array([known.people(places) for places in events], np.int64)
    most = np.array(
        [
            [
                whole if known.is_open and value == known.values[-1] else _most(release, one, listed.get(value, {}), least, whole)
                for value in known.values
            ]
            for one, whole in zip(sets, wholes.tolist(), strict=True)
        ],
        np.int64,
    )
    useful = np.flatnonzero((most < wholes[:, None]).any(axis=1)).tolist()
    chosen = [events[place] for place in useful]
    ends = np.cumsum([0, *map(len, chosen)], dtype=np.int64)
    members = np.concatenate(chosen) if chosen else np.empty(0, np.int32)
    return Missing(Sets(ends, members), most[useful], wholes[useful])


def _most(release: Itemsets, one: frozenset[Pair], listed: Mapping[frozenset[Pair], int], least: int, whole: int) -> int:
    """The most people of a closed set who can have a value, as the list has it; all of them where a line says it, or none does."""
    if one in listed:
        return whole
    if release.only == "all":
        return min(whole, least - 1)
    above = [count for larger, count in listed.items() if one <= larger]
    if not above:
        return min(whole, least - 1)
    # Of closed sets, a set that is left out has the count of the largest one that holds it.
    return min(whole, max(above)) if release.only == "closed" and release.is_exact else whole


def read_rules(known: Known, number: int, release: Rules) -> Reading:
    """The lines of rules, the distribution where it is printed, and the rules that a complete list leaves out."""
    lines = [index for index in range(len(release)) if _is_about(known, release, index)]
    found = Reading(left_out=len(release) - len(lines), unread=_not_used(known, release, lines))
    case = _case(known, release, lines)
    for line, (lo, hi) in enumerate(zip(*(bound.tolist() for bound in case.counts), strict=True)):
        origin = Origin(number, case.release.line(line), LINE, about(case.antecedent(line)))
        found.spoken.append(Spoken(case.holders[line], case.codes[line], lo, hi, origin=origin))
    for value, count in zip(release.header.sa_values, release.header.sa_counts, strict=False):
        origin = Origin(number, f"sa_distribution {value}", DISTRIBUTION)
        found.spoken.append(Spoken(known.everybody, known.values.index(value), count, count, origin=origin))
    if known.is_open:
        case.missing.most[:, -1] = case.missing.wholes  # a list may leave out each of many values, and yet not all of them
    found.missing = case.missing if len(case.missing.events) else None
    found.columns = case.population.names
    return found


def _case(known: Known, release: Rules, lines: list[int]) -> RuleCase:
    """Some lines of a release beside the columns that its rules were looked for in."""
    used = (pair_of(release, item)[0] for item in release.antecedents.members.tolist())
    columns = release.header.qi or tuple(dict.fromkeys(used))
    head = replace(release.header, sa=(known.sensitive,), sa_values=known.values, sa_counts=())
    items = replace(release.items, pairs=tuple(pair_of(release, item) for item in range(len(release.items))))
    chosen = replace(
        release.take(np.array(lines, np.int64), head),
        items=items,
        lines=np.array([release.line(index) for index in lines], np.int64),
        source=release.source,
    )
    return RuleCase(chosen, known.only(columns))


def _not_used(known: Known, release: Rules, lines: list[int]) -> int:
    """How many of the other lines name the sensitive column all the same."""
    naming = {item for item in range(len(release.items)) if pair_of(release, item)[0] == known.sensitive}
    rest = sorted(set(range(len(release))) - set(lines))
    return sum(
        not naming.isdisjoint([*release.antecedents[index].tolist(), *release.consequents[index].tolist()]) for index in rest
    )


def _is_about(known: Known, release: Rules, index: int) -> bool:
    """Whether a line is about known columns and one sensitive value."""
    then = [pair_of(release, item) for item in release.consequents[index].tolist()]
    if release.header.coarser or len(then) != 1 or then[0][0] != known.sensitive or then[0][1] not in known.values:
        return False
    return known.knows([pair_of(release, item)[0] for item in release.antecedents[index].tolist()])


#: Stands for the number of values that no release names.
MANY = 1 << 20


@dataclass(frozen=True, eq=False)
class SeveralCase:
    """Releases beside everybody's quasi-identifiers and what else is known about these people.

    ``grouped`` is the number of the bucketized release whose groups are a column of the population, -1 where there is none.
    ``listed``: that release is also the only one to tell who everybody is. ``first`` is the number of the first
    release among all that are audited. ``is_open``: no release lists all values, and the last one stands for those that none names.
    ``remembered`` keeps what several attacks ask for.
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
    remembered: dict[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> Known:
        """Whom the releases are about."""
        return Known(self.population, self.sensitive, self.values, self.is_open)

    def name(self, release: int) -> str:
        """What a release is called in sentences."""
        return name_of(self.releases[release], self.first + release)

    def alone(self, release: int) -> SeveralCase:
        """One of the releases, with the same people and the same knowledge; the others keep their numbers and say nothing."""
        read = tuple(one if number == release else Reading() for number, one in enumerate(self.readings))
        single = replace(self, remembered={})
        single.__dict__["readings"] = read
        return single

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """What each release says."""
        return tuple(self._read(number, release) for number, release in enumerate(self.releases))

    def _read(self, number: int, release: Release) -> Reading:
        known = self.known
        if release.n is not None and release.n != self.population.n:
            what = f"is about {release.n:,} people, and {self.population.n:,} are known"
            raise InputError(what, where=self.name(number), remedy=CHECK)
        if isinstance(release, Rules):
            found = read_rules(known, number, release)
        elif isinstance(release, Itemsets):
            found = read_itemsets(known, number, release)
        elif isinstance(release, Buckets):
            column = release.group_name if number == self.grouped else None
            if release.sensitive != self.sensitive or not known.knows(release.people.names):
                return Reading(left_out=len(release.value))
            found = Reading(list(read_buckets(known, number, release, column)))
        elif isinstance(release, FrequencyTable):
            found = read_cells(known, number, release)
        else:
            return Reading(left_out=1)
        told = self._named_values(release)
        for value in self.values if told else ():
            if value not in told:
                origin = Origin(number, "sa_values", DOMAIN)
                found.spoken.append(Spoken(known.everybody, self.values.index(value), 0, 0, origin=origin))
        return found

    def _named_values(self, release: Release) -> tuple[str, ...]:
        """The only values that people can have, as a release says."""
        if isinstance(release, FrequencyTable):
            named = self.sensitive in release.columns and release.header.complete
            return release.values[release.columns.index(self.sensitive)] if named else ()
        return release.header.sa_values if self.sensitive == " & ".join(release.header.sa) else ()

    def values_left(self, impossible: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """How many values are left to each combination; very many where one is left that no release names."""
        left = (~impossible).sum(axis=1).astype(np.int64)
        return np.asarray(left + np.where(impossible[:, -1], 0, MANY) if self.is_open else left)

    @property
    def speaking(self) -> tuple[int, ...]:
        """The releases that say something about the sensitive values of these people."""
        return tuple(number for number, one in enumerate(self.readings) if one.spoken or one.missing is not None)

    @property
    def knowing(self) -> tuple[int, ...]:
        """The releases that say something by themselves, to somebody who has no other one."""
        return tuple(number for number in self.speaking if not self.listed or number == self.grouped)

    @property
    def n_lines(self) -> int:
        """How many published lines there are."""
        return sum(spoken.origin.what == LINE for one in self.readings for spoken in one.spoken)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The columns and values that are published, but for those of single people."""
        found = (spoken.origin.about for one in self.readings for spoken in one.spoken)
        return tuple(dict.fromkeys((column, values[0]) for about in found for column, values in about))

    @property
    def left_out(self) -> int:
        """How many lines are about something else than known columns and one sensitive value."""
        return sum(one.left_out for one in self.readings)

    @property
    def unread(self) -> int:
        """How much the releases say besides, in ways that are not used."""
        return sum(one.unread for one in self.readings)

    @cached_property
    def sa_counts(self) -> tuple[int, ...]:
        """The number of people with each value, where it is published."""
        for number, release in enumerate(self.releases):
            if isinstance(release, Buckets) and number in self.speaking:
                totals = np.bincount(release.value, release.count, len(release.values)).astype(np.int64).tolist()
                return tuple(dict(zip(release.values, totals, strict=True)).get(value, 0) for value in self.values)
            if (head := release.header).sa_counts and number in self.speaking:
                return tuple(dict(zip(head.sa_values, head.sa_counts, strict=True)).get(value, 0) for value in self.values)
        return ()

    def published(self) -> Statements:
        """What all lines say, with the background facts."""
        said = Statements(self.population, len(self.values))
        for one in self.readings:
            for spoken in one.spoken:
                said.say(*spoken)
        for fact in self.facts:
            self._say(said, fact)
        return said

    def _say(self, said: Statements, fact: Fact) -> None:
        """Add a background fact; what it says about nobody is left out, unless it says that there is somebody."""
        if set(fact.allowed) - set(self.population.names):
            remedy = f"The known columns are: {', '.join(self.population.names)}"
            raise InputError("names a column that is not known of everybody", where=fact.place, remedy=remedy)
        if fact.value not in self.values:
            if fact.excludes:  # nobody has it anyway
                return
            raise InputError("its value is not one of the sensitive column's", where=fact.place, remedy="Correct or drop it")
        event = self.population.among(fact.allowed)
        lo, hi = fact.bounds(int(self.population.people[event].sum()))
        if len(event) or lo > 0:
            origin = Origin(-1, fact.place, FACT, tuple(sorted(fact.allowed.items())))
            said.say(event, self.values.index(fact.value), lo, hi, origin=origin)

    @cached_property
    def missing(self) -> Missing:
        """What all complete lists say by what they leave out."""
        found = [one.missing for one in self.readings if one.missing is not None]
        if not found:
            return Missing(Sets.from_lists([]), np.empty((0, len(self.values)), np.int64), np.empty(0, np.int64))
        starts = np.cumsum([0, *(len(one.events.members) for one in found)])
        ends = [one.events.offsets[1:] + start for one, start in zip(found, starts[:-1].tolist(), strict=True)]
        members = np.concatenate([one.events.members for one in found])
        events = Sets(np.concatenate([np.zeros(1, np.int64), *ends]), members)
        return Missing(events, np.concatenate([one.most for one in found]), np.concatenate([one.wholes for one in found]))

    @cached_property
    def _owner_of_missing(self) -> npt.NDArray[np.int64]:
        """The release that leaves out each of the missing ones."""
        sizes = [0 if one.missing is None else len(one.missing.events) for one in self.readings]
        return np.repeat(np.arange(len(sizes)), sizes)

    def columns_of(self, release: int) -> tuple[str, ...]:
        """The columns in which a complete list was looked for."""
        return self.readings[release].columns

    def release_of(self, origin: object) -> int:
        """The release that a statement comes from; -1 for what is known from elsewhere."""
        if isinstance(origin, Origin):
            return origin.release
        assert isinstance(origin, tuple)
        assert origin[0] == MISSING
        return int(self._owner_of_missing[int(origin[1])])

    def refuse(self, origins: Sequence[object]) -> NoReturn:
        """Raise because these statements cannot all be true of the known people."""
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
        places += [*facts[:8], *([f"{len(facts) - 8} more facts"] if len(facts) > 8 else [])]
        left_out = any(isinstance(one, tuple) for one in origins)
        beside = ", with what complete lists leave out," if left_out else ""
        raise Contradiction(
            f"what is printed there{beside} cannot all be true of the known people",
            where="; ".join(places),
            remedy="Check whether the releases are about the same people (--people), how numbers were rounded (--rounding), and what is known",
            lines=sorted(next(iter(lines.values()))) if len(lines) == 1 else (),
        )
