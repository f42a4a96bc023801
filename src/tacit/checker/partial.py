"""Checks findings about blank cells of a table.

A certificate says how many records fit its pattern, how many of them show the value, and on which lines the records stand whose cell is
inferred. The checker counts both in the table, never these records among those that show the value, and compares with the thresholds of the
policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.checker.rules import Reject
from tacit.model.partial import PartialTable
from tacit.model.words import BlankRule


@dataclass(frozen=True, slots=True)
class TableBook:
    """Table that findings about blank cells are checked by."""

    table: PartialTable


def check_table(finding: Mapping[str, Any], table: PartialTable, policy: Mapping[str, Any]) -> None:
    """Raise unless a finding of T01 follows.

    Each sensitive column of the event is tried as the inferred one.
    """
    reasons: list[Reject] = []
    for column in (name for name in finding["event"] if name in table.people.schema.sa):
        try:
            return _check_told(finding, table, policy, column)
        except Reject as reason:
            reasons.append(reason)
    raise reasons[-1] if reasons else Reject("its event is not a pattern of conditions and a sensitive value")


def _check_told(finding: Mapping[str, Any], table: PartialTable, policy: Mapping[str, Any], column: str) -> None:
    schema = table.people.schema
    pattern = {name: _single(values) for name, values in finding["event"].items() if name != column}
    value = _single(finding["event"][column])
    names = (*schema.qi, *(name for name in table.people.names if name not in schema.used), *schema.sa)
    conditions = [name for name in names if name != column]
    if not set(pattern) <= set(conditions):
        raise Reject("its event is not a pattern of conditions and one sensitive value")
    pattern = {name: pattern[name] for name in conditions if name in pattern}
    rows = [int(line) - 2 for line in finding["certificate"]["lines"]]
    if any(not 0 <= row < len(table) for row in rows):
        raise Reject("it cites a line outside the table")
    if finding["count"] != [len(rows), len(rows)] or not rows or len(set(rows)) < len(rows):
        raise Reject("its count is not that of the records that it cites")
    mine = np.zeros(len(table), np.bool_)
    mine[rows] = True
    fits = np.ones(len(table), np.bool_)
    for name, wanted in pattern.items():
        fits &= _shows(table, name, wanted)
    shows = _shows(table, column, value)
    if not pattern:
        if not bool(shows[mine].all()):
            raise Reject("a record that it cites does not show the value")
        shown = BlankRule({}, column, value, 0, both=0, rows=rows)
        return _check_rest(finding, shown, {}, shown.state_shown())
    blank = table.hidden[:, table.people.names.index(column)]
    if not bool(fits[mine].all()) or not bool((blank | shows)[mine].all()):
        raise Reject("a record that it cites does not fit its pattern, or shows another value")
    whole = int(fits.sum())
    both = int((fits & shows & ~mine).sum())
    confidence = Fraction(repr(float(policy["min_confidence"])))
    support = int(policy["min_support"])
    if both <= support or both <= confidence * whole:
        raise Reject("the rule is within the thresholds of the policy")
    rule = BlankRule(pattern, column, value, whole, both=both, rows=rows)
    return _check_rest(finding, rule, {"records": whole, "showing": both}, rule.state(confidence, support))


def _shows(table: PartialTable, column: str, value: str) -> npt.NDArray[np.bool_]:
    if column not in table.people.names:
        raise Reject("its event names a column that the table does not have")
    place = table.people.names.index(column)
    cells = table.people.columns[place]
    if value not in cells.values:
        return np.zeros(len(table), np.bool_)
    return np.asarray((cells.codes == cells.values.index(value)) & ~table.hidden[:, place], np.bool_)


def _single(values: Sequence[str]) -> str:
    if len(values) != 1:
        raise Reject("its event allows more than one value of a column")
    return str(values[0])


def _check_rest(
    finding: Mapping[str, Any], rule: BlankRule, counts: Mapping[str, int], words: tuple[str, tuple[str, ...]]
) -> None:
    because = finding["because"]
    cited = rule.cite(because[0]["release"] if because else 0, lambda row: row + 2)
    if dict(finding["certificate"]["counts"]) != counts or list(because) != [one.to_dict() for one in cited]:
        raise Reject("the table shows other counts, or it cites other lines")
    if (finding["statement"], tuple(finding["steps"])) != words:
        raise Reject("its words do not say what its event and its citations say")
