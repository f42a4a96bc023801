"""Bounds on the supports of all itemsets that a release of rules names, everything it says taken together.

A line bounds the people with all its items and those with its antecedent; its confidence ties the two numbers to each other. Lines about one
set are intersected. Who has a set has every part of it. Where the header gives the values of the SA, each person has exactly one of them, and a
complete list says of each missing rule that it does not reach the thresholds. All this is applied again until nothing gets tighter; every
bound holds in each world that prints the same release, however early the search ends.

The itemsets that a release of rules speaks of, each once, and how they lie inside each other.

Why each bound of a table holds: a log of what tightened it, from which a derivation can be told backwards.

What confidences say about two whole numbers: how many people have a rule's antecedent, and how many its consequent as well.

A printed confidence is an interval of fractions; ends are kept as pairs of whole numbers and compared by multiplication, never as floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.errors import InternalError
from tacit.kernels.deduction import Book
from tacit.model.arrays import Flags, Ints
from tacit.model.numbers import DOUBLE_DIGITS, Bound, Printed
from tacit.model.policy import Limits
from tacit.model.release import Header, Rules
from tacit.model.sets import Items, Sets

#: Pairs of antecedent and SA value that are looked at, published or not; above, only published ones are.
MOST_PAIRS = 2_000_000
#: Up to this many itemsets every pair is compared; above, sets are compared with those that lack one item.
MOST_COMPARED = 3_000


@dataclass(frozen=True, eq=False)
class NamedSets:
    """Distinct itemsets, and which of them the rules are about.

    ``whole`` and ``both`` give, for every rule, the set of its antecedent and of all its items. ``children[i, v]`` is the set of antecedent
    ``parents[i]`` with SA value number ``v``; empty where the list does not say which values there are. ``values`` are the items of these.
    ``nobody`` is the place of the empty set, which everybody has; -1 when n is not known.
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
        """The sets of a release of rules; where its header gives the values of the SA, also each antecedent with each value."""
        both = united(release.antecedents, release.consequents)
        items, values = _sa_items(release)
        parts = [release.antecedents, both]
        counted = release.n is not None
        if counted:
            parts.append(Sets.from_lists([[]]))
        sets, place = distinct(joined(parts))
        lines = len(release)
        nobody = int(place[-1]) if counted else -1
        antecedents = np.unique(place[:lines])
        if counted:
            antecedents = np.union1d(antecedents, [nobody])
        if len(values) == 0 or len(antecedents) * len(values) > MOST_PAIRS:
            nothing = np.empty(0, np.int64)
            return cls(
                sets,
                items,
                place[:lines],
                place[lines : 2 * lines],
                parents=nothing,
                children=np.empty((0, 0), np.int64),
                values=nothing,
                nobody=nobody,
            )
        pairs = united(
            sets.take(np.repeat(antecedents, len(values))),
            Sets(np.arange(len(antecedents) * len(values) + 1, dtype=np.int64), np.tile(values, len(antecedents))),
        )
        every, again = distinct(joined([sets, pairs]))
        place = again[place]
        children = again[len(sets) :].reshape(len(antecedents), len(values))
        nobody = int(again[nobody]) if counted else -1
        return cls(
            every,
            items,
            place[:lines],
            place[lines : 2 * lines],
            parents=again[antecedents],
            children=children,
            values=values,
            nobody=nobody,
        )

    @cached_property
    def less_one(self) -> Ints:
        """For every member of every set, the number of the set without it; -1 where no rule names that."""
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
                # Equal hashes almost always mean equal sets; a proof needs always.
                kept = (rest == named).all(axis=1)
                found[places[chosen[kept], position]] = smaller[kept]
        return found

    @cached_property
    def inside(self) -> tuple[Ints, Ints]:
        """Pairs (smaller, larger) of sets, one inside the other: all of them in a short list, else those that the list shows at once."""
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
        """The number of the set of these items, or -1."""
        wanted = Sets.from_lists([items])
        for place in np.flatnonzero(self._hashes == wanted.hashes()[0]).tolist():
            if np.array_equal(self.sets[place], wanted[0]):
                return int(place)
        return -1

    @cached_property
    def _hashes(self) -> npt.NDArray[np.uint64]:
        return self.sets.hashes()

    def names(self, place: int) -> tuple[str, ...]:
        """The items of a set, by name, sorted."""
        return tuple(sorted(self.items.names[item] for item in self.sets[place]))


def _sa_items(release: Rules) -> tuple[Items, Ints]:
    """The items with all values of the SA among them, and the numbers of these; none where the list does not say that each person has one."""
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


def united(left: Sets, right: Sets) -> Sets:
    """The union of each pair of sets."""
    rows = np.concatenate((left.owners(), right.owners()))
    return Sets.from_pairs(rows, np.concatenate((left.members, right.members)), len(left))


def joined(parts: Sequence[Sets]) -> Sets:
    """Several lists of sets as one."""
    starts = np.cumsum([0, *(int(part.offsets[-1]) for part in parts)])
    offsets = [np.zeros(1, np.int64), *(part.offsets[1:] + start for part, start in zip(parts, starts, strict=False))]
    return Sets(np.concatenate(offsets), np.concatenate([part.members for part in parts]))


def distinct(sets: Sets) -> tuple[Sets, Ints]:
    """Each set once, in the order of first appearance, and where each of the given ones is now."""
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


LO = 0
HI = 1


class Reason(IntEnum):
    """What a bound follows from."""

    COUNT = 0  # the count that a line prints
    WHOLE = 1  # what a line says about its antecedent by itself
    CONFIDENCE = 2  # the confidence of a line and a bound on its other number
    INSIDE = 3  # who has a set has every part of it
    PEOPLE = 4  # the number of people
    DISTRIBUTION = 5  # the published distribution of the SA
    VALUES = 6  # each person has one value of the SA
    MISSING = 7  # a complete list leaves the rule out
    GROUPS = 8  # no group has fewer than 0 people


class Step(NamedTuple):
    """One bound: of which set, which end, its value, why, from what (a line or a set, by the reason), and when it was found."""

    place: int
    end: int
    value: int
    reason: Reason
    source: int
    time: int


@dataclass(eq=False)
class Log:
    """Bounds in the order in which they were found; one batch holds what was found at the same time from what was known before."""

    batches: list[tuple[int, Ints, Ints, Reason, Ints]] = field(default_factory=list)

    def add(self, end: int, places: Ints, values: Ints, reason: Reason, sources: Ints) -> None:
        """Bounds that are new."""
        self.batches.append((end, places, values, reason, sources))
        self._sorted = None

    _sorted: tuple[Ints, Ints, Ints] | None = field(default=None, init=False)

    def latest(self, place: int, end: int, before: int | None = None) -> Step | None:
        """The bound of a set that was in force before a time, and why; None when it was never bounded."""
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


#: No count is larger: bounds that reach it mean "not bounded".
UNBOUNDED_COUNT = 2**61
_SAFE = 2**62


class Confidence(NamedTuple):
    """Confidences from ``low`` to ``high``; an open end is not itself allowed."""

    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool


def confidence_of(release: Rules, line: int) -> Confidence:
    """The confidences that rule ``line`` allows: those that print so and reach the threshold."""
    header = release.header
    printed = release.confidence
    if printed is None or printed.digits[line] < 0:
        return _allowed(None, header)
    return _allowed((int(printed.scaled[line]), int(printed.digits[line])), header)


def _allowed(printed: tuple[int, int] | None, header: Header) -> Confidence:
    """The confidences that print as ``scaled / 10**digits``, are at most 1 and reach the threshold."""
    low = header.min_confidence or Fraction(0)
    high = Fraction(1)
    low_open = header.strict and low > 0
    high_open = False
    if printed is not None:
        scaled, digits = printed
        value = Fraction(scaled, 10**digits)
        # A long text is a double, off by a few units of its mantissa in either direction; a short one may have come from a double.
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
    """The confidences of many rules: ``low[0] / low[1]`` to ``high[0] / high[1]``, one column per rule.

    Columns are 64-bit numbers where all products with counts fit, else Python's own.
    """

    low: Any
    high: Any
    low_open: Flags
    high_open: Flags

    @classmethod
    def of(cls, release: Rules, lines: Ints) -> Confidences:
        """The confidences of these lines, worked out once for every printed text."""
        printed = release.confidence
        if printed is None:
            keys = np.array([[0, -1]])
            index = np.zeros(len(lines), np.int64)
        else:
            texts = np.stack((printed.scaled[lines], printed.digits[lines].astype(np.int64)), axis=1)
            keys, index = np.unique(texts, axis=0, return_inverse=True)
        known = [_allowed(None if digits < 0 else (scaled, digits), release.header) for scaled, digits in keys.tolist()]
        ends = [value for entry in known for end in (entry.low, entry.high) for value in end.as_integer_ratio()]
        most = int(release.whole_hi.max(initial=1))
        kind: Any = np.int64 if max(ends, default=1) * (most + 1) < _SAFE else object
        low = np.array([entry.low.as_integer_ratio() for entry in known], kind).reshape(-1, 2).T[:, index]
        high = np.array([entry.high.as_integer_ratio() for entry in known], kind).reshape(-1, 2).T[:, index]
        flags = np.array([(entry.low_open, entry.high_open) for entry in known], np.bool_).reshape(-1, 2).T[:, index]
        return cls(low, high, flags[0], flags[1])

    def wholes(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """Bounds on the people with the antecedent, from bounds on those who have the consequent as well."""
        least = _at_least(self._wide(lo) * self.high[1], self.high[0], self.high_open)
        most = np.where(
            self.low[0] > 0, _at_most(self._wide(hi) * self.low[1], np.maximum(self.low[0], 1), self.low_open), UNBOUNDED_COUNT
        )
        return _counts(least), _counts(most)

    def parts(self, whole_lo: Ints, whole_hi: Ints) -> tuple[Ints, Ints]:
        """Bounds on the people with antecedent and consequent, from bounds on those with the antecedent."""
        least = _at_least(self._wide(whole_lo) * self.low[0], self.low[1], self.low_open)
        most = _at_most(self._wide(whole_hi) * self.high[0], self.high[1], self.high_open)
        return _counts(least), _counts(most)

    def lacking(self, part: tuple[Ints, Ints], whole: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Bounds on the people with the antecedent but without the consequent: the two numbers move together, so these are the tighter.

        Of ``part`` people with both, ``part * (1 / confidence - 1)`` lack the consequent, and ``whole * (1 - confidence)`` of the antecedent's.
        """
        over = self.high[1] - self.high[0]
        under = self.low[1] - self.low[0]
        by_part = _at_least(self._wide(part[0]) * over, self.high[0], self.high_open)
        by_whole = _at_least(self._wide(whole[0]) * over, self.high[1], self.high_open)
        most_by_part = np.where(
            self.low[0] > 0, _at_most(self._wide(part[1]) * under, np.maximum(self.low[0], 1), self.low_open), UNBOUNDED_COUNT
        )
        most_by_whole = _at_most(self._wide(whole[1]) * under, self.low[1], self.low_open)
        return _counts(np.maximum(by_part, by_whole)), _counts(np.minimum(most_by_part, most_by_whole))

    def _wide(self, counts: Ints) -> Any:
        return counts.astype(self.low.dtype)


def _at_least(numerator: Any, denominator: Any, is_open: Flags) -> Any:
    """The smallest whole number that is at least the quotient (more than it, where the end is open); a quotient by 0 says nothing."""
    safe = np.maximum(denominator, 1)
    return np.where(denominator > 0, np.where(is_open, numerator // safe + 1, -(-numerator // safe)), 0)


def _at_most(numerator: Any, denominator: Any, is_open: Flags) -> Any:
    """The largest whole number that is at most the quotient (less than it, where the end is open)."""
    return np.where(is_open, -(-numerator // denominator) - 1, numerator // denominator)


def _counts(values: Any) -> Ints:
    counts: Ints = np.minimum(values, UNBOUNDED_COUNT).astype(np.int64)
    return counts


#: Bounds that are still creeping after this many rounds are left as they are: true, only wider.
MOST_ROUNDS = 60
#: Unpublished sets of more items than this are not bounded through their groups.
LONGEST = 10
CODE = "R01"


@dataclass(eq=False)
class RuleTable:
    """The sets of a release of rules with bounds on their supports, and why they hold."""

    release: Rules
    named: NamedSets
    lo: Ints
    hi: Ints
    log: Log = field(default_factory=Log)

    @classmethod
    def of(cls, release: Rules, limits: Limits | None = None) -> RuleTable:
        """The table of a release, as tight as the rules above make it."""
        named = NamedSets.of(release)
        size = len(named.sets)
        table = cls(release, named, np.zeros(size, np.int64), np.full(size, UNBOUNDED_COUNT, np.int64))
        table._read()
        table._settle(limits or Limits())
        return table

    def bound(self, place: int) -> Bound:
        """What is known about the support of a set."""
        return Bound(int(self.lo[place]), int(self.hi[place]))

    @property
    def empty(self) -> int:
        """A set whose bounds leave no number, or -1."""
        found = np.flatnonzero(self.lo > self.hi)
        return int(found[0]) if len(found) else -1

    @cached_property
    def published(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which sets a line is about."""
        flags = np.zeros(len(self.named.sets), np.bool_)
        flags[self.named.whole] = flags[self.named.both] = True
        return flags

    @cached_property
    def missing(self) -> tuple[Ints, Ints]:
        """Antecedents and, with one value of the SA, the sets that no rule is about."""
        rows, columns = np.nonzero(~np.isin(self.named.children, self.named.both))
        return self.named.parents[rows], self.named.children[rows, columns]

    def lacking(self, rules: Ints) -> tuple[Ints, Ints]:
        """Bounds on the people with the antecedents of rules and without their consequents."""
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
        """The lines that do not give both their numbers exactly."""
        release = self.release
        return np.flatnonzero((release.lo < release.hi) | (release.whole_lo < release.whole_hi))

    @cached_property
    def _confidences(self) -> Confidences:
        return Confidences.of(self.release, self._loose)

    def _read(self) -> None:
        """Enter what each line, the header and the number of people say by themselves."""
        release = self.release
        named = self.named
        lines = np.arange(len(release))
        if named.nobody >= 0:
            everyone = np.array([named.nobody])
            for end in (LO, HI):
                self._enter(end, everyone, np.array([release.n or 0]), Reason.PEOPLE, sources=everyone)
        for places, reason, low, high in (
            (named.both, Reason.COUNT, release.lo, release.hi),
            (named.whole, Reason.WHOLE, release.whole_lo, release.whole_hi),
        ):
            self._enter(LO, places, low, reason, sources=lines)
            self._enter(HI, places, high, reason, sources=lines)
        if named.nobody >= 0 and len(named.children) and release.header.sa_counts:
            row = named.children[int(np.flatnonzero(named.parents == named.nobody)[0])]
            for end in (LO, HI):
                self._enter(end, row, np.array(release.header.sa_counts), Reason.DISTRIBUTION, sources=row)

    def _settle(self, limits: Limits) -> None:
        """Tighten until nothing changes."""
        for _ in range(MOST_ROUNDS):
            limits.check(CODE)
            changed = self._by_confidence() | self._by_parts()
            changed |= self._by_values() | self._by_absence()
            if not changed or self.empty >= 0:
                return

    def _enter(self, end: int, places: Ints, values: Ints, reason: Reason, sources: Ints) -> bool:
        """Note bounds that are tighter than what is known; of several for one set the tightest, then the first."""
        sign = 1 if end == LO else -1
        now = self.lo if end == LO else self.hi
        better = np.flatnonzero(sign * values > sign * now[places])
        if len(better) == 0:
            return False
        order = better[np.lexsort((better, -sign * values[better], places[better]))]
        first = np.concatenate(([True], places[order][1:] != places[order][:-1]))
        chosen = order[first]
        now[places[chosen]] = values[chosen]
        self.log.add(
            end,
            places[chosen].astype(np.int64),
            values[chosen].astype(np.int64),
            reason,
            sources=sources[chosen].astype(np.int64),
        )
        return True

    def _by_confidence(self) -> bool:
        """The confidence of a line carries bounds over between its two numbers."""
        loose = self._loose
        changed = False
        if len(loose) == 0:
            return False
        both = self.named.both[loose]
        whole = self.named.whole[loose]
        least, most = self._confidences.wholes(self.lo[both], self.hi[both])
        changed |= self._enter(LO, whole, least, Reason.CONFIDENCE, sources=loose)
        changed |= self._enter(HI, whole, most, Reason.CONFIDENCE, sources=loose)
        least, most = self._confidences.parts(self.lo[whole], self.hi[whole])
        changed |= self._enter(LO, both, least, Reason.CONFIDENCE, sources=loose)
        changed |= self._enter(HI, both, most, Reason.CONFIDENCE, sources=loose)
        return changed

    def _by_parts(self) -> bool:
        """Who has a set has every part of it."""
        smaller, larger = self.named.inside
        changed = self._enter(LO, smaller, self.lo[larger], Reason.INSIDE, sources=larger)
        return changed | self._enter(HI, larger, self.hi[smaller], Reason.INSIDE, sources=smaller)

    def _by_values(self) -> bool:
        """Each person has exactly one value of the SA, so those with an antecedent are split among its values."""
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
        changed = self._enter(LO, parents, all_low, Reason.VALUES, sources=parents)
        changed |= self._enter(HI, parents, all_high, Reason.VALUES, sources=parents)
        changed |= self._enter(LO, flat, least.ravel(), Reason.VALUES, sources=own)
        return changed | self._enter(HI, flat, most.ravel(), Reason.VALUES, sources=own)

    def _by_absence(self) -> bool:
        """A rule that a complete list leaves out does not reach the thresholds."""
        parents, children = self.missing
        ceiling = missing_ceiling(self.release)
        named_rule = parents != self.named.nobody  # the empty antecedent is no rule
        if ceiling is None or not named_rule.any():
            return False
        parents = parents[named_rule]
        children = children[named_rule]
        distinct, index = np.unique(self.hi[parents], return_inverse=True)
        most = np.array([min(ceiling.of(count), UNBOUNDED_COUNT) for count in distinct.tolist()], np.int64)[index]
        return self._enter(HI, children, most, Reason.MISSING, sources=parents)

    # What groups that cannot be negative say

    @cached_property
    def whole_cubes(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """The sets all of whose subsets are in the table, the empty one included."""
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
        """Bound unpublished sets through their groups, until nothing gets tighter; returns the sets that were looked at.

        They are the pairs of antecedent and SA value that no rule is about, where the supports of all their parts are bounded.
        """
        sets = self.named.sets
        _, unpublished = self.missing
        wanted = unpublished[
            self.whole_cubes[unpublished] & (sets.lengths[unpublished] <= LONGEST) & (sets.lengths[unpublished] > 1)
        ]
        wanted = np.unique(wanted)
        for _ in range(MOST_ROUNDS if len(wanted) else 0):
            changed = False
            for length in np.unique(sets.lengths[wanted]).tolist():
                level = wanted[sets.lengths[wanted] == length]
                bounds = self._through_groups(level, limits)
                changed |= self._enter(LO, level, bounds[:, 0], Reason.GROUPS, sources=level)
                changed |= self._enter(HI, level, bounds[:, 1], Reason.GROUPS, sources=level)
            if not changed or self.empty >= 0:
                break
            self._settle(limits)
        return wanted

    def book(self) -> tuple[Book, Ints]:
        """The sets with all their subsets, with bounds, for the deduction kernels; and their numbers."""
        book = Book.of_items(self.named.sets.members)
        places = np.flatnonzero(self.whole_cubes)
        sets = self.named.sets.take(places)
        book.enter(book.keys(sets.offsets, sets.members), np.stack((self.lo[places], self.hi[places]), axis=1))
        return book, places

    def _through_groups(self, places: Ints, limits: Limits) -> Ints:
        """Bounds on the supports of sets from those of their proper subsets."""
        book, _ = self.book()
        chosen = self.named.sets.take(places)
        keys = book.keys(chosen.offsets, chosen.members)
        limits.check(CODE)
        bounds, _ = book.deduce(keys, np.array([0, UNBOUNDED_COUNT, LONGEST]))
        return bounds


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most people that antecedent and consequent of a missing rule can have."""

    min_support: int
    min_confidence: Fraction
    strict: bool

    def of(self, people: int) -> int:
        """The most, when at most so many people have the antecedent.

        >>> Ceiling(5, Fraction(3, 5), strict=False).of(10), Ceiling(5, Fraction(3, 5), strict=True).of(10)
        (5, 6)
        """
        share = self.min_confidence * people
        below = share.numerator // share.denominator if self.strict else -(-share.numerator // share.denominator) - 1
        return max(0, self.min_support - 1, below)


def missing_ceiling(release: Rules) -> Ceiling | None:
    """What a missing rule says, or None where it says nothing."""
    header = release.header
    if not header.complete or header.min_support is None or header.min_confidence is None:
        return None
    return Ceiling(header.min_support, header.min_confidence, header.strict)
