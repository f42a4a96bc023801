"""``tacit audit``, ``explain`` and ``verify`` of a table with blank cells, as a user runs them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.partial.naive_tables import FIG2
from tests.shell import program, record, tacit

ROLES = ("--qi", "A1,A2,A3", "--sa", "A4")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lines = ["A1,A2,A3,A4", *(",".join(row) for row in FIG2)]
    (tmp_path / "original.csv").write_text("\n".join(lines) + "\n")
    hidden = [line if number not in (1, 3, 5, 8) else line.rpartition(",")[0] + ",*" for number, line in enumerate(lines)]
    (tmp_path / "published.csv").write_text("\n".join(hidden) + "\n")
    (tmp_path / "rows.txt").write_text("0\n4\n")
    return tmp_path


def test_the_original_with_rows_named(place: Path) -> None:
    found = record("audit", place / "original.csv", *ROLES, "--rows", place / "rows.txt", "--min-confidence", ".55", code=1)
    attacks = {one["code"]: one for one in found["attacks"]}
    assert (attacks["T01"]["claim"], attacks["T01"]["findings"], attacks["T01"]["people"]) == ("proves", 9, 2)
    assert found["policy"]["min_confidence"] == 0.55
    assert found["findings"][0]["statement"].startswith("5 of the 7 records with A2=b show A4 s (71.4 %)")
    clean = record("audit", place / "original.csv", *ROLES, "--rows", place / "rows.txt", "--min-confidence", "1")
    assert clean["verdict"] == "clean"
    few = ("--min-confidence", "55%", "--min-support", "5", "--attack", "T01")
    assert (
        record("audit", place / "original.csv", *ROLES, "--rows", place / "rows.txt", *few, code=3)["attacks"][8]["findings"] == 0
    )


def test_what_is_published_beside_its_original(place: Path) -> None:
    how = (*ROLES, "--blank", "*", "--rows", place / "rows.txt", "--data", place / "original.csv", "--min-confidence", "0.55")
    found = record("audit", place / "published.csv", *how, code=1)
    attacks = {one["code"]: one for one in found["attacks"]}
    assert (attacks["T01"]["findings"], attacks["T02"]["people"]) == (0, 2)
    assert found["measures"]["null_share_confidence"] == found["measures"]["known_only_confidence"] == 1
    assert found["measures"]["cells_hidden"] == 2
    told = tacit("audit", place / "published.csv", *how).output
    assert "3 of 3 other blanks in A4 hide s (100 %)" in told
    assert "--may-hide sc --method uniform" in " ".join(told.split())


def test_what_is_published_by_itself(place: Path) -> None:
    found = record("audit", place / "published.csv", *ROLES, "--blank", "*", "--min-confidence", ".45", code=1)
    assert found["adversary"] == {"knows_n": True, "rows_named": None, "true_values_given": False}
    assert found["measures"]["records_at_risk"] == 4
    assert found["release"][0]["blank_cells"] == {"A4": 4}
    without = record("audit", place / "published.csv", *ROLES, code=1)
    assert {one["code"] for one in without["findings"]} == {"T03"}  # a star is a value like any other unless it is declared


def test_findings_are_explained_and_verified(place: Path) -> None:
    how = (*ROLES, "--rows", place / "rows.txt", "--min-confidence", ".55")
    tacit("audit", place / "original.csv", *how, "--json", place / "audit.json", "--report", place / "r.html")
    assert tacit("verify", place / "audit.json", place / "original.csv").exit_code == 0
    findings = json.loads((place / "audit.json").read_text())["findings"]
    told = tacit("explain", place / "original.csv", *how, "--finding", findings[1]["id"])
    assert told.exit_code == 0
    assert findings[1]["steps"][0] in told.output
    (place / "original.csv").write_text((place / "original.csv").read_text().replace("x7,b", "x7,c"))
    assert tacit("verify", place / "audit.json", place / "original.csv").exit_code == 1
    page = (place / "r.html").read_text()
    assert "the hidden value of 2 people can be inferred by rules" in page.casefold()
    assert "Largest confidence" in page


def test_what_rules_tell_about_somebody(place: Path) -> None:
    how = (*ROLES, "--rows", place / "rows.txt", "--min-confidence", ".55")
    told = tacit("explain", place / "original.csv", *how, "--who", "A1=a,A3=d")
    assert told.exit_code == 0
    assert told.output.startswith("2 records fit, and 5 rules reveal a sensitive cell among them.")
    found = record("explain", place / "original.csv", *how, "--who", "A3=c", "--top", "9")
    assert len(found["findings"]) == 7
    assert all(any(cited.get("line") == 2 for cited in one["because"]) for one in found["findings"])
    none = tacit("explain", place / "original.csv", *how, "--who", "A1=x7").output
    assert none == "1 record fits, and no rule reveals a sensitive cell among them.\n"
    for who in ("A9=a", "A1=nobody", "A1"):
        assert tacit("explain", place / "original.csv", *how, "--who", who).exit_code == 2


def test_an_external_report_names_nothing(place: Path) -> None:
    how = (*ROLES, "--rows", place / "rows.txt", "--min-confidence", ".55", "--report-kind", "external")
    text = tacit("audit", place / "original.csv", *how, "--report", place / "r.html").output
    found = json.dumps(record("audit", place / "original.csv", *how, code=1))
    for told in (text, (place / "r.html").read_text(), found):
        for secret in ("A1", "A4", "original.csv"):
            assert secret not in told


def test_marks_name_cells_instead_of_rows(place: Path) -> None:
    (place / "marks.csv").write_text("row,column,mark\n0,A4,-\n4,A4,-\n1,A1,+\n")
    how = (*ROLES, "--min-confidence", ".55", "--attack", "T01")
    found = record("audit", place / "original.csv", *how, "--marks", place / "marks.csv", code=1)
    named = record("audit", place / "original.csv", *how, "--rows", place / "rows.txt", code=1)
    assert [entry["role"] for entry in named.pop("inputs")] == ["rows"]
    assert found.pop("inputs") == []
    assert found.pop("binding") != named.pop("binding")
    assert found == named
    assert tacit("explain", place / "original.csv", *how[:-2], "--marks", place / "marks.csv").exit_code == 0
    for text, what in (
        ("row,column,mark\n1,A1,+\n", "no cell as sensitive"),
        ("row,column,mark\n0,A1,-\n", "not a sensitive column"),
    ):
        (place / "marks.csv").write_text(text)
        done = program("audit", "original.csv", *how, "--marks", "marks.csv", cwd=place)
        assert (done.returncode, what in done.stderr.decode()) == (2, True)


def test_packed_tables_parquet_and_a_condition(place: Path) -> None:
    packed = place / "t.csv.gz"
    packed.write_bytes(gzip.compress((place / "original.csv").read_bytes()))
    found = record("audit", packed, *ROLES, "--rows", "A4=s and A3=c", "--min-confidence", ".55", code=1)
    assert found["adversary"]["rows_named"] == 3


def told(record: dict[str, Any]) -> int:
    """How many cells T01 tells."""
    return int(next(attack["findings"] for attack in record["attacks"] if attack["code"] == "T01"))


def test_rows_may_be_left_out_for_a_missing_value(place: Path) -> None:
    lines = (place / "original.csv").read_text().splitlines()
    (place / "more.csv").write_text("\n".join([lines[0], "?,b,c,s", *lines[1:], "a,b,c,?"]) + "\n")
    drop = ("--missing", "?", "--missing-rule", "drop")
    how = (*ROLES, "--rows", place / "rows.txt", "--min-confidence", ".55")
    found = record("audit", place / "more.csv", *how, *drop, code=1)
    assert (found["release"][0]["n"], told(found)) == (9, 9)
    assert record("audit", place / "more.csv", *how, "--missing", "?", code=1)["release"][0]["n"] == 11
    published = (*how, "--blank", "*", "--data", place / "more.csv", *drop)
    assert record("audit", place / "published.csv", *published, code=1)["measures"]["cells_hidden"] == 2


def test_roles_may_stand_in_the_settings(place: Path) -> None:
    (place / "tacit.toml").write_text('[data]\nqi = ["A1", "A2", "A3"]\nsa = ["A4"]\n[policy]\nmin_confidence = 0.55\n')
    done = program("audit", "original.csv", "--config", "tacit.toml", "--rows", "rows.txt", "--json", "-", cwd=place)
    assert done.returncode == 1, done.stderr
    assert told(json.loads(done.stdout)) == 9


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--sa", "A5", "--qi", "A1", "--rows", "A1=a"), "no column 'A5'"),
        (("--sa", "A4", "--qi", "A1,A4", "--rows", "A1=a"), "also given as --qi"),
        (("--sa", "A4", "--rows", "A1=a"), "--qi"),
        (("--qi", "A1", "--rows", "A1=a"), "--sa"),
        ((*ROLES, "--rows", "none.txt"), "neither a file nor a condition"),
        ((*ROLES, "--rows", "A1=nobody"), "fits no row"),
        ((*ROLES, "--rows", "A1!=nobody"), "fits every row"),
        ((*ROLES, "--rows", "A1=a", "--min-confidence", "0"), "--min-confidence"),
        ((*ROLES, "--rows", "A1=a", "--min-confidence", "1.5"), "--min-confidence"),
        ((*ROLES, "--rows", "A1=a", "--min-support", "many"), "--min-support"),
        ((*ROLES, "--rows", "A1=a", "--missing-rule", "drop"), "--missing-rule"),
        ((*ROLES, "--rows", "A1=a", "--id-column", "A1"), "--id-column"),
        ((*ROLES, "--rows", "A1=a", "--rounding", "truncated"), "--rounding"),
        ((*ROLES, "--rows", "A1=a", "--n", "8"), "the table"),
    ],
)
def test_bad_options_are_one_sentence(place: Path, options: tuple[str, ...], what: str) -> None:
    before = (place / "original.csv").read_bytes()
    done = program("audit", "original.csv", *options, cwd=place)
    assert done.returncode == 2
    assert what in done.stderr.decode()
    assert len(done.stderr.decode().strip().splitlines()) == 1
    assert done.stdout == b""
    assert (place / "original.csv").read_bytes() == before


def test_options_of_tables_are_refused_elsewhere(place: Path) -> None:
    (place / "i.csv").write_text('itemset,count,support\n"[""x""]",5,0.5\n')
    done = program("audit", "i.csv", "--form", "tacit", "--min-confidence", "0.5", cwd=place)
    assert done.returncode == 2
    assert b"--min-confidence: applies to tables" in done.stderr


def test_small_tables(place: Path) -> None:
    for text, code in (("", 2), ("A1,A2,A3,A4\n", 2), ("A1,A2,A3,A4\na,b,c,\n", 0), ("A1,A2,A3,A4\n,,,\n,,,s\n", 0)):
        (place / "small.csv").write_text(text)
        done = program("audit", "small.csv", *ROLES, "--min-support", "0", cwd=place)
        assert done.returncode == code, done.stderr + done.stdout
        assert b"Traceback" not in done.stderr


def test_a_table_without_blanks_is_judged_by_its_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{age},{sex},no\n" for age, sex, times in ((30, "F", 12), (30, "M", 3), (40, "F", 1)) for _ in range(times))
    Path("t.csv").write_text("age,sex,ill\n" + rows)
    made = record("audit", "t.csv", "--qi", "age,sex", "--sa", "ill", code=1)
    measures = {name: made["measures"][name] for name in ("qi_combinations", "smallest_combination", "people_alone")}
    assert measures == {"qi_combinations": 3, "smallest_combination": 1, "people_alone": 1}
    assert made["headline"].startswith(
        "EXPOSED: 4 people share their quasi-identifiers with fewer than 9 others, 1 of them with nobody;"
    )
    said = " ".join(tacit("audit", "t.csv", "--qi", "age,sex", "--sa", "ill").stdout.split())
    assert "1 person has age=40, sex=F, with ill no." in said
    assert "All 12 people with age=30, sex=F have ill no." in said
    assert "tacit tabulate t.csv --by age,sex,ill --sa ill --hide-below 10 -o counts.csv" in said
    counts = ("tabulate", "t.csv", "--by", "age,sex,ill", "--sa", "ill", "--hide-below", "10", "-o", "counts.csv")
    assert tacit(*counts).exit_code == 0
    assert "could not run" not in tacit("audit", "counts.csv").output
    Path("t.csv").write_text("age,sex,ill\n" + rows + ",M,\n")
    made = record("audit", "t.csv", "--qi", "age,sex", "--sa", "ill", code=1)
    assert [one["number"] for one in made["cautions"] if one["code"] == "T03"] == [1]
    assert next(one["status"] for one in made["attacks"] if one["code"] == "T03") == "not-relevant"


def test_classes_of_a_table_stand_on_pages_and_in_explanations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["30,N,flu"] * 3 + ["40,N,flu", "40,N,cold", "50,S,cold"]
    Path("people.csv").write_text("\n".join(["age,area,ill", *rows]) + "\n", encoding="utf-8")
    roles = ("--qi", "age,area", "--sa", "ill")
    done = tacit("audit", "people.csv", *roles, "--k", "2", "--report", "page.html", "--report", "page.md")
    assert done.exit_code == 1
    page = Path("page.html").read_text(encoding="utf-8")
    for text in (page, Path("page.md").read_text(encoding="utf-8")):
        assert "All 3 people with age=30, area=N have ill flu" in text
        assert "1 person has age=50, area=S" in text
    assert "guessed" not in page
    told = tacit("explain", "people.csv", *roles, "--who", "age=50,area=S").output
    assert told.startswith("1 record fits, and 1 exposed class holds it.")
    assert "1 person has age=50, area=S" in told
    assert "age=30" not in told
