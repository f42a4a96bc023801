"""Arguments that a group member lacks a value.

Two things rule a value out: knowledge about the person, and other people of the group who can have nothing else and are as many as the values
that are left for them (Hall's condition), so that they use these up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tacit.buckets.case import BucketCase
from tacit.model.finding import Citation, Exclusion, Step
from tacit.model.knowledge import Fact
from tacit.model.words import BucketLine, Matching


def argument(case: BucketCase, row: int) -> Matching:
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
    return Matching(
        tuple(Exclusion(fact.place, fact.allowed, fact.value) for fact in facts),
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
    return tuple(found.cite(release, _lines(case, row))), _explain(case, row, people, found), {"matching": found.to_dict()}


def argument_steps(case: BucketCase, row: int, people: int) -> tuple[Step, ...]:
    """Return the steps of the argument for a row."""
    return _explain(case, row, people, argument(case, row))


def _explain(case: BucketCase, row: int, people: int, found: Matching) -> tuple[Step, ...]:
    group = case.buckets.names[int(case.buckets.group[row])]
    return tuple(found.explain(group, case.buckets.sensitive, _lines(case, row), people))


def _lines(case: BucketCase, row: int) -> list[BucketLine]:
    buckets = case.buckets
    return [
        BucketLine(buckets.line(one), buckets.values[int(buckets.value[one])], int(buckets.count[one]))
        for one in case.entries(row)
    ]
