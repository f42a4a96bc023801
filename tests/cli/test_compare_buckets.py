"""``tacit compare`` of a bucketized release, as the owner of the data types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacit as library
from tacit.model.buckets import Buckets
from tests.shell import content, record, tacit


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people, and one with their groups."""
    monkeypatch.chdir(tmp_path)
    rows = [
        "sex,age,ill",
        *(
            f"{sex},{age},{ill}"
            for sex, age, ill in [("F", 31, "flu"), ("F", 39, "cold"), ("M", 42, "flu"), ("M", 47, "flu")] * 6
        ),
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    people = library.read_table("people.csv", qi="sex,age", sa="ill")
    (tmp_path / "groups").mkdir()
    library.write_release(Buckets.of(people.qi, people.sa, np.repeat(np.arange(6, dtype=np.int32), 4)), "groups")
    return tmp_path / "groups"


def test_the_text_tells_errors_figures_and_guesses(groups: Path) -> None:
    result = tacit("compare", "groups", "--data", "people.csv", "--interval", "age=10")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.startswith("People 24 people in 6 groups, ill in them")
    assert "k = 4, l = 2 different values" in text
    for word in ("uniform", "debiased", "modelled", "confidence", "rules lost", "answers", "(B03)"):
        assert word in text
    assert "rule-aware" not in text


def test_the_record_is_that_of_the_library(groups: Path) -> None:
    made = record(
        "compare", "groups", "--data", "people.csv", "--dim", "1", "--queries", "20", "--seed", "3", "--rule-support", "3"
    )
    table = library.read_table("people.csv", qi="sex,age", sa="ill")
    same = library.utility("groups", data=table, dim=1, queries=20, seed=3, min_support=3)
    assert content(made) == json.loads(json.dumps(same.to_dict()))
    assert {"confidence_error", "identification_false_positive", "identification_false_negative", "query_error"} <= set(
        made["measures"]
    )
    assert made["measures"]["k_anonymity"] == 4


def test_knowledge_adds_a_way_to_read(groups: Path) -> None:
    mined = tacit(
        "mine", "negative", "people.csv", "--qi", "sex", "--sa", "ill", "--min-expectation", "0.8", "-o", "negative.csv"
    )
    assert mined.exit_code == 0, mined.output
    made = record("compare", "groups", "--data", "people.csv", "--knowledge", "negative.csv")
    assert made["measures"]["confidence_error_rule_aware"] < made["measures"]["confidence_error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--interval", "age"], "--interval: is not a column with a width"),
        (["--interval", "agee=10"], "--interval: there is no column 'agee'"),
        (["--interval", "sex=10"], "--interval: column 'sex' is not numeric"),
        (["--dim", "5"], "--dim: asks for 5 columns, and the release has 2"),
        (["--selectivity", "0"], "--selectivity: must be"),
        (["--csv", "out.csv"], "--csv: applies to rules"),
        (["--top", "3"], "--top: applies to rules"),
        (["--knowledge", "nowhere.csv"], "nowhere.csv"),
        (["--queries", "0"], "--queries: must be"),
        (["--sa", "age"], "--sa"),
    ],
)
def test_bad_options_are_said_in_one_sentence(groups: Path, arguments: list[str], said: str) -> None:
    result = tacit("compare", "groups", "--data", "people.csv", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_options_of_buckets_are_refused_for_rules(groups: Path) -> None:
    mined = tacit(
        "mine",
        "rules",
        "people.csv",
        "--qi",
        "sex,age",
        "--sa",
        "ill",
        "--min-support",
        "3",
        "--min-confidence",
        "0.6",
        "-o",
        "r.csv",
    )
    assert mined.exit_code == 0, mined.output
    for arguments in (["--dim", "2"], ["--interval", "age=10"], ["--knowledge", "people.csv"], ["--rule-support", "2"]):
        result = tacit("compare", "r.csv", "--data", "people.csv", *arguments)
        assert result.exit_code == 2
        assert f"{arguments[0]}: applies to bucketized releases" in result.stderr


def test_other_data_are_refused(groups: Path) -> None:
    (groups.parent / "others.csv").write_text("sex,age,ill\nX,99,secretpox\n", encoding="utf-8")
    result = tacit("compare", "groups", "--data", "others.csv")
    assert result.exit_code == 2
    assert "--data" in result.stderr
    assert "secretpox" not in result.stderr
