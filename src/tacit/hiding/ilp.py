"""ilp: the fewest cells that make the table safe, as an integer program; or the best found in the time, with how far it may be from that.

A whole number says for each class of records, and each set of cells that could be hidden there, in how many records it is. What a rule
then counts is linear in these. Yes-or-no variables choose, for rules that allow it, between being within the confidence, within the
support, and having no owner left that publishes the pattern.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError
from tacit.hiding.counts import Hiding, Pile
from tacit.hiding.problem import OWNER, RELEVANT, Problem
from tacit.inference.solving import solve_whole

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
        self.state, self.problem, self.check = state, state.problem, check
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
        masks, k = self.problem.rules.mask[rules], self.problem.attributes
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
        lower, upper = [low for _, low, _ in self.rows], [high for _, _, high in self.rows]
        return cost, matrix, lower, upper, np.ones(extra, np.int64), most

    def add_rule(self, rule: int, extra: int) -> int:
        """The rows that keep a rule safe; how many variables there are then."""
        limits, rules = self.problem.thresholds, self.problem.rules
        having, both = int(rules.having[rule]), int(rules.both[rule])
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
