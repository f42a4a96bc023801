"""merge-channels against the definition of merged channels, and against additive."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tacit
from tacit.model.arrays import Words
from tacit.repairs.merge_channels import merge_channels
from tests.examples import examples
from tests.itemsets.naive_channels import Row, frequent, maximal, maximal_channels, rows_of, subsets, support

ITEMS = "abcdef"
#: The running example of Atzori and others: channels abde, ae and ab on abcde, g on fg, g on eg (Figure 1e).
ATZORI = rows_of(
    "a b c d e f g h/a b c d e g/a b c d e/a b c d e f g/a b c d e/a b c d e/a b d e/a e f g/c d e f g/c d e/c d e f g h/a b f g"
)
#: 50 people have a, 45 a and b, 45 a and c, 40 all three; another 20 have nothing.
SHARED = rows_of("/".join(["a b c"] * 40 + ["a b"] * 5 + ["a c"] * 5 + ["x"] * 20))
Channel = tuple[frozenset[str], frozenset[str]]  #: Present and absent items.
Made = tuple[list[Channel], set[frozenset[str]]]  #: Channels, and the frequent itemsets.
databases = st.lists(st.sets(st.sampled_from(ITEMS)).map(frozenset), min_size=1, max_size=14)


def merge_naively(channels: list[Channel], listed: set[frozenset[str]]) -> list[frozenset[str]]:
    """The rule in words: longest first, into the channel where that adds least, if it adds no more than both apart."""
    made: list[Channel] = []
    for present, absent in sorted(channels, key=lambda one: -len(one[0])):
        costs = {}
        for place, (others, lacking) in enumerate(made):
            together = others | present
            grows = 2 ** len(together) - 2 ** len(others)
            if not together & (lacking | absent) and together in listed and grows <= 2 ** len(present):
                costs[place] = grows
        if costs:
            best = min(costs, key=lambda place: costs[place])
            made[best] = (made[best][0] | present, made[best][1] | absent)
        else:
            made.append((present, absent))
    return [present for present, _ in made]


def as_words(sets: list[frozenset[str]]) -> Words:
    """Sets as bits, over two words."""
    place = {item: 61 + number for number, item in enumerate("abcdefgh")}
    masks = [sum(1 << place[item] for item in one) for one in sets]
    return np.array([[mask & 2**64 - 1, mask >> 64] for mask in masks], np.uint64).reshape(-1, 2)


def cases(rows: list[Row], sigma: int, k: int) -> Made:
    """Maximal channels in some order, and the frequent itemsets with the empty one."""
    channels = [(present, absent) for present, absent, _ in maximal_channels(rows, sigma, k)]
    return sorted(channels, key=lambda one: (sorted(one[0]), sorted(one[1]))), {frozenset(), *frequent(rows, sigma)}


def repaired(rows: list[Row], sigma: int, k: int, method: str) -> tacit.Repair:
    data = tacit.read_transactions([sorted(row) for row in rows])
    release = tacit.mine_itemsets(data, min_support=sigma)
    return tacit.repair(release, method=method, data=data, policy=tacit.Policy(k=k), goal="frequent-only")


def supports(done: tacit.Repair) -> dict[frozenset[str], int]:
    return {frozenset(line["itemset"]): line["count"] for line in done.release.records()} | {frozenset(): done.release.n or 0}


def on(sets: str, channels: str) -> Made:
    """Channels on maximal sets such as abc:ab, and the frequent itemsets."""
    pairs = [(frozenset(part), frozenset(whole)) for whole, part in (one.split(":") for one in channels.split())]
    return [(part, whole - part) for part, whole in pairs], {part for whole in sets.split() for part in subsets(whole)}


@st.composite
def families(draw: st.DrawFn) -> Made:
    """Any channels on any maximal sets, whether a database has them or not."""
    sets = st.sets(st.sampled_from(ITEMS), min_size=1, max_size=4).map(frozenset)
    widest = list(maximal(dict.fromkeys(draw(st.lists(sets, min_size=2, max_size=6)), 0)))
    parts = [(whole, whole & part) for whole in widest for part in draw(st.lists(sets, max_size=5))]
    return on(" ".join(map("".join, widest)), " ".join(f"{''.join(whole)}:{''.join(part)}" for whole, part in parts))


@settings(max_examples=examples(400), deadline=None)
@given(families())
@example(cases(ATZORI, 6, 3))
@example(on("abc acd", "abc:ab acd:ac"))  # together they are frequent, but the first lacks an item of the second
@example(on("abce adf abcd", "abce:abc adf:ad"))  # together they would raise more supports than apart
@example(on("abc acd abd", "abc:ab acd:a abd:d"))
def test_channels_are_merged_by_the_rule(made: Made) -> None:
    channels, listed = made
    widest = list(maximal(dict.fromkeys(listed, 0)))
    merged = merge_channels(as_words([i for i, _ in channels]), as_words([a for _, a in channels]), as_words(widest))
    expected = merge_naively(channels, listed)
    assert merged.tolist() == as_words(expected).tolist()
    assert all(any(one & (present | absent) == present for one in expected) for present, absent in channels)
    assert set(expected) <= listed
    assert len(expected) <= len(channels)
    assert sum(2 ** len(one) for one in expected) <= sum(2 ** len(present) for present, _ in channels)


@settings(max_examples=examples(60), deadline=None)
@given(databases, st.integers(1, 6), st.integers(2, 6))
def test_two_channels_merge_exactly_if_one_row_can_join_both(rows: list[Row], sigma: int, k: int) -> None:
    """By the order of channels (Definition 14): a common upper bound exists exactly if neither excludes an item of the other."""
    channels, _ = cases(rows, sigma, k)
    for (i, a), (h, b) in combinations(channels, 2):
        bounds = any(row & (i | a) == i and row & (h | b) == h for row in subsets(ITEMS))
        assert bounds == (not (i | h) & (a | b))


@settings(max_examples=examples(40), deadline=None)
@given(databases, st.integers(1, 6), st.integers(2, 5))
def test_no_more_is_added_than_by_additive(rows: list[Row], sigma: int, k: int) -> None:
    true = {one: support(rows, one) for one in (frozenset[str](), *frequent(rows, sigma))}
    merged = repaired(rows, sigma, k, "merge-channels")
    apart = repaired(rows, sigma, k, "additive")
    assert merged.ok
    assert (merged.cost["itemsets_lost"], merged.cost["itemsets_ghost"]) == (0, 0)
    assert supports(merged).keys() == true.keys()
    assert all(supports(merged)[one] >= count for one, count in true.items())
    assert sum(supports(merged).values()) <= sum(supports(apart).values())
    assert (merged.release.n or 0) <= (apart.release.n or 0)
    assert ((merged.release.n or 0) - len(rows)) % k == 0


@pytest.mark.parametrize(
    ("rows", "sigma", "k", "apart", "merged"),
    [(ATZORI, 6, 3, 15, 12), (SHARED, 45, 10, 20, 10)],
    ids=["atzori", "one set of items on two maximal sets"],
)
def test_worked_examples(rows: list[Row], sigma: int, k: int, apart: int, merged: int) -> None:
    assert repaired(rows, sigma, k, "additive").cost["people_changed"] == apart
    done = repaired(rows, sigma, k, "merge-channels")
    assert done.cost["people_changed"] == merged
    assert done.before.attack("I01").findings == len(maximal_channels(rows, sigma, k))
    assert done.after.attack("I01").findings == 0
