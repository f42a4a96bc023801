"""What confidences say about two whole numbers: how many people have a rule's antecedent, and how many its consequent as well.

A printed confidence is an interval of fractions; ends are kept as pairs of whole numbers and compared by multiplication, never as floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.model.number import DOUBLE_DIGITS, Printed
from tacit.model.release import Header, Rules

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: No count is larger: bounds that reach it mean "not bounded".
UNBOUNDED = 2**61
_SAFE = 2**62


class Confidence(NamedTuple):
    """Confidences from ``low`` to ``high``; an open end is not itself allowed."""

    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool


def confidence_of(release: Rules, line: int) -> Confidence:
    """The confidences that rule ``line`` allows: those that print so and reach the threshold."""
    header, printed = release.header, release.confidence
    if printed is None or printed.digits[line] < 0:
        return _allowed(None, header)
    return _allowed((int(printed.scaled[line]), int(printed.digits[line])), header)


def _allowed(printed: tuple[int, int] | None, header: Header) -> Confidence:
    """The confidences that print as ``scaled / 10**digits``, are at most 1 and reach the threshold."""
    low, high = header.min_confidence or Fraction(0), Fraction(1)
    low_open, high_open = header.strict and low > 0, False
    if printed is not None:
        scaled, digits = printed
        value = Fraction(scaled, 10**digits)
        # A long text is a double, off by a few units of its mantissa in either direction; a short one may have come from a double.
        double = len(str(scaled)) >= DOUBLE_DIGITS
        shown = Printed.decimal(value, Fraction(1, 10**digits), header.rounding, is_double=double)
        if shown.lo > low:
            low, low_open = shown.lo, shown.lo_open
        elif shown.lo == low:
            low_open = low_open or shown.lo_open
        if shown.hi < high:
            high, high_open = shown.hi, shown.hi_open
    return Confidence(low, high, low_open, high_open)


@dataclass(frozen=True, eq=False)
class Confidences:
    """The confidences of many rules: ``low[0] / low[1]`` to ``high[0] / high[1]``, one column per rule.

    Columns are 64-bit numbers where all products with counts fit, else Python's own.
    """

    low: Any
    high: Any
    low_open: Flags
    high_open: Flags

    @classmethod
    def of(cls, release: Rules, lines: Whole) -> Confidences:
        """The confidences of these lines, worked out once for every printed text."""
        printed = release.confidence
        if printed is None:
            keys, index = np.array([[0, -1]]), np.zeros(len(lines), np.int64)
        else:
            texts = np.stack((printed.scaled[lines], printed.digits[lines].astype(np.int64)), axis=1)
            keys, index = np.unique(texts, axis=0, return_inverse=True)
        known = [_allowed(None if digits < 0 else (scaled, digits), release.header) for scaled, digits in keys.tolist()]
        ends = [value for entry in known for end in (entry.low, entry.high) for value in end.as_integer_ratio()]
        most = int(release.whole_hi.max(initial=1))
        kind: Any = np.int64 if max(ends, default=1) * (most + 1) < _SAFE else object
        low = np.array([entry.low.as_integer_ratio() for entry in known], kind).reshape(-1, 2).T[:, index]
        high = np.array([entry.high.as_integer_ratio() for entry in known], kind).reshape(-1, 2).T[:, index]
        flags = np.array([(entry.low_open, entry.high_open) for entry in known], np.bool_).reshape(-1, 2).T[:, index]
        return cls(low, high, flags[0], flags[1])

    def wholes(self, lo: Whole, hi: Whole) -> tuple[Whole, Whole]:
        """Bounds on the people with the antecedent, from bounds on those who have the consequent as well."""
        least = _at_least(self._wide(lo) * self.high[1], self.high[0], self.high_open)
        most = np.where(
            self.low[0] > 0, _at_most(self._wide(hi) * self.low[1], np.maximum(self.low[0], 1), self.low_open), UNBOUNDED
        )
        return _counts(least), _counts(most)

    def parts(self, whole_lo: Whole, whole_hi: Whole) -> tuple[Whole, Whole]:
        """Bounds on the people with antecedent and consequent, from bounds on those with the antecedent."""
        least = _at_least(self._wide(whole_lo) * self.low[0], self.low[1], self.low_open)
        most = _at_most(self._wide(whole_hi) * self.high[0], self.high[1], self.high_open)
        return _counts(least), _counts(most)

    def lacking(self, part: tuple[Whole, Whole], whole: tuple[Whole, Whole]) -> tuple[Whole, Whole]:
        """Bounds on the people with the antecedent but without the consequent: the two numbers move together, so these are the tighter.

        Of ``part`` people with both, ``part * (1 / confidence - 1)`` lack the consequent, and ``whole * (1 - confidence)`` of the antecedent's.
        """
        over, under = self.high[1] - self.high[0], self.low[1] - self.low[0]
        by_part = _at_least(self._wide(part[0]) * over, self.high[0], self.high_open)
        by_whole = _at_least(self._wide(whole[0]) * over, self.high[1], self.high_open)
        most_by_part = np.where(
            self.low[0] > 0, _at_most(self._wide(part[1]) * under, np.maximum(self.low[0], 1), self.low_open), UNBOUNDED
        )
        most_by_whole = _at_most(self._wide(whole[1]) * under, self.low[1], self.low_open)
        return _counts(np.maximum(by_part, by_whole)), _counts(np.minimum(most_by_part, most_by_whole))

    def _wide(self, counts: Whole) -> Any:
        return counts.astype(self.low.dtype)


def _at_least(numerator: Any, denominator: Any, is_open: Flags) -> Any:
    """The smallest whole number that is at least the quotient (more than it, where the end is open); a quotient by 0 says nothing."""
    safe = np.maximum(denominator, 1)
    return np.where(denominator > 0, np.where(is_open, numerator // safe + 1, -(-numerator // safe)), 0)


def _at_most(numerator: Any, denominator: Any, is_open: Flags) -> Any:
    """The largest whole number that is at most the quotient (less than it, where the end is open)."""
    return np.where(is_open, -(-numerator // denominator) - 1, numerator // denominator)


def _counts(values: Any) -> Whole:
    counts: Whole = np.minimum(values, UNBOUNDED).astype(np.int64)
    return counts
