"""Which columns and items the releases speak of, and which values those can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.attacks.joint.boxes import HAS, Allowed, Key
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, People, Same
from tacit.model.release import Itemsets, Release, Rules


class Vocabulary:
    """The axes that items and columns of the releases belong to; ``of`` is the population of each release, by default its own."""

    def __init__(self, releases: Sequence[Release], people: People, of: Sequence[int] | None = None) -> None:
        self.values: dict[Key, dict[str, None]] = {}
        self._spoken: set[str] = set()
        self._by_release = [frozenset(columns_of(release)) for release in releases]
        self.columns = {column for columns in self._by_release for column in columns}
        owner = range(len(releases)) if of is None else of
        told: dict[Key, set[int]] = {}
        for release, population in zip(releases, owner, strict=True):
            for column, named in columns_of(release).items():
                self.values.setdefault(Key("column", column), {}).update(dict.fromkeys(named))
            for column, known in all_values(release).items():
                told.setdefault(Key("column", column), set()).add(population)
                self.values.setdefault(Key("column", column), {}).update(dict.fromkeys(known))
        # What one release says about the values of its people holds for all people only where they are the same.
        same, every = isinstance(people, (Same, Changed)), set(owner)
        may_change = people.columns if isinstance(people, Changed) else ()
        self.closed = {column for column, told_by in told.items() if told_by == every or (same and column.name not in may_change)}

    def shared(self, number: int) -> frozenset[str]:
        """The columns that other releases than this name, as columns or as items ``column=value``; to be asked once all items were looked up."""
        others = [columns for place, columns in enumerate(self._by_release) if place != number]
        return frozenset(self._spoken).union(*others)

    def meaning(self, release: Itemsets | Rules, item: int) -> tuple[Key, Allowed]:
        """What having an item of a release means."""
        name, pairs, header = release.items.names[item], release.items.pairs, release.header
        if pairs is not None and not header.coarser:
            column, value = pairs[item]
            for group in header.groups:
                if (group.column, group.name) == (column, value):
                    return self._named(Key("column", column), frozenset(group.values), group.excluded)
            return self._named(Key("column", column), frozenset([value]))
        column, equals, value = name.partition("=")
        if pairs is None and equals and column in self.columns:
            self._spoken.add(column)
            return self._named(Key("column", column), frozenset([value]))
        return self._named(Key("item", name), frozenset([HAS]))

    def _named(self, key: Key, values: frozenset[str], excluded: bool = False) -> tuple[Key, Allowed]:
        self.values.setdefault(key, {}).update(dict.fromkeys(sorted(values)))
        return key, Allowed(values, excluded)

    def universe(self, key: Key) -> tuple[list[str], bool]:
        """The values of an axis, and whether there may be others."""
        return sorted(self.values[key]), key not in self.closed


def columns_of(release: Release) -> Mapping[str, Sequence[str]]:
    """The columns that a release speaks of, with the values that it names; none of a list of items."""
    if isinstance(release, FrequencyTable):
        named: dict[str, Sequence[str]] = dict(zip(release.columns, release.values, strict=True))
        if (measured := release.measured) is not None:  # its labels may be ranges
            named[measured.column] = [str(number) for number in range(measured.span.lo, measured.span.hi + 1)]
        return named
    if isinstance(release, PartialTable):
        return {column.name: [value for value in column.values if value] for column in release.people.columns}
    if isinstance(release, Buckets):
        shown = {column.name: column.values for column in release.people.columns}
        return shown | {release.sensitive: release.values}
    if release.items.pairs is None or release.header.coarser:
        return {}
    # A list is about its columns even where it is empty.
    roles = (*release.header.qi, " & ".join(release.header.sa)) if isinstance(release, Rules) and release.header.sa else ()
    return dict.fromkeys([*(column for column, _ in release.items.pairs), *release.header.columns, *roles], ())


def all_values(release: Release) -> Mapping[str, Sequence[str]]:
    """The columns of which a release says all values that its people have, with these."""
    if isinstance(release, FrequencyTable):
        return columns_of(release) if release.header.complete else {}
    if isinstance(release, PartialTable):
        blank = release.hidden_by_column()
        return {column: values for column, values in columns_of(release).items() if column not in blank}
    if isinstance(release, Buckets):
        return columns_of(release)
    is_table = release.items.pairs is not None and not release.header.coarser
    return {" & ".join(release.header.sa): release.header.sa_values} if is_table and release.header.sa_values else {}
