"""``tacit mine negative`` as it is used."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.shell import record, tacit


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty people: no man has cancer."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("sex,age,ill\n" + "F,30,flu\n" * 6 + "M,31,flu\n" * 9 + "F,31,cancer\n" * 5)


ASK = ("mine", "negative", "people.csv", "--qi", "sex,age", "--sa", "ill", "--min-expectation", "0.9")


def test_the_record_and_the_file_hold_the_rules() -> None:
    told = record(*ASK, "-o", "rules.csv")
    assert (told["format"], told["n"], told["rules"], told["minimal_rules"]) == ("tacit.negative/1", 20, 3, 2)
    assert told["excluded_values"] == {"0": 0.3, "1": 0.7}
    with open("rules.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    minimal = next(line for line in lines if line["minimal"] == "true" and line["excluded"] == "cancer")
    assert json.loads(minimal["antecedent"]) == {"sex": ["M"]}
    assert (minimal["excluded"], minimal["count"]) == ("cancer", "9")
    header = json.loads(Path("rules.csv.json").read_text())
    assert (header["n"], header["sa_values"], header["rules"]) == (20, ["cancer", "flu"], 3)


def test_coarser_values_are_listed_with_their_members() -> None:
    Path("trees").mkdir()
    Path("trees/age.csv").write_text("30;thirties;*\n31;thirties;*\n")
    record(*ASK, "--hierarchies", "trees", "-o", "rules.csv")
    assert '""age"": [""30"", ""31""]' in Path("rules.csv").read_text()


def test_the_text_tells_how_chance_was_taken_into_account() -> None:
    assert "Not corrected for" in tacit(*ASK).stdout
    assert "Bonferroni" in tacit(*ASK, "--significance", "0.05").stdout
    assert "With shuffled values" in tacit(*ASK, "--permutations", "2").stdout
    assert record(*ASK, "--permutations", "2")["by_chance"]["rules"] >= 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--max-length", "0"), "--max-length: must be at least 1"),
        (("--significance", "0"), "--significance: "),
        (("-o", "rules.txt"), "rules.txt: "),
        (("--qi", "nobody"), "there is no column 'nobody'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(more: tuple[str, ...], said: str) -> None:
    result = tacit(*ASK, *more)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not Path("rules.csv").exists()
