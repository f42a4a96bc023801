"""``tacit audit RELEASE --mark OUT.xlsx``: the release as a workbook with its exposed cells marked."""

from __future__ import annotations

import builtins
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from python_calamine import CalamineWorkbook

from tests.shell import tacit

CROSSTAB = "sex,clerk,cook,All\nF,,40,42\nM,14,35,49\nAll,16,75,91\n"


def marked(path: Path) -> dict[str, str]:
    """Styles of the cells that have one."""
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    return dict(re.findall(r'<c r="([A-Z]+\d+)" s="(\d+)"', sheet))


def notes(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read("xl/comments1.xml").decode()


def test_the_exposed_cell_and_those_it_follows_from_are_marked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CROSSTAB)
    result = tacit("audit", tmp_path / "t.csv", "--by", "sex,job", "--mark", tmp_path / "out.xlsx")
    assert result.exit_code == 1, result.output
    assert f"Marked workbook written to {tmp_path / 'out.xlsx'}" in result.output
    assert marked(tmp_path / "out.xlsx") == {"B2": "1", "B3": "2", "B4": "2"}
    assert "2 people have job=clerk and sex=F." in notes(tmp_path / "out.xlsx")
    book = CalamineWorkbook.from_path(str(tmp_path / "out.xlsx"))
    assert book.sheet_names == ["Release", "Findings"]
    assert book.get_sheet_by_index(0).to_python()[1] == ["F", "", 40.0, 42.0]
    again = tmp_path / "again.xlsx"
    tacit("audit", tmp_path / "t.csv", "--by", "sex,job", "--mark", again)
    assert again.read_bytes() == (tmp_path / "out.xlsx").read_bytes()


def test_a_sheet_with_a_title_is_marked_where_it_stands(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        sheet = book.add_worksheet("Counts")
        for number, row in enumerate([["Staff"], [], ["sex", "clerk", "cook"], ["F", 12, 40], ["M", 3, 35]]):
            sheet.write_row(number, 0, row)
    result = tacit("audit", f"{tmp_path / 't.xlsx'}#Counts", "--mark", tmp_path / "out.xlsx")
    assert result.exit_code == 1, result.output
    assert marked(tmp_path / "out.xlsx") == {"B5": "1"}


def test_counts_that_do_not_stand_last_are_found(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,sex,job\n12,F,cook\n3,M,cook\n14,F,clerk\n15,M,clerk\n")
    tacit("audit", tmp_path / "t.csv", "--mark", tmp_path / "out.xlsx")
    assert marked(tmp_path / "out.xlsx") == {"A3": "1"}


def test_lines_of_a_list_are_marked_whole(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('itemset,count\n"[""a""]",50\n"[""a"", ""b""]",49\n"[""c""]",20\n')
    tacit("audit", tmp_path / "t.csv", "--n", "70", "--mark", tmp_path / "out.xlsx")
    assert set(marked(tmp_path / "out.xlsx")) == {"A2", "B2", "A3", "B3"}
    assert "1 person has a but not b." in notes(tmp_path / "out.xlsx")


def test_numbers_of_the_header_have_no_cell(tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_text('itemset,count\n"[""a""]",97\n"[""b""]",60\n')
    result = tacit("audit", tmp_path / "sets.csv", "--n", "100", "--mark", tmp_path / "out.xlsx")
    assert result.exit_code == 1, result.output
    assert "3 people have no a." in notes(tmp_path / "out.xlsx")  # 100 people less line 2
    assert set(marked(tmp_path / "out.xlsx")) == {"A2", "B2"}


def test_formulas_stay_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,n\n=1+1,12\nM,3\n")
    tacit("audit", tmp_path / "t.csv", "--mark", tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")
        assert b"=1+1" in archive.read("xl/sharedStrings.xml")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--mark", "out.csv"], "End the name with .xlsx"),
        (["--mark", "out.xlsx", "--report-kind", "external"], "names groups of people"),
        (["t.csv", "--people", "same", "--mark", "out.xlsx"], "one release"),
    ],
)
def test_what_cannot_be_marked_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], what: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(CROSSTAB)
    result = tacit("audit", "t.csv", *options)
    assert result.exit_code == 2
    assert what in result.output
    assert not Path("out.xlsx").exists()


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text(CROSSTAB)
    real = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name == "xlsxwriter":
            raise ImportError
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    result = tacit("audit", tmp_path / "t.csv", "--mark", tmp_path / "out.xlsx")
    assert result.exit_code == 2
    assert "tacit[excel]" in result.output
