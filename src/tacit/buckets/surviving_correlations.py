"""B03 surviving-correlations: likely values of each person, from the correlations that all groups together show.

Infers
    P(value) for each person, sharper than the shares of their group: many groups together show which quasi-identifiers go with which value,
    although no single group does. The values of each group are distributed among its people accordingly.
Assumes
    The group of each person is known, and negative rules, as for B01 and B02. Groups were formed without regard to who tends to have which
    value; where they were formed by a rule of their own, the model takes part of that rule for a correlation, and is too confident.
Claim
    Estimates. It is measured for every release. It counts against one only where the attack is asked for by name and the policy sets a limit for
    estimates, because no grouping bounds it.
Cost
    A model of one table for each column is learnt from up to 40,000 people in at most 30 rounds, then used for everybody: about a second, and
    two more for each million people.
Example
    Groups of two smokers hold two cancers, and groups of two others two flus. So in a group of a smoker and another person that holds one of
    each, the smoker is the one who has cancer, in all likelihood.
Reference
    Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009; the setting is that of Li, Li, Injector, ICDE 2008, and of Anatomy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from tacit.buckets.assignments import Valid, concatenate_ranges
from tacit.buckets.case import BucketCase, Estimates
from tacit.kernels import correlations as kernels
from tacit.known.sensitive_values import no_limit
from tacit.model.arrays import Codes, Floats, Ints
from tacit.model.audit import SURE, AttackRun, Target, cautions_of
from tacit.model.buckets import Buckets
from tacit.model.errors import LimitReached
from tacit.model.finding import Finding
from tacit.model.policy import Check

CODE = "B03"
NAME = "surviving-correlations"
ROOM = 1e-9  #: Tolerance for rounding errors: an estimate must exceed a limit by more.
LEARNT_FROM = 40_000  #: People to learn from at most, in groups drawn at random; more hardly change the model.
COMPILED_FROM = 50_000  #: From this number of places on loops are compiled; below, that would take longer than they do.
_AT_ONCE = 200_000  #: People estimated together.
#: Learning stops when estimates change by less than this on average, or after this many rounds.
_STILL = 2e-4
_MOST_ROUNDS = 30
#: Rounds of proportional fitting while learning and when the model is used, and the error that ends it.
_ROUNDS_LEARNING = 4
_ROUNDS_USING = 30
_FITS = 1e-3
_LEAST = 1e-9  #: Smallest weight of a possible value: the model is never certain.


@dataclass(frozen=True, eq=False)
class Places:
    """Possible values, one place per person and value.

    Place p is about person ``who[p]`` of ``rows`` and entry ``entry[p]`` of the sensitive table; the places of person i are ``first[i]`` to
    ``first[i + 1]``. ``at[p]`` is the place in the blocks of :class:`~tacit.buckets.assignments.Cells`.
    """

    buckets: Buckets
    rows: Ints
    first: Ints
    who: Ints
    at: Ints
    entry: Ints

    @classmethod
    def of(cls, valid: Valid, rows: Ints) -> Places:
        """Return the places of the rows of whole groups."""
        cells = valid.cells
        cell = cells.cell[rows]
        at = concatenate_ranges(cells.rows[cell], np.diff(cells.rows)[cell])
        at = at[valid.possible[at]]
        number = valid.number[cell]
        who = np.repeat(np.arange(len(rows)), number)
        return cls(cells.buckets, rows, np.append(0, np.cumsum(number)), who, at=at, entry=cells.entries[at])

    @property
    def is_large(self) -> bool:
        """True if compiled loops are worth their start."""
        return len(self.entry) >= COMPILED_FROM

    @cached_property
    def value(self) -> Ints:
        """Sensitive value of each place."""
        return self.buckets.value[self.entry].astype(np.int64)

    @cached_property
    def lines(self) -> Codes:
        """Beginning of the line of each person's value in the tables of columns, one after the other."""
        width = len(self.buckets.values)
        columns = self.buckets.people.columns
        starts = np.cumsum([0, *(width * len(column.values) for column in columns)])
        out = np.empty((len(self.rows), len(columns)), np.int32)
        for number, column in enumerate(columns):
            out[:, number] = starts[number] + column.codes[self.rows] * width
        return out

    @cached_property
    def people(self) -> tuple[Ints, ...]:
        """Number of people with each value, by column."""
        columns = self.buckets.people.columns
        return tuple(np.bincount(column.codes[self.rows], minlength=len(column.values)) for column in columns)

    @cached_property
    def known(self) -> tuple[Ints, Codes]:
        """Occurring entries, and each place's number among them."""
        occurs = np.zeros(len(self.buckets.value), np.bool_)
        occurs[self.entry] = True
        number = np.cumsum(occurs) - 1
        return np.flatnonzero(occurs), number[self.entry].astype(np.int32)

    def by_group(self) -> Floats:
        """Return each value's share in its group."""
        return self.normalize(self.buckets.count[self.entry].astype(np.float64))

    def normalize(self, weight: Floats) -> Floats:
        """Scale weights to sum to 1 for each person."""
        return np.asarray(weight / np.add.reduceat(weight, self.first[:-1])[self.who]) if len(weight) else weight

    def most_probable(self, share: Floats) -> tuple[Ints, Floats]:
        """Return each person's most probable value and share."""
        best = np.maximum.reduceat(share, self.first[:-1]) if len(share) else share
        most = np.flatnonzero(share >= best[self.who])
        first = np.flatnonzero(np.append(True, np.diff(self.who[most]) > 0)[: len(most)])
        return self.value[most[first]], best

    def fit(self, weight: Floats, rounds: int) -> Floats:
        """Scale weights to the groups' contents."""
        entries, number = self.known
        count = self.buckets.count[entries].astype(np.float64)
        factor = np.ones(len(entries))
        found, given = self._scale(weight, factor, number)
        for _ in range(rounds):
            if np.abs(given - count).sum() <= _FITS * len(self.rows):
                break
            factor *= count / np.maximum(given, 1e-300)
            found, given = self._scale(weight, factor, number)
        return self._scale(weight, factor, number, keep=True)[0] if self.is_large else found

    def _scale(self, weight: Floats, factor: Floats, number: Codes, *, keep: bool = False) -> tuple[Floats, Floats]:
        """Return the weights times the factors of entries, normalized, and their sums by entry.

        Compiled loops keep the first only if asked: sums take half as long without.
        """
        if not self.is_large:
            found = self.normalize(weight * factor[number])
            return found, np.asarray(np.bincount(number, found, len(factor)), np.float64)
        found = np.empty(len(weight) if keep else 0)
        given = np.zeros(len(factor))
        kernels.scale(self.first, number, weight, factor, given, int(np.diff(self.first).max()), found)
        return found, given


@dataclass(frozen=True, eq=False)
class Model:
    """Naive Bayes: ``tables[c][a, v]`` log-share of a in column c given v."""

    tables: tuple[Floats, ...]
    rounds: int

    def weights(self, places: Places) -> Floats:
        """Return value likelihoods, up to a factor."""
        fit = np.zeros(len(places.who))
        flat = np.concatenate([np.empty(0), *(table.reshape(-1) for table in self.tables)])
        if places.is_large:
            kernels.log_likelihoods(places.first, places.value, places.lines, flat, fit)
        else:
            for lines in places.lines.T:
                fit += flat[lines[places.who] + places.value]
            best = np.maximum.reduceat(fit, places.first[:-1]) if len(fit) else fit
            fit -= best[places.who]
        return np.asarray(np.maximum(np.exp(fit), _LEAST))


def learn(valid: Valid, *, seed: int = 0, check: Check = lambda: None) -> Model:
    """Fit the model to the published groups."""
    buckets = valid.cells.buckets
    places = Places.of(valid, sample_rows(buckets, seed))
    found = places.by_group()
    tables: tuple[Floats, ...] = ()
    rounds = 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        check()
        tables = _learn_tables(places, found)
        before = found
        found = places.fit(Model(tables, rounds).weights(places), _ROUNDS_LEARNING)
        if np.abs(found - before).sum() <= _STILL * len(places.rows):
            break
    return Model(tables, rounds)


def estimate(
    valid: Valid, model: Model, *, rows: Ints | None = None, check: Check = lambda: None
) -> Iterator[tuple[Places, Floats]]:
    """Yield parts of ``rows`` with their value probabilities."""
    for part in split_rows(valid.cells.buckets) if rows is None else [rows]:
        check()
        places = Places.of(valid, part)
        yield places, places.fit(model.weights(places), _ROUNDS_USING)


@dataclass(frozen=True, eq=False)
class Guesses:
    """Most probable value by row, and pairs above a limit."""

    top: Ints
    largest: Floats
    row: Ints
    value: Ints
    share: Floats


def guess(valid: Valid, model: Model, *, limit: Floats | None = None, check: Check = lambda: None) -> Guesses:
    """Apply a model to everybody; ``limit`` is per value."""
    n = valid.cells.buckets.n
    top = np.zeros(n, np.int64)
    largest = np.zeros(n)
    over: list[tuple[Ints, Ints, Floats]] = []
    for places, share in estimate(valid, model, check=check):
        top[places.rows], largest[places.rows] = places.most_probable(share)
        beyond = np.flatnonzero(share > limit[places.value]) if limit is not None else np.empty(0, np.int64)
        over.append((places.rows[places.who[beyond]], places.value[beyond], share[beyond]))
    row, value, share = (np.concatenate([part[number] for part in over]) for number in range(3))
    return Guesses(top, largest, row, value, share=share)


def split_rows(buckets: Buckets) -> list[Ints]:
    """Split a release's rows into parts of whole groups."""
    starts, rows = buckets.members()
    ends = starts[np.unique(np.searchsorted(starts, np.arange(_AT_ONCE, len(rows), _AT_ONCE)))]
    return np.split(rows, ends[ends < len(rows)])


def sample_rows(buckets: Buckets, seed: int) -> Ints:
    """Draw the rows of random groups to learn from."""
    starts, rows = buckets.members()
    if len(rows) <= LEARNT_FROM:
        return rows
    order = np.random.default_rng(seed).permutation(len(buckets))
    chosen = order[: int(np.searchsorted(np.cumsum(buckets.sizes[order]), LEARNT_FROM)) + 1]
    inside = np.zeros(len(buckets), np.bool_)
    inside[chosen] = True
    return rows[np.repeat(inside, np.diff(starts))]


def _learn_tables(places: Places, found: Floats) -> tuple[Floats, ...]:
    """Return the smoothed logarithms of shares, by column."""
    width = len(places.buckets.values)
    columns = places.buckets.people.columns
    counts = np.zeros(width * sum(len(column.values) for column in columns))
    if places.is_large:
        kernels.count_values(places.first, places.value, places.lines, found, counts)
    else:
        for lines in places.lines.T:
            counts += np.bincount(lines[places.who] + places.value, found, len(counts))
    tables = []
    first = 0
    for number, column in enumerate(columns):
        size = len(column.values)
        table = counts[first : first + size * width].reshape(size, width)
        usual = (places.people[number] + 1.0) / (len(places.rows) + size)
        smooth = table + size * usual[:, None]
        tables.append(np.log(smooth / smooth.sum(axis=0)))
        first += size * width
    return tuple(tables)


def run(target: Target) -> AttackRun:
    """Estimate everybody's value; report only if requested."""
    case = BucketCase.of(target)
    check = partial(target.limits.check, CODE)
    try:
        model = case.model or learn(case.valid, seed=target.limits.seed, check=check)
        found = guess(case.valid, model, limit=_limit(target, case), check=check)
    except LimitReached:
        return AttackRun(CODE, NAME, "estimates", "stopped", reason="the time limit was reached before there was an estimate")
    return _Outcome(target, case, found).run()


def _limit(target: Target, case: BucketCase) -> Floats | None:
    policy = target.policy
    if no_limit(target):
        return None
    limit = np.full(len(case.baseline), np.inf if policy.max_posterior is None else policy.max_posterior)
    if policy.max_gain is not None:
        limit = np.minimum(limit, case.baseline + policy.max_gain)
    return limit + ROOM


class _Outcome:
    def __init__(self, target: Target, case: BucketCase, found: Guesses) -> None:
        self.target = target
        self.case = case
        self.found = found
        self.decides = CODE in target.named
        # People of one group with the same quasi-identifiers have the same estimates: the first of them stands for all.
        first, people = case.merge_alike(np.unique(found.row))
        chosen = np.flatnonzero(np.isin(found.row, first)) if self.decides else np.empty(0, np.int64)
        many = dict(zip(first.tolist(), people.tolist(), strict=True))
        order = chosen[np.lexsort((found.value[chosen], found.row[chosen], -found.share[chosen]))]
        rows = found.row[order]
        people = np.array([many[row] for row in rows.tolist()], np.int64)
        self.estimates = Estimates(case, rows, people, found.value[order], found.share[order])

    def run(self) -> AttackRun:
        limited = not no_limit(self.target)
        sure = 0 if limited and self.decides else int(np.count_nonzero(self.found.largest > SURE))
        return self.estimates.to_run(
            CODE,
            NAME,
            reason=self._reason(),
            measures=self._measures(),
            show=self.show,
            details={"surviving": self.found.largest},
            cautions=cautions_of(CODE, sure, self.case.buckets.n, limit=limited),
        )

    def _measures(self) -> dict[str, float | None]:
        largest = self.found.largest
        buckets = self.case.buckets
        most = np.maximum.reduceat(buckets.count, buckets.starts[:-1]) if len(buckets) else np.zeros(1)
        return {
            "surviving_max_posterior": float(largest.max(initial=0.0)),
            "surviving_above_one_in_l": int(np.count_nonzero(largest > 1 / self.target.policy.l + ROOM)),
            "surviving_above_50": int(np.count_nonzero(largest > 0.5)),
            "surviving_above_90": int(np.count_nonzero(largest > SURE)),
            "surviving_expected_right": float(largest.mean()) if len(largest) else 0.0,
            "group_guess_right": float(most.sum()) / max(1, buckets.n),
        }

    def _reason(self) -> str:
        if no_limit(self.target) or self.decides:
            return no_limit(self.target)
        people = len(np.unique(self.found.row))
        passing = f"{people:,} {'person exceeds' if people == 1 else 'people exceed'} the limit of the policy by this model"
        return f"{passing}; it counts only if asked for by name (--attack {CODE})"

    def show(self, index: int) -> Finding:
        buckets = self.case.buckets
        group = int(buckets.group[self.estimates.rows[index]])
        inside = buckets.contents(group).get(buckets.values[int(self.estimates.value[index])], 0)
        known = f"In the group {inside:,} of {int(buckets.sizes[group]):,} people have the value"
        return self.estimates.to_finding(CODE, index, f"{known}; who they are is estimated from what all groups together show.")
