"""R03 on the paper's examples, with values and without, and on people made by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.table import Schema, Table

CASES = tomllib.loads((Path(__file__).parent / "R03.toml").read_text(encoding="utf-8"))["case"]


def people_of(case: dict[str, Any]) -> Table:
    rows = []
    for word in case["people"].split():
        times, star, values = word.rpartition("*")
        rows += [values.split(",")] * (int(times) if star else 1)
    return Table.from_rows(["education", "gender", "salary"], rows, Schema(qi=("education", "gender"), sa=("salary",)))


@pytest.mark.parametrize(
    ("case", "publish"),
    [pytest.param(case, way, id=f"{number}-{way}") for number, case in enumerate(CASES) for way in case["publish"]],
)
def test_bounds_and_certain_people_are_those_of_the_case(case: dict[str, Any], publish: str) -> None:
    people = people_of(case)
    rules = tacit.mine_rules(
        people,
        min_support=int(case["min_support"]) if case["min_support"].isdecimal() else case["min_support"],
        min_confidence=case["min_confidence"],
        withhold_values=publish == "withheld",
        incomplete=case.get("incomplete", False),
    )
    audit = tacit.audit(rules, known=people.qi, attacks=["R03"])
    table = audit.table("posterior")
    lines = zip(*(table[name] for name in ("education", "gender", "salary", "people", "lower", "upper")), strict=True)
    found = {f"{e} {g}": [round(low * n), round(high * n)] for e, g, salary, n, low, high in lines if salary == "50K+"}
    assert found == case["bounds"]
    events = [finding.event.to_dict() for finding in audit.findings]
    assert {f"{event['education'][0]} {event['gender'][0]}: {event['salary'][0]}" for event in events} == set(case["channels"])
    assert audit.asked_verdict == ("exposed" if events else "clean")
    assert audit.measures["qi_certain"] == len(events)
