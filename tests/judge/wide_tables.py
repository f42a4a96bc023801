"""Two-way tables with many columns, judged by programs; shares no code with Tacit.

``python -m tests.judge.wide_tables --seconds 60`` draws tables with totals and hidden counts, and asks two programs about every set of hidden
cells of a row or a column: the fewest and the most people in it. The counts of such a table are flows, so that these are whole numbers. A set
that holds 1 to k-1 people in any case is told, and the audit must not be clean.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

import tacit
from tacit.model.frequencies import FrequencyTable

K = 5
COUNTS = (0, 1, 2, 3, 4, 6, 8, 12, 20, 30)
SHARES = (0.05, 0.1, 0.08, 0.06, 0.05, 0.1, 0.12, 0.14, 0.15, 0.15)
Cell = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """Counts with totals in the last row and column, and the hidden cells."""

    full: np.ndarray
    hidden: frozenset[Cell]

    @property
    def rows(self) -> int:
        """Number of rows besides the total."""
        return len(self.full) - 1

    @property
    def columns(self) -> int:
        """Number of columns besides the total."""
        return int(self.full.shape[1]) - 1

    @property
    def turned(self) -> Case:
        """The same table with rows as columns."""
        return Case(self.full.T, frozenset((column, row) for row, column in self.hidden))

    def table(self) -> FrequencyTable:
        """Return the table as it is published."""
        cells = [(row, column) for row in range(self.rows + 1) for column in range(self.columns + 1)]
        names = [f"r{row}" for row in range(self.rows)], [f"c{column}" for column in range(self.columns)]
        labels = [[(*names[0], "*")[row], (*names[1], "*")[column]] for row, column in cells]
        counts = [None if cell in self.hidden else int(self.full[cell]) for cell in cells]
        return FrequencyTable.of(["row", "column"], labels, counts, n=int(self.full[-1, -1]), no_sa=True)


def draw(seed: int) -> Case:
    """Draw a table; small counts are hidden, and some others."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(3, 6)), int(rng.integers(6, 9))
    full = np.pad(rng.choice(COUNTS, size=(rows, columns), p=SHARES), ((0, 1), (0, 1)))
    full[-1] = full.sum(axis=0)
    full[:, -1] = full.sum(axis=1)
    cells = ((row, column) for row in range(rows + 1) for column in range(columns + 1) if (row, column) != (rows, columns))
    return Case(full, frozenset(cell for cell in cells if full[cell] < K or rng.random() < rng.choice([0.1, 0.25, 0.4])))


def told_groups(case: Case) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the sets of hidden cells of a row that hold 1 to k-1 people in any case."""
    cells = [(row, column) for row in range(case.rows) for column in range(case.columns)]
    sums = []
    counts = []
    for row in range(case.rows + 1):
        for column in range(case.columns + 1):
            if (row, column) not in case.hidden:
                sums.append([float(row in (one[0], case.rows) and column in (one[1], case.columns)) for one in cells])
                counts.append(float(case.full[row, column]))
    for row in range(case.rows):
        hidden = [column for column in range(case.columns) if (row, column) in case.hidden]
        for size in range(1, len(hidden) + 1):
            for columns in combinations(hidden, size):
                if not 0 < sum(case.full[row, column] for column in columns) < K:
                    continue
                cost = np.array([float(one[0] == row and one[1] in columns) for one in cells])
                least, most = (sign * _least(sign * cost, sums, counts) for sign in (1, -1))
                if least > 0.5 and most < K - 0.5:
                    yield row, columns


def _least(cost: np.ndarray, sums: list[list[float]], counts: list[float]) -> float:
    found = linprog(cost, A_eq=sums, b_eq=counts, bounds=(0, None), method="highs")
    assert found.fun is not None
    return float(found.fun)


def judge(case: Case) -> tuple[str, str]:
    """Return the verdict, ``missed`` if it is clean and should not be, and what is told."""
    verdict = tacit.audit(case.table(), k=K).verdict
    if verdict != "clean":
        return verdict, ""
    told = [*told_groups(case), *told_groups(case.turned)]
    return ("missed", str(told)) if told else (verdict, "")


def main() -> int:
    """Judge many tables; return 1 if one is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge.wide_tables", description="Judge audits of wide tables.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counted: Counter[str] = Counter()
    seed = given.seed
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        outcome, told = judge(draw(seed))
        counted[outcome] += 1
        if outcome == "missed":
            sys.stdout.write(f"missed: --seed {seed}: {told}\n")
        seed += 1
    sys.stdout.write(", ".join(f"{number:,} {outcome}" for outcome, number in sorted(counted.items())) + "\n")
    return int(counted["missed"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
