"""uniform: hide the same condition attributes of all sensitive records.

Which cells are hidden then says nothing about a single record. A pattern without a hidden attribute keeps all its records, so the attributes
must meet the pattern of every unsafe rule; the fewest cells that do so are searched for exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from tacit.hiding.counts import Hiding
from tacit.hiding.problem import Problem

#: Up to so many attributes all their sets are looked at; beyond, attributes are chosen one by one.
ALL_SETS = 18


def hide_uniformly(problem: Problem, regions: frozenset[str], check: Callable[[], None] = lambda: None) -> Hiding | None:
    """The attributes with the fewest cells that make the table safe; None where cells that must be published stand in the way."""
    state = Hiding(problem, regions & {"sc"})
    chosen = uniform_attributes(problem, state, check)
    if chosen is None:
        return None
    for of in np.flatnonzero(problem.classes.sensitive).tolist():
        number = of
        for a in chosen:
            if state.may_hide(number, a):
                number, _ = state.hide(number, a, state.people[number])
    return state


def uniform_attributes(problem: Problem, state: Hiding, check: Callable[[], None]) -> tuple[int, ...] | None:
    """The attributes to hide, if any make the table safe."""
    masks = {int(mask) for mask in problem.rules.mask[state.unsafe].tolist()}
    masks = {mask for mask in masks if not any(other != mask and other & mask == other for other in masks)}
    classes = problem.classes
    sensitive = classes.sensitive
    fixed = ~classes.free[sensitive, : problem.attributes] & (classes.conditions[sensitive] >= 0)
    bound = [bool(column.any()) for column in fixed.T]
    cells = (classes.people[sensitive, None] * (classes.conditions[sensitive] >= 0)).sum(axis=0)
    usable = [a for a in range(problem.attributes) if not bound[a] and any(mask >> a & 1 for mask in masks)]
    if any(not any(mask >> a & 1 for a in usable) for mask in masks):
        return None
    if len(usable) > ALL_SETS:
        return _one_by_one(masks, usable)
    best: tuple[int, tuple[int, ...]] | None = None
    for size in range(len(usable) + 1):
        check()
        for some in combinations(usable, size):
            hidden = sum(1 << a for a in some)
            price = int(cells[list(some)].sum())
            if (best is None or price < best[0]) and all(mask & hidden for mask in masks):
                best = (price, some)
    return None if best is None else best[1]


def _one_by_one(masks: set[int], usable: list[int]) -> tuple[int, ...]:
    chosen: list[int] = []
    while masks:
        a = max(usable, key=lambda a: sum(mask >> a & 1 for mask in masks))
        chosen.append(a)
        masks = {mask for mask in masks if not mask >> a & 1}
    return tuple(sorted(chosen))
