"""The value graph of a group: which values everybody in it can have, from one assignment that fits (their own) and what can be exchanged.

Value u leads to v when somebody with u can have v. A person can have v, in some assignment, when nothing rules it out for her and v leads, step
by step, back to her own value: everybody along the way passes hers on.
"""

from __future__ import annotations

import numpy as np

from tacit.bucketing.classes import Classes, Flags, Numbers


def leads_to(holder: Numbers, may: Flags) -> Flags:
    """Which value leads to which, in any number of steps: row i of ``may`` says which values somebody with value ``holder[i]`` can have."""
    step = np.zeros((may.shape[1], may.shape[1]), np.bool_)
    np.logical_or.at(step, holder, may)
    np.fill_diagonal(step, True)
    for middle in range(len(step)):
        step[step[:, middle]] |= step[middle]
    return step


def valid_values(classes: Classes, present: Numbers) -> Flags:
    """Which values people of each class ``present`` can have when they are together: a row for each of these classes.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([[False] * 3, [True, False, True]]), seed=0)
    >>> valid_values(people, np.array([0, 1, 2])).tolist()
    [[True, False, True], [False, True, False], [True, False, True]]
    """
    held, holder = np.unique(classes.value[present], return_inverse=True)
    may = classes.may_have(present)[:, held]
    valid = np.zeros((len(present), classes.values), np.bool_)
    valid[:, held] = may & leads_to(holder, may)[:, holder].T
    return valid


def chain(classes: Classes, present: Numbers, goal: int, start: int) -> list[int] | None:
    """The fewest classes that pass values on from somebody who has value ``start`` to somebody who takes ``goal``; None where there are none.

    >>> people = Classes.of(np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], np.bool_), seed=0)
    >>> chain(people, np.array([0, 1, 2]), goal=0, start=1)
    [1, 2]
    """
    via: dict[int, tuple[int, int]] = {start: (-1, -1)}
    front = [start]
    while front and goal not in via:
        following: list[int] = []
        for value in front:
            for one in present[classes.value[present] == value].tolist():
                for taken in np.flatnonzero(classes.may_have(one)).tolist():
                    if taken not in via:
                        via[taken] = (value, one)
                        following.append(taken)
        front = following
    if goal not in via:
        return None
    classes_used: list[int] = []
    at = goal
    while at != start:
        at, one = via[at]
        classes_used.append(one)
    return classes_used[::-1]
