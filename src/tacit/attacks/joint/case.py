"""Several releases under attack together, and how their people hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.model.knowledge import Fact
from tacit.model.people import People
from tacit.model.release import Release
from tacit.model.transactions import Transactions


@dataclass(frozen=True, slots=True, eq=False)
class JointCase:
    """Releases of lines with counts, with what is declared about their people.

    ``population`` says for each release which group of people it is about: each its own, or those of one folder the same. ``names`` are what
    these groups are called: the folder, or the file. ``data`` are the owner's rows where all releases are about the same people: a world that
    fits every line. ``facts`` are known besides, about values of the column ``sensitive``.
    """

    releases: tuple[Release, ...]
    people: People
    population: tuple[int, ...]
    names: tuple[str, ...]
    data: Transactions | None = None
    facts: tuple[Fact, ...] = ()
    sensitive: str = ""

    @classmethod
    def of(
        cls,
        releases: tuple[Release, ...],
        people: People,
        population: Sequence[int] | None = None,
        names: Sequence[str] = (),
        data: Transactions | None = None,
    ) -> JointCase:
        """The case of these releases."""
        owner = tuple(range(len(releases)) if population is None else population)
        return cls(releases, people, owner, tuple(names) or _names(releases, owner), data)

    @property
    def grouped(self) -> tuple[tuple[int, ...], ...]:
        """The releases of each population."""
        every = range(max(self.population) + 1)
        return tuple(tuple(place for place, one in enumerate(self.population) if one == number) for number in every)

    def name(self, release: int) -> str:
        """What a release is called in sentences: its file, or its number."""
        source = self.releases[release].source
        return source.name if source else f"release {release + 1}"


def _names(releases: Sequence[Release], owner: Sequence[int]) -> tuple[str, ...]:
    """What the populations are called where nobody says: their only file, or their number."""
    out = []
    for number in range(max(owner) + 1):
        own = [(place, release) for place, (release, one) in enumerate(zip(releases, owner, strict=True)) if one == number]
        place, release = own[0]
        only = release.source.name if release.source else f"release {place + 1}"
        out.append(only if len(own) == 1 else f"group {number + 1}")
    return tuple(out)
