"""Bounds on the people in a pattern, with certificates.

The people are split into one group for each combination of the items; the support of an itemset is the sum of the groups that contain it. The
fewest and the most people that a pattern can have are then linear programs. A solver's answer in floating point is not trusted: its dual
weights are made fractions, it is checked exactly that they count nobody who does not fit and nobody twice, and only then is their sum taken
as a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.itemsets.supports import Supports
from tacit.kernels.rows import superset_max
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import Contradiction, OptionError
from tacit.model.estimates import Method, PatternSupport
from tacit.model.finding import Citation, render_steps
from tacit.model.numbers import Bound, render_decimal
from tacit.model.pattern import Pattern
from tacit.model.policy import Limits, check_time
from tacit.model.release import Items, Itemsets, Release, Rules, Sets
from tacit.model.words import join_names
from tacit.rules.bounds import UNBOUNDED_COUNT, RuleTable, confidence_of
from tacit.rules.rule_exceptions import refuse_impossible
from tacit.rules.words import Story
from tacit.solve.solver import solve_linear

#: Sources of a bound that no line gives: the number of people, none, absence from a complete list, one value per column.
PEOPLE = -1
NOBODY = -2
MISSING = -3
ONE_VALUE = -4
_FINE = 10**12
_SHIFT = 32
_LAST = (1 << _SHIFT) - 1
SHOWN_TERMS = 24  #: Terms of a sum that the steps show; ``because`` cites all of them.
MOST_DENOMINATOR = 10_000  #: Fractions with larger denominators are shown as decimals.
MOST_WITH_HELP = 8  #: Items in all, with those added to tighten bounds: each doubles the groups.
MOST_ITEMS = 10  #: Patterns over more items than this are bounded term by term: the program has a row for every itemset.
_DENOMINATORS = (1, 60, 5040, 10**6, 10**13)  #: Denominators to try for a solver's weights: those of small programs are small.


@dataclass(frozen=True, slots=True)
class Tie:
    """Confidence of a line: the share of ``part`` in ``whole`` (bits)."""

    whole: int
    part: int
    low: Fraction
    high: Fraction
    line: int
    count: Bound

    def sides(self) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Return two sums of supports that cannot be negative."""
        return {self.part: Fraction(1), self.whole: -self.low}, {self.whole: self.high, self.part: Fraction(-1)}


@dataclass(frozen=True, slots=True)
class _Proof:
    """Weights of itemsets that prove a bound.

    Itemsets are bits. ``ties`` are weights of sums that cannot be negative: two for every tie, by its number and side.
    """

    weights: dict[int, Fraction]
    total: Fraction
    ties: dict[tuple[int, int], Fraction] = field(default_factory=dict)

    @property
    def least(self) -> int:
        return max(0, math.ceil(self.total))

    @property
    def most(self) -> int:
        return math.floor(self.total)


class _Impossible(Exception):
    """No groups of people fit the bounds."""


def signed_weights(truth: Flags) -> Ints:
    """Return each itemset's inclusion-exclusion weight."""
    weights = truth.astype(np.int64)
    step = 1
    while step < len(weights):
        pairs = weights.reshape(-1, 2, step)
        pairs[:, 1, :] -= pairs[:, 0, :]
        step *= 2
    return weights


def bound_term_by_term(truth: Flags, lo: Ints, hi: Ints) -> tuple[_Proof, _Proof | None]:
    """Bound the signed sum term by term."""
    weights = {mask: Fraction(weight) for mask, weight in enumerate(signed_weights(truth).tolist()) if weight}
    upper = _sum_worst_ends(weights, hi, lo)
    if any(weight < 0 and hi[mask] >= UNBOUNDED_COUNT for mask, weight in weights.items()):
        return _Proof({}, Fraction(0)), None if upper is None else _Proof(weights, upper)
    lower = _sum_worst_ends(weights, lo, hi)
    assert lower is not None
    return _Proof(weights, lower), None if upper is None else _Proof(weights, upper)


def bound_tightly(truth: Flags, lo: Ints, hi: Ints, ties: Sequence[Tie] = ()) -> tuple[_Proof, _Proof | None]:
    """Return the tightest bounds, with proofs.

    The upper one is missing if nothing bounds the people. Raises :class:`_Impossible` if no groups fit.
    """
    program = _Program(lo, hi, tuple(ties))
    lower = program.proof(truth.astype(np.int64))
    upper = program.proof(-truth.astype(np.int64))
    if upper is not None:
        negated = {mask: -weight for mask, weight in upper.weights.items()}
        upper = _Proof(negated, -upper.total, {tie: -weight for tie, weight in upper.ties.items()})
    return lower or _Proof({}, Fraction(0)), upper


class _Program:
    """Linear program over combinations: a row per itemset, two per tie."""

    def __init__(self, lo: Ints, hi: Ints, ties: tuple[Tie, ...]) -> None:
        self.lo = lo
        self.hi = hi
        self.ties = ties
        self.rows = np.flatnonzero((lo > 0) | (hi < UNBOUNDED_COUNT))
        self.exact = np.flatnonzero(lo[self.rows] == hi[self.rows])
        loose = lo[self.rows] < hi[self.rows]
        self.least = np.flatnonzero(loose & (lo[self.rows] > 0))
        self.most = np.flatnonzero(loose & (hi[self.rows] < UNBOUNDED_COUNT))

    def proof(self, goal: Ints) -> _Proof | None:
        found = self._solve(goal)
        if found is None:
            return None
        best: _Proof | None = None
        for denominator in _DENOMINATORS:
            weights = {mask: Fraction(value).limit_denominator(denominator) for mask, value in found[0].items()}
            ties = {tie: Fraction(value).limit_denominator(denominator) for tie, value in found[1].items()}
            weights = {mask: weight for mask, weight in weights.items() if weight}
            tried = self._certify(goal, weights, {tie: weight for tie, weight in ties.items() if weight > 0})
            # Of weights with the same whole bound, the simplest are kept.
            if tried is not None and (best is None or math.ceil(tried.total) > math.ceil(best.total)):
                best = tried
        return best

    def _solve(self, goal: Ints) -> tuple[dict[int, float], dict[tuple[int, int], float]] | None:
        from scipy.sparse import csr_array

        cells = np.arange(len(self.lo))
        held = ((cells[None, :] & self.rows[:, None]) == self.rows[:, None]).astype(float)
        tied = [_count_combinations(side, len(goal)) for tie in self.ties for side in tie.sides()]
        never_negative = np.array(tied, float).reshape(-1, len(goal))
        inside = np.concatenate((held[self.most], -held[self.least], -never_negative))
        limits = np.concatenate((self.hi[self.rows[self.most]], -self.lo[self.rows[self.least]], np.zeros(len(never_negative))))
        answer = solve_linear(
            goal.astype(float),
            above=(csr_array(inside), limits),
            equal=(csr_array(held[self.exact]), self.lo[self.rows[self.exact]].astype(float)),
        )
        check_time("bounds on a pattern")
        if answer.status == 2:
            raise _Impossible
        if answer.status != 0:
            return None
        weights = np.zeros(len(self.rows))
        weights[self.exact] += answer.equal
        of_most, of_least, of_ties = np.split(answer.above, [len(self.most), len(self.most) + len(self.least)])
        weights[self.most] += of_most
        weights[self.least] -= of_least
        numbered = {divmod(place, 2): -float(value) for place, value in enumerate(of_ties)}
        return dict(zip(self.rows.tolist(), weights.tolist(), strict=True)), numbered

    def _certify(self, goal: Ints, weights: dict[int, Fraction], ties: dict[tuple[int, int], Fraction]) -> _Proof | None:
        every = dict(weights)
        for (tie, side), factor in ties.items():
            for mask, weight in self.ties[tie].sides()[side].items():
                every[mask] = every.get(mask, Fraction(0)) + factor * weight
        counted = _count_combinations(every, len(goal))
        proofs = []
        for repaired in (_lower_where_needed(weights, counted, goal), _lower_everywhere(weights, counted, goal)):
            total = _sum_worst_ends(repaired, self.lo, self.hi)
            if total is not None:
                proofs.append(_Proof(repaired, total, ties))
        return max(proofs, key=lambda proof: proof.total, default=None)


def _lower_everywhere(weights: dict[int, Fraction], counted: list[Fraction], goal: Ints) -> dict[int, Fraction]:
    """Subtract the largest excess from everybody."""
    excess = max(count - int(aim) for count, aim in zip(counted, goal, strict=True))
    lessened = weights | {0: weights.get(0, Fraction(0)) - max(excess, Fraction(0))}
    return {mask: weight for mask, weight in lessened.items() if weight}


def _lower_where_needed(weights: dict[int, Fraction], counted: list[Fraction], goal: Ints) -> dict[int, Fraction]:
    """Subtract each excess at its smallest itemset."""
    lessened = dict(weights)
    left = list(counted)
    for mask in sorted(range(len(left)), key=int.bit_count):
        excess = left[mask] - int(goal[mask])
        if excess > 0:
            lessened[mask] = lessened.get(mask, Fraction(0)) - excess
            for above in range(mask, len(left)):
                if above & mask == mask:
                    left[above] -= excess
    return {mask: weight for mask, weight in lessened.items() if weight}


def _count_combinations(weights: dict[int, Fraction], size: int) -> list[Fraction]:
    """Return how often a weighted sum counts each combination."""
    counted = [weights.get(mask, Fraction(0)) for mask in range(size)]
    step = 1
    while step < size:
        for mask in range(size):
            if mask & step:
                counted[mask] += counted[mask ^ step]
        step *= 2
    return counted


def _sum_worst_ends(weights: dict[int, Fraction], plus: Ints, minus: Ints) -> Fraction | None:
    total = Fraction(0)
    for mask, weight in weights.items():
        end = int(plus[mask] if weight > 0 else minus[mask])
        if end >= UNBOUNDED_COUNT:
            return None
        total += weight * end
    return total


@dataclass(frozen=True, eq=False)
class _Statements:
    """Bounds on all subsets' supports, and their sources.

    Subsets are bits. ``low`` and ``high`` hold the number of a published set, or a constant above. ``above`` marks lower ends that come
    from a larger set.
    """

    lo: Ints
    hi: Ints
    low: Ints
    high: Ints
    above: Flags

    def exclude_two_values(self, known: Items, items: Ints) -> _Statements:
        """Set the supports of two values of one column to 0."""
        if known.pairs is not None:
            never = _mark_two_of_a_column([known.pairs[item][0] for item in items.tolist()])
            self.lo[never] = self.hi[never] = 0
            self.low[never] = self.high[never] = ONE_VALUE
            self.above[never] = False
        return self


@dataclass(frozen=True, eq=False)
class _ItemsetKnowledge:
    """Statements of a release of itemsets."""

    release: Itemsets

    @property
    def items(self) -> Items:
        return self.release.items

    @property
    def sets(self) -> Sets:
        return self.release.sets

    def statements(self, items: Ints) -> _Statements:
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
            if release.header.coarser:  # two items of one column are not listed, however frequent
                pairs = release.items.pairs
                left_out &= False if pairs is None else ~_mark_two_of_a_column([pairs[item][0] for item in items.tolist()])
            sizes = np.bitwise_count(np.arange(len(left_out), dtype=np.uint64)).tolist()
            left_out &= np.array([release.header.covers(size) for size in sizes], np.bool_)
            left_out[0] = False
            left_out &= hi >= release.min_support
            hi[left_out] = release.min_support - 1
            high[left_out] = MISSING
        statements = _Statements(lo, hi, low, high, above=above)
        return statements if release.header.coarser else statements.exclude_two_values(release.items, items)

    def ties(self, _items: Ints) -> list[Tie]:
        return []

    def explain(self, number: int) -> tuple[list[str], list[Citation], str]:
        """Return steps, citations and place of a set: its line alone."""
        line = self.release.line(number)
        return [], [Citation(0, line, self.release.count(number), None)], f"line {line}"


@dataclass(frozen=True, eq=False)
class _RuleKnowledge:
    """Statements of a release of rules, all lines combined."""

    release: Rules

    @cached_property
    def table(self) -> RuleTable:
        table = RuleTable.of(self.release)
        refuse_impossible(table)
        table.deduce(Limits())
        refuse_impossible(table)
        return table

    @property
    def items(self) -> Items:
        return self.table.named.items

    @property
    def sets(self) -> Sets:
        return self.table.named.sets

    def statements(self, items: Ints) -> _Statements:
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
        statements = _Statements(lo, hi, low, high, above=above)
        return statements if self.release.header.coarser else statements.exclude_two_values(table.named.items, items)

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

    def explain(self, number: int) -> tuple[list[str], list[Citation], str]:
        """Return steps, citations and place of a set: the derivation of its bounds."""
        story = Story(self.table)
        story.bounds(number)
        return list(render_steps(story.all_steps(()))), list(story.citations(0)), "from the lines above"


_Knowledge = _ItemsetKnowledge | _RuleKnowledge


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


def _mark_two_of_a_column(columns: Sequence[str]) -> Flags:
    masks = np.arange(1 << len(columns))
    found = np.zeros(len(masks), np.bool_)
    for column in set(columns):
        own = sum(1 << j for j, name in enumerate(columns) if name == column)
        found |= np.bitwise_count((masks & own).astype(np.uint64)) > 1
    return found


#: Statements of each kind of list, and the words for kinds that have no patterns.
_KNOWLEDGE: Mapping[str, Callable[[Any], _ItemsetKnowledge | _RuleKnowledge]] = {
    "itemsets": _ItemsetKnowledge,
    "rules": _RuleKnowledge,
}
_WITHOUT_PATTERNS = {"buckets": "bucketized", "table": "a table", "frequencies": "a table"}


def pattern_support(release: Release, text: str) -> PatternSupport:
    """Bound the number of people in a pattern."""
    pattern = Pattern.parse(text)
    if release.kind in _WITHOUT_PATTERNS:
        remedy = "Ask about a person with tacit explain --finding, or give itemsets or rules"
        what = f"applies to itemsets and rules; this release is {_WITHOUT_PATTERNS[release.kind]}"
        raise OptionError(what, where="--pattern", remedy=remedy)
    knowledge = _KNOWLEDGE[release.kind](release)
    items = _number_items(pattern, knowledge)
    statements = knowledge.statements(items)
    truth = pattern.truth()
    weights = signed_weights(truth)
    if bool((statements.lo == statements.hi)[weights != 0].all()):
        words = _Words(knowledge, items, statements, release.n, min_support=release.min_support)
        proof = _Proof({mask: Fraction(weight) for mask, weight in enumerate(weights.tolist()) if weight}, Fraction(0))
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
    proofs = [proof for proof in (alone.lower, alone.upper) if proof]
    masks = {mask for proof in proofs for mask in (*proof.weights, *(ties[tie].part for tie, _ in proof.ties))}
    used = {item for mask in masks for item in words.members(mask)}
    called = tuple(sorted(knowledge.items.names[item] for item in used - set(items[: len(pattern.names)].tolist())))
    most = None if alone.upper is None else alone.upper.most
    return PatternSupport(
        pattern.text, alone.lower.least, most, alone.method, because=words.citations(), steps=tuple(steps), helpers=called
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """Best bounds, and the method that found them."""

    lower: _Proof
    upper: _Proof | None
    method: Method

    @property
    def width(self) -> int:
        return UNBOUNDED_COUNT - self.lower.least if self.upper is None else self.upper.most - self.lower.least

    @classmethod
    def of(cls, release: Release, statements: _Statements, truth: Flags, ties: Sequence[Tie]) -> _Answer:
        if len(truth) > 1 << MOST_ITEMS:
            return cls(*bound_term_by_term(truth, statements.lo, statements.hi), "terms")
        try:
            found = cls(*bound_tightly(truth, statements.lo, statements.hi, ties), "bounds")
        except _Impossible:
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


def _number_items(pattern: Pattern, knowledge: _Knowledge) -> Ints:
    number = {name: item for item, name in enumerate(knowledge.items.names)}
    for name, position in zip(pattern.names, pattern.positions, strict=True):
        if name not in number:
            # Names of items are values of the data: of a near one it is said that it exists, not which it is.
            same = any(name.casefold() == other.casefold() for other in number)
            hint = "Items of tables are written column=value"
            if same or get_close_matches(name, number, n=1, cutoff=0.6):
                hint = "One item is spelled almost so; check capitals and signs"
            raise OptionError(
                f"the release has no item {name!r}",
                where=f"--pattern, position {position}",
                remedy=f"{hint}, and put names with blanks or parentheses in quotation marks",
            )
    return np.array([number[name] for name in pattern.names], np.int64)


def _choose_helpers(knowledge: _Knowledge, items: Ints) -> Ints:
    """Return the items most often published together with these."""
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

    knowledge: _Knowledge
    items: Ints
    statements: _Statements
    n: int | None
    min_support: int | None
    ties: Sequence[Tie] = ()
    before: list[str] = field(default_factory=list)
    cited: dict[tuple[str, int | str], Citation] = field(default_factory=dict)

    def citations(self) -> tuple[Citation, ...]:
        order = sorted(self.cited, key=lambda key: (isinstance(key[1], int), str(key[0]), key[1]))
        return tuple(self.cited[key] for key in order)

    def members(self, mask: int) -> list[int]:
        return [int(item) for position, item in enumerate(self.items.tolist()) if mask >> position & 1]

    def sum(self, proof: _Proof, total: int) -> list[str]:
        merged: dict[int, tuple[int, Fraction]] = {}
        for mask, weight in self._ordered(proof):
            # Subsets with one closure share its line: equal terms are one, and opposite ones none.
            source = int(self.statements.low[mask])
            first, before = merged.get(source, (mask, Fraction(0))) if source >= 0 else (mask, Fraction(0))
            merged[source if source >= 0 else -1 - mask - (1 << len(self.items))] = first, before + weight
        terms = [self._term(mask, weight, "") for mask, weight in merged.values() if weight]
        return [*self.before, *_shown(terms), f"sum: {total:,}"]

    def bounds(self, lower: _Proof, upper: _Proof | None, method: Method) -> list[str]:
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
            nearest = math.ceil(proof.total) if side == "at least" else math.floor(proof.total)
            whole = f", and people are whole: {side} {nearest:,}" if proof.total.denominator > 1 else ""
            out += [f"{head}:", *_shown(terms), f"sum: {_number(proof.total)}{whole}"]
            if method == "bounds":
                counts = "no one who fits is counted more than once, no one else more than 0 times"
                if side == "at most":
                    counts = "everyone who fits is counted at least once, no one less than 0 times"
                out.append(f"In this sum {counts}.")
            else:
                out.append("Each term is taken at its worst; taken together they may say more.")
        return [*self.before, *out]

    def _ordered(self, proof: _Proof) -> list[tuple[int, Fraction]]:
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
        share = f"{render_decimal(float(tie.low if side == 0 else tie.high), 6)} of {whole}"
        less = f"{part} less {share}" if side == 0 else f"{share} less {part}"
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
        steps, citations, place = self.knowledge.explain(source)
        self.before += [step for step in steps if step not in self.before]
        self.cited |= {("line" if isinstance(one.place, int) else str(one.place), one.place): one for one in citations}
        if low and bool(self.statements.above[mask]):
            return f"everyone of {place} has them" if place.startswith("line") else "everyone with more items has them"
        return place


def _shown(terms: list[str]) -> list[str]:
    if len(terms) <= SHOWN_TERMS:
        return terms
    return [*terms[:SHOWN_TERMS], f"and {len(terms) - SHOWN_TERMS} more terms, whose lines are all cited"]


def _number(value: Fraction) -> str:
    if value.denominator > MOST_DENOMINATOR:
        return render_decimal(float(value), 6)
    return f"{value.numerator:,}" if value.denominator == 1 else f"{value.numerator:,}/{value.denominator:,}"
