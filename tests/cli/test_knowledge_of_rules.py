"""What an attacker knows besides rules counts when they are repaired and explained, not only when they are audited."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tacit as library
from tacit.model.errors import OptionError
from tests.shell import record, tacit

SICK = {"sex": ["F"] * 6 + ["M"] * 6, "town": ["A", "B"] * 6, "ill": ["flu"] * 3 + ["cold"] * 3 + ["flu"] * 2 + ["cold"] * 4}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data, rules that leave the women's illness open, and a fact about some of them."""
    monkeypatch.chdir(tmp_path)
    with open("people.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([list(SICK), *zip(*SICK.values(), strict=True)])
    people = library.read_table("people.csv", qi="sex,town", sa="ill")
    library.write_release(library.mine_rules(people, min_support=7, min_confidence="0.5"), "rules.csv")
    Path("facts.csv").write_text('event,value,at_least,at_most\n"{""sex"": ""F"", ""town"": ""A""}",flu,2,\n')


def test_what_is_known_moves_an_explanation() -> None:
    asked = ("explain", "rules.csv", "--who", "sex=F,town=A", "--data", "people.csv")
    before, after = record(*asked), record(*asked, "--knowledge", "facts.csv")
    guessed = [next(value["posterior"] for value in told["values"] if value["value"] == "flu") for told in (before, after)]
    assert guessed == pytest.approx([1 / 2, 2 / 3])
    assert "known from elsewhere" in json.dumps(after)


def test_a_repair_must_hold_against_what_is_known() -> None:
    how = ("repair", "rules.csv", "--data", "people.csv", "--method", "withdraw", "--max-posterior", "0.66", "--no-suggest")
    assert tacit(*how, "-o", "one.csv").exit_code == 0
    # With the fact alone two thirds of those women have the flu: no list of rules is safe then, and it says so.
    assert tacit(*how, "--knowledge", "facts.csv", "-o", "other.csv").exit_code == 1


def test_knowledge_does_not_help_against_itemsets() -> None:
    baskets = library.read_transactions([["a", "b"]] * 49 + [["a"]])
    with pytest.raises(OptionError, match="--knowledge"):
        library.repair(library.mine_itemsets(baskets, min_support=40), method="raise-threshold", knowledge=[({"a": "1"}, "b")])
