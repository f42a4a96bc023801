"""Small groups on many itemsets, by hierarchical projection.

For a set M of items, people fall into groups by the items of M that they have. The kernels list, for every set of a long list, the groups with
fewer than ``k`` people. Rows are bit words: bit ``j`` of a row is set if the row has item ``j`` of a chunk of at most 64 items.

The list is halved again and again. Each half needs only the items in the union of its sets, so its rows are the parent's rows masked with that
union and merged where they became equal; rows shrink geometrically, and a set at the bottom sees few of them. Merging rows that are equal on a
union of sets keeps every group size of every set in it, so nothing is lost. The list is cut where the two halves need the fewest items. Rows
are merged when the union has lost enough items for it to pay. Once a union is small, rows are pushed together to its items, so that equal rows
are found in a table instead of by hashing; at a single set the table holds the sizes of its groups.

In kernels words are ``uint64``, weights ``int64`` counts of people, everything one-dimensional and contiguous. :func:`small_groups_on` drives
them: it takes itemsets as ``offsets`` and ``members``, and people by item as :class:`Vertical`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.kernels.jit import extract, kernel, part, part_with_extract, popcount
from tacit.kernels.rows import arrange, cut_by_union, dictionary_order, find_holders, group_by_place, grow
from tacit.model.arrays import Codes, Ints, Words

#: Rows on unions of at most this many items are merged through a table of ``2**items`` places; on larger ones by hashing.
DIRECT_ITEMS = 18

#: Rows are merged once this many items are gone since they were merged last: by hashing, and through a table. Only two halves read what a merge
#: makes, so merging pays when it leaves about half of the rows, and that takes several items.
MERGE_AFTER = 5
MERGE_DIRECT_AFTER = 3

#: Rows are put in order before the search when there are at most so many for each set: else sorting takes longer than it saves.
ROWS_SORTED_PER_SET = 16

FOUND_PER_SET = 64  #: Findings per set for which room is made; memory that is not written to costs nothing.

#: Each half of a list gets at least this part of it, so that the recursion stays shallow; and how deep it can get then with 2**63 sets.
LEAST_PART = 8
DEEPEST = 330

_HASH = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel(steps=lambda _starts, tids, *_: 2 * tids.size)
def chunk_rows(
    starts: Any, tids: Any, weights: Any, everyone: int, chunk: Any, scratch: Any, out_words: Any, out_weights: Any
) -> int:
    """Make a chunk's rows from vertical lists; count them.

    ``tids[starts[item]:starts[item + 1]]`` are the rows that have the item. ``scratch`` holds one word per row, all zero before and after. Rows
    without any of the items become one row 0 at the end.
    """
    used = 0
    for j in range(chunk.size):
        bit = _ONE << np.uint64(j)
        for p in range(starts[chunk[j]], starts[chunk[j] + 1]):
            tid = tids[p]
            if scratch[tid] == _ZERO:
                out_weights[used] = tid
                used += 1
            scratch[tid] |= bit
    seen = np.int64(0)
    for i in range(used):
        tid = out_weights[i]
        out_words[i] = scratch[tid]
        scratch[tid] = _ZERO
        out_weights[i] = weights[tid]
        seen += weights[tid]
    rest = everyone - seen
    if rest > 0:
        out_words[used] = _ZERO
        out_weights[used] = rest
        used += 1
    return used


@part_with_extract(lambda _mask, _moves: None)
def prepare_moves(mask: Any, moves: Any) -> None:
    """Prepare :func:`compress` for one mask (Hacker's Delight, 7-4)."""
    inverse = ~mask << _ONE
    left = mask
    for i in range(6):
        parity = inverse
        for step in range(6):
            parity ^= parity << np.uint64(1 << step)
        moves[i] = parity & left
        left = (left ^ moves[i]) | (moves[i] >> np.uint64(1 << i))
        inverse &= ~parity


@part_with_extract(lambda word, mask, _moves, _steps: extract(word, mask))
def compress(word: Any, mask: Any, moves: Any, steps: int) -> Any:
    """Compress the masked bits of a word; none moves ``2**steps`` places."""
    out = word & mask
    for i in range(steps):
        moved = out & moves[i]
        out = (out ^ moved) | (moved >> np.uint64(1 << i))
    return out


@part
def _merge_by_hash(words: Any, weights: Any, start: int, count: int, mask: Any, slots: Any) -> int:
    """Mask ``count`` rows and merge equal ones behind them; count these.

    ``slots`` is an int32 scratch table whose size is a power of two and at least twice ``count``.
    """
    size = 4
    bits = 2
    while size < 2 * count:
        size *= 2
        bits += 1
    shift = np.uint64(64 - bits)
    for s in range(size):
        slots[s] = -1
    end = start + count
    used = 0
    for i in range(start, end):
        word = words[i] & mask
        slot = np.int64((word * _HASH) >> shift)
        while slots[slot] >= 0 and words[end + slots[slot]] != word:
            slot = (slot + 1) & (size - 1)
        at = slots[slot]
        if at < 0:
            slots[slot] = used
            words[end + used] = word
            weights[end + used] = weights[i]
            used += 1
        else:
            weights[end + at] += weights[i]
    return used


@part
def _merge_by_table(words: Any, weights: Any, start: int, count: int, mask: Any, moves: Any, steps: int, table: Any) -> int:
    """Compress ``count`` rows and merge equal ones behind them; count these.

    ``table`` has a place for every compressed word, all 0 before and after.
    """
    end = start + count
    used = 0
    for i in range(start, end):
        word = compress(words[i], mask, moves, steps)
        at = table[np.int64(word)]
        if at == 0:
            words[end + used] = word
            weights[end + used] = weights[i]
            used += 1
            table[np.int64(word)] = used
        else:
            weights[end + at - 1] += weights[i]
    for i in range(end, end + used):
        table[np.int64(words[i])] = 0
    return used


@part
def _groups_by_table(
    words: Any,
    weights: Any,
    start: int,
    count: int,
    mask: Any,
    moves: Any,
    steps: int,
    table: Any,
    k: int,
    prefix: Any,
    shift: Any,
    found: int,
    keys: Any,
) -> tuple[int, Any]:
    """Append groups of 1..k-1 people; count all found so far, and the people of these.

    ``table`` has a place of 32 bits for every compressed word, all 0 before and after; there must be room for ``count`` more groups and rows.
    """
    # Slices with a plain loop over them spare the compiled code tests of places.
    rows = words[start : start + count]
    people = weights[start : start + count]
    local = words[start + count : start + 2 * count]
    for i in range(len(rows)):
        word = compress(rows[i], mask, moves, steps)
        local[i] = word
        table[np.int64(word)] += np.int32(people[i])
    room = keys[found : found + count]
    used = 0
    concerned = np.int64(0)
    for i in range(len(local)):
        word = local[i]
        size = np.int64(table[np.int64(word)])
        table[np.int64(word)] = 0
        # Written always and kept where it counts: a branch here would be mispredicted all the time.
        room[used] = np.uint64(size) << shift | prefix | word
        kept = int(size > 0 and size < k)
        used += kept
        concerned += kept * size
    return found + used, concerned


@part
def _count_assigned(
    words: Any,
    weights: Any,
    offsets: Any,
    members: Any,
    bit: Any,
    inside: Any,
    first: int,
    last: int,
    above: Any,
    is_compressed: bool,
    moves: Any,
    counts: Any,
) -> None:
    """Count the people who have each of the sets ``inside[first:last]``; rows are merged on items that hold them all."""
    for number in range(first, last):
        mask = _ZERO
        for place in range(offsets[inside[number]], offsets[inside[number] + 1]):
            mask |= bit[members[place]]
        if is_compressed:
            mask = compress(mask, above, moves, 6)
        total = np.int64(0)
        for i in range(len(words)):
            total += weights[i] if words[i] & mask == mask else 0
        counts[number] = total


@part
def _choose_cut(masks: Any, lo: int, hi: int, behind: Any) -> int:
    """Cut masks ``lo..hi`` into halves of few items; ``behind`` is scratch."""
    union = _ZERO
    for m in range(hi - 1, lo, -1):
        union |= masks[m]
        behind[m] = popcount(union)
    union = _ZERO
    middle = (lo + hi) // 2
    best = (hi - lo) * 65
    margin = (hi - lo) // LEAST_PART
    for m in range(lo + 1, hi):
        union |= masks[m - 1]
        cost = (m - lo) * popcount(union) + (hi - m) * behind[m]
        if cost < best and m - lo >= margin and hi - m >= margin:
            best = cost
            middle = m
    return middle


@kernel(steps=lambda _words, _weights, n_rows, _items, masks, *_: 32 * masks.size * (4 + n_rows))
def small_groups(
    words: Any,
    weights: Any,
    n_rows: int,
    items: int,
    masks: Any,
    prefixes: Any,
    shift: Any,
    k: int,
    first_only: bool,
    firsts: Any,
    lasts: Any,
    inside: Any,
    offsets: Any,
    members: Any,
    bit: Any,
    counts: Any,
) -> tuple[Any, Any, Any]:
    """Find groups of 1..k-1 people by mask, and count people who have sets.

    Returns how many groups there are on each mask, how many people they have, and an array that begins with a key of each group: its size
    from bit ``shift`` on, below it the prefix of its mask, and its compressed word. Words and masks use the lowest ``items`` bits.
    ``masks`` should be in an order in which neighbours share items: then unions of ranges are small; rows that are in order are merged faster.
    With ``first_only`` the search stops at the first set with a small group. ``words`` and ``weights`` have room for more than ``n_rows`` rows;
    what is behind them is scratch.

    For mask i, the sets ``inside[firsts[i]:lasts[i]]``, which it holds, are counted in the same places of ``counts``; ``bit`` is the bit of each
    item.
    """
    n_masks = masks.size
    size = 4
    while size < 2 * n_rows:
        size *= 2
    slots = np.empty(size, np.int32)
    table = np.zeros(1 << DIRECT_ITEMS, np.int32)
    behind = np.empty(n_masks, np.int64)
    moves = np.empty(6, np.uint64)
    keys = np.empty(1024 + FOUND_PER_SET * n_masks, np.uint64)
    on_mask = np.zeros(n_masks, np.int64)
    concerned = np.zeros(n_masks, np.int64)
    found = 0
    narrow = weights[:n_rows].sum() < 1 << 31
    # The stack of ranges, four numbers each: first mask, one past the last, where the rows of the range above start, how many they are.
    stack = np.empty(4 * DEEPEST, np.int64)
    unions = np.empty(DEEPEST, np.uint64)
    stack[0] = 0
    stack[1] = n_masks
    stack[2] = 0
    stack[3] = n_rows
    if n_rows > ROWS_SORTED_PER_SET * n_masks:  # many rows that nobody has merged: most of them hold one item or two
        words = grow(words, 2 * n_rows)
        weights = grow(weights, 2 * n_rows)
        stack[2] = n_rows
        stack[3] = _merge_by_hash(words, weights, 0, n_rows, ~_ZERO, slots)
    unions[0] = ~_ZERO >> np.uint64(64 - items)
    top = 0 if n_masks > 0 else -1
    while top >= 0:
        lo = stack[4 * top]
        hi = stack[4 * top + 1]
        start = stack[4 * top + 2]
        count = stack[4 * top + 3]
        above = unions[top]  # the items that the rows were merged on
        top -= 1
        union = _ZERO
        for m in range(lo, hi):
            union |= masks[m]
        leaf = hi - lo == 1
        direct = popcount(union) <= DIRECT_ITEMS
        if not leaf and popcount(above) - popcount(union) < (MERGE_DIRECT_AFTER if direct else MERGE_AFTER):
            union = above
            direct = popcount(union) <= DIRECT_ITEMS
        before = found
        if union != above or leaf:
            words = grow(words, start + 2 * count)
            weights = grow(weights, start + 2 * count)
            local = union
            gone = 63
            is_compressed = popcount(above) <= DIRECT_ITEMS  # the rows have the items they were merged on only, pushed together
            if is_compressed:
                prepare_moves(above, moves)
            if leaf and lasts[lo] > firsts[lo]:
                _count_assigned(
                    words[start : start + count],
                    weights[start : start + count],
                    offsets,
                    members,
                    bit,
                    inside,
                    firsts[lo],
                    lasts[lo],
                    above,
                    is_compressed,
                    moves,
                    counts,
                )
            if direct and is_compressed:
                local = compress(union, above, moves, 6)
                gone = popcount(above) - popcount(union)
            prepare_moves(local, moves)
            steps = 0
            while gone >> steps > 0:
                steps += 1
            if leaf:
                keys = grow(keys, found + count)
            if leaf and direct and narrow:
                found, concerned[lo] = _groups_by_table(
                    words, weights, start, count, local, moves, steps, table, k, prefixes[lo], shift, found, keys
                )
            elif direct:
                merged = _merge_by_table(words, weights, start, count, local, moves, steps, table)
                start += count
                count = merged
            else:
                merged = _merge_by_hash(words, weights, start, count, union, slots)
                start += count
                count = merged
        if not leaf:
            middle = _choose_cut(masks, lo, hi, behind)
            # The first half is pushed last, so that it is searched first and the findings keep the order of the masks.
            for half in range(2):
                top += 1
                stack[4 * top] = lo if half else middle
                stack[4 * top + 1] = middle if half else hi
                stack[4 * top + 2] = start
                stack[4 * top + 3] = count
                unions[top] = union
            continue
        if not direct or not narrow:
            for g in range(start, start + count):
                word = words[g] if direct else compress(words[g], union, moves, 6)
                keys[found] = np.uint64(weights[g]) << shift | prefixes[lo] | word
                if weights[g] < k:
                    found += 1
                    concerned[lo] += weights[g]
        on_mask[lo] = found - before
        if first_only and found > before:
            break
    return on_mask, concerned, keys


Members = npt.NDArray[np.integer[Any]]

#: Numbers of the sets, groups as bits over the items of their set (one row of words each), sizes.
Found = tuple[Ints, Words, Ints]


class Keys(NamedTuple):
    """Groups on some sets as numbers.

    ``numbers`` are the sets, ``on`` says how many groups each has, and ``people`` how many people are in these. A key is the size of a group
    from bit ``shift`` on, the prefix of its set, and the present items by position.
    """

    numbers: Ints
    on: Ints
    people: Ints
    keys: Words
    shift: int

    def spread(self) -> Found:
        """Return the groups as columns; prefixes were 0."""
        shift = np.uint64(self.shift)
        words = self.keys & ((_ONE << shift) - _ONE)
        return np.repeat(self.numbers, self.on), words[:, None], (self.keys >> shift).astype(np.int64)


def most_items(k: int, everyone: int) -> int:
    """Return the most items that leave room for a size below ``k`` in a key."""
    return 64 - max(1, min(k, everyone + 1).bit_length())


class Layout(NamedTuple):
    """Layout of keys: the prefix of each set, the first bit of the size."""

    prefixes: Words
    shift: int


class Counting(NamedTuple):
    """Sets to be counted, by a maximal one that holds them.

    Those of ``maximal[i]`` are ``inside[starts[i]:starts[i + 1]]``, and ``counts`` has their counts in the same places.
    """

    offsets: Ints
    members: Codes
    maximal: Ints
    starts: Ints
    inside: Codes
    counts: Ints

    @classmethod
    def of(cls, holder: Codes, offsets: Ints, members: Members) -> Counting:
        """Return the order to count these sets."""
        maximal = np.flatnonzero(holder == np.arange(len(holder)))
        place = np.empty(len(holder), np.int32)
        place[maximal] = np.arange(len(maximal), dtype=np.int32)
        starts = np.zeros(len(maximal) + 1, np.int64)
        inside = np.empty(len(holder), np.int32)
        group_by_place(place[holder], starts, inside)
        counts = np.zeros(len(holder), np.int64)
        return cls(offsets, members.astype(np.int32, copy=False), maximal, starts=starts, inside=inside, counts=counts)

    def inside_of(self, number: int) -> slice:
        """Return the places of the sets assigned to a maximal set."""
        place = int(np.searchsorted(self.maximal, number))
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    def in_order(self) -> Ints:
        """Return the counts in the order of the list."""
        out = np.empty_like(self.counts)
        out[self.inside] = self.counts
        return out


#: A task searches at most this many sets, so that time limits and Ctrl-C are noticed and all cores have work.
SETS_PER_TASK = 4096

SORTED_AS_WORDS = 256  #: Sets over at most this many items are put in order as words of bits, others as lists.


class Vertical(NamedTuple):
    """Rows by item: ``tids[starts[i]:starts[i + 1]]`` have item ``i``."""

    starts: Ints
    tids: Codes
    weights: Ints


def vertical(offsets: Ints, members: Members, weights: Ints, wanted: Ints) -> Vertical:
    """Return the rows of each wanted item."""
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


def people_with(rows: Vertical, offsets: Ints, members: Members) -> Ints:
    """Count the people who have each set."""
    counting = Counting.of(find_holders(offsets, members, max(1, len(rows.starts) - 1)), offsets, members)
    for _ in groups_on(rows, (offsets, members), counting.maximal, 0, lambda _: None, counting=counting):
        pass
    return counting.in_order()


def small_groups_on(
    rows: Vertical,
    offsets: Ints,
    members: Members,
    k: int,
    pause: Callable[[float], None],
    threads: int | None = None,
    first_only: bool = False,
) -> Iterator[Found]:
    """Yield groups of 1..k-1 people by set, in a fixed order.

    Sets of few items go through hierarchical projection, in chunks that share 64 items, on all cores or as many as asked. ``pause`` is
    called in between with the share of the work done. With ``first_only``, each piece ends with the first set that has a small group.
    """
    numbers = np.arange(len(offsets) - 1)
    for found in groups_on(rows, (offsets, members), numbers, k, pause, threads=threads, first_only=first_only):
        yield found.spread() if isinstance(found, Keys) else found


def groups_on(
    rows: Vertical,
    sets: tuple[Ints, Members],
    numbers: Ints,
    k: int,
    pause: Callable[[float], None],
    *,
    threads: int | None = None,
    first_only: bool = False,
    layout: Layout | None = None,
    counting: Counting | None = None,
) -> Iterator[Keys | Found]:
    """Yield groups of 1..k-1 people on some of the sets, those on long sets as columns.

    With ``counting``, the sets assigned to each of them are counted as well.
    """
    offsets, members = sets
    lengths = np.diff(offsets)[numbers]
    everyone = int(rows.weights.sum())
    most = most_items(k, everyone)
    for empty in numbers[lengths == 0].tolist():
        if counting is not None:
            counting.counts[:] = everyone  # no set that is counted has items
        if 0 < everyone < k:
            yield np.array([empty]), np.zeros((1, 1), np.uint64), np.array([everyone])
    short = numbers[(lengths > 0) & (lengths <= most)]
    if len(short):
        if layout is None:
            layout = Layout(np.zeros(len(offsets) - 1, np.uint64), most)
        chunks = list(cut_chunks(rows, offsets, members, short))
        search = partial(
            _search_chunk, rows, everyone=everyone, room=_Room(), layout=layout, k=k, first_only=first_only, counting=counting
        )
        workers = min(threads or os.cpu_count() or 1, len(chunks))
        with ThreadPoolExecutor(workers) as pool:
            # A few chunks are under way at a time; results are taken in order, so that the outcome does not depend on the threads.
            under_way: deque[Future[Keys]] = deque()
            try:
                for done, chunk in enumerate(chunks):
                    under_way.append(pool.submit(search, *chunk))
                    if len(under_way) > 2 * workers:
                        yield under_way.popleft().result()
                    pause(done / len(chunks))
                while under_way:
                    yield under_way.popleft().result()
            finally:  # whoever has seen enough need not wait for the rest
                for task in under_way:
                    task.cancel()
        pause(1.0)
    for number in numbers[lengths > most].tolist():
        pause(1.0)
        yield _search_long_set(rows, members[offsets[number] : offsets[number + 1]], number, k, counting)


def cut_chunks(rows: Vertical, offsets: Ints, members: Members, numbers: Ints) -> Iterator[tuple[Ints, Ints, Words]]:
    """Yield sets over at most 64 items: their numbers, the items, the sets as masks."""
    n_items = len(rows.starts) - 1
    rank = np.empty(n_items, np.int64)
    rank[np.argsort(np.diff(rows.starts), kind="stable")] = np.arange(n_items)
    lengths = np.diff(offsets)[numbers]
    starts = np.append(0, np.cumsum(lengths))
    flat = members
    if len(numbers) < len(offsets) - 1:
        flat = members[np.arange(starts[-1]) + np.repeat(offsets[numbers] - starts[:-1], lengths)]
    order = _order_rarest_first(starts, flat, rank)
    ordered = np.zeros(len(starts), np.int64)
    items = np.empty(len(flat), np.int32)
    arrange(starts, flat.astype(np.int32), order, ordered, items)
    ends = np.empty(len(numbers), np.int64)
    used = cut_by_union(ordered, items, n_items, 64, SETS_PER_TASK, ends)
    first = 0
    for last in ends[:used].tolist():
        flat = items[ordered[first] : ordered[last]]
        present = np.zeros(n_items, np.bool_)
        present[flat] = True
        # Bits follow the item numbers, so that compressed groups list the items of a set in its own order.
        in_use = np.flatnonzero(present)
        bit = np.zeros(n_items, np.uint64)
        bit[in_use] = np.uint64(1) << np.arange(len(in_use), dtype=np.uint64)
        masks = np.bitwise_or.reduceat(bit[flat], ordered[first:last] - ordered[first])
        yield numbers[order[first:last]], in_use, masks
        first = last


def _order_rarest_first(starts: Ints, flat: Members, rank: Ints) -> Ints:
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


class _Room(threading.local):
    """Arrays of a thread for the rows of one chunk after the other."""

    def __init__(self) -> None:
        self._arrays: tuple[Words, Ints, Words] | None = None

    def arrays(self, n_rows: int) -> tuple[Words, Ints, Words]:
        """Return room for words and weights of rows, and zeros by row, which are zeros again in the end."""
        if self._arrays is None:
            self._arrays = (
                np.empty(2 * n_rows + 64, np.uint64),
                np.empty(2 * n_rows + 64, np.int64),
                np.zeros(n_rows, np.uint64),
            )
        return self._arrays


def _search_chunk(
    rows: Vertical,
    numbers: Ints,
    items: Ints,
    masks: Words,
    *,
    everyone: int,
    room: _Room,
    layout: Layout,
    k: int,
    first_only: bool,
    counting: Counting | None,
) -> Keys:
    words, weights, scratch = room.arrays(len(rows.weights))
    used = chunk_rows(rows.starts, rows.tids, rows.weights, everyone, items, scratch, words, weights)
    if used <= ROWS_SORTED_PER_SET * len(numbers):
        # Then equal rows are neighbours, and rows that will become equal stand near each other, which the search is faster on.
        order = np.argsort(words[:used])
        ordered = words[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        used = len(first)
        words[:used] = ordered[first]
        weights[:used] = np.add.reduceat(weights[order], first)
    nothing = np.zeros(len(numbers), np.int64)
    bit = np.zeros(len(rows.starts) - 1, np.uint64)
    bit[items] = _ONE << np.arange(len(items), dtype=np.uint64)
    counted = (nothing, nothing, _NO_CODES, nothing, _NO_CODES, bit, nothing)
    if counting is not None:
        place = np.searchsorted(counting.maximal, numbers)
        inside = (counting.starts[place], counting.starts[place + 1], counting.inside)
        counted = (*inside, counting.offsets, counting.members, bit, counting.counts)
    shift = np.uint64(layout.shift)
    found = small_groups(words, weights, used, len(items), masks, layout.prefixes[numbers], shift, k, first_only, *counted)
    on, people, keys = found
    return Keys(numbers, on, people, keys[: int(on.sum())], layout.shift)


def groups_by_masks(
    words: Words, weights: Ints, n_rows: int, items: int, masks: Words, k: int, *, first_only: bool = False
) -> tuple[Ints, Words, Ints]:
    """Return the number of small groups by mask, and their words and sizes."""
    shift = most_items(k, int(weights[:n_rows].sum()))
    nothing = np.zeros(len(masks), np.int64)
    no_bits = np.zeros(len(masks), np.uint64)
    counted = (nothing, nothing, _NO_CODES, nothing, _NO_CODES, no_bits, nothing)
    found = small_groups(words, weights, n_rows, items, masks, no_bits, np.uint64(shift), k, first_only, *counted)
    on, people, keys = found
    _, groups, sizes = Keys(np.arange(len(masks)), on, people, keys[: int(on.sum())], shift).spread()
    return on, groups[:, 0], sizes


def keys_by_masks(words: Words, weights: Ints, items: int, masks: Words, prefixes: Words, shift: int, k: int) -> Words:
    """Return the keys of small groups on masks, as :func:`small_groups` makes them."""
    count = len(words)
    room = np.empty(2 * count + 64, np.uint64)
    people = np.empty(2 * count + 64, np.int64)
    room[:count] = words
    people[:count] = weights
    nothing = np.zeros(len(masks), np.int64)
    counted = (nothing, nothing, _NO_CODES, nothing, _NO_CODES, np.zeros(0, np.uint64), nothing)
    on, _, keys = small_groups(room, people, count, items, masks, prefixes, np.uint64(shift), k, False, *counted)
    found: Words = keys[: int(on.sum())]
    return found


_NO_CODES = np.empty(0, np.int32)


def _search_long_set(rows: Vertical, items: Members, number: int, k: int, counting: Counting | None) -> Found:
    words = np.zeros((len(rows.weights), -(-len(items) // 64)), np.uint64)
    for position, item in enumerate(items.tolist()):
        tids = rows.tids[rows.starts[item] : rows.starts[item + 1]]
        words[tids, position // 64] |= np.uint64(1) << np.uint64(position % 64)
    kept, group = np.unique(words, axis=0, return_inverse=True)
    sizes = np.bincount(group.reshape(-1), weights=rows.weights).astype(np.int64)
    places = range(0) if counting is None else range(len(counting.inside))[counting.inside_of(number)]
    for place in places:
        assert counting is not None
        one = int(counting.inside[place])
        held = np.searchsorted(items, counting.members[counting.offsets[one] : counting.offsets[one + 1]])
        mask = np.zeros(words.shape[1], np.uint64)
        np.bitwise_or.at(mask, held // 64, _ONE << (held % 64).astype(np.uint64))
        counting.counts[place] = sizes[((kept & mask) == mask).all(axis=1)].sum()
    small = np.flatnonzero(sizes < k)
    return np.full(len(small), number), kept[small], sizes[small]
