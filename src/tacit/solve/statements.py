"""Statements about sensitive values, reduced to a problem.

A statement bounds the number of people of a group who have a sensitive value; rules, missing rules and background facts all become statements.
Values settled by single statements are removed, and people whom the same statements speak of become one class.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Ints
from tacit.model.people import Population
from tacit.model.table import number_keys


@dataclass(frozen=True, slots=True)
class Statement:
    """Bounds on people of an event with a value; where it is published."""

    event: int
    value: int
    lo: int
    hi: int
    origin: Hashable


@dataclass(eq=False)
class Statements:
    """Statements over a population; an event is a set of its combinations."""

    population: Population
    n_values: int
    events: list[Codes] = field(default_factory=list)
    listed: list[Statement] = field(default_factory=list)
    _number: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = np.random.default_rng(20090331)
        self._keys = chance.integers(1, 2**63, len(self.population), np.uint64)

    def __len__(self) -> int:
        return len(self.listed)

    def event(self, combinations: Codes) -> int:
        """Return an event's number, shared by equal sets."""
        key = (len(combinations), int(self._keys[combinations].sum(dtype=np.uint64)))
        number = self._number.setdefault(key, len(self.events))
        if number == len(self.events):
            self.events.append(combinations)
        return number

    def keys(self) -> list[tuple[int, int]]:
        """Keys of the events, equal for equal events."""
        return list(self._number)

    def say(self, combinations: Codes, value: int, lo: int, hi: int, origin: Hashable) -> None:
        """Add a statement."""
        self.listed.append(Statement(self.event(combinations), value, lo, hi, origin))

    def whole(self, event: int) -> int:
        """Count the people of an event."""
        return int(self.population.people[self.events[event]].sum())


class Clash(Exception):
    """Statements that cannot all be true; ``origins`` names them."""

    def __init__(self, origins: tuple[Hashable, ...]) -> None:
        super().__init__("statements cannot all be true")
        self.origins = origins


@dataclass(frozen=True, eq=False)
class Problem:
    """Classes of people and statements about them.

    ``class_of[q]`` is the class of combination q, ``people[c]`` its size. Statement j is about ``values[j]``: between ``lo[j]`` and ``hi[j]``
    people of its classes have it (``rows[starts[c]:starts[c + 1]]`` are the statements about class c). ``closed[c, v]``: nobody of the
    class has v, which follows from single statements already. Statements about classes in which everything is settled are left out, and their
    settled people are subtracted from the bounds of the others. ``origins[j]`` names what statement j comes from; ``events[j]`` is its event.
    """

    class_of: Ints
    people: Ints
    starts: Ints
    rows: Codes
    values: Ints
    lo: Ints
    hi: Ints
    whole: Ints
    closed: npt.NDArray[np.uint8]
    origins: tuple[tuple[Hashable, ...], ...]
    events: Ints
    n: int

    @property
    def n_values(self) -> int:
        """Number of values of the sensitive column."""
        return int(self.closed.shape[1])


@dataclass(eq=False)
class _Merged:
    """Merged statement of an event and value, with origins."""

    event: Ints
    value: Ints
    lo: Ints
    hi: Ints
    origins: list[tuple[Hashable, ...]]


def reduce(statements: Statements, *, settle: bool = True) -> Problem:
    """Reduce statements to a problem, or raise :class:`Clash`.

    Without ``settle`` nothing is concluded yet: all statements that say something stay as they are.
    """
    merged = _merge(statements)
    used = np.unique(merged.event).tolist()
    # Combinations of one class lie in the same events.
    chance = np.random.default_rng(19570515)
    mark = np.zeros(len(statements.population), np.uint64)
    for event in used:
        mark[statements.events[event]] += chance.integers(1, 2**63, dtype=np.uint64)
    first, class_of = number_keys(mark, 1 << 64)
    people = np.bincount(class_of, statements.population.people, len(first)).astype(np.int64)
    is_first = np.zeros(len(class_of), np.bool_)
    is_first[first] = True
    of_event = {}
    short = class_of.astype(np.int32)  # the lists are many times as long
    for event in used:
        combinations = statements.events[event]
        of_event[event] = short[combinations[is_first[combinations]]]
    members = [of_event[event] for event in merged.event.tolist()]
    closed = np.zeros((len(first), statements.n_values), np.uint8)
    if settle:
        _settle(merged, members, people, closed)
    return _make_problem(statements, merged, members, class_of, people=people, closed=closed)


def _merge(statements: Statements) -> _Merged:
    whole = [statements.whole(event) for event in range(len(statements.events))]
    found: dict[tuple[int, int], tuple[int, int, tuple[Hashable, ...]]] = {}
    for one in statements.listed:
        people = whole[one.event]
        lo = one.lo
        hi = one.hi
        value = one.value
        if lo > min(hi, people) or hi < 0:
            raise Clash((one.origin,))
        if statements.n_values == 2 and value == 1:  # the complement of the first
            value = 0
            lo, hi = people - hi, people - lo
        lo = max(lo, 0)
        hi = min(hi, people)
        if lo == 0 and hi == people:
            continue
        old_lo, old_hi, origins = found.get((one.event, value), (0, people, ()))
        if lo > old_lo or hi < old_hi:
            origins = (*origins, one.origin)
        lo = max(lo, old_lo)
        hi = min(hi, old_hi)
        if lo > hi:
            raise Clash(origins)
        found[one.event, value] = (lo, hi, origins)
    keys = sorted(found)
    table = np.array([(*key, *found[key][:2]) for key in keys], np.int64).reshape(-1, 4).T.copy()
    return _Merged(table[0], table[1], table[2], table[3], [found[key][2] for key in keys])


def _settle(merged: _Merged, members: list[Codes], people: Ints, closed: npt.NDArray[np.uint8]) -> None:
    waiting = list(range(len(members)))
    touching: tuple[Ints, Codes] | None = None
    closing: dict[int, list[int]] = {}
    n_open = closed.shape[1] - closed.sum(axis=1, dtype=np.int64)
    while waiting:
        changed: set[int] = set()
        for j in waiting:
            classes = members[j]
            value = merged.value[j]
            open_here = closed[classes, value] == 0
            settled = open_here & (n_open[classes] == 1)
            most = people[classes[open_here]].sum()
            least = people[classes[settled]].sum()
            if merged.lo[j] > most or merged.hi[j] < least:
                raise Clash(_trace_origins(j, merged, members, closing))
            loose = classes[open_here & ~settled]
            if len(loose) == 0:
                continue
            if merged.hi[j] == least:
                closed[loose, value] = 1
                n_open[loose] -= 1
            elif merged.lo[j] == most:
                kept = closed[loose, value].copy()
                closed[loose] = 1
                closed[loose, value] = kept
                n_open[loose] = 1
            else:
                continue
            changed.update(loose.tolist())
            for c in loose.tolist():
                closing.setdefault(c, []).append(j)
        if not changed:
            return
        if touching is None:
            sizes = np.array([len(classes) for classes in members], np.int64)
            touching = _group_by_class(sizes, np.concatenate(members), len(people))
        starts, rows = touching
        waiting = np.unique(np.concatenate([rows[starts[c] : starts[c + 1]] for c in sorted(changed)])).tolist()


def _trace_origins(clashing: int, merged: _Merged, members: list[Codes], closing: dict[int, list[int]]) -> tuple[Hashable, ...]:
    waiting = [clashing]
    seen = {clashing}
    while waiting:
        for c in members[waiting.pop()].tolist():
            fresh = [j for j in closing.get(c, ()) if j not in seen]
            seen.update(fresh)
            waiting += fresh
    return tuple(dict.fromkeys(origin for j in sorted(seen) for origin in merged.origins[j]))


def _make_problem(
    statements: Statements, merged: _Merged, members: list[Codes], class_of: Ints, people: Ints, closed: npt.NDArray[np.uint8]
) -> Problem:
    """Return the problem of classes with two open values, settled people subtracted."""
    loose = closed.sum(axis=1) < closed.shape[1] - 1
    kept = []
    lists = []
    is_settled = bool(closed.any()) or closed.shape[1] < 2
    for j, classes in enumerate(members):
        value = merged.value[j]
        fixed = 0
        free = classes
        if is_settled:
            fixed = int(people[classes[~loose[classes] & (closed[classes, value] == 0)]].sum())
            free = classes[loose[classes] & (closed[classes, value] == 0)]
        most = int(people[free].sum())
        low = max(0, int(merged.lo[j]) - fixed)
        high = min(most, int(merged.hi[j]) - fixed)
        if low > most or high < 0:
            raise Clash(merged.origins[j])
        if len(free) and (low > 0 or high < most):
            kept.append((j, low, high, most))
            lists.append(free)
    sizes = np.array([len(part) for part in lists], np.int64)
    flat = np.concatenate(lists) if lists else np.empty(0, np.int32)
    starts, rows = _group_by_class(sizes, flat, len(people))
    chosen, lo, hi, whole = np.array(kept, np.int64).reshape(-1, 4).T.copy()
    return Problem(
        class_of=class_of,
        people=people,
        starts=starts,
        rows=rows,
        values=merged.value[chosen],
        lo=lo,
        hi=hi,
        whole=whole,
        closed=closed,
        origins=tuple(merged.origins[j] for j in chosen.tolist()),
        events=merged.event[chosen],
        n=statements.population.n,
    )


def _group_by_class(sizes: Ints, classes: Codes, n_classes: int) -> tuple[Ints, Codes]:
    from scipy.sparse import csr_array

    ends = np.append(0, np.cumsum(sizes))
    flags = np.ones(len(classes), np.int8)
    turned = csr_array((flags, classes, ends), shape=(len(sizes), n_classes)).tocsc()
    return turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
