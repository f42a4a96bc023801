"""Axes, boxes of people, and linear constraints on sizes.

Columns and items are axes; a group of people is a box over them. A column whose values may have changed between two releases is an axis of
histories: JSON lists of the value before and the value after, null for every value that no release names. A third entry of such a list says
that two values, both unnamed, differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Ints
from tacit.model.finding import Change, ItemEvent, Side
from tacit.model.intervals import join_intervals
from tacit.model.numbers import Bound
from tacit.model.words import has_changed

HAS = "has"  #: Value of an item that is present.
MOST_SUBSETS = 5  #: Most classes of an axis of which every set may be a slot.
ANYTHING_ELSE = None  #: Stands for every value that no release names.


class Key(NamedTuple):
    """Axis: an item, a column or population membership."""

    kind: str
    name: str


MEMBER = Key("people", "")


class Allowed(NamedTuple):
    """Values of one axis: these, or all but these."""

    values: frozenset[str]
    excluded: bool = False


Box = Mapping[Key, Allowed]


def literal(key: Key, value: str) -> str:
    """Return a value as an item, such as ``sex=F`` or ``milk``."""
    return key.name if key.kind == "item" else f"{key.name}={value}"


def intersect(parts: Iterable[tuple[Key, Allowed]]) -> dict[Key, Allowed] | None:
    """Return the intersection of all parts, or None if empty."""
    box: dict[Key, Allowed] = {}
    for key, allowed in parts:
        known = box.get(key)
        if known is None:
            box[key] = allowed
            continue
        if known.excluded and allowed.excluded:
            box[key] = Allowed(known.values | allowed.values, True)
            continue
        first, second = (known, allowed) if not known.excluded else (allowed, known)
        kept = first.values - second.values if second.excluded else first.values & second.values
        if not kept:
            return None
        box[key] = Allowed(kept)
    return box


@dataclass(frozen=True)
class Axis:
    """One axis: classes of values that no line distinguishes.

    ``slots`` are sets of classes as bits: first the single classes, last all of them, before these ``unions`` sets that no line names.
    ``sums`` says which slots are sums of others.
    """

    key: Key
    classes: tuple[tuple[str | None, ...], ...]
    slots: tuple[int, ...]
    sums: tuple[tuple[int, tuple[int, ...]], ...]
    unions: int = 0

    @classmethod
    def of(
        cls,
        key: Key,
        values: Sequence[str],
        is_open: bool,
        named: Iterable[Allowed],
        *,
        lacking: bool = True,
        unions: Iterable[Allowed] | None = (),
    ) -> Axis:
        """Return the axis of a column with these values.

        An open column has other values too. With ``lacking``, to lack a single value is a slot as well. ``unions`` are further sets of
        values, each with its rest; None means every set, if classes are few.
        """
        universe: list[str | None] = [*values, *([ANYTHING_ELSE] if is_open else [])]
        distinct = sorted(set(named), key=lambda one: (one.excluded, sorted(one.values)))
        classes: dict[tuple[bool, ...], list[str | None]] = {}
        for value in universe:
            classes.setdefault(tuple(_allows(one, value) for one in distinct), []).append(value)
        signatures = list(classes)
        flags = zip(*signatures, strict=True)
        masks = {sum(1 << place for place, is_allowed in enumerate(allowed) if is_allowed) for allowed in flags}
        everything = (1 << len(signatures)) - 1
        single = [1 << place for place in range(len(signatures))]
        rests = {everything ^ mask for mask in masks if lacking or mask.bit_count() > 1}
        groups = sorted((masks | rests) - set(single) - {0, everything})
        only = key.kind == "column" and len(universe) == 1 and not is_open  # everybody has it, and that needs a slot of its own
        found = cls(key, tuple(tuple(part) for part in classes.values()), (everything,), ())
        if len(single) == 1 and not only:
            return found
        if unions is None:
            more = set(range(everything)) if len(single) <= MOST_SUBSETS else set()
        else:
            more = {mask ^ rest for mask in map(found.mask, unions) for rest in (0, everything)}
        added = sorted(more - {0, everything, *single, *groups})
        slots = (*single, *groups, *added, everything)
        return replace(found, slots=slots, sums=_sums(slots, len(single)), unions=len(added))

    @cached_property
    def slot_of(self) -> dict[int, int]:
        """Slots by their set of classes."""
        return {mask: place for place, mask in enumerate(self.slots)}

    @property
    def everything(self) -> int:
        """Slot that allows every class."""
        return len(self.slots) - 1

    def mask(self, allowed: Allowed) -> int:
        """Return the allowed classes as bits."""
        known = self._masks.get(allowed)
        if known is None:
            known = sum(1 << place for place, values in enumerate(self.classes) if _allows(allowed, values[0]))
            self._masks[allowed] = known
        return known

    def class_of(self, value: str | None) -> int | None:
        """Return the class of a value, or None if the axis has no place for it."""
        place = {one: number for number, values in enumerate(self.classes) for one in values}
        return place.get(value, place.get(ANYTHING_ELSE))

    @cached_property
    def _masks(self) -> dict[Allowed, int]:
        """Masks that were asked for."""
        return {}

    @cached_property
    def _words(self) -> dict[int, Side | None]:
        """Descriptions of slots that were asked for."""
        return {}

    def split(self, mask: int) -> tuple[list[str | None], list[str | None]]:
        """Return the values inside and outside some classes."""
        inside = [value for place, values in enumerate(self.classes) if mask >> place & 1 for value in values]
        return inside, [value for place, values in enumerate(self.classes) if not mask >> place & 1 for value in values]

    def allowed(self, mask: int) -> Allowed:
        """Return the values of some classes, or all but these."""
        inside, outside = self.split(mask)
        excluded = ANYTHING_ELSE in inside
        return Allowed(frozenset(value for value in (outside if excluded else inside) if value is not None), excluded)

    def named(self, slot: int) -> frozenset[str]:
        """Return the values of a slot that releases name."""
        return frozenset(value for value in self.split(self.slots[slot])[0] if value is not None)

    def literals(self, slot: int) -> Side | None:
        """Return a slot as present and absent items, or None."""
        if slot not in self._words:
            self._words[slot] = self._describe(slot)
        return self._words[slot]

    def _describe(self, slot: int) -> Side | None:
        if slot == self.everything:
            return (), ()
        if self.key.kind in HISTORY_KINDS:
            return None if self.change(slot) is None else ((), ())
        inside, outside = self.split(self.slots[slot])
        joined = join_intervals([value or "" for value in inside]) if self.key.kind == "column" and len(inside) > 1 else None
        return _describe_values(self.key, inside, outside) if joined is None else ((literal(self.key, joined),), ())

    def change(self, slot: int) -> Change | None:
        """Return the change of a slot of histories, or None."""
        kind, name = self.key
        if kind not in HISTORY_KINDS or slot == self.everything:
            return None
        every = self.named(self.everything)
        inside = self.named(slot)
        if inside == frozenset(filter(has_changed, every)):
            return Change(name)
        read = {one: json.loads(one) for one in every}
        halves = [{read[one][half] for one in inside} for half in (0, 1)]
        if inside != {one for one in every if read[one][0] in halves[0] and read[one][1] in halves[1]}:
            return None
        key = Key("item" if kind == HISTORY_KIND["item"] else "column", name)
        sides: list[Side | None] = []
        for place, half in enumerate(halves):
            others = {values[place] for values in read.values()} - half
            sides.append(_describe_values(key, sorted(half, key=str), sorted(others, key=str)) if others else ((), ()))
        before, after = sides
        return None if before is None or after is None else Change(name, before, after)

    def has_changed(self, slot: int) -> bool:
        """Tell if everybody in a slot has changed value."""
        return self.key.kind in HISTORY_KINDS and slot != self.everything and all(map(has_changed, self.named(slot)))


def _describe_values(key: Key, inside: Sequence[str | None], outside: Sequence[str | None]) -> Side | None:
    """Return values as present and absent items, or None if neither names them all."""
    if len(inside) == 1 and inside[0] is not None:
        return (literal(key, inside[0]),), ()
    if ANYTHING_ELSE in outside:
        return None
    return (), tuple(literal(key, value) for value in outside if value is not None)


def _allows(allowed: Allowed, value: str | None) -> bool:
    return (value in allowed.values) != allowed.excluded


def _sums(slots: Sequence[int], singles: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    place = {mask: number for number, mask in enumerate(slots)}
    everything = len(slots) - 1
    sums = []
    for mask in slots[singles:] if len(slots) > 1 else ():
        sums.append((place[mask], tuple(bit for bit in range(singles) if mask >> bit & 1)))
        rest = slots[-1] ^ mask
        if rest in place and (rest.bit_count() == 1 or mask < rest):
            sums.append((everything, (place[mask], place[rest])))
    return tuple(sums)


#: Kind of an axis of histories, by the kind of the axis whose values may have changed.
HISTORY_KIND = {"column": "change", "item": "item_change"}
HISTORY_KINDS = frozenset(HISTORY_KIND.values())


#: Populations that people of a slot of the axis ``MEMBER`` belong to, and populations that they do not belong to.
Membership = tuple[tuple[int, ...], tuple[int, ...]]


def item_event(axes: Sequence[Axis], slots: Sequence[int], members: Mapping[frozenset[str], Membership]) -> ItemEvent | None:
    """Return a group as an event over items, or None."""
    present: list[str] = []
    absent: list[str] = []
    changes: list[Change] = []
    inside, outside = members.get(frozenset(), ((), ()))
    for axis, slot in zip(axes, slots, strict=True):
        if axis.key == MEMBER:
            values = axis.named(slot)
            if values not in members:
                return None
            inside, outside = members[values]
            continue
        words = axis.literals(slot)
        if words is None:
            return None
        present += words[0]
        absent += words[1]
        change = axis.change(slot)
        changes += [] if change is None else [change]
    return ItemEvent(tuple(present), tuple(absent), inside=inside, outside=outside, changes=tuple(changes))


MOST_GROUPS = 100_000  #: Most groups of one cube.
DECLARED = ("left", "joined", "changed")  #: Statements that are declared about populations, not printed in a release.


@dataclass(frozen=True, slots=True)
class Origin:
    """Source of a statement: release, place, number and items.

    A missing rule rests on a line, ``given``, that bounds its antecedent. ``text`` is the printed text if it is not a count.
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
        """Tell if it states only population sizes or declarations."""
        return self.what == "n" or self.what in DECLARED

    def to_dict(self) -> dict[str, object]:
        """Return the origin as in a certificate."""
        out: dict[str, object] = {"release": self.release, "line" if isinstance(self.place, int) else "cell": self.place}
        out["what"] = self.what
        out |= {"items": list(self.items)} if self.items else {}
        return out | ({"given": self.given.to_dict()} if self.given is not None else {})


@dataclass(frozen=True, slots=True)
class Line:
    """Constraint ``lo <= sum of coefficient * people in box <= hi``; None is open."""

    terms: tuple[tuple[int, Box], ...]
    lo: int | None
    hi: int | None
    origin: Origin

    @classmethod
    def about(cls, box: Box, lo: int | None, hi: int | None, origin: Origin) -> Line:
        """Return a bound on the people of one box."""
        return cls(((1, box),), lo, hi, origin)


#: Number of people, or fractions of people, with each class on some axes, in the order of these.
Tally = Callable[[Sequence[int]], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Choice:
    """Disjunction of two statements; with ``first``, ``fewer`` is nearer to being true."""

    fewer: Line
    more: Line | None
    first: bool = True

    @property
    def nearer(self) -> Line:
        """Statement that is nearer to being true."""
        return self.fewer if self.first or self.more is None else self.more


class Condition(Protocol):
    """Disjunction of two linear constraints."""

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Tell if these axes decide whether it holds."""

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield the choices that the tallied people violate.

        With ``room``, also those that could become so when that many people change.
        """


@dataclass(frozen=True, eq=False)
class Problem:
    """All statements of all releases over common axes.

    ``everybody`` are lines whose boxes together hold each person, empty if they are not known. ``left_out`` counts lists with too many
    missing sets to look at. ``cells`` are cells of frequency tables over many columns, each a question of its own. ``by_row`` are the
    releases that show people row by row, so that what one of them reveals alone is not a finding. ``conditions`` are what lines cannot state.
    ``lacking`` are the axes with slots for people who lack a single value, which may be too many for one cube. If it ``has_unions``, there are
    slots for all values that lines count together.
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
    has_unions: bool = True

    @cached_property
    def decides_conditions(self) -> bool:
        """True if all axes decide all conditions."""
        return all(condition.is_decidable(self.axes) for condition in self.conditions)

    def choices(self, tally: Tally, room: float = 0) -> Iterator[Choice]:
        """Yield the violated choices, within ``room`` people."""
        return (choice for condition in self.conditions for choice in condition.choices(self.axes, tally, room))

    def tally(self, kinds: Ints) -> Tally:
        """Tally people given by their class on every axis."""

        def count(places: Sequence[int]) -> Ints:
            shape = [len(self.axes[place].classes) for place in places]
            cells = np.zeros(len(kinds), np.int64)
            for place, size in zip(places, shape, strict=True):
                cells = cells * size + kinds[:, place]
            return np.bincount(cells, minlength=prod(shape)).reshape(shape)

        return count

    def holds(self, kinds: Ints) -> bool:
        """Tell if people with these classes provably meet all conditions."""
        return not self.conditions or (self.decides_conditions and next(self.choices(self.tally(kinds)), None) is None)

    def narrow(self, kinds: Ints, room: int) -> Problem:
        """Return the problem with lines instead of conditions.

        The lines are true of these people, and of all who differ from them in at most ``room`` people.
        """
        if not self.conditions:
            return self
        lines = (choice.nearer for choice in self.choices(self.tally(kinds), room))
        return replace(self, lines=(*self.lines, *lines), conditions=())

    @cached_property
    def boxes(self) -> tuple[tuple[tuple[int, dict[int, int]], ...], ...]:
        """Terms of every line, with classes by axis."""
        return tuple(tuple((factor, self.masks(box)) for factor, box in line.terms) for line in self.lines)

    @cached_property
    def _lines_from(self) -> dict[int, list[int]]:
        """Lines by the first axis that they name, -1 if they name none."""
        found: dict[int, list[int]] = {}
        for number, terms in enumerate(self.boxes):
            found.setdefault(min((axis for _, masks in terms for axis in masks), default=-1), []).append(number)
        return found

    def lines_on(self, chosen: Iterable[int]) -> list[int]:
        """Return the lines, in order, whose first axis is one of these."""
        return sorted(chain.from_iterable(self._lines_from.get(axis, ()) for axis in (-1, *chosen)))

    @cached_property
    def rests(self) -> list[list[dict[int, int]]]:
        """Constraints that the lines of an axis put on the other axes."""
        found: list[dict[tuple[tuple[int, int], ...], None]] = [{} for _ in self.axes]
        for terms in self.boxes:
            for _, masks in terms:
                for axis in masks:
                    others = tuple(sorted((place, mask) for place, mask in masks.items() if place != axis))
                    if others:
                        found[axis][others] = None
        return [[dict(others) for others in one] for one in found]

    @cached_property
    def is_rigid(self) -> bool:
        """True if people whom lines treat alike on one axis are the same on all others, so that exchanges change no count.

        Only problems of two axes are looked at.
        """
        if len(self.axes) != 2:
            return False
        for axis, rests in enumerate(self.rests):
            other = 1 - axis
            treated = [tuple(rest[other] >> one & 1 for rest in rests) for one in range(len(self.axes[other].classes))]
            if len(set(treated)) < len(treated):
                return False
        return True

    def masks(self, box: Box) -> dict[int, int]:
        """Return the classes that a box allows, by axis."""
        return {self.place[key]: self.axes[self.place[key]].mask(allowed) for key, allowed in box.items()}


def count_groups(axes: Iterable[Axis]) -> int:
    """Return the number of groups over these axes."""
    return prod(len(axis.slots) for axis in axes)
