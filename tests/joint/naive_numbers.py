"""Sums of small tables by brute force: linear programs of scipy over combinations of values, and every division of people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

import numpy as np
from scipy.optimize import LinearConstraint, linprog, milp

COLUMNS = {"a": ("a1", "a2"), "b": ("b1", "b2", "b3")}
Cell = tuple[frozenset[str], frozenset[str]]
KINDS = tuple(product(*COLUMNS.values()))


@dataclass(frozen=True)
class Case:
    """A two-way table with totals: people by combination, their values, and what each line hides."""

    values: tuple[tuple[int, ...], ...]  #: The values of the people of each combination.
    hidden: frozenset[int]  #: Lines without count and sum: of fewer than k people.
    withheld: frozenset[int]  #: Lines with a count and without a sum.
    k: int
    gone: frozenset[int] = frozenset()  #: Lines without count and sum, of any size.

    @property
    def silent(self) -> frozenset[int]:
        """Lines without a sum."""
        return self.hidden | self.withheld | self.gone

    @property
    def lines(self) -> list[tuple[str, str]]:
        return list(product((*COLUMNS["a"], "*"), (*COLUMNS["b"], "*")))

    def cell(self, line: tuple[str, str]) -> Cell:
        return tuple(frozenset(own if value == "*" else [value]) for own, value in zip(COLUMNS.values(), line, strict=True))  # type: ignore[return-value]

    def inside(self, cell: Cell) -> np.ndarray:
        return np.array([all(value in own for value, own in zip(kind, cell, strict=True)) for kind in KINDS])

    def count(self, cell: Cell) -> int:
        return sum(len(own) for own, has in zip(self.values, self.inside(cell), strict=True) if has)

    def total(self, cell: Cell) -> int:
        return sum(sum(own) for own, has in zip(self.values, self.inside(cell), strict=True) if has)


def draw(seed: int) -> Case:
    """Draw a case."""
    random = Random(seed)
    k = random.choice((2, 3, 4))
    values = tuple(tuple(random.choice((0, 1, 2, 5, 50)) for _ in range(random.choice((0, 1, 2, 3, 5, 6)))) for _ in KINDS)
    bare = Case(values, frozenset(), frozenset(), k)
    small = {number for number, line in enumerate(bare.lines) if bare.count(bare.cell(line)) < k and "*" not in line}
    others = [number for number in range(len(bare.lines) - 1) if number not in small]
    more = random.sample(others, random.randint(0, 3))
    return Case(values, frozenset(small), frozenset(more), k)


def sum_range(case: Case, cell: Cell) -> tuple[float, float]:
    """The smallest and the largest sum of a group that fits all printed sums."""
    rows = []
    sums = []
    for number, line in enumerate(case.lines):
        if number not in case.silent or (case.count(case.cell(line)) == 0 and number in case.withheld):
            rows.append(case.inside(case.cell(line)).astype(float))
            sums.append(float(case.total(case.cell(line))))
    cost = case.inside(cell).astype(float)
    ends = []
    for sign in (1, -1):
        found = linprog(sign * cost, A_eq=np.array(rows), b_eq=np.array(sums), bounds=(0, None), method="highs")
        assert found.status == 0
        assert found.fun is not None
        ends.append(sign * float(found.fun))
    return ends[0], ends[1]


def people_range(case: Case, cell: Cell) -> tuple[int, int]:
    """The fewest and the most people of a group that fit all printed counts, by integer programs."""
    rows = []
    low = []
    high = []
    for number, line in enumerate(case.lines):
        rows.append(case.inside(case.cell(line)).astype(float))
        count = case.count(case.cell(line))
        low.append(0 if number in case.hidden | case.gone else count)
        high.append(case.k - 1 if number in case.hidden else sum(map(len, case.values)) if number in case.gone else count)
    ends = []
    for sign in (1, -1):
        found = milp(
            sign * case.inside(cell).astype(float),
            constraints=LinearConstraint(np.array(rows), low, high),
            integrality=np.ones(len(KINDS), np.int64),
        )
        assert found.status == 0
        ends.append(round(sign * float(found.fun)))
    return ends[0], ends[1]


def groups() -> Iterator[Cell]:
    """All groups of one or several values of each column, but everybody."""
    sets = [[frozenset(one) for size in range(1, len(own) + 1) for one in combinations(own, size)] for own in COLUMNS.values()]
    for cell in product(*sets):
        if any(len(own) < len(all_values) for own, all_values in zip(cell, COLUMNS.values(), strict=True)):
            yield cell  # type: ignore[misc]


def is_told(case: Case, cell: Cell, *, is_withheld: bool = False) -> bool:
    """Tell if the sum of a group is told: closely, of few people or where it is withheld."""
    least, most = sum_range(case, cell)
    if least < 1e-6 or (most - least) * 10 > most + 1e-6:
        return False
    return is_withheld or people_range(case, cell)[1] < case.k


def told_lines(case: Case) -> Sequence[Cell]:
    """The groups that are told, and the withheld lines that are."""
    found = [cell for cell in groups() if is_told(case, cell)]
    lines = [case.cell(case.lines[number]) for number in sorted(case.withheld | case.gone)]
    return [*found, *(cell for cell in lines if case.count(cell) > 0 and is_told(case, cell, is_withheld=True))]


def told_groups(case: Case) -> list[Cell]:
    """The groups that are told to hold 1 to k - 1 people."""
    ranges = {cell: people_range(case, cell) for cell in groups()}
    return [cell for cell, (least, most) in ranges.items() if least > 0 and most < case.k]
