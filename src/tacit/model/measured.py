"""Means and medians of a numeric column, as some tables print them beside their counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tacit.model.bound import Bound
from tacit.model.number import Printed
from tacit.model.release import Decimals

_SPAN = re.compile(r"(\d{1,9})\s*(?:-|–|to)\s*(\d{1,9})")
_FROM = re.compile(r"(?:>=|≥)\s*(\d{1,9})|(\d{1,9})\s*\+")
_BELOW = re.compile(r"(<=|≤|<)\s*(\d{1,9})")
_ABOVE = re.compile(r">\s*(\d{1,9})")


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What a frequency table prints beside its counts: means and medians of one of its columns, which holds whole numbers in ``span``.

    ``digits`` is the number of decimals that they were printed with.
    """

    column: str
    span: Bound
    means: Decimals
    medians: Decimals
    digits: int = 0

    def total(self, index: int, people: int) -> Bound | None:
        """The sums of the values of so many people whose mean prints as in line ``index``; None where none is printed, or no sum prints so.

        >>> import numpy as np
        >>> nothing = Decimals(np.zeros(1, np.int64), np.full(1, -1, np.int8))
        >>> Measured("age", Bound(0, 125), Decimals(np.array([367]), np.array([1], np.int8)), nothing, 1).total(0, 3)
        Bound(lo=110, hi=110)
        """
        return self._whole(self.means.value(index), people, self.span.hi * people)

    def middle(self, index: int) -> Bound | None:
        """Twice the median that prints as in line ``index``, a whole number; None where none is printed, or no number prints so."""
        return self._whole(self.medians.value(index), 2, self.span.hi * 2)

    def _whole(self, value: Fraction | None, scale: int, most: int) -> Bound | None:
        if value is None:
            return None
        return Printed.around(value, Fraction(1, 10**self.digits), "nearest").whole_numbers(scale=scale, most=most)


def numbers_of(text: str, span: Bound) -> Bound | None:
    """The whole numbers that a label of a numeric column stands for; None when it is none.

    >>> [numbers_of(text, Bound(0, 125)) for text in ("7", "0-4", "64+", "<18")]
    [Bound(lo=7, hi=7), Bound(lo=0, hi=4), Bound(lo=64, hi=125), Bound(lo=0, hi=17)]
    """
    told = text.strip()
    if told.isascii() and told.isdigit() and len(told) < 10:
        ends = (int(told), int(told))
    elif found := _SPAN.fullmatch(told):
        ends = (int(found[1]), int(found[2]))
    elif found := _FROM.fullmatch(told):
        ends = (int(found[1] or found[2]), span.hi)
    elif found := _ABOVE.fullmatch(told):
        ends = (int(found[1]) + 1, span.hi)
    elif found := _BELOW.fullmatch(told):
        ends = (span.lo, int(found[2]) - (found[1] == "<"))
    else:
        return None
    inside = max(ends[0], span.lo), min(ends[1], span.hi)
    return Bound(*inside) if inside[0] <= inside[1] else None
