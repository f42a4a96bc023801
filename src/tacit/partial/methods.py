"""Methods that hide cells, by name; uniform and ilp, which are exact.

uniform hides the same condition attributes of all sensitive records, so that the hidden cells say nothing about an individual. A pattern
without a hidden attribute keeps all its records, so the attributes must meet the pattern of every unsafe rule. Of equal choices, the one
that leaves the fewest rules to a reader who counts known values only is taken.

ilp is an integer program over all cells: a whole number for each class of records and each set of cells counts the records in which the
set is hidden. The counts of each rule are linear in these. Binary variables choose, where possible, between staying within the confidence,
within the support, and having no owner that still publishes the pattern. If time runs out, a bound says how far the best table found may
be from the optimum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from tacit.model.arrays import Flags
from tacit.model.errors import Infeasible, OptionError, RepairError, nearest_name
from tacit.model.policy import Check, Limits
from tacit.partial.greedy import hide_greedily, restore_while_safe
from tacit.partial.papers import hide_along_graph, hide_rule_by_rule, hide_values
from tacit.partial.problem import OWNER, REGIONS, RELEVANT, Hiding, Pile, Problem, count_hopeless_rules
from tacit.solve.solver import Solution, solve_whole

ALL_SETS = 18  #: Up to this many attributes all their sets are tried; beyond, attributes are chosen one by one.
MOST_CHOICES = 200_000  #: Most sets of cells in one program.


def hide_uniformly(
    problem: Problem, regions: frozenset[str], check: Check = lambda: None, *, known_only: bool = False
) -> Hiding | None:
    """Hide the cheapest attributes that make the table safe.

    None if published cells prevent it. ``known_only``: also safe for a reader who excludes the sensitive records from the count.
    """
    state = Hiding(problem, regions & {"sc"})
    further = _mark_unsafe_among_known(problem)
    unsafe = state.unsafe | further if known_only else state.unsafe
    chosen = _choose_attributes(problem, unsafe, further, check)
    if chosen is None:
        return None
    for of in np.flatnonzero(problem.classes.sensitive).tolist():
        number = of
        for a in chosen:
            if state.may_hide(number, a):
                number, _ = state.hide(number, a, state.people[number])
    return state


def _choose_attributes(problem: Problem, unsafe: Flags, further: Flags, check: Check) -> tuple[int, ...] | None:
    """Return the cheapest attributes meeting all unsafe rules, or None."""
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
        chosen: list[int] = []
        while masks:
            a = max(usable, key=lambda a: sum(mask >> a & 1 for mask in masks))
            chosen.append(a)
            masks = {mask for mask in masks if not mask >> a & 1}
        return tuple(sorted(chosen))
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


def _mark_unsafe_among_known(problem: Problem) -> Flags:
    rules = problem.rules
    protected = problem.classes.truth[:, problem.column[problem.rules.target]] >= 0
    rule = np.repeat(np.arange(len(rules)), np.diff(rules.start))
    people = np.where(protected[rules.member, rule], problem.classes.people[rules.member], 0)
    blank = np.bincount(rule, people, minlength=len(rules)).astype(np.int64)
    return problem.thresholds.unsafe(rules.having - blank, rules.both)


@dataclass(frozen=True, eq=False)
class Optimum:
    """Result of the program: ``state`` if any, and least number of hidden cells."""

    state: Hiding | None
    bound: int
    infeasible: bool = False


def hide_fewest(
    problem: Problem, regions: frozenset[str], *, seconds: float | None = None, check: Check = lambda: None
) -> Optimum:
    """Find a safe table with the fewest hidden cells."""
    state = Hiding(problem, regions)
    if state.is_safe:
        return Optimum(state, 0)
    model = _Model(state, check)
    solved = model.solve(seconds)
    if solved.status == 2:
        return Optimum(None, 0, infeasible=True)
    bound = int(np.ceil(solved.bound - 1e-6)) if solved.bound is not None else 0
    if solved.x is None:
        return Optimum(None, max(0, bound))
    counts = np.rint(solved.x[: len(model.choices)]).astype(np.int64).tolist()
    state.take([(pile, records) for pile, records in zip(model.choices, counts, strict=True) if records])
    return Optimum(state if state.is_safe else None, max(0, bound))


class _Model:
    def __init__(self, state: Hiding, check: Check) -> None:
        self.state = state
        self.problem = state.problem
        self.check = check
        self.choices: list[Pile] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []
        #: By rule: the decrease by each choice of the records with the pattern, of those with the value too, and of the owners.
        self.effects: dict[int, tuple[dict[int, int], dict[int, int], dict[int, int]]] = defaultdict(lambda: ({}, {}, {}))
        for of in range(len(self.problem.classes)):
            self.add_class(of)

    def add_class(self, of: int) -> None:
        self.check()
        rules, roles = self.state.rules_of(of)
        if not len(rules):
            return
        masks = self.problem.rules.mask[rules]
        k = self.problem.attributes
        helpful = (roles == RELEVANT) | (roles == OWNER)
        conditions = [a for a in range(k) if self.state.allowed[of, a] and (masks[helpful] >> a & 1).any()]
        values = [cell for cell in range(k, self.problem.cells) if self.state.allowed[of, cell]]
        if len(self.choices) + 2 ** len(conditions + values) > MOST_CHOICES:
            what = f"needs more than {MOST_CHOICES:,} variables for this table"
            raise OptionError(what, where="--method ilp", remedy="Choose --method greedy, or name fewer columns with --qi")
        first = len(self.choices)
        # With its only value hidden, a record supports no rule, and hiding more of it is useless.
        has_one_value = self.problem.cells == k + 1
        sets = _subsets(conditions) + _subsets(values) if has_one_value else _subsets(conditions + values)
        for hidden in sets:
            choice = len(self.choices)
            self.choices.append(Pile(of, hidden))
            met = masks & hidden != 0
            lost_value = (hidden >> k >> self.problem.column[self.problem.rules.target[rules]]) & 1 == 1
            lost = (roles == RELEVANT) & (met | lost_value)
            for part, chosen in enumerate((met, lost, (roles == OWNER) & met)):
                for rule in rules[chosen].tolist():
                    self.effects[rule][part][choice] = 1
        if first < len(self.choices):
            people = float(self.problem.classes.people[of])
            self.rows.append((dict.fromkeys(range(first, len(self.choices)), 1.0), -np.inf, people))

    def solve(self, seconds: float | None) -> Solution:
        from scipy.sparse import csr_array

        extra = len(self.choices)
        for rule in range(len(self.problem.rules)):
            extra = self.add_rule(rule, extra)
        cost = np.zeros(extra)
        cost[: len(self.choices)] = [pile.hidden.bit_count() for pile in self.choices]
        most = np.ones(extra)
        most[: len(self.choices)] = [self.problem.classes.people[pile.of] for pile in self.choices]
        indices = [column for row, _, _ in self.rows for column in row]
        data = [value for row, _, _ in self.rows for value in row.values()]
        starts = np.concatenate([[0], np.cumsum([len(row) for row, _, _ in self.rows])])
        matrix = csr_array((data, indices, starts), shape=(len(self.rows), extra))
        lower = [low for _, low, _ in self.rows]
        upper = [high for _, _, high in self.rows]
        integral = np.ones(extra, np.int64)
        return solve_whole(cost, matrix=matrix, low=lower, high=upper, most=most, integrality=integral, seconds=seconds)

    def add_rule(self, rule: int, extra: int) -> int:
        limits = self.problem.thresholds
        rules = self.problem.rules
        having = int(rules.having[rule])
        both = int(rules.both[rule])
        if rule not in self.effects:
            return extra
        less_having, less_both, less_owners = self.effects[rule]
        if not limits.unsafe(rules.having[rule : rule + 1], rules.both[rule : rule + 1])[0] and not less_having:
            return extra
        # Within the confidence, unless one of the other two ways is taken.
        row: dict[int, float] = defaultdict(float)
        for choice in less_both:
            row[choice] += limits.denominator
        for choice in less_having:
            row[choice] -= limits.numerator
        large = float(limits.denominator * both)
        if limits.support > 0 and less_both:
            row[extra] = large
            self.rows.append((dict.fromkeys(less_both, 1.0) | {extra: -float(both - limits.support)}, 0.0, np.inf))
            extra += 1
        if less_owners:
            row[extra] = large
            self.rows.append((dict.fromkeys(less_owners, 1.0) | {extra: -float(rules.owners[rule])}, 0.0, np.inf))
            extra += 1
        self.rows.append((dict(row), float(limits.denominator * both - limits.numerator * having), np.inf))
        return extra


def _subsets(cells: list[int]) -> list[int]:
    found = [0]
    for cell in cells:
        found += [mask | 1 << cell for mask in found]
    return found[1:]


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
LAST_RESORT = 60.0  #: Seconds for the integer program if another method found no table.


@dataclass(frozen=True, eq=False)
class Found:
    """Safe table, with a lower bound on hidden cells."""

    state: Hiding
    bound: int | None = None


def parse_regions(given: str | Iterable[str]) -> frozenset[str]:
    """Parse regions from names, a comma-separated list or ``all``."""
    parts = given.split(",") if isinstance(given, str) else [part for one in given for part in str(one).split(",")]
    names = [part.strip() for part in parts if part.strip()]
    if names == ["all"]:
        return frozenset(REGIONS)
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
    """Run a method; raise :class:`Infeasible` if it is proved that nothing helps."""
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
        greedy = hide_greedily(problem, regions, check)
        seconds = limits.seconds_left
        found = hide_fewest(problem, regions, seconds=LAST_RESORT if seconds is None else seconds, check=check)
        states = [state for state in (found.state, greedy) if state is not None]
        return min(states, key=lambda state: state.cells_hidden, default=None), found.bound
    others = {"smc": hide_values, "cr": hide_rule_by_rule, "uniform": hide_uniformly, "greedy": hide_greedily}
    if method in others:
        return others[method](problem, regions, check), None
    choice: Any = method.removeprefix("rgraph-")
    return hide_along_graph(problem, regions, choice, seed=seed, check=check), None


def _check(limits: Limits) -> Check:
    return lambda: limits.check("hide")


def _infeasible(what: str, people: int) -> Infeasible:
    records = "1 sensitive record" if people == 1 else f"{people:,} sensitive records"
    remedy = "Allow more regions with --may-hide, mark fewer cells that must be published, or raise --min-confidence"
    return Infeasible(f"no safe table exists: {what} ({records} in question)", where="hide", remedy=remedy)
