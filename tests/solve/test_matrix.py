"""Sparse matrices against those of SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, hstack, vstack

from tacit.solve import solver as module
from tacit.solve.solver import Matrix, stack_columns, stack_rows

VALUES = st.sampled_from([1.0, -1.0, 0.0, 0.5, -0.25, 3.0])


@st.composite
def pairs(draw: st.DrawFn, height: int | None = None, width: int | None = None) -> tuple[Matrix, csr_array]:
    """The same matrix twice: entries in any order, some of the same place, some 0."""
    shape = (
        draw(st.integers(0, 6)) if height is None else height,
        draw(st.integers(1, 6)) if width is None else width,
    )
    places = st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1), VALUES)
    entries = draw(st.lists(places, max_size=25)) if shape[0] and shape[1] else []
    rows, columns, values = (list(part) for part in zip(*entries, strict=True)) if entries else ([], [], [])
    theirs = csr_array((np.array(values, float), (np.array(rows, int), np.array(columns, int))), shape=shape)
    return Matrix.of_entries(rows, columns, values, shape), theirs


def assert_same(ours: Matrix, theirs: csr_array) -> None:
    """Every entry is in the same place of the arrays, by rows and by columns."""
    by_row = csr_array(theirs)
    by_row.sum_duplicates()
    by_column = csc_array(by_row)
    assert ours.shape == by_row.shape
    for one, other in (
        (ours.starts, by_row.indptr),
        (ours.places, by_row.indices),
        (ours.values, by_row.data),
        (ours.columns.starts, by_column.indptr),
        (ours.columns.rows, by_column.indices),
        (ours.columns.values, by_column.data),
        (ours.toarray(), by_row.toarray()),
        (ours.columns.toarray(), by_row.toarray()),
    ):
        np.testing.assert_array_equal(one, other)
    assert ours.columns.starts.dtype == ours.columns.rows.dtype == np.int32


@given(pairs())
def test_entries_of_the_same_place_are_added_up_and_zeros_stay(both: tuple[Matrix, csr_array]) -> None:
    ours, theirs = both
    assert_same(ours, theirs)


@given(pairs(), st.data())
def test_products_and_sums_are_the_same_to_the_last_bit(both: tuple[Matrix, csr_array], data: st.DataObject) -> None:
    ours, theirs = both
    numbers = st.one_of(st.integers(-9, 9), st.floats(-1e6, 1e6))
    right = np.array(data.draw(st.lists(numbers, min_size=ours.shape[1], max_size=ours.shape[1])), float)
    left = np.array(data.draw(st.lists(numbers, min_size=ours.shape[0], max_size=ours.shape[0])), float)
    np.testing.assert_array_equal(ours @ right, theirs @ right)
    np.testing.assert_array_equal(left @ ours, left @ theirs)
    people = right.astype(int)
    np.testing.assert_array_equal(ours @ people, theirs @ people)
    whole = replace(ours, values=np.rint(ours.values))
    np.testing.assert_array_equal(whole @ people, whole @ people.astype(float))
    np.testing.assert_array_equal(ours.sum_columns(), theirs.sum(axis=0))
    assert_same(
        ours.scale_rows(left),
        csr_array((ours.values * np.repeat(left, np.diff(ours.starts)), ours.places, ours.starts), shape=ours.shape),
    )
    assert (ours @ right).dtype == (left @ ours).dtype == ours.sum_columns().dtype == np.float64


@given(pairs(), st.data())
def test_rows_are_chosen_by_number_and_by_flag(both: tuple[Matrix, csr_array], data: st.DataObject) -> None:
    ours, theirs = both
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=ours.shape[0], max_size=ours.shape[0])), bool)
    assert_same(ours[flags], theirs[flags])
    assert_same(-ours[~flags], -theirs[~flags])
    if ours.shape[0]:
        numbers = np.array(data.draw(st.lists(st.integers(0, ours.shape[0] - 1), max_size=8)), int)
        assert_same(ours[numbers], theirs[numbers])


@given(st.integers(0, 5), st.integers(1, 5), st.data())
def test_matrices_are_stacked(height: int, width: int, data: st.DataObject) -> None:
    ours, theirs = data.draw(pairs(height, width))
    below, their_below = data.draw(pairs(None, width))
    right, their_right = data.draw(pairs(height, None))
    assert_same(stack_rows((ours, below, ours)), vstack((theirs, their_below, theirs), format="csr"))
    assert_same(stack_columns(ours, right), hstack((theirs, their_right), format="csr"))
    assert_same(stack_columns(ours, Matrix.empty((height, 3))), hstack((theirs, csr_array((height, 3))), format="csr"))
    slack = np.arange(height, dtype=float) - 1
    diagonal = csr_array((slack, np.arange(height), np.arange(height + 1)), shape=(height, height))
    assert_same(Matrix.diagonal(slack), diagonal)


@pytest.mark.parametrize("below", [5, 2**16, 2**16 + 1, 2**31, 2**40])
def test_numbers_are_sorted_digit_by_digit(below: int) -> None:
    numbers = np.random.default_rng(below).integers(below, size=500)
    numbers[::7] = below - 1
    np.testing.assert_array_equal(module._order_of(numbers, below), np.argsort(numbers, kind="stable"))
