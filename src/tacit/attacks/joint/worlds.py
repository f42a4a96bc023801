"""Every world of a few people that fits what is printed about groups of them: how many they are, the sum of their values, their median.

People are placed one after another by their value, the smallest first, so that what is left to place can be bounded: no group may get more
people than it holds, its sum must stay within reach of people with larger values, and the person in its middle has the printed median.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Ends = tuple[int, int]

#: Worlds that are kept, and people placed on the way, at most.
MOST_WORLDS, MOST_PLACED = 2_000, 3_000_000


@dataclass(frozen=True, slots=True)
class Printed:
    """What is printed about a group of cells: its number of people, and where known the sum of their values and twice their median.

    Sum and median are used only where the number of people is exact.
    """

    inside: tuple[bool, ...]
    count: Ends
    total: Ends | None = None
    middle: Ends | None = None


class TooMany(Exception):
    """There are too many worlds, or too many ways to look for them."""


def worlds(values: Sequence[int], groups: Sequence[Printed], people: int, check: Callable[[], None]) -> list[tuple[int, ...]]:
    """All worlds of so many people, each as the cells of its people in ascending order; ``values`` of cells ascend.

    Two cells with values 1 and 2, three people, and their values sum up to 5: one has the first value, two have the second.

    >>> worlds([1, 2], [Printed((True, True), (3, 3), (5, 5))], 3, lambda: None)
    [(0, 1, 1)]
    """
    found: list[tuple[int, ...]] = []
    for world in _Search(values, groups, people, check).worlds():
        found.append(world)
        if len(found) > MOST_WORLDS:
            raise TooMany
    return found


class _Search:
    """People placed so far, and for each group what they count in it and which values its next person may have."""

    def __init__(self, values: Sequence[int], groups: Sequence[Printed], people: int, check: Callable[[], None]) -> None:
        self._values, self._groups, self._people, self._check = values, groups, people, check
        self._span = (min(values, default=0), max(values, default=0))
        self._of = [[place for place, group in enumerate(groups) if group.inside[cell]] for cell in range(len(values))]
        self._count = [0] * len(groups)
        self._total = [0] * len(groups)
        self._lower = [0] * len(groups)
        self._room = [self._next(place) for place in range(len(groups))]
        self._placed: list[int] = []
        self._looks = 0

    def worlds(self, first: int = 0) -> Iterator[tuple[int, ...]]:
        """The worlds in which nobody else is placed before the cell ``first``."""
        self._looks += 1
        if self._looks % 1024 == 0:
            self._check()
            if self._looks > MOST_PLACED:
                raise TooMany
        left = self._people - len(self._placed)
        missing = [group.count[0] - count for group, count in zip(self._groups, self._count, strict=True)]
        if max(missing, default=0) > left:
            return
        if not left:
            yield tuple(self._placed)
            return
        # People come by ascending values, so none can be larger than the next person of a group that still needs one.
        largest = min((self._room[place][1] for place, fewest in enumerate(missing) if fewest > 0), default=self._span[1])
        for cell in range(first, bisect_right(self._values, largest)):
            value = self._values[cell]
            if all(self._room[place][0] <= value <= self._room[place][1] for place in self._of[cell]):
                kept = [(place, self._total[place], self._lower[place], self._room[place]) for place in self._of[cell]]
                self._place(cell)
                yield from self.worlds(cell)
                self._placed.pop()
                for place, total, lower, room in kept:
                    self._count[place] -= 1
                    self._total[place], self._lower[place], self._room[place] = total, lower, room

    def _place(self, cell: int) -> None:
        """Count one more person."""
        value = self._values[cell]
        self._placed.append(cell)
        for place in self._of[cell]:
            self._count[place] += 1
            self._total[place] += value
            if self._count[place] == (self._groups[place].count[0] + 1) // 2:
                self._lower[place] = value
            self._room[place] = self._next(place)

    def _next(self, place: int) -> Ends:
        """The values that the next person of a group may have; none where the group is full."""
        group, rank = self._groups[place], self._count[place] + 1
        size, most = group.count
        low, high = self._span
        if rank > most:
            return 1, 0
        if size != most:
            return low, high
        if group.total is not None:
            missing = size - rank + 1
            high = min(high, (group.total[1] - self._total[place]) // missing)
            low = max(low, group.total[0] - self._total[place] - (missing - 1) * self._span[1])
        if group.middle is not None:
            lower, upper = (size + 1) // 2, size // 2 + 1
            if rank == upper:
                before = 0 if lower == upper else self._lower[place]
                twice = 2 if lower == upper else 1
                low = max(low, -((before - group.middle[0]) // twice))
                high = min(high, (group.middle[1] - before) // twice)
            elif rank < upper:
                high = min(high, group.middle[1] // 2)
        return low, high
