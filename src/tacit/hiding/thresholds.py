"""When a rule gives a sensitive cell away, in whole numbers, and how many records it takes to stop it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]

#: Products of counts and the parts of the confidence stay below this.
LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class IntegerThresholds:
    """A rule is unsafe when more than ``support`` records have it **and** their share is more than ``confidence``.

    >>> limits = IntegerThresholds.of(Fraction(11, 20), 0, people=9)
    >>> limits.unsafe(np.array([3, 2]), np.array([2, 1])).tolist()
    [True, False]
    """

    numerator: int
    denominator: int
    support: int

    @classmethod
    def of(cls, confidence: Fraction, support: int, *, people: int) -> IntegerThresholds:
        """The thresholds for a table of so many people; a confidence with many digits is replaced by one that decides alike there."""
        if confidence.denominator * max(1, people) * 2 >= LARGEST:
            confidence = largest_below(confidence, max(1, people))
        return cls(confidence.numerator, confidence.denominator, support)

    def excess(self, having: Counts, both: Counts) -> Counts:
        """By how much rules are over the thresholds, in parts of the denominator: 0 when safe.

        ``having`` records have the pattern of the rule, ``both`` of them its value too.
        """
        allowed = np.maximum(self.numerator * having, self.denominator * self.support)
        return np.maximum(0, self.denominator * both - allowed)

    def unsafe(self, having: Counts, both: Counts) -> npt.NDArray[np.bool_]:
        """Which rules are over both thresholds."""
        return self.excess(having, both) > 0

    def values_to_hide(self, having: Counts, both: Counts) -> Counts:
        """Of how many of its records the value must be hidden until a rule is safe: the paper's beta, with the support threshold.

        >>> IntegerThresholds(11, 20, 0).values_to_hide(np.array([7, 6, 2]), np.array([5, 4, 1])).tolist()
        [2, 1, 0]
        """
        return -(-self.excess(having, both) // self.denominator)

    def records_to_hide(self, having: Counts, both: Counts) -> Counts:
        """How many of its records must lose the pattern until a rule is safe: the paper's MinHide, with the support threshold.

        >>> IntegerThresholds(11, 20, 0).records_to_hide(np.array([7, 6, 2]), np.array([5, 4, 1])).tolist()
        [3, 2, 0]
        """
        over = np.maximum(0, self.denominator * both - self.numerator * having)
        rest = max(1, self.denominator - self.numerator)  # with a confidence of 1 no rule is over it
        by_confidence = -(-over // rest)
        needed: Counts = np.minimum(by_confidence, np.maximum(0, both - self.support))
        return needed


def largest_below(confidence: Fraction, denominator: int) -> Fraction:
    """The largest fraction up to ``confidence`` whose denominator is not larger than this.

    No share of a whole that is not larger lies between the two, so they decide alike.

    >>> largest_below(Fraction(6000001, 10000000), 10), largest_below(Fraction(5999999, 10000000), 10)
    (Fraction(3, 5), Fraction(4, 7))
    """
    if confidence.denominator <= denominator:
        return confidence
    older, newer = (0, 1), (1, 0)
    rest: tuple[Any, Any] = (confidence.numerator, confidence.denominator)
    while True:
        whole = rest[0] // rest[1]
        following = (older[0] + whole * newer[0], older[1] + whole * newer[1])
        if following[1] > denominator:
            break
        older, newer = newer, following
        rest = (rest[1], rest[0] - whole * rest[1])
    steps = (denominator - older[1]) // newer[1]
    ends = (Fraction(*newer), Fraction(older[0] + steps * newer[0], older[1] + steps * newer[1]))
    return max(end for end in ends if end <= confidence)
