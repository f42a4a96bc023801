"""Maximum entropy under statements: the shares of the values in each class that assume nothing beyond what is said.

The dual problem has one multiplier for each statement. Newton's method follows the central path of its optimality conditions (Mehrotra's
predictor and corrector): with ``a`` the sums of the statements, slack ``s = a - lo`` and ``r = hi - a``, and multipliers ``u - v``,

    H d = ..,  u s = mu,  v r = mu,  mu -> 0

so that every step solves one positive definite system of the size of the statements. Statements that fix a number need no slack. Where a share
goes to 0 although no single statement says so, multipliers run away and every step gains only a constant factor; steps are then stretched
as long as that pays. Near the end, and from the beginning where the multipliers of a similar problem are known, the bounds that are reached
are guessed and only these are solved for (:mod:`tacit.inference.active`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.inference.active import Reached, reached_from
from tacit.inference.classes import Problem
from tacit.inference.dual import Dual, Floats, factored, times
from tacit.inference.inside import Inside, inside_of, largest_miss

#: What is aimed at: no statement missed by more than the first (a share of all people), no further from the optimum than the second (nats).
#: Probabilities are as exact as the root of the second.
FEASIBLE, OPTIMAL = 1e-13, 1e-13
#: From here on it is tried whether the bounds that seem to be reached are.
NEAR = 1e-5, 1e-7
#: What is good enough where rounding errors allow no more.
ACCEPTABLE = 1e-11, 1e-10
#: What is an answer where no step gains anything any more: statements that leave no room but a point do this.
STALLED = 1e-9, 1e-10
MOST_STEPS = 150
#: So many steps may gain nothing before the search ends.
PATIENCE = 10
#: Bounds of intervals are met up to this share of all people: an interval that other statements leave one point of has an inside then.
ROOM = 1e-13
#: What both multipliers of an interval are at first, in nats.
GRIP = 10.0
#: A step goes this far towards the border of what is allowed.
TO_THE_BORDER = 0.995
#: A point that misses the statements by less than this is near the end.
CLOSE = 1e-5


@dataclass(frozen=True, eq=False)
class Solution:
    """Shares of the values in each class, with the proof of their quality.

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
        """The dual value, where all statements fix a number; every direction of Newton's method leads downhill."""
        return self.normaliser - float(dual.lo @ self.multipliers)

    def missed(self, dual: _Path) -> tuple[Floats, Floats, Floats]:
        """By how much fixed numbers, lower and upper slacks are missed."""
        fixed = np.where(dual.fixed, self.sums - dual.lo, 0.0)
        lower = np.where(dual.lower, self.sums - dual.lo - self.s, 0.0)
        return fixed, lower, np.where(dual.upper, dual.hi - self.sums - self.r, 0.0)

    def distance(self, dual: _Path) -> float:
        """How far it is from keeping every statement."""
        return float(np.sqrt(sum((part**2).sum() for part in self.missed(dual))))

    def held(self, dual: _Path) -> Floats:
        """The multipliers, 0 where a bound is not about to be reached: there the slack is the larger of the two."""
        lower, upper = dual.lower & (self.u > self.s), dual.upper & (self.v > self.r)
        return np.where(dual.fixed, self.multipliers, np.where(lower, self.u, 0.0) - np.where(upper, self.v, 0.0))

    def gap(self, dual: _Path) -> float:
        """How far the entropy may be from the largest."""
        return float((self.u * self.s)[dual.lower].sum() + (self.v * self.r)[dual.upper].sum())


Direction = tuple[Floats, Floats, Floats, Floats, Floats]


class _Path(Dual):
    """A dual problem whose central path is followed: bounds of intervals have a little room, and systems are damped."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.lo, self.hi = self.lo - ROOM * self.lower, self.hi + ROOM * self.upper
        self.n_slacks = int(self.lower.sum() + self.upper.sum())
        #: How much of its diagonal the next system gets besides: more after short steps, less after long ones.
        self.damping = 0.0 if self.n_slacks else 0.1

    def at(self, multipliers: Floats, s: Floats, r: Floats, u: Floats, v: Floats) -> _Point:
        """The point with these multipliers and slacks."""
        share, sums, normaliser = self.shares(multipliers)
        return _Point(multipliers, s, r, u, v, sums, share, normaliser)

    def start(self) -> _Point:
        """A point to begin from, with no multipliers but those that slacks need."""
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


def solve(problem: Problem, *, multipliers: Floats | None = None, check: Callable[[], None] = lambda: None) -> Solution:
    """The distribution of largest entropy; ``multipliers`` of a similar problem make it faster, ``check`` is called before every step.

    A solution that did not converge says so; it is then no answer. Statements that leave no inside are looked at by a linear program first
    (:mod:`tacit.inference.inside`).
    """
    if multipliers is not None:
        dual = Dual(problem)
        near = reached_from(dual, multipliers, check)
        if near is not None:
            return _reached(dual, near, 0)
    found, exact = _followed(problem, check)
    if exact:
        return found
    inside = inside_of(problem)
    if inside is None:
        return found
    again, exact = _followed(inside.problem, check)
    return _of_first(problem, inside, again, found) if exact or not found.converged else found


def _followed(problem: Problem, check: Callable[[], None]) -> tuple[Solution, bool]:
    """Newton's method along the central path, and whether it came as near as is aimed at."""
    dual = _Path(problem)
    if dual.size == 0:
        share, _, _ = dual.shares(np.empty(0))
        return _finished(dual, _Point(*(np.empty(0),) * 6, share), 0, converged=True), True
    point = dual.start()
    best, since_best, step, furthest, gap = np.inf, 0, 0, np.inf, np.inf
    tried = False
    for step in range(MOST_STEPS):
        check()
        distance, gap = point.distance(dual), point.gap(dual)
        if not np.isfinite(distance + gap):
            break
        since_best = 0 if distance + gap < 0.9 * best else since_best + 1
        best = min(best, distance + gap)
        before, furthest = furthest, max(np.abs(part).max() for part in point.missed(dual))
        if furthest <= FEASIBLE and gap <= OPTIMAL:
            return _finished(dual, point, step, converged=True), True
        # Where multipliers run away, steps gain little, and it is too early.
        if not tried and furthest <= min(NEAR[0], 0.1 * before) and gap <= NEAR[1]:
            tried = True
            near = reached_from(Dual(problem), point.held(dual), check)
            if near is not None:
                return _reached(dual, near, step), True
        good = furthest <= ACCEPTABLE[0] and gap <= ACCEPTABLE[1]
        if since_best > (1 if good else PATIENCE):
            break
        try:
            # A step that leads nowhere is seen by its distance.
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                point = _stepped(dual, point)
        except FloatingPointError:
            break
    return _finished(dual, point, step, converged=bool(furthest <= STALLED[0] and gap <= STALLED[1])), False


def _reached(dual: Dual, near: Reached, steps: int) -> Solution:
    """The solution in which everything that has a multiplier is met."""
    share = near.share.reshape(len(dual.weights), dual.n_values)
    lo, hi = dual.problem.lo / dual.problem.n, dual.problem.hi / dual.problem.n
    missed = np.maximum(np.maximum(lo - near.sums, near.sums - hi), 0.0)
    slack = np.where(near.multipliers > 0, near.sums - lo, hi - near.sums)
    gap = float(np.abs(near.multipliers * slack)[~dual.fixed].sum())
    violation = float(missed.max(initial=0.0))
    return Solution(share, near.multipliers, violation, gap, dual.entropy(near.share), steps + near.steps, converged=True)


def _of_first(problem: Problem, inside: Inside, found: Solution, rough: Solution) -> Solution:
    """The solution of a problem from that of its inside; multipliers that run away are kept as far as they came."""
    multipliers = rough.multipliers
    if not rough.converged:
        multipliers = np.zeros(len(problem.values))
        multipliers[inside.kept] = found.multipliers
    return replace(found, multipliers=multipliers, violation=largest_miss(problem, found.share))


def _finished(dual: _Path, point: _Point, steps: int, *, converged: bool) -> Solution:
    lo, hi = dual.problem.lo / dual.problem.n, dual.problem.hi / dual.problem.n
    over = np.maximum(lo - point.sums, point.sums - hi) if dual.size else np.zeros(1)
    return Solution(
        point.share.reshape(len(dual.weights), dual.n_values),
        point.multipliers,
        float(max(0.0, over.max(initial=0.0))),
        point.gap(dual) if dual.size else 0.0,
        dual.entropy(point.share),
        steps,
        converged,
    )


def _stepped(dual: _Path, point: _Point) -> _Point:
    """One step along the central path."""
    newton = _Newton(dual, point)
    nothing = np.zeros(dual.size)
    direction = newton.direction(0.0, nothing, nothing)
    if dual.n_slacks:
        gap = point.gap(dual)
        reach = min(1.0, _reach(dual, point, direction))
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
    most = _reach(dual, point, direction)
    size = min(1.0, most)
    start, slack = point.distance(dual), 0.1 * point.gap(dual) / max(1, dual.n_slacks)
    # Where all numbers are fixed the dual value leads; distances would lead astray, except near the end, where values differ by rounding errors.
    by_distance = dual.n_slacks > 0 or start < CLOSE
    before, slope = point.merit(dual), float((point.sums - dual.lo) @ direction[0])
    for _ in range(30):
        ahead_point = _moved(dual, point, direction, size)
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
        further = _moved(dual, point, direction, 2 * size)
        if not further.distance(dual) < 0.7 * now or further.gap(dual) > 1e-9:
            break
        ahead_point, now, size = further, further.distance(dual), 2 * size
    return ahead_point


def _moved(dual: _Path, point: _Point, direction: Direction, size: float) -> _Point:
    dl, ds, dr, du, dv = direction
    return dual.at(
        point.multipliers + size * dl, point.s + size * ds, point.r + size * dr, point.u + size * du, point.v + size * dv
    )


def _reach(dual: _Path, point: _Point, direction: Direction) -> float:
    """How far a direction can be followed until a slack or a multiplier is used up."""
    _, ds, dr, du, dv = direction
    most = np.inf
    for value, change, where in (
        (point.s, ds, dual.lower),
        (point.r, dr, dual.upper),
        (point.u, du, dual.lower),
        (point.v, dv, dual.upper),
    ):
        falls = where & (change < 0)
        if falls.any():
            most = min(most, float((-TO_THE_BORDER * value[falls] / change[falls]).min()))
    return most


class _Newton:
    """The linear system at a point, factored once for predictor and corrector."""

    def __init__(self, dual: _Path, point: _Point) -> None:
        self._dual, self._point = dual, point
        self._missed = point.missed(dual)
        self._matrix = dual.covariance(point.share)
        stiff = np.where(dual.lower, point.u / point.s, 0.0) + np.where(dual.upper, point.v / point.r, 0.0)
        self._soft = np.where(dual.fixed, 0.0, 1 / np.where(stiff > 0, stiff, 1.0))
        diagonal = self._matrix.diagonal()
        # Statements that follow from others would make the system singular; one step of refinement takes the small number out again.
        small = 1e-13 * diagonal.max(initial=0.0) + 1e-12 * diagonal + 1e-300
        self._damped = dual.damping > 1e-8
        self._factor = factored(self._matrix, self._soft + small + (dual.damping * diagonal if self._damped else 0.0))

    def direction(self, centre: float, cross_lower: Floats, cross_upper: Floats) -> Direction:
        """Where to go so that all products of slack and multiplier become ``centre``."""
        dual, p = self._dual, self._point
        fixed, lower, upper = self._missed
        up = np.where(dual.lower, (centre - p.u * p.s - cross_lower - p.u * lower) / p.s, 0.0)
        down = np.where(dual.upper, (centre - p.v * p.r - cross_upper - p.v * upper) / p.r, 0.0)
        wanted = np.where(dual.fixed, -fixed, self._soft * (up - down))
        dl = self._solved(wanted)
        if not self._damped:
            dl = dl + self._solved(wanted - times(self._matrix, dl) - self._soft * dl)
        change = times(self._matrix, dl)
        ds, dr = np.where(dual.lower, change + lower, 0.0), np.where(dual.upper, upper - change, 0.0)
        du = np.where(dual.lower, (centre - p.u * p.s - cross_lower - p.u * ds) / p.s, 0.0)
        dv = np.where(dual.upper, (centre - p.v * p.r - cross_upper - p.v * dr) / p.r, 0.0)
        return dl, ds, dr, du, dv

    def _solved(self, wanted: Floats) -> Floats:
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self._factor, wanted, check_finite=False))
