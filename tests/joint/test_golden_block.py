"""Seven people from counts, means and medians: the block of Garfinkel, Abowd and Martindale 2019, as published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from tests.joint.made_block import PEOPLE, write_block

COLUMNS = ("sex", "race", "marital", "age")


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The file of the block and the record of its audit."""
    path = write_block(tmp_path_factory.mktemp("block"))
    return path, tacit.audit(tacit.read_release(path)).to_dict(top=30)


def test_everything_about_all_seven_people_is_proved(audited: tuple[Path, dict[str, Any]]) -> None:
    record = audited[1]
    assert record["verdict"] == "exposed"
    whole = [finding for finding in record["findings"] if len(finding["event"]["present"]) == len(COLUMNS)]
    told = {tuple(finding["event"]["present"]) for finding in whole}
    assert told == {tuple(sorted(f"{c}={v}" for c, v in zip(COLUMNS, person, strict=True))) for person in PEOPLE}
    assert all(finding["count"] == [1, 1] for finding in whole)


def test_another_program_chooses_the_same_people(audited: tuple[Path, dict[str, Any]]) -> None:
    path, record = audited
    checked = tacit.verify(record, [tacit.read_release(path)])
    assert checked.ok
    assert checked.held == len(record["findings"]) > len(PEOPLE)


#: Three people of 0 to 4 years: their ages are 4 together with 2 in the middle, so they are 0, 2 and 2.
FAMILY = """sex,age,count,mean_age,median_age
*,*,3,1.3333,2
M,*,1,,
F,0-1,1,,
F,*,2,1,
"""


def family(folder: Path, text: str = FAMILY) -> Path:
    """The file of three people."""
    path = folder / "family.csv"
    path.write_text(text)
    (folder / "family.csv.json").write_text(json.dumps({"format": "tacit.frequencies/1", "n": 3, "span": [0, 4], "digits": 4}))
    return path


def told(path: Path) -> set[tuple[tuple[str, ...], int, int]]:
    """What is found, with its bounds."""
    findings = tacit.audit(tacit.read_release(path)).findings
    return {(tuple(one.event.to_dict()["present"]), one.count.lo, one.count.hi) for one in findings}


def test_one_choice_is_told_person_by_person(tmp_path: Path) -> None:
    people = {(("age=0", "sex=F"), 1, 1), (("age=2", "sex=F"), 1, 1), (("age=2", "sex=M"), 1, 1)}
    assert told(family(tmp_path)) == people | {(("age=2",), 2, 2), (("sex=F",), 2, 2)}


def test_what_several_choices_have_in_common_is_told(tmp_path: Path) -> None:
    text = "sex,age,count,median_age\n*,*,3,2\nM,*,1,\nF,0-1,1,\nF,*,2,\n"
    assert told(family(tmp_path, text)) == {(("sex=M",), 1, 1), (("sex=F",), 2, 2), (("age=2",), 1, 2)}


def test_a_changed_finding_is_rejected(tmp_path: Path) -> None:
    release = tacit.read_release(family(tmp_path))
    record = tacit.audit(release).to_dict(top=30)
    assert tacit.verify(record, [release]).ok
    first = record["findings"][0]
    proof = first["certificate"]
    other = {"present": ["age=1", "sex=F"], "absent": []}
    for change in (
        {"event": other, "certificate": proof | {"claim": proof["claim"] | {"event": other}}},
        {"count": [1, 2], "certificate": proof | {"claim": proof["claim"] | {"at_most": 2}}},
        {"certificate": proof | {"worlds": {"fit": 2}}},
        {"because": first["because"][1:]},
    ):
        assert not tacit.verify(record | {"findings": [first | change, *record["findings"][1:]]}, [release]).ok


def test_with_many_people_what_was_not_used_is_said(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("sex,age,count,mean_age,median_age\n*,*,300,2,2\nM,*,150,2,2\nF,<2,60,,\nF,0-3,70,,\n")
    (tmp_path / "many.csv.json").write_text(json.dumps({"format": "tacit.frequencies/1", "n": 300, "span": [0, 4], "digits": 4}))
    audit = tacit.audit(tacit.read_release(path))
    assert audit.verdict == "incomplete"
    assert "means and medians are used only for tables" in audit.attack("X01").reason
