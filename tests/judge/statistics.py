"""Small tables with statistics of whole numbers beside counts, judged by every choice of values that prints them.

``python -m tests.judge.statistics --cases 300`` prints sums, means, medians, quantiles, deviations, minima and maxima as NumPy computes them,
some cells without, and lists every choice of whole numbers for the people of each cell that prints the same. What an audit proves must hold of
all. Shares no code with Tacit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import numpy as np

CELLS = (("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"))
LINES = (*CELLS, ("a", "*"), ("b", "*"), ("*", "x"), ("*", "y"), ("*", "*"))
NAMES = ("sum", "mean", "median", "q25", "q90", "std", "min", "max")
MOST_WORLDS = 400_000

World = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Case:
    """Values of the people of each cell, and what is printed."""

    values: World
    scale: tuple[int, ...]
    statistics: tuple[str, ...]
    digits: int
    withheld: frozenset[int]
    k: int


def draw(seed: int) -> Case:
    """Draw values and what is printed of them."""
    random = Random(seed)
    scale = random.choice(((0, 1, 2), (0, 1, 5), (1, 2, 3, 10), (0, 3, 50)))
    sizes = [random.choice((0, 1, 1, 2, 2, 3)) for _ in CELLS]
    values = tuple(tuple(sorted(random.choice(scale) for _ in range(size))) for size in sizes)
    statistics = tuple(random.sample(NAMES, random.randint(1, 4)))
    withheld = frozenset(random.sample(range(len(LINES)), random.randint(0, 4)))
    return Case(values, scale, statistics, random.choice((0, 1, 2)), withheld, random.randint(2, 4))


def inside(line: tuple[str, str]) -> list[int]:
    """Return the cells of a line."""
    return [place for place, cell in enumerate(CELLS) if all(own in ("*", value) for own, value in zip(line, cell, strict=True))]


def people(values: World, line: tuple[str, str]) -> tuple[int, ...]:
    """Return the values of the people of a line, in order."""
    return tuple(sorted(value for place in inside(line) for value in values[place]))


@lru_cache(maxsize=100_000)
def printed(own: tuple[int, ...], statistic: str, digits: int) -> str:
    """Print a statistic as NumPy computes it; nothing where there is none."""
    if not own or (statistic == "std" and len(own) < 2):
        return ""
    numbers = np.array(own, float)
    if statistic in ("sum", "min", "max"):
        return str({"sum": sum(own), "min": min(own), "max": max(own)}[statistic])
    if statistic in ("mean", "std"):
        found = float(numbers.mean() if statistic == "mean" else numbers.std(ddof=1))
    else:
        found = float(np.quantile(numbers, {"median": 0.5, "q25": 0.25, "q90": 0.9}[statistic]))
    return f"{found:.{digits}f}"


def render(case: Case, values: World) -> list[list[str]]:
    """Return the lines of the table."""
    rows = []
    for number, line in enumerate(LINES):
        own = people(values, line)
        shown = [printed(own, statistic, case.digits) for statistic in case.statistics]
        rows.append([*line, str(len(own)), *([""] * len(shown) if number in case.withheld else shown)])
    return rows


def worlds(case: Case) -> Iterator[World]:
    """Yield every choice of values of the scale that prints the same."""
    told = render(case, case.values)
    of_cell = []
    number = 1
    for place, own in enumerate(case.values):
        every = list(combinations_with_replacement(case.scale, len(own)))
        if place not in case.withheld:
            every = [
                one for one in every if [printed(one, statistic, case.digits) for statistic in case.statistics] == told[place][3:]
            ]
        of_cell.append(every)
        number *= len(every)
    if number > MOST_WORLDS:
        raise OverflowError
    for values in product(*of_cell):
        if render(case, values) == told:
            yield values


def judge(case: Case) -> tuple[str, str]:
    """Return the outcome, and what is wrong."""
    import tacit
    from tacit.checker import check_audit

    try:
        every = list(worlds(case))
    except OverflowError:
        return "too large", ""
    columns = ["g", "h", "count", *(f"{statistic}_pay" for statistic in case.statistics)]
    table = {name: [row[place] for row in render(case, case.values)] for place, name in enumerate(columns)}
    try:
        release = tacit.read_release(table, sa="none")
        audit = tacit.audit(release, k=case.k)
    except tacit.TacitError as error:
        return "refused", str(error)
    record = audit.to_dict(top=1_000)
    if not check_audit(record, [release]).ok:
        return "not verified", str(check_audit(record, [release]).problems[:2])
    for finding in record["findings"]:
        for values in every:
            if problem := contradicts(finding, values):
                return "wrong", f"{finding['statement']} {values}: {problem}"
    return "right", audit.verdict


def contradicts(finding: Any, values: World) -> str:
    """Return how values contradict a finding, empty if they do not."""
    event = dict(finding["event"])
    proof = finding["certificate"]
    amount = proof.get("numbers")
    group = amount["group"] if amount is not None else event
    own: Sequence[int] = [value for place, cell in enumerate(CELLS) if holds(group, cell) for value in values[place]]
    if "extreme" in proof:
        wanted = float(next(item for item in event["present"] if item.startswith("pay="))[4:])
        own = [value for value in own if value == wanted]
    count = len(own)
    if not finding["count"][0] <= count <= finding["count"][1]:
        return f"{count} people"
    if amount is None:
        return ""
    total = sum(value * value if amount["column"].endswith(" squared") else value for value in own) * amount["unit"]
    least = amount["least"][-1]["at_least"]
    most = amount["most"][-1]["at_most"]
    return "" if least <= total <= most else f"{total} is not in {least} to {most}"


def holds(group: Any, cell: tuple[str, str]) -> bool:
    """Tell if a cell lies in a group."""
    known = {f"g={cell[0]}", f"h={cell[1]}"}
    present = {item for item in group["present"] if not item.startswith("pay")}
    return present <= known and not known & set(group["absent"])


def main() -> int:
    """Judge many cases; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.judge.statistics", description="Judge audits of numbers beside counts."
    )
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counted: Counter[str] = Counter()
    started = time.process_time()
    wrong = 0
    for seed in range(given.seed, given.seed + given.cases):
        outcome, told = judge(draw(seed))
        counted[f"{outcome} {told if outcome == 'right' else ''}"] += 1
        if outcome not in ("right", "too large"):
            wrong += 1
            sys.stdout.write(f"{outcome}: --seed {seed}: {told}\n  {draw(seed)}\n")
    sys.stdout.write(f"{dict(counted)}; {wrong:,} wrong; {time.process_time() - started:.0f} s\n")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
