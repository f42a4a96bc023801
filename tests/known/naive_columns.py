"""All databases with two sensitive columns that print the same rules, one by one; nothing here uses Tacit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from tests.known.naive_certain import Person, Printing, release

#: A person's values of all sensitive columns.
Both = tuple[str, ...]


def printed(
    people: Sequence[Person], values: Sequence[Both], domains: Sequence[Sequence[str]], how: Printing
) -> list[dict[Any, Any]]:
    """What is printed about each column."""
    return [release(people, [both[place] for both in values], domain, how) for place, domain in enumerate(domains)]


def worlds(
    people: Sequence[Person], values: Sequence[Both], domains: Sequence[Sequence[str]], how: Printing
) -> Iterator[tuple[Both, ...]]:
    """All values of the same people under which the same is printed; of an incomplete list, at least what it says is true."""
    told = printed(people, values, domains, how)
    for other in product(product(*domains), repeat=len(people)):
        seen = printed(people, other, domains, how)
        pairs = list(zip(seen, told, strict=True))
        if seen == told if how.complete else all(one.get(key, "not") == said[key] for one, said in pairs for key in said):
            yield other


def bounds(
    people: Sequence[Person], values: Sequence[Both], domains: Sequence[Sequence[str]], how: Printing
) -> list[dict[tuple[Person, str], tuple[int, int]]]:
    """The fewest and the most people of each combination with each value of each column, over all worlds."""
    found: list[dict[tuple[Person, str], tuple[int, int]]] = [{} for _ in domains]
    for world in worlds(people, values, domains, how):
        for place, domain in enumerate(domains):
            for person, value in product(set(people), domain):
                count = sum(p == person and both[place] == value for p, both in zip(people, world, strict=True))
                low, high = found[place].get((person, value), (count, count))
                found[place][person, value] = (min(low, count), max(high, count))
    return found
