"""Re-checks findings about certain sensitive values: the weights that they cite, statement by statement, in whole numbers.

A finding cites statements with weights, and groups of known people with weights. The sum must count everybody it asks about who has a value
that is ruled out at least ``denominator`` times, nobody less than 0 times, and come to less than the denominator. Who is known is taken from the
record, or from the known people where they are given.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.checker.rules import Reject, RuleBook
from tacit.model.release import ValueGroup
from tacit.model.table import Table

_GROUP = re.compile(r"people( asked about)? in (none|\d+(?:, \d+)*)")
_WITH = re.compile(r"people with (\d+)")
_MISSING = re.compile(r"missing rule (\{.*\}) => (.*)", re.DOTALL)

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """A cited statement: who it speaks of (None: whom a background fact asks for), about which value, and how often it counts."""

    pairs: Pairs | None
    value: str
    lo: int
    hi: int
    weight: int
    people: int
    place: str
    groups: tuple[ValueGroup, ...] = ()

    @property
    def end(self) -> int:
        """The end that counts."""
        return self.hi if self.weight > 0 else self.lo

    def speaks_of(self, person: Mapping[str, str]) -> bool:
        """Whether somebody with these values is in its group."""
        return self.pairs is not None and all(self._has(person.get(column), column, value) for column, value in self.pairs)

    def _has(self, own: str | None, column: str, wanted: str) -> bool:
        """Whether somebody's value is the wanted one, or in the group of values that goes by that name."""
        for group in self.groups:
            if (group.column, group.name) == (column, wanted):
                return own is not None and (own in group.values) != group.excluded
        return own == wanted


class _Claim:
    """One finding, taken apart."""

    def __init__(self, finding: Mapping[str, Any], book: RuleBook) -> None:
        self.finding, self.book = finding, book
        header = book.release.header
        self.sensitive, self.values = " & ".join(header.sa), header.sa_values
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
        self.denominator = 1 if set(self.left) == set(self.values) else 0
        self.groups: list[tuple[bool, tuple[int, ...], int, int]] = []
        self._read(finding["because"])

    def _read(self, because: Sequence[Mapping[str, Any]]) -> None:
        """Terms first, then how many people each is about, then groups, then the denominator."""
        found: list[tuple[Any, list[int], int | None]] = [
            (one.get("line", one.get("cell")), list(one["count"]), one.get("weight")) for one in because
        ]
        wholes = {int(match[1]): count[0] for cell, count, _ in found if (match := _WITH.fullmatch(str(cell)))}
        self.terms: list[_Term] = []
        for cell, count, weight in found:
            if match := _GROUP.fullmatch(str(cell)):
                inside = () if match[2] == "none" else tuple(int(number) - 1 for number in match[2].split(", "))
                self.groups.append((bool(match[1]), inside, count[0], int(weight or 0)))
            elif cell == "denominator":
                self.denominator = count[0]
            elif not _WITH.fullmatch(str(cell)):
                people = wholes.get(len(self.terms) + 1, 0)
                self.terms.append(self._term(cell, (count[0], count[1]), int(weight or 0), people))
        if self.denominator < 1 or any(place >= len(self.terms) for _, inside, _, _ in self.groups for place in inside):
            raise Reject("its sum is not written out")
        if any(count < 0 for _, _, count, _ in self.groups):
            raise Reject("a group has fewer than no people")

    def _term(self, cell: Any, count: tuple[int, int], weight: int, people: int) -> _Term:
        book, header = self.book, self.book.release.header
        if isinstance(cell, int):
            pairs, value = _rule(book, cell)
            lo, hi = _line_says(book, cell, people)
            place = f"line {cell}"
        elif match := _MISSING.fullmatch(str(cell)):
            pairs, value = tuple(json.loads(match[1]).items()), match[2]
            lo, hi = 0, _ceiling(book, pairs, value, people)
            place = "no such rule is published"
        elif str(cell).startswith("sa_distribution "):
            value = str(cell).removeprefix("sa_distribution ")
            if value not in self.values or not header.sa_counts:
                raise Reject("the release publishes no such distribution")
            pairs, lo = (), header.sa_counts[self.values.index(value)]
            hi, place = lo, "the published distribution"
        elif str(cell).startswith("fact "):
            value, _, place = str(cell).removeprefix("fact ").partition(" by ")
            return _Term(None, value, *count, weight, people, "known from elsewhere")
        else:
            raise Reject(f"it rests on {cell}, which cannot be checked")
        if value not in self.values or count[0] > lo or count[1] < hi:
            raise Reject(f"{cell if isinstance(cell, str) else place} does not say that")
        return _Term(pairs, value, *count, weight, people, place, header.groups)

    def short(self, inside: Iterable[int], *, asked: bool) -> int:
        """How often somebody of whom these terms speak has to be counted besides, whatever value is had."""
        counted = dict.fromkeys(self.values, 0)
        for place in inside:
            counted[self.terms[place].value] += self.terms[place].weight
        ruled_out = set(self.values) - set(self.left) if asked else set()
        return max((self.denominator if value in ruled_out else 0) - counted[value] for value in self.values)

    def check_groups(self) -> int:
        """What the groups of the record come to; each must be counted often enough, the one that is asked about also where it is not listed."""
        total, asked_for = 0, 0
        for asked, inside, people, weight in self.groups:
            if weight < self.short(inside, asked=asked):
                raise Reject("its sum does not count everybody often enough")
            if asked:
                asked_for += 1
                own = {place for place, term in enumerate(self.terms) if term.speaks_of(self.person)}
                told = {place for place in inside if self.terms[place].pairs is not None}
                if own != told or people != self.people:
                    raise Reject("the people it asks about are others")
            total += weight * people
        own_terms = [place for place, term in enumerate(self.terms) if term.speaks_of(self.person)]
        facts = any(term.pairs is None for term in self.terms)
        if asked_for > 1 or (not asked_for and not facts and self.short(own_terms, asked=True) > 0):
            raise Reject("the people it asks about are not counted")
        return total

    def check_known(self, names: Sequence[str], known: Mapping[tuple[str, ...], int]) -> int:
        """What known people come to, every one of them looked at."""
        if known.get(tuple(self.person[name] for name in names), 0) != self.people:
            raise Reject("another number of known people has its quasi-identifiers")
        total, wholes = 0, [0] * len(self.terms)
        for values, people in known.items():
            person = dict(zip(names, values, strict=True))
            inside = [place for place, term in enumerate(self.terms) if term.speaks_of(person)]
            total += people * self.short(inside, asked=person == self.person)
            for place in inside:
                wholes[place] += people
        if any(term.people != whole for term, whole in zip(self.terms, wholes, strict=True)):
            raise Reject("another number of known people is in a group that it cites")
        return total

    def check_words(self, total: int) -> None:
        """The sentence and the steps say what was checked."""
        pairs = [f"{column}={value}" for column, value in self.person.items()]
        who = "one person" if self.people == 1 else f"{self.people:,} people"
        has = "has" if self.people == 1 else "have"
        left = [value for value in self.values if value in self.left]
        certain = f" certainly {has} {self.sensitive} {left[0]}."
        ends = certain if len(left) == 1 else f" can only have {self.sensitive} {', '.join(left[:-1])} or {left[-1]}."
        text = self.finding["statement"]
        middle = text.removeprefix(f"The {who} with ").removesuffix(ends)
        same = len(text) - len(middle) == len(f"The {who} with {ends}")
        if not same or len(middle) != len(", ".join(pairs)) or any(pair not in middle for pair in pairs):
            raise Reject("its sentence does not say what its event and count say")
        if list(self.finding["steps"]) not in (self._sum(total), self._single()):
            raise Reject("its steps do not say what its citations say")

    def _sum(self, total: int) -> list[str]:
        steps = []
        for term in self.terms:
            side = "exactly" if term.lo == term.hi else "at most" if term.weight > 0 else "at least"
            whole = f"{term.people:,} {'person' if term.people == 1 else 'people'}"
            group = f"of {'the' if _with(term) else 'all'} {whole}{_with(term)}"
            has = f"{side} {term.end:,} {group} have {self.sensitive} {term.value}"
            steps.append(f"{_times(term.weight)}{term.end:,}: {has} ({term.place})")
        for asked, inside, people, weight in self.groups:
            spoken = ", ".join(dict.fromkeys(self.terms[place].place for place in inside)) or "nothing above"
            who = "people asked about" if asked else "known people of whom these speak"
            steps.append(f"{_times(weight)}{people:,}: {who} ({spoken})")
        times = "once" if self.denominator == 1 else f"{self.denominator:,} times"
        ruled_out = " or ".join(value for value in self.values if value not in self.left)
        last = (
            f"The sum counts everybody asked about who has {self.sensitive} {ruled_out} at least {times}, and nobody less than 0 times."
            f" It is less than {self.denominator:,}, so there is nobody."
        )
        return [*steps, f"sum: {total:,}", last]

    def _single(self) -> list[str]:
        if len(self.terms) != 1:
            return (
                []
                if self.terms
                else [f"{self.sensitive} has only {len(self.values)} value{'s' if len(self.values) != 1 else ''}."]
            )
        (term,) = self.terms
        place = term.place[0].upper() + term.place[1:]
        whole = f"{term.people:,} {'person' if term.people == 1 else 'people'}"
        if term.weight < 0 and term.lo == term.people:
            return [f"{place}: all {whole}{_with(term)} have {self.sensitive} {term.value}."]
        if term.weight > 0 and term.hi == 0:
            return [f"{place}: nobody{_with(term)} has {self.sensitive} {term.value}."]
        return []


def check_values(finding: Mapping[str, Any], book: RuleBook, least: int, known: Table | None) -> None:
    """Raise :class:`Reject` unless fewer than ``least`` values are left to the combination of a finding, by the sum that it cites."""
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
    claim.check_words(terms + sum(weight * count for _, _, count, weight in claim.groups))


def _rule(book: RuleBook, number: int) -> tuple[Pairs, str]:
    """The quasi-identifiers of a line, and its sensitive value."""
    book.line(number)
    release, index = book.release, book.by_line[number]
    pairs = release.items.pairs
    if pairs is None:
        raise Reject("the release does not say which columns its items are from")
    return tuple(pairs[item] for item in release.antecedents[index].tolist()), pairs[int(release.consequents[index][0])][1]


def _line_says(book: RuleBook, number: int, people: int) -> tuple[int, int]:
    """How many of the people with its antecedent have the value of a line, by what it prints and the thresholds that it reaches."""
    line = book.line(number)
    if not line.whole[0] <= people <= line.whole[1]:
        raise Reject(f"another number of people has the antecedent of line {number}")
    low, high = line.low * people, line.high * people
    least, most = math.ceil(low), math.floor(high)
    least += line.low_open and least == low
    most -= line.high_open and most == high
    return max(line.people[0], least, book.release.header.min_support or 0), min(line.people[1], most, people)


def _ceiling(book: RuleBook, pairs: Pairs, value: str, people: int) -> int:
    """The most people whom a rule can have that a complete list leaves out."""
    release, header = book.release, book.release.header
    if not header.complete or header.coarser or header.min_confidence is None or not pairs:
        raise Reject("it needs a complete list, and the release is none")
    if any((set(having), then) == (set(pairs), value) for having, then in (_rule(book, number) for number in book.by_line)):
        raise Reject("a rule that it takes for missing is published")
    if not {column for column, _ in pairs} <= set(header.qi or [column for column, _ in release.items.pairs or ()]):
        raise Reject("a rule that it takes for missing has other columns than quasi-identifiers")
    share = header.min_confidence * people
    most = math.floor(share)
    most -= not header.strict and most == share
    return max(0, (header.min_support or 0) - 1, most)


def _with(term: _Term) -> str:
    if term.pairs is None:
        return " with what it asks for"
    return f" with {', '.join(f'{column}={value}' for column, value in term.pairs)}" if term.pairs else ""


def _times(weight: int) -> str:
    sign = "plus" if weight > 0 else "minus"
    return f"{sign} " if abs(weight) == 1 else f"{sign} {abs(weight):,} times "
