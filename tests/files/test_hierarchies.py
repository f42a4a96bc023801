"""Hierarchy files: what they say, and every complaint."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.files.hierarchies import check_covers, read_hierarchies, read_hierarchy
from tacit.model.errors import InputError
from tacit.model.table import Column, Hierarchy

SECRET = "K4NARY"


def sentence(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.__cause__ is None
    assert SECRET not in str(caught.value)
    return str(caught.value)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(text: str | bytes) -> Hierarchy:
    Path("h.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_hierarchy("h.csv", "c")


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_levels(delimiter: str, end: str) -> None:
    rows = [["1", "0-4", "0-9", "*"], ["5", "5-9", "0-9", "*"], ["2", "0-4", "0-9", "*"], ["2", "0-4", "0-9", "*"]]
    tree = read(end.join(delimiter.join(row) for row in rows) + end)
    assert tree == Hierarchy("c", {"1": ("0-4", "0-9"), "5": ("5-9", "0-9"), "2": ("0-4", "0-9")})
    assert tree.members("0-4") == ("1", "2")


def test_levels_that_add_nothing() -> None:
    tree = read('White; White;*;*\n"Black";Non-White;*;*\nAsian;Non-White;Non-White;*\n')
    assert tree.levels == {"White": (), "Black": ("Non-White",), "Asian": ("Non-White",)}
    assert read("a\nb\n").levels == {"a": (), "b": ()}
    assert read("a;x\nb;y\n").levels == {"a": ("x",), "b": ("y",)}
    assert read("a;*\n;*\n").levels == {"a": (), "": ()}
    assert read("Köln;D;*\n".encode("cp1252")).levels == {"Köln": ("D",)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "h.csv: is empty. Write one line per value: value;coarser;...;*."),
        (
            f"a;x;*\n{SECRET};*\n",
            "h.csv, line 2: has 2 levels where the first line has 3. Give every value the same number of levels.",
        ),
        (
            f"a;x;*\n{SECRET}\n",
            "h.csv, line 2: has 1 level where the first line has 3. Give every value the same number of levels.",
        ),
        (
            f"{SECRET};x;*\nb;x;*\n{SECRET};y;*\n",
            "h.csv, line 3: gives the value of line 1 other levels. Keep one of the two lines.",
        ),
        (
            f"a;{SECRET};x;*\nb;{SECRET};y;*\n",
            "h.csv, line 2: puts a coarser value under another one than line 1 does. Put each coarser value under one still coarser value.",
        ),
        (
            f"a;{SECRET};x;*\nb;y;{SECRET};*\n",
            "h.csv, line 2: puts a coarser value under another one than line 1 does. Put each coarser value under one still coarser value.",
        ),
        (
            f"a;{SECRET};*\n{SECRET};{SECRET};*\n",
            "h.csv, line 1: has a coarser value with the name of the raw value of line 2. Give the coarser value a name of its own.",
        ),
        (f"{SECRET};*;x\n", "h.csv, line 1: has a level after the root '*'. Write the levels from finest to coarsest, '*' last."),
        (f"{SECRET};;*\n", "h.csv, line 1: has an empty level. Write the levels from finest to coarsest, '*' last."),
        (
            f"a;{SECRET};x;{SECRET};*\n",
            "h.csv, line 1: has the same level twice. Write the levels from finest to coarsest, '*' last.",
        ),
        (f"a;{SECRET};a;*\n", "h.csv, line 1: has the same level twice. Write the levels from finest to coarsest, '*' last."),
        (
            f'a;"{SECRET}\n',
            "h.csv, line 1: the quote that opens here is never closed. Close it, or double it inside a quoted cell.",
        ),
    ],
)
def test_bad_hierarchies(text: str, expected: str) -> None:
    assert sentence(lambda: read(text)) == expected


def test_folders() -> None:
    Path("h").mkdir()
    Path("h/age.csv").write_text("1;x;*\n")
    Path("h/adult_hierarchy_marital_status.csv.gz").write_bytes(gzip.compress(b"m;y;*\n"))
    Path("h/notes.txt").write_text("")
    Path("h/xage.csv").write_text("broken;\n;;")
    found = read_hierarchies("h", ["status", "age", "marital_status", "sex"])
    assert list(found) == ["age", "marital_status"]
    assert found["marital_status"] == Hierarchy("marital_status", {"m": ("y",)})
    assert list(read_hierarchies("h", ["status"])) == ["status"]
    Path("h/adult_age.csv").write_text("1;x;*\n")
    assert sentence(lambda: read_hierarchies("h", ["age"])) == (
        "h: adult_age.csv and age.csv are both hierarchies of column 'age'. Keep one of them in the folder."
    )
    assert sentence(lambda: read_hierarchies("h", ["sex", "race"])) == (
        "h: holds no hierarchy of any column. Call the files for instance sex.csv, race.csv."
    )
    for folder in ("none", "h/age.csv"):
        assert sentence(lambda: read_hierarchies(folder, ["age"])) == (  # noqa: B023 - called at once
            f"{folder}: is not a folder that can be read. Give the folder of the hierarchy files."
        )


def test_values_that_are_not_covered() -> None:
    tree = Hierarchy("c", {"a": (), "b": ()})
    check_covers(tree, Column.from_texts("c", ["b", "a", "b"]))
    remedy = "Add a line for each to the hierarchy, or drop rows with missing values."
    assert sentence(lambda: check_covers(tree, Column.from_texts("c", ["b", SECRET, SECRET]))) == (
        f"hierarchies: 1 value of column 'c' is not in its hierarchy (first in row 2 of the data). {remedy}"
    )
    assert sentence(lambda: check_covers(tree, Column.from_texts("c", ["b", "a", SECRET, "?"]), where="h/c.csv")) == (
        f"h/c.csv: 2 values of column 'c' are not in its hierarchy (first in row 3 of the data). {remedy}"
    )
