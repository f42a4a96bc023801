"""What the publisher accepts, and how long an attack may take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any, Literal

from tacit.errors import LimitReached, OptionError
from tacit.model.number import exact, share
from tacit.model.waiver import Waiver, read_date

#: The limits of a policy by name, each with its default.
LIMITS: dict[str, Any] = {
    "k": 10,
    "l": 2,
    "max_posterior": None,
    "max_gain": None,
    "min_confidence": 0.6,
    "min_support": 0,
    "safe_round_base": 5,
    "zeros_are_disclosive": True,
}
#: ACRO's names of limits, and ours.
ACRO_NAMES = {"safe_threshold": "k", "safe_round_base": "safe_round_base", "zeros_are_disclosive": "zeros_are_disclosive"}
#: Which way each limit becomes stricter: up, or down; one that is not set is the loosest.
STRICTER: dict[str, Literal["up", "down"]] = {
    "k": "up",
    "l": "up",
    "max_posterior": "down",
    "max_gain": "down",
    "min_confidence": "down",
    "min_support": "down",
    "safe_round_base": "up",
    "zeros_are_disclosive": "up",
}
#: Who says what a limit is.
Level = Literal["option", "data set", "organisation", "given", "default"]


#: No policy is about so many people; counts stay exact far below.
MOST_PEOPLE = 2**49


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file that a policy was read from: the organisation's, or that of the data set."""

    level: Level
    name: str
    sha256: str

    def to_dict(self) -> dict[str, str]:
        """The file as in the record."""
        return {"level": self.level, "file": self.name, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Policy:
    """When a release counts as exposed.

    ``k`` (ACRO's ``safe_threshold``): some event is proved to hold for 1 to k-1 people. ``l``: some person keeps fewer than l possible values.
    ``max_posterior`` and ``max_gain``: an estimate exceeds them (only where set). ``min_confidence`` and ``min_support``: a hidden cell is
    inferred by a rule above both. ``safe_round_base`` is the smallest base that counts are rounded to by the repair ``round`` and in
    suggestions, ACRO's 5 where it is not set; what no attack breaks may be coarser. ``zeros_are_disclosive``: frequency tables that hide
    small cells hide empty ones as well, since an empty cell says what nobody beside it has.

    ``waivers`` are findings that somebody accepts; those with a last day are compared with ``today``. ``origin`` says who set a limit, and
    ``files`` from which files it was read; both are only told. ``overruled`` are limits of the data set's file that were looser than the
    organisation's, and did not count; so did not its waivers, where ``waivers_overruled`` says how many there are.

    >>> Policy(k=5).to_dict()["k"]
    5
    >>> Policy(k=5).set_by["k"], Policy(k=5).set_by["l"]
    ('given', 'default')
    """

    k: int = 10
    l: int = 2  # noqa: E741 - the letter is the field's own name for it
    max_posterior: float | None = None
    max_gain: float | None = None
    min_confidence: float = 0.6
    min_support: int = 0
    safe_round_base: int | None = None
    zeros_are_disclosive: bool = True
    waivers: tuple[Waiver, ...] = ()
    today: date | None = None
    origin: Mapping[str, Level] = field(default_factory=dict)
    files: tuple[PolicyFile, ...] = ()
    overruled: Mapping[str, Any] = field(default_factory=dict)
    waivers_overruled: int = 0

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("l", 1), ("min_support", 0), ("safe_round_base", 2)):
            value = getattr(self, name)
            if name == "safe_round_base" and value is None:
                continue
            if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value < MOST_PEOPLE:
                option = "--" + name.replace("_", "-")
                too_many = hasattr(value, "__index__") and value >= MOST_PEOPLE
                what = f"must be below {MOST_PEOPLE:,}" if too_many else f"must be a whole number of at least {least}"
                raise OptionError(what, where=option, remedy="Write for instance 10")
        for name in ("max_posterior", "max_gain", "min_confidence"):
            value = getattr(self, name)
            if value is not None:
                checked = share(value, where="--" + name.replace("_", "-"))
                object.__setattr__(self, name, value if name == "min_confidence" else float(checked))
        if not isinstance(self.zeros_are_disclosive, bool):
            raise OptionError("must be true or false", where="--zeros-are-disclosive", remedy="Write true or false")
        if not all(isinstance(waiver, Waiver) for waiver in self.waivers):
            remedy = "Write for instance tacit.Waiver(finding=.., reason=.., name=..)"
            raise OptionError("holds something that is no waiver", where="waivers", remedy=remedy)
        object.__setattr__(self, "waivers", tuple(self.waivers))
        if self.today is not None:
            object.__setattr__(self, "today", read_date(self.today, where="--date"))

    @property
    def least_base(self) -> int:
        """The smallest base that a repair may choose."""
        return LIMITS["safe_round_base"] if self.safe_round_base is None else self.safe_round_base

    @property
    def set_by(self) -> dict[str, Level]:
        """Who set each limit: an option, a file of the data set or of the organisation, a caller, or nobody."""
        told: dict[str, Level] = {}
        for name, default in LIMITS.items():
            value = getattr(self, name)
            told[name] = self.origin.get(name, "default" if value is None or _plain(value) == default else "given")
        return told

    def to_dict(self) -> dict[str, Any]:
        """The limits as in the record, under their own names and ACRO's."""
        told = {name: _plain(getattr(self, name)) for name in LIMITS}
        return told | {"safe_round_base": self.least_base, "safe_threshold": self.k}


def is_looser(name: str, value: Any, floor: Any) -> bool:
    """Whether a limit allows what another value of it forbids.

    >>> is_looser("k", 5, 10), is_looser("max_posterior", 0.8, 0.9), is_looser("max_posterior", None, 0.9)
    (True, False, True)
    """
    if value is None or floor is None:
        return value is None and floor is not None
    ours, theirs = exact(value, where=name), exact(floor, where=name)
    return ours < theirs if STRICTER[name] == "up" else ours > theirs


def _plain(value: Any) -> Any:
    """A number that JSON knows."""
    return float(value) if isinstance(value, Fraction) else value


#: When everything that runs now has to end, by the monotonic clock.
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Give everything in the block one deadline: reading, solving, proving and writing; an earlier one that is set already stays.

    >>> with time_limit(60):
    ...     Limits.within(3600).seconds_left <= 60
    True
    """
    token = _deadline.set(Limits.within(seconds).deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float | None:
    """Seconds until the deadline of all that runs, or None without one; never quite 0, so that they can be a limit themselves."""
    return Limits(_deadline.get()).seconds_left


def check_time(where: str) -> None:
    """Raise :class:`LimitReached` when the deadline of all that runs is over."""
    Limits(_deadline.get()).check(where)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far an attack may go; never what is true."""

    deadline: float | None = None
    seed: int = 0

    @classmethod
    def within(cls, seconds: float | None, *, seed: int = 0) -> Limits:
        """Limits that end ``seconds`` from now, and not after the deadline of all that runs."""
        if seconds is not None and not seconds > 0:
            raise OptionError("must be more than 0 seconds", where="--time-limit", remedy="Write for instance 60")
        ends = [_deadline.get(), None if seconds is None else time.monotonic() + seconds]
        return cls(min((end for end in ends if end is not None), default=None), seed)

    @property
    def seconds_left(self) -> float | None:
        """The seconds that are left, or None without a limit; never quite 0, so that they can be a limit themselves."""
        return None if self.deadline is None else max(0.001, self.deadline - time.monotonic())

    def part(self, share: float) -> Limits:
        """The same limits, with only a share of the time that is left."""
        left = self.seconds_left
        return self if left is None else Limits.within(left * share, seed=self.seed)

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def check(self, where: str) -> None:
        """Raise :class:`LimitReached` when the time is over."""
        if self.is_over:
            raise LimitReached("the time limit was reached", where=where, remedy="Give more time with --time-limit")
