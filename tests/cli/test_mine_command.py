"""``tacit mine``, from files to files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tacit as library
from tests.shell import content, leaking_baskets, people, record, tacit

SUPPORTS = ["--min-support", "40"]


def test_mine_itemsets_writes_the_release_and_its_header(tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    result = tacit("mine", "itemsets", leaking_baskets(tmp_path), *SUPPORTS, "-o", out)
    assert result.exit_code == 0
    assert result.stdout.startswith("3 frequent itemsets about 70 people\nSupport     at least 40 people (57.14 %)\n")
    with open(out) as stream:
        rows = {tuple(json.loads(row["itemset"])): int(row["count"]) for row in csv.DictReader(stream)}
    assert rows == {("a",): 50, ("b",): 49, ("a", "b"): 49}
    header = json.loads((tmp_path / "r.csv.json").read_text())
    assert (header["n"], header["min_support"], header["complete"]) == (70, 40, True)
    assert {path.name for path in tmp_path.iterdir()} == {"baskets.dat", "r.csv", "r.csv.json"}


@pytest.mark.parametrize(("only", "number"), [("all", 3), ("closed", 2), ("maximal", 1)])
def test_the_record_counts_what_was_asked_for(tmp_path: Path, only: str, number: int) -> None:
    made = record("mine", "itemsets", leaking_baskets(tmp_path), *SUPPORTS, "--only", only)
    assert content(made) == {"format": "tacit.itemsets/1", "n": 70, "min_support": 40, only: number}


@pytest.mark.parametrize(
    ("threshold", "strict", "count"), [("0.7", [], 49), ("70%", [], 49), ("49", [], 49), ("49", ["--strict"], 50)]
)
def test_thresholds_are_shares_or_counts(tmp_path: Path, threshold: str, strict: list[str], count: int) -> None:
    made = record("mine", "itemsets", leaking_baskets(tmp_path), "--min-support", threshold, *strict)
    assert (made["min_support"], made["all"]) == (count, 3 if count == 49 else 1)


def test_without_an_output_nothing_is_written(tmp_path: Path) -> None:
    result = tacit("mine", "itemsets", leaking_baskets(tmp_path), *SUPPORTS)
    assert "Nothing was written" in result.stdout
    assert "50 a" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"baskets.dat"}


def test_tables_take_roles_and_a_missing_rule(tmp_path: Path) -> None:
    out = tmp_path / "r.parquet"
    data = people(tmp_path)
    result = tacit(
        "mine",
        "itemsets",
        data,
        "--min-support",
        5,
        "--qi",
        "sex,age",
        "--sa",
        "ill",
        "--missing",
        "?",
        "--missing-rule",
        "drop",
        "-o",
        out,
    )
    assert result.exit_code == 0, result.output
    assert "Missing     the mark '?' in a column in use drops the row: 2 rows dropped" in result.stdout
    release = library.read_release(out)
    assert (release.n, release.header.qi, release.header.sa, release.header.missing_rule) == (
        58,
        ("sex", "age"),
        ("ill",),
        "drop",
    )


def test_pairs_of_person_and_item_are_transactions(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("who,when,what\n" + "".join(f"{i},1,a\n{i},2,b\n" for i in range(5)) + "9,1,a\n")
    pairs = ["--id-column", "who", "--item-column", "what"]
    made = record("mine", "itemsets", path, "--min-support", 5, *pairs)
    assert (made["n"], made["all"]) == (6, 3)
    told = tacit("mine", "itemsets", path, "--min-support", 5, *pairs, "-o", tmp_path / "r.csv").stdout
    hint = told.split("Before you publish it: tacit ")[1].split()
    assert tacit(*hint).exit_code == 1, "what is suggested works as it stands"


def test_hierarchies_add_coarser_items(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "age.csv").write_text("old;any age;*\nyoung;any age;*\n?;any age;*\n")
    path = people(tmp_path)
    plain = record("mine", "itemsets", path, "--min-support", 1)
    coarser = record("mine", "itemsets", path, "--min-support", 1, "--hierarchies", tmp_path / "h")
    assert coarser["all"] > plain["all"]


RULES = ["--qi", "sex", "--qi", "age", "--sa", "ill", "--min-support", "5", "--min-confidence", "60%"]


def test_mine_rules_writes_rules(tmp_path: Path) -> None:
    out = tmp_path / "rules.csv"
    path = people(tmp_path)
    result = tacit("mine", "rules", path, *RULES, "-o", out)
    assert result.exit_code == 0, result.output
    assert "Confidence  at least 60 %" in result.stdout
    made = record("mine", "rules", path, *RULES)
    with open(out) as stream:
        rows = list(csv.DictReader(stream))
    assert content(made) == {"format": "tacit.rules/1", "n": 60, "rules": len(rows), "min_support": 5, "min_confidence": 0.6}
    assert ({"sex": "M"}, "yes", "30") in [(json.loads(row["antecedent"]), row["consequent"], row["count"]) for row in rows]
    assert all({"count", "support", "confidence"} <= set(row) for row in rows)


@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ([], {"count", "support", "confidence"}),
        (["--withhold-values"], set()),
        (["--digits", "3"], {"support"}),
        (["--digits", "3", "--with-confidence"], {"support", "confidence"}),
    ],
)
def test_what_a_rule_prints_is_chosen(tmp_path: Path, options: list[str], filled: set[str]) -> None:
    out = tmp_path / "rules.csv"
    assert tacit("mine", "rules", people(tmp_path), *RULES, *options, "-o", out).exit_code == 0
    with open(out) as stream:
        row = next(csv.DictReader(stream))
    assert {name for name in ("count", "support", "confidence") if row[name]} == filled


def test_headers_of_rules_tell_completeness_and_distribution(tmp_path: Path) -> None:
    out = tmp_path / "rules.csv"
    tacit("mine", "rules", people(tmp_path), *RULES, "--incomplete", "--publish-sa-distribution", "-o", out)
    header = library.read_release(out).header
    assert header.complete is False
    assert sum(header.sa_counts) == 60


def test_settings_come_from_tacit_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = people(tmp_path)
    (tmp_path / "tacit.toml").write_text(
        '[data]\nqi = ["sex"]\nsa = ["ill"]\n[thresholds]\nmin_support = 5\nmin_confidence = "60%"\n'
    )
    result = tacit("mine", "rules", path)
    assert result.exit_code == 0
    assert "Settings    from tacit.toml" in result.stdout
    assert record("mine", "rules", path)["min_support"] == 5
    assert record("mine", "rules", path, "--min-support", "10")["min_support"] == 10


@pytest.mark.parametrize("engine", ["duckdb", "memory"])
def test_engines_give_the_same_bytes(tmp_path: Path, engine: str) -> None:
    path = people(tmp_path)
    tacit("mine", "itemsets", path, "--min-support", "5", "-o", tmp_path / "plain.csv")
    assert tacit("mine", "itemsets", path, "--min-support", "5", "--engine", engine, "-o", tmp_path / "engine.csv").exit_code == 0
    assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / "engine.csv").read_bytes()


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    path = people(tmp_path)
    for name in ("a", "b"):
        tacit(
            "mine", "itemsets", path, "--min-support", "5", "-o", tmp_path / f"{name}.csv", "--json", tmp_path / f"{name}.record"
        )
    for ending in (".csv", ".csv.json", ".record"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (["--min-support", "0"], "--min-support"),
        (["--min-support", "-3"], "--min-support"),
        (["--min-support", "120%"], "--min-support"),
        (["--min-support", "nan"], "--min-support"),
        (["--min-support", "5", "--qi", "sxe"], "people.csv"),
        (["--min-support", "5", "--qi", "sex", "--sa", "sex"], "--sa"),
        (["--min-support", "5", "--missing-rule", "drop"], "--missing-rule"),
        (["--min-support", "5", "--hierarchies", "nowhere"], "nowhere"),
        (["--min-support", "5", "-o", "nowhere/r.csv"], "nowhere/r.csv"),
        (["--min-support", "5", "-o", "r.xyz"], "r.xyz"),
        (["--min-support", "5", "-o", "people.csv"], "people.csv"),
        (["--min-support", "5", "-o", "r.csv", "--json", "r.csv.json"], "r.csv.json"),
        (["--min-support", "5", "--time-limit", "0"], "--time-limit"),
        (["--min-support", "5", "--config", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(
    options: list[str], where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    result = tacit("mine", "itemsets", "people.csv", *options)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith(f"{where}: "), result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    "content", [b"", b"\x1f\x8b\x08broken", b"a,b\n", b"a,b\n1,CANARY,3\n", b"\x00\xff\xfe\x01CANARY" * 9, b"a,a\n1,CANARY\n"]
)
def test_bad_data_is_refused_without_its_values(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    result = tacit("mine", "itemsets", path, "--min-support", "1")
    assert result.exit_code == 2, result.output
    assert "CANARY" not in result.output
    assert result.stderr.count("\n") == 1
