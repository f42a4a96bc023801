"""Tacit's verdicts on seeded random releases, against every world that fits what is published."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judge.cases import KINDS, draw
from tests.judge.verdicts import WRONG, judge

#: The same on every run; ``make judge`` goes on from there.
SEEDS = range(10)


@pytest.mark.parametrize("kind", KINDS)
def test_no_false_clean_and_no_false_proof(kind: str) -> None:
    """Takes seconds for some kinds: every world that fits a release is counted, and each answer is audited and verified."""
    outcomes: Counter[str] = Counter()
    for seed in SEEDS:
        verdict = judge(draw(kind, seed))
        assert verdict.outcome not in WRONG, f"python -m tests.judge --kind {kind} --seed {seed}: {verdict.notes}"
        outcomes[verdict.outcome] += 1
    assert outcomes["right"] >= 0.9 * len(SEEDS), outcomes
    assert outcomes["undecided"] <= 1, outcomes
