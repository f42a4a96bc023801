"""Frequent itemsets as callers meet them: thresholds, headers, edge cases, wrong options."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tacit.mining.itemsets import count_by_threshold, count_itemsets, mine_itemsets
from tacit.model.errors import OptionError
from tacit.model.release import ONLY, Itemsets, Only
from tacit.model.table import Hierarchy, Missing, Schema, Table, Transactions


def listed(found: Itemsets) -> list[tuple[list[str], int]]:
    return [(found.names(i), found.count(i).lo) for i in range(len(found))]


def test_an_item_in_every_row_is_not_forgotten() -> None:
    """The case in which other programs leave out ``{1}``."""
    baskets = Transactions.from_lists([[1, 2], [1, 3], [1]])
    assert listed(mine_itemsets(baskets, min_support=1, only="closed")) == [(["1"], 3), (["1", "2"], 1), (["1", "3"], 1)]
    assert listed(mine_itemsets(baskets, min_support=2, only="maximal")) == [(["1"], 3)]


def test_sets_come_in_dictionary_order_whatever_is_asked_for() -> None:
    baskets = Transactions.from_lists([["c", "a"], ["b", "a", "c"], ["c"], ["b", "a"]])
    assert listed(mine_itemsets(baskets, min_support=1)) == [
        (["a"], 3), (["a", "b"], 2), (["a", "b", "c"], 1), (["a", "c"], 2), (["b"], 2), (["b", "c"], 1), (["c"], 3),
    ]  # fmt: skip
    assert listed(mine_itemsets(baskets, min_support=1, only="closed")) == [
        (["a"], 3), (["a", "b"], 2), (["a", "b", "c"], 1), (["a", "c"], 2), (["c"], 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("min_support", "strict", "least"),
    [("25%", False, 2), ("25%", True, 3), (0.25, False, 2), (2, False, 2), (2, True, 3), ("0.3", False, 3)],
)
def test_thresholds_are_whole_numbers(min_support: Any, strict: bool, least: int) -> None:
    baskets = Transactions.from_lists([["a"]] * 2 + [["b"]] * 3 + [["c"]] * 3)
    found = mine_itemsets(baskets, min_support=min_support, strict=strict)
    assert (found.min_support, found.n, found.header.strict, found.header.complete) == (least, 8, strict, True)
    assert len(found) == (3 if least == 2 else 2)


@pytest.mark.parametrize("only", ONLY)
@pytest.mark.parametrize("rows", [[], [[]], [[], []], [["a"], []]])
def test_nothing_is_frequent(only: Any, rows: list[list[str]]) -> None:
    found = mine_itemsets(Transactions.from_lists(rows), min_support=2, only=only)
    assert (len(found), found.items.names, found.n, found.only) == (0, (), len(rows), only)
    assert found.sets.offsets.tolist() == [0]


def test_one_row() -> None:
    baskets = Transactions.from_lists([["a", "b", "a"]])
    assert count_itemsets(baskets, min_support="100%") == {"all": 3, "closed": 1, "maximal": 1}
    assert count_itemsets(baskets, min_support=1, only=["closed"]) == {"closed": 1}


def people() -> Table:
    rows = [("1", "F", "high", "x"), ("2", "F", "high", "x"), ("3", "M", "low", "x"), ("4", "F", "low", "x")]
    table = Table.from_rows(["id", "sex", "pay", "town"], rows, Schema(qi=("sex",), sa=("pay",), identifying=("id",)))
    return Table(table.columns, table.weights, table.schema, Missing("?", "drop"))


def test_a_table_gives_items_of_columns_without_the_identifying_ones() -> None:
    found = mine_itemsets(people(), min_support=2, only="maximal")
    assert listed(found) == [(["sex=F", "pay=high", "town=x"], 2), (["pay=low", "town=x"], 2)]
    assert found.items.pairs == (("sex", "F"), ("pay", "high"), ("pay", "low"), ("town", "x"))
    header = found.header
    assert (header.qi, header.sa, header.missing, header.missing_rule) == (("sex",), ("pay",), "?", "drop")


def test_merged_rows_count_for_all_their_people() -> None:
    table = people()
    columns = tuple(column for column in table.columns if column.name != "id")
    merged = Table(columns, table.weights, Schema(qi=("sex",), sa=("pay",))).merged()
    assert len(merged.weights) == 3
    assert listed(mine_itemsets(merged, min_support=1)) == listed(mine_itemsets(table, min_support=1))


def test_a_value_never_stands_beside_its_own_coarser_value() -> None:
    rows = [("apple", "1"), ("pear", "1"), ("leek", "1"), ("plum", "2")]
    table = Table.from_rows(["food", "n"], rows)
    tree = Hierarchy(
        "food", {"apple": ("fruit", "plant"), "pear": ("fruit", "plant", "*"), "leek": ("leek", "plant"), "plum": ("single",)}
    )
    found = mine_itemsets(table, min_support=1, hierarchies={"food": tree})
    names = [tuple(found.names(i)) for i in range(len(found))]
    assert ("food=fruit",) in names
    assert ("food=single",) in names  # the same people as plum, but another item
    assert names.count(("food=leek",)) == 1  # a coarser value that prints like a value is not a second item
    assert not any(len(name) > 1 and name[0].startswith("food") and name[1].startswith("food") for name in names)
    assert all("*" not in item for name in names for item in name)
    closed = mine_itemsets(table, min_support=3, only="closed", hierarchies={"food": tree})
    assert listed(closed) == [(["food=plant", "n=1"], 3)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_support": 0}, "min_support: must be more than 0"),
        ({"min_support": "150%"}, "min_support: is over 100 %"),
        ({"min_support": float("nan")}, "min_support: is not a finite number"),
        ({"min_support": 1, "only": "close"}, "--only: unknown choice 'close'. Did you mean 'closed'?"),
        (
            {"min_support": 1, "hierarchies": {"sexx": Hierarchy("sexx", {})}},
            "hierarchies: there is no column 'sexx'. Did you mean 'sex'?",
        ),
    ],
)
def test_wrong_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        mine_itemsets(people(), **given)
    assert str(caught.value).startswith(message)


def test_transactions_have_no_columns_for_hierarchies() -> None:
    with pytest.raises(OptionError, match="hierarchies: belong to the columns of a table"):
        mine_itemsets(Transactions.from_lists([["a"]]), min_support=1, hierarchies={"a": Hierarchy("a", {})})


def test_importing_mining_does_not_import_numba() -> None:
    import subprocess
    import sys

    code = "import sys, tacit.mining.itemsets, tacit.mining.rules; print([m for m in ('numba', 'duckdb', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_counting_by_threshold_is_counting_one_by_one() -> None:
    chance = random.Random(7)
    rows = [[item for item in "abcdef" if chance.random() < 0.6] for _ in range(50)]
    baskets = Transactions.from_lists(rows)
    table = Table.from_rows(["a", "b"], [("abc"[i % 3], "xy"[i * i % 2]) for i in range(40)])
    tree = {"a": Hierarchy("a", {"a": ("early", "*"), "b": ("early", "*"), "c": ("late", "*")})}
    cases: list[tuple[Transactions | Table, dict[str, Hierarchy] | None]] = [(baskets, None), (table, None), (table, tree)]
    both: tuple[Only, ...] = ("all", "closed")
    for data, trees in cases:
        for only in both:
            one_by_one = [
                count_itemsets(data, min_support=least, only=[only], hierarchies=trees)[only] for least in (30, 3, 12, 99)
            ]
            assert count_by_threshold(data, thresholds=[30, 3, 12, 99], only=only, hierarchies=trees) == one_by_one
    assert count_by_threshold(baskets, thresholds=[]) == []
    with pytest.raises(OptionError, match="depends on the threshold"):
        count_by_threshold(baskets, thresholds=[3], only="maximal")
