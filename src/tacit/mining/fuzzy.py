"""Numeric values as fuzzy sets: who is close to a value, or to an interval of values, belongs to it in part.

A value of the set belongs to it fully. Others belong to the degree ``1 - distance / (spread + step)``, where the distance is to the nearest
value of the set and the step is that of the column's last printed digit (1 for whole numbers): with spread 2, the ages 28 to 32 belong to the
age 30 to the degrees 1/3, 2/3, 1, 2/3, 1/3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError, OptionError, nearest_name
from tacit.model.hierarchy import Hierarchy
from tacit.model.number import exact
from tacit.model.table import Column

Numbers = npt.NDArray[np.int64]
Degrees = npt.NDArray[np.float64]

#: Distances are counted in steps; beyond this many a double no longer tells them apart.
_MOST_STEPS = 1 << 53


@dataclass(frozen=True, eq=False)
class Scale:
    """The values of a column, and of its hierarchy, as whole numbers of steps, and how many steps away somebody still belongs."""

    place: dict[str, int]
    reach: float

    @classmethod
    def of(cls, column: Column, tree: Hierarchy | None, spread: Fraction) -> Scale:
        """The scale of a numeric column."""
        numbers = {value: _number(value, _where(column, code)) for code, value in enumerate(column.values)}
        if tree is not None:
            for line, value in enumerate(tree.levels, start=1):
                if value not in numbers:
                    numbers[value] = _number(value, f"{tree.file}, value {line}")
        per_step = 1
        while per_step < _MOST_STEPS and any((number * per_step).denominator > 1 for number in numbers.values()):
            per_step *= 10
        place = {value: int(number * per_step) for value, number in numbers.items()}
        if per_step >= _MOST_STEPS or max(map(abs, place.values()), default=0) > _MOST_STEPS:
            raise InputError(
                f"the values of column {column.name!r} have too many digits to be compared",
                where="--fuzzy",
                remedy="Round them, or leave the column out",
            )
        return cls(place, float(spread * per_step) + 1)

    def degrees(self, members: Sequence[str], values: Sequence[str]) -> tuple[Numbers, Degrees]:
        """The numbers of those values that belong to the set of the members, and the degrees to which they do.

        >>> ages = Column.from_texts("age", ["20", "21", "23", "30"])
        >>> [part.tolist() for part in Scale.of(ages, None, Fraction(3)).degrees(["21"], ages.values)]
        [[0, 1, 2], [0.75, 1.0, 0.5]]
        """
        inside = np.array(sorted({self.place[value] for value in members}), np.int64)
        asked = np.array([self.place[value] for value in values], np.int64)
        above = np.searchsorted(inside, asked)
        upward = inside[np.minimum(above, len(inside) - 1)] - asked
        downward = asked - inside[np.maximum(above - 1, 0)]
        distance = np.minimum(np.abs(upward), np.abs(downward))
        close = np.flatnonzero(distance < self.reach)
        return close, 1 - distance[close] / self.reach


def checked_spreads(given: Mapping[str, object] | None, qi: Sequence[str]) -> dict[str, Fraction]:
    """The spread of each fuzzy column, as exact numbers."""
    spreads = {}
    for name, spread in (given or {}).items():
        if name not in qi:
            raise OptionError(
                f"{name!r} is no quasi-identifying column",
                where="--fuzzy",
                remedy=nearest_name(name, qi, "quasi-identifying columns"),
            )
        remedy = f"Write for instance --fuzzy {name}=2 (Python: fuzzy={{{name!r}: 2}})"
        try:
            spreads[name] = exact(spread, where=f"--fuzzy {name}")
        except OptionError as error:
            raise OptionError(error.what, where=error.where, remedy=remedy) from None
        if spreads[name] <= 0:
            raise OptionError("the spread must be more than 0", where=f"--fuzzy {name}", remedy=remedy)
    return spreads


def _where(column: Column, code: int) -> str:
    row = int(np.flatnonzero(column.codes == code)[0]) + 1
    return f"column {column.name!r}, row {row} of the data"


def _number(value: str, where: str) -> Fraction:
    try:
        return exact(value, where=where)
    except OptionError:
        raise InputError(
            "is not a number", where=where, remedy="Leave the column out of --fuzzy, or drop rows with missing values"
        ) from None
