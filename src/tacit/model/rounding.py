"""Rounding of counts to a base or of shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from tacit.errors import OptionError
from tacit.model.arrays import Ints
from tacit.model.numbers import Printed, Rounding
from tacit.model.release import Decimals, Itemsets

#: More decimals would not be read back exactly: numbers of 15 digits are taken for doubles in full.
MOST_DECIMALS = 12
#: Larger bases would leave no room to add to a count.
MOST_BASE = 10**15


@dataclass(frozen=True, slots=True)
class Precision:
    """Precision of counts: rounding base, or decimals of shares.

    >>> Precision(base=5).label, Precision(decimals=2).label
    ('base 5', '2 decimals')
    """

    base: int | None = None
    decimals: int | None = None

    def __post_init__(self) -> None:
        if (self.base is None) == (self.decimals is None):
            raise OptionError(
                "give a base or a number of decimals, not both", where="precision", remedy="Leave out --base or --decimals"
            )
        for value, least, most, where in ((self.base, 2, MOST_BASE, "--base"), (self.decimals, 0, MOST_DECIMALS, "--decimals")):
            if value is None:
                continue
            if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value <= most:
                what = f"must be a whole number from {least:,} to {most:,}"
                raise OptionError(what, where=where, remedy=f"Write for instance {where} {3 if least == 0 else 10}")

    @property
    def label(self) -> str:
        """The precision in words."""
        if self.base is not None:
            return f"base {self.base:,}"
        return "1 decimal" if self.decimals == 1 else f"{self.decimals} decimals"

    def step(self, n: int | None) -> Fraction:
        """Return the people between two adjacent printed numbers.

        >>> Precision(decimals=2).step(8124)
        Fraction(2031, 25)
        """
        if self.base is not None:
            return Fraction(self.base)
        return Fraction(_people(n), 10 ** (self.decimals or 0))


def counts_printed_as(printed: Ints, base: int, rounding: Rounding) -> tuple[Ints, Ints]:
    """Return the interval of counts behind each multiple.

    >>> [ends.tolist() for ends in counts_printed_as(np.array([4, 6]), 2, "half-up")]
    [[3, 5], [4, 6]]
    >>> [ends.tolist() for ends in counts_printed_as(np.array([4, 6]), 2, "half-even")]
    [[3, 6], [5, 6]]
    """
    below: int | Ints
    above: int | Ints
    if rounding == "nearest":
        below = above = base // 2
    elif rounding == "half-up":
        below = base // 2
        above = (base - 1) // 2
    elif rounding == "half-even":
        below = above = np.where(printed // base % 2 == 0, base // 2, (base - 1) // 2)
    elif rounding == "up":
        below = base - 1
        above = 0
    elif rounding == "truncated":
        below = 0
        above = base - 1
    else:
        below = above = base - 1
    return np.maximum(printed - below, 0), printed + above


def rounded(release: Itemsets, precision: Precision) -> Itemsets:
    """Round the exact counts of a release to intervals.

    >>> from tacit.model.sets import Items
    >>> from tacit.model.release import Header
    >>> from tacit.model.sets import Sets
    >>> counts = np.array([37])
    >>> exact = Itemsets(Sets.from_lists([[0]]), counts, counts, Items(("a",)), Header(n=100, min_support=30))
    >>> rounded(exact, Precision(base=10)).count(0), rounded(exact, Precision(decimals=1)).count(0)
    (Bound(lo=35, hi=44), Bound(lo=35, hi=44))
    """
    if not release.is_exact:
        where = release.source.name if release.source else "the release"
        remedy = "Give the release with exact counts: rounding twice moves counts further than it says"
        raise OptionError("its counts are rounded already", where=where, remedy=remedy)
    if precision.base is not None:
        return _to_base(release, precision.base)
    return _to_decimals(release, precision.decimals or 0)


def _to_base(release: Itemsets, base: int) -> Itemsets:
    """Round counts to multiples of a base, halves up."""
    printed = (2 * release.lo + base) // (2 * base) * base
    lo, hi = _within(release, *counts_printed_as(printed, base, "half-up"))
    header = replace(release.header, base=base, digits=None, rounding="half-up")
    return replace(release, lo=lo, hi=hi, header=header, support=None, rounded=printed, lines=None, source=None)


def _to_decimals(release: Itemsets, decimals: int) -> Itemsets:
    """Round shares of n to decimals, halves up."""
    n = _people(release.n)
    scale = 10**decimals

    @cache
    def ends(scaled: int) -> tuple[int, int]:
        bound = Printed.around(Fraction(scaled, scale), Fraction(1, scale), "half-up").counts(n)
        assert bound is not None  # the true count prints so
        return bound.lo, bound.hi

    # Whole numbers of any size: 2 * count * 10**12 may pass 63 bits.
    distinct, place = np.unique(release.lo, return_inverse=True)
    scaled = np.array([(2 * count * scale + n) // (2 * n) for count in distinct.tolist()], np.int64)
    pairs = np.array([ends(value) for value in scaled.tolist()], np.int64).reshape(-1, 2)[place]
    lo, hi = _within(release, pairs[:, 0], pairs[:, 1])
    support = Decimals(scaled[place], np.full(len(release), decimals, np.int8))
    header = replace(release.header, base=None, digits=decimals, rounding="half-up")
    return replace(release, lo=lo, hi=hi, header=header, support=support, rounded=None, lines=None, source=None)


def _within(release: Itemsets, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
    """Clip intervals to the threshold and n."""
    lo = np.maximum(lo, release.min_support or 0)
    return lo, hi if release.n is None else np.minimum(hi, release.n)


def _people(n: int | None) -> int:
    """Return the number of people, which shares need."""
    if not n:
        raise OptionError(
            "the number of people is not known", where="--decimals", remedy="Give it with --n, or round to a --base"
        )
    return n
