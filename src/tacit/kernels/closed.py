"""Closed and maximal itemsets of the problems that :func:`tacit.kernels.conditional.project` writes, depth first.

A node of the search is a *head* (a set of items), the rows that hold all of them, its *candidates* (items to branch on), and its *earlier* items
(those branched on before, here or above). A node whose rows all hold an earlier item is cut, because everything below it was met on that
item's branch; a candidate that all rows hold joins the head at once. So every head is closed, and every closed set is met once.

For maximal sets a node is also cut when its head and all its candidates are inside a set already found. The most recent finds are kept as bits,
item by item; whether a leaf is maximal is decided by counting its earlier items, so that forgetting old finds costs time only.

The search stops when the output is full or its allowance of work is spent, and goes on from there when called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels import earlier
from tacit.kernels.conditional import BITS, CANDIDATES, EARLIER, EVERYONE, FIELDS, HEADS, ITEMS, PARTS, PLACES, WIDTH, WORDS
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
def _remember(frames: Any, lists: Any, box: Any, known: Any, focus: Any, n_items: int, depth: int) -> None:
    """Keep a find: ``known`` says which finds hold an item, ``focus`` which finds hold the head of each open node (all hold this one)."""
    slot = box[FOUND] % (64 * KNOWN_WORDS)
    word, bit = slot >> 6, np.uint64(1) << np.uint64(slot & 63)
    keep = np.uint64(0) if box[FOUND] < 64 * KNOWN_WORDS and slot & 63 == 0 else ~bit
    first = word * n_items
    for item in range(n_items):
        known[first + item] &= keep
    for d in range(depth + 1):
        focus[d * KNOWN_WORDS + word] = (focus[d * KNOWN_WORDS + word] & keep) | bit
        for i in range(frames[d, OWN], frames[d, LAST]):
            known[first + lists[i, 0]] |= bit
    box[FOUND] += 1


@part
def _within_a_find(lists: Any, first: int, last: int, found: int, known: Any, focus: Any, n_items: int) -> bool:
    """Whether one find holds the head (as ``focus`` says) and all of ``lists[first:last]``."""
    for word in range(min(KNOWN_WORDS, (found + 63) >> 6)):
        both = focus[word]
        for i in range(first, last):
            if both == 0:
                break
            both &= known[word * n_items + lists[i, 0]]
        if both != 0:
            return True
    return False


@part
def _narrow(lists: Any, node: Any, found: int, known: Any, focus: Any, result: Any, n_items: int) -> None:
    """The finds that hold the head of a new node: those of its parent (``focus``) that hold the items it added."""
    for word in range(min(KNOWN_WORDS, (found + 63) >> 6)):
        both = focus[word]
        for i in range(node[OWN], node[LAST]):
            both &= known[word * n_items + lists[i, 0]]
        result[word] = both


@part
def _open(record: Any, items: Any, own: Any, tids: Any, lists: Any, node: Any) -> None:
    """The root node of a problem: everyone in it, and all its candidates."""
    begin(node, record[FIELDS : FIELDS + record[HEADS]], record[EVERYONE], record[CANDIDATES])
    everyone = own[record[WORDS] * record[ITEMS] :]
    for i in range(record[WORDS] + record[WIDTH]):  # all rows, then the earlier items
        tids[i] = everyone[i]
    candidates = items[2 * record[ITEMS] :]
    for i in range(node[END]):
        lists[i, 0], lists[i, 1] = candidates[2 * i], candidates[2 * i + 1]


@part
def _children(own: Any, rows: Any, parts: Any, items: Any, least: int, lists: Any, parent: Any, child: Any) -> None:
    """Test every candidate behind the parent's current one: it joins the child's head, or its candidates, or drops out."""
    words = len(rows)
    first = parent[LAST]
    child[NEXT], child[END] = first, first
    place_of_own = first + parent[END] - parent[NEXT] - 1
    child[LAST] = place_of_own + 1
    lists[place_of_own, 0] = lists[parent[NEXT], 0]
    for i in range(parent[NEXT] + 1, parent[END]):
        item = lists[i, 0]
        count, _ = common(rows, own[item * words : (item + 1) * words], parts)
        if count == child[PEOPLE]:
            place_of_own -= 1
            lists[place_of_own, 0] = item
            insert(child, items[2 * item])
        elif count >= least:
            place = child[END]  # rare items first: their branches are small, and they are gone from the large ones
            while place > first and lists[place - 1, 1] > count:
                lists[place, 0], lists[place, 1] = lists[place - 1, 0], lists[place - 1, 1]
                place -= 1
            lists[place, 0], lists[place, 1] = item, count
            child[END] += 1
    child[OWN] = place_of_own


@part
def _is_covered(rows_of: Any, record: Any, own: Any, rows: Any, early: Any, box: Any, memory: Any) -> bool:
    """Whether some earlier item is in all the rows."""
    words = len(rows)
    for column in range(len(early)):
        left = early[column]
        while left != 0:
            item = column * 64 + lowest_one(left)
            left &= left - np.uint64(1)
            if contains(own[item * words : (item + 1) * words], rows):
                return True
    return len(rows_of) > 0 and earlier.is_in_all(rows_of, record[record[PLACES] :], rows, memory[box[N_ITEMS] :])


@part
def _may_grow(rows_of: Any, record: Any, own: Any, rows: Any, early: Any, parts: Any, least: int, memory: Any) -> bool:
    """Whether some earlier item is frequent among the rows."""
    words = len(rows)
    for column in range(len(early)):
        left = early[column]
        while left != 0:
            item = column * 64 + lowest_one(left)
            left &= left - np.uint64(1)
            count, _ = common(rows, own[item * words : (item + 1) * words], parts)
            if count >= least:
                return True
    return len(rows_of) > 0 and earlier.is_frequent(rows_of, record[record[PLACES] :], rows, parts, least, memory)


@part
def _branch(own: Any, record: Any, parts: Any, items: Any, box: Any, tids: Any, lists: Any, frames: Any) -> None:
    """Make the child of the current node along its next candidate; its rows are made already."""
    depth = box[DEPTH]
    parent, child = frames[depth], frames[depth + 1]
    words, stride = record[WORDS], record[WORDS] + record[WIDTH]
    mine, below = tids[depth * stride : (depth + 1) * stride], tids[(depth + 1) * stride : (depth + 2) * stride]
    inherit(child, parent, lists[parent[NEXT], 1], items[2 * lists[parent[NEXT], 0]])
    _children(own, below[:words], parts, items, box[LEAST], lists, parent, child)
    for i in range(words, stride):
        below[i] = mine[i]


@part
def _walk(
    rows_of: Any,
    own: Any,
    record: Any,
    box: Any,
    tids: Any,
    lists: Any,
    frames: Any,
    known: Any,
    memory: Any,
    members: Any,
    lines: Any,
) -> int:
    """Search one problem from its current node on."""
    start_parts = FIELDS + record[HEADS]
    parts, items = record[start_parts : start_parts + record[PARTS]], record[start_parts + record[PARTS] :]
    n_items, words, width = record[ITEMS], record[WORDS], record[WIDTH]
    stride, least, maximal = words + width, box[LEAST], box[WANTED] == MAXIMAL
    if box[DEPTH] < 0:
        _open(record, items, own, tids, lists, frames[0])
        rows, early = tids[:words], tids[words:stride]
        if _is_covered(rows_of, record, own, rows, early[:0], box, memory):
            return DONE
        box[DEPTH], box[FOUND] = 0, 0
        if not maximal or (
            record[CANDIDATES] + record[EARLIER] == 0
            and not _may_grow(rows_of, record, own, rows, early[:0], parts, least, memory)
        ):
            emit(frames[0], frames[0, PEOPLE], 0, box, members, lines)
    focus = known[KNOWN_WORDS * n_items :]
    while box[DEPTH] >= 0:
        depth = box[DEPTH]
        node = frames[depth]
        if node[NEXT] == node[END]:
            box[DEPTH] -= 1
            continue
        if not has_room(box, frames, members, lines):
            return OUTPUT_FULL
        if box[WORK_LEFT] <= 0:
            return PAUSED
        box[WORK_LEFT] -= 16 + (node[END] - node[NEXT]) * (1 + words)
        here = focus[depth * KNOWN_WORDS : (depth + 1) * KNOWN_WORDS]
        if maximal and _within_a_find(lists, node[NEXT], node[END], box[FOUND], known, here, n_items):
            box[DEPTH] -= 1
            continue
        item = lists[node[NEXT], 0]
        early = tids[depth * stride + words : (depth + 1) * stride]
        rows = tids[(depth + 1) * stride : (depth + 1) * stride + words]
        intersect(tids[depth * stride : depth * stride + words], own[item * words : (item + 1) * words], rows)
        goes_on = False
        if not _is_covered(rows_of, record, own, rows, early, box, memory):
            _branch(own, record, parts, items, box, tids, lists, frames)
            child = frames[depth + 1]
            goes_on = child[NEXT] < child[END]
            if not maximal:
                emit(child, child[PEOPLE], 0, box, members, lines)
            else:
                below = focus[(depth + 1) * KNOWN_WORDS : (depth + 2) * KNOWN_WORDS]
                _narrow(lists, child, box[FOUND], known, here, below, n_items)
                if not (
                    goes_on
                    or _within_a_find(lists, child[END], child[END], box[FOUND], known, below, n_items)
                    or _may_grow(rows_of, record, own, rows, early, parts, least, memory)
                ):
                    emit(child, child[PEOPLE], 0, box, members, lines)
                    _remember(frames, lists, box, known, focus, n_items, depth + 1)
        early[item >> 6] |= np.uint64(1) << np.uint64(item & 63)
        node[NEXT] += 1
        if goes_on:
            box[DEPTH] += 1
    return DONE


@kernel
def search(
    rows_of: Any, bits: Any, book: Any, box: Any, tids: Any, lists: Any, frames: Any, known: Any, members: Any, lines: Any
) -> int:
    """Write closed or maximal itemsets to ``members`` and ``lines`` (see :func:`tacit.kernels.node.emit`) until done, full or out of work.

    ``rows_of``: the rows as lists, if the problems were made from lists. ``box`` is the state. ``tids``, ``lists``, ``frames``, ``known`` are
    the search's memory: rows and earlier items of the open nodes, candidates, nodes, finds.
    """
    memory = np.zeros(box[N_ITEMS] + frames.shape[1] if len(rows_of) > 0 else 0, np.int64)
    while box[PROBLEM] < box[N_PROBLEMS]:
        if not has_room(box, frames, members, lines):
            return OUTPUT_FULL
        record = book[book[box[PROBLEM]] :]
        status = _walk(rows_of, bits[record[BITS] :], record, box, tids, lists, frames, known, memory, members, lines)
        if status != DONE:
            return status
        box[PROBLEM] += 1
    return DONE
