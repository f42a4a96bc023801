"""Sets of rows as 64-bit words, one bit per row.

The words of a set of rows are cut into *parts*: every row of a part stands for the same number of people (its *weight*) and belongs to the
same *class*. ``parts`` holds three numbers for each part: the word at which it ends, its weight, its class; parts of one class are neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import part, popcount


@part
def common(left: Any, right: Any, parts: Any) -> tuple[int, int]:
    """How many people are in both sets of rows, and how many of them in the class that has most of them."""
    total, best, within, current = 0, 0, 0, -1
    first = 0
    for i in range(0, len(parts), 3):
        last = parts[i]
        ones = 0
        for word in range(first, last):
            ones += popcount(left[word] & right[word])
        first = last
        if parts[i + 2] != current:
            within, current = 0, parts[i + 2]
        within += ones * parts[i + 1]
        total += ones * parts[i + 1]
        best = max(best, within)
    return total, best


@part
def intersect(left: Any, right: Any, result: Any) -> None:
    """Write the rows that are in both sets into ``result``."""
    for word in range(len(result)):
        result[word] = left[word] & right[word]


@part
def contains(outer: Any, inner: Any) -> bool:
    """Whether every row of ``inner`` is in ``outer``."""
    word = 0
    while word < len(inner) and inner[word] & ~outer[word] == 0:
        word += 1
    return word == len(inner)


@part
def transpose(block: Any) -> None:
    """Turn 64 words by 90 degrees in place: bit ``i`` of word ``j`` becomes bit ``j`` of word ``i``."""
    shift = 32
    mask = np.uint64(0xFFFFFFFF)
    while shift > 0:
        step = np.uint64(shift)
        for base in range(0, 64, 2 * shift):
            for i in range(base, base + shift):
                swapped = ((block[i] >> step) ^ block[i + shift]) & mask
                block[i] ^= swapped << step
                block[i + shift] ^= swapped
        shift >>= 1
        mask ^= mask << np.uint64(shift)
