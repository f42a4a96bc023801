"""``tacit audit A B`` and ``tacit verify``: several releases through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shell import record, tacit


def write(folder: Path, name: str, counts: dict[str, int], **header: Any) -> Path:
    path = folder / name
    lines = ['"' + json.dumps(items.split()).replace('"', '""') + f'",{count},' for items, count in counts.items()]
    path.write_text("\n".join(["itemset,count,support", *lines]) + "\n")
    path.with_name(f"{name}.json").write_text(json.dumps({"format": "tacit.itemsets/1", "complete": False} | header))
    return path


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    """Two releases about the same hundred people; together they tell one of them."""
    first = write(tmp_path, "visits.csv", {"x": 50, "y": 40, "x y": 20}, n=100)
    return [first, write(tmp_path, "treatments.csv", {"z": 50, "x y z": 19}, n=100)]


def test_two_clean_releases_are_exposed_together(pair: list[Path]) -> None:
    for path in pair:
        assert tacit("audit", path, "--k", 5).exit_code == 0
    result = tacit("audit", *pair, "--people", "same", "--k", 5)
    assert result.exit_code == 1
    assert result.stdout.startswith("EXPOSED: 1 group of 1-4 people can be computed from these 2 releases")
    for line in (
        "+ 20 people with x and y (visits.csv, line 4)",
        "- 19 people with x, y and z (treatments.csv, line 3)",
        "same people",
    ):
        assert line in result.stdout


def test_the_record_names_all_releases_and_is_verified(pair: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "audit.json"
    assert tacit("audit", *pair, "--k", 5, "--json", out).exit_code == 1
    made = json.loads(out.read_text())
    assert [entry["file"] for entry in made["release"]] == ["visits.csv", "treatments.csv"]
    assert made["adversary"]["people"] == "same"
    assert [attack["code"] for attack in made["attacks"] if attack["findings"]] == ["X01"]
    assert {entry["release"] for entry in made["findings"][0]["because"]} == {0, 1}
    assert tacit("verify", out, *pair).exit_code == 0
    assert tacit("verify", out, *reversed(pair)).exit_code == 1
    assert record("audit", *pair, "--k", 5, code=1) == made


def test_pages_name_the_files_inside_and_nothing_outside(pair: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert tacit("audit", *pair, "--k", 5, "--report", page).exit_code == 1
    told = page.read_text()
    assert all(text in told for text in ("visits.csv, line 4", "treatments.csv, line 3", "<h1>visits.csv, treatments.csv</h1>"))
    assert tacit("audit", *pair, "--k", 5, "--report", page, "--report-kind", "external").exit_code == 1
    assert not any(text in page.read_text() for text in ("visits", "treatments", "x and y"))
    outside = record("audit", *pair, "--k", 5, "--report-kind", "external", code=1)
    assert outside["findings"] == [{"code": "X01", "count": [1, 1]}]


def test_other_numbers_of_people_need_a_declaration(pair: list[Path], tmp_path: Path) -> None:
    other = write(tmp_path, "other.csv", {"z": 50, "x y z": 19}, n=90)
    refused = tacit("audit", pair[0], other)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("--people: the releases are about different numbers of people")
    unknown = record("audit", pair[0], other, "--people", "unknown", "--k", 5)
    assert next(attack for attack in unknown["attacks"] if attack["code"] == "X01")["status"] == "ran"


def test_who_left_is_told(tmp_path: Path) -> None:
    last = write(tmp_path, "last.csv", {"N": 51, "yes": 25, "N yes": 11}, n=100)
    this = write(tmp_path, "this.csv", {"N": 50, "yes": 24, "N yes": 10}, n=99)
    out = tmp_path / "audit.json"
    result = tacit("audit", last, this, "--people", "nested", "--json", out)
    assert "1 person has N and yes, among the people of last.csv who are not in this.csv." in " ".join(result.stdout.split())
    event = json.loads(out.read_text())["findings"][0]["event"]
    assert event == {"present": ["N", "yes"], "absent": [], "inside": [0], "outside": [1]}
    assert tacit("verify", out, last, this).exit_code == 0


def test_a_contradiction_between_files_ends_with_2(pair: list[Path], tmp_path: Path) -> None:
    other = write(tmp_path, "other.csv", {"x y z": 21}, n=100)
    result = tacit("audit", pair[0], other)
    assert result.exit_code == 2
    assert result.stderr.startswith("visits.csv, line 4; other.csv, line 2: no people fit all that is printed there")
