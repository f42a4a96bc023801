"""Conditions of releases that lines cannot state.

A rule that is missing from a complete list is too rare or too weak; a cell that prints 0 is empty or holds enough people; each row of a
table with blanks has a person of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import ceil, floor, prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import MEMBER, Allowed, Axis, Box, Choice, Key, Line, Origin, Tally, literal
from tacit.model.arrays import Flags, Ints
from tacit.model.numbers import Bound
from tacit.model.release import Rules


def _tally_scope(scope: Box, axes: Sequence[Axis], tally: Tally, places: Sequence[int]) -> npt.NDArray[Any]:
    if MEMBER not in scope:
        return tally(places)
    member = next(place for place, axis in enumerate(axes) if axis.key == MEMBER)
    inside = axes[member].mask(scope[MEMBER])
    kept = [bit for bit in range(len(axes[member].classes)) if inside >> bit & 1]
    return np.asarray(tally((member, *places))[kept].sum(axis=0))


MOST_MISSING = 5_000  #: Most missing rules of one release that are used.
MOST_ANTECEDENTS = 20_000  #: Most antecedents that are looked at in a world.
Antecedent = frozenset[tuple[str, str]]


class MissingRules:
    """Rules that a complete list excludes."""

    def __init__(self, number: int, release: Rules, scope: Box) -> None:
        header = release.header
        pairs = release.items.pairs
        assert pairs is not None
        assert header.min_confidence is not None
        self._number = number
        self._header = header
        self._scope = scope
        self._min_support = header.min_support or 1
        self._confidence = header.min_confidence
        self._sensitive = Key("column", header.sa[0])
        self._listed = {
            (frozenset(pairs[item] for item in left.tolist()), pairs[right[0]][1])
            for left, right in zip(release.antecedents, release.consequents, strict=True)
        }
        self.left_out = 0
        #: Rules over some columns that need not be too rare or too weak, once they were asked for.
        self._known: dict[object, Flags] = {}

    @property
    def says(self) -> tuple[object, ...]:
        """Everything that decides which people meet the condition."""
        header = self._header
        limits = (self._min_support, self._confidence, header.strict, header.max_length)
        return (*limits, header.qi, header.sa, header.sa_values, tuple(self._scope.items()), frozenset(self._listed))

    def lines(self, known: Sequence[Line]) -> Iterator[Line]:
        """Yield the bounds of missing rules, given ``known`` bounds of antecedents."""
        most = self._antecedents(known, "hi")
        yield from self._share_lines(self._antecedents(known, "lo"))
        said: dict[tuple[Antecedent, str], int] = {}
        for antecedent in sorted(most, key=lambda one: (len(one), sorted(one))):
            people, given = most[antecedent]
            share = self._confidence * people
            limit = max(self._min_support - 1, floor(share) if self._header.strict else ceil(share) - 1)
            for value in self._header.sa_values:
                shorter = (said.get((antecedent - {one}, value)) for one in antecedent)
                is_implied = any(one is not None and one <= limit for one in shorter)
                if is_implied or limit >= people or (antecedent, value) in self._listed:
                    continue
                if len(said) >= MOST_MISSING:
                    self.left_out += 1
                    return
                said[antecedent, value] = limit
                yield self._line(antecedent, value, limit, given)

    def _share_lines(self, least: Mapping[Antecedent, tuple[int, Origin]]) -> Iterator[Line]:
        """Yield bounds on shares, if even the fewest people make a rule frequent enough."""
        for antecedent in sorted(least, key=lambda one: (len(one), sorted(one))):
            people, given = least[antecedent]
            share = self._confidence * people
            enough = floor(share) + 1 if self._header.strict else ceil(share)
            if given.printed.is_exact or enough < self._min_support:
                continue
            for value in self._header.sa_values:
                if (antecedent, value) not in self._listed:
                    line = self._line(antecedent, value, people, given)
                    place = f"share of {line.origin.place}"
                    origin = replace(line.origin, place=place, what="missing-share", printed=Bound.of(people))
                    yield self._weak(replace(line, origin=origin))

    def _weak(self, line: Line) -> Line:
        having = line.terms[0][1]
        top, under = self._confidence.as_integer_ratio()
        whole = {key: allowed for key, allowed in having.items() if key != self._sensitive}
        return Line(((top, whole), (-under, having)), 0 if self._header.strict else 1, None, line.origin)

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Tell if classes on these axes decide the listed rules."""
        columns, sensitive = self._places(axes)
        if sensitive is None:
            return False
        plain = all(len(values) == 1 for number in (*columns, sensitive) for values in axes[number].classes)
        every = prod(len(axes[number].classes) + 1 for number in columns)
        return plain and every <= MOST_ANTECEDENTS

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield violated missing rules, or nearly violated ones; stronger than :meth:`lines`."""
        columns, sensitive = self._places(axes)
        assert sensitive is not None
        counts = _tally_scope(self._scope, axes, tally, (*columns, sensitive))
        if self._min_support == 1:
            # Nobody has unnamed values: one person may make a rule of which nothing is known here.
            for place, number in enumerate(columns):
                values = [str(one) for (one,) in axes[number].classes if one is not None]
                unnamed = [bit for bit, (one,) in enumerate(axes[number].classes) if one is None]
                if counts.take(unnamed, axis=place).any():
                    box = {axes[number].key: Allowed(frozenset(values), excluded=True), **self._scope}
                    origin = Origin(self._number, axes[number].key.name, "missing-rule", Bound(0, 0))
                    yield Choice(Line.about(box, None, 0, origin), None)
        for size in range(1, len(columns) + 1):
            if not self._header.covers(size):
                break
            for chosen in combinations(range(len(columns)), size):
                rest = tuple(place for place in range(len(columns)) if place not in chosen)
                fixed = [axes[columns[place]] for place in chosen]
                yield from self._strong_choices(counts.sum(axis=rest), fixed, axes[sensitive], room)

    def _places(self, axes: Sequence[Axis]) -> tuple[list[int], int | None]:
        place = {axis.key: number for number, axis in enumerate(axes)}
        columns = [place[Key("column", name)] for name in self._header.qi if Key("column", name) in place]
        return columns, place.get(self._sensitive)

    def _strong_choices(self, counts: npt.NDArray[Any], fixed: Sequence[Axis], sensitive: Axis, room: float) -> Iterator[Choice]:
        """Yield that unlisted rules over some columns are too rare or too weak."""
        top, under = self._confidence.as_integer_ratio()
        rare = self._min_support - 1 - counts
        # In people as well: one person more or less changes this sum by at most ``top + under``.
        weak = (top * counts.sum(axis=-1, keepdims=True) - under * counts - (0 if self._header.strict else 1)) / (top + under)
        broken = (np.maximum(rare, weak) < room) & ~self._excepted((*fixed, sensitive))
        for place in np.argwhere(broken).tolist():
            *values, consequent = (axis.classes[bit][0] for axis, bit in zip((*fixed, sensitive), place, strict=True))
            named = frozenset((axis.key.name, str(one)) for axis, one in zip(fixed, values, strict=True))
            fewer = self._line(named, str(consequent), self._min_support - 1, None)
            yield Choice(fewer, self._weak(fewer), first=bool(rare[tuple(place)] >= weak[tuple(place)]))

    def _excepted(self, axes: Sequence[Axis]) -> Flags:
        """Tell which rules over some columns are listed, or about people with values that nobody names: these may all have different ones."""
        shown = tuple((axis.key.name, axis.classes) for axis in axes)
        if shown not in self._known:
            columns = [axis.key.name for axis in axes[:-1]]
            every = product(*([one for one, *_ in axis.classes] for axis in axes))
            flags = [None in one or (frozenset(zip(columns, one, strict=False)), one[-1]) in self._listed for one in every]
            self._known[shown] = np.array(flags, np.bool_).reshape([len(axis.classes) for axis in axes])
        return self._known[shown]

    def _antecedents(self, lines: Sequence[Line], end: Literal["lo", "hi"]) -> Mapping[Antecedent, tuple[int, Origin]]:
        columns = set(self._header.qi)
        best = dict[Antecedent, tuple[int, Origin]]()
        for line in lines:
            bound = line.hi if end == "hi" else line.lo
            if len(line.terms) != 1 or line.terms[0][0] != 1 or bound is None:
                continue
            box = line.terms[0][1]
            fixed = {key: allowed for key, allowed in box.items() if key != MEMBER}
            is_plain = all(
                key.kind == "column" and key.name in columns and not allowed.excluded and len(allowed.values) == 1
                for key, allowed in fixed.items()
            )
            if not fixed or not is_plain or not self._header.covers(len(fixed)) or box.get(MEMBER) != self._scope.get(MEMBER):
                continue
            antecedent = frozenset((key.name, next(iter(allowed.values))) for key, allowed in fixed.items())
            known = best.get(antecedent)
            if known is None or (bound < known[0] if end == "hi" else bound > known[0]):
                best[antecedent] = bound, line.origin
        return best

    def _line(self, antecedent: Antecedent, value: str, limit: int, given: Origin | None) -> Line:
        fixed = [*sorted(antecedent), (self._sensitive.name, value)]
        box = {Key("column", name): Allowed(frozenset([one])) for name, one in fixed}
        items = tuple(literal(Key("column", name), one) for name, one in fixed)
        place = f"missing rule {' and '.join(items[:-1])} => {items[-1]}"
        origin = Origin(self._number, place, "missing-rule", Bound(0, limit), items=items, given=given)
        return Line.about({**box, **self._scope}, None, limit, origin)


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Condition that cells are empty or hold ``least`` people."""

    cells: tuple[Line, ...]
    least: int

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Return True: cells are boxes of the axes."""
        return bool(axes) or not self.cells

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield the cells that are nonempty but too small, or nearly."""
        place = {axis.key: number for number, axis in enumerate(axes)}
        for line in self.cells:
            box = line.terms[0][1]
            counts = tally([place[key] for key in box])
            for key, allowed in reversed(list(box.items())):
                mask = axes[place[key]].mask(allowed)
                counts = counts[..., [bit for bit in range(counts.shape[-1]) if mask >> bit & 1]].sum(axis=-1)
            people = float(counts)
            if max(-people, people - self.least) < room:
                first = 2 * people < self.least
                yield Choice(replace(line, lo=None, hi=0), replace(line, lo=self.least, hi=None), first)


@dataclass(frozen=True, slots=True, eq=False)
class ShownColumn:
    """Column of a table: indices into ``values``, -1 if blank."""

    name: str
    values: tuple[str, ...]
    codes: Ints

    @property
    def has_blanks(self) -> bool:
        """True if a cell is blank."""
        return bool((self.codes < 0).any())

    def over(self, values: Sequence[str]) -> ShownColumn:
        """Return the column coded over more values."""
        place = {value: code for code, value in enumerate(values)}
        lookup = np.array([*(place[value] for value in self.values), -1], np.int64)
        return ShownColumn(self.name, tuple(values), lookup[self.codes])


MOST_KINDS = 5_000  #: Most kinds of people that rows are matched to.
MOST_PAIRS = 1_000_000  #: Most pairs of a kind of row and a kind of people.


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Condition that each row with blanks has a person.

    Bounds on boxes imply this in part only. In a table with the rows (x, blank) and (blank, h), two people have x or h, and that is not a
    box. So a world is matched to the rows by a maximum flow; if that fails, the minimum cut names the people who are missing.
    """

    number: int
    columns: tuple[ShownColumn, ...]
    scope: Box

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Tell if kinds of people and rows are few enough."""
        used = self._used(axes)
        kinds = prod(len(axis.classes) for axis, _, _ in used)
        return not used or (kinds <= MOST_KINDS and kinds * len(_patterns(used)[0]) <= MOST_PAIRS)

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield that enough people have what some rows show."""
        used = self._used(axes)
        if not used:
            return
        people = _tally_scope(self.scope, axes, tally, [place for _, place, _ in used])
        if not np.issubdtype(people.dtype, np.integer):
            return
        shown = [axis for axis, _, _ in used]
        if room:
            for kind in np.ndindex(*people.shape):
                yield Choice(self._line(shown, [kind], int(people[kind]), int(people[kind])), None)
            return
        short = find_shortage(*_patterns(used), people)
        if short is not None:
            kinds, least = short
            yield Choice(self._line(shown, kinds, least, None), None)

    def _used(self, axes: Sequence[Axis]) -> list[tuple[Axis, int, ShownColumn]]:
        place = {axis.key: number for number, axis in enumerate(axes)}
        known = ((place.get(Key("column", column.name)), column) for column in self.columns)
        return [(axes[number], number, column) for number, column in known if number is not None]

    def _line(self, axes: Sequence[Axis], kinds: Iterable[Sequence[int]], lo: int, hi: int | None) -> Line:
        terms = []
        for kind in kinds:
            box: dict[Key, Allowed] = dict(self.scope)
            for axis, bit in zip(axes, kind, strict=True):
                box[axis.key] = axis.allowed(1 << bit)
            terms.append((1, box))
        return Line(tuple(terms), lo, hi, Origin(self.number, "rows", "rows", Bound(lo, lo if hi is None else hi)))


def _patterns(used: Sequence[tuple[Axis, int, ShownColumn]]) -> tuple[Ints, Ints]:
    return np.unique(np.stack([classes_of(axis, column) for axis, _, column in used], axis=1), axis=0, return_counts=True)


def classes_of(axis: Axis, column: ShownColumn) -> Ints:
    """Return each row's class on an axis, -1 if blank."""
    of_value = {value: place for place, values in enumerate(axis.classes) for value in values}
    lookup = np.array([*(of_value.get(value, of_value.get(None, -1)) for value in column.values), -1], np.int64)
    return lookup[column.codes]


def find_shortage(patterns: Ints, rows: Ints, people: npt.NDArray[np.generic]) -> tuple[list[tuple[int, ...]], int] | None:
    """Return kinds of people too few for their rows, and how many rows, or None.

    >>> x_or_h = np.array([[0, -1], [-1, 1]])  # rows (x, blank) and (blank, h) of a table with the values x, y and g, h
    >>> find_shortage(x_or_h, np.array([1, 1]), np.array([[0, 1], [1, 0]]))
    ([(0, 0), (0, 1), (1, 1)], 2)
    >>> find_shortage(x_or_h, np.array([1, 1]), np.array([[1, 0], [0, 1]])) is None
    True
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    kinds = np.stack(np.unravel_index(np.arange(people.size), people.shape), axis=1)
    fits = ((patterns[:, None, :] < 0) | (patterns[:, None, :] == kinds[None, :, :])).all(axis=2)
    row, kind = np.nonzero(fits)
    # The source, kinds of rows, kinds of people, the sink.
    count = len(rows)
    size = len(rows) + people.size + 2
    start = np.concatenate((np.zeros(count, np.int64), row + 1, np.arange(people.size) + count + 1))
    end = np.concatenate((np.arange(count) + 1, kind + count + 1, np.full(people.size, size - 1)))
    room = np.concatenate((rows, rows[row], people.ravel())).astype(np.int32)
    graph = csr_array((room, (start, end)), shape=(size, size))
    flow = maximum_flow(graph, 0, size - 1)
    if flow.flow_value == rows.sum():
        return None
    left = csr_array(graph - flow.flow)
    left.eliminate_zeros()
    reached = breadth_first_order(left, 0, return_predecessors=False)
    short = reached[(reached > 0) & (reached <= count)] - 1
    needed = np.flatnonzero(fits[short].any(axis=0))
    return [tuple(one) for one in kinds[needed].tolist()], int(rows[short].sum())
