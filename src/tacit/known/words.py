"""A proof over several releases that values are ruled out: as a certificate that a program can check, and as steps that a reader can redo.

A proof that a value is ruled out, as citations that a program can check and as steps that a reader can redo.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from tacit.known.case import DISTRIBUTION, FACT, LINE, MISSING, Pair, RuleCase
from tacit.known.proofs import Group, Proof, Term
from tacit.known.releases import DOMAIN, GROUP, SCATTERED, Origin, SeveralCase
from tacit.model.event import BoxEvent
from tacit.model.finding import Citation, Finding, certificate
from tacit.model.numbers import Bound
from tacit.solve.statements import Statement, Statements

Told = tuple[tuple[Citation, ...], tuple[str, ...]]


class ProofWords:
    """Writes down why nobody of a combination has one of the values that are ruled out."""

    def __init__(self, case: RuleCase, said: Statements, combination: int, ruled_out: tuple[int, ...], release: int = 0) -> None:
        self.case, self.said, self.combination, self.release = case, said, combination, release
        self.ruled_out = " or ".join(case.values[v] for v in ruled_out)

    def told(self, proof: Proof | None) -> Told:
        """Citations and steps."""
        if proof is None:
            return (), (
                "It follows by telling cases apart, each of which a program settles; they are too many to write out here.",
            )
        if not proof.terms:
            return (), (f"{self.case.sensitive} has only {people(len(self.case.values), 'value', 'values')}.",)
        if (simple := self._simple(proof)) is not None:
            return self._citations(proof), simple
        return self._citations(proof), self._sum(proof)

    def _simple(self, proof: Proof) -> tuple[str, ...] | None:
        """One statement about a whole group says it: all of them have another value, or none has this one."""
        if len(proof.terms) > 1:
            return None
        one, whole = proof.terms[0].statement, self.said.whole(proof.terms[0].statement.event)
        value, group = self.case.values[one.value], _with(self._event(one))
        if proof.terms[0].weight < 0 and one.lo == whole:
            return (f"{self._place(one.origin)}: all {people(whole)}{group} have {self.case.sensitive} {value}.",)
        if proof.terms[0].weight > 0 and one.hi == 0:
            return (f"{self._place(one.origin)}: nobody{group} has {self.case.sensitive} {value}.",)
        return None

    def _sum(self, proof: Proof) -> tuple[str, ...]:
        steps = [self._term(term) for term in proof.terms]
        steps += [self._group(group, proof) for group in proof.groups]
        times = "once" if proof.denominator == 1 else f"{proof.denominator:,} times"
        sensitive = self.case.sensitive
        steps.append(f"sum: {proof.total:,}")
        steps.append(
            f"The sum counts everybody asked about who has {sensitive} {self.ruled_out} at least {times}, and nobody less than 0 times."
            f" It is less than {proof.denominator:,}, so there is nobody."
        )
        return tuple(steps)

    def _term(self, term: Term) -> str:
        one, whole = term.statement, self.said.whole(term.statement.event)
        side = "exactly" if one.lo == one.hi else "at most" if term.weight > 0 else "at least"
        event = self._event(one)
        group = f"of {'the' if event else 'all'} {people(whole)}{_with(event)}"
        has = f"{side} {term.end:,} {group} have {self.case.sensitive} {self.case.values[one.value]}"
        return f"{times(term.weight)}{term.end:,}: {has} ({self._place(one.origin, small=True)})"

    def _group(self, group: Group, proof: Proof) -> str:
        spoken = ", ".join(dict.fromkeys(self._place(proof.terms[t].statement.origin, small=True) for t in group.terms))
        who = "people asked about" if group.asked else "known people of whom these speak"
        return f"{times(group.weight)}{group.people:,}: {who} ({spoken or 'nothing above'})"

    def _citations(self, proof: Proof) -> tuple[Citation, ...]:
        out = [
            Citation(self.release, self._cell(term.statement), Bound(term.statement.lo, term.statement.hi), term.weight)
            for term in proof.terms
        ]
        for number, term in enumerate(proof.terms, 1):
            out.append(Citation(self.release, f"people with {number}", Bound.of(self.said.whole(term.statement.event)), None))
        for group in proof.groups:
            name = "people asked about" if group.asked else "people"
            inside = ", ".join(str(term + 1) for term in group.terms)
            out.append(Citation(self.release, f"{name} in {inside or 'none'}", Bound.of(group.people), group.weight))
        return (*out, Citation(self.release, "denominator", Bound.of(proof.denominator), None))

    def _cell(self, one: Statement) -> int | str:
        """Where a statement stands: a line, or the name of what is not on a line."""
        origin, value = one.origin, self.case.values[one.value]
        if isinstance(origin, tuple) and origin[0] == LINE:
            return self.case.release.line(int(origin[1]))
        if isinstance(origin, tuple) and origin[0] == MISSING:
            return f"missing rule {json.dumps(dict(self._pairs(one)), ensure_ascii=False)} => {value}"
        if isinstance(origin, tuple) and origin[0] == DISTRIBUTION:
            return f"sa_distribution {value}"
        return f"fact {value} by {origin[3] if isinstance(origin, tuple) else origin}"

    def _place(self, origin: Hashable, *, small: bool = False) -> str:
        kind = origin[0] if isinstance(origin, tuple) else None
        if kind == LINE:
            assert isinstance(origin, tuple)
            return f"{'line' if small else 'Line'} {self.case.release.line(int(origin[1]))}"
        if kind == MISSING:
            return "no such rule is published" if small else "No such rule is published"
        if kind == DISTRIBUTION:
            return "the published distribution" if small else "The published distribution"
        return "known from elsewhere" if small else "Known from elsewhere"

    def _event(self, one: Statement) -> str:
        origin = one.origin
        if isinstance(origin, tuple) and origin[0] == LINE:
            return described(self.case.antecedent(int(origin[1])))
        if isinstance(origin, tuple) and origin[0] == FACT:
            return "what it asks for"
        if isinstance(origin, tuple) and origin[0] == DISTRIBUTION:
            return ""
        return described(self._pairs(one))

    def _pairs(self, one: Statement) -> list[Pair]:
        """The values that all people of an event share."""
        where = self.said.events[one.event]
        shared = []
        for column in self.said.population.columns:
            codes = column.codes[where]
            if len(codes) and (codes == codes[0]).all():
                shared.append((column.name, column.values[codes[0]]))
        return shared


def described(pairs: Iterable[Pair]) -> str:
    """Values by column, in words."""
    return ", ".join(f"{column}={value}" for column, value in pairs)


def _with(event: str) -> str:
    return f" with {event}" if event else ""


def people(number: int, one: str = "person", many: str = "people") -> str:
    """A number of people, or of something else, in words."""
    return f"{number:,} {one if number == 1 else many}"


def times(weight: int) -> str:
    """How often something is added or taken away, in words."""
    sign = "plus" if weight > 0 else "minus"
    return f"{sign} " if abs(weight) == 1 else f"{sign} {abs(weight):,} times "


#: What is not a line, in words.
_NAMED = {DISTRIBUTION: "the distribution", DOMAIN: "which lists all values", GROUP: "which lists all values of the group"}
#: How many terms of a sum the steps show; the certificate holds all of them.
SHOWN_TERMS = 24


def sentence(case: SeveralCase, combination: int, left: Sequence[str]) -> str:
    """What is left to the people of a combination, in words."""
    n = int(case.population.people[combination])
    values = ", ".join(f"{column}={text}" for column, text in case.population.describe(combination).items())
    who = f"The {'one person' if n == 1 else f'{n:,} people'} with {values}"
    if len(left) == 1:
        return f"{who} certainly {'has' if n == 1 else 'have'} {case.sensitive} {left[0]}."
    return f"{who} can only have {case.sensitive} {', '.join(left[:-1])} or {left[-1]}."


class StatementWords:
    """Says where a statement is published and whom it speaks of."""

    def __init__(self, case: SeveralCase, said: Statements) -> None:
        self.case, self.said = case, said

    def where(self, origin: Hashable) -> str:
        """The file and the line, or how else it is known."""
        if not isinstance(origin, Origin):
            return f"{self.case.name(self.case.release_of(origin))} leaves it out"
        if origin.what == FACT:
            return f"known: {origin.place}"
        name = self.case.name(origin.release)
        return (
            f"{name}, line {origin.place}"
            if isinstance(origin.place, int)
            else f"{name}, {_NAMED.get(origin.what, origin.place)}"
        )

    def who(self, one: Statement) -> str:
        """Whom a statement speaks of, in words; nothing where that is everybody."""
        if isinstance(one.origin, Origin) and one.origin.what == SCATTERED:
            return f" with the quasi-identifiers of group {one.origin.about[0][1][0]}"
        pairs = [(column, " or ".join(values)) for column, values in self.about(one)]
        return f" with {described(pairs)}" if pairs else ""

    def what(self, origin: Hashable) -> str:
        """The kind of a statement."""
        return origin.what if isinstance(origin, Origin) else "missing"

    def place(self, one: Statement) -> int | str:
        """The line, or the name of what is not on a line."""
        return one.origin.place if isinstance(one.origin, Origin) else "missing"

    def about(self, one: Statement) -> list[tuple[str, tuple[str, ...]]]:
        """Whom a statement speaks of: as printed, or the values that all of them share and that the complete list could have named."""
        if isinstance(one.origin, Origin):
            return list(one.origin.about)
        columns = self.case.columns_of(self.case.release_of(one.origin))
        where = self.said.events[one.event]
        shared: list[Pair] = []
        for column in self.said.population.columns:
            codes = column.codes[where]
            if column.name in columns and (codes == codes[0]).all():
                shared.append((column.name, column.values[codes[0]]))
        return [(column, (value,)) for column, value in shared]


class SeveralWords(StatementWords):
    """Writes down why nobody of a combination has one of the values that are ruled out."""

    def __init__(self, case: SeveralCase, said: Statements, combination: int, ruled_out: tuple[int, ...]) -> None:
        super().__init__(case, said)
        self.combination = combination
        self.ruled_out = tuple(case.values[v] for v in ruled_out)
        self.left = tuple(value for value in case.values if value not in self.ruled_out)

    @property
    def event(self) -> BoxEvent:
        """Who has the combination and one of the values that are left."""
        values: dict[str, tuple[str, ...]] = {
            name: (text,) for name, text in self.case.population.describe(self.combination).items()
        }
        return BoxEvent(values | {self.case.sensitive: self.left})

    def finding(self, code: str, proof: Proof | None) -> Finding:
        """The finding with its proof."""
        n = int(self.case.population.people[self.combination])
        event, count, text = self.event, Bound(n, n), sentence(self.case, self.combination, self.left)
        if proof is None:
            return Finding(code, event, count, text, steps=self.steps(None))
        together: dict[str, Any] = {"people": "same"} if len(self.case.releases) > 1 else {}
        proved = certificate(event, count, **together, **self._record(proof))
        return Finding(code, event, count, text, self._citations(proof), self.steps(proof), None, proved)

    def steps(self, proof: Proof | None) -> tuple[str, ...]:
        """The proof in sentences."""
        if proof is None:
            return ("It follows by telling cases apart, each of which a program settles; they are too many to write out here.",)
        return tuple(self._steps(proof))

    def _record(self, proof: Proof) -> dict[str, Any]:
        """The sum as the certificate holds it: terms, known people by the terms that speak of them (from 1), and what the sum stays below."""
        groups = [
            {
                "people": group.people,
                "asked": group.asked,
                "terms": [term + 1 for term in group.terms],
                "weight": str(group.weight),
            }
            for group in (*proof.groups, *self._enough(proof))
        ]
        return {
            "sensitive": self.case.sensitive,
            "values": list(self.case.values),
            "grouped": self.case.first + self.case.grouped if self.case.grouped >= 0 else None,
            "listed": self.case.listed,
            **({"open": True} if self.case.is_open else {}),
            "weights": [self._term_record(term) for term in proof.terms],
            "groups": groups,
            "below": proof.denominator,
        }

    def _enough(self, proof: Proof) -> list[Group]:
        """The other known people of whom terms speak, whom these count often enough; with them, everybody in a term is in a group."""
        listed = {(group.asked, group.terms) for group in proof.groups}
        inside = np.zeros((len(self.case.population), len(proof.terms)), np.bool_)
        for number, term in enumerate(proof.terms):
            inside[self.said.events[term.statement.event], number] = True
        found: dict[tuple[bool, tuple[int, ...]], int] = {}
        for q in np.flatnonzero(inside.any(axis=1)).tolist():
            key = q == self.combination, tuple(np.flatnonzero(inside[q]).tolist())
            if key not in listed:
                found[key] = found.get(key, 0) + int(self.case.population.people[q])
        return [Group(terms, people, 0, asked) for (asked, terms), people in sorted(found.items())]

    def _term_record(self, term: Term) -> dict[str, Any]:
        one = term.statement
        release, place = self.case.release_of(one.origin), self.place(one)
        out: dict[str, Any] = {"release": self.case.first + release if release >= 0 else None}
        out["line" if isinstance(place, int) else "cell"] = place
        out |= {"what": self.what(one.origin), "about": {column: list(values) for column, values in self.about(one)}}
        out |= {"value": self.case.values[one.value], "count": [one.lo, one.hi]}
        return out | {"people": self.said.whole(one.event), "weight": str(term.weight)}

    def _citations(self, proof: Proof) -> tuple[Citation, ...]:
        """Each published place once; weights stand in the certificate."""
        found: dict[tuple[int, str], Citation] = {}
        if self.case.listed and proof.terms:
            n = self.case.population.n
            grouped = self.case.first + self.case.grouped
            found[grouped, "who"] = Citation(grouped, "quasi-identifiers", Bound(n, n), None)
        for term in proof.terms:
            one = term.statement
            origin, place = self.case.release_of(one.origin), self.place(one)
            release = self.case.first + origin if origin >= 0 else 0
            found.setdefault((release, str(place)), Citation(release, place, Bound(one.lo, one.hi), None))
        return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], not key[1].isdecimal(), key[1].zfill(12))))

    def _steps(self, proof: Proof) -> list[str]:
        if not proof.terms:
            return [f"{self.case.sensitive} has only {people(len(self.case.values), 'value', 'values')}."]
        if (simple := self._simple(proof)) is not None:
            return [simple]
        steps = [self._term(term) for term in proof.terms[:SHOWN_TERMS]]
        if len(proof.terms) > SHOWN_TERMS:
            steps.append(f"and {len(proof.terms) - SHOWN_TERMS:,} more terms, which the certificate lists")
        steps += [self._group(group, proof) for group in proof.groups[:SHOWN_TERMS]]
        if len(proof.groups) > SHOWN_TERMS:
            steps.append(f"and {len(proof.groups) - SHOWN_TERMS:,} more groups of people, which the certificate lists")
        count = "once" if proof.denominator == 1 else f"{proof.denominator:,} times"
        has = f"{self.case.sensitive} {' or '.join(self.ruled_out)}"
        last = f"The sum counts everybody asked about who has {has} at least {count}, and nobody less than 0 times."
        return [*steps, f"sum: {proof.total:,}", f"{last} It is less than {proof.denominator:,}, so there is nobody."]

    def _simple(self, proof: Proof) -> str | None:
        """One statement about a whole group says it: all of them have another value, or none has this one."""
        if len(proof.terms) > 1:
            return None
        one = proof.terms[0].statement
        whole, who, value = self.said.whole(one.event), self.who(one), self.case.values[one.value]
        if proof.terms[0].weight < 0 and one.lo == whole:
            return f"All {people(whole)}{who} have {self.case.sensitive} {value} ({self.where(one.origin)})."
        if proof.terms[0].weight > 0 and one.hi == 0:
            return f"Nobody{who} has {self.case.sensitive} {value} ({self.where(one.origin)})."
        return None

    def _term(self, term: Term) -> str:
        one = term.statement
        side = "exactly" if one.lo == one.hi else "at most" if term.weight > 0 else "at least"
        who = self.who(one)
        group = f"of {'the' if who else 'all'} {people(self.said.whole(one.event))}{who}"
        has = f"{side} {term.end:,} {group} have {self.case.sensitive} {self.case.values[one.value]}"
        return f"{times(term.weight)}{term.end:,}: {has} ({self.where(one.origin)})"

    def _group(self, group: Group, proof: Proof) -> str:
        spoken = "; ".join(dict.fromkeys(self.where(proof.terms[t].statement.origin) for t in group.terms))
        who = "people asked about" if group.asked else "known people of whom these speak"
        return f"{times(group.weight)}{group.people:,}: {who} ({spoken or 'nothing above'})"
