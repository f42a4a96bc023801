"""Maximum entropy: shares of values in each class.

**Central path.** The dual problem has one multiplier for each statement. Newton's method follows the central path of its optimality conditions
(Mehrotra's predictor and corrector): with ``a`` the sums of the statements, slack ``s = a - lo`` and ``r = hi - a``, and multipliers ``u - v``,

    H d = ..,  u s = mu,  v r = mu,  mu -> 0

so that every step solves one positive definite system of the size of the statements. Statements that fix a number need no slack. Where a share
goes to 0 although no single statement says so, multipliers run away and every step gains only a constant factor; steps are then stretched as
long as that pays.

**Active set.** In the solution a statement fixes a number that is met, or it is a bound that is reached, or it has no multiplier. Once it is
known which bounds are reached, only equations are left, and Newton's method solves these in a few steps to the last digit. A guess of these
bounds is right when all multipliers have the sign of their bound and no other bound is missed; else bounds are dropped and taken up, and it
continues. The multipliers of a similar problem are such a guess, and so is a point near the end of the central path.

**Interior.** Newton's method needs an interior. Where statements leave none, multipliers run away and it may not arrive. One linear program
then finds everything that several statements settle together (Freund, Roundy, Todd 1985), that is, values that nobody of a class can have, and
bounds that are always reached: with all bounds multiplied by a free factor of at least 1, every number of people and every slack that can be
above 0 can be 1 or more at once, so that the largest sum of them, each counted up to 1, identifies them.

**Barrier.** The central path starts outside the statements and may lose its way. Behind it is a method that does not: with
``min over u - v = m of  hi v - lo u - mu (log u + log v)`` in place of each interval, the dual is smooth and convex in the multipliers ``m``
alone, and every step of Newton's method goes down. That takes more steps; mu falls by a constant factor each time the minimum is near.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Floats, Ints
from tacit.solve.solver import solve_linear
from tacit.solve.statements import Problem

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Made = TypeVar("Made")

WORK_FOR_THREADS = 1 << 21  #: Below this many numbers to add, threads cost more than they save.
#: Below this many statements linear algebra runs on one thread: several would wait for each other, for long where cores are shared.
SYSTEM_FOR_THREADS = 4_000


class Dual:
    """Dual of a :class:`Problem`, in shares of all people.

    ``fixed`` statements say a number, ``lower`` and ``upper`` ones a bound that is news. ``tilt`` is added to the multipliers: not the entropy
    is then the largest, but the entropy plus ``tilt`` times the sums.
    """

    def __init__(self, problem: Problem, tilt: Floats | None = None) -> None:
        self.problem = problem
        self._tilt = tilt
        self.n_values = problem.n_values
        self.weights = problem.people / problem.n
        self.lo = problem.lo / problem.n
        self.hi = problem.hi / problem.n
        self.whole = problem.whole / problem.n
        self.fixed: Flags = problem.lo == problem.hi
        self.lower: Flags = ~self.fixed & (problem.lo > 0)
        self.upper: Flags = ~self.fixed & (problem.hi < problem.whole)
        self.size = len(problem.values)
        self._closed = problem.closed.reshape(-1)
        work = int((np.diff(problem.starts) ** 2).sum())
        cores = os.cpu_count() or 1 if work > WORK_FOR_THREADS else 1
        # Classes are cut where the work is halved, not where their number is.
        done = np.append(0, np.cumsum(np.diff(problem.starts) ** 2 + self.n_values))
        self._cuts = np.searchsorted(done, np.linspace(0, done[-1], cores + 1)).tolist()
        self._cuts[0] = 0
        self._cuts[-1] = len(self.weights)

    def _on_threads(self, work: Callable[[int, int], Made]) -> list[Made]:
        spans = list(pairwise(self._cuts))
        if len(spans) == 1:
            return [work(*spans[0])]
        with ThreadPoolExecutor(len(spans)) as pool:
            return [task.result() for task in [pool.submit(work, *span) for span in spans]]

    def shares(self, multipliers: Floats) -> tuple[Floats, Floats, float]:
        """Return shares, sums of statements, and log normaliser."""
        from tacit.kernels.entropy import shares

        p = self.problem
        out = np.empty(len(self.weights) * self.n_values)
        if len(self.weights) == 0:
            return out, np.zeros(self.size), 0.0
        if self._tilt is not None:
            multipliers = multipliers + self._tilt

        def work(first: int, last: int) -> tuple[Floats, float]:
            sums = np.zeros(self.size)
            total = shares(p.starts, p.rows, p.values, self.weights, self._closed, multipliers, first, last, out, sums)
            return sums, total

        parts = self._on_threads(work)
        return out, np.sum([sums for sums, _ in parts], axis=0), sum(total for _, total in parts)

    def covariance(self, share: Floats) -> Floats:
        """Return the lower triangle of the sums' covariance."""
        from tacit.kernels.entropy import covariance

        p = self.problem

        def work(first: int, last: int) -> Floats:
            matrix = np.zeros(self.size * self.size)
            covariance(p.starts, p.rows, p.values, self.weights, share, self.n_values, first, last, matrix)
            return matrix

        total, *others = self._on_threads(work)
        for part in others:
            total += part
        return total.reshape(self.size, self.size)

    def entropy(self, share: Floats) -> float:
        """H(value | quasi-identifiers) in nats."""
        logs = np.log(share, where=share > 0, out=np.zeros_like(share))
        return float(-(np.repeat(self.weights, self.n_values) * share * logs).sum())


@cache
def linear_algebra() -> ThreadpoolController:
    """Return the control of the libraries' threads."""
    import scipy.linalg  # noqa: F401  (only libraries that are loaded are found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _factor(matrix: Floats, added: Floats) -> tuple[Floats, bool]:
    """Return Cholesky factors of a matrix (lower triangle), diagonal raised."""
    from scipy.linalg import LinAlgError, cho_factor

    # More is added where rounding errors make the matrix indefinite.
    for more in (0.0, 1e-10, 1e-8, 1e-6, 1e-4):
        system = matrix.copy()
        system[np.diag_indices_from(system)] += added + more * system.diagonal()
        try:
            factor: tuple[Floats, bool] = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return factor
    raise FloatingPointError("the system of a step has no Cholesky factors")


def _times(matrix: Floats, vector: Floats) -> Floats:
    from scipy.linalg.blas import dsymv

    # Only the lower triangle is filled; the matrix is stored by rows, so that is the upper one of what BLAS sees.
    return np.asarray(dsymv(1.0, matrix.T, vector, lower=0))


def _solve_factored(factor: tuple[Floats, bool], wanted: Floats) -> Floats:
    from scipy.linalg import cho_solve

    return np.asarray(cho_solve(factor, wanted, check_finite=False))


Rows = npt.NDArray[np.intp]

#: What is aimed at: no statement missed by more than this share of all people; and where multipliers run away, which takes many steps to there,
#: and where rounding errors allow no more.
AIM = 2e-15
EXACT = 1e-13
SLOW = 0.05  #: Steps that leave more than this part of the distance are slow.
NEARLY = 1e-4  #: From here on steps with the system of the step before are tried.
#: Bounds that are not held count as missed beyond this share of all people, and multipliers as of the wrong sign beyond this many nats.
OUTSIDE = 1e-14
WRONG_SIGN = 1e-12
MOST_ACTIVE_STEPS = 25
SHORTEST = 1e-3
MOST_CHANGES = 8  #: Times that the bounds that are held may be chosen again.
#: A system gets so much of its diagonal besides, so that statements that follow from others do not make it singular.
SMALL = 1e-13


@dataclass(frozen=True, eq=False)
class _Reached:
    multipliers: Floats
    share: Floats
    sums: Floats
    steps: int


def _solve_near(dual: Dual, multipliers: Floats, check: Callable[[], None]) -> _Reached | None:
    """Solve by Newton's method near these multipliers, or None."""
    held = dual.fixed | (dual.lower & (multipliers > 0)) | (dual.upper & (multipliers < 0))
    point = np.where(held, multipliers, 0.0)
    _, sums, _ = dual.shares(point)
    below = ~held & dual.lower & (sums < dual.lo)
    above = ~held & dual.upper & (sums > dual.hi)
    bound = np.where(dual.fixed | (point > 0) | below, dual.lo, dual.hi)
    held = held | below | above
    steps = 0
    for _ in range(MOST_CHANGES):
        try:
            # A step that leads nowhere is seen by its distance.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                found = _solve_held(dual, point, held, bound, check)
        except FloatingPointError:
            return None
        if found is None:
            return None
        steps += found.steps
        point = found.multipliers.copy()
        at_lower = bound == dual.lo
        wrong = held & ~dual.fixed & np.where(at_lower, point < -WRONG_SIGN, point > WRONG_SIGN)
        below = ~held & dual.lower & (found.sums < dual.lo - OUTSIDE)
        above = ~held & dual.upper & (found.sums > dual.hi + OUTSIDE)
        if not (wrong.any() or below.any() or above.any()):
            return _Reached(point, found.share, found.sums, steps)
        held = (held & ~wrong) | below | above
        point[wrong] = 0.0
        bound = np.where(below, dual.lo, np.where(above, dual.hi, bound))
    return None


@dataclass(frozen=True, eq=False)
class _ActivePoint:
    multipliers: Floats
    share: Floats
    sums: Floats
    missed: Floats
    far: float
    merit: float


def _solve_held(dual: Dual, start: Floats, held: Flags, bound: Floats, check: Callable[[], None]) -> _Reached | None:
    rows = np.flatnonzero(held)

    def at(multipliers: Floats) -> _ActivePoint:
        share, sums, normaliser = dual.shares(multipliers)
        missed = (sums - bound)[rows]
        far = float(np.abs(missed).max(initial=0.0))
        return _ActivePoint(multipliers, share, sums, missed, far=far, merit=normaliser - float(bound[rows] @ multipliers[rows]))

    point = at(start)
    steps = 0
    slow = False
    while (EXACT if slow else AIM) < point.far < np.inf and steps < MOST_ACTIVE_STEPS:
        check()
        system = _System(dual, point.share, rows=rows)
        direction = np.zeros(dual.size)
        direction[rows] = system.step(point.missed)
        ahead = _step_ahead(point, direction, float(point.missed @ direction[rows]), at)
        steps += 1
        if ahead is None or (point.far <= EXACT and not ahead.far < 0.5 * point.far):
            break
        slow = ahead.far > SLOW * point.far
        point = _reuse_system(system, ahead, rows, at)
    return _Reached(point.multipliers, point.share, point.sums, steps) if point.far <= EXACT else None


def _reuse_system(system: _System, point: _ActivePoint, rows: Rows, at: Callable[[Floats], _ActivePoint]) -> _ActivePoint:
    # Factoring costs much more than a step, and the system hardly changes near the end.
    while AIM < point.far < NEARLY:
        multipliers = point.multipliers.copy()
        multipliers[rows] += system.step(point.missed)
        ahead = at(multipliers)
        if not ahead.far < point.far:
            return point
        gained = ahead.far < 0.1 * point.far
        point = ahead
        if not gained:
            break
    return point


def _step_ahead(
    point: _ActivePoint, direction: Floats, slope: float, at: Callable[[Floats], _ActivePoint]
) -> _ActivePoint | None:
    size = 1.0
    while size > SHORTEST:
        ahead = at(point.multipliers + size * direction)
        # The dual value falls along the direction; near the end it differs by rounding errors only, and distances tell more.
        if ahead.far < 0.5 * point.far or ahead.merit <= point.merit + 0.1 * size * slope:
            break
        size /= 2
    else:
        return None
    # Multipliers that run away gain a constant factor with every step; a longer step gains it several times.
    while size >= 1 and ahead.far > 0.2 * point.far:
        further = at(point.multipliers + 2 * size * direction)
        if not further.far < 0.7 * ahead.far:
            break
        ahead = further
        size = 2 * size
    return ahead


class _System:
    """Linear system of Newton's method at some shares, factored.

    ``soft`` is added to the diagonal, and besides ``damping`` of it.
    """

    def __init__(
        self, dual: Dual, share: Floats, soft: Floats | None = None, damping: float = 0.0, rows: Rows | None = None
    ) -> None:
        whole = dual.covariance(share)
        self._matrix = whole if rows is None or len(rows) == dual.size else whole[np.ix_(rows, rows)]
        if soft is not None:
            self._matrix[np.diag_indices_from(self._matrix)] += soft
        diagonal = self._matrix.diagonal()
        small = SMALL * diagonal.max(initial=0.0) + 10 * SMALL * diagonal + 1e-300
        self._is_damped = damping > 0.0
        self._factor = _factor(self._matrix, small + damping * diagonal)

    def step(self, missed: Floats) -> Floats:
        change = -_solve_factored(self._factor, missed)
        if self._is_damped:
            return change
        return change - _solve_factored(self._factor, missed + _times(self._matrix, change))


LARGEST = 200_000  #: Problems with more numbers than this are left to the other methods; the program would take many minutes.


def inside_of(problem: Problem, *, seconds: float = 300.0) -> tuple[Problem, Ints] | None:
    """Return a problem's unsettled part and its statements' numbers, or None."""
    classes = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
    if len(classes) == 0 or len(classes) > LARGEST:
        return None
    found = _find_positive(problem, classes, seconds)
    if found is None:
        return None
    cells, below, above = found
    closed = problem.closed.copy()
    closed[~cells] = 1
    fixed = problem.lo == problem.hi
    hi = np.where(~fixed & ~below & (problem.lo > 0), problem.lo, problem.hi)
    lo = np.where(~fixed & ~above & (problem.hi < problem.whole), problem.hi, problem.lo)
    return _close_values(problem, classes, closed, lo, hi)


def largest_miss(problem: Problem, share: npt.NDArray[np.float64]) -> float:
    """Return the largest miss of a statement as a share of all people."""
    classes = np.repeat(np.arange(len(problem.people)), np.diff(problem.starts))
    people = problem.people[classes] * share[classes, problem.values[problem.rows]]
    sums = np.bincount(problem.rows, people, len(problem.values))
    return max(0.0, float(np.maximum(problem.lo - sums, sums - problem.hi).max(initial=0.0)) / problem.n)


def _find_positive(problem: Problem, classes: Ints, seconds: float) -> tuple[Flags, Flags, Flags] | None:
    from scipy.sparse import csr_array, hstack

    open_cells = problem.closed == 0
    number = np.full(problem.closed.shape, -1, np.int64)
    number[open_cells] = np.arange(int(open_cells.sum()))
    of_class, _ = np.nonzero(open_cells)
    size = len(problem.people)
    n_cells = int(open_cells.sum())
    n_rows = len(problem.values)
    inner = number[classes, problem.values[problem.rows]]
    fixed = problem.lo == problem.hi
    lower = np.flatnonzero(~fixed & (problem.lo > 0))
    upper = np.flatnonzero(~fixed & (problem.hi < problem.whole))
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
    below = np.ones(n_rows, np.bool_)
    over = np.ones(n_rows, np.bool_)
    below[lower], over[upper] = np.split(positive[n_cells:], [len(lower)])
    return cells, below, over


def _close_values(problem: Problem, classes: Ints, closed: npt.NDArray[np.uint8], lo: Ints, hi: Ints) -> tuple[Problem, Ints]:
    rows = problem.rows
    size = len(problem.values)
    loose = closed.sum(axis=1) < closed.shape[1] - 1
    is_open = closed[classes, problem.values[rows]] == 0
    settled = is_open & ~loose[classes]
    less = np.bincount(rows[settled], problem.people[classes[settled]], size).astype(np.int64)
    free = is_open & loose[classes]
    whole = np.bincount(rows[free], problem.people[classes[free]], size).astype(np.int64)
    lo = np.maximum(lo - less, 0)
    hi = np.minimum(hi - less, whole)
    kept = np.flatnonzero((whole > 0) & ((lo > 0) | (hi < whole)))
    new = np.full(size, -1, np.int32)
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
    return smaller, kept


#: What is aimed at: no statement missed by more than the first (a share of all people), no further from the optimum than the second (nats).
#: Probabilities are as exact as the root of the second.
FEASIBLE = 1e-13
OPTIMAL = 1e-13
NEAR = 1e-5, 1e-7  #: From here on it is tried whether the bounds that seem to be reached are.
ACCEPTABLE = 1e-11, 1e-10  #: What is good enough where rounding errors allow no more.
#: What is an answer where no step gains anything any more: statements that leave no room but a point do this.
STALLED = 1e-9, 1e-10
MOST_STEPS = 150
PATIENCE = 10  #: So many steps may gain nothing before the search ends.
#: Bounds of intervals are met up to this share of all people: an interval that other statements leave one point of has an inside then.
ROOM = 1e-13
GRIP = 10.0  #: What both multipliers of an interval are at first, in nats.
TO_THE_BORDER = 0.995  #: A step goes this far towards the border of what is allowed.
CLOSE = 1e-5  #: A point that misses the statements by less than this is near the end.
#: The first and the last weight of the barrier; from the third on it is tried whether the bounds that seem to be reached are.
FIRST_BARRIER = 1e-2
LAST_BARRIER = 1e-15
TRIED_FROM = 1e-6
#: Steps with the first weight of the barrier where there may be no interior, with any other weight, and with all of them.
AT_FIRST = 40
MOST_AT_BARRIER = 100
MOST_DOWN = 500
SHORTEST_DOWN = 1e-12


@dataclass(frozen=True, eq=False)
class Solution:
    """Shares of values by class, with proven quality.

    ``multipliers`` say how many nats a statement is worth per share of people; ``violation`` is by how much the worst statement is missed
    (a share of all people), ``gap`` how far the entropy may be from the largest (nats), ``entropy`` H(value | quasi-identifiers) in nats.
    """

    share: Floats
    multipliers: Floats
    violation: float
    gap: float
    entropy: float
    steps: int
    converged: bool


@dataclass(eq=False)
class _Point:
    """Multipliers with their slack, and what follows from them."""

    multipliers: Floats
    s: Floats
    r: Floats
    u: Floats
    v: Floats
    sums: Floats
    share: Floats
    normaliser: float = 0.0

    def merit(self, dual: _Path) -> float:
        """Dual value, if all statements fix a number."""
        return self.normaliser - float(dual.lo @ self.multipliers)

    def missed(self, dual: _Path) -> tuple[Floats, Floats, Floats]:
        """Return misses of fixed numbers and both slacks."""
        fixed = np.where(dual.fixed, self.sums - dual.lo, 0.0)
        lower = np.where(dual.lower, self.sums - dual.lo - self.s, 0.0)
        return fixed, lower, np.where(dual.upper, dual.hi - self.sums - self.r, 0.0)

    def distance(self, dual: _Path) -> float:
        return float(np.sqrt(sum((part**2).sum() for part in self.missed(dual))))

    def held(self, dual: _Path) -> Floats:
        """Multipliers of active bounds, else 0."""
        lower = dual.lower & (self.u > self.s)
        upper = dual.upper & (self.v > self.r)
        return np.where(dual.fixed, self.multipliers, np.where(lower, self.u, 0.0) - np.where(upper, self.v, 0.0))

    def gap(self, dual: _Path) -> float:
        """Bound on the distance from maximum entropy."""
        return float((self.u * self.s)[dual.lower].sum() + (self.v * self.r)[dual.upper].sum())


Direction = tuple[Floats, Floats, Floats, Floats, Floats]


class _Path(Dual):
    """Dual problem whose central path is followed, with room at bounds."""

    def __init__(self, problem: Problem, tilt: Floats | None) -> None:
        super().__init__(problem, tilt)
        self.lo = self.lo - ROOM * self.lower
        self.hi = self.hi + ROOM * self.upper
        self.n_slacks = int(self.lower.sum() + self.upper.sum())
        #: How much of its diagonal the next system gets besides: more after short steps, less after long ones.
        self.damping = 0.0 if self.n_slacks else 0.1

    def at(self, multipliers: Floats, s: Floats, r: Floats, u: Floats, v: Floats) -> _Point:
        share, sums, normaliser = self.shares(multipliers)
        return _Point(multipliers, s, r, u, v=v, sums=sums, share=share, normaliser=normaliser)

    def start(self) -> _Point:
        _, sums, _ = self.shares(np.zeros(self.size))
        both = self.lower & self.upper
        room = np.where(both, self.hi - self.lo, self.whole)
        s = np.where(both, 0.5 * room, np.maximum(sums - self.lo, 0.1 * room))
        r = np.where(both, 0.5 * room, np.maximum(self.hi - sums, 0.1 * room))
        # The two multipliers of an interval begin large and equal: at first it is to be met almost as a fixed number is.
        u = np.where(self.lower, np.where(both, GRIP, 1e-4 / np.where(self.lower, s, 1.0)), 0.0)
        v = np.where(self.upper, np.where(both, GRIP, 1e-4 / np.where(self.upper, r, 1.0)), 0.0)
        one = np.ones(self.size)
        return self.at(u - v, np.where(self.lower, s, one), np.where(self.upper, r, one), u, v)


def solve(
    problem: Problem,
    *,
    multipliers: Floats | None = None,
    tilt: Floats | None = None,
    check: Callable[[], None] = lambda: None,
) -> Solution:
    """Find the distribution of maximum entropy, or of entropy plus ``tilt`` times the sums.

    ``multipliers`` of a similar problem make it faster, ``check`` is called before every step. A solution that did not converge says so; it is
    then no answer.
    """
    threads = 1 if len(problem.values) < SYSTEM_FOR_THREADS else None
    with linear_algebra().limit(limits=threads, user_api="blas"):
        return _solve(problem, multipliers, tilt, check)


def _solve(problem: Problem, multipliers: Floats | None, tilt: Floats | None, check: Callable[[], None]) -> Solution:
    if multipliers is not None:
        dual = Dual(problem, tilt)
        near = _solve_near(dual, multipliers, check)
        if near is not None:
            return _solve_reached(dual, near, 0)
    found, is_exact = _search(problem, tilt, check, at_first=AT_FIRST)
    if is_exact:
        return found
    inside = inside_of(problem)
    if inside is None:
        return found if found.converged else _descend(problem, tilt, check, at_first=MOST_DOWN)
    smaller, kept = inside
    again, is_exact = _search(smaller, None if tilt is None else tilt[kept], check, at_first=MOST_DOWN)
    if found.converged and not is_exact:
        return found
    multipliers = found.multipliers  # diverging multipliers keep their last values
    if not found.converged:
        multipliers = np.zeros(len(problem.values))
        multipliers[kept] = again.multipliers
    return replace(again, multipliers=multipliers, violation=largest_miss(problem, again.share))


def _search(problem: Problem, tilt: Floats | None, check: Callable[[], None], *, at_first: int) -> tuple[Solution, bool]:
    """Follow the central path, or descend; tell if the end was exact."""
    found, is_exact = _follow_path(problem, tilt, check)
    if is_exact:
        return found, True
    down = _descend(problem, tilt, check, at_first=at_first)
    if down.violation <= EXACT and down.gap <= OPTIMAL:
        return down, True
    return (found if found.converged else down), False


def _follow_path(problem: Problem, tilt: Floats | None, check: Callable[[], None]) -> tuple[Solution, bool]:
    """Follow the central path; tell if it converged."""
    dual = _Path(problem, tilt)
    if dual.size == 0:
        share, _, _ = dual.shares(np.empty(0))
        return _make_solution(dual, _Point(*(np.empty(0),) * 6, share), 0, gap=0.0, converged=True), True
    point = dual.start()
    best = np.inf
    since_best = 0
    step = 0
    furthest = np.inf
    gap = np.inf
    tried = False
    for step in range(MOST_STEPS):
        check()
        distance = point.distance(dual)
        gap = point.gap(dual)
        if not np.isfinite(distance + gap):
            break
        since_best = 0 if distance + gap < 0.9 * best else since_best + 1
        best = min(best, distance + gap)
        before = furthest
        furthest = max(np.abs(part).max() for part in point.missed(dual))
        if furthest <= FEASIBLE and gap <= OPTIMAL:
            return _make_solution(dual, point, step, gap=gap, converged=True), True
        # Where multipliers run away, steps gain little, and it is too early.
        if not tried and furthest <= min(NEAR[0], 0.1 * before) and gap <= NEAR[1]:
            tried = True
            near = _solve_near(Dual(problem, tilt), point.held(dual), check)
            if near is not None:
                return _solve_reached(dual, near, step), True
        good = furthest <= ACCEPTABLE[0] and gap <= ACCEPTABLE[1]
        if since_best > (1 if good else PATIENCE):
            break
        try:
            # A step that leads nowhere is seen by its distance.
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                point = _take_step(dual, point)
        except FloatingPointError:
            break
    converged = bool(furthest <= STALLED[0] and gap <= STALLED[1])
    return _make_solution(dual, point, step, gap=point.gap(dual), converged=converged), False


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Minimum over both multipliers of each interval, with a barrier at 0, for their differences.

    ``s`` and ``r`` are the slacks at both ends, ``soft`` is the second derivative. Fixed numbers have no slack.
    """

    value: float
    u: Floats
    v: Floats
    s: Floats
    r: Floats
    soft: Floats

    @classmethod
    def of(cls, dual: Dual, multipliers: Floats, mu: float) -> _Intervals:
        free = ~dual.fixed
        width = np.where(free, dual.hi - dual.lo, 1.0)
        reach = width * multipliers
        root = np.hypot(reach, 2 * mu)
        # The product of root + reach and root - reach is (2 mu)^2; the smaller of them is not computed as a difference.
        larger = root + np.abs(reach)
        smaller = (2 * mu) ** 2 / larger
        is_up = reach >= 0
        u = (2 * mu + np.where(is_up, larger, smaller)) / (2 * width)
        v = (2 * mu + np.where(is_up, smaller, larger)) / (2 * width)
        value = (width * v - mu * (np.log(u) + np.log(v)))[free].sum() - float(dual.lo @ multipliers)
        return cls(
            float(value),
            u=u,
            v=v,
            s=np.where(free, mu / u, 0.0),
            r=np.where(free, mu / v, 0.0),
            soft=np.where(free, mu / (u**2 + v**2), 0.0),
        )

    def held(self, dual: Dual, multipliers: Floats) -> Floats:
        """Return the multipliers of bounds that seem to be reached, else 0."""
        held = np.where(self.u > self.s, self.u, 0.0) - np.where(self.v > self.r, self.v, 0.0)
        return np.where(dual.fixed, multipliers, held)


def _descend(problem: Problem, tilt: Floats | None, check: Callable[[], None], *, at_first: int) -> Solution:
    """Minimise the dual with a barrier: slower than the central path, and sure.

    Without one multipliers run away, and it ends after ``at_first`` steps with the first weight of the barrier.
    """
    dual = Dual(problem, tilt)
    if dual.size == 0:
        share, sums, _ = dual.shares(np.empty(0))
        return _solve_reached(dual, _Reached(np.empty(0), share, sums, 0), 0)
    mu = FIRST_BARRIER
    damping = 0.1
    steps = 0
    point = _at_barrier(dual, np.zeros(dual.size), mu)
    while True:
        for _ in range(at_first if mu == FIRST_BARRIER else MOST_AT_BARRIER):
            check()
            direction = _System(dual, point.share, _Intervals.of(dual, point.multipliers, mu).soft, damping).step(point.missed)
            slope = float(point.missed @ direction)
            is_last = mu <= LAST_BARRIER
            if point.far <= EXACT or (-slope <= 0.1 * mu and damping <= SMALL and not is_last):
                break
            ahead, size = _step_down(point, direction, slope, partial(_at_barrier, dual, mu=mu))
            steps += 1
            if ahead is None or (is_last and damping <= SMALL and not ahead.far < 0.9 * point.far):
                break
            point = ahead
            if size > 0.9:
                damping = 0.1 * damping if damping > 1e-6 else 0.0
            elif size < 0.2:
                damping = max(1e-4, 10 * damping)
        else:
            if mu == FIRST_BARRIER:  # nothing is reached but the limit: multipliers run away
                break
        if mu <= TRIED_FROM:
            near = _solve_near(dual, _Intervals.of(dual, point.multipliers, mu).held(dual, point.multipliers), check)
            if near is not None:
                return _solve_reached(dual, near, steps)
        if mu <= LAST_BARRIER or steps >= MOST_DOWN:
            break
        mu = 0.1 * mu
        point = _at_barrier(dual, point.multipliers, mu)
    found = _solve_reached(dual, _Reached(point.multipliers, point.share, point.sums, 0), steps)
    return replace(found, converged=found.violation <= STALLED[0] and found.gap <= STALLED[1])


def _step_down(
    point: _ActivePoint, direction: Floats, slope: float, at: Callable[[Floats], _ActivePoint]
) -> tuple[_ActivePoint | None, float]:
    """Return the point after a step that goes down enough, and the size of the step."""
    size = 1.0
    while size > SHORTEST_DOWN:
        ahead = at(point.multipliers + size * direction)
        # Near the end values differ by rounding errors only, and distances tell more.
        if ahead.merit <= point.merit + 0.1 * size * slope or (point.far < CLOSE and ahead.far < 0.5 * point.far):
            return ahead, size
        size /= 2
    return None, size


def _at_barrier(dual: Dual, multipliers: Floats, mu: float) -> _ActivePoint:
    share, sums, normaliser = dual.shares(multipliers)
    intervals = _Intervals.of(dual, multipliers, mu)
    missed = sums - dual.lo - intervals.s
    far = float(np.abs(missed).max(initial=0.0))
    return _ActivePoint(multipliers, share, sums, missed, far=far, merit=normaliser + intervals.value)


def _solve_reached(dual: Dual, near: _Reached, steps: int) -> Solution:
    lo = dual.problem.lo / dual.problem.n
    hi = dual.problem.hi / dual.problem.n
    slack = np.where(near.multipliers > 0, near.sums - lo, hi - near.sums)
    gap = float(np.abs(near.multipliers * slack)[~dual.fixed].sum())
    return _make_solution(dual, near, steps + near.steps, gap=gap, converged=True)


def _make_solution(dual: Dual, point: _Point | _Reached, steps: int, *, gap: float, converged: bool) -> Solution:
    over = np.maximum(dual.problem.lo / dual.problem.n - point.sums, point.sums - dual.problem.hi / dual.problem.n)
    return Solution(
        point.share.reshape(len(dual.weights), dual.n_values),
        point.multipliers,
        violation=float(max(0.0, over.max(initial=0.0))),
        gap=gap,
        entropy=dual.entropy(point.share),
        steps=steps,
        converged=converged,
    )


def _take_step(dual: _Path, point: _Point) -> _Point:
    newton = _Newton(dual, point)
    nothing = np.zeros(dual.size)
    direction = newton.direction(0.0, nothing, nothing)
    if dual.n_slacks:
        gap = point.gap(dual)
        reach = min(1.0, _longest_step(dual, point, direction))
        _, ds, dr, du, dv = direction
        ahead = ((point.u + reach * du) * (point.s + reach * ds))[dual.lower].sum()
        ahead += ((point.v + reach * dv) * (point.r + reach * dr))[dual.upper].sum()
        centre = min(1.0, ahead / gap) ** 3 * gap
        # Products far below the tolerance are noise, and slacks that vanish before the statements are kept leave no room to move.
        least = max(0.1 * OPTIMAL, min(0.1 * gap, 1e-3 * point.distance(dual)))
        if centre > least:
            direction = newton.direction(centre / dual.n_slacks, du * ds, dv * dr)
        else:
            direction = newton.direction(least / dual.n_slacks, nothing, nothing)
    most = _longest_step(dual, point, direction)
    size = min(1.0, most)
    start = point.distance(dual)
    slack = 0.1 * point.gap(dual) / max(1, dual.n_slacks)
    # Where all numbers are fixed the dual value leads; distances would lead astray, except near the end, where values differ by rounding errors.
    by_distance = dual.n_slacks > 0 or start < CLOSE
    before = point.merit(dual)
    slope = float((point.sums - dual.lo) @ direction[0])
    for _ in range(30):
        ahead_point = _move(dual, point, direction, size)
        now = ahead_point.distance(dual)
        if by_distance and now <= (1 - 0.05 * size) * start + slack + 1e-14:
            break
        if not by_distance and ahead_point.merit(dual) <= before + 0.1 * size * slope:
            break
        size /= 2
    if size > 0.9:
        dual.damping /= 10
    elif size < 0.2 and not by_distance:
        dual.damping = max(1e-4, 10 * dual.damping)
    # Multipliers that run away gain a constant factor with every step; a longer step gains it several times.
    runs_away = size > 0.9 and now > 0.2 * start and point.gap(dual) < 1e-9
    while runs_away and 2 * size <= most:
        further = _move(dual, point, direction, 2 * size)
        if not further.distance(dual) < 0.7 * now or further.gap(dual) > 1e-9:
            break
        ahead_point = further
        now = further.distance(dual)
        size = 2 * size
    return ahead_point


def _move(dual: _Path, point: _Point, direction: Direction, size: float) -> _Point:
    values = (point.multipliers, point.s, point.r, point.u, point.v)
    return dual.at(*(value + size * change for value, change in zip(values, direction, strict=True)))


def _longest_step(dual: _Path, point: _Point, direction: Direction) -> float:
    _, ds, dr, du, dv = direction
    most = np.inf
    lower = ((point.s, ds, dual.lower), (point.u, du, dual.lower))
    upper = ((point.r, dr, dual.upper), (point.v, dv, dual.upper))
    for value, change, where in (*lower, *upper):
        falls = where & (change < 0)
        if falls.any():
            most = min(most, float((-TO_THE_BORDER * value[falls] / change[falls]).min()))
    return most


class _Newton:
    """Linear system at a point, factored once."""

    def __init__(self, dual: _Path, point: _Point) -> None:
        self._dual = dual
        self._point = point
        self._missed = point.missed(dual)
        self._matrix = dual.covariance(point.share)
        stiff = np.where(dual.lower, point.u / point.s, 0.0) + np.where(dual.upper, point.v / point.r, 0.0)
        self._soft = np.where(dual.fixed, 0.0, 1 / np.where(stiff > 0, stiff, 1.0))
        diagonal = self._matrix.diagonal()
        # Statements that follow from others would make the system singular; one step of refinement takes the small number out again.
        small = 1e-13 * diagonal.max(initial=0.0) + 1e-12 * diagonal + 1e-300
        self._damped = dual.damping > 1e-8
        self._factor = _factor(self._matrix, self._soft + small + (dual.damping * diagonal if self._damped else 0.0))

    def direction(self, centre: float, cross_lower: Floats, cross_upper: Floats) -> Direction:
        dual = self._dual
        p = self._point
        fixed, lower, upper = self._missed
        up = np.where(dual.lower, (centre - p.u * p.s - cross_lower - p.u * lower) / p.s, 0.0)
        down = np.where(dual.upper, (centre - p.v * p.r - cross_upper - p.v * upper) / p.r, 0.0)
        wanted = np.where(dual.fixed, -fixed, self._soft * (up - down))
        dl = _solve_factored(self._factor, wanted)
        if not self._damped:
            dl = dl + _solve_factored(self._factor, wanted - _times(self._matrix, dl) - self._soft * dl)
        change = _times(self._matrix, dl)
        ds = np.where(dual.lower, change + lower, 0.0)
        dr = np.where(dual.upper, upper - change, 0.0)
        du = np.where(dual.lower, (centre - p.u * p.s - cross_lower - p.u * ds) / p.s, 0.0)
        dv = np.where(dual.upper, (centre - p.v * p.r - cross_upper - p.v * dr) / p.r, 0.0)
        return dl, ds, dr, du, dv
