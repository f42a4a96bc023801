"""Several releases that are attacked together, and the groups found in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from tacit.model.errors import OptionError
from tacit.model.event import ItemEvent
from tacit.model.knowledge import Fact
from tacit.model.people import People
from tacit.model.release import Release
from tacit.model.table import Transactions

if TYPE_CHECKING:
    from tacit.joint.cube import Step
    from tacit.known.releases import SeveralCase


@dataclass(frozen=True, slots=True, eq=False)
class JointCase:
    """Releases with counts, and the relation between their populations.

    ``population`` numbers the population of each release: its own, or one for all files of a folder. ``names`` are the names of the
    populations: the folder, or the file. ``data`` are the owner's rows, given only if all releases are about the same people: a world that
    fits every line. ``facts`` are background knowledge about values of the column ``sensitive``. ``known`` holds the same releases
    with everybody's quasi-identifiers, if these are known and the populations are the same.
    """

    releases: tuple[Release, ...]
    people: People
    population: tuple[int, ...]
    names: tuple[str, ...]
    data: Transactions | None = None
    facts: tuple[Fact, ...] = ()
    sensitive: str = ""
    known: SeveralCase | None = None

    @classmethod
    def of(
        cls,
        releases: tuple[Release, ...],
        people: People,
        population: Sequence[int] | None = None,
        names: Sequence[str] = (),
        data: Transactions | None = None,
    ) -> JointCase:
        """Return the case of these releases."""
        owner = tuple(range(len(releases)) if population is None else population)
        case = cls(releases, people, owner, tuple(names), data=data)
        if names:
            return case
        files = [[case.name(number) for number, one in enumerate(owner) if one == place] for place in range(max(owner) + 1)]
        named = tuple(own[0] if len(own) == 1 else f"group {place + 1}" for place, own in enumerate(files))
        return replace(case, names=named)

    def name(self, release: int) -> str:
        """Return the name of a release in sentences."""
        source = self.releases[release].source
        return source.name if source else f"release {release + 1}"


#: Values that a release names, by column; items of a release without columns are listed under an empty name.
Words = Mapping[str, frozenset[str]]
_ITEMS = ""
_OTHER_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Small group; ``together`` if several releases are needed."""

    event: ItemEvent
    lo: int
    hi: int
    together: bool
    proof: Callable[[], tuple[Sequence[Step], Sequence[Step]]]

    @property
    def size(self) -> int:
        """Return how many items describe the group."""
        return len(self.event.present) + len(self.event.absent) + len(self.event.changes)


def refuse_other_codes(names: Sequence[str], words: Sequence[Words]) -> None:
    """Raise if two releases code a column differently."""
    for (first, one), (second, other) in combinations(zip(names, words, strict=True), 2):
        for column in sorted((one.keys() & other.keys()) - {_ITEMS}):
            if _are_recoded(one[column], other[column]):
                what = f"the values of the column {column} have nothing in common, so it may be coded differently in each"
                remedy = "Code its values alike or rename it in one of them; or declare --people unknown"
                raise OptionError(what, where=f"{first} and {second}", remedy=remedy)


def _are_recoded(one: frozenset[str], other: frozenset[str]) -> bool:
    if one & other or min(len(one), len(other)) < 2:
        return False
    plain = [[value.replace(".", "", 1).replace("-", "", 1) for value in values] for values in (one, other)]
    numbers = [sum(value.isdecimal() for value in values) for values in plain]
    coded = (numbers[0] == len(one) and not numbers[1]) or (numbers[1] == len(other) and not numbers[0])
    return coded or not {_plain(value) for value in one}.isdisjoint(_plain(value) for value in other)


def look_alikes(words: Sequence[Words]) -> list[tuple[str, str]]:
    """Return pairs of names that differ only in spelling, treated as different."""
    found: set[tuple[str, str]] = set()
    for first, second in combinations(words, 2):
        shared = first.keys() & second.keys()
        one = _literals(first, shared)
        plain: dict[str, list[str]] = {}
        for name in sorted(one ^ _literals(second, shared)):
            plain.setdefault(_plain(name), []).append(name)
        pairs = [(names[0], names[1]) for key, names in plain.items() if key and len(names) == 2]
        found |= {pair for pair in pairs if (pair[0] in one) != (pair[1] in one)}
    return sorted(found)


def _literals(words: Words, shared: Set[str]) -> set[str]:
    values = {f"{column}={value}" for column in shared - {_ITEMS} for value in words[column]}
    return {*values, *words.get(_ITEMS, ()), *words} - {_ITEMS}


def _plain(name: str) -> str:
    return _OTHER_SIGNS.sub("", name.casefold())
