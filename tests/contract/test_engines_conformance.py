"""One suite for every engine: whatever they hold the rows in, they answer alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import EngineError, OptionError
from tacit.files.duckdb import ENGINES, Engine, EngineEntry, engine_entry, open_engine
from tacit.model.event import BoxEvent
from tacit.model.table import Table

NAMES = ["age", "Age", "c0", "weight", 'a"b', "two words", "größe", "select", "x;--", "?", "'"]
VALUES = st.sampled_from(["", "a", "A", "b", "1", "1.0", "NULL", 'q"', "'", "é", "𐀀", "?", "%"])
Case = tuple[Table, list[BoxEvent], list[str]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Weighted rows, events (values that do not occur, and no values at all, among them) and columns to group by."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.tuples(*[VALUES] * len(names)), max_size=8))
    weights = draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    table = replace(Table.from_rows(names, rows), weights=np.array(weights, np.int64))
    allowed = st.dictionaries(st.sampled_from(names), st.lists(VALUES, max_size=4).map(tuple))
    events = draw(st.lists(allowed.map(BoxEvent), max_size=70))
    return table, events, draw(st.lists(st.sampled_from(names), max_size=3))


@pytest.fixture(params=ENGINES, ids=[entry.name for entry in ENGINES])
def entry(request: pytest.FixtureRequest) -> EngineEntry:
    chosen: EngineEntry = request.param
    return chosen


@pytest.fixture
def engine(entry: EngineEntry) -> Iterator[Engine]:
    table = Table.from_rows(["sex", "größe"], [("F", "1"), ("M", ""), ("F", "")])
    engine = entry.open(replace(table, weights=np.array([1, 10, 100])))
    yield engine
    engine.close()


def test_the_four_questions(entry: EngineEntry, engine: Engine) -> None:
    assert engine.name == entry.name
    assert engine.columns == ("sex", "größe")
    assert engine.n == 111
    events: list[dict[str, tuple[str, ...]]] = [
        {},
        {"sex": ("F",)},
        {"sex": ("F", "M"), "größe": ("",)},
        {"sex": ()},
        {"sex": ("f",)},
    ]
    assert engine.counts([BoxEvent(allowed) for allowed in events]) == [111, 101, 110, 0, 0]
    assert engine.counts([]) == []
    assert engine.groups(["größe"]) == [(("",), 110), (("1",), 1)]
    assert engine.groups(["sex", "größe"]) == [(("F", ""), 100), (("F", "1"), 1), (("M", ""), 10)]
    assert engine.groups([]) == [((), 111)]


def test_unknown_columns(engine: Engine) -> None:
    sentence = "columns: there is no column 'sx'. Did you mean 'sex'? There are 2 columns, named in the first line."
    with pytest.raises(OptionError) as caught:
        engine.counts([BoxEvent({"sx": ("F",)})])
    assert str(caught.value) == sentence
    with pytest.raises(OptionError) as caught:
        engine.groups(["sx"])
    assert str(caught.value) == sentence
    with pytest.raises(OptionError, match="columns are given as one text"):
        engine.groups("sex")


def test_no_rows(entry: EngineEntry) -> None:
    engine = entry.open(Table.from_rows(["a"], []))
    assert (engine.n, engine.counts([BoxEvent({}), BoxEvent({"a": ("x",)})]), engine.groups(["a"]), engine.groups([])) == (
        0,
        [0, 0],
        [],
        [],
    )
    engine.close()


@pytest.mark.parametrize("name", [entry.name for entry in ENGINES])
@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_engine_counts_as_it_should(name: str, case: Case) -> None:
    table, events, by = case
    rows = [dict(zip(table.names, cells, strict=True)) for cells in _cells(table)]
    weights = table.weights.tolist()
    engine = open_engine(name, table)
    assert engine.counts(events) == [
        sum(weight for row, weight in zip(rows, weights, strict=True) if all(row[c] in vs for c, vs in event.allowed.items()))
        for event in events
    ]
    groups: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        groups[tuple(row[column] for column in by)] += weight
    assert engine.groups(by) == sorted(groups.items())
    assert engine.n == sum(weights)
    engine.close()


def _cells(table: Table) -> list[list[str]]:
    return [[column.values[column.codes[row]] for column in table.columns] for row in range(len(table.weights))]


def test_the_table_of_engines() -> None:
    assert [entry.name for entry in ENGINES] == ["duckdb", "memory"]
    assert engine_entry("duckdb").title
    with pytest.raises(OptionError) as caught:
        engine_entry("duckbd")
    assert str(caught.value) == "--engine: unknown engine 'duckbd'. Did you mean 'duckdb'? The engines are: duckdb, memory."


def test_failures_of_duckdb_say_nothing_of_the_data() -> None:
    engine = open_engine("duckdb", Table.from_rows(["a"], [("secret",)]))
    engine.close()
    with pytest.raises(EngineError) as caught:
        engine.counts([BoxEvent({"a": ("secret",)})])
    assert str(caught.value) == "engine duckdb: the query failed. Please report it."
    assert caught.value.__cause__ is None
