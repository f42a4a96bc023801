"""Assignments of values to people of a group.

People of a group whom the same values are ruled out for are one *cell* of the group, equal values one *entry*. Cells lie one after the other,
those of group g from ``cells[g]`` on, and so do entries (``entries``). Facts about a cell and an entry of its group stand in a *block* for each
group, cell by cell, from ``blocks[g]`` on.

:func:`match_groups` finds one assignment, :func:`close_groups` what can be exchanged in it, and :func:`share_values` the probability of each
value when an assignment is as likely as the product of the weights of its pairs (all 1: equally likely). The last looks at each part of a group
(values that can be exchanged) by itself. In it, people with the same weights are one *class*, and so are values with the same weights for all
people. An assignment gives one person after the other a class of values; the remainder of each class is a *state*, and the ways to and from each
state are counted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.kernels.jit import PLAIN_STEPS, kernel, part
from tacit.model.arrays import Ints


@kernel(steps=lambda _cells, _entries, _blocks, _people, _count_assignments, may, _hold: 4 * may.size)
def match_groups(cells: Any, entries: Any, blocks: Any, people: Any, count: Any, may: Any, hold: Any) -> int:
    """Assign values; return the first infeasible group, or -1.

    ``hold`` becomes the number of people of a cell who have an entry's value. Each cell in turn takes what is left, and then what others give
    up for something else that they may have (augmenting paths).
    """
    widest = 1
    tallest = 1
    for g in range(len(blocks) - 1):
        widest = max(widest, entries[g + 1] - entries[g])
        tallest = max(tallest, cells[g + 1] - cells[g])
    left = np.zeros(widest, np.int64)
    reached_by = np.zeros(widest, np.int64)  # the cell that asks for a value; -1: nobody yet
    gives_up = np.zeros(tallest, np.int64)  # the value a cell would give up; -1: it is the one that asks; -2: not asked yet
    queue = np.zeros(tallest, np.int64)
    for g in range(len(blocks) - 1):
        width = entries[g + 1] - entries[g]
        height = cells[g + 1] - cells[g]
        base = blocks[g]
        for j in range(width):
            left[j] = count[entries[g] + j]
        for i in range(height):
            wanted = people[cells[g] + i]
            for j in range(width):
                taken = min(wanted, left[j]) if may[base + i * width + j] else 0
                hold[base + i * width + j] = taken
                left[j] -= taken
                wanted -= taken
            while wanted > 0:
                for j in range(width):
                    reached_by[j] = -1
                for k in range(height):
                    gives_up[k] = -2
                gives_up[i] = -1
                queue[0] = i
                first = 0
                last = 1
                found = -1
                while first < last and found < 0:
                    k = queue[first]
                    first += 1
                    for j in range(width):
                        if reached_by[j] < 0 and may[base + k * width + j]:
                            reached_by[j] = k
                            if left[j] > 0:
                                found = j
                                break
                            for other in range(height):
                                if gives_up[other] == -2 and hold[base + other * width + j] > 0:
                                    gives_up[other] = j
                                    queue[last] = other
                                    last += 1
                if found < 0:
                    return g
                moved = min(wanted, left[found])
                j = found
                while gives_up[reached_by[j]] >= 0:
                    k = reached_by[j]
                    j = gives_up[k]
                    moved = min(moved, hold[base + k * width + j])
                left[found] -= moved
                wanted -= moved
                j = found
                while True:
                    k = reached_by[j]
                    hold[base + k * width + j] += moved
                    j = gives_up[k]
                    if j < 0:
                        break
                    hold[base + k * width + j] -= moved
    return -1


@kernel(steps=lambda _cells, entries, _blocks, may, *_: 4 * may.size + 4 * int((np.diff(entries) ** 2).sum()))
def close_groups(cells: Any, entries: Any, blocks: Any, may: Any, hold: Any, part: Any, possible: Any) -> None:
    """Mark all attainable values, given one assignment.

    Value u leads to v when somebody who has u may have v. Values that lead to each other, step by step, are one part: whoever has one of them
    can have each that she may have, in exchange, and no value of another part. ``part`` becomes the first entry of each entry's part.
    """
    widest = 1
    for g in range(len(blocks) - 1):
        widest = max(widest, entries[g + 1] - entries[g])
    most_words = (widest + 63) // 64
    leads = np.zeros(widest * most_words, np.uint64)
    row = np.zeros(most_words, np.uint64)
    one = np.uint64(1)
    for g in range(len(blocks) - 1):
        width = entries[g + 1] - entries[g]
        height = cells[g + 1] - cells[g]
        base = blocks[g]
        words = (width + 63) // 64
        for j in range(width):
            for w in range(words):
                leads[j * words + w] = 0
            leads[j * words + (j >> 6)] = one << np.uint64(j & 63)
        for i in range(height):
            for w in range(words):
                row[w] = 0
            for j in range(width):
                if may[base + i * width + j]:
                    row[j >> 6] |= one << np.uint64(j & 63)
            for j in range(width):
                if hold[base + i * width + j] > 0:
                    for w in range(words):
                        leads[j * words + w] |= row[w]
        for j in range(width):
            for k in range(width):
                if leads[k * words + (j >> 6)] >> np.uint64(j & 63) & one:
                    for w in range(words):
                        leads[k * words + w] |= leads[j * words + w]
        for j in range(width):
            part[entries[g] + j] = j
            for k in range(j):
                there = leads[j * words + (k >> 6)] >> np.uint64(k & 63) & one
                back = leads[k * words + (j >> 6)] >> np.uint64(j & 63) & one
                if there and back:
                    part[entries[g] + j] = k
                    break
        for i in range(height):
            held = 0
            while hold[base + i * width + held] == 0:
                held += 1
            for j in range(width):
                same = part[entries[g] + j] == part[entries[g] + held]
                possible[base + i * width + j] = same and may[base + i * width + j]


@part
def _number_classes(
    table: Any, base: int, lines: Any, n_lines: int, step: int, across: Any, n_across: int, step_across: int, of: Any
) -> int:
    number = 0
    for a in range(n_lines):
        of[a] = -1
        for b in range(a):
            same = True
            for c in range(n_across):
                place = base + across[c] * step_across
                if table[place + lines[a] * step] != table[place + lines[b] * step]:
                    same = False
                    break
            if same:
                of[a] = of[b]
                break
        if of[a] < 0:
            of[a] = number
            number += 1
    return number


@part
def _count_states(sizes: Any, n: int, most: int) -> int:
    """Count the states, up to ``most + 1``."""
    states = 1
    for i in range(n):
        states = min(states * (sizes[i] + 1), most + 1)
    return states


@part
def _count_assignments(
    units: Any, n: int, sizes: Any, m: int, fits: Any, step: int, step_across: int, states: int, numbers: Any, shares: Any
) -> None:
    """Compute the share of assignments by class pair."""
    _, _, _, _, _, _, strides, starts, owner, order, level, taken = numbers
    pair, there, back = shares
    total = 0
    for j in range(m):
        total += sizes[j]
    strides[0] = 1
    for u in range(total + 2):
        starts[u] = 0
    for j in range(m):
        strides[j + 1] = strides[j] * (sizes[j] + 1)
    for s in range(states):
        used = 0
        carried = 1 if s else 0
        for j in range(m):  # one more than the state before, like the wheels of a counter
            amount = carried if s == 0 else taken[(s - 1) * m + j] + carried
            carried = 1 if amount > sizes[j] else 0
            taken[s * m + j] = 0 if carried else amount
            used += taken[s * m + j]
        level[s] = used
        starts[used + 1] += 1
        there[s] = 0.0
    for u in range(total + 1):
        starts[u + 1] += starts[u]
    for s in range(states):  # from here on starts[u] is where the states of level u end, until all are in their places
        order[starts[level[s]]] = s
        starts[level[s]] += 1
    for u in range(total + 1, 0, -1):
        starts[u] = starts[u - 1]
    starts[0] = 0
    there[0] = 1.0
    u = 0
    for i in range(n):
        for _ in range(units[i]):
            owner[u] = i
            u += 1
    for u in range(total):
        largest = 0.0
        for at in range(starts[u], starts[u + 1]):
            s = order[at]
            for j in range(m):
                if taken[s * m + j] < sizes[j]:
                    there[s + strides[j]] += there[s] * fits[owner[u] * step + j * step_across]
        for at in range(starts[u + 1], starts[u + 2]):
            largest = max(largest, there[order[at]])
        for at in range(starts[u + 1], starts[u + 2]):
            there[order[at]] /= largest
    back[states - 1] = 1.0
    for u in range(total - 1, -1, -1):
        i = owner[u]
        is_first = u == 0 or owner[u - 1] != i
        largest = 0.0
        whole = 0.0
        if is_first:
            for j in range(m):
                pair[i * step + j * step_across] = 0.0
        for at in range(starts[u], starts[u + 1]):
            s = order[at]
            ways = 0.0
            for j in range(m):
                if taken[s * m + j] < sizes[j]:
                    onward = back[s + strides[j]] * fits[i * step + j * step_across]
                    ways += onward
                    if is_first:
                        pair[i * step + j * step_across] += there[s] * onward
                        whole += there[s] * onward
            back[s] = ways
            largest = max(largest, ways)
        for at in range(starts[u], starts[u + 1]):
            back[order[at]] /= largest
        if is_first:
            for j in range(m):
                pair[i * step + j * step_across] /= whole


def room(tallest: int, widest: int, people: int, states: int) -> tuple[Any, Any, Any]:
    """Make working memory for groups of these sizes."""
    # Every class has one unit at least, so that the states of m classes are 2**m at least.
    digits = states * states.bit_length()
    longest = max(tallest, widest) + 1
    sizes = (tallest, widest, tallest, widest, tallest, widest, longest, people + 2, people, states, states, digits)
    numbers = tuple(np.zeros(size, np.int64) for size in sizes)
    shares = tuple(np.zeros(size) for size in (tallest * widest, states, states))
    return np.zeros(tallest * widest), numbers, shares


def _estimate_steps(groups: Ints, cells: Ints, entries: Ints, _blocks: Ints, people: Ints, count: Ints, *_others: Any) -> int:
    steps = 0
    for g in groups.tolist():
        by_entry = count[entries[g] : entries[g + 1]].tolist()
        by_cell = people[cells[g] : cells[g + 1]].tolist()
        states = min(math.prod(number + 1 for number in numbers) for numbers in (by_entry, by_cell))
        steps += len(by_entry) * (6 * states + len(by_cell) * (len(by_entry) + len(by_cell)))
        if steps > PLAIN_STEPS:
            break
    return steps


@kernel(steps=_estimate_steps)
def share_values(
    groups: Any,
    cells: Any,
    entries: Any,
    blocks: Any,
    people: Any,
    count: Any,
    weight: Any,
    parts: Any,
    fits: Any,
    numbers: Any,
    shares: Any,
    share: Any,
    exact: Any,
) -> None:
    """Compute the probabilities of values in these groups.

    ``weight`` is 0 for a value that people of a cell cannot have. An assignment is as likely as the product of the weights of its pairs.

    ``fits``, ``numbers`` and ``shares`` are room to work in (:func:`room`): arrays made inside take longer to compile than all the rest. Where
    a part of a group has more states than there is room for, the group is left alone and marked as not exact.
    """
    rows, columns, row_class, column_class, row_size, column_size, _, _, _, order, _, _ = numbers
    pair, _, _ = shares
    most = len(order)
    for at in range(len(groups)):
        g = groups[at]
        width = entries[g + 1] - entries[g]
        height = cells[g + 1] - cells[g]
        base = blocks[g]
        exact[g] = True
        for first in range(width):
            if parts[entries[g] + first] != first:
                continue
            n_columns = 0
            n_rows = 0
            for j in range(first, width):
                if parts[entries[g] + j] == first:
                    columns[n_columns] = j
                    n_columns += 1
            for i in range(height):
                for c in range(n_columns):
                    if weight[base + i * width + columns[c]]:
                        rows[n_rows] = i
                        n_rows += 1
                        break
            n = _number_classes(weight, base, rows, n_rows, width, columns, n_columns, 1, row_class)
            m = _number_classes(weight, base, columns, n_columns, 1, rows, n_rows, width, column_class)
            for i in range(n):
                row_size[i] = 0
            for j in range(m):
                column_size[j] = 0
            for a in range(n_rows):
                row_size[row_class[a]] += people[cells[g] + rows[a]]
            for b in range(n_columns):
                column_size[column_class[b]] += count[entries[g] + columns[b]]
            for a in range(n_rows):
                for b in range(n_columns):
                    fits[row_class[a] * m + column_class[b]] = weight[base + rows[a] * width + columns[b]]
            by_column = _count_states(column_size, m, most)
            by_row = _count_states(row_size, n, most)
            if m == 1:
                for i in range(n):
                    pair[i] = 1.0
            elif n == 1:
                for j in range(m):
                    pair[j] = column_size[j] / row_size[0]
            elif min(by_column, by_row) > most:
                exact[g] = False
                break
            else:
                turned = by_row < by_column
                given, taken = (column_size, row_size) if turned else (row_size, column_size)
                many, kinds, step = (m, n, 1) if turned else (n, m, m)
                states = min(by_row, by_column)
                _count_assignments(given, many, taken, kinds, fits, step, m + 1 - step, states, numbers, shares)
                for i in range(n):
                    for j in range(m):
                        if turned:
                            pair[i * m + j] *= column_size[j] / row_size[i]
            for a in range(n_rows):
                for b in range(n_columns):
                    within = count[entries[g] + columns[b]] / column_size[column_class[b]]
                    share[base + rows[a] * width + columns[b]] = pair[row_class[a] * m + column_class[b]] * within
