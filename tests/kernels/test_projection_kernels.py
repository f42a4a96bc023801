"""The projection, counting and subset kernels against slow twins that a reader can check by eye."""

from __future__ import annotations

import itertools
import random

import numpy as np
import numpy.typing as npt
import pytest

from tacit.itemsets.inference_channels import run
from tacit.kernels import projection
from tacit.kernels import rows as rows_kernels
from tacit.kernels.projection import (
    Comparison,
    Crowd,
    compress,
    groups_by_masks,
    groups_on,
    people_with,
    prepare_moves,
    project_rows,
)
from tacit.kernels.rows import ALLOWED, OUTSIDE, cells, find_holders, find_maximal, lines_within, superset_all, superset_max
from tacit.model.audit import Target
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Itemsets, Sets
from tacit.model.table import Transactions


def squeezed(word: int, mask: int) -> int:
    """The bits of ``word`` under ``mask``, pushed together, one by one."""
    out = place = 0
    for bit in range(64):
        if mask >> bit & 1:
            out |= (word >> bit & 1) << place
            place += 1
    return out


def groups_one_by_one(words: list[int], weights: list[int], masks: list[int], k: int) -> list[tuple[int, int, int]]:
    found = []
    for number, mask in enumerate(masks):
        sizes: dict[int, int] = {}
        for word, weight in zip(words, weights, strict=True):
            sizes[squeezed(word, mask)] = sizes.get(squeezed(word, mask), 0) + weight
        found += [(number, group, size) for group, size in sizes.items() if size < k]
    return sorted(found)


def searched(
    words: list[int], weights: list[int], masks: list[int], k: int, *, first_only: bool = False
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    rows, people = np.array(words, np.uint64), np.array(weights, np.int64)
    on_mask, group, size = groups_by_masks(rows, people, len(words), 64, np.array(masks, np.uint64), k, first_only=first_only)
    return np.repeat(np.arange(len(masks)), on_mask), group, size


@pytest.mark.parametrize("seed", range(40))
def test_small_groups_equal_the_twin(seed: int) -> None:
    chance = random.Random(seed)
    width = chance.choice([1, 3, 8, 20, 40, 60])
    # Few different bits, high ones included, and sets below and above the limit of the direct table.
    bits = chance.sample(range(64), width)
    words = [sum(1 << b for b in bits if chance.random() < 0.6) for _ in range(chance.randint(1, 60))]
    weights = [chance.randint(1, 4) for _ in words]
    masks = [sum(1 << b for b in chance.sample(bits, chance.randint(0, width))) for _ in range(chance.randint(1, 30))]
    k = chance.randint(1, 9)
    which, group, size = searched(words, weights, masks, k)
    assert list(which) == sorted(which), "findings keep the order of the sets"
    assert sorted(zip(which.tolist(), group.tolist(), size.tolist(), strict=True)) == groups_one_by_one(words, weights, masks, k)


def test_more_people_than_32_bits_count() -> None:
    # Sums of 2**32 would look like nobody in a table of 32 bits.
    which, group, size = searched([0b11, 0b01, 0b10], [2**31, 2**31, 2], [0b01, 0b11], 5)
    assert list(zip(which.tolist(), group.tolist(), size.tolist(), strict=True)) == [(0, 0, 2), (1, 2, 2)]


@pytest.mark.parametrize("seed", range(20))
def test_bits_are_pushed_together_without_the_instruction(seed: int) -> None:
    # Compiled searches use the processor's instruction where it has one.
    chance = random.Random(seed)
    mask, word = chance.getrandbits(64) & chance.getrandbits(64), chance.getrandbits(64)
    moves = np.empty(6, np.uint64)
    prepare_moves(np.uint64(mask), moves)
    assert int(compress(np.uint64(word), np.uint64(mask), moves, 6)) == squeezed(word, mask)


def test_small_groups_can_stop_at_the_first_set() -> None:
    which, _, _ = searched([0b11, 0b01], [5, 1], [0b01, 0b11, 0b10], 3, first_only=True)
    assert which.tolist() == [1]


def test_no_sets_no_groups() -> None:
    assert len(searched([1], [1], [], 3)[0]) == 0


def test_projected_rows_keep_everybody() -> None:
    rows = Sets.from_lists([[0], [1], [0, 1, 2], []])
    bit = np.array([2, 0, 1], np.uint64)
    words, weights = np.empty(5, np.uint64), np.empty(5, np.int64)
    used = project_rows(rows.offsets, rows.members, np.array([2, 3, 4, 1]), bit, words, weights)
    assert list(zip(words[:used].tolist(), weights[:used].tolist(), strict=True)) == [(2, 2), (3, 4), (0, 4)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("in_order", [True, False])
def test_maximal_sets_equal_brute_force(seed: int, in_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(rows_kernels, "SETS_PER_PIECE", chance.choice([1, 20, 50_000]))
    n_items = chance.choice([4, 8, 14])
    lists = [sorted(chance.sample(range(n_items), chance.randint(0, 4))) for _ in range(chance.choice([1, 9, 90, 900]))]
    if in_order:
        lists.sort()
    sets = Sets.from_lists(lists)
    largest = [one for one in {tuple(one) for one in lists} if not any(set(one) < set(other) for other in lists)]
    wanted = sorted(lists.index(list(one)) for one in largest)
    assert find_maximal(sets.offsets, sets.members, n_items).tolist() == wanted
    for one, holder in zip(lists, find_holders(sets.offsets, sets.members, n_items).tolist(), strict=True):
        assert holder in wanted
        assert set(one) <= set(lists[holder])


def test_there_may_be_thousands_of_maximal_sets() -> None:
    singles = [[item] for item in range(70)]
    pairs = [list(pair) for pair in itertools.combinations(range(70), 2)]
    sets = Sets.from_lists([*sorted([*singles, *pairs]), [70]])
    assert len(pairs) > 2000
    wanted = [*np.flatnonzero(sets.lengths == 2).tolist(), len(sets) - 1]
    assert find_maximal(sets.offsets, sets.members, 71).tolist() == wanted


def counted_one_by_one(lists: list[list[int]], rows: list[list[int]], weights: list[int]) -> list[int]:
    return [sum(n for row, n in zip(rows, weights, strict=True) if set(row) >= set(one)) for one in lists]


def counted_by_holders(crowd: Crowd, sets: Sets) -> list[int]:
    """Counts that are compared while groups on maximal sets are searched."""
    counts: list[int] = []
    holders = find_holders(sets.offsets, sets.members, crowd.n_items)
    maximal = np.unique(holders).astype(np.int64)
    comparison = Comparison(holders, lambda found: counts.extend(found.tolist()), False)
    for _ in groups_on(crowd, (sets.offsets, sets.members), maximal, 3, lambda _: None, comparison=comparison):
        pass
    return counts


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("in_order", [True, False])
def test_counts_equal_brute_force(seed: int, in_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(projection, "MEMBERS_PER_CALL", chance.choice([20, 100_000]))
    n_items = chance.choice([8, 70, 140])
    longest = chance.choice([0, 3, 6, n_items])  # also sets that are longer than a word
    lists = [sorted(chance.sample(range(n_items), chance.randint(0, longest))) for _ in range(chance.randint(1, 200))]
    if in_order:
        lists.sort()
    sets = Sets.from_lists(lists)
    rows = [sorted(chance.sample(range(n_items), chance.randint(0, n_items))) for _ in range(130)]
    weights = [chance.randint(1, 3) for _ in rows]
    order = list(range(n_items + 3))
    chance.shuffle(order)
    people = Sets.from_lists([[order[item] for item in row] for row in rows])
    crowd = Crowd.of(people, np.array(weights), np.array(order[:n_items]))
    wanted = counted_one_by_one(lists, rows, weights)
    assert people_with(crowd, sets.offsets, sets.members).tolist() == wanted
    assert counted_by_holders(crowd, sets) == wanted


@pytest.mark.parametrize("n_items", [20, 70, 130])
def test_counts_of_many_sets_that_share_items_equal_brute_force(n_items: int) -> None:
    chance = random.Random(n_items)
    rows = [[item for item in range(n_items) if chance.random() < 0.8] for _ in range(150)]
    some = [chance.choice(rows)[chance.randint(0, 3) :: chance.randint(1, 6)] for _ in range(60)]
    lists = sorted({tuple(part) for one in some for size in range(5) for part in itertools.combinations(one[:20], size)})[:4000]
    weights = [chance.randint(1, 3) for _ in rows]
    sets = Sets.from_lists(lists)
    crowd = Crowd.of(Sets.from_lists(rows), np.array(weights), np.arange(n_items))
    wanted = counted_one_by_one([list(one) for one in lists], rows, weights)
    assert people_with(crowd, sets.offsets, sets.members).tolist() == wanted
    assert counted_by_holders(crowd, sets) == wanted


def test_lines_within_respects_outside_and_allowed_items() -> None:
    sets = Sets.from_lists([[0], [0, 1], [0, 2], [1, 3], []])
    position = np.array([0, 1, ALLOWED, OUTSIDE])
    lines, masks = np.empty(5, np.int64), np.empty(5, np.int64)
    used = lines_within(sets.offsets, sets.members, position, lines, masks)
    assert list(zip(lines[:used].tolist(), masks[:used].tolist(), strict=True)) == [(0, 1), (1, 3), (2, 1), (4, 0)]


@pytest.mark.parametrize("seed", range(10))
def test_subset_transforms_equal_their_definitions(seed: int) -> None:
    chance, d = random.Random(seed), seed % 5
    values = [chance.randint(0, 9) for _ in range(1 << d)]
    above = [[m for m in range(1 << d) if m & x == x] for x in range(1 << d)]
    got = np.array(values)
    superset_max(got)
    assert got.tolist() == [max(values[m] for m in masks) for masks in above]
    known = np.array([value > 2 for value in values])
    superset_all(known)
    assert known.tolist() == [all(values[m] > 2 for m in masks) for masks in above]
    lo, hi = np.array(values), np.array(values) + 1
    cells(lo, hi)
    for x, masks in enumerate(above):
        even = [m for m in masks if (m ^ x).bit_count() % 2 == 0]
        odd = [m for m in masks if (m ^ x).bit_count() % 2 == 1]
        assert lo[x] == sum(values[m] for m in even) - sum(values[m] + 1 for m in odd)
        assert hi[x] == sum(values[m] + 1 for m in even) - sum(values[m] for m in odd)


@pytest.mark.parametrize("n_items", [60, 64, 65, 130])
def test_itemsets_of_more_than_a_word(n_items: int) -> None:
    """All rows but a few hold all items, so the one maximal set is as long as there are items."""
    whole = list(range(n_items))
    rows = [whole] * 20 + [
        [i for i in whole if i not in lacking] for lacking in ([0], [n_items - 1], [n_items - 1], [0, 1, n_items - 2])
    ]
    data = Transactions(Sets.from_lists(rows), np.ones(len(rows), np.int64), Items(tuple(map(str, whole))))
    # The closed family: intersections of rows; all rows but the last four are whole.
    closed = {frozenset(whole).intersection(*some) for size in range(5) for some in itertools.combinations(rows[20:], size)}
    chosen = [sorted(one) for one in closed if sum(one <= set(row) for row in rows) >= 20]
    counts = np.array([sum(set(one) <= set(row) for row in rows) for one in chosen])
    header = Header(n=len(rows), min_support=20, complete=True)
    release = Itemsets(Sets.from_lists(chosen), counts, counts, data.items, header, "closed")
    found = run(Target(release, Policy(k=3), data=data.merged()))
    assert sorted(found.columns["count"].tolist()) == [1, 1, 2]
    absent = {finding.event.to_dict()["absent"][-1] for finding in map(found.show, range(3)) if finding} if found.show else set()
    assert str(n_items - 1) in absent
