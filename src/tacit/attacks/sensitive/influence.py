"""Which published lines push estimates over a limit, from the multipliers of the estimate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.attacks.sensitive.case import LINE, RuleCase
from tacit.attacks.sensitive.missing import Estimate

Floats = npt.NDArray[np.float64]


def influence_of_lines(case: RuleCase, found: Estimate, over: npt.NDArray[np.bool_]) -> Floats:
    """For each line, how strongly it raises the estimates that are ``over`` a limit, summed over the people they are about.

    The logarithm of P(v | q) grows with the multiplier of a statement about value w by ``[v = w] - P(w | q)``, for every q that the statement
    is about. Values that single statements settle have no multiplier; there each line about the combination that says "all" or "nobody" counts.
    """
    problem, solution = found.problem, found.solution
    weights = np.zeros(len(case.release))
    if not over.any():
        return weights
    n_classes, n_values = problem.closed.shape
    # How many people of each class are over the limit with each value.
    people = np.zeros((n_classes, n_values))
    which, value = np.nonzero(over)
    np.add.at(people, (problem.class_of[which], value), case.population.people[which])
    owner = np.repeat(np.arange(n_classes), np.diff(problem.starts))
    rows = problem.rows
    about = problem.values[rows]
    for v in range(n_values):
        slope = (about == v) - solution.share[owner, about]
        push = np.maximum(solution.multipliers[rows] * slope, 0.0) * people[owner, v]
        for row, total in enumerate(np.bincount(rows, push, len(problem.values))):
            for origin in problem.origins[row] if total > 0 else ():
                if isinstance(origin, tuple) and origin[0] == LINE:
                    weights[origin[1]] += total
    settled = people.sum(axis=1) * (problem.closed.sum(axis=1) == n_values - 1)
    if settled.any():
        by_combination = np.zeros(len(case.population))
        inside = np.unique(which)
        by_combination[inside] = case.population.people[inside] * (settled[problem.class_of[inside]] > 0)
        lo, hi = case.counts
        for line, holders in enumerate(case.holders):
            if lo[line] == case.wholes[line] or hi[line] == 0:
                weights[line] += by_combination[holders].sum()
    if not weights.any():  # settled by several lines together: whichever speaks of these people may be one of them
        concerned = np.where(over.any(axis=1), case.population.people, 0)
        return np.array([float(concerned[holders].sum()) for holders in case.holders])
    return weights
