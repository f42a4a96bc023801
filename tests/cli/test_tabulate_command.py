"""``tacit tabulate`` as it is used, and frequency tables under audit."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.shell import people, program, record, tacit

CELLS = "sex,job,count\nF,cook,40\nF,clerk,{}\nM,cook,35\nM,clerk,14\n*,cook,75\n*,clerk,16\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of people and a published table in the current folder."""
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    Path("cells.csv").write_text(CELLS.format(""))


def test_from_a_table_of_people_to_a_verified_finding() -> None:
    made = record("tabulate", "people.csv", "--by", "sex,ill", "--total", "--hide-below", "5", "-o", "t.csv")
    assert (made["format"], made["n"], made["cells"], made["hidden_cells"]) == ("tacit.frequencies/1", 60, 9, 2)
    assert made["tables"] == [["sex", "ill"], ["sex"], ["ill"], []]
    with open("t.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0] == {"sex": "F", "ill": "no", "count": "29"}
    assert rows[1] == {"sex": "F", "ill": "yes", "count": ""}
    audit = record("audit", "t.csv", "--json", "-", code=1)
    assert audit["release"][0]["kind"] == "frequencies"
    assert [finding["statement"] for finding in audit["findings"]] == ["1 person has ill=yes and sex=F."]
    Path("audit.json").write_text(json.dumps(audit))
    assert tacit("verify", "audit.json", "t.csv").exit_code == 0
    audit["findings"][0]["count"] = [2, 2]
    Path("audit.json").write_text(json.dumps(audit))
    assert tacit("verify", "audit.json", "t.csv").exit_code == 1


def test_the_text_says_what_was_made_and_what_comes_next() -> None:
    told = tacit("tabulate", "people.csv", "--by", "sex", "--round", "5", "-o", "t.csv")
    assert told.exit_code == 0
    assert "1 table with 2 cells about 60 people" in told.output
    assert "tacit audit t.csv" in told.output
    unwritten = tacit("tabulate", "people.csv", "--by", "sex", "--by", "ill")
    assert "Nothing was written" in unwritten.output


def test_rows_with_a_missing_value_are_left_out_where_asked() -> None:
    made = record("tabulate", "people.csv", "--by", "age", "--missing", "?", "--missing-rule", "drop", "-o", "t.csv")
    assert made["n"] < 60
    header = json.loads(Path("t.csv.json").read_text())
    assert (header["missing"], header["missing_rule"], header["n"]) == ("?", "drop", made["n"])


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("people.csv", "--by", "sexx"), "sex"),
        (("people.csv",), "--by is missing"),
        (("people.csv", "--by", "sex", "-o", "t.txt"), "ending"),
        (("people.csv", "--by", "sex", "-o", "gone/t.csv"), "gone"),
        (("people.csv", "--by", "sex", "-o", "people.csv"), "is also read"),
        (("people.csv", "--by", "sex", "--ways", "3"), "--ways"),
        (("people.csv", "--by", "sex", "--hide-below", "-1"), "--hide-below"),
        (("people.csv", "--by", "sex", "--show-zeros"), "--show-zeros"),
        (("gone.csv", "--by", "sex"), "gone.csv"),
        (("baskets.dat", "--by", "sex"), "no columns"),
    ],
)
def test_mistakes_end_in_one_sentence(arguments: tuple[str, ...], what: str) -> None:
    Path("baskets.dat").write_text("1 2\n")
    told = tacit("tabulate", *arguments)
    assert told.exit_code == 2
    assert what in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


def test_empty_files_and_single_rows() -> None:
    Path("empty.csv").write_text("")
    assert tacit("tabulate", "empty.csv", "--by", "a").exit_code == 2
    Path("one.csv").write_text("a\nx\n")
    assert record("tabulate", "one.csv", "--by", "a", "-o", "t.csv")["cells"] == 1
    assert tacit("audit", "t.csv").exit_code == 1


def test_help_has_an_example() -> None:
    told = tacit("tabulate", "--help")
    assert "tacit tabulate adult.csv --by" in told.output


def test_a_pipe_gets_plain_text(tmp_path: Path) -> None:
    done = program("tabulate", "people.csv", "--by", "sex,ill", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["cells"] == 4
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("hidden", "options", "verdict"),
    [("", (), "exposed"), ("<5", (), "exposed"), ("", ("--hidden-below", "10"), "exposed"), ("5+", (), "contradiction")],
)
def test_tables_of_others_are_audited_as_they_are(hidden: str, options: tuple[str, ...], verdict: str) -> None:
    Path("cells.csv").write_text(CELLS.format(hidden))
    told = tacit("audit", "cells.csv", *options)
    assert told.exit_code == (2 if verdict == "contradiction" else 1)
    if verdict == "exposed":
        assert "2 people have job=clerk and sex=F." in told.output
    else:
        assert "lines" in told.stderr


def test_a_crosstab_has_the_names_that_its_caller_gives() -> None:
    Path("cross.csv").write_text("sex,clerk,cook,All\nF,,40,42\nM,14,35,49\nAll,16,75,91\n")
    unnamed = tacit("audit", "cross.csv")
    assert "2 people have clerk/cook=clerk and sex=F." in unnamed.output
    assert "the file does not name the column 'clerk/cook'" in " ".join(unnamed.output.split())
    named = record("audit", "cross.csv", "--by", "sex,job", code=1)
    cited = {place["cell"] for place in named["findings"][0]["because"]}
    assert cited <= {"B2", "B3", "B4", "C2", "D2"}
    Path("audit.json").write_text(json.dumps(named))
    assert tacit("verify", "audit.json", "cross.csv").exit_code == 0


def test_a_rounded_table_is_read_with_its_base() -> None:
    Path("round.csv").write_text("a,b,count\nx,p,10\nx,q,0\ny,p,15\ny,q,20\n")
    exact = record("audit", "round.csv", "--sa", "none", code=0)
    rounded = record("audit", "round.csv", "--base", "5", "--n", "45", "--sa", "none", code=0)
    assert "base" not in exact["release"][0]
    assert rounded["release"][0]["base"] == 5
    assert rounded["adversary"]["rounding"] == "nearest"


def test_tables_beside_itemsets_and_rules_tell_more_than_each_alone() -> None:
    """Five releases of the same people: each is audited alone, then all together."""
    assert tacit("tabulate", "people.csv", "--by", "sex,ill", "--sa", "ill", "--hide-below", "5", "-o", "t1.csv").exit_code == 0
    assert tacit("tabulate", "people.csv", "--by", "age", "--sa", "none", "--hide-below", "10", "-o", "t2.csv").exit_code == 0
    assert tacit("tabulate", "people.csv", "--by", "ill", "--sa", "ill", "-o", "t3.csv").exit_code == 0
    assert tacit("mine", "itemsets", "people.csv", "--min-support", "25%", "-o", "i.csv").exit_code == 0
    rules = ("--qi", "sex,age", "--sa", "ill", "--min-support", "25%", "--min-confidence", "60%", "--digits", "2")
    assert tacit("mine", "rules", "people.csv", *rules, "-o", "r.csv").exit_code == 0
    files = ("t1.csv", "t2.csv", "t3.csv", "i.csv", "r.csv")
    alone = [tacit("audit", name, "--quiet").stdout.strip() for name in ("t1.csv", "t3.csv")]
    assert alone == ["clean", "clean"]
    together = record("audit", *files, "--people", "same", "--top", "100", code=1)
    told = [finding for finding in together["findings"] if finding["code"] == "X01"]
    assert "1 person has ill=yes and sex=F." in {finding["statement"] for finding in told}
    assert any(len({place["release"] for place in finding["because"]}) > 1 for finding in told)
    Path("audit.json").write_text(json.dumps(together))
    assert tacit("verify", "audit.json", *files).exit_code == 0


def test_tables_about_unknown_people_are_still_attacked_each_by_itself() -> None:
    Path("other.csv").write_text("town,count\nBath,20\nYork,30\n")
    told = record("audit", "cells.csv", "other.csv", "--people", "unknown", "--top", "50", code=1)
    found = {finding["statement"] for finding in told["findings"]}
    assert "2 people have job=clerk but not sex=M, among the people of cells.csv." in found
    Path("audit.json").write_text(json.dumps(told))
    assert tacit("verify", "audit.json", "cells.csv", "other.csv").exit_code == 0


def test_an_explanation_names_each_line_once() -> None:
    named = record("audit", "cells.csv", code=1)["findings"][0]["id"]
    told = tacit("explain", "cells.csv", "--finding", named).output
    assert "(cells.csv, line 7)" in told
    assert "cells.csv, cells.csv" not in told


def test_an_external_report_names_no_cell(tmp_path: Path) -> None:
    rows = "".join(f"Canary{number % 2},Finch{number % 3}\n" for number in range(40)) + "Canary0,Finch9\n"
    Path("birds.csv").write_text("kind,other\n" + rows)
    assert (
        tacit("tabulate", "birds.csv", "--by", "kind,other", "--total", "--hide-below", "5", "-o", "birds-t.csv").exit_code == 0
    )
    made = ("--report", "page.html", "--json", "audit.json", "--report-kind", "external")
    told = tacit("audit", "birds-t.csv", *made)
    assert told.exit_code == 1
    for text in (told.output, Path("page.html").read_text(), Path("audit.json").read_text()):
        assert "Canary" not in text
        assert "Finch" not in text


def test_an_engine_counts_the_same_and_time_may_run_out() -> None:
    plain = tacit("tabulate", "people.csv", "--by", "sex,ill", "-o", "plain.csv")
    merged = tacit("tabulate", "people.csv", "--by", "sex,ill", "--engine", "duckdb", "-o", "merged.csv")
    assert (plain.exit_code, merged.exit_code) == (0, 0)
    assert Path("plain.csv").read_bytes() == Path("merged.csv").read_bytes()
    assert tacit("tabulate", "people.csv", "--by", "sex", "--engine", "duck").exit_code == 2
    assert tacit("tabulate", "people.csv", "--by", "sex", "--time-limit", "1e-9", "-o", "late.csv").exit_code == 3
    assert not Path("late.csv").exists()
