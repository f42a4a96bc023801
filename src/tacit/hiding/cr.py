"""cr: hide what supports one unsafe rule after the other, as is done for hiding rules rather than people; a rival to compare with.

Longer rules come first, then those with more confidence. A rule's records that support the fewest unsafe rules are hidden first: their value
where values may be hidden, else the cell of the rule's pattern that most records of the table share.

Reference
---------
Y. Saygin, V. Verykios, C. Clifton, "Using unknowns to prevent discovery of association rules", SIGMOD Record 30(4), 2001, as it is described in
C. Li, H. Shirani-Mehr, X. Yang, DASFAA 2007, section 6.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.hiding.counts import Hiding
from tacit.hiding.problem import RELEVANT, Problem


def hide_rule_by_rule(problem: Problem, regions: frozenset[str], check: Callable[[], None] = lambda: None) -> Hiding | None:
    """What hiding one rule after the other hides; None where what may be hidden does not suffice."""
    state = Hiding(problem, frozenset({"ns"}) if "ns" in regions else regions & {"nc"})
    while not state.is_safe:
        before = state.cells_hidden
        for rule in _ordered(state):
            check()
            if state.unsafe[rule]:
                _make_safe(state, rule)
        if state.cells_hidden == before:
            return None
    return state


def _ordered(state: Hiding) -> list[int]:
    """The unsafe rules, long ones first, then confident ones."""

    def rank(rule: int) -> tuple[int, Fraction, int]:
        return -int(state.problem.rules.mask[rule]).bit_count(), -Fraction(int(state.both[rule]), int(state.having[rule])), rule

    return sorted(np.flatnonzero(state.unsafe).tolist(), key=rank)


def _make_safe(state: Hiding, rule: int) -> None:
    """Hide records of one rule until it is safe, or none is left that may be hidden."""
    problem = state.problem
    k, by_value = problem.attributes, bool(state.allowed[:, problem.attributes :].any())
    cells = [k + int(problem.column[problem.rules.target[rule]])] if by_value else _by_support(state, rule)
    unsafe = state.unsafe
    supported = {number: int(unsafe[rules].sum()) for number, rules in _relevant_piles(state, rule)}
    for number in sorted(supported, key=lambda number: (supported[number], number)):
        having, both = state.having[rule : rule + 1], state.both[rule : rule + 1]
        limits = problem.thresholds
        needed = int((limits.values_to_hide if by_value else limits.records_to_hide)(having, both)[0])
        if not needed:
            return
        for cell in cells:
            if state.may_hide(number, cell):
                state.hide(number, cell, min(needed, state.people[number]))
                break


def _relevant_piles(state: Hiding, rule: int) -> list[tuple[int, npt.NDArray[np.int64]]]:
    """The piles whose records support a rule, each with all the rules it supports."""
    rules = state.problem.rules
    inside = slice(rules.start[rule], rules.start[rule + 1])
    members = set(rules.member[inside][rules.role[inside] == RELEVANT].tolist())
    found = []
    for number, pile in enumerate(state.piles):
        if pile.of in members and state.people[number]:
            listed, roles = state.rules_of(number)
            supported = listed[roles == RELEVANT]
            if rule in supported:
                found.append((number, supported))
    return found


def _by_support(state: Hiding, rule: int) -> list[int]:
    """The attributes of a rule's pattern, the one first whose value most records have."""
    problem = state.problem
    mask = int(problem.rules.mask[rule])
    some = problem.classes.conditions[problem.rules.member[problem.rules.start[rule]]]
    people = np.array(state.people)
    of = np.array([pile.of for pile in state.piles])
    hidden = np.array([pile.hidden for pile in state.piles])
    support = {
        a: int(people[(problem.classes.conditions[of, a] == some[a]) & (hidden >> a & 1 == 0)].sum())
        for a in range(problem.attributes)
        if mask >> a & 1
    }
    return sorted(support, key=lambda a: (-support[a], a))
