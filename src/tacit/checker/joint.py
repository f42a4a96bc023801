"""Checks of findings about several releases, in exact fractions.

A step claims that a group holds at least (or at most) some number of people. Its weights say how often each cited line is added. If no kind of
person counts more in that sum than in the group, the sum of the printed bounds bounds the group. Nothing else is trusted: lines are
read again from the releases, and kinds of people are tried one column at a time.

A group shares a sensitive value if somebody is in it and nobody in it has another value: two such bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.checker.lines import KINDS, MEMBER, Axis, Box, Domains, JointBook, Statement, Values, count_people, name_of
from tacit.checker.rules import Reject
from tacit.model.finding import render_steps
from tacit.model.frequencies import UNBOUNDED
from tacit.model.numbers import Bound
from tacit.model.release import Release
from tacit.model.words import HAS, explain_full_group, state_full_group

MOST_TRIED = 500_000  #: Steps after which no kind of person is tried any more; such a proof is too long to be checked again.
Exact = Fraction | int  #: Whole where it can be.
Cited = dict[tuple[int, Any], set[tuple[int, int]]]  #: Numbers that were read at each place of a release.
MOST_DEPTH = 100  #: How often cases of a proof are split into further ones at most.


def check_joint(finding: Mapping[str, Any], book: JointBook, k: int) -> None:
    """Re-check one finding about several releases."""
    proof = finding["certificate"]
    if proof["format"] != "tacit.certificate/1" or proof["people"] != book.people:
        raise Reject("its certificate is of another kind or about other people than the audit")
    box = event_box(book, finding["event"])
    cited: Cited = {}
    ends = []
    for name, end in (("least", "at_least"), ("most", "at_most")):
        ends.append(check_bound(book, proof[name], box, end, cited))
    if ends != list(finding["count"]):
        raise Reject(f"its steps show {ends[0]} to {ends[1]}, not {finding['count'][0]} to {finding['count'][1]}")
    if not 0 < ends[0] <= ends[1] < k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    check_cited(finding["because"], cited)


def check_bound(book: JointBook, steps: Sequence[Mapping[str, Any]], box: Box, end: str, cited: Cited) -> int:
    """Check the steps that bound a group; return its bound."""
    shown: Box | None = None
    for place, step in enumerate(steps):
        shown = certificate_box(step["event"])
        sign, claimed = (1, step["at_least"]) if "at_least" in step else (-1, step["at_most"])
        _check_case(_Claim(book, shown, sign, int(claimed), earlier=steps[:place], cited=cited), step, ())
    if shown is None or end not in steps[-1] or not is_same_box(book, shown, box):
        raise Reject("its last step is not about its group")
    return int(steps[-1][end])


def check_cited(because: Sequence[Mapping[str, Any]], cited: Cited) -> None:
    """Raise unless each line is cited once, as printed."""
    listed = {(one["release"], one.get("line", one.get("cell"))): tuple(one["count"]) for one in because}
    if set(listed) != set(cited):
        raise Reject("the lines it cites are not those of its sum")
    if len(listed) != len(because):
        raise Reject("it cites a line twice")
    for place, counts in listed.items():
        if counts not in cited[place]:
            raise Reject(f"release {place[0]} prints another count at {place[1]}")


@dataclass(frozen=True, slots=True)
class _Claim:
    """Claim ``sign * people in the box >= sign * claimed``."""

    book: JointBook
    box: Box
    sign: int
    claimed: int
    earlier: Sequence[Mapping[str, Any]]
    cited: Cited

    def cite(self, entry: Mapping[str, Any], said: Statement) -> None:
        place = (int(entry["release"]), entry.get("line", entry.get("cell")))
        self.cited.setdefault(place, set()).add(said.printed)


def _check_case(claim: _Claim, case: Mapping[str, Any], assumed: tuple[Statement, ...]) -> None:
    if "split" not in case:
        _check_sum(claim, case, assumed)
        return
    if len(assumed) >= MOST_DEPTH:
        raise Reject("its cases are split too often to be re-done")
    fewer, more = _sides(claim, case["split"])
    _check_case(claim, case["le"], (*assumed, fewer))
    _check_case(claim, case["ge"], (*assumed, more))


def _sides(claim: _Claim, split: Mapping[str, Any]) -> tuple[Statement, Statement]:
    """Return two statements of which one is true."""
    if "event" not in split:
        fewer, more = claim.book.choice(split)
        claim.cite(split, fewer)
        return fewer, more
    box = certificate_box(split["event"])
    at = split["at"]
    if not isinstance(at, int):
        raise Reject("it splits a case at something that is not a whole number")
    return count_people(box, None, at), count_people(box, at + 1, None)


def _check_sum(claim: _Claim, case: Mapping[str, Any], assumed: tuple[Statement, ...]) -> None:
    impossible = bool(case.get("impossible")) and bool(assumed)
    total: Exact = 0
    terms: list[tuple[Exact, Box]] = [] if impossible else [(claim.sign, claim.box)]
    for entry in case["weights"]:
        weight = _plain(Fraction(entry["weight"]))
        said = _said(claim, entry, assumed)
        bound = said.lo if weight > 0 else said.hi
        if bound is None:
            raise Reject("it uses an end of a line that is open")
        total += weight * bound
        terms += [(-weight * _plain(factor), part) for factor, part in said.terms]
    if least_of(terms, claim.book.domains) < 0:
        raise Reject("in its sum a person counts for more than in its group")
    if impossible:
        if total <= 0:
            raise Reject("a case that it calls impossible is not")
    elif (math.ceil(total) if claim.book.is_whole else total) < claim.sign * claim.claimed:
        raise Reject(f"its sum gives {claim.sign * total}, not {claim.claimed}")


def _plain(number: Fraction) -> Exact:
    return number.numerator if number.denominator == 1 else number


def _said(claim: _Claim, entry: Mapping[str, Any], assumed: Sequence[Statement]) -> Statement:
    """Return the statement of a line, a case or an earlier step.

    An upper bound of a step is about the negative of its group.
    """
    if "case" in entry:
        place = int(entry["case"])
        if not 0 <= place < len(assumed):
            raise Reject("it uses a case that it is not in")
        return assumed[place]
    if "step" not in entry:
        said = claim.book.statement(entry)
        claim.cite(entry, said)
        return said
    place = int(entry["step"])
    if not 0 <= place < len(claim.earlier) or Fraction(entry["weight"]) <= 0:
        raise Reject("it uses a step that was not shown before")
    used = claim.earlier[place]
    box = certificate_box(used["event"])
    if "at_least" in used:
        return count_people(box, int(used["at_least"]), None)
    return Statement(((Fraction(-1), box),), -int(used["at_most"]), None, (0, 0))


def certificate_box(entries: Sequence[Mapping[str, Any]]) -> Box:
    """Return a box as it stands in a certificate."""
    box: Box = {}
    for entry in entries:
        kind = next(name for name in ("item", "column", "people", *KINDS) if name in entry)
        if (kind, entry[kind]) in box:
            raise Reject("its group names a column twice")
        box[kind, entry[kind]] = (frozenset(entry["values"]), bool(entry["excluded"]))
    return box


def event_box(book: JointBook, event: Mapping[str, Any]) -> Box:
    """Return the group that an event describes."""
    box: Box = {}
    for name, lacks in [(name, False) for name in event["present"]] + [(name, True) for name in event["absent"]]:
        column, equals, _ = name.partition("=")
        fitting = [one for one in book.columns if name.startswith(f"{one}=")]
        axis: Axis = ("item", name)
        if len(fitting) == 1 or (equals and column in book.columns):
            axis = ("column", fitting[0] if len(fitting) == 1 else column)
        value = name[len(axis[1]) + 1 :] if axis[0] == "column" else HAS
        known = box.get(axis)
        if known is None:
            box[axis] = (frozenset({value}), lacks)
        elif known[1] and lacks:
            box[axis] = (known[0] | {value}, True)
        else:
            raise Reject("its event names a column twice")
    inside = event.get("inside", [])
    outside = event.get("outside", [])
    if (inside or outside) and not book.declared.sets:
        raise Reject("its event distinguishes people who are the same")
    if inside or outside:
        box[MEMBER] = (book.declared.members(inside, outside), False)
    changes = event.get("changes", [])
    if changes and book.histories is None:
        raise Reject("its event is about changes where nobody is declared to change")
    return box if book.histories is None else box | book.histories.box_of(changes)


def is_same_box(book: JointBook, one: Box, two: Box) -> bool:
    """Return True if two boxes hold the same people."""
    for axis in {*one, *two}:
        values = _values(book.domains, axis, [box[axis] for box in (one, two) if axis in box])
        first, second = ([_allows(box.get(axis), value) for value in values] for box in (one, two))
        if first != second:
            return False
    return True


def _values(domains: Domains, axis: Axis, named: Sequence[Values]) -> list[str | None]:
    """Return the values to try on an axis (None: others)."""
    listed = sorted(frozenset().union(*(values for values, _ in named)))
    if axis not in domains:
        return [*listed, None]
    rest = sorted(domains[axis] - set(listed))
    return [*(value for value in listed if value in domains[axis]), *rest[:1]]


def _allows(allowed: Values | None, value: str | None) -> bool:
    return allowed is None or (value in allowed[0]) != allowed[1]


def least_of(terms: Sequence[tuple[Exact, Box]], domains: Domains) -> Fraction:
    """Return some person's negative count, or 0.

    >>> x = ("item", "x")
    >>> least_of([(Fraction(1), {x: (frozenset({"has"}), False)}), (Fraction(-1), {})], {})
    Fraction(-1, 1)
    """
    common = math.lcm(*(weight.denominator for weight, _ in terms)) if terms else 1
    merged: dict[frozenset[tuple[Axis, Values]], int] = {}
    for weight, box in terms:
        name = frozenset(box.items())
        merged[name] = merged.get(name, 0) + int(weight * common)
    weighted = [(weight, dict(name)) for name, weight in merged.items() if weight]
    return Fraction(_Kinds(weighted, domains).below_zero(), common)


class _Kinds:
    """Search for a kind of person, column by column."""

    def __init__(self, terms: Sequence[tuple[int, Box]], domains: Domains) -> None:
        axes = sorted({axis for _, box in terms for axis in box})
        order = sorted(axes, key=lambda axis: -sum(axis in box for _, box in terms))
        self.weights = [weight for weight, _ in terms]
        # After its last column it is certain whether somebody is in a box.
        self.last = [max((order.index(axis) for axis in box), default=-1) for _, box in terms]
        self.stays: list[list[int]] = []
        for axis in order:
            values = _values(domains, axis, [box[axis] for _, box in terms if axis in box])
            masks = (sum(1 << n for n, (_, box) in enumerate(terms) if _allows(box.get(axis), value)) for value in values)
            self.stays.append(list(dict.fromkeys(masks)))
        self.tried: set[tuple[int, int]] = set()

    def below_zero(self, place: int = 0, alive: int | None = None) -> int:
        """Return the first negative count of a person, or 0.

        ``alive`` are the boxes that the person may still be in.
        """
        inside = (1 << len(self.weights)) - 1 if alive is None else alive
        if (place, inside) in self.tried:
            return 0
        self.tried.add((place, inside))
        if len(self.tried) > MOST_TRIED:
            raise Reject("its sum has too many columns to be tried")
        least = 0
        for number, weight in enumerate(self.weights):
            if inside >> number & 1 and (weight < 0 or self.last[number] < place):
                least += weight
        if least >= 0 or place == len(self.stays):
            return min(least, 0)
        for mask in self.stays[place]:
            if found := self.below_zero(place + 1, inside & mask):
                return found
        return 0


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
    box: Box = {}
    for name, values in event.items():
        kind = "item" if name not in book.columns and list(values) == [HAS] else "column"
        box[kind, name] = (frozenset(values), False)
    cited: Cited = {}
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
    check_cited(because, cited)
    _check_words(finding, book, sensitive)


def _check_blanks(finding: Mapping[str, Any], book: JointBook, sensitive: str, left: Sequence[str]) -> int:
    told = finding["certificate"]["blanks"]
    number = int(told["release"])
    rows = book.blanks_of(number)
    if sensitive not in rows:
        raise Reject("it is about blanks of a release that has none")
    others = [(name, values) for name, values in finding["event"].items() if name != sensitive]
    if any(name not in rows for name, _ in others):
        raise Reject("it describes rows by a column that the table does not have")
    inside = [row for row in range(len(rows[sensitive])) if all(rows[name][row] in values for name, values in others)]
    blank = sum(rows[sensitive][row] is None for row in inside)
    shown = sum(rows[sensitive][row] not in (None, *left) for row in inside)
    if not blank or finding["count"] != [blank, blank] or dict(told) != {"release": number, "rows": blank, "shown": shown}:
        raise Reject("other rows of the table are blank, or show other values")
    if finding["certificate"]["least"] or finding["certificate"]["most"]:
        raise Reject("it counts more than blanks")
    return shown


def _check_words(finding: Mapping[str, Any], book: JointBook, sensitive: str) -> None:
    proof = finding["certificate"]
    number = int(proof["blanks"]["release"]) if "blanks" in proof else None
    table = "" if number is None else name_of(book.releases[number], number)
    if finding["statement"] != state_full_group(finding["event"], sensitive, Bound(*finding["count"]), table):
        raise Reject("its sentence does not say what its event and count say")
    if tuple(finding["steps"]) != render_steps(explain_full_group(proof, book.look_up, table)):
        raise Reject("its steps do not say what its certificate says")
