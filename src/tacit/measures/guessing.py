"""How often guesses about people of a bucketized release are right, which only the owner of the data can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from tacit.inference.surviving import Model, estimated, guess, learn, sampled
from tacit.inference.valid import Valid
from tacit.measures.combinations import Combinations
from tacit.model.buckets import Buckets
from tacit.model.table import Table

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Guesses above this are those that give somebody away when they are right.
SURE = 0.9
#: Rounds in which people of the data are found again in the release, where its order tells nothing.
_MOST_ROUNDS, _FITS = 500, 1e-6


def guessed_right(
    valid: Valid, model: Model, people: Table, cells: Combinations, *, check: Callable[[], None] = lambda: None
) -> tuple[Mapping[str, float], str]:
    """For how many people the guess of B03 is right, beside what the groups alone give; and what to say about how that was counted.

    Where the rows of the data are those of the release, in its order, the number is exact. Otherwise people with the same quasi-identifiers in
    different groups cannot be told apart, and it is the mean over the ways to tell them apart that fit, all as likely as the rest allows.
    """
    buckets = valid.cells.buckets
    found = guess(valid, model, check=check)
    own = own_values(buckets, people)
    right = own == found.top if own is not None else linked(buckets, cells, found.top, check=check)
    sure = found.largest > SURE
    groups = np.maximum.reduceat(buckets.count, buckets.starts[:-1])
    note = (
        "" if own is not None else "the order of the release tells nothing, so that right guesses are a mean over who may be who"
    )
    return {
        "surviving_guess_right": float(right.sum()) / buckets.n,
        "group_guess_right": float(groups.sum()) / buckets.n,
        "surviving_above_90": int(sure.sum()),
        "surviving_above_90_right": float(right[sure].sum()) / max(1, int(sure.sum())),
    }, note


def own_values(buckets: Buckets, people: Table) -> Numbers | None:
    """The number of everybody's value, where the data are in the order of the release; None where they are not."""
    if len(people.weights) != buckets.n or (people.weights != 1).any():
        return None
    for column in buckets.people.columns:
        other = people.column(column.name)
        place = {value: number for number, value in enumerate(column.values)}
        fresh = np.array([place.get(value, -1) for value in other.values], np.int64)
        if not np.array_equal(fresh[other.codes], column.codes):
            return None
    place = {value: number for number, value in enumerate(buckets.values)}
    own = np.array([place.get(value, -1) for value in people.sa.values], np.int64)[people.sa.codes]
    width = len(buckets.values)
    cells, count = np.unique(buckets.group.astype(np.int64) * width + own, return_counts=True)
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    same = np.array_equal(cells, owner * width + buckets.value) and np.array_equal(count, buckets.count)
    return own if same else None


def linked(buckets: Buckets, cells: Combinations, top: Numbers, *, check: Callable[[], None] = lambda: None) -> Floats:
    """How probable it is that the guess about each row is right, given the data but not which of equal people is in which group.

    The shares are scaled until everybody has one value, each group its contents, and each combination of quasi-identifiers the values that it
    has in the data: the distribution of largest entropy among those that fit.
    """
    width, wide = np.diff(buckets.starts)[buckets.group], cells.widened(buckets)
    ends = np.cumsum(width)
    who = np.repeat(np.arange(buckets.n), width)
    entry = np.arange(int(ends[-1])) + np.repeat(buckets.starts[buckets.group] - (ends - width), width)
    pair = cells.number[who] * len(cells.values) + wide[buckets.value[entry]]
    true = cells.true.reshape(-1)
    possible = np.flatnonzero(true[pair] > 0)
    who, entry, pair = who[possible], entry[possible], pair[possible]
    share = buckets.count[entry].astype(np.float64)
    everybody = float(cells.published.sum()) == float(cells.true.sum())
    for _ in range(_MOST_ROUNDS):
        check()
        share /= np.bincount(who, share, buckets.n)[who]
        share *= (buckets.count / np.maximum(np.bincount(entry, share, len(buckets.count)), 1e-300))[entry]
        have = np.bincount(pair, share, len(true))
        off = np.abs(have - true).sum() if everybody else np.maximum(have - true, 0).sum()
        if off <= _FITS * buckets.n:
            break
        scale = true / np.maximum(have, 1e-300)
        share *= (scale if everybody else np.minimum(scale, 1.0))[pair]
    share /= np.bincount(who, share, buckets.n)[who]
    hit = buckets.value[entry] == top[who]
    return np.asarray(np.bincount(who[hit], share[hit], buckets.n), np.float64)


def guessed_at_release(
    valid: Valid, own: npt.NDArray[np.integer], *, check: Callable[[], None] = lambda: None
) -> Mapping[str, float]:
    """How often guesses are right in a release that is just being made, ``own`` being everybody's value; of many people, of some groups only."""
    buckets = valid.cells.buckets
    model, rows = learn(valid, check=check), sampled(buckets, 0)
    ((places, share),) = estimated(valid, model, rows=rows, check=check)
    top, _ = places.leading(share)
    groups = np.maximum.reduceat(buckets.count, buckets.starts[:-1])
    return {
        "surviving_guess_right_exact": float((top == own[rows]).mean()),
        "group_guess_right": float(groups.sum()) / buckets.n,
    }
