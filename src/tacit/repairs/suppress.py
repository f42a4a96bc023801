"""suppress: hide the fewest cells, and prove that fewer are not enough.

Changes
    Cells of fewer than k people lose their numbers, and so do as few other cells as possible, until no attack succeeds. All other cells keep
    their exact counts. Hidden cells look alike, and the header no longer says that they are small.
Guarantee
    Every number that is left is true. The result is audited anew, by default for an attacker who can tell which hidden cells are small. The
    lower bound holds for every choice of cells: a proof stays a proof unless one of the lines that it cites is hidden (or shown, if it tells a
    number that this line withholds), and the bound is the smallest choice that meets every proof found. If the result is as small, it is a
    best one.
Cost
    A round for every set of cells that turns out not to be enough; mostly fewer than ten. With a time limit, the best safe choice so far and
    its lower bound; in the worst case all cells are hidden that can be.
Example
    Of 18 people 15 are in a shown cell and 3 in a hidden one. The proof cites the total and the shown cell, so that one of them has to go.
Reference
    Ours: certificates of attacks as cuts. The search is that of Fischetti and Salazar, Management Science 2001, for linear tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from tacit.model.arrays import Floats
from tacit.model.errors import Infeasible, LimitReached
from tacit.model.policy import Limits
from tacit.solve.highs import OPTIMAL
from tacit.solve.solver import Matrix, solve_whole

NAME = "suppress"

Units = frozenset[int]  #: Lines that can be hidden, by number.
#: Lines of which one must be hidden if another one is: a number that is told is a finding only where its own line withholds it.
Given = tuple[Units, int]

MOST_ROUNDS = 150  #: Most choices that are judged in search of the smallest one.
FEW_ROUNDS = 10  #: Choices that are judged in any case, however many lines there are.
MOST_JUDGED = 200_000  #: Most lines of all judged choices together: not seconds, so that the same input gives the same answer.
MOST_DEEPER = 5  #: Most times that a choice that is not enough is extended.
MOST_IDLE = 6  #: Most turns in a row that neither raise the lower bound nor lead to a lighter choice.
MOST_REMOVED = 10  #: Most lines of a safe choice that are tried without.
MOST_NODES = 1_000  #: Most nodes of a search for the smallest choice: not seconds, so that the same input gives the same answer.
MOST_HARD = 3  #: Most searches for the smallest choice that end without one.
MOST_TIES = 3  #: Most choices of the same weight that are judged.
NEAR = 1e-6  #: Tolerance of a solver's number.


@dataclass(frozen=True, slots=True)
class Separation:
    """Judgement of a choice: sets of lines to hide one of, or safe.

    Sets that are ``given`` hold only if another line is hidden.
    """

    cuts: tuple[Units, ...] = ()
    is_safe: bool = False
    given: tuple[Given, ...] = ()

    @property
    def teaches(self) -> bool:
        """True if it says which choices are not enough."""
        return bool(self.cuts or self.given)


@dataclass(frozen=True, slots=True, eq=False)
class SuppressCase:
    """Lines with their weights, and a function that judges a choice of them.

    ``unit`` is the weight that every sum of ``weights`` is a multiple of, 0 if there is none. ``ties`` decide between choices of equal weight.
    A judgement takes its own limit of time: once that of the search is over, ``reserve`` is left to hide all lines, if nothing else is safe.
    ``sums`` are sets of lines of which any one follows from all others: hiding only one of a set hides nothing.
    """

    weights: Floats
    ties: Floats
    unit: float
    separate: Callable[[Units, Limits], Separation]
    limits: Limits
    reserve: Limits = field(default_factory=Limits)
    sums: tuple[Units, ...] = ()

    @property
    def everything(self) -> Units:
        """All lines that can be hidden."""
        return frozenset(range(len(self.weights)))


@dataclass(frozen=True, slots=True)
class Choice:
    """Lines to hide; ``lower_bound`` is the least weight of any safe choice."""

    hidden: Units
    weight: float
    lower_bound: float
    is_safe: bool
    rounds: int

    @property
    def is_optimal(self) -> bool:
        """True if no safe choice weighs less."""
        return self.is_safe and self.weight <= self.lower_bound + NEAR


def propose(case: SuppressCase) -> Choice:
    """Propose the lines to hide."""
    return _Search(case).run()


@dataclass(eq=False)
class _Search:
    case: SuppressCase
    cuts: list[Units] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    sums: list[Units] = field(default_factory=list)  #: Those of the case that a choice has violated.
    lower: float = 0.0
    best: Units | None = None
    last: Units = frozenset()
    is_all_judged: bool = False
    rounds: int = 0

    def run(self) -> Choice:
        """Search for the lightest safe choice; at any moment, the lightest one so far is known."""
        try:
            self._grow()
            self._improve()
            self._choose_among_equals()
        except LimitReached:
            self._hide_everything(self.case.reserve)
            self._smallest()
            self.last = self.case.everything  # nothing is known to be safe, and this reveals least
        hidden = self.last if self.best is None else self.best
        weight = self._weigh(hidden)
        return Choice(hidden, weight, min(weight, self.lower), self.best is not None, self.rounds)

    @property
    def _most_rounds(self) -> int:
        return min(MOST_ROUNDS, max(FEW_ROUNDS, MOST_JUDGED // max(1, len(self.case.weights))))

    def _weigh(self, units: Iterable[int]) -> float:
        return float(self.case.weights[sorted(units)].sum())

    def _judge(self, chosen: Units, limits: Limits | None = None) -> Separation:
        """Judge a choice, and keep what is learnt."""
        within = self.case.limits if limits is None else limits
        within.check(NAME)
        self.rounds += 1
        judged = self.case.separate(chosen, within)
        shown = self._show_what_follows(chosen)
        if judged.is_safe and shown != chosen:
            # An attack may not ask what lines say that follow from others: safe is what is safe with these shown.
            judged = Separation(is_safe=self.case.separate(shown, within).is_safe)
            chosen = shown
        for cut in judged.cuts:
            if not cut:
                remedy = "Keep fewer lines, publish fewer tables, or name a weaker --attacker"
                raise Infeasible("a proof rests only on what has to stay published", where="--method suppress", remedy=remedy)
        self._add(judged.cuts)
        self.given += [one for one in judged.given if one not in self.given]
        if judged.is_safe and (self.best is None or self._weigh(chosen) < self._weigh(self.best) + NEAR):
            self.best = chosen
        return judged

    def _add(self, cuts: Iterable[Units]) -> None:
        """Add cuts; a cut that holds another one says less."""
        for cut in sorted(cuts, key=len):
            if any(known <= cut for known in self.cuts):
                continue
            self.cuts = [known for known in self.cuts if not cut <= known]
            self.cuts.append(cut)

    def _smallest(self) -> HittingSet:
        """Return a choice of least weight that meets all cuts; raise the lower bound."""
        found = self._solve(self.cuts, self.given)
        self.lower = max(self.lower, found.bound)
        return found

    def _solve(
        self, cuts: list[Units], given: Sequence[Given], *, held: Units = frozenset(), most: float | None = None
    ) -> HittingSet:
        """Return the lightest choice besides ``held`` that meets the cuts, and leaves no line hidden alone."""
        while True:
            found = smallest_hitting_set(cuts, self.case, most=most, given=given, sums=self.sums, held=held)
            violated = [own for own in self.case.sums if len(own & (found.chosen | held)) == 1 and own not in self.sums]
            if not violated:
                return found
            self.sums += violated

    def _extend(self, chosen: Units) -> Units:
        """Return a larger choice that meets all cuts, else the smallest."""
        if any(line in chosen and not units for units, line in self.given):
            return self._smallest().chosen
        missed = [cut for cut in self.cuts if not cut & chosen]
        missed += [units for units, line in self.given if line in chosen and not units & chosen]
        later = [(units, line) for units, line in self.given if line not in chosen and not units & chosen]
        return chosen | self._solve(missed, later, held=chosen).chosen

    def _meets(self, chosen: Units) -> bool:
        """Tell if a choice meets all cuts."""
        return all(cut & chosen for cut in self.cuts) and all(units & chosen or line not in chosen for units, line in self.given)

    def _hide_everything(self, limits: Limits) -> None:
        """Find out if anything can be safe: hiding all lines reveals least."""
        if self.best is None and not self.is_all_judged:
            self._judge(self.case.everything, limits)
            self.is_all_judged = True

    def _grow(self) -> None:
        """Hide more lines until the choice is safe, then fewer while it is."""
        chosen: Units = frozenset()
        while True:
            judged = self._judge(chosen)
            self.last = chosen
            if judged.is_safe:
                break
            self._hide_everything(self.case.limits)
            if not judged.teaches:
                self._close_in(chosen)
                break
            chosen = self._extend(chosen)
        if self.best is not None and self._weigh(self.best) > self._bound() + NEAR:
            self._remove(MOST_REMOVED)

    def _close_in(self, chosen: Units) -> None:
        """Hide some of the other lines, the cheapest first, where all of them are enough: bisection."""
        rest = sorted(self.case.everything - chosen, key=lambda one: (self.case.weights[one], self.case.ties[one], one))
        least = 0
        most = len(rest)
        while self.best is not None and most - least > 1:
            middle = (least + most) // 2
            if self._judge(chosen.union(rest[:middle])).is_safe:
                most = middle
            else:
                least = middle

    def _remove(self, most: int) -> None:
        """Show the heaviest lines of the best choice again, as far as it stays safe."""
        assert self.best is not None
        for unit in sorted(self.best, key=lambda one: (-self.case.weights[one], one))[:most]:
            fewer = self._show_what_follows(self.best - {unit})
            if unit in self.best and self._meets(fewer):
                self._judge(fewer)

    def _show_what_follows(self, chosen: Units) -> Units:
        """Return a choice without lines that follow from what is shown."""
        while True:
            alone = frozenset().union(*(own & chosen for own in self.case.sums if len(own & chosen) == 1))
            if not alone:
                return chosen
            chosen -= alone

    def _improve(self) -> None:
        """Raise the lower bound, and look for lighter choices, until the two meet."""
        hard = 0
        idle = 0
        known = (0.0, 0.0)
        while self.best is not None and self.rounds < self._most_rounds:
            found = self._smallest()
            before, known = known, (self.lower, self._weigh(self.best))
            idle = idle + 1 if known == before else 0
            if idle > MOST_IDLE:
                return
            hard += not found.is_exact
            if hard > MOST_HARD or self._weigh(found.chosen) >= self._weigh(self.best) - NEAR:
                return  # the bound cannot be raised, or this is a best one
            if not self._look_deeper(found.chosen):
                return

    def _look_deeper(self, chosen: Units) -> bool:
        """Judge a choice and larger ones; tell if anything was learnt."""
        assert self.best is not None
        for turn in range(MOST_DEEPER):
            judged = self._judge(chosen)
            if judged.is_safe:
                return True
            if not judged.teaches:
                return turn > 0
            chosen = self._extend(chosen)
            if self._weigh(chosen) >= self._weigh(self.best) - NEAR:
                return True
        return True

    def _bound(self) -> float:
        self._smallest()
        return self.lower

    def _choose_among_equals(self) -> None:
        """Look for a safe choice of equal weight that is preferred in ties."""
        for _ in range(MOST_TIES if self.best is not None and self.case.unit else 0):
            if self.rounds >= self._most_rounds:
                return
            assert self.best is not None
            most = self._weigh(self.best)
            chosen = self._solve(self.cuts, self.given, most=most).chosen
            is_better = self.case.ties[sorted(chosen)].sum() < self.case.ties[sorted(self.best)].sum() - NEAR
            if not is_better or self._weigh(chosen) > most + NEAR or not self._meets(chosen):
                return
            judged = self._judge(chosen)
            if not judged.is_safe and not judged.teaches:
                return


@dataclass(frozen=True, slots=True)
class HittingSet:
    """Lines that meet all cuts, and a bound on the weight of any such choice."""

    chosen: Units
    bound: float
    is_exact: bool = True


def smallest_hitting_set(
    cuts: list[Units],
    case: SuppressCase,
    most: float | None = None,
    given: Sequence[Given] = (),
    *,
    sums: Sequence[Units] = (),
    held: Units = frozenset(),
) -> HittingSet:
    """Return the lightest choice that meets all cuts.

    With ``most``, the choice that is best by the order between ties, among those of at most this weight. Of each of the ``sums``, no line is
    hidden alone; lines that are ``held`` are hidden already. If the search is too long, the choice may weigh more than the bound.
    """
    if not cuts:
        return HittingSet(frozenset(), 0.0)
    units = sorted(frozenset().union(*cuts, *(own | {line} for own, line in given), *sums) - held)
    program = _Program(units)
    for cut in cuts:
        program.add(dict.fromkeys(cut, 1.0), 1.0)
    for own, line in given:
        program.add({**dict.fromkeys(own, 1.0), line: -1.0}, 0.0)
    for own in sums:
        program.add_sum(own, held)
    weights = np.zeros(program.width)
    weights[: len(units)] = (case.weights if most is None else case.ties)[units]
    if most is not None:
        program.add({unit: -float(case.weights[unit]) for unit in units}, -most - NEAR)
    left = case.limits.seconds_left
    found = solve_whole(
        weights / (case.unit or 1.0),
        matrix=program.matrix,
        low=np.array(program.low),
        high=np.full(len(program.low), np.inf),
        most=np.ones(program.width),
        gap=0.0 if most is None else 0.01,
        nodes=MOST_NODES,
        seconds=None if left is None else max(0.1, 0.5 * left),
    )
    bound = 0.0 if found.bound is None or not np.isfinite(found.bound) else found.bound * (case.unit or 1.0) - NEAR
    bound = max(0.0, ceil(bound / case.unit) * case.unit if case.unit else bound)
    if found.x is None:
        return HittingSet(_greedy(cuts, case.weights, given), bound, is_exact=False)
    chosen = frozenset(unit for unit, share in zip(units, found.x.tolist(), strict=False) if share > 0.5)
    return HittingSet(chosen, bound, is_exact=found.status == OPTIMAL)


class _Program:
    """Integer program over lines, a row for each condition."""

    def __init__(self, units: Sequence[int]) -> None:
        self.place = {unit: number for number, unit in enumerate(units)}
        self.width = len(units)
        self.low: list[float] = []
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._entries: list[float] = []

    def add(self, entries: Mapping[int, float], low: float, helper: tuple[int, float] | None = None) -> None:
        """Add a condition: a sum over lines, and a helping unknown, is at least ``low``."""
        columns = [self.place[unit] for unit in sorted(entries)]
        values = [entries[unit] for unit in sorted(entries)]
        if helper is not None:
            columns.append(helper[0])
            values.append(helper[1])
        self._rows += [len(self.low)] * len(columns)
        self._columns += columns
        self._entries += values
        self.low.append(low)

    def add_sum(self, own: Units, held: Units) -> None:
        """Let at least two lines be hidden if any is; some may be ``held`` already."""
        free = own - held
        if len(own & held) == 1:
            self.add(dict.fromkeys(free, 1.0), 1.0)
        if not own & held:
            any_hidden = self.width
            self.width += 1
            self.add(dict.fromkeys(free, 1.0), 0.0, (any_hidden, -2.0))
            for unit in free:
                self.add({unit: -1.0}, 0.0, (any_hidden, 1.0))

    @property
    def matrix(self) -> Matrix:
        """The conditions as a matrix."""
        return Matrix.of_entries(self._rows, self._columns, self._entries, (len(self.low), self.width))


def _greedy(cuts: list[Units], weights: Floats, given: Sequence[Given]) -> Units:
    """Choose the line in most cuts for its weight, again and again."""
    left = list(cuts)
    chosen: set[int] = set()
    while left:
        counted: dict[int, int] = {}
        for cut in left:
            for unit in cut:
                counted[unit] = counted.get(unit, 0) + 1
        best = max(counted, key=lambda one: (counted[one] / max(float(weights[one]), NEAR), -one))
        chosen.add(best)
        left += [units for units, line in given if line == best and units]
        left = [cut for cut in left if not cut & chosen]
    return frozenset(chosen)
