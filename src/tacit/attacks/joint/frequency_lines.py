"""What frequency tables print about boxes of people: their cells and their totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.attacks.joint.boxes import Allowed, Axis, Box, Key
from tacit.attacks.joint.lines import Line, Origin, Whole
from tacit.model.frequencies import ANY, UNBOUNDED, FrequencyTable
from tacit.model.measured import numbers_of

#: Of larger releases the cells of the fewest columns are taken, so many.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Boxes that hold nobody, or at least so many people."""

    boxes: tuple[Box, ...]
    least: int

    def hold(self, axes: Sequence[Axis], kinds: Whole) -> bool:
        """Whether that is true of people of these classes on every axis."""
        place = {axis.key: number for number, axis in enumerate(axes)}
        for box in self.boxes:
            inside = np.ones(len(kinds), np.bool_)
            for key, allowed in box.items():
                mask = axes[place[key]].mask(allowed)
                inside &= np.array([bool(mask >> bit & 1) for bit in range(len(axes[place[key]].classes))])[kinds[:, place[key]]]
            if 0 < int(np.count_nonzero(inside)) < self.least:
                return False
        return True


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

    def condition(self) -> Gaps | None:
        """What no line says in full: a cell that prints 0 for nobody or for many holds nobody, or as many as are not hidden."""
        release, least = self._release, self._release.printing.hidden_below
        if least is None or least < 2 or not release.printing.zeros_shown:
            return None
        shown = np.flatnonzero(~release.is_hidden & (release.lo == 0) & (release.hi >= least)).tolist()
        boxes = [
            {
                **{Key("column", column): self._allowed(column, value) for column, value in release.cell(index).items()},
                **self._scope,
            }
            for index in shown
        ]
        return Gaps(tuple(boxes), least) if boxes else None

    def _allowed(self, column: str, value: str) -> Allowed:
        """The values that a label stands for: itself, or the numbers of a range."""
        measured = self._release.measured
        if measured is None or column != measured.column:
            return Allowed(frozenset([value]))
        span = numbers_of(value, measured.span)
        assert span is not None
        return Allowed(frozenset(str(number) for number in range(span.lo, span.hi + 1)))
