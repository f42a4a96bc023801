"""One deadline for all that a command does, and a backstop for what never asks for the time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tacit
import tacit.cli as program
from tacit.cli import cli
from tacit.itemsets import unpublished_itemsets
from tacit.model.audit import Target
from tacit.model.errors import LimitReached
from tacit.model.policy import Limits, check_time, seconds_left, time_limit


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still until it is moved."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_limits_end_with_the_deadline_of_all_that_runs(clock: list[float]) -> None:
    assert seconds_left() is None
    with time_limit(60):
        assert Limits.within(None).deadline == Limits.within(3600).deadline == 1060.0
        assert Limits.within(5).deadline == 1005.0
        with time_limit(3600):
            assert seconds_left() == 60.0
        clock[0] = 1061.0
        with pytest.raises(LimitReached):
            check_time("reading")
    check_time("reading")
    assert Limits.within(10).part(0.5).seconds_left == 5.0


def test_mining_and_audits_end_with_the_deadline(clock: list[float]) -> None:
    baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]])
    listed = tacit.mine_itemsets(baskets, min_support=40)
    with time_limit(60):
        clock[0] = 1100.0
        with pytest.raises(LimitReached):
            tacit.mine_itemsets(baskets, min_support=1)
        assert tacit.audit(listed).verdict != "clean"


def test_an_attack_that_is_stopped_anywhere_leaves_the_others_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: Target) -> Any:
        raise LimitReached("the time limit was reached", where="I02", remedy="Give more time")

    monkeypatch.setattr(unpublished_itemsets, "run", stopped)
    baskets = tacit.read_transactions([["a", "b"]] * 49 + [["a"]])
    found = tacit.audit(tacit.mine_itemsets(baskets, min_support=40))
    assert found.verdict == "exposed"
    assert found.attack("I02").status == "stopped"
    clean = tacit.audit(tacit.mine_itemsets(tacit.read_transactions([["a"]] * 50 + [["b"]] * 50), min_support=40))
    assert clean.verdict == "incomplete"


def test_reading_that_never_asks_for_the_time_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.csv").write_text("itemset,count,support\n")
    monkeypatch.setattr(program, "BACKSTOP", 0.2)
    begun: list[bool] = []

    def endless(*_: object) -> None:
        begun.append(True)
        while True:
            time.sleep(0.01)

    monkeypatch.setattr("tacit.cli.reading.gather_releases", endless)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["audit", "r.csv", "--time-limit", "0.5"])
    assert begun
    assert done.exit_code == 3
    assert done.stderr == "tacit audit: the time limit was reached. Give more time with --time-limit.\n"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_library_that_never_returns_is_ended_with_the_program(tmp_path: Path) -> None:
    source = (
        "import ctypes\n"
        "import tacit.cli as program\n"
        "from tacit.files.disk import replace_file\n"
        "program.BACKSTOP = 0.1\n"
        "program.watch_signals()\n"
        "library = ctypes.CDLL(None)\n"
        "with replace_file('r.csv'), program.backstop(0.1, 'tacit mine'):\n"
        "    program.signal.signal(program.signal.SIGALRM, lambda *_: None)\n"
        "    [library.usleep(900000) for _ in range(600)]\n"
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 3
    assert done.stderr == "tacit mine: the time limit was reached. Give more time with --time-limit.\n"
    assert os.listdir(tmp_path) == []
