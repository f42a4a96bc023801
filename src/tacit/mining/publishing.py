"""What of a rule's two counts is published: the counts, supports with some decimals, or nothing; and what that says to a reader.

A reader knows the thresholds, too, so that a published rule never allows counts below them. Reading the written release gives the same ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from tacit.errors import OptionError
from tacit.model.number import Printed
from tacit.model.release import Counts, Decimals, Header

#: More decimals would not be read back exactly: numbers of 15 digits are taken for doubles in full.
MOST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Published:
    """The form in which rules are published."""

    withhold_values: bool = False
    digits: int | None = None
    with_confidence: bool = False

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= MOST_DIGITS:
            raise OptionError(
                "must be from 0 to 12", where="--digits", remedy="Choose how many decimals to print, for instance 3"
            )
        if self.withhold_values and self.digits is not None:
            raise OptionError("prints values that --withhold-values withholds", where="--digits", remedy="Leave one of them out")
        if self.with_confidence and self.digits is None:
            remedy = "Add --digits, or leave it out: counts without --digits give confidences exactly"
            raise OptionError("needs --digits", where="--with-confidence", remedy=remedy)


class Numbers(NamedTuple):
    """Ends of both counts of each rule, and what is printed."""

    lo: Counts
    hi: Counts
    whole_lo: Counts
    whole_hi: Counts
    support: Decimals | None = None
    confidence: Decimals | None = None


def publish(counts: Counts, wholes: Counts, header: Header, form: Published) -> Numbers:
    """What is published of rules with these counts (antecedent and consequent; antecedent)."""
    n, least = header.n or 0, header.min_support or 0
    if form.withhold_values:
        lo, hi = np.full(len(counts), least, np.int64), np.full(len(counts), n, np.int64)
        return Numbers(lo, hi, lo, hi)
    if form.digits is None:
        return Numbers(counts, counts, wholes, wholes)
    support = rounded(counts, np.full(len(counts), n, np.int64), form.digits)
    confidence = rounded(counts, wholes, form.digits) if form.with_confidence else None
    lo, hi, whole_lo, whole_hi = np.ascontiguousarray(_ends(support, confidence, header, form.digits).T)
    return Numbers(lo, hi, whole_lo, whole_hi, support, confidence)


def rounded(parts: Counts, wholes: Counts, digits: int) -> Decimals:
    """Shares with some decimals: the nearest, halves up, exactly.

    >>> shares = rounded(np.array([1, 2, 1]), np.array([3, 3, 8]), 2)
    >>> [shares.text(i) for i in range(3)]
    ['0.33', '0.67', '0.13']
    """
    scale = 10**digits
    if len(parts) and 2 * int(parts.max()) * scale + int(wholes.max()) < 2**63:
        scaled = (2 * parts * scale + wholes) // (2 * wholes)
    else:  # whole numbers of any size
        scaled = np.array(
            [(2 * part * scale + whole) // (2 * whole) for part, whole in zip(parts.tolist(), wholes.tolist(), strict=True)],
            np.int64,
        )
    return Decimals(scaled, np.full(len(parts), digits, np.int8))


def _ends(support: Decimals, confidence: Decimals | None, header: Header, digits: int) -> Counts:
    """For every rule the ends of both counts that its line and the thresholds allow."""
    n, least = header.n or 0, header.min_support or 0
    step = Fraction(1, 10**digits)
    bar = header.min_confidence or Fraction(0)

    @cache
    def of(printed_support: int, printed_confidence: int) -> tuple[int, int, int, int]:
        counts = Printed.around(printed_support * step, step, header.rounding).counts(n)
        assert counts is not None  # the true count prints so
        low, high, low_open, high_open = bar, Fraction(1), header.strict and bar > 0, False
        if printed_confidence >= 0:
            shares = Printed.around(printed_confidence * step, step, header.rounding)
            low_open = low_open and low >= shares.lo
            high_open = shares.hi <= high and shares.hi_open
            low, high = max(low, shares.lo), min(high, shares.hi)
        return narrowed(max(counts.lo, least), counts.hi, n, low, high, low_open=low_open, high_open=high_open)

    confidences = [-1] * len(support.scaled) if confidence is None else confidence.scaled.tolist()
    ends = [of(*key) for key in zip(support.scaled.tolist(), confidences, strict=True)]
    return np.array(ends, np.int64).reshape(-1, 4)


def narrowed(
    lo: int, hi: int, n: int, low: Fraction, high: Fraction, *, low_open: bool, high_open: bool = False
) -> tuple[int, int, int, int]:
    """The ends of all pairs (part, whole) with part in [lo, hi], whole at most n, and a share part/whole from low to high.

    >>> narrowed(45, 55, 1000, Fraction("0.975"), Fraction("0.985"), low_open=False)
    (45, 55, 46, 56)
    """
    whole_lo, whole_hi = 1, n
    while True:
        before = lo, hi, whole_lo, whole_hi
        whole_lo = max(whole_lo, _floor(lo / high) + 1 if high_open else _ceil(lo / high))
        if low > 0:
            whole_hi = min(whole_hi, _ceil(hi / low) - 1 if low_open else _floor(hi / low))
        lo = max(lo, _floor(low * whole_lo) + 1 if low_open else _ceil(low * whole_lo))
        hi = min(hi, _ceil(high * whole_hi) - 1 if high_open else _floor(high * whole_hi))
        if before == (lo, hi, whole_lo, whole_hi):
            return before


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _floor(value: Fraction) -> int:
    return value.numerator // value.denominator
