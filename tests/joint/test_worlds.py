"""All worlds of a few people that fit printed counts, sums and medians, against trying every world."""

from __future__ import annotations

from itertools import combinations_with_replacement
from statistics import median

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.joint.few_people import Printed, worlds
from tests.examples import examples


def by_trying(values: list[int], groups: list[Printed], people: int) -> list[tuple[int, ...]]:
    """The worlds among all ways to put so many people into cells."""
    return [
        world
        for world in combinations_with_replacement(range(len(values)), people)
        if all(fits(values, group, world) for group in groups)
    ]


def fits(values: list[int], group: Printed, world: tuple[int, ...]) -> bool:
    """Whether what is printed about a group is true of a world."""
    inside = [values[cell] for cell in world if group.inside[cell]]
    if not group.count[0] <= len(inside) <= group.count[1]:
        return False
    if group.count[0] != group.count[1]:
        return True
    if group.total is not None and not group.total[0] <= sum(inside) <= group.total[1]:
        return False
    return group.middle is None or not inside or group.middle[0] <= 2 * median(inside) <= group.middle[1]


@st.composite
def printed_about_people(draw: st.DrawFn) -> tuple[list[int], list[Printed], int]:
    """Groups of a made world with what is printed about them, true or off by a little."""
    values = sorted(draw(st.lists(st.integers(0, 6), min_size=1, max_size=6)))
    people = draw(st.integers(0, 5))
    world = draw(st.lists(st.integers(0, len(values) - 1), min_size=people, max_size=people))
    groups = []
    for _ in range(draw(st.integers(1, 4))):
        inside = tuple(draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
        of_group = [values[cell] for cell in world if inside[cell]]
        slack = draw(st.integers(0, 1))
        count = (max(0, len(of_group) - slack), len(of_group) + draw(st.integers(0, slack)))
        off = draw(st.integers(0, 1))
        total = (sum(of_group) - off, sum(of_group) + off) if draw(st.booleans()) else None
        twice = int(2 * median(of_group)) if of_group else 0
        middle = (twice - off, twice + off) if draw(st.booleans()) else None
        groups.append(Printed(inside, count, total, middle))
    return values, groups, people


@given(printed_about_people())
@settings(max_examples=examples(400))
def test_the_worlds_are_those_that_trying_all_finds(case: tuple[list[int], list[Printed], int]) -> None:
    values, groups, people = case
    assert sorted(worlds(values, groups, people, lambda: None)) == by_trying(values, groups, people)
