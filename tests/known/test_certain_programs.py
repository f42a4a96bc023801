"""Hard bounds on sensitive values of more people than can be enumerated: against one integer program for each end, and when time is short."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import tacit
from tacit.joint import certain_values
from tacit.known import proofs
from tacit.known.case import RuleCase
from tacit.known.proofs import Prover
from tacit.model.audit import Target
from tacit.model.people import Population
from tacit.model.policy import Limits, Policy
from tacit.model.release import Rules
from tacit.model.table import Table
from tacit.solve import bounds
from tests.known.naive_estimates import matches, statements

NAMES = ["one", "two", "three"]
Ends = dict[tuple[tuple[str, ...], str], tuple[int, int]]


def made(seed: int, n: int, n_values: int) -> Table:
    """People whose sensitive value depends on the rest, more or less."""
    chance = np.random.default_rng(seed)
    columns: dict[str, list[str]] = {name: [str(code) for code in chance.integers(0, 2 + i, n)] for i, name in enumerate(NAMES)}
    lean = [(int(one) + int(three)) % n_values for one, three in zip(columns["one"], columns["three"], strict=True)]
    values = [code if chance.random() < 0.8 else int(chance.integers(n_values)) for code in lean]
    return tacit.read_table(columns | {"ill": [f"v{code}" for code in values]}, qi=NAMES, sa="ill")


def people_of(table: Table) -> list[tuple[str, ...]]:
    columns = [table.column(name) for name in NAMES]
    return list(zip(*([column.values[code] for code in column.codes.tolist()] for column in columns), strict=True))


def by_programs(rules: Rules, people: list[tuple[str, ...]]) -> Ends:
    """The fewest and the most people of each combination with each value: every combination an unknown, every end a program."""
    sizes, values = Counter(people), rules.header.sa_values
    known = sorted(sizes)
    unknowns = [(q, v) for q in known for v in range(len(values))]
    said = statements(rules, NAMES, people)
    rows = np.array([[one.value == v and matches(one.pattern, q) for q, v in unknowns] for one in said], float)
    each = np.array([[q == other for other, _ in unknowns] for q in known], float)
    limits = [LinearConstraint(each, [sizes[q] for q in known], [sizes[q] for q in known])]
    if len(said):
        limits.append(LinearConstraint(rows, [one.lo for one in said], [one.hi for one in said]))
    found: Ends = {}
    for place, (q, v) in enumerate(unknowns):
        goal = np.zeros(len(unknowns))
        ends = []
        for sign in (1, -1):
            goal[place] = sign
            answer: Any = milp(goal, constraints=limits, bounds=Bounds(0, np.inf), integrality=np.ones(len(unknowns), int))
            ends.append(round(sign * answer.fun))
        found[q, values[v]] = (ends[0], ends[1])
    return found


def by_audit(rules: Rules, table: Table) -> Ends:
    found = tacit.audit(rules, known=table.qi, attacks=["R03"])
    lines = found.table("posterior")
    columns = [lines[name].tolist() for name in (*NAMES, "ill", "people", "lower", "upper")]
    assert found.attack("R03").undecided == 0
    assert found.measures["bounds_open"] == 0
    return {((a, b, c), ill): (round(n * low), round(n * high)) for a, b, c, ill, n, low, high in zip(*columns, strict=True)}


@settings(max_examples=5, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(12, 45),
    n_values=st.integers(2, 4),
    least=st.integers(2, 8),
    confidence=st.sampled_from(["0.3", "0.5", "0.6", "0.8"]),
    how=st.sampled_from(["exact", "withheld", "rounded"]),
)
def test_bounds_are_those_of_integer_programs(seed: int, n: int, n_values: int, least: int, confidence: str, how: str) -> None:
    table = made(seed, n, n_values)
    rules = tacit.mine_rules(
        table,
        min_support=least,
        min_confidence=confidence,
        withhold_values=how == "withheld",
        digits=2 if how == "rounded" else None,
    )
    assert by_audit(rules, table) == by_programs(rules, people_of(table))


@pytest.mark.parametrize("seed", range(8))
def test_bounds_of_large_programs_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds then come from exchanges, from corners or integer programs before them, and proofs from points in the middle."""
    table = made(seed, 40, 2 + seed % 3)
    rules = tacit.mine_rules(table, min_support=3, min_confidence="0.6", withhold_values=seed % 2 == 1)
    known = by_programs(rules, people_of(table))
    monkeypatch.setattr(bounds, "SMALL", 0)
    assert by_audit(rules, table) == known
    for name, number in (("LARGE", 0), ("MENDING", 0)):
        with monkeypatch.context() as changed:
            changed.setattr(bounds, name, number)
            assert by_audit(rules, table) == known, name


@pytest.mark.parametrize("seed", range(6))
def test_claims_of_large_programs_are_proved_in_turn(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(seed, 60, 2 + seed % 3)
    rules = tacit.mine_rules(table, min_support=2, min_confidence="0.5", withhold_values=seed % 2 == 1)
    alone = tacit.audit(rules, known=table.qi, attacks=["R03"])

    def refuse(*_: object) -> None:
        raise AssertionError("no claim is proved by a program of its own")

    monkeypatch.setattr(proofs, "LARGE", 0)
    monkeypatch.setattr(proofs, "IN_TURN", 3)
    monkeypatch.setattr(Prover, "_by_own_statements", lambda *_: None)
    monkeypatch.setattr(Prover, "_by_program", refuse)
    found = tacit.audit(rules, known=table.qi, attacks=["R03"])
    assert [one.event for one in found.findings] == [one.event for one in alone.findings] != []
    assert all(one.certificate is not None for one in found.findings)
    assert not tacit.verify(found.to_dict(top=100), rules, known=table.qi).problems


def run_of(table: Table, limits: Limits) -> tuple[Any, RuleCase]:
    rules = tacit.mine_rules(table, min_support=4, min_confidence="0.6")
    case = RuleCase(rules, Population.of(table.qi))
    return certain_values.run(Target(rules, Policy(), limits, case=case)), case


def test_bounds_hold_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(7, 60, 3)
    full, case = run_of(table, Limits())
    assert (full.status, full.undecided, full.reason) == ("ran", 0, "")
    late, _ = run_of(table, Limits(deadline=time.monotonic() - 1))
    assert late.status == "stopped"
    assert late.undecided > 0
    assert "time limit" in late.reason
    monkeypatch.setattr(proofs, "USUAL_WORK", 0)
    lazy, _ = run_of(table, Limits())
    assert lazy.status == "stopped"
    assert "--time-limit" in lazy.reason
    for cut in (late, lazy):
        assert (cut.details["lower"] <= full.details["lower"]).all()
        assert (cut.details["upper"] >= full.details["upper"]).all()
    truth = Counter(zip(people_of(table), (table.sa.values[code] for code in table.sa.codes.tolist()), strict=True))
    for q in range(len(case.population)):
        for v, value in enumerate(case.values):
            share = truth[tuple(case.population.describe(q).values()), value] / case.population.people[q]
            assert full.details["lower"][q, v] - 1e-12 <= share <= full.details["upper"][q, v] + 1e-12


def test_the_same_input_gives_the_same_bytes() -> None:
    table = made(3, 50, 3)
    rules = tacit.mine_rules(table, min_support=3, min_confidence="0.5")
    records = [tacit.audit(rules, known=table.qi, attacks=["R03"]).to_dict(top=100) for _ in range(2)]
    assert records[0] == records[1]
