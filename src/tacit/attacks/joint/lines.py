"""What releases print, as bounds on weighted sums of numbers of people in boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import MEMBER, Axis, Box, Key, Membership
from tacit.model.bound import Bound

Whole = npt.NDArray[np.int64]

#: Groups of one cube at most.
MOST_GROUPS = 100_000
#: What is said of people when they are declared, and not in a release.
DECLARED = ("left", "joined", "changed")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a statement comes from: a line or a header entry of a release, which of its numbers, and for which items it stands.

    A missing rule rests on another line, ``given``, which says how many people have its antecedent. ``text`` is what stands there, where that
    is not the number of people itself.
    """

    release: int
    place: int | str
    what: str
    printed: Bound
    items: tuple[str, ...] = ()
    given: Origin | None = None
    text: str = ""

    @property
    def is_declared(self) -> bool:
        """Whether it says only how many people there are, or what somebody declares about them."""
        return self.what == "n" or self.what in DECLARED

    def to_dict(self) -> dict[str, object]:
        """The origin as in a certificate."""
        out: dict[str, object] = {"release": self.release, "line" if isinstance(self.place, int) else "cell": self.place}
        out["what"] = self.what
        out |= {"items": list(self.items)} if self.items else {}
        return out | ({"given": self.given.to_dict()} if self.given is not None else {})


@dataclass(frozen=True, slots=True)
class Line:
    """``lo <= sum of coefficient * people in box <= hi``; None where an end is open."""

    terms: tuple[tuple[int, Box], ...]
    lo: int | None
    hi: int | None
    origin: Origin


#: How many people, or fractions of them, have each class on some axes, in the order of these.
Tally = Callable[[Sequence[int]], npt.NDArray[Any]]


def tally_inside(scope: Box, axes: Sequence[Axis], tally: Tally, places: Sequence[int]) -> npt.NDArray[Any]:
    """The tally of the people of one release, whose place among all people is its scope."""
    if MEMBER not in scope:
        return tally(places)
    member = next(place for place, axis in enumerate(axes) if axis.key == MEMBER)
    inside = axes[member].mask(scope[MEMBER])
    kept = [bit for bit in range(len(axes[member].classes)) if inside >> bit & 1]
    return np.asarray(tally((member, *places))[kept].sum(axis=0))


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two statements is true, and both have the same origin; the other one is None where no line can say it.

    ``first`` says which of them is nearer to being true of the people who were looked at.
    """

    fewer: Line
    more: Line | None
    first: bool = True

    @property
    def origin(self) -> Origin:
        """Where it is said that one of them is true."""
        return self.fewer.origin

    @property
    def nearer(self) -> Line:
        """The statement that is nearer to being true."""
        return self.fewer if self.first or self.more is None else self.more


class Condition(Protocol):
    """Something that is true of people and no bound on a sum of groups: of pairs of statements one is true each."""

    def is_told(self, axes: Sequence[Axis]) -> bool:
        """Whether classes on these axes tell if it is true."""

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """The pairs of which neither statement is true of so many people on these axes, with as much room as so many changed people need."""


@dataclass(frozen=True, eq=False)
class Problem:
    """All statements of all releases over common axes.

    ``everybody`` are the lines whose boxes together hold each person once, empty where they are not known. ``left_out`` counts lists whose
    missing sets were too many to look at. ``cells`` are cells of frequency tables over many columns, each a question of its own; ``by_row``
    are the releases that show people row by row, so that what one of them tells alone is no finding.
    ``conditions`` are what no line says in full; ``lacking`` are the axes with those who lack a single value, which may be too wide together.
    """

    axes: tuple[Axis, ...]
    lines: tuple[Line, ...]
    everybody: tuple[int, ...]
    members: Mapping[frozenset[str], Membership]
    left_out: int = 0
    place: Mapping[Key, int] = field(default_factory=dict)
    cells: tuple[int, ...] = ()
    by_row: frozenset[int] = frozenset()
    conditions: tuple[Condition, ...] = ()
    lacking: tuple[Axis, ...] = ()

    def with_lacking(self) -> Problem | None:
        """The same over axes that name those who lack a single value as well; None where these do."""
        return None if self.lacking in ((), self.axes) else replace(self, axes=self.lacking)

    @cached_property
    def tells_conditions(self) -> bool:
        """Whether classes on all axes tell if all conditions hold."""
        return all(condition.is_told(self.axes) for condition in self.conditions)

    def choices(self, tally: Tally, room: float = 0) -> Iterator[Choice]:
        """Pairs of statements of which one should be true and neither is, with so much room; none where conditions hold."""
        return (choice for condition in self.conditions for choice in condition.choices(self.axes, tally, room))

    def tally(self, kinds: Whole) -> Tally:
        """How many of these people, given by their class on every axis, have each class on some axes."""

        def counted(places: Sequence[int]) -> Whole:
            shape = [len(self.axes[place].classes) for place in places]
            cells = np.zeros(len(kinds), np.int64)
            for place, size in zip(places, shape, strict=True):
                cells = cells * size + kinds[:, place]
            return np.bincount(cells, minlength=prod(shape)).reshape(shape)

        return counted

    def holds(self, kinds: Whole) -> bool:
        """Whether people of these classes on every axis meet what is no bound on a sum of groups; False where that cannot be told."""
        return not self.conditions or (self.tells_conditions and next(self.choices(self.tally(kinds)), None) is None)

    def narrowed(self, kinds: Whole, room: int) -> Problem:
        """The problem with lines in place of its conditions, true of these people and of all who differ from them in at most so many people."""
        lines = tuple(choice.nearer for choice in self.choices(self.tally(kinds), room)) if self.conditions else ()
        return replace(self, lines=(*self.lines, *lines), conditions=()) if self.conditions else self

    @cached_property
    def boxes(self) -> tuple[tuple[tuple[int, dict[int, int]], ...], ...]:
        """The terms of every line, their boxes as classes by axis."""
        return tuple(tuple((factor, self.masks(box)) for factor, box in line.terms) for line in self.lines)

    @cached_property
    def _beside(self) -> dict[int, dict[tuple[tuple[int, int], ...], None]]:
        found: dict[int, dict[tuple[tuple[int, int], ...], None]] = {place: {} for place in range(len(self.axes))}
        for terms in self.boxes:
            for _, masks in terms:
                for axis in masks:
                    others = tuple(sorted((place, mask) for place, mask in masks.items() if place != axis))
                    if others:
                        found[axis][others] = None
        return found

    def beside(self, axis: int) -> Iterator[dict[int, int]]:
        """What lines that name an axis say on the other axes, each once."""
        return (dict(others) for others in self._beside[axis])

    def masks(self, box: Box) -> dict[int, int]:
        """The classes that a box allows, by axis."""
        return {self.place[key]: self.axes[self.place[key]].mask(allowed) for key, allowed in box.items()}


def groups_of(axes: Iterable[Axis]) -> int:
    """How many groups a cube over these axes holds."""
    return prod(len(axis.slots) for axis in axes)
