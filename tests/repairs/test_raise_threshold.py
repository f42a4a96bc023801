"""The repair that raises the threshold finds the lowest safe one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tacit.itemsets.inference_channels import run
from tacit.model.audit import Audit, Target
from tacit.model.errors import OptionError
from tacit.model.policy import Policy
from tacit.model.release import Itemsets, Only, Release
from tacit.model.repair import RepairCase
from tacit.model.table import Transactions
from tacit.repairs.raise_threshold import above, propose
from tacit.verbs.repair import cost_of, people_changed
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import maximal_channels


def case_of(release: Itemsets, k: int, audit: Callable[[Release, Transactions | None], Audit]) -> RepairCase:
    return RepairCase(
        release, k, audit, lambda _: pytest.fail("no mining is needed"), lambda _: pytest.fail("no mining is needed")
    )


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(25))
def test_the_lowest_safe_threshold_is_found(seed: int, only: Only) -> None:
    chance = random.Random(seed)
    rows = [frozenset(x for x in "abcde" if chance.random() < 0.75) for _ in range(30)]
    sigma, k = chance.randint(3, 10), chance.randint(2, 5)
    release = released(rows, sigma, only)

    def audit(candidate: Release, _: object = None) -> Audit:
        return Audit((), {}, Policy(k=k), (run(Target(candidate, Policy(k=k))),))

    result = propose(case_of(release, k, audit)).release
    assert isinstance(result, Itemsets)
    assert audit(result).ok
    threshold = result.min_support or 0
    assert not maximal_channels(rows, threshold, k)
    removed = _removed(release, result)
    if removed:
        assert maximal_channels(rows, max(removed), k), "one lower would do as well"
    assert len(result) == 0 or threshold == result.lo.min(), "the header gives the largest count away that was left out"
    assert cost_of(release, result)["itemsets_lost"] == len(release) - len(result)
    assert cost_of(release, result)["support_error_max"] == 0


def _removed(release: Itemsets, result: Itemsets) -> list[int]:
    """The counts of the itemsets that were left out."""
    kept = {frozenset(result.names(i)) for i in range(len(result))}
    return [release.count(i).lo for i in range(len(release)) if frozenset(release.names(i)) not in kept]


@pytest.mark.parametrize("seed", range(10))
def test_without_n_the_lowest_threshold_without_a_finding_is_found(seed: int) -> None:
    chance = random.Random(seed)
    rows = [frozenset(x for x in "abcde" if chance.random() < 0.75) for _ in range(30)]
    release = released(rows, 5, "all")
    release = replace(release, header=replace(release.header, n=None))

    def audit(candidate: Release, _: object = None) -> Audit:
        return Audit((), {}, Policy(k=3), (run(Target(candidate, Policy(k=3))),))

    result = propose(case_of(release, 3, audit)).release
    assert isinstance(result, Itemsets)
    assert audit(result).verdict == "incomplete"
    threshold = result.min_support or 0
    assert not [group for group in maximal_channels(rows, threshold, 3) if group[0]]
    removed = _removed(release, result)
    if removed:
        assert audit(above(release, max(removed))).verdict == "exposed"
    assert "people_before" not in cost_of(release, result)


def test_maximal_itemsets_cannot_be_repaired_this_way() -> None:
    release = replace(released([frozenset("ab")] * 4, 2, "all"), only="maximal")
    with pytest.raises(OptionError, match="needs a list of all or of closed itemsets"):
        propose(case_of(release, 3, lambda *_: pytest.fail("no audit is needed")))


def test_costs_count_ghosts_and_errors() -> None:
    before = released([frozenset("ab")] * 4 + [frozenset("a")], 1, "all")
    after = replace(above(before, 5), lo=np.array([4]), hi=np.array([4]))
    assert cost_of(before, after) == {
        "itemsets_lost": 2,
        "itemsets_ghost": 0,
        "supports_changed": 1.0,
        "support_error_mean": 0.2,
        "support_error_max": 0.2,
        "people_before": 5,
        "people_after": 5,
    }
    assert cost_of(after, before)["itemsets_ghost"] == 2


def test_people_changed_counts_the_fewest_that_explain_the_difference() -> None:
    before = Transactions.from_lists([["a"], ["a"], ["b"]])
    assert people_changed(before, before) == 0
    assert people_changed(before, Transactions.from_lists([["b"], ["a"], ["b"]])) == 1
    assert people_changed(before, Transactions.from_lists([["b", "a"], ["a"]])) == 2
    assert people_changed(before, Transactions.from_lists([["a"], ["a"], ["b"], ["b"], ["b"]])) == 2
