"""Estimates that no limit of the policy judges, and that the verdict must not pass over in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: An estimate above this is told beside the verdict, whatever the policy says.
SURE = 0.9


@dataclass(frozen=True, slots=True)
class Caution:
    """A number of people whose sensitive value can be guessed with more than 90 %, by an attack that decides nothing.

    ``of`` is how many people the attack looked at; they are those with a hidden cell where ``hidden`` is set. ``release`` is the number of the
    release where there are several. A ``limit`` that is set does not judge the estimate.

    >>> Caution("B03", 4560, 4596).text
    '4,560 of 4,596 people can be guessed with more than 90 % (B03), no limit set'
    """

    code: str
    number: int
    of: int
    hidden: bool = False
    limit: bool = False
    release: int | None = None

    @property
    def text(self) -> str:
        """The caution as the rest of a sentence; it holds counts only."""
        among = f"{self.number:,} of {self.of:,} {'person' if self.of == 1 else 'people'}"
        where = "" if self.release is None else f" in release {self.release + 1}"
        who = f"the hidden value of {among}{where}" if self.hidden else f"{among}{where}"
        judged = "which the limit set does not judge" if self.limit else "no limit set"
        return f"{who} can be guessed with more than {SURE:.0%} ({self.code}), {judged}".replace("90%", "90 %")

    def to_dict(self) -> dict[str, Any]:
        """The caution as in the record."""
        return {"code": self.code, "text": self.text, "number": self.number, "of": self.of}


def cautions_of(code: str, number: int, of: int, *, hidden: bool = False, limit: bool = False) -> tuple[Caution, ...]:
    """Return the caution about so many people, or none where there is nobody."""
    return (Caution(code, int(number), int(of), hidden, limit),) if number else ()
