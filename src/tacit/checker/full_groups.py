"""Checks of groups that share a sensitive value.

Somebody is in the group, and nobody in it has another value.

Both are bounds on groups, shown by weights on published lines as for several releases (:mod:`tacit.checker.joint`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.joint import check_bound, check_cited
from tacit.checker.lines import Box, JointBook, name_of
from tacit.checker.rules import Reject
from tacit.model.frequencies import UNBOUNDED
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.release import Release
from tacit.model.steps import render_steps
from tacit.model.words import HAS, full_group_sentence, full_group_steps


def is_about_groups(finding: Mapping[str, Any]) -> bool:
    """Return True if a finding concerns a whole group."""
    return "others" in (finding.get("certificate") or {})


def check_full_group(finding: Mapping[str, Any], releases: Sequence[Release], people: str, least: int) -> None:
    """Raise unless a nonempty group keeps under ``least`` values."""
    proof = finding["certificate"]
    numbers = [int(number) for number in proof["of"]]
    if not numbers or len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(len(releases))):
        raise Reject("it is about releases that are not there")
    if len(numbers) > 1 and (proof.get("people") != "same" or people != "same"):
        raise Reject("it takes releases together whose people are not the same")
    book = JointBook([releases[number] for number in numbers], "same")
    sensitive = str(proof["sensitive"])
    event = dict(finding["event"])
    left = event.pop(sensitive, [])
    if not 0 < len(set(left)) == len(left) < least:
        raise Reject(f"it leaves {len(left)} values, and the policy allows that")
    box = _box(book, event)
    cited: dict[tuple[int, Any], tuple[int, int]] = {}
    lo, hi = finding["count"]
    reached = 0
    if "blanks" in proof:
        reached = _check_blanks(finding, book, sensitive, left)
    elif check_bound(book, proof["least"], box, "at_least", cited) != lo or lo < 1:
        raise Reject("its steps show another number of people")
    shown = check_bound(book, proof["most"], box, "at_most", cited) if proof["most"] else UNBOUNDED
    if "blanks" not in proof and shown != hi:
        raise Reject("its steps show another number of people")
    axis = ("column", sensitive)
    if proof["others"]:
        others = box | {axis: (frozenset(left), True)}
        if check_bound(book, proof["others"], others, "at_most", cited) != reached:
            raise Reject("its steps do not show that nobody has another value")
    elif axis not in book.domains or not book.domains[axis] <= set(left):
        raise Reject("no release says that the sensitive column has no other values")
    because = [dict(one, release=numbers.index(one["release"])) for one in finding["because"] if one["release"] in numbers]
    if len(because) < len(finding["because"]):
        raise Reject("it cites a release that it is not about")
    check_cited(book, because, cited)
    _check_words(finding, book, sensitive)


def _check_blanks(finding: Mapping[str, Any], book: JointBook, sensitive: str, left: Sequence[str]) -> int:
    """Check blanks; count other rows with excluded values."""
    told = finding["certificate"]["blanks"]
    number = int(told["release"])
    rows = book.rows.get(number)
    if rows is None or not isinstance(book.releases[number], PartialTable) or sensitive not in rows.rows:
        raise Reject("it is about blanks of a release that has none")
    others = [(name, values) for name, values in finding["event"].items() if name != sensitive]
    if any(name not in rows.rows for name, _ in others):
        raise Reject("it describes rows by a column that the table does not have")
    inside = [row for row in range(len(rows.rows[sensitive])) if all(rows.rows[name][row] in values for name, values in others)]
    blank = sum(rows.rows[sensitive][row] is None for row in inside)
    shown = sum(rows.rows[sensitive][row] not in (None, *left) for row in inside)
    if not blank or finding["count"] != [blank, blank] or dict(told) != {"release": number, "rows": blank, "shown": shown}:
        raise Reject("other rows of the table are blank, or show other values")
    if finding["certificate"]["least"] or finding["certificate"]["most"]:
        raise Reject("it counts more than blanks")
    return shown


def _box(book: JointBook, event: Mapping[str, Sequence[str]]) -> Box:
    """The group, without the sensitive column."""
    box: Box = {}
    for name, values in event.items():
        kind = "item" if name not in book.columns and list(values) == [HAS] else "column"
        box[kind, name] = (frozenset(values), False)
    return box


def _check_words(finding: Mapping[str, Any], book: JointBook, sensitive: str) -> None:
    """Raise unless sentence and steps match the certificate."""
    proof = finding["certificate"]
    number = int(proof["blanks"]["release"]) if "blanks" in proof else None
    table = "" if number is None else name_of(book.releases[number], number)
    if finding["statement"] != full_group_sentence(finding["event"], sensitive, Bound(*finding["count"]), table):
        raise Reject("its sentence does not say what its event and count say")
    if tuple(finding["steps"]) != render_steps(full_group_steps(proof, book.look_up, table)):
        raise Reject("its steps do not say what its certificate says")
