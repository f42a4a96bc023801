"""The arithmetic of a group that an unpublished itemset gives away, in words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.attacks.derivation import listed, people, sentence
from tacit.attacks.supports import Supports
from tacit.kernels.book import Book, bits_of
from tacit.kernels.moebius import cells
from tacit.model.bound import Bound
from tacit.model.event import ItemEvent
from tacit.model.finding import Citation, Finding

Whole = npt.NDArray[np.int64]

#: Sums of more terms than this are given as one number.
MOST_TERMS = 32
_HUGE = np.iinfo(np.int64).max


def write_out(
    code: str, supports: Supports, book: Book, index: int, items: Whole, held: npt.NDArray[np.bool_], count: Bound
) -> Finding:
    """The finding "count people have these items of the unpublished set and not the others", with its derivation."""
    names = supports.release.items.names
    event = ItemEvent(tuple(names[i] for i in items[held]), tuple(names[i] for i in items[~held]))
    story = _Story(supports, book)
    story.support(items)
    story.group(items, held, count)
    lines = sorted(story.lines)
    because = [Citation(index, supports.release.line(line), supports.release.count(line), None) for line in lines if line >= 0]
    if -1 in story.lines:
        because.insert(0, Citation(index, "n", Bound.of(supports.release.n or 0), None))
    because.append(Citation(index, "min_support", Bound.of(supports.release.min_support or 0), None))
    return Finding(code, event, count, f"{people(count)} {sentence(event, count)}.", tuple(because), tuple(story.steps))


@dataclass(eq=False)
class _Story:
    """Steps of a derivation, each itemset explained once, smaller ones first."""

    supports: Supports
    book: Book
    steps: list[str] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    told: dict[tuple[int, ...], tuple[int, int]] = field(default_factory=dict)

    def support(self, items: Whole) -> tuple[int, int]:
        """Bounds on the support of an unpublished itemset; tells how they follow, and how those of its unpublished subsets do."""
        key = tuple(items.tolist())
        if key in self.told:
            return self.told[key]
        for mask in range((1 << len(items)) - 1):
            part = items[bits_of(mask, len(items))]
            line = self.supports.line_for(part)
            if line == -2:
                self.support(part)
            else:
                self.lines.add(line)
        _, high = self._groups_without(items)
        odd = np.bitwise_count(np.arange(len(high), dtype=np.uint64) ^ np.uint64(len(high) - 1)).astype(np.int64) & 1
        ceiling = (self.supports.release.min_support or 1) - 1
        below, above = int(np.argmax(np.where(odd == 0, -high, -1))), int(np.argmin(np.where(odd == 1, high, _HUGE)))
        least, most = max(0, -int(high[below])), min(ceiling, int(high[above]))
        self.steps.append(f"No line says how many people have {self._names(items, 'and')}; call it x.")
        if least > 0:
            self.steps.append(f"{self._group(items, below)} people cannot be negative: x is at least {least:,}.")
        if most < ceiling:
            self.steps.append(f"{self._group(items, above)} people cannot be negative: x is at most {most:,}.")
        else:
            self.steps.append(f"The list is complete from {ceiling + 1:,} people on and leaves it out: x is at most {ceiling:,}.")
        self.steps.append(f"So x is {least:,}." if least == most else f"So x is between {least:,} and {most:,}.")
        self.told[key] = (least, most)
        return least, most

    def group(self, items: Whole, held: npt.NDArray[np.bool_], count: Bound) -> None:
        """The last step: the size of the group that the finding is about."""
        mask = sum(1 << j for j in range(len(items)) if held[j])
        self.steps.append(f"{self._group(items, mask)} people, that is {people(count)}.")

    def _groups_without(self, items: Whole) -> tuple[Whole, Whole]:
        """Bounds of the groups on the items, the support of the whole set taken as 0."""
        low, high, known = self.book.bounds(self.book.subsets(items))
        low, high = np.where(known, low, 0), np.where(known, high, 0)
        low[-1] = high[-1] = 0
        cells(low, high)
        return low, high

    def _names(self, items: Whole, word: str) -> str:
        return listed(tuple(sorted(self.supports.release.items.names[i] for i in items)), word)

    def _group(self, items: Whole, mask: int) -> str:
        """A group as a sum of supports: "those with a without b: 50 (line 3) - x = 50 - x"."""
        held = bits_of(mask, len(items))
        has, lacks = items[held], items[~held]
        who = f"with {self._names(has, 'and')}" if len(has) else "of all people"
        without = f" without {self._names(lacks, 'or')}" if len(lacks) else ""
        terms, lo, hi = [], 0, 0
        for extra in range(1 << len(lacks)):
            if extra == (1 << len(lacks)) - 1:
                continue
            sign = -1 if extra.bit_count() % 2 else 1
            low, high, where = self._published(np.union1d(has, lacks[bits_of(extra, len(lacks))]))
            lo, hi = (lo + low, hi + high) if sign > 0 else (lo - high, hi - low)
            number = f"{low:,}" if low == high else f"[{low:,} to {high:,}]"
            terms.append(f"{'-' if sign < 0 else '+'} {number} ({where})")
        last = "- x" if len(lacks) % 2 else "+ x"
        rest = f"{lo:,}" if lo == hi else f"[{lo:,} to {hi:,}]"
        if len(terms) > MOST_TERMS:
            terms = [f"+ {rest} (a sum of {len(terms)} supports)"]
        written = " ".join([*terms, last]).removeprefix("+ ")
        return f"Those {who}{without}: {written}" + (f" = {rest} {last}" if len(terms) > 1 else "")

    def _published(self, items: Whole) -> tuple[int, int, str]:
        """What is known about a support, and where it stands."""
        release = self.supports.release
        line = self.supports.line_for(items)
        if line == -1:
            return release.n or 0, release.n or 0, "n"
        if line >= 0:
            return int(release.lo[line]), int(release.hi[line]), f"line {release.line(line)}"
        return *self.support(items), "from above"
