"""Several releases as one problem over common axes.

If the populations differ, membership is one more axis. Its values are the sets of populations that a person can belong to, such as ``0+2``
for people of the first and the third who are not in the second. A column whose values may have changed is an axis of histories
(:mod:`tacit.joint.boxes`): a release prints one half of them, and to have changed is a set of histories.
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
    HISTORY_KIND,
    MEMBER,
    MOST_GROUPS,
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
    count_groups,
    histories_with,
    literal,
    tally_scope,
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
from tacit.model.words import has_changed

#: Most missing rules of one release that are used.
MOST_MISSING = 5_000
#: Most antecedents that are looked at in a world.
MOST_ANTECEDENTS = 20_000
#: Histories of one column at most.
MOST_HISTORIES = 1_000
Antecedent = frozenset[tuple[str, str]]
Members = Mapping[frozenset[str], Membership]
#: Axes of histories with their values, by the axis whose values may have changed.
Histories = Mapping[Key, tuple[Key, list[str]]]


def lower(
    releases: Sequence[Release],
    people: People,
    of: Sequence[int] | None = None,
    facts: Sequence[Fact] = (),
    sensitive: str = "",
) -> Problem:
    """Return everything that the releases print as one problem.

    ``of`` is the population of each release, by default its own. ``facts`` about ``sensitive`` require the same populations.
    """
    words = Vocabulary(releases, people, of)
    whose = relate_populations(releases, people, of)
    # All items are looked up before the first line is read: rows of tables are counted over what others name.
    readers = [_reader(number, release, words, whose.scopes[number]) for number, release in enumerate(releases)]
    missing = [MissingRules(n, release, whose.scopes[n]) for n, release in enumerate(releases) if isinstance(release, Rules)]
    lines = list(whose.lines)
    for reader in readers:
        lines += reader.lines()
    for number, release in enumerate(releases):
        lines += _no_other_values(number, release, words, whose.scopes[number])
    lines += fact_lines(facts, sensitive, words.columns, releases[0].n)
    left_out = sum(reader.left_out for reader in readers)
    conditions = _conditions(readers, missing, whose.scopes)
    if isinstance(people, Changed):
        # Axes are histories then: conditions are not read over these, and a missing rule would join values of two times.
        left_out += len(conditions)
        conditions = []
    else:
        lines += [line for one in missing for line in one.lines(tuple(lines))]
        left_out += sum(one.left_out for one in missing)
    lines, histories = rewrite_changes(lines, people, words, whose.of)
    axes, lacking = _axes(lines, whose, histories, words)
    place = {axis.key: number for number, axis in enumerate(axes)}
    kept = tuple(line for line in lines if all(_is_possible(box, axes, place) for _, box in line.terms))
    return Problem(
        axes=axes,
        lines=kept,
        everybody=whose.everybody,
        members=whose.members,
        left_out=left_out,
        place=place,
        cells=tuple(number for number, line in enumerate(kept) if _is_long_cell(line, releases)),
        by_row=frozenset(number for number, release in enumerate(releases) if isinstance(release, PartialTable | Buckets)),
        conditions=tuple(conditions),
        lacking=lacking,
    )


class _Reader(Protocol):
    """Reader of the lines of one release."""

    @property
    def left_out(self) -> int:
        """Number of omitted items, too many to examine."""

    def lines(self) -> Iterator[Line]:
        """Yield the lines."""


def _reader(number: int, release: Release, words: Vocabulary, scope: Box) -> _Reader:
    """Return the reader for a release of its kind."""
    if isinstance(release, PartialTable):
        return RowLines(number, release, words, scope)
    if isinstance(release, Buckets):
        return BucketLines(number, release, words, scope)
    if isinstance(release, FrequencyTable):
        return FrequencyLines(number, release, scope)
    return ListedLines(number, release, words, scope)


def _no_other_values(number: int, release: Release, words: Vocabulary, scope: Box) -> Iterator[Line]:
    """Yield that the complete list of a release excludes other values."""
    for column, known in all_values(release).items():
        key = Key("column", column)
        values = frozenset(known)
        named, is_open = words.universe(key)
        if not is_open and values >= set(named):
            continue
        box = {key: Allowed(values, excluded=True), **scope}
        yield Line.about(box, None, 0, Origin(number, f"all values of {column}", "all-values", Bound.of(0), items=(column,)))


def fact_lines(facts: Sequence[Fact], sensitive: str, columns: Collection[str], n: int | None) -> Iterator[Line]:
    """Yield background facts about columns that some release names.

    Shares of groups, other than 0, are left to attacks on known people.
    """
    for fact in facts:
        if not {*fact.allowed, sensitive} <= set(columns):
            continue
        least = _number(fact.at_least)
        most = _number(fact.at_most)
        if least is None and most is None:
            continue
        box = {Key("column", name): Allowed(frozenset(values)) for name, values in fact.allowed.items()}
        box[Key("column", sensitive)] = Allowed(frozenset([fact.value]))
        record = {"event": {name: sorted(values) for name, values in fact.allowed.items()}, "value": fact.value}
        text = json.dumps(record | {"at_least": least, "at_most": most}, ensure_ascii=False, sort_keys=True)
        ends = Bound(least or 0, most if most is not None else n or least or 0)
        yield Line.about(box, least, most, Origin(0, fact.place, "fact", ends, items=(text,)))


def _number(amount: Amount | None) -> int | None:
    """Return an amount as a number of people, or None."""
    if amount is None or (amount.is_share and amount.value):
        return None
    return int(amount.value)


def _conditions(readers: Sequence[_Reader], missing: Sequence[MissingRules], scopes: Sequence[Box]) -> list[Condition]:
    """Return conditions beyond lines: missing rules, gaps and blanks."""
    gaps = (reader.condition() for reader in readers if isinstance(reader, FrequencyLines))
    shown = (
        ShownRows(number, tuple(reader.used()), scopes[number])
        for number, reader in enumerate(readers)
        if isinstance(reader, RowLines)
    )
    return [
        *(one for one in missing if one.is_informative),
        *(one for one in gaps if one is not None),
        *(one for one in shown if any(column.has_blanks for column in one.columns)),
    ]


def _axes(
    lines: Iterable[Line], whose: Populations, histories: Mapping[Key, list[str]], words: Vocabulary
) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Return the axes of lines, without and with lacking slots.

    They are one if a cube over the latter is small enough.
    """
    named: dict[Key, list[Allowed]] = {}
    for line in lines:
        for _, box in line.terms:
            for key, allowed in box.items():
                named.setdefault(key, []).append(allowed)
    for values in whose.members:
        if values:
            named.setdefault(MEMBER, []).append(Allowed(values))

    def universe(key: Key) -> tuple[list[str], bool]:
        if key == MEMBER or key in histories:
            return (list(whose.values) if key == MEMBER else histories[key]), False
        return words.universe(key)

    keys = sorted(named, reverse=True)
    lacking = tuple(Axis.of(key, *universe(key), named[key]) for key in keys)
    if count_groups(lacking) <= MOST_GROUPS:
        return lacking, lacking
    return tuple(Axis.of(key, *universe(key), named[key], lacking=False) for key in keys), lacking


def _is_possible(box: Box, axes: Sequence[Axis], place: Mapping[Key, int]) -> bool:
    """Tell if a box can hold anybody."""
    return all(axes[place[key]].mask(allowed) for key, allowed in box.items())


def _is_long_cell(line: Line, releases: Sequence[Release]) -> bool:
    """Tell if a cell has more columns than groups do."""
    columns = sum(key != MEMBER for key in line.terms[0][1])
    return columns > MOST_LITERALS and isinstance(releases[line.origin.release], FrequencyTable)


@dataclass(frozen=True, slots=True)
class Populations:
    """Populations of the releases, their sizes and named sets.

    ``everybody`` are lines that together cover each person, if known. ``values`` are those of the membership axis, if populations differ.
    """

    scopes: tuple[Box, ...]
    lines: tuple[Line, ...]
    everybody: tuple[int, ...]
    members: Members
    values: tuple[str, ...]
    of: tuple[int, ...]


def relate_populations(releases: Sequence[Release], people: People, of: Sequence[int] | None = None) -> Populations:
    """Return the populations of the releases; ``of`` maps releases to them."""
    owner = tuple(range(len(releases))) if of is None else tuple(of)
    sets = memberships(people, max(owner) + 1)
    inside = {"+".join(map(str, one)): frozenset(one) for one in sets}
    scopes = [_scope_of(inside, number) for number in range(max(owner) + 1)]
    lines = [
        Line.about(scopes[owner[number]], release.n, release.n, Origin(number, "n", "n", Bound.of(release.n)))
        for number, release in enumerate(releases)
        if release.n is not None
    ]
    counted: dict[int, int] = {}
    for place, line in enumerate(lines):
        counted.setdefault(owner[line.origin.release], place)
    everybody, is_complete = _cover_everybody(people, counted, scopes)
    if isinstance(people, Churn):
        first = {population: number for number, population in reversed(list(enumerate(owner)))}
        for population in range(max(owner)):
            came = {MEMBER: Allowed(_movers(inside, population + 1, population))}
            went = {MEMBER: Allowed(_movers(inside, population, population + 1))}
            for number, name, box, span in (
                (first[population], "left", went, people.left),
                (first[population + 1], "joined", came, people.joined),
            ):
                if not box[MEMBER].values:
                    continue
                lines.append(Line.about(box, *span, Origin(number, name, name, Bound(*span))))
                if name == "joined" and not is_complete:
                    everybody.append(len(lines) - 1)
    return Populations(
        tuple(scopes[population] for population in owner),
        tuple(lines),
        tuple(everybody),
        _name_members(inside),
        values=tuple(inside),
        of=owner,
    )


def _scope_of(inside: Mapping[str, frozenset[int]], population: int) -> Box:
    """Return the box of one population; empty for everybody."""
    values = frozenset(name for name, one in inside.items() if population in one)
    return {} if len(values) == len(inside) else {MEMBER: Allowed(values)}


def _movers(inside: Mapping[str, frozenset[int]], there: int, gone: int) -> frozenset[str]:
    return frozenset(name for name, one in inside.items() if there in one and gone not in one)


def _cover_everybody(people: People, counted: Mapping[int, int], scopes: Sequence[Box]) -> tuple[list[int], bool]:
    """Return lines that count everybody, and if joiners are excluded."""
    whole = [counted[population] for population, scope in enumerate(scopes) if not scope and population in counted]
    if whole or isinstance(people, (Same, Changed)):
        return whole[:1], True
    if isinstance(people, Churn):
        return [counted[0]] if 0 in counted else [], 0 not in counted
    return [counted[population] for population in range(len(scopes))] if len(counted) == len(scopes) else [], True


def _name_members(inside: Mapping[str, frozenset[int]]) -> dict[frozenset[str], Membership]:
    """Name the sets of people by their populations."""
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
    out = [_rewrite_line(line, histories, of[line.origin.release]) for line in lines]
    second = list(of).index(1)
    for key, values in histories.values():
        box = {key: Allowed(frozenset(filter(has_changed, values)))}
        if not box[key].values:
            continue  # a single value, and everybody has it
        out.append(
            Line.about(box, *people.people, Origin(second, "changed", "changed", Bound(*people.people), items=(key.name,)))
        )
    return out, dict(histories.values())


def _history_axis(name: str, words: Vocabulary) -> tuple[Key, tuple[Key, list[str]]]:
    """Return a declared column or item and its history axis."""
    key = next((Key(kind, name) for kind in ("column", "item") if Key(kind, name) in words.values), None)
    if key is None:
        known = sorted({key.name for key in words.values})
        raise OptionError("names a column that no release has", where="--people", remedy=nearest_name(name, known, "columns"))
    values = all_histories(key.kind, *words.universe(key))
    if len(values) > MOST_HISTORIES:
        raise OptionError(
            f"the column {name} has too many values to follow from one release to the next",
            where="--people",
            remedy="Leave the column out of the declaration, or publish it more coarsely",
        )
    return key, (Key(HISTORY_KIND[key.kind], name), values)


def _rewrite_line(line: Line, histories: Histories, half: int) -> Line:
    """Rewrite a line of one release in terms of histories."""

    def box_of(box: Box) -> Box:
        out: dict[Key, Allowed] = {}
        for key, allowed in box.items():
            if key in histories:
                axis, values = histories[key]
                out[axis] = Allowed(histories_with(values, half, allowed.values, allowed.excluded))
            else:
                out[key] = allowed
        return out

    return Line(tuple((factor, box_of(box)) for factor, box in line.terms), line.lo, line.hi, line.origin)


class MissingRules:
    """Rules that a complete list excludes."""

    def __init__(self, number: int, release: Rules, scope: Box) -> None:
        self._number = number
        self._release = release
        self._scope = scope
        self._listed = set(_rules_of(release))
        self.left_out = 0

    @property
    def is_informative(self) -> bool:
        """True if a missing rule says anything here."""
        header = self._release.header
        known = header.sa_values and len(header.sa) == 1 and header.qi and self._release.items.pairs is not None
        return bool(known and header.complete and not header.coarser and header.min_support and header.min_confidence)

    def lines(self, known: Iterable[Line]) -> Iterator[Line]:
        """Yield the upper bounds of missing rules without implied ones.

        ``known`` are lines that bound the number of people with an antecedent.
        """
        if not self.is_informative:
            return
        bounding = tuple(known)
        most = self._antecedents(bounding, "hi")
        yield from self._share_lines(self._antecedents(bounding, "lo"))
        said: dict[tuple[Antecedent, str], int] = {}
        for antecedent in sorted(most, key=lambda one: (len(one), sorted(one))):
            people, given = most[antecedent]
            limit = self._limit(people)
            for value in self._release.header.sa_values:
                shorter = (said.get((antecedent - {one}, value)) for one in antecedent)
                if (
                    (antecedent, value) in self._listed
                    or limit >= people
                    or any(one is not None and one <= limit for one in shorter)
                ):
                    continue
                if len(said) >= MOST_MISSING:
                    self.left_out += 1
                    return
                said[antecedent, value] = limit
                yield self._line(antecedent, value, limit, given)

    def _share_lines(self, least: Mapping[Antecedent, tuple[int, Origin]]) -> Iterator[Line]:
        """Yield bounds of missing rules on shares.

        They hold if even the fewest people would make a rule of that confidence frequent enough.
        """
        header = self._release.header
        for antecedent in sorted(least, key=lambda one: (len(one), sorted(one))):
            people, given = least[antecedent]
            share = (header.min_confidence or 0) * people
            enough = floor(share) + 1 if header.strict else ceil(share)
            if given.printed.is_exact or enough < (header.min_support or 1):
                continue
            for value in header.sa_values:
                if (antecedent, value) not in self._listed:
                    yield self._share_line(antecedent, value, people, given)

    def _share_line(self, antecedent: Antecedent, value: str, people: int, given: Origin) -> Line:
        """Return the bound on a value's share below the confidence."""
        header = self._release.header
        assert header.min_confidence is not None
        line = self._line(antecedent, value, people, given)
        place = f"share of {line.origin.place}"
        origin = Origin(self._number, place, "missing-share", Bound(people, people), items=line.origin.items, given=given)
        return self._weak(line.terms[0][1], origin)

    def _weak(self, having: Box, origin: Origin) -> Line:
        """Return the bound on a box's share."""
        header = self._release.header
        assert header.min_confidence is not None
        top, under = header.min_confidence.as_integer_ratio()
        whole = {key: allowed for key, allowed in having.items() if key != Key("column", header.sa[0])}
        return Line(((top, whole), (-under, having)), 0 if header.strict else 1, None, origin)

    def _limit(self, people: int) -> int:
        """Return the largest count that a missing rule allows."""
        header = self._release.header
        share = (header.min_confidence or 0) * people
        return max((header.min_support or 1) - 1, floor(share) if header.strict else ceil(share) - 1)

    def is_decidable(self, axes: Sequence[Axis]) -> bool:
        """Tell if classes on these axes decide the listed rules."""
        columns, sensitive = self._places(axes)
        if sensitive is None:
            return False
        plain = all(len(values) == 1 for number in (*columns, sensitive) for values in axes[number].classes)
        every = prod(len(axes[number].classes) + 1 for number in columns)
        return plain and every <= MOST_ANTECEDENTS

    def choices(self, axes: Sequence[Axis], tally: Tally, room: float) -> Iterator[Choice]:
        """Yield violated missing rules, or nearly violated ones.

        People with an antecedent are counted, so this is stronger than :meth:`lines`.
        """
        columns, sensitive = self._places(axes)
        assert sensitive is not None
        counts = tally_scope(self._scope, axes, tally, (*columns, sensitive))
        if self._release.header.min_support == 1:
            yield from self._unnamed_choices(axes, counts, columns)
        for size in range(1, len(columns) + 1):
            for chosen in combinations(range(len(columns)), size):
                rest = tuple(place for place in range(len(columns)) if place not in chosen)
                yield from self._strong_choices(
                    axes, counts.sum(axis=rest), [columns[place] for place in chosen], sensitive, room
                )

    def _places(self, axes: Sequence[Axis]) -> tuple[list[int], int | None]:
        """Return the axes of quasi-identifiers and of the sensitive column."""
        header = self._release.header
        place = {axis.key: number for number, axis in enumerate(axes)}
        columns = [place[Key("column", name)] for name in header.qi if Key("column", name) in place]
        return columns, place.get(Key("column", header.sa[0]))

    def _unnamed_choices(self, axes: Sequence[Axis], counts: npt.NDArray[Any], columns: Sequence[int]) -> Iterator[Choice]:
        """Yield that nobody has unnamed values, if somebody does.

        One person may make a rule of which nothing is known here.
        """
        for place, number in enumerate(columns):
            values = [str(one) for (one,) in axes[number].classes if one is not None]
            unnamed = [bit for bit, (one,) in enumerate(axes[number].classes) if one is None]
            if counts.take(unnamed, axis=place).any():
                box = {axes[number].key: Allowed(frozenset(values), excluded=True), **self._scope}
                origin = Origin(self._number, axes[number].key.name, "missing-rule", Bound(0, 0))
                yield Choice(Line.about(box, None, 0, origin), None)

    def _strong_choices(
        self, axes: Sequence[Axis], counts: npt.NDArray[Any], chosen: Sequence[int], sensitive: int, room: float
    ) -> Iterator[Choice]:
        """Yield the missing rules over some columns with enough confidence."""
        header = self._release.header
        assert header.min_confidence is not None
        top, under = header.min_confidence.as_integer_ratio()
        rare = (header.min_support or 1) - 1 - counts
        # In people as well: one person more or less changes this sum by at most ``top + under``.
        weak = (top * counts.sum(axis=-1, keepdims=True) - under * counts - (0 if header.strict else 1)) / (top + under)
        for place in np.argwhere(np.maximum(rare, weak) < room).tolist():
            *values, consequent = (axes[number].classes[bit][0] for number, bit in zip((*chosen, sensitive), place, strict=True))
            if None in values or consequent is None:
                continue  # people with values that nobody names may all have different ones
            named = frozenset((axes[number].key.name, str(one)) for number, one in zip(chosen, values, strict=True))
            if (named, consequent) not in self._listed:
                yield self._choice(named, consequent, first=bool(rare[tuple(place)] >= weak[tuple(place)]))

    def _choice(self, antecedent: Antecedent, value: str, *, first: bool) -> Choice:
        """Return the choice: rule too rare or too weak."""
        fewer = self._line(antecedent, value, (self._release.header.min_support or 1) - 1, None)
        return Choice(fewer, self._weak(fewer.terms[0][1], fewer.origin), first)

    def _antecedents(self, lines: Iterable[Line], end: Literal["lo", "hi"]) -> Mapping[Antecedent, tuple[int, Origin]]:
        """Return bounded combinations of quasi-identifiers with their best bounds."""
        columns = set(self._release.header.qi)
        best = dict[Antecedent, tuple[int, Origin]]()
        for line in lines:
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
        origin = Origin(self._number, place, "missing-rule", Bound(0, limit), items=items, given=given)
        return Line.about({**box, **self._scope}, None, limit, origin)


def _rules_of(release: Rules) -> Iterator[tuple[Antecedent, str]]:
    """Yield the listed rules by antecedent and value."""
    pairs = release.items.pairs
    for index in range(len(release)) if pairs is not None else ():
        assert pairs is not None
        right = [pairs[item] for item in release.consequents[index].tolist()]
        yield frozenset(pairs[item] for item in release.antecedents[index].tolist()), right[0][1]
