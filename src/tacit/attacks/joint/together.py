"""X01 joint-releases: groups of fewer than k people that several releases give away together.

Infers
    Every line of every release is a bound on how many people are in a group; which release somebody is in is one more column. Groups are sums
    of their parts along every column, which tightens all bounds until nothing moves. What is left is asked of linear programs: a world that
    fits all lines settles many questions at once, and weights on the lines prove the rest.
Assumes
    That the people hang together as ``--people`` declares: the same in all releases, nested, or with so many who left and joined. That items and
    columns of the same name mean the same, and that printed numbers were rounded as the headers or ``--rounding`` say.
Claim
    Proves.
Cost
    The product of the numbers of values of all columns; above 100,000 groups it looks at several columns at a time. Programs are solved up to
    5,000 kinds of people. Questions that stay open are counted.
Example
    One release says that 20 people have x and y, another one that 19 have x, y and z: 1 person has x and y but not z.
Reference
    Ours; after Dobra and Fienberg, Bounds for cell entries in contingency tables, PNAS 2000, and Buzzigoli and Giusti 1999.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.attacks.base import Target
from tacit.attacks.joint.boxes import MEMBER, item_event
from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.cube import Cube
from tacit.attacks.joint.known_people import with_values
from tacit.attacks.joint.lines import Problem
from tacit.attacks.joint.lowering import lower
from tacit.attacks.joint.programs import MOST_CELLS, MOST_ENTRIES, Programs, cells_of, inside
from tacit.attacks.joint.proofs import Prover, Step
from tacit.attacks.joint.windows import windows
from tacit.attacks.joint.words import CODE, Found, refuse_clash, write_out
from tacit.errors import LimitReached
from tacit.model.audit import AttackRun, Status
from tacit.model.event import ItemEvent
from tacit.model.people import Unknown

__all__ = ["CODE", "NAME", "run"]

NAME = "joint-releases"
#: The longest descriptions that are looked at, in items; people who left or joined are described as fully as they can be.
MOST_LITERALS = 3
#: Questions that programs are asked at most, as cells times questions.
MOST_QUESTIONS = 20_000_000

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]


def run(target: Target) -> AttackRun:
    """All groups of fewer than k people that the releases of the case tell together."""
    case = target.together
    assert case is not None
    if isinstance(case.people, Unknown) and len(case.names) == len(case.releases):
        reason = "nothing is declared about who is in which release, so that nothing follows from them together"
        return AttackRun(CODE, NAME, "proves", "not-relevant", reason)
    problem = lower(case.releases, case.people, case.population)
    search = _Search(case, problem, target)
    status: Status = "ran"
    try:
        search.look()
    except LimitReached:
        status = "stopped"
        search.reasons.insert(0, "the time limit was reached; findings so far are kept")
    return with_values(search.outcome(status), target)


@dataclass(eq=False)
class _Search:
    """What was found so far, by event."""

    case: JointCase
    problem: Problem
    target: Target
    found: dict[object, Found] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    undecided: int = 0
    open: set[ItemEvent] = field(default_factory=set)

    def look(self) -> None:
        """Tighten bounds window by window, then ask programs what is open."""
        chosen, skipped = windows(self.problem)
        if skipped or self.problem.left_out:
            self.undecided += skipped + self.problem.left_out
            self.reasons.append("not every line or missing line could be taken in")
        for number, axes in enumerate(chosen):
            cube = Cube(self.problem, axes)
            cube.tighten(range(len(self.problem.lines)), self._check)
            if cube.clash >= 0:
                refuse_clash(self.case, self.problem, _both_ends(Prover(cube), cube.clash))
            groups = _Groups.of(cube, self.target.policy.k)
            self._keep(cube, groups)
            self.target.progress((number + 1) / (len(chosen) + 1))
            self._settle(cube, groups, whole=len(chosen) == 1)

    def _check(self) -> None:
        self.target.limits.check(CODE)

    def _keep(self, cube: Cube, groups: _Groups) -> None:
        """Write down the small groups of a cube, each in the fewest words."""
        alone = self._alone(cube)
        prover = Prover(cube)
        for group in np.flatnonzero(groups.small & groups.told()).tolist():
            event = item_event(cube.axes, cube.slots(group), self.problem.members)
            known = self.found.get(event)
            lo, hi = int(cube.lo[group]), int(cube.hi[group])
            if event is not None and (known is None or hi - lo < known.hi - known.lo):
                self.found[event] = Found(event, lo, hi, not alone[group], cube, group, prover)

    def _alone(self, cube: Cube) -> Flags:
        """Which groups of the cube one release tells by itself."""
        alone = np.zeros(len(cube.lo), np.bool_)
        for number in range(len(self.case.releases)):
            single = Cube(self.problem, cube.chosen)
            lines = self.problem.lines
            own = [
                place
                for place, line in enumerate(lines)
                if line.origin.release == number and line.origin.what not in ("left", "joined")
            ]
            single.tighten(own, self._check)
            alone |= (single.lo > 0) & (single.hi < self.target.policy.k)
        return alone

    def _settle(self, cube: Cube, groups: _Groups, *, whole: bool) -> None:
        """Ask programs about the groups that bounds left open."""
        open_groups = np.flatnonzero(groups.asked & ~groups.small & (cube.hi > 0) & (cube.lo < self.target.policy.k))
        cells = cells_of(self.problem.axes)
        fits = cells <= MOST_CELLS and cells * max(len(self.problem.lines), 1) <= MOST_ENTRIES
        most = MOST_QUESTIONS // max(cells, 1)
        if not whole or not fits:
            events = (item_event(cube.axes, cube.slots(group), self.problem.members) for group in open_groups.tolist())
            self.open.update(event for event in events if event is not None)
            return
        asked = open_groups[np.argsort(groups.literals[open_groups], kind="stable")][:most]
        self.undecided += len(open_groups)
        programs = Programs(self.problem, self.target.limits)
        axes = cube.axes
        masks = [[axis.slots[slot] for axis, slot in zip(axes, cube.slots(group), strict=True)] for group in asked.tolist()]
        settled = programs.settle([inside(axes, one) for one in masks], self.target.policy.k, lambda _: None)
        if settled.clash:
            weights = {("line", number): Fraction(1) for number in settled.clash}
            refuse_clash(self.case, self.problem, [Step(0, "lo", 0, weights)])
        for place, (lo, least, hi, most_weights) in sorted(settled.proofs.items()):
            group = int(asked[place])
            event = item_event(axes, cube.slots(group), self.problem.members)
            if event is not None:
                steps = (
                    Step(group, "lo", lo, {("line", number): weight for number, weight in least.items()}),
                    Step(group, "hi", hi, {("line", number): weight for number, weight in most_weights.items()}),
                )
                needed = {self.problem.lines[number].origin.release for number in (*least, *most_weights)}
                self.found[event] = Found(event, lo, hi, len(needed) > 1, cube, group, None, steps)
        self.undecided -= int(settled.refuted.sum()) + len(settled.proofs)
        if self.undecided:
            self.reasons.append(f"{self.undecided:,} groups are neither proved nor refuted")

    def outcome(self, status: Status) -> AttackRun:
        """What became of the attack."""
        if still_open := len(self.open - set(self.found)):
            self.undecided += still_open
            self.reasons.append(f"{still_open:,} groups stay open, as there are too many kinds of people for a program")
        order = sorted(self.found.values(), key=lambda one: (one.hi, not one.together, one.size, one.lo, str(one.event)))
        sizes = np.array([one.size for one in order], np.int64)
        lo, hi = (np.array([getattr(one, end) for one in order], np.int64) for end in ("lo", "hi"))
        together = np.array([one.together for one in order], np.bool_)
        self.target.progress(1.0)
        return AttackRun(
            CODE,
            NAME,
            "proves",
            status,
            "; ".join(dict.fromkeys(self.reasons)),
            people=int(lo.max(initial=0)),
            undecided=self.undecided,
            columns={"items": sizes, "count": lo, "count_hi": hi, "together": together},
            severity=(hi << 16) | (np.minimum(sizes, 0x7FFF) + np.where(together, 0, 0x8000)),
            event=lambda index: order[index].event,
            show=lambda index: write_out(self.case, self.problem, order[index]),
        )


def _both_ends(prover: Prover, group: int) -> list[Step]:
    return [*prover.prove(group, "lo"), *prover.prove(group, "hi")]


@dataclass(eq=False)
class _Groups:
    """The groups of a cube: which are small, which are described by few items, which are about people who left or joined."""

    cube: Cube
    small: Flags
    asked: Flags
    moved: Flags
    literals: Whole

    @classmethod
    def of(cls, cube: Cube, k: int) -> _Groups:
        """The groups of a cube that can be told in items."""
        problem = cube.problem
        size = len(cube.lo)
        literals, told, moved = np.zeros(size, np.int64), np.ones(size, np.bool_), np.zeros(size, np.bool_)
        grid = np.unravel_index(np.arange(size), cube.shape) if cube.shape else ()
        for position, axis in enumerate(cube.axes):
            slots = grid[position]
            if axis.key == MEMBER:
                names = [axis.named(slot) for slot in range(len(axis.slots))]
                told &= np.array([name in problem.members for name in names])[slots]
                moved |= np.array([bool(problem.members.get(name, ((), ()))[1]) for name in names])[slots]
                continue
            told &= np.array([axis.words(slot) is not None for slot in range(len(axis.slots))])[slots]
            literals += slots != axis.everything
        some = told & ((literals > 0) | moved)
        asked = some & (literals <= MOST_LITERALS)
        small = some & (asked | moved) & (cube.lo > 0) & (cube.hi < k)
        return cls(cube, small, asked, moved, literals)

    def told(self) -> Flags:
        """Those to be told: the shortest descriptions of the same people, of people who left or joined the longest."""
        cube, kept = self.cube, self.small.copy()
        places = np.flatnonzero(self.small)
        exact = np.where(self.small & (cube.lo == cube.hi), cube.lo, -1)
        grid: Sequence[Whole] = np.unravel_index(places, cube.shape) if cube.shape else ()
        for axis, stride, slots in zip(cube.axes, cube.strides, grid, strict=True):
            if axis.key == MEMBER:
                continue
            wider = places + (axis.everything - slots) * stride
            says_more = (slots != axis.everything) & (exact[places] > 0) & (exact[wider] == exact[places])
            kept[places[says_more & ~self.moved[places]]] = False
            kept[wider[says_more & self.moved[places]]] = False
        return kept
