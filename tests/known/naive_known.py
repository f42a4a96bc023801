"""All worlds in which several releases print the same about known people, one by one; nothing here uses Tacit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

#: A person's quasi-identifiers, and what is printed about people with sensitive values.
Person = tuple[str, ...]
Publish = Callable[[Sequence[Person], Sequence[str]], Any]


def groups(group: Sequence[int]) -> Publish:
    """How often each value occurs in each group."""

    def publish(people: Sequence[Person], values: Sequence[str]) -> Any:
        return sorted(zip(group, values, strict=True))

    return publish


def cells(columns: Sequence[int], hide_below: int) -> Publish:
    """The table of some columns and the sensitive one, small cells hidden."""

    def publish(people: Sequence[Person], values: Sequence[str]) -> Any:
        found: dict[Any, int] = {}
        for person, value in zip(people, values, strict=True):
            key = (*(person[column] for column in columns), value)
            found[key] = found.get(key, 0) + 1
        return {key: number for key, number in found.items() if number >= hide_below}

    return publish


def itemsets(least: int, only: str = "all") -> Publish:
    """The frequent sets of values of all columns, the sensitive one included."""

    def publish(people: Sequence[Person], values: Sequence[str]) -> Any:
        rows = [tuple(enumerate((*person, value))) for person, value in zip(people, values, strict=True)]
        found: dict[Any, int] = {}
        for row in rows:
            for size in range(1, len(row) + 1):
                for chosen in combinations(row, size):
                    found[chosen] = found.get(chosen, 0) + 1
        frequent = {frozenset(chosen): number for chosen, number in found.items() if number >= least}
        if only == "all":
            return frequent
        return {
            one: number
            for one, number in frequent.items()
            if not any(one < other and (only == "maximal" or frequent[other] == number) for other in frequent)
        }

    return publish


def worlds(
    people: Sequence[Person], truth: Sequence[str], domain: Sequence[str], printed: Sequence[Publish]
) -> Iterator[tuple[str, ...]]:
    """All sensitive values of the same people under which every release prints the same."""
    told = [publish(people, truth) for publish in printed]
    for other in product(domain, repeat=len(people)):
        if all(publish(people, other) == one for publish, one in zip(printed, told, strict=True)):
            yield other


def possible(
    people: Sequence[Person],
    truth: Sequence[str],
    domain: Sequence[str],
    printed: Sequence[Publish],
    allowed: Callable[[Person, str], bool] = lambda person, value: True,
) -> dict[Person, set[str]]:
    """The values that somebody of each combination has in some world in which nobody has what is not allowed."""
    found: dict[Person, set[str]] = {person: set() for person in people}
    for world in worlds(people, truth, domain, printed):
        pairs = list(zip(people, world, strict=True))
        if all(allowed(person, value) for person, value in pairs):
            for person, value in pairs:
                found[person].add(value)
    return found
