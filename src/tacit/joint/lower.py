"""Several releases as one problem over common axes.

If the populations differ, membership is one more axis. Its values are the sets of populations that a person can belong to, such as ``0+2``
for people of the first and the third who are not in the second. A column whose values may have changed is an axis of histories
(:mod:`tacit.joint.boxes`): a release prints one half of them, and to have changed is a set of histories.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING

from tacit.joint.boxes import (
    HISTORY_KIND,
    MEMBER,
    MOST_GROUPS,
    MOST_SUBSETS,
    Allowed,
    Axis,
    Box,
    Key,
    Line,
    Membership,
    Origin,
    Problem,
    count_groups,
)
from tacit.joint.conditions import Gaps, MissingRules, ShownRows
from tacit.joint.cube import ASKED_WHOLE, MOST_LITERALS, Step
from tacit.joint.readers import READERS, Vocabulary
from tacit.model.errors import OptionError, nearest_name
from tacit.model.finding import ItemEvent
from tacit.model.knowledge import Amount, Fact
from tacit.model.numbers import Bound
from tacit.model.people import Changed, Churn, Nested, People, Same, Unknown
from tacit.model.release import Release
from tacit.model.table import Transactions
from tacit.model.words import has_changed

if TYPE_CHECKING:
    from tacit.joint.settled import Settled
    from tacit.known.releases import SeveralCase

MOST_HISTORIES = 1_000  #: Histories of one column at most.
MOST_PRECISIONS = 2  #: Most widths of bounds, the narrowest first, at which values of a column are joined.


@dataclass(frozen=True, slots=True, eq=False)
class JointCase:
    """Releases with counts, and the relation between their populations.

    ``population`` numbers the population of each release: its own, or one for all files of a folder. ``names`` are the names of the
    populations: the folder, or the file. ``data`` are the owner's rows, given only if all releases are about the same people: a world that
    fits every line. ``facts`` are background knowledge about values of the column ``sensitive``. ``known`` holds the same releases
    with everybody's quasi-identifiers, if these are known and the populations are the same. ``settled`` is what a search about releases that
    may say more has settled.
    """

    releases: tuple[Release, ...]
    people: People
    population: tuple[int, ...]
    names: tuple[str, ...]
    data: Transactions | None = None
    facts: tuple[Fact, ...] = ()
    sensitive: str = ""
    known: SeveralCase | None = None
    settled: Settled | None = None

    @classmethod
    def of(
        cls,
        releases: tuple[Release, ...],
        people: People,
        population: Sequence[int] | None = None,
        names: Sequence[str] = (),
        data: Transactions | None = None,
    ) -> JointCase:
        """Return the case of these releases."""
        owner = tuple(range(len(releases)) if population is None else population)
        case = cls(releases, people, owner, tuple(names), data=data)
        if names:
            return case
        files = [[case.name(number) for number, one in enumerate(owner) if one == place] for place in range(max(owner) + 1)]
        named = tuple(own[0] if len(own) == 1 else f"group {place + 1}" for place, own in enumerate(files))
        return replace(case, names=named)

    def name(self, release: int) -> str:
        """Return the name of a release in sentences."""
        source = self.releases[release].source
        return source.name if source else f"release {release + 1}"


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Small group; ``together`` if several releases are needed."""

    event: ItemEvent
    lo: int
    hi: int
    together: bool
    proof: Callable[[], tuple[Sequence[Step], Sequence[Step]]]

    @property
    def size(self) -> int:
        """Return how many items describe the group."""
        return len(self.event.present) + len(self.event.absent) + len(self.event.changes)


def lower(
    releases: Sequence[Release],
    people: People,
    of: Sequence[int] | None = None,
    facts: Sequence[Fact] = (),
    sensitive: str = "",
    *,
    plain: bool = False,
) -> Problem:
    """Return everything that the releases print as one problem.

    ``of`` is the population of each release, by default its own. ``facts`` about ``sensitive`` require the same populations. A ``plain``
    problem has no groups but those that lines name.
    """
    whose = relate_populations(releases, people, of)
    readers = [READERS[release.kind](number, release, whose.scopes[number]) for number, release in enumerate(releases)]
    words = Vocabulary(readers, people, whose.of)
    # All items are looked up before the first line is read: rows of tables are counted over what others name.
    for reader in readers:
        reader.look_up(words)
    lines = list(whose.lines)
    for reader in readers:
        lines += reader.lines()
    for reader in readers:
        lines += reader.closing_lines()
    lines += fact_lines(facts, sensitive, words.columns, releases[0].n)
    left_out = sum(reader.left_out for reader in readers)
    found = [one for reader in readers for one in reader.conditions()]
    conditions = sorted(found, key=lambda one: (MissingRules, Gaps, ShownRows).index(type(one)))
    if isinstance(people, Changed):
        # Axes are histories then: conditions are not read over these, and a missing rule would join values of two times.
        left_out += len(conditions)
        conditions = []
    missing = [one for one in conditions if isinstance(one, MissingRules)]
    lines += [line for one in missing for line in one.lines(tuple(lines))]
    left_out += sum(one.left_out for one in missing)
    lines, histories = rewrite_changes(lines, people, words, whose.of)
    axes, lacking, has_unions = _axes(lines, whose, histories, words, plain=plain)
    place = {axis.key: number for number, axis in enumerate(axes)}
    kept = [line for line in lines if all(axes[place[key]].mask(one) for _, box in line.terms for key, one in box.items())]

    def is_question(line: Line) -> bool:
        return sum(key != MEMBER for key in line.terms[0][1]) > MOST_LITERALS and readers[line.origin.release].has_cells

    return Problem(
        axes=axes,
        lines=tuple(kept),
        everybody=whose.everybody,
        members=whose.members,
        left_out=left_out,
        place=place,
        cells=tuple(number for number, line in enumerate(kept) if is_question(line)),
        by_row=frozenset(reader.number for reader in readers if reader.by_row),
        conditions=tuple(conditions),
        lacking=lacking,
        has_unions=has_unions,
    )


def fact_lines(facts: Sequence[Fact], sensitive: str, columns: Collection[str], n: int | None) -> Iterator[Line]:
    """Yield background facts about columns that some release names.

    Shares of groups, other than 0, are left to attacks on known people.
    """
    for fact in facts:
        least = _number(fact.at_least)
        most = _number(fact.at_most)
        if not {*fact.allowed, sensitive} <= set(columns) or (least is None and most is None):
            continue
        box = {Key("column", name): Allowed(frozenset(values)) for name, values in fact.allowed.items()}
        box[Key("column", sensitive)] = Allowed(frozenset([fact.value]))
        record = {"event": {name: sorted(values) for name, values in fact.allowed.items()}, "value": fact.value}
        text = json.dumps(record | {"at_least": least, "at_most": most}, ensure_ascii=False, sort_keys=True)
        ends = Bound(least or 0, most if most is not None else n or least or 0)
        yield Line.about(box, least, most, Origin(0, fact.place, "fact", ends, items=(text,)))


def _number(amount: Amount | None) -> int | None:
    return None if amount is None or (amount.is_share and amount.value) else int(amount.value)


def _axes(
    lines: Sequence[Line], whose: Populations, histories: Mapping[Key, list[str]], words: Vocabulary, *, plain: bool = False
) -> tuple[tuple[Axis, ...], tuple[Axis, ...], bool]:
    """Return the axes without and with lacking slots, and if these include all unions.

    Both are the same if the latter are few enough. If all groups are few, every set of values is a slot; otherwise those that lines count
    together are, if one cube still holds all groups.
    """
    named: dict[Key, list[Allowed]] = {}
    for line in lines:
        for _, box in line.terms:
            for key, allowed in box.items():
                named.setdefault(key, []).append(allowed)
    for values in whose.members:
        if values:
            named.setdefault(MEMBER, []).append(Allowed(values))
    known = {MEMBER: list(whose.values), **histories}
    universe = {key: (known[key], False) if key in known else words.universe(key) for key in sorted(named, reverse=True)}

    def axes(unions: Mapping[Key, list[Allowed] | None], is_lacking: bool = True) -> tuple[Axis, ...]:
        return tuple(
            Axis.of(key, *values, named[key], lacking=is_lacking, unions=unions.get(key, ())) for key, values in universe.items()
        )

    if plain:
        alone = axes({}, is_lacking=False)
        return alone, alone, False
    every = axes({key: None for key in universe if key != MEMBER and key not in histories})
    if count_groups(every) <= min(ASKED_WHOLE, MOST_GROUPS) and all(len(axis.classes) <= MOST_SUBSETS for axis in every):
        return every, every, True
    counted = _unions(lines)
    for unions in (counted, {}):
        lacking = axes(unions)
        if count_groups(lacking) <= MOST_GROUPS:
            return lacking, lacking, unions is counted or not counted
    return axes({}, is_lacking=False), lacking, not counted


def _unions(lines: Iterable[Line]) -> dict[Key, list[Allowed] | None]:
    """Return the values of each column that lines with equal other conditions count, in steps of their precision.

    What lines count of a group, value by value, leaves the number of people who have none of these values.
    """
    widths: dict[frozenset[tuple[Key, Allowed]], float] = {}
    families: dict[tuple[Key, frozenset[tuple[Key, Allowed]]], dict[frozenset[tuple[Key, Allowed]], frozenset[str]]] = {}
    for line in lines:
        width = inf if line.lo is None or line.hi is None else line.hi - line.lo
        for _, box in line.terms if len(line.terms) == 1 else ():
            cell = frozenset(box.items())
            widths[cell] = min(width, widths.get(cell, inf))
            for key, allowed in box.items():
                if key.kind != "item" and key != MEMBER and not allowed.excluded:
                    families.setdefault((key, cell - {(key, allowed)}), {})[cell] = allowed.values
    _find_what_follows(widths, families)
    counted = {place: [(widths[cell], values) for cell, values in parts.items()] for place, parts in families.items()}
    found: dict[Key, set[frozenset[str]]] = {}
    for (key, _), parts in counted.items():
        values = frozenset[str]()
        for width in sorted({width for width, _ in parts})[:MOST_PRECISIONS]:
            values = values.union(*(own for precision, own in parts if precision == width))
            if len(values) > 1:
                found.setdefault(key, set()).add(values)
    return {key: [Allowed(values) for values in sorted(sets, key=sorted)] for key, sets in found.items()}


def _find_what_follows(
    widths: dict[frozenset[tuple[Key, Allowed]], float],
    families: Mapping[tuple[Key, frozenset[tuple[Key, Allowed]]], Collection[frozenset[tuple[Key, Allowed]]]],
) -> None:
    """Set the width of cells that follow from an exact total and all its other parts to 0.

    This decides only what is asked, so that it need not look if the parts are all.
    """
    while True:
        known = [
            wide[0]
            for (_, total), parts in families.items()
            if widths.get(total) == 0 and len(wide := [cell for cell in parts if widths[cell] > 0]) == 1
        ]
        if not known:
            return
        widths.update(dict.fromkeys(known, 0))


@dataclass(frozen=True, slots=True)
class Populations:
    """Populations of the releases, their sizes and named sets.

    ``everybody`` are lines that together cover each person, if known. ``values`` are those of the membership axis, if populations differ.
    """

    scopes: tuple[Box, ...]
    lines: tuple[Line, ...]
    everybody: tuple[int, ...]
    members: Mapping[frozenset[str], Membership]
    values: tuple[str, ...]
    of: tuple[int, ...]


def memberships(people: People, populations: int) -> tuple[tuple[int, ...], ...]:
    """Sets of populations that an individual can be in."""
    every = range(populations)
    first = tuple(tuple(every[: end + 1]) for end in every)
    last = tuple(tuple(every[start:]) for start in every)
    if isinstance(people, Nested):
        return first if people.outer == 0 else last
    if isinstance(people, Unknown):  # whoever is in two of them is counted in each as somebody else
        return tuple((number,) for number in every)
    if not isinstance(people, Churn):
        return ()
    if people.joined[1] == 0:  # whoever is not there cannot come
        return first if people.left[1] else (tuple(every),)
    if people.left[1] == 0:
        return last
    return tuple(sorted(chosen for size in range(1, populations + 1) for chosen in combinations(every, size)))


def relate_populations(releases: Sequence[Release], people: People, of: Sequence[int] | None = None) -> Populations:
    """Return the populations of the releases; ``of`` maps releases to them."""
    owner = tuple(range(len(releases))) if of is None else tuple(of)
    populations = range(max(owner) + 1)
    inside = {"+".join(map(str, one)): frozenset(one) for one in memberships(people, len(populations))}

    def members(there: int, gone: int | None = None) -> frozenset[str]:
        return frozenset(name for name, one in inside.items() if there in one and gone not in one)

    scopes: list[Box] = [{} if len(own) == len(inside) else {MEMBER: Allowed(own)} for own in map(members, populations)]
    lines: list[Line] = []
    counted: dict[int, int] = {}
    for number, release in enumerate(releases):
        if (n := release.n) is not None:
            counted.setdefault(owner[number], len(lines))
            lines.append(Line.about(scopes[owner[number]], n, n, Origin(number, "n", "n", Bound.of(n))))
    everybody, is_complete = _cover_everybody(people, counted, scopes)
    for population in populations[:-1] if isinstance(people, Churn) else ():
        assert isinstance(people, Churn)
        following = population + 1
        for number, name, movers, span in (
            (owner.index(population), "left", members(population, following), people.left),
            (owner.index(following), "joined", members(following, population), people.joined),
        ):
            if movers:
                lines.append(Line.about({MEMBER: Allowed(movers)}, *span, Origin(number, name, name, Bound(*span))))
                if name == "joined" and not is_complete:
                    everybody.append(len(lines) - 1)
    own = tuple(scopes[population] for population in owner)
    named = _name_members(inside)
    return Populations(own, tuple(lines), tuple(everybody), named, values=tuple(inside), of=owner)


def _cover_everybody(people: People, counted: Mapping[int, int], scopes: Sequence[Box]) -> tuple[list[int], bool]:
    whole = [counted[population] for population, scope in enumerate(scopes) if not scope and population in counted]
    if whole or isinstance(people, (Same, Changed)):
        return whole[:1], True
    if isinstance(people, Churn):
        return [counted[0]] if 0 in counted else [], 0 not in counted
    return [counted[population] for population in range(len(scopes))] if len(counted) == len(scopes) else [], True


def _name_members(inside: Mapping[str, frozenset[int]]) -> dict[frozenset[str], Membership]:
    if not inside:
        return {}
    every = frozenset().union(*inside.values())
    found: dict[frozenset[str], Membership] = {}

    def select(within: frozenset[int], without: frozenset[int]) -> frozenset[str]:
        return frozenset(name for name, one in inside.items() if within <= one and not without & one)

    sets = [(frozenset([one]), frozenset[int]()) for one in every]
    sets += [(frozenset([one]), frozenset([other])) for one in every for other in every if one != other]
    sets += [(one, every - one) for one in inside.values()]
    for within, without in sets:
        values = select(within, without)
        if not values or values in found:
            continue
        shortest = [frozenset(within), frozenset(without)]
        for place in (0, 1):
            for one in sorted(shortest[place]):
                fewer = list(shortest)
                fewer[place] = shortest[place] - {one}
                if fewer[0] and select(*fewer) == values:
                    shortest = fewer
        found[values] = (tuple(sorted(shortest[0])), tuple(sorted(shortest[1])))
    whole = found.get(frozenset(inside))
    return found | ({frozenset[str](): whole} if whole is not None else {})


def rewrite_changes(
    lines: Sequence[Line], people: People, words: Vocabulary, of: Sequence[int]
) -> tuple[list[Line], Mapping[Key, list[str]]]:
    """Rewrite lines over histories; return both."""
    if not isinstance(people, Changed):
        return list(lines), {}
    histories = dict(_history_axis(name, words) for name in people.columns)
    out = []
    for line in lines:
        terms = []
        for factor, box in line.terms:
            new: dict[Key, Allowed] = {}
            for key, allowed in box.items():
                axis, values = histories.get(key, (key, None))
                if values is not None:
                    half = of[line.origin.release]
                    fitting = (one for one in values if (json.loads(one)[half] in allowed.values) != allowed.excluded)
                    allowed = Allowed(frozenset(fitting))
                new[axis] = allowed
            terms.append((factor, new))
        out.append(replace(line, terms=tuple(terms)))
    for key, values in histories.values():
        changed = Allowed(frozenset(filter(has_changed, values)))
        if changed.values:  # otherwise there is a single value, and everybody has it
            origin = Origin(list(of).index(1), "changed", "changed", Bound(*people.people), items=(key.name,))
            out.append(Line.about({key: changed}, *people.people, origin))
    return out, dict(histories.values())


def _history_axis(name: str, words: Vocabulary) -> tuple[Key, tuple[Key, list[str]]]:
    key = next((Key(kind, name) for kind in ("column", "item") if Key(kind, name) in words.values), None)
    if key is None:
        known = sorted({key.name for key in words.values})
        raise OptionError("names a column that no release has", where="--people", remedy=nearest_name(name, known, "columns"))
    values, is_open = words.universe(key)
    found: list[tuple[str | None, ...]] = list(product([*values, *([None] if is_open else [])], repeat=2))
    if is_open and key.kind != "item":
        found.append((None, None, "changed"))
    if len(found) > MOST_HISTORIES:
        what = f"the column {name} has too many values to follow from one release to the next"
        remedy = "Leave the column out of the declaration, or publish it more coarsely"
        raise OptionError(what, where="--people", remedy=remedy)
    return key, (Key(HISTORY_KIND[key.kind], name), [json.dumps(history, ensure_ascii=False) for history in found])
