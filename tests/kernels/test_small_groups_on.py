"""Small groups on lists of sets, over more items than a word has bits, against counting rows one by one."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tacit.kernels import projection
from tacit.kernels.projection import Crowd, small_groups_on
from tacit.model.release import Sets

Case = tuple[list[list[int]], list[int], list[list[int]]]


def drawn(seed: int) -> Case:
    """Rows, their weights, and sets: over few or many items, some sets empty, some longer than a word."""
    chance = random.Random(seed)
    n_items = chance.choice([3, 30, 90, 200])
    rows = [sorted(i for i in range(n_items) if chance.random() < 0.5) for _ in range(chance.randint(1, 40))]
    longest = chance.choice([3, 12, 40, n_items])
    sets = [sorted(chance.sample(range(n_items), chance.randint(0, min(longest, n_items)))) for _ in range(chance.randint(1, 40))]
    return rows, [chance.randint(1, 3) for _ in rows], sets


def one_by_one(case: Case, k: int) -> list[tuple[int, tuple[int, ...], int]]:
    rows, weights, sets = case
    found = []
    for number, chosen in enumerate(sets):
        sizes: Counter[tuple[int, ...]] = Counter()
        for row, weight in zip(rows, weights, strict=True):
            sizes[tuple(item for item in chosen if item in row)] += weight
        found += [(number, group, size) for group, size in sizes.items() if size < k]
    return sorted(found)


def searched(
    case: Case, k: int, *, threads: int | None = None, first_only: bool = False
) -> list[tuple[int, tuple[int, ...], int]]:
    rows, weights, sets = case
    people, family = Sets.from_lists(rows), Sets.from_lists(sets)
    wanted = np.arange(1 + max([item for chosen in sets for item in chosen], default=0))
    crowd = Crowd.of(people, np.array(weights, np.int64), wanted)
    found = []
    for numbers, words, sizes in small_groups_on(crowd, family.offsets, family.members, k, lambda _: None, threads, first_only):
        for number, word, size in zip(numbers.tolist(), words.tolist(), sizes.tolist(), strict=True):
            group = tuple(item for place, item in enumerate(sets[number]) if word[place // 64] >> (place % 64) & 1)
            found.append((number, group, size))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_groups_equal_those_counted_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "SETS_PER_TASK", seed % 7 + 1)
    case, k = drawn(seed), random.Random(seed).randint(1, 12)
    assert sorted(searched(case, k)) == one_by_one(case, k)
    assert searched(case, k) == searched(case, k, threads=1), "the order does not depend on the threads"


@pytest.mark.parametrize("seed", range(40))
def test_the_first_finding_is_a_finding_and_is_there_when_any_is(seed: int) -> None:
    case = drawn(seed)
    everything, some = one_by_one(case, 4), searched(case, 4, first_only=True)
    assert set(some) <= set(everything)
    assert bool(some) == bool(everything)


def test_whoever_has_seen_enough_may_stop() -> None:
    case = drawn(7)
    rows, weights, sets = case
    people, family = Sets.from_lists(rows), Sets.from_lists(sets)
    crowd = Crowd.of(people, np.array(weights, np.int64), np.arange(200))
    pieces = small_groups_on(crowd, family.offsets, family.members, 4, lambda _: None)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
