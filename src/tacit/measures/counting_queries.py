"""How well a release answers questions of the form: how many people have these quasi-identifiers and one of these sensitive values?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.measures.combinations import Combinations, Estimator

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Questions that nobody fits are drawn again, up to so many times as many as there should be.
_REDRAWN = 100
#: So many cells of questions times combinations are looked at together.
_AT_ONCE = 1 << 22


Question = Sequence[tuple[int, Flags]]


@dataclass(frozen=True, eq=False)
class Queries:
    """Questions that somebody fits: columns with the values asked for; ``wanted[i]`` marks sensitive values, ``true`` are the answers."""

    cells: Combinations
    asked: Sequence[Question]
    wanted: Flags
    true: Floats

    def __len__(self) -> int:
        return len(self.true)

    def errors(self, estimators: Sequence[Estimator]) -> dict[str, Floats]:
        """The relative error of each answer, by the name of the estimator."""
        found = {one.name: np.empty(len(self)) for one in estimators}
        size = _at_once(self.cells)
        for part in (slice(begin, begin + size) for begin in range(0, len(self), size)):
            fits = _fitting(self.cells, self.asked[part])
            people = fits @ self.cells.published
            for one in estimators:
                estimate = (one.made(fits @ one.counted, people) * self.wanted[part]).sum(axis=1)
                found[one.name][part] = np.abs(np.minimum(estimate, people) - self.true[part]) / self.true[part]
        return found


def draw_queries(
    cells: Combinations,
    *,
    number: int,
    dim: int,
    selectivity: Fraction,
    seed: int,
    check: Callable[[], None] = lambda: None,
) -> Queries:
    """Questions about ``dim`` columns chosen at random and the sensitive one; fewer than asked for where hardly any fits somebody.

    Each asks for a set of values of each column, whose size is drawn from 1 to ``selectivity`` times the number of values (at least 1).
    """
    chance = np.random.default_rng(seed)
    widths = [len(column.values) for column in cells.columns]
    sizes = [(width, max(1, int(selectivity * width))) for width in (*widths, len(cells.values))]
    asked: list[Question] = []
    wanted, answers = [np.empty((0, len(cells.values)), np.bool_)], [np.empty(0)]
    drawn, at_once = 0, min(number, _at_once(cells))
    while len(asked) < number and drawn < _REDRAWN * number:
        check()
        some = [_question(chance, sizes[:-1], dim) for _ in range(at_once)]
        values = np.stack([_subset(chance, *sizes[-1]) for _ in some])
        true = ((_fitting(cells, some) @ cells.true) * values).sum(axis=1)
        kept = np.flatnonzero(true > 0)[: number - len(asked)]
        drawn += at_once
        asked += [some[place] for place in kept.tolist()]
        wanted.append(values[kept])
        answers.append(true[kept])
    return Queries(cells, asked, np.concatenate(wanted), np.concatenate(answers))


def _at_once(cells: Combinations) -> int:
    """How many questions are looked at together."""
    return max(1, _AT_ONCE // max(1, len(cells)))


def _question(chance: np.random.Generator, sizes: Sequence[tuple[int, int]], dim: int) -> Question:
    """Columns, each with the values that are asked for; ``sizes`` are the number of values of each, and the most to ask for."""
    chosen = chance.choice(len(sizes), dim, replace=False).tolist()
    return [(column, _subset(chance, *sizes[column])) for column in chosen]


def _subset(chance: np.random.Generator, size: int, most: int) -> Flags:
    """From 1 to ``most`` of so many values."""
    marked = np.zeros(size, np.bool_)
    marked[chance.permutation(size)[: int(chance.integers(1, most + 1))]] = True
    return marked


def _fitting(cells: Combinations, asked: Sequence[Question]) -> Floats:
    """Which combinations (columns) fit each question (rows): 1 or 0, so that people can be added up."""
    fits = np.ones((len(asked), len(cells)))
    for row, question in enumerate(asked):
        for column, marked in question:
            fits[row] *= marked[cells.columns[column].codes]
    return fits
