"""Fuzzy columns and rules with exceptions against brute force: every antecedent, every value, every person by degree."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.files.knowledge import read_knowledge
from tacit.mining.negative_search import _look_up
from tacit.model.knowledge import Exclusions
from tacit.model.negative import NegativeRules
from tacit.model.table import Hierarchy
from tests.examples import examples

#: 16 is in the tree and in no table: coarser values are as wide as the tree says.
LEVELS: dict[str, tuple[str, ...]] = {str(age): ("young" if age < 17 else "old",) for age in range(14, 21)}
AGES = Hierarchy("age", LEVELS | {"30": ("thirty",)})
Row = tuple[str, str, str]


def drawn(seed: int) -> list[Row]:
    chance = random.Random(seed)
    rows = []
    for _ in range(chance.randint(1, 70)):
        age = chance.choice(["14", "15", "17", "18", "20", "30"])
        rows.append((age, chance.choice("FM"), chance.choice("stu" if age != "15" else "ss" + "t" * (seed % 3 == 0))))
    return rows


def table(rows: list[Row]) -> tacit.Table:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("age", "sex", "v"))}
    return tacit.read_table(columns, qi=["age", "sex"], sa="v")


def degree(node: str | None, age: str, spread: int | None, trees: bool) -> Fraction:
    """How far an age belongs to a node, by looking at every age of it."""
    if node is None:
        return Fraction(1)
    members = [value for value, chain in AGES.levels.items() if node == value or (trees and node in chain)]
    if spread is None:
        return Fraction(age in members)
    return max(max(Fraction(0), 1 - Fraction(abs(int(age) - int(value)), spread + 1)) for value in members)


def one_by_one(rows: list[Row], spread: int | None, trees: bool, bar: float, confidence: Fraction) -> dict[Any, Any]:
    """All rules, by nodes and excluded value: people by degree, people who belong fully, how many of these have the value, minimal or not."""
    ages = sorted({row[0] for row in rows})
    nodes = [None, *ages, *(sorted({AGES.levels[age][0] for age in ages}) if trees else [])]
    found = {}
    for age, sex in itertools.product(nodes, [None, *sorted({row[1] for row in rows})]):
        if age is None and sex is None:
            continue
        degrees = [degree(age, row[0], spread, trees) * (sex in (None, row[1])) for row in rows]
        for value in sorted({row[2] for row in rows}):
            share = sum(row[2] == value for row in rows) / len(rows)
            support = sum(degrees)
            having = sum((part for part, row in zip(degrees, rows, strict=True) if row[2] == value), Fraction(0))
            enough = support > 0 and (share >= 1 or float(support) >= math.log1p(-bar) / math.log1p(-share) - 1e-9)
            if enough and having <= (1 - confidence) * support:
                full = [row for part, row in zip(degrees, rows, strict=True) if part == 1]
                found[age, sex, value] = (support, len(full), sum(row[2] == value for row in full), having)
    out = {}
    for (age, sex, value), (people, covered, against, having) in found.items():
        above = [None] if age is None else [None, age, *(AGES.levels[age] if trees and age in AGES.levels else ())]
        general = [(a, s, value) for a in above for s in {None, sex} if (a, s) != (age, sex)]
        implied = any(rule in found and found[rule][3] == 0 for rule in general)
        out[age, sex, value] = (round(float(people), 9), covered, against, not (implied and having == 0))
    return out


def as_found(rules: NegativeRules) -> dict[Any, Any]:
    found = {}
    for index, record in enumerate(rules.records()):
        key = (record["nodes"].get("age"), record["nodes"].get("sex"), record["excluded"])
        numbers = (round(float(rules.support[index]), 9), record["count"], int(rules.against[index]), record["minimal"])
        assert key not in found
        found[key] = numbers
    return found


@pytest.mark.parametrize("seed", range(150))
def test_rules_are_those_of_brute_force(seed: int) -> None:
    rows, chance = drawn(seed), random.Random(-seed)
    spread, trees = chance.choice([None, 1, 2, 4]), chance.random() < 0.6
    bar, confidence = chance.choice([0.2, 0.5, 0.75, 0.9]), chance.choice(["1", "1", "0.9", "0.75", "2/3", "0.5"])
    asked = Fraction(confidence)
    fuzzy = None if spread is None else {"age": spread}
    rules = tacit.mine_negative_rules(
        table(rows), min_expectation=bar, min_confidence=asked, fuzzy=fuzzy, hierarchies={"age": AGES} if trees else None
    )
    assert as_found(rules) == one_by_one(rows, spread, trees, bar, asked)


@pytest.mark.parametrize("seed", range(40))
def test_nobody_is_excluded_from_the_own_value_by_fuzzy_rules(seed: int) -> None:
    rows = drawn(seed)
    people = table(rows)
    rules = tacit.mine_negative_rules(people, min_expectation=0.2, fuzzy={"age": 1 + seed % 3}, hierarchies={"age": AGES})
    known = Exclusions.of(read_knowledge(rules), people, people.sa.values)
    excluded = known.patterns[known.kind]
    assert not excluded[range(len(rows)), people.sa.codes].any()
    assert rules.own_excluded == 0
    assert rules.excluded_values.tolist() == [int((excluded.sum(axis=1) == j).sum()) for j in range(len(rules.excluded_values))]


@given(st.integers(0, 10_000), st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)]), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_what_a_rule_with_exceptions_says_is_true_and_no_weaker_than_it_must_be(
    seed: int, confidence: Fraction, fuzzy: bool
) -> None:
    rows = drawn(seed)
    people = table(rows)
    rules = tacit.mine_negative_rules(people, min_expectation=0.5, min_confidence=confidence, fuzzy={"age": 2} if fuzzy else None)
    own = [False] * len(rows)
    for fact in read_knowledge(rules):
        here = [i for i, row in enumerate(rows) if all(row[["age", "sex"].index(c)] in fact.allowed[c] for c in fact.allowed)]
        having = [i for i in here if rows[i][2] == fact.value]
        assert fact.bounds(len(here)) == (0, len(having))
        assert fact.excludes == (not having)
        for i in having:
            own[i] = True
    assert rules.own_excluded == sum(own)


def test_a_column_in_tenths_has_a_step_of_a_tenth() -> None:
    rows = {"size": ["1.0"] * 10 + ["1.1"] * 10 + ["1.5"] * 10 + ["9"] * 30, "v": ["s"] * 20 + ["t"] * 40}
    people = tacit.read_table(rows, qi="size", sa="v")
    rules = tacit.mine_negative_rules(people, min_expectation=0.5, fuzzy={"size": "0.1"})
    support = {next(iter(r["nodes"].values())): s for r, s in zip(rules.records(), rules.support.tolist(), strict=True)}
    assert support == {"1.0": 15, "1.1": 15, "1.5": 10, "9": 30}


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30), st.lists(st.integers(0, 2**64 - 1), max_size=40), st.booleans()
)
def test_marks_are_looked_up_whether_or_not_they_begin_alike(wanted: list[int], others: list[int], alike: bool) -> None:
    if alike:
        wanted = [number & 0xFFFF for number in wanted]
    known = np.unique(np.array(wanted, np.uint64))
    marks = np.array([*others, *wanted, *others[:3]], np.uint64)
    rows, at = _look_up(marks, known)
    assert list(zip(rows.tolist(), at.tolist(), strict=True)) == [
        (row, known.tolist().index(mark)) for row, mark in enumerate(marks.tolist()) if mark in known.tolist()
    ]
