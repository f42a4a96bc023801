"""Where mined patterns gather: arrays that grow in place, and no object per pattern."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.mining.growing import Growing

Numbers = npt.NDArray[np.int64]
LabelArray = npt.NDArray[np.int16] | npt.NDArray[np.int32]


def label_type(n_labels: int) -> type[np.int16] | type[np.int32]:
    """The smallest type that holds item numbers."""
    return np.int16 if n_labels <= np.iinfo(np.int16).max else np.int32


def as_labels(numbers: npt.NDArray[np.integer[Any]], n_labels: int) -> LabelArray:
    """A copy of item numbers in the smallest type that holds them."""
    return numbers.astype(np.int16) if label_type(n_labels) is np.int16 else numbers.astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some mined patterns: pattern i holds the ``members`` before ``ends[i]``, from where the one before it ends.

    ``counts`` says how many people have it; for rules, ``wholes`` how many have the antecedent, and ``classes`` the consequents.
    """

    members: LabelArray
    ends: npt.NDArray[np.int32]
    counts: Numbers
    wholes: Numbers | None = None
    classes: npt.NDArray[np.int32] | None = None

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(part.nbytes for part in (self.members, self.ends, self.counts, self.wholes, self.classes) if part is not None)


@dataclass(slots=True, eq=False)
class Mined:
    """Mined patterns: pattern i is ``members[offsets[i]:offsets[i + 1]]``; the rest as in :class:`Piece`."""

    offsets: Numbers
    members: LabelArray
    counts: Numbers
    wholes: Numbers
    classes: npt.NDArray[np.int32]

    def sort(self, n_labels: int) -> None:
        """Put the patterns in dictionary order; one array after the other, so that little memory is needed besides."""
        from tacit.kernels.order import arrange, dictionary_order

        order = dictionary_order(self.offsets, self.members, n_labels)
        offsets, members = np.zeros_like(self.offsets), np.empty_like(self.members)
        arrange(self.offsets, self.members, order, offsets, members)
        self.offsets, self.members = offsets, members
        self.counts = self.counts[order]
        if len(self.wholes):
            self.wholes, self.classes = self.wholes[order], self.classes[order]


class Collector:
    """Gathers pieces in the order in which they are added; ``keep=False`` only counts them.

    ``reaching[i]`` counts the patterns that at least ``levels[i]`` people have.
    """

    def __init__(
        self, n_labels: int, *, keep: bool = True, max_itemsets: int | None = None, levels: Numbers | None = None
    ) -> None:
        self.total = 0
        self._levels = np.empty(0, np.int64) if levels is None else levels
        self.reaching = np.zeros(len(self._levels), np.int64)
        self._keep, self._max_itemsets = keep, max_itemsets
        self._offsets, self._counts, self._wholes = Growing(np.int64), Growing(np.int64), Growing(np.int64)
        self._members, self._classes = Growing(label_type(n_labels)), Growing(np.int32)
        self._offsets.extend(np.zeros(1, np.int64))
        self._most_bytes = _memory() * 3 // 4

    def add(self, piece: Piece) -> None:
        """Append a piece; stops the search when there are more patterns than wanted, or than fit in memory."""
        self.total += len(piece.counts)
        if self._max_itemsets is not None and self.total > self._max_itemsets:
            raise _too_many(f"more than {self._max_itemsets} patterns reach it")
        if len(self._levels):
            self.reaching += (piece.counts >= self._levels[:, None]).sum(axis=1)
        if not self._keep:
            return
        self._offsets.extend(piece.ends.astype(np.int64) + len(self._members))
        self._members.extend(piece.members)
        self._counts.extend(piece.counts)
        if piece.wholes is not None and piece.classes is not None:
            self._wholes.extend(piece.wholes)
            self._classes.extend(piece.classes)
        parts = (self._offsets, self._members, self._counts, self._wholes, self._classes)
        if sum(part.nbytes for part in parts) > self._most_bytes:
            raise _too_many(f"the first {self.total} patterns that reach it fill the memory of this machine")

    def finish(self) -> Mined:
        """Everything that was gathered."""
        return Mined(
            self._offsets.finish(), self._members.finish(), self._counts.finish(), self._wholes.finish(), self._classes.finish()
        )


def _memory() -> int:
    """The bytes of memory that this machine has; a very large number where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**62


def _too_many(what: str) -> OptionError:
    return OptionError(what, where="min_support", remedy="Raise --min-support or use --only closed")
