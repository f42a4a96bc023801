"""Checks of findings about rules (R01).

A certificate lists bounds on numbers of people, each with the law that it follows by: one of the few that counts of people obey. Every step is
redone on the cited lines and on earlier steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from tacit.model.numbers import DOUBLE_DIGITS, Printed
from tacit.model.release import Header, Rules

Set = frozenset[str]
Bounds = tuple[int, int]

_ENDLESS = 1 << 100
MOST_ITEMS = 10  #: Groups on sets of more items than this are not looked at.


class Reject(Exception):
    """Finding that does not follow, with the reason."""


class _Line(NamedTuple):
    """Published rule: items, bounds, and confidences."""

    has: Set
    all: Set
    people: Bounds
    whole: Bounds
    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool

    def among(self, people: int) -> Bounds:
        least = max(self.people[0], _ceil(self.low * people, self.low_open))
        return least, min(self.people[1], _floor(self.high * people, self.high_open))


@dataclass(slots=True)
class RuleBook:
    """Published rules by line number, and their header."""

    release: Rules
    by_line: dict[int, int] = field(default_factory=dict)
    rules: set[tuple[Set, Set]] = field(default_factory=set)
    values: tuple[str, ...] = ()
    columns: dict[str, str] = field(init=False)
    sensitive: str = field(init=False)

    def __post_init__(self) -> None:
        release = self.release
        header = release.header
        for index in range(len(release)):
            self.by_line[release.line(index)] = index
            self.rules.add((self._names(release.antecedents[index]), self._names(release.consequents[index])))
        self.columns = {name: column for name, (column, _) in zip(release.items.names, release.items.pairs or (), strict=False)}
        self.sensitive = " & ".join(header.sa)
        known = tuple(f"{self.sensitive}={value}" for value in header.sa_values)
        left = {self.columns[item] for has, _ in self.rules for item in has if item in self.columns}
        # Only where rules lead from quasi-identifying columns to one value of the sensitive one, each person has one of its values.
        if header.qi and header.sa and left <= set(header.qi) - {self.sensitive} and release.items.pairs is not None:
            self.values = known if all(len(then) == 1 and then <= set(known) for _, then in self.rules) else ()

    def _names(self, items: Any) -> Set:
        return frozenset(self.release.items.names[item] for item in items)

    def line(self, number: int) -> _Line:
        """Return what a line says by itself."""
        if number not in self.by_line:
            raise Reject(f"it cites line {number}, which holds no rule")
        release = self.release
        index = self.by_line[number]
        has = self._names(release.antecedents[index])
        count = release.count(index)
        whole = release.whole(index)
        every = has | self._names(release.consequents[index])
        return _Line(has, every, (count.lo, count.hi), (whole.lo, whole.hi), *allowed_confidences(release, index))

    def bounds(self, place: int | str) -> Bounds:
        """Return what the release prints at a place."""
        header = self.release.header
        entries = {"n": self.release.n, "min_support": header.min_support}
        entries |= {"sa_values": len(self.values) or None, "sa_distribution": sum(header.sa_counts) or None}
        if isinstance(place, int):
            return self.line(place).people
        if (entry := entries.get(place)) is None:
            raise Reject(f"it rests on {place}, which the release does not state")
        return entry, entry


def allowed_confidences(release: Rules, index: int) -> tuple[Fraction, Fraction, bool, bool]:
    """Return a line's confidences: ends, and which are open."""
    header = release.header
    low = header.min_confidence or Fraction(0)
    low_open = bool(header.strict and low > 0)
    printed = release.confidence.value(index) if release.confidence is not None else None
    if printed is None or release.confidence is None:
        return low, Fraction(1), low_open, False
    step = Fraction(1, 10 ** int(release.confidence.digits[index]))
    # A binary double may be off by a few units in its last place whatever the rounding.
    is_double = len(str(int(release.confidence.scaled[index]))) >= DOUBLE_DIGITS
    shown = Printed.decimal(printed, step, header.rounding, is_double=is_double)
    if shown.lo >= low:
        low_open = shown.lo_open or (low_open and shown.lo == low)
        low = shown.lo
    return (low, shown.hi, low_open, shown.hi_open) if shown.hi < 1 else (low, Fraction(1), low_open, False)


def most_left_out(header: Header, people: int) -> int:
    """Return the most people of an unlisted rule."""
    assert header.min_confidence is not None
    return max(0, (header.min_support or 0) - 1, _floor(header.min_confidence * people, not header.strict))


def _ceil(value: Fraction, is_open: bool) -> int:
    """Return the ceiling of a value; above an open end."""
    least = -(-value.numerator // value.denominator)
    return least + 1 if is_open and least == value else least


def _floor(value: Fraction, is_open: bool) -> int:
    most = value.numerator // value.denominator
    return most - 1 if is_open and most == value else most


class World:
    """Bounds on supports, proved step by step."""

    def __init__(self, book: RuleBook, cited: Sequence[int | str]) -> None:
        self.book = book
        self.by_number = {place: book.line(place) for place in cited if isinstance(place, int)}
        self.lines = list(self.by_number.values())
        self.cells = {place for place in cited if isinstance(place, str)}
        self.lo: dict[Set, int] = defaultdict(int)
        self.hi: dict[Set, int] = defaultdict(lambda: _ENDLESS)

    def replay(self, step: Mapping[str, Any]) -> None:
        """Accept a step if its law proves its claim."""
        items = frozenset(map(str, step["items"]))
        law = step["by"]
        if law not in _LAWS:
            raise Reject("a step of its certificate names no law")
        lo, hi = _LAWS[law](self, items, step)
        at_least = int(step.get("at_least", 0))
        at_most = int(step.get("at_most", _ENDLESS))
        if at_least > max(0, lo) or at_most < min(hi, _ENDLESS):
            raise Reject("a step of its certificate does not follow from its lines and earlier steps")
        self.lo[items] = max(self.lo[items], at_least)
        self.hi[items] = min(self.hi[items], at_most)
        if self.lo[items] > self.hi[items]:
            raise Reject("the lines that it cites contradict each other")

    def _cited(self, step: Mapping[str, Any]) -> _Line:
        if step["line"] not in self.by_number:
            raise Reject("a step of its certificate uses a line that it does not cite")
        return self.by_number[step["line"]]

    def _needs(self, cell: str) -> None:
        if cell not in self.cells:
            raise Reject(f"a step of its certificate rests on {cell}, which it does not cite")

    def _line(self, items: Set, step: Mapping[str, Any]) -> Bounds:
        line = self._cited(step)
        mine, bounds = (line.all, line.people) if step["by"] == "count" else (line.has, line.whole)
        if items != mine:
            raise Reject("a line of its certificate is about other items")
        return bounds

    def _confidence(self, items: Set, step: Mapping[str, Any]) -> Bounds:
        """Return bounds on one count from the other."""
        line = self._cited(step)
        if items == line.all:
            return _ceil(self.lo[line.has] * line.low, line.low_open), _floor(self.hi[line.has] * line.high, line.high_open)
        if items != line.has:
            raise Reject("a line of its certificate is about other items")
        least = _ceil(self.lo[line.all] / line.high, line.high_open) if line.high > 0 else 0
        bounded = line.low > 0 and self.hi[line.all] < _ENDLESS
        return least, _floor(self.hi[line.all] / line.low, line.low_open) if bounded else _ENDLESS

    def _inside(self, items: Set, step: Mapping[str, Any]) -> Bounds:
        """Return the bound by monotonicity."""
        other = frozenset(map(str, step["from"]))
        return self.lo[other] if items <= other else 0, self.hi[other] if other <= items else _ENDLESS

    def _everybody(self, items: Set, _: Mapping[str, Any]) -> Bounds:
        self._needs("n")
        return self.book.bounds("n") if not items else (0, self.book.bounds("n")[1])

    def _distribution(self, items: Set, _: Mapping[str, Any]) -> Bounds:
        self._needs("sa_distribution")
        self.book.bounds("sa_distribution")
        if len(self.book.values) != len(self.book.release.header.sa_counts):
            raise Reject("the release publishes no such distribution")
        counts = zip(self.book.values, self.book.release.header.sa_counts, strict=True)
        return next(((count, count) for value, count in counts if items == {value}), (0, _ENDLESS))

    def _values(self, items: Set, step: Mapping[str, Any]) -> Bounds:
        """Return bounds from the partition into sensitive values."""
        self._needs("sa_values")
        parent = frozenset(map(str, step["from"]))
        children = [parent | {value} for value in self.book.values]
        most = {child: min(self.hi[child], self.hi[parent]) for child in children}
        low = sum(self.lo[child] for child in children)
        high = sum(most.values())
        if not children or items not in (parent, *children):
            raise Reject("a step of its certificate adds up other values")
        if items == parent:
            return low, high
        return self.lo[parent] - (high - most[items]), self.hi[parent] - (low - self.lo[items])

    def _missing(self, items: Set, step: Mapping[str, Any]) -> Bounds:
        self._needs("min_support")
        parent = frozenset(map(str, step["from"]))
        header = self.book.release.header
        value = items - parent
        if not parent or not header.complete or header.min_confidence is None or not value <= set(self.book.values):
            raise Reject("a step of its certificate takes as missing what need not be listed")
        if not header.covers(len(parent)):
            raise Reject("a step of its certificate takes as missing what is longer than the list holds")
        if len(value) != 1 or parent | value != items or (parent, value) in self.book.rules:
            raise Reject("a step of its certificate takes as missing what is not a rule, or is listed")
        return 0, most_left_out(header, self.hi[parent])

    def _groups(self, items: Set, _: Mapping[str, Any]) -> Bounds:
        """Return the bound by nonnegative groups."""
        listed = sorted(items)
        if len(listed) > MOST_ITEMS:
            raise Reject("a step of its certificate is too long to check")
        masks = [frozenset(item for j, item in enumerate(listed) if mask >> j & 1) for mask in range(1 << len(listed))]
        low = [self.lo[part] for part in masks]
        high = [self.hi[part] for part in masks]
        low[-1] = high[-1] = 0
        for j in range(len(listed)):
            for mask in range(len(masks)):
                if not mask >> j & 1:
                    low[mask] = low[mask] - high[mask | 1 << j]
                    high[mask] = high[mask] - low[mask | 1 << j]
        odd = [(len(listed) - len(part)) % 2 for part in masks]
        least = max((-high[mask] for mask in range(len(masks)) if not odd[mask]), default=0)
        return max(0, least), min((high[mask] for mask in range(len(masks)) if odd[mask]), default=_ENDLESS)

    def people(self, present: Set, absent: Set, not_all: Set) -> Bounds:
        """Bound people with ``present``, without ``absent`` or all ``not_all``."""
        if not_all:
            return self._one_absent(present, present | not_all)
        lo, hi = self._pattern(present, absent, {})
        # Nobody has two values of the sensitive column.
        if len(absent) > 1 and self.book.sensitive and all(self.book.columns.get(item) == self.book.sensitive for item in absent):
            parts = [present | {value} for value in absent]
            lo = max(lo, self.lo[present] - sum(self.hi[part] for part in parts))
            hi = min(hi, self.hi[present] - sum(self.lo[part] for part in parts))
        return lo, hi

    def _pattern(self, present: Set, absent: Set, known: dict[tuple[Set, Set], Bounds]) -> Bounds:
        if (present, absent) in known:
            return known[present, absent]
        if not absent:
            return self.lo[present], self.hi[present]
        found = [(0, _ENDLESS)]
        for item in sorted(absent):
            rest = absent - {item}
            wider = self._pattern(present, rest, known)
            narrower = self._pattern(present | {item}, rest, known)
            found.append((wider[0] - narrower[1], wider[1] - narrower[0]))
        if len(absent) == 1:
            found.append(self._one_absent(present, present | absent))
        known[present, absent] = (max(lo for lo, _ in found), min(hi for _, hi in found))
        return known[present, absent]

    def _one_absent(self, has: Set, all_: Set) -> Bounds:
        """Return bounds on a set without a larger one.

        A rule between the two ties their supports by its confidence.
        """
        part = (self.lo[all_], self.hi[all_])
        whole = (self.lo[has], self.hi[has])
        lo = max(0, whole[0] - part[1])
        hi = whole[1] - part[0]
        for line in self.lines:
            if (line.has, line.all) == (has, all_):
                lo = max(lo, _ceil(whole[0] * (1 - line.high), line.high_open))
                if line.high > 0:
                    lo = max(lo, _ceil(part[0] * (1 / line.high - 1), line.high_open))
                if whole[1] < _ENDLESS:
                    hi = min(hi, _floor(whole[1] * (1 - line.low), line.low_open))
                if line.low > 0 and part[1] < _ENDLESS:
                    hi = min(hi, _floor(part[1] * (1 / line.low - 1), line.low_open))
        return lo, hi


_LAWS: Mapping[str, Callable[[World, Set, Mapping[str, Any]], Bounds]] = {
    "count": World._line,
    "antecedent": World._line,
    "confidence": World._confidence,
    "inside": World._inside,
    "n": World._everybody,
    "distribution": World._distribution,
    "values": World._values,
    "missing": World._missing,
    "groups": World._groups,
}
