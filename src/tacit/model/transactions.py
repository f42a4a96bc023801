"""Transactions: who has which items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.model.items import Items
from tacit.model.sets import Sets
from tacit.model.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Transactions:
    """Rows of items with weights: ``weights[i]`` people have exactly the items of ``rows[i]``.

    >>> baskets = Transactions.from_lists([["beer", "crisps"], ["beer", "beer"], []])
    >>> baskets.n, baskets.items.names, len(baskets.rows)
    (3, ('beer', 'crisps'), 3)
    """

    rows: Sets
    weights: npt.NDArray[np.int64]
    items: Items
    source: Source | None = None

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[object]]) -> Transactions:
        """Transactions from lists of item names; an empty list is a person without items."""
        rows = [[str(item) for item in row] for row in lists]
        names = sort_names({item for row in rows for item in row})
        number = {name: i for i, name in enumerate(names)}
        sets = Sets.from_lists([number[item] for item in row] for row in rows)
        return cls(sets, np.ones(len(sets), np.int64), Items(names))

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self.weights.sum())

    def has_one_of(self, names: Iterable[str]) -> bool:
        """Whether everybody has exactly one of these items, as of the values of a column."""
        wanted = frozenset(names)
        named = np.array([name in wanted for name in self.items.names], np.bool_)
        each = np.bincount(self.rows.owners(), named[self.rows.members], len(self.rows))
        return bool((each == 1).all())

    def merged(self) -> Transactions:
        """The same people with equal rows merged into one, in the order of their first appearance."""
        if len(self.rows) < 2:
            return self
        keys = self.rows.hashes()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(keys):
            return self
        # Rows are merged only where they are really equal: a row that merely shares the hash of another stays by itself.
        head = first[group]
        same = self.rows.lengths == self.rows.lengths[head]
        rows_of = self.rows.owners()
        where_in_row = np.arange(len(self.rows.members)) - self.rows.offsets[rows_of]
        candidates = same[rows_of]
        twin = self.rows.members[np.where(candidates, self.rows.offsets[head[rows_of]] + where_in_row, 0)]
        differs = rows_of[candidates & (twin != self.rows.members)]
        same[differs] = False
        target = np.where(same, head, np.arange(len(keys)))
        weights = np.bincount(target, weights=None, minlength=len(keys)) if (self.weights == 1).all() else None
        if weights is None:
            weights = np.zeros(len(keys), np.int64)
            np.add.at(weights, target, self.weights)
        kept = np.flatnonzero(target == np.arange(len(keys)))
        return replace(self, rows=self.rows.take(kept), weights=weights[kept].astype(np.int64))


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names in the order people expect: by number when all are whole numbers, else by text.

    >>> sort_names({"10", "9"}), sort_names({"b", "10"})
    (('9', '10'), ('10', 'b'))
    """
    listed = list(names)
    if all(name.isascii() and name.isdecimal() for name in listed):
        # By length and text instead of by number: Python reads no number of thousands of digits.
        plain = {name: name.lstrip("0") for name in listed}
        return tuple(sorted(listed, key=lambda name: (len(plain[name]), plain[name], name)))
    return tuple(sorted(listed))
