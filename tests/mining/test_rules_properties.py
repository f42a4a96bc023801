"""Mined rules, and itemsets with hierarchies, are those of brute force, at ties as well."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.mining import search
from tacit.mining.database import Rows
from tacit.mining.itemsets import count_itemsets, mine_itemsets
from tacit.mining.rules import least_ratio, mine_rules
from tacit.model.release import ONLY, Rules
from tacit.model.table import Hierarchy, Schema, Table
from tests.mining import naive_mining

Levels = dict[str, dict[str, tuple[str, ...]]]


def random_people(rng: random.Random, n_classes: int) -> tuple[list[dict[str, str]], list[str]]:
    """A few QI columns, sometimes a constant one, and an SA value that depends on the first column."""
    columns = [f"c{i}" for i in range(rng.randint(1, 4))]
    sizes = {column: rng.choice([1, 2, 3, 5]) for column in columns}
    people = [{column: f"v{rng.randrange(sizes[column])}" for column in columns} for _ in range(rng.choice([1, 4, 10, 25, 60]))]
    sensitive = [
        f"s{min(int(person['c0'][1:]), n_classes - 1) if rng.random() < 0.5 else rng.randrange(n_classes)}" for person in people
    ]
    return people, sensitive


def random_levels(rng: random.Random, people: list[dict[str, str]]) -> Levels:
    """Trees over some columns: two levels, nodes of one value, values without a node, nodes with the name of a value, the root."""
    levels: Levels = {}
    for column in people[0]:
        if rng.random() < 0.6:
            tree: dict[str, tuple[str, ...]] = {}
            upper = {"low": "any", "high": rng.choice(["any", "top"])}
            for value in range(5):
                node = rng.choice(["low", "high", f"only{value}", ""])
                chain = [node, upper.get(node, "")] if node else []
                tree[f"v{value}"] = tuple(name for name in chain if name) + rng.choice([("*",), ()])
            if rng.random() < 0.3:
                tree["v0"] = ("v0", *tree["v0"])
            levels[column] = tree
    return levels


def table(people: list[dict[str, str]], sensitive: list[str]) -> Table:
    names = [*people[0], "sa"]
    rows = [(*person.values(), value) for person, value in zip(people, sensitive, strict=True)]
    return Table.from_rows(names, rows, Schema(qi=tuple(people[0]), sa=("sa",)))


def trees(levels: Levels) -> dict[str, Hierarchy]:
    return {column: Hierarchy(column, tree) for column, tree in levels.items()}


def as_counts(found: Rules) -> dict[tuple[frozenset[tuple[str, str]], str], tuple[int, int]]:
    """Rules as brute force gives them."""
    assert found.items.pairs is not None
    pairs = found.items.pairs
    listed = {}
    for i in range(len(found)):
        column, value = pairs[int(found.consequents[i][0])]
        assert column == "sa"
        assert (found.lo[i], found.whole_lo[i]) == (found.hi[i], found.whole_hi[i])
        items = [pairs[item] for item in found.antecedents[i]]
        listed[frozenset(items), value] = (int(found.lo[i]), int(found.whole_lo[i]))
    assert len(listed) == len(found)
    return listed


def thresholds(rng: random.Random, n: int) -> tuple[Any, Fraction, Fraction]:
    """A support as an option and as a number of people, and a confidence; often exactly at a tie."""
    if rng.random() < 0.5:
        count = rng.randint(1, max(1, n // 2))
        return count, Fraction(count), Fraction(rng.randint(0, 5), 5)
    share = Fraction(rng.randint(1, 10), 10)
    return str(float(share)), share * n, Fraction(rng.choice(["0", "0.5", "0.6", "0.75", "1", "0.333333333333333", "0.66"]))


@pytest.mark.parametrize("n_classes", [1, 2, 3, 6])
def test_rules_are_those_of_brute_force(n_classes: int) -> None:
    rng = random.Random(n_classes)
    ties = 0
    for _ in range(150):
        people, sensitive = random_people(rng, n_classes)
        levels = random_levels(rng, people) if rng.random() < 0.5 else {}
        option, support, confidence = thresholds(rng, len(people))
        strict = rng.random() < 0.4
        found = mine_rules(
            table(people, sensitive), min_support=option, min_confidence=confidence, strict=strict, hierarchies=trees(levels)
        )
        expected = naive_mining.rules(people, sensitive, levels, support, confidence, strict=strict)
        assert as_counts(found) == expected
        ties += sum(part == confidence * whole or part == support for part, whole in expected.values())
    assert ties > 20  # the cases that a rounded comparison would get wrong do occur


@pytest.mark.parametrize("dense", [True, False])
def test_class_counts_from_masks_and_from_lists(dense: bool) -> None:
    rng = random.Random(f"classes {dense}")
    for _ in range(150):
        n_items, n_classes, n_rows = rng.randint(1, 7), rng.randint(2, 5), rng.choice([1, 5, 40, 200])
        rows = [[item for item in range(n_items) if rng.random() < 0.6] for _ in range(n_rows)]
        weights = [rng.choice([1, 1, 2, 7]) for _ in rows]
        classes = [rng.randrange(n_classes) for _ in rows]
        least, confidence = rng.randint(1, 6), Fraction(rng.randint(0, 4), 4)
        part, whole = least_ratio(confidence, sum(weights), strict=False)
        from tacit.model.release import Sets

        what = Rows(Sets.from_lists(rows), np.array(weights), n_items, None, np.array(classes, np.int32), n_classes)
        database, mined, _ = search.mine(
            what, least, search.Wanted("all", part=part, whole=whole), search.Limits(threads=1), dense=dense
        )
        starts = mined.offsets.tolist()
        found = [
            (
                tuple(database.kept[mined.members[starts[i] : starts[i + 1]]].tolist()),
                int(mined.classes[i]),
                int(mined.counts[i]),
                int(mined.wholes[i]),
            )
            for i in range(len(mined.counts))
        ]
        wholes = naive_mining.frequent(rows, 1, weights)
        expected = []
        for number in range(n_classes):
            own = [i for i in range(n_rows) if classes[i] == number]
            parts = naive_mining.frequent([rows[i] for i in own], least, [weights[i] for i in own])
            expected += [
                (tuple(sorted(items)), number, count, wholes[items])
                for items, count in parts.items()
                if count >= confidence * wholes[items]
            ]
        assert found == sorted(expected)


@pytest.mark.parametrize("only", ONLY)
def test_itemsets_with_hierarchies_are_those_of_brute_force(only: Any) -> None:
    rng = random.Random(f"family {only}")
    for _ in range(200):
        people, sensitive = random_people(rng, 2)
        levels = random_levels(rng, people)
        least = rng.randint(1, max(1, len(people) // 2))
        data = table(people, sensitive)
        full = [{**person, "sa": value} for person, value in zip(people, sensitive, strict=True)]
        found = mine_itemsets(data, min_support=least, only=only, hierarchies=trees(levels))
        expected = naive_mining.chosen(naive_mining.generalised(full, levels, least), only)
        assert found.items.pairs is not None
        listed = {frozenset(found.items.pairs[item] for item in found.sets[i]): int(found.lo[i]) for i in range(len(found))}
        assert listed == expected
        assert len(listed) == len(found) == count_itemsets(data, min_support=least, only=[only], hierarchies=trees(levels))[only]
        order = [tuple(found.sets[i].tolist()) for i in range(len(found))]
        assert order == sorted(order)


def test_the_least_ratio_decides_like_the_bar() -> None:
    rng = random.Random(0)
    for _ in range(400):
        n = rng.randint(1, 12)
        bar = Fraction(rng.randint(0, 30), rng.randint(30, 60)) if rng.random() < 0.7 else Fraction(rng.randint(0, 4), 4)
        for strict in (False, True):
            part, whole = least_ratio(bar, n, strict=strict)
            assert 1 <= whole <= n
            for of in range(1, n + 1):
                for count in range(of + 1):
                    reaches = count > bar * of if strict else count >= bar * of
                    assert (count * whole >= part * of) == reaches
