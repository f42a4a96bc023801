"""What releases print, as bounds on weighted sums of numbers of people in boxes.

Histories of a column whose values may have changed: what somebody had in one release and what she has in the next.

A history is written as a JSON list of two values; null stands for every value that no release names. Of somebody who has such values twice, a
third entry says that they are not the same.

The words that several releases share: columns and items as axes, groups of people as boxes over them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.model.arrays import Ints
from tacit.model.event import Change, ItemEvent, Side
from tacit.model.numbers import Bound
from tacit.model.words import differs

#: The kinds of an axis of histories, by the kind of the axis whose values may have changed.
OF_KIND = {"column": "change", "item": "item_change"}
KINDS = frozenset(OF_KIND.values())


def all_histories(kind: str, values: Sequence[str], is_open: bool) -> list[str]:
    """Every history of a column with these values, and others besides where it is open.

    >>> all_histories("item", ["has"], True)
    ['["has", "has"]', '["has", null]', '[null, "has"]', '[null, null]']
    """
    found: list[tuple[str | None, ...]] = list(product([*values, *([None] if is_open else [])], repeat=2))
    if is_open and kind != "item":
        found.append((None, None, "changed"))
    return [json.dumps(history, ensure_ascii=False) for history in found]


def with_value(histories: Collection[str], half: int, values: Collection[str], excluded: bool) -> frozenset[str]:
    """The histories whose first or second half is one of these values, or none of them."""
    return frozenset(one for one in histories if (json.loads(one)[half] in values) != excluded)


def change_of(kind: str, name: str, every: Collection[str], inside: frozenset[str]) -> Change | None:
    """Some of all histories as a change that can be told; None where it cannot.

    >>> every = all_histories("column", ["no", "yes"], False)
    >>> change_of("change", "smokes", every, frozenset(['["no", "yes"]']))
    Change(name='smokes', before=(('smokes=no',), ()), after=(('smokes=yes',), ()))
    """
    if inside == frozenset(filter(differs, every)):
        return Change(name)
    read = {one: json.loads(one) for one in every}
    halves = [{read[one][half] for one in inside} for half in (0, 1)]
    if inside != {one for one in every if read[one][0] in halves[0] and read[one][1] in halves[1]}:
        return None
    before, after = (_told(kind, name, half, {values[place] for values in read.values()}) for place, half in enumerate(halves))
    return None if before is None or after is None else Change(name, before, after)


def _told(kind: str, name: str, half: set[str | None], every: set[str | None]) -> Side | None:
    """Half of a history as what somebody has and lacks; None where that cannot be said."""
    if half == every:
        return (), ()
    if len(half) == 1 and None not in half:
        return tuple(_literal(kind, name, value) for value in half if value is not None), ()
    outside = every - half
    if None in outside:
        return None
    return (), tuple(sorted(_literal(kind, name, value) for value in outside if value is not None))


def _literal(kind: str, name: str, value: str) -> str:
    return name if kind == OF_KIND["item"] else f"{name}={value}"


#: The value of somebody who has an item.
HAS = "has"
#: Stands for every value that no release names.
ANYTHING_ELSE = None


class Key(NamedTuple):
    """An axis: an item that somebody has or lacks, a column with values, or which releases somebody is in."""

    kind: str
    name: str


MEMBER = Key("people", "")


class Allowed(NamedTuple):
    """Values of one axis: these, or all but these."""

    values: frozenset[str]
    excluded: bool = False


Box = Mapping[Key, Allowed]


def literal(key: Key, value: str) -> str:
    """How a value is written as an item.

    >>> literal(Key("column", "sex"), "F"), literal(Key("item", "milk"), HAS)
    ('sex=F', 'milk')
    """
    return key.name if key.kind == "item" else f"{key.name}={value}"


def intersection(parts: Iterable[tuple[Key, Allowed]]) -> dict[Key, Allowed] | None:
    """The box of people whom all parts allow; None when a column would need two values at once."""
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
    """One axis: classes of values that no line tells apart, and the sets of classes (``slots``, bits) that lines or questions name.

    The first slots are the single classes, the last is all of them. Each entry of ``sums`` says that a slot is the sum of others.
    """

    key: Key
    classes: tuple[tuple[str | None, ...], ...]
    slots: tuple[int, ...]
    sums: tuple[tuple[int, tuple[int, ...]], ...]

    @classmethod
    def of(cls, key: Key, values: Sequence[str], is_open: bool, named: Iterable[Allowed], *, lacking: bool = True) -> Axis:
        """The axis of a column with these values, and others besides where it is open, that lines speak of in these ways.

        With ``lacking``, to lack a single value is a slot as well.
        """
        universe: list[str | None] = [*values, *([ANYTHING_ELSE] if is_open else [])]
        told = sorted(set(named), key=lambda one: (one.excluded, sorted(one.values)))
        classes: dict[tuple[bool, ...], list[str | None]] = {}
        for value in universe:
            classes.setdefault(tuple(_allows(one, value) for one in told), []).append(value)
        signatures = list(classes)
        masks = {
            sum(1 << place for place, signature in enumerate(signatures) if signature[number]) for number in range(len(told))
        }
        everything = (1 << len(signatures)) - 1
        single = [1 << place for place in range(len(signatures))]
        rests = {everything ^ mask for mask in masks if lacking or mask.bit_count() > 1}
        groups = sorted((masks | rests) - set(single) - {0, everything})
        only = key.kind == "column" and len(universe) == 1 and not is_open  # everybody has it, which is worth a name of its own
        slots = [*single, *groups, everything] if len(single) > 1 or only else [everything]
        return cls(key, tuple(tuple(part) for part in classes.values()), tuple(slots), _sums(slots, len(single)))

    @cached_property
    def slot_of(self) -> dict[int, int]:
        """The number of the slot of a set of classes."""
        return {mask: place for place, mask in enumerate(self.slots)}

    @property
    def everything(self) -> int:
        """The slot that says nothing."""
        return len(self.slots) - 1

    def mask(self, allowed: Allowed) -> int:
        """The classes that are allowed, as bits; lines name whole classes."""
        return sum(1 << place for place, values in enumerate(self.classes) if _allows(allowed, values[0]))

    def named(self, slot: int) -> frozenset[str]:
        """The values of a slot, those that releases name."""
        mask = self.slots[slot]
        inside = (value for place, values in enumerate(self.classes) if mask >> place & 1 for value in values)
        return frozenset(value for value in inside if value is not None)

    def words(self, slot: int) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The slot as items that somebody has and items that she lacks; None where that cannot be said.

        A slot of histories says neither: :meth:`change` tells it.
        """
        if self.key.kind in KINDS:
            return ((), ()) if slot == self.everything or self.change(slot) is not None else None
        mask = self.slots[slot]
        inside = [value for place, values in enumerate(self.classes) if mask >> place & 1 for value in values]
        if slot == self.everything:
            return (), ()
        if len(inside) == 1 and inside[0] is not None:
            return (literal(self.key, inside[0]),), ()
        outside = [value for place, values in enumerate(self.classes) if not mask >> place & 1 for value in values]
        if ANYTHING_ELSE in outside:
            return None
        return (), tuple(literal(self.key, value) for value in outside if value is not None)

    def change(self, slot: int) -> Change | None:
        """What a slot of histories tells; None of other axes, and where it cannot be told."""
        if self.key.kind not in KINDS or slot == self.everything:
            return None
        return change_of(self.key.kind, self.key.name, self.named(self.everything), self.named(slot))

    def has_changed(self, slot: int) -> bool:
        """Whether everybody in a slot has another value than before."""
        return self.key.kind in KINDS and slot != self.everything and all(map(differs, self.named(slot)))


def _allows(allowed: Allowed, value: str | None) -> bool:
    return (value in allowed.values) != allowed.excluded


def _sums(slots: Sequence[int], singles: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Every slot as the sum of its classes, and everything as a group and the rest."""
    place = {mask: number for number, mask in enumerate(slots)}
    everything = len(slots) - 1
    sums = []
    for mask in slots[singles:] if len(slots) > 1 else ():
        sums.append((place[mask], tuple(bit for bit in range(singles) if mask >> bit & 1)))
        rest = slots[-1] ^ mask
        if rest in place and (rest.bit_count() == 1 or mask < rest):
            sums.append((everything, (place[mask], place[rest])))
    return tuple(sums)


#: In which releases people are who fill a slot of the axis ``MEMBER``, and in which they are not.
Membership = tuple[tuple[int, ...], tuple[int, ...]]


def item_event(axes: Sequence[Axis], slots: Sequence[int], members: Mapping[frozenset[str], Membership]) -> ItemEvent | None:
    """A group of the cube as an event over items; None where items cannot say it."""
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
        words = axis.words(slot)
        if words is None:
            return None
        present += words[0]
        absent += words[1]
        change = axis.change(slot)
        changes += [] if change is None else [change]
    return ItemEvent(tuple(present), tuple(absent), inside=inside, outside=outside, changes=tuple(changes))


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

    def tally(self, kinds: Ints) -> Tally:
        """How many of these people, given by their class on every axis, have each class on some axes."""

        def counted(places: Sequence[int]) -> Ints:
            shape = [len(self.axes[place].classes) for place in places]
            cells = np.zeros(len(kinds), np.int64)
            for place, size in zip(places, shape, strict=True):
                cells = cells * size + kinds[:, place]
            return np.bincount(cells, minlength=prod(shape)).reshape(shape)

        return counted

    def holds(self, kinds: Ints) -> bool:
        """Whether people of these classes on every axis meet what is no bound on a sum of groups; False where that cannot be told."""
        return not self.conditions or (self.tells_conditions and next(self.choices(self.tally(kinds)), None) is None)

    def narrowed(self, kinds: Ints, room: int) -> Problem:
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
