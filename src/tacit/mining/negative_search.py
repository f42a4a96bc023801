"""The search for all negative rules: through the columns one after the other, each at all its levels of coarseness.

Rows are kept in groups, all groups of one choice of levels at a time, as long as a group has enough people for some value. Every antecedent that
is frequent enough is looked at, so all rules come out, and the number of antecedents is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.mining.antecedents import Case, Degrees, Grouped, Numbers, Watch, heights

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Bar:
    """What a rule must reach: ``needed[v]`` people for value v, of whom at most the share ``tolerated`` has it."""

    needed: Degrees
    tolerated: Fraction = Fraction(0)

    @property
    def least(self) -> float:
        """The fewest people with whom an antecedent can matter."""
        return float(self.needed.min(initial=np.inf))


@dataclass(frozen=True, eq=False)
class Found:
    """Rules as columns: nodes by column, excluded value, people by membership, and how many of them have the value after all."""

    antecedents: npt.NDArray[np.int32]
    excluded: Numbers
    support: Degrees
    against: Degrees
    itemsets: int

    def __len__(self) -> int:
        return len(self.excluded)

    def only(self, keep: Flags) -> Found:
        """Some of the rules."""
        return Found(self.antecedents[keep], self.excluded[keep], self.support[keep], self.against[keep], self.itemsets)


@dataclass(frozen=True, eq=False)
class Batch:
    """Antecedents that use the same levels: their nodes by column, their people, and their rows."""

    nodes: npt.NDArray[np.int32]
    people: Degrees
    rows: Grouped

    def counts(self, case: Case, values: Numbers) -> Degrees:
        """How many people of each antecedent have each value, where ``values`` has the value of every row."""
        key = self.rows.group * case.n_values + values[self.rows.row]
        size = len(self.people) * case.n_values
        counts: Degrees = np.bincount(key, self.rows.people(case.weights), size).astype(np.float64)
        return counts.reshape(-1, case.n_values)

    def absent(self, case: Case, values: Numbers) -> Flags:
        """Which values no row of each antecedent has."""
        key = self.rows.group * case.n_values + values[self.rows.row]
        absent: Flags = np.bincount(key, minlength=len(self.people) * case.n_values) == 0
        return absent.reshape(-1, case.n_values)


def needed_people(shares: Degrees, log_doubt: float) -> Degrees:
    """How many people an antecedent needs so that the absence of each value counts; ``log_doubt`` is log(1 - expectation)."""
    if log_doubt >= 0:
        return np.ones(len(shares))
    with np.errstate(divide="ignore"):
        return np.where(shares < 1, log_doubt / np.where(shares > 0, np.log1p(-np.minimum(shares, 1)), -0.0), 1.0)


def log_doubt(expectation: float) -> float:
    """The logarithm of what an expectation leaves to chance."""
    return math.log1p(-expectation)


def all_rules(case: Case, bar: Bar, length: int, watch: Watch) -> Found:
    """All rules whose antecedents use at most ``length`` columns."""
    return rules_of_each(case, [case.values], bar, length, watch)[0]


def rules_of_each(case: Case, values: Sequence[Numbers], bar: Bar, length: int, watch: Watch) -> list[Found]:
    """All rules for each of several ways to give the rows values; the antecedents are the same, and are searched for once."""
    parts: list[list[Found]] = [[] for _ in values]
    itemsets = 0
    for batch in frequent(case, bar.least, length, watch):
        itemsets += len(batch.people)
        for of_rows, found in zip(values, parts, strict=True):
            found.append(_rules_in(batch, case, of_rows, bar))
    return [joined(found, len(case.codes), itemsets) for found in parts]


def _rules_in(batch: Batch, case: Case, values: Numbers, bar: Bar) -> Found:
    """The rules of a batch."""
    enough = batch.people[:, None] >= bar.needed
    if bar.tolerated == 0:
        group, value = np.nonzero(batch.absent(case, values) & enough)
        against = np.zeros(len(group))
    else:
        counts = batch.counts(case, values)
        group, value = np.nonzero(few(counts, batch.people, bar.tolerated, exact=not case.is_fuzzy) & enough)
        against = counts[group, value]
    return Found(batch.nodes[group], value, batch.people[group], against, len(batch.people))


def joined(parts: list[Found], columns: int, itemsets: int) -> Found:
    """Rules of several batches as one list."""
    return Found(
        np.concatenate([np.empty((0, columns), np.int32), *(part.antecedents for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.excluded for part in parts)]),
        np.concatenate([np.empty(0), *(part.support for part in parts)]),
        np.concatenate([np.empty(0), *(part.against for part in parts)]),
        itemsets,
    )


def few(counts: Degrees, people: Degrees, tolerated: Fraction, *, exact: bool) -> Flags:
    """Which counts are at most a share of the people; whole numbers of people are compared exactly."""
    if exact and tolerated.denominator * int(people.max(initial=0)) < 1 << 62:
        whole = counts.astype(np.int64) * tolerated.denominator
        return whole <= people.astype(np.int64)[:, None] * tolerated.numerator
    return counts <= people[:, None] * float(tolerated) * (1 + 1e-12)


def frequent(case: Case, least: float, length: int, watch: Watch) -> Iterator[Batch]:
    """Antecedents with at least ``least`` people, many at a time."""
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
                entries, node = rows.at(level, case.codes[column])
                batch = split(case, entries, node, chosen, column, least)
                if batch is None:
                    continue
                yield batch
                if depth + 1 < length and column + 1 < len(case.codes):
                    stack.append((batch.rows, batch.nodes, column + 1, depth + 1))


def split(case: Case, rows: Grouped, node: Numbers, chosen: npt.NDArray[np.int32], column: int, least: float) -> Batch | None:
    """Groups cut by the node that each row has in a column; those with enough people, numbered anew."""
    if len(node) == 0:
        return None
    key, weights = rows.group * case.n_nodes + node, rows.people(case.weights)
    if int(key.max()) < 8 * len(key) + 1024:
        people = np.bincount(key, weights)
        known = np.flatnonzero((people >= least) & (people > 0))
        number = np.full(len(people), -1, np.int64)
        number[known] = np.arange(len(known))
        fresh, sizes = number[key], people[known]
    else:
        every, inverse = np.unique(key, return_inverse=True)
        people = np.bincount(inverse, weights)
        keep = people >= least
        known, sizes = every[keep], people[keep]
        fresh = np.where(keep, np.cumsum(keep) - 1, -1)[inverse]
    if len(known) == 0:
        return None
    own = chosen[known // case.n_nodes].copy()
    own[:, column] = known % case.n_nodes
    return Batch(own, sizes.astype(np.float64), rows.only(fresh >= 0, fresh))


def marks_of(n_nodes: int, n_values: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Random marks of nodes (the last for "nothing asked") and of values; sums of them tell antecedents apart."""
    chance = np.random.default_rng(2008)
    of_node = np.append(chance.integers(1, 2**63, n_nodes, np.uint64), np.uint64(0))
    return of_node, chance.integers(1, 2**63, n_values, np.uint64)


def minimal_of(found: Found, case: Case) -> Flags:
    """Which rules no more general rule implies: only one that nobody contradicts implies others, and it is enough to look one step up."""
    mix, of_value = marks_of(case.n_nodes, case.n_values)
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


@dataclass(frozen=True, eq=False)
class _Covered:
    """Some rules and the rows they are about: rule ``rules[i]`` has antecedent ``place[i]``, row ``rows[j]`` belongs to antecedent ``at[j]``."""

    rules: Numbers
    place: Numbers
    rows: Numbers
    at: Numbers
    size: int


def _covering(antecedents: npt.NDArray[np.int32], case: Case) -> Iterator[_Covered]:
    """Who belongs to antecedents, those that use the same levels at a time; in a fuzzy column, who belongs to a node fully."""
    vectors, which = np.unique(heights(case.levels, case.n_nodes)[antecedents], axis=0, return_inverse=True)
    mix, _ = marks_of(case.n_nodes, case.n_values)
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
        rows, at = _looked_up(mark, wanted)
        yield _Covered(rules, place.reshape(-1), rows, at, len(wanted))


def _looked_up(marks: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> tuple[Numbers, Numbers]:
    """The places of those marks that are wanted, and which of the sorted wanted ones they are."""
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
    """Which values the rules exclude for each row of the case."""
    excluded = np.zeros((len(case.values), case.n_values), np.bool_)
    chosen = found.only(minimal)
    if len(chosen):
        for covered in _covering(chosen.antecedents, case):
            table = np.zeros((covered.size, case.n_values), np.bool_)
            table[covered.place, chosen.excluded[covered.rules]] = True
            excluded[covered.rows] |= table[covered.at]
    return excluded


def fully_covered(found: Found, case: Case) -> tuple[Degrees, Degrees]:
    """How many people belong to the antecedent of each rule fully, and how many of them have the value after all."""
    people, against = np.zeros(len(found)), np.zeros(len(found))
    if len(found):
        for covered in _covering(found.antecedents, case):
            weights = case.weights[covered.rows]
            key = covered.at * case.n_values + case.values[covered.rows]
            counts = np.bincount(key, weights, covered.size * case.n_values).reshape(-1, case.n_values)
            people[covered.rules] = counts.sum(axis=1)[covered.place]
            against[covered.rules] = counts[covered.place, found.excluded[covered.rules]]
    return people, against
