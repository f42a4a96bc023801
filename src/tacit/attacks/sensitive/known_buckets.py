"""What a bucketized release says about the sensitive values of known people, read beside other releases.

Where everybody's group is known, each line counts the people of a group with a value. Where it is not, since more is known about people than
the release prints or two releases group them differently, a group is somewhere among the people with the quasi-identifiers of its members:
at least so many of these have the value, and no more where nobody else has such quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.attacks.sensitive.case import CHECK, LINE
from tacit.attacks.sensitive.known import GROUP, SCATTERED, Known, Origin, Spoken, about, name_of
from tacit.errors import InputError
from tacit.model.buckets import Buckets
from tacit.model.population import Places, Population
from tacit.model.table import Table


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
    known: Known, number: int, release: Buckets, group: int, places: Places, column: str | None, *, closed: bool = True
) -> Iterator[Spoken]:
    """What is printed about one group; ``closed``: nobody else has these combinations."""
    whole, lacking = known.people(places), dict.fromkeys(known.values)
    kind = LINE if column is not None else SCATTERED
    told = about([(column or "group", release.names[group])])
    for entry in range(int(release.starts[group]), int(release.starts[group + 1])):
        value, count = release.values[int(release.value[entry])], int(release.count[entry])
        del lacking[value]
        origin = Origin(number, release.line(entry), kind, told)
        yield Spoken(places, known.values.index(value), count, count if closed else whole, origin)
    for value in lacking if closed else ():
        yield Spoken(places, known.values.index(value), 0, 0, Origin(number, f"group {release.names[group]}", GROUP, told))


def _scattered(known: Known, number: int, release: Buckets) -> Iterator[Places]:
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
