"""Who the people of several releases are, read anew from the declaration for the checker.

Like :mod:`tacit.checker`, of which it is a part, it shares no code with the attacks. Whoever is in the same set of populations has the same
value on one axis, ``0+2`` for the people of the first and of the third; a declaration says which of these values there are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from tacit.checker.rules import Reject

#: Sets of populations at most; a record that needs more cannot be of an audit.
MOST_SETS = 1_000


@dataclass(slots=True)
class Declaration:
    """What is declared about the people of releases, of which ``of`` names the populations."""

    text: str
    of: Sequence[int]
    sets: dict[str, frozenset[int]] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.of or sorted(set(self.of)) != list(range(len(set(self.of)))):
            raise Reject("its groups of releases are not numbered from 0")
        kind = self.text.partition(",")[0].partition(":")[0]
        if kind in ("left", "joined"):
            self.spans = {"left": (0, 0), "joined": (0, 0)} | moved(self.text)
        if kind == "same" and self.text != "same":
            columns, _, span = self.text.removeprefix("same,changed:").rpartition(":")
            self.changed = frozenset(unquote(name) for name in columns.split("+"))
            self.spans = moved(f"changed:{span}")
            if set(self.of) != {0, 1} or not self.text.startswith("same,changed:"):
                raise Reject("it rests on a declaration about people that there is not")
        if kind != "same":
            self.sets = {"+".join(map(str, sorted(one))): one for one in self._possible(kind)}

    def _possible(self, kind: str) -> list[frozenset[int]]:
        """The sets of populations that somebody can be in."""
        every = range(max(self.of) + 1)
        if kind == "unknown":
            return [frozenset({number}) for number in every]
        if kind not in ("nested", "left", "joined"):
            raise Reject("it rests on a declaration about people that there is not")
        comes, goes = self.text == "nested:1,0", self.text == "nested"
        if self.spans:
            comes, goes = self.spans["joined"][1] > 0, self.spans["left"][1] > 0
        found: list[frozenset[int]] = [frozenset()]
        for number in every:
            longer = []
            for one in found:
                was = number - 1 in one
                longer += [one | {number}] if was or comes or number == 0 else []
                longer += [one] if not was or goes else []
            found = longer
            if len(found) > MOST_SETS:
                raise Reject("its releases are about too many groups of people")
        return [one for one in found if one]

    def members(self, inside: Collection[int], outside: Collection[int]) -> frozenset[str]:
        """The values of people who are in all populations of the first kind and in none of the second."""
        return frozenset(name for name, one in self.sets.items() if one.issuperset(inside) and one.isdisjoint(outside))

    def scope(self, number: int) -> frozenset[str] | None:
        """The values of the people of a release; None where all people are."""
        values = self.members([self.of[number]], ())
        return None if len(values) == len(self.sets) else values

    def mover(self, number: int, what: str) -> tuple[frozenset[str], tuple[int, int]]:
        """Who left after a release, or joined before it, and the fewest and the most of them."""
        population = self.of[number]
        other = population + 1 if what == "left" else population - 1
        if what not in self.spans or other not in self.of or list(self.of).index(population) != number:
            raise Reject("it rests on people who moved where nobody is declared to")
        return self.members([population], [other]), self.spans[what]


def moved(people: str) -> dict[str, tuple[int, int]]:
    """The fewest and the most people who left and who joined, as declared."""
    out: dict[str, tuple[int, int]] = {}
    for part in people.split(","):
        name, _, span = part.partition(":")
        fewest, dash, most = span.partition("-")
        out[name] = (int(fewest), int(most if dash else fewest))
    return out
