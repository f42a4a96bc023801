"""The ordered distance of t-closeness: against optimal transport, and where it is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit.buckets.utility import plain_figures
from tacit.model.buckets import Buckets
from tacit.model.ordered import Order


def transported(first: list[float], second: list[float]) -> float:
    """The cheapest way to turn one distribution into the other, moves over i to j costing |i - j| / (m - 1)."""
    m = len(first)
    cost = [abs(i - j) / (m - 1) for i in range(m) for j in range(m)]
    leaves = [[float(i == a) for i in range(m) for _ in range(m)] for a in range(m)]
    arrives = [[float(j == b) for _ in range(m) for j in range(m)] for b in range(m)]
    found: Any = linprog(cost, A_eq=leaves + arrives, b_eq=first + second)
    return float(found.fun)


@given(st.data())
def test_distances_are_those_of_optimal_transport(data: st.DataObject) -> None:
    m = data.draw(st.integers(2, 6))
    weights = st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any)
    first, second = (np.array(data.draw(weights), float) for _ in range(2))
    first /= first.sum()
    second /= second.sum()
    names = [f"value {place}" for place in range(m)]
    shuffled = data.draw(st.permutations(range(m)))
    order = Order.of([names[place] for place in shuffled], names)
    assert order is not None
    found = order.distances(first[None, list(shuffled)], second[list(shuffled)])
    assert found[0] == pytest.approx(transported(first.tolist(), second.tolist()), abs=1e-9)


def test_a_value_that_nobody_has_widens_the_order() -> None:
    order = Order.of(["low", "high"], ["low", "middle", "high"])
    assert order is not None
    assert order.distances(np.array([[1.0, 0.0]]), np.array([0.5, 0.5])) == pytest.approx([0.5])
    assert transported([1, 0, 0], [0.5, 0, 0.5]) == pytest.approx(0.5)


@pytest.mark.parametrize("values", [["1", "2", "?"], ["1", "1.0"], ["low", "high"], ["1", "nan"], []])
def test_values_that_are_not_different_numbers_have_no_order(values: list[str]) -> None:
    assert Order.of(values) is None


@pytest.mark.parametrize("named", [["low"], ["low", "high", "low"]])
def test_an_order_names_every_value_once(named: list[str]) -> None:
    with pytest.raises(tacit.OptionError, match="does not name every sensitive value once"):
        Order.of(["low", "high"], named)


SALARIES = [["3", "4", "5"], ["6", "8", "11"], ["7", "9", "10"]]  # the example of Li, Li, Venkatasubramanian 2007, section 4


def people_of(values: list[list[str]]) -> tacit.Table:
    rows = {"zip": [f"group {place}" for place, group in enumerate(values) for _ in group]}
    return tacit.read_table(rows | {"salary": [value for group in values for value in group]}, qi="zip", sa="salary")


def test_the_example_of_the_paper() -> None:
    people = people_of(SALARIES)
    found = plain_figures(people)
    # {3, 4, 5} is .375 from all nine salaries, {6, 8, 11} .167; with equal distances both are 2/3.
    assert found["t_closeness_ordered"] == pytest.approx(0.375)
    assert found["t_closeness"] == pytest.approx(2 / 3)


def test_rules_buckets_and_their_utility_report_it() -> None:
    people = people_of([["low", "low", "middle"], ["middle", "high", "high"], ["low", "middle", "high"]])
    order = "low,middle,high"
    groups = np.repeat(np.arange(3, dtype=np.int32), 3)
    buckets = Buckets.of(people.qi, people.sa, groups)
    rules = tacit.mine_rules(people, min_support=1, min_confidence=0.1)
    # 2/3 low and 1/3 middle against thirds: 1/3 and 1/3 of all have to cross the two gaps, each of length 1/2.
    for audit in (
        tacit.audit(buckets, sa_order=order),
        tacit.audit(buckets, data=people, sa_order=order),
        tacit.audit(rules, known=people.qi, sa_order=order.split(",")),
        tacit.audit([rules, tacit.tabulate(people, by="salary")], known=people.qi, sa_order=order),
    ):
        assert audit.measures["t_closeness_ordered"] == pytest.approx(1 / 3)
        assert audit.options["sa_order"] == ["low", "middle", "high"]
    assert tacit.audit(rules, known=people.qi, sa_order=order).measures["t_closeness_ordered_mean"] == pytest.approx(2 / 9)
    assert "t_closeness_ordered" not in tacit.audit(rules, known=people.qi).measures
    assert tacit.utility(buckets, data=people, dim=1, sa_order=order).measures["t_closeness_ordered"] == pytest.approx(1 / 3)


def test_a_record_with_an_order_is_confirmed_by_a_new_audit() -> None:
    people = people_of([["low", "low", "middle"], ["middle", "high", "high"]])
    rules = tacit.mine_rules(people, min_support=1, min_confidence=0.1)
    found = tacit.audit(rules, known=people.qi, sa_order="low,middle,high")
    assert tacit.verify(found.to_dict(), rules, known=people.qi, again=True).ok


def test_an_order_needs_estimates_or_groups() -> None:
    people = people_of(SALARIES)
    with pytest.raises(tacit.OptionError, match="applies where sensitive values are estimated or grouped"):
        tacit.audit(tacit.mine_rules(people, min_support=1, min_confidence=0.1), sa_order="3,4")
