"""The number of people in any pattern over items, or the tightest bounds on it, as a release gives them away, with the sum written out.

The tightest bounds on the number of people in a pattern, from bounds on supports, each with weights that prove it.

The people are split into one group for each combination of the items; the support of an itemset is the sum of the groups that hold it. The
fewest and the most people that a pattern can have are then linear programs. A solver's answer in floating point is not trusted: its weights are
made fractions, it is checked exactly that they count nobody who does not fit and nobody twice, and only then is their sum taken as a bound.

What a release says about the supports of all itemsets over a few items: bounds, and who says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, OptionError
from tacit.itemsets.supports import Supports
from tacit.kernels.moebius import superset_max
from tacit.model.arrays import Flags, Ints
from tacit.model.buckets import Buckets
from tacit.model.estimates import Method, PatternSupport
from tacit.model.event import Pattern
from tacit.model.finding import Citation
from tacit.model.frequencies import FrequencyTable
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.policy import Limits, check_time
from tacit.model.release import Itemsets, Release, Rules
from tacit.model.sets import Items, Sets
from tacit.model.steps import render_steps
from tacit.model.words import listed
from tacit.rules.bounds import UNBOUNDED_COUNT, RuleTable, confidence_of
from tacit.rules.rule_exceptions import refuse_impossible
from tacit.rules.words import Story
from tacit.solve.solver import solve_linear

#: Patterns over more items than this are bounded term by term: the program has a line for every itemset.
MOST_ITEMS = 10
#: Denominators that a solver's weights are tried with: those of small programs are small.
_DENOMINATORS = (1, 60, 5040, 10**6, 10**13)


@dataclass(frozen=True, slots=True)
class Tie:
    """Of the people with ``whole`` a share from ``low`` to ``high`` has ``part`` as well (both bits); ``line`` says so, with ``count``."""

    whole: int
    part: int
    low: Fraction
    high: Fraction
    line: int
    count: Bound

    def sides(self) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Two sums of supports that cannot be negative."""
        return {self.part: Fraction(1), self.whole: -self.low}, {self.whole: self.high, self.part: Fraction(-1)}


@dataclass(frozen=True, slots=True)
class Proof:
    """Weights of itemsets (bits), and what the weighted supports come to: the pattern has at least, or at most, so many people.

    ``ties`` are weights of sums that cannot be negative: two for every tie, by its number and side.
    """

    weights: dict[int, Fraction]
    total: Fraction
    ties: dict[tuple[int, int], Fraction] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """The bound as a lower one: people are whole."""
        return max(0, -(-self.total.numerator // self.total.denominator))

    @property
    def most(self) -> int:
        """The bound as an upper one."""
        return self.total.numerator // self.total.denominator


class Impossible(Exception):
    """No groups of people fit the bounds."""


def signed_weights(truth: Flags) -> Ints:
    """How often the support of each itemset enters the number of people in a pattern (inclusion-exclusion).

    >>> signed_weights(np.array([False, True, False, False])).tolist()  # a and not b
    [0, 1, 0, -1]
    """
    weights = truth.astype(np.int64)
    step = 1
    while step < len(weights):
        pairs = weights.reshape(-1, 2, step)
        pairs[:, 1, :] -= pairs[:, 0, :]
        step *= 2
    return weights


def term_by_term(truth: Flags, lo: Ints, hi: Ints) -> tuple[Proof, Proof | None]:
    """Bounds by adding the signed sum up with the worst end of each term."""
    weights = {mask: Fraction(weight) for mask, weight in enumerate(signed_weights(truth).tolist()) if weight}
    upper = _weighted_total(weights, hi, lo)
    if any(weight < 0 and hi[mask] >= UNBOUNDED_COUNT for mask, weight in weights.items()):
        return Proof({}, Fraction(0)), None if upper is None else Proof(weights, upper)
    lower = _weighted_total(weights, lo, hi)
    assert lower is not None
    return Proof(weights, lower), None if upper is None else Proof(weights, upper)


def tightest(truth: Flags, lo: Ints, hi: Ints, ties: Sequence[Tie] = ()) -> tuple[Proof, Proof | None]:
    """The largest lower and the smallest upper bound, with proofs; no upper one where nothing bounds the people.

    Raises :class:`Impossible` when no groups of people fit.
    """
    program = _Program(lo, hi, tuple(ties))
    lower = program.proof(truth.astype(np.int64))
    upper = program.proof(-truth.astype(np.int64))
    if upper is not None:
        negated = {mask: -weight for mask, weight in upper.weights.items()}
        upper = Proof(negated, -upper.total, {tie: -weight for tie, weight in upper.ties.items()})
    return lower or Proof({}, Fraction(0)), upper


class _Program:
    """The program: one unknown per combination of items, one line per itemset that something is known about, two per tie."""

    def __init__(self, lo: Ints, hi: Ints, ties: tuple[Tie, ...]) -> None:
        self.lo, self.hi, self.ties = lo, hi, ties
        self.rows = np.flatnonzero((lo > 0) | (hi < UNBOUNDED_COUNT))
        self.exact = np.flatnonzero(lo[self.rows] == hi[self.rows])
        loose = lo[self.rows] < hi[self.rows]
        self.least = np.flatnonzero(loose & (lo[self.rows] > 0))
        self.most = np.flatnonzero(loose & (hi[self.rows] < UNBOUNDED_COUNT))

    def proof(self, goal: Ints) -> Proof | None:
        """Weights with the largest sum that counts every group at most as often as the goal does; None where there is no bound."""
        found = self._solved(goal)
        if found is None:
            return None
        best: Proof | None = None
        for denominator in _DENOMINATORS:
            weights = {mask: _fraction(value, denominator) for mask, value in found[0].items()}
            ties = {tie: _fraction(value, denominator) for tie, value in found[1].items()}
            weights = {mask: weight for mask, weight in weights.items() if weight}
            tried = self._sound(goal, weights, {tie: weight for tie, weight in ties.items() if weight > 0})
            # People are whole: of weights that give the same whole bound, the simplest are kept.
            if tried is not None and (best is None or math.ceil(tried.total) > math.ceil(best.total)):
                best = tried
        return best

    def _solved(self, goal: Ints) -> tuple[dict[int, float], dict[tuple[int, int], float]] | None:
        """The weights of the itemsets and of the ties that a solver finds, nearly."""
        from scipy.sparse import csr_array

        cells = np.arange(len(self.lo))
        held = ((cells[None, :] & self.rows[:, None]) == self.rows[:, None]).astype(float)
        tied = [_counted(side, len(goal)) for tie in self.ties for side in tie.sides()]
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
            raise Impossible
        if answer.status != 0:
            return None
        weights = np.zeros(len(self.rows))
        weights[self.exact] += answer.equal
        of_most, of_least, of_ties = np.split(answer.above, [len(self.most), len(self.most) + len(self.least)])
        weights[self.most] += of_most
        weights[self.least] -= of_least
        numbered = {divmod(place, 2): -float(value) for place, value in enumerate(of_ties)}
        return dict(zip(self.rows.tolist(), weights.tolist(), strict=True)), numbered

    def _sound(self, goal: Ints, weights: dict[int, Fraction], ties: dict[tuple[int, int], Fraction]) -> Proof | None:
        """The proof that these weights give, after whatever they count too often is taken away again; None where that takes an unknown end."""
        every = dict(weights)
        for (tie, side), factor in ties.items():
            for mask, weight in self.ties[tie].sides()[side].items():
                every[mask] = every.get(mask, Fraction(0)) + factor * weight
        counted = _counted(every, len(goal))
        proofs = []
        for repaired in (_less_where_needed(weights, counted, goal), _less_everywhere(weights, counted, goal)):
            total = _weighted_total(repaired, self.lo, self.hi)
            if total is not None:
                proofs.append(Proof(repaired, total, ties))
        return max(proofs, key=lambda proof: proof.total, default=None)


def _less_everywhere(weights: dict[int, Fraction], counted: list[Fraction], goal: Ints) -> dict[int, Fraction]:
    """Weights that count nobody too often: the largest excess is taken from everybody."""
    excess = max(count - int(aim) for count, aim in zip(counted, goal, strict=True))
    lessened = weights | {0: weights.get(0, Fraction(0)) - max(excess, Fraction(0))}
    return {mask: weight for mask, weight in lessened.items() if weight}


def _less_where_needed(weights: dict[int, Fraction], counted: list[Fraction], goal: Ints) -> dict[int, Fraction]:
    """Weights that count nobody too often: each excess is taken from those who have the items where it first shows."""
    lessened, left = dict(weights), list(counted)
    for mask in sorted(range(len(left)), key=int.bit_count):
        excess = left[mask] - int(goal[mask])
        if excess > 0:
            lessened[mask] = lessened.get(mask, Fraction(0)) - excess
            for above in range(mask, len(left)):
                if above & mask == mask:
                    left[above] -= excess
    return {mask: weight for mask, weight in lessened.items() if weight}


def _fraction(value: float, denominator: int) -> Fraction:
    return Fraction(value).limit_denominator(denominator)


def _counted(weights: dict[int, Fraction], size: int) -> list[Fraction]:
    """How often a weighted sum of supports counts each combination of items."""
    counted = [weights.get(mask, Fraction(0)) for mask in range(size)]
    step = 1
    while step < size:
        for mask in range(size):
            if mask & step:
                counted[mask] += counted[mask ^ step]
        step *= 2
    return counted


def _weighted_total(weights: dict[int, Fraction], plus: Ints, minus: Ints) -> Fraction | None:
    """The weighted sum, with one end of each bound for positive and the other for negative weights; None when an end is missing."""
    total = Fraction(0)
    for mask, weight in weights.items():
        end = int(plus[mask] if weight > 0 else minus[mask])
        if end >= UNBOUNDED_COUNT:
            return None
        total += weight * end
    return total


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

    lo: Ints
    hi: Ints
    low: Ints
    high: Ints
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

    def statements(self, items: Ints) -> Statements:
        """Bounds on the supports of all subsets of these items."""

    def ties(self, items: Ints) -> list[Tie]:
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

    def statements(self, items: Ints) -> Statements:
        """Bounds on the supports of all subsets of these items."""
        release = self.release
        cube = Supports(release).cube(items, within=np.arange(len(release.items)))
        known = cube.known
        top = UNBOUNDED_COUNT if release.n is None else release.n
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

    def _looked_for(self, items: Ints) -> npt.NDArray[np.bool_]:
        """The subsets that would be listed if they were frequent: where coarser values are items, at most one item of a column."""
        pairs = self.release.items.pairs
        if not self.release.header.coarser:
            return np.ones(1 << len(items), np.bool_)
        if pairs is None:
            return np.zeros(1 << len(items), np.bool_)
        return ~_two_of_a_column([pairs[item][0] for item in items.tolist()])

    def ties(self, items: Ints) -> list[Tie]:
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

    def statements(self, items: Ints) -> Statements:
        """Bounds on the supports of all subsets of these items."""
        table = self.table
        size = 1 << len(items)
        bits = _bits(table.named.sets, items)
        top = UNBOUNDED_COUNT if self.release.n is None else self.release.n
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

    def ties(self, items: Ints) -> list[Tie]:
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
        return list(render_steps(story.all_steps(()))), list(story.citations(0)), "from the lines above"


def _bits(sets: Sets, items: Ints) -> Ints:
    """For every set, which of the items it holds."""
    position = np.full(int(max(sets.members.max(initial=0), items.max(initial=0))) + 1, -1, np.int64)
    position[items] = np.arange(len(items))
    at = position[sets.members]
    bits = np.zeros(len(sets), np.int64)
    np.bitwise_or.at(bits, sets.owners()[at >= 0], np.int64(1) << at[at >= 0])
    return bits


def _largest_above(bits: Ints, lo: Ints, size: int) -> Ints:
    """For every subset, the number of the most frequent published set that holds it; -1 when none does."""
    best = np.full(size, -1, np.int64)
    np.maximum.at(best, bits, (lo << _SHIFT) | (_LAST - np.arange(len(bits))))
    superset_max(best)
    return np.where(best >= 0, _LAST - (best & _LAST), -1)


def _one_value(statements: Statements, known: Items, items: Ints) -> Statements:
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


#: How many terms of a sum the steps show; ``because`` lists all of them.
SHOWN_TERMS = 24
#: Fractions with larger denominators are shown as decimals.
MOST_DENOMINATOR = 10_000
#: Items that the pattern does not name are called to help up to this many items in all: each doubles the groups.
MOST_WITH_HELP = 8


def pattern_support(release: Release, text: str) -> PatternSupport:
    """What a release says about the number of people in a pattern."""
    pattern = Pattern.parse(text)
    if isinstance(release, Buckets | PartialTable | FrequencyTable):
        remedy = "Ask about a person with tacit explain --finding, or give itemsets or rules"
        kind = "bucketized" if isinstance(release, Buckets) else "a table"
        raise OptionError(f"is about itemsets and rules, and this release is {kind}", where="--pattern", remedy=remedy)
    knowledge = knowledge_of(release)
    items = _items(pattern, knowledge)
    statements = knowledge.statements(items)
    truth = pattern.truth()
    weights = signed_weights(truth)
    if bool(statements.exact[weights != 0].all()):
        words = _Words(knowledge, items, statements, release.n, release.min_support)
        proof = Proof({mask: Fraction(weight) for mask, weight in enumerate(weights.tolist()) if weight}, Fraction(0))
        total = sum(int(weight * statements.lo[mask]) for mask, weight in proof.weights.items())
        if total < 0:
            raise _clash(release)
        steps = words.sum(proof, total)
        return PatternSupport(pattern.text, total, total, "sum", words.citations(), tuple(steps))
    ties = knowledge.ties(items)
    alone = _Answer.of(release, statements, truth, ties)
    if alone.width > 0 and len(items) < MOST_WITH_HELP:
        together = np.concatenate((items, _helpers(knowledge, items)))
        helped_by, tied = knowledge.statements(together), knowledge.ties(together)
        helped = _Answer.of(release, helped_by, pattern.root.truth(len(together)), tied)
        if helped.width < alone.width:
            alone, statements, items, ties = helped, helped_by, together, tied
    words = _Words(knowledge, items, statements, release.n, release.min_support, ties)
    steps = words.bounds(alone.lower, alone.upper, alone.method)
    used = {item for proof in (alone.lower, alone.upper) if proof for mask in _masks(proof, ties) for item in words.members(mask)}
    called = tuple(sorted(knowledge.items.names[item] for item in used - set(items[: len(pattern.names)].tolist())))
    most = None if alone.upper is None else alone.upper.most
    return PatternSupport(pattern.text, alone.lower.least, most, alone.method, words.citations(), tuple(steps), called)


def _masks(proof: Proof, ties: Sequence[Tie]) -> set[int]:
    """The itemsets that a proof rests on."""
    return {*proof.weights, *(ties[tie].part for tie, _ in proof.ties)}


@dataclass(frozen=True, slots=True)
class _Answer:
    """The best bounds that can be had, and how."""

    lower: Proof
    upper: Proof | None
    method: Method

    @property
    def width(self) -> int:
        """How far the bounds are apart."""
        return UNBOUNDED_COUNT - self.lower.least if self.upper is None else self.upper.most - self.lower.least

    @classmethod
    def of(cls, release: Release, statements: Statements, truth: Flags, ties: Sequence[Tie]) -> _Answer:
        if len(truth) > 1 << MOST_ITEMS:
            return cls(*term_by_term(truth, statements.lo, statements.hi), "terms")
        try:
            found = cls(*tightest(truth, statements.lo, statements.hi, ties), "bounds")
        except Impossible:
            raise _clash(release) from None
        if found.width < 0:
            raise _clash(release)
        return found


def _clash(release: Release) -> Contradiction:
    return Contradiction(
        "the numbers about these items cannot all be true of any group of people",
        where=release.source.name if release.source else "the release",
        remedy="Audit the release to see which lines clash, and correct them",
    )


def _items(pattern: Pattern, knowledge: Knowledge) -> Ints:
    """The numbers of the pattern's items."""
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


def _helpers(knowledge: Knowledge, items: Ints) -> Ints:
    """Items that are published most often together with those of the pattern."""
    sets = knowledge.sets
    touching = np.zeros(len(sets), np.bool_)
    touching[sets.owners()[np.isin(sets.members, items)]] = True
    members = sets.members[touching[sets.owners()]].astype(np.int64)
    found, times = np.unique(members[~np.isin(members, items)], return_counts=True)
    order = np.lexsort((found, -times))
    return np.sort(found[order][: MOST_WITH_HELP - len(items)])


@dataclass(eq=False)
class _Words:
    """A proof in words, and what it cites."""

    knowledge: Knowledge
    items: Ints
    statements: Statements
    n: int | None
    min_support: int | None
    ties: Sequence[Tie] = ()
    before: list[str] = field(default_factory=list)
    cited: dict[tuple[str, int | str], Citation] = field(default_factory=dict)

    def citations(self) -> tuple[Citation, ...]:
        """Header entries, then lines in the order of the file."""
        return tuple(
            self.cited[key] for key in sorted(self.cited, key=lambda key: (isinstance(key[1], int), str(key[0]), key[1]))
        )

    def members(self, mask: int) -> list[int]:
        """The items of a mask."""
        return [int(item) for position, item in enumerate(self.items.tolist()) if mask >> position & 1]

    def sum(self, proof: Proof, total: int) -> list[str]:
        """The signed sum of exact supports."""
        merged: dict[int, tuple[int, Fraction]] = {}
        for mask, weight in self._ordered(proof):
            # Subsets with one closure share its line: equal terms are one, and opposite ones none.
            source = int(self.statements.low[mask])
            first, before = merged.get(source, (mask, Fraction(0))) if source >= 0 else (mask, Fraction(0))
            merged[source if source >= 0 else -1 - mask - (1 << len(self.items))] = first, before + weight
        terms = [self._term(mask, weight, "") for mask, weight in merged.values() if weight]
        return [*self.before, *_shown(terms), f"sum: {total:,}"]

    def bounds(self, lower: Proof, upper: Proof | None, method: Method) -> list[str]:
        """Both bounds, each with its sum."""
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
        """Terms from the widest group to the narrowest."""
        return sorted(proof.weights.items(), key=lambda entry: (entry[0].bit_count(), entry[0]))

    def _term(self, mask: int, weight: Fraction, end: str) -> str:
        """One line of a sum."""
        low = end == "at least" or not end
        value = int(self.statements.lo[mask] if low else self.statements.hi[mask])
        source = int(self.statements.low[mask] if low else self.statements.high[mask])
        times = "" if abs(weight) == 1 else f" {_number(abs(weight))} times"
        exact = self.statements.lo[mask] == self.statements.hi[mask]
        number = f"{value:,}" if exact or not end else f"{end} {value:,}"
        who = f"people with {self._names(mask)}" if mask else "all people"
        return f"{'plus' if weight > 0 else 'minus'}{times} {number}: {who} ({self._place(mask, source, low)})"

    def _tie(self, number: int, side: int, weight: Fraction) -> str:
        """A sum of two supports that a confidence keeps from being negative."""
        tie = self.ties[number]
        self.cited["line", tie.line] = Citation(0, tie.line, tie.count, None)
        part, whole = (f"people with {self._names(mask)}" if mask else "all people" for mask in (tie.part, tie.whole))
        less = f"{part} less {_decimal(tie.low)} of {whole}" if side == 0 else f"{_decimal(tie.high)} of {whole} less {part}"
        times = "" if abs(weight) == 1 else f" {_number(abs(weight))} times"
        return f"{'plus' if weight > 0 else 'minus'}{times} at least 0: {less} (the confidence of line {tie.line})"

    def _names(self, mask: int) -> str:
        return listed(tuple(sorted(self.knowledge.items.names[item] for item in self.members(mask))), "and")

    def _place(self, mask: int, source: int, low: bool) -> str:
        """Who says so."""
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
    """The terms, cut where there are too many."""
    if len(terms) <= SHOWN_TERMS:
        return terms
    return [*terms[:SHOWN_TERMS], f"and {len(terms) - SHOWN_TERMS} more terms, whose lines are all cited"]


def _decimal(value: Fraction) -> str:
    """A share, for reading."""
    return f"{float(value):.6g}"


def _total(value: Fraction, side: str) -> str:
    """The last line of a sum; people are whole."""
    whole = f", and people are whole: {side} {_whole(value, side):,}" if value.denominator > 1 else ""
    return f"sum: {_number(value)}{whole}"


def _whole(value: Fraction, side: str) -> int:
    return -(-value.numerator // value.denominator) if side == "at least" else value.numerator // value.denominator


def _number(value: Fraction) -> str:
    """A whole number or a fraction; a long one nearly, for reading.

    >>> _number(Fraction(1200)), _number(Fraction(7, 3))
    ('1,200', '7/3')
    """
    if value.denominator > MOST_DENOMINATOR:
        return f"{float(value):.6g}"
    return f"{value.numerator:,}" if value.denominator == 1 else f"{value.numerator:,}/{value.denominator:,}"
