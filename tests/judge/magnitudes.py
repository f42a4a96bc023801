"""Suppression of tables with sums, judged by linear and integer programs that share no code with Tacit.

``python -m tests.judge.magnitudes --cases 500`` repairs random tables of counts and sums for the attacker who knows the rule: no small group
and no sum may be told by the result, and no smaller choice may be enough.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import numpy as np

from tests.joint.naive_numbers import Case, draw, people_range, told_groups, told_lines

MOST_CHOICES = 40  #: Choices of fewer cells at most that are looked at one by one.


def full_case(seed: int) -> Case:
    """Draw people, and cells whose sums are withheld because one person dominates them."""
    case = draw(seed)
    dominated = frozenset(
        number
        for number, line in enumerate(case.lines)
        if "*" not in line and case.total(case.cell(line)) > 0 and Random(seed + number).random() < 0.2
    )
    return replace(case, hidden=frozenset(), withheld=dominated)


def table_of(case: Case) -> Any:
    """The table as Tacit takes it, with all counts."""
    from tacit.model.frequencies import FrequencyTable, Numbers
    from tacit.model.release import Decimals

    counts: list[int | None] = [case.count(case.cell(line)) for line in case.lines]
    n = sum(map(len, case.values))
    table = FrequencyTable.of(["a", "b"], [list(line) for line in case.lines], counts, n=n, no_sa=True)
    sums = np.array([case.total(case.cell(line)) for line in case.lines], np.int64)
    digits = np.array([-1 if number in case.withheld else 0 for number in range(len(case.lines))], np.int8)
    return replace(table, numbers=(Numbers("income", {"sum": Decimals(sums, digits)}, is_exact=True),))


def read_as(case: Case, hidden: frozenset[int]) -> Case:
    """The case as an attacker reads it who knows which hidden cells are small."""
    small = frozenset(number for number in hidden if case.count(case.cell(case.lines[number])) < case.k)
    return replace(case, hidden=small, gone=hidden - small, withheld=case.withheld - hidden)


def is_safe(case: Case, empty: frozenset[int]) -> bool:
    """Tell if nothing is told: no small group, no sum of one or of a withheld cell, and no small cell to be empty but known ones."""
    return not told_groups(case) and not told_lines(case) and told_empty(case) <= empty


def told_empty(case: Case) -> frozenset[int]:
    """The small cells that are told to be empty."""
    return frozenset(number for number in case.hidden if people_range(case, case.cell(case.lines[number]))[1] == 0)


def judge(seed: int) -> tuple[str, str]:
    """Compare a repair with the programs; the outcome in a word, and details."""
    import tacit

    case = full_case(seed)
    table = table_of(case)
    everybody = len(case.lines) - 1
    primary = frozenset(
        number for number, line in enumerate(case.lines) if case.count(case.cell(line)) < case.k and number != everybody
    )
    free = [number for number in range(everybody) if number not in primary]
    everything = read_as(case, primary | frozenset(free))
    empty = told_empty(everything)
    try:
        done = tacit.repair(table, method="suppress", k=case.k, attacker="rule", time_limit=120)
    except tacit.Infeasible:
        return ("no result", "all hidden is safe") if is_safe(everything, empty) else ("right", "infeasible")
    release: Any = done.release
    hidden = frozenset(np.flatnonzero(release.is_hidden).tolist())
    if any(release.numbers[0].is_printed(number) for number in hidden) or not hidden >= primary:
        return "unsafe", "a small cell or its sum is shown"
    if not done.ok:
        return "undecided", done.after.verdict
    if not is_safe(read_as(case, hidden), empty):
        return "unsafe", f"{[case.lines[number] for number in sorted(hidden)]}"
    fewer = [chosen for size in range(len(hidden - primary)) for chosen in combinations(free, size)]
    if len(fewer) > MOST_CHOICES:
        return "right", "hidden, not compared"
    if any(is_safe(read_as(case, primary | frozenset(chosen)), empty) for chosen in fewer):
        return "not smallest", f"{len(hidden - primary)} hidden"
    return "right", "hidden"


def main() -> int:
    """Judge many cases; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge.magnitudes", description="Judge suppression of sums.")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counted: dict[tuple[str, str], int] = {}
    for seed in range(given.seed, given.seed + given.cases):
        outcome, told = judge(seed)
        counted[outcome, told if outcome == "right" else ""] = counted.get((outcome, told if outcome == "right" else ""), 0) + 1
        if outcome != "right":
            sys.stdout.write(f"{outcome}: --seed {seed}: {told} in {full_case(seed)}\n")
    sys.stdout.write(f"{counted}\n")
    return int(any(outcome != "right" for outcome, _ in counted))


if __name__ == "__main__":
    raise SystemExit(main())
