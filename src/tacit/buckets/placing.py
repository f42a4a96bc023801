"""Groups of any number of people, made part by part.

The groups of a large table are known by their recipes; who is in which group follows from permutations that are computed element by element. So
the release is made in parts of whole groups, in its own order, and nothing as long as the table is ever in memory. The keys of the permutations
come from the data and the seed: who does not have the data cannot repeat them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.buckets.classes import Classes
from tacit.buckets.grouping import Recipes
from tacit.kernels.placing import draw_keys, place_groups, remove_unplaced
from tacit.model.arrays import Codes, Ints
from tacit.model.table import Table

PART = 1_000_000  #: People in a part of a release, about.


def secret_seed(people: Table, seed: int) -> int:
    """Return a seed that depends on all of the data."""
    digest = hashlib.sha256(str(seed).encode())
    for column in people.columns:
        digest.update(repr((column.name, column.values)).encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(column.codes, "<i4").tobytes())
    digest.update(np.ascontiguousarray(people.weights, "<i8").tobytes())
    return int.from_bytes(digest.digest()[:16], "little")


@dataclass(frozen=True, eq=False)
class Placement:
    """People of weighted rows in the groups of recipes, computed on demand."""

    recipes: Recipes
    classes: Classes
    weights: Ints
    seed: int

    @cached_property
    def _recipes(self) -> tuple[Ints, Ints, Ints, Ints]:
        groups = self.recipes.groups
        listed = self.recipes.listed
        repeated = np.repeat(groups, self.recipes.sizes)
        # The groups of a recipe take the next places of each class that it lists.
        by_class = np.argsort(listed, kind="stable")
        before = np.cumsum(repeated[by_class]) - repeated[by_class]
        start_of_class = before[np.searchsorted(listed[by_class], listed[by_class])]
        base = np.empty(len(listed), np.int64)
        base[by_class] = before - start_of_class
        return np.append(0, np.cumsum(groups)), self.recipes.starts.copy(), listed.copy(), base

    @cached_property
    def _classes(self) -> tuple[Ints, Ints, Ints, Ints]:
        rows = self.classes.rows
        ends = np.cumsum(self.weights[rows])
        people = np.append(0, np.cumsum(self.classes.count))
        return people, ends, rows.astype(np.int64), self.classes.starts.astype(np.int64)

    @cached_property
    def _keys(self) -> tuple[np.ndarray, np.ndarray]:
        chance = np.random.default_rng([self.seed, 3])
        return draw_keys(chance, 1)[0], draw_keys(chance, max(1, len(self.classes)))

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.recipes.groups.sum())

    @property
    def placed(self) -> Ints:
        """Number of people of each class in groups."""
        repeated = np.repeat(self.recipes.groups, self.recipes.sizes)
        return np.bincount(self.recipes.listed, repeated, len(self.classes)).astype(np.int64)

    @property
    def placed_weights(self) -> Ints:
        """Number of people of each row in groups."""
        out = self.weights.copy()
        placed = self.placed
        remove_unplaced(out, placed, self.classes.count - placed, self._classes, self._keys[1])
        return out

    def parts(self) -> Iterator[tuple[int, Ints, Codes]]:
        """Yield parts of whole groups: first group, rows, and groups within the part."""
        people = int(self.placed.sum())
        largest = int(self.recipes.sizes[self.recipes.groups > 0].max(initial=1))
        step = max(1, PART * self.groups // max(1, people))
        for begin in range(0, self.groups, step):
            end = min(begin + step, self.groups)
            room = min(people, (end - begin) * largest)  # memory that is not written to costs nothing
            rows = np.empty(room, np.int64)
            group = np.empty(room, np.int32)
            used = place_groups(begin, end, self._recipes, self._classes, *self._keys, rows, group)
            yield begin, rows[:used].copy(), group[:used].copy()
