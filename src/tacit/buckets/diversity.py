"""Measures of groups from the literature: k-anonymity, l-diversity, t-closeness."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.errors import OptionError
from tacit.model.buckets import Buckets
from tacit.model.table import Table


def plain_figures(release: Buckets | Table) -> Mapping[str, float]:
    """Return k, l, t and related ``MEASURES`` by name.

    Each person has each value with its share of the group. The groups of a table are the combinations of quasi-identifiers.

    >>> people = Table.from_rows(["sex", "ill"], [("F", "flu"), ("M", "cold"), ("F", "flu"), ("M", "flu")])
    >>> buckets = Buckets.of(people.select(["sex"]), people.column("ill"), np.array([0, 0, 1, 1], np.int32))
    >>> {name: round(value, 3) for name, value in plain_figures(buckets).items() if name in ("k_anonymity", "l_diversity", "t_closeness")}
    {'k_anonymity': 2, 'l_diversity': 1, 't_closeness': 0.25}
    """
    buckets = release if isinstance(release, Buckets) else _by_combination(release)
    if buckets.n == 0:
        raise OptionError("holds nobody", where="the release", remedy="Give one with people")
    size = buckets.sizes.astype(np.float64)
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    share = buckets.count / size[owner]
    everybody = np.bincount(buckets.value, buckets.count, len(buckets.values)) / buckets.n
    usual = everybody[buckets.value]
    entropy = -np.bincount(owner, share * np.log(share), len(buckets))
    # A value that a group lacks is as far from the usual share as that is large; the rest of 1 is those the group has.
    apart = np.bincount(owner, np.abs(share - usual) - usual, len(buckets)) + 1.0
    distinct = int(np.diff(buckets.starts).min())
    basic = float((share / usual).max() - 1)
    return {
        "k_anonymity": int(size.min()),
        "l_diversity": distinct,
        "entropy_l": round(float(np.exp(entropy.min())), 12),
        "recursive_c": _recursive(buckets, distinct),
        "largest_share": float(share.max()),
        "t_closeness": float(max(0.0, apart.max() / 2)),
        "beta_likeness": basic,
        "enhanced_beta_likeness": min(basic, float(-np.log(everybody[everybody > 0].min()))),
        "delta_disclosure": float(np.abs(np.log(share / usual)).max()),
    }


def _recursive(buckets: Buckets, least: int) -> float:
    """Return the infimum of c for recursive (c, l)-diversity.

    It is the largest ratio, over groups, of the most frequent value to the l-th and all rarer ones.
    """
    owner = np.repeat(np.arange(len(buckets)), np.diff(buckets.starts))
    order = np.lexsort((-buckets.count, owner))
    ordered = buckets.count[order]
    rank = np.arange(len(order)) - buckets.starts[owner]
    tail = np.bincount(owner, np.where(rank >= least - 1, ordered, 0), len(buckets))
    return float((ordered[buckets.starts[:-1]] / tail).max())


def _by_combination(people: Table) -> Buckets:
    """Return a table as groups of equal quasi-identifiers."""
    if not people.schema.qi:
        raise OptionError("the table has no quasi-identifying column", where="qi", remedy="Name them with --qi (Python: qi=)")
    rows = np.repeat(np.arange(len(people.weights)), people.weights)
    key = np.zeros(len(rows), np.int64)
    for column in people.qi.columns:
        key = np.unique(key * len(column.values) + column.codes[rows], return_inverse=True)[1].reshape(-1)
    sensitive = people.sa
    known = type(sensitive)(sensitive.name, sensitive.values, sensitive.codes[rows])
    qi = people.qi if (people.weights == 1).all() else people.qi.take(rows)
    return Buckets.of(qi, known, key.astype(np.int32))
