"""What lists print about boxes of people: itemsets, complete lists of them, rules and leaves of trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Allowed, Box, Key, intersection, literal
from tacit.attacks.joint.lines import Line, Origin
from tacit.attacks.joint.vocabulary import Vocabulary
from tacit.attacks.rule_numbers import UNBOUNDED, Confidence, confidence_of
from tacit.model.bound import Bound
from tacit.model.release import Itemsets, Listed, Rules

#: Itemsets that a closed or maximal list stands for, and candidates for missing ones, are looked at up to these numbers.
MOST_SUBSETS, MOST_CANDIDATES = 20_000, 300_000
#: Of longer lists the shortest itemsets or rules are taken, so many; programs and windows would not hold more.
MOST_LISTED = 10_000


class ListedLines:
    """The lines of one release, about the people of its scope."""

    def __init__(self, number: int, release: Listed, words: Vocabulary, scope: Box) -> None:
        self._number, self._scope, self._release = number, scope, release
        self._meaning = [words.meaning(release, item) for item in self._used(release)]
        self._of = dict(zip(self._used(release), self._meaning, strict=True))
        self._words = words
        self.left_out = 0

    @staticmethod
    def _used(release: Listed) -> list[int]:
        parts = [release.sets] if isinstance(release, Itemsets) else [release.antecedents, release.consequents]
        return sorted({int(item) for part in parts for item in part.members.tolist()})

    def _box(self, items: Sequence[int]) -> Box | None:
        box = intersection(self._of[item] for item in items)
        return None if box is None else {**box, **self._scope}

    def lines(self) -> Iterator[Line]:
        """All lines of the release."""
        return self.itemsets(self._release) if isinstance(self._release, Itemsets) else self.rules(self._release)

    def itemsets(self, release: Itemsets) -> Iterator[Line]:
        """What a list of itemsets prints, and what follows from its being complete."""
        listed: dict[frozenset[int], int] = {}
        for index in self._taken(release.sets.lengths):
            items = release.sets[index].tolist()
            listed[frozenset(items)] = index
            box, count = self._box(items), release.count(index)
            if box is not None:
                yield Line(
                    ((1, box),),
                    count.lo,
                    count.hi,
                    Origin(self._number, release.line(index), "count", count, text=release.text(index)),
                )
        if release.only == "closed" and not (release.is_exact and release.header.complete):
            yield from self._closed(release, listed)
        whole = len(release) <= MOST_LISTED  # else an itemset that was passed over would seem to be missing
        if whole and release.header.complete and release.min_support is not None and not release.header.coarser:
            yield from self._missing(release, listed)

    def _taken(self, lengths: npt.NDArray[np.int64]) -> Sequence[int]:
        """Which lines are taken in: all, or the shortest."""
        if len(lengths) <= MOST_LISTED:
            return range(len(lengths))
        self.left_out += 1
        return sorted(np.argsort(lengths, kind="stable")[:MOST_LISTED].tolist())

    def _closed(self, release: Itemsets, listed: Mapping[frozenset[int], int]) -> Iterator[Line]:
        """That somebody who has a closed itemset lacks each other item: else the itemset with that item would be listed in its place."""
        if len(listed) * len(self._of) > MOST_SUBSETS:
            self.left_out += 1
            return
        for items, index in listed.items():
            box = self._box(sorted(items))
            for item in sorted(set(self._of) - items):
                lacking = None if box is None else self._lacking(box, item)
                if lacking is not None:
                    told = (release.items.names[item],)
                    yield Line(
                        ((1, lacking),), 1, None, Origin(self._number, release.line(index), "closed", release.count(index), told)
                    )

    def _lacking(self, box: Box, item: int) -> Box | None:
        """The people of a box who lack an item; None where the box says already which value of its column they have."""
        key, (values, excluded) = self._of[item]
        return None if key in box else {**box, key: Allowed(values, not excluded)}

    def _missing(self, release: Itemsets, listed: dict[frozenset[int], int]) -> Iterator[Line]:
        names, threshold = release.items.names, release.min_support or 1
        frequent = dict(listed)
        if release.only != "all":
            if sum(2 ** len(items) for items in listed) > MOST_SUBSETS:
                self.left_out += 1
                return
            # The closed set of the largest count comes last, so that it is the one that a subset is equal to.
            for items, index in sorted(listed.items(), key=lambda pair: (int(release.hi[pair[1]]), -pair[1])):
                for size in range(1, len(items)):
                    frequent.update(
                        (frozenset(part), index) for part in combinations(sorted(items), size) if frozenset(part) not in listed
                    )
        if release.only == "closed":
            for items, index in frequent.items():
                box = self._box(sorted(items))
                if items in listed or box is None:
                    continue
                told = tuple(sorted(names[item] for item in items))
                count = release.count(index)
                if release.is_exact:
                    yield Line(((1, box),), count.lo, count.hi, Origin(self._number, release.line(index), "subset", count, told))
                    continue
                above = frozenset.intersection(*(one for one in listed if items <= one))
                for item in sorted(above - items):
                    lacking = self._lacking(box, item)
                    if lacking is not None:
                        origin = Origin(self._number, release.line(index), "closure", count, (*told, names[item]))
                        yield Line(((1, lacking),), None, 0, origin)
        most = Bound.of(threshold)
        for missing in self._border(frequent):
            box = self._box(missing)
            if box is not None:
                told = tuple(sorted(names[item] for item in missing))
                yield Line(((1, box),), None, threshold - 1, Origin(self._number, "min_support", "missing", most, told))
        for key, value in self._unlisted(release):
            box = {key: Allowed(frozenset([value])), **self._scope}
            told = (literal(key, value),)
            yield Line(((1, box),), None, threshold - 1, Origin(self._number, "min_support", "missing", most, told))

    def _unlisted(self, release: Itemsets) -> Iterator[tuple[Key, str]]:
        """The values of the list's columns that only other releases name: none of them is frequent enough to be listed."""
        columns = {key for key, _ in self._meaning if key.kind == "column"}
        if release.items.pairs is not None:
            columns |= {Key("column", column) for column in release.header.columns}
        listed = {(key, value) for key, (values, _) in self._meaning for value in values}
        for key in sorted(columns):
            for value in sorted(self._words.values.get(key, ())):
                if (key, value) not in listed:
                    yield key, value

    def _border(self, frequent: Mapping[frozenset[int], int]) -> Iterator[tuple[int, ...]]:
        """The smallest sets of published items that the list leaves out."""
        items = sorted(self._of)
        if len(frequent) * len(items) > MOST_CANDIDATES:
            self.left_out += 1
            return
        seen: set[frozenset[int]] = set()
        for found in frequent:
            for item in items:
                larger = found | {item}
                if item in found or larger in frequent or larger in seen:
                    continue
                seen.add(larger)
                if len(larger) > 1 and all(larger - {one} in frequent for one in larger):
                    yield tuple(sorted(larger))

    def _exceptions(self, release: Rules, index: int, allowed: Confidence, whole: Box) -> Iterator[Line]:
        """The same ratio once more, for those who have the antecedent and not the consequent: bounds on both sides say more than on one."""
        right = release.consequents[index].tolist()
        key, (values, excluded) = self._of[right[0]]
        if len(right) > 1 or key in whole:
            return
        rest = {**whole, key: Allowed(values, not excluded)}
        least, most = 1 - allowed.high, 1 - allowed.low
        line, count = release.line(index), release.count(index)
        if most == 0:
            yield Line(((1, rest),), None, 0, Origin(self._number, line, "no-exceptions", count))
        elif most < 1:
            top, under = most.as_integer_ratio()
            origin = Origin(self._number, line, "most-exceptions", count)
            yield Line(((top, whole), (-under, rest)), int(allowed.low_open), None, origin)
        if least > 0:
            top, under = least.as_integer_ratio()
            origin = Origin(self._number, line, "least-exceptions", count)
            yield Line(((under, rest), (-top, whole)), int(allowed.high_open), None, origin)

    def rules(self, release: Rules) -> Iterator[Line]:
        """What a list of rules prints: how many people fit each side, and the ratio of the two."""
        header = release.header
        for index in self._taken(release.antecedents.lengths):
            left, right = release.antecedents[index].tolist(), release.consequents[index].tolist()
            whole, both = self._box(left), self._box(sorted({*left, *right}))
            if whole is None or both is None:
                continue
            line = release.line(index)
            for box, count, what in ((both, release.count(index), "count"), (whole, release.whole(index), "antecedent")):
                most = None if count.hi >= UNBOUNDED else count.hi
                yield Line(((1, box),), count.lo, most, Origin(self._number, line, what, count))
            if release.count(index).is_exact and release.whole(index).is_exact:
                continue
            allowed = confidence_of(release, index)
            low, high = allowed.low.as_integer_ratio(), allowed.high.as_integer_ratio()
            count = release.count(index)
            if low[0]:
                yield Line(
                    ((low[1], both), (-low[0], whole)), int(allowed.low_open), None, Origin(self._number, line, "least", count)
                )
            if allowed.high < 1 or allowed.high_open:
                yield Line(
                    ((high[0], whole), (-high[1], both)), int(allowed.high_open), None, Origin(self._number, line, "most", count)
                )
            yield from self._exceptions(release, index, allowed, whole)
        if header.sa_counts and header.sa_values:
            key = Key("column", " & ".join(header.sa))
            for value, people in zip(header.sa_values, header.sa_counts, strict=True):
                box = {key: Allowed(frozenset([value])), **self._scope}
                yield Line(((1, box),), people, people, Origin(self._number, "sa_counts", "value", Bound.of(people), (value,)))
