"""How fast negative rules are mined: all of them in few columns, the minimal ones in many, and what chance gives.

``python -m benchmarks.negative`` prints the section; with ``TACIT_BENCH_DATA`` naming a folder with ``adult.csv.gz`` (the census data of the UCI
repository, with column names) and ARX's hierarchies in ``adult_hierarchies``, these are measured as well.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from benchmarks.datasets import FOLDER
from tacit.model.negative import NegativeRules
from tacit.model.table import Column, Hierarchy, Schema, Table

EXPECTATION = 0.9
PEOPLE = 30_718
REPEATS = 3
Trees = dict[str, Hierarchy]


def made(n: int, widths: tuple[int, ...], *, values: int = 14, seed: int = 5) -> Table:
    """People whose columns depend on their sensitive value, some values of which never meet some sensitive values."""
    rng = np.random.default_rng(seed)
    sensitive = rng.choice(values, n, p=rng.dirichlet(np.full(values, 3)))
    columns = []
    for place, width in enumerate(widths):
        chance = (rng.dirichlet(np.ones(width), values) + rng.dirichlet(np.ones(width), 1)) / 2
        if place % 3 == 0:
            chance[rng.integers(values), 0] = 0
        ends = np.cumsum(chance / chance.sum(axis=1, keepdims=True), axis=1)[sensitive]
        codes = (ends < rng.random(n)[:, None]).sum(axis=1).clip(0, width - 1)
        columns.append(Column.from_texts(f"c{place}", [f"{code:02d}" for code in codes.tolist()]))
    sa = Column.from_texts("s", [f"{code:02d}" for code in sensitive.tolist()])
    names = tuple(column.name for column in columns)
    return Table((*columns, sa), np.ones(n, np.int64), Schema(qi=names, sa=("s",)))


def halved(people: Table, heights: tuple[int, ...]) -> Trees:
    """A tree for each column that joins neighbours two by two, again and again."""
    trees = {}
    for column, height in zip(people.columns, heights, strict=False):
        chains = {v: tuple(f"{step}:{int(v) >> step}" for step in range(1, 1 + height)) for v in column.values}
        trees[column.name] = Hierarchy(column.name, chains)
    return trees


def level_by_level(people: Table, trees: Trees) -> int:
    """The number of rules by one grouping of all rows for each choice of levels, as a reference does it."""
    sa = people.sa
    share = np.bincount(sa.codes, minlength=len(sa.values)) / people.n
    needed = math.log1p(-EXPECTATION) / np.log1p(-share)
    columns = [people.column(name) for name in people.schema.qi]
    rules = 0
    for choice in itertools.product(*(list(_codes(column, trees.get(column.name))) for column in columns)):
        used = [codes for codes in choice if codes is not None]
        if used:
            _, group = np.unique(np.stack(used), axis=1, return_inverse=True)
            counts = np.zeros((int(group.max()) + 1, len(sa.values)))
            np.add.at(counts, (group.reshape(-1), sa.codes), 1)
            rules += int(((counts == 0) & (counts.sum(axis=1)[:, None] >= needed)).sum())
    return rules


def _codes(column: Column, tree: Hierarchy | None) -> Iterator[Any]:
    """Nothing, the values, and each level of coarser ones, as numbers of the rows."""
    yield None
    yield column.codes
    for step in range(len(next(iter(tree.levels.values()))) if tree is not None and tree.levels else 0):
        names = [tree.levels[value][step] for value in column.values]  # type: ignore[union-attr]
        yield np.unique(names, return_inverse=True)[1][column.codes]


def timed(call: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """What a call gives, and the least CPU seconds that it takes."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        found = call()
        best = min(best, time.process_time() - start)
    return found, best


def few_columns() -> str:
    """Lines of the table: all rules in six columns."""
    people = made(PEOPLE, (72, 8, 16, 7, 5, 2))
    cases = [("made", people, halved(people, (3, 1, 2, 1, 1, 0)))]
    if FOLDER and (Path(FOLDER) / "adult.csv.gz").exists():
        qi = ["age", "workclass", "education", "marital-status", "race", "sex"]
        adult = tacit.read_table(Path(FOLDER) / "adult.csv.gz", qi=qi, sa="occupation", missing="?", missing_rule="drop")
        from tacit.files.hierarchies import read_hierarchies

        cases.append(("Adult", adult, read_hierarchies(Path(FOLDER) / "adult_hierarchies", qi)))
    lines = []
    for name, table, trees in cases:
        rules, cpu = timed(_mining(table, hierarchies=trees), REPEATS)
        _, more = timed(_mining(table, hierarchies=trees, permutations=10))
        slow, reference = timed(lambda table=table, trees=trees: level_by_level(table, trees))  # type: ignore[misc]
        same = "yes" if slow == len(rules) else "no"
        numbers = f"{rules.itemsets:,} | {len(rules):,} / {rules.minimal_rules:,} | {cpu:.2f} | {(more - cpu) / 10:.2f}"
        lines.append(f"| {name}, {table.n:,} people | {numbers} | {reference:.1f} | {reference / cpu:.0f} | {same} |")
    return "\n".join(lines)


def many_columns() -> str:
    """Lines of the table: the minimal rules in many columns."""
    lines = []
    for columns, length, significance in ((15, 3, None), (20, 3, None), (15, None, 0.05), (20, None, 0.05)):
        people = made(50_000, tuple(itertools.islice(itertools.cycle((2, 3, 4, 6, 9)), columns)))
        rules, cpu = timed(_mining(people, max_length=length, significance=significance))
        every = "not counted" if rules.all_rules is None else f"{rules.all_rules:,}"
        told = f"{columns} | {length or 'any'} | {'none' if significance is None else significance}"
        lines.append(f"| {told} | {rules.minimal_rules:,} | {every} | {cpu:.1f} |")
    return "\n".join(lines)


def _mining(people: Table, **options: Any) -> Callable[[], NegativeRules]:
    return lambda: tacit.mine_negative_rules(people, min_expectation=EXPECTATION, **options)


def run() -> str:
    """The section of the page."""
    return f"""## Negative rules

`tacit mine negative --min-expectation {EXPECTATION}` in six columns with hierarchies, antecedents of any length, compared with one grouping of
all rows (numpy) for each choice of levels. CPU seconds, warm. Goal: all rules of Adult in less than a second.

| data | antecedents | rules, all / minimal | Tacit s | each shuffled table s | reference s | times | same number |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
{few_columns()}

The minimal rules in many columns, 50,000 synthetic people, 14 sensitive values.

| columns | longest antecedent | significance | minimal rules | all rules | CPU s |
| ---: | ---: | ---: | ---: | ---: | ---: |
{many_columns()}
"""


if __name__ == "__main__":
    print(run())
