"""Rules QI => SA as callers meet them: thresholds, what is published, headers, wrong options."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.mining.rules import mine_rules, narrowed, rounded
from tacit.model.errors import OptionError
from tacit.model.release import Rules
from tacit.model.table import Hierarchy, Missing, Schema, Table


def people() -> Table:
    """10 people: 5 F of whom 3 high, 5 M of whom 1 high."""
    rows = [("F", "a", "high")] * 3 + [("F", "b", "low")] * 2 + [("M", "a", "high")] + [("M", "a", "low")] * 4
    table = Table.from_rows(["sex", "town", "pay"], rows, Schema(qi=("sex", "town"), sa=("pay",)))
    return Table(table.columns, table.weights, table.schema, Missing("?", "category"))


def listed(found: Rules) -> list[tuple[dict[str, str], str, int]]:
    return [(record["antecedent"], record["consequent"], record["count"]) for record in found.records()]


def test_ties_at_both_thresholds() -> None:
    kept = [
        ({"sex": "F"}, "high", 3),
        ({"sex": "F", "town": "a"}, "high", 3),
        ({"sex": "M"}, "low", 4),
        ({"sex": "M", "town": "a"}, "low", 4),
    ]
    found = mine_rules(people(), min_support=0.3, min_confidence=0.6)
    assert listed(found) == kept
    assert (found.min_support, found.min_confidence) == (3, Fraction(3, 5))
    # Strict: 3 of 10 is not more than 0.3; 3 of 5 is not more than 0.6; 4 of 10 and 4 of 5 are.
    strict = mine_rules(people(), min_support=0.3, min_confidence=0.6, strict=True)
    assert listed(strict) == kept[2:]
    assert strict.min_support == 4
    by_confidence = mine_rules(people(), min_support=0.29, min_confidence=0.6, strict=True)
    assert listed(by_confidence) == kept[1:]


def test_confidence_of_1_and_of_0() -> None:
    certain = mine_rules(people(), min_support=1, min_confidence=1)
    assert listed(certain) == [
        ({"sex": "F", "town": "a"}, "high", 3), ({"sex": "F", "town": "b"}, "low", 2), ({"town": "b"}, "low", 2),
    ]  # fmt: skip
    assert len(mine_rules(people(), min_support=1, min_confidence=1, strict=True)) == 0
    # Every pair of an antecedent and a value that someone has: of 4 values, 2 each but for town b; of 3 combinations, 1, 1 and 2.
    assert len(mine_rules(people(), min_support=1, min_confidence=0)) == 11


def test_one_sensitive_value() -> None:
    table = Table.from_rows(["sex", "pay"], [("F", "low"), ("M", "low")], Schema(qi=("sex",), sa=("pay",)))
    assert listed(mine_rules(table, min_support=1, min_confidence=0.5)) == [({"sex": "F"}, "low", 1), ({"sex": "M"}, "low", 1)]
    assert len(mine_rules(table, min_support=1, min_confidence=1, strict=True)) == 0


def test_classes_that_cannot_reach_the_threshold_still_count_in_the_antecedent() -> None:
    rows = [("F", f"rare{i}") for i in range(6)] + [("F", "often")] * 4 + [("M", "often")] * 2
    table = Table.from_rows(["sex", "pay"], rows, Schema(qi=("sex",), sa=("pay",)))
    found = mine_rules(table, min_support=2, min_confidence=0.4)
    assert listed(found) == [({"sex": "F"}, "often", 4), ({"sex": "M"}, "often", 2)]
    assert found.whole_lo.tolist() == [10, 2]
    assert len(mine_rules(table, min_support=7, min_confidence=0)) == 0


def test_more_people_than_can_be_compared() -> None:
    table = Table.from_rows(["sex", "pay"], [("F", "low")], Schema(qi=("sex",), sa=("pay",)))
    crowd = Table(table.columns, np.array([2**32]), table.schema)
    with pytest.raises(OptionError, match="over 3 billion people"):
        mine_rules(crowd, min_support=1, min_confidence=0)


def test_several_sensitive_columns_are_mined_one_by_one() -> None:
    rows = [("F", "b", "high", "ill")] * 2 + [("F", "a", "low", "well"), ("M", "b", "low", "well")]
    names = ["sex", "town", "pay", "health"]
    table = Table.from_rows(names, rows, Schema(qi=("sex", "town"), sa=("pay", "health")))
    how: dict[str, Any] = {"min_support": 1, "min_confidence": 0.6, "publish_sa_distribution": True}
    forms: list[dict[str, Any]] = [{}, {"withhold_values": True}, {"digits": 1, "with_confidence": True}]
    for form in forms:
        found = mine_rules(table, **how, **form)
        parts = found.by_column()
        assert [part.header.sa for part in parts] == [("pay",), ("health",)]
        expected = []
        for part, name in zip(parts, ("pay", "health"), strict=True):
            alone = mine_rules(Table(table.columns, table.weights, Schema(qi=("sex", "town"), sa=(name,))), **how, **form)
            assert part.header == alone.header
            assert list(part.records()) == list(alone.records())
            expected += [{**one, "consequent": {name: one["consequent"]}} for one in alone.records()]
        assert list(found.records()) == expected
        assert np.concatenate([part.lines for part in parts if part.lines is not None]).tolist() == list(range(2, 2 + len(found)))
    with pytest.raises(OptionError, match=r"^--min-support: more than 13 patterns reach it"):
        mine_rules(table, **how, max_rules=len(mine_rules(table, **how)) - 1)
    assert len(mine_rules(table, **how, max_rules=len(mine_rules(table, **how)))) > 0


def test_several_sensitive_columns_count_as_one_if_they_are_combined() -> None:
    rows = [("F", "high", "ill")] * 2 + [("F", "low", "well")]
    table = Table.from_rows(["sex", "pay", "health"], rows, Schema(qi=("sex",), sa=("pay", "health")))
    found = mine_rules(table, min_support=1, min_confidence=0, combine_sa=True)
    assert listed(found) == [({"sex": "F"}, "high & ill", 2), ({"sex": "F"}, "low & well", 1)]
    assert found.items.pairs == (("sex", "F"), ("pay & health", "high & ill"), ("pay & health", "low & well"))
    assert found.header.sa == ("pay", "health")
    assert found.header.sa_values == ("high & ill", "low & well")
    with pytest.raises(OptionError, match=r"^--combine-sa: needs several sensitive columns"):
        mine_rules(people(), min_support=1, min_confidence=0, combine_sa=True)


def test_the_header_says_how_the_rules_were_made() -> None:
    found = mine_rules(people(), min_support="30%", min_confidence="60%", incomplete=True, publish_sa_distribution=True)
    header = found.header
    assert (header.n, header.qi, header.sa, header.sa_values, header.sa_counts) == (
        10,
        ("sex", "town"),
        ("pay",),
        ("high", "low"),
        (4, 6),
    )
    assert (header.complete, header.strict, header.digits, header.rounding) == (False, False, None, "nearest")
    assert (header.missing, header.missing_rule) == ("?", "category")
    assert mine_rules(people(), min_support=3, min_confidence=0).header.sa_counts == ()


def test_withheld_values_say_only_the_thresholds() -> None:
    found = mine_rules(people(), min_support=3, min_confidence=0.6, withhold_values=True)
    assert [(b.lo, b.hi) for b in (found.count(0), found.whole(0))] == [(3, 10), (3, 10)]
    assert (found.support, found.confidence) == (None, None)
    assert {(r["count"], r["support"], r["confidence"]) for r in found.records()} == {(None, None, None)}


def test_digits_say_what_prints_so_and_reaches_the_thresholds() -> None:
    found = mine_rules(people(), min_support=3, min_confidence=0.6, digits=1)
    assert found.header.digits == 1
    assert (found.support is not None, found.confidence) == (True, None)
    first = next(found.records())
    assert (first["count"], first["support"], first["confidence"]) == (None, 0.3, None)
    # 0.3 is printed for exactly 3 of 10; at a confidence of at least 0.6 the antecedent has at most 5.
    assert [(b.lo, b.hi) for b in (found.count(0), found.whole(0))] == [(3, 3), (3, 5)]
    more = mine_rules(people(), min_support=3, min_confidence=0.6, digits=1, with_confidence=True)
    assert next(more.records())["confidence"] == 0.6
    assert (more.whole(0).lo, more.whole(0).hi) == (5, 5)
    coarse = mine_rules(people(), min_support=3, min_confidence=0.6, digits=0)
    assert (coarse.count(0).lo, coarse.count(0).hi) == (
        3,
        4,
    )  # 0 is printed for 0 to 4 of 10: halves go up, and the header says so
    assert coarse.header.rounding == "half-up"


def test_hierarchies_give_coarser_antecedents() -> None:
    tree = Hierarchy("town", {"a": ("any",), "b": ("any",)})
    found = mine_rules(people(), min_support=3, min_confidence=0.6, hierarchies={"town": tree, "pay": Hierarchy("pay", {})})
    assert ({"sex": "F", "town": "any"}, "high", 3) in listed(found)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_confidence": 1.5}, "min_confidence: must be a share of at least 0 and at most 1"),
        ({"min_support": -1}, "min_support: must be more than 0"),
        ({"digits": 13}, "--digits: must be from 0 to 12"),
        ({"digits": 2, "withhold_values": True}, "--digits: prints values that --withhold-values withholds"),
        ({"with_confidence": True}, "--with-confidence: needs --digits"),
        ({"hierarchies": {"twon": Hierarchy("twon", {})}}, "hierarchies: there is no column 'twon'. Did you mean 'town'?"),
        ({"max_rules": 1}, "--min-support: more than 1 patterns reach it"),
    ],
)
def test_wrong_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        mine_rules(people(), **{"min_support": 3, "min_confidence": 0.6, **given})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("schema", "where"), [(Schema(qi=("sex",)), "sa"), (Schema(sa=("pay",)), "qi")])
def test_rules_need_both_roles(schema: Schema, where: str) -> None:
    with pytest.raises(OptionError) as caught:
        mine_rules(Table(people().columns, people().weights, schema), min_support=1, min_confidence=0)
    assert caught.value.where == where


@pytest.mark.parametrize("digits", [0, 1, 3, 12])
def test_rounding_is_exact_and_halves_go_up(digits: int) -> None:
    parts = np.array([0, 1, 1, 3, 5, 2**40 + 1, 7], np.int64)
    wholes = np.array([7, 8, 2, 8, 5, 2**41, 2**55], np.int64)
    shares = rounded(parts, wholes, digits)
    for i, (part, whole) in enumerate(zip(parts.tolist(), wholes.tolist(), strict=True)):
        value = shares.value(i)
        assert value is not None
        assert -Fraction(1, 2 * 10**digits) < value - Fraction(part, whole) <= Fraction(1, 2 * 10**digits)


def test_narrowed_ends_are_taken_by_some_pair() -> None:
    for lo, hi, n, low, high, low_open, high_open in [
        (3, 9, 20, Fraction(1, 3), Fraction(1, 2), True, False),
        (1, 20, 20, Fraction(0), Fraction(1), False, False),
        (4, 6, 30, Fraction(3, 5), Fraction(7, 10), False, False),
        (4, 7, 30, Fraction(3, 5), Fraction(7, 10), False, True),
    ]:
        pairs = [
            (part, whole)
            for whole in range(1, n + 1)
            for part in range(lo, hi + 1)
            if (low < Fraction(part, whole) if low_open else low <= Fraction(part, whole))
            and (Fraction(part, whole) < high if high_open else Fraction(part, whole) <= high)
        ]
        parts, wholes = [p for p, _ in pairs], [w for _, w in pairs]
        found = narrowed(lo, hi, n, low, high, low_open=low_open, high_open=high_open)
        assert found == (min(parts), max(parts), min(wholes), max(wholes))
