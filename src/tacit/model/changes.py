"""Changes that a repair made, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tacit.model.release import Release

NUMBERS = ("count", "support", "confidence")  #: Columns of a published line that are printed numbers.


@dataclass(frozen=True, slots=True)
class LineChange:
    """A published line before and after: its numbers, or None where it is not published.

    ``line`` is its place in the old file; a line that is new has none. ``release`` is the number of the release, from 0, if there are several.
    """

    line: int | str | None
    about: Mapping[str, Any]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    release: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the change as in the record."""
        out: dict[str, Any] = {} if self.release is None else {"release": self.release}
        out |= {"line": self.line, "about": dict(self.about)}
        return out | {
            name: None if told is None else dict(told) for name, told in (("before", self.before), ("after", self.after))
        }


def changes_between(before: Release, after: Release) -> tuple[LineChange, ...]:
    """Return the lines that differ, in the order of the old release, new ones last.

    People who are grouped again have no lines in common; their groups are not listed.
    """
    if before is after or before.kind == "buckets":
        return ()
    return tuple(_changed_cells(before, after) if before.kind == "table" else _changed_lines(before, after))


def line_at(release: Release, index: int, record: Mapping[str, Any]) -> LineChange:
    """Return a published line, given as its record, as it is before any change."""
    numbers = _numbers(record)
    return LineChange(_place(release, index), _about(record), numbers, numbers)


def _changed_lines(before: Release, after: Release) -> Iterator[LineChange]:
    left = {_key(record): record for record in after.records()}
    for index, record in enumerate(before.records()):
        told = left.pop(_key(record), None)
        was = _numbers(record)
        now = None if told is None else _numbers(told)
        if now is None or (was != now and (was.get("count") is None or was.get("count") != now.get("count"))):
            yield LineChange(_place(before, index), _about(record), was, now)
    for record in left.values():
        yield LineChange(None, _about(record), None, _numbers(record))


def _changed_cells(before: Release, after: Release) -> Iterator[LineChange]:
    """Yield the cells of a table with blanks that differ; rows are in the same order."""
    for index, (was, told) in enumerate(zip(before.records(), after.records(), strict=False)):
        names = [name for name in was if name in told and was[name] != told[name]]
        if names:
            old, new = ({name: record[name] for name in names} for record in (was, told))
            yield LineChange(_place(before, index), {}, old, new)


def _place(release: Release, index: int) -> int | str:
    place: Any = getattr(release, "place", None) or release.line
    found: int | str = place(index)
    return found


def _about(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in NUMBERS}


def _numbers(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a line, without shares next to counts."""
    told = {name: value for name, value in record.items() if name in NUMBERS and value is not None}
    if "count" in told:
        told.pop("support", None)
    return told


def _key(record: Mapping[str, Any]) -> str:
    return json.dumps(_about(record), sort_keys=True, default=str)
