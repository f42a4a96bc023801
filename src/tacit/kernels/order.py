"""Sets in dictionary order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part


@part
def _by_length(offsets: Any, starts: Any) -> Any:
    """The numbers of the sets, short ones first; ``starts`` (all 0 before) gets where the sets of each length start."""
    n_sets = len(offsets) - 1
    for i in range(n_sets):
        starts[offsets[i + 1] - offsets[i] + 1] += 1
    for length in range(len(starts) - 1):
        starts[length + 1] += starts[length]
    cursor, grouped = np.empty(len(starts), np.int64), np.empty(n_sets, np.int64)
    for length in range(len(starts)):
        cursor[length] = starts[length]
    for i in range(n_sets):
        length = offsets[i + 1] - offsets[i]
        grouped[cursor[length]] = i
        cursor[length] += 1
    return grouped


@kernel
def dictionary_order(offsets: Any, members: Any, n_labels: int) -> Any:
    """The permutation that puts sets in dictionary order: ``{1}``, ``{1, 2}``, ``{1, 3}``, ``{2}``; equal sets keep their order.

    Set i is ``members[offsets[i]:offsets[i + 1]]``, ascending, not empty. A radix sort from the last place to the first; at each place only the
    sets that are long enough take part, so that the cost is the number of members.
    """
    n_sets, longest = len(offsets) - 1, 0
    for i in range(n_sets):
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts = np.zeros(longest + 2, np.int64)
    grouped = _by_length(offsets, starts)
    order, spare = np.empty(n_sets, np.int64), np.empty(n_sets, np.int64)
    buckets = np.zeros(n_labels + 1, np.int64)
    active = 0
    for place in range(longest - 1, -1, -1):
        # Sets that end here come before those that go on, which are sorted already.
        first, last = starts[place + 1], starts[place + 2]
        for label in range(n_labels + 1):
            buckets[label] = 0
        for i in range(first, last):
            buckets[members[offsets[grouped[i]] + place] + 1] += 1
        for i in range(active):
            buckets[members[offsets[order[i]] + place] + 1] += 1
        for label in range(n_labels):
            buckets[label + 1] += buckets[label]
        for i in range(first, last):
            label = members[offsets[grouped[i]] + place]
            spare[buckets[label]] = grouped[i]
            buckets[label] += 1
        for i in range(active):
            label = members[offsets[order[i]] + place]
            spare[buckets[label]] = order[i]
            buckets[label] += 1
        active += last - first
        order, spare = spare, order
    return order


@kernel
def arrange(offsets: Any, members: Any, order: Any, new_offsets: Any, new_members: Any) -> None:
    """Write the sets in the given order."""
    end = 0
    for i in range(len(order)):
        for place in range(offsets[order[i]], offsets[order[i] + 1]):
            new_members[end] = members[place]
            end += 1
        new_offsets[i + 1] = end


@kernel
def cut_by_union(offsets: Any, members: Any, n_labels: int, most_items: int, most_sets: int, ends: Any) -> int:
    """Cut a list of sets into runs whose union has at most ``most_items`` items (longer sets stand alone); ``ends`` receives where runs end.

    Returns how many runs there are.
    """
    seen_in = np.full(n_labels, -1, np.int64)
    run, first, items = 0, 0, 0
    for s in range(len(offsets) - 1):
        fresh = 0
        for place in range(offsets[s], offsets[s + 1]):
            fresh += seen_in[members[place]] != run
        if s > first and (items + fresh > most_items or s - first == most_sets):
            ends[run] = s
            run, first, items, fresh = run + 1, s, 0, offsets[s + 1] - offsets[s]
        items += fresh
        for place in range(offsets[s], offsets[s + 1]):
            seen_in[members[place]] = run
    ends[run] = len(offsets) - 1
    return run + 1
