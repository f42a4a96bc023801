"""People who came, went or changed: each of them once, with all that is known of her.

What a release of last year and one of this year tell about these people are many groups, and most of them say less than others: that two who
left are men adds nothing where both are told with all their values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

#: The classes that a group allows, by axis; an axis that is not named may be anything.
Box = Mapping[int, int]
Name = TypeVar("Name", bound=Hashable)

#: More groups than this are all told as they are.
MOST_MOVERS = 1_000


def told_once(groups: Iterable[tuple[Name, Box, int]]) -> tuple[set[Name], int]:
    """The groups that others tell more fully, and how many people there are at least in all; each group has a name, a box and its exact number.

    >>> men, tall, short = {0: 1}, {0: 1, 1: 1}, {0: 1, 1: 2}
    >>> told_once([("men", men, 2), ("tall men", tall, 1), ("short men", short, 1)])
    ({'men'}, 2)
    >>> told_once([("not thin", {0: 6}, 1), ("tall", {0: 2}, 1)])
    ({'not thin'}, 1)
    """
    listed = sorted(groups, key=lambda group: (-len(group[1]), _width(group[1]), str(group[0])))
    if len(listed) > MOST_MOVERS:
        return set(), 0
    apart: list[tuple[Name, Box, int]] = []
    for group in listed:
        if all(_are_apart(group[1], other[1]) for other in apart):
            apart.append(group)
    fullest = {name for name, _, _ in apart}
    said_more_fully = {
        name
        for name, box, people in listed
        if any(people == inner[2] and inner[1] != box and _is_inside(inner[1], box) for inner in listed)
        or (name not in fullest and _people(box, apart) == people)
    }
    return said_more_fully, sum(people for _, _, people in apart)


def _width(box: Box) -> int:
    """How many classes a box allows on the axes that it names: of two descriptions, the wider one says less."""
    return sum(mask.bit_count() for mask in box.values())


def _people(box: Box, apart: Sequence[tuple[Name, Box, int]]) -> int:
    """How many people of a box the groups inside it hold."""
    return sum(people for _, inner, people in apart if _is_inside(inner, box))


def _are_apart(one: Box, other: Box) -> bool:
    return any(not mask & other[axis] for axis, mask in one.items() if axis in other)


def _is_inside(inner: Box, outer: Box) -> bool:
    return all(axis in inner and not inner[axis] & ~mask for axis, mask in outer.items())
