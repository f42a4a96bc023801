"""What a release says about the supports of all itemsets over a few items: bounds, and who says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.attacks.exceptions import refuse_impossible
from tacit.attacks.pattern_bounds import Tie
from tacit.attacks.rule_numbers import UNBOUNDED, Whole, confidence_of
from tacit.attacks.rule_steps import Story
from tacit.attacks.rule_table import RuleTable
from tacit.attacks.supports import Supports
from tacit.kernels.moebius import superset_max
from tacit.model.finding import Citation
from tacit.model.items import Items
from tacit.model.policy import Limits
from tacit.model.release import Itemsets, Rules
from tacit.model.sets import Sets

#: Who bounds a support where no line does: the number of people, nobody, a complete list that leaves the set out, one value per column.
PEOPLE, NOBODY, MISSING, ONE_VALUE = -1, -2, -3, -4
_FINE = 10**12
_SHIFT = 32
_LAST = (1 << _SHIFT) - 1


@dataclass(frozen=True, eq=False)
class Statements:
    """Bounds on the supports of all subsets of some items, by bits, and who gives each end: the number of a published set, or one of the above.

    ``above`` marks lower ends that come from a larger set.
    """

    lo: Whole
    hi: Whole
    low: Whole
    high: Whole
    above: npt.NDArray[np.bool_]

    @property
    def exact(self) -> npt.NDArray[np.bool_]:
        """Which supports are exactly known."""
        known: npt.NDArray[np.bool_] = self.lo == self.hi
        return known


class Knowledge(Protocol):
    """What a release says about supports."""

    @property
    def items(self) -> Items:
        """The items that can be asked about."""

    @property
    def sets(self) -> Sets:
        """The sets that something is published about."""

    def statements(self, items: Whole) -> Statements:
        """Bounds on the supports of all subsets of these items."""

    def ties(self, items: Whole) -> list[Tie]:
        """Confidences that tie the supports of two subsets of these items to each other."""

    def told(self, number: int) -> tuple[list[str], list[Citation], str]:
        """What is published about set ``number``: steps that come first, citations, and how a term names its place."""


@dataclass(frozen=True, eq=False)
class ItemsetKnowledge:
    """What a release of itemsets says."""

    release: Itemsets

    @property
    def items(self) -> Items:
        """The items of the release."""
        return self.release.items

    @property
    def sets(self) -> Sets:
        """The published sets."""
        return self.release.sets

    def statements(self, items: Whole) -> Statements:
        """Bounds on the supports of all subsets of these items."""
        release = self.release
        cube = Supports(release).cube(items, within=np.arange(len(release.items)))
        known = cube.known
        top = UNBOUNDED if release.n is None else release.n
        lo, hi = np.where(known, cube.lo, 0), np.where(known, cube.hi, top)
        low, high = np.where(known, cube.line, NOBODY), np.where(known, cube.line, NOBODY if release.n is None else PEOPLE)
        larger = _largest_above(_bits(release.sets, items), release.lo, 1 << len(items))
        above = ~known & (larger >= 0)
        lo[above], low[above] = release.lo[larger[above]], larger[above]
        if release.header.complete and release.min_support is not None:
            # Of maximal itemsets, those inside one are frequent; every other set that was looked for is not.
            left_out = ~known & (larger < 0) if release.only == "maximal" else ~known
            left_out &= self._looked_for(items)
            left_out[0] = False
            left_out &= hi >= release.min_support
            hi[left_out], high[left_out] = release.min_support - 1, MISSING
        statements = Statements(lo, hi, low, high, above)
        return statements if release.header.coarser else _one_value(statements, release.items, items)

    def _looked_for(self, items: Whole) -> npt.NDArray[np.bool_]:
        """The subsets that would be listed if they were frequent: where coarser values are items, at most one item of a column."""
        pairs = self.release.items.pairs
        if not self.release.header.coarser:
            return np.ones(1 << len(items), np.bool_)
        if pairs is None:
            return np.zeros(1 << len(items), np.bool_)
        return ~_two_of_a_column([pairs[item][0] for item in items.tolist()])

    def ties(self, items: Whole) -> list[Tie]:
        """Itemsets have none."""
        return []

    def told(self, number: int) -> tuple[list[str], list[Citation], str]:
        """Nothing comes first; the line of the set."""
        line = self.release.line(number)
        return [], [Citation(0, line, self.release.count(number), None)], f"line {line}"


@dataclass(frozen=True, eq=False)
class RuleKnowledge:
    """What a release of rules says, all lines taken together."""

    release: Rules

    @cached_property
    def table(self) -> RuleTable:
        """Bounds on every set that a rule names."""
        table = RuleTable.of(self.release)
        refuse_impossible(table)
        table.deduce(Limits())
        refuse_impossible(table)
        return table

    @property
    def items(self) -> Items:
        """The items of the rules, and all values of the SA where the header gives them."""
        return self.table.named.items

    @property
    def sets(self) -> Sets:
        """The sets that rules name."""
        return self.table.named.sets

    def statements(self, items: Whole) -> Statements:
        """Bounds on the supports of all subsets of these items."""
        table = self.table
        size = 1 << len(items)
        bits = _bits(table.named.sets, items)
        top = UNBOUNDED if self.release.n is None else self.release.n
        lo, hi = np.zeros(size, np.int64), np.full(size, top, np.int64)
        low, high = np.full(size, NOBODY), np.full(size, NOBODY if self.release.n is None else PEOPLE)
        larger = _largest_above(bits, table.lo, size)
        above = larger >= 0
        lo[above], low[above] = table.lo[larger[above]], larger[above]
        inside = np.flatnonzero(np.bitwise_count(bits.astype(np.uint64)) == table.named.sets.lengths)
        own = bits[inside]
        high[own] = np.where(table.hi[inside] <= hi[own], inside, high[own])
        hi[own] = np.minimum(hi[own], table.hi[inside])
        equal = table.lo[inside] >= lo[own]
        low[own[equal]], above[own] = inside[equal], ~equal
        if self.release.n is not None:
            lo[0] = hi[0] = self.release.n
            low[0] = high[0] = PEOPLE
            above[0] = False
        statements = Statements(lo, hi, low, high, above)
        return statements if self.release.header.coarser else _one_value(statements, table.named.items, items)

    def ties(self, items: Whole) -> list[Tie]:
        """The confidences of rules over these items whose numbers are not exactly known."""
        table = self.table
        bits = _bits(table.named.sets, items)
        inside = np.bitwise_count(bits.astype(np.uint64)) == table.named.sets.lengths
        both, whole = table.named.both, table.named.whole
        loose = (table.lo[both] < table.hi[both]) | (table.lo[whole] < table.hi[whole])
        found = []
        for line in np.flatnonzero(inside[both] & loose).tolist():
            share = confidence_of(self.release, line)
            # Ends with few digits, a little further out, keep the proof's fractions short.
            low, high = (Fraction(math.floor(share.low * _FINE), _FINE), Fraction(math.ceil(share.high * _FINE), _FINE))
            masks = int(bits[whole[line]]), int(bits[both[line]])
            found.append(Tie(*masks, low, high, self.release.line(line), self.release.count(line)))
        return found

    def told(self, number: int) -> tuple[list[str], list[Citation], str]:
        """The derivation of the bounds of the set."""
        story = Story(self.table)
        story.bounds(number)
        return list(story.told(())), list(story.citations(0)), "from the lines above"


def _bits(sets: Sets, items: Whole) -> Whole:
    """For every set, which of the items it holds."""
    position = np.full(int(max(sets.members.max(initial=0), items.max(initial=0))) + 1, -1, np.int64)
    position[items] = np.arange(len(items))
    at = position[sets.members]
    bits = np.zeros(len(sets), np.int64)
    np.bitwise_or.at(bits, sets.owners()[at >= 0], np.int64(1) << at[at >= 0])
    return bits


def _largest_above(bits: Whole, lo: Whole, size: int) -> Whole:
    """For every subset, the number of the most frequent published set that holds it; -1 when none does."""
    best = np.full(size, -1, np.int64)
    np.maximum.at(best, bits, (lo << _SHIFT) | (_LAST - np.arange(len(bits))))
    superset_max(best)
    return np.where(best >= 0, _LAST - (best & _LAST), -1)


def _one_value(statements: Statements, known: Items, items: Whole) -> Statements:
    """The same, where items are values of columns: nobody has two values of one column."""
    if known.pairs is None:
        return statements
    never = _two_of_a_column([known.pairs[item][0] for item in items.tolist()])
    statements.lo[never] = statements.hi[never] = 0
    statements.low[never] = statements.high[never] = ONE_VALUE
    statements.above[never] = False
    return statements


def _two_of_a_column(columns: Sequence[str]) -> npt.NDArray[np.bool_]:
    """The subsets with two items of one column."""
    masks = np.arange(1 << len(columns))
    found = np.zeros(len(masks), np.bool_)
    for column in set(columns):
        own = sum(1 << j for j, name in enumerate(columns) if name == column)
        found |= np.bitwise_count((masks & own).astype(np.uint64)) > 1
    return found


def knowledge_of(release: Itemsets | Rules) -> Knowledge:
    """What a release says about supports."""
    return ItemsetKnowledge(release) if isinstance(release, Itemsets) else RuleKnowledge(release)
