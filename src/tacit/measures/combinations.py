"""How many people of each combination of quasi-identifiers have each sensitive value: in the data, and as estimated from groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, nearest_column
from tacit.inference.assignments import share_values
from tacit.inference.mixing import Mixing
from tacit.inference.surviving import Model, Places, blocks, estimated
from tacit.inference.valid import Valid, valid_values
from tacit.model.buckets import Buckets
from tacit.model.exclusions import Exclusions
from tacit.model.table import Column, Table

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

REMEDY = "Give the data that the release was made from"


@dataclass(frozen=True, eq=False)
class Estimator:
    """What a way of reading a release counts for each combination and value; ``made`` turns what is counted for some people into an estimate.

    ``made(counted, people)`` takes a row for each set of people.
    """

    name: str
    counted: Floats
    made: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations that occur in the data or in the release, column by column as codes into ``columns``.

    ``true[q, v]`` people of combination q of the data have value v; ``published[q]`` people of it are in the release. They differ only where
    people were left out of the release.
    """

    columns: tuple[Column, ...]
    values: tuple[str, ...]
    true: Floats
    published: Floats
    number: Numbers

    @classmethod
    def of(cls, buckets: Buckets, people: Table) -> Combinations:
        """The combinations of a release and of the data that it was made from; raises where these are other people."""
        if people.sa.name != buckets.sensitive:
            what = f"the release is about {buckets.sensitive!r}, and the sensitive column of the data is {people.sa.name!r}"
            raise OptionError(what, where="--data", remedy=nearest_column(buckets.sensitive, people.names))
        for name in buckets.people.names:
            if name not in people.names:
                remedy = nearest_column(name, people.names)
                raise OptionError(f"has no column {name!r}, which the release holds", where="--data", remedy=remedy)
        pairs = [_together(column, people.column(column.name)) for column in buckets.people.columns]
        first, number = _numbered([np.concatenate(codes) for _, codes in pairs])
        released, owned = number[: buckets.n], number[buckets.n :]
        values, (_, own) = _together(Column(buckets.sensitive, buckets.values, np.empty(0, np.int32)), people.sa)
        if set(buckets.values) - set(people.sa.values) and _unknown(buckets, people.sa.values):
            raise OptionError("has none of some value that the release publishes", where="--data", remedy=REMEDY)
        width, weight = len(values), people.weights.astype(np.float64)
        true = np.bincount(owned * width + own, weight, len(first) * width).reshape(len(first), width)
        published = np.bincount(released, minlength=len(first)).astype(np.float64)
        if (published > true.sum(axis=1)).any():
            raise OptionError("does not hold the people of the release", where="--data", remedy=REMEDY)
        columns = tuple(
            Column(column.name, named, np.concatenate(codes)[first].astype(np.int32))
            for column, (named, codes) in zip(buckets.people.columns, pairs, strict=True)
        )
        return cls(columns, values, true.astype(np.float64), published, released)

    def __len__(self) -> int:
        return len(self.published)

    def widened(self, buckets: Buckets) -> Numbers:
        """The number of each of the release's values among all."""
        place = {value: number for number, value in enumerate(self.values)}
        return np.array([place[value] for value in buckets.values], np.int64)


def by_groups(
    combinations: Combinations, buckets: Buckets, *, check: Callable[[], None] = lambda: None
) -> tuple[Estimator, Estimator, Mixing]:
    """The two ways to read a release that look at groups only, and how groups mix values.

    ``uniform``: everybody has the shares of her group. ``debiased``: the mixing of the groups is undone.
    """
    count = _Count(buckets, combinations)
    free = valid_values(buckets, Exclusions.none(buckets.n, buckets.values))
    uniform = count.empty()
    for rows in blocks(buckets):
        check()
        places = Places.of(free, rows)
        count.add(uniform, places, places.by_group())
    mixing = _wide(Mixing.of(buckets), combinations.widened(buckets), len(combinations.values))
    return Estimator("uniform", uniform, _as_counted), Estimator("debiased", uniform, mixing.undone), mixing


def estimators(
    combinations: Combinations, valid: Valid, model: Model, *, check: Callable[[], None] = lambda: None
) -> tuple[tuple[Estimator, ...], Mixing]:
    """Four ways to read a release, given what is valid for everybody and what was learnt from the groups; and how these mix values.

    Besides those of :func:`by_groups`: ``rule-aware``, where something is known: all assignments that fit are equally likely. ``modelled``:
    what the groups let one learn about who has what is used for everybody.
    """
    buckets = valid.cells.buckets
    count = _Count(buckets, combinations)
    uniform, debiased, mixing = by_groups(combinations, buckets, check=check)
    modelled = count.empty()
    for places, share in estimated(valid, model, check=check):
        count.add(modelled, places, share)
    found = [uniform, debiased, Estimator("modelled", modelled, _as_counted)]
    if valid.cells.known.patterns.any():
        shares, aware = share_values(valid, check=check), count.empty()
        for rows in blocks(buckets):
            places = Places.of(valid, rows)
            count.add(aware, places, shares.share[places.at])
        found.insert(1, Estimator("rule-aware", aware, _as_counted))
    return tuple(found), mixing


@dataclass(frozen=True, eq=False)
class _Count:
    """Adds up shares of people by combination and value."""

    buckets: Buckets
    combinations: Combinations

    def empty(self) -> Floats:
        return np.zeros((len(self.combinations), len(self.combinations.values)))

    def add(self, table: Floats, places: Places, share: Floats) -> None:
        """Count the shares of some people."""
        width = table.shape[1]
        value = self.combinations.widened(self.buckets)[places.value]
        cell = self.combinations.number[places.rows][places.who] * width + value
        table += np.bincount(cell, share, table.size).reshape(table.shape)


def _as_counted(counted: Floats, people: Floats) -> Floats:
    del people
    return counted


def _wide(mixing: Mixing, place: Numbers, width: int) -> Mixing:
    """The mixing over all values of the data, of which the release may lack some."""
    pi, share = np.zeros((width, width)), np.zeros(width)
    pi[np.ix_(place, place)], share[place] = mixing.pi, mixing.share
    return Mixing(pi, share, mixing.noise)


def _together(one: Column, other: Column) -> tuple[tuple[str, ...], tuple[Numbers, Numbers]]:
    """The values of two columns together, and the codes of both among them."""
    values = tuple(sorted({*one.values, *other.values}))
    place = {value: number for number, value in enumerate(values)}
    fresh = [np.array([place[value] for value in column.values], np.int64)[column.codes] for column in (one, other)]
    return values, (fresh[0], fresh[1])


def _unknown(buckets: Buckets, values: Sequence[str]) -> bool:
    """Whether somebody of the release has a value that is not among these."""
    known = set(values)
    return any(buckets.values[value] not in known for value in np.unique(buckets.value).tolist())


def _numbered(columns: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    """A row of each combination of codes, and the number of the combination of each row."""
    key = np.zeros(len(columns[0]), np.int64)
    first = key
    for codes in columns:
        # Numbered anew each time, the key lies below rows x values: it never overflows.
        _, first, key = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_index=True, return_inverse=True)
        key = key.reshape(-1)
    return first, key
