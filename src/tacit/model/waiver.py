"""A finding that somebody accepts, with a reason and a name: it stays listed, and does not count against the release."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from tacit.errors import OptionError

WaiverStatus = Literal["applied", "ended", "unmatched"]
_ID = re.compile(r"[A-Z]\d\d-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Waiver:
    """Who accepts what, and why: one finding by its id, or every finding about an event.

    ``event`` is written as in the record. ``until`` is the last day on which the waiver holds; it is compared with the date that the audit is
    given, never with the clock.

    >>> Waiver(finding="I01-0123456789ab", reason="known from the census", name="A. Checker").reason
    'known from the census'
    """

    reason: str
    name: str
    finding: str | None = None
    event: Mapping[str, Any] | None = None
    until: date | None = None

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
        if self.until is not None:
            object.__setattr__(self, "until", read_date(self.until, where="waiver, until"))

    @property
    def code(self) -> str | None:
        """The attack whose finding it names; None where it is about an event."""
        return None if self.finding is None else self.finding.partition("-")[0]

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
        return what | {"reason": self.reason, "name": self.name, "until": self.until.isoformat() if self.until else None}


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
