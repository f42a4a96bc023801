"""The judge against a plain list of all worlds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np
import pytest

from tests.judge.cases import KINDS, Case, draw
from tests.judge.worlds import Flags, Problem, Space, between, span


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to divide so many people among cells."""
    for bars in combinations(range(total + parts - 1), parts - 1):
        edges = (-1, *bars, total + parts - 1)
        yield tuple(edges[i + 1] - edges[i] - 1 for i in range(parts))


def sizes_one_by_one(problem: Problem, most: int, groups: list[Flags]) -> list[int]:
    """The sizes of groups as bits, world by world."""
    bits = [0] * len(groups)
    for total in range(most + 1):
        for world in compositions(total, len(problem.space.cells)):
            people = np.array(world)
            sums = [int(row @ people) for row in problem.rows]
            if all(any(problem.lo[one] <= sums[one] <= problem.hi[one] for one in choice) for choice in problem.choices):
                bits = [old | 1 << int(people[group].sum()) for old, group in zip(bits, groups, strict=True)]
    return bits


def small_cases(kind: str) -> Iterator[Case]:
    """Some cases of a kind whose worlds can be listed one by one."""
    cases = (draw(kind, seed) for seed in range(400))
    yield from islice((case for case in cases if case.most <= 5 and len(case.space().cells) <= 8), 3)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_are_those_of_all_worlds_listed_one_by_one(kind: str) -> None:
    for case in small_cases(kind):
        space = case.space()
        problem = case.problem(space)
        groups = [space.flags(*group) for group in case.groups(space)][::3]
        assert problem.sizes(case.most, groups) == sizes_one_by_one(problem, case.most, groups)


def test_a_problem_without_a_world() -> None:
    problem = Problem(Space({"A": ("x", "y")}))
    problem.add(between({}, 3, 3))
    problem.add(between({"A": frozenset("x")}, 4))
    assert problem.sizes(3, [problem.space.flags({})]) == [0]


def test_span_of_bits() -> None:
    assert span(0b1011000) == (3, 6)
