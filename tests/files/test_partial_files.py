"""Tables with blank cells: read, written, and the rows and marks that go with them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas
import pytest

import tacit
from tacit.files.partial import read_partial, write_partial
from tacit.files.recognition import TABLE, CellOptions, recognise
from tacit.files.selection import Comparison, parse_condition, read_marks, read_rows
from tacit.model.errors import InputError, OptionError
from tacit.model.partial import PartialTable
from tacit.model.table import Schema, Table

TEXT = 'id,age,job,note\n1,30,"a, b",x\n2,*,NA,\n3,[REDACTED],c,"say ""hi"""\n4,41,<5,007\n'


def people() -> Table:
    rows = [("9", "Sales", "<=50K"), ("30", "Craft and repair", ">50K"), ("41.0", "Sales", ">50K"), ("old", "Tech", "<=50K")]
    return Table.from_rows(["age", "job", "pay"], rows, Schema(qi=("age", "job"), sa=("pay",)))


# Reading


def test_marks_that_are_declared_are_blank_and_others_are_values(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    partial = read_partial(tmp_path / "t.csv", qi="age,note", sa="job", blank=["*", "NA", "<5"])
    assert partial.people.names == ("id", "age", "job", "note")
    assert partial.hidden.tolist() == [[False] * 4, [False, True, True, True], [False] * 4, [False, False, True, False]]
    assert [row["age"] for row in partial.records()] == ["30", None, "[REDACTED]", "41"]
    assert partial.hidden_by_column() == {"age": 1, "job": 2, "note": 1}
    assert partial.cells_hidden == 4
    assert len(partial) == partial.n == 4


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_a_table_comes_back_as_it_was_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "in.csv").write_text(TEXT)
    partial = read_partial(tmp_path / "in.csv", qi=["age", "note"], sa="job", blank="*")
    write_partial(partial, tmp_path / name)
    again = tacit.read_release(tmp_path / name)
    assert isinstance(again, PartialTable)
    assert again.people.names == partial.people.names
    assert (again.hidden == partial.hidden).all()
    assert list(again.records()) == list(partial.records())
    assert (again.people.schema.qi, again.people.schema.sa) == (("age", "note"), ("job",))


def test_the_published_files_do_not_tell_the_sensitive_rows(tmp_path: Path) -> None:
    table = people()
    for rows in ([0], [1, 2]):
        partial = PartialTable.of(table, sensitive=np.array(rows))
        write_partial(partial, tmp_path / f"{len(rows)}.csv")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()
    assert (tmp_path / "1.csv.json").read_bytes() == (tmp_path / "2.csv.json").read_bytes()
    header = json.loads((tmp_path / "1.csv.json").read_text())
    assert header["format"] == "tacit.table/1"
    assert (header["n"], header["qi"], header["sa"]) == (4, ["age", "job"], "pay")


def test_a_blank_in_the_only_column_is_still_a_row(tmp_path: Path) -> None:
    partial = PartialTable.of(Table.from_rows(["a"], [("x",), ("",), ("y",)]))
    write_partial(partial, tmp_path / "one.csv")
    assert tacit.read_table(tmp_path / "one.csv").n == 3


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write_partial(PartialTable.of(people()), tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode().splitlines()[0] == "age,job,pay"


def test_a_table_without_roles_or_with_one_column_in_two_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    for roles, where in (
        ({}, "--sa"),
        ({"sa": "job"}, "--qi"),
        ({"qi": "job", "sa": "job"}, "--sa"),
        ({"qi": "x", "sa": "job"}, "t.csv"),
    ):
        with pytest.raises(OptionError) as caught:
            read_partial(tmp_path / "t.csv", qi=roles.get("qi", ()), sa=roles.get("sa", ()))
        assert where in caught.value.where


def test_a_header_that_contradicts_the_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    for header in ({"n": 5}, {"n": "4"}, {"qi": 3}):
        (tmp_path / "t.csv.json").write_text(json.dumps({"format": "tacit.table/1", "sa": "job", "qi": ["age"]} | header))
        with pytest.raises(InputError):
            read_partial(tmp_path / "t.csv")


def test_rows_may_stand_for_several_people() -> None:
    twice = Table.from_rows(["a", "b"], [("x", "y"), ("x", ""), ("x", "y")], Schema(qi=("a",), sa=("b",)))
    merged = PartialTable.of(twice.merged())
    assert (merged.n, len(merged), len(merged.hidden), merged.cells_hidden) == (3, 3, 2, 1)
    whole = merged.one_by_one()
    assert list(whole.records()) == list(merged.records())
    assert whole.hidden.tolist() == [[False, True], [False, False], [False, False]]
    assert merged.number_people(np.array([1])).tolist() == [1, 2]
    # Beside other releases, people are counted and not rows.
    rules = tacit.mine_rules(twice, min_support=1, min_confidence=0.1)
    audits = [tacit.audit([one, rules]) for one in (merged, whole)]
    assert audits[0].to_dict() == audits[1].to_dict()
    assert tacit.verify(tacit.audit(merged), merged).ok == tacit.verify(tacit.audit(whole), whole).ok


def test_what_is_a_table_is_known_by_its_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    assert recognise(tmp_path / "t.csv", CellOptions(qi=["age,note"], sa=("job",))) == TABLE
    # One column that it has, and one that it lacks: its reader says which.
    assert recognise(tmp_path / "t.csv", CellOptions(qi=["age"], sa=("pay",))) == TABLE
    with pytest.raises(OptionError, match="there is no column 'pay'"):
        tacit.read_release(tmp_path / "t.csv", qi=["age"], sa=["pay"])
    assert recognise(tmp_path / "t.csv", CellOptions(qi=["wage"], sa=("pay",))) != TABLE
    assert recognise(tmp_path / "t.csv", CellOptions()) != TABLE
    assert recognise(tmp_path / "none.csv", CellOptions(sa="job")) != TABLE
    assert recognise(tmp_path, CellOptions(sa="job")) != TABLE


def test_a_table_in_a_database_is_a_table(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.sqlite") as base:
        base.execute("CREATE TABLE people (age INTEGER, job TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?)", [(30, None), (None, "x"), (41, "y")])
    base.close()
    place = f"{tmp_path / 'd.sqlite'}::people"
    assert recognise(place, CellOptions(qi="age", sa="job")) == TABLE
    table = tacit.read_release(place, qi="age", sa="job")
    assert isinstance(table, PartialTable)
    assert table.hidden.tolist() == [[False, True], [True, False], [False, False]]
    assert recognise(f"{tmp_path / 'd.sqlite'}::nobody", CellOptions(qi="age", sa="job")) != TABLE


def test_frames_are_tables_where_roles_are_given() -> None:
    frame = pandas.DataFrame({"age": [30, None, 41], "job": ["x", "y", None]})
    table = tacit.read_release(frame, qi="age", sa="job")
    assert isinstance(table, PartialTable)
    assert table.hidden.tolist() == [[False, False], [True, False], [False, True]]


def test_regions_of_hidden_cells() -> None:
    cells = np.zeros((4, 3), np.bool_)
    cells[0, :] = True
    cells[2, 1] = cells[3, 2] = True
    partial = PartialTable.of(people(), sensitive=np.array([0])).hide(cells)
    assert partial.hidden_by_region() == {"ns": 1, "nc": 1, "sc": 2}
    assert partial.cells_hidden == 4
    with pytest.raises(OptionError):
        PartialTable.of(people()).hidden_by_region()


# Rows


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("job=Sales", [0, 2]),
        ("job = Sales and age>9", [2]),
        ("age=41", [2]),
        ("age<=30 AND age>=9.0", [0, 1]),
        ("pay=<=50K and age!=9", [3]),
        ("pay == '>50K'", [1, 2]),
        ('job="Craft and repair"', [1]),
        ("job!=Sales and job!=Tech", [1]),
        ("age!=9", [1, 2, 3]),
    ],
)
def test_conditions(condition: str, rows: list[int]) -> None:
    assert read_rows(condition, people()).tolist() == rows


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        ("job=Nobody", "no row"),
        ("age!=99", "every row"),
        ("jbo=Sales", "no column"),
        ("job", "neither a file nor a condition"),
        ("job=Sales and", "no comparison"),
        ("job=", "one side"),
        ("=Sales", "one side"),
        ("age<young", "not a number"),
        ("job<3", "holds no number"),
        ("job='Sales", "quotation mark"),
    ],
)
def test_conditions_that_make_no_sense(condition: str, what: str) -> None:
    with pytest.raises(OptionError, match=what):
        read_rows(condition, people())


def test_errors_about_conditions_hold_no_value() -> None:
    with pytest.raises(OptionError) as caught:
        read_rows("age<young", people())
    assert "young" not in str(caught.value)


def test_rows_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.txt"
    file.write_text("2\n\n0\r\n2\n")
    assert read_rows(file, people()).tolist() == read_rows(str(file), people()).tolist() == [0, 2]
    for content, what in (
        ("4\n", "outside"),
        ("-1\n", "line 1"),
        ("0\nx\n", "line 2"),
        ("1.0\n", "line 1"),
        ("", "names no row"),
    ):
        file.write_text(content)
        with pytest.raises((InputError, OptionError), match=what):
            read_rows(file, people())


@pytest.mark.parametrize("given", [[], [4], [-1], [0.5], ["0"], [True], 3])
def test_numbers_that_are_no_rows(given: object) -> None:
    with pytest.raises(OptionError):
        read_rows(given, people())


def test_parts_of_a_condition_are_numbered() -> None:
    assert [one.number for one in parse_condition("a=1 and b=2", "ab")] == [1, 2]


def test_quoted_values_may_hold_the_word_and() -> None:
    quoted, plain = parse_condition("pay scale != 'x and y' and pay=<=50K", ["pay scale", "pay"])
    assert quoted == Comparison(column="pay scale", sign="!=", value="x and y", number=1)
    assert (plain.sign, plain.value) == ("=", "<=50K")


# Marks


def test_marks_in_the_shape_of_the_table_and_as_lines(tmp_path: Path) -> None:
    table = people()
    shape = {"age": ["+", "", "", ""], "job": [""] * 4, "pay": ["", "-", "+", ""]}
    lines = {"row": [0, 1, 2], "column": ["age", "pay", "pay"], "mark": ["+", "-", "+"]}
    for given in (shape, lines):
        marks = read_marks(given, table)
        assert marks.rows.tolist() == [1]
        assert np.argwhere(marks.published).tolist() == [[0, 0], [2, 2]]
        assert np.argwhere(marks.sensitive).tolist() == [[1, 2]]
    (tmp_path / "marks.csv").write_text("row,column,mark\n0,age,+\n1,pay,-\n2,pay,+\n")
    assert read_marks(tmp_path / "marks.csv", table).rows.tolist() == [1]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"row": [0, 0], "column": ["pay", "pay"], "mark": ["+", "-"]}, "lines 2 and 3: mark a sensitive cell"),
        ({"row": [9], "column": ["pay"], "mark": ["-"]}, "line 2: names a row outside"),
        ({"row": [0], "column": ["py"], "mark": ["-"]}, "no column"),
        ({"row": [0], "column": ["pay"], "mark": ["x"]}, "not a mark"),
        ({"row": [0], "column": ["job"], "mark": ["-"]}, "not a sensitive column"),
        ({"age": ["+"], "job": [""], "pay": [""]}, "another shape"),
    ],
)
def test_marks_that_make_no_sense(given: dict[str, list[object]], what: str) -> None:
    with pytest.raises((InputError, OptionError), match=what):
        read_marks(given, people())
