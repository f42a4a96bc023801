"""Sets in dictionary order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part


@part
def _start(ends: Any, number: int) -> int:
    return ends[number - 1] if number > 0 else 0


@kernel
def dictionary_order(ends: Any, members: Any, n_labels: int) -> Any:
    """The permutation that puts sets in dictionary order: ``{1}``, ``{1, 2}``, ``{1, 3}``, ``{2}``; equal sets keep their order.

    Set i is ``members[ends[i - 1]:ends[i]]``, ascending. A radix sort from the last place to the first; at each place only the sets that are
    long enough take part, so that the cost is the number of members.
    """
    n_sets = len(ends)
    longest, previous = 0, 0
    for i in range(n_sets):
        longest = max(longest, ends[i] - previous)
        previous = ends[i]
    by_length = np.zeros(longest + 2, np.int64)
    previous = 0
    for i in range(n_sets):
        by_length[ends[i] - previous + 1] += 1
        previous = ends[i]
    for length in range(longest + 1):
        by_length[length + 1] += by_length[length]
    grouped = np.empty(n_sets, np.int64)
    cursor = by_length.copy()
    previous = 0
    for i in range(n_sets):
        grouped[cursor[ends[i] - previous]] = i
        cursor[ends[i] - previous] += 1
        previous = ends[i]
    order, spare = np.empty(n_sets, np.int64), np.empty(n_sets, np.int64)
    buckets = np.zeros(n_labels + 1, np.int64)
    active = 0
    for place in range(longest - 1, -1, -1):
        # Sets that end here come before those that go on, which are sorted already.
        first, last = by_length[place + 1], by_length[place + 2]
        buckets[:] = 0
        for i in range(first, last):
            buckets[members[_start(ends, grouped[i]) + place] + 1] += 1
        for i in range(active):
            buckets[members[_start(ends, order[i]) + place] + 1] += 1
        for label in range(n_labels):
            buckets[label + 1] += buckets[label]
        for i in range(first, last):
            label = members[_start(ends, grouped[i]) + place]
            spare[buckets[label]] = grouped[i]
            buckets[label] += 1
        for i in range(active):
            label = members[_start(ends, order[i]) + place]
            spare[buckets[label]] = order[i]
            buckets[label] += 1
        active += last - first
        order, spare = spare, order
    return order


@kernel
def arrange(ends: Any, members: Any, order: Any, new_ends: Any, new_members: Any) -> None:
    """Write the sets in the given order."""
    end = 0
    for i in range(len(order)):
        for place in range(_start(ends, order[i]), ends[order[i]]):
            new_members[end] = members[place]
            end += 1
        new_ends[i] = end
