"""How fast cells to hide are chosen, against the same algorithm record by record; and how that grows with the table.

``python -m benchmarks.hiding`` prints the section.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from tacit.model.policy import Limits
from tacit.partial.methods import Method, find_cells
from tacit.partial.problem import Cells, Hiding, IntegerThresholds, Problem

CONFIDENCE, SHARE = Fraction(3, 5), 500  # support: one in so many people
SENSITIVE, ATTRIBUTES = 35, 7
REPEATS = 3


def made_people(n: int, *, seed: int = 5) -> Cells:
    """Like *Adult* by occupation: seven attributes of 2 to 16 values, 14 sensitive ones, one of which goes with an attribute's high values."""
    chance = np.random.default_rng(seed)
    widths = (2, 7, 9, 16, 16, 2, 5)
    skill = chance.beta(2, 3, n)
    conditions = np.empty((n, ATTRIBUTES), np.int32)
    for place, width in enumerate(widths):
        noise = chance.normal(0, (0.5, 0.6, 0.7, 0.05, 0.08, 0.3, 0.9)[place], n)
        conditions[:, place] = np.clip((skill + noise) * width, 0, width - 1).astype(np.int32)
    expert = chance.random(n) < np.clip((skill - 0.35) * 2.2, 0.02, 0.9)
    values = np.where(expert, 0, chance.integers(1, 14, n)).astype(np.int32)[:, None]
    protected = np.zeros((n, 1), bool)
    protected[chance.choice(np.flatnonzero(values[:, 0] == 0), SENSITIVE, replace=False)] = True
    return Cells(conditions, values, protected)


def problem_of(cells: Cells) -> Problem:
    """The problem of a table."""
    n = len(cells.values)
    return Problem.of(cells, IntegerThresholds.of(CONFIDENCE, n // SHARE, people=n))


def least(call: Callable[[], Any]) -> float:
    """The least CPU seconds of several calls."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def record_by_record(cells: Cells, limits: IntegerThresholds) -> tuple[int, float]:
    """Set multicover as it is printed: the pattern set of every record, one value hidden in each step; cells hidden, and CPU seconds."""
    start = time.process_time()
    sensitive = np.flatnonzero(cells.protected[:, 0])
    truth = cells.values[sensitive[0], 0]
    relevant = np.flatnonzero((cells.values[:, 0] == truth) & ~cells.protected[:, 0])
    patterns = {
        tuple((a, int(cells.conditions[row, a])) for a in some)
        for row in sensitive.tolist()
        for size in range(1, cells.attributes + 1)
        for some in combinations(range(cells.attributes), size)
    }
    needed, sets = [], []
    for pattern in sorted(patterns):
        fits = np.ones(len(cells.values), np.bool_)
        for a, code in pattern:
            fits &= cells.conditions[:, a] == code
        both = int(fits[relevant].sum())
        beta = int(limits.values_to_hide(np.array([fits.sum()]), np.array([both]))[0])
        if beta:
            needed.append(beta)
            sets.append(fits[relevant])
    left, members = np.array(needed), np.array(sets, np.int32)
    free, hidden = np.ones(len(relevant), np.bool_), 0
    while (left > 0).any():
        score = np.where(free, members[left > 0].sum(axis=0), -1)
        best = int(score.argmax())
        left = left - members[:, best]
        free[best] = False
        hidden += 1
    return hidden, time.process_time() - start


def against_the_paper() -> str:
    """Lines of the table: set multicover in classes, and record by record."""
    lines = []
    for n in (10_000, 30_000, 100_000):
        cells = made_people(n)
        problem = problem_of(cells)
        found = find_cells(problem, frozenset({"ns"}), "smc", seed=0, limits=Limits())
        ours = least(lambda cells=cells: find_cells(problem_of(cells), frozenset({"ns"}), "smc", seed=0, limits=Limits()))  # type: ignore[misc]
        cells_hidden, slow = record_by_record(cells, problem.thresholds)
        number = f"{cells_hidden:,} | {found.state.cells_hidden:,}"
        lines.append(f"| {n:,} | {len(problem.classes):,} | {number} | {slow:.2f} | {ours:.3f} | {slow / ours:,.0f} |")
    return "\n".join(lines)


def growth() -> str:
    """Lines of the table: every method on more and more people."""
    methods: tuple[tuple[str, Method], ...] = (
        ("ns", "smc"),
        ("ns", "greedy"),
        ("nc", "rgraph-max-descendant"),
        ("nc", "greedy"),
        ("nc", "cr"),
        ("sc", "greedy"),
        ("sc", "uniform"),
    )
    lines = []
    for n in (30_000, 300_000, 1_000_000):
        cells = made_people(n)
        start = time.process_time()
        problem = problem_of(cells)
        counting = time.process_time() - start
        unsafe = int(Hiding(problem, frozenset()).unsafe.sum())
        parts = [f"| {n:,} | {unsafe:,} | {counting:.2f}"]
        for regions, method in methods:
            start = time.process_time()
            found = find_cells(problem, frozenset({regions}), method, seed=0, limits=Limits())
            parts.append(f"{found.state.cells_hidden:,} in {time.process_time() - start:.2f}")
        lines.append(" | ".join(parts) + " |")
    return "\n".join(lines)


def run() -> str:
    """The section of the page."""
    return f"""## Hiding cells

`tacit hide --method smc` on classes of equal records, compared with the same algorithm as printed: every record's pattern set, one cell
in each step (numpy). {ATTRIBUTES} condition attributes, {SENSITIVE} sensitive records, confidence {float(CONFIDENCE)}, support 1 in
{SHARE}; synthetic data with two to ten times as many distinct records as Adult; CPU seconds, including counting the rules. The two break ties
differently. Goal: at least 10 times faster for 100,000 people.

| people | classes | cells hidden, record by record | Tacit | record by record s | Tacit s | times |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{against_the_paper()}

Number of cells hidden, and CPU seconds without counting the rules. Goal: smc and greedy under 1 second for 30,000 people and 30 seconds for a
million, including counting, and growth no worse than linear.

| people | unsafe rules | counting s | smc | greedy, ns | rgraph-max-descendant | greedy, nc | cr, nc | greedy, sc | uniform |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{growth()}
"""


if __name__ == "__main__":
    print(run())
