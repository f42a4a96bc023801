"""The owner's shortcut: small groups straight from the data, instead of sums over ``2**|M|`` published supports.

The group of people with exactly the items I of a published set M has the size that inclusion-exclusion over the published supports gives,
provided that the release is of this data. :func:`matching_rows` makes sure of it before anything is found.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.supports import Supports
from tacit.errors import InputError
from tacit.kernels.groups import Vertical, people_with, small_groups_on, vertical
from tacit.model.release import Itemsets
from tacit.model.transactions import Transactions

Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def matching_rows(release: Itemsets, data: Transactions) -> Vertical:
    """The data by item of the release; raises unless n and every published count are those of the data."""
    name = release.source.name if release.source else "the release"
    remedy = "Give the data that the release was made from, with the same columns and missing-value rule, or audit without it"
    if release.n != data.n:
        raise InputError(f"the release is about {release.n:,} people, the data about {data.n:,}", where=name, remedy=remedy)
    number = {item: i for i, item in enumerate(data.items.names)}
    unknown = sum(item not in number for item in release.items.names)
    if unknown:
        raise InputError(f"{unknown} items of the release do not occur in the data", where=name, remedy=remedy)
    wanted = np.array([number[item] for item in release.items.names], np.int64)
    rows = vertical(data.rows.offsets, data.rows.members, data.weights, wanted)
    wrong = np.flatnonzero(people_with(rows, release.sets.offsets, release.sets.members) != release.lo)
    if len(wrong):
        place = f"{name} line {release.line(int(wrong[0]))}"
        raise InputError(f"{len(wrong):,} published counts differ from the data, this one first", where=place, remedy=remedy)
    return rows


def small_groups_in_data(target: Target, supports: Supports) -> Iterator[Found]:
    """Groups of 1..k-1 people on every maximal published set, as (line, present bits, lo, hi), piece by piece."""
    assert target.data is not None
    rows = matching_rows(supports.release, target.data)
    maximal = supports.maximal
    sets = supports.release.sets.take(maximal)

    def pause(share: float) -> None:
        target.limits.check("I01")
        target.progress(share)

    found = small_groups_on(rows, sets.offsets, sets.members, target.policy.k, pause, first_only=target.first_hit)
    for which, groups, sizes in found:
        yield maximal[which], groups, sizes, sizes
