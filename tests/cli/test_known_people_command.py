"""Several releases about known people on the command line: audit, verify, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.known.test_golden_known_people import write_rule
from tests.shell import record, tacit

QIT = "name,sex,age,group\nAnn,f,young,1\nBea,f,old,1\nCarl,m,young,1\nDan,m,old,1\n"
ST = "group,ill,count\n1,flu,2\n1,ovarian,1\n1,prostate,1\n"
NEGATIVE = 'antecedent,excluded\n"{""sex"": ""m""}",ovarian\n"{""sex"": ""f""}",prostate\n'
FACT = 'event,value,at_least\n"{""name"": ""Ann""}",flu,1\n'
FOUR = ("Ann flu", "Bea ovarian", "Carl flu", "Dan prostate")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bucketized release, a rule, negative rules and a fact about the same four people."""
    (tmp_path / "buckets").mkdir()
    (tmp_path / "buckets" / "qit.csv").write_text(QIT)
    (tmp_path / "buckets" / "st.csv").write_text(ST)
    (tmp_path / "negative.csv").write_text(NEGATIVE)
    (tmp_path / "fact.csv").write_text(FACT)
    write_rule(tmp_path)
    return tmp_path


def certain(found: dict[str, object], code: str) -> set[str]:
    listed = found["findings"]
    assert isinstance(listed, list)
    return {f"{one['event']['name'][0]} {' '.join(one['event']['ill'])}" for one in listed if one["code"] == code}


def test_a_bucket_a_rule_and_negative_rules_tell_everybodys_value(folder: Path) -> None:
    releases = (folder / "buckets", folder / "rules.csv")
    known = ("--knowledge", folder / "negative.csv")
    how = (*known, "--people", "same", "--l", "2", "--k", "1", "--top", "50")
    found = record("audit", *releases, *how, code=1)
    assert certain(found, "R03") == certain(found, "X01") == set(FOUR)
    assert found["adversary"]["people"] == "same"
    assert found["measures"]["people_certain"] == 4
    for one in found["findings"]:
        assert {citation["release"] for citation in one["because"]} == {0, 1}
    (folder / "audit.json").write_text(json.dumps(found))
    assert "8 of 8 proved findings" in tacit("verify", folder / "audit.json", *releases, *known).stdout
    assert tacit("verify", folder / "audit.json", *releases).exit_code == 0
    (folder / "negative.csv").write_text(NEGATIVE.replace("prostate", "flu"))
    assert tacit("verify", folder / "audit.json", *releases, *known).exit_code == 1
    told = tacit("audit", *releases, "--people", "same", "--l", "2", "--k", "1")
    assert "the sensitive value of 2 people is certain" in told.stdout, "the young have both flus whatever else is known"


def test_a_fact_about_one_person_tells_another_ones_value(folder: Path) -> None:
    how = ("--knowledge", folder / "negative.csv", "--knowledge", folder / "fact.csv", "--l", "2")
    found = record("audit", folder / "buckets", *how, code=1)
    assert certain(found, "R03") == {"Ann flu", "Bea ovarian"}


def test_somebody_is_explained_by_all_releases(folder: Path) -> None:
    how = ("--who", "name=Bea", "--knowledge", folder / "negative.csv", "--people", "same")
    found = record("explain", folder / "buckets", folder / "rules.csv", *how)
    assert found["values"][0] | {"posterior": 1.0, "lower": 1.0} == found["values"][0]
    assert found["values"][0]["value"] == "ovarian"
    assert any("rules.csv, line 2" in step for step in found["proof"])


def test_external_records_name_nobody(folder: Path) -> None:
    how = ("--knowledge", folder / "negative.csv", "--people", "same", "--report-kind", "external", "--json", "-")
    told = tacit("audit", folder / "buckets", folder / "rules.csv", *how).stdout
    assert not [word for word in ("Ann", "Carl", "ovarian", "young") if word in told]
