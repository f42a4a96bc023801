"""Checks by enumeration of all possible people.

Tables with means and medians allow few ways.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any

from tacit.checker.lines import labelled
from tacit.checker.rules import Reject
from tacit.model.frequencies import FrequencyTable

#: People placed on the way at most; a proof that needs more is too long to be re-done.
MOST_TRIED = 3_000_000


@dataclass(slots=True)
class _Group:
    """Printed numbers of a group, and values placed."""

    fewest: int
    most: int
    total: tuple[int, int] | None
    middle: tuple[int, int] | None
    placed: list[int] = field(default_factory=list)

    def is_closed_to(self, value: int, largest: int) -> bool:
        """Return True if this value cannot come next."""
        size = self.fewest
        rank = len(self.placed)
        if rank >= self.most or self.is_beyond(value):
            return True
        if size != self.most:
            return False
        if self.total is not None and sum(self.placed) + value + (size - rank - 1) * largest < self.total[0]:
            return True
        lower = (size - 1) // 2
        upper = size // 2
        both = value + (self.placed[lower] if lower < rank else value)
        return self.middle is not None and rank == upper and not self.middle[0] <= both

    def is_beyond(self, value: int) -> bool:
        """Return True if the rest cannot reach this value."""
        size = self.fewest
        rank = len(self.placed)
        if size != self.most or rank >= size:
            return False
        if self.total is not None and sum(self.placed) + (size - rank) * value > self.total[1]:
            return True
        lower = (size - 1) // 2
        upper = size // 2
        both = value + (self.placed[lower] if lower < rank else value)
        return self.middle is not None and rank <= upper and both > self.middle[1]


def people_who_fit(tables: Sequence[FrequencyTable]) -> tuple[tuple[str, ...], list[list[tuple[str, ...]]]]:
    """Return the columns, and every list of people."""
    columns = tuple(sorted({column for table in tables for column in table.columns}))
    measured = [table.measured for table in tables if table.measured is not None]
    people = {table.n for table in tables}
    if len({(one.column, one.span) for one in measured}) != 1 or len(people) != 1 or None in people:
        raise Reject("there is no way to try all people that these tables allow")
    number = measured[0].column
    span = measured[0].span
    domains = []
    for column in columns:
        if column == number:
            domains.append([str(value) for value in range(span.lo, span.hi + 1)])
            continue
        if not all(table.header.complete for table in tables if column in table.columns):
            raise Reject("a column may have values that no table names")
        domains.append(sorted({value for table in tables for value in _values(table, column)}))
    at = columns.index(number)
    cells = sorted(product(*domains), key=lambda cell: int(cell[at]))
    groups = [_group(table, index) for table in tables for index in range(len(table))]
    inside = [_inside(table, index, columns, cells) for table in tables for index in range(len(table))]
    of = [[group for group, holds in zip(groups, flags, strict=True) if holds] for flags in zip(*inside, strict=True)]
    (n,) = people
    assert n is not None
    found = _Placing([int(cell[at]) for cell in cells], of, groups, span.hi).worlds(n)
    return columns, [[cells[place] for place in world] for world in found]


def _values(table: FrequencyTable, column: str) -> tuple[str, ...]:
    return table.values[table.columns.index(column)] if column in table.columns else ()


def _group(table: FrequencyTable, index: int) -> _Group:
    fewest = int(table.lo[index])
    most = int(table.hi[index])
    measured = table.measured
    if measured is None or fewest != most:
        return _Group(fewest, most, None, None)
    half = Fraction(1, 2 * 10**measured.digits)

    def whole(value: Fraction | None, times: int) -> tuple[int, int] | None:
        return None if value is None else (ceil((value - half) * times), floor((value + half) * times))

    return _Group(fewest, most, whole(measured.means.value(index), fewest), whole(measured.medians.value(index), 2))


def _inside(table: FrequencyTable, index: int, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> list[bool]:
    allowed = [(columns.index(column), labelled(table, column, label)) for column, label in table.cell(index).items()]
    return [all(cell[place] in values for place, values in allowed) for cell in cells]


class _Placing:
    def __init__(self, values: Sequence[int], of: Sequence[Sequence[_Group]], groups: Sequence[_Group], largest: int) -> None:
        self._values = values
        self._of = of
        self._groups = groups
        self._largest = largest
        self._placed: list[int] = []
        self._tried = 0

    def worlds(self, left: int, first: int = 0) -> Iterator[tuple[int, ...]]:
        if any(len(group.placed) + left < group.fewest for group in self._groups):
            return
        if not left:
            yield tuple(self._placed)
            return
        for cell in range(first, len(self._values)):
            value = self._values[cell]
            if (cell == first or value != self._values[cell - 1]) and any(group.is_beyond(value) for group in self._groups):
                return
            if not any(group.is_closed_to(value, self._largest) for group in self._of[cell]):
                self._tried += 1
                if self._tried > MOST_TRIED:
                    raise Reject("too many people would have to be tried")
                for group in self._of[cell]:
                    group.placed.append(value)
                self._placed.append(cell)
                yield from self.worlds(left - 1, cell)
                self._placed.pop()
                for group in self._of[cell]:
                    group.placed.pop()


def check_worlds(finding: Mapping[str, Any], tables: Sequence[FrequencyTable], k: int, known: dict[str, Any]) -> None:
    """Check a finding in all worlds, cached in ``known``."""
    if "worlds" not in known:
        known["worlds"] = people_who_fit(tables)
    columns, worlds = known["worlds"]
    if finding["certificate"]["worlds"] != {"fit": len(worlds)} or not worlds:
        raise Reject(f"{len(worlds)} ways to choose the people fit, not as many as its certificate says")
    event = finding["event"]
    wanted = dict(name.split("=", 1) for name in event["present"])
    if set(event) != {"present", "absent"} or event["absent"] or not wanted or not set(wanted) <= set(columns):
        raise Reject("its event is not about values of the columns of the tables")
    groups = [
        [all(person[columns.index(name)] == value for name, value in wanted.items()) for person in world] for world in worlds
    ]
    counts = [sum(flags) for flags in groups]
    if [min(counts), max(counts)] != list(finding["count"]):
        raise Reject(
            f"{min(counts)} to {max(counts)} people are in its group, not {finding['count'][0]} to {finding['count'][1]}"
        )
    if not 0 < min(counts) <= max(counts) < k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    printed = [
        {"release": number, "line" if isinstance(table.place(index), int) else "cell": table.place(index), "count": ends}
        for number, table in enumerate(tables)
        for index, ends in enumerate(zip(table.lo.tolist(), table.hi.tolist(), strict=True))
    ]
    if [{**one, "count": tuple(one["count"])} for one in finding["because"]] != printed:
        raise Reject("the lines it cites are not those of the tables")
