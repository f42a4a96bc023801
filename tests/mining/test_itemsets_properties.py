"""Mined itemsets are those of brute force: all, closed, maximal, from masks and from lists, on one and on two cores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.mining import search
from tacit.mining.database import Rows
from tacit.mining.itemsets import count_itemsets, mine_itemsets
from tacit.model.release import ONLY, Items, Only, Sets
from tacit.model.table import Transactions
from tests.examples import examples
from tests.mining import naive_mining

Found = list[tuple[tuple[int, ...], int]]


def mined(
    rows: Sequence[Sequence[int]], least: int, only: Only, *, weights: Sequence[int] | None = None, dense: bool, cores: int
) -> Found:
    """Sets and counts in the order in which they come out."""
    n_items = 1 + max((item for row in rows for item in row), default=0)
    people = np.ones(len(rows), np.int64) if weights is None else np.array(weights, np.int64)
    database, found, total = search.mine(
        Rows(Sets.from_lists(rows), people, n_items), least, search.Wanted(only), search.Limits(threads=cores), dense=dense
    )
    ends = found.offsets.tolist()
    sets = [tuple(database.kept[found.members[a:b]].tolist()) for a, b in pairwise(ends)]
    assert total == len(sets)
    return list(zip(sets, found.counts.tolist(), strict=True))


def expected(rows: Sequence[Sequence[int]], least: int, only: Only, weights: Sequence[int] | None = None) -> Found:
    found = naive_mining.chosen(naive_mining.frequent(rows, least, weights), only)
    return sorted((tuple(sorted(items)), count) for items, count in found.items())


def random_rows(rng: random.Random) -> list[list[int]]:
    """A small database: sometimes with an item in every row, with equal rows, empty rows, or one row only."""
    n_items, n_rows = rng.randint(1, 8), rng.choice([1, 2, 5, 10, 30])
    density = rng.choice([0.2, 0.5, 0.8, 0.95])
    rows = [[item for item in range(n_items) if rng.random() < density] for _ in range(n_rows)]
    if rng.random() < 0.4:
        everywhere = rng.sample(range(n_items), rng.randint(1, n_items))
        rows = [sorted({*row, *everywhere}) for row in rows]
    if rng.random() < 0.4:
        rows += rng.choices(rows, k=rng.randint(1, 20))
    if rng.random() < 0.2:
        rows += [[]] * rng.randint(1, 3)
    rng.shuffle(rows)
    return rows


@pytest.mark.parametrize("only", ONLY)
@pytest.mark.parametrize("dense", [True, False])
def test_thousands_of_small_databases(only: Only, dense: bool) -> None:
    rng = random.Random(f"{only} {dense}")
    for _ in range(700):
        rows = random_rows(rng)
        least = rng.randint(1, len(rows) + 1)
        assert mined(rows, least, only, dense=dense, cores=1) == expected(rows, least, only)


@pytest.mark.parametrize("only", ONLY)
@pytest.mark.parametrize("dense", [True, False])
def test_rows_that_stand_for_many_people(only: Only, dense: bool) -> None:
    rng = random.Random(f"weights {only} {dense}")
    for _ in range(150):
        rows = random_rows(rng)
        weights = [rng.choice([0, 1, 1, 2, 3, 13, 1000]) for _ in rows]
        least = rng.randint(1, max(1, sum(weights)))
        assert mined(rows, least, only, weights=weights, dense=dense, cores=1) == expected(rows, least, only, weights)


@given(
    st.lists(st.lists(st.integers(0, 6), max_size=7, unique=True), max_size=12),
    st.integers(1, 6),
    st.sampled_from(ONLY),
    st.booleans(),
)
@settings(max_examples=examples(200), deadline=None)
def test_any_small_database(rows: list[list[int]], least: int, only: Only, dense: bool) -> None:
    assert mined(rows, least, only, dense=dense, cores=1) == expected(rows, least, only)


@pytest.mark.parametrize("only", ONLY)
@pytest.mark.parametrize("dense", [True, False])
def test_many_items_and_many_rows(only: Only, dense: bool) -> None:
    """More than 64 items, several words per set of rows, and few items per row."""
    rng = random.Random(f"wide {only} {dense}")
    for _ in range(6):
        n_items = rng.choice([70, 150, 300])
        popular = [1 / (1 + item) ** 0.7 for item in range(n_items)]
        rows = [sorted(set(rng.choices(range(n_items), popular, k=rng.randint(0, 8)))) for _ in range(rng.choice([300, 1000]))]
        least = rng.choice([2, 3, 10])
        assert mined(rows, least, only, dense=dense, cores=1) == expected(rows, least, only)


@pytest.mark.parametrize("only", ONLY)
@pytest.mark.parametrize("dense", [True, False])
def test_shared_searches_give_the_same_in_the_same_order(only: Only, dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SHARE_AFTER", -1.0)
    monkeypatch.setattr(search, "WORK_PER_CALL", 50)
    rng = random.Random(f"shared {only} {dense}")
    for _ in range(40):
        rows = random_rows(rng)
        least = rng.randint(1, 3)
        alone = mined(rows, least, only, dense=dense, cores=1)
        assert mined(rows, least, only, dense=dense, cores=2) == alone == expected(rows, least, only)


@pytest.mark.parametrize("only", ONLY)
@pytest.mark.parametrize("dense", [True, False])
def test_small_arrays_and_many_pauses_change_nothing(only: Only, dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"BITS": 1, "BOOK": 1, "LINES": 3, "MEMBERS": 20, "WORK_PER_CALL": 1}.items():
        monkeypatch.setattr(search, name, value)
    rng = random.Random(f"pauses {only} {dense}")
    for _ in range(60):
        rows = random_rows(rng)
        least = rng.randint(1, 3)
        assert mined(rows, least, only, dense=dense, cores=1) == expected(rows, least, only)


@given(st.lists(st.lists(st.sampled_from(["b", "a", "10", "9"]), max_size=4), max_size=8), st.integers(1, 4))
@settings(max_examples=examples(60), deadline=None)
def test_public_results_name_their_items(rows: list[list[str]], least: int) -> None:
    baskets = Transactions.from_lists(rows)
    for only in ONLY:
        found = mine_itemsets(baskets, min_support=least, only=only)
        names = {frozenset(found.names(i)): found.count(i).lo for i in range(len(found))}
        assert names == naive_mining.chosen(naive_mining.frequent(rows, least), only)
        assert len(names) == len(found) == count_itemsets(baskets, min_support=least, only=[only])[only]
        used = {item for items in names for item in items}
        assert found.items == Items(tuple(name for name in baskets.items.names if name in used))
