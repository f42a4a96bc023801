"""Conventions of publishers for numbers and marks in cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.errors import OptionError, nearest_name
from tacit.model.arrays import Ints
from tacit.model.rounding import counts_printed_as

#: The fewest and the most people whom printed numbers stand for; the first above the second where nobody prints such a number.
Ends = tuple[Ints, Ints]
#: No number prints so.
NOTHING = -1


@dataclass(frozen=True, slots=True)
class Convention:
    """Printing of counts by one publisher.

    ``numbers`` turns printed numbers into the counts that they stand for, given below how many people cells are hidden. A hidden cell holds
    from ``least_hidden`` to ``hidden_below - 1`` people (any number where that is None). ``negative`` says that ``-5`` is a mark of a count
    from 1 to 4. ``is_exact`` says that numbers are not rounded, so that totals tell how many people there are. ``deletes_records`` says that
    the people of hidden cells are not in the totals.
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
    """Small counts become 0, others multiples of 5."""
    lo, hi = counts_printed_as(printed, 5, "nearest")
    is_zero = printed == 0
    lo = np.where(is_zero, 0, np.maximum(lo, below))
    hi = np.where(is_zero, below - 1, hi)
    return lo, _where_possible(printed % 5 == 0, hi)


def _midpoint6(printed: Ints, _: int) -> Ends:
    """Ranges of six become midpoints (3, 9, ...); 0 stays."""
    is_zero = printed == 0
    lo = np.where(is_zero, 0, printed - 2)
    hi = np.where(is_zero, 0, printed + 3)
    return lo, _where_possible(is_zero | (printed % 6 == 3), hi)


def _nomis(printed: Ints, _: int) -> Ends:
    """The nearest multiple of 5."""
    lo, hi = counts_printed_as(printed, 5, "nearest")
    return lo, _where_possible(printed % 5 == 0, hi)


def _acro(printed: Ints, below: int) -> Ends:
    """Records of small cells are deleted; these print 0."""
    is_zero = printed == 0
    return np.where(is_zero, 0, np.maximum(printed, below)), np.where(is_zero, below - 1, printed)


def _omop(printed: Ints, _: int) -> Ends:
    """Return printed counts as they are: they are exact."""
    return printed.copy(), printed.copy()


def _rr3(printed: Ints, _: int) -> Ends:
    """Random rounding to an adjacent multiple of 3."""
    lo, hi = counts_printed_as(printed, 3, "random")
    return lo, _where_possible(printed % 3 == 0, hi)


def _where_possible(possible: np.ndarray[tuple[int], np.dtype[np.bool_]], hi: Ints) -> Ints:
    return np.where(possible, hi, NOTHING)


CONVENTIONS: tuple[Convention, ...] = (
    Convention("opensafely", "counts up to 7 are printed as 0 or redacted, others rounded to 5", _opensafely, hidden_below=8),
    Convention("opensafely-midpoint6", "counts are rounded to the midpoints 3, 9, 15, .. of sixes; 0 stays", _midpoint6),
    Convention("nomis", "counts are rounded to the nearest 5", _nomis),
    Convention(
        "acro",
        "people in cells of fewer than 10 are deleted, so that these cells are empty and totals do not count them",
        _acro,
        hidden_below=10,
        deletes_records=True,
    ),
    Convention("omop", "counts from 1 to 4 are printed as -5 or <5", _omop, least_hidden=1, negative=True, is_exact=True),
    Convention("rr3", "counts are rounded by chance to one of the two nearest multiples of 3", _rr3),
)


def find_convention(name: str, *, where: str = "--convention") -> Convention:
    """The convention of a name.

    >>> find_convention("rr3").about
    'counts are rounded by chance to one of the two nearest multiples of 3'
    """
    for one in CONVENTIONS:
        if one.name == name:
            return one
    remedy = nearest_name(str(name), [one.name for one in CONVENTIONS], "conventions")
    raise OptionError("is not a known convention", where=where, remedy=remedy)
