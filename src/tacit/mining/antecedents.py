"""What antecedents of negative rules are made of: the values of the QI columns, coarser ones included, and the rows over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tacit.errors import LimitReached
from tacit.mining.fuzzy import Scale
from tacit.model.hierarchy import ROOT, Hierarchy
from tacit.model.negative import Node
from tacit.model.policy import Limits
from tacit.model.table import Column, Table

Numbers = npt.NDArray[np.int64]
Degrees = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shoulders:
    """For every raw value the fuzzy nodes that it belongs to, in flat form, and the degrees."""

    starts: Numbers
    node: Numbers
    degree: Degrees


@dataclass(frozen=True, eq=False)
class Level:
    """One level of coarseness of a column: for every raw value its node, or -1 where it has none of this height.

    In a fuzzy column a raw value belongs to other nodes of the height as well, to a degree.
    """

    node: Numbers
    shoulders: Shoulders | None = None


@dataclass(frozen=True, eq=False)
class Grouped:
    """Entries of rows in groups; a row stands in several groups where a column is fuzzy, and then to a degree in each."""

    row: Numbers
    group: Numbers
    degree: Degrees | None = None

    def at(self, level: Level, codes: Numbers) -> tuple[Grouped, Numbers]:
        """The entries at one level of a column with these codes, and the node of each."""
        if level.shoulders is None:
            node = level.node[codes[self.row]]
            inside = node >= 0
            if inside.all():
                return self, node
            degree = None if self.degree is None else self.degree[inside]
            return Grouped(self.row[inside], self.group[inside], degree), node[inside]
        known, code = level.shoulders, codes[self.row]
        times = known.starts[code + 1] - known.starts[code]
        ends = np.cumsum(times)
        place = np.arange(int(times.sum())) + np.repeat(known.starts[code] - ends + times, times)
        degree = known.degree[place] * (1.0 if self.degree is None else np.repeat(self.degree, times))
        return Grouped(np.repeat(self.row, times), np.repeat(self.group, times), degree), known.node[place]

    def people(self, weights: Numbers) -> Numbers | Degrees:
        """How many people each entry counts for."""
        return weights[self.row] if self.degree is None else weights[self.row] * self.degree

    def only(self, inside: npt.NDArray[np.bool_], group: Numbers) -> Grouped:
        """Some of the entries, in other groups."""
        if inside.all():
            return Grouped(self.row, group, self.degree)
        return Grouped(self.row[inside], group[inside], None if self.degree is None else self.degree[inside])


@dataclass(frozen=True, eq=False)
class Case:
    """Distinct rows as codes, with weights and sensitive values; the nodes of each column, level by level; the next coarser node of each."""

    codes: tuple[Numbers, ...]
    values: Numbers
    weights: Numbers
    levels: tuple[tuple[Level, ...], ...]
    nodes: tuple[Node, ...]
    parent: Numbers
    n_values: int

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.weights.sum())

    @property
    def n_nodes(self) -> int:
        """How many values and coarser values there are in all columns."""
        return len(self.nodes)

    @property
    def shares(self) -> Degrees:
        """The share of the people who have each sensitive value."""
        return np.bincount(self.values, self.weights, self.n_values) / max(1, self.n)

    @property
    def everyone(self) -> Grouped:
        """All rows in one group."""
        return Grouped(np.arange(len(self.values)), np.zeros(len(self.values), np.int64))

    @property
    def is_fuzzy(self) -> bool:
        """Whether some column is."""
        return any(level.shoulders is not None for levels in self.levels for level in levels)

    @classmethod
    def of(cls, people: Table, hierarchies: Mapping[str, Hierarchy], spreads: Mapping[str, Fraction]) -> Case:
        """The case of a table; columns with a spread are fuzzy."""
        columns, sa = [people.column(name) for name in people.schema.qi], people.sa
        merged = Table((*columns, sa), people.weights).merged()
        nodes: list[Node] = []
        parent: list[int] = []
        levels = []
        for column in columns:
            tree = hierarchies.get(column.name)
            found, above, of_column = _levels(column, tree, len(nodes))
            if column.name in spreads:
                scale = Scale.of(column, tree, spreads[column.name])
                of_column = _softened(column, tree, found, of_column, len(nodes), scale)
            nodes += found
            parent += above
            levels.append(of_column)
        codes = tuple(column.codes.astype(np.int64) for column in merged.columns[:-1])
        values = merged.columns[-1].codes.astype(np.int64)
        return cls(codes, values, merged.weights, tuple(levels), tuple(nodes), np.array(parent, np.int64), len(sa.values))


#: A coarser value: its name, and 1, 2, .. where it only repeats a raw value.
_Key = tuple[str, int]


def _chains(column: Column, tree: Hierarchy | None) -> list[list[_Key]]:
    """For every value the coarser values that it belongs to, without the root and names of other values."""
    if tree is None:
        return [[] for _ in column.values]
    values = set(column.values)
    return [
        [(value, again) for again in range(1, 1 + tree.repeated.get(value, 0))]
        + [(node, 0) for node in tree.levels.get(value, ()) if node != ROOT and node not in values]
        for value in column.values
    ]


def _levels(column: Column, tree: Hierarchy | None, first: int) -> tuple[list[Node], list[int], tuple[Level, ...]]:
    """The nodes of a column, raw values first, the next coarser node of each, and its levels.

    A node has one height, the largest number of steps from a raw value to it.
    """
    chains = _chains(column, tree)
    height: dict[_Key, int] = {}
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
    levels = [Level(first + np.arange(len(column.values)))]
    for step in range(1, 1 + max(height.values(), default=0)):
        own = [next((number[key] for key in chain if height[key] == step), -1) for chain in chains]
        levels.append(Level(np.array(own, np.int64)))
    return nodes, parent, tuple(levels)


def _softened(
    column: Column, tree: Hierarchy | None, nodes: list[Node], levels: tuple[Level, ...], first: int, scale: Scale
) -> tuple[Level, ...]:
    """The levels with shoulders."""
    close, degrees = [], []
    for place, node in enumerate(nodes):
        # A coarser value is as wide as its hierarchy says, whichever of its values occur.
        members = node.members if tree is None or place < len(column.values) else tree.members(node.name) or node.members
        near, degree = scale.degrees(members, column.values)
        close.append(near)
        degrees.append(degree)

    def shoulders(level: Level) -> Level:
        of_level = np.unique(level.node[level.node >= 0]).tolist()
        code = np.concatenate([close[node - first] for node in of_level])
        node = np.repeat(of_level, [len(close[node - first]) for node in of_level])
        degree = np.concatenate([degrees[node - first] for node in of_level])
        order = np.argsort(code, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(code, minlength=len(column.values))))
        return Level(level.node, Shoulders(starts, node[order].astype(np.int64), degree[order]))

    return tuple(shoulders(level) for level in levels)


@dataclass(frozen=True)
class Watch:
    """Tells how far the work is, in this round of several, and ends it when time is over."""

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


def heights(levels: tuple[tuple[Level, ...], ...], n_nodes: int) -> Numbers:
    """The height of every node in its column; -1 behind the last, for "nothing asked"."""
    height = np.full(n_nodes + 1, -1, np.int64)
    for of_column in levels:
        for step, level in enumerate(of_column):
            height[level.node[level.node >= 0]] = step
    return height
