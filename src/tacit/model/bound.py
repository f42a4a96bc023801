"""A whole number known to lie between two ends."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import InternalError


@dataclass(frozen=True, slots=True, order=True)
class Bound:
    """A whole number known to lie in ``[lo, hi]``, both ends included; it may be negative while a sum is built.

    >>> Bound(5, 7) - Bound(1, 2)
    Bound(lo=3, hi=6)
    >>> Bound(5, 7) & Bound(6, 9)
    Bound(lo=6, hi=7)
    """

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise InternalError("a bound with lo > hi", where="Bound", remedy="Please report it")

    @classmethod
    def of(cls, count: int) -> Bound:
        """A number known exactly."""
        return cls(count, count)

    @property
    def is_exact(self) -> bool:
        """Whether only one number is possible."""
        return self.lo == self.hi

    def __add__(self, other: Bound) -> Bound:
        return Bound(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Bound) -> Bound:
        return Bound(self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, factor: int) -> Bound:
        ends = (self.lo * factor, self.hi * factor)
        return Bound(min(ends), max(ends))

    def __and__(self, other: Bound) -> Bound | None:
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Bound(lo, hi) if lo <= hi else None

    def to_list(self) -> list[int]:
        """``[lo, hi]``, as in the record."""
        return [self.lo, self.hi]
