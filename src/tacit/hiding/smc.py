"""smc: hide sensitive values of other records, by the greedy algorithm for set multicover.

Every unsafe rule must be covered as often as values have to be hidden until it is safe; hiding the value of a record covers all rules that
the record supports. Each step takes the record that supports most of the rules that are still unsafe.

Reference
---------
C. Li, H. Shirani-Mehr, X. Yang, "Protecting Individual Information Against Inference Attacks in Data Publishing", DASFAA 2007, section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.hiding.counts import Hiding
from tacit.hiding.problem import RELEVANT, Problem


def hide_values(problem: Problem, regions: frozenset[str], check: Callable[[], None] = lambda: None) -> Hiding | None:
    """What the greedy multicover hides; None where what may be hidden does not suffice."""
    problem = problem.only_unsafe().merged()
    state = Hiding(problem, regions & {"ns"})
    k, rules = problem.attributes, problem.rules
    unsafe = state.unsafe
    # How many unsafe rules hiding each value would cover; sensitive columns do not touch each other's rules.
    covers = np.zeros(state.allowed[:, k:].shape, np.int64)
    left = np.where(state.allowed[:, k:], problem.classes.people[:, None], 0)

    def count(rule: int, by: int) -> None:
        inside = slice(rules.start[rule], rules.start[rule + 1])
        members = rules.member[inside][rules.role[inside] == RELEVANT]
        covers[members, problem.column[rules.target[rule]]] += by

    for rule in np.flatnonzero(unsafe).tolist():
        count(rule, 1)
    while unsafe.any():
        check()
        scores = np.where(left > 0, covers, 0)
        best = int(scores.argmax())
        of, column = divmod(best, scores.shape[1])
        if scores[of, column] == 0:
            return None
        number = next(n for n in _piles_of(state, of) if state.people[n] and state.may_hide(n, k + column))
        needed = problem.thresholds.values_to_hide(state.having, state.both)
        touched = state.touched(number, k + column).rules
        records = min(state.people[number], int(needed[touched][unsafe[touched]].min()))
        state.hide(number, k + column, records)
        left[of, column] -= records
        now = state.unsafe
        for rule in touched[unsafe[touched] & ~now[touched]].tolist():
            count(rule, -1)
        unsafe = now
    return state


def _piles_of(state: Hiding, of: int) -> list[int]:
    """The piles of a class; more than one only where there are several sensitive columns."""
    if state.problem.classes.value.shape[1] == 1:
        return [of]
    return [number for number, pile in enumerate(state.piles) if pile.of == of]
