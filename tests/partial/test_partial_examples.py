"""Examples of single functions and types of ``tacit.partial``."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tacit.model.partial import Thresholds
from tacit.model.words import render_percent
from tacit.partial.cost import blank_cost
from tacit.partial.methods import parse_regions
from tacit.partial.problem import IntegerThresholds, largest_below
from tacit.partial.unsafe_rules import Case, DistinctRows, unsafe_rules
from tacit.partial.what_blanks_say import maximum_entropy, naive_bayes


def test_blank_cost() -> None:
    table = np.array([[0, 0], [0, 0], [0, 1], [1, 1]], np.int32)
    blank = np.array([[0, 0], [0, -1], [0, 1], [1, 1]], np.int32)
    cost = blank_cost(table, blank, 1, confidence=Fraction(3, 5), support=0, seed=0)
    assert (cost["rules"], cost["rules_lost"], cost["rules_changed"]) == (2, 1, 0)


def test_parse_regions() -> None:
    assert sorted(parse_regions("ns, sc")) == ["ns", "sc"]


def test_integer_thresholds() -> None:
    limits = IntegerThresholds.of(Fraction(11, 20), 0, people=9)
    assert limits.unsafe(np.array([3, 2]), np.array([2, 1])).tolist() == [True, False]


def test_integer_thresholds_values_to_hide() -> None:
    assert IntegerThresholds(11, 20, 0).values_to_hide(np.array([7, 6, 2]), np.array([5, 4, 1])).tolist() == [2, 1, 0]


def test_integer_thresholds_records_to_hide() -> None:
    assert IntegerThresholds(11, 20, 0).records_to_hide(np.array([7, 6, 2]), np.array([5, 4, 1])).tolist() == [3, 2, 0]


def test_largest_below() -> None:
    assert (largest_below(Fraction(6000001, 10000000), 10), largest_below(Fraction(5999999, 10000000), 10)) == (
        Fraction(3, 5),
        Fraction(4, 7),
    )


def test_distinct_rows() -> None:
    rows = DistinctRows.of([np.array([0, 1, 0], np.int32), np.array([-1, 2, -1], np.int32)])
    assert (rows.weights.tolist(), rows.group.tolist()) == ([2, 1], [0, 1, 0])


def test_unsafe_rules() -> None:
    case = Case(
        np.array([[0], [0], [0], [1]], np.int32), np.array([0, 0, 0, 1], np.int32), np.array([0]), np.array([0], np.int32)
    )
    found = unsafe_rules(case, Thresholds.of(min_confidence=0.6, min_support=1, n=4))
    assert (found.cells.tolist(), found.whole.tolist(), found.both.tolist(), found.owners.tolist()) == ([[0]], [3], [2], [0])


def test_naive_bayes() -> None:
    cells = np.array([[0], [0], [1], [0]], np.int32)
    values = np.array([0, 0, 1, -1], np.int32)
    assert naive_bayes(cells, values, np.array([3])).round(3).tolist() == [[0.818, 0.182]]


def test_maximum_entropy() -> None:
    cells = np.array([[0], [0], [1], [0]], np.int32)
    values = np.array([0, 0, 1, -1], np.int32)
    assert maximum_entropy(cells, values, np.array([3])).round(2).tolist() == [[0.79, 0.21]]


def test_render_percent() -> None:
    assert (render_percent(4, 6), render_percent(11, 20), render_percent(1, 1)) == ("66.7 %", "55 %", "100 %")
