"""What became of re-checking the proved findings of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Verification:
    """How many findings hold, and what is wrong with the others or with the record as a whole.

    ``listed`` and ``holding`` count proved findings by the code of their attack: those that the record writes out, and those that hold.
    ``estimates`` counts the listed findings that are estimates, which nobody can prove. ``open`` are sentences about what the record says and no
    proof shows; ``again`` says that a new audit gave the same record. ``unconfirmed`` says why a verdict that no finding decides is neither
    confirmed nor refuted; it is empty otherwise.
    """

    held: int
    problems: tuple[str, ...]
    listed: Mapping[str, int] = field(default_factory=dict, compare=False)
    holding: Mapping[str, int] = field(default_factory=dict, compare=False)
    estimates: Mapping[str, int] = field(default_factory=dict, compare=False)
    open: tuple[str, ...] = ()
    again: bool = False
    unconfirmed: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems and not self.unconfirmed

    @property
    def proved(self) -> int:
        """How many findings the record lists as proved."""
        return sum(self.listed.values())

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        return {
            "format": "tacit.verification/1",
            "holds": self.ok,
            "audited_again": self.again,
            "not_confirmed": [*([self.unconfirmed] if self.unconfirmed else []), *self.open],
            "proved": self.proved,
            "held": self.held,
            "attacks": {code: {"listed": number, "held": self.holding.get(code, 0)} for code, number in self.listed.items()},
            "estimates": dict(self.estimates),
            "rejected": len(self.problems),
            "problems": list(self.problems),
        }
