"""A proof that a value is ruled out, as citations that a program can check and as steps that a reader can redo."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable

from tacit.attacks.sensitive.case import DISTRIBUTION, FACT, LINE, MISSING, Pair, RuleCase
from tacit.attacks.sensitive.proofs import Group, Proof, Term
from tacit.inference.statements import Statement, Statements
from tacit.model.bound import Bound
from tacit.model.finding import Citation

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
