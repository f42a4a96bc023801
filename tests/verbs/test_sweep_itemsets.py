"""The sweep over thresholds, against brute force and against the audit of every release by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.errors import OptionError
from tacit.verbs.sweep import listed, sizes, thresholds
from tests.examples import examples
from tests.itemsets import naive_channels as naive
from tests.itemsets.naive_deduction import deduced_groups

ROWS = st.lists(st.frozensets(st.sampled_from("abcd")), min_size=1, max_size=24)
KS = st.sets(st.integers(1, 7), min_size=1, max_size=3)


def audited(rows: list[naive.Row], least: int, k: int) -> tacit.Audit:
    data = tacit.read_transactions([sorted(row) for row in rows])
    return tacit.audit(tacit.mine_itemsets(data, min_support=least), data=data, policy=tacit.Policy(k=k))


@settings(max_examples=examples(60), deadline=None)
@given(ROWS, st.sets(st.integers(1, 26), min_size=1, max_size=3), KS)
def test_every_cell_says_what_brute_force_and_the_audit_say(rows: list[naive.Row], supports: set[int], ks: set[int]) -> None:
    swept = tacit.sweep_itemsets([sorted(row) for row in rows], min_support=sorted(supports), k=sorted(ks), every_attack=True)
    assert [(cell.min_support, cell.k) for cell in swept.cells] == [
        (least, k) for least in sorted(supports, reverse=True) for k in sorted(ks)
    ]
    for cell in swept.cells:
        frequent = naive.frequent(rows, cell.min_support)
        assert (cell.itemsets, cell.closed) == (len(frequent), len(naive.closed(frequent)))
        assert cell.maximal == len(naive.maximal(frequent))
        channels = naive.maximal_channels(rows, cell.min_support, cell.k)
        assert cell.channels == len(channels)
        assert cell.groups_of_one == sum(count == 1 for _, _, count in channels)
        assert cell.deduced == len(deduced_groups(frequent, len(rows), cell.min_support, cell.k))
        one = audited(rows, cell.min_support, cell.k)
        assert cell.people == max(run.people for run in one.runs)
        assert cell.verdict == one.verdict


@settings(max_examples=examples(60), deadline=None)
@given(ROWS, st.sets(st.integers(1, 26), min_size=1, max_size=2), KS)
def test_the_lowest_threshold_is_the_lowest_of_all(rows: list[naive.Row], supports: set[int], ks: set[int]) -> None:
    """Every threshold is tried here; the search tries a few."""
    swept = tacit.sweep_itemsets([sorted(row) for row in rows], min_support=sorted(supports), k=sorted(ks))
    everything = range(1, len(rows) + 2)
    for one in swept.lowest:
        without_channels = [least for least in everything if not naive.maximal_channels(rows, least, one.k)]
        safe = [least for least in without_channels if not deduced_groups(naive.frequent(rows, least), len(rows), least, one.k)]
        assert one.published == min(without_channels, default=None)
        assert one.min_support == min(safe, default=None)
        assert one.decided
        # What the search rests on: safe thresholds are an upper range, for channels alone and for both attacks together.
        assert without_channels == list(everything)[len(everything) - len(without_channels) :]
        assert safe == list(everything)[len(everything) - len(safe) :]


def test_deduction_alone_is_not_monotone() -> None:
    """Why I02 is searched together with I01 only: what is deduced at 9 is published at 8."""
    rows = naive.rows_of("/".join(["a b"] * 8 + ["a"] + ["b"]))
    deduced = {least: len(deduced_groups(naive.frequent(rows, least), 10, least, 3)) for least in (8, 9, 10)}
    assert deduced == {8: 0, 9: 2, 10: 0}
    assert naive.maximal_channels(rows, 8, 3)
    swept = tacit.sweep_itemsets([sorted(row) for row in rows], min_support=[8, 9, 10], k=3)
    assert [(cell.channels, cell.deduced, cell.verdict) for cell in swept.cells] == [
        (0, 0, "clean"),
        (2, None, "exposed"),
        (2, None, "exposed"),
    ]


def test_where_i01_finds_nothing_i02_decides() -> None:
    """{b, c} is missing; 3 have b, 3 have c, all 5 have a: at least 1 has both, and fewer than 2."""
    baskets = [["a", "b"]] * 2 + [["a", "b", "c"]] + [["a", "c"]] * 2
    swept = tacit.sweep_itemsets(baskets, min_support=2, k=2)
    assert (swept.cells[0].channels, swept.cells[0].deduced, swept.cells[0].verdict) == (0, 2, "exposed")
    assert (swept.lowest[0].published, swept.lowest[0].min_support) == (2, 3)


def test_a_table_is_swept_as_it_is_mined() -> None:
    rows = [("F", "yes")] * 30 + [("M", "yes")] * 20 + [("M", "no")] * 3
    people = tacit.read_table({"id": [str(i) for i in range(53)], "sex": [a for a, _ in rows], "ill": [b for _, b in rows]})
    from dataclasses import replace

    from tacit.model.table import Schema

    people = replace(people, schema=Schema(identifying=("id",)))
    swept = tacit.sweep_itemsets(people, min_support="10%", k=[3, 10])
    release = tacit.mine_itemsets(people, min_support="10%")
    for cell in swept.cells:
        one = tacit.audit(release, data=people, policy=tacit.Policy(k=cell.k))
        assert (cell.itemsets, cell.channels, cell.verdict) == (len(release), one.attack("I01").findings, one.verdict)


def test_a_cell_is_clean_only_if_every_attack_finds_nothing() -> None:
    """Columns of a table tell more than sums and missing itemsets: X01 finds a group at 60 that I01 and I02 do not find."""
    people = tacit.read_table(Path(__file__).parents[2] / "examples" / "patients.csv")
    swept = tacit.sweep_itemsets(people, min_support=[60, 62], k=10)
    assert [(cell.channels, cell.deduced, cell.people, cell.verdict) for cell in swept.cells] == [
        (0, 0, 0, "clean"),
        (0, 0, 5, "exposed"),
    ]
    for cell in swept.cells:
        release = tacit.mine_itemsets(people, min_support=cell.min_support)
        assert tacit.audit(release, policy=tacit.Policy(k=10)).verdict == cell.verdict


def test_hierarchies_are_mined_along() -> None:
    from tacit.model.table import Hierarchy

    tree = {"age": Hierarchy("age", {"20": ("young",), "30": ("young",), "60": ()})}
    people = tacit.read_table({"age": ["20"] * 12 + ["30"] * 4 + ["60"] * 20, "ill": (["yes"] * 3 + ["no"] * 3) * 6})
    swept = tacit.sweep_itemsets(people, min_support=8, k=9, hierarchies=tree)
    release = tacit.mine_itemsets(people, min_support=8, hierarchies=tree)
    from tacit.verbs.data import with_coarser_items

    one = tacit.audit(release, data=with_coarser_items(people, tree), policy=tacit.Policy(k=9))
    cell = swept.cells[0]
    assert (cell.itemsets, cell.channels, cell.verdict) == (len(release), one.attack("I01").findings, one.verdict)
    assert cell.channels


def test_nobody_rare_means_that_every_threshold_is_safe() -> None:
    swept = tacit.sweep_itemsets([["a", "b"]] * 5 + [["c"]] * 5, min_support=3, k=5)
    assert swept.lowest[0].min_support == 1
    swept = tacit.sweep_itemsets([["a", "b"]] * 5 + [["c"]] * 5, min_support=3, k=11)
    assert (swept.lowest[0].min_support, swept.lowest[0].decided) == (None, True)


def test_a_time_limit_keeps_what_is_known_and_calls_nothing_safe() -> None:
    rows = [[str(item) for item in range(40) if item != person % 40] for person in range(400)]
    swept = tacit.sweep_itemsets(rows, min_support=[395, 300], k=5, time_limit=1.5)
    assert not swept.finished
    assert "time limit" in swept.reason
    assert swept.cells[0].channels is not None
    assert swept.cells[-1].itemsets is None
    assert all(cell.verdict != "clean" for cell in swept.cells if cell.channels is None)


@pytest.mark.parametrize(
    ("given", "counts"), [("10%, 5", [10, 5]), ([0.1, 5], [10, 5]), (7, [7]), (["5%", "5,5"], [5]), ([0.101], [11])]
)
def test_thresholds_come_as_one_or_many(given: Any, counts: list[int]) -> None:
    assert thresholds(given, 100, strict=False) == counts


@pytest.mark.parametrize("given", ["", [], "x", [0], ["200%"], [True], [None]])
def test_thresholds_that_make_no_sense(given: Any) -> None:
    with pytest.raises(OptionError, match="--min-support"):
        thresholds(given, 100, strict=False)


@pytest.mark.parametrize("given", ["", [], "x", 0, -3, 2.5, [True], "1e3", None])
def test_k_that_makes_no_sense(given: Any) -> None:
    with pytest.raises(OptionError, match="--k"):
        sizes(given)


def test_values_are_listed_and_texts_split_at_commas() -> None:
    assert listed("5%, 10%") == ["5%", "10%"]
    assert listed(3) == [3]
    assert listed([1, "2,3"]) == [1, "2", "3"]
