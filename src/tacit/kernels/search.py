"""Depth-first search for frequent itemsets and rules.

**Problems.** A search works on the conditional database of one root item, its *problem*: for each other item the set of the root's rows that
hold it (64-bit words, see :mod:`tacit.kernels.rows`). These sets are only as long as the root's own support, which makes mining fast on dense
and sparse data alike. :func:`project` makes problems in one of two ways. From *masks* (one bit per item and row, for dense data) the root's
rows are copied and transposed. From *lists* (for sparse data) the items are counted first, and only those that are frequent among the root's
people become part of the problem. Lists are as :func:`tacit.kernels.rows.index` makes them: ascending, separated by -1.

Problems are written to two arrays. ``bits`` holds words: for each item its set of rows, then all rows, then a mask of the *earlier* items,
those whose own branch was searched before the root's (from masks only; in lists they stand before the root item). ``book`` holds numbers:
``book[i]`` is where the record of problem i starts; a record holds its fields, the parts, the head (labels of items that everyone in the
problem has), label and column of each item, the candidates (later items that are frequent, each with its count), and for lists the place of
each row.

**Nodes.** A node of a search is a *head* (a set of items), the rows that hold all of them, and its *candidates*, the items to branch on. A
search stops when the output is full or its allowance of work is spent, and continues from there when called again.

**All itemsets, and rules** (:func:`search_patterns`). Without classes every frequent itemset is written. With classes, rows lie class by class,
so that the class counts of an itemset are counts over parts of its rows: every (itemset, class) whose count reaches the threshold, and whose
share of the itemset reaches a ratio, is written, in one pass; a branch ends where no class reaches the threshold. Items of one column exclude
each other: a value and a coarser value that contains it are never in one set. In such a family a set is closed (maximal) when no set of the
family that holds one more item has the same count (is frequent).

**Closed and maximal itemsets** (:func:`search_closed`). A node whose rows all hold an earlier item (one branched on before, here or above) is
cut, because everything below it was met on that item's branch; a candidate that all rows hold joins the head at once. So every head is closed,
and every closed set is met once. For maximal sets a node is also cut when its head and all its candidates are inside a set already found. The
most recent finds are kept as bits, item by item; a leaf is tested for being maximal by counting its earlier items, so that forgetting old finds
costs time only.

Functions share these arguments: ``bits``, ``book`` and ``at``, the problem; ``box``, the state; ``tids``, for every open node its rows and then
a mask of items (those that may still be added, or the earlier ones); ``lists`` and ``frames``, candidates and nodes; ``rows_of``, the rows as
lists (empty if problems were made from masks); ``known``, finds; ``members`` and ``lines``, the output.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, lowest_one, part, popcount
from tacit.kernels.rows import common, contains, intersect, transpose

#: Fields of a record: items; words per set of rows; words per mask; first word in ``bits``; people; length of the head; candidates; whether an
#: earlier item is frequent (1 yes, -1 no, 0 not known); and where in the book the parts end (they follow the fields) and where head, items,
#: candidates and places start.
ITEMS, WORDS, WIDTH, BITS, EVERYONE, HEADS, CANDIDATES, EARLIER = range(8)
PARTS_END, HEADS_AT, ITEMS_AT, CANDIDATES_AT, PLACES_AT, FIELDS = range(8, 14)

#: What is asked of :func:`project`: the root it began with, the next root, and where to end; how many problems at most; the least count of a
#: frequent item; whether frequent earlier items are kept; whether items that everyone has go to the head, and a root that an earlier item covers
#: is left out.
FIRST_ROOT, NEXT_ROOT, END_ROOT, MAX_PROBLEMS, LEAST, KEEP_EARLIER, ABSORB = range(7)

#: What it answers: problems made; most items and most words of one problem; what the next problem needs if it did not fit.
MADE, MOST_ITEMS, MOST_WORDS, NEED_BITS, NEED_BOOK, ASKED = range(7, 13)

STEP = 16  #: Counts are looked through this many at a time.

#: The state of a search. Where it is: the current problem, how many there are, the depth of the current node (-1 before a problem is opened),
#: how much work is left until it pauses. What is in the output: sets, members. What is asked: the least count; which itemsets; for rules,
#: how many classes (-1 for itemsets), and the least confidence as a fraction. The database: how many items it has. For maximal sets: how many
#: were found in this problem. For all itemsets and rules: the most items of a set.
PROBLEM, N_PROBLEMS, DEPTH, WORK_LEFT, N_SETS, N_MEMBERS = range(6)
LEAST_PEOPLE, WANTED, CLASSES, RATIO_PART, RATIO_WHOLE, N_ITEMS, FOUND, LONGEST, STATES = range(6, 15)

#: Which itemsets may be asked for.
ALL, CLOSED, MAXIMAL = range(3)

#: What a search answers when it comes back.
DONE, OUTPUT_FULL, PAUSED = range(3)

#: Fields of a node, a row of ``frames``. Its candidates are ``lists[NEXT:END]`` (item, count), the items it added to the head are
#: ``lists[OWN:LAST]``; ``ROWS`` is the depth whose rows are its own, too; then how many people it has, the size of its head, and the head
#: itself: labels, ascending.
NEXT, END, OWN, LAST, ROWS, PEOPLE, SIZE, HEAD = range(8)

KNOWN_WORDS = 16  #: How many recent finds are kept, in words of 64.

# Problems


@kernel(steps=lambda lists, row_masks, starts, places, *_: 32 * places.size * (1 + starts.size // 64) + 200 * starts.size)
def project(
    lists: Any, row_masks: Any, starts: Any, places: Any, all_parts: Any, labels: Any, ask: Any, bits: Any, book: Any
) -> None:
    """Write the next roots' problems while they fit.

    ``lists``, ``row_masks``, ``starts``, ``places``: as :func:`tacit.kernels.rows.index` makes them; if there are masks, they are used.
    ``all_parts[p]``: the first place behind part p, its weight, its class. ``labels[i]``: label and column of item i, its count, and a mark, set
    when an earlier item was seen to be frequent together with it; without one, there is none if the search began with the first root.
    """
    total = len(labels)
    dense = len(row_masks) > 0
    counts = np.zeros((total + STEP - 1) // STEP * STEP, np.int64)
    ids = np.empty(total, np.int64)
    number = np.empty(total, np.int64)
    for i in range(total):  # numpy's own functions for this would take a while to compile
        ids[i] = i
        number[i] = -1
    cuts = np.empty(len(all_parts), np.int64)
    masks = np.empty(0, np.uint64)
    for i in range(MADE, ASKED):
        ask[i] = 0
    used = 0
    at = ask[MAX_PROBLEMS]
    while ask[NEXT_ROOT] < ask[END_ROOT] and ask[MADE] < ask[MAX_PROBLEMS]:
        root = ask[NEXT_ROOT]
        ask[NEED_BOOK] = at + FIELDS + 3 * len(all_parts)
        if ask[NEED_BOOK] > len(book):
            break
        mine = places[starts[root] : starts[root + 1]]
        n_parts = _write_parts(mine, all_parts, book, at, cuts)
        n_items = total if dense else _list_frequent(lists, mine, book, at, cuts, n_parts, ask[LEAST], counts, ids)
        words = book[at + WORDS]
        width = (n_items + 63) >> 6
        ask[NEED_BITS] = used + (n_items + 1) * words + width
        ask[NEED_BOOK] = book[at + PARTS_END] + 1 + 5 * n_items + (0 if dense else 64 * words)
        if ask[NEED_BITS] > len(bits) or ask[NEED_BOOK] > len(book):
            break
        if not dense:
            for i in range(n_items):
                labels[ids[i], 3] = 1
        book[at + ITEMS] = n_items
        book[at + WIDTH] = width
        book[at + BITS] = used
        book[at + EVERYONE] = labels[root, 2]
        book[at + HEADS_AT] = book[at + PARTS_END]
        book[at + ITEMS_AT] = book[at + HEADS_AT] + n_items + 1
        book[at + CANDIDATES_AT] = book[at + ITEMS_AT] + 2 * n_items
        book[at + PLACES_AT] = book[at + CANDIDATES_AT] + 2 * n_items
        if len(masks) < 64 * words * width:
            masks = np.empty(64 * words * width, np.uint64)
        if n_items > 0:
            masks[: 64 * words * width] = np.uint64(0)
            _write_masks(lists, row_masks, mine, cuts, n_parts, ids, n_items, number, masks)
            _transpose_masks(masks, book, at, bits)
        _write_rows(mine, cuts, n_parts, bits, used + n_items * words, book, -1 if dense else book[at + PLACES_AT])
        if _sort_items(root, ids, labels, ask, bits, book, at):
            if not dense and (labels[root, 3] != 0 or ask[FIRST_ROOT] > 0):
                book[at + EARLIER] = labels[root, 3]
            book[ask[MADE]] = at
            used = ask[NEED_BITS]
            at = ask[NEED_BOOK]
            ask[MADE] += 1
            ask[MOST_ITEMS] = max(ask[MOST_ITEMS], n_items)
            ask[MOST_WORDS] = max(ask[MOST_WORDS], words)
        ask[NEXT_ROOT] += 1


@part
def _write_parts(mine: Any, all_parts: Any, book: Any, at: int, cuts: Any) -> int:
    """Write the parts of ``mine``, and their ends (``cuts``); count them."""
    word = 0
    first = 0
    found = 0
    current = 0
    while first < len(mine):
        while all_parts[current, 0] <= mine[first]:
            current += 1
        last = first
        end = len(mine)
        while last < end:
            middle = (last + end) >> 1
            if mine[middle] < all_parts[current, 0]:
                last = middle + 1
            else:
                end = middle
        word += (last - first + 63) >> 6
        place = at + FIELDS + 3 * found
        book[place] = word
        book[place + 1] = all_parts[current, 1]
        book[place + 2] = all_parts[current, 2]
        cuts[found] = last
        found += 1
        first = last
    book[at + WORDS] = word
    book[at + PARTS_END] = at + FIELDS + 3 * found
    return found


@part
def _list_frequent(lists: Any, mine: Any, book: Any, at: int, cuts: Any, n_parts: int, least: int, counts: Any, ids: Any) -> int:
    """List later items frequent among ``mine``; ``counts`` is 0 before and after."""
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
    """Copy the masks of rows, or make them of items in lists."""
    width = (n_items + 63) >> 6
    dense = len(row_masks) > 0
    if not dense:
        for i in range(n_items):
            number[ids[i]] = i
    first = 0
    row = 0
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
        row = (row + 63) >> 6 << 6  # every part starts at a new word
        first = cuts[p]
    if not dense:
        for i in range(n_items):
            number[ids[i]] = -1


@part
def _transpose_masks(masks: Any, book: Any, at: int, bits: Any) -> None:
    n_items = book[at + ITEMS]
    words = book[at + WORDS]
    width = book[at + WIDTH]
    own = book[at + BITS]
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
    """Write all rows from ``bits[word]`` on, and each row's place."""
    first = 0
    start = word
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
def _sort_items(root: int, ids: Any, labels: Any, ask: Any, bits: Any, book: Any, at: int) -> bool:
    """Sort items into earlier ones, candidates and head; False: already covered."""
    n_items = book[at + ITEMS]
    words = book[at + WORDS]
    own = book[at + BITS]
    early = own + (n_items + 1) * words
    for i in range(book[at + WIDTH]):
        bits[early + i] = np.uint64(0)
    book[book[at + HEADS_AT]] = labels[root, 0]
    heads = 1
    candidates = 0
    earlier = -1
    for i in range(n_items):
        item = ids[i]
        place = book[at + ITEMS_AT] + 2 * i
        book[place] = labels[item, 0]
        book[place + 1] = labels[item, 1]
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
            book[place] = i
            book[place + 1] = count
            candidates += 1
    book[at + HEADS] = heads
    book[at + CANDIDATES] = candidates
    book[at + EARLIER] = earlier
    return True


# Nodes


@part
def _begin_problem(bits: Any, book: Any, at: int, box: Any, tids: Any, lists: Any, frames: Any) -> None:
    box[DEPTH] = 0
    candidates = book[at + CANDIDATES]
    frames[0, NEXT] = 0
    frames[0, END] = candidates
    frames[0, OWN] = candidates
    frames[0, LAST] = candidates
    frames[0, ROWS] = 0
    frames[0, PEOPLE] = book[at + EVERYONE]
    frames[0, SIZE] = 0
    for i in range(book[at + HEADS]):
        _insert_item(frames, box[DEPTH], book[book[at + HEADS_AT] + i])
    first = book[at + CANDIDATES_AT]
    for i in range(candidates):
        lists[i, 0] = book[first + 2 * i]
        lists[i, 1] = book[first + 2 * i + 1]
    words = book[at + WORDS]
    everyone = book[at + BITS] + book[at + ITEMS] * words
    for i in range(words + book[at + WIDTH]):  # all rows, then the earlier items
        tids[i] = bits[everyone + i]


@part
def _make_head(frames: Any, depth: int, people: int, label: int) -> None:
    size = frames[depth - 1, SIZE]
    frames[depth, PEOPLE] = people
    frames[depth, SIZE] = size
    for i in range(HEAD, HEAD + size):
        frames[depth, i] = frames[depth - 1, i]
    _insert_item(frames, depth, label)


@part
def _insert_item(frames: Any, depth: int, label: int) -> None:
    place = HEAD + frames[depth, SIZE]
    while place > HEAD and frames[depth, place - 1] > label:
        frames[depth, place] = frames[depth, place - 1]
        place -= 1
    frames[depth, place] = label
    frames[depth, SIZE] += 1


@part
def _has_room(box: Any, frames: Any, members: Any, lines: Any) -> Any:
    most = max(box[CLASSES], 1)
    longest = frames.shape[1] - HEAD
    return box[N_SETS] + most <= len(lines) and box[N_MEMBERS] + most * longest <= len(members)


@part
def _write_head(frames: Any, depth: int, count: int, number: int, box: Any, members: Any, lines: Any) -> None:
    """Write a head to ``members``; its end, counts and class to ``lines``."""
    end = box[N_MEMBERS]
    line = box[N_SETS]
    for i in range(frames[depth, SIZE]):
        members[end + i] = frames[depth, HEAD + i]
    end += frames[depth, SIZE]
    lines[line, 0] = end
    lines[line, 1] = count
    lines[line, 2] = frames[depth, PEOPLE]
    lines[line, 3] = number
    box[N_MEMBERS] = end
    box[N_SETS] = line + 1


# All itemsets, and rules


@kernel(steps=lambda _bits, _book, box, *_: 2 * int(box[WORK_LEFT]))
def search_patterns(bits: Any, book: Any, box: Any, tids: Any, lists: Any, frames: Any, members: Any, lines: Any) -> int:
    """Write itemsets or rules until done or full."""
    while box[PROBLEM] < box[N_PROBLEMS]:
        if not _has_room(box, frames, members, lines):
            return OUTPUT_FULL
        at = book[box[PROBLEM]]
        items = book[at + ITEMS_AT]
        words = book[at + WORDS]
        stride = words + book[at + WIDTH]
        opened = box[DEPTH] < 0
        if opened:
            _begin_problem(bits, book, at, box, tids, lists, frames)
            if box[LONGEST] <= 1:
                frames[0, END] = 0
            for i in range(book[at + CANDIDATES]):
                item = book[book[at + CANDIDATES_AT] + 2 * i]
                tids[words + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
        while box[DEPTH] >= 0:
            depth = box[DEPTH]
            place = frames[depth, NEXT]
            last = frames[depth, END]
            if not opened:
                if place == last:
                    box[DEPTH] -= 1
                    continue
                if not _has_room(box, frames, members, lines):
                    return OUTPUT_FULL
                if box[WORK_LEFT] <= 0:
                    return PAUSED
                box[WORK_LEFT] -= 16 + (last - place) * (1 + words)
                depth += 1
                item = items + 2 * lists[place, 0]
                _make_head(frames, depth, lists[place, 1], book[item])
                _find_candidates(bits, book, at, box[LEAST_PEOPLE], tids, lists, frames, depth, box[LONGEST])
                if box[WANTED] != ALL:
                    _mark_free_items(book, at, tids, depth, book[item + 1])
                frames[depth - 1, NEXT] += 1
                if frames[depth, NEXT] < frames[depth, END]:
                    box[DEPTH] = depth
            rows = frames[depth, ROWS] * stride
            free = depth * stride + words
            if box[CLASSES] >= 0:
                _write_classes(book, at, box, tids, rows, frames, depth, members, lines)
            elif box[WANTED] == ALL or not _has_item(bits, book, at, tids, rows, free, box[LEAST_PEOPLE], box[WANTED] == CLOSED):
                _write_head(frames, depth, frames[depth, PEOPLE], book[at + FIELDS + 2], box, members, lines)
            opened = False
        box[PROBLEM] += 1
    return DONE


@part
def _find_candidates(
    bits: Any, book: Any, at: int, least: int, tids: Any, lists: Any, frames: Any, depth: int, longest: int
) -> None:
    """Find a node's rows, and its candidates behind the parent's current one; none for one of the longest sets."""
    own = book[at + BITS]
    words = book[at + WORDS]
    items = book[at + ITEMS_AT]
    stride = book[at + WORDS] + book[at + WIDTH]
    current = frames[depth - 1, NEXT]
    last = frames[depth - 1, END]
    item = lists[current, 0]
    column = book[items + 2 * lists[current, 0] + 1]
    same = frames[depth, PEOPLE] == frames[depth - 1, PEOPLE]
    frames[depth, ROWS] = frames[depth - 1, ROWS] if same else depth
    rows = frames[depth, ROWS] * stride
    if not same:
        intersect(tids, frames[depth - 1, ROWS] * stride, bits, own + item * words, tids, rows, words)
    end = last
    for i in range(current + 1, last if frames[depth, SIZE] < longest else current + 1):
        other = lists[i, 0]
        if book[items + 2 * other + 1] == column:
            continue
        count = lists[i, 1]
        best = least
        if not same:  # with the same people as above nothing needs to be counted
            count, best = common(tids, rows, bits, own + other * words, book, at + FIELDS, book[at + PARTS_END])
        if best >= least:
            lists[end, 0] = other
            lists[end, 1] = count
            end += 1
    frames[depth, NEXT] = last
    frames[depth, END] = end


@part
def _mark_free_items(book: Any, at: int, tids: Any, depth: int, column: int) -> None:
    """Mark the parent's free items, except those of the added column."""
    words = book[at + WORDS]
    items = book[at + ITEMS_AT]
    stride = book[at + WORDS] + book[at + WIDTH]
    free = depth * stride + words
    for i in range(free, free + book[at + WIDTH]):
        tids[i] = tids[i - stride]
    for other in range(book[at + ITEMS]):
        if book[items + 2 * other + 1] == column:
            tids[free + (other >> 6)] &= ~(np.uint64(1) << np.uint64(other & 63))


@part
def _write_classes(book: Any, at: int, box: Any, tids: Any, rows: int, frames: Any, depth: int, members: Any, lines: Any) -> None:
    within = 0
    start = 0
    for p in range(at + FIELDS, book[at + PARTS_END], 3):
        ones = 0
        for word in range(start, book[p]):
            ones += popcount(tids[rows + word])
        start = book[p]
        within += ones * book[p + 1]
        if p + 3 == book[at + PARTS_END] or book[p + 5] != book[p + 2]:
            if (
                book[p + 2] >= 0
                and within >= box[LEAST_PEOPLE]
                and within * box[RATIO_WHOLE] >= frames[depth, PEOPLE] * box[RATIO_PART]
            ):
                _write_head(frames, depth, within, book[p + 2], box, members, lines)
            within = 0


@part
def _has_item(bits: Any, book: Any, at: int, tids: Any, rows: int, mask: int, least: int, in_all: bool) -> bool:
    """Tell if all rows, or ``least`` people, share an item of ``tids[mask:]``."""
    own = book[at + BITS]
    words = book[at + WORDS]
    for column in range(book[at + WIDTH]):
        left = tids[mask + column]
        while left != 0:
            place = own + (column * 64 + lowest_one(left)) * words
            left &= left - np.uint64(1)
            if in_all:
                if contains(bits, place, tids, rows, words):
                    return True
            else:
                count, _ = common(tids, rows, bits, place, book, at + FIELDS, book[at + PARTS_END])
                if count >= least:
                    return True
    return False


# Closed and maximal itemsets


@kernel(steps=lambda _rows_of, _bits, _book, box, *_: 2 * int(box[WORK_LEFT]))
def search_closed(
    rows_of: Any, bits: Any, book: Any, box: Any, tids: Any, lists: Any, frames: Any, known: Any, members: Any, lines: Any
) -> int:
    """Write closed or maximal itemsets until done or full."""
    memory = np.zeros(box[N_ITEMS] + frames.shape[1] if len(rows_of) > 0 else 0, np.int64)
    maximal = box[WANTED] == MAXIMAL
    while box[PROBLEM] < box[N_PROBLEMS]:
        if not _has_room(box, frames, members, lines):
            return OUTPUT_FULL
        at = book[box[PROBLEM]]
        n_items = book[at + ITEMS]
        own = book[at + BITS]
        words = book[at + WORDS]
        width = book[at + WIDTH]
        if box[DEPTH] < 0:
            _open_closed_problem(rows_of, bits, book, at, box, tids, lists, frames, memory, members, lines)
        while box[DEPTH] >= 0:
            depth = box[DEPTH]
            place = frames[depth, NEXT]
            last = frames[depth, END]
            if place == last or (maximal and _is_within_find(lists, place, last, box, known, n_items, depth)):
                box[DEPTH] -= 1
                continue
            if not _has_room(box, frames, members, lines):
                return OUTPUT_FULL
            if box[WORK_LEFT] <= 0:
                return PAUSED
            box[WORK_LEFT] -= 16 + (last - place) * (1 + words)
            item = lists[place, 0]
            above = depth * (words + width)
            rows = (depth + 1) * (words + width)
            intersect(tids, above, bits, own + item * words, tids, rows, words)
            goes_on = False
            people = lists[place, 1]
            if not _has_earlier_item(rows_of, bits, book, at, box, tids, rows, above + words, people, people, memory):
                _make_head(frames, depth + 1, people, book[book[at + ITEMS_AT] + 2 * item])
                _find_closed_candidates(bits, book, at, box[LEAST_PEOPLE], tids, rows, lists, frames, depth + 1)
                for i in range(words, words + width):
                    tids[rows + i] = tids[above + i]
                goes_on = frames[depth + 1, NEXT] < frames[depth + 1, END]
                wanted = not maximal
                if maximal:
                    _narrow_finds(frames, lists, box, known, n_items, depth + 1)
                    wanted = not (
                        goes_on
                        or _is_within_find(lists, last, last, box, known, n_items, depth + 1)
                        or _has_earlier_item(
                            rows_of, bits, book, at, box, tids, rows, above + words, people, box[LEAST_PEOPLE], memory
                        )
                    )
                if wanted:
                    _write_head(frames, depth + 1, people, book[at + FIELDS + 2], box, members, lines)
                    if maximal:
                        _remember_find(frames, lists, box, known, n_items)
            tids[above + words + (item >> 6)] |= np.uint64(1) << np.uint64(item & 63)
            frames[depth, NEXT] += 1
            if goes_on:
                box[DEPTH] += 1
        box[PROBLEM] += 1
    return DONE


@part
def _open_closed_problem(
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
    _begin_problem(bits, book, at, box, tids, lists, frames)
    words = book[at + WORDS]
    rows = frames[0, ROWS]
    people = frames[0, PEOPLE]
    box[FOUND] = 0
    if book[at + EARLIER] == 0:
        some = _has_earlier_item(rows_of, bits, book, at, box, tids, rows, words, people, box[LEAST_PEOPLE], memory)
        book[at + EARLIER] = 1 if some else -1
    # Problems made from masks are not covered: those were left out.
    if len(rows_of) > 0 and _has_earlier_item(rows_of, bits, book, at, box, tids, rows, words, people, people, memory):
        box[DEPTH] = -1
    elif box[WANTED] != MAXIMAL or (book[at + CANDIDATES] == 0 and book[at + EARLIER] < 0):
        _write_head(frames, box[DEPTH], people, book[at + FIELDS + 2], box, members, lines)


@part
def _find_closed_candidates(
    bits: Any, book: Any, at: int, least: int, tids: Any, rows: int, lists: Any, frames: Any, depth: int
) -> None:
    """Sort the parent's candidates behind the current one into head and candidates."""
    own = book[at + BITS]
    words = book[at + WORDS]
    items = book[at + ITEMS_AT]
    current = frames[depth - 1, NEXT]
    last = frames[depth - 1, END]
    first = frames[depth - 1, LAST]
    end = first
    added = first + last - current - 1
    frames[depth, LAST] = added + 1
    lists[added, 0] = lists[current, 0]
    for i in range(current + 1, last):
        item = lists[i, 0]
        count, _ = common(tids, rows, bits, own + item * words, book, at + FIELDS, book[at + PARTS_END])
        if count == frames[depth, PEOPLE]:
            added -= 1
            lists[added, 0] = item
            _insert_item(frames, depth, book[items + 2 * item])
        elif count >= least:
            place = end  # rare items first: their branches are small, and they are gone from the large ones
            while place > first and lists[place - 1, 1] > count:
                lists[place, 0] = lists[place - 1, 0]
                lists[place, 1] = lists[place - 1, 1]
                place -= 1
            lists[place, 0] = item
            lists[place, 1] = count
            end += 1
    frames[depth, NEXT] = first
    frames[depth, END] = end
    frames[depth, OWN] = added


@part
def _has_earlier_item(
    rows_of: Any, bits: Any, book: Any, at: int, box: Any, tids: Any, rows: int, early: int, people: int, least: int, memory: Any
) -> bool:
    """Tell if ``least`` of the people share an earlier item, in mask or lists."""
    if _has_item(bits, book, at, tids, rows, early, least, least == people):
        return True
    # What is not frequent with the root is not frequent, and covers nothing, below it.
    if len(rows_of) == 0 or book[at + EARLIER] < 0:
        return False
    if least == people:
        return _is_item_in_all_rows(rows_of, book, book[at + PLACES_AT], tids, rows, book[at + WORDS], memory, box[N_ITEMS])
    return _is_item_frequent(rows_of, book, book[at + PLACES_AT], tids, rows, at + FIELDS, book[at + PARTS_END], least, memory)


@part
def _is_item_in_all_rows(rows_of: Any, book: Any, places: int, rows: Any, first: int, words: int, memory: Any, left: int) -> bool:
    """Tell if an earlier item covers ``rows[first:first + words]``; ``memory[left:]`` is scratch."""
    count = -1
    for word in range(words):
        ones = rows[first + word]
        while ones != 0 and count != 0:
            at = book[places + word * 64 + lowest_one(ones)] - 1
            ones &= ones - np.uint64(1)
            if count < 0:  # the first row: all its earlier items, descending
                count = 0
                while rows_of[at] >= 0:
                    memory[left + count] = rows_of[at]
                    count += 1
                    at -= 1
            else:  # keep those that this row holds as well
                kept = 0
                for i in range(count):
                    item = memory[left + i]
                    while rows_of[at] > item:
                        at -= 1
                    if rows_of[at] == item:
                        memory[left + kept] = item
                        kept += 1
                count = kept
        if count == 0:
            return False
    return True


@part
def _is_item_frequent(
    rows_of: Any, book: Any, places: int, rows: Any, first: int, parts: int, end_parts: int, least: int, counts: Any
) -> bool:
    """Tell if some earlier item is frequent; ``counts`` stays all 0."""
    answer = False
    start = 0
    for p in range(parts, end_parts, 3):
        for word in range(start, book[p]):
            ones = rows[first + word]
            while ones != 0 and not answer:
                at = book[places + word * 64 + lowest_one(ones)] - 1
                ones &= ones - np.uint64(1)
                while rows_of[at] >= 0:
                    counts[rows_of[at]] += book[p + 1]
                    answer = answer or counts[rows_of[at]] >= least
                    at -= 1
        start = book[p]
    for word in range(start):
        ones = rows[first + word]
        while ones != 0:
            at = book[places + word * 64 + lowest_one(ones)] - 1
            ones &= ones - np.uint64(1)
            while rows_of[at] >= 0:
                counts[rows_of[at]] = 0
                at -= 1
    return answer


@part
def _remember_find(frames: Any, lists: Any, box: Any, known: Any, n_items: int) -> None:
    """Keep the head of the child node.

    ``known`` says first, for each word of finds, which of them hold each item; then, for each open node, which of them hold its head. All open
    nodes are on the way to this find, so it holds all their heads.
    """
    slot = box[FOUND] % (64 * KNOWN_WORDS)
    word = slot >> 6
    bit = np.uint64(1) << np.uint64(slot & 63)
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
def _is_within_find(lists: Any, first: int, last: int, box: Any, known: Any, n_items: int, depth: int) -> bool:
    """Tell if one find holds a node's head and ``lists[first:last]``."""
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
def _narrow_finds(frames: Any, lists: Any, box: Any, known: Any, n_items: int, depth: int) -> None:
    for word in range(min(KNOWN_WORDS, (box[FOUND] + 63) >> 6)):
        place = KNOWN_WORDS * (n_items + depth) + word
        both = known[place - KNOWN_WORDS]
        for i in range(frames[depth, OWN], frames[depth, LAST]):
            both &= known[word * n_items + lists[i, 0]]
        known[place] = both
