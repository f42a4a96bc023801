"""The verb that bucketizes: what it gives, what it refuses, and that its verification is not a formality."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tacit
from tacit.buckets.classes import Classes
from tacit.buckets.grouping import METHODS, Made, Recipes
from tacit.files.knowledge import read_knowledge
from tacit.model.knowledge import Exclusions
from tacit.model.table import Table
from tacit.verbs import bucketize
from tests.buckets.naive_grouping import valid_by_matching

VALUES = ("cancer", "cold", "flu", "mumps", "tetanus")


def people(n: int = 300, seed: int = 3) -> Table:
    """People of whom no man has cancer and nobody of thirty has mumps."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["F", "M"], n), rng.choice(["30", "31", "32"], n)
    ill = [
        rng.choice([value for value in VALUES if not ((s == "M" and value == "cancer") or (a == "30" and value == "mumps"))])
        for s, a in zip(sex, age, strict=True)
    ]
    return tacit.read_table({"sex": sex.tolist(), "age": age.tolist(), "ill": ill}, qi=["sex", "age"], sa="ill")


KNOWN = [({"sex": "M"}, "cancer"), ({"age": "30"}, "mumps")]


def test_mined_knowledge_makes_a_release_that_withstands_it() -> None:
    table = people()
    negative = tacit.mine_negative_rules(table, min_expectation=0.9)
    buckets = tacit.bucketize(table, l=3, method="balanced", knowledge=negative)
    assert tacit.audit(buckets, knowledge=negative, policy=tacit.Policy(l=3)).measures["vulnerable"] == 0
    assert buckets.ok
    assert len(buckets) == buckets.cost["groups"]
    assert buckets.n == 300


@pytest.mark.parametrize("method", METHODS)
def test_what_it_tells_is_what_matching_finds(method: str) -> None:
    table = people(90)
    made = tacit.bucketize(table, l=3, method=method, knowledge=KNOWN, seed=4)  # type: ignore[arg-type]
    known = Exclusions.of(read_knowledge(KNOWN), table.qi, table.sa.values)
    vulnerable = 0
    for number in range(len(made)):
        rows = np.flatnonzero(made.group == number)
        excluded = [frozenset(np.flatnonzero(known.patterns[known.kind[row]]).tolist()) for row in rows]
        vulnerable += sum(len(valid) < 3 for valid in valid_by_matching(table.sa.codes[rows].tolist(), excluded))
    assert made.cost["vulnerable"] == vulnerable
    assert made.after is not None
    assert made.after.measures["vulnerable"] == vulnerable
    assert vulnerable == 0 or method == "anatomy"
    assert made.cost["largest_group"] == made.sizes.max()


def test_groups_that_are_not_what_they_should_be_are_never_released(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(60)

    def careless(classes: Classes, **_: object) -> Made:
        return Made("balanced-1", Recipes(np.repeat(np.arange(len(classes)), classes.count).reshape(-1, 3)), 0)

    monkeypatch.setattr(bucketize, "group_classes", careless)
    with pytest.raises(tacit.InternalError, match="have too few valid values"):
        tacit.bucketize(table, l=3, knowledge=KNOWN)


def test_who_stands_in_the_way_is_named_by_row() -> None:
    table = people()
    with pytest.raises(tacit.Infeasible) as caught:
        tacit.bucketize(table, l=5, knowledge=KNOWN)
    sex, age = table.column("sex"), table.column("age")
    expected = [row for row in range(300) if sex.values[sex.codes[row]] == "M" or age.values[age.codes[row]] == "30"]
    assert caught.value.rows == tuple(expected)
    assert "Lower --l to 3, which everybody can have" in str(caught.value)
    left = tacit.bucketize(table, l=5, knowledge=KNOWN, suppress=True)
    assert (left.n, left.cost["suppressed"], left.ok) == (300 - len(expected), len(expected), True)


def test_everybody_may_have_to_be_left_out() -> None:
    table = tacit.read_table({"sex": ["F", "M"], "ill": ["cancer", "flu"]}, qi="sex", sa="ill")
    for suppress in (False, True):
        with pytest.raises(tacit.Infeasible) as caught:
            tacit.bucketize(table, l=2, knowledge=[({"sex": "M"}, "cancer")], suppress=suppress)
        assert "--suppress" not in str(caught.value)


def test_a_row_may_stand_for_several_people() -> None:
    table = tacit.read_table({"sex": ["F", "M", "F"], "ill": ["cold", "flu", "mumps"]}, qi="sex", sa="ill")
    made = tacit.bucketize(replace(table, weights=np.array([2, 3, 1])), l=2)
    assert made.n == 6
    assert sum(made.contents(group).get("flu", 0) for group in range(len(made))) == 3


def test_several_sensitive_columns_are_published_as_one() -> None:
    rows = {"sex": ["F", "M"] * 4, "ill": ["cold", "flu"] * 4, "pay": ["high", "high", "low", "low"] * 2}
    made = tacit.bucketize(tacit.read_table(rows, qi="sex", sa=["ill", "pay"]), l=2)
    assert (made.sensitive, set(made.values)) == ("ill & pay", {"cold & high", "cold & low", "flu & high", "flu & low"})


def test_a_bound_may_be_written_as_a_share_of_one() -> None:
    table = people(120)
    made = tacit.bucketize(table, l=2, knowledge=KNOWN, max_posterior=1 / 3)
    assert made.ok
    assert made.after is not None
    assert made.after.measures["max_posterior"] == pytest.approx(1 / 3)


def test_who_finds_no_group_within_the_bound_is_told_or_left_out() -> None:
    # Cancer is held by 4 of the 8 people who can have it: half is the least, and men can only have flu or cold.
    rows = {"sex": ["F"] * 8 + ["M"] * 4, "ill": ["cancer"] * 4 + ["flu"] * 2 + ["cold"] * 2 + ["flu"] * 3 + ["cold"]}
    table = tacit.read_table(rows, qi="sex", sa="ill")
    known = [({"sex": "M"}, "cancer")]
    bounded = tacit.bucketize(table, l=2, knowledge=known, max_posterior=0.5)
    left = tacit.bucketize(table, l=2, knowledge=known, max_posterior=0.5, suppress=True)
    assert bounded.after is not None
    assert left.after is not None
    assert left.ok
    assert left.after.measures["max_posterior"] <= 0.5
    assert (bounded.cost["beyond_bound"] > 0) == (not bounded.ok) == (left.cost["suppressed"] > 0)
    with pytest.raises(tacit.Infeasible, match=r"Allow 0\.5 or more"):
        tacit.bucketize(table, l=2, knowledge=known, max_posterior=Fraction(4, 9))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"l": True}, "--l: must be a whole number"),
        ({"l": 2.5}, "--l: must be a whole number"),
        ({"l": 0}, "--l: must be"),
        ({"l": 2, "method": "best"}, "there is no method 'best'"),
        ({"l": 2, "time_limit": 0}, "must be more than 0 seconds"),
        ({"l": 2, "knowledge": [({"city": "Rome"}, "flu")]}, "names a column that is not quasi-identifying"),
        ({"l": 2, "max_posterior": 0}, "--max-posterior: "),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(tacit.TacitError, match=said):
        tacit.bucketize(people(20), **given)  # type: ignore[arg-type]


def test_only_a_table_with_roles_can_be_bucketized() -> None:
    with pytest.raises(tacit.OptionError, match="columns have roles"):
        tacit.bucketize([["a"]], l=2)
    with pytest.raises(tacit.OptionError, match="no quasi-identifying column"):
        tacit.bucketize(tacit.read_table({"ill": ["flu", "cold"]}, sa="ill"), l=2)
    with pytest.raises(tacit.OptionError, match="no sensitive column"):
        tacit.bucketize(tacit.read_table({"sex": ["F", "M"]}, qi="sex"), l=2)


def test_progress_moves_to_the_end() -> None:
    seen: list[float] = []
    tacit.bucketize(people(60), l=2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] <= 1


def test_a_bound_is_the_fraction_that_was_meant() -> None:
    assert bucketize.exact_bound(1 / 6) == Fraction(1, 6)
    assert bucketize.exact_bound("0.2") == Fraction(1, 5)
