"""Bucketized releases: two tables, joined by groups only."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, Literal

import numpy as np

from tacit.model.arrays import Codes, Ints
from tacit.model.release import Header, Published, Source
from tacit.model.table import Column, Table, stable_order


def joined_source(sources: Sequence[Source]) -> Source:
    """Return both files of a bucketized release as one."""
    digest = hashlib.sha256("".join(f"{one.sha256}\n" for one in sources).encode())
    return Source(" and ".join(one.name for one in sources), digest.hexdigest(), sources[0].header, sources[0].options)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Buckets(Published):
    """Groups of people (the QIT) and the sensitive values in each (the ST).

    ``people`` holds the quasi-identifiers, a row for each person in the order of the file (the release of a table as it is may have rows with
    weights, for people who are alike), and ``group`` the number of each row's group,
    below ``len(names)``; ``names`` are what the files call the groups. The entries ``starts[g]:starts[g + 1]`` of ``value`` and ``count``
    hold a value of ``values`` in group g and its number of people; a value has one entry in a group at most, counts are at least 1, and they
    add up to the people of the group. ``lines`` are the lines of the ST file that the entries stand in, ``sources`` the two files.

    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("M", "flu")])
    >>> buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1], np.int32))
    >>> len(buckets), buckets.n, buckets.sizes.tolist(), buckets.contents(0)
    (2, 3, [2, 1], {'cold': 1, 'flu': 1})
    """

    people: Table
    group: Codes
    names: tuple[str, ...]
    sensitive: str
    values: tuple[str, ...]
    starts: Ints
    value: Codes
    count: Ints
    header: Header
    lines: Ints | None = None
    sources: tuple[Source, ...] = ()
    kind: Literal["buckets"] = field(default="buckets", init=False)

    @classmethod
    def of(cls, people: Table, sensitive: Column, group: Codes, header: Header | None = None) -> Buckets:
        """Return the release of people with known values and groups."""
        n_groups = int(group.max(initial=-1)) + 1
        width = max(1, len(sensitive.values))
        key = group.astype(np.int64) * width + sensitive.codes
        order = stable_order(key, n_groups * width)
        ordered = key[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        cells = ordered[first]
        count = np.diff(np.append(0, np.cumsum(people.weights[order]))[np.append(first, len(ordered))])
        starts = np.searchsorted(cells, np.arange(n_groups + 1) * width)
        names = tuple(map(str, range(1, n_groups + 1)))
        roles = replace(header or Header(), qi=people.names, sa=(sensitive.name,), sa_values=sensitive.values)
        return cls(
            people,
            group,
            names,
            sensitive.name,
            values=sensitive.values,
            starts=starts,
            value=(cells % width).astype(np.int32),
            count=count,
            header=replace(roles, n=int(count.sum()), complete=True),
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.count.sum())

    @property
    def group_name(self) -> str:
        """Name of the column of groups: ``group``, unless taken."""
        names = chain(("group", "group_id", "bucket"), (f"group_{number}" for number in count(2)))
        return next(name for name in names if name not in (*self.people.names, self.sensitive))

    @property
    def min_support(self) -> None:
        """There is no threshold: everybody is in a group."""
        return None

    @property
    def source(self) -> Source | None:
        """Both files as one; None where there is none."""
        return joined_source(self.sources) if self.sources else None

    @property
    def sizes(self) -> Ints:
        """Number of people in each group."""
        return np.diff(np.append(0, np.cumsum(self.count))[self.starts])

    def members(self) -> tuple[Ints, Ints]:
        """Return the rows of each group g, ``rows[starts[g]:starts[g + 1]]``, as (starts, rows)."""
        starts = np.append(0, np.cumsum(np.bincount(self.group, minlength=len(self))))
        return starts, stable_order(self.group, len(self))

    def contents(self, group: int) -> dict[str, int]:
        """Return how often each sensitive value occurs in a group."""
        here = slice(int(self.starts[group]), int(self.starts[group + 1]))
        return {self.values[v]: c for v, c in zip(self.value[here].tolist(), self.count[here].tolist(), strict=True)}

    @property
    def n_lines(self) -> int:
        """Number of entries of the ST."""
        return len(self.value)

    def value_counts(self) -> dict[str, int]:
        """Return the people with each sensitive value."""
        totals = np.bincount(self.value, self.count, len(self.values)).astype(np.int64).tolist()
        return dict(zip(self.values, totals, strict=True))

    def possible_values(self, sensitive: str) -> tuple[str, ...]:
        """Return the values of the sensitive column."""
        return self.values if self.sensitive == sensitive else ()

    def with_source(self, change: Callable[[Source], Source]) -> Buckets:
        """Return the release with both files changed, if it was read from files."""
        return replace(self, sources=tuple(map(change, self.sources)))

    def line(self, entry: int) -> int:
        """Return the line of an entry in the ST file; line 1 is the header."""
        return int(self.lines[entry]) if self.lines is not None else entry + 2

    def details(self) -> dict[str, Any]:
        """Return what a record says about buckets only."""
        return {"lines": len(self.value), "groups": len(self)}

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the ST as dictionaries."""
        for group, name in enumerate(self.names):
            for entry in range(int(self.starts[group]), int(self.starts[group + 1])):
                yield {"group": name, self.sensitive: self.values[self.value[entry]], "count": int(self.count[entry])}
