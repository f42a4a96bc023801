"""The distribution of largest entropy that shows every rule with one condition as a table does, and what it makes of blank cells.

Among all distributions P(value | cells) that give each pair (cell, value) the number of records that the table shows, the one of largest
entropy is log-linear: a weight for each pair, added up over a record's cells. The weights come from the dual problem, which is concave; a small
penalty on their squares keeps them finite where a cell is shown with one value only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.inference.patterns import Merged
from tacit.model.partial import Codes, Numbers

#: Half of this times the sum of squared weights is taken away from the log-likelihood: as if each weight came from a normal distribution.
PENALTY = 1.0
_STEPS, _CLOSE = 300, 1e-7

Shares = npt.NDArray[np.float64]


def largest_entropy(conditions: Codes, values: Codes, rows: Numbers, *, check: Callable[[], None] = lambda: None) -> Shares:
    """P(value | published cells) of these rows, rows x values, learned from all rows whose value is known; blank cells say nothing.

    >>> cells, values = np.array([[0], [0], [1], [0]], np.int32), np.array([0, 0, 1, -1], np.int32)
    >>> largest_entropy(cells, values, np.array([3])).round(2).tolist()
    [[0.79, 0.21]]
    """
    from scipy.optimize import minimize

    known = np.flatnonzero(values >= 0)
    number = int(values.max(initial=-1)) + 1
    if not number or not len(rows):
        return np.zeros((len(rows), number))
    merged = Merged.of([*(conditions[known, place] for place in range(conditions.shape[1])), values[known]])
    width, encode = _encoder(conditions)
    problem = _Dual(
        encode(np.stack(merged.cells[:-1], axis=1)), merged.cells[-1], merged.weights.astype(float), (width, number), check
    )
    start = np.zeros(width * number)
    # Without any condition the weights are the logarithms of the shares: a start that is right for most of the mass.
    counts = np.bincount(values[known], minlength=number)
    start[-number:] = np.log(np.maximum(counts, 0.5) / counts.sum())
    found = minimize(
        problem.value, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS, "ftol": 1e-12, "gtol": _CLOSE}
    )
    shares = _softmax(encode(conditions[rows]) @ found.x.reshape(width, number))
    shares[:, counts == 0] = 0.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), np.float64)


def _encoder(conditions: Codes) -> tuple[int, Callable[[Codes], Any]]:
    """How many features there are (one for each cell that occurs, and one that all have), and rows of codes as a sparse matrix of them."""
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(int(conditions[:, place].max(initial=-1)) + 1 for place in range(conditions.shape[1]))])
    width = int(starts[-1]) + 1

    def encode(cells: Codes) -> Any:
        shown = cells >= 0
        features = np.where(shown, cells + starts[:-1], width - 1)
        columns = np.append(features, np.full((len(cells), 1), width - 1), axis=1)
        weights = np.append(shown, np.ones((len(cells), 1), np.bool_), axis=1).astype(float)
        offsets = np.arange(len(cells) + 1) * columns.shape[1]
        return csr_array((weights.reshape(-1), columns.reshape(-1), offsets), shape=(len(cells), width))

    return width, encode


class _Dual:
    """The penalised log-likelihood, with its sign turned, and its slope."""

    def __init__(self, features: Any, values: Codes, weights: Shares, shape: tuple[int, int], check: Callable[[], None]) -> None:
        self.features, self.back, self.weights, self.shape, self.check = features, features.T.tocsr(), weights, shape, check
        self.shown = np.zeros((len(values), shape[1]))
        self.shown[np.arange(len(values)), values] = weights

    def value(self, flat: Shares) -> tuple[float, Shares]:
        """The value at some weights, and the slope."""
        self.check()
        weights = flat.reshape(self.shape)
        score = self.features @ weights
        score -= score.max(axis=1, keepdims=True)
        total = np.exp(score).sum(axis=1, keepdims=True)
        likelihood = float((self.shown * (score - np.log(total))).sum())
        slope = self.back @ (np.exp(score) / total * self.weights[:, None] - self.shown)
        # What all records have is not penalised: shares of values are as the table shows them.
        slope[:-1] += PENALTY * weights[:-1]
        return PENALTY / 2 * float((weights[:-1] ** 2).sum()) - likelihood, slope.reshape(-1)


def _softmax(score: Shares) -> Shares:
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), np.float64)
