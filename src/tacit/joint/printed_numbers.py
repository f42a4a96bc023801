"""Numbers printed beside counts: sums that are told of small groups, and values of individuals.

Sums add up over parts as counts do, and no value is below 0. So every printed sum is a line of its own adversary over the groups of X01: cubes
move its bounds, linear programs settle the cells that stay open, and weights prove both ends of a range. A number is told if its range is
narrow, and if few people are in the group or the table withholds it. A printed maximum is the value of somebody; if the sum leaves room for
few people with such a value, it tells of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, lcm
from typing import Any

import numpy as np

from tacit.joint import words
from tacit.joint.boxes import Allowed, Box, Key, Line, Origin, Problem, item_event
from tacit.joint.cube import OPEN, Cube, Groups, Prover, Step, tighten_cubes
from tacit.joint.lower import JointCase, relate_populations
from tacit.joint.programs import MOST_CELLS, MOST_ENTRIES, Solver
from tacit.joint.readers import cell_values
from tacit.joint.words import CODE
from tacit.joint.worlds import Rows, count_cells
from tacit.model.arrays import Flags, Ints
from tacit.model.audit import AttackRun, Target
from tacit.model.errors import Contradiction
from tacit.model.finding import Citation, Event, Finding, ItemEvent, certificate
from tacit.model.frequencies import CLOSE, FrequencyTable, Numbers, numbered_tables
from tacit.model.number_words import explain_amount, explain_extreme, name_amount, render_number, render_range, state_amount
from tacit.model.numbers import Bound
from tacit.model.people import Changed
from tacit.model.words import state_joint

MOST_ASKED = 2_000  #: Most cells that programs are asked about.
LARGEST = OPEN // 8  #: Sums in their smallest unit are below this.


@dataclass(frozen=True, slots=True)
class _Told:
    event: ItemEvent
    count: Bound
    show: Callable[[], Finding]


Place = tuple[int, int]  #: Number of a cube, and a group of it.


@dataclass(eq=False)
class PrintedNumbers:
    """Search for numbers that are told, among the groups of the counts."""

    case: JointCase
    target: Target
    problem: Problem
    prover: Prover
    found: dict[ItemEvent, _Told] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    undecided: int = 0

    def look(self) -> None:
        """Look at every column of numbers."""
        tables = numbered_tables(self.case.releases)
        columns = dict.fromkeys(numbers.column for table in tables.values() for numbers in table.numbers)
        for column in columns:
            own = {place: one for place, table in tables.items() for one in table.numbers if one.column == column}
            for number, numbers in own.items():
                self._look_at_extremes(number, tables[number], numbers)
            if isinstance(self.case.people, Changed):
                self.leave(1, f"sums of {column} are not followed where values change")
                continue
            _Sums(self, column, {number: (tables[number], one) for number, one in own.items()}).look()

    def leave(self, questions: int, why: str) -> None:
        """Count questions that stay open."""
        if questions:
            self.undecided += questions
            self.reasons.append(why)

    def check(self) -> None:
        """Raise if the time is over."""
        self.target.limits.check(CODE)

    def keep(self, event: ItemEvent, count: Bound, show: Callable[[], Finding]) -> None:
        """Keep what is told, each once."""
        self.found.setdefault(event, _Told(event, count, show))

    def _look_at_extremes(self, number: int, table: FrequencyTable, numbers: Numbers) -> None:
        for index in range(len(table)):
            for statistic in ("max", "min"):
                most, because = most_with_extreme(numbers, statistic, index, table.count(index))
                if most is None or not 0 < most < self.target.policy.k or int(table.lo[index]) < 1:
                    continue
                value = numbers.printed[statistic].text(index)
                cell = table.cell(index)
                if any(table.members(column, label) for column, label in cell.items()):
                    continue  # a group of values has no name of its own
                present = (*(f"{column}={label}" for column, label in cell.items()), f"{numbers.column}={value}")
                inside = (self.case.population[number],) if self.problem.members else ()
                event = ItemEvent(present, (), inside=inside)
                self.keep(
                    event, Bound(1, most), partial(self._extreme, number, index, event, most, (statistic, numbers, because))
                )

    def _extreme(self, number: int, index: int, event: ItemEvent, most: int, what: tuple[str, Numbers, str]) -> Finding:
        statistic, numbers, because = what
        table = numbered_tables(self.case.releases)[number]
        count = Bound(1, most)
        place = table.place(index)
        entry: dict[str, Any] = {"release": number, "line" if isinstance(place, int) else "cell": place}
        value = numbers.printed[statistic].text(index)  # type: ignore[index]
        return Finding(
            CODE,
            event,
            count,
            state_joint(event, count, self.case.names),
            because=(Citation(number, place, table.count(index), None),),
            derivation=tuple(explain_extreme(statistic, numbers.column, value, count, because)),
            certificate=certificate(
                event,
                count,
                people=self.case.people.to_text(),
                extreme=entry | {"column": numbers.column, "statistic": statistic},
            ),
        )

    def join(self, run: AttackRun) -> AttackRun:
        """Return the findings about groups and those about numbers as one run, worst first."""
        told = list(self.found.values())
        lo = np.array([one.count.lo for one in told], np.int64)
        hi = np.array([one.count.hi for one in told], np.int64)
        items = np.array([len(one.event.present) + len(one.event.absent) for one in told], np.int64)
        own: Mapping[str, Any] = {"items": items, "count": lo, "count_hi": hi, "together": np.zeros(len(told), np.bool_)}
        groups = len(run.severity)
        severity = np.concatenate((run.severity, (np.minimum(hi, 2**40) << 16) | np.minimum(items, 0x7FFF)))
        order = np.argsort(severity, kind="stable")
        columns = {
            name: np.concatenate((column, own.get(name, np.zeros(len(told), column.dtype))))[order]
            for name, column in run.columns.items()
        }

        def event(index: int) -> Event:
            place = int(order[index])
            if place >= groups:
                return told[place - groups].event
            assert run.event is not None
            return run.event(place)

        def show(index: int) -> Finding:
            place = int(order[index])
            if place >= groups:
                return told[place - groups].show()
            assert run.show is not None
            return run.show(place)

        return replace(
            run,
            reason="; ".join(why for why in (run.reason, *self.reasons) if why),
            people=max(run.people, int(lo.max(initial=0))),
            undecided=run.undecided + self.undecided,
            columns=columns,
            severity=severity[order],
            event=event,
            show=show,
        )


def most_with_extreme(numbers: Numbers, statistic: str, index: int, people: Bound) -> tuple[int | None, str]:
    """Return the most people of a line who have its largest or smallest value, and why not more; None if any number may."""
    extreme = numbers.around(statistic, index)  # type: ignore[arg-type]
    if extreme is None:
        return None, ""
    least, most = numbers.total(index, people)
    if statistic == "max":
        total = numbers.around("sum", index) or numbers.around("mean", index)
        if total is None or most is None or extreme[0] <= 0:
            return None, ""
        return floor(most / extreme[0]), f"their sum alone would be above {render_number(most)}"
    largest = numbers.around("max", index)
    if largest is None or not people.is_exact or largest[1] <= extreme[1]:
        return None, ""
    room = (people.lo * largest[1] - least) / (largest[1] - extreme[1])
    return floor(room), f"the sum of all {people.lo:,} would be below {render_number(least)}"


@dataclass(eq=False)
class _Sums:
    """Sums of one column: lines, cubes and programs about them."""

    search: PrintedNumbers
    column: str
    tables: Mapping[int, tuple[FrequencyTable, Numbers]]
    unit: int = 1

    def look(self) -> None:
        """Find the sums that are told."""
        lines = self._lines()
        if lines is None:
            self.search.leave(1, f"sums of {self.column} have too many digits")
            return
        counts = self.search.prover.cubes
        problems: dict[int, Problem] = {}
        cubes = []
        for cube in counts:
            if id(cube.problem) not in problems:
                problems[id(cube.problem)] = replace(
                    cube.problem, lines=(*lines, *self._closing(cube.problem)), everybody=(), cells=(), conditions=()
                )
            cubes.append(Cube(problems[id(cube.problem)], cube.chosen))
        self.problem = problems.get(id(self.search.problem)) or replace(
            self.search.problem, lines=(*lines, *self._closing(self.search.problem)), everybody=(), cells=(), conditions=()
        )
        tighten_cubes(cubes, self.search.check)
        if any(cube.clash >= 0 for cube in cubes):
            names = ", ".join(self.search.case.name(number) for number in self.tables)
            remedy = f"Check the sums and means of {self.column}, or leave the column out with --ignore"
            raise Contradiction("no people have all the numbers printed beside the counts", where=names, remedy=remedy)
        self.prover = Prover(cubes)
        for number, (count, total) in enumerate(zip(counts, cubes, strict=True)):
            groups = Groups.of(count, self.search.target.policy.k)
            few = (count.hi < self.search.target.policy.k) & (count.hi > 0)
            flags: Flags = few & self._is_close(total) & (groups.asked | groups.small)
            for group in np.flatnonzero(replace(groups, small=flags).choose_reported()).tolist():
                self._keep_group(number, group)
        self._ask(counts)

    def _lines(self) -> list[Line] | None:
        """Return the printed sums in their smallest common unit."""
        case = self.search.case
        scopes = relate_populations(case.releases, case.people, case.population).scopes
        known = set(self.search.problem.place)
        ends: list[tuple[Box, Fraction, Fraction | None, Origin]] = []
        for number, (table, numbers) in self.tables.items():
            for index in range(len(table)):
                count = table.count(index)
                least, most = numbers.total(index, count)
                box: Box = {**_box(table, index), **scopes[number]}
                if (least == 0 and most is None) or not box.keys() <= known:
                    continue
                ends.append((box, least, most, Origin(number, table.place(index), "sum", count, items=(self.column,))))
        self.unit = lcm(*(end.denominator for _, least, most, _ in ends for end in (least, most) if end is not None))
        found = []
        for group, least, most, origin in ends:
            if max(least, most or 0) * self.unit > LARGEST:
                return None
            found.append(Line.about(group, int(least * self.unit), None if most is None else int(most * self.unit), origin))
        return found

    def _closing(self, problem: Problem) -> list[Line]:
        """Return that nobody has values that are not listed."""
        return [line for line in problem.lines if line.origin.what == "all-values"]

    def _is_close(self, cube: Cube) -> Flags:
        is_bounded = (cube.lo > 0) & (cube.hi < OPEN // 2)
        return np.asarray(is_bounded & ((cube.hi - cube.lo) * CLOSE.denominator <= cube.hi * CLOSE.numerator))

    def _keep_group(self, number: int, group: int, withheld: Mapping[str, Any] | None = None) -> None:
        count = self.search.prover.cubes[number]
        total = self.prover.cubes[number]
        event = item_event(count.axes, count.slots(group), self.search.problem.members)
        if event is None:
            return
        ends = int(total.lo[group]), int(total.hi[group])
        people = Bound(max(1, int(count.lo[group])), int(count.hi[group]))
        self._keep(event, people, ends, lambda: self.prover.prove_ends(number, group), (number, group), withheld)

    def _keep(
        self,
        event: ItemEvent,
        count: Bound,
        ends: tuple[int, int],
        proof: Callable[[], tuple[Sequence[Step], Sequence[Step]]],
        place: Place,
        withheld: Mapping[str, Any] | None,
    ) -> None:
        amount = render_range(Fraction(ends[0], self.unit), Fraction(ends[1], self.unit))
        named = name_amount(event, count, self.column, amount)

        def show() -> Finding:
            return self._write_out(event, named, count, (amount, proof()), place, withheld)

        self.search.keep(named, count, show)

    def _write_out(
        self,
        event: ItemEvent,
        named: ItemEvent,
        count: Bound,
        told: tuple[str, tuple[Sequence[Step], Sequence[Step]]],
        place: Place,
        withheld: Mapping[str, Any] | None,
    ) -> Finding:
        amount, proofs = told
        case = self.search.case
        cube = self.search.prover.cubes[place[0]]
        least = self.search.prover.prove(*place, "lo") if cube.lo[place[1]] > 0 else []
        most = self.search.prover.prove(*place, "hi")
        numbers: dict[str, Any] = {
            "column": self.column,
            "unit": self.unit,
            "group": event.to_dict(),
            "least": [words.step_record(self.problem, step) for step in proofs[0]],
            "most": [words.step_record(self.problem, step) for step in proofs[1]],
            "withheld": withheld,
        }
        proof = certificate(
            named,
            count,
            people=case.people.to_text(),
            least=[words.step_record(self.search.problem, step) for step in least],
            most=[words.step_record(self.search.problem, step) for step in most],
            numbers=numbers,
        )
        counted = [*least, *most]
        summed = [*proofs[0], *proofs[1]]
        cited = {
            (one.release, one.place): one
            for one in (*words.citations_of(self.search.problem, counted), *words.citations_of(self.problem, summed))
        }
        steps = explain_amount(
            proof, words.look_up_in(case, self.search.problem, counted), words.look_up_in(case, self.problem, summed)
        )
        order = sorted(cited, key=lambda key: (key[0], isinstance(key[1], str), str(key[1]).zfill(12)))
        return Finding(
            CODE,
            named,
            count,
            state_amount(event, count, case.names, self.column, amount),
            because=tuple(cited[key] for key in order),
            derivation=tuple(steps),
            certificate=proof,
        )

    # Cells that cubes leave open

    def _ask(self, counts: Sequence[Cube]) -> None:
        """Ask programs about cells of few people and about withheld numbers."""
        asked: dict[tuple[tuple[int, int], ...], tuple[Place, dict[str, Any] | None]] = {}
        for number, (table, numbers) in self.tables.items():
            is_used = any(numbers.is_printed(index) for index in range(len(table)))
            for index in range(len(table)):
                self._add_question(asked, counts, number, (table, numbers, index, is_used))
        if not asked:
            return
        everything = tuple(range(len(self.problem.axes)))
        rows = Rows.of(self.problem, everything) if count_cells(self.problem.axes) <= MOST_CELLS else None
        if rows is None or rows.entries > MOST_ENTRIES:
            self.search.leave(len(asked), f"sums of {self.column} in {len(asked):,} cells are neither proved nor refuted")
            return
        solver = Solver(rows, self.search.target.limits)
        for masks, (place, withheld) in list(asked.items())[:MOST_ASKED]:
            self.search.check()
            self._ask_one(solver, dict(masks), place, withheld)
        self.search.leave(max(0, len(asked) - MOST_ASKED), f"sums of {self.column} in more cells than could be asked about")

    def _add_question(
        self,
        asked: dict[tuple[tuple[int, int], ...], tuple[Place, dict[str, Any] | None]],
        counts: Sequence[Cube],
        number: int,
        line: tuple[FrequencyTable, Numbers, int, bool],
    ) -> None:
        table, numbers, index, is_used = line
        case = self.search.case
        scope = relate_populations(case.releases, case.people, case.population).scopes[number]
        box = {**_box(table, index), **scope}
        if not box.keys() <= set(self.search.problem.place):
            return
        masks = self.search.problem.masks(box)
        place = next(((at, group) for at, cube in enumerate(counts) if (group := _group(cube, masks)) is not None), None)
        if place is None or not masks:
            return
        cube = counts[place[0]]
        total = self.prover.cubes[place[0]]
        people = Bound(int(cube.lo[place[1]]), int(cube.hi[place[1]]))
        withheld: dict[str, Any] | None = None
        if people.hi >= self.search.target.policy.k:
            if not is_used or numbers.is_printed(index):
                return
            at = table.place(index)
            withheld = {"release": number, "line" if isinstance(at, int) else "cell": at}
        if people.hi == 0 or int(total.hi[place[1]]) == 0 or int(total.hi[place[1]]) >= OPEN // 2:
            return  # nobody, nothing, or anything
        if bool(self._is_close(total)[place[1]]):
            if withheld is not None:
                self._keep_group(*place, withheld)
            return
        asked.setdefault(_name(masks), (place, withheld))

    def _ask_one(self, solver: Solver, masks: Mapping[int, int], place: Place, withheld: Mapping[str, Any] | None) -> None:
        group = solver.rows.cells.inside(masks)
        low = self._bound(solver, masks, group, 1)
        high = self._bound(solver, masks, group, -1)
        if low is None or high is None:
            self.search.leave(1, f"a sum of {self.column} is neither proved nor refuted")
            return
        if low.value <= 0 or (high.value - low.value) * CLOSE.denominator > high.value * CLOSE.numerator:
            return
        cube = self.search.prover.cubes[place[0]]
        event = item_event(cube.axes, cube.slots(place[1]), self.search.problem.members)
        if event is not None:
            people = Bound(max(1, int(cube.lo[place[1]])), int(cube.hi[place[1]]))
            self._keep(event, people, (low.value, high.value), lambda: ([low], [high]), place, withheld)

    def _bound(self, solver: Solver, masks: Mapping[int, int], group: Ints, sign: int) -> Step | None:
        best = solver.least(solver.cost(group, sign))
        if best is None:
            return None
        near = 1 + 1e-9 * abs(best.value)
        shown = solver.rows.certify(group, sign, best.weights, floor(best.value - near))
        if shown is None:
            return None
        lines = self.problem.lines
        total = Fraction(0)
        for (_, number), weight in shown[1].items():
            end = lines[number].lo if weight > 0 else lines[number].hi
            assert end is not None
            total += weight * end
        # Sums are not whole numbers of units, so nothing is rounded to our advantage.
        return Step(masks, "lo", floor(total), shown[1]) if sign > 0 else Step(masks, "hi", ceil(-total), shown[1])


def _box(table: FrequencyTable, index: int) -> Box:
    return {Key("column", name): Allowed(values) for name, values in cell_values(table, index).items()}


def _name(masks: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(masks.items()))


def _group(cube: Cube, masks: Mapping[int, int]) -> int | None:
    if not masks.keys() <= set(cube.chosen):
        return None
    fits = all(mask in cube.problem.axes[place].slot_of for place, mask in masks.items())
    return cube.group(masks) if fits else None
