"""A finding that somebody accepts, with a reason and a name: it stays listed, and does not count against the release."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from tacit.errors import OptionError

WaiverStatus = Literal["applied", "ended", "unmatched"]
_ID = re.compile(r"[A-Z]\d\d-[0-9a-f]{12}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Waiver:
    """Who accepts what, and why: one finding by its id, or every finding about an event.

    ``people`` is the number of people that it was given for, or the two ends of what is proved about it: the ``count`` of the finding. A finding
    about more people, or about fewer (who are described the more closely), is another one. ``release`` binds the waiver to releases by their
    SHA-256: it holds only where no other release is audited. ``event`` is written as in the record. ``until`` is the last day on which the
    waiver holds; it is compared with the date that the audit is given, never with the clock.

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

    def __post_init__(self) -> None:
        for field, example in (("reason", "published by the census anyway"), ("name", "A. Checker")):
            value = getattr(self, field)
            if not isinstance(value, str) or not value.strip():
                raise OptionError(f"has no {field}", where="waiver", remedy=f'Write for instance {field} = "{example}"')
        if (self.finding is None) == (self.event is None):
            remedy = 'Write finding = "I01-0123456789ab" or event = { present = ["a"], absent = ["b"] }'
            raise OptionError("names neither a finding nor an event, or both", where="waiver", remedy=remedy)
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
    def code(self) -> str | None:
        """The attack whose finding it names; None where it is about an event."""
        return None if self.finding is None else self.finding.partition("-")[0]

    def holds_for(self, lo: int, hi: int) -> bool:
        """Whether it was given for a finding about so many people."""
        return (lo, hi) == self.people

    def holds_in(self, releases: Sequence[str | None]) -> bool:
        """Whether it was given for these releases, by their SHA-256."""
        return not self.release or all(one in self.release for one in releases)

    def ended(self, today: date | None) -> bool:
        """Whether its last day is over; a date is needed where it has one."""
        if self.until is None:
            return False
        if today is None:
            raise OptionError("has a last day, and no date is given", where="waiver", remedy="Give today's date with --date")
        return self.until < today

    def to_dict(self) -> dict[str, Any]:
        """The waiver as in the record."""
        what: dict[str, Any] = {"finding": self.finding} if self.event is None else {"event": json.loads(event_key(self.event))}
        told = {"reason": self.reason, "name": self.name, "until": self.until.isoformat() if self.until else None}
        return what | told | {"people": list(self.people), "release": list(self.release)}  # type: ignore[arg-type]


def _people(given: object) -> tuple[int, int]:
    """The number of people of a waiver, as the two ends of what is proved about it."""
    ends: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given, given]
    if (
        len(ends) != 2
        or not all(isinstance(one, int) and not isinstance(one, bool) for one in ends)
        or not 0 < ends[0] <= ends[1]
    ):
        what = "does not say how many people it is for" if given is None else "people is no number of people"
        remedy = "Copy the count of the finding: people = 9, or people = [1, 3] where it is not exact"
        raise OptionError(what, where="waiver", remedy=remedy)
    return ends[0], ends[1]


def _releases(given: object) -> tuple[str, ...]:
    """The SHA-256 of each release that a waiver is bound to."""
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, (list, tuple)) else [None]
    if not all(isinstance(one, str) and _SHA256.fullmatch(one) for one in listed):
        remedy = "Copy it from the audit: 64 digits and letters from a to f"
        raise OptionError("release is not the SHA-256 of one", where="waiver", remedy=remedy)
    return tuple(listed)


def event_key(event: Mapping[str, Any]) -> str:
    """An event as text that is the same however it was written: values sorted, empty lists left out.

    >>> event_key({"absent": ["c"], "present": ["b", "a"]}) == event_key({"present": ["a", "b"], "absent": ["c"], "not_all": []})
    True
    """
    remedy = 'Write it as in the record, for instance event = { sex = ["F"], age = ["30"] }'
    if not isinstance(event, Mapping):
        raise OptionError("event is no table of columns and values", where="waiver", remedy=remedy)
    told: dict[str, Any] = {}
    for column, values in event.items():
        listed = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
        if not all(isinstance(value, (str, int)) for value in listed):
            raise OptionError("event holds something that is no value", where="waiver", remedy=remedy)
        if listed:
            told[str(column)] = sorted(listed, key=str)
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def read_date(value: object, *, where: str) -> date:
    """A day, from a date or from text such as 2026-11-15."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise OptionError("is no date", where=where, remedy="Write for instance 2026-11-15") from None
