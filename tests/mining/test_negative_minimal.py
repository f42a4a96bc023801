"""The search for minimal rules in many columns against the one that lists all rules."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tacit
from tacit.mining import negative, negative_search
from tacit.model.errors import LimitReached
from tacit.model.negative import NegativeRules
from tacit.model.table import Hierarchy

TREES = {
    "a": Hierarchy("a", {"1": ("low", "any"), "2": ("low", "any"), "3": ("high", "any"), "4": ("4+",)}),
    "b": Hierarchy("b", {"5": ("few", "all", "most"), "6": ("most",), "7": ()}),
}


def drawn(seed: int) -> tacit.Table:
    """A few columns, some with hierarchies, and values that are rare where others are."""
    chance = random.Random(seed)
    names = ["a", "b", "c", "d"][: chance.randint(1, 4)]
    rows = []
    for _ in range(chance.randint(1, 150)):
        row = {"a": chance.choice("1234"), "b": chance.choice("567"), "c": chance.choice("pq"), "d": chance.choice("xyz")}
        values = "stuvwxyz0"[: 2 + seed % 8]
        row["value"] = chance.choice(values[:2] if row["a"] == "1" else values)
        rows.append(row)
    return tacit.read_table({name: [row[name] for row in rows] for name in [*names, "value"]}, qi=names, sa="value")


def listed(rules: NegativeRules) -> set[Any]:
    return {
        (tuple(sorted(record["nodes"].items())), record["excluded"], record["count"], round(record["expectation"], 12))
        for record in rules.records()
        if record["minimal"]
    }


def both(people: tacit.Table, monkeypatch: pytest.MonkeyPatch, **asked: Any) -> tuple[NegativeRules, NegativeRules]:
    """The same question to the two searches."""
    every = tacit.mine_negative_rules(people, **asked)
    monkeypatch.setattr(negative, "MOST_CHOICES", 0)
    return every, tacit.mine_negative_rules(people, **asked)


@pytest.mark.parametrize("seed", range(120))
def test_minimal_rules_are_those_of_the_list_of_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    people = drawn(seed)
    chance = random.Random(-seed)
    asked: dict[str, Any] = {"min_expectation": chance.choice([0, 0.2, 0.5, 0.9]), "max_length": chance.choice([None, 1, 2, 3])}
    asked["hierarchies"] = {name: TREES[name] for name in people.schema.qi if name in TREES} if chance.random() < 0.7 else None
    asked["significance"] = chance.choice([None, None, 0.5])
    asked["fuzzy"] = {"a": chance.choice([1, 2])} if seed % 4 == 0 else None
    every, minimal = both(people, monkeypatch, **asked)
    assert listed(minimal) == listed(every)
    assert len(minimal) == minimal.minimal_rules == every.minimal_rules
    assert (minimal.all_rules, minimal.itemsets, minimal.itemsets_counted) == (len(every), every.itemsets, True)
    assert minimal.excluded_values.tolist() == every.excluded_values.tolist()
    assert minimal.min_expectation == every.min_expectation


def test_what_a_rule_decides_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    search = negative_search.minimal_rules

    def counting(*given: Any) -> Any:
        found, number = search(*given)
        looked.append(number)
        return found, number

    monkeypatch.setattr(negative, "minimal_rules", counting)
    sexes, cities = ["F", "M"] * 60, [city for city in "abcdef" for _ in range(20)]
    ill = ["flu" if sex == "M" else "cancer" for sex in sexes]
    people = tacit.read_table({"sex": sexes, "city": cities, "ill": ill}, qi=["sex", "city"], sa="ill")
    every, minimal = both(people, monkeypatch, min_expectation=0.9)
    assert len(minimal) == 2 < len(every)
    assert looked[0] < every.itemsets


def test_what_cannot_be_counted_is_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    people = drawn(29)
    monkeypatch.setattr(negative_search, "MOST_COUNTING", 0)
    every, minimal = both(people, monkeypatch, min_expectation=0.5, significance=0.5)
    assert (minimal.all_rules, minimal.itemsets_counted) == (None, False)
    assert minimal.itemsets >= every.itemsets
    assert minimal.min_expectation >= every.min_expectation
    assert minimal.lists_minimal
    monkeypatch.undo()
    assert listed(minimal) == listed(tacit.mine_negative_rules(people, min_expectation=minimal.min_expectation))


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_of_antecedents_holds(seed: int) -> None:
    from tacit.mining.negative_search import Case, Watch, frequent
    from tacit.model.policy import Limits

    case = Case.of(drawn(seed), TREES, {"a": 1} if seed % 2 else {})  # type: ignore[dict-item]
    for least in (1.0, 3.0, 20.0):
        for length in range(1, 1 + len(case.codes)):
            found = sum(len(batch.people) for batch in frequent(case, least, length, Watch(Limits())))
            assert found <= negative_search.most_antecedents(case, least, length)


def test_too_many_open_antecedents_end_the_search_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(negative_search, "MOST_OPEN", 3)
    monkeypatch.setattr(negative, "MOST_CHOICES", 0)
    with pytest.raises(LimitReached, match="--max-length"):
        tacit.mine_negative_rules(drawn(31), min_expectation=0)


@pytest.mark.parametrize("most", [0, 5000])
def test_time_is_kept_deep_inside_the_search(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    names = [f"c{i}" for i in range(18)]
    columns = {name: [chance.choice("ab") for _ in range(2000)] for name in names}
    people = tacit.read_table(columns | {"v": [chance.choice("stuv") for _ in range(2000)]}, qi=names, sa="v")
    monkeypatch.setattr(negative, "MOST_CHOICES", most)
    monkeypatch.setattr(negative_search, "MOST_COUNTING", 0)
    with pytest.raises(LimitReached, match="--max-length"):
        tacit.mine_negative_rules(people, min_expectation=0.9, time_limit=0.05)
