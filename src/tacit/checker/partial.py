"""Checks findings about blank cells, and about small classes, of a table.

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
from tacit.model.arrays import Flags
from tacit.model.finding import render_steps
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.words import BlankRule, PeopleAlike, Shared


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


def check_class(finding: Mapping[str, Any], table: PartialTable, policy: Mapping[str, Any]) -> None:
    """Raise unless a finding of T03 follows.

    Rows that show all cells of the event belong to the class, rows that show or hide each of them may; both are counted again, and
    so are the sensitive values that they show.
    """
    schema = table.people.schema
    if not set(finding["event"]) <= set(schema.qi):
        raise Reject("its event is not a combination of quasi-identifiers")
    pattern = {name: _single(finding["event"][name]) for name in schema.qi if name in finding["event"]}
    shows = np.ones(len(table), np.bool_)
    fits = np.ones(len(table), np.bool_)
    for name, value in pattern.items():
        same = _shows(table, name, value)
        shows &= same
        fits &= same | table.hidden[:, table.people.names.index(name)]
    count = Bound(int(shows.sum()), int(fits.sum()))
    if count.lo < 1 or finding["count"] != count.to_list():
        raise Reject("the table shows another number of people with these quasi-identifiers")
    least = int(policy["l"])
    most = policy["max_posterior"]
    limit = None if most is None else Fraction(repr(float(most)))
    told: dict[str, tuple[str, ...]] = {}
    sure: dict[str, Shared] = {}
    for column in schema.sa:
        place = table.people.names.index(column)
        values = np.array(table.people.columns[place].values, object)[table.people.columns[place].codes]
        values[table.hidden[:, place]] = ""
        possible = sorted(set(values[fits].tolist()))
        if "" not in possible and len(possible) < least:
            told[column] = tuple(possible)
        elif limit is not None:
            shares = [_share(values, value, shows, fits) for value in possible if value]
            best = max(shares, key=lambda one: one.part, default=None)
            if best is not None and best.part > limit:
                sure[column] = best
    if count.hi >= int(policy["k"]) and not told and not sure:
        raise Reject("the class has enough people and enough values")
    lines = [int(row) + 2 for row in np.flatnonzero(shows).tolist()]
    people = PeopleAlike(pattern, count, told, sure, lines)
    because = finding["because"]
    cited = people.cite(because[0]["release"] if because else 0)
    proof = finding["certificate"]
    if dict(proof["counts"]) != {"rows": count.lo, "may_fit": count.hi - count.lo} or list(proof["lines"]) != people.cited:
        raise Reject("the table shows other counts, or its certificate names other lines")
    if list(because) != [one.to_dict() for one in cited]:
        raise Reject("the table shows other counts, or it cites other lines")
    statement, steps = people.state(int(policy["k"]), least, limit)
    if (finding["statement"], tuple(finding["steps"])) != (statement, render_steps(steps)):
        raise Reject("its words do not say what its event and its citations say")


def _share(values: npt.NDArray[Any], value: str, shows: Flags, fits: Flags) -> Shared:
    has = values == value
    return Shared(value, int((has & shows).sum()), int(fits.sum()) - int((has & fits & ~shows).sum()))


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
