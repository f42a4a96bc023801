"""Dual of the maximum-entropy problem.

People fall into classes that the same statements speak of. ``rows[starts[c]:starts[c + 1]]`` are the statements about class ``c``, ascending,
of weight ``weights[c]``; statement ``j`` is about the value ``values[j]``. ``closed[c * n_values + v]`` is 1 where nobody of class c can have
value v.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.kernels.jit import kernel


@kernel(steps=lambda starts, rows, values, weights, closed, *_: 4 * closed.size + 2 * rows.size)
def shares(
    starts: Any, rows: Any, values: Any, weights: Any, closed: Any, multipliers: Any, first: int, last: int, out: Any, sums: Any
) -> float:
    """Compute the shares in classes ``first`` to ``last``.

    ``sums`` is increased by the people of each statement. Returns the sum of ``weights`` times the logarithm of the normaliser.
    """
    n_values = closed.size // weights.size
    total = 0.0
    for c in range(first, last):
        base = c * n_values
        for v in range(n_values):
            out[base + v] = 0.0
        for place in range(starts[c], starts[c + 1]):
            j = rows[place]
            out[base + values[j]] += multipliers[j]
        largest = -np.inf
        for v in range(n_values):
            if closed[base + v] == 0 and out[base + v] > largest:
                largest = out[base + v]
        norm = 0.0
        for v in range(n_values):
            out[base + v] = math.exp(out[base + v] - largest) if closed[base + v] == 0 else 0.0
            norm += out[base + v]
        for v in range(n_values):
            out[base + v] /= norm
        total += weights[c] * (largest + math.log(norm))
        for place in range(starts[c], starts[c + 1]):
            j = rows[place]
            sums[j] += weights[c] * out[base + values[j]]
    return total


@kernel(steps=lambda starts, *_: int((np.diff(starts) ** 2).sum()))
def covariance(
    starts: Any, rows: Any, values: Any, weights: Any, share: Any, n_values: int, first: int, last: int, matrix: Any
) -> None:
    """Add the covariance of sums to the lower triangle of ``matrix``."""
    size = values.size
    longest = 1
    for c in range(first, last):
        longest = max(longest, starts[c + 1] - starts[c])
    part = np.empty(longest, np.float64)
    for c in range(first, last):
        base = c * n_values
        begin = starts[c]
        end = starts[c + 1]
        for place in range(begin, end):
            part[place - begin] = share[base + values[rows[place]]]
        for place in range(begin, end):
            i = rows[place]
            own = weights[c] * part[place - begin]
            if own == 0.0:
                continue
            line = i * size
            value = values[i]
            for other in range(begin, place + 1):
                j = rows[other]
                same = own if values[j] == value else 0.0
                matrix[line + j] += same - own * part[other - begin]
