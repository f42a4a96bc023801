"""Frequency tables of random people: what is printed holds of them, what is written is read back, and X01 finds what every world shows."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.model.frequencies import FrequencyTable
from tacit.model.table import Table
from tests.examples import examples
from tests.joint.naive_joint import bounds, group_of, kinds_of, worlds

COLUMNS = {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("0", "1")}


@st.composite
def people(draw: st.DrawFn, most: int = 30, columns: int = 3) -> Table:
    names = list(COLUMNS)[:columns]
    rows = draw(st.lists(st.tuples(*(st.sampled_from(COLUMNS[name]) for name in names)), min_size=1, max_size=most))
    return Table.from_rows(names, rows)


@st.composite
def printing(draw: st.DrawFn) -> dict[str, Any]:
    hide = draw(st.sampled_from([None, 2, 3, 5]))
    return {
        "hide_below": hide,
        "show_zeros": hide is not None and draw(st.booleans()),
        "round_to": draw(st.sampled_from([None, 2, 3, 5])),
        "total": draw(st.booleans()),
    }


def tables_of(names: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    sets = [
        ",".join(name for name, used in zip(names, flags, strict=True) if used) for flags in product([0, 1], repeat=len(names))
    ]
    return st.lists(st.sampled_from([one for one in sets if one]), min_size=1, max_size=3)


def true_count(table: Table, cell: dict[str, str]) -> int:
    rows = zip(*([column.values[code] for code in column.codes] for column in table.columns), strict=True)
    return sum(all(row[table.names.index(name)] == value for name, value in cell.items()) for row in rows)


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_every_cell_holds_of_the_people_it_was_made_from(data: st.DataObject) -> None:
    table = data.draw(people())
    how = data.draw(printing())
    made = tacit.tabulate(table, by=data.draw(tables_of(table.names)), **how)
    for index in range(len(made)):
        true, count = true_count(table, made.cell(index)), made.count(index)
        assert count.lo <= true <= count.hi
        small = how["hide_below"] is not None and true < how["hide_below"] and (true > 0 or not how["show_zeros"])
        assert (made.text(index) == "") == small
    with tempfile.TemporaryDirectory() as folder:
        tacit.write_release(made, Path(folder) / "t.csv")
        back = tacit.read_release(Path(folder) / "t.csv")
    assert isinstance(back, FrequencyTable)
    assert [back.count(index) for index in range(len(back))] == [made.count(index) for index in range(len(made))]
    assert list(back.records()) == list(made.records())


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_what_the_tables_tell_is_what_every_world_shows(data: st.DataObject) -> None:
    table = data.draw(people(most=5, columns=2))
    made = tacit.tabulate(table, by=data.draw(tables_of(table.names)), **data.draw(printing()))
    policy = tacit.Policy(k=data.draw(st.integers(2, 4)))
    audit = tacit.audit(made, policy=policy)
    choices = [[frozenset([f"{name}={value}"]) for value in made.values[made.columns.index(name)]] for name in made.columns]
    kinds = kinds_of(choices, tacit.Same(), 1)
    fitting = list(worlds(kinds, [made], tacit.Same()))
    assert fitting
    told = {group_of(finding.to_dict()["event"]): finding.count for finding in audit.findings}
    for group, count in told.items():
        fewest, most = bounds(group, kinds, fitting)
        assert count.lo <= fewest <= most <= count.hi
        assert 0 < count.lo <= count.hi < policy.k
    outcome = check_audit(audit.to_dict(top=len(told)), [made])
    assert outcome.ok, outcome.problems
    if audit.attack("X01").undecided:
        return
    shown = {bounds(group, kinds, fitting) for group in told}
    for cell in product(*[[None, *[next(iter(one)) for one in values]] for values in choices]):
        has = frozenset(item for item in cell if item is not None)
        fewest, most = bounds((has, frozenset(), frozenset(), frozenset()), kinds, fitting)
        if has and 0 < fewest <= most < policy.k:
            # The same people may be told in fewer words.
            assert (fewest, most) in shown or any(lo >= fewest and hi <= most for lo, hi in shown)


def test_what_a_table_reveals_alone_is_found_beside_another_if_all_groups_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """413 people of whom all but 5 are in shown cells; the groups of both tables together are more than one cube holds."""
    races = ["v", "w", "x", "y", "z"]
    by_race = FrequencyTable.of(
        ["degree", "race"],
        [["d", race] for race in races] + [["e", race] for race in races] + [["d", "*"], ["e", "*"]],
        [None, 28, 11, None, 369, None, 50, 60, None, 70, 413, 200],
        n=613,
        no_sa=True,
    )
    ages = ["1", "2", "3", "4", "5", "6"]
    cells = [[degree, age] for degree in "de" for age in ages]
    by_age = FrequencyTable.of(["degree", "age"], cells, [70, 70, 70, 70, 70, 63, 40, 40, 30, 30, 30, 30], n=613, no_sa=True)
    monkeypatch.setattr("tacit.joint.lower.MOST_GROUPS", 300)
    alone = tacit.audit(by_race, k=10)
    audit = tacit.audit([by_race, by_age], people=tacit.Same(), k=10)
    told = "5 people have degree=d, and neither race=w, race=x nor race=z."
    assert [one.statement for one in alone.findings] == [told]
    assert told in [one.statement for one in audit.findings]
    assert check_audit(audit.to_dict(top=100), [by_race, by_age]).ok
