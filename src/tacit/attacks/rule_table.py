"""Bounds on the supports of all itemsets that a release of rules names, everything it says taken together.

A line bounds the people with all its items and those with its antecedent; its confidence ties the two numbers to each other. Lines about one
set are intersected. Who has a set has every part of it. Where the header gives the values of the SA, each person has exactly one of them, and a
complete list says of each missing rule that it does not reach the thresholds. All this is applied again until nothing gets tighter; every
bound holds in each world that prints the same release, however early the search ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from tacit.attacks.rule_log import HI, LO, Log, Reason
from tacit.attacks.rule_numbers import UNBOUNDED, Confidences, Whole
from tacit.attacks.rule_sets import NamedSets
from tacit.kernels.book import Book
from tacit.model.bound import Bound
from tacit.model.policy import Limits
from tacit.model.release import Rules

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
    lo: Whole
    hi: Whole
    log: Log = field(default_factory=Log)

    @classmethod
    def of(cls, release: Rules, limits: Limits | None = None) -> RuleTable:
        """The table of a release, as tight as the rules above make it."""
        named = NamedSets.of(release)
        size = len(named.sets)
        table = cls(release, named, np.zeros(size, np.int64), np.full(size, UNBOUNDED, np.int64))
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
    def missing(self) -> tuple[Whole, Whole]:
        """Antecedents and, with one value of the SA, the sets that no rule is about."""
        rows, columns = np.nonzero(~np.isin(self.named.children, self.named.both))
        return self.named.parents[rows], self.named.children[rows, columns]

    def lacking(self, rules: Whole) -> tuple[Whole, Whole]:
        """Bounds on the people with the antecedents of rules and without their consequents."""
        both, whole = self.named.both[rules], self.named.whole[rules]
        lo, hi = np.maximum(self.lo[whole] - self.hi[both], 0), self.hi[whole] - self.lo[both]
        loose = np.flatnonzero(np.isin(rules, self._loose))
        if len(loose):
            tied = Confidences.of(self.release, rules[loose])
            part, all_ = both[loose], whole[loose]
            least, most = tied.lacking((self.lo[part], self.hi[part]), (self.lo[all_], self.hi[all_]))
            lo[loose], hi[loose] = np.maximum(lo[loose], least), np.minimum(hi[loose], most)
        return lo, hi

    @cached_property
    def _loose(self) -> Whole:
        """The lines that do not give both their numbers exactly."""
        release = self.release
        return np.flatnonzero((release.lo < release.hi) | (release.whole_lo < release.whole_hi))

    @cached_property
    def _confidences(self) -> Confidences:
        return Confidences.of(self.release, self._loose)

    def _read(self) -> None:
        """Enter what each line, the header and the number of people say by themselves."""
        release, named = self.release, self.named
        lines = np.arange(len(release))
        if named.nobody >= 0:
            everyone = np.array([named.nobody])
            for end in (LO, HI):
                self._enter(end, everyone, np.array([release.n or 0]), Reason.PEOPLE, everyone)
        for places, reason, low, high in (
            (named.both, Reason.COUNT, release.lo, release.hi),
            (named.whole, Reason.WHOLE, release.whole_lo, release.whole_hi),
        ):
            self._enter(LO, places, low, reason, lines)
            self._enter(HI, places, high, reason, lines)
        if named.nobody >= 0 and len(named.children) and release.header.sa_counts:
            row = named.children[int(np.flatnonzero(named.parents == named.nobody)[0])]
            for end in (LO, HI):
                self._enter(end, row, np.array(release.header.sa_counts), Reason.DISTRIBUTION, row)

    def _settle(self, limits: Limits) -> None:
        """Tighten until nothing changes."""
        for _ in range(MOST_ROUNDS):
            limits.check(CODE)
            changed = self._by_confidence() | self._by_parts()
            changed |= self._by_values() | self._by_absence()
            if not changed or self.empty >= 0:
                return

    def _enter(self, end: int, places: Whole, values: Whole, reason: Reason, sources: Whole) -> bool:
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
            end, places[chosen].astype(np.int64), values[chosen].astype(np.int64), reason, sources[chosen].astype(np.int64)
        )
        return True

    def _by_confidence(self) -> bool:
        """The confidence of a line carries bounds over between its two numbers."""
        loose, changed = self._loose, False
        if len(loose) == 0:
            return False
        both, whole = self.named.both[loose], self.named.whole[loose]
        least, most = self._confidences.wholes(self.lo[both], self.hi[both])
        changed |= self._enter(LO, whole, least, Reason.CONFIDENCE, loose)
        changed |= self._enter(HI, whole, most, Reason.CONFIDENCE, loose)
        least, most = self._confidences.parts(self.lo[whole], self.hi[whole])
        changed |= self._enter(LO, both, least, Reason.CONFIDENCE, loose)
        changed |= self._enter(HI, both, most, Reason.CONFIDENCE, loose)
        return changed

    def _by_parts(self) -> bool:
        """Who has a set has every part of it."""
        smaller, larger = self.named.inside
        changed = self._enter(LO, smaller, self.lo[larger], Reason.INSIDE, larger)
        return changed | self._enter(HI, larger, self.hi[smaller], Reason.INSIDE, smaller)

    def _by_values(self) -> bool:
        """Each person has exactly one value of the SA, so those with an antecedent are split among its values."""
        parents, children = self.named.parents, self.named.children
        if children.size == 0 or int(self.hi[parents].max()) >= UNBOUNDED // (children.shape[1] + 1):
            return False
        low, high = self.lo[children], np.minimum(self.hi[children], self.hi[parents][:, None])
        all_low, all_high = low.sum(axis=1), high.sum(axis=1)
        own, flat = np.repeat(parents, children.shape[1]), children.ravel()
        least = (self.lo[parents] - all_high)[:, None] + high
        most = (self.hi[parents] - all_low)[:, None] + low
        changed = self._enter(LO, parents, all_low, Reason.VALUES, parents)
        changed |= self._enter(HI, parents, all_high, Reason.VALUES, parents)
        changed |= self._enter(LO, flat, least.ravel(), Reason.VALUES, own)
        return changed | self._enter(HI, flat, most.ravel(), Reason.VALUES, own)

    def _by_absence(self) -> bool:
        """A rule that a complete list leaves out does not reach the thresholds."""
        parents, children = self.missing
        ceiling = missing_ceiling(self.release)
        named_rule = parents != self.named.nobody  # the empty antecedent is no rule
        if ceiling is None or not named_rule.any():
            return False
        parents, children = parents[named_rule], children[named_rule]
        distinct, index = np.unique(self.hi[parents], return_inverse=True)
        most = np.array([min(ceiling.of(count), UNBOUNDED) for count in distinct.tolist()], np.int64)[index]
        return self._enter(HI, children, most, Reason.MISSING, parents)

    # What groups that cannot be negative say

    @cached_property
    def whole_cubes(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """The sets all of whose subsets are in the table, the empty one included."""
        sets, less_one = self.named.sets, self.named.less_one
        full = np.zeros(len(sets), np.bool_)
        if self.named.nobody >= 0:
            full[self.named.nobody] = True
        lengths = sets.lengths
        for length in range(1, int(lengths.max(initial=0)) + 1):
            owners = np.flatnonzero(lengths == length)
            smaller = less_one[sets.offsets[owners][:, None] + np.arange(length)]
            full[owners] = ((smaller >= 0) & full[smaller]).all(axis=1)
        return full

    def deduce(self, limits: Limits) -> Whole:
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
                changed |= self._enter(LO, level, bounds[:, 0], Reason.GROUPS, level)
                changed |= self._enter(HI, level, bounds[:, 1], Reason.GROUPS, level)
            if not changed or self.empty >= 0:
                break
            self._settle(limits)
        return wanted

    def book(self) -> tuple[Book, Whole]:
        """The sets with all their subsets, with bounds, for the deduction kernels; and their numbers."""
        book = Book.of_items(self.named.sets.members)
        places = np.flatnonzero(self.whole_cubes)
        sets = self.named.sets.take(places)
        book.enter(book.keys(sets.offsets, sets.members), np.stack((self.lo[places], self.hi[places]), axis=1))
        return book, places

    def _through_groups(self, places: Whole, limits: Limits) -> Whole:
        """Bounds on the supports of sets from those of their proper subsets."""
        book, _ = self.book()
        chosen = self.named.sets.take(places)
        keys = book.keys(chosen.offsets, chosen.members)
        limits.check(CODE)
        bounds, _ = book.deduce(keys, np.array([0, UNBOUNDED, LONGEST]))
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
