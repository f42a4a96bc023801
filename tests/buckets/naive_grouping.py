"""The groupings, written as plainly as possible: one person at a time, everything counted anew at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Person:
    """A person's value, the values ruled out for her, and where her class stands among all classes."""

    value: int
    excluded: frozenset[int]
    place: int


def can_share(one: Person, other: Person) -> bool:
    """Definition 2 of the paper: different values, and each can have the other's."""
    return one.value != other.value and other.value not in one.excluded and one.value not in other.excluded


def incompatible_with(group: Sequence[Person], people: Sequence[Person]) -> int:
    """How many of these people cannot be added to a group."""
    return sum(not all(can_share(member, person) for member in group) for person in people)


def people_of(sensitive: np.ndarray, kind: np.ndarray, patterns: np.ndarray, order: Sequence[int]) -> list[Person]:
    """Everybody, by class; ``order`` says which class (numbered by value, then kind) comes first of equally good ones."""
    cells = sorted({(int(value), int(k)) for value, k in zip(sensitive, kind, strict=True)})
    place = {cells[number]: at for at, number in enumerate(order)}
    everybody = [
        Person(int(value), frozenset(np.flatnonzero(patterns[k]).tolist()), place[int(value), int(k)])
        for value, k in zip(sensitive, kind, strict=True)
    ]
    return sorted(everybody, key=lambda person: person.place)


def grouped(people: list[Person], size: int, rule: str) -> tuple[list[list[Person]], list[Person]]:
    """Groups of ``size`` people and those left over: Fig. 2 of the paper, corrected, or with the balanced choices.

    A person for whom no group is found takes everybody who is like her along.
    """
    left, groups, outside = list(people), [], []
    while len(left) >= size:
        first = first_member(left, rule)
        group = [first]
        while len(group) < size and (partner := next_member(group, left, rule)) is not None:
            group.append(partner)
        if len(group) < size:
            outside += [person for person in left if person == first]
            left = [person for person in left if person != first]
            continue
        for person in group:
            left.remove(person)
        groups.append(group)
    return groups, outside + left


def first_member(left: list[Person], rule: str) -> Person:
    """Who a group begins with."""
    if rule == "balanced-2":
        return min(left, key=lambda person: (-number_of(person.value, left), person.value, person.place))
    return min(left, key=lambda person: (-incompatible_with([person], left), person.place))


def next_member(group: list[Person], left: list[Person], rule: str) -> Person | None:
    """Who is added to a group; None where nobody can be."""
    fit = [person for person in left if all(can_share(member, person) for member in group)]
    if rule == "injector":
        return min(fit, key=lambda person: (incompatible_with([*group, person], left), person.place), default=None)
    return min(fit, key=lambda person: (-number_of(person.value, left), person.value, person.place), default=None)


def number_of(value: int, people: list[Person]) -> int:
    """How many people have a value."""
    return sum(person.value == value for person in people)


def valid_by_matching(values: Sequence[int], excluded: Sequence[frozenset[int]]) -> list[set[int]]:
    """The values that everybody in a group can have: those for which the others can still be given the rest, by bipartite matching."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    size = len(values)
    may = np.array([[value not in barred for value in values] for barred in excluded])
    found: list[set[int]] = []
    for person in range(size):
        mine: set[int] = set()
        for slot in np.flatnonzero(may[person]).tolist():
            rest = np.delete(np.delete(may, person, axis=0), slot, axis=1)
            if values[slot] not in mine and (
                size == 1 or (maximum_bipartite_matching(csr_matrix(rest), perm_type="column") >= 0).sum() == size - 1
            ):
                mine.add(int(values[slot]))
        found.append(mine)
    return found


@st.composite
def tables(draw: st.DrawFn, most_people: int = 24, most_values: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small tables: the value and the kind of each person, and what is ruled out for each kind; never somebody's own value."""
    values, kinds = draw(st.integers(2, most_values)), draw(st.integers(1, 5))
    patterns = np.array(draw(st.lists(st.lists(st.booleans(), min_size=values, max_size=values), min_size=kinds, max_size=kinds)))
    patterns &= np.array(
        draw(st.lists(st.lists(st.booleans(), min_size=values, max_size=values), min_size=kinds, max_size=kinds))
    )
    cells = [(value, kind) for kind in range(kinds) for value in range(values) if not patterns[kind, value]]
    if not cells:
        patterns[:] = False
        cells = [(value, kind) for kind in range(kinds) for value in range(values)]
    rows = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=most_people))
    sensitive, kind = np.array(rows, np.int64).T
    return sensitive, kind, patterns
