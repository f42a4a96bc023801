"""B01 and B02 on the paper's anatomized table and on groups made by hand."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit

FOLDER = Path(__file__).parent
VALID, LIKELY = (tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))["case"] for code in ("B01", "B02"))


def buckets_of(case: dict[str, Any]) -> tacit.Buckets:
    people: dict[str, list[Any]] = {name: [] for name in [*case["columns"], "group"]}
    values: dict[str, list[Any]] = {"group": [], "ill": [], "count": []}
    for number, text in enumerate(case["groups"], start=1):
        left, right = text.split(" | ")
        for person in left.split():
            for name, value in zip(people, [*person.split(","), number], strict=True):
                people[name].append(value)
        for word in right.split():
            value, _, times = word.partition("*")
            for name, cell in zip(values, (number, value, int(times or 1)), strict=True):
                values[name].append(cell)
    return tacit.read_buckets(qit=people, st=values)


def known_of(case: dict[str, Any]) -> list[tuple[dict[str, str], str]]:
    rules = [text.split(" => not ") for text in case["known"]]
    return [(dict([left.split("=")]), right) for left, right in rules]


@pytest.mark.parametrize("case", VALID, ids=lambda case: case["where"][:40])
def test_valid_values_are_those_of_the_case(case: dict[str, Any]) -> None:
    audit = tacit.audit(buckets_of(case), knowledge=known_of(case), policy=tacit.Policy(l=case["l"]), attacks=["B01"])
    found = {}
    for finding in audit.findings:
        event = finding.event.to_dict()
        found[",".join(event[name][0] for name in case["columns"])] = event["ill"]
    assert found == case["channels"]
    assert audit.asked_verdict == ("exposed" if found else "clean")
    assert audit.measures["vulnerable"] == len(found)
    assert audit.measures["pinned"] == sum(len(values) == 1 for values in found.values())
    assert audit.measures["vulnerable_by_exclusion"] == case["by_exclusion"]


@pytest.mark.parametrize("case", LIKELY, ids=lambda case: case["where"][:40])
def test_probabilities_are_those_of_the_case(case: dict[str, Any]) -> None:
    totals = case.get("totals", [])
    knowledge = [*known_of(case), *totals]
    audit = tacit.audit(buckets_of(case), knowledge=knowledge, policy=tacit.Policy(max_posterior=0.5), attacks=["B02"])
    table = audit.table("posterior")
    assert set(table) == {*case["columns"], "ill", "group", "posterior"}
    who = [",".join(cells) for cells in zip(*(table[name] for name in case["columns"]), strict=True)]
    found = {f"{person} {value}": share for person, value, share in zip(who, table["ill"], table["posterior"], strict=True)}
    for name, share in case["posterior"].items():
        assert found[name] == pytest.approx(float(Fraction(share)), abs=1e-5 if totals else 1e-12), name
    over = [finding.event.to_dict() for finding in audit.findings]
    assert {f"{','.join(one[name][0] for name in case['columns'])} {one['ill'][0]}" for one in over} == set(case["channels"])
    assert audit.measures["max_posterior"] == pytest.approx(max(found.values()))
