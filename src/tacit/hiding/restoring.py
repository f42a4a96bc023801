"""Publish hidden cells again while the table stays safe."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.hiding.counts import Hiding, Pile


def restore_while_safe(state: Hiding, check: Callable[[], None] = lambda: None) -> None:
    """Publish every hidden cell again that need not be hidden, those first that matter to the fewest rules."""
    again = True
    while again:
        again = False
        for number, cell in _hidden(state):
            check()
            records = _restorable(state, number, cell)
            if records:
                state.restore(number, cell, records)
                again = True


def _hidden(state: Hiding) -> list[tuple[int, int]]:
    """The hidden cells of every pile, those first that matter to the fewest rules."""
    listed = []
    for number, pile in enumerate(state.piles):
        if state.people[number]:
            for cell in range(state.problem.cells):
                if pile.hidden >> cell & 1:
                    listed.append((_rules_back(state, number, cell), number, cell))
    return [(number, cell) for _, number, cell in sorted(listed)]


def _without(state: Hiding, number: int, cell: int) -> int:
    pile = state.piles[number]
    return state.number_of(Pile(pile.of, pile.hidden & ~(1 << cell)))


def _rules_back(state: Hiding, number: int, cell: int) -> int:
    changed = state.touched(_without(state, number, cell), cell)
    return int(np.maximum(changed.both, changed.owners).sum())


def _restorable(state: Hiding, number: int, cell: int) -> int:
    """Of how many records of a pile the cell can be published again."""
    changed = state.touched(_without(state, number, cell), cell)
    rules = changed.rules

    def is_safe(records: int) -> bool:
        having, both = state.having[rules] + records * changed.having, state.both[rules] + records * changed.both
        owners = state.owners[rules] + records * changed.owners
        return not (state.problem.thresholds.unsafe(having, both) & (owners > 0)).any()

    low, high = 0, state.people[number]
    if high and is_safe(high):
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if is_safe(middle) else (low, middle)
    return low
