"""All channels rebuilt from the maximal ones (Theorem 18), against the definition."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import pytest

import tacit
from tacit.model.errors import OptionError
from tacit.model.release import Only
from tests.itemsets.made_releases import released
from tests.itemsets.naive_channels import Channel, Row, all_channels, rows_of

PMICD = rows_of("a b c d/b c e f/a b c/c d e f/b e f/a c d/b c d f/a b c d e f/b c d e f/a b c d e")
ATZORI = rows_of(
    "a b c d e f g h/a b c d e g/a b c d e/a b c d e f g/a b c d e/a b c d e/a b d e/a e f g/c d e f g/c d e/c d e f g h/a b f g"
)


def rebuilt(rows: list[Row], sigma: int, k: int, only: Only) -> set[Channel]:
    listed = [
        (frozenset(c.present), frozenset(c.absent), c.people)
        for c in tacit.all_channels(released(rows, sigma, only), policy=tacit.Policy(k=k))
    ]
    assert len(set(listed)) == len(listed)
    return set(listed)


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize(("rows", "sigma", "many"), [(PMICD, 4, 53), (ATZORI, 6, 58)], ids=["pmicd", "atzori"])
def test_the_papers_examples_have_as_many_channels_as_they_say(rows: list[Row], sigma: int, many: int, only: Only) -> None:
    assert len(rebuilt(rows, sigma, 3, only)) == many


@pytest.mark.parametrize("only", ["all", "closed"])
@pytest.mark.parametrize("seed", range(60))
def test_channels_equal_the_definition(seed: int, only: Only) -> None:
    chance = random.Random(seed)
    letters = "abcdef"[: chance.randint(1, 6)]
    weight = {x: chance.choice([0.3, 0.6, 0.9, 1.0]) for x in letters}
    rows = [frozenset(x for x in letters if chance.random() < weight[x]) for _ in range(chance.choice([1, 3, 10, 25]))]
    rows.append(frozenset(letters))
    sigma, k = chance.randint(1, 8), chance.randint(1, 9)
    if any(sum(x in row for row in rows) >= sigma for x in letters):
        assert rebuilt(rows, sigma, k, only) == all_channels(rows, sigma, k)


@pytest.mark.parametrize("only", ["all", "closed"])
def test_without_n_groups_with_none_of_the_items_are_left_out(only: Only) -> None:
    release = released(PMICD, 4, only)
    unknown = replace(release, header=replace(release.header, n=None))
    found = {(frozenset(c.present), frozenset(c.absent), c.people) for c in tacit.all_channels(unknown, policy=tacit.Policy(k=3))}
    assert found == {channel for channel in all_channels(PMICD, 4, 3) if channel[0]}


def test_channels_come_one_by_one() -> None:
    """Of 2**20 and more channels the first are there at once."""
    names = [f"i{number:02}" for number in range(20)]
    rows = [names] * 30 + [names[1:]]
    release = tacit.mine_itemsets(rows, min_support=30, only="closed")
    assert len(list(islice(tacit.all_channels(release), 3))) == 3


def test_what_has_no_exact_supports_is_refused() -> None:
    release = released(PMICD, 4, "all")
    with pytest.raises(OptionError, match="without gaps"):
        tacit.all_channels(replace(release, only="maximal"))
    with pytest.raises(OptionError, match="without gaps"):
        tacit.all_channels(replace(release, hi=release.hi + 1))
