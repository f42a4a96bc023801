"""Nothing unread is clean: extra columns, second counts, totals under other names, and numbers that other programs print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tacit as library
from tacit.model.frequencies import FrequencyTable
from tests.shell import record, tacit

PERCENT = (
    "sex,job,count,percent\nF,cook,40,44.0\nF,clerk,,2.2\nM,cook,35,38.5\nM,clerk,14,15.4\n*,cook,75,82.4\n*,clerk,16,17.6\n"
)
TWO_COUNTS = "sex,job,freq,count\nF,cook,40,40\nF,clerk,3,\nM,cook,35,35\nM,clerk,14,14\n"
SUMS = "sex,area,count,sum_income,max_income\nF,N,12,100000,60000\nF,S,15,50000,9000\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refusal(*arguments: Any) -> str:
    """The one line that says why a command is refused."""
    result = tacit(*arguments)
    assert result.exit_code == 2, result.stdout
    assert result.stderr.count("\n") == 1
    return result.stderr


def columns_of(file: Path) -> tuple[str, ...]:
    release = library.read_release(file)
    assert isinstance(release, FrequencyTable)
    return release.columns


# Columns of frequency tables


def test_a_column_of_shares_is_never_a_dimension(tmp_path: Path) -> None:
    file = write(tmp_path, "pct.csv", PERCENT)
    told = refusal("audit", file)
    assert told.startswith("pct.csv, line 1: the column 'percent' is neither a dimension of the table nor its count. ")
    assert "--by sex,job" in told
    assert "--ignore percent" in told
    made = record("audit", file, "--by", "sex,job", code=1)  # the hidden cell is a difference
    assert made["not_read"] == [{"file": "pct.csv", "reason": "is not read", "column": "percent"}]
    made = record("audit", file, "--ignore", "percent", code=1)
    assert "not_read" not in made
    assert made["ignored"][0]["column"] == "percent"


def test_what_is_not_read_of_a_table_makes_it_incomplete(tmp_path: Path) -> None:
    file = write(tmp_path, "sums.csv", SUMS)
    told = refusal("audit", file, "--n", 27, "--k", 10)
    assert "the columns 'sum_income' and 'max_income' are neither" in told
    result = tacit("audit", file, "--n", 27, "--k", 10, "--by", "sex,area")
    assert result.exit_code == 3
    assert "'sum_income'" in result.stdout.partition("\n\n")[0]
    assert tacit("audit", file, "--by", "sex,area", "--ignore", "sum_income", "--k", 10).exit_code == 3
    both = ("--ignore", "sum_income", "--ignore", "max_income")
    assert tacit("audit", file, *both, "--k", 10, "--sa", "none").exit_code == 0
    release = library.read_release(file, by="sex,area")
    assert release.header.unread == ("sum_income", "max_income")
    assert library.audit(release).verdict == "incomplete"


def test_two_columns_that_may_be_the_counts_are_asked_about(tmp_path: Path) -> None:
    file = write(tmp_path, "two.csv", TWO_COUNTS)
    assert "the columns 'freq' and 'count' may both hold the counts. Say which with --count COLUMN." in refusal("audit", file)
    assert "'freq' is neither" in refusal("audit", file, "--count", "count")
    assert tacit("audit", file, "--count", "count", "--by", "sex,job").exit_code == 3
    made = record("audit", file, "--count", "freq", "--ignore", "count", code=1)
    assert made["findings"][0]["count"] == [3, 3]
    assert "is not a column" in refusal("audit", file, "--count", "counts")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("no", ["1", "2", "3", "4"]),
        ("share", ["0.4494", "0.0225", "0.3708", "0.1573"]),
        ("percent", ["44.9", "2.2", "37.1", "15.7"]),
        ("cum_count", ["40", "42", "75", "89"]),
        ("n", ["40", "2", "33", "14"]),
        ("year", ["2024", "2024", "2024", "2024"]),
    ],
)
def test_columns_that_repeat_the_counts_are_understood(tmp_path: Path, name: str, values: list[str]) -> None:
    cells = [("F", "cook", "40"), ("F", "clerk", "2"), ("M", "cook", "33"), ("M", "clerk", "14")]
    lines = [",".join([*cell, value]) for cell, value in zip(cells, values, strict=True)]
    release = library.read_release(write(tmp_path, "t.csv", f"sex,job,count,{name}\n" + "\n".join(lines) + "\n"))
    assert release.n == 89
    assert release.header.unread == ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("note", ["", "p", "", ""]),
        ("rank", ["1", "4", "2", "3"]),
        ("percent", ["44.9", "9.9", "37.1", "15.7"]),
        ("cum_count", ["40", "43", "75", "89"]),
        ("mean_wage", ["12.5", "9.1", "17.25", "11"]),
    ],
)
def test_columns_that_say_more_are_refused(tmp_path: Path, name: str, values: list[str]) -> None:
    cells = [("F", "cook", "40"), ("F", "clerk", ""), ("M", "cook", "33"), ("M", "clerk", "14")]
    lines = [",".join([*cell, value]) for cell, value in zip(cells, values, strict=True)]
    file = write(tmp_path, "t.csv", f"sex,job,count,{name}\n" + "\n".join(lines) + "\n")
    assert f"'{name}' is neither" in refusal("audit", file)


def test_numbers_that_divide_people_are_dimensions(tmp_path: Path) -> None:
    ages = write(tmp_path, "ages.csv", "age,count\n30,12\n31,14\n32,11\n")
    assert columns_of(ages) == ("age",)
    both = write(tmp_path, "both.csv", "age,sex,count\n30,F,12\n30,M,14\n31,F,11\n31,M,17\n")
    assert columns_of(both) == ("age", "sex")


# Totals under other names


@pytest.mark.parametrize("label", ["Both", "Insgesamt", "Total persons", "All sexes", "Ensemble", "Totale", "Todos", "Gesamt"])
def test_totals_under_other_names_are_totals(tmp_path: Path, label: str) -> None:
    file = write(tmp_path, "t.csv", f"sex,job,count\nF,clerk,\nM,clerk,14\n{label},clerk,16\n")
    made = record("audit", file, code=1)
    assert made["findings"][0]["count"] == [2, 2]


def test_totals_of_a_crosstab_under_other_names_are_totals(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "job,F,M,Gesamt\nclerk,,14,16\ncook,30,35,65\n")
    assert record("audit", file, "--by", "job,sex", code=1)["findings"][0]["count"] == [2, 2]


def test_a_value_that_may_be_a_total_is_asked_about(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "sex,job,count\nF,clerk,\nM,clerk,14\nPersonen,clerk,16\n")
    told = refusal("audit", file)
    assert told.startswith("t.csv, line 4, column 'sex': the value may be the total of the others. Say --any VALUE if it is")
    assert "Personen" not in told
    assert record("audit", file, "--any", "Personen", code=1)["findings"][0]["count"] == [2, 2]
    assert tacit("audit", file, "--no-total", "Personen").exit_code != 2
    refuted = write(tmp_path, "r.csv", "sex,job,count\nF,clerk,20\nM,clerk,14\nBoth,clerk,16\n")
    assert "may be the total" in refusal("audit", refuted)
    assert tacit("audit", refuted, "--no-total", "Both", "--sa", "none").exit_code == 0


def test_a_value_that_is_no_sum_of_others_is_not_asked_about(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "t.csv",
        "colour,job,count\nred,clerk,20\nblue,clerk,14\nwhite,clerk,36\nred,cook,20\nblue,cook,14\nwhite,cook,90\n",
    )
    assert library.read_release(file).n == 194


def test_ranges_that_overlap_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "t.csv", "age,count\n0-9,20\n10-19,30\n0-17,45\n")
    assert "t.csv, line 4, column 'age': the ranges of the column overlap" in refusal("audit", file)
    fine = write(tmp_path, "f.csv", "age,count\n0-5,20\n5-10,30\n10-17,45\n18+,50\n")
    assert library.read_release(fine).n == 145
