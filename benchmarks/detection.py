"""How fast inference channels are found, against PMICD (C++, as its paper prints it) and pyfim's mining of maximal itemsets, in one run.

``python -m benchmarks.detection`` prints the section; with ``TACIT_BENCH_DATA`` naming a folder of FIMI files, these are measured as well.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import Baskets, cases
from benchmarks.mining import RIVALS, pyfim, seconds, table
from tacit.kernels.projection import Vertical, small_groups_on, vertical
from tacit.mining.itemsets import mine_itemsets
from tacit.model.policy import Policy
from tacit.model.release import Itemsets
from tacit.model.table import Transactions
from tacit.verbs.audit import audit

#: Data set, share of the people, k. The FIMI files are left out where they are not there.
SETTINGS = (
    ("games (connect-like)", 0.2, 30),
    ("survey (mushroom-like)", 0.05, 30),
    ("quest (T10I4D100K-like)", 0.001, 10),
    ("shop (retail-like)", 0.0005, 10),
    ("mushroom", 0.01, 30),
    ("chess", 0.4, 30),
    ("chess", 0.3, 30),
    ("retail", 0.001, 10),
)
SOURCE = Path(__file__).with_name("pmicd.cpp")
COMPILE = ("g++", "-O3", "-march=native", "-std=c++17")
#: PMICD is run on some of the maximal itemsets, evenly spread, where it would take longer than this on all; then for about so long.
PATIENCE, SAMPLED = 20.0, 8.0
#: The whole audit is measured on closed itemsets, where there are at most so many.
MOST_CLOSED = 3_000_000
GOAL_PMICD, GOAL_MINING = 200, 0.5
HEAD = (
    *("data", "min. support", "k", "maximal", "channels", "1 thread CPU s", f"{os.cpu_count()} threads wall s"),
    *("PMICD CPU s", "times faster", "memory kept CPU s", "times faster", "pyfim CPU s", "ratio"),
)


@dataclass(frozen=True)
class Pmicd:
    """PMICD's seconds on all maximal itemsets, as printed and with memory kept; ``looked_at`` says on how many of them they were measured."""

    seconds: float
    kept: float
    looked_at: int


@dataclass(frozen=True)
class Line:
    """One measurement; seconds of CPU for one thread, of the wall for all of them."""

    case: str
    share: float
    k: int
    maximal: int
    channels: int
    one_thread: float
    all_threads: float
    pmicd: Pmicd | None
    mining: float
    closed: int
    whole: float | None


def compiled(folder: Path) -> Path | None:
    """The compiled rival, or None where there is no compiler."""
    if shutil.which(COMPILE[0]) is None:
        return None
    program = folder / "pmicd"
    subprocess.run([*COMPILE, "-o", str(program), str(SOURCE)], check=True)
    return program


def found_by(rows: Vertical, sets: Itemsets, k: int, threads: int | None) -> list[Any]:
    """Everything that the kernels find."""
    return list(small_groups_on(rows, sets.sets.offsets, sets.sets.members, k, lambda _: None, threads))


def by_pmicd(program: Path, folder: Path, baskets: Baskets, maximal: Itemsets, k: int, sizes: Sequence[tuple[int, int]]) -> Pmicd:
    """PMICD on the same maximal itemsets; raises when it finds something else. ``sizes`` has channels and people by maximal itemset."""
    people, sets = folder / "people.dat", folder / "maximal.dat"
    people.write_text("".join(" ".join(map(str, basket)) + "\n" for basket in baskets))
    sets.write_text("".join(" ".join(maximal.items.names[item] for item in part) + "\n" for part in maximal.sets))

    def run(step: int, lists: str) -> tuple[int, float]:
        command = [str(program), str(people), str(sets), str(k), str(step), lists]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        looked_at, channels, concerned, spent = done.stdout.split()
        ours = sizes[::step]
        if (len(ours), sum(n for n, _ in ours), sum(m for _, m in ours)) != (int(looked_at), int(channels), int(concerned)):
            raise AssertionError(f"PMICD finds {channels} channels, Tacit {sum(n for n, _ in ours)}")
        return int(looked_at), float(spent)

    looked_at, spent = run(max(1, len(maximal) // 20), "new")  # first on a few, to see how long all would take
    whole = spent / looked_at * len(maximal)
    step = 1 if whole <= PATIENCE else math.ceil(whole / SAMPLED)
    looked_at, spent = run(step, "new")
    _, faster = run(step, "kept")
    return Pmicd(spent / looked_at * len(maximal), faster / looked_at * len(maximal), looked_at)


def channels_by_set(found: Sequence[Any], n_sets: int) -> list[tuple[int, int]]:
    """How many channels every set has, and how many people are in them."""
    which = np.concatenate([part[0] for part in found] or [np.empty(0, np.int64)])
    sizes = np.concatenate([part[2] for part in found] or [np.empty(0, np.int64)])
    people = np.bincount(which, weights=sizes, minlength=n_sets).astype(np.int64)
    return list(zip(np.bincount(which, minlength=n_sets).tolist(), people.tolist(), strict=True))


def measure(name: str, share: float, k: int, program: Path | None, folder: Path) -> Line:
    """Both sides on one setting, each from the data as it likes them."""
    baskets = next(case for case in cases() if case.name == name).baskets
    data = Transactions.from_lists(baskets)
    least = math.ceil(share * data.n)
    maximal = mine_itemsets(data, min_support=least, only="maximal")
    number = {item: i for i, item in enumerate(data.items.names)}
    wanted = np.array([number[item] for item in maximal.items.names], np.int64)
    rows = vertical(data.rows.offsets, data.rows.members, data.weights, wanted)
    sizes = channels_by_set(found_by(rows, maximal, k, None), len(maximal))
    one, _, _ = seconds(lambda: found_by(rows, maximal, k, 1), 3)
    _, every, _ = seconds(lambda: found_by(rows, maximal, k, None), 3)
    rival = None if program is None else by_pmicd(program, folder, baskets, maximal, k, sizes)
    mining = min(seconds(lambda which=which: pyfim(which, baskets, "maximal", least), 3)[0] for which in RIVALS)  # type: ignore[misc]
    closed = mine_itemsets(data, min_support=least, only="closed")
    whole = None
    if len(closed) <= MOST_CLOSED:
        policy = Policy(k=k)
        checked = audit(closed, data=data, policy=policy, attacks=["I01"]).attack("I01").findings
        if checked != sum(n for n, _ in sizes):
            raise AssertionError(f"{name}: the audit finds {checked} channels, the kernels {sum(n for n, _ in sizes)}")
        _, whole, _ = seconds(lambda: [audit(closed, data=data, policy=policy, attacks=["I01"])], 3)
    return Line(name, share, k, len(maximal), sum(n for n, _ in sizes), one, every, rival, mining, len(closed), whole)


def shown(line: Line) -> Sequence[object]:
    """A measurement as a row."""
    rival = ["-", "-", "-", "-"]
    if line.pmicd is not None:
        scaled = "" if line.pmicd.looked_at == line.maximal else "*"
        both = (line.pmicd.seconds, line.pmicd.kept)
        rival = [cell for spent in both for cell in (f"{spent:.2f}{scaled}", f"{spent / line.one_thread:,.0f}")]
    row = (
        line.case, f"{line.share:.4g}", line.k, f"{line.maximal:,}", f"{line.channels:,}", f"{line.one_thread:.4f}", f"{line.all_threads:.4f}",
        *rival, f"{line.mining:.3f}", f"{line.one_thread / line.mining:.2f}",
    )  # fmt: skip
    assert len(row) == len(HEAD)
    return row


def remarks(lines: Sequence[Line], *, has_compiler: bool) -> list[str]:
    """What the table does not say by itself."""
    told = []
    if not has_compiler:
        told.append("**PMICD was left out: there is no g++ on this machine.**")
    sampled = [line for line in lines if line.pmicd is not None and line.pmicd.looked_at < line.maximal]
    if sampled:
        on = ", ".join(
            f"{line.case} {line.share:.4g}: {line.pmicd.looked_at:,} of {line.maximal:,}" for line in sampled if line.pmicd
        )
        told.append(
            f"\\* PMICD would take more than {PATIENCE:.0f} s: measured on evenly spread maximal itemsets and scaled up ({on})."
        )
    return told


def run() -> str:
    """Measure everything; a section in Markdown."""
    at_hand = {case.name for case in cases()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled(folder)
        lines = [measure(*setting, program, folder) for setting in SETTINGS if setting[0] in at_hand]
    whole = [
        (line.case, f"{line.share:.4g}", line.k, f"{line.closed:,}", f"{line.channels:,}",
         "-" if line.whole is None else f"{line.whole:.3f}", f"{line.mining:.3f}")
        for line in lines
    ]  # fmt: skip
    faster = [(line.pmicd.seconds / line.one_thread, line) for line in lines if line.pmicd is not None]
    ratio, slowest = max(((line.one_thread / line.mining, line) for line in lines), key=lambda entry: entry[0])
    against = ""
    if faster:
        times, least = min(faster, key=lambda entry: entry[0])
        against = f"Against PMICD on one thread: at least **{times:,.0f}** times faster ({least.case} {least.share:.4g}; goal: {GOAL_PMICD})."
    return "\n".join(
        [
            "## Finding inference channels",
            "",
            "All groups of fewer than k people on all maximal itemsets. Tacit starts from the maximal itemsets and the rows by item, on one",
            "thread and on all; PMICD (`benchmarks/pmicd.cpp`: item lists, lexicographic `std::sort`, a scan for runs, compiled with",
            f"`{' '.join(COMPILE)}`) from the same itemsets and the rows as lists. Both find the same. The time that pyfim takes to mine",
            "the maximal itemsets, with the faster of its `fpgrowth` and `relim`, is shown for scale: the search should be cheap after mining.",
            "The paper's PMICD makes a new projected database for every maximal itemset; reusing its memory is often faster and is shown as",
            "well.",
            "",
            table(HEAD, [shown(line) for line in lines]),
            "",
            *remarks(lines, has_compiler=program is not None),
            against,
            f"Against mining on one thread: at most **{ratio:.2f}** of pyfim's time ({slowest.case} {slowest.share:.4g}; goal: {GOAL_MINING}).",
            "",
            "The whole call `tacit.audit(closed, data=data)` with the attack I01, wall seconds on all cores: it also finds the maximal itemsets",
            "among the closed ones, compares every published count with the data, and sorts what it found"
            + (f" (left out above {MOST_CLOSED:,} closed itemsets)." if any(line.whole is None for line in lines) else "."),
            "",
            table(["data", "min. support", "k", "closed itemsets", "findings", "audit wall s", "pyfim maximal CPU s"], whole),
        ]
    )


def main() -> int:
    """Print the section."""
    print(run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
