"""What a complete list of rules says by leaving rules out: whoever has the antecedent has the value less often than a rule needs.

What an adversary knows besides the releases, as lines: so many people of a group have a sensitive value, or nobody does.

Whose people each release is about: in which populations somebody can be, and what is declared about how many came and went.

Who somebody is with is one more axis. Its values are the sets of populations that somebody can be in, written ``0+2`` for those of the
first and of the third who are not in the second.

Columns whose values may have changed between two releases about the same people.

Such a column is one axis of histories (:mod:`tacit.joint.boxes`). What a release prints is about one half of them, and that
somebody changed is a set of histories, so that a change is nothing but one more group of people.

Several releases as one problem: all their lines over common axes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor, prod
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import OptionError, nearest_name
from tacit.joint.boxes import (
    MEMBER,
    MOST_GROUPS,
    OF_KIND,
    Allowed,
    Axis,
    Box,
    Choice,
    Condition,
    Key,
    Line,
    Membership,
    Origin,
    Problem,
    Tally,
    all_histories,
    groups_of,
    literal,
    tally_inside,
    with_value,
)
from tacit.joint.cube import MOST_LITERALS
from tacit.joint.readers import BucketLines, FrequencyLines, ListedLines, RowLines, ShownRows, Vocabulary, all_values
from tacit.model.buckets import Buckets
from tacit.model.frequencies import FrequencyTable
from tacit.model.knowledge import Amount, Fact
from tacit.model.numbers import Bound
from tacit.model.partial import PartialTable
from tacit.model.people import Changed, Churn, People, Same, memberships
from tacit.model.release import Release, Rules
from tacit.model.words import differs


def fact_lines(facts: Sequence[Fact], sensitive: str, columns: Collection[str], n: int | None) -> Iterator[Line]:
    """The facts about columns that some release names; shares of groups, other than none of them, are for attacks on known people."""
    for fact in facts:
        if not {*fact.allowed, sensitive} <= set(columns):
            continue
        least = _number(fact.at_least)
        most = _number(fact.at_most)
        if least is None and most is None:
            continue
        box = {Key("column", name): Allowed(frozenset(values)) for name, values in fact.allowed.items()}
        box[Key("column", sensitive)] = Allowed(frozenset([fact.value]))
        told = {"event": {name: sorted(values) for name, values in fact.allowed.items()}, "value": fact.value}
        text = json.dumps(told | {"at_least": least, "at_most": most}, ensure_ascii=False, sort_keys=True)
        ends = Bound(least or 0, most if most is not None else n or least or 0)
        yield Line(((1, box),), least, most, Origin(0, fact.place, "fact", ends, (text,)))


def _number(amount: Amount | None) -> int | None:
    """A number of people; None of a share, unless it is none of them."""
    if amount is None or (amount.is_share and amount.value):
        return None
    return int(amount.value)


#: Missing rules of one release that are taken in at most.
MOST_MISSING = 5_000
#: Antecedents that are looked at in a world, at most.
MOST_ANTECEDENTS = 20_000

Antecedent = frozenset[tuple[str, str]]


class MissingRules:
    """The rules that a complete list leaves out, for antecedents whose number of people some line bounds from above."""

    def __init__(self, number: int, release: Rules, scope: Box) -> None:
        self._number = number
        self._release = release
        self._scope = scope
        self._listed = set(_rules_of(release))
        self.left_out = 0

    @property
    def tells(self) -> bool:
        """Whether a missing rule says anything here."""
        header = self._release.header
        known = header.sa_values and len(header.sa) == 1 and header.qi and self._release.items.pairs is not None
        return bool(known and header.complete and not header.coarser and header.min_support and header.min_confidence)

    def lines(self, told: Iterable[Line]) -> Iterator[Line]:
        """The largest number of people that each missing rule allows; only those that say more than a shorter one does."""
        if not self.tells:
            return
        header = self._release.header
        listed = self._listed
        told = tuple(told)
        most = self._antecedents(told, "hi")
        yield from self._shares(self._antecedents(told, "lo"), listed)
        said: dict[tuple[Antecedent, str], int] = {}
        for antecedent in sorted(most, key=lambda one: (len(one), sorted(one))):
            people, given = most[antecedent]
            limit = self._limit(people)
            for value in header.sa_values:
                shorter = (said.get((antecedent - {one}, value)) for one in antecedent)
                if (antecedent, value) in listed or limit >= people or any(one is not None and one <= limit for one in shorter):
                    continue
                if len(said) >= MOST_MISSING:
                    self.left_out += 1
                    return
                said[antecedent, value] = limit
                yield self._line(antecedent, value, limit, given)

    def _shares(self, least: Mapping[Antecedent, tuple[int, Origin]], listed: set[tuple[Antecedent, str]]) -> Iterator[Line]:
        """What missing rules say where the size of an antecedent is only bounded: less than its share, however many people there are.

        That holds where already the fewest people would make a rule of that confidence frequent enough.
        """
        header = self._release.header
        for antecedent in sorted(least, key=lambda one: (len(one), sorted(one))):
            people, given = least[antecedent]
            share = (header.min_confidence or 0) * people
            enough = floor(share) + 1 if header.strict else ceil(share)
            if given.printed.is_exact or enough < (header.min_support or 1):
                continue
            for value in header.sa_values:
                if (antecedent, value) not in listed:
                    yield self._share_line(antecedent, value, people, given)

    def _share_line(self, antecedent: Antecedent, value: str, people: int, given: Origin) -> Line:
        """The share of people with an antecedent who have a value lies below the confidence, or does not exceed it."""
        header = self._release.header
        assert header.min_confidence is not None
        line = self._line(antecedent, value, people, given)
        having = line.terms[0][1]
        whole = {key: allowed for key, allowed in having.items() if key != Key("column", header.sa[0])}
        place = f"share of {line.origin.place}"
        origin = Origin(self._number, place, "missing-share", Bound(people, people), line.origin.items, given)
        terms = ((header.min_confidence.numerator, whole), (-header.min_confidence.denominator, having))
        return Line(terms, 0 if header.strict else 1, None, origin)

    def _limit(self, people: int) -> int:
        """The most people that a missing rule leaves, where at most so many have its antecedent."""
        header = self._release.header
        share = (header.min_confidence or 0) * people
        return max((header.min_support or 1) - 1, floor(share) if header.strict else ceil(share) - 1)

    def is_told(self, axes: Sequence[Axis]) -> bool:
        """Whether classes on these axes tell which rules would be listed: every value by itself, and not too many antecedents."""
        columns, sensitive = self._places(axes)
        if sensitive is None:
            return False
        plain = all(len(values) == 1 for number in (*columns, sensitive) for values in axes[number].classes)
        every = prod(len(axes[number].classes) + 1 for number in columns)
        return plain and every <= MOST_ANTECEDENTS

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """The rules that the list leaves out and that are strong enough to be in it, or would be with so many people more or less.

        How many people have an antecedent is counted, so that this says more than :meth:`lines`.
        """
        columns, sensitive = self._places(axes)
        assert sensitive is not None
        counts = self._counted(axes, tally, (*columns, sensitive))
        if self._release.header.min_support == 1:
            yield from self._unnamed(axes, counts, columns)
        for size in range(1, len(columns) + 1):
            for chosen in combinations(range(len(columns)), size):
                rest = tuple(place for place in range(len(columns)) if place not in chosen)
                yield from self._strong(axes, counts.sum(axis=rest), [columns[place] for place in chosen], sensitive, room)

    def _counted(self, axes: Sequence[Axis], tally: Tally, places: tuple[int, ...]) -> npt.NDArray[Any]:
        """How many people of the release have each class on these axes."""
        return tally_inside(self._scope, axes, tally, places)

    def _places(self, axes: Sequence[Axis]) -> tuple[list[int], int | None]:
        """The axes of the quasi-identifiers, and that of the sensitive column."""
        header = self._release.header
        place = {axis.key: number for number, axis in enumerate(axes)}
        columns = [place[Key("column", name)] for name in header.qi if Key("column", name) in place]
        return columns, place.get(Key("column", header.sa[0]))

    def _unnamed(self, axes: Sequence[Axis], counts: npt.NDArray[Any], columns: Sequence[int]) -> Iterator[Choice]:
        """That nobody has values that no line names, where somebody has: one person may make a rule of which nothing is known here."""
        for place, number in enumerate(columns):
            values = [str(one) for (one,) in axes[number].classes if one is not None]
            unnamed = [bit for bit, (one,) in enumerate(axes[number].classes) if one is None]
            if counts.take(unnamed, axis=place).any():
                box = {axes[number].key: Allowed(frozenset(values), excluded=True), **self._scope}
                origin = Origin(self._number, axes[number].key.name, "missing-rule", Bound(0, 0))
                yield Choice(Line(((1, box),), None, 0, origin), None)

    def _strong(
        self, axes: Sequence[Axis], counts: npt.NDArray[Any], chosen: Sequence[int], sensitive: int, room: float
    ) -> Iterator[Choice]:
        """The missing rules over some columns that are strong enough, or nearly so."""
        header = self._release.header
        assert header.min_confidence is not None
        top, under = header.min_confidence.as_integer_ratio()
        rare = (header.min_support or 1) - 1 - counts
        # In people as well: one person more or less changes this sum by so much at most.
        weak = (top * counts.sum(axis=-1, keepdims=True) - under * counts - (0 if header.strict else 1)) / (top + under)
        for place in np.argwhere(np.maximum(rare, weak) < room).tolist():
            *values, consequent = (axes[number].classes[bit][0] for number, bit in zip((*chosen, sensitive), place, strict=True))
            if None in values or consequent is None:
                continue  # people with values that nobody names may all have different ones
            named = frozenset((axes[number].key.name, str(one)) for number, one in zip(chosen, values, strict=True))
            if (named, consequent) not in self._listed:
                yield self._choice(named, consequent, first=bool(rare[tuple(place)] >= weak[tuple(place)]))

    def _choice(self, antecedent: Antecedent, value: str, *, first: bool) -> Choice:
        """A missing rule is too rare, or too weak."""
        header = self._release.header
        assert header.min_confidence is not None
        rare = (header.min_support or 1) - 1
        fewer = self._line(antecedent, value, rare, None)
        having = fewer.terms[0][1]
        whole = {key: allowed for key, allowed in having.items() if key != Key("column", header.sa[0])}
        terms = ((header.min_confidence.numerator, whole), (-header.min_confidence.denominator, having))
        return Choice(fewer, Line(terms, 0 if header.strict else 1, None, fewer.origin), first)

    def _antecedents(self, told: Iterable[Line], end: Literal["lo", "hi"]) -> Mapping[Antecedent, tuple[int, Origin]]:
        """Combinations of quasi-identifiers of which some line says how many people have them at least or at most."""
        columns = set(self._release.header.qi)
        best = dict[Antecedent, tuple[int, Origin]]()
        for line in told:
            bound = line.hi if end == "hi" else line.lo
            if len(line.terms) != 1 or line.terms[0][0] != 1 or bound is None:
                continue
            box = line.terms[0][1]
            fixed = {key: allowed for key, allowed in box.items() if key != MEMBER}
            is_plain = all(
                key.kind == "column" and key.name in columns and not allowed.excluded and len(allowed.values) == 1
                for key, allowed in fixed.items()
            )
            if not fixed or not is_plain or box.get(MEMBER) != self._scope.get(MEMBER):
                continue
            antecedent = frozenset((key.name, next(iter(allowed.values))) for key, allowed in fixed.items())
            known = best.get(antecedent)
            if known is None or (bound < known[0] if end == "hi" else bound > known[0]):
                best[antecedent] = bound, line.origin
        return best

    def _line(self, antecedent: Antecedent, value: str, limit: int, given: Origin | None) -> Line:
        column = self._release.header.sa[0]
        fixed = [*sorted(antecedent), (column, value)]
        box = {Key("column", name): Allowed(frozenset([one])) for name, one in fixed}
        items = tuple(literal(Key("column", name), one) for name, one in fixed)
        place = f"missing rule {' and '.join(items[:-1])} => {items[-1]}"
        origin = Origin(self._number, place, "missing-rule", Bound(0, limit), items, given)
        return Line(((1, {**box, **self._scope}),), None, limit, origin)


def _rules_of(release: Rules) -> Iterator[tuple[Antecedent, str]]:
    """The rules that are there, by antecedent and value; none where items are not of columns."""
    pairs = release.items.pairs
    for index in range(len(release)) if pairs is not None else ():
        assert pairs is not None
        right = [pairs[item] for item in release.consequents[index].tolist()]
        yield frozenset(pairs[item] for item in release.antecedents[index].tolist()), right[0][1]


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


#: Histories of one column at most.
MOST_HISTORIES = 1_000

#: Axes of histories with their values, by the axis whose values may have changed.
Histories = Mapping[Key, tuple[Key, list[str]]]


def with_changes(
    lines: Sequence[Line], people: People, words: Vocabulary, of: Sequence[int]
) -> tuple[list[Line], Mapping[Key, list[str]]]:
    """The lines as they are said of histories, with how many people changed, and the values of each axis of histories."""
    if not isinstance(people, Changed):
        return list(lines), {}
    histories = dict(_histories(name, words) for name in people.columns)
    out = [_about_half(line, histories, of[line.origin.release]) for line in lines]
    second = list(of).index(1)
    for key, values in histories.values():
        box = {key: Allowed(frozenset(filter(differs, values)))}
        if not box[key].values:
            continue  # a single value, and everybody has it
        out.append(Line(((1, box),), *people.people, Origin(second, "changed", "changed", Bound(*people.people), (key.name,))))
    return out, dict(histories.values())


def _histories(name: str, words: Vocabulary) -> tuple[Key, tuple[Key, list[str]]]:
    """A column that a declaration names, or an item that somebody has or lacks, with its axis of histories."""
    key = next((Key(kind, name) for kind in ("column", "item") if Key(kind, name) in words.values), None)
    if key is None:
        known = sorted({key.name for key in words.values})
        raise OptionError(
            "names a column that no release speaks of", where="--people", remedy=nearest_name(name, known, "columns")
        )
    values = all_histories(key.kind, *words.universe(key))
    if len(values) > MOST_HISTORIES:
        remedy = "Leave the column out of the declaration, or publish it more coarsely"
        what = f"the column {name} has too many values to be followed from one release to the other"
        raise OptionError(what, where="--people", remedy=remedy)
    return key, (Key(OF_KIND[key.kind], name), values)


def _about_half(line: Line, histories: Histories, half: int) -> Line:
    """A line about the values of one release as one about histories."""

    def box_of(box: Box) -> Box:
        out: dict[Key, Allowed] = {}
        for key, allowed in box.items():
            if key in histories:
                axis, values = histories[key]
                out[axis] = Allowed(with_value(values, half, allowed.values, allowed.excluded))
            else:
                out[key] = allowed
        return out

    return Line(tuple((factor, box_of(box)) for factor, box in line.terms), line.lo, line.hi, line.origin)


def lower(
    releases: Sequence[Release],
    people: People,
    of: Sequence[int] | None = None,
    facts: Sequence[Fact] = (),
    sensitive: str = "",
) -> Problem:
    """All that the releases print about their people, taken together; ``of`` is the population of each, by default its own.

    ``facts`` are known besides, about values of the column ``sensitive``, where all people are the same.
    """
    words = Vocabulary(releases, people, of)
    whose = populations(releases, people, of)
    lines = list(whose.lines)
    members = whose.members
    # All items are looked up before the first line is read: rows of tables are counted over what others name.
    readers = [_reader(number, release, words, whose.scopes[number]) for number, release in enumerate(releases)]
    for reader in readers:
        lines += reader.lines()
    for number, release in enumerate(releases):
        lines += _no_other_values(number, release, words, whose.scopes[number])
    lines += fact_lines(facts, sensitive, words.columns, releases[0].n)
    left_out = sum(reader.left_out for reader in readers)
    missing = [MissingRules(n, release, whose.scopes[n]) for n, release in enumerate(releases) if isinstance(release, Rules)]
    if not isinstance(people, Changed):  # then lines are about values of one time each, which a rule joins
        lines += [line for one in missing for line in one.lines(tuple(lines))]
        left_out += sum(one.left_out for one in missing)
    lines, histories = with_changes(lines, people, words, whose.of)
    named: dict[Key, list[Allowed]] = {}
    for line in lines:
        for _, box in line.terms:
            for key, allowed in box.items():
                named.setdefault(key, []).append(allowed)
    for values in members:
        if values:
            named.setdefault(MEMBER, []).append(Allowed(values))

    def universe(key: Key) -> tuple[list[str], bool]:
        if key == MEMBER or key in histories:
            return (list(whose.values) if key == MEMBER else histories[key]), False
        return words.universe(key)

    keys = sorted(named, reverse=True)
    lacking = tuple(Axis.of(key, *universe(key), named[key]) for key in keys)
    axes = lacking
    if groups_of(axes) > MOST_GROUPS:  # then those who lack a single value are looked at by themselves
        axes = tuple(Axis.of(key, *universe(key), named[key], lacking=False) for key in keys)
    place = {axis.key: number for number, axis in enumerate(axes)}
    kept = tuple(line for line in lines if all(_is_possible(box, axes, place) for _, box in line.terms))
    cells = tuple(number for number, line in enumerate(kept) if _is_long_cell(line, releases))
    by_row = frozenset(number for number, release in enumerate(releases) if isinstance(release, PartialTable | Buckets))
    gaps = (reader.condition() for reader in readers if isinstance(reader, FrequencyLines))
    conditions: list[Condition] = [*(one for one in missing if one.tells), *(one for one in gaps if one is not None)]
    shown = (
        ShownRows(number, tuple(reader.used()), whose.scopes[number])
        for number, reader in enumerate(readers)
        if isinstance(reader, RowLines)
    )
    conditions += [one for one in shown if any(column.has_blanks for column in one.columns)]
    if isinstance(people, Changed):  # then axes are histories, over which conditions are not read
        left_out += len(conditions)
        conditions = []
    return Problem(axes, kept, whose.everybody, members, left_out, place, cells, by_row, tuple(conditions), lacking)


def _no_other_values(number: int, release: Release, words: Vocabulary, scope: Box) -> Iterator[Line]:
    """That nobody of a release has a value of a column besides those that it lists, where it lists all and others are named or possible."""
    for column, known in all_values(release).items():
        key = Key("column", column)
        values = frozenset(known)
        named, is_open = words.universe(key)
        if not is_open and values >= set(named):
            continue
        box = {key: Allowed(values, excluded=True), **scope}
        yield Line(((1, box),), None, 0, Origin(number, f"all values of {column}", "all-values", Bound.of(0), (column,)))


def _is_long_cell(line: Line, releases: Sequence[Release]) -> bool:
    """Whether a line is a cell of more columns than every group is asked about."""
    columns = sum(key != MEMBER for key in line.terms[0][1])
    return columns > MOST_LITERALS and isinstance(releases[line.origin.release], FrequencyTable)


def _is_possible(box: Box, axes: Sequence[Axis], place: Mapping[Key, int]) -> bool:
    """Whether somebody can be in a box: nobody lacks the only value of a column."""
    return all(axes[place[key]].mask(allowed) for key, allowed in box.items())


class _Reader(Protocol):
    """What reads the lines of one release."""

    @property
    def left_out(self) -> int:
        """How much could not be looked at."""

    def lines(self) -> Iterator[Line]:
        """The lines."""


def _reader(number: int, release: Release, words: Vocabulary, scope: Box) -> _Reader:
    """What reads the lines of a release of its kind."""
    if isinstance(release, PartialTable):
        return RowLines(number, release, words, scope)
    if isinstance(release, Buckets):
        return BucketLines(number, release, words, scope)
    if isinstance(release, FrequencyTable):
        return FrequencyLines(number, release, scope)
    return ListedLines(number, release, words, scope)
