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

from tacit.inference.dual import Dual, Flags, Floats, factored, times

#: What is aimed at: no statement missed by more than this share of all people. And what is a solution where rounding errors allow no more.
AIM, EXACT = 2e-15, 1e-13
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
    while AIM < point.far < np.inf and steps < MOST_STEPS:
        check()
        direction = np.zeros(dual.size)
        direction[rows] = _newton(dual, point.share, rows, point.missed)
        ahead = _ahead(point, direction, float(point.missed @ direction[rows]), at)
        steps += 1
        if ahead is None or (point.far <= EXACT and not ahead.far < 0.5 * point.far):
            break
        point = ahead
    return Reached(point.multipliers, point.share, point.sums, steps) if point.far <= EXACT else None


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


def _newton(dual: Dual, share: Floats, rows: np.ndarray[tuple[int], np.dtype[np.intp]], missed: Floats) -> Floats:
    """The step of Newton's method, refined once so that what was added to the system does not show."""
    from scipy.linalg import cho_solve

    whole = dual.covariance(share)
    matrix = whole if len(rows) == dual.size else whole[np.ix_(rows, rows)]
    diagonal = matrix.diagonal()
    factor = factored(matrix, SMALL * diagonal.max(initial=0.0) + 10 * SMALL * diagonal + 1e-300)
    direction = -np.asarray(cho_solve(factor, missed, check_finite=False))
    return direction - np.asarray(cho_solve(factor, missed + times(matrix, direction), check_finite=False))
