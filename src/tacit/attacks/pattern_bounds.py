"""The tightest bounds on the number of people in a pattern, from bounds on supports, each with weights that prove it.

The people are split into one group for each combination of the items; the support of an itemset is the sum of the groups that hold it. The
fewest and the most people that a pattern can have are then linear programs. A solver's answer in floating point is not trusted: its weights are
made fractions, it is checked exactly that they count nobody who does not fit and nobody twice, and only then is their sum taken as a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.attacks.rule_numbers import UNBOUNDED, Whole
from tacit.inference.solving import solve_linear
from tacit.model.bound import Bound
from tacit.model.policy import check_time

#: Patterns over more items than this are bounded term by term: the program has a line for every itemset.
MOST_ITEMS = 10
#: Denominators that a solver's weights are tried with: those of small programs are small.
_DENOMINATORS = (1, 60, 5040, 10**6, 10**13)

Flags = npt.NDArray[np.bool_]


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


def signed_weights(truth: Flags) -> Whole:
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


def term_by_term(truth: Flags, lo: Whole, hi: Whole) -> tuple[Proof, Proof | None]:
    """Bounds by adding the signed sum up with the worst end of each term."""
    weights = {mask: Fraction(weight) for mask, weight in enumerate(signed_weights(truth).tolist()) if weight}
    upper = _total(weights, hi, lo)
    if any(weight < 0 and hi[mask] >= UNBOUNDED for mask, weight in weights.items()):
        return Proof({}, Fraction(0)), None if upper is None else Proof(weights, upper)
    lower = _total(weights, lo, hi)
    assert lower is not None
    return Proof(weights, lower), None if upper is None else Proof(weights, upper)


def tightest(truth: Flags, lo: Whole, hi: Whole, ties: Sequence[Tie] = ()) -> tuple[Proof, Proof | None]:
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

    def __init__(self, lo: Whole, hi: Whole, ties: tuple[Tie, ...]) -> None:
        self.lo, self.hi, self.ties = lo, hi, ties
        self.rows = np.flatnonzero((lo > 0) | (hi < UNBOUNDED))
        self.exact = np.flatnonzero(lo[self.rows] == hi[self.rows])
        loose = lo[self.rows] < hi[self.rows]
        self.least = np.flatnonzero(loose & (lo[self.rows] > 0))
        self.most = np.flatnonzero(loose & (hi[self.rows] < UNBOUNDED))

    def proof(self, goal: Whole) -> Proof | None:
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

    def _solved(self, goal: Whole) -> tuple[dict[int, float], dict[tuple[int, int], float]] | None:
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

    def _sound(self, goal: Whole, weights: dict[int, Fraction], ties: dict[tuple[int, int], Fraction]) -> Proof | None:
        """The proof that these weights give, after whatever they count too often is taken away again; None where that takes an unknown end."""
        every = dict(weights)
        for (tie, side), factor in ties.items():
            for mask, weight in self.ties[tie].sides()[side].items():
                every[mask] = every.get(mask, Fraction(0)) + factor * weight
        counted = _counted(every, len(goal))
        proofs = []
        for repaired in (_less_where_needed(weights, counted, goal), _less_everywhere(weights, counted, goal)):
            total = _total(repaired, self.lo, self.hi)
            if total is not None:
                proofs.append(Proof(repaired, total, ties))
        return max(proofs, key=lambda proof: proof.total, default=None)


def _less_everywhere(weights: dict[int, Fraction], counted: list[Fraction], goal: Whole) -> dict[int, Fraction]:
    """Weights that count nobody too often: the largest excess is taken from everybody."""
    excess = max(count - int(aim) for count, aim in zip(counted, goal, strict=True))
    lessened = weights | {0: weights.get(0, Fraction(0)) - max(excess, Fraction(0))}
    return {mask: weight for mask, weight in lessened.items() if weight}


def _less_where_needed(weights: dict[int, Fraction], counted: list[Fraction], goal: Whole) -> dict[int, Fraction]:
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


def _total(weights: dict[int, Fraction], plus: Whole, minus: Whole) -> Fraction | None:
    """The weighted sum, with one end of each bound for positive and the other for negative weights; None when an end is missing."""
    total = Fraction(0)
    for mask, weight in weights.items():
        end = int(plus[mask] if weight > 0 else minus[mask])
        if end >= UNBOUNDED:
            return None
        total += weight * end
    return total
