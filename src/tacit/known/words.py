"""Proofs about known people, for the checker and for readers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from tacit.known.case import DISTRIBUTION, FACT, LINE, MISSING, Pair, PeopleCase, RuleCase
from tacit.known.proofs import Proof, Term
from tacit.known.releases import DOMAIN, GROUP, SCATTERED, About, Origin, SeveralCase, list_values
from tacit.known.sensitive_values import describe_combination, event_of
from tacit.model.arrays import Codes
from tacit.model.finding import (
    BoxEvent,
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
from tacit.model.people import Population
from tacit.model.words import Counted, CountedPeople, explain_only_values, explain_sum, state_values
from tacit.solve.statements import Statement, Statements

#: The only step of a finding that no single sum proves.
_BY_CASES = remark("It follows by splitting into cases, each settled by a program; they are too many to write out here.")


#: What is not a line, in words.
_NAMED = {DISTRIBUTION: "the distribution", DOMAIN: "which lists all values", GROUP: "which lists all values of the group"}


def list_pairs(pairs: Iterable[Pair]) -> str:
    """Return values with their columns, in words."""
    return ", ".join(f"{column}={value}" for column, value in pairs)


def shared_values(population: Population, combinations: Codes) -> Mapping[str, str]:
    """Return the values that all these combinations share."""
    out = {}
    for column in population.columns:
        codes = column.codes[combinations]
        if len(codes) and (codes == codes[0]).all():
            out[column.name] = column.values[codes[0]]
    return out


class _Words:
    """Steps of a proof that a combination lacks values."""

    names_place_first: bool
    between: str
    shown: int | None = None  #: How many terms of a sum the steps show; the certificate holds all of them.

    def __init__(self, case: PeopleCase, said: Statements, combination: int = 0, ruled_out: tuple[int, ...] = ()) -> None:
        self.said = said
        self.combination = combination
        self.values = case.values
        self.sensitive = case.sensitive
        self.ruled_out = tuple(case.values[v] for v in ruled_out)

    def where(self, origin: Hashable) -> Phrase:
        raise NotImplementedError

    def who(self, one: Statement) -> str:
        raise NotImplementedError

    def steps(self, proof: Proof | None) -> tuple[Step, ...]:
        """Return the steps of a proof."""
        if proof is None:
            return (_BY_CASES,)
        if not proof.terms:
            return (explain_only_values(self.sensitive, len(self.values)),)
        statements = [
            Counted(
                weight=term.weight,
                lo=term.statement.lo,
                hi=term.statement.hi,
                whole=self.said.whole(term.statement.event),
                who=self.who(term.statement),
                has=f"{self.sensitive} {self.values[term.statement.value]}",
                where=self.where(term.statement.origin),
            )
            for term in proof.terms
        ]
        only = statements[0].only_step(names_place_first=self.names_place_first) if len(statements) == 1 else None
        if only is not None:
            return (only,)
        has = f"{self.sensitive} {' or '.join(self.ruled_out)}"
        return tuple(explain_sum(statements, proof.groups, has, proof.denominator, between=self.between, shown=self.shown))


class ProofWords(_Words):
    """Citations, steps and certificates of values that rules exclude."""

    names_place_first = True
    between = ", "

    def __init__(
        self, case: RuleCase, said: Statements, combination: int = 0, ruled_out: tuple[int, ...] = (), release: int = 0
    ) -> None:
        super().__init__(case, said, combination, ruled_out)
        self.case = case
        self.release = release

    def citations(self, proof: Proof | None) -> tuple[Citation, ...]:
        """Return a proof's citations in the order of its sum."""
        if proof is None or not proof.terms:
            return ()
        out = []
        for term in proof.terms:
            one = term.statement
            out.append(Citation(self.release, self._place(one), Bound(one.lo, one.hi), term.weight))
        for number, term in enumerate(proof.terms, 1):
            whole = self.said.whole(term.statement.event)
            out.append(Citation(self.release, PeopleOfTerm(number), Bound.of(whole), None))
        for group in proof.groups:
            place = PeopleInTerms(tuple(term + 1 for term in group.terms), group.asked)
            out.append(Citation(self.release, place, Bound.of(group.people), group.weight))
        return (*out, Citation(self.release, "denominator", Bound.of(proof.denominator), None))

    def certificate(self, proof: Proof) -> dict[str, Any]:
        """Return the sum as a certificate holds it."""
        weights = []
        for term in proof.terms:
            one = term.statement
            place = {"release": self.release, **place_entry(self._place(one))}
            weights.append(place | _count_record(one, self.said.whole(one.event), term.weight))
        return {"weights": weights, "groups": [group.to_dict() for group in proof.groups], "below": proof.denominator}

    def _place(self, one: Statement) -> Place:
        origin = one.origin
        assert isinstance(origin, tuple)
        value = self.values[one.value]
        if origin[0] == LINE:
            return self.case.release.line(int(origin[1]))
        if origin[0] == MISSING:
            return MissingRule(tuple(self._antecedent(one)), value)
        return Distribution(value) if origin[0] == DISTRIBUTION else KnownShare(value, str(origin[3]))

    def where(self, origin: Hashable) -> Phrase:
        """Return the place of a statement, in words."""
        assert isinstance(origin, tuple)
        if origin[0] == LINE:
            return (Lines((self.case.release.line(int(origin[1])),)),)
        named = {MISSING: "no such rule is published", DISTRIBUTION: "the published distribution"}
        return (named.get(str(origin[0]), "known from elsewhere"),)

    def who(self, one: Statement) -> str:
        """Return a statement's people in words; empty for everybody."""
        origin = one.origin
        assert isinstance(origin, tuple)
        if origin[0] == FACT:
            return " with what it asks for"
        if origin[0] == DISTRIBUTION:
            return ""
        pairs = self.case.antecedent(int(origin[1])) if origin[0] == LINE else self._antecedent(one)
        return f" with {list_pairs(pairs)}" if pairs else ""

    def _antecedent(self, one: Statement) -> list[Pair]:
        """Return the values that a missing rule asks for."""
        assert isinstance(one.origin, tuple)
        name = self.case.missing.names[int(one.origin[1])] if one.origin[0] == MISSING else None
        return list(self._shared(one).items() if name is None else name)

    def _shared(self, one: Statement) -> Mapping[str, str]:
        return shared_values(self.said.population, self.said.events[one.event])


def _count_record(one: Statement, people: int, weight: int) -> dict[str, Any]:
    return {"count": [one.lo, one.hi], "people": people, "weight": str(weight)}


class SeveralWords(_Words):
    """Citations, steps and certificates of values that several releases exclude."""

    names_place_first = False
    between = "; "
    shown = 24

    def __init__(self, case: SeveralCase, said: Statements, combination: int = 0, ruled_out: tuple[int, ...] = ()) -> None:
        super().__init__(case, said, combination, ruled_out)
        self.case = case
        self.left = tuple(value for value in case.values if value not in self.ruled_out)

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
        pairs = [(column, " or ".join(values)) for column, values in self._about(one)]
        return f" with {list_pairs(pairs)}" if pairs else ""

    def _about(self, one: Statement) -> About:
        """Return the values of a statement's people."""
        if isinstance(one.origin, Origin):
            return one.origin.about
        assert isinstance(one.origin, tuple)
        if (name := self.case.missing.names[int(one.origin[1])]) is not None:
            return list_values(name)
        columns = self.case.readings[self.case.release_of(one.origin)].columns
        shared = shared_values(self.said.population, self.said.events[one.event])
        return list_values((column, value) for column, value in shared.items() if column in columns)

    @property
    def event(self) -> BoxEvent:
        """Return the event of the combination and its remaining values."""
        return event_of(self.case, self.combination, self.left)

    def finding(self, code: str, proof: Proof | None) -> Finding:
        """Return the finding with its proof."""
        n = int(self.case.population.people[self.combination])
        event = self.event
        count = Bound(n, n)
        text = state_values(describe_combination(self.case, self.combination), n, self.sensitive, self.left)
        if proof is None:
            return Finding(code, event, count, text, derivation=self.steps(None))
        together: dict[str, Any] = {"people": "same"} if len(self.case.releases) > 1 else {}
        proved = certificate(event, count, **together, **self._record(proof))
        return Finding(
            code,
            event,
            count,
            text,
            because=self._citations(proof),
            derivation=self.steps(proof),
            certificate=proved,
        )

    def _record(self, proof: Proof) -> dict[str, Any]:
        return {
            "sensitive": self.sensitive,
            "values": list(self.values),
            "grouped": self.case.first + self.case.grouped if self.case.grouped >= 0 else None,
            "listed": self.case.listed,
            **({"open": True} if self.case.is_open else {}),
            "weights": [self._term_record(term) for term in proof.terms],
            "groups": [group.to_dict() for group in (*proof.groups, *self._enough(proof))],
            "below": proof.denominator,
        }

    def _enough(self, proof: Proof) -> list[CountedPeople]:
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
        return [CountedPeople(0, people, asked, terms) for (asked, terms), people in sorted(found.items())]

    def _term_record(self, term: Term) -> dict[str, Any]:
        one = term.statement
        release = self.case.release_of(one.origin)
        return {
            "release": self.case.first + release if release >= 0 else None,
            **place_entry(self._place(one)),
            "what": one.origin.what if isinstance(one.origin, Origin) else "missing",
            "about": {column: list(values) for column, values in self._about(one)},
            "value": self.values[one.value],
            **_count_record(one, self.said.whole(one.event), term.weight),
        }

    def _place(self, one: Statement) -> int | str:
        return one.origin.place if isinstance(one.origin, Origin) else "missing"

    def _citations(self, proof: Proof) -> tuple[Citation, ...]:
        """Each published place once; weights are in the certificate."""
        found: dict[tuple[int, str], Citation] = {}
        if self.case.listed and proof.terms:
            n = self.case.population.n
            grouped = self.case.first + self.case.grouped
            found[grouped, "who"] = Citation(grouped, "quasi-identifiers", Bound(n, n), None)
        for term in proof.terms:
            one = term.statement
            origin = self.case.release_of(one.origin)
            place = self._place(one)
            release = self.case.first + origin if origin >= 0 else 0
            found.setdefault((release, str(place)), Citation(release, place, Bound(one.lo, one.hi), None))
        return tuple(found[key] for key in sorted(found, key=lambda key: (key[0], not key[1].isdecimal(), key[1].zfill(12))))


def words_of(case: PeopleCase, said: Statements, combination: int = 0, ruled_out: tuple[int, ...] = ()) -> _Words:
    """Return the words of statements about one case."""
    if isinstance(case, RuleCase):
        return ProofWords(case, said, combination, ruled_out)
    return SeveralWords(case, said, combination, ruled_out)
