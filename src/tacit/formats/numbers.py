"""Columns of printed numbers: the values that print so, worked out once for every distinct text.

How precise a number is shows in its column (:func:`tacit.model.number.column_steps`), unless a header says how many decimals there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError
from tacit.formats.printout import TextColumn
from tacit.model.number import DOUBLE_DIGITS, NEAREST, Printed, Rounding, column_steps
from tacit.model.release import Counts, Decimals

Place = Callable[[int, str], str]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

#: Decimals keep a printed number in 64 bits; digits beyond these are dropped from what is shown, never from what is concluded.
_KEPT_DIGITS = 18
#: Below this many people two counts are further apart than the doubles that could be printed for either.
_DOUBLE_PEOPLE = 2**40
#: How far from a whole number a product must lie to be surely on its side: doubles below 2**40 are this precise many times over.
_DOUBT = 1e-2
#: Shares that must be printed for n to follow from them; the largest n that is tried, and how many at a time.
_LEAST_SHARES = 20
_MOST_PEOPLE = 10_000_000
_PEOPLE_AT_ONCE = 500_000
#: The chance, as a power of ten, that some smaller number explains all shares as well.
_LOG_CHANCE = -6
_PLAIN = re.compile(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """A column of printed shares: line ``i`` prints distinct text number ``index[i]``.

    ``floats`` holds the distinct numbers nearly (NaN for an empty text), ``printed(number)`` exactly. ``is_double`` says that the column
    holds binary doubles in full, not rounded decimals; ``digits`` is the number of decimals that a header promises. ``widest`` are the texts
    with the most decimals and the most digits: they show how precise the others are. ``steps`` are the steps of the last digits, nearly.
    ``in_full`` says that short texts are doubles as well: ``0.2`` is one fifth.
    """

    column: TextColumn
    index: npt.NDArray[np.int64]
    texts: list[str]
    floats: Floats
    is_double: bool
    digits: int | None
    rounding: Rounding
    widest: tuple[str, str]
    steps: Floats
    in_full: bool = False
    known: dict[int, Printed] = field(default_factory=dict)

    def first(self, number: int) -> int:
        """The first line that prints distinct text ``number``."""
        return int(np.flatnonzero(self.index == number)[0])

    def given(self) -> Flags:
        """For each line, whether it prints something."""
        return ~np.isnan(self.floats)[self.index]

    def printed(self, number: int) -> Printed | None:
        """The values that print as distinct text ``number``; None for an empty text."""
        if not self.texts[number]:
            return None
        if number not in self.known:
            self.known[number] = self._values(self.texts[number])
        return self.known[number]

    def _values(self, text: str) -> Printed:
        value = _value(text)
        assert value is not None
        if self.digits is not None:
            step = Fraction(1, 10**self.digits)
        elif self.in_full:
            step = value / 2**50
        else:
            step = column_steps([text, *self.widest])[0]
        # Programs round the double nearest to a share, not the share itself: close to the middle between two prints that can
        # turn the last digit.
        slack = Fraction(1, 2**50) if self.rounding == "nearest" else Fraction(0)
        return Printed.around(value, step + value * slack, self.rounding)

    def counts(self, n: int, place: Place) -> tuple[Counts, Counts]:
        """The smallest and largest count among ``n`` people that prints so; 0 and ``n`` where nothing is printed."""
        lo, hi = np.zeros(len(self.texts), np.int64), np.full(len(self.texts), n, np.int64)
        sure_lo, sure_hi = self.sure_counts(n)
        sure = sure_lo >= 0
        lo[sure], hi[sure] = sure_lo[sure], sure_hi[sure]
        for number in np.flatnonzero(~sure & ~np.isnan(self.floats)).tolist():
            entry = self.printed(number)
            bound = entry.counts(n) if entry is not None else None
            if bound is None:
                raise Contradiction(
                    f"no whole number of people among n = {n} prints so",
                    where=place(self.first(number), self.column.name),
                    remedy="Correct the number or n, or say how numbers were printed (--rounding truncated or unknown)",
                )
            lo[number], hi[number] = bound.lo, bound.hi
        return lo[self.index], hi[self.index]

    def sure_counts(self, n: int) -> tuple[Counts, Counts]:
        """For each distinct text the ends that floating point finds beyond doubt; -1 where it takes exact arithmetic.

        A double in full stands for the nearest count when the quotient of that count is the printed double, or a neighbour of it: the values
        that print so reach a little further, and the next count lies far outside. Ends of a rounded decimal are beyond doubt when they lie
        well between two counts.
        """
        lo, hi = np.full(len(self.texts), -1, np.int64), np.full(len(self.texts), -1, np.int64)
        if not 0 < n < _DOUBLE_PEOPLE or self.rounding in ("truncated", "up"):
            return lo, hi
        floats = np.nan_to_num(self.floats, nan=-1.0)
        if self.is_double:
            nearest = np.rint(floats * n)
            sure = (np.abs(nearest / n - floats) <= floats * 2.0**-52) & (floats > 0)
            lo[sure] = hi[sure] = nearest[sure].astype(np.int64)
            return lo, hi
        reach = self.steps / (2 if self.rounding in NEAREST else 1)
        least, most = (floats - reach) * n, (floats + reach) * n
        sure = (np.abs(least - np.rint(least)) > _DOUBT) & (np.abs(most - np.rint(most)) > _DOUBT) & (floats >= 0)
        first, last = np.maximum(np.ceil(least), 0), np.minimum(np.floor(most), n)
        sure &= first <= last
        lo[sure], hi[sure] = first[sure].astype(np.int64), last[sure].astype(np.int64)
        return lo, hi

    def as_doubles(self, n: int) -> Shares:
        """The same texts read as doubles in full, where all are quotients of counts by ``n``.

        Not where all these counts have a common divisor that so many hardly share by chance: then they were rounded.
        """
        positive = self.floats[self.floats > 0]
        if self.is_double or self.digits is not None or not len(positive) or not 0 < n < _DOUBLE_PEOPLE:
            return self
        nearest = np.rint(positive * n)
        if not bool((np.abs(nearest / n - positive) <= positive * 2.0**-52).all()):
            return self
        if _chance_of_divisor(nearest, n) < 1e-5:
            return self
        return replace(self, is_double=True, in_full=True)

    def common_divisor(self, n: int) -> int:
        """A number that divides ``n`` and all counts which the doubles stand for, so many that it is no chance; else 1."""
        positive = self.floats[self.floats > 0]
        if not len(positive) or not 0 < n < _DOUBLE_PEOPLE:
            return 1
        counts = np.rint(positive * n)
        if not bool((np.abs(counts / n - positive) <= positive * 2.0**-51).all()):
            return 1
        return _divisor(counts, n) if _chance_of_divisor(counts, n) < 1e-9 else 1

    def people(self) -> int | None:
        """The smallest number of people that explains all shares, where it is no chance that it does; None where there is none.

        Twenty different counts hardly have a common divisor, so that the number is the true one and not a part of it.
        """
        inside = self.floats[(self.floats > 0) & (self.floats < 1)]
        reach = self.steps[(self.floats > 0) & (self.floats < 1)] / (2 if self.rounding == "nearest" else 1)
        if self.is_double:
            reach = inside * 2.0**-52
        if len(inside) < _LEAST_SHARES:
            return None
        order = np.argsort(reach)
        for first in range(1, _MOST_PEOPLE, _PEOPLE_AT_ONCE):
            left = np.arange(first, first + _PEOPLE_AT_ONCE, dtype=np.int64)
            for place in order.tolist():
                left = left[np.abs(np.rint(inside[place] * left) / left - inside[place]) <= reach[place] * (1 + 1e-9)]
                if not len(left):
                    break
            else:
                n = int(left[0])
                odds = np.log10(np.minimum(1.0, 2 * reach * n)).sum() + np.log10(n)
                return n if odds < _LOG_CHANCE else None
        return None

    def are_quotients_of(self, counts: Counts) -> bool:
        """Whether every text is the double of its line's count over some whole number, in full: ``0.2`` beside 1 is 1/5."""
        given = np.flatnonzero(self.given())
        for count, number in set(zip(counts[given].tolist(), self.index[given].tolist(), strict=True)):
            share = float(self.floats[number])
            if share <= 0 or count <= 0 or count / max(1, round(count / share)) != share:
                return False
        return True

    def decimals(self) -> Decimals:
        """The printed texts as decimals."""
        kept = [_decimal_parts(text, self.digits) for text in self.texts]
        scaled = np.array([part[0] for part in kept], np.int64)
        digits = np.array([part[1] for part in kept], np.int8)
        return Decimals(scaled[self.index], digits[self.index])


def _divisor(counts: Floats, n: int) -> int:
    return int(np.gcd.reduce(np.append(counts.astype(np.int64), n)))


def _chance_of_divisor(counts: Floats, n: int) -> float:
    """How probable it is that so many different counts all share the divisor that they have in common with ``n``."""
    divisor = _divisor(counts, n)
    different = len(np.unique(counts[counts < n]))
    return 1.0 if divisor == 1 else float(divisor) ** -min(different, 300)


def read_shares(column: TextColumn, *, rounding: Rounding, digits: int | None, place: Place) -> Shares:
    """The values that each text of a column of shares from 0 to 1 can stand for."""
    numbers: dict[str, int] = {}
    index = np.fromiter((numbers.setdefault(text, len(numbers)) for text in column.texts), np.int64, len(column.texts))
    texts = [text.strip() for text in numbers]
    floats = np.full(len(texts), np.nan)
    # Decimals, digits, and the power of ten of the first digit.
    shape = np.zeros((3, len(texts)), np.int64)
    percent = np.zeros(len(texts), bool)
    for number, text in enumerate(texts):
        if not text:
            continue
        value = _checked(text, digits)
        if isinstance(value, _Fault):
            where = place(int(np.flatnonzero(index == number)[0]), column.name)
            raise value.kind(value.what, where=where, remedy=value.remedy)
        floats[number], percent[number] = value, text.endswith("%")
        decimal = Decimal(text.rstrip("% "))
        parts = decimal.as_tuple()
        shape[:, number] = -cast(int, parts.exponent), len(parts.digits), decimal.adjusted()
    widest = tuple(texts[int(row.argmax())] for row in shape[:2]) if texts else ("", "")
    decimals, significant = (int(row.max(initial=0)) for row in shape[:2])
    is_double = digits is None and significant >= DOUBLE_DIGITS
    # A double written in full is off by a rounding in either direction, however the program prints rounded numbers.
    mode: Rounding = rounding
    if is_double or rounding == "half-even":
        mode = "nearest" if rounding in NEAREST else "unknown"
    by_digits = np.where(floats > 0, 10.0 ** (shape[2] - significant + 1), 0.0)
    steps = np.maximum(10.0**-decimals, by_digits) if digits is None else np.full(len(texts), 10.0**-digits)
    steps = np.where(percent, steps / 100, steps)
    return Shares(column, index, texts, floats, is_double, digits, mode, (widest[0], widest[1]), steps)


class _Fault(NamedTuple):
    """What is wrong with a printed share."""

    kind: type[InputError]
    what: str
    remedy: str


def _checked(text: str, digits: int | None) -> float | _Fault:
    """A printed share nearly, or what is wrong with it."""
    if digits is None and _PLAIN.fullmatch(text) and float(text) <= 1:
        return float(text)
    value = _value(text)
    if value is None:
        return _Fault(InputError, "is not a number", "Write a plain decimal such as 0.25, or leave it empty")
    remedy = "Write a share from 0 to 1 (counts belong in a column of counts)"
    if value < 0:
        return _Fault(Contradiction, "is negative", remedy)
    if value > 1:
        return _Fault(Contradiction, "is above 1, that is more than all people", remedy)
    if digits is not None and value * 10**digits % 1:
        what = f"has more than the {digits} decimals that the header promises"
        return _Fault(InputError, what, "Correct 'digits' in the header, or the number")
    return float(value)


def read_counts(column: TextColumn, place: Place) -> tuple[Counts, Flags]:
    """Whole numbers, and for each line whether one is printed (0 stands where none is)."""
    texts = column.texts
    values = np.zeros(len(texts), np.int64)
    given = np.ones(len(texts), bool)
    if all(text.isdecimal() and text.isascii() and len(text) < 19 for text in texts):
        return np.fromiter(map(int, texts), np.int64, len(texts)), given
    for line, text in enumerate(texts):
        if not text.strip():
            given[line] = False
            continue
        value = None if text.strip().endswith("%") else _value(text.strip())
        if value is None or value.denominator != 1 or abs(value) >= 2**62:
            raise InputError("is not a whole number", where=place(line, column.name), remedy="Write a count of people")
        if value < 0:
            raise Contradiction("the count is negative", where=place(line, column.name), remedy="Correct the line")
        values[line] = int(value)
    return values, given


def _value(text: str) -> Fraction | None:
    """The printed number exactly; None when it is no number."""
    percent = text.endswith("%")
    try:
        decimal = Decimal(text[:-1].strip() if percent else text)
    except InvalidOperation:
        return None
    # Decimal also takes underscores, digits of other scripts, and exponents that would fill the memory when written out.
    if not decimal.is_finite() or "_" in text or not text.isascii() or abs(decimal.adjusted()) > 400:
        return None
    return Fraction(decimal) / (100 if percent else 1)


def _decimal_parts(text: str, promised: int | None) -> tuple[int, int]:
    """The number as (scaled, digits), with the promised decimals if there are such; digits -1 for an empty text."""
    if not text:
        return 0, -1
    percent = text.endswith("%")
    decimal = Decimal(text[:-1].strip() if percent else text)
    parts = decimal.as_tuple()
    scaled, digits = int("".join(map(str, parts.digits))), -cast(int, parts.exponent) + (2 if percent else 0)
    if promised is not None:
        return int(Fraction(scaled) * Fraction(10) ** (promised - digits)), promised
    if digits < 0:
        return scaled * 10**-digits, 0
    surplus = max(len(parts.digits) - _KEPT_DIGITS, digits - 100, 0)
    return scaled // 10**surplus, digits - surplus
