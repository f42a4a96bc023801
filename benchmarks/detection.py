"""How fast inference channels are found, against PMICD (C++, as its paper prints it) and pyfim's mining of maximal itemsets, in one run.

``python -m benchmarks.detection`` prints the section; with ``TACIT_BENCH_DATA`` naming a folder of FIMI files, these are measured as well.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import Baskets, cases
from benchmarks.mining import RIVALS, pyfim, seconds, table
from tacit.kernels.projection import Crowd, Keys, groups_on
from tacit.mining.itemsets import mine_itemsets
from tacit.model.policy import Policy
from tacit.model.release import Itemsets, Sets
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
WHOLE_HEAD = ("data", "min. support", "k", "closed itemsets", "findings", "audit CPU s", "wall s", "pyfim maximal CPU s", "ratio")

#: Where the goal of the whole call, less than the time of the mining, is missed, and why.
WHY_WHOLE = """A call takes less than the mining where lists are short. Where more than a million closed itemsets stand for some thousand
maximal ones, it takes longer than mining only the maximal ones, which never looks at the rest. Of 0.22 s of CPU on games, finding
the maximal itemsets takes 0.05 s, of which 0.03 s are reading the list once and comparing neighbours; counting takes 0.09 s: 0.02 s
to assign 1.6 million sets to parts of the search, 0.03 s to read their 28 million items, 0.03 s to count, 20 ns each; the groups
take 0.03 s, and writing out ten findings 0.03 s. Of 0.32 s on survey these are 0.04, 0.07, 0.10 and 0.03 s, and sorting 7.9 million
findings takes 0.05 s; of 0.23 s on chess 0.05, 0.08, 0.04 and 0.04 s. No count may go unchecked, since a finding is proved only for data
that are those of the list, and reading the list twice, once for each of these questions, is already a third of the mining on games.
Counting all sets on their own, in the order of the list, was tried: on games it visits nine times as many rows as the search on
maximal sets, and takes twice as long. The groups alone take half of the mining on survey, where 7.9 million of them are written,
12 ns each, from 25 million visits of rows."""

#: Data set, share of the people, k of the deductions.
DEDUCED = (("games (connect-like)", 0.95, 100), ("chess", 0.8, 10))
DEDUCED_HEAD = ("data", "min. support", "k", "closed itemsets", "items", "findings", "open", "CPU s", "wall s", "GB")


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
    whole: tuple[float, float] | None


def compiled(folder: Path) -> Path | None:
    """The compiled rival, or None where there is no compiler."""
    if shutil.which(COMPILE[0]) is None:
        return None
    program = folder / "pmicd"
    subprocess.run([*COMPILE, "-o", str(program), str(SOURCE)], check=True)
    return program


def found_by(crowd: Crowd, sets: Itemsets, k: int, threads: int | None) -> list[Any]:
    """Everything that the kernels find, as numbers, which is what an audit keeps."""
    every = np.arange(len(sets))
    return list(groups_on(crowd, (sets.sets.offsets, sets.sets.members), every, k, lambda _: None, threads=threads))


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
    on = np.zeros(n_sets, np.int64)
    people = np.zeros(n_sets, np.int64)
    for part in found:
        assert isinstance(part, Keys)  # no set is longer than a key
        on[part.numbers] = part.on
        people[part.numbers] = part.people
    return list(zip(on.tolist(), people.tolist(), strict=True))


def measure(name: str, share: float, k: int, program: Path | None, folder: Path) -> Line:
    """Both sides on one setting, each from the data as it likes them."""
    baskets = next(case for case in cases() if case.name == name).baskets
    data = Transactions.from_lists(baskets)
    least = math.ceil(share * data.n)
    maximal = mine_itemsets(data, min_support=least, only="maximal")
    number = {item: i for i, item in enumerate(data.items.names)}
    wanted = np.array([number[item] for item in maximal.items.names], np.int64)
    crowd = Crowd.of(data.rows, data.weights, wanted)
    sizes = channels_by_set(found_by(crowd, maximal, k, None), len(maximal))
    one, _, _ = seconds(lambda: found_by(crowd, maximal, k, 1), 3)
    _, every, _ = seconds(lambda: found_by(crowd, maximal, k, None), 3)
    rival = None if program is None else by_pmicd(program, folder, baskets, maximal, k, sizes)
    mining = min(seconds(lambda which=which: pyfim(which, baskets, "maximal", least), 3)[0] for which in RIVALS)  # type: ignore[misc]
    closed = mine_itemsets(data, min_support=least, only="closed")
    whole = None
    if len(closed) <= MOST_CLOSED:
        policy = Policy(k=k)
        checked = audit(closed, data=data, policy=policy, attacks=["I01"]).attack("I01").findings
        if checked != sum(n for n, _ in sizes):
            raise AssertionError(f"{name}: the audit finds {checked} channels, the kernels {sum(n for n, _ in sizes)}")
        whole = seconds(partial(look_at_audit, closed, data, policy), 3)[:2]
    return Line(name, share, k, len(maximal), sum(n for n, _ in sizes), one, every, rival, mining, len(closed), whole)


def look_at_audit(closed: Itemsets, data: Transactions, policy: Policy) -> list[Any]:
    """Audit a list that was not audited before, and read the ten worst findings."""
    fresh = replace(closed, sets=Sets(closed.sets.offsets, closed.sets.members))
    return list(audit(fresh, data=data, policy=policy, attacks=["I01"]).findings[:10])


def deduced(name: str, share: float, k: int) -> Sequence[object]:
    """A row about I02 on the closed itemsets: what is found and left open, seconds of CPU and of the wall, memory."""
    baskets = next(case for case in cases() if case.name == name).baskets
    closed = mine_itemsets(Transactions.from_lists(baskets), min_support=math.ceil(share * len(baskets)), only="closed")

    def call() -> list[Any]:
        fresh = replace(closed, sets=Sets(closed.sets.offsets, closed.sets.members))
        return [audit(fresh, policy=Policy(k=k), attacks=["I02"]).attack("I02")]

    run = call()[0]
    cpu, wall, _ = seconds(call, 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    row = (name, f"{share:.4g}", k, f"{len(closed):,}", len(closed.items), f"{run.findings:,}", f"{run.undecided:,}")
    return *row, f"{cpu:.2f}", f"{wall:.2f}", f"{peak:.1f}"


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
         *(("-", "-", f"{line.mining:.3f}", "-") if line.whole is None else
           (f"{line.whole[0]:.3f}", f"{line.whole[1]:.3f}", f"{line.mining:.3f}", f"{line.whole[0] / line.mining:.2f}")))
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
            "All groups of fewer than k people on all maximal itemsets. Tacit starts from the maximal itemsets and the rows, known by item, on",
            "one thread and on all; PMICD (`benchmarks/pmicd.cpp`: item lists, lexicographic `std::sort`, a scan for runs, compiled with",
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
            "The whole call `tacit.audit(closed, data=data)` with the attack I01 on a list that was not audited before, and reading its ten",
            "worst findings, on all cores: it also finds the maximal itemsets among the closed ones, compares every published count with",
            "the data, and sorts what it found"
            + (f" (left out above {MOST_CLOSED:,} closed itemsets)." if any(line.whole is None for line in lines) else "."),
            "The ratio is that of CPU times; a quiet machine takes less by the clock, since all cores work.",
            "",
            table(WHOLE_HEAD, whole),
            "",
            WHY_WHOLE,
            "",
            "Deducing unpublished itemsets (I02) from the closed ones alone, without the data; *open* is what is left undecided, and the",
            "memory is the peak of this process.",
            "",
            table(DEDUCED_HEAD, [deduced(*setting) for setting in DEDUCED if setting[0] in at_hand]),
        ]
    )


def main() -> int:
    """Print the section."""
    print(run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
