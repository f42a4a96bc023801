"""Names for several values of a column, as the header of a release of rules or leaves holds them.

"value_groups": [{"column": "job", "name": "not clerk", "not": ["clerk"]}, {"column": "age", "name": "old", "values": ["60", "70"]}]
"""

from __future__ import annotations

from typing import Any

from tacit.errors import InputError
from tacit.model.release import ValueGroup

_REMEDY = 'Write for instance [{"column": "job", "name": "not clerk", "not": ["clerk"]}]'


def value_groups(entry: Any, *, where: str) -> tuple[ValueGroup, ...]:
    """The groups of a header's entry; none where there is no entry."""
    if entry is None:
        return ()
    place = f"{where}, key 'value_groups'"
    if not isinstance(entry, list):
        raise InputError("is not a list of groups of values", where=place, remedy=_REMEDY)
    found = tuple(_group(one, f"{place}, entry {number}") for number, one in enumerate(entry, 1))
    if len({(group.column, group.name) for group in found}) < len(found):
        raise InputError("names two groups of a column alike", where=place, remedy="Give each group a name of its own")
    return found


def _group(entry: Any, where: str) -> ValueGroup:
    """One group."""
    keys = {"values", "not"} & set(entry) if isinstance(entry, dict) else set()
    if len(keys) != 1 or not all(isinstance(entry.get(name), str) for name in ("column", "name")):
        raise InputError("is not a group with a column, a name, and its values or those it is not", where=where, remedy=_REMEDY)
    key = keys.pop()
    values = entry[key]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"its {key!r} is not a list of texts", where=where, remedy=_REMEDY)
    return ValueGroup(entry["column"], entry["name"], tuple(values), excluded=key == "not")


def group_entries(groups: tuple[ValueGroup, ...]) -> list[dict[str, Any]]:
    """The groups as entries of a header."""
    return [
        {"column": group.column, "name": group.name, "not" if group.excluded else "values": list(group.values)}
        for group in groups
    ]
