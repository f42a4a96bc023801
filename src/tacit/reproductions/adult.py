"""UCI Adult as the papers use it: by default as Zhu, Wang and Du, eight categorical columns, the salary, rows with a missing value removed."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tacit.api import read_table
from tacit.errors import InputError
from tacit.model.table import Table

FILES = ("adult.data", "adult.csv", "adult.csv.gz")
NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary",
)  # fmt: skip
QI = ("workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "education")
SA = "salary"
#: The levels of education in their order: the column education-num numbers them from 1, and the copy that comes with Tacit leaves it out.
EDUCATION = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm",
    "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
#: What to say where the data are not there.
NEEDED = (
    "they need adult.data of the UCI repository (Adult), or adult.csv or adult.csv.gz with its column names "
    "(--data bundled takes the copy that comes with Tacit)"
)


def find_adult(folder: Path | None) -> Path | None:
    """The training file of Adult in a folder: as UCI distributes it, or with a header line."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None) if folder is not None else None


def read_adult(
    path: Path, *, qi: Sequence[str] = QI, sa: str = SA, missing_rule: Literal["drop", "drop-any"] = "drop-any"
) -> Table:
    """The people of a paper; rows with a question mark in any column, or in one that is used, are left out."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [row for row in csv.reader(io.StringIO(text.decode("utf-8", "replace")), skipinitialspace=True) if row]
    names = [name.strip() for name in rows.pop(0)] if rows and not rows[0][0].strip().isdigit() else list(NAMES)
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != len(names)), None)
    columns = {name: [row[place].strip() for row in rows] for place, name in enumerate(names)} if wrong is None else {}
    if "education-num" not in columns and set(columns.get("education", "?")) <= set(EDUCATION):
        columns["education-num"] = [str(EDUCATION.index(level) + 1) for level in columns["education"]]
    if not rows or not {*qi, sa} <= columns.keys():
        what = f"row {wrong} has another number of cells" if wrong is not None else "lacks columns of Adult, or rows"
        raise InputError(what, where=path.name, remedy="Give the file adult.data as UCI distributes it")
    return read_table(columns, qi=list(qi), sa=sa, missing="?", missing_rule=missing_rule)
