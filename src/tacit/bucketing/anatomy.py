"""Anatomy, the rival: groups of l people with different values, whatever is known about them (Xiao and Tao 2006)."""

from __future__ import annotations

import numpy as np

from tacit.bucketing.classes import Classes
from tacit.bucketing.grouping import form
from tacit.bucketing.recipes import Recipes
from tacit.bucketing.residue import same_value
from tacit.model.policy import Limits


def anatomize(classes: Classes, least: int, limits: Limits, *, seed: int) -> tuple[Recipes, int]:
    """Groups from the l values that the most people are left with, and how many people were left over and joined a group without their value.

    ``classes`` must not tell kinds apart, and no value may have more than n/l people. Which person of a value is taken is left to chance, as is
    the group that somebody left over joins.

    >>> people = Classes.of(np.array([0, 0, 0, 1, 1, 2, 2]), np.zeros(7, np.int64), np.zeros((1, 3), np.bool_), seed=0)
    >>> made, left_over = anatomize(people, 2, Limits(), seed=0)
    >>> sorted(made.sizes[made.groups > 0].tolist()), left_over
    ([2, 2, 3], 1)
    """
    recipes, left = form(classes, least, "balanced-2", limits)
    chance = np.random.default_rng([seed, 2])
    left_over = np.repeat(np.arange(len(classes)), left).tolist()
    for one in left_over:
        open_to = np.where(same_value(recipes, classes, int(classes.value[one])) == 0, recipes.groups, 0)
        ends = np.cumsum(open_to)
        recipes.extend(int(np.searchsorted(ends, chance.integers(ends[-1]), side="right")), 1, [one])
    return recipes, len(left_over)
