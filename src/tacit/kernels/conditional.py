"""Conditional databases: for each root item, the rows that hold it, as one set of rows (64-bit words) per other item.

A *problem* is what a search works on: the people who have the root item. Its sets of rows are only as long as the root's own support, which
makes mining fast on dense and sparse data alike. There are two ways to make one. From *masks* (one bit per item and row, for dense data) the
root's rows are copied and turned by 90 degrees. From *lists* (for sparse data) the items are counted first, and only those that are
frequent among the root's people become part of the problem.

Problems are written to two arrays. ``bits`` holds words: for each item its set of rows, then all rows, then a mask of the *earlier* items,
those whose own branch was searched before the root's (from masks only; lists are looked through by :mod:`tacit.kernels.earlier`).
``book`` holds numbers: ``book[i]`` is where the record of problem i starts; a record holds the fields below, then the head (labels of items
that everyone in the problem has), the parts (see :mod:`tacit.kernels.words`), label and column of each item, the candidates (later items that
are frequent, each with its count), and for lists the place of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part
from tacit.kernels.words import common, transpose

#: Fields of a record: items; words per set of rows; words per mask; length of parts; first word; people; length of head; candidates;
#: frequent earlier items; where the places start.
ITEMS, WORDS, WIDTH, PARTS, BITS, EVERYONE, HEADS, CANDIDATES, EARLIER, PLACES, FIELDS = range(11)

#: What is asked of :func:`project`: the next root and where to end; how many problems at most; the least count of a frequent item; whether
#: frequent earlier items are kept; whether items that everyone has go to the head, and a root that an earlier item covers is left out.
NEXT_ROOT, END_ROOT, MAX_PROBLEMS, LEAST, KEEP_EARLIER, ABSORB = range(6)

#: What it answers: problems made; most items and most words of one problem; what the next problem needs if it did not fit.
MADE, MOST_ITEMS, MOST_WORDS, NEED_BITS, NEED_BOOK, ASKED = range(6, 12)

#: Numbers are looked through this many at a time.
STEP = 16


@part
def _lay_out(mine: Any, all_parts: Any, parts: Any, cuts: Any) -> int:
    """Find the parts of the places ``mine``: their ends in words, weights, classes, and in ``cuts`` their ends in ``mine``; how many parts."""
    word, first, found, current = 0, 0, 0, 0
    while first < len(mine):
        while all_parts[current, 0] <= mine[first]:
            current += 1
        last, end = first, len(mine)
        while last < end:
            middle = (last + end) >> 1
            if mine[middle] < all_parts[current, 0]:
                last = middle + 1
            else:
                end = middle
        word += (last - first + 63) >> 6
        parts[3 * found], parts[3 * found + 1], parts[3 * found + 2] = word, all_parts[current, 1], all_parts[current, 2]
        cuts[found] = last
        found += 1
        first = last
    return found


@part
def _count(lists: Any, mine: Any, parts: Any, cuts: Any, n_parts: int, counts: Any) -> None:
    """Add up the people of the places ``mine`` that have each later item."""
    first = 0
    for p in range(n_parts):
        weight = parts[3 * p + 1]
        for i in range(first, cuts[p]):
            at = mine[i] + 1
            while lists[at] >= 0:
                counts[lists[at]] += weight
                at += 1
        first = cuts[p]


@part
def _frequent(counts: Any, least: int, ids: Any) -> int:
    """List the items that reach the threshold, ascending, and set all counts to 0; how many."""
    found = 0
    for first in range(0, len(counts), STEP):
        most = counts[first]
        for i in range(first, first + STEP):
            most = max(most, counts[i])
        if most >= least:
            for i in range(first, first + STEP):
                if counts[i] >= least:
                    ids[found] = i
                    found += 1
        if most > 0:
            for i in range(first, first + STEP):
                counts[i] = 0
    return found


@part
def _list_masks(lists: Any, mine: Any, cuts: Any, n_parts: int, number: Any, width: int, masks: Any) -> None:
    """The masks of the rows at the places ``mine`` over the later items that have a ``number``, every part from a new word of 64 rows on."""
    first, row = 0, 0
    for p in range(n_parts):
        for i in range(first, cuts[p]):
            at = mine[i] + 1
            while lists[at] >= 0:
                item = number[lists[at]]
                if item >= 0:
                    masks[row * width + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
                at += 1
            row += 1
        row = (row + 63) >> 6 << 6
        first = cuts[p]


@part
def _copy_masks(row_masks: Any, mine: Any, cuts: Any, n_parts: int, width: int, masks: Any) -> None:
    """The masks of the rows ``mine``, every part from a new word of 64 rows on."""
    first, row = 0, 0
    for p in range(n_parts):
        for i in range(first, cuts[p]):
            for column in range(width):
                masks[row * width + column] = row_masks[mine[i] * width + column]
            row += 1
        row = (row + 63) >> 6 << 6
        first = cuts[p]


@part
def _turn(masks: Any, words: int, width: int, n_items: int, sets: Any) -> None:
    """Sets of rows from masks of rows, 64 rows and 64 items at a time."""
    block = np.empty(64, np.uint64)
    for word in range(words):
        for column in range(width):
            for i in range(64):
                block[i] = masks[(word * 64 + i) * width + column]
            transpose(block)
            first = column * 64
            for i in range(min(64, n_items - first)):
                sets[(first + i) * words + word] = block[i]


@part
def _everyone(cuts: Any, n_parts: int, rows: Any) -> None:
    """The set of all rows: every part fills its words from the first bit on."""
    word, first = 0, 0
    for p in range(n_parts):
        left = cuts[p] - first
        while left > 0:
            rows[word] = ~np.uint64(0) if left >= 64 else (np.uint64(1) << np.uint64(left)) - np.uint64(1)
            left -= 64
            word += 1
        first = cuts[p]


@part
def _sort_out(root: int, ids: Any, labels: Any, ask: Any, parts: Any, own: Any, record: Any, tail: Any) -> bool:
    """Sort the items of a problem into earlier ones, candidates and head; False when an earlier item covers everyone."""
    n_items, words = record[ITEMS], record[WORDS]
    early = own[(n_items + 1) * words :]
    early[: record[WIDTH]] = np.uint64(0)
    for i in range(n_items):
        item = ids[i]
        if item == root or (item < root and not ask[KEEP_EARLIER]) or labels[item, 1] == labels[root, 1]:
            continue
        mine = own[i * words : (i + 1) * words]
        count, best = common(mine, mine, parts)
        if best < ask[LEAST]:
            continue
        absorbed = ask[ABSORB] and count == record[EVERYONE]
        if item < root:
            if absorbed:
                return False
            early[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
            record[EARLIER] += 1
        elif absorbed:
            record[HEADS] += 1
            tail[len(tail) - record[HEADS]] = item
        else:
            tail[2 * record[CANDIDATES]], tail[2 * record[CANDIDATES] + 1] = i, count
            record[CANDIDATES] += 1
    return True


@part
def _write(record: Any, ids: Any, root: int, parts: Any, labels: Any, tail: Any) -> None:
    """Write what follows the fields of a record."""
    place = FIELDS
    record[place] = labels[root, 0]
    for i in range(record[HEADS]):
        record[place + 1 + i] = labels[tail[len(tail) - 1 - i], 0]
    record[HEADS] += 1
    place += record[HEADS]
    for i in range(record[PARTS]):
        record[place + i] = parts[i]
    place += record[PARTS]
    for i in range(record[ITEMS]):
        record[place], record[place + 1] = labels[ids[i], 0], labels[ids[i], 1]
        place += 2
    for i in range(2 * record[CANDIDATES]):
        record[place + i] = tail[i]


@part
def _write_places(mine: Any, cuts: Any, n_parts: int, places: Any) -> None:
    """Write the place of every row; every part starts at a new word."""
    first, row = 0, 0
    for p in range(n_parts):
        for i in range(first, cuts[p]):
            places[row] = mine[i]
            row += 1
        first = cuts[p]
        row = (row + 63) >> 6 << 6


@kernel
def project(
    lists: Any, row_masks: Any, starts: Any, places: Any, all_parts: Any, labels: Any, ask: Any, bits: Any, book: Any
) -> None:
    """Write the problems of the next roots into ``bits`` and ``book``, until the end, or one of them is full.

    ``lists``, ``row_masks``, ``starts``, ``places``: as :func:`tacit.kernels.rows.index` makes them; if there are masks, they are used.
    ``all_parts[p]``: the first place behind part p, its weight, its class. ``labels[i]``: label and column of item i, and its count.
    """
    total = len(labels)
    dense = len(row_masks) > 0
    counts = np.zeros((total + STEP - 1) // STEP * STEP, np.int64)
    ids, number = np.arange(total), np.full(total, -1, np.int64)
    tail = np.empty(2 * total + 2, np.int64)
    parts, cuts = np.empty(3 * len(all_parts), np.int64), np.empty(len(all_parts), np.int64)
    masks = np.empty(0, np.uint64)
    for i in range(MADE, ASKED):
        ask[i] = 0
    used, end = 0, ask[MAX_PROBLEMS]
    while ask[NEXT_ROOT] < ask[END_ROOT] and ask[MADE] < ask[MAX_PROBLEMS]:
        root = ask[NEXT_ROOT]
        mine = places[starts[root] : starts[root + 1]]
        n_parts = _lay_out(mine, all_parts, parts, cuts)
        n_items, words = total, parts[3 * n_parts - 3]
        if not dense:
            _count(lists, mine, parts, cuts, n_parts, counts)
            n_items = _frequent(counts, ask[LEAST], ids)
        width = (n_items + 63) >> 6
        n_bits, n_book = (n_items + 1) * words + width, FIELDS + 1 + 3 * n_parts + 4 * n_items + (0 if dense else 64 * words)
        if used + n_bits > len(bits) or end + n_book > len(book):
            ask[NEED_BITS], ask[NEED_BOOK] = n_bits, ask[MAX_PROBLEMS] + n_book
            break
        own = bits[used : used + n_bits]
        if len(masks) < 64 * words * width:
            masks = np.empty(64 * words * width, np.uint64)
        masks[: 64 * words * width] = np.uint64(0)
        if dense:
            _copy_masks(row_masks, mine, cuts, n_parts, width, masks)
        else:
            for i in range(n_items):
                number[ids[i]] = i
            _list_masks(lists, mine, cuts, n_parts, number, width, masks)
            for i in range(n_items):
                number[ids[i]] = -1
        _turn(masks, words, width, n_items, own)
        _everyone(cuts, n_parts, own[n_items * words :])
        record = book[end:]
        record[ITEMS], record[WORDS], record[WIDTH], record[PARTS], record[BITS] = n_items, words, width, 3 * n_parts, used
        record[EVERYONE], record[HEADS], record[CANDIDATES], record[EARLIER] = labels[root, 2], 0, 0, 0
        if _sort_out(root, ids, labels, ask, parts[: 3 * n_parts], own, record, tail):
            _write(record, ids, root, parts, labels, tail)
            if not dense:
                _write_places(mine, cuts, n_parts, record[n_book - 64 * words :])
            record[PLACES] = n_book - 64 * words
            book[ask[MADE]] = end
            end += n_book
            used += n_bits
            ask[MADE] += 1
            ask[MOST_ITEMS] = max(ask[MOST_ITEMS], n_items)
            ask[MOST_WORDS] = max(ask[MOST_WORDS], words)
        ask[NEXT_ROOT] += 1
