"""Sparse matrices of linear programs, in numpy alone.

Importing a library of sparse matrices takes longer than auditing a small list, and programs need little of it: rows are chosen, stacked and
multiplied by vectors, and the solver gets columns. Sums are added up in the order of the entries, one after the other, and entries that are 0
stay: the solver chooses between equally good solutions by the order of what it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Flags, Floats, Ints

_DIGIT = 2**16  #: Numbers below this are sorted digit by digit, in linear time.


@dataclass(frozen=True, eq=False)
class Columns:
    """Sparse matrix by columns, for the solver.

    Column c has ``values[starts[c]:starts[c + 1]]`` in the same places of ``rows``, ascending. HiGHS takes places of 32 bits.
    """

    starts: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    values: Floats
    shape: tuple[int, int]

    def toarray(self) -> Floats:
        """Return the matrix with all its zeros."""
        out = np.zeros(self.shape)
        out[self.rows, np.repeat(np.arange(self.shape[1]), np.diff(self.starts))] = self.values
        return out


@dataclass(frozen=True, eq=False)
class Matrix:
    """Sparse matrix by rows.

    Row r has ``values[starts[r]:starts[r + 1]]``; ``places`` are the columns of these, each once in a row.
    """

    starts: Ints
    places: Ints
    values: Floats
    shape: tuple[int, int]

    __array_ufunc__ = None  #: A vector on the left leaves the product to the matrix.

    @classmethod
    def of_entries(cls, rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> Matrix:
        """Return the matrix with these entries; those of one place are added up."""
        row = np.asarray(rows, np.int64)
        column = np.asarray(columns, np.int64)
        value: Floats = np.asarray(values, np.float64)
        place = row * shape[1] + column
        if (place[1:] <= place[:-1]).any():
            order = np.argsort(place, kind="stable")
            place = place[order]
            is_first = np.append(True, place[1:] != place[:-1])
            value = np.bincount(np.cumsum(is_first) - 1, value[order]).astype(np.float64, copy=False)
            row = row[order[is_first]]
            column = column[order[is_first]]
        return cls(_starts(np.bincount(row, minlength=shape[0])), column, value, shape)

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> Matrix:
        """Return a matrix without entries."""
        return cls(np.zeros(shape[0] + 1, np.int64), np.empty(0, np.int64), np.empty(0), shape)

    @classmethod
    def diagonal(cls, values: Floats) -> Matrix:
        """Return the square matrix with these values on its diagonal."""
        size = len(values)
        return cls(np.arange(size + 1), np.arange(size), values, (size, size))

    @cached_property
    def _row(self) -> Ints:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    @cached_property
    def columns(self) -> Columns:
        """The same matrix by columns."""
        order = _order_of(self.places, self.shape[1])
        starts = _starts(np.bincount(self.places, minlength=self.shape[1]))
        return Columns(starts.astype(np.int32), self._row.astype(np.int32)[order], self.values[order], self.shape)

    @cached_property
    def _is_whole(self) -> bool:
        return bool((self.values == np.rint(self.values)).all())

    def __matmul__(self, vector: npt.NDArray[Any]) -> Floats:
        products = self.values * vector.astype(np.float64, copy=False).take(self.places)
        if vector.dtype.kind != "i" or not self._is_whole or not len(products):
            return np.bincount(self._row, products, self.shape[0]).astype(np.float64, copy=False)
        # Sums of whole numbers are the same in any order, and this one is the quickest.
        filled = np.flatnonzero(np.diff(self.starts))
        out = np.zeros(self.shape[0])
        out[filled] = np.add.reduceat(products, self.starts[filled])
        return out

    def __rmatmul__(self, vector: npt.NDArray[Any]) -> Floats:
        return np.bincount(self.places, self.values * vector[self._row], self.shape[1]).astype(np.float64, copy=False)

    def __neg__(self) -> Matrix:
        return replace(self, values=-self.values)

    def __getitem__(self, rows: Ints | Flags) -> Matrix:
        numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        sizes = np.diff(self.starts)[numbers]
        starts = _starts(sizes)
        at = np.arange(starts[-1]) + np.repeat(self.starts[numbers] - starts[:-1], sizes)
        return Matrix(starts, self.places[at], self.values[at], (len(numbers), self.shape[1]))

    def scale_rows(self, factors: Floats) -> Matrix:
        """Return the matrix with every row times its factor."""
        return replace(self, values=self.values * factors[self._row])

    def sum_columns(self) -> Floats:
        """Return the sum of each column."""
        return np.bincount(self.places, self.values, self.shape[1]).astype(np.float64, copy=False)

    def toarray(self) -> Floats:
        """Return the matrix with all its zeros."""
        return self.columns.toarray()


def stack_rows(matrices: Sequence[Matrix]) -> Matrix:
    """Return matrices of the same width one below the other."""
    if len(matrices) == 1:
        return matrices[0]
    return Matrix(
        _starts(np.concatenate([np.diff(one.starts) for one in matrices])),
        np.concatenate([one.places for one in matrices]),
        np.concatenate([one.values for one in matrices]),
        (sum(one.shape[0] for one in matrices), matrices[0].shape[1]),
    )


def stack_columns(left: Matrix, right: Matrix) -> Matrix:
    """Return two matrices of the same height side by side."""
    row = np.concatenate((left._row, right._row))
    order = _order_of(row, left.shape[0])
    places = np.concatenate((left.places, right.places + left.shape[1]))
    values = np.concatenate((left.values, right.values))
    return Matrix(left.starts + right.starts, places[order], values[order], (left.shape[0], left.shape[1] + right.shape[1]))


def _starts(sizes: Ints) -> Ints:
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def _order_of(numbers: Ints, below: int) -> Ints:
    if below <= _DIGIT:
        return np.argsort(numbers.astype(np.uint16), kind="stable")
    order = _order_of(numbers % _DIGIT, _DIGIT)
    return order[_order_of(numbers[order] // _DIGIT, (below - 1) // _DIGIT + 1)]
