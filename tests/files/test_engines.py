"""One suite for every engine: they merge rows alike, from every source, and every verb gives the same answer."""

from __future__ import annotations

import contextlib
import csv
import inspect
import io
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.files import delimited, transactions
from tacit.files.duckdb import sql_name
from tacit.files.engines import as_engine
from tacit.model.errors import InputError, OptionError
from tacit.model.table import Table
from tests.examples import examples
from tests.shell import tacit as run

NAMES = ["age", "Age", "c0", "weight", "marked", "t0", 'a"b', "two words", "größe", "select", "x;--", "?", "'"]
CELLS = st.sampled_from(["", "a", "A", " a ", "b", "1", "1.0", "NULL", "nan", 'q"', "'", "é", "𐀀", "?", " ?", "%"])
Case = tuple[list[str], Sequence[tuple[str, ...]]]
LOCAL = ("duckdb", "memory")  #: Engines that read every source; tests of Spark are in test_spark.py.
SOURCES = ("csv", "parquet", "folder", "duckdb", "sqlite", "delta", "frame")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw column names and rows."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique_by=str.casefold))
    return names, draw(st.lists(st.tuples(*[CELLS] * len(names)), min_size=1, max_size=12))


def write(case: Case, form: str, folder: Path) -> Any:
    """Write rows in a form; return what reads them."""
    names, rows = case
    if form == "frame":
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}
    if form == "csv":
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows([names, *rows])
        (folder / "people.csv").write_text(text.getvalue(), encoding="utf-8")
        return folder / "people.csv"
    if form == "delta":
        write_deltalake(folder / "delta", pyarrow.table(write(case, "frame", folder)))
        return folder / "delta"
    if form == "sqlite":
        with contextlib.closing(sqlite3.connect(folder / "people.sqlite")) as base, base:
            base.execute(f"CREATE TABLE people ({', '.join(sql_name(name) for name in names)})")
            base.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(names))})", rows)
        return f"{folder / 'people.sqlite'}::people"
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        quoted = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in names]
        connection.execute(f"CREATE TABLE people ({', '.join(f'{name} VARCHAR' for name in quoted)})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(names))})", [list(row) for row in rows])
        if form == "duckdb":
            return f"{folder / 'people.duckdb'}::people"
        if form == "parquet":
            connection.execute(f"COPY people TO '{folder / 'people.parquet'}' (FORMAT parquet)")
            return folder / "people.parquet"
        (folder / "parts").mkdir()
        for part in (0, 1):
            chosen = f"SELECT * FROM people WHERE rowid % 2 = {part}"
            connection.execute(f"COPY ({chosen}) TO '{folder / 'parts' / f'{part}.parquet'}' (FORMAT parquet)")
        return folder / "parts"


def counted(table: Table) -> dict[tuple[str, ...], int]:
    """Return the people of each row, whatever the order."""
    found: Counter[tuple[str, ...]] = Counter()
    for place, weight in enumerate(table.weights.tolist()):
        found[tuple(column.values[column.codes[place]] for column in table.columns)] += weight
    return dict(found)


@pytest.mark.parametrize("form", SOURCES)
@settings(max_examples=examples(25), deadline=None)
@given(case=cases(), rule=st.sampled_from(["category", "drop", "drop-any"]), width=st.integers(1, 3))
def test_classes_are_the_rows_counted(
    tmp_path_factory: pytest.TempPathFactory, form: str, case: Case, rule: Any, width: int
) -> None:
    names, rows = case
    held = names[:width]
    trimmed = [tuple(cell.strip() for cell in row) for row in rows]
    looked_at = {"drop": width, "drop-any": len(names)}.get(rule, 0)
    kept = [row[:width] for row in trimmed if "?" not in row[:looked_at]]
    data = write(case, form, tmp_path_factory.mktemp("source"))
    for engine in LOCAL:
        if not kept:
            with pytest.raises(InputError, match="every row has the missing mark"):
                tacit.read_table(data, columns=held, missing="?", missing_rule=rule, engine=engine)
            continue
        table = tacit.read_table(data, columns=held, missing="?", missing_rule=rule, engine=engine)
        assert counted(table.select(held)) == Counter(kept)
        assert len(table.weights) == len(set(kept))
        assert table.dropped == len(rows) - len(kept)
        assert [column.values for column in table.select(held).columns] == [
            tuple(sorted(set(one))) for one in zip(*kept, strict=True)
        ]


def test_blocks_are_merged_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a" if row % 3 else " b", str(row % 5), "?" if row % 7 == 0 else "x") for row in range(500)]
    path = write((["one", "two", "three"], rows), "csv", tmp_path)
    path.write_text(path.read_text().replace('"', ""))
    monkeypatch.setattr(delimited, "_BLOCK", 100)
    monkeypatch.setattr(delimited, "_FEW_ROWS", 4)
    made = tacit.read_table(path, columns=["one", "two"], missing="?", missing_rule="drop-any", engine="duckdb")
    whole = tacit.read_table(path, columns=["one", "two"], missing="?", missing_rule="drop-any").merged()
    assert counted(made) == counted(whole)
    assert (made.weights.tolist(), made.dropped) == (whole.weights.tolist(), whole.dropped)


def test_partitions_are_columns(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        rows = "SELECT range % 3 AS year, range % 2 AS sex, range AS number FROM range(30)"
        connection.execute(f"COPY ({rows}) TO '{tmp_path / 'people'}' (FORMAT parquet, PARTITION_BY (year))")
    table = tacit.read_table(tmp_path / "people", columns=["year", "sex"], engine="duckdb")
    assert counted(table.select(["year", "sex"])) == {(str(y), str(s)): 5 for y in range(3) for s in range(2)}
    assert table.source is not None
    assert table.source.name == "people"


PEOPLE = [
    (("F", "M")[i % 2], ("20", "30", "40", "?")[i % 7 % 4], ("N", "S")[i % 3 % 2], ("flu", "none", "cold")[i * i % 11 % 3])
    for i in range(240)
]
ROLES = ("--qi", "sex,age,area", "--sa", "ill", "--missing", "?")
RULES = ("mine", "rules", "DATA", *ROLES, "--min-support", "10", "--min-confidence", "0.3", "-o", "out.csv")
ITEMSETS = ("mine", "itemsets", "DATA", "--min-support", "20", "-o", "out.csv")
BUCKETS = ("bucketize", "DATA", *ROLES, "--l", "2", "-o", "out")
#: Every verb that reads data: its commands, one after another; their records and files are compared.
VERBS: dict[str, list[tuple[str, ...]]] = {
    "itemsets": [ITEMSETS, ("audit", "out.csv", "--data", "DATA")],
    "rules": [
        (*RULES, "--missing-rule", "drop"),
        ("audit", "out.csv", "--data", "DATA", "--attack", "R02"),
        ("audit", "out.csv", "--known", "DATA", "--attack", "R02"),
        ("verify", "record.json", "out.csv", "--known", "DATA"),
        ("explain", "out.csv", "--who", "sex=F", "--known", "DATA"),
    ],
    "negative": [("mine", "negative", "DATA", *ROLES, "--min-expectation", "0.5", "-o", "out.csv")],
    "tabulate": [
        ("tabulate", "DATA", "--by", "sex,age", "--by", "area,ill", "-o", "out.csv"),
        ("audit", "out.csv", "--data", "DATA"),
    ],
    "bucketize": [BUCKETS, ("audit", "out", "--l", "2")],
    "bins": [("tabulate", "DATA", "--by", "sex,age", "--bins", "age=20", "--missing", "?", "-o", "out.csv")],
    "hide": [
        ("hide", "DATA", *ROLES, "--rows", "ill=flu and age=20", "--may-hide", "ns", "--min-confidence", "0.3", "-o", "out.csv"),
        ("hide", "DATA", *ROLES, "--rows", "ill=flu and age=30", "--min-confidence", "0.3", "-o", "out.csv"),
    ],
    "compare": [
        RULES,
        ("compare", "out.csv", "--data", "DATA", "--csv", "compared.csv"),
        BUCKETS,
        ("compare", "out", "--data", "DATA", "--queries", "50"),
    ],
    "repair": [ITEMSETS, ("repair", "out.csv", "--data", "DATA", "--method", "additive", "--k", "15", "-o", "safe.csv")],
    "sweep": [
        ("sweep", "itemsets", "DATA", "--min-support", "20,60", "--missing", "?"),
        ("sweep", "rules", "DATA", *ROLES, "--min-support", "10", "--min-confidence", "0.3,0.6"),
    ],
    "sweep lists": [
        ITEMSETS,
        ("sweep", "rounding", "out.csv", "--data", "DATA", "--base", "5"),
    ],
}
WRITTEN = ("out.csv", "out.csv.json", "safe.csv", "compared.csv")


def answers_of(verb: str, data: str, *engine: str, in_order: bool = True) -> list[Any]:
    """Return the records of a verb's commands, and the files that they wrote; without an order, their lines sorted."""
    told: list[Any] = []
    for words in VERBS[verb]:
        done = run(*(data if word == "DATA" else word for word in words), *engine, "--json", "told.json")
        assert done.exit_code in (0, 1, 3), done.output
        record = json.loads(Path("told.json").read_text())
        Path("record.json").write_text(json.dumps(record))
        files = [path for path in (*map(Path, WRITTEN), *sorted(Path("out").glob("*"))) if path.exists()]
        contents = [path.read_bytes() if in_order else sorted(path.read_bytes().splitlines()) for path in files]
        told.append((words[0], record, contents))
    for path in WRITTEN:
        Path(path).unlink(missing_ok=True)
    shutil.rmtree("out", ignore_errors=True)
    return told


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_gives_the_same_bytes(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write((["sex", "age", "area", "ill"], PEOPLE), "csv", tmp_path)
    usual = answers_of(verb, "people.csv")
    for engine in LOCAL:
        assert answers_of(verb, "people.csv", "--engine", engine) == usual


def without_sources(record: Any) -> Any:
    """Return a record without what it says about the files that were read."""
    if isinstance(record, (list, tuple)):
        return [without_sources(one) for one in record]
    if not isinstance(record, dict):
        return record
    named = ("inputs", "file", "sha256", "binding")
    return {name: without_sources(value) for name, value in record.items() if name not in named}


@pytest.mark.parametrize("verb", VERBS)
def test_every_source_gives_the_same_bytes(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["sex", "age", "area", "ill"]
    write((names, PEOPLE), "csv", tmp_path)
    usual = answers_of(verb, "people.csv")
    for form in ("parquet", "duckdb", "sqlite"):
        (tmp_path / form).mkdir()
        data = Path(str(write((names, PEOPLE), form, tmp_path / form))).relative_to(tmp_path)
        found = answers_of(verb, str(data), "--engine", "duckdb")
        assert [without_sources(one) for one in found] == [without_sources(one) for one in usual]
    with duckdb.connect() as connection:
        rows = "SELECT * FROM read_csv('people.csv', all_varchar = true)"
        connection.execute(f"COPY ({rows}) TO 'parts' (FORMAT parquet, PARTITION_BY (ill))")
    # The folder lists its rows in another order.
    for (_, record, _), (_, expected, _) in zip(answers_of(verb, "parts", "--engine", "duckdb"), usual, strict=True):
        assert without_sources(record) == without_sources(expected)


def test_transactions_are_the_same_cut_to_frequent_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(transactions, "_BLOCK", 200)
    monkeypatch.setattr(transactions, "_FEW_ROWS", 20)
    rng = np.random.default_rng(2)
    lines = [" ".join(map(str, rng.geometric(0.15, 6))) for _ in range(300)]
    Path("b.dat").write_text("\n".join([*lines, "9999999999 7", "", "3 3 3 8888"]))
    answers = []
    for engine in ((), ("--engine", "memory"), ("--engine", "duckdb")):
        for words in (
            ("mine", "itemsets", "b.dat", "--min-support", "9", "--only", "closed", "-o", "out.csv"),
            ("audit", "out.csv", "--data", "b.dat", "--k", "4", "--attack", "I01"),
        ):
            assert run(*words, *engine, "--json", f"{words[0]}.json").exit_code in (0, 1, 3)
        answers.append([Path(name).read_bytes() for name in ("mine.json", "out.csv", "out.csv.json", "audit.json")])
    assert answers[0] == answers[1] == answers[2]
    whole = tacit.read_transactions("b.dat")
    cut = tacit.read_transactions("b.dat", chosen=lambda _names, lines, _n: lines >= 9)
    assert (whole.n, cut.n) == (302, 302)
    assert len(cut.items) < len(whole.items)
    assert len(cut.rows) < len(whole.rows)


def test_engines_are_named(tmp_path: Path) -> None:
    assert as_engine("memory") == tacit.engine("memory")
    assert tacit.engine("duckdb", memory="2GB").bytes == 2 * 10**9
    assert tacit.engine().bytes > 0
    with pytest.raises(OptionError) as caught:
        tacit.engine("duckbd")
    assert (
        str(caught.value) == "--engine: unknown engine 'duckbd'. Did you mean 'duckdb'? The engines are: duckdb, memory, spark."
    )
    with pytest.raises(OptionError, match=r"^memory: is not a size of memory\. Write for instance 4GB\."):
        tacit.engine(memory="much")


def test_python_calls_take_an_engine(tmp_path: Path) -> None:
    path = write((["sex", "age", "area", "ill"], PEOPLE), "parquet", tmp_path)
    roles: dict[str, Any] = {"qi": ["sex", "age"], "sa": "ill"}
    answers = []
    for engine in (None, "memory", tacit.engine("duckdb", memory="500MB")):
        rules = tacit.mine_rules(path, min_support=10, min_confidence=0.3, engine=engine, **roles)
        itemsets = tacit.mine_itemsets(path, min_support=60, engine=engine)
        table = tacit.tabulate(path, by="sex,ill", engine=engine)
        audits = [
            tacit.audit(rules, data=path, attacks=["R02"], engine=engine),
            tacit.audit(rules, known=path, attacks=["R02"], engine=engine),
            tacit.audit(itemsets, data=path, attacks=["I01"], engine=engine),
        ]
        answers.append([*(list(one.records()) for one in (rules, itemsets, table)), *(one.to_dict() for one in audits)])
    assert answers[0] == answers[1] == answers[2]


#: Parameters through which calls read data from a file.
DATA = {"data", "known", "people"}
#: Calls with such a parameter that hand it on with further options, or mean a relation between populations by it.
NO_READERS = {"read_release", "FrequencyTable", "Register"}


def test_every_call_that_reads_data_takes_an_engine() -> None:
    lacking = []
    for name in set(tacit.__all__) - NO_READERS:
        call = getattr(tacit, name)
        if inspect.isfunction(call):
            parameters = inspect.signature(call).parameters.keys()
            lacking += [name] if parameters & DATA and "engine" not in parameters else []
    assert not lacking


def test_calls_read_files_by_engine(tmp_path: Path) -> None:
    path = write((["sex", "age", "area", "ill"], PEOPLE), "parquet", tmp_path)
    roles: dict[str, Any] = {"qi": ["sex", "age"], "sa": "ill"}
    table = tacit.read_table(path, **roles)
    rules = tacit.mine_rules(table, min_support=10, min_confidence=0.3)
    itemsets = tacit.mine_itemsets(table, min_support=60)
    estimates = tacit.audit(rules, known=table.qi, attacks=["R02"])
    buckets = tacit.bucketize(table, l=2)
    record = tacit.audit(rules, known=path, attacks=["R02"]).to_dict()

    def answers(data: Any, **how: Any) -> list[Any]:
        named = roles if how else {}
        return [
            tacit.bucketize(data, l=2, **named, **how).to_dict(),
            list(tacit.mine_negative_rules(data, min_expectation=0.5, **named, **how).records()),
            {name: one.levels for name, one in tacit.build_hierarchies(data, **named, **how).items()},
            tacit.sweep_rules(data, min_support=10, min_confidence=[0.3, 0.5], **named, **how).to_dict(),
            tacit.compare(estimates, data, **named, **how).to_dict(top=3),
            tacit.hide(data, rows="ill=flu", min_confidence=0.5, may_hide="ns", **named, **how).to_dict()["cost"],
            tacit.sweep_rounding(itemsets, base=[5], data=data, **how).to_dict(),
            tacit.repair(itemsets, method="additive", data=data, k=15, **how).to_dict()["cost"],
            # Where rows are in order, one guess is measured person by person; of classes it is an expected value, and a note says so.
            {**tacit.utility(buckets, data=data, queries=20, **how).measures, "surviving_guess_right": None},
            tacit.posterior_of(rules, who="sex=F", known=data if how else data.qi, **how).posterior,
            tacit.verify(record, rules, known=data, **how).ok,
        ]

    expected = answers(table)
    for engine in LOCAL:
        assert answers(path, engine=engine) == expected


def test_errors_name_a_row_only_where_rows_are_in_order(tmp_path: Path) -> None:
    path = write((["age", "sex"], [("30", "F"), ("many", "M")]), "csv", tmp_path)
    for engine, place in ((None, ", row 2"), ("duckdb", "")):
        with pytest.raises(InputError) as caught:
            tacit.read_table(path, bins={"age": 10}, engine=engine)
        assert str(caught.value).startswith(f"{path}, column 'age'{place}: is not a number")


def test_failures_of_duckdb_say_nothing_of_the_data(tmp_path: Path) -> None:
    path = write((["a"], [("secret",)]), "parquet", tmp_path)
    content = bytearray(path.read_bytes())
    content[4:40] = bytes(36)
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        tacit.read_table(path, engine="duckdb")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_merged_weights_are_whole_numbers(tmp_path: Path) -> None:
    for form in SOURCES:
        (tmp_path / form).mkdir()
        data = write((["a", "b"], [("x", "y")] * 3 + [("x", "z")]), form, tmp_path / form)
        table = tacit.read_table(data, engine="duckdb")
        assert table.weights.dtype == np.int64
        assert table.weights.tolist() == [3, 1]
        assert not table.is_by_row
