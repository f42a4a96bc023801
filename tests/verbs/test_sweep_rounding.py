"""The sweep over precisions says what the audit of the printed file says, and names the finest that is clean."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.errors import OptionError
from tacit.model.release import Itemsets, Only
from tacit.model.rounding import Precision, rounded
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import Row, proved_channels

ROWS = st.lists(st.frozensets(st.sampled_from("abcd"), min_size=1), min_size=4, max_size=50)


@settings(max_examples=12, deadline=None)
@given(ROWS, st.integers(2, 10), st.integers(2, 7), st.sampled_from(["all", "closed"]))
def test_every_setting_is_audited_as_it_would_be_printed(rows: list[Row], sigma: int, k: int, only: Only) -> None:
    release = released(rows, min(sigma, len(rows)), only)
    swept = tacit.sweep_rounding(release, base=[2, 5], decimals=[0, 1, 2], policy=tacit.Policy(k=k))
    assert [one.label for one in swept.settings] == ["exact counts", "2 decimals", "1 decimal", "0 decimals", "base 2", "base 5"]
    for one in swept.settings:
        printed = release if one.precision is None else rounded(release, one.precision)
        with tempfile.TemporaryDirectory() as folder:
            tacit.write_release(printed, Path(folder, "r.csv"))
            found = tacit.audit(Path(folder, "r.csv"), policy=tacit.Policy(k=k))
        assert one.findings == {run.code: run.findings for run in found.runs if run.status != "not-relevant"}
        assert one.verdict == {"incomplete": "undecided"}.get(found.verdict, found.verdict)
        if only == "all" and one.findings.get("I01") == 0:
            ends = {frozenset(printed.names(i)): (printed.count(i).lo, printed.count(i).hi) for i in range(len(printed))}
            assert not proved_channels(ends | {frozenset(): (len(rows), len(rows))}, k)
    clean = [one.precision for one in swept.settings if one.verdict == "clean" and one.precision]
    assert swept.finest_base == min((one.base for one in clean if one.base), default=None)
    assert swept.finest_decimals == max((one.decimals for one in clean if one.decimals is not None), default=None)


def test_the_repair_takes_the_finest_that_the_sweep_shows() -> None:
    baskets = tacit.read_transactions([["a", "b"]] * 60 + [["a"]] * 7 + [["b"]] * 40 + [["c"]] * 100)
    release = tacit.mine_itemsets(baskets, min_support=40)
    swept = tacit.sweep_rounding(release, data=baskets)
    done = tacit.repair(release, method="round")
    chosen = done.release.header.base, done.release.header.digits
    safe = [one for one in swept.settings if one.verdict == "clean" and one.precision and one.step >= 1]
    finest = min(safe, key=lambda one: one.step).precision
    assert swept.settings[0].verdict == "exposed"
    assert finest is not None
    assert chosen == (finest.base, finest.decimals)


def test_what_is_too_long_to_decide_is_undecided() -> None:
    """A set of 23 items: its supports follow from a closed list, but not what 3**23 patterns of intervals give."""
    items = [chr(97 + i) for i in range(23)]
    release = tacit.mine_itemsets([items] * 40 + [items[:-1]] * 40, min_support=30, only="closed")
    swept = tacit.sweep_rounding(release, base=[20], policy=tacit.Policy(k=5))
    assert swept.settings[1].verdict == "undecided"
    assert "too long to decide" in swept.settings[1].reason
    assert (swept.finest_base, swept.finished) == (None, True)
    told = tacit.repair(replace(release), method="round", policy=tacit.Policy(k=5), base=20)
    assert told.after.verdict == "incomplete"
    assert not told.ok


def test_a_time_limit_leaves_settings_undecided() -> None:
    release = released([frozenset("abc")] * 9 + [frozenset("a")], 2, "all")
    swept = tacit.sweep_rounding(release, base=[2], time_limit=1e-9)
    assert not swept.finished
    assert {one.verdict for one in swept.settings} == {"undecided"}


def test_only_exact_itemsets_are_swept() -> None:
    release = released([frozenset("ab")] * 9, 2, "all")
    with pytest.raises(OptionError, match="rounded already"):
        tacit.sweep_rounding(rounded(release, Precision(base=4)), base=[10])
    with pytest.raises(OptionError, match="--base"):
        tacit.sweep_rounding(release, base=[1])
    people = tacit.read_table({"q": ["a"] * 9, "s": ["x"] * 9}, qi="q", sa="s")
    with pytest.raises(OptionError, match="holds rules"):
        tacit.sweep_rounding(tacit.mine_rules(people, min_support=1, min_confidence=0.5))


def test_without_n_only_counts_are_rounded() -> None:
    release = released([frozenset("ab")] * 9, 2, "all")
    unknown = Itemsets(release.sets, release.lo, release.hi, release.items, replace(release.header, n=None), "all")
    swept = tacit.sweep_rounding(unknown)
    assert [one.label for one in swept.settings] == ["exact counts", "base 2", "base 5"]
    assert {one.verdict for one in swept.settings} <= {"undecided", "exposed"}
