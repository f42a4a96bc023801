"""The sweep over thresholds of rules: every cell says what mining and auditing it says."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.errors import OptionError
from tacit.reports.sweep import report_rule_sweep
from tests import shell
from tests.rules.made_people import people

POLICY = tacit.Policy(k=3, max_posterior=0.8)


@pytest.fixture(scope="module")
def data() -> tacit.Table:
    return people(2, values=3)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("incomplete", [False, True])
def test_cells_are_audits(data: tacit.Table, strict: bool, incomplete: bool) -> None:
    how: dict[str, Any] = {"strict": strict, "incomplete": incomplete}
    swept = tacit.sweep_rules(
        data, min_support=[6, "20%"], min_confidence="0.4,0.6", digits=[1], withhold_values=True, policy=POLICY, **how
    )
    forms: dict[str, dict[str, Any]] = {"exact": {}, "1 digit": {"digits": 1}, "withheld": {"withhold_values": True}}
    assert len(swept.cells) == 12
    for cell in swept.cells:
        support: object = "20%" if cell.min_support > 7 else 6
        rules = tacit.mine_rules(
            data,
            min_support=support,
            min_confidence=cell.min_confidence,
            **forms[cell.form.label],
            **how,
        )
        assert (cell.rules, cell.min_support) == (len(rules), rules.min_support)
        audit = tacit.audit(rules, data=data, policy=POLICY, attacks=["R01", "R02"])
        assert cell.groups == audit.attack("R01").findings
        assert cell.max_posterior == pytest.approx(audit.measures["max_posterior"], abs=1e-7)
        assert cell.divergence == pytest.approx(audit.measures["D_overall"], abs=1e-7)
        assert cell.missing == audit.measures.get("missing_rules_kept")
        assert (cell.verdict == "exposed") == any(run.findings for run in audit.runs)
        assert cell.certain is None
        assert cell.verdict != "clean"


def test_certain_values_are_looked_for_where_asked(data: tacit.Table) -> None:
    swept = tacit.sweep_rules(
        data, min_support=10, min_confidence=0.5, withhold_values=True, policy=tacit.Policy(k=1), certain=True
    )
    for cell in swept.cells:
        rules = tacit.mine_rules(data, min_support=10, min_confidence=0.5, withhold_values=cell.form.withheld)
        audit = tacit.audit(rules, data=data, policy=tacit.Policy(k=1))
        assert (cell.certain, cell.verdict) == (audit.measures["people_certain"], audit.verdict)
    best = swept.richest
    clean = [cell for cell in swept.cells if cell.verdict == "clean"]
    assert best == (min(clean, key=lambda cell: cell.entropy or 0) if clean else None)


def test_text_csv_and_picture_show_every_cell(data: tacit.Table) -> None:
    swept = tacit.sweep_rules(data, min_support=[6, 12], min_confidence=[0.4, 0.6], withhold_values=True, policy=POLICY)
    text = report_rule_sweep(swept).text()
    assert text.count("withheld") == 4
    assert "Largest list that is clean\n  - none of these\n" in text
    rows = list(csv.DictReader(report_rule_sweep(swept).csv().splitlines()))
    assert [int(row["rules"]) for row in rows] == [cell.rules for cell in swept.cells]
    picture = ET.fromstring(report_rule_sweep(swept).picture.standalone())
    assert len([mark for mark in picture.iter() if mark.tag.endswith("polyline")]) == 4
    json.dumps(swept.to_dict())


def test_a_sweep_out_of_time_says_so(data: tacit.Table) -> None:
    swept = tacit.sweep_rules(data, min_support=[6, 12], min_confidence=0.5, time_limit=1e-6)
    assert not swept.finished
    assert all(cell.verdict == "incomplete" for cell in swept.cells)
    assert "NOT FINISHED" in report_rule_sweep(swept).text()


@pytest.mark.parametrize(
    ("how", "where"),
    [
        ({"min_support": []}, "--min-support"),
        ({"min_confidence": ""}, "--min-confidence"),
        ({"min_confidence": 2}, "--min-confidence"),
        ({"digits": 99}, "--decimals"),
        ({"digits": "many"}, "--decimals"),
        ({"min_support": -1}, "--min-support"),
    ],
)
def test_grids_that_make_no_sense_are_refused(data: tacit.Table, how: dict[str, object], where: str) -> None:
    with pytest.raises(OptionError, match=where):
        tacit.sweep_rules(data, **({"min_support": 5, "min_confidence": 0.5} | how))  # type: ignore[arg-type]


def test_a_table_is_needed() -> None:
    with pytest.raises(OptionError, match="table"):
        tacit.sweep_rules([["a"]], min_support=1, min_confidence=0.5)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shell.people(tmp_path)
    shell.leaking_baskets(tmp_path)
    how = ("sweep", "rules", "people.csv", "--qi", "sex,age", "--sa", "ill", "--min-support", "5,10", "--min-confidence", "60%")
    made = shell.record(*how, "--withhold-values", "--csv", "g.csv", "--picture", "g.svg")
    assert (made["format"], made["of"], len(made["cells"])) == ("tacit.sweep/1", "rules", 4)
    ET.parse("g.svg")
    assert len(Path("g.csv").read_text().splitlines()) == 5
    assert "Rules about 60 people" in shell.tacit(*how).stdout
    assert shell.tacit("sweep", "rules", "people.csv", "--qi", "sex", "--sa", "ill").exit_code == 2
    assert shell.tacit("sweep", "rules", "baskets.dat", "--min-support", "5", "--min-confidence", "1").exit_code == 2
    assert shell.tacit("sweep", "rules", "nowhere.csv", "--min-support", "5", "--min-confidence", "1").exit_code == 2
