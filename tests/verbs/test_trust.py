"""Releases that were once called clean, or whose verdict changed beside another file: none of them is clean."""

from __future__ import annotations

import json
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tests.shell import record, tacit

ADULT = Path(__file__).parents[2] / "src" / "tacit" / "data" / "adult.csv.gz"
EXPOSED = 1


def itemsets(path: Path, counts: dict[str, int], **header: Any) -> Path:
    """A list of itemsets, items divided by blanks."""
    lines = ['"' + json.dumps(items.split()).replace('"', '""') + f'",{count}' for items, count in counts.items()]
    path.write_text("\n".join(["itemset,count", *lines]) + "\n")
    path.with_name(f"{path.name}.json").write_text(json.dumps({"format": "tacit.itemsets/1"} | header))
    return path


def table(path: Path, text: str, **header: Any) -> Path:
    """A frequency table."""
    path.write_text(text)
    if header:
        path.with_name(f"{path.name}.json").write_text(json.dumps({"format": "tacit.frequencies/1"} | header))
    return path


def test_values_of_one_column_exclude_each_other(tmp_path: Path) -> None:
    """500 and 497 of 1,000 people have one of two values, so three have another one."""
    found = itemsets(tmp_path / "f1.csv", {"sex=F": 500, "sex=M": 497}, n=1000, min_support=50, complete=True, columns=["sex"])
    made = record("audit", found, code=EXPOSED)
    assert [3, 3] in [finding["count"] for finding in made["findings"]]


@pytest.mark.parametrize(("column", "rest"), [("native-country", 1), ("occupation", 9)])
def test_the_rest_of_a_listed_column_of_census_data(column: str, rest: int, tmp_path: Path) -> None:
    out = tmp_path / "list.csv"
    mined = tacit(
        "mine", "itemsets", ADULT, "--qi", column, "--min-support", 10, "--missing", "?", "--missing-rule", "drop", "-o", out
    )
    assert mined.exit_code == 0
    made = record("audit", out, code=EXPOSED)
    assert [rest, rest] in [finding["count"] for finding in made["findings"]]


@pytest.fixture
def hidden_value(tmp_path: Path) -> list[Path]:
    """A table whose hidden cell is one subtraction away, and one about something else."""
    first = table(tmp_path / "z.csv", "A,count\nx,61\ny,63\nz,\n", n=127)
    return [first, table(tmp_path / "col.csv", "colour,count\nred,60\nblue,67\n")]


@pytest.mark.parametrize("people", ["same", "unknown", "nested", "left:0-5,joined:0-5"])
def test_an_exposed_table_stays_exposed_beside_another(people: str, hidden_value: list[Path]) -> None:
    assert tacit("audit", hidden_value[0]).exit_code == EXPOSED
    assert tacit("audit", *hidden_value, "--people", people).exit_code == EXPOSED


def test_more_than_a_thousand_long_groups_are_reported(tmp_path: Path) -> None:
    items = [f"i{number}" for number in range(10)]
    n = 50 + 5 * comb(10, 4)

    def listed(name: str, sizes: range) -> Path:
        counts = {
            " ".join(chosen): 50 + (5 * comb(10 - size, 4 - size) if size <= 4 else 0)
            for size in sizes
            for chosen in combinations(items, size)
        }
        return itemsets(tmp_path / name, counts, n=n)

    assert tacit("audit", listed("both.csv", range(1, 6))).exit_code == EXPOSED
    short, long = listed("short.csv", range(1, 5)), listed("long.csv", range(5, 6))
    assert tacit("audit", short, long).exit_code == EXPOSED


def test_a_list_with_gaps_says_what_two_lists_say(tmp_path: Path) -> None:
    counts = {"a": 203, "c": 200, "a b c": 200}
    whole = itemsets(tmp_path / "gap.csv", counts, n=1000)
    parts = [
        itemsets(tmp_path / "first.csv", {"a": 203, "c": 200}, n=1000),
        itemsets(tmp_path / "second.csv", {"a b c": 200}, n=1000),
    ]
    assert tacit("audit", *parts).exit_code == EXPOSED
    made = record("audit", whole, code=EXPOSED)
    assert {"present": ["a"], "absent": ["c"]} in [finding["event"] for finding in made["findings"]]


def test_a_maximal_list_bounds_those_who_have_nothing(tmp_path: Path) -> None:
    found = itemsets(tmp_path / "maxi.csv", {"a": 50, "b": 46}, n=100, min_support=5, complete=True, only="maximal")
    assert tacit("audit", found).exit_code == EXPOSED


def test_rounded_counts_of_one_list_bound_each_other(tmp_path: Path) -> None:
    """At most 495 have a and at least 495 have a and b, so 5 of 500 people have no a."""
    found = itemsets(tmp_path / "rnd.csv", {"a": 490, "a b": 500}, n=500, rounding={"base": 10})
    assert tacit("audit", found).exit_code == EXPOSED
