"""Groups that share one sensitive value (part of R03).

A full cell names the value of whoever belongs to its group. A group is a combination of quasi-identifiers. It is exposed if at least one
person is in it and fewer than l sensitive values are possible for its people, in every world that fits all lines. Lines, bounds, linear
programs and proofs are those of X01.

Tables with blanks among several releases hide sensitive values that the others may reveal. Rows that show a value are among the people
who have it. If the other releases prove that no more people of a combination have a value than rows show it, no blank there hides that
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.joint.boxes import HISTORY_KINDS, MEMBER, Key, Problem
from tacit.joint.conditions import classes_of
from tacit.joint.cube import OPEN, Prover, Step, Window, list_uncovered, make_cubes, tighten_cubes
from tacit.joint.lower import JointCase, lower
from tacit.joint.programs import FEW_CELLS, IN_TURN, MOST_ASKED, MOST_ENTRIES, MOST_WORK, NEAR, Cases, Solver, refuse_clashes
from tacit.joint.readers import READERS, shown_columns
from tacit.joint.words import citations_of, look_up_in, step_record
from tacit.joint.worlds import Rows, World, count_cells
from tacit.model.arrays import Flags, Floats, Ints
from tacit.model.audit import AttackRun, Status, Target
from tacit.model.errors import LimitReached
from tacit.model.finding import BoxEvent, Finding
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable, partial_tables
from tacit.model.words import explain_full_group, state_full_group

#: Reason if nobody names the sensitive column.
NOT_SAID = "name the sensitive column with --sa, or say --sa none"
MANY = 1 << 40  #: Number of values of an open column.
MOST_KINDS = 2_000  #: Most kinds of people of a program: each question of larger ones takes seconds.
MOST_SETS = 10_000  #: Most sets of columns that no cube holds and that are counted one by one.
_WORLDS = 12  #: Most worlds of whole people that are searched for all open questions at once.
_ROUNDS = 12  #: Most linear programs that look for questions which no weights answer.
_ONE = Fraction(1)
Proof = tuple[Sequence[Step], Sequence[Step], Sequence[Step]]


def run(target: Target, code: str, name: str) -> AttackRun:
    """Return the groups left with fewer than l sensitive values."""
    case = target.case
    assert isinstance(case, JointCase)
    silent = sum(READERS[one.kind].has_cells and not one.header.has_roles for one in case.releases)
    sensitive = tuple(dict.fromkeys(column for one in case.releases for column in one.header.sa))
    if silent and not sensitive:
        return AttackRun(code, name, "proves", "unavailable", reason=NOT_SAID)
    if not sensitive:
        return AttackRun(code, name, "proves", "not-relevant", reason="no column is sensitive, as is said")
    search = _Search(case, target)
    status: Status = "ran"
    try:
        search.look(sensitive)
    except LimitReached:
        status = "stopped"
        search.undecided += 1
        search.reasons.insert(0, "the time limit was reached; findings so far are kept")
    if rules := sum(READERS[one.kind].needs_known for one in case.releases):
        search.undecided += rules
        search.reasons.append("what rules say of people who are known needs their quasi-identifiers: give --known or --data")
    if silent:
        search.undecided += silent
        tables = f"{silent:,} table{'s do' if silent > 1 else ' does'}"
        search.reasons.append(f"{tables} not say which column is sensitive: {NOT_SAID}")
    return search.outcome(code, name, status)


@dataclass(frozen=True, slots=True, eq=False)
class FullGroup:
    """Group of people with few sensitive values left.

    ``proof`` shows the fewest and the most people, and that nobody of them has another value. With ``blanks`` (release, blank rows, rows
    that show a ruled-out value), it shows only that no more people have another value than rows show it.
    """

    box: Mapping[int, int]
    column: str
    left: tuple[str, ...]
    lo: int
    hi: int
    proof: Callable[[], Proof]
    blanks: Mapping[str, int] | None = None

    def event(self, problem: Problem) -> BoxEvent:
        """Return the event of the group and its remaining values."""
        axes = ((problem.axes[at], mask) for at, mask in self.box.items())
        allowed = {axis.key.name: tuple(sorted(filter(None, axis.split(mask)[0]))) for axis, mask in axes}
        return BoxEvent(allowed | {self.column: self.left})


class _Search:
    def __init__(self, case: JointCase, target: Target) -> None:
        self.case = case
        self.target = target
        self.problem = lower(case.releases, case.people, case.population, case.facts, sensitive=case.sensitive)
        self.found: list[FullGroup] = []
        self.reasons: list[str] = []
        self.undecided = 0
        self.people = 0

    def look(self, sensitive: Sequence[str]) -> None:
        check = partial(self.target.limits.check, "R03")
        cubes, windows_by_problem, skipped = make_cubes(self.problem, check)
        self.undecided += skipped + self.problem.left_out
        self.undecided += sum(self._count_uncovered(problem, windows) for problem, windows in windows_by_problem)
        prover = Prover(tighten_cubes(cubes, check))
        refuse_clashes(self.case, self.problem, prover, self.target.limits)
        for column in sensitive:
            place = self.problem.place.get(Key("column", column))
            known: list[Mapping[int, int]] = []
            for number, cube in enumerate(cubes):
                if place is None or place not in cube.chosen:
                    continue
                looked = _Groups(self, prover, number, place, quasi=self._quasi_identifiers(sensitive))
                looked.look(known)
                if cube.problem is self.problem and len(self.case.releases) > 1:
                    self._look_at_blanks(looked)
        if open_groups := self.undecided:
            self.reasons.append(f"for {open_groups:,} groups it is not known whether all people have one value")

    def _count_uncovered(self, problem: Problem, chosen: Sequence[Window]) -> int:
        if list(chosen) == [tuple(range(len(problem.axes)))]:
            return 0
        sets, groups = list_uncovered(problem, chosen, MOST_SETS)
        if problem is self.problem or sets is None:
            return groups
        return sum(
            prod(len(axes[at].slots) - 1 for at in one) * sign
            for one in sets
            for axes, sign in ((problem.axes, 1), (self.problem.axes, -1))
        )

    def _look_at_blanks(self, groups: _Groups) -> None:
        for release, table in partial_tables(self.case.releases).items():
            if groups.sensitive.key.name in table.people.schema.sa:
                known = {self._name(one) for one in self.found}
                for one in groups.look_at_blanks(release, table):
                    if self._name(one) not in known:
                        self.found.append(one)
                        self.people = max(self.people, one.lo)

    def _name(self, found: FullGroup) -> str:
        return str(sorted(found.event(self.problem).to_dict().items()))

    @cached_property
    def world(self) -> World | None:
        return None if self.case.data is None else World.of_rows(self.problem, self.case.data)

    @cached_property
    def solver(self) -> Solver | None:
        if count_cells(self.problem.axes) > MOST_KINDS:
            return None
        rows = Rows.of(self.problem, tuple(range(len(self.problem.axes))))
        return Solver(rows, self.target.limits) if rows.entries <= MOST_ENTRIES else None

    def _quasi_identifiers(self, sensitive: Sequence[str]) -> frozenset[int]:
        named = {column for release in self.case.releases for column in release.header.qi}
        out = set()
        for place, axis in enumerate(self.problem.axes):
            kind, column = axis.key
            if axis.key == MEMBER or kind in HISTORY_KINDS or (kind == "column" and column in sensitive):
                continue
            if not named or column in named or (kind == "item" and column.partition("=")[0] in named):
                out.add(place)
        return frozenset(out)

    def outcome(self, code: str, name: str, status: Status) -> AttackRun:
        order = sorted(self.found, key=lambda one: (one.lo, one.hi, len(one.box), one.column, str(sorted(one.box.items()))))
        left = np.array([len(one.left) for one in order], np.int64)
        lo, hi = (np.array([getattr(one, end) for one in order], np.int64) for end in ("lo", "hi"))
        certain = int(lo[left == 1].max(initial=0))
        people = max(self.people, int(lo.max(initial=0))) if order else 0
        index_of_only = None if len(self.case.releases) > 1 else self.target.index
        return AttackRun(
            code,
            name,
            "proves",
            status,
            reason="; ".join(dict.fromkeys(self.reasons)),
            people=people,
            undecided=self.undecided,
            measures={"people_certain": max(people, certain) if self.target.policy.l == 2 else certain},
            columns={"values_left": left, "count": lo, "count_hi": hi},
            severity=(lo << 16) | np.array([min(len(one.box), 0x7FFF) for one in order], np.int64),
            event=lambda index: order[index].event(self.problem),
            show=lambda index: write_out(code, self.case, self.problem, order[index], index=index_of_only),
        )


class _Groups:
    """Groups of one cube and one sensitive column.

    Arrays are over the slots of the quasi-identifying axes, in the order of the cube, and the classes of sensitive values.
    """

    def __init__(self, search: _Search, prover: Prover, number: int, place: int, quasi: frozenset[int]) -> None:
        self.search = search
        self.prover = prover
        self.number = number
        self.cube = prover.cubes[number]
        self.least = search.target.policy.l
        self.place = place
        self.sensitive = search.problem.axes[place]
        self.axes = [(at, axis) for at, axis in zip(self.cube.chosen, self.cube.axes, strict=True) if at in quasi]
        self.values = [MANY if None in values else len(values) for values in self.sensitive.classes]
        kept = {at for at, _ in self.axes} | {place}
        places = zip(self.cube.chosen, self.cube.axes, strict=True)
        picked = tuple(slice(None) if at in kept else axis.everything for at, axis in places)
        position = [at for at in self.cube.chosen if at in kept].index(place)
        grid = np.arange(len(self.cube.lo), dtype=np.int64).reshape(self.cube.shape)[picked]
        self.grid = np.moveaxis(grid, position, -1)
        self.classes = list(range(len(self.values))) if len(self.sensitive.slots) > 1 else [0]
        self.of_value = self.grid[..., self.classes]
        self.of_all = self.grid[..., self.sensitive.everything]
        self.zeros: dict[tuple[int, ...], Step] = {}
        self.lows: dict[tuple[int, ...], Step] = {}
        self.worlds: list[Ints] = []

    def look(self, known: list[Mapping[int, int]]) -> None:
        possible = self.cube.hi[self.of_value] > 0
        stopped: LimitReached | None = None
        try:
            self._settle(possible)
        except LimitReached as reached:
            stopped = reached  # what bounds show is reported nevertheless
        wide = self._widen(possible[self._singles])
        left = (wide @ np.array(self.values, np.int64)).astype(np.int64)
        exposed = (left < self.least) & (left > 0) & (self.cube.hi[self.of_all] > 0)
        for position, (_, axis) in enumerate(self.axes):
            # Only values that releases name describe a group.
            named = [slot == axis.everything or None not in axis.split(mask)[0] for slot, mask in enumerate(axis.slots)]
            exposed &= np.array(named).reshape([-1 if at == position else 1 for at in range(exposed.ndim)])
        low = self.cube.lo[self.of_all].copy()
        if stopped is None:
            self._ask_sizes(exposed & (low < 1), low)
        self._keep(exposed & (low > 0), low, wide, left, known=known)
        if stopped is not None:
            raise stopped

    # The smallest groups

    @cached_property
    def _singles(self) -> tuple[Any, ...]:
        return np.ix_(*(range(len(axis.classes)) if len(axis.slots) > 1 else range(1) for _, axis in self.axes))

    def _settle(self, possible: Flags) -> None:
        """Settle open values of the smallest groups; ``possible`` loses what is refuted."""
        finest = possible[self._singles]
        weights = np.array(self.values, np.int64)
        seen = np.zeros(finest.shape, np.bool_)
        if (own := self.search.world) is not None:
            chosen = [at for at, _ in self.axes] + [self.place]
            seen[tuple(own.kinds[:, at] if size > 1 else 0 for at, size in zip(chosen, seen.shape, strict=True))] = True

        def asked() -> Flags:
            # A group that keeps enough values is not asked about any more.
            enough = np.minimum(seen @ weights, MANY) >= self.least
            return np.asarray(finest & ~seen & ~enough[..., None])

        solver = self.search.solver if asked().any() else None
        try:
            if solver is not None:
                kinds = len(solver.rows.cells)
                few = kinds <= FEW_CELLS
                for _ in range(_WORLDS if few else 0):
                    before = int(seen.sum())
                    self._note(solver.world(-self._weigh(asked())), seen)
                    if int(seen.sum()) == before or not asked().any():
                        break
                hopeless = np.zeros_like(seen) if few else self._find_hopeless(solver, asked)
                wanted = list(map(tuple, np.argwhere(asked() & ~hopeless).tolist()))
                wanted = wanted[: min(MOST_ASKED, MOST_WORK // kinds)]
                for place in wanted if few else ():
                    if asked()[place]:
                        self._ask(solver, place, finest, seen)
                for start in range(0, 0 if few else len(wanted), IN_TURN):
                    self._ask_in_turn(solver, wanted[start : start + IN_TURN], finest)
        finally:
            # Cubes with slots for people who lack a value have the same smallest groups, or wider ones: these are counted once.
            if self.cube.problem is self.search.problem:
                self.search.undecided += int(asked().any(axis=-1).sum())
            possible[self._singles] = finest

    def _find_hopeless(self, solver: Solver, asked: Callable[[], Flags]) -> Flags:
        out = np.zeros_like(asked())
        for _ in range(_ROUNDS):
            living = asked() & ~out
            best = solver.least(-self._weigh(living)) if living.any() else None
            if best is None:
                break
            fresh = living & (self._count_by_place(best.people) >= 1 - NEAR)
            if not fresh.any():
                break
            out |= fresh
        return out

    def _ask_in_turn(self, solver: Solver, places: Sequence[tuple[int, ...]], finest: Flags) -> None:
        """Prove that groups are empty, each from the answer to the one before."""
        boxes = [self._box(place[:-1], 1 << place[-1]) for place in places]
        groups = [solver.rows.cells.inside(box) for box in boxes]
        found = solver.least_in_turn([solver.cost(group, -1) for group in groups])
        for place, box, group, best in zip(places, boxes, groups, found, strict=True):
            shown = None if best is None else solver.rows.certify(group, -1, best.weights, ceil(best.value - NEAR))
            if shown is not None and shown[0] >= 0:
                self.zeros[place] = self.prover.keep(Step(box, "hi", 0, shown[1]))
                finest[place] = False

    def _ask(self, solver: Solver, place: tuple[int, ...], finest: Flags, seen: Flags) -> None:
        box = self._box(place[:-1], 1 << place[-1])
        group = solver.rows.cells.inside(box)
        shown = solver.bound(group, -1)
        if shown is not None and shown[0] >= 0:
            self.zeros[place] = self.prover.keep(Step(box, "hi", 0, shown[1]))
            finest[place] = False
            return
        self._note(solver.world(solver.cost(group, -1)), seen)
        if seen[place]:
            return
        search = Cases(solver.rows, solver.limits, box, -1, wanted=0)
        tree = search.prove()
        self._note(search.world, seen)
        if tree is not None:
            self.zeros[place] = self.prover.keep(Step.by_cases(box, "hi", 0, tree))
            finest[place] = False

    def _note(self, world: Ints | None, seen: Flags) -> None:
        if world is not None:
            self.worlds.append(world)
            seen |= self._count_by_place(world) > 0

    def _weigh(self, wanted: Flags) -> Floats:
        return wanted.reshape(-1)[self._owner].astype(np.float64)

    def _count_by_place(self, people: npt.NDArray[Any]) -> Floats:
        shape = [*(len(axis.classes) for _, axis in self.axes), len(self.values)]
        return np.asarray(np.bincount(self._owner, people, int(np.prod(shape))).reshape(shape), np.float64)

    @cached_property
    def _owner(self) -> Ints:
        """Smallest group and value of each kind, as one number."""
        assert self.search.solver is not None
        cells = self.search.solver.rows.cells
        numbers = np.unravel_index(np.arange(len(cells)), cells.shape) if cells.shape else ()
        classes = dict(zip(cells.chosen, numbers, strict=True))
        out = np.zeros(len(cells), np.int64)
        for at, axis in [*self.axes, (self.place, self.sensitive)]:
            out = out * len(axis.classes) + classes[at]
        return out

    # All groups

    def _widen(self, finest: Flags) -> Flags:
        """Propagate possible values from the smallest groups to all."""
        out: Any = finest.astype(np.int64)
        for position, (_, axis) in enumerate(self.axes):
            singles = out.shape[position]
            inside = np.array([[mask >> bit & 1 for bit in range(singles)] for mask in axis.slots], np.int64)
            out = np.moveaxis(np.tensordot(inside, out, axes=(1, position)), 0, position)
        return np.asarray(out > 0)

    def _ask_sizes(self, wanted: Flags, low: Ints) -> None:
        """Prove that groups of open size are nonempty, or refute it."""
        solver = self.search.solver
        places = sorted(map(tuple, np.argwhere(wanted).tolist()), key=self._literals)
        for number, place in enumerate(places):
            box = self._box(place)
            own = self.search.world
            if own is not None and own.count(box) == 0:
                continue
            if solver is None or number >= MOST_ASKED:
                self.search.undecided += 1
                continue
            group = solver.rows.cells.inside(box)
            if any(not world[group].any() for world in self.worlds):
                continue
            shown = solver.bound(group, 1)
            if shown is not None and shown[0] >= 1:
                low[place] = shown[0]
                self.lows[place] = self.prover.keep(Step(box, "lo", shown[0], shown[1]))
                continue
            few = len(solver.rows.cells) <= FEW_CELLS
            world = solver.world(solver.cost(group, 1)) if few else None
            if few and (world is None or world[group].any()):
                search = Cases(solver.rows, solver.limits, box, 1, wanted=1)
                tree = search.prove()
                if tree is not None:
                    low[place] = 1
                    self.lows[place] = self.prover.keep(Step.by_cases(box, "lo", 1, tree))
                    continue
                world = search.world
            if world is None:
                self.search.undecided += 1
            else:
                self.worlds.append(world)

    def _keep(self, exposed: Flags, low: Ints, wide: Flags, left: Ints, known: list[Mapping[int, int]]) -> None:
        """Record each exposed group that no wider group implies."""
        certain = exposed[self._singles]
        self.search.people = max(self.search.people, int(low[self._singles][certain].sum()))
        for place in sorted(map(tuple, np.argwhere(exposed).tolist()), key=self._literals):
            if self._is_implied(place, exposed, left):
                continue
            box = self._box(place)
            if box in known or self._is_shown_by_rows(place, wide[place]):
                continue
            known.append(box)
            values = self.sensitive.split(sum(1 << at for at in np.flatnonzero(wide[place]).tolist()))[0]
            kept = tuple(sorted(filter(None, values)))
            hi = int(min(self.cube.hi[self.of_all[place]], OPEN))
            proof = partial(self._prove, place, wide)
            found = FullGroup(box, self.sensitive.key.name, kept, lo=int(low[place]), hi=hi, proof=proof)
            self.search.found.append(found)

    def _is_shown_by_rows(self, place: tuple[int, ...], left: Flags) -> bool:
        for table in partial_tables(self.search.case.releases).values():
            if self.sensitive.key.name not in table.people.names:
                continue
            shown = {column.name: column for column in shown_columns(table.people, table.hidden)}
            own = classes_of(self.sensitive, shown[self.sensitive.key.name])
            inside = np.ones(len(own), np.bool_)
            for slot, (_, axis) in zip(place, self.axes, strict=True):
                if slot != axis.everything and axis.key.name in shown:
                    codes = classes_of(axis, shown[axis.key.name])
                    inside &= (codes < 0) | (axis.slots[slot] >> np.maximum(codes, 0) & 1).astype(np.bool_)
            if inside.any() and (own[inside] >= 0).all() and left[own[inside]].all():
                return True
        return False

    def _literals(self, place: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        return sum(slot != axis.everything for slot, (_, axis) in zip(place, self.axes, strict=True)), place

    def _is_implied(self, place: tuple[int, ...], exposed: Flags, left: Ints) -> bool:
        for position, (_, axis) in enumerate(self.axes):
            slot = place[position]
            if slot == axis.everything:
                continue
            wider = (*place[:position], axis.everything, *place[position + 1 :])
            if exposed[wider] and left[wider] == left[place]:
                return True
            mask = axis.slots[slot]
            parts = [bit for bit in range(len(axis.classes)) if mask >> bit & 1]
            if len(parts) > 1 and any(exposed[(*place[:position], bit, *place[position + 1 :])] for bit in parts):
                return True
        return False

    # Boxes and proofs

    def _box(self, place: Sequence[int], values: int | None = None) -> dict[int, int]:
        box = {at: axis.slots[slot] for slot, (at, axis) in zip(place, self.axes, strict=True) if slot != axis.everything}
        if values is not None and values != (1 << len(self.values)) - 1:
            box[self.place] = values
        return box

    def _prove(self, place: tuple[int, ...], wide: Flags) -> Proof:
        prover = self.prover
        group = int(self.of_all[place])
        least = [self.lows[place]] if place in self.lows else [prover.step(self.number, group, "lo")]
        most = [prover.step(self.number, group, "hi")] if self.cube.hi[group] < OPEN else []
        ruled_out = [at for at, kept in enumerate(wide[place].tolist()) if not kept]
        others: list[Step] = []
        if ruled_out:
            parts = [step for at in ruled_out for step in self._nobody(place, at)]
            box = self._box(place, sum(1 << at for at in ruled_out))
            joined = Step(box, "hi", 0, {("step", id(step)): _ONE for step in parts})
            others = [parts[0] if len(parts) == 1 and parts[0].box == box else joined]
        return prover.order_steps(least), prover.order_steps(most), prover.order_steps(others)

    def _nobody(self, place: tuple[int, ...], at: int) -> Iterator[Step]:
        group = int(self.of_value[(*place, at)])
        if self.cube.hi[group] == 0:
            yield self.prover.step(self.number, group, "hi")
            return
        inside = [
            [bit for bit in range(len(axis.classes)) if axis.slots[slot] >> bit & 1] if len(axis.slots) > 1 else [0]
            for slot, (_, axis) in zip(place, self.axes, strict=True)
        ]
        for fine in product(*inside):
            zero = self.zeros.get((*fine, at))
            yield self.prover.step(self.number, int(self.of_value[(*fine, at)]), "hi") if zero is None else zero

    # Blanks of a table

    def look_at_blanks(self, release: int, table: PartialTable) -> Iterator[FullGroup]:
        """Yield combinations whose blanks leave fewer than l values."""
        shown = {column.name: column for column in shown_columns(table.people, table.hidden)}
        axes = self.cube.problem.axes
        own = classes_of(self.sensitive, shown[self.sensitive.key.name])
        names = set(table.people.schema.qi) & shown.keys()
        columns = [at for at in self.cube.chosen if axes[at].key.kind == "column" and axes[at].key.name in names]
        used = [at for at in columns if len(axes[at].slots) > 1]
        codes = np.array([classes_of(axes[at], shown[axes[at].key.name]) for at in used], np.int64).reshape(len(used), len(own)).T
        patterns = np.unique(codes[own < 0], axis=0)
        for asked, pattern in enumerate(patterns):
            box = {at: 1 << int(code) for at, code in zip(used, pattern, strict=True) if code >= 0}
            fixed = pattern >= 0
            surely = (codes[:, fixed] == pattern[fixed]).all(axis=1)
            maybe = ((codes[:, fixed] == pattern[fixed]) | (codes[:, fixed] < 0)).all(axis=1)
            found = self._ask_blank(release, box, own, surely, maybe, few=asked < MOST_ASKED)
            if found is not None:
                yield found

    def _ask_blank(
        self, release: int, box: dict[int, int], own: Ints, surely: Flags, maybe: Flags, *, few: bool
    ) -> FullGroup | None:
        shown = np.bincount(own[surely & (own >= 0)], minlength=len(self.values))
        beside = int((maybe & ~surely & (own < 0)).sum())
        most = np.bincount(own[maybe & (own >= 0)], minlength=len(self.values)) + beside
        solver = self.search.solver
        world = self.search.world
        ruled_out: dict[int, Step | None] = {}
        seen = 0
        for at in range(len(self.values)):
            part = box | {self.place: 1 << at}
            group = self.cube.group(part)
            assert group is not None
            if self.cube.hi[group] <= shown[at]:
                ruled_out[at] = None
                continue
            if world is not None and world.count(part) > most[at]:
                seen += self.values[at]
            elif solver is not None and few and seen < self.least:
                cells = solver.rows.cells.inside(part)
                bound = solver.bound(cells, -1)
                if bound is not None and -bound[0] <= shown[at]:
                    ruled_out[at] = self.prover.keep(Step(part, "hi", int(shown[at]), bound[1]))
                    continue
                other = solver.world(solver.cost(cells, -1)) if len(solver.rows.cells) <= FEW_CELLS else None
                if other is not None and int(other[cells].sum()) > most[at]:
                    seen += self.values[at]
        left = [at for at in range(len(self.values)) if at not in ruled_out]
        if sum(self.values[at] for at in left) >= self.least or not left:
            self.search.undecided += seen < self.least
            return None
        named = tuple(sorted(value for at in left for value in self.sensitive.classes[at] if value))
        rows = int((surely & (own < 0)).sum())
        blanks = {"release": release, "rows": rows, "shown": int(shown[sorted(ruled_out)].sum())}
        proof = partial(self._prove_blank, box, ruled_out, blanks["shown"])
        return FullGroup(box, self.sensitive.key.name, named, lo=rows, hi=rows, proof=proof, blanks=blanks)

    def _prove_blank(self, box: dict[int, int], ruled_out: dict[int, Step | None], shown: int) -> Proof:
        if not ruled_out:
            return [], [], []
        parts = []
        for at, step in ruled_out.items():
            group = self.cube.group(box | {self.place: 1 << at})
            assert group is not None
            parts.append(self.prover.step(self.number, group, "hi") if step is None else step)
        mask = sum(1 << at for at in ruled_out)
        joined = Step(box | {self.place: mask}, "hi", shown, {("step", id(one)): _ONE for one in parts})
        return [], [], self.prover.order_steps([parts[0] if len(parts) == 1 else joined])


def write_out(code: str, case: JointCase, problem: Problem, found: FullGroup, index: int | None) -> Finding:
    """Return a finding with its proof; ``index`` numbers the only release."""
    event = found.event(problem)
    count = Bound(found.lo, found.hi)
    proofs = found.proof()
    names = ("least", "most", "others")
    claim = {"event": event.to_dict(), "at_least": found.lo, "at_most": found.hi}
    numbers = list(range(len(case.releases))) if index is None else [index]
    certificate: dict[str, Any] = {"format": "tacit.certificate/1", "claim": claim, "sensitive": found.column, "of": numbers}
    certificate |= {"people": case.people.to_text()} if index is None else {}
    if found.blanks is not None:
        certificate["blanks"] = found.blanks
    certificate |= {name: [step_record(problem, step) for step in proof] for name, proof in zip(names, proofs, strict=True)}
    used = [step for proof in proofs for step in proof]
    table = "" if found.blanks is None else case.name(found.blanks["release"])
    sentence = state_full_group(event.to_dict(), found.column, count, table)
    steps = explain_full_group(certificate, look_up_in(case, problem, used), table)
    because = citations_of(problem, used, numbers)
    return Finding(code, event, count, sentence, because=because, derivation=tuple(steps), certificate=certificate)
