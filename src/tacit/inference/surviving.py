"""What groups leave of the connection between quasi-identifiers and sensitive values, used against the people in them.

Within a group everybody is equally likely to have each value, but over many groups it shows who tends to have which: people with a doctorate are
found in groups with professors more often than others are. So it is estimated from the groups which quasi-identifiers people with each sensitive
value have, each person is held against that, the values of each group are given to its people accordingly, and all is repeated until nothing
changes: expectation maximisation of a naive Bayes model, with the contents of groups kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.inference.valid import Valid
from tacit.model.buckets import Buckets

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: The model is learnt from so many people at the most, whose groups are drawn at random; more hardly change it.
LEARNT_FROM = 40_000
#: So many people are looked at together.
_AT_ONCE = 200_000
#: Learning ends when estimates change by less than this on average, or after so many rounds.
_STILL, _MOST_ROUNDS = 2e-4, 30
#: Groups are filled in so many rounds while learning, and until they fit to this many people when the model is used.
_ROUNDS_LEARNING, _ROUNDS_USING, _FITS = 4, 30, 1e-3
#: A value that the model rules out stays possible by so much: the model is not certain.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Places:
    """Some people of a release beside the values that they may have: place p is about row ``row[p]`` and the ST entry ``entry[p]``.

    The places of the i-th of these people start at ``first[i]``; ``rows`` are their numbers in the release, ``who[p]`` is i. ``at[p]`` is
    the place in the blocks of :class:`~tacit.inference.valid.Cells`.
    """

    buckets: Buckets
    rows: Numbers
    first: Numbers
    who: Numbers
    at: Numbers
    entry: Numbers

    @classmethod
    def of(cls, valid: Valid, rows: Numbers) -> Places:
        """The places of some rows, by what is valid for them; whole groups, so that their contents can be kept."""
        cells = valid.cells
        start, width = cells.rows[cells.cell[rows]], np.diff(cells.rows)[cells.cell[rows]]
        ends = np.cumsum(width)
        first = ends - width
        at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - first, width)
        who = np.repeat(np.arange(len(rows)), width)
        possible = valid.possible[at]
        who, at = who[possible], at[possible]
        return cls(cells.buckets, rows, np.searchsorted(who, np.arange(len(rows))), who, at, cells.entries[at])

    @cached_property
    def value(self) -> Numbers:
        """The sensitive value that each place is about."""
        return self.buckets.value[self.entry].astype(np.int64)

    @cached_property
    def known(self) -> tuple[Numbers, Numbers]:
        """The entries that occur, and the number of that of each place among them."""
        entries, number = np.unique(self.entry, return_inverse=True)
        return entries, number.reshape(-1)

    def by_group(self) -> Floats:
        """The share of each place's value in its group: what groups alone say, among the values that are possible."""
        return self.shared(self.buckets.count[self.entry].astype(np.float64))

    def shared(self, weight: Floats) -> Floats:
        """Weights made shares of each person."""
        return np.asarray(weight / np.add.reduceat(weight, self.first)[self.who]) if len(weight) else weight

    def leading(self, share: Floats) -> tuple[Numbers, Floats]:
        """The most probable value of each person, the first of equal ones, and its share."""
        best = np.maximum.reduceat(share, self.first) if len(share) else share
        most = np.flatnonzero(share >= best[self.who])
        first = np.flatnonzero(np.append(True, np.diff(self.who[most]) > 0)[: len(most)])
        return self.value[most[first]], best

    def filled(self, weight: Floats, rounds: int) -> Floats:
        """The shares nearest to weights that give out just the values of each group."""
        entries, number = self.known
        count = self.buckets.count[entries].astype(np.float64)
        factor = np.ones(len(entries))
        found = self.shared(weight)
        for _ in range(rounds):
            given = np.bincount(number, found, len(entries))
            if np.abs(given - count).sum() <= _FITS * len(self.rows):
                break
            factor *= count / np.maximum(given, 1e-300)
            found = self.shared(weight * factor[number])
        return found


@dataclass(frozen=True, eq=False)
class Model:
    """How probable the values of each column are for people with each sensitive value.

    ``tables[c][a, v]`` is the logarithm of the share of people with value a of column c among those with sensitive value v; it was learnt in so
    many ``rounds``.
    """

    tables: tuple[Floats, ...]
    rounds: int

    def weights(self, places: Places, codes: Sequence[npt.NDArray[np.integer]]) -> Floats:
        """How well each place's value fits the person, up to a factor of the person."""
        fit = np.zeros(len(places.who))
        for table, column in zip(self.tables, codes, strict=True):
            fit += table.reshape(-1)[column[places.rows][places.who] * table.shape[1] + places.value]
        best = np.maximum.reduceat(fit, places.first) if len(fit) else fit
        return np.asarray(np.maximum(np.exp(fit - best[places.who]), _LEAST))


def learn(valid: Valid, *, seed: int = 0, check: Callable[[], None] = lambda: None) -> Model:
    """The model that explains the groups best, from what is published alone; ``check`` is called now and then and may raise."""
    buckets = valid.cells.buckets
    places = Places.of(valid, sampled(buckets, seed))
    codes = [column.codes.astype(np.int64) for column in buckets.people.columns]
    found = places.by_group()
    tables: tuple[Floats, ...] = ()
    rounds = 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        check()
        tables = tuple(
            _table(places, column, len(named.values), found) for column, named in zip(codes, buckets.people.columns, strict=True)
        )
        weights = Model(tables, rounds).weights(places, codes)
        before, found = found, places.filled(weights, _ROUNDS_LEARNING)
        if np.abs(found - before).sum() <= _STILL * len(places.rows):
            break
    return Model(tables, rounds)


def estimated(
    valid: Valid, model: Model, *, rows: Numbers | None = None, check: Callable[[], None] = lambda: None
) -> Iterator[tuple[Places, Floats]]:
    """How probable each possible value is for everybody under a model: people in parts, each with the shares of its places.

    With ``rows``, which are those of whole groups, for these people only.
    """
    codes = [column.codes.astype(np.int64) for column in valid.cells.buckets.people.columns]
    for part in blocks(valid.cells.buckets) if rows is None else [rows]:
        check()
        places = Places.of(valid, part)
        yield places, places.filled(model.weights(places, codes), _ROUNDS_USING)


@dataclass(frozen=True, eq=False)
class Guesses:
    """The most probable value of each row and its probability; and every row with a value that is above its limit, where there are limits."""

    top: Numbers
    largest: Floats
    row: Numbers
    value: Numbers
    share: Floats


def guess(valid: Valid, model: Model, *, limit: Floats | None = None, check: Callable[[], None] = lambda: None) -> Guesses:
    """What a model makes one guess about everybody; ``limit`` is that of each value."""
    n = valid.cells.buckets.n
    top, largest = np.zeros(n, np.int64), np.zeros(n)
    over: list[tuple[Numbers, Numbers, Floats]] = []
    for places, share in estimated(valid, model, check=check):
        top[places.rows], largest[places.rows] = places.leading(share)
        beyond = np.flatnonzero(share > limit[places.value]) if limit is not None else np.empty(0, np.int64)
        over.append((places.rows[places.who[beyond]], places.value[beyond], share[beyond]))
    row, value, share = (np.concatenate([part[number] for part in over]) for number in range(3))
    return Guesses(top, largest, row, value, share)


def blocks(buckets: Buckets) -> list[Numbers]:
    """The rows of a release by groups, in parts that are looked at together."""
    starts, rows = buckets.members()
    ends = starts[np.unique(np.searchsorted(starts, np.arange(_AT_ONCE, len(rows), _AT_ONCE)))]
    return np.split(rows, ends[ends < len(rows)])


def sampled(buckets: Buckets, seed: int) -> Numbers:
    """The rows of some groups that together hold enough people to learn from, drawn at random; of all where there are not more."""
    starts, rows = buckets.members()
    if len(rows) <= LEARNT_FROM:
        return rows
    order = np.random.default_rng(seed).permutation(len(buckets))
    chosen = order[: int(np.searchsorted(np.cumsum(buckets.sizes[order]), LEARNT_FROM)) + 1]
    inside = np.zeros(len(buckets), np.bool_)
    inside[chosen] = True
    return rows[np.repeat(inside, np.diff(starts))]


def _table(places: Places, column: Numbers, n_values: int, found: Floats) -> Floats:
    """The logarithm of how probable each value of a column is for people with each sensitive value, made smooth by what everybody has."""
    codes, width = column[places.rows], len(places.buckets.values)
    counts = np.bincount(codes[places.who] * width + places.value, found, n_values * width).reshape(n_values, width)
    usual = (np.bincount(codes, minlength=n_values) + 1.0) / (len(codes) + n_values)
    smooth = counts + n_values * usual[:, None]
    return np.asarray(np.log(smooth / smooth.sum(axis=0)))
