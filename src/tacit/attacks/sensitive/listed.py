"""How many rules are missing, and how many of them are left when those that follow from others are dropped.

A pattern is a set Q of quasi-identifiers that somebody has, with a sensitive value x; the rules that are missing are all patterns less the
published ones. By Theorem 3 of Zhu, Wang, Du a missing rule ``Q and more => x`` follows from a missing rule ``Q => x`` where
``c count(Q)`` is no more than the support threshold: Q is *light* then. Estimates need no such list
(:mod:`tacit.attacks.sensitive.missing`); these numbers say how large it would be.

Nothing of it is enumerated but what is kept. All parts of a set that is not light are not light, so its missing rules are all kept. Of the
light ones those are kept whose smaller parts are all not light, or published: the border of a family that is closed downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.rule_table import Ceiling, missing_ceiling
from tacit.attacks.sensitive.case import RuleCase
from tacit.attacks.sensitive.missing import rows_of
from tacit.mining.itemsets import count_itemsets, mine_itemsets
from tacit.model.population import Population

Marks = npt.NDArray[np.uint64]

#: Beyond this many numbers to sort or to look up, the counts are not worth their time.
MOST_WORK = 60_000_000
MOST_SETS = 50_000


@dataclass(frozen=True, slots=True)
class Listed:
    """How many rules are missing, how many are kept, and how many combinations these match; None where counting would take too long."""

    missing: int | None
    kept: int | None
    occurrences: int | None

    @property
    def why_not(self) -> str:
        """What was not counted, or nothing."""
        left_out = [name for name, number in (("missing rules", self.missing), ("those kept", self.kept)) if number is None]
        return f"{' and '.join(left_out)} were not counted: there are too many patterns" if left_out else ""


def count_missing(case: RuleCase, *, check: Callable[[], None] = lambda: None) -> Listed | None:
    """The numbers of a complete list; None of one whose missing rules say nothing."""
    ceiling = missing_ceiling(case.release)
    if ceiling is None or case.release.header.coarser:
        return None
    family = _Family.of(case, ceiling, check)
    patterns = count_patterns(case.population, check=check)
    missing = None if patterns is None else patterns * len(case.values) - len(_published(case))
    if family is None:
        return Listed(missing, None, None)
    return Listed(missing, *family.kept())


def count_patterns(population: Population, *, check: Callable[[], None] = lambda: None) -> int | None:
    """How many sets of quasi-identifiers somebody has, the empty one aside; None where counting them would take too long.

    >>> from tacit.model.table import Table
    >>> count_patterns(Population.of(Table.from_rows(["sex", "age"], [("F", "30"), ("M", "30"), ("F", "40")])))
    7
    """
    width = len(population.columns)
    if width > 40 or len(population) << width > MOST_WORK:
        return None
    chance = np.random.default_rng(20090402)
    # Without the column of most values few rows are distinct, so it goes first.
    columns = sorted(population.columns, key=lambda column: -len(column.values))
    marks = [chance.integers(1, 2**63, len(column.values), np.uint64)[column.codes] for column in columns]
    if width == 0 or len(population) == 0:
        return 0
    return _distinct(np.sum(marks, axis=0, dtype=np.uint64), np.stack(marks), check) - 1


def _distinct(rows: Marks, columns: Marks, check: Callable[[], None]) -> int:
    """How many sets there are of these rows and of what is left of them without some of the columns.

    A row is the sum of the marks of its values, and all rows are distinct. With a column left out fewer are, and only these go on, with
    the columns behind it.
    """
    check()
    total = len(rows)
    for number, column in enumerate(columns):
        left = rows - column
        if number == len(columns) - 1:
            ordered = np.sort(left)
            return total + 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
        order = np.argsort(left)  # much faster than a stable sort, and any of equal rows will do
        ordered = left[order]
        first = np.append(True, ordered[1:] != ordered[:-1])
        total += _distinct(ordered[first], columns[number + 1 :, order[first]], check)
    return total


def _published(case: RuleCase) -> dict[tuple[int, str], None]:
    """The antecedent of each published rule as bits over the items of the population, with its value; each once."""
    bit = _bits(case.population)
    lines = range(len(case.release))
    return dict.fromkeys((sum(1 << bit[pair] for pair in case.antecedent(line)), case.consequent(line)) for line in lines)


def _bits(population: Population) -> dict[tuple[str, str], int]:
    pairs = [(column.name, value) for column in population.columns for value in column.values]
    return {pair: place for place, pair in enumerate(pairs)}


@dataclass(eq=False)
class _Family:
    """The sets that are not light, the light ones that rules are about, and what each of them with one value more matches.

    A set is written as bits over the items, in the order of the columns. ``combinations[S]`` is how many combinations match S, ``larger[S]``
    the same for S with one value more of a later column.
    """

    values: tuple[str, ...]
    heavy: list[int]
    published: dict[tuple[int, str], None]
    combinations: dict[int, int]
    larger: dict[int, list[tuple[int, int]]]

    @classmethod
    def of(cls, case: RuleCase, ceiling: Ceiling, check: Callable[[], None]) -> _Family | None:
        population, rows = case.population, rows_of(case.population)
        bit = _bits(population)
        least = _least_heavy(ceiling, population.n)
        heavy: list[int] = []
        people = 0
        if least <= population.n:
            if count_itemsets(rows, min_support=least, only=["all"])["all"] > MOST_SETS:
                return None
            found = mine_itemsets(rows, min_support=least)
            pairs = found.items.pairs or ()
            heavy = [sum(1 << bit[pairs[item]] for item in members.tolist()) for members in found.sets]
            people = int(found.lo.sum())
        published = _published(case)
        light = {mask for mask, _ in published}.difference(heavy)
        if (people + int(case.wholes.sum()) + population.n) * len(population.columns) > 10 * MOST_WORK:
            return None
        family = cls(case.values, heavy, published, {}, {})
        family._look(population, [0, *heavy, *sorted(light)], check)
        return family

    def _look(self, population: Population, sets: Iterable[int], check: Callable[[], None]) -> None:
        starts = np.cumsum([0] + [len(column.values) for column in population.columns]).tolist()
        pairs = list(_bits(population))
        for number, mask in enumerate(sets):
            if number % 256 == 0:
                check()
            matching = population.holding(pairs[place] for place in _places(mask))
            self.combinations[mask] = len(matching)
            grown: list[tuple[int, int]] = []
            for column, start in zip(population.columns, starts[:-1], strict=True):
                if mask >> start == 0:
                    sizes = np.bincount(column.codes[matching], minlength=len(column.values))
                    grown += [(mask | 1 << start + code, int(sizes[code])) for code in np.flatnonzero(sizes).tolist()]
            self.larger[mask] = grown

    def kept(self) -> tuple[int, int]:
        """How many missing rules are kept, and how many combinations they match."""
        plain = self._border({})
        rules = occurrences = 0
        everything = sum(self.combinations[mask] for mask in self.heavy)
        heavy = set(self.heavy)
        for value in self.values:
            said = [mask for mask, consequent in self.published if consequent == value]
            light = dict.fromkeys(mask for mask in said if mask not in heavy)
            border = self._border(light) if light else plain
            rules += len(self.heavy) - (len(said) - len(light)) + border[0]
            occurrences += everything - sum(self.combinations[mask] for mask in said if mask not in light) + border[1]
        return rules, occurrences

    def _border(self, light: dict[int, None]) -> tuple[int, int]:
        """The sets outside the family all of whose parts are in it: how many, and how many combinations they match."""
        family = {0, *self.heavy, *light}
        rules = occurrences = 0
        for mask in family:
            bits = [1 << place for place in _places(mask)]
            for larger, matched in self.larger[mask]:
                if larger not in family and all(larger ^ bit in family for bit in bits):
                    rules += 1
                    occurrences += matched
        return rules, occurrences


def _least_heavy(ceiling: Ceiling, n: int) -> int:
    """The fewest people of whom a missing rule allows more than the support threshold does; more than n where there are none."""
    low, high = 1, n + 1
    while low < high:
        middle = (low + high) // 2
        if ceiling.of(middle) > max(0, ceiling.min_support - 1):
            high = middle
        else:
            low = middle + 1
    return low


def _places(mask: int) -> list[int]:
    """The places of the bits that are set."""
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out
