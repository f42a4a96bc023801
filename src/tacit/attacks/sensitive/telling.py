"""What rules say, one statement at a time, in words and with where it is published."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.attacks.sensitive.case import DISTRIBUTION, LINE, MISSING, PeopleCase, RuleCase
from tacit.attacks.sensitive.known import Origin
from tacit.attacks.sensitive.missing import Estimate
from tacit.attacks.sensitive.several import SeveralCase
from tacit.attacks.sensitive.several_words import StatementWords
from tacit.inference.statements import Statement, Statements
from tacit.model.person import Said
from tacit.model.population import Places

Origins = tuple[Hashable, ...]


def kind_of(origin: Hashable) -> str:
    """What a statement comes from."""
    if isinstance(origin, Origin):
        return origin.what
    return str(origin[0]) if isinstance(origin, tuple) and origin else str(origin)


@dataclass(frozen=True, eq=False)
class Telling:
    """The statements that an estimate keeps: all that is published, and the missing rules that matter."""

    case: PeopleCase
    found: Estimate

    @cached_property
    def statements(self) -> Statements:
        """All of them, with their events."""
        said = self.case.published()
        for event, value in self.found.missing_pairs:
            self.case.missing.say(said, event, value)
        return said

    @cached_property
    def _of_origin(self) -> Mapping[Hashable, Statement]:
        return {one.origin: one for one in self.statements.listed}

    def one(self, origin: Hashable) -> Statement:
        """The statement with this origin."""
        return self._of_origin[origin]

    def said(self, origins: Origins, described: Places) -> Said:
        """Statements with the same meaning as one sentence."""
        case = self.case
        lines = {line for line in map(self._line, origins) if line is not None}
        says = "; ".join(dict.fromkeys(self._says(origin) for origin in origins))
        holders = self.statements.events[self.one(origins[0]).event]
        people = int(case.population.people[np.intersect1d(holders, described)].sum())
        return Said(kind_of(origins[0]), tuple(sorted(lines)), says, people)

    def _line(self, origin: Hashable) -> int | None:
        """The line that a statement stands on."""
        if isinstance(origin, Origin):
            return origin.place if isinstance(origin.place, int) else None
        case = self.case
        if isinstance(case, RuleCase) and isinstance(origin, tuple) and origin[0] == LINE:
            return case.release.line(int(origin[1]))
        return None

    def _says(self, origin: Hashable) -> str:
        case, one = self.case, self.one(origin)
        whole, holders = self.statements.whole(one.event), self.statements.events[one.event]
        has = f"{case.sensitive} {case.values[one.value]}"
        number, people = between(one.lo, one.hi, whole), f"{whole:,} {'person' if whole == 1 else 'people'}"
        verb = "has" if number.split()[-1] in ("1", "none") else "have"
        if isinstance(case, SeveralCase):
            words = StatementWords(case, self.statements)
            return f"{words.where(origin)}: of {people}{words.who(one) or ' in all'}, {number} {verb} {has}"
        assert isinstance(case, RuleCase)
        if kind_of(origin) == LINE and isinstance(origin, tuple):
            who = listed(case.antecedent(origin[1]))
            return f"line {case.release.line(origin[1])}: of {people} with {who}, {number} {verb} {has}"
        if kind_of(origin) == DISTRIBUTION:
            return f"the published distribution: of all {people}, {number} {verb} {has}"
        who = listed(common_values(case, holders).items())
        if kind_of(origin) == MISSING:
            return f"no rule for {has} where {who}: of {people} with that, {number} {verb} it"
        return f"known from elsewhere: of {people} with {who}, {number} {verb} {has}"


def between(lo: int, hi: int, whole: int) -> str:
    """The bounds of a number in words.

    >>> between(3, 3, 9), between(3, 9, 9), between(0, 4, 9), between(3, 4, 9), between(0, 0, 9)
    ('3', 'at least 3', 'at most 4', '3 to 4', 'none')
    """
    if lo == hi:
        return f"{lo:,}" if lo else "none"
    if hi >= whole:
        return f"at least {lo:,}"
    return f"at most {hi:,}" if lo <= 0 else f"{lo:,} to {hi:,}"


def common_values(case: PeopleCase, combinations: Places) -> Mapping[str, str]:
    """The values that all these combinations share."""
    out = {}
    for column in case.population.columns:
        codes = column.codes[combinations]
        if len(codes) and (codes == codes[0]).all():
            out[column.name] = column.values[codes[0]]
    return out


def listed(values: Iterable[tuple[str, str]]) -> str:
    """Values with their columns, in words."""
    return ", ".join(f"{column}={value}" for column, value in values) or "any values"
