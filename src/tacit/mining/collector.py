"""Where mined patterns gather: arrays that grow in place, and no object per pattern."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError

Numbers = npt.NDArray[np.int64]
LabelArray = npt.NDArray[np.int16] | npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some mined patterns: items, and per pattern where its items end, its count, the count of its itemset, and its class."""

    members: LabelArray
    lines: Numbers


@dataclass(slots=True, eq=False)
class Growing:
    """An array that grows at its end without being copied where the system can extend memory in place."""

    array: npt.NDArray[np.generic]
    used: int = 0

    def extend(self, values: npt.NDArray[np.generic]) -> None:
        """Add values at the end."""
        need = self.used + len(values)
        if need > len(self.array):
            self.array.resize(max(need, len(self.array) * 3 // 2), refcheck=False)
        self.array[self.used : need] = values
        self.used = need

    def finish(self) -> npt.NDArray[np.generic]:
        """The array at its final size."""
        self.array.resize(self.used, refcheck=False)
        return self.array


def as_labels(numbers: npt.NDArray[np.integer[Any]], n_labels: int) -> LabelArray:
    """A copy of item numbers in the smallest type that holds them."""
    return numbers.astype(np.int16) if n_labels <= np.iinfo(np.int16).max else numbers.astype(np.int32)


@dataclass(slots=True, eq=False)
class Collector:
    """Gathers pieces in the order in which they are added; ``keep=False`` only counts them."""

    n_labels: int
    with_classes: bool = False
    keep: bool = True
    max_itemsets: int | None = None
    total: int = 0
    _members: Growing = field(init=False)
    _ends: Growing = field(init=False)
    _counts: Growing = field(init=False)
    _wholes: Growing = field(init=False)
    _classes: Growing = field(init=False)
    _most_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self._members = Growing(as_labels(np.empty(0, np.int32), self.n_labels))
        self._ends, self._counts, self._wholes = (Growing(np.empty(0, np.int64)) for _ in range(3))
        self._classes = Growing(np.empty(0, np.int32))
        self._most_bytes = _memory() * 3 // 4

    def add(self, piece: Piece) -> None:
        """Append a piece; stops the search when there are more patterns than wanted, or than fit in memory."""
        self.total += len(piece.lines)
        if self.max_itemsets is not None and self.total > self.max_itemsets:
            raise _too_many(f"there are more than {self.max_itemsets} patterns")
        if not self.keep:
            return
        before = self._members.used
        self._members.extend(piece.members)
        self._ends.extend(piece.lines[:, 0] + before)
        self._counts.extend(piece.lines[:, 1])
        if self.with_classes:
            self._wholes.extend(piece.lines[:, 2])
            self._classes.extend(piece.lines[:, 3])
        if self.bytes > self._most_bytes:
            raise _too_many(f"the first {self.total} patterns fill the memory of this machine")

    @property
    def bytes(self) -> int:
        """How much is held."""
        return sum(part.array.nbytes for part in (self._members, self._ends, self._counts, self._wholes, self._classes))

    def finish(self) -> Mined:
        """Everything that was gathered."""
        parts = [part.finish() for part in (self._members, self._ends, self._counts, self._wholes, self._classes)]
        return Mined(*parts)  # type: ignore[arg-type]


@dataclass(slots=True, eq=False)
class Mined:
    """Mined patterns: pattern i is ``members[ends[i - 1]:ends[i]]``."""

    members: LabelArray
    ends: Numbers
    counts: Numbers
    wholes: Numbers
    classes: npt.NDArray[np.int32]

    def sort(self, n_labels: int) -> None:
        """Put the patterns in dictionary order; one array after the other, so that little memory is needed besides."""
        from tacit.kernels.order import arrange, dictionary_order

        order = dictionary_order(self.ends, self.members, n_labels)
        ends, members = np.empty_like(self.ends), np.empty_like(self.members)
        arrange(self.ends, self.members, order, ends, members)
        self.ends, self.members = ends, members
        self.counts = self.counts[order]
        if len(self.wholes):
            self.wholes, self.classes = self.wholes[order], self.classes[order]


def _memory() -> int:
    """The bytes of memory that this machine has; a very large number where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**62


def _too_many(what: str) -> OptionError:
    return OptionError(what, where="min_support", remedy="Raise --min-support or use --only closed")
