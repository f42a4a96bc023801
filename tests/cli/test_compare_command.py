"""``tacit compare`` as the owner of the data types it."""

from __future__ import annotations

import csv
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


def test_the_text_tells_divergence_guesses_and_calibration(rules: Path) -> None:
    result = tacit("compare", rules, "--data", "people.csv")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.startswith("People 60 people in ")
    assert "(D_overall)" in text
    assert "How often top guesses are right" in text
    assert "Surest guesses that are true" in text
    assert "with sex=M" in text


def test_the_record_is_that_of_the_library(rules: Path) -> None:
    made = record("compare", rules, "--data", "people.csv", "--top", "2")
    table = library.read_table("people.csv", qi="sex,age", sa="ill")
    audit = library.audit(library.read_release(rules), known=table.qi, attacks=["R02"])
    assert content(made) == json.loads(json.dumps(library.compare(audit, table).to_dict(top=2)))
    assert made["format"] == "tacit.comparison/1"
    assert made["measures"]["top_guess_right"] <= made["n"] == 60
    assert len(made["given_away"]) == 2
    assert sum(line["people"] for line in made["calibration"]) == 60


def test_everybody_stands_in_the_csv(rules: Path) -> None:
    result = tacit("compare", rules, "--data", "people.csv", "--csv", "all.csv")
    assert "Everybody written to all.csv" in result.stdout
    with open("all.csv", encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    made = record("compare", rules, "--data", "people.csv")
    assert len(lines) == 2 * made["combinations"]
    overall = sum(float(line["D_individual"]) * int(line["people"]) for line in lines) / 2 / 60
    assert overall == pytest.approx(made["measures"]["D_overall"], abs=1e-9)
    assert all(line["lower"] == "" for line in lines)
    assert sum(float(line["truth"]) * int(line["people"]) for line in lines if line["ill"] == "yes") == pytest.approx(31)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "tacit compare: --data is missing"),
        (("--data", "nowhere.csv"), "nowhere.csv"),
        (("--data", "sets.csv"), "sets.csv: there is no column 'sex'"),
        (("--data", "people.csv", "--sa", "age"), "--sa: the list names its sensitive columns itself: ill."),
        (("--data", "people.csv", "--csv", "people.csv"), "people.csv: is also read and would be lost"),
        (("--data", "baskets.dat"), "baskets.dat"),
    ],
)
def test_mistakes_are_one_sentence(rules: Path, arguments: tuple[str, ...], said: str) -> None:
    tacit("mine", "itemsets", leaking_baskets(rules.parent), "--min-support", "20", "-o", "sets.csv")
    result = tacit("compare", rules, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_itemsets_are_refused(rules: Path) -> None:
    tacit("mine", "itemsets", leaking_baskets(rules.parent), "--min-support", "20", "-o", "sets.csv")
    result = tacit("compare", "sets.csv", "--data", "people.csv")
    assert result.exit_code == 2
    assert "sets.csv: has itemsets" in result.stderr


def test_other_people_are_refused(rules: Path) -> None:
    rows = Path("people.csv").read_text().splitlines()
    Path("fewer.csv").write_text("\n".join(rows[:-1]) + "\n")
    result = tacit("compare", rules, "--data", "fewer.csv")
    assert result.exit_code == 2
    assert "the rules are about 60 people, the known data about 59" in result.stderr


def test_the_program_writes_only_the_record_into_a_pipe(rules: Path) -> None:
    done = program("compare", "rules.csv", "--data", "people.csv", "--json", "-", "--csv", "all.csv", cwd=rules.parent)
    assert done.returncode == 0
    assert json.loads(done.stdout)["n"] == 60
    assert done.stderr == b""
