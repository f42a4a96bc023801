"""Recipes: which classes a group is made of. Groups of one recipe are interchangeable, and there are few recipes however many people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.bucketing.classes import Classes, Codes, Numbers


class Recipes:
    """Lists of classes with the number of groups that each makes; both change while people are added to groups.

    >>> recipes = Recipes(np.array([[2, 0], [1, 3], [0, 2]]))
    >>> [(recipes.members(r), int(recipes.groups[r])) for r in range(len(recipes))]
    [([0, 2], 2), ([1, 3], 1)]
    >>> recipes.extend(0, 1, [5])
    2
    >>> recipes.members(2), recipes.groups.tolist()
    ([0, 2, 5], [1, 1, 1])
    """

    def __init__(self, groups: np.ndarray) -> None:
        """Recipes of groups of equal size, a row of classes for each."""
        found, number = _distinct_rows(np.sort(groups, axis=1)) if groups.size else (groups, np.empty(0, np.int64))
        self._used, self._filled = len(found), found.size
        self._starts = np.arange(len(found) + 1, dtype=np.int64) * (groups.shape[1] if groups.ndim == 2 else 0)
        self._members, self._groups = found.reshape(-1).astype(np.int64), number.astype(np.int64)

    def __len__(self) -> int:
        return self._used

    @property
    def starts(self) -> Numbers:
        """Where the list of each recipe begins; the last one is where they all end."""
        return self._starts[: self._used + 1]

    @property
    def listed(self) -> Numbers:
        """The classes of all recipes, one list after the other."""
        return self._members[: self._filled]

    @property
    def groups(self) -> Numbers:
        """How many groups each recipe makes."""
        return self._groups[: self._used]

    @property
    def sizes(self) -> Numbers:
        """How many people a group of each recipe has."""
        return np.diff(self.starts)

    def members(self, recipe: int) -> list[int]:
        """The classes of a recipe, one entry for each person."""
        return [int(c) for c in self._members[self._starts[recipe] : self._starts[recipe + 1]]]

    def extend(self, recipe: int, number: int, classes: Sequence[int]) -> int:
        """So many groups of a recipe get these people as well; the number of their new recipe."""
        self.take(recipe, number)
        return self.add(sorted([*self.members(recipe), *classes]), number)

    def take(self, recipe: int, number: int) -> None:
        """So many groups of a recipe are no more."""
        self._groups[recipe] -= number

    def merge(self, recipes: Sequence[int], classes: Sequence[int]) -> int:
        """One group of each recipe and these people become one group; the number of its recipe."""
        together = list(classes)
        for recipe in recipes:
            self.take(recipe, 1)
            together += self.members(recipe)
        return self.add(sorted(together), 1)

    def add(self, classes: Sequence[int], number: int) -> int:
        """Append a recipe that makes so many groups; its number."""
        self._members = _with_room(self._members, self._filled + len(classes))
        self._starts, self._groups = _with_room(self._starts, self._used + 2), _with_room(self._groups, self._used + 1)
        self._members[self._filled : self._filled + len(classes)] = classes
        self._filled += len(classes)
        self._used += 1
        self._starts[self._used], self._groups[self._used - 1] = self._filled, number
        return self._used - 1

    def assign(self, classes: Classes, rows: int, *, seed: int) -> Codes:
        """The number of each row's group, which says nothing about its recipe; -1 for rows that are in none."""
        number = np.random.default_rng([seed, 1]).permutation(int(self.groups.sum())).astype(np.int32)
        following, first = classes.starts.tolist(), 0
        out = np.full(rows, -1, np.int32)
        for recipe in np.flatnonzero(self.groups).tolist():
            groups = int(self._groups[recipe])
            for one in self.members(recipe):
                out[classes.rows[following[one] : following[one] + groups]] = number[first : first + groups]
                following[one] += groups
            first += groups
        return out


def _with_room(array: Numbers, needed: int) -> Numbers:
    """The array, or a copy twice as long where it is too short."""
    if needed <= len(array):
        return array
    longer = np.zeros(max(needed, 2 * len(array)), np.int64)
    longer[: len(array)] = array
    return longer


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, Numbers]:
    """Each row once, and how often it occurs."""
    key, largest = np.zeros(len(rows), np.int64), 1
    top = int(rows.max(initial=0)) + 1
    for column in rows.T:
        if largest * top >= 1 << 62:
            # Numbered anew, the key lies below rows x classes: it never overflows.
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            largest = len(key)
        key, largest = key * top + column, largest * top
    _, first, number = np.unique(key, return_index=True, return_counts=True)
    return rows[first], number
