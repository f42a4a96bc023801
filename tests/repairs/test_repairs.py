"""Every repair of itemsets on random small databases: what it promises, judged by brute force."""

from __future__ import annotations

import random

import pytest

import tacit
from tacit.model.release import Only
from tacit.repairs import REPAIRS
from tests.itemsets import naive_channels as naive
from tests.itemsets.naive_deduction import deduced_groups

ROW_CHANGING = ["substitute", "additive", "merge-channels", "exact-deficit", "suppressive"]


def database(seed: int) -> tuple[list[frozenset[str]], int, int]:
    chance = random.Random(seed)
    letters = "abcde"
    kinds = [frozenset(x for x in letters if chance.random() < 0.7) for _ in range(6)]
    rows = [chance.choice(kinds) for _ in range(40)]
    rows += [frozenset(x for x in letters if chance.random() < 0.6) for _ in range(chance.randint(0, 5))]
    return rows, chance.randint(8, 20), chance.randint(2, 5)


def repaired(seed: int, method: str, only: Only, goal: str) -> tuple[list[frozenset[str]], int, int, tacit.Repair]:
    rows, sigma, k = database(seed)
    data = tacit.read_transactions([sorted(row) for row in rows])
    release = tacit.mine_itemsets(data, min_support=sigma, only=only)
    done = tacit.repair(release, method=method, data=data, policy=tacit.Policy(k=k), goal=goal)  # type: ignore[arg-type]
    return rows, sigma, k, done


def published(done: tacit.Repair) -> dict[frozenset[str], int]:
    return {frozenset(line["itemset"]): line["count"] for line in done.release.records()}


def ends(done: tacit.Repair) -> dict[frozenset[str], naive.Interval]:
    """What is published about each count: an interval where it is rounded."""
    release = done.release
    assert isinstance(release, tacit.Itemsets)
    return {frozenset(release.names(i)): (release.count(i).lo, release.count(i).hi) for i in range(len(release))}


@pytest.mark.parametrize("method", [row.name for row in REPAIRS if "itemsets" in row.of])
@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(12))
def test_no_sum_gives_a_small_group_afterwards(seed: int, only: Only, method: str) -> None:
    _, _, k, done = repaired(seed, method, only, "frequent-only")
    assert done.ok
    if done.release.header.complete and only == "all" and len(done.release):
        assert naive.proved_channels(ends(done) | {frozenset(): (done.release.n or 0,) * 2}, k) == {}


@pytest.mark.parametrize("method", ["substitute", "suppressive", "raise-threshold"])
@pytest.mark.parametrize("seed", range(20))
def test_deduction_finds_nothing_either_when_that_is_the_goal(seed: int, method: str) -> None:
    _, _, k, done = repaired(seed, method, "all", "all")
    assert done.after.verdict == "clean"
    sigma = done.release.min_support or 1
    assert deduced_groups(published(done), done.release.n or 0, sigma, k) == {}


@pytest.mark.parametrize("method", ["additive", "merge-channels", "exact-deficit"])
@pytest.mark.parametrize("seed", range(12))
def test_adding_people_loses_and_invents_no_itemset(seed: int, method: str) -> None:
    rows, sigma, _, done = repaired(seed, method, "all", "frequent-only")
    assert set(published(done)) == set(naive.frequent(rows, sigma))
    assert (done.release.n or 0) >= len(rows)
    assert (done.cost["itemsets_lost"], done.cost["itemsets_ghost"]) == (0, 0)


@pytest.mark.parametrize("seed", range(12))
def test_the_deficit_never_adds_more_than_the_classical_method(seed: int) -> None:
    exact = repaired(seed, "exact-deficit", "all", "frequent-only")[3].release.n or 0
    assert exact <= (repaired(seed, "additive", "all", "frequent-only")[3].release.n or 0)


@pytest.mark.parametrize("seed", range(12))
def test_substitution_keeps_the_number_of_people(seed: int) -> None:
    rows, _, _, done = repaired(seed, "substitute", "closed", "all")
    assert done.release.n == len(rows)


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(12))
def test_the_safe_family_is_all_that_is_safe(seed: int, only: Only) -> None:
    rows, sigma, k, done = repaired(seed, "safe-family", only, "frequent-only")
    if done.before.asked_verdict == "clean":
        return
    safe = {
        items: count
        for items, count in naive.frequent(rows, sigma).items()
        if all(not 0 < sum(row & items == part for row in rows) < k for part in naive.subsets(items))
    }
    assert published(done) == safe
    assert not done.release.header.complete


@pytest.mark.parametrize("method", ROW_CHANGING)
def test_the_result_is_true_of_some_database(method: str) -> None:
    """Counts that come from real rows fit together: no group on any published set is negative."""
    for seed in range(6):
        _, _, _, done = repaired(seed, method, "all", "frequent-only")
        supports = published(done) | {frozenset[str](): done.release.n or 0}
        for whole in supports:
            for part in naive.subsets(whole):
                assert sum((-1) ** len(x) * supports[part | x] for x in naive.subsets(whole - part)) >= 0


def test_most_of_these_databases_need_a_repair() -> None:
    exposed = 0
    for seed in range(12):
        rows, sigma, k = database(seed)
        exposed += bool(naive.maximal_channels(rows, sigma, k))
    assert exposed >= 8
