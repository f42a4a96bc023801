"""Readers of releases as lines about boxes of people.

A list prints itemsets, rules or leaves of a tree, and says more by what it leaves out; a frequency table prints cells and totals. A table
of people bounds a box by the rows that show all its values and by those that may have them; a bucketized release combines its
quasi-identifiers with the sensitive values of each group (Frechet bounds).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, combinations
from math import prod
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from tacit.joint.boxes import HAS, Allowed, Box, Condition, Key, Line, Origin, intersect, literal
from tacit.joint.conditions import Gaps, MissingRules, ShownColumn, ShownRows
from tacit.model.arrays import Flags, Ints
from tacit.model.buckets import Buckets
from tacit.model.errors import OptionError
from tacit.model.frequencies import ANY, UNBOUNDED, FrequencyTable, numbers_of
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, People, Same
from tacit.model.release import FirstMatch, Itemsets, Release, Rules
from tacit.model.table import Table

R = TypeVar("R", bound=Release)
Listed = TypeVar("Listed", bound=Itemsets | Rules)
Shown = TypeVar("Shown", bound=PartialTable | Buckets)


#: Values that a release names, by column; items of a release without columns are listed under an empty name.
Words = Mapping[str, frozenset[str]]
_ITEMS = ""
_OTHER_SIGNS = re.compile(r"[\W_]+")


class Reader(Generic[R]):
    """Reader of one release about ``scope``; ``left_out`` counts what is too much to examine."""

    #: True if the release shows people row by row, and if it prints cells.
    by_row: ClassVar[bool] = False
    has_cells: ClassVar[bool] = False
    needs_known: ClassVar[bool] = False  #: Some of it is about people whose quasi-identifiers have to be known.

    def __init__(self, number: int, release: R, scope: Box) -> None:
        self.number = number
        self.release = release
        self.scope = scope
        self.left_out = 0

    def columns(self) -> Mapping[str, Sequence[str]]:
        """Return the columns with their named values."""
        raise NotImplementedError

    def all_values(self) -> Mapping[str, Sequence[str]]:
        """Return the completely listed columns with their values."""
        raise NotImplementedError

    def words(self) -> Words:
        """Return the values that must mean the same in other releases."""
        return {}

    def look_up(self, vocabulary: Vocabulary) -> None:
        """Look up all items, before any reader is asked for lines."""
        self.vocabulary = vocabulary

    def lines(self) -> Iterator[Line]:
        """Yield all lines of the release."""
        raise NotImplementedError

    def closing_lines(self) -> Iterator[Line]:
        """Yield that complete lists of values exclude other values."""
        for column, known in self.all_values().items():
            key = Key("column", column)
            values = frozenset(known)
            named, is_open = self.vocabulary.universe(key)
            if is_open or not values >= set(named):
                box = {key: Allowed(values, excluded=True), **self.scope}
                origin = Origin(self.number, f"all values of {column}", "all-values", Bound.of(0), items=(column,))
                yield Line.about(box, None, 0, origin)

    def conditions(self) -> Sequence[Condition]:
        """Return what lines cannot state."""
        return ()

    def _choose_shortest(self, lengths: Ints, most: int) -> Sequence[int]:
        if len(lengths) <= most:
            return range(len(lengths))
        self.left_out += 1
        return sorted(np.argsort(lengths, kind="stable")[:most].tolist())


class Vocabulary:
    """Axes of all items and columns; ``of`` gives each release's population."""

    def __init__(self, readers: Sequence[Reader[Any]], people: People, of: Sequence[int]) -> None:
        self.values: dict[Key, dict[str, None]] = {}
        self._spoken: set[str] = set()
        self._by_release = [frozenset(reader.columns()) for reader in readers]
        self.columns = {column for columns in self._by_release for column in columns}
        complete: dict[Key, set[int]] = {}
        for reader, population in zip(readers, of, strict=True):
            for column, named in reader.columns().items():
                self.values.setdefault(Key("column", column), {}).update(dict.fromkeys(named))
            for column, known in reader.all_values().items():
                complete.setdefault(Key("column", column), set()).add(population)
                self.values.setdefault(Key("column", column), {}).update(dict.fromkeys(known))
        # A complete list of values is one for all people only if the populations are the same.
        same = isinstance(people, (Same, Changed))
        may_change = people.columns if isinstance(people, Changed) else ()
        self.closed = {key for key, listing in complete.items() if listing == set(of) or (same and key.name not in may_change)}

    def shared(self, number: int) -> frozenset[str]:
        """Return the columns that other releases name, once all items are looked up."""
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


MOST_SUBSETS = 20_000  #: Most itemsets that a closed or maximal list stands for.
MOST_CANDIDATES = 300_000  #: Most candidates for missing itemsets.
MOST_LISTED = 10_000  #: Most itemsets or rules that are used, the shortest first; programs and windows would not hold more.


class _ListReader(Reader[Listed]):
    #: Fields that hold the sets of items.
    sides: ClassVar[tuple[str, ...]]

    def __init__(self, number: int, release: Listed, scope: Box) -> None:
        super().__init__(number, release, scope)
        self._pairs = None if release.header.coarser else release.items.pairs
        self._used = sorted(set[int]().union(*(getattr(release, side).members.tolist() for side in self.sides)))

    def columns(self) -> Mapping[str, Sequence[str]]:
        if self._pairs is None:
            return {}
        return dict.fromkeys([*(column for column, _ in self._pairs), *self.release.header.columns], ())

    def all_values(self) -> Mapping[str, Sequence[str]]:
        header = self.release.header
        if self._pairs is None:
            return {}
        return dict(header.all_values) | {one.column: one.values for one in header.sensitive if one.values}

    def words(self) -> Words:
        found: dict[str, set[str]] = {}
        for item in self._used:
            column, value = ("", self.release.items.names[item]) if self._pairs is None else self._pairs[item]
            found.setdefault(column, set()).add(value)
        return {column: frozenset(values) for column, values in found.items()}

    def look_up(self, vocabulary: Vocabulary) -> None:
        super().look_up(vocabulary)
        self._of = {item: vocabulary.meaning(self.release, item) for item in self._used}

    def _box(self, items: Sequence[int]) -> Box | None:
        box = intersect(self._of[item] for item in items)
        return None if box is None else {**box, **self.scope}


class _ItemsetReader(_ListReader[Itemsets]):
    sides = ("sets",)

    def lines(self) -> Iterator[Line]:
        release = self.release
        listed: dict[frozenset[int], int] = {}
        for index in self._choose_shortest(release.sets.lengths, MOST_LISTED):
            items = release.sets[index].tolist()
            listed[frozenset(items)] = index
            box = self._box(items)
            count = release.count(index)
            if box is not None:
                origin = Origin(self.number, release.line(index), "count", count, text=release.text(index))
                yield Line.about(box, count.lo, count.hi, origin)
        if release.only == "closed" and not (release.is_exact and release.header.complete):
            yield from self._closed_lines(listed)
        whole = len(release) <= MOST_LISTED  # otherwise an unused itemset would seem to be missing
        if whole and release.header.complete and release.min_support is not None and not release.header.coarser:
            yield from self._missing_lines(listed)

    def _closed_lines(self, listed: Mapping[frozenset[int], int]) -> Iterator[Line]:
        """Yield that supersets are strictly rarer: otherwise they would be listed instead."""
        if len(listed) * len(self._of) > MOST_SUBSETS:
            self.left_out += 1
            return
        release = self.release
        for items, index in listed.items():
            box = self._box(sorted(items))
            for item in sorted(set(self._of) - items):
                lacking = None if box is None else self._lacking(box, item)
                if lacking is not None:
                    names = (release.items.names[item],)
                    origin = Origin(self.number, release.line(index), "closed", release.count(index), items=names)
                    yield Line.about(lacking, 1, None, origin)

    def _lacking(self, box: Box, item: int) -> Box | None:
        key, (values, excluded) = self._of[item]
        return None if key in box else {**box, key: Allowed(values, not excluded)}

    def _missing_lines(self, listed: dict[frozenset[int], int]) -> Iterator[Line]:
        """Yield the bounds on itemsets and values missing from a complete list."""
        release = self.release
        frequent = self._frequent_sets(listed)
        if frequent is None:
            self.left_out += 1
            return
        if release.only == "closed":
            yield from self._closure_lines(listed, frequent)
        columns = {key for key, _ in self._of.values() if key.kind == "column"}
        if release.items.pairs is not None:
            columns |= {Key("column", column) for column in release.header.columns}
        known = {(key, value) for key, (values, _) in self._of.values() for value in values}
        named = ((key, value) for key in sorted(columns) for value in sorted(self.vocabulary.values.get(key, ())))
        fresh = (one for one in named if one not in known)
        unlisted = (({key: Allowed(frozenset([value])), **self.scope}, (literal(key, value),)) for key, value in fresh)
        names = release.items.names
        missing = ((self._box(items), tuple(sorted(names[item] for item in items))) for items in self._border(frequent))
        threshold = release.min_support or 1
        for box, items in chain(missing, unlisted):
            if box is not None:
                origin = Origin(self.number, "min_support", "missing", Bound.of(threshold), items=items)
                yield Line.about(box, None, threshold - 1, origin)

    def _frequent_sets(self, listed: dict[frozenset[int], int]) -> dict[frozenset[int], int] | None:
        """Return all frequent subsets of listed sets, or None if they are too many."""
        release = self.release
        frequent = dict(listed)
        if release.only == "all":
            return frequent
        if sum(2 ** len(items) for items in listed) > MOST_SUBSETS:
            return None
        # The closed set of the largest count comes last, so that it is the one that a subset is equal to.
        for items, index in sorted(listed.items(), key=lambda pair: (int(release.hi[pair[1]]), -pair[1])):
            for size in range(1, len(items)):
                parts = (frozenset(part) for part in combinations(sorted(items), size))
                frequent.update((part, index) for part in parts if part not in listed)
        return frequent

    def _closure_lines(self, listed: Mapping[frozenset[int], int], frequent: Mapping[frozenset[int], int]) -> Iterator[Line]:
        """Yield the bounds of a closed list on unlisted sets."""
        release = self.release
        names = release.items.names
        for items, index in frequent.items():
            box = self._box(sorted(items))
            if items in listed or box is None:
                continue
            named = tuple(sorted(names[item] for item in items))
            count = release.count(index)
            if release.is_exact:
                origin = Origin(self.number, release.line(index), "subset", count, items=named)
                yield Line.about(box, count.lo, count.hi, origin)
                continue
            closure = frozenset.intersection(*(one for one in listed if items <= one))
            for item in sorted(closure - items):
                lacking = self._lacking(box, item)
                if lacking is not None:
                    origin = Origin(self.number, release.line(index), "closure", count, items=(*named, names[item]))
                    yield Line.about(lacking, None, 0, origin)

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
                if item in found or larger in frequent or larger in seen or not self.release.header.covers(len(larger)):
                    continue
                seen.add(larger)
                if len(larger) > 1 and all(larger - {one} in frequent for one in larger):
                    yield tuple(sorted(larger))


class _RuleReader(_ListReader[Rules]):
    needs_known = True

    sides = ("antecedents", "consequents")

    def columns(self) -> Mapping[str, Sequence[str]]:
        header = self.release.header
        # A list of rules is about its roles even where it is empty.
        roles = [*header.qi, *(one.column for one in header.sensitive)] if self._pairs is not None and header.sa else []
        found: dict[str, Sequence[str]] = {**super().columns(), **dict.fromkeys(roles, ())}
        for one in chain.from_iterable(header.first_match.rules if header.first_match is not None else ()):
            found[one.column] = [*found[one.column], *one.values]
        return found

    def lines(self) -> Iterator[Line]:
        from tacit.rules.bounds import UNBOUNDED_COUNT

        release = self.release
        for index in self._choose_shortest(release.antecedents.lengths, MOST_LISTED):
            left = release.antecedents[index].tolist()
            right = release.consequents[index].tolist()
            whole = self._box(left)
            both = self._box(sorted({*left, *right}))
            if whole is None or both is None:
                continue
            line = release.line(index)
            for box, count, what in ((both, release.count(index), "count"), (whole, release.whole(index), "antecedent")):
                most = None if count.hi >= UNBOUNDED_COUNT else count.hi
                yield Line.about(box, count.lo, most, Origin(self.number, line, what, count))
            if not (release.count(index).is_exact and release.whole(index).is_exact):
                yield from self._confidence_lines(index, whole, both)
        header = release.header
        if header.first_match is not None:
            yield from self._order_lines(header.first_match)
        for one in header.sensitive:
            key = Key("column", one.column)
            place = f"sa_counts of {one.column}" if header.marginals else "sa_counts"
            for value, people in zip(one.values, one.counts, strict=False):
                box = {key: Allowed(frozenset([value])), **self.scope}
                origin = Origin(self.number, place, "value", Bound.of(people), items=(value,))
                yield Line.about(box, people, people, origin)

    def _order_lines(self, match: FirstMatch) -> Iterator[Line]:
        """Yield that a person's first rule is the first that they match."""
        key = Key("column", match.column)
        for place, rule in enumerate(match.rules):
            number = str(place + 1)
            for one in rule:  # nobody's first rule is one that they do not match
                box = {
                    key: Allowed(frozenset([number])),
                    Key("column", one.column): Allowed(frozenset(one.values), not one.excluded),
                }
                origin = Origin(self.number, f"rule {number}", "unmatched", Bound.of(0), items=(one.column, one.name))
                yield Line.about({**box, **self.scope}, None, 0, origin)
            matching = intersect((Key("column", one.column), Allowed(frozenset(one.values), one.excluded)) for one in rule)
            if matching is not None and set(match.values) - set(match.values[: place + 1]):
                later = {key: Allowed(frozenset(match.values[: place + 1]), excluded=True)}
                yield Line.about(
                    {**matching, **later, **self.scope}, None, 0, Origin(self.number, f"rule {number}", "matched", Bound.of(0))
                )

    def _confidence_lines(self, index: int, whole: Box, both: Box) -> Iterator[Line]:
        """Yield the bounds of a confidence, with and without the consequent."""
        from tacit.rules.bounds import confidence_of

        release = self.release
        allowed = confidence_of(release, index)

        def origin(what: str) -> Origin:
            return Origin(self.number, release.line(index), what, release.count(index))

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

    def conditions(self) -> list[MissingRules]:
        header = self.release.header
        has_thresholds = header.complete and header.min_support and header.min_confidence
        if (
            not has_thresholds
            or not header.qi
            or self._pairs is None
            or (header.marginals and not self.release.leads_to_one_column)
        ):
            return []
        parts = [one for one in self.release.by_column() if one.header.sa_values and len(one.header.sa) == 1]
        return [MissingRules(self.number, one, self.scope) for one in parts]


MOST_CELLS = 20_000  #: Most cells that are used, those of the fewest columns first.


def list_numbers(span: Bound) -> list[str]:
    """Return the whole numbers of a range as values."""
    return [str(number) for number in range(span.lo, span.hi + 1)]


def cell_values(table: FrequencyTable, index: int) -> dict[str, frozenset[str]]:
    """Return the values of each column in a cell; a label may be a range, or name several values."""
    found = {column: frozenset(table.members(column, value) or (value,)) for column, value in table.cell(index).items()}
    measured = table.measured
    if measured is not None and measured.column in found:
        span = numbers_of(table.cell(index)[measured.column], measured.span)
        assert span is not None
        found[measured.column] = frozenset(list_numbers(span))
    return found


class _FrequencyReader(Reader[FrequencyTable]):
    has_cells = True

    def columns(self) -> Mapping[str, Sequence[str]]:
        named: dict[str, Sequence[str]] = {column: self.release.single_values(column) for column in self.release.columns}
        if (measured := self.release.measured) is not None:  # its labels may be ranges
            named[measured.column] = list_numbers(measured.span)
        return named

    def all_values(self) -> Mapping[str, Sequence[str]]:
        return self.columns() if self.release.header.complete else {}

    def words(self) -> Words:
        return {column: frozenset(self.release.single_values(column)) for column in self.release.columns}

    def lines(self) -> Iterator[Line]:
        release = self.release
        fixed_columns = (release.codes.reshape(len(release), len(release.columns)) != ANY).sum(axis=1)
        return map(self._line, self._choose_shortest(fixed_columns, MOST_CELLS))

    def _line(self, index: int) -> Line:
        """Return a cell: exact, rounded, or hidden; without bounds it still names its values."""
        release = self.release
        count = release.count(index)
        fixed = {Key("column", column): Allowed(values) for column, values in cell_values(release, index).items()}
        origin = Origin(self.number, release.place(index), "count", count, text=release.text(index))
        return Line.about({**fixed, **self.scope}, count.lo, None if count.hi >= UNBOUNDED else count.hi, origin)

    def conditions(self) -> list[Gaps]:
        release = self.release
        least = release.printing.hidden_below
        if least is None or least < 2 or not release.printing.zeros_shown:
            return []
        shown = np.flatnonzero(~release.is_hidden & (release.lo == 0) & (release.hi >= least)).tolist()
        return [Gaps(tuple(map(self._line, shown)), least)] if shown else []


MOST_COUNTED = 20_000  #: Most lines from the rows of one table.
MOST_BESIDE = 2_000  #: Most combinations of values with columns that no other release names.
MOST_DIRECT = 5_000  #: Up to this many combinations, those of fewer columns are counted even if they add nothing.
MOST_COLUMNS = 6  #: Most columns that rows are counted over at once.


def shown_columns(people: Table, hidden: Flags | None = None) -> Iterator[ShownColumn]:
    """Yield the columns shown row by row, with blanks where hidden."""
    for number, column in enumerate(people.columns):
        known = [value for value in column.values if hidden is None or value]
        place = {value: code for code, value in enumerate(known)}
        lookup = np.array([place.get(value, -1) for value in column.values] or [-1], np.int64)
        codes = lookup[column.codes]
        yield ShownColumn(column.name, tuple(known), codes if hidden is None else np.where(hidden[:, number], -1, codes))


def count_rows(columns: Sequence[ShownColumn]) -> tuple[Ints, Ints]:
    """Count the rows that show, or may have, each combination."""
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


class _TableReader(Reader[Shown]):
    by_row = True
    hidden: Flags | None = None
    roles: frozenset[str] = frozenset()  #: Columns that distinguish people, even if no other release names them.

    @cached_property
    def _used(self) -> list[ShownColumn]:
        """Columns that other releases name, and a few that distinguish people."""
        shared = self.vocabulary.shared(self.number)
        named = self.vocabulary.values
        shown = shown_columns(self.release.people, self.hidden)
        every = [column.over(sorted({*column.values, *named.get(Key("column", column.name), ())})) for column in shown]
        used = [column for column in every if column.name in shared]
        beside = self.roles - shared if used else ()
        room = MOST_BESIDE // max(1, prod(len(column.values) + 1 for column in used))
        for column in sorted(every, key=lambda one: (len(one.values), one.name)):
            if column.name in beside and len(column.values) + 1 <= room and len(used) < MOST_COLUMNS:
                used.append(column)
                room //= len(column.values) + 1
        return used

    def lines(self) -> Iterator[Line]:
        room = MOST_COUNTED
        all_sets = prod(len(column.values) + 1 for column in self._used) <= MOST_DIRECT
        for size in range(min(len(self._used), MOST_COLUMNS), 0, -1):
            for chosen in combinations(self._used, size):
                # Without blanks in another column this is a sum of lines with it; stated at once, proofs are shorter.
                if not all_sets and size < MOST_COLUMNS and any(not one.has_blanks for one in self._used if one not in chosen):
                    continue
                room -= prod(len(column.values) for column in chosen)
                if room < 0:
                    self.left_out += 1
                    return
                least, most = count_rows(chosen)
                for place, (low, high) in enumerate(zip(least.ravel().tolist(), most.ravel().tolist(), strict=True)):
                    if low > 0 or high < self.release.n:
                        yield self._line(_values_at(chosen, place), low, high)

    def _line(self, fixed: Mapping[str, str], low: int, high: int, what: str = "rows") -> Line:
        box = {Key("column", column): Allowed(frozenset([value])) for column, value in fixed.items()}
        items = tuple(literal(Key("column", column), value) for column, value in fixed.items())
        place = f"{what} with {' and '.join(items)}"
        return Line.about({**box, **self.scope}, low, high, Origin(self.number, place, what, Bound(low, high), items=items))


def _values_at(columns: Sequence[ShownColumn], place: int) -> dict[str, str]:
    codes = np.unravel_index(place, [len(column.values) for column in columns])
    return {column.name: column.values[int(code)] for column, code in zip(columns, codes, strict=True)}


class _RowReader(_TableReader[PartialTable]):
    def __init__(self, number: int, release: PartialTable, scope: Box) -> None:
        super().__init__(number, release, scope)
        self.hidden = release.hidden
        self.roles = frozenset((*release.people.schema.qi, *release.people.schema.sa))

    def columns(self) -> Mapping[str, Sequence[str]]:
        return {column.name: [value for value in column.values if value] for column in self.release.people.columns}

    def all_values(self) -> Mapping[str, Sequence[str]]:
        blank = self.release.hidden_by_column()
        return {column: values for column, values in self.columns().items() if column not in blank}

    def conditions(self) -> list[ShownRows]:
        has_blanks = any(column.has_blanks for column in self._used)
        return [ShownRows(self.number, tuple(self._used), self.scope)] if has_blanks else []


MOST_ENTRIES = 4_000_000  #: Most groups times combinations of quasi-identifiers.
MOST_BUCKET_COLUMNS = 3  #: Most quasi-identifiers that are combined with the sensitive value.


class _BucketReader(_TableReader[Buckets]):
    """Reader of a bucketized release.

    In a group of s people of whom a have some quasi-identifiers and b a sensitive value, at least a + b - s and at most the smaller of a
    and b have both (Frechet bounds). Their sums over the groups bound the number of people who have both.
    """

    def columns(self) -> Mapping[str, Sequence[str]]:
        shown = {column.name: column.values for column in self.release.people.columns}
        return shown | {self.release.sensitive: self.release.values}

    def all_values(self) -> Mapping[str, Sequence[str]]:
        return self.columns()

    def lines(self) -> Iterator[Line]:
        release = self.release
        contents = np.zeros((len(release), len(release.values)), np.int64)
        np.add.at(contents, (np.repeat(np.arange(len(release)), np.diff(release.starts)), release.value), release.count)
        for value, people in zip(release.values, contents.sum(axis=0).tolist(), strict=True):
            yield self._line({release.sensitive: value}, people, people, what="values")
        yield from super().lines()
        room = MOST_COUNTED
        for size in range(1, min(len(self._used), MOST_BUCKET_COLUMNS) + 1):
            for chosen in combinations(self._used, size):
                combined = prod(len(column.values) for column in chosen)
                room -= combined * len(release.values)
                if room < 0 or combined * len(release) > MOST_ENTRIES:
                    self.left_out += 1
                    return
                yield from self._combine(chosen, contents)

    def _combine(self, columns: Sequence[ShownColumn], contents: Ints) -> Iterator[Line]:
        release = self.release
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
                fixed = _values_at(columns, place) | {release.sensitive: value}
                yield self._line(fixed, int(least[place]), int(most[place]), what="groups")


#: Reader of each kind of release.
READERS: Mapping[str, type[Reader[Any]]] = {
    "itemsets": _ItemsetReader,
    "rules": _RuleReader,
    "buckets": _BucketReader,
    "table": _RowReader,
    "frequencies": _FrequencyReader,
}


def words_of(release: Release) -> Words:
    """Return the values that a release names, by column."""
    return READERS[release.kind](0, release, {}).words()


# Names that look alike


def refuse_other_codes(names: Sequence[str], words: Sequence[Words]) -> None:
    """Raise if two releases code a column differently."""
    for (first, one), (second, other) in combinations(zip(names, words, strict=True), 2):
        for column in sorted((one.keys() & other.keys()) - {_ITEMS}):
            if _are_recoded(one[column], other[column]):
                what = f"the values of the column {column} have nothing in common, so it may be coded differently in each"
                remedy = "Code its values alike or rename it in one of them; or declare --people unknown"
                raise OptionError(what, where=f"{first} and {second}", remedy=remedy)


def _are_recoded(one: frozenset[str], other: frozenset[str]) -> bool:
    if one & other or min(len(one), len(other)) < 2:
        return False
    plain = [[value.replace(".", "", 1).replace("-", "", 1) for value in values] for values in (one, other)]
    numbers = [sum(value.isdecimal() for value in values) for values in plain]
    coded = (numbers[0] == len(one) and not numbers[1]) or (numbers[1] == len(other) and not numbers[0])
    return coded or not {_plain(value) for value in one}.isdisjoint(_plain(value) for value in other)


def look_alikes(words: Sequence[Words]) -> list[tuple[str, str]]:
    """Return pairs of names that differ only in spelling, treated as different."""
    found: set[tuple[str, str]] = set()
    for first, second in combinations(words, 2):
        shared = first.keys() & second.keys()
        one = _literals(first, shared)
        plain: dict[str, list[str]] = {}
        for name in sorted(one ^ _literals(second, shared)):
            plain.setdefault(_plain(name), []).append(name)
        pairs = [(names[0], names[1]) for key, names in plain.items() if key and len(names) == 2]
        found |= {pair for pair in pairs if (pair[0] in one) != (pair[1] in one)}
    return sorted(found)


def _literals(words: Words, shared: Set[str]) -> set[str]:
    values = {f"{column}={value}" for column in shared - {_ITEMS} for value in words[column]}
    return {*values, *words.get(_ITEMS, ()), *words} - {_ITEMS}


def _plain(name: str) -> str:
    return _OTHER_SIGNS.sub("", name.casefold())
