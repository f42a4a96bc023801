"""Background knowledge: what an adversary knows about groups of people besides the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import OptionError
from tacit.model.number import exact


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of people, or a share of a group.

    >>> Amount.parse("5").of(8), Amount.parse("10%").of(8), Amount.parse(0.25).of(8)
    (Fraction(5, 1), Fraction(4, 5), Fraction(2, 1))
    """

    value: Fraction
    is_share: bool

    @classmethod
    def parse(cls, given: object, *, where: str = "amount") -> Amount:
        """A whole number is a count; ``0.1``, ``1.0`` and ``10%`` are shares."""
        value = exact(given, where=where)
        whole = given.strip().isdecimal() if isinstance(given, str) else not isinstance(given, (float, Fraction))
        if value < 0 or (not whole and value > 1):
            raise OptionError(
                "is neither a count nor a share", where=where, remedy="Write a count such as 5, or a share such as 0.1 or 10%"
            )
        return cls(value, not whole)

    def of(self, people: int) -> Fraction:
        """The number for a group of so many people."""
        return self.value * people if self.is_share else self.value


@dataclass(frozen=True, slots=True)
class Fact:
    """At least and at most so many people whose values are among the allowed ones, column by column, have a sensitive value.

    ``file`` and ``line`` say where it stands, for errors and explanations; ``unit`` is what a line is called there.

    >>> Fact({"sex": ("M",)}, "pregnant", at_most=Amount.parse("0")).bounds(50)
    (0, 0)
    >>> Fact({"age": ("60", "61")}, "ill", Amount.parse("10%"), Amount.parse("5")).bounds(31)
    (4, 5)
    """

    allowed: Mapping[str, tuple[str, ...]]
    value: str
    at_least: Amount | None = None
    at_most: Amount | None = None
    file: str | None = None
    line: int = 0
    unit: str = "line"

    def bounds(self, people: int) -> tuple[int, int]:
        """The fewest and the most people of a group of this size, in whole people; a share is read exactly."""
        low = Fraction(0) if self.at_least is None else self.at_least.of(people)
        high = Fraction(people) if self.at_most is None else self.at_most.of(people)
        return -(-low.numerator // low.denominator), high.numerator // high.denominator

    @property
    def excludes(self) -> bool:
        """Whether it says that nobody of the group has the value, whatever the size of the group."""
        return self.at_most is not None and self.at_most.value == 0

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.file or 'knowledge'} {self.unit} {self.line}"
