"""``tacit explain --who`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tacit as library
from tests.shell import content, leaking_baskets, people, program, record, tacit


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people and rules about them."""
    monkeypatch.chdir(tmp_path)
    mined = tacit(
        "mine", "rules", people(tmp_path), "--qi", "sex,age", "--sa", "ill", "--min-support", "5", "--min-confidence", "0.6",
        "-o", "rules.csv",
    )  # fmt: skip
    assert mined.exit_code == 0, mined.output
    return tmp_path / "rules.csv"


@pytest.mark.parametrize("given", ["--known", "--data"])
def test_the_estimate_is_told_with_its_lines(rules: Path, given: str) -> None:
    result = tacit("explain", rules, given, "people.csv", "--who", "sex=F,age=old")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("20 people fit sex=F, age=old. ill, by maximum entropy:")
    assert "How the estimate of no comes about" in result.stdout
    assert "and line " in result.stdout


def test_the_record_is_that_of_the_library(rules: Path) -> None:
    made = record("explain", rules, "--known", "people.csv", "--who", "sex=F", "--top", "2")
    known = library.read_table("people.csv", qi="sex,age")
    found = library.posterior_of(rules, who="sex=F", known=known, top=2)
    limits = ["l = 2: 2 values stay possible, as the policy asks", "k = 10: no fewer people fit the description"]
    assert content(made) == {"format": "tacit.explanation/1", "limits": limits} | json.loads(json.dumps(found.to_dict()))
    assert made["people"] == 30
    assert len(made["steps"]) <= 2


def test_the_picture_is_written(rules: Path) -> None:
    result = tacit("explain", rules, "--known", "people.csv", "--who", "sex=F", "--picture", "who.svg")
    assert result.exit_code == 0, result.output
    assert Path("who.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--who", "sex=F"), "--who: needs everybody's quasi-identifiers"),
        (("--known", "people.csv", "--who", "sx=F"), "--who: there is no column 'sx'. Did you mean 'sex'?"),
        (("--known", "people.csv", "--who", "sex=G"), "--who: nobody has the value 'G' in column 'sex'."),
        (("--known", "people.csv", "--who", ""), "--who: does not say which column has which value"),
        (("--known", "people.csv", "--who", "sex=F", "--pattern", "a"), "--pattern: cannot be combined with --who"),
        (("--known", "people.csv", "--pattern", "a", "--picture", "who.svg"), "--known: applies to findings"),
        (("--top", "3"), "--top: applies to estimates about people"),
        (("--known", "nowhere.csv", "--who", "sex=F"), "nowhere.csv"),
        (("--known", "people.csv", "--data", "people.csv", "--who", "sex=F"), "--known: is part of --data"),
        (("--known", "people.csv", "--who", "sex=F", "--picture", "people.csv"), "people.csv: is also read"),
    ],
)
def test_mistakes_are_one_sentence(rules: Path, arguments: tuple[str, ...], said: str) -> None:
    result = tacit("explain", rules, *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_the_limits_of_an_audit_are_taken(rules: Path) -> None:
    who = ("--known", "people.csv", "--who", "sex=F")
    usual = tacit("explain", rules, *who, "--k", "3", "--l", "2")
    assert usual.exit_code == 0, usual.output
    assert usual.stdout.rstrip().endswith("- k = 3: no fewer people fit the description")
    strict = tacit("explain", rules, *who, "--k", "100", "--l", "3", "--max-posterior", "90%", "--max-gain", "0.5")
    told = strict.stdout.partition("The policy's limits\n")[2].split("\n")
    assert [line.strip(" -") for line in told if line] == [
        "l = 3: 2 values stay possible, fewer than the policy asks",
        "max-posterior = 0.9: the surest estimate is 1.000, above the limit",
        "max-gain = 0.5: an estimate exceeds the share among all by up to 0.517, above the limit",
        "k = 100: fewer people than k fit the description",
    ]


def test_itemsets_are_refused(rules: Path) -> None:
    tacit("mine", "itemsets", leaking_baskets(rules.parent), "--min-support", "20", "-o", "sets.csv")
    result = tacit("explain", "sets.csv", "--who", "sex=F")
    assert result.exit_code == 2
    assert "--who: itemsets say nothing about a sensitive column" in result.stderr


def test_one_person_alone_is_answered(rules: Path) -> None:
    Path("one.csv").write_text("sex,ill\nF,yes\n")
    mined = tacit(
        "mine", "rules", "one.csv", "--qi", "sex", "--sa", "ill", "--min-support", "1", "--min-confidence", "1", "-o", "1.csv"
    )
    assert mined.exit_code == 0, mined.output
    result = tacit("explain", "1.csv", "--known", "one.csv", "--who", "sex=F")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("1 person fits sex=F. ill, by maximum entropy:")


def test_a_pipe_gets_only_the_record(rules: Path) -> None:
    done = program("explain", "rules.csv", "--known", "people.csv", "--who", "sex=F", "--json", "-", cwd=rules.parent)
    assert done.returncode == 0
    assert json.loads(done.stdout)["who"] == {"sex": "F"}
    assert done.stderr == b""
