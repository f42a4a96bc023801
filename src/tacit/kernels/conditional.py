"""Conditional databases: for each root item, the rows that hold it, as one set of rows (64-bit words) per other item.

A *problem* is what a search works on: the people who have the root item. Its sets of rows are only as long as the root's own support, which
makes mining fast on dense and sparse data alike. There are two ways to make one. From *masks* (one bit per item and row, for dense data) the
root's rows are copied and turned by 90 degrees. From *lists* (for sparse data) the items are counted first, and only those that are
frequent among the root's people become part of the problem.

Problems are written to two arrays. ``bits`` holds words: for each item its set of rows, then all rows, then a mask of the *earlier* items,
those whose own branch was searched before the root's (from masks only; lists are looked through by :mod:`tacit.kernels.earlier`).
``book`` holds numbers: ``book[i]`` is where the record of problem i starts; a record holds the fields below, the parts (see
:mod:`tacit.kernels.words`), the head (labels of items that everyone in the problem has), label and column of each item, the candidates
(later items that are frequent, each with its count), and for lists the place of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part
from tacit.kernels.words import common, transpose

#: Fields of a record: items; words per set of rows; words per mask; first word in ``bits``; people; length of the head; candidates; whether an
#: earlier item is frequent (1 yes, -1 no, 0 not known); and where in the book the parts end (they follow the fields) and where head, items,
#: candidates and places start.
(
    ITEMS, WORDS, WIDTH, BITS, EVERYONE, HEADS, CANDIDATES, EARLIER, PARTS_END, HEADS_AT, ITEMS_AT, CANDIDATES_AT, PLACES_AT, FIELDS,
) = range(14)  # fmt: skip

#: What is asked of :func:`project`: the root it began with, the next root, and where to end; how many problems at most; the least count of a
#: frequent item; whether frequent earlier items are kept; whether items that everyone has go to the head, and a root that an earlier item covers
#: is left out.
FIRST_ROOT, NEXT_ROOT, END_ROOT, MAX_PROBLEMS, LEAST, KEEP_EARLIER, ABSORB = range(7)

#: What it answers: problems made; most items and most words of one problem; what the next problem needs if it did not fit.
MADE, MOST_ITEMS, MOST_WORDS, NEED_BITS, NEED_BOOK, ASKED = range(7, 13)

#: Counts are looked through this many at a time.
STEP = 16


@part
def _lay_out(mine: Any, all_parts: Any, book: Any, at: int, cuts: Any) -> int:
    """Write the parts of the places ``mine`` to the book, and to ``cuts`` where they end in ``mine``; how many parts."""
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
        place = at + FIELDS + 3 * found
        book[place], book[place + 1], book[place + 2] = word, all_parts[current, 1], all_parts[current, 2]
        cuts[found] = last
        found += 1
        first = last
    book[at + WORDS], book[at + PARTS_END] = word, at + FIELDS + 3 * found
    return found


@part
def _frequent(lists: Any, mine: Any, book: Any, at: int, cuts: Any, n_parts: int, least: int, counts: Any, ids: Any) -> int:
    """List the later items that are frequent among the places ``mine``, ascending; how many. ``counts`` is zero before and after."""
    first = 0
    for p in range(n_parts):
        weight = book[at + FIELDS + 3 * p + 1]
        for i in range(first, cuts[p]):
            place = mine[i] + 1
            while lists[place] >= 0:
                counts[lists[place]] += weight
                place += 1
        first = cuts[p]
    found = 0
    for start in range(0, len(counts), STEP):
        most = 0
        for i in range(start, start + STEP):
            most = max(most, counts[i])
        if most == 0:
            continue
        for i in range(start, start + STEP):
            if counts[i] >= least:
                ids[found] = i
                found += 1
            counts[i] = 0
    return found


@part
def _write_masks(
    lists: Any, row_masks: Any, mine: Any, cuts: Any, n_parts: int, ids: Any, n_items: int, number: Any, masks: Any
) -> None:
    """The masks of the rows ``mine``, every part from a new word of 64 rows on: copied, or made of the items ``ids`` in their lists."""
    width = (n_items + 63) >> 6
    dense = len(row_masks) > 0
    if not dense:
        for i in range(n_items):
            number[ids[i]] = i
    first, row = 0, 0
    for p in range(n_parts):
        for i in range(first, cuts[p]):
            place = row * width
            if dense:
                source = mine[i] * width
                for column in range(width):
                    masks[place + column] = row_masks[source + column]
            else:
                at = mine[i] + 1
                while lists[at] >= 0:
                    item = number[lists[at]]
                    if item >= 0:
                        masks[place + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
                    at += 1
            row += 1
        row = (row + 63) >> 6 << 6
        first = cuts[p]
    if not dense:
        for i in range(n_items):
            number[ids[i]] = -1


@part
def _turn(masks: Any, book: Any, at: int, bits: Any) -> None:
    """Sets of rows from masks of rows, 64 rows and 64 items at a time."""
    n_items, words, width, own = book[at + ITEMS], book[at + WORDS], book[at + WIDTH], book[at + BITS]
    block = np.empty(64, np.uint64)
    for word in range(words):
        for column in range(width):
            for i in range(64):
                block[i] = masks[(word * 64 + i) * width + column]
            transpose(block)
            first = column * 64
            for i in range(min(64, n_items - first)):
                bits[own + (first + i) * words + word] = block[i]


@part
def _write_rows(mine: Any, cuts: Any, n_parts: int, bits: Any, word: int, book: Any, places: int) -> None:
    """The set of all rows, from ``bits[word]`` on, and in the book the place of each row; every part starts at a new word."""
    first, start = 0, word
    for p in range(n_parts):
        for i in range(first, cuts[p]):
            row = i - first
            if row & 63 == 0:
                bits[word + (row >> 6)] = np.uint64(0)
            bits[word + (row >> 6)] |= np.uint64(1) << np.uint64(row & 63)
            if places >= 0:
                book[places + 64 * (word - start) + row] = mine[i]
        word += (cuts[p] - first + 63) >> 6
        first = cuts[p]


@part
def _sort_out(root: int, ids: Any, labels: Any, ask: Any, bits: Any, book: Any, at: int) -> bool:
    """Sort the items of a problem into earlier ones, candidates and head; False when an earlier item covers everyone."""
    n_items, words, own = book[at + ITEMS], book[at + WORDS], book[at + BITS]
    early = own + (n_items + 1) * words
    for i in range(book[at + WIDTH]):
        bits[early + i] = np.uint64(0)
    book[book[at + HEADS_AT]] = labels[root, 0]
    heads, candidates, earlier = 1, 0, -1
    for i in range(n_items):
        item = ids[i]
        place = book[at + ITEMS_AT] + 2 * i
        book[place], book[place + 1] = labels[item, 0], labels[item, 1]
        if item == root or (item < root and not ask[KEEP_EARLIER]) or labels[item, 1] == labels[root, 1]:
            continue
        place = own + i * words
        count, best = common(bits, place, bits, place, book, at + FIELDS, book[at + PARTS_END])
        if best < ask[LEAST]:
            continue
        absorbed = ask[ABSORB] and count == book[at + EVERYONE]
        if item < root:
            if absorbed:
                return False
            bits[early + (i >> 6)] |= np.uint64(1) << np.uint64(i & 63)
            earlier = 1
        elif absorbed:
            book[book[at + HEADS_AT] + heads] = labels[item, 0]
            heads += 1
        else:
            place = book[at + CANDIDATES_AT] + 2 * candidates
            book[place], book[place + 1] = i, count
            candidates += 1
    book[at + HEADS], book[at + CANDIDATES], book[at + EARLIER] = heads, candidates, earlier
    return True


@kernel
def project(
    lists: Any, row_masks: Any, starts: Any, places: Any, all_parts: Any, labels: Any, ask: Any, bits: Any, book: Any
) -> None:
    """Write the problems of the next roots into ``bits`` and ``book``, until the end, or one of them is full.

    ``lists``, ``row_masks``, ``starts``, ``places``: as :func:`tacit.kernels.rows.index` makes them; if there are masks, they are used.
    ``all_parts[p]``: the first place behind part p, its weight, its class. ``labels[i]``: label and column of item i, its count, and a mark, set
    when an earlier item was seen to be frequent together with it; without one, there is none if the search began with the first root.
    """
    total, dense = len(labels), len(row_masks) > 0
    counts = np.zeros((total + STEP - 1) // STEP * STEP, np.int64)
    ids, number = np.empty(total, np.int64), np.empty(total, np.int64)
    for i in range(total):  # numpy's own functions for this would take a while to compile
        ids[i], number[i] = i, -1
    cuts = np.empty(len(all_parts), np.int64)
    masks = np.empty(0, np.uint64)
    for i in range(MADE, ASKED):
        ask[i] = 0
    used, at = 0, ask[MAX_PROBLEMS]
    while ask[NEXT_ROOT] < ask[END_ROOT] and ask[MADE] < ask[MAX_PROBLEMS]:
        root = ask[NEXT_ROOT]
        ask[NEED_BOOK] = at + FIELDS + 3 * len(all_parts)
        if ask[NEED_BOOK] > len(book):
            break
        mine = places[starts[root] : starts[root + 1]]
        n_parts = _lay_out(mine, all_parts, book, at, cuts)
        n_items = total if dense else _frequent(lists, mine, book, at, cuts, n_parts, ask[LEAST], counts, ids)
        words, width = book[at + WORDS], (n_items + 63) >> 6
        ask[NEED_BITS] = used + (n_items + 1) * words + width
        ask[NEED_BOOK] = book[at + PARTS_END] + 1 + 5 * n_items + (0 if dense else 64 * words)
        if ask[NEED_BITS] > len(bits) or ask[NEED_BOOK] > len(book):
            break
        if not dense:
            for i in range(n_items):
                labels[ids[i], 3] = 1
        book[at + ITEMS], book[at + WIDTH], book[at + BITS], book[at + EVERYONE] = n_items, width, used, labels[root, 2]
        book[at + HEADS_AT] = book[at + PARTS_END]
        book[at + ITEMS_AT] = book[at + HEADS_AT] + n_items + 1
        book[at + CANDIDATES_AT] = book[at + ITEMS_AT] + 2 * n_items
        book[at + PLACES_AT] = book[at + CANDIDATES_AT] + 2 * n_items
        if len(masks) < 64 * words * width:
            masks = np.empty(64 * words * width, np.uint64)
        masks[: 64 * words * width] = np.uint64(0)
        _write_masks(lists, row_masks, mine, cuts, n_parts, ids, n_items, number, masks)
        _turn(masks, book, at, bits)
        _write_rows(mine, cuts, n_parts, bits, used + n_items * words, book, -1 if dense else book[at + PLACES_AT])
        if _sort_out(root, ids, labels, ask, bits, book, at):
            if not dense and (labels[root, 3] != 0 or ask[FIRST_ROOT] > 0):
                book[at + EARLIER] = labels[root, 3]
            book[ask[MADE]] = at
            used, at = ask[NEED_BITS], ask[NEED_BOOK]
            ask[MADE] += 1
            ask[MOST_ITEMS] = max(ask[MOST_ITEMS], n_items)
            ask[MOST_WORDS] = max(ask[MOST_WORDS], words)
        ask[NEXT_ROOT] += 1
