"""The verb that hides cells: what it gives, what it refuses, and that its check is not a formality."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.partial.cost import blank_cost
from tacit.partial.methods import METHODS, NEEDS, Found, find_cells
from tacit.partial.problem import Cells, Hiding
from tacit.verbs import hide
from tests.partial.naive_hiding import FIGURE_2, SENSITIVE_OF_FIGURE_2, is_safe

NAMES = ("A1", "A2", "A3", "A4")


def figure_2() -> tacit.Table:
    """The paper's example as a table."""
    rows = {name: [row[place] for row in FIGURE_2] for place, name in enumerate(NAMES)}
    return tacit.read_table(rows, qi="A1,A2,A3", sa="A4")


def hidden(regions: str, **how: Any) -> tacit.Hidden:
    return tacit.hide(figure_2(), rows=SENSITIVE_OF_FIGURE_2, may_hide=regions, min_confidence=0.55, **how)


@pytest.mark.parametrize(
    ("regions", "cells"), [("ns", 2), ("nc", 7), ("sc", 6), ("nc,sc", 6), ("ns,nc", 2), ("ns,sc", 2), ("ns,nc,sc", 2)]
)
def test_the_papers_example(regions: str, cells: int) -> None:
    made = hidden(regions, method="greedy")
    assert made.cost["cells_hidden"] == made.cells_hidden == cells
    assert sum(made.cost["by_region"].values()) == sum(made.cost["by_column"].values()) == cells
    assert made.cost["by_region"] == dict(made.hidden_by_region())
    assert made.cost["sensitive_cells"] == 2
    assert made.before is not None
    assert made.after is not None
    assert made.before.attack("T01").findings == 9
    assert made.after.attack("T01").findings == 0


@pytest.mark.parametrize("method", METHODS)
def test_only_cells_of_the_regions_are_hidden_and_nothing_else_changes(method: str) -> None:
    region = NEEDS.get(method, ("ns",))[0]  # type: ignore[call-overload]
    made, people = hidden(region, method=method, seed=5), figure_2()
    before = [row[place] for row in FIGURE_2 for place in range(4)]
    after = [value for record in made.records() for value in record.values()]
    kept = [value if now is not None else None for value, now in zip(before, after, strict=True)]
    assert after == kept
    assert made.people.names == people.names
    blank = made.hidden.copy()
    blank[list(SENSITIVE_OF_FIGURE_2), 3] = False
    for row, column in np.argwhere(blank).tolist():
        where = "ns" if column == 3 else "sc" if row in SENSITIVE_OF_FIGURE_2 else "nc"
        assert where == region


def test_one_value_hidden_in_other_records_is_told_by_the_blanks() -> None:
    made = hidden("ns", method="smc")
    assert made.after is not None
    assert (made.after.verdict, made.ok) == ("exposed", False)
    assert made.after.attack("T02").findings > 0
    (instead,) = made.tried
    assert (instead.method, instead.verdict, instead.cost["cells_hidden"]) == ("uniform", "clean", 6)
    assert hidden("sc").tried == ()


def test_the_usual_method_of_each_region() -> None:
    assert [hidden(regions).method for regions in ("sc", "ns", "ns,sc")] == ["uniform", "greedy", "greedy"]


def test_the_optimum_is_told() -> None:
    cost = hidden("nc", method="ilp").cost
    assert (cost["cells_hidden"], cost["least_cells"], cost["gap"]) == (7, 7, 0.0)
    assert "least_cells" not in hidden("nc").cost


def test_the_same_seed_hides_the_same_cells() -> None:
    first, again = (hidden("nc", method="rgraph-random", seed=4) for _ in range(2))
    assert np.array_equal(first.hidden, again.hidden)
    assert first.to_dict() == again.to_dict()
    assert any(not np.array_equal(first.hidden, hidden("nc", method="rgraph-random", seed=seed).hidden) for seed in range(5, 12))


def test_a_condition_names_the_rows() -> None:
    made = tacit.hide(figure_2(), rows="A1=a and A3=d and A2=b", may_hide="sc", min_confidence=0.55)
    assert made.sensitive is not None
    assert made.sensitive.tolist() == [4]


def test_marks_name_sensitive_and_bound_cells() -> None:
    marks = {"row": ["0", "4", "0", "4"], "column": ["A4", "A4", "A1", "A3"], "mark": ["-", "-", "+", "+"]}
    made = tacit.hide(figure_2(), may_hide="sc,nc", marks=marks, min_confidence=0.55)
    assert made.sensitive is not None
    assert made.sensitive.tolist() == [0, 4]
    assert not made.hidden[0, 0]
    assert not made.hidden[4, 2]
    assert made.after is not None
    assert made.after.attack("T01").findings == 0


def test_a_mark_that_publishes_a_sensitive_cell_is_refused() -> None:
    marks = {"row": ["0"], "column": ["A4"], "mark": ["+"]}
    with pytest.raises(tacit.OptionError, match="--marks: says that row 0 must publish a sensitive cell"):
        tacit.hide(figure_2(), rows=[0, 4], may_hide="sc", marks=marks)


def test_no_safe_table_exists() -> None:
    marks = {name: ["+"] * 9 for name in NAMES[:3]} | {"A4": ["-", *"+++", "-", *"++++"]}
    with pytest.raises(tacit.Infeasible, match="no safe table exists: 9 rules stay unsafe"):
        tacit.hide(figure_2(), may_hide="ns,nc,sc", marks=marks, min_confidence=0.55)


def test_several_sensitive_columns() -> None:
    rows = {"job": list("aaaabbbb"), "ill": list("xxxyxyxy"), "pay": list("11122222")}
    people = tacit.read_table(rows, qi="job", sa="ill,pay")
    made = tacit.hide(people, rows=[0], may_hide="ns", min_confidence=0.4)
    assert made.hidden[0].tolist() == [False, True, True]
    codes = [people.column(name).codes for name in ("job", "ill", "pay")]
    protected = np.zeros((8, 2), bool)
    protected[0] = True
    cells = Cells(np.stack(codes[:1], axis=1), np.stack(codes[1:], axis=1), protected)
    assert is_safe(cells, made.hidden, Fraction(2, 5), 0)
    assert made.cost["cells_hidden"] == int(made.hidden.sum()) - 2


def test_thresholds_are_strict_and_decimals_exact() -> None:
    people = tacit.read_table({"job": ["a"] * 10, "ill": ["x"] * 8 + ["y"] * 2}, qi="job", sa="ill")

    def cells(**how: Any) -> int:
        return int(tacit.hide(people, rows=[0], may_hide="sc", method="greedy", **how).cost["cells_hidden"])

    # With one sensitive record 7 of 10 are left: a confidence of exactly 0.7.
    assert cells(min_confidence=0.7) == 0
    assert cells(min_confidence="69.99999999%") == 1
    assert cells(min_confidence=0.1, min_support=7) == 0
    assert cells(min_confidence=0.1, min_support=6) == 1
    assert cells(min_confidence=0.1, min_support="70%") == 0


def test_uniform_hides_more_where_counting_known_values_only_would_tell() -> None:
    people = tacit.read_table({"job": ["a"] * 10 + ["b"] * 4, "ill": ["x"] * 8 + ["y"] * 6}, qi="job", sa="ill")
    greedy, uniform = (
        tacit.hide(people, rows=[0], may_hide="sc", method=method, min_confidence=0.7) for method in ("greedy", "uniform")
    )
    assert (greedy.cost["cells_hidden"], greedy.ok) == (0, False)  # 7 of 10 have x, but 7 of the 9 whose value is known
    assert (uniform.cost["cells_hidden"], uniform.ok) == (1, True)
    assert [one.cost["cells_hidden"] for one in greedy.tried] == [1]


def test_rows_that_stand_for_several_people_are_written_out() -> None:
    people = tacit.read_table({"job": ["a", "b"], "ill": ["x", "y"]}, qi="job", sa="ill")
    made = tacit.hide(replace(people, weights=np.array([3, 2])), rows=[1], may_hide="ns", min_confidence=0.5)
    assert made.n == 5


def test_a_wrong_answer_is_never_released(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(problem: Any, regions: frozenset[str], *_: Any, **__: Any) -> Found:
        return Found(Hiding(problem, regions))

    monkeypatch.setattr(hide, "find_cells", careless)
    with pytest.raises(tacit.InternalError, match="9 rules still reveal a sensitive cell"):
        hidden("ns")


def test_cells_outside_the_regions_are_never_released(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(problem: Any, regions: frozenset[str], *rest: Any, **how: Any) -> Found:
        return find_cells(problem, frozenset({"ns"}), *rest, **how)

    monkeypatch.setattr(hide, "find_cells", elsewhere)
    with pytest.raises(tacit.InternalError, match="2 cells were hidden that may not be"):
        hidden("nc", method="greedy")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rows": [9]}, "--rows: row 9 is outside the table"),
        ({"rows": []}, "--rows: names no row"),
        ({"rows": None}, "--rows: no row is sensitive, so there is nothing to protect"),
        ({"rows": "A1=q"}, "--rows: the condition fits no row"),
        ({"rows": "A1!=q"}, "--rows: the condition fits every row"),
        ({"min_confidence": 0}, "--min-confidence: must be a share of more than 0 and at most 1"),
        ({"min_confidence": 1.2}, "--min-confidence: must be a share"),
        ({"min_support": -1}, "--min-support: must be 0 or more"),
        ({"may_hide": "nx"}, "--may-hide: there is no region 'nx'"),
        ({"method": "gredy"}, "--method: there is no such method"),
        ({"method": "uniform"}, "--method: uniform hides sc"),
        ({"time_limit": 0}, "--time-limit: must be more than 0 seconds"),
    ],
)
def test_what_is_refused(how: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"rows": [0], "may_hide": "ns", "min_confidence": 0.55} | how
    with pytest.raises(tacit.OptionError, match=said):
        tacit.hide(figure_2(), **given)


def test_tables_that_are_refused() -> None:
    for qi, sa, where in (("", "A4", "--qi"), ("A1", "", "--sa")):
        with pytest.raises(tacit.OptionError, match=f"{where}: the table has no"):
            tacit.hide(tacit.read_table(figure_2(), qi=qi, sa=sa, columns=list(NAMES)), rows=[0], may_hide="ns")
    with pytest.raises(tacit.OptionError, match="needs a table"):
        tacit.hide("people.csv", rows=[0], may_hide="ns")
    blank = tacit.read_table({"job": ["a", "b"], "ill": ["", "y"]}, qi="job", sa="ill")
    with pytest.raises(tacit.OptionError, match="the sensitive cell of row 0 is empty already"):
        tacit.hide(blank, rows=[0], may_hide="ns")


def test_progress_goes_forward() -> None:
    told: list[float] = []
    hidden("nc", progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1


# What hiding does to the use of a table


def test_rules_and_questions_of_a_table_that_did_not_change() -> None:
    table = np.random.default_rng(0).integers(0, 3, (60, 4)).astype(np.int32)
    told = blank_cost(table, table, 3, confidence=Fraction(2, 5), support=0, seed=0)
    assert told["rules"] > 0
    assert told | {"rules": 0} == {"rules": 0, "rules_lost": 0, "rules_changed": 0, "rules_new": 0, "query_error": 0.0}


@pytest.mark.parametrize("seed", range(8))
def test_rules_are_those_that_are_counted_one_by_one(seed: int) -> None:
    chance = np.random.default_rng(seed)
    before = chance.integers(-1, 3, (40, 4)).astype(np.int32)
    after = np.where(chance.random((40, 4)) < 0.1, np.int32(-1), before)
    confidence, support = Fraction(2, 5), seed % 3
    told = blank_cost(before, after, 2, confidence=confidence, support=support, seed=0)
    old, new = (rules_one_by_one(table, confidence, support) for table in (before, after))
    kept = old.keys() & new.keys()
    assert told["rules"] == len(old)
    assert told["rules_lost"] == len(old.keys() - kept)
    assert told["rules_new"] == len(new.keys() - kept)
    assert told["rules_changed"] == sum(old[rule] != new[rule] for rule in kept)
    assert len(old) > 3


def rules_one_by_one(table: np.ndarray, confidence: Fraction, support: int) -> dict[tuple[Any, ...], Fraction]:
    """Every rule of one or two condition columns and its confidence, by looking at each row for each of them."""
    rows = table.tolist()
    found = {}
    for columns in ((0,), (1,), (0, 1)):
        for sensitive in (2, 3):
            for row in rows:
                pattern, value = [row[c] for c in columns], row[sensitive]
                fits = [one for one in rows if [one[c] for c in columns] == pattern and min(pattern) >= 0]
                both = sum(one[sensitive] == value for one in fits) if value >= 0 else 0
                if both > max(support, len(rows) // 100) and both > confidence * len(fits):
                    found[columns, tuple(pattern), sensitive, value] = Fraction(both, len(fits))
    return found


def test_the_error_of_counts_grows_with_what_is_hidden() -> None:
    chance = np.random.default_rng(1)
    table = chance.integers(0, 4, (500, 4)).astype(np.int32)
    errors = []
    for share in (0.0, 0.05, 0.3):
        after = np.where(chance.random(table.shape) < share, np.int32(-1), table)
        errors.append(blank_cost(table, after, 3, confidence=Fraction(2, 5), support=0, seed=0)["query_error"])
    assert errors[0] == 0.0
    assert errors[0] < errors[1] < errors[2] < 1
