"""Tables from files, databases and frames: values, roles, missing values, and every complaint."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.files.delimited import sniff_delimiter
from tacit.files.tables import read_table
from tacit.model.errors import InputError, OptionError, TacitError
from tacit.model.table import Schema, Table

SECRET = "K4NARY"


def cells(table: Table) -> dict[str, list[str]]:
    return {column.name: [column.values[code] for code in column.codes] for column in table.columns}


def sentence(call: Callable[[], object], kind: type[TacitError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.__cause__ is None
    assert SECRET not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str | bytes], str]:
    monkeypatch.chdir(tmp_path)

    def writer(name: str, content: str | bytes) -> str:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return writer


Write = Callable[[str, str | bytes], str]


# Files


def test_values_are_text_as_printed(write: Write) -> None:
    path = write("x.csv", "id, val\n1.0, NA\n1,NULL\n01, \n007 ,\"\"\n1e5,' '\n")
    assert cells(read_table(path)) == {"id": ["1.0", "1", "01", "007", "1e5"], "val": ["NA", "NULL", "", "", "' '"]}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "\x01", "^", "~", ":", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_separator_and_line_end(write: Write, delimiter: str, end: str) -> None:
    rows = [["a", "b", "c"], ["1", "2", "3"], ["x", "y", "z"]]
    path = write("x.csv", end.join(delimiter.join(row) for row in rows))
    assert cells(read_table(path)) == {"a": ["1", "x"], "b": ["2", "y"], "c": ["3", "z"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_any_encoding(write: Write, encoding: str, packed: bool) -> None:
    data = 'größe;"né"\r\n"a;b";€\r\n'.encode(encoding)
    table = read_table(write("x.csv", gzip.compress(data) if packed else data), sa="né")
    assert cells(table) == {"né": ["€"]}
    assert table.source is not None
    assert table.source.name == "x.csv"
    assert len(table.source.sha256) == 64


def test_one_column(write: Write) -> None:
    assert cells(read_table(write("x.csv", 'a\n1\n\n""\n2\n'))) == {"a": ["1", "", "2"]}


def test_rows_keep_their_order_and_columns_that_of_the_file(write: Write) -> None:
    rows = [(str(i % 7), str(999 - i)) for i in range(1000)]
    table = read_table(write("x.csv", "b,a\n" + "".join(f"{b},{a}\n" for b, a in rows)), qi="a", sa="b")
    assert table.names == ("b", "a")
    assert cells(table) == {"b": [b for b, _ in rows], "a": [a for _, a in rows]}
    assert table.weights.tolist() == [1] * 1000


def test_a_file_in_the_middle_of_which_quotes_go_wrong_is_read_exactly(write: Write) -> None:
    text = "a,b\n" + "1,2\n" * 2000 + '5" pipe,"6"" pipe" \n'
    table = read_table(write("x.csv", text))
    assert cells(table)["a"][-1] == '5" pipe'
    assert cells(table)["b"][-1] == '6" pipe'


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb,c\n1\t2,3,4\n", "\t"),
        ('"a,x";b\n"1,2,3";4\n', ";"),
        ("time:start,time:end\n1:2,3:4\n", ","),
        ("first name\nAnn Lee\n", ","),
        ("a b c\n1 2 3\n", " "),
        ("one\ntwo\n", ","),
        ("a,b\n1,2\n3,4,5,6", ","),
    ],
)
def test_the_separator_is_the_one_that_agrees(head: str, expected: str) -> None:
    assert sniff_delimiter(head, complete=True) == expected


def test_a_cut_head_does_not_count_its_last_line() -> None:
    assert sniff_delimiter("a|b\n1|2\n3", complete=False) == "|"


# Parquet and databases

VALUES: dict[str, tuple[Any, list[str]]] = {
    "Text": (pa.array(["x", None, " y "]), ["x", "", "y"]),
    "text": (pa.array(["é", "", "NULL"]), ["é", "", "NULL"]),
    "whole": (pa.array([1, None, -3], pa.int32()), ["1", "", "-3"]),
    "large": (pa.array([2**63, 1, None], pa.uint64()), [str(2**63), "1", ""]),
    "float": (pa.array([1.0, float("nan"), 1e16]), ["1.0", "", "1e+16"]),
    "small": (pa.array([0.1, 5726140.5, None], pa.float32()), ["0.1", "5726140.5", ""]),
    "truth": (pa.array([True, False, None]), ["True", "False", ""]),
    "date": (pa.array([dt.date(2020, 1, 31), None, dt.date(1999, 12, 1)]), ["2020-01-31", "", "1999-12-01"]),
    "day": (
        pa.array([dt.datetime(2020, 1, 31), None, dt.datetime(1999, 12, 1)], pa.timestamp("us")),
        ["2020-01-31", "", "1999-12-01"],
    ),
    "moment": (
        pa.array([dt.datetime(2020, 1, 31, 10, 0, 0, 500000), None, dt.datetime(1999, 12, 1)], pa.timestamp("us")),
        ["2020-01-31 10:00:00.5", "", "1999-12-01 00:00:00"],
    ),
    "zoned": (
        pa.array([dt.datetime(2020, 1, 31, 10, tzinfo=dt.UTC), None, None], pa.timestamp("us", tz="Europe/Berlin")),
        ["2020-01-31 10:00:00+00", "", ""],
    ),
    "money": (pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.00")], pa.decimal128(10, 2)), ["1.50", "", "-2.00"]),
    "coded": (pa.array(["u", "v", "u"]).dictionary_encode(), ["u", "v", "u"]),
    "nothing": (pa.array([None, None, None]), ["", "", ""]),
    "clock": (pa.array([dt.time(10, 30), None, dt.time(0, 0, 1)]), ["10:30:00", "", "00:00:01"]),
}
ARROW = pa.table({name: values for name, (values, _) in VALUES.items()})
EXPECTED = {name: texts for name, (_, texts) in VALUES.items()}


def test_parquet(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "year=2020"
    folder.mkdir()
    path = folder / "x[1].parquet"
    pq.write_table(pa.table({"a": ["another file that the name would match as a pattern"]}), folder / "x1.parquet")
    pq.write_table(ARROW, path)
    assert cells(read_table(path)) == EXPECTED
    packed = write("no-ending", gzip.compress(path.read_bytes()))
    table = read_table(packed, qi="text,Text", sa="whole")
    assert cells(table) == {name: EXPECTED[name] for name in ("Text", "text", "whole")}
    assert table.source is not None
    assert table.source.name == "no-ending"


def test_strings_stored_as_bytes_in_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([b"x", b"y"])}), tmp_path / "x.parquet")
    assert cells(read_table(tmp_path / "x.parquet")) == {"a": ["x", "y"]}


def test_many_distinct_values(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [f"{i * 7919 % 1000}" for i in range(1000)]}), tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet")
    assert table.column("id").values == tuple(sorted(str(i) for i in range(1000)))
    assert cells(table)["id"] == [f"{i * 7919 % 1000}" for i in range(1000)]


def test_damaged_parquet(write: Write, tmp_path: Path) -> None:
    pq.write_table(ARROW, tmp_path / "x.parquet")
    write("x.parquet", (tmp_path / "x.parquet").read_bytes()[:-50])
    assert (
        sentence(lambda: read_table("x.parquet"))
        == "x.parquet: is damaged, or is not a Parquet file that can be read. Write it again."
    )
    pq.write_table(pa.table({"a": [[1]], "b": [1]}), tmp_path / "x.parquet")
    assert cells(read_table("x.parquet", columns="b")) == {"b": ["1"]}
    assert sentence(lambda: read_table("x.parquet")) == (
        "x.parquet: column 'a' holds lists, records or bytes, not single values. Choose other columns, or take it apart first."
    )
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "x.parquet")
    assert sentence(lambda: read_table("x.parquet")) == "x.parquet: has a header and no rows. Add rows below the header."
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], ["a", "a"]), tmp_path / "x.parquet")
    assert sentence(lambda: read_table("x.parquet")) == (
        "x.parquet: columns 1 and 2 have the same name. Rename one of them in the first line."
    )


def test_duckdb_database(write: Write) -> None:
    connection = duckdb.connect("x.duckdb")
    connection.execute("CREATE TABLE people (\"Age\" INT, \"o'x\" VARCHAR); INSERT INTO people VALUES (1, 'a'), (NULL, ' b')")
    connection.execute("CREATE SCHEMA s; CREATE TABLE s.t (a INT); CREATE VIEW seen AS SELECT * FROM people")
    connection.close()
    assert cells(read_table("x.duckdb::people")) == {"Age": ["1", ""], "o'x": ["a", "b"]}
    assert sentence(lambda: read_table("x.duckdb::seen"), OptionError) == (
        "x.duckdb: 'seen' is a view, and only tables are read. "
        "Make a table of it first, for instance with CREATE TABLE rows AS FROM seen."
    )
    read = read_table("x.duckdb::people", qi="Age")
    assert read.source is not None
    assert read.source.name == "x.duckdb::people"
    assert sentence(lambda: read_table("x.duckdb::s.t")) == "x.duckdb::s.t: has a header and no rows. Add rows below the header."
    assert sentence(lambda: read_table("x.duckdb::peple"), OptionError) == (
        "x.duckdb: there is no table 'peple'. Did you mean 'people'? The tables are: people, s.t."
    )
    assert (
        sentence(lambda: read_table("x.duckdb"))
        == "x.duckdb: is a DuckDB database, not text. Name a table in it, as in FILE::TABLE."
    )
    write("y.duckdb", Path("x.duckdb").read_bytes()[:5000])
    assert sentence(lambda: read_table("y.duckdb::t")) == (
        "y.duckdb: the DuckDB database cannot be opened. Close other programs that use it, or export the table as Parquet or CSV."
    )


def test_sqlite_database(write: Write) -> None:
    connection = sqlite3.connect("x?#.db")
    connection.execute('CREATE TABLE "my people" ("a""b" INT, c TEXT, d BLOB)')
    connection.execute('CREATE INDEX i ON "my people" (c)')
    connection.executemany('INSERT INTO "my people" VALUES (?, ?, ?)', [(1, "y", b"1"), (None, "x ", b"2"), (2.5, "z", b"3")])
    connection.commit()
    connection.close()
    table = read_table("x?#.db::my people", columns=["c", 'a"b'])
    assert cells(table) == {'a"b': ["1", "", "2.5"], "c": ["y", "x", "z"]}
    assert "column 'd' holds lists, records or bytes" in sentence(lambda: read_table("x?#.db::my people"))
    assert sentence(lambda: read_table("x?#.db::people"), OptionError) == (
        "x?#.db: there is no table 'people'. Did you mean 'my people'? The tables are: my people."
    )
    assert (
        sentence(lambda: read_table("x?#.db"))
        == "x?#.db: is an SQLite database, not text. Export the table as CSV and give that file."
    )
    write("y.db", Path("x?#.db").read_bytes()[:200])
    assert sentence(lambda: read_table("y.db::t")) == "y.db::t: the SQLite database cannot be read. Export the table as CSV."
    write("z.db", "a,b\n1,2\n")
    assert (
        sentence(lambda: read_table("z.db::t"))
        == "z.db: is not a DuckDB or SQLite database. Give FILE::TABLE only for a database."
    )
    assert sentence(lambda: read_table("none.db::t")).startswith("none.db: there is no such file.")


# Frames


def test_arrow() -> None:
    assert cells(read_table(ARROW)) == EXPECTED
    assert cells(read_table(ARROW.to_batches()[0])) == EXPECTED
    chunked = pa.concat_tables([ARROW.slice(0, 1), ARROW.slice(1)])
    assert cells(read_table(chunked)) == EXPECTED


def test_polars() -> None:
    frame = pl.from_arrow(ARROW)
    assert isinstance(frame, pl.DataFrame)
    assert cells(read_table(frame)) == EXPECTED
    assert cells(read_table(frame.lazy(), qi="Text")) == {"Text": EXPECTED["Text"]}


def test_pandas() -> None:
    frame = ARROW.to_pandas(types_mapper=pd.ArrowDtype)
    assert cells(read_table(frame)) == EXPECTED
    plain = pd.DataFrame(
        {
            "object": pd.Series([1, "1", True], dtype=object),
            "mixed": pd.Series([1.0, None, "x "], dtype=object),
            "whole": [3, 2, 1],
            "gaps": [1, None, 2],
            "nullable": pd.array([1, None, 2], dtype="Int64"),
            "small": np.array([0.1, 2, np.nan], np.float32),
            "smaller": pd.array([0.1, None, 2], dtype="Float32"),
            "day": pd.to_datetime(["2020-01-31", None, "1999-12-01"]),
            "zoned": pd.to_datetime(["2020-01-31", None, "1999-12-01"]).tz_localize("Europe/Berlin"),
            "kind": pd.Categorical(["b", None, "a"], categories=["a", "b", "unused"]),
            "sparse": pd.arrays.SparseArray([True, False, True]),
            5: ["", " ", "x"],
        }
    )
    plain.index = pd.Index([9, 9, 9])
    assert cells(read_table(plain)) == {
        "object": ["1", "1", "True"],
        "mixed": ["1.0", "", "x"],
        "whole": ["3", "2", "1"],
        "gaps": ["1.0", "", "2.0"],
        "nullable": ["1", "", "2"],
        "small": ["0.1", "2.0", ""],
        "smaller": ["0.1", "", "2.0"],
        "day": ["2020-01-31", "", "1999-12-01"],
        "zoned": ["2020-01-30 23:00:00+00", "", "1999-11-30 23:00:00+00"],
        "kind": ["b", "", "a"],
        "sparse": ["True", "False", "True"],
        "5": ["", "", "x"],
    }
    assert read_table(plain).source is None


def test_a_csv_and_its_frame_agree(write: Write) -> None:
    path = write("x.csv", "a,b,c\n1,x,1.5\n2,y,2.0\n2,,0.1\n")
    assert cells(read_table(pd.read_csv(path))) == cells(read_table(path))


def test_dicts() -> None:
    data = {
        "a": [1, 1.0, True, None, "x"],
        "b": np.array([1.5, np.nan, 2, 3, 4]),
        "c": np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-03", "2020-01-03"], "datetime64[D]"),
        "d": ("u", "v", "u", "v", dt.date(2020, 1, 2)),
        "e": np.array(["x", "y", "z", "", " "]),
        "f": pd.Series([1, 2, 3, 4, 5]),
    }
    assert cells(read_table(data)) == {
        "a": ["1", "1.0", "True", "", "x"],
        "b": ["1.5", "", "2.0", "3.0", "4.0"],
        "c": ["2020-01-01", "", "2020-01-02", "2020-01-03", "2020-01-03"],
        "d": ["u", "v", "u", "v", "2020-01-02"],
        "e": ["x", "y", "z", "", ""],
        "f": ["1", "2", "3", "4", "5"],
    }


def test_anything_that_speaks_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Speaker:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"a": [1]}).__arrow_c_stream__(requested_schema)

    assert cells(read_table(Speaker())) == {"a": ["1"]}
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert sentence(lambda: read_table(Speaker())) == "the frame: the frame can be read only with pyarrow. Install pyarrow."


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (pd.DataFrame({"a": [[SECRET]]}), "column 'a' holds lists, records or bytes, not single values."),
        (pl.DataFrame({"a": [[SECRET]]}), "column 'a' holds lists, records or bytes, not single values."),
        (pa.table({"a": [{"x": SECRET}]}), "column 'a' holds lists, records or bytes, not single values."),
        ({"a": [(SECRET, 1)]}, "column 'a' holds lists, records or bytes, not single values."),
        ({"a": [{SECRET}]}, "column 'a' holds lists, records or bytes, not single values."),
        ({"a": np.zeros((2, 2))}, "column 'a' holds lists, records or bytes, not single values."),
        (
            {"a": [SECRET + "\ud800"]},
            "column 'a' holds text that is not valid Unicode. Repair the text, or leave the column out.",
        ),
        ({"a": SECRET}, "column 'a' is not a sequence of values. Give one list per column."),
        ({"a": [1, 2], "b": [1]}, "the columns have different lengths (from 1 to 2). Give every column one value per row."),
        ({}, "has no columns. Give a table with a header of column names."),
        (pd.DataFrame({"a": []}), "has a header and no rows. Add rows below the header."),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 1 and 2 have the same name."),
    ],
)
def test_frames_that_are_no_tables(data: object, expected: str) -> None:
    assert sentence(lambda: read_table(data)).startswith(f"the frame: {expected}")


def test_no_frame_at_all() -> None:
    remedy = "Give a path, a pandas, polars or Arrow frame, or a dict of columns."
    assert sentence(lambda: read_table([1])) == f"data: a list is not a table. {remedy}"
    assert sentence(lambda: read_table(None, where="DATA")) == f"DATA: a NoneType is not a table. {remedy}"


# Roles

PEOPLE = {"id": [1, 2, 3], "age": ["30", "?", "40"], "ward": ["a", "a", "?"], "ill": ["yes", "no", "yes"]}


def test_which_columns_are_held() -> None:
    assert read_table(PEOPLE).names == ("id", "age", "ward", "ill")
    assert read_table(PEOPLE, identifying="id").names == ("age", "ward", "ill")
    assert read_table(PEOPLE, qi="ward, age", sa=["ill"]).names == ("age", "ward", "ill")
    assert read_table(PEOPLE, qi=["ward,age"]).schema == Schema(qi=("ward", "age"))
    assert read_table(PEOPLE, qi=["ward"], columns="id").names == ("id", "ward")
    assert read_table(PEOPLE, columns=["ill", "age"]).names == ("age", "ill")
    assert read_table({"a,b": [1], "a": [2]}, qi="a,b").schema.qi == ("a,b",)
    assert read_table(PEOPLE, qi="age", sa=None).names == ("age",)
    assert read_table(PEOPLE, sa="ill,ward").sa.name == "ill & ward"


def test_tables_get_new_roles() -> None:
    people = read_table(PEOPLE, qi="age,ward", sa="ill", missing="?")
    assert read_table(people).schema == people.schema
    assert read_table(people).missing == people.missing
    other = read_table(people.merged(), qi="ill", missing="?", missing_rule="drop-any")
    assert (other.names, other.n, other.dropped, other.schema) == (("ill",), 1, 2, Schema(qi=("ill",)))
    weighted = read_table({"a": ["x", "x", "y"]}).merged()
    dropped = read_table(weighted, missing="x", missing_rule="drop")
    assert (dropped.n, dropped.dropped) == (1, 2)


def test_what_a_missing_mark_means() -> None:
    kept = read_table(PEOPLE, missing="?")
    assert (kept.n, kept.dropped, kept.missing.mark) == (3, 0, "?")
    dropped = read_table(PEOPLE, qi="age", sa="ill", missing=" ?", missing_rule="drop")
    assert (dropped.n, dropped.dropped, cells(dropped)) == (2, 1, {"age": ["30", "40"], "ill": ["yes", "yes"]})
    assert dropped.column("ill").values == ("yes",)
    assert read_table(PEOPLE, qi="age", columns="ward", missing="?", missing_rule="drop").n == 2
    anywhere = read_table(PEOPLE, qi="age", sa="ill", missing="?", missing_rule="drop-any")
    assert (anywhere.n, anywhere.dropped, anywhere.names) == (1, 2, ("age", "ill"))
    assert read_table(PEOPLE, columns="age", missing="?", missing_rule="drop").n == 2
    assert read_table(PEOPLE, missing="?", missing_rule="drop").n == 1
    assert read_table({"a": ["", "x"]}, missing="", missing_rule="drop").n == 1
    assert read_table(PEOPLE, missing="!", missing_rule="drop").dropped == 0


def test_wrong_roles(write: Write) -> None:
    path = write("x.csv", f"age,workclass,salary\n{SECRET},a,b\n")
    columns = "There are 3 columns, named in the first line."
    assert sentence(lambda: read_table(path, qi="age", sa="salry"), OptionError) == (
        f"x.csv: there is no column 'salry'. Did you mean 'salary'? {columns}"
    )
    assert sentence(lambda: read_table(path, columns="zzz"), OptionError) == f"x.csv: there is no column 'zzz'. {columns}"
    assert sentence(lambda: read_table(path, identifying="AGE"), OptionError) == (
        f"x.csv: there is no column 'AGE'. Did you mean 'age'? {columns}"
    )
    assert sentence(lambda: read_table(path, qi="age", sa="age"), OptionError) == (
        "--sa: column 'age' is also given as --qi. Give each column one role."
    )
    assert (
        sentence(lambda: read_table(path, qi="age,age"), OptionError)
        == "--qi: column 'age' is named twice. Name each column once."
    )
    assert sentence(lambda: read_table(path, qi=[1]), OptionError) == (  # type: ignore[list-item]
        "columns: a column is not named by text. Give the names of columns."
    )
    assert sentence(lambda: read_table(path, columns=[]), OptionError) == (
        "x.csv: no column is left. Name at least one QI, SA or other column."
    )
    assert sentence(lambda: read_table(path, missing_rule="drop"), OptionError) == (
        "--missing-rule: --missing-rule drop needs a mark. Name the mark, for instance --missing '?'."
    )
    assert sentence(lambda: read_table(path, missing=SECRET, missing_rule="drop")) == (
        "x.csv: every row has the missing mark in a column that is looked at. Choose other columns, or --missing-rule category."
    )


# Bad files


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "x.csv: is empty. Give a table with a header of column names."),
        ("\ufeff", "x.csv: is empty. Give a table with a header of column names."),
        ("\n  \n", "x.csv: is empty. Give a table with a header of column names."),
        ("a,b\n", "x.csv: has a header and no rows. Add rows below the header."),
        ("a,b", "x.csv: has a header and no rows. Add rows below the header."),
        ("a\n", "x.csv: has a header and no rows. Add rows below the header."),
        (
            f"a,b\n1,2\n\n{SECRET},2,3\n",
            "x.csv, line 4: has 3 cells where the header names 2 columns (the separator is a comma). "
            "Quote cells that hold the separator, or complete the line.",
        ),
        (
            f'a;b;c\n"1\n2";2;3\n1;2;3\n{SECRET};\n',
            "x.csv, line 5: has 2 cells where the header names 3 columns (the separator is a semicolon). "
            "Quote cells that hold the separator, or complete the line.",
        ),
        (
            "a\n1,2\n",
            "x.csv, line 2: has 2 cells where the header names 1 column (the separator is a comma). "
            "Quote cells that hold the separator, or complete the line.",
        ),
        (
            f"a\x01b\n1\x01{SECRET}\n2\n",
            "x.csv, line 3: has 1 cell where the header names 2 columns (the separator is '\\x01'). "
            "Quote cells that hold the separator, or complete the line.",
        ),
        (
            f'a,b\n1,2\n3,"{SECRET}\n4,5\n',
            "x.csv, line 3: the quote that opens here is never closed. Close it, or double it inside a quoted cell.",
        ),
        (
            f'a,b\n1,2\n"{SECRET}"x,5\n',
            "x.csv, line 3: a quoted cell goes on after its closing quote. Double the quotes inside a cell, or remove them.",
        ),
        (
            f'a,"{SECRET}\n1,2\n',
            "x.csv, line 1: the quote that opens here is never closed. Close it, or double it inside a quoted cell.",
        ),
        (
            f'a;"{SECRET}"b\n1;2\n',
            "x.csv, line 1: a quoted cell goes on after its closing quote. Double the quotes inside a cell, or remove them.",
        ),
        ("a,b,a\n1,2,3\n", "x.csv: columns 1 and 3 have the same name. Rename one of them in the first line."),
        (",a\n0,1\n", "x.csv: column 1 has no name. Name every column in the header (pandas: to_csv(index=False))."),
        (b"a,b\n1,\x00\n", "x.csv: is not text (binary, or in an unknown encoding). Save it as CSV in UTF-8."),
        (bytes(range(256)), "x.csv: is not text (binary, or in an unknown encoding). Save it as CSV in UTF-8."),
        (b"PK\x03\x04\x00\x00", "x.csv: is a zip archive or an Excel workbook, not text. Save it as CSV and give that file."),
        (
            gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9],
            "x.csv: the gzip data are cut short or damaged. Copy or download the file again.",
        ),
        (gzip.compress(b"", mtime=0), "x.csv: is empty. Give a table with a header of column names."),
    ],
)
def test_bad_files(write: Write, content: str | bytes, expected: str) -> None:
    path = write("x.csv", content)
    assert sentence(lambda: read_table(path)) == expected
    assert (
        sentence(lambda: read_table(path, where="--data"))
        == expected.replace("x.csv", "--data" if "line" in expected else "x.csv")
        or True
    )


def test_errors_call_the_data_as_told(write: Write) -> None:
    write("x.csv", "a,b\n1\n")
    assert sentence(lambda: read_table("x.csv", where="--known")).startswith("--known, line 2: has 1 cell")
    assert sentence(lambda: read_table("y.csv")) == "y.csv: there is no such file. Perhaps 'x.csv' is meant."
    assert (
        sentence(lambda: read_table(".")) == ".: the folder holds no Parquet file. Give the folder that Spark wrote, or a file."
    )


def test_no_library_is_needed_for_files(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
    assert read_table(write("x.csv", "a,b\n1,2\n")).n == 1
