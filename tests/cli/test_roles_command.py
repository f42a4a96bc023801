"""Roles of columns given beside a release: which column is sensitive, and what everybody of a group then tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tacit as library
from tests.shell import people, record, tacit

FULL = "village,hiv,count\nA,yes,50\nA,no,0\nB,yes,20\nB,no,300\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with a full cell in the current folder."""
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    Path("v.csv").write_text(FULL)


def statements(audit: dict[str, Any]) -> list[str]:
    return [finding["statement"] for finding in audit["findings"]]


def run_of(audit: dict[str, Any], code: str) -> dict[str, Any]:
    return next(run for run in audit["attacks"] if run["code"] == code)


def is_verified(audit: dict[str, Any], *files: str) -> bool:
    Path("audit.json").write_text(json.dumps(audit))
    return tacit("verify", "audit.json", *files).exit_code == 0


def test_a_full_cell_names_the_value_of_whoever_belongs_to_its_group() -> None:
    audit = record("audit", "v.csv", "--qi", "village", "--sa", "hiv", code=1)
    assert audit["release"][0]["kind"] == "frequencies"
    assert statements(audit) == ["Everyone with village=A has hiv=yes (50 people)."]
    assert run_of(audit, "R03")["people"] == 50
    assert is_verified(audit, "v.csv")
    for change in (("count", [49, 50]), ("steps", ["Somebody has hiv."]), ("statement", "Everyone with village=A is ill.")):
        forged = json.loads(json.dumps(audit))
        forged["findings"][0][change[0]] = change[1]
        assert not is_verified(forged, "v.csv")


def test_without_roles_the_question_was_not_looked_at() -> None:
    audit = record("audit", "v.csv", code=3)
    assert audit["verdict"] == "incomplete"
    told = run_of(audit, "R03")
    assert (told["status"], told["reason"]) == ("unavailable", "name the sensitive column with --sa, or say --sa none")
    assert record("audit", "v.csv", "--sa", "none", code=0)["verdict"] == "clean"


def test_headers_carry_roles() -> None:
    Path("v.csv.json").write_text('{"format": "tacit.frequencies/1", "qi": ["village"], "sa": "hiv"}')
    assert record("audit", "v.csv", code=1)["release"][0]["sa"] == ["hiv"]
    Path("v.csv.json").write_text('{"format": "tacit.frequencies/1", "sa": []}')
    assert record("audit", "v.csv", code=0)["release"][0]["sa"] == []
    Path("v.csv.json").write_text('{"format": "tacit.frequencies/1", "sa": ["hiv"], "sa_values": ["no"]}')
    assert "sa_values" in tacit("audit", "v.csv").stderr


def test_tabulate_writes_the_roles_that_it_is_given() -> None:
    assert tacit("tabulate", "people.csv", "--by", "sex,ill", "--qi", "sex", "--sa", "ill", "-o", "t.csv").exit_code == 0
    header = json.loads(Path("t.csv.json").read_text())
    assert (header["qi"], header["sa"], header["sa_values"]) == (["sex"], ["ill"], ["no", "yes"])
    audit = record("audit", "t.csv", code=1)
    assert "Everyone with sex=M has ill=yes (30 people)." in statements(audit)
    assert is_verified(audit, "t.csv")
    assert tacit("tabulate", "people.csv", "--by", "sex,age", "--sa", "ill", "-o", "u.csv").exit_code == 0
    assert json.loads(Path("u.csv.json").read_text())["sa"] == []
    assert tacit("tabulate", "people.csv", "--by", "sex,age", "-o", "w.csv").exit_code == 0
    assert json.loads(Path("w.csv.json").read_text())["sa"] is None


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("audit", "v.csv", "--sa", "hv"), "--sa: there is no column 'hv'"),
        (("audit", "v.csv", "--sa", "hiv", "--qi", "vilage"), "--qi: there is no column 'vilage'"),
        (("audit", "v.csv", "--sa", "hiv", "--qi", "hiv"), "also given as --qi"),
        (("audit", "v.csv", "--sa", "hiv,none"), "says that there are none"),
        (("tabulate", "people.csv", "--by", "sex,ill", "--sa", "il"), "--sa: there is no column 'il'"),
    ],
)
def test_roles_that_cannot_be_are_refused(arguments: tuple[str, ...], what: str) -> None:
    told = tacit(*arguments)
    assert told.exit_code == 2
    assert what in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


def test_a_hidden_cell_that_a_total_gives_away_tells_the_value() -> None:
    Path("h.csv").write_text("village,hiv,count\nA,yes,50\nA,no,\nA,All,50\nB,yes,20\nB,no,300\n")
    audit = record("audit", "h.csv", "--sa", "hiv", code=1)
    assert "Everyone with village=A has hiv=yes (50 people)." in statements(audit)
    assert is_verified(audit, "h.csv")


def test_two_tables_tell_together_what_neither_tells_alone() -> None:
    Path("yes.csv").write_text("village,hiv,count\nA,yes,50\nB,yes,20\n")
    Path("yes.csv.json").write_text('{"format": "tacit.frequencies/1", "complete": false, "sa": ["hiv"]}')
    Path("all.csv").write_text("village,count\nA,50\nB,320\n")
    Path("all.csv.json").write_text('{"format": "tacit.frequencies/1", "sa": []}')
    assert [tacit("audit", one, "-q").stdout.strip() for one in ("yes.csv", "all.csv")] == ["clean", "clean"]
    audit = record("audit", "yes.csv", "all.csv", "--people", "same", code=1)
    assert statements(audit) == ["Everyone with village=A has hiv=yes (50 people)."]
    assert is_verified(audit, "yes.csv", "all.csv")
    # Where nothing is declared about their people, each table is still looked at by itself.
    audit = record("audit", "all.csv", "v.csv", "--people", "unknown", "--sa", "hiv", code=1)
    assert "Everyone with village=A has hiv=yes (50 people)." in statements(audit)
    assert is_verified(audit, "all.csv", "v.csv")


def test_fewer_than_l_values_are_a_finding() -> None:
    Path("three.csv").write_text("v,h,count\nA,a,50\nA,b,20\nA,c,0\nB,a,20\nB,b,50\nB,c,70\n")
    audit = record("audit", "three.csv", "--sa", "h", "--l", "3", code=1)
    assert statements(audit) == ["Everyone with v=A has h=a or b (70 people)."]
    assert is_verified(audit, "three.csv")
    assert record("audit", "three.csv", "--sa", "h", code=0)["verdict"] == "clean"


def test_roles_in_python() -> None:
    assert library.audit("v.csv", qi="village", sa="hiv").verdict == "exposed"
    assert library.audit("v.csv").verdict == "incomplete"
    assert library.audit({"village": ["A", "B"], "count": [50, 60]}, sa="none").verdict == "clean"
    table = library.read_release("v.csv", sa="hiv")
    assert library.audit(table).findings[0].count.lo == 50
    assert library.audit(library.read_release("v.csv"), sa="hiv").verdict == "exposed"


def test_a_table_of_people_stays_one() -> None:
    Path("blank.csv").write_text("sex,ill\n" + "F,flu\n" * 12 + "F,\n" + "M,none\n" * 12)
    assert record("audit", "blank.csv", "--qi", "sex", "--sa", "ill", code=1)["release"][0]["kind"] == "table"


def test_itemsets_that_name_a_sensitive_value_are_read_as_rules_are() -> None:
    groups = [("F", "cook", "flu", 300), ("F", "clerk", "flu", 150), ("F", "clerk", "cold", 150), ("M", "cook", "flu", 200)]
    groups += [("M", "cook", "cold", 200), ("M", "clerk", "flu", 100), ("M", "clerk", "cold", 200)]
    Path("p.csv").write_text("sex,job,ill\n" + "".join(f"{sex},{job},{ill}\n" * number for sex, job, ill, number in groups))
    Path("known.csv").write_text("sex,job\n" + "".join(f"{sex},{job}\n" * number for sex, job, _, number in groups))
    assert (
        tacit("mine", "itemsets", "p.csv", "--qi", "sex,job", "--sa", "ill", "--min-support", "5%", "-o", "i.csv").exit_code == 0
    )
    assert json.loads(Path("i.csv.json").read_text())["sa_values"] == ["cold", "flu"]
    alone = record("audit", "i.csv", code=1)
    assert statements(alone) == ["Everyone with job=cook and sex=F has ill=flu (300 people)."]
    assert is_verified(alone, "i.csv")
    for people_given in (("--data", "p.csv"), ("--known", "known.csv")):
        audit = record("audit", "i.csv", *people_given, code=1)
        assert run_of(audit, "R02")["status"] == run_of(audit, "R03")["status"] == "ran"
        assert statements(audit) == ["The 300 people with sex=F, job=cook certainly have ill flu."]
        assert is_verified(audit, "i.csv")
    assert tacit("tabulate", "p.csv", "--by", "job,ill", "--sa", "ill", "-o", "t.csv").exit_code == 0
    joint = record("audit", "t.csv", "i.csv", "--people", "same", code=1)
    assert statements(joint) == ["Everyone with job=cook and sex=F has ill=flu (300 people)."]
    assert is_verified(joint, "t.csv", "i.csv")
    joint = record("audit", "t.csv", "i.csv", "--people", "same", "--known", "known.csv", code=1)
    assert run_of(joint, "R03")["people"] == 300
    assert is_verified(joint, "t.csv", "i.csv")


def test_a_blank_that_another_release_gives_away_is_told() -> None:
    shown = (
        "clerk,old,none\n" * 40
        + "clerk,young,cold\n" * 30
        + "cook,old,none\n" * 20
        + "cook,old,cold\n" * 20
        + "clerk,old,cold\n" * 10
    )
    Path("t.csv").write_text("job,age,ill\n" + shown + "clerk,old,\n")
    Path("t.csv.json").write_text('{"format": "tacit.table/1", "qi": ["job", "age"], "sa": "ill"}')
    Path("m.csv").write_text("ill,count\ncold,60\nnone,61\n")
    audit = record("audit", "t.csv", "m.csv", "--people", "same", "--sa", "ill", code=1)
    assert "The hidden ill of 1 person with age=old and job=clerk is none (t.csv)." in statements(audit)
    assert is_verified(audit, "t.csv", "m.csv")
    next(one for one in audit["findings"] if one["code"] == "R03")["certificate"]["blanks"]["rows"] = 2
    assert not is_verified(audit, "t.csv", "m.csv")
