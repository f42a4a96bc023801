"""What a bucketized release says about boxes of people: its quasi-identifiers row by row, its sensitive values group by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Box
from tacit.attacks.joint.lines import Line
from tacit.attacks.joint.row_lines import MOST_COUNTED, RowLines, ShownColumn, rows_line
from tacit.attacks.joint.vocabulary import Vocabulary
from tacit.model.buckets import Buckets

Whole = npt.NDArray[np.int64]

#: Groups times combinations of quasi-identifiers that are counted at most.
MOST_ENTRIES = 4_000_000
#: The most quasi-identifiers that are looked at together with the sensitive value.
MOST_COLUMNS = 3


class BucketLines:
    """The lines of a bucketized release about the columns that other releases name as well.

    In a group of s people of whom a have some quasi-identifiers and b a sensitive value, at least a + b - s and at most the smaller of a and
    b have both. Summed over the groups this bounds how many people have both.
    """

    def __init__(self, number: int, release: Buckets, words: Vocabulary, scope: Box) -> None:
        self._number, self._release, self._scope, self._words = number, release, scope, words
        self._rows = RowLines(number, release, words, scope)
        self._left_out = 0

    @property
    def left_out(self) -> int:
        """How many sets of columns were too many to be counted."""
        return self._left_out + self._rows.left_out

    def lines(self) -> Iterator[Line]:
        """Exact numbers of quasi-identifiers and of sensitive values, and bounds on who has both."""
        release = self._release
        contents = self._contents()
        for value, people in zip(release.values, contents.sum(axis=0).tolist(), strict=True):
            yield rows_line(self._number, {release.sensitive: value}, people, people, self._scope, "values")
        yield from self._rows.lines()
        used, room = self._rows.used(), MOST_COUNTED
        for size in range(1, min(len(used), MOST_COLUMNS) + 1):
            for chosen in combinations(used, size):
                combined = prod(len(column.values) for column in chosen)
                room -= combined * len(release.values)
                if room < 0 or combined * len(release) > MOST_ENTRIES:
                    self._left_out += 1
                    return
                yield from self._both(chosen, contents)

    def _contents(self) -> Whole:
        """How many people of each group have each sensitive value."""
        release = self._release
        out = np.zeros((len(release), len(release.values)), np.int64)
        group = np.repeat(np.arange(len(release)), np.diff(release.starts))
        np.add.at(out, (group, release.value), release.count)
        return out

    def _both(self, columns: Sequence[ShownColumn], contents: Whole) -> Iterator[Line]:
        release, shape = self._release, [len(column.values) for column in columns]
        having = np.zeros((len(release), prod(shape)), np.int64)
        np.add.at(having, (release.group, np.ravel_multi_index([column.codes for column in columns], shape)), 1)
        sizes = release.sizes[:, None]
        there = np.flatnonzero(having.any(axis=0)).tolist()
        for number, value in enumerate(release.values):
            with_it = contents[:, number : number + 1]
            least, most = np.maximum(having + with_it - sizes, 0).sum(axis=0), np.minimum(having, with_it).sum(axis=0)
            for place in there:
                codes = np.unravel_index(place, shape)
                fixed = {column.name: column.values[int(code)] for column, code in zip(columns, codes, strict=True)}
                fixed[release.sensitive] = value
                yield rows_line(self._number, fixed, int(least[place]), int(most[place]), self._scope, "groups")
