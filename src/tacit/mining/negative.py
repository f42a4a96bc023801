"""Negative rules ``X => not s``: combinations of QI values, coarser ones included, that never occur with a sensitive value.

That nobody of few people has a rare value says little. A rule counts when somebody would be expected: when the chance that at least one of the
people with X has s, were values handed out by their shares, reaches a threshold: ``1 - (1 - P(s))**count(X) >= min_expectation``.

The search goes through the columns one after the other, each at all its levels of coarseness, and keeps groups of rows only as long as
they are frequent enough for some value. What a rule excludes, every more special antecedent excludes as well, so the most general ones,
the *minimal* rules, say everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.model.hierarchy import ROOT, Hierarchy
from tacit.model.negative import NegativeRules, Node
from tacit.model.number import share
from tacit.model.policy import Limits
from tacit.model.release import Header
from tacit.model.table import Column, Table

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Level:
    """One level of coarseness of a column: for every raw value its node, or -1 where it has none of this height."""

    node: Numbers


@dataclass(frozen=True, eq=False)
class _Case:
    """Distinct rows as codes, with weights and sensitive values; the nodes of each column, level by level."""

    codes: tuple[Numbers, ...]
    values: Numbers
    weights: Numbers
    levels: tuple[tuple[_Level, ...], ...]
    n_nodes: int
    n_values: int

    @property
    def n(self) -> int:
        return int(self.weights.sum())


@dataclass(frozen=True, eq=False)
class _Found:
    """Rules as columns, and how many antecedents were looked at."""

    antecedents: npt.NDArray[np.int32]
    excluded: Numbers
    count: Numbers
    itemsets: int


def mine_negative_rules(
    people: Table,
    *,
    min_expectation: object,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    max_length: int | None = None,
    significance: object = None,
    permutations: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> NegativeRules:
    """The negative rules of a table.

    Parameters
    ----------
    people
        A table whose columns have roles.
    min_expectation
        The least chance with which somebody of an antecedent would be expected to have the value, below 1.
    hierarchies
        Coarser values of QI columns.
    max_length
        The most columns that an antecedent uses; all by default.
    significance
        Ask for so much expectation that, over all antecedents and values that were looked at, a rule arises by chance with at most this
        probability (Bonferroni's correction).
    permutations
        Mine as many times with shuffled sensitive values, to tell how many rules chance alone gives.
    seed
        What the shuffling starts from.
    time_limit
        Seconds after which :class:`~tacit.errors.LimitReached` is raised.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> from tacit.model.schema import Schema
    >>> rows = [("F", "flu")] * 20 + [("M", "flu")] * 20 + [("F", "ovarian cancer")] * 10
    >>> people = Table.from_rows(["sex", "ill"], rows, Schema(qi=("sex",), sa=("ill",)))
    >>> [(r["antecedent"], r["excluded"], r["count"]) for r in mine_negative_rules(people, min_expectation=0.9).records()]
    [({'sex': ['M']}, 'ovarian cancer', 20)]
    """
    bar = float(share(min_expectation, where="--min-expectation"))
    if bar >= 1:
        raise OptionError(
            "must be below 1: nothing is certain by chance", where="--min-expectation", remedy="Write for instance 0.9"
        )
    if max_length is not None and max_length < 1:
        raise OptionError("must be at least 1", where="--max-length", remedy="Leave it out for any length")
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    sa, limits = people.sa, Limits.within(time_limit)
    nodes, case = _case(people, sa, hierarchies or {})
    rounds = 1 + permutations

    def tell(done: float, number: int = 0) -> None:
        limits.check("--time-limit")
        if progress is not None:
            progress((number + done) / rounds)

    shares = np.bincount(case.values, case.weights, case.n_values) / max(1, case.n)
    length = len(case.codes) if max_length is None else min(max_length, len(case.codes))
    found = _search(case, _needed(shares, bar), length, tell)
    if significance is not None:
        alpha = float(share(significance, where="--significance", zero=False))
        bar = max(bar, 1 - alpha / max(1, found.itemsets * case.n_values))
        found = _reaching(found, _needed(shares, bar))
    parent = _parents(nodes, hierarchies or {})
    chance = _by_chance(case, _needed(shares, bar), length, parent, permutations, seed, tell)
    minimal = _minimal(found, parent)
    header = Header(
        n=people.n, complete=True, qi=people.schema.qi, sa=people.schema.sa, sa_values=sa.values,
        missing=people.missing.mark, missing_rule=people.missing.rule, coarser=bool(hierarchies),
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        expectation = -np.expm1(found.count * np.log1p(-shares[found.excluded]))
    rules = NegativeRules(
        found.antecedents, found.excluded, found.count, minimal, tuple(nodes), header, bar, np.zeros(1, np.int64), found.itemsets,
        None if significance is None else float(share(significance, where="--significance")), chance, expectation,
    )  # fmt: skip
    return replace(rules, excluded_values=_excluded_values(case, rules))


def _case(people: Table, sa: Column, hierarchies: Mapping[str, Hierarchy]) -> tuple[list[Node], _Case]:
    """The nodes of all QI columns, and the rows over them."""
    columns = [people.column(name) for name in people.schema.qi]
    merged = Table((*columns, sa), people.weights).merged()
    nodes: list[Node] = []
    levels = []
    for column in columns:
        found, of_column = _levels(column, hierarchies.get(column.name), len(nodes))
        nodes += found
        levels.append(of_column)
    codes = tuple(column.codes.astype(np.int64) for column in merged.columns[:-1])
    values = merged.columns[-1].codes.astype(np.int64)
    return nodes, _Case(codes, values, merged.weights, tuple(levels), len(nodes), len(sa.values))


def _chains(column: Column, tree: Hierarchy | None) -> list[list[str]]:
    """For every value the coarser values that it belongs to, without the root and names of values."""
    values = set(column.values)
    if tree is None:
        return [[] for _ in column.values]
    return [[node for node in tree.levels.get(value, ()) if node != ROOT and node not in values] for value in column.values]


def _levels(column: Column, tree: Hierarchy | None, first: int) -> tuple[list[Node], tuple[_Level, ...]]:
    """The nodes of a column, raw values first, and its levels; a node has one height, the largest number of steps from a raw value to it."""
    chains = _chains(column, tree)
    height: dict[str, int] = {}
    for chain in chains:
        for step, node in enumerate(chain, 1):
            height[node] = max(step, height.get(node, 0))
    coarser = sorted(height)
    members: dict[str, list[str]] = {node: [] for node in coarser}
    for value, chain in zip(column.values, chains, strict=True):
        for node in chain:
            members[node].append(value)
    nodes = [Node(column.name, value, (value,)) for value in column.values]
    nodes += [Node(column.name, node, tuple(sorted(members[node]))) for node in coarser]
    number = {node: first + len(column.values) + place for place, node in enumerate(coarser)}
    levels = [_Level(first + np.arange(len(column.values)))]
    for step in range(1, 1 + max(height.values(), default=0)):
        own = [next((number[node] for node in chain if height[node] == step), -1) for chain in chains]
        levels.append(_Level(np.array(own, np.int64)))
    return nodes, tuple(levels)


def _needed(shares: npt.NDArray[np.float64], bar: float) -> npt.NDArray[np.float64]:
    """How many people an antecedent needs so that the absence of each value counts."""
    if bar <= 0:
        return np.ones(len(shares))
    with np.errstate(divide="ignore"):
        return np.where(shares < 1, math.log1p(-bar) / np.where(shares > 0, np.log1p(-np.minimum(shares, 1)), -0.0), 1.0)


def _search(case: _Case, needed: npt.NDArray[np.float64], length: int, tell: Callable[[float], None]) -> _Found:
    """All rules whose antecedents use at most ``length`` columns."""
    least = float(needed.min(initial=np.inf))
    antecedents, excluded, counts = [], [], []
    itemsets = 0
    for people, zero, chosen in _groups(case, least, length, tell):
        itemsets += len(people)
        group, value = np.nonzero(zero & (people[:, None] >= needed))
        antecedents.append(chosen[group])
        excluded.append(value)
        counts.append(people[group])
    empty = np.empty((0, len(case.codes)), np.int32)
    return _Found(
        np.concatenate([empty, *antecedents]).astype(np.int32),
        np.concatenate([np.empty(0, np.int64), *excluded]),
        np.concatenate([np.empty(0, np.int64), *counts]),
        itemsets,
    )


Group = tuple[Numbers, npt.NDArray[np.bool_], npt.NDArray[np.int32]]


def _groups(case: _Case, least: float, length: int, tell: Callable[[float], None]) -> Iterator[Group]:
    """Antecedents with at least ``least`` people, many at a time: their people, which values none of them has, and their nodes by column."""
    everyone = np.arange(len(case.values))
    nothing = np.full((1, len(case.codes)), -1, np.int32)
    branches = sum(len(levels) for levels in case.levels)
    done = 0
    stack = [(everyone, np.zeros(len(everyone), np.int64), nothing, 0, 0)]
    while stack:
        rows, group, chosen, first, depth = stack.pop()
        for column in range(first, len(case.codes)):
            for level in case.levels[column]:
                if depth == 0:
                    tell(done / branches)
                    done += 1
                node = level.node[case.codes[column][rows]]
                found = _split(case, rows, group, node, least)
                if found is None:
                    continue
                kept, fresh, parent, nodes, people = found
                zero = np.bincount(fresh * case.n_values + case.values[kept], minlength=len(people) * case.n_values) == 0
                own = chosen[parent].copy()
                own[:, column] = nodes
                yield people, zero.reshape(-1, case.n_values), own
                if depth + 1 < length and column + 1 < len(case.codes):
                    stack.append((kept, fresh, own, column + 1, depth + 1))


def _split(
    case: _Case, rows: Numbers, group: Numbers, node: Numbers, least: float
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers] | None:
    """Groups cut by the node that each row has; those with enough people, numbered anew, with the group they come from and their node."""
    key = group * case.n_nodes + node
    key, rows = key[node >= 0], rows[node >= 0]
    if len(rows) == 0:
        return None
    if int(key.max()) < 8 * len(key) + 1024:
        people = np.bincount(key, case.weights[rows])
        known = np.flatnonzero((people >= least) & (people > 0))
        number = np.full(len(people), -1, np.int64)
        number[known] = np.arange(len(known))
        fresh, sizes = number[key], people[known]
    else:
        every, inverse = np.unique(key, return_inverse=True)
        people = np.bincount(inverse, case.weights[rows])
        keep = people >= least
        known, sizes = every[keep], people[keep]
        fresh = np.where(keep, np.cumsum(keep) - 1, -1)[inverse]
    if len(known) == 0:
        return None
    inside = fresh >= 0
    return rows[inside], fresh[inside], known // case.n_nodes, known % case.n_nodes, sizes.astype(np.int64)


def _reaching(found: _Found, needed: npt.NDArray[np.float64]) -> _Found:
    """The rules with enough people for their value."""
    keep = found.count >= needed[found.excluded]
    return _Found(found.antecedents[keep], found.excluded[keep], found.count[keep], found.itemsets)


def _parents(nodes: list[Node], hierarchies: Mapping[str, Hierarchy]) -> Numbers:
    """The next coarser node of every node, -1 where there is none."""
    number = {(node.column, node.name): place for place, node in enumerate(nodes)}
    parent = np.full(len(nodes), -1, np.int64)
    for tree in hierarchies.values():
        for value, chain in tree.levels.items():
            known = [number[tree.column, name] for name in (value, *chain) if (tree.column, name) in number]
            for low, high in pairwise(known):
                parent[low] = high
    return parent


def _minimal(found: _Found, parent: Numbers) -> npt.NDArray[np.bool_]:
    """Which rules no more general rule makes superfluous: it is enough to look one step up in one column."""
    chance = np.random.default_rng(2008)
    mix = np.append(chance.integers(1, 2**63, len(parent), np.uint64), np.uint64(0))  # the last is for "nothing asked"
    of_value = chance.integers(1, 2**63, int(found.excluded.max(initial=0)) + 1, np.uint64)
    marks = mix[found.antecedents].sum(axis=1, dtype=np.uint64) + of_value[found.excluded]
    known = np.sort(marks)
    minimal = np.ones(len(marks), np.bool_)
    for column in range(found.antecedents.shape[1]):
        node = found.antecedents[:, column]
        raised = marks - mix[node] + mix[np.append(parent, -1)[node]]
        place = np.minimum(np.searchsorted(known, raised), max(0, len(known) - 1))
        minimal &= (node < 0) | (known[place] != raised)
    return minimal


def _by_chance(
    case: _Case,
    needed: npt.NDArray[np.float64],
    length: int,
    parent: Numbers,
    permutations: int,
    seed: int,
    tell: Callable[[float, int], None],
) -> tuple[float, float] | None:
    """How many rules come out on average, all and minimal, when sensitive values are shuffled among the people."""
    if permutations < 1:
        return None
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(len(case.values)), case.weights)
    codes = tuple(codes[who] for codes in case.codes)
    totals = []
    for number in range(1, 1 + permutations):
        shuffled = replace(case, codes=codes, values=chance.permutation(case.values[who]), weights=np.ones(len(who), np.int64))
        found = _search(shuffled, needed, length, partial(_later, tell, number))
        totals.append((len(found.excluded), int(_minimal(found, parent).sum())))
    rules, minimal = np.mean(totals, axis=0).tolist()
    return rules, minimal


def _later(tell: Callable[[float, int], None], number: int, done: float) -> None:
    tell(done, number)


def _excluded_values(case: _Case, rules: NegativeRules) -> Numbers:
    """How many people have 0, 1, 2, .. values ruled out."""
    out = exclusions(rules, case.codes, case.levels)
    numbers = out.sum(axis=1)
    return np.bincount(numbers, case.weights, 1).astype(np.int64) if len(numbers) else np.zeros(1, np.int64)


def exclusions(rules: NegativeRules, codes: tuple[Numbers, ...], levels: tuple[tuple[_Level, ...], ...]) -> npt.NDArray[np.bool_]:
    """Which values the rules exclude for each row, given as codes of the QI columns."""
    n_rows = len(codes[0]) if codes else 0
    excluded = np.zeros((n_rows, len(rules.header.sa_values)), np.bool_)
    chosen = np.flatnonzero(rules.minimal)
    antecedents = rules.antecedents[chosen]
    height = np.full(len(rules.nodes) + 1, -1, np.int64)
    for of_column in levels:
        for step, level in enumerate(of_column):
            height[level.node[level.node >= 0]] = step
    steps = height[antecedents]
    vectors, which = np.unique(steps, axis=0, return_inverse=True)
    chance = np.random.default_rng(1)
    mix = np.append(chance.integers(1, 2**63, len(rules.nodes), np.uint64), np.uint64(0))
    marks = mix[antecedents].sum(axis=1, dtype=np.uint64)
    for number, vector in enumerate(vectors.tolist()):
        own = np.flatnonzero(which.reshape(-1) == number)
        mark = np.zeros(n_rows, np.uint64)
        fits = np.ones(n_rows, np.bool_)
        for column, step in enumerate(vector):
            if step >= 0:
                node = levels[column][step].node[codes[column]]
                fits &= node >= 0
                mark += mix[node]
        wanted, place = np.unique(marks[own], return_inverse=True)
        table = np.zeros((len(wanted), excluded.shape[1]), np.bool_)
        table[place, rules.excluded[chosen[own]]] = True
        at = np.minimum(np.searchsorted(wanted, mark), len(wanted) - 1)
        hit = fits & (wanted[at] == mark)
        excluded[hit] |= table[at[hit]]
    return excluded
