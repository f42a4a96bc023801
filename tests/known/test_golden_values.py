"""R02 on the paper's examples, strict and not strict, with values and without, and on people made by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.table import Schema, Table

CASES = tomllib.loads((Path(__file__).parent / "R02.toml").read_text(encoding="utf-8"))["case"]
READINGS = [
    pytest.param(case, strict, publish, id=f"{number}-{'strict' if strict else 'not-strict'}-{publish}")
    for number, case in enumerate(CASES)
    for strict in case["strict"]
    for publish in case["publish"]
]


def people_of(case: dict[str, Any]) -> Table:
    rows = []
    for word in case["people"].split():
        times, star, values = word.rpartition("*")
        rows += [values.split(",")] * (int(times) if star else 1)
    names = ["education", "gender", "salary"]
    return Table.from_rows(names, rows, Schema(qi=("education", "gender"), sa=("salary",)))


@pytest.mark.parametrize(("case", "strict", "publish"), READINGS)
def test_estimates_are_those_of_the_case(case: dict[str, Any], strict: bool, publish: str) -> None:
    people = people_of(case)
    rules = tacit.mine_rules(
        people,
        min_support=int(case["min_support"]) if case["min_support"].isdecimal() else case["min_support"],
        min_confidence=case["min_confidence"],
        strict=strict,
        withhold_values=publish == "withheld",
        incomplete=case.get("incomplete", False),
    )
    assert len(rules) == case["rules"]["strict" if strict else "not_strict"]
    policy = tacit.Policy(max_posterior=case["max_posterior"])
    audit = tacit.audit(rules, known=people.qi, attacks=["R02"], policy=policy, withheld=case.get("withheld", "at-threshold"))
    table = audit.table("posterior")
    lines = zip(table["education"], table["gender"], table["salary"], table["posterior"], strict=True)
    found = {f"{education} {gender}": share for education, gender, salary, share in lines if salary == "50K+"}
    assert found == pytest.approx(case["posterior"], abs=1e-6)
    exposed = set()
    for finding in audit.findings:
        event = finding.event.to_dict()
        exposed.add(f"{event['education'][0]} {event['gender'][0]}: {event['salary'][0]}")
    assert exposed == set(case["channels"])
    assert audit.attack("R02").findings == len(exposed)
