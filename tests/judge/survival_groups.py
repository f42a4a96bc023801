"""Membership of people in the groups that findings about survival tables name; shares no code with Tacit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BRACKETS = re.compile(r"([\[(])(\d+), (\d+)([\])])")
_WORDS = re.compile(r"(\d+) or more|over (\d+)|(\d+)")


def lies_in(time: int, label: str) -> bool:
    """Tell if a time lies in an interval."""
    if found := _BRACKETS.fullmatch(label):
        low = int(found[2])
        high = int(found[3])
        return (low <= time if found[1] == "[" else low < time) and (time <= high if found[4] == "]" else time < high)
    found = _WORDS.fullmatch(label)
    assert found is not None, label
    if found[1]:
        return time >= int(found[1])
    return time > int(found[2]) if found[2] else time == int(found[3])


def holds_of(event: Mapping[str, Any], person: tuple[int, bool, int], release: Any) -> bool:
    """Tell if a person is in the group of a finding."""
    return all(_has(item, person) for item in event["present"]) and not any(_has(item, person) for item in event["absent"])


def _has(item: str, person: tuple[int, bool, int]) -> bool:
    column, _, value = item.partition("=")
    if column == "arm":
        return value == f"arm {person[2]}"
    if column == "status":
        return (value == "event") == person[1]
    return lies_in(person[0], value)
