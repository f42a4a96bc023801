"""Cost of hiding cells: lost rules and count errors."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.policy import Check
from tacit.model.table import row_keys
from tacit.partial.unsafe_rules import count_people

#: Compared rules have at most this many condition columns, and at least this share of the people.
LONGEST = 2
LEAST_SHARE = Fraction(1, 100)
QUESTIONS = 300  #: Counting queries to draw.
_REDRAWN = 20  #: Draws per query at most, until a person fits it.


@dataclass(frozen=True, eq=False)
class _Table:
    """Distinct rows before and after hiding, with their people."""

    before: Codes
    after: Codes
    people: Ints


def blank_cost(
    before: Codes,
    after: Codes,
    conditions: int,
    *,
    confidence: Fraction,
    support: int,
    seed: int,
    people: Ints | None = None,
    check: Check = lambda: None,
) -> dict[str, Any]:
    """Count lost and changed rules; measure query errors.

    ``before`` and ``after`` are the codes of the same rows, -1 if blank, each of so many ``people`` (by default of one); the first
    ``conditions`` columns are condition attributes, the others sensitive ones. A rule is in use if its share of the people with the pattern
    is above ``confidence`` and more people than ``support`` and 1 % have it.
    """
    _, first, group = np.unique(row_keys((*before.T, *after.T), len(before)), return_index=True, return_inverse=True)
    table = _Table(before[first], after[first], count_people(group.reshape(-1), people, len(first)))
    counts = dict.fromkeys(("rules", "rules_lost", "rules_changed", "rules_new"), 0)
    bar = max(support, int(table.people.sum()) * LEAST_SHARE.numerator // LEAST_SHARE.denominator)
    for sensitive in range(conditions, before.shape[1]):
        for size in range(1, min(LONGEST, conditions) + 1):
            for some in combinations(range(conditions), size):
                check()
                for name, number in _compare_rules(table, [*some, sensitive], confidence, bar).items():
                    counts[name] += number
    return counts | {"query_error": _query_error(table, conditions, seed)}


def _compare_rules(table: _Table, columns: list[int], confidence: Fraction, bar: int) -> dict[str, int]:
    key = np.zeros(2 * len(table.people), np.int64)
    pattern = key
    known = np.ones(len(key), np.bool_)
    for column in columns:
        codes = np.concatenate([table.before[:, column], table.after[:, column]])
        pattern = key
        key = np.unique(key * (int(codes.max(initial=0)) + 2) + codes + 1, return_inverse=True)[1].reshape(-1)
        if column != columns[-1]:
            known &= codes >= 0
    both_known = known & (codes >= 0)
    half = np.arange(len(key)) < len(table.people)
    people = np.concatenate([table.people, table.people])
    size = int(key.max(initial=-1)) + 1
    whole_of = np.zeros(size, np.int64)
    whole_of[key] = pattern
    held = []
    confident = []
    for part in (half, ~half):
        both = np.bincount(key[part & both_known], people[part & both_known], minlength=size).astype(np.int64)
        patterns = int(pattern.max(initial=-1)) + 1
        whole = np.bincount(pattern[part & known], people[part & known], minlength=patterns).astype(np.int64)[whole_of]
        held.append((both > bar) & (both * confidence.denominator > whole * confidence.numerator))
        confident.append((both, whole))
    (old_both, old_whole), (new_both, new_whole) = confident
    changed = held[0] & held[1] & (old_both * new_whole != new_both * old_whole)
    counts = {"rules": held[0], "rules_lost": held[0] & ~held[1], "rules_changed": changed, "rules_new": held[1] & ~held[0]}
    return {name: int(rules.sum()) for name, rules in counts.items()}


def _query_error(table: _Table, conditions: int, seed: int) -> float:
    chance = np.random.default_rng(seed)
    sizes = (table.before.max(axis=0, initial=-1) + 1).tolist()
    errors = []
    for _ in range(QUESTIONS):
        for _ in range(_REDRAWN):
            columns = [*chance.choice(conditions, min(2, conditions), replace=False).tolist()]
            columns.append(int(chance.integers(conditions, table.before.shape[1])))
            asked = [_draw_values(chance, sizes[column]) for column in columns]
            true = _match_rows(table.before, columns, asked) @ table.people
            if true:
                shown = _match_rows(table.after, columns, asked) @ table.people
                errors.append(abs(int(shown) - int(true)) / int(true))
                break
    return float(np.mean(errors)) if errors else 0.0


def _draw_values(chance: np.random.Generator, many: int) -> Flags:
    marked = np.zeros(many + 1, np.bool_)
    if many:
        marked[chance.permutation(many)[: int(chance.integers(1, max(1, many // 2) + 1))]] = True
    return marked


def _match_rows(rows: Codes, columns: list[int], asked: list[Flags]) -> Flags:
    fits = asked[0][rows[:, columns[0]]]
    for column, marked in zip(columns[1:], asked[1:], strict=True):
        fits &= marked[rows[:, column]]
    return fits
