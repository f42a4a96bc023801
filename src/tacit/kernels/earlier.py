"""Earlier items looked up in the rows themselves: for sparse data, where most items are in few rows and their bits would be mostly zero.

Rows are ``rows_of`` as :func:`tacit.kernels.rows.index` makes them: ascending, separated by -1. ``book[places + b]`` is where the root item of a
problem stands in the row of bit ``b``, so that the items before that place are the earlier ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import lowest_one, part


@part
def is_in_all(rows_of: Any, book: Any, places: int, rows: Any, first: int, words: int, memory: Any, left: int) -> bool:
    """Whether some earlier item is in all the rows ``rows[first:first + words]``; ``memory[left:]`` has room for the items of one row."""
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
def is_frequent(
    rows_of: Any, book: Any, places: int, rows: Any, first: int, parts: int, end_parts: int, least: int, counts: Any
) -> bool:
    """Whether some earlier item is frequent among the rows that start at ``rows[first]``; ``counts`` is memory, zero before and after.

    The parts of the rows are ``book[parts:end_parts]``.
    """
    answer, start = False, 0
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
