"""Naive Bayes over the people of groups, and proportional fitting to their contents.

A *place* is a value that a person can have: those of person i are ``first[i]`` to ``first[i + 1]``, and place p is about ``value[p]``. The
tables of all columns, with a number for each value of the column and each sensitive value, lie one after the other; ``lines[i, c]`` is where the
line of person i's value in column c begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel


@kernel(steps=lambda _first, value, lines, *_: (2 + lines.shape[1]) * len(value))
def log_likelihoods(first: Any, value: Any, lines: Any, tables: Any, out: Any) -> None:
    """Add up the logarithms of a person's columns for each place; the largest becomes 0."""
    for i in range(len(first) - 1):
        begin = first[i]
        end = first[i + 1]
        best = -np.inf
        for p in range(begin, end):
            total = 0.0
            for c in range(lines.shape[1]):
                total += tables[lines[i, c] + value[p]]
            out[p] = total
            best = max(best, total)
        for p in range(begin, end):
            out[p] -= best


@kernel(steps=lambda _first, _entry, weight, *_: 4 * len(weight))
def scale(first: Any, entry: Any, weight: Any, factor: Any, given: Any, widest: int, found: Any) -> None:
    """Multiply weights by the factors of entries, to a sum of 1 for each person; add them up in ``given``.

    They are kept in ``found``, if that is not empty. Nobody has more than ``widest`` places.
    """
    share = np.empty(widest, np.float64)
    place = np.uint64(0)  # unsigned, so that compiled code does not look for negative places
    one = np.uint64(1)
    for i in range(len(first) - 1):
        many = first[i + 1] - first[i]
        begin = place
        rest = 0.0
        for k in range(many):
            share[k] = weight[place] * factor[entry[place]]
            if k > 0:
                rest += share[k]
            place += one
        total = share[0] + rest  # in the order of numpy's own sums
        place = begin
        for k in range(many):
            share[k] /= total
            given[entry[place]] += share[k]
            if len(found) > 0:
                found[place] = share[k]
            place += one


@kernel(steps=lambda _first, value, lines, *_: (2 + lines.shape[1]) * len(value))
def count_values(first: Any, value: Any, lines: Any, found: Any, tables: Any) -> None:
    """Add the people of each place to the tables of all columns."""
    for i in range(len(first) - 1):
        for c in range(lines.shape[1]):
            line = lines[i, c]
            for p in range(first[i], first[i + 1]):
                tables[line + value[p]] += found[p]
