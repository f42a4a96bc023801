"""Rebuilding people: how many have a certain value in every column.

A kind of person has one class of values on every axis. Lines that hold nobody exclude most kinds; worlds over the kinds that are left show
how few people of a kind there can be, and what all worlds share is a candidate: at least so many people are of this kind. Each candidate is
proved by weights on the lines, or by cases, or refuted by one more world. People proved to be of different kinds are different people, so
that their numbers add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import Problem, Tally
from tacit.joint.cube import Cited, Step
from tacit.joint.lower import JointCase
from tacit.joint.programs import IN_TURN, NEAR, Cases, Solver
from tacit.joint.words import step_record
from tacit.joint.worlds import Cells, Masks, Row, Rows, World, count_cells
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.errors import LimitReached
from tacit.model.policy import Limits
from tacit.model.rebuilt import Rebuilt, RebuiltGroup
from tacit.model.release import FIRST_RULE

MOST_KINDS = 2_000_000  #: Most kinds of people, with those that lines exclude.
MOST_LIVING = 20_000  #: Most kinds that are left for programs.
MOST_ENTRIES = 20_000_000  #: Most entries of all lines about these.
RANDOM_WORLDS = 4  #: Worlds with random costs, before worlds with few people of all candidates.
RARE = 0.5  #: How often a class counts that nobody has in the worlds so far.
SURE = 8.0  #: Standard deviations from the expected number within which copies of a kind are compared.
MOST_WORLDS = 40  #: Most worlds that are searched for candidates.
MOST_CASES = 100  #: Most candidates that are settled one by one by programs over whole people.


@dataclass(frozen=True, eq=False)
class Kinds(Cells):
    """Kinds of people that no line excludes; ``classes`` has a row for each."""

    classes: Ints

    def __len__(self) -> int:
        return len(self.classes)

    def inside(self, masks: Masks) -> Ints:
        """Return the kinds of a box, by number."""
        found = np.ones(len(self.classes), np.bool_)
        for place, mask in masks.items():
            found &= self._within(place, mask)
        return np.flatnonzero(found)

    def _within(self, place: int, mask: int) -> Flags:
        known = self._known_flags.get((place, mask))
        if known is None:
            bits = np.array([bool(mask >> bit & 1) for bit in range(len(self.problem.axes[place].classes))])
            known = bits[self.classes[:, place]]
            self._known_flags[place, mask] = known
        return known

    @cached_property
    def _known_flags(self) -> dict[tuple[int, int], Flags]:
        return {}

    def kinds(self, world: Ints) -> Ints:
        """Return the class of each person on every axis."""
        return np.repeat(self.classes, world, axis=0)

    def tally(self, people: npt.NDArray[Any]) -> Tally:
        """Return the tally of people of these kinds."""

        def count(places: Sequence[int]) -> npt.NDArray[Any]:
            if not len(places):
                return np.asarray(people.sum())
            shape = [len(self.problem.axes[place].classes) for place in places]
            found = np.zeros(shape, people.dtype)
            np.add.at(found, tuple(self.classes[:, place] for place in places), people)
            return found

        return count

    def size(self, masks: Masks) -> int:
        """Return the number of kinds of a box."""
        return len(self.inside(masks))

    def box(self, cell: int) -> dict[int, int]:
        """Return one kind as a box."""
        return {
            place: 1 << int(bit) for place, (bit, size) in enumerate(zip(self.classes[cell], self.shape, strict=True)) if size > 1
        }

    def places(self, kinds: Ints) -> Ints:
        """Return the number of each person's kind, -1 for kinds that are excluded."""
        if not self.shape:
            return np.zeros(len(kinds), np.int64)
        own = np.ravel_multi_index(tuple(self.classes.T), self.shape)
        order = np.argsort(own)
        wanted = np.ravel_multi_index(tuple(kinds.T), self.shape)
        at = np.minimum(np.searchsorted(own[order], wanted), len(own) - 1) if len(own) else np.zeros(len(wanted), np.int64)
        return np.where(own[order[at]] == wanted, order[at], -1) if len(own) else np.full(len(wanted), -1)


@dataclass(eq=False)
class LivingRows(Rows):
    """Lines over the kinds of people that are left.

    A weighted sum that holds for these is extended to all kinds by the lines that exclude the others: ``excluding`` are these lines, and
    ``owner`` numbers the first of them that excludes a kind, -1 where none does. ``asked`` is the group that a proof is about.
    """

    excluding: tuple[Row, ...] = ()
    owner: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    asked: Masks = field(default_factory=dict)

    @classmethod
    def of_problem(cls, problem: Problem) -> LivingRows | None:
        """Return the lines of a problem over the kinds that are left, or None if there are too many."""
        chosen = tuple(range(len(problem.axes)))
        if count_cells(problem.axes) > MOST_KINDS:
            return None
        whole = Rows.of(problem, chosen)
        empty = [row for row in whole.rows if row.hi == 0 and all(factor > 0 for factor, _ in row.terms)]
        size = whole.cells.size
        excluding = tuple(sorted(empty, key=lambda row: -sum(size(masks) for _, masks in row.terms)))
        shape = whole.cells.shape
        owner = np.full(shape, -1, np.int64)
        for number, row in enumerate(excluding):
            for _, masks in row.terms:
                part = _part(shape, masks)
                owner[part] = np.where(owner[part] < 0, number, owner[part])
        left = np.flatnonzero(owner.ravel() < 0)
        if len(left) > MOST_LIVING:
            return None
        classes = np.stack(np.unravel_index(left, shape), axis=1).astype(np.int64) if shape else np.zeros((1, 0), np.int64)
        cells = Kinds(problem, chosen, classes)
        kept = _tightest(whole.rows, cells, {id(row) for row in empty}, frozenset(whole.everybody))
        place = {number: at for at, number in enumerate(kept)}
        everybody = tuple(place[number] for number in whole.everybody if number in place)
        complete = len(everybody) == len(whole.everybody)
        found = cls(cells, tuple(whole.rows[number] for number in kept), everybody if complete else ())
        found.excluding = excluding
        found.owner = owner
        return found if sum(len(inside) for row in range(len(kept)) for _, inside in found.where(row)) <= MOST_ENTRIES else None

    @property
    def kinds(self) -> Kinds:
        """The kinds of people that are left."""
        assert isinstance(self.cells, Kinds)
        return self.cells

    def about(self, box: Masks) -> LivingRows:
        """Return the rows for proofs about a group."""
        return replace(self, asked=box)

    def certify(self, group: Ints, sign: int, weights: Floats, wanted: int) -> tuple[int, dict[Cited, Fraction]] | None:
        """Return an integer lower bound on a signed group, with weights that hold for every kind."""
        shown = super().certify(group, sign, weights, wanted)
        return None if shown is None else (shown[0], self._extend_to_all(shown[1], sign if len(group) else 0))

    @cached_property
    def _terms_of(self) -> dict[Cited, tuple[tuple[int, Masks], ...]]:
        return {says: row.terms for row in self.rows for says in (row.says_lo, row.says_hi) if says is not None}

    def _extend_to_all(self, weights: dict[Cited, Fraction], sign: int) -> dict[Cited, Fraction]:
        """Add lines that exclude the kinds for which a weighted sum does not hold."""
        common = lcm(*(weight.denominator for weight in weights.values())) if weights else 1
        left: Any = np.zeros(self.owner.shape, np.int64 if common < 2**31 else object)
        if sign < 0:
            left[_part(self.owner.shape, self.asked)] -= common
        for cited, weight in weights.items():
            for factor, masks in self._terms_of[cited]:
                left[_part(self.owner.shape, masks)] -= int(weight * common) * factor
        out = dict(weights)
        missing = (left < 0) & (self.owner >= 0)
        while missing.any():
            numbers, often = np.unique(self.owner[missing], return_counts=True)
            row = self.excluding[int(numbers[np.argmax(often)])]
            most = max(-int(left[_part(self.owner.shape, masks)].min()) for _, masks in row.terms)
            for factor, masks in row.terms:
                part = _part(self.owner.shape, masks)
                left[part] += most * factor
                missing[part] = (left[part] < 0) & (self.owner[part] >= 0)
            assert row.says_hi is not None
            out[row.says_hi] = out.get(row.says_hi, Fraction(0)) - Fraction(most, common)
        return out


def _part(shape: tuple[int, ...], masks: Masks) -> Any:
    """Return the index of a box in an array with an axis for each column."""
    bits = ([bit for bit in range(size) if masks.get(place, -1) >> bit & 1] for place, size in enumerate(shape))
    return np.ix_(*bits) if shape else ()


def _tightest(rows: Sequence[Row], cells: Kinds, gone: Set[int], always: Set[int]) -> list[int]:
    """Return the rows that are not gone; of those about the same kinds, those with the best ends."""
    best: dict[bytes, list[int | None]] = {}
    kept = set(always)
    for number, row in enumerate(rows):
        if id(row) in gone:
            continue
        if len(row.terms) > 1 or row.terms[0][0] != 1:
            kept.add(number)
            continue
        both = best.setdefault(cells.inside(row.terms[0][1]).tobytes(), [None, None])
        low = None if both[0] is None else rows[both[0]].lo
        high = None if both[1] is None else rows[both[1]].hi
        if row.lo is not None and (low is None or row.lo > low):
            both[0] = number
        if row.hi is not None and (high is None or row.hi < high):
            both[1] = number
    return sorted(kept.union(number for both in best.values() for number in both if number is not None))


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """People proved to be in a group; ``without`` is the axis that it leaves open, or -1."""

    box: Masks
    least: Step
    most: Step
    without: int = -1

    @property
    def at_least(self) -> int:
        """Proved number of people."""
        return self.least.value

    @property
    def at_most(self) -> int:
        """Most people of the group."""
        return self.most.value


@dataclass(eq=False)
class Rebuilding:
    """Search for people who are rebuilt; what is found stays when time runs out.

    ``claims`` are about single kinds, ``wider`` about groups with one open column, none of which has kinds in common with another.
    """

    problem: Problem
    limits: Limits
    known: World | None = None
    claims: list[Claim] = field(default_factory=list)
    wider: list[Claim] = field(default_factory=list)
    worlds: list[Ints] = field(default_factory=list)
    is_over: bool = False

    def __post_init__(self) -> None:
        rows = LivingRows.of_problem(self.problem)
        self.is_possible = rows is not None
        self.rows = rows or LivingRows(Kinds(self.problem, (), np.zeros((0, 0), np.int64)), (), ())
        self.kinds: Kinds = self.rows.kinds
        self.solver = Solver(self.rows, self.limits)
        #: Axes of columns of the data: the first rule that a person matches follows from these.
        self.columns = [
            at for at, axis in enumerate(self.problem.axes) if len(axis.classes) > 1 and not axis.key.name.startswith(FIRST_RULE)
        ]
        #: By kind: the people of a probable world, the fewest people of all worlds, and how many are proved.
        self.likely = np.zeros(len(self.kinds), np.int64)
        self.fewest = np.zeros(len(self.kinds), np.int64)
        self.proved = np.zeros(len(self.kinds), np.int64)

    def look(self) -> None:
        """Find worlds, and prove what they share."""
        try:
            self._find_worlds()
            if self.worlds:
                self._prove_kinds()
                self._prove_wider()
        except LimitReached:
            self.is_over = True

    # Worlds

    def _find_worlds(self) -> None:
        random = np.random.default_rng(self.limits.seed)
        if not len(self.kinds) or not self._take(self.solver.world(np.zeros(len(self.kinds)))):
            return
        for _ in range(RANDOM_WORLDS):
            self._take(self.solver.world(random.random(len(self.kinds))))
        self.likely = self._find_likely()
        if self.known is not None:
            places = self.kinds.places(self.known.kinds)
            self._take(np.bincount(places, minlength=len(self.kinds)) if (places >= 0).all() else None)
        for _ in range(MOST_WORLDS):
            # As few people as possible of the kinds that all worlds so far share.
            before = int(self.fewest.sum())
            if before:
                self._take(self.solver.world((self.fewest > 0).astype(np.float64)))
            if int(self.fewest.sum()) == before:
                return

    def _find_likely(self) -> Ints:
        """Return the most probable of the worlds that fit, if columns were independent; their margins are those of the worlds so far."""
        cost = np.zeros(len(self.kinds))
        people = np.sum(self.worlds, axis=0)
        for at in self.columns:
            own = self.kinds.classes[:, at]
            often = np.bincount(own, people, minlength=self.kinds.shape[at])
            cost -= np.log(np.maximum(often, RARE))[own]
        found = self.solver.world(cost - cost.min())
        return found if found is not None and self._take(found) else self.worlds[0]

    def _take(self, world: Ints | None) -> bool:
        if world is None or not self.rows.fits(world):
            return False
        self.fewest = np.minimum(self.fewest, world) if self.worlds else world.copy()
        self.worlds.append(world)
        return True

    def _shared(self, group: Ints) -> int:
        """Return the fewest people of a group in all worlds."""
        return min(int(world[group].sum()) for world in self.worlds)

    # Proofs

    def _prove_kinds(self) -> None:
        asked = [(self.kinds.box(number), np.array([number])) for number in np.flatnonzero(self.fewest).tolist()]
        for box, group, step in self._prove_each(asked):
            self.proved[group] = step.value
            self.claims.append(Claim(box, step, self._bound_above(box, group, step.value)))

    def _prove_wider(self) -> None:
        """Prove groups of people of whom one column is open."""
        asked: list[tuple[int, int, Masks, Ints]] = []
        for place in self.columns:
            others = [at for at in self.columns if at != place]
            held = self.kinds.classes[self.worlds[0] > 0]
            for row in np.unique(held[:, others], axis=0) if others else held[:1, others]:
                one_open = {at: 1 << int(bit) for at, bit in zip(others, row, strict=True)}
                group = self.kinds.inside(one_open)
                gain = self._shared(group) - int(self.proved[group].sum())
                if gain > 0:
                    asked.append((-gain, place, one_open, group))
        asked.sort(key=lambda one: (one[0], one[1], one[3].tolist()))
        taken = np.zeros(len(self.kinds), np.bool_)
        for start in range(0, len(asked), IN_TURN):
            some = [(box, group) for _, _, box, group in asked[start : start + IN_TURN] if not taken[group].any()]
            for box, group, step in self._prove_each(some):
                if step.value > int(self.proved[group].sum()) and not taken[group].any():
                    taken[group] = True
                    without = next(at for at in self.columns if at not in box)
                    self.wider.append(Claim(box, step, self._bound_above(box, group, step.value), without))

    def _prove_each(self, asked: Sequence[tuple[Masks, Ints]]) -> Iterator[tuple[Masks, Ints, Step]]:
        """Yield the groups that are proved not to be empty, each with the best proof."""
        left: list[tuple[Masks, Ints, Step | None]] = []
        for start in range(0, len(asked), IN_TURN):
            some = asked[start : start + IN_TURN]
            found = self.solver.least_in_turn([self.solver.cost(group, 1) for _, group in some])
            for (box, group), best in zip(some, found, strict=True):
                step = None
                if best is not None:
                    self._take_whole(best.people)
                    if best.value > NEAR and (shown := self.rows.certify(group, 1, best.weights, ceil(best.value - NEAR))):
                        step = Step(box, "lo", shown[0], shown[1])
                if step is not None and step.value >= self._shared(group):
                    yield box, group, step
                else:
                    left.append((box, group, step))
        for box, group, step in left:
            best_step = self._settle(box, group, step)
            if best_step is not None:
                yield box, group, best_step

    def _take_whole(self, people: Floats) -> None:
        world = np.rint(people).astype(np.int64)
        if np.abs(people - world).max(initial=0) < NEAR:
            self._take(world)

    def _settle(self, box: Masks, group: Ints, step: Step | None) -> Step | None:
        """Return the best proof, by worlds with few people of a group and by cases."""
        proved = 0 if step is None else step.value
        if self._shared(group) > proved:
            self._take(self.solver.world(self.solver.cost(group, 1)))
        while (wanted := self._shared(group)) > proved:
            cases = Cases(self.rows, self.limits, box, 1, wanted=wanted)
            tree = cases.prove()
            if tree is not None:
                return Step.by_cases(box, "lo", wanted, tree)
            if not self._take(cases.world):
                break
        return step

    def _bound_above(self, box: Masks, group: Ints, least: int) -> Step:
        """Return the best upper bound on a group that weights prove."""
        covering = [row for row in self.rows.rows if self._covers(row, box)]
        row = min(covering, key=lambda one: one.hi if one.hi is not None else 0)
        assert row.hi is not None
        assert row.says_hi is not None
        step = Step(box, "hi", row.hi, {row.says_hi: Fraction(-1)})
        if row.hi > least:
            rows = self.rows.about(box)
            best = self.solver.least(self.solver.cost(group, -1))
            shown = None if best is None else rows.certify(group, -1, best.weights, ceil(best.value - NEAR))
            if shown is not None and -shown[0] < row.hi:
                step = Step(box, "hi", -shown[0], shown[1])
        return step

    def _covers(self, row: Row, box: Masks) -> bool:
        """Tell if a row bounds everybody of a group above."""
        if row.hi is None or len(row.terms) > 1 or row.terms[0][0] != 1:
            return False
        return all(place in box and not box[place] & ~mask for place, mask in row.terms[0][1].items())

    # Measures

    @property
    def people(self) -> int:
        """People who are proved to be of certain kinds."""
        return int(self.proved.sum())

    @property
    def but_one(self) -> int:
        """People who are proved to have certain values in all columns, or in all but one."""
        more = (claim.at_least - int(self.proved[self.kinds.inside(claim.box)].sum()) for claim in self.wider)
        return self.people + sum(more)

    def most(self, n: int | None) -> int | None:
        """Return how many people may be rebuilt at most, None if nothing bounds it."""
        return int(self.fewest.sum()) if self.worlds else n

    def bits(self) -> tuple[float, float] | None:
        """Return the bits that choose everybody's values, by the best release alone and without any; None without n.

        A release tells of each person in which leaf, cell or rule they are; the kinds that are left there stay equally likely.
        """
        axes = self.problem.axes
        values = [np.array([len(one) for one in axis.classes], np.float64) for axis in axes]
        weight = np.ones(len(self.kinds))
        for at in self.columns:
            weight *= values[at][self.kinds.classes[:, at]]
        whole = sum(np.log2(values[at].sum()) for at in self.columns)
        n = next((line.lo for line in self.problem.lines if line.origin.what == "n"), None)
        if n is None or not n:
            return None
        best = n * min(whole, float(np.log2(weight.sum())) if len(weight) else whole)
        for release in sorted({line.origin.release for line in self.problem.lines}):
            own = self._parts(release, n)
            if own is not None and all(len(group) for group, count in own if count):
                best = min(best, sum(count * float(np.log2(weight[group].sum())) for group, count in own if count))
        return float(best), float(n * whole)

    def _parts(self, release: int, n: int) -> list[tuple[Ints, int]] | None:
        """Return disjoint groups whose sizes a release prints and that hold everybody, the smallest first, or None."""
        lines = zip(self.problem.lines, self.problem.boxes, strict=True)
        sized = [
            (self.kinds.inside(terms[0][1]), line.lo)
            for line, terms in lines
            if line.origin.release == release and len(terms) == 1 and terms[0][0] == 1 and line.lo == line.hi
        ]
        covered = np.zeros(len(self.kinds), np.bool_)
        found: list[tuple[Ints, int]] = []
        for group, count in sorted(sized, key=lambda one: len(one[0])):
            if count is not None and not covered[group].any():
                covered[group] = True
                found.append((group, count))
        return found if sum(count for _, count in found) == n else None

    def guess(self, people: Ints) -> Ints:
        """Return the people whom a guess from the margins of some people names, by their class on every axis.

        The guess knows how often each value of a column occurs, takes columns as independent, and names as many people as there are, so that
        as many of them as possible are expected to be right.
        """
        kinds = np.zeros((1, 0), np.int64)
        chance = np.ones(1)
        n = len(people)
        for at, size in enumerate(self.kinds.shape):
            share = np.bincount(people[:, at], minlength=size) / n
            both = (chance[:, None] * share[None, :]).ravel()
            # Whatever is among the n most likely begins with one of the n most likely beginnings.
            best = np.argsort(-both, kind="stable")[:n]
            best = best[both[best] > 0]
            kinds = np.column_stack((kinds[best // size], best % size))
            chance = both[best]
        from scipy.special import bdtrc

        # Copies far below the expected number are right almost surely; of those near it, the most probable are named.
        reach = SURE * np.sqrt(n * chance * (1 - chance)) + 1
        least = np.maximum(np.floor(n * chance - reach), 0).astype(np.int64)
        near = np.minimum(np.ceil(n * chance + reach), n).astype(np.int64) - least
        owner = np.repeat(np.arange(len(chance)), near)
        copies = least[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(near) - near, near)
        right = bdtrc(copies.astype(np.float64), n, chance[owner])  # the probability of more people than that
        chosen = np.argsort(-right, kind="stable")[: n - int(least.sum())]
        named = least + np.bincount(owner[chosen], minlength=len(chance))
        return np.repeat(kinds, named, axis=0)


def common(one: Ints, other: Ints) -> int:
    """Return how many people of two populations can be paired so that both are of the same kind."""
    if not len(one) or not len(other):
        return 0
    _, which = np.unique(np.concatenate((one, other)), axis=0, return_inverse=True)
    size = int(which.max()) + 1
    first = np.bincount(which.ravel()[: len(one)], minlength=size)
    return int(np.minimum(first, np.bincount(which.ravel()[len(one) :], minlength=size)).sum())


MOST_MATCHED = 2_000  #: More people than this are not matched with each other.


def distance(one: Ints, other: Ints) -> float | None:
    """Return the share of values that differ between people of two populations, matched at the least cost; None if there are too many."""
    if len(one) != len(other) or not len(one) or not one.shape[1] or len(one) > MOST_MATCHED:
        return None
    from scipy.optimize import linear_sum_assignment

    cost = np.zeros((len(one), len(other)))
    for column in range(one.shape[1]):
        cost += one[:, column][:, None] != other[:, column][None, :]
    rows, columns = linear_sum_assignment(cost)
    return float(cost[rows, columns].sum()) / one.size


def rebuild(case: JointCase, problem: Problem, limits: Limits) -> tuple[Rebuilding, Rebuilt, dict[str, float | None]]:
    """Return the people whom releases about the same population rebuild: the proofs, the entry of the record, and measures."""
    known = None if case.data is None else World.of_rows(problem, case.data)
    found = Rebuilding(problem, limits, known)
    found.look()
    n = max((one.n for one in case.releases if one.n is not None), default=None)
    reason = ""
    if not found.is_possible:
        reason = "the releases distinguish too many kinds of people"
    elif found.is_over:
        reason = "the time limit was reached"
    elif not found.worlds:
        reason = "no population that fits was found"
    elif found.most(n) != found.people:
        reason = "some proofs by cases would be too long"
    groups = [_group(problem, claim) for claim in (*found.claims, *found.wider)]
    names = tuple(sorted(problem.axes[at].key.name for at in found.columns))
    told = Rebuilt(names, n, found.people, found.but_one, found.most(n), len(found.worlds), tuple(groups), reason)
    return found, told, _measures(found, told, known)


def _group(problem: Problem, claim: Claim) -> RebuiltGroup:
    record = step_record(problem, claim.least)
    without = "" if claim.without < 0 else problem.axes[claim.without].key.name
    return RebuiltGroup(claim.at_least, (record,), without)


def _measures(found: Rebuilding, told: Rebuilt, known: World | None) -> dict[str, float | None]:
    out: dict[str, float | None] = {
        "people_rebuilt": told.people,
        "people_rebuilt_most": told.most,
        "people_rebuilt_but_one": told.but_one,
    }
    if bits := found.bits() if found.is_possible else None:
        out |= {"bits_left": bits[0], "uncertainty_left": float(bits[0] / bits[1]) if bits[1] else None}
    if not found.worlds:
        return out
    world = found.kinds.kinds(found.likely)[:, found.columns]
    base = found.kinds.kinds(found.likely) if known is None else known.kinds
    guessed = found.guess(base)[:, found.columns]
    proved = found.kinds.kinds(found.proved)[:, found.columns]
    out["people_rebuilt_baseline"] = common(proved, guessed)
    if known is not None:
        true = known.kinds[:, found.columns]
        out["people_guessed"] = common(true, guessed)
        out["reconstruction_error"] = distance(world, true)
        out["reconstruction_error_baseline"] = distance(guessed, true)
    return out
