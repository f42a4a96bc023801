"""Whether several releases speak of the same things in the same words: columns coded differently, names that are written differently.

Several releases under attack together, and how their people hang together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from tacit.errors import OptionError
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Fact
from tacit.model.people import People
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.table import Transactions

if TYPE_CHECKING:
    from tacit.known.releases import SeveralCase


@dataclass(frozen=True, slots=True, eq=False)
class JointCase:
    """Releases of lines with counts, with what is declared about their people.

    ``population`` says for each release which group of people it is about: each its own, or those of one folder the same. ``names`` are what
    these groups are called: the folder, or the file. ``data`` are the owner's rows where all releases are about the same people: a world that
    fits every line. ``facts`` are known besides, about values of the column ``sensitive``. ``known`` holds the same releases with everybody's
    quasi-identifiers, if these are known and all releases are about the same people.
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
        """The case of these releases."""
        owner = tuple(range(len(releases)) if population is None else population)
        return cls(releases, people, owner, tuple(names) or _names(releases, owner), data)

    @property
    def grouped(self) -> tuple[tuple[int, ...], ...]:
        """The releases of each population."""
        every = range(max(self.population) + 1)
        return tuple(tuple(place for place, one in enumerate(self.population) if one == number) for number in every)

    def name(self, release: int) -> str:
        """What a release is called in sentences: its file, or its number."""
        source = self.releases[release].source
        return source.name if source else f"release {release + 1}"


def _names(releases: Sequence[Release], owner: Sequence[int]) -> tuple[str, ...]:
    """What the populations are called where nobody says: their only file, or their number."""
    out = []
    for number in range(max(owner) + 1):
        own = [(place, release) for place, (release, one) in enumerate(zip(releases, owner, strict=True)) if one == number]
        place, release = own[0]
        only = release.source.name if release.source else f"release {place + 1}"
        out.append(only if len(own) == 1 else f"group {number + 1}")
    return tuple(out)


#: Names of items stand beside the columns under this one, which no column has.
_ITEMS = ""
_OTHER_SIGNS = re.compile(r"[\W_]+")

Words = Mapping[str, frozenset[str]]


def words_of(release: Release) -> Words:
    """The values that a release names, by column; its items, where it has no columns, under an empty name."""
    if isinstance(release, FrequencyTable):
        return {column: frozenset(values) for column, values in zip(release.columns, release.values, strict=True)}
    if not isinstance(release, (Itemsets, Rules)):
        return {}
    parts = [release.sets] if isinstance(release, Itemsets) else [release.antecedents, release.consequents]
    found: dict[str, set[str]] = {}
    for item in sorted({int(item) for part in parts for item in part.members.tolist()}):
        pairs = None if release.header.coarser else release.items.pairs
        column, value = pairs[item] if pairs is not None else (_ITEMS, release.items.names[item])
        found.setdefault(column, set()).add(value)
    return {column: frozenset(values) for column, values in found.items()}


def refuse_other_codes(names: Sequence[str], words: Sequence[Words]) -> None:
    """Raise where two releases have a column of one name whose values cannot be meant alike."""
    for (first, one), (second, other) in combinations(zip(names, words, strict=True), 2):
        for column in sorted((one.keys() & other.keys()) - {_ITEMS}):
            if _are_other_codes(one[column], other[column]):
                what = (
                    f"the column {column} has no value in common in them, as if it were coded differently or about something else"
                )
                remedy = "Code its values alike or rename it in one of them; or declare --people unknown"
                raise OptionError(what, where=f"{first} and {second}", remedy=remedy)


def _are_other_codes(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether values have nothing in common, although they are the same ones written otherwise, or only one of the two are numbers."""
    if one & other or min(len(one), len(other)) < 2:
        return False
    numbers = [sum(map(_is_number, values)) for values in (one, other)]
    coded = (numbers[0] == len(one) and not numbers[1]) or (numbers[1] == len(other) and not numbers[0])
    return coded or bool({_plain(value) for value in one} & {_plain(value) for value in other})


def look_alikes(words: Sequence[Words]) -> list[tuple[str, str]]:
    """Names of columns, items or values that only differ in how they are written, in different releases; they are taken as different.

    >>> look_alikes([{"": frozenset(["Milk", "tea"])}, {"": frozenset(["milk", "tea"])}])
    [('Milk', 'milk')]
    """
    found: set[tuple[str, str]] = set()
    for first, second in combinations(words, 2):
        shared = first.keys() & second.keys()
        one, other = _literals(first, shared), _literals(second, shared)
        plain: dict[str, list[str]] = {}
        for name in sorted((one | other) - (one & other)):
            plain.setdefault(_plain(name), []).append(name)
        for pair in (tuple(names) for key, names in plain.items() if key and len(names) == 2):
            if (pair[0] in one) != (pair[1] in one):
                found.add((pair[0], pair[1]))
    return sorted(found)


def _literals(words: Words, shared: Set[str]) -> set[str]:
    """Columns and items; values with their columns where both releases have these."""
    values = {f"{column}={value}" for column in shared - {_ITEMS} for value in words[column]}
    return {*values, *words.get(_ITEMS, ()), *words} - {_ITEMS}


def _plain(name: str) -> str:
    """A name without what only looks different: capitals, spaces and signs."""
    return _OTHER_SIGNS.sub("", name.casefold())


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).replace("-", "", 1).isdecimal()
