"""Places of points in pictures from which one is chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH = 640
HEIGHT = 300
LEFT = 56
RIGHT = 24
TOP = 36
FLOOR = 248  #: Height of the axis, from above.


@dataclass(frozen=True)
class Plotted:
    """Point with the address that chooses it and its description."""

    x: float
    y: float
    address: str
    label: str
    tells: str
    style: str


def height_of(number: int, most: int) -> float:
    """Return the place of a number of findings on a logarithmic scale that begins at none."""
    return FLOOR - (FLOOR - TOP) * math.log1p(number) / math.log1p(max(1, most))


def place_of(share: float, most: float) -> float:
    """Return the place of a loss on a scale from nothing to the largest."""
    return LEFT + 14 + (WIDTH - LEFT - RIGHT - 28) * share / (most or 1.0)


def marks_up_to(most: int) -> list[tuple[int, float]]:
    """Return round numbers of findings with their heights."""
    marks = [0, *(10**power for power in range(12) if 10**power <= max(1, most))]
    return [(mark, height_of(mark, most)) for mark in marks]
