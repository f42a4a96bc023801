"""``tacit demo``: what it says is true of the data, and follows from the files it writes."""

from __future__ import annotations

import csv
import gzip
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.demo import COLUMNS
from tests.shell import tacit


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, Any]]:
    """The folder, the text and the record of one run. It takes some seconds, and most tests here look at what it wrote."""
    folder = tmp_path_factory.mktemp("demo")
    result = tacit("demo", "--out", folder / "out", "--json", folder / "record.json")
    assert result.exit_code == 0, result.output
    return folder / "out", result.stdout, json.loads((folder / "record.json").read_bytes())


def bundled() -> list[dict[str, str]]:
    """The bundled rows as the demo prepares them, by the simplest means."""
    with files("tacit.data").joinpath("adult.csv.gz").open("rb") as raw, gzip.open(raw, "rt") as stream:
        rows = [{name: row[name] for name in COLUMNS} for row in csv.DictReader(stream)]
    kept = [row for row in rows if "?" not in row.values()]
    return [row | {"age": f"{row['age'][:-1]}0-{row['age'][:-1]}9"} for row in kept]


def test_the_bundled_data_are_complete_and_say_where_they_come_from() -> None:
    assert len(bundled()) == 30_169
    note = files("tacit.data").joinpath("README.md").read_text("utf-8")
    for wanted in ("Becker", "Kohavi", "1996", "CC BY 4.0", "10.24432/C5XW20"):
        assert wanted in note


def test_the_numbers_are_those_of_the_files(told: tuple[Path, str, dict[str, Any]]) -> None:
    folder, text, record = told
    with open(folder / "itemsets.csv") as stream:
        counts = [int(row["count"]) for row in csv.DictReader(stream)]
    assert (record["itemsets"], record["smallest_count"], record["n"]) == (len(counts), min(counts), 30_169)
    assert min(counts) >= record["min_support"] == 1_509
    for number in (record["itemsets"], record["smallest_count"], record["groups"], record["groups_of_one"]):
        assert f"{number:,} " in text
    assert record["groups"] > record["groups_of_one"] > 0
    before = findings(record["repair"]["before"])
    assert sum(before.values()) == record["groups"]
    audited = tacit("audit", folder / "itemsets.csv", "--attack", "I01", "--attack", "I02", "--json", "-")
    assert audited.exit_code == 1
    assert findings(json.loads(audited.stdout_bytes)) == {code: before[code] for code in ("I01", "I02")}, "without the data"


def findings(audit: dict[str, Any]) -> dict[str, int]:
    """The number of findings of each attack that ran."""
    return {attack["code"]: attack["findings"] for attack in audit["attacks"] if attack["status"] == "ran"}


def test_the_repaired_release_audits_clean_by_itself(told: tuple[Path, str, dict[str, Any]]) -> None:
    folder, text, record = told
    assert record["repair"]["after"]["verdict"] == "clean"
    assert "Audited again: CLEAN." in " ".join(text.split())
    again = json.loads(tacit("audit", folder / "safer.csv", "--attack", "I01", "--attack", "I02", "--json", "-").stdout_bytes)
    assert findings(again) == {"I01": 0, "I02": 0}


def test_the_example_follows_from_the_published_lines_and_is_true_of_the_data(told: tuple[Path, str, dict[str, Any]]) -> None:
    folder, text, record = told
    example = record["example"]
    with open(folder / "itemsets.csv") as stream:
        published = dict(enumerate(csv.DictReader(stream), start=2))
    total = sum(term["weight"] * int(published[term["line"]]["count"]) for term in example["because"] if "line" in term)
    total += sum(term["weight"] * record["n"] for term in example["because"] if "cell" in term)
    assert [total, total] == example["count"] == [1, 1]
    has, lacks = ([name.split("=", 1) for name in example["event"][side]] for side in ("present", "absent"))
    fitting = [row for row in bundled() if all(row[c] == v for c, v in has) and all(row[c] != v for c, v in lacks)]
    assert len(fitting) == record["example_rows_in_data"] == 1
    assert "the data agree: exactly 1 row fits" in text
    for column, value in fitting[0].items():
        assert f"{column}={value}" in " ".join(text.split())


def test_everything_is_written_inside_the_folder_and_the_same_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer columns: the same steps on a shorter list."""
    monkeypatch.setattr("tacit.cli.demo.COLUMNS", ("age", "education", "race", "sex", "salary"))
    names = {"adult.csv.gz", "itemsets.csv", "itemsets.csv.json", "report.html", "safer.csv", "safer.csv.json"}
    runs = [tmp_path / "first" / "out", tmp_path / "second" / "out"]
    for folder in runs:
        folder.parent.mkdir()
        done = tacit("demo", "--out", folder)
        assert done.exit_code == 0, done.output
        assert [path.name for path in folder.parent.iterdir()] == ["out"]
        assert {path.name for path in folder.iterdir()} == names
    for name in names:
        assert (runs[0] / name).read_bytes() == (runs[1] / name).read_bytes()


def test_the_prepared_data_can_be_audited_by_hand(told: tuple[Path, str, dict[str, Any]]) -> None:
    folder, _, record = told
    result = tacit("audit", folder / "itemsets.csv", "--data", folder / "adult.csv.gz", "--attack", "I01", "--quiet")
    assert (result.exit_code, result.stdout) == (1, "exposed\n")
    mined = tacit("mine", "itemsets", folder / "adult.csv.gz", "--min-support", "5%", "--json", "-")
    assert json.loads(mined.stdout_bytes)["all"] == record["itemsets"]


def test_the_folder_is_made_but_not_its_parents(tmp_path: Path) -> None:
    result = tacit("demo", "--out", tmp_path / "no" / "out")
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"{tmp_path / 'no' / 'out'}: the folder cannot be made. Create its parent first, or choose another with --out.\n"
    )
    (tmp_path / "file").write_text("")
    assert tacit("demo", "--out", tmp_path / "file").stderr.startswith(f"{tmp_path / 'file'}: is a file, not a folder. ")
