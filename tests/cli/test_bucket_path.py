"""The whole path as a new user walks it: mine what an attacker knows, bucketize, audit what would be published."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

import tacit
from tests.shell import program, record
from tests.shell import tacit as run

ROLES = ("--qi", "sex,age", "--sa", "ill")


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """400 people with seven illnesses: some are only women's, one only men's, one nobody under 30 has."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(11)
    rows = []
    for _ in range(400):
        sex, age = chance.choice("FM"), chance.randint(20, 45)
        ill = ["flu", "cold", "asthma", "migraine", "ovarian" if sex == "F" else "prostate"] + ["gout"] * (age >= 30)
        rows.append(f"{sex},{age},{chance.choice(ill)}")
    Path("people.csv").write_text("sex,age,ill\n" + "\n".join(rows) + "\n")
    Path("trees").mkdir()
    Path("trees/age.csv").write_text("".join(f"{age};{age // 10 * 10}s;*\n" for age in range(18, 60)))


def mined(*more: str) -> dict[str, Any]:
    return record(
        "mine", "negative", "people.csv", *ROLES, "--min-expectation", "0.99", "--hierarchies", "trees", *more, "-o", "known.csv"
    )


def test_what_is_mined_protects_what_is_published() -> None:
    told = mined("--significance", "5%")
    assert told["own_excluded"] == 0
    made = record("bucketize", "people.csv", *ROLES, "--l", "4", "--knowledge", "known.csv", "-o", "buckets")
    assert (made["after"]["verdict"], made["after"]["measures"]["vulnerable"]) == ("clean", 0)
    told = record("audit", "buckets", "--knowledge", "known.csv", "--l", "4")
    assert (told["verdict"], told["measures"]["vulnerable"]) == ("clean", 0)
    assert ages("buckets/qit.csv") == ages("people.csv")


def ages(path: str) -> list[str]:
    with open(path, newline="") as stream:
        return sorted(row["age"] for row in csv.DictReader(stream))


def test_grouping_without_the_knowledge_does_not() -> None:
    mined("--significance", "5%")
    made = run("bucketize", "people.csv", *ROLES, "--l", "4", "--method", "anatomy", "-o", "buckets")
    assert made.exit_code == 0, made.output  # whoever knows nothing learns nothing
    told = record("audit", "buckets", "--knowledge", "known.csv", "--l", "4", code=1)
    assert told["verdict"] == "exposed"
    assert told["measures"]["vulnerable"] > 0
    Path("audit.json").write_text(json.dumps(told))
    checked = run("verify", "audit.json", "buckets", "--knowledge", "known.csv")
    assert checked.exit_code == 0, checked.output


def test_the_own_value_stays_possible_whatever_is_fuzzy() -> None:
    people = tacit.read_table("people.csv", qi=["sex", "age"], sa="ill")
    rules = tacit.mine_negative_rules(people, min_expectation=0.9, hierarchies="trees", fuzzy={"age": 2}, significance="5%")
    assert len(rules) > 0
    buckets = tacit.bucketize(people, l=4, knowledge=rules)
    assert tacit.audit(buckets, knowledge=rules, policy=tacit.Policy(l=4)).measures["vulnerable"] == 0


def test_groups_withstand_rules_with_exceptions_and_others_do_not() -> None:
    told = mined("--min-confidence", "85%")
    assert told["own_excluded"] != 0
    made = record("bucketize", "people.csv", *ROLES, "--l", "3", "--knowledge", "known.csv", "-o", "safe")
    assert made["cost"]["vulnerable"] == 0
    told = record("audit", "safe", "--knowledge", "known.csv", "--l", "3")
    ran = {one["code"]: (one["status"], one["findings"]) for one in told["attacks"]}
    assert ran["R03"] == ran["B01"] == ("ran", 0)
    assert run("bucketize", "people.csv", *ROLES, "--l", "3", "-o", "buckets").exit_code == 0
    told = record("audit", "buckets", "--knowledge", "known.csv", "--l", "3", code=1)
    ran = {one["code"]: (one["status"], one["findings"]) for one in told["attacks"]}
    assert ran["R03"][0] == ran["B01"][0] == "ran"
    assert ran["R03"][1] >= ran["B01"][1] > 0, "what has exceptions bounds values as well"


def test_chance_rules_that_leave_somebody_too_little_end_at_once_with_what_helps() -> None:
    mined()
    result = run("bucketize", "people.csv", *ROLES, "--l", "7", "--knowledge", "known.csv", "-o", "buckets")
    assert result.exit_code == 2
    assert "have fewer than 7 possible values in every grouping" in result.stderr
    assert not Path("buckets").exists()


def test_in_a_pipe_and_without_a_terminal(tmp_path: Path) -> None:
    for arguments in (
        ("mine", "negative", "people.csv", *ROLES, "--min-expectation", "99%", "-o", "known.csv"),
        ("bucketize", "people.csv", *ROLES, "--l", "3", "--knowledge", "known.csv", "-o", "buckets"),
        ("audit", "buckets", "--knowledge", "known.csv", "--l", "3"),
    ):
        done = program(*arguments, cwd=tmp_path, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert "\x1b" not in done.stdout
