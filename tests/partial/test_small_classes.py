"""T03 against the papers' tables, its slow twin and the checker."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.files.partial import read_partial
from tests.partial.naive_classes import exposed_classes
from tests.partial.test_golden_tables import table_of

CASES = tomllib.loads((Path(__file__).parent / "T03.toml").read_text(encoding="utf-8"))["case"]
CELLS = st.sampled_from(["", "x", "y"])
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["s", "t"])), min_size=1, max_size=9)


def audit_rows(rows: Sequence[tuple[str, ...]], **options: Any) -> tuple[Any, tacit.Audit]:
    names = [*(f"A{place}" for place in range(1, len(rows[0]))), "S"]
    table = read_partial(dict(zip(names, zip(*rows, strict=True), strict=True)), qi=names[:-1], sa="S")
    return table, tacit.audit(table, attacks=["T03"], **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["where"][:40])
def test_exposed_classes_are_those_of_the_case(case: dict[str, Any]) -> None:
    table = table_of(case["records"])
    audit = tacit.audit(table, k=case["k"], l=case["l"], attacks=["T03"])
    found = []
    for finding in audit.findings:
        event = finding.event.to_dict()
        lo, hi = finding.count.to_list()
        told = next((step for step in finding.steps if "nothing else" in step), "")
        values = told.partition("show S ")[2].partition(" and nothing")[0].replace(" or ", ",")
        people = f"({lo})" if lo == hi else f"({lo}-{hi})"
        found.append(" ".join([*(event[name][0] for name in sorted(event)), people, *([values] if values else [])]))
    assert sorted(found) == sorted(case["channels"])
    assert audit.asked_verdict == ("exposed" if found else "clean")
    outcome = check_audit(json.loads(json.dumps(audit.to_dict(top=99))), [table])
    assert (outcome.held, outcome.problems) == (len(found), ())


@given(ROWS, st.integers(1, 5), st.integers(1, 3))
def test_classes_are_those_of_the_slow_twin(rows: list[tuple[str, ...]], k: int, least: int) -> None:
    table, audit = audit_rows(rows, k=k, l=least)
    found = {}
    for index, finding in enumerate(audit.findings):
        event = finding.event.to_dict()
        cells = tuple(event.get(name, [""])[0] for name in ("A1", "A2"))
        told = [step for step in finding.steps if "nothing else" in step]
        values = tuple(told[0].partition("show S ")[2].partition(" and nothing")[0].split(" or ")) if told else ()
        found[cells] = (*finding.count.to_list(), values)
        assert audit.attack("T03").columns["count_hi"][index] == finding.count.hi
    assert found == exposed_classes(rows, k, least)
    assert not check_audit(json.loads(json.dumps(audit.to_dict(top=99))), [table]).problems


@given(ROWS, st.sampled_from([0.5, 0.6, 0.75, 0.9]))
def test_share_is_the_smallest_that_any_filling_leaves(rows: list[tuple[str, ...]], limit: float) -> None:
    table, audit = audit_rows(rows, k=1, l=1, max_posterior=limit)
    sure = set()
    for cells in {row[:-1] for row in rows}:
        shows = [row for row in rows if all(not cell or cell == other for cell, other in zip(cells, row[:-1], strict=True))]
        may = [
            row
            for row in rows
            if all(not cell or not other or cell == other for cell, other in zip(cells, row[:-1], strict=True))
        ]
        for value in "st":
            part = sum(row[-1] == value for row in shows)
            rest = sum(
                row[-1] != value for row in may
            )  # those who have it and may belong to the class would only add to the share
            if part > limit * (part + rest):
                sure.add(cells)
    found = {tuple(one.event.to_dict().get(name, [""])[0] for name in ("A1", "A2")) for one in audit.findings}
    assert found == sure
    assert not check_audit(json.loads(json.dumps(audit.to_dict(top=99))), [table]).problems


def test_measures_are_those_of_the_definitions() -> None:
    random = Random(3)
    rows = [(random.choice("xyz"), random.choice("uv"), random.choice("sstu")) for _ in range(60)]
    _, audit = audit_rows(rows, k=12)
    classes: dict[tuple[str, ...], list[str]] = {}
    for *cells, value in rows:
        classes.setdefault(tuple(cells), []).append(value)
    whole = [row[-1] for row in rows]
    distance = max(
        sum(abs(values.count(value) / len(values) - whole.count(value) / len(whole)) for value in "stu") / 2
        for values in classes.values()
    )
    assert audit.measures["k_anonymity"] == audit.measures["smallest_combination"] == min(map(len, classes.values()))
    assert audit.measures["l_diversity"] == min(len(set(values)) for values in classes.values())
    assert audit.measures["people_below_k"] == sum(len(values) for values in classes.values() if len(values) < 12)
    assert audit.measures["t_closeness"] == pytest.approx(distance)


def test_blank_sensitive_cells_leave_the_verdict_to_the_others() -> None:
    rows = [("x", "u", "s"), ("x", "u", "t"), ("y", "u", ""), ("y", "v", "s")]
    names = ["A1", "A2", "S"]
    table = read_partial(dict(zip(names, zip(*rows, strict=True), strict=True)), qi=names[:-1], sa="S")
    audit = tacit.audit(table)
    assert audit.attack("T03").status == "not-relevant"
    assert [one.to_dict() for one in audit.cautions if one.code == "T03"] == [
        {
            "code": "T03",
            "text": "2 of 4 people are alone with their quasi-identifiers (T03), which the verdict does not judge",
            "number": 2,
            "of": 4,
        }
    ]
    assert tacit.audit(table, attacks=["T03"]).attack("T03").findings == 3


def test_columns_without_a_role_are_a_caution() -> None:
    columns = {"sex": ["F", "F", "M", "M"], "town": ["a", "b", "a", "a"], "ill": ["s", "t", "s", "t"]}
    audit = tacit.audit(read_partial(columns, qi="sex", sa="ill"), k=2)
    assert audit.verdict == "clean"
    assert [(one.about, one.number, one.of) for one in audit.cautions] == [("alone by all columns", 2, 4)]
