"""Re-checks groups of which everybody has one sensitive value: somebody is in the group, and nobody in it has another value.

Both are bounds on groups, shown by weights on published lines as for several releases (:mod:`tacit.checker.joint`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.checker.joint import check_bound, check_cited
from tacit.checker.lines import HAS, Box, JointBook
from tacit.checker.rules import Reject
from tacit.model.partial import PartialTable
from tacit.model.release import Release

#: Where no line bounds a group, its number of people is said to be below this.
UNBOUNDED = 2**50
#: How many terms of a sum the steps show.
_SHOWN = 16


def is_about_groups(finding: Mapping[str, Any]) -> bool:
    """Whether a finding is about everybody of a group, known or not."""
    return "others" in (finding.get("certificate") or {})


def check_full_group(finding: Mapping[str, Any], releases: Sequence[Release], people: str, least: int) -> None:
    """Raise :class:`Reject` unless somebody is in the group, and fewer than ``least`` values are left to its people."""
    proof = finding["certificate"]
    numbers = [int(number) for number in proof["of"]]
    if not numbers or len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(len(releases))):
        raise Reject("it is about releases that are not there")
    if len(numbers) > 1 and (proof.get("people") != "same" or people != "same"):
        raise Reject("it takes releases together whose people are not the same")
    book = JointBook([releases[number] for number in numbers], "same")
    sensitive, event = str(proof["sensitive"]), dict(finding["event"])
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
    _check_words(finding, book, sensitive, left)


def _check_blanks(finding: Mapping[str, Any], book: JointBook, sensitive: str, left: Sequence[str]) -> int:
    """Count the blanks that a finding is about; return how many rows beside them show a value that is ruled out."""
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


def _check_words(finding: Mapping[str, Any], book: JointBook, sensitive: str, left: Sequence[str]) -> None:
    """The sentence and the steps say what the certificate says."""
    who = " and ".join(
        name if list(values) == [HAS] else f"{name}={' or '.join(values)}"
        for name, values in finding["event"].items()
        if name != sensitive
    )
    number = _number(*finding["count"])
    proof = finding["certificate"]
    people = f" with {who}" if who else ""
    sentence = f"Everyone{people} has {sensitive}={' or '.join(left)} ({number})."
    if "blanks" in proof:
        name = _name(book, int(proof["blanks"]["release"]))
        sentence = f"The hidden {sensitive} of {number}{people} is {' or '.join(left)} ({name})."
    if finding["statement"] != sentence:
        raise Reject("its sentence does not say what its event and count say")
    told = [line for name in ("least", "most", "others") for step in proof[name] for line in _step(book, step)]
    told += [] if proof["others"] else [f"{sensitive} has no other values."]
    if "blanks" in proof and proof["others"]:
        told.append(f"So many rows of {name} show it: {proof['blanks']['shown']:,}. No blank hides it.")
    if list(finding["steps"]) != told:
        raise Reject("its steps do not say what its certificate says")


def _number(lo: int, hi: int) -> str:
    if (lo, hi) == (1, 1):
        return "1 person"
    if hi >= UNBOUNDED:
        return f"at least {lo:,} {'person' if lo == 1 else 'people'}"
    return f"{lo:,} people" if lo == hi else f"{lo:,} to {hi:,} people"


def _step(book: JointBook, step: Mapping[str, Any]) -> list[str]:
    """One step in words."""
    low = "at_least" in step
    parts = []
    for entry in step["event"]:
        kind = "item" if "item" in entry else "column"
        named = entry[kind] if kind == "item" else f"{entry[kind]}={' or '.join(entry['values'])}"
        parts.append(f"not {named}" if entry["excluded"] else named)
    group = f"people with {' and '.join(parts)}" if parts else "people"
    first = f"At {'least' if low else 'most'} {step['at_least' if low else 'at_most']:,} {group}:"
    if "split" in step:
        return [first, "by telling cases apart, which the certificate lists"]
    terms = [_term(book, entry, 1 if low else -1) for entry in step["weights"][:_SHOWN]]
    if len(step["weights"]) > _SHOWN:
        terms.append(f"and {len(step['weights']) - _SHOWN:,} more terms, which the certificate lists")
    return [first, *terms]


def _name(book: JointBook, number: int) -> str:
    source = book.releases[number].source
    return source.name if source else f"release {number + 1}"


def _term(book: JointBook, entry: Mapping[str, Any], sign: int) -> str:
    """One term of a sum in words."""
    weight = Fraction(entry["weight"])
    times = "" if abs(weight) == 1 else f"{abs(weight)} times "
    if "step" in entry:
        return f"plus {times}what was shown above ({entry['step'] + 1})"
    said = book.statement(entry)
    bound = said.lo if weight > 0 else said.hi
    name = _name(book, int(entry["release"]))
    place = f"line {entry['line']}" if "line" in entry else entry["cell"]
    return f"{'plus' if weight * sign > 0 else 'minus'} {times}{bound:,} ({name}, {place})"
