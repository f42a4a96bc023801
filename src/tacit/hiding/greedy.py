"""greedy: one method for every set of regions.

The potential of a table is by how much its unsafe rules are over the thresholds, each counted by the share of its owners that still publish
its pattern. Each step hides the cell that lowers it most; records that are alike are hidden together as long as that stays the best.
Afterwards cells are published again one by one while the table stays safe. All subsets of the regions are tried, and the one with the fewest
hidden cells is kept: a larger choice can lead astray. So are the paper's two methods, less the cells that they need not have hidden.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.hiding.counts import Hiding, Touched
from tacit.hiding.problem import OTHER, REGIONS, RELEVANT, Codes, Counts, Problem
from tacit.hiding.restoring import restore_while_safe
from tacit.hiding.rgraph import hide_along_graph
from tacit.hiding.smc import hide_values

#: Gains that differ by less are rounding.
NOTHING = 1e-9


def hide_greedily(problem: Problem, regions: frozenset[str], check: Callable[[], None] = lambda: None) -> Hiding | None:
    """The cheapest of what the greedy hides with each subset of the regions; None where none of them suffices."""
    best: Hiding | None = None
    for some in subsets(regions):
        for found in (hide_by_gain(problem, some, check), _by_the_paper(problem, some, check)):
            if found is not None and (best is None or found.cells_hidden < best.cells_hidden):
                best = found
    return best


def _by_the_paper(problem: Problem, regions: frozenset[str], check: Callable[[], None]) -> Hiding | None:
    """What the paper's method for one of its two cases hides, less what turned out not to be needed."""
    found = None
    if regions == {"ns"}:
        found = hide_values(problem, regions, check)
    if regions == {"nc"}:
        found = hide_along_graph(problem, regions, "max-descendant", check=check)
    if found is not None:
        restore_while_safe(found, check)
    return found


def subsets(regions: Iterable[str]) -> list[frozenset[str]]:
    """Every non-empty subset, the smallest first."""
    listed = [region for region in REGIONS if region in regions]
    return [frozenset(some) for size in range(1, len(listed) + 1) for some in combinations(listed, size)]


def hide_by_gain(problem: Problem, regions: frozenset[str], check: Callable[[], None] = lambda: None) -> Hiding | None:
    """What the greedy hides with just these regions, less what turned out not to be needed; None where it finds no safe table."""
    if regions == {"ns"} or ("sc" not in regions and len(problem.column) == 1):
        # No rule's pattern loses a record that has another value, so no other rule becomes unsafe.
        problem = problem.only_unsafe().merged()
    state = Hiding(problem, regions)
    gains = Gains(state)
    while not state.is_safe:
        check()
        choice = gains.best()
        if choice is None:
            choice = gains.most_ended()
        if choice is None:
            return None
        number, cell = choice
        gains.hide(number, cell, gains.repeats(number, cell))
    restore_while_safe(state, check)
    return state


class Gains:
    """By how much hiding each cell lowers the potential; rules pass on a change only when what one record does to them changes."""

    def __init__(self, state: Hiding) -> None:
        self.state, self.problem = state, state.problem
        self.at_start = np.maximum(1, self.problem.rules.owners)
        # Per rule: what one record does that is relevant to it, has its pattern only, owns it; and a hidden value.
        self.effect = self.effects(np.arange(len(self.problem.rules)))
        # There is room for piles to come, so that they seldom move the others.
        self.gain = np.full((2 * len(state.piles) + 16, self.problem.cells), -np.inf)
        self.gain[: len(state.piles)][state.allowed] = 0.0
        self.further: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.start, self.member, self.role = self._helpful()
        self.present = np.zeros((4, len(self.problem.rules)), np.bool_)
        self.present[self.role, np.repeat(np.arange(len(self.problem.rules)), np.diff(self.start))] = True
        self.present[3] = self.present[RELEVANT]
        for rule in range(len(self.problem.rules)):
            self._add(rule, self.effect[:, rule])

    def _helpful(self) -> tuple[Counts, Codes, npt.NDArray[np.int8]]:
        """The entries of rules for classes with a cell to hide that supports or owns some rule: no other one is ever worth hiding."""
        rules = self.problem.rules
        helps = np.zeros(len(self.problem.classes), np.bool_)
        helps[rules.member[rules.role != OTHER]] = True
        helps &= self.state.allowed.any(axis=1)
        self.gain[: len(helps)][~helps] = -np.inf
        kept = helps[rules.member]
        start = np.concatenate([[0], np.cumsum(kept)])[rules.start]
        return start, rules.member[kept], rules.role[kept]

    def effects(self, rules: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """What hiding one cell of one record takes off the potential through each rule, by what the record is to the rule."""
        state, excess = self.state, self.problem.thresholds.excess
        having, both, owners = state.having[rules], state.both[rules], state.owners[rules]
        weight = owners / self.at_start[rules]
        now = weight * excess(having, both)
        relevant = now - weight * excess(having - 1, both - 1)
        other = now - weight * excess(having - 1, both)
        owner = now - np.maximum(0, owners - 1) / self.at_start[rules] * excess(having - 1, both)
        return np.stack([relevant, other, owner, now - weight * excess(having, both - 1)])

    def best(self) -> tuple[int, int] | None:
        """The pile and the cell with the largest gain; None where no cell gains anything."""
        flat = int(self.gain.argmax()) if self.gain.size else 0
        if not self.gain.size or not self.gain.flat[flat] > NOTHING:
            return None
        number, cell = divmod(flat, self.gain.shape[1])
        return number, cell

    def most_ended(self) -> tuple[int, int] | None:
        """The pile and the cell that end most pairs of an unsafe rule and a record; None where no cell ends any."""
        ended = np.where(np.isfinite(self.gain), 0.0, -np.inf)
        for rule in np.flatnonzero(self.state.unsafe).tolist():
            self._add(rule, np.array([1.0, 0.0, 1.0, 1.0]), ended)
        flat = int(ended.argmax()) if ended.size else 0
        if not ended.size or not ended.flat[flat] > 0:
            return None
        number, cell = divmod(flat, ended.shape[1])
        return number, cell

    def repeats(self, number: int, cell: int) -> int:
        """In how many records of a pile the cell can be hidden before the gain of doing so changes."""
        changed = self.state.touched(number, cell)
        if changed.owners.any():
            return 1
        once, most = self._lowered(changed, 1), 1
        if once <= NOTHING:
            return 1
        low, high = 1, self.state.people[number]
        while low <= high:
            middle = (low + high) // 2
            if self._lowered(changed, middle) >= middle * once - NOTHING:
                most, low = middle, middle + 1
            else:
                high = middle - 1
        return most

    def _lowered(self, changed: Touched, records: int) -> float:
        state, rules = self.state, changed.rules
        weight = state.owners[rules] / self.at_start[rules]
        excess = self.problem.thresholds.excess
        now = excess(state.having[rules], state.both[rules])
        then = excess(state.having[rules] - records * changed.having, state.both[rules] - records * changed.both)
        return float((weight * (now - then)).sum())

    def hide(self, number: int, cell: int, records: int) -> None:
        """Hide a cell of some records of a pile, and bring the gains up to date."""
        state, known = self.state, len(self.state.piles)
        target, changed = state.hide(number, cell, records)
        fresh = self.effects(changed.rules)
        differs = ((fresh != self.effect[:, changed.rules]) & self.present[:, changed.rules]).any(axis=0)
        for place in np.flatnonzero(differs).tolist():
            rule = int(changed.rules[place])
            self._add(rule, fresh[:, place] - self.effect[:, rule])
        self.effect[:, changed.rules] = fresh
        if state.people[number] == 0:
            self.gain[number] = -np.inf
        if target >= known:
            if target == len(self.gain):
                self.gain = np.vstack([self.gain, np.full(self.gain.shape, -np.inf)])
            self.gain[target] = self._row(target)
            for rule, role in zip(*(part.tolist() for part in state.rules_of(target)), strict=True):
                self.further[rule].append((target, role))
                self.present[role, rule] = True
        elif state.people[target] == records:  # it was empty
            self.gain[target] = self._row(target)

    def _row(self, number: int) -> npt.NDArray[np.float64]:
        """The gains of a pile's cells, from the start."""
        rules, k = self.problem.rules, self.problem.attributes
        row = np.where([self.state.may_hide(number, cell) for cell in range(self.problem.cells)], 0.0, -np.inf)
        known, roles = self.state.rules_of(number)
        if (roles == OTHER).all():
            row[:] = -np.inf  # hiding more of these records helps nobody
        for rule, role in zip(known.tolist(), roles.tolist(), strict=True):
            mask = int(rules.mask[rule])
            row[[a for a in range(k) if mask >> a & 1]] += self.effect[role, rule]
            if role == RELEVANT:
                row[k + int(self.problem.column[rules.target[rule]])] += self.effect[3, rule]
        return row

    def _add(self, rule: int, by: npt.NDArray[np.float64], to: npt.NDArray[np.float64] | None = None) -> None:
        """Add what a rule contributes to the gains of all cells that touch it."""
        gain = self.gain if to is None else to
        rules, k = self.problem.rules, self.problem.attributes
        inside = slice(self.start[rule], self.start[rule + 1])
        members, roles = self.member[inside], self.role[inside]
        mask = int(rules.mask[rule])
        value_cell = k + int(self.problem.column[rules.target[rule]])
        amount = by[roles]
        attributes = [a for a in range(k) if mask >> a & 1]
        for a in attributes:
            gain[members, a] += amount
        gain[members[roles == RELEVANT], value_cell] += by[3]
        for number, role in self.further.get(rule, ()):
            gain[number, attributes] += by[role]
            if role == RELEVANT:
                gain[number, value_cell] += by[3]
