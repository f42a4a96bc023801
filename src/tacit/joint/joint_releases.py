"""X01 joint-releases: groups of fewer than k people that all published lines reveal together.

Infers
    The general adversary for every list and every frequency table, alone or together. Every line of every release is a bound on the number of
    people in a group; for several releases, membership is one more column. Groups are sums of their parts along every column, which tightens
    all bounds until nothing moves. What is left open is asked of linear programs: a world that fits all lines settles many questions at once,
    dual weights on the lines prove the rest, and branch and bound decides where whole numbers of people matter.
    If everybody's quasi-identifiers are known, also who keeps fewer than l sensitive values by all releases together and by none alone.
    Sums, means, quantiles, deviations and extremes printed beside counts are lines of the same kind: which numbers they tell of small groups and
    of cells that withhold theirs.
Assumes
    Printed numbers were rounded as the headers or ``--rounding`` say. The populations of several releases are related as ``--people`` declares
    (the same, nested, or with bounds on how many left and joined), and items and columns of the same name mean the same. Values behind numbers
    beside counts are 0 or more.
Claim
    Proves.
Cost
    The product of the numbers of values of all columns; above 100,000 groups it looks at several columns at a time, and these exchange their
    bounds. Programs are solved up to 20,000 kinds of people. Questions that stay open are counted, and make the verdict incomplete. A single
    release of more than 2,000 lines is left out if another attack has exposed it already.
Example
    One release says that 20 people have x and y, another one that 19 have x, y and z: 1 person has x and y but not z.
Reference
    Ours; after Dobra and Fienberg, Bounds for cell entries in contingency tables, PNAS 2000, and Buzzigoli and Giusti 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tacit.joint import words
from tacit.joint.boxes import DECLARED, MEMBER, Allowed, Box, Choice, Key, Line, Origin, Problem, item_event
from tacit.joint.cube import (
    MOST_LITERALS,
    Cited,
    Cube,
    Groups,
    Prover,
    Step,
    Weights,
    Window,
    all_choices,
    list_uncovered,
    make_cubes,
    rewrite_step,
    tighten_cubes,
)
from tacit.joint.few_people import MOST_PEOPLE, enumerate_worlds
from tacit.joint.lower import Found, JointCase, lower, relate_populations
from tacit.joint.programs import FEW_QUESTIONS, MOST_CELLS, MOST_ENTRIES, MOST_QUESTIONS, Programs, refuse_clash, refuse_clashes
from tacit.joint.shown_values import find_shown_values
from tacit.joint.words import CODE, Portrait
from tacit.joint.worlds import Cells, Rows, World, count_cells, refute_by_world, refute_from
from tacit.model.arrays import Flags, Ints
from tacit.model.audit import AttackRun, Status, Target
from tacit.model.errors import LimitReached
from tacit.model.finding import ItemEvent
from tacit.model.people import Same
from tacit.model.rebuilt import Rebuilt

if TYPE_CHECKING:
    from tacit.joint.settled import Settled

__all__ = ["CODE", "NAME", "run"]
NAME = "joint-releases"
MOST_WORLDS = 20  #: Most worlds by exchanges from the first one.
REBUILDING = 0.5  #: Share of the time that people may be rebuilt for.
#: What is said where something is found, and cubes hold no groups of several values.
UNIONS_LEFT = "groups of people who lack several values are asked about only where nothing else is found"
MOST_DIVED = 100  #: Most groups of a cube whose bounds alone may lead to worlds.
MOST_FAILED = 5  #: Most times that bounds may lead to no world.
MOST_APART = 5_000  #: Most sets of columns that no cube holds and that a world is asked about.


def run(target: Target) -> AttackRun:
    """Return the groups of fewer than k people revealed jointly."""
    case = target.case
    assert isinstance(case, JointCase)
    with_means = sum(one.has_means for one in case.releases)
    if with_means and not target.rebuild and (tried := enumerate_worlds(target, NAME)) is not None:
        return tried
    problem = lower(case.releases, case.people, case.population, case.facts, sensitive=case.sensitive)
    search = _Search(case, problem, target)
    rebuilt = search.rebuild() if target.rebuild else None
    has_numbers = any(one.has_numbers for one in case.releases)
    search.leave(with_means, f"means and medians are used only for tables of at most {MOST_PEOPLE} people with few values")
    status: Status = "ran"
    try:
        if rebuilt is None or not rebuilt.settles_all or has_numbers:
            search.look()
        status = "stopped" if search.was_enough else "ran"
    except LimitReached:
        status = "stopped"
        search.reasons.insert(0, "the time limit was reached; findings so far are kept")
    outcome = search.outcome(status)
    if rebuilt is not None:
        people = max(outcome.people, rebuilt.concerned)
        outcome = replace(outcome, people=people, rebuilt=rebuilt.told, measures={**outcome.measures, **rebuilt.measures})
    if has_numbers:
        outcome = _look_at_numbers(search, outcome)
    if any(one.kind == "frequencies" for one in case.releases):
        outcome = replace(outcome, cautions=(*outcome.cautions, *find_shown_values(case.releases)))
    if case.known is None:
        return outcome
    from tacit.joint.known_values import KnownValues

    return KnownValues(case.known, target).join(outcome)


def _look_at_numbers(search: _Search, outcome: AttackRun) -> AttackRun:
    """Return the outcome with what numbers beside counts tell."""
    from tacit.joint.printed_numbers import PrintedNumbers

    if search.prover is None:
        return replace(outcome, undecided=outcome.undecided + 1)
    numbers = PrintedNumbers(search.case, search.target, search.problem, search.prover)
    try:
        numbers.look()
    except LimitReached:
        numbers.leave(1, "the time limit was reached before all numbers beside counts were looked at")
        outcome = replace(outcome, status="stopped")
    return numbers.join(outcome)


@dataclass(frozen=True, slots=True)
class _People:
    """Rebuilt people with the measures; ``concerned`` are in small groups. If it ``settles_all``, no other group is left to look for."""

    told: Rebuilt
    measures: Mapping[str, float | None]
    concerned: int
    settles_all: bool


@dataclass(eq=False)
class _Search:
    case: JointCase
    problem: Problem
    target: Target
    found: dict[ItemEvent, Found] = field(default_factory=dict)
    open: dict[ItemEvent, Mapping[int, int]] = field(default_factory=dict)
    movers: dict[ItemEvent, Mapping[int, int]] = field(default_factory=dict)
    parts: dict[ItemEvent, Callable[[], Portrait]] = field(default_factory=dict)
    declared: dict[ItemEvent, tuple[int, int]] = field(default_factory=dict)
    prover: Prover | None = None
    reasons: list[str] = field(default_factory=list)
    undecided: int = 0
    world: World | None = None
    #: Tells of a box if another search asks about it.
    is_asked_elsewhere: Callable[[Mapping[int, int]], bool] | None = None
    groups: Sequence[Groups] = ()
    proved: list[Mapping[int, int]] = field(default_factory=list)  #: Boxes that programs proved to be small.
    was_enough: bool = False  #: True if a finding ended the search.
    only_bounds: bool = False  #: True if no programs are to be asked, since another search has found something.

    def leave(self, questions: int, why: str) -> None:
        if questions:
            self.undecided += questions
            self.reasons.append(why)

    def rebuild(self) -> _People:
        """Rebuild people, and keep those of small groups as findings."""
        from tacit.joint.rebuilding import rebuild

        found, told, measures = rebuild(self.case, self.problem, self.target.limits.part(REBUILDING))
        k = self.target.policy.k
        small = [claim for claim in found.claims if claim.at_most < k]
        # Everybody's values are told, and the size of each kind: every other group follows from these.
        is_exact = told.is_whole and all(claim.at_least == claim.at_most for claim in found.claims)
        for claim in (*found.claims, *found.wider):
            slots = [axis.slot_of[claim.box.get(place, axis.slots[-1])] for place, axis in enumerate(self.problem.axes)]
            event = item_event(self.problem.axes, slots, self.problem.members)
            is_exact = is_exact and (event is not None or claim.at_most >= k)
            if event is not None and claim.at_most < k:
                steps = [claim.least], [claim.most]
                cited = words.lines_of([claim.least, claim.most])
                together = len({self.problem.lines[number].origin.release for number in cited}) > 1
                self.found[event] = Found(event, claim.at_least, claim.at_most, together, proof=partial(_given, steps))
        return _People(told, measures, sum(claim.at_least for claim in small), is_exact)

    def look(self) -> None:
        cubes, windows_by_problem, skipped = make_cubes(self.problem, self._check)
        self.leave(skipped + self.problem.left_out, "not every line or missing line could be used")
        tighten_cubes(cubes, self._check)
        prover = self.prover = Prover(cubes)
        if any(cube.clash >= 0 for cube in cubes):
            refuse_clashes(self.case, self.problem, prover, self.target.limits)
        groups = [Groups.of(cube, self.target.policy.k) for cube in cubes]
        chosen = windows_by_problem[0][1]
        for own in groups[len(chosen) :]:
            own.keep_only_lacking(self.problem)
        self.groups = groups
        for number, own in enumerate(groups):
            self._keep(prover, number, own)
            self.target.progress((number + 1) / (2 * len(cubes)))
        if self.only_bounds:
            self.reasons.append(UNIONS_LEFT)
            return
        if self._is_enough():
            return
        self._list_open(cubes, groups)
        self._list_remainders(prover)
        everything = tuple(range(len(self.problem.axes)))
        for problem, windows in windows_by_problem:
            if problem is not self.problem and self.found:
                self.reasons.append(UNIONS_LEFT)
            elif windows != [everything]:
                self._list_uncovered(problem, windows)
        if not self.open and len(self.case.releases) == 1:
            return
        # Programs over all columns know all that programs over some of them know.
        is_together = self._fits(everything)
        if not is_together:
            self._refute_by_exchange()
        waiting = [window for window in ([everything] if is_together else chosen) if self._list_asked(window)]
        steps = [step for number in range(len(chosen)) for step in prover.rounded_steps(number)] if waiting else []
        for number, window in enumerate(waiting):
            if is_together or self._fits(window):
                self._settle(prover, window, steps, whole=is_together)
            if self._is_enough():
                return
            self.target.progress((len(waiting) + number + 1) / (2 * len(waiting) + 1))
        if len(self.case.releases) > 1 and (not is_together or not self.problem.has_unions):
            self._take_alone(only_unions=is_together)

    def _is_enough(self) -> bool:
        """Tell if what is found is enough, as was asked."""
        if self.target.first_hit and self.found:
            self.was_enough = True
            self.reasons.append("stopped at the first findings, as asked")
        return self.was_enough

    def _take_alone(self, *, only_unions: bool) -> None:
        """Ask every release by itself; if ``only_unions``, only about groups that cannot be described together."""
        whose = relate_populations(self.case.releases, self.case.people, self.case.population)
        unproved = 0
        for number, release in enumerate(self.case.releases):
            if number in self.problem.by_row:
                continue
            case = JointCase.of((release,), Same(), data=self.case.data)
            alone = _Search(case, lower((release,), Same()), self.target)
            translation = _Translation(alone.problem, self.problem, number, whose.scopes[number])
            if self.world is not None:
                alone.world = self.world.restrict(alone.problem, self.problem.masks(whose.scopes[number]))
            if only_unions:
                alone.is_asked_elsewhere = translation.is_question
                alone.only_bounds = bool(self.found)
            alone.look()
            self.was_enough |= alone.was_enough
            inside = (self.case.population[number],) if self.problem.members else ()
            for event, found in alone.found.items():
                among_all = replace(event, inside=inside)
                if not alone.problem.place.keys() <= self.problem.place.keys():
                    unproved += 1  # items differ in meaning
                elif among_all not in self.found:
                    proof = partial(translation.rewrite, found)
                    self.found[among_all] = replace(found, event=among_all, together=False, proof=proof)
            left = alone.undecided + len(alone.open.keys() - alone.found.keys())
            self.leave(left, f"{self.case.name(number)} alone leaves {left:,} groups open")
            self.reasons += [UNIONS_LEFT] if UNIONS_LEFT in alone.reasons else []
        self.leave(unproved, f"{unproved:,} small groups that a release reveals alone are not proved for all releases together")

    def _check(self) -> None:
        self.target.limits.check(CODE)

    def _event(self, cube: Cube, group: int) -> ItemEvent | None:
        return item_event(cube.axes, cube.slots(group), self.problem.members)

    def _keep(self, prover: Prover, number: int, groups: Groups) -> None:
        """Record the small groups of a cube in their shortest descriptions."""
        cube = prover.cubes[number]
        if groups.moved.any():
            self._leave_declared(cube, groups)
        if groups.unlisted:
            self.reasons.append(f"{groups.unlisted:,} more small groups with longer descriptions are not listed")
        alone, shown = self._alone(cube) if groups.small.any() else (groups.small, groups.small)
        # Rows of people are published as such: other attacks judge them, and they shorten no description of others either.
        reported = replace(groups, small=groups.small & ~shown).choose_reported()
        for group in np.flatnonzero(reported).tolist():
            event = self._event(cube, group)
            lo = int(cube.lo[group])
            hi = int(cube.hi[group])
            known = None if event is None else self.found.get(event)
            if event is not None and (known is None or hi - lo < known.hi - known.lo):
                self.found[event] = Found(event, lo, hi, not alone[group], proof=partial(prover.prove_ends, number, group))
                if _is_about_movers(event):
                    self.movers[event] = cube.box(group)
                    if cube.problem is self.problem:
                        self.parts[event] = partial(words.portray_group, prover, number, group)
                    if lo < hi:
                        self.open.setdefault(event, cube.box(group))

    def _describe(self, prover: Prover) -> None:
        exact = [event for event in self.parts if self.found[event].lo == self.found[event].hi][: words.MOST_COMPARED + 1]
        for one in words.combine_portraits(prover, [self.parts[event]() for event in exact]):
            event = words.event_of(prover, one.box)
            if event is not None and event not in self.found:
                proofs = prover.order_steps([one.least]), prover.order_steps([one.most])
                self.found[event] = Found(event, one.people, one.people, True, proof=partial(_given, proofs))
                self.movers[event] = one.box

    def _leave_declared(self, cube: Cube, groups: Groups) -> None:
        """Drop small groups that declared sizes bound equally tightly."""
        declared = self._tighten_by(cube, lambda origin: origin.is_declared)
        same: Flags = groups.small & (declared.lo == cube.lo) & (declared.hi == cube.hi)
        groups.small &= ~same
        groups.asked &= ~(same & (cube.lo == cube.hi))
        for group in np.flatnonzero(same).tolist():
            event = self._event(cube, group)
            if event is not None:
                self.declared[event] = int(cube.lo[group]), int(cube.hi[group])

    def _alone(self, cube: Cube) -> tuple[Flags, Flags]:
        """Return groups that one release reveals alone or by row."""
        if len(self.case.releases) == 1:
            return np.ones(len(cube.lo), np.bool_), np.full(len(cube.lo), bool(self.problem.by_row), np.bool_)
        alone = np.zeros(len(cube.lo), np.bool_)
        shown = np.zeros(len(cube.lo), np.bool_)
        every = frozenset(range(len(self.case.releases)))
        for number in sorted(every):
            revealed = self._revealed_by(cube, frozenset([number]))
            alone |= revealed
            shown |= revealed if number in self.problem.by_row else False
        if self.problem.by_row and self.problem.by_row != every:
            # What the others reveal is a finding, even if one more shows it row by row.
            shown &= ~self._revealed_by(cube, every - self.problem.by_row)
        return alone, shown

    def _revealed_by(self, cube: Cube, releases: frozenset[int]) -> Flags:
        part = self._tighten_by(cube, lambda origin: origin.release in releases and origin.what not in DECLARED)
        return np.asarray((part.lo > 0) & (part.hi < self.target.policy.k))

    def _tighten_by(self, cube: Cube, is_used: Callable[[Origin], bool]) -> Cube:
        part = Cube(cube.problem, cube.chosen)
        part.tighten([place for place, line in enumerate(self.problem.lines) if is_used(line.origin)], self._check)
        return part

    def _list_open(self, cubes: Sequence[Cube], groups: Sequence[Groups]) -> None:
        k = self.target.policy.k
        asked = [own.asked & ~own.small & (cube.hi > 0) & (cube.lo < k) for cube, own in zip(cubes, groups, strict=True)]
        data = self.case.data
        if data is not None:
            self.world = World.of_rows(self.problem, data)
            if self.world is None:
                self.reasons.append("the owner's data do not fit every line and were not used")
        earlier = self.case.settled
        if earlier is not None and earlier.k == k and earlier.implies(self.problem):
            self.world = self.world or earlier.world.restrict(self.problem, {})
            for cube, flags in zip(cubes, asked, strict=True):
                flags &= ~earlier.refute(cube, flags)
        if self.world is not None:
            self._exchange(self.world, cubes, asked)
        elif [len(cube.chosen) for cube in cubes] == [len(self.problem.axes)] and len(cubes[0].lo) <= MOST_DIVED:
            self._dive(cubes[0], asked[0])
        for cube, own, flags in zip(cubes, groups, asked, strict=True):
            places = np.flatnonzero(flags)
            self._add_open(cube, places[np.argsort(own.literals[places], kind="stable")])

    def _add_open(self, cube: Cube, groups: Ints) -> None:
        for group in groups.tolist():
            self._check()
            event = self._event(cube, group)
            if event is not None and not (self.is_asked_elsewhere and self.is_asked_elsewhere(cube.box(group))):
                self.open.setdefault(event, cube.box(group))

    def _list_remainders(self, prover: Prover) -> None:
        """Ask about people who have none of the values that lines count within a group."""
        if not any(axis.key.kind == "column" for axis in self.problem.axes):
            return
        from tacit.joint.remainders import list_remainders

        k = self.target.policy.k
        questions: dict[ItemEvent, Mapping[int, int]] = {}
        for one in list_remainders(self.problem, prover.cubes):
            self._check()
            if one.lo >= k or one.hi <= 0 or (event := one.event(self.problem)) is None:
                continue
            if one.lo > 0 and one.hi < k:
                if event not in self.found and not one.has_small_part(prover.cubes[one.number], k):
                    self.found[event] = Found(event, one.lo, one.hi, False, proof=partial(one.proofs, prover))
            elif self.world is None or 0 < self.world.count(one.box) < k:
                questions[event] = one.box
        if self.found and questions:
            self.reasons.append(UNIONS_LEFT)
        else:
            self.open |= questions

    def _list_uncovered(self, problem: Problem, chosen: Sequence[Window]) -> None:
        sets, groups = list_uncovered(problem, chosen, MOST_APART)
        is_own = problem is self.problem
        if not is_own:
            groups -= list_uncovered(self.problem, chosen, MOST_APART)[1]
        if not groups:
            return
        everything = tuple(range(len(problem.axes)))
        if sets is None or (self.world is None and not self._fits(everything)):
            self.leave(groups, f"{groups:,} groups of columns that were not looked at together are neither proved nor refuted")
            return
        member = tuple(place for place, axis in enumerate(problem.axes) if axis.key == MEMBER)
        for columns in sets:
            self._check()
            cube = Cube(problem, tuple(sorted((*columns, *member))))
            own = Groups.of(cube, self.target.policy.k)
            if not is_own:
                own.keep_only_lacking(self.problem)
            flags = own.asked & (own.literals == len(columns))
            if self.world is not None:
                flags &= ~refute_by_world(self.world, cube, self.target.policy.k)
            self._add_open(cube, np.flatnonzero(flags))

    def _dive(self, cube: Cube, asked: Flags) -> None:
        """Remove groups that worlds found by bounds alone show not to be small."""
        k = self.target.policy.k
        failed = 0
        for group in np.flatnonzero(asked).tolist():
            ends = [0] * (int(cube.lo[group]) == 0) + [int(cube.hi[group])] * (int(cube.hi[group]) >= k)
            for people in ends if asked[group] else ():
                if failed >= MOST_FAILED:
                    return
                world = self._find_world(cube, group, people)
                failed += world is None
                if world is not None:
                    self.world = self.world or world
                    asked &= ~refute_by_world(world, cube, k)
                    break

    def _find_world(self, cube: Cube, group: int, people: int) -> World | None:
        """Return a world with so many people in a group, or None if none is found."""
        counts = cube.dive(group, people, self._check)
        if counts is None:
            return None
        found = World.of_counts(Cells(self.problem, cube.chosen), counts)
        return found if found is not None and found.fits() and self.problem.holds(found.kinds) else None

    def _exchange(self, world: World, cubes: Sequence[Cube], asked: Sequence[Flags]) -> None:
        """Remove groups that exchanges show not to be small."""
        random = np.random.default_rng(self.target.limits.seed)
        idle = 0
        for _ in range(MOST_WORLDS):
            before = sum(int(flags.sum()) for flags in asked)
            for cube, flags in zip(cubes, asked, strict=True):
                if flags.any():
                    self._check()
                    flags &= ~refute_by_world(world, cube, self.target.policy.k)
            left = sum(int(flags.sum()) for flags in asked)
            idle = idle + 1 if left > 0.99 * before else 0
            if left == 0 or idle >= 2:
                return
            world = world.exchange(random, self._check)

    def _refute_by_exchange(self) -> None:
        """Remove open groups that small exchanges empty or enlarge."""
        asked = [(event, box) for event, box in self.open.items() if event not in self.found]
        if self.world is None or not asked or (self.found and len(asked) > FEW_QUESTIONS):
            return
        boxes = [box for _, box in asked]
        refuted = refute_from(self.world, boxes, self.target.policy.k, self.target.limits.seed, check=self._check)
        for place in np.flatnonzero(refuted).tolist():
            del self.open[asked[place][0]]

    def _fits(self, chosen: tuple[int, ...]) -> bool:
        self._check()
        if count_cells([self.problem.axes[place] for place in chosen]) > MOST_CELLS:
            return False
        return Rows.of(self.problem, chosen).entries <= MOST_ENTRIES

    def _list_asked(self, chosen: tuple[int, ...]) -> list[tuple[ItemEvent, Mapping[int, int]]]:
        """Return the open questions about these axes, as many as programs may be asked about."""
        has = frozenset(chosen)
        cells = Cells(self.problem, chosen)
        asked: list[tuple[ItemEvent, Mapping[int, int]]] = []
        entries = 0
        for event, box in self.open.items():
            self._check()
            known = self.found.get(event)
            is_settled = known is not None and (known.lo == known.hi or not _is_about_movers(event))
            if is_settled or not box.keys() <= has:
                continue
            entries += cells.size(box)
            if entries > MOST_QUESTIONS:
                break
            asked.append((event, box))
        return asked

    def _settle(self, prover: Prover, chosen: tuple[int, ...], steps: Sequence[Step], *, whole: bool) -> None:
        has = frozenset(chosen)
        asked = self._list_asked(chosen)
        if not asked:
            return
        rows = Rows.of(self.problem, chosen, [step for step in steps if step.box.keys() <= has])
        self.movers |= {event: box for event, box in asked if _is_about_movers(event)}
        boxes = [box for _, box in asked]
        eager = not self.found
        programs = Programs(
            rows,
            self.target.limits,
            boxes,
            self.target.policy.k,
            whole=whole,
            eager=eager,
            known=self.world,
            bounds=prover.bounds,
        )
        try:
            programs.settle()
        finally:
            self._take(prover, programs, [event for event, _ in asked])

    def _take(self, prover: Prover, settled: Programs, asked: Sequence[ItemEvent]) -> None:
        if settled.clash:
            steps = prover.order_steps([Step({}, "lo", 1, settled.clash)])
            refuse_clash(self.case, self.problem, steps, self.target.limits)
        for place, both in sorted(settled.proofs.items()):
            proofs = prover.order_steps(both[:1]), prover.order_steps(both[1:])
            origins = [self.problem.lines[line].origin for line in words.lines_of([*proofs[0], *proofs[1]])]
            needed = {origin.release for origin in origins}
            event = asked[place]
            self.proved.append(settled.boxes[place])
            ends = (both[0].value, both[1].value)
            is_row = len(needed) == 1 and needed <= self.problem.by_row
            if is_row or all(origin.is_declared for origin in origins) or self.declared.get(event) == ends:
                continue
            known = self.found.get(event)
            if known is None or ends[1] - ends[0] < known.hi - known.lo:
                self.found[event] = Found(event, *ends, len(needed) > 1, proof=partial(_given, proofs))
                if event in self.movers:
                    least, most = (prover.keep(step) for step in both)
                    self.parts[event] = partial(Portrait, self.movers[event], ends[0], least, most=most)
        for place in np.flatnonzero(~settled.open).tolist():
            self.open.pop(asked[place], None)
        self.world = self.world or settled.world

    def outcome(self, status: Status) -> AttackRun:
        still_open = len(self.open.keys() - self.found.keys())
        self.leave(still_open, f"{still_open:,} groups are neither proved nor refuted")
        if self.prover is not None and self.parts:
            self._describe(self.prover)
        known = [(event, box, self.found[event]) for event, box in self.movers.items() if event in self.found]
        exact = [(event, box, one.lo) for event, box, one in known if one.lo == one.hi]
        duplicates, people = words.merge_duplicate_movers(exact) if exact else (set[ItemEvent](), 0)
        for event in duplicates:
            in_all = not (event.present or event.absent or event.changes)
            if not in_all or self.found[event].hi == 1:  # the total number who came or went is reported in any case
                del self.found[event]
        order = sorted(self.found.values(), key=lambda one: (one.hi, not one.together, one.size, one.lo, str(one.event)))
        sizes = np.array([one.size for one in order], np.int64)
        lo, hi = (np.array([getattr(one, end) for one in order], np.int64) for end in ("lo", "hi"))
        together = np.array([one.together for one in order], np.bool_)
        self.target.progress(1.0)
        doubtful = (*self.open.values(), *self.proved)
        return AttackRun(
            CODE,
            NAME,
            "proves",
            status,
            reason="; ".join(dict.fromkeys(self.reasons)),
            people=max(people, int(lo.max(initial=0))),
            undecided=self.undecided,
            columns={"items": sizes, "count": lo, "count_hi": hi, "together": together},
            severity=(hi << 16) | (np.minimum(sizes, 0x7FFF) + np.where(together, 0, 0x8000)),
            event=lambda index: order[index].event,
            show=lambda index: words.write_out(self.case, self.problem, order[index]),
            settled=None
            if status != "ran" or self.world is None
            else partial(_tell_settled, self.target.policy.k, self.world, self.groups, doubtful),
        )


def _tell_settled(k: int, world: World, groups: Sequence[Groups], doubtful: Sequence[Mapping[int, int]]) -> Settled:
    from tacit.joint.settled import Settled

    return Settled.of(k, world, groups, doubtful)


def _is_about_movers(event: ItemEvent) -> bool:
    return bool(event.outside) or any(change.differs for change in event.changes)


def _given(proofs: tuple[Sequence[Step], Sequence[Step]]) -> tuple[Sequence[Step], Sequence[Step]]:
    return proofs


@dataclass(eq=False)
class _Translation:
    """Proofs about one release, rewritten as ``release`` of several, about ``scope``."""

    alone: Problem
    together: Problem
    release: int
    scope: Box

    def __post_init__(self) -> None:
        lines = enumerate(self.together.lines)
        self.lines = {line.origin: number for number, line in lines if line.origin.release == self.release}
        #: Lines that list all values of the release's people.
        self.closing = [number for origin, number in self.lines.items() if origin.what == "all-values"]

    def is_question(self, box: Mapping[int, int]) -> bool:
        """Tell if the problem of all releases asks about a box."""
        if len(box) > MOST_LITERALS:
            return False
        return all(mask in self.together.axes[place].slot_of for place, mask in self.together.masks(self._named(box)).items())

    def rewrite(self, found: Found) -> tuple[Sequence[Step], Sequence[Step]]:
        least, most = found.proof()
        return [self._step(step) for step in least], [self._step(step) for step in most]

    def _step(self, step: Step) -> Step:
        # The most often that an assumed case counts a person; an earlier step counts everybody once.
        lines = [line for choice in all_choices(step) for line in (choice.fewer, choice.more) if line is not None]
        often = sum(max(sum(abs(factor) for factor, _ in line.terms), 1) for line in lines) + 1
        return rewrite_step(step, partial(self._weights, often=often), self._box, self._choice)

    def _box(self, box: Mapping[int, int]) -> dict[int, int]:
        return self.together.masks({**self._named(box), **self.scope})

    def _named(self, box: Mapping[int, int]) -> dict[Key, Allowed]:
        return {self.alone.axes[place].key: self.alone.axes[place].allowed(mask) for place, mask in box.items()}

    def _origin(self, origin: Origin) -> Origin:
        return replace(origin, release=self.release, given=None if origin.given is None else self._origin(origin.given))

    def _weights(self, weights: Weights, often: int) -> Weights:
        """Add lines that exclude unlisted values, as often as the sum can count a person."""
        if not weights:
            return {}
        out: dict[Cited, Fraction] = {}
        most = Fraction(1)
        for (kind, number), weight in weights.items():
            line = self.alone.lines[number] if kind == "line" else None
            out[(kind, number) if line is None else (kind, self.lines[self._origin(line.origin)])] = weight
            most += abs(weight) * (often if line is None else sum(abs(factor) for factor, _ in line.terms))
        return out | {("line", number): -most for number in self.closing if ("line", number) not in out}

    def _choice(self, choice: Choice) -> Choice:
        return replace(choice, fewer=self._line(choice.fewer), more=None if choice.more is None else self._line(choice.more))

    def _line(self, line: Line) -> Line:
        terms = tuple((factor, {**box, **self.scope}) for factor, box in line.terms)
        return replace(line, terms=terms, origin=self._origin(line.origin))
