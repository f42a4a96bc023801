"""Rebuilt people: the record of how many are proved to have a certain value in every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RebuiltGroup:
    """People proved to have certain values; ``without`` is the column left open, ``steps`` are as in a certificate."""

    at_least: int
    steps: Sequence[Mapping[str, Any]]
    without: str = ""

    @property
    def event(self) -> Sequence[Mapping[str, Any]]:
        """Values by column, as the last step has them."""
        event: Sequence[Mapping[str, Any]] = self.steps[-1]["event"]
        return event

    def to_dict(self) -> dict[str, Any]:
        """Return the group as in the record."""
        return {"without": self.without or None, "at_least": self.at_least, "steps": list(self.steps)}


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """People who are rebuilt from releases, of ``n``, None if no release says how many there are.

    ``people`` are proved to have certain values in all ``columns``, and ``but_one`` in all of them or all but one; ``most`` is what no proof
    can exceed, since a population that fits the releases has no more in common with the others found. ``people`` and ``most`` are the same
    where nothing is left open; ``most`` is None where nothing bounds it. ``reason`` says why something is open.
    """

    columns: tuple[str, ...]
    n: int | None
    people: int
    but_one: int
    most: int | None
    worlds: int
    groups: tuple[RebuiltGroup, ...] = ()
    reason: str = ""

    @property
    def is_whole(self) -> bool:
        """True if everybody is rebuilt, so that nothing else can follow from the releases."""
        return bool(self.n) and self.n == self.people

    @property
    def undecided(self) -> int | None:
        """Number of people that are neither proved nor refuted, None if nothing bounds it."""
        return None if self.most is None else self.most - self.people

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the record."""
        return {
            "people": self.people,
            "at_most": self.most,
            "all_but_one": self.but_one,
            "n": self.n,
            "undecided": self.undecided,
            "worlds": self.worlds,
            "columns": list(self.columns),
            "reason": self.reason,
            "groups": [group.to_dict() for group in self.groups],
        }

    @property
    def sentence(self) -> str:
        """Sentence about how many people are rebuilt; counts only."""
        number = f"{self.people:,}"
        if self.undecided != 0:
            number = f"At least {self.people:,}" + ("" if self.most is None else f" and at most {self.most:,}")
        of = "" if self.n is None else f" of {self.n:,}"
        noun = "person" if (self.people if self.n is None else self.n) == 1 else "people"
        columns = "1 column" if len(self.columns) == 1 else f"all {len(self.columns):,} columns"
        told = f"{number}{of} {noun} can be rebuilt completely ({columns})"
        return f"{told}, {self.but_one:,} in all but at most one." if self.but_one > self.people else f"{told}."
