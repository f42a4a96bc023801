"""Transactions from files, tables, lists and frames."""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.files import transactions as module
from tacit.files.transactions import read_data, read_transactions
from tacit.model.errors import InputError, OptionError, TacitError
from tacit.model.table import Table, Transactions
from tests.examples import examples

SECRET = "K4NARY"
Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def writer(name: str, content: str | bytes) -> str:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return writer


def people(found: Transactions) -> Counter[frozenset[str]]:
    """How many people have exactly which items."""
    counted: Counter[frozenset[str]] = Counter()
    for row, weight in zip(found.rows, found.weights.tolist(), strict=True):
        assert (np.diff(row) > 0).all()
        counted[frozenset(found.items.names[i] for i in row)] += weight
    assert len(counted) == len(found.rows), "equal rows are merged"
    return counted


def expected(rows: list[list[str]]) -> Counter[frozenset[str]]:
    return Counter(frozenset(row) for row in rows)


def sentence(call: Callable[[], object], kind: type[TacitError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.__cause__ is None
    assert SECRET not in str(caught.value)
    return str(caught.value)


# Lines


@pytest.mark.parametrize("name", ["x.dat", "x.fimi", "x.basket", "x.txt", "x"])
@pytest.mark.parametrize("packed", [False, True])
def test_numbers(write: Write, name: str, packed: bool) -> None:
    data = b"10 9 1\n\n1 1 9  10 \n \t\n0\r\n184467440737095516 7"
    found = read_transactions(write(name + (".gz" if packed else ""), gzip.compress(data) if packed else data))
    assert found.items.names == ("0", "1", "7", "9", "10", "184467440737095516")
    assert people(found) == expected([["10", "9", "1"], ["10", "9", "1"], ["0"], ["184467440737095516", "7"]])
    assert found.n == 4
    assert found.source is not None
    assert found.source.name == name + (".gz" if packed else "")


@pytest.mark.parametrize(
    "text", ["07 7\n7\n", "-1 1\n1\n", "1234567890123456789012 1\n", "1.0 1\n", "beer crème\xa0fraîche\nbeer\n", "1 2\nx\n"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_names(write: Write, text: str, encoding: str) -> None:
    found = read_transactions(write("x.dat", text.encode(encoding)))
    rows = [line.split(" ") for line in text.splitlines()]
    assert people(found) == expected(rows)
    assert found.n == len(rows)


def test_commas_in_basket_files(write: Write) -> None:
    found = read_transactions(write("x.basket", "citrus fruit, beer\nbeer,, citrus fruit\n\n,\nmilk\n"))
    assert people(found) == expected([["citrus fruit", "beer"], ["citrus fruit", "beer"], ["milk"]])
    assert read_transactions(write("x.dat", "a,b c\n")).items.names == ("a,b", "c")


TOKENS = st.one_of(st.integers(0, 30).map(str), st.sampled_from(["007", "a", "é", "-3", "1.5", str(10**18), str(2**24), "NULL"]))
NUMBERS = st.one_of(st.integers(0, 30), st.integers(0, 10**18 - 1)).map(str)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.one_of(st.lists(st.lists(NUMBERS, max_size=6)), st.lists(st.lists(TOKENS, max_size=6))),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([" ", "\t", "  "]),
    st.integers(1, 9),
)
@example([["1"], ["2"]], "\r\n", " ", 2)
def test_any_file_and_any_block_size(rows: list[list[str]], end: str, blank: str, size: int) -> None:
    before = module._BLOCK
    module._BLOCK = size
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.dat")
            path.write_text(end.join(blank.join(row) for row in rows), newline="")
            filled = [row for row in rows if row]
            if filled:
                assert people(read_transactions(path)) == expected(filled)
            else:
                assert "holds no transactions" in sentence(lambda: read_transactions(path))
    finally:
        module._BLOCK = before


def test_numbers_are_read_in_bulk(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_args: object, **_kwargs: object) -> None:
        raise AssertionError

    monkeypatch.setattr(module, "_read_names", never)
    assert read_transactions(write("x.dat", "1 2\r\n3\n")).n == 2


def test_bad_files(write: Write) -> None:
    empty = "x.dat: holds no transactions. Write the items of one person per line."
    assert sentence(lambda: read_transactions(write("x.dat", ""))) == empty
    assert sentence(lambda: read_transactions(write("x.dat", " \n\n"))) == empty
    assert sentence(lambda: read_transactions("absent")) == "absent: there is no such file. Check the name."
    assert sentence(lambda: read_transactions(write("x.dat", b"1 \x00\n"))).startswith("x.dat: is not text")
    packed = gzip.compress(b"1 2 3\n" * 99)[:-8]
    assert sentence(lambda: read_transactions(write("y.dat.gz", packed))) == (
        "y.dat.gz: the gzip data are cut short or damaged. Copy or download the file again."
    )


# Pairs

PAIRS = "who,what\n2,milk\n1,beer\n2,beer\n1,beer\n3,\n4,milk\n4,beer\n"
BOUGHT = expected([["beer"], ["milk", "beer"], ["milk", "beer"], []])


def test_two_columns(write: Write) -> None:
    path = write("x.csv", PAIRS)
    frame = pd.read_csv(path)
    frame.to_parquet("x.parquet")
    for data in (
        path,
        write("x.csv.gz", gzip.compress(PAIRS.encode())),
        "x.parquet",
        frame,
        pl.from_pandas(frame),
        pa.table(frame),
    ):
        found = read_transactions(data)
        assert people(found) == BOUGHT
        assert found.n == 4
    assert people(read_transactions(write("y", Path("x.parquet").read_bytes()))) == BOUGHT
    assert people(read_transactions({"who": [1, 1], "what": [10, 9]})) == expected([["9", "10"]])
    assert read_transactions({"who": [1, 1], "what": [10, 9]}).items.names == ("9", "10")


def test_named_columns(write: Write) -> None:
    path = write(
        "x.csv", "n,what,who\n" + "".join(f"{i},{b},{a}\n" for i, (a, b) in enumerate(r.split(",") for r in PAIRS.split()[1:]))
    )
    assert people(read_transactions(path, id_column="who", item_column="what")) == BOUGHT
    table = read_data(path)
    assert isinstance(table, Table)
    assert people(read_transactions(table, id_column="who", item_column="what")) == BOUGHT
    two = write("y.csv", "what,who\nmilk,1\n")
    assert people(read_transactions(two, id_column="who")) == expected([["milk"]])
    assert people(read_transactions(two, item_column="what")) == expected([["milk"]])
    assert people(read_transactions(two)) == expected([["1"]])


def test_tables_as_transactions() -> None:
    table = Table.from_rows(["a", "b"], [("1", "x"), ("1", "x"), ("2", "x")])
    assert people(read_transactions(table)) == expected([["a=1", "b=x"], ["a=1", "b=x"], ["a=2", "b=x"]])


def test_bad_pairs(write: Write) -> None:
    path = write("x.csv", f"a,b,c\n1,{SECRET},3\n")
    unnamed = (
        "so it does not say which one holds the person and which one the item. Name the two with --id-column and --item-column."
    )
    assert sentence(lambda: read_transactions(path), OptionError) == f"x.csv: has 3 columns, {unnamed}"
    assert sentence(lambda: read_transactions(path, id_column="a"), OptionError) == f"x.csv: has 3 columns, {unnamed}"
    assert (
        sentence(lambda: read_transactions(pd.DataFrame({"a": [SECRET]})), OptionError) == f"the frame: has 1 columns, {unnamed}"
    )
    assert sentence(lambda: read_transactions(path, id_column="a", item_column="d"), OptionError) == (
        "x.csv: there is no column 'd'. There are 3 columns, named in the first line."
    )
    assert sentence(lambda: read_transactions(write("y.csv", "a,b\n1,2\n,3\n"))) == (
        "y.csv: row 2 names no person in column 'a'. Fill it, or leave the row out."
    )


# Lists and frames


def test_lists() -> None:
    found = read_transactions([["b", "a", "b"], [], ("a", "b"), {"c"}, [10, 9.0, True]])
    assert people(found) == expected([["a", "b"], [], ["a", "b"], ["c"], ["10", "9.0", "True"]])
    assert found.n == 5
    assert read_transactions([[10], [9]]).items.names == ("9", "10")
    assert read_transactions(row for row in [["a"]]).n == 1
    assert read_transactions(found) is found


def test_bad_lists() -> None:
    remedy = "Give a .dat file, an (id, item) table, a list of lists or a one-hot frame."
    assert sentence(lambda: read_transactions([])) == f"data: the list is empty. {remedy}"
    assert sentence(lambda: read_transactions(5)) == f"data: a int holds no transactions. {remedy}"
    assert sentence(lambda: read_transactions([["a"], SECRET])) == (
        "row 2 of the list: is not a list of items. Give one list of item names per person."
    )
    assert sentence(lambda: read_transactions([["a"], 5])).startswith("row 2 of the list: is not a list of items.")
    for gap in (None, float("nan"), ""):
        assert sentence(lambda: read_transactions([[SECRET, gap]])) == (  # noqa: B023 - called at once
            "row 1 of the list: has a missing value among its items. Leave missing items out."
        )
    assert sentence(lambda: read_transactions([[[SECRET]]])).startswith("row 1 of the list: column 'items' holds lists")


def test_one_hot_frames() -> None:
    rows = [[True, False, True], [False, False, False], [True, False, True]]
    frame = pd.DataFrame(rows, columns=["milk", "beer", "eggs"])
    bought = expected([["milk", "eggs"], [], ["milk", "eggs"]])
    frames = [frame, frame.astype(int), frame.astype(pd.SparseDtype(bool, False)), pl.from_pandas(frame), pa.table(frame)]
    for one in frames:
        found = read_transactions(one)
        assert people(found) == bought
        assert found.items.names == ("beer", "eggs", "milk")
    assert people(read_transactions({"a": [True], "b": [False]})) == expected([["a"]])
    assert people(read_transactions(pd.DataFrame({"a": [0, 1], "b": [1, 1]}))) == expected([["1"], ["1"]])  # pairs
    assert "have the same name" in sentence(lambda: read_transactions(pd.DataFrame([[True, True]], columns=["a", "a"])))


# Either


def test_the_ending_decides(write: Write) -> None:
    assert isinstance(read_data(write("x.DAT", "1 2\n")), Transactions)
    assert isinstance(read_data(write("x.fimi.gz", gzip.compress(b"1 2\n"))), Transactions)
    table = read_data(write("x.csv", "a,b\n1,?\n2,3\n"), qi="a", sa="b", missing="?", missing_rule="drop")
    assert isinstance(table, Table)
    assert (table.n, table.schema.qi) == (1, ("a",))
    assert isinstance(read_data(write("x.txt", "a,b\n1,2\n")), Table)
    assert isinstance(read_data("x.csv", id_column="a", item_column="b"), Transactions)


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"qi": "a"}, "--qi"),
        ({"sa": ["a"]}, "--sa"),
        ({"missing": ""}, "--missing"),
        ({"missing_rule": "drop"}, "--missing-rule"),
    ],
)
def test_transactions_have_no_columns(write: Write, options: dict[str, object], option: str) -> None:
    write("x.dat", "1 2\n")
    assert sentence(lambda: read_data("x.dat", **options), OptionError) == (  # type: ignore[arg-type]
        f"{option}: x.dat holds transactions, which have no columns. Leave {option} out, or give a table."
    )
