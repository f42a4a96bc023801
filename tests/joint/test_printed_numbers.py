"""Numbers beside counts: what is told, to whom a maximum belongs, and proofs that a checker redoes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checker import check_audit
from tacit.model.frequencies import FrequencyTable, Numbers
from tacit.model.release import Decimals
from tacit.reports.sentences import headline
from tests.joint.naive_numbers import Case, draw, is_told, people_range, sum_range, told_lines
from tests.shell import tacit as run

DOMINATED = "sex,area,count,sum_income,max_income\nF,N,12,100000,60000\nF,S,15,50000,9000\n"


def _table(case: Case) -> FrequencyTable:
    counts = [None if number in case.hidden else case.count(case.cell(line)) for number, line in enumerate(case.lines)]
    n = sum(map(len, case.values))
    table = FrequencyTable.of(["a", "b"], [list(line) for line in case.lines], counts, n=n, no_sa=True)
    sums = np.array([case.total(case.cell(line)) for line in case.lines], np.int64)
    digits = np.array([-1 if number in case.hidden | case.withheld else 0 for number in range(len(case.lines))], np.int8)
    hi = np.where(table.is_hidden, case.k - 1, table.hi)
    return FrequencyTable(
        table.columns,
        table.values,
        table.codes,
        np.where(table.is_hidden, 0, table.lo),
        hi=hi,
        printed=table.printed,
        header=table.header,
        printing=table.printing,
        numbers=(Numbers("income", {"sum": Decimals(sums, digits)}, is_exact=True),),
    )


def _amounts(audit: tacit.Audit) -> list[dict[str, Any]]:
    return [one for one in audit.to_dict(top=10_000)["findings"] if "numbers" in one["certificate"]]


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_told_where_every_program_says_so(seed: int) -> None:
    case = draw(seed)
    table = _table(case)
    audit = tacit.audit(table, k=case.k)
    told = told_lines(case)
    found = _amounts(audit)
    assert audit.attack("X01").undecided == 0
    assert bool(found) == bool(told), (told, [one["statement"] for one in found])
    for one in found:
        event = one["certificate"]["numbers"]["group"]
        cell = _cell(case, event)
        assert is_told(case, cell, is_withheld=one["certificate"]["numbers"]["withheld"] is not None)
        unit = one["certificate"]["numbers"]["unit"]
        ends = sum_range(case, cell)
        shown = [one["certificate"]["numbers"][end][-1] for end in ("least", "most")]
        assert Fraction(shown[0]["at_least"], unit) == pytest.approx(ends[0], abs=1e-6)
        assert Fraction(shown[1]["at_most"], unit) == pytest.approx(ends[1], abs=1e-6)
        assert one["count"][1] >= people_range(case, cell)[1]
    assert check_audit(audit.to_dict(top=10_000), [table]).ok


def _cell(case: Case, event: dict[str, Any]) -> Any:
    from tests.joint.naive_numbers import COLUMNS

    cell = []
    for name, values in COLUMNS.items():
        present = {item.partition("=")[2] for item in event["present"] if item.startswith(f"{name}=")}
        absent = {item.partition("=")[2] for item in event["absent"] if item.startswith(f"{name}=")}
        cell.append(frozenset(present or set(values) - absent))
    return tuple(cell)


def test_a_maximum_and_a_sum_tell_of_one_person(tmp_path: Path) -> None:
    file = tmp_path / "mag.csv"
    file.write_text(DOMINATED)
    audit = tacit.audit(str(file), k=10, n=27, sa="none")
    told = [one.statement for one in audit.findings]
    assert told == ["1 person has area=N, income=60000 and sex=F.", "1 to 5 people have area=S, income=9000 and sex=F."]
    release = tacit.read_release(file, n=27, sa="none")
    record = audit.to_dict(top=10)
    assert check_audit(record, [release]).ok
    for name, other in (("count", [1, 2]), ("statement", "1 person has area=N."), ("steps", [])):
        wrong = json.loads(json.dumps(record))
        wrong["findings"][0][name] = other
        assert not check_audit(wrong, [release]).ok


def test_a_minimum_is_of_few_people_if_the_others_cannot_make_up_for_it() -> None:
    file = {"sex": ["F"], "count": ["20"], "sum_income": ["1910"], "min_income": ["10"], "max_income": ["100"]}
    audit = tacit.audit(tacit.read_release(file), k=10)
    assert "1 person has income=10 and sex=F." in [one.statement for one in audit.findings]


def test_the_mean_without_one_person_tells_their_value(tmp_path: Path) -> None:
    first = tmp_path / "all.csv"
    second = tmp_path / "less.csv"
    first.write_text("ward,count,mean_age\nA,40,51.23\nB,30,40.10\n")
    second.write_text("ward,count,mean_age\nA,39,50.87\nB,30,40.10\n")
    releases = [tacit.read_release(file) for file in (first, second)]
    audit = tacit.audit(releases, k=5, people=tacit.Nested(outer=0, inner=1))
    told = "1 person has ward=A, among the people of all.csv who are not in less.csv; their age is 64.875 to 65.665."
    assert told in [one.statement for one in audit.findings]
    assert check_audit(audit.to_dict(top=10), releases).ok


def test_a_sum_that_is_withheld_is_told_by_the_others() -> None:
    lines = {"sex": ["F", "F", "F"], "area": ["N", "S", "*"], "count": ["12", "14", "26"], "sum_income": ["100", "", "140"]}
    audit = tacit.audit(tacit.read_release(lines), k=10)
    (found,) = audit.findings
    assert found.statement == "14 people have area=S; their income adds up to 39 to 41."
    assert headline(audit) == "EXPOSED: 1 number that this release withholds can be computed."


@pytest.mark.parametrize("name", ["at_least", "weight", "unit", "withheld", "close"])
def test_a_proof_about_a_sum_that_was_changed_is_rejected(name: str) -> None:
    case = next(one for one in map(draw, range(100)) if _amounts(tacit.audit(_table(one), k=one.k)))
    table = _table(case)
    record = json.loads(json.dumps(tacit.audit(table, k=case.k).to_dict(top=1000)))
    assert check_audit(record, [table]).ok
    numbers = next(one for one in record["findings"] if "numbers" in one["certificate"])["certificate"]["numbers"]
    if name == "at_least":
        numbers["least"][-1]["at_least"] += 1
    elif name == "weight":
        numbers["most"][-1]["weights"][0]["weight"] = "1/3"
    elif name == "unit":
        numbers["unit"] *= 10
    elif name == "withheld":
        numbers["withheld"] = {"release": 0, "line": 2} if numbers["withheld"] is None else None
    else:
        numbers["least"][-1]["at_least"] = 0
    assert not check_audit(record, [table]).ok


def test_tables_with_numbers_are_made_hidden_where_dominated_and_read_again(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    rows = ["F,N,90", "F,N,3", "F,N,4", "F,S,10", "F,S,12", "F,S,11.5", "M,N,7", "M,N,8", "M,N,9", "M,S,1", "M,S,2"]
    data.write_text("sex,area,pay\n" + "\n".join(rows) + "\n")
    out = tmp_path / "t.csv"
    args = ("--by", "sex,area", "--total", "--hide-below", 3, "--sum", "pay", "--mean", "pay", "--sa", "none")
    assert run("tabulate", data, *args, "--p-percent", 10, "-o", out).exit_code == 0
    table: Any = tacit.read_release(out)
    cells = {tuple(table.cell(index).values()): index for index in range(len(table))}
    (numbers,) = table.numbers
    assert numbers.is_exact
    assert [numbers.printed["sum"].text(cells["F", place]) for place in "NS"] == ["", "33.5"]
    assert numbers.printed["mean"].text(cells["F", "S"]) == "11.2"
    assert not numbers.is_printed(cells["M", "S"]), "a hidden cell has no numbers"
    assert numbers.printed["sum"].text(cells["M",]) == "27.0"
    dominance = tacit.tabulate(str(data), by="sex,area", sums="pay", dominance="1,80%", sa="none")
    assert [dominance.numbers[0].is_printed(index) for index in range(4)] == [False, True, True, True]
    assert "--dominance: must be" in run("tabulate", data, *args, "--dominance", "x").stderr
    assert "something else than plain numbers" in run("tabulate", data, "--by", "sex", "--sum", "area").stderr


def test_numbers_that_nobody_can_have_are_refused() -> None:
    with pytest.raises(tacit.TacitError, match="no people have these numbers"):
        tacit.read_release({"sex": ["F"], "count": ["20"], "sum_income": ["1990"], "max_income": ["10"]})
    lines = {"sex": ["F", "M", "*"], "count": ["20", "20", "40"], "sum_income": ["10", "20", "40"]}
    with pytest.raises(tacit.TacitError, match="no people have all the numbers"):
        tacit.audit(tacit.read_release(lines), k=5)


def test_suppression_hides_numbers_with_their_cells(tmp_path: Path) -> None:
    lines = ["F,N,12,100", "F,S,14,", "M,N,20,400", "M,S,30,500", "F,*,26,140", "M,*,50,900", "*,N,32,500", "*,S,44,540"]
    file = tmp_path / "t.csv"
    file.write_text("sex,area,count,sum_income\n" + "\n".join([*lines, "*,*,76,1040"]) + "\n")
    out = tmp_path / "safe.csv"
    result = run("repair", file, "--method", "suppress", "--k", 10, "--sa", "none", "-o", out, "--json", tmp_path / "r.json")
    assert result.exit_code == 0, result.stderr
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["optimal"]
    safe: Any = tacit.read_release(out)
    assert tacit.audit(safe, k=10).verdict == "clean"
    for index in range(len(safe)):
        assert not (safe.is_hidden[index] and safe.numbers[0].is_printed(index))
    assert record["hidden"] == 3, "one of the row, one of the column, and one where both meet"


def test_it_is_said_that_no_value_is_taken_to_be_negative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("incomes.csv").write_text(DOMINATED)
    Path("people.csv").write_text("sex,count\nF,27\n")
    for files in (["incomes.csv"], ["incomes.csv", "people.csv"]):
        several = ["--people", "same"] if len(files) > 1 else []
        told = run("audit", *files, "--n", "27", "--sa", "none", *several, "--json", "a.json")
        assert "taken to be of values of at least 0" in " ".join(told.stdout.split())
        record = json.loads(Path("a.json").read_text())
        assert record["adversary"].pop("knows_no_value_is_negative") is True
        assert run("verify", "a.json", *files).exit_code == 0
        Path("b.json").write_text(json.dumps(record))
        assert run("verify", "b.json", *files).exit_code == 1
    plain = run("audit", "people.csv", "--sa", "none", "--json", "a.json").stdout
    assert "at least 0" not in plain
