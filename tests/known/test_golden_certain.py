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
    sensitive = ("salary", "ill")[: len(rows[0]) - 2]
    return Table.from_rows(["education", "gender", *sensitive], rows, Schema(qi=("education", "gender"), sa=sensitive))


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
    value = "value" if len(people.schema.sa) > 1 else "salary"
    lines = list(zip(*(table[name] for name in ("education", "gender", value, "people", "lower", "upper")), strict=True))
    for wanted, bounds in (("50K+", case["bounds"]), ("flu", case.get("flu", {}))):
        assert {f"{e} {g}": [round(low * n), round(high * n)] for e, g, v, n, low, high in lines if v == wanted} == bounds
    events = [finding.event.to_dict() for finding in audit.findings]
    channels = {f"{one['education'][0]} {one['gender'][0]}: {(one.get('salary') or one['ill'])[0]}" for one in events}
    assert channels == set(case["channels"])
    assert audit.asked_verdict == ("exposed" if events else "clean")
    certain = [measures["qi_certain"] for measures in audit.by_column.values()] or [audit.measures["qi_certain"]]
    assert sum(certain) == len(events)
    assert audit.measures["qi_certain"] == max(certain)
