"""Tacit's verdicts on seeded random releases, against every world that fits what is published."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judge.cases import draw
from tests.judge.verdicts import WRONG, judge

#: Kinds of release on which no disagreement is known; ``make judge`` runs all of them, on ever new seeds.
AGREED = (
    "exact-list",
    "closed-list",
    "gaps-list",
    "table",
    "hidden-table",
    "rounded-table",
    "several-tables",
    "buckets",
    "rules-known",
)
SEEDS = range(70)


@pytest.mark.parametrize("kind", AGREED)
def test_no_false_clean_and_no_false_proof(kind: str) -> None:
    outcomes: Counter[str] = Counter()
    for seed in SEEDS:
        verdict = judge(draw(kind, seed))
        assert verdict.outcome not in WRONG, f"python -m tests.judge --kind {kind} --seed {seed}: {verdict.notes}"
        outcomes[verdict.outcome] += 1
    assert outcomes["right"] >= 0.9 * len(SEEDS), outcomes
    assert outcomes["undecided"] <= 0.02 * len(SEEDS), outcomes
