"""What the verdict may say: attacks that were left out, estimates without a limit, limits that were loosened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shell import record, tacit


def itemsets(folder: Path, counts: dict[str, int], name: str = "r.csv", **header: Any) -> Path:
    """A list of itemsets, each written as its letters, with its header."""
    path = folder / name
    lines = [f'"{json.dumps(list(letters))}"'.replace('"', '""')[1:-1] + f",{count}" for letters, count in counts.items()]
    path.write_text("\n".join(["itemset,count", *lines]) + "\n")
    (folder / f"{name}.json").write_text(json.dumps({"format": "tacit.itemsets/1"} | header))
    return path


def status(found: dict[str, Any]) -> dict[str, str]:
    """The status of each attack of a record."""
    return {attack["code"]: attack["status"] for attack in found["attacks"]}


@pytest.fixture
def behind(tmp_path: Path) -> Path:
    """A complete list that only its missing itemset gives away."""
    counts = {"a": 100, "b": 100, "c": 200, "ab": 80, "ac": 75, "bc": 80}
    return itemsets(tmp_path, counts, n=1000, min_support=65, complete=True)


def test_an_attack_that_applies_and_was_not_asked_for_prevents_a_pass(behind: Path) -> None:
    assert record("audit", behind, code=1)["verdict"] == "exposed"
    found = record("audit", behind, "--attack", "I01", code=3)
    assert found["verdict"] == "incomplete"
    assert (status(found)["I01"], status(found)["I02"], status(found)["R01"]) == ("ran", "not-asked", "not-relevant")
    told = tacit("audit", behind, "--attack", "I01").stdout
    assert "1 more attack applies and was not asked for" in " ".join(told.split())
    assert "leave --attack out" in told


def test_an_attack_that_does_not_apply_need_not_be_asked_for(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50}, n=100)
    found = record("audit", path, "--attack", "I01")
    assert (found["verdict"], status(found)["I02"]) == ("clean", "not-relevant")


def test_findings_count_as_always_where_some_attacks_were_left_out(tmp_path: Path) -> None:
    path = itemsets(tmp_path, {"a": 50, "b": 60, "ab": 49}, n=100, min_support=40, complete=True)
    found = record("audit", path, "--attack", "I01", code=1)
    assert (found["verdict"], status(found)["I02"]) == ("exposed", "not-asked")
    assert found["findings"][0]["statement"] == "1 person has a but not b."


def test_attacks_left_out_of_a_joint_audit_prevent_a_pass(tmp_path: Path) -> None:
    first = itemsets(tmp_path, {"a": 50}, "a.csv", n=100, min_support=40, complete=True)
    second = itemsets(tmp_path, {"c": 60}, "b.csv", n=100)
    found = record("audit", first, second, "--people", "same", "--attack", "I01", code=3)
    assert (status(found)["I02"], status(found)["X01"]) == ("not-asked", "not-asked")
    apart = record("audit", second, second, "--people", "unknown", "--attack", "I01")
    assert (apart["verdict"], status(apart)["X01"]) == ("clean", "not-relevant")
