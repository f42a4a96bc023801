"""Which columns are looked at together: all, or where their cube would be too large, those that lines name together and their neighbours."""

from __future__ import annotations

from collections import Counter

from tacit.attacks.joint.boxes import MEMBER
from tacit.attacks.joint.lines import MOST_GROUPS, Problem, groups_of

#: Cubes at most.
MOST_WINDOWS = 64


def windows(problem: Problem) -> tuple[list[tuple[int, ...]], int]:
    """The axes of every cube, and how many lines or sets of columns no cube holds."""
    everything = frozenset(range(len(problem.axes)))
    if _groups(problem, everything) <= MOST_GROUPS:
        return [tuple(sorted(everything))], 0
    always = frozenset(place for place, axis in enumerate(problem.axes) if axis.key == MEMBER)
    named = Counter(always.union(*(masks for _, masks in terms)) for terms in problem.boxes)
    largest = sorted((one for one in named if not any(one < other for other in named)), key=lambda one: (-len(one), sorted(one)))
    chosen: dict[tuple[int, ...], None] = {}
    skipped = 0
    for start in largest:
        if _groups(problem, start) > MOST_GROUPS or len(chosen) >= MOST_WINDOWS:
            skipped += named[start]
            continue
        chosen[tuple(sorted(_grown(problem, start, named)))] = None
    return list(chosen), skipped


def _grown(problem: Problem, start: frozenset[int], named: Counter[frozenset[int]]) -> frozenset[int]:
    """The set with those columns added that lines name most beside it, as far as the cube stays small enough."""
    window = start
    near: Counter[int] = Counter()
    for columns, times in named.items():
        if columns & start:
            near.update(dict.fromkeys(columns - start, times))
    for column, _ in sorted(near.items(), key=lambda pair: (-pair[1], pair[0])):
        if _groups(problem, window | {column}) <= MOST_GROUPS:
            window |= {column}
    return window


def _groups(problem: Problem, chosen: frozenset[int]) -> int:
    return groups_of(problem.axes[place] for place in chosen)
