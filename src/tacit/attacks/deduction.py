"""The arithmetic of a group that an unpublished itemset gives away, in words."""

from __future__ import annotations

from dataclasses import dataclass, field
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
from tacit.wording import listed, people, sentence

Whole = npt.NDArray[np.int64]

#: Sums of more terms than this are given as one number.
MOST_TERMS = 32
#: Derivations through more unpublished itemsets than this are not written out step by step.
MOST_STEPS = 40
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
    steps = story.told(held, count)
    named = [line for line in lines if line >= 0 and any(f"(line {release.line(line)})" in step for step in steps)]
    steps = [*print_steps(release, named), *steps]
    proof = certificate(event, count, steps=story.proof(held))
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
    steps: list[str] = field(default_factory=list)
    explained: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, supports: Supports, book: Book, items: Whole, line: Whole) -> _Story:
        """The story of an itemset that the book has bounds for all proper subsets of."""
        low, high, _ = book.bounds(book.subsets(items))
        return cls(supports, items, low, high, line)

    def told(self, held: npt.NDArray[np.bool_], count: Bound) -> list[str]:
        """All steps, from the smallest unpublished subset to the group that the finding is about."""
        unpublished = int((self.line[:-1] == -2).sum())
        if unpublished > MOST_STEPS:
            return [
                f"It follows through {unpublished:,} unpublished subsets, too many to write out here; all published lines are cited."
            ]
        self._explain(len(self.line) - 1)
        whole = len(self.line) - 1
        self.steps.append(
            f"{self._group(whole, sum(1 << j for j in np.flatnonzero(held).tolist()))} people, that is {people(count)}."
        )
        return self.steps

    def _explain(self, mask: int) -> None:
        """Tell how the bounds on an unpublished subset follow, those of its own unpublished subsets first."""
        for part in _submasks(mask)[:-1].tolist():
            if self.line[part] == -2 and part not in self.explained:
                self._explain(part)
        self.explained.add(mask)
        ceiling = (self.supports.release.min_support or 1) - 1
        least, below, most, above = self._tightest(mask)
        self.steps.append(f"No line says how many people have {self._names(mask, 'and')}; call it x.")
        if least > 0:
            self.steps.append(f"{self._group(mask, below)} people cannot be negative: x is at least {least:,}.")
        if most < ceiling:
            self.steps.append(f"{self._group(mask, above)} people cannot be negative: x is at most {most:,}.")
        else:
            self.steps.append(f"The list is complete from {ceiling + 1:,} people on and leaves it out: x is at most {ceiling:,}.")
        self.steps.append(f"So x is {least:,}." if least == most else f"So x is between {least:,} and {most:,}.")

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

    def _items(self, mask: int) -> list[str]:
        return sorted(self.supports.release.items.names[i] for i in self.items[bits_of(mask, len(self.items))])

    def _names(self, mask: int, word: str) -> str:
        chosen = self.items[bits_of(mask, len(self.items))]
        return listed(tuple(sorted(self.supports.release.items.names[i] for i in chosen)), word)

    def _group(self, whole: int, has: int) -> str:
        """A group on a subset as a sum of supports: "Those with a without b: 50 (line 3) - x = 50 - x"."""
        who = f"with {self._names(has, 'and')}" if has else "of all people"
        without = f" without {self._names(whole ^ has, 'or')}" if whole ^ has else ""
        terms, lo, hi = [], 0, 0
        for extra in _submasks(whole ^ has)[:-1].tolist():
            low, high = int(self.low[has | extra]), int(self.high[has | extra])
            sign = -1 if extra.bit_count() % 2 else 1
            lo, hi = (lo + low, hi + high) if sign > 0 else (lo - high, hi - low)
            number = f"{low:,}" if low == high else f"[{low:,} to {high:,}]"
            terms.append(f"{'-' if sign < 0 else '+'} {number} ({self._place(has | extra)})")
        last = "- x" if (whole ^ has).bit_count() % 2 else "+ x"
        rest = f"{lo:,}" if lo == hi else f"[{lo:,} to {hi:,}]"
        if len(terms) > MOST_TERMS:
            terms = [f"+ {rest} (a sum of {len(terms)} supports)"]
        written = " ".join([*terms, last]).removeprefix("+ ")
        return f"Those {who}{without}: {written}" + (f" = {rest} {last}" if len(terms) > 1 else "")

    def _place(self, mask: int) -> str:
        """Where the support of a subset stands."""
        line = int(self.line[mask])
        return "n" if line == -1 else f"line {self.supports.release.line(line)}" if line >= 0 else "from above"


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
