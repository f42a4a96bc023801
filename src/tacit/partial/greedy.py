"""greedy: hide the cell that lowers the potential most.

The potential is the excess of the unsafe rules over the thresholds, each weighted by the share of its owners that still publish its
pattern. Equal records are hidden together as long as that stays the best step. Then cells are published again while the table stays safe.
All subsets of the regions are tried, because a larger choice can lead astray, and so are the published methods; the result with the fewest
hidden cells is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Codes, Floats, Ints
from tacit.model.policy import Check
from tacit.partial.papers import hide_along_graph, hide_values
from tacit.partial.problem import OTHER, REGIONS, RELEVANT, Hiding, Pile, Problem, Touched

NOTHING = 1e-9  #: Smaller differences of gains are rounding errors.


def hide_greedily(problem: Problem, regions: frozenset[str], check: Check = lambda: None) -> Hiding | None:
    """Return the cheapest safe result over all region subsets."""
    best: Hiding | None = None
    for some in subsets(regions):
        by_gain = hide_by_gain(problem, some, check)
        by_paper = None
        if some == {"ns"}:
            by_paper = hide_values(problem, some, check)
        if some == {"nc"}:
            by_paper = hide_along_graph(problem, some, "max-descendant", check=check)
        if by_paper is not None:
            restore_while_safe(by_paper, check)
        for found in (by_gain, by_paper):
            if found is not None and (best is None or found.cells_hidden < best.cells_hidden):
                best = found
    return best


def subsets(regions: Iterable[str]) -> list[frozenset[str]]:
    """Return every non-empty subset, the smallest first."""
    listed = [region for region in REGIONS if region in regions]
    return [frozenset(some) for size in range(1, len(listed) + 1) for some in combinations(listed, size)]


def hide_by_gain(problem: Problem, regions: frozenset[str], check: Check = lambda: None) -> Hiding | None:
    """Run the greedy with these regions, or return None."""
    if regions == {"ns"} or ("sc" not in regions and len(problem.column) == 1):
        # No rule's pattern loses a record that has another value, so no other rule becomes unsafe.
        problem = problem.keep_unsafe().merge_classes()
    state = Hiding(problem, regions)
    gains = Gains(state)
    while not state.is_safe:
        check()
        choice = gains.find_best() or gains.find_most_ended()
        if choice is None:
            return None
        number, cell = choice
        gains.hide(number, cell, gains.count_repeats(number, cell))
    restore_while_safe(state, check)
    return state


class Gains:
    """Decrease of the potential by hiding each cell."""

    def __init__(self, state: Hiding) -> None:
        self.state = state
        self.problem = state.problem
        self.at_start = np.maximum(1, self.problem.rules.owners)
        # Per rule: the effect of a record that is relevant, that has the pattern only, that owns it; and of a hidden value.
        self.effect = self.effects(np.arange(len(self.problem.rules)))
        # Room for new piles, so that the array seldom grows.
        self.gain = np.full((2 * len(state.piles) + 16, self.problem.cells), -np.inf)
        self.gain[: len(state.piles)][state.allowed] = 0.0
        self.further: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.start, self.member, self.role = self._select_helpful()
        self.present = np.zeros((4, len(self.problem.rules)), np.bool_)
        self.present[self.role, np.repeat(np.arange(len(self.problem.rules)), np.diff(self.start))] = True
        self.present[3] = self.present[RELEVANT]
        for rule in range(len(self.problem.rules)):
            self._add(rule, self.effect[:, rule])

    def _select_helpful(self) -> tuple[Ints, Codes, npt.NDArray[np.int8]]:
        rules = self.problem.rules
        helps = np.zeros(len(self.problem.classes), np.bool_)
        helps[rules.member[rules.role != OTHER]] = True
        helps &= self.state.allowed.any(axis=1)
        self.gain[: len(helps)][~helps] = -np.inf
        kept = helps[rules.member]
        return np.concatenate([[0], np.cumsum(kept)])[rules.start], rules.member[kept], rules.role[kept]

    def effects(self, rules: Ints) -> Floats:
        """Return each rule's decrease by the record's role."""
        state = self.state
        excess = self.problem.thresholds.excess
        having = state.having[rules]
        both = state.both[rules]
        owners = state.owners[rules]
        weight = owners / self.at_start[rules]
        now = weight * excess(having, both)
        relevant = now - weight * excess(having - 1, both - 1)
        other = now - weight * excess(having - 1, both)
        owner = now - np.maximum(0, owners - 1) / self.at_start[rules] * excess(having - 1, both)
        return np.stack([relevant, other, owner, now - weight * excess(having, both - 1)])

    def find_best(self) -> tuple[int, int] | None:
        """Return the pile and cell of largest gain, or None."""
        return _find_largest(self.gain, NOTHING)

    def find_most_ended(self) -> tuple[int, int] | None:
        """Return the cell that ends most unsafe rules, or None."""
        ended = np.where(np.isfinite(self.gain), 0.0, -np.inf)
        for rule in np.flatnonzero(self.state.unsafe).tolist():
            self._add(rule, np.array([1.0, 0.0, 1.0, 1.0]), ended)
        return _find_largest(ended, 0)

    def count_repeats(self, number: int, cell: int) -> int:
        """Count the records to hide at an unchanged gain."""
        changed = self.state.touched(number, cell)
        if changed.owners.any():
            return 1
        once = self._measure_gain(changed, 1)
        if once <= NOTHING:
            return 1
        low = 1
        high = self.state.people[number]
        while low <= high:
            middle = (low + high) // 2
            if self._measure_gain(changed, middle) >= middle * once - NOTHING:
                low = middle + 1
            else:
                high = middle - 1
        return max(1, low - 1)

    def _measure_gain(self, changed: Touched, records: int) -> float:
        state = self.state
        rules = changed.rules
        weight = state.owners[rules] / self.at_start[rules]
        excess = self.problem.thresholds.excess
        now = excess(state.having[rules], state.both[rules])
        then = excess(state.having[rules] - records * changed.having, state.both[rules] - records * changed.both)
        return float((weight * (now - then)).sum())

    def hide(self, number: int, cell: int, records: int) -> None:
        """Hide a cell of some records; update the gains."""
        state = self.state
        known = len(self.state.piles)
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
            self.gain[target] = self._compute_row(target)
            for rule, role in zip(*(part.tolist() for part in state.rules_of(target)), strict=True):
                self.further[rule].append((target, role))
                self.present[role, rule] = True
        elif state.people[target] == records:  # it was empty
            self.gain[target] = self._compute_row(target)

    def _compute_row(self, number: int) -> Floats:
        rules = self.problem.rules
        k = self.problem.attributes
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

    def _add(self, rule: int, by: Floats, to: Floats | None = None) -> None:
        gain = self.gain if to is None else to
        rules = self.problem.rules
        k = self.problem.attributes
        inside = slice(self.start[rule], self.start[rule + 1])
        members = self.member[inside]
        roles = self.role[inside]
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


def _find_largest(scores: Floats, bar: float) -> tuple[int, int] | None:
    if not scores.size:
        return None
    number, cell = divmod(int(scores.argmax()), scores.shape[1])
    return (number, cell) if scores[number, cell] > bar else None


def restore_while_safe(state: Hiding, check: Check = lambda: None) -> None:
    """Publish needlessly hidden cells again, the least important first."""
    again = True
    while again:
        again = False
        for number, cell in _list_hidden(state):
            check()
            if records := _count_restorable(state, number, cell):
                state.restore(number, cell, records)
                again = True


def _list_hidden(state: Hiding) -> list[tuple[int, int]]:
    listed = []
    for number, pile in enumerate(state.piles):
        for cell in range(state.problem.cells) if state.people[number] else ():
            if pile.hidden >> cell & 1:
                changed = _restored(state, number, cell)
                listed.append((int(np.maximum(changed.both, changed.owners).sum()), number, cell))
    return [(number, cell) for _, number, cell in sorted(listed)]


def _restored(state: Hiding, number: int, cell: int) -> Touched:
    pile = state.piles[number]
    return state.touched(state.number_of(Pile(pile.of, pile.hidden & ~(1 << cell))), cell)


def _count_restorable(state: Hiding, number: int, cell: int) -> int:
    changed = _restored(state, number, cell)
    rules = changed.rules

    def is_safe(records: int) -> bool:
        having = state.having[rules] + records * changed.having
        both = state.both[rules] + records * changed.both
        owners = state.owners[rules] + records * changed.owners
        return not (state.problem.thresholds.unsafe(having, both) & (owners > 0)).any()

    low = 0
    high = state.people[number]
    if high and is_safe(high):
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if is_safe(middle) else (low, middle)
    return low
