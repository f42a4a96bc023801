"""Readers of releases as lines about boxes of people.

A list prints itemsets, rules or leaves of a tree, and says more by what it leaves out; a frequency table prints cells and totals. A table
of people bounds a box by the rows that show all its values and by those that may have them; a bucketized release combines its
quasi-identifiers with the sensitive values of each group (Frechet bounds).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import prod

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import HAS, Allowed, Axis, Box, Choice, Key, Line, Origin, Tally, intersect, literal, tally_scope
from tacit.model.arrays import Ints
from tacit.model.buckets import Buckets
from tacit.model.frequencies import ANY, UNBOUNDED, FrequencyTable, numbers_of
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, People, Same
from tacit.model.release import Itemsets, Listed, Release, Rules
from tacit.rules.bounds import UNBOUNDED_COUNT, confidence_of


class Vocabulary:
    """Axes of all items and columns; ``of`` gives each release's population."""

    def __init__(self, releases: Sequence[Release], people: People, of: Sequence[int] | None = None) -> None:
        self.values: dict[Key, dict[str, None]] = {}
        self._spoken: set[str] = set()
        self._by_release = [frozenset(columns_of(release)) for release in releases]
        self.columns = {column for columns in self._by_release for column in columns}
        owner = range(len(releases)) if of is None else of
        complete: dict[Key, set[int]] = {}
        for release, population in zip(releases, owner, strict=True):
            for column, named in columns_of(release).items():
                self.values.setdefault(Key("column", column), {}).update(dict.fromkeys(named))
            for column, known in all_values(release).items():
                complete.setdefault(Key("column", column), set()).add(population)
                self.values.setdefault(Key("column", column), {}).update(dict.fromkeys(known))
        # A complete list of values is one for all people only if the populations are the same.
        same = isinstance(people, (Same, Changed))
        every = set(owner)
        may_change = people.columns if isinstance(people, Changed) else ()
        self.closed = {key for key, listing in complete.items() if listing == every or (same and key.name not in may_change)}

    def shared(self, number: int) -> frozenset[str]:
        """Return the columns that other releases also name.

        Call it when all items have been looked up.
        """
        others = [columns for place, columns in enumerate(self._by_release) if place != number]
        return frozenset(self._spoken).union(*others)

    def meaning(self, release: Itemsets | Rules, item: int) -> tuple[Key, Allowed]:
        """Return the axis and values of an item."""
        name = release.items.names[item]
        pairs = release.items.pairs
        header = release.header
        if pairs is not None and not header.coarser:
            column, value = pairs[item]
            for group in header.groups:
                if (group.column, group.name) == (column, value):
                    return self._named(Key("column", column), frozenset(group.values), group.excluded)
            return self._named(Key("column", column), frozenset([value]))
        column, equals, value = name.partition("=")
        if pairs is None and equals and column in self.columns:
            self._spoken.add(column)
            return self._named(Key("column", column), frozenset([value]))
        return self._named(Key("item", name), frozenset([HAS]))

    def _named(self, key: Key, values: frozenset[str], excluded: bool = False) -> tuple[Key, Allowed]:
        self.values.setdefault(key, {}).update(dict.fromkeys(sorted(values)))
        return key, Allowed(values, excluded)

    def universe(self, key: Key) -> tuple[list[str], bool]:
        """Return the values of an axis, and if it is open."""
        return sorted(self.values[key]), key not in self.closed


def columns_of(release: Release) -> Mapping[str, Sequence[str]]:
    """Return the columns of a release with their named values."""
    if isinstance(release, FrequencyTable):
        named: dict[str, Sequence[str]] = dict(zip(release.columns, release.values, strict=True))
        if (measured := release.measured) is not None:  # its labels may be ranges
            named[measured.column] = [str(number) for number in range(measured.span.lo, measured.span.hi + 1)]
        return named
    if isinstance(release, PartialTable):
        return {column.name: [value for value in column.values if value] for column in release.people.columns}
    if isinstance(release, Buckets):
        shown = {column.name: column.values for column in release.people.columns}
        return shown | {release.sensitive: release.values}
    if release.items.pairs is None or release.header.coarser:
        return {}
    # A list is about its columns even where it is empty.
    roles = (*release.header.qi, " & ".join(release.header.sa)) if isinstance(release, Rules) and release.header.sa else ()
    return dict.fromkeys([*(column for column, _ in release.items.pairs), *release.header.columns, *roles], ())


def all_values(release: Release) -> Mapping[str, Sequence[str]]:
    """Return the completely listed columns with their values."""
    if isinstance(release, FrequencyTable):
        return columns_of(release) if release.header.complete else {}
    if isinstance(release, PartialTable):
        blank = release.hidden_by_column()
        return {column: values for column, values in columns_of(release).items() if column not in blank}
    if isinstance(release, Buckets):
        return columns_of(release)
    is_table = release.items.pairs is not None and not release.header.coarser
    return {" & ".join(release.header.sa): release.header.sa_values} if is_table and release.header.sa_values else {}


#: Most itemsets that a closed or maximal list stands for.
MOST_SUBSETS = 20_000
#: Most candidates for missing itemsets.
MOST_CANDIDATES = 300_000
#: Most itemsets or rules that are used, the shortest first; programs and windows would not hold more.
MOST_LISTED = 10_000


class ListedLines:
    """Lines of itemsets, rules or tree leaves about ``scope``."""

    def __init__(self, number: int, release: Listed, words: Vocabulary, scope: Box) -> None:
        self._number = number
        self._scope = scope
        self._release = release
        self._meaning = [words.meaning(release, item) for item in self._used(release)]
        self._of = dict(zip(self._used(release), self._meaning, strict=True))
        self._words = words
        self.left_out = 0

    @staticmethod
    def _used(release: Listed) -> list[int]:
        parts = [release.sets] if isinstance(release, Itemsets) else [release.antecedents, release.consequents]
        return sorted({int(item) for part in parts for item in part.members.tolist()})

    def _box(self, items: Sequence[int]) -> Box | None:
        box = intersect(self._of[item] for item in items)
        return None if box is None else {**box, **self._scope}

    def lines(self) -> Iterator[Line]:
        """Yield all lines of the release."""
        return self._itemset_lines(self._release) if isinstance(self._release, Itemsets) else self._rule_lines(self._release)

    def _itemset_lines(self, release: Itemsets) -> Iterator[Line]:
        """Yield the lines of a list of itemsets."""
        listed: dict[frozenset[int], int] = {}
        for index in self._choose(release.sets.lengths):
            items = release.sets[index].tolist()
            listed[frozenset(items)] = index
            box = self._box(items)
            count = release.count(index)
            if box is not None:
                origin = Origin(self._number, release.line(index), "count", count, text=release.text(index))
                yield Line.about(box, count.lo, count.hi, origin)
        if release.only == "closed" and not (release.is_exact and release.header.complete):
            yield from self._closed_lines(release, listed)
        whole = len(release) <= MOST_LISTED  # otherwise an unused itemset would seem to be missing
        if whole and release.header.complete and release.min_support is not None and not release.header.coarser:
            yield from self._missing_lines(release, listed)

    def _choose(self, lengths: Ints) -> Sequence[int]:
        """Return the indices of the lines to use."""
        if len(lengths) <= MOST_LISTED:
            return range(len(lengths))
        self.left_out += 1
        return sorted(np.argsort(lengths, kind="stable")[:MOST_LISTED].tolist())

    def _closed_lines(self, release: Itemsets, listed: Mapping[frozenset[int], int]) -> Iterator[Line]:
        """Yield that closed itemsets have strictly rarer supersets.

        Otherwise the larger itemset would be listed in its place.
        """
        if len(listed) * len(self._of) > MOST_SUBSETS:
            self.left_out += 1
            return
        for items, index in listed.items():
            box = self._box(sorted(items))
            for item in sorted(set(self._of) - items):
                lacking = None if box is None else self._lacking(box, item)
                if lacking is not None:
                    names = (release.items.names[item],)
                    origin = Origin(self._number, release.line(index), "closed", release.count(index), items=names)
                    yield Line.about(lacking, 1, None, origin)

    def _lacking(self, box: Box, item: int) -> Box | None:
        """Return the people of a box without an item, or None."""
        key, (values, excluded) = self._of[item]
        return None if key in box else {**box, key: Allowed(values, not excluded)}

    def _missing_lines(self, release: Itemsets, listed: dict[frozenset[int], int]) -> Iterator[Line]:
        """Yield the bounds on itemsets missing from a complete list."""
        frequent = self._frequent_sets(release, listed)
        if frequent is None:
            self.left_out += 1
            return
        if release.only == "closed":
            yield from self._closure_lines(release, listed, frequent)
        threshold = release.min_support or 1
        names = release.items.names
        missing = ((self._box(items), tuple(sorted(names[item] for item in items))) for items in self._border(frequent))
        unlisted = (
            ({key: Allowed(frozenset([value])), **self._scope}, (literal(key, value),)) for key, value in self._unlisted(release)
        )
        for box, items in chain(missing, unlisted):
            if box is not None:
                origin = Origin(self._number, "min_support", "missing", Bound.of(threshold), items=items)
                yield Line.about(box, None, threshold - 1, origin)

    @staticmethod
    def _frequent_sets(release: Itemsets, listed: dict[frozenset[int], int]) -> dict[frozenset[int], int] | None:
        """Return all frequent subsets of listed sets, or None."""
        frequent = dict(listed)
        if release.only == "all":
            return frequent
        if sum(2 ** len(items) for items in listed) > MOST_SUBSETS:
            return None
        # The closed set of the largest count comes last, so that it is the one that a subset is equal to.
        for items, index in sorted(listed.items(), key=lambda pair: (int(release.hi[pair[1]]), -pair[1])):
            for size in range(1, len(items)):
                frequent.update(
                    (frozenset(part), index) for part in combinations(sorted(items), size) if frozenset(part) not in listed
                )
        return frequent

    def _closure_lines(
        self, release: Itemsets, listed: Mapping[frozenset[int], int], frequent: Mapping[frozenset[int], int]
    ) -> Iterator[Line]:
        """Yield the bounds of a closed list on unlisted sets."""
        names = release.items.names
        for items, index in frequent.items():
            box = self._box(sorted(items))
            if items in listed or box is None:
                continue
            named = tuple(sorted(names[item] for item in items))
            count = release.count(index)
            if release.is_exact:
                origin = Origin(self._number, release.line(index), "subset", count, items=named)
                yield Line.about(box, count.lo, count.hi, origin)
                continue
            closure = frozenset.intersection(*(one for one in listed if items <= one))
            for item in sorted(closure - items):
                lacking = self._lacking(box, item)
                if lacking is not None:
                    origin = Origin(self._number, release.line(index), "closure", count, items=(*named, names[item]))
                    yield Line.about(lacking, None, 0, origin)

    def _unlisted(self, release: Itemsets) -> Iterator[tuple[Key, str]]:
        """Yield the infrequent values that only other releases name."""
        columns = {key for key, _ in self._meaning if key.kind == "column"}
        if release.items.pairs is not None:
            columns |= {Key("column", column) for column in release.header.columns}
        listed = {(key, value) for key, (values, _) in self._meaning for value in values}
        for key in sorted(columns):
            for value in sorted(self._words.values.get(key, ())):
                if (key, value) not in listed:
                    yield key, value

    def _border(self, frequent: Mapping[frozenset[int], int]) -> Iterator[tuple[int, ...]]:
        """Yield the minimal unlisted sets of published items."""
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

    def _rule_lines(self, release: Rules) -> Iterator[Line]:
        """Yield the lines of a list of rules."""
        for index in self._choose(release.antecedents.lengths):
            left = release.antecedents[index].tolist()
            right = release.consequents[index].tolist()
            whole = self._box(left)
            both = self._box(sorted({*left, *right}))
            if whole is None or both is None:
                continue
            line = release.line(index)
            for box, count, what in ((both, release.count(index), "count"), (whole, release.whole(index), "antecedent")):
                most = None if count.hi >= UNBOUNDED_COUNT else count.hi
                yield Line.about(box, count.lo, most, Origin(self._number, line, what, count))
            if not (release.count(index).is_exact and release.whole(index).is_exact):
                yield from self._confidence_lines(release, index, whole, both)
        header = release.header
        if header.sa_counts and header.sa_values:
            key = Key("column", " & ".join(header.sa))
            for value, people in zip(header.sa_values, header.sa_counts, strict=True):
                box = {key: Allowed(frozenset([value])), **self._scope}
                origin = Origin(self._number, "sa_counts", "value", Bound.of(people), items=(value,))
                yield Line.about(box, people, people, origin)

    def _confidence_lines(self, release: Rules, index: int, whole: Box, both: Box) -> Iterator[Line]:
        """Yield the bounds of a confidence, with and without the consequent."""
        allowed = confidence_of(release, index)

        def origin(what: str) -> Origin:
            return Origin(self._number, release.line(index), what, release.count(index))

        if allowed.low > 0:
            top, under = allowed.low.as_integer_ratio()
            yield Line(((under, both), (-top, whole)), int(allowed.low_open), None, origin("least"))
        if allowed.high < 1 or allowed.high_open:
            top, under = allowed.high.as_integer_ratio()
            yield Line(((top, whole), (-under, both)), int(allowed.high_open), None, origin("most"))
        right = release.consequents[index].tolist()
        key, (values, excluded) = self._of[right[0]]
        if len(right) > 1 or key in whole:
            return
        rest = {**whole, key: Allowed(values, not excluded)}
        if allowed.low == 1:
            yield Line.about(rest, None, 0, origin("no-exceptions"))
        elif allowed.low > 0:
            top, under = (1 - allowed.low).as_integer_ratio()
            yield Line(((top, whole), (-under, rest)), int(allowed.low_open), None, origin("most-exceptions"))
        if allowed.high < 1:
            top, under = (1 - allowed.high).as_integer_ratio()
            yield Line(((under, rest), (-top, whole)), int(allowed.high_open), None, origin("least-exceptions"))


#: Most cells that are used, those of the fewest columns first.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Condition that cells are empty or hold ``least`` people."""

    cells: tuple[Line, ...]
    least: int

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Return True: cells are boxes of the axes."""
        return bool(axes) or not self.cells

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield the cells that are nonempty but too small, or nearly."""
        place = {axis.key: number for number, axis in enumerate(axes)}
        for line in self.cells:
            box = line.terms[0][1]
            counts = tally([place[key] for key in box])
            for key, allowed in reversed(list(box.items())):
                mask = axes[place[key]].mask(allowed)
                counts = counts[..., [bit for bit in range(counts.shape[-1]) if mask >> bit & 1]].sum(axis=-1)
            people = float(counts)
            if max(-people, people - self.least) < room:
                first = 2 * people < self.least
                yield Choice(replace(line, lo=None, hi=0), replace(line, lo=self.least, hi=None), first)


class FrequencyLines:
    """Lines of frequency tables about the people of ``scope``."""

    def __init__(self, number: int, release: FrequencyTable, scope: Box) -> None:
        self._number = number
        self._release = release
        self._scope = scope
        self.left_out = 0

    def lines(self) -> Iterator[Line]:
        """Yield every cell: exact, rounded, or hidden.

        A cell without bounds is a line too, so that its values are named.
        """
        release = self._release
        taken: Sequence[int] = range(len(release))
        if len(release) > MOST_CELLS:
            self.left_out += 1
            fixed_columns = (release.codes.reshape(len(release), len(release.columns)) != ANY).sum(axis=1)
            taken = sorted(np.argsort(fixed_columns, kind="stable")[:MOST_CELLS].tolist())
        for index in taken:
            yield self._line(index)

    def _line(self, index: int) -> Line:
        """Return the line of a cell."""
        release = self._release
        count = release.count(index)
        fixed = {Key("column", column): self._allowed(column, value) for column, value in release.cell(index).items()}
        origin = Origin(self._number, release.place(index), "count", count, text=release.text(index))
        return Line.about({**fixed, **self._scope}, count.lo, None if count.hi >= UNBOUNDED else count.hi, origin)

    def condition(self) -> Gaps | None:
        """Return the condition on cells that print 0, or None."""
        release = self._release
        least = self._release.printing.hidden_below
        if least is None or least < 2 or not release.printing.zeros_shown:
            return None
        shown = np.flatnonzero(~release.is_hidden & (release.lo == 0) & (release.hi >= least)).tolist()
        return Gaps(tuple(self._line(index) for index in shown), least) if shown else None

    def _allowed(self, column: str, value: str) -> Allowed:
        """Return the values of a label or range."""
        measured = self._release.measured
        if measured is None or column != measured.column:
            return Allowed(frozenset([value]))
        span = numbers_of(value, measured.span)
        assert span is not None
        return Allowed(frozenset(str(number) for number in range(span.lo, span.hi + 1)))


#: Most lines from the rows of one table.
MOST_COUNTED = 20_000
#: Most combinations of values with columns that no other release names.
MOST_BESIDE = 2_000
#: Up to this many combinations, those of fewer columns are counted even if they add nothing.
MOST_DIRECT = 5_000
#: Most columns that rows are counted over at once.
MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True, eq=False)
class ShownColumn:
    """Column of a table: indices into ``values``, -1 if blank."""

    name: str
    values: tuple[str, ...]
    codes: Ints

    @property
    def has_blanks(self) -> bool:
        """True if a cell is blank."""
        return bool((self.codes < 0).any())

    def over(self, values: Sequence[str]) -> ShownColumn:
        """Return the column coded over more values."""
        place = {value: code for code, value in enumerate(values)}
        lookup = np.array([*(place[value] for value in self.values), -1], np.int64)
        return ShownColumn(self.name, tuple(values), lookup[self.codes])


def shown_columns(release: PartialTable | Buckets) -> tuple[ShownColumn, ...]:
    """Return the columns shown row by row."""
    out = []
    for column in release.people.columns:
        known = [value for value in column.values if isinstance(release, Buckets) or value]
        place = {value: code for code, value in enumerate(known)}
        lookup = np.array([place.get(value, -1) for value in column.values] or [-1], np.int64)
        codes = lookup[column.codes]
        if isinstance(release, PartialTable):
            codes = np.where(release.hidden[:, release.people.names.index(column.name)], -1, codes)
        out.append(ShownColumn(column.name, tuple(known), codes))
    return tuple(out)


def count_rows(columns: Sequence[ShownColumn]) -> tuple[Ints, Ints]:
    """Count the rows that show, or may have, each combination.

    >>> two = [ShownColumn("a", ("x", "y"), np.array([0, 0, -1])), ShownColumn("b", ("p",), np.array([0, -1, 0]))]
    >>> [ends.tolist() for ends in count_rows(two)]
    [[[1], [0]], [[3], [1]]]
    """
    shape = [len(column.values) for column in columns]
    least = np.zeros(shape, np.int64)
    most = np.zeros(shape, np.int64)
    blank = np.stack([column.codes < 0 for column in columns], axis=1)
    patterns, which = np.unique(blank, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.reshape(-1) == number)
        known = [place for place in range(len(columns)) if not pattern[place]]
        part = np.zeros([shape[place] for place in known], np.int64)
        if known:
            np.add.at(part, tuple(columns[place].codes[rows] for place in known), 1)
        else:
            part += len(rows)
        most += part.reshape([1 if pattern[place] else shape[place] for place in range(len(columns))])
        if len(known) == len(columns):
            least += part
    return least, most


class RowLines:
    """Lines of a table about columns shared with other releases."""

    def __init__(self, number: int, release: PartialTable | Buckets, words: Vocabulary, scope: Box) -> None:
        self._number = number
        self._release = release
        self._scope = scope
        self._words = words
        self.left_out = 0

    def used(self) -> list[ShownColumn]:
        """Return the shared columns, and a few that distinguish people."""
        shared = self._words.shared(self._number)
        every = [
            column.over(sorted({*column.values, *self._words.values.get(Key("column", column.name), ())}))
            for column in shown_columns(self._release)
        ]
        used = [column for column in every if column.name in shared]
        if used and isinstance(self._release, PartialTable):
            roles = {*self._release.people.schema.qi, *self._release.people.schema.sa}
            room = MOST_BESIDE // max(1, prod(len(column.values) + 1 for column in used))
            for column in sorted(every, key=lambda one: (len(one.values), one.name)):
                if column.name in roles - shared and len(column.values) + 1 <= room and len(used) < MOST_COLUMNS:
                    used.append(column)
                    room //= len(column.values) + 1
        return used

    def lines(self) -> Iterator[Line]:
        """Yield bounds on every informative combination of these columns."""
        used = self.used()
        room = MOST_COUNTED
        all_sets = prod(len(column.values) + 1 for column in used) <= MOST_DIRECT
        for size in range(min(len(used), MOST_COLUMNS), 0, -1):
            for chosen in combinations(used, size):
                # Without blanks in another column this is a sum of lines with it; stated at once, proofs are shorter.
                if not all_sets and size < MOST_COLUMNS and any(not one.has_blanks for one in used if one not in chosen):
                    continue
                room -= prod(len(column.values) for column in chosen)
                if room < 0:
                    self.left_out += 1
                    return
                yield from self._count(chosen)

    def _count(self, columns: Sequence[ShownColumn]) -> Iterator[Line]:
        least, most = count_rows(columns)
        for place, (low, high) in enumerate(zip(least.reshape(-1).tolist(), most.reshape(-1).tolist(), strict=True)):
            if low == 0 and high == self._release.n:
                continue
            codes = np.unravel_index(place, least.shape)
            fixed = {column.name: column.values[int(code)] for column, code in zip(columns, codes, strict=True)}
            yield rows_line(self._number, fixed, low, high, scope=self._scope)


def rows_line(number: int, fixed: Mapping[str, str], low: int, high: int, scope: Box, what: str = "rows") -> Line:
    """Return the line that a table implies about some values."""
    box = {Key("column", column): Allowed(frozenset([value])) for column, value in fixed.items()}
    items = tuple(literal(Key("column", column), value) for column, value in fixed.items())
    place = f"{what} with {' and '.join(items)}"
    return Line.about({**box, **scope}, low, high, Origin(number, place, what, Bound(low, high), items=items))


#: Most groups times combinations of quasi-identifiers.
MOST_ENTRIES = 4_000_000
#: Most quasi-identifiers that are combined with the sensitive value.
MOST_BUCKET_COLUMNS = 3


class BucketLines:
    """Lines of a bucketized release about columns shared with others.

    In a group of s people of whom a have some quasi-identifiers and b a sensitive value, at least a + b - s and at most the smaller of a
    and b have both (Frechet bounds). Their sums over the groups bound the number of people who have both.
    """

    def __init__(self, number: int, release: Buckets, words: Vocabulary, scope: Box) -> None:
        self._number = number
        self._release = release
        self._scope = scope
        self._words = words
        self._rows = RowLines(number, release, words, scope)
        self._left_out = 0

    @property
    def left_out(self) -> int:
        """Number of column sets too large to count."""
        return self._left_out + self._rows.left_out

    def lines(self) -> Iterator[Line]:
        """Yield exact marginals, and bounds on combinations with sensitive values."""
        release = self._release
        contents = self._contents()
        for value, people in zip(release.values, contents.sum(axis=0).tolist(), strict=True):
            yield rows_line(self._number, {release.sensitive: value}, people, people, scope=self._scope, what="values")
        yield from self._rows.lines()
        used = self._rows.used()
        room = MOST_COUNTED
        for size in range(1, min(len(used), MOST_BUCKET_COLUMNS) + 1):
            for chosen in combinations(used, size):
                combined = prod(len(column.values) for column in chosen)
                room -= combined * len(release.values)
                if room < 0 or combined * len(release) > MOST_ENTRIES:
                    self._left_out += 1
                    return
                yield from self._combine(chosen, contents)

    def _contents(self) -> Ints:
        """Return the counts of sensitive values by group."""
        release = self._release
        out = np.zeros((len(release), len(release.values)), np.int64)
        group = np.repeat(np.arange(len(release)), np.diff(release.starts))
        np.add.at(out, (group, release.value), release.count)
        return out

    def _combine(self, columns: Sequence[ShownColumn], contents: Ints) -> Iterator[Line]:
        release = self._release
        shape = [len(column.values) for column in columns]
        having = np.zeros((len(release), prod(shape)), np.int64)
        np.add.at(having, (release.group, np.ravel_multi_index([column.codes for column in columns], shape)), 1)
        sizes = release.sizes[:, None]
        there = np.flatnonzero(having.any(axis=0)).tolist()
        for number, value in enumerate(release.values):
            with_it = contents[:, number : number + 1]
            least = np.maximum(having + with_it - sizes, 0).sum(axis=0)
            most = np.minimum(having, with_it).sum(axis=0)
            for place in there:
                codes = np.unravel_index(place, shape)
                fixed = {column.name: column.values[int(code)] for column, code in zip(columns, codes, strict=True)}
                fixed[release.sensitive] = value
                yield rows_line(self._number, fixed, int(least[place]), int(most[place]), scope=self._scope, what="groups")


#: Most kinds of people that rows are matched to.
MOST_KINDS = 5_000
#: Most pairs of a kind of row and a kind of people.
MOST_PAIRS = 1_000_000


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Condition that each row with blanks has a person.

    Bounds on boxes imply this in part only. In a table with the rows (x, blank) and (blank, h), two people have x or h, and that is not a
    box. So a world is matched to the rows by a maximum flow; if that fails, the minimum cut names the people who are missing.
    """

    number: int
    columns: tuple[ShownColumn, ...]
    scope: Box

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Tell if kinds of people and rows are few enough."""
        columns, places = self._placed(axes)
        if not columns:
            return True
        kinds = prod(len(axes[place].classes) for place in places)
        return kinds <= MOST_KINDS and kinds * len(self._patterns(axes, columns, places)[0]) <= MOST_PAIRS

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield that enough people have what some rows show."""
        columns, places = self._placed(axes)
        if not columns:
            return
        people = tally_scope(self.scope, axes, tally, places)
        if not np.issubdtype(people.dtype, np.integer):
            return
        if room:
            for kind in np.ndindex(*people.shape):
                yield Choice(self._line([(axes, places, kind)], int(people[kind]), int(people[kind])), None)
            return
        patterns, rows = self._patterns(axes, columns, places)
        short = _find_shortage(patterns, rows, people)
        if short is not None:
            kinds, least = short
            yield Choice(self._line([(axes, places, kind) for kind in kinds], least, None), None)

    def _placed(self, axes: Sequence[Axis]) -> tuple[list[ShownColumn], list[int]]:
        """Return the columns that are axes, and their positions."""
        of_key = {axis.key: place for place, axis in enumerate(axes)}
        columns = [column for column in self.columns if Key("column", column.name) in of_key]
        return columns, [of_key[Key("column", column.name)] for column in columns]

    @staticmethod
    def _patterns(axes: Sequence[Axis], columns: Sequence[ShownColumn], places: Sequence[int]) -> tuple[Ints, Ints]:
        """Return the kinds of rows and their numbers."""
        shown = np.stack([classes_of(axes[place], column) for column, place in zip(columns, places, strict=True)], axis=1)
        return np.unique(shown, axis=0, return_counts=True)

    def _line(self, kinds: Sequence[tuple[Sequence[Axis], Sequence[int], Sequence[int]]], lo: int, hi: int | None) -> Line:
        terms = []
        for axes, places, kind in kinds:
            box: dict[Key, Allowed] = dict(self.scope)
            for place, bit in zip(places, kind, strict=True):
                named = axes[place].classes[bit]
                others = [one for values in axes[place].classes for one in values if one is not None and one not in named]
                known = [one for one in named if one is not None]
                box[axes[place].key] = Allowed(frozenset(others), excluded=True) if None in named else Allowed(frozenset(known))
            terms.append((1, box))
        return Line(tuple(terms), lo, hi, Origin(self.number, "rows", "rows", Bound(lo, lo if hi is None else hi)))


def classes_of(axis: Axis, column: ShownColumn) -> Ints:
    """Return each row's class on an axis, -1 if blank."""
    of_value = {value: place for place, values in enumerate(axis.classes) for value in values}
    lookup = np.array([*(of_value.get(value, of_value.get(None, -1)) for value in column.values), -1], np.int64)
    return lookup[column.codes]


def _find_shortage(patterns: Ints, rows: Ints, people: npt.NDArray[np.generic]) -> tuple[list[tuple[int, ...]], int] | None:
    """Return kinds of people too few for their rows, or None.

    The second number is how many rows these are.

    >>> x_or_h = np.array([[0, -1], [-1, 1]])  # rows (x, blank) and (blank, h) of a table with the values x, y and g, h
    >>> _find_shortage(x_or_h, np.array([1, 1]), np.array([[0, 1], [1, 0]]))
    ([(0, 0), (0, 1), (1, 1)], 2)
    >>> _find_shortage(x_or_h, np.array([1, 1]), np.array([[1, 0], [0, 1]])) is None
    True
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    kinds = np.stack(np.unravel_index(np.arange(people.size), people.shape), axis=1)
    fits = ((patterns[:, None, :] < 0) | (patterns[:, None, :] == kinds[None, :, :])).all(axis=2)
    row, kind = np.nonzero(fits)
    # The source, kinds of rows, kinds of people, the sink.
    count = len(rows)
    size = len(rows) + people.size + 2
    start = np.concatenate((np.zeros(count, np.int64), row + 1, np.arange(people.size) + count + 1))
    end = np.concatenate((np.arange(count) + 1, kind + count + 1, np.full(people.size, size - 1)))
    room = np.concatenate((rows, rows[row], people.ravel())).astype(np.int32)
    graph = csr_array((room, (start, end)), shape=(size, size))
    flow = maximum_flow(graph, 0, size - 1)
    if flow.flow_value == rows.sum():
        return None
    left = csr_array(graph - flow.flow)
    left.eliminate_zeros()
    reached = breadth_first_order(left, 0, return_predecessors=False)
    short = reached[(reached > 0) & (reached <= count)] - 1
    needed = np.flatnonzero(fits[short].any(axis=0))
    return [tuple(one) for one in kinds[needed].tolist()], int(rows[short].sum())
