"""Tables of people and bucketized releases beside frequency tables: what is proved holds however blanks are filled and values are dealt out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.joint.conditions import ShownColumn
from tacit.joint.readers import count_rows
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.partial import PartialTable
from tacit.model.table import Schema, Table
from tests.examples import examples
from tests.joint.naive_joint import cited

VALUES = {"a": ("x", "y"), "b": ("p", "q")}
Row = tuple[str, ...]


@st.composite
def people(draw: st.DrawFn) -> list[Row]:
    return draw(st.lists(st.tuples(*(st.sampled_from(VALUES[name]) for name in "ab")), min_size=2, max_size=5))


@st.composite
def beside(draw: st.DrawFn, rows: list[Row]) -> FrequencyTable:
    by = draw(st.sampled_from([["a,b"], ["b"], ["a", "b"]]))
    hide = draw(st.sampled_from([None, 2, 3]))
    return tacit.tabulate(Table.from_rows(["a", "b"], rows), by=by, hide_below=hide, round_to=draw(st.sampled_from([None, 3])))


def fits(world: Sequence[Row], table: FrequencyTable) -> bool:
    place = {"a": 0, "b": 1}
    for index in range(len(table)):
        cell, ends = table.cell(index), table.count(index)
        if not ends.lo <= sum(all(row[place[c]] == v for c, v in cell.items()) for row in world) <= ends.hi:
            return False
    return True


def check(releases: list[Any], worlds: Iterable[Sequence[Row]], table: FrequencyTable, k: int) -> None:
    """Every proved group holds in every world that fits, and its proof is accepted."""
    audit = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=k), attacks=["X01"])
    fitting = [world for world in worlds if fits(world, table)]
    assert fitting
    for finding in audit.findings:
        event = finding.to_dict()["event"]
        if "present" not in event:
            continue  # about single people whose row is known
        for world in fitting:
            items = [{f"{column}={value}" for column, value in zip("ab", row, strict=True)} for row in world]
            count = sum(one.issuperset(event["present"]) and one.isdisjoint(event["absent"]) for one in items)
            assert finding.count.lo <= count <= finding.count.hi
    outcome = check_audit(audit.to_dict(top=1000), releases)
    assert outcome.ok, outcome.problems


def filled(rows: Sequence[Row], domains: dict[str, tuple[str, ...]]) -> Iterator[list[Row]]:
    """All tables that show what these rows show."""
    blanks = [(row, place) for row, cells in enumerate(rows) for place, cell in enumerate(cells) if not cell]
    for chosen in product(*(domains["ab"[place]] for _, place in blanks)):
        made = [list(row) for row in rows]
        for (row, place), value in zip(blanks, chosen, strict=True):
            made[row][place] = value
        yield [tuple(row) for row in made]


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_blanks_may_be_filled_in_any_way_that_fits(data: st.DataObject) -> None:
    rows = data.draw(people())
    shown = [tuple("" if data.draw(st.integers(0, 2)) == 0 else cell for cell in row) for row in rows]
    partial = PartialTable.of(Table.from_rows(["a", "b"], shown, Schema(qi=("a",), sa=("b",))))
    table = data.draw(beside(rows))
    known = dict(zip(table.columns, table.values, strict=True))
    # A column that the frequency table lacks may hold a value that nobody shows.
    domains = {name: known.get(name, (*VALUES[name], "other")) for name in "ab"}
    check([partial, table], filled(shown, domains), table, data.draw(st.integers(2, 4)))


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_values_may_be_dealt_out_within_their_groups(data: st.DataObject) -> None:
    rows = data.draw(people())
    group = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))), np.int32)
    group = np.unique(group, return_inverse=True)[1].astype(np.int32)
    whole = Table.from_rows(["a", "b"], rows)
    buckets = Buckets.of(whole.select(["a"]), whole.column("b"), group)
    table = data.draw(beside(rows))
    members = [[place for place in range(len(rows)) if group[place] == number] for number in range(len(buckets))]
    worlds = []
    for dealt in product(*(sorted(set(permutations([rows[place][1] for place in inside]))) for inside in members)):
        values = {
            place: value for inside, hand in zip(members, dealt, strict=True) for place, value in zip(inside, hand, strict=True)
        }
        worlds.append([(row[0], values[place]) for place, row in enumerate(rows)])
    check([buckets, table], worlds, table, data.draw(st.integers(2, 4)))


@given(st.data())
def test_rows_are_counted_as_one_would_count_them_by_hand(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 6))
    columns = []
    for name, width in (("a", 2), ("b", 3)):
        codes = data.draw(st.lists(st.integers(-1, width - 1), min_size=size, max_size=size))
        columns.append(ShownColumn(name, tuple("uvw"[:width]), np.array(codes, np.int64)))
    least, most = count_rows(columns)
    for cell in product(range(2), range(3)):
        rows = list(zip(*(column.codes.tolist() for column in columns), strict=True))
        assert least[cell] == sum(row == cell for row in rows)
        assert most[cell] == sum(all(seen in (-1, code) for seen, code in zip(row, cell, strict=True)) for row in rows)


ROWS = [("F", "flu")] * 4 + [("F", "cold")] * 3 + [("M", "flu")] * 2 + [("M", "")]


def blank_and_total() -> list[Any]:
    """Nine of ten rows show their value; a printed total tells the tenth."""
    partial = PartialTable.of(Table.from_rows(["sex", "ill"], ROWS, Schema(qi=("sex",), sa=("ill",))))
    return [partial, FrequencyTable.of(["ill"], [["flu"], ["cold"]], [6, 4], n=10)]


def test_rows_beside_a_table_tell_what_a_blank_hides() -> None:
    releases = blank_and_total()
    found = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=3), attacks=["X01"])
    told = [finding.statement for finding in found.findings]
    assert told == ["1 person has ill=cold and sex=M.", "2 people have ill=flu and sex=M."]
    assert check_audit(found.to_dict(top=10), releases).ok


def test_a_recount_that_was_tampered_with_is_refused() -> None:
    releases = blank_and_total()
    record = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=3), attacks=["X01"]).to_dict(top=10)
    weights = cited(record, "rows")
    assert weights
    for weight in weights:
        before = dict(weight)
        for change in ({"items": ["sex=M"]}, {"what": "values"}, {"cell": "rows with sex=F"}, {"items": ["age=3"]}):
            weight.update(change)
            if weight != before:
                assert not check_audit(record, releases).ok
            weight.clear()
            weight.update(before)
    other = PartialTable.of(Table.from_rows(["sex", "ill"], [*ROWS[:-1], ("F", "")], Schema(qi=("sex",), sa=("ill",))))
    assert not check_audit(record, [other, releases[1]]).ok
