"""Who can have which value in a group, group by group: a first assignment of values to people, and what can be exchanged in it.

People of a group whom the same values are ruled out for are one *cell* of the group, equal values one *entry*. Cells lie one after the other,
those of group g from ``cells[g]`` on, and so do entries (``entries``). What is said about a cell and an entry of its group stands in a *block*
for each group, cell by cell, from ``blocks[g]`` on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel


@kernel
def match_groups(cells: Any, entries: Any, blocks: Any, people: Any, count: Any, may: Any, hold: Any) -> int:
    """Give everybody a value: ``hold`` becomes how many people of a cell have an entry's value. The first group where that fails, or -1.

    Each cell in turn takes what is left, and then what others give up for something else that they may have (augmenting paths).
    """
    widest, tallest = 1, 1
    for g in range(len(blocks) - 1):
        widest, tallest = max(widest, entries[g + 1] - entries[g]), max(tallest, cells[g + 1] - cells[g])
    left = np.zeros(widest, np.int64)
    reached_by = np.zeros(widest, np.int64)  # the cell that asks for a value; -1: nobody yet
    gives_up = np.zeros(
        tallest, np.int64
    )  # the value that a cell would give up; -1: none, it is the one that asks; -2: not asked yet
    queue = np.zeros(tallest, np.int64)
    for g in range(len(blocks) - 1):
        width, height, base = entries[g + 1] - entries[g], cells[g + 1] - cells[g], blocks[g]
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
                gives_up[i], queue[0] = -1, i
                first, last, found = 0, 1, -1
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
                moved, j = min(wanted, left[found]), found
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


@kernel
def close_groups(cells: Any, entries: Any, blocks: Any, may: Any, hold: Any, part: Any, possible: Any) -> None:
    """Mark what everybody can have in some assignment, given one of them.

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
        width, height, base = entries[g + 1] - entries[g], cells[g + 1] - cells[g], blocks[g]
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
