"""How long Tacit takes to start: help, import, the first run that compiles, and a warm run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.datasets import survey

TACIT = [sys.executable, "-m", "tacit"]
REPEATS = 5

EVERYTHING = """
import tacit
baskets = tacit.read_transactions([["a", "b", "c"]] * 40 + [["a", "b"]] * 20 + [["a", "c"]] * 3 + [["b"]] * 30 + [["c"]] * 30)
closed = [tacit.mine_itemsets(baskets, min_support=5, only=only) for only in ("all", "maximal", "closed")][-1]
people = tacit.read_table({"sex": ["F", "M"] * 50, "ill": ["yes", "no", "no", "no"] * 25}, qi="sex", sa="ill")
tacit.mine_rules(people, min_support=5, min_confidence=0.1)
for data in (None, baskets):
    tacit.audit(closed, data=data)
"""

AUDIT = """
import sys, tacit
found = tacit.audit(sys.argv[1]).findings[:10]
assert found
assert "numba" not in sys.modules
"""


def seconds(command: list[str], **environment: str) -> tuple[float, float]:
    """CPU and wall seconds of one process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | environment)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def least(command: list[str]) -> tuple[float, float]:
    """The least CPU and wall seconds of several runs."""
    runs = [seconds(command) for _ in range(REPEATS)]
    return min(cpu for cpu, _ in runs), min(wall for _, wall in runs)


def run() -> str:
    """The section of the page."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "survey.dat"
        data.write_text("".join(" ".join(map(str, row)) + "\n" for row in survey()))
        python = [sys.executable, "-c"]
        compiled = seconds([*python, EVERYTHING], NUMBA_CACHE_DIR=str(Path(folder) / "cache"))
        again = seconds([*python, EVERYTHING], NUMBA_CACHE_DIR=str(Path(folder) / "cache"))
        listed = str(Path(folder) / "closed.csv")
        subprocess.run([*TACIT, *_mine(data, "13%"), "-o", listed], check=True, capture_output=True)
        lines = len(Path(listed).read_text().splitlines()) - 1
        small = seconds([*python, AUDIT, listed], NUMBA_CACHE_DIR=str(Path(folder) / "empty"))
        rows = [
            ("`tacit --help`", "at most 0.3 s CPU", least([*TACIT, "--help"])),
            ("`import tacit`", "", least([*python, "import tacit"])),
            ("`tacit mine itemsets` on a mushroom-like set, warm", "at most 1.5 s wall", least([*TACIT, *_mine(data)])),
            (f"first audit of {lines:,} itemsets, nothing compiled before or after", "", small),
            ("first run of every kernel: mining, rules, audits", "at most 20 s CPU more than the next line", compiled),
            ("the same once compiled", "", again),
        ]
    table = "\n".join(f"| {what} | {cpu:.2f} | {wall:.2f} | {goal} |" for what, goal, (cpu, wall) in rows)
    return f"""## Starting

Whole processes, including the start of Python.

| what | CPU s | wall s | goal |
| --- | ---: | ---: | --- |
{table}
"""


def _mine(data: Path, share: str = "10%") -> list[str]:
    return ["mine", "itemsets", str(data), "--min-support", share, "--only", "closed"]


if __name__ == "__main__":
    print(run())
