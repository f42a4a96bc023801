"""Tightest bounds on a pattern, with certificates.

The people are split into one group for each combination of the items; the support of an itemset is the sum of the groups that contain it. The
fewest and the most people that a pattern can have are then linear programs. A solver's answer in floating point is not trusted: its dual
weights are made fractions, it is checked exactly that they count nobody who does not fit and nobody twice, and only then is their sum taken
as a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tacit.model.arrays import Flags, Ints
from tacit.model.numbers import Bound
from tacit.model.policy import check_time
from tacit.rules.bounds import UNBOUNDED_COUNT
from tacit.solve.solver import solve_linear

#: Patterns over more items than this are bounded term by term: the program has a row for every itemset.
MOST_ITEMS = 10
#: Denominators to try for a solver's weights: those of small programs are small.
_DENOMINATORS = (1, 60, 5040, 10**6, 10**13)


@dataclass(frozen=True, slots=True)
class Tie:
    """Confidence: the share of ``part`` in ``whole``.

    It lies between ``low`` and ``high``. Both sets are bits; ``line`` is the source, with ``count``.
    """

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
class Proof:
    """Weights of itemsets that prove a bound.

    Itemsets are bits. ``ties`` are weights of sums that cannot be negative: two for every tie, by its number and side.
    """

    weights: dict[int, Fraction]
    total: Fraction
    ties: dict[tuple[int, int], Fraction] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """Lower bound on whole people."""
        return max(0, -(-self.total.numerator // self.total.denominator))

    @property
    def most(self) -> int:
        """Upper bound on whole people."""
        return self.total.numerator // self.total.denominator


class Impossible(Exception):
    """No groups of people fit the bounds."""


def signed_weights(truth: Flags) -> Ints:
    """Return each itemset's inclusion-exclusion weight.

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


def bound_term_by_term(truth: Flags, lo: Ints, hi: Ints) -> tuple[Proof, Proof | None]:
    """Bound the signed sum term by term."""
    weights = {mask: Fraction(weight) for mask, weight in enumerate(signed_weights(truth).tolist()) if weight}
    upper = _sum_worst_ends(weights, hi, lo)
    if any(weight < 0 and hi[mask] >= UNBOUNDED_COUNT for mask, weight in weights.items()):
        return Proof({}, Fraction(0)), None if upper is None else Proof(weights, upper)
    lower = _sum_worst_ends(weights, lo, hi)
    assert lower is not None
    return Proof(weights, lower), None if upper is None else Proof(weights, upper)


def bound_tightly(truth: Flags, lo: Ints, hi: Ints, ties: Sequence[Tie] = ()) -> tuple[Proof, Proof | None]:
    """Return the tightest bounds, with proofs.

    The upper one is missing if nothing bounds the people. Raises :class:`Impossible` if no groups fit.
    """
    program = _Program(lo, hi, tuple(ties))
    lower = program.proof(truth.astype(np.int64))
    upper = program.proof(-truth.astype(np.int64))
    if upper is not None:
        negated = {mask: -weight for mask, weight in upper.weights.items()}
        upper = Proof(negated, -upper.total, {tie: -weight for tie, weight in upper.ties.items()})
    return lower or Proof({}, Fraction(0)), upper


class _Program:
    """Linear program over the combinations of items.

    One row per bounded itemset, two per tie.
    """

    def __init__(self, lo: Ints, hi: Ints, ties: tuple[Tie, ...]) -> None:
        self.lo = lo
        self.hi = hi
        self.ties = ties
        self.rows = np.flatnonzero((lo > 0) | (hi < UNBOUNDED_COUNT))
        self.exact = np.flatnonzero(lo[self.rows] == hi[self.rows])
        loose = lo[self.rows] < hi[self.rows]
        self.least = np.flatnonzero(loose & (lo[self.rows] > 0))
        self.most = np.flatnonzero(loose & (hi[self.rows] < UNBOUNDED_COUNT))

    def proof(self, goal: Ints) -> Proof | None:
        found = self._solve(goal)
        if found is None:
            return None
        best: Proof | None = None
        for denominator in _DENOMINATORS:
            weights = {mask: _to_fraction(value, denominator) for mask, value in found[0].items()}
            ties = {tie: _to_fraction(value, denominator) for tie, value in found[1].items()}
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

    def _certify(self, goal: Ints, weights: dict[int, Fraction], ties: dict[tuple[int, int], Fraction]) -> Proof | None:
        every = dict(weights)
        for (tie, side), factor in ties.items():
            for mask, weight in self.ties[tie].sides()[side].items():
                every[mask] = every.get(mask, Fraction(0)) + factor * weight
        counted = _count_combinations(every, len(goal))
        proofs = []
        for repaired in (_lower_where_needed(weights, counted, goal), _lower_everywhere(weights, counted, goal)):
            total = _sum_worst_ends(repaired, self.lo, self.hi)
            if total is not None:
                proofs.append(Proof(repaired, total, ties))
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


def _to_fraction(value: float, denominator: int) -> Fraction:
    return Fraction(value).limit_denominator(denominator)


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
