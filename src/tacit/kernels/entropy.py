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
    share = np.empty(n_values, np.float64)
    total = 0.0
    for c in range(first, last):
        base = c * n_values
        for v in range(n_values):
            share[v] = 0.0
        for place in range(starts[c], starts[c + 1]):
            j = rows[place]
            share[values[j]] += multipliers[j]
        largest = -np.inf
        for v in range(n_values):
            if closed[base + v] == 0 and share[v] > largest:
                largest = share[v]
        plain = math.exp(-largest) if largest >= 0.0 else 0.0  # for values without a multiplier, which are most of many
        norm = 0.0
        for v in range(n_values):
            if closed[base + v]:
                share[v] = 0.0
            elif share[v] == 0.0:
                share[v] = plain
            else:
                share[v] = math.exp(share[v] - largest)
            norm += share[v]
        for v in range(n_values):
            share[v] /= norm
            out[base + v] = share[v]
        total += weights[c] * (largest + math.log(norm))
        for place in range(starts[c], starts[c + 1]):
            j = rows[place]
            sums[j] += weights[c] * share[values[j]]
    return total


@kernel(steps=lambda starts, *_: int((np.diff(starts) ** 2).sum()))
def covariance(
    starts: Any, rows: Any, values: Any, weights: Any, share: Any, n_values: int, first: int, last: int, matrix: Any
) -> None:
    """Add the covariance of sums to the lower triangle of ``matrix``."""
    longest = 1
    for c in range(first, last):
        longest = max(longest, starts[c + 1] - starts[c])
    size = np.uint64(values.size)
    column = np.empty(longest, np.uint64)  # unsigned, so that compiled code does not look for negative places
    value = np.empty(longest, np.int64)
    part = np.empty(longest, np.float64)
    for c in range(first, last):
        many = starts[c + 1] - starts[c]
        for k in range(many):
            j = rows[starts[c] + k]
            column[k] = j
            value[k] = values[j]
            part[k] = share[c * n_values + values[j]]
        for k in range(many):
            own = weights[c] * part[k]
            if own == 0.0:
                continue
            line = column[k] * size
            for other in range(k + 1):
                same = own if value[other] == value[k] else 0.0
                matrix[line + column[other]] += same - own * part[other]
