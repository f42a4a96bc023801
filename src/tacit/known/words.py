"""Proofs about known people, for the checker and for readers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from tacit.known.case import DISTRIBUTION, FACT, LINE, MISSING, Pair, RuleCase
from tacit.known.proofs import Group, Proof, Term
from tacit.known.releases import DOMAIN, GROUP, SCATTERED, Origin, SeveralCase
from tacit.model.event import BoxEvent
from tacit.model.finding import (
    Citation,
    Distribution,
    Finding,
    KnownShare,
    Lines,
    MissingRule,
    PeopleInTerms,
    PeopleOfTerm,
    Phrase,
    Place,
    Step,
    certificate,
    place_entry,
    remark,
)
from tacit.model.numbers import Bound
from tacit.model.words import Counted, CountedPeople, explain_only_values, explain_sum, state_values
from tacit.solve.statements import Statement, Statements

#: The only step of a finding that no single sum proves.
_BY_CASES = remark("It follows by telling cases apart, each of which a program settles; they are too many to write out here.")


class ProofWords:
    """Citations, steps and certificates of excluded values."""

    def __init__(self, case: RuleCase, said: Statements, combination: int, ruled_out: tuple[int, ...], release: int = 0) -> None:
        self.case = case
        self.said = said
        self.combination = combination
        self.release = release
        self.ruled_out = tuple(case.values[v] for v in ruled_out)

    def steps(self, proof: Proof | None) -> tuple[Step, ...]:
        """Return the steps of a proof."""
        if proof is None:
            return (_BY_CASES,)
        if not proof.terms:
            return (explain_only_values(self.case.sensitive, len(self.case.values)),)
        statements = [self._counted(term) for term in proof.terms]
        only = statements[0].only_step(names_place_first=True) if len(statements) == 1 else None
        if only is not None:
            return (only,)
        has = f"{self.case.sensitive} {' or '.join(self.ruled_out)}"
        return tuple(explain_sum(statements, _counted_people(proof), has, proof.denominator, between=", "))

    def _counted(self, term: Term) -> Counted:
        one = term.statement
        return Counted(
            weight=term.weight,
            lo=one.lo,
            hi=one.hi,
            whole=self.said.whole(one.event),
            who=_with(self._event(one)),
            has=f"{self.case.sensitive} {self.case.values[one.value]}",
            where=self._where(one.origin),
        )

    def citations(self, proof: Proof | None) -> tuple[Citation, ...]:
        """Return a proof's citations in the order of its sum."""
        if proof is None or not proof.terms:
            return ()
        terms = proof.terms
        groups = proof.groups
        wholes = [self.said.whole(term.statement.event) for term in terms]
        return (
            *(self._cite(self._place(t.statement), Bound(t.statement.lo, t.statement.hi), t.weight) for t in terms),
            *(self._cite(PeopleOfTerm(number), Bound.of(whole)) for number, whole in enumerate(wholes, 1)),
            *(self._cite(_people_in(group), Bound.of(group.people), group.weight) for group in groups),
            self._cite("denominator", Bound.of(proof.denominator)),
        )

    def _cite(self, place: Place, count: Bound, weight: int | None = None) -> Citation:
        return Citation(self.release, place, count, weight)

    def certificate(self, proof: Proof) -> dict[str, Any]:
        """Return the sum as a certificate holds it."""
        return {
            "weights": [self._term_record(term) for term in proof.terms],
            "groups": [group_record(group) for group in proof.groups],
            "below": proof.denominator,
        }

    def _term_record(self, term: Term) -> dict[str, Any]:
        one = term.statement
        where = place_entry(self._place(one))
        return {
            "release": self.release,
            **where,
            "count": [one.lo, one.hi],
            "people": self.said.whole(one.event),
            "weight": str(term.weight),
        }

    def _place(self, one: Statement) -> Place:
        origin = one.origin
        value = self.case.values[one.value]
        kind = origin[0] if isinstance(origin, tuple) else None
        if isinstance(origin, tuple) and kind == LINE:
            return self.case.release.line(int(origin[1]))
        if kind == MISSING:
            return MissingRule(tuple(self._pairs(one)), value)
        if kind == DISTRIBUTION:
            return Distribution(value)
        return KnownShare(value, str(origin[3] if isinstance(origin, tuple) else origin))

    def _where(self, origin: Hashable) -> Phrase:
        kind = origin[0] if isinstance(origin, tuple) else None
        if isinstance(origin, tuple) and kind == LINE:
            return (Lines((self.case.release.line(int(origin[1])),)),)
        named = {MISSING: "no such rule is published", DISTRIBUTION: "the published distribution"}
        return (named.get(str(kind), "known from elsewhere"),)

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


def group_record(group: Group) -> dict[str, Any]:
    """Return a group of known people for a certificate."""
    return {
        "people": group.people,
        "asked": group.asked,
        "terms": [term + 1 for term in group.terms],
        "weight": str(group.weight),
    }


def _people_in(group: Group) -> PeopleInTerms:
    return PeopleInTerms(tuple(term + 1 for term in group.terms), group.asked)


def _counted_people(proof: Proof) -> list[CountedPeople]:
    return [CountedPeople(group.weight, group.people, group.asked, group.terms) for group in proof.groups]


#: What is not a line, in words.
_NAMED = {DISTRIBUTION: "the distribution", DOMAIN: "which lists all values", GROUP: "which lists all values of the group"}
#: How many terms of a sum the steps show; the certificate holds all of them.
SHOWN_TERMS = 24


class StatementWords:
    """Place and people of a statement, in words."""

    def __init__(self, case: SeveralCase, said: Statements) -> None:
        self.case = case
        self.said = said

    def where(self, origin: Hashable) -> Phrase:
        """Return the file and line, or other source."""
        if not isinstance(origin, Origin):
            return (f"{self.case.name(self.case.release_of(origin))} leaves it out",)
        if origin.what == FACT:
            return (f"known: {origin.place}",)
        name = self.case.name(origin.release)
        if isinstance(origin.place, int):
            return (Lines((origin.place,), name),)
        return (f"{name}, {_NAMED.get(origin.what, origin.place)}",)

    def who(self, one: Statement) -> str:
        """Return a statement's people in words; empty for everybody."""
        if isinstance(one.origin, Origin) and one.origin.what == SCATTERED:
            return f" with the quasi-identifiers of group {one.origin.about[0][1][0]}"
        pairs = [(column, " or ".join(values)) for column, values in self.about(one)]
        return f" with {described(pairs)}" if pairs else ""

    def what(self, origin: Hashable) -> str:
        """Return the kind of a statement."""
        return origin.what if isinstance(origin, Origin) else "missing"

    def place(self, one: Statement) -> int | str:
        """Line, or the name of a source without lines."""
        return one.origin.place if isinstance(one.origin, Origin) else "missing"

    def about(self, one: Statement) -> list[tuple[str, tuple[str, ...]]]:
        """Return the values of a statement's people."""
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
    """Citations, steps and certificates of excluded values."""

    def __init__(self, case: SeveralCase, said: Statements, combination: int, ruled_out: tuple[int, ...]) -> None:
        super().__init__(case, said)
        self.combination = combination
        self.ruled_out = tuple(case.values[v] for v in ruled_out)
        self.left = tuple(value for value in case.values if value not in self.ruled_out)

    @property
    def event(self) -> BoxEvent:
        """Return the event of the combination and its remaining values."""
        values: dict[str, tuple[str, ...]] = {
            name: (text,) for name, text in self.case.population.describe(self.combination).items()
        }
        return BoxEvent(values | {self.case.sensitive: self.left})

    def finding(self, code: str, proof: Proof | None) -> Finding:
        """The finding with its proof."""
        n = int(self.case.population.people[self.combination])
        event = self.event
        count = Bound(n, n)
        who = described(self.case.population.describe(self.combination).items())
        text = state_values(who, n, self.case.sensitive, self.left)
        if proof is None:
            return Finding(code, event, count, text, derivation=self.steps(None))
        together: dict[str, Any] = {"people": "same"} if len(self.case.releases) > 1 else {}
        proved = certificate(event, count, **together, **self._record(proof))
        return Finding(code, event, count, text, self._citations(proof), self.steps(proof), None, proved)

    def steps(self, proof: Proof | None) -> tuple[Step, ...]:
        """Return the steps of a proof."""
        return (_BY_CASES,) if proof is None else tuple(self._steps(proof))

    def _record(self, proof: Proof) -> dict[str, Any]:
        groups = [group_record(group) for group in (*proof.groups, *self._enough(proof))]
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
        """Return the people whom the terms count often enough."""
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
        release = self.case.release_of(one.origin)
        place = self.place(one)
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
            origin = self.case.release_of(one.origin)
            place = self.place(one)
            release = self.case.first + origin if origin >= 0 else 0
            found.setdefault((release, str(place)), Citation(release, place, Bound(one.lo, one.hi), None))
        return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], not key[1].isdecimal(), key[1].zfill(12))))

    def _steps(self, proof: Proof) -> list[Step]:
        if not proof.terms:
            return [explain_only_values(self.case.sensitive, len(self.case.values))]
        statements = [self._counted(term) for term in proof.terms]
        only = statements[0].only_step(names_place_first=False) if len(statements) == 1 else None
        if only is not None:
            return [only]
        has = f"{self.case.sensitive} {' or '.join(self.ruled_out)}"
        groups = _counted_people(proof)
        return explain_sum(statements, groups, has, proof.denominator, between="; ", shown=SHOWN_TERMS)

    def _counted(self, term: Term) -> Counted:
        one = term.statement
        return Counted(
            weight=term.weight,
            lo=one.lo,
            hi=one.hi,
            whole=self.said.whole(one.event),
            who=self.who(one),
            has=f"{self.case.sensitive} {self.case.values[one.value]}",
            where=self.where(one.origin),
        )
