"""Frequency tables: counts by cell, some hidden or rounded."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.intervals import align, render
from tacit.model.numbers import Bound, Printed, Rounding
from tacit.model.release import CountedLines, Decimals, Header, Published, Release, Source, ValueGroup
from tacit.model.rounding import Convention, counts_printed_as

_SPAN = re.compile(r"(\d{1,9})\s*(?:-|–|to)\s*(\d{1,9})")
_FROM = re.compile(r"(?:>=|≥)\s*(\d{1,9})|(\d{1,9})\s*\+")
_BELOW = re.compile(r"(<=|≤|<)\s*(\d{1,9})")
_ABOVE = re.compile(r">\s*(\d{1,9})")
_SHARE = re.compile(r"\d*[.,]?\d+(?:[eE][-+]?\d+)?\s*%?")  #: A mark that is a share, and stands for several counts.


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Means and medians of whole numbers within ``span``, with counts."""

    column: str
    span: Bound
    means: Decimals
    medians: Decimals
    digits: int = 0

    def total(self, index: int, people: int) -> Bound | None:
        """Bound the sum behind the mean in line ``index``, if possible."""
        return self._whole(self.means.value(index), people, self.span.hi * people)

    def middle(self, index: int) -> Bound | None:
        """Bound twice the median printed in line ``index``, if possible."""
        return self._whole(self.medians.value(index), 2, self.span.hi * 2)

    def _whole(self, value: Fraction | None, scale: int, most: int) -> Bound | None:
        if value is None:
            return None
        return Printed.around(value, Fraction(1, 10**self.digits), "nearest").whole_numbers(scale=scale, most=most)


#: A statistic: one of ``STATISTICS``, or a quantile such as ``q90`` and ``q2.5`` (the 90 % and the 2.5 % quantile).
Statistic = str
STATISTICS: tuple[Statistic, ...] = ("sum", "mean", "median", "std", "min", "max")
ROUNDED: frozenset[Statistic] = frozenset({"mean", "median", "std"})  #: Statistics that are rounded even where numbers are exact.
CLOSE = Fraction(1, 10)  #: A sum is told if its range is at most this share of its upper end.
SQUARED = " squared"  #: How the name of a column ends whose values are the squares of another one's.
_QUANTILE = re.compile(r"q(\d{1,2}(?:\.\d{1,6})?|100)")


def quantile_of(statistic: Statistic) -> Fraction | None:
    """Return the share of a quantile, None of another statistic.

    >>> quantile_of("q2.5"), quantile_of("median"), quantile_of("mean")
    (Fraction(1, 40), Fraction(1, 2), None)
    """
    if statistic == "median":
        return Fraction(1, 2)
    found = _QUANTILE.fullmatch(statistic)
    return None if found is None else Fraction(found[1]) / 100


def name_quantile(share: Fraction) -> Statistic:
    """Return the name of a quantile.

    >>> name_quantile(Fraction(9, 10)), name_quantile(Fraction(1, 40)), name_quantile(Fraction(1, 2))
    ('q90', 'q2.5', 'median')
    """
    return "median" if share == Fraction(1, 2) else f"q{render(share * 100)}"


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Statistics of a column that nobody is counted over, beside the counts of cells.

    Values are at least 0. If it ``is_exact``, sums, minima and maxima are not rounded; the others always are. Quantiles lie between two
    neighbouring values, as pandas, NumPy and R compute them, and standard deviations are those of a sample (divided by n - 1). If it
    ``is_squared``, its numbers are about the squares of the values of ``column``.
    """

    column: str
    printed: Mapping[Statistic, Decimals]
    is_exact: bool = False
    is_squared: bool = False

    @property
    def name(self) -> str:
        """Name of what is added up."""
        return f"{self.column}{SQUARED}" if self.is_squared else self.column

    def around(self, statistic: Statistic, index: int) -> tuple[Fraction, Fraction] | None:
        """Return the numbers that print as line ``index`` prints a statistic, if it does."""
        decimals = self.printed.get(statistic)
        value = None if decimals is None else decimals.value(index)
        if decimals is None or value is None:
            return None
        is_exact = self.is_exact and statistic not in ROUNDED and quantile_of(statistic) is None
        half = Fraction(0) if is_exact else Fraction(1, 2 * 10 ** int(decimals.digits[index]))
        return max(Fraction(0), value - half), value + half

    def total(self, index: int, people: Bound) -> tuple[Fraction, Fraction | None]:
        """Return bounds on the sum over the people of line ``index``."""
        if self.is_squared:
            return self._total_of_squares(index, people)
        least = Fraction(0)
        most = None if people.hi else Fraction(0)
        times: dict[Statistic, tuple[int | None, int | None]] = {
            "sum": (1, 1),
            "mean": (people.lo, people.hi),
            "min": (people.lo, None),
            "max": (None, people.hi),
        }
        for statistic, (fewest, largest) in times.items():
            ends = self.around(statistic, index)
            if ends is not None and fewest is not None:
                least = max(least, fewest * ends[0])
            if ends is not None and largest is not None and largest < UNBOUNDED:
                most = largest * ends[1] if most is None else min(most, largest * ends[1])
        smallest = self.around("min", index)
        top = self.around("max", index)
        if top is not None and people.lo > 0:  # somebody has the largest value
            least = max(least, top[0] + (people.lo - 1) * (Fraction(0) if smallest is None else smallest[0]))
        if top is not None and smallest is not None and 0 < people.hi < UNBOUNDED and most is not None:
            most = min(most, smallest[1] + (people.hi - 1) * top[1])
        if people.is_exact and people.lo > 0:
            low, high = self._total_by_order(index, people.lo)
            least = max(least, low)
            if high is not None:
                most = high if most is None else min(most, high)
        return least, most

    def _total_by_order(self, index: int, people: int) -> tuple[Fraction, Fraction | None]:
        """Return bounds on a sum by the places of quantiles."""
        smallest = self.around("min", index)
        top = self.around("max", index)
        #: From which place in ascending order on values are at least so large, and up to which place at most.
        floors = [(0, Fraction(0) if smallest is None else smallest[0])]
        floors += [] if top is None else [(people - 1, top[0])]
        ceilings = [] if smallest is None else [(1, smallest[1])]
        ceilings += [] if top is None else [(people, top[1])]
        middle: tuple[int, Fraction, Fraction] | None = None
        for statistic in self.printed:
            share = quantile_of(statistic)
            ends = None if share is None else self.around(statistic, index)
            if share is None or ends is None:
                continue
            place = share * (people - 1)
            below = floor(place)
            floors.append((below if place == below else below + 1, ends[0]))
            ceilings.append((below + 1, ends[1]))
            if place - below == Fraction(1, 2):
                middle = (below, *ends)
                ceilings += [(people, 2 * ends[1])] if below + 2 == people else []  # no value is below 0
        least = _sum_of_steps(floors, people, largest=True)
        most = None if not any(end == people for end, _ in ceilings) else _sum_of_steps(ceilings, people, largest=False)
        if middle is not None:  # the two values around the middle add up to twice what is printed
            below, low, high = middle
            own = [_value_at(floors, place, largest=True) for place in (below, below + 1)]
            least += max(Fraction(0), 2 * low - sum(own))
            if most is not None:
                most -= max(
                    Fraction(0), sum(_value_at(ceilings, place, largest=False) for place in (below, below + 1)) - 2 * high
                )
        return least, most

    def _total_of_squares(self, index: int, people: Bound) -> tuple[Fraction, Fraction | None]:
        """Return bounds on the sum of squares."""
        if people.hi == 0:
            return Fraction(0), Fraction(0)
        spread = self.around("std", index)
        least, most = replace(self, is_squared=False).total(index, people)
        if spread is None or most is None or not people.is_exact:
            return Fraction(0), None
        deviations = people.lo - 1
        return deviations * spread[0] ** 2 + least**2 / people.lo, deviations * spread[1] ** 2 + most**2 / people.lo

    def in_order(self, index: int) -> list[tuple[Fraction, Fraction]]:
        """Return the printed minimum, quantiles and maximum in their order."""
        shares = {"min": Fraction(0), "max": Fraction(1)}
        placed = [(shares[one] if one in shares else quantile_of(one), self.around(one, index)) for one in self.printed]
        known = [(share, ends) for share, ends in placed if share is not None and ends is not None]
        return [ends for _, ends in sorted(known)]

    @property
    def squares(self) -> Numbers | None:
        """Return what standard deviations say about squares, if any is printed."""
        return replace(self, is_squared=True) if "std" in self.printed else None

    def is_printed(self, index: int) -> bool:
        """Tell if line ``index`` prints any statistic."""
        return any(decimals.digits[index] >= 0 for decimals in self.printed.values())

    def without(self, hidden: Flags) -> Numbers:
        """Return the numbers without those of hidden lines."""
        shown = {name: Decimals(one.scaled, np.where(hidden, -1, one.digits)) for name, one in self.printed.items()}
        return replace(self, printed=shown)


def _value_at(steps: Iterable[tuple[int, Fraction]], place: int, *, largest: bool) -> Fraction:
    """Return the tightest bound on the value at a place in ascending order."""
    if largest:
        return max(value for start, value in steps if start <= place)
    return min(value for end, value in steps if place < end)


def _sum_of_steps(steps: Collection[tuple[int, Fraction]], people: int, *, largest: bool) -> Fraction:
    """Return the sum of the tightest bounds on the values at all places."""
    cuts = sorted({0, people, *(place for place, _ in steps if 0 <= place <= people)})
    return sum(
        ((stop - start) * _value_at(steps, start, largest=largest) for start, stop in pairwise(cuts)),
        Fraction(0),
    )


def numbers_of(text: str, span: Bound) -> Bound | None:
    """Return the whole numbers of a label, or None."""
    told = text.strip()
    if told.isascii() and told.isdigit() and len(told) < 10:
        ends = (int(told), int(told))
    elif found := _SPAN.fullmatch(told):
        ends = (int(found[1]), int(found[2]))
    elif found := _FROM.fullmatch(told):
        ends = (int(found[1] or found[2]), span.hi)
    elif found := _ABOVE.fullmatch(told):
        ends = (int(found[1]) + 1, span.hi)
    elif found := _BELOW.fullmatch(told):
        ends = (span.lo, int(found[2]) - (found[1] == "<"))
    else:
        return None
    inside = max(ends[0], span.lo), min(ends[1], span.hi)
    return Bound(*inside) if inside[0] <= inside[1] else None


ANY = -1  #: The code of "any value" in a column, as a total has it.
UNBOUNDED = 2**50  #: No count is larger: stands for "not bounded" where the number of people is not known.


@dataclass(frozen=True, slots=True)
class CellPrinting:
    """Printing of cells: suppression threshold and rounding base, None if unused.

    Cells of 0 are hidden too, unless ``zeros_shown``. A named ``convention`` says it all, and ``hidden_below`` repeats what it says.
    """

    hidden_below: int | None = None
    zeros_shown: bool = False
    base: int | None = None
    rounding: Rounding = "nearest"
    convention: Convention | None = None

    @property
    def is_exact(self) -> bool:
        """True if printed numbers are exact."""
        return self.convention.is_exact if self.convention is not None else self.base is None

    @property
    def deletes_records(self) -> bool:
        """Tell if totals leave out people of hidden cells."""
        return self.convention is not None and self.convention.deletes_records

    def hidden(self, n: int | None, below: int | None = None) -> tuple[int, int]:
        """Return bounds on hidden cells; ``below`` is their own limit."""
        limits = [limit - 1 for limit in (below, self.hidden_below) if limit is not None]
        return (1 if self.zeros_shown else 0), min([*limits, UNBOUNDED if n is None else n])

    def numbers(self, printed: Ints, n: int | None) -> tuple[Ints, Ints]:
        """Return the least and most people; the first is larger if none fit."""
        if self.convention is not None:
            lo, hi = self.convention.numbers(printed, self.hidden_below or 0)
            return lo, hi if n is None else np.minimum(hi, n)
        exact = (printed.copy(), printed.copy())
        lo, hi = exact if self.base is None else counts_printed_as(printed, self.base, self.rounding)
        hi = hi if n is None else np.minimum(hi, n)
        if self.hidden_below is not None:
            # What is printed is not hidden: no one at all, where zeros are shown, or enough people.
            enough = self.hidden_below
            nobody = (printed == 0) if self.zeros_shown else np.zeros(len(printed), np.bool_)
            lo = np.where(nobody, 0, np.maximum(lo, enough))
            hi = np.where(nobody & (hi < enough), 0, hi)
        return lo, hi


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FrequencyTable(CountedLines):
    """Cells of tables over ``columns``, a line each, with their numbers of people.

    ``codes`` holds one number for every line and column, line by line: a place in the ``values`` of the column, or ``ANY``. ``lo`` and ``hi``
    enclose each count. ``printed`` is the number that stands there; below 0 it is the mark ``marks[-1 - printed]`` of a hidden cell.
    ``header.complete`` says that each column's values are all that its people have. ``across`` holds the column of its file that a cell stands
    in, where one line holds several cells. ``measured`` are means and medians of a column of the table, ``numbers`` statistics of other columns,
    printed with the counts. ``header.groups`` are labels that stand for several values of a column.

    >>> table = FrequencyTable.of(["sex"], [["F"], ["M"], ["*"]], [12, None, 15], n=15, printing=CellPrinting(hidden_below=5))
    >>> table.n, table.count(1), list(table.records())[2]
    (15, Bound(lo=0, hi=4), {'sex': '*', 'count': 15})
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: Codes
    lo: Ints
    hi: Ints
    printed: Ints
    header: Header
    printing: CellPrinting = field(default_factory=CellPrinting)
    marks: tuple[str, ...] = ("",)
    any_mark: str = "*"
    lines: Ints | None = None
    across: Ints | None = None
    source: Source | None = None
    measured: Measured | None = None
    numbers: tuple[Numbers, ...] = ()
    kind: Literal["frequencies"] = field(default="frequencies", init=False)

    @classmethod
    def of(
        cls,
        columns: list[str],
        cells: list[list[str]],
        counts: list[int | None],
        *,
        n: int | None = None,
        printing: CellPrinting | None = None,
        complete: bool = True,
        groups: tuple[ValueGroup, ...] = (),
        no_sa: bool = False,
    ) -> FrequencyTable:
        """Make a table from the values of each cell (``*``: any) and its count (None: hidden).

        ``groups`` are names of several values, and ``no_sa`` says that no column is sensitive.
        """
        how = printing or CellPrinting()
        values = tuple(tuple(sorted({cell[place] for cell in cells} - {"*"})) for place in range(len(columns)))
        number = [{value: code for code, value in enumerate(known)} | {"*": ANY} for known in values]
        codes = np.array([number[place][value] for cell in cells for place, value in enumerate(cell)], np.int32)
        printed = np.array([-1 if count is None else count for count in counts], np.int64)
        lo, hi = how.numbers(printed, n)
        least, most = how.hidden(n)
        lo = np.where(printed < 0, least, lo)
        hi = np.where(printed < 0, most, hi)
        return cls(
            tuple(columns),
            values,
            codes,
            lo,
            hi=hi,
            printed=printed,
            header=Header(n=n, complete=complete, base=how.base, groups=groups, no_sa=no_sa),
            printing=how,
        )

    def __len__(self) -> int:
        return len(self.lo)

    @property
    def min_support(self) -> None:
        """No cell is left out by a threshold; it is hidden."""
        return None

    @property
    def has_means(self) -> bool:
        """True if means or medians are printed."""
        return self.measured is not None

    @property
    def has_numbers(self) -> bool:
        """True if numbers stand beside counts."""
        return bool(self.numbers)

    def possible_values(self, sensitive: str) -> tuple[str, ...]:
        """Return the values of a column, if those are all of them."""
        if sensitive not in self.columns or not self.header.complete:
            return ()
        return self.single_values(sensitive)

    def members(self, column: str, label: str) -> tuple[str, ...] | None:
        """Return the values that a label groups; None if it is a value."""
        found = (group.values for group in self.header.groups if (group.column, group.name) == (column, label))
        return next(found, None)

    def single_values(self, column: str) -> tuple[str, ...]:
        """Return the values of a column, without the names of several."""
        listed = self.values[self.columns.index(column)]
        named = {group.name: group.values for group in self.header.groups if group.column == column}
        if not named:
            return listed
        return tuple(sorted({value for label in listed for value in named.get(label, (label,))}))

    @property
    def is_hidden(self) -> npt.NDArray[np.bool_]:
        """Flags of cells that print no number."""
        return self.printed < 0

    @property
    def hidden_cells(self) -> int:
        """Number of cells that print neither a count nor a share."""
        shares = np.array([_SHARE.fullmatch(mark.strip()) is not None for mark in self.marks])
        hidden = self.printed[self.printed < 0]
        return int((~shares[-1 - hidden]).sum())

    def may_be_many(self, index: int) -> bool:
        """Tell if a printed 0 means nobody or enough people, and nothing between."""
        least = self.printing.hidden_below
        if least is None or least < 2 or not self.printing.zeros_shown or self.printed[index] < 0:
            return False
        return int(self.lo[index]) == 0 and int(self.hi[index]) >= least

    def most_among(self, index: int, people: int) -> int:
        """Return the most people of cell ``index`` if ``people`` could be in it."""
        most = min(int(self.hi[index]), people)
        return 0 if self.may_be_many(index) and most < (self.printing.hidden_below or 0) else most

    def place(self, index: int) -> int | str:
        """Return the place of cell ``index``: its line, or ``B4`` if a line holds several."""
        return self.line(index) if self.across is None else f"{letters(int(self.across[index]))}{self.line(index)}"

    def find_lines(self, places: Collection[int | str]) -> Ints:
        """Return the numbers of the cells at these places, in the order of the file."""
        return Published.find_lines(self, places) if self.across is not None else CountedLines.find_lines(self, places)

    def cell(self, index: int) -> dict[str, str]:
        """Return the columns that cell ``index`` fixes, with their values."""
        width = len(self.columns)
        codes = self.codes[index * width : (index + 1) * width].tolist()
        known = zip(self.columns, self.values, codes, strict=True)
        return {column: values[code] for column, values, code in known if code != ANY}

    def people_of(self, index: int) -> Hashable:
        """Return the values of each column that people in cell ``index`` have."""
        return frozenset((column, self.members(column, value) or (value,)) for column, value in self.cell(index).items())

    def text(self, index: int) -> str:
        """Return the text of cell ``index``: a number, or the mark of a hidden one."""
        printed = int(self.printed[index])
        return str(printed) if printed >= 0 else self.marks[-1 - printed]

    def details(self) -> dict[str, Any]:
        """Return what a record says about frequency tables only."""
        printing = self.printing
        out: dict[str, Any] = {
            "tables": len(self.tables()),
            "hidden_cells": self.hidden_cells,
            "hidden_below": printing.hidden_below,
            "zeros_shown": printing.zeros_shown,
            "by": list(self.columns),
        }
        if printing.convention is not None:
            out["convention"] = printing.convention.name
        return out | {"qi": list(self.header.qi), "sa": list(self.header.sa) if self.header.has_roles else None}

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the cells as dictionaries; a hidden count is None."""
        everything = dict.fromkeys(self.columns, self.any_mark)
        for index, printed in enumerate(self.printed.tolist()):
            yield everything | self.cell(index) | {"count": printed if printed >= 0 else None}

    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return the sets of columns that its cells fix, each once, in the order of lines.

        >>> FrequencyTable.of(["sex", "job"], [["F", "*"], ["*", "*"]], [3, 3]).tables()
        (('sex',), ())
        """
        fixed = self.codes.reshape(len(self), len(self.columns)) != ANY
        _, first = np.unique(fixed, axis=0, return_index=True) if len(self) else (None, np.zeros(0, np.int64))
        told = [fixed[place] for place in sorted(first.tolist())]
        return tuple(tuple(column for column, is_fixed in zip(self.columns, one, strict=True) if is_fixed) for one in told)


def frequency_tables(releases: Iterable[Release]) -> tuple[FrequencyTable, ...]:
    """Return the releases that are frequency tables."""
    return tuple(release for release in releases if isinstance(release, FrequencyTable))


def numbered_tables(releases: Sequence[Release]) -> dict[int, FrequencyTable]:
    """Return the frequency tables by their numbers among the releases."""
    return {number: table for number, release in enumerate(releases) for table in frequency_tables([release])}


def align_intervals(releases: Sequence[Release]) -> tuple[Release, ...]:
    """Return the releases with overlapping intervals divided into common pieces.

    Labels of one column in several tables, such as ``(18, 27]`` and ``(18, 30]``, then stand for several pieces, and count the same people
    where they overlap.
    """
    tables = numbered_tables(releases)
    out = list(releases)
    for column in dict.fromkeys(name for table in tables.values() for name in table.columns):
        own = {
            number: table.single_values(column)
            for number, table in tables.items()
            if column in table.columns and (table.measured is None or table.measured.column != column)
        }
        pieces = align(list(own.values()))
        for number in own if pieces else ():
            table = numbered_tables(out)[number]
            out[number] = replace(table, header=replace(table.header, groups=_divide_groups(table, column, pieces)))
    return tuple(out)


def _divide_groups(table: FrequencyTable, column: str, pieces: Mapping[str, tuple[str, ...]]) -> tuple[ValueGroup, ...]:
    found = []
    for group in table.header.groups:
        values = (
            tuple(dict.fromkeys(piece for value in group.values for piece in pieces[value])) if group.column == column else ()
        )
        found.append(replace(group, values=values) if values else group)
    named = {group.name for group in found if group.column == column}
    for label in table.values[table.columns.index(column)]:
        if label not in named and pieces[label] != (label,):
            found.append(ValueGroup(column, label, pieces[label]))
    return tuple(found)


def letters(column: int) -> str:
    """Return the letters of a spreadsheet column, from 0."""
    out = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        out = chr(ord("A") + rest) + out
    return out
