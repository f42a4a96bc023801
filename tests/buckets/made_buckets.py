"""Small bucketized releases made by chance, and what follows from them by trying everything."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.model.buckets import Buckets
from tacit.model.knowledge import Exclusions
from tacit.model.table import Column, Table

Flags = npt.NDArray[np.bool_]


def random_buckets(
    seed: int, *, people: int = 18, size: int = 6, values: int = 5, kinds: int = 4
) -> tuple[Buckets, Exclusions, Any]:
    """A release, exclusions that are true of it, and everybody's own value."""
    chance = np.random.default_rng(seed)
    n, n_values, n_kinds = (int(chance.integers(1, most + 1)) for most in (people, values, kinds))
    own = chance.integers(0, n_values, n).astype(np.int32)
    kind = chance.integers(0, n_kinds, n).astype(np.int32)
    patterns = chance.random((n_kinds, n_values)) < chance.random() * 0.8
    patterns[kind, own] &= chance.random() < 0.5
    true_of = ~patterns[kind, own]
    own, kind = own[true_of], kind[true_of]
    group = (chance.permutation(len(own)) // int(chance.integers(1, size + 1))).astype(np.int32)
    names = tuple(f"v{number:03}" for number in range(n_values))
    table = Table((Column("kind", tuple(f"k{i}" for i in range(n_kinds)), kind),), np.ones(len(own), np.int64))
    return Buckets.of(table, Column("ill", names, own), group), Exclusions(names, patterns, kind), own


def valid_by_matching(buckets: Buckets, known: Exclusions, own: npt.NDArray[np.int32]) -> Flags:
    """Whether each person can have each value: a bipartite matching of her group for each pair."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    out = np.zeros((buckets.n, len(buckets.values)), np.bool_)
    for group in range(len(buckets)):
        rows = np.flatnonzero(buckets.group == group)
        slots = own[rows]
        may = ~known.patterns[known.kind[rows]][:, slots]
        for place, row in enumerate(rows):
            for value in np.unique(slots):
                slot = int(np.flatnonzero(slots == value)[0])
                left = may.copy()
                left[place, :] = left[:, slot] = False
                left[place, slot] = may[place, slot]
                matched = maximum_bipartite_matching(csr_matrix(left), perm_type="column")
                out[row, value] = bool((matched >= 0).all())
    return out


def shares_by_enumeration(buckets: Buckets, known: Exclusions, own: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The probability of each value for each person: all assignments of her group, one by one."""
    out = np.zeros((buckets.n, len(buckets.values)))
    for group in range(len(buckets)):
        rows = np.flatnonzero(buckets.group == group)
        fitting = [
            given
            for given in set(permutations(own[rows].tolist()))
            if not any(known.patterns[known.kind[row], value] for row, value in zip(rows, given, strict=True))
        ]
        for place, row in enumerate(rows):
            for value, ways in Counter(given[place] for given in fitting).items():
                out[row, value] = ways / len(fitting)
    return out
