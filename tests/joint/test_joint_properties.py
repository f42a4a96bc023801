"""X01 against all worlds: what it proves holds in each of them, what it leaves out is refuted or counted, and every proof is re-checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.checker import check_audit
from tacit.joint import joint_releases
from tacit.joint.cube import Cube
from tacit.joint.lower import lower
from tacit.model.people import People
from tacit.model.release import Header, Items, Itemsets, Listed, Sets
from tests.examples import examples
from tests.joint import naive_joint as naive

ITEMS = "abc"
K = 3


def itemsets_of(rows: Sequence[frozenset[str]], sets: Sequence[tuple[str, ...]], slack: int, least: int | None) -> Itemsets:
    """A release of these people: some itemsets with bounds of some width, or all from ``least`` people on."""
    if least is not None:
        every = [chosen for size in range(1, 4) for chosen in combinations(ITEMS, size)]
        sets = [chosen for chosen in every if sum(row.issuperset(chosen) for row in rows) >= least]
    counts = np.array([sum(row.issuperset(chosen) for row in rows) for chosen in sets], np.int64)
    names = tuple(sorted({item for chosen in sets for item in chosen}))
    lists = Sets.from_lists([names.index(item) for item in chosen] for chosen in sets)
    header = Header(n=len(rows), complete=least is not None, min_support=least)
    low = np.maximum(counts - slack, 0 if least is None else least)
    return Itemsets(lists, low, counts + slack, Items(names), header)


ROW = st.frozensets(st.sampled_from(ITEMS))
SETS = st.lists(
    st.sampled_from([c for size in (1, 2, 3) for c in combinations(ITEMS, size)]), min_size=1, max_size=4, unique=True
)
SHAPE = st.tuples(SETS, st.sampled_from([0, 0, 1]), st.sampled_from([None, None, 2]))


@st.composite
def same_people(draw: st.DrawFn) -> tuple[list[Listed], People]:
    rows = draw(st.lists(ROW, min_size=1, max_size=5))
    return [itemsets_of(rows, *draw(SHAPE)) for _ in range(2)], tacit.Same()


@st.composite
def other_people(draw: st.DrawFn) -> tuple[list[Listed], People]:
    two = st.frozensets(st.sampled_from("ab"))
    first = draw(st.lists(two, min_size=1, max_size=4))
    left = draw(st.integers(0, min(2, len(first) - 1)))
    second = first[left:]
    pairs = st.lists(st.sampled_from([("a",), ("b",), ("a", "b")]), min_size=1, max_size=3, unique=True)
    shapes = [(draw(pairs), draw(st.sampled_from([0, 0, 1])), None) for _ in range(2)]
    people: People = tacit.Nested()
    if draw(st.booleans()):
        joined = draw(st.lists(two, max_size=1))
        second = second + joined
        people = tacit.Churn(left=(0, left + draw(st.integers(0, 1))), joined=(0, len(joined)))
    if draw(st.booleans()) and isinstance(people, tacit.Nested):
        return [itemsets_of(second, *shapes[0]), itemsets_of(first, *shapes[1])], tacit.Nested(outer=1, inner=0)
    return [itemsets_of(first, *shapes[0]), itemsets_of(second, *shapes[1])], people


def check_against_worlds(
    releases: list[Listed], people: People, kinds: list[naive.Kind], groups: list[naive.Group], *, dives: bool = True
) -> str:
    """Whether the attack said as much as all worlds do: ``equal``, ``open`` (something is left undecided) or ``less``.

    If it does not dive, every question goes to the programs.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not dives:
            patch.setattr(joint_releases, "MOST_DIVED", 0)
        audit = tacit.audit(releases, people=people, policy=tacit.Policy(k=K), attacks=["X01"])
    record = audit.to_dict(top=1000)
    found = list(naive.worlds(kinds, releases, people))
    assert found, "the world that the releases were made of fits them"
    for finding in record["findings"]:
        lo, hi = finding["count"]
        fewest, most = naive.bounds(naive.group_of(finding["event"]), kinds, found)
        assert lo <= fewest <= most <= hi
    outcome = check_audit(record, releases)
    assert outcome.ok, outcome.problems
    # How many people came or went in all follows from n and the declaration, where no line narrows it.
    small = [
        group for group in groups if (group[0] or group[1]) and (span := naive.bounds(group, kinds, found))[0] > 0 and span[1] < K
    ]
    run = audit.attack("X01")
    told = {naive.group_of(finding["event"]) for finding in record["findings"]}
    missed = [group for group in small if not is_told(group, told, kinds, found)]
    if missed:
        assert run.undecided > 0, missed
        return "open"
    return "equal" if not run.undecided else "open"


def is_told(group: naive.Group, told: set[naive.Group], kinds: list[naive.Kind], worlds: list[naive.World]) -> bool:
    """Whether a finding is about the group, or findings are about the very same people in other words, or in more of them."""
    if group in told:
        return True
    whole = np.array([naive.members(group, kinds, world) for world in worlds])
    parts = [np.array([naive.members(one, kinds, world) for world in worlds]) for one in told]
    inside = [part for part in parts if (part <= whole).all()]
    return bool(inside) and bool((np.max(inside, axis=0) == whole).all())


def signed(items: str, members: Sequence[tuple[frozenset[int], frozenset[int]]]) -> list[naive.Group]:
    out = []
    for signs in product((0, 1, 2), repeat=len(items)):
        has = frozenset(item for item, sign in zip(items, signs, strict=True) if sign == 1)
        lacks = frozenset(item for item, sign in zip(items, signs, strict=True) if sign == 2)
        out += [(has, lacks, *where) for where in members if has or lacks or where[1]]
    return out


def named(releases: Sequence[Listed]) -> str:
    return "".join(sorted({item for release in releases for item in release.items.names}))


@pytest.mark.parametrize("dives", [True, False])
@settings(max_examples=examples(60), deadline=None)
@given(same_people())
def test_same_people(dives: bool, case: tuple[list[Listed], People]) -> None:
    releases, people = case
    items = named(releases)
    kinds = naive.kinds_of([[frozenset(), frozenset(item)] for item in items], people, 2)
    nowhere: frozenset[int] = frozenset()
    check_against_worlds(releases, people, kinds, signed(items, [(nowhere, nowhere)]), dives=dives)


@pytest.mark.parametrize("dives", [True, False])
@settings(max_examples=examples(40), deadline=None)
@given(other_people())
def test_people_who_left_and_joined(dives: bool, case: tuple[list[Listed], People]) -> None:
    releases, people = case
    items = named(releases)
    kinds = naive.kinds_of([[frozenset(), frozenset(item)] for item in items], people, 2)
    zero, one, none = frozenset([0]), frozenset([1]), frozenset[int]()
    moved = [(zero, one)] if isinstance(people, tacit.Churn) or (isinstance(people, tacit.Nested) and people.outer == 0) else []
    moved += [(one, zero)] if isinstance(people, tacit.Churn) or (isinstance(people, tacit.Nested) and people.outer == 1) else []
    check_against_worlds(releases, people, kinds, signed(items, [*moved, (zero, none), (one, none)]), dives=dives)


@pytest.mark.parametrize("dives", [True, False])
def test_how_often_it_says_all_that_can_be_said(dives: bool) -> None:
    """On sixty made pairs of releases the attack says exactly what all worlds do."""
    random = np.random.default_rng(7)
    outcome: Counter[str] = Counter()
    every = [chosen for size in (1, 2, 3) for chosen in combinations(ITEMS, size)]
    nowhere: frozenset[int] = frozenset()
    for _ in range(60):
        rows = [frozenset(item for item in ITEMS if random.random() < 0.5) for _ in range(int(random.integers(2, 6)))]
        releases: list[Listed] = []
        for _ in range(2):
            chosen = [every[place] for place in random.choice(len(every), int(random.integers(1, 5)), replace=False)]
            releases.append(itemsets_of(rows, chosen, int(random.integers(0, 2)), None))
        items = named(releases)
        kinds = naive.kinds_of([[frozenset(), frozenset(item)] for item in items], tacit.Same(), 2)
        groups = signed(items, [(nowhere, nowhere)])
        outcome[check_against_worlds(releases, tacit.Same(), kinds, groups, dives=dives)] += 1
    assert outcome == {"equal": 60}


RULES = st.lists(
    st.tuples(st.sampled_from("FM"), st.sampled_from(["x", "y"]), st.sampled_from(["ill", "well"])), min_size=2, max_size=5
)


@settings(max_examples=examples(60), deadline=None)
@given(RULES, st.sampled_from([None, 1, 2]), st.booleans(), st.booleans())
def test_rules_beside_itemsets_of_the_same_table(
    people: list[tuple[str, ...]], digits: int | None, withheld: bool, pairs: bool
) -> None:
    columns: dict[str, Any] = {name: [row[place] for row in people] for place, name in enumerate(("sex", "town", "state"))}
    table = tacit.read_table(columns, qi=["sex", "town"], sa="state")
    shown = {"digits": digits, "with_confidence": True} if digits and not withheld else {"withhold_values": withheld}
    rules = tacit.mine_rules(table, min_support=1, min_confidence=0.5, incomplete=True, **shown)
    itemsets = tacit.mine_itemsets(table, min_support=2)
    if not pairs:  # as a file of another tool names the items
        itemsets = Itemsets(itemsets.sets, itemsets.lo, itemsets.hi, Items(itemsets.items.names), itemsets.header)
    releases: list[Listed] = [rules, itemsets]
    named_values = {
        name: sorted({item.partition("=")[2] for release in releases for item in used(release) if item.startswith(name)})
        for name in columns
    }
    named_values["state"] = sorted({*named_values["state"], *rules.header.sa_values})
    choices = [
        [*(frozenset([f"{name}={value}"]) for value in values), *([frozenset[str]()] if name != "state" else [])]
        for name, values in named_values.items()
    ]
    audit = tacit.audit(releases, people=tacit.Same(), policy=tacit.Policy(k=K), attacks=["X01"])
    kinds = naive.kinds_of(choices, tacit.Same(), 2)
    if len(kinds) > 12:
        return
    found = list(naive.worlds(kinds, releases, tacit.Same()))
    assert found
    record = audit.to_dict(top=1000)
    for finding in record["findings"]:
        fewest, most = naive.bounds(naive.group_of(finding["event"]), kinds, found)
        assert finding["count"][0] <= fewest <= most <= finding["count"][1]
    outcome = check_audit(record, releases)
    assert outcome.ok, outcome.problems


def used(release: Listed) -> list[str]:
    parts = [release.sets] if isinstance(release, Itemsets) else [release.antecedents, release.consequents]
    return [release.items.names[item] for part in parts for item in part.members.tolist()]


def test_bounds_of_the_cube_hold_in_the_data() -> None:
    """Every group of a cube, also those that are not small, against the rows that the releases were made of."""
    random = np.random.default_rng(3)
    rows = [frozenset(item for item in "abcdef" if random.random() < 0.6) for _ in range(200)]
    baskets = tacit.read_transactions([sorted(row) for row in rows if row])
    releases = [tacit.mine_itemsets(baskets, min_support=least) for least in (60, 90)]
    problem = lower(releases, tacit.Same())
    cube = Cube(problem, tuple(range(len(problem.axes))))
    cube.tighten(range(len(problem.lines)), lambda: None)
    assert cube.clash < 0
    for group in range(len(cube.lo)):
        words = [axis.literals(slot) for axis, slot in zip(cube.axes, cube.slots(group), strict=True)]
        has = {item for word in words if word for item in word[0]}
        lacks = {item for word in words if word for item in word[1]}
        true = sum(bool(row) and has <= row and lacks.isdisjoint(row) for row in rows)
        assert cube.lo[group] <= true <= cube.hi[group]
