"""Whether people can stand behind the rows of a table with blanks: each row needs a person who has every value that it shows.

Bounds on boxes say this in part only. In a table with the rows (x, blank) and (blank, h), two people have x or h, whoever they are; x or h is no
box. So a world is held against the rows by a flow, and where some rows find nobody, the people who would be needed are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import Allowed, Axis, Box, Key
from tacit.attacks.joint.lines import Choice, Line, Origin, Tally, tally_inside
from tacit.attacks.joint.row_lines import ShownColumn
from tacit.model.bound import Bound

Whole = npt.NDArray[np.int64]

#: Kinds of people up to which rows are held against them, and pairs of a kind of row and a kind of people.
MOST_KINDS = 5_000
MOST_PAIRS = 1_000_000


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The rows of one release over the columns that others name as well."""

    number: int
    columns: tuple[ShownColumn, ...]
    scope: Box

    def is_told(self, axes: Sequence[Axis]) -> bool:
        """Whether there are not too many kinds of people and of rows."""
        columns, places = self._placed(axes)
        if not columns:
            return True
        kinds = prod(len(axes[place].classes) for place in places)
        return kinds <= MOST_KINDS and kinds * len(self._patterns(axes, columns, places)[0]) <= MOST_PAIRS

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """That enough people have what some rows show, where too few have; with room, that nothing changes.

        Of fractions of people nothing is said.
        """
        columns, places = self._placed(axes)
        if not columns:
            return
        people = self._counted(axes, tally, places)
        if not np.issubdtype(people.dtype, np.integer):
            return
        if room:
            for kind in np.ndindex(*people.shape):
                yield Choice(self._line([(axes, places, kind)], int(people[kind]), int(people[kind])), None)
            return
        patterns, rows = self._patterns(axes, columns, places)
        short = _without_people(patterns, rows, people)
        if short is not None:
            kinds, least = short
            yield Choice(self._line([(axes, places, kind) for kind in kinds], least, None), None)

    def _placed(self, axes: Sequence[Axis]) -> tuple[list[ShownColumn], list[int]]:
        """The columns that are axes, and these."""
        of_key = {axis.key: place for place, axis in enumerate(axes)}
        columns = [column for column in self.columns if Key("column", column.name) in of_key]
        return columns, [of_key[Key("column", column.name)] for column in columns]

    def _counted(self, axes: Sequence[Axis], tally: Tally, places: Sequence[int]) -> npt.NDArray[np.generic]:
        """How many people of the release are of each kind."""
        return tally_inside(self.scope, axes, tally, places)

    @staticmethod
    def _patterns(axes: Sequence[Axis], columns: Sequence[ShownColumn], places: Sequence[int]) -> tuple[Whole, Whole]:
        """The kinds of rows as classes of each column, -1 for a blank, and how many rows are of each."""
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


def classes_of(axis: Axis, column: ShownColumn) -> Whole:
    """The class of every row on an axis; -1 where the cell is blank."""
    of_value = {value: place for place, values in enumerate(axis.classes) for value in values}
    lookup = np.array([*(of_value.get(value, of_value.get(None, -1)) for value in column.values), -1], np.int64)
    return lookup[column.codes]


def _without_people(patterns: Whole, rows: Whole, people: npt.NDArray[np.generic]) -> tuple[list[tuple[int, ...]], int] | None:
    """Kinds of people of whom there are fewer than rows that only these can stand behind, and how many these are; None where all rows fit.

    >>> x_or_h = np.array([[0, -1], [-1, 1]])  # rows (x, blank) and (blank, h) of a table with the values x, y and g, h
    >>> _without_people(x_or_h, np.array([1, 1]), np.array([[0, 1], [1, 0]]))
    ([(0, 0), (0, 1), (1, 1)], 2)
    >>> _without_people(x_or_h, np.array([1, 1]), np.array([[1, 0], [0, 1]])) is None
    True
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    kinds = np.stack(np.unravel_index(np.arange(people.size), people.shape), axis=1)
    fits = ((patterns[:, None, :] < 0) | (patterns[:, None, :] == kinds[None, :, :])).all(axis=2)
    row, kind = np.nonzero(fits)
    # The source, kinds of rows, kinds of people, the sink.
    count, size = len(rows), len(rows) + people.size + 2
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
