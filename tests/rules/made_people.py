"""Small random tables of people, for whatever is tested about rules."""

from __future__ import annotations

import random

import tacit


def people(seed: int, *, n: int = 60, values: int = 2) -> tacit.Table:
    """A table of three quasi-identifying columns and a sensitive one that depends on them."""
    chance = random.Random(seed)
    rows: dict[str, list[str]] = {"sex": [], "job": [], "town": [], "ill": []}
    for _ in range(n):
        sex, job, town = chance.choice("FM"), chance.choice(["clerk", "nurse", "smith"]), chance.choice("AB")
        likely = (sex == "F") + 2 * (job == "nurse") + (town == "B")
        ill = f"v{min(values - 1, likely % values)}" if chance.random() < 0.75 else f"v{chance.randrange(values)}"
        for name, value in zip(rows, (sex, job, town, ill), strict=True):
            rows[name].append(value)
    return tacit.read_table(rows, qi=["sex", "job", "town"], sa="ill")


def line_numbers(rules: tacit.Rules) -> dict[tuple[tuple[tuple[str, str], ...], str], tuple[int, int]]:
    """What is published about the people with antecedent and consequent of each rule."""
    return {
        (tuple(sorted(line["antecedent"].items())), line["consequent"]): (int(rules.lo[i]), int(rules.hi[i]))
        for i, line in enumerate(rules.records())
    }


def true_numbers(data: tacit.Table, min_support: int, min_confidence: float, *, strict: bool = False) -> dict[object, int]:
    """All rules of a table with their counts, by going through every pattern of every person."""
    from fractions import Fraction
    from itertools import combinations

    names = data.names
    texts = [[column.values[code] for code in column.codes.tolist()] for column in data.columns]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*texts, strict=True)]
    qi, sa = data.schema.qi, data.schema.sa[0]
    wholes: dict[tuple[tuple[str, str], ...], int] = {}
    counts: dict[tuple[tuple[tuple[str, str], ...], str], int] = {}
    for row in rows:
        for size in range(1, len(qi) + 1):
            for chosen in combinations(sorted(qi), size):
                left = tuple((name, row[name]) for name in chosen)
                wholes[left] = wholes.get(left, 0) + 1
                counts[left, row[sa]] = counts.get((left, row[sa]), 0) + 1
    bar = Fraction(str(min_confidence))
    return {
        key: count
        for key, count in counts.items()
        if count >= min_support and (count > bar * wholes[key[0]] or (not strict and count == bar * wholes[key[0]]))
    }
