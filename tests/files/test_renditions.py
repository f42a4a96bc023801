"""Workbooks, JSON records and lists written by hand, read as the same lists and tables in CSV."""

from __future__ import annotations

import builtins
import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import xlsxwriter
from mlxtend.frequent_patterns import association_rules, fpgrowth

import tacit
from tacit.files.recognition import as_input
from tacit.model.errors import InputError, OptionError
from tacit.model.release import Itemsets, Release, Rules

ROWS = [["a", "b", "c"]] * 12 + [["a", "b"]] * 9 + [["c"]] * 7 + [["a", "d"]] * 2
NAMES = ["a", "b", "c", "d"]
N = len(ROWS)


def frequent() -> pd.DataFrame:
    one_hot = pd.DataFrame([[name in row for name in NAMES] for row in ROWS], columns=NAMES)
    return fpgrowth(one_hot, 0.05, use_colnames=True)


def counts(release: Release) -> dict[frozenset[str], tuple[int, int]]:
    assert isinstance(release, Itemsets)
    return {frozenset(release.names(i)): (int(release.lo[i]), int(release.hi[i])) for i in range(len(release))}


def rules_of(release: Release) -> list[tuple[Any, ...]]:
    assert isinstance(release, Rules)
    return [tuple(map(str, one.values())) for one in release.records()]


def write(frame: pd.DataFrame, form: str, path: Path, sets: list[str]) -> None:
    """Write a frame of sets as somebody would: its numbers, its sets and its file each in a way of their own."""
    made = frame.copy()
    numbers = [name for name in made.columns if name in ("support", "confidence", "antecedent support")]
    made = made[[*sets, *numbers]]
    if form in ("joined", "decimal comma", "percent column"):
        for name in sets:
            made[name] = made[name].map(lambda one: ", ".join(sorted(one)))
    elif "json" in form:
        for name in sets:
            made[name] = made[name].map(sorted)
    if form == "percent signs":
        for name in numbers:
            made[name] = made[name].map(lambda share: f"{100 * share!r}%")
    elif form in ("percent column", "percentages"):
        for name in numbers:
            made[name] = 100 * made[name]
        if form == "percent column":
            made = made.rename(columns={name: f"{name} (%)" for name in numbers})
    if form == "json lines":
        made.to_json(path, orient="records", lines=True, double_precision=15)
    elif form == "json":
        made.to_json(path, orient="records", double_precision=15)
    elif form == "excel":
        made.to_excel(path, index=False, engine="xlsxwriter")
    elif form == "decimal comma":
        made.to_csv(path, index=False, sep=";", decimal=",")
    else:
        made.to_csv(path, index=False)


FORMS = ["joined", "decimal comma", "percent column", "percent signs", "percentages", "json lines", "json", "excel"]


@pytest.mark.parametrize("form", FORMS)
def test_itemsets_are_those_of_mlxtend(form: str, tmp_path: Path) -> None:
    frame = frequent()
    frame.to_csv(tmp_path / "mlxtend.csv", index=False)
    write(frame, form, tmp_path / "x", ["itemsets"])
    expected = counts(tacit.read_release(tmp_path / "mlxtend.csv", n=N))
    assert counts(tacit.read_release(tmp_path / "x", n=N)) == expected
    assert expected[frozenset("ad")] == (2, 2)


@pytest.mark.parametrize("form", FORMS)
def test_rules_are_those_of_mlxtend(form: str, tmp_path: Path) -> None:
    frame = association_rules(frequent(), min_threshold=0.5)
    frame[["antecedents", "consequents", "support", "confidence", "antecedent support"]].to_csv(tmp_path / "m.csv", index=False)
    write(frame, form, tmp_path / "x", ["antecedents", "consequents"])
    expected = tacit.read_release(tmp_path / "m.csv", n=N)
    found = tacit.read_release(tmp_path / "x", n=N)
    assert isinstance(expected, Rules)
    assert isinstance(found, Rules)
    assert found.lo.tolist() == expected.lo.tolist()
    assert found.whole_hi.tolist() == expected.whole_hi.tolist()
    assert [found.items.names[item] for item in found.antecedents.members] == [
        expected.items.names[item] for item in expected.antecedents.members
    ]


def assumed(path: Path) -> tuple[str, ...]:
    return tacit.read_release(path, n=N).header.assumed


def test_what_is_inferred_is_said(tmp_path: Path) -> None:
    write(frequent(), "decimal comma", tmp_path / "x.csv", ["itemsets"])
    joined = "Items are taken to be joined by ',', which no item's name holds."
    assert assumed(tmp_path / "x.csv") == (joined, "The commas in support are read as decimal points.")
    write(frequent(), "percentages", tmp_path / "x.csv", ["itemsets"])
    assert assumed(tmp_path / "x.csv") == ("The numbers in support, above 1, are read as percentages.",)
    (tmp_path / "x.csv").write_text("items,count\na,20\nb,18\na & b,12\n")
    assert counts(tacit.read_release(tmp_path / "x.csv", n=N))[frozenset("ab")] == (12, 12)


def test_whole_numbers_above_1_are_not_taken_for_percentages(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("itemsets,support\na,55\nb,12\n")
    with pytest.raises(InputError, match="above 1"):
        tacit.read_release(tmp_path / "x.csv", n=N)


def workbook(path: Path, sheets: dict[str, list[list[Any]]], hidden: str = "") -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            if name == hidden:
                sheet.hide()
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


TABLE: list[list[Any]] = [["sex", "clerk", "cook"], ["F", 12, 40], ["M", 14, 35]]
OTHER: list[list[Any]] = [["age", "n"], ["young", 50], ["old", 51]]


def test_the_first_sheet_with_a_release_is_read_and_others_are_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {"Notes": [["made by", "us"]], "Counts": TABLE, "Ages": OTHER}, hidden="Ages")
    found = tacit.read_release(path)
    assert found.n == 101
    assert found.header.assumed[0] == "Of the sheets, 'Counts' is read, the first that holds a release."
    assert found.header.unread == ("sheet Notes", "sheet Ages")
    assert tacit.audit(path, sa="none").verdict == "incomplete"
    assert tacit.audit(path, sa="none", ignore=["sheet Notes", "sheet Ages"]).verdict == "clean"
    named = tacit.read_release(f"{path}#Ages")
    assert named.columns == ("age",)  # type: ignore[union-attr]
    assert named.source is not None
    assert named.source.name == "t.xlsx#Ages"
    with pytest.raises(OptionError, match="no such sheet"):
        tacit.read_release(f"{path}#Agse")


def test_cells_have_the_names_that_the_spreadsheet_shows(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["Table 1: staff"], [], ["sex", "clerk", "cook"], ["F", 12, 40], ["M", 3, 35], [], ["Source: us"]]
    path = workbook(tmp_path / "t.xlsx", {"S": rows})
    found = tacit.read_release(path)
    assert isinstance(found, tacit.FrequencyTable)
    assert [found.place(index) for index in range(4)] == ["B4", "C4", "B5", "C5"]
    assert found.header.assumed[0] == "What is above and below rows 3 to 5 is taken as a title and notes."
    path = workbook(tmp_path / "t.xlsx", {"S": [*rows, ["sex", "n"], ["F", 52]]})
    assert tacit.read_release(path).header.unread == ("rows below 5",)


def test_a_workbook_without_the_library_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "t.xlsx", {"S": TABLE})
    real = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name == "python_calamine":
            raise ImportError
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'tacit\[excel\]'"):
        tacit.read_release(path)


def test_a_damaged_workbook_and_other_archives_are_refused(tmp_path: Path) -> None:
    content = workbook(tmp_path / "t.xlsx", {"S": TABLE}).read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="zip archive or an Excel workbook"):
        tacit.read_release(tmp_path / "cut.xlsx")
    (tmp_path / "x.csv").write_text("sex,n\nF,3\n")
    with pytest.raises(InputError, match="has no sheets"):
        tacit.read_release(f"{tmp_path / 'x.csv'}#S")


def test_a_pickle_is_refused_with_the_reason(tmp_path: Path) -> None:
    for protocol in (2, 3, 4, 5):
        (tmp_path / "x.pkl").write_bytes(pickle.dumps(frequent(), protocol=protocol))
        with pytest.raises(InputError, match=r"loading one runs code.*tacit\.audit\(frame\)"):
            tacit.read_release(tmp_path / "x.pkl")


def test_json_that_is_no_list_of_records_is_left_alone(tmp_path: Path) -> None:
    for text in ('{"format": "tacit.itemsets/1", "n": 3}\n', '{\n  "a": 1\n}\n', "[1, 2]\n", "{a,b} => {c}\n"):
        (tmp_path / "x.json").write_text(text)
        assert type(as_input(tmp_path / "x.json")).__name__ == "Input"
    lines = "".join(json.dumps({"itemset": ["a"], "count": count}) + "\n" for count in (3, 3))
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert type(as_input(tmp_path / "x.jsonl.gz")).__name__ == "Records"


def test_a_record_is_not_taken_for_a_release(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{\n  "format": "tacit.audit/1",\n  "verdict": "clean"\n}\n')
    with pytest.raises(InputError, match="is a record that Tacit wrote"):
        tacit.read_release(tmp_path / "a.json")


def test_n_is_inferred_from_the_sixteen_digits_that_a_workbook_keeps(tmp_path: Path) -> None:
    """A double has up to 17 digits; the 16 that a workbook holds are another double."""
    lines = [[f"a{count}", float(f"{count / 45_211:.16g}")] for count in range(4_600, 40_000, 113)]
    book = workbook(tmp_path / "x.xlsx", {"lists": [["itemsets", "support"], *lines]})
    assert tacit.read_release(book).n == 45_211
