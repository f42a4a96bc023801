"""Which columns and items the releases speak of, and which values those can have."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.attacks.joint.boxes import HAS, Allowed, Key
from tacit.model.people import Changed, People, Same
from tacit.model.release import Listed


class Vocabulary:
    """The axes that items of the releases belong to."""

    def __init__(self, releases: Sequence[Listed], people: People) -> None:
        self.values: dict[Key, dict[str, None]] = {}
        told: dict[Key, int] = {}
        tables = [release for release in releases if release.items.pairs is not None and not release.header.coarser]
        self._columns = {column for release in tables for column, _ in release.items.pairs or ()}
        for release in releases:
            column = Key("column", " & ".join(release.header.sa))
            if release in tables and release.header.sa_values:
                told[column] = told.get(column, 0) + 1
                self.values.setdefault(column, {}).update(dict.fromkeys(release.header.sa_values))
        # What one release says about the values of its people holds for all people only where they are the same.
        self.closed = {column for column, times in told.items() if isinstance(people, (Same, Changed)) or times == len(releases)}

    def meaning(self, release: Listed, item: int) -> tuple[Key, Allowed]:
        """What having an item of a release means."""
        name, pairs, header = release.items.names[item], release.items.pairs, release.header
        if pairs is not None and not header.coarser:
            column, value = pairs[item]
            for group in header.groups:
                if (group.column, group.name) == (column, value):
                    return self._named(Key("column", column), frozenset(group.values), group.excluded)
            return self._named(Key("column", column), frozenset([value]))
        column, equals, value = name.partition("=")
        if pairs is None and equals and column in self._columns:
            return self._named(Key("column", column), frozenset([value]))
        return self._named(Key("item", name), frozenset([HAS]))

    def _named(self, key: Key, values: frozenset[str], excluded: bool = False) -> tuple[Key, Allowed]:
        self.values.setdefault(key, {}).update(dict.fromkeys(sorted(values)))
        return key, Allowed(values, excluded)

    def universe(self, key: Key) -> tuple[list[str], bool]:
        """The values of an axis, and whether there may be others."""
        return sorted(self.values[key]), key not in self.closed
