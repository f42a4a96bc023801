"""Known totals by enumerating the assignments of all groups together, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import numpy.typing as npt

from tacit.buckets.statistics import Statistics
from tacit.model.knowledge import Exclusions

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]


def worlds(own: Ints, group: Ints, known: Exclusions) -> list[tuple[int, ...]]:
    """Every assignment of the groups' values to their people that excludes nothing ruled out."""
    groups = [np.flatnonzero(group == number).tolist() for number in range(int(group.max()) + 1)]
    found = []
    for choice in product(*(sorted(set(permutations(own[rows].tolist()))) for rows in groups)):
        world = np.empty(len(own), np.int64)
        for rows, values in zip(groups, choice, strict=True):
            world[rows] = values
        if not known.patterns[known.kind, world].any():
            found.append(tuple(int(value) for value in world))
    return found


def totals(world: Sequence[int], statistics: Statistics) -> list[float]:
    """The total of each fact in a world."""
    inside = statistics.inside[statistics.kind]
    return [
        float(sum(statistics.amounts[fact][value] for row, value in enumerate(world) if inside[row, fact]))
        for fact in range(len(statistics))
    ]


def shares_by_worlds(every: list[tuple[int, ...]], statistics: Statistics, n_values: int) -> Floats:
    """Each person's probabilities under the distribution over worlds of maximum entropy whose mean totals are within bounds."""
    import cvxpy

    of_world = np.array([totals(world, statistics) for world in every])
    p = cvxpy.Variable(len(every))
    low, high = ([float(end) for end in ends] for ends in (statistics.lo, statistics.hi))
    bounds = [cvxpy.sum(p) == 1, of_world.T @ p >= low, of_world.T @ p <= high]
    cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.entr(p))), bounds).solve(solver="CLARABEL")
    out = np.zeros((len(every[0]), n_values))
    for world, share in zip(every, p.value, strict=True):
        out[np.arange(len(world)), list(world)] += share
    return out
