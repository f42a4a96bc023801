"""Rules read as statements about known people: what every published line says about how many of a group have a sensitive value.

Withheld: the count reaches the thresholds. Printed: the counts that print so, and reach the thresholds. Missing from a complete list: the count
does not reach them (:mod:`tacit.attacks.sensitive.missing`). The distribution of the sensitive column, where it is published, is exact.
Background facts say what they say, in whole people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from tacit.attacks.rule_numbers import Confidences
from tacit.attacks.rule_table import Ceiling
from tacit.errors import Contradiction, InputError, numbered
from tacit.inference.statements import Statements
from tacit.model.knowledge import Fact
from tacit.model.population import Places, Population
from tacit.model.release import Rules

if TYPE_CHECKING:
    from tacit.attacks.sensitive.missing import Missing

#: Where a statement comes from: the number of a line; a missing rule, by the combinations it is about and its value; the published distribution.
#: a background fact, by its file and line there.
LINE, MISSING, DISTRIBUTION, FACT = "line", "missing", "distribution", "fact"

Pair = tuple[str, str]

CHECK = "Give the data that the rules were made from, with the same columns and missing-value rule"


class PeopleCase(Protocol):
    """What is said about the sensitive values of known people, by one release or by several."""

    @property
    def population(self) -> Population:
        """Everybody's quasi-identifiers."""

    @property
    def sensitive(self) -> str:
        """The name of the sensitive column."""

    @property
    def values(self) -> tuple[str, ...]:
        """The values that it can have."""

    @property
    def sa_counts(self) -> tuple[int, ...]:
        """The number of people with each value, where it is published."""

    @property
    def n_lines(self) -> int:
        """How many published lines there are."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The columns and values that are published."""

    @property
    def missing(self) -> Missing:
        """What complete lists say by what they leave out."""

    def published(self) -> Statements:
        """What the lines say, with what is known besides."""

    def refuse(self, origins: Sequence[object]) -> NoReturn:
        """Raise because these statements cannot all be true."""


@dataclass(frozen=True, eq=False)
class RuleCase:
    """Rules, everybody's quasi-identifiers, and what else is known about these people."""

    release: Rules
    population: Population
    facts: tuple[Fact, ...] = ()

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The values that the sensitive column can have."""
        return self.release.header.sa_values

    @cached_property
    def codes(self) -> list[int]:
        """The number of the sensitive value of each line."""
        code = {value: number for number, value in enumerate(self.values)}
        found = [code.get(self.consequent(line), -1) for line in range(len(self.release))]
        if -1 in found:
            remedy = "List every value in the header's sa_values"
            where = self.place(found.index(-1))
            raise InputError("the sensitive value is not one of those in the header", where=where, remedy=remedy)
        return found

    @cached_property
    def sensitive(self) -> str:
        """The name of the sensitive column."""
        return " & ".join(self.release.header.sa)

    @property
    def sa_counts(self) -> tuple[int, ...]:
        """The number of people with each value, where it is published."""
        return self.release.header.sa_counts

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The columns and values that are published."""
        return self.release.items.pairs or ()

    @property
    def n_lines(self) -> int:
        """How many rules are published."""
        return len(self.release)

    def consequent(self, line: int) -> str:
        """The sensitive value of a line."""
        pairs = self.release.items.pairs
        assert pairs is not None
        return pairs[int(self.release.consequents[line][0])][1]

    def antecedent(self, line: int) -> list[Pair]:
        """The QI values of a line."""
        pairs = self.release.items.pairs
        assert pairs is not None
        return [pairs[int(item)] for item in self.release.antecedents[line]]

    @cached_property
    def missing(self) -> Missing:
        """The missing rules that say something."""
        from tacit.attacks.sensitive.missing import Missing

        return Missing.of(self)

    @cached_property
    def holders(self) -> list[Places]:
        """The combinations that each line speaks of."""
        self._refuse_other_people()
        found = [self._holding(self.antecedent(line)) for line in range(len(self.release))]
        for line, places in enumerate(found):
            if len(places) == 0:
                raise InputError("nobody in the known data has the antecedent of this rule", where=self.place(line), remedy=CHECK)
        return found

    def _holding(self, pairs: list[Pair]) -> Places:
        """The combinations with all these values, or with values of the groups that go by these names."""
        groups = {(group.column, group.name): group for group in self.release.header.groups}
        named = [groups[pair] for pair in pairs if pair in groups]
        plain = self.population.holding(pair for pair in pairs if pair not in groups)
        if not named:
            return plain
        values = {column.name: column.values for column in self.population.columns}
        boxes = [self.population.among({group.column: group.among(values[group.column])}) for group in named]
        return reduce(partial(np.intersect1d, assume_unique=True), boxes, plain)

    @cached_property
    def wholes(self) -> npt.NDArray[np.int64]:
        """How many people have the antecedent of each line."""
        return np.array([int(self.population.people[places].sum()) for places in self.holders], np.int64)

    def published(self) -> Statements:
        """What the lines say, and the distribution where it is published."""
        said = Statements(self.population, len(self.values))
        for line, (lo, hi) in enumerate(zip(*(bound.tolist() for bound in self.counts), strict=True)):
            said.say(self.holders[line], self.codes[line], lo, hi, (LINE, line))
        everyone = np.arange(len(self.population), dtype=np.int32)
        for number, count in enumerate(self.release.header.sa_counts):
            said.say(everyone, number, count, count, (DISTRIBUTION, number))
        for fact in self.facts:
            self._say(said, fact)
        return said

    def _say(self, said: Statements, fact: Fact) -> None:
        """Add a background fact; what it says about nobody is left out, unless it says that there is somebody."""
        unknown = sorted(set(fact.allowed) - set(self.population.names))
        if unknown:
            known = ", ".join(self.population.names)
            raise InputError(
                "names a column that is not quasi-identifying", where=fact.place, remedy=f"The known columns are: {known}"
            )
        if fact.value not in self.values:
            raise InputError("its value is not one of the sensitive column's", where=fact.place, remedy="Correct or drop it")
        event = self.population.among(fact.allowed)
        lo, hi = fact.bounds(int(self.population.people[event].sum()))
        if len(event) or lo > 0:
            said.say(event, self.values.index(fact.value), lo, hi, (FACT, fact.file, fact.line, fact.place))

    @cached_property
    def counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Bounds on the people with antecedent and consequent of each line, from all that it prints and from the thresholds that it reaches."""
        release, wholes = self.release, self.wholes
        lines = np.arange(len(release))
        lo, hi = np.maximum(release.lo, 0), np.minimum(release.hi, wholes)
        if release.confidence is not None:
            least, most = Confidences.of(release, lines).parts(wholes, wholes)
            lo, hi = np.maximum(lo, least), np.minimum(hi, most)
        return np.maximum(lo, self._thresholds(wholes)), hi

    def _thresholds(self, wholes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The fewest people that a published rule can have."""
        header = self.release.header
        least = header.min_support or 0
        if header.min_confidence is None:
            return np.full(len(wholes), least, np.int64)
        bar = Ceiling(max(least, 1), header.min_confidence, header.strict)
        return np.array([bar.of(people) + 1 for people in wholes.tolist()], np.int64)

    def _refuse_other_people(self) -> None:
        header = self.release.header
        known = self.population
        name = self.release.source.name if self.release.source else "the release"
        if header.n is not None and header.n != known.n:
            raise InputError(
                f"the rules are about {header.n:,} people, the known data about {known.n:,}", where=name, remedy=CHECK
            )
        unknown = {column for line in range(len(self.release)) for column, _ in self.antecedent(line)} - set(known.names)
        if unknown:
            listed = ", ".join(sorted(unknown))
            raise InputError(f"the known data have no column {listed}, which a rule uses", where=name, remedy=CHECK)

    def place(self, line: int) -> str:
        """Where a line stands, for errors."""
        name = self.release.source.name if self.release.source else "the release"
        return f"{name} line {self.release.line(line)}"

    def refuse(self, origins: Sequence[object]) -> NoReturn:
        """Raise because these statements cannot all be true of the known people."""
        told = [origin for origin in origins if isinstance(origin, tuple)]
        lines = sorted({self.release.line(origin[1]) for origin in told if origin[0] == LINE})
        facts = sorted({origin[3] for origin in told if origin[0] == FACT})
        name = self.release.source.name if self.release.source else "the release"
        places = [f"{name} {numbered(lines)}"] if lines else []
        places += [*facts[:8], *([f"{len(facts) - 8} more facts"] if len(facts) > 8 else [])]
        kinds = {origin[0] for origin in told}
        also = [
            text for kind, text in ((MISSING, "the rules that are missing"), (FACT, "the background knowledge")) if kind in kinds
        ]
        beside = f", with {' and '.join(also)}," if also else ""
        raise Contradiction(
            f"the published numbers{beside} cannot all be true of the known people",
            where=" and ".join(places) or name,
            remedy="Check the file, how its numbers were rounded (--rounding), whether the list is complete, and the known data",
            lines=lines,
        )
