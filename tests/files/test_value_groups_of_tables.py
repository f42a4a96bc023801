"""Subtotals of a hierarchy in frequency tables: made, written, read, attacked and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from tests.shell import tacit as run

PLACES = {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "s3": "south"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = ["area,sex"]
    for place, (women, men) in {"n1": (20, 31), "n2": (4, 25), "s1": (40, 33), "s2": (22, 18), "s3": (15, 19)}.items():
        rows += [f"{place},F"] * women + [f"{place},M"] * men
    Path("people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("levels").mkdir()
    Path("levels/area.csv").write_text("".join(f"{leaf};{node};*\n" for leaf, node in PLACES.items()), encoding="utf-8")
    return tmp_path


def test_subtotals_are_counted_and_named_in_the_header(folder: Path) -> None:
    made = run("tabulate", "people.csv", "--by", "area,sex", "--hierarchies", "levels", "--total", "--sa", "none", "-o", "t.csv")
    assert made.exit_code == 0, made.output
    header = json.loads((folder / "t.csv.json").read_text())
    assert header["value_groups"] == [
        {"column": "area", "name": "north", "values": ["n1", "n2"]},
        {"column": "area", "name": "south", "values": ["s1", "s2", "s3"]},
    ]
    table: Any = tacit.read_release("t.csv")
    counts = {(one["area"], one["sex"]): one["count"] for one in table.records()}
    assert counts["north", "F"] == 24
    assert counts["south", "*"] == 147
    assert table.single_values("area") == ("n1", "n2", "s1", "s2", "s3")


def test_a_hidden_cell_is_told_by_its_subtotal_and_the_proof_is_verified() -> None:
    cells = [["n1", "F"], ["n2", "F"], ["north", "F"], ["s1", "F"]]
    table = tacit.FrequencyTable.of(
        ["area", "sex"], cells, [20, None, 24, 40], n=200, groups=_groups(), no_sa=True, complete=False
    )
    found = tacit.audit(table, k=10)
    assert [finding.statement for finding in found.findings] == ["4 people have area=n2 and sex=F."]
    checked = tacit.verify(found.to_dict(), table)
    assert checked.ok, checked


def test_subtotals_are_repaired(folder: Path) -> None:
    run(
        "tabulate",
        "people.csv",
        "--by",
        "area,sex",
        "--hierarchies",
        "levels",
        "--total",
        "--hide-below",
        "10",
        "--sa",
        "none",
        "-o",
        "t.csv",
    )
    assert run("audit", "t.csv").exit_code == 1
    done = run("repair", "t.csv", "--method", "suppress", "-o", "safe.csv", "--json", "r.json")
    assert done.exit_code == 0, done.output
    assert json.loads((folder / "r.json").read_text())["optimal"] is True
    assert run("audit", "safe.csv").exit_code == 0
    rounded = run("repair", "t.csv", "--method", "round-controlled", "--base", "10", "--data", "people.csv", "-o", "round.csv")
    assert rounded.exit_code == 0, rounded.output
    table: Any = tacit.read_release("round.csv")
    counts = {(one["area"], one["sex"]): one["count"] for one in table.records()}
    assert counts["n1", "F"] + counts["n2", "F"] == counts["north", "F"]


def test_a_group_of_all_but_some_values_is_refused(folder: Path) -> None:
    (folder / "t.csv").write_text("area,count\nn1,20\nrest,80\n", encoding="utf-8")
    header = {"format": "tacit.frequencies/1", "n": 100, "value_groups": [{"column": "area", "name": "rest", "not": ["n1"]}]}
    (folder / "t.csv.json").write_text(json.dumps(header), encoding="utf-8")
    with pytest.raises(tacit.InputError, match="all values but some"):
        tacit.read_release("t.csv")


def _groups() -> tuple[Any, ...]:
    from tacit.model.release import ValueGroup

    return (ValueGroup("area", "north", ("n1", "n2")),)
