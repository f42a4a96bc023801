"""What hiding cells does to the use of a table: rules lost and changed, and the error of counts, read with a blank as fitting nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from tacit.model.arrays import Codes, Flags, Ints

#: Rules that are compared have so many condition columns at the most, and at least this share of the people.
LONGEST = 2
LEAST_SHARE = Fraction(1, 100)
#: So many questions are asked.
QUESTIONS = 300
#: Questions that nobody fits are drawn again, up to so many times.
_REDRAWN = 20


@dataclass(frozen=True, eq=False)
class _Alike:
    """Different rows of a table, before and after hiding, and how many people have each; -1 is a blank."""

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
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Rules in use before, and how many of them are lost and changed; the mean relative error of counting questions.

    ``before`` and ``after`` are the codes of the same rows, -1 where blank; the first ``conditions`` columns are condition attributes, the
    others sensitive ones. A rule is in use when its share of the people with the pattern is above ``confidence`` and more people than
    ``support`` and one in a hundred have it.

    >>> table = np.array([[0, 0], [0, 0], [0, 1], [1, 1]], np.int32)
    >>> blank = np.array([[0, 0], [0, -1], [0, 1], [1, 1]], np.int32)
    >>> told = blank_cost(table, blank, 1, confidence=Fraction(3, 5), support=0, seed=0)
    >>> told["rules"], told["rules_lost"], told["rules_changed"]
    (2, 1, 0)
    """
    alike = _alike(before, after)
    counts = {"rules": 0, "rules_lost": 0, "rules_changed": 0, "rules_new": 0}
    bar = max(support, len(before) * LEAST_SHARE.numerator // LEAST_SHARE.denominator)
    for sensitive in range(conditions, before.shape[1]):
        for size in range(1, min(LONGEST, conditions) + 1):
            for some in combinations(range(conditions), size):
                check()
                for name, number in _compared(alike, [*some, sensitive], confidence, bar).items():
                    counts[name] += number
    return counts | {"query_error": _query_error(alike, conditions, seed)}


def _alike(before: Codes, after: Codes) -> _Alike:
    """The rows with those that are equal before and after merged."""
    key = np.zeros(len(before), np.int64)
    largest = 1
    for column in (*before.T, *after.T):
        values = int(column.max(initial=-1)) + 2
        if largest * values >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            largest = len(key)
        key = key * values + (column + 1)
        largest = largest * values
    _, first, people = np.unique(key, return_index=True, return_counts=True)
    return _Alike(before[first], after[first], people.astype(np.int64))


def _compared(alike: _Alike, columns: list[int], confidence: Fraction, bar: int) -> dict[str, int]:
    """Rules over these columns, the last of them the sensitive one, before and after."""
    key = np.zeros(2 * len(alike.people), np.int64)
    pattern = key
    known = np.ones(len(key), np.bool_)
    for column in columns:
        codes = np.concatenate([alike.before[:, column], alike.after[:, column]])
        pattern = key
        key = np.unique(key * (int(codes.max(initial=0)) + 2) + codes + 1, return_inverse=True)[1].reshape(-1)
        if column != columns[-1]:
            known &= codes >= 0
    both_known = known & (codes >= 0)
    half = np.arange(len(key)) < len(alike.people)
    people = np.concatenate([alike.people, alike.people])
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
    kept = held[0] & held[1]
    changed = kept & (old_both * new_whole != new_both * old_whole)
    lost = held[0] & ~held[1]
    new = held[1] & ~held[0]
    return {
        name: int(flags.sum())
        for name, flags in (("rules", held[0]), ("rules_lost", lost), ("rules_changed", changed), ("rules_new", new))
    }


def _query_error(alike: _Alike, conditions: int, seed: int) -> float:
    """The mean relative error of questions: how many people have one of these values in two condition columns, and in a sensitive one?"""
    chance = np.random.default_rng(seed)
    errors = []
    for _ in range(QUESTIONS):
        for _ in range(_REDRAWN):
            columns = [*chance.choice(conditions, min(2, conditions), replace=False).tolist()]
            columns.append(int(chance.integers(conditions, alike.before.shape[1])))
            asked = [_values(chance, int(alike.before[:, column].max(initial=-1)) + 1) for column in columns]
            true = _fitting(alike.before, columns, asked) @ alike.people
            if true:
                told = _fitting(alike.after, columns, asked) @ alike.people
                errors.append(abs(int(told) - int(true)) / int(true))
                break
    return float(np.mean(errors)) if errors else 0.0


def _values(chance: np.random.Generator, many: int) -> Flags:
    """From 1 to half of so many values; the last place is for blanks, which are never asked for."""
    marked = np.zeros(many + 1, np.bool_)
    if many:
        marked[chance.permutation(many)[: int(chance.integers(1, max(1, many // 2) + 1))]] = True
    return marked


def _fitting(rows: Codes, columns: list[int], asked: list[Flags]) -> Flags:
    fits = np.ones(len(rows), np.bool_)
    for column, marked in zip(columns, asked, strict=True):
        fits &= marked[rows[:, column]]
    return fits
