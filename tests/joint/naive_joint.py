"""Several releases the slow way: every small group of people that fits all of them, listed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from tacit.model.frequencies import FrequencyTable
from tacit.model.people import Churn, Nested, People
from tacit.model.release import Itemsets, Listed, Rules

#: Somebody: her items, and in which releases she is.
Kind = tuple[frozenset[str], frozenset[int]]
#: How many people there are of each kind.
World = tuple[int, ...]
Group = tuple[frozenset[str], frozenset[str], frozenset[int], frozenset[int]]


def kinds_of(choices: Sequence[Sequence[frozenset[str]]], people: People, releases: int) -> list[Kind]:
    """Every kind of person: one choice of items per column, in the releases that the declaration allows."""
    everywhere = frozenset(range(releases))
    members = [everywhere]
    if isinstance(people, Nested):
        members.append(frozenset([people.outer]))
    if isinstance(people, Churn):
        members += [frozenset([0]), frozenset([1])]
    return [(frozenset().union(*items), inside) for items in product(*choices) for inside in members]


def worlds(kinds: Sequence[Kind], releases: Sequence[Listed | FrequencyTable], people: People) -> Iterator[World]:
    """All groups of people that fit every line of every release, and the declaration."""
    n = max(release.n or 0 for release in releases)
    totals = [n]
    if isinstance(people, Churn):
        first = releases[0].n or 0
        totals = list(range(first + people.joined[0], first + people.joined[1] + 1))
    tests = [test for number, release in enumerate(releases) for test in tests_of(release, number, kinds)]
    if isinstance(people, Churn):
        for number, span in ((0, people.left), (1, people.joined)):
            alone = [place for place, (_, inside) in enumerate(kinds) if inside == {number}]
            tests.append(_moved(alone, span))
    for total in totals:
        for world in compositions(total, len(kinds)):
            if all(test(world) for test in tests):
                yield world


def _moved(alone: Sequence[int], span: tuple[int, int]) -> Callable[[World], bool]:
    return lambda world: span[0] <= sum(world[place] for place in alone) <= span[1]


def compositions(total: int, parts: int) -> Iterator[World]:
    """Every way to divide so many people into kinds."""
    for bars in combinations(range(total + parts - 1), parts - 1):
        edges = (-1, *bars, total + parts - 1)
        yield tuple(edges[i + 1] - edges[i] - 1 for i in range(parts))


def cited(record: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """The weights of all proofs of a record that cite something of this kind, to be changed in place."""
    steps = [step for finding in record["findings"] for end in ("least", "most") for step in finding["certificate"][end]]
    return [weight for step in steps for weight in step["weights"] if weight.get("what") == what]


def tests_of(release: Listed | FrequencyTable, number: int, kinds: Sequence[Kind]) -> Iterator[Callable[[World], bool]]:
    """What each line of a release demands of a world, of the people who are in it."""

    def count(world: World, items: frozenset[str]) -> int:
        return sum(times for times, (has, inside) in zip(world, kinds, strict=True) if number in inside and items <= has)

    def within(items: frozenset[str], fewest: int, most: float) -> Callable[[World], bool]:
        return lambda world: fewest <= count(world, items) <= most

    yield lambda world: count(world, frozenset()) == release.n
    if isinstance(release, FrequencyTable):
        for index in range(len(release)):
            cell = frozenset(f"{column}={value}" for column, value in release.cell(index).items())
            ends = release.count(index)
            yield within(cell, ends.lo, ends.hi)
        return
    if isinstance(release, Itemsets):
        listed = {frozenset(release.names(index)): release.count(index) for index in range(len(release))}
        for items, bound in listed.items():
            yield within(items, bound.lo, bound.hi)
        if release.header.complete:
            named = sorted(frozenset().union(*listed)) if listed else []
            for size in range(2, len(named) + 1):
                for chosen in combinations(named, size):
                    if frozenset(chosen) not in listed:
                        yield within(frozenset(chosen), 0, (release.min_support or 0) - 1)
        return
    yield from _rule_tests(release, count)


def _rule_tests(release: Rules, count: Callable[[World, frozenset[str]], int]) -> Iterator[Callable[[World], bool]]:
    names = release.items.names
    for index in range(len(release)):
        left = frozenset(names[item] for item in release.antecedents[index].tolist())
        both = left | {names[item] for item in release.consequents[index].tolist()}

        def fits(world: World, left: frozenset[str] = left, both: frozenset[str] = both, index: int = index) -> bool:
            whole, part = count(world, left), count(world, both)
            inside = (
                release.lo[index] <= part <= release.hi[index] and release.whole_lo[index] <= whole <= release.whole_hi[index]
            )
            if not inside or whole == 0:
                return bool(inside)
            share = Fraction(part, whole)
            printed = None if release.confidence is None else release.confidence.value(index)
            half = (
                0
                if printed is None or release.confidence is None
                else Fraction(1, 2 * 10 ** int(release.confidence.digits[index]))
            )
            least = release.min_confidence or 0
            is_listed = share > least if release.header.strict else share >= least
            return is_listed and (printed is None or abs(share - printed) <= half)

        yield fits


def bounds(group: Group, kinds: Sequence[Kind], found: Sequence[World]) -> tuple[int, int]:
    """The fewest and the most people of a group in any of the worlds."""
    counts = [sum(members(group, kinds, world)) for world in found]
    return min(counts), max(counts)


def members(group: Group, kinds: Sequence[Kind], world: World) -> World:
    """The people of a group in one world, kind by kind."""
    has, lacks, inside, outside = group
    return tuple(
        people if has <= items and lacks.isdisjoint(items) and inside <= where and outside.isdisjoint(where) else 0
        for people, (items, where) in zip(world, kinds, strict=True)
    )


def group_of(event: Mapping[str, Sequence[str] | Sequence[int]]) -> Group:
    """The event of a finding's record as a group."""
    return (
        frozenset(map(str, event["present"])),
        frozenset(map(str, event["absent"])),
        frozenset(int(number) for number in event.get("inside", ())),
        frozenset(int(number) for number in event.get("outside", ())),
    )
