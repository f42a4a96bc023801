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


def test_a_level_that_repeats_a_value_counts_as_one_of_the_paper_does() -> None:
    plain = record(*ASK)
    Path("trees").mkdir()
    Path("trees/sex.csv").write_text("F;F;*\nM;M;*\n")
    told = record(*ASK, "--hierarchies", "trees", "-o", "rules.csv")
    assert (plain["rules"], told["rules"]) == (3, 6)  # each rule names a sex, once as the value and once as its own coarser value
    assert (told["minimal_rules"], told["excluded_values"]) == (plain["minimal_rules"], plain["excluded_values"])
    Path("trees/sex.csv").write_text("F;women;*\nM;men;*\n")
    again = record(*ASK, "--hierarchies", "trees")
    assert again == told
    assert record(*ASK, "--hierarchies", "trees", "--fuzzy", "age=1")["rules"] == 4


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
        (("--min-confidence", "0"), "--min-confidence: must be a share of more than 0"),
        (("--min-confidence", "1.5"), "--min-confidence: must be a share"),
        (("--fuzzy", "age"), "--fuzzy: is not of the form COLUMN=SPREAD. Write for instance --fuzzy age=2."),
        (("--fuzzy", "agge=1"), "--fuzzy: 'agge' is not a quasi-identifying column. Did you mean 'age'?"),
        (("--fuzzy", "age=wide"), "--fuzzy age: is not a number. Write for instance --fuzzy age=2"),
        (("--fuzzy", "age=0"), "--fuzzy age: the spread must be more than 0."),
        (("--fuzzy", "age=1", "--fuzzy", "age=2"), "--fuzzy: names column 'age' twice."),
        (("--fuzzy", "sex=1"), "column 'sex', row 1 of the data: is not a number. Leave the column out of --fuzzy"),
        (("--seed", "-1"), "--seed: must be 0 or more"),
        (("--hierarchies", "nowhere"), "nowhere: is not a folder"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(more: tuple[str, ...], said: str) -> None:
    result = tacit(*ASK, *more)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not Path("rules.csv").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("age", "30;x;*\n", "trees/age.csv: 1 value of column 'age' is not in its hierarchy (first in row 7 of the data)."),
        (
            "age",
            "F;x;*\nM;x;*\n",
            "trees/age.csv: 2 values of column 'age' are not in its hierarchy (first in row 1 of the data).",
        ),
        ("age", "30;x;*\n31;x;*\n30;y;*\n", "trees/age.csv, line 3: gives the value of line 1 other levels."),
        ("age", "30;x;z;*\n31;x;w;*\n", "trees/age.csv, line 2: puts a coarser value under another one than line 1 does."),
        ("height", "30;x;*\n31;x;*\n", "trees: holds no hierarchy of any column."),
        ("ill", "flu;x;*\ncancer;x;*\n", "trees: holds no hierarchy of any column."),
    ],
)
def test_hierarchies_that_do_not_fit_are_refused(name: str, text: str, said: str) -> None:
    Path("trees").mkdir()
    Path(f"trees/{name}.csv").write_text(text)
    result = tacit(*ASK, "--hierarchies", "trees", "-o", "rules.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert not Path("rules.csv").exists()


def test_fuzzy_columns_can_stand_in_the_settings() -> None:
    plain = record(*ASK)
    Path("tacit.toml").write_text(
        '[data]\nqi = ["sex", "age"]\nsa = "ill"\nfuzzy = { age = 1 }\n[thresholds]\nmin_expectation = 0.9\n'
    )
    told = record("mine", "negative", "people.csv")
    assert told == record(*ASK, "--fuzzy", "age=1")
    assert told["fuzzy"] == {"age": 1.0}
    assert (told["rules"], plain["rules"]) == (2, 3)  # women of 30 are close to women of 31, who have no flu
    assert record("mine", "negative", "people.csv", "--qi", "sex")["fuzzy"] == {}
    assert "Fuzzy: age (spread 1)" in tacit("mine", "negative", "people.csv").stdout


def test_a_fuzzy_rule_lists_who_belongs_fully_and_says_nothing_false() -> None:
    record(*ASK, "--fuzzy", "age=1", "-o", "rules.csv")
    with open("rules.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [json.loads(line["antecedent"]) for line in lines] == [{"sex": ["M"]}, {"sex": ["M"], "age": ["31"]}]
    assert {(line["at_most"], line["confidence"]) for line in lines} == {("0", "1.0")}
    assert json.loads(Path("rules.csv.json").read_text())["fuzzy"] == {"age": 1.0}


def test_rules_with_exceptions_say_how_many_and_whom_they_would_wrong() -> None:
    told = record(*ASK, "--min-confidence", "60%", "-o", "rules.csv")
    assert (told["min_confidence"], told["own_excluded"], told["rules"], told["minimal_rules"]) == (0.6, 5, 4, 3)
    with open("rules.csv", newline="") as stream:
        unsure = [line for line in csv.DictReader(stream) if line["at_most"] != "0"]
    assert [(json.loads(line["antecedent"]), line["excluded"], line["at_most"]) for line in unsure] == [
        ({"age": ["31"]}, "cancer", "0.358")  # 5 of 14, rounded up
    ]
    assert float(unsure[0]["confidence"]) == 9 / 14
    assert json.loads(Path("rules.csv.json").read_text())["min_confidence"] == 0.6
    text = tacit(*ASK, "--min-confidence", "60%").stdout
    assert "would rule out the true value of 5 people, so nobody can be matched to values by them" in text


def test_one_sensitive_value_leaves_nothing_to_rule_out() -> None:
    Path("people.csv").write_text("sex,age,ill\n" + "F,30,flu\n" * 6)
    result = tacit(*ASK)
    assert result.exit_code == 0
    assert "There is only one sensitive value" in result.stdout
    Path("people.csv").write_text("sex,age,ill\nF,30,flu\n")
    assert tacit(*ASK, "--fuzzy", "age=1").stdout.startswith("0 negative rules about 1 person;")
    assert "1 person (100.00 %)" in tacit(*ASK).stdout


def test_time_that_runs_out_is_incomplete_and_nothing_is_written() -> None:
    names = [f"c{number}" for number in range(16)]
    rows = [",".join([*(str((row >> bit) % 2) for bit in range(16)), "st"[row % 2]]) for row in range(3000)]
    Path("wide.csv").write_text(",".join([*names, "v"]) + "\n" + "\n".join(rows) + "\n")
    ask = ("mine", "negative", "wide.csv", "--qi", ",".join(names), "--sa", "v", "--min-expectation", "0.5")
    result = tacit(*ask, "--time-limit", "0.01", "-o", "rules.csv")
    assert result.exit_code == 3
    assert "or ask for shorter antecedents with --max-length" in result.stderr
    assert not Path("rules.csv").exists()
