"""Estimators of counts by quasi-identifiers and sensitive value.

The owner compares them with the data to measure the utility of a bucketized release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.buckets.assignments import Valid, share_values, valid_values
from tacit.buckets.surviving_correlations import Model, Places, estimate, split_rows
from tacit.model.arrays import Codes, Floats, Ints
from tacit.model.buckets import Buckets
from tacit.model.errors import OptionError, nearest_column
from tacit.model.knowledge import Exclusions
from tacit.model.policy import Check
from tacit.model.table import Column, Table, number_keys

REMEDY = "Give the data that the release was made from"


@dataclass(frozen=True, eq=False)
class Estimator:
    """Counts by combination and value; ``made(counted, people)`` estimates sets of people."""

    name: str
    counted: Floats
    made: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Projection:
    """Combinations of some columns: their codes, and the number of each combination of all columns among them."""

    codes: tuple[Codes, ...]
    number: Ints

    def __len__(self) -> int:
        return len(self.codes[0])

    def sums(self, table: Floats) -> Floats:
        """Return the sums of a table's lines."""
        return sum_lines(self.number, table, len(self))


def sum_lines(number: Ints, table: Floats, many: int) -> Floats:
    """Return the sums of the lines of a table with each number below ``many``."""
    from scipy.sparse import csr_array

    ends = np.arange(len(number) + 1)
    return np.asarray(csr_array((np.ones(len(number)), number, ends), shape=(len(number), many)).T @ table)


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations of quasi-identifiers in the data or release.

    ``columns`` holds their codes. ``true[q, v]`` people of combination q of the data have value v; ``published[q]`` people of it are in the
    release. These differ only if people were left out. ``number`` is the combination of each row of the release.
    """

    columns: tuple[Column, ...]
    values: tuple[str, ...]
    true: Floats
    published: Floats
    number: Ints

    @classmethod
    def of(cls, buckets: Buckets, people: Table) -> Combinations:
        """Match a release with its data; raise on mismatch."""
        if people.sa.name != buckets.sensitive:
            what = f"the sensitive column of the data is {people.sa.name!r}, that of the release {buckets.sensitive!r}"
            raise OptionError(what, where="--data", remedy=nearest_column(buckets.sensitive, people.names))
        for name in buckets.people.names:
            if name not in people.names:
                remedy = nearest_column(name, people.names)
                raise OptionError(f"has no column {name!r}, which the release has", where="--data", remedy=remedy)
        pairs = [_merge_values(column, people.column(column.name)) for column in buckets.people.columns]
        first, number = number_rows([np.concatenate(codes) for _, codes in pairs])
        released = number[: buckets.n]
        owned = number[buckets.n :]
        values, (_, own) = _merge_values(Column(buckets.sensitive, buckets.values, np.empty(0, np.int32)), people.sa)
        if {buckets.values[value] for value in np.unique(buckets.value).tolist()} - set(people.sa.values):
            raise OptionError("lacks a value that the release publishes", where="--data", remedy=REMEDY)
        width = len(values)
        weight = people.weights.astype(np.float64)
        true = np.bincount(owned * width + own, weight, len(first) * width).reshape(len(first), width)
        published = np.bincount(released, minlength=len(first)).astype(np.float64)
        if (published > true.sum(axis=1)).any():
            raise OptionError("does not contain the people of the release", where="--data", remedy=REMEDY)
        columns = tuple(
            Column(column.name, named, np.concatenate(codes)[first].astype(np.int32))
            for column, (named, codes) in zip(buckets.people.columns, pairs, strict=True)
        )
        return cls(columns, values, true.astype(np.float64), published, number=released)

    def __len__(self) -> int:
        return len(self.published)

    def project(self, columns: Sequence[int]) -> Projection:
        """Return the combinations of some columns."""
        first, number = number_rows([self.columns[column].codes for column in columns])
        return Projection(tuple(self.columns[column].codes[first] for column in columns), number)

    def value_numbers(self, buckets: Buckets) -> Ints:
        """Return the numbers of the release's values among all."""
        place = {value: number for number, value in enumerate(self.values)}
        return np.array([place[value] for value in buckets.values], np.int64)


@dataclass(frozen=True, eq=False)
class Mixing:
    """Mixing matrix: how grouping spreads each value over others.

    ``pi[u, v]`` is the mean share of value v in the groups of people with value u; ``share`` is the share of each value in the population, and
    ``noise`` the variance of the share of a value in the group of a person whose own value is known, summed over values.
    """

    pi: Floats
    share: Floats
    noise: float

    @classmethod
    def of(cls, buckets: Buckets) -> Mixing:
        """Compute the mixing of a release."""
        n_values = len(buckets.values)
        size = buckets.sizes.astype(np.float64)
        owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
        inside = buckets.count / size[owner]
        pi = np.zeros((n_values, n_values))
        squares = np.zeros((n_values, n_values))
        # Pairs of entries of the same group, entry i of each with entry j of each, so that memory stays small.
        widest = int(np.diff(buckets.starts).max(initial=0))
        for step in range(-widest + 1, widest):
            place = np.arange(max(0, -step), len(owner) - max(0, step))
            place = place[owner[place] == owner[place + step]]
            pair = buckets.value[place].astype(np.int64) * n_values + buckets.value[place + step]
            for table, weight in ((pi, inside), (squares, inside**2)):
                table += np.bincount(pair, buckets.count[place] * weight[place + step], n_values**2).reshape(pi.shape)
        people = np.bincount(buckets.value, buckets.count, n_values)
        held = np.maximum(people, 1)[:, None]
        pi = pi / held
        squares = squares / held
        return cls(pi, people / max(1, buckets.n), float((people / max(1, buckets.n)) @ (squares - pi**2).sum(axis=1)))

    @property
    def condition(self) -> float:
        """Condition number of ``pi`` over the values that occur."""
        singular = self._parts[1]
        return float(singular[0] / singular[-1]) if len(singular) and singular[-1] > 0 else float("inf")

    def undo(self, counted: Floats, people: Floats) -> Floats:
        """Estimate true counts from counts by group.

        The inverse is regularized: directions in which a set holds too few people are damped, as if shares spread around ``share`` as far as
        shares can. Estimates lie between 0 and the number of people.
        """
        left, singular, right = self._parts
        usual = people[:, None] * self.share
        spread = float((self.share * (1 - self.share)).sum())
        damping = self.noise / max(spread, 1e-300) / np.maximum(people, 1e-9)
        factor = singular / np.maximum(singular**2 + damping[:, None], 1e-300)
        occurs = self.share > 0
        found = usual.copy()
        found[:, occurs] += ((counted - usual)[:, occurs] @ right.T * factor) @ left.T
        return np.asarray(np.clip(found, 0.0, people[:, None]))

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """Singular value decomposition of ``pi`` over occurring values."""
        occurs = np.flatnonzero(self.share > 0)
        return np.linalg.svd(self.pi[np.ix_(occurs, occurs)])


def by_groups(
    combinations: Combinations, buckets: Buckets, *, check: Check = lambda: None
) -> tuple[Estimator, Estimator, Mixing]:
    """Return the estimators from groups only, and the mixing.

    ``uniform``: everybody has the shares of their group. ``debiased``: the mixing of the groups is undone.
    """
    free = valid_values(buckets, Exclusions.none(buckets.n, buckets.values))

    def shares() -> Iterator[tuple[Places, Floats]]:
        for rows in split_rows(buckets):
            check()
            places = Places.of(free, rows)
            yield places, places.by_group()

    uniform = _sum_shares(combinations, buckets, shares())
    mixing = _widen(Mixing.of(buckets), combinations.value_numbers(buckets), len(combinations.values))
    return Estimator("uniform", uniform, _as_counted), Estimator("debiased", uniform, mixing.undo), mixing


def estimators(
    combinations: Combinations, valid: Valid, model: Model, *, check: Check = lambda: None
) -> tuple[tuple[Estimator, ...], Mixing]:
    """Return all estimators of a release, and its mixing.

    Adds to :func:`by_groups` ``rule-aware`` (with knowledge; equally likely consistent assignments) and ``modelled`` (B03).
    """
    buckets = valid.cells.buckets
    uniform, debiased, mixing = by_groups(combinations, buckets, check=check)
    modelled = _sum_shares(combinations, buckets, estimate(valid, model, check=check))
    found = [uniform, debiased, Estimator("modelled", modelled, _as_counted)]
    if valid.cells.known.patterns.any():
        share = share_values(valid, check=check).share
        parts = (Places.of(valid, rows) for rows in split_rows(buckets))
        aware = _sum_shares(combinations, buckets, ((places, share[places.at]) for places in parts))
        found.insert(1, Estimator("rule-aware", aware, _as_counted))
    return tuple(found), mixing


def _sum_shares(combinations: Combinations, buckets: Buckets, parts: Iterable[tuple[Places, Floats]]) -> Floats:
    table = np.zeros((len(combinations), len(combinations.values)))
    numbers = combinations.value_numbers(buckets)
    for places, share in parts:
        cell = combinations.number[places.rows][places.who] * table.shape[1] + numbers[places.value]
        table += np.bincount(cell, share, table.size).reshape(table.shape)
    return table


def _as_counted(counted: Floats, _: Floats) -> Floats:
    return counted


def _widen(mixing: Mixing, place: Ints, width: int) -> Mixing:
    pi = np.zeros((width, width))
    share = np.zeros(width)
    pi[np.ix_(place, place)] = mixing.pi
    share[place] = mixing.share
    return Mixing(pi, share, mixing.noise)


def _merge_values(one: Column, other: Column) -> tuple[tuple[str, ...], tuple[Ints, Ints]]:
    values = tuple(sorted({*one.values, *other.values}))
    place = {value: number for number, value in enumerate(values)}
    fresh = [np.array([place[value] for value in column.values], np.int64)[column.codes] for column in (one, other)]
    return values, (fresh[0], fresh[1])


def number_rows(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> tuple[Ints, Ints]:
    """Return the first row of each combination of codes, in order, and each row's number among them."""
    key = np.zeros(len(columns[0]), np.int64)
    below = 1
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        if below * width >= 1 << 62:
            # Renumbered, the key lies below rows x values: it never overflows.
            key = number_keys(key, below)[1]
            below = len(key)
        key = key * width + codes
        below *= width
    return number_keys(key, below)
