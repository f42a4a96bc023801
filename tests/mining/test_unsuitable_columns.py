"""Columns of identifiers and of dates are told, and mined only if they are named."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.model.columns import find_many_numbers, find_unsuitable, is_date
from tacit.model.release import LeftOut
from tests.shell import record
from tests.shell import tacit as run

DAYS = [date(2020, 1, 1) + timedelta(days) for days in range(60)]


def people(**columns: list[str]) -> dict[str, list[str]]:
    return {"sex": ["F", "M", "M"] * 100, **columns}


def left_out(**columns: list[str]) -> dict[str, str]:
    return {one.column: one.holds for one in find_unsuitable(tacit.read_table(people(**columns), missing="?"))}


def test_identifiers() -> None:
    assert left_out(id=[str(number) for number in range(300)]) == {"id": "identifiers"}
    assert left_out(id=[str(number // 2) for number in range(300)]) == {}, "half of the people is not more than half"
    assert left_out(id=[str(min(number, 151)) for number in range(300)]) == {"id": "identifiers"}
    assert left_out(id=[str(min(number, 150)) for number in range(300)]) == {"id": "identifiers"}
    assert left_out(id=[str(min(number, 149)) for number in range(300)]) == {}
    few = tacit.read_table({"id": [str(number) for number in range(100)], "sex": ["F"] * 100})
    assert find_unsuitable(few) == (), "100 values are not enough"


def test_dates() -> None:
    days = [str(DAYS[number % 60]) for number in range(300)]
    assert left_out(day=days) == {"day": "dates"}
    assert left_out(day=[str(DAYS[number % 20]) for number in range(300)]) == {}, "20 values are not enough"
    assert left_out(day=["?" if number % 2 else day for number, day in enumerate(days)]) == {"day": "dates"}
    assert left_out(day=["later" if number % 60 < 3 else day for number, day in enumerate(days)]) == {"day": "dates"}
    assert left_out(day=[f"x{number}" if number < 4 else day for number, day in enumerate(days)]) == {}, "less than 95 %"


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2099, 12, 31)))
def test_forms_of_dates(day: datetime) -> None:
    forms = [
        "%Y-%m-%d",
        "%d.%m.%Y",
        "%m/%d/%Y",
        "%d/%m/%y",
        "%Y/%m/%d",
        "%Y%m%d",
        "%Y-%m-%dT%H:%M:%S",
        "%m/%d/%Y %H:%M",
        "%Y-%m-%d %H:%M:%S.%f",
    ]
    assert all(is_date(day.strftime(form)) for form in forms)
    assert is_date(day.isoformat() + "+01:00")


@pytest.mark.parametrize(
    "text", ["", "2024", "12", "3.14", "2024-13-01", "2024-02-30", "45/45/2020", "20241301", "1-2-3-4", "10-19", "12:30"]
)
def test_no_dates(text: str) -> None:
    assert not is_date(text)


def test_they_are_not_mined() -> None:
    frame = people(id=[str(number) for number in range(300)], day=[str(DAYS[number % 30]) for number in range(300)])
    found = tacit.mine_itemsets(frame, min_support=5)
    assert found.header.left_out == (LeftOut("id", "identifiers"), LeftOut("day", "dates"))
    assert found.items.names == ("sex=F", "sex=M")
    named = tacit.mine_itemsets(frame, min_support=5, qi=["day", "sex"])
    assert named.header.left_out == ()
    assert any(name.startswith("day=") for name in named.items.names)
    only = tacit.mine_itemsets({"id": frame["id"]}, min_support=1)
    assert (len(only), only.header.left_out) == (300, ()), "where nothing else is left, they are mined"


def write(folder: Path) -> Path:
    random = Random(5)
    path = folder / "visits.csv"
    lines = [
        f"{number},{DAYS[random.randrange(60)]},{random.choice('FM')},{random.choice(['yes', 'no'])}" for number in range(300)
    ]
    path.write_text("visit,admitted,sex,ill\n" + "\n".join(lines) + "\n")
    return path


def test_the_command_says_so_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path)
    out = tmp_path / "itemsets.csv"
    shown = run("mine", "itemsets", path, "--min-support", 5, "-o", out).output
    (line,) = [line for line in shown.splitlines() if line.startswith("Left out")]
    assert "visit (nearly every row has its own value); admitted (dates)." in line
    assert not any(str(day) in shown for day in DAYS)
    header = json.loads(out.with_name("itemsets.csv.json").read_text())
    assert header["left_out"] == {"visit": "identifiers", "admitted": "dates"}
    assert tacit.read_release(out).header.left_out == (LeftOut("visit", "identifiers"), LeftOut("admitted", "dates"))
    made = record("mine", "itemsets", path, "--min-support", 5)
    assert made["left_out"] == header["left_out"]
    assert "left_out" not in record("mine", "itemsets", path, "--min-support", 5, "--qi", "admitted,sex")


def test_a_release_without_them_is_audited_and_repaired_as_it_was_mined(tmp_path: Path) -> None:
    path = write(tmp_path)
    out = tmp_path / "itemsets.csv"
    run("mine", "itemsets", path, "--min-support", 5, "-o", out)
    alone = record("audit", out, "--k", 80, code=1)
    with_data = record("audit", out, "--data", path, "--k", 80, code=1)
    assert with_data["findings"] == alone["findings"]
    repaired = tmp_path / "repaired.csv"
    run("repair", out, "--data", path, "--k", 80, "--method", "substitute", "-o", repaired)
    names = [name for one in tacit.read_release(repaired).records() for name in one["itemset"]]
    assert not any(name.startswith(("visit=", "admitted=")) for name in names)


def test_a_missing_mark_drops_the_same_rows_again(tmp_path: Path) -> None:
    """Rows are dropped for a mark in a column that is then left out; the audit reads them in the same way."""
    path = write(tmp_path)
    path.write_text(path.read_text().replace(str(DAYS[0]), "?"))
    out = tmp_path / "itemsets.csv"
    dropping = ("--missing", "?", "--missing-rule", "drop")
    made = record("mine", "itemsets", path, "--min-support", 5, *dropping, "-o", out)
    assert made["n"] < 300
    assert record("audit", out, "--data", path, "--k", 2)["verdict"] == "clean"


def test_columns_of_many_numbers() -> None:
    table = tacit.read_table({"age": [str(number % 60) for number in range(300)], "few": ["1", "2"] * 150, "code": ["x1"] * 300})
    assert list(find_many_numbers(table)) == ["age"]


def test_blank_cells_do_not_hide_an_identifier() -> None:
    numbers = [str(number) if number % 3 == 0 else "" for number in range(600)]
    marked = ["?" if number % 3 else str(number) for number in range(600)]
    read = tacit.read_table({"sex": ["F", "M"] * 300, "case": numbers, "other": marked}, missing="?")
    assert [(one.column, one.holds) for one in find_unsuitable(read)] == [("case", "identifiers"), ("other", "identifiers")]
    repeated = [str(number % 100) if number % 3 == 0 else "" for number in range(600)]
    assert find_unsuitable(tacit.read_table({"sex": ["F", "M"] * 300, "case": repeated})) == ()
