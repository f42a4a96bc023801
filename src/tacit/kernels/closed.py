"""Closed and maximal itemsets of the problems that :func:`tacit.kernels.conditional.project` writes, depth first.

A node of the search is a *head* (a set of items), the rows that hold all of them, its *candidates* (items to branch on), and its *earlier* items
(those branched on before, here or above). A node whose rows all hold an earlier item is cut, because everything below it was met on that
item's branch; a candidate that all rows hold joins the head at once. So every head is closed, and every closed set is met once.

For maximal sets a node is also cut when its head and all its candidates are inside a set already found. The most recent finds are kept as bits,
item by item; whether a leaf is maximal is decided by counting its earlier items, so that forgetting old finds costs time only.

The search stops when the output is full or its allowance of work is spent, and goes on from there when called again.

What the functions below pass to each other: ``rows_of``, the rows as lists (none, if problems were made from masks); ``bits``, ``book`` and
``at``, the problem; ``box``, the state; ``tids``, rows and then earlier items of every open node; ``lists`` and ``frames``, candidates and
nodes; ``known``, finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels import earlier
from tacit.kernels.conditional import BITS, CANDIDATES, EARLIER, FIELDS, ITEMS, ITEMS_AT, PARTS_END, PLACES_AT, WIDTH, WORDS
from tacit.kernels.jit import kernel, lowest_one, part
from tacit.kernels.node import (
    DEPTH,
    DONE,
    END,
    FOUND,
    LAST,
    LEAST,
    MAXIMAL,
    N_ITEMS,
    N_PROBLEMS,
    NEXT,
    OUTPUT_FULL,
    OWN,
    PAUSED,
    PEOPLE,
    PROBLEM,
    ROWS,
    WANTED,
    WORK_LEFT,
    begin,
    emit,
    has_room,
    inherit,
    insert,
)
from tacit.kernels.words import common, contains, intersect

#: How many recent finds are kept, in words of 64.
KNOWN_WORDS = 16


@part
def _remember(frames: Any, lists: Any, box: Any, known: Any, n_items: int) -> None:
    """Keep the head of the node below the current one as a find.

    ``known`` says first, for each word of finds, which of them hold each item; then, for each open node, which of them hold its head. All open
    nodes are on the way to this find, so it holds all their heads.
    """
    slot = box[FOUND] % (64 * KNOWN_WORDS)
    word, bit = slot >> 6, np.uint64(1) << np.uint64(slot & 63)
    keep = np.uint64(0) if box[FOUND] < 64 * KNOWN_WORDS and slot & 63 == 0 else ~bit
    for item in range(word * n_items, (word + 1) * n_items):
        known[item] &= keep
    for depth in range(box[DEPTH] + 2):
        place = KNOWN_WORDS * (n_items + depth) + word
        known[place] = (known[place] & keep) | bit
        for i in range(frames[depth, OWN], frames[depth, LAST]):
            known[word * n_items + lists[i, 0]] |= bit
    box[FOUND] += 1


@part
def _within_a_find(lists: Any, first: int, last: int, box: Any, known: Any, n_items: int, depth: int) -> bool:
    """Whether one find holds the head of the node at ``depth`` and all of ``lists[first:last]``."""
    for word in range(min(KNOWN_WORDS, (box[FOUND] + 63) >> 6)):
        both = known[KNOWN_WORDS * (n_items + depth) + word]
        for i in range(first, last):
            if both == 0:
                break
            both &= known[word * n_items + lists[i, 0]]
        if both != 0:
            return True
    return False


@part
def _narrow(frames: Any, lists: Any, box: Any, known: Any, n_items: int, depth: int) -> None:
    """Note which finds hold the head of a new node: those that hold the head above it and the items it added."""
    for word in range(min(KNOWN_WORDS, (box[FOUND] + 63) >> 6)):
        place = KNOWN_WORDS * (n_items + depth) + word
        both = known[place - KNOWN_WORDS]
        for i in range(frames[depth, OWN], frames[depth, LAST]):
            both &= known[word * n_items + lists[i, 0]]
        known[place] = both


@part
def _children(bits: Any, book: Any, at: int, least: int, tids: Any, rows: int, lists: Any, frames: Any, depth: int) -> None:
    """Test every candidate behind the current one of the node above: it joins the head of this node, or its candidates, or drops out."""
    own, words, items = book[at + BITS], book[at + WORDS], book[at + ITEMS_AT]
    current, last = frames[depth - 1, NEXT], frames[depth - 1, END]
    first = frames[depth - 1, LAST]
    end, added = first, first + last - current - 1
    frames[depth, LAST] = added + 1
    lists[added, 0] = lists[current, 0]
    for i in range(current + 1, last):
        item = lists[i, 0]
        count, _ = common(tids, rows, bits, own + item * words, book, at + FIELDS, book[at + PARTS_END])
        if count == frames[depth, PEOPLE]:
            added -= 1
            lists[added, 0] = item
            insert(frames, depth, book[items + 2 * item])
        elif count >= least:
            place = end  # rare items first: their branches are small, and they are gone from the large ones
            while place > first and lists[place - 1, 1] > count:
                lists[place, 0], lists[place, 1] = lists[place - 1, 0], lists[place - 1, 1]
                place -= 1
            lists[place, 0], lists[place, 1] = item, count
            end += 1
    frames[depth, NEXT], frames[depth, END], frames[depth, OWN] = first, end, added


@part
def _earlier_item(
    rows_of: Any, bits: Any, book: Any, at: int, box: Any, tids: Any, rows: int, early: int, people: int, least: int, memory: Any
) -> bool:
    """Whether ``least`` of the ``people`` in the rows have one earlier item in common; if ``least`` is all of them, that item covers the rows.

    Rows are ``tids[rows:]``; earlier items are those of the mask ``tids[early:]``, and those before the root in the lists.
    """
    own, words = book[at + BITS], book[at + WORDS]
    for column in range(book[at + WIDTH]):
        left = tids[early + column]
        while left != 0:
            place = own + (column * 64 + lowest_one(left)) * words
            left &= left - np.uint64(1)
            if least == people:
                if contains(bits, place, tids, rows, words):
                    return True
            else:
                count, _ = common(tids, rows, bits, place, book, at + FIELDS, book[at + PARTS_END])
                if count >= least:
                    return True
    if (
        len(rows_of) == 0 or book[at + EARLIER] < 0
    ):  # what is not frequent with the root is not frequent, and covers nothing, below it
        return False
    if least == people:
        return earlier.is_in_all(rows_of, book, book[at + PLACES_AT], tids, rows, words, memory, box[N_ITEMS])
    return earlier.is_frequent(rows_of, book, book[at + PLACES_AT], tids, rows, at + FIELDS, book[at + PARTS_END], least, memory)


@part
def _open(
    rows_of: Any,
    bits: Any,
    book: Any,
    at: int,
    box: Any,
    tids: Any,
    lists: Any,
    frames: Any,
    memory: Any,
    members: Any,
    lines: Any,
) -> None:
    """Begin a problem with its root, unless an earlier item covers everyone in it."""
    begin(book, at, box, frames, lists)
    words, rows, people = book[at + WORDS], frames[0, ROWS], frames[0, PEOPLE]
    everyone = book[at + BITS] + book[at + ITEMS] * words
    for i in range(words + book[at + WIDTH]):  # all rows, then the earlier items
        tids[i] = bits[everyone + i]
    box[FOUND] = 0
    if book[at + EARLIER] == 0:
        some = _earlier_item(rows_of, bits, book, at, box, tids, rows, words, people, box[LEAST], memory)
        book[at + EARLIER] = 1 if some else -1
    # Problems made from masks are not covered: those were left out.
    if len(rows_of) > 0 and _earlier_item(rows_of, bits, book, at, box, tids, rows, words, people, people, memory):
        box[DEPTH] = -1
    elif box[WANTED] != MAXIMAL or (book[at + CANDIDATES] == 0 and book[at + EARLIER] < 0):
        emit(frames, box[DEPTH], people, book[at + FIELDS + 2], box, members, lines)


@kernel
def search(
    rows_of: Any, bits: Any, book: Any, box: Any, tids: Any, lists: Any, frames: Any, known: Any, members: Any, lines: Any
) -> int:
    """Write closed or maximal itemsets to ``members`` and ``lines`` (see :func:`tacit.kernels.node.emit`) until done, full or out of work."""
    memory = np.zeros(box[N_ITEMS] + frames.shape[1] if len(rows_of) > 0 else 0, np.int64)
    maximal = box[WANTED] == MAXIMAL
    while box[PROBLEM] < box[N_PROBLEMS]:
        if not has_room(box, frames, members, lines):
            return OUTPUT_FULL
        at = book[box[PROBLEM]]
        n_items, own, words, width = book[at + ITEMS], book[at + BITS], book[at + WORDS], book[at + WIDTH]
        if box[DEPTH] < 0:
            _open(rows_of, bits, book, at, box, tids, lists, frames, memory, members, lines)
        while box[DEPTH] >= 0:
            depth = box[DEPTH]
            place, last = frames[depth, NEXT], frames[depth, END]
            if place == last or (maximal and _within_a_find(lists, place, last, box, known, n_items, depth)):
                box[DEPTH] -= 1
                continue
            if not has_room(box, frames, members, lines):
                return OUTPUT_FULL
            if box[WORK_LEFT] <= 0:
                return PAUSED
            box[WORK_LEFT] -= 16 + (last - place) * (1 + words)
            item = lists[place, 0]
            above, rows = depth * (words + width), (depth + 1) * (words + width)
            intersect(tids, above, bits, own + item * words, tids, rows, words)
            goes_on = False
            people = lists[place, 1]
            if not _earlier_item(rows_of, bits, book, at, box, tids, rows, above + words, people, people, memory):
                inherit(frames, depth + 1, people, book[book[at + ITEMS_AT] + 2 * item])
                _children(bits, book, at, box[LEAST], tids, rows, lists, frames, depth + 1)
                for i in range(words, words + width):
                    tids[rows + i] = tids[above + i]
                goes_on = frames[depth + 1, NEXT] < frames[depth + 1, END]
                wanted = not maximal
                if maximal:
                    _narrow(frames, lists, box, known, n_items, depth + 1)
                    wanted = not (
                        goes_on
                        or _within_a_find(lists, last, last, box, known, n_items, depth + 1)
                        or _earlier_item(rows_of, bits, book, at, box, tids, rows, above + words, people, box[LEAST], memory)
                    )
                if wanted:
                    emit(frames, depth + 1, people, book[at + FIELDS + 2], box, members, lines)
                    if maximal:
                        _remember(frames, lists, box, known, n_items)
            tids[above + words + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
            frames[depth, NEXT] += 1
            if goes_on:
                box[DEPTH] += 1
        box[PROBLEM] += 1
    return DONE
