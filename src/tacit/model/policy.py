"""What the publisher accepts, and how long an attack may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from tacit.errors import LimitReached, OptionError
from tacit.model.number import share


@dataclass(frozen=True, slots=True)
class Policy:
    """When a release counts as exposed.

    ``k``: some event is proved to hold for 1 to k-1 people. ``l``: some person keeps fewer than l possible values. ``max_posterior`` and
    ``max_gain``: an estimate exceeds them (only where set). ``min_confidence`` and ``min_support``: a hidden cell is inferred by a rule
    above both.

    >>> Policy(k=5).to_dict()["k"]
    5
    """

    k: int = 10
    l: int = 2  # noqa: E741 - the letter is the field's own name for it
    max_posterior: float | None = None
    max_gain: float | None = None
    min_confidence: float = 0.6
    min_support: int = 0

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("l", 1), ("min_support", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
                option = "--" + name.replace("_", "-")
                raise OptionError(f"must be a whole number of at least {least}", where=option, remedy="Write for instance 10")
        for name in ("max_posterior", "max_gain", "min_confidence"):
            value = getattr(self, name)
            if value is not None:
                checked = share(value, where="--" + name.replace("_", "-"))
                object.__setattr__(self, name, value if name == "min_confidence" else float(checked))

    def to_dict(self) -> dict[str, Any]:
        """The policy as in the record."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: Any) -> Any:
    """A number that JSON knows."""
    return float(value) if isinstance(value, Fraction) else value


@dataclass(frozen=True, slots=True)
class Limits:
    """How far an attack may go; never what is true."""

    deadline: float | None = None
    seed: int = 0

    @classmethod
    def within(cls, seconds: float | None, *, seed: int = 0) -> Limits:
        """Limits that end ``seconds`` from now."""
        if seconds is not None and not seconds > 0:
            raise OptionError("must be more than 0 seconds", where="--time-limit", remedy="Write for instance 60")
        return cls(None if seconds is None else time.monotonic() + seconds, seed)

    @property
    def seconds_left(self) -> float | None:
        """The seconds that are left, or None without a limit; never quite 0, so that they can be a limit themselves."""
        return None if self.deadline is None else max(0.001, self.deadline - time.monotonic())

    def check(self, where: str) -> None:
        """Raise :class:`LimitReached` when the time is over."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise LimitReached("the time limit was reached", where=where, remedy="Give more time with --time-limit")
