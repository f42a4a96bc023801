"""One suite for every engine: they group rows alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.files import duckdb as engines
from tacit.files.duckdb import ENGINES, check_engine, group_rows
from tacit.model.errors import EngineError, OptionError
from tacit.model.table import Table
from tests.examples import examples

NAMES = ["age", "Age", "c0", "weight", 'a"b', "two words", "größe", "select", "x;--", "?", "'"]
VALUES = st.sampled_from(["", "a", "A", "b", "1", "1.0", "NULL", 'q"', "'", "é", "𐀀", "?", "%"])
Case = tuple[Table, list[str]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Weighted rows and columns to group by."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.tuples(*[VALUES] * len(names)), max_size=8))
    weights = draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    table = replace(Table.from_rows(names, rows), weights=np.array(weights, np.int64))
    return table, draw(st.lists(st.sampled_from(names), max_size=3))


@pytest.fixture
def people() -> Table:
    table = Table.from_rows(["sex", "größe"], [("F", "1"), ("M", ""), ("F", "")])
    return replace(table, weights=np.array([1, 10, 100]))


@pytest.mark.parametrize("engine", ENGINES)
def test_groups(people: Table, engine: str) -> None:
    assert group_rows(people, ["größe"], engine=engine) == [(("",), 110), (("1",), 1)]
    assert group_rows(people, ["sex", "größe"], engine=engine) == [(("F", ""), 100), (("F", "1"), 1), (("M", ""), 10)]
    assert group_rows(people, [], engine=engine) == [((), 111)]


@pytest.mark.parametrize("engine", ENGINES)
def test_unknown_columns(people: Table, engine: str) -> None:
    with pytest.raises(OptionError) as caught:
        group_rows(people, ["sx"], engine=engine)
    assert str(caught.value) == (
        "columns: there is no column 'sx'. Did you mean 'sex'? There are 2 columns, named in the first line."
    )
    with pytest.raises(OptionError, match="columns are given as one text"):
        group_rows(people, "sex", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows(engine: str) -> None:
    empty = Table.from_rows(["a"], [])
    assert group_rows(empty, ["a"], engine=engine) == []
    assert group_rows(empty, [], engine=engine) == []


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(60), deadline=None)
@given(cases())
def test_every_engine_counts_as_it_should(engine: str, case: Case) -> None:
    table, by = case
    rows = [dict(zip(table.names, cells, strict=True)) for cells in _cells(table)]
    groups: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(rows, table.weights.tolist(), strict=True):
        groups[tuple(row[column] for column in by)] += weight
    assert group_rows(table, by, engine=engine) == sorted(groups.items())


def _cells(table: Table) -> list[list[str]]:
    return [[column.values[column.codes[row]] for column in table.columns] for row in range(len(table.weights))]


def test_the_names_of_engines() -> None:
    assert ENGINES == ("duckdb", "memory")
    check_engine("duckdb")
    with pytest.raises(OptionError) as caught:
        check_engine("duckbd")
    assert str(caught.value) == "--engine: unknown engine 'duckbd'. Did you mean 'duckdb'? The engines are: duckdb, memory."


def test_failures_of_duckdb_say_nothing_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = duckdb.connect()
    closed.close()
    monkeypatch.setattr(engines, "connect", lambda: closed)
    with pytest.raises(EngineError) as caught:
        group_rows(Table.from_rows(["a"], [("secret",)]), ["a"], engine="duckdb")
    assert str(caught.value) == "engine duckdb: the query failed. Please report it."
    assert caught.value.__cause__ is None
