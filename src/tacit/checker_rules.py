"""Re-checks what rules give away (R01) from nothing but the lines that a finding cites, in whole numbers and exact fractions.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks. It takes the cited lines, writes down what each says,
applies the few laws that counts of people obey until nothing gets tighter, and looks whether the claimed bounds follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from tacit.model.release import Rules

Set = frozenset[str]
Bounds = tuple[int, int]

_ENDLESS = 1 << 100
_MOST_ROUNDS = 1000
#: Groups on sets of more items than this are not looked at.
_MOST_ITEMS = 10
_NUMBER = r"-?[\d,]+"
_RANGE = rf"(?:{_NUMBER}|{_NUMBER} to {_NUMBER}) (?:person|people)"
_BRACKETS = rf"(?:{_NUMBER}|\[{_NUMBER} to {_NUMBER}\])"
_HOW = r"(?:, its count divided by its confidence|, as far as the thresholds tell)?"
_LINE = re.compile(rf"Line (\d+): ({_NUMBER})(?: to ({_NUMBER}))? (?:person|people) (?:has|have) (.*?){_HOW}\.", re.DOTALL)
_SIDE = re.compile(r".*: (at least|at most) ([\d,]+) (?:person|people) (?:has|have) (.*)\.", re.DOTALL)
_BOTH = re.compile(r".*: ([\d,]+)(?: to ([\d,]+))? (?:person|people) (?:has|have) (.*)\.", re.DOTALL)
_MINUS = re.compile(
    rf"Those .*: ({_NUMBER}|\[{_NUMBER} to {_NUMBER}\]) - ({_NUMBER}|\[{_NUMBER} to {_NUMBER}\]), that is (.*?)(?: person| people)?\.",
    re.DOTALL,
)
_PEOPLE = re.compile(rf"There are ({_NUMBER}) people in all \(n\)\.")
_BEGINNINGS = ("The confidence", "Everyone", "The published", "Each person", "The list", "Those ")
#: The beginnings of steps that say "at least" or "at most", and of the other steps.
_LAWS = (
    r"The confidence of line \d+, from [\d.e-]+ to [\d.e-]+, then says: ",
    r"Everyone with .* has .*: ",
    r"The published distribution says: ",
    r"Each person has one of the [\d,]+ values of .*: ",
    r"The list is complete and has no rule from .* to .*: ",
    r"Those .* without .* cannot be fewer than 0: ",
)
_FORMS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        *(f"{law}(?:(?:at least|at most) {_NUMBER} (?:person|people)|{_RANGE}) (?:has|have) .*" for law in _LAWS),
        _LINE.pattern,
        _MINUS.pattern,
        _PEOPLE.pattern,
        rf"The confidence of line \d+, from [\d.e-]+ to [\d.e-]+, ties the two numbers to each other: those with .* are {_RANGE}\.",
        rf"Nobody has two values of .*: those with .* less those with .* are {_RANGE}\.",
        rf"So {_RANGE} .*\.",
        r"The bounds follow from the cited lines in [\d,]+ steps, too many to write out here\.",
    )
)


class Reject(Exception):
    """A finding does not follow from the release; the text says why."""


class _Line(NamedTuple):
    """A rule: its antecedent, all its items, bounds on the people of both, and the confidences that it allows."""

    has: Set
    all: Set
    people: Bounds
    whole: Bounds
    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool


@dataclass(slots=True)
class RuleBook:
    """The published rules, by line number, and what their header says."""

    release: Rules
    by_line: dict[int, int] = field(default_factory=dict)
    rules: set[tuple[Set, Set]] = field(default_factory=set)
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        release = self.release
        for index in range(len(release)):
            self.by_line[release.line(index)] = index
            self.rules.add((self._names(release.antecedents[index]), self._names(release.consequents[index])))
        header = release.header
        column = " & ".join(header.sa)
        known = tuple(f"{column}={value}" for value in header.sa_values)
        columns = dict(zip(release.items.names, release.items.pairs or (), strict=False))
        left = {columns[item][0] for has, _ in self.rules for item in has if item in columns}
        right = [consequent for _, consequent in self.rules]
        # Only where rules lead from quasi-identifying columns to one value of the sensitive one, each person has one of its values.
        if header.qi and header.sa and left <= set(header.qi) and column not in left and release.items.pairs is not None:
            self.values = known if all(len(item) == 1 and item <= set(known) for item in right) else ()

    def _names(self, items: Any) -> Set:
        return frozenset(self.release.items.names[item] for item in items)

    def line(self, number: int) -> _Line:
        """What a line says by itself."""
        if number not in self.by_line:
            raise Reject(f"it cites line {number}, which holds no rule")
        release, index = self.release, self.by_line[number]
        has = self._names(release.antecedents[index])
        count, whole = release.count(index), release.whole(index)
        every = has | self._names(release.consequents[index])
        return _Line(has, every, (count.lo, count.hi), (whole.lo, whole.hi), *_confidence(release, index))

    def bounds(self, place: int | str) -> Bounds:
        """What the release prints at a place."""
        header = self.release.header
        entries = {"n": self.release.n, "min_support": header.min_support}
        entries |= {"sa_values": len(self.values) or None, "sa_distribution": sum(header.sa_counts) or None}
        if isinstance(place, int):
            return self.line(place).people
        if (entry := entries.get(place)) is None:
            raise Reject(f"it rests on {place}, which the release does not tell")
        return entry, entry


def _confidence(release: Rules, index: int) -> tuple[Fraction, Fraction, bool, bool]:
    """The fractions that print as the confidence of a line, and reach the threshold."""
    header = release.header
    low, high = header.min_confidence or Fraction(0), Fraction(1)
    low_open, high_open = header.strict and low > 0, False
    printed = release.confidence.value(index) if release.confidence is not None else None
    if printed is None or release.confidence is None:
        return low, high, low_open, high_open
    step = Fraction(1, 10 ** int(release.confidence.digits[index]))
    # Fifteen digits are a binary double, which may be off by a few units in its last place whatever the rounding.
    double = len(str(int(release.confidence.scaled[index]))) >= 15
    if double or header.rounding == "nearest":
        step += printed / 2**50
    below = Fraction(0) if header.rounding == "truncated" and not double else step / 2 if header.rounding == "nearest" else step
    above = step / 2 if header.rounding == "nearest" else step
    if printed - below >= low:
        low_open = (header.rounding == "unknown" or (double and header.rounding == "truncated")) or (
            low_open and printed - below == low
        )
        low = printed - below
    if printed + above < high:
        high, high_open = printed + above, header.rounding != "nearest"
    return low, high, low_open, high_open


def _ceil(value: Fraction, is_open: bool) -> int:
    """The smallest whole number that is at least the value (more than it, when the end is open)."""
    least = -(-value.numerator // value.denominator)
    return least + 1 if is_open and least == value else least


def _floor(value: Fraction, is_open: bool) -> int:
    most = value.numerator // value.denominator
    return most - 1 if is_open and most == value else most


class _World:
    """What is known about supports, from the cited lines alone."""

    def __init__(self, book: RuleBook, cited: Sequence[int | str], named: Sequence[Set]) -> None:
        self.book = book
        self.lines = [book.line(place) for place in cited if isinstance(place, int)]
        self.cells = {place for place in cited if isinstance(place, str)}
        sets = {*named, *(line.has for line in self.lines), *(line.all for line in self.lines)}
        self.stated = {line.all for line in self.lines} | {line.has for line in self.lines}
        if "n" in self.cells:
            sets.add(frozenset())
        self.parents = sorted({line.has for line in self.lines} | (sets & {frozenset()}), key=sorted)
        if not self.cells & {"sa_values", "min_support"}:
            self.parents = []
        sets |= {parent | {value} for parent in self.parents for value in book.values}
        if "sa_distribution" in self.cells:
            sets |= {frozenset({value}) for value in book.values}
        self.lo = dict.fromkeys(sets, 0)
        self.hi = dict.fromkeys(sets, _ENDLESS)
        self.inside = [(a, b) for a in sets for b in sets if a < b]
        self._start()
        for _ in range(_MOST_ROUNDS):
            before = sum(self.lo.values()) - sum(self.hi.values())
            self._tighten()
            if sum(self.lo.values()) - sum(self.hi.values()) == before:
                break

    def _put(self, items: Set, lo: int, hi: int) -> None:
        self.lo[items], self.hi[items] = max(self.lo[items], lo), min(self.hi[items], hi)
        if self.lo[items] > self.hi[items]:
            raise Reject("the lines that it cites contradict each other")

    def _start(self) -> None:
        if "n" in self.cells:
            self._put(frozenset(), *self.book.bounds("n"))
        if "sa_distribution" in self.cells:
            self.book.bounds("sa_distribution")
            for value, count in zip(self.book.values, self.book.release.header.sa_counts, strict=True):
                self._put(frozenset({value}), count, count)
        for line in self.lines:
            self._put(line.all, *line.people)
            self._put(line.has, *line.whole)

    def _tighten(self) -> None:
        """Apply every law once."""
        for line in self.lines:
            low, high = line.low, line.high
            if high > 0:
                self._put(line.has, _ceil(self.lo[line.all] / high, line.high_open), _ENDLESS)
            if low > 0 and self.hi[line.all] < _ENDLESS:
                self._put(line.has, 0, _floor(self.hi[line.all] / low, line.low_open))
            most = _floor(self.hi[line.has] * high, line.high_open)
            self._put(line.all, _ceil(self.lo[line.has] * low, line.low_open), most)
        for smaller, larger in self.inside:
            self._put(smaller, self.lo[larger], _ENDLESS)
            self._put(larger, 0, self.hi[smaller])
        for parent in self.parents:
            self._values(parent)
        if "n" in self.cells:
            for items in self.lo:
                if items not in self.stated and 1 < len(items) <= _MOST_ITEMS:
                    self._groups(items)

    def _values(self, parent: Set) -> None:
        """Each person has one value; a complete list says that a missing rule does not reach the thresholds."""
        children = [parent | {value} for value in self.book.values]
        if "sa_values" in self.cells and children:
            low, high = sum(self.lo[child] for child in children), sum(min(self.hi[child], self.hi[parent]) for child in children)
            self._put(parent, low, high)
            for child in children:
                rest = self.lo[parent] - (high - min(self.hi[child], self.hi[parent]))
                self._put(child, rest, self.hi[parent] - (low - self.lo[child]))
        header = self.book.release.header
        if "min_support" in self.cells and parent and header.complete and header.min_confidence is not None:
            share = header.min_confidence * self.hi[parent]
            most = max(0, (header.min_support or 0) - 1, _floor(share, not header.strict))
            for value, child in zip(self.book.values, children, strict=True):
                if (parent, frozenset({value})) not in self.book.rules:
                    self._put(child, 0, most)

    def _groups(self, items: Set) -> None:
        """No group on a set of items has fewer than 0 people."""
        listed = sorted(items)
        masks = [frozenset(item for j, item in enumerate(listed) if mask >> j & 1) for mask in range(1 << len(listed))]
        if any(part not in self.lo or self.hi[part] >= _ENDLESS for part in masks[:-1]):
            return
        low, high = [self.lo[part] for part in masks], [self.hi[part] for part in masks]
        low[-1] = high[-1] = 0
        for j in range(len(listed)):
            for mask in range(len(masks)):
                if not mask >> j & 1:
                    low[mask], high[mask] = low[mask] - high[mask | 1 << j], high[mask] - low[mask | 1 << j]
        for mask, part in enumerate(masks):
            if (len(listed) - len(part)) % 2:
                self._put(items, 0, high[mask])
            else:
                self._put(items, -high[mask], _ENDLESS)

    def people(self, present: Set, absent: Set, not_all: Set) -> Bounds:
        """Bounds on the people who have all of ``present``, none of ``absent`` and not all of ``not_all``."""
        if not_all:
            return self._one_absent(present, present | not_all)
        lo, hi = self._pattern(present, absent, {})
        if len(absent) > 1 and self._exclusive(absent):
            parts = [present | {value} for value in absent]
            lo = max(lo, self.lo[present] - sum(self.hi[part] for part in parts))
            hi = min(hi, self.hi[present] - sum(self.lo[part] for part in parts))
        return lo, hi

    def _exclusive(self, items: Set) -> bool:
        """Whether nobody can have two of these items: they are values of the sensitive column."""
        release = self.book.release
        columns = dict(zip(release.items.names, release.items.pairs or (), strict=False))
        sa = " & ".join(release.header.sa)
        return bool(sa) and all(item in columns and columns[item][0] == sa for item in items)

    def _pattern(self, present: Set, absent: Set, known: dict[tuple[Set, Set], Bounds]) -> Bounds:
        if (present, absent) in known:
            return known[present, absent]
        if not absent:
            return self.lo[present], self.hi[present]
        lo, hi = 0, _ENDLESS
        for item in sorted(absent):
            rest = absent - {item}
            wider, narrower = self._pattern(present, rest, known), self._pattern(present | {item}, rest, known)
            lo, hi = max(lo, wider[0] - narrower[1]), min(hi, wider[1] - narrower[0])
        if len(absent) == 1:
            tied = self._one_absent(present, present | absent)
            lo, hi = max(lo, tied[0]), min(hi, tied[1])
        known[present, absent] = (lo, hi)
        return lo, hi

    def _one_absent(self, has: Set, all_: Set) -> Bounds:
        """The people with a set and without all of a larger one; the confidence of a rule between them ties the two numbers."""
        part, whole = (self.lo[all_], self.hi[all_]), (self.lo[has], self.hi[has])
        lo, hi = max(0, whole[0] - part[1]), whole[1] - part[0]
        for line in self.lines:
            if (line.has, line.all) == (has, all_):
                low, high = line.low, line.high
                lo = max(lo, _ceil(whole[0] * (1 - high), line.high_open))
                if high > 0:
                    lo = max(lo, _ceil(part[0] * (1 / high - 1), line.high_open))
                if whole[1] < _ENDLESS:
                    hi = min(hi, _floor(whole[1] * (1 - low), line.low_open))
                if low > 0 and part[1] < _ENDLESS:
                    hi = min(hi, _floor(part[1] * (1 / low - 1), line.low_open))
        return lo, hi

    def check_step(self, step: str) -> None:
        """A step must have a known form, and everything that it says must follow."""
        if not any(form.fullmatch(step) for form in _FORMS):
            raise Reject("it has a step that cannot be checked")
        by_name = {_listed(items): items for items in self.lo}
        if match := _PEOPLE.fullmatch(step):
            if (_int(match[1]),) * 2 != self.book.bounds("n"):
                raise Reject("a step prints another number of people than the release")
        elif match := _LINE.fullmatch(step):
            line, items = self.book.line(int(match[1])), by_name.get(match[4])
            printed = line.people if items == line.all else line.whole
            if items not in (line.has, line.all) or (_int(match[2]), _int(match[3] or match[2])) != printed:
                raise Reject("a step prints another number than its line")
        elif match := _SIDE.fullmatch(step):
            items, value = by_name.get(match[3]), _int(match[2])
            if items is None or (value > self.lo[items] if match[1] == "at least" else value < self.hi[items]):
                raise Reject("a step says more than follows from the lines")
        elif match := _MINUS.fullmatch(step):
            left, right, told = (_ends(text) for text in match.groups())
            computed = left[0] - right[1], left[1] - right[0]
            if not computed[0] <= told[0] <= told[1] <= computed[1]:
                raise Reject("a difference in its steps is wrong")
        elif step.startswith(_BEGINNINGS) and (match := _BOTH.fullmatch(step)):
            items, told = by_name.get(match[3]), (_int(match[1]), _int(match[2] or match[1]))
            if items is None or told[0] > self.lo[items] or told[1] < self.hi[items]:
                raise Reject("a step says more than follows from the lines")


def check_rules(finding: Mapping[str, Any], book: RuleBook, cited: Sequence[int | str]) -> Bounds:
    """Bounds on the people of a finding's event, from the lines that it cites; its steps are checked on the way."""
    event = finding["event"]
    present, absent, not_all = (frozenset(event.get(key, ())) for key in ("present", "absent", "not_all"))
    if len(absent) > _MOST_ITEMS or (absent and not_all):
        raise Reject("its event is too long to check")
    named = [present, present | not_all, *(present | {item} for item in absent)]
    named += [present.union(extra) for size in range(len(absent) + 1) for extra in combinations(sorted(absent), size)]
    world = _World(book, cited, named)
    if not finding["steps"]:
        raise Reject("it has no steps")
    if "same_people" in finding:
        others = frozenset(book.values) - absent
        same = {"present": sorted(present | others), "absent": []}
        if len(book.values) != 2 or len(others) != 1 or finding["same_people"] != same:
            raise Reject("the same people are described wrongly")
    for step in finding["steps"]:
        world.check_step(step)
    lo, hi = finding["count"]
    number = f"{lo:,}" if lo == hi else f"{lo:,} to {hi:,}"
    if f" {number} {'person' if (lo, hi) == (1, 1) else 'people'}" not in finding["steps"][-1]:
        raise Reject("its last step does not give its count")
    return world.people(present, absent, not_all)


def _listed(items: Set) -> str:
    names = sorted(items)
    if not names:
        return "nothing asked of them"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _int(text: str) -> int:
    return int(text.replace(",", ""))


def _ends(text: str) -> Bounds:
    """A number, or two with "to" between them, in brackets or not."""
    numbers = [_int(part) for part in re.findall(_NUMBER, text)]
    if len(numbers) not in (1, 2):
        raise Reject("it has a step that cannot be checked")
    return numbers[0], numbers[-1]
