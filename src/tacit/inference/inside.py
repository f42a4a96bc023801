"""What several statements settle together: values that nobody of a class can have, and bounds that are always reached.

Newton's method needs an inside. Where statements leave none, multipliers run away and it may not arrive. One linear program then finds
everything that is settled (Freund, Roundy, Todd 1985): with all bounds multiplied by a free factor of at least 1, every number of people
and every slack that can be above 0 can be 1 or more at once, so that the largest sum of them, each counted up to 1, tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.inference.classes import Problem
from tacit.inference.solving import solve_linear

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Problems with more numbers than this are left to Newton's method alone; the program would take minutes.
LARGEST = 200_000


@dataclass(frozen=True, eq=False)
class Inside:
    """A problem with an inside, and which statements of the first one its statements are."""

    problem: Problem
    kept: Numbers


def inside_of(problem: Problem, *, seconds: float = 30.0) -> Inside | None:
    """The problem without what is settled; None where that cannot be found, as when the statements clash."""
    classes = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
    if len(classes) == 0 or len(classes) > LARGEST:
        return None
    found = _positive(problem, classes, seconds)
    if found is None:
        return None
    cells, below, above = found
    closed = problem.closed.copy()
    closed[~cells] = 1
    lo, hi = problem.lo.copy(), problem.hi.copy()
    fixed = problem.lo == problem.hi
    hi[~fixed & ~below & (problem.lo > 0)] = problem.lo[~fixed & ~below & (problem.lo > 0)]
    lo[~fixed & ~above & (problem.hi < problem.whole)] = problem.hi[~fixed & ~above & (problem.hi < problem.whole)]
    return _without(problem, classes, closed, lo, hi)


def largest_miss(problem: Problem, share: npt.NDArray[np.float64]) -> float:
    """By which share of all people the statement is missed that is missed most, when these are the shares of the values in each class."""
    classes = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
    people = problem.people[classes] * share[classes, problem.values[problem.rows]]
    sums = np.bincount(problem.rows, people, len(problem.values))
    return max(0.0, float(np.maximum(problem.lo - sums, sums - problem.hi).max(initial=0.0)) / problem.n)


def _positive(problem: Problem, classes: Numbers, seconds: float) -> tuple[Flags, Flags, Flags] | None:
    """Which values people of a class can have, and which lower and upper bounds need not be reached."""
    from scipy.sparse import csr_array, hstack

    open_cells = problem.closed == 0
    number = np.full(problem.closed.shape, -1, np.int64)
    number[open_cells] = np.arange(int(open_cells.sum()))
    of_class, _ = np.nonzero(open_cells)
    size, n_cells, n_rows = len(problem.people), int(open_cells.sum()), len(problem.values)
    inner = number[classes, problem.values[problem.rows]]
    fixed = problem.lo == problem.hi
    lower, upper = np.flatnonzero(~fixed & (problem.lo > 0)), np.flatnonzero(~fixed & (problem.hi < problem.whole))
    # One equation for each class; one for each fixed number; one for each bound, with its slack.
    sides = [(np.flatnonzero(fixed), problem.lo, 0.0), (lower, problem.lo, -1.0), (upper, problem.hi, 1.0)]
    above = size + np.cumsum([0, *(len(rows) for rows, _, _ in sides)])
    entries = [(of_class, np.arange(n_cells), np.ones(n_cells)), (np.arange(size), np.full(size, n_cells), -problem.people)]
    column = n_cells + 1
    for first, (rows, bound, sign) in zip(above.tolist(), sides, strict=False):
        place = np.full(n_rows, -1, np.int64)
        place[rows] = first + np.arange(len(rows))
        inside = place[problem.rows] >= 0
        entries.append((place[problem.rows][inside], inner[inside], np.ones(int(inside.sum()))))
        entries.append((place[rows], np.full(len(rows), n_cells), -bound[rows]))
        if sign:
            entries.append((place[rows], column + np.arange(len(rows)), np.full(len(rows), sign)))
            column += len(rows)
    row, col, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = csr_array((value.astype(float), (row, col)), shape=(int(above[-1]), column))
    counted = np.delete(np.arange(column), n_cells)
    whole = hstack([matrix, matrix[:, counted]], format="csr")
    bounds: Any = np.array([(0, np.inf)] * column + [(0, 1)] * len(counted))
    bounds[n_cells, 0] = 1
    cost = np.concatenate([np.zeros(column), -np.ones(len(counted))])
    nothing = np.zeros(whole.shape[0])
    found = solve_linear(cost, equal=(whole, nothing), bounds=bounds, seconds=seconds)
    if found.status != 0 or found.x is None:
        return None
    positive = found.x[column:] > 0.5
    cells = np.zeros(problem.closed.shape, np.bool_)
    cells[open_cells] = positive[:n_cells]
    below, over = np.ones(n_rows, np.bool_), np.ones(n_rows, np.bool_)
    below[lower], over[upper] = np.split(positive[n_cells:], [len(lower)])
    return cells, below, over


def _without(problem: Problem, classes: Numbers, closed: npt.NDArray[np.uint8], lo: Numbers, hi: Numbers) -> Inside:
    """The problem with these values closed: people who are settled are subtracted, statements that say nothing more are dropped."""
    rows, size = problem.rows, len(problem.values)
    loose = closed.sum(axis=1) < closed.shape[1] - 1
    is_open = closed[classes, problem.values[rows]] == 0
    settled = is_open & ~loose[classes]
    less = np.bincount(rows[settled], problem.people[classes[settled]], size).astype(np.int64)
    free = is_open & loose[classes]
    whole = np.bincount(rows[free], problem.people[classes[free]], size).astype(np.int64)
    lo, hi = np.maximum(lo - less, 0), np.minimum(hi - less, whole)
    kept = np.flatnonzero((whole > 0) & ((lo > 0) | (hi < whole)))
    new = np.full(size, -1, np.int64)
    new[kept] = np.arange(len(kept))
    free &= new[rows] >= 0
    starts = np.append(0, np.cumsum(np.bincount(classes[free], minlength=len(problem.people)))).astype(np.int64)
    smaller = replace(
        problem,
        starts=starts,
        rows=new[rows[free]],
        values=problem.values[kept],
        lo=lo[kept],
        hi=hi[kept],
        whole=whole[kept],
        closed=closed,
        origins=tuple(problem.origins[j] for j in kept.tolist()),
        events=problem.events[kept],
    )
    return Inside(smaller, kept)
