"""Methods that hide cells, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tacit.errors import Infeasible, OptionError, RepairError, nearest_name
from tacit.model.policy import Limits
from tacit.partial.exact import Optimum, hide_fewest, hide_uniformly
from tacit.partial.greedy import hide_greedily, restore_while_safe
from tacit.partial.papers import hide_along_graph, hide_rule_by_rule, hide_values
from tacit.partial.problem import REGIONS, Hiding, Problem, count_hopeless_rules

Method = Literal["smc", "rgraph-max-descendant", "rgraph-random-max", "rgraph-random", "cr", "greedy", "uniform", "ilp"]
METHODS: tuple[Method, ...] = get_args(Method)
#: Regions of which a method needs at least one; greedy and ilp take any.
NEEDS: dict[Method, tuple[str, ...]] = {
    "smc": ("ns",),
    "rgraph-max-descendant": ("nc",),
    "rgraph-random-max": ("nc",),
    "rgraph-random": ("nc",),
    "cr": ("ns", "nc"),
    "uniform": ("sc",),
}
#: Descriptions for messages.
MEANING = {
    "ns": "sensitive cells of other records",
    "nc": "condition cells of other records",
    "sc": "condition cells of the sensitive records",
}
#: Seconds for the integer program if another method found no table.
LAST_RESORT = 60.0


@dataclass(frozen=True, eq=False)
class Found:
    """Safe table, with a lower bound on hidden cells."""

    state: Hiding
    bound: int | None = None


def parse_regions(given: str | Iterable[str]) -> frozenset[str]:
    """Parse regions from names or a comma-separated list.

    >>> sorted(parse_regions("ns, sc"))
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


def choose_method(name: str | None, regions: frozenset[str]) -> Method:
    """Return the named method, or the default."""
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
    """Run ``uniform`` against readers who count known values only."""
    state = hide_uniformly(problem, regions, _check(limits), known_only=True)
    return None if state is None else Found(state)


def find_cells(problem: Problem, regions: frozenset[str], method: Method, *, seed: int, limits: Limits) -> Found:
    """Run a method whose result is safe by its counts.

    Raises :class:`Infeasible` if it is proved that nothing helps.
    """
    hopeless, people = count_hopeless_rules(problem, regions)
    if hopeless:
        raise _infeasible(f"{hopeless:,} {'rule stays' if hopeless == 1 else 'rules stay'} unsafe whatever is hidden", people)
    state, bound = _hide_by_method(problem, regions, method, seed, limits=limits)
    if state is None and method != "uniform":
        state = hide_everything(problem, regions, limits)
    if state is not None:
        return Found(state, bound)
    if method == "uniform":
        remedy = "Choose --method greedy, which hides different cells of each record, or free cells in --marks"
        what = "every choice of attributes includes cells that must be published"
        raise RepairError(what, where="--method uniform", remedy=remedy)
    seconds = limits.seconds_left
    last = hide_fewest(problem, regions, seconds=LAST_RESORT if seconds is None else min(seconds, LAST_RESORT))
    if last.infeasible:
        owners = int(problem.classes.people[problem.classes.sensitive].sum())
        raise _infeasible("no choice of hidden cells makes all rules safe", owners)
    if last.state is None:
        remedy = "Allow more regions with --may-hide, free cells in --marks, or give more time with --time-limit"
        raise RepairError("no safe table was found, and it is not proved that there is none", where="hide", remedy=remedy)
    return Found(last.state, last.bound)


def hide_everything(problem: Problem, regions: frozenset[str], limits: Limits) -> Hiding | None:
    """Hide every permitted cell, then restore needless blanks."""
    state = Hiding(problem, regions)
    for of, cell in zip(*(part.tolist() for part in np.nonzero(state.allowed)), strict=True):
        for number in [n for n, pile in enumerate(state.piles) if pile.of == of and state.people[n]]:
            if state.may_hide(number, cell):
                state.hide(number, cell, state.people[number])
    if not state.is_safe:
        return None
    restore_while_safe(state, _check(limits))
    return state


def _hide_by_method(
    problem: Problem, regions: frozenset[str], method: Method, seed: int, limits: Limits
) -> tuple[Hiding | None, int | None]:
    check = _check(limits)
    if method == "ilp":
        return _hide_exactly(problem, regions, limits)
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


def _hide_exactly(problem: Problem, regions: frozenset[str], limits: Limits) -> tuple[Hiding | None, int | None]:
    """Return the better of solver and greedy, with a bound."""
    greedy = hide_greedily(problem, regions, _check(limits))
    seconds = limits.seconds_left
    found: Optimum = hide_fewest(problem, regions, seconds=LAST_RESORT if seconds is None else seconds, check=_check(limits))
    states = [state for state in (found.state, greedy) if state is not None]
    return min(states, key=lambda state: state.cells_hidden, default=None), found.bound


def _check(limits: Limits) -> Callable[[], None]:
    return lambda: limits.check("hide")


def _infeasible(what: str, people: int) -> Infeasible:
    records = "1 sensitive record" if people == 1 else f"{people:,} sensitive records"
    remedy = "Allow more regions with --may-hide, mark fewer cells that must be published, or raise --min-confidence"
    return Infeasible(f"no safe table exists: {what} ({records} in question)", where="hide", remedy=remedy)
