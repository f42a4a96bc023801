"""Reading in bulk, reading record by record, and what was written are the same."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.files import tables
from tacit.files.delimited import BLANKS, plain_shape, records
from tacit.files.duckdb import Relation
from tacit.files.tables import ExactRows, open_table_file, read_table
from tacit.model.table import Column

SIGNS = [" ", "\t", '"', "'", ",", ";", "|", "\n", "\r\n", "\r", "#", "\\"]
LETTERS = st.sampled_from([*SIGNS, "a", "b", "Z", "1", ".", "0", "é", "𐀀", "\u2028", "NULL", "NA"])
CELLS = st.lists(LETTERS, max_size=5).map("".join)


@st.composite
def written_tables(draw: st.DrawFn) -> tuple[str, list[list[str]], bytes]:
    """A separator, the cells with the header first, and the file."""
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"])) if width > 1 else ","
    header = [f"col{i}" for i in range(width)]
    rows = [header, *(draw(st.lists(CELLS, min_size=width, max_size=width)) for _ in range(height))]
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    always = draw(st.booleans())
    space = draw(st.sampled_from(["", "", " "]))
    text = end.join((delimiter + space).join(quote(cell, delimiter, always=always) for cell in row) for row in rows)
    text += end * draw(st.integers(0, 2))
    data = text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16"])))
    return delimiter, rows, gzip.compress(data) if draw(st.booleans()) else data


def quote(cell: str, delimiter: str, *, always: bool) -> str:
    needed = always or not cell.strip(BLANKS) or any(char in cell for char in ('"', delimiter, "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if needed else cell


def texts(columns: tuple[Column, ...]) -> dict[str, list[str]]:
    for column in columns:
        assert list(column.values) == sorted(set(column.values))
        assert set(column.codes.tolist()) == set(range(len(column.values)))
    return {column.name: [column.values[code] for code in column.codes] for column in columns}


@settings(max_examples=150, deadline=None)
@given(written_tables())
def test_what_was_written_is_read(written: tuple[str, list[list[str]], bytes]) -> None:
    delimiter, (header, *rows), data = written
    expected = {name: [row[i].strip(BLANKS) for row in rows] for i, name in enumerate(header)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.tsv" if delimiter == "\t" else "x[1]*.csv")
        path.write_bytes(data)
        table = read_table(path)
        assert texts(table.columns) == expected
        assert texts(ExactRows.open(path, "x").columns) == expected
        assert table.n == len(rows)


PLAIN = ["a", "b ", " c", "", "\xa0", '"q"', '""', '"x""y"', '""""', '"n\nl"', '"n\r\nl"', '"d,d"', '"d;d"']
ODD = ['m"m', ' "s"', '"t" ', '"w"w', '"', "\r"]
PIECES = st.sampled_from(PLAIN * 4 + ODD)


@st.composite
def rough_files(draw: st.DrawFn) -> bytes:
    """Something like a table, with now and then something that is not."""
    width = draw(st.integers(2, 3))
    lines = ["h0,h1,h2"[: 3 * width - 1]]
    for _ in range(draw(st.integers(0, 5))):
        size = draw(st.sampled_from([width] * 8 + [1, width + 1]))
        lines.append(",".join(draw(st.lists(PIECES, min_size=size, max_size=size))))
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from(["", " ", "\t", ","])))
    ends = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return (ends.join(lines) + draw(st.sampled_from(["", ends, ends * 2]))).encode(
        draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig"]))
    )


def outcome(path: Path, *, exact: bool) -> object:
    try:
        rows = ExactRows.open(path, "x") if exact else open_table_file(path, where="x")
        return texts(rows.read(rows.names))
    except InputError as error:
        return str(error)


@settings(max_examples=200, deadline=None)
@given(rough_files())
@example(b"a,b\n1,2,\n")  # what follows are files that DuckDB takes without a word, losing cells or rows
@example(b'a,b\n1,"x\n2,3\n')
@example(b'a,b\n1,2\n1,"x')
@example(b'a,b\n1,2\n"3",4"5"\n')
def test_reading_in_bulk_is_reading_record_by_record(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(data)
        assert outcome(path, exact=False) == outcome(path, exact=True)


@settings(max_examples=100, deadline=None)
@given(rough_files(), st.integers(1, 7))
def test_the_shape_does_not_depend_on_the_chunks(data: bytes, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(data)
        for width in (2, 3):
            shape = plain_shape(path, ",", width)
            assert plain_shape(path, ",", width, chunk_size=size) == shape
            if shape is not None:
                found = list(records(io.StringIO(data.decode("utf-8-sig"), newline=""), ",", where="x"))
                assert len(found) == shape.records
                assert {len(cells) for _, cells in found} <= {width}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=5))
def test_records_are_those_of_the_csv_module(rows: list[list[str]]) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    stream.seek(0)
    assert [cells for _, cells in records(stream, ",", where="x")] == rows


def test_most_files_are_read_in_bulk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_args: object) -> None:
        raise AssertionError

    monkeypatch.setattr(tables.ExactRows, "open", never)
    path = tmp_path / "x[1]*?.csv"
    (tmp_path / "x1other.csv").write_text("c,d\n3,4\n")  # another file that the name would match as a pattern
    for text, last in (
        ("a,b\n1,NULL\n", "NULL"),
        ("\ufeffa;b\r\n1;NA\r\n\r\n", "NA"),
        ('"a","b,"\n"1","x\ny, ""z"""\n', 'x\ny, "z"'),
        ("a\tb\n1\t\n", ""),
        ("a|b\né| ü ", "ü"),
    ):
        for data in (text.encode(), gzip.compress(text.encode())):
            path.write_bytes(data)
            assert read_table(path).columns[-1].values == (last,)


def test_rows_that_a_bulk_reader_loses_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    real = Relation.columns
    monkeypatch.setattr(
        Relation, "columns", lambda self, wanted: tuple(column.take(np.array([0])) for column in real(self, wanted))
    )
    assert texts(read_table(path).columns) == {"a": ["1", "3"], "b": ["2", "4"]}
