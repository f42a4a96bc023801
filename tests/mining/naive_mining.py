"""Slow, obvious twins for mining: every itemset of every row is counted, straight from the definitions; nothing here uses Tacit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import TypeVar

Item = TypeVar("Item")
Pair = tuple[str, str]
Supports = dict[frozenset[Item], int]


def frequent(rows: Iterable[Iterable[Item]], least: int, weights: Sequence[int] | None = None) -> Supports[Item]:
    """All itemsets that at least ``least`` people have, without the empty one.

    >>> sorted((sorted(items), count) for items, count in frequent(["ab", "a"], 1).items())
    [(['a'], 2), (['a', 'b'], 1), (['b'], 1)]
    """
    counts: Counter[frozenset[Item]] = Counter()
    for number, row in enumerate(rows):
        items = list(set(row))
        for size in range(1, len(items) + 1):
            for chosen in combinations(items, size):
                counts[frozenset(chosen)] += 1 if weights is None else weights[number]
    return {items: count for items, count in counts.items() if count >= least}


def closed(found: Supports[Item]) -> Supports[Item]:
    """Those of all frequent itemsets without a larger one of the same count."""
    return {items: count for items, count in found.items() if not any(items < other and found[other] == count for other in found)}


def maximal(found: Supports[Item]) -> Supports[Item]:
    """Those of all frequent itemsets without a larger one."""
    return {items: count for items, count in found.items() if not any(items < other for other in found)}


def chosen(found: Supports[Item], only: str) -> Supports[Item]:
    """All, the closed, or the maximal itemsets."""
    return closed(found) if only == "closed" else maximal(found) if only == "maximal" else found


def generalised(
    people: Sequence[Mapping[str, str]],
    levels: Mapping[str, Mapping[str, Sequence[str]]],
    least: int,
    everyone: Sequence[Mapping[str, str]] | None = None,
) -> Supports[Pair]:
    """All frequent itemsets of a table with at most one item per column, where an item is a value or a coarser value.

    A coarser value with the name of a value that someone (of ``everyone``) has is left out, and so is the root ``*``.

    >>> levels = {"a": {"x": ("up", "*"), "y": ("up", "*")}}
    >>> sorted(len(items) for items in generalised([{"a": "x", "b": "1"}, {"a": "y", "b": "1"}], levels, 2))
    [1, 1, 2]
    """
    values = {column: {person[column] for person in everyone or people} for column in (people[0] if people else {})}
    counts: Counter[frozenset[Pair]] = Counter()
    for person in people:
        choices: list[list[Pair | None]] = []
        for column, value in person.items():
            coarser = {node for node in levels.get(column, {}).get(value, ()) if node != "*" and node not in values[column]}
            choices.append([None, (column, value), *((column, node) for node in coarser)])
        for pairs in product(*choices):
            counts[frozenset(pair for pair in pairs if pair is not None)] += 1
    return {items: count for items, count in counts.items() if count >= least and items}


def rules(
    people: Sequence[Mapping[str, str]],
    sensitive: Sequence[str],
    levels: Mapping[str, Mapping[str, Sequence[str]]],
    support: Fraction,
    confidence: Fraction,
    *,
    strict: bool,
) -> dict[tuple[frozenset[Pair], str], tuple[int, int]]:
    """Rules Q => x with the number of people that have Q and x, and that have Q; ``support`` is a number of people, whole or not.

    >>> people = [{"sex": "F"}, {"sex": "F"}, {"sex": "M"}]
    >>> found = rules(people, ["hi", "lo", "lo"], {}, Fraction(1), Fraction(1, 2), strict=False)
    >>> sorted((x, counts) for (_, x), counts in found.items())
    [('hi', (1, 2)), ('lo', (1, 1)), ('lo', (1, 2))]
    """
    wholes = generalised(people, levels, 1)
    found = {}
    for value in set(sensitive):
        group = [person for person, own in zip(people, sensitive, strict=True) if own == value]
        for items, count in generalised(group, levels, 1, everyone=people).items():
            bars = (support, confidence * wholes[items])
            if all(count > bar if strict else count >= bar for bar in bars):
                found[items, value] = (count, wholes[items])
    return found
