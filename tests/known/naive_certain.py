"""All databases that print the same rules, one by one: what a small release leaves open; nothing here uses Tacit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

#: A person's quasi-identifiers.
Person = tuple[str, ...]
Rule = tuple[tuple[tuple[int, str], ...], str]


@dataclass(frozen=True)
class Printing:
    """How rules are chosen and printed."""

    least: int
    confidence: Fraction
    strict: bool = False
    withheld: bool = False
    digits: int | None = None
    complete: bool = True
    distribution: bool = False


def antecedents(people: Sequence[Person]) -> list[tuple[tuple[int, str], ...]]:
    """Every set of values that somebody has, without the empty one."""
    found: set[tuple[tuple[int, str], ...]] = set()
    for person in set(people):
        cells = list(enumerate(person))
        for size in range(1, len(cells) + 1):
            found.update(combinations(cells, size))
    return sorted(found)


def release(people: Sequence[Person], values: Sequence[str], domain: Sequence[str], how: Printing) -> dict[Any, Any]:
    """What is printed about these people with these sensitive values."""
    out: dict[Any, Any] = {}
    for having in antecedents(people):
        inside = [value for person, value in zip(people, values, strict=True) if all(person[i] == v for i, v in having)]
        for value in domain:
            count = inside.count(value)
            bars = (how.least, how.confidence * len(inside))
            if count > 0 and all(count > bar if how.strict else count >= bar for bar in bars):
                out[having, value] = _printed(count, len(people), how)
    if how.distribution:
        out["distribution"] = tuple(list(values).count(value) for value in domain)
    return out


def _printed(count: int, n: int, how: Printing) -> Any:
    if how.withheld:
        return None
    if how.digits is None:
        return count
    return int(Fraction(count, n) * 10**how.digits + Fraction(1, 2))


def worlds(people: Sequence[Person], values: Sequence[str], domain: Sequence[str], how: Printing) -> Iterator[tuple[str, ...]]:
    """All sensitive values of the same people under which the same is printed; of an incomplete list, at least what it says is true."""
    told = release(people, values, domain, how)
    for other in product(domain, repeat=len(people)):
        printed = release(people, other, domain, how)
        if printed == told if how.complete else all(printed.get(key, "not") == told[key] for key in told):
            yield other


def bounds(
    people: Sequence[Person], values: Sequence[str], domain: Sequence[str], how: Printing
) -> dict[tuple[Person, str], tuple[int, int]]:
    """The fewest and the most people of each combination with each value, over all worlds."""
    found: dict[tuple[Person, str], tuple[int, int]] = {}
    for world in worlds(people, values, domain, how):
        for person in set(people):
            for value in domain:
                count = sum(p == person and v == value for p, v in zip(people, world, strict=True))
                low, high = found.get((person, value), (count, count))
                found[person, value] = (min(low, count), max(high, count))
    return found
