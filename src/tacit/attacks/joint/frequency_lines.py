"""What frequency tables print about boxes of people: their cells and their totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacit.attacks.joint.boxes import Allowed, Box, Key
from tacit.attacks.joint.lines import Line, Origin
from tacit.model.frequencies import ANY, UNBOUNDED, FrequencyTable
from tacit.model.measured import numbers_of

#: Of larger releases the cells of the fewest columns are taken, so many.
MOST_CELLS = 20_000


class FrequencyLines:
    """The lines of one release of frequency tables, about the people of its scope."""

    def __init__(self, number: int, release: FrequencyTable, scope: Box) -> None:
        self._number, self._release, self._scope = number, release, scope
        self.left_out = 0

    def lines(self) -> Iterator[Line]:
        """Every cell: a number, a rounded one, or that it is small; one of which nothing is known names its values all the same."""
        release, number = self._release, self._number
        taken: Sequence[int] = range(len(release))
        if len(release) > MOST_CELLS:
            self.left_out += 1
            fixed_columns = (release.codes.reshape(len(release), len(release.columns)) != ANY).sum(axis=1)
            taken = sorted(np.argsort(fixed_columns, kind="stable")[:MOST_CELLS].tolist())
        for index in taken:
            count = release.count(index)
            most = None if count.hi >= UNBOUNDED else count.hi
            fixed = {Key("column", column): self._allowed(column, value) for column, value in release.cell(index).items()}
            yield Line(
                ((1, {**fixed, **self._scope}),),
                count.lo,
                most,
                Origin(number, release.place(index), "count", count, text=release.text(index)),
            )

    def _allowed(self, column: str, value: str) -> Allowed:
        """The values that a label stands for: itself, or the numbers of a range."""
        measured = self._release.measured
        if measured is None or column != measured.column:
            return Allowed(frozenset([value]))
        span = numbers_of(value, measured.span)
        assert span is not None
        return Allowed(frozenset(str(number) for number in range(span.lo, span.hi + 1)))
