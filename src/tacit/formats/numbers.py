"""Columns of printed numbers: the values that print so, worked out once for every distinct text.

How precise a number is shows in its column (:func:`tacit.model.number.column_steps`), unless a header says how many decimals there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from tacit.errors import Contradiction, InputError
from tacit.formats.printout import TextColumn
from tacit.model.number import DOUBLE_DIGITS, Printed, Rounding, column_steps
from tacit.model.release import Counts, Decimals

Place = Callable[[int, str], str]
Flags = npt.NDArray[np.bool_]

#: Decimals keep a printed number in 64 bits; digits beyond these are dropped from what is shown, never from what is concluded.
_KEPT_DIGITS = 18


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """A column of printed shares: line ``i`` prints distinct text number ``index[i]``, whose values are ``printed[index[i]]``.

    ``printed`` holds None for an empty text. ``is_double`` says that the column holds binary doubles in full, not rounded decimals;
    ``digits`` is the number of decimals that a header promises.
    """

    column: TextColumn
    index: npt.NDArray[np.int64]
    texts: list[str]
    printed: list[Printed | None]
    is_double: bool
    digits: int | None = None

    def first(self, number: int) -> int:
        """The first line that prints distinct text ``number``."""
        return int(np.flatnonzero(self.index == number)[0])

    def given(self) -> Flags:
        """For each line, whether it prints something."""
        return np.array([entry is not None for entry in self.printed], bool)[self.index]

    def counts(self, n: int, place: Place) -> tuple[Counts, Counts]:
        """The smallest and largest count among ``n`` people that prints so; 0 and ``n`` where nothing is printed."""
        lo, hi = np.zeros(len(self.printed), np.int64), np.full(len(self.printed), n, np.int64)
        for number, entry in enumerate(self.printed):
            if entry is None:
                continue
            bound = entry.counts(n)
            if bound is None:
                raise Contradiction(
                    f"no whole number of people among n = {n} prints so",
                    where=place(self.first(number), self.column.name),
                    remedy="Correct the number or n, or say how numbers were printed (--rounding truncated or unknown)",
                )
            lo[number], hi[number] = bound.lo, bound.hi
        return lo[self.index], hi[self.index]

    def decimals(self) -> Decimals:
        """The printed texts as decimals."""
        kept = [_decimal_parts(text, self.digits) for text in self.texts]
        scaled = np.array([part[0] for part in kept], np.int64)
        digits = np.array([part[1] for part in kept], np.int8)
        return Decimals(scaled[self.index], digits[self.index])


def read_shares(column: TextColumn, *, rounding: Rounding, digits: int | None, place: Place) -> Shares:
    """The values that each text of a column of shares from 0 to 1 can stand for."""
    numbers: dict[str, int] = {}
    index = np.fromiter((numbers.setdefault(text, len(numbers)) for text in column.texts), np.int64, len(column.texts))
    texts = [text.strip() for text in numbers]
    values = [_value(text) if text else None for text in texts]
    for number, (text, value) in enumerate(zip(texts, values, strict=True)):
        fault = _fault(value, digits) if text else None
        if fault is not None:
            kind, what, remedy = fault
            raise kind(what, where=place(int(np.flatnonzero(index == number)[0]), column.name), remedy=remedy)
    steps = [Fraction(1, 10**digits)] * len(texts) if digits is not None else column_steps(texts)
    is_double = digits is None and any(_significant(text) >= DOUBLE_DIGITS for text in texts)
    # A double written in full is off by a rounding in either direction, however the program prints rounded numbers.
    mode: Rounding = "unknown" if is_double and rounding == "truncated" else rounding
    # Programs round the double nearest to a share, not the share itself: close to the middle between two prints that can turn the last digit.
    slack = Fraction(1, 2**50) if mode == "nearest" else Fraction(0)
    printed = [
        None if value is None else Printed.around(value, step + value * slack, mode)
        for value, step in zip(values, steps, strict=True)
    ]
    return Shares(column, index, texts, printed, is_double, digits)


def _fault(value: Fraction | None, digits: int | None) -> tuple[type[InputError], str, str] | None:
    """What is wrong with a printed share: the kind of error, what it says, what to do."""
    if value is None:
        return InputError, "is not a number", "Write a plain decimal such as 0.25, or leave it empty"
    remedy = "Write a share from 0 to 1 (counts belong in a column of counts)"
    if value < 0:
        return Contradiction, "is negative", remedy
    if value > 1:
        return Contradiction, "is above 1, that is more than all people", remedy
    if digits is not None and value * 10**digits % 1:
        what = f"has more than the {digits} decimals that the header promises"
        return InputError, what, "Correct 'digits' in the header, or the number"
    return None


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


def _significant(text: str) -> int:
    try:
        return len(Decimal(text.rstrip("% ")).as_tuple().digits)
    except InvalidOperation:
        return 0


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
