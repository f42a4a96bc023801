"""Order of sensitive values, and distances between their distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.model.arrays import Floats, Ints
from tacit.model.errors import OptionError


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Ranks of sensitive values among ``size`` ordered ones.

    Values with neighbouring ranks are ``1 / (size - 1)`` apart, the first and the last one 1.
    """

    ranks: Ints
    size: int

    @classmethod
    def of(cls, values: Sequence[str], named: Sequence[str] = ()) -> Order | None:
        """Return the order that is ``named``, or that of different numbers, or None.

        >>> Order.of(["10", "9"]).ranks.tolist(), Order.of(["low", "high"]), Order.of(["low", "high"], ["high", "middle", "low"]).size
        ([1, 0], None, 3)
        """
        if named:
            place = {value: rank for rank, value in enumerate(named)}
            if len(place) < len(named) or not place.keys() >= set(values):
                what = "does not name every sensitive value once"
                raise OptionError(
                    what, where="--sa-order", remedy="List them from the lowest to the highest, with commas between"
                )
            return cls(np.array([place[value] for value in values], np.int64), len(named))
        numbers = [_number(value) for value in values]
        if not numbers or None in numbers or len(set(numbers)) < len(numbers):
            return None
        ranks = np.empty(len(values), np.int64)
        ranks[np.argsort(np.array(numbers, np.float64), kind="stable")] = np.arange(len(values))
        return cls(ranks, len(values))

    def distances(self, share: Floats, usual: Floats) -> Floats:
        """Return the earth mover's distance of each row from ``usual``.

        In one dimension it is the sum of the absolute differences of cumulative shares.
        """
        apart = np.zeros((len(share), self.size))
        apart[:, self.ranks] = share - usual
        moved = np.abs(np.cumsum(apart, axis=1)[:, :-1]).sum(axis=1)
        return np.asarray(moved / max(1, self.size - 1))


def ordered_values(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return values in order, from a sequence or from text with commas."""
    if isinstance(given, str):
        return tuple(value.strip() for value in given.split(","))
    return tuple(given or ())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
