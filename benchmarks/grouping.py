"""How fast people are put into groups, against the paper's own way: every person scanned for every member of every group, compiled.

``python -m benchmarks.grouping`` prints the section.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from tacit.buckets.classes import Classes
from tacit.buckets.grouping import Method, Rule, form_groups, group_people
from tacit.model.policy import Limits

#: So many groups are formed by scanning; the rest would take as long for each person who is left.
SCANNED = 20
SIZE = 6
REPEATS = 3
Rows = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_]]


def people(n: int, *, kinds: int, seed: int = 8) -> Rows:
    """Like *Adult* by occupation: 14 values, two of them rare; most people have one of the rare ones ruled out, few have many."""
    rng = np.random.default_rng(seed)
    shares = np.array([4140, 4099, 4066, 3770, 3650, 3295, 2002, 1597, 1370, 994, 928, 649, 149, 9], float)
    patterns = np.zeros((kinds, 14), np.bool_)
    for row in range(kinds):
        more = min(int(rng.geometric(0.45)) - 1, 7)
        patterns[row, rng.choice([12, 13], p=[0.2, 0.8])] = True
        patterns[row, rng.choice(13, more, replace=False)] = True
    kind = rng.choice(kinds, n, p=rng.dirichlet(np.full(kinds, 0.3)))
    weight = np.where(patterns[kind], 0, shares)
    ends = np.cumsum(weight, axis=1)
    sensitive = (ends < rng.random(n)[:, None] * ends[:, -1:]).sum(axis=1)
    return sensitive.astype(np.int32), kind.astype(np.int32), patterns


@numba.njit(cache=False)  # type: ignore[untyped-decorator]
def scanned(
    value: Any, barred: Any, of_class: Any, class_value: Any, class_barred: Any, count: Any, size: int, groups: int, out: Any
) -> int:
    """The first groups of Fig. 2, corrected: for every member all people are scanned, and for each the classes are counted."""
    left = np.ones(len(value), np.bool_)
    one, made = np.uint64(1), 0
    while made < groups:
        held, ruled = np.uint64(0), np.uint64(0)
        number = 0
        while number < size:
            best, best_number = -1, -1
            for t in range(len(value)):
                own = one << np.uint64(value[t])
                if not left[t] or own & (held | ruled) or barred[t] & held:
                    continue
                with_her, cannot = held | own, ruled | barred[t]
                incompatible = 0
                for c in range(len(count)):
                    if (one << np.uint64(class_value[c])) & (with_her | cannot) or class_barred[c] & with_her:
                        incompatible += count[c]
                better = incompatible > best_number if number == 0 else incompatible < best_number
                if best < 0 or better or (incompatible == best_number and of_class[t] < of_class[best]):
                    best, best_number = t, incompatible
            if best < 0:
                return made
            left[best] = False
            count[of_class[best]] -= 1
            held |= one << np.uint64(value[best])
            ruled |= barred[best]
            out[made * size + number] = of_class[best]
            number += 1
        made += 1
    return made


def scan(rows: Rows, groups: int) -> tuple[npt.NDArray[np.int64], float]:
    """The first groups by scanning, and the seconds that took."""
    sensitive, kind, patterns = rows
    classes = Classes.of(sensitive, kind, patterns, seed=0)
    of_class = np.empty(len(sensitive), np.int64)
    of_class[classes.rows] = np.repeat(np.arange(len(classes)), classes.count)
    words = (np.where(patterns, np.uint64(1) << np.arange(14, dtype=np.uint64), np.uint64(0))).sum(axis=1, dtype=np.uint64)
    out = np.full(groups * SIZE, -1, np.int64)
    given = (sensitive, words[kind], of_class, classes.value, words[classes.kind], classes.count.copy(), SIZE, groups, out)
    start = time.process_time()
    scanned(*given)
    return out.reshape(-1, SIZE), time.process_time() - start


def least(call: Callable[[], Any]) -> float:
    """The least CPU seconds of several calls."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def against_scanning() -> str:
    """Lines of the table: the paper's grouping, from counts and by scanning."""
    scan(people(2_000, kinds=10), 1)  # compiled once
    lines = []
    for n, kinds in ((10_000, 30), (30_718, 30), (30_718, 260), (100_000, 30)):
        rows = people(n, kinds=kinds)
        classes = Classes.of(*rows, seed=0)
        recipes, left = form_groups(classes, SIZE, "injector", Limits())
        groups, cpu = scan(rows, SCANNED)
        listed = {tuple(recipes.members(recipe)) for recipe in range(len(recipes))}
        same = all(tuple(sorted(group)) in listed for group in groups.tolist() if -1 not in group)
        whole = cpu / SCANNED * int(recipes.groups.sum()) * (1 + left.sum() / n) / 2
        same_way, balanced = (least(_forming(rows, rules)) for rules in (("injector",), ("balanced-1", "balanced-2")))
        times = f"{same_way:.3f} | {whole / same_way:,.0f} | {balanced:.3f} | {whole / balanced:,.0f}"
        lines.append(f"| {n:,} | {len(classes):,} | {whole:,.0f} | {times} | {'yes' if same else 'no'} |")
    return "\n".join(lines)


def _forming(rows: Rows, rules: tuple[Rule, ...]) -> Callable[[], object]:
    """Forming groups by these rules, from codes on."""
    return lambda: [form_groups(Classes.of(*rows, seed=0), SIZE, rule, Limits()) for rule in rules]


def growth() -> str:
    """Lines of the table: every method on more and more people."""
    lines = []
    for n in (100_000, 1_000_000, 10_000_000):
        rows = people(n, kinds=30)
        cells = []
        methods: tuple[Method, ...] = ("injector", "balanced", "anatomy")
        for method in methods:
            start = time.process_time()
            made = group_people(*rows, least=SIZE, method=method)
            cells.append(f"{time.process_time() - start:.2f} | {made.residue:,}")
        lines.append(f"| {n:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def run() -> str:
    """The section of the page."""
    group_people(*people(2_000, kinds=10), least=SIZE)
    return f"""## Grouping people

Groups of {SIZE} by `tacit bucketize --method injector`, from counts of interchangeable people, compared with Fig. 2 of the paper (corrected) as
printed, compiled: it scans every person for every member of every group. It is timed on {SCANNED} groups; the rest is extrapolated in
proportion to the people left. Balanced is the default, and leaves far fewer people over. CPU seconds; synthetic data like Adult. Goal: at least
500 times faster.

| people | classes | scanned s | Tacit, the same s | times | Tacit, balanced s | times | same groups |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
{against_scanning()}

From codes to the group of every person, including people left over at first; goal: growth no worse than linear.

| people | injector CPU s | left over at first | balanced CPU s | left over at first | anatomy CPU s | left over at first |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{growth()}
"""


if __name__ == "__main__":
    print(run())
