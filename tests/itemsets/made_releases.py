"""Releases made from brute-force supports, for tests that should not depend on the miner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tacit.model.release import Header, Items, Itemsets, Only, Sets
from tests.itemsets.naive_channels import Row, closed, frequent


def released(rows: Sequence[Row], sigma: int, only: Only) -> Itemsets:
    """The complete list of frequent itemsets of some rows."""
    return released_supports(frequent(rows, sigma), len(rows), sigma, only, tuple(sorted(set().union(*rows))))


def released_supports(supports: Mapping[Row, int], n: int, sigma: int, only: Only, names: tuple[str, ...]) -> Itemsets:
    """The complete list of these itemsets, over these items."""
    chosen = supports if only == "all" else closed(supports)
    sets = Sets.from_lists([[names.index(item) for item in one] for one in chosen])
    counts = np.array(list(chosen.values()), np.int64)
    return Itemsets(sets, counts, counts, Items(names), Header(n=n, min_support=sigma, complete=True), only)
