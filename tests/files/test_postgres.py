"""PostgreSQL: the server groups, classes cross the wire, and records are those of the same rows in a file."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tests.files.postgres_server import Proxy, program, running_server
from tests.files.test_engines import PEOPLE, ROLES
from tests.shell import tacit as run


def ask(folder: str, sql: str) -> None:
    subprocess.run(
        [program("psql"), "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "owner", "postgres"],
        input=sql,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_server() as folder:
        rows = "\n".join("\t".join(row) for row in PEOPLE)
        ask(folder, f"CREATE TABLE people (sex text, age text, area text, ill text);\nCOPY people FROM stdin;\n{rows}\n\\.\n")
        # The same people 200 times, each with a text of their own: they are many rows, and few classes.
        repeat = "SELECT p.*, repeat(md5(n::text), 5) AS note FROM people p, generate_series(1, 200) n"
        ask(
            folder, f"CREATE TABLE many AS {repeat}; CREATE SCHEMA other; CREATE TABLE other.few AS SELECT * FROM people LIMIT 9;"
        )
        values = "(true, 1.5::float8, '2024-01-02'::date, NULL::text, 7::bigint, 'NaN'::float8, E' \\tx '), (false, 2, NULL, 'a', NULL, 0.1, '')"
        ask(folder, f"CREATE TABLE kinds (b, f, d, t, i, n, s) AS VALUES {values}; CREATE TABLE lists (a int[]);")
        yield folder


def address(folder: str, table: str = "people") -> str:
    return f"postgresql://owner@/postgres?host={folder}::{table}"


@pytest.fixture
def people_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with open("people.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([("sex", "age", "area", "ill"), *PEOPLE])
    return tmp_path / "people.csv"


@pytest.mark.usefixtures("people_csv")
@pytest.mark.parametrize(
    "words",
    [
        (
            "mine",
            "rules",
            "DATA",
            *ROLES,
            "--min-support",
            "10",
            "--min-confidence",
            "0.3",
            "--missing-rule",
            "drop",
            "-o",
            "OUT",
        ),
        ("tabulate", "DATA", "--by", "sex,age", "-o", "OUT"),
        ("bucketize", "DATA", *ROLES, "--l", "2", "-o", "DIR"),
    ],
    ids=lambda words: words[0],
)
def test_records_are_those_of_a_file(server: str, words: tuple[str, ...]) -> None:
    answers: list[Any] = []
    for number, data in enumerate(("people.csv", address(server), address(server))):
        given = {"DATA": data, "OUT": f"{number}.csv", "DIR": f"d{number}"}
        engine = ("--engine", "memory") if number == 2 else ()
        done = run(*(given.get(word, word) for word in words), *engine, "--json", "record.json")
        assert done.exit_code == 0, done.output
        out = [Path(f"{number}.csv"), *sorted(Path(f"d{number}").glob("*"))]
        answers.append((json.loads(Path("record.json").read_text()), [path.read_bytes() for path in out if path.exists()]))
    assert answers[0] == answers[1] == answers[2]


def test_rows_never_cross_the_wire(server: str) -> None:
    received = []
    for name, times in (("people", 1), ("many", 200)):
        proxy = Proxy(server)
        try:
            data = f"postgresql://owner@127.0.0.1:{proxy.port}/postgres::{name}"
            table = tacit.read_table(data, qi=["sex", "age", "area"], sa="ill", engine="duckdb")
        finally:
            proxy.close()
        assert table.n == times * len(PEOPLE)
        assert len(table.weights) == len(set(PEOPLE))
        received.append(proxy.received)
    # 48,000 rows of the four columns are more than 480,000 bytes; what the driver asks for about types is the same for both.
    assert abs(received[1] - received[0]) < 2_000


@pytest.mark.usefixtures("people_csv")
def test_a_broken_connection_is_one_sentence_and_nothing_is_written(server: str) -> None:
    for most in (100, 9_000):
        proxy = Proxy(server, most)
        try:
            data = f"postgresql://owner@127.0.0.1:{proxy.port}/postgres::many"
            done = run("tabulate", data, "--by", "sex,note", "-o", "out.csv")
        finally:
            proxy.close()
        assert done.exit_code == 2
        assert len(done.output.strip().splitlines()) == 1
        assert done.output.startswith(f"{data}: ")
        assert not Path("out.csv").exists()
    done = run("tabulate", "postgresql://owner@127.0.0.1:1/postgres::many", "--by", "sex", "-o", "out.csv")
    assert done.exit_code == 2
    assert "the database cannot be reached. Check the address" in done.output


def test_cells_print_as_from_other_sources(server: str) -> None:
    table = tacit.read_table(address(server, "kinds"), engine="duckdb")
    found = Counter(tuple(column.values[column.codes[row]] for column in table.columns) for row in range(2))
    assert found == Counter([("True", "1.5", "2024-01-02", "", "7", "", "x"), ("False", "2", "", "a", "", "0.1", "")])
    assert tacit.read_table(address(server, "other.few")).n == 9
    with pytest.raises(tacit.InputError, match="holds lists, records or bytes"):
        tacit.read_table(address(server, "lists"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("postgresql://h/db", "postgresql://h/db: names no table. Write postgresql://USER@HOST/DATABASE::TABLE."),
        (
            "postgresql://u:secret@h/db::t",
            "postgresql://h/db: the address holds a password. Put it into PGPASSWORD or ~/.pgpass.",
        ),
    ],
)
def test_addresses_that_are_refused(data: str, message: str) -> None:
    with pytest.raises(tacit.OptionError) as caught:
        tacit.read_table(data)
    assert str(caught.value) == message


def test_a_mistyped_table_is_named(server: str) -> None:
    with pytest.raises(tacit.OptionError, match=r"there is no table 'peopel'\. Did you mean 'people'\?"):
        tacit.read_table(address(server, "peopel"))


def test_without_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(tacit.TacitError) as caught:
        tacit.read_table("postgresql://h/db::t")
    assert str(caught.value) == "postgresql://h/db::t: reading PostgreSQL is not installed. pip install 'tacit[postgres]'."
