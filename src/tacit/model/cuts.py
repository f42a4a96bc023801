"""Columns of numbers that are cut into intervals, which are their values."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, slots=True)
class Cut:
    """Column of numbers, cut behind each of the ``ends``, which ascend.

    Numbers are compared in single precision, as in trees of scikit-learn.

    >>> Cut("age", (30.5, 45.0)).values
    ('up to 30.5', 'over 30.5 up to 45', 'over 45')
    """

    column: str
    ends: tuple[float, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """Names of the intervals, ascending."""
        return self.between(-math.inf, math.inf)

    def between(self, low: float, high: float) -> tuple[str, ...]:
        """Return the intervals over one end and up to another.

        >>> Cut("age", (30.5, 45.0)).between(30.5, math.inf)
        ('over 30.5 up to 45', 'over 45')
        """
        ends = [-math.inf, *self.ends, math.inf]
        return tuple(interval_name(left, right) for left, right in pairwise(ends) if low <= left and right <= high)

    def place(self, number: float) -> int:
        """Return the place of the interval that holds a number.

        >>> [Cut("age", (30.5, 45.0)).place(age) for age in (30, 30.5, 31, 46)]
        [0, 0, 1, 2]
        """
        return bisect_left(self.ends, float(np.float32(number)))

    def bounds(self, values: Sequence[str]) -> tuple[float, float]:
        """Return the ends around neighbouring intervals, by their names."""
        ends = [-math.inf, *self.ends, math.inf]
        places = [self.values.index(value) for value in values]
        return ends[min(places)], ends[max(places) + 1]


def interval_name(low: float, high: float) -> str:
    """Return the name of the numbers over one end and up to another.

    >>> interval_name(-math.inf, 3.0), interval_name(3.0, 4.25), interval_name(3.0, math.inf)
    ('up to 3', 'over 3 up to 4.25', 'over 3')
    """
    over = f"over {_number(low)}" if math.isfinite(low) else ""
    up_to = f"up to {_number(high)}" if math.isfinite(high) else ""
    return " ".join(part for part in (over, up_to) if part)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")
