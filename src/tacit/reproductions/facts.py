"""What a paper states beside what is found: rows of place, statement, the paper's number, ours, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations

from tacit.model.reproduction import Cell, Part
from tacit.model.transactions import Transactions

HEAD = ("where", "what", "paper", "Tacit", "agrees")
Row = tuple[Cell, ...]


def fact(where: str, what: str, paper: Cell, ours: Cell, why: str = "") -> Row:
    """A row; ``why`` says what is behind a difference."""
    return where, what, paper, ours, "yes" if paper == ours else f"NO{': ' if why else ''}{why}"


def facts_part(name: str, title: str, reading: str, rows: Sequence[Row]) -> Part:
    """A table of facts; its outcome counts how many agree."""
    agreeing = sum(row[-1] == "yes" for row in rows)
    rest = "" if agreeing == len(rows) else f"; {len(rows) - agreeing} not confirmed, for the reason beside"
    return Part(name, title, reading, HEAD, tuple(rows), f"{agreeing} of {len(rows)} statements confirmed{rest}.")


class Database:
    """A few people with letters as items, looked at straight from the definitions."""

    def __init__(self, rows: str) -> None:
        self.rows = [frozenset(row) for row in rows.split()]

    @property
    def people(self) -> Transactions:
        """The same people as transactions."""
        return Transactions.from_lists(sorted(row) for row in self.rows)

    def support(self, present: str, absent: str = "") -> int:
        """How many people have all of the first letters and none of the second.

        >>> Database("ab a b").support("a", "b")
        1
        """
        return sum(row.issuperset(present) and row.isdisjoint(absent) for row in self.rows)

    def frequent(self, least: int) -> dict[str, int]:
        """All sets of letters that at least so many people have, the empty one included."""
        items = sorted(frozenset().union(*self.rows))
        return {part: count for part in subsets(items) if (count := self.support(part)) >= least}

    def channels(self, least: int, k: int) -> dict[tuple[str, str], int]:
        """All channels as (I, J): the people whose letters of the frequent set J are exactly I, where they are 1 to k-1."""
        found = {}
        for whole in self.frequent(least):
            for part in subsets(whole):
                size = self.support(part, "".join(set(whole) - set(part)))
                if 0 < size < k:
                    found[part, whole] = size
        return found


def subsets(items: Iterable[str]) -> Iterable[str]:
    """All subsets of some letters, as words."""
    listed = sorted(items)
    return map("".join, chain.from_iterable(combinations(listed, size) for size in range(len(listed) + 1)))


def listed(supports: dict[str, int]) -> str:
    """Sets with their supports in one line, the shortest first.

    >>> listed({"ab": 2, "": 5, "b": 3})
    '{}:5 b:3 ab:2'
    """
    return " ".join(
        f"{items or '{}'}:{count}" for items, count in sorted(supports.items(), key=lambda entry: (len(entry[0]), entry[0]))
    )


def pairs(channels: dict[tuple[str, str], int]) -> str:
    """Channels in one line: ``I in J: size``.

    >>> pairs({("g", "fg"): 1})
    'g in fg: 1'
    """
    return ", ".join(
        f"{part or '{}'} in {whole}: {size}" for (part, whole), size in sorted(channels.items(), key=lambda e: (e[0][1], e[0][0]))
    )
