"""Re-checks findings about the people of a bucketized release: facts about persons, and values that others use up, counted person by person.

A finding cites the lines of its group, facts that rule values out, and values that are used up. The checker looks the group up in both tables,
applies the cited facts to everybody in it, counts those who can have nothing but the values that are used up, and sees what is left. Facts are
taken from the record, or compared with the knowledge where that is given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.checker.rules import Reject
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Fact

_FACT = re.compile(r"(?P<place>.*?): (?P<allowed>\{.*\}) => not (?P<value>.*)", re.DOTALL)
_USED = re.compile(r"used up (?P<values>\[.*\])", re.DOTALL)
#: How many values of a column a step names.
_SHOWN = 6

Person = Mapping[str, str]
Allowed = dict[str, list[str]]


@dataclass(slots=True)
class BucketBook:
    """The two tables of one release, by the name of the group."""

    release: Buckets
    rows: dict[str, list[int]] = field(default_factory=dict)
    number: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row, group in enumerate(self.release.group.tolist()):
            self.rows.setdefault(self.release.names[group], []).append(row)
        self.number = {name: number for number, name in enumerate(self.release.names)}

    def people(self, group: str) -> list[Person]:
        """Everybody in a group."""
        columns = self.release.people.columns
        return [{one.name: one.values[one.codes[row]] for one in columns} for row in self.rows[group]]

    def lines(self, group: str) -> list[tuple[int, str, int]]:
        """The lines of a group in the ST: where each stands, its value, its count."""
        release, number = self.release, self.number[group]
        entries = range(int(release.starts[number]), int(release.starts[number + 1]))
        return [(release.line(one), release.values[int(release.value[one])], int(release.count[one])) for one in entries]


@dataclass(frozen=True, slots=True)
class _Cited:
    """A fact that the record cites."""

    place: str
    allowed: Allowed
    value: str

    def speaks_of(self, person: Person) -> bool:
        return all(person.get(column) in values for column, values in self.allowed.items())


def check_buckets(finding: Mapping[str, Any], book: BucketBook, least: int, knowledge: Sequence[Fact] | None = None) -> None:
    """Raise where a finding of B01 does not follow from the two tables and the facts that it cites."""
    release = book.release
    event: dict[str, list[str]] = dict(finding["event"])
    left = event.pop(release.sensitive, [])
    group = event.pop(release.group_name, [])
    if len(group) != 1 or group[0] not in book.number or set(event) != set(release.people.names):
        raise Reject("its event is not about people of one group")
    if any(len(values) != 1 for values in event.values()):
        raise Reject("its event is not one combination of quasi-identifiers")
    person, lines = {column: values[0] for column, values in event.items()}, book.lines(group[0])
    facts, used_up, users = _taken_apart(finding["because"], lines)
    _same_knowledge(facts, knowledge)
    everybody = book.people(group[0])
    people = sum(one == person for one in everybody)
    if people < 1 or finding["count"] != [people, people]:
        raise Reject("its count is not that of these people in the group")
    ruled_out = [value for _, value, _ in lines if _excluded(facts, person, value) and value not in used_up]
    _check_users(facts, lines, everybody, used_up, users, person)
    found = [value for _, value, _ in lines if value not in ruled_out and value not in used_up]
    if sorted(found) != sorted(left) or not found:
        raise Reject("what is left to these people is something else")
    told_out = finding["certificate"]["matching"]["ruled_out"]
    if told_out != ruled_out or finding["certificate"]["matching"]["left"] != found:
        raise Reject("its certificate rules something else out")
    if len(found) >= least:
        raise Reject(f"these people keep {len(found)} values, which the policy allows")
    told = _Told(release.sensitive, group[0], lines, facts, ruled_out, used_up, users, found, people)
    if finding["statement"] != told.statement(person, release.people.names) or list(finding["steps"]) != told.steps():
        raise Reject("its words do not say what its event and its citations say")


def _taken_apart(
    because: Sequence[Mapping[str, Any]], lines: Sequence[tuple[int, str, int]]
) -> tuple[list[_Cited], list[str], int]:
    """The facts, the values that are used up, and by how many people; the cited lines must be all those of the group."""
    cited = [(one["line"], tuple(one["count"])) for one in because if "line" in one]
    if sorted(cited) != sorted((line, (count, count)) for line, _, count in lines):
        raise Reject("the lines it cites are not those of its group")
    facts: list[_Cited] = []
    used_up: list[str] = []
    users = 0
    for one in because:
        cell = str(one.get("cell", ""))
        if match := _USED.fullmatch(cell):
            used_up, users = [str(value) for value in json.loads(match["values"])], int(one["count"][0])
        elif match := _FACT.fullmatch(cell):
            facts.append(_Cited(match["place"], json.loads(match["allowed"]), match["value"]))
            if list(one["count"]) != [0, 0]:
                raise Reject("a fact that it cites rules nothing out")
        elif "line" not in one:
            raise Reject("it cites something that is neither a line nor a fact")
    return facts, used_up, users


def _same_knowledge(facts: Sequence[_Cited], knowledge: Sequence[Fact] | None) -> None:
    """Every cited fact is among those that are given."""
    if knowledge is None:
        return
    given = {(json.dumps({c: sorted(v) for c, v in one.allowed.items()}, sort_keys=True), one.value) for one in knowledge}
    for fact in facts:
        name = json.dumps({column: sorted(values) for column, values in fact.allowed.items()}, sort_keys=True)
        if (name, fact.value) not in given:
            raise Reject(f"the knowledge holds no such fact as {fact.place}")


def _excluded(facts: Sequence[_Cited], person: Person, value: str) -> bool:
    return any(fact.value == value and fact.speaks_of(person) for fact in facts)


def _check_users(
    facts: Sequence[_Cited],
    lines: Sequence[tuple[int, str, int]],
    everybody: Sequence[Person],
    used_up: Sequence[str],
    users: int,
    person: Person,
) -> None:
    """As many people as there are of the values that are used up can have nothing else, and the person is none of them."""
    if not used_up:
        return
    others = [value for _, value, _ in lines if value not in used_up]
    bound = [one for one in everybody if all(_excluded(facts, one, value) for value in others)]
    there = sum(count for _, value, count in lines if value in used_up)
    if not set(used_up) <= {value for _, value, _ in lines} or len(set(used_up)) != len(used_up):
        raise Reject("values that are used up are not those of the group")
    if len(bound) < there or users != there or person in bound:
        raise Reject("too few others are bound to the values that are to be used up")


@dataclass(frozen=True, slots=True)
class _Told:
    """What the words of a finding must be."""

    sensitive: str
    group: str
    lines: Sequence[tuple[int, str, int]]
    facts: Sequence[_Cited]
    ruled_out: Sequence[str]
    used_up: Sequence[str]
    users: int
    left: Sequence[str]
    people: int

    def statement(self, person: Person, columns: Sequence[str]) -> str:
        described = ", ".join(f"{column}={person[column]}" for column in columns)
        number = "one person" if self.people == 1 else f"{self.people:,} people"
        who = f"The {number} with {described} in group {self.group}"
        if len(self.left) == 1:
            return f"{who} certainly {'has' if self.people == 1 else 'have'} {self.sensitive} {self.left[0]}."
        return f"{who} can only have {self.sensitive} {_or(self.left)}."

    def steps(self) -> list[str]:
        held = ", ".join(f"{value} ({count:,})" for _, value, count in self.lines)
        out = [f"The {_number(sum(count for _, _, count in self.lines))} of group {self.group} have {self.sensitive} {held}"]
        out[0] += f" ({_lines([line for line, _, _ in self.lines])})."
        out += [f"{fact.place}: nobody{_speaks(fact.allowed)} has {self.sensitive} {fact.value}." for fact in self.facts]
        they = "this person" if self.people == 1 else f"these {self.people:,} people"
        if self.ruled_out:
            out.append(f"{they.capitalize()} cannot have {_or(self.ruled_out)}.")
        if self.used_up:
            times = "once" if self.users == 1 else f"{self.users:,} times"
            head = f"{_number(self.users)} of the group can only have {_or(self.used_up)}"
            out.append(f"{head}, which {'occurs' if len(self.used_up) == 1 else 'occur'} {times}: nobody else has it.")
        return [*out, f"So {they} {'has' if self.people == 1 else 'have'} {_or(self.left)}."]


def _speaks(allowed: Allowed) -> str:
    parts = []
    for column, values in sorted(allowed.items()):
        cut = f"{', '.join(values[:_SHOWN])} or {len(values) - _SHOWN:,} more" if len(values) > _SHOWN else _or(values)
        parts.append(f"{column} {cut}")
    return f" with {' and '.join(parts)}" if parts else ""


def _or(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


def _number(people: int) -> str:
    return "1 person" if people == 1 else f"{people:,} people"


def _lines(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
