"""The methods by name, from classes of people to the group of every row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.bucketing.anatomy import anatomize
from tacit.bucketing.bounded import join_complete, join_probable, size_for
from tacit.bucketing.classes import Classes, Codes, Flags, Numbers
from tacit.bucketing.grouping import Rule, form
from tacit.bucketing.recipes import Recipes
from tacit.bucketing.residue import join_groups
from tacit.model.policy import Limits

Method = Literal["injector", "balanced", "balanced-1", "balanced-2", "anatomy"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The group of each row, -1 for rows in none; ``method`` made the groups.

    ``residue`` people had no group of l at first, ``merges`` groups were merged for them; ``beyond`` of them are not within the bound on
    probabilities, as far as was found.
    """

    method: Method
    group: Codes
    residue: int
    merges: int
    beyond: int


@dataclass(frozen=True, eq=False)
class _Made:
    """Recipes of groups for everybody but those of ``outside``, and how they came about."""

    method: Method
    recipes: Recipes
    residue: int
    merges: int = 0
    beyond: int = 0
    outside: int = 0

    @property
    def merit(self) -> tuple[int, int, int]:
        """Smaller is better: people beyond the bound or left out, people without a group at first, the largest group."""
        return self.beyond + self.outside, self.residue, int(self.recipes.sizes[self.recipes.groups > 0].max(initial=0))


def group_people(
    sensitive: npt.NDArray[np.integer],
    kind: npt.NDArray[np.integer],
    patterns: Flags,
    *,
    least: int,
    method: Method = "balanced",
    bound: Fraction | None = None,
    suppress: bool = False,
    seed: int = 0,
    limits: Limits | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Grouped:
    """The group of each row, such that everybody has ``least`` valid values; this must be possible.

    Row i has the value ``sensitive[i]``, and ``patterns[kind[i]]`` says which values are ruled out for it. With ``bound``, groups are formed in
    which no value is more probable; people for whom none is found are left out with ``suppress``, else they join a group all the same.
    ``anatomy`` does not look at what is ruled out.

    >>> made = group_people(np.array([0, 1, 0, 1, 2]), np.zeros(5, np.int64), np.zeros((1, 3), np.bool_), least=2)
    >>> sorted(np.bincount(made.group).tolist()), made.residue, made.method
    ([2, 3], 1, 'balanced-1')
    """
    limits = limits or Limits()
    if method == "anatomy":
        kind, patterns = np.zeros(len(sensitive), np.int64), np.zeros((1, patterns.shape[1]), np.bool_)
    classes = Classes.of(sensitive, kind, patterns, seed=seed)
    if method == "anatomy":
        recipes, left_over = anatomize(classes, least, limits, seed=seed)
        made = _Made(method, recipes, left_over)
    else:
        rules: tuple[Rule, ...] = ("balanced-1", "balanced-2") if method == "balanced" else (method,)
        tried = []
        for number, rule in enumerate(rules):
            tried.append(_made(classes, rule, least, bound, suppress, limits))
            progress((number + 1) / len(rules))
        made = min(tried, key=lambda one: one.merit)
    group = made.recipes.assign(classes, len(sensitive), seed=seed)
    return Grouped(made.method, group, made.residue, made.merges, made.beyond)


def _made(classes: Classes, rule: Rule, least: int, bound: Fraction | None, suppress: bool, limits: Limits) -> _Made:
    """Groups for everybody by one rule."""
    size = least if bound is None else size_for(least, bound)
    recipes, left = form(classes, size, rule, limits)
    residue = int(left.sum())
    if bound is not None:
        left = join_probable(recipes, join_complete(recipes, left, classes, bound, limits), classes, bound, limits)
        if suppress and len(recipes):
            return _Made(rule, recipes, residue, outside=int(left.sum()))
    beyond = int(left.sum()) if bound is not None else 0
    return _Made(rule, recipes, residue, _placed(recipes, left, classes, least, limits), beyond)


def _placed(recipes: Recipes, left: Numbers, classes: Classes, least: int, limits: Limits) -> int:
    """Everybody who is left joins a group; how many were merged."""
    return join_groups(recipes, left, classes, least, limits) if left.any() else 0
