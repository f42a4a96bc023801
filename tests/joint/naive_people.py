"""People of several releases the slow way: who comes and goes among three of them, and who changes between two, listed one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import Any

from tacit.model.people import Churn, Nested, People
from tacit.model.release import Itemsets
from tests.joint.naive_joint import Kind, World, compositions, tests_of

#: Somebody whose items may have changed: those of before, those of after.
Changing = tuple[frozenset[str], frozenset[str]]


def sets_of(people: People, populations: int) -> list[frozenset[int]]:
    """The sets of populations that somebody can be in, straight from what a declaration means."""
    every = [frozenset(chosen) for size in range(1, populations + 1) for chosen in combinations(range(populations), size)]
    if isinstance(people, Nested):
        order = list(range(populations)) if people.outer == 0 else list(reversed(range(populations)))
        return [one for one in every if all(inner not in one or outer in one for outer, inner in pairwise(order))]
    return every


def kinds_among(items: str, people: People, populations: int) -> list[Kind]:
    """Every kind of person: some of the items, in a set of populations."""
    chosen = [frozenset(part) for size in range(len(items) + 1) for part in combinations(items, size)]
    return [(has, inside) for has, inside in product(chosen, sets_of(people, populations))]


def worlds_among(kinds: Sequence[Kind], releases: Sequence[Itemsets], people: People, of: Sequence[int]) -> Iterator[World]:
    """All groups of people that fit every line of every release, and the declaration; ``of`` is the population of each release."""
    first, steps = releases[0].n or 0, max(of)
    totals = [max(release.n or 0 for release in releases)]
    if isinstance(people, Churn):
        totals = list(range(first, first + steps * people.joined[1] + 1))
    tests = [test for number, release in enumerate(releases) for test in tests_of(release, of[number], kinds)]
    for total in totals:
        for world in compositions(total, len(kinds)):
            if all(test(world) for test in tests) and (not isinstance(people, Churn) or _fits(world, kinds, people, steps)):
                yield world


def _fits(world: World, kinds: Sequence[Kind], people: Churn, steps: int) -> bool:
    for step in range(steps):
        for there, gone, span in ((step, step + 1, people.left), (step + 1, step, people.joined)):
            moved = sum(times for times, (_, one) in zip(world, kinds, strict=True) if there in one and gone not in one)
            if not span[0] <= moved <= span[1]:
                return False
    return True


def changing_kinds(items: str, changed: str) -> list[Changing]:
    """Every kind of person whose item ``changed`` may be another one than before."""
    chosen = [frozenset(part) for size in range(len(items) + 1) for part in combinations(items, size)]
    return [(before, after) for before, after in product(chosen, chosen) if before ^ after <= {changed}]


def changing_worlds(kinds: Sequence[Changing], releases: Sequence[Itemsets], span: tuple[int, int]) -> Iterator[World]:
    """All groups of people that fit both releases, of whom so many have changed."""
    tests = []
    for half, release in enumerate(releases):
        tests += list(tests_of(release, 0, [(kind[half], frozenset([0])) for kind in kinds]))
    for world in compositions(releases[0].n or 0, len(kinds)):
        changed = sum(times for times, (before, after) in zip(world, kinds, strict=True) if before != after)
        if span[0] <= changed <= span[1] and all(test(world) for test in tests):
            yield world


def changing_bounds(event: Mapping[str, Any], kinds: Sequence[Changing], worlds: Sequence[World]) -> tuple[int, int]:
    """The fewest and the most people of an event in any of the worlds."""
    counts = [sum(times for times, kind in zip(world, kinds, strict=True) if _is_in(event, kind)) for world in worlds]
    return min(counts), max(counts)


def _is_in(event: Mapping[str, Any], kind: Changing) -> bool:
    before, after = kind
    told = {change["column"] for change in event.get("changes", ())}
    if not before - told >= set(event["present"]) or before & set(event["absent"]):
        return False
    for change in event.get("changes", ()):
        if change.get("changed"):
            if (change["column"] in before) == (change["column"] in after):
                return False
            continue
        for has, side in ((before, change["before"]), (after, change["after"])):
            if not has >= set(side["present"]) or has & set(side["absent"]):
                return False
    return True
