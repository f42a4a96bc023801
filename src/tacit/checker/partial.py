"""Checks findings about blank cells of a table.

A certificate says how many records fit its pattern, how many of them show the value, and on which lines the records stand whose cell is
inferred. The checker counts both in the table, never these records among those that show the value, and compares with the thresholds of the
policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.checker.rules import Reject
from tacit.model.finding import Citation, RecordsWith
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable

#: How many rows a step names.
_SHOWN = 8


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
        verb = "is" if len(rows) == 1 else "are"
        statement = f"The {column} {value} of {_records(len(rows))} that {verb} to be protected is published as it is."
        words = [statement, f"The table shows {column} {value} in {_rows(rows)}."]
        return _check_rest(finding, rows, {}, [], words=words)
    blank = table.hidden[:, table.people.names.index(column)]
    if not bool(fits[mine].all()) or not bool((blank | shows)[mine].all()):
        raise Reject("a record that it cites does not fit its pattern, or shows another value")
    whole = int(fits.sum())
    both = int((fits & shows & ~mine).sum())
    confidence = Fraction(repr(float(policy["min_confidence"])))
    support = int(policy["min_support"])
    if both <= support or both <= confidence * whole:
        raise Reject("the rule is within the thresholds of the policy")
    described = ", ".join(f"{name}={text}" for name, text in pattern.items())
    share = _percent(Fraction(both, whole))
    those = _records(len(rows))
    verb = "shows" if both == 1 else "show"
    head = f"{both:,} of the {_records(whole)} with {described} {verb} {column} {value} ({share})"
    words = [
        f"{head}, which tells the {column} of {those}.",
        f"{_records(whole)} {'shows' if whole == 1 else 'show'} {described}.",
        f"{both:,} of them {verb} {column} {value}; a blank shows nothing.",
        f"{both:,} / {whole:,} = {share}, which is more than {_percent(confidence)} and {_records(support)} allow.",
        f"So a reader takes {value} for the {column} of {those} with {described}: {_rows(rows)}.",
    ]
    cited = [(RecordsWith(pattern), whole), (RecordsWith(pattern | {column: value}), both)]
    return _check_rest(finding, rows, {"records": whole, "showing": both}, cited, words=words)


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
    finding: Mapping[str, Any],
    rows: Sequence[int],
    counts: Mapping[str, int],
    counted: Sequence[tuple[RecordsWith, int]],
    words: Sequence[str],
) -> None:
    """Raise unless certificate, citations and words match the rows."""
    because = finding["because"]
    owner = because[0]["release"] if because else 0
    cited = [Citation(owner, place, Bound.of(number), None) for place, number in counted]
    cited += [Citation(owner, row + 2, Bound.of(1), None) for row in rows]
    if dict(finding["certificate"]["counts"]) != counts or list(because) != [one.to_dict() for one in cited]:
        raise Reject("the table shows other counts, or it cites other lines")
    if [finding["statement"], *finding["steps"]] != words:
        raise Reject("its words do not say what its event and its citations say")


def _percent(share: Fraction) -> str:
    return f"{round(100 * share.numerator / share.denominator, 1):g} %"


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def _rows(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}"
    shown = [str(row) for row in rows[:_SHOWN]]
    last = f"{len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else shown.pop()
    return f"rows {', '.join(shown)} and {last}"
