"""Totals that an attacker knows, and the assignments that they make more likely.

A fact that excludes nothing bounds a *total*: how many people of an event have a value, or the sum of a numeric sensitive column over them
(a mean, times their number). It does not say which assignments are possible in a group, because a total adds up over all groups, but it makes
some more likely than others. Of all distributions over consistent assignments under which every total lies in its bounds on average, the
attacker takes the one of maximum entropy. In it an assignment is as likely as the product of the weights of its pairs of person and value:
``exp`` of the sum of the multipliers of the facts that speak of the pair. Groups stay independent, so that each is counted by itself, and only
the multipliers, one for each fact, tie them together. If all totals lie in their bounds when assignments are equally likely, all weights are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tacit.buckets.assignments import Shares, Valid, share_values
from tacit.model.arrays import Codes, Flags, Floats, Ints
from tacit.model.errors import InputError, OptionError
from tacit.model.knowledge import Exclusions, Fact
from tacit.model.numbers import exact
from tacit.model.policy import Check
from tacit.model.table import Table, distinct_rows, row_keys

MOST_ROUNDS = 200  #: Steps towards the multipliers at most; ten are usual.
CLOSE = 1e-6  #: A total may miss its bound by this share of all people.
FARTHEST = 40.0  #: Largest multiplier, in units of a total's own step: exp(-40) is nobody.
_LONGEST_STEP = 4.0
RIDGE = 1e-9  #: Added to the covariance of a group's contents, whose sum is fixed.
_FACTS_AT_ONCE = 128
_SWEEPS = 500  #: Sweeps over the multipliers of one step.


@dataclass(frozen=True, eq=False)
class Statistics:
    """Bounds on totals over people.

    The person of row r is in the event of fact f if ``inside[kind[r], f]``. Total f adds ``amounts[f][v]`` for everybody in it who has the value
    v, and lies between ``lo[f]`` and ``hi[f]``.
    """

    facts: tuple[Fact, ...]
    kind: Codes
    inside: Flags
    amounts: tuple[tuple[Fraction, ...], ...]
    lo: tuple[Fraction, ...]
    hi: tuple[Fraction, ...]

    @classmethod
    def of(cls, facts: Sequence[Fact], people: Table, values: Sequence[str]) -> Statistics:
        """Return the totals of these facts; those that exclude a value are left out."""
        told = tuple(fact for fact in facts if not fact.excludes)
        for fact in told:
            _check(fact, people.names, values)
        codes = [column.codes for column in people.columns]
        _, example, row = np.unique(row_keys(codes, len(people.weights)), return_index=True, return_inverse=True)
        row = row.reshape(-1)
        inside = np.ones((len(example), len(told)), np.bool_)
        for column in people.columns:
            place = {name: number for number, name in enumerate(column.values)}
            for number, fact in enumerate(told):
                if (asked := fact.allowed.get(column.name)) is not None:
                    fits = np.zeros(len(place), np.bool_)
                    fits[[place[name] for name in asked if name in place]] = True
                    inside[:, number] &= fits[column.codes[example]]
        sizes = np.bincount(row, people.weights, len(example)).astype(np.int64) @ inside
        amounts = []
        bounds = []
        for fact, size in zip(told, sizes.tolist(), strict=True):
            if fact.mean is None:
                amounts.append(tuple(Fraction(value == fact.value) for value in values))
                low, high = map(Fraction, fact.bounds(int(size)))
            else:
                amounts.append(_read_numbers(values, fact))
                low, high = (end * int(size) for end in fact.mean)
            bounds.append((low, high))
        first, kind = distinct_rows(inside)
        lo, hi = zip(*bounds, strict=True)
        return cls(told, kind[row].astype(np.int32), inside[first], tuple(amounts), lo=lo, hi=hi)

    def __len__(self) -> int:
        return len(self.facts)

    def refine(self, known: Exclusions) -> Exclusions:
        """Split the kinds of people by the events that they are in."""
        key = known.kind.astype(np.int64) * max(1, len(self.inside)) + self.kind
        _, example, kind = np.unique(key, return_index=True, return_inverse=True)
        return Exclusions(known.values, known.patterns[known.kind[example]], kind.reshape(-1).astype(np.int32))

    @cached_property
    def amount(self) -> Floats:
        """Amounts as floating-point numbers, by fact and value."""
        return np.array([[float(one) for one in row] for row in self.amounts])

    @cached_property
    def is_mean(self) -> Flags:
        """Facts that bound a mean."""
        return np.array([fact.mean is not None for fact in self.facts], np.bool_)

    @property
    def speaks(self) -> Flags:
        """Facts and the values that they are about; a mean is about all."""
        return np.asarray((self.amount != 0) | self.is_mean[:, None])

    @property
    def is_bounded_below(self) -> Flags:
        """Facts whose total has a lower bound."""
        return self.is_mean | np.array([low > 0 for low in self.lo], np.bool_)

    @property
    def is_bounded_above(self) -> Flags:
        """Facts whose total has an upper bound."""
        return self.is_mean | np.array([high < size for high, size in zip(self.hi, self.sizes, strict=True)], np.bool_)

    @cached_property
    def sizes(self) -> list[int]:
        """Number of people in the event of each fact."""
        return [int(size) for size in (np.bincount(self.kind, minlength=len(self.inside)) @ self.inside).tolist()]

    def true_totals(self, values: Codes) -> list[Fraction]:
        """Return the totals if row r has the value ``values[r]``."""
        held = np.zeros((len(self.inside), self.amount.shape[1]), np.int64)
        np.add.at(held, (self.kind, values), 1)
        by_value = (self.inside.T.astype(np.int64) @ held).tolist()
        pairs = zip(by_value, self.amounts, strict=True)
        return [sum((n * a for n, a in zip(row, amount, strict=True)), Fraction(0)) for row, amount in pairs]


def _check(fact: Fact, columns: Sequence[str], values: Sequence[str]) -> None:
    if not set(fact.allowed) <= set(columns):
        remedy = f"The known columns are: {', '.join(columns)}"
        raise InputError("names a column that is not quasi-identifying", where=fact.place, remedy=remedy)
    if fact.mean is None and fact.value not in values:
        raise InputError("its value is not one of the sensitive column's", where=fact.place, remedy="Correct or drop it")


def _read_numbers(values: Sequence[str], fact: Fact) -> tuple[Fraction, ...]:
    try:
        return tuple(exact(value, where=fact.place) for value in values)
    except OptionError:
        what = "is a mean, and the sensitive column holds something else than numbers"
        raise InputError(what, where=fact.place, remedy="Remove it, or give counts of values") from None


@dataclass(frozen=True, eq=False)
class Weighed:
    """Probabilities given all totals, and the multiplier of each fact.

    ``missed`` is the number of totals that no multiplier brings into their bounds.
    """

    shares: Shares
    multipliers: Floats
    missed: int


def weigh(valid: Valid, known: Statistics, *, close: float = CLOSE, check: Check = lambda: None) -> Weighed:
    """Find the maximum-entropy distribution over assignments.

    Newton steps on the multipliers, as if people were independent. That overstates how much a total varies, so steps are too short rather than
    too long.
    """
    totals = _Totals(valid, known)
    scale = totals.scale
    multipliers = np.zeros(len(known))
    step = 1.0
    before = np.inf
    while True:
        check()
        shares = share_values(valid, weight=totals.weights(multipliers), check=check)
        found = totals.expect(shares.share)
        far = totals.misses(found, multipliers)
        worst = float((np.abs(far) * scale).max(initial=0.0))
        totals.rounds += 1
        if worst <= close * valid.cells.buckets.n or totals.rounds > MOST_ROUNDS:
            break
        step = min(1.0, step * 1.5) if worst < before else step / 2
        before = worst
        multipliers = multipliers + step * totals.newton(shares.share, found, multipliers)
    over = (found < totals.lo - totals.room) | (found > totals.hi + totals.room)
    return Weighed(shares, multipliers, int(np.count_nonzero(over)))


class _Totals:
    """Totals of a release as sums over the places of its blocks."""

    def __init__(self, valid: Valid, known: Statistics) -> None:
        from scipy.sparse import csr_array

        cells = valid.cells
        owner = np.repeat(np.arange(len(cells.group)), np.diff(cells.rows))
        value = cells.buckets.value[cells.entries]
        first = np.zeros(len(cells.group), np.int64)
        first[cells.cell] = np.arange(len(cells.cell))
        kind = known.kind[first]
        self.valid = valid
        self.known = known
        self.kind = kind[owner]
        self.value = value
        self.rounds = 0
        self.lo = np.array([float(low) for low in known.lo])
        self.hi = np.array([float(high) for high in known.hi])
        self.scale = 1 / np.maximum(np.abs(known.amount).max(axis=1, initial=0.0), 1e-300)
        self.room = CLOSE * cells.buckets.n / self.scale
        places, facts, amounts = [], [], []
        for number in range(known.amount.shape[1]):
            here = np.flatnonzero((value == number) & valid.possible)
            about = np.flatnonzero(known.amount[:, number])
            place, fact = np.nonzero(known.inside[self.kind[here]][:, about])
            places.append(here[place])
            facts.append(about[fact])
            amounts.append(known.amount[about[fact], number])
        shape = (len(known), len(value))
        entries = (np.concatenate(amounts), (np.concatenate(facts), np.concatenate(places)))
        self.matrix = csr_array(entries, shape=shape)
        self.people = cells.people[owner].astype(np.float64)
        by_cell = (np.ones(len(value)), (np.arange(len(value)), owner))
        self.by_cell = csr_array(by_cell, shape=(len(value), len(cells.group)))
        self.cell_people = cells.people.astype(np.float64)
        shape = (len(cells.group), len(cells.buckets.value))
        numbered = csr_array((np.arange(len(value)), (owner, cells.entries)), shape=shape)
        self.order = numbered.data.copy()
        self.places = numbered.astype(np.float64)
        by_entry = (np.ones(len(value)), (np.arange(len(value)), cells.entries))
        self.by_entry = csr_array(by_entry, shape=(len(value), len(cells.buckets.value)))

    def weights(self, multipliers: Floats) -> Floats:
        """Return the weight of each place, 1 for the likeliest of a cell."""
        table = self.known.inside @ (multipliers[:, None] * self.known.amount)
        fit = np.where(self.valid.possible, table[self.kind, self.value], -np.inf)
        rows = self.valid.cells.rows
        best = np.maximum.reduceat(fit, rows[:-1]) if len(rows) > 1 else fit
        return np.asarray(np.exp(fit - np.repeat(best, np.diff(rows))))

    def expect(self, share: Floats) -> Floats:
        """Return the mean of each total."""
        return np.asarray(self.matrix @ (self.people * share))

    def misses(self, found: Floats, multipliers: Floats) -> Floats:
        """Return how far each total is from where its multiplier wants it."""
        inside = np.clip(found, self.lo, self.hi)
        return np.where(multipliers < 0, self.hi - found, np.where(multipliers > 0, self.lo - found, inside - found))

    def newton(self, share: Floats, found: Floats, multipliers: Floats) -> Floats:
        """Return the step that meets all bounds if totals were linear."""
        out = np.zeros(len(found))
        active = np.flatnonzero((multipliers != 0) | (found > self.hi) | (found < self.lo))
        curve = self._covariance(active, share)
        most = FARTHEST * self.scale[active]
        goal = _solve_bounded(curve, found[active], self.lo[active], self.hi[active], multipliers[active])
        long = _LONGEST_STEP * self.scale[active]
        out[active] = np.clip(np.clip(goal, -most, most) - multipliers[active], -long, long)
        return out

    def _covariance(self, facts: Ints, share: Floats) -> Floats:
        """Covariance of totals if people were independent but for the groups' contents."""
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import splu

        part = self.matrix[facts]
        weighed = part * (self.people * share)[None, :]
        mean = (part * share[None, :]) @ self.by_cell
        here = self.places.copy()  # cells by entries
        here.data = share[self.order]
        held = diags_array(self.cell_people) @ here
        contents = diags_array(np.asarray(held.sum(axis=0)).reshape(-1) * (1 + RIDGE) + RIDGE) - here.T @ held
        along = weighed @ self.by_entry - mean @ held
        curve: Floats = (weighed @ part.T - (mean * self.cell_people[None, :]) @ mean.T).toarray()
        solver = splu(contents.tocsc())
        turned = along.T.tocsc()
        for first in range(0, len(facts), _FACTS_AT_ONCE):
            some = slice(first, first + _FACTS_AT_ONCE)
            curve[:, some] -= along @ solver.solve(turned[:, some].toarray())
        return curve


def _solve_bounded(curve: Floats, found: Floats, lo: Floats, hi: Floats, start: Floats) -> Floats:
    """Return multipliers that are 0 or put a linear total on its bound."""
    goal = start.copy()
    reached = found.copy()
    diagonal = np.maximum(curve.diagonal(), 1e-12)
    for _ in range(_SWEEPS):
        moved = 0.0
        for f in range(len(goal)):
            low = goal[f] + (lo[f] - reached[f]) / diagonal[f]
            high = goal[f] + (hi[f] - reached[f]) / diagonal[f]
            change = min(max(0.0, low), high) - goal[f]
            if change:
                goal[f] += change
                reached += curve[f] * change
                moved = max(moved, abs(change) * diagonal[f])
        if moved <= 1e-9 * max(1.0, float(np.abs(found).max(initial=0.0))):
            break
    return goal
