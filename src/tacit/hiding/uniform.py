"""uniform: hide the same condition attributes of all sensitive records.

Which cells are hidden then says nothing about a single record. A pattern without a hidden attribute keeps all its records, so the attributes
must meet the pattern of every unsafe rule; the fewest cells that do so are searched for exactly. Of several choices that cost the same, the one
is taken that leaves fewest rules to a reader who counts known values only; where the audit finds such a reader, none of these rules may be left.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from tacit.hiding.counts import Hiding
from tacit.hiding.problem import Flags, Problem

#: Up to so many attributes all their sets are looked at; beyond, attributes are chosen one by one.
ALL_SETS = 18


def hide_uniformly(
    problem: Problem, regions: frozenset[str], check: Callable[[], None] = lambda: None, *, known_only: bool = False
) -> Hiding | None:
    """The attributes with the fewest cells that make the table safe; None where cells that must be published stand in the way.

    ``known_only``: safe also for a reader who leaves the sensitive records out of the count.
    """
    state = Hiding(problem, regions & {"sc"})
    further = _unsafe_among_known(problem)
    unsafe = state.unsafe | further if known_only else state.unsafe
    chosen = _attributes(problem, unsafe, further, check)
    if chosen is None:
        return None
    for of in np.flatnonzero(problem.classes.sensitive).tolist():
        number = of
        for a in chosen:
            if state.may_hide(number, a):
                number, _ = state.hide(number, a, state.people[number])
    return state


def _attributes(problem: Problem, unsafe: Flags, further: Flags, check: Callable[[], None]) -> tuple[int, ...] | None:
    """The attributes to hide, if any meet all unsafe rules; ``further`` are rules that had better be met as well."""
    masks = {int(mask) for mask in problem.rules.mask[unsafe].tolist()}
    masks = {mask for mask in masks if not any(other != mask and other & mask == other for other in masks)}
    wished = problem.rules.mask[further]
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
    best: tuple[tuple[int, int], tuple[int, ...]] | None = None
    for size in range(len(usable) + 1):
        check()
        for some in combinations(usable, size):
            hidden = sum(1 << a for a in some)
            price = int(cells[list(some)].sum())
            if (best is None or price <= best[0][0]) and all(mask & hidden for mask in masks):
                rank = price, int((wished & hidden == 0).sum())
                best = (rank, some) if best is None or rank < best[0] else best
    return None if best is None else best[1]


def _unsafe_among_known(problem: Problem) -> Flags:
    """The rules that are unsafe when records with a protected value do not count."""
    rules, protected = problem.rules, problem.classes.truth[:, problem.column[problem.rules.target]] >= 0
    rule = np.repeat(np.arange(len(rules)), np.diff(rules.start))
    people = np.where(protected[rules.member, rule], problem.classes.people[rules.member], 0)
    blank = np.bincount(rule, people, minlength=len(rules)).astype(np.int64)
    return problem.thresholds.unsafe(rules.having - blank, rules.both)


def _one_by_one(masks: set[int], usable: list[int]) -> tuple[int, ...]:
    chosen: list[int] = []
    while masks:
        a = max(usable, key=lambda a: sum(mask >> a & 1 for mask in masks))
        chosen.append(a)
        masks = {mask for mask in masks if not mask >> a & 1}
    return tuple(sorted(chosen))
