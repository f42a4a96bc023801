"""Sets of rows as 64-bit words, one bit per row.

Sets lie one after the other in large arrays; a set is given by its array and the place of its first word. Its words are cut into *parts*: every
row of a part stands for the same number of people (its *weight*) and belongs to the same *class*. Parts are a stretch of an array of numbers,
three for each part: the word at which it ends, its weight, its class; parts of one class are neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import part, popcount


@part
def common(left: Any, i: int, right: Any, j: int, parts: Any, first: int, last: int) -> tuple[int, int]:
    """How many people are in both sets of rows, and how many of them in the class that has most of them, the class -1 set aside."""
    total, best, within, current = 0, 0, 0, -2
    start = 0
    for p in range(first, last, 3):
        stop = parts[p]
        # Slices with a plain loop over them are what the compiler turns into vector instructions.
        these, those = left[i + start : i + stop], right[j + start : j + stop]
        ones = 0
        for word in range(len(these)):
            ones += popcount(these[word] & those[word])
        start = stop
        if parts[p + 2] != current:
            within, current = 0, parts[p + 2]
        within += ones * parts[p + 1]
        total += ones * parts[p + 1]
        if current >= 0:
            best = max(best, within)
    return total, best


@part
def contains(outer: Any, i: int, inner: Any, j: int, words: int) -> bool:
    """Whether every row of ``inner`` is in ``outer``."""
    word = 0
    while word < words and inner[j + word] & ~outer[i + word] == 0:
        word += 1
    return word == words


@part
def intersect(left: Any, i: int, right: Any, j: int, result: Any, k: int, words: int) -> None:
    """Write the rows that are in both sets into ``result``."""
    these, those, both = left[i : i + words], right[j : j + words], result[k : k + words]
    for word in range(len(both)):
        both[word] = these[word] & those[word]


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
