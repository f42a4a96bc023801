"""Suppression of cells: which cells are small, what an attacker reads in hidden ones, and the search.

A table with hidden cells is read in three ways. The *reader* concludes nothing from a hidden cell. The attacker who knows the *rule* can tell
which hidden cells are small: fewer than k people, and maybe nobody. The one who knows the *method* can tell in addition that all others are
not small. Small cells are protected from these two whether they are empty or not, so that what else is hidden does not reveal it. What is
published is the same; each attacker is stronger than the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, log2
from typing import Any, Literal, get_args

import numpy as np

from tacit.files.inputs import people_of
from tacit.files.line_selection import select_lines
from tacit.joint.protection import Need, Ranges, find_told
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.audit import Audit
from tacit.model.errors import Infeasible, OptionError, nearest_name
from tacit.model.frequencies import UNBOUNDED, CellPrinting, FrequencyTable, numbered_tables
from tacit.model.numbers import share
from tacit.model.people import Gathered, People, Same
from tacit.model.policy import Limits, Policy
from tacit.model.release import MadeBy, Release
from tacit.model.repair import Repair
from tacit.model.table import Table
from tacit.repairs import suppress as method
from tacit.repairs.lists import leave_out_lines, safety
from tacit.repairs.suppress import Choice, Separation, SuppressCase, Units
from tacit.verbs.audit import audit, gather_for
from tacit.verbs.kinds import kind_of

Attacker = Literal["method", "rule", "reader"]
ATTACKERS: tuple[Attacker, ...] = get_args(Attacker)
Weighing = Literal["cells", "people", "log"]
WEIGHINGS: tuple[Weighing, ...] = get_args(Weighing)
FIRST = 1_000  #: Factor by which lines to be hidden first weigh less.
SEARCHED = 0.75  #: Share of the time that is left for a search; the rest is kept to hide more, and to audit it.
MOST_PROOFS = 2_000  #: Most proofs of one attack whose lines are looked at in each round.

Place = tuple[int, int]  #: A published line: the number of its release, and its index there.


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a suppression; see :func:`tacit.repair`."""

    weighing: Weighing = "cells"
    keep: Any = None
    hide_first: Any = None
    protect: object = None
    attacker: Attacker | None = None

    @property
    def margin(self) -> Fraction | None:
        """The share to protect, exactly."""
        return None if self.protect is None else share(self.protect, where="--protect")

    def check(self) -> None:
        """Refuse what makes no sense."""
        if self.weighing not in WEIGHINGS:
            remedy = nearest_name(str(self.weighing), WEIGHINGS, "costs")
            raise OptionError(f"there is no cost {self.weighing!r}", where="--cost", remedy=remedy)
        if self.attacker is not None and self.attacker not in ATTACKERS:
            remedy = nearest_name(str(self.attacker), ATTACKERS, "attackers")
            raise OptionError(f"there is no attacker {self.attacker!r}", where="--attacker", remedy=remedy)
        if self.margin == 0:
            raise OptionError("must be above 0", where="--protect", remedy="Write for instance 0.2 or 20%")


def suppress(
    gathered: Gathered,
    *,
    options: Options,
    policy: Policy,
    time_limit: float | None = None,
    before: Audit | None = None,
    **given: Any,
) -> Repair:
    """Hide the fewest cells of the gathered releases; ``given`` are further options of :func:`tacit.audit`."""
    options.check()
    limits = Limits.within(time_limit)
    for release in gathered.releases:
        kind_of(release).check_hiding(release)

    def look(releases: Sequence[Release], within: Limits) -> Audit:
        within.check(method.NAME)
        return audit(replace(gathered, releases=tuple(releases)), policy=policy, time_limit=within.seconds_left, **given)

    found = look(gathered.releases, limits) if before is None else before
    people, population = relation_of(gathered, given.get("people"))

    def choose(attacker: Attacker) -> tuple[_Judge, Choice]:
        plan = Plan(gathered.releases, people, population, policy.k, options=options, attacker=attacker, data=given.get("data"))
        judge = _Judge(plan, look, found)
        search = limits.part(SEARCHED)
        case = SuppressCase(
            plan.weights, plan.ties, plan.unit, separate=judge.separate, limits=search, reserve=limits, sums=plan.sums
        )
        return judge, method.propose(case)

    try:
        judge, choice = choose(options.attacker or "method")
    except Infeasible:
        if options.attacker is not None:
            raise
        judge, choice = choose("rule")
    made, after = judge.publish(choice.hidden, limits)
    return _report(judge.plan, choice, found, after, made)


def suppress_releases(releases: Sequence[Release], **how: Any) -> Repair:
    """Hide the fewest cells of releases that each have their own population, by default options."""
    given = list(releases) if len(releases) > 1 else releases[0]
    return suppress(gather_for(given), options=Options(), **how)


def relation_of(gathered: Gathered, people: People | None) -> tuple[People, tuple[int, ...]]:
    """Return the declared relation of populations, and the population of each release."""
    if len(gathered.releases) == 1:
        return Same(), (0,)
    from tacit.verbs.audit_several import joint_case

    case = joint_case(gathered, gathered.people if people is None else people)
    return case.people, case.population


def line_key(release: Release, index: int, whose: int, number: int) -> Any:
    """Return a name of the people that a line counts.

    It is the same for lines of the same count.
    """
    counted = release.people_of(index)
    return (number, index) if counted is None else (whose, counted)


def join_lines(releases: Sequence[Release], people: People, population: Sequence[int]) -> dict[Any, list[Place]]:
    """Return the lines that count the same people together."""
    same: dict[Any, list[Place]] = {}
    for number, release in enumerate(releases):
        whose = 0 if isinstance(people, Same) else population[number]
        for index in range(len(release)):
            same.setdefault(line_key(release, index, whose, number), []).append((number, index))
    return same


def published_sums(tables: Sequence[FrequencyTable], units: Sequence[Sequence[Place]]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each published total whose parts along a column are all published, with these."""
    unit_of = {place: unit for unit, places in enumerate(units) for place in places}
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for number, table in enumerate(tables):
        labels = [table.cell(index) for index in range(len(table))]
        at = {frozenset(cell.items()): index for index, cell in enumerate(labels)}
        for index, cell in enumerate(labels):
            for column in table.columns:
                values = _parts(table, column, cell.get(column))
                rest = frozenset((name, value) for name, value in cell.items() if name != column)
                parts = [at.get(rest | {(column, value)}) for value in values]
                if len(parts) > 0 and None not in parts:
                    own = tuple(unit_of[number, part] for part in parts if part is not None)
                    found = (unit_of[number, index], own)
                    if found not in seen:
                        seen.add(found)
                        yield found


def _parts(table: FrequencyTable, column: str, label: str | None) -> Iterable[str]:
    if label is None:
        return table.single_values(column) if table.header.complete else ()
    return table.members(column, label) or ()


def _has_only_exact_counts(table: FrequencyTable) -> bool:
    """Tell if every line that is not hidden states one count, and nothing else."""
    return not table.numbers and table.measured is None and not (table.lo != table.hi)[~table.is_hidden].any()


@dataclass(eq=False)
class Plan:
    """Releases, their small cells, and the lines that can be hidden.

    A *unit* is all lines about the same people that state the same count: hiding some of them hides nothing.
    """

    releases: tuple[Release, ...]
    people: People
    population: tuple[int, ...]
    k: int
    options: Options
    attacker: Attacker
    data: Any = None
    units: list[tuple[Place, ...]] = field(init=False)
    primary: list[Flags] = field(init=False)
    tables: dict[int, FrequencyTable] = field(init=False)

    def __post_init__(self) -> None:
        self.tables = numbered_tables(self.releases)
        keep = select_lines(self.options.keep, self.releases, where="--keep")
        first = select_lines(self.options.hide_first, self.releases, where="--hide-first")
        same = join_lines(self.releases, self.people, self.population)
        self.primary = [np.zeros(len(release), np.bool_) for release in self.releases]
        self.units = []
        kept = {self._key(*place) for place in keep}
        self._first: list[bool] = []
        for key, places in same.items():
            if self._is_primary(places, is_kept=key in kept):
                if key in kept:
                    remedy = "Keep other lines, or lower k"
                    raise Infeasible(f"names a line of fewer than {self.k} people", where="--keep", remedy=remedy)
                for number, index in places:
                    self.primary[number][index] = True
            elif key not in kept and self._can_be_hidden(places):
                self.units.append(tuple(places))
                self._first.append(any(place in first for place in places))
        self.unit_of = {self._cited(place): unit for unit, places in enumerate(self.units) for place in places}
        self.of_list: dict[int, Units] = {}
        for number in range(len(self.releases)):
            if number not in self.tables:
                own = (unit for unit, places in enumerate(self.units) if places[0][0] == number)
                self.of_list[number] = frozenset(own)

    def _key(self, number: int, index: int) -> Any:
        return line_key(self.releases[number], index, self._whose(number), number)

    def _whose(self, number: int) -> int:
        return 0 if isinstance(self.people, Same) else self.population[number]

    def _cited(self, place: Place) -> tuple[int, int | str]:
        number, index = place
        return number, self.releases[number].place(index)

    def _is_primary(self, places: Sequence[Place], *, is_kept: bool) -> bool:
        least = 0 if self.knows_small_cells and not is_kept else 1
        for number, index in places:
            table = self.tables.get(number)
            if table is not None and (table.is_hidden[index] or least <= int(table.lo[index]) < self.k):
                return True
        return False

    def _can_be_hidden(self, places: Sequence[Place]) -> bool:
        """Tell if a unit states a count that can be hidden: neither n nor nobody."""
        number, index = places[0]
        table = self.tables.get(number)
        if table is None:
            return True
        is_everybody = not table.cell(index) and table.n is not None
        return not is_everybody and int(table.lo[index]) > 0

    @property
    def knows_small_cells(self) -> bool:
        """True if the attacker can tell which hidden cells are small."""
        return self.attacker != "reader"

    @property
    def unit(self) -> float:
        """The number that all weights are multiples of, 0 if there is none."""
        if self.options.weighing == "log":
            return 0.0
        return 1.0 / FIRST if any(self._first) else 1.0

    @cached_property
    def sums(self) -> tuple[Units, ...]:
        """Units of each published total with its parts, where no other line is hidden.

        Of such a set, one hidden line alone follows from the others, so that it can as well be shown. Numbers beside counts do not follow.
        """
        if len(self.tables) < len(self.releases) or not all(map(_has_only_exact_counts, self.tables.values())):
            return ()
        every = list(join_lines(self.releases, self.people, self.population).values())
        unit_of = {place: unit for unit, places in enumerate(self.units) for place in places}
        found = []
        for total, parts in published_sums(list(self.tables.values()), every):
            members = {total, *parts}
            is_plain = len(members) == len(parts) + 1
            places = [every[member][0] for member in members]
            if is_plain and not any(self.primary[number][index] for number, index in places):
                found.append(frozenset(unit_of[place] for place in places if place in unit_of))
        return tuple(dict.fromkeys(own for own in found if own))

    @cached_property
    def weights(self) -> Floats:
        """Weight of each unit."""
        found = []
        for places, is_first in zip(self.units, self._first, strict=True):
            count = self._count(places[0])
            weight = {"cells": 1.0, "people": float(count), "log": log2(2 + count)}[self.options.weighing] * len(places)
            found.append(weight / FIRST if is_first else weight)
        return np.array(found, np.float64)

    @cached_property
    def ties(self) -> Floats:
        """Order between choices of equal weight: fewer people, then fewer cells."""
        counts = np.array([self._count(places[0]) for places in self.units], np.float64)
        if self.options.weighing == "people":
            return np.array([len(places) for places in self.units], np.float64) / max(map(len, self.units), default=1)
        return np.asarray(np.log2(2 + counts) / np.log2(2 + counts.max(initial=1)))

    def _count(self, place: Place) -> int:
        number, index = place
        release: Any = self.releases[number]
        return int(release.hi[index])

    def hidden(self, chosen: Units) -> list[Flags]:
        """Return the hidden lines of each release."""
        flags = [one.copy() for one in self.primary]
        for unit in chosen:
            for number, index in self.units[unit]:
                flags[number][index] = True
        return flags

    def read(self, chosen: Units) -> tuple[Release, ...]:
        """Return the releases as the attacker reads them."""
        return self._make(chosen, self._ends if self.knows_small_cells else self._open_ends)

    def publish(self, chosen: Units) -> tuple[Release, ...]:
        """Return the releases as they are published."""
        made = list(self._make(chosen, self._open_ends))
        for number, release in enumerate(made):
            if release is not self.releases[number]:
                signed = (*release.header.made_by, MadeBy(method.NAME, "lines"))
                changed: Any = release
                made[number] = replace(changed, header=replace(release.header, made_by=signed), source=None)
        return tuple(made)

    def _make(self, chosen: Units, ends: Callable[[int, Flags], tuple[Ints, Ints]]) -> tuple[Release, ...]:
        flags = self.hidden(chosen)
        gone = frozenset((number, self._line(place)) for unit in chosen for place in self.units[unit] for number in place[:1])
        made = list(leave_out_lines(self.releases, gone))
        for number, table in self.tables.items():
            if flags[number].any() or table.is_hidden.any():
                lo, hi = ends(number, flags[number])
                made[number] = replace(
                    table,
                    lo=lo,
                    hi=hi,
                    printed=np.where(flags[number], -1, table.printed),
                    printing=CellPrinting(zeros_shown=not self._hides_zeros(number)),
                    marks=("",),
                    numbers=tuple(one.without(flags[number]) for one in table.numbers),
                )
        return tuple(made)

    def _line(self, place: Place) -> int:
        release: Any = self.releases[place[0]]
        return int(release.line(place[1]))

    def _hides_zeros(self, number: int) -> bool:
        """Tell if nobody may be in a hidden cell of a table."""
        table = self.tables[number]
        was_hidden = table.is_hidden.any() and not table.printing.zeros_shown
        return bool(self.knows_small_cells or was_hidden)

    def _open_ends(self, number: int, flags: Flags) -> tuple[Ints, Ints]:
        table = self.tables[number]
        least = 0 if self._hides_zeros(number) else 1
        most = UNBOUNDED if table.n is None else table.n
        return np.where(flags, least, table.lo), np.where(flags, most, table.hi)

    def _ends(self, number: int, flags: Flags) -> tuple[Ints, Ints]:
        """Return the ends of cells for an attacker who can tell small ones."""
        table = self.tables[number]
        most = UNBOUNDED if table.n is None else table.n
        rule = self.rule(number)
        small = self.primary[number]
        large = 0
        if self.attacker == "method":
            large = min(rule, int(table.lo[~small & (table.lo > 0)].min(initial=rule)))
        # A cell that was hidden for a reason that is not known may be of any size.
        is_known = small & (~table.is_hidden | (table.hi < most))
        lo = np.where(small, 0, np.where(flags, large, table.lo))
        return lo, np.where(is_known, min(rule - 1, most), np.where(flags, most, table.hi))

    def rule(self, number: int) -> int:
        """Return the size below which cells of a table are hidden."""
        table = self.tables[number]
        told = [int(hi) + 1 for hi in np.unique(table.hi[table.is_hidden]) if hi < (table.n or UNBOUNDED)]
        return max([self.k, *told])

    @cached_property
    def needs(self) -> list[Need]:
        """Ranges that small cells must have."""
        found: dict[Any, list[Need]] = {}
        for number in self.tables:
            rule = self.rule(number)
            for index in np.flatnonzero(self.primary[number]).tolist():
                key = self._key(number, index)
                if key not in found:
                    found[key] = self._needs(number, index, rule)
        return [need for own in found.values() for need in own]

    def _needs(self, number: int, index: int, rule: int) -> list[Need]:
        margin = self._margin(number, index)
        if not self.knows_small_cells:
            return [Need(number, index, 0, self.k, either=True), *margin]
        # Nobody or somebody: the same lines are hidden, so that these do not reveal which of the two it is.
        alike = Need(number, index, None, 1, may_be_dropped=True)
        return [*([Need(number, index, 0, None)] if rule <= self.k else []), alike, *margin]

    def _margin(self, number: int, index: int) -> list[Need]:
        """Return the wider range that ``--protect`` asks for."""
        margin = self.options.margin
        count = 0 if margin is None else int(self._true_counts[number][index])
        if margin is None or count == 0:
            return []
        most = ceil(count * (1 + margin))
        if self.knows_small_cells:
            most = min(most, self.rule(number) - 1)
        least = 0 if self._hides_zeros(number) else 1  # that somebody is in a hidden cell is known where zeros are shown
        return [Need(number, index, max(least, floor(count * (1 - margin))), most)]

    @cached_property
    def _true_counts(self) -> dict[int, Ints]:
        """Counts of all cells of each table; hidden ones need the data."""
        return {number: self._count_cells(table) for number, table in self.tables.items()}

    def _count_cells(self, table: FrequencyTable) -> Ints:
        if not table.is_hidden.any():
            return table.lo
        if self.data is None:
            remedy = "Give the table with its small cells, or the data with --data"
            raise OptionError("needs the counts of hidden cells", where="--protect", remedy=remedy)
        return count_people(table, people_of(self.data))

    @cached_property
    def printed(self) -> list[Flags]:
        """Flags of the lines that print a number."""
        found = [np.ones(len(release), np.bool_) for release in self.releases]
        for number, table in self.tables.items():
            found[number] = ~table.is_hidden
        return found


def count_people(release: FrequencyTable, people: Any) -> Ints:
    """Count the people of every cell of a table."""
    if not isinstance(people, Table):
        raise OptionError("holds transactions, which have no columns", where="--data", remedy="Give a table")
    found = np.zeros(len(release), np.int64)
    where: dict[tuple[str, str], Flags] = {}
    for index in range(len(release)):
        inside = np.ones(len(people.weights), np.bool_)
        for name, value in release.cell(index).items():
            if (name, value) not in where:
                column = people.column(name)
                wanted = set(release.members(name, value) or (value,))
                where[name, value] = np.array([text in wanted for text in column.values], np.bool_)[column.codes]
            inside &= where[name, value]
        found[index] = people.weights[inside].sum()
    return found


@dataclass(eq=False)
class _Judge:
    """Judge of choices: ranges of small cells first, then all attacks."""

    plan: Plan
    look: Callable[[Sequence[Release], Limits], Audit]
    before: Audit
    published: dict[Units, tuple[tuple[Release, ...], Audit]] = field(default_factory=dict)
    _needs: list[Need] | None = None

    def publish(self, chosen: Units, limits: Limits) -> tuple[tuple[Release, ...], Audit]:
        """Return the releases as they are published, with their audit."""
        if chosen not in self.published:
            made = self.plan.publish(chosen)
            is_same = all(one is other for one, other in zip(made, self.plan.releases, strict=True))
            self.published[chosen] = made, self.before if is_same else self.look(made, limits)
        return self.published[chosen]

    def needs(self, limits: Limits) -> list[Need]:
        """Return the ranges to protect, without cells known to be empty."""
        if self._needs is None:
            self._needs = self._find_needs(limits)
        return self._needs

    def _find_needs(self, limits: Limits) -> list[Need]:
        needs = self.plan.needs
        everything = self.plan.read(frozenset(range(len(self.plan.units))))
        while True:
            told = {one.need for one in self._find_told(everything, needs, limits).told}
            if not told:
                return needs
            if not all(need.may_be_dropped for need in told):
                remedy = "Keep fewer lines, publish fewer tables, protect a smaller share, or name a weaker --attacker"
                raise Infeasible(
                    "small cells are revealed by what has to stay published", where="--method suppress", remedy=remedy
                )
            needs = [need for need in needs if need not in told]

    def _find_told(self, releases: Sequence[Release], needs: Sequence[Need], limits: Limits) -> Ranges:
        return find_told(releases, self.plan.people, self.plan.population, needs, limits)

    def separate(self, chosen: Units, limits: Limits) -> Separation:
        """Judge a choice: as the attacker reads it, and as it is published."""
        releases = self.plan.read(chosen)
        ranges = self._find_told(releases, self.needs(limits), limits)
        if ranges.told:
            return Separation(tuple(self._cut(chosen, one.cited) for one in ranges.told))
        is_safe = not ranges.open
        if self.plan.knows_small_cells:
            found = self.look(releases, limits)
            learnt = self._learn(chosen, found)
            is_safe = is_safe and safety(found) == 2
            if learnt.teaches or not is_safe:
                return learnt
        _, found = self.publish(chosen, limits)
        return replace(self._learn(chosen, found), is_safe=is_safe and safety(found) == 2)

    def _learn(self, chosen: Units, found: Audit) -> Separation:
        """Return what the proofs of an audit say about every choice."""
        cuts = []
        given = []
        for cited, withheld in _cited(found):
            cut = self._cut(chosen, cited)
            line = None if withheld is None else self.plan.unit_of.get(withheld)
            if line is None or line not in chosen:
                cuts.append(cut)
            else:
                given.append((cut, line))
        return Separation(tuple(cuts), given=tuple(given))

    def _cut(self, chosen: Units, cited: Iterable[tuple[int, Any]]) -> Units:
        """Return the units of which one must be hidden."""
        found: set[int] = set()
        for place in cited:
            unit = self.plan.unit_of.get(place)
            if unit is not None:
                found.add(unit)
            elif place[0] in self.plan.of_list and not isinstance(place[1], int) and place[1] != "n":
                # What a complete list leaves out says nothing once any of its lines is gone.
                found |= self.plan.of_list[place[0]]
        return frozenset(found - chosen)


Cited = tuple[int, int | str]  #: A release and a place in it, as findings cite it.


def _cited(found: Audit) -> list[tuple[frozenset[Cited], Cited | None]]:
    """Return what each proof cites, and the withheld number that it tells."""
    proofs = []
    for run in found.runs:
        if run.claim == "proves" and run.show is not None:
            for index in range(min(MOST_PROOFS, len(run.severity))):
                shown = run.show(index)
                told = (shown.certificate or {}).get("numbers", {}).get("withheld")
                place = None if told is None else (told["release"], told.get("line", told.get("cell")))
                proofs.append((frozenset((one.release, one.place) for one in shown.because), place))
    return proofs


def _report(plan: Plan, choice: Choice, before: Audit, after: Audit, made: tuple[Release, ...]) -> Repair:
    flags = plan.hidden(choice.hidden)
    fresh = [flag & had_number for flag, had_number in zip(flags, plan.printed, strict=True)]
    hidden = sum(int(one.sum()) for one in fresh)
    people = sum(int(release.hi[own].sum()) for release, own in zip(_tables(plan.releases), fresh, strict=True))
    first = _weigh_primary(plan)
    further = sum(len(plan.units[unit]) for unit in choice.hidden)
    value = first + choice.weight
    bound = first + choice.lower_bound
    several = len(plan.releases) > 1
    facts: dict[str, Any] = {
        "attacker": plan.attacker,
        "minimised": plan.options.weighing,
        "primary": sum(int(one.sum()) for one in plan.primary),
        "hidden": hidden,
        "value": _plain(value),
        "lower_bound": _plain(bound),
        "optimal": choice.is_optimal,
        "rounds": choice.rounds,
    }
    shortest = "which is proved to be the fewest possible" if choice.is_optimal and plan.options.weighing == "cells" else ""
    if choice.is_optimal and not shortest:
        shortest = "of the least cost possible"
    told = f"hide {further:,} further cell{'' if further == 1 else 's'}" + (f", {shortest}" if shortest else "")
    if not further:
        told = "hide the small counts, and no other cell"
    if not choice.is_optimal:
        told += f"; the cost is {_plain(value):,}, and no safe choice costs less than {_plain(bound):,}"
    return Repair(
        method.NAME,
        made if several else made[0],
        before,
        after,
        {"cells_lost": hidden, "people_hidden": people},
        what=told,
        remark=_remark(plan),
        start=plan.releases if several else plan.releases[0],
        facts=facts,
    )


def _remark(plan: Plan) -> str:
    if plan.attacker == "rule" and plan.options.attacker is None:
        return (
            "Whoever could tell the size of every hidden cell would know small groups whatever is hidden. "
            "The result is safe from attackers who can tell which hidden cells are small."
        )
    return ""


def _tables(releases: Sequence[Release]) -> list[Any]:
    return list(releases)


def _weigh_primary(plan: Plan) -> float:
    """Return the weight of the small cells that had a number."""
    total = 0.0
    for number, had_number in enumerate(plan.printed):
        for index in np.flatnonzero(plan.primary[number] & had_number).tolist():
            count = plan._count((number, index))
            total += {"cells": 1.0, "people": float(count), "log": log2(2 + count)}[plan.options.weighing]
    return total


def _plain(value: float) -> int | float:
    return round(value) if abs(value - round(value)) < 1e-9 else round(value, 6)
