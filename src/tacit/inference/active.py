"""Maximum entropy from a good guess: Newton's method on the statements that are reached, and nothing else.

In the solution a statement says a number that is met, or it is a bound that is reached, or it has no multiplier. Once it is known which bounds
are reached, only equations are left, and Newton's method solves these in a few steps to the last digit. A guess of which they are is right
when all multipliers have the sign of their bound and no other bound is missed; else bounds are dropped and taken up, and it goes on.
The multipliers of a similar problem are such a guess, and so is a point near the end of the central path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.inference.dual import Dual, Flags, Floats, factored, times

Rows = npt.NDArray[np.intp]

#: What is aimed at: no statement missed by more than this share of all people; and where multipliers run away, which takes many steps to there,
#: and where rounding errors allow no more.
AIM, EXACT = 2e-15, 1e-13
#: Steps that leave more than this part of the distance are slow.
SLOW = 0.05
#: From here on steps with the system of the step before are tried.
NEARLY = 1e-4
#: Bounds that are not held count as missed beyond this share of all people, and multipliers as of the wrong sign beyond this many nats.
OUTSIDE, WRONG_SIGN = 1e-14, 1e-12
MOST_STEPS = 25
SHORTEST = 1e-3
#: So often the bounds that are held may be chosen anew.
MOST_CHANGES = 8
#: A system gets so much of its diagonal besides, so that statements that follow from others do not make it singular.
SMALL = 1e-13


@dataclass(frozen=True, eq=False)
class Reached:
    """A solution: its multipliers, shares and sums, and how many steps it took."""

    multipliers: Floats
    share: Floats
    sums: Floats
    steps: int


def reached_from(dual: Dual, multipliers: Floats, check: Callable[[], None] = lambda: None) -> Reached | None:
    """The solution near these multipliers; None where Newton's method does not find it from there."""
    held = dual.fixed | (dual.lower & (multipliers > 0)) | (dual.upper & (multipliers < 0))
    point = np.where(held, multipliers, 0.0)
    _, sums, _ = dual.shares(point)
    below, above = ~held & dual.lower & (sums < dual.lo), ~held & dual.upper & (sums > dual.hi)
    bound = np.where(dual.fixed | (point > 0) | below, dual.lo, dual.hi)
    held = held | below | above
    steps = 0
    for _ in range(MOST_CHANGES):
        try:
            # A step that leads nowhere is seen by its distance.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                found = _on_held(dual, point, held, bound, check)
        except FloatingPointError:
            return None
        if found is None:
            return None
        steps += found.steps
        point = found.multipliers.copy()
        at_lower = bound == dual.lo
        wrong = held & ~dual.fixed & np.where(at_lower, point < -WRONG_SIGN, point > WRONG_SIGN)
        below, above = (
            (~held & dual.lower & (found.sums < dual.lo - OUTSIDE)),
            (~held & dual.upper & (found.sums > dual.hi + OUTSIDE)),
        )
        if not (wrong.any() or below.any() or above.any()):
            return Reached(point, found.share, found.sums, steps)
        held = (held & ~wrong) | below | above
        point[wrong] = 0.0
        bound = np.where(below, dual.lo, np.where(above, dual.hi, bound))
    return None


@dataclass(frozen=True, eq=False)
class _Point:
    """Multipliers and what follows from them: by how much the held bounds are missed, at most, and the dual value."""

    multipliers: Floats
    share: Floats
    sums: Floats
    missed: Floats
    far: float
    merit: float


def _on_held(dual: Dual, start: Floats, held: Flags, bound: Floats, check: Callable[[], None]) -> Reached | None:
    """The point that meets the bounds that are held; the multipliers of the others stay 0."""
    rows = np.flatnonzero(held)

    def at(multipliers: Floats) -> _Point:
        share, sums, normaliser = dual.shares(multipliers)
        missed = (sums - bound)[rows]
        far = float(np.abs(missed).max(initial=0.0))
        return _Point(multipliers, share, sums, missed, far, normaliser - float(bound[rows] @ multipliers[rows]))

    point, steps = at(start), 0
    slow = False
    while (EXACT if slow else AIM) < point.far < np.inf and steps < MOST_STEPS:
        check()
        system = _System(dual, point.share, rows)
        direction = np.zeros(dual.size)
        direction[rows] = system.step(point.missed)
        ahead = _ahead(point, direction, float(point.missed @ direction[rows]), at)
        steps += 1
        if ahead is None or (point.far <= EXACT and not ahead.far < 0.5 * point.far):
            break
        slow = ahead.far > SLOW * point.far
        point = _with_the_same(system, ahead, rows, at)
    return Reached(point.multipliers, point.share, point.sums, steps) if point.far <= EXACT else None


def _with_the_same(system: _System, point: _Point, rows: Rows, at: Callable[[Floats], _Point]) -> _Point:
    """The point that more steps with the same system lead to: a system costs much more than a step, and near the end it hardly changes."""
    while AIM < point.far < NEARLY:
        multipliers = point.multipliers.copy()
        multipliers[rows] += system.step(point.missed)
        ahead = at(multipliers)
        if not ahead.far < point.far:
            return point
        gained, point = ahead.far < 0.1 * point.far, ahead
        if not gained:
            break
    return point


def _ahead(point: _Point, direction: Floats, slope: float, at: Callable[[Floats], _Point]) -> _Point | None:
    """The next point in a direction; None where it leads nowhere."""
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
        ahead, size = further, 2 * size
    return ahead


class _System:
    """The linear system of Newton's method at some shares, factored."""

    def __init__(self, dual: Dual, share: Floats, rows: Rows) -> None:
        whole = dual.covariance(share)
        self._matrix = whole if len(rows) == dual.size else whole[np.ix_(rows, rows)]
        diagonal = self._matrix.diagonal()
        self._factor = factored(self._matrix, SMALL * diagonal.max(initial=0.0) + 10 * SMALL * diagonal + 1e-300)

    def step(self, missed: Floats) -> Floats:
        """How multipliers must change, refined once so that what was added to the system does not show."""
        from scipy.linalg import cho_solve

        change = -np.asarray(cho_solve(self._factor, missed, check_finite=False))
        return change - np.asarray(cho_solve(self._factor, missed + times(self._matrix, change), check_finite=False))
