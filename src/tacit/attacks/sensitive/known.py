"""What statements about known people are made of: who is known, what is said about them, and where that is published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tacit.attacks.sensitive.case import CHECK, Pair
from tacit.attacks.sensitive.missing import Missing
from tacit.errors import InputError
from tacit.model.population import Places, Population
from tacit.model.release import Listed, Release

#: What a statement may be: a line; one about a group whose members are not told apart from others; that a group lacks a value; what is
#: printed about all people; which values there are; knowledge.
SCATTERED, GROUP, DOMAIN = "scattered", "group", "values"

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

    places: Places
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
    def everybody(self) -> Places:
        """All combinations."""
        return np.arange(len(self.population), dtype=np.int32)

    def only(self, columns: Sequence[str]) -> Population:
        """The same combinations by some of their columns; equal ones are not merged."""
        kept = tuple(column for column in self.population.columns if column.name in columns)
        return Population(kept, self.population.people)

    def people(self, places: Places) -> int:
        """How many people have one of these combinations."""
        return int(self.population.people[places].sum())

    def knows(self, columns: Sequence[str]) -> bool:
        """Whether everybody's values of these columns are known."""
        return set(columns) <= set(self.population.names)

    def compare(self, places: Places, lo: int, hi: int, where: str) -> None:
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
