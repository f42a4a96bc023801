"""T01 and T02 on the paper's table and on tables made by hand."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.checker import check_audit
from tacit.files.partial import read_partial
from tacit.model.partial import PartialTable

FOLDER = Path(__file__).parent
RULES, BLANKS = (tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))["case"] for code in ("T01", "T02"))


def table_of(records: list[str]) -> PartialTable:
    rows = [record.split() for record in records]
    names = [*(f"A{place}" for place in range(1, len(rows[0]))), "S"]
    return read_partial(dict(zip(names, zip(*rows, strict=True), strict=True)), qi=names[:-1], sa="S", blank="_")


def audit_of(case: dict[str, Any], code: str) -> tuple[PartialTable, tacit.Audit]:
    table = table_of(case["records"])
    policy = tacit.Policy(min_confidence=float(case["confidence"]), min_support=case["support"])
    before = table_of(case["before"]) if "before" in case else None
    return table, tacit.audit(table, rows=case.get("rows"), data=before, policy=policy, attacks=[code])


def pattern_of(event: dict[str, list[str]]) -> str:
    return " ".join(event[name][0] for name in sorted(event) if name.startswith("A"))


@pytest.mark.parametrize("case", RULES, ids=lambda case: case["where"][:40])
def test_unsafe_rules_are_those_of_the_case(case: dict[str, Any]) -> None:
    table, audit = audit_of(case, "T01")
    found = []
    for finding in audit.findings:
        event = finding.event.to_dict()
        rows = ",".join(str(one.place - 2) for one in finding.because if isinstance(one.place, int))
        counts = [one.count.lo for one in finding.because if isinstance(one.place, str)] or [finding.count.lo] * 2
        found.append(f"{pattern_of(event)} => {event['S'][0]} ({counts[1]}/{counts[0]}) {rows}")
        assert finding.count.to_list() == [len(rows.split(","))] * 2
    assert sorted(found) == sorted(case["channels"])
    assert audit.asked_verdict == ("exposed" if found else "clean")
    told = {row for text in found for row in text.split()[-1].split(",")}
    assert audit.attack("T01").people == audit.measures["records_told"] == len(told)
    record = json.loads(json.dumps(audit.to_dict(top=99)))
    outcome = check_audit(record, [table])
    assert (outcome.held, outcome.problems) == (len(found), ())


@pytest.mark.parametrize("case", BLANKS, ids=lambda case: case["where"][:40])
def test_readings_of_blanks_are_those_of_the_case(case: dict[str, Any]) -> None:
    _, audit = audit_of(case, "T02")
    for name in ("known_only_confidence", "null_share_confidence", "wildcard_confidence"):
        wanted = case["measures"].get(name)
        assert audit.measures[name] == (None if wanted is None else pytest.approx(float(Fraction(wanted)))), name
    found = []
    for reading, pattern, value, finding in zip(
        *(audit.table("T02")[name] for name in ("reading", "pattern", "value")), audit.findings, strict=True
    ):
        event = finding.event.to_dict()
        assert event["reading"] == [reading]
        assert pattern == ", ".join(f"{name}={event[name][0]}" for name in sorted(event) if name.startswith("A"))
        rows = next(text for step in finding.steps for mark, text in [step.rstrip(".").partition("row")[1:]] if mark)
        numbers = rows.removeprefix("s").replace(" and ", ", ").replace(" ", "")
        found.append(f"{reading} {pattern_of(event)} => {value} {numbers}")
    assert sorted(found) == sorted(case["channels"])
    assert audit.asked_verdict == ("exposed" if found else "clean")
