"""greedy: one method for every set of regions.

The potential of a table is by how much its unsafe rules are over the thresholds, each counted by the share of its owners that still publish
its pattern. Each step hides the cell that lowers it most; records that are alike are hidden together as long as that stays the best.
Afterwards cells are published again one by one while the table stays safe. All subsets of the regions are tried, and the one with the fewest
hidden cells is kept: a larger choice can lead astray. So are the paper's two methods, less the cells that they need not have hidden.

uniform: hide the same condition attributes of all sensitive records.

Which cells are hidden then says nothing about a single record. A pattern without a hidden attribute keeps all its records, so the attributes
must meet the pattern of every unsafe rule; the fewest cells that do so are searched for exactly. Of several choices that cost the same, the one
is taken that leaves fewest rules to a reader who counts known values only; where the audit finds such a reader, none of these rules may be left.

ilp: the fewest cells that make the table safe, as an integer program; or the best found in the time, with how far it may be from that.

A whole number says for each class of records, and each set of cells that could be hidden there, in how many records it is. What a rule
then counts is linear in these. Yes-or-no variables choose, for rules that allow it, between being within the confidence, within the
support, and having no owner left that publishes the pattern.

Publish hidden cells again while the table stays safe.

The methods by name: which regions each needs, and what it hides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from tacit.errors import Infeasible, OptionError, RepairError, nearest_name
from tacit.model.arrays import Codes, Flags, Ints
from tacit.model.policy import Limits
from tacit.partial.papers import hide_along_graph, hide_rule_by_rule, hide_values
from tacit.partial.problem import OTHER, OWNER, REGIONS, RELEVANT, Hiding, Pile, Problem, Touched, hopeless_rules
from tacit.solve.solver import solve_whole

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
    rules = problem.rules
    protected = problem.classes.truth[:, problem.column[problem.rules.target]] >= 0
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


#: More sets of cells than this are not put into one program.
MOST_CHOICES = 200_000


@dataclass(frozen=True, eq=False)
class Optimum:
    """What the program came to: ``state`` is None where it found no table; ``bound`` cells are hidden in every safe one.

    ``infeasible``: there is no safe table.
    """

    state: Hiding | None
    bound: int
    infeasible: bool = False


def hide_fewest(
    problem: Problem, regions: frozenset[str], *, seconds: float | None = None, check: Callable[[], None] = lambda: None
) -> Optimum:
    """A safe table with the fewest hidden cells that the solver finds."""
    state = Hiding(problem, regions)
    if state.is_safe:
        return Optimum(state, 0)
    model = _Model(state, check)
    cost, matrix, lower, upper, integral, most = model.program()
    solved = solve_whole(cost, matrix=matrix, low=lower, high=upper, most=most, integrality=integral, seconds=seconds)
    bound = int(np.ceil(solved.bound - 1e-6)) if solved.bound is not None else 0
    if solved.x is None:
        return Optimum(None, max(0, bound), infeasible=solved.status == 2)
    state.take(model.hidden(solved.x))
    return Optimum(state if state.is_safe else None, max(0, bound))


class _Model:
    """Variables and rows of the program."""

    def __init__(self, state: Hiding, check: Callable[[], None]) -> None:
        self.state = state
        self.problem = state.problem
        self.check = check
        self.choices: list[Pile] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []
        #: By rule: what each choice takes off the records that have the pattern, that have the value too, and off the owners.
        self.effects: dict[int, tuple[dict[int, int], dict[int, int], dict[int, int]]] = defaultdict(lambda: ({}, {}, {}))
        for of in range(len(self.problem.classes)):
            self.add_class(of)

    def add_class(self, of: int) -> None:
        """Every set of cells that could be hidden in records of a class."""
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
            what = f"needs more than {MOST_CHOICES:,} choices for this table"
            raise OptionError(what, where="--method ilp", remedy="Choose --method greedy, or name fewer columns with --qi")
        first = len(self.choices)
        for hidden in self.worth_hiding(conditions, values):
            choice = len(self.choices)
            self.choices.append(Pile(of, hidden))
            met = masks & hidden != 0
            lost_value = (hidden >> k >> self.problem.column[self.problem.rules.target[rules]]) & 1 == 1
            lost = (roles == RELEVANT) & (met | lost_value)
            gone = (roles == OWNER) & met
            for part, chosen in enumerate((met, lost, gone)):
                for rule in rules[chosen].tolist():
                    self.effects[rule][part][choice] = 1
        if first < len(self.choices):
            people = float(self.problem.classes.people[of])
            self.rows.append((dict.fromkeys(range(first, len(self.choices)), 1.0), -np.inf, people))

    def worth_hiding(self, conditions: list[int], values: list[int]) -> list[int]:
        """The sets of cells to choose from; with its only value hidden, a record supports no rule, and hiding more of it helps nobody."""
        if self.problem.cells == self.problem.attributes + 1:
            return _subsets(conditions) + _subsets(values)
        return _subsets(conditions + values)

    def program(self) -> tuple[Any, ...]:
        """The program as arrays: cost, matrix, the two ends of its rows, which variables are whole, the largest value of each."""
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
        return cost, matrix, lower, upper, np.ones(extra, np.int64), most

    def add_rule(self, rule: int, extra: int) -> int:
        """The rows that keep a rule safe; how many variables there are then."""
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
            within = dict.fromkeys(less_both, 1.0) | {extra: -float(both - limits.support)}
            self.rows.append((within, 0.0, np.inf))
            extra += 1
        if less_owners:
            row[extra] = large
            owners = float(rules.owners[rule])
            self.rows.append((dict.fromkeys(less_owners, 1.0) | {extra: -owners}, 0.0, np.inf))
            extra += 1
        self.rows.append((dict(row), float(limits.denominator * both - limits.numerator * having), np.inf))
        return extra

    def hidden(self, solution: npt.NDArray[np.float64]) -> list[tuple[Pile, int]]:
        """The piles of a solution."""
        counts = np.rint(solution[: len(self.choices)]).astype(np.int64).tolist()
        return [(pile, records) for pile, records in zip(self.choices, counts, strict=True) if records]


def _subsets(cells: list[int]) -> list[int]:
    """Every non-empty set of these cells, as bit masks."""
    found = [0]
    for cell in cells:
        found += [mask | 1 << cell for mask in found]
    return found[1:]


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
        self.state = state
        self.problem = state.problem
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

    def _helpful(self) -> tuple[Ints, Codes, npt.NDArray[np.int8]]:
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
        once = self._lowered(changed, 1)
        most = 1
        if once <= NOTHING:
            return 1
        low = 1
        high = self.state.people[number]
        while low <= high:
            middle = (low + high) // 2
            if self._lowered(changed, middle) >= middle * once - NOTHING:
                most = middle
                low = middle + 1
            else:
                high = middle - 1
        return most

    def _lowered(self, changed: Touched, records: int) -> float:
        state = self.state
        rules = changed.rules
        weight = state.owners[rules] / self.at_start[rules]
        excess = self.problem.thresholds.excess
        now = excess(state.having[rules], state.both[rules])
        then = excess(state.having[rules] - records * changed.having, state.both[rules] - records * changed.both)
        return float((weight * (now - then)).sum())

    def hide(self, number: int, cell: int, records: int) -> None:
        """Hide a cell of some records of a pile, and bring the gains up to date."""
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
            self.gain[target] = self._row(target)
            for rule, role in zip(*(part.tolist() for part in state.rules_of(target)), strict=True):
                self.further[rule].append((target, role))
                self.present[role, rule] = True
        elif state.people[target] == records:  # it was empty
            self.gain[target] = self._row(target)

    def _row(self, number: int) -> npt.NDArray[np.float64]:
        """The gains of a pile's cells, from the start."""
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

    def _add(self, rule: int, by: npt.NDArray[np.float64], to: npt.NDArray[np.float64] | None = None) -> None:
        """Add what a rule contributes to the gains of all cells that touch it."""
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
    state, bound = _by_method(problem, regions, method, seed, limits=limits)
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
