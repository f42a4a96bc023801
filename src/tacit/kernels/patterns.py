"""All frequent itemsets, and all rules itemset => class, of the problems that :func:`tacit.kernels.conditional.project` writes, depth first.

Without classes every frequent itemset is written. With classes, rows lie class by class, so that the class counts of an itemset are counts
over parts of its rows: every (itemset, class) whose count reaches the threshold, and whose share of the itemset reaches a ratio, is written, in
one pass; a branch ends where no class reaches the threshold any more.

Items of one column exclude each other: a value and a coarser value that contains it are never in one set. In such a family a set is closed
(maximal) when no set of the family that holds one more item has the same count (is frequent).

The search stops when the output is full or its allowance of work is spent, and goes on from there when called again.

What the functions below pass to each other: ``bits``, ``book`` and ``at``, the problem; ``box``, the state; ``tids``, for every depth rows and
then the items that may still be added; ``lists`` and ``frames``, candidates and nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.conditional import BITS, CANDIDATES, CANDIDATES_AT, FIELDS, ITEMS, ITEMS_AT, PARTS_END, WIDTH, WORDS
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
def _emit_classes(book: Any, at: int, box: Any, tids: Any, rows: int, frames: Any, depth: int, members: Any, lines: Any) -> None:
    """Write every class that is frequent among the rows and reaches the ratio."""
    within, start = 0, 0
    for p in range(at + FIELDS, book[at + PARTS_END], 3):
        ones = 0
        for word in range(start, book[p]):
            ones += popcount(tids[rows + word])
        start = book[p]
        within += ones * book[p + 1]
        if p + 3 == book[at + PARTS_END] or book[p + 5] != book[p + 2]:
            if book[p + 2] >= 0 and within >= box[LEAST] and within * box[RATIO_WHOLE] >= frames[depth, PEOPLE] * box[RATIO_PART]:
                emit(frames, depth, within, book[p + 2], box, members, lines)
            within = 0


@part
def _may_grow(bits: Any, book: Any, at: int, box: Any, tids: Any, rows: int, free: int) -> bool:
    """Whether one more item of the mask ``tids[free:]`` leaves the count as it is (for closed sets) or the set frequent (for maximal ones)."""
    own, words = book[at + BITS], book[at + WORDS]
    for column in range(book[at + WIDTH]):
        left = tids[free + column]
        while left != 0:
            place = own + (column * 64 + lowest_one(left)) * words
            left &= left - np.uint64(1)
            if box[WANTED] == CLOSED:
                if contains(bits, place, tids, rows, words):
                    return True
            else:
                count, _ = common(tids, rows, bits, place, book, at + FIELDS, book[at + PARTS_END])
                if count >= box[LEAST]:
                    return True
    return False


@part
def _visit(bits: Any, book: Any, at: int, box: Any, tids: Any, frames: Any, depth: int, members: Any, lines: Any) -> None:
    """Write what is wanted of one node."""
    words, stride = book[at + WORDS], book[at + WORDS] + book[at + WIDTH]
    rows = frames[depth, ROWS] * stride
    if box[CLASSES] >= 0:
        _emit_classes(book, at, box, tids, rows, frames, depth, members, lines)
    elif box[WANTED] == ALL or not _may_grow(bits, book, at, box, tids, rows, depth * stride + words):
        emit(frames, depth, frames[depth, PEOPLE], book[at + FIELDS + 2], box, members, lines)


@part
def _open(bits: Any, book: Any, at: int, box: Any, tids: Any, lists: Any, frames: Any) -> None:
    """Begin a problem with its root: everyone in it, and all its items free to be added."""
    begin(book, at, box, frames, lists)
    words = book[at + WORDS]
    everyone = book[at + BITS] + book[at + ITEMS] * words
    for i in range(words + book[at + WIDTH]):  # all rows, then the earlier items
        tids[i] = bits[everyone + i]
    for i in range(book[at + CANDIDATES]):
        item = book[book[at + CANDIDATES_AT] + 2 * i]
        tids[words + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)


@part
def _children(bits: Any, book: Any, at: int, least: int, tids: Any, lists: Any, frames: Any, depth: int) -> None:
    """Find the candidates of a node among those behind the current one of the node above, and make its rows."""
    own, words, items, stride = book[at + BITS], book[at + WORDS], book[at + ITEMS_AT], book[at + WORDS] + book[at + WIDTH]
    current, last = frames[depth - 1, NEXT], frames[depth - 1, END]
    item, column = lists[current, 0], book[items + 2 * lists[current, 0] + 1]
    same = frames[depth, PEOPLE] == frames[depth - 1, PEOPLE]
    frames[depth, ROWS] = frames[depth - 1, ROWS] if same else depth
    rows = frames[depth, ROWS] * stride
    if not same:
        intersect(tids, frames[depth - 1, ROWS] * stride, bits, own + item * words, tids, rows, words)
    end = last
    for i in range(current + 1, last):
        other = lists[i, 0]
        if book[items + 2 * other + 1] == column:
            continue
        count, best = lists[i, 1], least
        if not same:  # with the same people as above nothing needs to be counted
            count, best = common(tids, rows, bits, own + other * words, book, at + FIELDS, book[at + PARTS_END])
        if best >= least:
            lists[end, 0], lists[end, 1] = other, count
            end += 1
    frames[depth, NEXT], frames[depth, END] = last, end


@part
def _free(book: Any, at: int, tids: Any, depth: int, column: int) -> None:
    """Note which items may be added to a node: those of the node above, except the column of the item that it added."""
    words, items, stride = book[at + WORDS], book[at + ITEMS_AT], book[at + WORDS] + book[at + WIDTH]
    free = depth * stride + words
    for i in range(free, free + book[at + WIDTH]):
        tids[i] = tids[i - stride]
    for other in range(book[at + ITEMS]):
        if book[items + 2 * other + 1] == column:
            tids[free + (other >> 6)] &= ~(np.uint64(1) << np.uint64(other & 63))


@kernel
def search(bits: Any, book: Any, box: Any, tids: Any, lists: Any, frames: Any, members: Any, lines: Any) -> int:
    """Write itemsets or rules to ``members`` and ``lines`` (see :func:`tacit.kernels.node.emit`) until done, full or out of work."""
    while box[PROBLEM] < box[N_PROBLEMS]:
        if not has_room(box, frames, members, lines):
            return OUTPUT_FULL
        at = book[box[PROBLEM]]
        items = book[at + ITEMS_AT]
        opened = box[DEPTH] < 0
        if opened:
            _open(bits, book, at, box, tids, lists, frames)
        while box[DEPTH] >= 0:
            depth = box[DEPTH]
            place, last = frames[depth, NEXT], frames[depth, END]
            if not opened:
                if place == last:
                    box[DEPTH] -= 1
                    continue
                if not has_room(box, frames, members, lines):
                    return OUTPUT_FULL
                if box[WORK_LEFT] <= 0:
                    return PAUSED
                box[WORK_LEFT] -= 16 + (last - place) * (1 + book[at + WORDS])
                depth += 1
                item = items + 2 * lists[place, 0]
                inherit(frames, depth, lists[place, 1], book[item])
                _children(bits, book, at, box[LEAST], tids, lists, frames, depth)
                if box[WANTED] != ALL:
                    _free(book, at, tids, depth, book[item + 1])
                frames[depth - 1, NEXT] += 1
                if frames[depth, NEXT] < frames[depth, END]:
                    box[DEPTH] = depth
            _visit(bits, book, at, box, tids, frames, depth, members, lines)
            opened = False
        box[PROBLEM] += 1
    return DONE
