"""The laws on releases of census data: a copy, another order and another format change no verdict and no group."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tacit
from tests.judge import laws

ADULT = Path(__file__).parents[2] / "src" / "tacit" / "data" / "adult.csv.gz"
COLUMNS = ("sex", "race", "workclass")
RELEASES = ("list", "rounded list", "table")
#: What is said in words: the items that people of a group have, and those they lack.
Words = tuple[frozenset[str], frozenset[str]]


@cache
def people() -> Any:
    return tacit.read_table(str(ADULT), qi=list(COLUMNS), missing="?", missing_rule="drop")


def made(kind: str, folder: Path) -> Path:
    """A release of census data."""
    path = folder / "release.csv"
    if kind == "table":
        tacit.write_release(tacit.tabulate(people(), by=[",".join(COLUMNS[1:])], total=True, hide_below=10, sa="none"), str(path))
        return path
    tacit.write_release(tacit.mine_itemsets(people(), min_support=40), str(path))
    if kind == "rounded list":
        names, *lines = csv.reader(io.StringIO(path.read_text()))
        header = json.loads(path.with_name("release.csv.json").read_text())
        rounded = [[line[0], str(5 * ((int(line[1]) + 2) // 5)), ""] for line in lines]
        laws.write_all(laws.write(path.name, names, rounded, {**header, "rounding": {"base": 5}}), folder)
    return path


def told(paths: list[Path]) -> tuple[str, set[Words]]:
    """The verdict about files, and the groups that it names."""
    several = len(paths) > 1
    what = [str(path) for path in paths]
    record = tacit.audit(what if several else what[0], people=tacit.Same() if several else None).to_dict(top=100_000)
    events = [finding["event"] for finding in record["findings"]]
    return record["verdict"], {(frozenset(event["present"]), frozenset(event["absent"])) for event in events}


@pytest.mark.parametrize("kind", RELEASES)
def test_a_copy_changes_nothing(kind: str, tmp_path: Path) -> None:
    path = made(kind, tmp_path)
    for name in ("release.csv", "release.csv.json"):
        (tmp_path / name.replace("release", "copy")).write_bytes((tmp_path / name).read_bytes())
    assert told([path, tmp_path / "copy.csv"]) == told([path])


@pytest.mark.parametrize("kind", RELEASES)
def test_order_and_format_change_nothing(kind: str, tmp_path: Path) -> None:
    path = made(kind, tmp_path)
    before = told([path])
    assert told(laws.as_parquet([path])) == before
    first, *lines = path.read_text().splitlines(keepends=True)
    Random(1).shuffle(lines)
    path.write_text("".join([first, *lines]))
    assert told([path]) == before
