"""The part of R03 about tables with blanks beside other releases: hidden sensitive values that what others print gives away.

Rows that show a value are among the people who have it. Where the other releases show that no more people of a combination have a value than
rows show it, none of the blanks there hides that value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.cube import Cube
from tacit.attacks.joint.full_group_words import Blanks, FullGroup
from tacit.attacks.joint.programs import MOST_ASKED
from tacit.attacks.joint.proofs import Prover, Step
from tacit.attacks.joint.row_lines import shown_columns
from tacit.attacks.joint.shown_rows import classes_of
from tacit.attacks.joint.solver import FEW_CELLS, Solver
from tacit.attacks.joint.world import World
from tacit.model.partial import PartialTable

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_ONE = Fraction(1)


@dataclass(eq=False)
class BlankValues:
    """The blanks of one sensitive column of one table, by the combinations that one cube tells apart.

    ``values`` holds how many values each class of the sensitive axis has, ``most`` what a cell of no bound has.
    """

    prover: Prover
    number: int
    release: int
    table: PartialTable
    place: int
    values: list[int]
    least: int
    solver: Solver | None
    world: World | None
    undecided: int = 0

    @property
    def cube(self) -> Cube:
        """The cube that is looked at."""
        return self.prover.cubes[self.number]

    def look(self) -> Iterator[FullGroup]:
        """The combinations whose blanks keep fewer than l values."""
        shown = {column.name: column for column in shown_columns(self.table)}
        axes = self.cube.problem.axes
        sensitive = axes[self.place]
        own = classes_of(sensitive, shown[sensitive.key.name])
        roles = set(self.table.people.schema.qi)
        used = [
            at
            for at in self.cube.chosen
            if axes[at].key.kind == "column" and axes[at].key.name in roles & shown.keys() and len(axes[at].slots) > 1
        ]
        codes = (
            np.stack([classes_of(axes[at], shown[axes[at].key.name]) for at in used], axis=1)
            if used
            else np.zeros((len(own), 0), np.int64)
        )
        patterns = np.unique(codes[own < 0], axis=0)
        for asked, pattern in enumerate(patterns):
            box = {at: 1 << int(code) for at, code in zip(used, pattern, strict=True) if code >= 0}
            fixed = pattern >= 0
            surely = (codes[:, fixed] == pattern[fixed]).all(axis=1)
            maybe = ((codes[:, fixed] == pattern[fixed]) | (codes[:, fixed] < 0)).all(axis=1)
            found = self._ask(box, own, surely, maybe, few=asked < MOST_ASKED)
            if found is not None:
                yield found

    def _ask(self, box: dict[int, int], own: Whole, surely: Flags, maybe: Flags, *, few: bool) -> FullGroup | None:
        """What is left to the blanks of one combination; None where that is enough."""
        shown = np.bincount(own[surely & (own >= 0)], minlength=len(self.values))
        beside = int((maybe & ~surely & (own < 0)).sum())
        most = np.bincount(own[maybe & (own >= 0)], minlength=len(self.values)) + beside
        ruled_out: dict[int, Step | None] = {}
        seen = 0
        for at in range(len(self.values)):
            part = box | {self.place: 1 << at}
            group = self.cube.group(part)
            assert group is not None
            if self.cube.hi[group] <= shown[at]:
                ruled_out[at] = None
                continue
            if self.world is not None and self.world.count(part) > most[at]:
                seen += self.values[at]
            elif self.solver is not None and few and seen < self.least:
                cells = self.solver.rows.cells.inside(part)
                bound = self.solver.bound(cells, -1)
                if bound is not None and -bound[0] <= shown[at]:
                    ruled_out[at] = self.prover.keep(Step(part, "hi", int(shown[at]), bound[1]))
                    continue
                world = self.solver.world(self.solver.cost(cells, -1)) if len(self.solver.rows.cells) <= FEW_CELLS else None
                if world is not None and int(world[cells].sum()) > most[at]:
                    seen += self.values[at]
        left = [at for at in range(len(self.values)) if at not in ruled_out]
        if sum(self.values[at] for at in left) >= self.least or not left:
            self.undecided += seen < self.least
            return None
        sensitive = self.cube.problem.axes[self.place]
        named = tuple(sorted(value for at in left for value in sensitive.classes[at] if value))
        rows = int((surely & (own < 0)).sum())
        others = int(shown[sorted(ruled_out)].sum()) if ruled_out else 0
        blanks = Blanks(self.release, rows, others)
        proof = partial(self._prove, box, ruled_out, shown)
        return FullGroup(box, self.place, sensitive.key.name, named, rows, rows, proof, blanks)

    def _prove(
        self, box: dict[int, int], ruled_out: dict[int, Step | None], shown: Whole
    ) -> tuple[list[Step], list[Step], list[Step]]:
        """Steps that show that no more people have the other values than rows show them."""
        if not ruled_out:
            return [], [], []
        parts = []
        for at, step in ruled_out.items():
            group = self.cube.group(box | {self.place: 1 << at})
            assert group is not None
            parts.append(self.prover.step(self.number, group, "hi") if step is None else step)
        mask = sum(1 << at for at in ruled_out)
        joined = Step(
            box | {self.place: mask}, "hi", int(shown[sorted(ruled_out)].sum()), {("step", id(one)): _ONE for one in parts}
        )
        return [], [], self.prover.in_order([parts[0] if len(parts) == 1 else joined])
