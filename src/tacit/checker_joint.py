"""Re-checks findings about several releases: weights on published lines, kind of person by kind of person, in exact fractions.

A step claims that a group holds at least (or at most) so many people. Its weights say how often each cited line is added. If no kind of person
counts in that sum for more than she counts in the group, the sum of the printed bounds bounds the group. Nothing else is trusted: lines are
read from the releases anew, and kinds of people are tried one column at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.checker_joint_lines import HAS, MEMBER, Axis, Box, JointBook, Statement, Term, Values
from tacit.checker_rules import Reject
from tacit.model.release import Itemsets, Rules

#: No kind of person is tried after so many steps; such a proof is too long to be re-done.
MOST_TRIED = 500_000


def check_joint(finding: Mapping[str, Any], book: JointBook, k: int) -> None:
    """Redo one finding about several releases: its lines, its sums, its group."""
    proof = finding["certificate"]
    if proof["format"] != "tacit.certificate/1" or proof["people"] != book.people:
        raise Reject("its certificate is of another kind or about other people than the audit")
    box = _event_box(book, finding["event"])
    cited: dict[tuple[int, Any], tuple[int, int]] = {}
    ends = []
    for name, end in (("least", "at_least"), ("most", "at_most")):
        steps = proof[name]
        shown = [_check_step(book, step, steps[:place], cited) for place, step in enumerate(steps)]
        if not shown or end not in steps[-1] or not _same_box(book, shown[-1], box):
            raise Reject("its last step is not about its group")
        ends.append(int(steps[-1][end]))
    if ends != list(finding["count"]):
        raise Reject(f"its steps show {ends[0]} to {ends[1]}, not {finding['count'][0]} to {finding['count'][1]}")
    if not 0 < ends[0] <= ends[1] < k:
        raise Reject(f"its group is not one of 1 to {k - 1} people")
    listed = {(one["release"], one.get("line", one.get("cell"))): tuple(one["count"]) for one in finding["because"]}
    if set(listed) != set(cited):
        raise Reject("the lines it cites are not those of its sum")
    if len(listed) != len(finding["because"]):
        raise Reject("it cites a line twice")
    for place, counts in listed.items():
        if counts not in _printed(book, place):
            raise Reject(f"release {place[0]} prints another count at {place[1]}")


def _printed(book: JointBook, place: tuple[int, Any]) -> set[tuple[int, int]]:
    """The numbers that stand at a place."""
    number, where = place
    release = book.releases[number]
    if isinstance(release, Rules) and isinstance(where, int):
        index = book.by_line[number][where]
        return {(bound.lo, bound.hi) for bound in (release.count(index), release.whole(index))}
    if isinstance(release, Rules) and where == "sa_counts":
        return {(people, people) for people in release.header.sa_counts}
    if isinstance(release, Itemsets) and isinstance(where, int):
        index = book.by_line[number][where]
        return {(int(release.lo[index]), int(release.hi[index]))}
    if where in ("left", "joined"):
        return {book.declared.mover(number, where)[1]}
    value = release.n if where == "n" else release.min_support
    return set() if value is None else {(value, value)}


def _check_step(
    book: JointBook, step: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], cited: dict[tuple[int, Any], tuple[int, int]]
) -> Box:
    """Check one step: its sum reaches its bound, and nobody counts for too much in it."""
    box = _certificate_box(step["event"])
    low = "at_least" in step
    total = Fraction(0)
    terms: list[Term] = [(Fraction(1 if low else -1), box)]
    for entry in step["weights"]:
        weight = Fraction(entry["weight"])
        said = _said(book, entry, earlier, cited)
        bound = said.lo if weight > 0 else said.hi
        if bound is None:
            raise Reject("it uses an end of a line that is open")
        total += weight * bound
        terms += [(-weight * factor, part) for factor, part in said.terms]
    if least_of(terms, book.domains) < 0:
        raise Reject("in its sum somebody counts for more than in its group")
    claimed = int(step["at_least"] if low else step["at_most"])
    if (math.ceil(total) < claimed) if low else (math.floor(-total) > claimed):
        raise Reject(f"its sum gives {total if low else -total}, not {claimed}")
    return box


def _said(
    book: JointBook, entry: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], cited: dict[tuple[int, Any], tuple[int, int]]
) -> Statement:
    """What a line or an earlier step says; a step is about its group, an upper bound about its negative."""
    if "step" not in entry:
        said = book.statement(entry)
        cited[int(entry["release"]), entry.get("line", entry.get("cell"))] = said.printed
        return said
    place = int(entry["step"])
    if not 0 <= place < len(earlier) or Fraction(entry["weight"]) <= 0:
        raise Reject("it uses a step that was not shown before")
    used = earlier[place]
    box = _certificate_box(used["event"])
    if "at_least" in used:
        return Statement(((Fraction(1), box),), int(used["at_least"]), None, (0, 0))
    return Statement(((Fraction(-1), box),), -int(used["at_most"]), None, (0, 0))


def _certificate_box(entries: Sequence[Mapping[str, Any]]) -> Box:
    box: Box = {}
    for entry in entries:
        kind = next(name for name in ("item", "column", "people") if name in entry)
        if (kind, entry[kind]) in box:
            raise Reject("its group names a column twice")
        box[kind, entry[kind]] = (frozenset(entry["values"]), bool(entry["excluded"]))
    return box


def _event_box(book: JointBook, event: Mapping[str, Any]) -> Box:
    """The event of the finding as a box."""
    box: Box = {}
    for name, lacks in [(name, False) for name in event["present"]] + [(name, True) for name in event["absent"]]:
        column, equals, value = name.partition("=")
        fitting = [one for one in book.columns if name.startswith(f"{one}=")]
        axis: Axis = (
            ("column", fitting[0])
            if len(fitting) == 1
            else ("column", column)
            if equals and column in book.columns
            else ("item", name)
        )
        value = name[len(axis[1]) + 1 :] if axis[0] == "column" else HAS
        known = box.get(axis)
        if known is None:
            box[axis] = (frozenset({value}), lacks)
        elif known[1] and lacks:
            box[axis] = (known[0] | {value}, True)
        else:
            raise Reject("its event names a column twice")
    inside, outside = event.get("inside", []), event.get("outside", [])
    if (inside or outside) and not book.declared.sets:
        raise Reject("its event tells people apart who are the same")
    if inside or outside:
        box[MEMBER] = (book.declared.members(inside, outside), False)
    return box


def _same_box(book: JointBook, one: Box, two: Box) -> bool:
    """Whether two boxes hold the same people, axis by axis."""
    for axis in {*one, *two}:
        values = _values(book.domains, axis, [box[axis] for box in (one, two) if axis in box])
        first, second = ([_allows(box.get(axis), value) for value in values] for box in (one, two))
        if first != second:
            return False
    return True


def _values(domains: Mapping[Axis, frozenset[str]], axis: Axis, named: Sequence[Values]) -> list[str | None]:
    """The values worth trying on an axis; None stands for any other one."""
    listed = sorted(frozenset().union(*(values for values, _ in named)))
    if axis not in domains:
        return [*listed, None]
    rest = sorted(domains[axis] - set(listed))
    return [*(value for value in listed if value in domains[axis]), *rest[:1]]


def _allows(allowed: Values | None, value: str | None) -> bool:
    return allowed is None or (value in allowed[0]) != allowed[1]


def least_of(terms: Sequence[Term], domains: Mapping[Axis, frozenset[str]]) -> Fraction:
    """A number below 0 when some kind of person counts for less than 0 in a weighted sum of boxes, else 0.

    >>> x = ("item", "x")
    >>> least_of([(Fraction(1), {x: (frozenset({"has"}), False)}), (Fraction(-1), {})], {})
    Fraction(-1, 1)
    """
    axes = sorted({axis for _, box in terms for axis in box})
    order = sorted(axes, key=lambda axis: -sum(axis in box for _, box in terms))
    tried = 0

    def search(place: int, alive: Sequence[Term], sure: Fraction) -> Fraction:
        nonlocal tried
        tried += 1
        if tried > MOST_TRIED:
            raise Reject("its sum has too many columns to be tried")
        if sure + sum((weight for weight, _ in alive if weight < 0), Fraction(0)) >= 0:
            return Fraction(0)
        if place == len(order):
            return min(sure, Fraction(0))
        axis = order[place]
        outcomes: set[tuple[bool, ...]] = set()
        for value in _values(domains, axis, [box[axis] for _, box in alive if axis in box]):
            outcome = tuple(_allows(box.get(axis), value) for _, box in alive)
            if outcome in outcomes:
                continue
            outcomes.add(outcome)
            kept = [term for term, stays in zip(alive, outcome, strict=True) if stays]
            later = [term for term in kept if any(other in term[1] for other in order[place + 1 :])]
            decided = sum((weight for weight, box in kept if not any(other in box for other in order[place + 1 :])), Fraction(0))
            found = search(place + 1, later, sure + decided)
            if found < 0:
                return found
        return Fraction(0)

    fixed = sum((weight for weight, box in terms if not box), Fraction(0))
    return search(0, [term for term in terms if term[1]], fixed)
