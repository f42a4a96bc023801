"""A bucket, negative rules, a rule and a fact about the same four people: what each of them can have, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.known.proofs import bounds_of, state_everything
from tacit.model.policy import Limits
from tacit.verbs.known import several_case

QIT: dict[str, list[Any]] = {
    "name": ["Ann", "Bea", "Carl", "Dan"],
    "sex": list("ffmm"),
    "age": ["young", "old"] * 2,
    "group": [1] * 4,
}
ST = {"group": [1, 1, 1], "ill": ["flu", "ovarian", "prostate"], "count": [2, 1, 1]}
NEGATIVE: list[Any] = [({"sex": "m"}, "ovarian"), ({"sex": "f"}, "prostate")]
ANN_HAS_FLU = {"event": {"name": "Ann"}, "value": "flu", "at_least": 1}
EVERYTHING = "flu ovarian prostate"

CASES = {
    "the bucket alone": (False, [], [EVERYTHING] * 4),
    "and negative rules": (False, NEGATIVE, ["flu ovarian", "flu ovarian", "flu prostate", "flu prostate"]),
    "and a rule": (True, NEGATIVE, ["flu", "ovarian", "flu", "prostate"]),
    "and a fact instead": (False, [*NEGATIVE, ANN_HAS_FLU], ["flu", "ovarian", "flu prostate", "flu prostate"]),
}


def write_rule(folder: Path) -> Path:
    """The rule that old people have the flu with a confidence that prints as 0.0, so that at most one in ten has it."""
    path = folder / "rules.csv"
    path.write_text('antecedent,consequent,count,support,confidence\n"{""age"": ""old""}",flu,,,0.0\n', encoding="utf-8")
    header = {"format": "tacit.rules/1", "n": 4, "qi": ["sex", "age"], "sa": ["ill"], "sa_values": EVERYTHING.split()}
    path.with_name("rules.csv.json").write_text(
        json.dumps(header | {"complete": False, "rounding": "truncated"}), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize("name", CASES)
def test_everybody_keeps_just_the_values_that_fit(name: str, tmp_path: Path) -> None:
    with_rule, knowledge, expected = CASES[name]
    releases: list[Any] = [tacit.read_buckets(qit=QIT, st=ST)]
    releases += [tacit.read_release(write_rule(tmp_path))] if with_rule else []
    case = several_case(releases, knowledge=knowledge)
    assert case is not None
    impossible = bounds_of(case, state_everything(case), Limits()).impossible
    found = {
        case.population.describe(q)["name"]: " ".join(value for value, out in zip(case.values, row, strict=True) if not out)
        for q, row in enumerate(impossible.tolist())
    }
    assert found == dict(zip(QIT["name"], expected, strict=True))
