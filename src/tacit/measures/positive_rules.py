"""How well positive rules survive: their confidences as a release lets one estimate them, and which of them are found in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations as choices

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, nearest_column
from tacit.measures.combinations import Combinations, Estimator
from tacit.model.number import Threshold
from tacit.model.table import Column

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Estimates are floats: what falls short of a threshold by no more than this share of the people reaches it.
_ROOM = 1e-9


@dataclass(frozen=True, eq=False)
class PositiveRules:
    """The antecedents of up to some columns that enough people have, a row each, and which of their rules hold in the data.

    ``people[x]`` and ``published[x]`` people of the data and of the release have antecedent x; ``true[x, v]`` of them have value v.
    ``holds[x, v]``: the rule reaches the support and the conviction in the data.
    """

    people: Floats
    published: Floats
    true: Floats
    counted: Mapping[str, Floats]
    holds: Flags
    least: Threshold
    conviction: Fraction

    @classmethod
    def of(
        cls,
        cells: Combinations,
        estimators: Sequence[Estimator],
        *,
        least: Threshold,
        conviction: Fraction,
        length: int,
        intervals: Mapping[str, float],
    ) -> PositiveRules:
        """The rules of the data, and what is counted of them in the release."""
        columns = [_cut(column, intervals) for column in cells.columns]
        tables = {"people": cells.true, **{one.name: one.counted for one in estimators}}
        enough = least.least_count(int(cells.true.sum()))
        parts: dict[str, list[Floats]] = {name: [] for name in (*tables, "published")}
        for size in range(1, min(length, len(columns)) + 1):
            for chosen in choices(columns, size):
                number = _frequent(chosen, cells.true.sum(axis=1), enough)
                inside = np.flatnonzero(number >= 0)
                many = int(number.max(initial=-1)) + 1
                for name, table in tables.items():
                    parts[name].append(_added(number[inside], table[inside], many))
                parts["published"].append(_added(number[inside], cells.published[inside, None], many)[:, 0])
        joined = {name: np.concatenate(found) if found else np.empty(0) for name, found in parts.items()}
        true = joined.pop("people")
        people, published = true.sum(axis=1), joined.pop("published")
        holds = _rules(true, people, cells.true.sum(axis=0), least, conviction)
        return cls(people, published, true, joined, holds, least, conviction)

    def __len__(self) -> int:
        return int(self.holds.sum())

    def errors(self, estimator: Estimator, everybody: Floats) -> dict[str, float]:
        """The confidence error and both identification errors of an estimator, as shares; ``everybody`` has each value in the release."""
        estimate = np.minimum(estimator.made(self.counted[estimator.name], self.published), self.published[:, None])
        found = _rules(estimate, self.published, everybody, self.least, self.conviction, room=_ROOM)
        confidence = np.divide(estimate, self.published[:, None], out=np.zeros_like(estimate), where=self.published[:, None] > 0)
        original = self.true / np.maximum(self.people, 1)[:, None]
        off = np.abs(confidence - original)[self.holds] / original[self.holds]
        return {
            "confidence_error": float(off.mean()),
            "identification_false_positive": int((found & ~self.holds).sum()) / len(self),
            "identification_false_negative": int((self.holds & ~found).sum()) / len(self),
        }


def _rules(
    both: Floats, people: Floats, everybody: Floats, least: Threshold, conviction: Fraction, *, room: float = 0.0
) -> Flags:
    """Which pairs are rules: enough people have both sides, and P(X) P(not v) >= conviction P(X and not v). Whole numbers compare exactly."""
    n = float(everybody.sum())
    enough = least.least_count(round(n)) if room == 0 else float(least.value if least.is_count else least.value * round(n))
    top, bottom = conviction.numerator, conviction.denominator
    lacking = people[:, None] - both
    convinced = bottom * people[:, None] * (n - everybody) >= top * n * lacking - room * n * n
    return np.asarray((both >= enough - room * n) & convinced & (everybody < n))


def _frequent(chosen: Sequence[Column], people: Floats, enough: int) -> Numbers:
    """The number of the antecedent of each combination; -1 where too few people have it for any rule."""
    key = np.zeros(len(people), np.int64)
    for column in chosen:
        key = np.unique(key * len(column.values) + column.codes, return_inverse=True)[1].reshape(-1)
    kept = np.bincount(key, people) >= enough
    return np.where(kept, np.cumsum(kept) - 1, -1)[key]


def _added(number: Numbers, table: Floats, many: int) -> Floats:
    """The rows of a table added up by their numbers."""
    return np.stack([np.bincount(number, column, many) for column in table.T], axis=1)


def _cut(column: Column, intervals: Mapping[str, float]) -> Column:
    """A column of numbers cut into intervals of a width, where one is asked for."""
    width = intervals.get(column.name)
    if width is None:
        return column
    try:
        start = [math.floor(float(value) / width) for value in column.values]
    except (ValueError, OverflowError):
        what = f"column {column.name!r} does not hold numbers only, so it has no intervals"
        raise OptionError(what, where="--interval", remedy="Leave it out") from None
    places = {number: code for code, number in enumerate(sorted(set(start)))}
    codes = np.array([places[number] for number in start], np.int32)[column.codes]
    return Column(column.name, tuple(f"{number * width:g}" for number in places), codes)


def read_intervals(given: Mapping[str, float] | None, columns: Sequence[str]) -> dict[str, float]:
    """The widths of intervals by column, checked.

    >>> read_intervals({"age": 10}, ["age", "sex"])
    {'age': 10.0}
    """
    found: dict[str, float] = {}
    for name, width in (given or {}).items():
        if name not in columns:
            raise OptionError(f"there is no column {name!r}", where="--interval", remedy=nearest_column(name, columns))
        if isinstance(width, bool) or not isinstance(width, (int, float)) or not 0 < width < math.inf:
            raise OptionError("must be a width above 0", where="--interval", remedy="Write for instance age=10")
        found[name] = float(width)
    return found
