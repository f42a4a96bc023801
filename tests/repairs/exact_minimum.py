"""The fewest people that must change so that frequent itemsets give nobody away: an integer program, the yardstick of the repairs.

Variables: how many people have each of the 2**p possible rows; for every set of items whether it is frequent; for every group on every set
whether anybody is in it. A set that is not frequent is not published, so its groups may be small; a group on a frequent set is empty or has at
least k members. Nothing here uses Tacit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tests.itemsets.naive_channels import Row, subsets

Change = Literal["replace", "add", "delete"]


class _Program:
    """Rows of an integer program as they are written down: ``sum of factor * variable >= least``."""

    def __init__(self, variables: int) -> None:
        self.variables = variables
        self._entries: list[tuple[int, int, float]] = []
        self._least: list[float] = []

    def at_least(self, terms: Sequence[tuple[int, float]], least: float) -> None:
        self._entries += [(len(self._least), variable, factor) for variable, factor in terms]
        self._least.append(least)

    def constraint(self) -> LinearConstraint:
        rows, columns, factors = (list(part) for part in zip(*self._entries, strict=True))
        matrix = csr_array((factors, (rows, columns)), shape=(len(self._least), self.variables))
        return LinearConstraint(matrix, np.array(self._least), np.inf)


def fewest_changed(rows: Sequence[Row], items: str, sigma: int, k: int, change: Change) -> int:
    """The fewest people replaced, added or deleted after which no group of 1..k-1 people follows from the itemsets of at least sigma."""
    kinds = list(subsets(items))
    people = np.array([Counter(rows)[kind] for kind in kinds], float)
    most = len(rows) + (len(kinds) * k if change == "add" else 0)
    families = [(whole, part) for whole in kinds for part in subsets(whole)]
    # In this order: people of each kind, people of each kind that came (for "replace"), frequent or not, somebody there or not.
    came, frequent = len(kinds), 2 * len(kinds)
    inhabited = frequent + len(kinds)
    program = _Program(inhabited + len(families))
    for number, whole in enumerate(kinds):
        having = [(t, -1.0) for t, kind in enumerate(kinds) if whole <= kind]
        # The empty set is never published, but everybody knows how many people there are.
        program.at_least([*having, (frequent + number, float(most))], 1 - sigma if whole else -most)
        program.at_least([(came + number, 1.0), (number, -1.0)], -people[number])
    for number, (whole, part) in enumerate(families):
        members = [(t, 1.0) for t, kind in enumerate(kinds) if kind & whole == part]
        somebody, published = inhabited + number, frequent + kinds.index(whole)
        program.at_least([*((t, -factor) for t, factor in members), (somebody, float(most))], 0)
        program.at_least([*members, (somebody, -float(k)), (published, -float(most))], -most)
    lower, upper = np.zeros(program.variables), np.ones(program.variables)
    upper[:frequent] = most
    lower[frequent + kinds.index(frozenset())] = 1
    price = np.zeros(program.variables)
    if change == "replace":
        price[came:frequent] = 1
        program.at_least([(t, 1.0) for t in range(len(kinds))], len(rows))
        program.at_least([(t, -1.0) for t in range(len(kinds))], -len(rows))
    elif change == "add":
        price[: len(kinds)], lower[: len(kinds)] = 1, people
    else:
        price[: len(kinds)], upper[: len(kinds)] = -1, people
    found = milp(
        price, constraints=program.constraint(), bounds=Bounds(lower, upper), integrality=np.ones(program.variables, np.int64)
    )
    assert found.success, found.message
    total = round(float(found.fun))
    return total if change == "replace" else total - len(rows) if change == "add" else total + len(rows)
