"""Printed numbers as intervals of counts.

A count is exact. A share stands for the counts that print so among n people; its precision shows in its column
(:func:`tacit.model.numbers.column_steps`), unless a header gives the number of decimals. A header also promises that every published line
reaches its thresholds. A rule is read as a pair of counts, antecedent and consequent together and antecedent alone, whose ratio is the
confidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, partial
from math import ceil, floor
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tacit.files.printout import Printout, TextColumn
from tacit.files.rule_measures import not_implied
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.errors import Contradiction, InputError, OptionError
from tacit.model.numbers import DOUBLE_DIGITS, NEAREST, Printed, Rounding, column_steps
from tacit.model.release import Decimals, Header, Itemsets, Listed, Only, Rules, Source
from tacit.model.rounding import counts_printed_as

_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Ratio:
    """Confidences from ``lo`` to ``hi`` as numerator and denominator.

    An open end is excluded. Plain integers, because a release may hold a million rules.
    """

    lo: tuple[int, int]
    hi: tuple[int, int]
    lo_open: bool = False
    hi_open: bool = False

    @classmethod
    def of(cls, printed: Printed | None, least: Fraction, *, strict: bool) -> Ratio:
        """Return the confidences that print so, at least ``least``.

        They are at most 1; ``strict`` means that they exceed the threshold.
        """
        lo = least
        lo_open = strict and least > 0
        hi = Fraction(1)
        hi_open = False
        if printed is not None:
            # Of equal ends, an open one is the larger.
            lo, lo_open = max((lo, lo_open), (printed.lo, printed.lo_open))
            if printed.hi < hi:
                hi = printed.hi
                hi_open = printed.hi_open
        return cls(lo.as_integer_ratio(), hi.as_integer_ratio(), lo_open, hi_open)


def sure_wholes(lo: Ints, hi: Ints, whole_lo: Ints, whole_hi: Ints, confidence: npt.NDArray[np.float64], least: float) -> Ints:
    """Return each confidence's only antecedent count, or -1.

    -1 means that exact arithmetic must decide. The nearest integer is the one if its quotient is the printed double or a neighbour
    of it, and the next integers are far off.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.rint(lo / confidence)
        fits = np.abs(lo / whole - confidence) <= confidence * 2.0**-52
        apart = lo / whole - lo / (whole + 1) > 1e-12
        sure = (lo == hi) & (lo > 0) & fits & apart & (confidence > least + 1e-12) & (whole_lo <= whole) & (whole <= whole_hi)
    return np.where(sure, whole, -1).astype(np.int64)


def narrow(lo: int, hi: int, whole_lo: int, whole_hi: int, ratio: Ratio) -> tuple[int, int, int, int] | None:
    """Return the tightest ends of a rule's counts, or None.

    The part is in [lo, hi], the whole in [whole_lo, whole_hi], and part/whole in the ratio. If the ratio is so narrow that this takes too many
    steps, the ends are wider, but still true.
    """
    (low, low_of) = ratio.lo
    (high, high_of) = ratio.hi
    for _ in range(_MOST_STEPS):
        # low * whole <= part <= high * whole; an open end excludes equality.
        fresh_whole_lo = whole_lo
        fresh_whole_hi = whole_hi
        if high > 0:
            fresh_whole_lo = max(whole_lo, lo * high_of // high + 1 if ratio.hi_open else -(-lo * high_of // high))
        if low > 0:
            fresh_whole_hi = min(whole_hi, -(-hi * low_of // low) - 1 if ratio.lo_open else hi * low_of // low)
        fresh_lo = max(lo, low * fresh_whole_lo // low_of + 1 if ratio.lo_open else -(-low * fresh_whole_lo // low_of))
        fresh_hi = min(hi, -(-high * fresh_whole_hi // high_of) - 1 if ratio.hi_open else high * fresh_whole_hi // high_of)
        if fresh_lo > fresh_hi or fresh_whole_lo > fresh_whole_hi:
            return None
        fresh = (fresh_lo, fresh_hi, fresh_whole_lo, fresh_whole_hi)
        if fresh == (lo, hi, whole_lo, whole_hi):
            break
        lo, hi, whole_lo, whole_hi = fresh
    return lo, hi, whole_lo, whole_hi


Place = Callable[[int, str], str]

#: Decimals keep a printed number in 64 bits; digits beyond these are dropped from what is shown, never from what is concluded.
_KEPT_DIGITS = 18
_DOUBLE_PEOPLE = 2**40  #: Below this many people two counts are further apart than the doubles that could be printed for either.
#: How far from a whole number a product must lie to be surely on its side: doubles below 2**40 are this precise many times over.
_DOUBT = 1e-2
#: Shares that must be printed for n to follow from them; the largest n that is tried, and how many at a time.
_LEAST_SHARES = 20
_MOST_PEOPLE = 10_000_000
_PEOPLE_AT_ONCE = 500_000
#: The chance, as a power of ten, that some smaller number explains all shares as well.
_LOG_CHANCE = -6
_FINE = 1 / 3  #: The chance that one share fits by itself; only smaller ones count as independent.
_PLAIN = re.compile(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Printed shares; line ``i`` has text ``index[i]``.

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

    def given(self) -> Flags:
        """Return flags of the lines that print something."""
        return ~np.isnan(self.floats)[self.index]

    def printed(self, number: int) -> Printed | None:
        """Return the values that print as distinct text ``number``."""
        if not self.texts[number]:
            return None
        if number not in self.known:
            value = _value(self.texts[number])
            assert value is not None
            if self.digits is not None:
                step = Fraction(1, 10**self.digits)
            elif self.in_full:
                step = value / 2**50
            else:
                step = column_steps([self.texts[number], *self.widest])[0]
            # Programs round the double nearest to a share, not the share itself: close to the middle between two prints that can
            # turn the last digit.
            slack = Fraction(1, 2**50) if self.rounding == "nearest" else Fraction(0)
            self.known[number] = Printed.around(value, step + value * slack, self.rounding)
        return self.known[number]

    def counts(self, n: int, place: Place) -> tuple[Ints, Ints]:
        """Return the counts of ``n`` that print so: all where nothing is printed."""
        sure_lo, sure_hi = self.sure_counts(n)
        sure = sure_lo >= 0
        lo = np.where(sure, sure_lo, 0)
        hi = np.where(sure, sure_hi, n)
        for number in np.flatnonzero(~sure & ~np.isnan(self.floats)).tolist():
            entry = self.printed(number)
            bound = entry.counts(n) if entry is not None else None
            if bound is None:
                where = place(int(np.flatnonzero(self.index == number)[0]), self.column.name)
                remedy = "Correct the number or n, or say how numbers were printed (--rounding truncated or unknown)"
                raise Contradiction(f"no whole number of people among n = {n} prints so", where=where, remedy=remedy)
            lo[number] = bound.lo
            hi[number] = bound.hi
        return lo[self.index], hi[self.index]

    def sure_counts(self, n: int) -> tuple[Ints, Ints]:
        """Return the ends that floating point finds beyond doubt.

        -1 means that exact arithmetic must decide. A full double stands for the nearest count if that count's quotient is the printed double
        or a neighbour. Ends of a rounded decimal are certain if they lie well between two counts.
        """
        lo = np.full(len(self.texts), -1, np.int64)
        hi = np.full(len(self.texts), -1, np.int64)
        if not 0 < n < _DOUBLE_PEOPLE or self.rounding in ("truncated", "up"):
            return lo, hi
        floats = np.nan_to_num(self.floats, nan=-1.0)
        if self.is_double:
            nearest = np.rint(floats * n)
            sure = (np.abs(nearest / n - floats) <= floats * 2.0**-52) & (floats > 0)
            lo[sure] = hi[sure] = nearest[sure].astype(np.int64)
            return lo, hi
        reach = self.steps / (2 if self.rounding in NEAREST else 1)
        least = (floats - reach) * n
        most = (floats + reach) * n
        sure = (np.abs(least - np.rint(least)) > _DOUBT) & (np.abs(most - np.rint(most)) > _DOUBT) & (floats >= 0)
        first = np.maximum(np.ceil(least), 0)
        last = np.minimum(np.floor(most), n)
        sure &= first <= last
        lo[sure] = first[sure].astype(np.int64)
        hi[sure] = last[sure].astype(np.int64)
        return lo, hi

    def as_doubles(self, n: int) -> Shares:
        """Return the texts as doubles if all are quotients by ``n``.

        Not where all these counts have a common divisor that so many hardly share by chance: then they were rounded.
        """
        if self.is_double or self.digits is not None:
            return self
        counts = self._nearest_counts(n, 2.0**-52)
        if counts is None or _common_divisor(counts, n)[1] < 1e-5:
            return self
        return replace(self, is_double=True, in_full=True)

    def common_divisor(self, n: int) -> int:
        """Return a significant common divisor of ``n`` and all counts."""
        counts = self._nearest_counts(n, 2.0**-51)
        if counts is None:
            return 1
        divisor, chance = _common_divisor(counts, n)
        return divisor if chance < 1e-9 else 1

    def _nearest_counts(self, n: int, doubt: float) -> Floats | None:
        """Return the counts of positive shares; None if a quotient by ``n`` is off."""
        positive = self.floats[self.floats > 0]
        if not len(positive) or not 0 < n < _DOUBLE_PEOPLE:
            return None
        counts = np.rint(positive * n)
        return counts if bool((np.abs(counts / n - positive) <= positive * doubt).all()) else None

    def people(self) -> int | None:
        """Return the smallest n explaining all shares, or None.

        Twenty different counts hardly have a common divisor, so that the number is the true one and not a part of it.
        """
        between = (self.floats > 0) & (self.floats < 1)
        inside = self.floats[between]
        # Workbooks keep 16 digits of a double, or 15: up to four doubles away.
        reach = inside * 2.0**-50 if self.is_double else self.steps[between] / (2 if self.rounding == "nearest" else 1)
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
                chances = 2 * reach * n
                # Where the steps of the last digits are not much finer than those of 1/n, neighbouring shares fit together or not at all.
                odds = np.log10(chances[chances <= _FINE]).sum() + np.log10(n)
                return n if odds < _LOG_CHANCE else None
        return None

    def are_quotients_of(self, counts: Ints, counted: Flags) -> bool:
        """Tell if each text is its printed count over an integer."""
        given = np.flatnonzero(self.given())
        if not counted[given].all():
            return False
        for count, number in set(zip(counts[given].tolist(), self.index[given].tolist(), strict=True)):
            share = float(self.floats[number])
            if share <= 0 or count <= 0 or count / max(1, round(count / share)) != share:
                return False
        return True

    def decimals(self) -> Decimals:
        """Return the printed texts as decimals."""
        kept = [_decimal_parts(text, self.digits) for text in self.texts]
        scaled = np.array([part[0] for part in kept], np.int64)
        digits = np.array([part[1] for part in kept], np.int8)
        return Decimals(scaled[self.index], digits[self.index])


def _common_divisor(counts: Floats, n: int) -> tuple[int, float]:
    """Return the common divisor of counts and n, and its probability by chance."""
    divisor = int(np.gcd.reduce(np.append(counts.astype(np.int64), n)))
    different = len(np.unique(counts[counts < n]))
    return divisor, 1.0 if divisor == 1 else float(divisor) ** -min(different, 300)


def read_shares(column: TextColumn, *, rounding: Rounding, digits: int | None, place: Place) -> Shares:
    """Read a column of shares from 0 to 1."""
    numbers: dict[str, int] = {}
    index = np.fromiter((numbers.setdefault(text, len(numbers)) for text in column.texts), np.int64, len(column.texts))
    texts = [text.strip() for text in numbers]
    floats = np.full(len(texts), np.nan)
    # Decimals, digits, and the power of ten of the first digit.
    shape = np.zeros((3, len(texts)), np.int64)
    percent = np.zeros(len(texts), bool)

    def first_place(number: int) -> str:
        return place(int(np.flatnonzero(index == number)[0]), column.name)

    for number, text in enumerate(texts):
        if not text:
            continue
        floats[number] = _check_share(text, digits, partial(first_place, number))
        percent[number] = text.endswith("%")
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
    return Shares(
        column,
        index,
        texts,
        floats,
        is_double=is_double,
        digits=digits,
        rounding=mode,
        widest=(widest[0], widest[1]),
        steps=steps,
    )


def _check_share(text: str, digits: int | None, where: Callable[[], str]) -> float:
    if digits is None and _PLAIN.fullmatch(text) and float(text) <= 1:
        return float(text)
    value = _value(text)
    if value is None:
        remedy = "Write a plain decimal such as 0.25, or leave it empty"
        raise InputError("is not a number", where=where(), remedy=remedy)
    if not 0 <= value <= 1:
        what = "is negative" if value < 0 else "is above 1, that is more than all people"
        remedy = "Write a share from 0 to 1 (counts belong in a column of counts)"
        raise Contradiction(what, where=where(), remedy=remedy)
    if digits is not None and value * 10**digits % 1:
        what = f"has more than the {digits} decimals that the header promises"
        raise InputError(what, where=where(), remedy="Correct 'digits' in the header, or the number")
    return float(value)


def read_counts(column: TextColumn, place: Place) -> tuple[Ints, Flags]:
    """Return whole numbers, and flags of their lines."""
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
    """Return a number as (scaled, digits), with digits -1 if empty."""
    if not text:
        return 0, -1
    percent = text.endswith("%")
    decimal = Decimal(text[:-1].strip() if percent else text)
    parts = decimal.as_tuple()
    scaled = int("".join(map(str, parts.digits)))
    digits = -cast(int, parts.exponent) + (2 if percent else 0)
    if promised is not None:
        return int(Fraction(scaled) * Fraction(10) ** (promised - digits)), promised
    if digits < 0:
        return scaled * 10**-digits, 0
    surplus = max(len(parts.digits) - _KEPT_DIGITS, digits - 100, 0)
    return scaled // 10**surplus, digits - surplus


L = TypeVar("L", bound=Listed)


def selected(release: L, index: Ints) -> L:
    """Return the lines at these positions, in order."""
    lines = np.array([release.line(int(i)) for i in index], np.int64) if release.lines is None else release.lines[index]
    kept: Any = release.take(index, release.header)
    chosen: L = replace(kept, lines=lines, source=release.source)
    return chosen


_UNBOUNDED = 2**61  #: Stands for "no upper end" while n is unknown; it never leaves this module.


def build(printout: Printout, *, n: int | None, only: Only | None, source: Source | None) -> Listed:
    """Return a printout's release; ``n`` is for files that lack it."""
    reading = _Reading(printout)
    people, origin = reading.people(n)
    header = replace(printout.header, n=people, n_from=origin)
    reading.settle(people, "--n" if n is not None else printout.where)
    if printout.consequents is None:
        return reading.itemsets(header, only or printout.only, source)
    return reading.rules(header, source)


def one_n(said: int | None, given: int | None, *, where: str) -> int | None:
    """Return n; raise if file and caller differ."""
    if said is not None and given is not None and said != given:
        raise OptionError(f"is {given}, but {where} says n = {said}", where="--n", remedy="Leave --n out, or correct the file")
    return said if given is None else given


class _Reading:
    """Numbers of one printout, parsed."""

    def __init__(self, printout: Printout) -> None:
        self.printout = printout
        self.support = self._shares(printout.support)
        self.confidence = self._shares(printout.confidence)
        self.whole_support = self._shares(printout.whole_support)
        self.count, self.counted = self._counts(printout.count)
        shares = self.confidence
        if printout.exact and shares is not None and shares.are_quotients_of(self.count, self.counted):
            self.confidence = replace(shares, is_double=True, in_full=True)
        self.whole_count, self.whole_counted = self._counts(printout.whole_count)

    def _shares(self, column: TextColumn | None) -> Shares | None:
        if column is None:
            return None
        header = self.printout.header
        return read_shares(column, rounding=header.rounding, digits=header.digits, place=self.printout.place)

    def _counts(self, column: TextColumn | None) -> tuple[Ints, Flags]:
        size = len(self.printout.lines)
        if column is None:
            return np.zeros(size, np.int64), np.zeros(size, bool)
        return read_counts(column, self.printout.place)

    def _contradiction(self, line: int, what: str, remedy: str, column: str = "") -> Contradiction:
        lines = [int(self.printout.lines[line])]
        return Contradiction(what, where=self.printout.place(line, column), lines=lines, remedy=remedy)

    def _refuse(self, wrong: Flags, what: str, remedy: str, column: str = "") -> None:
        """Raise about the first wrong line, if any."""
        for line in np.flatnonzero(wrong)[:1].tolist():
            raise self._contradiction(line, what, remedy, column)

    # The number of people

    def people(self, given: int | None) -> tuple[int | None, str]:
        """Return n, and its source if it was inferred."""
        n = one_n(self.printout.header.n, given, where=self.printout.where)
        if n is not None or self.printout.header.base is not None:
            return n, ""
        if (n := self._people_of_nothing()) is not None:
            return n, "the count of the set that everybody has"
        if (n := self._people_of_pairs()) is not None:
            return n, "the only number that fits the counts and supports printed together"
        for shares in (self.support, self.whole_support):
            # They are quotients of whole numbers by one n, and no other n explains so many of them.
            if shares is not None and (n := shares.people()) is not None:
                return n, "the only number that fits the printed supports"
        return None, ""

    def settle(self, n: int | None, where: str) -> None:
        """Read short shares as exact; refuse a multiple of the true n."""
        if n is None:
            return
        if self.printout.in_full:
            self.support = None if self.support is None else self.support.as_doubles(n)
            self.whole_support = None if self.whole_support is None else self.whole_support.as_doubles(n)
        if self.counted.any() or self.whole_counted.any():
            return  # counts that are printed say themselves how many people there are
        for shares in (self.support, self.whole_support):
            if shares is not None and shares.is_double and (times := shares.common_divisor(n)) > 1:
                what = f"is {n:,}, but all printed supports are multiples of {times:,} people: {n // times:,} people explain them"
                remedy = "Correct it" if where != "--n" else "Leave it out, or correct it"
                raise OptionError(what, where=where, remedy=remedy)

    def _people_of_nothing(self) -> int | None:
        is_rules = self.printout.consequents is not None
        counted = self.whole_counted if is_rules else self.counted
        lines = np.flatnonzero((self.printout.sets.lengths == 0) & counted)
        return int((self.whole_count if is_rules else self.count)[lines[0]]) if len(lines) else None

    def _people_of_pairs(self) -> int | None:
        """Return the only n that fits lines with both count and share."""
        if self.support is None:
            return None
        least = Fraction(0)
        most = None
        for line in np.flatnonzero(self.counted & (self.count > 0)).tolist():
            printed = self.support.printed(int(self.support.index[line]))
            if printed is None or printed.hi <= 0:
                continue
            count = int(self.count[line])
            least = max(least, count / printed.hi)
            if printed.lo > 0:
                most = count / printed.lo if most is None else min(most, count / printed.lo)
            if most is not None and (least > most or most - least < 1):
                first = ceil(least)
                last = floor(most)
                if first > last:
                    what = "count and support fit no number of people that the lines before allow"
                    raise self._contradiction(line, what, "Correct the line, or give the number of people with --n")
                if first == last:
                    return first
        return None

    # Itemsets

    def itemsets(self, header: Header, only: Only, source: Source | None) -> Itemsets:
        """Return the itemsets without the empty one, which says only n."""
        lo, hi = self._people_of_lines(header)
        self._check_ends(hi)
        if header.complete and header.min_support is None and len(hi) and (only != "maximal" or bool((lo == hi).all())):
            # Every listed set reaches the threshold, whatever it is: what is missing lies below the smallest count.
            header = replace(header, min_support=int(hi.min()))
        rounded = self.count if header.base is not None and bool(self.counted.any()) else None
        support = self._shares_to_keep(lo, hi) if rounded is None else None
        printout = self.printout
        release = Itemsets(
            printout.sets,
            lo,
            hi,
            printout.items,
            header=header,
            only=only,
            support=support,
            rounded=rounded,
            lines=printout.lines,
            source=source,
        )
        empty = printout.sets.lengths == 0
        if not empty.any():
            return release
        if header.n is not None:
            what = f"the empty set, which everybody has, is not given to n = {header.n} people"
            self._refuse(empty & ((lo > header.n) | (header.n > hi)), what, "Correct the line or n")
        return selected(release, np.flatnonzero(~empty))

    def _people_of_lines(self, header: Header) -> tuple[Ints, Ints]:
        """Return the counts that each line allows by itself."""
        least = header.min_support or 0
        size = len(self.printout.lines)
        most = _UNBOUNDED if header.n is None else header.n
        lo = np.full(size, least, np.int64)
        hi = np.full(size, most, np.int64)
        if self.support is not None and bool((self.support.given() & ~self.counted).any()):
            share_lo, share_hi = self._share_counts(self.support, header, self.support.given() & ~self.counted)
            lo = np.maximum(lo, share_lo)
            hi = np.minimum(hi, share_hi)
        count_lo = self.count
        count_hi = self.count
        if header.base is not None:
            count_lo, count_hi = counts_printed_as(self.count, header.base, header.rounding)
        self._check_counts(header, count_lo, count_hi)
        lo = np.where(self.counted, np.maximum(count_lo, least), lo)
        hi = np.where(self.counted, np.minimum(count_hi, most), hi)
        what = f"no whole number of people prints so and reaches the min_support of {least} that the header gives"
        self._refuse(lo > hi, what, "Correct the line or the header")
        return lo, hi

    def _share_counts(self, shares: Shares, header: Header, needed: Flags) -> tuple[Ints, Ints]:
        """Return the counts that print as these shares, or ask for n."""
        if header.n is None:
            where = self.printout.place(int(np.flatnonzero(needed)[0]), shares.column.name)
            remedy = "Give the data with --data, or the number of people with --n N (Python: n=N)"
            error = InputError("is a share, and the file does not say of how many people", where=where, remedy=remedy)
            error.asks_for = "n"
            raise error
        return shares.counts(header.n, self.printout.place)

    def _check_counts(self, header: Header, lo: Ints, hi: Ints) -> None:
        """Raise unless counts fit n, rounding base and shares."""
        name = self.printout.count.name if self.printout.count is not None else ""
        if header.base is not None:
            what = f"the count is not a multiple of {header.base}, the base that the header gives"
            self._refuse(self.counted & (self.count % header.base != 0), what, "Correct the line or the header", name)
            silent = np.flatnonzero(~self.counted)
            if len(silent) and bool(self.counted.any()):
                what = "the count is withheld, where the header says that counts are rounded"
                remedy = "Print the rounded count, or leave the line out"
                raise InputError(what, where=self.printout.place(int(silent[0]), name), remedy=remedy)
        if header.n is None:
            return
        self._refuse(self.counted & (lo > header.n), f"the count is above n = {header.n}", "Correct the line or n", name)
        if self.support is None or not header.n:
            return
        # A count whose double is printed needs no further look.
        is_printed = self.support.floats[self.support.index] == self.count / header.n
        both = np.flatnonzero(self.counted & self.support.given() & ~(is_printed & (header.base is None)))
        # The same count prints the same share again and again: each pair is looked at once.
        number = np.unique(self.count[both], return_inverse=True)[1]
        texts = len(self.support.texts)
        for pair, first in zip(*np.unique(number * texts + self.support.index[both], return_index=True), strict=True):
            printed = self.support.printed(int(pair % texts))
            bound = printed.counts(header.n) if printed is not None else None
            line = int(both[first])
            if bound is None or bound.lo > hi[line] or bound.hi < lo[line]:
                what = f"the support does not print the count's share of n = {header.n}"
                raise self._contradiction(line, what, "Correct the count, the support or n", self.support.column.name)

    def _check_ends(self, hi: Ints) -> None:
        endless = np.flatnonzero(hi >= _UNBOUNDED)
        if len(endless):
            what = "cannot be read without the number of people, which the file does not give"
            remedy = "Give the number of people with --n N (Python: n=N)"
            raise InputError(what, where=self.printout.place(int(endless[0])), remedy=remedy)

    def _shares_to_keep(self, lo: Ints, hi: Ints) -> Decimals | None:
        """Return the printed supports unless counts determine them."""
        shares = self.support
        if shares is None or not bool((shares.given() & ~self.counted).any()):
            return None
        return None if shares.is_double and bool((lo == hi).all()) else shares.decimals()

    # Rules

    def rules(self, header: Header, source: Source | None) -> Rules:
        printout = self.printout
        assert printout.consequents is not None
        lo, hi = self._people_of_lines(header)
        whole_lo, whole_hi = self._people_of_antecedents(header)
        everybody = printout.sets.lengths == 0
        if header.n is not None:
            whole_lo[everybody] = np.maximum(whole_lo[everybody], header.n)
        if self.confidence is not None:
            # A confidence of an antecedent that nobody has cannot be printed.
            whole_lo = np.maximum(whole_lo, self.confidence.given())
        self._narrow_rules(header, lo, hi, whole_lo, whole_hi)
        self._check_ends(np.maximum(hi, whole_hi))
        confidence = None
        if self.confidence is not None and bool(self.confidence.given().any()):
            exact = bool((lo == hi).all() and (whole_lo == whole_hi).all())
            confidence = None if self.confidence.is_double and exact else self.confidence.decimals()
        made = Rules(
            printout.sets,
            printout.consequents,
            lo,
            hi,
            whole_lo=whole_lo,
            whole_hi=whole_hi,
            items=printout.items,
            header=header,
            support=self._shares_to_keep(lo, hi),
            confidence=confidence,
            lines=printout.lines,
            source=source,
        )
        return replace(made, header=self._with_measures(made)) if printout.derived else made

    def _with_measures(self, rules: Rules) -> Header:
        """Return a header that names the first measure that says more, and those that do not."""
        header = rules.header
        columns = {column.name: column.texts for column in self.printout.derived}
        beyond = not_implied(rules, columns)
        unread = tuple(name for name in beyond[:1] if name not in header.ignored)
        if beyond:
            return replace(header, unread=(*unread, *header.unread))
        told = f"{', '.join(columns)}: derived from the supports, which are read."
        return replace(header, assumed=(*header.assumed, told))

    def _people_of_antecedents(self, header: Header) -> tuple[Ints, Ints]:
        size = len(self.printout.lines)
        most = _UNBOUNDED if header.n is None else header.n
        lo = np.zeros(size, np.int64)
        hi = np.full(size, most, np.int64)
        if self.whole_support is not None and bool(self.whole_support.given().any()):
            lo, hi = self._share_counts(self.whole_support, header, self.whole_support.given())
        if self.printout.whole_count is not None:
            above = self.whole_counted & (self.whole_count > most)
            what = f"the count is above n = {header.n}"
            self._refuse(above, what, "Correct the line or n", self.printout.whole_count.name)
            lo = np.where(self.whole_counted, self.whole_count, lo)
            hi = np.where(self.whole_counted, self.whole_count, hi)
        return lo, hi

    def _narrow_rules(self, header: Header, lo: Ints, hi: Ints, whole_lo: Ints, whole_hi: Ints) -> None:
        """Narrow both counts of each rule, in place, to what its confidence allows."""
        least = header.min_confidence or Fraction(0)
        shares = self.confidence

        @cache
        def ratio_of(number: int) -> Ratio:
            return Ratio.of(None if shares is None else shares.printed(number), least, strict=header.strict)

        @cache
        def ends_of(part_lo: int, part_hi: int, fewest: int, most: int, number: int) -> tuple[int, int, int, int] | None:
            return narrow(part_lo, part_hi, fewest, most, ratio_of(number))

        index = np.zeros(len(lo), np.int64) if shares is None else shares.index
        sure = np.full(len(lo), -1, np.int64)
        if shares is not None and shares.is_double:
            sure = sure_wholes(lo, hi, whole_lo, whole_hi, confidence=shares.floats[index], least=float(least))
        narrowed = np.stack((lo, hi, sure, sure), axis=1)
        open_ones = np.flatnonzero(sure < 0)
        printed = np.stack((lo, hi, whole_lo, whole_hi, index), axis=1)[open_ones]
        for line, ends in zip(open_ones.tolist(), printed.tolist(), strict=True):
            found = ends_of(*ends)
            if found is None:
                what = "no whole numbers of people fit all that the line prints and the thresholds of the header"
                remedy = "Correct the line, the header or n, or say how numbers were printed (--rounding truncated or unknown)"
                raise self._contradiction(line, what, remedy)
            narrowed[line] = found
        lo[:], hi[:], whole_lo[:], whole_hi[:] = narrowed.T
