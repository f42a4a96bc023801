"""``make bench``: runs every benchmark, prints its table, and writes all of them to docs/benchmarks.md.

``python -m benchmarks detection joint`` runs some of them, and keeps the other sections of the page.

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
    mining,
    models,
    negative,
    rules,
    spark,
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
    spark.run,
    starting.run,
    web.run,
)
PROGRAMS = ("tacit", "numpy", "scipy", "numba", "duckdb", "pyfim", "mlxtend", "cvxpy", "clarabel", "ecos")


def page(sections: list[str]) -> str:
    """The whole page."""
    programs = ", ".join(f"{name} {version(name)}" for name in PROGRAMS)
    where = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {programs}"
    head = f"# Benchmarks\n\nWritten by `make bench`. Measured on {where}. Trust ratios within a row more than absolute times.\n"
    return "\n".join([head, *(section.strip() + "\n" for section in sections)])


def sections_of(text: str) -> dict[str, str]:
    """The sections of a page, by their headings."""
    parts = text.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part}" for part in parts}


def main(names: list[str]) -> int:
    """Run benchmarks, all without names, and write the page after each."""
    by_name = {run.__module__.removeprefix("benchmarks."): run for run in BENCHMARKS}
    if unknown := [name for name in names if name not in by_name]:
        print(f"{unknown[0]}: is not a benchmark. Name some of {', '.join(by_name)}.", file=sys.stderr)
        return 2
    for name in names or by_name:
        made = by_name[name]().strip()
        print(made, flush=True)
        sections = sections_of(PAGE.read_text(encoding="utf-8")) | sections_of(f"\n{made}")
        PAGE.write_text(page(list(sections.values())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
