"""All frequent itemsets, and all rules itemset => class, of the problems that :func:`tacit.kernels.conditional.project` writes, depth first.

With one class every frequent itemset is written. With several, rows lie class by class, so that the class counts of an itemset are counts
over parts of its rows: every (itemset, class) whose count reaches the threshold, and whose share of the itemset reaches a ratio, is written, in
one pass; a branch ends where no class reaches the threshold any more.

Items of one column exclude each other: a value and a coarser value that contains it are never in one set. In such a family a set is closed
(maximal) when no set of the family that holds one more item has the same count (is frequent).

The search stops when the output is full or its allowance of work is spent, and goes on from there when called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.conditional import BITS, CANDIDATES, EVERYONE, FIELDS, HEADS, ITEMS, PARTS, WIDTH, WORDS
from tacit.kernels.jit import kernel, lowest_one, part, popcount
from tacit.kernels.node import (
    ALL,
    CLASSES,
    CLOSED,
    DEPTH,
    DONE,
    END,
    LEAST,
    N_PROBLEMS,
    NEXT,
    OUTPUT_FULL,
    PAUSED,
    PEOPLE,
    PROBLEM,
    RATIO_PART,
    RATIO_WHOLE,
    ROWS,
    WANTED,
    WORK_LEFT,
    begin,
    emit,
    has_room,
    inherit,
)
from tacit.kernels.words import common, contains, intersect


@part
def _emit_classes(node: Any, rows: Any, parts: Any, box: Any, members: Any, lines: Any) -> None:
    """Write every class that is frequent among the rows and reaches the ratio."""
    within, first = 0, 0
    for i in range(0, len(parts), 3):
        ones = 0
        for word in range(first, parts[i]):
            ones += popcount(rows[word])
        first = parts[i]
        within += ones * parts[i + 1]
        if i + 3 == len(parts) or parts[i + 5] != parts[i + 2]:
            if within >= box[LEAST] and within * box[RATIO_WHOLE] >= node[PEOPLE] * box[RATIO_PART]:
                emit(node, within, parts[i + 2], box, members, lines)
            within = 0


@part
def _has_equal(own: Any, rows: Any, free: Any, parts: Any, box: Any) -> bool:
    """Whether one more item of the family leaves the count (for closed sets) or the set frequent (for maximal sets)."""
    words = len(rows)
    for column in range(len(free)):
        left = free[column]
        while left != 0:
            item = column * 64 + lowest_one(left)
            left &= left - np.uint64(1)
            other = own[item * words : (item + 1) * words]
            if box[WANTED] == CLOSED:
                if contains(other, rows):
                    return True
            else:
                count, _ = common(rows, other, parts)
                if count >= box[LEAST]:
                    return True
    return False


@part
def _visit(own: Any, record: Any, parts: Any, depth: int, box: Any, tids: Any, frames: Any, members: Any, lines: Any) -> None:
    """Write what is wanted of one node."""
    node, words, stride = frames[depth], record[WORDS], record[WORDS] + record[WIDTH]
    rows = tids[node[ROWS] * stride : node[ROWS] * stride + words]
    if box[CLASSES] > 1:
        _emit_classes(node, rows, parts, box, members, lines)
    elif box[WANTED] == ALL or not _has_equal(own, rows, tids[depth * stride + words : (depth + 1) * stride], parts, box):
        emit(node, node[PEOPLE], 0, box, members, lines)


@part
def _open(record: Any, items: Any, own: Any, tids: Any, lists: Any, node: Any) -> None:
    """The root node of a problem: everyone in it, all its candidates, and all its items free to be added."""
    begin(node, record[FIELDS : FIELDS + record[HEADS]], record[EVERYONE], record[CANDIDATES])
    words = record[WORDS]
    everyone = own[words * record[ITEMS] :]
    for i in range(words + record[WIDTH]):  # all rows, then the earlier items
        tids[i] = everyone[i]
    candidates = items[2 * record[ITEMS] :]
    for i in range(node[END]):
        item = candidates[2 * i]
        lists[i, 0], lists[i, 1] = item, candidates[2 * i + 1]
        tids[words + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)


@part
def _branch(own: Any, record: Any, parts: Any, items: Any, box: Any, tids: Any, lists: Any, frames: Any) -> None:
    """Make the child of the current node along its next candidate."""
    depth = box[DEPTH]
    parent, child = frames[depth], frames[depth + 1]
    words, stride = record[WORDS], record[WORDS] + record[WIDTH]
    place = parent[NEXT]
    item, column = lists[place, 0], items[2 * lists[place, 0] + 1]
    inherit(child, parent, lists[place, 1], items[2 * item])
    end = parent[END]
    child[NEXT] = end
    if child[PEOPLE] == parent[PEOPLE]:  # the same people: nothing needs to be counted
        child[ROWS] = parent[ROWS]
        for i in range(place + 1, parent[END]):
            if items[2 * lists[i, 0] + 1] != column:
                lists[end, 0], lists[end, 1] = lists[i, 0], lists[i, 1]
                end += 1
    else:
        child[ROWS] = depth + 1
        rows = tids[(depth + 1) * stride : (depth + 1) * stride + words]
        above = parent[ROWS] * stride
        intersect(tids[above : above + words], own[item * words : (item + 1) * words], rows)
        for i in range(place + 1, parent[END]):
            other = lists[i, 0]
            if items[2 * other + 1] != column:
                count, best = common(rows, own[other * words : (other + 1) * words], parts)
                if best >= box[LEAST]:
                    lists[end, 0], lists[end, 1] = other, count
                    end += 1
    child[END] = end
    if box[WANTED] != ALL:
        for i in range(words, stride):
            tids[(depth + 1) * stride + i] = tids[depth * stride + i]
        free = tids[(depth + 1) * stride + words :]
        for other in range(record[ITEMS]):
            if items[2 * other + 1] == column:
                free[other >> 6] &= ~(np.uint64(1) << np.uint64(other & 63))


@part
def _walk(own: Any, record: Any, box: Any, tids: Any, lists: Any, frames: Any, members: Any, lines: Any) -> int:
    """Search one problem from its current node on."""
    start_parts = FIELDS + record[HEADS]
    parts, items = record[start_parts : start_parts + record[PARTS]], record[start_parts + record[PARTS] :]
    if box[DEPTH] < 0:
        _open(record, items, own, tids, lists, frames[0])
        box[DEPTH] = 0
        _visit(own, record, parts, 0, box, tids, frames, members, lines)
    while box[DEPTH] >= 0:
        node = frames[box[DEPTH]]
        if node[NEXT] == node[END]:
            box[DEPTH] -= 1
            continue
        if not has_room(box, frames, members, lines):
            return OUTPUT_FULL
        if box[WORK_LEFT] <= 0:
            return PAUSED
        box[WORK_LEFT] -= 16 + (node[END] - node[NEXT]) * (1 + record[WORDS])
        _branch(own, record, parts, items, box, tids, lists, frames)
        _visit(own, record, parts, box[DEPTH] + 1, box, tids, frames, members, lines)
        child = frames[box[DEPTH] + 1]
        node[NEXT] += 1
        if child[NEXT] < child[END]:
            box[DEPTH] += 1
    return DONE


@kernel
def search(bits: Any, book: Any, box: Any, tids: Any, lists: Any, frames: Any, members: Any, lines: Any) -> int:
    """Write itemsets or rules to ``members`` and ``lines`` (see :func:`tacit.kernels.node.emit`) until done, full or out of work.

    ``box`` is the state. ``tids``, ``lists``, ``frames`` are the search's memory: rows of the open nodes, candidates, nodes.
    """
    while box[PROBLEM] < box[N_PROBLEMS]:
        if not has_room(box, frames, members, lines):
            return OUTPUT_FULL
        record = book[book[box[PROBLEM]] :]
        status = _walk(bits[record[BITS] :], record, box, tids, lists, frames, members, lines)
        if status != DONE:
            return status
        box[PROBLEM] += 1
    return DONE
