"""Values that a spreadsheet would compute: written harmless, and read back as they were."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tacit
from tacit.files.frequencies import guard, is_formula, unguard
from tacit.model.frequencies import FrequencyTable

TEXTS = ["=1+1", "@SUM(A1)", "-5 to -1", "+49 30", "'=x", "''@", "-1", "+2.5", "-3 %", "plain", "'quoted'", '=HYPERLINK("x")']


@pytest.mark.parametrize("text", [*TEXTS, "\t=1", "'", "'-1", ""])
def test_every_text_comes_back(text: str) -> None:
    assert unguard(guard(text)) == text
    assert guard(text).startswith("'") or not is_formula(text)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_tables_with_formulas_come_back(tmp_path: Path, ending: str) -> None:
    people = tacit.read_table({"=cmd": [text for text in TEXTS for _ in range(20)]})
    made = tacit.tabulate(people, by=["=cmd"])
    path = tmp_path / f"t{ending}"
    tacit.write_release(made, path)
    read = tacit.read_release(path)
    assert isinstance(read, FrequencyTable)
    assert read.columns == ("=cmd",)
    assert sorted(read.values[0]) == sorted(made.values[0]) == sorted(TEXTS)
    assert tacit.audit(read).verdict == tacit.audit(made).verdict
    if ending == ".csv":
        with open(path, newline="") as stream:
            cells = [row[0] for row in csv.reader(stream)]
        assert [cell for cell in cells if cell[:1] in "=+-@" and cell not in ("-1", "+2.5", "-3 %")] == []


def test_tables_without_formulas_are_written_as_before(tmp_path: Path) -> None:
    made = tacit.tabulate(tacit.read_table({"age": ["-1"] * 20 + ["x=y"] * 20 + ["'old'"] * 20}), by=["age"])
    tacit.write_release(made, tmp_path / "t.csv")
    assert "formulas" not in json.loads((tmp_path / "t.csv.json").read_text())
    assert "\n-1,20\n" in (tmp_path / "t.csv").read_text()
    assert "\n'old',20\n" in (tmp_path / "t.csv").read_text()
