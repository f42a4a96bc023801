"""The arithmetic of a group that an unpublished itemset gives away, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attacks.derivation import print_steps
from tacit.attacks.supports import Supports
from tacit.kernels.book import Book, bits_of
from tacit.kernels.moebius import cells
from tacit.model.bound import Bound
from tacit.model.certificate import certificate
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding
from tacit.wording import people, sentence
from tacit.wording.itemsets import derivation_steps

Whole = npt.NDArray[np.int64]

_HUGE = np.iinfo(np.int64).max


def write_out(
    code: str, supports: Supports, book: Book, index: int, items: Whole, held: npt.NDArray[np.bool_], count: Bound
) -> Finding:
    """The finding "count people have these items of the unpublished set and not the others", with its derivation."""
    release = supports.release
    event = ItemEvent(tuple(release.items.names[i] for i in items[held]), tuple(release.items.names[i] for i in items[~held]))
    cube = supports.cube(items, within=np.arange(len(release.items)))
    lines = np.unique(cube.line[:-1]).tolist()
    because = [Citation(index, "n", Bound.of(release.n or 0), None)] if -1 in lines else []
    because += [Citation(index, release.line(line), release.count(line), None) for line in lines if line >= 0]
    because.append(Citation(index, "min_support", Bound.of(release.min_support or 0), None))
    cube.line[0] = -1  # no step adds up all people where nobody knows how many they are
    story = _Story.of(supports, book, items, cube.line)
    proved = story.proof(held)
    steps = derivation_steps(
        proved, frozenset(event.present), frozenset(event.absent), count, story.published, release.min_support or 1
    )
    named = [line for line in lines if line >= 0 and any(f"(line {release.line(line)})" in step for step in steps)]
    steps = [*print_steps(release, named), *steps]
    proof = certificate(event, count, steps=proved)
    return Finding(code, event, count, f"{people(count)} {sentence(event, count)}.", tuple(because), tuple(steps), None, proof)


@dataclass(eq=False)
class _Story:
    """Steps of a derivation over the subsets of one itemset, each unpublished subset explained once, smaller ones first.

    Subsets are bit masks over ``items``: ``low`` and ``high`` bound their supports, ``line`` says which published set tells them.
    """

    supports: Supports
    items: Whole
    low: Whole
    high: Whole
    line: Whole

    @classmethod
    def of(cls, supports: Supports, book: Book, items: Whole, line: Whole) -> _Story:
        """The story of an itemset that the book has bounds for all proper subsets of."""
        low, high, _ = book.bounds(book.subsets(items))
        return cls(supports, items, low, high, line)

    def _tightest(self, mask: int) -> tuple[int, int, int, int]:
        """The least and the most people of an unpublished subset, each with the group that says so by not being negative."""
        parts = _submasks(mask)
        low, high = self.low[parts].copy(), self.high[parts].copy()
        low[-1] = high[-1] = 0
        cells(low, high)
        odd = np.bitwise_count((parts ^ mask).astype(np.uint64)).astype(np.int64) & 1
        ceiling = (self.supports.release.min_support or 1) - 1
        below, above = int(np.argmax(np.where(odd == 0, -high, -1))), int(np.argmin(np.where(odd == 1, high, _HUGE)))
        return max(0, -int(high[below])), int(parts[below]), min(ceiling, int(high[above])), int(parts[above])

    def proof(self, held: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
        """The certificate of the group: bounds on the unpublished subsets that its sum needs, and on those that these need."""
        whole = len(self.line) - 1
        has = sum(1 << j for j in np.flatnonzero(held).tolist())
        steps: list[dict[str, Any]] = []
        shown: set[int] = set()

        def show(mask: int) -> None:
            if self.line[mask] != -2 or mask in shown:
                return
            shown.add(mask)
            least, below, most, above = self._tightest(mask)
            ceiling = (self.supports.release.min_support or 1) - 1
            ends = [("at_least", least, below if least > 0 else None), ("at_most", most, above if most < ceiling else None)]
            for _, _, group in ends:
                if group is not None:
                    for extra in _submasks(mask ^ group)[:-1].tolist():
                        show(group | extra)
            for end, value, group in ends:
                if group is not None:
                    steps.append({"items": self._items(mask), end: value, "by": "group", "present": self._items(group)})
                elif end == "at_most":
                    steps.append({"items": self._items(mask), end: value, "by": "min_support"})

        for extra in _submasks(whole ^ has).tolist():
            show(has | extra)
        return steps

    def published(self, items: frozenset[str]) -> tuple[int, int, str] | None:
        """Bounds on the support of a subset, and where it stands; None where no line tells it."""
        names = self.supports.release.items.names
        mask = sum(1 << place for place, item in enumerate(self.items.tolist()) if names[item] in items)
        line = int(self.line[mask])
        if line == -2:
            return None
        place = "n" if line == -1 else f"line {self.supports.release.line(line)}"
        return int(self.low[mask]), int(self.high[mask]), place

    def _items(self, mask: int) -> list[str]:
        return sorted(self.supports.release.items.names[i] for i in self.items[bits_of(mask, len(self.items))])


def _submasks(mask: int) -> Whole:
    """All masks inside a mask, ascending.

    >>> _submasks(5).tolist()
    [0, 1, 4, 5]
    """
    found = np.zeros(1, np.int64)
    for bit in range(mask.bit_length()):
        if mask >> bit & 1:
            found = np.concatenate((found, found | 1 << bit))
    return found
