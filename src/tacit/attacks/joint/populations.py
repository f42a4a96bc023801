"""Whose people each release is about: in which populations somebody can be, and what is declared about how many came and went.

Who somebody is with is one more axis. Its values are the sets of populations that somebody can be in, written ``0+2`` for those of the
first and of the third who are not in the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.attacks.joint.boxes import MEMBER, Allowed, Box, Membership
from tacit.attacks.joint.lines import Line, Origin
from tacit.model.bound import Bound
from tacit.model.people import Changed, Churn, People, Same, memberships
from tacit.model.release import Release

Members = Mapping[frozenset[str], Membership]


@dataclass(frozen=True, slots=True)
class Populations:
    """The people of each release, the lines about their number, and which sets of people have a name.

    ``everybody`` are the lines whose boxes together hold each person at least once, empty where not all of them are known. ``values`` are
    those of the axis that tells people apart; none where they are the same. ``of`` is the population of each release.
    """

    scopes: tuple[Box, ...]
    lines: tuple[Line, ...]
    everybody: tuple[int, ...]
    members: Members
    values: tuple[str, ...]
    of: tuple[int, ...]


def populations(releases: Sequence[Release], people: People, of: Sequence[int] | None = None) -> Populations:
    """Whose people the releases are about; ``of`` is the population of each, by default its own."""
    owner = tuple(range(len(releases))) if of is None else tuple(of)
    sets = memberships(people, max(owner) + 1)
    inside = {"+".join(map(str, one)): frozenset(one) for one in sets}
    scopes = [_among(inside, number) for number in range(max(owner) + 1)]
    lines = [
        Line(((1, scopes[owner[number]]),), release.n, release.n, Origin(number, "n", "n", Bound.of(release.n)))
        for number, release in enumerate(releases)
        if release.n is not None
    ]
    counted: dict[int, int] = {}
    for place, line in enumerate(lines):
        counted.setdefault(owner[line.origin.release], place)
    everybody, all_told = _everybody(people, counted, scopes)
    if isinstance(people, Churn):
        first = {population: number for number, population in reversed(list(enumerate(owner)))}
        for population in range(max(owner)):
            came = {MEMBER: Allowed(_between(inside, population + 1, population))}
            went = {MEMBER: Allowed(_between(inside, population, population + 1))}
            for number, name, box, span in (
                (first[population], "left", went, people.left),
                (first[population + 1], "joined", came, people.joined),
            ):
                if not box[MEMBER].values:
                    continue
                lines.append(Line(((1, box),), *span, Origin(number, name, name, Bound(*span))))
                everybody += [len(lines) - 1] if name == "joined" and not all_told else []
    return Populations(
        tuple(scopes[population] for population in owner),
        tuple(lines),
        tuple(everybody),
        _names(inside),
        tuple(inside),
        owner,
    )


def _among(inside: Mapping[str, frozenset[int]], population: int) -> Box:
    """The people of one population; all where nobody is outside it."""
    values = frozenset(name for name, one in inside.items() if population in one)
    return {} if len(values) == len(inside) else {MEMBER: Allowed(values)}


def _between(inside: Mapping[str, frozenset[int]], there: int, gone: int) -> frozenset[str]:
    return frozenset(name for name, one in inside.items() if there in one and gone not in one)


def _everybody(people: People, counted: Mapping[int, int], scopes: Sequence[Box]) -> tuple[list[int], bool]:
    """Numbers of people that count everybody at least once, and whether they do so by themselves; else those who joined are to be added."""
    whole = [counted[population] for population, scope in enumerate(scopes) if not scope and population in counted]
    if whole or isinstance(people, (Same, Changed)):
        return whole[:1], True
    if isinstance(people, Churn):
        return [counted[0]] if 0 in counted else [], 0 not in counted
    return [counted[population] for population in range(len(scopes))] if len(counted) == len(scopes) else [], True


def _names(inside: Mapping[str, frozenset[int]]) -> dict[frozenset[str], Membership]:
    """Every set of values that is told as "in these populations, not in those", in as few of them as say it."""
    if not inside:
        return {}
    every = frozenset().union(*inside.values())
    found: dict[frozenset[str], Membership] = {}

    def told(within: frozenset[int], without: frozenset[int]) -> frozenset[str]:
        return frozenset(name for name, one in inside.items() if within <= one and not without & one)

    spoken = [(frozenset([one]), frozenset[int]()) for one in every]
    spoken += [(frozenset([one]), frozenset([other])) for one in every for other in every if one != other]
    spoken += [(one, every - one) for one in inside.values()]
    for within, without in spoken:
        values = told(within, without)
        if not values or values in found:
            continue
        shortest = [frozenset(within), frozenset(without)]
        for place in (0, 1):
            for one in sorted(shortest[place]):
                fewer = list(shortest)
                fewer[place] = shortest[place] - {one}
                if fewer[0] and told(*fewer) == values:
                    shortest = fewer
        found[values] = (tuple(sorted(shortest[0])), tuple(sorted(shortest[1])))
    whole = found.get(frozenset(inside))
    return found | ({frozenset[str](): whole} if whole is not None else {})
