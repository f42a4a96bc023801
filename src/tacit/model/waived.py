"""Waivers matched with the findings of an audit: which are accepted, by whom, and which waivers match nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from tacit.model.event import Event
from tacit.model.waiver import Waiver, WaiverStatus, event_key


class _Run(Protocol):
    """What is looked at of an attack's run."""

    @property
    def code(self) -> str: ...

    @property
    def severity(self) -> Sequence[Any] | Any: ...

    @property
    def event(self) -> Any: ...

    def id(self, index: int) -> str: ...


@dataclass(frozen=True, slots=True)
class Waived:
    """The findings that somebody accepts: ``places`` says of (run, finding) which waiver it is."""

    waivers: tuple[Waiver, ...] = ()
    places: Mapping[tuple[int, int], int] = field(default_factory=dict)
    ended: frozenset[int] = frozenset()

    @classmethod
    def among(cls, runs: Sequence[_Run], waivers: Sequence[Waiver], today: date | None) -> Waived:
        """The waivers matched with all findings of the runs; without waivers no finding is looked at."""
        ended = frozenset(number for number, waiver in enumerate(waivers) if waiver.ended(today))
        open_ones = [(number, waiver) for number, waiver in enumerate(waivers) if number not in ended]
        ids = {waiver.finding: number for number, waiver in reversed(open_ones) if waiver.finding is not None}
        events = {event_key(waiver.event): number for number, waiver in reversed(open_ones) if waiver.event is not None}
        places: dict[tuple[int, int], int] = {}
        for owner, run in enumerate(runs):
            of_code = {id: number for id, number in ids.items() if id.startswith(f"{run.code}-")}
            if run.event is None or not (of_code or events):
                continue
            for index, number in _matched(run, of_code, events):
                places[owner, index] = number
        return cls(tuple(waivers), places, ended)

    def waiver_of(self, owner: int, index: int) -> Waiver | None:
        """Who accepts a finding of a run, if anybody does."""
        number = self.places.get((owner, index))
        return None if number is None else self.waivers[number]

    def of(self, owner: int) -> list[int]:
        """The findings of a run that are accepted."""
        return sorted(index for run, index in self.places if run == owner)

    def number(self, owner: int) -> int:
        """How many findings of a run are accepted."""
        return sum(run == owner for run, _ in self.places)

    def status(self, number: int) -> tuple[WaiverStatus, int]:
        """What became of a waiver, and how many findings it is about."""
        found = sum(place == number for place in self.places.values())
        return ("ended" if number in self.ended else "applied" if found else "unmatched"), found

    def to_list(self) -> list[dict[str, Any]]:
        """The waivers as in the record, each with what became of it."""
        out = []
        for number, waiver in enumerate(self.waivers):
            status, found = self.status(number)
            out.append(waiver.to_dict() | {"status": status, "findings": found})
        return out


def _matched(run: _Run, ids: Mapping[str, int], events: Mapping[str, int]) -> Iterable[tuple[int, int]]:
    """The findings of a run that some waiver is about; ends early when only single ones are looked for and all are found."""
    missing = set(ids)
    for index in range(len(run.severity)):
        if not missing and not events:
            return
        if missing and (name := run.id(index)) in missing:
            missing.discard(name)
            yield index, ids[name]
        elif events and (number := events.get(_key_of(run.event(index)))) is not None:
            yield index, number


def _key_of(event: Event) -> str:
    return event_key(event.to_dict())
