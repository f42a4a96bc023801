"""Bounds on the supports of itemsets in rules.

A line bounds the people with all its items and those with its antecedent; its confidence ties the two numbers to each other. Lines about
one set are intersected. Support is monotone. If the header gives the values of the SA, each person has exactly one of them, and a complete
list says of each missing rule that it does not reach the thresholds. All this is applied until nothing gets tighter; every bound holds in
each world that prints the same release, however early the search ends. A log of what tightened each bound yields its derivation.

Confidences are intervals of fractions: ends are pairs of whole numbers, compared by multiplication, never as floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tacit.kernels.deduction import Book
from tacit.model.arrays import Flags, Ints
from tacit.model.errors import InternalError
from tacit.model.numbers import DOUBLE_DIGITS, Bound, Printed
from tacit.model.policy import Limits
from tacit.model.release import Header, Items, Rules, Sets

CODE = "R01"
LO = 0
HI = 1
#: Bounds that reach this are unbounded: no count is larger.
UNBOUNDED_COUNT = 2**61
_SAFE = 2**62
MOST_PAIRS = 2_000_000  #: Most pairs of antecedent and SA value to examine; above, only published ones are.
MOST_COMPARED = 3_000  #: Up to this many itemsets every pair is compared; above, only sets that differ by one item.
MOST_ROUNDS = 60  #: Rounds of tightening at most; bounds that still change are valid, only wider.
LONGEST = 10  #: Unpublished sets of more items than this are not bounded through their groups.


@dataclass(frozen=True, eq=False)
class NamedSets:
    """Distinct itemsets of rules, and their relations.

    ``whole`` and ``both`` give, for every rule, the set of its antecedent and of all its items. ``children[i, v]`` is the set of antecedent
    ``parents[i]`` with SA value number ``v``; empty if the values are not known. ``values`` are the items of these.
    ``nobody`` is the place of the empty set, which everybody has; -1 if n is not known.
    """

    sets: Sets
    items: Items
    whole: Ints
    both: Ints
    parents: Ints
    children: Ints
    values: Ints
    nobody: int

    @classmethod
    def of(cls, release: Rules) -> NamedSets:
        """Collect the sets of a release; antecedents with all SA values, if known."""
        both = _unite(release.antecedents, release.consequents)
        items, values = _find_sa_items(release)
        parts = [release.antecedents, both]
        counted = release.n is not None
        if counted:
            parts.append(Sets.from_lists([[]]))
        sets, place = _find_distinct(_concatenate(parts))
        lines = len(release)
        nobody = int(place[-1]) if counted else -1
        antecedents = np.unique(place[:lines])
        if counted:
            antecedents = np.union1d(antecedents, [nobody])
        parents = np.empty(0, np.int64)
        children = np.empty((0, 0), np.int64)
        if len(values) == 0 or len(antecedents) * len(values) > MOST_PAIRS:
            values = np.empty(0, np.int64)
        else:
            one_each = np.arange(len(antecedents) * len(values) + 1, dtype=np.int64)
            pairs = _unite(sets.take(np.repeat(antecedents, len(values))), Sets(one_each, np.tile(values, len(antecedents))))
            every, again = _find_distinct(_concatenate([sets, pairs]))
            place = again[place]
            parents = again[antecedents]
            children = again[len(sets) :].reshape(len(antecedents), len(values))
            nobody = int(again[nobody]) if counted else -1
            sets = every
        return cls(
            sets,
            items,
            whole=place[:lines],
            both=place[lines : 2 * lines],
            parents=parents,
            children=children,
            values=values,
            nobody=nobody,
        )

    @cached_property
    def less_one(self) -> Ints:
        """Number of the set without each member, or -1."""
        found = np.full(len(self.sets.members), -1, np.int64)
        hashes = self.sets.hashes()
        order = np.argsort(hashes, kind="stable")
        lengths = self.sets.lengths
        for length in range(1, int(lengths.max(initial=0)) + 1):
            owners = np.flatnonzero(lengths == length)
            places = self.sets.offsets[owners][:, None] + np.arange(length)
            members = self.sets.members[places]
            wanted = hashes[owners][:, None] - self.sets.member_hashes()[places]
            at = order[np.minimum(np.searchsorted(hashes[order], wanted), len(order) - 1)]
            same = (hashes[at] == wanted) & (lengths[at] == length - 1)
            for position in range(length):
                chosen = np.flatnonzero(same[:, position])
                rest = np.delete(members[chosen], position, axis=1)
                smaller = at[chosen, position]
                named = self.sets.members[self.sets.offsets[smaller][:, None] + np.arange(length - 1)]
                # Equal hashes almost always mean equal sets; a proof needs certainty.
                kept = (rest == named).all(axis=1)
                found[places[chosen[kept], position]] = smaller[kept]
        return found

    @cached_property
    def inside(self) -> tuple[Ints, Ints]:
        """Return (smaller, larger) pairs of nested sets."""
        if len(self.sets) <= MOST_COMPARED:
            held = np.zeros((len(self.sets), len(self.items)), np.bool_)
            held[self.sets.owners(), self.sets.members] = True
            shared = held.astype(np.float32) @ held.T.astype(np.float32)
            lengths = self.sets.lengths
            smaller, larger = np.nonzero((shared == lengths[:, None]) & (lengths[:, None] < lengths[None, :]))
            return smaller, larger
        known = self.less_one >= 0
        smaller = np.concatenate((self.less_one[known], self.whole))
        larger = np.concatenate((self.sets.owners()[known], self.both))
        return smaller, larger

    def find(self, items: Sequence[int]) -> int:
        """Return the number of an itemset, or -1."""
        return self._places.get(frozenset(items), -1)

    @cached_property
    def _places(self) -> dict[frozenset[int], int]:
        return {frozenset(members.tolist()): place for place, members in enumerate(self.sets)}

    @cached_property
    def first_rules(self) -> dict[tuple[int, int], int]:
        """First rule with each antecedent and all of its items."""
        pairs = zip(self.whole.tolist(), self.both.tolist(), range(len(self.whole)), strict=True)
        return {(whole, both): rule for whole, both, rule in reversed(list(pairs))}

    def names(self, place: int) -> tuple[str, ...]:
        """Return the sorted names of a set's items."""
        return tuple(sorted(self.items.names[item] for item in self.sets[place]))


def _find_sa_items(release: Rules) -> tuple[Items, Ints]:
    """Return items and SA values' numbers, if each person has exactly one."""
    header = release.header
    items = release.items
    nothing = np.empty(0, np.int64)
    if not header.sa or not header.qi or not header.sa_values or items.pairs is None:
        return items, nothing
    column = " & ".join(header.sa)
    used = {items.pairs[item][0] for item in np.unique(release.antecedents.members).tolist()}
    single = bool((release.consequents.lengths == 1).all())
    reached = {items.pairs[item] for item in np.unique(release.consequents.members).tolist()}
    domain = [(column, value) for value in header.sa_values]
    if not single or column in used or not used <= set(header.qi) or not reached <= set(domain):
        return items, nothing
    pairs = list(dict.fromkeys([*items.pairs, *domain]))
    number = {pair: place for place, pair in enumerate(pairs)}
    return Items.of_columns(pairs), np.array([number[pair] for pair in domain], np.int64)


def _unite(left: Sets, right: Sets) -> Sets:
    rows = np.concatenate((left.owners(), right.owners()))
    return Sets.from_pairs(rows, np.concatenate((left.members, right.members)), len(left))


def _concatenate(parts: Sequence[Sets]) -> Sets:
    starts = np.cumsum([0, *(int(part.offsets[-1]) for part in parts)])
    offsets = [np.zeros(1, np.int64), *(part.offsets[1:] + start for part, start in zip(parts, starts, strict=False))]
    return Sets(np.concatenate(offsets), np.concatenate([part.members for part in parts]))


def _find_distinct(sets: Sets) -> tuple[Sets, Ints]:
    """Return distinct sets, and each set's place."""
    _, first, group = np.unique(sets.hashes(), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    chosen = sets.take(first[order])
    index = rank[group]
    again = chosen.take(index)
    if not np.array_equal(again.offsets, sets.offsets) or not np.array_equal(again.members, sets.members):
        raise InternalError("two itemsets share a hash", where="rules", remedy="Please report it")
    return chosen, index


class Reason(Enum):
    """Reason for a bound, as certificates name it."""

    COUNT = "count"  # the count that a line prints
    WHOLE = "antecedent"  # what a line says about its antecedent by itself
    CONFIDENCE = "confidence"  # the confidence of a line and a bound on its other number
    INSIDE = "inside"  # who has a set has every part of it
    PEOPLE = "n"  # the number of people
    DISTRIBUTION = "distribution"  # the published distribution of the SA
    VALUES = "values"  # each person has one value of the SA
    MISSING = "missing"  # a complete list leaves the rule out
    GROUPS = "groups"  # no group has fewer than 0 people


class Step(NamedTuple):
    """Bound in the log; ``source``: line or set."""

    place: int
    end: int
    value: int
    reason: Reason
    source: int
    time: int


@dataclass(eq=False)
class Log:
    """Bounds in batches, in order of discovery."""

    batches: list[tuple[int, Ints, Ints, Reason, Ints]] = field(default_factory=list)
    _sorted: tuple[Ints, Ints, Ints] | None = field(default=None, init=False)

    def add(self, end: int, places: Ints, values: Ints, reason: Reason, sources: Ints) -> None:
        """Add new bounds."""
        self.batches.append((end, places, values, reason, sources))
        self._sorted = None

    def latest(self, place: int, end: int, before: int | None = None) -> Step | None:
        """Return a set's bound before a time, or None."""
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
        return Step(place, end, int(batch[2][index]), batch[3], source=int(batch[4][index]), time=int(time[at]))


class Confidence(NamedTuple):
    """Confidences from ``low`` to ``high``, ends possibly open."""

    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool


def confidence_of(release: Rules, line: int) -> Confidence:
    """Return the confidences that rule ``line`` allows."""
    header = release.header
    printed = release.confidence
    if printed is None or printed.digits[line] < 0:
        return _intersect_confidence(None, header)
    return _intersect_confidence((int(printed.scaled[line]), int(printed.digits[line])), header)


def _intersect_confidence(printed: tuple[int, int] | None, header: Header) -> Confidence:
    low = header.min_confidence or Fraction(0)
    high = Fraction(1)
    low_open = header.strict and low > 0
    high_open = False
    if printed is not None:
        scaled, digits = printed
        value = Fraction(scaled, 10**digits)
        # A long text is a double, off by a few units of its mantissa; a short one may have come from a double.
        double = len(str(scaled)) >= DOUBLE_DIGITS
        shown = Printed.decimal(value, Fraction(1, 10**digits), header.rounding, is_double=double)
        if shown.lo > low:
            low = shown.lo
            low_open = shown.lo_open
        elif shown.lo == low:
            low_open = low_open or shown.lo_open
        if shown.hi < high:
            high = shown.hi
            high_open = shown.hi_open
    return Confidence(low, high, low_open, high_open)


@dataclass(frozen=True, eq=False)
class Confidences:
    """Confidences from ``low[0] / low[1]`` to ``high[0] / high[1]``, a column per rule.

    Columns are 64-bit numbers if all products with counts fit, else Python's own.
    """

    low: Any
    high: Any
    low_open: Flags
    high_open: Flags

    @classmethod
    def of(cls, release: Rules, lines: Ints) -> Confidences:
        """Return these lines' confidences, cached by text."""
        printed = release.confidence
        if printed is None:
            keys = np.array([[0, -1]])
            index = np.zeros(len(lines), np.int64)
        else:
            texts = np.stack((printed.scaled[lines], printed.digits[lines].astype(np.int64)), axis=1)
            keys, index = np.unique(texts, axis=0, return_inverse=True)
        known = [
            _intersect_confidence(None if digits < 0 else (scaled, digits), release.header) for scaled, digits in keys.tolist()
        ]
        ends = [value for entry in known for end in (entry.low, entry.high) for value in end.as_integer_ratio()]
        most = int(release.whole_hi.max(initial=1))
        kind: Any = np.int64 if max(ends, default=1) * (most + 1) < _SAFE else object
        low = np.array([entry.low.as_integer_ratio() for entry in known], kind).reshape(-1, 2).T[:, index]
        high = np.array([entry.high.as_integer_ratio() for entry in known], kind).reshape(-1, 2).T[:, index]
        flags = np.array([(entry.low_open, entry.high_open) for entry in known], np.bool_).reshape(-1, 2).T[:, index]
        return cls(low, high, flags[0], flags[1])

    def wholes(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """Bound the antecedent's support by the other count."""
        least = _round_up(self._widen(lo) * self.high[1], self.high[0], self.high_open)
        most = self._divide_by_low(self._widen(hi) * self.low[1])
        return _cap_counts(least), _cap_counts(most)

    def parts(self, whole_lo: Ints, whole_hi: Ints) -> tuple[Ints, Ints]:
        """Bound the rule's support by the antecedent's."""
        least = _round_up(self._widen(whole_lo) * self.low[0], self.low[1], self.low_open)
        most = _round_down(self._widen(whole_hi) * self.high[0], self.high[1], self.high_open)
        return _cap_counts(least), _cap_counts(most)

    def lacking(self, part: tuple[Ints, Ints], whole: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Bound the antecedent's support without the consequent.

        The two numbers move together, so this is tighter than their difference: of ``part`` people with both,
        ``part * (1 / confidence - 1)`` lack the consequent, and ``whole * (1 - confidence)`` of the antecedent's.
        """
        over = self.high[1] - self.high[0]
        under = self.low[1] - self.low[0]
        by_part = _round_up(self._widen(part[0]) * over, self.high[0], self.high_open)
        by_whole = _round_up(self._widen(whole[0]) * over, self.high[1], self.high_open)
        most_by_part = self._divide_by_low(self._widen(part[1]) * under)
        most_by_whole = _round_down(self._widen(whole[1]) * under, self.low[1], self.low_open)
        return _cap_counts(np.maximum(by_part, by_whole)), _cap_counts(np.minimum(most_by_part, most_by_whole))

    def _divide_by_low(self, numerator: Any) -> Any:
        quotient = _round_down(numerator, np.maximum(self.low[0], 1), self.low_open)
        return np.where(self.low[0] > 0, quotient, UNBOUNDED_COUNT)

    def _widen(self, counts: Ints) -> Any:
        return counts.astype(self.low.dtype)


def _round_up(numerator: Any, denominator: Any, is_open: Flags) -> Any:
    safe = np.maximum(denominator, 1)
    return np.where(denominator > 0, np.where(is_open, numerator // safe + 1, -(-numerator // safe)), 0)


def _round_down(numerator: Any, denominator: Any, is_open: Flags) -> Any:
    return np.where(is_open, -(-numerator // denominator) - 1, numerator // denominator)


def _cap_counts(values: Any) -> Ints:
    counts: Ints = np.minimum(values, UNBOUNDED_COUNT).astype(np.int64)
    return counts


@dataclass(eq=False)
class RuleTable:
    """Bounds on a release's supports, and their derivation."""

    release: Rules
    named: NamedSets
    lo: Ints
    hi: Ints
    log: Log = field(default_factory=Log)

    @classmethod
    def of(cls, release: Rules, limits: Limits | None = None) -> RuleTable:
        """Compute the tightest bounds of a release."""
        named = NamedSets.of(release)
        size = len(named.sets)
        table = cls(release, named, np.zeros(size, np.int64), np.full(size, UNBOUNDED_COUNT, np.int64))
        table._read_lines()
        table._tighten(limits or Limits())
        return table

    def bound(self, place: int) -> Bound:
        """Return the bounds on the support of a set."""
        return Bound(int(self.lo[place]), int(self.hi[place]))

    @property
    def empty(self) -> int:
        """A set with contradictory bounds, or -1."""
        found = np.flatnonzero(self.lo > self.hi)
        return int(found[0]) if len(found) else -1

    @cached_property
    def missing(self) -> tuple[Ints, Ints]:
        """Antecedents without a rule for some SA value."""
        rows, columns = np.nonzero(~np.isin(self.named.children, self.named.both))
        return self.named.parents[rows], self.named.children[rows, columns]

    def lacking(self, rules: Ints) -> tuple[Ints, Ints]:
        """Bound antecedents without their consequents."""
        both = self.named.both[rules]
        whole = self.named.whole[rules]
        lo = np.maximum(self.lo[whole] - self.hi[both], 0)
        hi = self.hi[whole] - self.lo[both]
        loose = np.flatnonzero(np.isin(rules, self._loose))
        if len(loose):
            tied = Confidences.of(self.release, rules[loose])
            part = both[loose]
            all_ = whole[loose]
            least, most = tied.lacking((self.lo[part], self.hi[part]), (self.lo[all_], self.hi[all_]))
            lo[loose] = np.maximum(lo[loose], least)
            hi[loose] = np.minimum(hi[loose], most)
        return lo, hi

    @cached_property
    def _loose(self) -> Ints:
        release = self.release
        return np.flatnonzero((release.lo < release.hi) | (release.whole_lo < release.whole_hi))

    @cached_property
    def _confidences(self) -> Confidences:
        return Confidences.of(self.release, self._loose)

    def _read_lines(self) -> None:
        release = self.release
        named = self.named
        lines = np.arange(len(release))
        if named.nobody >= 0:
            everyone = np.array([named.nobody])
            n = np.array([release.n or 0])
            self._tighten_both(everyone, n, n, Reason.PEOPLE, sources=everyone)
        self._tighten_both(named.both, release.lo, release.hi, Reason.COUNT, sources=lines)
        self._tighten_both(named.whole, release.whole_lo, release.whole_hi, Reason.WHOLE, sources=lines)
        if named.nobody >= 0 and len(named.children) and release.header.sa_counts:
            row = named.children[int(np.flatnonzero(named.parents == named.nobody)[0])]
            counts = np.array(release.header.sa_counts)
            self._tighten_both(row, counts, counts, Reason.DISTRIBUTION, sources=row)

    def _tighten(self, limits: Limits) -> None:
        """Tighten until nothing changes."""
        for _ in range(MOST_ROUNDS):
            limits.check(CODE)
            changed = self._tighten_by_confidence() | self._tighten_by_subsets()
            changed |= self._tighten_by_values() | self._tighten_by_absence()
            if not changed or self.empty >= 0:
                return

    def _tighten_bounds(self, end: int, places: Ints, values: Ints, reason: Reason, sources: Ints) -> bool:
        sign = 1 if end == LO else -1
        now = self.lo if end == LO else self.hi
        better = np.flatnonzero(sign * values > sign * now[places])
        if len(better) == 0:
            return False
        order = better[np.lexsort((better, -sign * values[better], places[better]))]
        first = np.concatenate(([True], places[order][1:] != places[order][:-1]))
        chosen = order[first]
        now[places[chosen]] = values[chosen]
        columns = (places, values, sources)
        found, bounds, origins = (column[chosen].astype(np.int64) for column in columns)
        self.log.add(end, found, bounds, reason, sources=origins)
        return True

    def _tighten_both(self, places: Ints, low: Ints, high: Ints, reason: Reason, sources: Ints) -> bool:
        changed = self._tighten_bounds(LO, places, low, reason, sources)
        return self._tighten_bounds(HI, places, high, reason, sources) or changed

    def _tighten_by_confidence(self) -> bool:
        """Carry bounds between the two numbers of a line."""
        loose = self._loose
        if len(loose) == 0:
            return False
        both = self.named.both[loose]
        whole = self.named.whole[loose]
        wholes = self._confidences.wholes(self.lo[both], self.hi[both])
        changed = self._tighten_both(whole, *wholes, Reason.CONFIDENCE, sources=loose)
        parts = self._confidences.parts(self.lo[whole], self.hi[whole])
        return self._tighten_both(both, *parts, Reason.CONFIDENCE, sources=loose) or changed

    def _tighten_by_subsets(self) -> bool:
        smaller, larger = self.named.inside
        changed = self._tighten_bounds(LO, smaller, self.lo[larger], Reason.INSIDE, sources=larger)
        return changed | self._tighten_bounds(HI, larger, self.hi[smaller], Reason.INSIDE, sources=smaller)

    def _tighten_by_values(self) -> bool:
        parents = self.named.parents
        children = self.named.children
        if children.size == 0 or int(self.hi[parents].max()) >= UNBOUNDED_COUNT // (children.shape[1] + 1):
            return False
        low = self.lo[children]
        high = np.minimum(self.hi[children], self.hi[parents][:, None])
        all_low = low.sum(axis=1)
        all_high = high.sum(axis=1)
        own = np.repeat(parents, children.shape[1])
        flat = children.ravel()
        least = (self.lo[parents] - all_high)[:, None] + high
        most = (self.hi[parents] - all_low)[:, None] + low
        changed = self._tighten_both(parents, all_low, all_high, Reason.VALUES, sources=parents)
        return self._tighten_both(flat, least.ravel(), most.ravel(), Reason.VALUES, sources=own) or changed

    def _tighten_by_absence(self) -> bool:
        parents, children = self.missing
        ceiling = missing_ceiling(self.release)
        # The empty antecedent is not that of a rule, and one that is too long is not listed however frequent it is.
        lengths = self.named.sets.lengths[parents]
        named_rule = (parents != self.named.nobody) & np.array(
            [self.release.header.covers(one) for one in lengths.tolist()], bool
        )
        if ceiling is None or not named_rule.any():
            return False
        parents = parents[named_rule]
        children = children[named_rule]
        distinct, index = np.unique(self.hi[parents], return_inverse=True)
        most = np.array([min(ceiling.of(count), UNBOUNDED_COUNT) for count in distinct.tolist()], np.int64)[index]
        return self._tighten_bounds(HI, children, most, Reason.MISSING, sources=parents)

    @cached_property
    def whole_cubes(self) -> Flags:
        """Sets all of whose subsets are in the table."""
        sets = self.named.sets
        less_one = self.named.less_one
        full = np.zeros(len(sets), np.bool_)
        if self.named.nobody >= 0:
            full[self.named.nobody] = True
        lengths = sets.lengths
        for length in range(1, int(lengths.max(initial=0)) + 1):
            owners = np.flatnonzero(lengths == length)
            smaller = less_one[sets.offsets[owners][:, None] + np.arange(length)]
            full[owners] = ((smaller >= 0) & full[smaller]).all(axis=1)
        return full

    def deduce(self, limits: Limits) -> Ints:
        """Bound unpublished sets by deduction rules; return these sets.

        They are the pairs of antecedent and SA value that no rule is about, if the supports of all their subsets are bounded.
        """
        sets = self.named.sets
        _, unpublished = self.missing
        lengths = sets.lengths[unpublished]
        wanted = np.unique(unpublished[self.whole_cubes[unpublished] & (lengths <= LONGEST) & (lengths > 1)])
        for _ in range(MOST_ROUNDS if len(wanted) else 0):
            changed = False
            for length in np.unique(sets.lengths[wanted]).tolist():
                level = wanted[sets.lengths[wanted] == length]
                book, _ = self.book()
                chosen = sets.take(level)
                keys = book.keys(chosen.offsets, chosen.members)
                limits.check(CODE)
                bounds, _ = book.deduce(keys, np.array([0, UNBOUNDED_COUNT, LONGEST, LONGEST]))
                changed |= self._tighten_both(level, bounds[:, 0], bounds[:, 1], Reason.GROUPS, sources=level)
            if not changed or self.empty >= 0:
                break
            self._tighten(limits)
        return wanted

    def book(self) -> tuple[Book, Ints]:
        """Return the deduction kernels' input, and its sets."""
        book = Book(self.named.sets.members)
        places = np.flatnonzero(self.whole_cubes)
        sets = self.named.sets.take(places)
        book.enter(book.keys(sets.offsets, sets.members), np.stack((self.lo[places], self.hi[places]), axis=1))
        return book, places


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Largest support of a missing rule."""

    min_support: int
    min_confidence: Fraction
    strict: bool

    def of(self, people: int) -> int:
        """Return the largest support, given ``people`` at most."""
        people *= self.min_confidence.numerator
        share, more = divmod(people, self.min_confidence.denominator)
        return max(0, self.min_support - 1, share if self.strict or more else share - 1)


def missing_ceiling(release: Rules) -> Ceiling | None:
    """Return the ceiling of missing rules, or None."""
    header = release.header
    if not header.complete or header.min_support is None or header.min_confidence is None:
        return None
    return Ceiling(header.min_support, header.min_confidence, header.strict)
