"""Arguments that a group member lacks a value.

Two things rule a value out: knowledge about the person, and other people of the group who can have nothing else and are as many as the values
that are left for them (Hall's condition), so that they use these up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.buckets.case import BucketCase
from tacit.model.finding import Citation, Exclusion, Lines, Step, UsedUp, remark
from tacit.model.knowledge import Fact
from tacit.model.numbers import Bound

#: How many values of a column a step names.
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Argument:
    """Remaining values of a person, and reasons against the others."""

    facts: tuple[Fact, ...]
    ruled_out: tuple[str, ...]
    used_up: tuple[str, ...]
    users: int
    left: tuple[str, ...]


def argument(case: BucketCase, row: int) -> Argument:
    """Return the argument about the person of a row."""
    buckets = case.buckets
    valid = case.valid
    cells = valid.cells
    group = int(buckets.group[row])
    base = int(cells.blocks[group])
    width = len(case.entries(row))
    height = int(cells.starts[group + 1] - cells.starts[group])
    block = slice(base, base + height * width)
    may = cells.may[block].reshape(height, width)
    possible = valid.possible[block].reshape(height, width)
    hold = valid.hold[block].reshape(height, width)
    mine = int(cells.cell[row] - cells.starts[group])
    names = [buckets.values[int(buckets.value[entry])] for entry in case.entries(row)]
    used = _closed(np.flatnonzero(may[mine] & ~possible[mine]).tolist(), may, hold)
    users = [k for k in range(height) if used and (hold[k] > 0)[sorted(used)].any()]
    facts: list[Fact] = []
    ruled_out = [names[j] for j in np.flatnonzero(~may[mine]).tolist() if j not in used]
    _cite(case, facts, case.describe(row), ruled_out)
    members = np.flatnonzero(buckets.group == group).tolist()
    rows = [one for one in members if int(cells.cell[one] - cells.starts[group]) in users]
    for other in rows:
        _cite(case, facts, case.describe(other), [name for j, name in enumerate(names) if j not in used])
    return Argument(
        tuple(facts),
        tuple(ruled_out),
        tuple(names[j] for j in sorted(used)),
        len(rows),
        tuple(names[j] for j in np.flatnonzero(possible[mine]).tolist()),
    )


def _closed(begin: Iterable[int], may: np.ndarray, hold: np.ndarray) -> set[int]:
    """Return the closure of values under their holders' options."""
    reached = set(begin)
    waiting = list(begin)
    while waiting:
        value = waiting.pop()
        for owner in np.flatnonzero(hold[:, value] > 0).tolist():
            for other in np.flatnonzero(may[owner]).tolist():
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
    return reached


def _cite(case: BucketCase, facts: list[Fact], person: dict[str, str], values: Sequence[str]) -> None:
    for value in values:
        reason = case.reason(person, value, facts)
        if reason is not None and reason not in facts:
            facts.append(reason)


def argue(case: BucketCase, row: int, people: int, release: int) -> tuple[tuple[Citation, ...], tuple[Step, ...], dict[str, Any]]:
    """Return the citations, steps and proof for a row."""
    found = argument(case, row)
    buckets = case.buckets
    because = [Citation(release, buckets.line(one), Bound.of(int(buckets.count[one])), None) for one in case.entries(row)]
    for fact in found.facts:
        because.append(Citation(release, Exclusion(fact.place, fact.allowed, fact.value), Bound.of(0), None))
    if found.used_up:
        because.append(Citation(release, UsedUp(found.used_up), Bound.of(found.users), None))
    facts = [
        {"where": one.place, "event": {column: list(values) for column, values in sorted(one.allowed.items())}, "not": one.value}
        for one in found.facts
    ]
    matching = {"facts": facts, "ruled_out": list(found.ruled_out), "used_up": list(found.used_up)}
    matching |= {"users": found.users, "left": list(found.left)}
    return tuple(because), tuple(_steps(case, row, people, found)), {"matching": matching}


def argument_steps(case: BucketCase, row: int, people: int) -> tuple[Step, ...]:
    """Return the steps of the argument for a row."""
    return tuple(_steps(case, row, people, argument(case, row)))


def _steps(case: BucketCase, row: int, people: int, found: Argument) -> Iterator[Step]:
    buckets = case.buckets
    entries = case.entries(row)
    group = buckets.names[int(buckets.group[row])]
    counts = [int(buckets.count[entry]) for entry in entries]
    names = [buckets.values[int(buckets.value[entry])] for entry in entries]
    held = ", ".join(f"{name} ({count:,})" for name, count in zip(names, counts, strict=True))
    lines = Lines(tuple(buckets.line(entry) for entry in entries))
    yield remark(f"The {_people(sum(counts))} of group {group} have {buckets.sensitive} {held} (", lines, ").")
    for fact in found.facts:
        yield remark(f"{fact.place}: nobody{_described(fact)} has {buckets.sensitive} {fact.value}.")
    they = "this person" if people == 1 else f"these {people:,} people"
    if found.ruled_out:
        yield remark(f"{they.capitalize()} cannot have {_either(found.ruled_out)}.")
    if found.used_up:
        times = "once" if found.users == 1 else f"{found.users:,} times"
        occur = "occurs" if len(found.used_up) == 1 else "occur"
        only = f"{_people(found.users)} of the group can only have {_either(found.used_up)}"
        yield remark(f"{only}, which {occur} {times}: nobody else has it.")
    yield remark(f"So {they} {'has' if people == 1 else 'have'} {_either(found.left)}.")


def _described(fact: Fact) -> str:
    parts = []
    for column, values in sorted(fact.allowed.items()):
        more = f" or {len(values) - _SHOWN:,} more" if len(values) > _SHOWN else ""
        parts.append(f"{column} {', '.join(values[:_SHOWN])}{more}" if more else f"{column} {_either(values)}")
    return f" with {' and '.join(parts)}" if parts else ""


def _either(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"
