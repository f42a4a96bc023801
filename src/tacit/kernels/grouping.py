"""Groups of people with exchangeable sensitive values.

Groups are chosen class by class, from counts alone. People with the same value whom the same values are ruled out for are one *class*;
``count`` is the number of its people left. Classes lie by value: those of value v are ``first[v]`` to ``first[v + 1]``, the hardest first.
``ruled`` marks for each kind of people, value by value, those ruled out, and ``listed[starts[k]:starts[k + 1]]`` lists them. ``people[v]`` are
left with value v; ``without[place[v] * values + w]`` of those with w have v ruled out, ``excluders[v]`` in all; ``order`` lists the values by
the people left, the smaller value first where these are equal. All of these follow ``count`` as people are taken.

Functions take the arrays in two tuples: ``fixed`` is value, kind, starts, listed and place; ``left`` is count, people, without, excluders and
order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.jit import kernel, part

#: How a group is put together: as the paper prints it, or from the largest buckets (the second way its first member, too).
PRINTED, BALANCED_1, BALANCED_2 = range(3)
#: Places of ``state``: people left, classes on the heap, groups made, whether no more can be made.
LEFT, HEAP, MADE, DONE = range(4)


@part
def _count_incompatible(c: int, fixed: Any, left: Any) -> int:
    value, kind, starts, listed, place = fixed
    _, people, without, excluders, _ = left
    own = value[c]
    values = len(people)
    number = people[own] + excluders[own]
    for i in range(starts[kind[c]], starts[kind[c] + 1]):
        number += people[listed[i]]
        if place[own] >= 0:
            number -= without[place[own] * values + listed[i]]
    return int(number)


@part
def _sift(heap: Any, size: int, key: Any) -> None:
    """Sift down: the largest key first, ties to the smallest class."""
    i = 0
    c = heap[0]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size:
            a = heap[child]
            b = heap[child + 1]
            if key[b] > key[a] or (key[b] == key[a] and b < a):
                child += 1
        d = heap[child]
        if key[d] < key[c] or (key[d] == key[c] and d > c):
            break
        heap[i] = d
        i = child
    heap[i] = c


@part
def _take(c: int, number: int, fixed: Any, left: Any) -> None:
    value, kind, starts, listed, place = fixed
    count, people, without, excluders, order = left
    own = value[c]
    values = len(people)
    count[c] -= number
    people[own] -= number
    for i in range(starts[kind[c]], starts[kind[c] + 1]):
        without[place[listed[i]] * values + own] -= number
        excluders[listed[i]] -= number
    i = 0
    while order[i] != own:
        i += 1
    while i + 1 < values:
        other = order[i + 1]
        if people[other] < people[own] or (people[other] == people[own] and other > own):
            break
        order[i] = other
        i += 1
    order[i] = own


@part
def _find_printed_partner(fits: Any, n_fits: int, fixed: Any, count: Any, there: Any, lacking: Any, lacking_all: Any) -> int:
    """Choose the class that leaves most people fitting."""
    value, kind, starts, listed, place = fixed
    values = len(there)
    total = 0
    for w in range(values):
        there[w] = 0
    for j in range(n_fits):
        c = fits[j]
        there[value[c]] += count[c]
        total += count[c]
        for i in range(starts[kind[c]], starts[kind[c] + 1]):
            lacking[place[listed[i]] * values + value[c]] += count[c]
            lacking_all[listed[i]] += count[c]
    best = -1
    most = -1
    for j in range(n_fits):
        c = fits[j]
        own = value[c]
        still = total - there[own] - lacking_all[own]
        for i in range(starts[kind[c]], starts[kind[c] + 1]):
            still -= there[listed[i]]
            if place[own] >= 0:
                still += lacking[place[own] * values + listed[i]]
        if still > most:
            best = c
            most = still
    for j in range(n_fits):
        c = fits[j]
        for i in range(starts[kind[c]], starts[kind[c] + 1]):
            lacking[place[listed[i]] * values + value[c]] = 0
            lacking_all[listed[i]] = 0
    return best


@part
def _find_balanced_partner(
    chosen: Any, size: int, barred: Any, mark: int, fixed: Any, left: Any, ruled: Any, first: Any, head: Any
) -> int:
    """Choose the hardest fitting class of the most frequent value, or -1."""
    value, kind, _, _, _ = fixed
    count, people, _, _, order = left
    values = len(people)
    for i in range(values):
        v = order[i]
        if people[v] == 0:
            break
        if barred[v] == mark:
            continue
        while count[head[v]] == 0:
            head[v] += 1
        for c in range(head[v], first[v + 1]):
            if count[c] > 0:
                fits = True
                for j in range(size):
                    if ruled[kind[c] * values + value[chosen[j]]]:
                        fits = False
                        break
                if fits:
                    return int(c)
    return -1


@kernel(steps=lambda _rule, size, most, fixed, *others: min(most * size, int(others[-2][LEFT])) * (8 + fixed[0].size))
def form_groups(
    rule: int, size: int, most: int, fixed: Any, left: Any, first: Any, ruled: Any, heap: Any, key: Any, state: Any, out: Any
) -> None:
    """Form at most ``most`` groups of ``size``; ``out`` receives their classes."""
    value, kind, starts, listed, _ = fixed
    count, people, without, _, order = left
    values = len(people)
    classes = len(value)
    head = np.zeros(values, np.int64)  # the first class of each value with people left, or one before it
    for v in range(values):
        head[v] = first[v]
    barred = np.zeros(values, np.int64)  # equals the number of the trial where a value cannot be added any more
    chosen = np.zeros(size, np.int64)
    fits = np.zeros(classes, np.int64)
    there = np.zeros(values, np.int64)
    lacking_all = np.zeros(values, np.int64)
    lacking = np.zeros(len(without), np.int64)
    trial = 0
    end = state[MADE] + most
    while state[MADE] < end and state[LEFT] >= size:
        seed = -1
        if rule == BALANCED_2:
            v = order[0]
            if people[v] > 0:
                while count[head[v]] == 0:
                    head[v] += 1
                seed = head[v]
        else:
            while state[HEAP] > 0:
                c = heap[0]
                if count[c] == 0:
                    state[HEAP] -= 1
                    heap[0] = heap[state[HEAP]]
                else:
                    now = _count_incompatible(c, fixed, left)
                    if now == key[c]:  # numbers only fall, so no other class can have a larger one
                        seed = c
                        break
                    key[c] = now
                if state[HEAP] > 0:
                    _sift(heap, state[HEAP], key)
        if seed < 0:
            break
        trial += 1
        chosen[0] = seed
        made = 1
        n_fits = 0
        if rule == PRINTED:
            for c in range(classes):
                if count[c] > 0:
                    fits[n_fits] = c
                    n_fits += 1
        while made < size:
            last = chosen[made - 1]
            if rule == PRINTED:
                kept = 0
                for j in range(n_fits):
                    c = fits[j]
                    excludes = ruled[kind[last] * values + value[c]] or ruled[kind[c] * values + value[last]]
                    if value[last] != value[c] and not excludes:
                        fits[kept] = c
                        kept += 1
                n_fits = kept
                found = _find_printed_partner(fits, n_fits, fixed, count, there, lacking, lacking_all)
            else:
                barred[value[last]] = trial
                for i in range(starts[kind[last]], starts[kind[last] + 1]):
                    barred[listed[i]] = trial
                found = _find_balanced_partner(chosen, made, barred, trial, fixed, left, ruled, first, head)
            if found < 0:
                break
            chosen[made] = found
            made += 1
        # Where no group is found, the whole class goes: nobody else of it would find one now.
        number = 1 if made == size else count[seed]
        for j in range(size if made == size else 1):
            _take(chosen[j], number, fixed, left)
            state[LEFT] -= number
            if made == size:
                out[state[MADE] * size + j] = chosen[j]
        if made == size:
            state[MADE] += 1
    if state[MADE] < end:
        state[DONE] = 1
