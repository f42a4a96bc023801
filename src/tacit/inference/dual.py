"""The dual of maximum entropy under statements: one multiplier for each, and the shares and sums that follow from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from tacit.inference.classes import Problem

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Below this many numbers to add, threads cost more than they save.
WORK_FOR_THREADS = 1 << 21


class Dual:
    """The dual problem of a :class:`Problem`, in shares of all people.

    ``fixed`` statements say a number, ``lower`` and ``upper`` ones a bound that is news.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n_values = problem.n_values
        self.weights = problem.people / problem.n
        self.lo, self.hi, self.whole = problem.lo / problem.n, problem.hi / problem.n, problem.whole / problem.n
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
        self._cuts[0], self._cuts[-1] = 0, len(self.weights)

    def _on_threads(self, work: Callable[[int, int], None]) -> None:
        spans = list(zip(self._cuts[:-1], self._cuts[1:], strict=True))
        if len(spans) == 1:
            work(*spans[0])
            return
        with ThreadPoolExecutor(len(spans)) as pool:
            for task in [pool.submit(work, *span) for span in spans]:
                task.result()

    def shares(self, multipliers: Floats) -> tuple[Floats, Floats, float]:
        """The shares of the values in each class, the sums of the statements, and the logarithm of the normaliser."""
        from tacit.kernels.entropy import shares

        p = self.problem
        out = np.empty(len(self.weights) * self.n_values)
        if len(self.weights) == 0:
            return out, np.zeros(self.size), 0.0
        parts: dict[int, tuple[Floats, float]] = {}

        def work(first: int, last: int) -> None:
            sums = np.zeros(self.size)
            total = shares(p.starts, p.rows, p.values, self.weights, self._closed, multipliers, first, last, out, sums)
            parts[first] = sums, total

        self._on_threads(work)
        # Added up in one order, whichever thread was first.
        ordered = [parts[first] for first in sorted(parts)]
        return out, np.sum([sums for sums, _ in ordered], axis=0), sum(total for _, total in ordered)

    def covariance(self, share: Floats) -> Floats:
        """How the sums change with the multipliers; the lower triangle only."""
        from tacit.kernels.entropy import covariance

        p = self.problem
        parts: dict[int, Floats] = {}

        def work(first: int, last: int) -> None:
            matrix = np.zeros(self.size * self.size)
            covariance(p.starts, p.rows, p.values, self.weights, share, self.n_values, first, last, matrix)
            parts[first] = matrix

        self._on_threads(work)
        total, *others = (parts[first] for first in sorted(parts))
        for part in others:
            total += part
        return total.reshape(self.size, self.size)

    def missed(self, sums: Floats) -> Floats:
        """By how much each statement is missed, when these are the sums."""
        return np.maximum(np.maximum(self.lo - sums, sums - self.hi), 0.0)

    def entropy(self, share: Floats) -> float:
        """H(value | quasi-identifiers) in nats."""
        logs = np.log(share, where=share > 0, out=np.zeros_like(share))
        return float(-(np.repeat(self.weights, self.n_values) * share * logs).sum())


def factored(matrix: Floats, added: Floats) -> tuple[Floats, bool]:
    """The Cholesky factors of a symmetric matrix (lower triangle) with something added to its diagonal.

    What is added grows where rounding errors make the matrix indefinite without it.
    """
    from scipy.linalg import LinAlgError, cho_factor

    for more in (0.0, 1e-10, 1e-8, 1e-6, 1e-4):
        system = matrix.copy()
        system[np.diag_indices_from(system)] += added + more * system.diagonal()
        try:
            factor: tuple[Floats, bool] = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return factor
    raise FloatingPointError("the system of a step has no Cholesky factors")


def times(matrix: Floats, vector: Floats) -> Floats:
    """The product of a symmetric matrix (lower triangle) and a vector."""
    from scipy.linalg.blas import dsymv

    # The matrix is stored by rows, so its lower triangle is the upper one of what BLAS sees.
    return np.asarray(dsymv(1.0, matrix.T, vector, lower=0))
