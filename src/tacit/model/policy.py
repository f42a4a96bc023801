"""Policy of the publisher: limits, waivers, time limits.

A waiver accepts a finding, with a reason and a name: the finding stays listed, and does not count for the verdict.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

from tacit.model.errors import LimitReached, OptionError, nearest_name
from tacit.model.numbers import exact, share

if TYPE_CHECKING:
    from tacit.model.finding import Event

_ID = re.compile(r"[A-Z]\d\d-[0-9a-f]{12}")
_CODE = re.compile(r"[A-Z]\d\d")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Waiver:
    """Acceptance of one finding by its id, of an event, or of a pattern of items and columns.

    ``people`` is the number of people that it was given for, or the two ends of what is proved about it: the ``count`` of the finding. A finding
    about more people, or about fewer (who are described the more closely), is another one. ``release`` binds the waiver to releases by their
    SHA-256: it holds only where no other release is audited. ``event`` is written as in the record. ``until`` is the last day on which the
    waiver holds; it is compared with the date that the audit is given, never with the clock, and without a date the waiver accepts nothing.

    A pattern names ``items`` and ``columns``, where ``*`` stands for any text, and covers the findings that mention nothing else; ``attack``
    narrows it to one attack. It holds for findings about at least ``people[0]`` and at most ``people[1]`` people.

    >>> Waiver(finding="I01-0123456789ab", people=9, reason="known from the census", name="A. Checker").reason
    'known from the census'
    """

    reason: str
    name: str
    finding: str | None = None
    event: Mapping[str, Any] | None = None
    until: date | None = None
    people: int | Sequence[int] | None = None
    release: str | Sequence[str] = ()
    attack: str | None = None
    items: str | Sequence[str] = ()
    columns: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, example in (("reason", "published by the census anyway"), ("name", "A. Checker")):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise OptionError(f"has no {name}", where="waiver", remedy=f'Write for instance {name} = "{example}"')
        for name in ("items", "columns"):
            object.__setattr__(self, name, _globs(name, getattr(self, name)))
        if (self.finding is not None) + (self.event is not None) + self.is_pattern != 1:
            remedy = 'Write finding = "I01-0123456789ab", event = { present = ["a"], absent = ["b"] }, items = ["a", "b*"] or column = "job"'
            raise OptionError(
                "must name one of a finding, an event, and a pattern of items or columns", where="waiver", remedy=remedy
            )
        if self.attack is not None and not (self.is_pattern and isinstance(self.attack, str) and _CODE.fullmatch(self.attack)):
            remedy = 'Write attack = "I01" beside items or columns, or leave it out'
            raise OptionError("attack does not narrow a pattern to an attack", where="waiver", remedy=remedy)
        if self.finding is not None and not (isinstance(self.finding, str) and _ID.fullmatch(self.finding)):
            remedy = "Copy it from the audit: a code, a hyphen and twelve letters or digits"
            raise OptionError("finding is not the id of one", where="waiver", remedy=remedy)
        if self.event is not None:
            event_key(self.event)
        object.__setattr__(self, "people", _people(self.people))
        object.__setattr__(self, "release", _releases(self.release))
        if self.until is not None:
            object.__setattr__(self, "until", read_date(self.until, where="waiver, until"))

    @property
    def is_pattern(self) -> bool:
        """Tell if it names items or columns."""
        return bool(self.items or self.columns)

    @property
    def code(self) -> str | None:
        """The attack whose findings it accepts; None if it is any."""
        return self.attack if self.finding is None else self.finding.partition("-")[0]

    def covers(self, event: Event) -> bool:
        """Tell if its pattern has all items and columns of an event.

        Nothing covers an event that mentions none, or that also says whose values changed or in which of several releases people are.
        """
        from tacit.model.finding import mentions

        mentioned = mentions(event)
        return bool(mentioned) and all(_fits(column, self.columns) or _fits(item, self.items) for column, item in mentioned)

    def holds_for(self, lo: int, hi: int) -> bool:
        """Tell if it was given for a finding about this number of people."""
        fewest, most = cast(tuple[int, int], self.people)
        return fewest <= lo <= hi <= most if self.is_pattern else (lo, hi) == (fewest, most)

    def holds_in(self, releases: Sequence[str | None]) -> bool:
        """Tell if it was given for these releases, by their SHA-256."""
        return not self.release or all(one in self.release for one in releases)

    def ended(self, today: date | None) -> bool:
        """Tell if its last day is over, or may be because no date is given."""
        return self.until is not None and (today is None or self.until < today)

    def to_dict(self) -> dict[str, Any]:
        """The waiver as in the record."""
        what: dict[str, Any] = {"finding": self.finding}
        if self.event is not None:
            what = {"event": json.loads(event_key(self.event))}
        elif self.is_pattern:
            what = {"attack": self.attack, "items": list(self.items), "columns": list(self.columns)}
        told = {"reason": self.reason, "name": self.name, "until": self.until.isoformat() if self.until else None}
        return what | told | {"people": list(self.people), "release": list(self.release)}  # type: ignore[arg-type]


def _people(given: object) -> tuple[int, int]:
    ends: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given, given]
    are_whole = len(ends) == 2 and all(isinstance(one, int) and not isinstance(one, bool) for one in ends)
    if not are_whole or not 0 < ends[0] <= ends[1]:
        what = "does not say how many people it is for" if given is None else "people is not a number of people"
        remedy = "Copy the count of the finding: people = 9, or people = [1, 3] where it is not exact"
        raise OptionError(what, where="waiver", remedy=remedy)
    return ends[0], ends[1]


def _releases(given: object) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, (list, tuple)) else [None]
    if not all(isinstance(one, str) and _SHA256.fullmatch(one) for one in listed):
        remedy = "Copy it from the audit: 64 digits and letters from a to f"
        raise OptionError("release is not the SHA-256 of one", where="waiver", remedy=remedy)
    return tuple(listed)


def _globs(name: str, given: object) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, (list, tuple)) else [None]
    texts = [one for one in listed if isinstance(one, str) and one]
    if len(texts) < len(listed):
        raise OptionError(f"{name} is not a list of names", where="waiver", remedy=f'Write for instance {name} = ["job", "age*"]')
    if any(not one.strip("*") for one in texts):
        raise OptionError(f"{name} covers everything", where="waiver", remedy="Write at least one letter beside the *")
    return tuple(sorted(set(texts)))


@cache
def _glob(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, glob.split("*"))), re.DOTALL)


def _fits(name: str | None, globs: Iterable[str]) -> bool:
    return name is not None and any(_glob(one).fullmatch(name) for one in globs)


def event_key(event: Mapping[str, Any]) -> str:
    """Return an event as canonical text."""
    remedy = 'Write it as in the record, for instance event = { sex = ["F"], age = ["30"] }'
    if not isinstance(event, Mapping):
        raise OptionError("event is not a table of columns and values", where="waiver", remedy=remedy)
    told: dict[str, Any] = {}
    for column, values in event.items():
        listed = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
        if not all(isinstance(value, (str, int)) for value in listed):
            raise OptionError("event contains an entry that is not a value", where="waiver", remedy=remedy)
        if listed:
            told[str(column)] = sorted(listed, key=str)
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def read_date(value: object, *, where: str) -> date:
    """Read a day from a date or text."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise OptionError("is not a date", where=where, remedy="Write for instance 2026-11-15") from None


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
#: The limits that smaller values make stricter; larger values do so for the others. One that is not set is the loosest.
_STRICTER_BELOW = frozenset({"max_posterior", "max_gain", "min_confidence", "min_support"})
Level = Literal["option", "data set", "organisation", "given", "default"]  #: Who says what a limit is.

MOST_PEOPLE = 2**49  #: Limit of every number of people; counts stay exact far below.


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """File of a policy: the organisation's or data set's."""

    level: Level
    name: str
    sha256: str

    def to_dict(self) -> dict[str, str]:
        """The file as in the record."""
        return {"level": self.level, "file": self.name, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits beyond which a release is exposed.

    ``k`` (ACRO's ``safe_threshold``): some event is proved to hold for 1 to k-1 people. ``l``: some person keeps fewer than l possible values.
    ``max_posterior`` and ``max_gain``: an estimate exceeds them (only where set). ``min_confidence`` and ``min_support``: a hidden cell is
    inferred by a rule above both. ``safe_round_base`` is the smallest base that counts are rounded to by the repair ``round`` and in
    suggestions, ACRO's 5 where it is not set; what no attack breaks may be coarser. ``zeros_are_disclosive``: frequency tables that hide
    small cells hide empty ones as well, since an empty cell says what nobody beside it has.

    ``waivers`` are accepted findings; those with a last day are compared with ``today``. ``origin`` says who set a limit, and
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
            raise OptionError("contains an entry that is not a waiver", where="waivers", remedy=remedy)
        object.__setattr__(self, "waivers", tuple(self.waivers))
        if self.today is not None:
            object.__setattr__(self, "today", read_date(self.today, where="--date"))

    @property
    def least_base(self) -> int:
        """The smallest base that a repair may choose."""
        return LIMITS["safe_round_base"] if self.safe_round_base is None else self.safe_round_base

    @property
    def set_by(self) -> dict[str, Level]:
        """Origin of each limit: an option, a file, a caller, or the default."""
        told: dict[str, Level] = {}
        for name, default in LIMITS.items():
            value = getattr(self, name)
            told[name] = self.origin.get(name, "default" if value is None or _plain(value) == default else "given")
        return told

    def to_dict(self) -> dict[str, Any]:
        """The limits as in the record, under their own names and ACRO's."""
        told = {name: _plain(getattr(self, name)) for name in LIMITS}
        return told | {"safe_round_base": self.least_base, "safe_threshold": self.k}


def policy_of(given: Policy | Mapping[str, Any] | None, **limits: Any) -> Policy:
    """Return a policy, also from a dict; limits that are not None replace its own.

    >>> policy_of({"k": 5, "l": 3}, k=20).to_dict()["k"], policy_of(None, k=None) == Policy()
    (20, True)
    """
    said = {name: value for name, value in limits.items() if value is not None}
    if given is None:
        return Policy(**said)
    if isinstance(given, Policy):
        origin = {name: level for name, level in given.origin.items() if name not in said}
        return replace(given, **said, origin=origin) if said else given
    if not isinstance(given, Mapping):
        remedy = "Write for instance policy={'k': 5}, or tacit.Policy(k=5)"
        raise OptionError("is neither a policy nor a dict of limits", where="policy", remedy=remedy)
    named = {ACRO_NAMES.get(str(name), str(name)): value for name, value in given.items()}
    for name in named:
        if name not in _SETTABLE:
            raise OptionError(f"there is no limit {name!r}", where="policy", remedy=nearest_name(name, _SETTABLE, "limits"))
    return Policy(**named | said)


#: The names in a dict that stands for a policy.
_SETTABLE = (*LIMITS, "waivers", "today")


def is_looser(name: str, value: Any, floor: Any) -> bool:
    """Tell if one value of a limit allows more."""
    if value is None or floor is None:
        return value is None and floor is not None
    ours = exact(value, where=name)
    theirs = exact(floor, where=name)
    return ours > theirs if name in _STRICTER_BELOW else ours < theirs


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


Check = Callable[[], None]  #: Function called now and then by a long computation; it may raise :class:`LimitReached`.
#: When everything that runs now has to end, by the monotonic clock.
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Set a deadline for a block; keep earlier ones."""
    token = _deadline.set(Limits.within(seconds).deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float | None:
    """Return the seconds until the deadline (above 0), or None."""
    return Limits(_deadline.get()).seconds_left


def check_time(where: str) -> None:
    """Raise :class:`LimitReached` after the deadline."""
    Limits(_deadline.get()).check(where)


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limit of an attack."""

    deadline: float | None = None
    seed: int = 0

    @classmethod
    def within(cls, seconds: float | None, *, seed: int = 0) -> Limits:
        """Return limits that end within ``seconds``."""
        if seconds is not None and not seconds > 0:
            raise OptionError("must be more than 0 seconds", where="--time-limit", remedy="Write for instance 60")
        ends = [_deadline.get(), None if seconds is None else time.monotonic() + seconds]
        return cls(min((end for end in ends if end is not None), default=None), seed)

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds left (above 0), or None."""
        return None if self.deadline is None else max(0.001, self.deadline - time.monotonic())

    def part(self, share: float) -> Limits:
        """Return the limits with a share of the time."""
        left = self.seconds_left
        return self if left is None else Limits.within(left * share, seed=self.seed)

    @property
    def is_over(self) -> bool:
        """True if time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def check(self, where: str) -> None:
        """Raise :class:`LimitReached` when the time is over."""
        if self.is_over:
            raise LimitReached("the time limit was reached", where=where, remedy="Give more time with --time-limit")
