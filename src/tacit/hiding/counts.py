"""What is hidden so far, and what the rules count then.

Records of a class that have the same cells hidden form a *pile*; hiding a cell moves records from one pile to another. Cells are numbered as in
:class:`~tacit.hiding.problem.Problem`: condition attributes, then sensitive columns; a set of hidden cells is a bit mask of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.hiding.problem import OTHER, OWNER, RELEVANT, Counts, Flags, Problem


@dataclass(frozen=True, slots=True)
class Pile:
    """Records of one class with the same cells hidden."""

    of: int
    hidden: int


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """Rules that change when one record loses a cell, and what each of them then counts less of."""

    rules: npt.NDArray[np.int64]
    having: Counts
    both: Counts
    owners: Counts


class Hiding:
    """A partial table in the making: how many records of each class have which cells hidden, and the counts of all rules."""

    def __init__(self, problem: Problem, regions: frozenset[str]) -> None:
        self.problem = problem
        self.allowed: Flags = problem.may_hide(regions)
        rules, classes = problem.rules, problem.classes
        self.having, self.both, self.owners = rules.having.copy(), rules.both.copy(), rules.owners.copy()
        self.piles = [Pile(c, 0) for c in range(len(classes))]
        self.people: list[int] = classes.people.tolist()
        self._number: dict[Pile, int] = {}
        # The same entries as in the rules, but by class.
        by_class = np.argsort(rules.member, kind="stable")
        of_rule = np.repeat(np.arange(len(rules)), np.diff(rules.start))
        self._rule_of, self._role_of = of_rule[by_class], rules.role[by_class]
        self._start = np.searchsorted(rules.member[by_class], np.arange(len(classes) + 1))
        self._column = problem.column[rules.target]

    @property
    def unsafe(self) -> Flags:
        """Which rules give away a protected cell now; a rule without owners speaks of nobody."""
        return self.problem.thresholds.unsafe(self.having, self.both) & (self.owners > 0)

    @property
    def is_safe(self) -> bool:
        """Whether no rule gives anything away."""
        return not self.unsafe.any()

    @property
    def cells_hidden(self) -> int:
        """How many cells are hidden, besides the protected ones."""
        return sum(pile.hidden.bit_count() * people for pile, people in zip(self.piles, self.people, strict=True))

    def rules_of(self, number: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
        """The rules whose pattern the records of a pile still publish, and what these records are to them."""
        k, pile = self.problem.attributes, self.piles[number]
        inside = slice(self._start[pile.of], self._start[pile.of + 1])
        rules, role = self._rule_of[inside], self._role_of[inside]
        if pile.hidden:
            kept = (self.problem.rules.mask[rules] & pile.hidden) == 0
            rules, role = rules[kept], role[kept]
            if values := pile.hidden >> k:
                hidden = (values >> self._column[rules]) & 1 == 1
                role = np.where(hidden & (role == RELEVANT), np.int8(OTHER), role)
        return rules, role

    def touched(self, number: int, cell: int) -> Touched:
        """What changes when a record of a pile loses this cell."""
        k = self.problem.attributes
        rules, role = self.rules_of(number)
        if cell >= k:
            rules = rules[(role == RELEVANT) & (self._column[rules] == cell - k)]
            ones = np.ones(len(rules), np.int64)
            return Touched(rules, 0 * ones, ones, 0 * ones)
        kept = (self.problem.rules.mask[rules] >> cell) & 1 == 1
        rules, role = rules[kept], role[kept]
        ones = np.ones(len(rules), np.int64)
        return Touched(rules, ones, (role == RELEVANT).astype(np.int64), (role == OWNER).astype(np.int64))

    def hide(self, number: int, cell: int, records: int = 1) -> tuple[int, Touched]:
        """Hide a cell of so many records of a pile; the pile they are on then, and what changed."""
        pile = self.piles[number]
        changed = self.touched(number, cell)
        self.having[changed.rules] -= records * changed.having
        self.both[changed.rules] -= records * changed.both
        self.owners[changed.rules] -= records * changed.owners
        target = self.number_of(Pile(pile.of, pile.hidden | 1 << cell))
        self.people[number] -= records
        self.people[target] += records
        return target, changed

    def restore(self, number: int, cell: int, records: int = 1) -> None:
        """Publish a hidden cell of so many records of a pile again."""
        target = self.number_of(Pile(self.piles[number].of, self.piles[number].hidden & ~(1 << cell)))
        self.people[number] -= records
        self.people[target] += records
        changed = self.touched(target, cell)
        self.having[changed.rules] += records * changed.having
        self.both[changed.rules] += records * changed.both
        self.owners[changed.rules] += records * changed.owners

    def may_hide(self, number: int, cell: int) -> bool:
        """Whether a cell of this pile's records is published and may be hidden."""
        pile = self.piles[number]
        return bool(self.allowed[pile.of, cell]) and not pile.hidden >> cell & 1

    def number_of(self, pile: Pile) -> int:
        """The number of a pile, made when it is not there yet."""
        if not pile.hidden:
            return pile.of
        if pile not in self._number:
            self._number[pile] = len(self.piles)
            self.piles.append(pile)
            self.people.append(0)
        return self._number[pile]

    def take(self, hidden: list[tuple[Pile, int]]) -> None:
        """Hide in so many records of each class what a pile has hidden."""
        for pile, records in hidden:
            number = pile.of
            for cell in range(self.problem.cells):
                if pile.hidden >> cell & 1 and records:
                    number, _ = self.hide(number, cell, records)

    def outcome(self) -> list[tuple[Pile, int]]:
        """Every pile with hidden cells, and how many records are on it."""
        counted = zip(self.piles, self.people, strict=True)
        return sorted(((p, n) for p, n in counted if p.hidden and n), key=lambda entry: (entry[0].of, entry[0].hidden))


def hidden_cells(problem: Problem, outcome: list[tuple[Pile, int]], *, seed: int) -> Flags:
    """The cells of the table that are hidden; which of several records that are alike is left to chance."""
    out = np.zeros((problem.rows, problem.cells), bool)
    chance = np.random.default_rng(seed)
    rows_of: dict[int, Counts] = {}
    for pile, records in outcome:
        if pile.of not in rows_of:
            start = problem.classes.start
            rows_of[pile.of] = chance.permutation(problem.classes.order[start[pile.of] : start[pile.of + 1]])
        chosen, rows_of[pile.of] = rows_of[pile.of][:records], rows_of[pile.of][records:]
        cells = [cell for cell in range(problem.cells) if pile.hidden >> cell & 1]
        for cell in cells:
            out[chosen, cell] = True
    return out
