"""Checks by enumeration of all possible people, who are few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any, NamedTuple

from tacit.checker.lines import labelled
from tacit.checker.rules import Reject
from tacit.checker.words import check_statement, read_event
from tacit.model.finding import place_entry
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import Bound
from tacit.model.words import describe_event, render_people

MOST_TRIED = 3_000_000  #: People placed on the way at most; a proof that needs more is too long to be re-done.


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
        return self.middle is not None and rank == size // 2 and self._double_median(value) < self.middle[0]

    def is_beyond(self, value: int) -> bool:
        """Return True if the rest cannot reach this value."""
        size = self.fewest
        rank = len(self.placed)
        if size != self.most or rank >= size:
            return False
        if self.total is not None and sum(self.placed) + (size - rank) * value > self.total[1]:
            return True
        return self.middle is not None and rank <= size // 2 and self._double_median(value) > self.middle[1]

    def _double_median(self, value: int) -> int:
        lower = (self.fewest - 1) // 2
        return value + (self.placed[lower] if lower < len(self.placed) else value)


class Worlds(NamedTuple):
    """Every list of people that fits the tables."""

    tables: Sequence[FrequencyTable]
    columns: tuple[str, ...]
    lists: list[list[tuple[str, ...]]]


def people_who_fit(tables: Sequence[FrequencyTable]) -> Worlds:
    """Return every list of people that fits these tables."""
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
        naming = [table for table in tables if column in table.columns]
        if not all(table.header.complete for table in naming):
            raise Reject("a column may have values that no table names")
        domains.append(sorted({value for table in naming for value in table.values[table.columns.index(column)]}))
    at = columns.index(number)
    cells = sorted(product(*domains), key=lambda cell: int(cell[at]))
    groups = []
    of: list[list[_Group]] = [[] for _ in cells]
    for table in tables:
        for index in range(len(table)):
            groups.append(_group(table, index))
            allowed = [(columns.index(column), labelled(table, column, label)) for column, label in table.cell(index).items()]
            for cell, holding in zip(cells, of, strict=True):
                if all(cell[place] in values for place, values in allowed):
                    holding.append(groups[-1])
    (n,) = people
    assert n is not None
    found = _Placing([int(cell[at]) for cell in cells], of, groups, span.hi).worlds(n)
    return Worlds(tables, columns, [[cells[place] for place in world] for world in found])


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


@dataclass(slots=True)
class _Placing:
    values: Sequence[int]
    of: Sequence[Sequence[_Group]]
    groups: Sequence[_Group]
    largest: int
    placed: list[int] = field(default_factory=list)
    tried: int = 0

    def worlds(self, left: int, first: int = 0) -> Iterator[tuple[int, ...]]:
        if any(len(group.placed) + left < group.fewest for group in self.groups):
            return
        if not left:
            yield tuple(self.placed)
            return
        for cell in range(first, len(self.values)):
            value = self.values[cell]
            if (cell == first or value != self.values[cell - 1]) and any(group.is_beyond(value) for group in self.groups):
                return
            if not any(group.is_closed_to(value, self.largest) for group in self.of[cell]):
                self.tried += 1
                if self.tried > MOST_TRIED:
                    raise Reject("too many people would have to be tried")
                for group in self.of[cell]:
                    group.placed.append(value)
                self.placed.append(cell)
                yield from self.worlds(left - 1, cell)
                self.placed.pop()
                for group in self.of[cell]:
                    group.placed.pop()


def check_worlds(finding: Mapping[str, Any], worlds: Worlds, k: int) -> None:
    """Check a finding by all lists of people that fit."""
    tables, columns, lists = worlds
    if finding["certificate"]["worlds"] != {"fit": len(lists)} or not lists:
        raise Reject(f"{len(lists)} ways to choose the people fit, not as many as its certificate says")
    event = finding["event"]
    wanted = dict(name.split("=", 1) for name in event["present"])
    if set(event) != {"present", "absent"} or event["absent"] or not wanted or not set(wanted) <= set(columns):
        raise Reject("its event is not about values of the columns of the tables")
    places = [(columns.index(name), value) for name, value in wanted.items()]
    counts = [sum(all(person[place] == value for place, value in places) for person in people) for people in lists]
    lo, hi = finding["count"]
    if [min(counts), max(counts)] != [lo, hi]:
        raise Reject(f"{min(counts)} to {max(counts)} people are in its group, not {lo} to {hi}")
    if not 0 < lo <= hi < k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    printed = [
        {"release": number, **place_entry(table.place(index)), "count": ends}
        for number, table in enumerate(tables)
        for index, ends in enumerate(zip(table.lo.tolist(), table.hi.tolist(), strict=True))
    ]
    if [{**one, "count": tuple(one["count"])} for one in finding["because"]] != printed:
        raise Reject("the lines it cites are not those of the tables")
    check_statement(finding, ())
    ways = len(lists)
    count = Bound(lo, hi)
    steps = [
        f"{tables[0].n} people are chosen in every possible way, one after another by their value.",
        f"{'One choice fits' if ways == 1 else f'{ways:,} choices fit'} the counts, means and medians of all {len(printed)} lines.",
        f"In {'it' if ways == 1 else 'each of them'} {render_people(count)} {describe_event(read_event(event), count)}.",
    ]
    if list(finding["steps"]) != steps:
        raise Reject("its steps do not say what its certificate says")
