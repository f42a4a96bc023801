"""Search for negative rules.

**All rules.** The search goes through the columns one after the other, each at all its levels. Rows are kept in groups, all groups of one
choice of levels at a time, as long as a group has enough people for some value. Every antecedent that is frequent enough is looked at, so all
rules come out, and the number of antecedents is known.

**Minimal rules** in many columns: nothing is looked at that a rule already decides. An antecedent stays open for a value as long as the value
occurs in it, as it does in every more general antecedent, and enough of its people lack the value. Where it is open for no value, nothing below
it is looked at (the pruning of Apriori, value by value). The choices of levels are visited in depth, and so that more general ones come first:
only the rows of one path are in memory at a time.

**Fuzzy columns.** A numeric value close to a set of values (a value, or an interval) belongs to it in part: to the degree ``1 - distance /
(spread + step)``, where the distance is to the nearest value of the set and the step is that of the column's last printed digit (1 for whole
numbers). With spread 2, the ages 28 to 32 belong to the age 30 to the degrees 1/3, 2/3, 1, 2/3, 1/3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Floats, Ints, Words
from tacit.model.errors import InputError, LimitReached, OptionError, nearest_name
from tacit.model.negative import Node
from tacit.model.numbers import exact
from tacit.model.policy import Limits
from tacit.model.table import ROOT, Column, Hierarchy, Table

_MOST_STEPS = 1 << 53  #: Distances are counted in steps; beyond this many a double no longer distinguishes them.


@dataclass(frozen=True, eq=False)
class _Scale:
    """Values of a column and hierarchy in steps; the largest distance that belongs."""

    place: dict[str, int]
    reach: float

    @classmethod
    def of(cls, column: Column, tree: Hierarchy | None, spread: Fraction) -> _Scale:
        numbers = {}
        for code, value in enumerate(column.values):
            row = int(np.flatnonzero(column.codes == code)[0]) + 1
            numbers[value] = _read_number(value, f"column {column.name!r}, row {row} of the data")
        if tree is not None:
            for line, value in enumerate(tree.levels, start=1):
                if value not in numbers:
                    numbers[value] = _read_number(value, f"{tree.file}, value {line}")
        per_step = 1
        while per_step < _MOST_STEPS and any((number * per_step).denominator > 1 for number in numbers.values()):
            per_step *= 10
        place = {value: int(number * per_step) for value, number in numbers.items()}
        if per_step >= _MOST_STEPS or max(map(abs, place.values()), default=0) > _MOST_STEPS:
            what = f"the values of column {column.name!r} have too many digits to be compared"
            raise InputError(what, where="--fuzzy", remedy="Round them, or leave the column out")
        return cls(place, float(spread * per_step) + 1)

    def degrees(self, members: Sequence[str], values: Sequence[str]) -> tuple[Ints, Floats]:
        inside = np.array(sorted({self.place[value] for value in members}), np.int64)
        asked = np.array([self.place[value] for value in values], np.int64)
        above = np.searchsorted(inside, asked)
        upward = inside[np.minimum(above, len(inside) - 1)] - asked
        downward = asked - inside[np.maximum(above - 1, 0)]
        distance = np.minimum(np.abs(upward), np.abs(downward))
        close = np.flatnonzero(distance < self.reach)
        return close, 1 - distance[close] / self.reach


def check_spreads(given: Mapping[str, object] | None, qi: Sequence[str]) -> dict[str, Fraction]:
    """Return the spreads of fuzzy columns, checked."""
    spreads = {}
    for name, spread in (given or {}).items():
        if name not in qi:
            known = nearest_name(name, qi, "quasi-identifying columns")
            raise OptionError(f"{name!r} is not a quasi-identifying column", where="--fuzzy", remedy=known)
        remedy = f"Write for instance --fuzzy {name}=2 (Python: fuzzy={{{name!r}: 2}})"
        try:
            spreads[name] = exact(spread, where=f"--fuzzy {name}")
        except OptionError as error:
            raise OptionError(error.what, where=error.where, remedy=remedy) from None
        if spreads[name] <= 0:
            raise OptionError("the spread must be more than 0", where=f"--fuzzy {name}", remedy=remedy)
    return spreads


def _read_number(value: str, where: str) -> Fraction:
    try:
        return exact(value, where=where)
    except OptionError:
        remedy = "Leave the column out of --fuzzy, or drop rows with missing values"
        raise InputError("is not a number", where=where, remedy=remedy) from None


@dataclass(frozen=True, eq=False)
class _Level:
    """Level of a column: each raw value's node, or -1.

    In a fuzzy column a raw value belongs to other nodes of the height as well, to a degree: ``shoulders`` are where the nodes of each value
    start, the nodes, and the degrees.
    """

    node: Ints
    shoulders: tuple[Ints, Ints, Floats] | None = None


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Entries of rows in groups; in several, to a degree, if fuzzy."""

    row: Ints
    group: Ints
    degree: Floats | None = None

    def at(self, level: _Level, codes: Ints) -> tuple[_Grouped, Ints]:
        if level.shoulders is None:
            node = level.node[codes[self.row]]
            inside = node >= 0
            return (self, node) if inside.all() else (self.only(inside, self.group), node[inside])
        starts, nodes, degrees = level.shoulders
        code = codes[self.row]
        times = starts[code + 1] - starts[code]
        ends = np.cumsum(times)
        place = np.arange(int(times.sum())) + np.repeat(starts[code] - ends + times, times)
        degree = degrees[place] * (1.0 if self.degree is None else np.repeat(self.degree, times))
        return _Grouped(np.repeat(self.row, times), np.repeat(self.group, times), degree), nodes[place]

    def people(self, weights: Ints) -> Ints | Floats:
        return weights[self.row] if self.degree is None else weights[self.row] * self.degree

    def only(self, inside: npt.NDArray[np.bool_], group: Ints) -> _Grouped:
        if inside.all():
            return _Grouped(self.row, group, self.degree)
        return _Grouped(self.row[inside], group[inside], None if self.degree is None else self.degree[inside])


@dataclass(frozen=True, eq=False)
class Case:
    """Distinct weighted rows as codes; nodes of columns and their parents."""

    codes: tuple[Ints, ...]
    values: Ints
    weights: Ints
    levels: tuple[tuple[_Level, ...], ...]
    nodes: tuple[Node, ...]
    parent: Ints
    n_values: int

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.weights.sum())

    @property
    def shares(self) -> Floats:
        """Share of the people who have each sensitive value."""
        return np.bincount(self.values, self.weights, self.n_values) / max(1, self.n)

    @property
    def everyone(self) -> _Grouped:
        """All rows in one group."""
        return _Grouped(np.arange(len(self.values)), np.zeros(len(self.values), np.int64))

    @property
    def is_fuzzy(self) -> bool:
        """True if some column is fuzzy."""
        return any(level.shoulders is not None for levels in self.levels for level in levels)

    @classmethod
    def of(cls, people: Table, hierarchies: Mapping[str, Hierarchy], spreads: Mapping[str, Fraction]) -> Case:
        """Make the case of a table."""
        columns = [people.column(name) for name in people.schema.qi]
        sa = people.sa
        merged = Table((*columns, sa), people.weights).merged()
        nodes: list[Node] = []
        parent: list[int] = []
        levels = []
        for column in columns:
            tree = hierarchies.get(column.name)
            found, above, of_column = _list_levels(column, tree, len(nodes))
            if column.name in spreads:
                scale = _Scale.of(column, tree, spreads[column.name])
                of_column = _soften(column, tree, found, of_column, first=len(nodes), scale=scale)
            nodes += found
            parent += above
            levels.append(of_column)
        codes = tuple(column.codes.astype(np.int64) for column in merged.columns[:-1])
        values = merged.columns[-1].codes.astype(np.int64)
        return cls(
            codes,
            values,
            merged.weights,
            tuple(levels),
            nodes=tuple(nodes),
            parent=np.array(parent, np.int64),
            n_values=len(sa.values),
        )


_Key = tuple[str, int]  #: A coarser value: its name, and 1, 2, .. where it only repeats a raw value.


def _list_levels(column: Column, tree: Hierarchy | None, first: int) -> tuple[list[Node], list[int], tuple[_Level, ...]]:
    """Return a column's nodes (raw values first), parents, and levels."""
    chains: list[list[_Key]] = [[] for _ in column.values]
    if tree is not None:
        values = set(column.values)
        for chain, value in zip(chains, column.values, strict=True):
            chain += [(value, again) for again in range(1, 1 + tree.repeated.get(value, 0))]
            chain += [(node, 0) for node in tree.levels.get(value, ()) if node != ROOT and node not in values]
    height: dict[_Key, int] = {}  # the largest number of steps from a raw value
    for chain in chains:
        for step, key in enumerate(chain, 1):
            height[key] = max(step, height.get(key, 0))
    coarser = sorted(height)
    members: dict[_Key, list[str]] = {key: [] for key in coarser}
    number = {key: first + len(column.values) + place for place, key in enumerate(coarser)}
    parent = [-1] * (len(column.values) + len(coarser))
    for code, (value, chain) in enumerate(zip(column.values, chains, strict=True)):
        for key in chain:
            members[key].append(value)
        for low, high in pairwise([first + code, *(number[key] for key in chain)]):
            parent[low - first] = high
    nodes = [Node(column.name, value, (value,)) for value in column.values]
    nodes += [Node(column.name, key[0], tuple(sorted(members[key]))) for key in coarser]
    levels = [_Level(first + np.arange(len(column.values)))]
    for step in range(1, 1 + max(height.values(), default=0)):
        own = [next((number[key] for key in chain if height[key] == step), -1) for chain in chains]
        levels.append(_Level(np.array(own, np.int64)))
    return nodes, parent, tuple(levels)


def _soften(
    column: Column, tree: Hierarchy | None, nodes: list[Node], levels: tuple[_Level, ...], first: int, scale: _Scale
) -> tuple[_Level, ...]:
    close = []
    degrees = []
    for place, node in enumerate(nodes):
        # A coarser value is as wide as its hierarchy says, whichever of its values occur.
        members = node.members if tree is None or place < len(column.values) else tree.members(node.name) or node.members
        near, degree = scale.degrees(members, column.values)
        close.append(near)
        degrees.append(degree)
    softened = []
    for level in levels:
        of_level = np.unique(level.node[level.node >= 0]).tolist()
        code = np.concatenate([close[node - first] for node in of_level])
        nodes_of = np.repeat(of_level, [len(close[node - first]) for node in of_level])
        degree_of = np.concatenate([degrees[node - first] for node in of_level])
        order = np.argsort(code, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(code, minlength=len(column.values))))
        softened.append(_Level(level.node, (starts, nodes_of[order].astype(np.int64), degree_of[order])))
    return tuple(softened)


@dataclass(frozen=True)
class Watch:
    """Progress and time limits over several rounds."""

    limits: Limits
    progress: Callable[[float], None] | None = None
    rounds: int = 1
    number: int = 0

    def check(self) -> None:
        """Raise when time is over."""
        try:
            self.limits.check("--time-limit")
        except LimitReached as error:
            remedy = f"{error.remedy}, or ask for shorter antecedents with --max-length"
            raise LimitReached(error.what, where=error.where, remedy=remedy) from None

    def tell(self, done: float) -> None:
        """Say which share of this round is done."""
        self.check()
        if self.progress is not None:
            self.progress((self.number + done) / self.rounds)


def _find_heights(case: Case) -> Ints:
    height = np.full(len(case.nodes) + 1, -1, np.int64)
    for of_column in case.levels:
        for step, level in enumerate(of_column):
            height[level.node[level.node >= 0]] = step
    return height


@dataclass(frozen=True, eq=False)
class Bar:
    """Thresholds: ``needed`` people by value, and the ``tolerated`` share."""

    needed: Floats
    tolerated: Fraction = Fraction(0)

    @property
    def least(self) -> float:
        """Fewest people that any value needs."""
        return float(self.needed.min(initial=np.inf))


@dataclass(frozen=True, eq=False)
class Found:
    """Rules found: antecedents as nodes, excluded values, and counts."""

    antecedents: npt.NDArray[np.int32]
    excluded: Ints
    support: Floats
    against: Floats
    itemsets: int

    def __len__(self) -> int:
        return len(self.excluded)

    def only(self, keep: Flags) -> Found:
        """Return the rules under a mask."""
        return Found(self.antecedents[keep], self.excluded[keep], self.support[keep], self.against[keep], self.itemsets)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Antecedents over the same levels, with their rows."""

    nodes: npt.NDArray[np.int32]
    people: Floats
    rows: _Grouped

    def counts(self, case: Case, values: Ints) -> Floats:
        key = self.rows.group * case.n_values + values[self.rows.row]
        size = len(self.people) * case.n_values
        counts: Floats = np.bincount(key, self.rows.people(case.weights), size).astype(np.float64)
        return counts.reshape(-1, case.n_values)

    def absent(self, case: Case, values: Ints) -> Flags:
        key = self.rows.group * case.n_values + values[self.rows.row]
        absent: Flags = np.bincount(key, minlength=len(self.people) * case.n_values) == 0
        return absent.reshape(-1, case.n_values)


def needed_people(shares: Floats, log_doubt: float) -> Floats:
    """Count the people that make an absence matter; ``log_doubt``: log(1 - expectation)."""
    if log_doubt >= 0:
        return np.ones(len(shares))
    with np.errstate(divide="ignore"):
        return np.where(shares < 1, log_doubt / np.where(shares > 0, np.log1p(-np.minimum(shares, 1)), -0.0), 1.0)


def rules_of_each(case: Case, values: Sequence[Ints], bar: Bar, length: int, watch: Watch) -> list[Found]:
    """Return all rules of each assignment of values."""
    parts: list[list[Found]] = [[] for _ in values]
    itemsets = 0
    for batch in frequent(case, bar.least, length, watch):
        itemsets += len(batch.people)
        enough = batch.people[:, None] >= bar.needed
        for of_rows, found in zip(values, parts, strict=True):
            if bar.tolerated == 0:
                group, value = np.nonzero(batch.absent(case, of_rows) & enough)
                against = np.zeros(len(group))
            else:
                counts = batch.counts(case, of_rows)
                group, value = np.nonzero(_is_few(counts, batch.people, bar.tolerated, exact=not case.is_fuzzy) & enough)
                against = counts[group, value]
            found.append(Found(batch.nodes[group], value, batch.people[group], against, len(batch.people)))
    return [_join(found, len(case.codes), itemsets) for found in parts]


def _join(parts: list[Found], columns: int, itemsets: int) -> Found:
    return Found(
        np.concatenate([np.empty((0, columns), np.int32), *(part.antecedents for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.excluded for part in parts)]),
        np.concatenate([np.empty(0), *(part.support for part in parts)]),
        np.concatenate([np.empty(0), *(part.against for part in parts)]),
        itemsets,
    )


def _is_few(counts: Floats, people: Floats, tolerated: Fraction, *, exact: bool) -> Flags:
    if exact and tolerated.denominator * int(people.max(initial=0)) < 1 << 62:
        whole = counts.astype(np.int64) * tolerated.denominator
        return whole <= people.astype(np.int64)[:, None] * tolerated.numerator
    return counts <= people[:, None] * float(tolerated) * (1 + 1e-12)


def frequent(case: Case, least: float, length: int, watch: Watch) -> Iterator[_Batch]:
    """Yield antecedents of at least ``least`` people."""
    nothing = np.full((1, len(case.codes)), -1, np.int32)
    branches = sum(len(levels) for levels in case.levels)
    done = 0
    stack = [(case.everyone, nothing, 0, 0)]
    while stack:
        rows, chosen, first, depth = stack.pop()
        for column in range(first, len(case.codes)):
            for level in case.levels[column]:
                if depth == 0:
                    watch.tell(done / branches)
                    done += 1
                watch.check()
                batch = _split(case, rows, level, chosen, column=column, least=least)
                if batch is None:
                    continue
                yield batch
                if depth + 1 < length and column + 1 < len(case.codes):
                    stack.append((batch.rows, batch.nodes, column + 1, depth + 1))


def _split(
    case: Case, groups: _Grouped, level: _Level, chosen: npt.NDArray[np.int32], column: int, least: float
) -> _Batch | None:
    rows, node = groups.at(level, case.codes[column])
    if len(node) == 0:
        return None
    key = rows.group * len(case.nodes) + node
    weights = rows.people(case.weights)
    if int(key.max()) < 8 * len(key) + 1024:
        people = np.bincount(key, weights)
        known = np.flatnonzero((people >= least) & (people > 0))
        number = np.full(len(people), -1, np.int64)
        number[known] = np.arange(len(known))
        fresh = number[key]
        sizes = people[known]
    else:
        every, inverse = np.unique(key, return_inverse=True)
        people = np.bincount(inverse, weights)
        keep = people >= least
        known = every[keep]
        sizes = people[keep]
        fresh = np.where(keep, np.cumsum(keep) - 1, -1)[inverse]
    if len(known) == 0:
        return None
    own = chosen[known // len(case.nodes)].copy()
    own[:, column] = known % len(case.nodes)
    return _Batch(own, sizes.astype(np.float64), rows.only(fresh >= 0, fresh))


def _make_marks(case: Case) -> tuple[Words, Words]:
    chance = np.random.default_rng(2008)
    of_node = np.append(chance.integers(1, 2**63, len(case.nodes), np.uint64), np.uint64(0))
    return of_node, chance.integers(1, 2**63, case.n_values, np.uint64)


def minimal_of(found: Found, case: Case) -> Flags:
    """Mark rules that no uncontradicted rule implies; looking one step up suffices."""
    mix, of_value = _make_marks(case)
    marks = mix[found.antecedents].sum(axis=1, dtype=np.uint64) + of_value[found.excluded]
    known = np.sort(marks[found.against == 0])
    left = np.arange(len(marks) if len(known) else 0)  # those that may be minimal, fewer and fewer
    for column in range(found.antecedents.shape[1]):
        node = found.antecedents[left, column]
        asked = left[node >= 0]
        node = node[node >= 0]
        raised = marks[asked] - mix[node] + mix[np.append(case.parent, -1)[node]]
        order = np.argsort(raised)  # looked up in order they are found several times as fast
        place = np.minimum(np.searchsorted(known, raised[order]), len(known) - 1)
        implied = asked[order[known[place] == raised[order]]]
        keep = np.ones(len(marks), np.bool_)
        keep[implied] = False
        left = left[keep[left]]
    minimal = np.full(len(marks), len(known) == 0)
    minimal[left] = True
    return minimal


def _yield_covered(antecedents: npt.NDArray[np.int32], case: Case) -> Iterator[tuple[Ints, Ints, Ints, Ints, int]]:
    """Yield rules and the rows they are about, by choice of levels.

    Rule ``rules[i]`` has antecedent ``place[i]``, row ``rows[j]`` belongs to antecedent ``at[j]``; last, the number of antecedents. In a fuzzy
    column, these are the rows that belong to a node fully.
    """
    vectors, which = np.unique(_find_heights(case)[antecedents], axis=0, return_inverse=True)
    mix, _ = _make_marks(case)
    marks = mix[antecedents].sum(axis=1, dtype=np.uint64)
    order = np.argsort(which.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(which.reshape(-1), minlength=len(vectors)))
    # The mark of each row at each level; who has no node there gets one that no antecedent has.
    lost = np.append(mix[:-1], np.uint64(2**64 - 1))
    at_level = [[lost[level.node[codes]] for level in levels] for levels, codes in zip(case.levels, case.codes, strict=True)]
    for vector, rules in zip(vectors.tolist(), np.split(order, ends[:-1]), strict=True):
        mark = np.zeros(len(case.values), np.uint64)
        for column, step in enumerate(vector):
            if step >= 0:
                mark += at_level[column][step]
        wanted, place = np.unique(marks[rules], return_inverse=True)
        rows, at = _look_up(mark, wanted)
        yield rules, place.reshape(-1), rows, at, len(wanted)


def _look_up(marks: Words, wanted: Words) -> tuple[Ints, Ints]:
    first_bits = wanted >> np.uint64(48)
    table = np.full(1 << 16, -1, np.int64)
    table[first_bits] = np.arange(len(wanted))
    if np.array_equal(table[first_bits], np.arange(len(wanted))):  # no two begin alike, as is usual with few
        at = table[marks >> np.uint64(48)]
        near = np.flatnonzero(at >= 0)
        rows = near[wanted[at[near]] == marks[near]]
        return rows, at[rows]
    at = np.minimum(np.searchsorted(wanted, marks), len(wanted) - 1)
    rows = np.flatnonzero(wanted[at] == marks)
    return rows, at[rows]


def excluded_by(found: Found, minimal: Flags, case: Case) -> Flags:
    """Return the values that minimal rules exclude for each row."""
    excluded = np.zeros((len(case.values), case.n_values), np.bool_)
    chosen = found.only(minimal)
    if len(chosen):
        for rules, place, rows, at, size in _yield_covered(chosen.antecedents, case):
            table = np.zeros((size, case.n_values), np.bool_)
            table[place, chosen.excluded[rules]] = True
            excluded[rows] |= table[at]
    return excluded


def fully_covered(found: Found, case: Case) -> tuple[Floats, Floats]:
    """Count people whose values belong to antecedents in full."""
    people = np.zeros(len(found))
    against = np.zeros(len(found))
    if len(found):
        for rules, place, rows, at, size in _yield_covered(found.antecedents, case):
            key = at * case.n_values + case.values[rows]
            counts = np.bincount(key, case.weights[rows], size * case.n_values).reshape(-1, case.n_values)
            people[rules] = counts.sum(axis=1)[place]
            against[rules] = counts[place, found.excluded[rules]]
    return people, against


MOST_OPEN = 40_000_000  #: More open antecedents than these do not fit into memory any more (a few dozen bytes each).
#: So much work, in rows looked at, may go into counting the antecedents that the search leaves out.
MOST_COUNTING = 200_000_000
_PER_CHOICE = 20_000  #: What one choice of levels costs besides its rows, in the same unit.


def count_level_choices(case: Case, length: int) -> int:
    """Number of choices of levels up to this length."""
    return _count_choices([len(levels) for levels in case.levels], length)


def _count_choices(sizes: Sequence[int], length: int) -> int:
    by_length = [1] + [0] * length
    for size in sizes:
        for used in range(length, 0, -1):
            by_length[used] += by_length[used - 1] * size
    return sum(by_length) - 1


def most_antecedents(case: Case, least: float, length: int) -> int:
    """Bound the number of frequent antecedents."""
    nodes = [len(np.unique(np.concatenate([level.node[level.node >= 0] for level in levels]))) for levels in case.levels]
    bound = _count_choices(nodes, length)
    if not case.is_fuzzy and least >= 1:
        bound = min(bound, math.floor(case.n * count_level_choices(case, length) / least))
    return bound


def count_all(case: Case, bar: Bar, length: int, watch: Watch) -> tuple[int, int] | None:
    """Count antecedents and rules, or return None if too many."""
    itemsets = 0
    rules = 0
    work = count_level_choices(case, min(2, length)) * _PER_CHOICE
    for batch in frequent(case, bar.least, length, watch):
        itemsets += len(batch.people)
        rules += int(np.count_nonzero(batch.absent(case, case.values) & (batch.people[:, None] >= bar.needed)))
        work += len(batch.rows.row) + _PER_CHOICE
        if work > MOST_COUNTING:
            return None
    return itemsets, rules


@dataclass(eq=False)
class _Open:
    """Open antecedents of one choice by mark; their values as packed bits."""

    marks: Words
    values: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, marks: Words, values: Flags) -> _Open:
        order = np.argsort(marks)
        return cls(marks[order], np.packbits(values[order], axis=1))

    def at(self, marks: Words) -> npt.NDArray[np.uint8]:
        place = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        return np.where((self.marks[place] == marks)[:, None], self.values[place], np.uint8(0))


@dataclass(eq=False)
class _Search:
    case: Case
    bar: Bar
    height: Ints = field(init=False)
    mix: Words = field(init=False)
    known: dict[tuple[int, ...], _Open] = field(default_factory=dict)
    rules: list[Found] = field(default_factory=list)
    looked_at: int = 0
    kept: int = 0

    def __post_init__(self) -> None:
        self.height = _find_heights(self.case)
        self.mix, _ = _make_marks(self.case)
        of_all = self.case.shares * self.case.n
        fits = (of_all > 0) & (self.case.n - of_all >= self.bar.needed)
        self.known[(-1,) * len(self.case.codes)] = _Open.of(np.zeros(1, np.uint64), fits[None, :])

    def look(self, batch: _Batch) -> _Batch | None:
        self.looked_at += len(batch.people)
        above = np.unpackbits(self._find_open_above(batch), axis=1, count=self.case.n_values).astype(np.bool_)
        counts = batch.counts(self.case, self.case.values)
        absent = batch.absent(self.case, self.case.values)
        group, value = np.nonzero(absent & above & (batch.people[:, None] >= self.bar.needed))
        self.rules.append(Found(batch.nodes[group], value, batch.people[group], np.zeros(len(group)), len(batch.people)))
        # What a more special antecedent without the value can have at most; sums of degrees are not exact.
        room = (batch.people[:, None] - counts) * (1 + 1e-9)
        stays = above & ~absent & (room >= self.bar.needed)
        keep = stays.any(axis=1)
        if not keep.any():
            return None
        marks = self.mix[batch.nodes[keep]].sum(axis=1, dtype=np.uint64)
        self.known[tuple(self.height[batch.nodes[0]].tolist())] = _Open.of(marks, stays[keep])
        self.kept += int(keep.sum())
        if self.kept > MOST_OPEN:
            remedy = "Ask for shorter ones with --max-length, or for more with --min-expectation or --significance"
            raise LimitReached(f"more than {MOST_OPEN:,} antecedents are open at once", where="mine negative", remedy=remedy)
        number = np.where(keep, np.cumsum(keep) - 1, -1)[batch.rows.group]
        return _Batch(batch.nodes[keep], batch.people[keep], batch.rows.only(number >= 0, number))

    def _find_open_above(self, batch: _Batch) -> npt.NDArray[np.uint8]:
        marks = self.mix[batch.nodes].sum(axis=1, dtype=np.uint64)
        choice = self.height[batch.nodes[0]]
        parents = np.append(self.case.parent, -1)
        out = np.full((len(marks), (self.case.n_values + 7) // 8), 255, np.uint8)
        for column in np.flatnonzero(choice >= 0).tolist():
            up = parents[batch.nodes[:, column]]
            raised = marks - self.mix[batch.nodes[:, column]] + self.mix[up]
            height = self.height[up]
            for step in np.unique(height).tolist():
                own = height == step
                known = self.known.get((*choice[:column].tolist(), step, *choice[column + 1 :].tolist()))
                out[own] &= known.at(raised[own]) if known is not None else np.uint8(0)
        return out


def minimal_rules(case: Case, bar: Bar, length: int, watch: Watch) -> tuple[Found, int]:
    """Find minimal rules up to ``length``; count antecedents."""
    search = _Search(case, bar)
    branches = sum(len(levels) for levels in case.levels)
    done = 0

    def below(rows: _Grouped, chosen: npt.NDArray[np.int32], first: int, depth: int) -> None:
        nonlocal done
        # Last column first, coarsest level first: whatever is more general has then been looked at.
        for column in reversed(range(first, len(case.codes))):
            for level in reversed(case.levels[column]):
                if depth == 0:
                    watch.tell(done / branches)
                    done += 1
                watch.check()
                batch = _split(case, rows, level, chosen, column=column, least=bar.least)
                kept = search.look(batch) if batch is not None else None
                if kept is not None and depth + 1 < length:
                    below(kept.rows, kept.nodes, column + 1, depth + 1)

    below(case.everyone, np.full((1, len(case.codes)), -1, np.int32), 0, 0)
    return _join(search.rules, len(case.codes), 0), search.looked_at
