"""Several releases that are attacked together."""

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
        return cls(releases, people, owner, tuple(names) or _name_populations(releases, owner), data=data)

    def name(self, release: int) -> str:
        """Return the name of a release in sentences."""
        return _name_release(self.releases, release)


def _name_release(releases: Sequence[Release], number: int) -> str:
    source = releases[number].source
    return source.name if source else f"release {number + 1}"


def _name_populations(releases: Sequence[Release], owner: Sequence[int]) -> tuple[str, ...]:
    """Return default names of populations: file or number."""
    out = []
    for population in range(max(owner) + 1):
        own = [number for number, one in enumerate(owner) if one == population]
        out.append(_name_release(releases, own[0]) if len(own) == 1 else f"group {population + 1}")
    return tuple(out)


#: Key of the items in a vocabulary; no column has this name.
_ITEMS = ""
_OTHER_SIGNS = re.compile(r"[\W_]+")

Words = Mapping[str, frozenset[str]]


def words_of(release: Release) -> Words:
    """Return the values that a release names, by column.

    Items of a release without columns are listed under an empty name.
    """
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
    """Raise if two releases code a column differently."""
    for (first, one), (second, other) in combinations(zip(names, words, strict=True), 2):
        for column in sorted((one.keys() & other.keys()) - {_ITEMS}):
            if _are_other_codes(one[column], other[column]):
                raise OptionError(
                    f"the values of the column {column} have nothing in common, so it may be coded differently in each",
                    where=f"{first} and {second}",
                    remedy="Code its values alike or rename it in one of them; or declare --people unknown",
                )


def _are_other_codes(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell if two disjoint sets of values seem recoded."""
    if one & other or min(len(one), len(other)) < 2:
        return False
    numbers = [sum(map(_is_number, values)) for values in (one, other)]
    coded = (numbers[0] == len(one) and not numbers[1]) or (numbers[1] == len(other) and not numbers[0])
    return coded or bool({_plain(value) for value in one} & {_plain(value) for value in other})


def look_alikes(words: Sequence[Words]) -> list[tuple[str, str]]:
    """Return names that differ only in spelling across releases.

    They are treated as different names.

    >>> look_alikes([{"": frozenset(["Milk", "tea"])}, {"": frozenset(["milk", "tea"])}])
    [('Milk', 'milk')]
    """
    found: set[tuple[str, str]] = set()
    for first, second in combinations(words, 2):
        shared = first.keys() & second.keys()
        one = _literals(first, shared)
        other = _literals(second, shared)
        plain: dict[str, list[str]] = {}
        for name in sorted((one | other) - (one & other)):
            plain.setdefault(_plain(name), []).append(name)
        for pair in (tuple(names) for key, names in plain.items() if key and len(names) == 2):
            if (pair[0] in one) != (pair[1] in one):
                found.add((pair[0], pair[1]))
    return sorted(found)


def _literals(words: Words, shared: Set[str]) -> set[str]:
    """Return columns, items, and the values of shared columns."""
    values = {f"{column}={value}" for column in shared - {_ITEMS} for value in words[column]}
    return {*values, *words.get(_ITEMS, ()), *words} - {_ITEMS}


def _plain(name: str) -> str:
    """Return a name without capitals, spaces and signs."""
    return _OTHER_SIGNS.sub("", name.casefold())


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).replace("-", "", 1).isdecimal()
