"""The methods by name: which regions each needs, and what it hides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tacit.errors import Infeasible, OptionError, RepairError, nearest_name
from tacit.hiding.counts import Hiding
from tacit.hiding.cr import hide_rule_by_rule
from tacit.hiding.feasible import hopeless_rules
from tacit.hiding.greedy import hide_greedily
from tacit.hiding.ilp import Optimum, hide_fewest
from tacit.hiding.problem import REGIONS, Problem
from tacit.hiding.restoring import restore_while_safe
from tacit.hiding.rgraph import hide_along_graph
from tacit.hiding.smc import hide_values
from tacit.hiding.uniform import hide_uniformly
from tacit.model.policy import Limits

Method = Literal["smc", "rgraph-max-descendant", "rgraph-random-max", "rgraph-random", "cr", "greedy", "uniform", "ilp"]
METHODS: tuple[Method, ...] = get_args(Method)

#: The regions of which a method needs at least one; greedy and ilp take any.
NEEDS: dict[Method, tuple[str, ...]] = {
    "smc": ("ns",),
    "rgraph-max-descendant": ("nc",),
    "rgraph-random-max": ("nc",),
    "rgraph-random": ("nc",),
    "cr": ("ns", "nc"),
    "uniform": ("sc",),
}
#: In words, for messages.
MEANING = {
    "ns": "sensitive cells of other records",
    "nc": "condition cells of other records",
    "sc": "condition cells of the sensitive records",
}
#: So long the integer program may look for a table when another method found none.
LAST_RESORT = 60.0


@dataclass(frozen=True, eq=False)
class Found:
    """A safe table: what is hidden, and which cells any safe table has to hide at least, where that is known."""

    state: Hiding
    bound: int | None = None


def regions_of(given: str | Iterable[str]) -> frozenset[str]:
    """The regions as a set, from names or a comma list.

    >>> sorted(regions_of("ns, sc"))
    ['ns', 'sc']
    """
    parts = given.split(",") if isinstance(given, str) else [part for one in given for part in str(one).split(",")]
    names = [part.strip() for part in parts if part.strip()]
    listed = "; ".join(f"{name}: {MEANING[name]}" for name in REGIONS)
    for name in names:
        if name not in REGIONS:
            raise OptionError(f"there is no region {name!r}", where="--may-hide", remedy=f"Name some of {listed}")
    if not names:
        raise OptionError("names no region, so nothing may be hidden", where="--may-hide", remedy=f"Name some of {listed}")
    return frozenset(names)


def method_for(name: str | None, regions: frozenset[str]) -> Method:
    """The method of this name, or the usual one for these regions; refused where it hides nothing there."""
    if name is None:
        return "uniform" if regions == {"sc"} else "greedy"
    if name not in METHODS:
        raise OptionError("there is no such method", where="--method", remedy=nearest_name(name, METHODS, "methods"))
    method: Any = name
    needs = NEEDS.get(method, REGIONS)
    if not regions.intersection(needs):
        wanted = " or ".join(f"{region} ({MEANING[region]})" for region in needs)
        remedy = f"Add {needs[0]} to --may-hide, or choose --method greedy"
        raise OptionError(f"{name} hides {wanted}, which --may-hide does not allow", where="--method", remedy=remedy)
    return method  # type: ignore[no-any-return]


def find_stricter(problem: Problem, regions: frozenset[str], limits: Limits) -> Found | None:
    """What ``uniform`` hides to be safe also for a reader who counts known values only; None where that cannot be done."""
    state = hide_uniformly(problem, regions, _check(limits), known_only=True)
    return None if state is None else Found(state)


def find_cells(problem: Problem, regions: frozenset[str], method: Method, *, seed: int, limits: Limits) -> Found:
    """What the method hides, safe by its own counts; raises :class:`Infeasible` where it is proved that nothing helps."""
    hopeless, people = hopeless_rules(problem, regions)
    if hopeless:
        raise _infeasible(f"{hopeless:,} {'rule stays' if hopeless == 1 else 'rules stay'} unsafe whatever is hidden", people)
    state, bound = _by_method(problem, regions, method, seed, limits)
    if state is None and method != "uniform":
        state = everything_but(problem, regions, limits)
    if state is not None:
        return Found(state, bound)
    if method == "uniform":
        remedy = "Choose --method greedy, which hides different cells of each, or free cells in --marks"
        what = "cells that must be published keep every choice of attributes from being hidden for all sensitive records"
        raise RepairError(what, where="--method uniform", remedy=remedy)
    seconds = limits.seconds_left
    last = hide_fewest(problem, regions, seconds=LAST_RESORT if seconds is None else min(seconds, LAST_RESORT))
    if last.infeasible:
        owners = int(problem.classes.people[problem.classes.sensitive].sum())
        raise _infeasible("no choice of hidden cells makes all rules safe", owners)
    if last.state is None:
        remedy = "Allow more regions with --may-hide, free cells in --marks, or give more time with --time-limit"
        raise RepairError("no safe table was found, nor that there is none", where="hide", remedy=remedy)
    return Found(last.state, last.bound)


def everything_but(problem: Problem, regions: frozenset[str], limits: Limits) -> Hiding | None:
    """All that may be hidden, less what need not be; None where the table is not safe even so."""
    state = Hiding(problem, regions)
    for of, cell in zip(*(part.tolist() for part in np.nonzero(state.allowed)), strict=True):
        for number in [n for n, pile in enumerate(state.piles) if pile.of == of and state.people[n]]:
            if state.may_hide(number, cell):
                state.hide(number, cell, state.people[number])
    if not state.is_safe:
        return None
    restore_while_safe(state, _check(limits))
    return state


def _by_method(
    problem: Problem, regions: frozenset[str], method: Method, seed: int, limits: Limits
) -> tuple[Hiding | None, int | None]:
    check = _check(limits)
    if method == "ilp":
        return _exactly(problem, regions, limits)
    if method == "smc":
        return hide_values(problem, regions, check), None
    if method == "cr":
        return hide_rule_by_rule(problem, regions, check), None
    if method == "uniform":
        return hide_uniformly(problem, regions, check), None
    if method == "greedy":
        return hide_greedily(problem, regions, check), None
    choice: Any = method.removeprefix("rgraph-")
    return hide_along_graph(problem, regions, choice, seed=seed, check=check), None


def _exactly(problem: Problem, regions: frozenset[str], limits: Limits) -> tuple[Hiding | None, int | None]:
    """The optimum, or the better of what solver and greedy found when time ran out."""
    greedy = hide_greedily(problem, regions, _check(limits))
    seconds = limits.seconds_left
    found: Optimum = hide_fewest(problem, regions, seconds=LAST_RESORT if seconds is None else seconds, check=_check(limits))
    states = [state for state in (found.state, greedy) if state is not None]
    return min(states, key=lambda state: state.cells_hidden, default=None), found.bound


def _check(limits: Limits) -> Callable[[], None]:
    return lambda: limits.check("hide")


def _infeasible(what: str, people: int) -> Infeasible:
    records = "1 sensitive record" if people == 1 else f"{people:,} sensitive records"
    remedy = "Allow more regions with --may-hide, mark fewer cells as bound to be published, or raise --min-confidence"
    return Infeasible(f"no safe table exists: {what} ({records} in question)", where="hide", remedy=remedy)
