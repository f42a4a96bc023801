"""Patterns of a table and their pruning, against plain loops over sets; the numbers of Zhu, Wang and Du on Adult."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.papers.bench import Bench, find_adult, read_adult
from tacit.papers.lattice import Kept, Lattice, Missing, count
from tests.examples import examples

People = Sequence[tuple[str, ...]]
Pattern = frozenset[tuple[int, str]]
#: Three columns with two or three values, and a sensitive value.
ROWS = st.lists(
    st.tuples(*(st.sampled_from("abc"[:size]) for size in (2, 3, 2)), st.sampled_from("xyz")), min_size=1, max_size=14
)
SHARES = st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1)])


def lattice_of(rows: People) -> Lattice:
    columns = {name: [row[place] for row in rows] for place, name in enumerate("pqrs"[: len(rows[0]) - 1])}
    return Lattice.of(tacit.read_table(columns | {"sa": [row[-1] for row in rows]}, qi=list(columns), sa="sa"))


def named(lattice: Lattice, kept: Kept, rows: People) -> set[tuple[Pattern, str]]:
    """The kept patterns by their values."""
    columns = lattice.population.columns
    values = sorted({row[-1] for row in rows})
    found = set()
    for mask, flags in kept.items():
        inside = [place for place in range(len(columns)) if mask >> place & 1]
        for itemset, value in np.argwhere(flags).tolist():
            first = int(lattice.levels[mask].first[itemset])
            pattern = frozenset((place, columns[place].values[columns[place].codes[first]]) for place in inside)
            found.add((pattern, values[value]))
    return found


class Naive:
    """Figure 3 line by line, and Theorem 3 by its words, over sets."""

    def __init__(self, rows: People, s: Fraction, c: Fraction) -> None:
        self.rows = rows
        self.s = s
        self.c = c
        self.width = len(rows[0]) - 1
        self.values = sorted({row[-1] for row in rows})
        self.sets = {
            frozenset(part)
            for row in rows
            for size in range(1, self.width + 1)
            for part in combinations(enumerate(row[:-1]), size)
        }

    def share(self, pattern: Pattern, value: str | None = None) -> Fraction:
        matching = [row for row in self.rows if all(row[place] == one for place, one in pattern)]
        return Fraction(sum(value in (None, row[-1]) for row in matching), len(self.rows))

    def is_rule(self, pattern: Pattern, value: str) -> bool:
        return self.share(pattern, value) >= max(self.s, self.c * self.share(pattern))

    def is_light(self, pattern: Pattern) -> bool:
        return self.c * self.share(pattern) <= self.s

    def theorem(self) -> set[tuple[Pattern, str]]:
        absent = {(one, x) for one in self.sets for x in self.values if not self.is_rule(one, x)}
        light = {(one, x) for one, x in absent if self.is_light(one)}
        return {(one, x) for one, x in absent if not any(y == x and smaller < one for smaller, y in light)}

    def figure(self) -> set[tuple[Pattern, str]]:
        """As printed; returns Psi of all k."""
        level = {one for one in self.sets if len(one) == 1}
        psi = {(one, x) for one in level for x in self.values if not self.is_rule(one, x)}
        found = set(psi)
        for size in range(2, self.width + 1):
            fresh_level: set[Pattern] = set()
            fresh_psi: set[tuple[Pattern, str]] = set()
            for smaller in level:
                for one in (larger for larger in self.sets if len(larger) == size and smaller < larger):
                    for x in self.values:
                        if self.is_rule(one, x):
                            fresh_level.add(one)
                        elif not ((smaller, x) in psi and self.is_light(smaller)):
                            fresh_psi.add((one, x))
                            fresh_level.add(one)
            level, psi = fresh_level, fresh_psi
            found |= psi
        return found


@settings(max_examples=examples(150), deadline=None)
@given(ROWS, SHARES, SHARES)
def test_what_is_kept_is_what_the_words_say(rows: People, s: Fraction, c: Fraction) -> None:
    lattice = lattice_of(rows)
    missing = Missing(lattice, s, c)
    naive = Naive(rows, s, c)
    assert lattice.patterns == len(naive.sets) * len(naive.values)
    assert missing.rules == sum(naive.is_rule(one, x) for one in naive.sets for x in naive.values)
    theorem = named(lattice, missing.by_theorem(), rows)
    printed = named(lattice, missing.as_printed(), rows)
    assert theorem == naive.theorem()
    assert printed == naive.figure()
    assert theorem <= named(lattice, missing.by_any_parent(), rows) <= printed
    for mask, flags in missing.absent.items():
        level = lattice.levels[mask]
        for itemset, value in np.argwhere(flags).tolist():
            most = missing.most(int(level.people[itemset]))
            assert level.held[itemset, value] <= most <= level.people[itemset]
            assert bool(missing.informative()[mask][itemset, value]) == (most < level.people[itemset])


def test_figure_3_as_printed_keeps_a_rule_that_theorem_3_prunes() -> None:
    """A => x is light and missing; A and B => x is pruned; A, B, C => x comes back, because y keeps A and B in L."""
    rows = [("a", "b", "c", "x"), *[("a", "b", "c", "y")] * 3, *[("d", "e", "f", "x")] * 4]
    missing = Missing(lattice_of(rows), Fraction(3, 8), Fraction(1, 2))
    whole = frozenset(enumerate("abc"))
    assert (whole, "x") in named(missing.lattice, missing.as_printed(), rows)
    assert (whole, "x") not in named(missing.lattice, missing.by_theorem(), rows)
    assert (count(missing.by_theorem()), count(missing.as_printed())) == (6, 8)


def test_the_matrix_adds_up_the_people_of_every_pattern() -> None:
    rows = [("a", "b", "x"), ("a", "c", "y"), ("a", "b", "y"), ("d", "b", "x")]
    lattice = lattice_of(rows)
    matrix = lattice.matrix()
    assert matrix.shape == (lattice.patterns, lattice.truth.size)
    assert len(matrix.places) == len(lattice.population) * 3 * 2
    sums = matrix @ lattice.truth.reshape(-1)
    held = np.concatenate([level.held.T.reshape(-1) for level in lattice.levels.values()])
    assert np.array_equal(sums, held)


@pytest.fixture(scope="module")
def adult() -> Lattice:
    path = find_adult(Bench.open("bundled", None, lambda _: None).folder)
    assert path is not None
    return Lattice.of(read_adult(path))


def test_the_numbers_of_the_paper_come_out(adult: Lattice) -> None:
    missing = Missing(adult, Fraction("0.1"), Fraction("0.6"))
    assert (adult.patterns, adult.possible, missing.rules) == (766_582, 172_730_878, 110)
    kept = missing.by_theorem()
    assert (count(kept), missing.occurrences(kept)) == (449, 281_014)
    assert (count(missing.as_printed()), count(missing.by_any_parent())) == (253_924, 165_317)
    assert len(adult.matrix().places) == 3_938_220
