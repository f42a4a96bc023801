"""What a release makes an attacker guess about somebody, and which of its lines make her guess so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import OptionError

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Influence:
    """One thing that the release says, and what it does to an estimate.

    ``says`` is the statement in words, ``lines`` are where it is published (none for what is missing, or for the distribution). ``weight`` is
    what it adds to the logarithm of the odds of ``value``, in nats, on average over the people described; None where it settles a value
    instead of weighing it. It is about ``people`` of them. ``without`` is what the estimate would be if it were not known, where that
    was computed.
    """

    kind: str
    lines: tuple[int, ...]
    says: str
    value: str
    weight: float | None
    people: int
    without: Shares | None = None

    def effect(self) -> str:
        """What it does, in words.

        >>> Influence("line", (2,), "..", "high", math.log(2), 4).effect()
        'raises the odds of high 2-fold'
        >>> Influence("line", (2,), "..", "high", -math.log(4), 4).effect()
        'lowers the odds of high 4-fold'
        """
        if self.weight is None:
            return f"leaves no doubt about {self.value}, by itself or with others"
        fold = f"{math.exp(min(abs(self.weight), 700.0)):.3g}-fold"
        return f"{'raises' if self.weight > 0 else 'lowers'} the odds of {self.value} {fold}"

    def to_dict(self) -> dict[str, Any]:
        """The influence as in the record."""
        out: dict[str, Any] = {"kind": self.kind, "lines": list(self.lines), "says": self.says, "value": self.value}
        without = None if self.without is None else list(self.without)
        return out | {"weight": self.weight, "people": self.people, "without": without}


@dataclass(frozen=True, slots=True)
class PersonEstimate:
    """The probability of each sensitive value for whoever fits a description.

    ``posterior`` is the mean over the ``people`` who fit; ``least`` and ``most`` are the smallest and largest probability of any combination of
    quasi-identifiers among them. ``lower`` and ``upper`` are hard bounds of the share among them, None where none were computed.
    ``influences`` come strongest first; ``more`` further ones are not listed.
    """

    who: Mapping[str, str]
    people: int
    combinations: int
    sensitive: str
    values: tuple[str, ...]
    baseline: Shares
    baseline_is_published: bool
    posterior: Shares
    least: Shares
    most: Shares
    lower: Shares | None
    upper: Shares | None
    influences: tuple[Influence, ...]
    more: int = 0

    @property
    def order(self) -> list[int]:
        """The numbers of the values, the most probable first."""
        return sorted(range(len(self.values)), key=lambda number: (-round(self.posterior[number], 9), number))

    def to_dict(self) -> dict[str, Any]:
        """The estimate as in the record."""
        values = []
        for number in self.order:
            line: dict[str, Any] = {"value": self.values[number], "posterior": self.posterior[number]}
            line |= {"least": self.least[number], "most": self.most[number], "baseline": self.baseline[number]}
            line |= {
                "lower": None if self.lower is None else self.lower[number],
                "upper": None if self.upper is None else self.upper[number],
            }
            values.append(line)
        return {
            "who": dict(self.who),
            "people": self.people,
            "combinations": self.combinations,
            "sensitive": self.sensitive,
            "method": "maximum entropy",
            "baseline_is_published": self.baseline_is_published,
            "values": values,
            "order_of_values": list(self.values),
            "influences": [one.to_dict() for one in self.influences],
            "more_influences": self.more,
        }


def read_who(text: str) -> dict[str, str]:
    """A description such as ``education=Doctorate,sex=Male`` by column; a part without ``=`` belongs to the value before it.

    >>> read_who("education=Doctorate, sex=Male"), read_who("job=Craft, repair")
    ({'education': 'Doctorate', 'sex': 'Male'}, {'job': 'Craft, repair'})
    """
    found: dict[str, str] = {}
    column = None
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            column = name.strip()
            if column in found:
                raise OptionError(f"column {column!r} is described twice", where="--who", remedy="Give each column one value")
            found[column] = value.strip()
        elif column is None:
            remedy = 'Write for instance --who "education=Doctorate,sex=Male"'
            raise OptionError("does not say which column has which value", where="--who", remedy=remedy)
        else:
            found[column] += f",{part}"
    return found
