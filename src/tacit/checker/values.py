"""Checks findings about certain sensitive values, statement by statement.

A certificate lists statements with weights, and groups of known people with weights. The sum must count everybody it asks about who has a
value that is ruled out at least ``below`` times, nobody less than 0 times, and come to less than that. Who is known is taken from the
record, or from the known people where they are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.checker.known import Claim, Pairs, People, Term, first_rule, has_values
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
    render_phrase,
)
from tacit.model.numbers import Bound
from tacit.model.table import Table


def check_values(finding: Mapping[str, Any], book: RuleBook, least: int, known: Table | None) -> None:
    """Raise unless people keep fewer than ``least`` values."""
    header = book.release.header
    if not header.sa_values:
        raise Reject("the release does not say which values the sensitive column can have")
    claim = Claim(finding, " & ".join(header.sa), header.sa_values)
    own = {} if header.first_match is None else {header.first_match.column: first_rule(claim.person, header.first_match)}
    if set(claim.person) != {*(header.qi or claim.person), *own} or not own.items() <= claim.person.items():
        raise Reject("its event is not one combination of quasi-identifiers")
    if not len(claim.left) < least:
        raise Reject(f"it leaves {len(claim.left)} values, and the policy allows that")
    claim.terms = [_term(entry, book) for entry in finding["certificate"]["weights"]]
    people = None
    if known is not None and all(term.who is not None for term in claim.terms):
        people = People.of(known, tuple(claim.person))
        for term in claim.terms:
            term.members = people.members(str(_place(term.entry)), term.speaks_of, term.people)
    claim.check_sum(people)
    _check_citations(claim)
    claim.check_words(names_place_first=True, between=", ")


def _check_citations(claim: Claim) -> None:
    """Raise unless certificate and citations are canonical."""
    finding = claim.finding
    owner = finding["because"][0]["release"] if finding["because"] else 0
    cited = [Citation(owner, _place(term.entry), Bound(term.lo, term.hi), term.weight) for term in claim.terms]
    weights = [
        {**one.to_dict(), "people": term.people, "weight": str(term.weight)} for one, term in zip(cited, claim.terms, strict=True)
    ]
    for number, term in enumerate(claim.terms, 1):
        cited.append(Citation(owner, PeopleOfTerm(number), Bound.of(term.people), None))
    for group in claim.groups:
        place = PeopleInTerms(tuple(number + 1 for number in group.terms), group.asked)
        cited.append(Citation(owner, place, Bound.of(group.people), group.weight))
    cited.append(Citation(owner, "denominator", Bound.of(claim.below), None))
    proof = finding["certificate"]
    written = {"weights": weights, "groups": [group.to_dict() for group in claim.groups], "below": claim.below}
    because = [one.to_dict() for one in cited] if claim.terms else []
    idle = any(not group.weight for group in claim.groups)
    if idle or any(proof[name] != value for name, value in written.items()) or list(finding["because"]) != because:
        raise Reject("its certificate does not say what its citations say")


def _place(entry: Mapping[str, Any]) -> Place:
    place: Place = entry["line"] if "line" in entry else entry["cell"]
    return place


def _term(entry: Mapping[str, Any], book: RuleBook) -> Term:
    """Return a certificate's statement, if its release says so."""
    header = book.release.header
    people = int(entry["people"])
    low, high = (int(end) for end in entry["count"])
    cited = _place(entry)
    pairs: Pairs | None = ()
    if isinstance(cited, int):
        pairs, value = _rule(book, cited)
        lo, hi = _line_says(book, cited, people)
        where: Phrase = (Lines((cited,)),)
    elif (missing := MissingRule.named(str(cited), header.sa_values)) is not None:
        pairs = missing.antecedent
        value = missing.value
        lo = 0
        hi = _ceiling(book, pairs, value, people)
        where = ("no such rule is published",)
    elif (printed := next((one for one in header.sa_values if cited == str(Distribution(one))), None)) is not None:
        if not header.sa_counts:
            raise Reject("the release publishes no such distribution")
        value = printed
        lo = hi = header.sa_counts[header.sa_values.index(value)]
        where = ("the published distribution",)
    elif (fact := next((one for one in header.sa_values if str(cited).startswith(str(KnownShare(one, "")))), None)) is not None:
        pairs = None
        value = fact
        lo = low
        hi = high
        where = ("known from elsewhere",)
    else:
        raise Reject(f"it rests on {cited}, which cannot be checked")
    if value not in header.sa_values or low > lo or high < hi:
        raise Reject(f"{render_phrase(where) if isinstance(cited, int) else cited} does not say that")
    if pairs is None:
        return Term(entry, value, None, " with what it asks for", where)
    groups = {(group.column, group.name): group for group in header.groups}
    described = f" with {', '.join(f'{column}={text}' for column, text in pairs)}" if pairs else ""
    return Term(entry, value, lambda person: has_values(person, pairs, groups), described, where)


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
        raise Reject("it needs a complete list, and the release is not one")
    if not header.covers(len(set(pairs))):
        raise Reject("a rule that it takes as missing is longer than the list holds")
    if any((set(having), then) == (set(pairs), value) for having, then in (_rule(book, number) for number in book.by_line)):
        raise Reject("a rule that it takes as missing is published")
    if not {column for column, _ in pairs} <= set(header.qi or [column for column, _ in release.items.pairs or ()]):
        raise Reject("a rule that it takes as missing has other columns than quasi-identifiers")
    return most_left_out(header, people)
