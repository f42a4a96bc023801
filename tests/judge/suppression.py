"""Suppression of small tables, judged by every database that fits them; shares no code with Tacit.

A world is a number of people for every combination of values. All worlds of n people are listed once; a published choice of cells keeps those
that agree with it. ``python -m tests.judge.suppression --cases 2000`` compares what ``tacit.repair`` hides with the best of all choices.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, product
from math import ceil, floor
from random import Random
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Attacker = Literal["method", "rule", "reader"]
Cell = tuple[frozenset[str], ...]  #: The values of each column that a line counts.

MOST_CHOICES = 6_000  #: Choices of cells at most that are looked at one by one.


@dataclass(frozen=True)
class Small:
    """Linked tables of one population: columns with their values, and the lines of each table.

    A line is a tuple of values, ``*`` for a total; ``unions`` are names of several values of a column, as a hierarchy has them.
    """

    columns: dict[str, tuple[str, ...]]
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    people: tuple[int, ...]  #: The number of people with each combination of values, in the order of their product.
    k: int
    attacker: Attacker
    hidden_before: bool
    unions: dict[str, tuple[str, tuple[str, ...]]]
    margin: Fraction | None = None  #: The share by which ranges of small cells reach beyond their counts, both ways.

    @property
    def n(self) -> int:
        return sum(self.people)

    def members(self, column: str, value: str) -> frozenset[str]:
        if value == "*":
            return frozenset(self.columns[column])
        if value in self.unions and self.unions[value][0] == column:
            return frozenset(self.unions[value][1])
        return frozenset([value])

    def cell(self, line: Sequence[str]) -> Cell:
        return tuple(self.members(column, value) for column, value in zip(self.columns, line, strict=True))

    @property
    def lines(self) -> list[tuple[str, ...]]:
        return [line for table in self.tables for line in table]


@cache
def all_worlds(cells: int, n: int) -> Whole:
    """Every way to divide n people among cells."""
    dividers = np.array(list(combinations(range(n + cells - 1), cells - 1)), np.int64).reshape(-1, cells - 1)
    ends = np.full((len(dividers), 1), n + cells - 1)
    starts = np.full((len(dividers), 1), -1)
    return np.diff(np.hstack((starts, dividers, ends)), axis=1) - 1


class Judged:
    """All worlds of a case, with what every line and every group counts there."""

    def __init__(self, case: Small) -> None:
        self.case = case
        self.kinds = list(product(*case.columns.values()))
        self.worlds = all_worlds(len(self.kinds), case.n)
        cells = sorted({case.cell(line) for line in case.lines}, key=lambda one: tuple(sorted(map(sorted, one))))
        self.cells = cells
        self.counts = {cell: self._count(cell) for cell in cells}
        self.truth = {
            cell: sum(c for kind, c in zip(self.kinds, case.people, strict=True) if self._has(kind, cell)) for cell in cells
        }
        subsets = [
            [frozenset(part) for size in range(1, len(values) + 1) for part in combinations(values, size)]
            for values in case.columns.values()
        ]
        self.groups = [
            group
            for group in product(*subsets)
            if any(len(one) < len(values) for one, values in zip(group, case.columns.values(), strict=True))
        ]
        self.sizes = np.stack([self._count(group) for group in self.groups], axis=1)
        self.everybody = tuple(frozenset(values) for values in case.columns.values())

    def cell(self, line: Sequence[str]) -> Cell:
        """The cell of a line."""
        return self.case.cell(line)

    @property
    def group_flags(self) -> Whole:
        """Which combinations of values belong to each group, a column each."""
        return np.array([[self._has(kind, group) for group in self.groups] for kind in self.kinds], np.int64)

    def _has(self, kind: Sequence[str], cell: Cell) -> bool:
        return all(value in own for value, own in zip(kind, cell, strict=True))

    def _count(self, cell: Cell) -> Whole:
        inside = np.array([self._has(kind, cell) for kind in self.kinds])
        return np.asarray(self.worlds[:, inside].sum(axis=1))

    @property
    def primary(self) -> frozenset[Cell]:
        """Cells that the rule hides."""
        least = 0 if self.case.attacker != "reader" or self.case.hidden_before else 1
        return frozenset(cell for cell, count in self.truth.items() if least <= count < self.case.k and cell != self.everybody)

    @property
    def free(self) -> list[Cell]:
        """Cells that may be hidden besides."""
        primary = self.primary
        return [cell for cell in self.cells if cell not in primary and cell != self.everybody and self.truth[cell] > 0]

    def possible(self, hidden: frozenset[Cell]) -> npt.NDArray[np.bool_]:
        """The worlds that agree with what is published, as the attacker reads it."""
        case = self.case
        fits = np.ones(len(self.worlds), np.bool_)
        primary = self.primary
        for cell in self.cells:
            count = self.counts[cell]
            if cell not in hidden:
                fits &= count == self.truth[cell]
            elif cell in primary and case.attacker != "reader":
                fits &= count < case.k
            elif case.attacker == "method":
                fits &= count >= case.k
            elif case.attacker == "reader" and not case.hidden_before:
                fits &= count > 0
        return fits

    def told(self, hidden: frozenset[Cell]) -> list[Any]:
        """Groups of 1 to k - 1 people that are told, and small cells that are told to be empty."""
        fits = self.possible(hidden)
        assert fits.any()
        sizes = self.sizes[fits]
        least = sizes.min(axis=0)
        most = sizes.max(axis=0)
        found: list[Any] = [self.groups[place] for place in np.flatnonzero((least > 0) & (most < self.case.k)).tolist()]
        if self.case.attacker != "reader":
            may_be_filled = self.primary - self.public
            found += [("empty", cell) for cell in sorted(may_be_filled, key=str) if self.counts[cell][fits].max() == 0]
        return [
            *found,
            *(("narrow", cell) for cell in sorted(self.primary, key=str) if self.is_narrow(self.counts[cell][fits], cell)),
        ]

    def is_narrow(self, sizes: Whole, cell: Cell) -> bool:
        """Tell if the range of a small cell is narrower than the margin asks for."""
        count = self.truth[cell]
        if self.case.margin is None or count == 0:
            return False
        most = ceil(count * (1 + self.case.margin))
        if self.case.attacker != "reader":
            most = min(most, self.case.k - 1)
        least = 0 if self.case.attacker != "reader" or self.case.hidden_before else 1
        least = max(least, floor(count * (1 - self.case.margin)))
        return bool(sizes.min() > least or sizes.max() < most)

    @cached_property
    def public(self) -> frozenset[Cell]:
        """Cells that are known to be empty whatever is hidden."""
        fits = self.possible(self.primary | frozenset(self.free))
        return frozenset(cell for cell in self.primary if self.counts[cell][fits].max() == 0)

    def smallest(self) -> int | None:
        """The fewest further cells that tell nothing; -1 if none do, None if there are too many choices."""
        weight = {cell: sum(self.case.cell(line) == cell for line in self.case.lines) for cell in self.free}
        if 2 ** len(weight) > MOST_CHOICES:
            return None
        choices = [chosen for size in range(len(weight) + 1) for chosen in combinations(weight, size)]
        for chosen in sorted(choices, key=lambda one: sum(weight[cell] for cell in one)):
            if not self.told(self.primary | frozenset(chosen)):
                return sum(weight[cell] for cell in chosen)
        return -1


SHAPES = ("two-way", "three-way", "linked", "hierarchy")


def draw(seed: int, shape: str | None = None, margin: Fraction | None = None) -> Small:
    """Draw a case; with a margin, of a table that shows its small cells."""
    random = Random(seed)
    chosen = shape or random.choice(SHAPES)
    unions: dict[str, tuple[str, tuple[str, ...]]] = {}
    if chosen == "two-way":
        columns = {"a": ("a1", "a2", "a3")[: random.choice((2, 3))], "b": ("b1", "b2", "b3")[: random.choice((2, 3))]}
        tables = [lines_over(columns, ("a", "b"))]
    elif chosen == "three-way":
        columns = {"a": ("a1", "a2"), "b": ("b1", "b2"), "c": ("c1", "c2")}
        tables = [lines_over(columns, ("a", "b", "c"))]
    elif chosen == "linked":
        columns = {"a": ("a1", "a2"), "b": ("b1", "b2"), "c": ("c1", "c2")}
        tables = [lines_over(columns, ("a", "b")), lines_over(columns, ("b", "c"))]
    else:
        columns = {"a": ("a1", "a2", "a3"), "b": ("b1", "b2")}
        unions = {"A12": ("a", ("a1", "a2"))}
        tables = [lines_over(columns, ("a", "b"), ("A12",))]
    cells = 1
    for values in columns.values():
        cells *= len(values)
    n = random.randint(6, 12 if cells < 9 else 10)
    people = [0] * cells
    for _ in range(n):
        people[min(int(random.expovariate(2.5 / cells)), cells - 1)] += 1
    attackers: tuple[Attacker, ...] = ("method", "rule", "reader")
    k = random.choice((2, 3))
    attacker = random.choice(attackers)
    hidden_before = random.random() < 0.5 and margin is None
    return Small(columns, tuple(tables), tuple(people), k, attacker, hidden_before, unions, margin)


def lines_over(
    columns: dict[str, tuple[str, ...]], over: Sequence[str], unions: Sequence[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """All lines of a table with its totals."""
    first = next(iter(columns))
    parts = [(*values, *(unions if name == first else ()), "*") if name in over else ("*",) for name, values in columns.items()]
    return tuple(product(*parts))


def releases(case: Small) -> list[Any]:
    """The tables as Tacit takes them."""
    import tacit
    from tacit.model.frequencies import CellPrinting, FrequencyTable
    from tacit.model.release import ValueGroup

    judged = Judged(case)
    made = []
    for table in case.tables:
        used = [place for place, _ in enumerate(case.columns) if any(line[place] != "*" for line in table)]
        names = [list(case.columns)[place] for place in used]
        cells = [[line[place] for place in used] for line in table]
        counts: list[int | None] = [judged.truth[case.cell(line)] for line in table]
        printing = None
        if case.hidden_before:
            counts = [None if (count or 0) < case.k else count for count in counts]
            printing = CellPrinting(hidden_below=case.k)
        groups = tuple(ValueGroup(column, name, values) for name, (column, values) in case.unions.items())
        made.append(FrequencyTable.of(names, cells, counts, n=case.n, printing=printing, groups=groups, no_sa=True))
    assert tacit
    return made


def judge(case: Small) -> tuple[str, str]:
    """Compare a repair with the worlds; the outcome in a word, and details."""
    import tacit

    judged = Judged(case)
    best = judged.smallest()
    given = releases(case)
    try:
        done = tacit.repair(
            given if len(given) > 1 else given[0],
            method="suppress",
            k=case.k,
            attacker=case.attacker,
            protect=None if case.margin is None else float(case.margin),
            time_limit=60,
        )
    except tacit.Infeasible:
        return ("right", "infeasible") if best in (-1, None) else ("no result", f"{best} cells suffice")
    made = done.release if isinstance(done.release, tuple) else (done.release,)
    hidden = frozenset(
        case.cell(line)
        for table, release in zip(case.tables, made, strict=True)
        for line, is_hidden in zip(table, release.is_hidden, strict=True)
        if is_hidden
    )
    if not hidden >= judged.primary:
        return "unsafe", "a small cell is shown"
    for table, release in zip(case.tables, made, strict=True):
        shown = [count for count, is_hidden in zip(release.printed.tolist(), release.is_hidden, strict=True) if not is_hidden]
        true = [judged.truth[case.cell(line)] for line, is_hidden in zip(table, release.is_hidden, strict=True) if not is_hidden]
        if shown != true:
            return "false", "a published number is not true"
    told = judged.told(hidden)
    further = sum(case.cell(line) not in judged.primary and case.cell(line) in hidden for line in case.lines)
    if done.ok and told:
        return "unsafe", str(told[:2])
    if not done.ok:
        return "undecided", f"{done.after.verdict}, told {len(told)}"
    if best is not None and (best != further or not done.facts["optimal"]):
        return "not smallest", f"{further} hidden (optimal {done.facts['optimal']}), {best} suffice"
    return "right", f"{further} hidden" + ("" if best is not None else ", not compared")


def run(cases: int, seed: int, shape: str | None = None, margin: Fraction | None = None) -> Iterator[tuple[int, str, str]]:
    """Judge cases one after another."""
    for number in range(seed, seed + cases):
        yield (number, *judge(draw(number, shape, margin)))


def main() -> int:
    """Judge many cases; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.judge.suppression", description="Judge suppression against every world."
    )
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shape", choices=SHAPES)
    parser.add_argument("--protect", type=Fraction, help="the share by which ranges reach beyond counts")
    given = parser.parse_args()
    counted: dict[str, int] = {}
    start = time.monotonic()
    for number, outcome, told in run(given.cases, given.seed, given.shape, given.protect):
        word = outcome if outcome != "right" else f"right ({told.partition(' ')[2] or told})"
        counted[word] = counted.get(word, 0) + 1
        if outcome != "right":
            sys.stdout.write(f"{outcome}: --seed {number}: {told} in {draw(number, given.shape, given.protect)}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counted}, {time.monotonic() - start:.0f} s\n")
    return int(any(not word.startswith("right") for word in counted))


if __name__ == "__main__":
    raise SystemExit(main())
