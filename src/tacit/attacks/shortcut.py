"""The owner's shortcut: small groups straight from the data, instead of sums over ``2**|M|`` published supports.

The group of people with exactly the items I of a published set M has the size that inclusion-exclusion over the published supports gives,
provided that the release is of this data. :func:`matching_rows` makes sure of it before anything is found.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.supports import Supports
from tacit.errors import InputError
from tacit.model.release import Itemsets
from tacit.model.sets import Sets
from tacit.model.transactions import Transactions

Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]]

#: A task searches about this many sets, so that time limits and Ctrl-C are noticed and both cores have work.
SETS_PER_TASK = 4096


@dataclass(frozen=True, eq=False)
class Rows:
    """The data seen through the items of a release: for each item the rows that have it, and how many people each row stands for."""

    starts: npt.NDArray[np.int64]
    tids: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]


def matching_rows(release: Itemsets, data: Transactions) -> Rows:
    """The data by item of the release; raises unless n and every published count are those of the data."""
    name = release.source.name if release.source else "the release"
    remedy = "Give the data that the release was made from, with the same columns and missing-value rule, or audit without it"
    if release.n != data.n:
        raise InputError(f"the release is about {release.n:,} people, the data about {data.n:,}", where=name, remedy=remedy)
    number = {item: i for i, item in enumerate(data.items.names)}
    unknown = sum(item not in number for item in release.items.names)
    if unknown:
        raise InputError(f"{unknown} items of the release do not occur in the data", where=name, remedy=remedy)
    rows = _vertical(data, np.array([number[item] for item in release.items.names], np.int64))
    wrong = np.flatnonzero(_counts(rows, release.sets) != release.lo)
    if len(wrong):
        place = f"{name} line {release.line(int(wrong[0]))}"
        raise InputError(f"{len(wrong):,} published counts differ from the data, this one first", where=place, remedy=remedy)
    return rows


def small_groups_in_data(target: Target, supports: Supports) -> Iterator[Found]:
    """Groups of 1..k-1 people on every maximal published set, as (line, present bits, lo, hi), piece by piece."""
    release = supports.release
    assert target.data is not None
    rows = matching_rows(release, target.data)
    maximal = supports.maximal
    lengths = release.sets.lengths[maximal]
    yield from _on_short_sets(target, release, rows, maximal[lengths <= 64])
    for line in maximal[lengths > 64].tolist():
        target.limits.check("I01")
        yield _on_long_set(rows, release, line, target.policy.k)


def _vertical(data: Transactions, wanted: npt.NDArray[np.int64]) -> Rows:
    """For each wanted item the rows that have it, ascending."""
    place = np.full(len(data.items) + 1, -1, np.int64)
    place[wanted] = np.arange(len(wanted))
    items = place[data.rows.members]
    order = np.argsort(items, kind="stable")
    order = order[np.searchsorted(items[order], 0) :]
    tids = data.rows.owners()[order].astype(np.int32)
    starts = np.searchsorted(items[order], np.arange(len(wanted) + 1)).astype(np.int64)
    return Rows(starts, tids, data.weights)


def _counts(rows: Rows, sets: Sets) -> npt.NDArray[np.int64]:
    """How many people have each set."""
    from tacit.kernels.counting import count_sets

    # Rows of equal weight stand together, each weight from a new word on, so that a count is a sum of few weighted popcounts.
    levels, level, sizes = np.unique(rows.weights, return_inverse=True, return_counts=True)
    ends = np.cumsum(-(-sizes // 64))
    place = np.empty(len(rows.weights), np.int64)
    order = np.argsort(level, kind="stable")
    place[order] = (
        np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 64 * np.repeat(np.append(0, ends[:-1]), sizes)
    )
    used, members = np.unique(sets.members, return_inverse=True)
    bits = np.zeros((max(1, len(used)), int(ends[-1]) if len(ends) else 1), np.uint64)
    for row, item in enumerate(used.tolist()):
        flags = np.zeros(bits.shape[1] * 64, np.uint8)
        flags[place[rows.tids[rows.starts[item] : rows.starts[item + 1]]]] = 1
        bits[row] = np.packbits(flags, bitorder="little").view(np.uint64)
    counts = np.empty(len(sets), np.int64)
    count_sets(bits, ends, levels, sets.offsets, members.astype(np.int32), counts)
    return counts


def _on_short_sets(target: Target, release: Itemsets, rows: Rows, lines: npt.NDArray[np.int64]) -> Iterator[Found]:
    """Small groups on sets of at most 64 items, by hierarchical projection over chunks of sets that share 64 items."""
    if len(lines) == 0:
        return
    chunks = list(_chunks(release, rows, lines))
    workers = min(os.cpu_count() or 1, len(chunks))
    done = 0
    with ThreadPoolExecutor(workers) as pool:
        # A few chunks are under way at a time; results are taken in order, so that the outcome does not depend on the threads.
        under_way = []
        for chunk in chunks:
            target.limits.check("I01")
            under_way.append(pool.submit(_search_chunk, rows, chunk, target.policy.k))
            if len(under_way) > 2 * workers:
                yield under_way.pop(0).result()
                done += 1
                target.progress(done / len(chunks))
        for task in under_way:
            target.limits.check("I01")
            yield task.result()
    target.progress(1.0)


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Sets whose union has at most 64 items: their lines, the union, and each set as a mask over it."""

    lines: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]
    masks: npt.NDArray[np.uint64]


def _chunks(release: Itemsets, rows: Rows, lines: npt.NDArray[np.int64]) -> Iterator[_Chunk]:
    """The sets in lexicographic order from the rarest item on, cut where the union would pass 64 items."""
    frequency = np.diff(rows.starts)
    rank = np.empty(len(frequency), np.int64)
    rank[np.argsort(-frequency, kind="stable")] = np.arange(len(frequency))
    keyed = sorted((tuple(sorted(rank[release.sets[line]].tolist(), reverse=True)), line) for line in lines.tolist())
    union: set[int] = set()
    chosen: list[int] = []
    for key, line in keyed:
        joined = union.union(key)
        if chosen and (len(joined) > 64 or len(chosen) >= SETS_PER_TASK):
            yield _chunk(release, chosen)
            chosen, joined = [], set(key)
        union = joined
        chosen.append(line)
    yield _chunk(release, chosen)


def _chunk(release: Itemsets, lines: list[int]) -> _Chunk:
    """A chunk of these sets. Bits follow the item numbers, so that compressed groups list the items of a set in its own order."""
    sets = release.sets.take(lines)
    items = np.unique(sets.members).astype(np.int64)
    bits = np.uint64(1) << np.searchsorted(items, sets.members).astype(np.uint64)
    masks = np.zeros(len(lines), np.uint64)
    np.bitwise_or.at(masks, sets.owners(), bits)
    return _Chunk(np.array(lines, np.int64), items, masks)


def _search_chunk(rows: Rows, chunk: _Chunk, k: int) -> Found:
    """Small groups on every set of a chunk."""
    from tacit.kernels.projection import chunk_rows, merge_rows, small_groups

    n_rows = len(rows.weights)
    words, weights = np.empty(n_rows + 1, np.uint64), np.empty(n_rows + 1, np.int64)
    used = chunk_rows(rows.starts, rows.tids, rows.weights, chunk.items, np.zeros(n_rows, np.uint64), words, weights)
    slots = np.empty(max(4, 1 << (2 * used).bit_length()), np.int32)
    merged, merged_weights = np.empty(used, np.uint64), np.empty(used, np.int64)
    used = merge_rows(words, weights, used, ~np.uint64(0), merged, merged_weights, slots)
    which, groups, sizes = small_groups(merged[:used], merged_weights[:used], chunk.masks, k, False)
    return chunk.lines[which], groups[:, None], sizes, sizes


def _on_long_set(rows: Rows, release: Itemsets, line: int, k: int) -> Found:
    """Small groups on a set of more than 64 items, by refining one partition of the rows word by word."""
    items = release.sets[line].astype(np.int64)
    n_rows = len(rows.weights)
    words = np.zeros((n_rows, -(-len(items) // 64)), np.uint64)
    for position, item in enumerate(items.tolist()):
        tids = rows.tids[rows.starts[item] : rows.starts[item + 1]]
        words[tids, position // 64] |= np.uint64(1) << np.uint64(position % 64)
    kept, group = np.unique(words, axis=0, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), weights=rows.weights).astype(np.int64)
    small = np.flatnonzero(sizes < k)
    return np.full(len(small), line), kept[small], sizes[small], sizes[small]
