"""Tacit's verdicts on seeded random releases, against every world that fits what is published."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judge.cases import KINDS, draw
from tests.judge.verdicts import WRONG, judge

#: Kinds on which disagreements or many undecided verdicts are known: ``make judge`` runs them, too, and prints their seeds.
OPEN = (
    "rounded-closed-list",
    "column-any-list",
    "rules",
    "table-known",
    "list-known",
    "two-known",
    "blanks",
    "two-mixed-same",
    "two-mixed-nested",
    "two-mixed-churn",
    "two-mixed-unknown",
    "two-tables-churn",
)
#: Kinds of release that are judged on every run, on the same seeds.
AGREED = tuple(kind for kind in KINDS if kind not in OPEN)
SEEDS = range(40)


@pytest.mark.parametrize("kind", AGREED)
def test_no_false_clean_and_no_false_proof(kind: str) -> None:
    outcomes: Counter[str] = Counter()
    for seed in SEEDS:
        verdict = judge(draw(kind, seed))
        assert verdict.outcome not in WRONG, f"python -m tests.judge --kind {kind} --seed {seed}: {verdict.notes}"
        outcomes[verdict.outcome] += 1
    assert outcomes["right"] >= 0.9 * len(SEEDS), outcomes
    assert outcomes["undecided"] <= 0.05 * len(SEEDS), outcomes
