"""``tacit sweep`` as a user types it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.shell import endless, leaking_baskets, people, program, record, tacit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    leaking_baskets(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_thresholds_as_table_record_csv_and_picture() -> None:
    arguments = ("sweep", "itemsets", "baskets.dat", "--min-support", "50,20", "--min-support", "70%", "--k", "2", "--k", "5,10")
    made = record(*arguments, "--csv", "grid.csv", "--picture", "grid.svg")
    assert made["format"] == "tacit.sweep/1"
    assert made["finished"] is True
    assert [(cell["min_support"], cell["k"]) for cell in made["cells"]] == [(s, k) for s in (50, 49, 20) for k in (2, 5, 10)]
    assert [cell["verdict"] for cell in made["cells"][::3]] == ["clean", "exposed", "exposed"]
    assert [one["min_support"] for one in made["lowest"]] == [50, 50, 50]
    assert len(Path("grid.csv").read_text().splitlines()) == 10
    ET.parse("grid.svg")
    told = tacit(*arguments)
    assert told.exit_code == 0
    assert "Lowest threshold at which I01 and I02 find nothing\n  - k = 2: 50 people (71.43 %)" in told.stdout
    assert record(*arguments) == made


@pytest.mark.usefixtures("folder")
def test_the_lowest_threshold_is_what_the_audit_calls_clean(tmp_path: Path) -> None:
    table = people(tmp_path)
    options = ("--qi", "sex,age", "--sa", "ill", "--missing", "?", "--missing-rule", "drop")
    made = record("sweep", "itemsets", table, "--min-support", "10%", "--k", "4", *options)
    lowest = made["lowest"][0]["min_support"]
    for least, verdict, code in ((lowest, "clean", 0), (lowest - 1, "exposed", 1)):
        assert tacit("mine", "itemsets", table, "--min-support", least, *options, "-o", "sets.csv").exit_code == 0
        assert record("audit", "sets.csv", "--k", "4", code=code)["verdict"] == verdict


@pytest.mark.usefixtures("folder")
def test_every_attack_counts_deduction_everywhere() -> None:
    plain = record("sweep", "itemsets", "baskets.dat", "--min-support", "50,20")["cells"]
    counted = record("sweep", "itemsets", "baskets.dat", "--min-support", "50,20", "--every-attack")["cells"]
    assert [cell["deduced"] for cell in plain] == [0, None]
    assert all(cell["deduced"] is not None for cell in counted)


@pytest.mark.usefixtures("folder")
def test_thresholds_and_k_may_stand_in_the_config() -> None:
    Path("tacit.toml").write_text('[thresholds]\nmin_support = "50"\n[policy]\nk = 7\n')
    made = record("sweep", "itemsets", "baskets.dat")
    assert [(cell["min_support"], cell["k"]) for cell in made["cells"]] == [(50, 7)]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["itemsets", "baskets.dat"], "--min-support: is missing."),
        (["itemsets", "baskets.dat", "--min-support", "x"], "--min-support: is not a number."),
        (["itemsets", "baskets.dat", "--min-support", "5,,-1"], "--min-support: must be more than 0."),
        (["itemsets", "baskets.dat", "--min-support", ","], "--min-support: is missing."),
        (["itemsets", "baskets.dat", "--min-support", "5", "--k", "0"], "--k: must be a whole number of at least 1."),
        (["itemsets", "baskets.dat", "--min-support", "5", "--k", "x"], "--k: must be a whole number of at least 1."),
        (["itemsets", "nothing.dat", "--min-support", "5"], "nothing.dat: there is no such file."),
        (["itemsets", "empty.dat", "--min-support", "5"], "empty.dat: "),
        (["itemsets", "baskets.dat", "--min-support", "5", "--csv", "baskets.dat"], "baskets.dat: is also read"),
        (["itemsets", "baskets.dat", "--min-support", "5", "--picture", "no/where.svg"], "the folder does not exist."),
        (["itemset", "baskets.dat"], "Did you mean 'itemsets'?"),
        (["rounding", "baskets.dat"], "baskets.dat"),
        (["rounding", "sets.csv", "--base", "1"], "--base: must be a whole number from 2 to"),
        (["rounding", "sets.csv", "--base", "a,b"], "--base: takes whole numbers."),
        (["rounding", "sets.csv", "--decimals", "13"], "--decimals: must be a whole number from 0 to 12."),
        (["rounding", "sets.csv", "--k", "0"], "--k: must be"),
        (["rounding", "sets.csv", "--qi", "a"], "--qi and --sa: sets.csv, line 2, holds an item that is not a value"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], told: str) -> None:
    Path("empty.dat").write_text("")
    assert tacit("mine", "itemsets", "baskets.dat", "--min-support", "20", "-o", "sets.csv").exit_code == 0
    result = tacit("sweep", *arguments)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("folder")
def test_one_person() -> None:
    Path("one.dat").write_text("a b\n")
    made = record("sweep", "itemsets", "one.dat", "--min-support", "1,100%", "--k", "1,2")
    assert [(cell["k"], cell["verdict"]) for cell in made["cells"]] == [(1, "clean"), (2, "exposed")]
    assert [one["min_support"] for one in made["lowest"]] == [1, None]


@pytest.mark.usefixtures("folder")
def test_precision_as_table_record_csv_and_picture() -> None:
    assert tacit("mine", "itemsets", "baskets.dat", "--min-support", "20", "-o", "sets.csv").exit_code == 0
    made = record("sweep", "rounding", "sets.csv", "--data", "baskets.dat", "--csv", "p.csv", "--picture", "p.svg")
    assert made["settings"][0]["verdict"] == "exposed"
    assert made["finest"] == {"base": 2, "decimals": 1}
    assert len(Path("p.csv").read_text().splitlines()) == 1 + len(made["settings"])
    ET.parse("p.svg")
    told = tacit("sweep", "rounding", "sets.csv", "--base", "5,10")
    assert told.exit_code == 0
    assert "Finest safe base: 5\n" in told.stdout
    assert "decimals" not in told.stdout
    repaired = record("repair", "sets.csv", "--method", "round", "-o", "r.csv")
    assert repaired["after"]["release"][0].get("base") == 5  # the policy's, though a finer one would be safe


def test_a_time_limit_ends_with_what_is_known(tmp_path: Path) -> None:
    path = endless(tmp_path)
    done = program(
        "sweep", "itemsets", path, "--min-support", "395,300", "--k", "5", "--time-limit", "2", "--json", "-", cwd=tmp_path
    )
    assert done.returncode == 3
    made = json.loads(done.stdout)
    assert made["finished"] is False
    assert all(cell["verdict"] != "clean" for cell in made["cells"] if cell["channels"] is None)


def test_without_a_terminal_nothing_but_the_table_is_said(tmp_path: Path) -> None:
    leaking_baskets(tmp_path)
    done = program("sweep", "itemsets", "baskets.dat", "--min-support", "20", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == b""
