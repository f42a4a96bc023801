"""``make bench``: runs every benchmark, prints its table, and writes all of them to docs/benchmarks.md.

A benchmark is a module with a function ``run() -> str`` that measures and returns a section in Markdown: a heading, what was measured and how,
a table. Times are ratios within one run, because absolute numbers belong to one machine.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    buckets,
    detection,
    grouping,
    hiding,
    joint,
    known,
    limits,
    mining,
    models,
    negative,
    rules,
    starting,
    suppression,
    web,
)

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BENCHMARKS: tuple[Callable[[], str], ...] = (
    mining.run,
    detection.run,
    rules.run,
    known.run,
    joint.run,
    negative.run,
    grouping.run,
    buckets.run,
    hiding.run,
    suppression.run,
    models.run,
    starting.run,
    web.run,
    limits.run,
)
PROGRAMS = ("tacit", "numpy", "scipy", "numba", "duckdb", "pyfim", "mlxtend", "cvxpy", "clarabel", "ecos")


def page(sections: list[str]) -> str:
    """The whole page."""
    programs = ", ".join(f"{name} {version(name)}" for name in PROGRAMS)
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {programs}"
    head = f"# Benchmarks\n\nWritten by `make bench`. Measured on {where}. Trust ratios within a row more than absolute times.\n"
    return "\n".join([head, *(section.strip() + "\n" for section in sections)])


def main() -> int:
    """Run all benchmarks and write the page."""
    sections = []
    for run in BENCHMARKS:
        sections.append(run())
        print(sections[-1], flush=True)
    PAGE.write_text(page(sections), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
