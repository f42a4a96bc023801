"""Negative rules against brute force: every antecedent, every value, counted row by row."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.mining import negative
from tacit.model.table import Hierarchy

TREE = Hierarchy("a", {"1": ("low", "any"), "2": ("low", "any"), "3": ("high", "any"), "4": ("4+",)})
FLAT = Hierarchy("b", {"x": ("xy",), "y": ("xy",), "z": ()})


def drawn(seed: int) -> tuple[list[tuple[str, str, str, str]], dict[str, Hierarchy] | None]:
    chance = random.Random(seed)
    rows = []
    for _ in range(chance.randint(1, 60)):
        a, b, c = chance.choice("1234"), chance.choice("xyz"), chance.choice("pq")
        value = chance.choice("stu" if a != "1" else "st")
        rows.append((a, b, c, value))
    return rows, {"a": TREE, "b": FLAT} if seed % 3 else None


def table(rows: list[tuple[str, str, str, str]]) -> tacit.Table:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("a", "b", "c", "v"))}
    return tacit.read_table(columns, qi=["a", "b", "c"], sa="v")


def nodes_of(column: str, value: str, trees: dict[str, Hierarchy] | None) -> list[str]:
    tree = (trees or {}).get(column)
    return [value, *(tree.levels[value] if tree else ())]


def one_by_one(
    rows: list[tuple[str, str, str, str]], trees: dict[str, Hierarchy] | None, bar: float, length: int
) -> dict[tuple[tuple[str | None, ...], str], tuple[int, bool]]:
    """All rules: nodes by column and the excluded value, to the number of people and whether the rule is minimal."""
    covered = [[[None, *nodes_of(name, row[i], trees)] for i, name in enumerate("abc")] for row in rows]
    antecedents = sorted({x for lists in covered for x in itertools.product(*lists) if any(x)}, key=str)
    people = {
        x: [row for row, lists in zip(rows, covered, strict=True) if all(n in at for n, at in zip(x, lists, strict=True))]
        for x in antecedents
    }
    found = {}
    for x, of_value in itertools.product(antecedents, sorted({row[3] for row in rows})):
        share = sum(row[3] == of_value for row in rows) / len(rows)
        enough = share >= 1 or len(people[x]) >= math.log1p(-bar) / math.log1p(-share)
        if sum(n is not None for n in x) <= length and enough and all(row[3] != of_value for row in people[x]):
            found[x, of_value] = len(people[x])
    return {
        (x, value): (count, not any(more_general(y, x, trees) for y, other in found if other == value))
        for (x, value), count in found.items()
    }


def more_general(y: tuple[str | None, ...], x: tuple[str | None, ...], trees: dict[str, Hierarchy] | None) -> bool:
    """Whether y asks less than x, without being x."""
    above = []
    for column, low, high in zip("abc", x, y, strict=True):
        tree = (trees or {}).get(column)
        chains = [(value, *chain) for value, chain in tree.levels.items()] if tree else []
        up = {n for chain in chains if low in chain for n in chain[chain.index(low) :]} if low is not None else set()
        above.append(high is None or high == low or high in up)
    return all(above) and y != x


@pytest.mark.parametrize("seed", range(60))
def test_rules_are_those_of_brute_force(seed: int) -> None:
    rows, trees = drawn(seed)
    bar, length = random.Random(seed).choice([0.2, 0.5, 0.75, 0.9]), random.Random(-seed).choice([1, 2, 3])
    rules = tacit.mine_negative_rules(table(rows), min_expectation=bar, hierarchies=trees, max_length=length)
    found: dict[Any, Any] = {}
    for index, record in enumerate(rules.records()):
        x = tuple(record["nodes"].get(name) for name in "abc")
        assert (x, record["excluded"]) not in found
        found[x, record["excluded"]] = (record["count"], bool(rules.minimal[index]))
        members = {node.column: node.members for node in rules.antecedent(index)}
        here = [row for row in rows if all(row["abc".index(column)] in members[column] for column in members)]
        assert len(here) == record["count"]
    assert found == one_by_one(rows, trees, bar, length)


@pytest.mark.parametrize("seed", range(30))
def test_nobody_is_excluded_from_the_own_value(seed: int) -> None:
    rows, trees = drawn(seed)
    rules = tacit.mine_negative_rules(table(rows), min_expectation=0.3, hierarchies=trees)
    excluded = []
    for row in rows:
        mine = {
            record["excluded"]
            for record in rules.records()
            if all(row["abc".index(column)] in values for column, values in record["antecedent"].items())
        }
        assert row[3] not in mine
        excluded.append(len(mine))
    wanted = [excluded.count(number) for number in range(len(rules.excluded_values))]
    assert rules.excluded_values.tolist() == wanted


def test_a_correction_for_many_tests_asks_for_more() -> None:
    rows = [row for seed in range(1, 5) for row in drawn(seed)[0]]
    loose = tacit.mine_negative_rules(table(rows), min_expectation=0.5)
    strict = tacit.mine_negative_rules(table(rows), min_expectation=0.5, significance=0.05)
    assert strict.min_expectation == 1 - 0.05 / (loose.itemsets * 3)
    assert 0 < len(strict) < len(loose)


def test_shuffled_values_tell_what_chance_gives() -> None:
    rows = [row for seed in range(1, 10) for row in drawn(seed)[0]]
    rules = tacit.mine_negative_rules(table(rows), min_expectation=0.5, permutations=3, seed=4)
    again = tacit.mine_negative_rules(table(rows), min_expectation=0.5, permutations=3, seed=4)
    assert rules.by_chance is not None
    assert rules.by_chance == again.by_chance
    every, minimal = rules.by_chance
    assert every is not None
    assert minimal <= every < len(rules)


@pytest.mark.parametrize("most", [0, 5000])
def test_what_chance_gives_is_what_shuffled_tables_give(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sorted(row for seed in range(1, 10) for row in drawn(seed)[0])
    asked: dict[str, Any] = {"min_expectation": 0.5, "hierarchies": {"a": TREE, "b": FLAT}}
    chance = np.random.default_rng(7)
    values = np.array([row[3] for row in rows])
    shuffled = [[(*row[:3], str(v)) for row, v in zip(rows, chance.permutation(values), strict=True)] for _ in range(3)]
    found = [tacit.mine_negative_rules(table(one), **asked) for one in shuffled]
    monkeypatch.setattr(negative, "MOST_CHOICES", most)
    told = tacit.mine_negative_rules(table(rows), **asked, permutations=3, seed=7).by_chance
    assert told is not None
    assert told[1] == pytest.approx(sum(rules.minimal_rules for rules in found) / 3)
    assert told[0] == (pytest.approx(sum(map(len, found)) / 3) if most else None)


def test_extremes() -> None:
    one = tacit.read_table({"a": ["1"], "v": ["s"]}, qi="a", sa="v")
    assert len(tacit.mine_negative_rules(one, min_expectation=0.9)) == 0
    assert len(tacit.mine_negative_rules(one, min_expectation=0, permutations=1)) == 0
    for wrong, message in ((1, "below 1"), (2, "share")):
        with pytest.raises(tacit.OptionError, match=message):
            tacit.mine_negative_rules(one, min_expectation=wrong)
    with pytest.raises(tacit.OptionError, match="at least 1"):
        tacit.mine_negative_rules(one, min_expectation=0.5, max_length=0)
