"""Mined negative rules as what an adversary knows: with a release of rules, and where people are matched to values."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.files.knowledge import read_knowledge, write_negative_rules
from tacit.model.errors import InputError
from tacit.model.knowledge import Exclusions
from tests.shell import record
from tests.shell import tacit as run


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tacit.Table:
    """200 people: no man has cancer, one of about fifty young women has."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(8)
    rows = []
    for number in range(200):
        sex, age = "FM"[number % 2], ("old", "young")[number // 2 % 2]
        ill = ["flu", "cold"] + ["cancer"] * (sex == "F" and (age == "old" or number == 2))
        rows.append(f"{sex},{age},{chance.choice(ill)}" if number != 2 else "F,young,cancer")
    Path("people.csv").write_text("sex,age,ill\n" + "\n".join(rows) + "\n")
    Path("known.csv").write_text("sex,age\n" + "\n".join(row.rsplit(",", 1)[0] for row in rows) + "\n")
    return tacit.read_table("people.csv", qi=["sex", "age"], sa="ill")


MINE = ("mine", "negative", "people.csv", "--qi", "sex,age", "--sa", "ill", "--min-expectation", "0.9")


def estimates(knowledge: Any, people: tacit.Table) -> dict[str, float]:
    """How probable cancer is after a release that says little, by R02."""
    rules = tacit.mine_rules(people, min_support=60, min_confidence="90%", withhold_values=True, incomplete=True)
    table = tacit.audit(rules, known=people.qi, knowledge=knowledge, attacks=["R02"]).table("posterior")
    lines = zip(table["sex"], table["age"], table["ill"], table["posterior"], strict=True)
    return {f"{sex} {age}": float(share) for sex, age, ill, share in lines if ill == "cancer"}


def test_rules_with_exceptions_limit_what_an_attacker_estimates(people: tacit.Table) -> None:
    without = estimates(None, people)
    certain = tacit.mine_negative_rules(people, min_expectation=0.9)
    unsure = tacit.mine_negative_rules(people, min_expectation=0.9, min_confidence="97%")
    assert min(without.values()) > 0.1
    sure, soft = estimates(certain, people), estimates(unsure, people)
    assert (sure["M old"], sure["M young"]) == pytest.approx((0, 0), abs=1e-6)
    assert sure["F young"] == pytest.approx(without["F young"], abs=1e-6)
    assert soft["F young"] == pytest.approx(1 / 50, abs=1e-4)  # at most the one woman in fifty, and maximum entropy takes her
    write_negative_rules(unsure, "unsure.csv")
    assert estimates("unsure.csv", people) == pytest.approx(soft, abs=1e-9)


def test_the_commands_do_the_same(people: tacit.Table) -> None:
    told = record(*MINE, "--min-confidence", "97%", "-o", "unsure.csv")
    assert told["own_excluded"] == 1
    run("mine", "rules", "people.csv", "--qi", "sex,age", "--sa", "ill", "--min-support", "20", "--min-confidence", "40%",
        "--withhold-values", "-o", "rules.csv")  # fmt: skip
    told = record("audit", "rules.csv", "--known", "known.csv", "--knowledge", "unsure.csv")
    assert told["adversary"]["knowledge"] == ["unsure.csv"]
    assert {row["code"]: row["status"] for row in told["attacks"]}["R02"] == "ran"


def test_nobody_is_matched_by_rules_with_exceptions(people: tacit.Table) -> None:
    unsure = tacit.mine_negative_rules(people, min_expectation=0.9, min_confidence="97%")
    write_negative_rules(unsure, "unsure.csv")
    for knowledge in (unsure, "unsure.csv", tacit_facts()):
        with pytest.raises(
            InputError, match=r"not that nobody has it, so nobody can be matched to values by it.*--min-confidence 1"
        ):
            Exclusions.of(read_knowledge(knowledge), people, people.sa.values)


def tacit_facts() -> list[dict[str, Any]]:
    return [{"event": {"sex": "F"}, "value": "flu", "at_least": "10%"}]


def test_what_other_lines_imply_is_passed_over(people: tacit.Table) -> None:
    rules = tacit.mine_negative_rules(people, min_expectation=0.9)
    assert (len(rules), rules.minimal_rules) == (3, 1)
    write_negative_rules(rules, "rules.csv")
    assert (
        [fact.allowed for fact in read_knowledge("rules.csv")]
        == [fact.allowed for fact in read_knowledge(rules)]
        == [{"sex": ("M",)}]
    )
    # Whoever takes a minimal rule out of the file has meant the others to stand for themselves.
    lines = Path("rules.csv").read_text().splitlines()
    Path("rules.csv").write_text("\n".join(line for line in lines if ",true," not in line) + "\n")
    assert len(read_knowledge("rules.csv")) == 2
    Path("rules.csv.json").write_text("[]")
    assert len(read_knowledge("rules.csv")) == 2
    Path("rules.csv.json").unlink()
    assert len(read_knowledge("rules.csv")) == 2


def test_a_file_without_a_rule_is_knowledge_of_nothing(people: tacit.Table) -> None:
    rules = tacit.mine_negative_rules(people, min_expectation=0.9, significance=1e-300)
    assert len(rules) == 0
    write_negative_rules(rules, "none.csv")
    assert read_knowledge("none.csv") == ()
    assert json.loads(Path("none.csv.json").read_text())["rules"] == 0
