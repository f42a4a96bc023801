"""Checks findings about the people of a bucketized release.

A certificate lists facts that rule values out, and values that others of the group use up. The checker looks the group up in both tables,
applies the facts to everybody in it, counts those who can have nothing but the values that are used up, and sees what is left. Facts are taken
from the record, or compared with the knowledge where that is given.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.rules import Reject
from tacit.model.buckets import Buckets
from tacit.model.finding import Exclusion, render_steps
from tacit.model.knowledge import Fact
from tacit.model.words import BucketLine, Matching, state_values

Person = Mapping[str, str]


class BucketBook:
    """Two tables of one release, by group."""

    def __init__(self, release: Buckets) -> None:
        self.release = release
        self.number = {name: number for number, name in enumerate(release.names)}
        self._rows: dict[int, list[int]] = defaultdict(list)
        for row, group in enumerate(release.group.tolist()):
            self._rows[group].append(row)

    def people(self, group: str) -> list[Person]:
        """Return everybody in a group."""
        columns = self.release.people.columns
        return [{one.name: one.values[one.codes[row]] for one in columns} for row in self._rows[self.number[group]]]

    def lines(self, group: str) -> list[BucketLine]:
        """Return the ST lines of a group."""
        release = self.release
        number = self.number[group]
        entries = range(int(release.starts[number]), int(release.starts[number + 1]))
        return [
            BucketLine(release.line(one), release.values[int(release.value[one])], int(release.count[one])) for one in entries
        ]


def check_buckets(finding: Mapping[str, Any], book: BucketBook, least: int, knowledge: Sequence[Fact] | None = None) -> None:
    """Raise unless a finding of B01 follows."""
    release = book.release
    event: dict[str, list[str]] = dict(finding["event"])
    left = event.pop(release.sensitive, [])
    group = event.pop(release.group_name, [])
    if len(group) != 1 or group[0] not in book.number or set(event) != set(release.people.names):
        raise Reject("its event is not about people of one group")
    if any(len(values) != 1 for values in event.values()):
        raise Reject("its event is not one combination of quasi-identifiers")
    person = {column: values[0] for column, values in event.items()}
    lines = book.lines(group[0])
    matching = finding["certificate"]["matching"]
    facts = tuple(
        Exclusion(str(entry["where"]), {str(c): tuple(map(str, v)) for c, v in entry["event"].items()}, str(entry["not"]))
        for entry in matching["facts"]
    )
    used_up = tuple(map(str, matching["used_up"]))
    users = int(matching["users"])
    ruled_out = [one.value for one in lines if _is_excluded(facts, person, one.value) and one.value not in used_up]
    found = [one.value for one in lines if one.value not in ruled_out and one.value not in used_up]
    proved = Matching(facts, tuple(ruled_out), used_up, users, left=tuple(found))
    _check_citations(finding["because"], lines, proved)
    if knowledge is not None:
        _check_known(facts, knowledge)
    everybody = book.people(group[0])
    people = sum(one == person for one in everybody)
    if people < 1 or finding["count"] != [people, people]:
        raise Reject("its count is not that of these people in the group")
    _check_users(facts, lines, everybody, used_up, users=users, person=person)
    if sorted(found) != sorted(left) or not found:
        raise Reject("what is left to these people is something else")
    if dict(matching) != proved.to_dict():
        raise Reject("its certificate rules something else out")
    if len(found) >= least:
        raise Reject(f"these people keep {len(found)} values, which the policy allows")
    described = ", ".join(f"{column}={person[column]}" for column in release.people.names)
    statement = state_values(f"{described} in group {group[0]}", people, release.sensitive, found)
    steps = render_steps(proved.explain(group[0], release.sensitive, lines, people))
    if finding["statement"] != statement or tuple(finding["steps"]) != steps:
        raise Reject("its words do not say what its event and its citations say")


def _check_citations(because: Sequence[Mapping[str, Any]], lines: Sequence[BucketLine], proved: Matching) -> None:
    entries = [one.to_dict() for one in proved.cite(because[0]["release"] if because else 0, lines)]
    if [one for one in because if "line" in one] != entries[: len(lines)]:
        raise Reject("the lines it cites are not those of its group")
    if list(because) != entries:
        raise Reject("it cites something else than the facts of its certificate")


def _check_known(facts: Sequence[Exclusion], knowledge: Sequence[Fact]) -> None:
    excluding = [one for one in knowledge if one.excludes]
    given = {(json.dumps({c: sorted(v) for c, v in one.allowed.items()}, sort_keys=True), one.value) for one in excluding}
    for fact in facts:
        name = json.dumps({column: sorted(values) for column, values in fact.event.items()}, sort_keys=True)
        if (name, fact.value) not in given:
            raise Reject(f"the knowledge does not contain the fact {fact.source}")


def _is_excluded(facts: Sequence[Exclusion], person: Person, value: str) -> bool:
    return any(
        fact.value == value and all(person.get(column) in values for column, values in fact.event.items()) for fact in facts
    )


def _check_users(
    facts: Sequence[Exclusion],
    lines: Sequence[BucketLine],
    everybody: Sequence[Person],
    used_up: Sequence[str],
    users: int,
    person: Person,
) -> None:
    if not used_up:
        if users:
            raise Reject("it counts people who use nothing up")
        return
    others = [one.value for one in lines if one.value not in used_up]
    bound = [one for one in everybody if all(_is_excluded(facts, one, value) for value in others)]
    there = sum(one.people for one in lines if one.value in used_up)
    if not set(used_up) <= {one.value for one in lines} or len(set(used_up)) != len(used_up):
        raise Reject("values that are used up are not those of the group")
    if len(bound) < there or users != there or person in bound:
        raise Reject("too few others are bound to the values that are to be used up")
