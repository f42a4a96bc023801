"""Small groups of people on many itemsets, and people per itemset: what drives the projection and counting kernels.

Everything is arrays: itemsets as ``offsets`` and ``members``, people by item as :class:`Vertical`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Members = npt.NDArray[np.integer[Any]]

#: Numbers of the sets, groups as bits over the items of their set (one row of words each), sizes.
Found = tuple[Whole, Words, Whole]

#: A task searches at most this many sets, so that time limits and Ctrl-C are noticed and all cores have work.
SETS_PER_TASK = 4096

#: Rows are put in order before the search when there are at most so many for each set: else sorting takes longer than it saves.
ROWS_SORTED_PER_SET = 16

#: Sets over at most this many items are put in order as words of bits, others as lists.
SORTED_AS_WORDS = 256
#: Rows of all items are kept as bits when they take at most this many words (16 MB).
WORDS_AT_ONCE = 1 << 21


class Vertical(NamedTuple):
    """Rows by item: ``tids[starts[i]:starts[i + 1]]`` have item ``i``; row ``t`` stands for ``weights[t]`` people."""

    starts: Whole
    tids: npt.NDArray[np.int32]
    weights: Whole


def vertical(offsets: Whole, members: Members, weights: Whole, wanted: Whole) -> Vertical:
    """Rows by item, for the wanted items in their order."""
    # Numbers of 16 bits are sorted much faster; items that nobody asks for come last.
    small = np.uint16 if len(wanted) < 2**16 - 1 else np.int64
    place = np.full(int(members.max(initial=-1)) + 2, len(wanted), small)
    known = wanted < len(place)
    place[wanted[known]] = np.flatnonzero(known)
    items = place[members]
    starts = np.append(0, np.cumsum(np.bincount(items, minlength=len(wanted) + 1)[: len(wanted)]))
    order = np.argsort(items, kind="stable")[: starts[-1]]
    owners = np.repeat(np.arange(len(weights), dtype=np.int32), np.diff(offsets))
    return Vertical(starts, owners[order], weights)


def people_with(rows: Vertical, offsets: Whole, members: Members) -> Whole:
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
    width = int(ends[-1]) if len(ends) else 1
    used, local = np.arange(len(rows.starts) - 1), members.astype(np.int32)
    if len(used) * width > WORDS_AT_ONCE:  # many items, of which the sets may use few
        used = np.flatnonzero(np.bincount(members, minlength=1))
        place_of = np.zeros(int(used.max(initial=0)) + 1, np.int32)
        place_of[used] = np.arange(len(used), dtype=np.int32)
        local = place_of[members]
    bits = np.zeros((max(1, len(used)), width), np.uint64)
    for row, item in enumerate(used.tolist()):
        flags = np.zeros(bits.shape[1] * 64, np.uint8)
        flags[place[rows.tids[rows.starts[item] : rows.starts[item + 1]]]] = 1
        bits[row] = np.packbits(flags, bitorder="little").view(np.uint64)
    counts = np.empty(len(offsets) - 1, np.int64)
    count_sets(bits, ends, levels, offsets, local, counts)
    return counts


def small_groups_on(
    rows: Vertical,
    offsets: Whole,
    members: Members,
    k: int,
    pause: Callable[[float], None],
    threads: int | None = None,
    first_only: bool = False,
) -> Iterator[Found]:
    """Groups of 1..k-1 people on every set, piece by piece; ``pause`` is called in between with the share of the work done.

    Sets of at most 64 items go through hierarchical projection, in chunks that share 64 items, on all cores or as many as asked; results come in
    a fixed order. With ``first_only``, each piece ends with the first set that has a small group: one is enough for a yes.
    """
    lengths = np.diff(offsets)
    everyone, empty = int(rows.weights.sum()), np.flatnonzero(lengths == 0)
    if len(empty) and 0 < everyone < k:
        yield empty, np.zeros((len(empty), 1), np.uint64), np.full(len(empty), everyone)
    short = np.flatnonzero((lengths > 0) & (lengths <= 64))
    yield from _on_short_sets(rows, offsets, members, short, k, pause, threads, first_only)
    for number in np.flatnonzero(lengths > 64).tolist():
        pause(1.0)
        yield _on_long_set(rows, members[offsets[number] : offsets[number + 1]], number, k)


class _Chunk(NamedTuple):
    """Sets whose union has at most 64 items: their numbers, the union, and each set as a mask over it."""

    numbers: Whole
    items: Whole
    masks: Words


def _on_short_sets(
    rows: Vertical,
    offsets: Whole,
    members: Members,
    numbers: Whole,
    k: int,
    pause: Callable[[float], None],
    threads: int | None,
    first_only: bool,
) -> Iterator[Found]:
    if len(numbers) == 0:
        return
    chunks = list(_chunks(rows, offsets, members, numbers))
    workers = min(threads or os.cpu_count() or 1, len(chunks))
    with ThreadPoolExecutor(workers) as pool:
        # A few chunks are under way at a time; results are taken in order, so that the outcome does not depend on the threads.
        under_way: deque[Future[Found]] = deque()
        try:
            for done, chunk in enumerate(chunks):
                under_way.append(pool.submit(_search_chunk, rows, chunk, k, first_only))
                if len(under_way) > 2 * workers:
                    yield under_way.popleft().result()
                pause(done / len(chunks))
            while under_way:
                yield under_way.popleft().result()
        finally:  # whoever has seen enough need not wait for the rest
            for task in under_way:
                task.cancel()
    pause(1.0)


def _chunks(rows: Vertical, offsets: Whole, members: Members, numbers: Whole) -> Iterator[_Chunk]:
    """The sets in dictionary order from the rarest item on, cut where the union would pass 64 items."""
    from tacit.kernels.order import arrange, cut_by_union

    n_items = len(rows.starts) - 1
    rank = np.empty(n_items, np.int64)
    rank[np.argsort(np.diff(rows.starts), kind="stable")] = np.arange(n_items)
    lengths = np.diff(offsets)[numbers]
    starts = np.append(0, np.cumsum(lengths))
    flat = members
    if len(numbers) < len(offsets) - 1:
        flat = members[np.arange(starts[-1]) + np.repeat(offsets[numbers] - starts[:-1], lengths)]
    order = _rarest_first(starts, flat, rank)
    ordered, items = np.zeros(len(starts), np.int64), np.empty(len(flat), np.int32)
    arrange(starts, flat.astype(np.int32), order, ordered, items)
    ends = np.empty(len(numbers), np.int64)
    used = cut_by_union(ordered, items, n_items, 64, SETS_PER_TASK, ends)
    first = 0
    for last in ends[:used].tolist():
        begin = ordered[first:last]
        yield _chunk(numbers[order[first:last]], items[ordered[first] : ordered[last]], begin - begin[0], n_items)
        first = last


def _rarest_first(starts: Whole, flat: Members, rank: Whole) -> Whole:
    """An order of sets in which those that share their rarest items stand together; ``rank`` numbers the items from the rarest on."""
    from tacit.kernels.order import dictionary_order

    n_items = len(rank)
    if n_items <= SORTED_AS_WORDS:
        # Of two sets, the one that holds the rarest item that only one of them holds has the larger number.
        bits = np.uint64(1) << (63 - rank % 64).astype(np.uint64)
        words = [np.where(rank // 64 == word, bits, np.uint64(0)) for word in range(-(-n_items // 64))]
        keys = [np.bitwise_or.reduceat(word[flat], starts[:-1]) for word in words]
        return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0])
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    sorted_ranks = np.sort(owners * n_items + rank[flat]) - owners * n_items
    return np.asarray(dictionary_order(starts, sorted_ranks.astype(np.int32), n_items))


def _chunk(numbers: Whole, flat: npt.NDArray[np.int32], starts: Whole, n_items: int) -> _Chunk:
    """A chunk of these sets. Bits follow the item numbers, so that compressed groups list the items of a set in its own order."""
    present = np.zeros(n_items, np.bool_)
    present[flat] = True
    items = np.flatnonzero(present)
    bit = np.zeros(n_items, np.uint64)
    bit[items] = np.uint64(1) << np.arange(len(items), dtype=np.uint64)
    return _Chunk(numbers, items, np.bitwise_or.reduceat(bit[flat], starts))


def _search_chunk(rows: Vertical, chunk: _Chunk, k: int, first_only: bool) -> Found:
    """Small groups on every set of a chunk."""
    from tacit.kernels.projection import chunk_rows, small_groups

    n_rows = len(rows.weights)
    words, weights = np.empty(2 * n_rows + 64, np.uint64), np.empty(2 * n_rows + 64, np.int64)
    used = chunk_rows(rows.starts, rows.tids, rows.weights, chunk.items, np.zeros(n_rows, np.uint64), words, weights)
    if used <= ROWS_SORTED_PER_SET * len(chunk.numbers):
        # Then equal rows are neighbours, and rows that will become equal stand near each other, which the search is faster on.
        order = np.argsort(words[:used])
        ordered, people = words[order], weights[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        used = len(first)
        words[:used], weights[:used] = ordered[first], np.add.reduceat(people, first)
    on_set, groups, sizes = small_groups(words, weights, used, len(chunk.items), chunk.masks, k, first_only)
    numbers = np.repeat(chunk.numbers, on_set)
    return numbers, groups[: len(numbers), None], sizes[: len(numbers)]


def _on_long_set(rows: Vertical, items: Members, number: int, k: int) -> Found:
    """Small groups on a set of more than 64 items, as groups of equal rows of words."""
    words = np.zeros((len(rows.weights), -(-len(items) // 64)), np.uint64)
    for position, item in enumerate(items.tolist()):
        tids = rows.tids[rows.starts[item] : rows.starts[item + 1]]
        words[tids, position // 64] |= np.uint64(1) << np.uint64(position % 64)
    kept, group = np.unique(words, axis=0, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), weights=rows.weights).astype(np.int64)
    small = np.flatnonzero(sizes < k)
    return np.full(len(small), number), kept[small], sizes[small]
