"""People in workbooks and JSON records, read as the same people in CSV."""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

import tacit
from tacit.model.errors import InputError, OptionError
from tests.shell import tacit as run

JOINED = dt.datetime(2024, 5, 6, tzinfo=dt.UTC)
ROWS: list[list[Any]] = [["age", "sex", "joined", "ill"]]
ROWS += [
    [30 + number % 4, "FM"[number % 2], JOINED + dt.timedelta(days=number % 3), ["yes", None][number % 5 == 0]]
    for number in range(60)
]


def workbook(path: Path, sheets: dict[str, list[list[Any]]], top: int = 0, left: int = 0) -> Path:
    with xlsxwriter.Workbook(str(path), {"remove_timezone": True}) as book:
        date = book.add_format({"num_format": "yyyy-mm-dd"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for place, cell in enumerate(row):
                    sheet.write(top + number, left + place, cell, date if isinstance(cell, dt.datetime) else None)
    return path


def cells(path: object) -> list[tuple[str, list[str]]]:
    table = tacit.read_table(path)
    return [(column.name, [column.values[code] for code in column.codes]) for column in table.columns]


def expected() -> list[tuple[str, list[str]]]:
    def text(cell: Any) -> str:
        return "" if cell is None else cell.date().isoformat() if isinstance(cell, dt.datetime) else str(cell)

    return [(str(ROWS[0][place]), [text(row[place]) for row in ROWS[1:]]) for place in range(4)]


def test_a_sheet_is_the_table_that_it_shows(tmp_path: Path) -> None:
    assert cells(workbook(tmp_path / "p.xlsx", {"S": ROWS})) == expected()
    assert cells(workbook(tmp_path / "q.xlsx", {"S": ROWS}, top=2, left=1)) == expected()


def test_one_of_several_sheets_has_to_be_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", {"This year": ROWS, "Before": ROWS[:20]})
    with pytest.raises(OptionError, match=r"2 sheets.*p.xlsx::This year, .*p.xlsx::Before"):
        tacit.read_table(path)
    for mark in ("::", "#"):
        table = tacit.read_table(f"{path}{mark}Before")
        assert table.n == 19
        assert table.source is not None
        assert table.source.name == "p.xlsx#Before"
    with pytest.raises(OptionError, match=r"no such sheet. The sheets are: This year, Before"):
        tacit.read_table(f"{path}::After")


def test_rows_behind_an_empty_one_are_not_dropped(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", {"S": [*ROWS[:5], [], *ROWS[5:]]})
    with pytest.raises(InputError, match="row 6 of the sheet is empty, and others follow"):
        tacit.read_table(path)


def test_every_verb_takes_a_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "p.xlsx", {"S": ROWS})
    roles = ("--qi", "age,sex", "--sa", "ill")
    commands = {
        "mine": ("mine", "itemsets", path, *roles, "--min-support", "20%", "-o", tmp_path / "i.csv"),
        "audit": ("audit", tmp_path / "i.csv", "--data", path, "--k", 1),
        "tabulate": ("tabulate", path, "--by", "sex,ill", "-o", tmp_path / "t.csv"),
        "bucketize": ("bucketize", path, "--qi", "age", "--sa", "sex", "--l", 2, "-o", tmp_path / "b"),
        "hide": ("hide", path, *roles, "--rows", "ill=yes", "--may-hide", "ns,sc", "-o", tmp_path / "h.csv"),
    }
    for name, command in commands.items():
        result = run(*command)
        assert result.exit_code in (0, 1), f"{name}: {result.output}"
        assert name == "hide" or "60" in result.output, name


def test_without_the_library_one_sentence_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "p.xlsx", {"S": ROWS})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    result = run("tabulate", path, "--by", "sex", "-o", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert "pip install 'tacit[excel]'" in result.output


def test_json_lines_hold_people(tmp_path: Path) -> None:
    objects = [dict(zip(["age", "sex", "ill"], [row[0], row[1], row[3]], strict=True)) for row in ROWS[1:]]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in objects))
    assert cells(tmp_path / "p.jsonl") == [column for column in expected() if column[0] != "joined"]
