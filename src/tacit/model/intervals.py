"""Labels that are intervals of a number, such as ``[6, 7)``, ``(18.0, 27.5]`` and ``12 or more``.

An interval lies between two cuts. A cut is a number and a side: 0 just below the number, 1 just above it. So intervals that touch share a
cut, and intervals of several tables are unions of the pieces between all their cuts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import NamedTuple

Number = Fraction | float  #: A fraction, or minus or plus infinity.
Cut = tuple[Number, int]

BELOW: Cut = (-inf, 1)
ABOVE: Cut = (inf, 0)

_NUMBER = r"[-+]?(?:\d{1,12}(?:\.\d{1,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,2})?|[-+]?inf"
_BRACKETS = re.compile(rf"([\[(])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\])])", re.IGNORECASE)
_SIGN = re.compile(rf"(>=|≥|>|<=|≤|<|over|under|up to)\s*({_NUMBER})", re.IGNORECASE)
_OR_MORE = re.compile(rf"({_NUMBER})\s*(?:\+|or more)", re.IGNORECASE)
_POINT = re.compile(_NUMBER, re.IGNORECASE)


class Interval(NamedTuple):
    """Numbers between two cuts."""

    lo: Cut
    hi: Cut

    @property
    def text(self) -> str:
        """Return the label of the interval.

        >>> Interval((Fraction(6), 0), (Fraction(15, 2), 1)).text, Interval((Fraction(6), 0), ABOVE).text
        ('[6, 7.5]', '6 or more')
        """
        (low, low_side), (high, high_side) = self
        if low == high:
            return render(low)
        if high == inf:
            return f"over {render(low)}" if low_side else f"{render(low)} or more"
        if low == -inf:
            return f"{'up to' if high_side else 'under'} {render(high)}"
        return f"{'(' if low_side else '['}{render(low)}, {render(high)}{']' if high_side else ')'}"


def render(value: Number) -> str:
    """Return a number as a plain decimal."""
    if not isinstance(value, Fraction):
        return str(value)
    if value.denominator == 1:
        return str(value.numerator)
    digits = next((places for places in range(1, 40) if (value * 10**places).denominator == 1), 40)
    scaled = round(abs(value) * 10**digits)
    return f"{'-' if value < 0 else ''}{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}"


def read_number(text: str) -> Number | None:
    """Return the number that a text is, exactly, or None."""
    told = text.strip().casefold()
    if _POINT.fullmatch(told) is None:
        return None
    return float(told) if told.endswith("inf") else Fraction(told)


@lru_cache(maxsize=100_000)
def read_interval(label: str) -> Interval | None:
    """Return the interval of a label, or None.

    >>> [read_interval(label) is not None for label in ("(18.0, 27.5]", "12 or more", "7", "18-27", "old")]
    [True, True, True, False, False]
    """
    told = label.strip()
    if found := _BRACKETS.fullmatch(told):
        low = read_number(found[2])
        high = read_number(found[3])
        assert low is not None
        assert high is not None
        lo: Cut = BELOW if low == -inf else (low, int(found[1] == "("))
        hi: Cut = ABOVE if high == inf else (high, int(found[4] == "]"))
        return Interval(lo, hi) if lo < hi else None
    if found := _SIGN.fullmatch(told):
        end = read_number(found[2])
        assert end is not None
        if not isinstance(end, Fraction):
            return None
        sign = found[1].casefold()
        if sign in (">", ">=", "≥", "over"):
            return Interval((end, int(sign in (">", "over"))), ABOVE)
        return Interval(BELOW, (end, int(sign not in ("<", "under"))))
    if found := _OR_MORE.fullmatch(told):
        end = read_number(found[1])
        return Interval((end, 0), ABOVE) if isinstance(end, Fraction) else None
    point = read_number(told)
    return None if not isinstance(point, Fraction) else Interval((point, 0), (point, 1))


def are_intervals(labels: Collection[str]) -> bool:
    """Tell if all labels are intervals, and one is written as such."""
    return any(_POINT.fullmatch(label.strip()) is None for label in labels) and all(map(read_interval, labels))


def split_intervals(labels: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the pieces of each label, in ascending order.

    Pieces are the intervals between neighbouring cuts of all labels; one that a label names exactly has that name.

    >>> split_intervals(["[0, 6)", "≥ 6", "[0, 9)"])
    {'[0, 6)': ('[0, 6)',), '≥ 6': ('[6, 9)', '9 or more'), '[0, 9)': ('[0, 6)', '[6, 9)')}
    """
    read = {label: found for label in labels if (found := read_interval(label)) is not None}
    cuts = sorted({cut for one in read.values() for cut in one})
    own = {one: label for label, one in reversed(read.items())}
    pieces = [Interval(*ends) for ends in pairwise(cuts)]
    names = [own.get(piece, piece.text) for piece in pieces]
    place = {cut: number for number, cut in enumerate(cuts)}
    return {label: tuple(names[place[one.lo] : place[one.hi]]) for label, one in read.items()}


def join_intervals(values: Iterable[str]) -> str | None:
    """Return one label for intervals that touch, or None.

    >>> join_intervals(["(6, 9)", "6", "≥ 9"]), join_intervals(["[0, 6)", "≥ 9"])
    ('6 or more', None)
    """
    read = [read_interval(value) for value in values]
    known = sorted(one for one in read if one is not None)
    if not known or len(known) < len(read) or any(first.hi != second.lo for first, second in pairwise(known)):
        return None
    whole = Interval(known[0].lo, known[-1].hi)
    return None if whole == Interval(BELOW, ABOVE) else whole.text


def pieces_of(label: str, values: Iterable[str]) -> tuple[str, ...] | None:
    """Return the values that make up a label, or None."""
    whole = read_interval(label)
    if whole is None:
        return None
    pieces = {value: one for value in values if (one := read_interval(value)) is not None}
    inside = {value: one for value, one in pieces.items() if whole.lo <= one.lo and one.hi <= whole.hi}
    joined = join_intervals(inside)
    return tuple(sorted(inside)) if joined is not None and read_interval(joined) == whole else None


def align(columns: Sequence[Collection[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return the pieces of labels that overlap, if any do."""
    labels = list(dict.fromkeys(label for column in columns for label in column))
    if not are_intervals(labels):
        return {}
    found = split_intervals(labels)
    return {} if all(pieces == (label,) for label, pieces in found.items()) else found


#: Widths that people choose for bins, up to a power of ten.
_CHOSEN_WIDTHS = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))
_LONGER = Fraction(1, 1000)  #: By what share of the range pandas puts its first edge below the smallest value.


def shows_extremes(labels: Collection[str]) -> bool:
    """Tell if the outer edges of bins look like extremes.

    Programs that are asked for a number of bins divide the range of the data evenly, and pandas then moves the first edge a little down. People
    who choose edges choose round ones.

    >>> ages = ["(17.927, 41.333]", "(41.333, 64.667]", "(64.667, 88.0]"]
    >>> shows_extremes(ages), shows_extremes(["[17, 41.5)", "[41.5, 66)", "[66, 90.5)"]), shows_extremes(["(10, 20]", "(20, 30]", "(30, 40]"])
    (True, True, False)
    """
    bins = sorted(one for label in labels if _BRACKETS.fullmatch(label.strip()) and (one := read_interval(label)) is not None)
    if len(bins) < max(3, len(labels)) or any(first.hi != second.lo for first, second in pairwise(bins)):
        return False
    known = [edge for edge in (*(one.lo[0] for one in bins), bins[-1].hi[0]) if isinstance(edge, Fraction)]
    if len(known) <= len(bins):
        return False
    step = Fraction(1, 10 ** max(len(render(edge).partition(".")[2]) for edge in known))
    first, *widths = (above - below for below, above in pairwise(known))
    is_lower = abs(first - widths[0] - (known[-1] - known[0]) * _LONGER) <= 3 * step and first - widths[0] > step / 2
    if any(abs(width - widths[0]) > 2 * step for width in widths):
        return known[0] % 1 == Fraction(999, 1000) and all(edge % 1 != known[0] % 1 for edge in known[1:])  # pandas.qcut
    if is_lower:
        return True
    return abs(first - widths[0]) <= 2 * step and not _is_chosen(known[0], known[1])


def _is_chosen(first: Fraction, second: Fraction) -> bool:
    """Tell if people choose such edges: a round width, or multiples of the width."""
    width = second - first
    if first % width == 0:
        return True
    while width >= 10:
        width /= 10
    while width < 1:
        width *= 10
    return width in _CHOSEN_WIDTHS
