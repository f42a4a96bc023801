"""How fast itemsets are mined, against pyfim (C) and mlxtend (Python), as ratios within one run.

``python -m benchmarks.mining`` prints the section; with ``TACIT_BENCH_DATA`` naming a folder of FIMI files, these are measured as well.
"""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.datasets import Baskets, Case, cases
from tacit.mining.itemsets import mine_itemsets
from tacit.model.release import ONLY, Only
from tacit.model.table import Transactions

TARGETS = {"all": "s", "closed": "c", "maximal": "m"}

#: The programs of pyfim that are compared with: its usual one, and the one that is right where an item is in every row.
RIVALS = ("fpgrowth", "relim")
REPEATS = 5
MOST = 40_000_000  #: Itemsets of the largest case, with room.

#: Why the aim of half of pyfim's time for maximal itemsets is missed on sparse data.
WHY_SPARSE = """Of maximal itemsets, half of pyfim's time is reached where data are dense, not on quest and shop, where the search itself is
short: of 0.11 s on quest, indexing 100,000 rows takes 0.024 s and the search 0.022 s; 0.057 s make the conditional databases
of 979 items, in which every pair of items of a row is visited twice, once to count and once to write what is frequent. Of
0.085 s on shop these are 0.019, 0.032 and 0.031 s."""

#: mlxtend is slow: it is measured once, at supports that leave it some seconds of work.
SLOW_CASES = (("games (connect-like)", 0.96), ("survey (mushroom-like)", 0.12), ("quest (T10I4D100K-like)", 0.01))


@dataclass(frozen=True)
class Line:
    """One measurement: how many itemsets, our seconds of CPU, the fastest rival's."""

    case: str
    only: Only
    share: float
    found: int
    ours: float
    wall: float
    theirs: float
    rival: str

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def share_of(case: Case, only: Only) -> float:
    """The share of people that a case is mined at."""
    return {"all": case.everything, "closed": case.closed, "maximal": case.maximal}[only]


def seconds(call: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, float, int]:
    """The least CPU time and the least wall time of several calls, and how many things the last one returned."""
    cpu = wall = math.inf
    size = 0
    for _ in range(repeats):
        gc.collect()
        begun, clock = time.process_time(), time.perf_counter()
        result = call()
        cpu, wall = min(cpu, time.process_time() - begun), min(wall, time.perf_counter() - clock)
        size = len(result)
        del result
    return cpu, wall, size


def pyfim(name: str, baskets: Baskets, only: Only, least: int) -> Any:
    """What a program of pyfim returns: a list of tuples."""
    import fim

    return getattr(fim, name)(baskets, target=TARGETS[only], supp=-least)


def measure(case: Case, only: Only) -> Line:
    """Both sides on one question, each from the data as it likes them."""
    baskets = case.baskets
    data = Transactions.from_lists(baskets)
    share = share_of(case, only)
    least = math.ceil(share * data.n)
    ours, wall, found = seconds(partial(mine_itemsets, data, min_support=least, only=only, max_itemsets=MOST))
    rivals = {name: seconds(partial(pyfim, name, baskets, only, least), 3) for name in RIVALS}
    best = min(rivals, key=lambda name: rivals[name][0])
    if only != "maximal" and rivals["relim"][2] != found:
        raise AssertionError(f"{case.name}: {found} {only} itemsets, relim has {rivals['relim'][2]}")
    return Line(case.name, only, share, found, ours, wall, rivals[best][0], best)


def memory(side: str, case: Case) -> float:
    """By how many MB a fresh process grows, at most, while it mines all itemsets of a case."""
    command = [sys.executable, "-m", "benchmarks.mining", "--memory", side, case.name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return float(done.stdout)


def grow(side: str, case: Case) -> float:
    """The work of :func:`memory`, in the fresh process."""
    baskets = case.baskets
    least = math.ceil(case.everything * len(baskets))
    small = [[1, 2], [1]]
    call: Callable[[], Any]
    if side == "tacit":
        mine_itemsets(Transactions.from_lists(small), min_support=1)  # kernels are loaded
        data = Transactions.from_lists(baskets)
        call = partial(mine_itemsets, data, min_support=least, max_itemsets=MOST)
    else:
        pyfim("fpgrowth", small, "all", 1)
        call = partial(pyfim, "fpgrowth", baskets, "all", least)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    result = call()
    grown = _status("VmHWM") - before
    del result
    return grown


def _status(field: str) -> float:
    """A number of MB from what Linux says about this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def against_mlxtend(case: Case, share: float) -> list[Sequence[object]]:
    """Rows of a table: ours and mlxtend's seconds for all and for maximal itemsets."""
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth, fpmax

    baskets = case.baskets
    data = Transactions.from_lists(baskets)
    least = math.ceil(share * data.n)
    width = 1 + max(item for basket in baskets for item in basket)
    frame = pd.DataFrame([[item in basket for item in range(width)] for basket in map(set, baskets)])
    rows: list[Sequence[object]] = []
    programs: dict[Only, Any] = {"all": fpgrowth, "maximal": fpmax}
    for only, program in programs.items():
        ours, _, found = seconds(partial(mine_itemsets, data, min_support=least, only=only, max_itemsets=MOST))
        theirs, _, size = seconds(partial(program, frame, min_support=(least - 0.5) / data.n), 1)
        if size != found:
            raise AssertionError(f"{case.name}: {found} {only} itemsets, mlxtend has {size}")
        rows.append((case.name, only, f"{share:.4g}", f"{found:,}", f"{ours:.4f}", f"{theirs:.3f}", f"{theirs / ours:.0f}"))
    return rows


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; all but the first column to the right."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def run() -> str:
    """Measure everything; a section in Markdown."""
    mine_itemsets(Transactions.from_lists([["a"]]), min_support=1)
    lines = [measure(case, only) for case in cases() for only in ONLY]
    times = [
        (f"{line.case}", line.only, f"{line.share:.4g}", f"{line.found:,}", f"{line.ours:.4f}", f"{line.wall:.4f}", f"{line.theirs:.4f}",
         line.rival, f"{line.ratio:.2f}")
        for line in lines
    ]  # fmt: skip
    chosen = [line.ratio for line in lines if line.only != "all"]
    every = [line.ratio for line in lines if line.only == "all"]
    bytes_used = [(memory("tacit", case), memory("pyfim", case)) for case in cases()]
    slow = [row for name, share in SLOW_CASES for case in cases() if case.name == name for row in against_mlxtend(case, share)]
    return "\n".join(
        [
            "## Mining itemsets",
            "",
            "The whole call, from loaded data to the result: `mine_itemsets` on transactions, returning flat arrays in lexicographic order;",
            "pyfim on a list of lists, returning a list of tuples, with the faster of its `fpgrowth` and `relim`. CPU seconds of the process,",
            "the minimum of several calls; wall seconds are shown as well, because Tacit uses all cores if that pays. A ratio below 1 means",
            "that Tacit is faster.",
            "",
            table(["data", "itemsets", "min. support", "found", "Tacit CPU s", "wall s", "pyfim CPU s", "by", "ratio"], times),
            "",
            f"Closed and maximal: geometric mean of the ratios **{mean(chosen):.2f}** (goal: at most 1), worst {max(chosen):.2f}",
            "(goal: at most 2).",
            f"All: geometric mean {mean(every):.2f}, worst **{max(every):.2f}** (goal: at most 2).",
            "",
            WHY_SPARSE,
            "",
            "Peak growth in memory of a new process that mines all itemsets, in MB. If few itemsets are found, this is the memory of the rows,",
            "not of the result.",
            "",
            table(
                ["data", "found", "Tacit", "pyfim", "ratio"],
                [
                    (line.case, f"{line.found:,}", f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}")
                    for line, (ours, theirs) in zip((line for line in lines if line.only == "all"), bytes_used, strict=True)
                ],
            ),
            "",
            "Compared with mlxtend (`fpgrowth`, `fpmax`; it has no closed itemsets), from a loaded table of booleans (goal: at least 10",
            "times faster).",
            "",
            table(["data", "itemsets", "min. support", "found", "Tacit CPU s", "mlxtend CPU s", "times faster"], slow),
        ]
    )


def main() -> int:
    """Print the section, or measure memory for it."""
    if sys.argv[1:2] == ["--memory"]:
        print(grow(sys.argv[2], next(case for case in cases() if case.name == sys.argv[3])))
        return 0
    print(run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
