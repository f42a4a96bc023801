"""Rules about blank cells against their definition, on random tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.model.partial import PartialTable, Thresholds
from tacit.model.table import Schema, Table
from tacit.partial.unsafe_rules import Case, Reading, unsafe_rules
from tests.examples import examples
from tests.partial.naive_tables import rules_about, unsafe_about

CELLS = st.sampled_from(["", "u", "v", "w"])


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[str, ...]], list[int], list[str | None]]:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[CELLS] * width, st.sampled_from(["", "s", "t"])), min_size=1, max_size=14))
    sensitive = draw(st.lists(st.integers(0, len(rows) - 1), unique=True, max_size=5).map(sorted))
    return rows, sensitive, [draw(st.sampled_from(["s", "t", None])) for _ in sensitive]


@settings(max_examples=examples(150), deadline=None)
@given(
    cases(),
    st.integers(0, 3),
    st.sampled_from([Fraction(1, 2), Fraction(3, 5), Fraction(1, 10), Fraction(1)]),
    st.sampled_from(["plain", "known-only", "wildcard"]),
)
def test_unsafe_rules_are_those_of_the_definition(
    case: tuple[list[tuple[str, ...]], list[int], list[str | None]], support: int, confidence: Fraction, reading: Reading
) -> None:
    rows, sensitive, truth = case
    names = [f"A{i}" for i in range(len(rows[0]) - 1)]
    partial = PartialTable.of(Table.from_rows([*names, "S"], rows, Schema(qi=tuple(names), sa=("S",))))
    values = sorted({*(row[-1] for row in rows), "s", "t"} - {""})
    shown = np.array([values.index(row[-1]) if row[-1] else -1 for row in rows], np.int32)
    true = np.array([-1 if one is None else values.index(one) for one in truth], np.int32)
    bars = Thresholds.of(min_confidence=confidence, min_support=support, n=len(rows))
    found = unsafe_rules(Case(partial.conditions, shown, np.array(sensitive, np.int64), true), bars, reading=reading)
    columns = [partial.people.column(name) for name in names]
    told = {}
    for i in range(len(found)):
        cells = enumerate(found.cells[i].tolist())
        pattern = frozenset((place, columns[place].values[code]) for place, code in cells if code >= 0)
        told[pattern, values[found.value[i]]] = (int(found.whole[i]), int(found.both[i]), found.owners_of(i).tolist())
    assert told == unsafe_about(rows, sensitive, truth, reading=reading, min_confidence=confidence, min_support=support)
    enough = [(both, whole) for whole, both, _ in rules_about(rows, sensitive, truth, reading=reading).values() if both > support]
    assert found.worst_confidence == max((both / whole for both, whole in enough), default=0.0)
