"""X01 against all worlds of people who come and go among three releases, or who change between two: it is never wrong, and every proof holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.joint.lower import memberships
from tacit.model.people import People
from tacit.model.release import Header, Items, Itemsets, Sets
from tests.examples import examples
from tests.joint import naive_joint, naive_people

K = 3


def itemsets_of(rows: Sequence[frozenset[str]], sets: Sequence[tuple[str, ...]], slack: int) -> Itemsets:
    """A release of these people: some itemsets with bounds of some width."""
    names = tuple(sorted({item for chosen in sets for item in chosen}))
    counts = np.array([sum(row.issuperset(chosen) for row in rows) for chosen in sets], np.int64)
    lists = Sets.from_lists([names.index(item) for item in chosen] for chosen in sets)
    return Itemsets(lists, np.maximum(counts - slack, 0), counts + slack, Items(names), Header(n=len(rows)))


def listings(items: str) -> st.SearchStrategy[list[tuple[str, ...]]]:
    every = [chosen for size in range(1, len(items) + 1) for chosen in combinations(items, size)]
    return st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True)


@st.composite
def nested_three(draw: st.DrawFn) -> tuple[list[Itemsets], People, str]:
    rows = draw(st.lists(st.frozensets(st.sampled_from("ab")), min_size=2, max_size=3))
    sizes = sorted((draw(st.integers(1, len(rows))), draw(st.integers(1, len(rows)))), reverse=True)
    groups = [rows, rows[: sizes[0]], rows[: sizes[1]]]
    releases = [itemsets_of(group, draw(listings("ab")), draw(st.sampled_from([0, 0, 1]))) for group in groups]
    return (releases, tacit.Nested(), "ab") if draw(st.booleans()) else (releases[::-1], tacit.Nested(outer=1, inner=0), "ab")


@st.composite
def churn_three(draw: st.DrawFn) -> tuple[list[Itemsets], People, str]:
    where = st.frozensets(st.sampled_from([0, 1, 2]), min_size=1)
    people = draw(st.lists(st.tuples(st.frozensets(st.just("a")), where), min_size=1, max_size=3))
    people += [(frozenset(), frozenset([0, 1, 2]))]
    groups = [[items for items, inside in people if number in inside] for number in range(3)]
    left = [sum(step in one and step + 1 not in one for _, one in people) for step in (0, 1)]
    joined = [sum(step + 1 in one and step not in one for _, one in people) for step in (0, 1)]
    spans = [(draw(st.integers(0, min(moved))), max(moved)) for moved in (left, joined)]
    releases = [itemsets_of(group, [("a",)], draw(st.sampled_from([0, 0, 1]))) for group in groups]
    return releases, tacit.Churn(left=spans[0], joined=spans[1]), "a"


def check_against_worlds(releases: list[Itemsets], people: People, items: str) -> None:
    kinds = naive_people.kinds_among(items, people, 3)
    worlds = list(naive_people.worlds_among(kinds, releases, people, range(3)))
    assert worlds, "the people that the releases were made of fit them"
    record = tacit.audit(releases, people=people, policy=tacit.Policy(k=K), attacks=["X01"]).to_dict(top=1000)
    for finding in record["findings"]:
        fewest, most = naive_joint.bounds(naive_joint.group_of(finding["event"]), kinds, worlds)
        assert finding["count"][0] <= fewest <= most <= finding["count"][1]
    outcome = check_audit(record, releases)
    assert outcome.ok, outcome.problems


@settings(max_examples=examples(40), deadline=None)
@given(nested_three())
def test_three_releases_of_ever_fewer_people(case: tuple[list[Itemsets], People, str]) -> None:
    check_against_worlds(*case)


@settings(max_examples=20, deadline=None)
@given(churn_three())
def test_people_who_come_and_go_among_three_releases(case: tuple[list[Itemsets], People, str]) -> None:
    check_against_worlds(*case)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2), st.integers(0, 2), st.integers(2, 4))
def test_sets_of_populations_are_those_that_the_declaration_allows(left: int, joined: int, populations: int) -> None:
    """Whoever can be nowhere but where the declaration puts people: nobody who left where none may, nobody who joined where none may."""
    for people in (tacit.Nested(), tacit.Nested(outer=1, inner=0)):
        assert set(map(frozenset, memberships(people, populations))) == set(naive_people.sets_of(people, populations))
    churn = tacit.Churn(left=(0, left), joined=(0, joined))
    allowed = [
        one
        for one in naive_people.sets_of(churn, populations)
        if (left or not any(step in one and step + 1 not in one for step in range(populations - 1)))
        and (joined or not any(step + 1 in one and step not in one for step in range(populations - 1)))
    ]
    assert set(map(frozenset, memberships(churn, populations))) == set(allowed)


@st.composite
def changed_values(draw: st.DrawFn) -> tuple[list[Itemsets], tacit.Changed]:
    before = draw(st.lists(st.frozensets(st.sampled_from("ab")), min_size=1, max_size=4))
    flips = draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    after = [row ^ {"a"} if flip else row for row, flip in zip(before, flips, strict=True)]
    most = sum(flips) + draw(st.integers(0, 1))
    releases = [itemsets_of(rows, draw(listings("ab")), draw(st.sampled_from([0, 0, 1]))) for rows in (before, after)]
    if not any("a" in release.items.names for release in releases):
        releases[0] = itemsets_of(before, [("a",)], 0)
    return releases, tacit.Changed(columns=["a"], people=(draw(st.integers(0, sum(flips))), most))


@settings(max_examples=examples(80), deadline=None)
@given(changed_values())
def test_values_that_changed(case: tuple[list[Itemsets], tacit.Changed]) -> None:
    releases, people = case
    kinds = naive_people.changing_kinds("ab", "a")
    worlds = list(naive_people.changing_worlds(kinds, releases, people.people))
    assert worlds, "the people that the releases were made of fit them"
    record = tacit.audit(releases, people=people, policy=tacit.Policy(k=K), attacks=["X01"]).to_dict(top=1000)
    for finding in record["findings"]:
        fewest, most = naive_people.changing_bounds(finding["event"], kinds, worlds)
        assert finding["count"][0] <= fewest <= most <= finding["count"][1], finding["statement"]
    outcome = check_audit(record, releases)
    assert outcome.ok, outcome.problems
