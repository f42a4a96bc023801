"""What frequency tables print about boxes of people: their cells and their totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.attacks.joint.boxes import Allowed, Axis, Box, Key
from tacit.attacks.joint.lines import Choice, Line, Origin, Tally
from tacit.model.frequencies import ANY, UNBOUNDED, FrequencyTable
from tacit.model.measured import numbers_of

#: Of larger releases the cells of the fewest columns are taken, so many.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Cells that hold nobody, or at least so many people."""

    cells: tuple[Line, ...]
    least: int

    def is_told(self, axes: Sequence[Axis]) -> bool:
        """Cells are boxes of the axes, so that this can always be told."""
        return bool(axes) or not self.cells

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """The cells that hold fewer people, but not nobody, or nearly so."""
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
    """The lines of one release of frequency tables, about the people of its scope."""

    def __init__(self, number: int, release: FrequencyTable, scope: Box) -> None:
        self._number, self._release, self._scope = number, release, scope
        self.left_out = 0

    def lines(self) -> Iterator[Line]:
        """Every cell: a number, a rounded one, or that it is small; one of which nothing is known names its values all the same."""
        release = self._release
        taken: Sequence[int] = range(len(release))
        if len(release) > MOST_CELLS:
            self.left_out += 1
            fixed_columns = (release.codes.reshape(len(release), len(release.columns)) != ANY).sum(axis=1)
            taken = sorted(np.argsort(fixed_columns, kind="stable")[:MOST_CELLS].tolist())
        for index in taken:
            yield self._line(index)

    def _line(self, index: int) -> Line:
        """What a cell prints."""
        release = self._release
        count = release.count(index)
        fixed = {Key("column", column): self._allowed(column, value) for column, value in release.cell(index).items()}
        origin = Origin(self._number, release.place(index), "count", count, text=release.text(index))
        return Line(((1, {**fixed, **self._scope}),), count.lo, None if count.hi >= UNBOUNDED else count.hi, origin)

    def condition(self) -> Gaps | None:
        """What no line says in full: a cell that prints 0 for nobody or for many holds nobody, or as many as are not hidden."""
        release, least = self._release, self._release.printing.hidden_below
        if least is None or least < 2 or not release.printing.zeros_shown:
            return None
        shown = np.flatnonzero(~release.is_hidden & (release.lo == 0) & (release.hi >= least)).tolist()
        return Gaps(tuple(self._line(index) for index in shown), least) if shown else None

    def _allowed(self, column: str, value: str) -> Allowed:
        """The values that a label stands for: itself, or the numbers of a range."""
        measured = self._release.measured
        if measured is None or column != measured.column:
            return Allowed(frozenset([value]))
        span = numbers_of(value, measured.span)
        assert span is not None
        return Allowed(frozenset(str(number) for number in range(span.lo, span.hi + 1)))
