"""Bins: intervals of numbers that take the place of a column's values.

They are written as text: ``10`` is a width (20 to 29, 30 to 39, ..), ``18,30,65`` are edges, ``65+`` is a single edge, ``q4`` are quartiles. An
edge, and a multiple of the width, belongs to the bin above it. Quantiles become edges when the data are read: edge i of q is the smallest
number with at least i/q of the people below it.

Where the numbers of a column and the edges are whole, bins are named 20-29; otherwise ``20 to <30``, and are written ``10.0`` or ``18.0,30.0``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

import numpy as np

from tacit.model.arrays import Flags, Ints
from tacit.model.errors import OptionError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_QUANTILES = re.compile(r"[qQ](\d{1,3})")
_REMEDY = "Write for instance age=10 (a width), age=18,30,65 (edges), age=65+ (one edge) or age=q4 (quartiles)"
MOST_QUANTILES = 100


def parse_number(text: str) -> Fraction | None:
    """Return a plain number exactly, or None.

    >>> parse_number("1.5"), parse_number("n/a")
    (Fraction(3, 2), None)
    """
    return Fraction(text) if _NUMBER.fullmatch(text) else None


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of a column: by a width, at edges, or as many quantiles."""

    column: str
    width: Fraction | None = None
    edges: tuple[Fraction, ...] = ()
    quantiles: int = 0
    is_whole: bool = True

    @classmethod
    def parse(cls, column: str, given: Any, *, where: str = "--bins") -> Bins:
        """Return the bins that a text, a number or a sequence of edges says.

        >>> [Bins.parse("age", given).text for given in (10, "18, 30", [65], "q4", 2.5)]
        ['10', '18,30', '65+', 'q4', '2.5']
        """
        place = f"{where} {column}"
        if isinstance(given, Bins):
            return replace(given, column=column)
        is_listed = not isinstance(given, str) and isinstance(given, Iterable)
        texts = [str(one).strip() for one in given] if is_listed else str(given).strip().split(",")
        if not is_listed and (match := _QUANTILES.fullmatch(texts[0])) and len(texts) == 1:
            if not 2 <= int(match[1]) <= MOST_QUANTILES:
                raise OptionError(f"quantiles are q2 to q{MOST_QUANTILES}", where=place, remedy=_REMEDY)
            return cls(column, quantiles=int(match[1]))
        is_edge = is_listed or len(texts) > 1 or texts[0].endswith("+")
        numbers = [parse_number(text.strip().removesuffix("+") if len(texts) == 1 else text.strip()) for text in texts]
        if not numbers or None in numbers:
            raise OptionError("does not say which numbers belong together", where=place, remedy=_REMEDY)
        known = [number for number in numbers if number is not None]
        is_whole = not any("." in text or "e" in text.casefold() for text in texts) and all(one.denominator == 1 for one in known)
        if is_edge:
            if any(right <= left for left, right in pairwise(known)):
                raise OptionError("its edges do not ascend", where=place, remedy=_REMEDY)
            return cls(column, edges=tuple(known), is_whole=is_whole)
        if known[0] <= 0:
            raise OptionError("its width is not above 0", where=place, remedy=_REMEDY)
        return cls(column, width=known[0], is_whole=is_whole)

    @property
    def text(self) -> str:
        """The bins as an option or a header says them."""
        if self.quantiles:
            return f"q{self.quantiles}"
        texts = [_write(number, always_decimal=not self.is_whole) for number in self.edges or (self.width or Fraction(1),)]
        return f"{texts[0]}+" if len(self.edges) == 1 else ",".join(texts)

    def settle(self, numbers: Mapping[str, Fraction], people: Sequence[int]) -> Bins:
        """Return the bins with quantiles as edges, for numbers and their people.

        Numbers come with how many people have each.
        """
        bins = self
        if self.quantiles and numbers:
            counts: dict[Fraction, int] = {}
            for number, count in zip(numbers.values(), people, strict=True):
                counts[number] = counts.get(number, 0) + count
            n = sum(counts.values())
            below = 0
            edges: list[Fraction] = []
            wanted = [Fraction(n * place, self.quantiles) for place in range(1, self.quantiles)]
            for number in sorted(counts):
                reached = [one for one in wanted if 0 < one <= below]
                if reached:
                    edges.append(number)
                    wanted = [one for one in wanted if one > below]
                below += counts[number]
            bins = replace(self, edges=tuple(edges) or (min(counts),), quantiles=0)
        are_whole = all(number.denominator == 1 for number in (*numbers.values(), *bins.edges))
        return replace(bins, is_whole=bins.is_whole and are_whole)

    def place(self, number: Fraction) -> int:
        """Return the number of the bin that a number is in.

        >>> [Bins.parse("age", "18,65").place(Fraction(age)) for age in (17, 18, 65)]
        [0, 1, 2]
        """
        return bisect_right(self.edges, number) if self.width is None else floor(number / self.width)

    def name(self, place: int) -> str:
        """Return the name of a bin.

        >>> by_ten = Bins.parse("age", 10)
        >>> by_ten.name(2), by_ten.name(-1), Bins.parse("age", "10.0").name(2), Bins.parse("age", 1).name(7)
        ('20-29', '-10 to -1', '20 to <30', '7')
        >>> [Bins.parse("age", "18,30,31").name(place) for place in range(4)]
        ['<18', '18-29', '30', '31+']
        """
        if self.width is not None:
            return self._between(place * self.width, (place + 1) * self.width)
        if place == 0:
            return f"<{_write(self.edges[0])}"
        if place == len(self.edges):
            return f"{_write(self.edges[-1])}+"
        return self._between(self.edges[place - 1], self.edges[place])

    def _between(self, low: Fraction, high: Fraction) -> str:
        if not self.is_whole:
            return f"{_write(low)} to <{_write(high)}"
        if high == low + 1:
            return _write(low)
        return f"{_write(low)}{'-' if low >= 0 else ' to '}{_write(high - 1)}"


def _write(number: Fraction, *, always_decimal: bool = False) -> str:
    """Write a decimal number in full."""
    if number.denominator == 1:
        return f"{number.numerator}.0" if always_decimal else str(number.numerator)
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    return format(Decimal((number * 10**digits).numerator).scaleb(-digits), "f")


def split_option(texts: Iterable[str]) -> dict[str, str]:
    """Return the bins of options ``COLUMN=BINS``, by column.

    >>> split_option(["age=10", "income=q4"])
    {'age': '10', 'income': 'q4'}
    """
    found: dict[str, str] = {}
    for text in texts:
        column, equals, bins = (part.strip() for part in text.rpartition("="))
        if not equals or not column or not bins:
            raise OptionError("is not of the form COLUMN=BINS", where="--bins", remedy=_REMEDY)
        if column in found:
            raise OptionError(f"names column {column!r} twice", where="--bins", remedy="Give each column its bins once")
        found[column] = bins
    return found


def parse_bins(given: Mapping[str, Any] | Iterable[Bins] | None, *, where: str = "--bins") -> tuple[Bins, ...]:
    """Return bins by column, given as :func:`tacit.read_table` takes them."""
    if not given:
        return ()
    if not isinstance(given, Mapping):
        return tuple(given)
    return tuple(Bins.parse(str(column), one, where=where) for column, one in given.items())


def count_people(codes: np.ndarray[Any, np.dtype[np.int32]], values: int, weights: Ints, kept: Flags) -> list[int]:
    """Count the people with each value, of the kept rows."""
    counts = np.zeros(values, np.int64)
    np.add.at(counts, codes[kept], weights[kept])
    return [int(count) for count in counts]
