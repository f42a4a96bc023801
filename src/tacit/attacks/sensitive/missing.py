"""Missing rules: what a complete list says by what it leaves out, looked at only where it matters.

A missing rule ``Q => x`` says that fewer than ``max(s n, c count(Q))`` people have Q and x. That is news only where Q itself has that many
people, so only frequent sets Q are looked at; and sets Q that the same people have say the same, so only closed ones. Most of these bounds
hold anyway: estimates are made without them, checked against all of them, and made again with those that were missed, until none is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.rule_table import missing_ceiling
from tacit.attacks.sensitive.case import MISSING, PeopleCase, RuleCase
from tacit.errors import LimitReached
from tacit.inference.clash import clashing
from tacit.inference.classes import Clash, Problem, reduce
from tacit.inference.entropy import Solution, solve
from tacit.inference.statements import Statements
from tacit.mining.itemsets import mine_itemsets
from tacit.model.items import Items
from tacit.model.population import Population
from tacit.model.sets import Sets
from tacit.model.transactions import Transactions

#: Multipliers by the key of the event (:meth:`Statements.keys`) and the value.
Multipliers = dict[tuple[tuple[int, int], int], float]

#: So many members of events are added up at once.
BLOCK = 1 << 21

#: A bound counts as missed when it is by more than this share of all people.
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Missing:
    """The missing rules that say something: event by event, the most people who can have each value.

    ``most[e, v]`` is the whole event where the rule is not missing.
    """

    events: Sets
    most: npt.NDArray[np.int64]
    wholes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, case: RuleCase) -> Missing:
        """The missing rules of a list that is complete; none of one that is not."""
        ceiling = missing_ceiling(case.release)
        nothing = cls(Sets.from_lists([]), np.empty((0, len(case.values)), np.int64), np.empty(0, np.int64))
        if ceiling is None or case.release.header.coarser:
            return nothing
        found = mine_itemsets(rows_of(case.population), min_support=max(1, ceiling.min_support), only="closed")
        pairs = found.items.pairs
        assert pairs is not None
        events = [case.population.holding(pairs[item] for item in members.tolist()) for members in found.sets]
        most = np.array([ceiling.of(people) for people in found.lo.tolist()], np.int64)[:, None].repeat(len(case.values), axis=1)
        said = Statements(case.population, len(case.values))
        number = {said.event(event): place for place, event in enumerate(events)}
        for line, holders in enumerate(case.holders):
            place = number.get(said.event(holders))
            if place is not None:
                most[place, case.codes[line]] = found.lo[place]
        useful = np.flatnonzero((most < found.lo[:, None]).any(axis=1))
        if len(useful) == 0:
            return nothing
        chosen = [events[place] for place in useful.tolist()]
        ends = np.cumsum([0, *map(len, chosen)], dtype=np.int64)
        return cls(Sets(ends, np.concatenate(chosen)), most[useful], found.lo[useful])

    def missed(self, people: npt.NDArray[np.float64], n: int) -> list[tuple[int, int]]:
        """The events and values whose bound is missed, when ``people[q, v]`` people of combination q have value v."""
        if len(self.events) == 0:
            return []
        totals = self._totals(people)
        over = totals > self.most + TOLERANCE * n
        over &= self.most < self.wholes[:, None]
        return [(int(event), int(value)) for event, value in np.argwhere(over)]

    def _totals(self, people: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How many people of each event have each value; block by block, so that little memory is needed."""
        from scipy.sparse import csr_array

        members, offsets = self.events.members, self.events.offsets
        blocks = np.unique(np.searchsorted(offsets, np.arange(0, len(members) + BLOCK, BLOCK)).clip(0, len(self.events)))
        ones = np.ones(int(np.diff(offsets[blocks]).max()))
        parts = []
        for first, last in zip(blocks[:-1].tolist(), blocks[1:].tolist(), strict=True):
            begin, end = int(offsets[first]), int(offsets[last])
            shape = (last - first, len(people))
            rows = csr_array((ones[: end - begin], members[begin:end], offsets[first : last + 1] - begin), shape=shape)
            parts.append(rows @ people)
        return np.concatenate(parts)

    def say(self, said: Statements, event: int, value: int) -> None:
        """Add one bound to the statements."""
        combinations = self.events[event].astype(np.int32)
        said.say(combinations, value, 0, int(self.most[event, value]), (MISSING, event, value))


def rows_of(population: Population) -> Transactions:
    """The known people as transactions over their values."""
    pairs = [(column.name, value) for column in population.columns for value in column.values]
    starts = np.cumsum([0] + [len(column.values) for column in population.columns])
    members = np.stack([column.codes + start for column, start in zip(population.columns, starts[:-1], strict=True)], axis=1)
    offsets = np.arange(len(population) + 1, dtype=np.int64) * len(population.columns)
    return Transactions(Sets(offsets, members.reshape(-1).astype(np.int32)), population.people, Items.of_columns(pairs))


@dataclass(frozen=True, eq=False)
class Estimate:
    """The distribution of largest entropy under published and missing rules, and the statements that it took.

    ``missing_pairs`` are the missing rules among them, by event and value.
    """

    problem: Problem
    solution: Solution
    missing_used: int
    rounds: int
    missing_pairs: tuple[tuple[int, int], ...] = ()
    keys: tuple[tuple[int, int], ...] = ()

    @property
    def multipliers(self) -> Multipliers:
        """What each event and value got, for the estimate of a similar release about the same people to begin with."""
        events = [self.keys[event] for event in self.problem.events.tolist()]
        return dict(zip(zip(events, self.problem.values.tolist(), strict=True), self.solution.multipliers.tolist(), strict=True))

    def posterior(self) -> npt.NDArray[np.float64]:
        """P(value | combination), one row for each combination."""
        return self.solution.share[self.problem.class_of]


def estimate(
    case: PeopleCase,
    missing: Missing,
    *,
    check: Callable[[], None] = lambda: None,
    multipliers: Multipliers | None = None,
    left_out: Collection[object] = (),
) -> Estimate:
    """Solve, look which missing rules are not kept, add them, and solve again, until all are kept.

    Statements with an origin in ``left_out`` are taken as not known. ``multipliers`` of a similar estimate save most of the steps.
    """
    said = case.published()
    said.listed = [one for one in said.listed if one.origin not in left_out]
    used: set[tuple[int, int]] = set()
    known = dict(multipliers or {})
    rounds = 0
    while True:
        try:
            problem = reduce(said)
        except Clash as clash:
            case.refuse(clashing(said, check=check, stop=LimitReached) or clash.origins)
        keys = said.keys()
        start = _begin(problem, keys, known) if known else None
        solution = solve(problem, multipliers=start, check=check)
        rounds += 1
        if not solution.converged:
            # There may be nothing to converge to; the lines that clash are named then.
            if origins := clashing(said, check=check, stop=LimitReached):
                case.refuse(origins)
            return Estimate(problem, solution, len(used), rounds, (), tuple(keys))
        people = solution.share[problem.class_of] * case.population.people[:, None]
        fresh = [pair for pair in missing.missed(people, case.population.n) if pair not in used]
        fresh = [pair for pair in fresh if (MISSING, *pair) not in left_out]
        if not fresh:
            return Estimate(problem, solution, len(used), rounds, tuple(sorted(used)), tuple(keys))
        for event, value in fresh:
            missing.say(said, event, value)
        used.update(fresh)
        known = Estimate(problem, solution, len(used), rounds, (), tuple(keys)).multipliers


def _begin(problem: Problem, keys: Sequence[tuple[int, int]], known: Multipliers) -> npt.NDArray[np.float64]:
    """Multipliers to begin with: those known, 0 for what is new."""
    pairs = zip((keys[event] for event in problem.events.tolist()), problem.values.tolist(), strict=True)
    return np.array([known.get(pair, 0.0) for pair in pairs])
