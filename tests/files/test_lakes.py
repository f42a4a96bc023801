"""Delta and Iceberg tables: read as the library that wrote them says, whatever lies in their folders."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.memory import InMemoryCatalog

import tacit

ROWS = {"sex": ["F", "M", "F", "F"], "age": [30, 40, None, 30], "ill": ["flu", "cold", "flu", "flu"]}


def write_iceberg(folder: Path) -> Path:
    """Write the rows in two appends; return the folder of the table."""
    catalog = InMemoryCatalog("tests", warehouse=f"file://{folder}")
    catalog.create_namespace("clinic")
    rows = pyarrow.table(ROWS)
    table = catalog.create_table("clinic.people", rows.schema)
    table.append(rows.slice(0, 2))
    table.append(rows.slice(2))
    return Path(table.location().removeprefix("file://"))


def test_delta(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "people", pyarrow.table(ROWS))
    write_deltalake(tmp_path / "people", pyarrow.table({"sex": ["X"], "age": [1], "ill": ["flu"]}), mode="append")
    DeltaTable(tmp_path / "people").delete("sex = 'X'")  # the file with X stays in the folder
    check(tmp_path / "people")


def test_iceberg(tmp_path: Path) -> None:
    check(write_iceberg(tmp_path))


def check(folder: Path) -> None:
    for engine in (None, "memory", "duckdb"):
        table = tacit.read_table(folder, qi=["sex", "age"], sa="ill", engine=engine)
        merged = table.merged()
        assert table.n == 4
        assert merged.column("sex").values == ("F", "M")
        assert merged.column("age").values == ("", "30", "40")
        assert sorted(merged.weights.tolist()) == [1, 1, 2]
        assert table.source is not None
        assert table.source.name == folder.name
    rules = [
        tacit.mine_rules(tacit.read_table(data, qi="sex", sa="ill"), min_support=2, min_confidence=0.5) for data in (folder, ROWS)
    ]
    assert list(rules[0].records()) == list(rules[1].records())


def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_deltalake(tmp_path / "people", pyarrow.table(ROWS))
    for file in (tmp_path / "people").glob("*.parquet"):
        file.unlink()
    with pytest.raises(tacit.InputError, match=r"the Delta table cannot be read\. Check that it is complete"):
        tacit.read_table(tmp_path / "people", engine="duckdb")
    table = write_iceberg(tmp_path / "ice")
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.setitem(sys.modules, "pyiceberg.table", None)
    for folder, extra in ((tmp_path / "people", "delta"), (table, "iceberg")):
        with pytest.raises(tacit.EngineError, match=rf"is not installed\. pip install 'tacit\[{extra}\]'\."):
            tacit.read_table(folder)
