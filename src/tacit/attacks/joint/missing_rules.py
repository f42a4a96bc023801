"""What a complete list of rules says by leaving rules out: whoever has the antecedent has the value less often than a rule needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, floor, prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.attacks.joint.boxes import MEMBER, Allowed, Axis, Box, Key, literal
from tacit.attacks.joint.lines import Choice, Line, Origin, Tally, tally_inside
from tacit.model.bound import Bound
from tacit.model.release import Rules

#: Missing rules of one release that are taken in at most.
MOST_MISSING = 5_000
#: Antecedents that are looked at in a world, at most.
MOST_ANTECEDENTS = 20_000

Antecedent = frozenset[tuple[str, str]]


class MissingRules:
    """The rules that a complete list leaves out, for antecedents whose number of people some line bounds from above."""

    def __init__(self, number: int, release: Rules, scope: Box) -> None:
        self._number, self._release, self._scope = number, release, scope
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
        header, listed = self._release.header, self._listed
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
        columns, best = set(self._release.header.qi), dict[Antecedent, tuple[int, Origin]]()
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
