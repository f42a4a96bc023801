"""The sweep over repairs says what each repair alone says, and nothing about the clock."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import get_args

import pytest

import tacit
from tacit.model.errors import InputError, OptionError
from tacit.model.release import Only
from tacit.model.repair import Goal
from tacit.repairs import REPAIRS
from tacit.reports.record import dump
from tacit.reports.sweep import report_repair_sweep
from tests import shell
from tests.repairs.test_repairs import database
from tests.shell import leaking_baskets

METHODS = [row.name for row in REPAIRS if "itemsets" in row.of]


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("goal", get_args(Goal))
@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_that_of_the_repair_alone(seed: int, goal: Goal, only: Only) -> None:
    rows, sigma, k = database(seed)
    data = tacit.read_transactions([sorted(row) for row in rows])
    release = tacit.mine_itemsets(data, min_support=sigma, only=only)
    policy = tacit.Policy(k=k)
    swept = tacit.sweep_repairs(release, data=data, policy=policy, goal=goal)
    assert [row.method for row in swept.rows] == METHODS
    assert swept.finished
    for row in swept.rows:
        alone = tacit.repair(release, data=data, policy=policy, goal=goal, method=row.method)
        assert row.verdict == alone.after.asked_verdict
        assert (row.verdict == "clean") == alone.ok
        assert row.findings == sum(run.findings for run in alone.after.runs)
        for name in ("itemsets_lost", "itemsets_ghost", "support_error_mean", "support_error_max"):
            assert getattr(row, name) == alone.cost[name]
        assert row.people_changed == alone.cost.get("people_changed", 0)
    if goal == "all" and swept.before:
        ways = tacit.suggest(release, data=data, policy=policy, seconds=300)
        assert {row.method: row.loss for row in swept.rows} == {one.method: one.loss for one in ways}
        assert (ways.best.loss if ways.best else None) == (swept.cheapest.loss if swept.cheapest else None)


def test_the_record_is_the_same_every_time_and_has_no_seconds() -> None:
    rows, sigma, k = database(1)
    data = tacit.read_transactions([sorted(row) for row in rows])
    release = tacit.mine_itemsets(data, min_support=sigma)
    first, again = (tacit.sweep_repairs(release, data=data, policy=tacit.Policy(k=k)) for _ in range(2))
    assert dump(first.to_dict()) == dump(again.to_dict())
    assert first == again
    assert "seconds" not in dump(first.to_dict()).decode()
    assert "seconds" not in report_repair_sweep(first).text()
    assert "seconds" in report_repair_sweep(first, with_seconds=True).text()


def test_methods_without_a_result_say_why() -> None:
    rows, sigma, k = database(1)
    release = tacit.mine_itemsets([sorted(row) for row in rows], min_support=sigma)
    swept = tacit.sweep_repairs(release, policy=tacit.Policy(k=k))
    for row in swept.rows:
        needs_data = next(method for method in REPAIRS if method.name == row.method).needs_data
        assert (row.verdict is None) == needs_data
        assert ("Give them with --data" in row.reason) == needs_data
    late = tacit.sweep_repairs(release, policy=tacit.Policy(k=k), time_limit=1e-9)
    assert not late.finished
    assert late.cheapest is None
    assert "NOT FINISHED" in report_repair_sweep(late).text()
    assert report_repair_sweep(late).picture.standalone()


def test_wrong_releases_and_data_are_refused() -> None:
    people = tacit.read_table({"sex": ["F", "M"] * 20, "ill": ["yes", "no"] * 20}, qi="sex", sa="ill")
    with pytest.raises(OptionError, match=r"^sweep repairs: holds rules, not itemsets"):
        tacit.sweep_repairs(tacit.mine_rules(people, min_support=1, min_confidence=0.5))
    release = tacit.mine_itemsets([["a", "b"]] * 49 + [["a"]], min_support=20)
    with pytest.raises(InputError, match="Give the data that the release was made from"):
        tacit.sweep_repairs(release, data=[["a"]] * 50)


def test_the_command_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    leaking_baskets(tmp_path)
    tacit.write_release(tacit.mine_itemsets("baskets.dat", min_support=20), "sets.csv")
    words = ("sweep", "repairs", "sets.csv", "--data", "baskets.dat", "--csv", "grid.csv", "--picture", "grid.svg")
    made = shell.record(*words)
    assert (made["of"], made["k"], made["goal"], made["findings"], made["cheapest"]) == ("repairs", 10, "all", 1, "suppressive")
    assert [row["method"] for row in made["repairs"]] == METHODS
    assert [line.split(",")[0] for line in Path("grid.csv").read_text().splitlines()] == ["method", *METHODS]
    ET.parse("grid.svg")
    told = shell.tacit(*words, "--report", "grid.html")
    assert told.exit_code == 0
    assert all(name in told.stdout and name in Path("grid.html").read_text() for name in METHODS)
