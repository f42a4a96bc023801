"""Enumeration of worlds for tables of means and medians.

People are placed one after another by their value, the smallest first, so that the rest can be bounded: no group may get more people than
it holds, its sum must stay within reach of people with larger values, and the person in its middle has the printed median.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np

from tacit.joint.lower import JointCase
from tacit.joint.readers import cell_values, list_numbers
from tacit.joint.words import CODE
from tacit.model.audit import AttackRun, Target
from tacit.model.finding import Citation, Finding, ItemEvent, certificate, remark
from tacit.model.frequencies import FrequencyTable, frequency_tables
from tacit.model.numbers import Bound
from tacit.model.people import Same
from tacit.model.words import describe_event, render_people

MOST_PEOPLE = 12  #: Most people whose worlds are enumerated.
MOST_KINDS = 20_000  #: Most kinds of people.
MOST_WORLDS = 2_000  #: Most worlds that are kept.
MOST_PLACED = 3_000_000  #: Most placements of a person during the search.
Person = tuple[str, ...]
Ends = tuple[int, int]


def enumerate_worlds(target: Target, name: str) -> AttackRun | None:
    """Return the facts common to all worlds, or None."""
    case = target.case
    assert isinstance(case, JointCase)
    tables = frequency_tables(case.releases)
    measured = [table.measured for table in tables if table.measured is not None]
    numbers = {table.n for table in tables}
    n = next(iter(numbers), None)
    complete = all(table.header.complete for table in tables)
    same = isinstance(case.people, Same) and len(tables) == len(case.releases) and len(numbers) == 1
    if not same or not complete or n is None or n > MOST_PEOPLE or len({(one.column, one.span) for one in measured}) != 1:
        return None
    columns = tuple(sorted({column for table in tables for column in table.columns}))
    at = columns.index(measured[0].column)
    values: list[list[str]] = []
    for column in columns:
        named = (table.values[table.columns.index(column)] for table in tables if column in table.columns)
        values.append(sorted({value for known in named for value in known}))
    values[at] = list_numbers(measured[0].span)
    if prod(map(len, values)) > MOST_KINDS:
        return None
    kinds = sorted(product(*values), key=lambda kind: int(kind[at]))
    lines = [_printed(table, index, columns, kinds) for table in tables for index in range(len(table))]
    try:
        fitting = worlds([int(kind[at]) for kind in kinds], lines, n, lambda: target.limits.check(CODE))
    except TooMany:
        return None
    if not fitting:
        return None  # bounds on the counts name the lines that clash, if these do
    return _outcome(target, name, columns, [[kinds[place] for place in world] for world in fitting])


@dataclass(frozen=True, slots=True)
class Printed:
    """Printed count of a group; sum and doubled median if the count is exact."""

    inside: tuple[bool, ...]
    count: Ends
    total: Ends | None = None
    middle: Ends | None = None


def _printed(table: FrequencyTable, index: int, columns: Sequence[str], kinds: Sequence[Person]) -> Printed:
    allowed = [(columns.index(column), values) for column, values in cell_values(table, index).items()]
    inside = tuple(all(kind[place] in values for place, values in allowed) for kind in kinds)
    measured = table.measured
    count = table.count(index)
    total = middle = None
    if measured is not None and count.is_exact:
        total = measured.total(index, count.lo)
        middle = measured.middle(index)
    ends = [None if bound is None else (bound.lo, bound.hi) for bound in (total, middle)]
    return Printed(inside, (count.lo, count.hi), *ends)


def _outcome(target: Target, name: str, columns: Sequence[str], fitting: Sequence[Sequence[Person]]) -> AttackRun:
    k = target.policy.k
    bounds: dict[tuple[tuple[str, str], ...], Bound] = {}
    for person in dict.fromkeys(fitting[0]):
        described = list(zip(columns, person, strict=True))
        for size in range(1, len(described) + 1):
            for event in combinations(described, size):
                if event not in bounds:
                    sizes = [sum(set(event) <= set(zip(columns, one, strict=True)) for one in world) for world in fitting]
                    bounds[event] = Bound(min(sizes), max(sizes))
    small = {event: count for event, count in bounds.items() if count.lo > 0 and count.hi < k}
    parts = ((part, count) for event, count in small.items() for part in combinations(event, len(event) - 1))
    implied = {part for part, count in parts if small.get(part) == count}
    kept = [one for one in small.items() if one[0] not in implied]
    found = sorted(kept, key=lambda one: (one[1].hi, -len(one[0]), one[0]))
    events = [ItemEvent(tuple(f"{column}={value}" for column, value in event)) for event, _ in found]
    counts = [count for _, count in found]
    case = target.case
    assert isinstance(case, JointCase)
    lo, hi = (np.array([getattr(count, end) for count in counts], np.int64) for end in ("lo", "hi"))
    items = np.array([len(event.present) for event in events], np.int64)
    return AttackRun(
        CODE,
        name,
        "proves",
        "ran",
        people=int(lo.max(initial=0)) if len(fitting) > 1 else len(fitting[0]),
        columns={"items": items, "count": lo, "count_hi": hi, "together": np.full(len(found), len(case.releases) > 1)},
        severity=(hi << 16) | (0x7FFF - np.minimum(items, 0x7FFF)),
        event=lambda index: events[index],
        show=lambda index: _finding(case, events[index], counts[index], len(fitting)),
    )


def _finding(case: JointCase, event: ItemEvent, count: Bound, ways: int) -> Finding:
    cited = []
    for number, table in enumerate(frequency_tables(case.releases)):
        cited += [Citation(number, table.place(index), table.count(index), None) for index in range(len(table))]
    n = case.releases[0].n
    lines = len(cited)
    fitting = "One choice fits" if ways == 1 else f"{ways:,} choices fit"
    steps = (
        remark(f"{n} people are chosen in every possible way, one after another by their value."),
        remark(f"{fitting} the counts, means and medians of all {lines} lines."),
        remark(f"In {'it' if ways == 1 else 'each of them'} {render_people(count)} {describe_event(event, count)}."),
    )
    told = f"{render_people(count)} {describe_event(event, count)}."
    proof = certificate(event, count, people=case.people.to_text(), worlds={"fit": ways})
    return Finding(CODE, event, count, told, because=tuple(cited), derivation=steps, certificate=proof)


class TooMany(Exception):
    """Too many worlds, or too long a search."""


def worlds(values: Sequence[int], groups: Sequence[Printed], people: int, check: Callable[[], None]) -> list[tuple[int, ...]]:
    """Return all worlds of ``people`` people as ascending cells with ascending values."""
    span = (min(values, default=0), max(values, default=0))
    groups_of = [[place for place, group in enumerate(groups) if group.inside[cell]] for cell in range(len(values))]
    found: list[tuple[int, ...]] = []
    looks = 0

    def search(world: tuple[int, ...], placed: list[tuple[int, ...]], room: list[Ends]) -> None:
        """Place one more person, given the values placed in each group and the range of the next."""
        nonlocal looks
        looks += 1
        if looks % 1024 == 0:
            check()
            if looks > MOST_PLACED:
                raise TooMany
        left = people - len(world)
        missing = [group.count[0] - len(own) for group, own in zip(groups, placed, strict=True)]
        if max(missing, default=0) > left:
            return
        if not left:
            found.append(world)
            if len(found) > MOST_WORLDS:
                raise TooMany
            return
        # People come by ascending values, so none can be larger than the next person of a group that still needs one.
        largest = min((room[place][1] for place, fewest in enumerate(missing) if fewest > 0), default=span[1])
        for cell in range(world[-1] if world else 0, bisect_right(values, largest)):
            own = groups_of[cell]
            if all(room[place][0] <= values[cell] <= room[place][1] for place in own):
                now_placed = placed.copy()
                now_room = room.copy()
                for place in own:
                    now_placed[place] = (*placed[place], values[cell])
                    now_room[place] = _next_values(groups[place], now_placed[place], span)
                search((*world, cell), now_placed, now_room)

    search((), [()] * len(groups), [_next_values(group, (), span) for group in groups])
    return found


def _next_values(group: Printed, placed: tuple[int, ...], span: Ends) -> Ends:
    rank = len(placed) + 1
    size, most = group.count
    low, high = span
    if rank > most:
        return 1, 0
    if size != most:
        return low, high
    if group.total is not None:
        missing = size - rank + 1
        high = min(high, (group.total[1] - sum(placed)) // missing)
        low = max(low, group.total[0] - sum(placed) - (missing - 1) * span[1])
    if group.middle is not None:
        upper = size // 2 + 1
        is_odd = size % 2
        if rank == upper:
            before = 0 if is_odd else placed[-1]
            twice = 2 if is_odd else 1
            low = max(low, -((before - group.middle[0]) // twice))
            high = min(high, (group.middle[1] - before) // twice)
        elif rank < upper:
            high = min(high, group.middle[1] // 2)
    return low, high
