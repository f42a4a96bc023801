"""Classes of people who are interchangeable: the same sensitive value, and the same values ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Classes:
    """The people of class c have ``value[c]``, and ``patterns[kind[c]]`` ruled out; ``rows[starts[c]:starts[c + 1]]`` are their rows, shuffled.

    >>> made = Classes.of(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 0]), np.array([[False, False], [False, True]]), seed=0)
    >>> made.value.tolist(), made.kind.tolist(), made.count.tolist(), made.may_have(np.arange(3)).tolist()
    ([0, 0, 1], [0, 1, 0], [2, 1, 1], [[True, True], [True, False], [True, True]])
    """

    value: Numbers
    kind: Numbers
    count: Numbers
    patterns: Flags
    starts: Numbers
    rows: Numbers

    @classmethod
    def of(cls, sensitive: npt.NDArray[np.integer], kind: npt.NDArray[np.integer], patterns: Flags, *, seed: int) -> Classes:
        """The classes of people, each with a code of its value and a kind, in the order of values and then kinds."""
        kinds, rows = max(1, len(patterns)), len(sensitive)
        key = sensitive.astype(np.int64) * kinds + kind
        if kinds * patterns.shape[1] <= max(4 * rows, 1 << 16):  # counted, not sorted, where the table of combinations is small
            numbers = np.bincount(key, minlength=1)
            cells = np.flatnonzero(numbers)
            fresh = np.zeros(len(numbers), np.int64)
            fresh[cells] = np.arange(len(cells))
            of_row, count = fresh[key], numbers[cells]
        else:
            cells, of_row, count = np.unique(key, return_inverse=True, return_counts=True)
        # Numbers of 16 bits are sorted much faster.
        by_class = np.argsort(of_row.astype(np.uint16 if len(cells) < 1 << 16 else np.int64), kind="stable")
        chance, starts = np.random.default_rng(seed), np.append(0, np.cumsum(count))
        for begin, end in pairwise(starts.tolist()):
            chance.shuffle(by_class[begin:end])
        return cls(cells // kinds, cells % kinds, count.astype(np.int64), patterns, starts, by_class)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.rows)

    @property
    def values(self) -> int:
        """How many sensitive values there are."""
        return int(self.patterns.shape[1])

    @cached_property
    def people(self) -> Numbers:
        """How many people have each value."""
        return np.bincount(self.value, weights=self.count, minlength=self.values).astype(np.int64)

    @cached_property
    def of_kind(self) -> Numbers:
        """How many people of each kind have each value."""
        table = np.zeros(self.patterns.shape, np.int64)
        table[self.kind, self.value] = self.count
        return table

    def may_have(self, which: Numbers | int) -> Flags:
        """Which values are not ruled out for these classes."""
        return np.asarray(~self.patterns[self.kind[which]])

    def able(self, value: int) -> Flags:
        """The classes that a value is not ruled out for."""
        return np.asarray(~self.patterns[self.kind, value])

    @cached_property
    def incompatible(self) -> Numbers:
        """How many people cannot share a group with somebody of each class: an equal value, or one that either of them cannot have.

        All numbers stay below 2**53, where floats are exact.
        """
        barred, of_kind = self.patterns.astype(np.float64), self.of_kind.astype(np.float64)
        cannot_have_hers = (of_kind.sum(axis=1) @ barred)[self.value]
        hers_or_barred = self.people[self.value] + (barred @ self.people)[self.kind]
        both = (barred.T @ (of_kind @ barred.T))[self.value, self.kind]  # neither can have the other's
        return np.asarray(hers_or_barred + cannot_have_hers - both).astype(np.int64)

    def sharing(self, one: int) -> Flags:
        """Which classes can share a group with this one: other values, and each can have the other's."""
        own = int(self.value[one])
        return np.asarray((self.value != own) & self.may_have(one)[self.value] & self.able(own))

    def kept(self, keep: Flags) -> Classes:
        """The people of these classes only; rows keep their numbers."""
        chosen = np.repeat(keep, self.count)
        count = self.count[keep]
        return Classes(self.value[keep], self.kind[keep], count, self.patterns, np.append(0, np.cumsum(count)), self.rows[chosen])
