"""Check of rebuilt people: their proofs, their values, and that nobody is counted twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from tacit.checker.joint import certificate_box, check_bound
from tacit.checker.lines import Axis, Box, JointBook, Values
from tacit.checker.rules import Reject
from tacit.model.release import FIRST_RULE

MEASURES = {"people_rebuilt": "people", "people_rebuilt_most": "at_most", "people_rebuilt_but_one": "all_but_one"}


def check_rebuilt(record: Mapping[str, Any], book: JointBook) -> None:
    """Raise unless a record proves how many people it says are rebuilt."""
    told = record["rebuilt"]
    if book.people != "same":
        raise Reject("people are rebuilt from releases that are about several populations")
    named = _named(book)
    # What a complete list leaves out may name values that no line does.
    listed = {axis for lines in book.lines for axis in lines.listed}
    needed = {axis[1] for axis, sets in named.items() if _are_told_apart(axis, sets, book)}
    columns = sorted(told["columns"])
    if not needed <= set(columns) <= {axis[1] for axis in {*named, *listed}} or len(set(columns)) < len(columns):
        raise Reject("it lists other columns than the releases distinguish people by")
    full: list[tuple[Box, int]] = []
    wider: list[tuple[Box, int]] = []
    for group in told["groups"]:
        if not group["steps"]:
            raise Reject("a group of rebuilt people has no proof")
        box = certificate_box(group["steps"][-1]["event"])
        people = group["at_least"]
        if check_bound(book, group["steps"], box, "at_least", {}) != people or people < 1:
            raise Reject("the steps of a group of rebuilt people show another number")
        without = [] if group["without"] is None else [group["without"]]
        if sorted([*without, *(axis[1] for axis in box if not axis[1].startswith(FIRST_RULE))]) != columns:
            raise Reject("a group of rebuilt people does not have all columns, or all but the one that it names")
        if any(not _is_one_value(box[axis], named.get(axis, ()), axis, book) for axis in box):
            raise Reject("people of a group that are called rebuilt have values that the releases distinguish")
        (wider if without else full).append((box, people))
    if any(not _are_apart(one, other, book) for (one, _), (other, _) in _pairs(full, wider)):
        raise Reject("rebuilt people are counted twice")
    alone = [people for box, people in full if all(_are_apart(box, other, book) for other, _ in wider)]
    if sum(people for _, people in full) != told["people"]:
        raise Reject("other people are proved to be rebuilt than it counts")
    if sum(alone) + sum(people for _, people in wider) != told["all_but_one"]:
        raise Reject("other people are proved to be rebuilt in all columns but one than it counts")
    n = max((release.n for release in book.releases if release.n is not None), default=None)
    if told["n"] != n:
        raise Reject("it counts rebuilt people among another number of people")
    most = told["at_most"]
    is_open = most is None and n is None
    if told["undecided"] != (None if is_open else (most or 0) - told["people"]) or (most is None and not is_open):
        raise Reject("its numbers of rebuilt people do not fit each other")
    if not is_open and not told["people"] <= most <= (most if n is None else n):
        raise Reject("its numbers of rebuilt people do not fit each other")
    if any(record["measures"].get(name) != told[key] for name, key in MEASURES.items()):
        raise Reject("its measures of rebuilt people are not those that it proves")


def _pairs(
    full: Sequence[tuple[Box, int]], wider: Sequence[tuple[Box, int]]
) -> Iterator[tuple[tuple[Box, int], tuple[Box, int]]]:
    yield from combinations(full, 2)
    yield from combinations(wider, 2)


def _named(book: JointBook) -> dict[Axis, list[Values]]:
    """Return the sets of values that the releases name, by column or item."""
    out: dict[Axis, list[Values]] = {}
    for lines in book.lines:
        for axis, sets in lines.named_sets():
            out.setdefault(axis, []).append(sets)
    return {axis: sets for axis, sets in out.items() if not axis[1].startswith(FIRST_RULE)}


def _universe(axis: Axis, sets: Collection[Values], book: JointBook) -> list[str | None]:
    if axis in book.domains:
        return [*sorted(book.domains[axis])]
    return [*sorted(frozenset().union(*(named for named, _ in sets))), None]


def _holds(allowed: Values, value: str | None) -> bool:
    return (value in allowed[0]) != allowed[1]


def _are_told_apart(axis: Axis, sets: Collection[Values], book: JointBook) -> bool:
    """Tell if some set of values holds some people and not all."""
    values = _universe(axis, sets, book)
    return any(len({_holds(one, value) for value in values}) > 1 for one in sets)


def _is_one_value(allowed: Values, sets: Collection[Values], axis: Axis, book: JointBook) -> bool:
    """Tell if no release distinguishes the values that a group allows."""
    if axis[1].startswith(FIRST_RULE):
        return True
    inside = [value for value in _universe(axis, [*sets, allowed], book) if _holds(allowed, value)]
    return bool(inside) and all(len({_holds(one, value) for value in inside}) == 1 for one in sets)


def _are_apart(one: Box, other: Box, book: JointBook) -> bool:
    """Tell if nobody can be in both groups."""
    for axis in one.keys() & other.keys():
        values = _universe(axis, [one[axis], other[axis]], book)
        if not any(_holds(one[axis], value) and _holds(other[axis], value) for value in values):
            return True
    return False
