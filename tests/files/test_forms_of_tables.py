"""Tables of counts in every form that people have, against the data that they were counted from.

Whatever the form, each cell that is read must hold the number of people in the data whom it describes: totals are totals, no label is a
count, and nobody is counted twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.files.crosstabs import find_layout
from tacit.files.frequencies import file_cells
from tacit.files.recognition import as_input
from tacit.model.errors import InputError, TacitError
from tacit.model.frequencies import FrequencyTable

VALUES: dict[str, list[Any]] = {"sex": ["F", "M"], "job": ["clerk", "cook", "smith"], "ill": [0, 1], "area": ["N", "S"]}
Cell = frozenset[tuple[str, str]]


def people(seed: int, size: int = 60) -> pd.DataFrame:
    """Draw people; every combination occurs, as without it a label may look like a count."""
    rng = np.random.default_rng(seed)
    rows = [tuple(rng.choice(np.array(values, object)) for values in VALUES.values()) for _ in range(size)]
    return pd.DataFrame([*product(*VALUES.values()), *rows], columns=list(VALUES))


SEEDS = st.integers(0, 2**32 - 1)


def read(path: Path, **options: Any) -> FrequencyTable:
    found = tacit.read_release(path, **options)
    assert isinstance(found, FrequencyTable)
    return found


def cells(table: FrequencyTable, lost: str = "") -> dict[Cell, tuple[int, int]]:
    """Bounds of each cell; a column whose name was made up is called as it was lost."""
    out: dict[Cell, tuple[int, int]] = {}
    for index in range(len(table)):
        cell = frozenset((lost if "/" in column else column, value) for column, value in table.cell(index).items())
        assert cell not in out
        count = table.count(index)
        out[cell] = (count.lo, count.hi)
    return out


def true_count(data: pd.DataFrame, cell: Cell) -> int:
    told = np.ones(len(data), bool)
    for column, value in cell:
        told &= np.array([str(one) == value for one in data[column]])
    return int(told.sum())


def check(path: Path, data: pd.DataFrame, columns: list[str], lost: str = "", **options: Any) -> FrequencyTable:
    """Check every cell against the data, and that all combinations of the columns are there."""
    table = read(path, **options)
    found = cells(table, lost)
    for cell, bounds in found.items():
        count = true_count(data, cell)
        assert bounds == (count, count), sorted(cell)
    values = [sorted({str(value) for value in data[column]}) for column in columns]
    missing = [cell for one in product(*values) if (cell := frozenset(zip(columns, one, strict=True))) not in found]
    assert not any(true_count(data, cell) for cell in missing)
    assert table.n == len(data) or (missing and table.n is None)
    return table


def findings(table: FrequencyTable) -> list[tuple[int, int]]:
    audit = tacit.audit(table, sa="none", policy=tacit.Policy(k=3))
    return sorted((one.count.lo, one.count.hi) for one in audit.findings)


def own_form(data: pd.DataFrame, table: FrequencyTable, lost: str) -> FrequencyTable:
    """The same cells with the counts of the data, in Tacit's own form."""
    columns = list(table.columns)
    lines = [[table.cell(index).get(column, "*") for column in columns] for index in range(len(table))]
    counts: list[int | None] = [
        true_count(data, frozenset((lost if "/" in column else column, value) for column, value in table.cell(index).items()))
        for index in range(len(table))
    ]
    return FrequencyTable.of(columns, lines, counts, n=table.n)


Writer = Callable[[pd.DataFrame, Path], None]


def crosstab(rows: list[str], across: list[str], *, margins: bool, excel: bool = False) -> Writer:
    def write(data: pd.DataFrame, path: Path) -> None:
        made = pd.crosstab([data[name] for name in rows], [data[name] for name in across], margins=margins)
        if excel:
            made.to_excel(path, engine="xlsxwriter")
        else:
            made.to_csv(path)

    return write


def grouped(how: str) -> Writer:
    def write(data: pd.DataFrame, path: Path) -> None:
        frame = pl.from_pandas(data.astype(str))
        size = data.groupby(["sex", "job"]).size()
        if how == "size":
            size.to_csv(path)
        elif how == "size with an index":
            size.reset_index().to_csv(path)
        elif how == "semicolons":
            size.to_csv(path, sep=";")
        elif how == "polars":
            frame.group_by("sex", "job").len().write_csv(path)
        elif how == "json lines":
            size.reset_index(name="n").to_json(path, orient="records", lines=True)
        elif how == "json":
            size.reset_index(name="n").to_json(path, orient="records")
        else:
            data.value_counts(["sex", "job"]).to_csv(path)

    return write


FORMS: dict[str, tuple[str, list[str], str, Writer]] = {}
for _rows, _across in (
    (["sex"], ["job"]),
    (["sex", "area"], ["job"]),
    (["sex", "ill"], ["job"]),
    (["sex"], ["ill"]),
    (["sex"], ["job", "area"]),
    (["sex"], ["job", "ill"]),
    (["sex"], ["ill", "job", "area"]),
    (["sex", "ill"], ["job", "area"]),
):
    for _margins in (False, True):
        for _excel in (False, True):
            _name = f"{'-'.join(_rows)} by {'-'.join(_across)}{' with margins' * _margins}{' in excel' * _excel}"
            _lost = _across[0] if len(_across) == 1 else ""
            _made = crosstab(_rows, _across, margins=_margins, excel=_excel)
            FORMS[_name] = ("x.xlsx" if _excel else "x.csv", _rows + _across, _lost, _made)
for _how in ("size", "size with an index", "semicolons", "polars", "json lines", "json", "value counts"):
    FORMS[_how] = ("x.jsonl" if "json" in _how else "x.csv", ["sex", "job"], "", grouped(_how))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_each_cell_holds_the_people_it_describes(form: str, seed: int, tmp_path: Path) -> None:
    name, columns, lost, write = FORMS[form]
    data = people(seed, size=40 * seed)
    write(data, tmp_path / name)
    check(tmp_path / name, data, columns, lost)


@pytest.mark.parametrize(
    "form", ["sex by job", "sex by job with margins in excel", "sex by job-ill", "size", "json lines", "polars"]
)
def test_an_audit_finds_what_it_finds_in_the_own_form(form: str, tmp_path: Path) -> None:
    name, columns, lost, write = FORMS[form]
    rows = [("F", "clerk", 0, "N")] * 12 + [("M", "cook", 1, "S")] * 14 + [("F", "smith", 1, "S")] * 2 + [("M", "clerk", 1, "S")]
    data = pd.DataFrame(rows, columns=list(VALUES))
    write(data, tmp_path / name)
    table = check(tmp_path / name, data, columns, lost)
    found = findings(table)
    assert found == findings(own_form(data, table, lost))
    assert (1, 1) in found


def test_names_that_the_caller_gives_replace_lost_ones(tmp_path: Path) -> None:
    data = people(3)
    path = tmp_path / "x.csv"
    crosstab(["sex", "ill"], ["job", "area"], margins=True)(data, path)
    table = check(path, data, ["sex", "ill", "job", "area"], by=("sex", "ill", "job", "area"))
    assert table.columns == ("sex", "ill", "job", "area")
    with pytest.raises(InputError, match="not called as --by says"):
        read(path, by=("sex", "ill", "area", "job"))


@settings(max_examples=6)
@given(seed=SEEDS, digits=st.sampled_from([None, 4, 3]), margins=st.booleans())
def test_shares_of_all_people_hold_the_counts(
    seed: int, digits: int | None, margins: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A share stands for at least the true count; where its digits suffice, for no other."""
    data = people(seed)
    folder = tmp_path_factory.mktemp("shares")
    made = pd.crosstab(data.sex, data.job, normalize=True, margins=margins)
    (made.map(lambda share: f"{100 * share:.1f}%")).to_csv(folder / "percent.csv")
    made = made if digits is None else made.round(digits)
    made.to_csv(folder / "x.csv")
    made.to_csv(folder / "comma.csv", sep=";", decimal=",")
    data.value_counts(["sex", "job"], normalize=True).to_csv(folder / "long.csv")
    for name in ("x.csv", "percent.csv", "comma.csv", "long.csv"):
        found = cells(read(folder / name, n=len(data)), "job")
        for cell, (lo, hi) in found.items():
            count = true_count(data, cell)
            assert lo <= count <= hi
            assert lo == hi or name == "percent.csv"
    with pytest.raises(InputError, match="--n N") as caught:
        read(folder / "x.csv")
    assert caught.value.asks_for == "n"


@pytest.mark.parametrize("within", ["index", "columns"])
def test_shares_within_rows_or_columns_are_refused(within: str, tmp_path: Path) -> None:
    data = people(4)
    path = tmp_path / "x.csv"
    pd.crosstab(data.sex, data.job, normalize=within).to_csv(path)
    with pytest.raises(InputError, match="within each row or column"):
        read(path, n=len(data))


def test_a_number_of_people_that_only_fits_the_shares_is_found(tmp_path: Path) -> None:
    counts = [[7 * row + 3 * column + 11 for column in range(6)] for row in range(5)]
    total = sum(map(sum, counts))
    frame = pd.DataFrame(counts, index=pd.Index([f"r{row}" for row in range(5)], name="age"), columns=list("abcdef")) / total
    frame.to_csv(tmp_path / "x.csv")
    table = read(tmp_path / "x.csv")
    assert table.n == total
    assert [count.lo for count in map(table.count, range(len(table)))] == [count for row in counts for count in row]


def assumed(path: Path, **options: Any) -> tuple[str, ...]:
    return read(path, **options).header.assumed


def test_what_is_inferred_is_said(tmp_path: Path) -> None:
    (tmp_path / "ct.csv").write_text("sex,clerk,cook\nF,12,40\nM,14,35\n")
    lost = "Read as a crosstab of people; the file does not name the column 'clerk/cook' (--by sex,NAME names it)."
    assert assumed(tmp_path / "ct.csv") == (lost,)
    assert assumed(tmp_path / "ct.csv", by="sex,job") == ()
    (tmp_path / "gb.csv").write_text("sex,0\nF,12\nM,14\n")
    assert assumed(tmp_path / "gb.csv") == ("The column '0' is read as the number of people in each line.",)
    audit = tacit.audit(tmp_path / "ct.csv")
    assert audit.to_dict()["release"][0]["assumed"] == [lost]


@pytest.mark.parametrize(
    "text",
    [
        "id,age,pay\na,30,100\nb,31,120\n",  # one row per person
        "name,age,pay\na,30,100\nb,31,120\n",
        "age,a,b\n30,10,100\n31,12,120\n",  # numbers everywhere: the first column may be anything
        "basket,bread,milk\nx,1,0\ny,1,1\n",  # a one-hot table
        "sex,job,pay\nF,cook,10\nF,cook,12\n",  # rows that repeat
        "job,2019,2020\nyear,2021,2022\nsex,,\nF,4,5\n",  # two lines of labels, or one
        "sex,year,clerk,cook\nF,2019,12,40\nM,2020,14,35\n",  # years down, or people across
        "city,mean,rate\nx,1.5,0.2\ny,2.5,0.1\n",  # numbers that count nobody
    ],
)
def test_tables_that_may_be_something_else_are_not_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError, match="not recognised"):
        tacit.read_release(tmp_path / "x.csv")


def test_totals_that_add_up_show_a_crosstab(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("age,F,M,All\n30,10,12,22\n31,12,15,27\nAll,22,27,49\n")
    table = read(tmp_path / "x.csv")
    assert table.n == 49
    assert table.columns == ("age", "F/M")
    (tmp_path / "x.csv").write_text("age,F,M,All\n30,10,12,23\n31,12,15,27\nAll,22,27,49\n")
    with pytest.raises(InputError, match="not recognised"):
        read(tmp_path / "x.csv")


def test_a_row_that_is_hidden_whole_is_no_line_of_names(tmp_path: Path) -> None:
    """As ACRO writes it: numbers with a point, since the column holds blanks."""
    (tmp_path / "x.csv").write_text("work,F,M\nlocal,35.0,12.0\nnever,,\nstate,20.0,11.0\n")
    table = read(tmp_path / "x.csv", hidden_below=10)
    assert table.columns == ("work", "F/M")
    assert [table.text(index) for index in range(6)] == ["35", "12", "", "", "20", "11"]


def test_a_heading_from_a_spreadsheet_names_merged_cells_once(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("job,clerk,,cook,,All\narea,N,S,N,S,\nsex,,,,,\nF,4,5,6,7,22\nM,1,2,3,4,10\n")
    cell = find_layout(file_cells(as_input(tmp_path / "x.csv")))
    assert cell is not None
    assert cell.labels == (("clerk", "N"), ("clerk", "S"), ("cook", "N"), ("cook", "S"), ("All", ""))
    assert read(tmp_path / "x.csv").n == 32


def test_a_pivot_table_of_values_asks_what_it_counts(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(",ill,ill\njob,clerk,cook\nsex,,\nF,91,75\nM,95,120\n")
    with pytest.raises(InputError, match="say --by sex,job"):
        read(tmp_path / "x.csv")
    assert read(tmp_path / "x.csv", by="sex,job").n == 381


def test_lines_of_json_are_those_of_the_file(tmp_path: Path) -> None:
    lines = [{"sex": "F", "n": 12}, {"sex": "M", "n": 2}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = read(tmp_path / "x.jsonl")
    assert [table.line(index) for index in range(2)] == [1, 2]
    (tmp_path / "x.jsonl").write_text('{"sex": "F", "n": 12}\n{"sex": "M", "n": \n')
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: is not JSON"):
        tacit.read_release(tmp_path / "x.jsonl")


def test_one_table_in_two_years_has_one_column(tmp_path: Path) -> None:
    """The name of a lost column depends on its values alone, so that tables with the same values are compared."""
    (tmp_path / "old.csv").write_text("sex,clerk,cook\nF,12,40\nM,14,35\n")
    (tmp_path / "new.csv").write_text("sex,cook,clerk\nF,40,11\nM,35,14\n")
    audit = tacit.audit([tmp_path / "old.csv", tmp_path / "new.csv"], people=tacit.Nested())
    assert any("1 person" in one.statement and "clerk" in one.statement for one in audit.findings)


def test_a_column_with_a_role_or_rows_that_repeat_are_no_counts(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("sex,job,size\nF,cook,10\nM,cook,12\nM,clerk,\n")
    assert isinstance(tacit.read_release(tmp_path / "x.csv", qi="sex,job", sa="size"), tacit.PartialTable)
    assert isinstance(tacit.read_release(tmp_path / "x.csv", qi="sex", sa="job"), FrequencyTable)
    (tmp_path / "x.csv").write_text("sex,job,size\nF,cook,10\nF,cook,12\n")
    assert isinstance(tacit.read_release(tmp_path / "x.csv", qi="sex", sa="job"), tacit.PartialTable)


def test_a_role_names_the_column_across(tmp_path: Path) -> None:
    data = people(4)
    pd.crosstab(data.sex, data.job).to_csv(tmp_path / "x.csv")
    table = check(tmp_path / "x.csv", data, ["sex", "job"], sa="job")
    assert table.columns == ("sex", "job")
    assert table.header.assumed[0].endswith("is taken to be 'job'.")
    assert read(tmp_path / "x.csv", qi="sex", sa="none").columns[0] == "sex"
    for roles in ({"sa": "sxe"}, {"qi": "age", "sa": "job"}):  # a misspelt column, and one too many
        with pytest.raises(TacitError, match="there is no column"):
            tacit.audit(tmp_path / "x.csv", **roles)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="--by sex,NAME"):
        tacit.audit(tmp_path / "x.csv", data=data)
    assert tacit.audit(tmp_path / "x.csv", data=data, qi="sex", sa="job").measures["cells"] == len(table)


def test_shares_may_have_as_many_decimals_as_doubles_have(tmp_path: Path) -> None:
    counts = pd.DataFrame({"a": [52, 40], "b": [2_000, 43_119]}, index=pd.Index(["x", "y"], name="sex"))
    (counts / counts.to_numpy().sum()).to_csv(tmp_path / "x.csv")
    assert any(len(text) > 20 for text in re.split(r"[,\n]", (tmp_path / "x.csv").read_text()))
    table = read(tmp_path / "x.csv", n=45_211)
    assert [table.count(index).lo for index in range(4)] == [52, 2_000, 40, 43_119]
