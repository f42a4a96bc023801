"""Columns whose values may have changed between two releases, read anew for the checker.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks. Where a column may have changed, people are told apart by
what they had and what they have: a JSON list of the two values, in which null is any value that no release names. Somebody with two such
values has the same one twice, unless ``"changed"`` stands behind them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.rules import Reject

Axis = tuple[str, str]
Values = tuple[frozenset[str], bool]
Box = dict[Axis, Values]

#: The kinds of axes of histories.
KINDS = ("change", "item_change")


class Histories:
    """The histories of the columns that may have changed."""

    def __init__(
        self, columns: frozenset[str], named: Mapping[Axis, frozenset[str]], domains: Mapping[Axis, frozenset[str]]
    ) -> None:
        self.values: dict[Axis, frozenset[str]] = {}
        self._axis: dict[Axis, Axis] = {}
        for name in columns:
            column: Axis = ("column", name) if ("column", name) in named else ("item", name)
            is_closed = column in domains
            known = sorted(domains[column] if is_closed else named.get(column, frozenset()))
            values: list[str | None] = [*known] if is_closed else [*known, None]
            pairs: list[list[str | None]] = [[before, after] for before in values for after in values]
            if not is_closed and column[0] == "column":
                pairs.append([None, None, "changed"])
            axis = ("change" if column[0] == "column" else "item_change", name)
            self._axis[column] = axis
            self.values[axis] = frozenset(json.dumps(pair, ensure_ascii=False) for pair in pairs)

    def rewritten(self, box: Box, half: int) -> Box:
        """A box of people of one release, by what they had or have there."""
        out: Box = {}
        for axis, (values, excluded) in box.items():
            if axis not in self._axis:
                out[axis] = (values, excluded)
                continue
            over = self._axis[axis]
            out[over] = (frozenset(one for one in self.values[over] if (json.loads(one)[half] in values) != excluded), False)
        return out

    def changed(self, name: str) -> Box:
        """The people who have another value of a column than before."""
        for axis, values in self.values.items():
            if axis[1] == name:
                return {axis: (frozenset(one for one in values if _differs(json.loads(one))), False)}
        raise Reject("it rests on changes of a column that is not declared to change")

    def box_of(self, changes: Sequence[Mapping[str, Any]]) -> Box:
        """The people of an event, by what they changed."""
        out: Box = {}
        for change in changes:
            box = self.changed(change["column"])
            (axis,) = box
            if not change.get("changed"):
                kept = frozenset(one for one in self.values[axis] if _fits(axis, json.loads(one), change))
                box = {axis: (kept, False)}
            if axis in out:
                raise Reject("its event names a column twice")
            out |= box
        return out


def _differs(history: Sequence[str | None]) -> bool:
    return len(history) == 3 or history[0] != history[1]


def _fits(axis: Axis, history: Sequence[str | None], change: Mapping[str, Any]) -> bool:
    """Whether a history has what a change tells of before and of after."""
    for value, side in zip(history[:2], (change["before"], change["after"]), strict=True):
        name = axis[1] if axis[0] == "item_change" else f"{axis[1]}={value}"
        has = set() if value is None else {name}
        if not has.issuperset(side["present"]) or has & set(side["absent"]):
            return False
    return True
