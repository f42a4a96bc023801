"""Checks of findings about itemsets (I01, I02).

I01 claims a sum of published supports. I02 claims one over supports of which some are not published: each of these is bounded by a step of the
certificate, because a complete list leaves it out, or because some group of people cannot have fewer than 0 members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.checker.rules import Bounds, Reject, Set
from tacit.checker.words import read_event
from tacit.model.arrays import Ints
from tacit.model.finding import Lines, Phrase, Shorter, Step, place_entry, render_steps
from tacit.model.numbers import Bound
from tacit.model.release import Itemsets, Sets
from tacit.model.words import (
    describe_event,
    explain_derivation,
    explain_maximal,
    explain_supports,
    make_support_term,
    render_people,
)

#: A sum over more absent items than this is not re-done.
MOST_ABSENT = 20
_ENDLESS = 1 << 100

Finding = Mapping[str, Any]


class _Index:
    """Places of the values of an array, found by binary search."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.order: Ints = np.argsort(values, kind="stable")
        self.sorted = values[self.order]

    def places(self, value: Any) -> Ints:
        first, last = (int(np.searchsorted(self.sorted, value, side=side)) for side in ("left", "right"))
        return self.order[first:last]


@dataclass(eq=False)
class ItemsetBook:
    """Published lines by line number and by itemset."""

    release: Itemsets
    _found: dict[Set, int | str | None] = field(default_factory=dict)
    _printed: dict[int, Bounds] = field(default_factory=dict)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.release.items.names)}

    @cached_property
    def _by_hash(self) -> _Index:
        return _Index(self.release.sets.hashes())

    @cached_property
    def _by_item(self) -> tuple[_Index, Ints]:
        return _Index(self.release.sets.members), self.release.sets.owners()

    @cached_property
    def _by_line(self) -> _Index | None:
        return None if self.release.lines is None else _Index(self.release.lines)

    def index_of(self, line: int) -> int:
        """Return the set in a line."""
        index = line - 2
        if self._by_line is not None:
            found = self._by_line.places(line)
            index = int(found[0]) if len(found) else -1
        if not 0 <= index < len(self.release):
            raise Reject(f"it cites line {line}, which holds no itemset")
        return index

    def line(self, line: int) -> tuple[Set, Bounds]:
        """Return the itemset and numbers of a line."""
        return frozenset(self.release.names(self.index_of(line))), self.bounds(line)

    def holding(self, items: Set) -> Ints:
        """Return the sets that hold all of these items."""
        by_item, owners = self._by_item
        found: Ints | None = None
        for item in items:
            mine = owners[by_item.places(self._number.get(item, -1))]
            found = mine if found is None else found[np.isin(found, mine, assume_unique=True)]
        return np.arange(len(self.release)) if found is None else found

    def find(self, items: Set) -> int | str | None:
        """Return the line of an itemset, ``"n"``, or None."""
        if items not in self._found:
            self._found[items] = self._find(items)
        return self._found[items]

    def _find(self, items: Set) -> int | str | None:
        release = self.release
        if not items:
            return "n"
        numbers = [self._number.get(item, -1) for item in items]
        if -1 in numbers:
            return None
        wanted = Sets.from_lists([numbers])
        for index in self._by_hash.places(wanted.hashes()[0]).tolist():
            if np.array_equal(release.sets[index], wanted[0]):
                return release.line(index)
        if release.only == "closed" and release.header.complete and len(above := self.holding(items)):
            return min((int(release.sets.lengths[index]), release.line(index)) for index in above.tolist())[1]
        return None

    def supports(self, has: Set, lacks: Set) -> list[tuple[int, int | str]]:
        """Return signs and places of a group's sum, by inclusion-exclusion."""
        out = []
        for extra in subsets(lacks):
            if (place := self.find(has.union(extra))) is None:
                raise Reject("the support of an itemset in its sum does not follow from the release")
            out.append(((-1) ** len(extra), place))
        return out

    def bounds(self, place: int | str) -> Bounds:
        """Return what the release prints at a place."""
        if place == "n":
            if self.release.n is None:
                raise Reject("it uses the number of people, which the release does not state")
            return self.release.n, self.release.n
        if place == "min_support" and self.release.min_support is not None:
            return self.release.min_support, self.release.min_support
        if isinstance(place, str):
            raise Reject(f"it rests on {place}, which the release does not state")
        if place not in self._printed:
            index = self.index_of(place)
            self._printed[place] = (int(self.release.lo[index]), int(self.release.hi[index]))
        return self._printed[place]


def check_itemsets(finding: Finding, book: ItemsetBook, cited: Mapping[Any, Any]) -> Bounds:
    """Return bounds on an event, whatever its weights and words."""
    present, absent = _sides(finding["event"])
    if present & absent or len(absent) > MOST_ABSENT:
        raise Reject("its event is empty or too long to check")
    if finding["code"] == "I01":
        if "same_people" in finding:
            has, lacks = _sides(finding["same_people"])
            if not (has <= present and lacks <= absent) or list(_add(book, book.supports(has, lacks))) != finding["count"]:
                raise Reject("the same people are described wrongly")
        return _add(book, book.supports(present, absent))
    if finding["code"] != "I02":
        raise Reject(f"there is no way to check {finding['code']}")
    if not book.release.header.complete:
        raise Reject("it needs a complete list, and the release is not one")
    derived = _behind_maximal if book.release.only == "maximal" else _unpublished
    return derived(finding, book, present, absent, cited=cited)


def _sides(event: Mapping[str, Any]) -> tuple[Set, Set]:
    return frozenset(event["present"]), frozenset(event["absent"])


def _weigh(terms: Sequence[tuple[int, int | str]]) -> dict[int | str, int]:
    weights: dict[int | str, int] = {}
    for sign, place in terms:
        weights[place] = weights.get(place, 0) + sign
    return {place: weight for place, weight in weights.items() if weight}


def _add(book: ItemsetBook, terms: Sequence[tuple[int, int | str]]) -> Bounds:
    # Bounds are added support by support: two rounded supports that share a line need not be equal, so they do not cancel.
    return _signed((sign, book.bounds(place)) for sign, place in terms)


def _unpublished(finding: Finding, book: ItemsetBook, present: Set, absent: Set, cited: Mapping[Any, Any]) -> Bounds:
    shown: dict[Set, Bounds] = {}
    used: set[int | str] = {"min_support"}
    for step in finding["certificate"]["steps"]:
        if not set(step["items"]) <= present | absent:
            raise Reject("a step of its certificate is about other items")
        take_step(step, book, shown, used)
    found = _signed(((-1) ** len(extra), _support(book, present.union(extra), shown, used)) for extra in subsets(absent))
    parts = (part for part in map(frozenset, subsets(present | absent)) if part or book.release.n is not None)
    told = {place for part in parts if (place := book.find(part)) is not None}
    if set(cited) != told | {"min_support"} or not used <= set(cited):
        raise Reject("the lines it cites are not those of its derivation")
    return found


def take_step(step: Mapping[str, Any], book: ItemsetBook, shown: dict[Set, Bounds], used: set[int | str]) -> None:
    """Accept a bound on an unpublished support, if implied."""
    items = frozenset(map(str, step["items"]))
    if book.find(items) is not None:
        raise Reject("a step of its certificate bounds an itemset that is published")
    lo, hi = shown.get(items, (0, _ENDLESS))
    at_least = int(step.get("at_least", 0))
    at_most = int(step.get("at_most", _ENDLESS))
    if step["by"] == "group":
        part = frozenset(map(str, step["present"]))
        if not part < items or len(items - part) > MOST_ABSENT:
            raise Reject("a step of its certificate is not about a group of its itemset")
        others = [extra for extra in subsets(items - part) if part.union(extra) != items]
        # The group "all of part, nothing else of items" is this sum plus or minus the unknown support, and not negative.
        _, most = _signed(((-1) ** len(extra), _support(book, part.union(extra), shown, used)) for extra in others)
        lo, hi = (lo, min(hi, most)) if len(items - part) % 2 else (max(lo, -most), hi)
    elif step["by"] == "min_support":
        if not book.release.header.covers(len(items)):
            raise Reject("an itemset that is longer than the list holds need not be below its threshold")
        if book.release.header.coarser:
            columns = dict(zip(book.release.items.names, book.release.items.pairs or (), strict=False))
            named = [columns[item][0] for item in items if item in columns]
            if not len(named) == len(items) == len(set(named)):
                raise Reject("an itemset with two items of one column is never listed, so that it is missing says nothing")
        hi = min(hi, (book.release.min_support or 1) - 1)
    else:
        raise Reject("a step of its certificate names no law")
    if at_least > lo or at_most < min(hi, _ENDLESS):
        raise Reject("a step of its certificate does not follow from its lines and earlier steps")
    if at_least > at_most:
        raise Reject("the published counts contradict each other")
    before = shown.get(items, (0, _ENDLESS))
    shown[items] = (max(before[0], at_least), min(before[1], at_most))


def _support(book: ItemsetBook, items: Set, shown: Mapping[Set, Bounds], used: set[int | str]) -> Bounds:
    if items in shown:
        return shown[items]
    if (place := book.find(items)) is None:
        raise Reject("its certificate does not show the support of an itemset that it uses")
    used.add(place)
    return book.bounds(place)


def _behind_maximal(finding: Finding, book: ItemsetBook, present: Set, absent: Set, cited: Mapping[Any, Any]) -> Bounds:
    lines = [place for place in cited if isinstance(place, int)]
    if set(cited) != {"n", "min_support", *lines} or len(lines) != 2 or len(absent) > 1:
        raise Reject("the lines it cites are not those of its derivation")
    n = book.bounds("n")[0]
    most = book.bounds("min_support")[0] - 1
    one, two = (book.line(line) for line in sorted(lines, key=lambda line: bool(absent & book.line(line)[0])))
    together = one[0] | (absent or two[0])
    if len(book.holding(together)):
        raise Reject("a line holds its items together")
    if finding["certificate"]["steps"] != [{"items": sorted(together), "at_most": most, "by": "min_support"}]:
        raise Reject("a step of its certificate does not follow from its lines and earlier steps")
    if not absent and present == together:
        return one[1][0] + two[1][0] - n, most
    if not absent <= two[0] or present not in (one[0], frozenset()):
        raise Reject("the lines it cites are not those of its derivation")
    fewest = n - two[1][0]
    return one[1][0] - most, min(one[1][1], fewest) if present else fewest


def subsets(items: Set) -> list[tuple[str, ...]]:
    """All subsets, smaller ones first."""
    return [extra for size in range(len(items) + 1) for extra in combinations(sorted(items), size)]


def _signed(terms: Iterable[tuple[int, Bounds]]) -> Bounds:
    lo = hi = 0
    for weight, (low, high) in terms:
        lo += weight * (low if weight > 0 else high)
        hi += weight * (high if weight > 0 else low)
    return lo, hi


def check_itemset_words(finding: Finding, book: ItemsetBook) -> None:
    """Raise unless citations and steps match the certificate."""
    words = _Words(finding, book)
    if list(finding["because"]) != words.citations():
        raise Reject("the lines it cites are not those of its sum, each once and in order")
    if tuple(finding["steps"]) not in [render_steps(steps) for steps in words.steps()]:
        raise Reject("its steps do not say what its certificate says")


class _Words:
    def __init__(self, finding: Finding, book: ItemsetBook) -> None:
        self.finding = finding
        self.book = book
        self.owner = finding["because"][0]["release"]
        self.present, self.absent = _sides(finding["event"])
        self.count = Bound(*finding["count"])
        self.lines: list[int] = sorted({one["line"] for one in finding["because"] if "line" in one}, key=book.index_of)

    def citations(self) -> list[dict[str, Any]]:
        if self.finding["code"] == "I01":
            weights = _weigh(self.book.supports(self.present, self.absent))
            places = sorted(weights, key=lambda place: -1 if place == "n" else self.book.index_of(int(place)))
            told = [self._cited(place) | {"weight": weights[place]} for place in places]
            proof = [{name: one[name] for name in one if name != "count"} | {"weight": str(one["weight"])} for one in told]
            if list(self.finding["certificate"]["weights"]) != proof:
                raise Reject("the weights of its certificate are not those of its sum")
            return told
        named = {one.get("cell") for one in self.finding["because"]}
        head = [self._cited("n")] if "n" in named else []
        return [*head, *(self._cited(line) for line in self.lines), self._cited("min_support")]

    def _cited(self, place: int | str) -> dict[str, Any]:
        return {"release": self.owner, **place_entry(place), "count": list(self.book.bounds(place))}

    def steps(self) -> Iterator[list[Step]]:
        release = self.book.release
        indexes = [self.book.index_of(line) for line in self.lines]
        if self.finding["code"] == "I01":
            out = self._sum(self.present, self.absent)
            if "same_people" in self.finding:
                same = read_event(self.finding["same_people"])
                out.append(Shorter(f"{render_people(self.count)} {describe_event(same, self.count)}."))
                out += self._sum(frozenset(same.present), frozenset(same.absent))
            yield out
        elif release.only == "maximal":
            for one, two in (indexes, indexes[::-1]):
                yield explain_maximal(release, one, two, next(iter(self.absent), None))
        else:
            steps = self.finding["certificate"]["steps"]
            event = read_event(self.finding["event"])
            yield explain_derivation(release, indexes, steps, event, count=self.count, published=self._published)

    def _sum(self, has: Set, lacks: Set) -> list[Step]:
        weights = _weigh(self.book.supports(has, lacks))
        indexes = {place: -1 if place == "n" else self.book.index_of(int(place)) for place in weights}
        terms = {place: make_support_term(self.book.release, indexes[place], weights[place]) for place in weights}
        return explain_supports(terms, self.count)

    def _published(self, items: Set) -> tuple[int, int, Phrase] | None:
        if (place := self.book.find(items)) is None:
            return None
        return (*self.book.bounds(place), (Lines((place,)),) if isinstance(place, int) else (place,))
