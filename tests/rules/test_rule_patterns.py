"""R01 on exact counts against its slow twin: every shortest pattern of fewer than k people, and every rule with fewer than k exceptions."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from tacit.model.audit import Target
from tacit.model.finding import ItemEvent
from tacit.model.policy import Policy
from tacit.model.release import Header, Items, Rules, Sets
from tacit.rules import rule_exceptions
from tests.itemsets.naive_channels import Row, subsets
from tests.rules.naive_rules import Form, Rule, reaching, rules_between

Groups = dict[ItemEvent, int]


def small_database(seed: int) -> tuple[list[Row], Form, int]:
    chance = random.Random(seed)
    letters = "abcde"[: chance.randint(2, 5)]
    weight = {x: chance.choice([0.4, 0.7, 0.9, 1.0]) for x in letters}
    rows = [frozenset(x for x in letters if chance.random() < weight[x]) for _ in range(chance.choice([12, 25, 40]))]
    return rows, Form(chance.randint(1, 8), Fraction(chance.choice([0, 50, 80, 90]), 100)), chance.randint(2, 9)


def release_of(rules: list[tuple[Rule, int, int]], n: int | None) -> Rules:
    names = tuple("abcde")
    sides = [Sets.from_lists([[names.index(x) for x in rule[side]] for rule, _, _ in rules]) for side in (0, 1)]
    both, whole = (np.array([entry[place] for entry in rules], np.int64) for place in (1, 2))
    return Rules(sides[0], sides[1], both, both, whole, whole, Items(names), Header(n=n))


def twin(rules: list[tuple[Rule, int, int]], n: int | None, k: int) -> Groups:
    """Straight from the definition: all patterns between known sets, those without a shorter small one; and all rules."""
    known: dict[Row, int] = {} if n is None else {frozenset(): n}
    for (has, then), both, whole in rules:
        known |= {has: whole, has | then: both}
    small = {}
    for every in known:
        for has in subsets(every):
            between = [has | more for more in subsets(every - has)]
            if all(one in known for one in between) and 0 < (f := sum((-1) ** len(x - has) * known[x] for x in between)) < k:
                small[has, every - has] = f
    found = {ItemEvent(tuple(i), tuple(d)): f for (i, d), f in small.items() if (i or d) and not _shorter(i, d, small)}
    for (has, then), both, whole in rules:
        if 0 < whole - both < k:
            event = ItemEvent(tuple(has), tuple(then)) if len(then) == 1 else ItemEvent(tuple(has), not_all=tuple(then))
            found[event] = whole - both
    return found


def _shorter(has: Row, lacks: Row, small: Mapping[tuple[Row, Row], int]) -> bool:
    return any((has - {x}, lacks) in small for x in has if has != {x} or lacks) or any(
        (has, lacks - {x}) in small for x in lacks if has or len(lacks) > 1
    )


@pytest.mark.parametrize("with_n", [True, False])
@pytest.mark.parametrize("seed", range(150))
def test_findings_equal_the_twin(seed: int, with_n: bool) -> None:
    rows, form, k = small_database(seed)
    n = len(rows) if with_n else None
    rules = reaching(rows, rules_between("abcde"), form)
    if not rules:
        return
    run = rule_exceptions.run(Target(release_of(rules, n), Policy(k=k)))
    assert (run.status, run.undecided) == ("ran", 0)
    assert run.event is not None
    found: Groups = {}
    for index in range(run.findings):
        event = run.event(index)
        assert isinstance(event, ItemEvent)
        assert event not in found
        found[event] = int(run.columns["count"][index])
        assert sum(event.holds(row) for row in rows) == found[event] == run.columns["count_hi"][index]
    assert found == twin(rules, n, k)


def test_twin_finds_longer_patterns_often_enough() -> None:
    longer = 0
    for seed in range(150):
        rows, form, k = small_database(seed)
        found = twin(reaching(rows, rules_between("abcde"), form), len(rows), k)
        longer += any(len(event.absent) > 1 for event in found)
    assert longer >= 20


@pytest.mark.parametrize("most", [0, 1, 2, 5, 10, 20])
@pytest.mark.parametrize("seed", range(40))
def test_what_was_not_looked_at_is_counted(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With little room the search may miss patterns, never without saying so, and what it finds stays true."""
    rows, form, k = small_database(seed)
    rules = reaching(rows, rules_between("abcde"), form)
    if not rules:
        return
    monkeypatch.setattr(rule_exceptions, "MOST_PATTERNS", most)
    run = rule_exceptions.run(Target(release_of(rules, len(rows)), Policy(k=k)))
    assert run.event is not None
    found = {run.event(index) for index in range(run.findings)}
    expected = set(twin(rules, len(rows), k))
    assert found <= expected
    assert found == expected or run.undecided > 0
