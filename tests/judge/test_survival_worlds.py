"""Audits of seeded random survival tables, against every group of people that prints them."""

from __future__ import annotations

import pytest

from tests.judge.survival import HIDDEN_AT_CHOSEN, LIFE_TABLE, draw, judge

SEEDS = (*range(12), 17, 61, 72, 1217, 1225)  #: The last ones were wrong once.


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_survival_table_tells_is_true_of_all_who_print_it(seed: int) -> None:
    outcome, told = judge(draw(seed))
    assert outcome in ("right", "too large", "empty"), f"python -m tests.judge.survival --seed {seed} --cases 1: {told}"


@pytest.mark.parametrize("seed", range(4, 16))
def test_what_is_told_holds_where_nobody_leaves_at_time_zero(seed: int) -> None:
    outcome, told = judge(draw(seed, HIDDEN_AT_CHOSEN))
    assert outcome in ("right", "too large", "empty"), told


@pytest.mark.parametrize("seed", range(4, 16))
def test_what_a_life_table_tells_is_true_of_all_who_print_it(seed: int) -> None:
    outcome, told = judge(draw(seed, LIFE_TABLE))
    assert outcome in ("right", "too large", "empty"), told
