"""What tables of people, a row each, say about boxes of people: at least the rows that show all its values, at most those that may have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Allowed, Box, Key, literal
from tacit.attacks.joint.lines import Line, Origin
from tacit.attacks.joint.vocabulary import Vocabulary
from tacit.model.bound import Bound
from tacit.model.buckets import Buckets
from tacit.model.partial import PartialTable

Codes = npt.NDArray[np.int64]
Whole = npt.NDArray[np.int64]

#: Lines that the rows of one table are counted for at most.
MOST_COUNTED = 20_000
#: Combinations of values up to which columns are taken in that no other release names.
MOST_BESIDE = 2_000
#: Combinations up to which those of fewer columns are counted as well where that says nothing more.
MOST_DIRECT = 5_000
#: The most columns that rows are counted over at once.
MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True, eq=False)
class ShownColumn:
    """One column of a table of people: its cells as places in ``values``, -1 where a cell is blank."""

    name: str
    values: tuple[str, ...]
    codes: Codes

    @property
    def has_blanks(self) -> bool:
        """Whether some cell is blank."""
        return bool((self.codes < 0).any())

    def over(self, values: Sequence[str]) -> ShownColumn:
        """The same column coded over more values."""
        place = {value: code for code, value in enumerate(values)}
        lookup = np.array([*(place[value] for value in self.values), -1], np.int64)
        return ShownColumn(self.name, tuple(values), lookup[self.codes])


def shown_columns(release: PartialTable | Buckets) -> tuple[ShownColumn, ...]:
    """The columns that a release shows row by row: all of a table with blanks, the quasi-identifiers of a bucketized one."""
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


def counted(columns: Sequence[ShownColumn]) -> tuple[Whole, Whole]:
    """For every combination of values: the rows that show it, and those that show it or may have it.

    >>> two = [ShownColumn("a", ("x", "y"), np.array([0, 0, -1])), ShownColumn("b", ("p",), np.array([0, -1, 0]))]
    >>> [ends.tolist() for ends in counted(two)]
    [[[1], [0]], [[3], [1]]]
    """
    shape = [len(column.values) for column in columns]
    least, most = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
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
    """The lines of a table of people about the columns that other releases name as well."""

    def __init__(self, number: int, release: PartialTable | Buckets, words: Vocabulary, scope: Box) -> None:
        self._number, self._release, self._scope, self._words = number, release, scope, words
        self.left_out = 0

    def used(self) -> list[ShownColumn]:
        """The columns that other releases name, coded over all values that any release names, and beside them a few that tell people apart."""
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
        """Bounds on every combination of values of these columns, and of fewer where that says more."""
        used, room = self.used(), MOST_COUNTED
        all_sets = prod(len(column.values) + 1 for column in used) <= MOST_DIRECT
        for size in range(min(len(used), MOST_COLUMNS), 0, -1):
            for chosen in combinations(used, size):
                # Without blanks in another column, what is said here is the sum of what is said with it; said at once, proofs are shorter.
                if not all_sets and size < MOST_COLUMNS and any(not one.has_blanks for one in used if one not in chosen):
                    continue
                room -= prod(len(column.values) for column in chosen)
                if room < 0:
                    self.left_out += 1
                    return
                yield from self._counted(chosen)

    def _counted(self, columns: Sequence[ShownColumn]) -> Iterator[Line]:
        least, most = counted(columns)
        for place, (low, high) in enumerate(zip(least.reshape(-1).tolist(), most.reshape(-1).tolist(), strict=True)):
            if low == 0 and high == self._release.n:
                continue
            codes = np.unravel_index(place, least.shape)
            fixed = {column.name: column.values[int(code)] for column, code in zip(columns, codes, strict=True)}
            yield rows_line(self._number, fixed, low, high, self._scope)


def rows_line(number: int, fixed: Mapping[str, str], low: int, high: int, scope: Box, what: str = "rows") -> Line:
    """What is said about the people with some values, by rows of a table."""
    box = {Key("column", column): Allowed(frozenset([value])) for column, value in fixed.items()}
    items = tuple(literal(Key("column", column), value) for column, value in fixed.items())
    place = f"{what} with {' and '.join(items)}"
    return Line(((1, {**box, **scope}),), low, high, Origin(number, place, what, Bound(low, high), items))
