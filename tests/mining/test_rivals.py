"""Mined itemsets equal those of independent programs: pyfim's relim (all, closed), mlxtend (all, maximal)."""

from __future__ import annotations

import math
import random

import fim
import pandas as pd
import pytest
from mlxtend.frequent_patterns import fpgrowth, fpmax

from tacit.mining.itemsets import mine_itemsets
from tacit.model.release import Only
from tacit.model.table import Transactions

Baskets = list[list[int]]


def dense(rng: random.Random) -> Baskets:
    """Twelve questions with correlated answers: long itemsets."""
    rows = []
    for _ in range(500):
        group = rng.random()
        rows.append([3 * question + (rng.random() < group) + (rng.random() < 0.1) for question in range(12)])
    return rows


def sparse(rng: random.Random) -> Baskets:
    """A few items of many, some bought together."""
    bundles = [rng.sample(range(400), rng.randint(2, 6)) for _ in range(40)]
    rows = []
    for _ in range(3000):
        items = set(rng.choices(range(400), [1 / (1 + i) for i in range(400)], k=rng.randint(0, 6)))
        for bundle in rng.sample(bundles, rng.randint(0, 2)):
            items |= {item for item in bundle if rng.random() < 0.8}
        rows.append(sorted(items))
    return rows


CASES = [(dense, 0.1), (dense, 0.2), (sparse, 0.004), (sparse, 0.02)]


def ours(rows: Baskets, least: int, only: Only) -> dict[frozenset[int], int]:
    found = mine_itemsets(Transactions.from_lists(rows), min_support=least, only=only)
    return {frozenset(map(int, found.names(i))): int(found.lo[i]) for i in range(len(found))}


@pytest.mark.parametrize(("make", "share"), CASES)
@pytest.mark.parametrize(("only", "target"), [("all", "s"), ("closed", "c")])
def test_relim(make: type, share: float, only: Only, target: str) -> None:
    rows = make(random.Random(f"{share}"))
    least = math.ceil(share * len(rows))
    theirs = {frozenset(items): count for items, count in fim.relim(rows, target=target, supp=-least)}
    assert len(theirs) > 100
    assert ours(rows, least, only) == theirs


@pytest.mark.parametrize(("make", "share"), CASES)
@pytest.mark.parametrize(("only", "program"), [("all", fpgrowth), ("maximal", fpmax)])
def test_mlxtend(make: type, share: float, only: Only, program: type) -> None:
    rows = make(random.Random(f"{share}"))
    least = math.ceil(share * len(rows))
    width = 1 + max(item for row in rows for item in row)
    frame = pd.DataFrame([[item in set(row) for item in range(width)] for row in rows])
    # Their threshold is a share: half a person below ours asks for the same sets.
    found = program(frame, min_support=(least - 0.5) / len(rows))
    theirs = {
        frozenset(items): round(support * len(rows)) for support, items in zip(found["support"], found["itemsets"], strict=True)
    }
    assert len(theirs) > 20
    assert ours(rows, least, only) == theirs
