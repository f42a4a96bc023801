"""What a count is about: a conjunction over items, or a box over columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ItemEvent:
    """People who have every ``present`` item and none of the ``absent`` ones; both sorted, without a common item.

    >>> ItemEvent(("b", "a"), ("c",)).to_dict()
    {'present': ['a', 'b'], 'absent': ['c']}
    """

    present: tuple[str, ...]
    absent: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "present", tuple(sorted(set(self.present))))
        object.__setattr__(self, "absent", tuple(sorted(set(self.absent))))

    def to_dict(self) -> dict[str, list[str]]:
        """The event as in the record."""
        return {"present": list(self.present), "absent": list(self.absent)}

    def holds(self, items: frozenset[str]) -> bool:
        """Whether someone with these items is in the event."""
        return items.issuperset(self.present) and items.isdisjoint(self.absent)


@dataclass(frozen=True, slots=True)
class BoxEvent:
    """People whose value is among the allowed ones, column by column; a column that is not named may be anything.

    >>> BoxEvent({"sex": ("F",)}).to_dict()
    {'sex': ['F']}
    """

    allowed: dict[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, list[str]]:
        """The event as in the record."""
        return {column: sorted(set(values)) for column, values in sorted(self.allowed.items())}


Event = ItemEvent | BoxEvent
