"""Background knowledge: facts, and the values they exclude."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from tacit.model.arrays import Codes, Flags, Ints, Words
from tacit.model.errors import InputError, OptionError, nearest_name
from tacit.model.numbers import exact
from tacit.model.table import Column, Table, distinct_rows, row_keys

#: Where an attacker expects numbers that are withheld: nowhere in particular, or spread above their thresholds.
Withheld = Literal["at-threshold", "spread"]
WITHHELD: tuple[Withheld, ...] = get_args(Withheld)


def check_withheld(name: str) -> None:
    """Raise if there is no such expectation."""
    if name not in WITHHELD:
        remedy = nearest_name(name, WITHHELD, "expectations")
        raise OptionError(f"there is no expectation {name!r}", where="--withheld", remedy=remedy)


@dataclass(frozen=True, slots=True)
class Amount:
    """Number of people, or share of a group."""

    value: Fraction
    is_share: bool

    @classmethod
    def parse(cls, given: object, *, where: str = "amount") -> Amount:
        """Read a count (whole number) or a share."""
        value = exact(given, where=where)
        whole = given.strip().isdecimal() if isinstance(given, str) else not isinstance(given, (float, Fraction))
        if value < 0 or (not whole and value > 1):
            remedy = "Write a count such as 5, or a share such as 0.1 or 10%"
            raise OptionError("is neither a count nor a share", where=where, remedy=remedy)
        return cls(value, not whole)

    def of(self, people: int) -> Fraction:
        """Return the number for a group of this size."""
        return self.value * people if self.is_share else self.value


@dataclass(frozen=True, slots=True)
class Fact:
    """Bounds on people of a group with a value, and their source.

    With ``mean``, bounds on the mean of a numeric sensitive column over the group; ``value`` is empty then.
    """

    allowed: Mapping[str, tuple[str, ...]]
    value: str
    at_least: Amount | None = None
    at_most: Amount | None = None
    mean: tuple[Fraction, Fraction] | None = None
    file: str | None = None
    line: int = 0
    unit: str = "line"

    def bounds(self, people: int) -> tuple[int, int]:
        """Return bounds for a group of this size."""
        low = Fraction(0) if self.at_least is None else self.at_least.of(people)
        high = Fraction(people) if self.at_most is None else self.at_most.of(people)
        return -(-low.numerator // low.denominator), high.numerator // high.denominator

    @property
    def excludes(self) -> bool:
        """Tell if nobody of the group has the value."""
        return self.at_most is not None and self.at_most.value == 0

    @property
    def place(self) -> str:
        """File and line of the fact."""
        return f"{self.file or 'knowledge'} {self.unit} {self.line}"


_WORDS_AT_ONCE = 1 << 22  #: So many words are looked at together: 32 MB.


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """Values ``v`` excluded for row i: ``patterns[kind[i], v]``.

    People with the same pattern are interchangeable for whoever knows nothing else, so everything is done per kind.
    """

    values: tuple[str, ...]
    patterns: Flags
    kind: Codes

    @classmethod
    def none(cls, rows: int, values: tuple[str, ...]) -> Exclusions:
        """Nothing is ruled out for any person."""
        return cls(values, np.zeros((1, len(values)), np.bool_), np.zeros(rows, np.int32))

    @classmethod
    def of(cls, facts: Iterable[Fact], people: Table, values: tuple[str, ...]) -> Exclusions:
        """Return the values that facts exclude, by row.

        A fact that allows exceptions is refused: by it people would be matched to values as if their own were impossible.
        """
        place = {value: number for number, value in enumerate(values)}
        told = [fact for fact in facts if _is_told(fact, people.names) and fact.value in place]
        if not told or not values:
            return cls.none(len(people.weights), values)
        told.sort(key=lambda fact: place[fact.value])
        bits = _Bits.of(np.array([place[fact.value] for fact in told], np.int64), len(values))
        words = [bits.holding(told, column) for column in people.columns]
        row, combination = _combinations([column.codes for column in people.columns], words)
        size = max(1, _WORDS_AT_ONCE // max(1, bits.width))
        blocks = [slice(first, first + size) for first in range(0, len(row[0]), size)]
        excluded = np.concatenate([bits.any(words, [codes[block] for codes in row]) for block in blocks])
        first, kind = distinct_rows(excluded)
        return cls(values, excluded[first], kind[combination].astype(np.int32))


def _is_told(fact: Fact, columns: Sequence[str]) -> bool:
    if not fact.excludes:
        raise InputError(
            "says how many people have a value, not that nobody has it, so nobody can be matched to values by it",
            where=fact.place,
            remedy="Give negative rules without exceptions only (mine them with --min-confidence 1)",
        )
    if not set(fact.allowed) <= set(columns):
        remedy = f"The known columns are: {', '.join(columns)}"
        raise InputError("names a column that is not quasi-identifying", where=fact.place, remedy=remedy)
    return True


# Facts as bits: those that a value of a column fits. A person whom a fact speaks of fits it in every column.


@dataclass(frozen=True, slots=True, eq=False)
class _Bits:
    """Bits of facts, in words by sensitive value."""

    spot: Ints
    starts: Ints
    width: int

    @classmethod
    def of(cls, value: Ints, n_values: int) -> _Bits:
        per_value = np.bincount(value, minlength=n_values)
        starts = np.append(0, np.cumsum(-(-per_value // 64)))
        number = np.arange(len(value)) - np.append(0, np.cumsum(per_value))[value]
        return cls(starts[value] * 64 + number, starts, int(starts[-1]))

    def holding(self, told: Sequence[Fact], column: Column) -> Words:
        # The sets of values that facts ask for are numbered from 1; 0 asks nothing of the column.
        numbers: dict[tuple[str, ...], int] = {}
        asked = [fact.allowed.get(column.name) for fact in told]
        node_of_fact = [0 if one is None else 1 + numbers.setdefault(one, len(numbers)) for one in asked]
        place = {name: number for number, name in enumerate(column.values)}
        fits = np.zeros((1 + len(numbers), len(place)), np.bool_)
        fits[0] = True
        for members, number in numbers.items():
            fits[1 + number, [place[name] for name in members if name in place]] = True
        out = np.zeros((len(place), self.width * 64), np.bool_)
        out[:, self.spot] = fits[node_of_fact].T
        return np.packbits(out, axis=1, bitorder="little").view(np.uint64)

    def any(self, words: Sequence[Words], rows: Sequence[Ints]) -> Flags:
        both = words[0][rows[0]]
        for known, codes in zip(words[1:], rows[1:], strict=True):
            both &= known[codes]
        out = np.zeros((len(both), len(self.starts) - 1), np.bool_)
        filled = np.flatnonzero(np.diff(self.starts))
        out[:, filled] = np.bitwise_or.reduceat(both, self.starts[filled], axis=1) != 0
        return out


def _combinations(columns: Sequence[Codes], words: list[Words]) -> tuple[list[Ints], Ints]:
    """Return the occurring combinations, and each row's; cut ``words`` to one row each.

    Values that fit the same facts count as one.
    """
    parts = []
    for number, codes in enumerate(columns):
        first, same = distinct_rows(words[number])
        words[number] = words[number][first]
        parts.append(same[codes])
    key = row_keys(parts, len(columns[0]) if columns else 0)
    _, example, combination = np.unique(key, return_index=True, return_inverse=True)
    return [codes[example] for codes in parts], combination.reshape(-1)
