"""All patterns of a table, and which of their missing rules are kept.

A pattern is a set of quasi-identifiers that somebody has, with a sensitive value. Zhu, Wang and Du make a constraint of each, and prune: by
their Theorem 3, or by their Figure 3 as printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.people import Population
from tacit.model.table import Table
from tacit.solve.solver import Matrix

#: By set of columns (bits): for each of its itemsets and each value, if the missing rule is kept.
Kept = dict[int, Flags]


@dataclass(frozen=True, eq=False)
class Level:
    """Itemsets of one set of columns, with their people, all and by value.

    ``itemset[q]`` is the itemset of combination q, ``first`` a combination of each.
    """

    itemset: Ints
    first: Ints
    people: Ints
    held: Ints

    @cached_property
    def combinations(self) -> Ints:
        """Number of combinations of each itemset."""
        return np.bincount(self.itemset, minlength=len(self.first))

    def holding(self, number: int) -> Codes:
        """Return the combinations of an itemset."""
        return np.flatnonzero(self.itemset == number).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Lattice:
    """All itemsets of a population, and how many of their people have each value."""

    population: Population
    truth: Ints

    @classmethod
    def of(cls, people: Table) -> Lattice:
        """The itemsets of a table's quasi-identifiers."""
        population = Population.of(people.qi)
        n_values = len(people.sa.values)
        places = population.places_of(people) * n_values + people.sa.codes
        counts = np.bincount(places, people.weights, len(population) * n_values)
        return cls(population, counts.reshape(-1, n_values).astype(np.int64))

    @cached_property
    def levels(self) -> dict[int, Level]:
        """Itemsets by their set of columns (bits), smaller sets first."""
        columns = self.population.columns
        found = {0: np.zeros(len(self.population), np.int64)}
        levels = {}
        for mask in sorted(range(1, 1 << len(columns)), key=lambda mask: (mask.bit_count(), mask)):
            last = mask.bit_length() - 1
            codes = found[mask ^ 1 << last] * len(columns[last].values) + columns[last].codes
            _, first, itemset = np.unique(codes, return_index=True, return_inverse=True)
            found[mask] = itemset.astype(np.int64)
            held = np.stack([np.bincount(itemset, column, len(first)) for column in self.truth.T], axis=1).astype(np.int64)
            levels[mask] = Level(found[mask], first, held.sum(axis=1), held)
        return levels

    @property
    def patterns(self) -> int:
        """Number of patterns: itemsets that occur, times values."""
        return sum(len(level.first) for level in self.levels.values()) * int(self.truth.shape[1])

    @property
    def possible(self) -> int:
        """Number of patterns by Theorem 2, with each column's own number of values."""
        total = 1
        for column in self.population.columns:
            total *= 1 + len(column.values)
        return (total - 1) * int(self.truth.shape[1])

    def matrix(self) -> Matrix:
        """Return all patterns as constraints: rows of the variables P(q, x) that each adds up."""
        n_values = self.truth.shape[1]
        indices = []
        sizes = []
        for level in self.levels.values():
            order = np.argsort(level.itemset, kind="stable")
            for value in range(n_values):
                indices.append(order * n_values + value)
                sizes.append(level.combinations)
        starts = np.append(0, np.cumsum(np.concatenate(sizes)))
        return Matrix(starts, np.concatenate(indices), np.ones(int(starts[-1])), (len(starts) - 1, self.truth.size))


@dataclass(frozen=True, eq=False)
class Missing:
    """Rules of a lattice at thresholds s and c, and the patterns that are none."""

    lattice: Lattice
    support: Fraction
    confidence: Fraction

    @cached_property
    def absent(self) -> Kept:
        """Missing rules: fewer than max(s n, c count(Q)) people."""
        return {mask: ~self._reached(level) for mask, level in self.lattice.levels.items()}

    @cached_property
    def light(self) -> dict[int, Flags]:
        """Itemsets Q with c P(Q) <= s."""
        least = self.support * self.lattice.population.n
        bar = self.confidence
        return {
            mask: level.people * bar.numerator * least.denominator <= least.numerator * bar.denominator
            for mask, level in self.lattice.levels.items()
        }

    def _reached(self, level: Level) -> Flags:
        least = self.support * self.lattice.population.n
        bar = self.confidence
        enough = level.held * least.denominator >= least.numerator
        return np.asarray(enough & (level.held * bar.denominator >= bar.numerator * level.people[:, None]))

    @property
    def rules(self) -> int:
        """Number of published rules."""
        return self.lattice.patterns - count(self.absent)

    def informative(self) -> Kept:
        """Return missing rules whose bound is not more than all people of the pattern."""
        least = self.support * self.lattice.population.n
        levels = self.lattice.levels.items()
        return {
            mask: self.absent[mask] & (level.people * least.denominator >= least.numerator)[:, None] for mask, level in levels
        }

    def _parents(self, mask: int) -> Iterator[tuple[int, Ints]]:
        """Yield the sets with a column less, and the itemset there of each itemset here."""
        first = self.lattice.levels[mask].first
        for place in range(mask.bit_length()):
            smaller = mask & ~(1 << place)
            if smaller not in (0, mask):
                yield smaller, self.lattice.levels[smaller].itemset[first]

    def by_theorem(self) -> Kept:
        """Return what Theorem 3 keeps: rules without a light missing ancestor.

        All between the two are then light and missing as well, so that the next smaller patterns decide.
        """
        kept: Kept = {}
        for mask, absent in self.absent.items():
            kept[mask] = absent.copy()
            for parent, of in self._parents(mask):
                kept[mask] &= ~(self.absent[parent][of] & self.light[parent][of, None])
        return kept

    def as_printed(self) -> Kept:
        """Return what Figure 3 keeps as printed.

        Each itemset is met from every smaller one that was put into L. A rule is pruned only if it is met from a light one that is in Psi; as
        pruned rules are not put there, their descendants are kept again.
        """
        return self._figure_3(lambda through, _: np.logical_or.reduce(through))

    def by_any_parent(self) -> Kept:
        """Return what Figure 3 keeps if one smaller itemset is enough to prune."""
        return self._figure_3(lambda through, met: np.logical_and.reduce(through | ~met))

    def _figure_3(self, passes: Callable[[Flags, Flags], Flags]) -> Kept:
        kept: Kept = {}
        extended: dict[int, Flags] = {}  # the itemsets in L
        for mask, absent in self.absent.items():
            parents = list(self._parents(mask))
            if not parents:  # one column: all are in L
                kept[mask] = absent
                extended[mask] = np.ones(len(absent), np.bool_)
                continue
            met = np.stack([np.broadcast_to(extended[parent][of, None], absent.shape) for parent, of in parents])
            pruning = np.stack([kept[parent][of] & self.light[parent][of, None] for parent, of in parents])
            kept[mask] = absent & met.any(axis=0) & passes(met & ~pruning, met)
            extended[mask] = np.asarray((kept[mask] | (~absent & met.any(axis=0))).any(axis=1))
        return kept

    def most(self, people: int) -> int:
        """Return the most people of a missing rule, given those of its itemset."""
        least = max(self.support * self.lattice.population.n, self.confidence * people)
        return min(people, -(-least.numerator // least.denominator) - 1)

    def occurrences(self, kept: Kept) -> int:
        """Count the variables in some constraints, each as often as it occurs."""
        return int(sum((flags.sum(axis=1) * self.lattice.levels[mask].combinations).sum() for mask, flags in kept.items()))

    def listed(self, kept: Kept) -> Iterator[tuple[Codes, int, int]]:
        """Yield the combinations, the people and the value of each rule."""
        for mask, flags in kept.items():
            level = self.lattice.levels[mask]
            for itemset, value in np.argwhere(flags).tolist():
                yield level.holding(itemset), int(level.people[itemset]), value


def count(kept: Kept) -> int:
    """Count the rules."""
    return int(sum(int(flags.sum()) for flags in kept.values()))
