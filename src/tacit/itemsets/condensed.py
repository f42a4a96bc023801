"""Inference channels derived from the maximal ones.

A channel on any frequent itemset J is a union of groups on a maximal itemset M that contains it: the people with exactly the items I of J are
those of all groups X on M with X and J in common exactly I (Theorem 18). Each group of a channel has fewer than k people, so it is a
maximal channel or empty. The maximal channels alone do not suffice: whether a group of k or more people belongs to the union as well
follows only from the supports. The closed itemsets inside M are enough: the people with X and nothing else of M are those with X, minus
the groups above X.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tacit.errors import OptionError
from tacit.itemsets.supports import MOST_ITEMS, Supports
from tacit.model.audit import AttackRun
from tacit.model.estimates import Channel
from tacit.model.release import Itemsets

#: Groups on an itemset as bits of its items, and how many people each has.
Groups = Mapping[int, int]


def channels_from_condensed(release: Itemsets, condensed: AttackRun, k: int) -> Iterator[Channel]:
    """Yield all channels Ch(k) of a complete, exact list.

    ``condensed`` is the run of I01 on it, with the maximal channels.
    """
    supports = Supports(release)
    if release.only == "maximal" or not release.is_exact or supports.has_gaps:
        remedy = "Give a complete list of all or of the closed frequent itemsets with exact counts"
        raise OptionError("all channels follow only from exact supports without gaps", where="all_channels", remedy=remedy)
    if int(release.sets.lengths.max(initial=0)) > MOST_ITEMS or condensed.status != "ran":
        remedy = "Give a list of shorter itemsets"
        raise OptionError(f"itemsets of more than {MOST_ITEMS} items have too many channels", where="all_channels", remedy=remedy)
    return _channels(supports, condensed, k)


def _channels(supports: Supports, condensed: AttackRun, k: int) -> Iterator[Channel]:
    release = supports.release
    if release.n is not None and 0 < release.n < k:
        yield Channel((), (), release.n)
    small: dict[int, dict[int, int]] = {}
    present = np.asarray(condensed.columns["present"])
    present = present[:, None] if present.ndim == 1 else present
    for line, words, count in zip(
        condensed.columns["itemset"].tolist(), present.tolist(), condensed.columns["count"].tolist(), strict=True
    ):
        small.setdefault(line, {})[sum(word << (64 * at) for at, word in enumerate(words))] = count
    maximal = supports.maximal.tolist()
    sets = {line: frozenset(release.sets[line].tolist()) for line in maximal}
    for place, line in enumerate(maximal):
        items = release.sets[line].tolist()
        number = {item: bit for bit, item in enumerate(items)}
        # Subsets of an earlier maximal itemset are done already.
        covered = {sum(1 << number[item] for item in sets[line] & sets[earlier]) for earlier in maximal[:place]}
        groups = _find_large_groups(release, items, small.get(line, {}), k) | small.get(line, {})
        yield from _channels_within(release, items, groups, k, covered=sorted(covered, key=int.bit_count, reverse=True))


def _find_large_groups(release: Itemsets, items: list[int], small: Groups, k: int) -> dict[int, int]:
    """Return a maximal itemset's groups of at least k."""
    number = {item: bit for bit, item in enumerate(items)}
    inside = np.isin(release.sets.members, items)
    whole = np.bincount(release.sets.owners(), ~inside, len(release)) == 0
    supports = {0: release.n} if release.n is not None else {}
    for line in np.flatnonzero(whole).tolist():
        supports[sum(1 << number[item] for item in release.sets[line].tolist())] = int(release.lo[line])
    groups = dict(small)
    for mask in sorted(supports, key=int.bit_count, reverse=True):
        if mask not in groups:
            size = (supports[mask] or 0) - sum(people for above, people in groups.items() if above & mask == mask)
            if size >= k:
                groups[mask] = size
    return {mask: people for mask, people in groups.items() if mask not in small}


def _channels_within(release: Itemsets, items: list[int], groups: Groups, k: int, covered: list[int]) -> Iterator[Channel]:
    """Yield the uncovered channels on subsets."""
    names = [release.items.names[item] for item in items]
    for whole in range(1, 1 << len(items)):
        if any(whole & other == whole for other in covered):
            continue
        sums: dict[int, int] = {}
        for mask, people in groups.items():
            sums[mask & whole] = sums.get(mask & whole, 0) + people
        for part, people in sorted(sums.items()):
            if 0 < people < k and (part or release.n is not None):
                has = tuple(name for bit, name in enumerate(names) if part >> bit & 1)
                lacks = tuple(name for bit, name in enumerate(names) if (whole ^ part) >> bit & 1)
                yield Channel(has, lacks, people)
