"""Groups of l people who can all have each other's values: the paper's choice, and two that leave far fewer people over.

Every group is complete: its people have l different values, and each of them can have every one. So l values are valid for everybody, each with
probability 1/l.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.bucketing.classes import Classes, Numbers
from tacit.bucketing.recipes import Recipes
from tacit.model.policy import Limits

Rule = Literal["injector", "balanced-1", "balanced-2"]

#: So many groups are formed between two looks at the clock.
AT_A_TIME = 100_000


def form(classes: Classes, size: int, rule: Rule, limits: Limits) -> tuple[Recipes, Numbers]:
    """Groups of ``size`` people, and how many people of each class are left over.

    ``injector``: the first member is who can share a group with the fewest, each other one leaves the most people who still fit. ``balanced-1``:
    the others come from the value that the most people are left with, of that the class that can share a group with the fewest.
    ``balanced-2``: the first one as well; of a value, the class with the most values ruled out.

    >>> people = Classes.of(np.array([0, 0, 1, 1, 2]), np.zeros(5, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    >>> made, left = form(people, 2, "balanced-2", Limits())
    >>> [made.members(r) for r in range(len(made))], left.tolist()
    ([[0, 1]], [0, 0, 1])
    """
    from tacit.kernels import grouping as kernels

    numbered = {"injector": kernels.PRINTED, "balanced-1": kernels.BALANCED_1, "balanced-2": kernels.BALANCED_2}[rule]
    order = _order(classes, rule)
    value, kind, count = classes.value[order], classes.kind[order], classes.count[order]
    values, people = classes.values, classes.people.copy()
    excluded = classes.patterns.any(axis=0)
    place = np.where(excluded, np.cumsum(excluded) - 1, -1)
    without, excluders = _excluding(classes, place)
    starts = np.append(0, np.cumsum(classes.patterns.sum(axis=1)))
    listed = np.nonzero(classes.patterns)[1].astype(np.int64)
    # A class that cannot share a group with more people is on top of the heap; a sorted list is one.
    key = classes.incompatible[order]
    heap = np.lexsort((np.arange(len(key)), -key))
    first = np.searchsorted(value, np.arange(values + 1))
    by_people = np.lexsort((np.arange(values), -people))
    state = np.array([classes.n, len(heap), 0, 0], np.int64)
    out = np.zeros(classes.n // size * size, np.int32)
    ruled = classes.patterns.reshape(-1)
    while not state[kernels.DONE]:
        limits.check("bucketize")
        kernels.form_groups(
            numbered, size, AT_A_TIME, value, kind, count, first, ruled, starts, listed, people, place, without, excluders,
            by_people, heap, key, state, out,
        )  # fmt: skip
    groups = order[out[: int(state[kernels.MADE]) * size]].reshape(-1, size)
    return Recipes(groups), classes.count - np.bincount(groups.reshape(-1), minlength=len(classes))


def _order(classes: Classes, rule: Rule) -> Numbers:
    """The classes by value, and of a value the hardest first."""
    if rule == "injector":
        return np.arange(len(classes))
    hardness = classes.incompatible if rule == "balanced-1" else classes.patterns.sum(axis=1)[classes.kind]
    return np.lexsort((-hardness, classes.value))


def _excluding(classes: Classes, place: Numbers) -> tuple[Numbers, Numbers]:
    """How many people of each value cannot have another one, for the values that somebody cannot have; and for each value in all."""
    table = np.zeros((int(place.max(initial=-1)) + 1, classes.values), np.int64)
    for value in np.flatnonzero(place >= 0).tolist():
        table[place[value]] = np.bincount(
            classes.value, weights=np.where(classes.able(value), 0, classes.count), minlength=classes.values
        )
    excluders = np.zeros(classes.values, np.int64)
    excluders[place >= 0] = table.sum(axis=1)
    return table.reshape(-1), excluders
