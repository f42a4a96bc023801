"""What a release makes an attacker guess about somebody, and which of its lines make her guess so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import OptionError
from tacit.model.posterior import DIGITS

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a release says: ``says`` in words, ``lines`` where it is published (none for what is missing, or the distribution).

    It is about ``people`` of the people described.
    """

    kind: str
    lines: tuple[int, ...]
    says: str
    people: int

    def to_dict(self) -> dict[str, Any]:
        """The statement as in the record."""
        return {"kind": self.kind, "lines": list(self.lines), "says": self.says, "people": self.people}


@dataclass(frozen=True, slots=True)
class Step:
    """One more thing that is said, and the estimate from it and all that was said before."""

    said: Said
    posterior: Shares

    def to_dict(self) -> dict[str, Any]:
        """The step as in the record."""
        return self.said.to_dict() | {"posterior": rounded(self.posterior)}


@dataclass(frozen=True, slots=True)
class Influence:
    """What one thing does that is said: ``without`` it and with all the rest the estimate would be this; None where time was over.

    ``multiplier`` is what it adds to the logarithm of the odds of the value that it is about (nats); where several lines say much the same,
    these numbers are large, cancel each other, and mean little one by one.
    """

    said: Said
    multiplier: float
    without: Shares | None = None

    def to_dict(self) -> dict[str, Any]:
        """The influence as in the record."""
        without = None if self.without is None else rounded(self.without)
        return self.said.to_dict() | {"multiplier": round(self.multiplier, 6), "without": without}


@dataclass(frozen=True, slots=True)
class PersonEstimate:
    """The probability of each sensitive value for whoever fits a description.

    ``posterior`` is the mean over the ``people`` who fit; ``least`` and ``most`` are the smallest and largest probability of any combination of
    quasi-identifiers among them. ``lower`` and ``upper`` are hard bounds of the share among them, None where none were computed;
    ``proof`` says of one combination why it cannot have the values that are ruled out.
    ``steps`` build the estimate up from nothing with the things said that bring it closest, until it is reached or enough are shown.
    ``influences`` are the things said whose loss would change it most; ``statements`` is how many there are in all.
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
    steps: tuple[Step, ...]
    influences: tuple[Influence, ...]
    statements: int
    proof: tuple[str, ...] = ()

    @property
    def order(self) -> list[int]:
        """The numbers of the values, the most probable first."""
        return sorted(range(len(self.values)), key=lambda number: (-round(self.posterior[number], DIGITS), number))

    def to_dict(self) -> dict[str, Any]:
        """The estimate as in the record."""
        columns = {"posterior": self.posterior, "least": self.least, "most": self.most, "baseline": self.baseline}
        shown: dict[str, list[float] | None] = {name: rounded(column) for name, column in columns.items()}
        shown |= {
            name: None if bound is None else rounded(bound) for name, bound in (("lower", self.lower), ("upper", self.upper))
        }
        values = [
            {"value": self.values[place]} | {name: None if column is None else column[place] for name, column in shown.items()}
            for place in self.order
        ]
        return {
            "who": dict(self.who),
            "people": self.people,
            "combinations": self.combinations,
            "sensitive": self.sensitive,
            "method": "maximum entropy",
            "baseline_is_published": self.baseline_is_published,
            "values": values,
            "order_of_values": list(self.values),
            "proof": list(self.proof),
            "steps": [step.to_dict() for step in self.steps],
            "influences": [one.to_dict() for one in self.influences],
            "statements": self.statements,
        }


def rounded(shares: Shares) -> list[float]:
    """Probabilities as in a record: further digits depend on the machine."""
    return [round(share, DIGITS) for share in shares]


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
