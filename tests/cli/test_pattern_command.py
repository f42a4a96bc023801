"""``tacit explain --pattern`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tacit as library
from tests.shell import content, leaking_baskets, people, record, tacit


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a release of baskets."""
    monkeypatch.chdir(tmp_path)
    assert tacit("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", "20", "-o", "sets.csv").exit_code == 0
    return tmp_path / "sets.csv"


def test_the_sum_is_written_out(release: Path) -> None:
    result = tacit("explain", release, "--pattern", "a and not b")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("1 person: a and not b.\n")
    assert "1. plus 50: people with a (line 2)" in result.stdout
    assert "2. minus 49: people with a and b (line 3)" in result.stdout
    assert "3. sum: 1" in result.stdout


def test_the_record_is_that_of_the_library(release: Path) -> None:
    made = record("explain", release, "--pattern", "a or c")
    found = library.support_of(release, pattern="a or c")
    limits = ["k = 10: not proved to be a group of fewer than 10 people"]
    assert content(made) == {"format": "tacit.explanation/1", "limits": limits} | json.loads(json.dumps(found.to_dict()))
    assert made["count"] == [51, 70]
    assert made["exact"] is False
    assert {entry.get("line", entry.get("cell")) for entry in made["because"]} == {2, 5, "min_support"}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "--pattern: is empty"),
        ("a and", "--pattern, position 6: an item is missing"),
        ("(a", "--pattern, position 1: the parenthesis that opens here is not closed"),
        ("a c", "--pattern, position 3: 'and' or 'or' is missing"),
        ("nothing", "--pattern, position 1: the release has no item 'nothing'"),
    ],
)
def test_mistakes_are_one_sentence(release: Path, pattern: str, said: str) -> None:
    result = tacit("explain", release, "--pattern", pattern)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    "option", [("--l", "3"), ("--max-gain", "0.1"), ("--finding", "I01-3f2a9c1b04de"), ("--data", "baskets.dat")]
)
def test_options_of_findings_are_refused(release: Path, option: tuple[str, str]) -> None:
    result = tacit("explain", release, "--pattern", "a", *option)
    assert result.exit_code == 2
    assert f"{option[0]}: applies to " in result.stderr


def test_the_size_limit_judges_the_pattern(release: Path) -> None:
    assert "- k = 3: not proved to be a group" in tacit("explain", release, "--pattern", "a", "--k", "3").stdout
    large = tacit("explain", release, "--pattern", "a and not b", "--k", "60")
    assert large.exit_code == 0
    assert "- k = 60: a group of fewer than 60 people, which the policy does not allow" in " ".join(large.stdout.split())


def test_rules_are_audited_explained_verified_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ("--qi", "sex", "--sa", "ill", "--min-support", "5", "--min-confidence", "0.6")
    assert tacit("mine", "rules", people(tmp_path), *wanted, "-o", "rules.csv").exit_code == 0
    audit = record("audit", "rules.csv", code=1)
    Path("audit.json").write_text(json.dumps(audit))
    statuses = {attack["code"]: attack["status"] for attack in audit["attacks"]}
    assert statuses["R01"] == "ran"
    assert audit["findings"][0]["event"] == {"present": ["sex=F"], "absent": ["ill=no"]}
    assert audit["findings"][0]["same_people"] == {"present": ["ill=yes", "sex=F"], "absent": []}
    assert record("verify", "audit.json", "rules.csv")["problems"] == []
    told = tacit("explain", "rules.csv").stdout
    assert told.startswith(audit["findings"][0]["id"])
    assert "That leaves 1 person." in told
    assert record("explain", "rules.csv", "--finding", audit["findings"][0]["id"])["finding"] == audit["findings"][0]
    assert record("explain", "rules.csv", "--pattern", "sex=F and ill=yes")["count"] == [1, 1]
    assert record("explain", "rules.csv", "--pattern", "sex=F and sex=M")["count"] == [0, 0]


def test_rules_without_the_people_they_are_about_are_never_called_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.csv").write_text('antecedent,consequent,count,support,confidence\n"[""a""]","[""b""]",500,,0.5\n')
    made = record("audit", "rules.csv", code=3)
    assert made["verdict"] == "incomplete"
    assert record("audit", "rules.csv", "--attack", "R01", code=3)["verdict"] == "incomplete"
    waiting = [attack for attack in made["attacks"] if attack["status"] == "unavailable"]
    assert waiting
    assert all(attack["reason"] for attack in waiting)


def test_rules_that_only_together_clash_name_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """61.5 to 62.2 people have a by the first line, 60.6 to 61.3 by the second."""
    monkeypatch.chdir(tmp_path)
    lines = ['"[""a""]","[""b""]",60,,0.97', '"[""a""]","[""c""]",50,,0.82']
    Path("rules.csv").write_text("antecedent,consequent,count,support,confidence\n" + "\n".join(lines) + "\n")
    result = tacit("audit", "rules.csv")
    assert result.exit_code == 2
    assert "lines 2 and 3" in result.stderr
    assert result.stderr.count("\n") == 1
