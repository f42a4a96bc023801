"""Withheld lines spread above their thresholds: against a general solver, and what the spread may change."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.known.case import RuleCase, estimate
from tacit.model.people import Population
from tacit.model.release import Rules
from tacit.model.table import Schema, Table
from tacit.solve.entropy import largest_miss
from tacit.solve.spread import Positions
from tacit.solve.statements import Problem
from tests.examples import examples


@st.composite
def withheld(draw: st.DrawFn) -> tuple[Table, Rules]:
    row = st.tuples(st.sampled_from("abc"), st.sampled_from("ab"), st.sampled_from("xxxyz"[: draw(st.integers(4, 5))]))
    rows = draw(st.lists(row, min_size=6, max_size=40))
    people = Table.from_rows(["p", "q", "s"], rows, Schema(qi=("p", "q"), sa=("s",)))
    return people, tacit.mine_rules(
        people,
        min_support=draw(st.integers(1, 4)),
        min_confidence=draw(st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)])),
        withhold_values=True,
        incomplete=draw(st.booleans()),
    )


class Naive:
    """The statements of a problem as they stand, for a general solver; positions straight from their definition."""

    def __init__(self, problem: Problem, lines: Any) -> None:
        n_classes, n_values = problem.closed.shape
        self.share = cp.Variable((n_classes, n_values), nonneg=True)
        self.weights = problem.people / problem.n
        self.rules = [cp.sum(self.share, axis=1) == 1]
        self.rules += [self.share[c, v] == 0 for c, v in np.argwhere(problem.closed == 1)]
        positions = []
        for j in range(len(problem.values)):
            inside = [c for c in range(n_classes) if j in problem.rows[problem.starts[c] : problem.starts[c + 1]]]
            people = sum(int(problem.people[c]) * self.share[c, int(problem.values[j])] for c in inside)
            lo, hi, whole = int(problem.lo[j]), int(problem.hi[j]), int(problem.whole[j])
            self.rules += [people >= lo, people <= hi]
            if lines.isdisjoint(problem.origins[j]):
                continue
            if 0 < lo < whole == hi:
                positions.append((people - lo) / (whole - lo))
            if 0 == lo < hi < whole:
                positions.append((hi - people) / hi)
        self.n_positions = len(positions)
        self.mean = sum(positions) / max(1, len(positions))

    def best(self, aim: Any, *more: Any) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return float(cp.Problem(cp.Maximize(aim), [*self.rules, *more]).solve(solver=cp.CLARABEL))

    @property
    def entropy(self) -> Any:
        return cp.sum(cp.multiply(self.weights[:, None], cp.entr(self.share)))


@settings(max_examples=examples(25), deadline=None)
@given(withheld())
def test_the_spread_is_that_of_a_general_solver(made: tuple[Table, Rules]) -> None:
    people, rules = made
    case = RuleCase(rules, Population.of(people.qi), withheld="spread")
    found = estimate(case, case.missing)
    assert found.solution.converged
    naive = Naive(found.problem, case.withheld_lines())
    if not naive.n_positions:
        return
    naive.best(naive.entropy)
    now = float(naive.mean.value)
    most = naive.best(naive.mean)
    wanted = max(now, min(1 / len(people.sa.values), (now + most) / 2))
    entropy = naive.best(naive.entropy, naive.mean >= wanted - 1e-9)
    positions = Positions.of(found.problem, case.withheld_lines())
    assert len(positions.rows) == naive.n_positions
    assert positions.mean(found.solution.share) == pytest.approx(wanted, abs=1e-4)
    assert positions.largest() == pytest.approx(most, abs=1e-5)
    assert found.solution.entropy == pytest.approx(entropy, abs=1e-4)
    assert largest_miss(found.problem, found.solution.share) < 1e-9


def group(size: int, having: int) -> Table:
    rows = [["F", "yes"]] * having + [["F", "no"]] * (size - having) + [["M", "no"]] * size
    return Table.from_rows(["sex", "ill"], rows, Schema(qi=("sex",), sa=("ill",)))


@pytest.mark.parametrize("value", ["yes", "no"])
def test_one_withheld_rule_is_expected_half_way_to_1(value: str) -> None:
    other = {"yes": "no", "no": "yes"}[value]
    people = Table.from_rows(["sex", "ill"], [["F", value]] * 9 + [["F", other]], Schema(qi=("sex",), sa=("ill",)))
    rules = tacit.mine_rules(people, min_support=1, min_confidence=0.8, withhold_values=True, incomplete=True)
    expected = {"at-threshold": 0.8, "spread": 0.9}
    for how, probability in expected.items():
        audit = tacit.audit(rules, known=people.qi, attacks=["R02"], withheld=how)  # type: ignore[arg-type]
        table = audit.table("posterior")
        assert table["posterior"][table["ill"] == value] == pytest.approx([probability], abs=1e-8)


def test_nothing_that_is_printed_or_proved_changes() -> None:
    people = group(20, 17)
    exact = tacit.mine_rules(people, min_support=2, min_confidence=0.5)
    silent = tacit.mine_rules(people, min_support=2, min_confidence=0.5, withhold_values=True)
    plain, spread = (tacit.audit(exact, known=people.qi, withheld=how) for how in ("at-threshold", "spread"))
    assert (plain.table("posterior")["posterior"] == spread.table("posterior")["posterior"]).all()
    plain, spread = (tacit.audit(silent, known=people.qi, withheld=how) for how in ("at-threshold", "spread"))
    for bound in ("lower", "upper"):
        assert (plain.table("posterior")[bound] == spread.table("posterior")[bound]).all()
    assert plain.measures["posterior_entropy"] > spread.measures["posterior_entropy"]


def test_the_record_names_the_attacker() -> None:
    people = group(20, 17)
    rules = tacit.mine_rules(people, min_support=2, min_confidence=0.5, withhold_values=True)
    spread = tacit.audit(rules, known=people.qi, withheld="spread")
    assert spread.adversary["withheld"] == "spread"
    assert "expects confidences to spread" in spread.attack("R02").reason
    assert "withheld" not in tacit.audit(rules, known=people.qi).adversary
    assert tacit.verify(spread.to_dict(), rules, known=people.qi, again=True).ok
    told = tacit.posterior_of(rules, who="sex=F", known=people.qi, withheld="spread").to_dict()
    assert told["withheld"] == "spread"
    assert max(one["posterior"] for one in told["values"]) == pytest.approx(max(spread.table("posterior")["posterior"]), abs=1e-6)


def test_several_releases_spread_as_one_does() -> None:
    people = group(20, 17)
    rules = tacit.mine_rules(people, min_support=2, min_confidence=0.5, withhold_values=True)
    alone = tacit.audit(rules, known=people.qi, attacks=["R02"], withheld="spread")
    both = tacit.audit([rules, rules], known=people.qi, attacks=["R02"], withheld="spread", people=tacit.Same())
    assert both.posterior is not None
    assert alone.posterior is not None
    assert both.posterior.share == pytest.approx(alone.posterior.share, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"withheld": "spred"}, "there is no expectation"),
        ({"withheld": "spread"}, "needs everybody's quasi-identifiers"),
    ],
)
def test_an_expectation_needs_its_name_and_known_people(options: dict[str, Any], message: str) -> None:
    people = group(20, 17)
    rules = tacit.mine_rules(people, min_support=2, min_confidence=0.5, withhold_values=True)
    with pytest.raises(tacit.OptionError, match=message):
        tacit.audit(rules, **options)


def test_itemsets_have_no_withheld_rules() -> None:
    people = group(20, 17)
    itemsets = tacit.mine_itemsets(people, min_support=2)
    with pytest.raises(tacit.OptionError, match="applies to rules"):
        tacit.audit(itemsets, data=people, withheld="spread")
