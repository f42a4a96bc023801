"""Bounds on the people in a pattern."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from tacit.errors import Contradiction, OptionError
from tacit.itemsets.supports import Supports
from tacit.kernels.rows import superset_max
from tacit.model.arrays import Flags, Ints
from tacit.model.buckets import Buckets
from tacit.model.estimates import Method, PatternSupport
from tacit.model.event import Pattern
from tacit.model.finding import Citation, render_steps
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.policy import Limits
from tacit.model.release import Items, Itemsets, Release, Rules, Sets
from tacit.model.words import join_names
from tacit.rules.bounds import UNBOUNDED_COUNT, RuleTable, confidence_of
from tacit.rules.certified_bounds import MOST_ITEMS, Impossible, Proof, Tie, bound_term_by_term, bound_tightly, signed_weights
from tacit.rules.rule_exceptions import refuse_impossible
from tacit.rules.words import Story

#: Sources of a bound that no line gives: the number of people, none, absence from a complete list, one value per column.
PEOPLE = -1
NOBODY = -2
MISSING = -3
ONE_VALUE = -4
_FINE = 10**12
_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
#: Terms of a sum that the steps show; ``because`` cites all of them.
SHOWN_TERMS = 24
#: Fractions with larger denominators are shown as decimals.
MOST_DENOMINATOR = 10_000
#: Items in all, with those added to tighten bounds: each doubles the groups.
MOST_WITH_HELP = 8


@dataclass(frozen=True, eq=False)
class Statements:
    """Bounds on all subsets' supports, and their sources.

    Subsets are bits. ``low`` and ``high`` hold the number of a published set, or a constant above. ``above`` marks lower ends that come
    from a larger set.
    """

    lo: Ints
    hi: Ints
    low: Ints
    high: Ints
    above: Flags

    @property
    def exact(self) -> Flags:
        """Supports that are exactly known."""
        known: Flags = self.lo == self.hi
        return known


class Knowledge(Protocol):
    """Statements of a release about supports."""

    @property
    def items(self) -> Items:
        """Items that can be asked about."""

    @property
    def sets(self) -> Sets:
        """Sets with a published statement."""

    def statements(self, items: Ints) -> Statements:
        """Return bounds on the supports of all subsets."""

    def ties(self, items: Ints) -> list[Tie]:
        """Return the confidences between two subsets of these items."""

    def told(self, number: int) -> tuple[list[str], list[Citation], str]:
        """Return steps, citations and place of a set."""


@dataclass(frozen=True, eq=False)
class ItemsetKnowledge:
    """Statements of a release of itemsets."""

    release: Itemsets

    @property
    def items(self) -> Items:
        """Items of the release."""
        return self.release.items

    @property
    def sets(self) -> Sets:
        """Published sets."""
        return self.release.sets

    def statements(self, items: Ints) -> Statements:
        """Return bounds on the supports of all subsets."""
        release = self.release
        cube = Supports(release).cube(items, within=np.arange(len(release.items)))
        known = cube.known
        top = UNBOUNDED_COUNT if release.n is None else release.n
        lo = np.where(known, cube.lo, 0)
        hi = np.where(known, cube.hi, top)
        low = np.where(known, cube.line, NOBODY)
        high = np.where(known, cube.line, NOBODY if release.n is None else PEOPLE)
        larger = _find_largest_superset(_item_bits(release.sets, items), release.lo, 1 << len(items))
        above = ~known & (larger >= 0)
        lo[above] = release.lo[larger[above]]
        low[above] = larger[above]
        if release.header.complete and release.min_support is not None:
            # Of maximal itemsets, those inside one are frequent; every other set that was looked for is not.
            left_out = ~known & (larger < 0) if release.only == "maximal" else ~known
            left_out &= self._mark_listable(items)
            left_out[0] = False
            left_out &= hi >= release.min_support
            hi[left_out] = release.min_support - 1
            high[left_out] = MISSING
        statements = Statements(lo, hi, low, high, above=above)
        return statements if release.header.coarser else _exclude_two_values(statements, release.items, items)

    def _mark_listable(self, items: Ints) -> Flags:
        pairs = self.release.items.pairs
        if not self.release.header.coarser:
            return np.ones(1 << len(items), np.bool_)
        if pairs is None:
            return np.zeros(1 << len(items), np.bool_)
        return ~_mark_two_of_a_column([pairs[item][0] for item in items.tolist()])

    def ties(self, items: Ints) -> list[Tie]:
        """Return none: itemsets have no confidences."""
        return []

    def told(self, number: int) -> tuple[list[str], list[Citation], str]:
        """Return the line of the set, without steps."""
        line = self.release.line(number)
        return [], [Citation(0, line, self.release.count(number), None)], f"line {line}"


@dataclass(frozen=True, eq=False)
class RuleKnowledge:
    """Statements of a release of rules, all lines combined."""

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
        """Items of the rules and all SA values."""
        return self.table.named.items

    @property
    def sets(self) -> Sets:
        """Sets that rules name."""
        return self.table.named.sets

    def statements(self, items: Ints) -> Statements:
        """Return bounds on the supports of all subsets."""
        table = self.table
        size = 1 << len(items)
        bits = _item_bits(table.named.sets, items)
        top = UNBOUNDED_COUNT if self.release.n is None else self.release.n
        lo = np.zeros(size, np.int64)
        hi = np.full(size, top, np.int64)
        low = np.full(size, NOBODY)
        high = np.full(size, NOBODY if self.release.n is None else PEOPLE)
        larger = _find_largest_superset(bits, table.lo, size)
        above = larger >= 0
        lo[above] = table.lo[larger[above]]
        low[above] = larger[above]
        inside = np.flatnonzero(np.bitwise_count(bits.astype(np.uint64)) == table.named.sets.lengths)
        own = bits[inside]
        high[own] = np.where(table.hi[inside] <= hi[own], inside, high[own])
        hi[own] = np.minimum(hi[own], table.hi[inside])
        equal = table.lo[inside] >= lo[own]
        low[own[equal]] = inside[equal]
        above[own] = ~equal
        if self.release.n is not None:
            lo[0] = hi[0] = self.release.n
            low[0] = high[0] = PEOPLE
            above[0] = False
        statements = Statements(lo, hi, low, high, above=above)
        return statements if self.release.header.coarser else _exclude_two_values(statements, table.named.items, items)

    def ties(self, items: Ints) -> list[Tie]:
        """Return the confidences of rules with inexact numbers."""
        table = self.table
        bits = _item_bits(table.named.sets, items)
        inside = np.bitwise_count(bits.astype(np.uint64)) == table.named.sets.lengths
        both = table.named.both
        whole = table.named.whole
        loose = (table.lo[both] < table.hi[both]) | (table.lo[whole] < table.hi[whole])
        found = []
        for line in np.flatnonzero(inside[both] & loose).tolist():
            share = confidence_of(self.release, line)
            # Ends with few digits, a little further out, keep the proof's fractions short.
            low = Fraction(math.floor(share.low * _FINE), _FINE)
            high = Fraction(math.ceil(share.high * _FINE), _FINE)
            count = self.release.count(line)
            found.append(Tie(int(bits[whole[line]]), int(bits[both[line]]), low, high, line=self.release.line(line), count=count))
        return found

    def told(self, number: int) -> tuple[list[str], list[Citation], str]:
        """Return the derivation of the bounds of the set."""
        story = Story(self.table)
        story.bounds(number)
        return list(render_steps(story.all_steps(()))), list(story.citations(0)), "from the lines above"


def _item_bits(sets: Sets, items: Ints) -> Ints:
    position = np.full(int(max(sets.members.max(initial=0), items.max(initial=0))) + 1, -1, np.int64)
    position[items] = np.arange(len(items))
    at = position[sets.members]
    bits = np.zeros(len(sets), np.int64)
    np.bitwise_or.at(bits, sets.owners()[at >= 0], np.int64(1) << at[at >= 0])
    return bits


def _find_largest_superset(bits: Ints, lo: Ints, size: int) -> Ints:
    best = np.full(size, -1, np.int64)
    np.maximum.at(best, bits, (lo << _SHIFT) | (_LAST - np.arange(len(bits))))
    superset_max(best)
    return np.where(best >= 0, _LAST - (best & _LAST), -1)


def _exclude_two_values(statements: Statements, known: Items, items: Ints) -> Statements:
    if known.pairs is None:
        return statements
    never = _mark_two_of_a_column([known.pairs[item][0] for item in items.tolist()])
    statements.lo[never] = statements.hi[never] = 0
    statements.low[never] = statements.high[never] = ONE_VALUE
    statements.above[never] = False
    return statements


def _mark_two_of_a_column(columns: Sequence[str]) -> Flags:
    masks = np.arange(1 << len(columns))
    found = np.zeros(len(masks), np.bool_)
    for column in set(columns):
        own = sum(1 << j for j, name in enumerate(columns) if name == column)
        found |= np.bitwise_count((masks & own).astype(np.uint64)) > 1
    return found


def knowledge_of(release: Itemsets | Rules) -> Knowledge:
    """Return the statements of a release about supports."""
    return ItemsetKnowledge(release) if isinstance(release, Itemsets) else RuleKnowledge(release)


def pattern_support(release: Release, text: str) -> PatternSupport:
    """Bound the number of people in a pattern."""
    pattern = Pattern.parse(text)
    if isinstance(release, Buckets | PartialTable | FrequencyTable):
        remedy = "Ask about a person with tacit explain --finding, or give itemsets or rules"
        kind = "bucketized" if isinstance(release, Buckets) else "a table"
        raise OptionError(f"applies to itemsets and rules; this release is {kind}", where="--pattern", remedy=remedy)
    knowledge = knowledge_of(release)
    items = _number_items(pattern, knowledge)
    statements = knowledge.statements(items)
    truth = pattern.truth()
    weights = signed_weights(truth)
    if bool(statements.exact[weights != 0].all()):
        words = _Words(knowledge, items, statements, release.n, min_support=release.min_support)
        proof = Proof({mask: Fraction(weight) for mask, weight in enumerate(weights.tolist()) if weight}, Fraction(0))
        total = sum(int(weight * statements.lo[mask]) for mask, weight in proof.weights.items())
        if total < 0:
            raise _clash_error(release)
        steps = words.sum(proof, total)
        return PatternSupport(pattern.text, total, total, "sum", because=words.citations(), steps=tuple(steps))
    ties = knowledge.ties(items)
    alone = _Answer.of(release, statements, truth, ties)
    if alone.width > 0 and len(items) < MOST_WITH_HELP:
        together = np.concatenate((items, _choose_helpers(knowledge, items)))
        helped_by = knowledge.statements(together)
        tied = knowledge.ties(together)
        helped = _Answer.of(release, helped_by, pattern.root.truth(len(together)), tied)
        if helped.width < alone.width:
            alone = helped
            statements = helped_by
            items = together
            ties = tied
    words = _Words(knowledge, items, statements, release.n, min_support=release.min_support, ties=ties)
    steps = words.bounds(alone.lower, alone.upper, alone.method)
    used = {
        item for proof in (alone.lower, alone.upper) if proof for mask in _used_masks(proof, ties) for item in words.members(mask)
    }
    called = tuple(sorted(knowledge.items.names[item] for item in used - set(items[: len(pattern.names)].tolist())))
    most = None if alone.upper is None else alone.upper.most
    return PatternSupport(
        pattern.text, alone.lower.least, most, alone.method, because=words.citations(), steps=tuple(steps), helpers=called
    )


def _used_masks(proof: Proof, ties: Sequence[Tie]) -> set[int]:
    return {*proof.weights, *(ties[tie].part for tie, _ in proof.ties)}


@dataclass(frozen=True, slots=True)
class _Answer:
    """Best bounds, and the method that found them."""

    lower: Proof
    upper: Proof | None
    method: Method

    @property
    def width(self) -> int:
        return UNBOUNDED_COUNT - self.lower.least if self.upper is None else self.upper.most - self.lower.least

    @classmethod
    def of(cls, release: Release, statements: Statements, truth: Flags, ties: Sequence[Tie]) -> _Answer:
        if len(truth) > 1 << MOST_ITEMS:
            return cls(*bound_term_by_term(truth, statements.lo, statements.hi), "terms")
        try:
            found = cls(*bound_tightly(truth, statements.lo, statements.hi, ties), "bounds")
        except Impossible:
            raise _clash_error(release) from None
        if found.width < 0:
            raise _clash_error(release)
        return found


def _clash_error(release: Release) -> Contradiction:
    return Contradiction(
        "the numbers about these items cannot all be true of any group of people",
        where=release.source.name if release.source else "the release",
        remedy="Audit the release to see which lines clash, and correct them",
    )


def _number_items(pattern: Pattern, knowledge: Knowledge) -> Ints:
    """Return the numbers of the pattern's items."""
    number = {name: item for item, name in enumerate(knowledge.items.names)}
    for name, position in zip(pattern.names, pattern.positions, strict=True):
        if name not in number:
            # Names of items are values of the data: of a near one it is said that it exists, not which it is.
            near = get_close_matches(name, number, n=1, cutoff=0.6) or any(
                name.casefold() == other.casefold() for other in number
            )
            hint = (
                "One item is spelled almost so; check capitals and signs" if near else "Items of tables are written column=value"
            )
            raise OptionError(
                f"the release has no item {name!r}",
                where=f"--pattern, position {position}",
                remedy=f"{hint}, and put names with blanks or parentheses in quotation marks",
            )
    return np.array([number[name] for name in pattern.names], np.int64)


def _choose_helpers(knowledge: Knowledge, items: Ints) -> Ints:
    sets = knowledge.sets
    touching = np.zeros(len(sets), np.bool_)
    touching[sets.owners()[np.isin(sets.members, items)]] = True
    members = sets.members[touching[sets.owners()]].astype(np.int64)
    found, times = np.unique(members[~np.isin(members, items)], return_counts=True)
    order = np.lexsort((found, -times))
    return np.sort(found[order][: MOST_WITH_HELP - len(items)])


@dataclass(eq=False)
class _Words:
    """A proof in words, and its citations."""

    knowledge: Knowledge
    items: Ints
    statements: Statements
    n: int | None
    min_support: int | None
    ties: Sequence[Tie] = ()
    before: list[str] = field(default_factory=list)
    cited: dict[tuple[str, int | str], Citation] = field(default_factory=dict)

    def citations(self) -> tuple[Citation, ...]:
        return tuple(
            self.cited[key] for key in sorted(self.cited, key=lambda key: (isinstance(key[1], int), str(key[0]), key[1]))
        )

    def members(self, mask: int) -> list[int]:
        return [int(item) for position, item in enumerate(self.items.tolist()) if mask >> position & 1]

    def sum(self, proof: Proof, total: int) -> list[str]:
        merged: dict[int, tuple[int, Fraction]] = {}
        for mask, weight in self._ordered(proof):
            # Subsets with one closure share its line: equal terms are one, and opposite ones none.
            source = int(self.statements.low[mask])
            first, before = merged.get(source, (mask, Fraction(0))) if source >= 0 else (mask, Fraction(0))
            merged[source if source >= 0 else -1 - mask - (1 << len(self.items))] = first, before + weight
        terms = [self._term(mask, weight, "") for mask, weight in merged.values() if weight]
        return [*self.before, *_shown(terms), f"sum: {total:,}"]

    def bounds(self, lower: Proof, upper: Proof | None, method: Method) -> list[str]:
        out: list[str] = []
        for proof, side in ((lower, "at least"), (upper, "at most")):
            if proof is None:
                out.append("Nothing that is published bounds it from above: the number of people is not known.")
                continue
            end = proof.least if side == "at least" else proof.most
            head = f"{side.capitalize()} {end:,} {'person' if end == 1 else 'people'}"
            if not proof.weights and not proof.ties:
                out.append(f"{head}: nothing that is published says more.")
                continue
            ends = ("at least", "at most") if side == "at least" else ("at most", "at least")
            terms = [self._term(mask, weight, ends[0] if weight > 0 else ends[1]) for mask, weight in self._ordered(proof)]
            terms += [self._tie(tie, which, weight) for (tie, which), weight in proof.ties.items()]
            out += [f"{head}:", *_shown(terms), _total(proof.total, side)]
            if method == "bounds":
                counts = "no one who fits is counted more than once, no one else more than 0 times"
                if side == "at most":
                    counts = "everyone who fits is counted at least once, no one less than 0 times"
                out.append(f"In this sum {counts}.")
            else:
                out.append("Each term is taken at its worst; taken together they may say more.")
        return [*self.before, *out]

    def _ordered(self, proof: Proof) -> list[tuple[int, Fraction]]:
        return sorted(proof.weights.items(), key=lambda entry: (entry[0].bit_count(), entry[0]))

    def _term(self, mask: int, weight: Fraction, end: str) -> str:
        low = end == "at least" or not end
        value = int(self.statements.lo[mask] if low else self.statements.hi[mask])
        source = int(self.statements.low[mask] if low else self.statements.high[mask])
        times = "" if abs(weight) == 1 else f" {_number(abs(weight))} times"
        exact = self.statements.lo[mask] == self.statements.hi[mask]
        number = f"{value:,}" if exact or not end else f"{end} {value:,}"
        who = f"people with {self._names(mask)}" if mask else "all people"
        return f"{'plus' if weight > 0 else 'minus'}{times} {number}: {who} ({self._place(mask, source, low)})"

    def _tie(self, number: int, side: int, weight: Fraction) -> str:
        tie = self.ties[number]
        self.cited["line", tie.line] = Citation(0, tie.line, tie.count, None)
        part, whole = (f"people with {self._names(mask)}" if mask else "all people" for mask in (tie.part, tie.whole))
        less = f"{part} less {_decimal(tie.low)} of {whole}" if side == 0 else f"{_decimal(tie.high)} of {whole} less {part}"
        times = "" if abs(weight) == 1 else f" {_number(abs(weight))} times"
        return f"{'plus' if weight > 0 else 'minus'}{times} at least 0: {less} (the confidence of line {tie.line})"

    def _names(self, mask: int) -> str:
        return join_names(tuple(sorted(self.knowledge.items.names[item] for item in self.members(mask))), "and")

    def _place(self, mask: int, source: int, low: bool) -> str:
        if source == PEOPLE:
            self.cited["n", "n"] = Citation(0, "n", Bound.of(self.n or 0), None)
            return "n"
        if source == MISSING:
            self.cited["min_support", "min_support"] = Citation(0, "min_support", Bound.of(self.min_support or 0), None)
            return f"left out of a complete list from {self.min_support or 0:,} on"
        if source == ONE_VALUE:
            return "nobody has two values of one column"
        if source == NOBODY:
            return "no line says more"
        steps, citations, place = self.knowledge.told(source)
        self.before += [step for step in steps if step not in self.before]
        self.cited |= {("line" if isinstance(one.place, int) else str(one.place), one.place): one for one in citations}
        if low and bool(self.statements.above[mask]):
            return f"everyone of {place} has them" if place.startswith("line") else "everyone with more items has them"
        return place


def _shown(terms: list[str]) -> list[str]:
    if len(terms) <= SHOWN_TERMS:
        return terms
    return [*terms[:SHOWN_TERMS], f"and {len(terms) - SHOWN_TERMS} more terms, whose lines are all cited"]


def _decimal(value: Fraction) -> str:
    return f"{float(value):.6g}"


def _total(value: Fraction, side: str) -> str:
    whole = f", and people are whole: {side} {_whole(value, side):,}" if value.denominator > 1 else ""
    return f"sum: {_number(value)}{whole}"


def _whole(value: Fraction, side: str) -> int:
    return -(-value.numerator // value.denominator) if side == "at least" else value.numerator // value.denominator


def _number(value: Fraction) -> str:
    """Write a number, approximately if long.

    >>> _number(Fraction(1200)), _number(Fraction(7, 3))
    ('1,200', '7/3')
    """
    if value.denominator > MOST_DENOMINATOR:
        return f"{float(value):.6g}"
    return f"{value.numerator:,}" if value.denominator == 1 else f"{value.numerator:,}/{value.denominator:,}"
