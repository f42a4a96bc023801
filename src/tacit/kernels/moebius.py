"""Transforms over all subsets, indexed by masks.

All are plain numpy, ``d`` passes over the array, exact in whole numbers.
"""

from __future__ import annotations

import numpy as np

from tacit.model.arrays import Flags, Ints


def superset_max(values: Ints) -> None:
    """Replace entries by their supersets' maximum, in place.

    >>> values = np.array([0, 0, 3, 5]); superset_max(values); values.tolist()
    [5, 5, 5, 5]
    """
    step = 1
    while step < values.size:
        pairs = values.reshape(-1, 2, step)
        np.maximum(pairs[:, 0, :], pairs[:, 1, :], out=pairs[:, 0, :])
        step *= 2


def subset_min(values: Ints) -> None:
    """Replace entries by their subsets' minimum, in place."""
    step = 1
    while step < values.size:
        pairs = values.reshape(-1, 2, step)
        np.minimum(pairs[:, 1, :], pairs[:, 0, :], out=pairs[:, 1, :])
        step *= 2


def superset_all(known: Flags) -> None:
    """Replace flags by their supersets' conjunction, in place."""
    step = 1
    while step < known.size:
        pairs = known.reshape(-1, 2, step)
        pairs[:, 0, :] &= pairs[:, 1, :]
        step *= 2


def cells(lo: Ints, hi: Ints) -> None:
    """Turn bounds on supports into those of cells, in place.

    >>> lo = np.array([10, 6, 5, 4]); hi = lo.copy(); cells(lo, hi); lo.tolist()
    [3, 2, 1, 4]
    """
    step = 1
    while step < lo.size:
        low = lo.reshape(-1, 2, step)
        high = hi.reshape(-1, 2, step)
        low[:, 0, :] -= high[:, 1, :]
        high[:, 0, :] -= low[:, 1, :]
        step *= 2


def every_pattern(lo: Ints, hi: Ints, known: Flags) -> tuple[Ints, Ints, Flags]:
    """Return the bounds of all ``3**d`` patterns.

    Digit ``j`` of an index in base 3 says what the pattern asks of item ``j``: 0 nothing, 1 that it is present, 2 that it is absent. A pattern
    is known when all supports of its sum are.

    >>> lo, hi, known = every_pattern(np.array([10, 6]), np.array([10, 7]), np.array([True, True]))
    >>> lo.tolist(), hi.tolist()
    ([10, 6, 3], [10, 7, 4])
    """
    inner = 1
    while inner < lo.size:
        low = lo.reshape(-1, 2, inner)
        high = hi.reshape(-1, 2, inner)
        sure = known.reshape(-1, 2, inner)
        lo = np.stack((low[:, 0], low[:, 1], low[:, 0] - high[:, 1]), axis=1).reshape(-1)
        hi = np.stack((high[:, 0], high[:, 1], high[:, 0] - low[:, 1]), axis=1).reshape(-1)
        known = np.stack((sure[:, 0], sure[:, 1], sure[:, 0] & sure[:, 1]), axis=1).reshape(-1)
        inner *= 3
    return lo, hi, known
