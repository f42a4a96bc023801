"""What a release says about the number of people in one pattern: any pattern, or an inference channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tacit.model.finding import Citation

#: How bounds were found: by the signed sum of exact supports, by the tightest weights, or by that sum with the worst end of each term.
Method = Literal["sum", "bounds", "terms"]


@dataclass(frozen=True, slots=True)
class Channel:
    """Exactly ``people`` people have all of ``present`` and none of ``absent``; all these items together are frequent."""

    present: tuple[str, ...]
    absent: tuple[str, ...]
    people: int


@dataclass(frozen=True, slots=True)
class PatternSupport:
    """From ``lo`` to ``hi`` people are in a pattern (no upper end where nothing bounds them).

    ``because`` lists the published numbers, ``steps`` the arithmetic in words. ``helpers`` are items that the pattern does not name and whose
    supports narrow the bounds.
    """

    pattern: str
    lo: int
    hi: int | None
    method: Method
    because: tuple[Citation, ...] = ()
    steps: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether only one number is possible."""
        return self.lo == self.hi

    @property
    def statement(self) -> str:
        """The result as a sentence.

        >>> PatternSupport("a and not b", 1, 1, "sum").statement, PatternSupport("a", 3, None, "bounds").statement
        ('1 person: a and not b.', 'At least 3 people: a.')
        """
        people = "person" if self.lo == 1 and self.hi in (1, None) else "people"
        if self.hi is None:
            return f"At least {self.lo:,} {people}: {self.pattern}."
        return f"{self.lo:,}{'' if self.is_exact else f' to {self.hi:,}'} {people}: {self.pattern}."

    def to_dict(self) -> dict[str, Any]:
        """The result as in the record."""
        out: dict[str, Any] = {"pattern": self.pattern, "statement": self.statement, "count": [self.lo, self.hi]}
        out |= {"exact": self.is_exact, "method": self.method, "helpers": list(self.helpers)}
        return out | {"because": [citation.to_dict() for citation in self.because], "steps": list(self.steps)}
