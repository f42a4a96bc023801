"""Checks findings about certain sensitive values, statement by statement.

A certificate lists statements with weights, and groups of known people with weights. The sum must count everybody it asks about who has a
value that is ruled out at least ``below`` times, nobody less than 0 times, and come to less than that. Who is known is taken from the
record, or from the known people where they are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.checker.known import check_sentence, has_values
from tacit.checker.rules import Reject, RuleBook, most_left_out
from tacit.model.finding import (
    Citation,
    Distribution,
    KnownShare,
    Lines,
    MissingRule,
    PeopleInTerms,
    PeopleOfTerm,
    Phrase,
    Place,
    Step,
    place_entry,
    render_phrase,
    render_steps,
)
from tacit.model.numbers import Bound
from tacit.model.release import ValueGroup
from tacit.model.table import Table
from tacit.model.words import Counted, CountedPeople, explain_only_values, explain_sum

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """Cited statement: people, value and weight."""

    pairs: Pairs | None
    value: str
    lo: int
    hi: int
    weight: int
    people: int
    cited: Place
    where: Phrase
    groups: Mapping[tuple[str, str], ValueGroup] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.hi if self.weight > 0 else self.lo

    def speaks_of(self, person: Mapping[str, str]) -> bool:
        return self.pairs is not None and has_values(person, self.pairs, self.groups)


@dataclass(frozen=True, slots=True)
class _Group:
    """Known people in the same terms, with ``weight``."""

    asked: bool
    inside: tuple[int, ...]
    people: int
    weight: int


class _Claim:
    def __init__(self, finding: Mapping[str, Any], book: RuleBook) -> None:
        self.finding = finding
        self.book = book
        header = book.release.header
        self.sensitive = " & ".join(header.sa)
        self.values = header.sa_values
        event: dict[str, list[str]] = dict(finding["event"])
        self.left = event.pop(self.sensitive)
        if any(len(values) != 1 for values in event.values()) or set(event) != set(header.qi or event):
            raise Reject("its event is not one combination of quasi-identifiers")
        if not self.left or not set(self.left) <= set(self.values) or len(set(self.left)) != len(self.left):
            raise Reject("its values are not those of the sensitive column")
        self.person = {column: values[0] for column, values in event.items()}
        self.people = int(finding["count"][0])
        if finding["count"] != [self.people, self.people] or self.people < 1:
            raise Reject("its count is not that of a combination")
        self.groups_of_values = {(group.column, group.name): group for group in header.groups}
        self._read(finding["certificate"])

    def _read(self, proof: Mapping[str, Any]) -> None:
        self.denominator = int(proof["below"])
        self.terms = [self._term(entry) for entry in proof["weights"]]
        self.groups = [
            _Group(
                asked=bool(entry["asked"]),
                inside=tuple(int(number) - 1 for number in entry["terms"]),
                people=int(entry["people"]),
                weight=int(entry["weight"]),
            )
            for entry in proof["groups"]
        ]
        if self.denominator < 1 or any(not 0 <= place < len(self.terms) for one in self.groups for place in one.inside):
            raise Reject("its sum is not written out")
        if any(group.people < 0 for group in self.groups):
            raise Reject("a group has fewer than no people")

    def check_citations(self) -> None:
        owner = self.finding["because"][0]["release"] if self.finding["because"] else 0
        weights = [
            {
                "release": owner,
                **place_entry(term.cited),
                "count": [term.lo, term.hi],
                "people": term.people,
                "weight": str(term.weight),
            }
            for term in self.terms
        ]
        groups = [
            {"people": one.people, "asked": one.asked, "terms": [n + 1 for n in one.inside], "weight": str(one.weight)}
            for one in self.groups
        ]
        proof = self.finding["certificate"]
        written = {"weights": weights, "groups": groups, "below": self.denominator}
        cited = [one.to_dict() for one in self._citations(owner)] if self.terms else []
        if any(proof[name] != value for name, value in written.items()) or list(self.finding["because"]) != cited:
            raise Reject("its certificate does not say what its citations say")

    def _citations(self, owner: int) -> list[Citation]:
        out = [Citation(owner, term.cited, Bound(term.lo, term.hi), term.weight) for term in self.terms]
        for number, term in enumerate(self.terms, 1):
            out.append(Citation(owner, PeopleOfTerm(number), Bound.of(term.people), None))
        for group in self.groups:
            place = PeopleInTerms(tuple(number + 1 for number in group.inside), group.asked)
            out.append(Citation(owner, place, Bound.of(group.people), group.weight))
        return [*out, Citation(owner, "denominator", Bound.of(self.denominator), None)]

    def _term(self, entry: Mapping[str, Any]) -> _Term:
        book = self.book
        header = self.book.release.header
        people = int(entry["people"])
        weight = int(entry["weight"])
        low, high = (int(end) for end in entry["count"])
        cited: Place = entry["line"] if "line" in entry else entry["cell"]
        if isinstance(cited, int):
            pairs, value = _rule(book, cited)
            lo, hi = _line_says(book, cited, people)
            where: Phrase = (Lines((cited,)),)
        elif (missing := MissingRule.named(str(cited), self.values)) is not None:
            pairs = missing.antecedent
            value = missing.value
            lo = 0
            hi = _ceiling(book, pairs, value, people)
            where = ("no such rule is published",)
        elif (printed := next((one for one in self.values if cited == str(Distribution(one))), None)) is not None:
            if not header.sa_counts:
                raise Reject("the release publishes no such distribution")
            pairs = ()
            value = printed
            lo = hi = header.sa_counts[self.values.index(value)]
            where = ("the published distribution",)
        elif (known := self._known(str(cited))) is not None:
            return _Term(None, known, low, high, weight, people, cited, ("known from elsewhere",))
        else:
            raise Reject(f"it rests on {cited}, which cannot be checked")
        if value not in self.values or low > lo or high < hi:
            raise Reject(f"{render_phrase(where) if isinstance(cited, int) else cited} does not say that")
        return _Term(pairs, value, low, high, weight, people, cited, where, self.groups_of_values)

    def _known(self, cell: str) -> str | None:
        """Return the value of a background fact, or None."""
        return next((value for value in self.values if cell.startswith(str(KnownShare(value, "")))), None)

    def short(self, inside: Iterable[int], *, asked: bool) -> int:
        """Return the weight that people in these terms lack."""
        counted = dict.fromkeys(self.values, 0)
        for place in inside:
            counted[self.terms[place].value] += self.terms[place].weight
        ruled_out = set(self.values) - set(self.left) if asked else set()
        return max((self.denominator if value in ruled_out else 0) - counted[value] for value in self.values)

    def check_groups(self) -> int:
        total = 0
        asked_for = 0
        for group in self.groups:
            if group.weight < self.short(group.inside, asked=group.asked):
                raise Reject("its sum does not count everybody often enough")
            if group.asked:
                asked_for += 1
                own = {place for place, term in enumerate(self.terms) if term.speaks_of(self.person)}
                told = {place for place in group.inside if self.terms[place].pairs is not None}
                if own != told or group.people != self.people:
                    raise Reject("the people it asks about are others")
            total += group.weight * group.people
        own_terms = [place for place, term in enumerate(self.terms) if term.speaks_of(self.person)]
        facts = any(term.pairs is None for term in self.terms)
        if asked_for > 1 or (not asked_for and not facts and self.short(own_terms, asked=True) > 0):
            raise Reject("the people it asks about are not counted")
        return total

    def check_known(self, names: Sequence[str], known: Mapping[tuple[str, ...], int]) -> int:
        if known.get(tuple(self.person[name] for name in names), 0) != self.people:
            raise Reject("another number of known people has its quasi-identifiers")
        total = 0
        wholes = [0] * len(self.terms)
        for values, people in known.items():
            person = dict(zip(names, values, strict=True))
            inside = [place for place, term in enumerate(self.terms) if term.speaks_of(person)]
            total += people * self.short(inside, asked=person == self.person)
            for place in inside:
                wholes[place] += people
        if any(term.people != whole for term, whole in zip(self.terms, wholes, strict=True)):
            raise Reject("another number of known people is in a group that it cites")
        return total

    def check_words(self) -> None:
        left = [value for value in self.values if value in self.left]
        check_sentence(self.finding["statement"], self.person, self.people, self.sensitive, left)
        if tuple(self.finding["steps"]) not in map(render_steps, self._steps()):
            raise Reject("its steps do not say what its citations say")

    def _steps(self) -> Iterator[Sequence[Step]]:
        if not self.terms:
            yield [explain_only_values(self.sensitive, len(self.values))]
            return
        statements = [
            Counted(one.weight, one.lo, one.hi, one.people, _with(one), f"{self.sensitive} {one.value}", one.where)
            for one in self.terms
        ]
        only = statements[0].only_step(names_place_first=True) if len(statements) == 1 else None
        if only is not None:
            yield [only]
        groups = [CountedPeople(one.weight, one.people, one.asked, one.inside) for one in self.groups]
        ruled_out = " or ".join(value for value in self.values if value not in self.left)
        yield explain_sum(statements, groups, f"{self.sensitive} {ruled_out}", self.denominator, between=", ")


def check_values(finding: Mapping[str, Any], book: RuleBook, least: int, known: Table | None) -> None:
    """Raise unless people keep fewer than ``least`` values."""
    if not book.release.header.sa_values:
        raise Reject("the release does not say which values the sensitive column can have")
    claim = _Claim(finding, book)
    if not len(claim.left) < least:
        raise Reject(f"it leaves {len(claim.left)} values, and the policy allows that")
    terms = sum(term.weight * term.end for term in claim.terms)
    if len(claim.left) < len(claim.values) and not terms + claim.check_groups() < claim.denominator:
        raise Reject("its sum does not rule the other values out")
    if known is not None and not any(term.pairs is None for term in claim.terms):
        columns = [known.column(name) for name in claim.person]
        rows = zip(*([column.values[code] for code in column.codes.tolist()] for column in columns), strict=True)
        people: Counter[tuple[str, ...]] = Counter()
        for values, weight in zip(rows, known.weights.tolist(), strict=True):
            people[values] += weight
        if not terms + claim.check_known(list(claim.person), people) < claim.denominator:
            raise Reject("with the known people its sum does not rule the other values out")
    claim.check_citations()
    claim.check_words()


def _rule(book: RuleBook, number: int) -> tuple[Pairs, str]:
    book.line(number)
    release = book.release
    index = book.by_line[number]
    pairs = release.items.pairs
    if pairs is None:
        raise Reject("the release does not say which columns its items are from")
    return tuple(pairs[item] for item in release.antecedents[index].tolist()), pairs[int(release.consequents[index][0])][1]


def _line_says(book: RuleBook, number: int, people: int) -> tuple[int, int]:
    line = book.line(number)
    if not line.whole[0] <= people <= line.whole[1]:
        raise Reject(f"another number of people has the antecedent of line {number}")
    least, most = line.among(people)
    return max(least, book.release.header.min_support or 0), min(most, people)


def _ceiling(book: RuleBook, pairs: Pairs, value: str, people: int) -> int:
    release = book.release
    header = book.release.header
    if not header.complete or header.coarser or header.min_confidence is None or not pairs:
        raise Reject("it needs a complete list, and the release is none")
    if any((set(having), then) == (set(pairs), value) for having, then in (_rule(book, number) for number in book.by_line)):
        raise Reject("a rule that it takes for missing is published")
    if not {column for column, _ in pairs} <= set(header.qi or [column for column, _ in release.items.pairs or ()]):
        raise Reject("a rule that it takes for missing has other columns than quasi-identifiers")
    return most_left_out(header, people)


def _with(term: _Term) -> str:
    if term.pairs is None:
        return " with what it asks for"
    return f" with {', '.join(f'{column}={value}' for column, value in term.pairs)}" if term.pairs else ""
