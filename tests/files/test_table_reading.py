"""Reading in blocks, reading record by record, and what was written are the same."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.files import delimited, disk
from tacit.files.delimited import DelimitedTable, records
from tacit.files.disk import Input
from tacit.files.duckdb import BLANKS
from tacit.files.tables import open_table_file, read_table
from tacit.model.errors import InputError
from tacit.model.table import Column
from tests.examples import examples

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


@settings(max_examples=examples(150), deadline=None)
@given(written_tables())
def test_what_was_written_is_read(written: tuple[str, list[list[str]], bytes]) -> None:
    delimiter, (header, *rows), data = written
    expected = {name: [row[i].strip(BLANKS) for row in rows] for i, name in enumerate(header)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.tsv" if delimiter == "\t" else "x[1]*.csv")
        path.write_bytes(data)
        table = read_table(path)
        assert texts(table.columns) == expected
        assert outcome(path, exact=True) == expected
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
    with pytest.MonkeyPatch.context() as patch:
        if exact:
            for name in ("_cut_plain", "_split_plain"):
                patch.setattr(DelimitedTable, name, lambda *_: None)
        try:
            rows = open_table_file(path, where="x")
            return texts(rows.read(rows.names))
        except InputError as error:
            return str(error)


@settings(max_examples=examples(200), deadline=None)
@given(rough_files())
@example(b"a,b\n1,2,\n")  # what follows are files that careless readers take without a word, losing cells or rows
@example(b'a,b\n1,"x\n2,3\n')
@example(b'a,b\n1,2\n1,"x')
@example(b'a,b\n1,2\n"3",4"5"\n')
def test_reading_in_blocks_is_reading_record_by_record(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(data)
        assert outcome(path, exact=False) == outcome(path, exact=True)


@settings(max_examples=examples(100), deadline=None)
@given(rough_files(), st.integers(1, 7))
def test_what_is_read_does_not_depend_on_the_blocks(data: bytes, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "x.csv")
        path.write_bytes(data)
        whole = outcome(path, exact=False)
        patch.setattr(delimited, "_BLOCK", size)
        assert outcome(path, exact=False) == whole
        if isinstance(whole, dict):
            delimiter = DelimitedTable.open(Input(path), where="x").delimiter
            found = list(records(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter, where="x"))
            assert {len(column) for column in whole.values()} == {len(found) - 1}
            assert {len(cells) for _, cells in found} == {len(whole)}


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=5))
def test_records_are_those_of_the_csv_module(rows: list[list[str]]) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    stream.seek(0)
    assert [cells for _, cells in records(stream, ",", where="x")] == rows


def test_files_without_quotes_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one: list[tuple[int, list[str]]] = []

    def batches(found: Iterator[tuple[int, list[str]]], *_rest: object) -> Iterator[object]:
        one_by_one.extend(found)
        return iter(())

    monkeypatch.setattr(delimited, "_batches", batches)
    path = tmp_path / "x[1]*?.csv"
    (tmp_path / "x1other.csv").write_text("c,d\n3,4\n")  # another file that the name would match as a pattern
    for text, last in (
        ("a,b\n1,NULL\n", "NULL"),
        ("\ufeffa;b\r\n1;NA\r\n\r\n", "NA"),
        ('"a","b,"\n1, x \n', "x"),
        ("a\tb\n1\t\n", ""),
        ("a|b\né| ü ", "ü"),
    ):
        for data in (text.encode(), gzip.compress(text.encode())):
            path.write_bytes(data)
            assert read_table(path).columns[-1].values == (last,)
            assert one_by_one == []


def test_quoted_cells_may_begin_after_blanks_and_end_in_a_later_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('a,b\n1,\t"x,"\n2, "y\nz" \n3,"4"\n')
    assert texts(read_table(path).columns) == {"a": ["1", "2", "3"], "b": ["x,", "y\nz", "4"]}
    path.write_text('a,b\n1,2\n3,"4"5\n')
    with pytest.raises(InputError, match="line 3: a quoted cell goes on after its closing quote"):
        read_table(path)
    path.write_text("a,b\n" + "1,2\n" * 5 + "3\n")
    with pytest.raises(InputError, match="line 7: has 1 cell where the header names 2 columns"):
        read_table(path)


def test_a_file_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.files.disk.MOST_KEPT", 8)
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    rows = open_table_file(Input(path), where="x")
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(InputError, match="changed while it was being read"):
        rows.read(rows.names)


def test_a_small_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    opened: list[str] = []
    real = disk._open_file

    def watched(name: str) -> BinaryIO:
        opened.append(name)
        return real(name)

    monkeypatch.setattr(disk, "_open_file", watched)
    table = read_table(path)
    assert table.source is not None
    assert opened == [str(path)]
    path.write_text("a,b\n")
    assert table.source.sha256 == hashlib.sha256(b"a,b\n1,2\n3,4\n").hexdigest()
