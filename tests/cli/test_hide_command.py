"""``tacit hide`` as it is used."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

import tacit as package
from tests.shell import program, record, tacit

FIGURE_2 = "A1,A2,A3,A4\na,b,c,s\na,b,c,s\na,b,c,s\na,b,x4,s\na,b,d,s\na,x6,d,s\nx7,b,d,s\nx8,b,d,s\nx9a,x9b,d,x9c\n"
ASK = ("hide", "fig2.csv", "--qi", "A1,A2,A3", "--sa", "A4", "--rows", "rows.txt", "--min-confidence", ".55")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of Li, Shirani-Mehr and Yang, whose first and fifth record are sensitive."""
    monkeypatch.chdir(tmp_path)
    Path("fig2.csv").write_text(FIGURE_2)
    Path("rows.txt").write_text("0\n4\n")


def rows_of(name: str) -> list[list[str]]:
    with open(name, newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize(
    ("regions", "method", "cells", "code"),
    [
        ("ns", "smc", 2, 1),
        ("ns", "greedy", 2, 1),
        ("nc", "rgraph-max-descendant", 7, 1),
        ("nc", "greedy", 7, 1),
        ("sc", "greedy", 6, 0),
        ("sc", "uniform", 6, 0),
        ("nc,sc", "greedy", 6, 0),
        ("ns,nc,sc", "ilp", 2, 1),
    ],
)
def test_the_papers_example(regions: str, method: str, cells: int, code: int) -> None:
    told = record(*ASK, "--may-hide", regions, "--method", method, "-o", "out.csv", code=code)
    assert (told["format"], told["method"], told["cost"]["cells_hidden"]) == ("tacit.repair/1", method, cells)
    assert told["before"]["verdict"] == "exposed"
    assert told["after"]["verdict"] == ("exposed" if code else "clean")
    found = {attack["code"]: attack["findings"] for attack in told["after"]["attacks"]}
    assert found["T01"] == 0
    assert (found["T02"] > 0) == bool(code)
    before, after = rows_of("fig2.csv"), rows_of("out.csv")
    assert len(after) == 10
    hidden = [(row, column) for row in range(1, 10) for column in range(4) if after[row][column] != before[row][column]]
    assert all(after[row][column] == "" for row, column in hidden)
    assert len(hidden) == cells + 2
    assert {(1, 3), (5, 3)} <= set(hidden)


def test_columns_without_a_role_are_dropped_unless_they_are_to_be_kept() -> None:
    Path("wide.csv").write_text(
        "id,job,note,ill\n" + "".join(f'{i},nurse,"a, b",{"flu" if i < 8 else "cold"}\n' for i in range(10))
    )
    hide = ("hide", "wide.csv", "--qi", "job", "--sa", "ill", "--rows", "id=3", "--may-hide", "sc", "-o", "out.csv")
    result = tacit(*hide)
    assert result.exit_code == 0, result.output
    assert "Dropped  2 columns without a role: id, note (--other-columns keep publishes them)\n" in result.stdout
    before, after = rows_of("wide.csv"), rows_of("out.csv")
    assert after[0] == ["job", "ill"]
    assert after[4] == ["", ""]
    assert [row for place, row in enumerate(after) if place != 4] == [
        [row[1], row[3]] for place, row in enumerate(before) if place != 4
    ]
    assert record(*hide)["other_columns"] == {"rule": "drop", "columns": ["id", "note"]}
    assert tacit(*hide, "--other-columns", "keep").exit_code == 0
    kept = rows_of("out.csv")
    assert kept[0] == before[0]
    assert kept[4] == ["3", "", "", ""]  # the note of everybody would tell it, too
    assert tacit("audit", "out.csv", "--data", "wide.csv", "--rows", "id=3").exit_code == 0


def test_a_column_without_a_role_that_tells_a_hidden_one_is_found() -> None:
    """Whoever hides the education of a record and leaves its number in the file has hidden nothing."""
    rows = [
        (name, str(number), ill)
        for number, name in enumerate(("none", "school", "college"))
        for ill in ("flu",) * 8 + ("cold",) * 2
    ]
    rows = [(name, number, "flu" if name == "college" else ill) for name, number, ill in rows]
    lines = [
        "education,education-num,sex,ill",
        *(f"{name},{number},{'FM'[place % 2]},{ill}" for place, (name, number, ill) in enumerate(rows)),
    ]
    Path("people.csv").write_text("\n".join(lines) + "\n")
    Path("row.txt").write_text("20\n")
    roles = ("--qi", "education,sex", "--sa", "ill", "--rows", "row.txt", "--min-confidence", "0.85")
    assert tacit("hide", "people.csv", *roles, "--may-hide", "sc", "-o", "out.csv").exit_code == 0
    assert rows_of("out.csv")[21][0] == ""
    numbers = [line.split(",")[1] for line in lines]
    with open("beside.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([row[0], number, *row[1:]] for row, number in zip(rows_of("out.csv"), numbers, strict=True))
    look = (*roles, "--data", "people.csv")
    assert record("audit", "out.csv", *look)["verdict"] == "clean"
    made = tacit("audit", "beside.csv", *look, "--json", "beside.json")
    assert made.exit_code == 1
    told = json.loads(Path("beside.json").read_text())
    assert any(finding["event"] == {"education-num": ["2"], "ill": ["flu"]} for finding in told["findings"])
    assert tacit("verify", "beside.json", "beside.csv").exit_code == 0


def test_nothing_written_says_which_rows_are_sensitive() -> None:
    """A blank of the sensitive column may be a sensitive one or not: the files hold no more than the table and the roles."""
    tacit(*ASK, "--may-hide", "ns", "-o", "out.csv")
    assert sum(row[3] == "" for row in rows_of("out.csv")) == 4
    head = json.loads(Path("out.csv.json").read_text())
    assert head == {
        "format": "tacit.table/1",
        "n": 9,
        "qi": ["A1", "A2", "A3"],
        "sa": "A4",
        "missing": None,
        "missing_rule": "category",
        "blank": "",
    }


def test_the_result_is_audited_as_it_was() -> None:
    told = record(*ASK, "--may-hide", "nc", "-o", "out.csv", code=1)
    audit = record(
        "audit", "out.csv", "--rows", "rows.txt", "--data", "fig2.csv", "--min-confidence", ".55", "--min-support", 0, code=1
    )
    assert audit["verdict"] == told["after"]["verdict"]
    for then, now in zip(told["after"]["attacks"], audit["attacks"], strict=True):
        assert (then["code"], then["findings"]) == (now["code"], now["findings"])
    assert audit["measures"]["cells_hidden"] == told["cost"]["cells_hidden"]


def test_what_it_says_and_what_would_be_better() -> None:
    text = tacit(*ASK, "--may-hide", "ns", "--method", "smc", "-o", "out.csv").stdout
    assert "2 cells hidden in addition to 2 sensitive cells" in text
    assert "2 of the sensitive cells of other records (ns)" in text
    assert "Instead  --may-hide sc --method uniform would hide 6 cells of the sensitive records, and its audit is clean" in text
    assert "Written to out.csv. For details: tacit audit out.csv --rows rows.txt --data fig2.csv" in text


def test_marks_are_named_for_the_next_look() -> None:
    Path("marks.csv").write_text("row,column,mark\n0,A4,-\n4,A4,-\n")
    given = ("--qi", "A1,A2,A3", "--sa", "A4", "--marks", "marks.csv", "--may-hide", "ns", "--min-confidence", ".55")
    text = tacit("hide", "fig2.csv", *given, "-o", "out.csv").stdout
    assert "For details: tacit audit out.csv --marks marks.csv --data fig2.csv" in text


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_other_forms(ending: str) -> None:
    with gzip.open("packed.csv.gz", "wt") as stream:
        stream.write(FIGURE_2.replace(",", "\t"))
    ask = ("hide", "packed.csv.gz", *ASK[2:])
    assert tacit(*ask, "--may-hide", "sc", "-o", f"out{ending}").exit_code == 0
    partial = package.read_partial(f"out{ending}")
    assert (partial.n, int(partial.hidden.sum())) == (9, 8)


def test_rows_with_a_missing_value_can_be_dropped() -> None:
    Path("gaps.csv").write_text(FIGURE_2.replace("x6", "?"))
    ask = ("hide", "gaps.csv", *ASK[2:], "--missing", "?", "--missing-rule", "drop", "--may-hide", "sc", "-o", "out.csv")
    text = tacit(*ask).stdout
    assert "1 row with the mark of a missing value dropped; row numbers count the others" in text
    assert len(rows_of("out.csv")) == 9


def test_thresholds_may_stand_in_the_settings() -> None:
    Path("tacit.toml").write_text('[data]\nqi = ["A1", "A2", "A3"]\nsa = ["A4"]\n[policy]\nmin_confidence = 0.99\n')
    told = record("hide", "fig2.csv", "--rows", "rows.txt", "--may-hide", "ns", "-o", "out.csv", code=1)
    assert told["after"]["policy"]["min_confidence"] == 0.99
    assert told["cost"]["cells_hidden"] == 0


def test_no_safe_table_exists_and_nothing_is_written() -> None:
    Path("marks.csv").write_text("A1,A2,A3,A4\n" + "+,+,+,\n" * 9)
    result = tacit(*ASK, "--may-hide", "nc,sc", "--marks", "marks.csv", "-o", "out.csv")
    assert result.exit_code == 2
    assert "no safe table exists: 9 rules stay unsafe whatever is hidden (2 sensitive records in question)" in result.stderr
    assert not Path("out.csv").exists()
    assert not Path("out.csv.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--may-hide", "sc", "--method", "smc"), "--method: smc hides ns"),
        (("--may-hide", "sc", "--min-confidence", "0"), "--min-confidence: must be a share"),
        (("--may-hide", "sc", "--rows", "A1=zzz"), "--rows: the condition fits no row"),
        (("--may-hide", "sc", "--rows", "A1!=zzz"), "--rows: the condition fits every row"),
        (("--may-hide", "sc", "--sa", "A1"), "is also given as --qi"),
        (("--may-hide", "none"), "--may-hide: there is no region 'none'"),
        (("--may-hide", "sc", "-o", "rows.txt"), "rows.txt: the ending does not name a format"),
        (("--may-hide", "sc", "-o", "fig2.csv"), "fig2.csv: is also read"),
    ],
)
def test_bad_input_is_one_sentence_and_touches_nothing(arguments: tuple[str, ...], said: str) -> None:
    result = tacit(*ASK, "-o", "out.csv", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("out.csv").exists()
    assert Path("fig2.csv").read_text() == FIGURE_2


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for _ in range(2):
        done = program(
            *ASK, "--may-hide", "nc", "--method", "rgraph-random", "--seed", 7, "-o", "out.csv", "--json", "-", cwd=tmp_path
        )
        assert done.returncode == 1, done.stderr
        made.append((done.stdout, Path("out.csv").read_bytes(), Path("out.csv.json").read_bytes()))
    assert made[0] == made[1]
