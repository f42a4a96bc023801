"""Histories of a column whose values may have changed: what somebody had in one release and what she has in the next.

A history is written as a JSON list of two values; null stands for every value that no release names. Of somebody who has such values twice, a
third entry says that they are not the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import product

from tacit.model.event import Change, Side
from tacit.wording.joint import differs

#: The kinds of an axis of histories, by the kind of the axis whose values may have changed.
OF_KIND = {"column": "change", "item": "item_change"}
KINDS = frozenset(OF_KIND.values())


def all_histories(kind: str, values: Sequence[str], is_open: bool) -> list[str]:
    """Every history of a column with these values, and others besides where it is open.

    >>> all_histories("item", ["has"], True)
    ['["has", "has"]', '["has", null]', '[null, "has"]', '[null, null]']
    """
    found: list[tuple[str | None, ...]] = list(product([*values, *([None] if is_open else [])], repeat=2))
    if is_open and kind != "item":
        found.append((None, None, "changed"))
    return [json.dumps(history, ensure_ascii=False) for history in found]


def with_value(histories: Collection[str], half: int, values: Collection[str], excluded: bool) -> frozenset[str]:
    """The histories whose first or second half is one of these values, or none of them."""
    return frozenset(one for one in histories if (json.loads(one)[half] in values) != excluded)


def change_of(kind: str, name: str, every: Collection[str], inside: frozenset[str]) -> Change | None:
    """Some of all histories as a change that can be told; None where it cannot.

    >>> every = all_histories("column", ["no", "yes"], False)
    >>> change_of("change", "smokes", every, frozenset(['["no", "yes"]']))
    Change(name='smokes', before=(('smokes=no',), ()), after=(('smokes=yes',), ()))
    """
    if inside == frozenset(filter(differs, every)):
        return Change(name)
    read = {one: json.loads(one) for one in every}
    halves = [{read[one][half] for one in inside} for half in (0, 1)]
    if inside != {one for one in every if read[one][0] in halves[0] and read[one][1] in halves[1]}:
        return None
    before, after = (_told(kind, name, half, {values[place] for values in read.values()}) for place, half in enumerate(halves))
    return None if before is None or after is None else Change(name, before, after)


def _told(kind: str, name: str, half: set[str | None], every: set[str | None]) -> Side | None:
    """Half of a history as what somebody has and lacks; None where that cannot be said."""
    if half == every:
        return (), ()
    if len(half) == 1 and None not in half:
        return tuple(_literal(kind, name, value) for value in half if value is not None), ()
    outside = every - half
    if None in outside:
        return None
    return (), tuple(sorted(_literal(kind, name, value) for value in outside if value is not None))


def _literal(kind: str, name: str, value: str) -> str:
    return name if kind == OF_KIND["item"] else f"{name}={value}"
