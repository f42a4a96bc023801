"""What a bucketized release is good for, straight from the definitions: dictionaries and loops over people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from tacit.model.buckets import Buckets
from tacit.model.table import Column, Table

Person = tuple[tuple[str, ...], str, int]
Rule = tuple[tuple[tuple[int, str], ...], str]


def released(people: Sequence[Person]) -> tuple[Buckets, Table]:
    """The release of people given as (quasi-identifiers, sensitive value, group), and their table."""
    names = [f"q{number}" for number in range(len(people[0][0]))]
    table = Table.from_rows([*names, "ill"], [(*qi, value) for qi, value, _ in people])
    group = Column.from_texts("group", [str(one[2]) for one in people]).codes
    return Buckets.of(table.select(names), table.column("ill"), group), table


def contents(people: Sequence[Person]) -> dict[int, Counter[str]]:
    """How often each value occurs in each group."""
    out: dict[int, Counter[str]] = {}
    for _, value, group in people:
        out.setdefault(group, Counter())[value] += 1
    return out


def uniform(people: Sequence[Person]) -> list[dict[str, Fraction]]:
    """The share of each value in everybody's group."""
    found = contents(people)
    return [{v: Fraction(c, found[g].total()) for v, c in found[g].items()} for _, _, g in people]


def equally_likely(people: Sequence[Person], excluded: Callable[[tuple[str, ...], str], bool]) -> list[dict[str, Fraction]]:
    """The share of the assignments that fit in which everybody has each value, all of them listed."""
    out: list[dict[str, Fraction]] = [{} for _ in people]
    for group in contents(people):
        rows = [row for row, one in enumerate(people) if one[2] == group]
        fitting = [
            given
            for given in permutations([people[row][1] for row in rows])
            if not any(excluded(people[row][0], value) for row, value in zip(rows, given, strict=True))
        ]
        for place, row in enumerate(rows):
            seen = Counter(given[place] for given in fitting)
            out[row] = {value: Fraction(times, len(fitting)) for value, times in seen.items()}
    return out


def linked(people: Sequence[Person], left_out: Sequence[Person], rounds: int) -> list[dict[str, float]]:
    """Everybody's values if the data, which also have those ``left_out``, are matched with the groups: proportional fitting, round by round."""
    inside = contents(people)
    data = Counter((qi, value) for qi, value, _ in [*people, *left_out])
    share = [{value: float(inside[group][value]) for value in inside[group] if data[qi, value]} for qi, _, group in people]
    factor = dict.fromkeys(data, 1.0)
    for _ in range(rounds):
        for one in share:
            total = sum(one.values())
            one.update({value: part / total for value, part in one.items()})
        for group, values in inside.items():
            rows = [row for row, person in enumerate(people) if person[2] == group]
            for value, many in values.items():
                have = sum(share[row].get(value, 0.0) for row in rows)
                for row in rows:
                    if value in share[row]:
                        share[row][value] *= many / max(have, 1e-300)
        for (qi, value), many in data.items():
            rows = [row for row, person in enumerate(people) if person[0] == qi]
            have = sum(share[row].get(value, 0.0) for row in rows)
            wanted = factor[qi, value] * many / max(have, 1e-300)
            wanted = min(wanted, 1.0) if left_out else wanted  # what was lowered for others may rise again
            for row in rows:
                if value in share[row]:
                    share[row][value] *= wanted / factor[qi, value]
            factor[qi, value] = wanted
    return [{value: part / sum(one.values()) for value, part in one.items()} for one in share]


def mixing(people: Sequence[Person], values: Sequence[str]) -> list[list[Fraction]]:
    """The mean share of each value in the groups of the people with each value."""
    shares = uniform(people)
    out = []
    for value in values:
        mine = [share for (_, own, _), share in zip(people, shares, strict=True) if own == value]
        out.append([sum((share.get(other, Fraction(0)) for share in mine), Fraction(0)) / len(mine) for other in values])
    return out


def antecedents(people: Sequence[Person], length: int) -> dict[tuple[tuple[int, str], ...], list[int]]:
    """The rows of every set of up to ``length`` quasi-identifiers that somebody has."""
    out: dict[tuple[tuple[int, str], ...], list[int]] = {}
    for row, (qi, _, _) in enumerate(people):
        for size in range(1, length + 1):
            for chosen in combinations(range(len(qi)), size):
                out.setdefault(tuple((column, qi[column]) for column in chosen), []).append(row)
    return out


def positive_rules(
    people: Sequence[Person], shares: Sequence[dict[str, Fraction]], *, least: int, conviction: Fraction, length: int
) -> dict[Rule, Fraction]:
    """The rules with their confidences, when everybody has values by these shares."""
    n, totals = len(people), Counter(value for _, value, _ in people)
    out: dict[Rule, Fraction] = {}
    for left, rows in antecedents(people, length).items():
        for value, total in totals.items():
            both = sum((shares[row].get(value, Fraction(0)) for row in rows), Fraction(0))
            without = len(rows) - both
            convinced = without == 0 or Fraction(len(rows), n) * Fraction(n - total, n) / (without / n) >= conviction
            if both >= least and convinced and total < n:
                out[left, value] = both / len(rows)
    return out


def truth(people: Sequence[Person]) -> list[dict[str, Fraction]]:
    """Everybody's own value for certain."""
    return [{value: Fraction(1)} for _, value, _ in people]


def confidences(people: Sequence[Person], shares: Sequence[dict[str, Fraction]], rules: Sequence[Rule]) -> list[Fraction]:
    """The confidence of some rules under some shares."""
    rows = antecedents(people, len(people[0][0]))
    both = [sum((shares[row].get(value, Fraction(0)) for row in rows[left]), Fraction(0)) for left, value in rules]
    return [found / len(rows[left]) for found, (left, _) in zip(both, rules, strict=True)]


def learnt(people: Sequence[Person], rounds: int, filling: int) -> tuple[list[str], np.ndarray]:
    """The shares after so many rounds of the naive Bayes model, person by person; one line each, a column for each value."""
    values = sorted({value for _, value, _ in people})
    found = np.array([[float(share.get(value, 0)) for value in values] for share in uniform(people)])
    start = found.copy()
    width = len(people[0][0])
    for _ in range(rounds):
        fit = np.ones_like(found)
        for column in range(width):
            texts = sorted({qi[column] for qi, _, _ in people})
            for place, _ in enumerate(values):
                usual = {t: (sum(qi[column] == t for qi, _, _ in people) + 1) / (len(people) + len(texts)) for t in texts}
                counts = {
                    t: sum(found[row, place] for row, (qi, _, _) in enumerate(people) if qi[column] == t) + len(texts) * usual[t]
                    for t in texts
                }
                for row, (qi, _, _) in enumerate(people):
                    fit[row, place] *= counts[qi[column]] / sum(counts.values())
        fit = np.where(start > 0, fit, 0.0)
        weight = np.where(start > 0, np.maximum(fit / fit.max(axis=1, keepdims=True), 1e-9), 0.0)
        found = filled(people, values, weight, filling)
    return values, found


def filled(people: Sequence[Person], values: Sequence[str], weight: np.ndarray, rounds: int) -> np.ndarray:
    """Weights scaled so that groups give out their values, in so many rounds, with everybody's adding up to 1 last."""
    factor = {(group, value): 1.0 for group, inside in contents(people).items() for value in inside}
    found = weight / weight.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        for (group, value), old in factor.items():
            place = values.index(value)
            given = sum(found[row, place] for row, one in enumerate(people) if one[2] == group)
            factor[group, value] = old * contents(people)[group][value] / given
        scaled = np.array(
            [
                [w * factor.get((one[2], v), 1.0) for v, w in zip(values, row, strict=True)]
                for one, row in zip(people, weight, strict=True)
            ]
        )
        found = scaled / scaled.sum(axis=1, keepdims=True)
    return np.asarray(found)
