"""Which columns are looked at together: all, or where their cube would be too large, those that lines name together and their neighbours.

Cubes of some columns each tell the others what they have shown about groups that several of them hold.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from math import prod

import numpy as np

from tacit.attacks.joint.boxes import MEMBER, Axis
from tacit.attacks.joint.cube import Cube, End, Taken, Whole
from tacit.attacks.joint.lines import MOST_GROUPS, Problem, groups_of

#: Cubes at most, and groups of each of them where there are several.
MOST_WINDOWS, WINDOW_GROUPS = 256, 30_000
#: The longest descriptions that cubes tell each other, in columns, and how often they do.
MOST_COLUMNS, MOST_EXCHANGES = 3, 3


def windows(problem: Problem) -> tuple[list[tuple[int, ...]], int]:
    """The axes of every cube, and how many lines or sets of columns no cube holds.

    Of several releases, those that each would be looked at by itself are among them, so that it tells no less beside the others.
    """
    everything = frozenset(range(len(problem.axes)))
    if _groups(problem, everything) <= MOST_GROUPS:
        return [tuple(sorted(everything))], 0
    always = frozenset(place for place, axis in enumerate(problem.axes) if axis.key == MEMBER)
    columns = [always.union(*(masks for _, masks in terms)) for terms in problem.boxes]
    chosen: dict[tuple[int, ...], None] = {}
    skipped = _choose(problem, Counter(columns), chosen)
    owners = [line.origin.release for line in problem.lines]
    for release in sorted(set(owners)) if len(set(owners)) > 1 else ():
        named = Counter(one for one, owner in zip(columns, owners, strict=True) if owner == release)
        own = always.union(*named)
        if _groups(problem, own) > MOST_GROUPS:
            _choose(problem, named, chosen)
        elif not any(own <= set(window) for window in chosen):
            chosen[tuple(sorted(own))] = None
    return list(chosen), skipped


def _choose(problem: Problem, named: Counter[frozenset[int]], chosen: dict[tuple[int, ...], None]) -> int:
    """Add the axes of cubes that hold what these lines name, where none does yet; how many lines none will hold."""
    skipped = 0
    for start in _largest(named):
        if any(start <= set(window) for window in chosen):
            continue
        if _groups(problem, start) > MOST_GROUPS or len(chosen) >= MOST_WINDOWS:
            skipped += named[start]
            continue
        chosen[tuple(sorted(_grown(problem, start, named)))] = None
    return skipped


def apart(problem: Problem, chosen: Sequence[tuple[int, ...]], most: int) -> tuple[list[tuple[int, ...]] | None, int]:
    """The sets of up to three columns that no cube holds, and how many groups they describe; None for the sets where they are too many."""
    columns = [place for place, axis in enumerate(problem.axes) if axis.key != MEMBER]
    slots = {place: len(problem.axes[place].slots) - 1 for place in columns}
    members = [len(axis.slots) for axis in problem.axes if axis.key == MEMBER]
    held = {
        subset
        for window in chosen
        for size in range(1, MOST_COLUMNS + 1)
        for subset in combinations([place for place in window if place in slots], size)
    }
    # Sums of products over all sets of 1, 2 and 3 columns, column by column.
    sums = [1] + [0] * MOST_COLUMNS
    sets = [1] + [0] * MOST_COLUMNS
    for place in columns:
        for size in range(MOST_COLUMNS, 0, -1):
            sums[size] += sums[size - 1] * slots[place]
            sets[size] += sets[size - 1]
    groups = (sum(sums[1:]) - sum(prod(slots[place] for place in subset) for subset in held)) * prod(members)
    if sum(sets[1:]) - len(held) > most or sum(sets[1:]) > 100 * most:
        return None, groups
    every = (subset for size in range(1, MOST_COLUMNS + 1) for subset in combinations(columns, size))
    return [subset for subset in every if subset not in held], groups


def _largest(named: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """The sets that no other one contains, the longest first.

    >>> _largest([frozenset({1}), frozenset({1, 2}), frozenset({3})])
    [frozenset({1, 2}), frozenset({3})]
    """
    kept: list[frozenset[int]] = []
    holding: dict[int, set[int]] = {}
    for one in sorted(set(named), key=lambda one: (-len(one), sorted(one))):
        # Longer sets come first, so whatever holds this one is kept already.
        above = set.intersection(*(holding.get(column, set()) for column in one)) if one else set(range(len(kept)))
        if not above:
            for column in one:
                holding.setdefault(column, set()).add(len(kept))
            kept.append(one)
    return kept


def _grown(problem: Problem, start: frozenset[int], named: Counter[frozenset[int]]) -> frozenset[int]:
    """The set with those columns added that lines name most beside it, as far as the cube stays small enough."""
    window = start
    near: Counter[int] = Counter()
    for columns, times in named.items():
        if columns & start:
            near.update(dict.fromkeys(columns - start, times))
    for column, _ in sorted(near.items(), key=lambda pair: (-pair[1], pair[0])):
        if _groups(problem, window | {column}) <= WINDOW_GROUPS:
            window |= {column}
    return window


def _groups(problem: Problem, chosen: frozenset[int]) -> int:
    return groups_of(problem.axes[place] for place in chosen)


def tightened(problem: Problem, chosen: Sequence[tuple[int, ...]], check: Callable[[], None]) -> list[Cube]:
    """The cubes over these axes with all lines taken in, until they have nothing more to tell each other or one of them clashes."""
    return settled([Cube(problem, axes) for axes in chosen], check)


def settled(cubes: list[Cube], check: Callable[[], None]) -> list[Cube]:
    """The same cubes, which may be over axes with more or fewer slots, with all lines taken in."""
    _on_all(cubes, lambda cube: cube.tighten(range(len(cube.problem.lines)), check))
    for _ in range(MOST_EXCHANGES if len(cubes) > 1 else 0):
        if any(cube.clash >= 0 for cube in cubes) or not exchange(cubes):
            break
        _on_all(cubes, lambda cube: cube.settle(check))
    return cubes


def _on_all(cubes: Sequence[Cube], work: Callable[[Cube], None]) -> None:
    """Do the same with every cube; they are apart, so that the order does not matter."""
    if len(cubes) < 2:
        for cube in cubes:
            work(cube)
        return
    with ThreadPoolExecutor(min(len(cubes), os.cpu_count() or 1)) as pool:
        for done in [pool.submit(work, cube) for cube in cubes]:
            done.result()


def exchange(cubes: Sequence[Cube]) -> bool:
    """Let every cube take over the best bounds that another one has of groups both hold; whether any was better."""
    axes = max((cube.problem.axes for cube in cubes), key=groups_of)
    slots = sum(len(axis.slots) for axis in axes)
    if (slots + 1) ** (MOST_COLUMNS + 1) >= 2**63:
        return False  # groups would have no number of their own
    shared = [_shared(cube, axes) for cube in cubes]
    names = np.concatenate([name for _, name in shared])
    groups = np.concatenate([group for group, _ in shared])
    owners = np.repeat(np.arange(len(cubes)), [len(group) for group, _ in shared])
    _, which = np.unique(names, return_inverse=True)
    times = [len(cube.moves) for cube in cubes]
    better: list[tuple[int, int, End, Whole, Whole, Whole]] = []
    ends: tuple[End, ...] = ("lo", "hi")
    for end in ends:
        values = np.concatenate([getattr(cube, end)[group] for cube, (group, _) in zip(cubes, shared, strict=True)])
        order = np.lexsort((owners, -values if end == "lo" else values, which))
        first = order[np.concatenate(([True], which[order][1:] != which[order][:-1]))] if len(order) else order
        best = first[which]
        behind = np.flatnonzero(values[best] > values if end == "lo" else values[best] < values)
        pairs = owners[behind] * len(cubes) + owners[best[behind]]
        for pair in np.unique(pairs).tolist():
            rows = behind[pairs == pair]
            better.append((pair // len(cubes), pair % len(cubes), end, groups[rows], groups[best[rows]], values[best[rows]]))
    for here, there, end, places, sources, values in better:
        taken = Taken(cubes[there], times[there], dict(zip(places.tolist(), sources.tolist(), strict=True)))
        cubes[here].take_over(taken, end, places, values)
    return bool(better)


def _shared(cube: Cube, axes: Sequence[Axis]) -> tuple[Whole, Whole]:
    """The groups of a cube that are described by few columns, and a number for each that is the same in all cubes; ``axes`` have all slots."""
    grid = np.unravel_index(np.arange(len(cube.lo)), cube.shape)
    columns = np.zeros(len(cube.lo), np.int64)
    for axis, slots in zip(cube.axes, grid, strict=True):
        if axis.key != MEMBER:
            columns += slots != axis.everything
    few = np.flatnonzero(columns <= MOST_COLUMNS)
    starts = np.cumsum([0, *(len(axis.slots) for axis in axes)])
    names = np.zeros(len(few), np.int64)
    for place, axis, slots in zip(cube.chosen, cube.axes, grid, strict=True):
        told = slots[few] != axis.everything
        number = np.array([axes[place].slot_of[mask] for mask in axis.slots])[slots[few]]
        names = np.where(told, names * (starts[-1] + 1) + starts[place] + number + 1, names)
    return few, names
