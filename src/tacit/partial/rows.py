"""Distinct rows of codes, where -1 is a blank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Ints

Column = npt.NDArray[np.integer[Any]]


def row_keys(columns: Iterable[Column], rows: int) -> Ints:
    """Return a key per row that sorts lexicographically."""
    key = np.zeros(rows, np.int64)
    largest = 1
    for column in columns:
        width = int(column.max(initial=-1)) + 2
        if largest * width >= 1 << 62:
            # Renumbered, the key lies below rows x values: it never overflows.
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            largest = len(key) + 1
        key = key * width + (column + 1)
        largest *= width
    return key


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """Distinct rows and their multiplicities.

    ``cells[c][i]`` is the code of distinct row i in column c, ``weights[i]`` the number of rows equal to it, ``group`` the distinct row of
    each row.

    >>> rows = DistinctRows.of([np.array([0, 1, 0], np.int32), np.array([-1, 2, -1], np.int32)])
    >>> rows.weights.tolist(), rows.group.tolist()
    ([2, 1], [0, 1, 0])
    """

    cells: tuple[Codes, ...]
    weights: Ints
    group: Ints

    @classmethod
    def of(cls, columns: Sequence[Column]) -> DistinctRows:
        """Find the distinct rows of columns of codes."""
        key = row_keys(columns, len(columns[0]))
        _, first, group, weights = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        cells = tuple(np.ascontiguousarray(column[first], np.int32) for column in columns)
        return cls(cells, weights.astype(np.int64), group.reshape(-1).astype(np.int64))

    def members(self) -> tuple[Ints, Ints]:
        """Return ``(starts, rows)``: the rows of each distinct row."""
        return np.append(0, np.cumsum(self.weights)), np.argsort(self.group, kind="stable").astype(np.int64)
