"""The words that several releases share: columns and items as axes, groups of people as boxes over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tacit.attacks.joint.histories import KINDS, change_of
from tacit.model.event import Change, ItemEvent
from tacit.wording.joint import differs

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
