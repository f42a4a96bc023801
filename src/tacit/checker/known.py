"""Re-checks what several releases together say about the sensitive values of known people, in whole numbers.

A certificate lists statements with weights: each is looked up in its release and read anew, about whoever its line speaks of. Known people are
counted one combination after the other, from ``--known``, from a bucketized release that lists everybody, or else as the record groups them. The
sum must count everybody asked about who has a value that is ruled out at least ``below`` times and nobody less than 0 times, and stay
below that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.checker.known_lines import Asked, Page, People, Term, read_term, values_named
from tacit.checker.known_words import check_words
from tacit.checker.rules import Reject
from tacit.model.buckets import Buckets
from tacit.model.knowledge import Fact
from tacit.model.release import Release
from tacit.model.table import Table


def is_about_known(finding: Mapping[str, Any]) -> bool:
    """Whether a finding is about the values of known people, by several releases together."""
    carried = finding.get("certificate") or {}
    return "sensitive" in carried and "below" in carried


class KnownBook:
    """The releases of an audit, the people whom they are about as far as they are given, and what is known besides."""

    def __init__(
        self,
        releases: Sequence[Release],
        known: Table | None = None,
        knowledge: Sequence[Fact] | None = None,
        declared: str = "same",
    ) -> None:
        self.releases, self.known, self.declared = releases, known, declared
        self._pages = [Page(release) for release in releases]
        self._knowledge = knowledge
        self._people: dict[tuple[str, ...], People] = {}

    def people(self, names: tuple[str, ...], grouped: int | None) -> People | None:
        """Everybody by these columns; None where that is taken from the record."""
        if names not in self._people:
            if grouped is not None:
                release = self.releases[grouped]
                if not isinstance(release, Buckets):
                    raise Reject("it takes groups from a release that has none")
                groups = [release.names[number] for number in release.group.tolist()]
                told = Counter((*row, group) for row, group in zip(_rows(release.people), groups, strict=True))
                self._people[names] = People((*release.people.names, release.group_name), told)
            elif self.known is None:
                return None
            elif not set(names) <= set(self.known.names):
                raise Reject("the known people lack a column that it is about")
            else:
                self._people[names] = People(names, _weighed(self.known.select(names)))
        return self._people[names]

    def term(self, entry: Mapping[str, Any], asked: Asked) -> Term:
        """The statement that a certificate cites, if its release says so."""
        number = entry["release"]
        if number is not None and not 0 <= int(number) < len(self.releases):
            raise Reject("it cites a release that is not there")
        return read_term(entry, None if number is None else self._pages[int(number)], asked, self._knowledge)


def check_known(finding: Mapping[str, Any], book: KnownBook, least: int) -> None:
    """Raise :class:`Reject` unless fewer than ``least`` values are left to the people of a finding, by the sum that it carries."""
    claim = _Claim(finding, book)
    if not len(claim.left) < least:
        raise Reject(f"it leaves {len(claim.left)} values, and the policy allows that")
    total, told = claim.total()
    if not total < claim.below:
        raise Reject("its sum does not rule the other values out")
    check_words(finding, book.releases, claim.asked.sensitive, claim.ruled_out, claim.terms, told)


class _Claim:
    """One finding, taken apart."""

    def __init__(self, finding: Mapping[str, Any], book: KnownBook) -> None:
        carried = finding["certificate"]
        sensitive, values = str(carried["sensitive"]), tuple(map(str, carried["values"]))
        event: dict[str, list[str]] = dict(finding["event"])
        self.left, self.values = event.pop(sensitive, []), values
        if not self.left or not set(self.left) <= set(values) or len(set(values)) != len(values):
            raise Reject("its values are not those of the sensitive column")
        named = [values_named(release, sensitive) for release in self._releases(carried, book)]
        self.is_open = bool(carried.get("open"))
        if self.is_open:
            # The last value stands for all that are not named: it must be ruled out, and no line may be taken to be about it.
            if values[-1] in self.left or any(str(entry["value"]) == values[-1] for entry in carried["weights"]):
                raise Reject("it leaves values that no release names")
        elif not any(one and set(one) <= set(values) for one in named):
            raise Reject("no release says that the sensitive column has no other values")
        if any(len(listed) != 1 for listed in event.values()):
            raise Reject("its event is not one combination of quasi-identifiers")
        self.person, self.number = {column: listed[0] for column, listed in event.items()}, int(finding["count"][0])
        if finding["count"] != [self.number, self.number] or self.number < 1:
            raise Reject("its count is not that of a combination")
        grouped = None if carried["grouped"] is None else int(carried["grouped"])
        self.people = book.people(tuple(self.person), grouped)
        self._check_person(sensitive)
        self.groups, self.below = carried["groups"], int(carried["below"])
        if self.below < 1:
            raise Reject("its sum is not written out")
        self.asked = Asked(sensitive, values, grouped, self.people)
        self.terms = [book.term(entry, self.asked) for entry in carried["weights"]]

    @staticmethod
    def _releases(carried: Mapping[str, Any], book: KnownBook) -> Sequence[Release]:
        """The releases that the finding takes together: all of them where their people are the same, else a single one."""
        if "people" in carried:
            if carried["people"] != "same" or book.declared != "same":
                raise Reject("it takes releases together whose people are not the same")
            return book.releases
        used = {int(entry["release"]) for entry in carried["weights"] if entry["release"] is not None}
        used |= set() if carried["grouped"] is None else {int(carried["grouped"])}
        if len(used) > 1 or not used <= set(range(len(book.releases))):
            raise Reject("it takes releases together whose people are not the same")
        return [book.releases[number] for number in used] or book.releases

    def _check_person(self, sensitive: str) -> None:
        """So many known people have the combination."""
        if self.people is None:
            return
        if set(self.person) != set(self.people.names) or sensitive in self.people.names:
            raise Reject("its event is not one combination of quasi-identifiers")
        if self.people.counted.get(tuple(self.person[name] for name in self.people.names), 0) != self.number:
            raise Reject("another number of known people has its quasi-identifiers")

    @property
    def ruled_out(self) -> list[str]:
        """The values that are claimed to be impossible."""
        return [value for value in self.values if value not in self.left]

    def total(self) -> tuple[int, int]:
        """What the sum comes to, everybody counted as often as it takes, and what it comes to as the record groups people."""
        terms = sum(term.weight * term.end for term in self.terms)
        told = terms + self._as_recorded()
        if self.people is None:
            return told, told
        # Whoever no term speaks of and who is not asked about need not be counted at all.
        asked = self.people.places[tuple(self.person[name] for name in self.people.names)]
        counted = 0
        for one in {asked}.union(*(term.members for term in self.terms)):
            inside = [place for place, term in enumerate(self.terms) if one in term.members]
            counted += self.people.listed[one][1] * self._short(inside, asked=one == asked)
        return terms + counted, told

    def _short(self, inside: Sequence[int], *, asked: bool) -> int:
        """How often somebody of whom these terms speak has to be counted besides, whatever value is had."""
        counted = dict.fromkeys(self.values, 0)
        for place in inside:
            counted[self.terms[place].value] += self.terms[place].weight
        wanted = {value: self.below if asked and value in self.ruled_out else 0 for value in self.values}
        return max(wanted[value] - counted[value] for value in self.values)

    def _as_recorded(self) -> int:
        """What the groups of the record come to; each is counted often enough, and the one that is asked about is the person's."""
        total, asked_for = 0, 0
        own = [place for place, term in enumerate(self.terms) if term.speaks_of(self.person)]
        for group in self.groups:
            inside = [int(number) - 1 for number in group["terms"]]
            if any(not 0 <= place < len(self.terms) for place in inside) or int(group["people"]) < 0:
                raise Reject("its groups of people are not written out")
            if int(group["weight"]) < self._short(inside, asked=bool(group["asked"])):
                raise Reject("its sum does not count everybody often enough")
            if group["asked"]:
                asked_for += 1
                if inside != own or group["people"] != self.number:
                    raise Reject("the people it asks about are others")
            total += int(group["weight"]) * int(group["people"])
        for place, term in enumerate(self.terms):
            if sum(group["people"] for group in self.groups if place + 1 in group["terms"]) != term.people:
                raise Reject("its groups leave known people out")
        if asked_for > 1 or (not asked_for and self._short(own, asked=True) > 0):
            raise Reject("the people it asks about are not counted")
        return total


def _rows(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*([column.values[code] for code in column.codes.tolist()] for column in table.columns), strict=True))


def _weighed(table: Table) -> Counter[tuple[str, ...]]:
    counted: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(_rows(table), table.weights.tolist(), strict=True):
        counted[row] += weight
    return counted
