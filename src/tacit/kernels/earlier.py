"""Earlier items looked up in the rows themselves: for sparse data, where most items are in few rows and their bits would be mostly zero.

Rows are ``lists`` as :func:`tacit.kernels.rows.index` makes them: ascending, separated by -1. ``places[b]`` is where the root item of a
problem stands in the row of bit ``b``, so that the items before that place are the earlier ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import lowest_one, part


@part
def _keep_common(lists: Any, place: int, left: Any, count: int) -> int:
    """Of the first ``count`` items in ``left`` (descending) keep those that also stand before ``place``; how many."""
    kept, at = 0, place - 1
    for i in range(count):
        while lists[at] > left[i]:
            at -= 1
        if lists[at] == left[i]:
            left[kept] = left[i]
            kept += 1
    return kept


@part
def is_in_all(lists: Any, places: Any, rows: Any, left: Any) -> bool:
    """Whether some earlier item is in all the rows; ``left`` is memory for the items of one row."""
    count = -1
    for word in range(len(rows)):
        ones = rows[word]
        while ones != 0 and count != 0:
            place = places[word * 64 + lowest_one(ones)]
            ones &= ones - np.uint64(1)
            if count < 0:
                count = 0
                while lists[place - 1 - count] >= 0:
                    left[count] = lists[place - 1 - count]
                    count += 1
            else:
                count = _keep_common(lists, place, left, count)
        if count == 0:
            return False
    return True


@part
def is_frequent(lists: Any, places: Any, rows: Any, parts: Any, least: int, counts: Any) -> bool:
    """Whether some earlier item is frequent among the rows; ``counts`` is memory, zero before and after."""
    answer, first = False, 0
    for p in range(0, len(parts), 3):
        for word in range(first, parts[p]):
            ones = rows[word]
            while ones != 0 and not answer:
                at = places[word * 64 + lowest_one(ones)] - 1
                ones &= ones - np.uint64(1)
                while lists[at] >= 0:
                    counts[lists[at]] += parts[p + 1]
                    answer = answer or counts[lists[at]] >= least
                    at -= 1
        first = parts[p]
    for word in range(len(rows)):
        ones = rows[word]
        while ones != 0:
            at = places[word * 64 + lowest_one(ones)] - 1
            ones &= ones - np.uint64(1)
            while lists[at] >= 0:
                counts[lists[at]] = 0
                at -= 1
    return answer
