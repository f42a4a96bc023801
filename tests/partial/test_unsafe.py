"""Rules about blank cells: the paper's example, and extremes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.model.errors import LimitReached, OptionError
from tacit.model.partial import PartialTable, Thresholds
from tacit.model.table import Schema, Table
from tacit.partial.unsafe_rules import Case, DistinctRows, Node, unsafe_rules, walk
from tests.partial.naive_tables import FIG2, FIG2_ROWS

BARS = Thresholds.of(min_confidence=0.55, min_support=0, n=9)


def fig2() -> tuple[PartialTable, Case]:
    people = Table.from_rows(["A1", "A2", "A3", "A4"], FIG2, Schema(qi=("A1", "A2", "A3"), sa=("A4",)))
    partial = PartialTable.of(people)
    value = people.sa.values.index("s")
    return partial, Case(partial.conditions, partial.codes("A4"), np.array(FIG2_ROWS), np.full(len(FIG2_ROWS), value, np.int32))


def named(partial: PartialTable, cells: np.ndarray) -> str:
    columns = [partial.people.column(name) for name in partial.people.schema.qi]
    return "".join(column.values[code] for column, code in zip(columns, cells.tolist(), strict=True) if code >= 0)


def test_all_nodes_of_the_papers_graph() -> None:
    partial, case = fig2()
    found = unsafe_rules(case, BARS, every=True)
    told = {named(partial, found.cells[i]): (int(found.whole[i]), int(found.both[i])) for i in range(len(found))}
    assert told == {
        "abc": (3, 2),
        "abd": (1, 0),
        "ab": (5, 3),
        "ac": (3, 2),
        "bc": (3, 2),
        "ad": (2, 1),
        "bd": (3, 2),
        "a": (6, 4),
        "b": (7, 5),
        "c": (3, 2),
        "d": (5, 3),
    }


def test_unsafe_nodes_and_whom_they_are_about() -> None:
    partial, case = fig2()
    found = unsafe_rules(case, BARS)
    told = {named(partial, found.cells[i]): found.owners_of(i).tolist() for i in range(len(found))}
    assert told == {
        "abc": [0],
        "ac": [0],
        "bc": [0],
        "c": [0],
        "bd": [4],
        "d": [4],
        "ab": [0, 4],
        "a": [0, 4],
        "b": [0, 4],
    }
    assert found.exposed.tolist() == [0, 4]
    assert found.worst is not None
    assert found.worst[2:] == (7, 5)
    assert named(partial, found.cells[0]) == "b"


def test_thresholds_are_strict_and_exact() -> None:
    # Three of five show the value: exactly .6, which is safe; a binary .6 lies below three fifths.
    case = Case(np.zeros((5, 1), np.int32), np.array([0, 0, 0, 0, 1], np.int32), np.array([0]), np.array([0], np.int32))
    for confidence, support, unsafe in ((0.6, 0, 0), ("60%", 0, 0), (0.59, 0, 1), (Fraction(59, 100), 2, 1), (0.59, 3, 0)):
        bars = Thresholds.of(min_confidence=confidence, min_support=support, n=5)
        assert len(unsafe_rules(case, bars)) == unsafe


def test_a_share_as_support_is_of_all_people() -> None:
    assert Thresholds.of(min_confidence=0.5, min_support="10%", n=45).support == 4
    assert Thresholds.of(min_confidence=0.5, min_support=0.1, n=40).support == 4
    assert Thresholds.of(min_confidence=1, min_support="1", n=40).support == 1


@pytest.mark.parametrize(
    ("confidence", "support"), [(0, 0), (1.1, 0), ("x", 0), (0.5, -1), (0.5, "200%"), (0.5, "-3"), (True, 0), (0.5, None)]
)
def test_thresholds_that_make_no_sense_are_refused(confidence: object, support: object) -> None:
    with pytest.raises(OptionError):
        Thresholds.of(min_confidence=confidence, min_support=support, n=10)


def test_nobody_is_sensitive_or_nothing_is_published() -> None:
    _, case = fig2()
    assert len(unsafe_rules(Case(case.conditions, case.sensitive, np.empty(0, np.int64), np.empty(0, np.int32)), BARS)) == 0
    blank = Case(np.full_like(case.conditions, -1), case.sensitive, case.rows, case.truth)
    assert len(unsafe_rules(blank, BARS)) == 0
    bare = Case(np.empty((9, 0), np.int32), case.sensitive, case.rows, case.truth)
    assert len(unsafe_rules(bare, BARS)) == 0


def test_a_search_ends_when_it_is_told_to() -> None:
    rng = np.random.default_rng(3)
    case = Case(rng.integers(0, 3, (400, 7)).astype(np.int32), np.zeros(400, np.int32), np.arange(9), np.zeros(9, np.int32))

    def stop() -> None:
        raise LimitReached("the time is over", where="here", remedy="Wait")

    found = unsafe_rules(case, BARS, check=stop)
    assert not found.complete
    assert 0 < len(found) < len(unsafe_rules(case, BARS))


def test_equal_rows_are_taken_together_whatever_their_codes() -> None:
    wide = [np.array([0, 2**20, 2**20, -1], np.int32)] * 4
    merged = DistinctRows.of(wide)
    assert merged.weights.tolist() == [1, 1, 2]
    starts, rows = merged.members()
    assert [rows[starts[i] : starts[i + 1]].tolist() for i in range(3)] == [[3], [0], [1, 2]]


def test_each_pattern_is_shown_once() -> None:
    seen: list[tuple[tuple[int, int], ...]] = []

    def visit(node: Node) -> bool:
        seen.append(node.cells)
        return True

    columns = [np.array([0, 0, 1], np.int32), np.array([0, 1, -1], np.int32)]
    walk(columns, columns, visit, root=True)
    assert sorted(seen) == [(), ((0, 0),), ((0, 0), (1, 0)), ((0, 0), (1, 1)), ((0, 1),), ((1, 0),), ((1, 1),)]
