"""Bounds on every group of a cube, with proofs.

A cube has an axis for every column: its values, and "anything". One rule moves all bounds: a group is the sum of its parts along an axis. A
line about several groups, such as a ratio of two, moves bounds as well, and there people are whole numbers, so that it may round. If a cube
of all columns would be too large, there are several over columns that lines name together, which exchange bounds of common groups.

Every move is logged. Read backwards, the log gives a weighted sum of lines that proves a bound. A bound that was rounded becomes a step of
its own, which later steps may cite like a line.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from tacit.joint.boxes import MEMBER, MOST_GROUPS, Axis, Choice, Problem, count_groups
from tacit.model.arrays import Flags, Ints

End = Literal["lo", "hi"]
ENDS: tuple[End, ...] = ("lo", "hi")
#: Axes of a cube, by number.
Window = tuple[int, ...]
OPEN = 2**50  #: No count is larger; bounds above half of it mean "not bounded".
MOST_ROUNDS = 200  #: Most rounds; the bounds are valid at any time.
MOST_WINDOWS = 256  #: Most cubes.
WINDOW_GROUPS = 30_000  #: Most groups of each of several cubes.
THREADED_GROUPS = 20_000  #: Groups from which on cubes are tightened beside each other.
MOST_COLUMNS = 3  #: Most columns that describe a group whose bounds are exchanged.
MOST_EXCHANGES = 3  #: Most rounds of exchanges.
MOST_LITERALS = 3  #: Most items that describe a group that is asked about.
ASKED_WHOLE = 5_000  #: Every group of a cube of all columns is asked about if they are at most this many.
MOST_LONGER = 5_000  #: Most small groups with longer descriptions that are listed, the smallest first.


class Part(NamedTuple):
    """Bound used by a move: group (by its distance), end and multiplicity."""

    distance: int
    opposite: bool
    times: Fraction | int = 1


class Taken(NamedTuple):
    """Bounds of another cube after some of its moves, by both groups."""

    cube: Cube
    moves: int
    groups: Mapping[int, int]


class Move(NamedTuple):
    """Tightening of many groups by a line, sum or cube.

    ``line`` is -1 for sums; ``weight`` is the line's multiplicity in the lower (negative upper) bound, ``printed`` what its end adds.
    """

    end: End
    line: int
    parts: tuple[Part, ...]
    weight: Fraction | int = 0
    printed: Fraction | int = 0
    taken: Taken | None = None


Term = tuple[int, int]  #: Coefficient and group of a term of a line.


class Cube:
    """Bounds of groups over some axes; ``clash`` is one that no number fits, or -1."""

    def __init__(self, problem: Problem, chosen: Window) -> None:
        self.problem = problem
        self.chosen = chosen
        self.axes = [problem.axes[place] for place in chosen]
        self.shape = tuple(len(axis.slots) for axis in self.axes)
        self.strides: list[int] = np.cumprod([1, *self.shape[:0:-1]])[::-1].tolist()[: len(chosen)]
        self.lo: Ints = np.zeros(prod(self.shape), np.int64)
        self.hi: Ints = np.full(prod(self.shape), OPEN, np.int64)
        self.moves: list[Move] = []
        self.moved: list[tuple[Ints, Ints]] = []
        self.clash = -1
        self._has = frozenset(chosen)
        self._mixed: list[tuple[int, list[Term]]] = []
        self._seen: dict[int, list[int]] = {}
        self._idle: dict[tuple[int, int], int] = {}  # moves so far where an axis's sum moved no bound

    def slots(self, group: int) -> tuple[int, ...]:
        """Return the slot of a group on every axis."""
        return tuple(int(slot) for slot in np.unravel_index(group, self.shape))

    def box(self, group: int) -> dict[int, int]:
        """Return a group's classes by restricted axis."""
        chosen = zip(self.chosen, self.axes, self.slots(group), strict=True)
        return {place: axis.slots[slot] for place, axis, slot in chosen if slot != axis.everything}

    def group(self, masks: Mapping[int, int]) -> int | None:
        """Return the group that allows these classes, or None."""
        if not masks.keys() <= self._has:
            return None
        place = 0
        for number, axis, stride in zip(self.chosen, self.axes, self.strides, strict=True):
            slot = axis.everything if number not in masks else axis.slot_of[masks[number]]
            place += slot * stride
        return place

    def find_group(self, box: Mapping[int, int]) -> int | None:
        """Return the group of a box, None if the cube has none."""
        has_slots = all(mask in self.problem.axes[place].slot_of for place, mask in box.items())
        return self.group(box) if has_slots else None

    def tighten(self, lines: Sequence[int], check: Callable[[], None]) -> None:
        """Use these lines, and move bounds until nothing changes."""
        for number in lines:
            check()
            boxes = self.problem.boxes[number]
            terms = [(factor, group) for factor, masks in boxes if (group := self.group(masks)) is not None]
            if len(terms) < len(boxes):
                continue
            if len(terms) > 1:
                self._mixed.append((number, terms))
            else:
                self._use_line(number, terms)
        self.settle(check)

    def settle(self, check: Callable[[], None]) -> None:
        """Move bounds until nothing changes."""
        for _ in range(MOST_ROUNDS):
            before = len(self.moves)
            for line, terms in self._mixed:
                self._use_line(line, terms)
            for position, axis in enumerate(self.axes):
                check()
                for number, (whole, parts) in enumerate(axis.sums):
                    moved = len(self.moves)
                    if self._idle.get((position, number)) == moved:
                        continue  # no bound has moved since
                    self._sum(position, whole, parts)
                    if len(self.moves) == moved:
                        self._idle[position, number] = moved
                if self.clash >= 0:
                    return
            if len(self.moves) == before or self.clash >= 0:
                return

    def dive(self, group: int, people: int, check: Callable[[], None]) -> Ints | None:
        """Return people in every cell with so many in a group, or None if none are found.

        One cell after another gets the middle of its bounds, and the other bounds follow.
        """
        below = Cube(self.problem, self.chosen)
        below.lo = self.lo.copy()
        below.hi = self.hi.copy()
        below._mixed = self._mixed
        below._fix(group, people, check)
        cells = [below._place(slots) for slots in np.ndindex(*(len(axis.classes) for axis in self.axes))]
        for cell in cells:
            if below.clash >= 0 or below.hi[cell] >= OPEN // 2:
                return None
            if below.lo[cell] < below.hi[cell]:
                below._fix(cell, int(below.lo[cell] + below.hi[cell]) // 2, check)
        return None if below.clash >= 0 else below.lo[cells]

    def _fix(self, group: int, people: int, check: Callable[[], None]) -> None:
        self.lo[group] = people
        self.hi[group] = people
        self._idle.clear()
        self.settle(check)

    def _place(self, slots: Sequence[int]) -> int:
        return sum(slot * stride for slot, stride in zip(slots, self.strides, strict=True))

    def _use_line(self, number: int, terms: list[Term]) -> None:
        known = [int(bounds[group]) for _, group in terms for bounds in (self.lo, self.hi)]
        if self._seen.get(number) == known:
            return
        for place, term in enumerate(terms):
            others = terms[:place] + terms[place + 1 :]
            self._bound(number, term, others, "lo")
            self._bound(number, term, others, "hi")
        self._seen[number] = [int(bounds[group]) for _, group in terms for bounds in (self.lo, self.hi)]

    def _bound(self, number: int, term: Term, others: list[Term], end: End) -> None:
        own_factor, own_group = term
        sign = 1 if end == "lo" else -1
        positive = (sign > 0) == (own_factor > 0)
        line = self.problem.lines[number]
        printed = line.lo if positive else line.hi
        if printed is None:
            return
        # Times the coefficient all numbers are whole: |a| * (sign * people) >= +-printed + the others at their worst.
        size = abs(own_factor)
        reached = printed if positive else -printed
        parts = []
        for factor, group in others:
            adds = -factor if positive else factor
            used = int(self.lo[group] if adds > 0 else self.hi[group])
            if used >= OPEN // 2:
                return
            reached += adds * used
            parts.append((group - own_group, (adds > 0) == (end == "hi"), abs(adds)))
        value = sign * -(-reached // size)
        known = int((self.lo if sign > 0 else self.hi)[own_group])
        if (value <= known) if sign > 0 else (value >= known or value >= OPEN // 2):
            return
        used_parts = tuple(Part(distance, opposite, Fraction(times, size)) for distance, opposite, times in parts)
        weight = Fraction(1 if positive else -1, size)
        move = Move(end, number, used_parts, weight, printed=weight * printed)
        self.improve(move, np.array([own_group]), np.array([value]))

    def _sum(self, position: int, whole: int, parts: tuple[int, ...]) -> None:
        stride = self.strides[position]
        at = self._first[position]
        low_of = self._along(position, self.lo)
        high_of = self._along(position, self.hi)
        low = low_of[:, parts]
        high = high_of[:, parts]
        lows = np.add.reduce(low, axis=1)
        highs = np.add.reduce(high, axis=1)
        # On the few flags of most cubes, count_nonzero takes a tenth of the time of any.
        if np.count_nonzero(lows > low_of[:, whole]) or np.count_nonzero(highs < high_of[:, whole]):
            from_parts = tuple(Part((part - whole) * stride, False) for part in parts)
            self.improve(Move("lo", -1, from_parts), at + whole * stride, lows.ravel())
            self.improve(Move("hi", -1, from_parts), at + whole * stride, highs.ravel())
        least = (low_of[:, whole] - highs)[:, None] + high
        most = (high_of[:, whole] - lows)[:, None] + low
        if np.count_nonzero(least > low) or np.count_nonzero(most < high):
            self._sum_backwards(position, whole, parts)

    def _sum_backwards(self, position: int, whole: int, parts: tuple[int, ...]) -> None:
        """Bound each part by the whole less all others, one part after the other."""
        stride = self.strides[position]
        at = self._first[position]
        wholes = at + whole * stride
        pieces = [at + part * stride for part in parts]
        lows: Any = sum(self.lo[piece] for piece in pieces)
        highs: Any = sum(self.hi[piece] for piece in pieces)
        for part, piece in zip(parts, pieces, strict=True):
            low = self.lo[piece]
            high = self.hi[piece]
            better = self.lo[wholes] - (highs - high), self.hi[wholes] - (lows - low)
            if not (np.count_nonzero(better[0] > low) or np.count_nonzero(better[1] < high)):
                continue
            others = (Part((other - part) * stride, True) for other in parts if other != part)
            used = (Part((whole - part) * stride, False), *others)
            self.improve(Move("lo", -1, used), piece, better[0])
            # The lower bound of this part may have moved just now; its own end is not part of the rest.
            self.improve(Move("hi", -1, used), piece, better[1])
            lows = lows + self.lo[piece] - low
            highs = highs + self.hi[piece] - high

    def _along(self, position: int, bounds: Ints) -> Ints:
        """Return a view of bounds whose second axis is the slots of an axis."""
        return bounds.reshape(prod(self.shape[:position]), self.shape[position], -1)

    @cached_property
    def _first(self) -> list[Ints]:
        grid = np.arange(len(self.lo), dtype=np.int64).reshape(self.shape)
        return [np.take(grid, 0, axis=position).ravel() for position in range(len(self.shape))]

    def improve(self, move: Move, places: Ints, values: Ints) -> None:
        """Move the bounds of some groups where the values are better."""
        low = move.end == "lo"
        better = values > self.lo[places] if low else (values < self.hi[places]) & (values < OPEN // 2)
        if not np.count_nonzero(better):
            return
        chosen = places[better]
        reached = values[better]
        (self.lo if low else self.hi)[chosen] = reached
        self.moves.append(move)
        self.moved.append((chosen, reached))
        empty = np.flatnonzero(self.lo[chosen] > self.hi[chosen])
        if len(empty) and self.clash < 0:
            self.clash = int(chosen[empty[0]])


def make_cubes(
    problem: Problem, check: Callable[[], None] = lambda: None
) -> tuple[list[Cube], list[tuple[Problem, list[Window]]], int]:
    """Return cubes, windows by problem, and uncovered lines.

    If all axes are too wide for one cube that also has people who lack a single value, these have cubes of their own.
    """
    chosen, skipped = choose_windows(problem, check)
    found = [(problem, chosen)]
    if problem.lacking not in ((), problem.axes):
        lacking = replace(problem, axes=problem.lacking)
        found.append((lacking, choose_windows(lacking, check)[0]))
    return [Cube(one, window) for one, listed in found for window in listed], found, skipped


def choose_windows(problem: Problem, check: Callable[[], None] = lambda: None) -> tuple[list[Window], int]:
    """Choose the axes of every cube; count uncovered lines.

    The cubes that each release alone would need are among them, so that it reveals no less together with others.
    """
    everything = frozenset(range(len(problem.axes)))
    if _groups(problem, everything) <= MOST_GROUPS:
        return [tuple(sorted(everything))], 0
    always = frozenset(place for place, axis in enumerate(problem.axes) if axis.key == MEMBER)
    columns = [always.union(*(masks for _, masks in terms)) for terms in problem.boxes]
    chosen: dict[Window, None] = {}
    skipped = _add_windows(problem, Counter(columns), chosen, check)
    owners = [line.origin.release for line in problem.lines]
    for release in sorted(set(owners)) if len(set(owners)) > 1 else ():
        named = Counter(one for one, owner in zip(columns, owners, strict=True) if owner == release)
        own = always.union(*named)
        if _groups(problem, own) > MOST_GROUPS:
            _add_windows(problem, named, chosen, check)
        elif not any(own <= set(window) for window in chosen):
            chosen[tuple(sorted(own))] = None
    return list(chosen), skipped


def _add_windows(problem: Problem, named: Counter[frozenset[int]], chosen: dict[Window, None], check: Callable[[], None]) -> int:
    skipped = 0
    for start in _largest(named):
        check()
        if any(start <= set(window) for window in chosen):
            continue
        if _groups(problem, start) > MOST_GROUPS or len(chosen) >= MOST_WINDOWS:
            skipped += named[start]
            continue
        # The columns that lines name most often together with these are added while there is room.
        window = start
        near: Counter[int] = Counter()
        for columns, times in named.items():
            if columns & start:
                near.update(dict.fromkeys(columns - start, times))
        for column, _ in sorted(near.items(), key=lambda pair: (-pair[1], pair[0])):
            if _groups(problem, window | {column}) <= WINDOW_GROUPS:
                window |= {column}
        chosen[tuple(sorted(window))] = None
    return skipped


def _largest(named: Iterable[frozenset[int]]) -> list[frozenset[int]]:
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


def _groups(problem: Problem, chosen: frozenset[int]) -> int:
    return count_groups(problem.axes[place] for place in chosen)


def list_uncovered(problem: Problem, chosen: Sequence[Window], most: int) -> tuple[list[Window] | None, int]:
    """Return sets of up to three columns in no cube (None if too many), and their groups."""
    columns = [place for place, axis in enumerate(problem.axes) if axis.key != MEMBER]
    slots = {place: len(problem.axes[place].slots) - 1 for place in columns}
    members = [len(axis.slots) for axis in problem.axes if axis.key == MEMBER]
    sizes = range(1, MOST_COLUMNS + 1)
    windows = [[place for place in window if place in slots] for window in chosen]
    held = {subset for window in windows for size in sizes for subset in combinations(window, size)}
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
    every = (subset for size in sizes for subset in combinations(columns, size))
    return [subset for subset in every if subset not in held], groups


def tighten_cubes(cubes: list[Cube], check: Callable[[], None]) -> list[Cube]:
    """Tighten cubes to a fixed point, or to a contradiction."""
    _run_on_all(cubes, lambda cube: cube.tighten(range(len(cube.problem.lines)), check))
    for _ in range(MOST_EXCHANGES if len(cubes) > 1 else 0):
        if any(cube.clash >= 0 for cube in cubes) or not exchange(cubes):
            break
        _run_on_all(cubes, lambda cube: cube.settle(check))
    return cubes


def _run_on_all(cubes: Sequence[Cube], work: Callable[[Cube], None]) -> None:
    # Starting threads takes longer than tightening small cubes, and small arrays are never computed beside each other.
    if len(cubes) < 2 or sum(len(cube.lo) for cube in cubes) < THREADED_GROUPS:
        for cube in cubes:
            work(cube)
        return
    with ThreadPoolExecutor(min(len(cubes), os.cpu_count() or 1)) as pool:
        waiting = [pool.submit(work, cube) for cube in cubes]
        try:
            for done in waiting:
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what has not begun is not waited for
            raise


def exchange(cubes: Sequence[Cube]) -> bool:
    """Share the best bounds between cubes; tell if any improved."""
    axes = max((cube.problem.axes for cube in cubes), key=count_groups)
    slots = sum(len(axis.slots) for axis in axes)
    if (slots + 1) ** (MOST_COLUMNS + 1) >= 2**63:
        return False  # groups would have no number of their own
    shared = [_name_common_groups(cube, axes) for cube in cubes]
    names = np.concatenate([name for _, name in shared])
    groups = np.concatenate([group for group, _ in shared])
    owners = np.repeat(np.arange(len(cubes)), [len(group) for group, _ in shared])
    _, which = np.unique(names, return_inverse=True)
    times = [len(cube.moves) for cube in cubes]
    better: list[tuple[int, int, End, Ints, Ints, Ints]] = []
    for end in ENDS:
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
        cubes[here].improve(Move(end, -1, (), taken=taken), places, values)
    return bool(better)


def _name_common_groups(cube: Cube, axes: Sequence[Axis]) -> tuple[Ints, Ints]:
    """Number the groups of few columns across all cubes; ``axes`` have all slots."""
    grid = np.unravel_index(np.arange(len(cube.lo)), cube.shape)
    columns = np.zeros(len(cube.lo), np.int64)
    for axis, slots in zip(cube.axes, grid, strict=True):
        if axis.key != MEMBER:
            columns += slots != axis.everything
    few = np.flatnonzero(columns <= MOST_COLUMNS)
    starts = np.cumsum([0, *(len(axis.slots) for axis in axes)])
    names = np.zeros(len(few), np.int64)
    for place, axis, slots in zip(cube.chosen, cube.axes, grid, strict=True):
        is_named = slots[few] != axis.everything
        number = np.array([axes[place].slot_of[mask] for mask in axis.slots])[slots[few]]
        names = np.where(is_named, names * (starts[-1] + 1) + starts[place] + number + 1, names)
    return few, names


@dataclass(eq=False)
class Groups:
    """Groups of a cube: small, open and moving ones.

    ``unlisted`` counts small groups of long descriptions that are not listed because they are too many.
    """

    cube: Cube
    small: Flags
    asked: Flags
    moved: Flags
    literals: Ints
    unlisted: int = 0

    @classmethod
    def of(cls, cube: Cube, k: int) -> Groups:
        """Return the groups that items can describe."""
        problem = cube.problem
        size = len(cube.lo)
        literals = np.zeros(size, np.int64)
        has_words = np.ones(size, np.bool_)
        moved = np.zeros(size, np.bool_)
        grid = np.unravel_index(np.arange(size), cube.shape) if cube.shape else ()
        for position, axis in enumerate(cube.axes):
            slots = grid[position]
            if axis.key == MEMBER:
                names = [axis.named(slot) for slot in range(len(axis.slots))]
                has_words &= np.array([name in problem.members for name in names])[slots]
                moved |= np.array([bool(problem.members.get(name, ((), ()))[1]) for name in names])[slots]
                continue
            has_words &= np.array([axis.literals(slot) is not None for slot in range(len(axis.slots))])[slots]
            moved |= np.array([axis.has_changed(slot) for slot in range(len(axis.slots))])[slots]
            literals += slots != axis.everything
        some = has_words & ((literals > 0) | moved)
        is_whole = len(cube.chosen) == len(problem.axes) and size <= ASKED_WHOLE
        asked = some if is_whole else some & (literals <= MOST_LITERALS)
        for line in problem.cells:
            (_, masks), *_ = problem.boxes[line]
            if (cell := cube.group(masks)) is not None:
                asked[cell] = some[cell]  # every cell of a frequency table is a question, whatever its columns
        small = some & (cube.lo > 0) & (cube.hi < k)
        longer = np.flatnonzero(small & ~asked & ~moved)
        worst = longer[np.lexsort((literals[longer], cube.hi[longer]))]
        small[worst[MOST_LONGER:]] = False
        return cls(cube, small, asked, moved, literals=literals, unlisted=max(0, len(longer) - MOST_LONGER))

    def keep_only_lacking(self, problem: Problem) -> None:
        """Drop groups that a problem with fewer slots also describes."""
        fresh = np.zeros(len(self.small), np.bool_)
        grid = np.unravel_index(np.arange(len(self.small)), self.cube.shape) if self.cube.shape else ()
        for place, axis, slots in zip(self.cube.chosen, self.cube.axes, grid, strict=True):
            fresh |= np.array([mask not in problem.axes[place].slot_of for mask in axis.slots])[slots]
        self.small &= fresh
        self.asked &= fresh

    def choose_reported(self) -> Flags:
        """Return the groups to report, without duplicate descriptions.

        The shortest description is kept, or the longest one of people who left or joined. Values that no line names together describe
        a group only if no part of it is small.
        """
        cube = self.cube
        kept = self.small.copy()
        places = np.flatnonzero(self.small)
        exact = np.where(self.small & (cube.lo == cube.hi), cube.lo, -1)
        grid: Sequence[Ints] = np.unravel_index(places, cube.shape) if cube.shape else ()
        for axis, stride, slots in zip(cube.axes, cube.strides, grid, strict=True):
            if axis.key == MEMBER:
                continue
            any_change = [slot for slot in range(len(axis.slots)) if (change := axis.change(slot)) is not None and change.is_any]
            for general in (axis.everything, *any_change):
                narrower = (slots != axis.everything) & (slots != general)
                if general != axis.everything:
                    narrower &= np.array([axis.has_changed(slot) for slot in range(len(axis.slots))])[slots]
                wider = places + (general - slots) * stride
                says_more = narrower & (exact[places] > 0) & (exact[wider] == exact[places])
                kept[places[says_more & ~self.moved[places]]] = False
                kept[wider[says_more & self.moved[places]]] = False
            for union in range(axis.everything - axis.unions, axis.everything):
                own = places[slots == union]
                parts = [slot for slot, mask in enumerate(axis.slots) if mask & axis.slots[union] == mask and slot != union]
                kept[own[np.any([self.small[own + (part - union) * stride] for part in parts], axis=0)]] = False
        return kept


#: ``("line", number)``, ``("step", number)``, or in a case of a proof by cases ``("case", depth)``.
Cited = tuple[str, int]
Weights = Mapping[Cited, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """Branch that weights close."""

    weights: Weights
    impossible: bool


@dataclass(frozen=True, slots=True, eq=False)
class Threshold:
    """Branch on at most ``at`` people in the box, or more."""

    box: Mapping[int, int]
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Proof by cases: a threshold or a choice."""

    by: Threshold | Choice
    fewer: Tree
    more: Tree


Tree = Leaf | Split


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Proved bound on the people in a box.

    The weighted sum says ``people >= value``, for an upper bound ``-people >= -value``. The box gives the allowed classes by axis.
    """

    box: Mapping[int, int]
    end: End
    value: int
    weights: Weights
    cases: Tree | None = None

    @classmethod
    def by_cases(cls, box: Mapping[int, int], end: End, value: int, tree: Tree) -> Step:
        """Return a bound proved by a tree of cases."""
        return cls(box, end, value, {}, cases=tree) if isinstance(tree, Split) else cls(box, end, value, tree.weights)


class Entry(NamedTuple):
    """Bound of a group after a move."""

    cube: int
    move: int
    group: int
    end: End
    value: int


@dataclass(eq=False)
class Prover:
    """Writer of proofs over cubes that share bounds."""

    cubes: Sequence[Cube]
    _found: dict[Entry, dict[Cited, Fraction]] = field(default_factory=dict)
    _steps: dict[int, Step] = field(default_factory=dict)
    _logs: dict[int, dict[End, tuple[Ints, Ints, Ints]]] = field(default_factory=dict)

    def prove(self, cube: int, group: int, end: End) -> list[Step]:
        """Return the steps that prove a bound of a group."""
        return self.order_steps([self.step(cube, group, end)])

    def bounds(self, box: Mapping[int, int]) -> tuple[int, int]:
        """Return the closest bounds on a box that are known of any cube."""
        lo = 0
        hi = OPEN
        for cube in self.cubes:
            group = cube.find_group(box)
            if group is not None:
                lo = max(lo, int(cube.lo[group]))
                hi = min(hi, int(cube.hi[group]))
        return lo, hi

    def prove_ends(self, cube: int, group: int) -> tuple[list[Step], list[Step]]:
        """Return the proofs of both bounds of a group."""
        return self.prove(cube, group, "lo"), self.prove(cube, group, "hi")

    def step(self, cube: int, group: int, end: End) -> Step:
        """Return a bound of a group as a citable step."""
        weights, value = self._reached(cube, group, end)
        return self._as_step(self.cubes[cube].box(group), end, value, weights)

    def add_up(self, box: Mapping[int, int], end: End, value: int, used: Iterable[tuple[int, int, End]]) -> Step:
        """Return the bound that bounds of groups, by cube, group and end, add up to."""
        weights: dict[Cited, Fraction] = {}
        for cube, group, of in used:
            for cited, weight in self._reached(cube, group, of)[0].items():
                weights[cited] = weights.get(cited, Fraction(0)) + weight
        return self.keep(Step(box, end, value, {cited: weight for cited, weight in weights.items() if weight}))

    def keep(self, step: Step) -> Step:
        """Return the step, made citable by its identity."""
        self._steps[id(step)] = step
        return step

    def rounded_steps(self, cube: int) -> Iterator[Step]:
        """Yield the best bounds that rounding has reached."""
        own = self.cubes[cube]
        groups = {int(places[0]) for move, (places, _) in zip(own.moves, own.moved, strict=True) if move.line >= 0 and move.parts}
        for group in sorted(groups):
            for end in ENDS:
                weights, value = self._reached(cube, group, end)
                if any(kind == "step" for kind, _ in weights):
                    yield self._as_step(own.box(group), end, value, weights)

    def _reached(self, cube: int, group: int, end: End) -> tuple[dict[Cited, Fraction], int]:
        last = self._last(cube, group, end, len(self.cubes[cube].moves))
        if last is None:
            return {}, 0
        waiting = [(last, False)]
        seen = set[Entry]()
        while waiting:
            entry, has_premises = waiting.pop()
            if has_premises:
                self._found[entry] = self._weights(entry)
            elif entry not in seen and entry not in self._found:
                seen.add(entry)
                waiting.append((entry, True))
                waiting += [(used, False) for used, _, _ in self._used(entry)]
        return self._found[last], last.value

    def _used(self, entry: Entry) -> list[tuple[Entry, End, Fraction | int]]:
        """Return the bounds that a move used, except nonnegativity."""
        move = self.cubes[entry.cube].moves[entry.move]
        if move.taken is not None:
            there = self.cubes.index(move.taken.cube)
            used = self._last(there, move.taken.groups[entry.group], entry.end, move.taken.moves)
            return [] if used is None else [(used, entry.end, 1)]
        out: list[tuple[Entry, End, Fraction | int]] = []
        for part in move.parts:
            end: End = entry.end if not part.opposite else "hi" if entry.end == "lo" else "lo"
            used = self._last(entry.cube, entry.group + part.distance, end, entry.move)
            if used is not None:
                out.append((used, end, part.times))
        return out

    def _weights(self, entry: Entry) -> dict[Cited, Fraction]:
        move = self.cubes[entry.cube].moves[entry.move]
        sign = 1 if entry.end == "lo" else -1
        weights: dict[Cited, Fraction] = {}
        reached = Fraction(move.printed)
        for used, end, times in self._used(entry):
            reached += times * used.value * (1 if end == "lo" else -1)
            for cited, weight in self._found[used].items():
                weights[cited] = weights.get(cited, Fraction(0)) + times * weight
        if move.line >= 0:
            cited = ("line", move.line)
            weights[cited] = weights.get(cited, Fraction(0)) + move.weight
        weights = {cited: weight for cited, weight in weights.items() if weight}
        if sign * entry.value > reached:
            # Rounded to a whole person: later moves use the whole number, so this is a step by itself.
            step = self._as_step(self.cubes[entry.cube].box(entry.group), entry.end, entry.value, weights)
            return {("step", id(step)): Fraction(1)}
        return weights

    def _as_step(self, box: Mapping[int, int], end: End, value: int, weights: Weights) -> Step:
        if len(weights) == 1 and (cited := next(iter(weights)))[0] == "step":
            known = self._steps[cited[1]]
            if (known.end, known.value, known.box) == (end, value, box) and weights[cited] == 1:
                return known
        return self.keep(Step(box, end, value, weights))

    def order_steps(self, wanted: Sequence[Step]) -> list[Step]:
        """Order and number these steps and their premises."""
        order: list[Step] = []
        places: dict[int, int] = {}
        waiting = [(step, False) for step in reversed(wanted)]
        while waiting:
            step, ready = waiting.pop()
            if id(step) in places:
                continue
            if ready:
                places[id(step)] = len(order)
                order.append(step)
            else:
                cited = [number for weights in all_weights(step) for kind, number in weights if kind == "step"]
                waiting.append((step, True))
                waiting += [(self._steps[number], False) for number in reversed(cited) if number not in places]

        def renumber(weights: Weights) -> Weights:
            return {(kind, places[number] if kind == "step" else number): weight for (kind, number), weight in weights.items()}

        return [rewrite_step(step, renumber) for step in order]

    def _last(self, cube: int, group: int, end: End, before: int) -> Entry | None:
        if cube not in self._logs:
            self._logs[cube] = _log(self.cubes[cube])
        groups, moves, values = self._logs[cube][end]
        first, after = np.searchsorted(groups, [group, group + 1])
        place = int(first) + int(np.searchsorted(moves[first:after], before)) - 1
        return Entry(cube, int(moves[place]), group, end, value=int(values[place])) if place >= first else None


def all_weights(step: Step) -> Iterator[Weights]:
    """Yield the weights of a step and its cases."""
    yield step.weights
    yield from (tree.weights for tree in _branches(step) if isinstance(tree, Leaf))


def all_choices(step: Step) -> Iterator[Choice]:
    """Yield the choices in the cases of a step."""
    return (tree.by for tree in _branches(step) if isinstance(tree, Split) and isinstance(tree.by, Choice))


def _branches(step: Step) -> Iterator[Tree]:
    waiting = [] if step.cases is None else [step.cases]
    while waiting:
        tree = waiting.pop()
        yield tree
        if isinstance(tree, Split):
            waiting += [tree.more, tree.fewer]


def rewrite_step(
    step: Step,
    weights_of: Callable[[Weights], Weights],
    box_of: Callable[[Mapping[int, int]], Mapping[int, int]] = lambda box: box,
    choice_of: Callable[[Choice], Choice] = lambda choice: choice,
) -> Step:
    """Return a step with all weights, boxes and choices rewritten."""

    def rewrite(tree: Tree) -> Tree:
        if isinstance(tree, Leaf):
            return Leaf(weights_of(tree.weights), tree.impossible)
        by = Threshold(box_of(tree.by.box), tree.by.at) if isinstance(tree.by, Threshold) else choice_of(tree.by)
        return Split(by, rewrite(tree.fewer), rewrite(tree.more))

    cases = None if step.cases is None else rewrite(step.cases)
    return Step(box_of(step.box), step.end, step.value, weights_of(step.weights), cases=cases)


def _log(cube: Cube) -> dict[End, tuple[Ints, Ints, Ints]]:
    found: dict[End, tuple[Ints, Ints, Ints]] = {}
    none = np.empty(0, np.int64)
    for end in ENDS:
        chosen = [number for number, move in enumerate(cube.moves) if move.end == end]
        groups = np.concatenate([none, *(cube.moved[number][0] for number in chosen)])
        values = np.concatenate([none, *(cube.moved[number][1] for number in chosen)])
        moves = np.repeat(np.array(chosen, np.int64), [len(cube.moved[number][0]) for number in chosen])
        order = np.lexsort((moves, groups))
        found[end] = groups[order], moves[order], values[order]
    return found
