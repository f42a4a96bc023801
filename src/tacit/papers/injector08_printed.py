"""Figures 1 and 2 of *Injector* as printed, run beside what they should do.

Both are written person by person, as the paper prints them; they serve small groups only. ``tacit.buckets`` has what is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

import numpy as np

Values = frozenset[str]


class Person(NamedTuple):
    """Tuple of the table: its person, sensitive value and excluded values (IVS)."""

    name: str
    value: str
    barred: Values = frozenset()


Group = Sequence[Person]
Check = Callable[[Group, int], set[str]]


def match(group: Group) -> int:
    """Return MBM(g): how many people can take a value of the group, each another."""
    taken: dict[int, int] = {}

    def place(person: int, tried: set[int]) -> bool:
        for slot, other in enumerate(group):
            if other.value not in group[person].barred and slot not in tried:
                tried.add(slot)
                if slot not in taken or place(taken[slot], tried):
                    taken[slot] = person
                    return True
        return False

    return sum(place(person, set()) for person in range(len(group)))


def check_as_printed(group: Group, one: int) -> set[str]:
    """Return ``Set`` of Figure 1 for a person, lines 2 to 6."""
    found = set()
    for number, other in enumerate(group):
        rest = [person for place, person in enumerate(group) if place not in (one, number)]
        exchanged = Person(other.name, group[one].value, other.barred)  # line 4: t' = (q_j, s_i)
        if match([*rest, exchanged]) == len(group) - 1:
            found.add(other.value)
    return found


def check_corrected(group: Group, one: int) -> set[str]:
    """Return the same where t_i must be able to take s_j, and its own value counts."""
    return {value for value in check_as_printed(group, one) if value not in group[one].barred} | {group[one].value}


def check_by_definition(group: Group, one: int) -> set[str]:
    """Return the values of a person over all assignments, one by one (Definition 1)."""
    fits = (order for order in permutations(person.value for person in group) if _is_consistent(group, order))
    return {order[one] for order in fits}


def _is_consistent(group: Group, values: Iterable[str]) -> bool:
    return all(value not in person.barred for person, value in zip(group, values, strict=True))


def meets(check: Check, group: Group, least: int) -> bool:
    """Return what the checking algorithm returns with this check."""
    return all(len(check(group, one)) >= least for one in range(len(group)))


def is_compatible(one: Person, other: Person) -> bool:
    """Return Definition 2: other values, and each can take the other's."""
    return one.value != other.value and other.value not in one.barred and one.value not in other.barred


def count_incompatible(group: Group, people: Iterable[Person]) -> int:
    """Count the people who are incompatible with a group, by Definition 2."""
    return sum(not all(is_compatible(member, person) for member in group) for person in people)


class Counts(Counter[tuple[str, Values]]):
    """The counts N[s][S'] of Section V-C."""

    @classmethod
    def of(cls, people: Iterable[Person]) -> Counts:
        """Count people by value and IVS."""
        return cls((person.value, person.barred) for person in people)

    def incompatible(self, group: Group) -> int:
        """Return NIT[g] by the formula of Section V-C."""
        held = {person.value for person in group}
        barred = held.union(*(person.barred for person in group))
        return sum(count for (value, ruled), count in self.items() if value in barred or ruled & held)


@dataclass(eq=False)
class Bucketized:
    """Groups by Figure 2; ``stuck`` names the line that has nothing to select.

    ``evaluated`` counts how often NIT was worked out, ``wrong`` the rounds after which N is not that of the people in T.
    """

    groups: list[list[Person]] = field(default_factory=list)
    stuck: str = ""
    evaluated: int = 0
    wrong: int = 0


def bucketize_as_printed(people: Group, least: int, check: Check) -> Bucketized:
    """Run Figure 2 line by line; the first of equally good people or groups is taken."""
    made = Bucketized()
    left = list(people)
    counts = Counts.of(left)  # line 1

    def incompatible(group: Group) -> int:
        made.evaluated += 1
        return counts.incompatible(group)

    remaining: list[Person] = []
    while len(left) >= least:  # line 2
        first = max(left, key=lambda person: incompatible([person]))
        group = [first]
        left.remove(first)
        counts.subtract(Counts.of([first]))
        while len(group) < least:
            fit = [person for person in left if all(is_compatible(member, person) for member in group)]
            if not fit:
                counts.update(Counts.of(group))  # lines 8 and 9: t_i is counted again, though it leaves T
                left += group[1:]
                remaining.append(first)
                break
            following = min(fit, key=lambda person: incompatible([*group, person]))
            group.append(following)
            left.remove(following)
            counts.subtract(Counts.of([following]))
        else:
            made.groups.append(group)
        made.wrong += +counts != Counts.of(left)
    for person in [*remaining, *left]:  # lines 17 and 18
        made.stuck = made.stuck or _join_as_printed(made.groups, person, least, check)
    return made


def _join_as_printed(groups: list[list[Person]], person: Person, least: int, check: Check) -> str:
    """Run lines 19 to 23; return the line that has nothing to select."""
    if not groups:
        return "line 19"
    group = min(groups, key=lambda one: sum(not is_compatible(person, member) for member in one))
    group.append(person)
    while len(check(group, group.index(person))) < least:
        others = [one for one in groups if one is not group]
        if not others:
            return "line 22"
        held = {member.value for member in group}
        best = max(others, key=lambda one: len({member.value for member in one} - held))
        group += best
        groups[:] = [one for one in groups if one is not best]
    return ""


def random_people(seed: int, most: int = 9) -> list[Person]:
    """Draw a small table whose people can take their own values."""
    chance = np.random.default_rng(seed)
    values = "abcd"[: int(chance.integers(3, 5))]
    kinds = [frozenset(value for value in values if chance.random() < share) for share in (0.0, 0.3, 0.5)]
    size = int(chance.integers(4, most + 1))
    people: list[Person] = []
    while len(people) < size:
        barred = kinds[int(chance.integers(len(kinds)))]
        value = values[int(chance.integers(len(values)))]
        if value not in barred:
            people.append(Person(str(len(people)), value, barred))
    return people
