"""A rule as a pair of whole numbers whose ratio is its confidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.model.number import Printed
from tacit.model.release import Counts

_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Ratio:
    """Confidences from ``lo`` to ``hi`` as pairs of numerator and denominator; an open end is not itself allowed.

    Plain integers instead of fractions, because a release may hold a million rules.
    """

    lo: tuple[int, int]
    hi: tuple[int, int]
    lo_open: bool = False
    hi_open: bool = False

    @classmethod
    def of(cls, printed: Printed | None, least: Fraction, *, strict: bool) -> Ratio:
        """The confidences that print so, are at most 1 and reach the threshold ``least`` (``strict``: exceed it)."""
        lo, lo_open = least, strict and least > 0
        hi, hi_open = Fraction(1), False
        if printed is not None:
            if printed.lo > lo:
                lo, lo_open = printed.lo, printed.lo_open
            elif printed.lo == lo:
                lo_open = lo_open or printed.lo_open
            if printed.hi < hi:
                hi, hi_open = printed.hi, printed.hi_open
        return cls(lo.as_integer_ratio(), hi.as_integer_ratio(), lo_open, hi_open)


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """The confidences of many rules: that of rule ``i`` lies in ``of(index[i])``, unless ``sure[i] >= 0`` already is the only whole."""

    index: npt.NDArray[np.int64]
    of: Callable[[int], Ratio]
    sure: Counts


def people_of_rule(lo: Counts, hi: Counts, whole_lo: Counts, whole_hi: Counts, ratios: Ratios) -> int:
    """Narrow, in place, what each rule says about both its counts; the first rule that nothing fits, or -1.

    Rule ``i`` has from ``lo[i]`` to ``hi[i]`` people with antecedent and consequent, and from ``whole_lo[i]`` to ``whole_hi[i]`` with the
    antecedent.
    """
    known: dict[tuple[int, int, int, int, int], tuple[int, int, int, int] | None] = {}
    open_ones = np.flatnonzero(ratios.sure < 0)
    narrowed = np.stack((lo, hi, ratios.sure, ratios.sure), axis=1)
    ends = (lo, hi, whole_lo, whole_hi, ratios.index)
    for i, (part_lo, part_hi, least, most, number) in zip(
        open_ones.tolist(), np.stack(ends, axis=1)[open_ones].tolist(), strict=True
    ):
        key = (part_lo, part_hi, least, most, number)
        if key not in known:
            known[key] = narrow(part_lo, part_hi, least, most, ratios.of(number))
        found = known[key]
        if found is None:
            return i
        narrowed[i] = found
    lo[:], hi[:], whole_lo[:], whole_hi[:] = narrowed.T
    return -1


def sure_wholes(
    lo: Counts, hi: Counts, whole_lo: Counts, whole_hi: Counts, confidence: npt.NDArray[np.float64], least: float
) -> Counts:
    """For each rule with an exact count the only whole that its confidence, a double in full, allows; -1 where that takes exact arithmetic.

    The nearest whole is the one when its quotient is the printed double, or a neighbour of it, and the next wholes are far off.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.rint(lo / confidence)
        fits = np.abs(lo / whole - confidence) <= confidence * 2.0**-52
        apart = lo / whole - lo / (whole + 1) > 1e-12
        sure = (lo == hi) & (lo > 0) & fits & apart & (confidence > least + 1e-12) & (whole_lo <= whole) & (whole <= whole_hi)
    return np.where(sure, whole, -1).astype(np.int64)


def narrow(lo: int, hi: int, whole_lo: int, whole_hi: int, ratio: Ratio) -> tuple[int, int, int, int] | None:
    """Tighter ends for: part in [lo, hi], whole in [whole_lo, whole_hi], part/whole in the ratio; None when nothing fits.

    The ends are the tightest ones, each taken by some fitting pair, unless the ratio is so narrow that finding them takes too many steps:
    then they are still true, only wider.

    >>> narrow(45, 55, 0, 1000, Ratio.of(Printed.read("0.98"), Fraction(0), strict=False))
    (45, 55, 46, 56)
    """
    (low, low_of), (high, high_of) = ratio.lo, ratio.hi
    for _ in range(_MOST_STEPS):
        # low * whole <= part <= high * whole; an open end excludes equality.
        fresh_whole_lo, fresh_whole_hi = whole_lo, whole_hi
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
