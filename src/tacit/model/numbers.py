"""Exact numbers: bounds, thresholds, intervals of printed numbers.

Supports are compared as whole numbers and shares as fractions; a float given by a caller is read as its shortest decimal, so that
``0.1`` means one tenth and not its binary neighbour.
"""

from __future__ import annotations

import math
import operator
import re
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal, SupportsIndex, cast, get_args

from tacit.model.errors import InternalError, OptionError


@dataclass(frozen=True, slots=True, order=True)
class Bound:
    """Whole numbers from ``lo`` to ``hi``, both included."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise InternalError("a bound with lo > hi", where="Bound", remedy="Please report it")

    @classmethod
    def of(cls, count: int) -> Bound:
        """A number known exactly."""
        return cls(count, count)

    @property
    def is_exact(self) -> bool:
        """True if only one number is possible."""
        return self.lo == self.hi

    def __sub__(self, other: Bound) -> Bound:
        return Bound(self.lo - other.hi, self.hi - other.lo)

    def to_list(self) -> list[int]:
        """``[lo, hi]``, as in the record."""
        return [self.lo, self.hi]


#: How numbers are rounded: to the nearest with halves either way, up or to an even digit; up; down; up or down by chance; in an unknown way.
Rounding = Literal["nearest", "half-up", "half-even", "up", "truncated", "random", "unknown"]
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)
NEAREST: tuple[Rounding, ...] = ("nearest", "half-up", "half-even")  #: The rules that round to the nearest.

#: From this many significant digits on, a text is a printed binary double: its last digits may be the machine's, not the value's.
DOUBLE_DIGITS = 15

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")


def exact(value: object, *, where: str) -> Fraction:
    """Return a number or text as an exact fraction."""
    remedy = "Write a share such as 0.1 or 10%, or a whole number"
    if isinstance(value, Fraction):
        return value
    if isinstance(value, (float, Decimal)):
        decimal = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
        if not decimal.is_finite():
            raise OptionError("is not a finite number", where=where, remedy=remedy)
        return Fraction(decimal)
    if isinstance(value, str):
        body, percent = _split_percent(value)
        if _NUMBER.fullmatch(body):
            return Fraction(body) / (100 if percent else 1)
    elif not isinstance(value, bool):
        with suppress(TypeError):
            return Fraction(operator.index(cast(SupportsIndex, value)))
    raise OptionError("is not a number", where=where, remedy=remedy)


def _split_percent(text: str) -> tuple[str, bool]:
    body = text.strip()
    return (body[:-1].strip(), True) if body.endswith("%") else (body, False)


def render_decimal(value: float, digits: int) -> str:
    """Return a number with this many significant digits and no exponent.

    >>> render_decimal(7.33309e-05, 2), render_decimal(0.987, 6), render_decimal(1234567.0, 3)
    ('0.000073', '0.987', '1230000')
    """
    return format(Decimal(f"{value:.{digits}g}"), "f")


def share(value: object, *, where: str, zero: bool = True) -> Fraction:
    """Return a share from 0 to 1 as a fraction."""
    got = exact(value, where=where)
    if not 0 <= got <= 1 or (got == 0 and not zero):
        low = "at least 0" if zero else "more than 0"
        raise OptionError(f"must be a share of {low} and at most 1", where=where, remedy="Write for instance 0.6 or 60%")
    return got


@dataclass(frozen=True, slots=True)
class Threshold:
    """Support threshold: a share or a number of people."""

    value: Fraction
    is_count: bool

    @classmethod
    def parse(cls, value: object, *, where: str = "min_support") -> Threshold:
        """Read a threshold: a share, or a count (whole, at least 1)."""
        if isinstance(value, Threshold):
            return value
        got = exact(value, where=where)
        remedy = "Give a share above 0 and at most 1 (0.1 or 10%), or a count of people (a whole number of at least 1)"
        if got <= 0:
            raise OptionError("must be more than 0", where=where, remedy=remedy)
        whole = value.strip().isdecimal() if isinstance(value, str) else not isinstance(value, (float, Decimal, Fraction))
        if whole:
            return cls(got, is_count=True)
        if got > 1:
            raise OptionError("is over 100 %", where=where, remedy=remedy)
        return cls(got, is_count=False)

    def least_count(self, n: int, *, strict: bool = False) -> int:
        """Return the smallest count that reaches the threshold."""
        bar = self.value if self.is_count else self.value * n
        return max(1, math.floor(bar) + 1 if strict else math.ceil(bar))


@dataclass(frozen=True, slots=True)
class Printed:
    """Interval of the values that print as one text."""

    lo: Fraction
    hi: Fraction
    lo_open: bool = False
    hi_open: bool = False

    @classmethod
    def around(cls, value: Fraction, step: Fraction, rounding: Rounding) -> Printed:
        """Return the values that print as ``value``.

        Where it is not known which way halves go, both neighbours of a half may print so.
        """
        moves = step > 0
        if rounding in NEAREST:
            return cls(value - step / 2, value + step / 2, hi_open=rounding == "half-up" and moves)
        if rounding == "truncated":
            return cls(value, value + step, hi_open=moves)
        if rounding == "up":
            return cls(value - step, value, lo_open=moves)
        return cls(value - step, value + step, lo_open=moves, hi_open=moves)

    @classmethod
    def decimal(cls, value: Fraction, step: Fraction, rounding: Rounding, *, is_double: bool = False) -> Printed:
        """Return the values that print as a decimal.

        Close to the middle between two decimals that can turn the last digit, so the ends reach a little further; a double in full is off in
        either direction whatever the rule. Tacit itself rounds the exact share, halves up.
        """
        if is_double:
            rounding = "nearest" if rounding in NEAREST else "unknown"
        elif rounding == "half-even":
            rounding = "nearest"
        slack = value / 2**50 if is_double or rounding == "nearest" else Fraction(0)
        return cls.around(value, step + slack, rounding)

    def counts(self, n: int) -> Bound | None:
        """Return counts whose share of ``n`` prints so, or None."""
        return self.whole_numbers(scale=n, most=n)

    def whole_numbers(self, *, scale: int = 1, most: int) -> Bound | None:
        """Return whole numbers c with c/scale inside, or None."""
        lo = self.lo * scale
        hi = self.hi * scale
        first = max(0, math.floor(lo) + 1 if self.lo_open else math.ceil(lo))
        last = min(most, math.ceil(hi) - 1 if self.hi_open else math.floor(hi))
        return Bound(first, last) if first <= last else None


def column_steps(texts: list[str]) -> list[Fraction]:
    """Return the step of each number's last digit.

    Programs print ``0.5`` for ``0.500``: how precise a number is shows in the whole column. A column printed with fixed decimals has the
    most decimals anywhere in it, one printed with significant digits the most significant digits; the larger of the two steps holds for both.
    """
    parsed: list[tuple[Decimal | None, bool]] = []
    for text in texts:
        body, percent = _split_percent(text)
        try:
            value = Decimal(body)
        except InvalidOperation:
            value = Decimal("NaN")
        parsed.append((value if value.is_finite() else None, percent))
    digits = [decimal.as_tuple() for decimal, _ in parsed if decimal is not None]
    decimals = max([0, *(-cast(int, one.exponent) for one in digits)])
    significant = max((len(one.digits) for one in digits), default=0)
    steps = []
    for decimal, percent in parsed:
        if decimal is None:
            steps.append(Fraction(0))
            continue
        by_digits = Fraction(10) ** (decimal.adjusted() - significant + 1) if decimal else Fraction(0)
        step = max(Fraction(10) ** -decimals, by_digits)
        if significant >= DOUBLE_DIGITS:
            step = max(step, abs(Fraction(decimal)) / 2**50)
        steps.append(step / (100 if percent else 1))
    return steps
