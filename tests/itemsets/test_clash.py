"""Releases that no database fits: the lines that are named clash, none can be spared, and no shorter sum is negative."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tacit.itemsets import inference_channels, unpublished_itemsets
from tacit.itemsets.clash import MOST_ITEMS, Statement, clash, smallest_clash
from tacit.model.audit import Target
from tacit.model.errors import Contradiction
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Itemsets, Only, Sets
from tests.itemsets.naive_channels import Interval, Row, frequent
from tests.itemsets.naive_channels import closed as closed_sets
from tests.itemsets.naive_clash import fits, negative_sums

Supports = dict[frozenset[str], Interval]


def drawn_rows(chance: random.Random, letters: str) -> list[Row]:
    weight = {x: chance.choice([0.4, 0.7, 0.9]) for x in letters}
    return [frozenset(x for x in letters if chance.random() < weight[x]) for _ in range(chance.choice([6, 20, 60]))]


def damaged(seed: int, *, gaps: bool = False, slack: int = 0) -> tuple[Supports, int, int]:
    """Supports of a small database of which one or two are off by a few people, its n, and the threshold."""
    chance = random.Random(seed)
    rows = drawn_rows(chance, "abcd"[: chance.choice([3, 4])])
    sigma = max(1, len(rows) // chance.choice([4, 8, 60]))
    counts = {items: count for items, count in frequent(rows, sigma).items() if not gaps or chance.random() < 0.85}
    for items in chance.sample(sorted(counts, key=sorted), min(len(counts), chance.choice([1, 1, 2]))):
        counts[items] = min(len(rows), max(sigma, counts[items] + chance.choice([-6, -3, -2, -1, 1, 2, 3, 6])))
    supports = {items: (max(0, count - slack), min(len(rows), count + slack)) for items, count in counts.items()}
    return supports, len(rows), sigma


def release_of(supports: Supports, n: int | None, sigma: int | None, only: Only = "all", complete: bool = False) -> Itemsets:
    names = tuple("abcdefgh")
    sets = Sets.from_lists([names.index(item) for item in items] for items in supports)
    ends = np.array(list(supports.values()), np.int64).reshape(-1, 2)
    return Itemsets(sets, ends[:, 0], ends[:, 1], Items(names), Header(n=n, min_support=sigma, complete=complete), only)


def lines_named(release: Itemsets, attack: object = inference_channels) -> tuple[int, ...] | None:
    """The lines that the refusal names, or None when there is none."""
    try:
        attack.run(Target(release, Policy(k=3)))  # type: ignore[attr-defined]
    except Contradiction as error:
        refused = error
    else:
        return None
    assert refused.lines
    assert all(str(line) in refused.where for line in refused.lines[:8])
    assert not set("bcdefgh") & set(refused.what.split())
    return refused.lines


@pytest.mark.parametrize("slack", [0, 1])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("with_n", [True, False])
def test_named_lines_are_the_fewest_that_clash(slack: int, gaps: bool, with_n: bool) -> None:
    refusals, sizes = 0, set()
    for seed in range(60):
        supports, n, _ = damaged(seed, gaps=gaps, slack=slack)
        everything = supports | ({frozenset[str](): (n, n)} if with_n else {})
        negative = negative_sums(everything)
        lines = lines_named(release_of(supports, n if with_n else None, None))
        assert (lines is None) == (not negative)
        if lines is None:
            continue
        refusals += 1
        listed = list(supports)
        named = {listed[line - 2]: supports[listed[line - 2]] for line in lines}
        # The number of people is no line, but it is known.
        around = {items: everything[items] for items in everything if not items}
        assert not fits(named | around)
        for items in named:
            assert fits({other: ends for other, ends in named.items() if other != items} | around)
        shortest = min(map(len, negative))
        sizes.add(len(lines))
        assert len(lines) <= shortest - (not any(all(items) for items in negative if len(items) == shortest))
    assert refusals >= 10
    assert len(sizes) >= 2


@pytest.mark.parametrize("seed", range(100))
def test_exact_test_agrees_with_another_program(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.choice([1, 2, 3, 4])
    rows = [chance.getrandbits(size) | (chance.getrandbits(size) if chance.random() < 0.5 else 0) for _ in range(30)]
    slack = chance.choice([0, 0, 1])
    statements = []
    for mask in range(1 << size):
        count = max(0, sum(row & mask == mask for row in rows) + chance.choice([0] * 9 + [1, -1, 4, -4]))
        if chance.random() < 0.85:
            statements.append(Statement(mask, max(0, count - slack), count + slack, mask + 2 if mask else -1))

    def others_fit(without: int | None = None) -> bool:
        kept = [statement for statement in statements if statement.line != without]
        letters = {statement.mask: frozenset("abcd"[j] for j in range(size) if statement.mask >> j & 1) for statement in kept}
        return fits({letters[statement.mask]: (statement.lo, statement.hi) for statement in kept})

    found = smallest_clash(statements, size)
    assert (found is None) == others_fit() == (clash(statements, size) is None)
    if found is not None:
        assert found.holds(size)
        statements = list(found.statements)
        assert all(others_fit(line) for line in found.lines)


def test_the_exact_test_is_quick_enough_on_its_largest_table() -> None:
    """A table of all combinations of five items, where one group lacks one person."""
    groups = [3] * (1 << MOST_ITEMS)
    groups[0] = -1
    counts = [sum(groups[row] for row in range(len(groups)) if row & mask == mask) for mask in range(len(groups))]
    found = smallest_clash([Statement(mask, count, count, mask) for mask, count in enumerate(counts)], MOST_ITEMS)
    assert found is not None
    assert found.holds(MOST_ITEMS)
    assert found.total == -1
    assert len(found.lines) == len(groups)


@pytest.mark.parametrize("only", ["all", "closed"])
def test_lists_that_cannot_be_complete(only: Only) -> None:
    """Removing lines from a complete list: a refusal is right only when no database publishes what is left."""
    refusals = 0
    for seed in range(70):
        chance = random.Random(seed)
        rows = drawn_rows(chance, "abcd")
        sigma = max(1, len(rows) * chance.choice([3, 5, 6]) // 10)
        counts = frequent(rows, sigma)
        # A maximal set goes: what is left is still closed under subsets.
        largest = sorted((items for items in counts if not any(items < other for other in counts)), key=sorted)
        gone = chance.choice(largest) if largest else None
        left = {items: count for items, count in counts.items() if items != gone}
        chosen = left if only == "all" else closed_sets(left)
        release = release_of({items: (count, count) for items, count in chosen.items()}, len(rows), sigma, only, complete=True)
        lines = lines_named(release, unpublished_itemsets)
        if lines is None or not left:
            continue
        refusals += 1
        missing = {items: (0, sigma - 1) for items in frequent([frozenset().union(*left)], 1) if items not in left}
        known = {items: (count, count) for items, count in left.items()} | {frozenset[str](): (len(rows), len(rows))}
        assert not fits(known | missing)
        if only == "all":
            listed = list(chosen)
            named = {listed[line - 2]: known[listed[line - 2]] for line in lines} | {frozenset[str](): (len(rows), len(rows))}
            assert not fits(named | missing)
            assert all(fits({x: ends for x, ends in (named | missing).items() if x != items}) for items in named if items)
    assert refusals >= 10
