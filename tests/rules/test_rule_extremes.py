"""R02 at its limits: tables with one of everything, lists without lines, and files that do not fit the known people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.model.errors import Contradiction, InputError, OptionError, TacitError
from tacit.model.table import Schema, Table
from tests.shell import record

Row = tuple[str, ...]
THREE: list[Row] = [("a", "b", "x"), ("a", "c", "x"), ("a", "d", "y")]


def table(rows: list[Row], sa: tuple[str, ...] = ("s",)) -> Table:
    return Table.from_rows(["q", "r", *sa], rows, Schema(qi=("q", "r"), sa=sa))


def posterior(rows: list[Row], **options: Any) -> list[float]:
    """The estimates about these people, of the rules that they give."""
    people = table(rows)
    thresholds = {"min_support": 1, "min_confidence": 0.5} | options
    audit = tacit.audit(tacit.mine_rules(people, **thresholds), known=people.qi, attacks=["R02"])
    assert audit.attack("R02").status == "ran"
    found: list[float] = audit.table("posterior")["posterior"].round(9).tolist()
    return found


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        ([("a", "b", "x"), ("a", "c", "x")], {}, [1, 1]),  # one value
        ([("a", "b", "x")], {}, [1]),  # one record
        ([("a", "b", "x"), ("a", "b", "y")], {"min_confidence": 0.9}, [0.5, 0.5]),  # no rule
        ([("a", "b", "x"), ("a", "b", "y")], {"min_support": 2}, [0.5, 0.5]),
        ([("a", "b", "x"), *[("a", "b", "y")] * 3], {}, [0.25, 0.75]),  # one combination, whose x is what is left
        ([("a", "b", "x"), *[("a", "b", "y")] * 3], {"withhold_values": True}, [0.25, 0.75]),  # x is missing: at most 1 of 4
        (
            [("a", "b", "x"), *[("a", "b", "y")] * 3],
            {"withhold_values": True, "incomplete": True},
            [0.5, 0.5],
        ),  # y: at least 2 of 4
        ([("a", "b", "x"), *[("a", "b", "y")] * 3], {"min_confidence": 0.7, "withhold_values": True}, [0.25, 0.75]),
        ([("a", "b", "x"), ("a", "c", "y"), ("b", "c", "y")], {}, [1, 0, 0, 1, 0, 1]),  # everybody certain
        (THREE, {"min_confidence": 1}, [1, 0, 1, 0, 0, 1]),
        (THREE, {"min_confidence": 0, "min_support": 3}, [0.5] * 6),  # a missing rule with every person: at most 2 of 3
        (THREE, {"min_confidence": 0, "min_support": 2}, [2 / 3, 1 / 3] * 3),  # q=a => x: 2; that a y is missing says: at most 1
        (THREE, {"min_confidence": 0, "min_support": 1, "strict": True}, [2 / 3, 1 / 3] * 3),  # more than 1 is at least 2
        ([*[("a", "b", "x")] * 5, *[("a", "c", "y")] * 5], {"publish_sa_distribution": True, "min_support": 9}, [0.5] * 4),
    ],
)
def test_small_tables_come_out_as_by_hand(rows: list[Row], options: dict[str, Any], expected: list[float]) -> None:
    assert posterior(rows, **options) == pytest.approx(expected, abs=1e-6)


def written(folder: Path, lines: list[str], **header: Any) -> Path:
    """A file of rules with its header."""
    usual = {"format": "tacit.rules/1", "qi": ["q", "r"], "sa": "s", "sa_values": ["x", "y"], "complete": False, "n": 3}
    path = folder / "rules.csv"
    path.write_text("antecedent,consequent,count,support,confidence\n" + "".join(f"{line}\n" for line in lines))
    path.with_suffix(".csv.json").write_text(json.dumps({name: value for name, value in (usual | header).items() if value}))
    return path


A_TO_X = '"{""q"": ""a""}",x,2,,'


def test_lines_that_repeat_each_other_count_once(tmp_path: Path) -> None:
    once, twice = (
        tacit.audit(written(tmp_path, [A_TO_X] * times), known=table(THREE).qi, attacks=["R02"]).table("posterior")["posterior"]
        for times in (1, 2)
    )
    assert once.tolist() == twice.tolist()
    assert once[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("lines", "header", "error", "told"),
    [
        ([A_TO_X, '"{""q"": ""a""}",x,3,,'], {}, Contradiction, "lines 2 and 3"),
        ([A_TO_X, '"{""q"": ""a""}",y,2,,'], {}, Contradiction, "rules.csv lines 2 and 3: .* cannot all be true of the known"),
        (
            ['"{""q"": ""a"", ""r"": ""b""}",x,2,,'],
            {},
            Contradiction,
            "rules.csv line 2: .* cannot all be true of the known people",
        ),
        ([A_TO_X], {"n": 4}, InputError, "about 4 people, the known data about 3"),
        (['"{""q"": ""secret""}",x,2,,'], {}, InputError, "line 2: nobody in the known data has the antecedent"),
        (['"{""q"": ""a""}",secret,2,,'], {}, InputError, "line 2: the sensitive value is not one of those in the header"),
        (['"{""z"": ""secret""}",x,2,,'], {}, InputError, "have no column z"),
        ([A_TO_X], {"qi": ["q", "z"]}, OptionError, "has no column z"),
        ([], {"complete": True, "min_support": 1, "min_confidence": 0.5}, Contradiction, "with the rules that are missing"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_one_sentence(
    lines: list[str], header: dict[str, Any], error: type[TacitError], told: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=told) as caught:
        tacit.audit(written(tmp_path, lines, **header), known=table(THREE).qi, attacks=["R02"])
    assert "secret" not in str(caught.value)


def test_nobody_at_all_is_no_division_by_zero(tmp_path: Path) -> None:
    nobody = Table.from_rows(["q", "r"], [], Schema(qi=("q", "r")))
    audit = tacit.audit(written(tmp_path, [], n=None), known=nobody, attacks=["R02"])
    assert audit.table("posterior")["posterior"].tolist() == []


def test_coarser_values_are_not_read_beside_people_and_this_is_said(tmp_path: Path) -> None:
    audit = tacit.audit(written(tmp_path, [A_TO_X], coarser=True), known=table(THREE).qi, attacks=["R02", "R03"])
    assert [run.status for run in audit.runs if run.code in ("R02", "R03")] == ["unavailable"] * 2
    assert "coarser values" in audit.attack("R02").reason
    assert audit.verdict == "incomplete"


@pytest.mark.parametrize("header", [{"sa_values": None}, {"sa": None}])
def test_values_that_no_header_lists_are_one_other_value(header: dict[str, Any], tmp_path: Path) -> None:
    audit = tacit.audit(written(tmp_path, [A_TO_X], **header), known=table(THREE).qi, attacks=["R02"])
    assert audit.table("posterior")["posterior"].tolist() == pytest.approx([2 / 3, 1 / 3] * 3)


def test_lines_that_name_the_sensitive_column_and_are_not_used_leave_certain_values_open() -> None:
    people = Table.from_rows(["q", "z", "s"], [("a", "1", "x"), ("a", "1", "x"), ("b", "2", "y")], Schema(qi=("q",), sa=("s",)))
    audit = tacit.audit(tacit.mine_itemsets(people, min_support=2), known=people.qi, attacks=["R03"])
    assert audit.attack("R03").undecided == 2  # z=1 with s=x, and all three
    assert "2 lines, or relations" in audit.attack("R03").reason


def test_an_estimate_is_kept_when_counting_missing_rules_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.known.case.MOST_WORK", 1)
    people = table(THREE)
    audit = tacit.audit(tacit.mine_rules(people, min_support=2, min_confidence=0.5), known=people.qi, attacks=["R02"])
    run = audit.attack("R02")
    assert run.status == "ran"
    assert "missing rules and those kept were not counted" in run.reason
    assert (audit.measures["missing_rules"], audit.measures["missing_rules_kept"]) == (None, None)
    assert json.loads(json.dumps(audit.to_dict()))["measures"]["missing_rules"] is None


def test_combined_sensitive_columns_from_the_command_line(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("q,r,s,t\na,b,x,1\na,b,x,1\na,c,x,2\na,d,y,1\n")
    rules = tmp_path / "rules.csv"
    common = ["--qi", "q,r", "--sa", "s,t", "--combine-sa"]
    mined = record("mine", "rules", data, *common, "--min-support", "2", "--min-confidence", "50%", "-o", rules)
    assert mined["rules"] == 3
    limit = ["--attack", "R02", "--max-posterior", "90%"]
    for who in ("--known", "--data"):
        found = record("audit", rules, who, data, *limit, code=1)
        assert found["measures"]["max_posterior"] == pytest.approx(1)
        assert found["findings"][0]["event"] == {"q": ["a"], "r": ["b"], "s & t": ["x & 1"]}
        assert ("D_overall" in found["measures"]) == (who == "--data")


def test_what_only_cases_show_is_left_undecided_as_nobody_could_check_it(tmp_path: Path) -> None:
    """Of a and b one has x, of b and c one, of a, c and d one: a and c are alike, so both lack x, and d has it; a sum shows all but d."""
    (tmp_path / "known.csv").write_text("p,q,r\n1,0,1\n1,1,0\n0,1,1\n0,0,1\n")
    lines = "".join(f'"{{""{column}"": ""1""}}",x,1,,\n' for column in "pqr")
    (tmp_path / "rules.csv").write_text("antecedent,consequent,count,support,confidence\n" + lines)
    header = {"format": "tacit.rules/1", "n": 4, "qi": ["p", "q", "r"], "sa": "s", "sa_values": ["x", "y"], "complete": False}
    (tmp_path / "rules.csv.json").write_text(json.dumps(header))
    known = tacit.read_table(tmp_path / "known.csv", qi=["p", "q", "r"])
    release = tacit.read_release(tmp_path / "rules.csv")
    audit = tacit.audit(release, known=known, attacks=["R03"])
    run = audit.attack("R03")
    assert (run.findings, run.undecided) == (3, 1)
    assert tacit.verify(audit.to_dict(), [release], known=known).ok
