"""Patterns on long sets with rounded counts: what is dropped for its width is nothing that could have been proved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.itemsets import inference_channels
from tacit.itemsets.inference_channels import Patterns, narrow_patterns_on, patterns_on
from tacit.itemsets.supports import Supports
from tacit.model.errors import LimitReached
from tacit.model.release import Header, Only
from tests.examples import examples
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import Row


def columns(found: Patterns) -> list[tuple[int, ...]]:
    """The patterns in an order of their own."""
    parts = (found.line, found.present, found.free, found.lo, found.hi, found.further, found.key)
    return sorted(zip(*(part.tolist() for part in parts), strict=True))


def compare(supports: Supports, k: int) -> None:
    """Compare sets of a length together, each alone, and their narrow patterns."""
    together = [patterns_on(supports, cubes, k) for cubes in supports.cubes(30, lambda length: 3**length)]
    alone = [patterns_on(supports, cubes, k) for cubes in supports.cubes(30, lambda length: 3**length, one_by_one=True)]
    narrow = [narrow_patterns_on(supports, line, k, lambda: None) for line in supports.maximal.tolist()]
    assert len(alone) == len(narrow) >= len(together)
    if not narrow:
        return
    sparse = Patterns.concatenate([one for one in narrow if one is not None])
    for dense in (together, alone):
        assert columns(Patterns.concatenate(dense)) == columns(sparse)


@settings(max_examples=examples(80), deadline=None)
@given(
    st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=1, max_size=40),
    st.integers(1, 6),
    st.integers(1, 12),
    st.sampled_from(["all", "closed"]),
    st.randoms(use_true_random=False),
)
def test_narrow_patterns_are_all_patterns(rows: list[Row], sigma: int, k: int, only: Only, chance: object) -> None:
    """Any widths, unlike each other, with and without lines left out."""
    import random

    assert isinstance(chance, random.Random)
    release = released(rows, min(sigma, len(rows)), only)
    below = np.array([chance.choice((0, 0, 1, 3)) for _ in range(len(release))], np.int64)
    above = np.array([chance.choice((0, 0, 1, 4)) for _ in range(len(release))], np.int64)
    blurred = replace(release, lo=np.maximum(release.lo - below, 0), hi=release.hi + above)
    compare(Supports(blurred), k)
    kept = np.array([i for i in range(len(release)) if chance.random() < 0.8], np.int64)
    gappy = replace(blurred, only="all").take(kept, Header(n=chance.choice((None, len(rows)))))
    compare(Supports(gappy), k)


def long_release(base: int) -> tacit.Itemsets:
    """One maximal set of 16 items; 3 people lack the last of them."""
    items = [f"i{number:02}" for number in range(16)]
    release = tacit.mine_itemsets([items] * 200 + [items[:-1]] * 3 + [[]] * 300, min_support=50, only="closed")
    done = tacit.repair(release, method="round", base=base, policy=tacit.Policy(k=4))
    assert isinstance(done.release, tacit.Itemsets)
    return done.release


def test_a_long_set_is_decided_where_rounding_is_coarse() -> None:
    release = long_release(10)
    assert release.sets.lengths.max() == 16
    found = tacit.audit(release, policy=tacit.Policy(k=4))
    assert (found.attack("I01").status, found.attack("I01").undecided, len(found.findings)) == ("ran", 0, 0)


def test_a_long_set_gives_what_bounds_still_prove() -> None:
    """Each published count is blurred, but for the two whose difference gives three people away."""
    release = long_release(40)
    full, without_last = np.argsort(-release.sets.lengths)[:2]
    lo, hi = release.lo.copy(), release.hi.copy()
    lo[full] = hi[full] = 200
    lo[without_last] = hi[without_last] = 203
    found = tacit.audit(replace(release, lo=lo, hi=hi), policy=tacit.Policy(k=4), attacks=["I01"])
    assert found.verdict == "exposed"
    assert found.findings[0].statement.startswith("3 people have ")
    assert found.findings[0].statement.endswith("but not i15.")


def test_too_many_narrow_patterns_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference_channels, "MOST_NARROW", 100)
    found = tacit.audit(long_release(2), policy=tacit.Policy(k=40), attacks=["I01"])
    assert found.attack("I01").undecided == 1
    assert found.verdict == "incomplete"


def test_the_time_limit_is_noticed() -> None:
    release = long_release(10)

    def stop() -> None:
        raise LimitReached("late", where="test", remedy="wait")

    with pytest.raises(LimitReached):
        narrow_patterns_on(Supports(release), int(np.argmax(release.sets.lengths)), 20, stop)
