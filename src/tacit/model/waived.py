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

    @property
    def columns(self) -> Mapping[str, Any]: ...

    def id(self, index: int) -> str: ...


@dataclass(frozen=True, slots=True)
class Waived:
    """The findings that somebody accepts: ``places`` says of (run, finding) which waiver it is."""

    waivers: tuple[Waiver, ...] = ()
    places: Mapping[tuple[int, int], int] = field(default_factory=dict)
    ended: frozenset[int] = frozenset()

    @classmethod
    def among(
        cls, runs: Sequence[_Run], waivers: Sequence[Waiver], today: date | None, releases: Sequence[str | None] = ()
    ) -> Waived:
        """The waivers matched with all findings of the runs on these releases; without waivers no finding is looked at."""
        ended = frozenset(number for number, waiver in enumerate(waivers) if waiver.ended(today))
        ids: dict[str, list[int]] = {}
        events: dict[str, list[int]] = {}
        for number, waiver in enumerate(waivers):
            if number in ended or not waiver.holds_in(releases):
                continue
            if waiver.finding is not None:
                ids.setdefault(waiver.finding, []).append(number)
            if waiver.event is not None:
                events.setdefault(event_key(waiver.event), []).append(number)
        places: dict[tuple[int, int], int] = {}
        for owner, run in enumerate(runs):
            of_code = {id: numbers for id, numbers in ids.items() if id.startswith(f"{run.code}-")}
            if run.event is None or not (of_code or events):
                continue
            for index, numbers in _matched(run, of_code, events):
                ends = int(run.columns["count"][index]), int(run.columns["count_hi"][index])
                for number in numbers:
                    if waivers[number].holds_for(*ends):
                        places[owner, index] = number
                        break
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


def _matched(
    run: _Run, ids: Mapping[str, Sequence[int]], events: Mapping[str, Sequence[int]]
) -> Iterable[tuple[int, Sequence[int]]]:
    """The findings of a run that some waivers are about; ends early when only single ones are looked for and all are found."""
    missing = set(ids)
    for index in range(len(run.severity)):
        if not missing and not events:
            return
        named: Sequence[int] = ()
        if missing and (name := run.id(index)) in missing:
            missing.discard(name)
            named = ids[name]
        described = events.get(_key_of(run.event(index)), ()) if events else ()
        if named or described:
            yield index, (*named, *described)


def _key_of(event: Event) -> str:
    return event_key(event.to_dict())
