"""Lines that cannot all be true: as few of them as clash, named file by file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tacit.attacks.joint.case import JointCase
from tacit.attacks.joint.cube import Cube
from tacit.attacks.joint.lines import MOST_GROUPS, Problem, groups_of
from tacit.attacks.joint.programs import MOST_CELLS
from tacit.attacks.joint.proofs import Step
from tacit.attacks.joint.rows import Rows, cells_of
from tacit.attacks.joint.solver import Solver
from tacit.attacks.joint.words import lines_of
from tacit.errors import Contradiction, numbered
from tacit.model.policy import Limits

#: Lines times classes that are looked at until lines stay that could perhaps be left out.
MOST_WORK = 1_000_000


def smallest_clash(problem: Problem, lines: Sequence[int], limits: Limits) -> list[int]:
    """Lines among these that clash, and none of which can be left out, as far as that can be shown with little work.

    Half of them are left out first, then a quarter, at last each by itself.
    """
    kept = list(lines)
    part, work = len(kept), 0
    while part > 1:
        part = (part + 1) // 2
        start = 0
        while start < len(kept) and work < MOST_WORK:
            fewer = kept[:start] + kept[start + part :]
            work += len(fewer) * max((len(axis.classes) for axis in problem.axes), default=1)
            if clashes(problem, fewer, limits):
                kept = fewer
            else:
                start += part
    return kept


def clashes(problem: Problem, lines: Sequence[int], limits: Limits) -> bool:
    """Whether it is proved that nobody fits these lines: by sums along columns, or by weights."""
    chosen = tuple(sorted({axis for line in lines for _, masks in problem.boxes[line] for axis in masks}))
    axes = [problem.axes[place] for place in chosen]
    if groups_of(axes) <= MOST_GROUPS:
        cube = Cube(problem, chosen)
        cube.tighten(lines, lambda: limits.check("X01"))
        if cube.clash >= 0:
            return True
    if cells_of(axes) > MOST_CELLS:
        return False
    return bool(Solver(Rows.of(problem, chosen, lines=lines), limits).clash())


def refuse_clash(case: JointCase, problem: Problem, steps: Sequence[Step], limits: Limits) -> NoReturn:
    """Raise a contradiction that names the lines behind it, as few as clash, file by file."""
    places: dict[int, set[int]] = {}
    for number in smallest_clash(problem, lines_of(steps), limits):
        origin = problem.lines[number].origin
        lines = places.setdefault(origin.release, set())
        if isinstance(origin.place, int):
            lines.add(origin.place)
    where = "; ".join(
        f"{case.name(release)}, {numbered(sorted(lines))}" if lines else case.name(release)
        for release, lines in sorted(places.items())
    )
    raise Contradiction(
        "no people fit all that is printed there: the numbers cannot all be true of people as declared",
        where=where,
        remedy="Declare how the people hang together (--people), check the lines and n, or say how numbers were printed (--rounding)",
        lines=[line for lines in places.values() for line in sorted(lines)] if len(places) == 1 else (),
    )
