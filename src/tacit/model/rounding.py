"""Rounding of counts and shares, and conventions of publishers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from tacit.model.arrays import Ints
from tacit.model.errors import OptionError, nearest_name
from tacit.model.numbers import Printed, Rounding
from tacit.model.release import Decimals, Itemsets

MOST_DECIMALS = 12  #: More decimals would not be read back exactly: numbers of 15 digits are taken for doubles in full.
MOST_BASE = 10**15  #: Larger bases would leave no room to add to a count.


@dataclass(frozen=True, slots=True)
class Precision:
    """Precision of counts: rounding base, or decimals of shares."""

    base: int | None = None
    decimals: int | None = None

    def __post_init__(self) -> None:
        if (self.base is None) == (self.decimals is None):
            what = "give a base or a number of decimals, not both"
            raise OptionError(what, where="precision", remedy="Leave out --base or --decimals")
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
        """Return the people between two adjacent printed numbers."""
        if self.base is not None:
            return Fraction(self.base)
        return Fraction(_people(n), 10 ** (self.decimals or 0))


def counts_printed_as(printed: Ints, base: int, rounding: Rounding) -> tuple[Ints, Ints]:
    """Return the interval of counts behind each multiple."""
    half = base // 2
    less_than_half = (base - 1) // 2
    below_and_above: dict[Rounding, tuple[int | Ints, int | Ints]] = {
        "nearest": (half, half),
        "half-up": (half, less_than_half),
        "up": (base - 1, 0),
        "truncated": (0, base - 1),
    }
    below, above = below_and_above.get(rounding, (base - 1, base - 1))
    if rounding == "half-even":
        below = above = np.where(printed // base % 2 == 0, half, less_than_half)
    return np.maximum(printed - below, 0), printed + above


def rounded(release: Itemsets, precision: Precision) -> Itemsets:
    """Round the exact counts of a release to intervals."""
    if not release.is_exact:
        where = release.source.name if release.source else "the release"
        remedy = "Give the release with exact counts: rounding twice moves counts further than it says"
        raise OptionError("its counts are rounded already", where=where, remedy=remedy)
    printed = None
    support = None
    if precision.base is not None:
        printed = (2 * release.lo + precision.base) // (2 * precision.base) * precision.base
        lo, hi = counts_printed_as(printed, precision.base, "half-up")
    else:
        lo, hi, support = _print_shares(release, precision.decimals or 0)
    lo = np.maximum(lo, release.min_support or 0)
    hi = hi if release.n is None else np.minimum(hi, release.n)
    header = replace(release.header, base=precision.base, digits=precision.decimals, rounding="half-up")
    return replace(release, lo=lo, hi=hi, header=header, support=support, rounded=printed, lines=None, source=None)


def _print_shares(release: Itemsets, decimals: int) -> tuple[Ints, Ints, Decimals]:
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
    return pairs[:, 0], pairs[:, 1], Decimals(scaled[place], np.full(len(release), decimals, np.int8))


def _people(n: int | None) -> int:
    if not n:
        remedy = "Give it with --n, or round to a --base"
        raise OptionError("the number of people is not known", where="--decimals", remedy=remedy)
    return n


#: The fewest and the most people whom printed numbers stand for; the first above the second where nobody prints such a number.
Ends = tuple[Ints, Ints]
NOTHING = -1  #: No number prints so.


@dataclass(frozen=True, slots=True)
class Convention:
    """Printing of counts by one publisher.

    ``numbers`` turns printed numbers into counts, given below how many people cells are hidden. A hidden cell holds from ``least_hidden`` to
    ``hidden_below - 1`` people (any number where that is None). ``negative``: ``-5`` is a mark of a count from 1 to 4. ``deletes_records``: the
    people of hidden cells are not in the totals.
    """

    name: str
    about: str
    numbers: Callable[[Ints, int], Ends]
    hidden_below: int | None = None
    least_hidden: int = 0
    negative: bool = False
    is_exact: bool = False
    deletes_records: bool = False


def _opensafely(printed: Ints, below: int) -> Ends:
    lo, hi = _multiples(5, "nearest")(printed, below)
    is_zero = printed == 0
    return np.where(is_zero, 0, np.maximum(lo, below)), np.where(is_zero, below - 1, hi)


def _midpoint6(printed: Ints, _: int) -> Ends:
    is_zero = printed == 0
    hi = np.where(is_zero, 0, printed + 3)
    return np.where(is_zero, 0, printed - 2), np.where(is_zero | (printed % 6 == 3), hi, NOTHING)


def _acro(printed: Ints, below: int) -> Ends:
    is_zero = printed == 0
    return np.where(is_zero, 0, np.maximum(printed, below)), np.where(is_zero, below - 1, printed)


def _exact(printed: Ints, _: int) -> Ends:
    return printed.copy(), printed.copy()


def _multiples(base: int, rounding: Rounding) -> Callable[[Ints, int], Ends]:
    def numbers(printed: Ints, _: int) -> Ends:
        lo, hi = counts_printed_as(printed, base, rounding)
        return lo, np.where(printed % base == 0, hi, NOTHING)

    return numbers


CONVENTIONS: tuple[Convention, ...] = (
    Convention("opensafely", "counts up to 7 are printed as 0 or redacted, others rounded to 5", _opensafely, hidden_below=8),
    Convention("opensafely-midpoint6", "counts are rounded to the midpoints 3, 9, 15, .. of sixes; 0 stays", _midpoint6),
    Convention("nomis", "counts are rounded to the nearest 5", _multiples(5, "nearest")),
    Convention(
        "acro",
        "people in cells of fewer than 10 are deleted, so that these cells are empty and totals do not count them",
        _acro,
        hidden_below=10,
        deletes_records=True,
    ),
    Convention("omop", "counts from 1 to 4 are printed as -5 or <5", _exact, least_hidden=1, negative=True, is_exact=True),
    Convention("rr3", "counts are rounded by chance to one of the two nearest multiples of 3", _multiples(3, "random")),
)


def find_convention(name: str, *, where: str = "--convention") -> Convention:
    """The convention of a name."""
    for one in CONVENTIONS:
        if one.name == name:
            return one
    remedy = nearest_name(str(name), [one.name for one in CONVENTIONS], "conventions")
    raise OptionError("is not a known convention", where=where, remedy=remedy)
