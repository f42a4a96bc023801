"""What a count is about: a conjunction over items, or a box over columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: What somebody has and what she lacks.
Side = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Change:
    """What changed about people between two releases: what they had and lacked before, and what after; any change where both are empty.

    >>> Change("smokes", (("smokes=no",), ()), (("smokes=yes",), ())).to_dict()
    {'column': 'smokes', 'before': {'present': ['smokes=no'], 'absent': []}, 'after': {'present': ['smokes=yes'], 'absent': []}}
    """

    name: str
    before: Side = ((), ())
    after: Side = ((), ())

    @property
    def is_any(self) -> bool:
        """Whether nothing is said but that the value is another one."""
        return not any((*self.before, *self.after))

    @property
    def differs(self) -> bool:
        """Whether it tells that people have another value than before, and not only what they had, have or kept.

        >>> kept = Change("smokes", (("smokes=no",), ()), (("smokes=no",), ()))
        >>> Change("smokes").differs, kept.differs
        (True, False)
        """
        (had, lacked), (has, lacks) = self.before, self.after
        other = bool(had) and bool(has) and set(had) != set(has)
        return self.is_any or other or bool(set(had) & set(lacks)) or bool(set(lacked) & set(has))

    def to_dict(self) -> dict[str, Any]:
        """The change as in the record."""
        out: dict[str, Any] = {"column": self.name}
        for name, (present, absent) in (("before", self.before), ("after", self.after)):
            out[name] = {"present": list(present), "absent": list(absent)}
        return {"column": self.name, "changed": True} if self.is_any else out


@dataclass(frozen=True, slots=True)
class ItemEvent:
    """People who have every ``present`` item and none of the ``absent`` ones; all sorted, without a common item.

    Of the items of ``not_all``, where there are such, they lack at least one. Where several releases are about different people, they are among
    those of the groups ``inside`` and not among those of ``outside``: numbers of releases, or of folders where these were given. ``changes`` are
    about columns whose values may have changed.

    >>> ItemEvent(("b", "a"), ("c",)).to_dict()
    {'present': ['a', 'b'], 'absent': ['c']}
    >>> ItemEvent(("a",), not_all=("b", "c")).holds(frozenset("ab"))
    True
    """

    present: tuple[str, ...]
    absent: tuple[str, ...] = ()
    not_all: tuple[str, ...] = ()
    inside: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        for name in ("present", "absent", "not_all"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))

    def to_dict(self) -> dict[str, list[Any]]:
        """The event as in the record."""
        out: dict[str, list[Any]] = {"present": list(self.present), "absent": list(self.absent)}
        where = {name: list(getattr(self, name)) for name in ("inside", "outside") if getattr(self, name)}
        where |= {"changes": [change.to_dict() for change in self.changes]} if self.changes else {}
        return out | ({"not_all": list(self.not_all)} if self.not_all else {}) | where

    def holds(self, items: frozenset[str]) -> bool:
        """Whether someone with these items is in the event."""
        lacks_some = not self.not_all or not items.issuperset(self.not_all)
        return items.issuperset(self.present) and items.isdisjoint(self.absent) and lacks_some


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
