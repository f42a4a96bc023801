"""Tacit's verdicts on seeded random releases, against every world that fits what is published."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judge.cases import draw
from tests.judge.verdicts import WRONG, judge

#: Kinds of release that are judged on every run, on the same seeds; ``make judge`` runs all kinds.
AGREED = (
    "exact-list",
    "closed-list",
    "gaps-list",
    "table",
    "hidden-table",
    "rounded-table",
    "several-tables",
    "convention-table",
    "roles-table",
    "list-without-n",
    "buckets",
    "rules-known",
    "two-lists-same",
    "two-tables-same",
    "two-mixed-same",
    "two-mixed-unknown",
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
