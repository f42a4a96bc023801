"""Several releases about the same people, whose quasi-identifiers are known: all that is printed and known, as one set of statements.

The statements of rules, trees, itemsets, tables and bucketized releases are over the same combinations of quasi-identifiers, so they are
simply put together. Estimates (R02) and hard bounds (R03) of what is put together say at least as much as those of each release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.attacks.sensitive.case import CHECK, FACT, LINE, MISSING
from tacit.attacks.sensitive.known import DOMAIN, Known, Origin, Reading, Spoken, name_of
from tacit.attacks.sensitive.known_buckets import read_buckets
from tacit.attacks.sensitive.known_cells import read_cells
from tacit.attacks.sensitive.known_itemsets import read_itemsets
from tacit.attacks.sensitive.known_rules import read_rules
from tacit.attacks.sensitive.missing import Missing
from tacit.errors import Contradiction, InputError, numbered
from tacit.inference.statements import Statements
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.population import Population
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.sets import Sets

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
                found.spoken.append(Spoken(known.everybody, self.values.index(value), 0, 0, origin))
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
            said.say(event, self.values.index(fact.value), lo, hi, origin)

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
