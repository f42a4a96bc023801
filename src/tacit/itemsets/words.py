"""Findings of I01 and I02, written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.itemsets.supports import NOTHING, Supports
from tacit.kernels.deduction import Book, bits_of
from tacit.kernels.rows import cells
from tacit.model.arrays import Ints
from tacit.model.finding import (
    Citation,
    Finding,
    ItemEvent,
    Lines,
    Phrase,
    Shorter,
    Step,
    Term,
    certificate,
    place_entry,
    remark,
)
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets
from tacit.model.words import describe_event, explain_derivation, explain_supports, make_support_term, render_people

MOST_FREE = 20  #: Sums over more free items than this are not written out: 2**20 terms are a million.
SHORTENED_ITEMS = 16  #: Shorter descriptions of the same people are searched on sets of at most this many items.


def write_out(
    code: str, supports: Supports, index: int, line: int, present: npt.NDArray[np.uint64], free: int, count: Bound
) -> Finding:
    """Return the finding about a pattern on ``line``, ``free`` items left open."""
    release = supports.release
    items, held = _items_held(release, line, present, free)
    within = release.sets[line].astype(np.int64) if free else NOTHING
    has = items[held]
    lacks = items[~held]
    event = _event(release, has, lacks)
    because, steps = _sum(supports, index, has, lacks, count=count, within=within)
    shorter = _shortest(supports, items, held, within) if count.is_exact else None
    same = None
    if shorter is not None:
        same = _event(release, *shorter)
        steps.append(Shorter(f"{render_people(count)} {describe_event(same, count)}."))
        steps += _sum(supports, index, *shorter, count, within if free else items)[1]
    weights = [{"release": cited.release, **place_entry(cited.at), "weight": str(cited.weight)} for cited in because]
    proof = certificate(event, count, weights=weights) if because else None
    statement = f"{render_people(count)} {describe_event(event, count)}."
    return Finding(
        code, event, count, statement, because=tuple(because), derivation=tuple(steps), same_people=same, certificate=proof
    )


def event_of(release: Itemsets, line: int, present: npt.NDArray[np.uint64], free: int) -> ItemEvent:
    """Return the event of a pattern on ``line``, ``free`` items left open."""
    items, held = _items_held(release, line, present, free)
    return _event(release, items[held], items[~held])


def _items_held(release: Itemsets, line: int, present: npt.NDArray[np.uint64], free: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the fixed items of a line (-1: none), and which are present."""
    items = release.sets[line].astype(np.int64) if line >= 0 else NOTHING
    held = np.array([bool(int(present[j // 64]) >> (j % 64) & 1) for j in range(len(items))], np.bool_)
    asked = np.array([not free >> j & 1 for j in range(len(items))], np.bool_)
    return items[asked], held[asked]


def _event(release: Itemsets, has: Ints, lacks: Ints) -> ItemEvent:
    names = release.items.names
    return ItemEvent(tuple(names[i] for i in has), tuple(names[i] for i in lacks))


def _sum(
    supports: Supports, index: int, has: Ints, lacks: Ints, count: Bound, within: Ints = NOTHING
) -> tuple[list[Citation], list[Step]]:
    release = supports.release
    if len(lacks) > MOST_FREE:
        return [], [remark(f"The sum over the supersets of the present items has 2^{len(lacks)} terms; it is not written out.")]
    cube = supports.cube(lacks, has, within)
    signs = 1 - 2 * (np.bitwise_count(np.arange(1 << len(lacks), dtype=np.uint64)).astype(np.int64) & 1)
    lines, place = np.unique(cube.line, return_inverse=True)
    weights = np.zeros(len(lines), np.int64)
    np.add.at(weights, place, signs)
    terms: dict[int | str, Term] = {}
    for line, weight in zip(lines.tolist(), weights.tolist(), strict=True):
        if weight:
            terms["n" if line == -1 else release.line(line)] = make_support_term(release, line, weight)
    because = [Citation(index, place, term.bound, int(term.times)) for place, term in terms.items()]
    return because, explain_supports(terms, count)


def _shortest(supports: Supports, items: Ints, held: npt.NDArray[np.bool_], within: Ints = NOTHING) -> tuple[Ints, Ints] | None:
    """Return fewer conditions with the same people (greedily), or None."""
    if len(items) > SHORTENED_ITEMS:
        return None
    cube = supports.cube(items, within=within)
    if not cube.known.all() or not np.array_equal(cube.lo, cube.hi):
        return None
    lo = cube.lo.copy()
    hi = cube.hi.copy()
    cells(lo, hi)
    groups = np.flatnonzero(lo)
    sizes = lo[groups]

    def size(conditions: list[int]) -> int:
        kept = np.ones(len(groups), np.bool_)
        for j in conditions:
            kept &= (groups >> j & 1).astype(np.bool_) == held[j]
        return int(sizes[kept].sum())

    best: list[int] = list(range(len(items)))
    whole = size(best)
    # Dropping what is lacked first tends to leave short sums, dropping what is had first short descriptions: the shorter wins.
    for order in (sorted(best, key=lambda j: (held[j], j)), sorted(best, key=lambda j: (not held[j], j))):
        kept = list(range(len(items)))
        for j in order:
            rest = [i for i in kept if i != j]
            if size(rest) == whole:
                kept = rest
        if len(kept) < len(best):
            best = kept
    if len(best) == len(items):
        return None
    chosen = np.zeros(len(items), np.bool_)
    chosen[best] = True
    return items[chosen & held], items[chosen & ~held]


_HUGE = np.iinfo(np.int64).max


def write_out_deduction(
    code: str, supports: Supports, book: Book, index: int, items: Ints, held: npt.NDArray[np.bool_], count: Bound
) -> Finding:
    """Return the finding about an unpublished set."""
    release = supports.release
    event = _event(release, items[held], items[~held])
    cube = supports.cube(items, within=np.arange(len(release.items)))
    lines = np.unique(cube.line[:-1]).tolist()
    named = [line for line in lines if line >= 0]
    because = [Citation(index, "n", Bound.of(release.n or 0), None)] if -1 in lines else []
    because += [Citation(index, release.line(line), release.count(line), None) for line in named]
    because.append(Citation(index, "min_support", Bound.of(release.min_support or 0), None))
    cube.line[0] = -1  # no step adds up all people where nobody knows how many they are
    low, high, _ = book.bounds(book.subsets(items))
    story = _Story(supports, items, low, high, cube.line)
    proved = story.proof(held)
    steps = explain_derivation(release, named, proved, event, count=count, published=story.published)
    proof = certificate(event, count, steps=proved)
    statement = f"{render_people(count)} {describe_event(event, count)}."
    return Finding(code, event, count, statement, because=tuple(because), derivation=tuple(steps), certificate=proof)


@dataclass(eq=False)
class _Story:
    """Derivation over subsets, each explained once.

    Subsets are bit masks over ``items``: ``low`` and ``high`` bound their supports, ``line`` says which published set gives them.
    """

    supports: Supports
    items: Ints
    low: Ints
    high: Ints
    line: Ints

    def _tightest(self, mask: int) -> tuple[int, int, int, int]:
        """Return an unpublished subset's bounds, with their groups."""
        parts = _submasks(mask)
        low = self.low[parts].copy()
        high = self.high[parts].copy()
        low[-1] = high[-1] = 0
        cells(low, high)
        odd = np.bitwise_count((parts ^ mask).astype(np.uint64)).astype(np.int64) & 1
        ceiling = self._ceiling(mask)
        below = int(np.argmax(np.where(odd == 0, -high, -1)))
        above = int(np.argmin(np.where(odd == 1, high, _HUGE)))
        return max(0, -int(high[below])), int(parts[below]), min(ceiling, int(high[above])), int(parts[above])

    def _ceiling(self, mask: int) -> int:
        release = self.supports.release
        return (release.min_support or 1) - 1 if release.header.covers(mask.bit_count()) else _HUGE

    def proof(self, held: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
        whole = len(self.line) - 1
        has = sum(1 << j for j in np.flatnonzero(held).tolist())
        steps: list[dict[str, Any]] = []
        shown: set[int] = set()

        def show(mask: int) -> None:
            if self.line[mask] != -2 or mask in shown:
                return
            shown.add(mask)
            least, below, most, above = self._tightest(mask)
            ceiling = self._ceiling(mask)
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

    def published(self, items: frozenset[str]) -> tuple[int, int, Phrase] | None:
        names = self.supports.release.items.names
        mask = sum(1 << place for place, item in enumerate(self.items.tolist()) if names[item] in items)
        line = int(self.line[mask])
        if line == -2:
            return None
        place: Phrase = ("n",) if line == -1 else (Lines((self.supports.release.line(line),)),)
        return int(self.low[mask]), int(self.high[mask]), place

    def _items(self, mask: int) -> list[str]:
        return sorted(self.supports.release.items.names[i] for i in self.items[bits_of(mask, len(self.items))])


def _submasks(mask: int) -> Ints:
    """Return all masks inside a mask, ascending: of 5, 0, 1, 4 and 5."""
    found = np.zeros(1, np.int64)
    for bit in range(mask.bit_length()):
        if mask >> bit & 1:
            found = np.concatenate((found, found | 1 << bit))
    return found
