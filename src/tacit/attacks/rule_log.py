"""Why each bound of a table holds: a log of what tightened it, from which a derivation can be told backwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]

LO, HI = 0, 1


class Reason(IntEnum):
    """What a bound follows from."""

    COUNT = 0  # the count that a line prints
    WHOLE = 1  # what a line says about its antecedent by itself
    CONFIDENCE = 2  # the confidence of a line and a bound on its other number
    INSIDE = 3  # who has a set has every part of it
    PEOPLE = 4  # the number of people
    DISTRIBUTION = 5  # the published distribution of the SA
    VALUES = 6  # each person has one value of the SA
    MISSING = 7  # a complete list leaves the rule out
    GROUPS = 8  # no group has fewer than 0 people


class Step(NamedTuple):
    """One bound: of which set, which end, its value, why, from what (a line or a set, by the reason), and when it was found."""

    place: int
    end: int
    value: int
    reason: Reason
    source: int
    time: int


@dataclass(eq=False)
class Log:
    """Bounds in the order in which they were found; one batch holds what was found at the same time from what was known before."""

    batches: list[tuple[int, Whole, Whole, Reason, Whole]] = field(default_factory=list)

    def add(self, end: int, places: Whole, values: Whole, reason: Reason, sources: Whole) -> None:
        """Bounds that are new."""
        self.batches.append((end, places, values, reason, sources))
        self._sorted = None

    _sorted: tuple[Whole, Whole, Whole] | None = field(default=None, init=False)

    def latest(self, place: int, end: int, before: int | None = None) -> Step | None:
        """The bound of a set that was in force before a time, and why; None when it was never bounded."""
        if self._sorted is None:
            times = [np.full(len(batch[1]), time) for time, batch in enumerate(self.batches)]
            rows = [np.arange(len(batch[1])) for batch in self.batches]
            keys = [2 * batch[1] + batch[0] for batch in self.batches]
            key, time, row = (np.concatenate([np.empty(0, np.int64), *part]) for part in (keys, times, rows))
            order = np.lexsort((time, key))
            self._sorted = key[order], time[order], row[order]
        key, time, row = self._sorted
        first, last = np.searchsorted(key, [2 * place + end, 2 * place + end + 1])
        limit = len(self.batches) if before is None else before
        at = first + int(np.searchsorted(time[first:last], limit)) - 1
        if at < first:
            return None
        batch = self.batches[int(time[at])]
        index = int(row[at])
        return Step(place, end, int(batch[2][index]), batch[3], int(batch[4][index]), int(time[at]))
