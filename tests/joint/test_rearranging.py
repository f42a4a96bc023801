"""Smaller programs by which people are arranged anew have the solutions of the larger ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.joint.rearranging import one_row_each
from tacit.solve.solver import Matrix

#: People in a cell, at most, of the worlds that are looked at.
MOST = 2


def worlds_of(matrix: np.ndarray, low: np.ndarray, high: np.ndarray) -> set[tuple[int, ...]]:
    every = np.array(list(product(range(MOST + 1), repeat=matrix.shape[1])))
    counts = every @ matrix.T
    fits = ((counts >= low - 1e-9) & (counts <= high + 1e-9)).all(axis=1)
    return {tuple(world) for world in every[fits].tolist()}


def drawn(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows over five cells, some about the same cells, some that end at 0, some with cells that are taken off."""
    matrix = random.integers(-1, 3, (3, 5)) * random.integers(0, 2, (3, 5))
    matrix = np.concatenate((matrix, random.integers(0, 2, (2, 5)))).astype(float)
    matrix = np.concatenate((matrix, matrix[random.integers(5, size=2)] / random.choice([1, 2, 4], (2, 1))))
    low = np.where(random.random(7) < 0.4, -np.inf, random.integers(-1, 2, 7))
    return matrix, low, np.where(random.random(7) < 0.3, np.inf, np.maximum(low, random.integers(0, 4, 7)))


@pytest.mark.parametrize("seed", range(300))
def test_no_world_is_lost_and_none_is_added(seed: int) -> None:
    matrix, low, high = drawn(np.random.default_rng(seed))
    true = worlds_of(matrix, low, high)
    cell, row = np.nonzero(matrix.T)
    rows, least, most = one_row_each(Matrix.of_entries(cell, row, matrix[row, cell], (5, 7)), low, high)
    assert rows.shape[1] <= matrix.shape[0]
    assert worlds_of(rows.toarray().T, least, most) == true
