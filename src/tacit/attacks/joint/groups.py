"""The groups of a cube: which are small, which questions are asked about, and which of them are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import MEMBER
from tacit.attacks.joint.cube import Cube, Whole
from tacit.attacks.joint.lines import Problem

Flags = npt.NDArray[np.bool_]

#: The longest descriptions that questions are asked about, in items; people who left or joined are described as fully as they can be.
MOST_LITERALS = 3
#: A cube of all columns with at most so many groups is asked about every one of them, however long its description.
ASKED_WHOLE = 5_000
#: Longer descriptions that bounds show to be small are listed as well, the smallest groups first, up to this number.
MOST_LONGER = 5_000


@dataclass(eq=False)
class Groups:
    """The groups of a cube: which are small, which are asked about, which are about people who left or joined.

    ``unlisted`` counts small groups of long descriptions that are not listed because there are so many.
    """

    cube: Cube
    small: Flags
    asked: Flags
    moved: Flags
    literals: Whole
    unlisted: int = 0

    @classmethod
    def of(cls, cube: Cube, k: int) -> Groups:
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
            moved |= np.array([axis.has_changed(slot) for slot in range(len(axis.slots))])[slots]
            literals += slots != axis.everything
        some = told & ((literals > 0) | moved)
        is_whole = len(cube.chosen) == len(problem.axes) and size <= ASKED_WHOLE
        asked = some if is_whole else some & (literals <= MOST_LITERALS)
        for line in problem.cells:
            (_, masks), *_ = problem.boxes[line]
            if (cell := cube.group(masks)) is not None:
                asked[cell] = some[cell]  # every cell of a frequency table is a question, of however many columns
        small = some & (cube.lo > 0) & (cube.hi < k)
        longer = np.flatnonzero(small & ~asked & ~moved)
        worst = longer[np.lexsort((literals[longer], cube.hi[longer]))]
        small[worst[MOST_LONGER:]] = False
        return cls(cube, small, asked, moved, literals, max(0, len(longer) - MOST_LONGER))

    def keep_only_lacking(self, problem: Problem) -> None:
        """Leave out the groups that the axes of a problem with fewer slots name as well."""
        fresh = np.zeros(len(self.small), np.bool_)
        grid = np.unravel_index(np.arange(len(self.small)), self.cube.shape) if self.cube.shape else ()
        for place, axis, slots in zip(self.cube.chosen, self.cube.axes, grid, strict=True):
            fresh |= np.array([mask not in problem.axes[place].slot_of for mask in axis.slots])[slots]
        self.small &= fresh
        self.asked &= fresh

    def told(self) -> Flags:
        """Those to be told: the shortest descriptions of the same people, of people who left or joined the longest."""
        cube, kept = self.cube, self.small.copy()
        places = np.flatnonzero(self.small)
        exact = np.where(self.small & (cube.lo == cube.hi), cube.lo, -1)
        grid: Sequence[Whole] = np.unravel_index(places, cube.shape) if cube.shape else ()
        for axis, stride, slots in zip(cube.axes, cube.strides, grid, strict=True):
            if axis.key == MEMBER:
                continue
            any_change = [slot for slot in range(len(axis.slots)) if (change := axis.change(slot)) is not None and change.is_any]
            for general in (axis.everything, *any_change):
                narrower = (slots != axis.everything) & (slots != general)
                if general != axis.everything:
                    narrower &= np.array([axis.has_changed(slot) for slot in range(len(axis.slots))])[slots]
                wider = places + (general - slots) * stride
                says_more = narrower & (exact[places] > 0) & (exact[wider] == exact[places])
                kept[places[says_more & ~self.moved[places]]] = False
                kept[wider[says_more & self.moved[places]]] = False
        return kept
